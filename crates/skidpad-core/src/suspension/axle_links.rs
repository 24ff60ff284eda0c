//! Axle links between two wheels: anti-roll bars, through the struts or on the chassis, and heave springs.

use core::slice::{from_mut, from_ref};

use crate::banks::{Banks, Many};
use crate::constants::{MAX_WHEELS, STANDARD_GRAVITY};
use crate::controls::Controls;
use crate::lane::{Corners, Four, Lane};
use crate::linear::{OuterProducts, SpatialVector};
use crate::model::Model;
use crate::step::rows::Rows;
use crate::step::vehicle::{Vehicle, banks};
use crate::suspension::parameters::BarCoupling;
use crate::suspension::rows::AxleLinkRows;
use crate::wheel::pack::{LaneIndex, WheelPack};

/// Spring and damper between the struts of two wheels. The force on each is `rate (z + way z') + damping (ż + way ż')`, z' being the travel
/// of the other wheel.
#[derive(Clone, Copy, Debug)]
struct AxleLink {
    /// Indices of the wheels.
    wheels: [usize; 2],
    /// Rate of the spring, N/m.
    rate: f32,
    /// Damping, N s/m.
    damping: f32,
    /// Sign of the other wheel's travel: −1 for a bar, which resists opposite travel; 1 for a heave spring, which resists equal travel.
    way: f32,
    /// Whether the force acts on the chassis directly, not through the struts.
    beside: bool,
}

impl Model {
    /// Returns axle link `k` of a car at a `speed` (m/s) whose bars have the share `bar_share` of their rates.
    fn axle_link(&self, k: usize, [bar_share, speed]: [f32; 2]) -> AxleLink {
        let parts = self.parts();
        if let Some(bar) = parts.bars.get(k) {
            let beside = bar.coupling == BarCoupling::External;
            let rate = if bar.fades_in == [0.0; 2] { bar.rate } else { bar.rate_at(speed) };
            return AxleLink { wheels: bar.wheels, rate: bar_share * rate, damping: 0.0, way: -1.0, beside };
        }
        // Factor 1/4: half of the force at each wheel, and half of the mean travel from each wheel.
        let spring = &parts.heave_springs[k - parts.bars.len()];
        let [rate, damping] = [spring.rate, spring.damping].map(|value| 0.25 * value);
        AxleLink { wheels: spring.wheels, rate, damping, way: 1.0, beside: false }
    }

    /// Returns the compression (m) at which the strut and the axle links of wheel `i` balance without ground, with the other wheels at
    /// `travel` (m). `bars` are share and speed as for `Self::axle_link`.
    pub(crate) fn hanging(&self, i: usize, bars: [f32; 2], travel: impl Fn(usize) -> f32) -> f32 {
        let (mut push, mut rate) = (-self.static_load(i), 0.0);
        for k in 0..self.parts().bars.len() + self.parts().heave_springs.len() {
            let link = self.axle_link(k, bars);
            if !link.beside && link.wheels.contains(&i) {
                let other = if link.wheels[0] == i { link.wheels[1] } else { link.wheels[0] };
                push -= link.way * link.rate * travel(other);
                rate += link.rate;
            }
        }
        self.wheels()[i].strut.compression_under(push.into(), rate.into()) as f32
    }
}

impl Vehicle {
    /// Sets the share of the bar rates that the driver demands of active bars.
    pub(crate) fn set_bars(&mut self, controls: &Controls) {
        self.bar_share = controls.bar_share();
    }

    /// Returns axle link `k` in the current step.
    fn axle_link(&self, k: usize) -> AxleLink {
        self.model.axle_link(k, [self.bar_share, self.state.velocity.length()])
    }

