//! Cars in a Rapier world: solves the vehicles' rows and applies the results as forces.

use rapier3d::prelude::*;
use skidpad_core::{
    ApiMisuse, CarError, CarId, CarStart, CarView, Cars, Contact, Controls, Probe, Scene, Slots, State, StepReport,
    Vec3, Vehicle, WorldPort,
};

use crate::car_slot::CarSlot;
use crate::chassis::{self, pose_lag, set_body_state};
use crate::ground::{WheelLoadedBody, has_ground_moved, is_on_movable};
use crate::hitches;
use crate::port::Port;
use crate::sleep::SleepState;
use crate::supported_body::SupportedBody;
use crate::{RapierWorldMut, SurfaceProperties, WorldAxes};
use skidpad_engines::{PositionTracker, RimWalls, WheelTriangles};
use skidpad_impulse::Sweep;

/// Vehicles whose chassis are rigid bodies of a Rapier world.
///
/// Call [`RapierCars::before_step`] before and [`RapierCars::after_step`] after each step of the world, with the same
/// `dt`. For a step of length zero, as in a pause, both do nothing ([`StepReport::for_skipped_step`]).
/// [`StepReport::misuse`] reports calls in the wrong order, chassis with a different mass and worlds with different
/// axes.
///
/// The rows act as forces (impulse / dt). Rapier integrates gravity over the substeps of its solver but applies
/// impulses at once, so that a car parked by impulses would creep uphill. Dynamic ground gets the opposite forces. All
/// these forces are removed after the step. Several `RapierCars` may therefore share a world only if they finish a step
/// in the reverse order.
///
/// The chassis is a normal body: settings on it (damping, groups, `enable_ccd`, forces) apply to the car.
///
/// Rapier lifts a hull that ends a step in the ground, which adds energy: at 60 Hz up to 0.25 % of that of a landing.
/// To avoid it, set `RigidBody::set_soft_ccd_prediction` to the travel of the body in a step that would end in the
/// ground, and to zero otherwise. Also set `num_internal_stabilization_iterations` to 4. A permanent prediction
/// distance would stop hulls at objects that they pass. [`crate::BACKEND_INFO`] does both for hulls that reach the
/// plane of its scene and touch nothing else. If a corner is already at the plane, it does so only if another corner
/// comes down faster than 2 m/s or no wheel is loaded.
///
/// A parked car falls asleep if Rapier lets its body sleep, no wheel turns, nothing drives it, and engine speed and
/// steering are constant. A sleeping car is not stepped, costs nothing and keeps its state. The car wakes when its
/// controls change, when something hits it, and with its body (`RigidBody::wake_up`). `RigidBody::activation_mut` sets
/// the thresholds.
#[derive(Clone, Debug)]
pub struct RapierCars {
    /// Vehicles and their slots: wheels, suspension, drivetrain and states.
    pub(crate) cars: Cars,
    /// Convention of the world's axes (z up or y up).
    pub(crate) axes: WorldAxes,
    /// Chassis and data of the adapter for each car, in order of slots.
    pub(crate) slots: Vec<CarSlot>,
    /// Bodies under the wheels of this step.
    pub(crate) loaded_bodies: Vec<WheelLoadedBody>,
    /// Bodies under the wheels of the step before.
    last_loaded_bodies: Vec<WheelLoadedBody>,
    /// Bodies under wheels that are solved together with their supports.
    supported_bodies: Vec<SupportedBody>,
    /// Buffer for the triangles near a wheel with a rim.
    wheel_triangles: WheelTriangles<ColliderHandle>,
    /// Contact points with walls that stop rims in this step.
    rim_walls: RimWalls,
    /// Controls of cars for which the caller passes none.
    coasting_controls: Controls,
    /// Whether the world has not been stepped since the last change of its bodies, so that its broad phase may be
    /// incomplete.
    pub(crate) is_unstepped: bool,
    /// Whether a step has begun and is not finished.
    pub(crate) is_step_in_progress: bool,
    /// Report of the last [`RapierCars::before_step`], which the report of the whole step includes.
    report_before_step: StepReport,
    /// Velocity of the air, z up, m/s.
    pub(crate) wind: Vec3,
}

