//! Ghost: a copy of the driven car that another solver simulates from the same state with the same controls.

use bevy::prelude::*;
use skidpad_bevy::core::state::Placement;
use skidpad_bevy::core::{CarStart, Controls, Model, Scene, Simulation, State};
use skidpad_bevy::{BEVY_AXES, Car, CarControls, CarMotion, CarSystems, transform_of};
use skidpad_drive::{Pose, PoseInterpolator};
use std::sync::Arc;

use crate::bodies::{Paint, body, wheel};
use crate::garage::Garage;
use crate::player_input::{PlayerCar, Press};

/// Scene from which the world of each ghost is built.
#[derive(Resource, Clone)]
struct GhostScene(Scene);

/// Ghost car with a separate world that contains only this car.
#[derive(Component)]
pub struct Ghost {
    /// World of the other solver. The ghost is car 0.
    world: Box<dyn Simulation>,
    /// Last two poses, between which the ghost is drawn.
    interpolator: PoseInterpolator,
    /// Model of the driven vehicle when the ghost was spawned.
    model: Arc<Model>,
}

/// Marker of a drawn wheel of the ghost, with the index of the wheel in the model.
#[derive(Component)]
struct GhostWheel(usize);

impl Ghost {
    /// Returns the name of the solver that simulates the ghost.
    pub fn solver(&self) -> &'static str {
        self.world.name()
    }

    /// Returns the state of the ghost after its last step, in skidpad's axes.
    pub fn state(&self) -> &State {
        self.world.state(0)
    }

    /// Sets the ghost to `state` without interpolation. Does nothing if the number of wheels differs.
    pub fn teleport(&mut self, state: &State) {
        if self.world.set_state(0, state).is_ok() {
            self.interpolator.teleport(&self.model, state);
        }
    }

    /// Advances the world of the ghost by one step of `dt` s with these controls, and stores the new pose for
    /// interpolation.
    fn step(&mut self, controls: &Controls, dt: f32) {
        self.world.clock_mut().dt = dt;
        self.world.step(std::slice::from_ref(controls));
        self.interpolator.push(&self.model, self.world.state(0), dt);
    }
}

/// Returns the plugin of the ghost: spawns and despawns it once a frame, steps it in the tick, and draws it between two
/// ticks.
pub fn plugin(scene: Scene) -> impl Plugin {
    move |app: &mut App| {
        app.insert_resource(GhostScene(scene.clone()))
            .add_systems(Update, (toggle_ghost, despawn_outdated))
            .add_systems(FixedUpdate, step_ghosts.in_set(CarSystems::Step))
            .add_systems(RunFixedMainLoop, interpolate_ghosts.in_set(CarSystems::Interpolate));
    }
}

