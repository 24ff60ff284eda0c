//! Stages of a step that differ between one car and a batch of cars. Code common to both is generic over these traits.

use crate::controls::Controls;
use crate::port::{ChassisState, Contact, HullPoint};
use crate::step::row_solver::RowSolver;
use crate::step::step_wheels::{CarScalar, CarTwist, StepWheels, Velocities};
use crate::step_report::StepReport;
use crate::suspension::rows::LoadSolution;
use crate::vehicle::Vehicle;
use skidpad_simd::vectors::Vec3Lanes;
use skidpad_simd::wheel_groups::WheelGroups;

/// Inputs of a step; see [`crate::Vehicle::solve`].
#[derive(Clone, Copy)]
pub(crate) struct StepInputs<'a> {
    /// Chassis at the start of the step.
    pub body: &'a ChassisState,
    /// Contact of each wheel in the middle of the step; `None` without ground.
    pub contacts: &'a [Option<Contact>],
    /// Contact points of the bodywork.
    pub hull: &'a [HullPoint],
    /// Inputs of the driver.
    pub controls: &'a Controls,
    /// Solver of the rows.
    pub solver: &'a dyn RowSolver,
    /// Factor on the tolerance of the solver; see [`crate::coupling::CarRows::tolerance_factor`].
    pub tolerance_factor: f32,
    /// Length of the step (s), > 0.
    pub dt: f32,
}

impl StepInputs<'_> {
    /// Returns true if the unsprung masses of `vehicle` move relative to the chassis in this step: the vehicle has
    /// these masses and the solver supports them.
    #[inline(always)]
    pub(crate) fn moves_unsprung_masses(&self, vehicle: &Vehicle) -> bool {
        self.solver.moves_unsprung_masses() && vehicle.has_unsprung_masses()
    }
}

/// Inputs of the step of a batch, car by car. Contacts are ordered car by car, wheel by wheel.
#[cfg_attr(not(feature = "simd_batch"), expect(dead_code, reason = "only batches use these inputs"))]
#[derive(Clone, Copy)]
pub(crate) struct BatchInputs<'a> {
    /// Chassis of each car at the start of the step.
    pub bodies: &'a [ChassisState],
    /// Contact of each wheel of each car in the middle of the step; `None` without ground.
    pub contacts: &'a [Option<Contact>],
    /// Inputs of each driver.
    pub controls: &'a [&'a Controls],
    /// Solver of the rows, with a pass over batches.
    pub solver: &'a dyn RowSolver,
    /// Length of the step (s), > 0.
    pub dt: f32,
}

/// Step of a car or of a batch of cars: the stages that differ between both.
pub(crate) trait Stages<B: WheelGroups> {
    /// Wheels of the car, or of all cars of the batch.
    type Wheels: StepWheels<B>;

    /// Returns the wheels.
    fn wheels(&mut self) -> &mut Self::Wheels;

    /// Applies the driver's demand to steering, engine, gears and brakes, and stores the start states of the wheels.
    fn apply_driver_demand(&mut self);

    /// Sets the contacts of the wheels at the start of the step, the directions of their rows, and the tyre impulses of
    /// the last step as initial values. Moves wheels without contact to their equilibrium in droop.
    fn locate_contacts(&mut self);

    /// Returns the impulses on the chassis that do not come from its wheels, such as those of the air (N s, N m s,
    /// vehicle frame). `tyre_response` is the change of the chassis velocity by the tyres (m/s).
    fn external_impulses(&mut self, tyre_response: Vec3Lanes<CarScalar<B, Self::Wheels>>) -> CarTwist<B, Self::Wheels>;

    /// Returns the chassis velocity at the end of the step without any impulse of the car, vehicle frame.
    fn free_velocity(&self) -> CarTwist<B, Self::Wheels>;

    /// Adapts the wheels to the chassis motion with the velocities `v_free` and `v_warm`: wheels that touch down within
    /// the step, and wheels that rims or links guide. Returns `v_warm` with the adapted tyre rows. The default adapts
    /// nothing.
    #[inline(always)]
    fn adapt_wheels(
        &mut self,
        _v_free: CarTwist<B, Self::Wheels>,
        v_warm: CarTwist<B, Self::Wheels>,
    ) -> CarTwist<B, Self::Wheels> {
        v_warm
    }

    /// Computes the rows of struts and axle links.
    fn build_strut_rows(&mut self);

    /// Solves the loads. `v_free` is the velocity without wheels, `v_warm` that with the last step's tyre impulses.
    fn solve_loads(
        &mut self,
        v_free: CarTwist<B, Self::Wheels>,
        v_warm: CarTwist<B, Self::Wheels>,
    ) -> LoadSolution<CarScalar<B, Self::Wheels>>;

    /// Computes the tyre rows at the velocity `v_loaded`, which includes the loads.
    fn build_tyre_rows(&mut self, v_loaded: CarTwist<B, Self::Wheels>);

    /// Applies the assists to brake and drive torques, with the chassis velocity `v_loaded`.
    fn apply_assists(&mut self, v_loaded: CarTwist<B, Self::Wheels>);

    /// Solves the rows of shafts and tyres (and hull) together, stores impulses and spins in the rows, and returns the
    /// report of the step.
    fn solve_coupled_rows(&mut self, velocities: &Velocities<CarScalar<B, Self::Wheels>>) -> StepReport;

    /// Writes the impulses on each body in world axes: the sum of `external_impulse`, of links that bypass the struts,
    /// and of the wheels with their loads.
    fn write_impulses(&mut self, external_impulse: CarTwist<B, Self::Wheels>);
}
