//! Stages of a step of one car that differ from those of a batch.

use crate::assists::DriverDemand;
use crate::model::Model;
use crate::model::wheel_pack::WheelPack;
use crate::port::ChassisImpulse;
use crate::simd::lane::F32x4;
use crate::simd::linear::{OuterProducts, SpatialVector, Symmetric6};
use crate::simd::vectors::Vec3Lanes;
use crate::simd::wheel_groups::WheelGroups;
use crate::solver_mode::StepReport;
use crate::step::loads::{MAX_LOAD_SOLVES, SOLVES_BEFORE_CUTS};
use crate::step::newton::NewtonStep;
use crate::step::stages::{Stages, StepInputs, StepWheels, Velocities};
use crate::suspension::rows::LoadSolution;
use crate::vehicle::rows::WheelRows;
use crate::vehicle::{Vehicle, banks_with_rows};

impl<B: WheelGroups> StepWheels<B> for Vehicle {
    type Lanes = F32x4;

    const MAX_LOAD_SOLVES: usize = MAX_LOAD_SOLVES;

    #[inline(always)]
    fn model(&self) -> &Model {
        &self.model
    }

    #[inline(always)]
    fn packs(&mut self) -> impl Iterator<Item = (&WheelPack, &mut WheelRows)> {
        banks_with_rows::<B>(&self.model, &mut self.rows)
    }

    #[inline(always)]
    fn rows(&self) -> &[WheelRows] {
        B::slice(&self.rows)
    }

    #[inline(always)]
    fn load_axle_links(&mut self) {
        self.update_link_impulses::<B>();
    }

    #[inline(always)]
    fn external_link_impulse(&self) -> SpatialVector<f32> {
        self.external_bar_impulse
    }

    #[inline(always)]
    fn add_axle_links(&self, products: &mut OuterProducts, warm: SpatialVector<f32>) -> SpatialVector<f32> {
        self.add_axle_links::<B>(products, warm)
    }

    /// Cuts steps that overshoot, from load solve number [`SOLVES_BEFORE_CUTS`] on; before it returns `None`.
    #[inline(always)]
    fn shortened_step(
        &self,
        solve: usize,
        last: &mut Option<NewtonStep>,
        way: [SpatialVector<f32>; 3],
        system: &Symmetric6,
    ) -> Option<SpatialVector<f32>> {
        if solve < SOLVES_BEFORE_CUTS { None } else { self.cut_long_step(last, way, system) }
    }

    #[inline(always)]
    fn has_tilted_rows(&self) -> bool {
        self.model.has_tilted_rows()
    }

    #[inline(always)]
    fn solve_shafts(&mut self) {
        self.solve_shafts::<B>();
    }
}

/// Step of one car.
pub(crate) struct OneCar<'a> {
    /// Car to be stepped.
    pub vehicle: &'a mut Vehicle,
    /// Result: impulses on the body, world axes.
    pub push: &'a mut ChassisImpulse,
    /// Inputs of the step.
    pub inputs: &'a StepInputs<'a>,
    /// Demand of the driver with the changes by assists; `None` before it is applied.
    pub driver_demand: Option<DriverDemand>,
    /// Whether every wheel is in contact.
    pub all_in_contact: bool,
    /// Whether the results of the step are finite.
    pub is_finite: bool,
}

impl<'a> OneCar<'a> {
    /// Creates the step of `vehicle`, which will write its impulses into `push`.
    #[inline(always)]
    pub fn new(vehicle: &'a mut Vehicle, push: &'a mut ChassisImpulse, inputs: &'a StepInputs<'a>) -> Self {
        Self { vehicle, push, inputs, driver_demand: None, all_in_contact: true, is_finite: true }
    }
}

