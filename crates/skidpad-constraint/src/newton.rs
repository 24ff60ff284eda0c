//! Newton's method on all rows of a car at once.
//!
//! For a given chassis velocity every wheel responds independently (its load, then its block), and so does every
//! contact point of the hull. The problem is therefore six equations: the momentum gained by the chassis is the sum of
//! all impulses. Newton's method with linearised responses converges in a few iterations for any number of wheels. It
//! treats left and right alike to the bit and leaves pinned bodies at rest.
//!
//! The six equations are the derivative of a convex function if the friction limits are fixed. Steps that are cut where
//! they overshoot therefore lead to its only minimum.

use crate::limits::are_limits_converged;
use crate::linear_start::start_from_coupled_rows;
use skidpad_core::StepReport;
use skidpad_core::coupling::{
    BoundRelaxation, CarRows, ImpulseBounds, LimitUpdate, ManyGroups, NewtonStep, RowSolver, SingleGroup, StepWheels,
    Velocities, WheelGroups, WheelRows, dispatch_simd, prepare_blocks, solve_blocks, velocity_norm,
};
use skidpad_core::simd::linear::SpatialVector;

/// Largest residual (m/s) at which the result of an iteration that did not converge is accepted.
const MAX_RESIDUAL_MPS: f32 = 0.02;

/// Number of iterations in which friction limits follow the loads. After these the limits stay fixed until the
/// remaining problem, which is convex, has converged; then they follow once more. If friction presses a wheel into a
/// wall the more it slides, there may be no solution (Painlevé's paradox).
const TYRE_LIMIT_ITERATIONS: u16 = 12;

/// Last iteration in which the friction limits of the hull follow its normal impulses. They follow only once a step
/// changes no velocity by more than [`HULL_LIMIT_THRESHOLD_MPS`]: the impulses of a first guess at a hard contact would
/// stop anything.
const HULL_LIMIT_ITERATIONS: u16 = 30;
/// Change of velocity (m/s) below which the friction limits of the hull follow its normal impulses.
const HULL_LIMIT_THRESHOLD_MPS: f32 = 1e-2;

/// Width at which cutting a step ends, as a share of the tolerance. On either side of a kink, the next step is as long
/// as the cuts left it.
const MIN_CUT_WIDTH_SHARE: f32 = 0.1;

/// Solver that iterates all rows of a car together to a tolerance, those of its hull included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Newton {
    /// Tolerance: largest change of the chassis velocity in the last iteration (m/s, and rad/s times 1 m).
    pub tolerance: f32,
    /// Maximum number of iterations.
    pub max_iterations: u16,
    /// Bounds on the impulses of a tyre: [`ImpulseBounds::Cone`] or [`ImpulseBounds::Pyramid`].
    pub bounds: ImpulseBounds,
    /// Whether wheels move on their own, if the model has the unsprung mass of all of them; otherwise the chassis
    /// carries it.
    pub unsprung: bool,
}

impl Newton {
    /// Solver with a friction ellipse.
    ///
    /// The tolerance is a change of velocity. 1e-5 m/s moves a car by 0.2 µm in a step at 60 Hz, and is five times the
    /// f32 resolution of a speed of 25 m/s. A smaller tolerance only adds iterations; one ten times larger is visible
    /// as noise in the order of convergence.
    pub const CONE: Self = Self { tolerance: 1e-5, max_iterations: 120, bounds: ImpulseBounds::Cone, unsprung: false };

    /// Solver with a separate friction limit in each direction.
    pub const PYRAMID: Self = Self { bounds: ImpulseBounds::Pyramid, ..Self::CONE };

    /// Solver with a friction ellipse and wheels that move on their own.
    pub const UNSPRUNG: Self = Self { unsprung: true, ..Self::CONE };
}

impl RowSolver for Newton {
    /// Iterates to convergence. If the iteration ends with a residual above 0.02 m/s, replaces its result by one sweep.
    /// The report is that of the iteration in both cases.
    fn solve(&self, car: &mut CarRows<'_>, velocities: &Velocities) -> StepReport {
        let (report, residual) = if car.has_single_group() {
            dispatch_simd(
                #[inline(always)]
                || self.iterate::<SingleGroup>(car, velocities),
            )
        } else {
            dispatch_simd(
                #[inline(always)]
                || self.iterate::<ManyGroups>(car, velocities),
            )
        };
        if residual > MAX_RESIDUAL_MPS {
            fall_back_to_sweep(car, velocities);
        }
        report
    }

    fn solves_hull(&self) -> bool {
        true
    }

    fn moves_unsprung_masses(&self) -> bool {
        self.unsprung
    }
}