    /// Initialises the struts for a step of `dt` s and computes the axle link forces on them.
    ///
    /// A wheel that the other one lifts off the ground is moved to the balance of spring and axle links. With the travel of the ground
    /// below it, a bar would push the other wheel with a force that nothing opposes, and the car would bounce without end.
    #[inline(always)]
    pub(crate) fn axle_link_rows<B: Banks>(&mut self, dt: f32) {
        for (bank, rows) in banks::<B>(&self.model, &mut self.rows) {
            rows.strut_step(bank, dt);
        }
        if !self.model.has_axle_links() {
            return;
        }
        self.sum_axle_links::<B>();
        if B::of(self.model.banks()).iter().zip(B::of(&self.rows)).any(|(bank, rows)| Four::any(rows.lifted(bank))) {
            self.lift_link_ends();
            for rows in &mut self.rows {
                let AxleLinkRows { travel, lifted, force, .. } = rows.suspension.axle_links;
                rows.suspension.axle_links =
                    AxleLinkRows { travel, lifted, lifting: Four::splat(dt) * force, ..AxleLinkRows::default() };
            }
            self.sum_axle_links::<Many>();
        }
    }

    /// Sums the axle links of each strut at the current travels.
    #[inline(always)]
    fn sum_axle_links<B: Banks>(&mut self) {
        for (bank, rows) in banks::<B>(&self.model, &mut self.rows) {
            sum_bars(from_ref(bank), from_mut(rows), Four::splat(self.bar_share));
        }
        if !self.model.axle_links_apart().is_empty() {
            self.sum_axle_links_apart();
        }
    }

    /// Adds the axle links that are not in [`WheelPack::bar_rate`].
    #[cold]
    #[inline(never)]
    fn sum_axle_links_apart(&mut self) {
        for rows in &mut self.rows {
            (rows.suspension.axle_links.damping, rows.suspension.axle_links.heave) = Default::default();
        }
        for &k in self.model.axle_links_apart() {
            let link = self.axle_link(k);
            if link.beside {
                continue;
            }
            let places = link.wheels.map(|i| self.model.place(i));
            let [first, second] = places.map(|at| self.rows[at.bank].suspension.axle_links.travel.at(at.lane));
            for (at, travel) in places.into_iter().zip([first + link.way * second, second + link.way * first]) {
                let linked = &mut self.rows[at.bank].suspension.axle_links;
                linked.force.add_at(at.lane, link.rate * travel);
                linked.rate.add_at(at.lane, link.rate);
                if self.model.is_between_opposite(link.wheels, link.way) {
                    linked.bar_rate.add_at(at.lane, link.rate);
                } else if self.model.is_between_opposite(link.wheels, -link.way) {
                    linked.heave[0].add_at(at.lane, link.rate);
                    linked.heave[1].add_at(at.lane, link.damping);
                }
            }
            if link.damping != 0.0 {
                let [first, second] = places.map(|at| self.rows[at.bank].contact.jounce_rate.lanes()[at.lane]);
                for (at, other) in places.into_iter().zip([second, first]) {
                    let linked = &mut self.rows[at.bank].suspension.axle_links;
                    linked.force.add_at(at.lane, link.way * link.damping * other);
                    linked.damping.add_at(at.lane, link.damping);
                }
            }
        }
    }

    /// Marks wheels that axle links lift off the ground, and moves their ends of the links to the balance of spring and links.
    fn lift_link_ends(&mut self) {
        let mut found = [[f32::NEG_INFINITY; 4]; MAX_WHEELS];
        for (i, wheel) in self.model.wheels().iter().enumerate() {
            let place = self.model.place(i);
            if !self.rows[place.bank].has_unsprung {
                let hanging = self.hanging(i, |rows| rows.suspension.axle_links.travel).min(wheel.strut.bump_travel);
                found[place.bank][place.lane] = hanging;
            }
        }
        for (rows, hanging) in self.rows.iter_mut().zip(found) {
            let (travel, hanging) = (rows.suspension.axle_links.travel, Four::new(hanging));
            rows.suspension.axle_links.lifted = travel.less(hanging);
            rows.suspension.axle_links.travel = travel.at_least(hanging);
        }
    }

    /// Returns [`Model::hanging`] of wheel `i` for the current step, with the other wheels at `travel`.
    pub(crate) fn hanging(&self, i: usize, travel: impl Fn(&Rows) -> Four) -> f32 {
        self.model.hanging(i, [self.bar_share, self.state.velocity.length()], |other| {
            let place = self.model.place(other);
            travel(&self.rows[place.bank]).at(place.lane)
        })
    }

