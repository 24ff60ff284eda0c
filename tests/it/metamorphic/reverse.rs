//! A car turned front to back that drives backwards moves as the car does forwards: wheels, struts, tyres, brakes and
//! raw torques are symmetric. Measured tyres and drivetrains may be asymmetric and are left out.

use skidpad::core::model::{Powertrain, Tyre, Wheel};
use skidpad::core::{ModelParts, Quat, State, Vec3, WheelControls};

use super::draw::Draw;
use super::ground::{GroundDraw, Waves};
use super::manoeuvre::{Key, Manoeuvre};
use super::run::Run;
use super::{NOT_APPLICABLE, Outcome, Violation, same_but_for_rounding};

pub fn check(draw: &Draw) -> Outcome {
    let Some(draw) = draw.alone().with_symmetric_contacts() else { return NOT_APPLICABLE };
    let draw = Draw { ground: draw.ground.squared(), ..draw };
    let Some(forwards) = undriven(&draw) else { return NOT_APPLICABLE };
    let Some(backwards) = reversed(&forwards) else { return Err(Violation("reversed, it is refused".into())) };
    let (run, other) = (forwards.run(), backwards.run());
    let back = Run { samples: other.samples.iter().map(reflected).collect(), ..other };
    same_but_for_rounding(&forwards, "front to back", [&run, &back])
}

/// Returns the draw with individual steering angles and torques only, or `None` for measured tyres.
fn undriven(draw: &Draw) -> Option<Draw> {
    let mut parts = draw.parts().clone();
    if parts.tyres.iter().any(|tyre| matches!(tyre, Tyre::MagicFormula { .. })) {
        return None;
    }
    // Downforce acts in forward flow only.
    parts.aero = Default::default();
    parts.powertrain = Powertrain::None;
    parts.motors.clear();
    parts.assists = Default::default();
    (parts.hitch, parts.coupler) = (None, None);
    let random = &mut draw.random();
    let size = parts.mass * 9.81 * parts.wheels[0].radius / parts.wheels.len() as f32;
    let torque = if random.chance(0.5) { size * random.between(-0.5, 0.5) } else { 0.0 };
    let angle = random.between(-0.3, 0.3) * random.between(0.0, 1.0);
    let raw = |wheel: &Wheel| {
        let steer = Some(if wheel.axle == 0 { angle } else { 0.0 });
        WheelControls { motor_torque: torque, brake_torque: 0.0, steer }
    };
    let wheels: Vec<WheelControls> = parts.wheels.iter().map(raw).collect();
    let bare = |key: &Key| Key { throttle: 0.0, wheels: wheels.clone(), ..key.clone() };
    let mut raw = draw.with_parts(parts)?;
    let keys = draw.manoeuvre.keys.iter().map(bare).collect();
    raw.manoeuvre = Manoeuvre { keys, gear: Some(0), cruise: None, ..draw.manoeuvre.clone() };
    raw.placement.gear = Some(0);
    Some(raw)
}

fn reversed(draw: &Draw) -> Option<Draw> {
    let wheels = &draw.parts().wheels;
    let axles = draw.parts().axles.len();
    // Original index of each wheel of the reversed car: axles in reverse order, left before right.
    let was: Vec<usize> =
        (0..axles).rev().flat_map(|axle| (0..wheels.len()).filter(move |&i| wheels[i].axle == axle)).collect();
    let mut image = draw.with_parts(reverse_parts(draw.parts(), &was))?;
    (image.placement.speed, image.placement.heading) = (-image.placement.speed, -image.placement.heading);
    let [velocity, angular_velocity] = image.kick;
    image.kick = [velocity * Vec3::new(-1.0, 1.0, 1.0), angular_velocity * Vec3::new(1.0, -1.0, -1.0)];
    let turned = |waves: Waves| Waves { direction: std::f32::consts::PI - waves.direction, ..waves };
    image.ground = GroundDraw { slope: -image.ground.slope, waves: image.ground.waves.map(turned), ..image.ground };
    image.manoeuvre = image.manoeuvre.with(|key| {
        let of = |&i: &usize| {
            let WheelControls { motor_torque, brake_torque, steer } = key.wheels[i];
            WheelControls { motor_torque: -motor_torque, brake_torque, steer: steer.map(|angle| -angle) }
        };
        key.wheels = was.iter().map(of).collect();
    });
    Some(image)
}

fn reverse_parts(parts: &ModelParts, was: &[usize]) -> ModelParts {
    let flip = |point: Vec3| point * Vec3::new(-1.0, 1.0, 1.0);
    let mut now = vec![0; was.len()];
    was.iter().enumerate().for_each(|(new, &old)| now[old] = new);
    let last = parts.axles.len() - 1;
    let mut image = parts.clone();
    let turned = |&i: &usize| {
        let wheel = parts.wheels[i];
        Wheel { axle: last - wheel.axle, contact: flip(wheel.contact), ..wheel }
    };
    image.wheels = was.iter().map(turned).collect();
    image.axles.reverse();
    image.axles.iter_mut().for_each(|axle| axle.turning_distance = -axle.turning_distance);
    image.bars.iter_mut().for_each(|bar| bar.wheels = bar.wheels.map(|i| now[i]));
    image.heave_springs.iter_mut().for_each(|spring| spring.wheels = spring.wheels.map(|i| now[i]));
    let all = |side: &[usize]| side.iter().map(|&i| now[i]).collect();
    for coupling in &mut image.couplings {
        coupling.sides = coupling.sides.each_ref().map(|side| all(side));
        // Ramps of a limited-slip differential depend on the sign of the torque, so the biases of drive and overrun
        // are exchanged.
        coupling.bias.reverse();
    }
    let inertia = &mut image.inertia;
    (inertia.x_axis.y, inertia.x_axis.z) = (-inertia.x_axis.y, -inertia.x_axis.z);
    (inertia.y_axis.x, inertia.z_axis.x) = (-inertia.y_axis.x, -inertia.z_axis.x);
    image.hull.centre = flip(image.hull.centre);
    image
}

/// Returns the mirror image of the state in the world's y–z plane.
fn reflected(state: &State) -> State {
    let mut image = state.clone();
    image.position.x = -image.position.x;
    image.velocity.x = -image.velocity.x;
    image.angular_velocity *= Vec3::new(1.0, -1.0, -1.0);
    let Quat { x, y, z, w } = image.rotation;
    image.rotation = Quat::from_xyzw(x, -y, -z, w);
    image
}