/// Minimum share of gravity that must point down in the axes of the cars. A tilted gravity can represent a steep slope.
const MIN_DOWNWARD_GRAVITY_SHARE: f32 = 0.5;

/// Relative difference above which the mass of a chassis counts as changed. Rapier inverts the mass twice.
const MASS_TOLERANCE_RATIO: f32 = 1e-3;

impl RapierCars {
    /// Inserts `cars` into `world`, which has z up, at their places on the ground of `scene`, at rest or with their
    /// initial speed. Each car gets one body with the mass properties of its model and a box collider. Wind is that of
    /// the scene.
    ///
    /// The scene defines where the cars start. The plane and boxes of the scene are not inserted.
    pub fn new<'a>(world: impl Into<RapierWorldMut<'a>>, scene: &Scene, cars: &[CarStart]) -> Self {
        Self::with_axes(world, WorldAxes::ZUp, scene, cars)
    }

    /// Inserts `cars` as [`RapierCars::new`] does, into a world with these `axes`. The wind is that of the scene. Until
    /// the first step is finished, queries test all colliders, because Rapier's broad phase (its spatial index) does
    /// not contain the new ones yet.
    pub fn with_axes<'a>(
        world: impl Into<RapierWorldMut<'a>>,
        axes: WorldAxes,
        scene: &Scene,
        cars: &[CarStart],
    ) -> Self {
        let world = world.into();
        let cars = cars.iter().map(|start| insert_chassis(world.bodies, world.colliders, axes, scene, start)).collect();
        Self { is_unstepped: true, wind: scene.wind, ..Self::from_bodies(axes, cars) }
    }

    /// Inserts a car at its start on the ground of `scene`, with a new body in `world`. Returns the identifier of the
    /// car.
    ///
    /// The car takes the lowest empty slot; without an empty slot, one is appended. Between [`RapierCars::before_step`]
    /// and [`RapierCars::after_step`] a slot is always appended. When a slot is reused, the disabled body of the
    /// removed car is removed from `world`, and its hitch joints are forgotten. Until the next step is finished,
    /// queries test all colliders instead of the broad phase (Rapier's spatial index).
    pub fn insert<'a>(&mut self, world: impl Into<RapierWorldMut<'a>>, scene: &Scene, start: &CarStart) -> CarId {
        let mut world = world.into();
        let (handle, vehicle) = insert_chassis(world.bodies, world.colliders, self.axes, scene, start);
        let slot = new_slot(self.axes, handle, &vehicle);
        let car = self.cars.insert(vehicle);
        match self.slots.get_mut(car.slot()) {
            Some(old_slot) => {
                let old_slot_data = core::mem::replace(old_slot, slot);
                world.remove_body(old_slot_data.handle);
                self.clear_hitches_of(car.slot());
            }
            None => self.slots.push(slot),
        }
        // The new collider is in no broad phase yet.
        self.is_unstepped = true;
        car
    }

    /// Creates cars from vehicles whose bodies are already in the world and in its broad phase, as in a world that was
    /// saved and read back. Each body must have the mass properties that [`RapierCars::with_axes`] sets, and the pose
    /// of its state. All slots are active, and the wind is zero.
    ///
    /// Vehicles that tow each other get new joints in the next [`RapierCars::before_step`]. Remove their hitch joints
    /// of a saved world before.
    ///
    /// On fixed ground, awake cars continue bit-identically, and sleeping cars are woken. `RapierCars::from_saved`,
    /// with the feature `serde`, always continues bit-identically.
    pub fn from_bodies(axes: WorldAxes, cars: Vec<(RigidBodyHandle, Vehicle)>) -> Self {
        let slots = cars.iter().map(|(handle, vehicle)| new_slot(axes, *handle, vehicle)).collect();
        let vehicles = cars.into_iter().map(|(_, vehicle)| vehicle).collect();
        Self {
            cars: Cars::new(vehicles, &Sweep),
            axes,
            slots,
            loaded_bodies: Vec::new(),
            last_loaded_bodies: Vec::new(),
            supported_bodies: Vec::new(),
            wheel_triangles: WheelTriangles::default(),
            rim_walls: RimWalls::default(),
            coasting_controls: Controls::coasting(),
            is_unstepped: false,
            is_step_in_progress: false,
            report_before_step: StepReport::default(),
            wind: Vec3::ZERO,
        }
    }

    /// Sets the velocity of the air from the next step on, in world axes, m/s.
    pub fn set_wind(&mut self, velocity: Vector) {
        self.wind = self.axes.from_world(velocity);
    }

    /// Returns the vehicles, in order of their slots.
    pub fn vehicles(&self) -> &[Vehicle] {
        self.cars.vehicles()
    }

    /// Returns vehicle `car` after its last step.
    ///
    /// # Panics
    /// There is no slot of this number; [`RapierCars::slots`] lists the slots.
    pub fn car(&self, car: usize) -> CarView<'_> {
        self.cars.car(car)
    }

    /// Returns the chassis of vehicle `car`.
    ///
    /// # Panics
    /// There is no slot of this number; [`RapierCars::slots`] lists the slots.
    pub fn handle(&self, car: usize) -> RigidBodyHandle {
        self.slots[car].handle
    }

    /// Returns the slots: their content and the identifiers of their cars.
    pub fn slots(&self) -> &Slots {
        self.cars.slots()
    }

    /// Sets the state of the active vehicle in `slot`, moves its body to that pose and motion, and enables and wakes
    /// the body. The 64-bit track of the position restarts there.
    ///
    /// # Errors
    /// The slot does not exist, is empty or holds a suspended vehicle, or `state` has another number of wheels. Nothing
    /// is changed then.
    pub fn set_state<'a>(
        &mut self,
        world: impl Into<RapierWorldMut<'a>>,
        slot: usize,
        state: &State,
    ) -> Result<(), CarError> {
        self.cars.set_state(slot, state)?;
        self.move_body(world.into(), slot, state);
        Ok(())
    }

    /// Resumes the suspended vehicle in `slot` with `state`, moves its body there, enables it and wakes it. For an
    /// active vehicle this is [`RapierCars::set_state`].
    ///
    /// # Errors
    /// The slot does not exist or is empty, or `state` has another number of wheels. Nothing is changed then.
    pub fn resume<'a>(
        &mut self,
        world: impl Into<RapierWorldMut<'a>>,
        slot: usize,
        state: &State,
    ) -> Result<(), CarError> {
        self.cars.resume(slot, state)?;
        self.move_body(world.into(), slot, state);
        Ok(())
    }

    /// Moves the body of the vehicle in `slot` to `state`, enables it and wakes it. Restarts the 64-bit track of its
    /// position there. A missing body is ignored.
    fn move_body(&mut self, world: RapierWorldMut<'_>, slot: usize, state: &State) {
        self.slots[slot].position_tracker = PositionTracker::new(self.axes.point_to_world(state.position));
        if let Some(body) = world.bodies.get_mut(self.slots[slot].handle) {
            set_body_state(body, self.axes, state);
        }
    }

    /// Returns the position that Rapier has for the body of vehicle `car`, in the axes of the cars, m; `None` if it is
    /// the rounded 64-bit position. Implements [`skidpad_core::Simulation::engine_position`].
    pub(crate) fn engine_position(&self, car: usize) -> Option<Vec3> {
        self.slots[car].position_tracker.rounded_engine_position().map(|position| self.axes.from_world(position))
    }

    /// Sets the position that Rapier has for the body of vehicle `car` to `engine_position` (axes of the cars, m), as
    /// [`RapierCars::engine_position`] returned it, and wakes the body. The 64-bit position is that of the state; its
    /// tracker restarts with both positions. A missing body is ignored. Implements
    /// [`skidpad_core::Simulation::set_engine_position`].
    pub(crate) fn set_engine_position<'a>(
        &mut self,
        world: impl Into<RapierWorldMut<'a>>,
        car: usize,
        engine_position: Vec3,
    ) {
        let rounded_position = self.axes.to_world(engine_position);
        let exact_position = self.axes.point_to_world(self.cars.car(car).state.position);
        self.slots[car].position_tracker = PositionTracker::with_engine_position(exact_position, rounded_position);
        if let Some(body) = world.into().bodies.get_mut(self.slots[car].handle) {
            // `true`: wakes the body.
            body.set_translation(rounded_position, true);
        }
    }

    /// Suspends the vehicle in `slot` and disables its body, until [`RapierCars::resume`].
    ///
    /// # Errors
    /// The slot does not exist or is empty.
    pub fn suspend<'a>(&mut self, world: impl Into<RapierWorldMut<'a>>, slot: usize) -> Result<(), CarError> {
        let was_active = self.slots().is_active(slot);
        self.cars.suspend(slot)?;
        self.disable_body(world.into(), slot, was_active);
        Ok(())
    }

    /// Removes `car` for good and disables its body. The body stays in the world until the slot is reused.
    ///
    /// # Errors
    /// The slot does not exist, or the car was removed before.
    pub fn remove<'a>(&mut self, world: impl Into<RapierWorldMut<'a>>, car: CarId) -> Result<(), CarError> {
        let was_active = self.slots().is_active(car.slot());
        let slot = self.cars.remove(car)?;
        self.disable_body(world.into(), slot, was_active);
        Ok(())
    }

    /// Disables the body of the vehicle in `slot` and clears `is_suspended_with_body`, so that the vehicle does not
    /// resume with its body. First restores the user's forces on the body if the step in progress has pushed it: the
    /// vehicle `was_active` before and was awake at the start of that step. A missing body is ignored.
    fn disable_body(&mut self, world: RapierWorldMut<'_>, slot: usize, was_active: bool) {
        let slot = &mut self.slots[slot];
        slot.is_suspended_with_body = false;
        // Whether `apply_impulses` has set forces on the body in this step.
        let is_pushed = self.is_step_in_progress && was_active && !slot.sleep.asleep;
        if let Some(body) = world.bodies.get_mut(slot.handle) {
            if is_pushed {
                restore_user_forces(body, slot.user_forces);
            }
            body.set_enabled(false);
        }
    }

    /// Suspends active cars whose bodies the user removed or disabled, and sets `is_suspended_with_body`. Resumes cars
    /// with this flag, in their old state, when their bodies are enabled again. Clears the flag of every car with an
    /// enabled body. Cars suspended by other calls stay suspended.
    fn follow_body_enablement(&mut self, bodies: &RigidBodySet) {
        for (car, slot) in self.slots.iter_mut().enumerate() {
            let has_enabled_body = bodies.get(slot.handle).is_some_and(RigidBody::is_enabled);
            if !has_enabled_body && self.cars.slots().is_active(car) {
                slot.is_suspended_with_body = self.cars.suspend(car).is_ok();
            } else if has_enabled_body
                && std::mem::take(&mut slot.is_suspended_with_body)
                && !self.cars.slots().is_active(car)
            {
                let state = self.cars.vehicles()[car].state().clone();
                // Fails for a car that was removed in the meantime, which must not return.
                let _ = self.cars.resume(car, &state);
            }
        }
    }

    /// Stores how body `handle` moved in the last step, whether or not wheels stood on the body. `motion` is `[centre
    /// of mass, velocity, angular velocity]` in world axes (m, m/s, rad/s). Replaces the entry of the body in
    /// `loaded_bodies`. Must be called before [`RapierCars::before_step`], which makes this list that of the last step.
    pub(crate) fn set_last_motion(&mut self, handle: RigidBodyHandle, motion: [Vec3; 3]) {
        self.loaded_bodies.retain(|loaded_body| loaded_body.handle != handle);
        self.loaded_bodies.push(WheelLoadedBody::from_motion(handle, motion));
    }

    /// Probes the world, solves the rows (equations of tyres, suspension and drivetrain), and applies the forces of the
    /// coming step to the bodies. `controls[i]` drives car `i`; cars without controls coast.
    ///
    /// Wheels can stand on every collider that the first collider of their chassis may collide with by its collision
    /// groups, except sensors and the car's own colliders. All these surfaces have grip 1. A car whose body was removed
    /// from the world or disabled is suspended until the body is enabled again. If the last step was not finished, it
    /// is finished first and [`ApiMisuse::MissingAfterStep`] is reported.
    pub fn before_step<'a>(&mut self, world: impl Into<RapierWorldMut<'a>>, controls: &[Controls]) -> StepReport {
        self.before_step_with_surfaces(world, controls, SurfaceProperties::default())
    }

    /// Performs the first half of a step as [`RapierCars::before_step`] does, with ground of the user: wheels stand
    /// only on colliders that also pass the filter of `ground`, with its grip, texture and smoothness.
    ///
    /// First checks for misuse and finishes an unfinished step. Then makes the list of bodies under wheels that of the
    /// last step, and empties the list of this step. Suspends and resumes cars with their bodies, and updates hitch
    /// joints and sleep. Solves and applies the rows (equations), and locks the joints of closed hitches. Returns the
    /// worst of all reports. For a step of length zero nothing changes.
    pub fn before_step_with_surfaces<'a>(
        &mut self,
        world: impl Into<RapierWorldMut<'a>>,
        controls: &[Controls],
        ground: impl Into<SurfaceProperties<'a>>,
    ) -> StepReport {
        let ground = ground.into();
        let mut world = world.into();
        let dt = world.parameters.dt;
        if let Some(skipped_report) = StepReport::for_skipped_step(dt) {
            return skipped_report;
        }
        let mut report = StepReport { misuse: self.find_misuse(&world), ..StepReport::default() };
        if self.is_step_in_progress {
            report.misuse = Some(ApiMisuse::MissingAfterStep);
            report = report.merge_worst(self.after_step(world.reborrow()));
        }
        self.is_step_in_progress = true;
        // The list of the last step stays readable as `last_loaded_bodies`.
        std::mem::swap(&mut self.loaded_bodies, &mut self.last_loaded_bodies);
        self.loaded_bodies.clear();
        self.follow_body_enablement(world.bodies);
        self.update_hitch_joints(world.joints);
        self.update_sleep(world.bodies, world.colliders, controls);
        let mut port = Port {
            world,
            axes: self.axes,
            slots: &mut self.slots,
            loaded_bodies: &mut self.loaded_bodies,
            last_loaded_bodies: &self.last_loaded_bodies,
            supported_bodies: &mut self.supported_bodies,
            wheel_triangles: &mut self.wheel_triangles,
            rim_walls: &mut self.rim_walls,
            is_unstepped: self.is_unstepped,
            wind: self.wind,
            has_loaded_bodies: false,
            surfaces: ground,
        };
        let report = report.merge_worst(self.cars.begin_step(&mut port, controls, dt));
        hitches::lock_closed_hitches(port.world.joints, &self.cars, port.slots, dt);
        self.report_before_step = report;
        report
    }

    /// Answers probes between steps as for the wheels of these cars on `ground`, into `contacts`, in order. A miss is
    /// `None`, and so is a probe of a car that does not exist. Points and normals are in the axes of the cars.
    /// Consecutive probes of one car are answered together, from the colliders near all of them. Neither cars nor world
    /// change: slots are copied, and buffers are new.
    pub fn probe<'a>(
        &self,
        world: impl Into<RapierWorldMut<'a>>,
        probes: &[Probe],
        contacts: &mut [Option<Contact>],
        ground: impl Into<SurfaceProperties<'a>>,
    ) {
        contacts.fill(None);
        let loaded_bodies = &mut Vec::new();
        let (wheel_triangles, rim_walls) = (&mut WheelTriangles::default(), &mut RimWalls::default());
        // `Port::probe` stores ground in the slots. Copies keep that of the cars, which decides whether they sleep.
        let slots = &mut self.slots.clone();
        let (axes, wind, is_unstepped) = (self.axes, self.wind, self.is_unstepped);
        let (world, ground, last_loaded_bodies) = (world.into(), ground.into(), &self.last_loaded_bodies);
        let supported_bodies = &mut Vec::new();
        let mut port = Port {
            world,
            axes,
            slots,
            loaded_bodies,
            last_loaded_bodies,
            // Buffers of this call; the lists of the current step must not change.
            supported_bodies,
            wheel_triangles,
            rim_walls,
            is_unstepped,
            wind,
            has_loaded_bodies: false,
            surfaces: ground,
        };
        // Number of contacts before those of the current car.
        let mut contact_offset = 0;
        for car_probes in probes.chunk_by(|previous, next| previous.car == next.car) {
            let remaining_contacts = &mut contacts[contact_offset..];
            if car_probes[0].car < self.slots.len() {
                port.probe(car_probes, &mut remaining_contacts[..car_probes.len()]);
            }
            contact_offset += car_probes.len();
        }
    }

    /// Returns the first misuse of the world, or `None`. [`ApiMisuse::AxesMismatch`] comes first: less than half of
    /// gravity points down in the axes of the cars; zero gravity is allowed. Then comes [`ApiMisuse::MassMismatch`]:
    /// the mass of a chassis differs from its model by more than [`MASS_TOLERANCE_RATIO`], also of a suspended car.
    /// Missing bodies are ignored.
    fn find_misuse(&self, world: &RapierWorldMut<'_>) -> Option<ApiMisuse> {
        let up = self.axes.to_world(Vec3::Z);
        if world.gravity.dot(up) > -MIN_DOWNWARD_GRAVITY_SHARE * world.gravity.length() && world.gravity != Vector::ZERO
        {
            return Some(ApiMisuse::AxesMismatch);
        }
        // Whether the body has another mass than the model.
        let has_other_mass = |(slot, vehicle): (&CarSlot, &Vehicle)| {
            let (mass, body_mass) = (vehicle.model().mass(), world.bodies.get(slot.handle).map(RigidBody::mass));
            body_mass.is_some_and(|body_mass| (body_mass - mass).abs() > MASS_TOLERANCE_RATIO * mass)
        };
        self.slots.iter().zip(self.cars.vehicles()).any(has_other_mass).then_some(ApiMisuse::MassMismatch)
    }

    /// Ends a step after Rapier has stepped the world: restores the users' forces on ground bodies and chassis, updates
    /// the 64-bit positions and writes the resulting motion to the states. Marks the world as stepped. A body whose
    /// position was rounded differently is moved to the rounded 64-bit position. A car that was woken within the step
    /// gets its last push before sleep. Cars that sleep, are suspended or have no body do not change.
    ///
    /// Returns the worst report of the whole step, with that of [`RapierCars::before_step`]. A call without
    /// [`RapierCars::before_step`] only reports [`ApiMisuse::MissingBeforeStep`]; a step of length zero does nothing.
    pub fn after_step<'a>(&mut self, world: impl Into<RapierWorldMut<'a>>) -> StepReport {
        let world = world.into();
        let dt = world.parameters.dt;
        if let Some(skipped_report) = StepReport::for_skipped_step(dt) {
            return skipped_report;
        }
        if !std::mem::take(&mut self.is_step_in_progress) {
            return StepReport { misuse: Some(ApiMisuse::MissingBeforeStep), ..StepReport::default() };
        }
        // Time by which Rapier's poses lag its velocities, s.
        let pose_lag = pose_lag(world.parameters);
        self.is_unstepped = false;
        // Ground bodies come first, since some of them may be chassis of other cars.
        for loaded_body in &self.loaded_bodies {
            if let Some(body) = world.bodies.get_mut(loaded_body.handle) {
                restore_user_forces(body, loaded_body.user_forces);
            }
        }
        for (car, (slot, vehicle)) in self.slots.iter_mut().zip(self.cars.vehicles()).enumerate() {
            if !self.cars.slots().is_active(car) {
                continue;
            }
            // Was asleep at the start of the step and still is.
            if slot.sleep.asleep && world.bodies.get(slot.handle).is_none_or(RigidBody::is_sleeping) {
                continue;
            }
            let Some(body) = world.bodies.get_mut(slot.handle) else { continue };
            if slot.sleep.asleep {
                // The pose moves with a change of velocity for the step less the pose lag.
                slot.apply_last_push(body, self.axes, vehicle, dt - pose_lag);
            } else {
                restore_user_forces(body, slot.user_forces);
            }
            // The state still has the motion before the step.
            let old_velocity = self.axes.to_world(vehicle.state().velocity);
            if let Some(position) =
                slot.position_tracker.update(body.translation(), [old_velocity, body.linvel()], dt, pose_lag)
            {
                // `false`: does not wake the body.
                body.set_translation(position, false);
            }
        }
        let port = Port {
            world,
            axes: self.axes,
            slots: &mut self.slots,
            loaded_bodies: &mut self.loaded_bodies,
            last_loaded_bodies: &self.last_loaded_bodies,
            supported_bodies: &mut self.supported_bodies,
            wheel_triangles: &mut self.wheel_triangles,
            rim_walls: &mut self.rim_walls,
            is_unstepped: self.is_unstepped,
            wind: self.wind,
            has_loaded_bodies: false,
            surfaces: SurfaceProperties::default(),
        };
        self.report_before_step.merge_worst(self.cars.write_back(&port, dt))
    }

    /// Wakes bodies of cars that must not sleep. A body is woken if the controls of its car changed (cars without
    /// `controls` coast). An awake body is also woken if its car is not at rest or is on movable ground; a sleeping
    /// body, if its ground moved. Waking an awake body restarts the time after which Rapier puts it to sleep.
    ///
    /// Also stores the controls, the engine speed and steering of awake cars, and the collision groups of the first
    /// collider of each chassis. Skips suspended cars and missing bodies. Never puts a body to sleep: Rapier does.
    fn update_sleep(&mut self, bodies: &mut RigidBodySet, colliders: &ColliderSet, controls: &[Controls]) {
        for (car, (slot, vehicle)) in self.slots.iter_mut().zip(self.cars.vehicles()).enumerate() {
            if !self.cars.slots().is_active(car) {
                continue;
            }
            let has_new_controls = slot.sleep.update_controls(controls.get(car).unwrap_or(&self.coasting_controls));
            let Some(body) = bodies.get(slot.handle) else { continue };
            let is_asleep = body.is_sleeping();
            let first_collider = body.colliders().first().and_then(|handle| colliders.get(*handle));
            slot.collision_groups = first_collider.map(Collider::collision_groups);
            let can_sleep = if is_asleep {
                !has_ground_moved(&slot.ground_contacts, bodies, colliders, slot.collision_groups)
            } else {
                slot.sleep.is_at_rest(vehicle) && !is_on_movable(&slot.ground_contacts, bodies, colliders)
            };
            if (has_new_controls || !can_sleep)
                && let Some(body) = bodies.get_mut(slot.handle)
            {
                // `true`: keeps the body awake for several steps.
                body.wake_up(true);
            }
        }
    }
}

