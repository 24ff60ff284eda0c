//! Wheels that move on their own: an unsprung mass between the strut and the tyre's vertical spring.
//!
//! The coordinate is the travel along the suspension, so there is no pin to wobble: for a given chassis velocity the
//! travel rates at the end of the step are those at which impulses balance, of both wheels of an axle together where a beam or axle links
//! are between them. With `b = m (ẑ, r × ẑ)` the wheel's share in the chassis'
//! motion, S the strut's and N the tyre's impulse,
//!
//! ```text
//! m (q̇ − q̇₀) + b · (V − V_free) = N(q̇) cos γ + T_z − S(q̇)
//! M (V − V_free)                 = Σ n N + tyres − b (q̇ − q̇₀)
//! ```
//!
//! where M counts the wheels. Both sides stay symmetric when q̇ is eliminated (Featherstone, *Rigid Body Dynamics
//! Algorithms*, ch. 7, for a tree this flat). S is the strut of every other wheel ([`crate::suspension::strut`]); the tyre's spring takes the
//! mean of its force along the way, too, and only pushes.
//!
//! Wheels of a solid axle have a beam between them, which turns about its roll centre by `θ = (q_l − q_r) / t` and moves both
//! wheels' centres sideways by their height R above it. With y the row across at a wheel's centre and `σ = ±R / t`, each wheel's
//! row is `b = m (ẑ − σ (y_l + y_r + θ (z_l + z_r)))`, its mass `m + 2 m σ²`, and `2 m σ_l σ_r` goes between the two. Side forces
//! reach the body through the beam at its roll centre, and none of the two struts more than the other where that is at the ground; else
//! R counts from its height, and [`crate::suspension::roll_centre`] has the rest.

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

/// Square of ω dt up to which a wheel hops as the midpoint rule has it; a faster one is damped the more the faster it is: what
/// no step resolves would go to and fro from step to step.
const RESOLVED: f32 = 9.0;

/// Looks for the travel rates of wheels; two are typical, more where one lands, leaves the ground or meets a stop.
const LOOKS: usize = 24;

/// Change of a travel rate that is none, m/s.
const SETTLED_TRAVEL_RATE: f32 = 1e-6;

/// Solves of the loads before the coupling, which goes on with them from where one changes the velocity by less than this, m/s.
const SOLVES_BEFORE_COUPLING: usize = 4;
const SETTLED_CHASSIS_SPEED: f32 = 1e-3;

/// A step of travel rates is too long when what is missing along it has turned to more than this share of what it was; then between
/// these shares of it go.
const OVERSHOOT: f32 = 0.5;
const LEAST_CUT: f32 = 0.1;

impl UnsprungMotion {
    /// Takes the sideways motion of the wheels' beam into what a wheel at its `centre` and `travel` weighs.
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

    /// What beams and axle links take from each wheel per travel rate of the opposite one, kg; `None` where there is neither.
    fn between(&self, bank: &WheelPack) -> Option<Four> {
        let (between, zero) = (self.shared + self.axle_links[1], Four::default());
        (bank.beam.is_some() || Four::any(zero.less(between.abs()))).then_some(between)
    }
}

impl<W: Corners> UnsprungMotion<W> {
    /// What accelerating the wheels takes from the chassis.
    #[inline(always)]
    pub(crate) fn travel_impulse(&self) -> SpatialVector<W> {
        self.heave * (self.rate - self.next_rate)
    }

    /// Travel after a step of `dt` s from `travel`, in which the pose moved with the mean velocity of both ends, or by what `pose_lag`
    /// says: the same rule for the wheel.
    pub(crate) fn next_travel(&self, travel: W, pose_lag: f32, dt: f32) -> W {
        travel + self.rate * W::splat(pose_lag) + self.next_rate * W::splat(dt - pose_lag)
    }
}

