//! Train at rest: vehicles that are hitched to each other, each with the load of the next coupler on its hitch.

use crate::ground::scene::Scene;
use crate::model::Model;
use crate::state::rest_pose::place_in_equilibrium;
use crate::state::{Placement, State, Tow};
use crate::statics::equilibrium::{StaticEquilibrium, Towing};
use bevy_math::{Quat, Vec3};

/// Number of passes for the loads between the vehicles. The load of a trailer pushes the vehicle ahead down, which
/// changes the load of the trailer at its coupler. Each pass multiplies the error by the relative change of the load.
const COUPLER_LOAD_PASSES: usize = 30;

impl State {
    /// Returns the vehicles of a train at rest, or rolling. The first of `models` is placed as by [`State::at_rest`].
    /// Each other vehicle is in line behind the previous one, and hitched to it: coupler on hitch, with the static load
    /// of the coupler as hitch force and the overrun brake in balance. `first_vehicle` is the number of the first
    /// vehicle in its world; the numbers of the other vehicles follow.
    ///
    /// A vehicle without a hitch tows nothing, and a vehicle without a coupler is not towed. The vehicle behind is then
    /// placed as by [`State::at_rest`], too.
    pub fn train_at_rest(models: &[&Model], first_vehicle: u32, scene: &Scene, placement: &Placement) -> Vec<Self> {
        let equilibria = static_equilibria(models, scene, placement.heading);
        let up = scene.upright_orientation(placement.heading) * Vec3::Z;
        let mut states: Vec<Self> = Vec::with_capacity(models.len());
        for (k, (model, equilibrium)) in models.iter().zip(equilibria).enumerate() {
            // Force of the hitch on the coupler, world, N.
            let force = up * coupler_load(model, equilibrium.as_ref());
            let mut state = Self::at_origin(model.wheels().len());
            place_in_equilibrium(model, scene, placement, equilibrium.as_ref(), &mut state);
            // Hitch of the previous vehicle and coupler of this one; `None` for the first vehicle.
            if let (Some(vehicle_ahead), Some([hitch, coupler])) =
                (states.last(), k.checked_sub(1).and_then(|k| hitch_points(models, k)))
            {
                let arm = vehicle_ahead.rotation * hitch - state.rotation * coupler;
                state.position = vehicle_ahead.position + arm.as_dvec3();
                // Push on the vehicle ahead, opposite to the force on the coupler, N.
                let coupler_push = -force.dot(state.rotation * Vec3::X);
                let overrun = model.parts().coupler.map_or(0.0, |coupler| coupler.brakes.steady_overrun(coupler_push));
                state.tow = Some(Tow { towing_slot: first_vehicle + k as u32 - 1, force, overrun });
            }
            states.push(state);
        }
        states
    }
}

/// Returns the hitch point of vehicle `k` and the coupler point of the vehicle behind, each from its centre of mass,
/// vehicle axes, m. Returns `None` if they cannot be hitched.
fn hitch_points(models: &[&Model], k: usize) -> Option<[Vec3; 2]> {
    let vehicle_behind = models.get(k + 1)?;
    Some([models[k].parts().hitch?.point, vehicle_behind.parts().coupler?.point])
}

/// Returns the vertical load of the coupler, N, in `equilibrium`; the described load without one.
fn coupler_load(model: &Model, equilibrium: Option<&StaticEquilibrium>) -> f32 {
    equilibrium.map_or(model.coupler_load(), |equilibrium| equilibrium.coupler_load)
}

/// Returns the static equilibrium of each vehicle; `None` for a vehicle that has to settle by itself. Iterates
/// [`COUPLER_LOAD_PASSES`] times from the first vehicle to the last: each vehicle is solved with the load on its hitch
/// and the height of its coupler, which are then updated for its neighbours. A vehicle without equilibrium counts with
/// its described coupler load and heights. Vehicles that are not hitched do not change each other.
fn static_equilibria(models: &[&Model], scene: &Scene, heading: f32) -> Vec<Option<StaticEquilibrium>> {
    let mut towing = vec![Towing::default(); models.len()];
    let mut equilibria: Vec<Option<StaticEquilibrium>> = models.iter().map(|_| None).collect();
    for _ in 0..COUPLER_LOAD_PASSES {
        for (k, model) in models.iter().enumerate() {
            equilibria[k] = StaticEquilibrium::solve(model, scene, heading, &towing[k]);
            if k > 0 && hitch_points(models, k - 1).is_some() {
                towing[k - 1].hitch_load = coupler_load(model, equilibria[k].as_ref());
            }
            if let Some([hitch, coupler]) = hitch_points(models, k) {
                let described_height = models[k + 1].parts().centre_height + coupler.z;
                towing[k + 1].coupler_lift = point_height(model, equilibria[k].as_ref(), hitch) - described_height;
            }
        }
    }
    equilibria
}

/// Returns the height of a `point` above the ground, m. The point is relative to the centre of mass, vehicle axes, m.
fn point_height(model: &Model, equilibrium: Option<&StaticEquilibrium>, point: Vec3) -> f32 {
    let (heave, tilt) = equilibrium.map_or((0.0, Quat::IDENTITY), |equilibrium| (equilibrium.heave, equilibrium.tilt));
    model.parts().centre_height + heave + (tilt * point).z
}
