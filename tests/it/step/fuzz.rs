//! Random inputs and poses: no NaN, no panic, and conservation of momentum.

use std::sync::Arc;

use proptest::prelude::*;
use skidpad::core::model::{DamperKnee, HeaveSpring};
use skidpad::core::{
    CarStart, Controls, DVec3, FixedBox, Model, ModelParts, Quat, Scene, Vec3, WheelControls, WheelFrame,
    state::Placement,
};

use crate::common::{Drive, Simplify, c5, close, own_code, solvers};
use crate::step::random::Random;

pub fn wild_controls(random: &mut Random) -> Controls {
    let raw = random.next().is_multiple_of(16);
    let wheel = |random: &mut Random| WheelControls {
        motor_torque: random.wild(-5e3, 5e3),
        brake_torque: random.wild(-10.0, 5e3),
        steer: (random.next().is_multiple_of(4)).then(|| random.wild(-2.0, 2.0)),
    };
    Controls {
        throttle: random.wild(-0.5, 1.5),
        brake: random.wild(-0.5, 1.5),
        handbrake: random.wild(-0.5, 1.5),
        starter: random.next().is_multiple_of(8),
        steer: random.wild(-1.0, 1.0),
        bars: (random.next().is_multiple_of(4)).then(|| random.wild(-0.5, 1.5)),
        cruise: (random.next().is_multiple_of(4)).then(|| random.wild(-5.0, 60.0)),
        clutch: (random.next().is_multiple_of(4)).then(|| random.wild(-0.5, 1.5)),
        gear: (random.next().is_multiple_of(2)).then(|| random.between(-128.0, 127.0) as i8),
        wheels: if raw { (0..4).map(|_| wheel(random)).collect() } else { Box::default() },
    }
}

/// Drives `car` for 400 steps under wild controls, and lifts it by a metre every 200 steps. Asserts that its state stays
/// finite.
pub fn survives_wild_controls(car: &mut Drive, solver: &str, random: &mut Random) {
    let mut controls = Controls::default();
    for step in 0..400 {
        if step % 7 == 0 {
            controls = wild_controls(random);
        }
        if step % 200 == 199 {
            let mut state = car.world.state(0).clone();
            state.position.z += 1.0;
            car.world.set_state(0, &state).expect("it fits");
        }
        car.step(&controls);
        assert!(car.world.state(0).is_finite(), "{solver} step {step}: {:?}", car.world.state(0));
    }
}

const CARS: usize = 8;

/// A million car-steps per solver stay finite under random inputs. Cars are thrown into the air and onto their roofs.
#[test]
fn b18_a_million_random_steps_stay_finite() {
    survive(&c5().model(), &Scene::sloping(0.1), 1_000_000 / CARS);
}

/// Random steps with every assist stay finite.
#[test]
fn random_steps_with_every_assist_stay_finite() {
    let mut parts = c5();
    parts.assists = crate::assists::fitted::all();
    survive(&parts.model(), &Scene::sloping(0.1), 200_000 / CARS);
}

/// Random steps among boxes stay finite: ramps, a wall, a crate on its corner, a plate 2 mm thick, a box as large as a hill.
#[test]
fn random_steps_among_boxes_stay_finite() {
    let mut boxes = Vec::new();
    for car in 0..CARS {
        let at = |x: f64, z: f64| DVec3::new(x, 30.0 * car as f64, z);
        boxes.push(FixedBox::axis_aligned(at(3.0, 0.2), Vec3::new(8.0, 5.0, 0.5)).rotated(0.2, -0.15, 0.05));
        boxes.push(FixedBox::axis_aligned(at(14.0, 1.5), Vec3::new(0.5, 20.0, 4.0)));
        boxes.push(FixedBox::axis_aligned(at(-6.0, 0.5), Vec3::ONE).rotated(0.7, 0.6, 0.9));
        boxes.push(FixedBox::axis_aligned(at(0.0, 0.45), Vec3::new(2.0, 2.0, 0.002)));
    }
    boxes.push(FixedBox::axis_aligned(DVec3::new(-60.0, 0.0, -100.0), Vec3::new(100.0, 1000.0, 205.0)));
    survive(&c5().model(), &Scene { boxes, ..Scene::sloping(0.1) }, 200_000 / CARS);
}

