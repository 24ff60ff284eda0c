//! The chassis as a rigid body of Rapier's.

use rapier3d::prelude::*;
use skidpad_core::{BODYWORK_FRICTION, DVec3, Mat3, Model, State, Vec3};

use crate::Axes;

/// Half the speed of a chassis' fastest point below which Rapier lets it fall asleep, m/s. Rapier's own 0.05 would stop
/// a car that still swings by 15 mm in its springs; this leaves 0.3 mm.
pub(crate) const STILL: f32 = 1e-3;

/// A body with exactly the model's mass properties; its collider weighs nothing, and has the friction of bodywork times that
/// of what it touches, unless the other's rule is stronger than `Multiply`.
pub fn insert(
    bodies: &mut RigidBodySet,
    colliders: &mut ColliderSet,
    axes: Axes,
    model: &Model,
    state: &State,
) -> RigidBodyHandle {
    let turn = Mat3::from_cols(axes.to_world(Vec3::X), axes.to_world(Vec3::Y), axes.to_world(Vec3::Z));
    let inertia = turn * *model.inertia() * turn.transpose();
    let inertia = rapier3d::na::Matrix3::from_column_slice(&inertia.to_cols_array());
    let mass = MassProperties::with_inertia_matrix(Vector::ZERO, model.mass(), inertia.into());
    let hull = model.parts().hull;
    let half = axes.to_world(hull.half_extents).abs();
    let handle = bodies.insert(RigidBodyBuilder::dynamic().additional_mass_properties(mass));
    let collider = ColliderBuilder::cuboid(half.x, half.y, half.z)
        .translation(axes.to_world(hull.centre))
        .density(0.0)
        .friction(BODYWORK_FRICTION)
        .friction_combine_rule(CoefficientCombineRule::Multiply);
    colliders.insert_with_parent(collider, handle, bodies);
    if let Some(body) = bodies.get_mut(handle) {
        body.activation_mut().normalized_linear_threshold = STILL;
        body.recompute_mass_properties_from_colliders(colliders);
        move_to(body, axes, state);
    }
    handle
}

/// Takes the body's right to fall asleep.
pub fn keep_awake(bodies: &mut RigidBodySet, handle: RigidBodyHandle) {
    if let Some(body) = bodies.get_mut(handle) {
        *body.activation_mut() = RigidBodyActivation::cannot_sleep();
    }
}

/// Of two chassis of this kind neither meets the other; whatever has Rapier's default groups they do.
pub fn pass_through_others(bodies: &RigidBodySet, colliders: &mut ColliderSet, handle: RigidBodyHandle) {
    let own = Group::GROUP_32;
    let groups = InteractionGroups::new(own, !own, InteractionTestMode::And);
    for collider in bodies.get(handle).map_or(&[][..], RigidBody::colliders) {
        if let Some(collider) = colliders.get_mut(*collider) {
            collider.set_collision_groups(groups);
        }
    }
}

/// Puts `body` where `state` says, awake.
pub fn move_to(body: &mut RigidBody, axes: Axes, state: &State) {
    body.set_enabled(true);
    body.wake_up(true);
    body.set_translation(axes.point_to_world(state.position).as_vec3(), true);
    body.set_rotation(axes.rotation_to_world(state.rotation), true);
    body.set_linvel(axes.to_world(state.velocity), true);
    body.set_angvel(axes.to_world(state.angular), true);
}

/// Time by which Rapier's poses run behind its velocities: forces act evenly over n substeps, each moving the pose with
/// its own velocity, so θ = (n + 1) / 2n.
pub(crate) fn lead(parameters: &IntegrationParameters) -> f32 {
    let substeps = parameters.num_solver_iterations.max(1) as f32;
    parameters.dt * (substeps - 1.0) / (2.0 * substeps)
}

/// Where a body is: as Rapier has it, and in 64 bits.
///
/// Rapier adds steps of millimetres to coordinates of many metres in 32 bits, which bends a path by 5 mm in 60 m at 1 kHz;
/// here only the rounding of each pose is left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Track {
    exact: DVec3,
    /// What Rapier was left with.
    shown: Vec3,
}

impl Track {
    pub fn new(exact: DVec3) -> Self {
        Self { exact, shown: exact.as_vec3() }
    }

    /// Position of `body`, m. Elsewhere only if the user moved it, by more than its last digit: a standing car's may be
    /// off by that.
    pub fn position(&self, body: &RigidBody) -> DVec3 {
        let shown = body.translation().as_dvec3();
        if (shown - self.exact).abs().max_element() > self.digit() { shown } else { self.exact }
    }

    /// What the last digit of a pose in 32 bits is worth, m.
    fn digit(&self) -> f64 {
        f64::from(f32::EPSILON) * self.exact.abs().max_element().max(1.0)
    }

    /// Follows `body` through a step that began with the velocity `before`: by the sum of its substeps in 64 bits, if
    /// that is where Rapier put it up to rounding, and by Rapier's own displacement if anything else (a contact, a joint)
    /// moved it.
    pub fn follow(&mut self, body: &mut RigidBody, before: Vec3, dt: f32, lead: f32) {
        let moved = (body.translation() - self.shown).as_dvec3();
        let (old, new) = (before.as_dvec3(), body.linvel().as_dvec3());
        let expected = old * f64::from(lead) + new * f64::from(dt - lead);
        let digit = self.digit();
        // Four substeps, each rounded to half a unit in the last place of the coordinates, and the displacement's own.
        if (moved - expected).abs().max_element() > 4.0 * digit {
            *self = Self::new(body.translation().as_dvec3());
            return;
        }
        self.exact += expected;
        self.shown = body.translation();
        let stands = expected.abs().max_element() < f64::from(STILL * dt);
        let apart = (self.exact - self.shown.as_dvec3()).abs().max_element();
        // A change of its pose, even of the last digit, keeps a body awake.
        if !stands || apart > digit {
            self.shown = self.exact.as_vec3();
            body.set_translation(self.shown, false);
        }
    }
}
