//! Level of detail: cars change their solver and step length while they drive, fine near the viewer and cheap far away.
//!
//! This module has one world of the same cars per level; each car is active in exactly one of them. It transfers cars
//! between levels and selects the level by distance. The solvers are supplied by the caller.

use crate::controls::Controls;
use crate::simulation::slots::{CarError, CarId, Slots};
use crate::simulation::{CarStart, Simulation};
use crate::state::State;
use crate::step_report::StepReport;
use crate::telemetry::frame::Frame;
use bevy_math::DVec3;

/// Reason for which worlds cannot be used as levels.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LevelError {
    /// There is no world.
    #[error("the list of worlds is empty, but one world per level is required")]
    NoWorld,
    /// A world has other cars than the first one.
    #[error(
        "the cars of level {level} differ from those of level 0; both worlds must have the same models in the same slots"
    )]
    CarsMismatch {
        /// Level of the world.
        level: usize,
    },
    /// A step length does not fit.
    #[error(
        "level {level} has a step of {found} s, which must be an integer multiple of {finer_step} s, the step of the previous level"
    )]
    StepMismatch {
        /// Level of the world.
        level: usize,
        /// Step of the world, s.
        found: f32,
        /// Step of the finer level, s.
        finer_step: f32,
    },
}

/// Relative error of the step ratio that is accepted as rounding of both steps to 32 bits.
const STEP_RATIO_TOLERANCE: f32 = 1e-5;

/// Worlds from fine to coarse, with every car active in one of them.
///
/// Time advances in ticks of the finest step. A coarser world steps at the end of every n-th tick with the controls of
/// that tick, so its cars lag by up to n − 1 ticks. Cars change levels only when both levels are at the same time. Cars
/// of different levels pass through each other. Vehicles of one train are always in the same level.
pub struct LevelOfDetail {
    /// Levels, finest first.
    levels: Vec<Level>,
    /// Cars by slot; an empty slot has the entry of the removed car.
    cars: Vec<LodCar>,
    /// Number of ticks of the finest step since the start.
    ticks: u64,
}

/// World of one level.
struct Level {
    /// World with all cars; those of other levels are suspended.
    world: Box<dyn Simulation>,
    /// Number of ticks per step.
    ticks_per_step: u64,
    /// Number of cars in the level.
    car_count: usize,
}

/// Level of one car.
struct LodCar {
    /// Level in which the car is active.
    level: usize,
    /// Level that the car changes to as soon as both levels are at the same time.
    requested_level: usize,
    /// Smallest squared distance of the train from a viewer, m². Used for the front vehicle of each train.
    viewer_distance_squared: f64,
    /// Buffer for the transferred state, so that a transfer does not allocate.
    state_buffer: State,
}

impl LodCar {
    /// Returns the entry of a car with `state` that is active in level 0, without a nearest viewer.
    fn in_finest_level(state: &State) -> Self {
        Self { level: 0, requested_level: 0, viewer_distance_squared: f64::INFINITY, state_buffer: state.clone() }
    }
}

impl LevelOfDetail {
    /// Builds the levels from one world per level, finest first, each with the same cars. All cars start in the first
    /// level and are suspended in the others. The length of a tick is the step of the first world.
    ///
    /// # Errors
    /// No world, worlds with different cars (number of slots, identifiers or models), or a step that is not a whole
    /// multiple of that of the preceding level.
    pub fn new(worlds: Vec<Box<dyn Simulation>>) -> Result<Self, LevelError> {
        let finest = worlds.first().ok_or(LevelError::NoWorld)?;
        let cars: Vec<LodCar> = (0..finest.slot_count()).map(|i| LodCar::in_finest_level(finest.state(i))).collect();
        let mut levels: Vec<Level> = Vec::with_capacity(worlds.len());
        for (level, mut world) in worlds.into_iter().enumerate() {
            let (mut ticks_per_step, mut car_count) = (1, world.slots().ids().count());
            if let Some(finer) = levels.last() {
                let is_same_car =
                    |i| world.slots().id(i) == finer.world.slots().id(i) && world.model(i) == finer.world.model(i);
                if world.slot_count() != cars.len() || !(0..cars.len()).all(is_same_car) {
                    return Err(LevelError::CarsMismatch { level });
                }
                ticks_per_step = finer.ticks_per_step * step_multiple(level, world.dt(), finer.world.dt())?;
                for slot in 0..cars.len() {
                    // The error of an empty slot does not matter: it has no car to suspend.
                    let _ = world.suspend(slot);
                }
                car_count = 0;
            }
            levels.push(Level { world, ticks_per_step, car_count });
        }
        Ok(Self { levels, cars, ticks: 0 })
    }

