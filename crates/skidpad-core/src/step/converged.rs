//! Converged coupling: Newton's method on all rows of a car at once.
//!
//! For a given chassis velocity every wheel responds independently (its load, then its block), and so does every
//! contact point of the hull. The problem is therefore six equations: the momentum gained by the chassis is the sum of
//! all impulses. Newton's method with linearised responses converges in a few iterations for any number of wheels. It
//! treats left and right alike to the bit and leaves pinned bodies at rest.
//!
//! With fixed friction limits the six equations are the derivative of a convex function. Steps that are cut where they
//! overshoot therefore lead to its only minimum.

use crate::port::ChassisState;
use crate::solver_mode::{FrictionShape, ImpulseBounds, StepReport, StopCriterion};
use crate::step::newton::{NewtonStep, velocity_norm};
use crate::step::single_pass::solve_single_pass;
use crate::suspension::rows::LoadSolution;
use crate::vehicle::rows::{BoundRelaxation, EffectiveMass, WheelRows};
use crate::vehicle::{Vehicle, banks_with_rows};
use bevy_math::Vec3;
use skidpad_simd::lane::{F32x4, Lane, Mask32x4};
use skidpad_simd::linear::{OuterProducts, SpatialVector, Symmetric6};
use skidpad_simd::wheel_groups::{ManyGroups, WheelGroups};

/// Number of iterations in which friction limits follow the loads. After these the limits stay fixed until the
/// remaining problem, which is convex, has converged; then they follow once more. If friction presses a wheel into a
/// wall the more it slides, there may be no solution (Painlevé's paradox).
const TYRE_LIMIT_ITERATIONS: u16 = 12;

/// Last iteration in which the friction limits of the hull follow its normal impulses. They follow only once a step
/// changes no velocity by more than [`HULL_LIMIT_THRESHOLD_MPS`]: the impulses of a first guess at a hard contact would stop
/// anything.
const HULL_LIMIT_ITERATIONS: u16 = 30;
/// Change of velocity (m/s) below which the friction limits of the hull follow its normal impulses.
const HULL_LIMIT_THRESHOLD_MPS: f32 = 1e-2;

/// Width at which cutting a step ends, as a share of the tolerance. On either side of a kink, the next step is as long
/// as the cuts left it.
const MIN_CUT_WIDTH_SHARE: f32 = 0.1;

/// Largest share by which the friction limit of a sliding tyre may differ from its limit by the load.
const FRICTION_LIMIT_TOLERANCE: f32 = 0.01;

/// Options of an iteration: which friction limits it updates, and whether the loads are current.
#[derive(Clone, Copy, Debug)]
struct LimitUpdate {
    /// Whether the friction limits of tyres follow the loads.
    tyres: bool,
    /// Whether the friction limits of tyres follow by a part of the difference only, because full updates oscillate.
    damped: bool,
    /// Whether the friction limits of the hull follow its normal impulses.
    hull: bool,
    /// Whether the rows have the loads of their present velocity.
    has_current_loads: bool,
}

/// Factor on the share of a friction-limit update after the difference changed its sign.
const SIGN_CHANGE_FACTOR: f32 = 0.5;
/// Factor on the share of a friction-limit update without a change of sign. The share is at most 1.
const RELAXATION_GROWTH_FACTOR: f32 = 1.25;

impl WheelRows {
    /// Moves the friction limits of the tyres by a share of their distance to the limits at the present loads. Compares
    /// the difference (sum of both directions, N s) with that of the last update: after a change of sign the share
    /// halves, otherwise it grows by a quarter, up to 1. Stores share, difference and change of sign for the next
    /// update.
    ///
    /// If a load decreases with the friction of its wheel, full updates overshoot without end. The share of each update
    /// follows the rule of M. Riedmiller and H. Braun, "A direct adaptive method for faster backpropagation learning:
    /// the RPROP algorithm".
    fn relax_friction_bound(&mut self) {
        let (limit, zero, one) = (self.friction_limit(), F32x4::default(), F32x4::splat(1.0));
        // Difference to the limits at the present loads, both directions together (N s).
        let difference = limit[0] + limit[1] - self.solution.friction_bound[0] - self.solution.friction_bound[1];
        let BoundRelaxation { factor: share, residual: last_difference, .. } = self.solution.bound_relaxation;
        // Tyres whose difference has changed its sign since the last update.
        let sign_changed = (difference * last_difference).less(zero);
        let share = F32x4::select(
            sign_changed,
            share * F32x4::splat(SIGN_CHANGE_FACTOR),
            (share * F32x4::splat(RELAXATION_GROWTH_FACTOR)).at_most(one),
        );
        self.solution.friction_bound =
            [0, 1].map(|i| self.solution.friction_bound[i] + share * (limit[i] - self.solution.friction_bound[i]));
        self.solution.bound_relaxation = BoundRelaxation { factor: share, residual: difference, sign_changed };
    }

