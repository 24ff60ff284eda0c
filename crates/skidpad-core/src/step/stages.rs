//! Stages of a step that differ between one car and a batch of cars. Code common to both is generic over these traits.

use crate::controls::Controls;
use crate::model::Model;
use crate::model::wheel_pack::WheelPack;
use crate::port::{ChassisState, Contact, HullPoint};
use crate::solver_mode::{SolverMode, StepReport};
use crate::step::newton::NewtonStep;
use crate::suspension::rows::LoadSolution;
use crate::vehicle::rows::WheelRows;
use skidpad_simd::lane::{Lane, WheelLanes};
use skidpad_simd::linear::{OuterProducts, SpatialVector, Symmetric6};
use skidpad_simd::vectors::Vec3Lanes;
use skidpad_simd::wheel_groups::WheelGroups;

/// Scalar of a car: one number, or one number per car of a batch.
pub(crate) type CarScalar<B, S> = <<S as StepWheels<B>>::Lanes as WheelLanes>::Car;

/// Spatial vector of a car, or of each car of a batch.
pub(crate) type CarTwist<B, S> = SpatialVector<CarScalar<B, S>>;

/// Mask over the cars.
pub(crate) type CarMask<B, S> = <CarScalar<B, S> as Lane>::Mask;

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
    /// Method by which the rows are solved together.
    pub solver_mode: SolverMode,
    /// Length of the step (s), > 0.
    pub dt: f32,
}

/// Inputs of the step of a batch, car by car. Contacts are ordered car by car, wheel by wheel.
#[cfg_attr(not(feature = "simd_batch"), expect(dead_code, reason = "no car goes abreast"))]
#[derive(Clone, Copy)]
pub(crate) struct BatchInputs<'a> {
    /// Chassis of each car at the start of the step.
    pub bodies: &'a [ChassisState],
    /// Contact of each wheel of each car in the middle of the step; `None` without ground.
    pub contacts: &'a [Option<Contact>],
    /// Inputs of each driver.
    pub controls: &'a [&'a Controls],
    /// Length of the step (s), > 0.
    pub dt: f32,
}

/// Velocities of the chassis after successive stages of a step.
#[derive(Clone, Copy)]
pub(crate) struct Velocities<C = f32> {
    /// Velocity without the forces of wheels.
    pub v_free: SpatialVector<C>,
    /// Velocity with the tyre impulses of the last step.
    pub v_warm: SpatialVector<C>,
    /// Velocity with these tyre impulses and the loads.
    pub load_solution: LoadSolution<C>,
}

/// Wheels of a car with `B` banks, or of a batch of cars: the data that the load solve and the sweep work on.
pub(crate) trait StepWheels<B: WheelGroups> {
    /// Number type of the rows.
    type Lanes: WheelLanes;

    /// Maximum number of load solves.
    const MAX_LOAD_SOLVES: usize;

    /// Returns the model of the car, or of all cars of the batch.
    fn model(&self) -> &Model;

    /// Returns every wheel pack with its rows.
    fn packs(&mut self) -> impl Iterator<Item = (&WheelPack<Self::Lanes>, &mut WheelRows<Self::Lanes>)>;

    /// Returns all rows, in groups of two axles.
    fn rows(&self) -> &[WheelRows<Self::Lanes>];

    /// Computes the impulses of the axle links at the velocities in the rows.
    fn load_axle_links(&mut self);

    /// Returns the impulses of external links on the chassis, which bypass the struts (N s, N m s); 0 by default.
    #[inline(always)]
    fn external_link_impulse(&self) -> CarTwist<B, Self> {
        SpatialVector::default()
    }

    /// Adds the derivative of the axle-link impulses with respect to the chassis velocity to `products`. Returns the
    /// change of these impulses from the velocities in the rows to the velocity `v_warm`, plus the impulses of
    /// [`StepWheels::external_link_impulse`].
    fn add_axle_links(&self, products: &mut OuterProducts<Self::Lanes>, v_warm: CarTwist<B, Self>)
    -> CarTwist<B, Self>;

    /// Returns the velocity to which load solve number `_solve_index` (from 0) is cut back if `_last_step` went too
    /// far; otherwise stores the new step in `_last_step` and returns `None`. `_v_warm` is the velocity before the
    /// loads, `_v_current` the present one, and `_v_newton` that of the full Newton step; `_system` is the matrix of
    /// that step. Never cuts by default. See [`crate::step::loads::solve_load_rows`].
    #[inline(always)]
    fn shortened_step(
        &self,
        _solve_index: usize,
        _last_step: &mut Option<NewtonStep>,
        _v_warm: CarTwist<B, Self>,
        _v_current: CarTwist<B, Self>,
        _v_newton: CarTwist<B, Self>,
        _system: &Symmetric6<CarScalar<B, Self>>,
    ) -> Option<CarTwist<B, Self>> {
        None
    }

    /// Returns true if tyre rows may differ from orthogonal unit vectors.
    fn has_tilted_rows(&self) -> bool;

    /// Solves the rows of clutch or converter, motors and couplings together with the response of the wheels. Stores
    /// the shaft impulse of each wheel in its rows; spins and tyre impulses follow in the wheel blocks.
    fn solve_shafts(&mut self);
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
    /// the last step as initial values.
    fn locate_contacts(&mut self);

    /// Returns the external impulses on the chassis, besides those of its wheels. `tyre_response` is the change of the
    /// chassis velocity by the tyres (m/s).
    fn external_impulses(&mut self, tyre_response: Vec3Lanes<CarScalar<B, Self::Wheels>>) -> CarTwist<B, Self::Wheels>;

    /// Returns the velocity that the step would end with if the car pushed nothing.
    fn free_velocity(&self) -> CarTwist<B, Self::Wheels>;

    /// Adapts the wheels to the motion with the velocities `v_free` and `v_warm`. Returns `v_warm` with the adapted
    /// tyre rows.
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

    /// Writes the impulses on each body: the sum of `external_impulse` and those of links and wheels, rotated to world
    /// axes.
    fn write_impulses(&mut self, external_impulse: CarTwist<B, Self::Wheels>);
}