    /// Inserts a car into all worlds, active in the finest level and suspended in the others. Returns its identifier;
    /// its slot is the number of the car in all other methods.
    pub fn insert(&mut self, start: &CarStart) -> CarId {
        let insert_into = |level: &mut Level| level.world.insert(start);
        let ids: Vec<CarId> = self.levels.iter_mut().map(insert_into).collect();
        let (car, slot) = (ids[0], ids[0].slot());
        for level in &mut self.levels[1..] {
            // The slot holds the car that was just inserted.
            let _ = level.world.suspend(slot);
        }
        self.levels[0].car_count += 1;
        let entry = LodCar::in_finest_level(self.levels[0].world.state(slot));
        match self.cars.get_mut(slot) {
            Some(slot_entry) => *slot_entry = entry,
            None => self.cars.push(entry),
        }
        car
    }

    /// Removes `car` from all levels for good.
    ///
    /// # Errors
    /// The slot does not exist, or the car was removed before. Nothing is changed then.
    pub fn remove(&mut self, car: CarId) -> Result<(), CarError> {
        self.levels[0].world.slots().find(car)?;
        for level in &mut self.levels {
            level.world.remove(car)?;
        }
        self.levels[self.cars[car.slot()].level].car_count -= 1;
        Ok(())
    }

    /// Returns the slots of the finest level. Identifiers are the same in all levels.
    pub fn slots(&self) -> &Slots {
        self.levels[0].world.slots()
    }

    /// Returns the number of levels.
    pub fn levels(&self) -> usize {
        self.levels.len()
    }

    /// Returns the time since the start, s: number of ticks times the finest step.
    pub fn time(&self) -> f64 {
        self.ticks as f64 * f64::from(self.levels[0].world.dt())
    }

    /// Returns the level of car `car`.
    pub fn level(&self, car: usize) -> usize {
        self.cars[car].level
    }

    /// Returns the state of car `car` after the last step of its level; it lags by [`LevelOfDetail::lag`].
    pub fn state(&self, car: usize) -> &State {
        self.world(car).state(car)
    }

    /// Returns the telemetry of car `car` after the last step of its level. Its time is that of this step,
    /// [`LevelOfDetail::lag`] before the present time.
    pub fn frame(&self, car: usize) -> Frame {
        let (world, time) = (self.world(car), self.time() - self.lag(car));
        let view = world.car(car);
        Frame::new(view.model, view.state, view.towing_vehicle, &world.assist_log(car), time, world.dt())
    }

    /// Returns the time by which the state of car `car` lags behind, s: the ticks since the last step of its level; 0
    /// in the finest level.
    pub fn lag(&self, car: usize) -> f64 {
        let ticks = self.ticks % self.levels[self.cars[car].level].ticks_per_step;
        ticks as f64 * f64::from(self.levels[0].world.dt())
    }

    /// Moves car `car`, and all vehicles of its train, to `level`, or to the coarsest level if there is no such level.
    /// Moves at once if both levels are at the same time, otherwise as soon as they are.
    pub fn set_level(&mut self, car: usize, level: usize) {
        let front = self.front_vehicle(car); // identifies the train
        for other_car in 0..self.cars.len() {
            if self.front_vehicle(other_car) == front {
                self.request_level(other_car, level);
            }
        }
    }

