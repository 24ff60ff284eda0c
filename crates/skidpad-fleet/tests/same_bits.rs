//! A car of a fleet has the bits of a car in a world of the solver `impulse`.

use std::sync::Arc;

use skidpad_core::model::{Curve, Powertrain, Tyre};
use skidpad_core::state::Placement;
use skidpad_core::{CarStart, Controls, Model, Quat, Scene, Simulation, State};
use skidpad_fleet::{Fleet, FleetError, Lanes, Observation, Storage};

/// Length of a step, s.
const DT: f32 = 0.01;

/// Shipped vehicles that a fleet takes.
const FLEET_VEHICLES: [&str; 4] = ["corvette_c5", "corvette_c5_tmeasy", "corvette_c5_mf", "bullet_reference"];

/// Pseudo-random number generator with its seed.
struct Random(u64);

impl Random {
    /// Returns a number from 0 to 1: the upper bits of D. E. Knuth's linear congruential generator MMIX.
    fn next_share(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 24) as f32
    }

    /// Returns random pedals and steering: in a quarter of the cases with braking, in some with a requested gear, a clutch
    /// pedal, a pulled handbrake or the starter.
    fn controls(&mut self) -> Controls {
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
    fn factor(&mut self) -> f32 {
        0.7 + 0.6 * self.next_share()
    }

    /// Returns `model` with other masses, tyres, struts, brakes, air and engine torques.
    fn vary(&mut self, model: &Model) -> Arc<Model> {
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

/// Returns the scene of both worlds: a plane on which cars do not collide.
fn scene() -> Scene {
    Scene { cars_collide: false, ..Scene::flat() }
}

/// Returns the placement of car `k`: some stand, some roll, some fall.
fn placement(k: usize) -> Placement {
    Placement { y: 20.0 * k as f64, speed: 7.0 * (k % 6) as f32, height: 0.2 * (k % 3) as f64, ..Placement::default() }
}

/// World and fleet with the same cars.
struct Pair {
    world: Box<dyn Simulation>,
    fleet: Fleet,
    controls: Vec<Controls>,
    random: Random,
}

impl Pair {
    /// Creates a world and a fleet with cars of `models`.
    fn new(models: &[Arc<Model>], layout: &Arc<Model>) -> Self {
        Self::with_lanes(models, layout, Lanes::widest())
    }

    /// Creates a world and a fleet in these `lanes` with cars of `models`.
    fn with_lanes(models: &[Arc<Model>], layout: &Arc<Model>, lanes: Lanes) -> Self {
        Self::with_fleet(models, Fleet::with_lanes(layout, &scene(), DT, lanes).expect("a model that lanes take"))
    }

    /// Creates a world, and fills `fleet`, with cars of `models`.
    fn with_fleet(models: &[Arc<Model>], mut fleet: Fleet) -> Self {
        let starts: Vec<CarStart> = models
            .iter()
            .enumerate()
            .map(|(k, model)| CarStart { model: model.clone(), placement: placement(k) })
            .collect();
        let world = (skidpad_impulse::BACKEND_INFO.build_world)(&scene(), &starts, DT);
        for (k, model) in models.iter().enumerate() {
            fleet.spawn(&placement(k));
            if !Arc::ptr_eq(model, fleet.model()) {
                fleet.set_model(k, model).expect("the same layout");
                fleet.set_state(k, world.state(k)).expect("a state");
            }
        }
        Self { world, fleet, controls: vec![Controls::default(); models.len()], random: Random(7) }
    }

    /// Takes `steps` steps at random controls and compares the bytes of all states after each of them.
    fn drive(&mut self, steps: u32) {
        let start = self.world.steps() as usize;
        for step in start..start + steps as usize {
            for car in (0..self.controls.len()).filter(|car| (step + 7 * car).is_multiple_of(40)) {
                self.controls[car] = self.random.controls();
                self.fleet.set_controls(car, &self.controls[car]).expect("a car");
            }
            self.world.step(&self.controls);
            self.fleet.step(1);
            for car in 0..self.controls.len() {
                let (found, expected) = (self.fleet.state(car).expect("a car"), self.world.state(car));
                assert_eq!(bytes(&found), bytes(expected), "car {car}, step {step}: {found:?} instead of {expected:?}");
            }
        }
    }
}

/// Returns the bytes of a state.
fn bytes(state: &State) -> Vec<u8> {
    state.to_bytes()
}

/// Checks shipped vehicles at random pedals, gears, clutch pedals and steering, from all starts, in all lanes of the
/// processor.
#[test]
fn a_car_in_a_fleet_has_the_bits_of_one_in_a_world() {
    for vehicle in FLEET_VEHICLES {
        let model = skidpad_spec::load(vehicle).expect("shipped").model;
        for lanes in Lanes::ALL.iter().filter(|lanes| lanes.is_supported()) {
            Pair::with_lanes(&vec![model.clone(); 19], &model, *lanes).drive(1000);
        }
    }
}

/// Checks all shipped vehicles: those that lanes do not support live in small worlds.
#[test]
fn every_shipped_car_has_the_bits_of_one_in_a_world() {
    for vehicle in skidpad_spec::shipped::names().chain(skidpad_spec::shipped::trailers()) {
        let model = skidpad_spec::load(vehicle).expect("shipped").model;
        let fleet = match Fleet::new(&model, &scene(), DT) {
            Ok(fleet) => fleet,
            Err(error) => {
                assert_eq!((error, model.parts().coupler.is_some()), (FleetError::Trailer, true));
                continue;
            }
        };
        let is_in_lanes = matches!(fleet.storage(), Storage::Lanes(_));
        assert_eq!(is_in_lanes, FLEET_VEHICLES.contains(&vehicle), "{vehicle}");
        Pair::with_fleet(&vec![model; 19], fleet).drive(300);
    }
}

/// Checks in lanes and in small worlds that a reset of a subset gives the states of new cars, with neutral controls, and
/// that the other cars notice nothing.
#[test]
fn a_reset_gives_new_cars() {
    for vehicle in ["corvette_c5", "tesla_model3_awd"] {
        let model = skidpad_spec::load(vehicle).expect("shipped").model;
        let fleet = Fleet::new(&model, &scene(), DT).expect("a fleet");
        let mut pair = Pair::with_fleet(&vec![model.clone(); 21], fleet);
        pair.fleet.set_observations(&[Observation::ForwardSpeed]);
        pair.drive(50);
        let cars = [20, 3, 17];
        let starts = [1.0, 2.0, 0.5, 10.0, -3.0, 4.0, -2.0, 0.0, 900.0, -800.0, 3.0, 33.0];
        pair.fleet.reset(&cars, &starts).expect("cars and starts");
        pair.fleet.observe();
        for (&car, start) in cars.iter().zip(starts.as_chunks::<4>().0) {
            let [x, y, heading, speed] = *start;
            let placement = Placement { x, y, heading: heading as f32, speed: speed as f32, ..Placement::default() };
            let state = State::at_rest(&model, &scene(), &placement);
            let car = car as usize;
            assert_eq!(bytes(&pair.fleet.state(car).expect("a car")), bytes(&state));
            assert_eq!((pair.fleet.age(car), pair.fleet.is_active(car)), (Ok(0.0), Ok(true)));
            // Rounding of the rotation by the heading.
            assert!((f64::from(pair.fleet.observations()[car]) - speed).abs() < 1e-5);
            pair.world.set_state(car, &state).expect("a car");
            pair.controls[car] = Controls::default();
        }
        pair.drive(50);
        assert_eq!(pair.fleet.reset(&[21], &[0.0; 4]), Err(FleetError::NoCar { car: 21, len: 21 }));
        assert!(matches!(pair.fleet.reset(&[1, 2], &[0.0; 4]), Err(FleetError::Length { found: 4, expected: 8, .. })));
        assert_eq!(pair.fleet.reset(&[1], &[f64::MAX, 0.0, 0.0, 1e300]), Err(FleetError::NotFinite));
    }
}

/// Checks that a fleet can be used by a thread other than that which created it, in all lanes of the processor.
#[test]
fn a_fleet_moves_to_another_thread() {
    let model = skidpad_spec::load("corvette_c5").expect("shipped").model;
    for lanes in Lanes::ALL.iter().filter(|lanes| lanes.is_supported()) {
        let mut fleet = Fleet::with_lanes(&model, &scene(), DT, *lanes).expect("supported");
        fleet.set_observations(&[Observation::ForwardSpeed]);
        let speed = std::thread::spawn(move || {
            fleet.spawn(&Placement { speed: 5.0, ..Placement::default() });
            fleet.set_actions(&[0.5, 0.0, 0.0, 0.0]).expect("one car");
            fleet.step(10);
            fleet.observations()[0]
        });
        assert!(speed.join().expect("no panic") > 5.0);
    }
}

/// Checks cars that each have their own mass, inertia, grip, springs, dampers, brakes, drag and engine torque.
#[test]
fn cars_with_numbers_of_their_own_have_the_bits_of_their_models() {
    let layout = skidpad_spec::load("corvette_c5").expect("shipped").model;
    let mut random = Random(3);
    let models: Vec<Arc<Model>> = (0..21).map(|_| random.vary(&layout)).collect();
    for lanes in Lanes::ALL.iter().filter(|lanes| lanes.is_supported()) {
        Pair::with_lanes(&models, &layout, *lanes).drive(1000);
    }
}

/// Checks that a car which is set to another state, in a fleet and in a world, goes on with the same bits as its
/// neighbours, which notice nothing.
#[test]
fn a_reset_changes_one_car_only() {
    let model = skidpad_spec::load("corvette_c5").expect("shipped").model;
    let mut pair = Pair::new(&vec![model.clone(); 9], &model);
    let start = State::at_rest(&model, &scene(), &Placement { y: -50.0, speed: 12.0, ..Placement::default() });
    for car in [3, 8, 0] {
        pair.drive(100);
        pair.world.set_state(car, &start).expect("a car");
        pair.fleet.set_state(car, &start).expect("a car");
    }
    pair.drive(100);
}

/// Checks that an inactive car keeps its state to the bit while the others drive, and goes on from it.
#[test]
fn an_inactive_car_keeps_its_state() {
    let model = skidpad_spec::load("corvette_c5").expect("shipped").model;
    let mut pair = Pair::new(&vec![model.clone(); 9], &model);
    pair.drive(50);
    let state = pair.fleet.state(4).expect("a car");
    pair.fleet.set_active(4, false).expect("a car");
    pair.world.suspend(4).expect("a car");
    pair.drive(50);
    assert_eq!(bytes(&pair.fleet.state(4).expect("a car")), bytes(&state));
    pair.fleet.set_active(4, true).expect("a car");
    pair.world.resume(4, &state).expect("a car");
    pair.drive(50);
}

/// Checks that a fleet and a world save the same bytes, that each loads those of the other, and that both go on alike.
/// Bytes of another number of cars change nothing.
#[test]
fn a_fleet_and_a_world_load_each_other() {
    let model = skidpad_spec::load("corvette_c5").expect("shipped").model;
    let mut pair = Pair::new(&vec![model.clone(); 9], &model);
    pair.drive(30);
    let bytes = pair.fleet.save();
    assert!(bytes == pair.world.save().expect("a world without hulls in contact"));
    pair.drive(30);
    pair.fleet.load(&bytes).expect("its own bytes");
    pair.world.load(&bytes).expect("bytes of a fleet");
    assert_eq!((pair.fleet.steps(), pair.world.steps()), (30, 30));
    pair.drive(30);
    let bytes = pair.fleet.save();
    assert!(pair.fleet.load(&bytes[..bytes.len() - 1]).is_err());
    assert!(bytes == pair.fleet.save());
    assert_eq!(pair.fleet.age(3).expect("a car"), 30.0 * f64::from(DT));
}

/// Checks on one and on two threads that steps do not allocate, also those in which cars are solved alone or touch the ground with their hulls.
#[test]
fn a_step_does_not_allocate() {
    let model = skidpad_spec::load("corvette_c5").expect("shipped").model;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    pool.install(|| {
        let mut fleet = Fleet::new(&model, &scene(), DT).expect("supported");
        fleet.set_observations(&[Observation::X, Observation::WheelLoad(2)]);
        let mut random = Random(5);
        for car in 0..20 {
            fleet.spawn(&Placement { height: 0.1 * car as f64, ..placement(car) });
        }
        // A car on its roof.
        let state = fleet.state(7).expect("a car");
        let rotation = Quat::from_rotation_x(3.0) * state.rotation;
        fleet.set_state(7, &State { rotation, ..state }).expect("a car");
        fleet.step(1);
        for _ in 0..20 {
            for car in 0..20 {
                fleet.set_controls(car, &random.controls()).expect("a car");
            }
            let allocations = allocation_counter::measure(|| fleet.step(10));
            assert_eq!(allocations.count_total, 0);
        }
        assert!(fleet.rare_steps() > 0, "the engines that the starter turns");
    });
}

/// Checks that one and three threads give the same bits, and so do several steps at once.
#[test]
fn threads_and_substeps_change_no_bit() {
    let model = skidpad_spec::load("corvette_c5").expect("shipped").model;
    let run = |threads: usize, substeps: u32| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| {
            let mut fleet = Fleet::new(&model, &scene(), DT).expect("supported");
            let mut random = Random(11);
            for car in 0..100 {
                fleet.spawn(&placement(car));
                fleet.set_controls(car, &random.controls()).expect("a car");
            }
            for _ in 0..200 / substeps {
                fleet.step(substeps);
            }
            (0..100).flat_map(|car| bytes(&fleet.state(car).expect("a car"))).collect::<Vec<u8>>()
        })
    };
    let one = run(1, 1);
    assert!(one == run(3, 1), "three threads");
    assert!(one == run(3, 8), "eight steps at once");
}

