//! Step of blocks by one thread, with its workspace.

use std::sync::Arc;

use skidpad_core::block::{
    BlockImpulses, BlockLanes, BlockModel, BlockStepper, BlockWorkspace, MotionLanes, ProbeContacts,
};
use skidpad_core::simd::vectors::{Mat3Lanes, Vec3Lanes};
use skidpad_core::state::Placement;
use skidpad_core::{ChassisState, Contact, Controls, Quat, Scene, State, Vec3, Vehicle};
use skidpad_impulse::Sweep;
use skidpad_world::motion::{AdvancedBody, BodyTwist, HullLanes};
use skidpad_world::{Chassis, GroundContacts};

use crate::FleetError;
use crate::block::Block;
use crate::environment::{Environment, GroundKind};
use crate::hulls::{Hulls, heights, vector};
use crate::uneven_ground::{UnevenGround, position};

/// Workspace of a thread that steps blocks.
#[derive(Debug)]
pub struct Worker<W: BlockLanes> {
    stepper: BlockStepper<W>,
    /// Constants and models of the cars of the present block.
    models: BlockWorkspace<W>,
    hull: HullLanes<W>,
    /// Workspace for wheel contacts on other ground than a hard and even plane.
    uneven_ground: UnevenGround<W>,
    /// Vehicles that solve cars alone whose step lanes cannot compute, one per lane.
    vehicles: Box<[Vehicle]>,
    /// State of a car, for exchange with a block.
    car_state: State,
    /// Inputs of a car.
    car_controls: Controls,
    /// Wheel contacts of a car.
    car_contacts: Box<[Option<Contact>]>,
    /// Chassis of a car that touches the ground with its hull.
    chassis: Chassis,
    /// Contacts of such a chassis.
    hull_contacts: GroundContacts,
    /// Number of car-steps that were solved alone.
    rare_steps: u64,
}

impl<W: BlockLanes> Worker<W> {
    /// Creates the workspace for blocks of the fleet with the constants `fleet`.
    ///
    /// # Errors
    /// The model of the fleet has parts that a block does not support.
    pub fn new(fleet: &Arc<BlockModel<W>>, environment: &Environment) -> Result<Self, FleetError> {
        let model = fleet.layout();
        let car_state = State::at_rest(model, &Scene::flat(), &Placement::default());
        Ok(Self {
            stepper: BlockStepper::new(model).map_err(FleetError::Model)?,
            models: BlockWorkspace::new(fleet),
            hull: environment.hull(),
            uneven_ground: UnevenGround::new(car_state.wheels.len()),
            vehicles: (0..W::LANE_COUNT).map(|_| Vehicle::new(Arc::clone(model), car_state.clone())).collect(),
            car_contacts: vec![None; car_state.wheels.len()].into(),
            car_state,
            car_controls: Controls::default(),
            chassis: environment.chassis.clone(),
            hull_contacts: GroundContacts::for_ground(&environment.ground, 0),
            rare_steps: 0,
        })
    }

    /// Returns the number of car-steps that were solved alone.
    pub fn rare_steps(&self) -> u64 {
        self.rare_steps
    }

    /// Advances the active cars of `block` by `steps` steps of `dt` s; ends early when no car is active. A car whose
    /// motion would not be finite keeps its state before that step, becomes inactive and counts as failed.
    #[inline(always)]
    pub fn step(&mut self, block: &mut Block<W>, environment: &Environment, steps: u32, dt: f32) {
        if steps > 0 && block.active != 0 {
            self.models.begin_block(block.own_numbers.as_deref());
        }
        for _ in 0..steps {
            if block.active == 0 {
                return;
            }
            self.step_once(block, environment, dt);
        }
    }

