//! A box that moves past one that stands: how far apart they are, when they first touch, and by which faces. Two that both move:
//! `pair.rs`.

use parry3d::math::Pose;
use skidpad_core::{Mat3, Quat, Vec3, math};

/// Boxes touch when they are this share of the moving one's least half extent apart.
pub(crate) const TOUCHING: f32 = 2e-3;

/// Boxes that overlap along an axis by less than this share of the moving one's least half extent pass each other along
/// it: a hull slides from box to flush box over what it has sunk into them, and its edges are as round as that.
const EDGE: f32 = 1e-2;

/// And by less than that, m, however large a hull is: what overlaps by a centimetre is hit.
const MOST_EDGE: f32 = 5e-3;

/// Advances within a step; a hull that yaws by half a turn a second past a post at a hand's breadth takes a tenth of them.
/// One still close after all of them is taken to touch.
pub(crate) const ADVANCES: usize = 128;

/// Sines between two edges below which they count as parallel; their cross product has few digits then.
const PARALLEL: f32 = 1e-3;

/// Two boxes in the axes and around the middle of the one that stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passing {
    /// Half extents of the box that stands, m.
    pub stands: Vec3,
    /// Half extents of the one that moves, m.
    pub moves: Vec3,
    /// From the centre of mass of what moves to the middle of its box, in its own axes, m.
    pub centre: Vec3,
    /// Of its centre of mass, m.
    pub position: Vec3,
    /// Its axes to those of the box that stands.
    pub rotation: Quat,
    /// Of its centre of mass, m/s.
    pub velocity: Vec3,
    /// rad/s.
    pub angular: Vec3,
}

/// A direction in which two boxes are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Axis {
    /// Distance of the boxes along it, m, negative when they overlap.
    pub apart: f32,
    /// Unit vector towards the box that moves.
    pub normal: Vec3,
}

/// The three face normals of each box and the cross products of their edges: boxes apart are apart along one of these.
pub(crate) type Axes = [Axis; 15];

impl Passing {
    /// Pose of the moving box's middle after `time` s.
    pub fn pose(&self, time: f32) -> Pose {
        let rotation = math::turned(self.rotation, self.angular, time);
        Pose::from_parts(self.position + self.velocity * time + rotation * self.centre, rotation)
    }

    /// Way of the point `local` of the moving box, from its middle in its own axes, until it is in `pose`, m.
    pub fn way(&self, local: Vec3, pose: &Pose) -> Vec3 {
        *pose * local - (self.position + self.rotation * (self.centre + local))
    }

    /// When the boxes first touch within `dt` s, and the normal by which they do, towards the one that moves.
    ///
    /// Conservative advancement: no point comes nearer along an axis than its velocity and the reach of the turn bring it,
    /// so until then nothing touches (B. Mirtich, "Impulse-based Dynamic Simulation of Rigid Body Systems").
    pub fn touch(&self, dt: f32) -> Option<(f32, Vec3)> {
        let size = self.moves.min_element();
        let reach = self.centre.length() + self.moves.length();
        let mut time = 0.0;
        for _ in 0..ADVANCES {
            let axes = self.axes(time);
            let farthest = farthest(&axes);
            if farthest.apart <= TOUCHING * size {
                return Some((time, gentlest(&axes, farthest, size, self.velocity)));
            }
            let closing = reach * self.angular.cross(farthest.normal).length() - self.velocity.dot(farthest.normal);
            time += farthest.apart / closing;
            if !(closing > 0.0 && time < dt) {
                return None;
            }
        }
        let axes = self.axes(time);
        Some((time, gentlest(&axes, farthest(&axes), size, self.velocity)))
    }

    /// Every direction that may part the boxes, as they are after `time` s.
    fn axes(&self, time: f32) -> Axes {
        axes(self.stands, self.moves, &self.pose(time))
    }
}

/// The axis by which boxes that overlap along `farthest` touch: of all along which they overlap less than an edge is
/// round, that which stops least. `size` is the least half extent, m; `velocity` that of the box that moves.
pub(crate) fn gentlest(axes: &Axes, farthest: Axis, size: f32, velocity: Vec3) -> Vec3 {
    let edge = (EDGE * size).min(MOST_EDGE);
    let closing = |axis: &Axis| -velocity.dot(axis.normal);
    let shallow = axes[..FACES].iter().filter(|axis| axis.apart > -edge);
    let gentlest = shallow.fold(farthest, |best, axis| if closing(axis) < closing(&best) { *axis } else { best });
    gentlest.normal
}

