//! Steering wheel of manoeuvres that standards define by steering-wheel angles.

use skidpad_core::Model;

/// Overall steering ratio of [`SteeringWheel::default`] (–): steering-wheel angle per mean road-wheel angle of a typical
/// passenger car. Vehicle files describe the road wheels only.
pub const TYPICAL_STEERING_RATIO: f64 = 16.0;

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
}