    /// Requests for every car the level for its distance from the nearest of `viewers` (world, m), and moves it if both
    /// levels are at the same time. Vehicles of one train use the smallest of their distances. Without viewers the
    /// distance is infinite: the coarsest level for `distances`.
    pub fn update_levels(&mut self, viewers: &[DVec3], distances: &LodDistances) {
        self.cars.iter_mut().for_each(|car| car.viewer_distance_squared = f64::INFINITY);
        for car in 0..self.cars.len() {
            let (position, front) = (self.state(car).position, self.front_vehicle(car));
            let nearest = viewers.iter().map(|v| v.distance_squared(position)).fold(f64::INFINITY, f64::min);
            self.cars[front].viewer_distance_squared = self.cars[front].viewer_distance_squared.min(nearest);
        }
        for car in 0..self.cars.len() {
            let front = &self.cars[self.front_vehicle(car)];
            self.request_level(car, distances.level_at(front.viewer_distance_squared.sqrt(), front.requested_level));
        }
    }

    /// Sets the requested level of car `car` to `level`, at most the coarsest one, and moves the car if both levels are
    /// at the same time. Other vehicles of its train stay.
    fn request_level(&mut self, car: usize, level: usize) {
        self.cars[car].requested_level = level.min(self.levels.len() - 1);
        self.transfer_car(car);
    }

    /// Returns the front vehicle of the train of car `car`, by the tow states; `car` itself if no vehicle tows it. For
    /// a train behind vehicles that tow each other in a circle, returns the vehicle of the circle with the lowest slot.
    fn front_vehicle(&self, car: usize) -> usize {
        let towing = |car: usize| {
            let ahead = self.state(car).tow.map(|tow| tow.towing_slot as usize);
            ahead.filter(|ahead| *ahead < self.cars.len())
        };
        let mut front = car;
        for _ in 0..self.cars.len() {
            let Some(ahead) = towing(front) else { return front };
            front = ahead;
        }
        // After as many hitches as there are cars, `front` is part of a circle.
        let circle = core::iter::successors(Some(front), |car| towing(*car)).take(self.cars.len());
        circle.min().unwrap_or(front)
    }

    /// Advances by one tick of the finest step. First moves cars whose levels are at the same time; then steps every
    /// level with cars whose step ends at this tick. `controls[i]` drives car `i`; cars without controls coast. Returns
    /// the worst report of the levels that were stepped.
    pub fn step(&mut self, controls: &[Controls]) -> StepReport {
        for car in 0..self.cars.len() {
            self.transfer_car(car);
        }
        self.ticks += 1;
        let mut report = StepReport::default();
        for level in self.levels.iter_mut().filter(|level| level.car_count > 0) {
            if self.ticks.is_multiple_of(level.ticks_per_step) {
                report = report.merge_worst(level.world.step(controls));
            }
        }
        report
    }

    /// Returns the world in which car `car` is active.
    fn world(&self, car: usize) -> &dyn Simulation {
        self.levels[self.cars[car].level].world.as_ref()
    }

