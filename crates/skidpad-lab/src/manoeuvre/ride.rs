//! Ride on an uneven road of ISO 8608 at constant speed, with the accelerations weighted by ISO 2631-1.

use std::sync::Arc;

use skidpad_core::{Controls, DVec3, Frame, Model, Scene};
use skidpad_core::{Road, RoadClass};

use super::{Manoeuvre, Setup, StartRequirements};
use crate::closed_form::Characteristics;
use crate::driver::{DriverInput, DriverModel, StraightKeeper, TorqueSpeedController};
use crate::metrics::{Metric, metrics};
use crate::ride_comfort::{Weighting, maximum_transient, root_mean_square};
use crate::trajectory::Trajectory;

/// Straight at constant speed on a road of one class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ride {
    /// Speed (m/s), > 0.
    pub speed_mps: f64,
    /// Class of the road.
    pub class: RoadClass,
    /// Seed of the road.
    pub seed: u64,
    /// Measured time (s), > 0.
    pub duration_s: f64,
}

impl Default for Ride {
    fn default() -> Self {
        Self { speed_mps: 80.0 / 3.6, class: RoadClass::C, seed: 1, duration_s: 15.0 }
    }
}

metrics! {
    /// Comfort, wheel loads and suspension travel. Accelerations are those of the body at its centre of mass.
    RideMetrics {
        weighted_vertical_mps2, "m/s²", 3, "Weighted vertical acceleration, RMS", "ISO 2631-1, W_k.";
        weighted_longitudinal_mps2, "m/s²", 3, "Weighted longitudinal acceleration, RMS", "ISO 2631-1, W_d.";
        weighted_lateral_mps2, "m/s²", 3, "Weighted lateral acceleration, RMS", "ISO 2631-1, W_d.";
        vibration_total_mps2, "m/s²", 3, "Vibration total value", "√(a_x² + a_y² + a_z²) of the weighted values, ISO 2631-1, 6.5.";
        transient_vertical_mps2, "m/s²", 3, "Maximum transient vibration value, vertical", "Largest weighted RMS over 1 s, ISO 2631-1, 6.3.1.";
        vertical_mps2, "m/s²", 3, "Vertical acceleration, RMS", "Not weighted.";
        pitch_rate_degps, "deg/s", 2, "Pitch rate, RMS", "Not weighted.";
        roll_rate_degps, "deg/s", 2, "Roll rate, RMS", "Not weighted.";
        load_variation_percent, "%", 2, "Dynamic load coefficient, largest of any wheel", "Standard deviation of the wheel load over its mean.";
        travel_mm, "mm", 2, "Suspension travel, RMS, largest of any wheel", "Standard deviation of the compression.";
        speed_mps, "m/s", 3, "Mean speed", "Mean forward speed.";
    }
}

/// Time before the measurement, in which the car settles on the road and the filters on the signal (s).
const SETTLING_TIME_S: f64 = 3.0;
/// Shortest and longest wavelength of the road (m). Rays feel every wavelength; a tyre averages shorter ones.
const WAVELENGTHS_M: [f32; 2] = [0.5, 20.0];
/// Spacing of the grid of heights (m), below half of the shortest wavelength.
const GRID_SPACING_M: f32 = 0.2;
/// Width of the road (m).
const ROAD_WIDTH_M: f32 = 6.0;
/// Length of the road before the start and behind the end (m).
const ROAD_MARGIN_M: f64 = 30.0;

impl Ride {
    /// Returns the ground: the road, or a level plane if no road can be built from the parameters, for example because
    /// it would have more than 25 million heights.
    fn scene(&self) -> Scene {
        let length = 2.0 * ROAD_MARGIN_M + self.speed_mps * (self.duration_s + SETTLING_TIME_S);
        let road = Road {
            class: self.class,
            seed: self.seed,
            wavelengths: WAVELENGTHS_M,
            corner: DVec3::new(-ROAD_MARGIN_M, -0.5 * f64::from(ROAD_WIDTH_M), 0.0),
            size: [length as f32, ROAD_WIDTH_M],
            spacing: GRID_SPACING_M,
            grip: 1.0,
        };
        match road.height_field() {
            Ok(field) => Scene { has_plane: false, height_fields: vec![Arc::new(field)], ..Scene::flat() },
            Err(_) => Scene::flat(),
        }
    }

