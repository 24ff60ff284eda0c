//! Comparison of the bits of every instruction set.

use skidpad_constraint::Newton;
use skidpad_core::coupling::RowSolver;
use skidpad_core::state::Placement;
use skidpad_core::{ChassisState, Contact, Controls, DVec3, Probe, Scene, State, Vec3, Vehicle};
use skidpad_simd::instruction_set::allow_instruction_sets;

use skidpad_impulse::Sweep;

/// Returns the bits of the impulses of a Corvette C5 on its chassis while it slides and yaws over a plane, steered and braked.
fn pushes(solver: &dyn RowSolver, allowed: usize) -> Vec<u32> {
    const DT_S: f32 = 1.0 / 120.0;
    allow_instruction_sets(allowed);
    let model = skidpad_spec::load("corvette_c5").expect("shipped").model;
    let mut vehicle = Vehicle::new(model.clone(), State::at_rest(&model, &Scene::flat(), &Placement::default()));
    let mut body = ChassisState {
        velocity: Vec3::new(14.0, 2.0, -0.3),
        angular_velocity: Vec3::new(0.1, -0.05, 0.6),
        ..ChassisState::AT_ORIGIN
    };
    let controls = Controls { steer: 0.3, brake: 0.4, ..Controls::default() };
    let nowhere =
        Probe { car: 0, position: DVec3::ZERO, offset: Vec3::ZERO, direction: Vec3::NEG_Z, length: 0.0, rim: None };
    let mut bits = Vec::new();
    for _ in 0..60 {
        (body.free_velocity, body.free_angular_velocity) =
            (body.velocity + Vec3::new(0.0, 0.0, -9.81 * DT_S), body.angular_velocity);
        let mut probes = [nowhere; 4];
        vehicle.probes(0, &body, DT_S, &mut probes);
        let contacts = probes.map(|probe| {
            let distance = probe.offset.z + model.parts().centre_height + body.position.z as f32;
            let contact = Contact { distance, normal: Vec3::Z, grip: 1.0, point: None, ground: None };
            (distance <= probe.length).then_some(contact)
        });
        let (push, _) = vehicle.solve(&body, &contacts, &[], &controls, solver, DT_S);
        bits.extend(
            [push.impulse, push.angular_impulse].iter().flat_map(|impulse| impulse.to_array()).map(f32::to_bits),
        );
        body.velocity = body.free_velocity + push.impulse / model.mass();
        body.angular_velocity = body.free_angular_velocity + *model.inverse_inertia() * push.angular_impulse;
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
