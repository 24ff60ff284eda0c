//! Parameters of springs, dampers, stops and anti-roll bars.

use crate::model_error::{
    ModelError, check_finite, check_index, check_not_negative, check_positive, check_positive_or_infinite,
};
use bevy_math::Vec3;
use skidpad_simd::lane::Lane;

/// Spring, damper and stops of one wheel, relative to the rest pose.
///
/// Axial force `F = rest_load + rate z + progressive_rate z² / 2 + damping ż`, z the compression from rest (m, positive
/// in jounce).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strut {
    /// Wheel rate at rest, N/m, > 0.
    pub rate: f32,
    /// Increase of the rate per metre of compression, N/m², ≥ 0; 0 for a linear spring. The rate must be positive at
    /// full droop.
    pub progressive_rate: f32,
    /// Damping in compression, N s/m, ≥ 0.
    pub bump_damping: f32,
    /// Damping in rebound, N s/m, ≥ 0.
    pub rebound_damping: f32,
    /// Compression at which the bump stop begins, m, > 0.
    pub bump_travel: f32,
    /// Extension from rest at which the droop stop acts, m, > 0.
    pub droop_travel: f32,
    /// Rate of the bump stop, N/m, ≥ 0, added to `rate` beyond `bump_travel`.
    pub stop_rate: f32,
    /// Travel of the bump stop until metal contact, m, > 0.
    pub stop_travel: f32,
    /// Knees of the damper in compression and in rebound.
    pub knees: [DamperKnee; 2],
}

impl Strut {
    /// Creates a strut with a linear spring of `rate` (N/m), one `damping` (N s/m) in both directions, and
    /// `bump_travel` and `droop_travel` (m) from rest. The bump stop has no rate before the metal contact, 1 mm further
    /// on.
    pub fn linear(rate: f32, damping: f32, [bump_travel, droop_travel]: [f32; 2]) -> Self {
        Self {
            rate,
            progressive_rate: 0.0,
            bump_damping: damping,
            rebound_damping: damping,
            bump_travel,
            droop_travel,
            stop_rate: 0.0,
            stop_travel: 1e-3,
            knees: Default::default(),
        }
    }

    /// Returns the spring force beyond that at rest at a compression of `travel` (m), N:
    /// `rate z + progressive_rate z² / 2`. Stops and damper are left out.
    pub fn spring_force(&self, travel: f64) -> f64 {
        (f64::from(self.rate) + 0.5 * f64::from(self.progressive_rate) * travel) * travel
    }

    /// Returns the wheel rate at a compression of `travel` (m), N/m: `rate + progressive_rate z`, without stops.
    pub fn rate_at(&self, travel: f64) -> f64 {
        f64::from(self.rate) + f64::from(self.progressive_rate) * travel
    }

    /// Returns the compression (m) at which the spring and a parallel rate `parallel_rate` (N/m) have `force` (N) more
    /// than at rest.
    ///
    /// The compression is the larger root of `progressive_rate z² / 2 + (rate + parallel_rate) z = force`, in a form
    /// that is exact for linear springs. If `force` is a pull beyond the largest pull of the spring, the result is
    /// `2 force / (rate + parallel_rate)`.
    pub fn compression_at_force(&self, force: f64, parallel_rate: f64) -> f64 {
        let rate = f64::from(self.rate) + parallel_rate;
        2.0 * force / (rate + (rate * rate + 2.0 * f64::from(self.progressive_rate) * force).max(0.0).sqrt())
    }

