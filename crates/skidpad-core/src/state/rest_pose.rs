//! Pose of a standing car, for placing cars of one model.

use crate::ground::scene::Scene;
use crate::model::Model;
use crate::state::{DriveState, Placement, State};
use crate::statics::equilibrium::{StaticEquilibrium, Towing};
use crate::wheel::state::{WheelState, rolling_share};
use bevy_math::Vec3;

/// Pose of a standing car of one model on the plane of one scene. Places many cars faster than [`State::at_rest`] does,
/// with the same bits, because the equilibrium is solved once for each heading, and only once on a level plane.
#[derive(Clone, Debug, Default)]
pub struct RestPose {
    /// Equilibrium of the heading; `None` if a wheel would lift off or reach its stop.
    equilibrium: Option<StaticEquilibrium>,
    /// Heading to which the equilibrium belongs, rad; `None` before the first car.
    heading: Option<f32>,
}

impl RestPose {
    /// Writes the state of a car of `model` at `placement` on the ground of `scene` into `state`, which has the wheels
    /// of the model. Model and scene must be those of the previous calls.
    ///
    /// # Panics
    /// `state` has another number of wheels.
    pub fn place(&mut self, model: &Model, scene: &Scene, placement: &Placement, state: &mut State) {
        let is_solved = self.heading.is_some_and(|heading| scene.slope == 0.0 || heading == placement.heading);
        if !is_solved {
            self.equilibrium = StaticEquilibrium::solve(model, scene, placement.heading, &Towing::default());
            self.heading = Some(placement.heading);
        }
        place_in_equilibrium(model, scene, placement, self.equilibrium.as_ref(), state);
    }
}

impl State {
    /// Returns a car on the ground of `scene`, at rest or rolling at the placement's speed. If the placement has a
    /// height, the wheels droop to the ground, or to their free droop in the air.
    ///
    /// The struts carry the car, also on a slope. The contact patches are not yet deflected by the forces that hold the
    /// car there. If a wheel would lift off or reach its stop, the car starts in its described pose and has to settle.
    ///
    /// A trailer rests as if its coupler were held at its described height; see [`State::train_at_rest`].
    pub fn at_rest(model: &Model, scene: &Scene, placement: &Placement) -> Self {
        let mut state = Self::at_origin(model.wheels().len());
        RestPose::default().place(model, scene, placement, &mut state);
        state
    }
}

/// Writes the state of a car of `model` at `placement` into `state`, which has the wheels of the model. Compressions,
/// loads, heave and tilt are those of `equilibrium`; without one, the car has its described pose and its static loads.
/// Steering is straight, the vehicle is not towed, and wheels roll at the placement's speed. The centre of mass is at
/// its height at rest, plus heave and the height of the placement. A placement with a height lowers the wheels;
/// otherwise all of them are in contact. Angular velocity and acceleration are 0.
pub(super) fn place_in_equilibrium(
    model: &Model,
    scene: &Scene,
    placement: &Placement,
    equilibrium: Option<&StaticEquilibrium>,
    state: &mut State,
) {
    let upright = scene.upright_orientation(placement.heading);
    let velocity = upright * Vec3::X * placement.speed;
    for (i, (state, wheel)) in state.wheels.iter_mut().zip(model.wheels()).enumerate() {
        *state = WheelState {
            spin: placement.speed / wheel.radius,
            rolling_speed: placement.speed,
            rolling: rolling_share(wheel.walking_speeds(), placement.speed.abs()),
            contact: true,
            compression: equilibrium.map_or(0.0, |rest| rest.compressions[i]),
            load: equilibrium.map_or(model.static_load(i), |rest| rest.loads[i]),
            ..WheelState::default()
        };
    }
    // Height of the centre of mass above the ground's plane, m.
    let height = model.parts().centre_height + equilibrium.map_or(0.0, |rest| rest.heave);
    state.position = scene.point_above_plane(placement.x, placement.y, f64::from(height) + placement.height);
    state.rotation = equilibrium.map_or(upright, |rest| upright * rest.tilt);
    (state.velocity, state.previous_velocity) = (velocity, velocity);
    state.angular_velocity = Vec3::ZERO;
    state.steer = 0.0;
    state.drive = DriveState::at_speed(model, placement);
    state.tow = None;
    if placement.height != 0.0 {
        state.lower_wheels(model, scene);
    }
}
