//! Components and messages of cars and wheels.

use std::sync::Arc;

use bevy_ecs::prelude::*;
use bevy_math::Vec3;
use bevy_reflect::prelude::*;
use bevy_transform::prelude::*;
use skidpad_core::{Controls, Model, State, StepReport, SurfaceTexture};
use skidpad_drive::{Event, Inputs, PlayerController};

/// Car component with the vehicle model. The car starts at rest at the transform with which it is spawned. If the model
/// is replaced, the car keeps its state when both models have the same number of wheels; otherwise it starts at rest at
/// its transform.
///
/// The plugin spawns a child entity for each wheel that has no child with [`Wheel`].
#[derive(Component, Clone, Debug)]
#[require(CarInputs, CarDriver, CarControls, CarSignals, Transform)]
pub struct Car(pub Arc<Model>);

/// Player inputs of a car. The plugin converts them to [`CarControls`] in every tick.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Reflect)]
#[reflect(Component, Default)]
pub struct CarInputs {
    /// Accelerator pedal, 0 to 1.
    pub throttle: f32,
    /// Brake pedal, 0 to 1. With automatic gears it drives backwards from a standstill.
    pub brake: f32,
    /// Steering, −1 (full lock to the right) to 1 (full lock to the left).
    pub steer: f32,
    /// Handbrake, 0 to 1.
    pub handbrake: f32,
}

impl From<CarInputs> for Inputs {
    /// Copies every input unchanged.
    fn from(inputs: CarInputs) -> Self {
        let CarInputs { throttle, brake, steer, handbrake } = inputs;
        Self { throttle, brake, steer, handbrake }
    }
}

impl From<Inputs> for CarInputs {
    /// Copies every input unchanged.
    fn from(inputs: Inputs) -> Self {
        let Inputs { throttle, brake, steer, handbrake } = inputs;
        Self { throttle, brake, steer, handbrake }
    }
}

/// Conversion of inputs to controls: shaping, automatic reverse, gears. Remove it from a car to write [`CarControls`]
/// directly.
#[derive(Component, Clone, Debug, Default)]
pub struct CarDriver(pub PlayerController);

/// Controls applied in the next tick.
#[derive(Component, Clone, Debug, Default)]
pub struct CarControls(pub Controls);

/// Read-only output of a car after the last tick, for displays and sound.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Reflect)]
#[reflect(Component, Default)]
pub struct CarSignals {
    /// Forward speed, m/s, negative backwards.
    pub speed: f32,
    /// Gear: −1 reverse, 0 neutral, 1 and above forward.
    pub gear: i8,
    /// Engine speed, revolutions per minute; 0 without an engine.
    pub rpm: f32,
    /// Engine torque as a share of the full-load torque at that speed, −1 to 1.
    pub load: f32,
    /// Share of the engine torque that the speed limiter cuts, 0 to 1.
    pub limited: f32,
    /// Whether a gear shift is in progress.
    pub shifting: bool,
    /// Lateral (positive to the left) and longitudinal (positive forward) acceleration of the centre of mass over the
    /// last step, in the axes of the body, m/s².
    pub acceleration: [f32; 2],
}

/// Wheel of the car that is the parent of this entity. The plugin writes the transform of the wheel, including its
/// rolling angle. At a rolling angle of 0, x points to the right along the axle, −z forward and y up.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Component, Default)]
#[require(WheelSignals, Transform)]
pub struct Wheel {
    /// Index in the order of the vehicle file: axles from the front, left before right.
    pub index: usize,
}

/// Read-only output of a wheel after the last tick. In the air every field but `radius` is zero.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Reflect)]
#[reflect(Component, Default)]
pub struct WheelSignals {
    /// Whether the wheel is in contact with the ground.
    pub in_contact: bool,
    /// Contact point, world, m.
    pub point: Vec3,
    /// Unit normal of the ground, world.
    pub normal: Vec3,
    /// Factor of the surface on the friction of the tyre.
    pub grip: f32,
    /// Mean force of the ground on the wheel over the step, world, N.
    pub force: Vec3,
    /// Share of the available friction that the tyre uses, 0 to 1.
    pub friction_utilisation: f32,
    /// Skid intensity, 0 to 1; see [`skidpad_drive::skid_intensity`].
    pub skid_intensity: f32,
    /// Radius of the wheel, m.
    pub radius: f32,
}

/// Surface of a collider as ground for wheels, in worlds of physics engines. The component belongs on the entity of the
/// collider. Without it the grip is 1 and the surface is even. The friction coefficient of the collider itself applies
/// to other bodies and to bodywork only.
#[derive(Component, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Component, Default)]
pub struct GroundSurface {
    /// Factor on the friction of tyres, ≥ 0; 1 is the reference surface of the tyre data.
    pub grip: f32,
    /// Addition to the rolling resistance coefficient of tyres, ≥ 0.
    pub rolling: f32,
    /// Largest height of the unevenness above the shape, m, ≥ 0; 0 is even. It acts on wheels, not on hulls.
    pub roughness: f32,
    /// Wavelength of the unevenness, m; > 0 if `roughness` is not 0.
    pub wavelength: f32,
}

impl Default for GroundSurface {
    /// Returns a surface of grip 1 without unevenness and additional rolling resistance.
    fn default() -> Self {
        Self::new(1.0, SurfaceTexture::NONE)
    }
}

impl GroundSurface {
    /// Creates a surface with this grip and texture.
    pub fn new(grip: f32, texture: SurfaceTexture) -> Self {
        let SurfaceTexture { rolling_resistance: rolling, amplitude, wavelength } = texture;
        Self { grip, rolling, roughness: amplitude, wavelength }
    }

    /// Returns rolling resistance and unevenness of the surface, or [`SurfaceTexture::NONE`] if they are not valid:
    /// negative, not finite, or uneven without a wavelength.
    pub fn texture(&self) -> SurfaceTexture {
        let texture =
            SurfaceTexture { rolling_resistance: self.rolling, amplitude: self.roughness, wavelength: self.wavelength };
        if texture.is_valid() { texture } else { SurfaceTexture::NONE }
    }
}

/// Request to move a car at the start of the next tick. The plugin then removes the component. The jump is not
/// interpolated.
#[derive(Component, Clone, Debug, PartialEq)]
pub enum Teleport {
    /// Placement at rest at this transform, as for a car that is spawned there. All dynamic state and the driver are
    /// reset.
    To(Transform),
    /// Placement at rest on its wheels on the ground below the car, with the same heading. All dynamic state and the
    /// driver are reset.
    Upright,
    /// Restoration of this state, as for a rewind: the simulation continues bit-identically. The driver is not reset;
    /// restore [`CarDriver`] of the same tick, too. A state with a different number of wheels is ignored.
    ToState(Box<State>),
}

/// Marker of a car that is drawn at its pose of the last tick, instead of interpolated between the last two ticks.
#[derive(Component, Clone, Copy, Debug, Default, Reflect)]
#[reflect(Component, Default)]
pub struct NoInterpolation;

/// Message of an event of a car, such as a touchdown or a gear shift.
#[derive(Message, Clone, Copy, Debug, PartialEq)]
pub struct CarEvent {
    /// Entity of the car.
    pub car: Entity,
    /// Event of the last step, with vectors in Bevy's axes.
    pub event: Event,
}

/// Message sent when the last step of a car had a value that is not finite, did not converge, or reported a misuse of
/// the world.
#[derive(Message, Clone, Copy, Debug, PartialEq)]
pub struct StepFault {
    /// Entity of the car.
    pub car: Entity,
    /// Report of the step.
    pub report: StepReport,
}
