//! Moving box against a fixed box: their distance, the time of first contact, and the faces in contact. `hull_pair.rs`
//! covers two moving boxes.

use parry3d::math::Pose;
use skidpad_core::{Mat3, Quat, Vec3, math};

/// Distance at which boxes touch, as a share of the smallest half extent of the moving box.
pub(crate) const TOUCH_DISTANCE_RATIO: f32 = 2e-3;

/// Overlap along an axis below which boxes pass each other along it, as a share of the smallest half extent of the
/// moving box. The tolerance acts as a rounding of edges: a hull slides from one box to a flush one although it has
/// sunk into the first.
const EDGE_OVERLAP_RATIO: f32 = 1e-2;

/// Upper limit of that overlap, m, for hulls of any size: an overlap of a centimetre is a hit.
const MAX_EDGE_OVERLAP_M: f32 = 5e-3;

/// Maximum number of advances within a step. A hull that yaws at half a turn per second past a post 10 cm away takes a
/// tenth of them. A hull that is still close after the last advance counts as touching.
pub(crate) const MAX_ADVANCES: usize = 128;

/// Sine between two edges below which they count as parallel, because their cross product is then inaccurate.
const PARALLEL_EDGE_SINE: f32 = 1e-3;

/// Moving box relative to a fixed box, in the axes and from the middle of the fixed box.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SweptBox {
    /// Half extents of the fixed box, m.
    pub fixed_half_extents: Vec3,
    /// Half extents of the moving box, m.
    pub moving_half_extents: Vec3,
    /// Middle of the moving box, from the centre of mass of its body, in the axes of that body, m.
    pub centre: Vec3,
    /// Position of the centre of mass of the moving body, m.
    pub position: Vec3,
    /// Rotation from the axes of the moving body to those of the fixed box.
    pub rotation: Quat,
    /// Velocity of the centre of mass of the moving body, m/s.
    pub velocity: Vec3,
    /// Angular velocity of the moving body, rad/s.
    pub angular_velocity: Vec3,
}

/// Candidate separating axis of two boxes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct SeparatingAxis {
    /// Distance of the boxes along the axis, m; negative if they overlap.
    pub separation: f32,
    /// Unit vector towards the moving box.
    pub normal: Vec3,
}

/// Three face normals of each box and the cross products of their edges. Boxes that do not overlap are apart along one
/// of these axes.
pub(crate) type SeparatingAxes = [SeparatingAxis; 15];

impl SweptBox {
    /// Returns the pose of the middle of the moving box after `time` s.
    pub fn pose(&self, time: f32) -> Pose {
        let rotation = math::integrate_rotation(self.rotation, self.angular_velocity, time);
        Pose::from_parts(self.position + self.velocity * time + rotation * self.centre, rotation)
    }

    /// Returns the displacement (m) of the point `local` of the moving box between the start and `pose`. `local` is
    /// given from the middle of that box in its own axes.
    pub fn displacement(&self, local: Vec3, pose: &Pose) -> Vec3 {
        *pose * local - (self.position + self.rotation * (self.centre + local))
    }

    /// Returns the time (s) at which the boxes first touch within `dt` s, and the contact normal towards the moving
    /// box, in the axes of the fixed box. Boxes closer than [`TOUCH_DISTANCE_RATIO`] times the smallest half extent of
    /// the moving box touch. Boxes that overlap at the start touch at time 0. Boxes that are still close after
    /// [`MAX_ADVANCES`] advances count as touching. Returns `None` if they do not touch.
    ///
    /// Uses conservative advancement: no point approaches along an axis faster than the velocity and the sweep of the
    /// rotation allow, so that nothing touches before that time (B. Mirtich, "Impulse-based Dynamic Simulation of Rigid
    /// Body Systems").
    pub fn first_contact(&self, dt: f32) -> Option<(f32, Vec3)> {
        let min_half_extent = self.moving_half_extents.min_element();
        // Upper bound of the distance of any point of the moving box from the centre of mass, m.
        let swept_radius = self.centre.length() + self.moving_half_extents.length();
        let mut time = 0.0;
        for _ in 0..MAX_ADVANCES {
            let axes = self.separating_axes(time);
            let farthest_axis = max_separation_axis(&axes);
            if farthest_axis.separation <= TOUCH_DISTANCE_RATIO * min_half_extent {
                return Some((time, contact_normal(&axes, farthest_axis, min_half_extent, self.velocity)));
            }
            // Upper bound of the approach speed along the axis, m/s.
            let closing_speed = swept_radius * self.angular_velocity.cross(farthest_axis.normal).length()
                - self.velocity.dot(farthest_axis.normal);
            time += farthest_axis.separation / closing_speed;
            // The negation also ends the search for NaN.
            if !(closing_speed > 0.0 && time < dt) {
                return None;
            }
        }
        // Still close after the last advance: counts as touching.
        let axes = self.separating_axes(time);
        Some((time, contact_normal(&axes, max_separation_axis(&axes), min_half_extent, self.velocity)))
    }

