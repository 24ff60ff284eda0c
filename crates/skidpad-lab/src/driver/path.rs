//! Following a line: steering from curvature ahead, distance from the line and course against it.
//!
//! Drivers act on the simulation, so they use only exactly rounded operations and the functions of
//! [`skidpad_core::math`]: the same bits on every target.

use core::f64::consts::{FRAC_PI_2, PI, TAU};

use skidpad_core::math;

use super::DriverInput;
use crate::figures::Figures;

/// A line on the ground; all but straights start at the origin along +x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Line {
    /// A circle of `radius` m that turns left when the radius is positive, right when negative.
    Circle {
        /// m, not 0.
        radius: f64,
    },
    /// A straight through (`x`, `y`), m, towards `heading`, rad.
    Straight {
        /// m.
        x: f64,
        /// m.
        y: f64,
        /// rad, positive to the left of +x.
        heading: f64,
    },
    /// Straight up to `start` m, then `y = A (1 − cos(2π (x − start) / wavelength)) / 2`, which leaves the x axis
    /// without a jump in heading; cones stand on the line `y = A / 2`.
    Wave {
        /// Distance between the extremes, m.
        amplitude: f64,
        /// m, > 0.
        wavelength: f64,
        /// m.
        start: f64,
    },
    /// Straight along the x axis but for two shifts to the side, one after the other.
    Lanes([Shift; 2]),
}

/// A change of lane: `y` grows by `left (s − sin(2π s) / 2π)` while `s` runs from 0 at `from` to 1 at `to`, so the
/// curvature is one period of a sine and has no jump.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shift {
    /// Distance to the left, m.
    pub left: f64,
    /// x where it begins, m.
    pub from: f64,
    /// x where it ends, m, > `from`.
    pub to: f64,
}

impl Shift {
    /// Largest curvature, 1/m, where the line's slope is small.
    pub fn sharpest_bend(&self) -> f64 {
        TAU * self.left.abs() / ((self.to - self.from) * (self.to - self.from))
    }

    /// y and its first two derivatives by x at `x`.
    fn at(&self, x: f64) -> [f64; 3] {
        let length = self.to - self.from;
        let share = ((x - self.from) / length).clamp(0.0, 1.0);
        let (sin, cos) = math::sin_cos((TAU * share) as f32);
        let (sin, cos) = (f64::from(sin), f64::from(cos));
        let per = self.left / length;
        [self.left * (share - sin / TAU), per * (1.0 - cos), per * TAU / length * sin]
    }
}

/// Where a point is against a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// Distance to the left of the line, m.
    pub offset_m: f64,
    /// Heading of the line there, rad.
    pub heading: f64,
    /// Curvature some distance ahead, 1/m, positive to the left.
    pub curvature_ahead: f64,
}

impl Line {
    /// The line beside (`x`, `y`), m, with the curvature `ahead` m further on.
    pub fn beside(&self, x: f64, y: f64, ahead: f64) -> Nearest {
        match *self {
            Line::Circle { radius } => {
                let (side, size) = (radius.signum(), radius.abs());
                let from_centre = [x, y - radius];
                let distance = (from_centre[0] * from_centre[0] + from_centre[1] * from_centre[1]).sqrt();
                let angle = f64::from(math::atan2(from_centre[1] as f32, from_centre[0] as f32));
                Nearest {
                    offset_m: side * (size - distance),
                    heading: angle + side * FRAC_PI_2,
                    curvature_ahead: 1.0 / radius,
                }
            }
            Line::Straight { x: from_x, y: from_y, heading } => {
                let (sin, cos) = math::sin_cos(heading as f32);
                let offset_m = (y - from_y) * f64::from(cos) - (x - from_x) * f64::from(sin);
                Nearest { offset_m, heading, curvature_ahead: 0.0 }
            }
            Line::Wave { amplitude, wavelength, start } => {
                let k = TAU / wavelength;
                let wave = |x: f64| {
                    let (sin, cos) = math::sin_cos((k * (x - start).max(0.0) % TAU) as f32);
                    (f64::from(sin), f64::from(cos))
                };
                let (sin, cos) = wave(x);
                let slope = 0.5 * amplitude * k * sin;
                let (sin_ahead, cos_ahead) = wave(x + ahead);
                let slope_ahead = 0.5 * amplitude * k * sin_ahead;
                let stretch = 1.0 + slope_ahead * slope_ahead;
                let bend = if x + ahead < start { 0.0 } else { 0.5 * amplitude * k * k * cos_ahead };
                Nearest {
                    offset_m: (y - 0.5 * amplitude * (1.0 - cos)) / (1.0 + slope * slope).sqrt(),
                    heading: f64::from(math::atan(slope as f32)),
                    curvature_ahead: bend / (stretch * stretch.sqrt()),
                }
            }
            Line::Lanes(shifts) => {
                let sum = |x: f64| shifts.iter().map(|s| s.at(x)).fold([0.0; 3], |a, b| [0, 1, 2].map(|i| a[i] + b[i]));
                let [line, slope, _] = sum(x);
                let [_, slope_ahead, bend] = sum(x + ahead);
                let stretch = 1.0 + slope_ahead * slope_ahead;
                Nearest {
                    offset_m: (y - line) / (1.0 + slope * slope).sqrt(),
                    heading: f64::from(math::atan(slope as f32)),
                    curvature_ahead: bend / (stretch * stretch.sqrt()),
                }
            }
        }
    }
}

