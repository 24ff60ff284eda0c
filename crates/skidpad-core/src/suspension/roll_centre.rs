//! Roll centres off the ground: links lead wheels sideways as they travel, and carry part of their side forces past the struts.
//!
//! About a roll centre of height h the contact point of a wheel moves to the left by `κ = h / y` per metre of jounce z, y being half the track, negative
//! on the right (W. F. Milliken and D. L. Milliken, *Race Car Vehicle Dynamics*, ch. 17.3: along the normal of the line from the contact
//! point to the instant centre). By virtual work a tyre that pushes to the left by Y therefore lifts its wheel by `κ Y` along the travel.
//!
//! A wheel without mass follows the ground, with `ż = − n · v` for a chassis that moves by v above it. Its patch moves along a tangent t by
//! `(t − κ t_y n) · v`; the same row carries its force, so that nothing is gained or lost, and what presses on the ground is
//! the load of the strut less `κ Y`. A wheel on its own takes `κ Y` along its travel, scrubs by `κ ż`, and weighs `m (1 + κ²)`. On a solid
//! axle the mean of both wheels stands for either's Y and `κ ż`.
//!
//! A compressed wheel touches the ground `κ z` to the left of its place at rest, so that a body that rolls by φ has moved by `(h_cg − h) φ`
//! over its wheels, as about an axis at the height h. In this roll the work of the load on that arm is `N κ z φ̇`, and the
//! ground is `κ z φ / 2` nearer to the wheel than below its place at rest.
//!
//! The geometric load transfer of a solid axle ends with the load of its inner wheel. Once its strut carries S less than `κ Y`, that wheel
//! is off the ground, and only `S / κ Y` of what its end of the beam takes from the body is left. The outer wheel carries all of `κ Y`, as
//! by the balance of a beam without mass on one wheel.

use crate::banks::Many;
use crate::lane::{Four, Lane};
use crate::linear::SpatialVector;
use crate::step::rows::{Rows, Surroundings};
use crate::step::vehicle::Vehicle;
use crate::suspension::rows::{Scrub, UnsprungMotion};
use crate::vectors::Vec3Lanes;
use crate::wheel::pack::{RollCentreLinks, WheelPack};
use crate::world::seam::Body;
use bevy_math::Vec3;

impl Vehicle {
    /// Turns the rows of the tyres of wheels without mass to where links let them move, at the chassis velocity `moving`.
    #[cold]
    #[inline(never)]
    pub(crate) fn lean_on_links(&mut self, moving: SpatialVector<f32>) {
        for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
            if let Some(links) = &bank.roll_centre_links {
                rows.move_patches(links, rows.contact.compression);
                rows.lean(rows.leaning(links), rows.scrubbed_by_ground(links), moving.at_each_wheel());
            }
        }
    }

    /// Ends the geometric load transfer of solid axles where the inner wheel has no load left for it, with the loads of the velocity `warm`;
    /// returns the velocity with the rows of tyres that this leaves.
    #[inline(always)]
    pub(crate) fn unload_beams(
        &mut self,
        body: &Body,
        [free, warm]: [SpatialVector<f32>; 2],
        dt: f32,
    ) -> SpatialVector<f32> {
        if self.model.has_links() { self.unload_beams_near_lift(body, [free, warm], dt) } else { warm }
    }

    #[cold]
    #[inline(never)]
    fn unload_beams_near_lift(
        &mut self,
        body: &Body,
        [free, warm]: [SpatialVector<f32>; 2],
        dt: f32,
    ) -> SpatialVector<f32> {
        let near = self.model.banks().iter().zip(&self.rows).any(|(bank, rows)| {
            let load = bank.gather(|i| self.state.wheels[i].load);
            bank.roll_centre_links.as_ref().is_some_and(|links| rows.is_near_lift(links, load * Four::splat(dt)))
        });
        if !near {
            return warm;
        }
        self.axle_link_rows::<Many>(dt);
        self.solve_loads::<Many>(warm, dt);
        let to_vehicle = self.to_world.transpose();
        let moving = SpatialVector::of(to_vehicle * body.velocity, to_vehicle * body.angular).at_each_wheel();
        for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
            if let Some(links) = &bank.roll_centre_links {
                rows.unload_beams(links, moving);
            }
        }
        free + self.response(self.wheel_impulses::<Many>(false))
    }

    /// What links take of each load by the side forces of the tyres as they now are.
    #[inline(always)]
    pub(crate) fn jack(&mut self) {
        if self.model.has_links() {
            self.jack_all();
        }
    }

    #[cold]
    #[inline(never)]
    fn jack_all(&mut self) {
        for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
            rows.jack(bank);
        }
    }
}