    /// Computes the metrics of a run over [`Ride::duration_s`] after the settling time. All are `None` for a shorter
    /// run. The weighting filters run from the start, so they have settled as well. Loads and travels are those of the
    /// wheel with the largest value.
    pub fn measure(&self, trajectory: &Trajectory) -> RideMetrics {
        if !trajectory.covers(SETTLING_TIME_S + self.duration_s) {
            return RideMetrics::default();
        }
        let dt = trajectory.dt_s();
        // Number of rows of the settling time; row 0 is left out of all channels.
        let skipped = (SETTLING_TIME_S / dt).round() as usize;
        // Samples after the settling time.
        let measured = |samples: Vec<f64>| samples[skipped.min(samples.len())..].to_vec();
        let weighted = |weighting: Weighting, samples: &[f64]| measured(weighting.apply(samples, dt));
        let channel = |value: &dyn Fn(&Frame) -> f64| -> Vec<f64> {
            trajectory.rows_from(1).map(|frame| value(&frame)).collect()
        };
        let vertical = vertical_accelerations(trajectory);
        let weighted_vertical = weighted(Weighting::Vertical, &vertical);
        // Root mean squares along x, y, z.
        let values = [
            root_mean_square(&weighted(Weighting::Horizontal, &channel(&|frame| frame.ax_mps2))),
            root_mean_square(&weighted(Weighting::Horizontal, &channel(&|frame| frame.ay_mps2))),
            root_mean_square(&weighted_vertical),
        ];
        let rate = |value: &dyn Fn(&Frame) -> f64| root_mean_square(&measured(channel(value))).to_degrees();
        let wheels = 0..trajectory.first().wheels.len();
        let largest = |value: &dyn Fn(usize) -> f64| wheels.clone().map(value).max_by(f64::total_cmp);
        let load_variation = |i: usize| {
            let loads = measured(channel(&|frame| frame.wheels[i].load_n));
            100.0 * standard_deviation(&loads) / mean(&loads)
        };
        let travel = |i: usize| 1e3 * standard_deviation(&measured(channel(&|frame| frame.wheels[i].compression_m)));
        RideMetrics {
            weighted_vertical_mps2: Some(values[2]),
            weighted_longitudinal_mps2: Some(values[0]),
            weighted_lateral_mps2: Some(values[1]),
            vibration_total_mps2: Some(values.iter().map(|value| value * value).sum::<f64>().sqrt()),
            transient_vertical_mps2: Some(maximum_transient(&weighted_vertical, (1.0 / dt).round() as usize)),
            vertical_mps2: Some(root_mean_square(&measured(vertical))),
            pitch_rate_degps: Some(rate(&|frame| frame.pitch_rate_radps)),
            roll_rate_degps: Some(rate(&|frame| frame.roll_rate_radps)),
            load_variation_percent: largest(&load_variation),
            travel_mm: largest(&travel),
            speed_mps: Some(mean(&measured(channel(&|frame| frame.vx_mps)))),
        }
    }
}

/// Returns the mean vertical acceleration of the centre of mass in each step (m/s², upward), from the change of its
/// vertical velocity in world axes.
fn vertical_accelerations(trajectory: &Trajectory) -> Vec<f64> {
    // Velocity along the world's z axis (m/s): roll, then pitch of the vehicle axes.
    let vertical_velocity = |frame: &Frame| {
        let ((sin_roll, cos_roll), (sin_pitch, cos_pitch)) = (frame.roll_rad.sin_cos(), frame.pitch_rad.sin_cos());
        -frame.vx_mps * sin_pitch + frame.vy_mps * cos_pitch * sin_roll + frame.vz_mps * cos_pitch * cos_roll
    };
    let velocities: Vec<f64> = trajectory.rows().map(|frame| vertical_velocity(&frame)).collect();
    velocities.windows(2).map(|pair| (pair[1] - pair[0]) / trajectory.dt_s()).collect()
}

/// Returns the mean of `samples`; 0 for none.
fn mean(samples: &[f64]) -> f64 {
    samples.iter().sum::<f64>() / samples.len().max(1) as f64
}

/// Returns the standard deviation of `samples`; 0 for none.
fn standard_deviation(samples: &[f64]) -> f64 {
    let mean = mean(samples);
    root_mean_square(&samples.iter().map(|sample| sample - mean).collect::<Vec<_>>())
}

