//! Boxes that move by themselves, whatever stands on them: belts, turntables, lifts, walls that push.

use crate::math;
use crate::world::boxes::FixedBox;
use bevy_math::{DQuat, DVec3, Quat, Vec3};

/// A box that moves along a course, as a function of time alone: nothing that stands on it or hits it holds it up.
#[derive(Clone, Debug, PartialEq)]
pub struct Platform {
    /// Where it is before its course moves it, and its grip.
    pub shape: FixedBox,
    /// Axis through its middle about which it turns, unit vector, world.
    pub axis: Vec3,
    /// Where it goes.
    pub course: Course,
}

/// Where a platform goes.
#[derive(Clone, Debug, PartialEq)]
pub enum Course {
    /// The same velocity (m/s, world) and turn rate (rad/s about the axis) for ever.
    Steady {
        /// Of the middle, world, m/s.
        velocity: Vec3,
        /// About the axis of the platform, rad/s, positive by the right-hand rule.
        rate: f32,
    },
    /// Along way points.
    Path(Path),
}

/// Where a platform has got to at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WayPoint {
    /// Since the start of the world, s.
    pub time: f64,
    /// From where the platform is described, world, m.
    pub displacement: DVec3,
    /// About its axis, rad; counts on beyond a full turn.
    pub angle: f64,
}

/// Way points, straight lines between them at constant speed, and parabolic blends at the corners.
///
/// Around each way point the velocity changes evenly over the time of a blend, half of it before the point and half after, so that
/// the platform passes the point at a distance of `blend Δv / 8` (J. J. Craig, "Introduction to Robotics", linear segments with
/// parabolic blends). Without blends the velocity jumps.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    points: Vec<WayPoint>,
    repeats: bool,
    blend: f64,
}

/// Why way points are no path.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum PathFault {
    /// No way to go.
    #[error("a path has two way points at least, and this one has {0}")]
    TooFew(usize),
    /// A number that is none.
    #[error("way point {0} is not finite")]
    NotFinite(usize),
    /// Times that do not rise.
    #[error("way point {0} is not later than the one before")]
    NotLater(usize),
    /// Corners that run into each other.
    #[error("blends of {blend} s do not fit between way points {shortest} s apart")]
    Blend {
        /// Time of a blend, s.
        blend: f64,
        /// Time between the two nearest way points, s.
        shortest: f64,
    },
    /// A loop that jumps.
    #[error("the path repeats, and ends {0} m from where it begins")]
    NotClosed(f64),
}

/// Displacement, m, and angle, rad; or their rates.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    displacement: DVec3,
    angle: f64,
}

impl Place {
    fn of(point: &WayPoint) -> Self {
        Self { displacement: point.displacement, angle: point.angle }
    }

    fn plus(self, other: Self, times: f64) -> Self {
        Self { displacement: self.displacement + other.displacement * times, angle: self.angle + other.angle * times }
    }
}

/// Distance by which the ends of a loop may be apart, m.
const CLOSED: f64 = 1e-9;

impl Path {
    /// Along `points`, with a blend of `blend` s (≥ 0, at most the time between the nearest two) at each. A path that `repeats` ends
    /// where it begins and goes round for ever, before its first time too, its angle counting on; any other stands still before its
    /// first point and after its last.
    ///
    /// # Errors
    /// The first [`PathFault`].
    pub fn new(points: Vec<WayPoint>, repeats: bool, blend: f64) -> Result<Self, PathFault> {
        if points.len() < 2 {
            return Err(PathFault::TooFew(points.len()));
        }
        let is_finite = |p: &WayPoint| p.time.is_finite() && p.displacement.is_finite() && p.angle.is_finite();
        if let Some(wrong) = points.iter().position(|point| !is_finite(point)) {
            return Err(PathFault::NotFinite(wrong));
        }
        let times = || points.windows(2).map(|pair| pair[1].time - pair[0].time);
        if let Some(wrong) = times().position(|apart| apart <= 0.0) {
            return Err(PathFault::NotLater(wrong + 1));
        }
        let shortest = times().fold(f64::INFINITY, f64::min);
        if !(0.0..=shortest).contains(&blend) {
            return Err(PathFault::Blend { blend, shortest });
        }
        let apart = points[0].displacement.distance(points[points.len() - 1].displacement);
        if repeats && apart > CLOSED {
            return Err(PathFault::NotClosed(apart));
        }
        Ok(Self { points, repeats, blend })
    }

    /// Rates on the leg that ends at way point `end`; nothing before the first and after the last.
    fn rates(&self, end: usize) -> Place {
        let last = self.points.len() - 1;
        let end = match end {
            0 if self.repeats => last,
            end if end > last && self.repeats => 1,
            0 => return Place::default(),
            end if end > last => return Place::default(),
            end => end,
        };
        let [from, to] = [self.points[end - 1], self.points[end]];
        let change = Place::of(&to).plus(Place::of(&from), -1.0);
        Place::default().plus(change, 1.0 / (to.time - from.time))
    }

