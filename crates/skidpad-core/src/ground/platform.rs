//! Boxes that move on a given course, independent of loads and collisions: belts, turntables, lifts, pushing walls.

use crate::ground::boxes::FixedBox;
use bevy_math::{DQuat, DVec3, Quat, Vec3};
use skidpad_simd::math;

/// A box that moves along a course. The motion is a function of time alone; wheels and collisions do not affect it.
#[derive(Clone, Debug, PartialEq)]
pub struct Platform {
    /// Shape in the pose before the course moves it, with its grip and texture.
    pub shape: FixedBox,
    /// Axis of rotation through the centre, unit vector, world.
    pub axis: Vec3,
    /// Course of the platform.
    pub course: PlatformCourse,
}

/// Course of a platform.
#[derive(Clone, Debug, PartialEq)]
pub enum PlatformCourse {
    /// Constant velocity (m/s, world) and turn rate (rad/s about the axis).
    Steady {
        /// Velocity of the centre, world, m/s.
        velocity: Vec3,
        /// Turn rate about the axis of the platform, rad/s, positive by the right-hand rule.
        rate: f32,
    },
    /// Motion along way points.
    Path(PlatformPath),
}

/// Pose of a platform at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WayPoint {
    /// Time since the start of the world, s.
    pub time: f64,
    /// Displacement from the pose of [`Platform::shape`], world, m.
    pub displacement: DVec3,
    /// Angle about the axis of the platform, rad; may exceed a full turn.
    pub angle: f64,
}

/// Way points, with straight lines at constant speed between them and parabolic blends at the corners.
///
/// Around each way point the velocity changes linearly over the duration of a blend, half of it before the point and
/// half after. The platform passes the point at a distance of `blend Δv / 8` (J. J. Craig, "Introduction to Robotics",
/// linear segments with parabolic blends). Without blends the velocity jumps.
#[derive(Clone, Debug, PartialEq)]
pub struct PlatformPath {
    /// Way points, ascending in time.
    points: Vec<WayPoint>,
    /// Whether the path starts again after its last point.
    repeats: bool,
    /// Duration of each blend, s; 0 for none.
    blend: f64,
}

/// Reason for which way points are not a valid path.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum PlatformPathFault {
    /// Number of way points below 2.
    #[error("a path needs at least two way points, but has {0}")]
    TooFew(usize),
    /// Index of a way point with a number that is not finite.
    #[error("way point {0} is not finite")]
    NotFinite(usize),
    /// Index of a way point that is not later than the preceding one.
    #[error("way point {0} is not later than the previous way point")]
    NotLater(usize),
    /// Blends that are negative, not finite, or overlap.
    #[error("blends of {blend} s do not fit between way points {shortest} s apart")]
    InvalidBlend {
        /// Duration of a blend, s.
        blend: f64,
        /// Shortest time between two successive way points, s.
        shortest: f64,
    },
    /// Repeating path that does not end where it starts: distance between its ends, m.
    #[error("the path repeats, but its end is {0} m from its start")]
    NotClosed(f64),
}

/// Displacement (m) and angle (rad), or their rates.
#[derive(Clone, Copy, Debug, Default)]
struct PathOffset {
    /// Displacement (m) or its rate (m/s), world axes.
    displacement: DVec3,
    /// Angle about the axis (rad) or its rate (rad/s).
    angle: f64,
}

impl PathOffset {
    /// Returns the displacement and angle of a way point, without its time.
    fn from_way_point(point: &WayPoint) -> Self {
        Self { displacement: point.displacement, angle: point.angle }
    }

    /// Returns `self + factor · other`.
    fn add_scaled(self, other: Self, factor: f64) -> Self {
        Self { displacement: self.displacement + other.displacement * factor, angle: self.angle + other.angle * factor }
    }
}

/// Largest distance between the ends of a repeating path, m.
const MAX_CLOSURE_GAP_M: f64 = 1e-9;

