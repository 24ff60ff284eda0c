//! Unsprung masses: each wheel is a mass between its strut and the vertical spring of its tyre.
//!
//! The coordinate q is the travel along the suspension, so that no joint can drift. For a given chassis velocity V, the travel rates at the
//! end of the step follow from the balance of impulses, jointly for both wheels of an axle that a beam or axle links connect. With
//! `b = m (ẑ, r × ẑ)`, the coupling of the wheel to the chassis motion, the strut impulse S, the tyre impulse N at the angle γ between
//! normal and travel, and the tangential tyre impulse T_z along the travel,
//!
//! ```text
//! m (q̇ − q̇₀) + b · (V − V_free) = N(q̇) cos γ + T_z − S(q̇)
//! M (V − V_free)                 = Σ n N + tyres − b (q̇ − q̇₀)
//! ```
//!
//! where M includes the wheels. Both sides stay symmetric when q̇ is eliminated (Featherstone, *Rigid Body Dynamics Algorithms*, ch. 7, for
//! a tree of this depth). S is the strut of [`crate::assembly::suspension::strut`]. The tyre spring also acts with its mean force along the travel,
//! and can only push.
//!
//! The wheels of a solid axle are connected by a beam. It rotates about its roll centre by `θ = (q_l − q_r) / t` with the track t, and
//! moves both wheel centres, at the height R above it, sideways. With the lateral row y and the vertical row z at the wheel centre, and
//! `σ = ±R / t`, each wheel has the row `b = m (ẑ − σ (y_l + y_r + θ (z_l + z_r)))`, the mass `m + 2 m σ²`, and the coupling mass
//! `2 m σ_l σ_r` to the other wheel. Lateral forces reach the body through the beam at its roll centre. If the roll centre is at the
//! ground, they load both struts equally. Otherwise R counts from the roll centre height, and [`crate::assembly::suspension::roll_centre`] adds the
//! rest.

use crate::assembly::suspension::strut::{LOST_DAMPING_SHARE, MAX_STIFFENING, StopOverlap, end_rate_weight};
use crate::model::wheel_pack::{Beam, WheelPack};
use crate::port::{MAX_OVERLAP_CORRECTION_MPS, Probe};
use crate::simd::lane::{F32x4, Lane, Mask32x4, WheelLanes};
use crate::simd::linear::{OuterProducts, SpatialVector, Symmetric6};
use crate::simd::vectors::Vec3Lanes;
use crate::simd::wheel_groups::ManyGroups;
use crate::solver_mode::SolverMode;
use crate::state::WheelState;
use crate::suspension::rows::{Scrub, TyreStep, UnsprungMotion};
use crate::vehicle::Vehicle;
use crate::vehicle::rows::WheelRows;
use bevy_math::Vec3;

/// Square of ω dt up to which wheel hop follows the midpoint rule. Faster modes are damped increasingly, because a step cannot resolve them and they
/// would alternate from step to step.
const MAX_RESOLVED_PHASE_SQUARED: f32 = 9.0;

/// Maximum number of iterations for the travel rates. Two are typical, more if a wheel lands, lifts off or reaches a stop.
const MAX_TRAVEL_ITERATIONS: usize = 24;

/// Tolerance for the change of a travel rate, m/s.
const TRAVEL_RATE_TOLERANCE_MPS: f32 = 1e-6;

/// Maximum number of load solves before the coupling.
const MAX_SOLVES_BEFORE_COUPLING: usize = 4;
/// Change of the chassis velocity below which the coupling takes over, m/s.
const CHASSIS_SPEED_TOLERANCE_MPS: f32 = 1e-3;

/// Share of the initial residual along a step: if the residual at the end is opposite and larger than this share, the step is cut.
const MAX_OVERSHOOT_RATIO: f32 = 0.5;
/// Smallest share of a cut step that is kept, and smallest share that is cut off.
const MIN_CUT_SHARE: f32 = 0.1;

