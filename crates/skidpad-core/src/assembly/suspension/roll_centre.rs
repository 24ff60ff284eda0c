//! Roll centres off the ground: links guide the wheels sideways with their travel, and carry part of the lateral forces
//! past the struts.
//!
//! A roll centre at the height h moves the contact point of a wheel to the left by `κ = h / y` per metre of
//! jounce z. y is half the track, negative on the right (W. F. Milliken and D. L. Milliken, *Race Car Vehicle
//! Dynamics*, ch. 17.3: along the normal of the line from the contact point to the instant centre). By virtual work, a
//! tyre force Y to the left lifts its wheel by the jacking force `κ Y` along the travel.
//!
//! A massless wheel follows the ground, with `ż = − n · v` for a chassis that moves by v above it. Its patch moves
//! along a tangent t with `(t − κ t_y n) · v`. The same row transmits its force, so that energy is conserved, and the
//! contact load is the strut load less `κ Y`. An unsprung mass receives `κ Y` along its travel, scrubs with `κ ż`, and
//! has the effective mass `m (1 + κ²)`. On a solid axle, the mean of both wheels replaces Y and `κ ż` of each.
//!
//! A compressed wheel touches the ground `κ z` to the left of its position at rest, so that a body at the roll angle φ
//! has moved by `(h_cg − h) φ` over its wheels, as about an axis at the height h. In this roll, the load does the work
//! `N κ z φ̇` on that arm, and the ground is `κ z φ / 2` nearer to the wheel than below its position at rest.
//!
//! The load of the inner wheel limits the geometric load transfer of a solid axle. If its strut carries S less than
//! `κ Y`, that wheel lifts off, and only the share `S / κ Y` of the force between its end of the beam and the body
//! remains. The outer wheel carries all of `κ Y`, by the balance of a massless beam on one wheel.

use crate::model::wheel_pack::{RollCentreLinks, WheelPack};
use crate::port::ChassisState;
use crate::suspension::rows::{Scrub, UnsprungMotion};
use crate::vehicle::Vehicle;
use crate::vehicle::rows::{EffectiveMass, WheelRows};
use bevy_math::Vec3;
use skidpad_simd::lane::{F32x4, Lane};
use skidpad_simd::linear::SpatialVector;
use skidpad_simd::vectors::Vec3Lanes;
use skidpad_simd::wheel_groups::ManyGroups;

impl Vehicle {
    /// Adapts the rows of massless wheels on roll centre links, which move the wheels sideways with their travel. First
    /// moves the contact points to where the links guide them at the current compressions. Then subtracts the link tilt
    /// (see `link_tilt_row`) from the tyre rows, and recomputes the sliding speeds at the start of the step from the
    /// chassis velocity `v_start`. Groups without roll centre links are unchanged.
    #[cold]
    #[inline(never)]
    pub(crate) fn align_rows_to_links(&mut self, v_start: SpatialVector<f32>) {
        for (group, rows) in self.model.wheel_packs().iter().zip(&mut self.rows) {
            if let Some(links) = &group.roll_centre_links {
                rows.shift_contact_points(links, rows.contact.compression);
                rows.tilt_tyre_rows(
                    rows.link_tilt_row(links),
                    rows.ground_scrub_speeds(links),
                    v_start.broadcast_to_wheels(),
                );
            }
        }
    }

    /// Limits the geometric load transfer of solid axles (the part that the links carry past the struts) to the load of
    /// the inner wheel. `body` is the chassis at the start of the step. The two velocities at the end of the step are
    /// `v_free`, without any impulse of the wheels, and `v_warm`, with the tyre impulses of the last step but without
    /// loads.
    ///
    /// Returns the replacement of `v_warm` for the changed tyre rows. Returns `v_warm` itself if no axle has roll
    /// centre links, or if no wheel on a beam is near lift-off.
    #[inline(always)]
    pub(crate) fn limit_beam_transfer(
        &mut self,
        body: &ChassisState,
        [v_free, v_warm]: [SpatialVector<f32>; 2],
        dt: f32,
    ) -> SpatialVector<f32> {
        if self.model.has_roll_centre_links() {
            self.limit_beam_transfer_if_near_lift(body, v_free, v_warm, dt)
        } else {
            v_warm
        }
    }

