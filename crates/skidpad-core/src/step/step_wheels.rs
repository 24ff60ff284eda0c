//! Rows of a car or of a batch of cars, as solvers see them. Code generic over [`StepWheels`] works on both.

use crate::model::Model;
use crate::model::body::BodyConstants;
use crate::model::wheel_pack::WheelPack;
use crate::suspension::rows::LoadSolution;
use crate::vehicle::rows::WheelRows;
use skidpad_simd::lane::{Lane, WheelLanes};
use skidpad_simd::linear::SpatialVector;
use skidpad_simd::wheel_groups::WheelGroups;

/// Scalar of a car: one number, or one number per car of a batch.
pub type CarScalar<B, S> = <<S as StepWheels<B>>::Lanes as WheelLanes>::Car;

/// Spatial vector of a car, or of each car of a batch.
pub type CarTwist<B, S> = SpatialVector<CarScalar<B, S>>;

/// Mask over the cars: a `bool` for one car.
pub type CarMask<B, S> = <CarScalar<B, S> as Lane>::Mask;

/// Velocities of the chassis after successive stages of a step (m/s, rad/s), vehicle frame in the middle of the step.
#[derive(Clone, Copy, Debug)]
pub struct Velocities<C = f32> {
    /// Velocity without the forces of wheels.
    pub v_free: SpatialVector<C>,
    /// Velocity with the tyre impulses of the last step.
    pub v_warm: SpatialVector<C>,
    /// Velocity with these tyre impulses and the loads.
    pub load_solution: LoadSolution<C>,
}

/// Wheels of a car with `B` groups, or of a batch of cars, with their rows.
pub trait StepWheels<B: WheelGroups> {
    /// Number type of the rows: four wheels of a car, or one wheel of eight cars.
    type Lanes: WheelLanes;

    /// Returns the model of the car, or of all cars of the batch.
    fn model(&self) -> &Model;

    /// Returns mass and inertia of the car, or of each car of the batch.
    fn body(&self) -> BodyConstants<CarScalar<B, Self>>;

    /// Returns the pack (constants) of every wheel group with its rows. In a batch a group is one wheel of all cars,
    /// and places without a wheel are left out.
    fn packs(&mut self) -> impl Iterator<Item = (&WheelPack<Self::Lanes>, &mut WheelRows<Self::Lanes>)>;

    /// Returns all rows, in groups of two axles; in a batch including those of places without a wheel.
    fn rows(&self) -> &[WheelRows<Self::Lanes>];

    /// Returns true if tyre rows may differ from orthogonal unit vectors.
    fn has_tilted_rows(&self) -> bool;

    /// Solves the rows of clutch or converter, motors and couplings together with the response of the wheels (their
    /// change of spin per impulse), as accurately as one sweep needs. Stores the shaft impulse of each wheel in its
    /// rows; spins and tyre impulses follow in the wheel blocks.
    fn solve_shafts(&mut self);

    /// Solves the loads of all wheels together and stores them in the rows. `v_free` is the velocity without wheels,
    /// `v_warm` that with the last step's tyre impulses. Returns the velocity with the loads, and the mask of the cars
    /// whose loads are usable: in a batch those that have converged; always true for one car.
    fn solve_loads(
        &mut self,
        v_free: CarTwist<B, Self>,
        v_warm: CarTwist<B, Self>,
    ) -> (CarTwist<B, Self>, CarMask<B, Self>);
}

/// Pass over the rows of one car or of a batch of cars, the same code for both.
pub trait RowPass {
    /// Solves the rows of `cars` from the `velocities` of their chassis, and leaves impulses and spins in the rows.
    /// Returns the cars whose rows need more than this pass. A batch solves these cars again, one by one, with
    /// [`RowSolver::solve`](crate::coupling::RowSolver::solve).
    fn solve_cars<B: WheelGroups, S: StepWheels<B>>(
        cars: &mut S,
        velocities: &Velocities<CarScalar<B, S>>,
    ) -> CarMask<B, S>;
}
