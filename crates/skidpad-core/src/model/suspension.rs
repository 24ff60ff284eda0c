//! Springs, dampers, stops and anti-roll bars.

use crate::lane::Lane;

/// Spring, damper and stops of one wheel, about the rest pose.
///
/// Axial force `F = rest_load + rate z + damping ż`, z the compression from rest (m, positive in jounce).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strut {
    /// Wheel rate, N/m, > 0.
    pub rate: f32,
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
