//! Load rows: strut, stops and axle links of every wheel as one soft row along its contact normal, all solved together.

use crate::assembly::suspension::axle_links::BarResponse;
use crate::constants::MAX_WHEELS;
use crate::model::wheel_pack::WheelPack;
use crate::simd::lane::{F32x4, Lane, WheelLanes};
use crate::simd::linear::{OuterProducts, SpatialVector, Symmetric6};
use crate::simd::wheel_groups::WheelGroups;
use crate::step::newton::NewtonStep;
use crate::step::stages::{CarMask, CarScalar, CarTwist, StepWheels};
use crate::suspension::rows::{LoadSolution, RIGID_GAIN_FACTOR};
use crate::vehicle::Vehicle;
use crate::vehicle::rows::WheelRows;

/// Maximum number of load solves. One is typical, two if a damper changes direction.
pub(crate) const MAX_LOAD_SOLVES: usize = 40;
/// Number of load solves after which steps that overshoot are cut. At kinks of several struts Newton's method can alternate, and its result can then
/// be any load.
pub(crate) const SOLVES_BEFORE_CUTS: usize = 3;

/// Number of iterations for hanging wheels with heave springs.
const DROOP_ITERATIONS: usize = 24;

/// Shortest step that is cut, m/s.
const MIN_STEP_MPS: f32 = 1e-6;

/// Tolerance for the difference between a load and its linearisation, as a share of the load plus a share of the static load.
const LOAD_TOLERANCE: [f32; 2] = [1e-4, 1e-6];

impl Vehicle {
    /// Moves wheels without ground contact to the compression at which strut, axle links and droop stop balance, within droop and bump travel. They
    /// are first moved to their droop position without links.
    ///
    /// The axle links use the other wheel at its position without links, so that the result does not depend on the order of the wheels. This is exact
    /// if the other wheel is on the ground, and for bars between wheels that hang equally. Heave springs push both wheels, and need
    /// [`DROOP_ITERATIONS`] half steps, the last one full.
    pub(crate) fn set_droop_compressions(&mut self) {
        // Compressions at full droop, m.
        let hanging = (0..self.model.wheels().len()).map(|i| -self.model.droop_from_rest(i));
        let mut free = [0.0; MAX_WHEELS];
        free.iter_mut().zip(hanging).for_each(|(to, from)| *to = from);
        self.move_airborne_wheels(&free, 1.0); // all of the difference
        let passes = if self.model.parts().heave_springs.is_empty() { 1 } else { DROOP_ITERATIONS };
        for pass in 0..passes {
            let mut linked = [0.0; MAX_WHEELS];
            for (i, (wheel, linked)) in self.model.wheels().iter().zip(&mut linked).enumerate() {
                // Compression at the balance of strut and axle links, m.
                let balance = self.unloaded_compression(i, |rows| rows.contact.compression);
                *linked = balance.clamp(-wheel.strut.droop_travel, wheel.strut.bump_travel);
            }
            self.move_airborne_wheels(&linked, if pass + 1 == passes { 1.0 } else { 0.5 });
        }
    }

    /// Moves the compressions of wheels without ground contact by a `share` of the difference to the compressions `to` (m, by wheel index). Wheels in
    /// contact are unchanged.
    fn move_airborne_wheels(&mut self, to: &[f32; MAX_WHEELS], share: f32) {
        for (bank, rows) in self.model.wheel_packs().iter().zip(&mut self.rows) {
            let (was, to) = (rows.contact.compression, bank.gather(|i| to[i]));
            let moved = if share < 1.0 { was + F32x4::splat(share) * (to - was) } else { to };
            rows.contact.compression = F32x4::select(rows.contact.in_contact, was, moved);
        }
    }

