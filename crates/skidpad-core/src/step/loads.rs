//! Load rows: strut, stops and axle links of every wheel as one soft row along its contact normal, all solved together.

use crate::assembly::suspension::axle_links::BarResponse;
use crate::constants::MAX_WHEELS;
use crate::model::wheel_pack::WheelPack;
use crate::step::car_rows::CarRows;
use crate::step::newton::NewtonStep;
use crate::step::step_wheels::{CarMask, CarScalar, CarTwist, StepWheels};
use crate::suspension::rows::{LoadSolution, RIGID_GAIN_FACTOR};
use crate::vehicle::Vehicle;
use crate::vehicle::rows::WheelRows;
use skidpad_simd::lane::{F32x4, Lane, WheelLanes};
use skidpad_simd::linear::{OuterProducts, SpatialVector, Symmetric6};
use skidpad_simd::wheel_groups::WheelGroups;

/// Maximum number of load solves. One is typical, two if a damper changes direction.
const MAX_LOAD_SOLVES: usize = 40;
/// Number of load solves after which steps that overshoot are cut. At kinks of several struts Newton's method can
/// alternate, and its result can then be any load.
pub(crate) const SOLVES_BEFORE_CUTS: usize = 3;

/// Number of iterations for hanging wheels with heave springs.
const DROOP_ITERATIONS: usize = 24;

/// Shortest step that is cut, m/s.
const MIN_STEP_MPS: f32 = 1e-6;

/// Tolerance for the difference between a load and its linearisation, as a share of the load plus a share of the static
/// load.
const LOAD_TOLERANCE: [f32; 2] = [1e-4, 1e-6];

/// Wheels whose loads [`solve_load_rows`] solves, with the axle links between them.
pub(crate) trait LoadWheels<B: WheelGroups>: StepWheels<B> {
    /// Maximum number of load solves.
    const MAX_LOAD_SOLVES: usize;

    /// Computes the impulses of the axle links at the velocities in the rows.
    fn update_link_impulses(&mut self);

    /// Returns the impulses of external links on the chassis, which bypass the struts (N s, N m s); 0 by default.
    #[inline(always)]
    fn external_link_impulse(&self) -> CarTwist<B, Self> {
        SpatialVector::default()
    }

    /// Adds the derivative of the axle-link impulses with respect to the chassis velocity to `products`. Returns the
    /// change of these impulses from the velocities in the rows to the velocity `v_warm`, plus the impulses of
    /// [`LoadWheels::external_link_impulse`].
    fn add_axle_links(&self, products: &mut OuterProducts<Self::Lanes>, v_warm: CarTwist<B, Self>)
    -> CarTwist<B, Self>;

    /// Returns the velocity to which load solve number `_solve_index` (from 0) shortens `_last_step`, if this Newton
    /// step went too far. Otherwise stores the step from `_v_current` to `_v_newton` in `_last_step` and returns
    /// `None`. `_v_warm` is the velocity before the loads, `_v_current` the present one, and `_v_newton` the end of the
    /// full Newton step; `_system` is the matrix of that step. By default returns `None` and stores nothing.
    #[inline(always)]
    fn shortened_step(
        &self,
        _solve_index: usize,
        _last_step: &mut Option<NewtonStep>,
        _v_warm: CarTwist<B, Self>,
        _v_current: CarTwist<B, Self>,
        _v_newton: CarTwist<B, Self>,
        _system: &Symmetric6<CarScalar<B, Self>>,
    ) -> Option<CarTwist<B, Self>> {
        None
    }
}

impl<B: WheelGroups> LoadWheels<B> for CarRows<'_> {
    const MAX_LOAD_SOLVES: usize = MAX_LOAD_SOLVES;

    #[inline(always)]
    fn update_link_impulses(&mut self) {
        self.vehicle.update_link_impulses::<B>();
    }

    #[inline(always)]
    fn external_link_impulse(&self) -> SpatialVector<f32> {
        self.vehicle.external_bar_impulse
    }

    #[inline(always)]
    fn add_axle_links(&self, products: &mut OuterProducts, v_warm: SpatialVector<f32>) -> SpatialVector<f32> {
        self.vehicle.add_axle_links::<B>(products, v_warm)
    }

    /// Cuts steps that overshoot, from load solve number [`SOLVES_BEFORE_CUTS`] on. In earlier solves returns `None`
    /// and stores nothing.
    #[inline(always)]
    fn shortened_step(
        &self,
        solve_index: usize,
        last_step: &mut Option<NewtonStep>,
        v_warm: SpatialVector<f32>,
        v_current: SpatialVector<f32>,
        v_newton: SpatialVector<f32>,
        system: &Symmetric6,
    ) -> Option<SpatialVector<f32>> {
        if solve_index < SOLVES_BEFORE_CUTS {
            None
        } else {
            self.vehicle.cut_long_step(last_step, v_warm, v_current, v_newton, system)
        }
    }
}

