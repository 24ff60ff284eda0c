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

use crate::banks::Many;
use crate::lane::{Corners, Four, FourMask, Lane};
use crate::linear::{OuterProducts, SpatialVector, Symmetric6};
use crate::state::WheelState;
use crate::step::coupling::Coupling;
use crate::step::rows::Rows;
use crate::step::vehicle::Vehicle;
use crate::suspension::rows::{Scrub, TyreStep, UnsprungMotion};
use crate::suspension::strut::{Beyond, DAMPING_LOST, MOST_STIFFENING, late_share};
use crate::vectors::Vec3Lanes;
use crate::wheel::pack::{Beam, WheelPack};
use crate::world::seam::{OVERLAP_RETURN_SPEED, Probe};
use bevy_math::Vec3;

/// Square of ω dt up to which wheel hop follows the midpoint rule. Faster modes are damped increasingly, because a step cannot resolve them
/// and they would alternate from step to step.
const RESOLVED: f32 = 9.0;

/// Maximum number of iterations for the travel rates. Two are typical, more if a wheel lands, lifts off or reaches a stop.
const LOOKS: usize = 24;

/// Tolerance for the change of a travel rate, m/s.
const SETTLED_TRAVEL_RATE: f32 = 1e-6;

/// Maximum number of load solves before the coupling.
const SOLVES_BEFORE_COUPLING: usize = 4;
/// Change of the chassis velocity below which the coupling takes over, m/s.
const SETTLED_CHASSIS_SPEED: f32 = 1e-3;

/// Share of the initial residual along a step: if the residual at the end is opposite and larger than this share, the step is cut.
const OVERSHOOT: f32 = 0.5;
/// Smallest share of a cut step that is kept, and smallest share that is cut off.
const LEAST_CUT: f32 = 0.1;

impl UnsprungMotion {
    /// Adds the lateral motion of the wheels' beam to row and mass of the wheels at `centre` (m) and `travel` (m).
    fn sway(&mut self, bank: &WheelPack, beam: &Beam, centre: Vec3Lanes<Four>, travel: Four) {
        let row = |along: Vec3| {
            SpatialVector::new(Vec3Lanes::splat(along), centre.cross(Vec3Lanes::splat(along))).and_opposite()
        };
        let across = row(Vec3::Y) + row(Vec3::Z) * beam.turned(travel);
        self.heave = self.heave - across * (beam.sway * bank.unsprung_mass);
        let carried = Four::splat(2.0) * bank.unsprung_mass * beam.sway;
        self.mass += carried * beam.sway;
        self.shared = carried * beam.sway.opposite();
    }

    /// Returns the decrease of the impulse on each wheel per travel rate of the opposite one, due to beams and axle links, kg; `None`
    /// without either.
    fn between(&self, bank: &WheelPack) -> Option<Four> {
        let (between, zero) = (self.shared + self.axle_links[1], Four::default());
        (bank.beam.is_some() || Four::any(zero.less(between.abs()))).then_some(between)
    }
}