    /// Does the work of [`Self::limit_beam_transfer`] for cars with roll centre links. `body` is the chassis at the
    /// start of the step. `v_free` is the velocity at its end without any impulse of the wheels, `v_warm` that with the
    /// tyre impulses of the last step, without loads.
    ///
    /// If no wheel on a beam has a jacking impulse (upward impulse of the links by the lateral tyre force) that reaches
    /// its load of the last step, changes nothing and returns `v_warm`, which is still valid for the tyre rows.
    /// Otherwise initialises struts and axle links, solves the loads once from `v_warm`, and limits the transfer of
    /// each group with roll centre links, which can tilt tyre rows. Returns `v_free` plus the velocity change by the
    /// tyre impulses and torques of the last step along the present rows, without loads.
    #[cold]
    #[inline(never)]
    fn limit_beam_transfer_if_near_lift(
        &mut self,
        body: &ChassisState,
        v_free: SpatialVector<f32>,
        v_warm: SpatialVector<f32>,
        dt: f32,
    ) -> SpatialVector<f32> {
        // Whether a wheel on a beam has a jacking impulse that reaches its load impulse of the last step.
        let any_near_lift = self.model.wheel_packs().iter().zip(&self.rows).any(|(group, rows)| {
            let load = group.gather(|i| self.state.wheels[i].load);
            group.roll_centre_links.as_ref().is_some_and(|links| rows.is_near_lift(links, load * F32x4::splat(dt)))
        });
        if !any_near_lift {
            return v_warm;
        }
        self.init_struts_and_links::<ManyGroups>(dt);
        self.solve_loads::<ManyGroups>(v_warm, dt);
        let to_vehicle = self.to_world.transpose();
        // Chassis velocity at the start of the step, vehicle axes.
        let v_start = SpatialVector::from_vec3s(to_vehicle * body.velocity, to_vehicle * body.angular_velocity)
            .broadcast_to_wheels();
        for (group, rows) in self.model.wheel_packs().iter().zip(&mut self.rows) {
            if let Some(links) = &group.roll_centre_links {
                rows.limit_beam_transfer(links, v_start);
            }
        }
        v_free + self.response(self.wheel_impulses::<ManyGroups>(false)) // false: without loads
    }

    /// Updates the shares of the loads that act on the ground (`pressing_share`) from the current lateral tyre
    /// impulses. Does nothing without roll centre links.
    #[inline(always)]
    pub(crate) fn apply_jacking(&mut self) {
        if self.model.has_roll_centre_links() {
            self.apply_jacking_to_all();
        }
    }

    /// Updates the shares of the loads that act on the ground of every group, with [`WheelRows::apply_jacking`].
    #[cold]
    #[inline(never)]
    fn apply_jacking_to_all(&mut self) {
        for (group, rows) in self.model.wheel_packs().iter().zip(&mut self.rows) {
            rows.apply_jacking(group);
        }
    }
}

impl UnsprungMotion {
    /// Adds the lateral motion of independently suspended wheels on links: the row term `m κ y` to `momentum_row` and
    /// the mass `m κ²` to `mass`. κ is the link slope, m the unsprung mass, and y the lateral row at the wheel centres
    /// `centre` (m). Wheels on a beam get nothing here; see [`UnsprungMotion::add_beam_motion`].
    pub(crate) fn add_link_motion(&mut self, group: &WheelPack, links: &RollCentreLinks, centre: Vec3Lanes<F32x4>) {
        // Link slope κ; 0 for wheels on a beam.
        let slope = links.slope * links.independent;
        let left = Vec3Lanes::splat(Vec3::Y);
        self.momentum_row =
            self.momentum_row + SpatialVector::new(left, centre.cross(left)) * (slope * group.unsprung_mass);
        self.mass += slope * slope * group.unsprung_mass;
    }
}

impl WheelRows {
    /// Returns the components along the vehicle's left (y) axis of the longitudinal and lateral tangents of the
    /// patches, –.
    #[inline(always)]
    fn leftward_components(&self) -> [F32x4; 2] {
        [self.contact.forward.linear.y, self.contact.side.linear.y]
    }

    /// Returns the components of the tyre impulses to the left of the vehicle, N s.
    #[inline(always)]
    pub(crate) fn lateral_tyre_impulse(&self) -> F32x4 {
        let [forward_y, side_y] = self.leftward_components();
        forward_y * self.solution.tyre_impulse[0] + side_y * self.solution.tyre_impulse[1]
    }

