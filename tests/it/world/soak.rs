//! Long runs of worlds in which cars are inserted, removed, saved and loaded, and collide. Memory must not grow. Times are printed.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use skidpad::core::{CarId, CarStart, Controls, Model, Scene, Simulation, SolverInfo, State, state::Placement};

use crate::common::{Simplify, shipped};
use crate::step::random::Random;

/// Environment variable with the number of car-steps of each solver.
const CAR_STEPS: &str = "SOAK_CAR_STEPS";

/// Number of car-steps of each solver without the environment variable.
const SAMPLE: u64 = 20_000;

/// Number of parts of a run. The parts are compared.
const WINDOWS: u64 = 5;

/// Maximum number of cars in a world.
const CARS: usize = 12;

/// Number of steps between two changes of a world.
const BETWEEN: u64 = 20;

const HZ: f32 = 120.0;

/// Side of the square in which cars start, m. It is short, so that many cars collide.
const SIDE: f64 = 60.0;

const VEHICLES: [&str; 5] = ["corvette_c5", "bmw_320i_mf", "truck_6x4", "toyota_4runner", "caravan"];

/// Returns the processor time of this thread, ns; 0 on systems without `/proc`.
fn processor_time() -> u64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    told.split_whitespace().next().and_then(|time| time.parse().ok()).unwrap_or(0)
}

/// Measurements of one part of a run.
#[derive(Clone, Copy, Debug)]
struct Window {
    car_steps: u64,
    /// Processor time, ns.
    nanoseconds: u64,
    /// Heap in use at the end less that at the start, bytes.
    heap: i64,
    /// Number of open files and sockets at the end; 0 on systems without `/proc`.
    handles: usize,
    /// Number of slots at the end.
    slots: usize,
    /// Size of the saved world at the end, bytes; 0 if it cannot be saved.
    saved: usize,
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let each = self.nanoseconds / self.car_steps.max(1);
        let Self { car_steps, heap, handles, slots, saved, .. } = self;
        write!(f, "{car_steps:>10} {each:>8} {heap:>10} {handles:>8} {slots:>6} {saved:>8}")
    }
}

/// A world with the generator of its changes.
struct Soak {
    world: Box<dyn Simulation>,
    models: Vec<Arc<Model>>,
    random: Random,
    cars: VecDeque<CarId>,
    kept: Vec<u8>,
    controls: Vec<Controls>,
}

impl Soak {
    fn new(solver: &SolverInfo) -> Self {
        let scene = Scene { cars_collide: true, ..Scene::flat() };
        Self {
            world: (solver.build_world)(&scene, &[], 1.0 / HZ),
            models: VEHICLES.iter().map(|name| shipped(name).model()).collect(),
            random: Random(1),
            cars: VecDeque::new(),
            kept: Vec::new(),
            controls: vec![Controls::default(); CARS],
        }
    }

    fn placement(&mut self) -> Placement {
        let [x, y] = [0, 1].map(|_| SIDE * f64::from(self.random.between(-0.5, 0.5)));
        let (heading, speed) = (self.random.between(-3.0, 3.0), self.random.between(0.0, 15.0));
        Placement { x, y, heading, speed, ..Placement::default() }
    }

    fn insert(&mut self) {
        let number = self.random.below(self.models.len());
        // Every other car has its own model, as cars from different files have.
        let shared = Arc::clone(&self.models[number]);
        let model = if self.random.below(2) == 0 { shared } else { Arc::new(Model::clone(&shared)) };
        let placement = self.placement();
        let car = self.world.insert(&CarStart { model, placement });
        self.cars.push_back(car);
    }

    /// Makes one of the changes that a server makes.
    fn change(&mut self) {
        let count = self.cars.len();
        match self.random.below(6) {
            _ if count < 2 => self.insert(),
            0 if count < CARS => self.insert(),
            0 | 1 => {
                let oldest = self.cars.pop_front().expect("two are there");
                self.world.remove(oldest).expect("it is there");
                assert!(self.world.remove(oldest).is_err(), "a stale name");
                self.insert();
            }
            2 => {
                let car = self.cars[self.random.below(count)];
                let slot = self.world.slots().find(car).expect("it is there");
                let state = self.world.state(slot).clone();
                self.world.suspend(slot).expect("it is there");
                self.world.resume(slot, &state).expect("it fits");
            }
            3 => {
                let car = self.cars[self.random.below(count)];
                let placement = self.placement();
                let slot = self.world.slots().find(car).expect("it is there");
                let state = State::at_rest(self.world.model(slot), &Scene::flat(), &placement);
                self.world.set_state(slot, &state).expect("it fits");
            }
            // Worlds of physics engines cannot be saved while hulls touch.
            4 if self.world.save_into(&mut self.kept).is_ok() => {
                let before = self.world.state(0).to_bytes();
                (0..3).for_each(|_| _ = self.world.step(&self.controls));
                self.world.load(&self.kept).expect("just saved");
                assert_eq!(self.world.state(0).to_bytes(), before);
            }
            _ => {
                for slot in 0..CARS {
                    let throttle = self.random.between(0.0, 1.0);
                    let (brake, steer) = (self.random.between(-2.0, 1.0), self.random.between(-0.5, 0.5));
                    self.controls[slot] = Controls { throttle, brake: brake.max(0.0), steer, ..Controls::default() };
                }
            }
        }
    }

