//! Path following: steering from the curvature ahead, the lateral offset and the course error.
//!
//! The controls of a driver influence the simulation. Therefore drivers use only exactly rounded operations and the
//! functions of [`skidpad_core::math`], which return the same bits on every target.

use core::f64::consts::{FRAC_PI_2, PI, TAU};

use skidpad_core::math;

use super::DriverInput;
use crate::closed_form::Characteristics;

/// Path on the ground. Every path except a straight starts at the origin towards +x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ReferencePath {
    /// Circle that turns left if `radius` is positive and right if negative.
    Circle {
        /// Signed radius (m), not 0.
        radius: f64,
    },
    /// Straight line through (`x`, `y`) towards `heading`.
    Straight {
        /// Position of a point of the line along x (m).
        x: f64,
        /// Position of that point along y (m).
        y: f64,
        /// Direction of the line (rad), positive to the left of +x.
        heading: f64,
    },
    /// Straight line up to x = `start`, then `y = A (1 − cos(2π (x − start) / wavelength)) / 2` with `A` = `amplitude`.
    /// The heading has no jump at `start`. The cones of a slalom stand on the line `y = A / 2`.
    Wave {
        /// Lateral distance between the extremes (m).
        amplitude: f64,
        /// Length of one period along x (m), > 0.
        wavelength: f64,
        /// Position along x at which the wave begins (m).
        start: f64,
    },
    /// Straight line along the x axis with two lateral shifts, one after the other.
    Lanes([LaneShift; 2]),
}

/// Lane change: `y` changes by `lateral_shift_m (s − sin(2π s) / 2π)` while `s` runs from 0 at x = `start_x_m` to 1 at
/// x = `end_x_m`. The curvature is one period of a sine and has no jump.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaneShift {
    /// Lateral distance between the lines before and after the shift (m), positive to the left.
    pub lateral_shift_m: f64,
    /// Position along x at which the shift begins (m).
    pub start_x_m: f64,
    /// Position along x at which the shift ends (m), > `start_x_m`.
    pub end_x_m: f64,
}

impl LaneShift {
    /// Returns the length of the shift along x (m).
    fn length_m(&self) -> f64 {
        self.end_x_m - self.start_x_m
    }

    /// Computes the largest curvature of the shift (1/m), for a small slope of the line.
    pub fn max_curvature(&self) -> f64 {
        TAU * self.lateral_shift_m.abs() / (self.length_m() * self.length_m())
    }

    /// Computes three values of the shift at `x` (m): lateral position y (m), first derivative of y by x (–) and second
    /// derivative (1/m). Before the shift y is 0, after it `lateral_shift_m`; both derivatives are 0 there.
    fn evaluate_at(&self, x: f64) -> [f64; 3] {
        let length = self.length_m();
        // Position within the shift (–, 0 to 1).
        let progress = ((x - self.start_x_m) / length).clamp(0.0, 1.0);
        let (sin, cos) = math::sin_cos((TAU * progress) as f32);
        let (sin, cos) = (f64::from(sin), f64::from(cos));
        // Mean slope of the shift (–).
        let slope_scale = self.lateral_shift_m / length;
        [self.lateral_shift_m * (progress - sin / TAU), slope_scale * (1.0 - cos), slope_scale * TAU / length * sin]
    }
}

/// Position of a point relative to a [`ReferencePath`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathPosition {
    /// Lateral offset from the line (m), positive to the left.
    pub offset_m: f64,
    /// Heading of the line beside the point (rad).
    pub heading: f64,
    /// Curvature of the line at the preview distance (1/m), positive to the left.
    pub curvature_ahead: f64,
}

