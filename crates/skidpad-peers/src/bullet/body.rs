//! Rigid body, moved as in Bullet's world.

use core::f64::consts::FRAC_PI_4;

use skidpad_core::{DMat3, DQuat, DVec3};

/// Maximum rotation of a body within one step, rad. Faster bodies rotate by this angle.
const MAX_STEP_ROTATION_RAD: f64 = FRAC_PI_4;

/// Motion of a rigid body in 64 bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Body {
    /// Position of the centre of mass, world, m.
    pub position: DVec3,
    /// Rotation from vehicle axes to world axes.
    pub rotation: DQuat,
    /// Velocity of the centre of mass, world, m/s.
    pub velocity: DVec3,
    /// Angular velocity, world, rad/s.
    pub angular_velocity: DVec3,
}

impl Body {
    /// Applies the gyroscopic torque over `dt` s by one Newton step of the implicit equation in body axes. `inertia` is
    /// that about the centre of mass in body axes, kg m². Changes only the angular velocity.
    ///
    /// For ω in body axes: `f = dt ω × (I ω)`, `J = I + dt ([ω]× I − [I ω]×)`, `ω ← ω − J⁻¹ f`.
    pub(super) fn apply_gyroscopic_torque(&mut self, inertia: &DMat3, dt: f64) {
        let rate = self.rotation.inverse() * self.angular_velocity;
        let momentum = *inertia * rate;
        let residual = rate.cross(momentum) * dt;
        let jacobian = *inertia + (cross_matrix(rate) * *inertia - cross_matrix(momentum)) * dt;
        self.angular_velocity = self.rotation * (rate - jacobian.inverse() * residual);
    }

    /// Moves the pose with the current velocities over `dt` s. The rotation is the exponential map of the angular
    /// velocity (world axes), with its angle limited to [`MAX_STEP_ROTATION_RAD`] per step, and is normalised. A body
    /// that does not turn keeps its rotation as it is. Velocities do not change.
    pub(super) fn advance(&mut self, dt: f64) {
        self.position += self.velocity * dt;
        let rotation_vector = self.angular_velocity * dt;
        let angle = rotation_vector.length();
        if angle > 0.0 {
            let rotation = DQuat::from_axis_angle(rotation_vector / angle, angle.min(MAX_STEP_ROTATION_RAD));
            self.rotation = (rotation * self.rotation).normalize();
        }
    }

    /// Returns the velocity of the point `arm` from the centre of mass (world axes, m), m/s.
    pub(super) fn velocity_at(&self, arm: DVec3) -> DVec3 {
        self.velocity + self.angular_velocity.cross(arm)
    }

    /// Returns true if every number is finite.
    pub fn is_finite(&self) -> bool {
        self.position.is_finite()
            && self.rotation.is_finite()
            && self.velocity.is_finite()
            && self.angular_velocity.is_finite()
    }
}

/// Returns the matrix of the cross product `v ×`.
fn cross_matrix(v: DVec3) -> DMat3 {
    DMat3::from_cols(DVec3::new(0.0, v.z, -v.y), DVec3::new(-v.z, 0.0, v.x), DVec3::new(v.y, -v.x, 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A free body that tumbles for 1000 steps of 0.1 ms loses at most 1e-4 of its rotational energy and gains none.
    /// The centre moves by velocity times time.
    #[test]
    fn free_spin_keeps_its_energy_to_first_order() {
        let inertia = DMat3::from_diagonal(DVec3::new(450.0, 2250.0, 2610.0));
        let mut body = Body {
            position: DVec3::ZERO,
            rotation: DQuat::IDENTITY,
            velocity: DVec3::X,
            angular_velocity: DVec3::new(1.0, 0.5, -0.8),
        };
        // Rotational energy, J.
        let energy = |b: &Body| {
            let rate = b.rotation.inverse() * b.angular_velocity;
            0.5 * rate.dot(inertia * rate)
        };
        let before = energy(&body);
        for _ in 0..1000 {
            body.apply_gyroscopic_torque(&inertia, 1e-4);
            body.advance(1e-4);
        }
        // An implicit step of first order loses energy, here by a share of the order ω² dt t = 2e-5.
        let lost = 1.0 - energy(&body) / before;
        assert!((0.0..1e-4).contains(&lost), "{lost}");
        assert!((body.position.x - 0.1).abs() < 1e-12);
    }

    /// Checks that a step at 3 rad/s turns the body by the exact angle for 0.1 s, and by an eighth of a turn, the limit,
    /// for 1 s.
    #[test]
    fn a_turn_is_exact_up_to_an_eighth_and_bounded_beyond() {
        let body = Body {
            position: DVec3::ZERO,
            rotation: DQuat::IDENTITY,
            velocity: DVec3::ZERO,
            angular_velocity: DVec3::new(0.0, 0.0, 3.0),
        };
        // Angle about z after a step of `dt` s, rad.
        let turned = |dt: f64| {
            let mut b = body;
            b.advance(dt);
            b.rotation.to_scaled_axis().z
        };
        assert!((turned(0.1) - 0.3).abs() < 1e-15);
        assert!((turned(1.0) - FRAC_PI_4).abs() < 1e-15);
    }
}
