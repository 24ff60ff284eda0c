//! Bit-identical results of cars stepped in a batch and of cars stepped alone.

use std::sync::Arc;

use skidpad::core::{
    AssistLog, CarStart, Controls, DVec3, EngineSignals, FixedBox, Model, Platform, PlatformCourse, Quat, Scene,
    Simulation, SolverInfo, State, SurfaceTexture, Vec3, WheelContact,
};

use skidpad::core::model::{AntiRollBar, Assists, BarForcePath, ModelParts, Wheel};
use skidpad::core::state::{Placement, WheelState};

use crate::common::{Simplify, c5};
use crate::step::random::Random;
use crate::step::random_cars::random_car;

/// Number of cars: two batches of eight, and three more that are too few for a batch.
const CARS: usize = 19;

/// Number of obstacles in each of three rows.
const BLOCKS: u32 = 7;

/// Slope of the ground below the obstacles, rad.
const SLOPE: f32 = 0.05;

/// Number of cars that are inserted later.
const MORE: usize = 5;

const SEEDS: u64 = 90;

/// Number of random cars with any drivetrain.
const DRIVETRAINS: u64 = 60;

/// Number of random cars on more than two axles.
const LONG: u64 = 24;

/// Returns starts of `CARS` cars of `model`, with random positions, speeds and headings.
fn starts(model: &Arc<Model>, random: &mut Random) -> Vec<CarStart> {
    let mut placement = |car: usize| Placement {
        x: 30.0 * car as f64,
        y: random.between(-40.0, 40.0).into(),
        speed: if random.chance(0.08) { 0.0 } else { random.between(-3.0, 40.0) },
        heading: random.between(-3.2, 3.2),
        height: if random.chance(0.04) { random.between(0.0, 0.5).into() } else { 0.0 },
        ..Placement::default()
    };
    (0..CARS).map(|car| CarStart { model: model.clone(), placement: placement(car) }).collect()
}

fn change(controls: &mut Controls, random: &mut Random, lock: f32) {
    if !random.chance(0.02) {
        return;
    }
    *controls = Controls {
        throttle: random.between(-0.5, 1.5).clamp(0.0, 1.0),
        brake: random.between(-2.0, 1.0).clamp(0.0, 1.0),
        handbrake: if random.chance(0.1) { 1.0 } else { 0.0 },
        steer: lock * random.between(-1.0, 1.0),
        gear: random.chance(0.3).then(|| random.below(6) as i8 - 1),
        clutch: random.chance(0.1).then(|| random.between(0.0, 1.0)),
        bars: random.chance(0.1).then(|| random.between(0.0, 1.0)),
        starter: random.chance(0.03),
        ..Controls::default()
    };
}

/// Returns whether the first wheel of `car` has a contact in the vehicle's own rows. After a step in a batch it has none.
fn touches(world: &dyn Simulation, car: usize) -> bool {
    world.car(car).vehicle.is_some_and(|vehicle| vehicle.wheel_contact(0).is_some())
}

/// Returns the reported wheel contacts and engine signals of `car`, and its assist log.
fn told(world: &dyn Simulation, car: usize) -> (Vec<Option<WheelContact>>, Option<EngineSignals>, Option<AssistLog>) {
    let view = world.car(car);
    let contacts = (0..view.state.wheels.len()).map(|wheel| view.wheel_contact(wheel)).collect();
    (contacts, view.engine_signals(), view.vehicle.map(|vehicle| *vehicle.assist_log()))
}

/// Returns `starts` with two equal models in alternation, so that no cars are batched.
fn in_turn(starts: &[CarStart]) -> Vec<CarStart> {
    let mut apart = starts.to_vec();
    let other = Arc::new(Model::clone(&starts[0].model));
    apart.iter_mut().skip(1).step_by(2).for_each(|start| start.model = other.clone());
    apart
}

/// Suspends a car after a third of the steps. Resumes it elsewhere after half of them, and inserts `MORE` cars, which fill
/// the third batch.
fn come_and_go(world: &mut dyn Simulation, starts: &[CarStart], step: usize, steps: usize) {
    if step == steps / 3 {
        world.suspend(3).expect("it is there");
    } else if step == steps / 2 {
        let state = world.state(5).clone();
        world.resume(3, &state).expect("it fits");
        starts[..MORE].iter().for_each(|start| _ = world.insert(start));
    }
}

/// Returns whether a wheel of `car` that carries load is at its droop stop.
fn is_held_in_droop(car: &State, model: &Model) -> bool {
    let held =
        |(wheel, of): (&WheelState, &Wheel)| wheel.load > 0.0 && wheel.compression < -0.999 * of.strut.droop_travel;
    car.wheels.iter().zip(&model.parts().wheels).any(held)
}