    /// Returns `limit by the load / present limit − 1` for each sliding tyre, both directions together; 0 for tyres
    /// that do not slide. Positive values mean that the present limit is too small.
    ///
    /// `is_steady` means that the velocity has hardly changed since the last update. Tyres whose difference changed its
    /// sign then count as 0: the solution lies between both velocities, and `f32` resolves a load on metal no further.
    ///
    /// Within a pyramid, whose directions slide separately, tyres with a load but a limit of zero count as 1, also if
    /// they do not slide: their patches would deflect without a force. Within a cone such tyres obtain a limit when
    /// they begin to slide. If they counted there, loads that appear and vanish between iterations would have no
    /// solution.
    fn friction_bound_shortfall(&self, bounds: ImpulseBounds, is_steady: bool) -> F32x4 {
        let limit = self.friction_limit();
        // Present limits and limits by the load, both directions together (N s).
        let [bound, load_limit] =
            [self.solution.friction_bound[0] + self.solution.friction_bound[1], limit[0] + limit[1]];
        let (zero, one) = (F32x4::default(), F32x4::splat(1.0));
        // Tyres with a load but a present limit of zero, in a pyramid only.
        let has_zero_bound = if bounds == ImpulseBounds::Pyramid {
            !zero.less(bound) & zero.less(load_limit)
        } else {
            Mask32x4::default()
        };
        // Relative shortfall of the limit.
        let shortfall =
            F32x4::select(has_zero_bound, one, (load_limit - bound) / bound.at_least(F32x4::splat(f32::MIN_POSITIVE)));
        // Tyres that count as converged because their difference changed its sign.
        let is_bracketed = if is_steady { self.solution.bound_relaxation.sign_changed } else { Mask32x4::default() };
        shortfall.masked((self.solution.sliding | has_zero_bound) & !is_bracketed)
    }
}