    /// Computes the impulses of all axle links at the current speeds of the rows. Those through the struts go to the axle link rows; the
    /// sum of the others goes to `beside`, the impulse on the chassis. An axle link is integrated like the spring of
    /// [`crate::suspension::strut`], with the travels of both ends.
    #[inline(always)]
    pub(crate) fn load_axle_links<B: Banks>(&mut self) {
        if !self.model.has_axle_links() {
            return;
        }
        for rows in B::of_mut(&mut self.rows) {
            load_bars(from_mut(rows));
        }
        if !self.model.axle_links_apart().is_empty() {
            self.load_axle_links_apart();
        }
    }

    /// Adds the impulses of the axle links that are not in the rows, and sums those of external bars in `beside`.
    #[cold]
    #[inline(never)]
    fn load_axle_links_apart(&mut self) {
        let mut beside = SpatialVector::default();
        for &k in self.model.axle_links_apart() {
            let link = self.axle_link(k);
            if self.is_in_rows(&link) {
                continue;
            }
            let ends = link.wheels.map(|i| self.end(i, link.beside));
            let sum = |of: fn(&End) -> f32| of(&ends[0]) + link.way * of(&ends[1]);
            let dt = self.rows[0].dt;
            let held = dt * (link.rate * sum(|end| end.travel) + 0.5 * link.damping * sum(|end| end.rate_before));
            let impulse = share(&ends) * (held + link.gain(dt) * sum(|end| end.rate));
            if link.beside {
                beside = beside + self.row_of(&link, &ends) * impulse;
                continue;
            }
            for (end, impulse) in ends.into_iter().zip([impulse, link.way * impulse]).filter(|(end, _)| !end.lifted) {
                let rows = &mut self.rows[end.place.bank];
                rows.suspension.axle_links.impulse.add_at(end.place.lane, impulse * end.per_cosine);
            }
        }
        self.beside = beside;
    }

    /// Returns the response of the axle links to changes of the chassis velocity.
    #[inline(always)]
    pub(crate) fn axle_link_products<B: Banks>(&self) -> OuterProducts {
        if let [rows] = B::of(&self.rows)
            && self.model.has_axle_links()
            && self.model.axle_links_apart().is_empty()
            && !rows.has_unsprung
        {
            let Bars { lines: [bar], .. } = Bars::of(from_ref(rows), SpatialVector::default());
            return OuterProducts::of(
                #[inline(always)]
                |_| [bar],
            );
        }
        let mut products = OuterProducts::none();
        self.add_axle_links::<B>(&mut products, SpatialVector::default());
        products
    }

    /// Adds the response of the axle links to changes of the chassis velocity to `products`. Returns the impulse of external bars, plus the
    /// link impulses extrapolated to the velocity `warm` as far as the loads do not contain them.
    #[inline(always)]
    pub(crate) fn add_axle_links<B: Banks>(
        &self,
        products: &mut OuterProducts,
        warm: SpatialVector<f32>,
    ) -> SpatialVector<f32> {
        let mut given = self.beside;
        if !self.model.has_axle_links() {
            return given;
        }
        for rows in B::of(&self.rows).iter().filter(|rows| !rows.has_unsprung) {
            given = given + Bars::of(from_ref(rows), warm).add_to(products);
        }
        if !self.model.axle_links_apart().is_empty() {
            given = given + self.add_axle_links_apart(products, warm);
        }
        given
    }

    /// Adds the response of the axle links that are not in [`WheelPack::bar_rate`]; see [`Self::add_axle_links`].
    #[cold]
    #[inline(never)]
    fn add_axle_links_apart(&self, products: &mut OuterProducts, warm: SpatialVector<f32>) -> SpatialVector<f32> {
        let mut given = SpatialVector::default();
        for &k in self.model.axle_links_apart() {
            let link = self.axle_link(k);
            if self.is_in_rows(&link) || self.is_in_travel(&link) {
                continue;
            }
            let ends = link.wheels.map(|i| self.end(i, link.beside));
            let row = self.row_of(&link, &ends);
            let gain = share(&ends) * link.gain(self.rows[0].dt);
            // One half at the left wheels and one half at the right ones, so that sums of a mirrored car are identical.
            let half = 0.5 * gain;
            products.add(Four::new([half, half, 0.0, 0.0]), row.at_each_wheel());
            let pressing = |end: &End| if self.presses(&link, end) { end.rate } else { 0.0 };
            let seen = -(pressing(&ends[0]) + link.way * pressing(&ends[1]));
            given = given + row * (gain * (seen - row.dot(warm)));
        }
        given
    }

