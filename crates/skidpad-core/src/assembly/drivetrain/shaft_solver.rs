//! Joint solution of the drivetrain's rows, with the wheels that respond to them.
//!
//! A row is one scalar constraint between the spins of wheels and shafts: a clutch or converter, a motor, or a
//! coupling. Its law is the linear equation `per_impulse · impulse + per_speed · speed = right side` within its bounds;
//! outside them it slips. A lever is an entry of the row's Jacobian: speed of the row per spin of a wheel. The wheels
//! respond linearly until one begins or ceases to slide or to lock: a Newton step solves all rows, the next pass
//! checks.

use crate::assembly::drivetrain::traction_limits::converter;
use crate::drivetrain::constraints::{DriveConstraint, Regime, limit_slope};
use crate::drivetrain::rows::Shafts;
use crate::impulse_bounds::ImpulseBounds;
use crate::model::Model;
use crate::model::wheel_pack::WheelPack;
use crate::state::DriveState;
use crate::vehicle::rows::WheelRows;
use skidpad_simd::lane::WheelLanes;

/// Maximum number of Newton passes.
const MAX_NEWTON_ITERATIONS: usize = 16;

/// Maximum number of Newton passes from the impulses of the last step.
const MAX_WARM_START_ITERATIONS: usize = 2;

/// Number of passes that limit unsettled motors to their peak torque.
const MOTOR_BOUND_PASSES: usize = 4;

/// Number of passes that update the bounds of couplings. Constant bounds then leave a convex problem.
const BOUND_UPDATE_ITERATIONS: usize = 8;

/// Largest slope accepted at the end of a step, as a share of the opposite slope at its start. Longer steps are cut.
const MAX_OVERSHOOT_RATIO: f32 = 0.5;

/// Maximum number of cuts of a step that is too long.
const MAX_STEP_CUTS: usize = 10;
/// Least share of the remaining range that a cut removes from either end.
const MIN_CUT_SHARE: f32 = 0.05;

/// Tolerance of a row's speed with wheel blocks: a share of the fastest wheel's speed, plus rad/s.
const BLOCK_SPEED_TOLERANCE: [f32; 2] = [2e-4, 1e-3];

/// Change of the turbine's speed for the difference quotient of its torque, as a share of the speeds.
const CONVERTER_PROBE_SHARE: f32 = 0.01;

/// Regularisation of rigid rows, as a share of their own response: redundant rows would make the matrix singular.
const RIGID_REGULARISATION: f32 = 1e-4;

/// Model of the wheels' response to the shafts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WheelResponse {
    /// Longitudinal tyre row alone: sufficient for a clutch.
    TyreRowOnly,
    /// Wheel blocks: spin and both tyre rows together. Couplings need them, as sliding wheels turn torque into speed.
    Blocks,
}

/// Results of the last step.
#[derive(Clone, Copy)]
pub(crate) struct LastStep<'a> {
    /// State of the drivetrain after that step, with its mean torques.
    pub drive: &'a DriveState,
    /// Forward speed that the car gained, m/s.
    pub speed_gain: f32,
}

impl LastStep<'_> {
    /// Returns the impulse that motor `k` gives its gearing in a step of `dt` s like the last one, N m s: `dt T − J
    /// ΔΩ`, with the rotor's last torque T, and its gain of momentum J ΔΩ while the car gained `speed_gain`.
    #[inline(always)]
    fn motor_impulse(&self, model: &Model, k: usize, dt: f32) -> f32 {
        dt * self.drive.motors[k] - model.rotor_momentum()[k] * self.speed_gain
    }
}

/// Largest number of rows that is solved by loops of constant length.
pub(crate) const MAX_UNROLLED_ROWS: usize = 4;

/// Rows between spins during a solve: exactly `MAX_ROWS`, or at most `MAX_ROWS` if that is above [`MAX_UNROLLED_ROWS`].
pub(crate) struct ShaftSolver<'a, const MAX_ROWS: usize> {
    shafts: &'a mut Shafts,
    /// Speeds of the rows under the present impulses, rad/s.
    pub speeds: [f32; MAX_ROWS],
    /// Change of each row's speed per impulse of each row, 1/(kg m²).
    pub responses: [[f32; MAX_ROWS]; MAX_ROWS],
    /// Impulse of every row before its last change, and that change, N m s.
    changes: [[f32; 2]; MAX_ROWS],
    /// Workspace of the elimination.
    matrix: [[f32; MAX_ROWS]; MAX_ROWS],
}