impl Vehicle {
    /// Solves all rows of the car together by Newton's method on the chassis velocity. The iteration starts at the
    /// velocity `load_solution`, which includes loads; `v_free` is the velocity without wheels. Returns the report, and
    /// the distance from a solution (m/s): 0 if the iteration converged.
    ///
    /// Each iteration evaluates all rows and solves `system · change = impulses − momentum gained`. If the last step
    /// went too far, it is shortened instead. Converged means that the full change is at most `tolerance`,
    /// the hull has current friction limits, and so have the tyres. Friction limits of tyres follow the loads in the
    /// first [`TYRE_LIMIT_ITERATIONS`] iterations, later only when the velocity has converged with fixed limits. A
    /// small last step after a cut is no proof of convergence, because cut steps also stop at kinks. Leaves the
    /// impulses in the rows; does not change the state.
    #[inline(always)]
    pub(crate) fn solve_converged<B: WheelGroups>(
        &mut self,
        v_free: SpatialVector<f32>,
        load_solution: LoadSolution,
        StopCriterion { tolerance, iterations }: StopCriterion,
        friction: FrictionShape,
    ) -> (StepReport, f32) {
        let (bounds, has_current_loads) = self.choose_bounds::<B>(friction, v_free, load_solution);
        self.shafts.within = bounds;
        let mut momentum = self.set_velocity::<B>(v_free, load_solution.velocity);
        let mut report = StepReport::default();
        // Last full step, and whether the tyre limits followed the loads in the last iteration.
        let (mut last, mut updated) = (NewtonStep::default(), false);
        for iteration in 1..=iterations.max(1) {
            if iteration == TYRE_LIMIT_ITERATIONS + 1 {
                self.rows.iter_mut().for_each(|rows| rows.solution.bound_relaxation = BoundRelaxation::default());
            }
            // Whether the last full step was within the tolerance; true in the first iteration (residual still 0).
            let is_steady = report.residual <= tolerance;
            let update = LimitUpdate {
                tyres: iteration <= TYRE_LIMIT_ITERATIONS || is_steady,
                damped: iteration > TYRE_LIMIT_ITERATIONS,
                hull: report.residual <= HULL_LIMIT_THRESHOLD_MPS && (2..=HULL_LIMIT_ITERATIONS).contains(&iteration),
                has_current_loads: has_current_loads && iteration == 1,
            };
            let (row_impulse, system) = self.linearise::<B>(bounds, update);
            // Misfit: impulses of the rows minus momentum gained (N s, N m s).
            let misfit = row_impulse - momentum;
            report.iterations = iteration;
            // A misfit with other limits is another function: the last step cannot be cut by it.
            let has_new_limit = update.hull || (update.tyres && iteration > TYRE_LIMIT_ITERATIONS);
            let cut = if has_new_limit { None } else { last.shorten(misfit, &system, MIN_CUT_WIDTH_SHARE * tolerance) };
            // Written out: the compiler would call a closure, compiled for the baseline instructions.
            let change = match cut {
                Some(cut) => cut,
                None => system.solve(misfit),
            };
            self.hull.add_velocity(change);
            if cut.is_none() {
                report.residual = velocity_norm(change);
                let is_hull_current = update.hull || self.hull.is_empty() || iteration > HULL_LIMIT_ITERATIONS;
                let is_near = is_hull_current && report.residual <= tolerance;
                if is_near && (!update.damped || self.are_limits_converged(bounds, is_steady && updated, tolerance)) {
                    self.hull.finish_impulses();
                    if update.damped {
                        self.clamp_to_friction_limits(bounds);
                    }
                    return (report, 0.0);
                }
                updated = update.tyres;
                last = NewtonStep::full(change, misfit);
            }
            momentum = momentum + self.momentum(change);
            for rows in B::slice_mut(&mut self.rows) {
                rows.add_velocity(change.broadcast_to_wheels());
            }
        }
        report.not_converged = true;
        (report, report.residual.max(self.finish_unconverged(bounds, momentum)))
    }

    /// Returns the bounds on the tyre impulses for `friction`, and whether the rows already have the loads at the
    /// velocity `load_solution`. For [`FrictionShape::LongitudinalFirst`] runs one sweep first, whose longitudinal
    /// impulses stay. If its tyres are stiff, the loads are computed anew, and the cone replaces the shape if that
    /// sweep is inconsistent. Rows that would change when evaluated again never count as current.
    #[inline(always)]
    fn choose_bounds<B: WheelGroups>(
        &mut self,
        friction: FrictionShape,
        v_free: SpatialVector<f32>,
        load_solution: LoadSolution,
    ) -> (ImpulseBounds, bool) {
        let (mut bounds, mut has_current_loads) = (ImpulseBounds::from_shape(friction), load_solution.matches_rows);
        // The longitudinal impulses stay as one sweep leaves them if the sweep is consistent.
        if bounds == ImpulseBounds::LateralOnly && solve_single_pass::<B, _>(self, load_solution.velocity) {
            has_current_loads = false;
            if self.is_inconsistent(v_free, self.shafts.dt) {
                bounds = ImpulseBounds::Cone;
            }
        }
        (bounds, has_current_loads && !B::slice(&self.rows).iter().any(WheelRows::changes_on_reevaluation))
    }

    /// Sets the velocities along the rows of wheels and hull for the chassis velocity `v_start`. `v_free` is the
    /// velocity without wheels. Returns the momentum gained, `M (v_start − v_free)` (N s, N m s).
    #[inline(always)]
    fn set_velocity<B: WheelGroups>(
        &mut self,
        v_free: SpatialVector<f32>,
        v_start: SpatialVector<f32>,
    ) -> SpatialVector<f32> {
        let velocity_gain = v_start - v_free;
        for rows in B::slice_mut(&mut self.rows) {
            rows.set_velocity(v_start.broadcast_to_wheels(), velocity_gain.broadcast_to_wheels());
        }
        self.hull.set_velocity(v_start);
        self.momentum(velocity_gain)
    }

