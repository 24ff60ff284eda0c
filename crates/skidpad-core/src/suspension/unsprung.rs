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
//! a tree of this depth). S is the strut of [`crate::suspension::strut`]. The tyre spring also acts with its mean force along the travel,
//! and can only push.
//!
//! The wheels of a solid axle are connected by a beam. It rotates about its roll centre by `θ = (q_l − q_r) / t` with the track t, and
//! moves both wheel centres, at the height R above it, sideways. With the lateral row y and the vertical row z at the wheel centre, and
//! `σ = ±R / t`, each wheel has the row `b = m (ẑ − σ (y_l + y_r + θ (z_l + z_r)))`, the mass `m + 2 m σ²`, and the coupling mass
//! `2 m σ_l σ_r` to the other wheel. Lateral forces reach the body through the beam at its roll centre. If the roll centre is at the
//! ground, they load both struts equally. Otherwise R counts from the roll centre height, and [`crate::suspension::roll_centre`] adds the
//! rest.

use crate::lane::{F32x4, Lane, Mask32x4, WheelLanes};
use crate::linear::{OuterProducts, SpatialVector, Symmetric6};
use crate::state::WheelState;
use crate::step::rows::WheelRows;
use crate::step::solver_mode::SolverMode;
use crate::step::vehicle::Vehicle;
use crate::suspension::rows::{Scrub, TyreStep, UnsprungMotion};
use crate::suspension::strut::{LOST_DAMPING_SHARE, MAX_STIFFENING, StopOverlap, end_rate_weight};
use crate::vectors::Vec3Lanes;
use crate::wheel::pack::{Beam, WheelPack};
use crate::wheel_groups::ManyGroups;
use crate::world::port::{MAX_OVERLAP_CORRECTION_MPS, Probe};
use bevy_math::Vec3;

/// Square of ω dt up to which wheel hop follows the midpoint rule. Faster modes are damped increasingly, because a step cannot resolve them
/// and they would alternate from step to step.
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
    /// Adds the lateral motion of the wheels' beam to row and mass of the wheels at `centre` (m) and `travel` (m).
    fn add_beam_motion(&mut self, bank: &WheelPack, beam: &Beam, centre: Vec3Lanes<F32x4>, travel: F32x4) {
        let row = |along: Vec3| {
            SpatialVector::new(Vec3Lanes::splat(along), centre.cross(Vec3Lanes::splat(along))).plus_opposite()
        };
        let across = row(Vec3::Y) + row(Vec3::Z) * beam.tilt(travel);
        self.momentum_row = self.momentum_row - across * (beam.sway * bank.unsprung_mass);
        let carried = F32x4::splat(2.0) * bank.unsprung_mass * beam.sway;
        self.mass += carried * beam.sway;
        self.coupling_mass = carried * beam.sway.opposite();
    }

    /// Returns the decrease of the impulse on each wheel per travel rate of the opposite one, due to beams and axle links, kg; `None`
    /// without either.
    fn opposite_gain(&self, bank: &WheelPack) -> Option<F32x4> {
        let (between, zero) = (self.coupling_mass + self.axle_links[1], F32x4::default());
        (bank.beam.is_some() || F32x4::any(zero.less(between.abs()))).then_some(between)
    }
}

impl<W: WheelLanes> UnsprungMotion<W> {
    /// Returns the impulse on the chassis due to the acceleration of the unsprung masses.
    #[inline(always)]
    pub(crate) fn travel_impulse(&self) -> SpatialVector<W> {
        self.momentum_row * (self.rate - self.next_rate)
    }

    /// Returns the travel (m) after a step of `dt` s from `travel`. It moves by the rule for the pose: with the initial rate for `pose_lag`
    /// s and with the final rate for the rest.
    pub(crate) fn next_travel(&self, travel: W, pose_lag: f32, dt: f32) -> W {
        travel + self.rate * W::splat(pose_lag) + self.next_rate * W::splat(dt - pose_lag)
    }
}

/// Response of the load of an unsprung wheel to the chassis velocity.
pub(crate) struct UnsprungTangent {
    /// Gain along the contact normal, kg.
    normal_gain: F32x4,
    /// Gain along `through`, 1/kg, negative: the reduction by the motion of the unsprung mass.
    travel_gain: F32x4,
    /// Row of the impulse that the travel rate transmits, tyre and inertia included.
    travel_row: SpatialVector<F32x4>,
    /// Half of the gain along the sum of both wheels' `through`, 1/kg; `None` if neither beam nor axle links connect them.
    axle_gain: Option<F32x4>,
}

