//! Stages of a step of one car that differ from those of a batch.

use crate::assists::DriverDemand;
use crate::port::ChassisImpulse;
use crate::step::car_rows::CarRows;
use crate::step::stages::{Stages, StepInputs};
use crate::step::step_wheels::Velocities;
use crate::step_report::StepReport;
use crate::suspension::rows::LoadSolution;
use crate::vehicle::Vehicle;
use skidpad_simd::linear::SpatialVector;
use skidpad_simd::vectors::Vec3Lanes;
use skidpad_simd::wheel_groups::WheelGroups;

/// Step of one car.
pub(crate) struct OneCar<'a> {
    /// Car to be stepped, with its rows.
    pub rows: CarRows<'a>,
    /// Result: impulses on the body, world axes.
    pub chassis_impulse: &'a mut ChassisImpulse,
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
    /// Creates the step of `vehicle`, which will write its impulses into `chassis_impulse`.
    #[inline(always)]
    pub fn new(vehicle: &'a mut Vehicle, chassis_impulse: &'a mut ChassisImpulse, inputs: &'a StepInputs<'a>) -> Self {
        let rows = CarRows::new(vehicle, inputs.dt, inputs.tolerance_factor);
        Self { rows, chassis_impulse, inputs, driver_demand: None, all_in_contact: true, is_finite: true }
    }
}

impl<'a, B: WheelGroups> Stages<B> for OneCar<'a> {
    type Wheels = CarRows<'a>;

