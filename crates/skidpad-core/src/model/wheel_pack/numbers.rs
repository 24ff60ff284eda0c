//! Constants of a group of wheels one by one: of one wheel of each car of a batch or block, and of a car with numbers of
//! its own.

use crate::model::law_groups::LawTyres;
use crate::model::parts::ModelParts;
use crate::model::wheel_pack::{Beam, WheelPack};
use crate::wheel::parameters::RollingCoefficientLanes;
use skidpad_simd::lane::{BlockLanes, F32x4, Lane, WheelLanes};
use skidpad_simd::vectors::Mat3Lanes;
use skidpad_tyre::tmeasy::TMeasyConstants;

impl WheelPack {
    /// Builds the constants of the wheel in `lane`, repeated in every lane for a batch of cars of one model. Only the
    /// tyre model of that wheel is kept; without a law, the wheel has a simple curve. Beams, roll centre links and
    /// lateral compliance are left out (`None`). Wheel indices stay those of the group.
    pub(crate) fn broadcast_lane<W: BlockLanes>(&self, lane: usize) -> WheelPack<W> {
        let mut pack = self.map(|lanes| W::splat(lanes.lane_value(lane)));
        pack.has_curves = !self.laws.iter().any(|law| law.has_lane(lane));
        let mut has_lane = self.laws.iter().map(|law| law.has_lane(lane));
        pack.laws = pack.laws.iter().filter(|_| has_lane.next() == Some(true)).copied().collect();
        pack
    }
}

impl<A: WheelLanes> WheelPack<A> {
    /// Applies `convert` to each constant. Indices and flags stay. Beams, roll centre links and lateral compliance are
    /// left out (`None`).
    fn map<B: WheelLanes>(&self, convert: impl Fn(A) -> B) -> WheelPack<B> {
        let convert = &convert;
        WheelPack {
            wheels: self.wheels,
            first_wheel: self.first_wheel,
            present: convert(self.present),
            inverse_mass: convert(self.inverse_mass),
            inverse_inertia: self.inverse_inertia.map(convert),
            contact: self.contact.map(convert),
            radius: convert(self.radius),
            spin_inertia: convert(self.spin_inertia),
            brake_torque: convert(self.brake_torque),
            handbrake_torque: convert(self.handbrake_torque),
            discs: self.discs.map(|discs| discs.map(convert)),
            rolling: RollingCoefficientLanes {
                by_speed: self.rolling.by_speed.map(convert),
                static_excess: self.rolling.static_excess.map(convert),
            },
            walking: self.walking.map(convert),
            carried_mass: convert(self.carried_mass),
            unsprung_mass: convert(self.unsprung_mass),
            tyre_rate: convert(self.tyre_rate),
            tyre_damping: convert(self.tyre_damping),
            wheel_rate: convert(self.wheel_rate),
            progressive_rate: self.progressive_rate.map(convert),
            bump_damping: convert(self.bump_damping),
            rebound_damping: convert(self.rebound_damping),
            knees: self.knees.map(|knees| knees.map(|knee| knee.map(convert))),
            bump_travel: convert(self.bump_travel),
            droop_travel: convert(self.droop_travel),
            stop_rate: convert(self.stop_rate),
            bar_rate: convert(self.bar_rate),
            solid_travel: convert(self.solid_travel),
            tyre: self.tyre.map(convert),
            has_curves: self.has_curves,
            laws: self.laws.iter().map(|law| law.map(convert)).collect(),
            mirror_sign: convert(self.mirror_sign),
            has_rims: self.has_rims,
            force_point: self.force_point.map(convert),
            beam: None,
            roll_centre_links: None,
            lateral: None,
            direct_torque: convert(self.direct_torque),
            shaft_jacobian: self.shaft_jacobian.iter().map(|ratio| convert(*ratio)).collect(),
        }
    }

