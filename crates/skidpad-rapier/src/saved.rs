//! Serde support for the data that cars in a Rapier world carry from step to step. Rapier saves the world itself.

use std::sync::Arc;

use rapier3d::prelude::{ImpulseJointHandle, RigidBodyHandle};
use serde::{Deserialize, Serialize};
use skidpad_core::state::saved::{LoadError, load_car};
use skidpad_core::{Model, Occupancy, Vehicle};
use skidpad_engines::PositionTracker;

use crate::ground::{GroundMemory, WheelLoadedBody};
use crate::sleep::SleepState;
use crate::{RapierCars, WorldAxes};

/// Content of [`RapierCars`] between two steps, without the models, for any serde format that preserves every bit.
///
/// Contains the states, as [`skidpad_core::State::to_bytes`] writes them, which cars sleep and on what, and how ground
/// moved under wheels.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SavedCars {
    /// Convention of the world's axes.
    #[serde(with = "SavedAxes")]
    axes: WorldAxes,
    /// Cars, in order of slots.
    cars: Vec<SavedCar>,
    /// Bodies under wheels in the last step, with their motion.
    loaded: Vec<WheelLoadedBody>,
    /// Whether the world was not stepped since its bodies changed.
    unstepped: bool,
    /// Velocity of the air, axes of the cars, m/s.
    wind: [f32; 3],
}

/// Mirror of [`WorldAxes`], because the core does not depend on serde.
#[derive(Serialize, Deserialize)]
#[serde(remote = "WorldAxes")]
enum SavedAxes {
    ZUp,
    YUp,
    YUpMinusZForward,
}

/// Mirror of [`Occupancy`], because the core does not depend on serde.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Occupancy")]
enum SavedOccupancy {
    Active,
    Suspended,
    Empty,
}

/// Data of one car.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SavedCar {
    /// Chassis in the Rapier world.
    handle: RigidBodyHandle,
    /// State of the vehicle as bytes.
    state: Vec<u8>,
    /// Position of its body, m, if it differs from the state by a last digit.
    place: Option<[f32; 3]>,
    /// Generation of the slot of the car.
    generation: u32,
    /// Whether the slot is active, suspended or empty.
    #[serde(with = "SavedOccupancy")]
    occupancy: Occupancy,
    /// Whether the car was suspended because its body was removed or disabled.
    left_with_body: bool,
    /// Controls and state at the last step awake.
    sleep: SleepState,
    /// Ground of its wheels at the last probe.
    stands: Vec<GroundMemory>,
    /// Index of the towing vehicle, and the joint between the two.
    towed: Option<(u32, ImpulseJointHandle)>,
}

impl RapierCars {
    /// Returns copies of the data of the cars for [`RapierCars::from_saved`], which also needs the models and the
    /// world: axes, wind, the last bodies under wheels, whether the world is unstepped, and for each slot chassis,
    /// state, rounded position of the engine, generation, occupancy, sleep, ground and hitch joint. User forces are not
    /// included: call this function between two steps.
    pub fn saved(&self) -> SavedCars {
        let save_car = |(i, vehicle): (usize, &Vehicle)| SavedCar {
            handle: self.slots[i].handle,
            state: vehicle.state().to_bytes(),
            place: self.slots[i].position_tracker.rounded_engine_position().map(|position| position.to_array()),
            generation: self.slots().generation(i),
            occupancy: self.slots().occupancies()[i],
            left_with_body: self.slots[i].is_suspended_with_body,
            sleep: self.slots[i].sleep.clone(),
            stands: self.slots[i].ground_contacts.clone(),
            towed: self.slots[i].tow_joint,
        };
        SavedCars {
            axes: self.axes,
            cars: self.vehicles().iter().enumerate().map(save_car).collect(),
            loaded: self.loaded_bodies.clone(),
            unstepped: self.is_unstepped,
            wind: self.wind.to_array(),
        }
    }