impl ReferencePath {
    /// Computes lateral offset and heading of the path beside the point (`x`, `y`) (m), and the curvature of the path
    /// `preview_distance` (m) further along.
    ///
    /// A circle has the same curvature everywhere, a straight line none. The heading beside a circle may exceed π.
    /// [`ReferencePath::Wave`] and [`ReferencePath::Lanes`] are evaluated at the same x as the point, and their
    /// curvature at `x + preview_distance`; this is exact for a small slope. Their offset is the difference in y over
    /// `√(1 + y'²)`, their curvature is `y'' / (1 + y'²)^1.5`.
    pub fn locate(&self, x: f64, y: f64, preview_distance: f64) -> PathPosition {
        match *self {
            ReferencePath::Circle { radius } => {
                // Sign of the turn (1 left) and radius without sign (m).
                let (turn_sign, abs_radius) = (radius.signum(), radius.abs());
                // The centre of the circle is (0, radius), so the circle passes through the origin.
                let from_centre = [x, y - radius];
                let distance = (from_centre[0] * from_centre[0] + from_centre[1] * from_centre[1]).sqrt();
                let angle = f64::from(math::atan2(from_centre[1] as f32, from_centre[0] as f32));
                PathPosition {
                    offset_m: turn_sign * (abs_radius - distance),
                    heading: angle + turn_sign * FRAC_PI_2,
                    curvature_ahead: 1.0 / radius,
                }
            }
            ReferencePath::Straight { x: line_x, y: line_y, heading } => {
                let (sin, cos) = math::sin_cos(heading as f32);
                let offset_m = (y - line_y) * f64::from(cos) - (x - line_x) * f64::from(sin);
                PathPosition { offset_m, heading, curvature_ahead: 0.0 }
            }
            ReferencePath::Wave { amplitude, wavelength, start } => {
                // Wave number (rad/m).
                let k = TAU / wavelength;
                // The phase is 0 before `start`, and less than one period because f32 is coarse for large angles.
                let sin_cos_at = |x: f64| {
                    let (sin, cos) = math::sin_cos((k * (x - start).max(0.0) % TAU) as f32);
                    (f64::from(sin), f64::from(cos))
                };
                let (sin, cos) = sin_cos_at(x);
                let slope = 0.5 * amplitude * k * sin;
                let (sin_ahead, cos_ahead) = sin_cos_at(x + preview_distance);
                let slope_ahead = 0.5 * amplitude * k * sin_ahead;
                let one_plus_slope_squared = 1.0 + slope_ahead * slope_ahead;
                // Second derivative of y by x ahead (1/m); 0 on the straight.
                let second_derivative_ahead =
                    if x + preview_distance < start { 0.0 } else { 0.5 * amplitude * k * k * cos_ahead };
                PathPosition {
                    offset_m: (y - 0.5 * amplitude * (1.0 - cos)) / (1.0 + slope * slope).sqrt(),
                    heading: f64::from(math::atan(slope as f32)),
                    curvature_ahead: second_derivative_ahead / (one_plus_slope_squared * one_plus_slope_squared.sqrt()),
                }
            }
            ReferencePath::Lanes(shifts) => {
                // Sum of both shifts: y, first and second derivative.
                let sum_of_shifts = |x: f64| {
                    shifts.iter().map(|lane| lane.evaluate_at(x)).fold([0.0; 3], |a, b| [0, 1, 2].map(|i| a[i] + b[i]))
                };
                let [lane_y, slope, _] = sum_of_shifts(x);
                let [_, slope_ahead, second_derivative_ahead] = sum_of_shifts(x + preview_distance);
                let one_plus_slope_squared = 1.0 + slope_ahead * slope_ahead;
                PathPosition {
                    offset_m: (y - lane_y) / (1.0 + slope * slope).sqrt(),
                    heading: f64::from(math::atan(slope as f32)),
                    curvature_ahead: second_derivative_ahead / (one_plus_slope_squared * one_plus_slope_squared.sqrt()),
                }
            }
        }
    }
}

/// Steering controller that follows a [`ReferencePath`].
///
/// Steering angle `δ = κ (L + K v²) − ω²/(G v) · (e + T v sin(course error) + I ∫e dt)`. `κ` is the curvature ahead,
/// `G = v / (L + K v²)` the steady-state yaw velocity gain of the linear bicycle model, `e` the lateral offset and
/// `T = 2 ζ / ω`. The offset then responds like a second-order system of frequency `ω` and damping ratio `ζ` at any
/// speed.
#[derive(Clone, Debug)]
pub struct PathFollower {
    /// Path that is followed.
    path: ReferencePath,
    /// Natural frequency ω of the closed loop (rad/s).
    frequency: f64,
    /// Integral gain relative to the proportional gain (1/s).
    integral_gain: f64,
    /// Integral of the lateral offset (m s).
    offset_integral: f64,
}

/// Damping ratio of the closed loop (–).
const LOOP_DAMPING_RATIO: f64 = 0.9;
/// Delay of the yaw rate behind the steering (s). The preview distance of the curvature is the distance covered in this
/// time.
const YAW_LAG_S: f64 = 0.15;