    /// Calls `visit` with each constant that may differ between cars of one layout, always in the same order: first
    /// those of [`WheelPack::visit_common_numbers`], then those of TMeasy tyres. Mass and inertia of the car are left
    /// out.
    pub(crate) fn visit_numbers(&mut self, visit: &mut impl FnMut(&mut A)) {
        self.visit_common_numbers(visit);
        if let Some(tyres) = self.tmeasy_tyres() {
            tyres.visit_numbers(visit);
        }
    }

    /// Calls `visit` with each constant that may differ between cars of one layout and that every wheel has: wheel,
    /// brake, rolling resistance, loads, strut, and simple curve (a placeholder for other tyre laws).
    fn visit_common_numbers(&mut self, visit: &mut impl FnMut(&mut A)) {
        let RollingCoefficientLanes { by_speed, static_excess } = &mut self.rolling;
        self.tyre.visit_numbers(visit);
        by_speed.iter_mut().chain(static_excess).chain(&mut self.walking).for_each(&mut *visit);
        if let Some(discs) = &mut self.discs {
            discs.visit_numbers(visit);
        }
        self.knees.iter_mut().flatten().flatten().chain(&mut self.progressive_rate).for_each(&mut *visit);
        let numbers = [
            &mut self.carried_mass,
            &mut self.droop_travel,
            &mut self.radius,
            &mut self.spin_inertia,
            &mut self.brake_torque,
            &mut self.handbrake_torque,
            &mut self.unsprung_mass,
            &mut self.tyre_rate,
            &mut self.tyre_damping,
            &mut self.wheel_rate,
            &mut self.bump_damping,
            &mut self.rebound_damping,
            &mut self.bump_travel,
            &mut self.stop_rate,
            &mut self.bar_rate,
            &mut self.solid_travel,
        ];
        numbers.into_iter().for_each(visit);
    }

    /// Returns the constants of TMeasy tyres; `None` if no wheel has one.
    fn tmeasy_tyres(&mut self) -> Option<&mut TMeasyConstants<A>> {
        self.laws.iter_mut().find_map(|law| match &mut law.tyres {
            LawTyres::TMeasy(tyres) => Some(tyres),
            LawTyres::Single(_) => None,
        })
    }
}

impl WheelPack {
    /// Replaces all constants that may differ between cars of one layout: mass and inertia of the car by the arguments,
    /// those of the wheels by `next_number`, lane by lane in the order of [`WheelPack::visit_numbers`], and what follows
    /// from `parts` by their values. `next_number` gives numbers of TMeasy tyres only for lanes that have one; the
    /// others get those of the first such lane.
    pub(crate) fn set_numbers(
        &mut self,
        inverse_mass: f32,
        inverse_inertia: &Mat3Lanes<f32>,
        parts: &ModelParts,
        next_number: &mut impl FnMut() -> f32,
    ) {
        (self.inverse_mass, self.inverse_inertia) = (F32x4::splat(inverse_mass), inverse_inertia.map(F32x4::splat));
        let has_tmeasy = self.laws.iter().find(|law| matches!(law.tyres, LawTyres::TMeasy(_))).map(|law| law.has_law);
        // First lane with a TMeasy tyre whose numbers have been set.
        let mut first_lane = None;
        for lane in 0..4 {
            self.visit_common_numbers(&mut |lanes| lanes.set(lane, next_number()));
            if has_tmeasy.is_some_and(|has_tmeasy| has_tmeasy.lane_value(lane) != 0.0)
                && let Some(tyres) = self.tmeasy_tyres()
            {
                tyres.visit_numbers(&mut |lanes| lanes.set(lane, next_number()));
                first_lane.get_or_insert(lane);
            }
        }
        if let (Some(has_tmeasy), Some(first_lane)) = (has_tmeasy, first_lane)
            && let Some(tyres) = self.tmeasy_tyres()
        {
            for lane in (0..4).filter(|lane| has_tmeasy.lane_value(*lane) == 0.0) {
                tyres.visit_numbers(&mut |lanes| lanes.set(lane, lanes.lane_value(first_lane)));
            }
        }
        if let Some(beam) = &mut self.beam {
            beam.sway = Beam::sway(parts, self.wheels, beam.tilt_per_travel);
        }
    }
}
