//! A train at rest: vehicles hitched to each other that carry each other's couplers.

use crate::model::Model;
use crate::state::{Placement, State, Tow};
use crate::statics::equilibrium::{StaticEquilibrium, Towing};
use crate::world::scene::Scene;
use bevy_math::{Quat, Vec3};

/// Passes in which the vehicles find their loads on each other. A trailer that is lifted at its coupler by what its load pushed the
/// vehicle ahead down presses by that much less; each pass takes such a share off what is missing.
const PASSES: usize = 30;

impl State {
    /// A train at rest, or rolling: the vehicle of the first of `models` as [`State::at_rest`] puts it, each of the others in line
    /// behind the one before, hitched to it. `first` is the number of the first vehicle in its world; those of the others
    /// follow it.
    ///
    /// A vehicle without a hitch tows nothing, one without a coupler is not towed: what comes behind stands as if by itself.
    pub fn train_at_rest(models: &[&Model], first: u32, scene: &Scene, placement: &Placement) -> Vec<Self> {
        let rests = rests(models, scene, placement.heading);
        let up = scene.orientation(placement.heading) * Vec3::Z;
        let mut states: Vec<Self> = Vec::with_capacity(models.len());
        for (k, (model, rest)) in models.iter().zip(rests).enumerate() {
            let force = up * coupler_load(model, rest.as_ref());
            let mut state = Self::standing(model, scene, placement, rest);
            if let (Some(ahead), Some([hitch, coupler])) =
                (states.last(), k.checked_sub(1).and_then(|k| tie(models, k)))
            {
                let arm = ahead.rotation * hitch - state.rotation * coupler;
                state.position = ahead.position + arm.as_dvec3();
                let push = -force.dot(state.rotation * Vec3::X);
                let overrun = model.parts().coupler.map_or(0.0, |coupler| coupler.brakes.run_up(push));
                state.tow = Some(Tow { by: first + k as u32 - 1, force, overrun });
            }
            states.push(state);
        }
        states
    }
}

/// Hitch of vehicle `k` and coupler of the one behind it, from their centres of mass, if they can be tied.
fn tie(models: &[&Model], k: usize) -> Option<[Vec3; 2]> {
    let behind = models.get(k + 1)?;
    Some([models[k].parts().hitch?.point, behind.parts().coupler?.point])
}

fn coupler_load(model: &Model, rest: Option<&StaticEquilibrium>) -> f32 {
    rest.map_or(model.coupler_load(), |rest| rest.coupler_load)
}

/// How each vehicle hangs in its springs; `None` where it has to find its own rest.
fn rests(models: &[&Model], scene: &Scene, heading: f32) -> Vec<Option<StaticEquilibrium>> {
    let mut towing = vec![Towing::default(); models.len()];
    let mut rests: Vec<Option<StaticEquilibrium>> = models.iter().map(|_| None).collect();
    for _ in 0..PASSES {
        for (k, model) in models.iter().enumerate() {
            rests[k] = StaticEquilibrium::of(model, scene, heading, &towing[k]);
            if k > 0 && tie(models, k - 1).is_some() {
                towing[k - 1].hitch_load = coupler_load(model, rests[k].as_ref());
            }
            if let Some([hitch, coupler]) = tie(models, k) {
                let described = models[k + 1].parts().centre_height + coupler.z;
                towing[k + 1].raised = height(model, rests[k].as_ref(), hitch) - described;
            }
        }
    }
    rests
}

/// Height of a `point` (from the centre of mass) above the ground, m.
fn height(model: &Model, rest: Option<&StaticEquilibrium>, point: Vec3) -> f32 {
    let (heave, tilt) = rest.map_or((0.0, Quat::IDENTITY), |rest| (rest.heave, rest.tilt));
    model.parts().centre_height + heave + (tilt * point).z
}
