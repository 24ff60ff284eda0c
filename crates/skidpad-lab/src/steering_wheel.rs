//! Steering wheel of manoeuvres and figures that standards define by steering-wheel angles.

use skidpad_core::{Frame, Model, Shaft};

use crate::metrics::Metric;

/// Overall steering ratio (–) of a vehicle that states none: steering-wheel angle per mean road-wheel angle of a
/// typical passenger car.
pub const TYPICAL_STEERING_RATIO: f64 = 16.0;

/// Returns the torque with which the driver holds the steering wheel in `frame` (N m), positive to the left; `None` for
/// a car with unknown steering axes.
pub fn steering_wheel_torque(frame: &Frame) -> Option<f64> {
    frame.shafts.iter().find(|(shaft, _)| *shaft == Shaft::SteeringWheel).map(|(_, torque)| *torque)
}

/// Rigid steering linkage between steering wheel and road wheels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteeringWheel {
    /// Steering-wheel angle per mean road-wheel angle (–), > 0.
    pub ratio: f64,
}

impl Default for SteeringWheel {
    fn default() -> Self {
        Self { ratio: TYPICAL_STEERING_RATIO }
    }
}

impl SteeringWheel {
    /// Returns the steering wheel of `model`, with [`TYPICAL_STEERING_RATIO`] if the model states no ratio.
    pub fn of(model: &Model) -> Self {
        model.parts().steering.wheel_ratio.map_or_else(Self::default, |ratio| Self { ratio: ratio.into() })
    }

    /// Returns the mean road-wheel angle (rad) for a steering-wheel angle (°).
    pub fn road_wheel_rad(self, wheel_deg: f64) -> f64 {
        (wheel_deg / self.ratio).to_radians()
    }

    /// Returns the steering-wheel angle (°) for a mean road-wheel angle (rad).
    pub fn wheel_deg(self, road_wheel_rad: f64) -> f64 {
        road_wheel_rad.to_degrees() * self.ratio
    }

    /// Returns the steering-wheel angle (°) at the steering lock of `model`.
    pub fn lock_deg(self, model: &Model) -> f64 {
        self.wheel_deg(f64::from(model.parts().steering.lock))
    }

    /// Returns the metrics of ISO 7401 per steering-wheel angle, from the gains per mean road-wheel angle: `yaw_rate`
    /// (1/s) and `lateral_acceleration` (m/s² per degree). A missing gain gives a metric without a value.
    pub(crate) fn gain_metrics(self, yaw_rate: Option<f64>, lateral_acceleration: Option<f64>) -> [Metric; 2] {
        let per_wheel = |gain: Option<f64>| gain.map(|gain| gain / self.ratio);
        [
            Metric::new(
                "steering_wheel_yaw_rate_gain_per_s",
                "Yaw rate gain per steering-wheel angle",
                "1/s",
                4,
                per_wheel(yaw_rate),
            ),
            Metric::new(
                "steering_wheel_lateral_acceleration_gain_mps2_per_deg",
                "Lateral acceleration gain per steering-wheel angle",
                "m/s²/deg",
                4,
                per_wheel(lateral_acceleration),
            ),
        ]
    }

    /// Returns the metric of the steering-wheel angle (°) at the largest lateral acceleration for the mean road-wheel
    /// angle `limit_deg` (°), without a value if that is missing.
    pub(crate) fn limit_metric(self, limit_deg: Option<f64>) -> Metric {
        let label = "Steering-wheel angle at the largest lateral acceleration";
        Metric::new("limit_steering_wheel_deg", label, "deg", 1, limit_deg.map(|angle| angle * self.ratio))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ratio of the model converts angles both ways; a model without a ratio has the typical one.
    #[test]
    fn the_ratio_is_that_of_the_model() {
        let model = crate::testing::model();
        assert_eq!(SteeringWheel::of(&model).ratio, TYPICAL_STEERING_RATIO);
        let mut parts = model.parts().clone();
        parts.steering.wheel_ratio = Some(12.5);
        let wheel = SteeringWheel::of(&Model::new(parts).expect("valid"));
        assert!((wheel.road_wheel_rad(12.5) - 1f64.to_radians()).abs() < 1e-12);
        assert!((wheel.wheel_deg(wheel.road_wheel_rad(90.0)) - 90.0).abs() < 1e-9);
        // 0.6 rad at the road wheels.
        assert!((wheel.lock_deg(&model) - 12.5 * 0.6f64.to_degrees()).abs() < 1e-4);
        let [yaw_rate, lateral] = wheel.gain_metrics(Some(5.0), None);
        assert_eq!((yaw_rate.value, lateral.value), (Some(0.4), None));
        assert_eq!(wheel.limit_metric(Some(4.0)).value, Some(50.0));
    }
}