impl UnsprungMotion {
    /// Adds the lateral motion of the wheels' beam at wheel centres `centre` and `travel` (m): the row term `−m σ (y_l + y_r + θ (z_l + z_r))`, the
    /// mass `2 m σ²` and the coupling mass `2 m σ_l σ_r`, see the module's equations.
    fn add_beam_motion(&mut self, bank: &WheelPack, beam: &Beam, centre: Vec3Lanes<F32x4>, travel: F32x4) {
        // Sum of the rows of both wheel centres of an axle in one direction.
        let row = |along: Vec3| {
            SpatialVector::new(Vec3Lanes::splat(along), centre.cross(Vec3Lanes::splat(along))).plus_opposite()
        };
        let across = row(Vec3::Y) + row(Vec3::Z) * beam.tilt(travel);
        self.momentum_row = self.momentum_row - across * (beam.sway * bank.unsprung_mass);
        // Lateral momentum of both wheels per travel rate, 2 m σ, kg.
        let carried = F32x4::splat(2.0) * bank.unsprung_mass * beam.sway;
        self.mass += carried * beam.sway;
        self.coupling_mass = carried * beam.sway.opposite();
    }

    /// Returns the decrease of the impulse on each wheel per travel rate of the opposite one, due to beams and axle links, kg; `None` if the bank has
    /// no beam and no gain differs from 0.
    fn opposite_gain(&self, bank: &WheelPack) -> Option<F32x4> {
        let (between, zero) = (self.coupling_mass + self.axle_links[1], F32x4::default());
        (bank.beam.is_some() || F32x4::any(zero.less(between.abs()))).then_some(between)
    }
}

impl<W: WheelLanes> UnsprungMotion<W> {
    /// Returns the impulse on the chassis due to the acceleration of the unsprung masses along their travel, `b (q̇₀ − q̇)`.
    #[inline(always)]
    pub(crate) fn travel_impulse(&self) -> SpatialVector<W> {
        self.momentum_row * (self.rate - self.next_rate)
    }

    /// Returns the travel (m) after a step of `dt` s from `travel`. The world moves poses with the initial rate for `pose_lag` s and with the final
    /// rate for the rest; the travel follows the same rule.
    pub(crate) fn next_travel(&self, travel: W, pose_lag: f32, dt: f32) -> W {
        travel + self.rate * W::splat(pose_lag) + self.next_rate * W::splat(dt - pose_lag)
    }
}

/// Response of the load of an unsprung wheel to the chassis velocity.
pub(crate) struct UnsprungTangent {
    /// Gain along the contact normal, kg.
    normal_gain: F32x4,
    /// Gain along `travel_row`, 1/kg, negative: the reduction by the motion of the unsprung mass.
    travel_gain: F32x4,
    /// Row of the impulse that the travel rate transmits, tyre and inertia included.
    travel_row: SpatialVector<F32x4>,
    /// Half of the gain along the sum of both wheels' `travel_row`, 1/kg; `None` if neither beam nor axle links connect them.
    axle_gain: Option<F32x4>,
}

impl UnsprungTangent {
    /// Adds the response to `products` as outer products gain · row rowᵀ: along the contact normals, along `travel_row`, and along the sum of both
    /// wheels' `travel_row` if they are connected.
    pub(crate) fn add_to(&self, products: &mut OuterProducts, rows: &WheelRows) {
        products.add(self.normal_gain, rows.contact.normal);
        products.add(self.travel_gain, self.travel_row);
        if let Some(together) = self.axle_gain {
            products.add(together, self.travel_row.plus_opposite());
        }
    }
}

/// Balance of the impulses on unsprung masses along their travel, at given travel rates.
struct TravelBalance {
    /// Impulse of the tyre, N s.
    tyre: F32x4,
    /// Decrease of the tyre impulse per travel rate, kg.
    tyre_slope: F32x4,
    /// Decrease of the total impulse on a wheel per travel rate of its own, kg.
    inertia: F32x4,
    /// Decrease of the total impulse on a wheel per travel rate of the opposite wheel, kg; `None` without connection.
    opposite_gain: Option<F32x4>,
    /// Residual: total impulse minus change of momentum, N s.
    residual: F32x4,
    /// Wheels that end the step at their droop stops.
    at_droop_stop: Mask32x4,
}

