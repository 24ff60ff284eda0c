//! Wheels that move on their own: an unsprung mass between the strut and the tyre's vertical spring.
//!
//! The coordinate is the travel along the suspension, so there is no pin to wobble: for a given chassis velocity the
//! travel rate at the end of the step is one division. With `b = m (ẑ, r × ẑ)` the wheel's share in the chassis'
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
use crate::linear::{OuterProducts, SpatialVector, Symmetric6, Vec3Lanes};
use crate::state::WheelState;
use crate::step::coupling::Coupling;
use crate::step::rows::Rows;
use crate::step::vehicle::Vehicle;
use crate::suspension::rows::{Scrub, Travel};
use crate::suspension::strut::{Beyond, MOST_STIFFENING};
use crate::wheel::pack::{Beam, WheelPack};
use crate::world::seam::{OVERLAP_RETURN_SPEED, Probe};
use bevy_math::Vec3;

/// Square of ω dt up to which a wheel hops as the midpoint rule has it; a faster one is damped the more the faster it is: what
/// no step resolves would go to and fro from step to step.
const RESOLVED: f32 = 9.0;

/// Looks for the travel rate of a wheel; two are typical, more where it lands, leaves the ground or meets a stop.
const LOOKS: usize = 16;

/// Change of a travel rate that is none, m/s.
const SETTLED: f32 = 1e-6;

/// Solves of the loads before the coupling, which goes on with them.
const SOLVES: usize = 4;

/// Looks for the travel rates of wheels that carry part of each other, with the other as it was; three are typical, more the more
/// of it they carry.
const PASSES: usize = 24;

impl Travel {
    /// Takes the sideways motion of the wheels' beam into what a wheel at its `centre` and `travel` weighs.
    fn sway(&mut self, bank: &WheelPack, beam: &Beam, centre: Vec3Lanes<Four>, travel: Four) {
        let row = |along: Vec3| {
            SpatialVector::new(Vec3Lanes::splat(along), centre.cross(Vec3Lanes::splat(along))).and_across()
        };
        let across = row(Vec3::Y) + row(Vec3::Z) * beam.turned(travel);
        self.heave = self.heave - across * (beam.sway * bank.unsprung_mass);
        let carried = Four::splat(2.0) * bank.unsprung_mass * beam.sway;
        self.mass += carried * beam.sway;
        self.shared = carried * beam.sway.across();
    }
}

/// How the load of a wheel on its own answers the chassis velocity.
pub(crate) struct UnsprungTangent {
    /// Weight of the contact normal.
    pressing: Four,
    /// Weight of `through`, negative: what the wheel's giving way takes back.
    yielding: Four,
    through: SpatialVector<Four>,
    /// Half of the weight of what a wheel and the one across yield together; none where there is no beam.
    together: Option<Four>,
}

impl UnsprungTangent {
    pub(crate) fn add_to(&self, products: &mut OuterProducts, rows: &Rows) {
        products.add(self.pressing, rows.contact.normal);
        products.add(self.yielding, self.through);
        if let Some(together) = self.together {
            products.add(together, self.through.and_across());
        }
    }
}

impl Vehicle {
    /// Whether wheels move on their own in a step with this `coupling`: the model has to know how heavy all of them are.
    #[inline(always)]
    pub(crate) fn has_own_wheels(&self, coupling: Coupling) -> bool {
        matches!(coupling, Coupling::Converged { own_wheels: true, .. })
            && self.model.wheels().iter().all(|wheel| wheel.unsprung.is_some())
    }

