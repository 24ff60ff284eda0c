//! Hitches while hulls are stopped: an impulse that stops one vehicle of a train acts on the vehicles hitched to it.
//!
//! The vehicles' own solve closes a hitch for poses that move with the mean of their velocities, and without impacts.
//! If the world stops a hull of a train, all poses of that train move with the velocities at the end of the step, and
//! the hitches are closed for these velocities.

use skidpad_core::{Mat3, Vec3, gap_correction_velocity, math};

use crate::chassis::Chassis;
use crate::hull::{MAX_IMPULSE_PASSES, VELOCITY_TOLERANCE_MPS};

/// Hitch: two points of two chassis that stay together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HitchConstraint {
    /// Group of vehicles that are solved together.
    pub group: u32,
    /// Indices of the trailer and of the vehicle that tows it.
    pub cars: [u32; 2],
    /// Vectors from each centre of mass to the hitch point in the middle of the step, world axes, m.
    arms: [Vec3; 2],
    /// Velocity of the trailer's point relative to the other point at the end of the step, m/s.
    target_velocity: Vec3,
    /// Effective mass: impulse per relative velocity of the two points, kg.
    effective_mass: Mat3,
    /// Impulse on the trailer so far, N s.
    pub impulse: Vec3,
}

impl HitchConstraint {
    /// Creates the hitch between the trailer and the vehicle ahead, in this order in `cars`, without impulse and group.
    /// [`HitchConstraint::prepare`] computes the rest.
    pub fn new(cars: [u32; 2]) -> Self {
        Self {
            group: u32::MAX,
            cars,
            arms: [Vec3::ZERO; 2],
            target_velocity: Vec3::ZERO,
            effective_mass: Mat3::IDENTITY,
            impulse: Vec3::ZERO,
        }
    }

    /// Computes arms, target velocity and effective mass for a step of `dt` s. Arms are taken in the middle of the
    /// step. The target velocity corrects the gap between the two points within the step, by the share and up to the
    /// speed of [`gap_correction_velocity`], plus a correction for the gyroscopic effect. The effective mass is the
    /// inverse of the 3 × 3 response of both chassis to an impulse at the hitch. The impulse so far does not change.
    fn prepare(&mut self, chassis: &[Chassis], dt: f32) {
        let [trailer, towing] = self.cars.map(|car| &chassis[car as usize]);
        // Each chassis with its hitch point in vehicle axes, m; `arms` are at the start of the step, `self.arms` in the
        // middle.
        let hitch_points = [(trailer, trailer.coupler), (towing, towing.hitch)];
        let arms = hitch_points.map(|(car, point)| car.axes * point);
        // Vector from the towing vehicle's point to the trailer's point at the start of the step, m.
        let gap = (trailer.position - towing.position).as_vec3() + arms[0] - arms[1];
        // Angular velocities with which the poses turn, rad/s.
        let rates = [trailer, towing].map(|car| car.midpoint_rate(dt));
        self.arms = [0, 1]
            .map(|k| math::integrate_rotation(hitch_points[k].0.rotation, rates[k], 0.5 * dt) * hitch_points[k].1);
        // The poses turn with `rates`, but `solve` compares angular velocities: their difference by the gyroscopic
        // effect, as a velocity of each hitch point, m/s.
        let [trailer_correction, towing_correction] =
            [0, 1].map(|k| (rates[k] - hitch_points[k].0.angular_velocity).cross(self.arms[k]));
        // `0.0`: 64-bit positions have no rounding error to spare (resolution, m).
        self.target_velocity = gap_correction_velocity(gap, 0.0, dt) - trailer_correction + towing_correction;
        // Change of relative velocity of the two points per impulse along `axis`, 1/kg.
        let response_column = |axis: Vec3| {
            // Part of one chassis.
            let point_velocity_change = |car: &Chassis, arm: Vec3| {
                axis * car.inverse_mass + car.angular_velocity_change(arm.cross(axis)).cross(arm)
            };
            point_velocity_change(trailer, self.arms[0]) + point_velocity_change(towing, self.arms[1])
        };
        self.effective_mass =
            Mat3::from_cols(response_column(Vec3::X), response_column(Vec3::Y), response_column(Vec3::Z)).inverse();
    }

    /// Applies the impulse that brings the relative velocity of the two points to its target, to the trailer and with
    /// the opposite sign to the towing vehicle, and adds it to `impulse`. Returns the error of that velocity before,
    /// m/s, ≥ 0. Both poses then move with the velocities after the impulse, without a lag
    /// ([`Chassis::apply_impulse`]).
    fn solve(&mut self, chassis: &mut [Chassis]) -> f32 {
        let [trailer, towing] = self.cars.map(|car| car as usize);
        let velocity = chassis[trailer].velocity_at(self.arms[0]) - chassis[towing].velocity_at(self.arms[1]);
        let velocity_error = self.target_velocity - velocity;
        let impulse = self.effective_mass * velocity_error;
        self.impulse += impulse;
        chassis[trailer].apply_impulse(impulse, self.arms[0].cross(impulse));
        chassis[towing].apply_impulse(-impulse, -self.arms[1].cross(impulse));
        velocity_error.length()
    }
}

/// Closes the `hitches`, all of one group, for poses that move with the velocities at the end of the step of `dt` s.
/// Clears the lag of all hitched vehicles, prepares each hitch, and iterates until the hitch points have their target
/// velocities ([`solve_hitches`]). Changes the twists of `chassis` and adds to the impulses of `hitches`.
pub(crate) fn close_hitches(hitches: &mut [HitchConstraint], chassis: &mut [Chassis], dt: f32) {
    for car in hitches.iter().flat_map(|hitch| hitch.cars) {
        // A zero impulse clears the lag of the pose.
        chassis[car as usize].apply_impulse(Vec3::ZERO, Vec3::ZERO);
    }
    hitches.iter_mut().for_each(|hitch| hitch.prepare(chassis, dt));
    solve_hitches(hitches, chassis);
}

/// Iterates over the hitches of one group until no relative velocity was off by more than [`VELOCITY_TOLERANCE_MPS`]
/// before its solve in a pass, for at most [`MAX_IMPULSE_PASSES`] passes. A single hitch needs one pass. Changes the
/// twists of `chassis` and adds to the impulses of `hitches`.
pub(crate) fn solve_hitches(hitches: &mut [HitchConstraint], chassis: &mut [Chassis]) {
    for _ in 0..MAX_IMPULSE_PASSES {
        let max_error = hitches.iter_mut().map(|hitch| hitch.solve(chassis)).fold(0.0, f32::max);
        if hitches.len() < 2 || max_error <= VELOCITY_TOLERANCE_MPS {
            return;
        }
    }
}
