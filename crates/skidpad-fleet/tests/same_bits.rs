//! A car of a fleet has the bits of a car in a world of the solver `impulse`.

mod pair;

use std::sync::Arc;

use skidpad_core::block::{BlockModel, BlockWorkspace};
use skidpad_core::model::Tyre;
use skidpad_core::simd::lane::F32x8Pair;
use skidpad_core::state::Placement;
use skidpad_core::tyre::curve::{CurveLaw, CurveTyre};
use skidpad_core::{Controls, DVec3, FreeBody, Gust, Model, ModelParts, Quat, Scene, State, Vec3};
use skidpad_fleet::{Fleet, FleetError, Lanes, Observation, StorageKind};

use crate::pair::{DT, Pair, Random};

/// Law of a tyre that the Corvette does not have.
const LINEAR_LAW: CurveLaw = CurveLaw::Linear { stiffness: [8e4; 2] };

/// Change of the parts of a model.
type Change = fn(&mut ModelParts);

/// Returns the simple curve of a tyre.
fn curve_of(tyre: &Tyre) -> CurveTyre {
    let Tyre::Curve(curve) = tyre else { panic!("{tyre:?} is no simple curve") };
    *curve
}

/// Returns the scene of both worlds: a plane on which cars do not collide.
fn scene() -> Scene {
    Scene { cars_collide: false, ..Scene::flat() }
}

/// Returns the placement of car `k`: some stand, some roll, some fall.
fn placement(k: usize) -> Placement {
    Placement { y: 20.0 * k as f64, speed: 7.0 * (k % 6) as f32, height: 0.2 * (k % 3) as f64, ..Placement::default() }
}

/// Returns a world and a fleet in the widest lanes with `count` cars of `model`.
fn widest_pair(model: &Arc<Model>, count: usize) -> Pair {
    Pair::new(&scene(), &vec![model.clone(); count], model, placement, &[Lanes::widest()])
}

/// Returns the bytes of a state.
fn bytes(state: &State) -> Vec<u8> {
    state.to_bytes()
}

/// Checks the shipped vehicles that lanes support over 10,000 steps at random pedals, gears, clutch pedals and
/// steering, from all starts, in all lanes of the processor. A car is put back every 500 steps. Each vehicle has a
/// thread.
#[test]
fn a_car_in_lanes_has_the_bits_of_one_in_a_world() {
    let model = |vehicle: &str| skidpad_spec::load(vehicle).expect("shipped").model;
    let is_in_lanes = |vehicle: &&str| Fleet::with_lanes(&model(vehicle), &scene(), DT, Lanes::Eight).is_ok();
    let lane_vehicles: Vec<&str> = skidpad_spec::shipped::names().filter(is_in_lanes).collect();
    let drive = |vehicle: &str| {
        let model = model(vehicle);
        let mut pair = Pair::new(&scene(), &vec![model.clone(); 19], &model, placement, Lanes::ALL);
        for round in 0..20 {
            pair.drive(500);
            pair.set_state(round % 19, &State::at_rest(&model, &scene(), &placement(round)));
        }
    };
    // A scope passes on the panics of its threads.
    std::thread::scope(|scope| lane_vehicles.iter().for_each(|vehicle| drop(scope.spawn(move || drive(vehicle)))));
    // Each tyre law, two and three axles.
    for vehicle in ["bmw_320i_mf", "bullet_reference", "corvette_c5", "corvette_c5_tmeasy", "truck_6x4"] {
        assert!(lane_vehicles.contains(&vehicle), "{vehicle} is not among {lane_vehicles:?}");
    }
}

/// Checks the other shipped vehicles, which live in small worlds, and that trailers are refused.
#[test]
fn a_car_in_a_small_world_has_the_bits_of_one_in_a_world() {
    for vehicle in skidpad_spec::shipped::names() {
        let model = skidpad_spec::load(vehicle).expect("shipped").model;
        let fleet = Fleet::new(&model, &scene(), DT).expect("a vehicle without a trailer");
        if matches!(fleet.storage_kind(), StorageKind::Worlds(_)) {
            Pair::with_fleets(&scene(), &vec![model; 19], placement, vec![fleet]).drive(300);
        }
    }
    for trailer in skidpad_spec::shipped::trailers() {
        let model = skidpad_spec::load(trailer).expect("shipped").model;
        assert_eq!(Fleet::new(&model, &scene(), DT).err(), Some(FleetError::Trailer), "{trailer}");
    }
}

