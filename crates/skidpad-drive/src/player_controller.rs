//! Player inputs to the controls of one car.

use crate::direction::{AutoReverse, Direction, is_stationary};
use crate::input::{InputFilter, InputShaping, Inputs, finite_or_zero, max_useful_steer};
use skidpad_core::{Controls, Model, State, Vec3};

/// Selection of gears.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shifting {
    /// Automatic transmission. The brake pedal drives in reverse from a standstill.
    #[default]
    Automatic,
    /// Manual selection by [`PlayerController::shift_up`] and [`PlayerController::shift_down`]. Contains the selected
    /// gear: −1 reverse, 0 neutral, 1… forward.
    Manual(i8),
}

/// Driver of one car, which converts inputs into [`Controls`] step by step.
///
/// ```
/// use skidpad_drive::{Keys, PlayerController};
/// # fn drive(world: &mut dyn skidpad_core::Simulation) {
/// let mut player = PlayerController::default();
/// let keys = Keys { throttle: true, left: true, ..Keys::default() };
/// let (car, dt) = (world.car(0), world.dt());
/// let controls = player.controls(&keys.into(), car.model, car.state, dt);
/// world.step(&[controls]);
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlayerController {
    /// Conversion of device positions to pedals and steering.
    pub shaping: InputShaping,
    /// Automatic reverse, and brakes that hold a standing car.
    pub reverse: AutoReverse,
    /// Selection of gears.
    pub shifting: Shifting,
    /// Current pedals and steering on their way to the inputs.
    pub filter: InputFilter,
}

/// Handbrake position above which the clutch opens, 0 to 1, so that the handbrake does not stall the engine.
const CLUTCH_HANDBRAKE_POSITION: f32 = 0.3;

impl PlayerController {
    /// Creates a driver whose device is converted by `shaping`.
    pub fn with_shaping(shaping: InputShaping) -> Self {
        Self { shaping, ..Self::default() }
    }

    /// Releases pedals and steering and resets the direction, as after a teleport. A manual gear is set to 1.
    pub fn reset(&mut self) {
        self.filter = InputFilter::default();
        self.reverse.reset();
        if let Shifting::Manual(gear) = &mut self.shifting {
            *gear = 1;
        }
    }

    /// Selects the next higher gear, up to the highest of `model` (1 without an engine). Does nothing with automatic
    /// gears.
    pub fn shift_up(&mut self, model: &Model) {
        if let Shifting::Manual(gear) = &mut self.shifting {
            let highest_gear = model.parts().powertrain.engine().map_or(1, |drive| drive.gearbox.clamp_gear(i8::MAX));
            *gear = gear.saturating_add(1).min(highest_gear);
        }
    }

    /// Selects the next lower gear, down to reverse (−1). Does nothing with automatic gears.
    pub fn shift_down(&mut self) {
        if let Shifting::Manual(gear) = &mut self.shifting {
            *gear = gear.saturating_sub(1).max(-1);
        }
    }

    /// Computes the controls for the next step of `dt` s of a car of `model` in `state`, and updates filter and
    /// automatic reverse. Filters `raw_inputs` ([`InputFilter::update`]) and limits the steering by the speed of the
    /// car.
    ///
    /// Automatic gears exchange the pedals in reverse and hold a standing car by its brakes; the gear is −1 in reverse
    /// and left to the transmission otherwise. With manual gears, the pedals are passed on and the selected gear is
    /// engaged. The handbrake opens the clutch above 0.3. The throttle starts a stopped engine. A negative or
    /// non-finite `dt` counts as 0: then only pedals and steering with infinite rates move.
    pub fn controls(&mut self, raw_inputs: &Inputs, model: &Model, state: &State, dt: f32) -> Controls {
        let dt = finite_or_zero(dt).max(0.0);
        // Forward speed of the car, m/s.
        let speed = finite_or_zero((state.rotation.inverse() * state.velocity).dot(Vec3::X));
        let inputs = self.filter.update(&self.shaping, raw_inputs, dt);
        // Steering limit at this speed, rad.
        let steering_limit = max_useful_steer(model, speed, self.shaping.max_lateral_g, self.shaping.slip_allowance);
        let (throttle, brake, gear) = match self.shifting {
            Shifting::Manual(gear) => (inputs.throttle, inputs.brake, Some(gear)),
            Shifting::Automatic => {
                let pedals = self.reverse.pedals(inputs.throttle, inputs.brake, is_stationary(state), dt);
                let gear = (self.reverse.direction() == Direction::Reverse).then_some(-1);
                (pedals.throttle, pedals.brake, gear)
            }
        };
        Controls {
            throttle,
            brake,
            handbrake: inputs.handbrake,
            steer: inputs.steer * steering_limit,
            // 1.0: fully open; `None`: automatic.
            clutch: (inputs.handbrake > CLUTCH_HANDBRAKE_POSITION).then_some(1.0),
            gear,
            starter: throttle > 0.0 && state.drive.engine_speed == 0.0,
            ..Controls::default()
        }
    }
}