impl Vehicle {
    /// Moves wheels without ground contact to the compression at which strut spring and axle links (anti-roll bars,
    /// heave springs) balance without a load, clamped to droop and bump travel. Wheels in contact are unchanged.
    ///
    /// First moves all these wheels to full droop, their position without links. Then a pass computes the balance of
    /// every wheel with all other wheels where they are, and moves the wheels afterwards, so that the order of the
    /// wheels has no effect. One pass is exact if the other wheel is on the ground, and for bars between wheels that
    /// hang equally. Heave springs push both wheels, and need [`DROOP_ITERATIONS`] passes: each moves the wheels by
    /// half of the difference, the last one by all of it.
    pub(crate) fn set_droop_compressions(&mut self) {
        // Compressions at full droop, m.
        let droop_compressions = (0..self.model.wheels().len()).map(|i| -self.model.droop_from_rest(i));
        let mut free_compressions = [0.0; MAX_WHEELS];
        free_compressions
            .iter_mut()
            .zip(droop_compressions)
            .for_each(|(compression, droop_compression)| *compression = droop_compression);
        self.move_airborne_wheels(&free_compressions, 1.0); // all of the difference
        let iterations = if self.model.parts().heave_springs.is_empty() { 1 } else { DROOP_ITERATIONS };
        for iteration in 0..iterations {
            let mut linked_compressions = [0.0; MAX_WHEELS];
            for (i, (wheel, linked_compression)) in self.model.wheels().iter().zip(&mut linked_compressions).enumerate()
            {
                // Compression at the balance of strut and axle links, m.
                let balance = self.unloaded_compression(i, |rows| rows.contact.compression);
                *linked_compression = balance.clamp(-wheel.strut.droop_travel, wheel.strut.bump_travel);
            }
            self.move_airborne_wheels(&linked_compressions, if iteration + 1 == iterations { 1.0 } else { 0.5 });
        }
    }

    /// Moves the compressions of wheels without ground contact by a `share` of the difference to the
    /// `target_compressions` (m, by wheel index). Wheels in contact are unchanged.
    fn move_airborne_wheels(&mut self, target_compressions: &[f32; MAX_WHEELS], share: f32) {
        for (group, rows) in self.model.wheel_packs().iter().zip(&mut self.rows) {
            let (current, target) = (rows.contact.compression, group.gather(|i| target_compressions[i]));
            let new_compression = if share < 1.0 { current + F32x4::splat(share) * (target - current) } else { target };
            rows.contact.compression = F32x4::select(rows.contact.in_contact, current, new_compression);
        }
    }

    /// Solves the loads from the velocity `v_warm` (with the last step's tyre impulses) and returns the chassis
    /// velocity with the loads. Wheels with an unsprung mass are solved together with their travel rates, from
    /// `v_free`; `matches_rows` is then false.
    #[inline(always)]
    pub(crate) fn solve_any_loads<B: WheelGroups>(
        &mut self,
        v_free: SpatialVector<f32>,
        v_warm: SpatialVector<f32>,
        dt: f32,
    ) -> LoadSolution {
        let has_unsprung = B::slice(&self.rows).iter().any(|rows| rows.has_unsprung);
        if has_unsprung {
            return LoadSolution { velocity: self.solve_unsprung_loads(v_free, v_warm, dt), matches_rows: false };
        }
        self.solve_loads::<B>(v_warm, dt)
    }

    /// Solves all load rows together from the chassis velocity `v_warm` (before the loads), for a step of `dt` s, and
    /// returns the velocity after the loads. If the iteration does not converge, negative loads are set to 0. The
    /// returned velocity is then `v_warm` plus the change by these loads and external bars, and `matches_rows` is
    /// false.
    #[inline(always)]
    pub(crate) fn solve_loads<B: WheelGroups>(&mut self, v_warm: SpatialVector<f32>, dt: f32) -> LoadSolution {
        let (velocity, matches_rows) = solve_load_rows::<B, _>(&mut CarRows::new(self, dt, 1.0), v_warm, dt);
        if matches_rows {
            return LoadSolution { velocity, matches_rows };
        }
        let mut impulse = self.external_bar_impulse;
        for rows in &mut self.rows {
            rows.suspension.load = rows.suspension.load.at_least(F32x4::default());
            impulse = impulse + (rows.contact.normal * rows.suspension.load).sum();
        }
        LoadSolution { velocity: v_warm + self.response(impulse), matches_rows }
    }

