//! What ties two wheels: anti-roll bars, part of each strut or beside them on the chassis, and heave springs.

use core::slice::{from_mut, from_ref};

use crate::banks::{Banks, Many};
use crate::constants::{MAX_WHEELS, STANDARD_GRAVITY};
use crate::controls::{Controls, bounded};
use crate::lane::{Corners, Four, Lane};
use crate::linear::{OuterProducts, SpatialVector};
use crate::step::rows::Rows;
use crate::step::vehicle::{Vehicle, banks};
use crate::suspension::parameters::{AntiRollBar, BarCoupling};
use crate::suspension::rows::Tied;
use crate::wheel::pack::{LaneIndex, WheelPack};

/// A spring and damper through the struts of two wheels: each gets `rate (z + way z') + damping (ż + way ż')`, z' the other's.
#[derive(Clone, Copy, Debug)]
struct AxleLink {
    wheels: [usize; 2],
    /// N/m.
    rate: f32,
    /// N s/m.
    damping: f32,
    /// −1 for a bar, which resists what the wheels do against each other; 1 for a heave spring, which resists the rest.
    way: f32,
    /// Whether it pushes the chassis beside the struts, not through them.
    beside: bool,
}

impl Vehicle {
    /// Takes over what an active bar is asked for.
    pub(crate) fn set_bars(&mut self, controls: &Controls) {
        self.bar_share = controls.bars.map_or(1.0, |share| bounded(share, 0.0, 1.0));
    }

    /// Rate of `bar` in this step, N/m.
    fn bar_rate(&self, bar: &AntiRollBar) -> f32 {
        let rate = if bar.fades_in == [0.0; 2] { bar.rate } else { bar.rate_at(self.state.velocity.length()) };
        self.bar_share * rate
    }

    /// Number of bars and heave springs.
    fn ties(&self) -> usize {
        self.model.parts().bars.len() + self.model.parts().heave_springs.len()
    }

    /// Tie `k` as it is in this step.
    fn tie(&self, k: usize) -> AxleLink {
        let parts = self.model.parts();
        if let Some(bar) = parts.bars.get(k) {
            let beside = bar.coupling == BarCoupling::External;
            return AxleLink { wheels: bar.wheels, rate: self.bar_rate(bar), damping: 0.0, way: -1.0, beside };
        }
        // A quarter: half of it at each wheel, of which each wheel's travel is half of the mean.
        let spring = &parts.heave_springs[k - parts.bars.len()];
        let [rate, damping] = [spring.rate, spring.damping].map(|value| 0.25 * value);
        AxleLink { wheels: spring.wheels, rate, damping, way: 1.0, beside: false }
    }

    /// What ties add to each strut.
    ///
    /// A wheel that the other one lifts off the ground hangs where its spring and its ties balance: taken from the ground
    /// below it, a bar would push the other wheel with a force nothing opposes, and the car would bounce for ever.
    #[inline(always)]
    pub(crate) fn tie_rows<B: Banks>(&mut self, dt: f32) {
        for (bank, rows) in banks::<B>(&self.model, &mut self.rows) {
            rows.strut_step(bank, dt);
        }
        if !self.model.is_tied() {
            return;
        }
        self.sum_ties::<B>();
        if B::of(self.model.banks()).iter().zip(B::of(&self.rows)).any(|(bank, rows)| Four::any(rows.lifted(bank))) {
            self.lift_ends();
            for rows in &mut self.rows {
                let Tied { travel, lifted, force, .. } = rows.suspension.tied;
                rows.suspension.tied = Tied { travel, lifted, lifting: Four::splat(dt) * force, ..Tied::default() };
            }
            self.sum_ties::<Many>();
        }
    }

    /// Adds up the ties of each strut at the travels found.
    #[inline(always)]
    fn sum_ties<B: Banks>(&mut self) {
        for (bank, rows) in banks::<B>(&self.model, &mut self.rows) {
            sum_bars(from_ref(bank), from_mut(rows), Four::splat(self.bar_share));
        }
        if !self.model.ties_apart().is_empty() {
            self.sum_ties_apart();
        }
    }

