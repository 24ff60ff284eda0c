//! The contract every solver meets, object-safe, so that laboratories and games choose one by name.

use crate::telemetry::frame::Frame;
use std::sync::Arc;

use crate::assists::assist_log::AssistLog;
use crate::controls::Controls;
use crate::model::Model;
use crate::state::saved::world::{CarOf, SavedWorld, SlotKind, SlotOf, read_world, write_world};
use crate::state::saved::{LoadError, SaveError};
use crate::state::{Placement, State};
use crate::step::coupling::StepReport;
use crate::world::car_view::CarView;
use crate::world::free_body::BodyMotion;
use crate::world::scene::Scene;
use crate::world::seam::{Contact, Probe};
use crate::world::slots::{CarError, CarId, Occupancy, Slots};
use bevy_math::Vec3;

/// A car to put into a world.
#[derive(Clone, Debug)]
pub struct CarStart {
    /// What it is.
    pub model: Arc<Model>,
    /// Where and how it starts.
    pub placement: Placement,
}

/// The ticks of a world: its step, s, and how many of them it has taken.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Clock {
    /// Length of the next step, s: it may be another one in every step.
    pub dt: f32,
    /// Steps since the start.
    pub steps: u64,
    /// Time since the start, s.
    pub time: f64,
}

impl Clock {
    /// At the start, with steps of `dt` s.
    pub fn new(dt: f32) -> Self {
        Self { dt, ..Self::default() }
    }

    /// Counts a step as done. Sums of one step length are exact for 2^29 steps: 24 bits each, in 53. The count stops at [`u64::MAX`].
    pub fn tick(&mut self) {
        self.steps = self.steps.saturating_add(1);
        self.time += f64::from(self.dt);
    }

    /// Goes on counting from `steps`, as if each of them had taken [`Clock::dt`].
    pub fn set_steps(&mut self, steps: u64) {
        (self.steps, self.time) = (steps, steps as f64 * f64::from(self.dt));
    }
}