impl TravelBalance {
    /// Returns the Newton step of the travel rates, m/s: residual over inertia, or the solution of the symmetric 2×2 system of both wheels of an
    /// axle. 0 for wheels at their droop stops, from which the opposite wheel is decoupled.
    fn newton_step(&self) -> F32x4 {
        // Residual of wheels that are free to move, N s.
        let missing = self.residual.masked(!self.at_droop_stop);
        let Some(between) = self.opposite_gain else { return missing / self.inertia };
        let opposite = self.inertia.opposite();
        let between = between.masked(!self.at_droop_stop & !opposite_at_droop_stop(self.at_droop_stop));
        (opposite * missing - between * missing.opposite()) / (self.inertia * opposite - between * between)
    }

    /// Returns the sum of both wheels of an axle if they are solved together, otherwise the value itself.
    fn sum_over_axle(&self, of: F32x4) -> F32x4 {
        if self.opposite_gain.is_some() { of + of.opposite() } else { of }
    }

    /// Returns the decrease of the residual for a `step` of the travel rates (m/s), N s.
    fn residual_decrease(&self, step: F32x4) -> F32x4 {
        let alone = self.inertia * step;
        self.opposite_gain.map_or(alone, |between| alone + between * step.opposite())
    }
}

/// Returns the wheels whose opposite wheel is in `ended` (wheels at their droop stops).
fn opposite_at_droop_stop(ended: Mask32x4) -> Mask32x4 {
    F32x4::default().less(F32x4::splat(1.0).masked(ended).opposite())
}

/// Returns the response of the travel rates to impulses, 1/kg, from the inverse of the 2×2 matrix with the diagonal `inertia` and the coupling
/// `between` (kg): the negative gain of each wheel alone, and half the gain of the sum of both wheels. A wheel of `ended` (at its droop stop) leaves
/// the opposite wheel uncoupled: `−1 / inertia` and 0.
fn beam_response(inertia: F32x4, between: F32x4, ended: Mask32x4) -> (F32x4, F32x4) {
    let (one, opposite) = (F32x4::splat(1.0), inertia.opposite());
    let determinant = inertia * opposite - between * between;
    // Wheels whose opposite wheel is at its droop stop.
    let left_alone = opposite_at_droop_stop(ended);
    let yielding = F32x4::select(left_alone, one / inertia, (opposite + between) / determinant);
    let together = F32x4::splat(0.5) * between / determinant;
    (-yielding, together.masked(!ended & !left_alone))
}

/// Last step of the travel rates, for the line search.
#[derive(Default)]
struct TravelLineSearch {
    /// Part of the last step that was kept, m/s.
    step: F32x4,
    /// Product of the step and the residual at its start, J.
    initial_slope: F32x4,
}

impl TravelLineSearch {
    /// Returns the next step of the travel rates, and the wheels whose last step overshot. A step overshoots if its product with the residual has
    /// changed its sign and exceeds [`MAX_OVERSHOOT_RATIO`] of its initial value. These wheels go back by a part of it: the kept share is the larger
    /// one of secant and tangent, within [`MIN_CUT_SHARE`] of both ends. The others take the step `newton` (m/s). `found` is the balance at the end
    /// of the last step. Stores the new step in `self`.
    fn next_step(&mut self, newton: F32x4, found: &TravelBalance) -> (F32x4, Mask32x4) {
        let one = F32x4::splat(1.0);
        // Product of the last step and the residual at its end, J.
        let ahead = found.sum_over_axle(self.step * found.residual);
        // Wheels with a previous step that led downhill.
        let went = F32x4::splat(TRAVEL_RATE_TOLERANCE_MPS).less(found.sum_over_axle(self.step.abs()))
            & F32x4::default().less(self.initial_slope);
        let too_far = went & ahead.less(F32x4::splat(-MAX_OVERSHOOT_RATIO) * self.initial_slope);
        // Product of the new step and the residual at its start, J.
        let downhill = found.sum_over_axle(newton * found.residual);
        if !F32x4::any(too_far) {
            *self = Self { step: newton, initial_slope: downhill };
            return (newton, too_far);
        }
        let secant = self.initial_slope / (self.initial_slope - ahead);
        let tangent = one + ahead / found.sum_over_axle(self.step * found.residual_decrease(self.step));
        // Share of the last step that is kept.
        let kept =
            secant.at_least(tangent).clamp_nan_to_low(F32x4::splat(MIN_CUT_SHARE), F32x4::splat(1.0 - MIN_CUT_SHARE));
        let step = F32x4::select(too_far, self.step * (kept - one), newton);
        self.step = F32x4::select(too_far, self.step * kept, newton);
        self.initial_slope = F32x4::select(too_far, self.initial_slope, downhill);
        (step, too_far)
    }
}

