//! Constants of the cars of a block, one car per SIMD lane.

use std::sync::Arc;

use crate::aero::parameters::{Aero, AeroCoefficients};
use crate::drivetrain::engine::Curve;
use crate::drivetrain::parameters::Powertrain;
use crate::model::body::BodyConstants;
use crate::model::parts::ModelParts;
use crate::model::wheel_pack::WheelPack;
use crate::model::{Model, Strut, Wheel};
use skidpad_simd::lane::BlockLanes;
use skidpad_tyre::parameters::Tyre;

/// Constants of the cars of a block. All cars have the layout of one model; their numbers may differ.
#[derive(Clone, Debug)]
pub struct BlockModel<W: BlockLanes> {
    /// Model of each car.
    cars: Box<[Arc<Model>]>,
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
    /// Creates the constants of a block whose cars are all of `model`.
    pub fn new(model: &Arc<Model>) -> Self {
        // One pack for each lane of a group, with the same wheel in all lanes.
        let packs_of_group = |group: &WheelPack| [0, 1, 2, 3].map(|lane| group.broadcast_lane(lane));
        let curve = torque_curve(model.parts());
        Self {
            cars: (0..W::LANE_COUNT).map(|_| Arc::clone(model)).collect(),
            packs: model.wheel_packs().iter().flat_map(packs_of_group).collect(),
            body: BodyConstants::of(model),
            aero: AeroCoefficients::of(&model.parts().aero),
            torques: curve.iter().flat_map(|curve| curve.points()).map(|point| W::splat(point[1])).collect(),
            peak_torque: W::splat(curve.map_or(0.0, Curve::max_value)),
        }
    }

    /// Returns the model that determines the layout: that of the first car.
    pub fn layout(&self) -> &Model {
        &self.cars[0]
    }

    /// Returns the model of `car`.
    pub fn car(&self, car: usize) -> &Arc<Model> {
        &self.cars[car]
    }

    /// Returns mass and inertia of the cars.
    pub fn body(&self) -> &BodyConstants<W> {
        &self.body
    }

    /// Sets the model of `car`, and replaces the constants in the lane of this car by those of `model`. The constants
    /// of other cars are unchanged.
    ///
    /// # Errors
    /// Returns the parts of `model` that must be those of the other cars, but differ. Nothing is changed then.
    pub fn set_car(&mut self, car: usize, model: &Arc<Model>) -> Result<(), Vec<&'static str>> {
        let differences = layout_differences(self.layout(), model);
        if !differences.is_empty() {
            return Err(differences);
        }
        self.cars[car] = Arc::clone(model);
        let own = Self::new(model);
        let set = |lanes: W, value: W| lanes.with_number(car, value.number(car));
        for (pack, own) in self.packs.iter_mut().zip(&own.packs) {
            *pack = pack.zip_with(own, set);
        }
        self.body = BodyConstants {
            mass: set(self.body.mass, own.body.mass),
            inverse_mass: set(self.body.inverse_mass, own.body.inverse_mass),
            inertia: self.body.inertia.zip_with(&own.body.inertia, set),
            inverse_inertia: self.body.inverse_inertia.zip_with(&own.body.inverse_inertia, set),
        };
        self.aero = AeroCoefficients {
            drag: set(self.aero.drag, own.aero.drag),
            side: set(self.aero.side, own.aero.side),
            downforce: [0, 1].map(|k| set(self.aero.downforce[k], own.aero.downforce[k])),
        };
        for (torque, own) in self.torques.iter_mut().zip(&own.torques) {
            *torque = set(*torque, *own);
        }
        self.peak_torque = set(self.peak_torque, own.peak_torque);
        Ok(())
    }
}

/// Returns the torque curve of the engine; `None` without an engine.
fn torque_curve(parts: &ModelParts) -> Option<&Curve> {
    parts.powertrain.engine().map(|drive| &drive.engine.torque)
}