impl<'a, const MAX_ROWS: usize> ShaftSolver<'a, MAX_ROWS> {
    /// Builds a solver for the rows of `shafts`. All speeds and responses are 0 until the wheels are evaluated.
    #[inline(always)]
    pub(crate) fn new(shafts: &'a mut Shafts) -> Self {
        let square = [[0.0; MAX_ROWS]; MAX_ROWS];
        Self { shafts, speeds: [0.0; MAX_ROWS], responses: square, changes: [[0.0; 2]; MAX_ROWS], matrix: square }
    }

    /// Returns the number of rows, a constant up to [`MAX_UNROLLED_ROWS`].
    #[inline(always)]
    fn count(&self) -> usize {
        if MAX_ROWS <= MAX_UNROLLED_ROWS { MAX_ROWS } else { self.shafts.row_count }
    }

    /// Sets the equation of the converter's row (row 0) to the tangent of its impulse at the present turbine speed ω:
    /// `impulse = dt (T + T′ (ω* − ω))`. T is the turbine torque at the impeller speed that balances the engine, T′ its
    /// difference quotient, limited by [`limit_slope`]. Does nothing without engine or converter.
    fn linearise_converter(&mut self, model: &Model) {
        let (Some(engine), Some(converter)) = (self.shafts.engine, converter(model)) else { return };
        let speed = self.speeds[0];
        let torque_at = |speed: f32| converter.torques(self.shafts.impeller_speed(converter, &engine, speed), speed)[1];
        // Torque at the present speed, and a slightly higher speed.
        let (torque, probe_speed) = (torque_at(speed), speed + CONVERTER_PROBE_SHARE * (speed.abs() + engine.speed));
        let slope = limit_slope(
            (torque_at(probe_speed) - torque) / (probe_speed - speed).max(f32::MIN_POSITIVE),
            torque,
            speed.abs() + engine.speed,
        );
        let row = &mut self.shafts.constraints[0];
        row.per_speed = -self.shafts.dt * slope;
        row.right_hand_side = self.shafts.dt * (torque - slope * speed);
    }

    /// Runs Newton's method on the impulses of all rows, from their present values, with wheels as in `wheel_model`.
    /// Returns whether it converged: with [`WheelResponse::TyreRowOnly`] if the change of each impulse is within its
    /// tolerance, with [`WheelResponse::Blocks`] if all rows satisfy their laws. The last iterate is kept either way.
    ///
    /// Each of up to [`MAX_NEWTON_ITERATIONS`] passes updates the bounds of couplings (in the first
    /// [`BOUND_UPDATE_ITERATIONS`]), takes a Newton step, evaluates the wheels, and shortens the step if it overshot.
    /// The rows minimise a convex function of their impulses, minus the work they absorb. Shorter steps add no energy.
    pub(crate) fn solve_newton(&mut self, model: &Model, rows: &mut [WheelRows], wheel_model: WheelResponse) -> bool {
        self.evaluate(model, rows, wheel_model);
        let has_couplings = !model.parts().couplings.is_empty();
        for iteration in 0..MAX_NEWTON_ITERATIONS {
            if has_couplings
                && iteration < BOUND_UPDATE_ITERATIONS
                && let Some(changes) = self.bound_couplings(model)
            {
                apply_shaft_changes(model.wheel_packs(), rows, &changes);
                self.evaluate(model, rows, wheel_model);
            }
            if wheel_model == WheelResponse::Blocks && self.satisfies_laws(rows) {
                return true;
            }
            let new_impulses = self.newton_step();
            // Blocks converge by `satisfies_laws` alone.
            let mut converged = wheel_model == WheelResponse::TyreRowOnly;
            for (i, &new_impulse) in new_impulses[..self.count()].iter().enumerate() {
                let old_impulse = self.shafts.constraints[i].impulse;
                self.shafts.set_row_impulse(model, rows, i, new_impulse);
                converged &=
                    self.shafts.constraints[i].has_converged([old_impulse, new_impulse], self.shafts.impulse_bounds);
                self.changes[i] = [old_impulse, new_impulse - old_impulse];
            }
            if converged {
                return true;
            }
            // Slope at the start of the step, with the speeds evaluated there.
            let start_slope = self.objective_slope(0.0);
            self.evaluate(model, rows, wheel_model);
            self.cut_overshoot(model, rows, wheel_model, start_slope);
        }
        false
    }

