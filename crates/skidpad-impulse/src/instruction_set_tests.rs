//! Comparison of the bits of every instruction set.
#![cfg(test)]

use std::sync::Arc;

use skidpad_constraint::Newton;
use skidpad_core::coupling::RowSolver;
use skidpad_core::model::{Axle, Hull, ModelParts, ProbeShape, RollingCoefficients, Side, Steering, Strut, Wheel};
use skidpad_core::state::Placement;
use skidpad_core::tyre::curve::{CurveLaw, CurveTyre};
use skidpad_core::tyre::parameters::Tyre;
use skidpad_core::{ChassisState, Contact, Controls, DVec3, Mat3, Model, Probe, Quat, Scene, State, Vec3, Vehicle};
use skidpad_simd::instruction_set::allow_instruction_sets;

use crate::Sweep;

/// Returns a car of 1200 kg with 300 kg on each of four wheels at ±1.25 m and ±0.75 m, radius 0.3 m, and wheel rates of
/// 30 N/mm. The stops begin at 80 mm in both directions. Tyres have dry friction of 1; each wheel has a brake of 1000 N
/// m; the front axle steers up to 0.6 rad.
fn plain_car() -> ModelParts {
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
        steering: Steering { lock: 0.6, rate: f32::INFINITY },
        hull: Hull { centre: Vec3::ZERO, half_extents: Vec3::new(2.0, 0.8, 0.3) },
        ..ModelParts::default()
    }
}

/// Returns the bits of a car's impulses on its chassis while it slides and yaws over a plane, steered and braked.
fn pushes(solver: &dyn RowSolver, allowed: usize) -> Vec<u32> {
    const DT_S: f32 = 1.0 / 120.0;
    allow_instruction_sets(allowed);
    let model = Arc::new(Model::new(plain_car()).expect("valid"));
    let mut vehicle = Vehicle::new(model.clone(), State::at_rest(&model, &Scene::flat(), &Placement::default()));
    let mut body = ChassisState {
        position: DVec3::ZERO,
        rotation: Quat::IDENTITY,
        velocity: Vec3::new(14.0, 2.0, -0.3),
        angular: Vec3::new(0.1, -0.05, 0.6),
        free_velocity: Vec3::ZERO,
        free_angular: Vec3::ZERO,
        gyroscopic_change: Vec3::ZERO,
        wind: Vec3::ZERO,
        pose_lag: 0.0,
        position_resolution: 0.0,
        asleep: false,
    };
    let controls = Controls { steer: 0.3, brake: 0.4, ..Controls::default() };
    let nowhere =
        Probe { car: 0, position: DVec3::ZERO, offset: Vec3::ZERO, direction: Vec3::NEG_Z, length: 0.0, rim: None };
    let mut bits = Vec::new();
    for _ in 0..60 {
        (body.free_velocity, body.free_angular) = (body.velocity + Vec3::new(0.0, 0.0, -9.81 * DT_S), body.angular);
        let mut asked = [nowhere; 4];
        vehicle.probes(0, &body, DT_S, &mut asked);
        let met = asked.map(|probe| {
            let distance = probe.offset.z + 0.5 + body.position.z as f32;
            let contact = Contact { distance, normal: Vec3::Z, grip: 1.0, point: None, ground: None };
            (distance <= probe.length).then_some(contact)
        });
        let (push, _) = vehicle.solve(&body, &met, &[], &controls, solver, DT_S);
        bits.extend([push.impulse, push.angular_impulse].iter().flat_map(|of| of.to_array()).map(f32::to_bits));
        body.velocity = body.free_velocity + push.impulse / model.mass();
        body.angular = body.free_angular + *model.inverse_inertia() * push.angular_impulse;
        body.position += (body.velocity * DT_S).as_dvec3();
        vehicle.finish(&body, DT_S);
    }
    allow_instruction_sets(usize::MAX);
    bits
}

/// Checks the bits of every instruction set; on a processor without a set, that part compares the target's own.
#[test]
fn every_set_gives_the_same_bits() {
    let solvers: [&dyn RowSolver; 2] = [&Sweep, &Newton::CONE];
    for solver in solvers {
        let of_target = pushes(solver, 0);
        for allowed in [1, 2] {
            assert!(pushes(solver, allowed) == of_target, "{solver:?} with {allowed} sets");
        }
    }
}