    /// Returns the link tilt: the row that a tyre row loses per leftward component of its tangent. It is the contact
    /// normal times link slope κ times `beam_share`, on a beam the mean of both wheels.
    fn link_tilt_row(&self, links: &RollCentreLinks) -> SpatialVector<F32x4> {
        // Link slope times contact normal of each wheel alone.
        let own_tilt = self.contact.normal * (links.slope * self.suspension.beam_share);
        own_tilt * links.independent + own_tilt.plus_opposite() * links.beam_half
    }

    /// Returns the leftward speeds of the contact points relative to the body that the links cause because the ground
    /// moves along its normal, at the start and the end of the step, m/s. The shares `beam_share` count.
    fn ground_scrub_speeds(&self, links: &RollCentreLinks) -> [F32x4; 2] {
        let ground_motion = &self.contact.ground_motion;
        [ground_motion.start_speed[2], ground_motion.end_speed[2]]
            .map(|ground_speed| links.lateral_motion(ground_speed * self.suspension.beam_share))
    }

    /// Moves the contact points of wheels at a `travel` (m, positive in jounce) sideways to where the links guide them,
    /// by changing the moments of all three rows. The displacement is positive to the left. Reduces the compressions of
    /// wheels in contact by half the displacement times the descent of the ground to the left, `n_y / n_z` with the
    /// contact normal n. Where the ground rises towards the displacement, the compressions increase.
    pub(crate) fn shift_contact_points(&mut self, links: &RollCentreLinks, travel: F32x4) {
        // Displacement to the left, m.
        let displacement = links.lateral_motion(travel);
        let contact = &mut self.contact;
        for row in [&mut contact.normal, &mut contact.forward, &mut contact.side] {
            // A displacement d to the left changes the moment of a row by d × row.
            row.angular = row.angular + Vec3Lanes::splat(Vec3::Y).cross(row.linear) * displacement;
        }
        let normal = contact.normal.linear;
        // Half of the displacement counts, as the module's documentation derives.
        let compression_loss = F32x4::splat(0.5) * displacement * normal.y / normal.z;
        contact.compression = contact.compression - compression_loss.masked(contact.in_contact);
    }

    /// Subtracts `tilt_row` from the longitudinal and the lateral tyre row, each times the leftward component of its
    /// tangent. If the ground moves or has a texture, also subtracts `scrub_speeds` times these components from the
    /// tangential ground speeds. `scrub_speeds` are the leftward speeds of the contact points as the ground rises, at
    /// the start and the end of the step, m/s.
    ///
    /// Recomputes the sliding speeds at the start from the chassis velocity `v_start`. Rows that are already tilted are
    /// updated by a call with the differences between new and old inputs.
    fn tilt_tyre_rows(
        &mut self,
        tilt_row: SpatialVector<F32x4>,
        scrub_speeds: [F32x4; 2],
        v_start: SpatialVector<F32x4>,
    ) {
        let [forward_y, side_y] = self.leftward_components();
        let contact = &mut self.contact;
        contact.forward = contact.forward - tilt_row * forward_y;
        contact.side = contact.side - tilt_row * side_y;
        if contact.ground_motion.moves_or_textured {
            for (speed, scrub_speed) in [&mut contact.ground_motion.start_speed, &mut contact.ground_motion.end_speed]
                .into_iter()
                .zip(scrub_speeds)
            {
                speed[0] = speed[0] - scrub_speed * forward_y;
                speed[1] = speed[1] - scrub_speed * side_y;
            }
        }
        self.contact.start_speed = self.start_speeds(v_start);
    }

    /// Returns true if some wheel on a beam has a jacking impulse that is positive and at least `load`, the load
    /// impulse of the last step, N s. Independently suspended wheels do not count.
    fn is_near_lift(&self, links: &RollCentreLinks, load: F32x4) -> bool {
        // `beam_half` is 1/2 for wheels on a beam, otherwise 0.
        let jacking_impulse =
            links.jacking_force(self.lateral_tyre_impulse()).masked(F32x4::default().less(links.beam_half));
        F32x4::any(F32x4::default().less(jacking_impulse) & !jacking_impulse.less(load))
    }