impl Vehicle {
    /// Returns true if wheels have unsprung masses in a step with this `coupling`: it must be a converged one that enables them, and the model must
    /// know the mass of every wheel.
    #[inline(always)]
    pub(crate) fn uses_unsprung(&self, coupling: SolverMode) -> bool {
        matches!(coupling, SolverMode::Converged { unsprung: true, .. }) && self.has_unsprung_masses()
    }

    /// Returns true if the model knows the unsprung mass of every wheel.
    #[inline(always)]
    fn has_unsprung_masses(&self) -> bool {
        self.model.wheels().iter().all(|wheel| wheel.unsprung.is_some())
    }

    /// Returns a clone with the memory for unsprung masses already allocated if the model knows the mass of every wheel.
    pub(crate) fn with_unsprung_memory(&self) -> Self {
        let mut same = self.clone();
        for rows in same.rows.iter_mut().filter(|_| self.has_unsprung_masses()) {
            rows.unsprung_motion.get_or_insert_default();
        }
        same
    }

    /// Extends the probes `asked` by the static tyre deflection in steps with unsprung masses, so that they reach ground that unloaded tyres touch.
    #[inline(always)]
    pub(crate) fn extend_probes_by_tyres(&self, coupling: SolverMode, asked: &mut [Probe]) {
        if self.uses_unsprung(coupling) {
            self.extend_probes(asked);
        }
    }

    /// Lengthens the rays of all wheels by their static tyre deflection (m).
    #[cold]
    #[inline(never)]
    fn extend_probes(&self, asked: &mut [Probe]) {
        for bank in self.model.wheel_packs() {
            let farther = bank.static_tyre_deflection().lanes();
            bank.for_each_wheel(|lane, wheel| {
                if let Some(probe) = asked.get_mut(wheel) {
                    probe.length += farther[lane];
                }
            });
        }
    }

    /// Initialises the motion of the unsprung masses for this step from the compressions and travel rates of the wheel states. `pose_lag` is the time
    /// (s) by which poses lag behind velocities.
    pub(crate) fn init_unsprung(&mut self, pose_lag: f32) {
        for (bank, rows) in self.model.wheel_packs().iter().zip(&mut self.rows) {
            let was = |of: fn(&WheelState) -> f32| bank.gather(|i| of(&self.state.wheels[i]));
            rows.init_travel(bank, was(|w| w.compression), was(|w| w.travel_rate), F32x4::splat(pose_lag));
        }
    }

    /// Solves the loads of wheels with unsprung masses from the velocity `warm` (after the tyre impulses of the last step), with constant tangential
    /// tyre forces, and returns the chassis velocity after them. `free` is the chassis velocity without wheels. Linearises the travel once; each
    /// Newton iteration then solves axle links, loads and travel rates at the current velocity and the 6×6 system of the chassis. It ends after
    /// [`MAX_SOLVES_BEFORE_COUPLING`] solves or with a change below [`CHASSIS_SPEED_TOLERANCE_MPS`]. The rows keep the loads before the last change.
    pub(crate) fn solve_unsprung_loads(
        &mut self,
        free: SpatialVector<f32>,
        warm: SpatialVector<f32>,
        dt: f32,
    ) -> SpatialVector<f32> {
        for (bank, rows) in self.model.wheel_packs().iter().zip(&mut self.rows) {
            rows.with_unsprung(|rows, unsprung| {
                rows.linearise_travel(unsprung, bank, dt);
                rows.update_tyre_lift(unsprung, bank);
            });
        }
        let mut after = warm;
        for _ in 0..MAX_SOLVES_BEFORE_COUPLING {
            for rows in &mut self.rows {
                rows.set_velocity(after.broadcast_to_wheels(), (after - free).broadcast_to_wheels());
            }
            self.update_link_impulses::<ManyGroups>();
            let mut products = OuterProducts::zero();
            self.add_axle_links::<ManyGroups>(&mut products, SpatialVector::default());
            let mut given = self.external_bar_impulse;
            for (bank, rows) in self.model.wheel_packs().iter().zip(&mut self.rows) {
                rows.with_unsprung(|rows, unsprung| {
                    rows.unsprung_load(unsprung, bank).add_to(&mut products, rows);
                    given = given + (rows.contact.normal * rows.suspension.load + unsprung.travel_impulse()).sum();
                });
            }
            let system = Symmetric6::new(self.model.mass(), self.model.inertia(), &products);
            let change = system.solve(given - self.momentum(after - warm));
            after = after + change;
            if change.dot(change) < CHASSIS_SPEED_TOLERANCE_MPS * CHASSIS_SPEED_TOLERANCE_MPS {
                break;
            }
        }
        after
    }
}

