//! Friction of the wheels: one longitudinal and one lateral impulse for each. All are computed from the same velocity, then
//! applied in turn.

use skidpad_core::DVec3;

use super::car::Car;

/// Share of the impulse that would stop a wheel's lateral slip that Bullet applies in a step of any length.
const LATERAL_IMPULSE_SHARE: f64 = -0.2;

/// Weight of the longitudinal impulse in the test for sliding. It allows a wheel twice its friction in the longitudinal
/// direction.
const LONGITUDINAL_SLIDE_WEIGHT: f64 = 0.5;

impl Car {
    /// Computes both impulses (N s) of every wheel for a step of `dt` s, without applying them. The lateral impulse is 0.2 of
    /// the one that stops the slip. The longitudinal one is engine force times `dt`, or without engine force the one that stops
    /// the wheel, shared by all touching wheels and limited by the brake.
    ///
    /// A wheel slides if its combined impulse, with half of the longitudinal one, exceeds suspension force times friction times
    /// `dt`. `skid` is then the ratio of both, and the impulses are scaled by it unless the lateral one is zero. Wheels in the
    /// air have none.
    pub(super) fn compute_friction(&mut self, dt: f64) {
        let touching_count = self.wheels.iter().filter(|w| w.contact).count() as f64;
        let mut has_sliding_wheel = false;
        for i in 0..self.wheels.len() {
            let mut wheel = self.wheels[i];
            wheel.skid = 1.0;
            (wheel.forward_impulse, wheel.side_impulse) = (0.0, 0.0);
            if wheel.contact {
                // Bullet divides by these lengths unchecked. Here an axle along the normal results in no friction.
                let lateral = wheel.axle - wheel.normal * wheel.axle.dot(wheel.normal);
                wheel.lateral_axis = lateral.normalize_or_zero();
                wheel.longitudinal_axis = wheel.normal.cross(wheel.lateral_axis).normalize_or_zero();
                let arm = wheel.point - self.body.position;
                let velocity = self.body.velocity_at(arm);
                // Impulse opposite to the one that stops the point along `axis`, N s.
                let stopping_impulse = |axis: DVec3| axis.dot(velocity) / self.compliance(arm, axis);
                wheel.side_impulse = LATERAL_IMPULSE_SHARE * stopping_impulse(wheel.lateral_axis);
                wheel.forward_impulse = if wheel.input.engine_force != 0.0 {
                    wheel.input.engine_force * dt
                } else {
                    let brake = wheel.input.brake;
                    (-stopping_impulse(wheel.longitudinal_axis) / touching_count).min(brake).max(-brake)
                };
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

    /// Applies the computed impulses to the body wheel by wheel, the longitudinal one first. Lateral impulses act closer to the
    /// height of the centre of mass, by the roll influence.
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

    /// Returns the change of speed of the point `arm` (from the centre of mass, m) along the unit vector `axis` per impulse
    /// along it, 1/kg: 1/m + (r × n)·J⁻¹ (r × n), world axes.
    fn compliance(&self, arm: DVec3, axis: DVec3) -> f64 {
        let r_cross_n = arm.cross(axis);
        1.0 / self.tuning().mass + r_cross_n.dot(self.world_inverse_inertia * r_cross_n)
    }
}
