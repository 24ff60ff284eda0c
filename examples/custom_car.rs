//! Builds a car without a vehicle file: a kart from [`ModelParts`], checked by [`Model::new`].
//!
//! The vehicle frame has its origin at the centre of mass: x forward, y left, z up.

use std::sync::Arc;

use skidpad::core::model::{
    Aero, Axle, Hull, Powertrain, ProbeShape, RollingCoefficients, Side, Steering, Strut, Tyre, Wheel, box_inertia,
};
use skidpad::core::tyre::{CurveLaw, CurveTyre};
use skidpad::core::{Mat3, ModelParts};
use skidpad::prelude::*;

const WHEELBASE_M: f32 = 1.05;
const CENTRE_HEIGHT_M: f32 = 0.25;

fn wheel(axle: usize, side: Side) -> Wheel {
    let (x, y) = ([0.6, -0.4][axle] * WHEELBASE_M, if side == Side::Left { 0.55 } else { -0.55 });
    Wheel {
        axle,
        side,
        contact: Vec3::new(x, y, -CENTRE_HEIGHT_M),
        radius: 0.13,
        spin_inertia: 0.05,
        tyre: 0,
        // A kart has no springs. This strut is the compliance of the frame and the tyres.
        strut: Strut { stop_rate: 200e3, stop_travel: 0.04, ..Strut::linear(60e3, 900.0, [0.03, 0.03]) },
        mirrored: false,
        toe: 0.0,
        camber: 0.0,
        brake_torque: if axle == 0 { 0.0 } else { 120.0 },
        handbrake_torque: 0.0,
        disc: None,
        rolling: RollingCoefficients::from_pressure(0.8),
        unsprung: None,
        probe: ProbeShape::Ray,
    }
}

fn build_kart() -> Result<Model, skidpad::core::ModelError> {
    Model::new(ModelParts {
        mass: 170.0,
        inertia: Mat3::from_diagonal(Vec3::from_array(box_inertia(170.0, [1.6, 1.0, 0.5]).map(|i| i as f32))),
        centre_height: CENTRE_HEIGHT_M,
        wheels: [0, 1].iter().flat_map(|&axle| [wheel(axle, Side::Left), wheel(axle, Side::Right)]).collect(),
        axles: vec![
            Axle { steer_ratio: 1.0, ackermann: 1.0, turning_distance: WHEELBASE_M, ..Axle::default() },
            Axle::default(),
        ],
        tyres: vec![Tyre::Curve(CurveTyre {
            law: CurveLaw::LinearPerLoad { stiffness: [20.0, 16.0] },
            friction: [1.4, 1.4],
            load_sensitivity: 0.1,
            nominal_load: 420.0,
            relaxation: [0.05, 0.12],
        })],
        steering: Steering { lock: 0.5, rate: 3.0, wheel_ratio: Some(16.0), ..Steering::default() },
        powertrain: Powertrain::Direct([0.0, 0.0, 60.0, 60.0].into()),
        aero: Aero { drag: 0.4, ..Aero::default() },
        hull: Hull { centre: Vec3::ZERO, half_extents: Vec3::new(0.9, 0.6, 0.15) },
        ..ModelParts::default()
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = Arc::new(build_kart()?);
    for solver in Solver::ALL.iter().filter(|solver| !solver.info().comparison_only) {
        let mut world = World::new(*solver, &Scene::flat(), 1.0 / 240.0);
        let car = world.spawn(&model, Placement::default());
        for steer in (0..1440).map(|step| if step < 720 { 0.0 } else { 0.06 }) {
            *world.controls_mut(car)? = Controls { throttle: 0.6, steer, gear: Some(1), ..Controls::default() };
            world.step();
        }
        let frame = world.frame(car)?;
        let (speed_kmh, lateral_g) = (frame.vx_mps * 3.6, frame.ay_mps2 / 9.81);
        println!("{solver:<11} after 6 s: {speed_kmh:.1} km/h, {lateral_g:.2} g to the left");
    }
    Ok(())
}