impl Newton {
    /// Solves all rows of the car together by Newton's method on the chassis velocity. The iteration starts at the
    /// velocity with loads. It reuses the loads in the rows if they belong to that velocity and would not change when
    /// evaluated again. Leaves the impulses in the rows; does not change the state.
    ///
    /// Each iteration evaluates all rows and solves `system · change = misfit`. The misfit is the sum of the row
    /// impulses less the momentum gained by the chassis. If the last full step went too far, its applied share is
    /// adjusted instead (`cut`). Friction limits of tyres follow the loads in iterations 1 to
    /// [`TYRE_LIMIT_ITERATIONS`]; later they follow by a part of the difference, and only after a full change of at
    /// most `tolerance`. Friction limits of the hull follow its normal impulses in iterations 2 to
    /// [`HULL_LIMIT_ITERATIONS`], and only after a full change of at most [`HULL_LIMIT_THRESHOLD_MPS`].
    ///
    /// Converged means that a full change is at most `tolerance` with current friction limits of hull and tyres. A
    /// small step after a cut is no proof of convergence, because cut steps also stop at kinks. Returns the report and
    /// the distance from a solution (m/s), which is 0 if the iteration converged. Without convergence the report has
    /// `not_converged` set, and the distance is the larger of the last full change and that of [`finish_unconverged`].
    #[inline(always)]
    fn iterate<B: WheelGroups>(&self, car: &mut CarRows<'_>, velocities: &Velocities) -> (StepReport, f32) {
        let (bounds, tolerance) = (self.bounds, self.tolerance * car.tolerance_factor);
        let &Velocities { v_free, load_solution, .. } = velocities;
        // Whether the rows already have the loads of the start velocity.
        let has_current_loads =
            load_solution.matches_rows && !StepWheels::<B>::rows(car).iter().any(WheelRows::changes_on_reevaluation);
        let mut momentum = car.set_velocity::<B>(v_free, load_solution.velocity);
        let mut report = StepReport::default();
        // Last full step, and whether the tyre limits followed the loads in the last iteration.
        let (mut last_full_step, mut tyre_limits_followed) = (NewtonStep::default(), false);
        for iteration in 1..=self.max_iterations.max(1) {
            if iteration == TYRE_LIMIT_ITERATIONS + 1 {
                restart_relaxation::<B>(car);
            }
            // Whether the last full step was within the tolerance; true in the first iteration (residual still 0).
            let is_steady = report.residual <= tolerance;
            let update = LimitUpdate {
                tyres: iteration <= TYRE_LIMIT_ITERATIONS || is_steady,
                damped: iteration > TYRE_LIMIT_ITERATIONS,
                hull: report.residual <= HULL_LIMIT_THRESHOLD_MPS && (2..=HULL_LIMIT_ITERATIONS).contains(&iteration),
                has_current_loads: has_current_loads && iteration == 1,
            };
            let (row_impulse, system) = car.linearise::<B>(bounds, update);
            // Misfit: impulses of the rows minus momentum gained (N s, N m s).
            let misfit = row_impulse - momentum;
            report.iterations = iteration;
            // A misfit with other limits is another function: the last step cannot be cut by it.
            let has_new_limit = update.hull || (update.tyres && iteration > TYRE_LIMIT_ITERATIONS);
            let min_width = MIN_CUT_WIDTH_SHARE * tolerance;
            let cut = if has_new_limit { None } else { last_full_step.adjust_share(misfit, &system, min_width) };
            // Written out: the compiler would call a closure, compiled for the baseline instructions.
            let change = match cut {
                Some(cut) => cut,
                None => system.solve(misfit),
            };
            car.add_hull_velocity(change);
            if cut.is_none() {
                report.residual = velocity_norm(change);
                let is_hull_current = update.hull || !car.has_hull_contacts() || iteration > HULL_LIMIT_ITERATIONS;
                let is_near = is_hull_current && report.residual <= tolerance;
                // The limits followed the loads in the last iteration, and the velocity has hardly changed since.
                let is_settled = is_steady && tyre_limits_followed;
                if is_near && (!update.damped || are_limits_converged(car, bounds, is_settled, tolerance)) {
                    car.finish_hull_impulses();
                    if update.damped {
                        car.clamp_to_friction_limits(bounds);
                    }
                    return (report, 0.0);
                }
                tyre_limits_followed = update.tyres;
                last_full_step = NewtonStep::full(change, misfit);
            }
            momentum = momentum + car.momentum(change);
            car.add_wheel_velocity::<B>(change);
        }
        report.not_converged = true;
        (report, report.residual.max(finish_unconverged(car, bounds, momentum)))
    }
}

/// Replaces a step that is far from convergence by one sweep, which is that of `skidpad-impulse` without its check.
/// Restores the tyre impulses of the last step, removes the hull rows (the hull is left to the world), solves the loads
/// and performs the sweep. The report still describes the iteration (`not_converged`). An unfinished iteration may have
/// any impulses; those of a sweep cannot add energy.
#[cold]
#[inline(never)]
fn fall_back_to_sweep(car: &mut CarRows<'_>, velocities: &Velocities) {
    car.restart_from_last_step();
    let (v_loaded, _) = StepWheels::<ManyGroups>::solve_loads(car, velocities.v_free, velocities.v_warm);
    if prepare_blocks::<ManyGroups, _>(car, v_loaded) {
        start_from_coupled_rows::<ManyGroups, _>(car, true, v_loaded);
    }
    solve_blocks::<ManyGroups, _>(car);
}

/// Ends an iteration without a solution: evaluates the rows once more at the present velocity with fixed friction
/// limits, computes the hull impulses, and clamps the tyre impulses to their limits. `momentum` is that gained by
/// the chassis. Returns the distance from a solution: the norm of the velocity change by the misfit before clamping
/// (m/s).
#[cold]
fn finish_unconverged(car: &mut CarRows<'_>, bounds: ImpulseBounds, momentum: SpatialVector<f32>) -> f32 {
    let (row_impulse, _) = car.linearise::<ManyGroups>(bounds, LimitUpdate::NONE);
    car.finish_hull_impulses();
    car.clamp_to_friction_limits(bounds);
    velocity_norm(car.response(row_impulse - momentum))
}

/// Restarts the gradual update of all friction limits.
#[cold]
#[inline(never)]
fn restart_relaxation<B: WheelGroups>(car: &mut CarRows<'_>) {
    for (_, rows) in StepWheels::<B>::packs(car) {
        rows.solution.bound_relaxation = BoundRelaxation::default();
    }
}
