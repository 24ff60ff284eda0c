//! Object-safe interface that every solver implements, so that programs can select a solver by name.

pub(crate) mod car_view;
pub mod slots;

use crate::telemetry::frame::Frame;
use std::sync::Arc;

use crate::assist_log::AssistLog;
use crate::controls::Controls;
use crate::ground::free_body::BodyMotion;
use crate::ground::scene::Scene;
use crate::model::Model;
use crate::port::{Contact, Probe};
use crate::simulation::car_view::CarView;
use crate::simulation::slots::{CarError, CarId, Occupancy, Slots};
use crate::state::saved::world::{CarRecord, SavedWorld, SlotKind, SlotRecord, read_world, write_world};
use crate::state::saved::{LoadError, SaveError};
use crate::state::{Placement, State};
use crate::step_report::StepReport;
use bevy_math::Vec3;

/// A car to insert into a world.
#[derive(Clone, Debug)]
pub struct CarStart {
    /// Model of the car.
    pub model: Arc<Model>,
    /// Placement and motion at the start.
    pub placement: Placement,
}

/// Clock of a world: step length, number of steps, and time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Clock {
    /// Length of the next step, s. The length may differ from step to step.
    pub dt: f32,
    /// Number of steps since the start.
    pub steps: u64,
    /// Time since the start, s.
    pub time: f64,
}

impl Clock {
    /// Returns a clock at time 0 with steps of `dt` s.
    pub fn new(dt: f32) -> Self {
        Self { dt, ..Self::default() }
    }

    /// Counts one step and adds its length to the time. Sums of one step length are exact for 2^29 steps: 24 bits each,
    /// in 53. The count stops at [`u64::MAX`].
    pub fn tick(&mut self) {
        self.steps = self.steps.saturating_add(1);
        self.time += f64::from(self.dt);
    }

    /// Sets the number of steps, and the time to that of `steps` steps of [`Clock::dt`].
    pub fn set_steps(&mut self, steps: u64) {
        (self.steps, self.time) = (steps, steps as f64 * f64::from(self.dt));
    }
}