    /// Limits the motors of a solve that did not converge, which may leave any impulse. The torque of each motor
    /// becomes at most ± its peak torque; the impulse that its rotor gives off as it slows down is added. Evaluates the
    /// wheels again after each of [`MOTOR_BOUND_PASSES`] passes, because the rotor's part depends on their speeds.
    #[cold]
    pub(crate) fn bound_motors(&mut self, model: &Model, rows: &mut [WheelRows], wheel_model: WheelResponse) {
        let [first_motor, _] = self.shafts.first_rows(model);
        for _ in 0..MOTOR_BOUND_PASSES {
            for (k, motor) in model.parts().motors.iter().enumerate() {
                let (row, speed) = (&self.shafts.constraints[first_motor + k], self.speeds[first_motor + k]);
                // Impulse given off by the rotor as it slows down, N m s.
                let rotor_impulse = motor.inertia * (self.shafts.motors[k].rotor_speed - speed);
                let max_impulse = self.shafts.dt * motor.peak_torque;
                let impulse = rotor_impulse + (row.impulse - rotor_impulse).clamp(-max_impulse, max_impulse);
                self.shafts.set_row_impulse(model, rows, first_motor + k, impulse);
            }
            self.evaluate(model, rows, wheel_model);
        }
    }

    /// Evaluates the speeds of the rows under their present impulses, and linearises converter and motors there.
    #[inline(never)]
    fn evaluate(&mut self, model: &Model, rows: &mut [WheelRows], wheel_model: WheelResponse) {
        self.evaluate_inline(model, rows, wheel_model);
    }

    /// Evaluates the rows like `evaluate`, inlined into the caller.
    #[inline(always)]
    fn evaluate_inline(&mut self, model: &Model, rows: &mut [WheelRows], wheel_model: WheelResponse) {
        let wheels = evaluate_wheels(model.wheel_packs(), rows, wheel_model, self.shafts.impulse_bounds, self.count());
        self.store_wheel_response(model, &wheels);
    }

    /// Stores speeds and responses of the rows from those of the wheels: speed times ratio, and response times the
    /// ratio of one row and the torque ratio of the other. Then linearises converter and motors at these speeds.
    #[inline(always)]
    fn store_wheel_response(&mut self, model: &Model, wheel_response: &WheelRowResponse<f32, MAX_ROWS>) {
        let row_count = self.count();
        for i in 0..row_count {
            let row = &self.shafts.constraints[i];
            self.speeds[i] = wheel_response.speeds[i] * row.ratio;
            for j in 0..row_count {
                let other_row = &self.shafts.constraints[j];
                // The matrix is symmetric; only its lower half is evaluated.
                let response = wheel_response.responses[i.max(j)][i.min(j)];
                self.responses[i][j] = response * (row.ratio * other_row.torque_ratio(other_row.impulse));
            }
        }
        if self.shafts.constraints[0].is_converter {
            self.linearise_converter(model);
        }
        if !model.parts().motors.is_empty() {
            self.linearise_motors(model);
        }
    }

    /// Returns the slope of the minimised function along the last change of the impulses, with `share` (0 to 1) of it
    /// applied, W s: the sum of each row's change on the wheels times its excess speed, at the last evaluated speeds.
    fn objective_slope(&self, share: f32) -> f32 {
        let slope = |(row, ([start_impulse, change], speed)): (&DriveConstraint, (&[f32; 2], &f32))| {
            let impulse = start_impulse + share * change;
            // Change on the wheels over the ratio: includes losses.
            let wheel_change = if *change == 0.0 { 0.0 } else { row.torque_ratio(impulse) / row.ratio * change };
            wheel_change * row.speed_excess(impulse, *speed)
        };
        self.shafts.constraints[..self.count()].iter().zip(self.changes.iter().zip(&self.speeds)).map(slope).sum()
    }