impl PlatformPath {
    /// Creates a path along `points`, with a blend of `blend` s at each (≥ 0, at most the shortest time between
    /// successive points). A path that `repeats` must end where it starts, within 1e-9 m. Such a path runs forever,
    /// also before its first time, and its angle accumulates. Other paths are at rest before the first point and after
    /// the last.
    ///
    /// # Errors
    /// The first [`PlatformPathFault`], checked in this order: fewer than two points, a number that is not finite,
    /// times that do not ascend, the blend, the ends of a repeating path.
    pub fn new(points: Vec<WayPoint>, repeats: bool, blend: f64) -> Result<Self, PlatformPathFault> {
        if points.len() < 2 {
            return Err(PlatformPathFault::TooFew(points.len()));
        }
        let is_finite = |p: &WayPoint| p.time.is_finite() && p.displacement.is_finite() && p.angle.is_finite();
        if let Some(index) = points.iter().position(|point| !is_finite(point)) {
            return Err(PlatformPathFault::NotFinite(index));
        }
        let intervals = || points.windows(2).map(|pair| pair[1].time - pair[0].time);
        if let Some(index) = intervals().position(|interval| interval <= 0.0) {
            return Err(PlatformPathFault::NotLater(index + 1));
        }
        let shortest = intervals().fold(f64::INFINITY, f64::min);
        if !(0.0..=shortest).contains(&blend) {
            return Err(PlatformPathFault::InvalidBlend { blend, shortest });
        }
        // Distance between the ends, m.
        let closure_gap = points[0].displacement.distance(points[points.len() - 1].displacement);
        if repeats && closure_gap > MAX_CLOSURE_GAP_M {
            return Err(PlatformPathFault::NotClosed(closure_gap));
        }
        Ok(Self { points, repeats, blend })
    }

    /// Returns the constant rates (m/s and rad/s) on the leg that ends at way point `end_index`, 0 to the number of
    /// points. On a repeating path 0 selects the last leg, and the number of points the first leg. On other paths these
    /// two select rest: zero before the first and after the last point.
    fn leg_rates(&self, end_index: usize) -> PathOffset {
        let last_index = self.points.len() - 1;
        let end_index = match end_index {
            0 if self.repeats => last_index,
            end_index if end_index > last_index && self.repeats => 1,
            0 => return PathOffset::default(),
            end_index if end_index > last_index => return PathOffset::default(),
            end_index => end_index,
        };
        let [start_point, end_point] = [self.points[end_index - 1], self.points[end_index]];
        let change = PathOffset::from_way_point(&end_point).add_scaled(PathOffset::from_way_point(&start_point), -1.0);
        PathOffset::default().add_scaled(change, 1.0 / (end_point.time - start_point.time))
    }

    /// Returns displacement and angle at `time` s, and their rates. On a repeating path the time is reduced to one lap,
    /// and the angle increases by that of a lap with each lap. Between points the motion is linear. Within half a blend
    /// of a way point, the parabola `Δv remaining² / (2 blend)` is added to displacement and angle, and its derivative
    /// to the rates. Δv is the change of the rates at the point and `remaining` the time to the nearer end of the
    /// blend.
    fn offset_and_rates(&self, time: f64) -> [PathOffset; 2] {
        let [first, last] = [self.points[0], self.points[self.points.len() - 1]];
        // Whole laps since the first point; negative before it.
        let lap = if self.repeats { ((time - first.time) / (last.time - first.time)).floor() } else { 0.0 };
        let time = time - lap * (last.time - first.time);
        // First way point after `time`: 0 before the path, the number of points after it. The leg that contains `time`
        // ends at this point and has its index, see `leg_rates`.
        let next_index = self.points.partition_point(|point| point.time <= time);
        let previous = &self.points[next_index.saturating_sub(1)];
        let mut rates = self.leg_rates(next_index);
        let mut offset = PathOffset::from_way_point(previous).add_scaled(rates, time - previous.time);
        offset.angle += lap * (last.angle - first.angle);
        // The way points before and after `time`, as far as they exist.
        for corner in
            [next_index.checked_sub(1), (next_index < self.points.len()).then_some(next_index)].into_iter().flatten()
        {
            let time_since_corner = time - self.points[corner].time; // s; negative before the way point
            let remaining = 0.5 * self.blend - time_since_corner.abs(); // time within half the blend, s; ≤ 0 outside
            if remaining > 0.0 {
                // Change of the rates at the point, Δv. Leg `corner` ends there, and leg `corner + 1` begins there.
                let change = self.leg_rates(corner + 1).add_scaled(self.leg_rates(corner), -1.0);
                offset = offset.add_scaled(change, remaining * remaining / (2.0 * self.blend));
                // `remaining` rises before the point and falls after it.
                rates = rates.add_scaled(change, -remaining.copysign(time_since_corner) / self.blend);
            }
        }
        [offset, rates]
    }
}

