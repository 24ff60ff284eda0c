//! Changes solver and tick rate of a running car with its distance from a viewer: `constraint` at 240 Hz when near,
//! `impulse` at 60 Hz beyond 60 m. Then prints the error of each change of solver in a corner, at once and 1 s later.

use skidpad::core::{CarStart, Controls, DVec3, LevelOfDetail, LodDistances, Scene, SolverInfo, state::Placement};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Level of detail: solver and steps per second.
type Level = (SolverInfo, f32);

fn start(levels: &[Level]) -> Outcome<LevelOfDetail> {
    let placement = Placement { speed: 20.0, ..Placement::default() };
    let car = [CarStart { model: skidpad::spec::load("corvette_c5")?.model, placement }];
    let worlds = levels.iter().map(|(solver, hz)| (solver.build_world)(&Scene::flat(), &car, 1.0 / hz));
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
fn error(from: Level, to: Level) -> Outcome<[f64; 4]> {
    let (mut changed, mut kept) = (start(&[from, to])?, start(&[from])?);
    drive(&mut changed, 0..156);
    drive(&mut kept, 0..156);
    changed.set_level(0, 1);
    let mut errors = Vec::new();
    for ticks in [156..160, 160..396] {
        drive(&mut changed, ticks.clone());
        drive(&mut kept, ticks);
        let (a, b) = (changed.state(0), kept.state(0));
        let velocity = (a.velocity - b.velocity).length() / b.velocity.length();
        errors.extend([1e3 * a.position.distance(b.position), 100.0 * f64::from(velocity)]);
    }
    Ok([0, 1, 2, 3].map(|i| errors[i]))
}

fn main() -> Outcome<()> {
    let solver = |name: &str| name.parse::<skidpad::Solver>().map(skidpad::Solver::info);
    let mut car = start(&[(solver("constraint")?, 240.0), (solver("impulse")?, 60.0)])?;
    let distances = LodDistances { limits: vec![60.0], margin: 0.1 };
    let viewer = DVec3::new(80.0, 10.0, 0.0);
    let mut level = None;
    for _ in 0..2400 {
        car.update_levels(&[viewer], &distances);
        if level.replace(car.level(0)) != Some(car.level(0)) {
            let away = car.state(0).position.distance(viewer);
            println!("{:>5.2} s  level {}, {away:.1} m from the viewer", car.time(), car.level(0));
        }
        car.step(&[Controls { throttle: 0.1, ..Controls::default() }]);
    }
    println!("\n{:<30} {:>8} {:>8} {:>10} {:>8}", "change in a corner", "at once", "", "after 1 s", "");
    for from in skidpad::solvers().into_iter().filter(|b| !b.comparison_only) {
        for to in skidpad::solvers().into_iter().filter(|b| !b.comparison_only) {
            for hz in [240.0, 60.0].into_iter().filter(|hz| *hz < 240.0 || from.name != to.name) {
                let [now, now_v, later, later_v] = error((from, 240.0), (to, hz))?;
                let change = format!("{} to {} {hz} Hz", from.name, to.name);
                println!("{change:<30} {now:>5.3} mm {now_v:>6.4} % {later:>7.1} mm {later_v:>6.3} %");
            }
        }
    }
    Ok(())
}
