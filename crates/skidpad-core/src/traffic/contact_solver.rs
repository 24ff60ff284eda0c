//! Contacts of a rigid body solved by sequential impulses with friction, and the compliance of the supported body.

use crate::port::HullPoint;
use bevy_math::Vec3;

/// Maximum number of passes over the contacts of a body under wheels. A body of 1 kg that slides under 15 kN needs some
/// hundreds. With 64 passes the compliance for wheel forces is not that of the prediction, and some steps do not
/// converge.
const MAX_PASSES_UNDER_WHEELS: usize = 256;

/// Share of the normal impulse below which a change counts as converged in exact friction: two units in the last place
/// of an f32.
const RELATIVE_IMPULSE_TOLERANCE: f32 = 2.5e-7;

/// Maximum number of iterations on the Lagrange multiplier of a sliding contact. Three are typical.
const MAX_FRICTION_ITERATIONS: usize = 6;

/// Relative tolerance by which the friction impulse may exceed its limit before it is clamped.
const FRICTION_LIMIT_TOLERANCE: f32 = 1e-5;

/// Change of velocity by one contact below which the contact counts as converged, m/s.
const VELOCITY_TOLERANCE_MPS: f32 = 1e-6;

/// Slip speed up to which friction along the slip stays unchanged, because the slip has no direction, m/s.
const MIN_SLIP_SPEED_MPS: f32 = 1e-6;

/// Share of the compliance of the free body below which a direction counts as already constrained by other contacts.
const MIN_COMPLIANCE_SHARE: f32 = 1e-4;

/// Share of the friction limit from which on a contact counts as sliding.
const SLIDING_FRICTION_SHARE: f32 = 0.999;

/// A rigid body with contacts.
pub trait SolverBody {
    /// Returns the inverse mass, 1/kg.
    fn inverse_mass(&self) -> f32;
    /// Returns the change of angular velocity (rad/s) by an angular impulse (N m s), world axes.
    fn angular_response(&self, angular_impulse: Vec3) -> Vec3;
    /// Returns the velocity of the point at `arm` (m) from the centre of mass, world axes, m/s.
    fn velocity_at(&self, arm: Vec3) -> Vec3;
    /// Changes the motion by an impulse (N s) at the centre of mass and an angular impulse (N m s), world axes.
    fn apply_impulse(&mut self, impulse: Vec3, angular_impulse: Vec3);
}

/// Impulses of one contact accumulated so far.
#[derive(Clone, Copy, Debug)]
pub struct ContactImpulse {
    /// Smallest speed along the normal that the contact allows, m/s.
    pub min_normal_speed: f32,
    /// Normal impulse, N s, ≥ 0.
    pub normal_impulse: f32,
    /// Friction impulse, world axes, N s.
    pub friction_impulse: Vec3,
}

impl ContactImpulse {
    /// Returns zero impulses for `point` in a step of `dt` s, with the smallest normal speed
    /// [`HullPoint::allowed_speed`].
    pub fn zero(point: &HullPoint, dt: f32) -> Self {
        Self { min_normal_speed: point.allowed_speed(dt), normal_impulse: 0.0, friction_impulse: Vec3::ZERO }
    }
}

/// Method that finds the friction of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrictionMethod {
    /// Changes the friction impulse along the remaining slip. On a corner of a long body this can oscillate under load
    /// while the corner slides, because its compliance differs strongly between directions.
    AlongSlip,
    /// Solves for the exact friction impulse. Used for bodies under wheels.
    Exact,
}

/// Returns the velocity of `point` on the body relative to the obstacle (body less obstacle), world axes, m/s.
#[inline(always)]
pub fn relative_velocity(body: &impl SolverBody, point: &HullPoint) -> Vec3 {
    body.velocity_at(point.arm) - point.velocity
}

/// Solves all contacts `points` of a body under wheels with exact friction, in at most 256 passes. Changes its motion
/// and the accumulated `impulses`, one per point; they must already act on the body.
pub fn solve_under_wheels(body: &mut impl SolverBody, points: &[HullPoint], impulses: &mut [ContactImpulse]) {
    solve_contacts(body, points, impulses, FrictionMethod::Exact, MAX_PASSES_UNDER_WHEELS);
}

/// Solves all contacts `points` by sequential impulses in at most `max_passes` passes over the points in order. Stops
/// after a pass without a change above the convergence limits. Changes the motion of `body` and the accumulated
/// `impulses`, one per point; they must already act on the body. `method` selects the friction method.
pub fn solve_contacts(
    body: &mut impl SolverBody,
    points: &[HullPoint],
    impulses: &mut [ContactImpulse],
    method: FrictionMethod,
    max_passes: usize,
) {
    for _ in 0..max_passes {
        let mut has_changed = false;
        for (point, accumulated) in points.iter().zip(&mut *impulses) {
            has_changed |= solve_contact(body, point, accumulated, method);
        }
        if !has_changed {
            return;
        }
    }
}