impl WheelRows {
    /// Calls `part` with the rows and their unsprung motion, which is taken out for the call and put back, and returns its result. Returns `None`
    /// without a call if the wheels have no unsprung masses in this step.
    #[inline(always)]
    pub(crate) fn with_unsprung<R>(&mut self, part: impl FnOnce(&mut Self, &mut UnsprungMotion) -> R) -> Option<R> {
        if !self.has_unsprung {
            return None;
        }
        let mut unsprung = self.unsprung_motion.take()?;
        let done = part(self, &mut unsprung);
        self.unsprung_motion = Some(unsprung);
        Some(done)
    }

    /// Adds the static tyre deflection to `beyond_droop` of wheels in contact, which reduces their gap to the ground. Compressions count from the
    /// loaded tyre, and an unloaded tyre touches the ground earlier.
    #[inline(always)]
    pub(crate) fn reduce_gap_by_tyres(&mut self, bank: &WheelPack) {
        let farther = bank.static_tyre_deflection().masked(self.contact.in_contact);
        self.contact.beyond_droop += farther;
    }

    /// Initialises the unsprung masses at their `travel` (m) and its `rate` (m/s): contact points on roll centre links, deflection and rate of the
    /// tyres from ground and wheel heights, momentum rows and masses with beam or links, and lateral scrub speeds. Then replaces compression and
    /// jounce rate of the contacts by `travel` and `rate`, with contact for the whole step and no gap, and sets `has_unsprung`. `pose_lag` is the lag
    /// of the pose behind the velocity (s).
    fn init_travel(&mut self, bank: &WheelPack, travel: F32x4, rate: F32x4, pose_lag: F32x4) {
        if let Some(links) = &bank.roll_centre_links {
            self.shift_contact_points(links, travel);
        }
        let up = Vec3Lanes::splat(Vec3::Z);
        let centre = bank.contact + up * (travel + bank.radius);
        let (half, step) = (F32x4::splat(0.5), F32x4::splat(self.dt));
        // Ground height relative to the unloaded tyre, synchronous with the velocities like the struts.
        let ground =
            self.contact.compression + self.contact.beyond_droop + self.contact.jounce_rate * (pose_lag - half * step);
        let mut unsprung = self.unsprung_motion.take().unwrap_or_default();
        // Travel synchronous with the velocities, m.
        let begun = travel + rate * (pose_lag - half * step);
        unsprung.tyre.deflection = ground - begun;
        unsprung.tyre.rate = self.contact.jounce_rate - rate;
        // Compression of the strut if the wheel had its static tyre deflection, m.
        let middle = ground - bank.static_tyre_deflection() + F32x4::splat(0.25) * step * self.contact.jounce_rate;
        unsprung.ground_compression = middle.clamp_nan_to_low(-bank.droop_travel, bank.solid_travel);
        unsprung.ground_share = self.contact.contact_share;
        unsprung.ground_rate = self.contact.jounce_rate;
        (unsprung.rate, unsprung.next_rate) = (rate, rate);
        unsprung.momentum_row = SpatialVector::new(up, centre.cross(up)) * bank.unsprung_mass;
        (unsprung.mass, unsprung.coupling_mass) = (bank.unsprung_mass, F32x4::default());
        if let Some(beam) = &bank.beam {
            unsprung.add_beam_motion(bank, beam, centre, travel);
        }
        unsprung.scrub = Scrub::default();
        if let Some(links) = &bank.roll_centre_links {
            unsprung.add_link_motion(bank, links, centre);
            unsprung.scrub.speed = self.scrub_speeds(links, rate);
            let [along, across] = unsprung.scrub.speed;
            self.contact.start_speed[0] += along;
            self.contact.start_speed[1] += across;
        }
        (self.contact.compression, self.contact.beyond_droop) = (travel, F32x4::default());
        self.contact.contact_share = F32x4::splat(1.0);
        self.contact.compression_lag = rate * pose_lag;
        self.contact.jounce_rate = rate;
        (self.has_unsprung, self.unsprung_motion) = (true, Some(unsprung));
    }