/// Drives cars of `model` in batches and alone for `steps` with `impulse`, and compares all their bits after each step.
/// Returns the number of car-steps in a batch over `steps * CARS`, and the number of these with a wheel at its droop stop,
/// over the same.
fn same_bits(what: &str, model: &Arc<Model>, scene: &Scene, hz: f32, steps: usize, seed: u64) -> [f64; 2] {
    same_bits_on(&skidpad::impulse::BACKEND_INFO, what, model, scene, hz, steps, seed)
}

/// Makes the comparison of [`same_bits`] with `solver`, at `hz` steps a second.
fn same_bits_on(
    solver: &SolverInfo,
    what: &str,
    model: &Arc<Model>,
    scene: &Scene,
    hz: f32,
    steps: usize,
    seed: u64,
) -> [f64; 2] {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let starts = starts(model, &mut random);
    // Some of the cars would collide.
    let scene = Scene { cars_collide: false, ..scene.clone() };
    let apart = in_turn(&starts);
    let world = |starts: &[CarStart]| (solver.build_world)(&scene, starts, 1.0 / hz);
    let [mut abreast, mut alone] = [&starts, &apart].map(|starts| world(starts));
    let mut controls = vec![Controls { throttle: 0.3, ..Controls::default() }; CARS + MORE];
    let (lock, mut together) = (model.parts().steering.lock, [0, 0]);
    for step in 0..steps {
        controls.iter_mut().for_each(|controls| change(controls, &mut random, lock));
        come_and_go(&mut *abreast, &starts, step, steps);
        come_and_go(&mut *alone, &apart, step, steps);
        let reports = [abreast.step(&controls), alone.step(&controls)];
        assert_eq!(reports[0], reports[1], "{what}, {hz} Hz, step {step}");
        for car in 0..alone.slot_count() {
            let [ours, theirs] = [abreast.state(car), alone.state(car)].map(State::to_bytes);
            if touches(&*alone, car) && !touches(&*abreast, car) {
                together[0] += 1;
                together[1] += usize::from(is_held_in_droop(alone.state(car), model));
            }
            assert_eq!(told(&*abreast, car), told(&*alone, car), "{what}, {hz} Hz, step {step}, car {car}");
            assert!(
                ours == theirs,
                "{what}, {hz} Hz, step {step}, car {car}: {:?} abreast, {:?} alone",
                abreast.state(car),
                alone.state(car)
            );
        }
    }
    together.map(|count| count as f64 / (steps * CARS) as f64)
}

/// Returns a slope with boxes to drive over, into and off. Some have the rolling resistance of loose gravel, some move.
pub fn rough() -> Scene {
    let texture =
        |i: u32| SurfaceTexture { rolling_resistance: if i % 3 == 1 { 0.05 } else { 0.0 }, ..SurfaceTexture::NONE };
    let along = Quat::from_rotation_y(-SLOPE);
    let at = |x: f64, y: f64| DVec3::new(x, y, f64::from(SLOPE).tan() * x);
    let place = |i: u32| [90.0 * f64::from(i % BLOCKS), 25.0 * f64::from(i / BLOCKS) - 25.0];
    let block = |i: u32| FixedBox {
        centre: at(place(i)[0], place(i)[1]),
        rotation: along * Quat::from_rotation_y(0.1 * (i % 3) as f32 - 0.1),
        half_extents: [4.0, 3.0, 0.02 + 0.1 * (i % 4) as f32].into(),
        grip: 0.2 + 0.2 * (i % 5) as f32,
        texture: texture(i),
    };
    // Plates are thin and parallel to the ground: cars roll off them without a hop.
    let plate = |i: u32| FixedBox {
        centre: at(place(i)[0] + 30.0, place(i)[1] + 10.0),
        rotation: along,
        half_extents: [7.0, 5.0, 0.01].into(),
        ..block(i)
    };
    let moving = |i: u32| Platform {
        shape: plate(i),
        axis: Vec3::Z,
        course: PlatformCourse::Steady { velocity: Vec3::new(-0.5, 0.3, 0.0), rate: 0.02 },
    };
    let (all, some) = (0..3 * BLOCKS, (0..3 * BLOCKS).step_by(2));
    let (boxes, platforms) = (all.map(block).collect(), some.map(moving).collect());
    Scene { boxes, platforms, ..Scene::sloping(SLOPE) }
}

