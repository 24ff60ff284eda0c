//! Axle links between two wheels: anti-roll bars, through the struts or on the chassis, and heave springs.

use core::slice::{from_mut, from_ref};

use crate::constants::{MAX_WHEELS, STANDARD_GRAVITY};
use crate::controls::Controls;
use crate::model::Model;
use crate::model::wheel_pack::{LaneIndex, WheelPack};
use crate::simd::lane::{F32x4, Lane, WheelLanes};
use crate::simd::linear::{OuterProducts, SpatialVector};
use crate::simd::wheel_groups::{ManyGroups, WheelGroups};
use crate::suspension::parameters::BarForcePath;
use crate::suspension::rows::AxleLinkRows;
use crate::vehicle::rows::WheelRows;
use crate::vehicle::{Vehicle, banks_with_rows};

/// Spring and damper between the struts of two wheels. The force on each is `rate (z + coupling_sign z') + damping (ż + coupling_sign ż')`, with its
/// own travel z and the travel z' of the other wheel.
#[derive(Clone, Copy, Debug)]
struct AxleLink {
    /// Indices of the wheels.
    wheels: [usize; 2],
    /// Rate of the spring, N/m.
    rate: f32,
    /// Damping, N s/m.
    damping: f32,
    /// Sign of the other wheel's travel: −1 for a bar, which resists opposite travel; 1 for a heave spring, which resists equal travel.
    coupling_sign: f32,
    /// Whether the force acts on the chassis directly, not through the struts.
    on_chassis: bool,
}

impl Model {
    /// Returns axle link `k`: anti-roll bars first, then heave springs (a quarter of rate and damping at each wheel). `bar_share` is the share of the
    /// bar rates that the driver demands, `speed` the speed (m/s) for bars with a speed-dependent rate.
    fn axle_link(&self, k: usize, [bar_share, speed]: [f32; 2]) -> AxleLink {
        let parts = self.parts();
        if let Some(bar) = parts.bars.get(k) {
            let beside = bar.force_path == BarForcePath::External;
            let rate = if bar.speed_range == [0.0; 2] { bar.rate } else { bar.rate_at(speed) };
            return AxleLink {
                wheels: bar.wheels,
                rate: bar_share * rate,
                damping: 0.0,
                coupling_sign: -1.0,
                on_chassis: beside,
            };
        }
        // Factor 1/4: half of the force at each wheel, and half of the mean travel from each wheel.
        let spring = &parts.heave_springs[k - parts.bars.len()];
        let [rate, damping] = [spring.rate, spring.damping].map(|value| 0.25 * value);
        AxleLink { wheels: spring.wheels, rate, damping, coupling_sign: 1.0, on_chassis: false }
    }

    /// Returns the compression (m, unlimited by the stops) at which strut spring and axle links of wheel `i` balance without ground load, with the
    /// other wheels at `travel` (m). Dampers and bars on the chassis are left out. `bars` are share and speed as for `Self::axle_link`.
    pub(crate) fn unloaded_compression(&self, i: usize, bars: [f32; 2], travel: impl Fn(usize) -> f32) -> f32 {
        // Force beyond that at rest (N), and rate of the links (N/m).
        let (mut push, mut rate) = (-self.static_load(i), 0.0);
        for k in 0..self.parts().bars.len() + self.parts().heave_springs.len() {
            let link = self.axle_link(k, bars);
            if !link.on_chassis && link.wheels.contains(&i) {
                let other = if link.wheels[0] == i { link.wheels[1] } else { link.wheels[0] };
                push -= link.coupling_sign * link.rate * travel(other);
                rate += link.rate;
            }
        }
        self.wheels()[i].strut.compression_at_force(push.into(), rate.into()) as f32
    }
}

impl Vehicle {
    /// Sets the share of the bar rates that the driver demands of active bars.
    pub(crate) fn read_bar_control(&mut self, controls: &Controls) {
        self.bar_share = controls.bar_rate_share();
    }

    /// Returns axle link `k` in the current step.
    fn axle_link(&self, k: usize) -> AxleLink {
        self.model.axle_link(k, [self.bar_share, self.state.velocity.length()])
    }