impl UnsprungMotion {
    /// Takes the sideways motion of wheels on links of their own into what a wheel at its `centre` weighs; that of a beam is its own.
    pub(crate) fn lead_sideways(&mut self, bank: &WheelPack, links: &RollCentreLinks, centre: Vec3Lanes<Four>) {
        let slope = links.slope * links.alone;
        let left = Vec3Lanes::splat(Vec3::Y);
        self.heave = self.heave + SpatialVector::new(left, centre.cross(left)) * (slope * bank.unsprung_mass);
        self.mass += slope * slope * bank.unsprung_mass;
    }
}

impl Rows {
    /// Tangents of the patches as far as they point to the left, along and across.
    #[inline(always)]
    fn leftwards(&self) -> [Four; 2] {
        [self.contact.forward.linear.y, self.contact.side.linear.y]
    }

    /// What the tyres push to the left by, N s.
    #[inline(always)]
    pub(crate) fn aside(&self) -> Four {
        let [along, across] = self.leftwards();
        along * self.coupled.tyre[0] + across * self.coupled.tyre[1]
    }

    /// What rows of tyres lose along the normals per leftwards tangent.
    fn leaning(&self, links: &RollCentreLinks) -> SpatialVector<Four> {
        let given = self.contact.normal * (links.slope * self.suspension.beam_share);
        given * links.alone + given.and_opposite() * links.half
    }

    /// Returns the speeds of the contact points to the left against the body while the ground rises, at the start and the end of the step,
    /// m/s.
    fn scrubbed_by_ground(&self, links: &RollCentreLinks) -> [Four; 2] {
        let motion = &self.contact.ground_motion;
        [motion.begun[2], motion.speed[2]].map(|rising| links.sideways(rising * self.suspension.beam_share))
    }

    /// Moves the contact points of wheels at a `travel` (m) to where the links lead them.
    pub(crate) fn move_patches(&mut self, links: &RollCentreLinks, travel: Four) {
        let aside = links.sideways(travel);
        let contact = &mut self.contact;
        for row in [&mut contact.normal, &mut contact.forward, &mut contact.side] {
            row.angular = row.angular + Vec3Lanes::splat(Vec3::Y).cross(row.linear) * aside;
        }
        let normal = contact.normal.linear;
        let nearer = Four::splat(0.5) * aside * normal.y / normal.z;
        contact.compression = contact.compression - nearer.only(contact.in_contact);
    }

    /// Leans the rows of tyres by so much of the normals per leftwards tangent, of contact points that move aside by `scrubbed` m/s as
    /// the ground rises, at the start and the end of the step.
    fn lean(&mut self, by: SpatialVector<Four>, scrubbed: [Four; 2], moving: SpatialVector<Four>) {
        let [along, across] = self.leftwards();
        let contact = &mut self.contact;
        contact.forward = contact.forward - by * along;
        contact.side = contact.side - by * across;
        if contact.ground_motion.moves_or_textured {
            for (speed, scrubbed) in
                [&mut contact.ground_motion.begun, &mut contact.ground_motion.speed].into_iter().zip(scrubbed)
            {
                speed[0] = speed[0] - scrubbed * along;
                speed[1] = speed[1] - scrubbed * across;
            }
        }
        self.contact.started = self.starting_speeds(moving);
    }

    /// Returns true if links take as much from a wheel on a beam as it had left of its load in the last step, N s.
    fn is_near_lift(&self, links: &RollCentreLinks, load: Four) -> bool {
        let lift = links.lift(self.aside()).only(Four::default().less(links.half));
        Four::any(Four::default().less(lift) & !lift.less(load))
    }

    /// Keeps of what the ends of beams take from the body what the struts there carry.
    fn unload_beams(&mut self, links: &RollCentreLinks, moving: SpatialVector<Four>) {
        let (zero, one) = (Four::default(), Four::splat(1.0));
        let (lift, load) = (links.lift(self.aside()), self.suspension.load);
        let lifts = load.less(lift) & zero.less(lift) & zero.less(links.half);
        if !Four::any(lifts) {
            return;
        }
        let (leaning, scrubbed) = (self.leaning(links), self.scrubbed_by_ground(links));
        self.suspension.beam_share = Four::select(lifts, load / lift, one);
        let [begun, ends] = self.scrubbed_by_ground(links);
        let more = [begun - scrubbed[0], ends - scrubbed[1]];
        self.lean(self.leaning(links) - leaning, more, moving);
    }

