//! Component with the state and signals of a car after each step.

use crate::car::{CarSignals, WheelSignals};
use crate::transforms::BEVY_AXES;
use bevy_ecs::prelude::*;
use skidpad_core::{CarView, Model, State, StepReport, Vec3};
use skidpad_drive::{Event, EventDetector, PoseInterpolator, skid_intensity};

/// State of a car in its world. The world inserts the component when the car enters and calls [`CarMotion::update`]
/// after every step. The other systems of this crate read it.
#[derive(Component, Clone, Debug)]
pub struct CarMotion {
    state: State,
    report: StepReport,
    /// Poses of the last two ticks, for drawing.
    pub(crate) interpolator: PoseInterpolator,
    pub(crate) signals: CarSignals,
    pub(crate) wheels: Vec<WheelSignals>,
    /// Events of the last step that were not sent as messages yet.
    pub(crate) events: Vec<Event>,
    event_detector: EventDetector,
    /// Whether the car lost its tow in the last step.
    was_unhitched: bool,
}

/// Conversion factor from rad/s to revolutions per minute.
const RPM_PER_RADPS: f32 = 30.0 / std::f32::consts::PI;

impl CarMotion {
    /// Creates the component of a car of `model` that enters its world in `state`.
    pub fn new(model: &Model, state: State) -> Self {
        Self {
            interpolator: PoseInterpolator::new(model, &state),
            signals: CarSignals::default(),
            wheels: vec![WheelSignals::default(); state.wheels.len()],
            events: Vec::new(),
            event_detector: EventDetector::default(),
            was_unhitched: false,
            report: StepReport::default(),
            state,
        }
    }

    /// Returns the state after the last step, in skidpad's axes. The state is all that has to be saved for a rewind.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Returns the report of the last step.
    pub fn report(&self) -> StepReport {
        self.report
    }

    /// Copies state and report of `car` after a step of `dt` s. Stores its pose for interpolation, appends the events
    /// of the step, and computes the signals of the car and of each wheel. Also stores whether the car lost its tow in
    /// this step. The transforms and [`CarSignals`] of the entity are updated by other systems.
    pub fn update(&mut self, car: &CarView<'_>, dt: f32) {
        self.was_unhitched = self.state.tow.is_some() && car.state.tow.is_none();
        self.state.clone_from(car.state);
        self.report = car.report;
        self.interpolator.push(car.model, car.state, dt);
        let events = &mut self.events;
        self.event_detector.update(car, dt, |event| events.push(event));
        self.signals = signals(car, dt);
        for (i, wheel) in self.wheels.iter_mut().enumerate() {
            *wheel = wheel_signals(car, i);
        }
    }

    /// Removes the tow (towing vehicle and hitch force) of the state. The pose does not change.
    pub(crate) fn unhitch(&mut self) {
        self.state.tow = None;
    }

    /// Returns whether the car was unhitched in the last step.
    pub(crate) fn was_unhitched(&self) -> bool {
        self.was_unhitched
    }

    /// Sets the car to `state` without interpolation and without events, for a teleport or a rewind. The report, the
    /// signals and the events that were not sent stay as they are. If the number of wheels differs, the component is
    /// new, as from [`CarMotion::new`].
    pub fn teleport(&mut self, model: &Model, state: &State) {
        if state.wheels.len() == self.wheels.len() {
            self.interpolator.teleport(model, state);
            self.event_detector.reset();
            self.state.clone_from(state);
        } else {
            *self = Self::new(model, state.clone());
        }
    }
}

/// Returns the signals of `car` after a step of `dt` s. The acceleration is the change of velocity over the step, in
/// the axes of the body at its end. A vehicle without an engine has engine speed, load and limiter 0.
fn signals(car: &CarView<'_>, dt: f32) -> CarSignals {
    let state = car.state;
    // Rotation from world axes to body axes.
    let to_body = state.rotation.inverse();
    // The minimum avoids a division by 0.
    let body_acceleration = to_body * (state.velocity - state.previous_velocity) / dt.max(f32::MIN_POSITIVE);
    let engine = car.engine_signals();
    CarSignals {
        speed: (to_body * state.velocity).dot(Vec3::X),
        gear: state.drive.gear,
        rpm: state.drive.engine_speed * RPM_PER_RADPS,
        load: engine.map_or(0.0, |engine| engine.load),
        limited: engine.map_or(0.0, |engine| engine.limiter_share),
        // Remaining time of the shift, s.
        shifting: state.drive.shift_left > 0.0,
        // Lateral, longitudinal.
        acceleration: [body_acceleration.y, body_acceleration.x],
    }
}

/// Returns the signals of wheel `i` after the last step, in Bevy's axes. A wheel in the air has its radius and zero in
/// all other fields.
fn wheel_signals(car: &CarView<'_>, i: usize) -> WheelSignals {
    let radius = car.model.wheels()[i].radius;
    let Some(contact) = car.wheel_contact(i) else {
        return WheelSignals { radius, ..WheelSignals::default() };
    };
    WheelSignals {
        in_contact: true,
        point: BEVY_AXES.point_to_world(contact.point).as_vec3(),
        normal: BEVY_AXES.to_world(contact.normal),
        grip: contact.grip,
        force: BEVY_AXES.to_world(contact.force),
        friction_utilisation: contact.friction_utilisation,
        skid_intensity: skid_intensity(&contact),
        radius,
    }
}