/// Updates the `accumulated` impulses of one contact and applies their changes to `body`. First sets the normal
/// impulse, ≥ 0, so that the normal speed is at least the allowed one. Then sets friction against the remaining slip,
/// at most `friction coefficient · normal impulse`.
///
/// Returns true if the contact has not converged: its impulses change the velocity by more than 1e-6 m/s and, with
/// exact friction, also by more than 2.5e-7 of the normal impulse. Returns false for an open contact without impulse.
fn solve_contact(
    body: &mut impl SolverBody,
    point: &HullPoint,
    accumulated: &mut ContactImpulse,
    method: FrictionMethod,
) -> bool {
    let (arm, normal) = (point.arm, point.normal);
    let unclamped_change = (accumulated.min_normal_speed - relative_velocity(body, point).dot(normal))
        / compliance_along(body, arm, normal);
    let normal_impulse = (accumulated.normal_impulse + unclamped_change).max(0.0); // new normal impulse, N s
    let normal_change = normal * (normal_impulse - accumulated.normal_impulse); // change of the normal impulse, N s
    if normal_impulse == accumulated.normal_impulse && normal_impulse == 0.0 {
        return false;
    }
    accumulated.normal_impulse = normal_impulse;
    body.apply_impulse(normal_change, arm.cross(normal_change));
    let slip = relative_velocity(body, point);
    let slip = slip - normal * slip.dot(normal);
    let slip_speed = slip.length(); // m/s
    let (friction_limit, mut friction) = (point.friction * normal_impulse, accumulated.friction_impulse); // N s
    if method == FrictionMethod::Exact {
        friction = solve_friction(body, point, slip, friction, friction_limit);
    } else if slip_speed > MIN_SLIP_SPEED_MPS {
        friction -= slip / compliance_along(body, arm, slip / slip_speed);
    }
    let friction = friction.clamp_length_max(friction_limit);
    let friction_change = friction - accumulated.friction_impulse; // change of the friction impulse, N s
    accumulated.friction_impulse = friction;
    body.apply_impulse(friction_change, arm.cross(friction_change));
    let change = (normal_change + friction_change).length();
    change * body.inverse_mass() > VELOCITY_TOLERANCE_MPS
        && !(method == FrictionMethod::Exact && change <= RELATIVE_IMPULSE_TOLERANCE * normal_impulse)
}

/// Returns the change of the speed along the unit vector `direction` at `arm` by a unit impulse there in this
/// direction, 1/kg: `1/m + (r × d) · I⁻¹ (r × d)`.
#[inline(always)]
fn compliance_along(body: &impl SolverBody, arm: Vec3, direction: Vec3) -> f32 {
    let unit_moment = arm.cross(direction); // angular impulse of the unit impulse
    body.inverse_mass() + unit_moment.dot(body.angular_response(unit_moment))
}

/// Returns the friction impulse of at most `friction_limit` N s with which `point` sticks or, if that takes a larger
/// impulse, slides opposite to its friction. With the present friction impulse `friction` (N s) the point slips by
/// `slip` m/s. Solves `(C + λ) p = −v` in the tangent plane: C is the 2 × 2 compliance, v the slip without friction. λ
/// = 0 if the point sticks; otherwise λ is iterated until |p| = `friction_limit`. Does not change the body.
fn solve_friction(body: &impl SolverBody, point: &HullPoint, slip: Vec3, friction: Vec3, friction_limit: f32) -> Vec3 {
    let tangent = point.normal.any_orthonormal_vector();
    let axes = [tangent, point.normal.cross(tangent)];
    let unit_moments = axes.map(|axis| point.arm.cross(axis)); // angular impulses of unit friction impulses
    let [first_response, second_response] = unit_moments.map(|moment| body.angular_response(moment));
    let cross_compliance = unit_moments[0].dot(second_response); // off-diagonal compliance, 1/kg
    // Diagonal compliances, 1/kg.
    let compliance = [
        body.inverse_mass() + unit_moments[0].dot(first_response),
        body.inverse_mass() + unit_moments[1].dot(second_response),
    ];
    let present_friction = axes.map(|axis| friction.dot(axis)); // present friction impulse along both axes, N s
    // Slip without the present friction impulse, m/s.
    let free_slip = [
        slip.dot(axes[0]) - compliance[0] * present_friction[0] - cross_compliance * present_friction[1],
        slip.dot(axes[1]) - cross_compliance * present_friction[0] - compliance[1] * present_friction[1],
    ];
    // Sliding adds λ to the compliance. Hebden's iteration finds the λ at which the length of the impulse, which falls
    // like 1 / (compliance + λ), is the limit.
    let (mut lambda, mut negated_impulse) = (0.0, [0.0; 2]); // λ, 1/kg; and the negative impulse, N s
    for _ in 0..MAX_FRICTION_ITERATIONS {
        let [a, b] = compliance.map(|compliance| compliance + lambda);
        let determinant = a * b - cross_compliance * cross_compliance;
        let solve = |[x, y]: [f32; 2]| {
            [(b * x - cross_compliance * y) / determinant, (a * y - cross_compliance * x) / determinant]
        };
        negated_impulse = solve(free_slip);
        let impulse_length = (negated_impulse[0] * negated_impulse[0] + negated_impulse[1] * negated_impulse[1]).sqrt();
        if impulse_length <= friction_limit * (1.0 + FRICTION_LIMIT_TOLERANCE) || friction_limit == 0.0 {
            break;
        }
        let impulse_decrease = solve(negated_impulse); // decrease of the impulse per λ
        lambda += (impulse_length / friction_limit - 1.0) * impulse_length * impulse_length
            / (negated_impulse[0] * impulse_decrease[0] + negated_impulse[1] * impulse_decrease[1]);
    }
    (axes[0] * -negated_impulse[0] + axes[1] * -negated_impulse[1]).clamp_length_max(friction_limit)
}

