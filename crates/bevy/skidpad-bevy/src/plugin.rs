//! Plugin with the system order of a tick and the systems that do not depend on the world.

use crate::car::*;
use crate::fixed_loop::{FixedLoop, enter_fixed_loop, leave_fixed_loop, store_loop_of_tick};
use crate::interpolation::{interpolate, spawn_wheels};
use crate::motion::CarMotion;
use crate::towing::{hitch_dollies, remove_unhitched_links};
use crate::transforms::BEVY_AXES;
use bevy_app::prelude::*;
use bevy_ecs::intern::Interned;
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleLabel;
use bevy_time::prelude::*;
use skidpad_drive::Event;

/// System sets of a tick, in the order in which they run, and of a frame.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CarSystems {
    /// Insertion of new cars, removal of despawned cars, teleports, rewinds and hitching.
    SyncCars,
    /// Conversion of inputs to controls.
    Input,
    /// Step of the world, and update of [`CarMotion`] of each car.
    Step,
    /// Update of signals, and messages of events and faulty steps.
    Events,
    /// Interpolation of the transforms of bodies and wheels between two ticks, once a frame.
    Interpolate,
}

/// Plugin with the systems that every car needs in any world. Add the plugin of a world after it.
#[derive(Clone, Copy, Debug)]
pub struct CarPlugin {
    /// Schedule that runs once a tick.
    schedule: Interned<dyn ScheduleLabel>,
}

impl CarPlugin {
    /// Creates a plugin that runs a tick per run of `schedule`. A tick is as long as `Time` says there. Drawing
    /// interpolates by the overstep of `Time<Fixed>` if `schedule` runs in the fixed loop; otherwise it draws the last
    /// tick.
    pub fn in_schedule(schedule: impl ScheduleLabel) -> Self {
        Self { schedule: schedule.intern() }
    }
}

impl Default for CarPlugin {
    /// Returns the plugin for a tick per run of [`FixedUpdate`].
    fn default() -> Self {
        Self::in_schedule(FixedUpdate)
    }
}

/// Schedule that worlds add their systems to.
#[derive(Resource, Clone, Copy, Debug)]
pub(crate) struct CarSchedule(pub Interned<dyn ScheduleLabel>);

impl Plugin for CarPlugin {
    /// Registers messages and types, orders the system sets of a tick, and adds the systems that need no world:
    /// dollies, inputs, messages and signals, wheel entities, interpolation.
    fn build(&self, app: &mut App) {
        app.insert_resource(CarSchedule(self.schedule))
            .init_resource::<FixedLoop>()
            .add_systems(FixedFirst, enter_fixed_loop.before(CarSystems::SyncCars))
            .add_systems(FixedLast, leave_fixed_loop.after(CarSystems::Events))
            .add_message::<CarEvent>()
            .add_message::<StepFault>()
            .register_type::<CarInputs>()
            .register_type::<CarSignals>()
            .register_type::<GroundSurface>()
            .register_type::<Wheel>()
            .register_type::<WheelSignals>()
            .configure_sets(
                self.schedule,
                (CarSystems::SyncCars, CarSystems::Input, CarSystems::Step, CarSystems::Events).chain(),
            )
            .add_systems(
                self.schedule,
                (
                    (hitch_dollies, store_loop_of_tick).before(CarSystems::SyncCars),
                    read_inputs.in_set(CarSystems::Input),
                    (send_messages, update_wheel_signals, remove_unhitched_links).in_set(CarSystems::Events),
                ),
            )
            .add_observer(spawn_wheels)
            .configure_sets(
                RunFixedMainLoop,
                CarSystems::Interpolate.in_set(RunFixedMainLoopSystems::AfterFixedMainLoop),
            )
            .add_systems(RunFixedMainLoop, interpolate.in_set(CarSystems::Interpolate));
    }
}

impl CarPlugin {
    /// Returns the schedule of the [`CarPlugin`] in `app`, to which worlds add their systems. Returns [`FixedUpdate`]
    /// if the plugin was not added before.
    pub fn schedule_of(app: &App) -> Interned<dyn ScheduleLabel> {
        app.world().get_resource::<CarSchedule>().map_or_else(|| FixedUpdate.intern(), |schedule| schedule.0)
    }
}

/// Converts the inputs of every car with a driver to controls, from its state after the last step. A car without
/// [`CarDriver`] keeps its controls.
fn read_inputs(time: Res<Time>, mut cars: Query<(&Car, &CarMotion, &CarInputs, &mut CarDriver, &mut CarControls)>) {
    for (car, motion, inputs, mut driver, mut controls) in &mut cars {
        controls.0 = driver.0.controls(&(*inputs).into(), &car.0, motion.state(), time.delta_secs());
    }
}

/// Copies the signals of every car to its component and sends its events. Sends a [`StepFault`] if the last step was
/// not finite, did not converge, or reported a misuse of the world. Afterwards the motion has no events left.
fn send_messages(
    mut cars: Query<(Entity, &mut CarMotion, &mut CarSignals)>,
    mut events: MessageWriter<CarEvent>,
    mut faults: MessageWriter<StepFault>,
) {
    for (car, mut motion, mut signals) in &mut cars {
        *signals = motion.signals;
        // The events of the motion are drained, so that each is sent once.
        events.write_batch(motion.events.drain(..).map(|event| CarEvent { car, event: event_in_bevy_axes(event) }));
        let report = motion.report();
        if report.not_finite || report.not_converged || report.misuse.is_some() {
            faults.write(StepFault { car, report });
        }
    }
}

/// Returns the event with the change of velocity of a collision in Bevy's axes. Other events have no vectors.
fn event_in_bevy_axes(event: Event) -> Event {
    match event {
        Event::Collision { change } => Event::Collision { change: BEVY_AXES.to_world(change) },
        event => event,
    }
}

/// Copies the signals of every wheel from the motion of its car. A wheel without a car, or with an index that the car
/// does not have, keeps its signals.
fn update_wheel_signals(cars: Query<&CarMotion>, mut wheels: Query<(&Wheel, &ChildOf, &mut WheelSignals)>) {
    for (wheel, child, mut signals) in &mut wheels {
        // Signals of the wheel after the last step.
        let wheel_signals = cars.get(child.parent()).ok().and_then(|car| car.wheels.get(wheel.index));
        if let Some(wheel_signals) = wheel_signals {
            *signals = *wheel_signals;
        }
    }
}