    /// Solves all load rows together from the chassis velocity `warm` (before the loads), for a step of `dt` s, and returns the velocity after them.
    /// If the iteration does not converge, negative loads become 0, the velocity follows from these loads and external bars by the response of the
    /// chassis, and `matches_rows` is false.
    #[inline(always)]
    pub(crate) fn solve_loads<B: WheelGroups>(&mut self, warm: SpatialVector<f32>, dt: f32) -> LoadSolution {
        let (velocity, in_rows) = solve_load_rows::<B, _>(self, warm, dt);
        if in_rows {
            return LoadSolution { velocity, matches_rows: in_rows };
        }
        let mut given = self.external_bar_impulse;
        for rows in &mut self.rows {
            rows.suspension.load = rows.suspension.load.at_least(F32x4::default());
            given = given + (rows.contact.normal * rows.suspension.load).sum();
        }
        LoadSolution { velocity: warm + self.response(given), matches_rows: in_rows }
    }

    /// Returns the velocity to which the `last` Newton step is cut if its end `at` overshot (or an earlier cut was too short). Otherwise stores the
    /// step from `at` to `newton` as the last one, and returns `None`. `warm` is the velocity before the loads; the residual is the impulse of loads
    /// and external bars less the change of momentum since `warm`. `system` is the matrix of the last solve.
    #[cold]
    #[inline(never)]
    pub(crate) fn cut_long_step(
        &self,
        last: &mut Option<NewtonStep>,
        [warm, at, newton]: [SpatialVector<f32>; 3],
        system: &Symmetric6,
    ) -> Option<SpatialVector<f32>> {
        let loads = self
            .rows
            .iter()
            .fold(self.external_bar_impulse, |sum, rows| sum + (rows.contact.normal * rows.suspension.load).sum());
        // Residual impulse.
        let missing = loads - self.momentum(at - warm);
        if let Some(back) = last.as_mut().and_then(|last| last.shorten(missing, system, MIN_STEP_MPS)) {
            return Some(at + back);
        }
        *last = Some(NewtonStep::full(newton - at, missing));
        None
    }
}