    /// Advances the active cars of `block` by one step of `dt` s. First finds the wheel contacts and solves the
    /// impulses of wheels and air in lanes; cars that need a rarely used path are solved alone. Then adds impulses and
    /// gravity to the velocities, keeps the hulls out of the ground, moves the bodies and writes the states.
    #[inline(always)]
    fn step_once(&mut self, block: &mut Block<W>, environment: &Environment, dt: f32) {
        let gravity_change = environment.gravity_change(dt);
        let state = &block.state;
        // Velocities at the start of the step, and free ones at its end: with gravity, without impulses.
        let start = MotionLanes {
            rotation: state.rotation,
            velocity: state.velocity,
            angular_velocity: state.angular_velocity,
            linear_free_velocity: state.velocity + Vec3Lanes::splat(gravity_change),
            angular_free_velocity: state.angular_velocity,
        };
        // `0.5 * dt`: pose lag. Poses move with the mean of the velocities at start and end.
        self.stepper.begin(&start, Vec3Lanes::splat(environment.ground.wind()), 0.5 * dt, dt);
        match environment.kind {
            GroundKind::Plane => self.locate_contacts(block, environment, dt),
            GroundKind::Boxes | GroundKind::Uneven => self.locate_uneven_contacts(block, environment, dt),
        }
        let cars = self.models.cars(block.own_numbers.as_deref());
        let mut impulses = self.stepper.solve::<Sweep>(cars, &block.state, &block.controls, !block.active);
        if impulses.unsolved != 0 {
            self.rare_steps += u64::from(impulses.unsolved.count_ones());
            self.solve_alone(block, environment, &mut impulses, dt);
        }
        // Bits of the cars that were solved alone; they are finished alone, too.
        let (state, unsolved) = (&block.state, impulses.unsolved);
        let body = self.models.constants(block.own_numbers.as_deref()).body();
        let axes = Mat3Lanes::from_quat(state.rotation);
        let mut twist = BodyTwist::pushed(
            [state.velocity, state.angular_velocity],
            &axes,
            body,
            [impulses.linear, impulses.angular],
            gravity_change,
        );
        let hulls = Hulls { lanes: &self.hull, body, axes: &axes, twist: &twist };
        let near = hulls.near_ground(&block.state.position, environment, dt) & block.active;
        if near != 0 {
            self.separate_hulls(block, environment, near, &mut twist, dt);
        }
        let body = self.models.constants(block.own_numbers.as_deref()).body();
        let end = AdvancedBody::new(block.state.rotation, &axes, body, &twist, dt);
        self.finish(block, &twist, &end, unsolved, dt);
    }

    /// Sets the contacts of all wheels on ground with boxes, terrain or textures. Sets the contacts with the plane
    /// first, then replaces those of the cars near boxes, or of all cars on uneven ground.
    #[inline(never)]
    fn locate_uneven_contacts(&mut self, block: &Block<W>, environment: &Environment, dt: f32) {
        W::call_outlined(
            #[inline(always)]
            || {
                let ground = &environment.ground;
                let middle = midstep_position(block, dt);
                let constants = self.models.constants(block.own_numbers.as_deref());
                self.uneven_ground.read_rays(&self.stepper, constants);
                self.locate_contacts(block, environment, dt);
                let boxes = self.uneven_ground.cars_near_boxes(block, ground, &middle, dt);
                let all_cars = u32::MAX >> (u32::BITS as usize - W::LANE_COUNT);
                // On boxes alone, cars without a box nearby are on the plane.
                let cars = if environment.kind == GroundKind::Boxes { boxes } else { all_cars };
                if cars != 0 {
                    let block_cars = self.models.cars(block.own_numbers.as_deref());
                    let stepper = &mut self.stepper;
                    self.uneven_ground.locate_contacts(stepper, block, block_cars, ground, &middle, [cars, boxes], dt);
                }
            },
        );
    }

    /// Sets the contacts of all wheels with the plane of the ground in lanes. Rays that miss, and all rays without a
    /// plane, get no contact (numbers 0).
    #[inline(always)]
    fn locate_contacts(&mut self, block: &Block<W>, environment: &Environment, dt: f32) {
        let normal = environment.normal;
        let middle = midstep_position(block, dt);
        let height = heights::<W>(&middle, normal);
        let has_plane = environment.ground.plane_normal().is_some();
        let (down, grip) = (self.stepper.down(), W::splat(environment.ground.plane_grip()));
        let constants = self.models.constants(block.own_numbers.as_deref());
        for wheel in 0..self.car_contacts.len() {
            let rays = self.stepper.rays(constants, wheel);
            let (distance, hit) = environment.ground.plane_distance(height, rays.start, down, rays.length);
            let hit = if has_plane { hit } else { W::Mask::default() };
            let all_normal = Vec3Lanes::<W>::splat(normal);
            let zero = Vec3Lanes::default();
            let contacts = ProbeContacts {
                hit,
                normal: Vec3Lanes::select(hit, all_normal, zero),
                distance: distance.masked(hit),
                grip: grip.masked(hit),
            };
            self.stepper.set_contacts(wheel, contacts);
        }
    }