/// A world of cars that one solver advances in steps.
///
/// The world stores its cars in slots, counted from 0. Removing a car empties its slot, and the next inserted car reuses it. A [`CarId`]
/// identifies a car for good: [`Slots::find`] returns its slot, or an error if the car was removed.
pub trait Backend: Send + Sync {
    /// Name by which users choose it.
    fn name(&self) -> &'static str;
    /// Advances every active car by one step. `controls[slot]` drives the car in that slot; cars without controls coast. Returns the worst
    /// report of all cars. In a world whose step is none ([`StepReport::of_no_step`]) nothing changes.
    fn step(&mut self, controls: &[Controls]) -> StepReport;
    /// Step, count of steps, and time.
    fn clock(&self) -> &Clock;
    /// The same, to go on from another one, or with steps of another length.
    fn clock_mut(&mut self) -> &mut Clock;
    /// Returns the slots: their content and the identifiers of their cars.
    fn slots(&self) -> &Slots;
    /// Returns the slots for [`load_world`], which restores those of a saved world. Meant for authors of solvers.
    fn slots_mut(&mut self) -> &mut Slots;
    /// Returns the number of slots, empty ones included.
    fn cars(&self) -> usize {
        self.slots().len()
    }
    /// Returns the car in `slot` after the last step. For an empty slot this is the car that was removed last; [`CarView::away`] is true then.
    ///
    /// # Panics
    /// The slot does not exist. Check with [`Slots::occupant`].
    fn car(&self, slot: usize) -> CarView<'_>;
    /// Sets the state of the active car in `slot`. The next step continues from it; worlds of physics engines round it to [`Backend::place`].
    ///
    /// # Errors
    /// The slot does not exist, is empty or holds a suspended car, or `state` has another number of wheels. Nothing is changed then.
    fn set_state(&mut self, slot: usize, state: &State) -> Result<(), CarError>;
    /// Inserts a car into the lowest empty slot, or appends a slot. Returns the identifier of the car. A world that was saved with fewer
    /// slots cannot be loaded afterwards.
    fn insert(&mut self, start: &CarStart) -> CarId;
    /// Removes `car` for good and uncouples its trailer. Its slot is empty until another car is inserted. A step does no work for an empty
    /// slot but to skip it.
    ///
    /// # Errors
    /// The slot does not exist, or the car was removed before. Nothing is changed then.
    fn remove(&mut self, car: CarId) -> Result<(), CarError>;
    /// Suspends the car in `slot` until [`Backend::resume`]. The car keeps its slot and its state, is not stepped and collides with nothing.
    ///
    /// # Errors
    /// The slot does not exist or is empty. Nothing is changed then.
    fn suspend(&mut self, slot: usize) -> Result<(), CarError>;
    /// Resumes the suspended car in `slot` with `state`. For an active car this is [`Backend::set_state`].
    ///
    /// # Errors
    /// The slot does not exist or is empty, or `state` has another number of wheels. Nothing is changed then.
    fn resume(&mut self, slot: usize, state: &State) -> Result<(), CarError>;
    /// Answers `asked` into `answered`, in order, as the wheels of its cars are answered in the coming step; a miss is `None`, and so is
    /// what a car asks that is not there. Nothing moves, and on ground that stands still many probes at once have the bits of each
    /// alone. Whether this world answers probes: those of peers do not, and leave `answered` as it was.
    fn probe(&mut self, _asked: &[Probe], _answered: &mut [Option<Contact>]) -> bool {
        false
    }
    /// Length of the next step, s.
    fn dt(&self) -> f32 {
        self.clock().dt
    }
    /// Steps since the start.
    fn steps(&self) -> u64 {
        self.clock().steps
    }
    /// Goes on counting from `steps`, as [`Clock::set_steps`] does.
    fn set_steps(&mut self, steps: u64) {
        self.clock_mut().set_steps(steps);
    }
    /// Time since the start, s.
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
    /// Where the solver's engine has car `car`, m, if that is not what [`State::position`] rounds to: engines that move bodies in 32 bits
    /// leave one that stands where it is, up to a last digit aside. It is saved with the world.
    fn place(&self, _car: usize) -> Option<Vec3> {
        None
    }
    /// Puts car `car` to [`Backend::place`], m, a last digit beside the position of its state; nothing in worlds without engines.
    fn set_place(&mut self, _car: usize, _place: Vec3) {}
    /// What assists and tricks added to car `car` in the last step; nothing where the solver has none, or does not tell.
    fn assist_log(&self, car: usize) -> AssistLog {
        self.car(car).vehicle.map_or(AssistLog::default(), |vehicle| *vehicle.assist_log())
    }
    /// Returns the telemetry of the car in slot `car` after the last step.
    fn frame(&self, car: usize) -> Frame {
        let mut frame = Frame::default();
        self.frame_into(car, &mut frame);
        frame
    }
    /// [`Backend::frame`] in place of what `frame` held, which allocates nothing once it has held one of that car.
    fn frame_into(&self, car: usize, frame: &mut Frame) {
        let (view, assist_log) = (self.car(car), self.assist_log(car));
        frame.read(view.model, view.state, view.ahead, &assist_log, self.time(), self.dt());
    }
    /// Number of free bodies, those of the scene in its order.
    fn bodies(&self) -> usize {
        0
    }
    /// Where free body `body` is and how it moves after the last step.
    fn body(&self, _body: usize) -> Option<BodyMotion> {
        None
    }
    /// Puts free body `body` into `motion`; the next step continues from it. Whether there is such a body.
    fn set_body(&mut self, _body: usize, _motion: &BodyMotion) -> bool {
        false
    }
    /// Everything that advances in time, as bytes from which [`Backend::load`] resumes bit for bit: own worlds always,
    /// Rapier's until a hull touches something, since the order of its contacts comes from the history of the world.
    ///
    /// # Errors
    /// The next step depends on what no state holds: the contacts of a hull in Rapier worlds. [`State::to_bytes`] still
    /// saves each car.
    fn save(&self) -> Result<Vec<u8>, SaveError> {
        let mut bytes = Vec::new();
        self.save_into(&mut bytes)?;
        Ok(bytes)
    }
    /// [`Backend::save`] in place of what `bytes` held, which allocates nothing once they have been used.
    ///
    /// # Errors
    /// As there; `bytes` then hold what they held.
    fn save_into(&self, bytes: &mut Vec<u8>) -> Result<(), SaveError> {
        save_world(self, bytes);
        Ok(())
    }
    /// Restores the world that [`Backend::save`] wrote. The world must have the same scene, cars and step length; its solver may differ.
    ///
    /// Cars that were inserted into empty slots after the save are removed. Cars that were removed after the save return, unless another car
    /// has reused their slot. The time is that of the saved number of steps ([`Backend::set_steps`]): if the length of steps has varied, store
    /// [`Backend::clock`] beside the bytes.
    ///
    /// # Errors
    /// The difference between the bytes and this world. Nothing is changed then.
    fn load(&mut self, bytes: &[u8]) -> Result<(), LoadError> {
        load_world(self, bytes)
    }
}

