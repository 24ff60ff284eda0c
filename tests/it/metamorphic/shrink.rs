//! Simplifies a draw as long as it violates a relation, so that a report names the features that the fault needs.

use skidpad::core::model::{Assists, Powertrain, ProbeShape, Tyre};
use skidpad::core::tyre::{CurveLaw, CurveTyre};
use skidpad::core::{ModelParts, Vec3};

use super::draw::Draw;
use super::ground::GroundDraw;
use super::{Outcome, Violation};

/// Name of a feature, and the function that removes it from the car.
type Simplification = (&'static str, fn(&mut ModelParts));

const OF_CARS: [Simplification; 20] = [
    ("assists", |parts| parts.assists = Assists::default()),
    ("couplings", |parts| parts.couplings.clear()),
    ("bars", |parts| parts.bars.clear()),
    ("heave springs", |parts| parts.heave_springs.clear()),
    ("motors", |parts| parts.motors.clear()),
    ("powertrain", |parts| parts.powertrain = Powertrain::None),
    ("air", |parts| parts.aero = Default::default()),
    ("guidance", |parts| parts.axles.iter_mut().for_each(|axle| axle.toe_camber = None)),
    ("lateral compliance", |parts| parts.axles.iter_mut().for_each(|axle| axle.lateral_compliance = None)),
    ("compliant steering", |parts| parts.steering.compliance = None),
    ("roll centres", |parts| parts.axles.iter_mut().for_each(|axle| axle.roll_centre_height = 0.0)),
    ("force points", |parts| parts.axles.iter_mut().for_each(|axle| axle.force_point_height = 0.0)),
    ("solid axles", |parts| parts.axles.iter_mut().for_each(|axle| axle.solid = false)),
    ("Ackermann", |parts| parts.axles.iter_mut().for_each(|axle| axle.ackermann = 0.0)),
    ("toe and camber", |parts| parts.wheels.iter_mut().for_each(|wheel| (wheel.toe, wheel.camber) = (0.0, 0.0))),
    ("discs", |parts| parts.wheels.iter_mut().for_each(|wheel| wheel.disc = None)),
    ("probes", |parts| parts.wheels.iter_mut().for_each(|wheel| wheel.probe = ProbeShape::Ray)),
    ("rolling resistance", |parts| parts.wheels.iter_mut().for_each(|wheel| wheel.rolling = Default::default())),
    ("knees", |parts| parts.wheels.iter_mut().for_each(|wheel| wheel.strut.knees = Default::default())),
    ("curved tyres", |parts| parts.tyres.iter_mut().for_each(|tyre| *tyre = linear(tyre))),
];

/// Returns a linear tyre with stiffness per load. Relaxation lengths and nominal load are those of `tyre` if it has
/// them.
fn linear(tyre: &Tyre) -> Tyre {
    let (relaxation, nominal_load) = match tyre {
        Tyre::Curve(tyre) => (tyre.relaxation, tyre.nominal_load),
        Tyre::TMeasy(tyre) => (tyre.relaxation, tyre.nominal_load),
        _ => ([0.1, 0.3], 4000.0),
    };
    let law = CurveLaw::LinearPerLoad { stiffness: [20.0, 14.0] };
    Tyre::Curve(CurveTyre { law, friction: [1.0, 0.9], load_sensitivity: 0.0, nominal_load, relaxation })
}

/// Name of a feature, and the function that removes it from the drive.
type Shortening = (&'static str, fn(&mut Draw));

const OF_DRIVES: [Shortening; 7] = [
    ("trailers", |draw| draw.models.truncate(1)),
    ("waves", |draw| draw.ground = GroundDraw { waves: None, ..draw.ground }),
    ("slope", |draw| draw.ground.slope = 0.0),
    ("grip", |draw| draw.ground.grip = 1.0),
    ("gravity", |draw| draw.ground.gravity = 9.81),
    ("kick", |draw| draw.kick = [Vec3::ZERO; 2]),
    ("heading", |draw| draw.placement.heading = 0.0),
];

/// Returns the names of the features that a violation of the relation `check` needs, and the violation of the draw
/// without the others. `None` if the draw violates nothing.
pub fn needed(draw: &Draw, check: fn(&Draw) -> Outcome) -> Option<(Vec<&'static str>, Violation)> {
    let (mut simplest, mut needed, mut violation) = (draw.clone(), Vec::new(), check(draw).err()?);
    let mut take = |name, simpler: Option<Draw>, simplest: &mut Draw| {
        let found = simpler.and_then(|simpler| Some((check(&simpler).err()?, simpler)));
        match found {
            Some(found) => (violation, *simplest) = found,
            None => needed.push(name),
        }
    };
    for (name, change) in OF_DRIVES {
        let mut simpler = simplest.clone();
        change(&mut simpler);
        take(name, Some(simpler), &mut simplest);
    }
    for (name, change) in OF_CARS {
        let mut parts = simplest.parts().clone();
        change(&mut parts);
        take(name, simplest.with_parts(parts), &mut simplest);
    }
    Some((needed, violation))
}
