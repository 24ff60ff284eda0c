//! Drives of a draw, sampled every 0.1 s at every rate, and distances between them.

use skidpad::core::{CarStart, Controls, Model, Quat, Simulation, State, Vec3};

use super::draw::Draw;

/// Result of a draw.
pub struct Run {
    /// States of the car every 0.1 s, beginning with the initial one.
    pub samples: Vec<State>,
    /// Final state of every vehicle.
    pub last: Vec<State>,
}

impl Draw {
    /// Builds a world with the vehicles in their initial state.
    pub fn world(&self) -> Box<dyn Simulation> {
        let start = |model: &std::sync::Arc<Model>| CarStart { model: model.clone(), placement: self.placement };
        let starts: Vec<CarStart> = self.models.iter().map(start).collect();
        let scene = self.ground.scene();
        let mut world = (self.solver.build_world)(&scene, &starts, 1.0 / self.hz);
        if self.models.len() > 1 {
            let models: Vec<&Model> = self.models.iter().map(AsRef::as_ref).collect();
            for (car, state) in State::train_at_rest(&models, 0, &scene, &self.placement).iter().enumerate() {
                world.set_state(car, state).expect("it fits");
            }
        }
        if self.kick != [Vec3::ZERO; 2] {
            for car in 0..self.models.len() {
                let mut state = world.state(car).clone();
                let [velocity, angular_velocity] = self.kick.map(|kick| state.rotation * kick);
                (state.velocity, state.angular_velocity) =
                    (state.velocity + velocity, state.angular_velocity + angular_velocity);
                state.previous_velocity = state.velocity;
                world.set_state(car, &state).expect("it fits");
            }
        }
        world
    }

    /// Returns the controls of every vehicle in step `k`. Trailers get the brake of the car only.
    pub fn controls(&self, k: usize) -> Vec<Controls> {
        let dt = 1.0 / f64::from(self.hz);
        let towing = self.manoeuvre.controls(k as f64 * dt, dt);
        let towed = Controls { brake: towing.brake, ..Controls::coasting() };
        let mut all = vec![towed; self.models.len()];
        all[0] = towing;
        all
    }

    pub fn steps(&self) -> usize {
        (self.seconds * f64::from(self.hz)).round() as usize
    }

    pub fn run(&self) -> Run {
        self.run_from(self.world())
    }

    /// Drives in `world`, which may contain further cars after those of the draw.
    pub fn run_from(&self, mut world: Box<dyn Simulation>) -> Run {
        let every = (self.hz / 10.0).round() as usize;
        let mut samples = vec![world.state(0).clone()];
        for k in 0..self.steps() {
            world.step(&self.controls(k));
            if (k + 1) % every == 0 {
                samples.push(world.state(0).clone());
            }
        }
        let last = (0..self.models.len()).map(|car| world.state(car).clone()).collect();
        Run { samples, last }
    }

    /// Returns the largest distance of `run` from drives with an initial state disturbed by [`JOLT`] in three
    /// directions (m), infinite if a state is not finite.
    pub fn sensitivity(&self, run: &Run) -> f64 {
        let jolt = (JOLT * (self.length() * 9.81).sqrt()) as f32;
        let [velocity, angular_velocity] = self.kick;
        let directions = [Vec3::new(1.0, -1.0, 0.3), Vec3::new(-1.0, 1.0, 0.3), Vec3::new(-1.0, -1.0, -0.3)];
        let jolted = directions.map(|direction| {
            let turning = Vec3::new(direction.z, direction.x, direction.y) * (jolt / self.length() as f32);
            let kick = [velocity + direction * jolt, angular_velocity + turning];
            self.apart(run, &Self { kick, ..self.clone() }.run())
        });
        jolted.into_iter().fold(0.0, f64::max)
    }

    /// Returns the largest distance of two drives over all samples (m).
    pub fn apart(&self, a: &Run, b: &Run) -> f64 {
        let length = self.length();
        a.samples.iter().zip(&b.samples).map(|(a, b)| apart(a, b, length)).fold(0.0, f64::max)
    }

    /// Returns the largest distance that rounding may cause between two drives (m), for a drive that a disturbance of
    /// [`JOLT`] displaces by `sensitivity` (m). `None` if the drive is too sensitive for a comparison.
    pub fn rounding(&self, sensitivity: f64) -> Option<f64> {
        let length = self.length();
        (sensitivity < 1e-3 * length).then_some(2e-4 * length + 200.0 * sensitivity)
    }
}

/// Relative size of an initial disturbance, some 32-bit roundings.
pub const JOLT: f64 = 1e-6;

/// Returns the distance of two states (m): distance of positions, plus the angle between rotations times `length`
/// (m), plus 0.1 s times the difference of velocities, rotational ones at `length`. Infinite if a state is not
/// finite.
pub fn apart(a: &State, b: &State, length: f64) -> f64 {
    let (moved, turned) = ((a.position - b.position).length(), f64::from(angle(a.rotation, b.rotation)));
    let faster = f64::from((a.velocity - b.velocity).length());
    let turning = f64::from((a.angular_velocity - b.angular_velocity).length());
    let sum = moved + length * turned + 0.1 * (faster + length * turning);
    if sum.is_finite() { sum } else { f64::INFINITY }
}

/// Returns the angle between two rotations (rad), accurate for small angles.
fn angle(a: Quat, b: Quat) -> f32 {
    let between = a.inverse() * b;
    2.0 * between.xyz().length().min(1.0).asin()
}