    /// Shortens the last change of the impulses if the slope at its end exceeds [`MAX_OVERSHOOT_RATIO`] of the opposite
    /// slope at its start, `start_slope` (≤ 0). False position searches the share of the change at which the slope is
    /// small, and evaluates the wheels each time. After [`MAX_STEP_CUTS`] cuts, or if `start_slope` is not negative,
    /// the largest share known to be before the minimum is applied (at first 0).
    #[cold]
    #[inline(never)]
    fn cut_overshoot(&mut self, model: &Model, rows: &mut [WheelRows], wheel_model: WheelResponse, start_slope: f32) {
        let slope_tolerance = -MAX_OVERSHOOT_RATIO * start_slope;
        // [share of the change, slope there], before and behind the minimum.
        let (mut low, mut high) = ([0.0, start_slope], [1.0, self.objective_slope(1.0)]);
        if high[1] <= slope_tolerance.max(0.0) {
            return;
        }
        for cut in 0..=MAX_STEP_CUTS {
            let width = high[0] - low[0];
            let cut_fraction = (low[1] / (low[1] - high[1])).clamp(MIN_CUT_SHARE, 1.0 - MIN_CUT_SHARE);
            // Fall back to the lower end.
            let share = if cut == MAX_STEP_CUTS || start_slope >= 0.0 { low[0] } else { low[0] + width * cut_fraction };
            for i in 0..self.count() {
                let [start_impulse, change] = self.changes[i];
                self.shafts.set_row_impulse(model, rows, i, start_impulse + share * change);
            }
            self.evaluate(model, rows, wheel_model);
            let slope = self.objective_slope(share);
            if slope.abs() <= slope_tolerance || share == low[0] {
                return;
            }
            if slope > 0.0 { high = [share, slope] } else { low = [share, slope] }
        }
    }

    /// Returns whether every row satisfies its equation, for wheels last evaluated as blocks. Each impulse must be
    /// within its bounds, to the row's tolerance (not checked for viscous rows). The speed must agree to
    /// [`BLOCK_SPEED_TOLERANCE`]; a slipping row may be faster at its lower bound and slower at its upper bound.
    fn satisfies_laws(&self, rows: &[WheelRows]) -> bool {
        let [relative_speed, absolute_speed] = BLOCK_SPEED_TOLERANCE;
        // Factor of all tolerances; 1 in a single sweep, less in an iteration.
        let factor = self.shafts.impulse_bounds.inner_tolerance_factor();
        let fastest_spin = rows.iter().flat_map(|rows| rows.solution.spin.lanes()).fold(0.0f32, |a, b| a.max(b.abs()));
        let tolerance = factor * (relative_speed * fastest_spin + absolute_speed);
        self.shafts.constraints[..self.count()].iter().zip(&self.speeds).all(|(row, &speed)| {
            let [[lower, upper], [relative, absolute]] = [row.bounds, row.tolerance];
            // Impulse outside the bounds, N m s.
            let bound_excess = row.impulse - row.impulse.max(lower).min(upper);
            let in_bounds =
                row.viscous > 0.0 || bound_excess.abs() <= factor * (relative * row.impulse.abs() + absolute);
            let excess = row.speed_excess(row.impulse, speed) / row.ratio.abs().max(1.0);
            in_bounds && (excess <= tolerance || row.impulse <= lower) && (excess >= -tolerance || row.impulse >= upper)
        })
    }

