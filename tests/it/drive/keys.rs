//! Scripted keys with every solver and at tick rates of games: reverse, hills, handbrake, recovery from the roof,
//! teleports.

use crate::common::{on_rows, solvers};
use skidpad::core::{FixedBox, Frame, Platform, PlatformCourse, SolverInfo, math};
use skidpad::drive::Direction;
use skidpad::prelude::*;
use std::sync::Arc;

/// A car and its driver, whose keys are scripted.
struct Ride {
    world: Box<dyn Simulation>,
    driver: PlayerController,
}

impl Ride {
    fn new(solver: &SolverInfo, car: &str, scene: &Scene, speed: f32, hz: f32) -> Self {
        let model = skidpad::spec::load(car).unwrap().model;
        let start = CarStart { model, placement: Placement { speed, ..Placement::default() } };
        Self { world: (solver.build_world)(scene, &[start], 1.0 / hz), driver: PlayerController::default() }
    }

    /// Steps with `keys` pressed for `seconds` and returns the frame after each step. Panics if a step reports misuse
    /// or values that are not finite.
    fn hold(&mut self, keys: Keys, seconds: f32) -> Vec<Frame> {
        let dt = self.world.dt();
        let steps = (seconds / dt).round() as usize;
        (0..steps)
            .map(|_| {
                let car = self.world.car(0);
                let controls = self.driver.controls(&keys.into(), car.model, car.state, dt);
                let report = self.world.step(&[controls]);
                assert!(!report.not_finite && report.misuse.is_none(), "{report:?}");
                self.world.frame(0)
            })
            .collect()
    }

    /// Sets the velocity of the car to `velocity`, given in its own axes (m/s).
    fn throw(&mut self, velocity: Vec3) {
        let mut state = self.world.state(0).clone();
        state.velocity = state.rotation * velocity;
        state.previous_velocity = state.velocity;
        self.world.set_state(0, &state).expect("it fits");
    }

    /// Returns the brake input that the driver commands if no key is pressed.
    fn holds(&self) -> f32 {
        let (car, dt) = (self.world.car(0), self.world.dt());
        self.driver.clone().controls(&NOTHING.into(), car.model, car.state, dt).brake
    }

    fn speed(&self) -> f32 {
        let state = self.world.state(0);
        (state.rotation.inverse() * state.velocity).x
    }
}

fn each(mut check: impl FnMut(&SolverInfo, f32)) {
    for solver in solvers() {
        for hz in [30.0, 60.0, 240.0] {
            check(&solver, hz);
        }
    }
}

const GO: Keys = Keys { throttle: true, brake: false, left: false, right: false, handbrake: false };
const STOP: Keys = Keys { throttle: false, brake: true, left: false, right: false, handbrake: false };
const NOTHING: Keys = Keys { throttle: false, brake: false, left: false, right: false, handbrake: false };

#[test]
fn the_brake_key_stops_then_drives_back_and_the_other_stops_then_drives_ahead() {
    for car in ["corvette_c5", "tesla_model3_awd", "toyota_4runner"] {
        each(|solver, hz| {
            let mut ride = Ride::new(solver, car, &Scene::flat(), 10.0, hz);
            let name = format!("{car} with {} at {hz} Hz", solver.name);
            let stopping = ride.hold(STOP, 2.5);
            let first_back = stopping.iter().position(|frame| frame.vx_mps < -0.3);
            assert!(first_back.is_none_or(|at| at as f32 / hz > 1.0), "{name} drove back while it still rolled");
            ride.hold(STOP, 2.0);
            assert!(ride.speed() < -0.8, "{name} drives back with {} m/s", ride.speed());
            assert_eq!(ride.driver.reverse.direction(), Direction::Reverse);
            ride.hold(GO, 6.0);
            assert!(ride.speed() > 2.0, "{name} drives ahead with {} m/s", ride.speed());
        });
    }
}

#[test]
fn a_car_that_slides_sideways_is_neither_held_nor_driven_back() {
    for (car, keys) in [("corvette_c5", STOP), ("corvette_c5", NOTHING), ("tesla_model3_awd", STOP)] {
        each(|solver, hz| {
            let name = format!("{car} with {} at {hz} Hz", solver.name);
            let mut ride = Ride::new(solver, car, &Scene::flat(), 0.0, hz);
            ride.throw(Vec3::Y * 20.0);
            // After one step, the state of the wheels includes the new velocity.
            ride.hold(keys, 1.0 / hz);
            while ride.world.state(0).velocity.length() > 1.0 {
                assert!(keys == STOP || ride.holds() == 0.0, "{name} at {}", ride.world.state(0).velocity);
                ride.hold(keys, 1.0 / hz);
                assert_eq!(ride.driver.reverse.direction(), Direction::Forward, "{name}");
            }
            ride.hold(keys, 2.0);
            assert_eq!(ride.driver.reverse.direction() == Direction::Reverse, keys == STOP, "{name}, once it stands");
        });
    }
}

