//! Steps 64 cars and exits. `cargo xtask bench` counts its instructions under valgrind.
//!
//! Usage: `instructions BACKEND SCENARIO STEPS`.
//!
//! | scenario | meaning |
//! |---|---|
//! | `plane` | straight ahead on the plane |
//! | `plane-VEHICLE` | straight ahead, with a shipped vehicle |
//! | `random-VEHICLE` | random pedals and steering, different for each car |
//! | `field`, `mesh` | waves as a height field or as a mesh |
//! | `discs-` before a ground | wheels probe the ground with discs |
//! | `step-steer` | step steer |
//! | `alone` | one car instead of 64 |
//! | `rollback` | one car; each step is a rewind by ten steps, which are saved and repeated |
//! | `probes-` before a ground or its `discs-` | ground queries only; each step is one query of all wheels of 64 cars |

#[path = "solvers/shared.rs"]
mod shared;

#[path = "solvers/ground.rs"]
mod ground;

use skidpad::core::{ChassisState, Controls, DVec3, Probe, Scene, Simulation, SolverInfo, Vec3, Vehicle};

/// Number of cars, as in the published counts.
const CAR_COUNT: usize = 64;

/// Number of places at which the wheels query the ground.
const PROBE_PLACE_COUNT: usize = 10;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [backend, scenario, steps] = arguments.as_slice() else {
        println!("instructions are counted by `cargo xtask bench`");
        return Ok(());
    };
    let backend = shared::solvers()
        .into_iter()
        .find(|solver| solver.name == backend)
        .ok_or_else(|| format!("there is no backend `{backend}`"))?;
    if scenario == "rollback" {
        return rollback(&backend, steps.parse()?);
    }
    let cars = if scenario == "alone" { 1 } else { CAR_COUNT };
    if let Some(asked) = scenario.strip_prefix("probes-") {
        return probes(&backend, asked, steps.parse()?);
    }
    let (discs, on) = scenario.strip_prefix("discs-").map_or((false, scenario.as_str()), |ground| (true, ground));
    let at_random = on.strip_prefix("random-");
    let vehicle = on.strip_prefix("plane-").or(at_random);
    let driver: fn(u32) -> Controls = match on {
        _ if vehicle.is_some() => |_| Controls { throttle: 0.2, ..Controls::default() },
        "plane" | "field" | "mesh" | "alone" => |_| Controls { throttle: 0.2, ..Controls::default() },
        "step-steer" => shared::step_steer,
        other => return Err(format!("there is no scenario `{other}`").into()),
    };
    let mut world = match vehicle {
        Some(vehicle) => {
            let cars = shared::cars_of(vehicle, cars).ok_or_else(|| format!("there is no vehicle `{vehicle}`"))?;
            (backend.build_world)(&Scene::flat(), &cars, 1.0 / shared::STEPS_PER_SECOND as f32)
        }
        None => ground::world(&backend, cars, on, discs),
    };
    let mut controls = vec![driver(0); cars];
    let mut random = Random(1);
    for step in 0..steps.parse()? {
        // Controls are only written when they change, so that mainly the work of the solver is counted.
        if at_random.is_some() {
            if step % shared::STEPS_PER_SECOND.div_ceil(4) == 0 {
                controls.iter_mut().for_each(|controls| *controls = random.controls());
            }
        } else if driver(step) != controls[0] {
            controls.fill(driver(step));
        }
        world.step(&controls);
    }
    let frame = world.frame(cars - 1);
    println!("{} {scenario} {steps}: {:.3} m, {:.4} rad/s", backend.name, frame.x_m, frame.yaw_rate_radps);
    Ok(())
}

/// Pseudo-random number generator with its seed.
struct Random(u64);

impl Random {
    /// Returns a number from 0 to 1: the upper bits of D. E. Knuth's linear congruential generator MMIX.
    fn next_share(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 24) as f32
    }

    /// Returns random throttle and steering, with random braking in a quarter of the cases.
    fn controls(&mut self) -> Controls {
        let [throttle, brake, presses, steer] =
            [self.next_share(), self.next_share(), self.next_share(), self.next_share()];
        let brake = if presses < 0.25 { brake } else { 0.0 };
        Controls { throttle, brake, steer: 0.4 * steer - 0.2, ..Controls::default() }
    }
}

/// Runs the probes of all wheels for a number of `rounds`, at places along the path of the cars in turn.
fn probes(backend: &SolverInfo, of: &str, rounds: usize) -> Result<(), Box<dyn std::error::Error>> {
    let (discs, on) = of.strip_prefix("discs-").map_or((false, of), |ground| (true, ground));
    let mut world = ground::world_of_ghosts(backend, CAR_COUNT, on, discs);
    let controls = vec![Controls { throttle: 0.2, ..Controls::default() }; CAR_COUNT];
    // Places are a prime number of steps apart, so that the wheels are at different points within the cells.
    let places: Vec<Vec<Probe>> = (0..PROBE_PLACE_COUNT)
        .map(|_| {
            (0..7).for_each(|_| _ = world.step(&controls));
            (0..CAR_COUNT).flat_map(|car| wheel_probes(world.as_ref(), car)).collect()
        })
        .collect();
    let mut answered = vec![None; places[0].len()];
    let mut sum = 0.0;
    for asked in places.iter().cycle().take(rounds) {
        if !world.probe(asked, &mut answered) {
            return Err(format!("{} answers no probes", backend.name).into());
        }
        sum += answered.iter().flatten().map(|contact| contact.distance).sum::<f32>();
    }
    println!("{} probes-{of} {rounds}: {sum:.3} m", backend.name);
    Ok(())
}

/// Returns the probes of the wheels of a car before the next step.
fn wheel_probes(world: &dyn Simulation, car: usize) -> Vec<Probe> {
    let (state, model) = (world.state(car), world.model(car));
    let body = ChassisState {
        position: state.position,
        rotation: state.rotation,
        velocity: state.velocity,
        angular: state.angular,
        free_velocity: state.velocity,
        free_angular: state.angular,
        gyroscopic_change: Vec3::ZERO,
        wind: Vec3::ZERO,
        pose_lag: 0.0,
        position_resolution: 0.0,
        asleep: false,
    };
    let nowhere =
        Probe { car, position: DVec3::ZERO, offset: Vec3::ZERO, direction: Vec3::NEG_Z, length: 0.0, rim: None };
    let mut asked = vec![nowhere; model.wheels().len()];
    Vehicle::new(model.clone(), state.clone()).probes(car, &body, world.dt(), &mut asked);
    asked
}

/// Rewinds one car by ten steps, `rewinds` times.
fn rollback(backend: &SolverInfo, rewinds: u32) -> Result<(), Box<dyn std::error::Error>> {
    let mut world = shared::world(backend, 1);
    let controls = [Controls { throttle: 0.2, ..Controls::default() }];
    for _ in 0..shared::STEPS_PER_SECOND / 2 {
        world.step(&controls);
    }
    let mut past = vec![world.save()?; 10];
    for _ in 0..rewinds {
        world.load(&past[0])?;
        for before in &mut past {
            world.save_into(before)?;
            world.step(&controls);
        }
    }
    println!("{} rollback {rewinds}: {:.3} m", backend.name, world.frame(0).x_m);
    Ok(())
}
