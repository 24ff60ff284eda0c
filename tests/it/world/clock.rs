//! Changes of the step length in a running world: time continues, and every solver accepts them.

use crate::common::{Drive, Simplify, c5, on_rows};
use skidpad::core::{Controls, DVec3, FixedBox, Platform, PlatformCourse, Scene, Simulation, Vec3, state::Placement};

/// Lengths of steps, s. Each is used for half a second.
const LENGTHS: [f32; 4] = [1.0 / 60.0, 1.0 / 240.0, 1.0 / 30.0, 1.0 / 60.0];

/// Steps `world` with `controls` for half a second at each length. Calls `look` after every step.
fn drive(world: &mut dyn Simulation, controls: &Controls, mut look: impl FnMut(&dyn Simulation)) {
    for dt in LENGTHS {
        world.clock_mut().dt = dt;
        for _ in 0..(0.5 / dt).round() as usize {
            world.step(std::slice::from_ref(controls));
            look(world);
        }
    }
}

#[test]
fn every_solver_takes_steps_of_another_length() {
    let model = c5().without_air().without_rolling_resistance().model();
    let solvers = skidpad::solvers().into_iter().chain(skidpad::solver_variants());
    for solver in solvers {
        let placement = Placement { speed: 10.0, ..Placement::default() };
        let mut world = Drive::new(&solver, &model, &Scene::flat(), placement, 60.0).world;
        let mut last = 0.0;
        drive(world.as_mut(), &Controls { gear: Some(0), ..Controls::default() }, |world| {
            assert!((world.time() - last - f64::from(world.dt())).abs() < 1e-12, "{}: {last}", solver.name);
            last = world.time();
        });
        assert!((world.time() - 2.0).abs() < 1e-6, "{}: {} s", solver.name, world.time());
        let way = world.state(0).position.x;
        // Nothing slows the car except the drag of its drivetrain, if there is any.
        assert!((way - 20.0).abs() < 0.3, "{}: {way} m in 2 s at 10 m/s", solver.name);
    }
}

/// A car on a belt is at the place that belongs to the time: the belt neither jumps nor stops at a change of the step.
#[test]
fn platforms_do_not_jump_with_the_step() {
    let shape = FixedBox::axis_aligned(DVec3::new(0.0, 0.0, -0.5), Vec3::new(40.0, 10.0, 1.0));
    let course = PlatformCourse::Steady { velocity: Vec3::X * 3.0, rate: 0.0 };
    let scene = Scene { has_plane: false, platforms: vec![Platform { shape, axis: Vec3::Z, course }], ..Scene::flat() };
    for solver in on_rows() {
        let mut world = Drive::new(&solver, &c5().model(), &scene, Placement::default(), 60.0).world;
        let mut state = world.state(0).clone();
        (state.velocity.x, state.previous_velocity.x) = (3.0, 3.0);
        world.set_state(0, &state).expect("it fits");
        drive(world.as_mut(), &Controls { brake: 1.0, ..Controls::default() }, |world| {
            let off = world.state(0).position.x - 3.0 * world.time();
            // The wheels start at rest, and the belt moves them within the first steps.
            assert!(off.abs() < 0.05, "{} at {} s: {off} m from where it stood", solver.name, world.time());
        });
    }
}