/// Cars that spin on slippery ground with the brake key pressed move backwards and sideways. They are not driven in
/// reverse before they stand.
#[test]
fn a_car_that_spins_is_not_driven_back() {
    for car in ["bmw_320i_mf", "corvette_c5"] {
        for seed in 0..60u16 {
            let scene = Scene { grip: 0.5, ..Scene::flat() };
            let speed = 15.0 + f32::from(seed % 20);
            let mut ride = Ride::new(&solvers()[0], car, &scene, speed, 60.0);
            let turn = Keys { left: seed % 2 == 0, right: seed % 2 == 1, ..NOTHING };
            ride.hold(turn, 0.3);
            ride.hold(Keys { handbrake: true, ..turn }, 0.3 + f32::from(seed % 7) * 0.15);
            let flips = (0..900).find(|_| {
                ride.hold(STOP, 1.0 / 60.0);
                ride.driver.reverse.direction() == Direction::Reverse
            });
            let speed = ride.world.state(0).velocity.length();
            // Reverse engages after 0.15 s below 0.5 m/s. The step after that may accelerate the car.
            assert!(flips.is_some() && speed < 0.5, "{car}, spin {seed}: driven back at {speed} m/s");
        }
    }
}

/// On a floor that moves along or across the car, the driver keeps the car at rest relative to the floor, and the
/// brake key drives it in reverse.
#[test]
fn a_car_on_a_moving_floor_is_held_and_driven_back() {
    for velocity in [Vec3::X * 5.0, Vec3::X * -5.0, Vec3::Y * 5.0] {
        let shape = FixedBox::axis_aligned(DVec3::new(0.0, 0.0, -0.5), Vec3::new(60.0, 60.0, 1.0));
        let floor = Platform { shape, axis: Vec3::Z, course: PlatformCourse::Steady { velocity, rate: 0.0 } };
        let scene = Scene { has_plane: false, platforms: vec![floor], ..Scene::flat() };
        let cars = ["corvette_c5", "tesla_model3_awd"];
        for (solver, car) in on_rows().into_iter().flat_map(|solver| cars.map(|car| (solver, car))) {
            let name = format!("{car} with {} on a floor at {velocity}", solver.name);
            let mut ride = Ride::new(&solver, car, &scene, 0.0, 60.0);
            ride.throw(velocity);
            ride.hold(NOTHING, 0.5);
            assert_eq!(ride.holds(), 1.0, "{name}");
            ride.hold(STOP, 3.0);
            let over_ground = ride.speed() - velocity.x;
            assert!(over_ground < -0.8, "{name} drives back with {over_ground} m/s");
        }
    }
}

#[test]
fn a_start_on_a_hill_of_20_percent_does_not_roll_back() {
    let hill = Scene::sloping(math::atan(0.2));
    for car in ["corvette_c5", "tesla_model3_awd"] {
        each(|solver, hz| {
            let mut ride = Ride::new(solver, car, &hill, 0.0, hz);
            let name = format!("{car} with {} at {hz} Hz", solver.name);
            let start = ride.world.state(0).position;
            let up = ride.world.state(0).rotation * Vec3::X;
            let climbed = |ride: &Ride| (ride.world.state(0).position - start).as_vec3().dot(up);
            ride.hold(NOTHING, 5.0);
            assert!(climbed(&ride).abs() < 0.02, "{name} stands {} m off", climbed(&ride));
            let least = (0..40).map(|_| (ride.hold(GO, 0.1), climbed(&ride)).1).fold(0.0, f32::min);
            assert!(least > -0.1, "{name} rolled back by {least} m");
            assert!(climbed(&ride) > 2.0, "{name} climbed {} m", climbed(&ride));
        });
    }
}

#[test]
fn a_pull_of_the_handbrake_turns_the_car_round_and_its_engine_lives() {
    each(|solver, hz| {
        let mut ride = Ride::new(solver, "corvette_c5", &Scene::flat(), 16.0, hz);
        ride.hold(Keys { left: true, ..NOTHING }, 0.3);
        let turning = ride.hold(Keys { left: true, handbrake: true, ..NOTHING }, 1.5);
        let turned: f64 = turning.iter().map(|frame| frame.yaw_rate_radps / f64::from(hz)).sum();
        assert!(turned > 1.2, "{} at {hz} Hz turned by {turned} rad", solver.name);
        assert!(ride.world.state(0).drive.engine_speed > 50.0, "{} at {hz} Hz stalled", solver.name);
        // Reference: the same corner without the handbrake.
        let mut ride = Ride::new(solver, "corvette_c5", &Scene::flat(), 16.0, hz);
        let plain: f64 =
            ride.hold(Keys { left: true, ..NOTHING }, 1.8).iter().map(|f| f.yaw_rate_radps / f64::from(hz)).sum();
        assert!(turned > 1.3 * plain, "{turned} rad with it, {plain} without");
    });
}

