//! Solution of a lone clutch between engine and wheels, the usual case: of one car or of a batch of cars.

use crate::assembly::drivetrain::shaft_solver::ShaftSolver;
use crate::drivetrain::rows::Shafts;
use crate::model::wheel_pack::WheelPack;
use crate::vehicle::rows::WheelRows;
use skidpad_simd::lane::WheelLanes;

/// Maximum number of Newton passes. Their steps are not shortened.
const MAX_CLUTCH_ITERATIONS: usize = 3;

impl Shafts {
    /// Returns whether no row can carry an impulse: all bounds are 0 and no row is viscous. True without rows.
    #[inline(always)]
    pub(crate) fn are_open(&self) -> bool {
        self.constraints[..self.row_count].iter().all(|row| row.bounds == [0.0; 2] && row.viscous == 0.0)
    }

    /// Returns whether the only row is a clutch (or the closed lock-up of a converter), without the dry friction of a
    /// dead engine: the engine runs or is cranked by the starter.
    #[inline(always)]
    pub(crate) fn is_lone_clutch(&self) -> bool {
        let row = &self.constraints[0];
        self.engine.is_some() && self.row_count == 1 && !row.is_converter && row.dry_drag == 0.0
    }

    /// Runs one Newton pass of a lone clutch and stores its impulse: the one at which it holds, or, if that is out of
    /// bounds, the result of [`Self::slipping_impulse`]. `shaft_speed`: speed of the shaft by its wheels, rad/s;
    /// `response`: its change per impulse on the wheels, 1/(kg m²). Returns the change of the impulse on the wheels, N
    /// m s, which the caller applies, and whether the clutch's change is within tolerance.
    #[inline(always)]
    pub(crate) fn iterate_clutch(&mut self, [shaft_speed, response]: [f32; 2]) -> (f32, bool) {
        let row = &self.constraints[0];
        let old_impulse = row.impulse;
        // From the propeller shaft to the clutch, by the gear ratio and the losses.
        let (speed, response) = (shaft_speed * row.ratio, response * (row.ratio * row.torque_ratio(old_impulse)));
        let new_impulse =
            row.holding_impulse(speed, response).unwrap_or_else(|| self.slipping_impulse(speed, response));
        let row = &mut self.constraints[0];
        let change = row.shaft_impulse(new_impulse) - row.shaft_impulse(old_impulse);
        row.impulse = new_impulse;
        (change, row.has_converged([old_impulse, new_impulse], self.impulse_bounds))
    }

    /// Returns the impulse of a clutch that may begin or cease to slip, N m s: a Newton step of the general solver,
    /// which searches the consistent regime. `speed`: speed of the row at its present impulse, rad/s; `response`: its
    /// change per impulse, 1/(kg m²). The row itself is not changed.
    #[inline(never)]
    pub(crate) fn slipping_impulse(&mut self, speed: f32, response: f32) -> f32 {
        let mut solver = ShaftSolver::<1>::new(self);
        (solver.speeds, solver.responses) = ([speed], [[response]]);
        let [impulse] = solver.newton_step();
        impulse
    }
}