/// Steers along a [`Line`].
///
/// `δ = κ (L + K v²) − (ω²/G v) (e + T sin(course error) v) − integral`, with `G` the steady yaw gain of the linear
/// bicycle model: the distance `e` then answers like a second-order system of frequency ω at any speed.
#[derive(Clone, Debug)]
pub struct PathFollower {
    line: Line,
    /// Frequency of the answer, rad/s.
    frequency: f64,
    /// Rate of the integral against its proportional part, 1/s.
    integral: f64,
    sum_ms: f64,
}

/// Damping ratio of the answer.
const DAMPING: f64 = 0.9;
/// The yaw rate follows the steering this much later, s; the curvature is looked up as far ahead.
const LAG_S: f64 = 0.15;

impl PathFollower {
    /// Follows `line`, answering with `frequency` rad/s, with an integral of rate `integral` 1/s against steady offsets.
    pub fn new(line: Line, frequency: f64, integral: f64) -> Self {
        Self { line, frequency, integral, sum_ms: 0.0 }
    }

    /// Mean road-wheel angle for the coming step, rad, within the car's lock.
    pub fn steer(&mut self, now: &DriverInput<'_>, figures: &Figures) -> f64 {
        let frame = now.frame;
        let speed = frame.vx_mps.max(1.0);
        let slip = f64::from(math::atan2(frame.vy_mps as f32, speed as f32));
        // The angle is asked for the end of the step, so the driver looks where the car will be then.
        let (sin, cos) = math::sin_cos((frame.yaw_rad + slip) as f32);
        let (x, y) = (speed * now.dt_s * f64::from(cos), speed * now.dt_s * f64::from(sin));
        let near = self.line.beside(frame.x_m + x, frame.y_m + y, speed * LAG_S);
        let course = wrap(frame.yaw_rad + frame.yaw_rate_radps * now.dt_s + slip - near.heading);
        let (sin, _) = math::sin_cos(course as f32);
        let per_curvature = figures.steer_for(speed * speed, speed);
        let gain = self.frequency * self.frequency * per_curvature / (speed * speed);
        let leading = near.offset_m + 2.0 * DAMPING / self.frequency * speed * f64::from(sin);
        let lock = f64::from(now.model.parts().steering.lock);
        let asked = near.curvature_ahead * per_curvature - gain * (leading + self.integral * self.sum_ms);
        if asked.abs() < lock {
            self.sum_ms += near.offset_m * now.dt_s;
        }
        asked.clamp(-lock, lock)
    }
}

/// Keeps a car on the straight it started along.
#[derive(Clone, Debug)]
pub struct StraightKeeper {
    figures: Figures,
    path: Option<PathFollower>,
}

/// Frequency of the answer of a driver who keeps straight, rad/s: brisk, for cars whose driven wheels spin.
const KEEPING_FREQUENCY: f64 = 3.0;

impl StraightKeeper {
    /// Of a car with `figures`.
    pub fn new(figures: Figures) -> Self {
        Self { figures, path: None }
    }