    /// Returns the velocity to which the Newton step `last_step`, which ended at `v_current`, is cut or extended. The
    /// criterion is the component along the step of the misfit: the impulse of loads and external bars (anti-roll bars
    /// on the chassis) less the change of momentum since `v_warm`, the velocity before the loads. A step is cut if this
    /// component has reversed to more than half of its initial value. It is extended if, after an earlier cut, more
    /// than half is left.
    ///
    /// Otherwise, without a last step, or if the range for the new end is at most [`MIN_STEP_MPS`] wide, stores the
    /// step from `v_current` to `v_newton` as the last one, and returns `None`. `system` is the matrix of the solve for
    /// `v_newton`.
    #[cold]
    #[inline(never)]
    fn cut_long_step(
        &self,
        last_step: &mut Option<NewtonStep>,
        v_warm: SpatialVector<f32>,
        v_current: SpatialVector<f32>,
        v_newton: SpatialVector<f32>,
        system: &Symmetric6,
    ) -> Option<SpatialVector<f32>> {
        let load_impulse = self
            .rows
            .iter()
            .fold(self.external_bar_impulse, |sum, rows| sum + (rows.contact.normal * rows.suspension.load).sum());
        // Misfit at the end of the last step: residual impulse.
        let misfit = load_impulse - self.momentum(v_current - v_warm);
        if let Some(correction) =
            last_step.as_mut().and_then(|last_step| last_step.adjust_share(misfit, system, MIN_STEP_MPS))
        {
            return Some(v_current + correction);
        }
        *last_step = Some(NewtonStep::full(v_newton - v_current, misfit));
        None
    }
}

/// Solves all load rows of `cars` together from the velocity `v_warm`, for a step of `dt` s. Returns the velocity after
/// the loads and the mask of the cars that have converged; loads and link impulses are stored in the rows.
///
/// Each of at most `S::MAX_LOAD_SOLVES` Newton iterations linearises loads and axle links, solves the 6×6 system of
/// each chassis, cuts steps that overshoot (one car only, after [`SOLVES_BEFORE_CUTS`] solves), and evaluates the loads
/// again. A car has converged once all its loads agree with their linearisation within [`LOAD_TOLERANCE`], in a step
/// that was not cut; its velocity then stays constant.
///
/// Every load only decreases with the separation speed of its wheel. The loads are therefore the derivative of a convex
/// function, and Newton's method converges to its minimum.
#[inline(always)]
pub(crate) fn solve_load_rows<B: WheelGroups, S: LoadWheels<B>>(
    cars: &mut S,
    v_warm: CarTwist<B, S>,
    dt: f32,
) -> (CarTwist<B, S>, CarMask<B, S>) {
    for (group, rows) in cars.packs() {
        rows.init_load(group, v_warm.broadcast_to_wheels(), dt);
    }
    cars.update_link_impulses();
    for (group, rows) in cars.packs() {
        rows.evaluate_load(group);
    }
    // One car with at most four wheels.
    let is_single_group = S::Lanes::ROWS_PER_AXLE_PAIR == 1 && cars.rows().len() == 1;
    // For a batch of cars, one pass would need more registers than the processor has.
    let builds_in_one_pass =
        is_single_group && cars.model().has_axle_links() && cars.model().separate_axle_links().is_empty();
    // Current velocity, converged cars, last Newton step.
    let (mut v_current, mut converged, mut last_step) = (v_warm, CarMask::<B, S>::default(), None);
    for solve_index in 0..S::MAX_LOAD_SOLVES {
        // Response of loads and axle links to the chassis velocity, and their impulse at the velocity `v_warm`.
        let (mut products, mut target_impulse);
        if builds_in_one_pass {
            let (rows, bar_response) = (cars.rows(), BarResponse::new(cars.rows(), v_warm));
            products = OuterProducts::from_terms(
                #[inline(always)]
                |k| [rows[k].load_gain_row(), bar_response.gain_rows[k]],
            );
            target_impulse = target_loads(rows) + (cars.external_link_impulse() + bar_response.impulse);
        } else {
            (products, target_impulse) = load_derivative_and_targets(cars.rows());
            target_impulse = target_impulse + cars.add_axle_links(&mut products, v_warm);
        }
        let body = cars.body();
        let system = Symmetric6::from_lanes(body.mass, &body.inertia, &products);
        let v_newton = v_warm + system.solve(target_impulse);
        let cut_velocity = cars.shortened_step(solve_index, &mut last_step, v_warm, v_current, v_newton, &system);
        v_current = SpatialVector::select(converged, v_current, cut_velocity.unwrap_or(v_newton));
        for (_, rows) in cars.packs() {
            rows.set_load_velocity(v_current.broadcast_to_wheels());
        }
        cars.update_link_impulses();
        // Wheels whose load differs from its linearisation.
        let mut mismatched = <S::Lanes as Lane>::Mask::default();
        for (group, rows) in cars.packs() {
            mismatched = mismatched | rows.update_load(group);
        }
        if cut_velocity.is_none() {
            converged = converged | !S::Lanes::cars_with_any(mismatched);
        }
        if !CarScalar::<B, S>::any(!converged) {
            break;
        }
    }
    (v_current, converged)
}

