//! A slope is equivalent to level ground with less gravity along the normal and a constant force along the ground.
//! The relation does not apply to solvers with unsprung masses, because the force acts on the chassis only.

use skidpad::core::{ChassisMotion, Controls, ExternalForce, ForceElement, ForceElementOutput, Quat, State, Vec3};

use super::draw::Draw;
use super::ground::GroundDraw;
use super::run::Run;
use super::{NOT_APPLICABLE, Outcome, same_but_for_rounding};

/// Constant force on the centre of mass in world axes (N).
#[derive(Debug)]
struct Constant(Vec3);

impl ForceElement for Constant {
    fn evaluate(&self, _: &ChassisMotion, _: &Controls) -> ForceElementOutput {
        ForceElementOutput { force: self.0, ..ForceElementOutput::default() }
    }
}

pub fn check(draw: &Draw) -> Outcome {
    let mut sloping = draw.alone().on_plane();
    if sloping.solver.name == "constraint-unsprung" || sloping.ground.slope == 0.0 {
        return NOT_APPLICABLE;
    }
    let GroundDraw { slope, gravity, .. } = sloping.ground;
    // A kick could bring bodywork into contact, and its contacts have parameters with units.
    sloping.kick = [Vec3::ZERO; 2];
    let (sin, cos) = slope.sin_cos();
    let mut parts = sloping.parts().clone();
    parts.external_forces.push(ExternalForce::new(Constant(Vec3::NEG_X * (parts.mass * gravity * sin))));
    let Some(mut level) = sloping.with_parts(parts) else { return NOT_APPLICABLE };
    level.ground = GroundDraw { slope: 0.0, gravity: gravity * cos, ..level.ground };
    // Rotation of the sloping world into the level one.
    let lean = Quat::from_rotation_y(slope);
    let (run, mut world) = (sloping.run(), level.world());
    let mut start = run.samples[0].clone();
    (start.position, start.rotation) = ((lean * start.position.as_vec3()).as_dvec3(), lean * start.rotation);
    (start.velocity, start.angular_velocity) = (lean * start.velocity, lean * start.angular_velocity);
    start.previous_velocity = start.velocity;
    world.set_state(0, &start).expect("it fits");
    let other = level.run_from(world);
    let straight = lean.inverse();
    let back = |state: &State| {
        let mut back = state.clone();
        back.position = straight.as_dquat() * state.position;
        back.rotation = straight * state.rotation;
        (back.velocity, back.angular_velocity) = (straight * state.velocity, straight * state.angular_velocity);
        back
    };
    let other = Run { samples: other.samples.iter().map(back).collect(), ..other };
    same_but_for_rounding(&sloping, "leaning gravity", [&run, &other])
}