    /// Solves the cars in the bits `impulses.unsolved` one by one with a full vehicle, on the contacts that the stepper
    /// has, and replaces their `impulses`. The vehicles keep the solved state for [`Worker::finish_alone`].
    #[cold]
    #[inline(never)]
    fn solve_alone(&mut self, block: &Block<W>, environment: &Environment, impulses: &mut BlockImpulses<W>, dt: f32) {
        let gravity_change = environment.gravity_change(dt);
        W::call_outlined(
            #[inline(always)]
            || {
                let mut cars = self.models.cars(block.own_numbers.as_deref());
                for car in (0..W::LANE_COUNT).filter(|car| impulses.unsolved & (1 << car) != 0) {
                    block.state.write_car(car, &mut self.car_state);
                    block.controls.write_car(car, &mut self.car_controls);
                    for (i, contact) in self.car_contacts.iter_mut().enumerate() {
                        *contact = self.stepper.contact(i, car);
                    }
                    let state = &self.car_state;
                    let body = ChassisState {
                        free_velocity: state.velocity + gravity_change,
                        wind: environment.ground.wind(),
                        pose_lag: 0.5 * dt,
                        ..at_rest_in(state)
                    };
                    let vehicle = &mut self.vehicles[car];
                    vehicle.set_model(cars.model(car));
                    vehicle.set_state(state);
                    let (impulse, _) = vehicle.solve(&body, &self.car_contacts, &[], &self.car_controls, &Sweep, dt);
                    set_vector(&mut impulses.linear, car, impulse.impulse);
                    set_vector(&mut impulses.angular, car, impulse.angular_impulse);
                }
            },
        );
    }

    /// Keeps the hulls of the cars in the bits `near` out of the ground, one by one, by impulses at their contact
    /// points. Changes velocities and lags of these cars in `twist`.
    #[cold]
    #[inline(never)]
    fn separate_hulls(
        &mut self,
        block: &Block<W>,
        environment: &Environment,
        near: u32,
        twist: &mut BodyTwist<W>,
        dt: f32,
    ) {
        W::call_outlined(
            #[inline(always)]
            || {
                let body = self.models.constants(block.own_numbers.as_deref()).body();
                for car in (0..W::LANE_COUNT).filter(|car| near & (1 << car) != 0) {
                    let position = position(&block.state.position, car);
                    let rotation = Quat::from_array(block.state.rotation.map(|lanes| lanes.number(car)));
                    let inertia = body.inertia.map(|lanes| lanes.number(car)).to_mat3();
                    self.chassis.set_mass(body.mass.number(car), inertia);
                    self.chassis.set_step_motion(
                        position,
                        rotation,
                        [vector(&twist.velocity, car), vector(&twist.angular_velocity, car)],
                        [vector(&twist.velocity_lag, car), vector(&twist.angular_lag, car)],
                    );
                    self.hull_contacts.separate_from_ground(&mut self.chassis, &environment.ground, &[], dt);
                    let ([velocity, angular], [velocity_lag, angular_lag]) =
                        (self.chassis.twist(), self.chassis.lags());
                    set_vector(&mut twist.velocity, car, velocity);
                    set_vector(&mut twist.angular_velocity, car, angular);
                    set_vector(&mut twist.velocity_lag, car, velocity_lag);
                    set_vector(&mut twist.angular_lag, car, angular_lag);
                }
            },
        );
    }

