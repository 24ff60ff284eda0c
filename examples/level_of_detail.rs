//! Changes solver and tick rate of a running car with its distance from a viewer: `constraint` at 240 Hz when near,
//! `impulse` at 60 Hz beyond 60 m. Then prints the error of each change of solver in a corner, at once and 1 s later.

use skidpad::core::{CarStart, Controls, DVec3, LevelOfDetail, LodDistances, Scene, SolverInfo, state::Placement};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Level of detail: solver and steps per second.
type Level = (SolverInfo, f32);

fn create_car(levels: &[Level]) -> Outcome<LevelOfDetail> {
    let placement = Placement { speed: 20.0, ..Placement::default() };
    let car_starts = [CarStart { model: skidpad::spec::load("corvette_c5")?.model, placement }];
    let worlds =
        levels.iter().map(|(solver, rate_hz)| (solver.build_world)(&Scene::flat(), &car_starts, 1.0 / rate_hz));
    Ok(LevelOfDetail::new(worlds.collect())?)
}

/// Steps `car` through `ticks` of 1/240 s: 0.5 s straight ahead, then a corner of 8 m/s².
fn drive(car: &mut LevelOfDetail, ticks: std::ops::Range<u32>) {
    for tick in ticks {
        let steer = if tick < 120 { 0.0 } else { 0.06 };
        car.step(&[Controls { throttle: 0.2, steer, ..Controls::default() }]);
    }
}

/// Returns the errors of position (mm) and velocity (%) 1/60 s and 1 s after a change of level at tick 156, at which
/// the roll angle is not yet steady.
fn change_errors(old_level: Level, new_level: Level) -> Outcome<[f64; 4]> {
    let (mut changed_car, mut reference_car) = (create_car(&[old_level, new_level])?, create_car(&[old_level])?);
    drive(&mut changed_car, 0..156);
    drive(&mut reference_car, 0..156);
    changed_car.set_level(0, 1); // car 0, level 1
    let mut errors = Vec::new();
    for ticks in [156..160, 160..396] {
        drive(&mut changed_car, ticks.clone());
        drive(&mut reference_car, ticks);
        let (changed_state, reference_state) = (changed_car.state(0), reference_car.state(0));
        let velocity_error =
            (changed_state.velocity - reference_state.velocity).length() / reference_state.velocity.length();
        errors.extend([
            1e3 * changed_state.position.distance(reference_state.position),
            100.0 * f64::from(velocity_error),
        ]);
    }
    Ok([0, 1, 2, 3].map(|i| errors[i]))
}

fn main() -> Outcome<()> {
    let solver_info = |name: &str| name.parse::<skidpad::Solver>().map(skidpad::Solver::info);
    let mut car = create_car(&[(solver_info("constraint")?, 240.0), (solver_info("impulse")?, 60.0)])?;
    let distances = LodDistances { limits: vec![60.0], margin: 0.1 };
    let viewer = DVec3::new(80.0, 10.0, 0.0);
    let mut level = None;
    for _ in 0..2400 {
        car.update_levels(&[viewer], &distances);
        if level.replace(car.level(0)) != Some(car.level(0)) {
            let distance = car.state(0).position.distance(viewer);
            println!("{:>5.2} s  level {}, {distance:.1} m from the viewer", car.time(), car.level(0));
        }
        car.step(&[Controls { throttle: 0.1, ..Controls::default() }]);
    }
    println!("\n{:<30} {:>8} {:>8} {:>10} {:>8}", "change in a corner", "at once", "", "after 1 s", "");
    for old_solver in skidpad::solvers().into_iter().filter(|solver| !solver.comparison_only) {
        for new_solver in skidpad::solvers().into_iter().filter(|solver| !solver.comparison_only) {
            for rate_hz in
                [240.0, 60.0].into_iter().filter(|rate_hz| *rate_hz < 240.0 || old_solver.name != new_solver.name)
            {
                let [position_at_once, velocity_at_once, position_later, velocity_later] =
                    change_errors((old_solver, 240.0), (new_solver, rate_hz))?;
                let change = format!("{} to {} {rate_hz} Hz", old_solver.name, new_solver.name);
                println!(
                    "{change:<30} {position_at_once:>5.3} mm {velocity_at_once:>6.4} % {position_later:>7.1} mm {velocity_later:>6.3} %"
                );
            }
        }
    }
    Ok(())
}
