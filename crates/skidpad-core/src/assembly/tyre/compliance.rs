//! Lateral compliance of axles: a spring and a damper between wheel and body, in series with the tyre carcass.
//!
//! A wheel without mass in the lateral direction is in equilibrium: the lateral tyre force is `F = K y + D ẏ`, where y
//! is the shift of the wheel to the left. The contact patch moves over the ground with the body, plus `ẏ`. The mean
//! force of a step, and the shift at the time `θ dt` after its start, determine the shift rate:
//!
//! ```text
//! ẏ = (F − K y₀) / (D + θ K dt)
//! ```
//!
//! The shift rate is linear in the impulse. The lateral tyre row therefore remains a row of the same form, with a
//! smaller gain, in every solver. A sliding patch has the same plastic speed as on a rigid axle.

use crate::model::wheel_pack::{LateralComplianceLanes, WheelPack};
use crate::state::WheelState;
use crate::vehicle::Vehicle;
use crate::vehicle::rows::WheelRows;
use skidpad_simd::lane::{F32x4, Lane};

/// Time at which the shift of a wheel on the ground is evaluated, as a fraction of the step.
const THETA_ON_GROUND: f32 = 0.5;

/// Time at which the shift of a wheel in the air is evaluated, as a fraction of the step. At the end of the step
/// (implicit Euler) the shift decays.
const THETA_IN_AIR: f32 = 1.0;

impl Vehicle {
    /// Reduces the gains of the lateral tyre rows of axles with lateral compliance, and adapts their target impulses.
    /// Does nothing for a model without compliant axles.
    #[inline(always)]
    pub(crate) fn apply_lateral_compliance(&mut self) {
        if self.model.has_lateral_compliance() {
            self.apply_lateral_compliance_to_all();
        }
    }

    /// Adapts the lateral rows of every group that has compliant axles.
    #[cold]
    #[inline(never)]
    fn apply_lateral_compliance_to_all(&mut self) {
        for (group, rows) in self.model.wheel_packs().iter().zip(&mut self.rows) {
            if let Some(compliance) = &group.lateral {
                rows.apply_lateral_compliance(group, &ShiftResponse::new(compliance, group, &self.state.wheels, rows));
            }
        }
    }

    /// Advances the lateral shift of compliant wheels by the solved tyre impulses, and subtracts their shift rate, as a
    /// constant sliding speed, from the deflection lines of their patches. Groups without lateral compliance are
    /// unchanged.
    #[cold]
    #[inline(never)]
    pub(crate) fn shift_wheels(&mut self) {
        let wheels = &mut self.state.wheels;
        for (group, rows) in self.model.wheel_packs().iter().zip(&mut self.rows) {
            let Some(compliance) = &group.lateral else { continue };
            let shift_rate =
                ShiftResponse::new(compliance, group, wheels, rows).shift_rate(rows.solution.tyre_impulse[1]);
            // The wheel shifts at a constant speed in the step.
            let speed_factor = rows.constant_speed_factor(group);
            let lateral_line = &mut rows.tyre.deflection_lines[1];
            lateral_line.intercept = lateral_line.intercept - lateral_line.per_speed * shift_rate * speed_factor;
            let shift_change = (shift_rate * F32x4::splat(rows.dt)).lanes();
            group.for_each_wheel(|lane, wheel| wheels[wheel].shift += shift_change[lane]);
        }
    }
}

/// Shift rate of wheels to the left: `per_impulse` (1/kg) times the impulse of the tyre, minus `return_rate` (m/s), the
/// return rate due to the spring.
struct ShiftResponse {
    /// Shift rate per lateral impulse of the tyre, 1/kg.
    per_impulse: F32x4,
    /// Shift rate back to the middle by the spring, m/s.
    return_rate: F32x4,
}

impl ShiftResponse {
    /// Computes the response of the wheels of a group at their present shifts, from `1 / (D + θ K dt)` per force. θ is
    /// [`THETA_ON_GROUND`] for active tyres, otherwise [`THETA_IN_AIR`]. Wheels without compliance do not respond.
    fn new(compliance: &LateralComplianceLanes, group: &WheelPack, wheels: &[WheelState], rows: &WheelRows) -> Self {
        let dt = F32x4::splat(rows.dt);
        let theta = F32x4::select(rows.tyre.active, F32x4::splat(THETA_ON_GROUND), F32x4::splat(THETA_IN_AIR));
        // `compliant` is 1 for wheels with compliance, otherwise 0.
        let rate_per_force = compliance.compliant / (compliance.damping + compliance.rate * dt * theta);
        Self {
            per_impulse: rate_per_force / dt,
            return_rate: rate_per_force * compliance.rate * group.gather(|i| wheels[i].shift),
        }
    }