/// An entry of the list of solvers the facade offers.
#[derive(Clone, Copy)]
pub struct BackendInfo {
    /// Name by which users choose it.
    pub name: &'static str,
    /// One line: the world and how the rows are coupled.
    pub about: &'static str,
    /// Whether it stands beside in comparisons: a vehicle of another engine, or a mode. The solvers of which this is false must agree
    /// with each other.
    pub peer: bool,
    /// Whether its wheels are skidpad's rows, as those of modes are, too: they feel with rims, tow trailers and stand on ground that
    /// moves by itself.
    pub rows: bool,
    /// Makes a world with `cars` on the ground of a scene, stepped by `dt` s.
    pub build: fn(scene: &Scene, cars: &[CarStart], dt: f32) -> Box<dyn Backend>,
}

impl core::fmt::Debug for BackendInfo {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("BackendInfo").field("name", &self.name).field("peer", &self.peer).finish_non_exhaustive()
    }
}

/// Writes the step count, slots, car states and free bodies of `world` into `bytes`, and overwrites the previous content of `bytes`. This is
/// the default of [`Backend::save_into`].
pub fn save_world<B: Backend + ?Sized>(world: &B, bytes: &mut Vec<u8>) {
    let slots = (0..world.cars()).map(|slot| {
        let of = world.slots();
        let car = of.id(slot).map(|_| CarOf {
            is_suspended: !of.is_active(slot),
            state: world.state(slot),
            place: world.place(slot),
        });
        SlotOf { generation: of.generation(slot), car }
    });
    let bodies = (0..world.bodies()).filter_map(|body| world.body(body));
    write_world(world.dt(), world.steps(), slots, bodies, bytes);
}

/// Restores the step count, slots, car states and free bodies of `world` from `bytes`. This is the default of [`Backend::load`].
///
/// # Errors
/// What was found in the bytes and what is accepted. Nothing has changed then.
pub fn load_world<B: Backend + ?Sized>(world: &mut B, bytes: &[u8]) -> Result<(), LoadError> {
    let kinds = (0..world.cars()).map(|slot| SlotKind {
        wheels: world.slots().wheels(slot),
        generation: world.slots().generation(slot),
        is_empty: world.slots().id(slot).is_none(),
    });
    let SavedWorld { steps, slots, bodies } = read_world(world.dt(), kinds, world.bodies(), bytes)?;
    for (slot, saved) in slots.iter().enumerate() {
        // `read_world` has compared slots and wheels, so that this does not fail.
        let _ = load_slot(world, slot, saved);
    }
    for (body, motion) in bodies.iter().enumerate() {
        world.set_body(body, motion);
    }
    world.set_steps(steps);
    Ok(())
}

/// Restores `slot` of `world` from the slot `saved`.
fn load_slot<B: Backend + ?Sized>(world: &mut B, slot: usize, saved: &SlotOf<State>) -> Result<(), CarError> {
    let Some(CarOf { is_suspended, state, place }) = &saved.car else {
        if let Some(car) = world.slots().id(slot) {
            world.remove(car)?;
        }
        world.slots_mut().restore(slot, saved.generation, Occupancy::Empty);
        return Ok(());
    };
    world.slots_mut().restore(slot, saved.generation, Occupancy::Suspended);
    world.resume(slot, state)?;
    if let Some(place) = place {
        world.set_place(slot, *place);
    }
    if *is_suspended { world.suspend(slot) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::Clock;

    /// A saved world may say any number of steps.
    #[test]
    fn a_clock_at_the_largest_count_goes_on() {
        let mut clock = Clock::new(0.01);
        clock.set_steps(u64::MAX);
        clock.tick();
        assert_eq!(clock.steps, u64::MAX);
        assert!(clock.time.is_finite());
    }
}
