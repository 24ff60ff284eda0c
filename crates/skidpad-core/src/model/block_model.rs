//! Constants of the cars of a block, one car per SIMD lane.

use std::sync::Arc;

use crate::aero::parameters::AeroCoefficients;
use crate::drivetrain::engine::Curve;
use crate::model::Model;
use crate::model::body::BodyConstants;
use crate::model::own_numbers::OwnNumbers;
use crate::model::parts::ModelParts;
use crate::model::variable_numbers::{
    VisitNumber, equals_except_numbers, visit_aero, visit_bar, visit_parts, visit_powertrain, visit_tyre, visit_wheel,
};
use crate::model::wheel_pack::WheelPack;
use crate::model::wheel_pack::numbers::PLACES_PER_WHEEL;
use skidpad_simd::lane::BlockLanes;

/// Number of places of the body, and of each wheel after it; air and engine follow. A power of two, so that a place is
/// found without a division.
const PLACES_PER_SECTION: usize = 128;
const _: () = assert!(PLACES_PER_WHEEL <= PLACES_PER_SECTION);

/// Number of places of the coefficients of the air.
const AERO_COUNT: usize = 4;

/// Constants of the cars of a block. All cars have the layout of one model, that of the fleet; their numbers may
/// differ.
#[derive(Clone, Debug)]
pub struct BlockModel<W: BlockLanes> {
    /// Model of the fleet.
    layout: Arc<Model>,
    /// Numbers of this model that may differ from car to car: those of its parts, and the constants of a block.
    fleet_numbers: Arc<[Vec<f32>; 2]>,
    /// Constants of each wheel, and of the empty places of its group.
    pub(crate) packs: Box<[WheelPack<W>]>,
    /// Mass and inertia.
    pub(crate) body: BodyConstants<W>,
    /// Coefficients of the air.
    pub(crate) aero: AeroCoefficients<W>,
    /// Full-load torque at each point of the engine's curve, N m; empty without an engine.
    pub(crate) torques: Box<[W]>,
    /// Largest of these torques, N m.
    pub(crate) peak_torque: W,
}

impl<W: BlockLanes> BlockModel<W> {
    /// Creates the constants of a block whose cars are all of `model`, the model of the fleet, which must meet all
    /// requirements of a block ([`crate::block::unmet_requirements`]).
    pub fn new(model: &Arc<Model>) -> Self {
        Self { fleet_numbers: Self::numbers_of(model).into(), ..Self::without_numbers(model) }
    }

    /// Creates the constants of a block whose cars are all of `model`, with empty `fleet_numbers`.
    fn without_numbers(model: &Arc<Model>) -> Self {
        // One pack for each lane of a group, with the same wheel in all lanes.
        let packs_of_group = |group: &WheelPack| [0, 1, 2, 3].map(|lane| group.broadcast_lane(lane));
        let curve = torque_curve(model.parts());
        Self {
            layout: Arc::clone(model),
            fleet_numbers: Arc::default(),
            packs: model.wheel_packs().iter().flat_map(packs_of_group).collect(),
            body: BodyConstants::of(model),
            aero: AeroCoefficients::of(&model.parts().aero),
            torques: curve.iter().flat_map(|curve| curve.points()).map(|point| W::splat(point[1])).collect(),
            peak_torque: W::splat(curve.map_or(0.0, Curve::max_value)),
        }
    }

    /// Returns the numbers of `model` that may differ from car to car: those of its parts in the order of visiting, and
    /// the constants of a block by place, 0 at places without a constant.
    fn numbers_of(model: &Arc<Model>) -> [Vec<f32>; 2] {
        let mut parts = Vec::new();
        visit_parts(&mut model.parts().clone(), &mut |number| parts.push(*number));
        let mut block = Self::without_numbers(model);
        let place_count = PLACES_PER_SECTION * (1 + block.packs.len()) + AERO_COUNT + block.torques.len() + 1;
        // All cars are equal.
        let constants =
            (0..place_count).map(|place| block.number_mut(place).map_or(0.0, |lanes| lanes.number(0))).collect();
        [parts, constants]
    }

