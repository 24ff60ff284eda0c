//! Electric motors.

use crate::model_error::{ModelError, check_index, check_not_negative, check_positive, check_positive_or_infinite};
use crate::wheel::parameters::Wheel;

/// Maximum number of motors of a car.
pub const MAX_MOTORS: usize = 8;

/// Share of a motor's top speed over which its driving torque fades to 0 below that speed, and regeneration fades near
/// a standstill.
const FADE_SPEED_SHARE: f32 = 0.02;

/// Electric motor with a fixed reduction, on one wheel or, through an open differential, on several.
#[derive(Clone, Debug, PartialEq)]
pub struct Motor {
    /// Indices of the driven wheels, each with the same share of the torque.
    pub wheels: Box<[usize]>,
    /// Largest torque of the rotor, N m, ≥ 0.
    pub peak_torque: f32,
    /// Largest power, W, > 0; infinite if only the torque limits the motor.
    pub power: f32,
    /// Rotor speed at which the driving torque becomes 0, rad/s, > 0.
    pub max_speed: f32,
    /// Turns of the rotor per turn of the wheels, > 0.
    pub reduction: f32,
    /// Share of the power that reaches the wheels, in (0, 1].
    pub efficiency: f32,
    /// Moment of inertia of the rotor, kg m², ≥ 0.
    pub inertia: f32,
    /// Share of the torque used for braking while the throttle is closed, 0 to 1.
    pub lift_regeneration: f32,
    /// Share of the torque used for braking at full brake pedal, in addition to the brakes, 0 to 1.
    pub brake_regeneration: f32,
}

impl Motor {
    /// Returns the share of the torque that the pedals (each 0 to 1) demand, 1 driving to −1 braking by regeneration:
    /// throttle less `lift_regeneration · (1 − throttle)` and `brake_regeneration · brake`, at least −1.
    pub fn demand(&self, throttle: f32, brake: f32) -> f32 {
        let braking_share = self.lift_regeneration * (1.0 - throttle) + self.brake_regeneration * brake;
        (throttle - braking_share).max(-1.0)
    }

    /// Returns the angle of the rotor per length of road, rad/m: the reduction times the mean of `1 / R` of its wheels.
    pub fn angle_per_metre(&self, wheels: &[Wheel]) -> f32 {
        let sum: f32 = self.wheels.iter().map(|&i| 1.0 / wheels[i].radius).sum();
        self.reduction * sum / self.wheels.len() as f32
    }

    /// Returns the angular momentum of the rotor per speed of the car that rolls on its wheels, kg m.
    pub(crate) fn momentum(&self, wheels: &[Wheel]) -> f32 {
        self.inertia * self.angle_per_metre(wheels)
    }

    /// Returns the largest torque at a rotor `speed` in rad/s of either sign, N m: the peak torque, or power over speed
    /// if that is less.
    pub fn max_torque_at(&self, speed: f32) -> f32 {
        self.peak_torque.min(self.power / speed.abs().max(f32::MIN_POSITIVE))
    }

    /// Returns the rotor torque, N m, and its derivative by the speed, N m s, never above 0. `speed`: rotor speed,
    /// rad/s, positive in the driving direction; `demand`: −1 to 1.
    ///
    /// A demand of 0 or more drives up to the top speed: demand times the largest torque at the speed, faded to 0 in
    /// the last 2 % below the top speed. A negative demand regenerates against either rotation, faded to 0 in 2 % of
    /// the top speed around a standstill. The derivative contains the fades, and the power limit only for a driving
    /// motor: under regeneration the torque would rise with the speed.
    pub fn torque(&self, speed: f32, demand: f32) -> (f32, f32) {
        let (max_torque, fade_range) = (self.max_torque_at(speed), FADE_SPEED_SHARE * self.max_speed);
        if demand < 0.0 {
            // Regeneration fades to 0 at a standstill and acts against either rotation.
            let regeneration_share = (speed / fade_range).clamp(-1.0, 1.0);
            let slope = if speed.abs() < fade_range { demand * max_torque / fade_range } else { 0.0 };
            return (demand * max_torque * regeneration_share, slope);
        }
        let fade_share = ((self.max_speed - speed) / fade_range).clamp(0.0, 1.0);
        let torque = demand * max_torque * fade_share;
        // Slopes by the power limit and by the fade below the top speed, N m s.
        let power_slope = if speed > 0.0 && max_torque < self.peak_torque { -torque / speed } else { 0.0 };
        let fade_slope = if fade_share > 0.0 && fade_share < 1.0 { -demand * max_torque / fade_range } else { 0.0 };
        (torque, power_slope + fade_slope)
    }