    /// Returns row, gain and speed of axle link `k` with upright struts.
    #[cfg(test)]
    pub(crate) fn axle_link_terms(&self, k: usize) -> (SpatialVector<f32>, f32, f32) {
        let link = self.axle_link(k);
        let ends = link.wheels.map(|i| self.end(i, link.beside));
        (self.row_of(&link, &ends), link.gain(self.rows[0].dt), -(ends[0].rate + link.way * ends[1].rate))
    }

    /// Returns true if the rows of the wheels contain the axle link: bars between the wheels of one axle.
    fn is_in_rows(&self, link: &AxleLink) -> bool {
        !link.beside && self.model.is_between_opposite(link.wheels, link.way)
    }

    /// Returns true if an axle link acts on unsprung masses instead of the chassis.
    fn is_in_travel(&self, link: &AxleLink) -> bool {
        !link.beside && self.rows[0].has_unsprung
    }

    /// Returns wheel `i` as the end of an axle link through its strut, or on the chassis if `beside`.
    fn end(&self, i: usize, beside: bool) -> End {
        let place = self.model.place(i);
        let (rows, lane) = (&self.rows[place.bank], place.lane);
        let at = |of: Four| of.lanes()[lane];
        let unsprung = rows.unsprung();
        if let Some(unsprung) = unsprung.filter(|_| !beside) {
            let [travel, rate_before] = [rows.suspension.axle_links.travel.at(lane), at(rows.contact.jounce_rate)];
            let rate = at(unsprung.next_rate);
            return End { place, follows: true, lifted: false, share: 1.0, per_cosine: 1.0, travel, rate_before, rate };
        }
        let lifted = rows.suspension.axle_links.lifted.lanes()[lane] && !beside;
        let follows = rows.contact.in_contact.lanes()[lane] && !lifted;
        let per_cosine = 1.0 / at(rows.contact.cosine);
        let only = |rate: f32| if follows { rate } else { 0.0 };
        End {
            place,
            follows,
            lifted,
            share: match beside && follows {
                true => at(unsprung.map_or(rows.contact.contact_share, |unsprung| unsprung.ground_share)),
                false => 1.0,
            },
            per_cosine,
            travel: unsprung.map_or(rows.suspension.axle_links.travel, |unsprung| unsprung.ground).at(lane),
            rate_before: only(at(unsprung.map_or(rows.contact.jounce_rate, |unsprung| unsprung.ground_rate))),
            rate: only(-at(rows.coupled.velocity.normal) * per_cosine),
        }
    }

    /// Returns the effect of an axle link on the chassis per impulse, at its ends that press.
    fn row_of(&self, link: &AxleLink, ends: &[End; 2]) -> SpatialVector<f32> {
        let [first, second] = [&ends[0], &ends[1]].map(|end| {
            let (rows, lane) = (&self.rows[end.place.bank], end.place.lane);
            if self.presses(link, end) {
                rows.contact.normal.lane(lane) * end.per_cosine
            } else {
                SpatialVector::default()
            }
        });
        first + second * link.way
    }

    /// Returns true if the axle link acts on the chassis at this end.
    fn presses(&self, link: &AxleLink, end: &End) -> bool {
        end.follows && (link.beside || self.rows[end.place.bank].suspension.load_active.lanes()[end.place.lane])
    }
}

impl AxleLink {
    /// Returns the impulse per rate at the end of a step of `dt` s, N s per m/s.
    fn gain(&self, dt: f32) -> f32 {
        0.25 * dt * dt * self.rate + 0.5 * dt * self.damping
    }
}

/// Returns the share of the step in which an axle link acts.
fn share(ends: &[End; 2]) -> f32 {
    ends[0].share.min(ends[1].share)
}

