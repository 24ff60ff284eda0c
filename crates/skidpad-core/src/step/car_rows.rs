//! Rows of one car during the coupled solve, with the operations that a solver needs.

use crate::impulse_bounds::ImpulseBounds;
use crate::model::Model;
use crate::model::body::BodyConstants;
use crate::model::wheel_pack::WheelPack;
use crate::step::evaluation::LimitUpdate;
use crate::step::step_wheels::{RowPass, StepWheels, Velocities};
use crate::vehicle::rows::WheelRows;
use crate::vehicle::{Vehicle, groups_with_rows};
use skidpad_simd::instruction_set::dispatch_simd;
use skidpad_simd::lane::F32x4;
use skidpad_simd::linear::{SpatialVector, Symmetric6};
use skidpad_simd::wheel_groups::{ManyGroups, SingleGroup, WheelGroups};

/// Rows of one car: of the wheels ([`StepWheels`]), shafts and hull. Velocities are those of the chassis at the end of
/// the step (m/s, rad/s), in the vehicle frame in the middle of the step.
#[derive(Debug)]
pub struct CarRows<'a> {
    /// Car whose rows are built.
    pub(crate) vehicle: &'a mut Vehicle,
    /// Length of the step (s), > 0.
    pub(crate) dt: f32,
    /// Factor on the tolerance of an iteration, 0.1 to 1. For a car on a body that has a small share of the car's mass,
    /// the factor is that share: an error of the car's velocity is 1 / share times as large on the body.
    pub tolerance_factor: f32,
}

impl<'a> CarRows<'a> {
    /// Creates the rows of `vehicle` for a step of `dt` s.
    #[inline(always)]
    pub(crate) fn new(vehicle: &'a mut Vehicle, dt: f32, tolerance_factor: f32) -> Self {
        Self { vehicle, dt, tolerance_factor }
    }
}