    /// Initialises the struts for a step of `dt` s and computes the axle link forces on them. If a wheel would then be pulled off the ground, lifted
    /// ends of links are moved to the balance of spring and links, get the constant link impulse `dt · force` of the travels before, and the link
    /// forces are computed again. With the travel of the ground below a lifted wheel, a bar would push the other wheel with a force that nothing
    /// opposes, and the car would bounce without end.
    #[inline(always)]
    pub(crate) fn init_struts_and_links<B: WheelGroups>(&mut self, dt: f32) {
        for (bank, rows) in banks_with_rows::<B>(&self.model, &mut self.rows) {
            rows.init_strut(bank, dt);
        }
        if !self.model.has_axle_links() {
            return;
        }
        self.update_link_forces::<B>();
        if B::slice(self.model.wheel_packs())
            .iter()
            .zip(B::slice(&self.rows))
            .any(|(bank, rows)| F32x4::any(rows.wheels_lifted_by_links(bank)))
        {
            self.lift_link_ends();
            for rows in &mut self.rows {
                let AxleLinkRows { travel, lifted, force, .. } = rows.suspension.axle_links;
                rows.suspension.axle_links = AxleLinkRows {
                    travel,
                    lifted,
                    lifted_impulse: F32x4::splat(dt) * force,
                    ..AxleLinkRows::default()
                };
            }
            self.update_link_forces::<ManyGroups>();
        }
    }

    /// Sets force, rate and damping of all axle links of each strut at the current travels: bars of one axle first, then separate links.
    #[inline(always)]
    fn update_link_forces<B: WheelGroups>(&mut self) {
        for (bank, rows) in banks_with_rows::<B>(&self.model, &mut self.rows) {
            update_bar_forces(from_ref(bank), from_mut(rows), F32x4::splat(self.bar_share));
        }
        if !self.model.separate_axle_links().is_empty() {
            self.update_separate_links();
        }
    }

    /// Adds the links through the struts that are not in [`WheelPack::bar_rate`] to force, rate and damping of both struts. The force is `rate (z +
    /// sign z') + damping · sign · ż'`; damping by the strut's own rate is only in `damping`. Links between the wheels of one axle also add to
    /// `bar_rate` or `heave_gains`.
    #[cold]
    #[inline(never)]
    fn update_separate_links(&mut self) {
        for rows in &mut self.rows {
            (rows.suspension.axle_links.damping, rows.suspension.axle_links.heave_gains) = Default::default();
        }
        for &k in self.model.separate_axle_links() {
            let link = self.axle_link(k);
            if link.on_chassis {
                continue;
            }
            let places = link.wheels.map(|i| self.model.lane_index(i));
            let [first, second] = places.map(|at| self.rows[at.bank].suspension.axle_links.travel.lane_value(at.lane));
            for (at, travel) in
                places.into_iter().zip([first + link.coupling_sign * second, second + link.coupling_sign * first])
            {
                let linked = &mut self.rows[at.bank].suspension.axle_links;
                linked.force.add_at(at.lane, link.rate * travel);
                linked.rate.add_at(at.lane, link.rate);
                if self.model.is_between_opposite(link.wheels, link.coupling_sign) {
                    linked.bar_rate.add_at(at.lane, link.rate);
                } else if self.model.is_between_opposite(link.wheels, -link.coupling_sign) {
                    linked.heave_gains[0].add_at(at.lane, link.rate);
                    linked.heave_gains[1].add_at(at.lane, link.damping);
                }
            }
            if link.damping != 0.0 {
                let [first, second] = places.map(|at| self.rows[at.bank].contact.jounce_rate.lanes()[at.lane]);
                for (at, other) in places.into_iter().zip([second, first]) {
                    let linked = &mut self.rows[at.bank].suspension.axle_links;
                    linked.force.add_at(at.lane, link.coupling_sign * link.damping * other);
                    linked.damping.add_at(at.lane, link.damping);
                }
            }
        }
    }

    /// Marks wheels as lifted whose travel on the ground is below the balance of strut spring and links (at most the bump travel), and raises their
    /// travel at the links to this balance. Wheels with unsprung masses are excluded.
    fn lift_link_ends(&mut self) {
        // Travel at the balance per bank and lane, m; negative infinity leaves a wheel unchanged.
        let mut found = [[f32::NEG_INFINITY; 4]; MAX_WHEELS];
        for (i, wheel) in self.model.wheels().iter().enumerate() {
            let place = self.model.lane_index(i);
            if !self.rows[place.bank].has_unsprung {
                let hanging =
                    self.unloaded_compression(i, |rows| rows.suspension.axle_links.travel).min(wheel.strut.bump_travel);
                found[place.bank][place.lane] = hanging;
            }
        }
        for (rows, hanging) in self.rows.iter_mut().zip(found) {
            let (travel, hanging) = (rows.suspension.axle_links.travel, F32x4::new(hanging));
            rows.suspension.axle_links.lifted = travel.less(hanging);
            rows.suspension.axle_links.travel = travel.at_least(hanging);
        }
    }