/// Driver that holds speed and line.
struct RideDriver {
    /// Speed (m/s).
    speed_mps: f64,
    speed_controller: TorqueSpeedController,
    steering: StraightKeeper,
}

impl DriverModel for RideDriver {
    /// Keeps straight and holds the speed by torques at the driven wheels.
    fn drive(&mut self, input: &DriverInput<'_>) -> Controls {
        let steer = self.steering.steer(input) as f32;
        Controls { steer, ..self.speed_controller.controls(input, self.speed_mps) }
    }
}

impl Manoeuvre for Ride {
    fn name(&self) -> &'static str {
        "ride"
    }
    fn about(&self) -> String {
        let Self { speed_mps, class, duration_s, .. } = self;
        format!("straight at {speed_mps:.1} m/s on a road of ISO 8608 class {class:?} for {duration_s:.0} s")
    }
    fn setup(&self, _model: &Model) -> Setup {
        let duration_s = SETTLING_TIME_S + self.duration_s;
        Setup { scene: self.scene(), duration_s, ..Setup::flat(self.speed_mps) }
    }
    fn start_requirements(&self) -> StartRequirements {
        StartRequirements::PATH_FOLLOWING.from_origin()
    }
    fn driver(&self, model: &Model) -> Box<dyn DriverModel> {
        Box::new(RideDriver {
            speed_mps: self.speed_mps,
            speed_controller: TorqueSpeedController::default(),
            steering: StraightKeeper::new(Characteristics::new(model)),
        })
    }
    fn metrics(&self, _model: &Model, trajectory: &Trajectory) -> Vec<Metric> {
        self.measure(trajectory).list()
    }
}

#[cfg(test)]
mod tests {
    use core::f64::consts::TAU;

    use super::*;
    use crate::testing::sampled;

    /// A heave of 1 mm amplitude at 5.01 Hz has the acceleration `a ω² / √2`, weighted by 1.039 (ISO 2631-1, Table 3). Loads
    /// that vary by ±10 % have a dynamic load coefficient of 7.07 %.
    #[test]
    fn a_sine_has_its_tabulated_weight() {
        let (hz, amplitude) = (10f64.powf(0.7), 1e-3);
        let run = sampled(1.0 / 1000.0, 18.0, |t, frame| {
            let phase = TAU * hz * t;
            frame.vz_mps = amplitude * TAU * hz * phase.cos();
            frame.vx_mps = 20.0;
            for wheel in &mut frame.wheels {
                (wheel.load_n, wheel.compression_m) = (3000.0 + 300.0 * phase.sin(), 2e-3 * phase.sin());
            }
        });
        let found = Ride::default().measure(&run);
        let acceleration = amplitude * (TAU * hz).powi(2) / 2f64.sqrt();
        for (found, expected, tolerance) in [
            (found.vertical_mps2, acceleration, 1e-3),
            // Bilinear transform at 1000 Hz, and three digits of the table.
            (found.weighted_vertical_mps2, 1.039 * acceleration, 3e-3),
            (found.vibration_total_mps2, 1.039 * acceleration, 3e-3),
            (found.transient_vertical_mps2, 1.039 * acceleration, 1e-2),
            (found.load_variation_percent, 10.0 / 2f64.sqrt(), 1e-3),
            (found.travel_mm, 2.0 / 2f64.sqrt(), 1e-3),
            (found.speed_mps, 20.0, 1e-9),
        ] {
            assert!((found.expect("long enough") / expected - 1.0).abs() < tolerance, "{found:?} {expected}");
        }
    }

    /// A car that pitches about its centre of mass while it moves along a straight line has no vertical acceleration.
    #[test]
    fn a_pitching_car_on_a_straight_line_has_no_vertical_acceleration() {
        let run = sampled(0.01, 18.0, |t, frame| {
            let pitch: f64 = 0.05 * (7.0 * t).sin();
            frame.pitch_rad = pitch;
            (frame.vx_mps, frame.vz_mps) = (20.0 * pitch.cos(), 20.0 * pitch.sin());
        });
        assert!(Ride::default().measure(&run).vertical_mps2.expect("long enough") < 1e-9);
    }

    /// A shorter run has no metrics.
    #[test]
    fn a_short_run_has_no_metrics() {
        assert_eq!(Ride::default().measure(&sampled(0.01, 5.0, |_, _| {})), RideMetrics::default());
    }
}
