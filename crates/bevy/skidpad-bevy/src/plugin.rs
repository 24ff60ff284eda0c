//! The order of a tick, and what every world shares.

use crate::car::*;
use crate::follow::{draw, spawn_wheels};
use crate::motion::CarMotion;
use crate::towing::{hitch_dollies, unhitch};
use bevy_app::prelude::*;
use bevy_ecs::intern::Interned;
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleLabel;
use bevy_time::prelude::*;

/// Parts of a tick, in their order, and of a frame.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CarSystems {
    /// New cars enter their world, teleports and rewinds happen, cars that are gone leave.
    Enter,
    /// Inputs become controls.
    Drive,
    /// The world steps; each car is read.
    Step,
    /// Signals and messages of what happened.
    Tell,
    /// Once a frame: bodies and wheels are moved to where they are between two ticks.
    Follow,
}

/// What every car needs, whatever world it is in. Add the plugin of a world, too.
#[derive(Clone, Copy, Debug)]
pub struct CarPlugin {
    schedule: Interned<dyn ScheduleLabel>,
}

impl CarPlugin {
    /// Ticks in `schedule`. Outside of the fixed loop its frames are of any length, and drawn as they are.
    pub fn in_schedule(schedule: impl ScheduleLabel) -> Self {
        Self { schedule: schedule.intern() }
    }
}

impl Default for CarPlugin {
    fn default() -> Self {
        Self::in_schedule(FixedUpdate)
    }
}

/// The schedule that worlds add their systems to.
#[derive(Resource, Clone, Copy, Debug)]
pub(crate) struct CarSchedule(pub Interned<dyn ScheduleLabel>);

impl Plugin for CarPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(CarSchedule(self.schedule))
            .add_message::<CarEvent>()
            .add_message::<StepFault>()
            .register_type::<CarInputs>()
            .register_type::<CarSignals>()
            .register_type::<GroundSurface>()
            .register_type::<Wheel>()
            .register_type::<WheelSignals>()
            .configure_sets(
                self.schedule,
                (CarSystems::Enter, CarSystems::Drive, CarSystems::Step, CarSystems::Tell).chain(),
            )
            .add_systems(
                self.schedule,
                (
                    hitch_dollies.before(CarSystems::Enter),
                    shape.in_set(CarSystems::Drive),
                    (tell, tell_wheels, unhitch).in_set(CarSystems::Tell),
                ),
            )
            .add_observer(spawn_wheels)
            .configure_sets(RunFixedMainLoop, CarSystems::Follow.in_set(RunFixedMainLoopSystems::AfterFixedMainLoop))
            .add_systems(RunFixedMainLoop, draw.in_set(CarSystems::Follow));
    }
}

impl CarPlugin {
    /// The schedule that the plugin was given; worlds add their systems to it. Add [`CarPlugin`] before them.
    pub fn schedule_of(app: &App) -> Interned<dyn ScheduleLabel> {
        app.world().get_resource::<CarSchedule>().map_or_else(|| FixedUpdate.intern(), |schedule| schedule.0)
    }
}

fn shape(time: Res<Time>, mut cars: Query<(&Car, &CarMotion, &CarInputs, &mut CarDriver, &mut CarControls)>) {
    for (car, motion, inputs, mut driver, mut controls) in &mut cars {
        controls.0 = driver.0.controls(&(*inputs).into(), &car.0, motion.state(), time.delta_secs());
    }
}

fn tell(
    mut cars: Query<(Entity, &mut CarMotion, &mut CarSignals)>,
    mut events: MessageWriter<CarEvent>,
    mut faults: MessageWriter<StepFault>,
) {
    for (car, mut motion, mut signals) in &mut cars {
        *signals = motion.signals;
        events.write_batch(motion.events.drain(..).map(|event| CarEvent { car, event }));
        let report = motion.report();
        if report.not_finite || report.not_converged || report.misuse.is_some() {
            faults.write(StepFault { car, report });
        }
    }
}

fn tell_wheels(cars: Query<&CarMotion>, mut wheels: Query<(&Wheel, &ChildOf, &mut WheelSignals)>) {
    for (wheel, child, mut signals) in &mut wheels {
        let told = cars.get(child.parent()).ok().and_then(|car| car.wheels.get(wheel.index));
        if let Some(told) = told {
            *signals = *told;
        }
    }
}