    /// Computes all candidate separating axes of the boxes after `time` s.
    fn separating_axes(&self, time: f32) -> SeparatingAxes {
        separating_axes(self.fixed_half_extents, self.moving_half_extents, &self.pose(time))
    }
}

/// Returns the contact normal of two boxes, towards the moving one: among `farthest_axis` and all face axes with less
/// overlap than the edge rounding, the one with the smallest closing speed; `farthest_axis` if speeds are equal.
/// `min_half_extent` is the smallest half extent, m; `velocity` is that of the moving box, m/s, in the axes of `axes`;
/// its rotation is ignored. The overlap of the edge rounding is the smaller of [`EDGE_OVERLAP_RATIO`] times
/// `min_half_extent` and [`MAX_EDGE_OVERLAP_M`].
pub(crate) fn contact_normal(
    axes: &SeparatingAxes,
    farthest_axis: SeparatingAxis,
    min_half_extent: f32,
    velocity: Vec3,
) -> Vec3 {
    let edge_overlap = (EDGE_OVERLAP_RATIO * min_half_extent).min(MAX_EDGE_OVERLAP_M);
    let closing_speed = |axis: &SeparatingAxis| -velocity.dot(axis.normal);
    let shallow_axes = axes[..FACE_AXIS_COUNT].iter().filter(|axis| axis.separation > -edge_overlap);
    let slowest_axis =
        shallow_axes.fold(
            farthest_axis,
            |slowest, axis| if closing_speed(axis) < closing_speed(&slowest) { *axis } else { slowest },
        );
    slowest_axis.normal
}

/// Computes the 15 candidate separating axes of two boxes, in the axes and from the middle of the fixed box: three face
/// normals of the fixed box, three of the moving box, then nine cross products of edges. Half extents are in m. `pose`
/// is that of the middle of the moving box. The separation is the distance of the middles along the axis less the half
/// widths of both boxes, negative if they overlap. Each normal leads towards the moving box. Edges that are nearly
/// parallel have a separation of −∞, so that they are never chosen (S. Gottschalk, M. C. Lin and D. Manocha, "OBBTree:
/// A Hierarchical Structure for Rapid Interference Detection").
#[inline(always)]
pub(crate) fn separating_axes(fixed_half_extents: Vec3, moving_half_extents: Vec3, pose: &Pose) -> SeparatingAxes {
    let Pose { rotation, translation: centre_offset, .. } = *pose;
    let moving_axes = Mat3::from_quat(rotation);
    let separation_along = |normal: Vec3| {
        // Signed distance of the middles along the axis, m.
        let distance = centre_offset.dot(normal);
        // Sum of the half widths of both boxes along the axis, m.
        let half_widths =
            normal.abs().dot(fixed_half_extents) + (moving_axes.transpose() * normal).abs().dot(moving_half_extents);
        SeparatingAxis {
            separation: distance.abs() - half_widths,
            normal: if distance < 0.0 { -normal } else { normal },
        }
    };
    let mut axes = [SeparatingAxis::default(); 15];
    for i in 0..3 {
        axes[i] = separation_along(Vec3::AXES[i]);
        axes[3 + i] = separation_along(moving_axes.col(i));
        for j in 0..3 {
            let cross = Vec3::AXES[i].cross(moving_axes.col(j));
            let sine = cross.length();
            let parallel_axis = SeparatingAxis { separation: f32::NEG_INFINITY, normal: Vec3::ZERO };
            axes[FACE_AXIS_COUNT + 3 * i + j] =
                if sine > PARALLEL_EDGE_SINE { separation_along(cross / sine) } else { parallel_axis };
        }
    }
    axes
}

/// Number of axes that are normals of faces.
const FACE_AXIS_COUNT: usize = 6;

