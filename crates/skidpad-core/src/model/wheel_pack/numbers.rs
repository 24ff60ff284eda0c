//! Constants of a group of wheels one by one: of one wheel of each car of a batch or block, and of a car with numbers
//! of its own.

use crate::model::law_groups::LawTyres;
use crate::model::parts::ModelParts;
use crate::model::wheel_pack::{Beam, WheelPack};
use crate::wheel::disc::BrakeDiscLanes;
use crate::wheel::parameters::RollingCoefficientLanes;
use skidpad_simd::lane::{BlockLanes, F32x4, WheelLanes};
use skidpad_tyre::tmeasy::TMeasyConstants;

/// First place of the constants of a brake disc.
const FIRST_DISC_PLACE: usize = 28;

/// First place of the constants of a tyre with a simple curve.
const FIRST_CURVE_PLACE: usize = FIRST_DISC_PLACE + BrakeDiscLanes::<F32x4>::NUMBER_COUNT;

/// Number of constants of a tyre with a simple curve.
const CURVE_PLACES: usize = 21;

/// First place of the constants of a TMeasy tyre.
const FIRST_TMEASY_PLACE: usize = FIRST_CURVE_PLACE + CURVE_PLACES;

/// Number of places of the constants of a wheel that may differ between cars of one layout.
pub(crate) const PLACES_PER_WHEEL: usize = FIRST_TMEASY_PLACE + TMeasyConstants::<F32x4>::NUMBER_COUNT;