/// Random steps with every part of a suspension stay finite.
#[test]
fn random_steps_on_every_part_of_a_suspension_stay_finite() {
    let mut parts = crate::suspension::springs::guided();
    for wheel in &mut parts.wheels {
        wheel.strut.progressive_rate = 0.9 * wheel.strut.rate / wheel.strut.droop_travel;
        wheel.strut.knees = [DamperKnee { speed: 0.05, fast_ratio: 0.3 }, DamperKnee { speed: 0.1, fast_ratio: 2.0 }];
    }
    parts.heave_springs = vec![HeaveSpring { wheels: [0, 1], rate: 1e6, damping: 1e5 }];
    parts.axles[0].solid = true;
    parts.axles[1].force_point_height = 1.0;
    survive(&parts.model(), &Scene::sloping(0.1), 100_000 / CARS);
}

fn survive(model: &Arc<Model>, scene: &Scene, steps: usize) {
    for solver in own_code() {
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        let starts: Vec<CarStart> = (0..CARS)
            .map(|i| CarStart {
                model: model.clone(),
                placement: Placement { y: 30.0 * i as f64, ..Placement::default() },
            })
            .collect();
        let mut world = (solver.build_world)(scene, &starts, 1.0 / 60.0);
        let mut controls = vec![Controls::default(); CARS];
        for step in 0..steps {
            let car = step % CARS;
            if step % 5 == 0 {
                controls[car] = wild_controls(&mut random);
            }
            if step % 2000 == 1999 {
                let mut state = world.state(car).clone();
                state.position = scene.point_above_plane(0.0, 30.0 * car as f64, random.between(0.2, 4.0).into());
                let axis = Vec3::new(random.between(-1.0, 1.0), random.between(-1.0, 1.0), 0.3).normalize();
                state.rotation = Quat::from_axis_angle(axis, random.between(-3.2, 3.2));
                state.velocity = Vec3::new(random.between(-60.0, 60.0), random.between(-20.0, 20.0), 0.0);
                state.angular_velocity = axis * random.between(-6.0, 6.0);
                world.set_state(car, &state).expect("it fits");
            }
            world.step(&controls);
            assert!(world.state(car).is_finite(), "{} step {step}: {:?}", solver.name, world.state(car));
        }
        for car in 0..CARS {
            assert!(world.state(car).is_finite(), "{}", solver.name);
        }
    }
}

/// Oracle 5.24: in the air the centre of mass follows a parabola, and a brake turns the body with −Σ I_w Δω / I_yy.
#[test]
fn a15_momentum_closes_in_the_air() {
    let model = c5().without_air().model();
    for solver in solvers() {
        let mut car = Drive::rolling(&solver, &model, 30.0, 240.0);
        let mut state = car.world.state(0).clone();
        state.position.z += 30.0;
        car.world.set_state(0, &state).expect("it fits");
        let frames = car.run(0.5, |_| Controls { brake: 0.2, gear: Some(0), ..Controls::default() });
        let (first, last) = (&frames[0], &frames[frames.len() - 1]);
        let spun: f64 = (0..4)
            .map(|i| {
                let change = last.wheels[i].spin_radps - first.wheels[i].spin_radps;
                f64::from(model.wheels()[i].spin_inertia) * change
            })
            .sum();
        let pitched = f64::from(model.inertia().y_axis.y) * last.pitch_rate_radps;
        assert!(spun < -100.0, "the brake acts in the air: {spun}");
        close(&format!("{} pitch", solver.name), pitched, -spun, 1e-3, "f32 over 120 steps");
        let along = car.world.state(0).velocity.x;
        assert!((along - 30.0).abs() < 1e-4, "{}: {along}", solver.name);
        let fallen = f64::from(car.world.state(0).velocity.z);
        close(&format!("{} fall", solver.name), fallen, -9.81 * 0.5, 1e-4, "f32 over 120 steps");
    }
}

