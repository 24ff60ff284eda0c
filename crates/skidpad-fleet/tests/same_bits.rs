//! A car of a fleet has the bits of a car in a world of the solver `impulse`.

use skidpad_core::state::Placement;
use skidpad_core::{CarStart, Controls, Scene};
use skidpad_fleet::Fleet;

/// Pseudo-random number generator with its seed.
struct Random(u64);

impl Random {
    /// Returns a number from 0 to 1: the upper bits of D. E. Knuth's linear congruential generator MMIX.
    fn next_share(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 24) as f32
    }

    /// Returns random pedals and steering: in a quarter of the cases with braking, in some with a requested gear, a clutch
    /// pedal or a pulled handbrake.
    fn controls(&mut self) -> Controls {
        let mut chance = |share: f32| self.next_share() < share;
        let (has_brake, has_gear, has_clutch, has_handbrake) = (chance(0.25), chance(0.1), chance(0.05), chance(0.05));
        let mut number = || self.next_share();
        Controls {
            throttle: number(),
            brake: if has_brake { number() } else { 0.0 },
            handbrake: if has_handbrake { number() } else { 0.0 },
            steer: 0.6 * number() - 0.3,
            gear: has_gear.then(|| (7.0 * number()) as i8 - 1),
            clutch: has_clutch.then(&mut number),
            ..Controls::default()
        }
    }
}

/// Drives `count` cars of a shipped vehicle for `steps` steps of `dt` s at random controls, in a world and in a fleet, and
/// compares their states in every step.
fn compare_with_world(vehicle: &str, count: usize, steps: u32, dt: f32) {
    let model = skidpad_spec::load(vehicle).expect("shipped").model;
    let scene = Scene::flat();
    let placement = |k: usize| Placement {
        y: 20.0 * k as f64,
        speed: 7.0 * (k % 6) as f32,
        height: 0.2 * (k % 3) as f64,
        ..Placement::default()
    };
    let starts: Vec<CarStart> =
        (0..count).map(|k| CarStart { model: model.clone(), placement: placement(k) }).collect();
    let scene = Scene { cars_collide: false, ..scene };
    let mut world = (skidpad_impulse::BACKEND_INFO.build_world)(&scene, &starts, dt);
    let mut fleet = Fleet::new(&model, &scene, dt).expect("supported");
    for k in 0..count {
        fleet.spawn(&placement(k));
    }
    let mut random = Random(7);
    let mut controls = vec![Controls::default(); count];
    for step in 0..steps {
        for (car, controls) in controls.iter_mut().enumerate().filter(|(car, _)| (step as usize + 7 * car) % 40 == 0) {
            *controls = random.controls();
            fleet.set_controls(car, controls).expect("a car");
        }
        world.step(&controls);
        fleet.step(1);
        for car in 0..count {
            assert_eq!(&fleet.state(car).expect("a car"), world.state(car), "{vehicle}, car {car}, step {step}");
        }
    }
}

#[test]
fn a_corvette_in_a_fleet_has_the_bits_of_one_in_a_world() {
    compare_with_world("corvette_c5", 11, 1000, 0.01);
}