/// A world of cars that one solver advances in steps.
///
/// The world stores its cars in slots, counted from 0. Removing a car empties its slot, and the next inserted car
/// reuses it. A [`CarId`] identifies a car for good: [`Slots::find`] returns its slot, or an error if the car was
/// removed.
pub trait Simulation: Send + Sync {
    /// Returns the name by which users select the solver.
    fn name(&self) -> &'static str;
    /// Advances every active car by one step. `controls[slot]` drives the car in that slot; cars without controls
    /// coast. Returns the worst report of all cars. If the step length is zero or invalid
    /// ([`StepReport::for_skipped_step`]), nothing changes.
    fn step(&mut self, controls: &[Controls]) -> StepReport;
    /// Returns the step length, the number of steps and the time.
    fn clock(&self) -> &Clock;
    /// Returns the clock, to set the time or the length of the next step.
    fn clock_mut(&mut self) -> &mut Clock;
    /// Returns the slots: their content and the identifiers of their cars.
    fn slots(&self) -> &Slots;
    /// Returns the slots for [`load_world`], which restores those of a saved world. Meant for authors of solvers.
    fn slots_mut(&mut self) -> &mut Slots;
    /// Returns the number of slots, empty ones included.
    fn slot_count(&self) -> usize {
        self.slots().len()
    }
    /// Returns the car in `slot` after the last step. For an empty slot this is the car that was removed last;
    /// [`CarView::is_inactive`] is true then.
    ///
    /// # Panics
    /// The slot does not exist. Check with [`Slots::occupant`].
    fn car(&self, slot: usize) -> CarView<'_>;
    /// Sets the state of the active car in `slot`. The next step continues from it; worlds of physics engines round it
    /// to [`Simulation::engine_position`].
    ///
    /// # Errors
    /// The slot does not exist, is empty or holds a suspended car, or `state` has another number of wheels. Nothing is
    /// changed then.
    fn set_state(&mut self, slot: usize, state: &State) -> Result<(), CarError>;
    /// Inserts a car into the lowest empty slot, or appends a slot. Returns the identifier of the car. A world that was
    /// saved with fewer slots cannot be loaded afterwards.
    fn insert(&mut self, start: &CarStart) -> CarId;
    /// Removes `car` for good and uncouples its trailer. The slot is empty until another car is inserted. A step does
    /// no work for an empty slot but to skip it.
    ///
    /// # Errors
    /// The slot does not exist, or the car was removed before. Nothing is changed then.
    fn remove(&mut self, car: CarId) -> Result<(), CarError>;
    /// Suspends the car in `slot` until [`Simulation::resume`]. The car keeps its slot and its state, is not stepped
    /// and collides with nothing.
    ///
    /// # Errors
    /// The slot does not exist or is empty. Nothing is changed then.
    fn suspend(&mut self, slot: usize) -> Result<(), CarError>;
    /// Resumes the suspended car in `slot` with `state`. For an active car this is [`Simulation::set_state`].
    ///
    /// # Errors
    /// The slot does not exist or is empty, or `state` has another number of wheels. Nothing is changed then.
    fn resume(&mut self, slot: usize, state: &State) -> Result<(), CarError>;
    /// Writes the contacts of the `probes` into `contacts`, in order, like those of wheels in the coming step. A miss
    /// is `None`, and so is a probe of a car that is not in the world. Nothing moves. On ground at rest, many probes in
    /// one call return the same bits as each alone. Returns true if the world supports probes. Peers and the default do
    /// not: they return false and leave `contacts` unchanged.
    fn probe(&mut self, _probes: &[Probe], _contacts: &mut [Option<Contact>]) -> bool {
        false
    }
    /// Returns the length of the next step, s.
    fn dt(&self) -> f32 {
        self.clock().dt
    }
    /// Returns the number of steps since the start.
    fn steps(&self) -> u64 {
        self.clock().steps
    }
    /// Sets the number of steps and the time, as [`Clock::set_steps`] does.
    fn set_steps(&mut self, steps: u64) {
        self.clock_mut().set_steps(steps);
    }
    /// Returns the time since the start, s.
    fn time(&self) -> f64 {
        self.clock().time
    }
    /// Returns the model of the car in slot `car`.
    fn model(&self, car: usize) -> &Arc<Model> {
        self.car(car).model
    }
    /// Returns the state of the car in slot `car` after the last step.
    fn state(&self, car: usize) -> &State {
        self.car(car).state
    }
    /// Returns the position of car `car` in the solver's engine, m, if it differs from [`State::position`] rounded to
    /// 32 bits. An engine that moves bodies in 32 bits keeps a car at rest where it is, up to its last digit. This
    /// position is saved with the world.
    fn engine_position(&self, _car: usize) -> Option<Vec3> {
        None
    }
    /// Sets the engine's position of car `car` to `position`, a value of [`Simulation::engine_position`], m. The
    /// position may differ by a last digit from the position of the state. Does nothing in worlds without such an
    /// engine.
    fn set_engine_position(&mut self, _car: usize, _position: Vec3) {}
    /// Returns the contributions of assists and tricks to car `car` in the last step; zero if the solver has none or
    /// does not report them.
    fn assist_log(&self, car: usize) -> AssistLog {
        self.car(car).vehicle.map_or(AssistLog::default(), |vehicle| *vehicle.assist_log())
    }
    /// Returns the telemetry of the car in slot `car` after the last step.
    fn frame(&self, car: usize) -> Frame {
        let mut frame = Frame::default();
        self.frame_into(car, &mut frame);
        frame
    }
    /// Writes the telemetry of [`Simulation::frame`] into `frame` and overwrites its content. Does not allocate if
    /// `frame` was filled with that of the same car before.
    fn frame_into(&self, car: usize, frame: &mut Frame) {
        let (view, assist_log) = (self.car(car), self.assist_log(car));
        frame.update(view.model, view.state, view.towing_vehicle, &assist_log, self.time(), self.dt());
    }
    /// Returns the number of free bodies, in the order of the scene; 0 by default.
    fn body_count(&self) -> usize {
        0
    }
    /// Returns the pose and velocities of free body `body` after the last step; `None` if there is no such body.
    fn body_motion(&self, _body: usize) -> Option<BodyMotion> {
        None
    }
    /// Sets the motion of free body `body`. The next step continues from it. Returns false if there is no such body.
    fn set_body_motion(&mut self, _body: usize, _motion: &BodyMotion) -> bool {
        false
    }
    /// Returns the complete state of the world as bytes, from which [`Simulation::load`] resumes bit for bit. Worlds of
    /// skidpad can always be saved, Rapier's only while no hull touches anything: the order of its contacts depends on
    /// the history of the world.
    ///
    /// # Errors
    /// The next step depends on data that no state contains, as do contacts of hulls in Rapier worlds.
    /// [`State::to_bytes`] still saves each car.
    fn save(&self) -> Result<Vec<u8>, SaveError> {
        let mut bytes = Vec::new();
        self.save_into(&mut bytes)?;
        Ok(bytes)
    }
    /// Writes the bytes of [`Simulation::save`] into `bytes` and overwrites their content. Does not allocate if `bytes`
    /// has the capacity.
    ///
    /// # Errors
    /// The errors of [`Simulation::save`]. `bytes` is unchanged then.
    fn save_into(&self, bytes: &mut Vec<u8>) -> Result<(), SaveError> {
        save_world(self, bytes);
        Ok(())
    }
    /// Restores the world that [`Simulation::save`] wrote. The world must have the same scene, cars and step length;
    /// its solver may differ.
    ///
    /// Cars that were inserted into empty slots after the save are removed. Cars that were removed after the save
    /// return, unless another car has reused their slot. The time is that of the saved number of steps
    /// ([`Simulation::set_steps`]). If the length of steps has varied, store [`Simulation::clock`] in addition to the
    /// bytes.
    ///
    /// # Errors
    /// The difference between the bytes and this world. Nothing is changed then.
    fn load(&mut self, bytes: &[u8]) -> Result<(), LoadError> {
        load_world(self, bytes)
    }
}