/// Solves lone clutches (each the only row of its car) of one car or of a batch, with wheels by their longitudinal tyre
/// rows. Each of at most [`MAX_CLUTCH_ITERATIONS`] Newton passes evaluates the shafts, calls `iterate`, and adds the
/// changes to the wheels' shaft impulses.
///
/// `iterate` takes the shaft speeds (rad/s) and their changes per impulse (1/(kg m²)). It returns the changes of the
/// impulses on the wheels, N m s, and whether all clutches have converged. Returns whether all clutches converged in
/// time; the impulses stay applied in either case.
#[inline(always)]
pub(crate) fn solve_lone_clutches<W: WheelLanes>(
    groups: &[WheelPack<W>],
    rows: &mut [WheelRows<W>],
    mut iterate: impl FnMut([W::Car; 2]) -> (W::Car, bool),
) -> bool {
    for _ in 0..MAX_CLUTCH_ITERATIONS {
        // Measure: shaft speeds, and their changes per impulse.
        let mut measured = [W::Car::default(); 2];
        // Each chunk has the rows of two axles.
        for (groups, rows) in groups.chunks(W::ROWS_PER_AXLE_PAIR).zip(rows.chunks(W::ROWS_PER_AXLE_PAIR)) {
            let [shaft_speed, response, ..] = W::sum_four_over_wheels(
                #[inline(always)]
                |k| {
                    let (lever, (spin, response)) =
                        (groups[k].shaft_jacobian[0], rows[k].spin_and_response(&groups[k]));
                    // The function sums four numbers per wheel; two are not used.
                    [lever * spin, lever * lever * response, W::default(), W::default()]
                },
            );
            measured = [measured[0] + shaft_speed, measured[1] + response];
        }
        // Iterate, and apply the changes to the wheels.
        let (change, is_converged) = iterate(measured);
        for (group, rows) in groups.iter().zip(&mut *rows) {
            rows.drive.shaft += group.shaft_jacobian[0] * W::broadcast_car(change);
        }
        if is_converged {
            return true;
        }
    }
    false
}

impl<W: WheelLanes> WheelRows<W> {
    /// Returns the spins of the wheels under their present shaft impulse, rad/s, and the change of the spins per
    /// further impulse, 1/(kg m²). The tyres grip within their friction bounds, and brakes can lock the wheels. The
    /// lateral tyre row is left out, which is accurate enough for shafts. Nothing is stored.
    ///
    /// The longitudinal row is the tangent to the force curve at the start of the step. In degressive lanes, the row
    /// for slips that vanish within the step (`straight_target`, `straight_gain`) replaces the tangent if it gives less
    /// force.
    #[inline(always)]
    pub(crate) fn spin_and_response(&self, group: &WheelPack<W>) -> (W, W) {
        // Row of the tangent to the force curve.
        let tangent = self.solve_spin(group, self.tyre.target_impulse[0], self.tyre.gain[0]);
        if !W::any(self.tyre.degressive) {
            return (tangent.spin, tangent.response);
        }
        let straight_row = self.solve_spin(group, self.tyre.straight_target[0], self.tyre.straight_gain[0]);
        // Products with the target impulse compare magnitudes in its direction.
        let is_tangent_larger = (straight_row.tyre_impulse * self.tyre.target_impulse[0])
            .less(tangent.tyre_impulse * self.tyre.target_impulse[0])
            & self.tyre.degressive;
        (
            W::select(is_tangent_larger, straight_row.spin, tangent.spin),
            W::select(is_tangent_larger, straight_row.response, tangent.response),
        )
    }