    /// Sets the equation of every motor's row to rotor and torque at its present speed ω*: `impulse = J (ω₀ − ω) + dt
    /// (T + T′ (ω − ω*))`, with the rotor speed ω₀ at the start of the step. T follows from the pedals. If assists
    /// limit motors in this step, they change T, and the changes are stored. T′ is limited by [`limit_slope`].
    #[inline(always)]
    fn linearise_motors(&mut self, model: &Model) {
        let (pedals, dt, [first_motor, _]) = (self.shafts.pedal_demand, self.shafts.dt, self.shafts.first_rows(model));
        for (k, motor) in model.parts().motors.iter().enumerate() {
            let speed = self.speeds[first_motor + k];
            let demand = pedals.motor_torque(motor, speed);
            let is_limited = self.shafts.limited_by.is_some();
            let step = &mut self.shafts.motors[k];
            let (torque, slope) =
                if is_limited { step.limits.apply(motor, speed * pedals.direction, demand) } else { demand };
            // Angular momentum of the rotor at the start of the step, N m s.
            let initial_momentum = motor.inertia * step.rotor_speed;
            let slope = limit_slope(slope, torque, motor.max_speed);
            let row = &mut self.shafts.constraints[first_motor + k];
            row.per_speed = motor.inertia - dt * slope;
            row.right_hand_side = initial_momentum + dt * (torque * pedals.direction - slope * speed);
        }
    }

    /// Sets the bounds of torque-sensing couplings (a bias other than 1) to their capacity at the torque that all rows
    /// drive through them. An impulse beyond its new bounds becomes the bound; viscous rows keep it. Returns the
    /// changes on the wheels by row, N m s, for the caller to apply before the next evaluation; `None` if unchanged.
    fn bound_couplings(&mut self, model: &Model) -> Option<[f32; MAX_ROWS]> {
        let [_, first_coupling] = self.shafts.first_rows(model);
        let (mut changes, mut is_any_reduced) = ([0.0; MAX_ROWS], false);
        for (k, coupling) in model.parts().couplings.iter().enumerate() {
            if coupling.bias == [1.0; 2] {
                continue;
            }
            let path = &model.torque_paths()[k];
            // Impulse that drives both sides together, N m s.
            let through_impulse: f32 = self
                .shafts
                .constraints
                .iter()
                .zip(&path.row_shares)
                .map(|(row, share)| share * row.shaft_impulse(row.impulse))
                .sum();
            let [towards_first, towards_second] = coupling.capacity(through_impulse / self.shafts.dt, path.first_share);
            let (min_impulse, max_impulse) = (-towards_second * self.shafts.dt, towards_first * self.shafts.dt);
            let row = &mut self.shafts.constraints[first_coupling + k];
            row.bounds = [min_impulse, max_impulse];
            let impulse = row.impulse.max(min_impulse).min(max_impulse);
            if row.viscous == 0.0 && impulse != row.impulse {
                changes[first_coupling + k] = row.set_impulse(impulse);
                is_any_reduced = true;
            }
        }
        is_any_reduced.then_some(changes)
    }

    /// Returns the impulses that satisfy every row's equation with the last evaluated linear response of the wheels, N
    /// m s, limited by [`DriveConstraint::clamp_impulse`]. Starts with all rows holding (a dead engine: standing),
    /// solves, and changes the regime (holding, slipping at a bound, …) of rows whose result contradicts it. Ends when
    /// all regimes are consistent, or after 4 n + 1 solutions for n rows. The rows themselves are not changed.
    #[inline(always)]
    pub(crate) fn newton_step(&mut self) -> [f32; MAX_ROWS] {
        let row_count = self.count();
        let mut regimes = [Regime::Holding; MAX_ROWS];
        regimes[0] = self.shafts.constraints[0].initial_regime();
        let mut impulses = [0.0; MAX_ROWS];
        for _ in 0..4 * row_count + 1 {
            let changes = self.solve_linear(&regimes);
            let mut are_consistent = true;
            for i in 0..row_count {
                let responses = &self.responses[i][..row_count];
                let speed = self.speeds[i] + responses.iter().zip(&changes).map(|(r, change)| r * change).sum::<f32>();
                let row = &self.shafts.constraints[i];
                let impulse = row.impulse + changes[i];
                impulses[i] = row.clamp_impulse(regimes[i], impulse);
                let next_regime = row.next_regime(regimes[i], impulse, speed);
                are_consistent &= next_regime == regimes[i];
                regimes[i] = next_regime;
            }
            if are_consistent {
                break;
            }
        }
        impulses
    }

