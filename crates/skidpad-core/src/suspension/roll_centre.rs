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

use crate::lane::{Four, Lane};
use crate::linear::SpatialVector;
use crate::step::rows::{Rows, Surroundings};
use crate::step::vehicle::Vehicle;
use crate::suspension::rows::{Scrub, UnsprungMotion};
use crate::vectors::Vec3Lanes;
use crate::wheel::pack::{RollCentreLinks, WheelPack};
use bevy_math::Vec3;

impl Vehicle {
    /// Turns the rows of the tyres of wheels without mass to where links let them move, at the chassis velocity `moving`.
    #[cold]
    #[inline(never)]
    pub(crate) fn lean_on_links(&mut self, moving: SpatialVector<f32>) {
        for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
            if let Some(links) = &bank.roll_centre_links {
                rows.lean_on_links(links, moving.at_each_wheel());
            }
        }
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
        let given = self.contact.normal * links.slope;
        given * links.alone + given.and_opposite() * links.half
    }

    fn lean_on_links(&mut self, links: &RollCentreLinks, moving: SpatialVector<Four>) {
        let leaning = self.leaning(links);
        let [along, across] = self.leftwards();
        let contact = &mut self.contact;
        contact.forward = contact.forward - leaning * along;
        contact.side = contact.side - leaning * across;
        if contact.ground_motion.moves_or_textured {
            let rising = links.sideways(contact.ground_motion.speed[2]);
            contact.ground_motion.speed[0] = contact.ground_motion.speed[0] - rising * along;
            contact.ground_motion.speed[1] = contact.ground_motion.speed[1] - rising * across;
        }
        contact.started = contact.forward.dot(moving) - contact.ground_motion.speed[0];
    }

    /// Takes over what links take of the loads. Where a side force is still that of a load which has gone, none.
    pub(crate) fn jack(&mut self, bank: &WheelPack) {
        let Some(links) = &bank.roll_centre_links else { return };
        if self.has_unsprung {
            return;
        }
        let (jacked, load) = (links.lift(self.aside()), self.suspension.load);
        let share = (jacked / load).only(Four::default().less(load) & !load.less(jacked.abs()));
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
}