impl UnsprungTangent {
    /// Adds the response to `products`.
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
    /// Returns the Newton step of the travel rates, m/s.
    fn newton_step(&self) -> F32x4 {
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

/// Returns the wheels whose opposite wheel is in `ended`.
fn opposite_at_droop_stop(ended: Mask32x4) -> Mask32x4 {
    F32x4::default().less(F32x4::splat(1.0).masked(ended).opposite())
}

/// Returns the response of the travel rates to impulses, 1/kg: the negative gain of each wheel alone, and half the gain of the sum of both
/// wheels. A wheel at its droop stop leaves the opposite wheel uncoupled.
fn beam_response(inertia: F32x4, between: F32x4, ended: Mask32x4) -> (F32x4, F32x4) {
    let (one, opposite) = (F32x4::splat(1.0), inertia.opposite());
    let determinant = inertia * opposite - between * between;
    let left_alone = opposite_at_droop_stop(ended);
    let yielding = F32x4::select(left_alone, one / inertia, (opposite + between) / determinant);
    let together = F32x4::splat(0.5) * between / determinant;
    (-yielding, together.masked(!ended & !left_alone))
}

/// Last step of the travel rates, for the line search.
#[derive(Default)]
struct TravelLineSearch {
    /// Step, m/s.
    step: F32x4,
    /// Product of the step and the residual at its start, J.
    initial_slope: F32x4,
}

impl TravelLineSearch {
    /// Returns the next step of the travel rates, and the wheels whose last step overshot. These go back by a part of it; the others take
    /// the step `newton` (m/s). `found` is the balance at the end of the last step.
    fn next_step(&mut self, newton: F32x4, found: &TravelBalance) -> (F32x4, Mask32x4) {
        let one = F32x4::splat(1.0);
        let ahead = found.sum_over_axle(self.step * found.residual);
        let went = F32x4::splat(TRAVEL_RATE_TOLERANCE_MPS).less(found.sum_over_axle(self.step.abs()))
            & F32x4::default().less(self.initial_slope);
        let too_far = went & ahead.less(F32x4::splat(-MAX_OVERSHOOT_RATIO) * self.initial_slope);
        let downhill = found.sum_over_axle(newton * found.residual);
        if !F32x4::any(too_far) {
            *self = Self { step: newton, initial_slope: downhill };
            return (newton, too_far);
        }
        let secant = self.initial_slope / (self.initial_slope - ahead);
        let tangent = one + ahead / found.sum_over_axle(self.step * found.residual_decrease(self.step));
        let kept =
            secant.at_least(tangent).clamp_nan_to_low(F32x4::splat(MIN_CUT_SHARE), F32x4::splat(1.0 - MIN_CUT_SHARE));
        let step = F32x4::select(too_far, self.step * (kept - one), newton);
        self.step = F32x4::select(too_far, self.step * kept, newton);
        self.initial_slope = F32x4::select(too_far, self.initial_slope, downhill);
        (step, too_far)
    }
}

impl Vehicle {
    /// Returns true if wheels have unsprung masses in a step with this `coupling`: the model must know the mass of every wheel.
    #[inline(always)]
    pub(crate) fn uses_unsprung(&self, coupling: SolverMode) -> bool {
        matches!(coupling, SolverMode::Converged { unsprung: true, .. }) && self.has_unsprung_masses()
    }

    /// Returns true if the model knows the unsprung mass of every wheel.
    #[inline(always)]
    fn has_unsprung_masses(&self) -> bool {
        self.model.wheels().iter().all(|wheel| wheel.unsprung.is_some())
    }

    /// Returns a copy with the memory for unsprung masses already allocated, if the model knows them.
    pub(crate) fn with_unsprung_memory(&self) -> Self {
        let mut same = self.clone();
        for rows in same.rows.iter_mut().filter(|_| self.has_unsprung_masses()) {
            rows.unsprung_motion.get_or_insert_default();
        }
        same
    }

    /// Extends the probes `asked` by the static tyre deflection in steps with unsprung masses, so that they reach ground that unloaded
    /// tyres touch.
    #[inline(always)]
    pub(crate) fn extend_probes_by_tyres(&self, coupling: SolverMode, asked: &mut [Probe]) {
        if self.uses_unsprung(coupling) {
            self.extend_probes(asked);
        }
    }

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

    /// Initialises the motion of the unsprung masses for this step.
    pub(crate) fn init_unsprung(&mut self, pose_lag: f32) {
        for (bank, rows) in self.model.wheel_packs().iter().zip(&mut self.rows) {
            let was = |of: fn(&WheelState) -> f32| bank.gather(|i| of(&self.state.wheels[i]));
            rows.init_travel(bank, was(|w| w.compression), was(|w| w.travel_rate), F32x4::splat(pose_lag));
        }
    }

    /// Solves the loads of wheels with unsprung masses from the velocity `warm`, with constant tangential tyre forces, and returns the
    /// velocity after them. `free` is the chassis velocity without wheels.
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
    /// Calls `part` with the rows and their unsprung motion. Returns `None` if the wheels have no unsprung masses in this step.
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

    /// Reduces the gap between wheel and ground by the static tyre deflection. Compressions count from the loaded tyre, and an unloaded
    /// tyre touches the ground earlier.
    #[inline(always)]
    pub(crate) fn reduce_gap_by_tyres(&mut self, bank: &WheelPack) {
        let farther = bank.static_tyre_deflection().masked(self.contact.in_contact);
        self.contact.beyond_droop += farther;
    }

    /// Initialises the unsprung masses at their `travel` (m) and its `rate` (m/s): tyre deflection, rows, masses and lateral motion.
    /// Replaces the compressions of the contacts by the travels.
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
        let begun = travel + rate * (pose_lag - half * step);
        unsprung.tyre.deflection = ground - begun;
        unsprung.tyre.rate = self.contact.jounce_rate - rate;
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

    /// Computes the damping of the tyre over the step, with a compensation for the damping of wheel hop that the midpoint rule loses. Sets
    /// the gains of the axle links and the lower limit of the travel rates, too.
    fn linearise_travel(&self, unsprung: &mut UnsprungMotion, bank: &WheelPack, dt: f32) {
        let (zero, half, one, step) = (F32x4::splat(0.0), F32x4::splat(0.5), F32x4::splat(1.0), F32x4::splat(dt));
        let mass = unsprung.mass;
        unsprung.axle_links = self.axle_link_gains(step);
        unsprung.min_next_rate = ((-bank.droop_travel - self.synchronous_compression()) / step)
            .at_most(F32x4::splat(MAX_OVERLAP_CORRECTION_MPS));
        let rate = bank.tyre_rate;
        let relative = (rate + self.strut_rate() + self.suspension.axle_links.rate) * step * step / mass;
        let lost = (bank.tyre_damping + self.strut_damping(bank)) * relative.at_most(F32x4::splat(MAX_STIFFENING));
        let damping = bank.tyre_damping + lost * F32x4::splat(LOST_DAMPING_SHARE);
        let share = end_rate_weight(damping * step / mass);
        // Transition from the midpoint rule (weight 1/4 for both rates) to implicit Euler with the mean velocity (weights 1/2 and 1).
        let unresolved = (one - F32x4::splat(MAX_RESOLVED_PHASE_SQUARED) / relative).at_least(zero) * rate * step;
        let tyre = &mut unsprung.tyre;
        tyre.damping = share * damping + F32x4::splat(0.75) * unresolved;
        let within = StopOverlap::new(tyre.deflection, tyre.deflection + step * tyre.rate)
            .share
            .masked(zero.less(tyre.deflection));
        tyre.late_damping = ((one - share - share) * damping - half * unresolved) * tyre.rate * within;
    }

    /// Returns the impulse of the axle links per travel rate of a wheel and of the opposite one, kg, in a `step` (s). Links to wheels of
    /// other axles count twice, see [`Self::strut_and_link_impulse`].
    fn axle_link_gains(&self, step: F32x4) -> [F32x4; 2] {
        let (half, linked) = (F32x4::splat(0.5), &self.suspension.axle_links);
        let bars = F32x4::splat(0.25) * step * step * linked.bar_rate;
        let [rate, damping] = linked.heave_gains;
        let heave = half * step * (half * step * rate + damping);
        let twice = step * (half * step * linked.rate + linked.damping);
        [twice - (bars + heave), heave - bars]
    }

    /// Returns the impulse of the tyre along the travel (N s) and its slope (kg) if its deflection rate ends at `ends` (m/s).
    ///
    /// For a travel that is partly above the ground, the damper acts with the mean rate of the part below it, so that the impulse only
    /// increases with `ends`. The additional force by the larger weight of the final rate is limited: acting in the direction of the
    /// motion, it would add energy to a wheel that reverses within the step.
    fn tyre_impulse(&self, tyre: &TyreStep, bank: &WheelPack, ends: F32x4) -> [F32x4; 2] {
        let (zero, step) = (F32x4::splat(0.0), F32x4::splat(self.dt));
        let turn = F32x4::splat(0.5 * self.dt);
        let (begun, rates) = (tyre.deflection, tyre.rate + ends);
        let ended = begun + turn * rates;
        let squashed = StopOverlap::new(begun, ended);
        let partly = begun.less(zero) | ended.less(zero);
        let within = (ended.at_least(zero) - begun.at_least(zero)) / turn;
        let rates = F32x4::select(partly, within, rates);
        let both = tyre.damping * rates;
        let [low, high] = [tyre.late_damping.at_most(zero), tyre.late_damping.at_least(zero)];
        let still = low.less(-both) & (-both).less(high);
        let force = bank.tyre_rate * squashed.mean + (both + (-both).clamp_nan_to_low(low, high));
        let slope = bank.tyre_rate * squashed.slope * turn + tyre.damping.masked(zero.less(ended) & !still);
        let presses = self.contact.in_contact & zero.less(force);
        [(step * force).masked(presses), (step * slope).masked(presses)]
    }

    /// Solves load and travel rate of each wheel at the current chassis velocity, and returns the response to it.
    pub(crate) fn unsprung_load(&mut self, unsprung: &mut UnsprungMotion, bank: &WheelPack) -> UnsprungTangent {
        let cosine = self.contact.normal_cosine;
        let TravelBalance { tyre, tyre_slope, inertia, opposite_gain: between, at_droop_stop: ended, .. } =
            self.solve_travel_rate(unsprung, bank);
        self.suspension.load = tyre / cosine;
        let pressing = tyre_slope / (cosine * cosine);
        let through = self.contact.normal * (tyre_slope / cosine) + unsprung.momentum_row;
        let (yielding, together) = match between {
            Some(between) => {
                let (yielding, together) = beam_response(inertia, between, ended);
                (yielding, Some(together))
            }
            None => (F32x4::splat(-1.0) / inertia, None),
        };
        let yielding = yielding.masked(bank.present_mask() & !ended);
        if let Some(links) = &bank.roll_centre_links {
            let both = together.map_or(F32x4::default(), |together| F32x4::splat(-2.0) * together);
            unsprung.scrub = self.link_scrub(unsprung, links, [both - yielding, both], tyre_slope / cosine);
        }
        UnsprungTangent { normal_gain: pressing, travel_gain: yielding, travel_row: through, axle_gain: together }
    }

    /// Iterates the travel rates to the balance of all impulses, jointly for both wheels of an axle that beam or axle links connect.
    ///
    /// The residual decreases along a step. A step that overshoots is cut back, as for the chassis velocity.
    fn solve_travel_rate(&mut self, unsprung: &mut UnsprungMotion, bank: &WheelPack) -> TravelBalance {
        let (slowest, present) = (unsprung.min_next_rate, bank.present_mask());
        let between = unsprung.opposite_gain(bank);
        let mut rate = unsprung.next_rate.at_least(slowest);
        let mut last = TravelLineSearch::default();
        let mut looks = 1;
        loop {
            let mut found = self.balance_at(unsprung, bank, between, rate);
            let newton = ((rate + found.newton_step()).at_least(slowest) - rate).masked(present);
            let (step, cut) = last.next_step(newton, &found);
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

    /// Returns the balance of the impulses for the final travel rates `ends` (m/s).
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

    /// Returns the impulse of strut, stops and axle links along the travel (N s) and its slope (kg) for the final travel rates `ends`
    /// (m/s).
    ///
    /// Axle links use the last known rates of the wheels of other axles, and twice their gain for changes since. This is the largest
    /// response of an axle link to both of its wheels, so that axle links never add energy, wherever the iteration ends.
    fn strut_and_link_impulse(&mut self, unsprung: &UnsprungMotion, bank: &WheelPack, ends: F32x4) -> [F32x4; 2] {
        let [mut impulse, mut slope] = self.unsprung_strut(bank, ends, self.dt);
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

    /// Updates the impulse along the travel that the current tangential tyre forces and the links produce.
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