impl PathFollower {
    /// Creates a controller that follows `path` with the natural frequency `frequency` (rad/s). `integral_gain` is the
    /// integral gain relative to the proportional gain (1/s); it removes steady-state offsets.
    pub fn new(path: ReferencePath, frequency: f64, integral_gain: f64) -> Self {
        Self { path, frequency, integral_gain, offset_integral: 0.0 }
    }

    /// Computes the mean road-wheel angle for the coming step (rad, positive to the left), clamped to the steering lock
    /// of the car. The control law is that of [`PathFollower`].
    ///
    /// Position and course are extrapolated to the end of the step, with a speed of at least 1 m/s. The curvature is
    /// that ahead by the distance covered in 0.15 s. The angle uses the integral of the offset before this step. Then
    /// the integral advances by offset times step length, unless the unclamped angle reaches the steering lock.
    pub fn steer(&mut self, input: &DriverInput<'_>, figures: &Characteristics) -> f64 {
        let frame = input.frame;
        let speed = frame.vx_mps.max(1.0);
        let sideslip = f64::from(math::atan2(frame.vy_mps as f32, speed as f32));
        // The steering angle applies at the end of the step, so the position is extrapolated to that time.
        let (sin, cos) = math::sin_cos((frame.yaw_rad + sideslip) as f32);
        // Displacement within the step (m).
        let (dx, dy) = (speed * input.dt_s * f64::from(cos), speed * input.dt_s * f64::from(sin));
        let path_position = self.path.locate(frame.x_m + dx, frame.y_m + dy, speed * YAW_LAG_S);
        // Course error: direction of motion less heading of the path (rad).
        let course_error =
            wrap_angle(frame.yaw_rad + frame.yaw_rate_radps * input.dt_s + sideslip - path_position.heading);
        let (course_error_sin, _) = math::sin_cos(course_error as f32);
        // Steering angle per curvature, L + K v² (m): the lateral acceleration v² has a curvature of 1 1/m.
        let angle_per_curvature = figures.steer_for(speed * speed, speed);
        // Steering angle per offset, ω² / (G v) (rad/m).
        let offset_gain = self.frequency * self.frequency * angle_per_curvature / (speed * speed);
        // Offset plus its predicted change within T = 2 ζ / ω (m).
        let predicted_offset =
            path_position.offset_m + 2.0 * LOOP_DAMPING_RATIO / self.frequency * speed * f64::from(course_error_sin);
        let lock = f64::from(input.model.parts().steering.lock);
        let demanded_angle = path_position.curvature_ahead * angle_per_curvature
            - offset_gain * (predicted_offset + self.integral_gain * self.offset_integral);
        // Anti-windup: the integral is frozen at the steering lock.
        if demanded_angle.abs() < lock {
            self.offset_integral += path_position.offset_m * input.dt_s;
        }
        demanded_angle.clamp(-lock, lock)
    }
}

/// Steering controller that keeps a car on the straight line along which it started.
#[derive(Clone, Debug)]
pub struct StraightKeeper {
    figures: Characteristics,
    /// Controller that follows the line; `None` before the first step.
    follower: Option<PathFollower>,
}

/// Natural frequency of [`StraightKeeper`] (rad/s); high, because the driven wheels may spin.
const STRAIGHT_KEEPER_FREQUENCY_RADPS: f64 = 3.0;

impl StraightKeeper {
    /// Creates a controller for a car with the closed-form figures `figures`.
    pub fn new(figures: Characteristics) -> Self {
        Self { figures, follower: None }
    }

    /// Computes the mean road-wheel angle for the coming step (rad, positive to the left), clamped to the steering
    /// lock. The first call sets the line to follow from position and heading of the car; later calls keep this line.
    /// The controller has no integral part.
    pub fn steer(&mut self, input: &DriverInput<'_>) -> f64 {
        let frame = input.frame;
        let start_line = || ReferencePath::Straight { x: frame.x_m, y: frame.y_m, heading: frame.yaw_rad };
        // 0.0: no integral gain.
        let follower =
            self.follower.get_or_insert_with(|| PathFollower::new(start_line(), STRAIGHT_KEEPER_FREQUENCY_RADPS, 0.0));
        follower.steer(input, &self.figures)
    }
}