    /// Limits the forces between beams and body to what the struts there carry, at the stored loads. Wheels on a beam
    /// lift if their jacking impulse is positive and exceeds the load; their `beam_share` becomes load over jacking
    /// impulse. All other wheels of the group get the share 1. Then tilts the tyre rows by the change of the link tilt,
    /// with sliding speeds at the chassis velocity `v_start`. Changes nothing if no wheel on a beam lifts.
    fn limit_beam_transfer(&mut self, links: &RollCentreLinks, v_start: SpatialVector<F32x4>) {
        let (zero, one) = (F32x4::default(), F32x4::splat(1.0));
        let (jacking_impulse, load) = (links.jacking_force(self.lateral_tyre_impulse()), self.suspension.load);
        // Inner wheels of beams, whose jacking impulse exceeds their load.
        let is_lifting = load.less(jacking_impulse) & zero.less(jacking_impulse) & zero.less(links.beam_half);
        if !F32x4::any(is_lifting) {
            return;
        }
        let (last_tilt, last_scrub) = (self.link_tilt_row(links), self.ground_scrub_speeds(links));
        self.suspension.beam_share = F32x4::select(is_lifting, load / jacking_impulse, one);
        let [start_scrub, end_scrub] = self.ground_scrub_speeds(links);
        // The rows are already tilted by the last values: only the differences are added.
        // Change of the speeds of the contact points by the new shares, m/s.
        let scrub_change = [start_scrub - last_scrub[0], end_scrub - last_scrub[1]];
        self.tilt_tyre_rows(self.link_tilt_row(links) - last_tilt, scrub_change, v_start);
    }

    /// Sets the share of the load that acts on the ground, `1 − jacking impulse / load`. On a beam, the jacking impulse
    /// is at most the load. The share is 1 without load, and if the jacking impulse exceeds the load in magnitude: the
    /// lateral force then still belongs to a load that has vanished. Does nothing for wheels with unsprung masses and
    /// for groups without roll centre links.
    pub(crate) fn apply_jacking(&mut self, group: &WheelPack) {
        let Some(links) = &group.roll_centre_links else { return };
        if self.has_unsprung {
            return;
        }
        let (zero, load) = (F32x4::default(), self.suspension.load);
        // Jacking impulse, N s.
        let jacking_impulse = links.jacking_force(self.lateral_tyre_impulse()) * self.suspension.beam_share;
        // A wheel on a beam cannot lose more than its load.
        let limited_impulse = F32x4::select(zero.less(links.beam_half), jacking_impulse.at_most(load), jacking_impulse);
        let link_load_ratio = (limited_impulse / load).masked(zero.less(load) & !load.less(limited_impulse.abs()));
        self.suspension.pressing_share = F32x4::splat(1.0) - link_load_ratio;
    }

    /// Returns the difference between the impulse of the ground on each wheel and the impulse of its rows on the
    /// chassis, vehicle axes, N s. A difference exists on beams, which transmit half of a wheel's jacking force to the
    /// opposite wheel. Zero without roll centre links and with unsprung masses.
    pub(crate) fn link_impulse(&self, group: &WheelPack) -> Vec3Lanes<F32x4> {
        match &group.roll_centre_links {
            Some(links) if !self.has_unsprung => {
                // Part of the load that the links carry, N s.
                let link_load = self.suspension.load - self.normal_impulse();
                // Adds what the tilted rows lost, and subtracts what the links carry of this wheel's load.
                self.link_tilt_row(links).linear * self.lateral_tyre_impulse() - self.contact.normal.linear * link_load
            }
            _ => Vec3Lanes::default(),
        }
    }

    /// Returns the lateral motion of unsprung wheels on links: the scrub speeds of the patches at the current travel
    /// rates, and the changes of the travel rates per tyre impulse to the left. `responses` are the changes of a travel
    /// rate per impulse along the own travel and along that of the opposite wheel (1/kg). `load_slope`, the decrease of
    /// the loads per travel rate (kg), is stored in the result.
    #[cold]
    #[inline(never)]
    pub(crate) fn link_scrub(
        &self,
        unsprung: &UnsprungMotion,
        links: &RollCentreLinks,
        responses: [F32x4; 2],
        load_slope: F32x4,
    ) -> Scrub {
        // 1 for wheels on a beam, otherwise 0.
        let on_beam = links.beam_half + links.beam_half;
        // Changes of the own and of the opposite travel rate per tyre impulse to the left, 1/kg.
        // On a beam, the jacking force of a wheel acts on both wheels, so that both responses count as the own one.
        let travel_response = links.slope * responses[0] + on_beam * links.slope.opposite() * responses[1];
        let opposite_response = links.slope * links.independent * responses[1];
        Scrub { travel_response, opposite_response, load_slope, speed: self.scrub_speeds(links, unsprung.next_rate) }
    }