/// Every direction that may part two boxes of those half extents, faces first, in the axes and around the middle of the one
/// that stands; `pose` is that of the middle of the other (S. Gottschalk, M. C. Lin and D. Manocha, "OBBTree: A Hierarchical
/// Structure for Rapid Interference Detection").
#[inline(always)]
pub(crate) fn axes(stands: Vec3, moves: Vec3, pose: &Pose) -> Axes {
    let Pose { rotation, translation: middle, .. } = *pose;
    let own = Mat3::from_quat(rotation);
    let along = |normal: Vec3| {
        let between = middle.dot(normal);
        let sizes = normal.abs().dot(stands) + (own.transpose() * normal).abs().dot(moves);
        Axis { apart: between.abs() - sizes, normal: if between < 0.0 { -normal } else { normal } }
    };
    let mut axes = [Axis::default(); 15];
    for i in 0..3 {
        axes[i] = along(Vec3::AXES[i]);
        axes[3 + i] = along(own.col(i));
        for j in 0..3 {
            let cross = Vec3::AXES[i].cross(own.col(j));
            let sine = cross.length();
            let parallel = Axis { apart: f32::NEG_INFINITY, normal: Vec3::ZERO };
            axes[FACES + 3 * i + j] = if sine > PARALLEL { along(cross / sine) } else { parallel };
        }
    }
    axes
}

/// Axes that are normals of faces.
const FACES: usize = 6;

/// The axis along which the boxes are farthest apart, or overlap least; of two alike the first, so a face before edges.
pub(crate) fn farthest(axes: &Axes) -> Axis {
    axes.iter().fold(axes[0], |best, axis| if axis.apart > best.apart { *axis } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A box of 4 m by 2 m by 1 m at `position`, beside a cube of 2 m.
    fn passing(position: Vec3, velocity: Vec3) -> Passing {
        Passing {
            stands: Vec3::ONE,
            moves: Vec3::new(2.0, 1.0, 0.5),
            centre: Vec3::ZERO,
            position,
            rotation: Quat::IDENTITY,
            velocity,
            angular: Vec3::ZERO,
        }
    }

    #[test]
    fn it_touches_when_its_faces_meet_and_not_when_it_passes() {
        let ahead = passing(Vec3::new(-13.0, 0.5, 0.2), Vec3::new(20.0, 0.0, 0.0));
        let (time, normal) = ahead.touch(1.0).expect("10 m away at 20 m/s");
        // Within the distance that counts as touching, 1 mm.
        assert!((time - 0.5).abs() < 1e-4 && normal == Vec3::NEG_X, "{time} s, {normal}");
        assert_eq!(ahead.touch(0.49), None);
        for beside in [Vec3::new(-13.0, 2.01, 0.0), Vec3::new(-13.0, -2.01, 0.3), Vec3::new(-13.0, 0.0, 1.51)] {
            assert_eq!(passing(beside, Vec3::new(20.0, 0.0, 0.0)).touch(10.0), None, "{beside}");
        }
        assert_eq!(passing(Vec3::new(-3.5, 0.0, 0.0), Vec3::new(-1.0, 0.0, 0.0)).touch(1.0), None);
    }

    /// An edge that overlaps by less than a hundredth of the half height, 5 mm, is slid over.
    #[test]
    fn what_has_sunk_in_slides_on() {
        for (sunk, expected) in [(0.002, Vec3::Z), (0.01, Vec3::NEG_X)] {
            let flush = passing(Vec3::new(-3.2, 0.0, 1.5 - sunk), Vec3::new(20.0, 0.0, 0.0));
            let (_, normal) = flush.touch(0.1).expect("it comes to the edge");
            assert_eq!(normal, expected, "sunk in by {sunk} m");
        }
    }

    /// A corner that a turn sweeps into the cube touches where the arc says, and one whose arc clears it does not.
    #[test]
    fn a_turn_sweeps_its_corners() {
        let turning = |y: f32| Passing { angular: Vec3::Z * 0.5, ..passing(Vec3::new(-1.5, y, 0.0), Vec3::ZERO) };
        // The farthest corner is √5 m from the middle.
        assert_eq!(turning(-1.01 - 5f32.sqrt()).touch(1.0), None);
        let (time, normal) = turning(-2.5).touch(1.0).expect("it turns into the cube");
        assert_eq!(normal, Vec3::NEG_Y);
        let angle = 0.5 * time;
        let corner = 2.0 * angle.sin() + angle.cos();
        // The angle of the Cayley map is short by θ³ / 12.
        assert!((corner - 1.5).abs() < 5e-3, "{corner} m at {time} s");
    }

    /// Two edges that cross at right angles part boxes that overlap along every face's normal.
    #[test]
    fn edges_part_boxes() {
        let between = Vec3::new(0.0, 1.0, 1.0).normalize();
        let edge = Vec3::X.cross(between);
        let rotation = Quat::from_mat3(&Mat3::from_cols(Vec3::X, between, edge))
            * Quat::from_rotation_z(core::f32::consts::FRAC_PI_4);
        let apart = 0.1;
        let position = between * (2.0 * 2f32.sqrt() + apart);
        let crossed = Passing { rotation, moves: Vec3::ONE, ..passing(position, between * -1.0) };
        let axes = crossed.axes(0.0);
        let found = farthest(&axes);
        assert!((found.apart - apart).abs() < 1e-5 && found.normal.dot(between) > 0.9999, "{found:?}");
        assert!(axes[..FACES].iter().all(|axis| axis.apart < 0.0), "{axes:?}");
        let (time, normal) = crossed.touch(1.0).expect("it comes nearer");
        assert!((time - apart).abs() < 3e-3 && normal.dot(between) > 0.9999, "{time} s, {normal}");
    }
}
