//! From what a player asks to the controls of one car.

use crate::direction::{AutoReverse, Direction, stands};
use crate::input::{Inputs, Shaper, Shaping, finite, largest_steer};
use skidpad_core::{Controls, Model, State, Vec3};

/// Who shifts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gears {
    /// The car, and the brake pedal drives back from a standstill.
    #[default]
    Automatic,
    /// The player, by [`Driver::shift_up`] and [`Driver::shift_down`]; the gear that is asked for: −1 back, 0 neutral, 1… ahead.
    Manual(i8),
}

/// Sits in one car and turns what a player asks into [`Controls`], tick by tick.
///
/// ```
/// use skidpad_drive::{Driver, Keys};
/// # fn drive(world: &mut dyn skidpad_core::Backend) {
/// let mut driver = Driver::default();
/// let keys = Keys { accelerate: true, left: true, ..Keys::default() };
/// let (car, dt) = (world.car(0), world.dt());
/// let controls = driver.controls(&keys.into(), car.model, car.state, dt);
/// world.step(&[controls]);
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Driver {
    /// How the device is read.
    pub shaping: Shaping,
    /// Automatic reverse and hold.
    pub reverse: AutoReverse,
    /// Who shifts.
    pub gears: Gears,
    /// Where pedals and steering are on their way.
    pub shaper: Shaper,
}

/// A handbrake pulled further than this opens the clutch, as a foot would, so that it does not have to stop the engine.
const OPENS_CLUTCH: f32 = 0.3;

impl Driver {
    /// One who reads a device by `shaping`.
    pub fn with(shaping: Shaping) -> Self {
        Self { shaping, ..Self::default() }
    }

    /// Lets go of everything, as after a teleport: no pedal is on its way, the car drives ahead.
    pub fn reset(&mut self) {
        self.shaper = Shaper::default();
        self.reverse.reset();
        if let Gears::Manual(gear) = &mut self.gears {
            *gear = 1;
        }
    }

    /// Asks for the next higher gear, if the player shifts; the highest is the highest the car has.
    pub fn shift_up(&mut self, model: &Model) {
        if let Gears::Manual(gear) = &mut self.gears {
            let top = model.parts().powertrain.engine().map_or(1, |drive| drive.gearbox.nearest(i8::MAX));
            *gear = gear.saturating_add(1).min(top);
        }
    }

    /// Asks for the next lower gear, if the player shifts; the lowest is reverse.
    pub fn shift_down(&mut self) {
        if let Gears::Manual(gear) = &mut self.gears {
            *gear = gear.saturating_sub(1).max(-1);
        }
    }

    /// The controls for the next step of `dt` s of a car of `model` in `state`. Nothing is read of a step that has no length.
    pub fn controls(&mut self, asked: &Inputs, model: &Model, state: &State, dt: f32) -> Controls {
        let dt = finite(dt).max(0.0);
        let speed = finite((state.rotation.inverse() * state.velocity).dot(Vec3::X));
        let inputs = self.shaper.shape(&self.shaping, asked, dt);
        let lock = largest_steer(model, speed, self.shaping.cornering, self.shaping.slip_allowance);
        let (throttle, brake, gear) = match self.gears {
            Gears::Manual(gear) => (inputs.accelerate, inputs.brake, Some(gear)),
            Gears::Automatic => {
                let pedals = self.reverse.pedals(inputs.accelerate, inputs.brake, stands(state), dt);
                let gear = (self.reverse.direction() == Direction::Reverse).then_some(-1);
                (pedals.throttle, pedals.brake, gear)
            }
        };
        Controls {
            throttle,
            brake,
            handbrake: inputs.handbrake,
            steer: inputs.steer * lock,
            clutch: (inputs.handbrake > OPENS_CLUTCH).then_some(1.0),
            gear,
            starter: throttle > 0.0 && state.drive.engine_speed == 0.0,
            ..Controls::default()
        }
    }
}