/// Checks in lanes and in small worlds that cars that are spawned together have the states of cars that are spawned one
/// by one, whether or not they fill blocks, and that both drive alike.
#[test]
fn cars_spawned_together_are_those_spawned_one_by_one() {
    for vehicle in ["corvette_c5", "tesla_model3_awd"] {
        let model = skidpad_spec::load(vehicle).expect("shipped").model;
        let [mut singles, mut groups] = [(); 2].map(|()| Fleet::new(&model, &scene(), DT).expect("a car"));
        let mut car_count = 0;
        for group_size in [1, 5, 0, 16, 40, 3] {
            let placements: Vec<Placement> = (car_count..car_count + group_size).map(placement).collect();
            placements.iter().for_each(|placement| assert!(singles.spawn(placement) < singles.len()));
            assert_eq!(groups.spawn_all(&placements), car_count..car_count + group_size);
            car_count += group_size;
        }
        let states = |fleet: &Fleet| (0..car_count).map(|car| fleet.state(car).expect("a car")).collect::<Vec<_>>();
        assert_eq!(states(&singles), states(&groups), "{vehicle}");
        [&mut singles, &mut groups].into_iter().for_each(|fleet| fleet.step(20));
        assert_eq!(states(&singles), states(&groups), "{vehicle}");
    }
}

