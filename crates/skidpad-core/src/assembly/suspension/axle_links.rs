//! Axle links between two wheels: anti-roll bars, through the struts or on the chassis, and heave springs.

use core::slice::{from_mut, from_ref};

use crate::constants::{MAX_WHEELS, STANDARD_GRAVITY};
use crate::controls::Controls;
use crate::model::Model;
use crate::model::wheel_pack::{LaneIndex, WheelPack};
use crate::suspension::parameters::BarForcePath;
use crate::suspension::rows::AxleLinkRows;
use crate::vehicle::rows::WheelRows;
use crate::vehicle::{Vehicle, groups_with_rows};
use skidpad_simd::lane::{F32x4, Lane, WheelLanes};
use skidpad_simd::linear::{OuterProducts, SpatialVector};
use skidpad_simd::wheel_groups::{ManyGroups, WheelGroups};

/// Axle link: spring and damper between the struts of two wheels. The force on each wheel is `rate (z + coupling_sign
/// z') + damping (ż + coupling_sign ż')`, with its own travel z and the travel z' of the other wheel.
#[derive(Clone, Copy, Debug)]
struct AxleLink {
    /// Indices of the wheels.
    wheels: [usize; 2],
    /// Rate of the spring, N/m.
    rate: f32,
    /// Damping, N s/m.
    damping: f32,
    /// Sign of the other wheel's travel: −1 for a bar, which resists opposite travel; 1 for a heave spring.
    coupling_sign: f32,
    /// Whether the force acts on the chassis directly, not through the struts.
    on_chassis: bool,
}

impl Model {
    /// Returns axle link `k`: bars first, then heave springs, with a quarter of their rate and damping at each wheel.
    /// Bar rates have the factor `bar_rate_share` (–, set by the driver) and can depend on the car's `speed` (m/s).
    fn axle_link(&self, k: usize, [bar_rate_share, speed]: [f32; 2]) -> AxleLink {
        let parts = self.parts();
        if let Some(bar) = parts.bars.get(k) {
            let on_chassis = bar.force_path == BarForcePath::External;
            let rate = if bar.speed_range == [0.0; 2] { bar.rate } else { bar.rate_at(speed) };
            return AxleLink {
                wheels: bar.wheels,
                rate: bar_rate_share * rate,
                damping: 0.0,
                coupling_sign: -1.0,
                on_chassis,
            };
        }
        // Factor 1/4: half of the force at each wheel, and half of the mean travel from each wheel.
        let spring = &parts.heave_springs[k - parts.bars.len()];
        let [rate, damping] = [spring.rate, spring.damping].map(|value| 0.25 * value);
        AxleLink { wheels: spring.wheels, rate, damping, coupling_sign: 1.0, on_chassis: false }
    }

    /// Returns the compression (m) at which strut spring and axle links of wheel `i` balance without load, stops
    /// ignored. The other wheels are at `travel` (m). Bars on the chassis do not count. `bar_inputs` as for
    /// `Self::axle_link`.
    pub(crate) fn unloaded_compression(&self, i: usize, bar_inputs: [f32; 2], travel: impl Fn(usize) -> f32) -> f32 {
        // Force beyond that at rest (N), and rate of the links (N/m).
        let (mut force, mut rate) = (-self.static_load(i), 0.0);
        for k in 0..self.parts().bars.len() + self.parts().heave_springs.len() {
            let link = self.axle_link(k, bar_inputs);
            if !link.on_chassis && link.wheels.contains(&i) {
                let other_wheel = if link.wheels[0] == i { link.wheels[1] } else { link.wheels[0] };
                force -= link.coupling_sign * link.rate * travel(other_wheel);
                rate += link.rate;
            }
        }
        self.wheels()[i].strut.compression_at_force(force.into(), rate.into()) as f32
    }
}

impl Vehicle {
    /// Stores the share of their rates that the driver demands of active bars.
    pub(crate) fn read_bar_control(&mut self, controls: &Controls) {
        self.bar_rate_share = controls.bar_rate_share();
    }

