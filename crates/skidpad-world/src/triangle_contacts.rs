//! Contact of the chassis box with the triangles of height fields and meshes, triangle by triangle.
//!
//! A triangle pushes along its own normal only, so that a hull slides over the edges between triangles. The contact
//! points are those of the triangle and of the hull face towards it, where one lies over the other.

use parry3d::math::Pose;
use parry3d::query::ContactManifold;
use parry3d::shape::{Cuboid, PolygonalFeature, Triangle as Face};
use skidpad_core::{HullPoint, Triangle, Vec3};

use crate::chassis::Chassis;
use crate::swept_contact::SweptBox;
use crate::terrain::{Region, Terrain};
use crate::underside::{NearTriangles, Underside};

/// Depth of a hull behind a mesh triangle above which the contact is ignored, m, because meshes are sheets. The ground
/// below a height field is solid to any depth.
const MAX_SHEET_DEPTH_M: f32 = 0.3;

/// Limits of a search for contact points with triangles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SearchLimits {
    /// Largest gain of speed within the step, m/s.
    pub speed_gain: f32,
    /// Largest gap of a point, m.
    pub max_gap: f32,
    /// Distance from the path of the hull up to which triangles are considered, m, at least `max_gap`.
    pub region_gap: f32,
}

/// Buffers for finding contacts with triangles.
#[derive(Clone)]
pub(crate) struct TriangleContacts {
    /// Triangles near the hull.
    near_triangles: Vec<Triangle>,
    /// Contact points of one triangle.
    manifold: ContactManifold<(), ()>,
}

/// Maximum number of contact points between a triangle and a side of a box.
const MAX_TRIANGLE_POINTS: usize = 16;

impl TriangleContacts {
    /// Creates buffers with room for `max_triangles` triangles near a hull. More triangles let a step allocate.
    pub fn with_capacity(max_triangles: usize) -> Self {
        let mut manifold = ContactManifold::default();
        manifold.points.reserve(MAX_TRIANGLE_POINTS);
        Self { near_triangles: Vec::with_capacity(max_triangles), manifold }
    }

    /// Appends to `points` the points at which the hull of `chassis` touches `terrain` within `dt` s, or comes closer
    /// than the largest gap of `limits`. `motion` is the velocity of the centre of mass (m/s) and the angular velocity
    /// (rad/s), world axes. Points may be left out if their gap at the end of the step is larger than that, for the
    /// twist of the chassis and the gain of speed of `limits`. Ground at rest is assumed, so the points have a velocity
    /// of zero.
    ///
    /// A triangle of a height field pushes upwards at any depth. A triangle of a mesh pushes to the side where the
    /// middle of the hull is, up to a depth of [`MAX_SHEET_DEPTH_M`]. Friction is the product of the hull's friction
    /// and the triangle's grip. Gaps are those at the start of the step along the normal of the triangle, negative
    /// inside.
    pub fn find_points(
        &mut self,
        chassis: &Chassis,
        terrain: &Terrain,
        motion: [Vec3; 2],
        dt: f32,
        limits: SearchLimits,
        points: &mut Vec<HullPoint>,
    ) {
        let SearchLimits { speed_gain, max_gap, region_gap } = limits;
        let underside = || Underside::new(chassis, motion, speed_gain, dt, max_gap);
        self.collect_triangles(chassis, terrain, motion, dt, region_gap, underside);
        if !self.near_triangles.is_empty() {
            self.append_points(chassis, terrain, motion, dt, max_gap, points);
        }
    }

    /// Replaces `near_triangles` by the triangles within `region_gap` m of the path of the hull of `chassis` in a step
    /// of `dt` s, without those that its underside excludes. `underside` computes the underside; it is called once, at
    /// the first triangle.
    fn collect_triangles(
        &mut self,
        chassis: &Chassis,
        terrain: &Terrain,
        [velocity, angular_velocity]: [Vec3; 2],
        dt: f32,
        region_gap: f32,
        underside: impl FnMut() -> Underside,
    ) {
        let rotation_path = angular_velocity.length() * chassis.hull_radius * dt;
        let centre = chassis.axes * chassis.hull.centre;
        let size = half_size(chassis) + Vec3::splat(region_gap + rotation_path); // half extents of the search box, m
        let path = velocity * dt; // displacement of the centre of mass, m
        let region = Region { low: centre - size + path.min(Vec3::ZERO), high: centre + size + path.max(Vec3::ZERO) };
        self.near_triangles.clear();
        let mut collector =
            NearTriangles { compute_underside: underside, underside: None, triangles: &mut self.near_triangles };
        terrain.visit_triangles(chassis.position, &region, &mut collector);
    }