/// Returns a C5 with another mass (kg), height of the centre of mass (m), front share of the load, ride frequency (Hz) and
/// damping ratio.
fn random_car(mass: f32, height: f32, bias: f32, hertz: f32, ratio: f32) -> ModelParts {
    let mut parts = c5().without_air();
    parts.inertia *= mass / parts.mass;
    parts.mass = mass;
    let base = parts.wheels[0].contact.x - parts.wheels[2].contact.x;
    let omega = 2.0 * std::f32::consts::PI * hertz;
    for wheel in &mut parts.wheels {
        wheel.contact.z = -height;
        wheel.contact.x = if wheel.axle == 0 { base * (1.0 - bias) } else { -base * bias };
        let share = mass * if wheel.axle == 0 { bias } else { 1.0 - bias } / 2.0;
        wheel.strut.rate = share * omega * omega;
        wheel.strut.bump_damping = 2.0 * ratio * share * omega;
        wheel.strut.rebound_damping = wheel.strut.bump_damping;
        wheel.strut.progressive_rate = 0.5 * wheel.strut.rate / wheel.strut.droop_travel;
    }
    parts.heave_springs = vec![HeaveSpring { wheels: [2, 3], rate: 0.1 * mass * omega * omega, damping: 0.1 * mass }];
    parts.centre_height = height;
    // Clear of the ground at any height of the centre of mass.
    parts.hull.centre.z = parts.hull.half_extents.z;
    parts
}

/// Friction stays within the limit of the final load of a step, in a tall heavy car that leans in its corner: load and
/// friction of a wheel depend on each other.
#[test]
fn friction_is_that_of_the_final_load() {
    let model = random_car(4531.04, 0.929_862, 0.447_034, 1.198_526, 0.153_591).model();
    for solver in solvers() {
        let mut car = Drive::rolling(&solver, &model, 20.0, 60.0);
        for frame in car.run(2.0, |_| Controls { steer: -0.155_104, gear: Some(0), ..Controls::default() }) {
            let most = frame.wheels.iter().enumerate().map(|(i, wheel)| friction_used(&model, i, wheel));
            let most = most.fold(0.0, f64::max);
            assert!(most < 1.01, "{} at {} s: {most} of a wheel's friction", solver.name, frame.t_s);
        }
    }
}

/// Returns the share of its friction that wheel `i` uses; 0 for loads up to 1 N.
fn friction_used(model: &Model, i: usize, wheel: &WheelFrame) -> f64 {
    let [along, across] = model.tyre(i).friction_at(wheel.load_n as f32).map(|mu| f64::from(mu) * wheel.load_n);
    if wheel.load_n > 1.0 { (wheel.fx_n / along).hypot(wheel.fy_n / across) } else { 0.0 }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Random valid cars stay at rest, their loads carry the weight, and no friction exceeds the declared ellipse.
    #[test]
    fn random_cars_rest_and_respect_their_friction(
        mass in 400f32..8000.0,
        height in 0.25f32..1.0,
        bias in 0.35f32..0.65,
        hertz in 0.8f32..4.0,
        ratio in 0.05f32..0.9,
        steer in -0.3f32..0.3,
        brake in 0f32..1.0,
    ) {
        let model = random_car(mass, height, bias, hertz, ratio).model();
        for solver in solvers() {
            let mut still = Drive::rolling(&solver, &model, 0.0, 60.0);
            let frames = still.run(3.0, |_| Controls::coasting());
            let last = &frames[frames.len() - 1];
            prop_assert!(last.x_m.abs() < 1e-4 && last.y_m.abs() < 1e-4, "{} {:?}", solver.name, last);
            let carried: f64 = last.wheels.iter().map(|w| w.load_n).sum();
            prop_assert!((carried / (f64::from(mass) * 9.81) - 1.0).abs() < 1e-3, "{} {carried}", solver.name);

            let mut moving = Drive::rolling(&solver, &model, 20.0, 60.0);
            let controls = Controls { steer, brake, gear: Some(0), ..Controls::default() };
            for frame in moving.run(2.0, |_| controls.clone()) {
                for (i, wheel) in frame.wheels.iter().enumerate() {
                    prop_assert!(wheel.load_n >= 0.0);
                    let used = friction_used(&model, i, wheel);
                    prop_assert!(used < 1.01, "{} wheel {i} uses {used} of its friction", solver.name);
                }
            }
        }
    }
}
