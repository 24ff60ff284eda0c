//! Evaluation of the rows of a car at a chassis velocity: their impulses, and the derivative of these.
//!
//! For a given chassis velocity every wheel responds independently (its load, then its block), and so does every
//! contact point of the hull. The coupled problem is therefore six equations: the momentum gained by the chassis is the
//! sum of all impulses. With fixed friction limits they are the derivative of a convex function.

use crate::impulse_bounds::ImpulseBounds;
use crate::port::ChassisState;
use crate::vehicle::rows::{BoundRelaxation, EffectiveMass, WheelRows};
use crate::vehicle::{Vehicle, groups_with_rows};
use bevy_math::Vec3;
use skidpad_simd::lane::{F32x4, Lane};
use skidpad_simd::linear::{OuterProducts, SpatialVector, Symmetric6};
use skidpad_simd::wheel_groups::{ManyGroups, WheelGroups};

/// Options of an evaluation of the rows: which friction limits it updates, and whether the loads are current.
#[derive(Clone, Copy, Debug)]
pub struct LimitUpdate {
    /// Whether the friction limits of tyres follow the loads.
    pub tyres: bool,
    /// Whether the friction limits of tyres follow by a part of the difference only, because full updates oscillate.
    pub damped: bool,
    /// Whether the friction limits of the hull follow its normal impulses.
    pub hull: bool,
    /// Whether the rows have the loads of their present velocity.
    pub has_current_loads: bool,
}

impl LimitUpdate {
    /// No friction limit is updated, and the loads are evaluated.
    pub const NONE: Self = Self { tyres: false, damped: true, hull: false, has_current_loads: false };
}

/// Factor on the share of a friction-limit update after the difference changed its sign.
const SIGN_CHANGE_FACTOR: f32 = 0.5;
/// Factor on the share of a friction-limit update without a change of sign. The share is at most 1.
const RELAXATION_GROWTH_FACTOR: f32 = 1.25;

impl WheelRows {
    /// Moves the friction limits of each tyre by its own share of their distance to the limits at the present load. The
    /// difference of both limits of a tyre, summed over the longitudinal and lateral direction (N s), is compared with
    /// that of the last update. After a change of sign the share halves, otherwise it grows by a quarter, up to 1.
    /// Stores share, difference and change of sign for the next update.
    ///
    /// If a load decreases with the friction of its wheel, full updates overshoot without end. The share of each update
    /// follows the rule of M. Riedmiller and H. Braun, "A direct adaptive method for faster backpropagation learning:
    /// the RPROP algorithm".
    fn relax_friction_bound(&mut self) {
        let (limit, zero, one) = (self.friction_limit(), F32x4::default(), F32x4::splat(1.0));
        // Difference to the limits at the present loads, sum of longitudinal and lateral (N s).
        let difference = limit[0] + limit[1] - self.solution.friction_bound[0] - self.solution.friction_bound[1];
        let BoundRelaxation { factor: share, residual: last_difference, .. } = self.solution.bound_relaxation;
        // Tyres whose difference has changed its sign since the last update.
        let sign_changed = (difference * last_difference).less(zero);
        let share = F32x4::select(
            sign_changed,
            share * F32x4::splat(SIGN_CHANGE_FACTOR),
            (share * F32x4::splat(RELAXATION_GROWTH_FACTOR)).at_most(one),
        );
        self.solution.friction_bound =
            [0, 1].map(|i| self.solution.friction_bound[i] + share * (limit[i] - self.solution.friction_bound[i]));
        self.solution.bound_relaxation = BoundRelaxation { factor: share, residual: difference, sign_changed };
    }
}

impl Vehicle {
    /// Sets the velocities along the rows of wheels and hull for the chassis velocity `v_start`. `v_free` is the
    /// velocity without wheels. Returns the momentum gained, `M (v_start − v_free)` (N s, N m s).
    #[inline(always)]
    pub(crate) fn set_velocity<B: WheelGroups>(
        &mut self,
        v_free: SpatialVector<f32>,
        v_start: SpatialVector<f32>,
    ) -> SpatialVector<f32> {
        let velocity_gain = v_start - v_free;
        for rows in B::slice_mut(&mut self.rows) {
            rows.set_velocity(v_start.broadcast_to_wheels(), velocity_gain.broadcast_to_wheels());
        }
        self.hull.set_velocity(v_start);
        self.momentum(velocity_gain)
    }

    /// Returns the tangent mass matrix of a solved step: chassis mass and inertia plus the derivative of the row
    /// impulses (kg, kg m, kg m²), with respect to the twist at the end of the step, vehicle frame. `body` is the body
    /// at the start; `end_velocity` is the linear and angular velocity that was solved for, world axes. Evaluates the
    /// rows again within the friction cone, which overwrites the solution in the rows.
    #[cold]
    #[inline(never)]
    pub(crate) fn tangent(&mut self, body: &ChassisState, end_velocity: [Vec3; 2]) -> Symmetric6 {
        let products = self.tangent_by_wheel(body, end_velocity);
        Symmetric6::new(self.model.mass(), self.model.inertia(), &products)
    }