    /// Returns axle link `k` in the current step.
    fn axle_link(&self, k: usize) -> AxleLink {
        self.model.axle_link(k, [self.bar_rate_share, self.state.velocity.length()])
    }

    /// Initialises the struts for a step of `dt` s and computes the axle link forces on them. If links would pull a
    /// wheel off the ground, its link ends move to the balance of spring and links, with a constant impulse (`dt` times
    /// the force before), and all link forces are computed again: otherwise the car would bounce without end.
    #[inline(always)]
    pub(crate) fn init_struts_and_links<B: WheelGroups>(&mut self, dt: f32) {
        for (group, rows) in groups_with_rows::<B>(&self.model, &mut self.rows) {
            rows.init_strut(group, dt);
        }
        if !self.model.has_axle_links() {
            return;
        }
        self.update_link_forces::<B>();
        if B::slice(self.model.wheel_packs())
            .iter()
            .zip(B::slice(&self.rows))
            .any(|(group, rows)| F32x4::any(rows.wheels_lifted_by_links(group)))
        {
            self.lift_link_ends();
            for rows in &mut self.rows {
                let AxleLinkRows { travel, lifted, force, .. } = rows.suspension.axle_links;
                rows.suspension.axle_links = AxleLinkRows {
                    travel,
                    lifted,
                    lifted_impulse: F32x4::splat(dt) * force, // in all lanes; only lifted wheels use it
                    ..AxleLinkRows::default()
                };
            }
            self.update_link_forces::<ManyGroups>(); // rare: not specialised for one group
        }
    }

    /// Sets force, rate and damping of all axle links of each strut at the current travels: bars between the wheels of
    /// one axle first, then separate links (all links that are not in [`WheelPack::bar_rate`]).
    #[inline(always)]
    fn update_link_forces<B: WheelGroups>(&mut self) {
        for (group, rows) in groups_with_rows::<B>(&self.model, &mut self.rows) {
            update_bar_forces(from_ref(group), from_mut(rows), F32x4::splat(self.bar_rate_share));
        }
        if !self.model.separate_axle_links().is_empty() {
            self.update_separate_links();
        }
    }