    /// Takes over what links take of the loads, of a wheel on a beam at most its own. Where a side force is still that of a load which
    /// has gone, none.
    pub(crate) fn jack(&mut self, bank: &WheelPack) {
        let Some(links) = &bank.roll_centre_links else { return };
        if self.has_unsprung {
            return;
        }
        let (zero, load) = (Four::default(), self.suspension.load);
        let lift = links.lift(self.aside()) * self.suspension.beam_share;
        let jacked = Four::select(zero.less(links.half), lift.at_most(load), lift);
        let share = (jacked / load).only(zero.less(load) & !load.less(jacked.abs()));
        self.suspension.pressing_share = Four::splat(1.0) - share;
    }

    /// What the rows of a wheel lack of what it does to the ground, N s: a beam hands on half of the other wheel's.
    pub(crate) fn pressed_by_links(&self, bank: &WheelPack) -> Vec3Lanes<Four> {
        match &bank.roll_centre_links {
            Some(links) if !self.has_unsprung => {
                let jacked = self.suspension.load - self.pressing();
                self.leaning(links).linear * self.aside() - self.contact.normal.linear * jacked
            }
            _ => Vec3Lanes::default(),
        }
    }

    /// How wheels on their own scrub that travel at the rates now found. Those answer an impulse along the own travel and one along that of
    /// the opposite wheel by `answers`, 1/kg, and loads fall with them by `pressing`, kg.
    #[cold]
    #[inline(never)]
    pub(crate) fn scrub(
        &self,
        unsprung: &UnsprungMotion,
        links: &RollCentreLinks,
        answers: [Four; 2],
        pressing: Four,
    ) -> Scrub {
        let beam = links.half + links.half;
        let answer = links.slope * answers[0] + beam * links.slope.opposite() * answers[1];
        let handed = links.slope * links.alone * answers[1];
        Scrub { answer, handed, pressing, speed: self.scrubbed(links, unsprung.next_rate) }
    }

    #[inline(always)]
    pub(crate) fn scrubbed(&self, links: &RollCentreLinks, rate: Four) -> [Four; 2] {
        let sideways = links.sideways(rate);
        self.leftwards().map(|tangent| tangent * sideways)
    }

    /// What the tyres of wheels on links of their own see at given chassis velocity: their own travel answers them.
    ///
    /// On a beam, a tyre sees the answer of both as its own, and the other as it was: as much as both make at most, so that
    /// going on so ends.
    #[cold]
    #[inline(never)]
    pub(crate) fn answered_by_links(&self, unsprung: &UnsprungMotion, links: &RollCentreLinks) -> Surroundings<Four> {
        let given = links.shared(links.slope * unsprung.scrub.answer);
        let ([along, across], tyre) = (self.leftwards(), self.coupled.tyre);
        let compliance = [along * along * given, along * across * given, across * across * given];
        let [rolling, sliding] = self.coupled.velocity.patch;
        let [more_along, more_across] = unsprung.scrub.speed;
        let speed = [
            rolling + more_along - compliance[0] * tyre[0] - compliance[1] * tyre[1],
            sliding + more_across - compliance[1] * tyre[0] - compliance[2] * tyre[1],
        ];
        Surroundings { speed, compliance }
    }

    /// Lets wheels on their own give way to what their tyres push by beyond `before`.
    #[cold]
    #[inline(never)]
    pub(crate) fn give_way_on_links(
        &mut self,
        unsprung: &mut UnsprungMotion,
        links: &RollCentreLinks,
        before: [Four; 2],
    ) {
        let ([along, across], tyre) = (self.leftwards(), self.coupled.tyre);
        let pushed = along * (tyre[0] - before[0]) + across * (tyre[1] - before[1]);
        let Scrub { answer, handed, pressing, .. } = unsprung.scrub;
        let faster = answer * links.shared(pushed) + (handed * pushed).opposite();
        unsprung.next_rate += faster;
        self.suspension.load = (self.suspension.load - pressing * faster).at_least(Four::default());
        unsprung.scrub.speed = self.scrubbed(links, unsprung.next_rate);
    }

