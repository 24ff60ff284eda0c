//! Straight-ahead braking on a surface with different grip on both sides, based on ISO 14512 and UN R13-H, Annex 6.

use skidpad_core::model::Side;
use skidpad_core::{Controls, DVec3, FixedBox, Frame, Model, Scene, Vec3};

use super::braking::Braking;
use super::{Manoeuvre, Setup, StartRequirements};
use crate::closed_form::{Characteristics, GRAVITY_MPS2};
use crate::driver::{DriverInput, DriverModel, STANDSTILL_SPEED_MPS, StraightKeeper, UntilStop};
use crate::metrics::{Metric, metrics};
use crate::trajectory::Trajectory;

/// Full braking in neutral with one side of the car on a slippery strip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SplitMu {
    /// Speed at which the pedal is pressed (m/s), > 0.
    pub initial_speed_mps: f64,
    /// Pedal position (–), 0 to 1.
    pub pedal: f64,
    /// Factor on the friction of every tyre on the slippery side (–), ≥ 0. The other side has a factor of 1.
    pub low_grip: f64,
    /// Slippery side.
    pub low_side: Side,
    /// Whether the driver steers against the yaw motion. Otherwise the steering stays straight, as in an open-loop
    /// test.
    pub has_correction: bool,
}

impl Default for SplitMu {
    fn default() -> Self {
        let initial_speed_mps = 80.0 / 3.6;
        Self { initial_speed_mps, pedal: 1.0, low_grip: 0.3, low_side: Side::Right, has_correction: true }
    }
}

metrics! {
    /// Braking performance, yaw reaction and steering correction.
    SplitMuMetrics {
        distance_m, "m", 2, "Stopping distance", "From pedal application to the first standstill.";
        mean_deceleration_mps2, "m/s²", 3, "Mean deceleration over distance", "v0² / 2 s.";
        efficiency_percent, "%", 2, "Braking efficiency", "Mean deceleration over the mean of the friction limits of both sides, ½ (k_H + k_L) g.";
        regulation_ratio, "-", 3, "Braking rate over that of UN R13-H", "Mean deceleration over 0.75 (4 k_L + k_H) / 5 g; at least 1 passes Annex 6, 5.3.6, for anti-lock brakes of category 1.";
        yaw_angle_1s_deg, "deg", 3, "Yaw angle after 1 s", "Change of heading 1 s after pedal application, positive to the left.";
        yaw_rate_1s_degps, "deg/s", 3, "Yaw rate after 1 s", "1 s after pedal application, positive to the left.";
        largest_yaw_rate_degps, "deg/s", 3, "Largest yaw rate", "Magnitude.";
        largest_yaw_angle_deg, "deg", 3, "Largest yaw angle", "Largest magnitude of the change of heading, wrapped to ±180°.";
        lateral_deviation_m, "m", 3, "Largest lateral deviation", "Largest distance from the straight line.";
        steer_2s_deg, "deg", 3, "Largest steering correction within 2 s", "Magnitude of the mean road-wheel angle.";
        largest_steer_deg, "deg", 3, "Largest steering correction", "Magnitude of the mean road-wheel angle.";
    }
}

/// Length and width of the slippery strip (m).
const STRIP_SIZE_M: [f32; 2] = [1000.0, 50.0];
/// Thickness of the strip (m); its upper face is flush with the plane.
const STRIP_THICKNESS_M: f32 = 1.0;
/// Longest run (s). A car that still moves has no stopping distance.
const MAX_DURATION_S: f64 = 60.0;
/// Time recorded after the standstill (s).
const DWELL_S: f64 = 1.0;

impl SplitMu {
    /// Returns the ground: a plane of grip 1, and a flush strip of low grip from the centre line to one side. The strip
    /// is centred on the start along x.
    fn scene(&self) -> Scene {
        let [length, width] = STRIP_SIZE_M;
        let lateral_sign = if self.low_side == Side::Left { 1.0 } else { -1.0 };
        let centre = DVec3::new(0.0, lateral_sign * 0.5 * f64::from(width), -0.5 * f64::from(STRIP_THICKNESS_M));
        let strip = FixedBox {
            grip: self.low_grip as f32,
            ..FixedBox::axis_aligned(centre, Vec3::new(length, width, STRIP_THICKNESS_M))
        };
        Scene { boxes: vec![strip], ..Scene::flat() }
    }