    /// Lets the rays `asked` by wheels on their own reach as far as tyres that carry nothing do.
    #[inline(always)]
    pub(crate) fn reach_with_tyres(&self, coupling: Coupling, asked: &mut [Probe]) {
        if self.has_own_wheels(coupling) {
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
    pub(crate) fn free_wheels(&mut self, lead: f32) {
        for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
            let was = |of: fn(&WheelState) -> f32| bank.gather(|i| of(&self.state.wheels[i]));
            rows.travel_from(bank, was(|w| w.compression), was(|w| w.travel_rate), Four::splat(lead));
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
            rows.travel_row(bank, dt);
            rows.lift(bank);
        }
        let mut after = warm;
        for _ in 0..SOLVES {
            for rows in &mut self.rows {
                rows.set_velocity(after.wide(), (after - free).wide());
            }
            self.load_ties::<Many>();
            let mut products = OuterProducts::none();
            self.add_ties::<Many>(&mut products, SpatialVector::default());
            let mut given = self.beside;
            for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
                rows.own_load(bank).add_to(&mut products, rows);
                given = given + (rows.contact.normal * rows.suspension.load + rows.travel_impulse()).sum();
            }
            let system = Symmetric6::new(self.model.mass(), self.model.inertia(), &products);
            after = after + system.solve(given - self.momentum(after - warm));
        }
        after
    }
}

impl Rows {
    /// A tyre that carries nothing meets the ground before one that carries its share of the car at rest does, on which wheels stand else.
    #[inline(always)]
    pub(crate) fn meet_with_tyres(&mut self, bank: &WheelPack) {
        let farther = bank.squash_at_rest().only(self.contact.in_contact);
        self.contact.beyond_droop += farther;
    }

    /// Lets the wheels move on their own from their `travel`, m, and its `rate`, m/s.
    fn travel_from(&mut self, bank: &WheelPack, travel: Four, rate: Four, lead: Four) {
        let up = Vec3Lanes::splat(Vec3::Z);
        let centre = bank.contact + up * (travel + bank.radius);
        let (half, step) = (Four::splat(0.5), Four::splat(self.dt));
        // In step with the velocities, as the struts are; as tyres meet it that carry nothing.
        let ground =
            self.contact.compression + self.contact.beyond_droop + self.contact.jounce_rate * (lead - half * step);
        let begun = travel + rate * (lead - half * step);
        self.travel.tyre.squash = ground - begun;
        self.travel.tyre.rate = self.contact.jounce_rate - rate;
        let middle = ground - bank.squash_at_rest() + Four::splat(0.25) * step * self.contact.jounce_rate;
        self.travel.ground = middle.within(-bank.droop_travel, bank.solid_travel);
        self.travel.ground_share = self.contact.contact_share;
        self.travel.ground_rate = self.contact.jounce_rate;
        self.travel.own = true;
        (self.travel.rate, self.travel.next_rate) = (rate, rate);
        self.travel.heave = SpatialVector::new(up, centre.cross(up)) * bank.unsprung_mass;
        (self.travel.mass, self.travel.shared) = (bank.unsprung_mass, Four::default());
        if let Some(beam) = &bank.beam {
            self.travel.sway(bank, beam, centre, travel);
        }
        self.travel.scrub = Scrub::default();
        if let Some(links) = &bank.links {
            self.travel.lead_sideways(bank, links, centre);
            self.travel.scrub.speed = self.scrubbed(links);
            self.contact.started += self.travel.scrub.speed[0];
        }
        (self.contact.compression, self.contact.beyond_droop) = (travel, Four::default());
        self.contact.contact_share = Four::splat(1.0);
        self.contact.lead = rate * lead;
        self.contact.jounce_rate = rate;
    }