    /// Checks the values of the strut: wheel rate (at rest and at full droop) and travels above 0, knee speeds above 0
    /// or infinite, all others at least 0. `value_name` builds the name of a value in an error.
    ///
    /// # Errors
    /// The first violation: a [`ModelError`] with the name of the value, or with the rule.
    pub(crate) fn check(&self, value_name: impl Fn(&str) -> String) -> Result<(), ModelError> {
        check_positive(&value_name("wheel rate"), self.rate)?;
        check_positive(&value_name("bump travel"), self.bump_travel)?;
        check_positive(&value_name("droop travel"), self.droop_travel)?;
        check_positive(&value_name("stop travel"), self.stop_travel)?;
        check_positive(&value_name("wheel rate at full droop"), self.rate_at(-f64::from(self.droop_travel)) as f32)?;
        for knee in self.knees {
            check_positive_or_infinite(&value_name("knee speed of a damper"), knee.speed)?;
        }
        for (quantity, value) in [
            ("progressive wheel rate", self.progressive_rate),
            ("bump damping", self.bump_damping),
            ("rebound damping", self.rebound_damping),
            ("stop rate", self.stop_rate),
            ("damping ratio beyond the bump knee", self.knees[0].fast_ratio),
            ("damping ratio beyond the rebound knee", self.knees[1].fast_ratio),
        ] {
            check_not_negative(&value_name(quantity), value)?;
        }
        Ok(())
    }
}

/// Knee of a damper: above a speed its valves open, and the damping drops to a share. Potholes act in the fast range,
/// roll and pitch in the slow range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DamperKnee {
    /// Speed of the knee, m/s, > 0; infinite for a damper without one.
    pub speed: f32,
    /// Damping above the knee over damping below, –, ≥ 0.
    pub fast_ratio: f32,
}

impl Default for DamperKnee {
    /// Returns a damper without a knee.
    fn default() -> Self {
        Self { speed: f32::INFINITY, fast_ratio: 1.0 }
    }
}

/// Unsprung mass of a wheel, for solvers with unsprung masses. The mass is part of the car's mass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unsprung {
    /// Unsprung mass, kg, > 0, less than the mass on the wheel at rest.
    pub mass: f32,
    /// Vertical rate of the tyre, N/m, > 0.
    pub tyre_rate: f32,
    /// Vertical damping of the tyre, N s/m, ≥ 0.
    pub tyre_damping: f32,
}

impl Unsprung {
    /// Checks that mass and rate are above 0, and the damping at least 0. `value_name` builds the name of a value in an
    /// error.
    ///
    /// # Errors
    /// The first violation: a [`ModelError`] with the name of the value, or with the rule.
    pub(crate) fn check(&self, value_name: impl Fn(&str) -> String) -> Result<(), ModelError> {
        check_positive(&value_name("unsprung mass"), self.mass)?;
        check_positive(&value_name("vertical tyre rate"), self.tyre_rate)?;
        check_not_negative(&value_name("vertical tyre damping"), self.tyre_damping)
    }
}

/// Lateral compliance of an axle: spring and damper between its wheels and the body, in series with the tyre carcasses.
/// The lateral displacement does not move the points where the loads act.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LateralCompliance {
    /// Lateral rate of all wheels of the axle together, N/m. The rate must be larger than the axle load at rest per
    /// metre. Each wheel has an equal share.
    pub rate: f32,
    /// Lateral damping of all wheels of the axle together, N s/m, ≥ 0.
    pub damping: f32,
}

impl LateralCompliance {
    /// Checks that the rate is finite, and that the damping is finite and at least 0. The least rate depends on the
    /// load of the axle and is checked with the model.
    ///
    /// # Errors
    /// The first violation: a [`ModelError`] with the name of the value, or with the rule.
    pub(crate) fn check(&self) -> Result<(), ModelError> {
        check_finite("lateral stiffness of an axle", Vec3::splat(self.rate))?;
        check_not_negative("lateral damping of an axle", self.damping)
    }
}

/// Anti-roll bar between two wheels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AntiRollBar {
    /// Indices of the wheels.
    pub wheels: [usize; 2],
    /// Force at each wheel per metre of difference in travel, N/m, ≥ 0.
    pub rate: f32,
    /// Speeds between which the rate rises smoothly from 0, m/s, increasing; both 0 for a passive bar.
    pub speed_range: [f32; 2],
    /// Path of the bar force.
    pub force_path: BarForcePath,
}

