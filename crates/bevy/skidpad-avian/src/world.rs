//! Read access to Avian's world.

use avian3d::collision::contact_types::ContactGraph;
use avian3d::dynamics::integrator::VelocityIntegrationData;
use avian3d::dynamics::solver::solver_body::SolverBodyIndex;
use avian3d::prelude::*;
use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryData;
use bevy_ecs::system::SystemParam;
use skidpad_bevy::GroundSurface;

/// Components of an Avian body.
#[derive(QueryData)]
pub(crate) struct BodyData {
    /// Dynamic, kinematic or static.
    pub kind: &'static RigidBody,
    /// Position of the origin, m.
    pub position: &'static Position,
    pub rotation: &'static Rotation,
    pub velocity: &'static LinearVelocity,
    pub angular_velocity: &'static AngularVelocity,
    pub mass: &'static ComputedMass,
    pub inertia: &'static ComputedAngularInertia,
    /// Centre of mass in body axes, m.
    pub centre: &'static ComputedCenterOfMass,
    pub damping: Option<&'static LinearDamping>,
    pub angular_damping: Option<&'static AngularDamping>,
    pub gravity: Option<&'static GravityScale>,
    /// Accelerations that act in the coming step; `None` while the body sleeps.
    pub increments: Option<&'static VelocityIntegrationData>,
    /// Index in Avian's solver; `None` for a body that it does not solve.
    pub index: Option<&'static SolverBodyIndex>,
}

/// Components of one body, borrowed.
pub(crate) type BodyItem<'a> = BodyDataItem<'a, 'a>;

/// Components of a collider: shape, pose, body, collision layers and surface.
type ColliderData = (
    &'static Collider,
    &'static Position,
    &'static Rotation,
    Option<&'static ColliderOf>,
    Option<&'static CollisionLayers>,
    Option<&'static GroundSurface>,
);

/// System parameters that are read from Avian's world.
#[derive(SystemParam)]
pub(crate) struct World<'w, 's> {
    /// Search trees of the colliders.
    pub spatial: SpatialQuery<'w, 's>,
    /// All bodies.
    pub bodies: Query<'w, 's, BodyData>,
    /// Enabled colliders that are no sensors.
    pub colliders: Query<'w, 's, ColliderData, (Without<Sensor>, Without<ColliderDisabled>)>,
    /// All colliders, including sensors and disabled ones.
    pub all_colliders: Query<'w, 's, Entity, With<Collider>>,
    /// Colliders of each body.
    pub colliders_of: Query<'w, 's, &'static RigidBodyColliders>,
    /// Contact pairs of the last step.
    pub contacts: Res<'w, ContactGraph>,
    /// Gravity, m/s².
    pub gravity: Res<'w, Gravity>,
    /// Number of substeps.
    pub substeps: Res<'w, SubstepCount>,
}