    /// Returns the friction limits of the sides with high and low grip, `[k_H, k_L]` (g). They are the mean
    /// longitudinal friction of the tyres at their static loads, weighted by the load, times the grip of the side.
    fn friction_limits(&self, model: &Model) -> [f64; 2] {
        let loads = (0..model.wheels().len()).map(|i| (i, model.static_load(i)));
        let (force, load) = loads.fold((0.0, 0.0), |(force, sum), (i, load)| {
            (force + f64::from(model.tyre(i).friction_at(load)[0] * load), sum + f64::from(load))
        });
        let friction = if load > 0.0 { force / load } else { 0.0 };
        [friction, friction * self.low_grip]
    }

    /// Computes the metrics of a run. Stopping distance, deceleration and lateral deviation are those of [`Braking`].
    /// Values after 1 s are `None` for a shorter run, the largest steering angle within 2 s is that of these two
    /// seconds. All other metrics are over the whole run.
    pub fn measure(&self, model: &Model, trajectory: &Trajectory) -> SplitMuMetrics {
        let stop = Braking { initial_speed_mps: self.initial_speed_mps, ..Braking::default() }.measure(trajectory);
        let [high, low] = self.friction_limits(model);
        let deceleration = stop.mean_deceleration_mps2;
        // Mean deceleration over a limit in g.
        let over_limit = |limit_g: f64| deceleration.map(|value| value / (limit_g * GRAVITY_MPS2));
        let start_yaw = trajectory.first().yaw_rad;
        let yaw_change = |frame: &Frame| wrap_half_turn(frame.yaw_rad - start_yaw);
        let after_1s = |channel: &dyn Fn(&Frame) -> f64| {
            trajectory.covers(1.0).then(|| trajectory.interpolate_at(1.0, channel).to_degrees())
        };
        let steer_until = |end_s: f64| {
            let angles = trajectory.time_slice(0.0, end_s).map(|frame| frame.steer_rad.abs());
            angles.fold(0.0, f64::max).to_degrees()
        };
        SplitMuMetrics {
            distance_m: stop.distance_m,
            mean_deceleration_mps2: deceleration,
            efficiency_percent: over_limit(0.5 * (high + low)).map(|share| 100.0 * share),
            regulation_ratio: over_limit(0.75 * (4.0 * low + high) / 5.0),
            yaw_angle_1s_deg: after_1s(&yaw_change),
            yaw_rate_1s_degps: after_1s(&|frame| frame.yaw_rate_radps),
            largest_yaw_rate_degps: Some(trajectory.peak_magnitude(|frame| frame.yaw_rate_radps).to_degrees()),
            largest_yaw_angle_deg: Some(trajectory.peak_magnitude(yaw_change).to_degrees()),
            lateral_deviation_m: stop.lateral_drift_mm.map(|drift| 1e-3 * drift),
            steer_2s_deg: Some(steer_until(2.0)),
            largest_steer_deg: Some(steer_until(f64::MAX)),
        }
    }
}

/// Wraps `angle` (rad) to ±π.
fn wrap_half_turn(angle: f64) -> f64 {
    use core::f64::consts::{PI, TAU};
    angle - TAU * ((angle + PI) / TAU).floor()
}

/// Driver that brakes in neutral and keeps straight, or holds the steering straight.
struct SplitMuDriver {
    /// Pedal position (–).
    pedal: f32,
    /// Steering controller; `None` for a steering that stays straight.
    steering: Option<StraightKeeper>,
}

impl DriverModel for SplitMuDriver {
    /// Presses the pedal in neutral. Keeps straight, or does not steer without a steering controller.
    fn drive(&mut self, input: &DriverInput<'_>) -> Controls {
        let steer = self.steering.as_mut().map_or(0.0, |steering| steering.steer(input)) as f32;
        Controls { brake: self.pedal, steer, ..Controls::parked() }
    }
}