impl AntiRollBar {
    /// Checks that both wheels are among `wheel_count` wheels, that rate and speeds are at least 0, and that a range of
    /// speeds rises.
    ///
    /// # Errors
    /// The first violation: a [`ModelError`] with the name of the value, or with the rule.
    pub(crate) fn check(&self, wheel_count: usize) -> Result<(), ModelError> {
        for wheel in self.wheels {
            check_index("anti-roll bar wheel", wheel, wheel_count)?;
        }
        check_not_negative("anti-roll bar rate", self.rate)?;
        check_not_negative("minimum speed of an anti-roll bar", self.speed_range[0])?;
        if self.speed_range != [0.0; 2] {
            check_positive("fade-in speed range of an anti-roll bar", self.speed_range[1] - self.speed_range[0])?;
        }
        Ok(())
    }
}

/// Third spring of an axle. The spring acts on the mean travel of two wheels, so that it supports downforce without
/// roll stiffness.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HeaveSpring {
    /// Indices of the wheels.
    pub wheels: [usize; 2],
    /// Force on both wheels together per metre of mean travel from rest, N/m, ≥ 0.
    pub rate: f32,
    /// Force on both wheels together per mean travel rate, N s/m, ≥ 0.
    pub damping: f32,
}

impl HeaveSpring {
    /// Checks that both wheels are two different ones among `wheel_count` wheels, and that rate and damping are at
    /// least 0.
    ///
    /// # Errors
    /// The first violation: a [`ModelError`] with the name of the value, or with the rule.
    pub(crate) fn check(&self, wheel_count: usize) -> Result<(), ModelError> {
        for wheel in self.wheels {
            check_index("heave spring wheel", wheel, wheel_count)?;
        }
        if self.wheels[0] == self.wheels[1] {
            return Err(ModelError::RuleViolated("a heave spring needs two wheels"));
        }
        check_not_negative("heave spring rate", self.rate)?;
        check_not_negative("heave spring damping", self.damping)
    }
}

/// Path of the force of an anti-roll bar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BarForcePath {
    /// Through strut and tyre, so that the bar changes the tyre loads. If one wheel is in the air, the chassis receives
    /// only what the other wheel carries.
    #[default]
    InLoadPath,
    /// On the chassis, at wheels in contact, as scripts for game engines do it. If the springs have the roll stiffness
    /// K_s and the bar K_a, the tyres receive only `K_s / (K_s + K_a)` of the load transfer, a third if both rates are
    /// equal. For comparison.
    External,
}

impl AntiRollBar {
    /// Returns the rate at a `speed` (m/s), N/m: `rate` times a smooth step from 0 at the lower to 1 at the upper end
    /// of `speed_range`. A passive bar (both ends 0) has its full rate at every speed ≥ 0.
    pub fn rate_at(&self, speed: f32) -> f32 {
        let [low, high] = self.speed_range;
        if speed >= high { self.rate } else { self.rate * speed.smoothstep(low, high) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks `F = k z + r z² / 2`, its slope `k + r z`, and the inverse from force to compression, also with a
    /// parallel spring.
    #[test]
    fn a_rising_spring_has_the_rate_of_its_force_and_is_found_by_it() {
        let strut = Strut { progressive_rate: 40_000.0, ..Strut::linear(20_000.0, 0.0, [0.1; 2]) };
        for (travel, force, rate) in [(0.1, 2200.0, 24_000.0), (0.0, 0.0, 20_000.0), (-0.05, -950.0, 18_000.0)] {
            // f64 resolution of exact numbers.
            assert!((strut.spring_force(travel) - force).abs() < 1e-9, "{travel}");
            assert!((strut.rate_at(travel) - rate).abs() < 1e-9, "{travel}");
            assert!((strut.compression_at_force(force, 0.0) - travel).abs() < 1e-12, "{travel}");
            // 5000.0: rate of the parallel spring, N/m.
            assert!((strut.compression_at_force(force + 5000.0 * travel, 5000.0) - travel).abs() < 1e-12, "{travel}");
        }
    }
}
