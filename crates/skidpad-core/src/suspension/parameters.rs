//! Springs, dampers, stops and anti-roll bars.

use crate::lane::Lane;

/// Spring, damper and stops of one wheel, about the rest pose.
///
/// Axial force `F = rest_load + rate z + progressive_rate z² / 2 + damping ż`, z the compression from rest (m, positive in jounce).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strut {
    /// Wheel rate at rest, N/m, > 0.
    pub rate: f32,
    /// By how much the rate rises per metre of compression, N/m², ≥ 0, so little that some rate is left at full droop; 0 for
    /// a linear spring.
    pub progressive_rate: f32,
    /// Damping while compressing, N s/m, ≥ 0.
    pub bump_damping: f32,
    /// Damping while extending, N s/m, ≥ 0.
    pub rebound_damping: f32,
    /// Compression at which the bump stop begins, m, > 0.
    pub bump_travel: f32,
    /// Extension from rest at which the droop stop holds the wheel, m, > 0.
    pub droop_travel: f32,
    /// Rate of the bump stop, N/m, ≥ 0, added to `rate` beyond `bump_travel`.
    pub stop_rate: f32,
    /// How far the bump stop can be squeezed until metal meets metal, m, > 0.
    pub stop_travel: f32,
    /// Where the damper opens while compressing, and while extending.
    pub knees: [Knee; 2],
}

impl Strut {
    /// A spring of the same rate (N/m) and a damper of the same force (N s/m) everywhere, with `bump` and `droop` m of travel
    /// from rest to stops that begin with metal.
    pub fn linear(rate: f32, damping: f32, [bump, droop]: [f32; 2]) -> Self {
        Self {
            rate,
            progressive_rate: 0.0,
            bump_damping: damping,
            rebound_damping: damping,
            bump_travel: bump,
            droop_travel: droop,
            stop_rate: 0.0,
            stop_travel: 1e-3,
            knees: Default::default(),
        }
    }

    /// What the spring pushes beyond its force at rest when compressed by `travel` m, N.
    pub fn spring(&self, travel: f64) -> f64 {
        (f64::from(self.rate) + 0.5 * f64::from(self.progressive_rate) * travel) * travel
    }

    /// Wheel rate at a compression of `travel` m, N/m.
    pub fn rate_at(&self, travel: f64) -> f64 {
        f64::from(self.rate) + f64::from(self.progressive_rate) * travel
    }

    /// Compression at which the spring, and `beside` N/m parallel to it, push `force` N more than at rest, m: the greater
    /// root of `rise z² / 2 + (rate + beside) z = force`, written so that it is exact for linear springs. Where a pull is
    /// beyond what the spring can give, the compression at which it gives most.
    pub fn compression_under(&self, force: f64, beside: f64) -> f64 {
        let rate = f64::from(self.rate) + beside;
        2.0 * force / (rate + (rate * rate + 2.0 * f64::from(self.progressive_rate) * force).max(0.0).sqrt())
    }
}

/// A damper's knee: its valves open at a speed, and beyond it each further speed adds only a share of the force. Potholes
/// pass in the fast range, roll and pitch are held in the slow one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knee {
    /// m/s, > 0; infinite for a damper without one.
    pub above: f32,
    /// Damping beyond over damping below, –, ≥ 0.
    pub share: f32,
}

impl Default for Knee {
    fn default() -> Self {
        Self { above: f32::INFINITY, share: 1.0 }
    }
}

/// What moves with a wheel, for solvers that let wheels move on their own. Part of the car's mass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unsprung {
    /// kg, > 0, less than the wheel carries at rest.
    pub mass: f32,
    /// Vertical rate of the tyre, N/m, > 0.
    pub tyre_rate: f32,
    /// Vertical damping of the tyre, N s/m, ≥ 0.
    pub tyre_damping: f32,
}

/// How an axle gives way sideways: spring and damper between its wheels and the body, in series with the carcasses of its tyres. Loads stay
/// where they press.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LateralCompliance {
    /// Of all wheels of the axle together, N/m, more than its load at rest per metre; each has its even share.
    pub rate: f32,
    /// The same of the damper, N s/m, ≥ 0.
    pub damping: f32,
}

/// An anti-roll bar between two wheels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AntiRollBar {
    /// Indices of the wheels.
    pub wheels: [usize; 2],
    /// Force at each wheel per metre of difference in travel, N/m, ≥ 0.
    pub rate: f32,
    /// Speeds between which the rate rises smoothly from nothing, m/s, rising; both 0 for a bar of steel.
    pub fades_in: [f32; 2],
    /// Where its force goes.
    pub coupling: BarCoupling,
}

/// A third spring of an axle: it acts on the mean travel of two wheels, so that downforce can be held without stiffness in roll.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HeaveSpring {
    /// Indices of the wheels.
    pub wheels: [usize; 2],
    /// Force on both wheels together per metre of mean travel from rest, N/m, ≥ 0.
    pub rate: f32,
    /// The same per m/s of mean travel rate, N s/m, ≥ 0.
    pub damping: f32,
}

/// Where the force of an anti-roll bar goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BarCoupling {
    /// Through strut and tyre: friction knows of it. With a wheel in the air nothing is left on the chassis but what the
    /// other one carries.
    #[default]
    InLoadPath,
    /// On the chassis, at wheels that touch the ground, as scripts on game engines have it: tyres see only
    /// `K_s / (K_s + K_a)` of the load transfer, a third when the bar is as stiff as the springs. For comparison.
    External,
}

impl AntiRollBar {
    /// Rate at a speed, N/m.
    pub fn rate_at(&self, speed: f32) -> f32 {
        let [low, high] = self.fades_in;
        if speed >= high { self.rate } else { self.rate * speed.smoothstep(low, high) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `F = k z + r z² / 2`, its slope `k + r z`, and back from force to compression, also with a spring beside.
    #[test]
    fn a_rising_spring_has_the_rate_of_its_force_and_is_found_by_it() {
        let strut = Strut { progressive_rate: 40_000.0, ..Strut::linear(20_000.0, 0.0, [0.1; 2]) };
        for (travel, force, rate) in [(0.1, 2200.0, 24_000.0), (0.0, 0.0, 20_000.0), (-0.05, -950.0, 18_000.0)] {
            // 64 bits of exact numbers.
            assert!((strut.spring(travel) - force).abs() < 1e-9, "{travel}");
            assert!((strut.rate_at(travel) - rate).abs() < 1e-9, "{travel}");
            assert!((strut.compression_under(force, 0.0) - travel).abs() < 1e-12, "{travel}");
            assert!((strut.compression_under(force + 5000.0 * travel, 5000.0) - travel).abs() < 1e-12, "{travel}");
        }
    }
}