    #[cold]
    #[inline(never)]
    fn sum_ties_apart(&mut self) {
        for rows in &mut self.rows {
            (rows.suspension.tied.damping, rows.suspension.tied.heave) = Default::default();
        }
        for &k in self.model.ties_apart() {
            let tie = self.tie(k);
            if tie.beside {
                continue;
            }
            let places = tie.wheels.map(|i| self.model.place(i));
            let [first, second] = places.map(|at| self.rows[at.bank].suspension.tied.travel.at(at.lane));
            for (at, travel) in places.into_iter().zip([first + tie.way * second, second + tie.way * first]) {
                let tied = &mut self.rows[at.bank].suspension.tied;
                tied.force.add_at(at.lane, tie.rate * travel);
                tied.rate.add_at(at.lane, tie.rate);
                if self.model.is_across(tie.wheels, tie.way) {
                    tied.across.add_at(at.lane, tie.rate);
                } else if self.model.is_across(tie.wheels, -tie.way) {
                    tied.heave[0].add_at(at.lane, tie.rate);
                    tied.heave[1].add_at(at.lane, tie.damping);
                }
            }
            if tie.damping != 0.0 {
                let [first, second] = places.map(|at| self.rows[at.bank].contact.jounce_rate.lanes()[at.lane]);
                for (at, other) in places.into_iter().zip([second, first]) {
                    let tied = &mut self.rows[at.bank].suspension.tied;
                    tied.force.add_at(at.lane, tie.way * tie.damping * other);
                    tied.damping.add_at(at.lane, tie.damping);
                }
            }
        }
    }

    /// Puts the ends of ties that wheels off the ground hang on where they hang.
    fn lift_ends(&mut self) {
        let mut found = [[f32::NEG_INFINITY; 4]; MAX_WHEELS];
        for (i, wheel) in self.model.wheels().iter().enumerate() {
            let place = self.model.place(i);
            if !self.rows[place.bank].travel.own {
                let hanging = self.hanging(i, |rows| rows.suspension.tied.travel).min(wheel.strut.bump_travel);
                found[place.bank][place.lane] = hanging;
            }
        }
        for (rows, hanging) in self.rows.iter_mut().zip(found) {
            let (travel, hanging) = (rows.suspension.tied.travel, Four::new(hanging));
            rows.suspension.tied.lifted = travel.less(hanging);
            rows.suspension.tied.travel = travel.at_least(hanging);
        }
    }

    /// Compression at which the strut of wheel `i` and its ties balance with the other wheels at `travel`, m.
    pub(crate) fn hanging(&self, i: usize, travel: impl Fn(&Rows) -> Four) -> f32 {
        let (mut push, mut rate) = (-self.model.static_load(i), 0.0);
        for k in 0..self.ties() {
            let tie = self.tie(k);
            if !tie.beside && tie.wheels.contains(&i) {
                let other = self.model.place(if tie.wheels[0] == i { tie.wheels[1] } else { tie.wheels[0] });
                push -= tie.way * tie.rate * travel(&self.rows[other.bank]).lanes()[other.lane];
                rate += tie.rate;
            }
        }
        self.model.wheels()[i].strut.compression_under(push.into(), rate.into()) as f32
    }

    /// Takes the impulses of all ties at the speeds the rows see: those through the struts go to the loads, the others are what
    /// acts on the chassis beside them. Over the step a tie is the spring of [`crate::suspension::strut`], with the travels of both ends.
    #[inline(always)]
    pub(crate) fn load_ties<B: Banks>(&mut self) {
        if !self.model.is_tied() {
            return;
        }
        for rows in B::of_mut(&mut self.rows) {
            load_bars(from_mut(rows));
        }
        if !self.model.ties_apart().is_empty() {
            self.load_ties_apart();
        }
    }

    #[cold]
    #[inline(never)]
    fn load_ties_apart(&mut self) {
        let mut beside = SpatialVector::default();
        for &k in self.model.ties_apart() {
            let tie = self.tie(k);
            if self.is_in_rows(&tie) {
                continue;
            }
            let ends = tie.wheels.map(|i| self.end(i, tie.beside));
            let sum = |of: fn(&End) -> f32| of(&ends[0]) + tie.way * of(&ends[1]);
            let dt = self.rows[0].dt;
            let held = dt * (tie.rate * sum(|end| end.travel) + 0.5 * tie.damping * sum(|end| end.rate_before));
            let impulse = share(&ends) * (held + tie.gain(dt) * sum(|end| end.rate));
            if tie.beside {
                beside = beside + self.row_of(&tie, &ends) * impulse;
                continue;
            }
            for (end, impulse) in ends.into_iter().zip([impulse, tie.way * impulse]).filter(|(end, _)| !end.lifted) {
                let rows = &mut self.rows[end.place.bank];
                rows.suspension.tied.impulse.add_at(end.place.lane, impulse * end.per_cosine);
            }
        }
        self.beside = beside;
    }

    /// Adds how the ties answer changes of the chassis velocity to `products`; returns what they give from the velocity `warm`
    /// on as it stays, beyond what is in the loads.
    #[inline(always)]
    pub(crate) fn add_ties<B: Banks>(
        &self,
        products: &mut OuterProducts,
        warm: SpatialVector<f32>,
    ) -> SpatialVector<f32> {
        let mut given = self.beside;
        if !self.model.is_tied() {
            return given;
        }
        for rows in B::of(&self.rows).iter().filter(|rows| !rows.travel.own) {
            given = given + Bars::of(from_ref(rows), warm).add_to(products);
        }
        if !self.model.ties_apart().is_empty() {
            given = given + self.add_ties_apart(products, warm);
        }
        given
    }