impl<B: WheelGroups> Stages<B> for OneCar<'_> {
    type Wheels = Vehicle;

    #[inline(always)]
    fn wheels(&mut self) -> &mut Vehicle {
        self.vehicle
    }

    /// Applies the controls, unless the vehicle has a demand that was already applied to steering and drivetrain.
    /// Stores the demand for the assists.
    #[inline(always)]
    fn apply_driver_demand(&mut self) {
        let StepInputs { body, controls, dt, .. } = *self.inputs;
        self.driver_demand = Some(match self.vehicle.applied_demand.take() {
            Some(asked) => asked,
            None => self.vehicle.apply_controls::<B>(body, controls, dt),
        });
    }

    /// Sets contacts, row directions and initial impulses of all wheels. Stores whether every wheel is in contact.
    #[inline(always)]
    fn locate_contacts(&mut self) {
        let StepInputs { body, contacts, solver_mode: coupling, dt, .. } = *self.inputs;
        let unsprung = self.vehicle.uses_unsprung(coupling);
        let to_world = self.vehicle.to_world;
        self.all_in_contact = self.vehicle.update_contacts::<B>(body, &to_world, contacts, unsprung, dt);
    }

    #[inline(always)]
    fn external_impulses(&mut self, by_tyres: Vec3Lanes<f32>) -> SpatialVector<f32> {
        let StepInputs { body, controls, dt, .. } = *self.inputs;
        let to_world = self.vehicle.to_world;
        self.vehicle.external_impulses(body, &to_world, by_tyres, controls, dt)
    }

    #[inline(always)]
    fn free_velocity(&self) -> SpatialVector<f32> {
        self.vehicle.free_velocity_in_body(self.inputs.body, &self.vehicle.to_world)
    }

    /// Adapts the wheels to the velocities `free` and `warm`. With unsprung masses only initialises their motion.
    /// Otherwise tilts the tyre rows of rims and links, detects touchdowns if a wheel is off the ground, and limits the
    /// forces between beam axles and body. Returns `warm` with the adapted rows.
    #[inline(always)]
    fn adapt_wheels(&mut self, [free, mut warm]: [SpatialVector<f32>; 2]) -> SpatialVector<f32> {
        let (vehicle, &StepInputs { body, solver_mode: coupling, dt, .. }) = (&mut *self.vehicle, self.inputs);
        if vehicle.uses_unsprung(coupling) {
            vehicle.init_unsprung(body.pose_lag);
            return warm;
        }
        if vehicle.model.has_tilted_rows() {
            warm = vehicle.tilt_tyre_rows(body, free, warm);
        }
        if !self.all_in_contact {
            vehicle.detect_touchdowns(body, [free, warm], dt);
        }
        vehicle.limit_beam_transfer(body, [free, warm], dt)
    }

    #[inline(always)]
    fn build_strut_rows(&mut self) {
        self.vehicle.init_struts_and_links::<B>(self.inputs.dt);
    }

    /// Solves the loads and updates the share of each load that acts on the ground (jacking forces of roll-centre
    /// links).
    #[inline(always)]
    fn solve_loads(&mut self, [free, warm]: [SpatialVector<f32>; 2]) -> LoadSolution {
        let loaded = self.vehicle.solve_any_loads::<B>(free, warm, self.inputs.dt);
        self.vehicle.apply_jacking();
        loaded
    }

    /// Linearises the tyres at the velocity `loaded`, and adds lateral axle compliance.
    #[inline(always)]
    fn build_tyre_rows(&mut self, loaded: SpatialVector<f32>) {
        self.vehicle.linearise_tyres::<B>(loaded, self.inputs.dt);
        self.vehicle.apply_lateral_compliance();
    }

    /// Limits or adds brake torques by assists, with the chassis velocity `loaded` as prediction.
    #[inline(always)]
    fn apply_assists(&mut self, loaded: SpatialVector<f32>) {
        if let Some(asked) = &self.driver_demand {
            self.vehicle.assist_brakes(asked, loaded, self.inputs.dt);
        }
    }

    /// Solves shafts, tyres and hull, updates the jacking forces, and logs the assists.
    #[inline(always)]
    fn solve_coupled_rows(&mut self, velocities: &Velocities) -> StepReport {
        let StepInputs { solver_mode: coupling, hull, dt, .. } = *self.inputs;
        let report = self.vehicle.solve_coupled_rows::<B>(coupling, velocities, hull, dt);
        self.vehicle.apply_jacking();
        self.vehicle.record_assists(dt);
        report
    }

    /// Sums the impulses of external forces, bars and wheels (loads included) into `push`, world axes. The impulses of
    /// the hull are separate fields. Sets `is_finite` to false if an impulse or a spin is not finite.
    #[inline(always)]
    fn write_impulses(&mut self, external: SpatialVector<f32>) {
        let (vehicle, to_world) = (&*self.vehicle, self.vehicle.to_world);
        let given = external + vehicle.external_bar_impulse + vehicle.wheel_impulses::<B>(true);
        let (linear, angular) = given.parts();
        let mut push = ChassisImpulse {
            impulse: to_world * linear,
            angular_impulse: to_world * angular,
            ..ChassisImpulse::default()
        };
        if !vehicle.hull.is_empty() {
            let (stop, turn_stop) = vehicle.hull.impulse().parts();
            (push.hull_impulse, push.hull_angular_impulse) = (to_world * stop, to_world * turn_stop);
        }
        // This sum is finite only if every term is.
        let all = push.impulse + push.angular_impulse + push.hull_impulse + push.hull_angular_impulse;
        let spins: f32 = B::slice(&vehicle.rows).iter().map(|rows| rows.solution.spin.sum()).sum();
        self.is_finite = (all.x + all.y + all.z + spins).is_finite();
        *self.push = push;
    }
}