    /// Adds the separate links through the struts to force, rate and damping of both struts; links on the chassis are
    /// skipped. The force is `rate (z + sign z') + sign · damping · ż'`; damping by the strut's own rate ż is only in
    /// `damping`. Links between the wheels of one axle also add to `bar_rate` (bars) or `heave_gains` (heave springs).
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
            let indices = link.wheels.map(|i| self.model.lane_index(i));
            let [z0, z1] =
                indices.map(|index| self.rows[index.group].suspension.axle_links.travel.lane_value(index.lane));
            for (index, travel) in indices.into_iter().zip([z0 + link.coupling_sign * z1, z1 + link.coupling_sign * z0])
            {
                let links = &mut self.rows[index.group].suspension.axle_links;
                links.force.add_at(index.lane, link.rate * travel);
                links.rate.add_at(index.lane, link.rate);
                if self.model.is_between_opposite(link.wheels, link.coupling_sign) {
                    links.bar_rate.add_at(index.lane, link.rate);
                } else if self.model.is_between_opposite(link.wheels, -link.coupling_sign) {
                    links.heave_gains[0].add_at(index.lane, link.rate);
                    links.heave_gains[1].add_at(index.lane, link.damping);
                }
            }
            if link.damping != 0.0 {
                let [first_rate, second_rate] =
                    indices.map(|index| self.rows[index.group].contact.jounce_rate.lanes()[index.lane]);
                for (index, other_rate) in indices.into_iter().zip([second_rate, first_rate]) {
                    let links = &mut self.rows[index.group].suspension.axle_links;
                    links.force.add_at(index.lane, link.coupling_sign * link.damping * other_rate);
                    links.damping.add_at(index.lane, link.damping);
                }
            }
        }
    }

    /// Marks as lifted the wheels whose travel is below the balance of strut spring and links (at most the bump
    /// travel), and raises their travel at the links to this balance. Wheels with unsprung masses are excluded.
    fn lift_link_ends(&mut self) {
        // Travel at the balance per group and lane, m; negative infinity leaves a wheel unchanged.
        let mut balances = [[f32::NEG_INFINITY; 4]; MAX_WHEELS];
        for (i, wheel) in self.model.wheels().iter().enumerate() {
            let index = self.model.lane_index(i);
            if !self.rows[index.group].has_unsprung {
                let balance =
                    self.unloaded_compression(i, |rows| rows.suspension.axle_links.travel).min(wheel.strut.bump_travel);
                balances[index.group][index.lane] = balance;
            }
        }
        for (rows, balance) in self.rows.iter_mut().zip(balances) {
            let (travel, balance) = (rows.suspension.axle_links.travel, F32x4::new(balance));
            rows.suspension.axle_links.lifted = travel.less(balance);
            rows.suspension.axle_links.travel = travel.at_least(balance);
        }
    }

    /// Returns [`Model::unloaded_compression`] of wheel `i` (m) in this step; `travel` selects travels (m) from rows.
    pub(crate) fn unloaded_compression(&self, i: usize, travel: impl Fn(&WheelRows) -> F32x4) -> f32 {
        self.model.unloaded_compression(i, [self.bar_rate_share, self.state.velocity.length()], |other_wheel| {
            let index = self.model.lane_index(other_wheel);
            travel(&self.rows[index.group]).lane_value(index.lane)
        })
    }

    /// Computes the impulses of all axle links at the current speeds of the rows (N s), with the travels in mid-step.
    /// Links through struts set the axle link rows; external bars set `external_bar_impulse` on the chassis.
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

    /// Adds the impulses of the links that are not bars in the rows: `dt (K Σz + ½ D Σż₀) + gain Σż₁`, times the common
    /// contact share, with signed sums over both ends. z is the travel in mid-step for a final rate of zero; ż₀ and ż₁
    /// are the rates at start and end. Lifted ends get nothing. External bars set `external_bar_impulse`.
    #[cold]
    #[inline(never)]
    fn update_separate_link_impulses(&mut self) {
        let mut chassis_impulse = SpatialVector::default();
        for &k in self.model.separate_axle_links() {
            let link = self.axle_link(k);
            if self.is_bar_in_rows(&link) {
                continue;
            }
            let ends = link.wheels.map(|i| self.link_end(i, link.on_chassis));
            let sum = |value: fn(&LinkEnd) -> f32| value(&ends[0]) + link.coupling_sign * value(&ends[1]);
            let dt = self.rows[0].dt;
            // Impulse for final rates of zero, N s; `gain` adds that of the current ones.
            let base = dt * (link.rate * sum(|end| end.travel) + 0.5 * link.damping * sum(|end| end.start_rate));
            let impulse = common_contact_share(&ends) * (base + link.gain(dt) * sum(|end| end.rate));
            if link.on_chassis {
                chassis_impulse = chassis_impulse + self.link_row(&link, &ends) * impulse;
                continue;
            }
            for (end, impulse) in
                ends.into_iter().zip([impulse, link.coupling_sign * impulse]).filter(|(end, _)| !end.is_lifted)
            {
                let rows = &mut self.rows[end.index.group];
                rows.suspension.axle_links.impulse.add_at(end.index.lane, impulse * end.per_cosine);
            }
        }
        self.external_bar_impulse = chassis_impulse;
    }

    /// Returns the response of the axle links to changes of the chassis velocity as a sum of outer products gain · row
    /// rowᵀ; 0 without links. Cars of one group with bars only have a direct path.
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

    /// Adds the response of the axle links to changes of the chassis velocity to `products`. Returns
    /// `external_bar_impulse` plus the change of all link impulses from the current velocity to `v_warm` (before the
    /// loads): `row gain (current speed − row · v_warm)`. Links through struts of unsprung masses are left out.
    #[inline(always)]
    pub(crate) fn add_axle_links<B: WheelGroups>(
        &self,
        products: &mut OuterProducts,
        v_warm: SpatialVector<f32>,
    ) -> SpatialVector<f32> {
        let mut impulse = self.external_bar_impulse;
        if !self.model.has_axle_links() {
            return impulse;
        }
        for rows in B::slice(&self.rows).iter().filter(|rows| !rows.has_unsprung) {
            impulse = impulse + BarResponse::new(from_ref(rows), v_warm).add_to(products);
        }
        if !self.model.separate_axle_links().is_empty() {
            impulse = impulse + self.add_separate_links(products, v_warm);
        }
        impulse
    }

    /// Adds the response of the links that are not bars in the rows to `products`. Returns the change of their impulses
    /// from the current velocity to `v_warm`, see [`Self::add_axle_links`].
    #[cold]
    #[inline(never)]
    fn add_separate_links(&self, products: &mut OuterProducts, v_warm: SpatialVector<f32>) -> SpatialVector<f32> {
        let mut impulse = SpatialVector::default();
        for &k in self.model.separate_axle_links() {
            let link = self.axle_link(k);
            if self.is_bar_in_rows(&link) || self.acts_on_unsprung(&link) {
                continue;
            }
            let ends = link.wheels.map(|i| self.link_end(i, link.on_chassis));
            let row = self.link_row(&link, &ends);
            let gain = common_contact_share(&ends) * link.gain(self.rows[0].dt);
            // One half at the left wheels and one half at the right ones, so that sums of a mirrored car are identical.
            let half_gain = 0.5 * gain;
            products.add(F32x4::new([half_gain, half_gain, 0.0, 0.0]), row.broadcast_to_wheels());
            let acting_rate = |end: &LinkEnd| if self.acts_on_chassis(&link, end) { end.rate } else { 0.0 };
            // Current speed along the row, m/s.
            let speed = -(acting_rate(&ends[0]) + link.coupling_sign * acting_rate(&ends[1]));
            impulse = impulse + row * (gain * (speed - row.dot(v_warm)));
        }
        impulse
    }

    /// Returns row, gain (kg) and current speed along the row (m/s) of axle link `k`, without the contact share.
    pub(crate) fn axle_link_terms(&self, k: usize) -> (SpatialVector<f32>, f32, f32) {
        let link = self.axle_link(k);
        let ends = link.wheels.map(|i| self.link_end(i, link.on_chassis));
        (self.link_row(&link, &ends), link.gain(self.rows[0].dt), -(ends[0].rate + link.coupling_sign * ends[1].rate))
    }

    /// Returns true if the wheel rows contain the axle link in `bar_rate`: a bar through the struts of opposite wheels.
    fn is_bar_in_rows(&self, link: &AxleLink) -> bool {
        !link.on_chassis && self.model.is_between_opposite(link.wheels, link.coupling_sign)
    }

    /// Returns true if an axle link acts on unsprung masses instead of the chassis.
    fn acts_on_unsprung(&self, link: &AxleLink) -> bool {
        !link.on_chassis && self.rows[0].has_unsprung
    }

    /// Returns wheel `wheel_index` as the end of an axle link, through its strut or, if `on_chassis`, on the chassis.
    /// The strut of an unsprung mass has the travel and rates of that mass. Other ends have those of the ground below
    /// the wheel, with rates 0 without contact or if lifted. On the chassis no end is lifted, and `contact_share` can
    /// be below 1.
    fn link_end(&self, wheel_index: usize, on_chassis: bool) -> LinkEnd {
        let index = self.model.lane_index(wheel_index);
        let (rows, lane) = (&self.rows[index.group], index.lane);
        let value = |lanes: F32x4| lanes.lanes()[lane];
        let unsprung = rows.unsprung();
        if let Some(unsprung) = unsprung.filter(|_| !on_chassis) {
            let [travel, start_rate] =
                [rows.suspension.axle_links.travel.lane_value(lane), value(rows.contact.jounce_rate)];
            let rate = value(unsprung.next_rate);
            return LinkEnd {
                index,
                follows_ground: true,
                is_lifted: false,
                contact_share: 1.0,
                per_cosine: 1.0,
                travel,
                start_rate,
                rate,
            };
        }
        let is_lifted = rows.suspension.axle_links.lifted.lanes()[lane] && !on_chassis;
        let follows_ground = rows.contact.in_contact.lanes()[lane] && !is_lifted;
        let per_cosine = 1.0 / value(rows.contact.normal_cosine);
        // Rate of a wheel that follows the ground, otherwise 0.
        let masked = |rate: f32| if follows_ground { rate } else { 0.0 };
        LinkEnd {
            index,
            follows_ground,
            is_lifted,
            contact_share: match on_chassis && follows_ground {
                true => value(unsprung.map_or(rows.contact.contact_share, |unsprung| unsprung.ground_share)),
                false => 1.0,
            },
            per_cosine,
            travel: unsprung
                .map_or(rows.suspension.axle_links.travel, |unsprung| unsprung.ground_compression)
                .lane_value(lane),
            start_rate: masked(value(unsprung.map_or(rows.contact.jounce_rate, |unsprung| unsprung.ground_rate))),
            rate: masked(-value(rows.solution.velocity.normal) * per_cosine),
        }
    }

    /// Returns the row of an axle link on the chassis, `n₁ / cos γ₁ + coupling_sign n₂ / cos γ₂` with the contact
    /// normals n and their angles γ to the travel. An end that does not act on the chassis counts as 0.
    fn link_row(&self, link: &AxleLink, ends: &[LinkEnd; 2]) -> SpatialVector<f32> {
        let [first_row, second_row] = [&ends[0], &ends[1]].map(|end| {
            let (rows, lane) = (&self.rows[end.index.group], end.index.lane);
            if self.acts_on_chassis(link, end) {
                rows.contact.normal.lane(lane) * end.per_cosine
            } else {
                SpatialVector::default()
            }
        });
        first_row + second_row * link.coupling_sign
    }

    /// Returns true if this end acts on the chassis: the wheel follows the ground and, for a strut, has a load.
    fn acts_on_chassis(&self, link: &AxleLink, end: &LinkEnd) -> bool {
        end.follows_ground
            && (link.on_chassis || self.rows[end.index.group].suspension.load_active.lanes()[end.index.lane])
    }
}