/// Solves all load rows of `cars` together from the velocity `warm`, for a step of `dt` s. Returns the velocity after the loads and the mask of the
/// cars that have converged. Each of at most `S::MAX_LOAD_SOLVES` Newton iterations linearises loads and axle links, solves the 6×6 system of each
/// chassis, cuts steps that overshoot (after [`SOLVES_BEFORE_CUTS`]), and evaluates the loads again. A car has converged if all its loads agree with
/// their linearisation within [`LOAD_TOLERANCE`], in a step that was not cut; its velocity then stays constant.
///
/// Every load only decreases with the separation speed of its wheel. The loads are therefore the derivative of a convex function, and Newton's method
/// converges to its minimum.
#[inline(always)]
pub(crate) fn solve_load_rows<B: WheelGroups, S: StepWheels<B>>(
    cars: &mut S,
    warm: CarTwist<B, S>,
    dt: f32,
) -> (CarTwist<B, S>, CarMask<B, S>) {
    for (bank, rows) in cars.packs() {
        rows.init_load(bank, warm.broadcast_to_wheels(), dt);
    }
    cars.load_axle_links();
    for (bank, rows) in cars.packs() {
        rows.evaluate_load(bank);
    }
    // One car with at most four wheels.
    let is_alone = S::Lanes::ROWS_PER_AXLE_PAIR == 1 && cars.rows().len() == 1;
    // For a batch of cars, one pass would need more registers than the processor has.
    let in_one_pass = is_alone && cars.model().has_axle_links() && cars.model().separate_axle_links().is_empty();
    // Current velocity, converged cars, last Newton step.
    let (mut after, mut settled, mut last) = (warm, CarMask::<B, S>::default(), None);
    for solve in 0..S::MAX_LOAD_SOLVES {
        // Response of loads and axle links to the chassis velocity, and their impulse at the velocity `warm`.
        let (mut products, mut wished);
        if in_one_pass {
            let (rows, bars) = (cars.rows(), BarResponse::new(cars.rows(), warm));
            products = OuterProducts::from_terms(
                #[inline(always)]
                |k| [rows[k].load_gain_row(), bars.gain_rows[k]],
            );
            wished = target_loads(rows) + (cars.external_link_impulse() + bars.impulse);
        } else {
            (products, wished) = load_system(cars.rows());
            wished = wished + cars.add_axle_links(&mut products, warm);
        }
        let system = Symmetric6::new(cars.model().mass(), cars.model().inertia(), &products);
        let newton = warm + system.solve(wished);
        let cut = cars.shortened_step(solve, &mut last, [warm, after, newton], &system);
        after = SpatialVector::select(settled, after, cut.unwrap_or(newton));
        for (_, rows) in cars.packs() {
            rows.set_load_velocity(after.broadcast_to_wheels());
        }
        cars.load_axle_links();
        // Wheels whose load differs from its linearisation.
        let mut off = <S::Lanes as Lane>::Mask::default();
        for (bank, rows) in cars.packs() {
            off = off | rows.update_load(bank);
        }
        if cut.is_none() {
            settled = settled | !S::Lanes::cars_with_any(off);
        }
        if !CarScalar::<B, S>::any(!settled) {
            break;
        }
    }
    (after, settled)
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

    /// Initialises the load rows for a step of `dt` s: the row of the droop stop, the separation speed at the chassis velocity `warm` before the
    /// loads, and a current speed that continues the jounce rate at the start. No wheel counts as at its droop stop.
    #[inline(always)]
    pub(crate) fn init_load(&mut self, bank: &WheelPack<W>, warm: SpatialVector<W>, dt: f32) {
        self.set_droop_row(bank, dt);
        self.suspension.warm_speed = self.separation_velocity(warm);
        self.solution.velocity.normal = -self.contact.jounce_rate * self.contact.normal_cosine;
        self.suspension.at_droop_stop = W::Mask::default();
    }

    /// Sets the stiff row that keeps a wheel at its droop stop from leaving the ground before the end of the step: its impulse is 0 at the speed with
    /// which the wheel just reaches the droop stop at the end of the step, and falls with [`RIGID_GAIN_FACTOR`] times the carried mass.
    #[inline(always)]
    fn set_droop_row(&mut self, bank: &WheelPack<W>, dt: f32) {
        // Height of the ground above the position of the wheel at its droop stop, m.
        let gap = self.synchronous_compression() + self.contact.beyond_droop + bank.droop_travel;
        let rigid = W::splat(RIGID_GAIN_FACTOR) * bank.carried_mass;
        self.suspension.droop_target = rigid * gap / (W::splat(dt) * self.contact.normal_cosine);
        self.suspension.droop_gain = rigid / (self.contact.normal_cosine * self.contact.normal_cosine);
    }

    /// Computes the load impulse (N s) of strut, axle links and stops at the current speed along the normal, and its slope (kg). The load is at least
    /// 0, and at most that of the droop row. When this row first applies, the load can be negative once. Sets `load_active` (contact and load) and
    /// `at_droop_stop`, too; inactive wheels have load and slope 0.
    #[inline(always)]
    pub(crate) fn evaluate_load(&mut self, bank: &WheelPack<W>) {
        let (zero, speed) = (W::splat(0.0), self.solution.velocity.normal);
        // Final jounce rate, m/s.
        let ends = -speed / self.contact.normal_cosine;
        self.relinearise_strut(bank, ends, self.dt);
        let strut = [self.suspension.load_target - self.suspension.load_gain * speed, self.suspension.load_gain];
        let linked = self.suspension.axle_links.impulse;
        let [mut load, mut slope] = [strut[0] + linked, strut[1]];
        let stopped = self.wheels_reaching_stops(bank, ends, self.dt);
        if W::any(stopped) {
            let found = self.load_with_stops(bank, strut, linked, ends, self.dt);
            (load, slope) = (W::select(stopped, found[0], load), W::select(stopped, found[1], slope));
        }
        let droop = self.suspension.droop_target - self.suspension.droop_gain * speed;
        // Wheels whose droop stop limits the load.
        let held = droop.less(load);
        // The row of the stop is so stiff that a solve would step across it. It pulls once, until the solve has included it. A landing
        // wheel does not need it, because its travel ends by itself.
        let lands = self.contact.contact_share.less(W::splat(1.0));
        // Wheels that reach the droop stop for the first time in this solve.
        let reached = held & zero.less(load) & !self.suspension.at_droop_stop & !lands;
        load = W::select(held, droop, load);
        self.suspension.at_droop_stop = self.suspension.at_droop_stop | held;
        self.suspension.load_active = self.contact.in_contact & (zero.less(load) | reached);
        self.suspension.load = load.masked(self.suspension.load_active);
        self.suspension.load_slope =
            W::select(held, self.suspension.droop_gain, slope).masked(self.suspension.load_active);
    }

    /// Returns true if another evaluation at the same speed could change a load, because a droop stop was reached and pulls only once.
    #[inline(always)]
    pub(crate) fn changes_on_reevaluation(&self) -> bool {
        W::any(self.suspension.at_droop_stop)
    }

    /// Sets the speed of the load rows to the chassis velocity `after`, and `linearised_load` to the load that the linearisation predicts there,
    /// without the part of the axle links. Does not evaluate the loads.
    #[inline(always)]
    pub(crate) fn set_load_velocity(&mut self, after: SpatialVector<W>) {
        let speed = self.separation_velocity(after);
        self.suspension.linearised_load = self.suspension.load
            + self.suspension.load_slope * (self.solution.velocity.normal - speed)
            - self.suspension.axle_links.impulse;
        self.solution.velocity.normal = speed;
    }

    /// Computes the loads at the current speed. Returns the wheels whose load differs from the prediction of the linearisation by more than
    /// [`LOAD_TOLERANCE`]; a wheel without load in the linearisation has the prediction 0.
    #[inline(always)]
    pub(crate) fn update_load(&mut self, bank: &WheelPack<W>) -> W::Mask {
        let pressed = self.suspension.load_active;
        self.evaluate_load(bank);
        // Predicted load, N s.
        let told = (self.suspension.linearised_load + self.suspension.axle_links.impulse).masked(pressed);
        let [relative, weight] = LOAD_TOLERANCE.map(W::splat);
        // Tolerance, N s.
        let allowed = relative * self.suspension.load + weight * self.suspension.strut.weight;
        allowed.less((self.suspension.load - told).abs())
    }
}