    #[inline(always)]
    fn wheels(&mut self) -> &mut CarRows<'a> {
        &mut self.rows
    }

    /// Applies the controls, unless the vehicle has a demand that was already applied to steering and drivetrain.
    /// Stores the demand for the assists.
    #[inline(always)]
    fn apply_driver_demand(&mut self) {
        let StepInputs { body, controls, dt, .. } = *self.inputs;
        self.driver_demand = Some(match self.rows.vehicle.applied_demand.take() {
            Some(demand) => demand,
            None => self.rows.vehicle.apply_controls::<B>(body, controls, dt),
        });
    }

    /// Sets contacts, row directions and initial impulses of all wheels. Stores whether every wheel is in contact.
    #[inline(always)]
    fn locate_contacts(&mut self) {
        let StepInputs { body, contacts, dt, .. } = *self.inputs;
        let uses_unsprung = self.inputs.moves_unsprung_masses(self.rows.vehicle);
        let to_world = self.rows.vehicle.to_world;
        self.all_in_contact = self.rows.vehicle.update_contacts::<B>(body, &to_world, contacts, uses_unsprung, dt);
    }

    /// Returns the impulses of the air, of force elements of the user and of angular drag (N s, N m s, vehicle frame).
    #[inline(always)]
    fn external_impulses(&mut self, tyre_response: Vec3Lanes<f32>) -> SpatialVector<f32> {
        let StepInputs { body, controls, dt, .. } = *self.inputs;
        let to_world = self.rows.vehicle.to_world;
        self.rows.vehicle.external_impulses(body, &to_world, tyre_response, controls, dt)
    }

    #[inline(always)]
    fn free_velocity(&self) -> SpatialVector<f32> {
        self.rows.vehicle.free_velocity_in_body(self.inputs.body, &self.rows.vehicle.to_world)
    }

    /// Adapts the wheels to the velocities `v_free` and `v_warm`. With unsprung masses, only initialises the motion of
    /// these masses and returns `v_warm`. Otherwise, in this order: tilts the tyre rows of rims and links, detects
    /// touchdowns if a wheel is off the ground, and limits the load transfer of solid axles with roll-centre links.
    /// Returns the velocity with the last step's tyre impulses along the adapted rows.
    #[inline(always)]
    fn adapt_wheels(&mut self, v_free: SpatialVector<f32>, mut v_warm: SpatialVector<f32>) -> SpatialVector<f32> {
        let (vehicle, &StepInputs { body, dt, .. }) = (&mut *self.rows.vehicle, self.inputs);
        if self.inputs.moves_unsprung_masses(vehicle) {
            vehicle.init_unsprung(body.pose_lag);
            return v_warm;
        }
        if vehicle.model.has_tilted_rows() {
            v_warm = vehicle.tilt_tyre_rows(body, v_free, v_warm);
        }
        if !self.all_in_contact {
            vehicle.detect_touchdowns(body, v_free, v_warm, dt);
        }
        vehicle.limit_beam_transfer(body, [v_free, v_warm], dt)
    }

    /// Initialises the strut rows, and computes the forces of the axle links on the struts. Where links would lift a
    /// wheel off the ground, their end is moved to the balance of spring and links.
    #[inline(always)]
    fn build_strut_rows(&mut self) {
        self.rows.vehicle.init_struts_and_links::<B>(self.inputs.dt);
    }

    /// Solves the loads. Then updates the share of each load that acts on the ground, which differs from 1 only with
    /// roll-centre links (jacking forces).
    #[inline(always)]
    fn solve_loads(&mut self, v_free: SpatialVector<f32>, v_warm: SpatialVector<f32>) -> LoadSolution {
        let load_solution = self.rows.vehicle.solve_any_loads::<B>(v_free, v_warm, self.inputs.dt);
        self.rows.vehicle.apply_jacking();
        load_solution
    }

    /// Linearises the tyres at the velocity `v_loaded`, and adds lateral axle compliance.
    #[inline(always)]
    fn build_tyre_rows(&mut self, v_loaded: SpatialVector<f32>) {
        self.rows.vehicle.linearise_tyres::<B>(v_loaded, self.inputs.dt);
        self.rows.vehicle.apply_lateral_compliance();
    }

    /// Limits or adds brake torques by assists, with the chassis velocity `v_loaded` as prediction.
    #[inline(always)]
    fn apply_assists(&mut self, v_loaded: SpatialVector<f32>) {
        if let Some(demand) = &self.driver_demand {
            self.rows.vehicle.assist_brakes(demand, v_loaded, self.inputs.dt);
        }
    }

    /// Replaces the hull points by those of this step if the solver has rows for them, otherwise by none. Calls the
    /// solver, updates the jacking forces with the solved tyre impulses, and logs the assists.
    #[inline(always)]
    fn solve_coupled_rows(&mut self, velocities: &Velocities) -> StepReport {
        let StepInputs { solver, hull, dt, .. } = *self.inputs;
        let vehicle = &mut *self.rows.vehicle;
        vehicle.hull.clear();
        if solver.solves_hull() {
            vehicle.hull.set_contacts(hull, &vehicle.to_world, vehicle.model.mass(), dt);
        }
        let report = solver.solve(&mut self.rows, velocities);
        self.rows.vehicle.apply_jacking();
        self.rows.vehicle.record_assists(dt);
        report
    }

    /// Sums the impulses of external forces, of anti-roll bars that bypass the struts (`external_bar_impulse`) and of
    /// the wheels, loads included, into `chassis_impulse`, world axes. The impulses of the hull are separate fields.
    /// Sets `is_finite` to false if an impulse or a spin is not finite.
    #[inline(always)]
    fn write_impulses(&mut self, external_impulse: SpatialVector<f32>) {
        let (vehicle, to_world) = (&*self.rows.vehicle, self.rows.vehicle.to_world);
        // true: loads included.
        let total_impulse = external_impulse + vehicle.external_bar_impulse + vehicle.wheel_impulses::<B>(true);
        let (linear, angular) = total_impulse.parts();
        let mut chassis_impulse = ChassisImpulse {
            impulse: to_world * linear,
            angular_impulse: to_world * angular,
            ..ChassisImpulse::default()
        };
        if !vehicle.hull.is_empty() {
            let (hull_linear, hull_angular) = vehicle.hull.impulse().parts();
            (chassis_impulse.hull_impulse, chassis_impulse.hull_angular_impulse) =
                (to_world * hull_linear, to_world * hull_angular);
        }
        // This sum is finite only if every term is.
        let impulse_sum = chassis_impulse.impulse
            + chassis_impulse.angular_impulse
            + chassis_impulse.hull_impulse
            + chassis_impulse.hull_angular_impulse;
        let spins: f32 = B::slice(&vehicle.rows).iter().map(|rows| rows.solution.spin.sum()).sum();
        self.is_finite = (impulse_sum.x + impulse_sum.y + impulse_sum.z + spins).is_finite();
        *self.chassis_impulse = chassis_impulse;
    }
}
