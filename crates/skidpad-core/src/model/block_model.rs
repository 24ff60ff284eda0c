//! Constants of the cars of a block, one car per SIMD lane.

use std::sync::Arc;

use crate::aero::parameters::AeroCoefficients;
use crate::drivetrain::engine::Curve;
use crate::model::Model;
use crate::model::body::BodyConstants;
use crate::model::own_numbers::OwnNumbers;
use crate::model::parts::ModelParts;
use crate::model::variable_numbers::{
    differs_in_numbers_only, visit_aero, visit_bar, visit_parts, visit_powertrain, visit_tyre, visit_wheel,
};
use crate::model::wheel_pack::WheelPack;
use skidpad_simd::lane::BlockLanes;
use skidpad_simd::vectors::Mat3Lanes;

/// Constants of the cars of a block. All cars have the layout of one model, that of the fleet; their numbers may differ.
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
    /// Creates the constants of a block whose cars are all of `model`, the model of the fleet.
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

    /// Returns the numbers of `model` that may differ from car to car, in the order of visiting: those of its parts, and
    /// the constants of a block.
    pub(super) fn numbers_of(model: &Arc<Model>) -> [Vec<f32>; 2] {
        let (mut parts, mut constants) = (Vec::new(), Vec::new());
        visit_parts(&mut model.parts().clone(), &mut |number| parts.push(*number));
        // All cars are equal.
        Self::without_numbers(model).visit_numbers(&mut |lanes| constants.push(lanes.number(0)));
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

    /// Returns mass and inertia of the cars.
    pub fn body(&self) -> &BodyConstants<W> {
        &self.body
    }

    /// Calls `visit` with each constant that may differ from car to car, always in the same order: body, wheel by wheel,
    /// air, engine.
    fn visit_numbers(&mut self, visit: &mut impl FnMut(&mut W)) {
        let BodyConstants { mass, inverse_mass, inertia, inverse_inertia } = &mut self.body;
        visit(mass);
        visit(inverse_mass);
        for matrix in [inertia, inverse_inertia] {
            matrix.visit_numbers(visit);
        }
        self.packs.iter_mut().for_each(|pack| pack.visit_numbers(visit));
        let AeroCoefficients { drag, side, downforce: [front, rear] } = &mut self.aero;
        [drag, side, front, rear].into_iter().chain(&mut self.torques).chain([&mut self.peak_torque]).for_each(visit);
    }

    /// Sets the constants of the cars of a block to the numbers `own`. `previous_places` has the places that the last
    /// call set, and gets those of this call. Without a call, no place is set. Does not allocate while the capacity of
    /// `previous_places` is enough.
    pub(super) fn set_numbers(&mut self, own: &OwnNumbers<W>, previous_places: &mut Vec<u16>) {
        let (places, values) = own.constants();
        if places != previous_places {
            let fleet_numbers = Arc::clone(&self.fleet_numbers);
            let mut numbers = fleet_numbers[1].iter();
            self.visit_numbers(&mut |lanes| *lanes = numbers.next().map_or(*lanes, |number| W::splat(*number)));
            previous_places.clear();
            previous_places.extend_from_slice(places);
        }
        let (mut remaining, mut place) = (places.iter().zip(values).peekable(), 0);
        self.visit_numbers(&mut |lanes| {
            if let Some((_, value)) = remaining.next_if(|(own_place, _)| **own_place == place) {
                *lanes = *value;
            }
            place += 1;
        });
        for pack in &mut self.packs {
            (pack.inverse_mass, pack.inverse_inertia) = (self.body.inverse_mass, self.body.inverse_inertia);
        }
    }

    /// Replaces all numbers of `model` that may differ from car to car, and everything that is computed from them, by
    /// those of `car` of a block with the numbers `own`. `model` has the layout of the fleet. Allocates nothing.
    pub(super) fn write_car(&self, own: &OwnNumbers<W>, car: usize, model: &mut Model) {
        let [mut parts, mut constants] = own.numbers(self, car);
        visit_parts(&mut model.parts, &mut |number| *number = parts.next_number());
        let mut next_number = || constants.next_number();
        // The mass is that of the parts.
        next_number();
        model.inverse_mass = next_number();
        let [_inertia, inverse_inertia] = [(); 2].map(|()| {
            let mut matrix = Mat3Lanes::default();
            matrix.visit_numbers(&mut |number| *number = next_number());
            matrix
        });
        model.inverse_inertia = inverse_inertia.to_mat3();
        for group in &mut model.wheel_packs {
            group.set_numbers(model.inverse_mass, &inverse_inertia, &model.parts, &mut next_number);
        }
        for (carried_mass, index) in model.carried_masses.iter_mut().zip(&model.lane_indices) {
            *carried_mass = model.wheel_packs[index.group].carried_mass.lane_value(index.lane);
        }
    }
}

/// Returns the torque curve of the engine; `None` without an engine.
fn torque_curve(parts: &ModelParts) -> Option<&Curve> {
    parts.powertrain.engine().map(|drive| &drive.engine.torque)
}

/// Returns the names of the parts in which `model` differs from `base` beyond the numbers that may differ from car to
/// car; see [`crate::model::variable_numbers`].
pub(super) fn layout_differences(base: &Model, model: &Model) -> Vec<&'static str> {
    let (base, parts) = (base.parts(), model.parts());
    /// Returns true if both lists have as many entries, which differ in their variable numbers only.
    fn have_same_layout<P: Clone + PartialEq>(
        base: &[P],
        parts: &[P],
        visit_part: fn(&mut P, &mut dyn FnMut(&mut f32)),
    ) -> bool {
        base.len() == parts.len()
            && base.iter().zip(parts).all(|(base, part)| differs_in_numbers_only(base, part, visit_part))
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
            differs_in_numbers_only(&base.powertrain, &parts.powertrain, visit_powertrain),
            "powertrain (all but the torques of the engine's curve)",
        ),
        (base.motors == parts.motors, "motors"),
        (base.couplings == parts.couplings, "couplings"),
        (
            differs_in_numbers_only(&base.aero, &parts.aero, visit_aero),
            "aerodynamics (points, maps, presence of a coefficient)",
        ),
        (base.hull == parts.hull && base.centre_height == parts.centre_height, "hull or height of the centre of mass"),
        (base.assists == parts.assists, "assists"),
        (base.external_forces == parts.external_forces, "force elements of the user"),
        (base.hitch == parts.hitch && base.coupler == parts.coupler, "hitch"),
    ]
    .into_iter()
    .filter_map(|(is_same, name)| (!is_same).then_some(name))
    .collect()
}