/// Wraps `angle` (rad) to [−π, π).
fn wrap_angle(angle: f64) -> f64 {
    angle - TAU * ((angle + PI) / TAU).floor()
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::sync::Arc;

    use super::*;
    use crate::driver::{OpenLoop, TorqueSpeedController};
    use crate::manoeuvre::Setup;
    use crate::run::{TimeStep, simulate};
    use crate::testing::{POINT_MASS, model};

    /// Offsets and headings beside circles, a wave and two lane shifts are those of the curves, as is the curvature at
    /// the preview distance in the middle of a shift.
    #[test]
    fn distances_and_headings() {
        let left = ReferencePath::Circle { radius: 10.0 }.locate(9.0, 10.0, 0.0);
        assert!((left.offset_m - 1.0).abs() < 1e-6 && (left.heading - FRAC_PI_2).abs() < 1e-6);
        let right = ReferencePath::Circle { radius: -10.0 }.locate(9.0, -10.0, 0.0);
        assert!((right.offset_m + 1.0).abs() < 1e-6 && (right.heading + FRAC_PI_2).abs() < 1e-6);
        let wave = ReferencePath::Wave { amplitude: 4.0, wavelength: 60.0, start: 20.0 };
        assert_eq!(wave.locate(5.0, 0.5, 0.0), PathPosition { offset_m: 0.5, heading: 0.0, curvature_ahead: 0.0 });
        assert!((wave.locate(50.0, 4.0, 0.0).offset_m).abs() < 1e-6);
        assert!((wave.locate(35.0, 2.0, 0.0).heading - (4.0 * PI / 60.0f64).atan()).abs() < 1e-6);
        let out = LaneShift { lateral_shift_m: 3.0, start_x_m: 10.0, end_x_m: 30.0 };
        let lanes = ReferencePath::Lanes([out, LaneShift { lateral_shift_m: -2.0, start_x_m: 40.0, end_x_m: 60.0 }]);
        for (x, y, slope) in
            [(5.0, 0.0, 0.0), (20.0, 1.5, 0.3), (35.0, 3.0, 0.0), (50.0, 2.0, -0.2), (80.0, 1.0, 0.0f64)]
        {
            let near = lanes.locate(x, y, 0.0);
            assert!(near.offset_m.abs() < 1e-6 && (near.heading - slope.atan()).abs() < 1e-6, "{x}: {near:?}");
        }
        // The curvature is largest after a quarter of the shift: 2π lateral shift / length².
        assert!(
            (lanes.locate(5.0, 0.0, 10.0).curvature_ahead - TAU * 3.0 / 400.0 / (1.0f64 + 0.0225).powf(1.5)).abs()
                < 1e-6
        );
    }

    /// Asserts that a point mass at 12 m/s that follows `line` for 20 s deviates from it by less than `bound_m` (m).
    #[track_caller]
    fn stays_within(line: ReferencePath, bound_m: f64) {
        let model = Arc::new(model());
        let figures = Characteristics::new(&model);
        let (mut cruise, mut path) = (TorqueSpeedController::default(), PathFollower::new(line, 1.5, 0.3));
        let mut driver = OpenLoop(|now: &DriverInput<'_>| {
            let mut controls = cruise.controls(now, 12.0);
            controls.steer = path.steer(now, &figures) as f32;
            controls
        });
        let setup = Setup { duration_s: 20.0, ..Setup::flat(12.0) };
        let dt = TimeStep::from_rate_hz(120.0).expect("valid");
        let trajectory = simulate(&POINT_MASS, &model, &setup, &mut driver, dt, &mut |_, _| ControlFlow::Continue(()));
        let off = trajectory.peak_magnitude(|f| line.locate(f.x_m, f.y_m, 0.0).offset_m);
        assert!(off < bound_m, "{off}");
    }

    /// Circles in both directions, a wave and two lane shifts are followed within 0.2 to 0.3 m.
    #[test]
    fn lines_are_followed() {
        // The point mass responds without delay, so the curvature preview makes it run some centimetres inside the
        // line.
        stays_within(ReferencePath::Circle { radius: 40.0 }, 0.2);
        stays_within(ReferencePath::Circle { radius: -40.0 }, 0.2);
        stays_within(ReferencePath::Wave { amplitude: 4.0, wavelength: 60.0, start: 20.0 }, 0.3);
        let lane =
            |lateral_shift_m: f64, start_x_m: f64| LaneShift { lateral_shift_m, start_x_m, end_x_m: start_x_m + 30.0 };
        stays_within(ReferencePath::Lanes([lane(3.5, 20.0), lane(-3.5, 80.0)]), 0.3);
    }
}