    /// The tyre's spring over the step: its damper, and what the midpoint rule takes from the damping of a wheel that hops.
    fn travel_row(&mut self, bank: &WheelPack, dt: f32) {
        let (zero, half, one, step) = (Four::splat(0.0), Four::splat(0.5), Four::splat(1.0), Four::splat(dt));
        let mass = self.travel.mass;
        self.travel.slowest = ((-bank.droop_travel - self.led()) / step).at_most(Four::splat(OVERLAP_RETURN_SPEED));
        let rate = bank.tyre_rate;
        let relative = (rate + self.strut_rate() + self.suspension.tied.rate) * step * step / mass;
        let lost = (bank.tyre_damping + self.strut_damping(bank)) * relative.at_most(Four::splat(MOST_STIFFENING));
        let damping = bank.tyre_damping + lost * Four::splat(1.0 / 6.0);
        let stiff = damping * step / mass;
        let share = half + half * stiff / (stiff + Four::splat(6.0));
        // From the midpoint rule, 1/4 of each rate, to implicit Euler with the mean velocity, 1/2 and 1.
        let unresolved = (one - Four::splat(RESOLVED) / relative).at_least(zero) * rate * step;
        let tyre = &mut self.travel.tyre;
        tyre.begun = ((one - share) * damping + Four::splat(0.25) * unresolved) * tyre.rate;
        tyre.damping = share * damping + Four::splat(0.75) * unresolved;
    }

    /// Impulse of the tyre along the travel where its squash ends with the rate `ends`, N s, and its slope, kg.
    fn pushed(&self, bank: &WheelPack, ends: Four) -> [Four; 2] {
        let (zero, step, tyre) = (Four::splat(0.0), Four::splat(self.dt), &self.travel.tyre);
        let turn = Four::splat(0.5 * self.dt);
        let squashed = Beyond::of(tyre.squash, tyre.squash + turn * (tyre.rate + ends));
        let force = bank.tyre_rate * squashed.mean + squashed.share * (tyre.begun + tyre.damping * ends);
        let slope = bank.tyre_rate * squashed.slope * turn + squashed.share * tyre.damping;
        let presses = self.contact.in_contact & zero.less(force);
        [(step * force).only(presses), (step * slope).only(presses)]
    }

    /// Load and travel rate of each wheel as the chassis now moves.
    pub(crate) fn own_load(&mut self, bank: &WheelPack) -> UnsprungTangent {
        let (cosine, mass) = (self.contact.cosine, self.travel.mass);
        let ground = -self.coupled.velocity.normal / cosine;
        let given = mass * self.travel.rate - self.coupled.velocity.heave + self.travel.lift;
        let ended = if bank.beam.is_some() { self.seek_both(bank, given) } else { self.seek(bank, given) };
        let rate = self.travel.next_rate;
        let [_, strut_slope] = self.strut_along(bank, rate);
        let [tyre, tyre_slope] = self.pushed(bank, ground - rate);
        self.suspension.load = tyre / cosine;
        let pressing = tyre_slope / (cosine * cosine);
        let through = self.contact.normal * (tyre_slope / cosine) + self.travel.heave;
        let inertia = mass + strut_slope + tyre_slope;
        let (yielding, together) = if bank.beam.is_some() {
            let (yielding, together) = self.yielding_together(inertia, ended);
            (yielding, Some(together))
        } else {
            (Four::splat(-1.0) / inertia, None)
        };
        let yielding = yielding.only(bank.present() & !ended);
        if let Some(links) = &bank.links {
            let both = together.map_or(Four::default(), |together| Four::splat(-2.0) * together);
            self.set_scrub(links, [both - yielding, both], tyre_slope / cosine);
        }
        UnsprungTangent { pressing, yielding, through, together }
    }

    /// How travel rates answer impulses, negative, 1/kg: each its own alone, and half of what it is with the wheel across. One at the
    /// end of its travel leaves the other by itself.
    fn yielding_together(&self, inertia: Four, ended: FourMask) -> (Four, Four) {
        let (one, shared) = (Four::splat(1.0), self.travel.shared);
        let across = inertia.across();
        let determinant = inertia * across - shared * shared;
        let left_alone = Four::default().less(one.only(ended).across());
        let yielding = Four::select(left_alone, one / inertia, (across + shared) / determinant);
        let together = Four::splat(0.5) * shared / determinant;
        (-yielding, together.only(!ended & !left_alone))
    }