/// Motion of a platform in a step, world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlatformMotion {
    /// Centre at the start of the step, m.
    pub centre: DVec3,
    /// Rotation from platform axes to world axes at the start of the step.
    pub rotation: Quat,
    /// Mean velocity of the centre over the step, m/s.
    pub velocity: Vec3,
    /// Mean angular velocity over the step, rad/s.
    pub angular_velocity: Vec3,
    /// Velocity of the centre at the end of the step, m/s.
    pub end_velocity: Vec3,
    /// Angular velocity at the end of the step, rad/s.
    pub end_angular_velocity: Vec3,
}

impl Platform {
    /// Returns displacement (m) and angle (rad) of the platform at `time` s, and their rates. A steady course has
    /// displacement and angle 0 at time 0 and constant rates.
    fn offset_and_rates(&self, time: f64) -> [PathOffset; 2] {
        match &self.course {
            PlatformCourse::Steady { velocity, rate } => {
                let rates = PathOffset { displacement: velocity.as_dvec3(), angle: f64::from(*rate) };
                [PathOffset::default().add_scaled(rates, time), rates]
            }
            PlatformCourse::Path(path) => path.offset_and_rates(time),
        }
    }

    /// Returns the centre (world, m) and the rotation from platform axes to world axes at displacement and angle
    /// `offset`: the centre moves by the displacement, and the shape turns about the axis through its centre.
    fn pose_at_offset(&self, offset: &PathOffset) -> (DVec3, Quat) {
        let (sin, cos) = math::sin_cos_f64(0.5 * offset.angle);
        let axis = self.axis.as_dvec3() * sin;
        let course_rotation = DQuat::from_xyzw(axis.x, axis.y, axis.z, cos).as_quat();
        (self.shape.centre + offset.displacement, course_rotation * self.shape.rotation)
    }

    /// Returns the centre (world, m) and the rotation from platform axes to world axes at `time` s since the start of
    /// the world.
    pub fn pose(&self, time: f64) -> (DVec3, Quat) {
        self.pose_at_offset(&self.offset_and_rates(time)[0])
    }

    /// Returns the platform as a fixed box in its pose at `time` s, with its size, grip and texture.
    pub fn box_at(&self, time: f64) -> FixedBox {
        let (centre, rotation) = self.pose(time);
        FixedBox { centre, rotation, ..self.shape }
    }

    /// Returns the motion in the step of `dt` s that starts at `time` s: pose at the start, mean velocities (difference
    /// of the two poses over `dt`), and velocities of the course at the end.
    pub fn motion(&self, time: f64, dt: f32) -> PlatformMotion {
        let step_time = f64::from(dt);
        let ([start_offset, _], [end_offset, end_rates]) =
            (self.offset_and_rates(time), self.offset_and_rates(time + step_time));
        let (centre, rotation) = self.pose_at_offset(&start_offset);
        PlatformMotion {
            centre,
            rotation,
            velocity: ((end_offset.displacement - start_offset.displacement) / step_time).as_vec3(),
            angular_velocity: self.axis * ((end_offset.angle - start_offset.angle) / step_time) as f32,
            end_velocity: end_rates.displacement.as_vec3(),
            end_angular_velocity: self.axis * end_rates.angle as f32,
        }
    }
}

