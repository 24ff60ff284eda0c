//! Components and messages of a game.

use std::sync::Arc;

use bevy_ecs::prelude::*;
use bevy_math::Vec3;
use bevy_reflect::prelude::*;
use bevy_transform::prelude::*;
use skidpad_core::{Controls, Model, State, StepReport, Texture};
use skidpad_drive::{Driver, Event, Inputs};

/// A car: what it is. Its transform when it is spawned is where it starts, upright, at rest. Put another model in, and the car
/// goes on as that from where it is.
///
/// Its wheels are children that come by themselves, unless children with [`Wheel`] are there already.
#[derive(Component, Clone, Debug)]
#[require(CarInputs, CarDriver, CarControls, CarSignals, Transform)]
pub struct Car(pub Arc<Model>);

/// What the player asks; the plugin turns it into [`CarControls`] tick by tick.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Reflect)]
#[reflect(Component, Default)]
pub struct CarInputs {
    /// Ahead, 0 to 1.
    pub accelerate: f32,
    /// Brake, and from a standstill back, 0 to 1.
    pub brake: f32,
    /// −1 all to the right to 1 all to the left.
    pub steer: f32,
    /// 0 to 1.
    pub handbrake: f32,
}

impl From<CarInputs> for Inputs {
    fn from(inputs: CarInputs) -> Self {
        let CarInputs { accelerate, brake, steer, handbrake } = inputs;
        Self { accelerate, brake, steer, handbrake }
    }
}

impl From<Inputs> for CarInputs {
    fn from(inputs: Inputs) -> Self {
        let Inputs { accelerate, brake, steer, handbrake } = inputs;
        Self { accelerate, brake, steer, handbrake }
    }
}

/// How inputs become controls: shaping, automatic reverse, gears. Take it off a car to write [`CarControls`] by yourself.
#[derive(Component, Clone, Debug, Default)]
pub struct CarDriver(pub Driver);

/// What the next tick drives with.
#[derive(Component, Clone, Debug, Default)]
pub struct CarControls(pub Controls);

/// What there is to see and hear of a car after the last tick.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Reflect)]
#[reflect(Component, Default)]
pub struct CarSignals {
    /// Forward speed, m/s, negative backwards.
    pub speed: f32,
    /// −1 reverse, 0 neutral, 1… ahead.
    pub gear: i8,
    /// Of the engine, revolutions per minute; 0 without one.
    pub rpm: f32,
    /// Torque of the engine as a share of what it has at that speed, −1 to 1.
    pub load: f32,
    /// Share of the torque that the speed limiter takes, 0 to 1.
    pub limited: f32,
    /// Whether a shift is running.
    pub shifting: bool,
    /// Lateral and longitudinal acceleration as the driver feels them, m/s²: positive to the left and ahead.
    pub acceleration: [f32; 2],
}

/// A wheel of the car that is its parent; its transform follows the wheel, turned by what it has rolled: x to the right along the
/// axle, −z ahead, y up where it has not rolled.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Component, Default)]
#[require(WheelSignals, Transform)]
pub struct Wheel {
    /// Which, in the order of the vehicle file: axles from the front, left before right.
    pub index: usize,
}

/// What there is to see and hear of a wheel after the last tick.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Reflect)]
#[reflect(Component, Default)]
pub struct WheelSignals {
    /// Whether it touches the ground.
    pub touches: bool,
    /// Where, world, m.
    pub point: Vec3,
    /// Of the ground, unit vector, world.
    pub normal: Vec3,
    /// Factor of the surface on friction.
    pub grip: f32,
    /// Force of the ground on it, world, N.
    pub force: Vec3,
    /// Share of friction that its tyre uses, 0 to 1.
    pub used: f32,
    /// How much it skids, 0 to 1: [`skidpad_drive::skid_intensity`].
    pub skid: f32,
    /// Radius, m.
    pub radius: f32,
}

/// What a collider is for wheels, on the entity of the collider, in worlds of physics engines; without it the grip is 1. The friction of
/// the collider is another thing: what crates and bodywork feel.
#[derive(Component, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Component, Default)]
pub struct GroundSurface {
    /// Factor on the friction of tyres, ≥ 0; 1 is the surface they were described on.
    pub grip: f32,
    /// What it adds to their coefficient of rolling resistance, ≥ 0.
    pub rolling: f32,
    /// Largest height of its unevenness over the shape, m, ≥ 0; 0 is even. Wheels feel it, hulls do not.
    pub roughness: f32,
    /// Length of the waves of its unevenness, m, > 0 where it is uneven.
    pub wavelength: f32,
}

impl Default for GroundSurface {
    fn default() -> Self {
        Self::new(1.0, Texture::NONE)
    }
}

impl GroundSurface {
    /// A surface with this grip and texture.
    pub fn new(grip: f32, texture: Texture) -> Self {
        let Texture { rolling, amplitude, wavelength } = texture;
        Self { grip, rolling, roughness: amplitude, wavelength }
    }

    /// What it does to wheels beside its grip; of one that no wheel can drive on, nothing.
    pub fn texture(&self) -> Texture {
        let texture = Texture { rolling: self.rolling, amplitude: self.roughness, wavelength: self.wavelength };
        if texture.is_sound() { texture } else { Texture::NONE }
    }
}

/// Puts a car elsewhere at the start of the next tick; it is not drawn on the way.
#[derive(Component, Clone, Debug, PartialEq)]
pub enum Teleport {
    /// Standing at this transform at rest, as if spawned there, with nothing left of what was.
    To(Transform),
    /// At rest on its wheels where it is, on the ground below, with nothing left of what was.
    Upright,
    /// In this state, as for a rewind: it goes on bit for bit. The driver stays as it is; put back [`CarDriver`] of the same tick too.
    /// A state of another number of wheels changes nothing.
    Back(Box<State>),
}

/// The transform of the car is that of the last tick, not between the last two.
#[derive(Component, Clone, Copy, Debug, Default, Reflect)]
#[reflect(Component, Default)]
pub struct NoInterpolation;

/// Something happened to a car.
#[derive(Message, Clone, Copy, Debug, PartialEq)]
pub struct CarEvent {
    /// Which.
    pub car: Entity,
    /// What.
    pub event: Event,
}

/// A step of a car did not go well: it held something that is not finite, did not converge, or something was misused.
#[derive(Message, Clone, Copy, Debug, PartialEq)]
pub struct StepFault {
    /// Which.
    pub car: Entity,
    /// What.
    pub report: StepReport,
}
