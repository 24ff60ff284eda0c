//! Constants of the cars of a block, one car per SIMD lane.

use std::sync::Arc;

use crate::model::Model;
use crate::model::body::BodyConstants;
use crate::model::car_constants::CarConstants;
use crate::model::own_numbers::{CarNumbers, OwnNumbers};
use crate::model::variable_numbers::{
    VisitNumber, equals_except_numbers, visit_aero, visit_bar, visit_parts, visit_powertrain, visit_tyre, visit_wheel,
};
use crate::model::wheel_pack::WheelPack;
use crate::model::wheel_pack::numbers::{PLACES_PER_WHEEL, for_each_wheel};
use skidpad_simd::lane::BlockLanes;

/// Constants of the cars of a block. All cars have the layout of one model, that of the fleet; their numbers may
/// differ.
#[derive(Clone, Debug)]
pub struct BlockModel<W: BlockLanes> {
    /// Model of the fleet.
    layout: Arc<Model>,
    /// Numbers of this model that may differ from car to car.
    fleet_numbers: Arc<CarNumbers>,
    /// Wheel constants of all cars: four packs per group of wheels, one per lane of the group, also for lanes without a
    /// wheel.
    pub(crate) packs: Box<[WheelPack<W>]>,
    /// Constants of the whole car.
    pub(crate) car: CarConstants<W>,
}

impl<W: BlockLanes> BlockModel<W> {
    /// Creates the constants of a block whose cars are all of `model`, the model of the fleet, which must meet all
    /// requirements of a block ([`crate::block::unmet_requirements`]).
    pub fn new(model: &Arc<Model>) -> Self {
        Self {
            layout: Arc::clone(model),
            fleet_numbers: Self::numbers_of(model).into(),
            packs: Self::packs_of(model),
            car: CarConstants::of(model),
        }
    }

    /// Returns the constants of the wheels of a block whose cars are all of `model`.
    fn packs_of(model: &Model) -> Box<[WheelPack<W>]> {
        // One pack for each lane of a group, with the same wheel in all lanes.
        let packs_of_group = |group: &WheelPack| [0, 1, 2, 3].map(|lane| group.broadcast_lane(lane));
        model.wheel_packs().iter().flat_map(packs_of_group).collect()
    }

    /// Returns the numbers of `model`.
    fn numbers_of(model: &Model) -> CarNumbers {
        let mut parts = Vec::new();
        visit_parts(&mut model.parts().clone(), &mut |number| parts.push(*number));
        let mut packs = Self::packs_of(model);
        let mut wheels = vec![0.0; PLACES_PER_WHEEL * packs.len()];
        for (place, numbers) in wheels.chunks_exact_mut(packs.len()).enumerate() {
            // 0: all cars are equal.
            for_each_wheel(&mut packs, place, numbers.iter_mut(), |lanes, number| *number = lanes.number(0));
        }
        CarNumbers { parts, wheels }
    }

    /// Returns the model of the fleet, which determines the layout.
    pub fn layout(&self) -> &Arc<Model> {
        &self.layout
    }

    /// Returns mass and inertia of the cars.
    pub fn body(&self) -> &BodyConstants<W> {
        &self.car.body
    }

    /// Returns the numbers of a block whose cars are all of the model of the fleet.
    pub fn equal_cars(&self) -> OwnNumbers<W> {
        OwnNumbers::new(self.packs.len(), CarConstants::of(&self.layout))
    }

    /// Sets the numbers of `car` in `own`, the numbers of a block of this fleet, to those of `model`. The numbers of
    /// other cars are unchanged.
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
        own.set_car(&self.fleet_numbers, car, &Self::numbers_of(model));
        own.car_constants.set_car(car, model);
        Ok(())
    }

    /// Sets the constants of the cars of a block to the numbers `own`. `changed_places` has the places of wheels that
    /// the last call set, and gets those of this call; it is empty at first. Does not allocate while its capacity is
    /// enough.
    pub(super) fn set_numbers(&mut self, own: &OwnNumbers<W>, changed_places: &mut Vec<u32>) {
        self.car.copy_from(&own.car_constants);
        let (places, columns) = own.wheels();
        if places != changed_places {
            let wheel_count = self.packs.len();
            for place in changed_places.iter().map(|place| *place as usize) {
                let numbers = &self.fleet_numbers.wheels[place * wheel_count..][..wheel_count];
                for_each_wheel(&mut self.packs, place, numbers.iter(), |lanes, number| *lanes = W::splat(*number));
            }
            changed_places.clear();
            changed_places.extend_from_slice(places);
        }
        for (place, column) in places.iter().zip(columns) {
            for_each_wheel(&mut self.packs, *place as usize, column.iter(), |lanes, numbers| *lanes = *numbers);
        }
    }

    /// Sets `model` to the model of `car` in a block with the numbers `own`: numbers of parts, and constants computed
    /// from them. `model` must have the layout of the fleet. Its wheel constants must be those of the fleet, except at
    /// `changed_places`: the places that the last call for this `model` set (empty for the model of the fleet). They
    /// are replaced by the places of this call. Does not allocate while the capacity of `changed_places` is enough.
    pub(super) fn write_car(&self, own: &OwnNumbers<W>, car: usize, model: &mut Model, changed_places: &mut Vec<u32>) {
        let mut parts = own.part_numbers(&self.fleet_numbers.parts, car);
        visit_parts(&mut model.parts, &mut |number| *number = parts.next_number());
        let BodyConstants { inverse_mass, inverse_inertia, .. } = &own.car_constants.body;
        model.inverse_mass = inverse_mass.number(car);
        model.inverse_inertia = inverse_inertia.map(|lanes| lanes.number(car)).to_mat3();
        let (places, columns) = own.wheels();
        if places != changed_places {
            for place in changed_places.iter().map(|place| *place as usize) {
                let numbers = &self.fleet_numbers.wheels[place * self.packs.len()..][..self.packs.len()];
                set_wheel_numbers(model, place, numbers.iter().copied());
            }
            changed_places.clear();
            changed_places.extend_from_slice(places);
        }
        for (place, column) in places.iter().zip(columns) {
            set_wheel_numbers(model, *place as usize, column.iter().map(|numbers| numbers.number(car)));
        }
        for group in &mut model.wheel_packs {
            group.complete_numbers(&model.parts);
        }
        for (carried_mass, index) in model.carried_masses.iter_mut().zip(&model.lane_indices) {
            *carried_mass = model.wheel_packs[index.group].carried_mass.lane_value(index.lane);
        }
    }
}

/// Sets the constants of the wheels of `model` at `place` to `numbers`, one for each wheel pack of a block.
fn set_wheel_numbers(model: &mut Model, place: usize, numbers: impl Iterator<Item = f32>) {
    let mut numbers = numbers;
    // Four wheels in each group.
    let group_numbers =
        core::iter::from_fn(|| Some([numbers.next()?, numbers.next()?, numbers.next()?, numbers.next()?]));
    for_each_wheel(&mut model.wheel_packs, place, group_numbers, |lanes, numbers| {
        for (lane, number) in numbers.into_iter().enumerate() {
            lanes.set(lane, number);
        }
    });
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