#[test]
fn shipped_cars_abreast_have_the_bits_of_each_alone() {
    for (i, name) in skidpad::spec::shipped::names().enumerate() {
        let model = skidpad::spec::load(name).expect("shipped").model;
        let gravel =
            Scene { texture: SurfaceTexture { rolling_resistance: 0.03, ..SurfaceTexture::NONE }, ..Scene::flat() };
        let shares = [
            same_bits(name, &model, &Scene::flat(), 60.0, 300, 1 + i as u64)[0],
            same_bits(name, &model, &rough(), 240.0, 300, 200 + i as u64)[0],
            same_bits(name, &model, &gravel, 120.0, 300, 400 + i as u64)[0],
        ];
        println!("{name}: {shares:.2?} of the steps abreast");
        // Sixteen of the nineteen cars can be batched, five more later. A car on moving ground is stepped alone. Tyres that
        // are stiff for their step need iterations near walking pace; all tyres of the reference are at 60 Hz. Cars whose
        // motors slow wheels down are stepped alone while the wheels slip.
        let least = match name {
            "bullet_reference" => [0.05, 0.5, 0.05],
            "tesla_model3_awd" => [0.2, 0.25, 0.4],
            _ => [0.6, 0.5, 0.6],
        };
        assert!(shares.iter().zip(least).all(|(share, least)| *share > least), "{name}: {shares:?}");
    }
}

/// Cars brake on a slope, where stiff tyres begin the sweep in the batch. Every third car drives off after a second.
#[test]
fn cars_that_stand_go_abreast_with_the_bits_of_each_alone() {
    const HZ: f32 = 120.0;
    const STEPS: usize = 240;
    for name in ["corvette_c5", "toyota_4runner", "bmw_320i_commonroad", "unity_default"] {
        let model = skidpad::spec::load(name).expect("shipped").model;
        let at = |car: usize| Placement { y: 12.0 * car as f64, heading: 0.4 * car as f32, ..Placement::default() };
        let starts: Vec<CarStart> =
            (0..CARS).map(|car| CarStart { model: model.clone(), placement: at(car) }).collect();
        let world = |starts: &[CarStart]| {
            (skidpad::impulse::BACKEND_INFO.build_world)(&Scene::sloping(SLOPE), starts, 1.0 / HZ)
        };
        let [mut abreast, mut alone] = [starts.clone(), in_turn(&starts)].map(|starts| world(&starts));
        let mut together = 0;
        for step in 0..STEPS {
            let leaves = |car: usize| car.is_multiple_of(3) && step >= STEPS / 2;
            let pedals = |car: usize| match leaves(car) {
                true => Controls { throttle: 0.4, ..Controls::default() },
                false => Controls { brake: 1.0, ..Controls::default() },
            };
            let controls: Vec<Controls> = (0..CARS).map(pedals).collect();
            assert_eq!(abreast.step(&controls), alone.step(&controls), "{name}, step {step}");
            for car in 0..CARS {
                assert_eq!(
                    abreast.state(car).to_bytes(),
                    alone.state(car).to_bytes(),
                    "{name}, step {step}, car {car}"
                );
                together += usize::from(touches(&*alone, car) && !touches(&*abreast, car));
            }
        }
        let share = together as f64 / (STEPS * CARS) as f64;
        println!("{name}: {share:.2} of the steps abreast");
        // Sixteen of nineteen cars can be batched.
        assert!(share > 0.7, "{name}: {share}");
    }
}

/// In Rapier's world an engine moves the bodies, and poses lag by a different share of the step.
#[test]
fn cars_abreast_in_rapiers_world_have_the_bits_of_each_alone() {
    for (i, name) in ["corvette_c5", "corvette_c5_mf", "unity_default"].into_iter().enumerate() {
        let model = skidpad::spec::load(name).expect("shipped").model;
        let shares = [(Scene::flat(), 60.0), (rough(), 120.0)].map(|(scene, hz)| {
            same_bits_on(&skidpad::rapier::BACKEND_INFO, name, &model, &scene, hz, 240, 1 + i as u64)[0]
        });
        println!("{name}: {shares:.2?} of the steps abreast");
        assert!(!name.starts_with("corvette") || shares.iter().all(|share| *share > 0.2), "{name}: {shares:?}");
    }
}

/// Returns a random car that can be batched, with a number of wheels that `wheels` accepts. Parts that exclude batching are
/// removed.
fn plain_car(random: &mut Random, wheels: impl Fn(usize) -> bool) -> ModelParts {
    loop {
        let mut parts = random_car(random).parts().clone();
        let Assists { abs, counter_steer, speed_steering, .. } = parts.assists;
        parts.assists = Assists { abs, counter_steer, speed_steering, ..Assists::default() };
        parts.heave_springs.clear();
        parts.external_forces.clear();
        parts.axles.iter_mut().for_each(|axle| axle.force_point_height = 0.0);
        let axle = |wheel: usize| parts.wheels[wheel].axle;
        let across = |bar: &AntiRollBar| axle(bar.wheels[0]) == axle(bar.wheels[1]);
        parts
            .bars
            .retain(|bar| across(bar) && bar.force_path == BarForcePath::InLoadPath && bar.speed_range == [0.0; 2]);
        if !wheels(parts.wheels.len()) {
            continue;
        }
        if Model::new(parts.clone()).is_ok() {
            return parts;
        }
    }
}