    /// Returns [`Model::unloaded_compression`] of wheel `i` (m) for the current step; `travel` selects the travels of the other wheels from their
    /// rows.
    pub(crate) fn unloaded_compression(&self, i: usize, travel: impl Fn(&WheelRows) -> F32x4) -> f32 {
        self.model.unloaded_compression(i, [self.bar_share, self.state.velocity.length()], |other| {
            let place = self.model.lane_index(other);
            travel(&self.rows[place.bank]).lane_value(place.lane)
        })
    }

    /// Computes the impulses of all axle links at the current speeds of the rows (N s). Links through the struts set the axle link rows; external
    /// bars set `external_bar_impulse` on the chassis. A link is integrated like the spring of [`crate::assembly::suspension::strut`], with the travels of both
    /// ends.
    #[inline(always)]
    pub(crate) fn update_link_impulses<B: WheelGroups>(&mut self) {
        if !self.model.has_axle_links() {
            return;
        }
        for rows in B::slice_mut(&mut self.rows) {
            update_bar_impulses(from_mut(rows));
        }
        if !self.model.separate_axle_links().is_empty() {
            self.update_separate_link_impulses();
        }
    }

    /// Adds the impulses of the links that are not in the rows: `dt (K Σz + ½ D Σż₀) + gain Σż₁`, with signed sums over both ends and the travels z
    /// in the middle of the step. Lifted ends receive nothing. The sum over external bars replaces `external_bar_impulse`.
    #[cold]
    #[inline(never)]
    fn update_separate_link_impulses(&mut self) {
        // Impulse of external bars on the chassis.
        let mut beside = SpatialVector::default();
        for &k in self.model.separate_axle_links() {
            let link = self.axle_link(k);
            if self.is_in_rows(&link) {
                continue;
            }
            let ends = link.wheels.map(|i| self.link_end(i, link.on_chassis));
            let sum = |of: fn(&LinkEnd) -> f32| of(&ends[0]) + link.coupling_sign * of(&ends[1]);
            let dt = self.rows[0].dt;
            // Impulse for final rates of zero, N s.
            let held = dt * (link.rate * sum(|end| end.travel) + 0.5 * link.damping * sum(|end| end.rate_before));
            let impulse = common_contact_share(&ends) * (held + link.gain(dt) * sum(|end| end.rate));
            if link.on_chassis {
                beside = beside + self.link_row(&link, &ends) * impulse;
                continue;
            }
            for (end, impulse) in
                ends.into_iter().zip([impulse, link.coupling_sign * impulse]).filter(|(end, _)| !end.lifted)
            {
                let rows = &mut self.rows[end.place.bank];
                rows.suspension.axle_links.impulse.add_at(end.place.lane, impulse * end.per_cosine);
            }
        }
        self.external_bar_impulse = beside;
    }

    /// Returns the response of the axle links to changes of the chassis velocity as a sum of outer products gain · row rowᵀ.
    #[inline(always)]
    pub(crate) fn axle_link_products<B: WheelGroups>(&self) -> OuterProducts {
        if let [rows] = B::slice(&self.rows)
            && self.model.has_axle_links()
            && self.model.separate_axle_links().is_empty()
            && !rows.has_unsprung
        {
            let BarResponse { gain_rows: [bar], .. } = BarResponse::new(from_ref(rows), SpatialVector::default());
            return OuterProducts::from_terms(
                #[inline(always)]
                |_| [bar],
            );
        }
        let mut products = OuterProducts::zero();
        self.add_axle_links::<B>(&mut products, SpatialVector::default());
        products
    }

    /// Adds the response of the axle links to changes of the chassis velocity to `products`. Returns the impulse of external bars at the current
    /// velocity, plus the link impulses at the velocity `warm` (before the loads) minus those at the current one: `row gain (current speed − row ·
    /// warm)`. Links on unsprung masses are left out, because their wheels move on their own.
    #[inline(always)]
    pub(crate) fn add_axle_links<B: WheelGroups>(
        &self,
        products: &mut OuterProducts,
        warm: SpatialVector<f32>,
    ) -> SpatialVector<f32> {
        let mut given = self.external_bar_impulse;
        if !self.model.has_axle_links() {
            return given;
        }
        for rows in B::slice(&self.rows).iter().filter(|rows| !rows.has_unsprung) {
            given = given + BarResponse::new(from_ref(rows), warm).add_to(products);
        }
        if !self.model.separate_axle_links().is_empty() {
            given = given + self.add_separate_axle_links(products, warm);
        }
        given
    }

