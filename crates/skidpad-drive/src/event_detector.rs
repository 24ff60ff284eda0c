//! Events of a car for sound and effects: touchdown, skids, bump stops, gears, engine, rollover.

use skidpad_core::{CarView, Vec3, WheelContact};

/// Event in the last step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// A wheel touched the ground.
    TouchDown {
        /// Index of the wheel.
        wheel: usize,
        /// Approach speed of body and ground at the contact before the step, m/s, ≥ 0.
        speed: f32,
    },
    /// A wheel left the ground.
    LostContact {
        /// Index of the wheel.
        wheel: usize,
    },
    /// A wheel moved to a surface with a different grip.
    SurfaceChanged {
        /// Index of the wheel.
        wheel: usize,
        /// Factor on the friction of the tyre before.
        from: f32,
        /// Factor on the friction of the tyre after.
        to: f32,
    },
    /// A tyre began to slide.
    SkidStart {
        /// Index of the wheel.
        wheel: usize,
        /// Intensity as in [`skid_intensity`], 0 to 1.
        intensity: f32,
    },
    /// A tyre that skidded grips again or left the ground.
    SkidEnd {
        /// Index of the wheel.
        wheel: usize,
    },
    /// A suspension strut reached its bump stop.
    BumpStopHit {
        /// Index of the wheel.
        wheel: usize,
        /// Mean compression speed over the step, m/s, ≥ 0.
        speed: f32,
    },
    /// A different gear is engaged: −1 reverse, 0 neutral, 1… forward.
    GearChanged {
        /// Gear before.
        from: i8,
        /// Gear after.
        to: i8,
    },
    /// The engine stopped.
    Stalled,
    /// The engine started.
    Started,
    /// The engine speed limiter started to reduce the torque.
    RevLimiter,
    /// The car lies on its side or roof.
    RolledOver,
    /// The car is on its wheels again.
    BackOnWheels,
    /// The car is not towed any more: its hitch broke or was released.
    Unhitched,
    /// The hull hit something.
    Collision {
        /// Change of velocity by the contact, m/s: [`CarView::collision_velocity_change`]. World axes of the cars: z
        /// up, also in a Rapier world with y up.
        change: Vec3,
    },
}

/// Intensity above which a skid starts, and below which it ends.
const SKID_INTENSITY_LIMITS: [f32; 2] = [0.3, 0.2];

/// Sliding speed at which a tyre at its friction limit has half the maximum intensity, m/s.
const HALF_INTENSITY_SPEED_MPS: f32 = 3.0;

/// Vertical component of the car's z axis below which it has rolled over, and above which it is upright again.
const ROLLOVER_COSINE_LIMITS: [f32; 2] = [0.2, 0.5];

/// Change of velocity above which a contact is a hit, m/s.
const MIN_HIT_DELTA_V_MPS: f32 = 0.5;

/// Returns the skid intensity of a tyre, 0 to 1: the used share of friction times `v / (v + 3 m/s)`, with the sliding
/// speed v over both directions. The value suits the volume of a squeal and the strength of a skid mark.
pub fn skid_intensity(contact: &WheelContact) -> f32 {
    let [longitudinal, lateral] = contact.sliding_velocity;
    let sliding_speed = Vec3::new(longitudinal, lateral, 0.0).length();
    contact.friction_utilisation * sliding_speed / (sliding_speed + HALF_INTENSITY_SPEED_MPS)
}

/// Detector of events: compares a car with its state one step before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventDetector {
    /// Data of each wheel after the last step.
    wheels: Vec<LastWheel>,
    /// Data of the car after the last step; `None` before the first one.
    body: Option<LastBody>,
}

/// Data of a wheel after a step, for the comparison with the next one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct LastWheel {
    /// Whether the wheel touches the ground.
    in_contact: bool,
    /// Factor on the friction of the tyre at the contact; `None` in the air or if unknown.
    grip: Option<f32>,
    /// Whether the tyre skids.
    is_skidding: bool,
    /// Compression of the strut from rest, m.
    compression: f32,
}

/// Data of the car after a step, for the comparison with the next one.
#[derive(Clone, Copy, Debug, PartialEq)]
struct LastBody {
    /// Velocity of the centre of mass, world axes, m/s.
    velocity: Vec3,
    /// Angular velocity, world axes, rad/s.
    angular_velocity: Vec3,
    /// Engaged gear: −1 reverse, 0 neutral, 1… forward.
    gear: i8,
    is_engine_running: bool,
    /// Whether the speed limiter reduces the engine torque.
    is_rev_limited: bool,
    is_rolled_over: bool,
    is_towed: bool,
}

