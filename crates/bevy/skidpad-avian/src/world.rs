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
    pub kind: &'static RigidBody,
    pub position: &'static Position,
    pub rotation: &'static Rotation,
    pub velocity: &'static LinearVelocity,
    pub angular: &'static AngularVelocity,
    pub mass: &'static ComputedMass,
    pub inertia: &'static ComputedAngularInertia,
    pub centre: &'static ComputedCenterOfMass,
    pub damping: Option<&'static LinearDamping>,
    pub angular_damping: Option<&'static AngularDamping>,
    pub gravity: Option<&'static GravityScale>,
    pub increments: Option<&'static VelocityIntegrationData>,
    pub index: Option<&'static SolverBodyIndex>,
}

pub(crate) type BodyItem<'a> = BodyDataItem<'a, 'a>;

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
    pub spatial: SpatialQuery<'w, 's>,
    pub bodies: Query<'w, 's, BodyData>,
    pub colliders: Query<'w, 's, ColliderData, (Without<Sensor>, Without<ColliderDisabled>)>,
    pub all: Query<'w, 's, Entity, With<Collider>>,
    pub colliders_of: Query<'w, 's, &'static RigidBodyColliders>,
    pub contacts: Res<'w, ContactGraph>,
    pub gravity: Res<'w, Gravity>,
    pub substeps: Res<'w, SubstepCount>,
}