    /// Steps the world for `car_steps` car-steps.
    fn run(&mut self, car_steps: u64) -> Window {
        let (mut done, mut steps, start) = (0, 0u64, processor_time());
        let heap = allocation_counter::measure(|| {
            while done < car_steps {
                if steps.is_multiple_of(BETWEEN) {
                    self.change();
                }
                self.world.step(&self.controls);
                (done, steps) = (done + self.cars.len() as u64, steps + 1);
            }
        });
        let nanoseconds = processor_time().saturating_sub(start);
        let handles = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        let saved = self.world.save().map_or(0, |bytes| bytes.len());
        Window {
            car_steps: done,
            nanoseconds,
            heap: heap.bytes_current,
            handles,
            slots: self.world.slot_count(),
            saved,
        }
    }
}

/// Runs every solver and mode and prints each part. Requires that slots, open files and heap do not grow after the first part.
fn soak(car_steps: u64) {
    println!(
        "{:<24} {:>10} {:>8} {:>10} {:>8} {:>6} {:>8}",
        "", "car-steps", "ns each", "heap +", "handles", "slots", "saved"
    );
    for solver in skidpad::solvers().into_iter().chain(skidpad::solver_variants()) {
        let mut soak = Soak::new(&solver);
        let windows: Vec<Window> = (0..WINDOWS).map(|_| soak.run(car_steps / WINDOWS)).collect();
        for window in &windows {
            println!("{:<24} {window}", solver.name);
        }
        for window in &windows[1..] {
            assert!(window.slots <= CARS, "{}: {window:?}", solver.name);
            assert!(window.handles <= windows[0].handles, "{}: {window:?}", solver.name);
            // The parts end with different cars, and some vectors still double their capacity.
            assert!(window.heap < 256 * 1024, "{}: {window:?}", solver.name);
        }
    }
}

/// The environment variable of `cargo xtask soak` sets the number of car-steps.
#[test]
fn a_world_that_runs_for_long_does_not_grow() {
    let asked = std::env::var(CAR_STEPS).ok().and_then(|asked| asked.parse().ok());
    soak(asked.unwrap_or(SAMPLE));
}

/// Environment variable with the number of visitors in the world of each solver.
const VISITORS: &str = "SOAK_VISITORS";

/// Number of steps in a measurement of time.
const TIMED: u32 = 10_000;

/// Returns the processor time of a step, ns.
fn time(world: &mut dyn Simulation) -> u64 {
    let start = processor_time();
    (0..TIMED).for_each(|_| _ = world.step(&[Controls::parked()]));
    processor_time().saturating_sub(start) / u64::from(TIMED)
}

/// Visitors are inserted and removed beside a car that stays; every second one has its own model. The heap must not grow by 1 MB. The time of
/// a step before and after is printed. The environment variable of `cargo xtask soak` sets the number of visitors.
#[test]
fn visitors_leave_nothing() {
    let asked = std::env::var(VISITORS).ok().and_then(|asked| asked.parse().ok());
    let (visitors, model) = (asked.unwrap_or(400), shipped("corvette_c5").model());
    println!("{:<24} {:>10} {:>8} {:>8} {:>10}", "", "visitors", "ns first", "ns last", "heap +");
    let scene = Scene { cars_collide: true, ..Scene::flat() };
    for solver in skidpad::solvers().into_iter().chain(skidpad::solver_variants()) {
        let at = |x: f64, y: f64| Placement { x, y, ..Placement::default() };
        let resident = CarStart { model: model.clone(), placement: at(0.0, 0.0) };
        let mut world = (solver.build_world)(&scene, &[resident], 1.0 / 60.0);
        let visit = |world: &mut dyn Simulation, count: u64| {
            for k in 0..count {
                let model = if k % 2 == 0 { model.clone() } else { Arc::new(Model::clone(&model)) };
                let car = world.insert(&CarStart { model, placement: at(20.0 * (k % 5) as f64, 10.0) });
                if k % 8 == 0 {
                    world.step(&[Controls::parked()]);
                }
                world.remove(car).expect("it is there");
            }
        };
        // The first visitors let vectors grow to their size.
        visit(&mut *world, 50);
        let first = time(&mut *world);
        let heap = allocation_counter::measure(|| visit(&mut *world, visitors)).bytes_current;
        let last = time(&mut *world);
        println!("{:<24} {visitors:>10} {first:>8} {last:>8} {heap:>10}", solver.name);
        assert_eq!(world.slot_count(), 2, "{}: slots", solver.name);
        assert!(heap < 1 << 20, "{}: {heap} bytes more", solver.name);
    }
}
