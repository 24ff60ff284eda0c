//! Dynamic state of a car: everything that advances in time, and nothing else. A clone is a snapshot for a rewind.

#[cfg(feature = "simd_batch")]
pub(crate) mod block;
mod drive_start;
mod load_errors;
pub(crate) mod placement;
pub(crate) mod rest_pose;
pub mod saved;
mod train;

pub use crate::drivetrain::state::DriveState;
use crate::ground::scene::Scene;
pub use crate::hitch::state::Tow;
use crate::model::Model;
pub use crate::state::placement::Placement;
use crate::statics::equilibrium::strut_load;
pub use crate::wheel::state::WheelState;
use bevy_math::{DVec3, Quat, Vec3};

/// Motion of one vehicle. Steps from a copy repeat the trajectory bit for bit.
#[derive(Debug, PartialEq)]
pub struct State {
    /// Position of the centre of mass of the whole car with its wheels at rest, world, m.
    pub position: DVec3,
    /// Rotation from vehicle axes to world axes.
    pub rotation: Quat,
    /// Velocity of `position`, world, m/s.
    pub velocity: Vec3,
    /// Angular velocity, world, rad/s.
    pub angular_velocity: Vec3,
    /// Velocity one step ago, world, m/s, for the acceleration channels.
    pub previous_velocity: Vec3,
    /// Mean road-wheel angle that the steering has reached, for an axle with a steer ratio of 1, rad.
    pub steer: f32,
    /// State of engine, clutch, gearbox, couplings and motors.
    pub drive: DriveState,
    /// States of the wheels, in wheel order.
    pub wheels: Box<[WheelState]>,
    /// State of the hitch that tows the vehicle; `None` if it is not towed.
    pub tow: Option<Tow>,
}

impl Clone for State {
    fn clone(&self) -> Self {
        Self { wheels: self.wheels.clone(), ..*self }
    }

    /// Copies `other` into the existing memory. If both cars have the same number of wheels, a rewind does not
    /// allocate.
    fn clone_from(&mut self, other: &Self) {
        let mut wheels = core::mem::take(&mut self.wheels);
        wheels.clone_from(&other.wheels);
        *self = Self { wheels, ..*other };
    }
}

impl State {
    /// Returns the state of a car with `wheel_count` wheels at the origin in which all other numbers are 0.
    pub(crate) fn at_origin(wheel_count: usize) -> Self {
        Self {
            position: DVec3::ZERO,
            rotation: Quat::IDENTITY,
            velocity: Vec3::ZERO,
            angular_velocity: Vec3::ZERO,
            previous_velocity: Vec3::ZERO,
            steer: 0.0,
            drive: DriveState::default(),
            wheels: vec![WheelState::default(); wheel_count].into(),
            tow: None,
        }
    }

    /// Returns a car at rest on its wheels. The ground point `ground` (world, m) is below the centre of mass, with the
    /// unit normal `normal`, world; a normal without direction counts as vertical. The car is turned by `heading` rad
    /// to the left about the vertical, then rotated onto the ground.
    ///
    /// The struts are in the equilibrium of level ground: on a slope the car settles. All other state is that of a
    /// fresh car, so a teleport keeps nothing of the previous state.
    pub fn upright_at(model: &Model, ground: DVec3, normal: Vec3, heading: f32) -> Self {
        // Car on level ground at the origin.
        let level_car = Self::at_rest(model, &Scene::flat(), &Placement { heading, ..Placement::default() });
        let ground_rotation = Quat::from_rotation_arc(Vec3::Z, normal.try_normalize().unwrap_or(Vec3::Z));
        let position = ground + (ground_rotation * level_car.position.as_vec3()).as_dvec3();
        Self { position, rotation: (ground_rotation * level_car.rotation).normalize(), ..level_car }
    }

    /// Lowers every wheel to the ground of `scene` below it, along the vertical axis of the car, at most to its free
    /// droop. Sets contact, compression (m, negative below the position at rest) and load (N; 0 in the air). Ground
    /// that would compress a strut is accepted without limit. The loads are those of the struts at the new compressions
    /// of all wheels.
    fn lower_wheels(&mut self, model: &Model, scene: &Scene) {
        let up = self.rotation * Vec3::Z;
        for (i, (wheel, wheel_spec)) in self.wheels.iter_mut().zip(model.wheels()).enumerate() {
            // Start of the ray, as in the solvers: ground above a wheel compresses its strut.
            let ray_offset = Vec3::Z * (2.0 * wheel_spec.radius);
            let start = self.position + (self.rotation * (wheel_spec.contact + ray_offset)).as_dvec3();
            let ground_distance = scene.distance_to_ground(start, -up.as_dvec3());
            // Compression of a wheel on the ground, m: height of the ground above the contact point at rest.
            let ground_compression =
                ground_distance.map_or(f32::NEG_INFINITY, |distance| (f64::from(ray_offset.z) - distance) as f32);
            // Compression of a wheel in the air, m, negative.
            let droop_compression = -model.droop_from_rest(i);
            wheel.contact = ground_compression > droop_compression;
            wheel.compression = ground_compression.max(droop_compression);
        }
        let compressions: Vec<f32> = self.wheels.iter().map(|wheel| wheel.compression).collect();
        for (i, wheel) in self.wheels.iter_mut().enumerate() {
            wheel.load = if wheel.contact { strut_load(model, |k| compressions[k], i) } else { 0.0 };
        }
    }

    /// Returns true if every number is finite.
    pub fn is_finite(&self) -> bool {
        // The pattern names every field, so that an added field does not compile until it is handled.
        let Self { position, rotation, velocity, angular_velocity, previous_velocity, steer, drive, wheels, tow } =
            self;
        position.is_finite()
            && rotation.is_finite()
            && [velocity, angular_velocity, previous_velocity].into_iter().all(|vector| vector.is_finite())
            && steer.is_finite()
            && drive.is_finite()
            && wheels.iter().all(WheelState::is_finite)
            && tow.as_ref().is_none_or(Tow::is_finite)
    }
}