    #[cold]
    #[inline(never)]
    fn add_ties_apart(&self, products: &mut OuterProducts, warm: SpatialVector<f32>) -> SpatialVector<f32> {
        let mut given = SpatialVector::default();
        for &k in self.model.ties_apart() {
            let tie = self.tie(k);
            if self.is_in_rows(&tie) || self.is_in_travel(&tie) {
                continue;
            }
            let ends = tie.wheels.map(|i| self.end(i, tie.beside));
            let row = self.row_of(&tie, &ends);
            let gain = share(&ends) * tie.gain(self.rows[0].dt);
            // Half of it with the left wheels and half with the right ones, so that sums of a mirrored car are the same.
            let half = 0.5 * gain;
            products.add(Four::new([half, half, 0.0, 0.0]), row.wide());
            let pressing = |end: &End| if self.presses(&tie, end) { end.rate } else { 0.0 };
            let seen = -(pressing(&ends[0]) + tie.way * pressing(&ends[1]));
            given = given + row * (gain * (seen - row.dot(warm)));
        }
        given
    }

    /// Row, gain and speed seen of tie `k` through struts that stand upright.
    #[cfg(test)]
    pub(crate) fn tie_terms(&self, k: usize) -> (SpatialVector<f32>, f32, f32) {
        let tie = self.tie(k);
        let ends = tie.wheels.map(|i| self.end(i, tie.beside));
        (self.row_of(&tie, &ends), tie.gain(self.rows[0].dt), -(ends[0].rate + tie.way * ends[1].rate))
    }

    /// Whether the rows of its wheels have a tie: bars that join the wheels of an axle.
    fn is_in_rows(&self, tie: &AxleLink) -> bool {
        !tie.beside && self.model.is_across(tie.wheels, tie.way)
    }

    /// Whether a tie answers wheels on their own, not the chassis.
    fn is_in_travel(&self, tie: &AxleLink) -> bool {
        !tie.beside && self.rows[0].travel.own
    }

    /// Wheel `i` as the end of a tie: one through its strut, or `beside` it.
    fn end(&self, i: usize, beside: bool) -> End {
        let place = self.model.place(i);
        let (rows, lane) = (&self.rows[place.bank], place.lane);
        let at = |of: Four| of.lanes()[lane];
        if rows.travel.own && !beside {
            let [travel, rate_before] = [rows.suspension.tied.travel.at(lane), at(rows.contact.jounce_rate)];
            let rate = at(rows.travel.next_rate);
            return End { place, follows: true, lifted: false, share: 1.0, per_cosine: 1.0, travel, rate_before, rate };
        }
        let lifted = rows.suspension.tied.lifted.lanes()[lane] && !beside;
        let follows = rows.contact.in_contact.lanes()[lane] && !lifted;
        let per_cosine = 1.0 / at(rows.contact.cosine);
        let only = |rate: f32| if follows { rate } else { 0.0 };
        End {
            place,
            follows,
            lifted,
            share: match beside && follows {
                true if rows.travel.own => at(rows.travel.ground_share),
                true => at(rows.contact.contact_share),
                false => 1.0,
            },
            per_cosine,
            travel: if rows.travel.own { at(rows.travel.ground) } else { rows.suspension.tied.travel.at(lane) },
            rate_before: only(at(if rows.travel.own { rows.travel.ground_rate } else { rows.contact.jounce_rate })),
            rate: only(-at(rows.coupled.velocity.normal) * per_cosine),
        }
    }

    /// What a tie does to the chassis per impulse, at its ends that press.
    fn row_of(&self, tie: &AxleLink, ends: &[End; 2]) -> SpatialVector<f32> {
        let [first, second] = [&ends[0], &ends[1]].map(|end| {
            let (rows, lane) = (&self.rows[end.place.bank], end.place.lane);
            if self.presses(tie, end) {
                rows.contact.normal.lane(lane) * end.per_cosine
            } else {
                SpatialVector::default()
            }
        });
        first + second * tie.way
    }

    /// Whether the tie does anything to the chassis at this end.
    fn presses(&self, tie: &AxleLink, end: &End) -> bool {
        end.follows && (tie.beside || self.rows[end.place.bank].suspension.load_active.lanes()[end.place.lane])
    }
}

impl AxleLink {
    /// Impulse per rate at the end of a step of `dt` s, N s per m/s.
    fn gain(&self, dt: f32) -> f32 {
        0.25 * dt * dt * self.rate + 0.5 * dt * self.damping
    }
}

