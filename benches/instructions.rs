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
//! | `fleet`, `fleet-random` | fleet with a mass and a grip of its own for each car, straight ahead or at random inputs; the solver is ignored |
//! | `-field`, `-mesh` after a fleet | fleet on waves as a height field or as a mesh |
//! | `-masked` after a fleet | one car in eight is not stepped |
//! | `-resets` after a fleet | one car in a hundred starts anew in each step |
//! | `rollback` | one car; each step is a rewind by ten steps, which are saved and repeated |
//! | `probes-` before a ground or its `discs-` | ground queries only; each step is one query of all wheels of 64 cars |

#[path = "solvers/shared.rs"]
mod shared;

#[path = "solvers/ground.rs"]
mod ground;

#[cfg(feature = "fleet")]
#[path = "solvers/fleet.rs"]
mod fleet;

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
    #[cfg(feature = "fleet")]
    if let Some(inputs) = scenario.strip_prefix("fleet") {
        return run_fleet(inputs, steps.parse()?);
    }
    if scenario == "rollback" {
        return run_rollback(&backend, steps.parse()?);
    }
    let car_count = if scenario == "alone" { 1 } else { CAR_COUNT };
    if let Some(probed_ground) = scenario.strip_prefix("probes-") {
        return run_probes(&backend, probed_ground, steps.parse()?);
    }
    let (has_discs, ground_name) =
        scenario.strip_prefix("discs-").map_or((false, scenario.as_str()), |ground| (true, ground));
    let random_vehicle = ground_name.strip_prefix("random-");
    let vehicle = ground_name.strip_prefix("plane-").or(random_vehicle);
    let controls_at: fn(u32) -> Controls = match ground_name {
        _ if vehicle.is_some() => |_| Controls { throttle: 0.2, ..Controls::default() },
        "plane" | "field" | "mesh" | "alone" => |_| Controls { throttle: 0.2, ..Controls::default() },
        "step-steer" => shared::step_steer,
        unknown => return Err(format!("there is no scenario `{unknown}`").into()),
    };
    let mut world = match vehicle {
        Some(vehicle) => {
            let cars = shared::cars_of(vehicle, car_count).ok_or_else(|| format!("there is no vehicle `{vehicle}`"))?;
            (backend.build_world)(&Scene::flat(), &cars, 1.0 / shared::STEPS_PER_SECOND as f32)
        }
        None => ground::world(&backend, car_count, ground_name, has_discs),
    };
    let mut controls = vec![controls_at(0); car_count];
    let mut random = Random(1);
    for step in 0..steps.parse()? {
        // Controls are only written when they change, so that mainly the work of the solver is counted.
        if random_vehicle.is_some() {
            if step % shared::STEPS_PER_SECOND.div_ceil(4) == 0 {
                controls.iter_mut().for_each(|controls| *controls = random.controls());
            }
        } else if controls_at(step) != controls[0] {
            controls.fill(controls_at(step));
        }
        world.step(&controls);
    }
    let frame = world.frame(car_count - 1);
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
        let [throttle, brake, brake_chance, steer] =
            [self.next_share(), self.next_share(), self.next_share(), self.next_share()];
        let brake = if brake_chance < 0.25 { brake } else { 0.0 };
        Controls { throttle, brake, steer: 0.4 * steer - 0.2, ..Controls::default() }
    }
}

/// Runs the probes of all wheels for a number of `rounds`, at places along the path of the cars in turn.
fn run_probes(backend: &SolverInfo, scenario_ground: &str, rounds: usize) -> Result<(), Box<dyn std::error::Error>> {
    let (has_discs, ground_name) =
        scenario_ground.strip_prefix("discs-").map_or((false, scenario_ground), |ground| (true, ground));
    let mut world = ground::world_of_ghosts(backend, CAR_COUNT, ground_name, has_discs);
    let controls = vec![Controls { throttle: 0.2, ..Controls::default() }; CAR_COUNT];
    // Places are a prime number of steps apart, so that the wheels are at different points within the cells.
    let probe_sets: Vec<Vec<Probe>> = (0..PROBE_PLACE_COUNT)
        .map(|_| {
            (0..7).for_each(|_| _ = world.step(&controls));
            (0..CAR_COUNT).flat_map(|car| wheel_probes(world.as_ref(), car)).collect()
        })
        .collect();
    let mut contacts = vec![None; probe_sets[0].len()];
    let mut distance_sum = 0.0;
    for probes in probe_sets.iter().cycle().take(rounds) {
        if !world.probe(probes, &mut contacts) {
            return Err(format!("{} answers no probes", backend.name).into());
        }
        distance_sum += contacts.iter().flatten().map(|contact| contact.distance).sum::<f32>();
    }
    println!("{} probes-{scenario_ground} {rounds}: {distance_sum:.3} m", backend.name);
    Ok(())
}