    /// Appends the points of [`TriangleContacts::find_points`] on the collected triangles. Skips triangles without
    /// area, triangles behind which the hull is too deep, and triangles out of reach. Adds the points of each other
    /// triangle at its earliest time of contact, if the gap of the point can close to `max_gap` in the step and is not
    /// too deep.
    fn append_points(
        &mut self,
        chassis: &Chassis,
        terrain: &Terrain,
        [velocity, angular_velocity]: [Vec3; 2],
        dt: f32,
        max_gap: f32,
        points: &mut Vec<HullPoint>,
    ) {
        let swept_box = SweptBox {
            fixed_half_extents: Vec3::ZERO,
            moving_half_extents: chassis.hull.half_extents,
            centre: chassis.hull.centre,
            position: Vec3::ZERO,
            rotation: chassis.rotation,
            velocity,
            angular_velocity,
        };
        let rotation_speed = angular_velocity.length() * chassis.hull_radius;
        let centre = chassis.axes * chassis.hull.centre;
        for index in 0..self.near_triangles.len() {
            let triangle = self.near_triangles[index];
            let [a, b, c] = triangle.corners;
            let normal = (b - a).cross(c - a).normalize_or_zero();
            // Side of the face on which the hull counts as outside, and largest depth, m.
            let (side_sign, max_depth) = match terrain.is_field(&triangle) {
                true => (normal.z, f32::MAX),
                false => (normal.dot(centre - a), MAX_SHEET_DEPTH_M),
            };
            let normal = if side_sign < 0.0 { -normal } else { normal };
            let body_normal = chassis.axes.transpose() * normal;
            // Distance of the nearest hull point from the plane of the triangle, m; negative behind it.
            let distance = normal.dot(centre - a) - body_normal.abs().dot(chassis.hull.half_extents);
            // Upper bound of the approach speed, m/s; `normal` leads towards the hull.
            let closing_speed = rotation_speed - velocity.dot(normal);
            if normal == Vec3::ZERO || distance < -max_depth || distance - closing_speed.max(0.0) * dt > max_gap {
                continue;
            }
            // Earliest time of contact, s.
            let contact_time = if closing_speed > 0.0 { (distance.max(0.0) / closing_speed).min(dt) } else { 0.0 };
            self.visit_points(&triangle, normal, &swept_box, contact_time, |arm, gap| {
                if gap - closing_speed.max(0.0) * dt <= max_gap && gap >= -max_depth {
                    let friction = chassis.friction * triangle.grip;
                    points.push(HullPoint {
                        arm: chassis.axes * (chassis.hull.centre + arm),
                        gap,
                        normal,
                        friction,
                        velocity: Vec3::ZERO,
                    });
                }
            });
        }
    }

    /// Calls `visit` with each point of the hull's face, edge or corner towards the triangle that lies over the
    /// triangle after `time` s, and with its gap (m) at the start along `normal`. The points are given from the middle
    /// of the hull, in its own axes, m. `normal` is the unit normal of the triangle towards the hull. `swept_box` is
    /// the hull with its motion; its axes and origin are those of the corners of `triangle`. Overwrites `manifold`.
    fn visit_points(
        &mut self,
        triangle: &Triangle,
        normal: Vec3,
        swept_box: &SweptBox,
        time: f32,
        mut visit: impl FnMut(Vec3, f32),
    ) {
        let pose: Pose = swept_box.pose(time);
        // Direction into the triangle, in the axes of the hull.
        let inward = pose.rotation.inverse() * -normal;
        let [a, b, c] = triangle.corners;
        let triangle_face = PolygonalFeature::from(Face::new(a, b, c));
        let hull_face = Cuboid::new(swept_box.moving_half_extents).support_feature(inward);
        // Remaining points would be matched with the features of the triangle before.
        self.manifold.clear();
        // The hull is the second shape: its points are `local_p2`. `false`: the shapes are not swapped.
        PolygonalFeature::contacts(
            &pose,
            &pose.inverse(),
            normal,
            inward,
            &triangle_face,
            &hull_face,
            &mut self.manifold,
            false,
        );
        for manifold_point in &self.manifold.points {
            // Gap at the start: the distance after `time` less the displacement of the point along the normal.
            visit(
                manifold_point.local_p2,
                manifold_point.dist - swept_box.displacement(manifold_point.local_p2, &pose).dot(normal),
            );
        }
    }
}