/// Returns the response of the loads of all wheels to the chassis velocity as outer products, and the sum of [`target_loads`] over all wheels.
#[inline(always)]
fn load_system<W: WheelLanes>(rows: &[WheelRows<W>]) -> (OuterProducts<W>, SpatialVector<W::Car>) {
    let (first, others) = rows.split_at(W::ROWS_PER_AXLE_PAIR);
    let mut products = OuterProducts::from_terms(
        #[inline(always)]
        |k| [first[k].load_gain_row()],
    );
    let mut given = target_loads(first);
    for rows in others.chunks(W::ROWS_PER_AXLE_PAIR) {
        for (k, rows) in rows.iter().enumerate() {
            let (slope, normal) = rows.load_gain_row();
            products.add_to_row(k, slope, normal);
        }
        given = given + target_loads(rows);
    }
    (products, given)
}

/// Returns the impulse on the chassis of the linearised loads of two axles at the velocity `warm` before the loads: `Σ n (load + slope (current speed
/// − warm speed))`.
#[inline(always)]
fn target_loads<W: WheelLanes>(rows: &[WheelRows<W>]) -> SpatialVector<W::Car> {
    let wished = SpatialVector::sum_over_wheels(
        #[inline(always)]
        |k| {
            let WheelRows { suspension, contact, solution: coupled, .. } = &rows[k];
            let target = suspension.load + suspension.load_slope * (coupled.velocity.normal - suspension.warm_speed);
            contact.normal * target
        },
    );
    SpatialVector::default() + wished
}