    /// Adds the response of the links that are not in the rows; see [`Self::add_axle_links`]. Returns their extrapolated impulse.
    #[cold]
    #[inline(never)]
    fn add_separate_axle_links(&self, products: &mut OuterProducts, warm: SpatialVector<f32>) -> SpatialVector<f32> {
        let mut given = SpatialVector::default();
        for &k in self.model.separate_axle_links() {
            let link = self.axle_link(k);
            if self.is_in_rows(&link) || self.acts_on_unsprung(&link) {
                continue;
            }
            let ends = link.wheels.map(|i| self.link_end(i, link.on_chassis));
            let row = self.link_row(&link, &ends);
            let gain = common_contact_share(&ends) * link.gain(self.rows[0].dt);
            // One half at the left wheels and one half at the right ones, so that sums of a mirrored car are identical.
            let half = 0.5 * gain;
            products.add(F32x4::new([half, half, 0.0, 0.0]), row.broadcast_to_wheels());
            let pressing = |end: &LinkEnd| if self.acts_on_chassis(&link, end) { end.rate } else { 0.0 };
            // Current speed along the row, m/s.
            let seen = -(pressing(&ends[0]) + link.coupling_sign * pressing(&ends[1]));
            given = given + row * (gain * (seen - row.dot(warm)));
        }
        given
    }

    /// Returns row, gain (kg) and current speed along the row (m/s) of axle link `k` with upright struts.
    #[cfg(test)]
    pub(crate) fn axle_link_terms(&self, k: usize) -> (SpatialVector<f32>, f32, f32) {
        let link = self.axle_link(k);
        let ends = link.wheels.map(|i| self.link_end(i, link.on_chassis));
        (self.link_row(&link, &ends), link.gain(self.rows[0].dt), -(ends[0].rate + link.coupling_sign * ends[1].rate))
    }

    /// Returns true if the wheel rows (`bar_rate`) contain the axle link: bars through the struts between the two wheels of one axle.
    fn is_in_rows(&self, link: &AxleLink) -> bool {
        !link.on_chassis && self.model.is_between_opposite(link.wheels, link.coupling_sign)
    }

    /// Returns true if an axle link acts on unsprung masses instead of the chassis.
    fn acts_on_unsprung(&self, link: &AxleLink) -> bool {
        !link.on_chassis && self.rows[0].has_unsprung
    }

    /// Returns wheel `i` as the end of an axle link, through its strut or, if `beside`, on the chassis. The end of a strut with an unsprung mass
    /// always follows with the rates of that mass. Otherwise travel and rates are those of the ground below the wheel; the rates are 0 for a wheel
    /// without contact or a lifted one.
    fn link_end(&self, i: usize, beside: bool) -> LinkEnd {
        let place = self.model.lane_index(i);
        let (rows, lane) = (&self.rows[place.bank], place.lane);
        let at = |of: F32x4| of.lanes()[lane];
        let unsprung = rows.unsprung();
        if let Some(unsprung) = unsprung.filter(|_| !beside) {
            let [travel, rate_before] =
                [rows.suspension.axle_links.travel.lane_value(lane), at(rows.contact.jounce_rate)];
            let rate = at(unsprung.next_rate);
            return LinkEnd {
                place,
                follows: true,
                lifted: false,
                share: 1.0,
                per_cosine: 1.0,
                travel,
                rate_before,
                rate,
            };
        }
        let lifted = rows.suspension.axle_links.lifted.lanes()[lane] && !beside;
        let follows = rows.contact.in_contact.lanes()[lane] && !lifted;
        let per_cosine = 1.0 / at(rows.contact.normal_cosine);
        // Rate of a wheel that follows the ground, otherwise 0.
        let only = |rate: f32| if follows { rate } else { 0.0 };
        LinkEnd {
            place,
            follows,
            lifted,
            share: match beside && follows {
                true => at(unsprung.map_or(rows.contact.contact_share, |unsprung| unsprung.ground_share)),
                false => 1.0,
            },
            per_cosine,
            travel: unsprung
                .map_or(rows.suspension.axle_links.travel, |unsprung| unsprung.ground_compression)
                .lane_value(lane),
            rate_before: only(at(unsprung.map_or(rows.contact.jounce_rate, |unsprung| unsprung.ground_rate))),
            rate: only(-at(rows.solution.velocity.normal) * per_cosine),
        }
    }