    /// Solves the equations of all rows in these `regimes` for the changes of the impulses, N m s: `(a_i δ_ij + b_i
    /// R_ij) Δp_j = r_i` with `per_impulse` a, `per_speed` b, responses R and residual r. Gaussian elimination without
    /// pivoting, as the matrix is definite. Rows with a = 0 get [`RIGID_REGULARISATION`]; pivots ≤ 0 give 0.
    #[inline(always)]
    fn solve_linear(&mut self, regimes: &[Regime; MAX_ROWS]) -> [f32; MAX_ROWS] {
        // Stages: matrix and right side, elimination downwards, substitution upwards.
        let (row_count, matrix) = (self.count(), &mut self.matrix);
        let mut right_side = [0.0; MAX_ROWS];
        for i in 0..row_count {
            let row = &self.shafts.constraints[i];
            let [per_impulse, per_speed, _right_hand_side] = row.coefficients(regimes[i]);
            right_side[i] = row.residual(regimes[i], row.impulse, self.speeds[i]);
            for (entry, response) in matrix[i].iter_mut().zip(&self.responses[i][..row_count]) {
                *entry = per_speed * response;
            }
            matrix[i][i] += if per_impulse == 0.0 { RIGID_REGULARISATION * matrix[i][i] } else { per_impulse };
        }
        for i in 0..row_count {
            let (upper_rows, lower_rows) = matrix.split_at_mut(i + 1);
            let pivot_row = &upper_rows[i][..row_count];
            for (k, row) in lower_rows.iter_mut().enumerate().take(row_count - i - 1) {
                let factor = if pivot_row[i] > 0.0 { row[i] / pivot_row[i] } else { 0.0 };
                for (entry, pivot_entry) in row.iter_mut().zip(pivot_row).skip(i) {
                    *entry -= factor * pivot_entry;
                }
                right_side[i + 1 + k] -= factor * right_side[i];
            }
        }
        for i in (0..row_count).rev() {
            let known_terms: f32 = (i + 1..row_count).map(|j| matrix[i][j] * right_side[j]).sum();
            right_side[i] = if matrix[i][i] > 0.0 { (right_side[i] - known_terms) / matrix[i][i] } else { 0.0 };
        }
        right_side
    }
}

/// Response of the wheels to at most `MAX_ROWS` rows between spins, by their levers alone, without ratios.
pub(crate) struct WheelRowResponse<C, const MAX_ROWS: usize> {
    /// Speeds of the rows, rad/s.
    pub speeds: [C; MAX_ROWS],
    /// Change of a row's speed per impulse of a row, 1/(kg m²); 0 above the diagonal.
    pub responses: [[C; MAX_ROWS]; MAX_ROWS],
}

/// Evaluates speeds and responses of the first `row_count` rows. Solves every wheel as `wheel_model` with its present
/// shaft impulse, and sums its spin and its change per impulse, times the wheel's levers. Blocks keep the solution.
#[inline(always)]
fn evaluate_wheels<W: WheelLanes, const MAX_ROWS: usize>(
    groups: &[WheelPack<W>],
    rows: &mut [WheelRows<W>],
    wheel_model: WheelResponse,
    bounds: ImpulseBounds,
    row_count: usize,
) -> WheelRowResponse<W::Car, MAX_ROWS> {
    let zeros = [W::Car::default(); MAX_ROWS];
    let mut wheel_response = WheelRowResponse { speeds: zeros, responses: [zeros; MAX_ROWS] };
    for (groups, rows) in groups.chunks(W::ROWS_PER_AXLE_PAIR).zip(rows.chunks_mut(W::ROWS_PER_AXLE_PAIR)) {
        let spins_and_responses = W::axle_pair_from_fn(
            #[inline(always)]
            |k| match wheel_model {
                WheelResponse::TyreRowOnly => rows[k].spin_and_response(&groups[k]),
                WheelResponse::Blocks => rows[k].block_spin_and_response(&groups[k], bounds),
            },
        );
        for i in 0..row_count {
            wheel_response.speeds[i] += W::sum_over_wheels(
                #[inline(always)]
                |k| groups[k].shaft_jacobian[i] * spins_and_responses[k].0,
            );
            for j in 0..i + 1 {
                wheel_response.responses[i][j] += W::sum_over_wheels(
                    #[inline(always)]
                    |k| groups[k].shaft_jacobian[i] * groups[k].shaft_jacobian[j] * spins_and_responses[k].1,
                );
            }
        }
    }
    wheel_response
}