    /// Returns [`BlockModel::numbers_of`] the model of the fleet.
    pub(super) fn fleet_numbers(&self) -> [&[f32]; 2] {
        self.fleet_numbers.each_ref().map(Vec::as_slice)
    }

    /// Returns the model of the fleet, which determines the layout.
    pub fn layout(&self) -> &Arc<Model> {
        &self.layout
    }

    /// Sets the numbers of `car` in `own`, the numbers of a block of this fleet, to those of `model`. The numbers of other
    /// cars are unchanged.
    ///
    /// # Errors
    /// Returns the parts of `model` that must equal those of the fleet's model, but differ. Nothing is changed then.
    pub fn set_own_model(
        &self,
        own: &mut OwnNumbers<W>,
        car: usize,
        model: &Arc<Model>,
    ) -> Result<(), Vec<&'static str>> {
        let differences = layout_differences(&self.layout, model);
        if !differences.is_empty() {
            return Err(differences);
        }
        let numbers = Self::numbers_of(model);
        own.set_car(self.fleet_numbers(), car, numbers.each_ref().map(Vec::as_slice));
        Ok(())
    }

    /// Returns mass and inertia of the cars.
    pub fn body(&self) -> &BodyConstants<W> {
        &self.body
    }

    /// Returns the constant at `place`; `None` for a place without one. Places are those of the body, then wheel by
    /// wheel, then of the air and the engine.
    #[inline(always)]
    fn number_mut(&mut self, place: usize) -> Option<&mut W> {
        let (section, place_in_section) = (place / PLACES_PER_SECTION, place % PLACES_PER_SECTION);
        let Some(wheel) = section.checked_sub(1) else { return self.body.number_mut(place) };
        let wheel_count = self.packs.len();
        if wheel < wheel_count {
            return self.packs[wheel].number_mut(place_in_section);
        }
        match place - PLACES_PER_SECTION * (1 + wheel_count) {
            0 => Some(&mut self.aero.drag),
            1 => Some(&mut self.aero.side),
            2 => Some(&mut self.aero.downforce[0]),
            3 => Some(&mut self.aero.downforce[1]),
            engine_place if engine_place - AERO_COUNT == self.torques.len() => Some(&mut self.peak_torque),
            engine_place => self.torques.get_mut(engine_place - AERO_COUNT),
        }
    }

    /// Sets the constants of the cars of a block to the numbers `own`. `changed_places` has the places that the last
    /// call set, and gets those of this call; it is empty at first. Does not allocate while its capacity is enough.
    pub(super) fn set_numbers(&mut self, own: &OwnNumbers<W>, changed_places: &mut Vec<u32>) {
        let (places, values) = own.constants();
        if places != changed_places {
            let fleet_numbers = Arc::clone(&self.fleet_numbers);
            for place in changed_places.iter().map(|place| *place as usize) {
                if let Some(lanes) = self.number_mut(place) {
                    *lanes = W::splat(fleet_numbers[1][place]);
                }
            }
            changed_places.clear();
            changed_places.extend_from_slice(places);
        }
        for (place, value) in places.iter().zip(values) {
            if let Some(lanes) = self.number_mut(*place as usize) {
                *lanes = *value;
            }
        }
        for pack in &mut self.packs {
            (pack.inverse_mass, pack.inverse_inertia) = (self.body.inverse_mass, self.body.inverse_inertia);
        }
    }

    /// Replaces all numbers of `model` that may differ from car to car, and everything that is computed from them, by
    /// those of `car` of a block with the numbers `own`. `model` has the layout of the fleet, and its numbers but for
    /// those at `changed_places`, which the last call set. Does not allocate while the capacity of `changed_places` is
    /// enough.
    pub(super) fn write_car(&self, own: &OwnNumbers<W>, car: usize, model: &mut Model, changed_places: &mut Vec<u32>) {
        let [fleet_parts, _] = self.fleet_numbers();
        let mut parts = own.part_numbers(fleet_parts, car);
        visit_parts(&mut model.parts, &mut |number| *number = parts.next_number());
        let (places, values) = own.constants();
        if places != changed_places {
            for place in changed_places.iter().map(|place| *place as usize) {
                set_model_number(model, place, self.fleet_numbers[1][place]);
            }
            changed_places.clear();
            changed_places.extend_from_slice(places);
        }
        for (place, value) in places.iter().zip(values) {
            set_model_number(model, *place as usize, value.number(car));
        }
        for group in &mut model.wheel_packs {
            group.complete_numbers(model.inverse_mass, &model.inverse_inertia, &model.parts);
        }
        for (carried_mass, index) in model.carried_masses.iter_mut().zip(&model.lane_indices) {
            *carried_mass = model.wheel_packs[index.group].carried_mass.lane_value(index.lane);
        }
    }
}