impl AxleLink {
    /// Returns the increase of the link impulse per final rate in a step of `dt` s, `K dt² / 4 + D dt / 2`, kg.
    fn gain(&self, dt: f32) -> f32 {
        0.25 * dt * dt * self.rate + 0.5 * dt * self.damping
    }
}

/// Returns the share of the step in which an axle link acts: the smaller one of both ends.
fn common_contact_share(ends: &[LinkEnd; 2]) -> f32 {
    ends[0].contact_share.min(ends[1].contact_share)
}

/// Wheel as the end of an axle link.
struct LinkEnd {
    /// Group and lane of the wheel.
    index: LaneIndex,
    /// Whether the wheel follows the ground.
    follows_ground: bool,
    /// Whether its axle links lift the wheel off the ground.
    is_lifted: bool,
    /// Share of the step with contact, for an external bar; otherwise 1, because the loads include it.
    contact_share: f32,
    /// Inverse cosine between contact normal and suspension travel.
    per_cosine: f32,
    /// Travel in the middle of the step for a final rate of zero, m.
    travel: f32,
    /// Jounce rate at the start of the step, m/s.
    start_rate: f32,
    /// Current jounce rate at the end of the step, m/s.
    rate: f32,
}

impl<W: WheelLanes> WheelRows<W> {
    /// Returns the jounce rates of the ground below the wheels, m/s; 0 without contact and for lifted wheels.
    #[inline(always)]
    fn bar_end_rates(&self) -> W {
        (-self.solution.velocity.normal / self.contact.normal_cosine)
            .masked(self.contact.in_contact & !self.suspension.axle_links.lifted)
    }