/// Inserts the chassis of a car into the world at its start on the ground of `scene`. Returns its handle, and the
/// vehicle in its start state.
fn insert_chassis(
    bodies: &mut RigidBodySet,
    colliders: &mut ColliderSet,
    axes: WorldAxes,
    scene: &Scene,
    start: &CarStart,
) -> (RigidBodyHandle, Vehicle) {
    let state = State::at_rest(&start.model, scene, &start.placement);
    let handle = chassis::insert(bodies, colliders, axes, &start.model, &state);
    (handle, Vehicle::new(start.model.clone(), state))
}

/// Creates the data of a car with the chassis `handle`, awake, without user forces, ground and hitches. The track of
/// the 64-bit position begins at the state of `vehicle`. Reserves memory for one ground contact per wheel.
fn new_slot(axes: WorldAxes, handle: RigidBodyHandle, vehicle: &Vehicle) -> CarSlot {
    CarSlot {
        handle,
        is_suspended_with_body: false,
        user_forces: (Vector::ZERO, Vector::ZERO),
        position_tracker: PositionTracker::new(axes.point_to_world(vehicle.state().position)),
        sleep: SleepState::default(),
        collision_groups: None,
        ground_contacts: Vec::with_capacity(vehicle.model().wheels().len()),
        near_colliders: Vec::new(),
        tow_joint: None,
        hitched_bodies: Vec::new(),
    }
}

/// Replaces force (N) and torque (N m) on `body` by those of the user, without waking it (`false`).
fn restore_user_forces(body: &mut RigidBody, (force, torque): (Vector, Vector)) {
    body.reset_forces(false);
    body.reset_torques(false);
    body.add_force(force, false);
    body.add_torque(torque, false);
}