/// Spawns the ghost of the driven car, or despawns it if there is one, when the ghost key was pressed an odd number of
/// times.
///
/// The ghost starts in the state of the car, without its tow, in a new world of [`Garage::next_solver`]. The body and
/// the tyres are translucent child entities; [`interpolate_ghosts`] sets the transforms of the tyres. Does nothing if
/// there is not exactly one driven car.
fn toggle_ghost(
    mut presses: MessageReader<Press>,
    mut commands: Commands,
    (garage, ghost_scene, fixed_time): (Res<Garage>, Res<GhostScene>, Res<Time<Fixed>>),
    cars: Query<(&Car, &CarMotion), With<PlayerCar>>,
    ghosts: Query<Entity, With<Ghost>>,
    (mut meshes, mut materials): (ResMut<Assets<Mesh>>, ResMut<Assets<StandardMaterial>>),
) {
    let Ok((car, motion)) = cars.single() else { return };
    if presses.read().filter(|press| **press == Press::Ghost).count() % 2 == 0 {
        // An even number of presses cancels itself.
        return;
    }
    if !ghosts.is_empty() {
        ghosts.iter().for_each(|ghost| commands.entity(ghost).try_despawn());
        return;
    }
    let model = car.0.clone();
    // The placement is replaced by the state below.
    let start = CarStart { model: model.clone(), placement: Placement::default() };
    // The ghost is alone in its world, so nothing can tow it.
    let state = State { tow: None, ..motion.state().clone() };
    let mut world = (garage.next_solver().build_world)(&ghost_scene.0, &[start], fixed_time.timestep().as_secs_f32());
    // Cannot fail: the state has as many wheels as the model.
    let _ = world.set_state(0, &state);
    // Starts without motion.
    let interpolator = PoseInterpolator::new(&model, &state);
    let mut add_material = |colour| MeshMaterial3d(materials.add(Paint::material(colour)));
    let (body_paint, tyre_paint) = (add_material(Paint::GHOST_CAR.body), add_material(Paint::GHOST_CAR.tyre));
    let wheels = model.wheels().len();
    commands
        .spawn((Ghost { world, interpolator, model: model.clone() }, Transform::default(), Visibility::default()))
        .with_children(|ghost| {
            for part in body(&model) {
                // Body parts do not move relative to the ghost, so their transforms are set here once.
                ghost.spawn((Mesh3d(meshes.add(part.mesh)), body_paint.clone(), part.transform));
            }
            for i in 0..wheels {
                // Ghosts have no spokes.
                let [tyre, _] = wheel(&model, i);
                ghost.spawn((GhostWheel(i), Mesh3d(meshes.add(tyre)), tyre_paint.clone()));
            }
        });
}

/// Despawns the ghost when the driven vehicle has another model.
fn despawn_outdated(mut commands: Commands, cars: Query<&Car, With<PlayerCar>>, ghosts: Query<(Entity, &Ghost)>) {
    let Ok(car) = cars.single() else { return };
    for (entity, _) in ghosts.iter().filter(|(_, ghost)| !Arc::ptr_eq(&ghost.model, &car.0)) {
        commands.entity(entity).try_despawn();
    }
}

/// Steps every ghost once a tick with the controls of the driven car. `Time` gives the step length.
fn step_ghosts(time: Res<Time>, cars: Query<&CarControls, With<PlayerCar>>, mut ghosts: Query<&mut Ghost>) {
    let Ok(controls) = cars.single() else { return };
    for mut ghost in &mut ghosts {
        ghost.step(&controls.0, time.delta_secs());
    }
}

/// Sets the transforms of the ghost and of its wheels to the poses between the last two ticks.
///
/// The ghost is placed in world axes. The wheels are children: their poses are relative to the body, shifted from the
/// centre of mass to the ground point below it.
fn interpolate_ghosts(
    fixed_time: Res<Time<Fixed>>,
    mut ghosts: Query<(&Ghost, &mut Transform), Without<GhostWheel>>,
    mut wheels: Query<(&GhostWheel, &ChildOf, &mut Transform)>,
) {
    // Share of a tick since the last tick, 0 to 1.
    let step_fraction = fixed_time.overstep_fraction();
    for (ghost, mut transform) in &mut ghosts {
        *transform = transform_of(&ghost.model, &ghost.interpolator.body_pose(step_fraction));
    }
    for (wheel, child_of, mut transform) in &mut wheels {
        let Ok((ghost, _)) = ghosts.get(child_of.parent()) else { continue };
        let Some(Pose { position, rotation }) =
            ghost.interpolator.wheel_pose_on_body(wheel.0, step_fraction).map(|(centre, rotation)| Pose {
                // From the ground point below the centre of mass.
                position: (centre + Vec3::Z * ghost.model.parts().centre_height).as_dvec3(),
                rotation,
            })
        else {
            continue;
        };
        *transform = Transform::from_translation(BEVY_AXES.point_to_world(position).as_vec3())
            .with_rotation(BEVY_AXES.rotation_to_world(rotation));
    }
}