    /// Returns the wheels that weight, strut spring and axle links together pull upwards; none with unsprung masses.
    #[inline(always)]
    pub(crate) fn wheels_lifted_by_links(&self, group: &WheelPack<W>) -> W::Mask {
        if self.has_unsprung {
            return W::Mask::default();
        }
        let (spring_force, _) = group.spring_force_and_rate(self.suspension.axle_links.travel);
        let force = group.carried_mass * W::splat(STANDARD_GRAVITY) + spring_force + self.suspension.axle_links.force;
        force.less(W::splat(0.0)) & group.present_mask()
    }
}

/// Sets rates `K` and forces `K (z − z')` of the bars to the opposite wheels, for the `rows` of two axles at the
/// current travels z. K is [`WheelPack::bar_rate`] times `bar_rate_share`. Overwrites forces and rates of other links.
#[inline(always)]
pub(crate) fn update_bar_forces<W: WheelLanes>(groups: &[WheelPack<W>], rows: &mut [WheelRows<W>], bar_rate_share: W) {
    let travel = W::axle_pair_from_fn(|k| rows[k].suspension.axle_links.travel);
    let opposite = W::opposite(travel);
    for (k, (group, rows)) in groups.iter().zip(rows).enumerate() {
        let rate = group.bar_rate * bar_rate_share;
        let links = &mut rows.suspension.axle_links;
        (links.bar_rate, links.rate) = (rate, rate);
        links.force = rate * (travel[k] - opposite[k]);
    }
}

