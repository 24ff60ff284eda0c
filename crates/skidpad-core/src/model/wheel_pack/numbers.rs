//! Constants of a group of wheels one by one: of one wheel of each car of a batch or block, and of a car with numbers
//! of its own.

use crate::model::law_groups::LawTyres;
use crate::model::parts::ModelParts;
use crate::model::wheel_pack::{Beam, WheelPack};
use crate::wheel::disc::BrakeDiscLanes;
use crate::wheel::parameters::RollingCoefficientLanes;
use bevy_math::Mat3;
use skidpad_simd::lane::{BlockLanes, F32x4, Lane, WheelLanes};
use skidpad_simd::vectors::Mat3Lanes;
use skidpad_tyre::curve::CurveConstants;
use skidpad_tyre::tmeasy::TMeasyConstants;

/// First place of the constants of a brake disc.
const FIRST_DISC_PLACE: usize = 28;

/// First place of the constants of a tyre with a simple curve.
const FIRST_CURVE_PLACE: usize = FIRST_DISC_PLACE + BrakeDiscLanes::<F32x4>::NUMBER_COUNT;

/// First place of the constants of a TMeasy tyre.
const FIRST_TMEASY_PLACE: usize = FIRST_CURVE_PLACE + CurveConstants::<F32x4>::NUMBER_COUNT;

/// Number of places of the constants of a wheel.
pub(crate) const PLACES_PER_WHEEL: usize = FIRST_TMEASY_PLACE + TMeasyConstants::<F32x4>::NUMBER_COUNT;

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

    /// Returns the constant at `place`, below [`PLACES_PER_WHEEL`], of those that may differ between cars of one
    /// layout; `None` if the wheels have no such constant. Mass and inertia of the car have no place.
    #[inline(always)]
    pub(crate) fn number_mut(&mut self, place: usize) -> Option<&mut A> {
        Some(match place {
            0 => &mut self.carried_mass,
            1 => &mut self.droop_travel,
            2 => &mut self.radius,
            3 => &mut self.spin_inertia,
            4 => &mut self.brake_torque,
            5 => &mut self.handbrake_torque,
            6 => &mut self.unsprung_mass,
            7 => &mut self.tyre_rate,
            8 => &mut self.tyre_damping,
            9 => &mut self.wheel_rate,
            10 => &mut self.bump_damping,
            11 => &mut self.rebound_damping,
            12 => &mut self.bump_travel,
            13 => &mut self.stop_rate,
            14 => &mut self.bar_rate,
            15 => &mut self.solid_travel,
            16 | 17 => &mut self.walking[place - 16],
            18..=20 => &mut self.rolling.by_speed[place - 18],
            21 | 22 => &mut self.rolling.static_excess[place - 21],
            23 => self.progressive_rate.as_mut()?,
            24 | 25 => &mut self.knees.as_mut()?[0][place - 24],
            26 | 27 => &mut self.knees.as_mut()?[1][place - 26],
            FIRST_DISC_PLACE..FIRST_CURVE_PLACE => self.discs.as_mut()?.number_mut(place - FIRST_DISC_PLACE)?,
            FIRST_CURVE_PLACE..FIRST_TMEASY_PLACE => self.tyre.number_mut(place - FIRST_CURVE_PLACE)?,
            _ => self.tmeasy_tyres()?.number_mut(place - FIRST_TMEASY_PLACE)?,
        })
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
    /// Sets the constant of `lane` at `place`, see [`WheelPack::number_mut`].
    pub(crate) fn set_number(&mut self, lane: usize, place: usize, number: f32) {
        if let Some(lanes) = self.number_mut(place) {
            lanes.set(lane, number);
        }
    }

    /// Sets mass and inertia of the car, and updates what follows from the constants of the wheels and from `parts`:
    /// the beams, and the placeholders in lanes without a TMeasy tyre, which are the constants of the first lane with
    /// one.
    pub(crate) fn complete_numbers(&mut self, inverse_mass: f32, inverse_inertia: &Mat3, parts: &ModelParts) {
        self.inverse_mass = F32x4::splat(inverse_mass);
        self.inverse_inertia = Mat3Lanes::from_mat3(inverse_inertia).map(F32x4::splat);
        if let Some(beam) = &mut self.beam {
            beam.sway = Beam::sway(parts, self.wheels, beam.tilt_per_travel);
        }
        let law = self.laws.iter().find(|law| matches!(law.tyres, LawTyres::TMeasy(_)));
        let has_tmeasy = law.map_or([0.0; 4], |law| law.has_law.lanes());
        let (Some(first), Some(tyres)) = (has_tmeasy.iter().position(|share| *share != 0.0), self.tmeasy_tyres())
        else {
            return;
        };
        for index in 0..TMeasyConstants::<F32x4>::NUMBER_COUNT {
            let Some(lanes) = tyres.number_mut(index) else { continue };
            for lane in (0..4).filter(|lane| has_tmeasy[*lane] == 0.0) {
                lanes.set(lane, lanes.lane_value(first));
            }
        }
    }
}