    /// Returns the row of an axle link on the chassis: `n₁ / cos γ₁ + coupling_sign n₂ / cos γ₂` with the contact normals n. Ends that do not act on
    /// the chassis are left out.
    fn link_row(&self, link: &AxleLink, ends: &[LinkEnd; 2]) -> SpatialVector<f32> {
        let [first, second] = [&ends[0], &ends[1]].map(|end| {
            let (rows, lane) = (&self.rows[end.place.bank], end.place.lane);
            if self.acts_on_chassis(link, end) {
                rows.contact.normal.lane(lane) * end.per_cosine
            } else {
                SpatialVector::default()
            }
        });
        first + second * link.coupling_sign
    }

    /// Returns true if the axle link acts on the chassis at this end: the wheel follows the ground and, for links through the strut, has a load.
    fn acts_on_chassis(&self, link: &AxleLink, end: &LinkEnd) -> bool {
        end.follows && (link.on_chassis || self.rows[end.place.bank].suspension.load_active.lanes()[end.place.lane])
    }
}

impl AxleLink {
    /// Returns the change of the impulse per final rate in a step of `dt` s, `K dt² / 4 + D dt / 2`, N s per m/s.
    fn gain(&self, dt: f32) -> f32 {
        0.25 * dt * dt * self.rate + 0.5 * dt * self.damping
    }
}

/// Returns the share of the step in which an axle link acts: the smaller one of both ends.
fn common_contact_share(ends: &[LinkEnd; 2]) -> f32 {
    ends[0].share.min(ends[1].share)
}

/// Wheel as the end of an axle link.
struct LinkEnd {
    /// Bank and lane of the wheel.
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

impl<W: WheelLanes> WheelRows<W> {
    /// Returns the jounce rates of the ground below the wheels at the current chassis velocity, m/s; 0 without contact and for lifted wheels.
    #[inline(always)]
    fn bar_end_rates(&self) -> W {
        (-self.solution.velocity.normal / self.contact.normal_cosine)
            .masked(self.contact.in_contact & !self.suspension.axle_links.lifted)
    }