/// Calls `visit` for each of `packs` that has a constant at `place`, with this constant and the entry of the pack in
/// `entries`, which has one for each pack. Places are below [`PLACES_PER_WHEEL`]. Mass and inertia of the car have no
/// place.
#[inline(always)]
pub(crate) fn for_each_wheel<A: WheelLanes, E>(
    packs: &mut [WheelPack<A>],
    place: usize,
    entries: impl Iterator<Item = E>,
    visit: impl FnMut(&mut A, E),
) {
    let packs = packs.iter_mut().zip(entries);
    // Index of the place within its part.
    let disc = place.wrapping_sub(FIRST_DISC_PLACE);
    let curve = place.wrapping_sub(FIRST_CURVE_PLACE);
    // The place is matched once for all packs.
    match place {
        0 => visit_packs(packs, visit, |pack| Some(&mut pack.carried_mass)),
        1 => visit_packs(packs, visit, |pack| Some(&mut pack.droop_travel)),
        2 => visit_packs(packs, visit, |pack| Some(&mut pack.radius)),
        3 => visit_packs(packs, visit, |pack| Some(&mut pack.spin_inertia)),
        4 => visit_packs(packs, visit, |pack| Some(&mut pack.brake_torque)),
        5 => visit_packs(packs, visit, |pack| Some(&mut pack.handbrake_torque)),
        6 => visit_packs(packs, visit, |pack| Some(&mut pack.unsprung_mass)),
        7 => visit_packs(packs, visit, |pack| Some(&mut pack.tyre_rate)),
        8 => visit_packs(packs, visit, |pack| Some(&mut pack.tyre_damping)),
        9 => visit_packs(packs, visit, |pack| Some(&mut pack.wheel_rate)),
        10 => visit_packs(packs, visit, |pack| Some(&mut pack.bump_damping)),
        11 => visit_packs(packs, visit, |pack| Some(&mut pack.rebound_damping)),
        12 => visit_packs(packs, visit, |pack| Some(&mut pack.bump_travel)),
        13 => visit_packs(packs, visit, |pack| Some(&mut pack.stop_rate)),
        14 => visit_packs(packs, visit, |pack| Some(&mut pack.bar_rate)),
        15 => visit_packs(packs, visit, |pack| Some(&mut pack.solid_travel)),
        16 | 17 => visit_packs(packs, visit, |pack| Some(&mut pack.walking[place - 16])),
        18..=20 => visit_packs(packs, visit, |pack| Some(&mut pack.rolling.by_speed[place - 18])),
        21 | 22 => visit_packs(packs, visit, |pack| Some(&mut pack.rolling.static_excess[place - 21])),
        23 => visit_packs(packs, visit, |pack| pack.progressive_rate.as_mut()),
        24 | 25 => visit_packs(packs, visit, |pack| Some(&mut pack.knees.as_mut()?[0][place - 24])),
        26 | 27 => visit_packs(packs, visit, |pack| Some(&mut pack.knees.as_mut()?[1][place - 26])),
        FIRST_DISC_PLACE..FIRST_CURVE_PLACE => visit_packs(packs, visit, |pack| pack.discs.as_mut()?.number_mut(disc)),
        FIRST_CURVE_PLACE..FIRST_TMEASY_PLACE => match curve {
            0 | 1 => visit_packs(packs, visit, |pack| Some(&mut pack.tyre.friction[curve])),
            2 | 3 => visit_packs(packs, visit, |pack| Some(&mut pack.tyre.carcass_compliance[curve - 2])),
            4 | 5 => visit_packs(packs, visit, |pack| Some(&mut pack.tyre.constant_stiffness[curve - 4])),
            6 | 7 => visit_packs(packs, visit, |pack| Some(&mut pack.tyre.stiffness_per_load[curve - 6])),
            8 | 9 => visit_packs(packs, visit, |pack| Some(&mut pack.tyre.stiffness_per_limit[curve - 8])),
            10 | 11 => visit_packs(packs, visit, |pack| Some(&mut pack.tyre.per_slip[curve - 10])),
            12 | 13 => visit_packs(packs, visit, |pack| Some(&mut pack.tyre.fall_rate[curve - 12])),
            14 | 15 => visit_packs(packs, visit, |pack| Some(&mut pack.tyre.sliding_loss[curve - 14])),
            16 => visit_packs(packs, visit, |pack| Some(&mut pack.tyre.load_sensitivity)),
            17 => visit_packs(packs, visit, |pack| Some(&mut pack.tyre.peak_friction_load)),
            18 => visit_packs(packs, visit, |pack| Some(&mut pack.tyre.nominal_load)),
            19 => visit_packs(packs, visit, |pack| Some(&mut pack.tyre.per_nominal_load)),
            20 => visit_packs(packs, visit, |pack| Some(&mut pack.tyre.min_length)),
            CURVE_PLACES.. => {}
        },
        _ => visit_packs(packs, visit, |pack| pack.tmeasy_tyres()?.number_mut(place - FIRST_TMEASY_PLACE)),
    }
}

/// Calls `visit` with the constant that `number` selects of each pack, and with the entry beside it. Leaves out packs
/// without this constant.
#[inline(always)]
fn visit_packs<'a, A: WheelLanes + 'a, E>(
    packs: impl Iterator<Item = (&'a mut WheelPack<A>, E)>,
    mut visit: impl FnMut(&mut A, E),
    number: impl Fn(&mut WheelPack<A>) -> Option<&mut A>,
) {
    for (pack, entry) in packs {
        if let Some(lanes) = number(pack) {
            visit(lanes, entry);
        }
    }
}

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

    /// Returns the constants of TMeasy tyres; `None` if no wheel has one.
    fn tmeasy_tyres(&mut self) -> Option<&mut TMeasyConstants<A>> {
        self.laws.iter_mut().find_map(|law| match &mut law.tyres {
            LawTyres::TMeasy(tyres) => Some(tyres),
            LawTyres::Single(_) => None,
        })
    }
}

impl WheelPack {
    /// Updates what follows from the constants of the wheels and from `parts`: the beams, and the placeholders in lanes
    /// without a TMeasy tyre, which are the constants of the first lane with one.
    pub(crate) fn complete_numbers(&mut self, parts: &ModelParts) {
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