/// Adds the `changes` of the rows' impulses, N m s, to the shaft impulse of each wheel, times its lever in that row.
#[inline(always)]
fn apply_shaft_changes<W: WheelLanes, const MAX_ROWS: usize>(
    groups: &[WheelPack<W>],
    rows: &mut [WheelRows<W>],
    changes: &[W::Car; MAX_ROWS],
) {
    for (group, rows) in groups.iter().zip(rows) {
        for (lever, change) in group.shaft_jacobian.iter().zip(changes) {
            rows.drive.shaft += *lever * W::broadcast_car(*change);
        }
    }
}

/// Rows between spins, of one car or of a batch, solved from the impulses of the last step, which are close.
pub(crate) trait WarmStartedRows<C, const MAX_ROWS: usize> {
    /// Sets every row to its impulse of the last step; the engine's row already has it, and motors leave out the part
    /// that turned their rotors. Returns the changes on the wheels by row, N m s.
    fn apply_last_impulses(&mut self) -> [C; MAX_ROWS];

    /// Limits torque-sensing couplings by the torque through them. Returns the changes on the wheels, if there are any.
    fn update_bounds(&mut self) -> Option<[C; MAX_ROWS]>;

    /// Takes a Newton step with the `wheel_response` of blocks and stores the new impulses. Returns the changes on the
    /// wheels, N m s, and whether all changes were within tolerance.
    fn newton_step(&mut self, wheel_response: &WheelRowResponse<C, MAX_ROWS>) -> ([C; MAX_ROWS], bool);
}

/// Solves `row_count` rows between spins by at most [`MAX_WARM_START_ITERATIONS`] Newton steps from the impulses of the
/// last step. The wheels respond as blocks: spin and both tyre rows, with tyre impulses within `bounds`. Each step first
/// updates the bounds of couplings. Returns whether the last changes are within tolerance. They stay applied.
#[inline(always)]
pub(crate) fn solve_warm_started<W: WheelLanes, const MAX_ROWS: usize>(
    groups: &[WheelPack<W>],
    rows: &mut [WheelRows<W>],
    (row_count, bounds): (usize, ImpulseBounds),
    shafts: &mut impl WarmStartedRows<W::Car, MAX_ROWS>,
) -> bool {
    apply_shaft_changes(groups, rows, &shafts.apply_last_impulses());
    for _ in 0..MAX_WARM_START_ITERATIONS {
        if let Some(changes) = shafts.update_bounds() {
            apply_shaft_changes(groups, rows, &changes);
        }
        let (changes, converged) =
            shafts.newton_step(&evaluate_wheels(groups, rows, WheelResponse::Blocks, bounds, row_count));
        apply_shaft_changes(groups, rows, &changes);
        if converged {
            return true;
        }
    }
    false
}

/// Rows of one car, solved from the impulses of the last step.
pub(crate) struct WarmStart<'a, const MAX_ROWS: usize> {
    solver: ShaftSolver<'a, MAX_ROWS>,
    model: &'a Model,
    last_step: LastStep<'a>,
}

impl<'a, const MAX_ROWS: usize> WarmStart<'a, MAX_ROWS> {
    /// Builds the rows of one car with `last_step`, the results of its last step.
    #[inline(always)]
    pub(crate) fn new(shafts: &'a mut Shafts, model: &'a Model, last_step: LastStep<'a>) -> Self {
        Self { solver: ShaftSolver::new(shafts), model, last_step }
    }

    /// Sets every row to `impulse(index, row)`. Returns the changes on the wheels by row, N m s, not yet applied.
    #[inline(always)]
    fn set_impulses(&mut self, mut impulse: impl FnMut(usize, &DriveConstraint) -> f32) -> [f32; MAX_ROWS] {
        let (row_count, mut changes) = (self.solver.count(), [0.0; MAX_ROWS]);
        for (i, row) in self.solver.shafts.constraints[..row_count].iter_mut().enumerate() {
            changes[i] = row.set_impulse(impulse(i, row));
        }
        changes
    }
}