/// Wheel as the end of an axle link.
struct End {
    place: LaneIndex,
    /// Whether the wheel follows the ground.
    follows: bool,
    /// Whether its axle links lift the wheel off the ground.
    lifted: bool,
    /// Share of the step with contact, for an external bar; otherwise 1, because the loads include it.
    share: f32,
    /// Inverse cosine between contact normal and suspension travel.
    per_cosine: f32,
    /// Travel in the middle of the step for a final rate of zero, m.
    travel: f32,
    /// Jounce rate at the start of the step, m/s.
    rate_before: f32,
    /// Current jounce rate at the end of the step, m/s.
    rate: f32,
}

impl<W: Corners> Rows<W> {
    /// Returns the current jounce rates at the bars, m/s.
    #[inline(always)]
    fn end_rates(&self) -> W {
        (-self.coupled.velocity.normal / self.contact.cosine)
            .only(self.contact.in_contact & !self.suspension.axle_links.lifted)
    }

    /// Returns the wheels that strut and axle links would pull off the ground.
    #[inline(always)]
    pub(crate) fn lifted(&self, bank: &WheelPack<W>) -> W::Mask {
        if self.has_unsprung {
            return W::Mask::default();
        }
        let (spring, _) = bank.springs(self.suspension.axle_links.travel);
        let push = bank.sprung * W::splat(STANDARD_GRAVITY) + spring + self.suspension.axle_links.force;
        push.less(W::splat(0.0)) & bank.present()
    }
}

/// Computes rates and forces of the bars to the opposite wheels, for the `rows` of two axles at the current travels. `share` is the share
/// of the bar rates.
#[inline(always)]
pub(crate) fn sum_bars<W: Corners>(banks: &[WheelPack<W>], rows: &mut [Rows<W>], share: W) {
    let travel = W::each(|k| rows[k].suspension.axle_links.travel);
    let opposite = W::opposite(travel);
    for (k, (bank, rows)) in banks.iter().zip(rows).enumerate() {
        let rate = bank.bar_rate * share;
        let linked = &mut rows.suspension.axle_links;
        (linked.bar_rate, linked.rate) = (rate, rate);
        linked.force = rate * (travel[k] - opposite[k]);
    }
}

/// Computes the impulses of the bars to the opposite wheels, for the `rows` of two axles at the current rates. Resets other axle links.
#[inline(always)]
pub(crate) fn load_bars<W: Corners>(rows: &mut [Rows<W>]) {
    let has_unsprung = rows[0].has_unsprung;
    let rates = W::each(
        #[inline(always)]
        |k| match rows[k].unsprung() {
            Some(unsprung) => unsprung.next_rate,
            None => rows[k].end_rates(),
        },
    );
    let step = W::splat(rows[0].dt);
    let middle = W::each(
        #[inline(always)]
        |k| rows[k].suspension.axle_links.travel + W::splat(0.25) * step * rates[k],
    );
    let opposite = W::opposite(middle);
    for (k, rows) in rows.iter_mut().enumerate() {
        let linked = &mut rows.suspension.axle_links;
        let impulse = step * linked.bar_rate * (middle[k] - opposite[k]);
        if has_unsprung {
            (linked.impulse, linked.seen) = (impulse, rates[k]);
        } else {
            // A lifted wheel has a constant impulse. Otherwise it would be pushed as soon as the other wheel rebounds.
            linked.impulse = W::select(linked.lifted, linked.lifting, impulse) / rows.contact.cosine;
        }
    }
}

/// Response of the bars to the opposite wheels, of two axles, to the chassis velocity.
pub(crate) struct Bars<W: Corners = Four> {
    /// Gain and row of each wheel: half of the bar at each of its wheels.
    pub lines: W::Each<(W, SpatialVector<W>)>,
    /// Impulse of the bars on the chassis that is part of the result of [`Vehicle::add_axle_links`].
    pub given: SpatialVector<W::Car>,
}