    /// Place and rates at `time` s.
    fn at(&self, time: f64) -> [Place; 2] {
        let [first, last] = [self.points[0], self.points[self.points.len() - 1]];
        let lap = if self.repeats { ((time - first.time) / (last.time - first.time)).floor() } else { 0.0 };
        let time = time - lap * (last.time - first.time);
        let end = self.points.partition_point(|point| point.time <= time);
        let from = &self.points[end.saturating_sub(1)];
        let mut rates = self.rates(end);
        let mut place = Place::of(from).plus(rates, time - from.time);
        place.angle += lap * (last.angle - first.angle);
        for corner in [end.checked_sub(1), (end < self.points.len()).then_some(end)].into_iter().flatten() {
            let since = time - self.points[corner].time;
            let left = 0.5 * self.blend - since.abs();
            if left > 0.0 {
                let change = self.rates(corner + 1).plus(self.rates(corner), -1.0);
                place = place.plus(change, left * left / (2.0 * self.blend));
                rates = rates.plus(change, -left.copysign(since) / self.blend);
            }
        }
        [place, rates]
    }
}

/// How a platform moves in a step, world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlatformMotion {
    /// Its middle when the step begins, m.
    pub centre: DVec3,
    /// Its axes to world axes when the step begins.
    pub rotation: Quat,
    /// Velocity of its middle that takes it to where it is at the end of the step, m/s.
    pub velocity: Vec3,
    /// Angular velocity that does, rad/s.
    pub angular: Vec3,
    /// Velocity of its middle at the end of the step, m/s.
    pub last_velocity: Vec3,
    /// Angular velocity at the end of the step, rad/s.
    pub last_angular: Vec3,
}

impl Platform {
    fn at(&self, time: f64) -> [Place; 2] {
        match &self.course {
            Course::Steady { velocity, rate } => {
                let rates = Place { displacement: velocity.as_dvec3(), angle: f64::from(*rate) };
                [Place::default().plus(rates, time), rates]
            }
            Course::Path(path) => path.at(time),
        }
    }

    fn pose_of(&self, place: &Place) -> (DVec3, Quat) {
        let (sin, cos) = math::sin_cos_f64(0.5 * place.angle);
        let axis = self.axis.as_dvec3() * sin;
        let turned = DQuat::from_xyzw(axis.x, axis.y, axis.z, cos).as_quat();
        (self.shape.centre + place.displacement, turned * self.shape.rotation)
    }

    /// Its middle (m) and its axes to world axes at `time` s since the start of the world.
    pub fn pose(&self, time: f64) -> (DVec3, Quat) {
        self.pose_of(&self.at(time)[0])
    }

    /// It as a box that stands where it is at `time` s.
    pub fn standing(&self, time: f64) -> FixedBox {
        let (centre, rotation) = self.pose(time);
        FixedBox { centre, rotation, ..self.shape }
    }

    /// How it moves in the step of `dt` s that begins at `time` s.
    pub fn motion(&self, time: f64, dt: f32) -> PlatformMotion {
        let step = f64::from(dt);
        let ([begins, _], [ends, last]) = (self.at(time), self.at(time + step));
        let (centre, rotation) = self.pose_of(&begins);
        PlatformMotion {
            centre,
            rotation,
            velocity: ((ends.displacement - begins.displacement) / step).as_vec3(),
            angular: self.axis * ((ends.angle - begins.angle) / step) as f32,
            last_velocity: last.displacement.as_vec3(),
            last_angular: self.axis * last.angle as f32,
        }
    }
}

impl PlatformMotion {
    /// What of it is at `place` (world, m) when the step begins moves over the step with this velocity, m/s.
    pub fn velocity_at(&self, place: DVec3) -> Vec3 {
        self.velocity + self.angular.cross((place - self.centre).as_vec3())
    }