/// Returns a car of [`plain_car`] without motors, couplings, assists and brake discs. A launch device is all that is left
/// between engine and wheels.
fn clutch_alone(random: &mut Random, wheels: impl Fn(usize) -> bool) -> Arc<Model> {
    let mut parts = plain_car(random, wheels);
    (parts.couplings, parts.motors, parts.assists) = Default::default();
    parts.wheels.iter_mut().for_each(|wheel| wheel.disc = None);
    Model::new(parts).expect("less of a valid car").into()
}

#[test]
fn random_cars_abreast_have_the_bits_of_each_alone() {
    let mut abreast = 0;
    for seed in 1..=SEEDS {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        // Every third car keeps all its parts. Cars that cannot be batched are stepped alone.
        let model =
            if seed % 3 == 0 { random_car(&mut random) } else { clutch_alone(&mut random, |wheels| wheels == 4) };
        let scene = Scene { grip: 0.1 + 0.02 * seed as f32, ..Scene::sloping(0.01 * (seed % 9) as f32) };
        let hz = [20.0, 30.0, 60.0, 120.0, 240.0][seed as usize % 5];
        let [share, _] = same_bits(&format!("random car {seed}"), &model, &scene, hz, 120, seed);
        abreast += usize::from(share > 0.1);
    }
    assert!(abreast as u64 > SEEDS / 3, "{abreast} of {SEEDS} random cars were abreast");
}

/// Cars on three to ten axles. A car with a single wheel on some axle is stepped alone.
#[test]
fn random_cars_on_many_axles_abreast_have_the_bits_of_each_alone() {
    let mut abreast = 0;
    for seed in 1..=LONG {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let model = clutch_alone(&mut random, |wheels| wheels > 4);
        let scene = Scene { grip: 0.2 + 0.04 * seed as f32, ..Scene::sloping(0.01 * (seed % 9) as f32) };
        let hz = [30.0, 60.0, 120.0, 240.0][seed as usize % 4];
        let what = format!("random car {seed} on {} wheels", model.wheels().len());
        let [share, _] = same_bits(&what, &model, &scene, hz, 120, seed);
        abreast += usize::from(share > 0.0);
    }
    // The share of batched steps differs. If more than two of eight cars would leave the batch, batching pauses for some
    // steps.
    assert!(abreast as u64 > LONG / 2, "{abreast} of {LONG} random cars were abreast");
}

/// Cars with motors, converters, couplings between wheels, brake discs and assists that depend on the pedals.
#[test]
fn random_drivetrains_abreast_have_the_bits_of_each_alone() {
    let mut abreast = [0; 2];
    for seed in 1..=DRIVETRAINS {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let model: Arc<Model> = Model::new(plain_car(&mut random, |wheels| wheels == 4)).expect("valid").into();
        let scene = Scene { grip: 0.2 + 0.02 * seed as f32, ..Scene::sloping(0.01 * (seed % 5) as f32) };
        let hz = [30.0, 60.0, 120.0, 240.0][seed as usize % 4];
        let parts = model.parts();
        let has_rows = !(parts.motors.is_empty() && parts.couplings.is_empty());
        let what = format!(
            "random car {seed}, {} motors, {} couplings, {:?}",
            parts.motors.len(),
            parts.couplings.len(),
            model.assists()
        );
        let [share, _] = same_bits(&what, &model, &scene, hz, 120, seed);
        println!("{what}: {share:.2}");
        abreast[usize::from(has_rows)] += usize::from(share > 0.0);
    }
    println!("{abreast:?} of {DRIVETRAINS}");
    assert!(abreast[1] as u64 > DRIVETRAINS / 3, "{abreast:?} of {DRIVETRAINS} random cars were abreast");
}

/// A further iteration of the loads, which other cars of the batch need, changes no bit of this car.
#[test]
fn a_car_stays_abreast_while_its_droop_stops_hold_wheels() {
    let mut parts = c5();
    parts.wheels.iter_mut().for_each(|wheel| wheel.strut.droop_travel = 0.01);
    let model = parts.model();
    for (i, hz) in [60.0, 120.0, 240.0].into_iter().enumerate() {
        let [_, held] = same_bits("C5 with short droop", &model, &Scene::sloping(SLOPE), hz, 300, 300 + i as u64);
        println!("{hz} Hz: held in {held:.2} of the steps");
        assert!(held > 0.1, "{hz} Hz: {held}");
    }
}
