//! Axles that give way sideways: a spring and a damper between wheel and body, in series with the carcass of the tyre.
//!
//! A wheel without mass of its own across is where the side force F of its tyre balances both: `F = K y + D ẏ`, y being how far it has
//! shifted to the left. Its patch moves over the ground with the body and by `ẏ` on top. By implicit Euler,
//!
//! ```text
//! ẏ = (F − K y₀) / (D + K dt)
//! ```
//!
//! is linear in the impulse, so that the row of a tyre across stays a row, only softer, whatever solves it. A patch that slides takes as
//! much of the speed on this row as on that of a rigid axle.

use crate::lane::{Four, Lane};
use crate::state::WheelState;
use crate::step::rows::Rows;
use crate::step::vehicle::Vehicle;
use crate::wheel::pack::{Lateral, WheelPack};

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
                rows.soften(&Giving::of(lateral, bank, &self.state.wheels, rows.dt));
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
            let rate = Giving::of(lateral, bank, wheels, rows.dt).rate(rows.coupled.tyre[1]);
            let across = &mut rows.tyre.drift[1];
            across.kept = across.at(rate);
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
    fn of(lateral: &Lateral, bank: &WheelPack, wheels: &[WheelState], dt: f32) -> Self {
        let step = Four::splat(dt);
        let answer = lateral.gives / (lateral.damping + lateral.rate * step);
        Self { per_impulse: answer / step, back: answer * lateral.rate * bank.gather(|i| wheels[i].shift) }
    }

    /// m/s
    fn rate(&self, impulse: Four) -> Four {
        self.per_impulse * impulse - self.back
    }

    /// What a row across becomes.
    fn softened(&self, target_impulse: Four, gain: Four) -> (Four, Four) {
        let share = Four::splat(1.0) / (Four::splat(1.0) + gain * self.per_impulse);
        ((target_impulse + gain * self.back) * share, gain * share)
    }
}

impl Rows {
    fn soften(&mut self, giving: &Giving) {
        let tyre = &mut self.tyre;
        (tyre.target_impulse[1], tyre.gain[1]) = giving.softened(tyre.target_impulse[1], tyre.gain[1]);
        (tyre.straight_target[1], tyre.straight_gain[1]) =
            giving.softened(tyre.straight_target[1], tyre.straight_gain[1]);
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