impl<W: Corners> UnsprungMotion<W> {
    /// Returns the impulse on the chassis due to the acceleration of the unsprung masses.
    #[inline(always)]
    pub(crate) fn travel_impulse(&self) -> SpatialVector<W> {
        self.heave * (self.rate - self.next_rate)
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
    pressing: Four,
    /// Gain along `through`, 1/kg, negative: the reduction by the motion of the unsprung mass.
    yielding: Four,
    /// Row of the impulse that the travel rate transmits, tyre and inertia included.
    through: SpatialVector<Four>,
    /// Half of the gain along the sum of both wheels' `through`, 1/kg; `None` if neither beam nor axle links connect them.
    together: Option<Four>,
}

impl UnsprungTangent {
    /// Adds the response to `products`.
    pub(crate) fn add_to(&self, products: &mut OuterProducts, rows: &Rows) {
        products.add(self.pressing, rows.contact.normal);
        products.add(self.yielding, self.through);
        if let Some(together) = self.together {
            products.add(together, self.through.and_opposite());
        }
    }
}

/// Balance of the impulses on unsprung masses along their travel, at given travel rates.
struct Balance {
    /// Impulse of the tyre, N s.
    tyre: Four,
    /// Decrease of the tyre impulse per travel rate, kg.
    tyre_slope: Four,
    /// Decrease of the total impulse on a wheel per travel rate of its own, kg.
    inertia: Four,
    /// Decrease of the total impulse on a wheel per travel rate of the opposite wheel, kg; `None` without connection.
    between: Option<Four>,
    /// Residual: total impulse minus change of momentum, N s.
    missing: Four,
    /// Wheels that end the step at their droop stops.
    ended: FourMask,
}

impl Balance {
    /// Returns the Newton step of the travel rates, m/s.
    fn newton(&self) -> Four {
        let missing = self.missing.only(!self.ended);
        let Some(between) = self.between else { return missing / self.inertia };
        let opposite = self.inertia.opposite();
        let between = between.only(!self.ended & !opposite_ended(self.ended));
        (opposite * missing - between * missing.opposite()) / (self.inertia * opposite - between * between)
    }

    /// Returns the sum of both wheels of an axle if they are solved together, otherwise the value itself.
    fn both(&self, of: Four) -> Four {
        if self.between.is_some() { of + of.opposite() } else { of }
    }

    /// Returns the decrease of the residual for a `step` of the travel rates (m/s), N s.
    fn fall(&self, step: Four) -> Four {
        let alone = self.inertia * step;
        self.between.map_or(alone, |between| alone + between * step.opposite())
    }
}

/// Returns the wheels whose opposite wheel is in `ended`.
fn opposite_ended(ended: FourMask) -> FourMask {
    Four::default().less(Four::splat(1.0).only(ended).opposite())
}

/// Returns the response of the travel rates to impulses, 1/kg: the negative gain of each wheel alone, and half the gain of the sum of both
/// wheels. A wheel at its droop stop leaves the opposite wheel uncoupled.
fn yielding_together(inertia: Four, between: Four, ended: FourMask) -> (Four, Four) {
    let (one, opposite) = (Four::splat(1.0), inertia.opposite());
    let determinant = inertia * opposite - between * between;
    let left_alone = opposite_ended(ended);
    let yielding = Four::select(left_alone, one / inertia, (opposite + between) / determinant);
    let together = Four::splat(0.5) * between / determinant;
    (-yielding, together.only(!ended & !left_alone))
}

/// Last step of the travel rates, for the line search.
#[derive(Default)]
struct Way {
    /// Step, m/s.
    step: Four,
    /// Product of the step and the residual at its start, J.
    downhill: Four,
}

impl Way {
    /// Returns the next step of the travel rates, and the wheels whose last step overshot. These go back by a part of it; the others take
    /// the step `newton` (m/s). `found` is the balance at the end of the last step.
    fn go_on(&mut self, newton: Four, found: &Balance) -> (Four, FourMask) {
        let one = Four::splat(1.0);
        let ahead = found.both(self.step * found.missing);
        let went =
            Four::splat(SETTLED_TRAVEL_RATE).less(found.both(self.step.abs())) & Four::default().less(self.downhill);
        let too_far = went & ahead.less(Four::splat(-OVERSHOOT) * self.downhill);
        let downhill = found.both(newton * found.missing);
        if !Four::any(too_far) {
            *self = Self { step: newton, downhill };
            return (newton, too_far);
        }
        let secant = self.downhill / (self.downhill - ahead);
        let tangent = one + ahead / found.both(self.step * found.fall(self.step));
        let kept = secant.at_least(tangent).within(Four::splat(LEAST_CUT), Four::splat(1.0 - LEAST_CUT));
        let step = Four::select(too_far, self.step * (kept - one), newton);
        self.step = Four::select(too_far, self.step * kept, newton);
        self.downhill = Four::select(too_far, self.downhill, downhill);
        (step, too_far)
    }
}

impl Vehicle {
    /// Returns true if wheels have unsprung masses in a step with this `coupling`: the model must know the mass of every wheel.
    #[inline(always)]
    pub(crate) fn has_unsprung(&self, coupling: Coupling) -> bool {
        matches!(coupling, Coupling::Converged { unsprung: true, .. }) && self.knows_unsprung()
    }

