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
    /// than `max_gap` m. `motion` is the velocity of the centre of mass (m/s) and the angular velocity (rad/s), world
    /// axes. Ground at rest is assumed, so the points have a velocity of zero.
    ///
    /// Collects the triangles near the swept hull in `near_triangles`, without those far below its underside. Skips triangles without area, triangles behind
    /// which the hull is too deep, and triangles out of reach. Then adds the points of each other triangle at its
    /// earliest time of contact, if the gap of the point can close to `max_gap` in the step and is not too deep.
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
        max_gap: f32,
        points: &mut Vec<HullPoint>,
    ) {
        let [velocity, angular_velocity] = motion;
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
        let size = half_size(chassis) + Vec3::splat(max_gap + rotation_speed * dt); // half extents of the search box, m
        let path = velocity * dt; // displacement of the centre of mass, m
        let region = Region { low: centre - size + path.min(Vec3::ZERO), high: centre + size + path.max(Vec3::ZERO) };
        self.near_triangles.clear();
        let up = chassis.axes.z_axis;
        let underside = Underside {
            up,
            height: up.dot(centre) - chassis.hull.half_extents.z,
            centre,
            path,
            rotation_path: rotation_speed * dt,
            max_gap,
        };
        let mut collector = NearTriangles { underside, triangles: &mut self.near_triangles };
        terrain.visit_triangles(chassis.position, &region, &mut collector);
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