impl PlatformMotion {
    /// Returns the mean velocity over the step of the point of the platform that is at `point` (world, m) at the start
    /// of the step, m/s.
    pub fn velocity_at(&self, point: DVec3) -> Vec3 {
        self.velocity + self.angular_velocity.cross((point - self.centre).as_vec3())
    }

    /// Returns the velocity of the platform at the end of a step of `dt` s, world, m/s, under a wheel of a car that
    /// moves with the platform. In the middle of the step the centre of mass of the car is at `car_position` (world,
    /// m), and the contact is at `arm` (m) from it. Without rotation in the step and at its end, this is the end
    /// velocity of the centre.
    ///
    /// The velocity of a rotating platform is evaluated at the contact at the end of the step. The position of the car
    /// relative to the platform's centre in the middle of the step is turned by half a step at the mean angular
    /// velocity. The arm stays that of the middle of the step, like that in the rows of the wheel; with another arm, a
    /// car and the turntable under it would turn at different rates.
    pub fn velocity_under_wheel(&self, car_position: DVec3, arm: Vec3, dt: f32) -> Vec3 {
        if self.end_angular_velocity == Vec3::ZERO && self.angular_velocity == Vec3::ZERO {
            return self.end_velocity;
        }
        // From the centre of the platform in the middle of the step, m.
        let from_centre = (car_position - self.centre).as_vec3() - self.velocity * (0.5 * dt);
        let end_from_centre = math::integrate_rotation(Quat::IDENTITY, self.angular_velocity, 0.5 * dt) * from_centre;
        self.end_velocity + self.end_angular_velocity.cross(end_from_centre + arm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a way point at `time` s, displaced by `x` m along x, at `angle` rad.
    fn point(time: f64, x: f64, angle: f64) -> WayPoint {
        WayPoint { time, displacement: DVec3::new(x, 0.0, 0.0), angle }
    }

    /// Returns a platform of 1 m³ around (1, 2, 3) m with a vertical axis, on the path along `points`.
    fn platform_on_path(points: &[WayPoint], repeats: bool, blend: f64) -> Platform {
        let path = PlatformPath::new(points.to_vec(), repeats, blend).expect("a path");
        let shape = FixedBox::axis_aligned(DVec3::new(1.0, 2.0, 3.0), Vec3::ONE);
        Platform { shape, axis: Vec3::Z, course: PlatformCourse::Path(path) }
    }

    /// Checks positions on a path without blends, also at rest before and after it, and the mean velocity, angular
    /// velocity and end velocity of one step.
    #[test]
    fn it_passes_way_points_in_lines_and_stands_at_the_ends() {
        let platform =
            platform_on_path(&[point(1.0, 0.0, 0.0), point(3.0, 4.0, 1.0), point(4.0, 4.0, 1.0)], false, 0.0);
        for (time, x) in [(-5.0, 0.0), (1.0, 0.0), (2.0, 2.0), (3.0, 4.0), (3.5, 4.0), (99.0, 4.0)] {
            assert_eq!(platform.pose(time).0, DVec3::new(1.0 + x, 2.0, 3.0), "{time} s");
        }
        let motion = platform.motion(2.0, 0.5);
        assert_eq!([motion.velocity.x, motion.angular_velocity.z, motion.end_velocity.x], [2.0, 0.5, 2.0]);
    }

    /// Checks positions and velocities at five times in blends of 0.8 s: the velocity changes linearly over a blend,
    /// and a corner is cut by `blend Δv / 8`.
    #[test]
    fn blends_round_its_corners() {
        let platform = platform_on_path(&[point(1.0, 0.0, 0.0), point(3.0, 4.0, 0.0)], false, 0.8);
        let position_and_velocity =
            |time: f64| (platform.pose(time).0.x - 1.0, f64::from(platform.motion(time - 1e-3, 1e-3).end_velocity.x));
        for (time, x, velocity) in
            [(0.6, 0.0, 0.0), (0.8, 0.05, 0.5), (1.0, 0.2, 1.0), (1.4, 0.8, 2.0), (3.0, 3.8, 1.0)]
        {
            let (found_x, found_velocity) = position_and_velocity(time);
            // The tolerance of the velocity is due to the rounding of the time.
            assert!(
                (found_x - x).abs() < 1e-12 && (found_velocity - velocity).abs() < 1e-6,
                "{time} s: {found_x} m, {found_velocity} m/s"
            );
        }
    }

    /// Checks that a repeating path has the same displacements three laps later and an angle larger by three laps. The
    /// blends keep it 0.15 m (`blend Δv / 8`) from its two reversal points.
    #[test]
    fn a_loop_goes_round_and_its_angle_counts_on() {
        let points = [point(0.0, 0.0, 0.0), point(1.0, 3.0, 0.5), point(2.0, 0.0, 1.0)];
        let platform = platform_on_path(&points, true, 0.2);
        for time in [0.0, 0.03, 0.7, 1.04, 1.95] {
            let [first_lap, fourth_lap] = [time, time + 6.0].map(|time| platform.offset_and_rates(time));
            assert!((first_lap[0].displacement - fourth_lap[0].displacement).length() < 1e-12, "{time} s");
            assert!((first_lap[0].angle + 3.0 - fourth_lap[0].angle).abs() < 1e-12, "{time} s");
        }
        // The platform reverses at both ends, 0.2 s * 6 m/s / 8 before them.
        assert!((platform.offset_and_rates(2.0)[0].displacement.x - 0.15).abs() < 1e-12);
        assert!((platform.offset_and_rates(3.0)[0].displacement.x - 2.85).abs() < 1e-12);
    }

    /// Checks on a repeating path with blends that the rates of displacement and angle are the derivatives of both, at
    /// 500 times over two laps.
    #[test]
    fn it_moves_with_the_derivative_of_its_pose() {
        let platform = platform_on_path(&[point(0.0, 0.0, 0.0), point(1.0, 3.0, 0.5), point(2.5, 0.0, 1.5)], true, 0.7);
        for k in 0..500 {
            let time = 0.011 * f64::from(k);
            let ([before, _], [after, _], [_, rates]) = (
                platform.offset_and_rates(time - 1e-6),
                platform.offset_and_rates(time + 1e-6),
                platform.offset_and_rates(time),
            );
            // The tolerance is that of an interval of 2e-6 s over a change of acceleration of 9 m/s² within 0.7 s.
            assert!(((after.displacement.x - before.displacement.x) / 2e-6 - rates.displacement.x).abs() < 1e-4);
            assert!(((after.angle - before.angle) / 2e-6 - rates.angle).abs() < 1e-4, "{time} s");
        }
    }

    /// Checks the fault of paths with one point, points out of order, a blend longer than the shortest leg, ends apart
    /// on a repeating path, and a time that is not a number. A blend as long as the shortest leg is valid.
    #[test]
    fn what_is_no_path_is_told() {
        let path_fault =
            |points: &[WayPoint], repeats: bool, blend: f64| PlatformPath::new(points.to_vec(), repeats, blend).err();
        let [a, b, c] = [point(0.0, 0.0, 0.0), point(1.0, 3.0, 0.5), point(1.5, 0.0, 1.0)];
        assert_eq!(path_fault(&[a], false, 0.0), Some(PlatformPathFault::TooFew(1)));
        assert_eq!(path_fault(&[a, c, b], false, 0.0), Some(PlatformPathFault::NotLater(2)));
        assert_eq!(
            path_fault(&[a, b, c], false, 0.6),
            Some(PlatformPathFault::InvalidBlend { blend: 0.6, shortest: 0.5 })
        );
        assert_eq!(path_fault(&[a, b], true, 0.0), Some(PlatformPathFault::NotClosed(3.0)));
        assert_eq!(path_fault(&[a, point(f64::NAN, 0.0, 0.0)], true, 0.0), Some(PlatformPathFault::NotFinite(1)));
        assert_eq!(path_fault(&[a, b, c], true, 0.5), None);
    }
}