impl EventDetector {
    /// Discards the previous state, as after a teleport. The next call of [`EventDetector::update`] reports no events.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Calls `emit` with every event of `car` in its last step of `dt` s: events of the wheels in order, then gear,
    /// engine, limiter, rollover, hitch, and collision. Stores the data of the car for the next call. Call this
    /// function after every step. The first call, and the first after [`EventDetector::reset`], only stores.
    ///
    /// Skids and rollover have different limits for start and end. For peers (vehicles of other engines), only events
    /// that follow from their states are reported.
    pub fn update(&mut self, car: &CarView<'_>, dt: f32, mut emit: impl FnMut(Event)) {
        let mut current = LastBody::new(car);
        // First call: store without events.
        let Some(previous) = self.body else {
            self.wheels = (0..car.state.wheels.len())
                .map(|i| LastWheel::default().after_step(car, i, None, dt, &mut |_| ()))
                .collect();
            self.body = Some(current);
            return;
        };
        for (i, wheel) in self.wheels.iter_mut().enumerate() {
            *wheel = wheel.after_step(car, i, Some(&previous), dt, &mut emit);
        }
        if current.gear != previous.gear {
            emit(Event::GearChanged { from: previous.gear, to: current.gear });
        }
        if current.is_engine_running != previous.is_engine_running {
            emit(if current.is_engine_running { Event::Started } else { Event::Stalled });
        }
        if current.is_rev_limited && !previous.is_rev_limited {
            emit(Event::RevLimiter);
        }
        // Vertical component of the car's z axis. The limit depends on whether the car had rolled over before.
        let upright_cosine = (car.state.rotation * Vec3::Z).z;
        current.is_rolled_over = if previous.is_rolled_over {
            upright_cosine < ROLLOVER_COSINE_LIMITS[1]
        } else {
            upright_cosine < ROLLOVER_COSINE_LIMITS[0]
        };
        if current.is_rolled_over != previous.is_rolled_over {
            emit(if current.is_rolled_over { Event::RolledOver } else { Event::BackOnWheels });
        }
        if previous.is_towed && !current.is_towed {
            emit(Event::Unhitched);
        }
        if let Some(change) = collision_velocity_change(car, &previous) {
            emit(Event::Collision { change });
        }
        self.body = Some(current);
    }
}

impl LastBody {
    /// Reads the data of `car` after its last step: motion, gear, whether the engine turns, whether the limiter reduces
    /// its torque (false without an engine), rollover, and tow. Rollover uses the lower limit here, without memory.
    fn new(car: &CarView<'_>) -> Self {
        let engine = car.engine_signals();
        Self {
            velocity: car.state.velocity,
            angular_velocity: car.state.angular_velocity,
            gear: car.state.drive.gear,
            is_engine_running: car.state.drive.engine_speed > 0.0,
            is_rev_limited: engine.is_some_and(|engine| engine.limiter_share > 0.0),
            is_rolled_over: (car.state.rotation * Vec3::Z).z < ROLLOVER_COSINE_LIMITS[0],
            is_towed: car.state.tow.is_some(),
        }
    }
}

impl LastWheel {
    /// Returns the data of wheel `i` after the last step of `dt` s, and calls `emit` with its events in the order
    /// contact, surface, skid and bump stop. `self` has the data before the step. `body` is the motion of the car
    /// before the step; without it a touchdown has speed 0.
    ///
    /// A skid starts above 0.3 of [`skid_intensity`] and ends at 0.2 or less. The grip of a touching wheel without
    /// contact data stays the last one. A surface change needs a known grip before and after the step. The speed of a
    /// touchdown is that of body and ground towards each other at the contact, at least 0. The speed of a bump stop is
    /// the mean compression speed over the step.
    fn after_step(
        self,
        car: &CarView<'_>,
        i: usize,
        body: Option<&LastBody>,
        dt: f32,
        emit: &mut dyn FnMut(Event),
    ) -> Self {
        let (wheel, strut) = (&car.state.wheels[i], &car.model.wheels()[i].strut);
        let contact = car.wheel_contact(i);
        // Skid intensity, 0 to 1.
        let intensity = contact.as_ref().map_or(0.0, skid_intensity);
        let current = Self {
            in_contact: wheel.contact,
            grip: contact.map(|contact| contact.grip).or(self.grip.filter(|_| wheel.contact)),
            is_skidding: if self.is_skidding {
                intensity > SKID_INTENSITY_LIMITS[1]
            } else {
                intensity > SKID_INTENSITY_LIMITS[0]
            },
            compression: wheel.compression,
        };
        // Contact with the ground.
        if current.in_contact && !self.in_contact {
            let speed = body.zip(contact).map_or(0.0, |(body, contact)| {
                let arm = (contact.point - car.state.position).as_vec3();
                // Speed of the ground along its normal less that of the body's point before the step.
                contact.ground_normal_speed - (body.velocity + body.angular_velocity.cross(arm)).dot(contact.normal)
            });
            emit(Event::TouchDown { wheel: i, speed: speed.max(0.0) });
        } else if self.in_contact && !current.in_contact {
            emit(Event::LostContact { wheel: i });
        }
        // Surface.
        match (self.grip, current.grip) {
            (Some(from), Some(to)) if from != to => emit(Event::SurfaceChanged { wheel: i, from, to }),
            _ => {}
        }
        // Skid.
        if current.is_skidding && !self.is_skidding {
            emit(Event::SkidStart { wheel: i, intensity });
        } else if self.is_skidding && !current.is_skidding {
            emit(Event::SkidEnd { wheel: i });
        }
        // Bump stop.
        if current.compression > strut.bump_travel && self.compression <= strut.bump_travel {
            // Mean over the step; the bound avoids a division by 0.
            let speed = (current.compression - self.compression) / dt.max(f32::MIN_POSITIVE);
            emit(Event::BumpStopHit { wheel: i, speed });
        }
        current
    }
}

/// Returns the change of velocity in the last step by contacts of the hull, world axes, m/s. Returns `None` if the
/// change is at most [`MIN_HIT_DELTA_V_MPS`], and always for peers (vehicles of other engines). For a car that was
/// asleep before the step, [`CarView::collision_velocity_change`] is `None`; its whole change of velocity since
/// `previous` counts.
fn collision_velocity_change(car: &CarView<'_>, previous: &LastBody) -> Option<Vec3> {
    // Peers report no forces.
    car.vehicle?;
    // A car that was asleep before the step was woken by a hit.
    let velocity_change = car.collision_velocity_change().unwrap_or(car.state.velocity - previous.velocity);
    (velocity_change.length() > MIN_HIT_DELTA_V_MPS).then_some(velocity_change)
}
