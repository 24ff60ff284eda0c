//! Car that is plain enough for closed-form results: four equal corners, symmetric about its centre of mass, linear
//! springs without dampers, dry friction, and no powertrain.

use super::{Axle, Hull, ModelParts, ProbeShape, RollingCoefficients, Side, Steering, Strut, Tyre, Wheel};
use crate::{Mat3, Vec3};
use skidpad_tyre::{CurveLaw, CurveTyre};

/// Returns a car of 1200 kg with 300 kg on each of four wheels at ±1.25 m and ±0.75 m, radius 0.3 m, and wheel rates of
/// 30 N/mm. The stops begin at 80 mm in both directions. Tyres have dry friction of 1; each wheel has a brake of 1000 N
/// m; the front axle steers up to 0.6 rad. The centre of mass is 0.5 m above the ground, with 400, 1600 and 1800 kg m²
/// about x, y and z. There are no motors, bars, aerodynamics and assists.
pub(crate) fn plain_car() -> ModelParts {
    let wheel = |i: usize| {
        let (axle, side) = (i / 2, [Side::Left, Side::Right][i % 2]);
        Wheel {
            axle,
            side,
            contact: Vec3::new([1.25, -1.25][axle], [0.75, -0.75][i % 2], -0.5),
            radius: 0.3,
            spin_inertia: 1.0,
            tyre: 0,
            strut: Strut { stop_rate: 60_000.0, stop_travel: 0.04, ..Strut::linear(30_000.0, 0.0, [0.08; 2]) },
            mirrored: false,
            toe: 0.0,
            camber: 0.0,
            brake_torque: 1000.0,
            handbrake_torque: 0.0,
            disc: None,
            rolling: RollingCoefficients::default(),
            unsprung: None,
            probe: ProbeShape::Ray,
        }
    };
    let tyre = CurveTyre {
        law: CurveLaw::Coulomb { deflection: 0.005 },
        friction: [1.0; 2],
        load_sensitivity: 0.0,
        nominal_load: 3000.0,
        relaxation: [0.1; 2],
    };
    ModelParts {
        mass: 1200.0,
        inertia: Mat3::from_diagonal(Vec3::new(400.0, 1600.0, 1800.0)),
        centre_height: 0.5,
        wheels: (0..4).map(wheel).collect(),
        axles: vec![Axle { steer_ratio: 1.0, ..Axle::default() }, Axle::default()],
        tyres: vec![Tyre::Curve(tyre)],
        steering: Steering { lock: 0.6, rate: f32::INFINITY, ..Steering::default() },
        hull: Hull { centre: Vec3::ZERO, half_extents: Vec3::new(2.0, 0.8, 0.3) },
        ..ModelParts::default()
    }
}