#[test]
fn a_car_on_its_roof_is_put_on_its_wheels_and_drives_on() {
    each(|solver, hz| {
        let mut ride = Ride::new(solver, "corvette_c5", &Scene::flat(), 0.0, hz);
        let mut roof = ride.world.state(0).clone();
        roof.rotation = Quat::from_rotation_z(0.7) * Quat::from_rotation_x(3.1);
        roof.position.z += 0.8;
        ride.world.set_state(0, &roof).expect("it fits");
        ride.hold(NOTHING, 1.0);
        assert!((ride.world.state(0).rotation * Vec3::Z).z < 0.0, "{} is not on its roof", solver.name);
        assert_eq!(reset_upright(ride.world.as_mut(), 0), Ok(true));
        ride.driver.reset();
        let standing = ride.hold(NOTHING, 1.0);
        let (state, name) = (ride.world.state(0), format!("{} at {hz} Hz", solver.name));
        assert!((state.rotation * Vec3::Z).z > 0.999, "{name}");
        let lift = standing.iter().map(|frame| frame.z_m).fold(f64::NEG_INFINITY, f64::max)
            - standing.iter().map(|frame| frame.z_m).fold(f64::INFINITY, f64::min);
        assert!(lift < 0.005, "{name} came down or rose by {lift} m");
        let heading = state.rotation * Vec3::X;
        assert!((heading.y.atan2(heading.x) - 0.7).abs() < 0.3, "{name} is headed elsewhere: {heading}");
        ride.hold(GO, 2.0);
        assert!(ride.speed() > 3.0, "{name} drives with {} m/s", ride.speed());
    });
}

/// A car at rest on a steep slope stays in place when it is put upright, in any heading: it is aligned with the slope
/// below it.
#[test]
fn a_car_on_a_slope_is_put_upright_as_it_stands() {
    let slope = Scene::sloping(30f32.to_radians());
    for heading in [0.0, 0.7, 1.6, -2.4, 3.1] {
        let model = skidpad::spec::load("corvette_c5").unwrap().model;
        let start = CarStart { model, placement: Placement { heading, ..Placement::default() } };
        let mut world = (solvers()[0].build_world)(&slope, &[start], 1.0 / 60.0);
        let before = world.state(0).rotation;
        assert_eq!(reset_upright(world.as_mut(), 0), Ok(true));
        // The repositioned car has no roll on its struts, unlike a car that has settled on the slope. Seen from
        // above, this changes its heading a little.
        let [was, is] = [before, world.state(0).rotation].map(|rotation| rotation * Vec3::X).map(|x| x.y.atan2(x.x));
        let turned = (is - was).sin().abs();
        assert!(turned < 0.01, "headed {heading}: turned by {turned} rad");
        assert!(before.angle_between(world.state(0).rotation) < 0.05, "headed {heading}: it lies elsewhere");
    }
}

/// A teleported car continues bit-identically, whatever it did before.
#[test]
fn a_teleport_leaves_nothing_of_what_was() {
    each(|solver, hz| {
        let model = skidpad::spec::load("corvette_c5").unwrap().model;
        let fresh = State::upright_at(&model, DVec3::new(40.0, -7.0, 0.0), Vec3::Z, 0.4);
        let after = |before: &[(Keys, f32)]| {
            let mut ride = Ride::new(solver, "corvette_c5", &Scene::flat(), 15.0, hz);
            for (keys, seconds) in before {
                ride.hold(*keys, *seconds);
            }
            ride.world.set_state(0, &fresh).expect("it fits");
            ride.driver.reset();
            assert_eq!(ride.driver, PlayerController::default());
            ride.hold(NOTHING, 0.1);
            ride.hold(Keys { left: true, ..GO }, 1.5);
            ride.world.state(0).to_bytes()
        };
        let skids = [(Keys { left: true, handbrake: true, ..GO }, 1.0), (STOP, 1.0)];
        assert_eq!(after(&[]), after(&skids), "{} at {hz} Hz", solver.name);
    });
}

#[test]
fn gears_by_hand_stay_between_reverse_and_the_highest() {
    let model: Arc<Model> = skidpad::spec::load("corvette_c5").unwrap().model;
    let mut driver = PlayerController { shifting: skidpad::drive::Shifting::Manual(1), ..PlayerController::default() };
    for _ in 0..300 {
        driver.shift_up(&model);
    }
    assert_eq!(driver.shifting, skidpad::drive::Shifting::Manual(6));
    for _ in 0..300 {
        driver.shift_down();
    }
    assert_eq!(driver.shifting, skidpad::drive::Shifting::Manual(-1));
}

/// In a steady corner with the speed-dependent lock of keys, the lateral acceleration is that of the shaping, within
/// the effects of understeer and the limit of friction. The slip allowance is 0.
#[test]
fn the_lock_of_keys_follows_the_speed() {
    each(|solver, hz| {
        for speed in [15.0, 25.0, 35.0] {
            let mut ride = Ride::new(solver, "corvette_c5", &Scene::flat(), speed, hz);
            ride.driver.shaping.max_lateral_g = 0.4;
            ride.driver.shaping.slip_allowance = 0.0;
            let frames = ride.hold(Keys { left: true, ..NOTHING }, 1.5);
            let last = frames.last().unwrap();
            let asked = 0.4 * 9.81;
            let found = last.yaw_rate_radps * last.vx_mps;
            assert!(
                (0.6..1.1).contains(&(found / asked)),
                "{} at {hz} Hz, {speed} m/s: {found} of {asked} m/s²",
                solver.name
            );
        }
    });
}
