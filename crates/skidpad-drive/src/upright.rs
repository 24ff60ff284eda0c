//! Placement of a car upright on its wheels.

use skidpad_core::{CarError, Contact, Model, Probe, Quat, Simulation, State, Vec3};

/// Height above the centre of mass from which the ground is searched, m.
const PROBE_START_HEIGHT_M: f32 = 1.0;
/// Depth below the centre of mass down to which the ground is searched, m.
const PROBE_DEPTH_M: f32 = 1000.0;

/// Places the car in slot `car` of `world` upright and at rest on the ground below it, perpendicular to that ground and
/// with its present heading. Returns true if there is ground from 1 m above to 1 km below its centre of mass.
/// Otherwise, or if the world answers no probes, the car is placed upright in the air at its position and the result is
/// false.
///
/// All dynamic state, such as engine, gear, brakes and contact patches, is reset to that of a new car.
///
/// # Errors
/// The slot does not exist, is empty or holds a suspended car. Nothing is changed then.
pub fn reset_upright(world: &mut dyn Simulation, car: usize) -> Result<bool, CarError> {
    world.slots().occupant(car)?;
    let probe = downward_probe(car, world.state(car));
    let mut contacts = [None];
    world.probe(&[probe], &mut contacts);
    let upright_state = upright_state_on(world.model(car), world.state(car), &probe, contacts[0].as_ref());
    world.set_state(car, &upright_state)?;
    Ok(contacts[0].is_some())
}

/// Returns the probe with which car `car` in `state` finds the ground below it: a vertical ray without rim from 1 m
/// above its centre of mass to 1 km below it, 1001 m long.
pub fn downward_probe(car: usize, state: &State) -> Probe {
    Probe {
        car,
        position: state.position,
        offset: Vec3::Z * PROBE_START_HEIGHT_M,
        direction: Vec3::NEG_Z,
        length: PROBE_START_HEIGHT_M + PROBE_DEPTH_M,
        rim: None,
    }
}

/// Returns the state of a car of `model` upright and at rest with the heading of `state`. With a ground `contact`, the
/// car stands perpendicular to that ground at the contact point of `probe`. Without one (`None`), the car is level in
/// the air, with its centre of mass at the position of `state`.
pub fn upright_state_on(model: &Model, state: &State, probe: &Probe, contact: Option<&Contact>) -> State {
    let forward = state.rotation * Vec3::X;
    match contact {
        Some(contact) => {
            let heading = yaw_on_ground(contact.normal, forward);
            State::upright_at(model, probe.point_at(contact.distance), contact.normal, heading)
        }
        None => {
            let heading = yaw_on_ground(Vec3::Z, forward);
            State { position: state.position, ..State::upright_at(model, state.position, Vec3::Z, heading) }
        }
    }
}

/// Returns the yaw angle of a car on ground with this `normal` such that its x axis, seen from above, points in the
/// direction of `forward`, rad, positive to the left. The angle is measured after the ground is rotated to level by the
/// shortest rotation.
fn yaw_on_ground(normal: Vec3, forward: Vec3) -> f32 {
    // Vector in the ground directly above or below `forward`, times `normal.z`, so that nothing is divided.
    let ground_vector =
        Vec3::new(forward.x * normal.z, forward.y * normal.z, -(forward.x * normal.x + forward.y * normal.y));
    let level_vector = Quat::from_rotation_arc(normal, Vec3::Z) * ground_vector;
    skidpad_core::math::atan2(level_vector.y, level_vector.x)
}
