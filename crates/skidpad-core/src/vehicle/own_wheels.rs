//! Wheels that move on their own: an unsprung mass between the strut and the tyre's vertical spring.
//!
//! The coordinate is the travel along the suspension, so there is no pin to wobble: for a given chassis velocity the
//! travel rate at the end of the step is one division. With `b = m (ẑ, r × ẑ)` the wheel's share in the chassis'
//! motion, S the strut's and N the tyre's impulse,
//!
//! ```text
//! m (q̇ − q̇₀) + b · (V − V_free) = N cos γ + T_z − S(q̇)
//! M (V − V_free)                 = Σ n N + tyres − b (q̇ − q̇₀)
//! ```
//!
//! where M counts the wheels. Both sides stay symmetric when q̇ is eliminated (Featherstone, *Rigid Body Dynamics
//! Algorithms*, ch. 7, for a tree this flat).

use super::Vehicle;
use super::rows::Rows;
use super::strut::damper;
use crate::lane::{Four, FourMask, Lane};
use crate::linear::{OuterProducts, Six, Symmetric6, Triple};
use crate::model::Bank;
use crate::seam::OVERLAP_RETURN_SPEED;
use crate::{STANDARD_GRAVITY, State, Vec3};

/// What a bank of wheels that move on their own needs beside its rows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Travel {
    /// Whether the wheels of this step move on their own.
    pub own: bool,
    /// Tyre compression from rest, m.
    squash: Four,
    /// Jounce rate against the chassis before and after the step, m/s.
    rate: Four,
    pub next_rate: Four,
    /// The wheel's share in the chassis' motion.
    pub heave: Six<Four>,
    /// Impulse of the tyre along the travel, N s.
    lift: Four,
    /// Impulse of springs, stops and ties at no travel rate, N s, and the least damping that bounds them, N s/m.
    wish: Four,
    least: Four,
    /// Length of the step, s.
    step: Four,
    /// Bounds of the travel rate by the two ends of the travel, m/s.
    slowest: Four,
    fastest: Four,
}

/// How the load of a wheel on its own answers the chassis velocity.
pub(super) struct Answer {
    /// Weight of the contact normal.
    pressing: Four,
    /// Weight of `through`, negative: what the wheel's giving way takes back.
    yielding: Four,
    through: Six<Four>,
}

impl Answer {
    pub(super) fn add_to(&self, products: &mut OuterProducts, rows: &Rows) {
        products.add(self.pressing, rows.normal);
        products.add(self.yielding, self.through);
    }
}

impl Vehicle {
    /// Lets the wheels of this step move on their own, if the model knows how heavy all of them are.
    pub(super) fn free_wheels(&mut self, lead: f32) {
        if self.model.wheels().iter().any(|wheel| wheel.unsprung.is_none()) {
            return;
        }
        for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
            rows.travel_from(bank, &self.state, lead);
        }
    }

    /// Loads of wheels on their own from the velocity `warm`, tyres as they were; returns the velocity after them.
    pub(super) fn solve_own_loads(&mut self, free: Six<f32>, warm: Six<f32>, dt: f32) -> Six<f32> {
        let (mut products, mut given) = (OuterProducts::none(), Six::default());
        for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
            rows.travel_row(bank, dt);
            rows.see(warm.wide(), (warm - free).wide());
            rows.lift();
            let answer = rows.own_load(bank);
            answer.add_to(&mut products, rows);
            given = given + (rows.normal * rows.load + rows.travel_impulse()).sum();
        }
        let system = Symmetric6::new(self.model.mass(), self.model.inertia(), &products);
        let after = warm + system.solve(given);
        for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
            rows.see(after.wide(), (after - free).wide());
            rows.own_load(bank);
        }
        after
    }
}

impl Rows {
    fn travel_from(&mut self, bank: &Bank, state: &State, lead: f32) {
        let was = |of: fn(&crate::state::WheelState) -> f32| bank.gather(|i| of(&state.wheels[i]));
        let (ground, travel, rate) = (self.compression, was(|w| w.compression), was(|w| w.travel_rate));
        let up = Triple::splat(Vec3::Z);
        let centre = bank.contact + up * (travel + bank.radius);
        // The ground's own lead is already in `lead`; the tyre sees it less the travel's.
        self.travel.squash = ground + self.lead - travel - rate * Four::splat(lead);
        self.travel.own = true;
        self.travel.rate = rate;
        self.travel.heave = Six::new(up, centre.cross(up)) * bank.unsprung_mass;
        self.compression = travel;
        self.lead = rate * Four::splat(lead);
        self.jounce_rate = rate;
    }