impl<W: WheelLanes> WheelRows<W> {
    /// Returns the decrease of the load per separation speed (kg), and the load row on the chassis: the contact normal.
    #[inline(always)]
    fn load_gain_row(&self) -> (W, SpatialVector<W>) {
        (self.suspension.load_slope, self.contact.normal)
    }

    /// Returns the compression synchronous with the velocity, m: compression plus lag of the pose.
    #[inline(always)]
    pub(crate) fn synchronous_compression(&self) -> W {
        self.contact.compression + self.contact.compression_lag
    }

    /// Initialises the load rows for a step of `dt` s: the row of the droop stop, the separation speed at the chassis
    /// velocity `v_warm` before the loads, and a current speed that continues the jounce rate at the start. No wheel
    /// counts as at its droop stop.
    #[inline(always)]
    pub(crate) fn init_load(&mut self, group: &WheelPack<W>, v_warm: SpatialVector<W>, dt: f32) {
        self.set_droop_row(group, dt);
        self.suspension.warm_speed = self.separation_velocity(v_warm);
        self.solution.velocity.normal = -self.contact.jounce_rate * self.contact.normal_cosine;
        self.suspension.at_droop_stop = W::Mask::default();
    }

    /// Sets the stiff row that keeps a wheel at its droop stop from leaving the ground before the end of the step: its
    /// impulse is 0 at the speed with which the wheel just reaches the droop stop at the end of the step, and falls
    /// with [`RIGID_GAIN_FACTOR`] times the carried mass.
    #[inline(always)]
    fn set_droop_row(&mut self, group: &WheelPack<W>, dt: f32) {
        // Height of the ground above the position of the wheel at its droop stop, m.
        let gap = self.synchronous_compression() + self.contact.beyond_droop + group.droop_travel;
        let rigid = W::splat(RIGID_GAIN_FACTOR) * group.carried_mass;
        self.suspension.droop_target = rigid * gap / (W::splat(dt) * self.contact.normal_cosine);
        self.suspension.droop_gain = rigid / (self.contact.normal_cosine * self.contact.normal_cosine);
    }

    /// Computes the load impulse of strut, axle links and stops (N s) at the current speed along the normal, and its
    /// slope (kg: decrease per separation speed). Wheels without contact, and wheels whose load would be negative, get
    /// load and slope 0.
    ///
    /// The load is at most that of the droop row, the stiff row of `set_droop_row`; the slope is then that of this row.
    /// The first time that the droop row limits a wheel with a load, the load may be negative, so that the next solve
    /// includes the row. Stores load, slope, `load_active` (contact and load) and `at_droop_stop`, which stays set
    /// until `init_load`.
    #[inline(always)]
    pub(crate) fn evaluate_load(&mut self, group: &WheelPack<W>) {
        let (zero, speed) = (W::splat(0.0), self.solution.velocity.normal);
        // Final jounce rate, m/s.
        let final_rate = -speed / self.contact.normal_cosine;
        self.relinearise_strut(group, final_rate, self.dt);
        let strut_terms = [self.suspension.load_target - self.suspension.load_gain * speed, self.suspension.load_gain];
        let link_impulse = self.suspension.axle_links.impulse;
        let [mut load, mut slope] = [strut_terms[0] + link_impulse, strut_terms[1]];
        let reaches_stop = self.wheels_reaching_stops(group, final_rate, self.dt);
        if W::any(reaches_stop) {
            let stop_terms = self.load_with_stops(group, strut_terms, link_impulse, final_rate, self.dt);
            (load, slope) =
                (W::select(reaches_stop, stop_terms[0], load), W::select(reaches_stop, stop_terms[1], slope));
        }
        let droop_load = self.suspension.droop_target - self.suspension.droop_gain * speed;
        // Wheels whose droop stop limits the load.
        let droop_limited = droop_load.less(load);
        // The droop row is so stiff that a solve would step across it. It may pull once, until a solve has included it.
        // A landing wheel does not need the row, because its travel ends by itself.
        let is_landing = self.contact.contact_share.less(W::splat(1.0));
        // Wheels that reach the droop stop for the first time in this solve.
        let newly_at_droop = droop_limited & zero.less(load) & !self.suspension.at_droop_stop & !is_landing;
        load = W::select(droop_limited, droop_load, load);
        self.suspension.at_droop_stop = self.suspension.at_droop_stop | droop_limited;
        self.suspension.load_active = self.contact.in_contact & (zero.less(load) | newly_at_droop);
        self.suspension.load = load.masked(self.suspension.load_active);
        self.suspension.load_slope =
            W::select(droop_limited, self.suspension.droop_gain, slope).masked(self.suspension.load_active);
    }