    /// Writes the states at the end of the step: position, motion `end`, wheels and ages. Cars whose motion is not
    /// finite keep their state, become inactive and count as failed. Active cars in the bits `unsolved` were solved
    /// alone and are finished by [`Worker::finish_alone`]; inactive cars do not change.
    #[inline(always)]
    fn finish(&mut self, block: &mut Block<W>, twist: &BodyTwist<W>, end: &AdvancedBody<W>, unsolved: u32, dt: f32) {
        let mut position = block.state.position;
        let mut is_finite = W::mask_bits(end.is_finite);
        let displacement = [end.displacement.x, end.displacement.y, end.displacement.z];
        for (numbers, displacement) in position.iter_mut().zip(displacement) {
            let displacement = displacement.to_array();
            for (number, displacement) in numbers.as_mut().iter_mut().zip(displacement.as_ref()) {
                *number += f64::from(*displacement);
            }
        }
        let [x, y, z] = &position;
        for (car, ((x, y), z)) in x.as_ref().iter().zip(y.as_ref()).zip(z.as_ref()).enumerate() {
            is_finite &= !(u32::from(!(x + y + z).is_finite()) << car);
        }
        let moved = block.active & is_finite;
        for (car, age) in block.ages.as_mut().iter_mut().enumerate() {
            *age = age.saturating_add(moved >> car & 1);
        }
        block.failed |= block.active & !is_finite;
        block.active = moved;
        let motion = MotionLanes {
            rotation: end.rotation,
            velocity: twist.velocity,
            angular_velocity: end.angular_velocity,
            linear_free_velocity: twist.velocity,
            angular_free_velocity: end.angular_velocity,
        };
        let constants = self.models.constants(block.own_numbers.as_deref());
        self.stepper.finish(constants, &mut block.state, &position, &motion, moved & !unsolved);
        if unsolved != 0 {
            self.finish_alone(block, &position, &motion, moved & unsolved, dt);
            // These vehicles release their models, so that the workspace can write others in their place. Their states
            // are set before their next step.
            let fleet_model = self.models.constants(None).layout();
            for car in (0..W::LANE_COUNT).filter(|car| unsolved & (1 << car) != 0) {
                self.vehicles[car].set_model(fleet_model);
            }
        }
    }

    /// Finishes the step of the cars in the bits `cars`, which were solved one by one, with the `motion` and position
    /// at its end, and copies their states to the block. A car whose state is not finite keeps its state in the block,
    /// becomes inactive and counts as failed.
    #[cold]
    #[inline(never)]
    fn finish_alone(
        &mut self,
        block: &mut Block<W>,
        position_lanes: &[W::Array<f64>; 3],
        motion: &MotionLanes<W>,
        cars: u32,
        dt: f32,
    ) {
        W::call_outlined(
            #[inline(always)]
            || {
                for car in (0..W::LANE_COUNT).filter(|car| cars & (1 << car) != 0) {
                    let body = ChassisState {
                        position: position(position_lanes, car),
                        rotation: Quat::from_array(motion.rotation.map(|lanes| lanes.number(car))),
                        velocity: vector(&motion.velocity, car),
                        angular_velocity: vector(&motion.angular_velocity, car),
                        ..ChassisState::AT_ORIGIN
                    };
                    let vehicle = &mut self.vehicles[car];
                    if vehicle.finish(&body, dt).not_finite {
                        block.active &= !(1 << car);
                        block.failed |= 1 << car;
                    } else {
                        block.state.set_car(car, vehicle.state());
                    }
                }
            },
        );
    }
}

/// Returns the chassis of a car in `state`, with its velocities also as the free ones, without gravity, wind and pose
/// lag.
fn at_rest_in(state: &State) -> ChassisState {
    ChassisState {
        position: state.position,
        rotation: state.rotation,
        velocity: state.velocity,
        angular_velocity: state.angular_velocity,
        free_velocity: state.velocity,
        free_angular_velocity: state.angular_velocity,
        ..ChassisState::AT_ORIGIN
    }
}

/// Returns the positions of the cars in the middle of the step of `dt` s, moved with the velocities at its start,
/// world, m.
#[inline(always)]
fn midstep_position<W: BlockLanes>(block: &Block<W>, dt: f32) -> [W::Array<f64>; 3] {
    let velocity = block.state.velocity * W::splat(0.5 * dt);
    let mut position = block.state.position;
    for (numbers, displacement) in position.iter_mut().zip([velocity.x, velocity.y, velocity.z]) {
        let displacement = displacement.to_array();
        for (number, displacement) in numbers.as_mut().iter_mut().zip(displacement.as_ref()) {
            *number += f64::from(*displacement);
        }
    }
    position
}

/// Sets the vector of `car`.
#[inline(always)]
fn set_vector<W: BlockLanes>(lanes: &mut Vec3Lanes<W>, car: usize, vector: Vec3) {
    lanes.x = lanes.x.with_number(car, vector.x);
    lanes.y = lanes.y.with_number(car, vector.y);
    lanes.z = lanes.z.with_number(car, vector.z);
}
