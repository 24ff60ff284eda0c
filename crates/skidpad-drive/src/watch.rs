//! What a game hears and sees of a car: wheels that land, skid and bottom, gears, engines, roofs.

use skidpad_core::{CarView, Vec3, WheelContact};

/// Something that happened in the last step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// A wheel came to the ground.
    TouchDown {
        /// Which.
        wheel: usize,
        /// Speed with which body and ground came together there before the step, m/s, ≥ 0.
        speed: f32,
    },
    /// A wheel left the ground.
    LostContact {
        /// Which.
        wheel: usize,
    },
    /// A wheel rolled on to a surface of another grip.
    SurfaceChanged {
        /// Which.
        wheel: usize,
        /// Factor on the friction of its tyre before.
        from: f32,
        /// The same now.
        to: f32,
    },
    /// A tyre began to slide.
    SkidStart {
        /// Which wheel.
        wheel: usize,
        /// [`skid_intensity`].
        intensity: f32,
    },
    /// It grips again, or left the ground.
    SkidEnd {
        /// Which wheel.
        wheel: usize,
    },
    /// A strut reached its bump stop.
    Bottomed {
        /// Which wheel.
        wheel: usize,
        /// Mean speed of its compression over the step, m/s, ≥ 0.
        speed: f32,
    },
    /// Another gear is in: −1 reverse, 0 neutral, 1… ahead.
    Shifted {
        /// Before.
        from: i8,
        /// Now.
        to: i8,
    },
    /// The engine stopped.
    Stalled,
    /// The engine runs.
    Started,
    /// The speed limiter began to cut in.
    Limited,
    /// The car lies on its side or roof.
    RolledOver,
    /// It is on its wheels again.
    Righted,
    /// Nothing tows it any more: its hitch broke, or it was unhitched.
    Unhitched,
    /// Its hull hit something.
    Hit {
        /// Change of velocity by what it hit, world axes, m/s: [`CarView::blow`].
        change: Vec3,
    },
}

/// Intensity at which a skid starts, and below which it ends.
const SKID: [f32; 2] = [0.3, 0.2];

/// Sliding speed at which a tyre at its limit is half as loud as it can be, m/s.
const HALF_LOUD: f32 = 3.0;

/// Cosine of the lean at which a car has rolled over, and of that at which it stands again.
const OVER: [f32; 2] = [0.2, 0.5];

/// Least change of velocity that is a hit, m/s.
const HIT: f32 = 0.5;

/// How much a tyre skids, 0 to 1: the share of friction it uses, and how fast it slides, `v / (v + 3 m/s)`. For the volume of a
/// squeal and the strength of a mark.
pub fn skid_intensity(contact: &WheelContact) -> f32 {
    let [along, across] = contact.sliding;
    let sliding = Vec3::new(along, across, 0.0).length();
    contact.used * sliding / (sliding + HALF_LOUD)
}

/// Compares a car with itself a step before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Watch {
    wheels: Vec<WheelBefore>,
    body: Option<BodyBefore>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct WheelBefore {
    touches: bool,
    grip: Option<f32>,
    skids: bool,
    compression: f32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct BodyBefore {
    velocity: Vec3,
    angular: Vec3,
    gear: i8,
    runs: bool,
    limited: bool,
    over: bool,
    towed: bool,
}

impl Watch {
    /// Forgets what was before, as after a teleport: the next look tells nothing.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Tells `event` what happened to `car` in the step of `dt` s since the last look; the first look tells nothing. Look after every
    /// step. Of peers only what their states tell.
    pub fn look(&mut self, car: &CarView<'_>, dt: f32, mut event: impl FnMut(Event)) {
        let mut now = BodyBefore::of(car);
        let Some(before) = self.body else {
            self.wheels = (0..car.state.wheels.len())
                .map(|i| WheelBefore::default().next(car, i, None, dt, &mut |_| ()))
                .collect();
            self.body = Some(now);
            return;
        };
        for (i, wheel) in self.wheels.iter_mut().enumerate() {
            *wheel = wheel.next(car, i, Some(&before), dt, &mut event);
        }
        if now.gear != before.gear {
            event(Event::Shifted { from: before.gear, to: now.gear });
        }
        if now.runs != before.runs {
            event(if now.runs { Event::Started } else { Event::Stalled });
        }
        if now.limited && !before.limited {
            event(Event::Limited);
        }
        let up = (car.state.rotation * Vec3::Z).z;
        now.over = if before.over { up < OVER[1] } else { up < OVER[0] };
        if now.over != before.over {
            event(if now.over { Event::RolledOver } else { Event::Righted });
        }
        if before.towed && !now.towed {
            event(Event::Unhitched);
        }
        if let Some(change) = blow(car, &before) {
            event(Event::Hit { change });
        }
        self.body = Some(now);
    }
}

impl BodyBefore {
    fn of(car: &CarView<'_>) -> Self {
        let engine = car.engine_signals();
        Self {
            velocity: car.state.velocity,
            angular: car.state.angular,
            gear: car.state.drive.gear,
            runs: car.state.drive.engine_speed > 0.0,
            limited: engine.is_some_and(|engine| engine.limited > 0.0),
            over: (car.state.rotation * Vec3::Z).z < OVER[0],
            towed: car.state.tow.is_some(),
        }
    }
}

impl WheelBefore {
    /// The wheel after the step that followed; what happened to it goes to `event`.
    fn next(
        self,
        car: &CarView<'_>,
        i: usize,
        body: Option<&BodyBefore>,
        dt: f32,
        event: &mut dyn FnMut(Event),
    ) -> Self {
        let (wheel, strut) = (&car.state.wheels[i], &car.model.wheels()[i].strut);
        let contact = car.wheel_contact(i);
        let loud = contact.as_ref().map_or(0.0, skid_intensity);
        let now = Self {
            touches: wheel.contact,
            grip: contact.map(|contact| contact.grip).or(self.grip.filter(|_| wheel.contact)),
            skids: if self.skids { loud > SKID[1] } else { loud > SKID[0] },
            compression: wheel.compression,
        };
        if now.touches && !self.touches {
            let speed = body.zip(contact).map_or(0.0, |(body, contact)| {
                let arm = (contact.point - car.state.position).as_vec3();
                contact.rises - (body.velocity + body.angular.cross(arm)).dot(contact.normal)
            });
            event(Event::TouchDown { wheel: i, speed: speed.max(0.0) });
        } else if self.touches && !now.touches {
            event(Event::LostContact { wheel: i });
        }
        match (self.grip, now.grip) {
            (Some(from), Some(to)) if from != to => event(Event::SurfaceChanged { wheel: i, from, to }),
            _ => {}
        }
        if now.skids && !self.skids {
            event(Event::SkidStart { wheel: i, intensity: loud });
        } else if self.skids && !now.skids {
            event(Event::SkidEnd { wheel: i });
        }
        if now.compression > strut.bump_travel && self.compression <= strut.bump_travel {
            let speed = (now.compression - self.compression) / dt.max(f32::MIN_POSITIVE);
            event(Event::Bottomed { wheel: i, speed });
        }
        now
    }
}

/// Change of velocity in the last step by what the hull met, if it is a hit.
fn blow(car: &CarView<'_>, before: &BodyBefore) -> Option<Vec3> {
    // Of peers no forces are told.
    car.vehicle?;
    // What wakes a car that slept hit it.
    let change = car.blow().unwrap_or(car.state.velocity - before.velocity);
    (change.length() > HIT).then_some(change)
}
