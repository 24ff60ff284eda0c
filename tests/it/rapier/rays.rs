//! Bodies that wheels can stand on, which the user chooses.

use skidpad::core::{Controls, Scene, model::ProbeShape, state::Placement};
use skidpad::rapier::WorldAxes;
use skidpad::rapier::rapier3d::prelude::*;

use super::{Yard, standing};
use crate::common::{Simplify, c5};

/// Builds a world with a C5 on ray probes over a plane, and a slab 0.1 m thick whose collider `change` modifies.
fn over_a_slab(change: impl Fn(ColliderBuilder) -> ColliderBuilder) -> Yard {
    over_a_slab_with(ProbeShape::Ray, change)
}

/// Builds the world of [`over_a_slab`] for wheels with the probe shape `probe`.
fn over_a_slab_with(probe: ProbeShape, change: impl Fn(ColliderBuilder) -> ColliderBuilder) -> Yard {
    let mut parts = c5();
    parts.wheels.iter_mut().for_each(|wheel| wheel.probe = probe);
    let scene = Scene::flat();
    let mut world = Yard::plane(&scene, 60.0);
    let slab = ColliderBuilder::cuboid(5.0, 5.0, 0.05).translation(Vector::new(0.0, 0.0, 0.05));
    world.insert_collider(change(slab), None);
    Yard::new(world, WorldAxes::ZUp, &scene, &parts.model(), &[standing(0.0)])
}

/// Steps once. Returns the compression of the first wheel relative to a car at rest on the plane, m. A spring that starts
/// with a compression of 0.1 m expands a little within the step.
fn raised(yard: &mut Yard) -> f32 {
    yard.step(&[Controls::parked()]);
    yard.state(0).wheels[0].compression
}

const GHOSTS: Group = Group::GROUP_2;

fn of(group: Group, meets: Group) -> InteractionGroups {
    InteractionGroups::new(group, meets, InteractionTestMode::And)
}

#[test]
fn wheels_stand_on_solids_not_on_sensors() {
    // A slab 0.1 m thick compresses the struts by 0.1 m.
    for probe in [ProbeShape::Ray, ProbeShape::Disc, ProbeShape::Cylinder(0.2), ProbeShape::Torus(0.2)] {
        let solid = raised(&mut over_a_slab_with(probe, |slab| slab));
        assert!((solid - 0.1).abs() < 5e-3, "{probe:?}: {solid} m");
        let sensor = raised(&mut over_a_slab_with(probe, |slab| slab.sensor(true)));
        assert!(sensor.abs() < 1e-3, "{probe:?}: {sensor} m");
    }
}

/// Wheels pass through bodies that the collision groups of the chassis exclude.
#[test]
fn wheels_have_the_groups_of_their_chassis() {
    let mut yard = over_a_slab(|slab| slab.collision_groups(of(GHOSTS, Group::ALL)));
    let chassis = yard.body(0).colliders()[0];
    let groups = of(Group::GROUP_1, Group::ALL & !GHOSTS);
    yard.world.colliders.get_mut(chassis).expect("the chassis").set_collision_groups(groups);
    let height = raised(&mut yard);
    assert!(height.abs() < 1e-3, "{height} m");
}

/// Wheels honour a query filter of the user, with a predicate and with an excluded body. Colliders of the car itself are
/// never ground.
#[test]
fn wheels_honour_a_filter() {
    let ghost = |_: ColliderHandle, collider: &Collider| collider.user_data != 7;
    let mut yard = over_a_slab(|slab| slab.user_data(7));
    let own = yard.cars.handle(0);
    let skid = ColliderBuilder::cuboid(3.0, 3.0, 0.01).translation(Vector::new(0.0, 0.0, 0.1)).density(0.0);
    let Yard { world, cars } = &mut yard;
    world.colliders.insert_with_parent(skid, own, &mut world.bodies);
    let other = world.insert_body(RigidBodyBuilder::fixed());
    for ground in
        [QueryFilter::default().predicate(&ghost), QueryFilter::default().predicate(&ghost).exclude_rigid_body(other)]
    {
        cars.before_step_with_surfaces(&mut *world, &[Controls::parked()], ground);
        world.step();
        cars.after_step(&mut *world);
        let height = cars.vehicles()[0].state().wheels[0].compression;
        assert!(height.abs() < 1e-3, "{height} m");
    }
    cars.before_step(&mut *world, &[Controls::parked()]);
    world.step();
    cars.after_step(&mut *world);
    let height = cars.vehicles()[0].state().wheels[0].compression;
    assert!((height - 0.1).abs() < 5e-3, "{height} m on the slab");
}

/// Wheels find the ground in the first step of a new world, although the broad phase is still empty.
#[test]
fn the_first_step_has_ground() {
    let mut yard = over_a_slab(|slab| slab.translation(Vector::new(100.0, 0.0, 0.0)));
    yard.step(&[Controls::coasting()]);
    assert!(yard.state(0).wheels.iter().all(|wheel| wheel.contact && wheel.load > 3000.0));
    assert!(yard.state(0).velocity.length() < 1e-3, "{}", yard.state(0).velocity);
}

/// A car at 60 m/s with Rapier's full continuous collision detection on its chassis stops at a kinematic wall 2 cm thick.
/// A metre of the car passes the wall without the detection. (Rapier stops fast bodies at fixed walls by itself.)
#[test]
fn continuous_detection_stops_a_car_at_a_thin_wall() {
    let scene = Scene::flat();
    let mut world = Yard::plane(&scene, 60.0);
    let wall = RigidBodyBuilder::kinematic_velocity_based().translation(Vector::new(30.3, 0.0, 3.0));
    world.insert(wall, ColliderBuilder::cuboid(0.01, 10.0, 3.0));
    let start = Placement { speed: 60.0, ..standing(0.0) };
    let mut yard = Yard::new(world, WorldAxes::ZUp, &scene, &c5().model(), &[start]);
    yard.body(0).enable_ccd(true);
    for _ in 0..120 {
        yard.step(&[Controls::coasting()]);
        let hull = yard.cars.vehicles()[0].model().parts().hull;
        let nose = yard.state(0).position.x as f32 + hull.centre.x + hull.half_extents.x;
        assert!(nose < 30.5, "the nose is at {nose} m");
    }
    assert!(yard.state(0).velocity.x < 10.0);
}