/// Of the step in which a tie acts.
fn share(ends: &[End; 2]) -> f32 {
    ends[0].share.min(ends[1].share)
}

/// A wheel as the end of a tie.
struct End {
    place: LaneIndex,
    /// Whether it stands on the ground.
    follows: bool,
    lifted: bool,
    /// Of the step in which it does, of a tie beside the struts: the loads have that of the others.
    share: f32,
    per_cosine: f32,
    /// m.
    travel: f32,
    /// Jounce rates at the start of the step and as seen, m/s.
    rate_before: f32,
    rate: f32,
}

impl<W: Corners> Rows<W> {
    /// Jounce rates as the bars see them, m/s.
    #[inline(always)]
    fn end_rates(&self) -> W {
        (-self.coupled.velocity.normal / self.contact.cosine)
            .only(self.contact.in_contact & !self.suspension.tied.lifted)
    }

    /// Wheels that strut and ties would pull off the ground.
    #[inline(always)]
    pub(crate) fn lifted(&self, bank: &WheelPack<W>) -> W::Mask {
        if self.travel.own {
            return W::Mask::default();
        }
        let (spring, _) = bank.springs(self.suspension.tied.travel);
        let push = bank.sprung * W::splat(STANDARD_GRAVITY) + spring + self.suspension.tied.force;
        push.less(W::splat(0.0)) & bank.present()
    }
}

/// Rates of the bars to the wheels across, of the `rows` of two axles, and their forces at the travels found.
#[inline(always)]
pub(crate) fn sum_bars<W: Corners>(banks: &[WheelPack<W>], rows: &mut [Rows<W>], share: W) {
    let travel = W::each(|k| rows[k].suspension.tied.travel);
    let across = W::across(travel);
    for (k, (bank, rows)) in banks.iter().zip(rows).enumerate() {
        let rate = bank.across * share;
        let tied = &mut rows.suspension.tied;
        (tied.across, tied.rate) = (rate, rate);
        tied.force = rate * (travel[k] - across[k]);
    }
}

/// Impulses of the bars to the wheels across, of the `rows` of two axles; other ties begin at nothing.
#[inline(always)]
pub(crate) fn load_bars<W: Corners>(rows: &mut [Rows<W>]) {
    let own = rows[0].travel.own;
    let rates = W::each(|k| if own { rows[k].travel.next_rate } else { rows[k].end_rates() });
    let step = W::splat(rows[0].dt);
    let middle = W::each(|k| rows[k].suspension.tied.travel + W::splat(0.25) * step * rates[k]);
    let across = W::across(middle);
    for (k, rows) in rows.iter_mut().enumerate() {
        let tied = &mut rows.suspension.tied;
        let impulse = step * tied.across * (middle[k] - across[k]);
        if own {
            (tied.impulse, tied.seen) = (impulse, rates[k]);
        } else {
            // From where it hangs, a wheel would be pushed as soon as the other one comes out.
            tied.impulse = W::select(tied.lifted, tied.lifting, impulse) / rows.contact.cosine;
        }
    }
}

/// How bars to the wheels across answer the chassis velocity, of two axles.
pub(crate) struct Bars<W: Corners = Four> {
    /// Half of each with each of its wheels.
    pub lines: W::Each<(W, SpatialVector<W>)>,
    /// What they give, as [`Vehicle::add_ties`].
    pub given: SpatialVector<W::Car>,
}

impl<W: Corners> Bars<W> {
    #[inline(always)]
    pub(crate) fn of(rows: &[Rows<W>], warm: SpatialVector<W::Car>) -> Self {
        let one = W::splat(1.0);
        let presses = W::each(|k| {
            let rows = &rows[k];
            rows.contact.in_contact & !rows.suspension.tied.lifted & rows.suspension.load_active
        });
        let ends = W::each(|k| rows[k].contact.normal * (one / rows[k].contact.cosine).only(presses[k]));
        let others = SpatialVector::<W>::across_of(ends);
        let rates = W::each(|k| rows[k].end_rates().only(presses[k]));
        let rates_across = W::across(rates);
        let warm = warm.wide();
        let lines = W::each(|k| {
            let half = W::splat(0.125 * rows[k].dt * rows[k].dt) * rows[k].suspension.tied.across;
            (half, ends[k] - others[k])
        });
        let given = SpatialVector::sum_of(|k| {
            let (half, row) = lines[k];
            row * (half * (rates_across[k] - rates[k] - row.dot(warm)))
        });
        Self { lines, given }
    }

    /// Adds how they answer to `products`; returns what they give.
    #[inline(always)]
    pub(crate) fn add_to(self, products: &mut OuterProducts<W>) -> SpatialVector<W::Car> {
        for k in 0..W::ROWS {
            let (half, row) = self.lines[k];
            products.add_of(k, half, row);
        }
        self.given
    }
}