    /// Returns the part of [`Vehicle::tangent`] that stems from the rows, without mass and inertia, one wheel per lane.
    /// Sets the velocities of the rows to `end_velocity` and evaluates them with fixed friction limits, which
    /// overwrites their solution.
    pub(crate) fn tangent_by_wheel(&mut self, body: &ChassisState, end_velocity: [Vec3; 2]) -> OuterProducts {
        let v_free = self.free_velocity_in_body(body, &self.to_world);
        let to_vehicle = self.to_world.transpose();
        self.set_velocity::<ManyGroups>(
            v_free,
            SpatialVector::from_vec3s(to_vehicle * end_velocity[0], to_vehicle * end_velocity[1]),
        );
        self.evaluate_rows::<ManyGroups>(ImpulseBounds::Cone, LimitUpdate::NONE).1
    }

    /// Returns the momentum of the chassis at a velocity (N s, N m s).
    pub(crate) fn momentum(&self, velocity: SpatialVector<f32>) -> SpatialVector<f32> {
        let (linear, angular) = velocity.parts();
        SpatialVector::from_vec3s(linear * self.model.mass(), *self.model.inertia() * angular)
    }

    /// Evaluates all wheels and hull points at the velocity in their rows, with `bounds` on the tyre impulses. Returns
    /// the sum of their impulses on the chassis, bars beside the struts included (N s, N m s), and its derivative
    /// `Σ gain · row rowᵀ`, one wheel per lane. Changes of friction limits are not part of the derivative.
    ///
    /// Order: axle links; for each group the loads (with unsprung masses: load and travel rate together), then friction
    /// limits and the speeds that the tyres see; then the shafts; then hull points; then each wheel block (spin and
    /// tyre impulses). Unsprung masses on roll-centre links change their travel rate with the tyre impulses of their
    /// block. Link impulses, and loads of wheels without unsprung masses, are kept if `limit_update.has_current_loads`.
    /// Overwrites loads, limits, spins and impulses in the rows.
    #[inline(always)]
    pub(crate) fn evaluate_rows<B: WheelGroups>(
        &mut self,
        bounds: ImpulseBounds,
        limit_update: LimitUpdate,
    ) -> (SpatialVector<f32>, OuterProducts) {
        if !limit_update.has_current_loads {
            self.update_link_impulses::<B>();
        }
        let mut products = self.axle_link_products::<B>();
        for (group, rows) in groups_with_rows::<B>(&self.model, &mut self.rows) {
            // `None` for wheels without an unsprung mass.
            let unsprung_result = rows.with_unsprung(|rows, unsprung| {
                if limit_update.tyres || group.roll_centre_links.is_some() {
                    rows.update_tyre_lift(unsprung, group);
                }
                rows.unsprung_load(unsprung, group).add_to(&mut products, rows);
            });
            if unsprung_result.is_none() {
                if !limit_update.has_current_loads {
                    rows.evaluate_load(group);
                }
                products.add(rows.suspension.load_slope, rows.contact.normal);
            }
            if limit_update.tyres {
                if limit_update.damped {
                    rows.relax_friction_bound()
                } else {
                    rows.solution.friction_bound = rows.friction_limit()
                }
            }
            rows.solution.effective_mass = match (&group.roll_centre_links, rows.unsprung()) {
                (Some(links), Some(unsprung)) => rows.effective_mass_on_links(unsprung, links),
                // The chassis velocity is given: an impulse of the tyre does not change it within the block.
                _ => EffectiveMass { speed: rows.solution.velocity.patch, compliance: [F32x4::default(); 3] },
            };
        }
        self.solve_shafts::<B>();
        let mut row_impulse = self.external_bar_impulse + self.hull.evaluate(&mut products, limit_update.hull);
        for (group, rows) in groups_with_rows::<B>(&self.model, &mut self.rows) {
            // Tyre impulses before this evaluation (N s).
            let tyre_impulse_before = rows.solution.tyre_impulse;
            // Gains with their rows on the chassis.
            let mut gain_rows = rows.solve_block(group, bounds).tangent().gain_rows(rows);
            if let (Some(links), Some(unsprung)) = (&group.roll_centre_links, rows.unsprung()) {
                gain_rows = gain_rows.map(|(gain, row)| (gain, rows.row_on_links(unsprung, links, row)));
            }
            products.add_terms(gain_rows);
            if let Some(links) = &group.roll_centre_links {
                rows.with_unsprung(|rows, unsprung| rows.update_travel_on_links(unsprung, links, tyre_impulse_before));
            }
            row_impulse = row_impulse + rows.impulse(true).sum(); // true: loads included
        }
        (row_impulse, products)
    }
}