impl CarRows<'_> {
    /// Returns the length of the step (s).
    pub fn dt(&self) -> f32 {
        self.dt
    }

    /// Returns true if the car has one group of four wheels or less. Loops over [`SingleGroup`] then have a constant
    /// length; all other cars need [`ManyGroups`].
    #[inline(always)]
    pub fn has_single_group(&self) -> bool {
        self.vehicle.rows.len() == 1
    }

    /// Runs the pass `P` over the rows in the widest instruction set of the processor. Returns true if the rows need
    /// more than this pass.
    #[inline(always)]
    pub fn run_pass<P: RowPass>(&mut self, velocities: &Velocities) -> bool {
        if self.has_single_group() {
            dispatch_simd(
                #[inline(always)]
                || P::solve_cars::<SingleGroup, _>(self, velocities),
            )
        } else {
            dispatch_simd(
                #[inline(always)]
                || P::solve_cars::<ManyGroups, _>(self, velocities),
            )
        }
    }

    /// Returns the momentum of the chassis at a velocity (N s, N m s).
    #[inline(always)]
    pub fn momentum(&self, velocity: SpatialVector<f32>) -> SpatialVector<f32> {
        self.vehicle.momentum(velocity)
    }

    /// Returns the change of the chassis velocity by an impulse on the chassis (N s, and N m s about the centre of
    /// mass).
    #[inline(always)]
    pub fn response(&self, impulse: SpatialVector<f32>) -> SpatialVector<f32> {
        self.vehicle.response(impulse)
    }

    /// Sets the velocities along the rows of wheels and hull for the chassis `velocity`. `v_free` is the velocity
    /// without wheels. Returns the momentum gained, `M (velocity − v_free)` (N s, N m s).
    #[inline(always)]
    pub fn set_velocity<B: WheelGroups>(
        &mut self,
        v_free: SpatialVector<f32>,
        velocity: SpatialVector<f32>,
    ) -> SpatialVector<f32> {
        self.vehicle.set_velocity::<B>(v_free, velocity)
    }

    /// Adds a `change` of the chassis velocity to the velocities along the rows of the wheels.
    #[inline(always)]
    pub fn add_wheel_velocity<B: WheelGroups>(&mut self, change: SpatialVector<f32>) {
        for rows in B::slice_mut(&mut self.vehicle.rows) {
            rows.add_velocity(change.broadcast_to_wheels());
        }
    }

    /// Adds a `change` of the chassis velocity to the velocities along the rows of the hull.
    #[inline(always)]
    pub fn add_hull_velocity(&mut self, change: SpatialVector<f32>) {
        self.vehicle.hull.add_velocity(change);
    }

    /// Evaluates all rows at the velocities of [`CarRows::set_velocity`], with `bounds` on the tyre impulses. Returns
    /// the sum of their impulses on the chassis (N s, N m s), and the matrix of a Newton step: chassis mass and inertia
    /// plus `Σ gain · row rowᵀ`. Changes of friction limits are not part of the matrix; `limit_update` selects the
    /// limits that are updated. Overwrites loads, limits, spins and impulses in the rows.
    #[inline(always)]
    pub fn linearise<B: WheelGroups>(
        &mut self,
        bounds: ImpulseBounds,
        limit_update: LimitUpdate,
    ) -> (SpatialVector<f32>, Symmetric6) {
        self.vehicle.shafts.impulse_bounds = bounds;
        let (row_impulse, products) = self.vehicle.evaluate_rows::<B>(bounds, limit_update);
        (row_impulse, Symmetric6::new(self.vehicle.model.mass(), self.vehicle.model.inertia(), &products))
    }

    /// Returns true if contact points of the bodywork are rows of this step.
    #[inline(always)]
    pub fn has_hull_contacts(&self) -> bool {
        !self.vehicle.hull.is_empty()
    }

    /// Computes the impulses of the hull at its present velocities, with the present friction limits. Rows this stiff
    /// are exact only after the last change of the velocity.
    #[inline(always)]
    pub fn finish_hull_impulses(&mut self) {
        self.vehicle.hull.finish_impulses();
    }

    /// Clamps the impulses of every tyre to its limit by the present load. `bounds` selects the ellipse or separate
    /// limits.
    #[cold]
    #[inline(never)]
    pub fn clamp_to_friction_limits(&mut self, bounds: ImpulseBounds) {
        self.vehicle.rows.iter_mut().for_each(|rows| rows.clamp_to_friction(bounds));
    }

    /// Clears the impulses of motors and couplings and removes them from the wheels, so that the next solve of the
    /// shafts starts without them. Clutch or converter keeps its impulse.
    pub fn clear_shaft_impulses(&mut self) {
        self.vehicle.shafts.clear_impulses(&self.vehicle.model, &mut self.vehicle.rows);
    }

    /// Restores the tyre impulses and wheel torques of the last step, and removes the rows of the hull, which is then
    /// left to the world.
    pub fn restart_from_last_step(&mut self) {
        for rows in &mut self.vehicle.rows {
            rows.warm_start_tyres(self.dt);
        }
        self.vehicle.hull.clear();
    }

    /// Returns row, gain (kg) and current speed along the row (m/s) of axle link `k` with upright struts. Links are
    /// numbered as in the model: anti-roll bars, then heave springs.
    pub fn axle_link(&self, k: usize) -> (SpatialVector<f32>, f32, f32) {
        self.vehicle.axle_link_terms(k)
    }
}

impl<B: WheelGroups> StepWheels<B> for CarRows<'_> {
    type Lanes = F32x4;

    #[inline(always)]
    fn model(&self) -> &Model {
        &self.vehicle.model
    }

    #[inline(always)]
    fn body(&self) -> BodyConstants<f32> {
        BodyConstants::of(&self.vehicle.model)
    }

    #[inline(always)]
    fn packs(&mut self) -> impl Iterator<Item = (&WheelPack, &mut WheelRows)> {
        groups_with_rows::<B>(&self.vehicle.model, &mut self.vehicle.rows)
    }

    #[inline(always)]
    fn rows(&self) -> &[WheelRows] {
        B::slice(&self.vehicle.rows)
    }

    #[inline(always)]
    fn has_tilted_rows(&self) -> bool {
        self.vehicle.model.has_tilted_rows()
    }

    /// Solves the rows of the shafts as accurately as one sweep needs, with elliptic friction limits of the tyres.
    #[inline(always)]
    fn solve_shafts(&mut self) {
        self.vehicle.shafts.impulse_bounds = ImpulseBounds::ApproximateCone;
        self.vehicle.solve_shafts::<B>();
    }

    /// Solves the loads, wheels with unsprung masses included. The mask is always true: loads that have not converged
    /// are usable, too.
    #[inline(always)]
    fn solve_loads(&mut self, v_free: SpatialVector<f32>, v_warm: SpatialVector<f32>) -> (SpatialVector<f32>, bool) {
        (self.vehicle.solve_any_loads::<B>(v_free, v_warm, self.dt).velocity, true)
    }
}
