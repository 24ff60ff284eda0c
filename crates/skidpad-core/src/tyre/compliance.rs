//! Axles that give way sideways: a spring and a damper between wheel and body, in series with the carcass of the tyre.
//!
//! A wheel without mass of its own across is where the side force F of its tyre balances both: `F = K y + D ẏ`, y being how far it has
//! shifted to the left. Its patch moves over the ground with the body and by `ẏ` on top. With the mean force of a step, and the shift at the
//! time `θ dt` after its start,
//!
//! ```text
//! ẏ = (F − K y₀) / (D + θ K dt)
//! ```
//!
//! is linear in the impulse, so that the row of a tyre across stays a row, only softer, whatever solves it. A patch that slides takes as
//! much of the speed on this row as on that of a rigid axle.

use crate::lane::{Four, Lane};
use crate::state::WheelState;
use crate::step::rows::Rows;
use crate::step::vehicle::Vehicle;
use crate::wheel::pack::{Lateral, WheelPack};

/// Time after the start of a step at which the shift is taken, as a part of the step, of a wheel that stands on the ground.
const THETA_ON_GROUND: f32 = 0.5;

/// Time at which the shift of a wheel in the air is taken, as a part of the step: its end, so that the shift fades (implicit Euler).
const THETA_IN_AIR: f32 = 1.0;

impl Vehicle {
    /// Softens the rows of tyres across where their axles give way.
    #[inline(always)]
    pub(crate) fn soften(&mut self) {
        if self.model.is_compliant() {
            self.soften_all();
        }
    }

    #[cold]
    #[inline(never)]
    fn soften_all(&mut self) {
        for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
            if let Some(lateral) = &bank.lateral {
                rows.soften(bank, &Giving::of(lateral, bank, &self.state.wheels, rows));
            }
        }
    }

    /// Shifts wheels that give way by the forces found, and lets their patches know.
    #[cold]
    #[inline(never)]
    pub(crate) fn shift_wheels(&mut self) {
        let wheels = &mut self.state.wheels;
        for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
            let Some(lateral) = &bank.lateral else { continue };
            let rate = Giving::of(lateral, bank, wheels, rows).rate(rows.coupled.tyre[1]);
            let throughout = rows.throughout(bank);
            let across = &mut rows.tyre.drift[1];
            across.kept = across.kept - across.per_speed * rate * throughout;
            let moved = (rate * Four::splat(rows.dt)).lanes();
            bank.each(|lane, wheel| wheels[wheel].shift += moved[lane]);
        }
    }
}

/// How fast wheels give way to the left: by so much per impulse of the tyre, 1/kg, less what brings them back, m/s.
struct Giving {
    per_impulse: Four,
    back: Four,
}

impl Giving {
    fn of(lateral: &Lateral, bank: &WheelPack, wheels: &[WheelState], rows: &Rows) -> Self {
        let step = Four::splat(rows.dt);
        let theta = Four::select(rows.tyre.active, Four::splat(THETA_ON_GROUND), Four::splat(THETA_IN_AIR));
        let answer = lateral.gives / (lateral.damping + lateral.rate * step * theta);
        Self { per_impulse: answer / step, back: answer * lateral.rate * bank.gather(|i| wheels[i].shift) }
    }

    /// m/s
    fn rate(&self, impulse: Four) -> Four {
        self.per_impulse * impulse - self.back
    }

    /// Returns the target impulse and the gain of a row across, whose wheel shifts throughout the step: by `throughout` times what the
    /// gain says of the speed at its end.
    fn softened(&self, target_impulse: Four, gain: Four, throughout: Four) -> (Four, Four) {
        let shift_gain = gain * throughout;
        let share = Four::splat(1.0) / (Four::splat(1.0) + shift_gain * self.per_impulse);
        ((target_impulse + shift_gain * self.back) * share, gain * share)
    }
}

impl Rows {
    /// Returns how much more a speed throughout the step moves a patch across than a speed at its end.
    fn throughout(&self, bank: &WheelPack) -> Four {
        Four::splat(1.0) / (Four::splat(1.0) - Four::splat(0.5) * self.smooth_share(bank))
    }

    fn soften(&mut self, bank: &WheelPack, giving: &Giving) {
        let throughout = self.throughout(bank);
        let tyre = &mut self.tyre;
        (tyre.target_impulse[1], tyre.gain[1]) = giving.softened(tyre.target_impulse[1], tyre.gain[1], throughout);
        (tyre.straight_target[1], tyre.straight_gain[1]) =
            giving.softened(tyre.straight_target[1], tyre.straight_gain[1], throughout);
    }
}

#[cfg(test)]
mod tests {
    use crate::model::{LateralCompliance, Model, plain::plain_car};
    use crate::state::Placement;
    use crate::step::vehicle::CHASSIS_AT_ORIGIN;
    use crate::{Body, Controls, Coupling, Scene, State, Vec3, Vehicle};

    /// A body that is no number aborts the step. With stiffness k, damping c and no force, `y₁ = y₀ c / (c + k dt)` by implicit Euler.
    #[test]
    fn wheels_come_back_in_an_aborted_step_for_as_long_as_it_lasts() {
        const DT: f32 = 0.01;
        let mut parts = plain_car();
        // Each wheel has half.
        parts.axles[0].lateral_compliance = Some(LateralCompliance { rate: 2e5, damping: 1e4 });
        let model = Model::new(parts).expect("valid");
        let mut state = State::at_rest(&model, &Scene::flat(), &Placement::default());
        state.wheels[0].shift = 0.012;
        let mut car = Vehicle::new(model.into(), state);
        let broken = Body { velocity: Vec3::NAN, ..CHASSIS_AT_ORIGIN };
        let (_, report) = car.solve(&broken, &[None; 4], &[], &Controls::default(), Coupling::OneSweep, DT);
        assert!(report.not_finite);
        car.finish(&CHASSIS_AT_ORIGIN, DT);
        let shift = car.state().wheels[0].shift;
        assert!((shift - 0.01).abs() < 1e-8, "{shift} m");
    }
}