/// Entry of the list of solvers.
#[derive(Clone, Copy)]
pub struct SolverInfo {
    /// Name by which users select the solver.
    pub name: &'static str,
    /// Description in one line: the world, and the coupling of the rows.
    pub description: &'static str,
    /// Whether the entry only serves comparisons: a vehicle of another engine, or a mode of a solver. Solvers that are
    /// no peers must agree with each other.
    pub comparison_only: bool,
    /// Whether the wheels use the rows of skidpad; modes do, too. Such wheels support rim probes, trailers and ground
    /// that moves.
    pub has_wheel_rows: bool,
    /// Function that builds a world with `cars` on the ground of a scene, with steps of `dt` s.
    pub build_world: fn(scene: &Scene, cars: &[CarStart], dt: f32) -> Box<dyn Simulation>,
}

impl core::fmt::Debug for SolverInfo {
    /// Writes name and `comparison_only`, without the other fields.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("SolverInfo")
            .field("name", &self.name)
            .field("comparison_only", &self.comparison_only)
            .finish_non_exhaustive()
    }
}

/// Writes step length, step count, slots and free bodies of `world` into `bytes`, and overwrites the previous content
/// of `bytes`. Time, controls and scene are not written. This is the default of [`Simulation::save_into`].
///
/// An occupied slot has its generation, whether its car is suspended (in the slot, but not stepped), and the state of
/// the car. It also has the position of the body in the engine if this is not the rounded position of the state. An
/// empty slot has its generation only. A free body without a motion, which the engine no longer has, is left out.
pub fn save_world<B: Simulation + ?Sized>(world: &B, bytes: &mut Vec<u8>) {
    let slots = (0..world.slot_count()).map(|slot| {
        let world_slots = world.slots();
        let car = world_slots.id(slot).map(|_| CarRecord {
            is_suspended: !world_slots.is_active(slot),
            state: world.state(slot),
            engine_position: world.engine_position(slot),
        });
        SlotRecord { generation: world_slots.generation(slot), car }
    });
    let bodies = (0..world.body_count()).filter_map(|body| world.body_motion(body));
    write_world(world.dt(), world.steps(), slots, bodies, bytes);
}

/// Restores slots, car states, free bodies and step count of `world` from `bytes`, in this order; the step count sets
/// the time. Checks step length, slots, wheels and bodies first. This is the default of [`Simulation::load`].
///
/// # Errors
/// The difference between the bytes and this world. Nothing is changed then.
pub fn load_world<B: Simulation + ?Sized>(world: &mut B, bytes: &[u8]) -> Result<(), LoadError> {
    let kinds = (0..world.slot_count()).map(|slot| SlotKind {
        wheels: world.slots().wheels(slot),
        generation: world.slots().generation(slot),
        is_empty: world.slots().id(slot).is_none(),
    });
    let SavedWorld { steps, slots, bodies } = read_world(world.dt(), kinds, world.body_count(), bytes)?;
    for (slot, saved) in slots.iter().enumerate() {
        // This call does not fail, because `read_world` has compared slots and wheels.
        let _ = load_slot(world, slot, saved);
    }
    for (body, motion) in bodies.iter().enumerate() {
        world.set_body_motion(body, motion);
    }
    world.set_steps(steps);
    Ok(())
}

/// Restores `slot` of `world` from the slot `saved`. If the saved slot is empty: removes the car, if there is one, then
/// marks the slot as empty and sets its generation. Otherwise, in this order: sets the generation, resumes the car with
/// its saved state, sets the engine position if one was saved, and suspends the car if it was suspended.
///
/// # Errors
/// Returns the first error of [`Simulation::remove`], [`Simulation::resume`] or [`Simulation::suspend`].
fn load_slot<B: Simulation + ?Sized>(world: &mut B, slot: usize, saved: &SlotRecord<State>) -> Result<(), CarError> {
    let Some(CarRecord { is_suspended, state, engine_position }) = &saved.car else {
        if let Some(car) = world.slots().id(slot) {
            world.remove(car)?;
        }
        world.slots_mut().restore(slot, saved.generation, Occupancy::Empty);
        return Ok(());
    };
    // `resume` refuses an empty slot, so the slot first counts as one with a suspended car.
    world.slots_mut().restore(slot, saved.generation, Occupancy::Suspended);
    world.resume(slot, state)?;
    if let Some(engine_position) = engine_position {
        world.set_engine_position(slot, *engine_position);
    }
    if *is_suspended { world.suspend(slot) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::Clock;

    /// Checks that a clock at the largest number of steps keeps running; a saved world may contain any number.
    #[test]
    fn a_clock_at_the_largest_count_goes_on() {
        let mut clock = Clock::new(0.01);
        clock.set_steps(u64::MAX);
        clock.tick();
        assert_eq!(clock.steps, u64::MAX);
        assert!(clock.time.is_finite());
    }
}