    /// Mean road-wheel angle for the coming step, rad.
    pub fn steer(&mut self, now: &DriverInput<'_>) -> f64 {
        let frame = now.frame;
        let along = || Line::Straight { x: frame.x_m, y: frame.y_m, heading: frame.yaw_rad };
        let path = self.path.get_or_insert_with(|| PathFollower::new(along(), KEEPING_FREQUENCY, 0.0));
        path.steer(now, &self.figures)
    }
}

/// `angle` in ±π.
fn wrap(angle: f64) -> f64 {
    angle - TAU * ((angle + PI) / TAU).floor()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::driver::{Cruise, OpenLoop};
    use crate::manoeuvre::Setup;
    use crate::run::{TimeStep, simulate};
    use crate::testing::{POINT_MASS, model};

    #[test]
    fn distances_and_headings() {
        let left = Line::Circle { radius: 10.0 }.beside(9.0, 10.0, 0.0);
        assert!((left.offset_m - 1.0).abs() < 1e-6 && (left.heading - FRAC_PI_2).abs() < 1e-6);
        let right = Line::Circle { radius: -10.0 }.beside(9.0, -10.0, 0.0);
        assert!((right.offset_m + 1.0).abs() < 1e-6 && (right.heading + FRAC_PI_2).abs() < 1e-6);
        let wave = Line::Wave { amplitude: 4.0, wavelength: 60.0, start: 20.0 };
        assert_eq!(wave.beside(5.0, 0.5, 0.0), Nearest { offset_m: 0.5, heading: 0.0, curvature_ahead: 0.0 });
        assert!((wave.beside(50.0, 4.0, 0.0).offset_m).abs() < 1e-6);
        assert!((wave.beside(35.0, 2.0, 0.0).heading - (4.0 * PI / 60.0f64).atan()).abs() < 1e-6);
        let out = Shift { left: 3.0, from: 10.0, to: 30.0 };
        let lanes = Line::Lanes([out, Shift { left: -2.0, from: 40.0, to: 60.0 }]);
        for (x, y, slope) in
            [(5.0, 0.0, 0.0), (20.0, 1.5, 0.3), (35.0, 3.0, 0.0), (50.0, 2.0, -0.2), (80.0, 1.0, 0.0f64)]
        {
            let near = lanes.beside(x, y, 0.0);
            assert!(near.offset_m.abs() < 1e-6 && (near.heading - slope.atan()).abs() < 1e-6, "{x}: {near:?}");
        }
        // Sharpest after a quarter of the shift: 2π left / length².
        assert!(
            (lanes.beside(5.0, 0.0, 10.0).curvature_ahead - TAU * 3.0 / 400.0 / (1.0f64 + 0.0225).powf(1.5)).abs()
                < 1e-6
        );
    }

    #[track_caller]
    fn stays_within(line: Line, bound_m: f64) {
        let model = Arc::new(model());
        let figures = Figures::of(&model);
        let (mut cruise, mut path) = (Cruise::default(), PathFollower::new(line, 1.5, 0.3));
        let mut driver = OpenLoop(|now: &DriverInput<'_>| {
            let mut controls = cruise.controls(now, 12.0);
            controls.steer = path.steer(now, &figures) as f32;
            controls
        });
        let setup = Setup { duration_s: 20.0, ..Setup::flat(12.0) };
        let dt = TimeStep::per_second(120.0).expect("valid");
        let trajectory = simulate(&POINT_MASS, &model, &setup, &mut driver, dt, &mut |_, _| {});
        let off = trajectory.largest(|f| line.beside(f.x_m, f.y_m, 0.0).offset_m);
        assert!(off < bound_m, "{off}");
    }

    #[test]
    fn lines_are_followed() {
        // The point mass answers at once, so it turns in where the driver looked ahead: some centimetres inside.
        stays_within(Line::Circle { radius: 40.0 }, 0.2);
        stays_within(Line::Circle { radius: -40.0 }, 0.2);
        stays_within(Line::Wave { amplitude: 4.0, wavelength: 60.0, start: 20.0 }, 0.3);
        let lane = |left: f64, from: f64| Shift { left, from, to: from + 30.0 };
        stays_within(Line::Lanes([lane(3.5, 20.0), lane(-3.5, 80.0)]), 0.3);
    }
}
