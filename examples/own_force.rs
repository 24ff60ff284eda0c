//! Adds user-defined forces to a car: a rocket and a tow rope as force elements of the model.

use std::sync::Arc;

use skidpad::core::{ChassisMotion, ExternalForce, ForceElement, ForceElementOutput};
use skidpad::prelude::*;

/// Rocket with a forward thrust in proportion to the throttle.
#[derive(Debug)]
struct Rocket {
    thrust_n: f32,
}

impl ForceElement for Rocket {
    fn evaluate(&self, motion: &ChassisMotion, controls: &Controls) -> ForceElementOutput {
        let forward = motion.rotation * Vec3::X;
        ForceElementOutput {
            force: forward * (self.thrust_n * controls.throttle.clamp(0.0, 1.0)),
            ..ForceElementOutput::default()
        }
    }
}

/// Rope that pulls when it is taut. [`ForceElementOutput::damping`] makes the force implicit in the velocity, so that
/// any stiffness is stable.
#[derive(Debug)]
struct Rope {
    hook: Vec3,
    anchor: DVec3,
    length_m: f64,
    rate_n_per_m: f32,
    damping_n_s_per_m: f32,
}

impl ForceElement for Rope {
    fn evaluate(&self, motion: &ChassisMotion, _controls: &Controls) -> ForceElementOutput {
        let rope_vector = self.anchor - motion.point_position(self.hook);
        let direction = rope_vector.normalize_or_zero().as_vec3();
        let separation_velocity = -motion.point_velocity(self.hook).dot(direction);
        let damping = self.damping_n_s_per_m + self.rate_n_per_m * motion.dt;
        let elongation = (rope_vector.length() - self.length_m) as f32;
        let rope_force = self.rate_n_per_m * elongation + damping * separation_velocity;
        if elongation <= 0.0 || rope_force <= 0.0 {
            return ForceElementOutput::default();
        }
        ForceElementOutput { force: direction * rope_force, point: self.hook, damping, ..ForceElementOutput::default() }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut parts = skidpad::spec::load("corvette_c5")?.model.parts().clone();
    let rope = Rope {
        hook: Vec3::new(-2.0, 0.0, 0.0),
        anchor: DVec3::new(-12.0, 0.0, 0.5),
        length_m: 30.0,
        rate_n_per_m: 2e5,
        damping_n_s_per_m: 2e4,
    };
    parts.external_forces = vec![ExternalForce::new(Rocket { thrust_n: 8000.0 }), ExternalForce::new(rope)];
    let model = Arc::new(Model::new(parts)?);
    for solver in Solver::ALL.iter().filter(|solver| !solver.info().comparison_only) {
        let mut world = World::new(*solver, &Scene::flat(), 1.0 / 60.0);
        let car = world.spawn(&model, Placement::default());
        *world.controls_mut(car)? = Controls { throttle: 1.0, gear: Some(0), ..Controls::default() };
        for _ in 0..600 {
            world.step();
        }
        let frame = world.frame(car)?;
        let [force, ..] = frame.assist_log[0].1.values();
        println!("{solver:<11} hangs at {:.2} m, the elements push with {force:.0} N", frame.x_m);
    }
    Ok(())
}