/// Returns half the size of the axis-aligned bounding box of a hull in world axes, m.
fn half_size(chassis: &Chassis) -> Vec3 {
    let half_extents = chassis.hull.half_extents;
    chassis.axes.x_axis.abs() * half_extents.x
        + chassis.axes.y_axis.abs() * half_extents.y
        + chassis.axes.z_axis.abs() * half_extents.z
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::sync::Arc;

    use skidpad_core::contact_solver::relative_velocity;
    use skidpad_core::model::Hull;
    use skidpad_core::{DVec3, HeightField, Mat3, Quat, Scene, TriangleMesh};

    /// Number of cells along each side of the ground.
    const CELLS: usize = 24;

    /// Returns a height field and the mesh of its triangles, with steps of up to `roughness` m between neighbours.
    pub(crate) fn field_and_mesh(roughness: f32) -> [Scene; 2] {
        let side = CELLS + 1;
        let heights: Vec<f32> =
            (0..side * side).map(|i| roughness * ((i * 37 + i * i * 11) % 101) as f32 / 101.0).collect();
        let vertices =
            heights.iter().enumerate().map(|(i, height)| Vec3::new((i % side) as f32, (i / side) as f32, *height));
        let cell = |i: usize| {
            let a = (i / CELLS * side + i % CELLS) as u32;
            let [b, c, d] = [a + 1, a + 2 + CELLS as u32, a + 1 + CELLS as u32];
            [[a, b, c], [a, c, d]]
        };
        let triangles = (0..CELLS * CELLS).flat_map(cell).collect();
        let mesh = TriangleMesh::new(DVec3::ZERO, vertices.collect(), triangles, 0.5, 1.0).expect("a mesh");
        let field = HeightField::new(DVec3::ZERO, [1.0; 2], [side; 2], heights, false, 1.0).expect("a field");
        let empty = Scene { has_plane: false, ..Scene::flat() };
        [
            Scene { height_fields: vec![Arc::new(field)], ..empty.clone() },
            Scene { meshes: vec![Arc::new(mesh)], ..empty },
        ]
    }

    /// Sets pose and motion of `chassis` above or in the ground of [`field_and_mesh`], other ones for each `k` and each
    /// time the same. `speeds` are the largest speeds along each axis, m/s.
    pub(crate) fn set_varied_motion(chassis: &mut Chassis, k: usize, speeds: Vec3) {
        // Repeatable number from −1 to 1.
        let number = |step: usize| ((k * step) % 997) as f32 / 498.0 - 1.0;
        let tilt = if k.is_multiple_of(4) { 3.0 } else { 0.15 };
        let rotation = Quat::from_rotation_z(3.0 * number(31))
            * Quat::from_rotation_x(tilt * number(57))
            * Quat::from_rotation_y(tilt * number(71));
        let position = Vec3::new(12.0 + 5.0 * number(13), 12.0 + 5.0 * number(17), 0.7 + 0.5 * number(29));
        let velocity = speeds * Vec3::new(number(41), number(43), number(47));
        let rate = 2.0 * Vec3::new(number(53), number(59), number(61));
        let lags = [Vec3::new(0.1, -0.2, 0.3) * number(83), Vec3::new(0.3, 0.2, -0.1) * number(89)];
        chassis.set_step_motion(position.as_dvec3(), rotation, [velocity, rate], lags);
    }

    /// Hulls in many poses and motions above and in the ground have the same contact points, to the bit, whether the
    /// underside excludes triangles or not. Some triangles are excluded, and some poses have contacts.
    #[test]
    fn the_underside_excludes_no_contact() {
        let hull = Hull { centre: Vec3::new(0.1, 0.0, 0.2), half_extents: Vec3::new(2.0, 0.9, 0.5) };
        let mut chassis = Chassis::rigid(1000.0, Mat3::from_diagonal(Vec3::new(400.0, 1500.0, 1700.0)), hull);
        let (mut excluded, mut contacts) = (0, 0);
        for scene in [0.0, 0.1, 0.4, 3.0].into_iter().flat_map(field_and_mesh) {
            let terrain = Terrain::new(&scene);
            for k in 0..4000_usize {
                set_varied_motion(&mut chassis, k, Vec3::new(20.0, 20.0, 3.0));
                let motion = [chassis.pose_motion()[0], chassis.midpoint_rate(0.01)];
                let find = |height: Option<f32>| {
                    let (mut buffers, mut points) = (TriangleContacts::with_capacity(0), Vec::new());
                    let mut underside = Underside::new(&chassis, motion, 0.0, 0.01, 0.03);
                    underside.height = height.unwrap_or(underside.height);
                    buffers.collect_triangles(&chassis, &terrain, motion, 0.01, 0.03, || underside);
                    buffers.append_points(&chassis, &terrain, motion, 0.01, 0.03, &mut points);
                    points
                        .retain(|point| point.gap + 0.01 * relative_velocity(&chassis, point).dot(point.normal) < 0.03);
                    (buffers.near_triangles.len(), points)
                };
                let (near_count, points) = find(None);
                // No triangle is below an underside at −∞.
                let (all_count, all_points) = find(Some(f32::NEG_INFINITY));
                assert_eq!(points, all_points, "pose {k}");
                (excluded, contacts) = (excluded + all_count - near_count, contacts + points.len());
            }
        }
        assert!(excluded > 10_000 && contacts > 10_000, "{excluded} triangles excluded, {contacts} contacts");
    }
}