/// Linear and angular components of a velocity or of an impulse.
type Vector6 = [f32; 6];

/// Returns the linear and the angular part of a motion or impulse as one vector of six numbers.
fn to_vector6([v, w]: [Vec3; 2]) -> Vector6 {
    [v.x, v.y, v.z, w.x, w.y, w.z]
}

/// Returns the dot product of two vectors of six numbers.
fn dot(a: &Vector6, b: &Vector6) -> f32 {
    (0..6).map(|i| a[i] * b[i]).sum()
}

/// Change of the motion of a body by impulses, as a matrix.
struct Compliance {
    /// Change of velocity (m/s) and angular velocity (rad/s) by a unit of each component of impulse (N s), then of
    /// angular impulse (N m s).
    columns: [Vector6; 6],
}

/// Returns the change of velocity and angular velocity by a unit of each component of an impulse (N s) and then of an
/// angular impulse (N m s), world axes, for a body supported by `points` with the accumulated `impulses`. Starts from
/// the free body and constrains one contact with a normal impulse > 0 after the other. A contact below 0.999 of its
/// friction limit sticks, another one slides. Open contacts have no effect. Changes neither the body nor the impulses.
pub fn response_matrix(body: &impl SolverBody, points: &[HullPoint], impulses: &[ContactImpulse]) -> [[Vec3; 2]; 6] {
    let mut compliance = Compliance::free_body(body);
    for (point, impulse) in points.iter().zip(impulses).filter(|(_, impulse)| impulse.normal_impulse > 0.0) {
        compliance.constrain_contact(body, point, impulse);
    }
    compliance.columns.map(|[x, y, z, a, b, c]| [Vec3::new(x, y, z), Vec3::new(a, b, c)])
}

impl Compliance {
    /// Returns the compliance of a body without contacts: inverse mass and inverse inertia, without coupling between
    /// them.
    fn free_body(body: &impl SolverBody) -> Self {
        let axes = Vec3::AXES;
        let linear_columns = axes.map(|axis| to_vector6([axis * body.inverse_mass(), Vec3::ZERO])); // by impulses
        let angular_columns = axes.map(|axis| to_vector6([Vec3::ZERO, body.angular_response(axis)])); // by angular impulses
        Self {
            columns: [
                linear_columns[0],
                linear_columns[1],
                linear_columns[2],
                angular_columns[0],
                angular_columns[1],
                angular_columns[2],
            ],
        }
    }

    /// Returns the change of motion by `impulse` (linear and angular).
    fn multiply(&self, impulse: &Vector6) -> Vector6 {
        core::array::from_fn(|row| (0..6).map(|column| self.columns[column][row] * impulse[column]).sum())
    }