/// Returns the names of the parts in which `model` differs from `base` beyond the numbers that may differ from car to
/// car: mass and inertia; radius, inertia, brakes, rolling resistance and unsprung mass of a wheel; springs, dampers
/// and stops; rates of anti-roll bars; constants of tyres that are curves or TMeasy; coefficients of the air; engine
/// torque.
fn layout_differences(base: &Model, model: &Model) -> Vec<&'static str> {
    let (base, parts) = (base.parts(), model.parts());
    let has_same_bars = base.bars.len() == parts.bars.len()
        && base.bars.iter().zip(&parts.bars).all(|(base, bar)| {
            let bar = crate::model::AntiRollBar { rate: base.rate, ..*bar };
            bar == *base
        });
    let has_same_wheels = base.wheels.len() == parts.wheels.len()
        && base.wheels.iter().zip(&parts.wheels).all(|(base, wheel)| without_numbers(wheel, base) == *base);
    let has_same_tyres = base.tyres.len() == parts.tyres.len()
        && base.tyres.iter().zip(&parts.tyres).all(|(base, tyre)| match (base, tyre) {
            (Tyre::Curve(_), Tyre::Curve(_)) | (Tyre::TMeasy(_), Tyre::TMeasy(_)) => true,
            _ => base == tyre,
        });
    [
        (has_same_wheels, "wheels (position, tyre, toe, camber, presence of discs and knees)"),
        (base.axles == parts.axles, "axles"),
        (has_same_tyres, "tyres (law, or constants of a law other than curves and TMeasy)"),
        (has_same_bars, "anti-roll bars (wheels, force path, speed range)"),
        (base.heave_springs == parts.heave_springs, "heave springs"),
        (base.steering == parts.steering, "limits of the steering"),
        (has_same_powertrain(base, parts), "powertrain (all but the torques of the engine's curve)"),
        (base.motors == parts.motors, "motors"),
        (base.couplings == parts.couplings, "couplings"),
        (has_same_aero(&base.aero, &parts.aero), "aerodynamics (points, maps, presence of a coefficient)"),
        (base.hull == parts.hull && base.centre_height == parts.centre_height, "hull or height of the centre of mass"),
        (base.assists == parts.assists, "assists"),
        (base.hitch == parts.hitch && base.coupler == parts.coupler, "hitch"),
    ]
    .into_iter()
    .filter_map(|(is_same, name)| (!is_same).then_some(name))
    .collect()
}

/// Returns `wheel` with the numbers that may differ from car to car replaced by those of `base`. Knees, progressive
/// rates and brake discs are replaced only if both wheels have them or both have none.
fn without_numbers(wheel: &Wheel, base: &Wheel) -> Wheel {
    let has_knee = |strut: &Strut| strut.knees != <[_; 2]>::default();
    let knees = if has_knee(&wheel.strut) == has_knee(&base.strut) { base.strut.knees } else { wheel.strut.knees };
    let is_progressive = |strut: &Strut| strut.progressive_rate != 0.0;
    let progressive_rate = if is_progressive(&wheel.strut) == is_progressive(&base.strut) {
        base.strut.progressive_rate
    } else {
        wheel.strut.progressive_rate
    };
    Wheel {
        radius: base.radius,
        spin_inertia: base.spin_inertia,
        strut: Strut { knees, progressive_rate, ..base.strut },
        brake_torque: base.brake_torque,
        handbrake_torque: base.handbrake_torque,
        disc: if wheel.disc.is_some() == base.disc.is_some() { base.disc } else { wheel.disc },
        rolling: base.rolling,
        unsprung: base.unsprung,
        ..*wheel
    }
}

/// Returns whether both powertrains are equal, except for the torques of the engine's curve.
fn has_same_powertrain(base: &ModelParts, parts: &ModelParts) -> bool {
    match (&base.powertrain, &parts.powertrain) {
        (Powertrain::Engine(base), Powertrain::Engine(drive)) => {
            let mut drive = drive.clone();
            let speeds = |curve: &Curve| curve.points().iter().map(|point| point[0]).collect::<Vec<_>>();
            let has_same_speeds = speeds(&drive.engine.torque) == speeds(&base.engine.torque);
            drive.engine.torque = base.engine.torque.clone();
            has_same_speeds && drive == *base
        }
        (base, powertrain) => base == powertrain,
    }
}

/// Returns whether both are equal, except for the drag, and for the sizes of side and downforce coefficients that both
/// have.
fn has_same_aero(base: &Aero, aero: &Aero) -> bool {
    let mut aero = aero.clone();
    let same_presence = |a: f32, b: f32| (a == 0.0) == (b == 0.0);
    let surfaces = base.downforce.iter().zip(&mut aero.downforce);
    let have_same_surfaces = surfaces
        .map(|(base, surface)| {
            let is_same = same_presence(base.coefficient, surface.coefficient);
            surface.coefficient = base.coefficient;
            is_same
        })
        .fold(true, |all, is_same| all & is_same);
    let has_same_side = same_presence(base.side, aero.side);
    (aero.side, aero.drag) = (base.side, base.drag);
    have_same_surfaces && has_same_side && aero == *base
}