/// Returns the axis along which the boxes are farthest apart or overlap least. Returns the first of several equal axes,
/// so that faces precede edges.
pub(crate) fn max_separation_axis(axes: &SeparatingAxes) -> SeparatingAxis {
    axes.iter().fold(axes[0], |max_axis, axis| if axis.separation > max_axis.separation { *axis } else { max_axis })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a moving box of 4 m by 2 m by 1 m with its middle at `position`, with `velocity` (m/s) and without
    /// rotation, and a fixed cube with 2 m edges around the origin.
    fn passing(position: Vec3, velocity: Vec3) -> SweptBox {
        SweptBox {
            fixed_half_extents: Vec3::ONE,
            moving_half_extents: Vec3::new(2.0, 1.0, 0.5),
            centre: Vec3::ZERO,
            position,
            rotation: Quat::IDENTITY,
            velocity,
            angular_velocity: Vec3::ZERO,
        }
    }

    /// A box 10 m ahead at 20 m/s touches the cube after 0.5 s with its face; within 0.49 s it does not. Boxes that
    /// pass 1 cm beside or above the cube, and a box that moves away, do not touch.
    #[test]
    fn it_touches_when_its_faces_meet_and_not_when_it_passes() {
        let ahead = passing(Vec3::new(-13.0, 0.5, 0.2), Vec3::new(20.0, 0.0, 0.0));
        let (time, normal) = ahead.first_contact(1.0).expect("10 m away at 20 m/s");
        // The contact distance is 1 mm.
        assert!((time - 0.5).abs() < 1e-4 && normal == Vec3::NEG_X, "{time} s, {normal}");
        assert_eq!(ahead.first_contact(0.49), None);
        for beside in [Vec3::new(-13.0, 2.01, 0.0), Vec3::new(-13.0, -2.01, 0.3), Vec3::new(-13.0, 0.0, 1.51)] {
            assert_eq!(passing(beside, Vec3::new(20.0, 0.0, 0.0)).first_contact(10.0), None, "{beside}");
        }
        assert_eq!(passing(Vec3::new(-3.5, 0.0, 0.0), Vec3::new(-1.0, 0.0, 0.0)).first_contact(1.0), None);
    }

    /// A hull slides over an edge that overlaps by less than a hundredth of its half height, 5 mm: the normal is
    /// upwards. A larger overlap is a hit with the side of the cube.
    #[test]
    fn what_has_sunk_in_slides_on() {
        for (sunk, expected) in [(0.002, Vec3::Z), (0.01, Vec3::NEG_X)] {
            let flush = passing(Vec3::new(-3.2, 0.0, 1.5 - sunk), Vec3::new(20.0, 0.0, 0.0));
            let (_, normal) = flush.first_contact(0.1).expect("it comes to the edge");
            assert_eq!(normal, expected, "sunk in by {sunk} m");
        }
    }

    /// A corner that a rotation sweeps into the cube touches at the angle of its arc. A corner whose arc clears the
    /// cube does not touch.
    #[test]
    fn a_turn_sweeps_its_corners() {
        let turning =
            |y: f32| SweptBox { angular_velocity: Vec3::Z * 0.5, ..passing(Vec3::new(-1.5, y, 0.0), Vec3::ZERO) };
        // The farthest corner is √5 m from the middle.
        assert_eq!(turning(-1.01 - 5f32.sqrt()).first_contact(1.0), None);
        let (time, normal) = turning(-2.5).first_contact(1.0).expect("it turns into the cube");
        assert_eq!(normal, Vec3::NEG_Y);
        let angle = 0.5 * time;
        let corner = 2.0 * angle.sin() + angle.cos();
        // The angle of the Cayley map is too small by θ³ / 12.
        assert!((corner - 1.5).abs() < 5e-3, "{corner} m at {time} s");
    }

    /// Edges that cross at right angles separate two boxes that overlap along every face normal. The axis of the
    /// largest separation and the contact normal lie along the cross product of these edges.
    #[test]
    fn edges_part_boxes() {
        let between = Vec3::new(0.0, 1.0, 1.0).normalize();
        let edge = Vec3::X.cross(between);
        let rotation = Quat::from_mat3(&Mat3::from_cols(Vec3::X, between, edge))
            * Quat::from_rotation_z(core::f32::consts::FRAC_PI_4);
        let apart = 0.1;
        let position = between * (2.0 * 2f32.sqrt() + apart);
        let crossed = SweptBox { rotation, moving_half_extents: Vec3::ONE, ..passing(position, between * -1.0) };
        let axes = crossed.separating_axes(0.0);
        let found = max_separation_axis(&axes);
        assert!((found.separation - apart).abs() < 1e-5 && found.normal.dot(between) > 0.9999, "{found:?}");
        assert!(axes[..FACE_AXIS_COUNT].iter().all(|axis| axis.separation < 0.0), "{axes:?}");
        let (time, normal) = crossed.first_contact(1.0).expect("it comes nearer");
        assert!((time - apart).abs() < 3e-3 && normal.dot(between) > 0.9999, "{time} s, {normal}");
    }
}