    /// Seeks the travel rates of wheels on beams, which carry part of each other.
    fn seek_both(&mut self, bank: &WheelPack, given: Four) -> FourMask {
        let mut ended = FourMask::default();
        for _ in 0..PASSES {
            let last = self.travel.next_rate;
            let carried = self.travel.shared * (last - self.travel.rate).across();
            ended = self.seek(bank, given - carried);
            if !Four::any(Four::splat(SETTLED).less((self.travel.next_rate - last).abs())) {
                break;
            }
        }
        ended
    }

    /// Seeks the travel rates that take up the impulses `given`; tells which wheels end at their droop stops.
    fn seek(&mut self, bank: &WheelPack, given: Four) -> FourMask {
        let (half, mass) = (Four::splat(0.5), self.travel.mass);
        let ground = -self.coupled.velocity.normal / self.contact.cosine;
        let slowest = self.travel.slowest;
        let [mut low, mut high] = [slowest, Four::splat(f32::INFINITY)];
        let mut rate = self.travel.next_rate.at_least(slowest);
        for _ in 0..LOOKS {
            let [strut, strut_slope] = self.strut_along(bank, rate);
            let [tyre, tyre_slope] = self.pushed(bank, ground - rate);
            let missing = given + tyre - strut - mass * rate;
            let step = missing / (mass + strut_slope + tyre_slope);
            let zero = Four::default();
            (low, high) = (Four::select(zero.less(missing), rate, low), Four::select(missing.less(zero), rate, high));
            let next = rate + step;
            let within = low.less(next) & next.less(high);
            let settled = !Four::splat(SETTLED).less(step.abs()) | !slowest.less(high);
            let next = Four::select(within | settled, next.at_least(slowest), half * (low + high));
            rate = Four::select(bank.present(), next, rate);
            if !Four::any(!settled & bank.present()) {
                break;
            }
        }
        self.travel.next_rate = rate;
        // Where it would go on beyond its droop stop.
        !slowest.less(high)
    }

    /// Impulse of strut, stops and ties along the travel, N s, and its slope, kg, where the step ends with the travel rate
    /// `ends`; ties with the other wheels as they last were, and twice as stiff against what has changed since: as much as a
    /// tie answers both its wheels at most, so that wherever the iteration ends ties have given no energy.
    fn strut_along(&mut self, bank: &WheelPack, ends: Four) -> [Four; 2] {
        let [strut, slope] = self.strut_line(bank, ends, self.dt);
        let [stop, stop_slope] = self.stops(bank, ends, self.dt);
        let step = Four::splat(self.dt);
        let [rate, damping] = [self.suspension.tied.rate, self.suspension.tied.damping];
        let gain = step * (Four::splat(0.5) * step * rate + damping);
        let tied = self.suspension.tied.impulse + gain * (ends - self.suspension.tied.seen);
        [strut + slope * ends + stop + tied, slope + stop_slope + gain]
    }

    /// Takes over what the tyre as it now acts lifts the wheel by.
    #[inline(always)]
    pub(crate) fn lift(&mut self, bank: &WheelPack) {
        let across = self.contact.side.linear.z * self.coupled.tyre[1];
        let across = bank.beam.map_or(across, |beam| beam.share(across));
        self.travel.lift = self.contact.forward.linear.z * self.coupled.tyre[0] + across;
        if let Some(links) = &bank.links {
            self.travel.lift += links.lift(self.aside());
        }
    }
}

impl<W: Corners> Rows<W> {
    /// What accelerating the wheels takes from the chassis.
    #[inline(always)]
    pub(crate) fn travel_impulse(&self) -> SpatialVector<W> {
        self.travel.heave * (self.travel.rate - self.travel.next_rate)
    }

    /// Travel after a step of `dt` s in which the pose moved with the mean velocity of both ends, or by what `lead`
    /// says: the same rule for the wheel.
    pub(crate) fn next_travel(&self, lead: f32, dt: f32) -> W {
        self.contact.compression + self.travel.rate * W::splat(lead) + self.travel.next_rate * W::splat(dt - lead)
    }
}
