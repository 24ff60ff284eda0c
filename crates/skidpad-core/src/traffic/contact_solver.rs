//! Contacts of a rigid body solved by sequential impulses with friction, and the compliance of the supported body.

use crate::port::HullPoint;
use bevy_math::Vec3;

/// Maximum number of passes over the contacts of a body under wheels. A body of 1 kg that slides under 15 kN needs some hundreds. With 64
/// passes the compliance for wheel forces is not that of the prediction, and some steps do not converge.
const MAX_PASSES_UNDER_WHEELS: usize = 256;

/// Share of the normal impulse below which a change counts as converged in exact friction: two units in the last place of an f32.
const RELATIVE_IMPULSE_TOLERANCE: f32 = 2.5e-7;

/// Maximum number of iterations on the Lagrange multiplier of a sliding contact. Three are typical.
const MAX_FRICTION_ITERATIONS: usize = 6;

/// Relative tolerance by which the friction impulse may exceed its limit before it is clamped.
const FRICTION_LIMIT_TOLERANCE: f32 = 1e-5;

/// Change of velocity by one contact below which the contact counts as converged, m/s.
const VELOCITY_TOLERANCE_MPS: f32 = 1e-6;

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
    /// Returns zero impulses for `point` in a step of `dt` s, with the smallest normal speed [`HullPoint::allowed_speed`].
    pub fn zero(point: &HullPoint, dt: f32) -> Self {
        Self { min_normal_speed: point.allowed_speed(dt), normal_impulse: 0.0, friction_impulse: Vec3::ZERO }
    }
}

/// Method that finds the friction of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrictionMethod {
    /// Changes the friction impulse along the remaining slip. On a corner of a long body this can oscillate under load while the corner
    /// slides, because its compliance differs strongly between directions.
    AlongSlip,
    /// Solves for the exact friction impulse. Used for bodies under wheels.
    Exact,
}

/// Returns the velocity of `point` on the body relative to the obstacle (body less obstacle), world axes, m/s.
#[inline(always)]
pub fn relative_velocity(body: &impl SolverBody, point: &HullPoint) -> Vec3 {
    body.velocity_at(point.arm) - point.velocity
}

/// Solves all contacts `points` of a body under wheels with exact friction, in at most 256 passes. Changes its motion and the accumulated impulses
/// `given`, one per point; they must already act on the body.
pub fn solve_under_wheels(body: &mut impl SolverBody, points: &[HullPoint], given: &mut [ContactImpulse]) {
    solve_contacts(body, points, given, FrictionMethod::Exact, MAX_PASSES_UNDER_WHEELS);
}

/// Solves all contacts `points` by sequential impulses in at most `passes` passes over the points in order. Stops after a pass without a change above
/// the convergence limits. Changes the motion of `body` and the accumulated impulses `given`, one per point; they must already act on the body.
/// `drag` selects the friction method.
pub fn solve_contacts(
    body: &mut impl SolverBody,
    points: &[HullPoint],
    given: &mut [ContactImpulse],
    drag: FrictionMethod,
    passes: usize,
) {
    for _ in 0..passes {
        let mut changed = false;
        for (point, so_far) in points.iter().zip(&mut *given) {
            changed |= solve_contact(body, point, so_far, drag);
        }
        if !changed {
            return;
        }
    }
}

/// Updates the accumulated impulses `so_far` of one contact and applies the changes to `body`. First the normal impulse, ≥ 0, so that the normal
/// speed is at least the allowed one; then friction against the remaining slip, at most `friction coefficient · normal impulse`. Returns true if the
/// change is above the convergence limits: 1e-6 m/s, and for exact friction also 2.5e-7 of the normal impulse. An open contact without impulse
/// returns false.
fn solve_contact(
    body: &mut impl SolverBody,
    point: &HullPoint,
    so_far: &mut ContactImpulse,
    friction: FrictionMethod,
) -> bool {
    let (arm, normal) = (point.arm, point.normal);
    let wanted =
        (so_far.min_normal_speed - relative_velocity(body, point).dot(normal)) / compliance_along(body, arm, normal);
    let pressed = (so_far.normal_impulse + wanted).max(0.0); // new normal impulse, N s
    let push = normal * (pressed - so_far.normal_impulse); // change of the normal impulse, N s
    if pressed == so_far.normal_impulse && pressed == 0.0 {
        return false;
    }
    so_far.normal_impulse = pressed;
    body.apply_impulse(push, arm.cross(push));
    let slip = relative_velocity(body, point);
    let slip = slip - normal * slip.dot(normal);
    let size = slip.length(); // m/s
    let (most, mut drag) = (point.friction * pressed, so_far.friction_impulse); // friction limit and friction impulse, N s
    if friction == FrictionMethod::Exact {
        drag = solve_friction(body, point, slip, drag, most);
    } else if size > 1e-6 {
        drag -= slip / compliance_along(body, arm, slip / size);
    }
    let drag = drag.clamp_length_max(most);
    let more = drag - so_far.friction_impulse; // change of the friction impulse, N s
    so_far.friction_impulse = drag;
    body.apply_impulse(more, arm.cross(more));
    let change = (push + more).length();
    change * body.inverse_mass() > VELOCITY_TOLERANCE_MPS
        && !(friction == FrictionMethod::Exact && change <= RELATIVE_IMPULSE_TOLERANCE * pressed)
}