    /// Computes the damping of the tyre over the step of `dt` s, increased by the damping of wheel hop that the midpoint rule loses, and by numerical
    /// damping for modes beyond [`MAX_RESOLVED_PHASE_SQUARED`]. Sets `late_damping`, the gains of the axle links and the smallest travel rate, with
    /// which the wheel ends the step at its droop stop.
    fn linearise_travel(&self, unsprung: &mut UnsprungMotion, bank: &WheelPack, dt: f32) {
        let (zero, half, one, step) = (F32x4::splat(0.0), F32x4::splat(0.5), F32x4::splat(1.0), F32x4::splat(dt));
        let mass = unsprung.mass;
        unsprung.axle_links = self.axle_link_gains(step);
        unsprung.min_next_rate = ((-bank.droop_travel - self.synchronous_compression()) / step)
            .at_most(F32x4::splat(MAX_OVERLAP_CORRECTION_MPS));
        let rate = bank.tyre_rate;
        // Square of ω dt of wheel hop.
        let relative = (rate + self.strut_rate() + self.suspension.axle_links.rate) * step * step / mass;
        let lost = (bank.tyre_damping + self.strut_damping(bank)) * relative.at_most(F32x4::splat(MAX_STIFFENING));
        let damping = bank.tyre_damping + lost * F32x4::splat(LOST_DAMPING_SHARE);
        let share = end_rate_weight(damping * step / mass);
        // Transition from the midpoint rule (weight 1/4 for both rates) to implicit Euler with the mean velocity (weights 1/2 and 1).
        let unresolved = (one - F32x4::splat(MAX_RESOLVED_PHASE_SQUARED) / relative).at_least(zero) * rate * step;
        let tyre = &mut unsprung.tyre;
        tyre.damping = share * damping + F32x4::splat(0.75) * unresolved;
        // Share of the travel with tyre contact; 0 if the tyre starts above the ground.
        let within = StopOverlap::new(tyre.deflection, tyre.deflection + step * tyre.rate)
            .share
            .masked(zero.less(tyre.deflection));
        tyre.late_damping = ((one - share - share) * damping - half * unresolved) * tyre.rate * within;
    }

    /// Returns the increase of the axle link impulse per travel rate of the wheel and of the opposite one, kg, in a `step` (s). Links to wheels of
    /// other axles count twice, see [`Self::strut_and_link_impulse`].
    fn axle_link_gains(&self, step: F32x4) -> [F32x4; 2] {
        let (half, linked) = (F32x4::splat(0.5), &self.suspension.axle_links);
        // Gains of the bars and heave springs to the opposite wheel, kg.
        let bars = F32x4::splat(0.25) * step * step * linked.bar_rate;
        let [rate, damping] = linked.heave_gains;
        let heave = half * step * (half * step * rate + damping);
        // Twice the gain of all axle links, kg.
        let twice = step * (half * step * linked.rate + linked.damping);
        [twice - (bars + heave), heave - bars]
    }