/// Sets the impulses `dt K (z − z')` of the bars to the opposite wheels (N s), for the `rows` of two axles, at the
/// travels z in the middle of the step for the current final rates. Overwrites impulses of other links. They act along
/// the contact normal on massless wheels, along the travel on unsprung masses, whose rates become `link_rate`.
#[inline(always)]
pub(crate) fn update_bar_impulses<W: WheelLanes>(rows: &mut [WheelRows<W>]) {
    let has_unsprung = rows[0].has_unsprung;
    let rates = W::axle_pair_from_fn(
        #[inline(always)]
        |k| match rows[k].unsprung() {
            Some(unsprung) => unsprung.next_rate,
            None => rows[k].bar_end_rates(),
        },
    );
    let dt = W::splat(rows[0].dt);
    let mid_travel = W::axle_pair_from_fn(
        #[inline(always)]
        |k| rows[k].suspension.axle_links.travel + W::splat(0.25) * dt * rates[k],
    );
    let opposite_travel = W::opposite(mid_travel);
    for (k, rows) in rows.iter_mut().enumerate() {
        let links = &mut rows.suspension.axle_links;
        let impulse = dt * links.bar_rate * (mid_travel[k] - opposite_travel[k]);
        if has_unsprung {
            (links.impulse, links.link_rate) = (impulse, rates[k]);
        } else {
            // A lifted wheel has a constant impulse. Otherwise it would be pushed as soon as the other wheel rebounds.
            links.impulse = W::select(links.lifted, links.lifted_impulse, impulse) / rows.contact.normal_cosine;
        }
    }
}

/// Response of the bars between opposite wheels, of two axles, to the chassis velocity.
pub(crate) struct BarResponse<W: WheelLanes = F32x4> {
    /// Gain (kg) and row of each wheel: half of the bar at each of its wheels.
    pub gain_rows: W::AxlePairArray<(W, SpatialVector<W>)>,
    /// Impulse of the bars on the chassis that is part of the result of [`Vehicle::add_axle_links`].
    pub impulse: SpatialVector<W::Car>,
}