/// Returns the change of the speed along the unit vector `along` at `arm` by a unit impulse there in this direction, 1/kg:
/// `1/m + (r × d) · I⁻¹ (r × d)`.
#[inline(always)]
fn compliance_along(body: &impl SolverBody, arm: Vec3, along: Vec3) -> f32 {
    let lever = arm.cross(along); // angular impulse of the unit impulse
    body.inverse_mass() + lever.dot(body.angular_response(lever))
}

/// Returns the friction impulse of at most `most` N s with which a point sticks, or slides opposite to the friction. `drag` is the present friction
/// impulse, with which the point slips by `slip` m/s. Solves `(C + λ) p = −v` in the tangent plane: C is the 2 × 2 compliance, v the slip without
/// friction. λ = 0 if the point sticks; otherwise λ is iterated until |p| = `most`. Does not change the body.
fn solve_friction(body: &impl SolverBody, point: &HullPoint, slip: Vec3, drag: Vec3, most: f32) -> Vec3 {
    let side = point.normal.any_orthonormal_vector();
    let axes = [side, point.normal.cross(side)];
    let turns = axes.map(|axis| point.arm.cross(axis)); // angular impulses of unit friction impulses
    let [first, second] = turns.map(|turn| body.angular_response(turn));
    let between = turns[0].dot(second); // off-diagonal compliance, 1/kg
    let give = [body.inverse_mass() + turns[0].dot(first), body.inverse_mass() + turns[1].dot(second)]; // diagonal compliances, 1/kg
    let held = axes.map(|axis| drag.dot(axis)); // present friction impulse along both axes, N s
    // Slip without the present friction impulse, m/s.
    let wanted = [
        slip.dot(axes[0]) - give[0] * held[0] - between * held[1],
        slip.dot(axes[1]) - between * held[0] - give[1] * held[1],
    ];
    // Sliding adds λ to the compliance. Hebden's iteration finds the λ at which the length of the impulse, which falls like 1 / (give + λ),
    // is the limit.
    let (mut slides, mut found) = (0.0, [0.0; 2]); // λ, 1/kg; and the negative impulse, N s
    for _ in 0..MAX_FRICTION_ITERATIONS {
        let [a, b] = give.map(|give| give + slides);
        let determinant = a * b - between * between;
        let solve = |[x, y]: [f32; 2]| [(b * x - between * y) / determinant, (a * y - between * x) / determinant];
        found = solve(wanted);
        let size = (found[0] * found[0] + found[1] * found[1]).sqrt();
        if size <= most * (1.0 + FRICTION_LIMIT_TOLERANCE) || most == 0.0 {
            break;
        }
        let fall = solve(found); // decrease of the impulse per λ
        slides += (size / most - 1.0) * size * size / (found[0] * fall[0] + found[1] * fall[1]);
    }
    (axes[0] * -found[0] + axes[1] * -found[1]).clamp_length_max(most)
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
    /// Change of velocity (m/s) and angular velocity (rad/s) by a unit of each component of impulse (N s), then of angular impulse (N m s).
    columns: [Vector6; 6],
}

/// Returns the change of velocity and angular velocity by a unit of each component of an impulse (N s) and then of an angular impulse (N m s), for a
/// body supported by `points` with the impulses `given`. Starts from the free body and constrains one contact with a normal impulse > 0 after the
/// other: a contact below 0.999 of its friction limit sticks, another one slides. Open contacts have no effect.
pub fn response_matrix(body: &impl SolverBody, points: &[HullPoint], given: &[ContactImpulse]) -> [[Vec3; 2]; 6] {
    let mut compliance = Compliance::free_body(body);
    for (point, given) in points.iter().zip(given).filter(|(_, given)| given.normal_impulse > 0.0) {
        compliance.constrain_contact(body, point, given);
    }
    compliance.columns.map(|[x, y, z, a, b, c]| [Vec3::new(x, y, z), Vec3::new(a, b, c)])
}

impl Compliance {
    /// Returns the compliance of a body without contacts: inverse mass and inverse inertia, without coupling between them.
    fn free_body(body: &impl SolverBody) -> Self {
        let axes = Vec3::AXES;
        let moves = axes.map(|axis| to_vector6([axis * body.inverse_mass(), Vec3::ZERO])); // by impulses
        let turns = axes.map(|axis| to_vector6([Vec3::ZERO, body.angular_response(axis)])); // by angular impulses
        Self { columns: [moves[0], moves[1], moves[2], turns[0], turns[1], turns[2]] }
    }