    /// Returns spin, change of the spin per angular impulse, and tyre impulse of wheels for a longitudinal tyre row of
    /// `target_impulse` (N s) and `gain` (kg). Solves `I ω = p − R x` with `x = target − gain (v + c x − R ω)` for the
    /// spin ω and the tyre impulse x. p is the angular momentum of wheel and driveline. v is the speed of the patch
    /// without spin (`effective_mass.speed[0]`), and c its change per tyre impulse (`effective_mass.compliance[0]`).
    ///
    /// Brakes and rolling resistance slow the wheel, at most to a lock. A wheel whose x exceeds its friction bound
    /// slides: x is then constant at the bound, so that the tyre does not respond.
    #[inline(always)]
    fn solve_spin(&self, group: &WheelPack<W>, target_impulse: W, gain: W) -> WheelSpin<W> {
        let momentum = self.drive.momentum + self.drive.shaft;
        let (radius, inertia) = (group.radius, group.spin_inertia);
        // 1 + gain · c: the tyre's impulse changes the speed of the patch.
        let divisor = W::splat(1.0) + gain * self.solution.effective_mass.compliance[0];
        // Tyre impulse of a locked wheel, N s, and its increase per spin, N s².
        let locked_impulse = (target_impulse - gain * self.solution.effective_mass.speed[0]) / divisor;
        let impulse_per_spin = gain * radius / divisor;
        let friction_bound = self.solution.friction_bound[0];
        let (spin, response) = spin_with_locking(
            momentum - radius * locked_impulse,
            self.tyre.locking_capacity,
            inertia + radius * impulse_per_spin,
        );
        // Tyre impulse of a wheel that does not slide, N s.
        let sticking_impulse = locked_impulse + impulse_per_spin * spin;
        let is_sliding = friction_bound.less(sticking_impulse.abs());
        if !W::any(is_sliding & group.present_mask()) {
            return WheelSpin { spin, response, tyre_impulse: sticking_impulse };
        }
        // Spin (`.0`) and response (`.1`) with a constant tyre impulse.
        let sliding_motion = spin_with_locking(
            momentum - radius * sticking_impulse.clamp_nan_to_low(-friction_bound, friction_bound),
            self.tyre.locking_capacity,
            inertia,
        );
        WheelSpin {
            spin: W::select(is_sliding, sliding_motion.0, spin),
            response: W::select(is_sliding, sliding_motion.1, response),
            tyre_impulse: sticking_impulse.clamp_nan_to_low(-friction_bound, friction_bound),
        }
    }
}

/// Motion of wheels under their shafts: spin, rad/s; its change per angular impulse, 1/(kg m²); longitudinal impulse of
/// the tyre, N s.
struct WheelSpin<W: WheelLanes> {
    /// Spin, rad/s.
    spin: W,
    /// Change of the spin per angular impulse, 1/(kg m²); 0 for a locked wheel.
    response: W,
    /// Longitudinal impulse of the tyre, N s.
    tyre_impulse: W,
}

/// Returns spin (rad/s) and its change per angular impulse (1/(kg m²)) of wheels with angular `momentum` p (N m s) and
/// effective `inertia` I: `(|p| − locking_capacity) / I` with the sign of p. Both are 0 where the brakes, which can
/// absorb `locking_capacity` N m s, lock the wheel.
#[inline(always)]
fn spin_with_locking<W: WheelLanes>(momentum: W, locking_capacity: W, inertia: W) -> (W, W) {
    let is_turning = locking_capacity.less(momentum.abs());
    let spin = (momentum - locking_capacity.times_sign_of(momentum)) / inertia;
    (spin.masked(is_turning), (W::splat(1.0) / inertia).masked(is_turning))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drivetrain::constraints::{DriveConstraint, Flywheel};

    /// Checks that flywheels of J and 1 / A reach a common speed by `(ω_1 − ω_2) / (1 / J + A)`, and that a weaker
    /// clutch slips at its capacity. The first pass changes the impulse and has not converged, a second one at the new
    /// speed changes nothing and has converged.
    #[test]
    fn a_clutch_makes_both_sides_turn_alike_or_slips_at_its_capacity() {
        for (capacity, impulse) in [(100.0, 30.0), (20.0, 20.0)] {
            let flywheel = Flywheel { speed: 200.0, inverse_inertia: 4.0, ..Flywheel::default() };
            // Ratio and efficiency 1, no impulse in the last step.
            let row = DriveConstraint::clutch(&flywheel, 1.0, 1.0, capacity, 0.0);
            let mut shafts =
                Shafts { constraints: [row].into(), row_count: 1, engine: Some(flywheel), ..Shafts::default() };
            assert!(shafts.is_lone_clutch() && !shafts.are_open());
            let (change, is_converged) = shafts.iterate_clutch([50.0, 1.0]); // rad/s, 1/(kg m²)
            assert_eq!((change, is_converged), (impulse, false), "{capacity} N m s");
            let (change, is_converged) = shafts.iterate_clutch([50.0 + impulse, 1.0]);
            assert_eq!((change, is_converged), (0.0, true), "{capacity} N m s");
        }
    }
}