impl<W: WheelLanes> BarResponse<W> {
    /// Computes the response of the bars for the `rows` of two axles, and their impulse at the chassis velocity
    /// `v_warm` minus that at the current speeds. Lifted wheels and wheels without contact or load do not take part.
    #[inline(always)]
    pub(crate) fn new(rows: &[WheelRows<W>], v_warm: SpatialVector<W::Car>) -> Self {
        let one = W::splat(1.0);
        let is_loaded = W::axle_pair_from_fn(
            #[inline(always)]
            |k| {
                let rows = &rows[k];
                rows.contact.in_contact & !rows.suspension.axle_links.lifted & rows.suspension.load_active
            },
        );
        // Row of each wheel end, `n / cos γ`.
        let ends = W::axle_pair_from_fn(
            #[inline(always)]
            |k| rows[k].contact.normal * (one / rows[k].contact.normal_cosine).masked(is_loaded[k]),
        );
        let opposite_ends = SpatialVector::<W>::opposite_wheels(ends);
        let rates = W::axle_pair_from_fn(
            #[inline(always)]
            |k| rows[k].bar_end_rates().masked(is_loaded[k]),
        );
        let opposite_rates = W::opposite(rates);
        let v_warm = v_warm.broadcast_to_wheels();
        let gain_rows = W::axle_pair_from_fn(
            #[inline(always)]
            |k| {
                // Half of the gain K dt² / 4, because a bar has a row at each of its two wheels.
                let half_gain = W::splat(0.125 * rows[k].dt * rows[k].dt) * rows[k].suspension.axle_links.bar_rate;
                (half_gain, ends[k] - opposite_ends[k])
            },
        );
        let impulse = SpatialVector::sum_over_wheels(
            #[inline(always)]
            |k| {
                let (half_gain, row) = gain_rows[k];
                row * (half_gain * (opposite_rates[k] - rates[k] - row.dot(v_warm)))
            },
        );
        Self { gain_rows, impulse }
    }

    /// Adds the gains to `products`, and returns `impulse`.
    #[inline(always)]
    pub(crate) fn add_to(self, products: &mut OuterProducts<W>) -> SpatialVector<W::Car> {
        for k in 0..W::ROWS_PER_AXLE_PAIR {
            let (half_gain, row) = self.gain_rows[k];
            products.add_to_row(k, half_gain, row);
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

    /// Returns the rows of the plain car with `change`, with uneven travels and jounce rates, and the axle link forces.
    fn rows_of(change: impl Fn(&mut ModelParts)) -> WheelRows {
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
    fn assert_near(found: F32x4, expected: [f32; 4]) {
        let found = found.lanes();
        assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-3), "{found:?}");
    }

    /// Checks the force `K (z_i − z_j)` at each wheel of a bar, on one axle or two, and the rate K at both wheels.
    #[test]
    fn a_bar_pushes_the_wheel_that_is_compressed_more() {
        let rows_with_bar =
            |wheels| rows_of(|parts| parts.bars = vec![AntiRollBar { wheels, rate: 8000.0, ..AntiRollBar::default() }]);
        assert_near(rows_with_bar([0, 1]).suspension.axle_links.force, [-160.0, 160.0, 0.0, 0.0]);
        assert_near(rows_with_bar([0, 2]).suspension.axle_links.force, [240.0, 0.0, -240.0, 0.0]);
        assert_near(rows_with_bar([0, 2]).suspension.axle_links.rate, [8000.0, 0.0, 8000.0, 0.0]);
    }

    /// Checks that each wheel has half of `K z + D ż` of the mean travel z, without the damping force by its own rate.
    #[test]
    fn a_heave_spring_acts_on_the_mean_of_two_wheels() {
        let spring = |damping| HeaveSpring { wheels: [2, 3], rate: 40_000.0, damping };
        let links_with = |damping| rows_of(|parts| parts.heave_springs = vec![spring(damping)]).suspension.axle_links;
        assert_near(links_with(0.0).force, [0.0, 0.0, 300.0, 300.0]);
        assert_near(links_with(0.0).damping, [0.0; 4]);
        assert_near(links_with(2000.0).force, [0.0, 0.0, 300.0 + 500.0 * 2.0, 300.0 + 500.0]);
        assert_near(links_with(2000.0).damping, [0.0, 0.0, 500.0, 500.0]);
    }
}