impl<const MAX_ROWS: usize> WarmStartedRows<f32, MAX_ROWS> for WarmStart<'_, MAX_ROWS> {
    #[inline(always)]
    fn apply_last_impulses(&mut self) -> [f32; MAX_ROWS] {
        let (last_step, model, dt) = (self.last_step, self.model, self.solver.shafts.dt);
        let [first_motor, first_coupling] = self.solver.shafts.first_rows(model);
        self.set_impulses(
            #[inline(always)]
            |i, row| match i {
                // The engine's row starts with this impulse, and the wheels already have it.
                _ if i < first_motor => row.impulse,
                _ if i < first_coupling => last_step.motor_impulse(model, i - first_motor, dt),
                _ => dt * last_step.drive.couplings[i - first_coupling],
            },
        )
    }

    #[inline(always)]
    fn update_bounds(&mut self) -> Option<[f32; MAX_ROWS]> {
        if self.model.parts().couplings.is_empty() { None } else { self.solver.bound_couplings(self.model) }
    }

    #[inline(always)]
    fn newton_step(&mut self, wheel_response: &WheelRowResponse<f32, MAX_ROWS>) -> ([f32; MAX_ROWS], bool) {
        self.solver.store_wheel_response(self.model, wheel_response);
        let (impulses, bounds, mut converged) = (self.solver.newton_step(), self.solver.shafts.impulse_bounds, true);
        let changes = self.set_impulses(
            #[inline(always)]
            |i, row| {
                converged &= row.has_converged([row.impulse, impulses[i]], bounds);
                impulses[i]
            },
        );
        (changes, converged)
    }
}

impl<W: WheelLanes> WheelRows<W> {
    /// Solves the wheel blocks, with both tyre rows and brakes, and stores the solution. Returns the spins of the
    /// wheels, rad/s, and their change per shaft impulse, 1/(kg m²): `(1 − R²/I T) / I` with the tyre's response T to
    /// its longitudinal speed. The change is at least 0, and 0 for a wheel that stands.
    #[inline(always)]
    fn block_spin_and_response(&mut self, group: &WheelPack<W>, bounds: ImpulseBounds) -> (W, W) {
        let (zero, one) = (W::splat(0.0), W::splat(1.0));
        let gain = self.solve_block(group, bounds).tangent().longitudinal_gain();
        let (radius, inertia) = (group.radius, group.spin_inertia);
        let free_share = (one - radius * radius / inertia * gain).at_least(zero);
        (self.solution.spin, (free_share / inertia).masked(zero.less(self.solution.spin.abs())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assembly::drivetrain::traction_limits::tests::motor;
    use crate::drivetrain::rows::PedalDemand;
    use crate::model::plain::plain_car;

    /// Checks that a motor in reverse has the cruise torque `P / ω` (150 of 250 N m), which falls by `P / ω²`.
    #[test]
    fn a_motor_is_asked_at_its_speed_towards_the_drive() {
        let mut parts = plain_car();
        parts.motors = vec![motor()];
        let model = Model::new(parts).expect("valid");
        let mut shafts = Shafts::new(model.parts().motors.len(), model.parts().couplings.len());
        shafts.begin_step(PedalDemand { direction: -1.0, ..PedalDemand::default() }, &model, 0.01);
        shafts.set_cruise_torque(0, 250.0);
        let mut solver = ShaftSolver::<1>::new(&mut shafts);
        solver.speeds = [-600.0];
        solver.linearise_motors(&model);
        let row = &shafts.constraints[0];
        // J + dt P / ω², and dt times −150 N m at −600 rad/s; f32 rounding.
        assert!((row.per_speed - (0.05 + 0.01 * 0.25)).abs() < 1e-6, "{row:?}");
        assert!((row.right_hand_side - 0.01 * (-150.0 - 0.25 * 600.0)).abs() < 1e-5, "{row:?}");
    }
}