/// How the load of a wheel on its own answers the chassis velocity.
pub(crate) struct UnsprungTangent {
    /// Weight of the contact normal.
    pressing: Four,
    /// Weight of `through`, negative: what the wheel's giving way takes back.
    yielding: Four,
    through: SpatialVector<Four>,
    /// Half of the weight of what a wheel and the opposite one yield together; none where neither beam nor axle links are between them.
    together: Option<Four>,
}

impl UnsprungTangent {
    pub(crate) fn add_to(&self, products: &mut OuterProducts, rows: &Rows) {
        products.add(self.pressing, rows.contact.normal);
        products.add(self.yielding, self.through);
        if let Some(together) = self.together {
            products.add(together, self.through.and_opposite());
        }
    }
}

/// How the impulses along the travel of wheels on their own balance at given travel rates.
struct Balance {
    /// Impulse of the tyre, N s, and how it falls with the travel rate, kg.
    tyre: Four,
    tyre_slope: Four,
    /// How all that acts on a wheel falls with its travel rate, and with that of the opposite wheel, kg.
    inertia: Four,
    between: Option<Four>,
    /// What acts beyond the momentum it gives, N s.
    missing: Four,
    /// Wheels that end at their droop stops.
    ended: FourMask,
}

impl Balance {
    /// By how much the travel rates differ from those that balance, as far as slopes tell, m/s.
    fn newton(&self) -> Four {
        let missing = self.missing.only(!self.ended);
        let Some(between) = self.between else { return missing / self.inertia };
        let opposite = self.inertia.opposite();
        let between = between.only(!self.ended & !opposite_ended(self.ended));
        (opposite * missing - between * missing.opposite()) / (self.inertia * opposite - between * between)
    }

    /// Sum of what both wheels have of an axle that are sought together.
    fn both(&self, of: Four) -> Four {
        if self.between.is_some() { of + of.opposite() } else { of }
    }

    /// How what is missing falls along a `step` of the travel rates, N s.
    fn fall(&self, step: Four) -> Four {
        let alone = self.inertia * step;
        self.between.map_or(alone, |between| alone + between * step.opposite())
    }
}

fn opposite_ended(ended: FourMask) -> FourMask {
    Four::default().less(Four::splat(1.0).only(ended).opposite())
}

/// How travel rates answer impulses, negative, 1/kg: each its own alone, and half of what it is with the opposite wheel. One at the
/// end of its travel leaves the other by itself.
fn yielding_together(inertia: Four, between: Four, ended: FourMask) -> (Four, Four) {
    let (one, opposite) = (Four::splat(1.0), inertia.opposite());
    let determinant = inertia * opposite - between * between;
    let left_alone = opposite_ended(ended);
    let yielding = Four::select(left_alone, one / inertia, (opposite + between) / determinant);
    let together = Four::splat(0.5) * between / determinant;
    (-yielding, together.only(!ended & !left_alone))
}

/// The last step of travel rates, m/s, and what was missing along it where it began, J.
#[derive(Default)]
struct Way {
    step: Four,
    downhill: Four,
}

impl Way {
    /// The next step from what was `found` where the last one ended: back some of that where it went too far, else `newton`.
    /// Tells where it is the former.
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
    /// Whether wheels move on their own in a step with this `coupling`: the model has to know how heavy all of them are.
    #[inline(always)]
    pub(crate) fn has_unsprung(&self, coupling: Coupling) -> bool {
        matches!(coupling, Coupling::Converged { unsprung: true, .. }) && self.knows_unsprung()
    }

    #[inline(always)]
    fn knows_unsprung(&self) -> bool {
        self.model.wheels().iter().all(|wheel| wheel.unsprung.is_some())
    }

    /// The same with the memory that steps take in which wheels move on their own, if they may.
    pub(crate) fn with_room(&self) -> Self {
        let mut same = self.clone();
        for rows in same.rows.iter_mut().filter(|_| self.knows_unsprung()) {
            rows.unsprung_motion.get_or_insert_default();
        }
        same
    }

