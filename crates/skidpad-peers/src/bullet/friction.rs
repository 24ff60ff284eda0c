//! Friction of the wheels: one longitudinal and one lateral impulse for each. All are computed from the same velocity,
//! then applied in turn.

use skidpad_core::DVec3;

use super::car::Car;

/// Factor on the slip impulse (lateral slip over compliance) of a wheel that Bullet applies in a step of any length.
/// The factor is negative, because the applied impulse opposes the slip; −1 would stop it.
const LATERAL_IMPULSE_SHARE: f64 = -0.2;

/// Weight of the longitudinal impulse in the test for sliding. This weight allows a wheel twice its friction in the
/// longitudinal direction.
const LONGITUDINAL_SLIDE_WEIGHT: f64 = 0.5;

impl Car {
    /// Computes both friction impulses (N s) of every wheel for a step of `dt` s, all from the current velocity,
    /// without applying them. Stores axes, impulses and `skid` (factor on the impulses) in the wheels. Wheels in the
    /// air have no impulses and a `skid` of 1.
    ///
    /// The lateral impulse is 0.2 of the impulse that stops the lateral slip. The longitudinal impulse is engine force
    /// times `dt`. Without engine force it is the impulse that stops the contact point, divided by the number of
    /// touching wheels and clamped to plus or minus the brake impulse.
    ///
    /// A wheel slides if its combined impulse, with half of the longitudinal one, exceeds suspension force (before its
    /// bound) times friction times `dt`. `skid` is then this limit over the combined impulse, otherwise 1. After all
    /// wheels are computed, both impulses of each sliding wheel are multiplied by its `skid`, unless its lateral
    /// impulse is zero.
    pub(super) fn compute_friction(&mut self, dt: f64) {
        let touching_count = self.wheels.iter().filter(|w| w.contact).count() as f64;
        let mut has_sliding_wheel = false;
        for i in 0..self.wheels.len() {
            let mut wheel = self.wheels[i];
            wheel.skid = 1.0;
            (wheel.forward_impulse, wheel.side_impulse) = (0.0, 0.0);
            if wheel.contact {
                // Axle and rolling direction in the ground. Bullet divides by their lengths unchecked; here an axle
                // along the normal results in no friction.
                let lateral = wheel.axle - wheel.normal * wheel.axle.dot(wheel.normal);
                wheel.lateral_axis = lateral.normalize_or_zero();
                wheel.longitudinal_axis = wheel.normal.cross(wheel.lateral_axis).normalize_or_zero();
                let arm = wheel.point - self.body.position;
                let velocity = self.body.velocity_at(arm);
                // Slip of the point along `axis` over the compliance, N s; the opposite impulse would stop the point.
                let slip_impulse = |axis: DVec3| axis.dot(velocity) / self.compliance(arm, axis);
                wheel.side_impulse = LATERAL_IMPULSE_SHARE * slip_impulse(wheel.lateral_axis);
                wheel.forward_impulse = if wheel.input.engine_force != 0.0 {
                    wheel.input.engine_force * dt
                } else {
                    let max_brake = wheel.input.brake; // impulse per step, N s
                    (-slip_impulse(wheel.longitudinal_axis) / touching_count).min(max_brake).max(-max_brake)
                };
                // Largest combined impulse, N s.
                let friction_limit = wheel.suspension_force * dt * self.tuning().wheels[i].friction_slip;
                let weighted_impulse = LONGITUDINAL_SLIDE_WEIGHT * wheel.forward_impulse;
                // Square of the demanded impulse, N² s².
                let demand_squared = weighted_impulse * weighted_impulse + wheel.side_impulse * wheel.side_impulse;
                if demand_squared > friction_limit * friction_limit {
                    wheel.skid = friction_limit / demand_squared.sqrt();
                    has_sliding_wheel = true;
                }
            }
            self.wheels[i] = wheel;
        }
        if has_sliding_wheel {
            // A wheel that slides straight ahead is left out: its longitudinal impulse keeps its full size.
            for wheel in self.wheels.iter_mut().filter(|w| w.side_impulse != 0.0 && w.skid < 1.0) {
                wheel.forward_impulse *= wheel.skid;
                wheel.side_impulse *= wheel.skid;
            }
        }
    }

    /// Applies the computed impulses to the body wheel by wheel: first the longitudinal one at the contact point, then
    /// the lateral one at a raised point. The part of its arm along the car's z axis is multiplied by the roll
    /// influence, so that it acts closer to the height of the centre of mass. Skips impulses of zero.
    pub(super) fn apply_friction(&mut self) {
        let up = self.body.rotation * DVec3::Z;
        for i in 0..self.wheels.len() {
            let wheel = self.wheels[i];
            let arm = wheel.point - self.body.position;
            if wheel.forward_impulse != 0.0 {
                self.apply_impulse(arm, wheel.longitudinal_axis * wheel.forward_impulse);
            }
            if wheel.side_impulse != 0.0 {
                // Part of the arm along the car's z axis that does not count, m.
                let excluded_arm = up * (up.dot(arm) * (1.0 - self.tuning().wheels[i].roll_influence));
                self.apply_impulse(arm - excluded_arm, wheel.lateral_axis * wheel.side_impulse);
            }
        }
    }

    /// Returns the change of speed of the point `arm` (from the centre of mass, m) along the unit vector `axis` per
    /// impulse along `axis`, 1/kg. With the arm r and the axis n in world axes: 1/m + (r × n)·J⁻¹ (r × n).
    fn compliance(&self, arm: DVec3, axis: DVec3) -> f64 {
        let r_cross_n = arm.cross(axis);
        1.0 / self.tuning().mass + r_cross_n.dot(self.world_inverse_inertia * r_cross_n)
    }
}