    /// Returns the change of motion by `impulse` (linear and angular).
    fn multiply(&self, impulse: &Vector6) -> Vector6 {
        core::array::from_fn(|i| (0..6).map(|k| self.columns[k][i] * impulse[k]).sum())
    }

    /// Constrains the velocity at `arm` along the unit vector `along` to zero by a force in the direction `push`. With a `softness` (1/kg, ≥ 0) the
    /// remaining velocity is `softness` times the impulse that opposes it. This is a rank-one update of the matrix. Does nothing if the compliance
    /// from `push` to `along` is below 1e-4 of that of the free body: other contacts already constrain the direction.
    fn constrain(&mut self, body: &impl SolverBody, arm: Vec3, along: Vec3, push: Vec3, softness: f32) {
        let row = to_vector6([along, arm.cross(along)]); // constrained direction
        let changes = self.multiply(&to_vector6([push, arm.cross(push)])); // motion by a unit impulse
        let gives = dot(&row, &changes); // compliance of the constraint, 1/kg
        if gives > MIN_COMPLIANCE_SHARE * compliance_along(body, arm, along) {
            for column in &mut self.columns {
                let share = dot(&row, column) / (gives + softness);
                (0..6).for_each(|i| column[i] -= share * changes[i]);
            }
        }
    }

    /// Constrains the motion at the pressed contact `point`. A sticking contact has zero velocity along the normal and two tangents. A sliding one
    /// (friction ≥ 0.999 of the limit) has zero velocity along the normal, and friction grows with the normal impulse; across the friction, the
    /// softness is `slip speed / friction impulse`, because friction turns with the slip.
    fn constrain_contact(&mut self, body: &impl SolverBody, point: &HullPoint, given: &ContactImpulse) {
        let (normal, most) = (point.normal, point.friction * given.normal_impulse);
        let drag = given.friction_impulse.length(); // N s
        if drag >= SLIDING_FRICTION_SHARE * most {
            self.constrain(body, point.arm, normal, normal + given.friction_impulse / given.normal_impulse, 0.0);
            // The direction of friction turns with that of the slip.
            let slip = relative_velocity(body, point);
            let across = normal.cross(given.friction_impulse / drag);
            if drag > 0.0 {
                self.constrain(body, point.arm, across, across, slip.dot(given.friction_impulse).abs() / (drag * drag));
            }
            return;
        }
        self.constrain(body, point.arm, normal, normal, 0.0); // rigid
        let side = normal.any_orthonormal_vector();
        for along in [side, normal.cross(side)] {
            self.constrain(body, point.arm, along, along, 0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plank of 30 kg, 40 by 10 by 0.4 m.
    struct Plank {
        velocity: Vec3,
        angular: Vec3,
    }

    impl SolverBody for Plank {
        fn inverse_mass(&self) -> f32 {
            1.0 / 30.0
        }

        fn angular_response(&self, angular_impulse: Vec3) -> Vec3 {
            angular_impulse / Vec3::new(250.0, 4000.0, 4250.0)
        }

        fn velocity_at(&self, arm: Vec3) -> Vec3 {
            self.velocity + self.angular.cross(arm)
        }

        fn apply_impulse(&mut self, impulse: Vec3, angular_impulse: Vec3) {
            self.velocity += impulse * self.inverse_mass();
            self.angular += self.angular_response(angular_impulse);
        }
    }

    /// Checks that a corner of a long plank slides opposite to its friction if the slip exceeds the friction limit, and sticks otherwise.
    #[test]
    fn friction_of_a_corner_is_found_exactly() {
        let arm = Vec3::new(20.0, 5.0, -0.2);
        let point = HullPoint { arm, gap: 0.0, normal: Vec3::Z, friction: 0.4, velocity: Vec3::ZERO };
        let slip = |plank: &Plank| relative_velocity(plank, &point) * Vec3::new(1.0, 1.0, 0.0);
        for most in [0.0, 1.0, 25.0, 1000.0] {
            let mut plank = Plank { velocity: Vec3::new(1.7, 0.2, 0.0), angular: Vec3::new(0.0, 0.0, 0.01) };
            let drag = solve_friction(&plank, &point, slip(&plank), Vec3::ZERO, most);
            plank.apply_impulse(drag, arm.cross(drag));
            let left = slip(&plank);
            if most < 1000.0 {
                assert!((drag.length() - most).abs() <= 1e-4 * most, "{drag} of {most} N s");
                assert!(left.dot(drag) <= -0.9999 * left.length() * drag.length(), "{left} m/s against {drag} N s");
            } else {
                assert!(left.length() < 1e-5, "{left} m/s");
            }
        }
    }
}