    /// Constrains the velocity at `arm` (m) along the unit vector `direction` to zero by a force in the direction
    /// `force_direction`, with a rank-one update of the matrix `C ← C − (C f) (dᵀ C) / (dᵀ C f + softness)` with the
    /// rows d and f of both directions. At a sliding contact the force is normal plus friction, which is no unit vector
    /// and makes the matrix unsymmetric. With a `softness` (1/kg, ≥ 0) the remaining velocity is `softness` times the
    /// impulse that opposes it. Does nothing if the compliance `dᵀ C f` is at most 1e-4 of the compliance of the free
    /// body along `direction`: other contacts already constrain the direction.
    fn constrain(&mut self, body: &impl SolverBody, arm: Vec3, direction: Vec3, force_direction: Vec3, softness: f32) {
        let row = to_vector6([direction, arm.cross(direction)]); // constrained direction
        let response = self.multiply(&to_vector6([force_direction, arm.cross(force_direction)])); // motion by a unit impulse
        let row_compliance = dot(&row, &response); // compliance of the constraint, 1/kg
        if row_compliance > MIN_COMPLIANCE_SHARE * compliance_along(body, arm, direction) {
            for column in &mut self.columns {
                let factor = dot(&row, column) / (row_compliance + softness);
                (0..6).for_each(|i| column[i] -= factor * response[i]);
            }
        }
    }

    /// Constrains the motion at the pressed contact `point`. A sticking contact has zero velocity along the normal and
    /// two tangents. A sliding one (friction ≥ 0.999 of the limit) has zero velocity along the normal, and its friction
    /// grows with the normal impulse. Perpendicular to its friction it has the softness `slip speed / friction
    /// impulse`, because friction turns with the slip; without friction it is free in the tangent plane.
    fn constrain_contact(&mut self, body: &impl SolverBody, point: &HullPoint, impulse: &ContactImpulse) {
        let (normal, friction_limit) = (point.normal, point.friction * impulse.normal_impulse);
        let friction = impulse.friction_impulse.length(); // N s
        if friction >= SLIDING_FRICTION_SHARE * friction_limit {
            self.constrain(body, point.arm, normal, normal + impulse.friction_impulse / impulse.normal_impulse, 0.0);
            // The direction of friction turns with that of the slip.
            let slip = relative_velocity(body, point);
            let cross_direction = normal.cross(impulse.friction_impulse / friction);
            if friction > 0.0 {
                self.constrain(
                    body,
                    point.arm,
                    cross_direction,
                    cross_direction,
                    slip.dot(impulse.friction_impulse).abs() / (friction * friction),
                );
            }
            return;
        }
        self.constrain(body, point.arm, normal, normal, 0.0); // rigid
        let tangent = normal.any_orthonormal_vector();
        for direction in [tangent, normal.cross(tangent)] {
            self.constrain(body, point.arm, direction, direction, 0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plank of 30 kg, 40 by 10 by 0.4 m.
    struct Plank {
        velocity: Vec3,
        angular_velocity: Vec3,
    }

    impl SolverBody for Plank {
        fn inverse_mass(&self) -> f32 {
            1.0 / 30.0
        }

        fn angular_response(&self, angular_impulse: Vec3) -> Vec3 {
            angular_impulse / Vec3::new(250.0, 4000.0, 4250.0)
        }

        fn velocity_at(&self, arm: Vec3) -> Vec3 {
            self.velocity + self.angular_velocity.cross(arm)
        }

        fn apply_impulse(&mut self, impulse: Vec3, angular_impulse: Vec3) {
            self.velocity += impulse * self.inverse_mass();
            self.angular_velocity += self.angular_response(angular_impulse);
        }
    }

    /// Checks that a corner of a long plank slides opposite to its friction if the slip exceeds the friction limit, and
    /// sticks otherwise.
    #[test]
    fn friction_of_a_corner_is_found_exactly() {
        let arm = Vec3::new(20.0, 5.0, -0.2);
        let point = HullPoint { arm, gap: 0.0, normal: Vec3::Z, friction: 0.4, velocity: Vec3::ZERO };
        let slip = |plank: &Plank| relative_velocity(plank, &point) * Vec3::new(1.0, 1.0, 0.0);
        for friction_limit in [0.0, 1.0, 25.0, 1000.0] {
            let mut plank = Plank { velocity: Vec3::new(1.7, 0.2, 0.0), angular_velocity: Vec3::new(0.0, 0.0, 0.01) };
            let friction = solve_friction(&plank, &point, slip(&plank), Vec3::ZERO, friction_limit);
            plank.apply_impulse(friction, arm.cross(friction));
            let remaining_slip = slip(&plank);
            if friction_limit < 1000.0 {
                assert!(
                    (friction.length() - friction_limit).abs() <= 1e-4 * friction_limit,
                    "{friction} of {friction_limit} N s"
                );
                assert!(
                    remaining_slip.dot(friction) <= -0.9999 * remaining_slip.length() * friction.length(),
                    "{remaining_slip} m/s against {friction} N s"
                );
            } else {
                assert!(remaining_slip.length() < 1e-5, "{remaining_slip} m/s");
            }
        }
    }
}