    /// Moves car `slot` to its requested level if both levels are at the same time: resumes it there with its state,
    /// sets the time of that world, and suspends it in the old one. Scales the last change of velocity to the new step,
    /// so that accelerations stay. Does nothing if the car already has the requested level, or if the slot is empty.
    /// The state includes forces, spins, deflections and gears, so that the next step has a warm start.
    fn transfer_car(&mut self, slot: usize) {
        let car = &mut self.cars[slot];
        let (old_level, new_level) = (car.level, car.requested_level);
        // The ticks of each level are a multiple of those of the finer levels, so that this is their common multiple.
        let common_ticks = self.levels[old_level].ticks_per_step.max(self.levels[new_level].ticks_per_step);
        if old_level == new_level || !self.ticks.is_multiple_of(common_ticks) {
            return;
        }
        let state = &mut car.state_buffer;
        state.clone_from(self.levels[old_level].world.state(slot));
        let (old_dt, new_dt) = (self.levels[old_level].world.dt(), self.levels[new_level].world.dt()); // step lengths, s
        if old_dt != new_dt {
            // The telemetry computes accelerations with the step of the world of the car.
            state.previous_velocity = state.velocity - (state.velocity - state.previous_velocity) * (new_dt / old_dt);
        }
        let target = &mut self.levels[new_level];
        if target.world.resume(slot, state).is_err() {
            return;
        }
        // A world without cars is not stepped, so that its time, which determines the wind, is set here.
        target.world.set_steps(self.ticks / target.ticks_per_step);
        // The slot holds the car in every level, so that this does not fail.
        let _ = self.levels[old_level].world.suspend(slot);
        self.levels[old_level].car_count -= 1;
        self.levels[new_level].car_count += 1;
        car.level = new_level;
    }
}

/// Returns the whole number of finer steps `finer_step` (s) in a step of `step` s of level `level`.
///
/// # Errors
/// [`LevelError::StepMismatch`] if the ratio is not whole within a relative error of 1e-5, or not in 1 to 1e6.
fn step_multiple(level: usize, step: f32, finer_step: f32) -> Result<u64, LevelError> {
    let ratio = step / finer_step;
    let rounded_ratio = ratio.round();
    if (1.0..1e6).contains(&rounded_ratio) && (ratio - rounded_ratio).abs() <= STEP_RATIO_TOLERANCE * rounded_ratio {
        return Ok(rounded_ratio as u64);
    }
    Err(LevelError::StepMismatch { level, found: step, finer_step })
}

/// Distances at which a car changes to the next coarser level.
#[derive(Clone, Debug, PartialEq)]
pub struct LodDistances {
    /// Distance between each level and the next coarser one, m, ascending.
    pub limits: Vec<f64>,
    /// Share of a limit, 0 to 1, by which a car must be nearer than the limit before it changes back. At 0 a car on the
    /// limit may change at every tick.
    pub margin: f64,
}

impl LodDistances {
    /// Returns the level of a car at `distance` m that is in level `current_level`: the number of limits below the
    /// distance. The car changes back to a finer level only below a limit times `1 − margin`. Counting stops at the
    /// first limit that is not exceeded.
    pub fn level_at(&self, distance: f64, current_level: usize) -> usize {
        // Number of limits, times `limit_share`, below the distance.
        let exceeded_limits =
            |limit_share: f64| self.limits.iter().take_while(|limit| distance > **limit * limit_share).count();
        current_level.max(exceeded_limits(1.0)).min(exceeded_limits(1.0 - self.margin))
    }
}

#[cfg(test)]
mod tests {
    use super::LodDistances;

    /// Checks the levels of a car that moves around limits of 50 and 200 m with a margin of 0.1, and at infinite
    /// distance.
    #[test]
    fn a_car_on_the_limit_does_not_change_to_and_fro() {
        let distances = LodDistances { limits: vec![50.0, 200.0], margin: 0.1 };
        let mut level = 0;
        let mut levels = |path: &[f64]| -> Vec<usize> {
            path.iter().map(|&distance| (level = distances.level_at(distance, level), level).1).collect()
        };
        assert_eq!(
            levels(&[10.0, 50.0, 51.0, 49.0, 46.0, 51.0]),
            [0, 0, 1, 1, 1, 1],
            "away and back within the margin"
        );
        assert_eq!(levels(&[44.0, 49.0, 300.0, 190.0, 170.0, 0.0]), [0, 0, 2, 2, 1, 0], "and all the way");
        assert_eq!(distances.level_at(f64::INFINITY, 0), 2, "nobody looks");
    }
}