impl<W: Corners> Bars<W> {
    /// Computes the response of the bars for the `rows` of two axles, from the velocity `warm`.
    #[inline(always)]
    pub(crate) fn of(rows: &[Rows<W>], warm: SpatialVector<W::Car>) -> Self {
        let one = W::splat(1.0);
        let presses = W::each(
            #[inline(always)]
            |k| {
                let rows = &rows[k];
                rows.contact.in_contact & !rows.suspension.axle_links.lifted & rows.suspension.load_active
            },
        );
        let ends = W::each(
            #[inline(always)]
            |k| rows[k].contact.normal * (one / rows[k].contact.cosine).only(presses[k]),
        );
        let others = SpatialVector::<W>::opposite_of(ends);
        let rates = W::each(
            #[inline(always)]
            |k| rows[k].end_rates().only(presses[k]),
        );
        let opposite_rates = W::opposite(rates);
        let warm = warm.at_each_wheel();
        let lines = W::each(
            #[inline(always)]
            |k| {
                let half = W::splat(0.125 * rows[k].dt * rows[k].dt) * rows[k].suspension.axle_links.bar_rate;
                (half, ends[k] - others[k])
            },
        );
        let given = SpatialVector::sum_of(
            #[inline(always)]
            |k| {
                let (half, row) = lines[k];
                row * (half * (opposite_rates[k] - rates[k] - row.dot(warm)))
            },
        );
        Self { lines, given }
    }

    /// Adds the response to `products`, and returns the impulse `given`.
    #[inline(always)]
    pub(crate) fn add_to(self, products: &mut OuterProducts<W>) -> SpatialVector<W::Car> {
        for k in 0..W::ROWS {
            let (half, row) = self.lines[k];
            products.add_of(k, half, row);
        }
        self.given
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{HeaveSpring, Model, ModelParts, plain::plain_car};
    use crate::state::{Placement, State};
    use crate::suspension::parameters::AntiRollBar;
    use crate::world::scene::Scene;

    /// Returns the rows of the plain car with `change`, compressed and moving unevenly, with its axle links summed.
    fn linked(change: impl Fn(&mut ModelParts)) -> Rows {
        let mut parts = plain_car();
        change(&mut parts);
        let model = Model::new(parts).expect("valid");
        let state = State::at_rest(&model, &Scene::flat(), &Placement::default());
        let mut vehicle = Vehicle::new(model.into(), state);
        vehicle.rows[0].suspension.axle_links.travel = Four::new([0.01, 0.03, -0.02, 0.05]);
        vehicle.rows[0].contact.jounce_rate = Four::new([0.5, -0.25, 1.0, 2.0]);
        vehicle.sum_axle_links::<Many>();
        vehicle.rows[0].clone()
    }

    /// Checks with the f32 resolution of forces of hundreds of newtons.
    fn near(found: Four, expected: [f32; 4]) {
        let found = found.lanes();
        assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-3), "{found:?}");
    }

    /// The force is `K (z_i − z_j)` at each wheel of the bar, on one axle or two.
    #[test]
    fn a_bar_pushes_the_wheel_that_is_compressed_more() {
        let on =
            |wheels| linked(|parts| parts.bars = vec![AntiRollBar { wheels, rate: 8000.0, ..AntiRollBar::default() }]);
        near(on([0, 1]).suspension.axle_links.force, [-160.0, 160.0, 0.0, 0.0]);
        near(on([0, 2]).suspension.axle_links.force, [240.0, 0.0, -240.0, 0.0]);
        near(on([0, 2]).suspension.axle_links.rate, [8000.0, 0.0, 8000.0, 0.0]);
    }

    /// Each wheel has half of `K z + D ż` of the mean travel z. The damping force by its own rate belongs to its strut.
    #[test]
    fn a_heave_spring_acts_on_the_mean_of_two_wheels() {
        let spring = |damping| HeaveSpring { wheels: [2, 3], rate: 40_000.0, damping };
        let found = |damping| linked(|parts| parts.heave_springs = vec![spring(damping)]).suspension.axle_links;
        near(found(0.0).force, [0.0, 0.0, 300.0, 300.0]);
        near(found(0.0).damping, [0.0; 4]);
        near(found(2000.0).force, [0.0, 0.0, 300.0 + 500.0 * 2.0, 300.0 + 500.0]);
        near(found(2000.0).damping, [0.0, 0.0, 500.0, 500.0]);
    }
}