    /// What `row` of a tyre becomes where travel answers both it and the chassis.
    #[cold]
    #[inline(never)]
    pub(crate) fn row_on_links(
        &self,
        unsprung: &UnsprungMotion,
        links: &RollCentreLinks,
        row: SpatialVector<Four>,
    ) -> SpatialVector<Four> {
        let Scrub { answer, handed, pressing, .. } = unsprung.scrub;
        let through = self.contact.normal * pressing + unsprung.heave;
        let across = (through.and_opposite() - through) * handed;
        let answer = through * answer;
        row - (answer * links.alone + across + answer.and_opposite() * links.half) * row.linear.y
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Model, plain::plain_car};

    /// Links of a beam take `κ (Y_l + Y_r) / 2` of the load of its left wheel and add as much to that of the right one; the rows, whose
    /// tangents do not lean where both wheels stand alike, lack it. Those of wheels on their own lack nothing.
    #[test]
    fn what_a_beam_hands_on_is_what_rows_lack_at_the_ground() {
        let mut parts = plain_car();
        (parts.axles[0].roll_centre, parts.axles[0].solid) = (0.3, true);
        let model = Model::new(parts).expect("valid");
        let bank = &model.banks()[0];
        let mut rows = Rows::default();
        rows.begin();
        let row = |direction| SpatialVector::new(Vec3Lanes::splat(direction), Vec3Lanes::splat(Vec3::ZERO));
        (rows.contact.forward, rows.contact.side, rows.contact.normal) = (row(Vec3::X), row(Vec3::Y), row(Vec3::Z));
        rows.suspension.load = Four::splat(1000.0);
        rows.coupled.tyre = [Four::splat(70.0), Four::new([200.0, 100.0, 50.0, 50.0])];
        rows.jack(bank);
        // 0.3 / 0.75 of a mean of 150 N s.
        let expected = [940.0, 1060.0, 1000.0, 1000.0];
        let lacking = rows.pressed_by_links(bank);
        for (lane, expected) in expected.into_iter().enumerate() {
            // 32 bits of 1000 N s.
            assert!((rows.pressing().at(lane) - expected).abs() < 1e-3, "{:?}", rows.pressing());
            assert!((lacking.z.at(lane) - (expected - 1000.0)).abs() < 1e-3, "{lacking:?}");
        }
        rows.has_unsprung = true;
        assert_eq!(rows.pressed_by_links(bank).z.lanes(), [0.0; 4]);
    }

    /// A strut of 36 N s on the inner wheel of a beam whose links take 60 is off the ground: its end of the beam pulls the body down by what
    /// the strut pushes it up by, the outer wheel has all 60, and the rows lack what presses there alone.
    #[test]
    fn links_of_a_beam_take_no_more_than_a_wheel_has() {
        let mut parts = plain_car();
        (parts.axles[0].roll_centre, parts.axles[0].solid) = (0.3, true);
        let model = Model::new(parts).expect("valid");
        let (bank, links) = (&model.banks()[0], model.banks()[0].roll_centre_links.expect("raised"));
        let mut rows = Rows::default();
        rows.begin();
        let row = |direction| SpatialVector::new(Vec3Lanes::splat(direction), Vec3Lanes::splat(Vec3::ZERO));
        (rows.contact.forward, rows.contact.side, rows.contact.normal) = (row(Vec3::X), row(Vec3::Y), row(Vec3::Z));
        rows.suspension.load = Four::new([36.0, 1000.0, 500.0, 500.0]);
        rows.coupled.tyre = [Four::default(), Four::new([0.0, 300.0, 0.0, 0.0])];
        rows.lean(rows.leaning(&links), Default::default(), SpatialVector::default());
        assert!(rows.is_near_lift(&links, Four::splat(60.0)) && !rows.is_near_lift(&links, Four::splat(61.0)));
        rows.unload_beams(&links, SpatialVector::default());
        rows.jack(bank);
        // 32 bits of 1000 N s.
        for (lane, expected) in [0.0, 1060.0, 500.0, 500.0].into_iter().enumerate() {
            assert!((rows.pressing().at(lane) - expected).abs() < 1e-3, "{:?}", rows.pressing());
        }
        let body = rows.contact.side.linear.z * rows.coupled.tyre[1] + rows.suspension.load;
        assert!((body.sum() - rows.pressing().sum()).abs() < 1e-3, "{body:?}");
    }
}