    /// Restores the cars of a world that was saved with Rapier's serde support and read back. `models` are the models
    /// of the saved cars, in order of slots. World and cars continue bit-identically, including sleeping cars, cars on
    /// moving ground and cars whose hulls touch something. Creates the cars with [`RapierCars::from_bodies`], then
    /// restores bodies under wheels, wind, sleep, ground, hitch joints, positions of the engine and slots. The world is
    /// not touched.
    ///
    /// # Errors
    /// The number of models differs from that of the saved cars, or a state does not fit its model.
    pub fn from_saved(models: &[Arc<Model>], saved: SavedCars) -> Result<Self, LoadError> {
        // Numbers of saved cars and of models.
        let (found, expected) = (saved.cars.len(), models.len());
        if found != expected {
            return Err(LoadError::Cars { found, expected });
        }
        let load_vehicle = |(car, (model, saved)): (usize, (&Arc<Model>, &SavedCar))| {
            let state = load_car(&saved.state, car, model.wheels().len())?;
            Ok((saved.handle, Vehicle::new(model.clone(), state)))
        };
        let vehicles =
            models.iter().zip(&saved.cars).enumerate().map(load_vehicle).collect::<Result<_, LoadError>>()?;
        let mut cars = Self::from_bodies(saved.axes, vehicles);
        (cars.loaded_bodies, cars.is_unstepped, cars.wind) = (saved.loaded, saved.unstepped, saved.wind.into());
        for (i, car) in saved.cars.into_iter().enumerate() {
            let slot = &mut cars.slots[i];
            (slot.sleep, slot.ground_contacts, slot.tow_joint) = (car.sleep, car.stands, car.towed);
            slot.is_suspended_with_body = car.left_with_body;
            if let Some(position) = car.place {
                let exact_position = cars.axes.point_to_world(cars.cars.car(i).state.position);
                cars.slots[i].position_tracker = PositionTracker::with_engine_position(exact_position, position.into());
            }
            cars.cars.slots_mut().restore(i, car.generation, car.occupancy);
        }
        cars.update_hitched_bodies();
        Ok(cars)
    }
}

/// Serde functions for [`skidpad_core::Controls`]. Both directions name every field, so that an added field does not
/// compile until it is saved.
pub(crate) mod controls {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use skidpad_core::{Controls, WheelControls};

    /// Motor torque, brake torque and steering of a wheel.
    type Wheel = (f32, f32, Option<f32>);
    /// Pedals and steering; clutch, share of anti-roll bars and cruise speed; gear; starter; wheels.
    type Saved = ([f32; 4], [Option<f32>; 3], Option<i8>, bool, Vec<Wheel>);

    /// Writes the controls as the tuple [`Saved`], with one tuple per wheel; `None` as none.
    pub fn serialize<S: Serializer>(controls: &Option<Controls>, serializer: S) -> Result<S::Ok, S::Error> {
        let wheel_tuple = |wheel: &WheelControls| {
            let WheelControls { motor_torque, brake_torque, steer } = *wheel;
            (motor_torque, brake_torque, steer)
        };
        let tuple_of = |controls: &Controls| -> Saved {
            let Controls { throttle, brake, handbrake, steer, clutch, gear, starter, bars, cruise, wheels } = controls;
            (
                [*throttle, *brake, *handbrake, *steer],
                [*clutch, *bars, *cruise],
                *gear,
                *starter,
                wheels.iter().map(wheel_tuple).collect(),
            )
        };
        controls.as_ref().map(tuple_of).serialize(serializer)
    }

    /// Reads the controls that [`serialize`] wrote: the tuple [`Saved`], or none. Values are not checked.
    pub fn deserialize<'a, D: Deserializer<'a>>(deserializer: D) -> Result<Option<Controls>, D::Error> {
        let wheel_of = |(motor_torque, brake_torque, steer)| WheelControls { motor_torque, brake_torque, steer };
        let controls_of =
            |([throttle, brake, handbrake, steer], [clutch, bars, cruise], gear, starter, wheels): Saved| {
                let wheels = wheels.into_iter().map(wheel_of).collect();
                Controls { throttle, brake, handbrake, steer, clutch, gear, starter, bars, cruise, wheels }
            };
        Ok(Option::<Saved>::deserialize(deserializer)?.map(controls_of))
    }
}

/// Serde functions for [`skidpad_core::ChassisImpulse`], built like [`controls`].
pub(crate) mod push {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use skidpad_core::{ChassisImpulse, Vec3};

    /// Writes the four vectors of the push: impulse, angular impulse, and both on the hull (N s, N m s).
    pub fn serialize<S: Serializer>(push: &ChassisImpulse, serializer: S) -> Result<S::Ok, S::Error> {
        let ChassisImpulse { impulse, angular_impulse, hull_impulse, hull_angular_impulse } = push;
        [impulse, angular_impulse, hull_impulse, hull_angular_impulse].map(|part| part.to_array()).serialize(serializer)
    }

    /// Reads the push that [`serialize`] wrote.
    pub fn deserialize<'a, D: Deserializer<'a>>(deserializer: D) -> Result<ChassisImpulse, D::Error> {
        let parts = <[[f32; 3]; 4]>::deserialize(deserializer)?;
        let [impulse, angular_impulse, hull_impulse, hull_angular_impulse] = parts.map(Vec3::from_array);
        Ok(ChassisImpulse { impulse, angular_impulse, hull_impulse, hull_angular_impulse })
    }
}
