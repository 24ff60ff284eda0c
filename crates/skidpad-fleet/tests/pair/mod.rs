//! Worlds of the solver `impulse` and fleets with the same cars, and random inputs for both.

use std::sync::Arc;

use skidpad_core::model::{Curve, Powertrain, Tyre};
use skidpad_core::state::Placement;
use skidpad_core::{CarStart, Controls, Model, Scene, Simulation, State};
use skidpad_fleet::{Fleet, Lanes};

/// Length of a step, s.
pub const DT: f32 = 0.01;

/// Pseudo-random number generator with its seed.
pub struct Random(pub u64);

#[allow(dead_code, reason = "not every test varies models")]
impl Random {
    /// Returns a number from 0 to 1: the upper bits of D. E. Knuth's linear congruential generator MMIX.
    pub fn next_share(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 24) as f32
    }

    /// Returns random pedals and steering: in a quarter of the cases with braking, in some with a requested gear, a clutch
    /// pedal, a pulled handbrake or the starter.
    pub fn controls(&mut self) -> Controls {
        let mut chance = |share: f32| self.next_share() < share;
        let (has_brake, has_gear, has_clutch, has_handbrake) = (chance(0.25), chance(0.1), chance(0.05), chance(0.05));
        let starter = chance(0.05);
        let mut number = || self.next_share();
        Controls {
            throttle: number(),
            brake: if has_brake { number() } else { 0.0 },
            handbrake: if has_handbrake { number() } else { 0.0 },
            steer: 0.6 * number() - 0.3,
            gear: has_gear.then(|| (7.0 * number()) as i8 - 1),
            clutch: has_clutch.then(&mut number),
            starter,
            ..Controls::default()
        }
    }

    /// Returns a factor from 0.7 to 1.3.
    pub fn factor(&mut self) -> f32 {
        0.7 + 0.6 * self.next_share()
    }

    /// Returns `model` with other masses, tyres, struts, brakes, air and engine torques.
    pub fn vary(&mut self, model: &Model) -> Arc<Model> {
        let mut parts = model.parts().clone();
        let mass = self.factor();
        parts.mass *= mass;
        parts.inertia *= mass;
        for tyre in &mut parts.tyres {
            if let Tyre::Curve(curve) = tyre {
                let grip = self.factor();
                curve.friction = curve.friction.map(|friction| friction * grip);
            }
        }
        for wheel in &mut parts.wheels {
            wheel.strut.rate *= self.factor();
            wheel.strut.bump_damping *= self.factor();
            wheel.brake_torque *= self.factor();
        }
        parts.aero.drag *= self.factor();
        if let Powertrain::Engine(drive) = &mut parts.powertrain {
            let factor = self.factor();
            let points = drive.engine.torque.points().iter().map(|[speed, torque]| [*speed, torque * factor]);
            drive.engine.torque = Curve::new(points.collect()).expect("a curve");
        }
        Model::new(parts).expect("a valid model").into()
    }
}

/// World and fleets with the same cars, one fleet for each type of lanes.
pub struct Pair {
    /// World of the solver `impulse`.
    pub world: Box<dyn Simulation>,
    /// Fleets, one for each type of lanes.
    pub fleets: Vec<Fleet>,
    controls: Vec<Controls>,
    random: Random,
}

impl Pair {
    /// Creates a world and fleets in all `lanes` with cars of `models` at `placements` in `scene`. A fleet has the layout
    /// of the model `layout`.
    pub fn new(
        scene: &Scene,
        models: &[Arc<Model>],
        layout: &Arc<Model>,
        placements: impl Fn(usize) -> Placement,
        lanes: &[Lanes],
    ) -> Self {
        let starts: Vec<CarStart> = models
            .iter()
            .enumerate()
            .map(|(k, model)| CarStart { model: model.clone(), placement: placements(k) })
            .collect();
        let world = (skidpad_impulse::BACKEND_INFO.build_world)(scene, &starts, DT);
        let fleet = |lanes: &Lanes| {
            let mut fleet =
                Fleet::with_lanes(layout, scene, DT, *lanes).expect("a model and a scene that a fleet takes");
            for (k, model) in models.iter().enumerate() {
                fleet.spawn(&placements(k));
                if !Arc::ptr_eq(model, layout) {
                    fleet.set_model(k, model).expect("the same layout");
                    fleet.set_state(k, world.state(k)).expect("a state");
                }
            }
            fleet
        };
        let fleets = lanes.iter().filter(|lanes| lanes.is_supported()).map(fleet).collect();
        Self { world, fleets, controls: vec![Controls::default(); models.len()], random: Random(7) }
    }

    /// Sets the state of `car` in the world and in all fleets.
    pub fn set_state(&mut self, car: usize, state: &State) {
        self.world.set_state(car, state).expect("a car");
        self.fleets.iter_mut().for_each(|fleet| fleet.set_state(car, state).expect("a car"));
    }

    /// Takes `steps` steps at random controls and compares the bytes of all states after each of them.
    pub fn drive(&mut self, steps: u32) {
        let start = self.world.steps() as usize;
        for step in start..start + steps as usize {
            for car in (0..self.controls.len()).filter(|car| (step + 7 * car).is_multiple_of(40)) {
                self.controls[car] = self.random.controls();
                for fleet in &mut self.fleets {
                    fleet.set_controls(car, &self.controls[car]).expect("a car");
                }
            }
            self.world.step(&self.controls);
            for (number, fleet) in self.fleets.iter_mut().enumerate() {
                fleet.step(1);
                for car in 0..self.controls.len() {
                    let (found, expected) = (fleet.state(car).expect("a car"), self.world.state(car));
                    let is_same = found.to_bytes() == expected.to_bytes();
                    assert!(is_same, "car {car}, step {step}, lanes {number}: {found:?} instead of {expected:?}");
                }
            }
        }
    }
}