    /// Returns the shift rate to the left under the lateral tyre `impulse` (N s), m/s.
    fn shift_rate(&self, impulse: F32x4) -> F32x4 {
        self.per_impulse * impulse - self.return_rate
    }

    /// Returns the target impulse (N s) and the gain (kg) of a lateral row whose wheel shifts throughout the step. With
    /// the shift rate q per impulse and `g = gain · speed_factor`, both are divided by `1 + g q`. Before that, the
    /// target grows by g times the return rate. `speed_factor` is the effect of a constant speed on the patch, over the
    /// effect that the gain assumes for the speed at the end of the step.
    fn compliant_row(&self, target_impulse: F32x4, gain: F32x4, speed_factor: F32x4) -> (F32x4, F32x4) {
        let shift_gain = gain * speed_factor;
        let share = F32x4::splat(1.0) / (F32x4::splat(1.0) + shift_gain * self.per_impulse);
        ((target_impulse + shift_gain * self.return_rate) * share, gain * share)
    }
}

impl WheelRows {
    /// Returns the lateral deflection due to a constant speed over the deflection due to the same speed at the end of
    /// the step only: 2 for a rolling patch (trapezoidal rule), 1 for a standing one (implicit Euler).
    fn constant_speed_factor(&self, group: &WheelPack) -> F32x4 {
        F32x4::splat(1.0) / (F32x4::splat(1.0) - F32x4::splat(0.5) * self.integration_share(group))
    }

    /// Replaces target impulse and gain of the lateral row, and those of its straight row (for a slip that vanishes
    /// within the step), by the values for a wheel that shifts by `shift_response`.
    fn apply_lateral_compliance(&mut self, group: &WheelPack, shift_response: &ShiftResponse) {
        let speed_factor = self.constant_speed_factor(group);
        let tyre = &mut self.tyre;
        (tyre.target_impulse[1], tyre.gain[1]) =
            shift_response.compliant_row(tyre.target_impulse[1], tyre.gain[1], speed_factor);
        (tyre.straight_target[1], tyre.straight_gain[1]) =
            shift_response.compliant_row(tyre.straight_target[1], tyre.straight_gain[1], speed_factor);
    }
}

#[cfg(test)]
mod tests {
    use crate::coupling::{CarRows, RowSolver, Velocities};
    use crate::model::{LateralCompliance, Model, plain::plain_car};
    use crate::state::Placement;
    use crate::{ChassisState, Controls, Scene, State, StepReport, Vec3, Vehicle};

    /// Solver that leaves the rows as they are.
    #[derive(Debug)]
    struct NoSolver;

    impl RowSolver for NoSolver {
        fn solve(&self, _: &mut CarRows<'_>, _: &Velocities) -> StepReport {
            StepReport::SINGLE_PASS
        }
    }

    /// Checks that shifts decay in a step that is aborted by a NaN velocity of the body, and that the report says so.
    /// For stiffness k, damping c and no force, implicit Euler results in `y₁ = y₀ c / (c + k dt)`, here 0.012 · 5/6 =
    /// 0.010 m.
    #[test]
    fn wheels_come_back_in_an_aborted_step_for_as_long_as_it_lasts() {
        const DT_S: f32 = 0.01;
        let mut parts = plain_car();
        // Rate and damping of the axle, of which each wheel has half.
        parts.axles[0].lateral_compliance = Some(LateralCompliance { rate: 2e5, damping: 1e4 });
        let model = Model::new(parts).expect("valid");
        let mut state = State::at_rest(&model, &Scene::flat(), &Placement::default());
        state.wheels[0].shift = 0.012;
        let mut car = Vehicle::new(model.into(), state);
        let broken = ChassisState { velocity: Vec3::NAN, ..ChassisState::AT_ORIGIN };
        // Without contacts and without points of the hull.
        let (_, report) = car.solve(&broken, &[None; 4], &[], &Controls::default(), &NoSolver, DT_S);
        assert!(report.not_finite);
        car.finish(&ChassisState::AT_ORIGIN, DT_S);
        let shift = car.state().wheels[0].shift;
        assert!((shift - 0.01).abs() < 1e-8, "{shift} m");
    }
}