    /// Returns true if another evaluation of the rows at the same speed could change a load, because a droop stop was
    /// reached and pulls only once.
    #[inline(always)]
    pub fn changes_on_reevaluation(&self) -> bool {
        W::any(self.suspension.at_droop_stop)
    }

    /// Sets the speed of the load rows to the chassis `velocity`, and `linearised_load` to the load that the
    /// linearisation predicts there, without the part of the axle links. Does not evaluate the loads.
    #[inline(always)]
    pub(crate) fn set_load_velocity(&mut self, velocity: SpatialVector<W>) {
        let speed = self.separation_velocity(velocity);
        self.suspension.linearised_load = self.suspension.load
            + self.suspension.load_slope * (self.solution.velocity.normal - speed)
            - self.suspension.axle_links.impulse;
        self.solution.velocity.normal = speed;
    }

    /// Computes the loads at the current speed. Returns the wheels whose load differs from its prediction by more than
    /// [`LOAD_TOLERANCE`]. The prediction is `linearised_load`, set before by `set_load_velocity`, plus the present
    /// impulse of the axle links; 0 for a wheel that had no load in the linearisation.
    #[inline(always)]
    pub(crate) fn update_load(&mut self, group: &WheelPack<W>) -> W::Mask {
        let was_active = self.suspension.load_active;
        self.evaluate_load(group);
        // Predicted load, N s.
        let predicted_load = (self.suspension.linearised_load + self.suspension.axle_links.impulse).masked(was_active);
        let [load_share, static_share] = LOAD_TOLERANCE.map(W::splat);
        // Tolerance, N s.
        let tolerance = load_share * self.suspension.load + static_share * self.suspension.strut.weight_impulse;
        tolerance.less((self.suspension.load - predicted_load).abs())
    }
}

/// Returns the decrease of all load impulses with the chassis velocity, `Σ slope · n nᵀ` with the contact normals n, as
/// outer products by wheel, and the sum of [`target_loads`] over all wheels.
#[inline(always)]
fn load_derivative_and_targets<W: WheelLanes>(rows: &[WheelRows<W>]) -> (OuterProducts<W>, SpatialVector<W::Car>) {
    let (first_rows, other_rows) = rows.split_at(W::ROWS_PER_AXLE_PAIR);
    let mut products = OuterProducts::from_terms(
        #[inline(always)]
        |k| [first_rows[k].load_gain_row()],
    );
    let mut target_impulse = target_loads(first_rows);
    for rows in other_rows.chunks(W::ROWS_PER_AXLE_PAIR) {
        for (k, rows) in rows.iter().enumerate() {
            let (slope, normal) = rows.load_gain_row();
            products.add_to_row(k, slope, normal);
        }
        target_impulse = target_impulse + target_loads(rows);
    }
    (products, target_impulse)
}

/// Returns the impulse on the chassis of the linearised loads of two axles at the velocity `v_warm` before the loads:
/// `Σ n (load + slope · (current speed − warm speed))`, with the contact normals n.
#[inline(always)]
fn target_loads<W: WheelLanes>(rows: &[WheelRows<W>]) -> SpatialVector<W::Car> {
    let impulse = SpatialVector::sum_over_wheels(
        #[inline(always)]
        |k| {
            let WheelRows { suspension, contact, solution, .. } = &rows[k];
            let target = suspension.load + suspension.load_slope * (solution.velocity.normal - suspension.warm_speed);
            contact.normal * target
        },
    );
    SpatialVector::default() + impulse
}