/// Checks in lanes and in small worlds that a reset of a subset gives the states of new cars, with neutral controls,
/// and that the other cars notice nothing.
#[test]
fn a_reset_gives_new_cars() {
    for vehicle in ["corvette_c5", "tesla_model3_awd"] {
        let model = skidpad_spec::load(vehicle).expect("shipped").model;
        let mut fleet = Fleet::new(&model, &scene(), DT).expect("a fleet");
        fleet.set_observations(&[Observation::ForwardSpeed]);
        let mut pair = Pair::with_fleets(&scene(), &vec![model.clone(); 21], placement, vec![fleet]);
        pair.drive(50);
        let cars = [20, 3, 17];
        let starts = [1.0, 2.0, 0.5, 10.0, -3.0, 4.0, -2.0, 0.0, 900.0, -800.0, 3.0, 33.0];
        pair.fleets[0].reset(&cars, &starts).expect("cars and starts");
        pair.fleets[0].step(0);
        for (&car, start) in cars.iter().zip(starts.as_chunks::<4>().0) {
            let [x, y, heading, speed] = *start;
            let placement = Placement { x, y, heading: heading as f32, speed: speed as f32, ..Placement::default() };
            let state = State::at_rest(&model, &scene(), &placement);
            let (car, fleet) = (car as usize, &pair.fleets[0]);
            assert_eq!(bytes(&fleet.state(car).expect("a car")), bytes(&state));
            assert_eq!((fleet.age(car), fleet.is_active(car)), (Ok(0.0), Ok(true)));
            // Rounding of the rotation by the heading, relative to speeds of up to 33 m/s.
            assert!((f64::from(fleet.observations()[car]) - speed).abs() < 1e-5);
            pair.world.set_state(car, &state).expect("a car");
            pair.controls[car] = Controls::default();
        }
        pair.drive(50);
        let fleet = &mut pair.fleets[0];
        assert_eq!(fleet.reset(&[21], &[0.0; 4]), Err(FleetError::NoCar { car: 21, len: 21 }));
        assert!(matches!(fleet.reset(&[1, 2], &[0.0; 4]), Err(FleetError::Length { found: 4, expected: 8, .. })));
        assert_eq!(fleet.reset(&[1], &[f64::MAX, 0.0, 0.0, 1e300]), Err(FleetError::NotFinite));
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

/// Checks cars that each have their own mass, inertia, tyres, wheels, struts, brakes, bars, air and engine torque,
/// among cars that equal the model of the fleet. A reset places a car with its own model.
#[test]
fn cars_with_numbers_of_their_own_have_the_bits_of_their_models() {
    for vehicle in ["bmw_320i_mf", "bullet_reference", "corvette_c5", "corvette_c5_tmeasy", "truck_6x4"] {
        let layout = skidpad_spec::load(vehicle).expect("shipped").model;
        let mut random = Random(3);
        let mut model = |k: usize| if k % 5 == 1 { layout.clone() } else { random.vary(&layout) };
        let models: Vec<Arc<Model>> = (0..21).map(&mut model).collect();
        let mut pair = Pair::new(&scene(), &models, &layout, placement, Lanes::ALL);
        pair.drive(500);
        let state = State::at_rest(&models[7], &scene(), &Placement { y: -30.0, speed: 5.0, ..Placement::default() });
        for fleet in &mut pair.fleets {
            fleet.reset(&[7], &[0.0, -30.0, 0.0, 5.0]).expect("a car");
            assert_eq!(bytes(&fleet.state(7).expect("a car")), bytes(&state), "{vehicle}");
        }
        pair.world.set_state(7, &state).expect("a car");
        pair.controls[7] = Controls::default();
        pair.drive(200);
    }
}

/// Checks for every shipped vehicle that lanes support that the model which a block rebuilds from the numbers of a car
/// equals the model that was set, and that a car set to the model of the fleet needs no numbers.
#[test]
fn a_block_rebuilds_the_models_of_its_cars() {
    let mut random = Random(11);
    let mut vehicle_count = 0;
    for vehicle in skidpad_spec::shipped::names() {
        let model = skidpad_spec::load(vehicle).expect("shipped").model;
        if Fleet::with_lanes(&model, &scene(), DT, Lanes::Eight).is_err() {
            continue;
        }
        vehicle_count += 1;
        let fleet = BlockModel::<F32x8Pair>::new(&model);
        let mut own = fleet.equal_cars();
        let models: Vec<Arc<Model>> = (0..8).map(|_| random.vary(&model)).collect();
        for (car, model) in models.iter().enumerate() {
            fleet.set_own_model(&mut own, car, model).expect("the same layout");
        }
        let mut workspace = BlockWorkspace::new(&fleet.into());
        workspace.begin_block(Some(&own));
        for (car, expected) in models.iter().enumerate() {
            assert!(**workspace.cars(Some(&own)).model(car) == **expected, "{vehicle}, car {car}");
        }
        let fleet = BlockModel::<F32x8Pair>::new(&model);
        for (car, expected) in models.iter().enumerate() {
            assert!(*fleet.own_model(&own, car).expect("own numbers") == **expected, "{vehicle}, car {car}");
            fleet.set_own_model(&mut own, car, &model).expect("the same layout");
            assert!(fleet.own_model(&own, car).is_none());
        }
        assert!(own.is_empty());
    }
    assert!(vehicle_count > 8, "{vehicle_count} vehicles in lanes");
}

/// Checks that a car with its own mass, inertia and grip needs less than 1 kB.
#[test]
fn a_car_with_its_own_mass_and_grip_needs_less_than_a_kilobyte() {
    const CAR_COUNT: usize = 256;
    let model = skidpad_spec::load("corvette_c5").expect("shipped").model;
    let mut fleet = Fleet::new(&model, &scene(), DT).expect("supported");
    let varied = |factor: f32| {
        let mut parts = model.parts().clone();
        parts.mass *= factor;
        parts.inertia *= factor;
        for tyre in &mut parts.tyres {
            if let Tyre::Curve(curve) = tyre {
                curve.friction = curve.friction.map(|friction| friction * factor);
            }
        }
        Arc::new(Model::new(parts).expect("a valid model"))
    };
    let memory = allocation_counter::measure(|| {
        fleet.spawn_all(&vec![Placement::default(); CAR_COUNT]);
        for car in 0..CAR_COUNT {
            fleet.set_model(car, &varied(1.0 + 0.001 * car as f32)).expect("the same layout");
        }
    });
    let bytes_per_car = memory.bytes_current as f64 / CAR_COUNT as f64;
    assert!(bytes_per_car < 1024.0, "{bytes_per_car} bytes");
}

/// Checks that a car which is set to another state, in a fleet and in a world, goes on with the same bits as its
/// neighbours, which notice nothing.
#[test]
fn a_reset_changes_one_car_only() {
    let model = skidpad_spec::load("corvette_c5").expect("shipped").model;
    let mut pair = widest_pair(&model, 9);
    let start = State::at_rest(&model, &scene(), &Placement { y: -50.0, speed: 12.0, ..Placement::default() });
    for car in [3, 8, 0] {
        pair.drive(100);
        pair.set_state(car, &start);
    }
    pair.drive(100);
}

/// Checks that an inactive car keeps its state to the bit while the others drive, and goes on from it.
#[test]
fn an_inactive_car_keeps_its_state() {
    let model = skidpad_spec::load("corvette_c5").expect("shipped").model;
    let mut pair = widest_pair(&model, 9);
    pair.drive(50);
    let state = pair.fleets[0].state(4).expect("a car");
    pair.fleets[0].set_active(4, false).expect("a car");
    pair.world.suspend(4).expect("a car");
    pair.drive(50);
    assert_eq!(bytes(&pair.fleets[0].state(4).expect("a car")), bytes(&state));
    pair.fleets[0].set_active(4, true).expect("a car");
    pair.world.resume(4, &state).expect("a car");
    pair.drive(50);
}

/// Checks that a fleet and a world save the same bytes, that each loads those of the other, and that both go on alike.
/// Bytes of another number of cars change nothing.
#[test]
fn a_fleet_and_a_world_load_each_other() {
    let model = skidpad_spec::load("corvette_c5").expect("shipped").model;
    let mut pair = widest_pair(&model, 9);
    pair.drive(30);
    let bytes = pair.fleets[0].save();
    assert!(bytes == pair.world.save().expect("a world without hulls in contact"));
    pair.drive(30);
    pair.fleets[0].load(&bytes).expect("its own bytes");
    pair.world.load(&bytes).expect("bytes of a fleet");
    assert_eq!((pair.fleets[0].steps(), pair.world.steps()), (30, 30));
    pair.drive(30);
    let bytes = pair.fleets[0].save();
    assert!(pair.fleets[0].load(&bytes[..bytes.len() - 1]).is_err());
    assert!(bytes == pair.fleets[0].save());
    assert_eq!(pair.fleets[0].age(3).expect("a car"), 30.0 * f64::from(DT));
}

/// Checks on one and on two threads that steps do not allocate, also those in which cars are solved alone or touch the
/// ground with their hulls.
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
        for car in [2, 3, 7, 19] {
            fleet.set_model(car, &random.vary(&model)).expect("the same layout");
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
        Fleet::new(&tesla, &scene(), DT).expect("small worlds").storage_kind(),
        &StorageKind::Worlds(Box::new(error.clone()))
    );
    assert!(error.to_string().contains("electric motors are not supported"), "{error}");
    let model = skidpad_spec::load("corvette_c5").expect("shipped").model;
    let mut fleet = Fleet::new(&model, &scene(), DT).expect("supported");
    fleet.spawn(&placement(0));
    // Parts that no number of a car can express, and the start of the reason for which each is refused.
    let changes: [(Change, &str); 5] = [
        (|parts| parts.steering.lock *= 0.5, "limits of the steering"),
        (|parts| parts.tyres[0] = CurveTyre { law: LINEAR_LAW, ..curve_of(&parts.tyres[0]) }.into(), "tyres"),
        (|parts| parts.wheels[2].strut.progressive_rate = 100.0, "wheels"),
        (|parts| parts.wheels[1].unsprung = None, "wheels"),
        (|parts| parts.raycast_reference.roll_influence = 0.5, "parameters of other engines"),
    ];
    for (change, reason) in changes {
        let mut parts = model.parts().clone();
        change(&mut parts);
        let other = Model::new(parts).expect("a valid model").into();
        let Err(FleetError::Layout(reasons)) = fleet.set_model(0, &other) else { panic!("{reason} is not refused") };
        assert!(reasons.len() == 1 && reasons[0].starts_with(reason), "{reasons:?}");
    }
    assert_eq!(fleet.set_active(1, true), Err(FleetError::NoCar { car: 1, len: 1 }));
    let gust = Gust { velocity: Vec3::Y, start_time: 1.0, rise_time: 1.0, hold_time: 1.0 };
    let body = FreeBody::solid_box(100.0, Vec3::ONE, DVec3::new(50.0, 0.0, 0.5));
    let refused = Scene { gusts: vec![gust], free_bodies: vec![body], ..scene() };
    let parts = FleetError::Scene(vec!["free bodies", "gusts"]);
    assert_eq!(Fleet::with_lanes(&model, &refused, DT, Lanes::Eight).err(), Some(parts));
    assert_eq!(Fleet::new(&model, &refused, DT).err(), Some(FleetError::FreeBodies));
}