    /// Ends an iteration without a solution: evaluates the rows once more at the present velocity with fixed friction
    /// limits, computes the hull impulses, and clamps the tyre impulses to their limits. `momentum` is that gained by
    /// the chassis. Returns the distance from a solution: the norm of the velocity change by the misfit before clamping
    /// (m/s).
    #[cold]
    fn finish_unconverged(&mut self, bounds: ImpulseBounds, momentum: SpatialVector<f32>) -> f32 {
        let (row_impulse, _) = self.linearise::<ManyGroups>(
            bounds,
            LimitUpdate { tyres: false, damped: true, hull: false, has_current_loads: false },
        );
        self.hull.finish_impulses();
        self.clamp_to_friction_limits(bounds);
        velocity_norm(self.response(row_impulse - momentum))
    }

    /// Clamps the impulses of every tyre to its limit by the present load, as [`WheelRows::clamp_to_friction`].
    /// `bounds` selects the ellipse or separate limits.
    #[cold]
    #[inline(never)]
    pub(crate) fn clamp_to_friction_limits(&mut self, bounds: ImpulseBounds) {
        self.rows.iter_mut().for_each(|rows| rows.clamp_to_friction(bounds));
    }

    /// Returns true if the present friction limits of the tyres are as good as those by the loads. The impulses that
    /// sliding tyres lack must change the chassis velocity by at most `tolerance` (m/s), and each limit must be within
    /// 1 %: a light wheel does not move the chassis. For `is_steady`, see `friction_bound_shortfall`.
    fn are_limits_converged(&self, bounds: ImpulseBounds, is_steady: bool, tolerance: f32) -> bool {
        let (mut impulse, mut are_close) = (SpatialVector::default(), true);
        for rows in &self.rows {
            let shortfall = rows.friction_bound_shortfall(bounds, is_steady);
            are_close &= !F32x4::any(F32x4::splat(FRICTION_LIMIT_TOLERANCE).less(shortfall.abs()));
            // Impulses that the tyres lack (N s).
            let [longitudinal, lateral] = rows.solution.tyre_impulse.map(|x| x * shortfall);
            impulse = impulse + (rows.contact.forward * longitudinal + rows.contact.side * lateral).sum();
        }
        are_close && velocity_norm(self.response(impulse)) <= tolerance
    }

    /// Returns the tangent mass matrix of a solved step: chassis mass and inertia plus the derivative of the row
    /// impulses (kg, kg m, kg m²), with respect to the twist at the end of the step, vehicle frame. `body` is the body
    /// at the start; `end_velocity` is the linear and angular velocity that was solved for, world axes. Evaluates the
    /// rows again within the friction cone, which overwrites the solution in the rows.
    #[cold]
    #[inline(never)]
    pub(crate) fn tangent(&mut self, body: &ChassisState, end_velocity: [Vec3; 2]) -> Symmetric6 {
        let products = self.tangent_by_wheel(body, end_velocity);
        Symmetric6::new(self.model.mass(), self.model.inertia(), &products)
    }

    /// Returns the part of [`Vehicle::tangent`] that stems from the rows, without mass and inertia, one wheel per lane.
    /// Sets the velocities of the rows to `end_velocity` and evaluates them with fixed friction limits, which
    /// overwrites their solution.
    pub(crate) fn tangent_by_wheel(&mut self, body: &ChassisState, end_velocity: [Vec3; 2]) -> OuterProducts {
        let v_free = self.free_velocity_in_body(body, &self.to_world);
        let to_vehicle = self.to_world.transpose();
        self.set_velocity::<ManyGroups>(
            v_free,
            SpatialVector::from_vec3s(to_vehicle * end_velocity[0], to_vehicle * end_velocity[1]),
        );
        self.evaluate_rows::<ManyGroups>(
            ImpulseBounds::Cone,
            LimitUpdate { tyres: false, damped: true, hull: false, has_current_loads: false },
        )
        .1
    }

    /// Returns the momentum of the chassis at a velocity (N s, N m s).
    pub(crate) fn momentum(&self, velocity: SpatialVector<f32>) -> SpatialVector<f32> {
        let (linear, angular) = velocity.parts();
        SpatialVector::from_vec3s(linear * self.model.mass(), *self.model.inertia() * angular)
    }