/// Returns the probes of the wheels of a car before the next step.
fn wheel_probes(world: &dyn Simulation, car: usize) -> Vec<Probe> {
    let (state, model) = (world.state(car), world.model(car));
    let body = ChassisState {
        position: state.position,
        rotation: state.rotation,
        velocity: state.velocity,
        angular_velocity: state.angular_velocity,
        free_velocity: state.velocity,
        free_angular_velocity: state.angular_velocity,
        gyroscopic_change: Vec3::ZERO,
        wind: Vec3::ZERO,
        pose_lag: 0.0,
        position_resolution: 0.0,
        asleep: false,
    };
    let empty_probe =
        Probe { car, position: DVec3::ZERO, offset: Vec3::ZERO, direction: Vec3::NEG_Z, length: 0.0, rim: None };
    let mut probes = vec![empty_probe; model.wheels().len()];
    Vehicle::new(model.clone(), state.clone()).probes(car, &body, world.dt(), &mut probes);
    probes
}

/// Steps a fleet of Corvettes, each with its own mass and grip. `options` is the end of the scenario: the options of the
/// table above, each after a `-`.
#[cfg(feature = "fleet")]
fn run_fleet(options: &str, steps: u32) -> Result<(), Box<dyn std::error::Error>> {
    let has_option = |name: &str| options.split('-').any(|option| option == name);
    let ground_name = ["field", "mesh"].into_iter().find(|name| has_option(name)).unwrap_or("plane");
    let mut fleet = fleet::varied_fleet(CAR_COUNT, ground_name, 1.0 / shared::STEPS_PER_SECOND as f32)?;
    if has_option("masked") {
        for car in (0..CAR_COUNT).step_by(8) {
            fleet.set_active(car, false)?;
        }
    }
    let start = fleet.state(0)?;
    let mut random = Random(1);
    // Cars to start anew, in hundredths.
    let mut due_resets = 0;
    for step in 0..steps {
        if has_option("random") && step % shared::STEPS_PER_SECOND.div_ceil(4) == 0 {
            for car in 0..CAR_COUNT {
                fleet.set_controls(car, &random.controls())?;
            }
        }
        if has_option("resets") {
            due_resets += CAR_COUNT;
            for _ in 0..due_resets / 100 {
                // 29 is prime: every car has its turn.
                fleet.set_state(29 * step as usize % CAR_COUNT, &start)?;
            }
            due_resets %= 100;
        }
        fleet.step(1);
    }
    println!(
        "fleet{options} {steps}: {:.3} m, {} car-steps alone",
        fleet.state(CAR_COUNT - 1)?.position.x,
        fleet.rare_steps()
    );
    Ok(())
}

/// Rewinds one car by ten steps, `rewinds` times.
fn run_rollback(backend: &SolverInfo, rewinds: u32) -> Result<(), Box<dyn std::error::Error>> {
    let mut world = shared::world(backend, 1);
    let controls = [Controls { throttle: 0.2, ..Controls::default() }];
    for _ in 0..shared::STEPS_PER_SECOND / 2 {
        world.step(&controls);
    }
    let mut saved_worlds = vec![world.save()?; 10];
    for _ in 0..rewinds {
        world.load(&saved_worlds[0])?;
        for saved_world in &mut saved_worlds {
            world.save_into(saved_world)?;
            world.step(&controls);
        }
    }
    println!("{} rollback {rewinds}: {:.3} m", backend.name, world.frame(0).x_m);
    Ok(())
}