    /// Returns the impulse of the tyre along the travel (N s, ≥ 0) and its slope (kg) if its deflection rate ends at `ends` (m/s): `dt` times the
    /// mean spring force along the travel plus the damper force. Both are 0 without contact or if the tyre would pull.
    ///
    /// For a travel that is partly above the ground, the damper acts with the mean rate of the part below it, so that the impulse only increases with
    /// `ends`. The additional force by the larger weight of the final rate (`late_damping`) is limited: acting in the direction of the motion, it
    /// would add energy to a wheel that reverses within the step.
    fn tyre_impulse(&self, tyre: &TyreStep, bank: &WheelPack, ends: F32x4) -> [F32x4; 2] {
        let (zero, step) = (F32x4::splat(0.0), F32x4::splat(self.dt));
        // Change of the final deflection per final rate, s.
        let turn = F32x4::splat(0.5 * self.dt);
        let (begun, rates) = (tyre.deflection, tyre.rate + ends);
        let ended = begun + turn * rates;
        // Mean deflection of the tyre along the travel.
        let squashed = StopOverlap::new(begun, ended);
        let partly = begun.less(zero) | ended.less(zero);
        // Sum of both rates that gives the part of the travel below the ground, m/s.
        let within = (ended.at_least(zero) - begun.at_least(zero)) / turn;
        let rates = F32x4::select(partly, within, rates);
        // Damper force with equal weights of both rates, N.
        let both = tyre.damping * rates;
        let [low, high] = [tyre.late_damping.at_most(zero), tyre.late_damping.at_least(zero)];
        // Wheels whose damper force is cancelled by `late_damping`.
        let still = low.less(-both) & (-both).less(high);
        let force = bank.tyre_rate * squashed.mean + (both + (-both).clamp_nan_to_low(low, high));
        let slope = bank.tyre_rate * squashed.slope * turn + tyre.damping.masked(zero.less(ended) & !still);
        let presses = self.contact.in_contact & zero.less(force);
        [(step * force).masked(presses), (step * slope).masked(presses)]
    }

    /// Solves load and travel rate of each wheel at the current chassis velocity, stores them, and returns their response to it. The load is the tyre
    /// impulse divided by the cosine between normal and travel. Wheels at their droop stops have no response of the travel. On roll centre links, the
    /// lateral motion `scrub` is updated, too.
    pub(crate) fn unsprung_load(&mut self, unsprung: &mut UnsprungMotion, bank: &WheelPack) -> UnsprungTangent {
        let cosine = self.contact.normal_cosine;
        let TravelBalance { tyre, tyre_slope, inertia, opposite_gain: between, at_droop_stop: ended, .. } =
            self.solve_travel_rate(unsprung, bank);
        self.suspension.load = tyre / cosine;
        // Decrease of the load per separation speed, kg.
        let pressing = tyre_slope / (cosine * cosine);
        // Impulse on the chassis per travel rate.
        let through = self.contact.normal * (tyre_slope / cosine) + unsprung.momentum_row;
        let (yielding, together) = match between {
            Some(between) => {
                let (yielding, together) = beam_response(inertia, between, ended);
                (yielding, Some(together))
            }
            None => (F32x4::splat(-1.0) / inertia, None),
        };
        // A wheel at its droop stop, or an empty lane, does not yield.
        let yielding = yielding.masked(bank.present_mask() & !ended);
        if let Some(links) = &bank.roll_centre_links {
            let both = together.map_or(F32x4::default(), |together| F32x4::splat(-2.0) * together);
            unsprung.scrub = self.link_scrub(unsprung, links, [both - yielding, both], tyre_slope / cosine);
        }
        UnsprungTangent { normal_gain: pressing, travel_gain: yielding, travel_row: through, axle_gain: together }
    }

    /// Iterates the final travel rates to the balance of all impulses, jointly for both wheels of an axle that beam or axle links connect. Stores the
    /// rates in `next_rate` and returns the last balance. No rate falls below that of the droop stop.
    ///
    /// The residual decreases along a step. A step that overshoots is cut back, as for the chassis velocity. Within the tolerance, the last step is
    /// still applied and the tyre impulse linearly extrapolated. After [`MAX_TRAVEL_ITERATIONS`] the current rates are kept.
    fn solve_travel_rate(&mut self, unsprung: &mut UnsprungMotion, bank: &WheelPack) -> TravelBalance {
        let (slowest, present) = (unsprung.min_next_rate, bank.present_mask());
        let between = unsprung.opposite_gain(bank);
        let mut rate = unsprung.next_rate.at_least(slowest);
        let mut last = TravelLineSearch::default();
        // Number of balances evaluated.
        let mut looks = 1;
        loop {
            let mut found = self.balance_at(unsprung, bank, between, rate);
            let newton = ((rate + found.newton_step()).at_least(slowest) - rate).masked(present);
            let (step, cut) = last.next_step(newton, &found);
            // Wheels whose rate still changes by more than the tolerance.
            let unsettled = (cut | F32x4::splat(TRAVEL_RATE_TOLERANCE_MPS).less(step.abs())) & present;
            if !F32x4::any(unsettled) {
                rate += step;
                found.tyre = (found.tyre - found.tyre_slope * step).at_least(F32x4::default());
            } else if looks < MAX_TRAVEL_ITERATIONS {
                rate += step;
                looks += 1;
                continue;
            }
            unsprung.next_rate = rate;
            return found;
        }
    }