    /// Lets the rays `asked` by wheels on their own reach as far as tyres that carry nothing do.
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

    /// Lets the wheels of this step move on their own.
    pub(crate) fn begin_unsprung(&mut self, pose_lag: f32) {
        for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
            let was = |of: fn(&WheelState) -> f32| bank.gather(|i| of(&self.state.wheels[i]));
            rows.travel_from(bank, was(|w| w.compression), was(|w| w.travel_rate), Four::splat(pose_lag));
        }
    }

    /// Loads of wheels on their own from the velocity `warm`, tyres as they were; returns the velocity after them.
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
    /// Does a `part` with what wheels have that move on their own, if these do.
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

    /// A tyre that carries nothing meets the ground before one that carries its share of the car at rest does, on which wheels stand else.
    #[inline(always)]
    pub(crate) fn meet_with_tyres(&mut self, bank: &WheelPack) {
        let farther = bank.squash_at_rest().only(self.contact.in_contact);
        self.contact.beyond_droop += farther;
    }

    /// Lets the wheels move on their own from their `travel`, m, and its `rate`, m/s.
    fn travel_from(&mut self, bank: &WheelPack, travel: Four, rate: Four, pose_lag: Four) {
        if let Some(links) = &bank.roll_centre_links {
            self.move_patches(links, travel);
        }
        let up = Vec3Lanes::splat(Vec3::Z);
        let centre = bank.contact + up * (travel + bank.radius);
        let (half, step) = (Four::splat(0.5), Four::splat(self.dt));
        // In step with the velocities, as the struts are; as tyres meet it that carry nothing.
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

    /// The tyre's spring over the step: its damper, and what the midpoint rule takes from the damping of a wheel that hops.
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
        // From the midpoint rule, 1/4 of each rate, to implicit Euler with the mean velocity, 1/2 and 1.
        let unresolved = (one - Four::splat(RESOLVED) / relative).at_least(zero) * rate * step;
        let tyre = &mut unsprung.tyre;
        tyre.damping = share * damping + Four::splat(0.75) * unresolved;
        let within = Beyond::of(tyre.squash, tyre.squash + step * tyre.rate).share.only(zero.less(tyre.squash));
        tyre.late = ((one - share - share) * damping - half * unresolved) * tyre.rate * within;
    }

    /// How the impulses of axle links answer the travel rate of a wheel and that of the opposite one, kg, in a `step` of time.
    fn axle_link_gains(&self, step: Four) -> [Four; 2] {
        let (half, linked) = (Four::splat(0.5), &self.suspension.axle_links);
        let bars = Four::splat(0.25) * step * step * linked.bar_rate;
        let [rate, damping] = linked.heave;
        let heave = half * step * (half * step * rate + damping);
        let twice = step * (half * step * linked.rate + linked.damping);
        [twice - (bars + heave), heave - bars]
    }

    /// Impulse of the tyre along the travel where its squash ends with the rate `ends`, N s, and its slope, kg.
    ///
    /// Its damper takes part of the way within the ground by the mean rate along it, so that the impulse only grows with `ends`.
    /// None of it is left where it would push along the way, as the end counts more than the start: a wheel that turns over in the step would
    /// gain energy by it.
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

    /// Load and travel rate of each wheel as the chassis now moves.
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

    /// Seeks the travel rates at which all impulses balance, of both wheels of an axle together where beam or axle links are between them.
    ///
    /// What is missing of the balance falls along a step, which is cut where it went too far, as that of the chassis is.
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

    /// How impulses balance where the step ends with the travel rates `ends`.
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

    /// Impulse of strut, stops and axle links along the travel, N s, and its slope, kg, where the step ends with the travel rate
    /// `ends`; axle links with wheels of other axles as those last were, and twice as stiff against what has changed since: as much as a
    /// axle link answers both its wheels at most, so that wherever the iteration ends axle links have given no energy.
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

    /// Takes over what the tyre as it now acts lifts the wheel by.
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