    /// Returns the velocity at the end of a step of `dt` s of what then is under the wheel of a car that moves with the platform, m/s. The
    /// car's centre of mass is at `car` (world, m) in the middle of the step, where the wheel touches `arm` m from it.
    ///
    /// The car's centre of mass is carried to the end of the step; the arm stays that of the middle, as the rows of its wheels have it:
    /// only so do both turn alike on a turntable.
    pub fn velocity_under(&self, car: DVec3, arm: Vec3, dt: f32) -> Vec3 {
        if self.last_angular == Vec3::ZERO && self.angular == Vec3::ZERO {
            return self.last_velocity;
        }
        let from_centre = (car - self.centre).as_vec3() - self.velocity * (0.5 * dt);
        let carried = math::turned(Quat::IDENTITY, self.angular, 0.5 * dt) * from_centre;
        self.last_velocity + self.last_angular.cross(carried + arm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(time: f64, x: f64, angle: f64) -> WayPoint {
        WayPoint { time, displacement: DVec3::new(x, 0.0, 0.0), angle }
    }

    fn along(points: &[WayPoint], repeats: bool, blend: f64) -> Platform {
        let path = Path::new(points.to_vec(), repeats, blend).expect("a path");
        let shape = FixedBox::upright(DVec3::new(1.0, 2.0, 3.0), Vec3::ONE);
        Platform { shape, axis: Vec3::Z, course: Course::Path(path) }
    }

    #[test]
    fn it_passes_way_points_in_lines_and_stands_at_the_ends() {
        let lift = along(&[point(1.0, 0.0, 0.0), point(3.0, 4.0, 1.0), point(4.0, 4.0, 1.0)], false, 0.0);
        for (time, x) in [(-5.0, 0.0), (1.0, 0.0), (2.0, 2.0), (3.0, 4.0), (3.5, 4.0), (99.0, 4.0)] {
            assert_eq!(lift.pose(time).0, DVec3::new(1.0 + x, 2.0, 3.0), "{time} s");
        }
        let moving = lift.motion(2.0, 0.5);
        assert_eq!([moving.velocity.x, moving.angular.z, moving.last_velocity.x], [2.0, 0.5, 2.0]);
    }

    /// The velocity over a blend changes evenly, and the corner is cut by `blend Δv / 8`.
    #[test]
    fn blends_round_its_corners() {
        let lift = along(&[point(1.0, 0.0, 0.0), point(3.0, 4.0, 0.0)], false, 0.8);
        let at = |time: f64| (lift.pose(time).0.x - 1.0, f64::from(lift.motion(time - 1e-3, 1e-3).last_velocity.x));
        for (time, x, velocity) in
            [(0.6, 0.0, 0.0), (0.8, 0.05, 0.5), (1.0, 0.2, 1.0), (1.4, 0.8, 2.0), (3.0, 3.8, 1.0)]
        {
            let (found, moves) = at(time);
            // The time of the velocity is rounded.
            assert!((found - x).abs() < 1e-12 && (moves - velocity).abs() < 1e-6, "{time} s: {found} m, {moves} m/s");
        }
    }

    #[test]
    fn a_loop_goes_round_and_its_angle_counts_on() {
        let there_and_back = [point(0.0, 0.0, 0.0), point(1.0, 3.0, 0.5), point(2.0, 0.0, 1.0)];
        let round = along(&there_and_back, true, 0.2);
        for time in [0.0, 0.03, 0.7, 1.04, 1.95] {
            let [one, other] = [time, time + 6.0].map(|time| round.at(time));
            assert!((one[0].displacement - other[0].displacement).length() < 1e-12, "{time} s");
            assert!((one[0].angle + 3.0 - other[0].angle).abs() < 1e-12, "{time} s");
        }
        // It turns back at both ends, 0.2 s * 6 m/s / 8 short of them.
        assert!((round.at(2.0)[0].displacement.x - 0.15).abs() < 1e-12);
        assert!((round.at(3.0)[0].displacement.x - 2.85).abs() < 1e-12);
    }

    /// Velocity is the derivative of the pose, at blends too.
    #[test]
    fn it_moves_with_the_derivative_of_its_pose() {
        let round = along(&[point(0.0, 0.0, 0.0), point(1.0, 3.0, 0.5), point(2.5, 0.0, 1.5)], true, 0.7);
        for k in 0..500 {
            let time = 0.011 * f64::from(k);
            let ([before, _], [after, _], [_, rates]) = (round.at(time - 1e-6), round.at(time + 1e-6), round.at(time));
            // An interval of 2e-6 s over a change of acceleration by 9 m/s² within 0.7 s.
            assert!(((after.displacement.x - before.displacement.x) / 2e-6 - rates.displacement.x).abs() < 1e-4);
            assert!(((after.angle - before.angle) / 2e-6 - rates.angle).abs() < 1e-4, "{time} s");
        }
    }

    #[test]
    fn what_is_no_path_is_told() {
        let new = |points: &[WayPoint], repeats: bool, blend: f64| Path::new(points.to_vec(), repeats, blend).err();
        let [a, b, c] = [point(0.0, 0.0, 0.0), point(1.0, 3.0, 0.5), point(1.5, 0.0, 1.0)];
        assert_eq!(new(&[a], false, 0.0), Some(PathFault::TooFew(1)));
        assert_eq!(new(&[a, c, b], false, 0.0), Some(PathFault::NotLater(2)));
        assert_eq!(new(&[a, b, c], false, 0.6), Some(PathFault::Blend { blend: 0.6, shortest: 0.5 }));
        assert_eq!(new(&[a, b], true, 0.0), Some(PathFault::NotClosed(3.0)));
        assert_eq!(new(&[a, point(f64::NAN, 0.0, 0.0)], true, 0.0), Some(PathFault::NotFinite(1)));
        assert_eq!(new(&[a, b, c], true, 0.5), None);
    }
}