    /// Returns the balance of the impulses along the travel for the final travel rates `ends` (m/s). The residual is tyre + tyre lift − strut and
    /// links − m (q̇ − q̇₀) − b · (V − V_free), less the coupling terms of the opposite wheel if `between`, the coupling gain (kg), is given. A wheel
    /// is at its droop stop if its rate is the smallest one and the residual is negative.
    fn balance_at(
        &mut self,
        unsprung: &UnsprungMotion,
        bank: &WheelPack,
        between: Option<F32x4>,
        ends: F32x4,
    ) -> TravelBalance {
        let (mass, cosine) = (unsprung.mass, self.contact.normal_cosine);
        let [strut, strut_slope] = self.strut_and_link_impulse(unsprung, bank, ends);
        let [tyre, tyre_slope] =
            self.tyre_impulse(&unsprung.tyre, bank, -self.solution.velocity.normal / cosine - ends);
        let mut missing =
            tyre - strut - mass * (ends - unsprung.rate) - self.solution.velocity.heave + unsprung.tyre_lift;
        if between.is_some() {
            let carried = unsprung.coupling_mass * (ends - unsprung.rate).opposite();
            let linked = unsprung.axle_links[1] * (ends - self.suspension.axle_links.link_rate).opposite();
            missing = missing - (carried + linked);
        }
        let ended = !unsprung.min_next_rate.less(ends) & missing.less(F32x4::default());
        TravelBalance {
            tyre,
            tyre_slope,
            inertia: mass + strut_slope + tyre_slope,
            opposite_gain: between,
            residual: missing,
            at_droop_stop: ended,
        }
    }

    /// Returns the impulse of strut, stops and axle links along the travel (N s) and its slope (kg) for the final travel rates `ends` (m/s).
    ///
    /// Axle links use the last known rates of the wheels of other axles, and twice their gain for changes since. This is the largest response of an
    /// axle link to both of its wheels, so that axle links never add energy, wherever the iteration ends.
    fn strut_and_link_impulse(&mut self, unsprung: &UnsprungMotion, bank: &WheelPack, ends: F32x4) -> [F32x4; 2] {
        let [mut impulse, mut slope] = self.unsprung_strut(bank, ends, self.dt);
        // Travel within the step, m.
        let way = F32x4::splat(0.5 * self.dt) * (unsprung.rate + ends);
        let farthest = self.suspension.strut.start_travel + way.at_least(F32x4::default());
        if F32x4::any(bank.bump_travel.less(farthest) & bank.present_mask()) {
            let [stop, stop_slope] = self.stop_impulse(bank, ends, self.dt);
            impulse += stop;
            slope += stop_slope;
        }
        let gain = unsprung.axle_links[0];
        [
            impulse + self.suspension.axle_links.impulse + gain * (ends - self.suspension.axle_links.link_rate),
            slope + gain,
        ]
    }

    /// Sets `tyre_lift`, the upward impulse along the travel that the current tangential tyre impulses and the jacking force of the links produce, N
    /// s. On a beam, both wheels have the mean of the lateral parts.
    #[inline(always)]
    pub(crate) fn update_tyre_lift(&self, unsprung: &mut UnsprungMotion, bank: &WheelPack) {
        let across = self.contact.side.linear.z * self.solution.tyre_impulse[1];
        let across = bank.beam.map_or(across, |beam| beam.mean_of_ends(across));
        unsprung.tyre_lift = self.contact.forward.linear.z * self.solution.tyre_impulse[0] + across;
        if let Some(links) = &bank.roll_centre_links {
            unsprung.tyre_lift += links.jacking_force(self.lateral_tyre_impulse());
        }
    }
}