    /// Returns true if the model knows the unsprung mass of every wheel.
    #[inline(always)]
    fn knows_unsprung(&self) -> bool {
        self.model.wheels().iter().all(|wheel| wheel.unsprung.is_some())
    }

    /// Returns a copy with the memory for unsprung masses already allocated, if the model knows them.
    pub(crate) fn with_room(&self) -> Self {
        let mut same = self.clone();
        for rows in same.rows.iter_mut().filter(|_| self.knows_unsprung()) {
            rows.unsprung_motion.get_or_insert_default();
        }
        same
    }

    /// Extends the probes `asked` by the static tyre deflection in steps with unsprung masses, so that they reach ground that unloaded
    /// tyres touch.
    #[inline(always)]
    pub(crate) fn reach_with_tyres(&self, coupling: Coupling, asked: &mut [Probe]) {
        if self.has_unsprung(coupling) {
            self.reach_farther(asked);
        }
    }

    #[cold]
    #[inline(never)]
    fn reach_farther(&self, asked: &mut [Probe]) {
        for bank in self.model.banks() {
            let farther = bank.squash_at_rest().lanes();
            bank.each(|lane, wheel| {
                if let Some(probe) = asked.get_mut(wheel) {
                    probe.reach += farther[lane];
                }
            });
        }
    }

    /// Initialises the motion of the unsprung masses for this step.
    pub(crate) fn begin_unsprung(&mut self, pose_lag: f32) {
        for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
            let was = |of: fn(&WheelState) -> f32| bank.gather(|i| of(&self.state.wheels[i]));
            rows.travel_from(bank, was(|w| w.compression), was(|w| w.travel_rate), Four::splat(pose_lag));
        }
    }

    /// Solves the loads of wheels with unsprung masses from the velocity `warm`, with constant tangential tyre forces, and returns the
    /// velocity after them. `free` is the chassis velocity without wheels.
    pub(crate) fn solve_own_loads(
        &mut self,
        free: SpatialVector<f32>,
        warm: SpatialVector<f32>,
        dt: f32,
    ) -> SpatialVector<f32> {
        for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
            rows.on_their_own(|rows, unsprung| {
                rows.travel_row(unsprung, bank, dt);
                rows.lift(unsprung, bank);
            });
        }
        let mut after = warm;
        for _ in 0..SOLVES_BEFORE_COUPLING {
            for rows in &mut self.rows {
                rows.set_velocity(after.at_each_wheel(), (after - free).at_each_wheel());
            }
            self.load_axle_links::<Many>();
            let mut products = OuterProducts::none();
            self.add_axle_links::<Many>(&mut products, SpatialVector::default());
            let mut given = self.beside;
            for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
                rows.on_their_own(|rows, unsprung| {
                    rows.own_load(unsprung, bank).add_to(&mut products, rows);
                    given = given + (rows.contact.normal * rows.suspension.load + unsprung.travel_impulse()).sum();
                });
            }
            let system = Symmetric6::new(self.model.mass(), self.model.inertia(), &products);
            let change = system.solve(given - self.momentum(after - warm));
            after = after + change;
            if change.dot(change) < SETTLED_CHASSIS_SPEED * SETTLED_CHASSIS_SPEED {
                break;
            }
        }
        after
    }
}