/// Checks that models with unsupported parts are refused with every reason, and so is a car with another layout.
#[test]
fn what_a_fleet_cannot_take_is_refused_with_the_reason() {
    let tesla = skidpad_spec::load("tesla_model3_awd").expect("shipped").model;
    let error = Fleet::with_lanes(&tesla, &scene(), DT, Lanes::Eight).expect_err("electric motors");
    assert_eq!(
        Fleet::new(&tesla, &scene(), DT).expect("small worlds").storage(),
        &Storage::Worlds(Box::new(error.clone()))
    );
    assert!(error.to_string().contains("electric motors are not supported"), "{error}");
    let model = skidpad_spec::load("corvette_c5").expect("shipped").model;
    let mut fleet = Fleet::new(&model, &scene(), DT).expect("supported");
    fleet.spawn(&placement(0));
    let mut parts = model.parts().clone();
    parts.steering.lock *= 0.5;
    let other = Model::new(parts).expect("a valid model").into();
    assert_eq!(fleet.set_model(0, &other), Err(FleetError::Layout(vec!["limits of the steering"])));
    assert_eq!(fleet.set_active(1, true), Err(FleetError::NoCar { car: 1, len: 1 }));
    let boxes = Scene { has_plane: false, ..scene() };
    assert_eq!(Fleet::with_lanes(&model, &boxes, DT, Lanes::Eight).err(), Some(FleetError::Scene("no plane")));
}