/// Sets the constant of `model` at `place`, see `BlockModel::number_mut`. Does nothing for constants that `model` only
/// has in its parts.
fn set_model_number(model: &mut Model, place: usize, number: f32) {
    let (section, place_in_section) = (place / PLACES_PER_SECTION, place % PLACES_PER_SECTION);
    if let Some(wheel) = section.checked_sub(1) {
        // Four wheels in each group.
        if let Some(group) = model.wheel_packs.get_mut(wheel / 4) {
            group.set_number(wheel % 4, place_in_section, number);
        }
    } else if place == BodyConstants::<f32>::INVERSE_MASS_PLACE {
        model.inverse_mass = number;
    } else if let Some(index) = place.checked_sub(BodyConstants::<f32>::INVERSE_INERTIA_PLACE) {
        model.inverse_inertia.col_mut(index / 3)[index % 3] = number;
    }
}

/// Returns the torque curve of the engine; `None` without an engine.
fn torque_curve(parts: &ModelParts) -> Option<&Curve> {
    parts.powertrain.engine().map(|drive| &drive.engine.torque)
}

/// Returns the names of the parts in which `model` differs from `base` beyond the numbers that may differ from car to
/// car; see [`crate::model::variable_numbers`].
fn layout_differences(base: &Model, model: &Model) -> Vec<&'static str> {
    let (base, parts) = (base.parts(), model.parts());
    /// Returns true if both lists have as many entries, which differ in their variable numbers only.
    fn have_same_layout<P: Clone + PartialEq>(
        base: &[P],
        parts: &[P],
        visit_part: fn(&mut P, VisitNumber<'_>),
    ) -> bool {
        base.len() == parts.len()
            && base.iter().zip(parts).all(|(base, part)| equals_except_numbers(base, part, visit_part))
    }
    [
        (
            have_same_layout(&base.wheels, &parts.wheels, visit_wheel),
            "wheels (position, tyre, toe, camber, presence of discs, knees, progressive rates and unsprung masses)",
        ),
        (base.axles == parts.axles, "axles"),
        (
            have_same_layout(&base.tyres, &parts.tyres, visit_tyre),
            "tyres (law, or constants of a law other than curves and TMeasy)",
        ),
        (have_same_layout(&base.bars, &parts.bars, visit_bar), "anti-roll bars (wheels, force path, speed range)"),
        (base.heave_springs == parts.heave_springs, "heave springs"),
        (base.steering == parts.steering, "limits of the steering"),
        (
            equals_except_numbers(&base.powertrain, &parts.powertrain, visit_powertrain),
            "powertrain (all but the torques of the engine's curve)",
        ),
        (base.motors == parts.motors, "motors"),
        (base.couplings == parts.couplings, "couplings"),
        (
            equals_except_numbers(&base.aero, &parts.aero, visit_aero),
            "aerodynamics (points, maps, presence of a coefficient)",
        ),
        (base.hull == parts.hull && base.centre_height == parts.centre_height, "hull or height of the centre of mass"),
        (base.raycast_reference == parts.raycast_reference, "parameters of other engines"),
        (base.assists == parts.assists, "assists"),
        (base.external_forces == parts.external_forces, "force elements of the user"),
        (base.hitch == parts.hitch && base.coupler == parts.coupler, "hitch"),
    ]
    .into_iter()
    .filter_map(|(is_same, name)| (!is_same).then_some(name))
    .collect()
}