impl Manoeuvre for SplitMu {
    fn name(&self) -> &'static str {
        "split-mu"
    }
    /// Describes brake pedal, speed, steering (by a driver who keeps the car straight, or fixed), and the grip of both
    /// sides: low under the wheels of one side, 1 under the others.
    fn about(&self) -> String {
        let Self { initial_speed_mps, pedal, low_grip, .. } = self;
        let side = if self.low_side == Side::Left { "left" } else { "right" };
        let steering = if self.has_correction { "steered to stay straight" } else { "with fixed steering" };
        format!(
            "brake pedal to {:.0} % at {initial_speed_mps:.1} m/s, {steering}, grip {low_grip} under the {side} wheels and 1 \
             under the others",
            100.0 * pedal
        )
    }
    fn setup(&self, _model: &Model) -> Setup {
        Setup { scene: self.scene(), duration_s: MAX_DURATION_S, ..Setup::flat(self.initial_speed_mps) }
    }
    fn start_requirements(&self) -> StartRequirements {
        StartRequirements::above(STANDSTILL_SPEED_MPS).from_origin().on_own_ground()
    }
    fn driver(&self, model: &Model) -> Box<dyn DriverModel> {
        let steering = self.has_correction.then(|| StraightKeeper::new(Characteristics::new(model)));
        Box::new(UntilStop::new(SplitMuDriver { pedal: self.pedal as f32, steering }, DWELL_S))
    }
    fn metrics(&self, model: &Model, trajectory: &Trajectory) -> Vec<Metric> {
        self.measure(model, trajectory).list()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{model, sampled};

    /// A stop with 3 m/s² has its known distance, efficiency and ratio. The yaw angle grows by 2 deg/s; the steering is
    /// largest after the first two seconds. The friction of the test car is 1.
    #[test]
    fn a_known_stop_has_its_known_figures() {
        let split = SplitMu { initial_speed_mps: 12.0, low_grip: 0.4, ..SplitMu::default() };
        let run = sampled(0.001, 5.0, |t, frame| {
            let t_moving = t.min(4.0);
            frame.vx_mps = 12.0 - 3.0 * t_moving;
            frame.x_m = 12.0 * t_moving - 1.5 * t_moving * t_moving;
            frame.y_m = 0.1 * t_moving;
            (frame.yaw_rad, frame.yaw_rate_radps) = ((2.0 * t_moving).to_radians(), 2f64.to_radians());
            frame.steer_rad = -0.02 * t_moving;
        });
        let found = split.measure(&model(), &run);
        for (found, expected) in [
            (found.distance_m, 24.0),
            (found.mean_deceleration_mps2, 3.0),
            (found.efficiency_percent, 100.0 * 3.0 / (0.7 * GRAVITY_MPS2)),
            (found.regulation_ratio, 3.0 / (0.75 * (1.6 + 1.0) / 5.0 * GRAVITY_MPS2)),
            (found.yaw_angle_1s_deg, 2.0),
            (found.yaw_rate_1s_degps, 2.0),
            (found.largest_yaw_rate_degps, 2.0),
            (found.largest_yaw_angle_deg, 8.0),
            (found.lateral_deviation_m, 0.4),
            (found.steer_2s_deg, 0.04f64.to_degrees()),
            (found.largest_steer_deg, 0.08f64.to_degrees()),
        ] {
            assert!((found.expect("stops") / expected - 1.0).abs() < 1e-4, "{found:?} {expected}");
        }
    }

    /// The strip is flush with the plane, on the side that is asked for, with the asked grip.
    #[test]
    fn the_strip_is_flush_on_its_side() {
        for (low_side, sign) in [(Side::Left, 1.0), (Side::Right, -1.0)] {
            let scene = SplitMu { low_side, low_grip: 0.2, ..SplitMu::default() }.scene();
            let strip = scene.boxes[0];
            assert_eq!((strip.centre.z + f64::from(strip.half_extents.z), strip.grip), (0.0, 0.2));
            assert!((strip.centre.y - sign * f64::from(strip.half_extents.y)).abs() < 1e-9);
        }
    }
}
