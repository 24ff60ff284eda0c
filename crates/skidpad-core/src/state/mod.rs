//! What a car is doing: everything that advances in time, and nothing else. A clone is a rewind.

pub(crate) mod placement;
mod refused;
pub mod saved;
mod train;

pub use crate::drivetrain::state::DriveState;
pub use crate::hitch::state::Tow;
use crate::model::Model;
pub use crate::state::placement::Placement;
use crate::statics::equilibrium::{StaticEquilibrium, Towing, load_at};
use crate::wheel::parameters::Wheel;
pub use crate::wheel::state::WheelState;
use crate::wheel::state::rolling_share;
use crate::world::scene::Scene;
use bevy_math::{DVec3, Quat, Vec3};

/// Motion of one vehicle. Copy it, keep it, step on: the trajectory repeats bit for bit.
#[derive(Debug, PartialEq)]
pub struct State {
    /// Centre of mass of the whole car at rest, world, m.
    pub position: DVec3,
    /// Vehicle axes to world axes.
    pub rotation: Quat,
    /// Of `position`, world, m/s.
    pub velocity: Vec3,
    /// World, rad/s.
    pub angular: Vec3,
    /// Velocity one step ago, for the acceleration channels, m/s.
    pub previous_velocity: Vec3,
    /// Mean road-wheel angle that the steering has reached of an axle with a steer ratio of 1, rad.
    pub steer: f32,
    /// Engine, clutch, gearbox.
    pub drive: DriveState,
    /// In wheel order.
    pub wheels: Box<[WheelState]>,
    /// What tows it; `None` of a vehicle on its own.
    pub tow: Option<Tow>,
}

impl Clone for State {
    fn clone(&self) -> Self {
        Self { wheels: self.wheels.clone(), ..*self }
    }

    /// Into the memory that is there, if the cars have as many wheels: a rewind asks for none.
    fn clone_from(&mut self, other: &Self) {
        let mut wheels = core::mem::take(&mut self.wheels);
        wheels.clone_from(&other.wheels);
        *self = Self { wheels, ..*other };
    }
}

impl State {
    /// Standing on its wheels on the ground of `scene`, or rolling at the placement's speed; above the ground hanging free.
    ///
    /// The struts carry the car, on a slope too; its contact patches are not yet strained by what holds it there. Where
    /// a wheel would lift or meet its stop the car starts in its described pose and has to settle.
    ///
    /// A trailer stands as if something held its coupler where it was described; see [`State::train_at_rest`].
    pub fn at_rest(model: &Model, scene: &Scene, placement: &Placement) -> Self {
        let rest = StaticEquilibrium::of(model, scene, placement.heading, &Towing::default());
        Self::standing(model, scene, placement, rest)
    }

    /// Standing or rolling as [`State::at_rest`] has it, in the described pose where there is no `rest`.
    fn standing(model: &Model, scene: &Scene, placement: &Placement, rest: Option<StaticEquilibrium>) -> Self {
        let upright = scene.orientation(placement.heading);
        let velocity = upright * Vec3::X * placement.speed;
        let wheel = |(i, wheel): (usize, &Wheel)| WheelState {
            spin: placement.speed / wheel.radius,
            rolling_speed: placement.speed,
            rolling: rolling_share(wheel.walking(), placement.speed.abs()),
            contact: true,
            compression: rest.as_ref().map_or(0.0, |r| r.compressions[i]),
            load: rest.as_ref().map_or(model.static_load(i), |r| r.loads[i]),
            ..WheelState::default()
        };
        let wheels = model.wheels().iter().enumerate().map(wheel).collect();
        let height = model.parts().centre_height + rest.as_ref().map_or(0.0, |r| r.heave);
        let mut state = Self {
            position: scene.point(placement.x, placement.y, f64::from(height) + placement.height),
            rotation: rest.as_ref().map_or(upright, |r| upright * r.tilt),
            velocity,
            angular: Vec3::ZERO,
            previous_velocity: velocity,
            steer: 0.0,
            drive: DriveState::rolling(model, placement),
            wheels,
            tow: None,
        };
        if placement.height != 0.0 {
            state.reach_down(model, scene);
        }
        state
    }

    /// At rest on its wheels, whose ground is at the point `ground`, m, with the unit normal `normal`, world; turned by `heading` rad to the
    /// left about the vertical, then laid on to the ground.
    ///
    /// Its struts stand as on level ground: on a slope it settles. All else is that of a fresh car, so a teleport leaves nothing of
    /// where the car was.
    pub fn upright_at(model: &Model, ground: DVec3, normal: Vec3, heading: f32) -> Self {
        let level = Self::at_rest(model, &Scene::flat(), &Placement { heading, ..Placement::default() });
        let lay = Quat::from_rotation_arc(Vec3::Z, normal.try_normalize().unwrap_or(Vec3::Z));
        let position = ground + (lay * level.position.as_vec3()).as_dvec3();
        Self { position, rotation: (lay * level.rotation).normalize(), ..level }
    }

    /// Lets every wheel down from where it is to the ground of `scene`, as far as its strut pushes it.
    fn reach_down(&mut self, model: &Model, scene: &Scene) {
        let up = self.rotation * Vec3::Z;
        for (i, (wheel, described)) in self.wheels.iter_mut().zip(model.wheels()).enumerate() {
            // From where the solvers' rays start: ground above a wheel pushes it in.
            let above = Vec3::Z * (2.0 * described.radius);
            let start = self.position + (self.rotation * (described.contact + above)).as_dvec3();
            let below = scene.distance_to_ground(start, -up.as_dvec3());
            let reached = below.map_or(f32::NEG_INFINITY, |distance| (f64::from(above.z) - distance) as f32);
            let hanging = -model.hangs_below(i);
            wheel.contact = reached > hanging;
            wheel.compression = reached.max(hanging);
        }
        let compressions: Vec<f32> = self.wheels.iter().map(|wheel| wheel.compression).collect();
        for (i, wheel) in self.wheels.iter_mut().enumerate() {
            wheel.load = if wheel.contact { load_at(model, |k| compressions[k], i) } else { 0.0 };
        }
    }

    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        // Patterns name every field, so that one that is added does not compile until it is looked at.
        let Self { position, rotation, velocity, angular, previous_velocity, steer, drive, wheels, tow } = self;
        position.is_finite()
            && rotation.is_finite()
            && [velocity, angular, previous_velocity].into_iter().all(|vector| vector.is_finite())
            && steer.is_finite()
            && drive.is_finite()
            && wheels.iter().all(WheelState::is_finite)
            && tow.as_ref().is_none_or(Tow::is_finite)
    }
}
