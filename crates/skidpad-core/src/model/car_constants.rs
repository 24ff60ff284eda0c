//! Constants of the cars of a block that belong to the whole car.

use crate::aero::parameters::AeroCoefficients;
use crate::drivetrain::engine::Curve;
use crate::model::Model;
use crate::model::body::BodyConstants;
use skidpad_simd::lane::BlockLanes;

/// Constants of the cars of a block that belong to the whole car: those of body, air and engine.
#[derive(Clone, Debug, Default)]
pub(crate) struct CarConstants<W> {
    /// Mass and inertia.
    pub body: BodyConstants<W>,
    /// Aerodynamic coefficients.
    pub aero: AeroCoefficients<W>,
    /// Full-load torque at each point of the engine's curve, N m; empty without an engine.
    pub torques: Box<[W]>,
    /// Largest of these torques, N m; 0 without an engine.
    pub peak_torque: W,
}

impl<W: BlockLanes> CarConstants<W> {
    /// Returns the constants of a block whose cars are all of `model`.
    pub fn of(model: &Model) -> Self {
        let curve = model.parts().powertrain.engine().map(|drive| &drive.engine.torque);
        Self {
            body: BodyConstants::of(model),
            aero: AeroCoefficients::of(&model.parts().aero),
            torques: curve.iter().flat_map(|curve| curve.points()).map(|point| W::splat(point[1])).collect(),
            peak_torque: W::splat(curve.map_or(0.0, Curve::max_value)),
        }
    }

    /// Sets the constants of `car` to those of `model`, which must have the same number of torques.
    pub fn set_car(&mut self, car: usize, model: &Model) {
        let mut constants = Self::of(model);
        for (lanes, number) in self.numbers_mut().zip(constants.numbers_mut()) {
            *lanes = lanes.with_number(car, number.number(0)); // 0: all cars of `constants` are equal.
        }
    }

    /// Sets all constants to those of `source`, which must have the same number of torques. Does not allocate.
    #[inline(always)]
    pub fn copy_from(&mut self, source: &Self) {
        (self.body, self.aero, self.peak_torque) = (source.body, source.aero, source.peak_torque);
        for (torque, source) in self.torques.iter_mut().zip(&source.torques) {
            *torque = *source;
        }
    }

    /// Returns all numbers, always in the same order.
    fn numbers_mut(&mut self) -> impl Iterator<Item = &mut W> {
        let Self { body, aero, torques, peak_torque } = self;
        let BodyConstants { mass, inverse_mass, inertia, inverse_inertia } = body;
        let AeroCoefficients { drag, side, downforce } = aero;
        let columns = [&mut inertia.x, &mut inertia.y, &mut inertia.z].into_iter();
        let columns = columns.chain([&mut inverse_inertia.x, &mut inverse_inertia.y, &mut inverse_inertia.z]);
        [mass, inverse_mass, drag, side, peak_torque]
            .into_iter()
            .chain(columns.flat_map(|column| [&mut column.x, &mut column.y, &mut column.z]))
            .chain(downforce)
            .chain(torques)
    }
}