    /// Returns the longitudinal and lateral speeds of the patches due to links at a travel `rate` (m/s), m/s: the
    /// leftward speed of the contact points times the leftward components of both tangents.
    #[inline(always)]
    pub(crate) fn scrub_speeds(&self, links: &RollCentreLinks, rate: F32x4) -> [F32x4; 2] {
        let lateral_speed = links.lateral_motion(rate);
        self.leftward_components().map(|tangent| tangent * lateral_speed)
    }

    /// Returns speeds (m/s) and compliances (1/kg: longitudinal, coupling, lateral) of the tyre rows of unsprung wheels
    /// on links, at the chassis velocity in the rows. The compliances contain only the links: a tyre impulse changes
    /// the travel rates, and the patches scrub with the travel. The chassis velocity itself counts as given. The speeds
    /// are patch plus scrub speed, less the part that the present tyre impulses cause through these compliances.
    ///
    /// On a beam, both wheels' responses count as one to the own tyre, and the opposite tyre impulse counts as
    /// constant. This is the largest response of both, so that the iteration converges.
    #[cold]
    #[inline(never)]
    pub(crate) fn effective_mass_on_links(
        &self,
        unsprung: &UnsprungMotion,
        links: &RollCentreLinks,
    ) -> EffectiveMass<F32x4> {
        // Lateral compliance by the links, 1/kg.
        let link_compliance = links.mean_of_ends(links.slope * unsprung.scrub.travel_response);
        let ([forward_y, side_y], tyre) = (self.leftward_components(), self.solution.tyre_impulse);
        let compliance = [
            forward_y * forward_y * link_compliance,
            forward_y * side_y * link_compliance,
            side_y * side_y * link_compliance,
        ];
        let [longitudinal_speed, lateral_speed] = self.solution.velocity.patch;
        let [longitudinal_scrub, lateral_scrub] = unsprung.scrub.speed;
        // Patch speed plus scrub speed, less the part that the present tyre impulses have caused.
        let speed = [
            longitudinal_speed + longitudinal_scrub - compliance[0] * tyre[0] - compliance[1] * tyre[1],
            lateral_speed + lateral_scrub - compliance[1] * tyre[0] - compliance[2] * tyre[1],
        ];
        EffectiveMass { speed, compliance }
    }

    /// Updates final travel rates, loads (at least 0) and scrub speeds of unsprung wheels for the change of the tyre
    /// impulses from `last_impulse` (longitudinal, lateral, N s) to the stored ones. On a beam, the mean change of both
    /// wheels counts. Axle links also change the rate of the opposite wheel.
    #[cold]
    #[inline(never)]
    pub(crate) fn update_travel_on_links(
        &mut self,
        unsprung: &mut UnsprungMotion,
        links: &RollCentreLinks,
        last_impulse: [F32x4; 2],
    ) {
        let ([forward_y, side_y], tyre) = (self.leftward_components(), self.solution.tyre_impulse);
        // Change of the tyre impulses to the left, N s.
        let lateral_impulse = forward_y * (tyre[0] - last_impulse[0]) + side_y * (tyre[1] - last_impulse[1]);
        let Scrub { travel_response, opposite_response, load_slope, .. } = unsprung.scrub;
        // Change of the travel rates, m/s.
        let rate_change =
            travel_response * links.mean_of_ends(lateral_impulse) + (opposite_response * lateral_impulse).opposite();
        unsprung.next_rate += rate_change;
        self.suspension.load = (self.suspension.load - load_slope * rate_change).at_least(F32x4::default());
        unsprung.scrub.speed = self.scrub_speeds(links, unsprung.next_rate);
    }

    /// Returns the tyre `row` on the chassis, less the impulse that the travel transmits in response: a tyre impulse to
    /// the left changes the travel rates, and these act on the chassis along contact normal and `momentum_row`. On a
    /// beam, the mean of both wheels is subtracted.
    #[cold]
    #[inline(never)]
    pub(crate) fn row_on_links(
        &self,
        unsprung: &UnsprungMotion,
        links: &RollCentreLinks,
        row: SpatialVector<F32x4>,
    ) -> SpatialVector<F32x4> {
        let Scrub { travel_response, opposite_response, load_slope, .. } = unsprung.scrub;
        // Impulse on the chassis per travel rate.
        let transmitted_impulse = self.contact.normal * load_slope + unsprung.momentum_row;
        // Response through the opposite wheel, by axle links.
        // `plus_opposite` is the sum of both wheels; minus the own part, the opposite one remains.
        let opposite_part = (transmitted_impulse.plus_opposite() - transmitted_impulse) * opposite_response;
        let own_part = transmitted_impulse * travel_response;
        // `beam_half` averages both wheels on a beam; `row.linear.y` is the impulse to the left per tyre impulse.
        row - (own_part * links.independent + opposite_part + own_part.plus_opposite() * links.beam_half) * row.linear.y
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Model, plain::plain_car};