impl Rows {
    /// Calls `part` with the rows and their unsprung motion. Returns `None` if the wheels have no unsprung masses in this step.
    #[inline(always)]
    pub(crate) fn on_their_own<R>(&mut self, part: impl FnOnce(&mut Self, &mut UnsprungMotion) -> R) -> Option<R> {
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
    pub(crate) fn meet_with_tyres(&mut self, bank: &WheelPack) {
        let farther = bank.squash_at_rest().only(self.contact.in_contact);
        self.contact.beyond_droop += farther;
    }

    /// Initialises the unsprung masses at their `travel` (m) and its `rate` (m/s): tyre deflection, rows, masses and lateral motion.
    /// Replaces the compressions of the contacts by the travels.
    fn travel_from(&mut self, bank: &WheelPack, travel: Four, rate: Four, pose_lag: Four) {
        if let Some(links) = &bank.roll_centre_links {
            self.move_patches(links, travel);
        }
        let up = Vec3Lanes::splat(Vec3::Z);
        let centre = bank.contact + up * (travel + bank.radius);
        let (half, step) = (Four::splat(0.5), Four::splat(self.dt));
        // Ground height relative to the unloaded tyre, synchronous with the velocities like the struts.
        let ground =
            self.contact.compression + self.contact.beyond_droop + self.contact.jounce_rate * (pose_lag - half * step);
        let mut unsprung = self.unsprung_motion.take().unwrap_or_default();
        let begun = travel + rate * (pose_lag - half * step);
        unsprung.tyre.squash = ground - begun;
        unsprung.tyre.rate = self.contact.jounce_rate - rate;
        let middle = ground - bank.squash_at_rest() + Four::splat(0.25) * step * self.contact.jounce_rate;
        unsprung.ground = middle.within(-bank.droop_travel, bank.solid_travel);
        unsprung.ground_share = self.contact.contact_share;
        unsprung.ground_rate = self.contact.jounce_rate;
        (unsprung.rate, unsprung.next_rate) = (rate, rate);
        unsprung.heave = SpatialVector::new(up, centre.cross(up)) * bank.unsprung_mass;
        (unsprung.mass, unsprung.shared) = (bank.unsprung_mass, Four::default());
        if let Some(beam) = &bank.beam {
            unsprung.sway(bank, beam, centre, travel);
        }
        unsprung.scrub = Scrub::default();
        if let Some(links) = &bank.roll_centre_links {
            unsprung.lead_sideways(bank, links, centre);
            unsprung.scrub.speed = self.scrubbed(links, rate);
            let [along, across] = unsprung.scrub.speed;
            self.contact.started[0] += along;
            self.contact.started[1] += across;
        }
        (self.contact.compression, self.contact.beyond_droop) = (travel, Four::default());
        self.contact.contact_share = Four::splat(1.0);
        self.contact.lag = rate * pose_lag;
        self.contact.jounce_rate = rate;
        (self.has_unsprung, self.unsprung_motion) = (true, Some(unsprung));
    }

    /// Computes the damping of the tyre over the step, with a compensation for the damping of wheel hop that the midpoint rule loses. Sets
    /// the gains of the axle links and the lower limit of the travel rates, too.
    fn travel_row(&self, unsprung: &mut UnsprungMotion, bank: &WheelPack, dt: f32) {
        let (zero, half, one, step) = (Four::splat(0.0), Four::splat(0.5), Four::splat(1.0), Four::splat(dt));
        let mass = unsprung.mass;
        unsprung.axle_links = self.axle_link_gains(step);
        unsprung.slowest = ((-bank.droop_travel - self.led()) / step).at_most(Four::splat(OVERLAP_RETURN_SPEED));
        let rate = bank.tyre_rate;
        let relative = (rate + self.strut_rate() + self.suspension.axle_links.rate) * step * step / mass;
        let lost = (bank.tyre_damping + self.strut_damping(bank)) * relative.at_most(Four::splat(MOST_STIFFENING));
        let damping = bank.tyre_damping + lost * Four::splat(DAMPING_LOST);
        let share = late_share(damping * step / mass);
        // Transition from the midpoint rule (weight 1/4 for both rates) to implicit Euler with the mean velocity (weights 1/2 and 1).
        let unresolved = (one - Four::splat(RESOLVED) / relative).at_least(zero) * rate * step;
        let tyre = &mut unsprung.tyre;
        tyre.damping = share * damping + Four::splat(0.75) * unresolved;
        let within = Beyond::of(tyre.squash, tyre.squash + step * tyre.rate).share.only(zero.less(tyre.squash));
        tyre.late = ((one - share - share) * damping - half * unresolved) * tyre.rate * within;
    }

    /// Returns the impulse of the axle links per travel rate of a wheel and of the opposite one, kg, in a `step` (s). Links to wheels of
    /// other axles count twice, see [`Self::strut_along`].
    fn axle_link_gains(&self, step: Four) -> [Four; 2] {
        let (half, linked) = (Four::splat(0.5), &self.suspension.axle_links);
        let bars = Four::splat(0.25) * step * step * linked.bar_rate;
        let [rate, damping] = linked.heave;
        let heave = half * step * (half * step * rate + damping);
        let twice = step * (half * step * linked.rate + linked.damping);
        [twice - (bars + heave), heave - bars]
    }

    /// Returns the impulse of the tyre along the travel (N s) and its slope (kg) if its deflection rate ends at `ends` (m/s).
    ///
    /// For a travel that is partly above the ground, the damper acts with the mean rate of the part below it, so that the impulse only
    /// increases with `ends`. The additional force by the larger weight of the final rate is limited: acting in the direction of the
    /// motion, it would add energy to a wheel that reverses within the step.
    fn pushed(&self, tyre: &TyreStep, bank: &WheelPack, ends: Four) -> [Four; 2] {
        let (zero, step) = (Four::splat(0.0), Four::splat(self.dt));
        let turn = Four::splat(0.5 * self.dt);
        let (begun, rates) = (tyre.squash, tyre.rate + ends);
        let ended = begun + turn * rates;
        let squashed = Beyond::of(begun, ended);
        let partly = begun.less(zero) | ended.less(zero);
        let within = (ended.at_least(zero) - begun.at_least(zero)) / turn;
        let rates = Four::select(partly, within, rates);
        let both = tyre.damping * rates;
        let [low, high] = [tyre.late.at_most(zero), tyre.late.at_least(zero)];
        let still = low.less(-both) & (-both).less(high);
        let force = bank.tyre_rate * squashed.mean + (both + (-both).within(low, high));
        let slope = bank.tyre_rate * squashed.slope * turn + tyre.damping.only(zero.less(ended) & !still);
        let presses = self.contact.in_contact & zero.less(force);
        [(step * force).only(presses), (step * slope).only(presses)]
    }

    /// Solves load and travel rate of each wheel at the current chassis velocity, and returns the response to it.
    pub(crate) fn own_load(&mut self, unsprung: &mut UnsprungMotion, bank: &WheelPack) -> UnsprungTangent {
        let cosine = self.contact.cosine;
        let Balance { tyre, tyre_slope, inertia, between, ended, .. } = self.seek(unsprung, bank);
        self.suspension.load = tyre / cosine;
        let pressing = tyre_slope / (cosine * cosine);
        let through = self.contact.normal * (tyre_slope / cosine) + unsprung.heave;
        let (yielding, together) = match between {
            Some(between) => {
                let (yielding, together) = yielding_together(inertia, between, ended);
                (yielding, Some(together))
            }
            None => (Four::splat(-1.0) / inertia, None),
        };
        let yielding = yielding.only(bank.present() & !ended);
        if let Some(links) = &bank.roll_centre_links {
            let both = together.map_or(Four::default(), |together| Four::splat(-2.0) * together);
            unsprung.scrub = self.scrub(unsprung, links, [both - yielding, both], tyre_slope / cosine);
        }
        UnsprungTangent { pressing, yielding, through, together }
    }

    /// Iterates the travel rates to the balance of all impulses, jointly for both wheels of an axle that beam or axle links connect.
    ///
    /// The residual decreases along a step. A step that overshoots is cut back, as for the chassis velocity.
    fn seek(&mut self, unsprung: &mut UnsprungMotion, bank: &WheelPack) -> Balance {
        let (slowest, present) = (unsprung.slowest, bank.present());
        let between = unsprung.between(bank);
        let mut rate = unsprung.next_rate.at_least(slowest);
        let mut last = Way::default();
        let mut looks = 1;
        loop {
            let mut found = self.balance(unsprung, bank, between, rate);
            let newton = ((rate + found.newton()).at_least(slowest) - rate).only(present);
            let (step, cut) = last.go_on(newton, &found);
            let unsettled = (cut | Four::splat(SETTLED_TRAVEL_RATE).less(step.abs())) & present;
            if !Four::any(unsettled) {
                rate += step;
                found.tyre = (found.tyre - found.tyre_slope * step).at_least(Four::default());
            } else if looks < LOOKS {
                rate += step;
                looks += 1;
                continue;
            }
            unsprung.next_rate = rate;
            return found;
        }
    }

    /// Returns the balance of the impulses for the final travel rates `ends` (m/s).
    fn balance(&mut self, unsprung: &UnsprungMotion, bank: &WheelPack, between: Option<Four>, ends: Four) -> Balance {
        let (mass, cosine) = (unsprung.mass, self.contact.cosine);
        let [strut, strut_slope] = self.strut_along(unsprung, bank, ends);
        let [tyre, tyre_slope] = self.pushed(&unsprung.tyre, bank, -self.coupled.velocity.normal / cosine - ends);
        let mut missing = tyre - strut - mass * (ends - unsprung.rate) - self.coupled.velocity.heave + unsprung.lift;
        if between.is_some() {
            let carried = unsprung.shared * (ends - unsprung.rate).opposite();
            let linked = unsprung.axle_links[1] * (ends - self.suspension.axle_links.seen).opposite();
            missing = missing - (carried + linked);
        }
        let ended = !unsprung.slowest.less(ends) & missing.less(Four::default());
        Balance { tyre, tyre_slope, inertia: mass + strut_slope + tyre_slope, between, missing, ended }
    }

    /// Returns the impulse of strut, stops and axle links along the travel (N s) and its slope (kg) for the final travel rates `ends`
    /// (m/s).
    ///
    /// Axle links use the last known rates of the wheels of other axles, and twice their gain for changes since. This is the largest
    /// response of an axle link to both of its wheels, so that axle links never add energy, wherever the iteration ends.
    fn strut_along(&mut self, unsprung: &UnsprungMotion, bank: &WheelPack, ends: Four) -> [Four; 2] {
        let [mut impulse, mut slope] = self.own_strut(bank, ends, self.dt);
        let way = Four::splat(0.5 * self.dt) * (unsprung.rate + ends);
        let farthest = self.suspension.strut.start + way.at_least(Four::default());
        if Four::any(bank.bump_travel.less(farthest) & bank.present()) {
            let [stop, stop_slope] = self.stops(bank, ends, self.dt);
            impulse += stop;
            slope += stop_slope;
        }
        let gain = unsprung.axle_links[0];
        [impulse + self.suspension.axle_links.impulse + gain * (ends - self.suspension.axle_links.seen), slope + gain]
    }

    /// Updates the impulse along the travel that the current tangential tyre forces and the links produce.
    #[inline(always)]
    pub(crate) fn lift(&self, unsprung: &mut UnsprungMotion, bank: &WheelPack) {
        let across = self.contact.side.linear.z * self.coupled.tyre[1];
        let across = bank.beam.map_or(across, |beam| beam.share(across));
        unsprung.lift = self.contact.forward.linear.z * self.coupled.tyre[0] + across;
        if let Some(links) = &bank.roll_centre_links {
            unsprung.lift += links.lift(self.aside());
        }
    }
}