    /// Evaluates all wheels and hull points at the velocity in their rows. Returns the sum of their impulses on the
    /// chassis (N s, N m s), and the matrix of the Newton step: chassis mass and inertia plus `Σ gain · row rowᵀ`.
    /// Changes of friction limits are not part of the matrix; `limit_update` selects the limits that are updated.
    /// `bounds` are the bounds on the tyre impulses.
    #[inline(always)]
    fn linearise<B: WheelGroups>(
        &mut self,
        bounds: ImpulseBounds,
        limit_update: LimitUpdate,
    ) -> (SpatialVector<f32>, Symmetric6) {
        let (row_impulse, products) = self.evaluate_rows::<B>(bounds, limit_update);
        (row_impulse, Symmetric6::new(self.model.mass(), self.model.inertia(), &products))
    }

    /// Evaluates the rows as [`Vehicle::linearise`], but returns the derivative one wheel per lane and without mass and
    /// inertia.
    ///
    /// Order: axle links; for each bank the loads (with unsprung masses: load and travel rate together), then friction
    /// limits and the speeds that the tyres see; then the shafts, except with [`ImpulseBounds::LateralOnly`]; then hull
    /// points; then each wheel block (spin and tyre impulses). Loads of the first iteration are kept if
    /// `limit_update.has_current_loads`. Overwrites loads, limits, spins and impulses in the rows.
    #[inline(always)]
    fn evaluate_rows<B: WheelGroups>(
        &mut self,
        bounds: ImpulseBounds,
        limit_update: LimitUpdate,
    ) -> (SpatialVector<f32>, OuterProducts) {
        if !limit_update.has_current_loads {
            self.update_link_impulses::<B>();
        }
        let mut products = self.axle_link_products::<B>();
        for (group, rows) in banks_with_rows::<B>(&self.model, &mut self.rows) {
            // `None` for wheels without an unsprung mass.
            let unsprung_result = rows.with_unsprung(|rows, unsprung| {
                if limit_update.tyres || group.roll_centre_links.is_some() {
                    rows.update_tyre_lift(unsprung, group);
                }
                rows.unsprung_load(unsprung, group).add_to(&mut products, rows);
            });
            if unsprung_result.is_none() {
                if !limit_update.has_current_loads {
                    rows.evaluate_load(group);
                }
                products.add(rows.suspension.load_slope, rows.contact.normal);
            }
            if limit_update.tyres {
                if limit_update.damped {
                    rows.relax_friction_bound()
                } else {
                    rows.solution.friction_bound = rows.friction_limit()
                }
            }
            rows.solution.effective_mass = match (&group.roll_centre_links, rows.unsprung()) {
                (Some(links), Some(unsprung)) => rows.effective_mass_on_links(unsprung, links),
                // The chassis velocity is given: an impulse of the tyre does not change it within the block.
                _ => EffectiveMass { speed: rows.solution.velocity.patch, compliance: [F32x4::default(); 3] },
            };
        }
        if bounds != ImpulseBounds::LateralOnly {
            self.solve_shafts::<B>();
        }
        let mut row_impulse = self.external_bar_impulse + self.hull.evaluate(&mut products, limit_update.hull);
        for (group, rows) in banks_with_rows::<B>(&self.model, &mut self.rows) {
            // Tyre impulses before this evaluation (N s).
            let tyre_impulse_before = rows.solution.tyre_impulse;
            // Gains with their rows on the chassis.
            let mut gain_rows = rows.solve_block(group, bounds).tangent().gain_rows(rows);
            if let (Some(links), Some(unsprung)) = (&group.roll_centre_links, rows.unsprung()) {
                gain_rows = gain_rows.map(|(gain, row)| (gain, rows.row_on_links(unsprung, links, row)));
            }
            products.add_terms(gain_rows);
            if let Some(links) = &group.roll_centre_links {
                rows.with_unsprung(|rows, unsprung| rows.update_travel_on_links(unsprung, links, tyre_impulse_before));
            }
            row_impulse = row_impulse + rows.impulse(true).sum(); // true: loads included
        }
        (row_impulse, products)
    }
}
