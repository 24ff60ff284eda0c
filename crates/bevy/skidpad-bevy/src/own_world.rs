//! skidpad's own world: for games without a physics engine, and for servers.

use std::sync::Arc;

use crate::car::{Car, CarControls, CarDriver, Teleport};
use crate::motion::CarMotion;
use crate::place::start_at;
use crate::plugin::{CarPlugin, CarSystems};
use bevy_app::prelude::*;
use bevy_ecs::entity::EntityHashMap;
use bevy_ecs::prelude::*;
use bevy_time::prelude::*;
use bevy_transform::prelude::*;
use skidpad_core::state::Placement;
use skidpad_core::{Backend, BackendInfo, CarStart, Controls, Model, Scene};
use skidpad_drive::{looks_down, upright_on};

/// Cars in a world of skidpad's own, or of any other of its solvers. Add it after [`CarPlugin`].
#[derive(Clone, Debug)]
pub struct OwnWorldPlugin {
    /// Which: `skidpad_impulse::BACKEND`, `skidpad_constraint::BACKEND`…
    pub solver: BackendInfo,
    /// The ground, in skidpad's axes: z up.
    pub scene: Scene,
}

impl Plugin for OwnWorldPlugin {
    fn build(&self, app: &mut App) {
        let schedule = CarPlugin::schedule_of(app);
        app.insert_resource(OwnWorld::new(self.solver, &self.scene)).add_systems(
            schedule,
            ((leave, enter, teleport).chain().in_set(CarSystems::Enter), step.in_set(CarSystems::Step)),
        );
    }
}

/// The world that steps all cars.
#[derive(Resource)]
pub struct OwnWorld {
    world: Box<dyn Backend>,
    numbers: EntityHashMap<usize>,
    free: Vec<usize>,
    controls: Vec<Controls>,
}

/// Any length does: a step takes that of its tick.
const DT: f32 = 1.0 / 64.0;

impl OwnWorld {
    fn new(solver: BackendInfo, scene: &Scene) -> Self {
        let world = (solver.build)(scene, &[], DT);
        Self { world, numbers: EntityHashMap::default(), free: Vec::new(), controls: Vec::new() }
    }

    /// The world itself.
    pub fn world(&self) -> &dyn Backend {
        self.world.as_ref()
    }

    /// The number of a car in it.
    pub fn number(&self, car: Entity) -> Option<usize> {
        self.numbers.get(&car).copied()
    }

    /// Another solver from here on: every car goes on from its state.
    pub fn change_solver(&mut self, solver: BackendInfo, scene: &Scene) {
        let cars: Vec<CarStart> = (0..self.world.cars())
            .map(|car| CarStart { model: self.world.model(car).clone(), placement: Placement::default() })
            .collect();
        let mut next = (solver.build)(scene, &cars, self.world.dt());
        for car in 0..cars.len() {
            next.set_state(car, self.world.state(car));
            if self.world.is_away(car) {
                next.leave(car);
            }
        }
        next.set_steps(self.world.steps());
        self.world = next;
    }

    /// Puts the car `car` into `state`, as for a rewind; whether it is in this world and has as many wheels.
    pub fn set_state(&mut self, car: Entity, state: &skidpad_core::State) -> bool {
        self.number(car).is_some_and(|number| self.world.set_state(number, state))
    }

    /// A number for another car: one that a car of the same model has left, if there is any.
    fn enter(&mut self, car: Entity, model: &Arc<Model>) -> usize {
        let left = self.free.iter().position(|number| Arc::ptr_eq(self.world.model(*number), model));
        let number = match left {
            Some(at) => self.free.swap_remove(at),
            None => self.world.enter(&CarStart { model: model.clone(), placement: Placement::default() }),
        };
        self.numbers.insert(car, number);
        self.controls.resize(self.world.cars(), Controls::default());
        number
    }

    fn leave(&mut self, car: Entity) {
        if let Some(number) = self.numbers.remove(&car) {
            self.world.leave(number);
            self.free.push(number);
            self.controls[number] = Controls::default();
        }
    }
}

fn leave(mut world: ResMut<OwnWorld>, mut gone: RemovedComponents<Car>, cars: Query<&Car>) {
    for car in gone.read().filter(|car| !cars.contains(*car)) {
        world.leave(car);
    }
}

/// New cars, and cars that are of another model now.
fn enter(
    mut commands: Commands,
    mut world: ResMut<OwnWorld>,
    mut cars: Query<(Entity, Ref<Car>, &Transform, Option<&mut CarMotion>), Changed<Car>>,
) {
    for (entity, car, transform, motion) in &mut cars {
        let kept = motion
            .as_ref()
            .map(|motion| motion.state().clone())
            .filter(|state| state.wheels.len() == car.0.wheels().len());
        let state = kept.unwrap_or_else(|| start_at(&car.0, transform));
        world.leave(entity);
        let number = world.enter(entity, &car.0);
        world.world.set_state(number, &state);
        match motion {
            Some(mut motion) => motion.jump(&car.0, &state),
            None => {
                commands.entity(entity).insert(CarMotion::new(&car.0, state));
            }
        }
    }
}

fn teleport(
    mut commands: Commands,
    mut world: ResMut<OwnWorld>,
    mut cars: Query<(Entity, &Car, &Teleport, &mut CarMotion, Option<&mut CarDriver>)>,
) {
    for (entity, car, to, mut motion, driver) in &mut cars {
        let Some(number) = world.number(entity) else { continue };
        let state = match to {
            Teleport::To(transform) => start_at(&car.0, transform),
            Teleport::Upright => {
                let (probe, mut met) = (looks_down(number, motion.state()), [None]);
                world.world.probe(&[probe], &mut met);
                upright_on(&car.0, motion.state(), &probe, met[0].as_ref())
            }
        };
        world.world.set_state(number, &state);
        motion.jump(&car.0, &state);
        if let Some(mut driver) = driver {
            driver.0.reset();
        }
        commands.entity(entity).remove::<Teleport>();
    }
}

fn step(time: Res<Time>, world: ResMut<OwnWorld>, mut cars: Query<(Entity, &CarControls, &mut CarMotion)>) {
    let dt = time.delta_secs();
    if dt <= 0.0 {
        return;
    }
    let OwnWorld { world, numbers, controls, .. } = world.into_inner();
    for (entity, asked, _) in &cars {
        if let Some(number) = numbers.get(&entity) {
            controls[*number].clone_from(&asked.0);
        }
    }
    world.clock_mut().dt = dt;
    world.step(controls);
    for (entity, _, mut motion) in &mut cars {
        if let Some(number) = numbers.get(&entity) {
            motion.read(&world.car(*number), dt);
        }
    }
}