    /// Checks that the links of a beam reduce the load of its left wheel by `κ (Y_l + Y_r) / 2` and increase that of
    /// the right one as much. The tangents do not tilt if both wheels stand alike, so that the rows lack this
    /// difference: `link_impulse` is the difference. For unsprung wheels it is 0.
    #[test]
    fn what_a_beam_hands_on_is_what_rows_lack_at_the_ground() {
        let mut parts = plain_car();
        (parts.axles[0].roll_centre_height, parts.axles[0].solid) = (0.3, true);
        let model = Model::new(parts).expect("valid");
        let group = &model.wheel_packs()[0];
        let mut rows = WheelRows::default();
        rows.reset();
        let row = |direction| SpatialVector::new(Vec3Lanes::splat(direction), Vec3Lanes::splat(Vec3::ZERO));
        (rows.contact.forward, rows.contact.side, rows.contact.normal) = (row(Vec3::X), row(Vec3::Y), row(Vec3::Z));
        rows.suspension.load = F32x4::splat(1000.0);
        rows.solution.tyre_impulse = [F32x4::splat(70.0), F32x4::new([200.0, 100.0, 50.0, 50.0])];
        rows.apply_jacking(group);
        // 0.3 / 0.75 of a mean of 150 N s.
        let expected = [940.0, 1060.0, 1000.0, 1000.0];
        let link_impulse = rows.link_impulse(group);
        for (lane, expected) in expected.into_iter().enumerate() {
            // f32 resolution at 1000 N s.
            assert!((rows.normal_impulse().lane_value(lane) - expected).abs() < 1e-3, "{:?}", rows.normal_impulse());
            assert!((link_impulse.z.lane_value(lane) - (expected - 1000.0)).abs() < 1e-3, "{link_impulse:?}");
        }
        rows.has_unsprung = true;
        assert_eq!(rows.link_impulse(group).z.lanes(), [0.0; 4]);
    }

    /// Checks a beam whose inner wheel has a strut load of 36 N s and a jacking impulse of 60 N s: the wheel lifts off,
    /// so that its load on the ground is 0. Its end of the beam pulls the body down by what the strut pushes up. The
    /// outer wheel has all 60 N s more, and the sum of the rows equals the sum of the ground loads. A last load of 60 N
    /// s counts as near lift-off, 61 N s does not.
    #[test]
    fn links_of_a_beam_take_no_more_than_a_wheel_has() {
        let mut parts = plain_car();
        (parts.axles[0].roll_centre_height, parts.axles[0].solid) = (0.3, true);
        let model = Model::new(parts).expect("valid");
        let (group, links) = (&model.wheel_packs()[0], model.wheel_packs()[0].roll_centre_links.expect("raised"));
        let mut rows = WheelRows::default();
        rows.reset();
        let row = |direction| SpatialVector::new(Vec3Lanes::splat(direction), Vec3Lanes::splat(Vec3::ZERO));
        (rows.contact.forward, rows.contact.side, rows.contact.normal) = (row(Vec3::X), row(Vec3::Y), row(Vec3::Z));
        rows.suspension.load = F32x4::new([36.0, 1000.0, 500.0, 500.0]);
        rows.solution.tyre_impulse = [F32x4::default(), F32x4::new([0.0, 300.0, 0.0, 0.0])];
        // Ground and chassis at rest.
        rows.tilt_tyre_rows(rows.link_tilt_row(&links), Default::default(), SpatialVector::default());
        assert!(rows.is_near_lift(&links, F32x4::splat(60.0)) && !rows.is_near_lift(&links, F32x4::splat(61.0)));
        rows.limit_beam_transfer(&links, SpatialVector::default());
        rows.apply_jacking(group);
        // f32 resolution at 1000 N s.
        for (lane, expected) in [0.0, 1060.0, 500.0, 500.0].into_iter().enumerate() {
            assert!((rows.normal_impulse().lane_value(lane) - expected).abs() < 1e-3, "{:?}", rows.normal_impulse());
        }
        let body_impulse = rows.contact.side.linear.z * rows.solution.tyre_impulse[1] + rows.suspension.load;
        assert!((body_impulse.sum() - rows.normal_impulse().sum()).abs() < 1e-3, "{body_impulse:?}");
    }
}
