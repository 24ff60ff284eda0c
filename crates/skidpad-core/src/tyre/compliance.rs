//! Lateral compliance of axles: a spring and a damper between wheel and body, in series with the tyre carcass.
//!
//! A wheel without mass in the lateral direction is in equilibrium: the lateral tyre force is `F = K y + D ẏ`, where y
//! is the shift of the wheel to the left. The contact patch moves over the ground with the body, plus `ẏ`. The mean force
//! of a step, and the shift at the time `θ dt` after its start, determine the shift rate:
//!
//! ```text
//! ẏ = (F − K y₀) / (D + θ K dt)
//! ```
//!
//! The shift rate is linear in the impulse. The lateral tyre row therefore remains a row of the same form, with a
//! smaller gain, in every solver. A sliding patch has the same plastic speed as on a rigid axle.

use crate::lane::{Four, Lane};
use crate::state::WheelState;
use crate::step::rows::Rows;
use crate::step::vehicle::Vehicle;
use crate::wheel::pack::{Lateral, WheelPack};

/// Time at which the shift of a wheel on the ground is evaluated, as a fraction of the step.
const THETA_ON_GROUND: f32 = 0.5;

/// Time at which the shift of a wheel in the air is evaluated, as a fraction of the step. At the end of the step
/// (implicit Euler) the shift decays.
const THETA_IN_AIR: f32 = 1.0;

impl Vehicle {
    /// Reduces the gains of the lateral tyre rows of axles with lateral compliance, and adapts their target impulses.
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

    /// Advances the lateral shift of compliant wheels by the solved tyre impulses, and adds it to the drift of their
    /// patches.
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

/// Shift rate of wheels to the left: `per_impulse` (1/kg) times the impulse of the tyre, minus `back` (m/s), the return
/// rate due to the spring.
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

    /// Returns the shift rate to the left under the lateral tyre `impulse` (N s), m/s.
    fn rate(&self, impulse: Four) -> Four {
        self.per_impulse * impulse - self.back
    }

    /// Returns the target impulse and the gain of a lateral row whose wheel shifts throughout the step. `throughout` is
    /// the effect of a constant speed on the patch over the effect that the gain assumes for the speed at the end of
    /// the step.
    fn softened(&self, target_impulse: Four, gain: Four, throughout: Four) -> (Four, Four) {
        let shift_gain = gain * throughout;
        let share = Four::splat(1.0) / (Four::splat(1.0) + shift_gain * self.per_impulse);
        ((target_impulse + shift_gain * self.back) * share, gain * share)
    }
}

impl Rows {
    /// Returns the lateral deflection due to a constant speed over the deflection due to the same speed at the end of
    /// the step only.
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

    /// Checks that shifts decay in a step that is aborted by a NaN velocity of the body. With stiffness k, damping c
    /// and no force, implicit Euler results in `y₁ = y₀ c / (c + k dt)`.
    #[test]
    fn wheels_come_back_in_an_aborted_step_for_as_long_as_it_lasts() {
        const DT: f32 = 0.01;
        let mut parts = plain_car();
        // Rate and damping of the axle, of which each wheel has half.
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