    /// Strut and tyre as soft rows; see the load row of wheels without a mass for the damping.
    fn travel_row(&mut self, bank: &Bank, dt: f32) {
        let (zero, step) = (Four::splat(0.0), Four::splat(dt));
        let led = self.led();
        let rate = self.travel.rate;
        let weight = bank.sprung * Four::splat(STANDARD_GRAVITY);
        let sprung = led.at_most(bank.solid_travel);
        let beyond_stop = sprung - bank.bump_travel;
        let stopped = zero.less(beyond_stop + step * rate);
        let (spring, spring_rate) = bank.springs(sprung);
        let force = weight - bank.unsprung_mass * Four::splat(STANDARD_GRAVITY)
            + spring
            + Four::new(self.tied.force)
            + (bank.stop_rate * beyond_stop).only(stopped);
        let stiffness = spring_rate + Four::new(self.tied.rate) + bank.stop_rate.only(stopped);
        let travel = &mut self.travel;
        travel.wish = step * force;
        (travel.least, travel.step) = (stiffness * step, step);
        travel.slowest = (-bank.droop_travel - led) / step;
        travel.fastest = ((bank.solid_travel - led) / step).at_least(Four::splat(-OVERLAP_RETURN_SPEED));
        let tyre = weight + bank.tyre_rate * travel.squash;
        let give = bank.tyre_damping.at_least(bank.tyre_rate * step);
        self.load_wish = step * tyre / self.cosine;
        self.load_admittance = step * give / (self.cosine * self.cosine);
    }

    /// Load and travel rate of each wheel as the chassis now moves.
    pub(super) fn own_load(&mut self, bank: &Bank) -> Answer {
        let (zero, one) = (Four::splat(0.0), Four::splat(1.0));
        let (wish, give, cosine) = (self.load_wish, self.load_admittance, self.cosine);
        let travel = self.travel;
        let pushed = bank.unsprung_mass * travel.rate - self.seen.heave + travel.lift - travel.wish;
        let lifted = wish - give * self.seen.normal;
        let mass = Four::select(bank.present(), bank.unsprung_mass, one);
        let solve = |pressing: FourMask| {
            let force = pushed + (cosine * lifted).only(pressing);
            let (free, inertia) = self.moved(bank, force, mass + (cosine * cosine * give).only(pressing));
            let bounded = free.within(travel.slowest, travel.fastest);
            (bounded, inertia, bounded.less(free) | free.less(bounded))
        };
        let load = |rate: Four| lifted - give * cosine * rate;
        let (pressed, ..) = solve(self.touching);
        let pressing = self.touching & zero.less(load(pressed));
        let (rate, inertia, ended) = solve(pressing);
        self.travel.next_rate = rate;
        self.load = load(rate).at_least(zero).only(pressing);
        let through = self.normal * (cosine * give).only(pressing) + travel.heave;
        let yielding = -one / inertia;
        Answer { pressing: give.only(pressing), yielding: yielding.only(bank.present() & !ended), through }
    }

    /// Travel rate that an impulse `force` gives to `inertia` kg against the damper, and what resists it in all: the side of
    /// the damper is that of the impulse, and beyond its knee it is where it gets there without.
    #[inline(always)]
    fn moved(&self, bank: &Bank, force: Four, inertia: Four) -> (Four, Four) {
        let Travel { step, least, .. } = self.travel;
        let resisting = |damping: Four| inertia + step * (damping + Four::new(self.tied.damping)).at_least(least);
        let zero = Four::splat(0.0);
        let bump = zero.less(force);
        let slow = resisting(damper(bank, bump, zero).0);
        let rate = force / slow;
        if bank.knees.is_none() {
            return (rate, slow);
        }
        let (damping, opened) = damper(bank, bump, rate);
        let inertia = resisting(damping);
        ((force - step * opened) / inertia, inertia)
    }

    /// Takes over what the tyre as it now acts lifts the wheel by.
    #[inline(always)]
    pub(super) fn lift(&mut self) {
        self.travel.lift = self.forward.linear.z * self.tyre[0] + self.side.linear.z * self.tyre[1];
    }

    /// What accelerating the wheels takes from the chassis.
    #[inline(always)]
    pub(super) fn travel_impulse(&self) -> Six<Four> {
        self.travel.heave * (self.travel.rate - self.travel.next_rate)
    }

    /// Travel after a step of `dt` s in which the pose moved with the mean velocity of both ends, or by what `lead`
    /// says: the same rule for the wheel.
    pub(super) fn next_travel(&self, lead: f32, dt: f32) -> Four {
        self.compression + self.travel.rate * Four::splat(lead) + self.travel.next_rate * Four::splat(dt - lead)
    }
}