    /// Returns the wheels on which static load, strut spring and axle links together pull upwards; none if wheels have unsprung masses.
    #[inline(always)]
    pub(crate) fn wheels_lifted_by_links(&self, bank: &WheelPack<W>) -> W::Mask {
        if self.has_unsprung {
            return W::Mask::default();
        }
        let (spring, _) = bank.spring_force_and_rate(self.suspension.axle_links.travel);
        let push = bank.carried_mass * W::splat(STANDARD_GRAVITY) + spring + self.suspension.axle_links.force;
        push.less(W::splat(0.0)) & bank.present_mask()
    }
}

/// Sets rates `K` and forces `K (z − z')` of the bars to the opposite wheels, for the `rows` of two axles at the current travels z. K is
/// [`WheelPack::bar_rate`] times `share`. Forces and rates of other links are overwritten.
#[inline(always)]
pub(crate) fn update_bar_forces<W: WheelLanes>(banks: &[WheelPack<W>], rows: &mut [WheelRows<W>], share: W) {
    let travel = W::rows_from_fn(|k| rows[k].suspension.axle_links.travel);
    let opposite = W::opposite(travel);
    for (k, (bank, rows)) in banks.iter().zip(rows).enumerate() {
        let rate = bank.bar_rate * share;
        let linked = &mut rows.suspension.axle_links;
        (linked.bar_rate, linked.rate) = (rate, rate);
        linked.force = rate * (travel[k] - opposite[k]);
    }
}

/// Sets the impulses `dt K (z − z')` of the bars to the opposite wheels (N s), for the `rows` of two axles, with the travels in the middle of the
/// step at the current final rates. Impulses of other axle links are overwritten. Impulses on massless wheels act along the contact normal, on
/// unsprung masses along the travel.
#[inline(always)]
pub(crate) fn update_bar_impulses<W: WheelLanes>(rows: &mut [WheelRows<W>]) {
    let has_unsprung = rows[0].has_unsprung;
    let rates = W::rows_from_fn(
        #[inline(always)]
        |k| match rows[k].unsprung() {
            Some(unsprung) => unsprung.next_rate,
            None => rows[k].bar_end_rates(),
        },
    );
    let step = W::splat(rows[0].dt);
    let middle = W::rows_from_fn(
        #[inline(always)]
        |k| rows[k].suspension.axle_links.travel + W::splat(0.25) * step * rates[k],
    );
    let opposite = W::opposite(middle);
    for (k, rows) in rows.iter_mut().enumerate() {
        let linked = &mut rows.suspension.axle_links;
        let impulse = step * linked.bar_rate * (middle[k] - opposite[k]);
        if has_unsprung {
            (linked.impulse, linked.link_rate) = (impulse, rates[k]);
        } else {
            // A lifted wheel has a constant impulse. Otherwise it would be pushed as soon as the other wheel rebounds.
            linked.impulse = W::select(linked.lifted, linked.lifted_impulse, impulse) / rows.contact.normal_cosine;
        }
    }
}

/// Response of the bars to the opposite wheels, of two axles, to the chassis velocity.
pub(crate) struct BarResponse<W: WheelLanes = F32x4> {
    /// Gain and row of each wheel: half of the bar at each of its wheels.
    pub gain_rows: W::RowArray<(W, SpatialVector<W>)>,
    /// Impulse of the bars on the chassis that is part of the result of [`Vehicle::add_axle_links`].
    pub impulse: SpatialVector<W::Car>,
}

impl<W: WheelLanes> BarResponse<W> {
    /// Computes the response of the bars for the `rows` of two axles, and their impulse at the chassis velocity `warm` minus that at the current
    /// speeds. Wheels without contact or load and lifted wheels do not take part.
    #[inline(always)]
    pub(crate) fn new(rows: &[WheelRows<W>], warm: SpatialVector<W::Car>) -> Self {
        let one = W::splat(1.0);
        let presses = W::rows_from_fn(
            #[inline(always)]
            |k| {
                let rows = &rows[k];
                rows.contact.in_contact & !rows.suspension.axle_links.lifted & rows.suspension.load_active
            },
        );
        // Row of each wheel end, `n / cos γ`.
        let ends = W::rows_from_fn(
            #[inline(always)]
            |k| rows[k].contact.normal * (one / rows[k].contact.normal_cosine).masked(presses[k]),
        );
        let others = SpatialVector::<W>::opposite_wheels(ends);
        let rates = W::rows_from_fn(
            #[inline(always)]
            |k| rows[k].bar_end_rates().masked(presses[k]),
        );
        let opposite_rates = W::opposite(rates);
        let warm = warm.broadcast_to_wheels();
        let lines = W::rows_from_fn(
            #[inline(always)]
            |k| {
                // Half of the gain K dt² / 4, because a bar has a row at each of its two wheels.
                let half = W::splat(0.125 * rows[k].dt * rows[k].dt) * rows[k].suspension.axle_links.bar_rate;
                (half, ends[k] - others[k])
            },
        );
        let given = SpatialVector::sum_over_wheels(
            #[inline(always)]
            |k| {
                let (half, row) = lines[k];
                row * (half * (opposite_rates[k] - rates[k] - row.dot(warm)))
            },
        );
        Self { gain_rows: lines, impulse: given }
    }

    /// Adds the gains to `products`, and returns `impulse`.
    #[inline(always)]
    pub(crate) fn add_to(self, products: &mut OuterProducts<W>) -> SpatialVector<W::Car> {
        for k in 0..W::ROWS_PER_AXLE_PAIR {
            let (half, row) = self.gain_rows[k];
            products.add_to_row(k, half, row);
        }
        self.impulse
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::scene::Scene;
    use crate::model::{HeaveSpring, Model, ModelParts, plain::plain_car};
    use crate::state::{Placement, State};
    use crate::suspension::parameters::AntiRollBar;

    /// Returns the rows of the plain car with `change`, compressed and moving unevenly, with its axle links summed.
    fn linked(change: impl Fn(&mut ModelParts)) -> WheelRows {
        let mut parts = plain_car();
        change(&mut parts);
        let model = Model::new(parts).expect("valid");
        let state = State::at_rest(&model, &Scene::flat(), &Placement::default());
        let mut vehicle = Vehicle::new(model.into(), state);
        vehicle.rows[0].suspension.axle_links.travel = F32x4::new([0.01, 0.03, -0.02, 0.05]);
        vehicle.rows[0].contact.jounce_rate = F32x4::new([0.5, -0.25, 1.0, 2.0]);
        vehicle.update_link_forces::<ManyGroups>();
        vehicle.rows[0].clone()
    }

    /// Checks with the f32 resolution of forces of hundreds of newtons.
    fn near(found: F32x4, expected: [f32; 4]) {
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