    /// Checks that the motor has driven wheels, all below the number `wheel_count`, and that its values are in the
    /// ranges of the fields. Returns the first violation. The efficiency may exceed 1 by a rounding of 1e-4.
    pub(crate) fn check(&self, wheel_count: usize) -> Result<(), ModelError> {
        if self.wheels.is_empty() {
            return Err(ModelError::RuleViolated("a motor needs a wheel"));
        }
        for &wheel in &self.wheels {
            check_index("wheel of a motor", wheel, wheel_count)?;
        }
        check_not_negative("peak torque of a motor", self.peak_torque)?;
        check_positive_or_infinite("power of a motor", self.power)?;
        check_positive("top speed of a motor", self.max_speed)?;
        check_positive("reduction of a motor", self.reduction)?;
        check_positive("efficiency of a motor", self.efficiency)?;
        check_positive("1 + epsilon - efficiency of a motor", 1.000_1 - self.efficiency)?;
        check_not_negative("inertia of a rotor", self.inertia)?;
        for share in [self.lift_regeneration, self.brake_regeneration] {
            check_not_negative("regeneration share", share)?;
            check_not_negative("1 - regeneration share", 1.0 - share)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a motor of 300 N m and 90 kW (constant power from 300 rad/s) up to 1000 rad/s on two wheels.
    fn motor() -> Motor {
        Motor {
            wheels: [0, 1].into(),
            peak_torque: 300.0,
            power: 90e3,
            max_speed: 1000.0,
            reduction: 9.0,
            efficiency: 1.0,
            inertia: 0.05,
            lift_regeneration: 0.2,
            brake_regeneration: 0.5,
        }
    }

    /// Checks the driving torque in the ranges of constant torque and constant power, in the fade below the top speed,
    /// beyond it and backwards; the regeneration in both directions and at a standstill; and the demand of the pedals.
    #[test]
    fn torque_is_constant_then_power_is() {
        let motor = motor();
        for (speed, demand, torque) in [
            (0.0, 1.0, 300.0),
            (300.0, 1.0, 300.0),
            (600.0, 1.0, 150.0),
            (600.0, 0.5, 75.0),
            (990.0, 1.0, 45.454_55),
            (1000.0, 1.0, 0.0),
            (1200.0, 1.0, 0.0),
            (-100.0, 1.0, 300.0),
            (600.0, -0.2, -30.0),
            (0.0, -1.0, 0.0),
            (-600.0, -1.0, 150.0),
        ] {
            assert!((motor.torque(speed, demand).0 - torque).abs() < 1e-3, "{speed} {demand}");
        }
        assert_eq!(motor.demand(0.0, 0.0), -0.2);
        assert_eq!(motor.demand(1.0, 0.0), 1.0);
        assert_eq!(motor.demand(0.0, 1.0), -0.7);
    }

    /// Checks the slope against the difference of the torques 0.5 rad/s above and below, within 1 %.
    #[test]
    fn slopes_are_differences_or_nothing() {
        let motor = motor();
        for (speed, demand) in [(100.0, 1.0), (500.0, 0.7), (990.0, 1.0), (10.0, -0.4), (-10.0, -0.4)] {
            let (above, below) = (motor.torque(speed + 0.5, demand).0, motor.torque(speed - 0.5, demand).0);
            let slope = motor.torque(speed, demand).1;
            assert!((slope - (above - below)).abs() < 0.01 * slope.abs() + 1e-3, "{speed} {demand}: {slope}");
        }
    }

    /// Checks the rotor turns per metre on wheels of two sizes, and the momentum: these turns times the inertia.
    #[test]
    fn a_rotor_turns_by_its_reduction_times_the_mean_of_its_wheels() {
        let mut wheels = crate::model::plain::plain_car().wheels;
        (wheels[0].radius, wheels[1].radius) = (0.25, 0.5);
        // 9 (1 / 0.25 + 1 / 0.5) / 2.
        assert_eq!(motor().angle_per_metre(&wheels), 27.0);
        assert_eq!(motor().momentum(&wheels), 27.0 * 0.05);
    }
}
