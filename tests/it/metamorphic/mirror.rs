//! The mirror image of a car moves as the mirror image of the car's motion.

use skidpad::core::model::{Powertrain, Side, Wheel};
use skidpad::core::{ModelParts, Quat, State, Vec3};

use super::draw::Draw;
use super::ground::{GroundDraw, Waves};
use super::run::Run;
use super::{NOT_APPLICABLE, Outcome, Violation, same_but_for_rounding};

pub fn check(draw: &Draw) -> Outcome {
    let Some(draw) = draw.alone().with_symmetric_contacts() else { return NOT_APPLICABLE };
    let draw = Draw { ground: draw.ground.squared(), ..draw };
    // Aerodynamic maps over the flow angle are not mirrored.
    if draw.parts().aero.maps.is_some() {
        return NOT_APPLICABLE;
    }
    let Some(mirrored) = mirrored(&draw) else { return Err(Violation("its mirror image is refused".into())) };
    let (run, image) = (draw.run(), mirrored.run());
    let back = Run { samples: image.samples.iter().map(reflected).collect(), ..image };
    same_but_for_rounding(&draw, "mirror image", [&run, &back])
}

fn mirrored(draw: &Draw) -> Option<Draw> {
    let across: Vec<usize> = (0..draw.parts().wheels.len()).map(|i| opposite(&draw.parts().wheels, i)).collect();
    let mut image = draw.with_parts(mirror_parts(draw.parts(), &across))?;
    image.placement.heading = -image.placement.heading;
    let [velocity, angular_velocity] = image.kick;
    image.kick = [velocity * Vec3::new(1.0, -1.0, 1.0), angular_velocity * Vec3::new(-1.0, 1.0, -1.0)];
    let waves = image.ground.waves.map(|waves| Waves { direction: -waves.direction, ..waves });
    image.ground = GroundDraw { waves, ..image.ground };
    image.manoeuvre = image.manoeuvre.with(|key| {
        key.steer = -key.steer;
        if key.wheels.is_empty() {
            return;
        }
        key.wheels = across.iter().map(|&i| key.wheels[i]).collect();
        key.wheels.iter_mut().for_each(|wheel| wheel.steer = wheel.steer.map(|angle| -angle));
    });
    Some(image)
}

/// Returns the index of another wheel on the axle of wheel `i`, or `i` if there is none.
fn opposite(wheels: &[Wheel], i: usize) -> usize {
    let other = |&k: &usize| k != i && wheels[k].axle == wheels[i].axle;
    (0..wheels.len()).find(other).unwrap_or(i)
}

/// Returns the parts of the mirror image. `across` has the index of the opposite wheel of each wheel.
fn mirror_parts(parts: &ModelParts, across: &[usize]) -> ModelParts {
    let flip = |point: Vec3| point * Vec3::new(1.0, -1.0, 1.0);
    let mut image = parts.clone();
    for (i, wheel) in image.wheels.iter_mut().enumerate() {
        let side = wheel.side;
        let from = parts.wheels[across[i]];
        *wheel = Wheel { side, contact: flip(from.contact), mirrored: !from.mirrored, ..from };
        if side == Side::Centre {
            (wheel.toe, wheel.camber) = (-wheel.toe, -wheel.camber);
        }
    }
    let all = |wheels: &[usize]| wheels.iter().map(|&i| across[i]).collect();
    image.bars.iter_mut().for_each(|bar| bar.wheels = bar.wheels.map(|i| across[i]));
    image.heave_springs.iter_mut().for_each(|spring| spring.wheels = spring.wheels.map(|i| across[i]));
    image.motors.iter_mut().for_each(|motor| motor.wheels = all(&motor.wheels));
    image.couplings.iter_mut().for_each(|coupling| coupling.sides = coupling.sides.each_ref().map(|side| all(side)));
    match &mut image.powertrain {
        Powertrain::Direct(torques) => *torques = across.iter().map(|&i| torques[i]).collect(),
        Powertrain::Engine(drive) => drive.torque_shares = across.iter().map(|&i| drive.torque_shares[i]).collect(),
        Powertrain::None => {}
    }
    let inertia = &mut image.inertia;
    (inertia.x_axis.y, inertia.y_axis.x) = (-inertia.x_axis.y, -inertia.y_axis.x);
    (inertia.y_axis.z, inertia.z_axis.y) = (-inertia.y_axis.z, -inertia.z_axis.y);
    image.hull.centre = flip(image.hull.centre);
    image
}

/// Returns the mirror image of the state in the world's x–z plane.
fn reflected(state: &State) -> State {
    let mut image = state.clone();
    image.position.y = -image.position.y;
    image.velocity.y = -image.velocity.y;
    image.angular_velocity *= Vec3::new(-1.0, 1.0, -1.0);
    let Quat { x, y, z, w } = image.rotation;
    image.rotation = Quat::from_xyzw(-x, y, -z, w);
    image
}
