//! Rows of the bodywork in the converged coupling. They keep the hull out of obstacles, with friction, in the same
//! solve as the wheels. If they were solved after the wheels, a car resting on its floor pan would have the wheel loads
//! of a falling car.

use crate::port::{HullPoint, MAX_HULL_POINTS};
use crate::suspension::rows::RIGID_GAIN_FACTOR;
use bevy_math::{Mat3, Vec3};
use skidpad_simd::lane::{F32x4, Lane};
use skidpad_simd::linear::{OuterProducts, SpatialVector};
use skidpad_simd::vectors::Vec3Lanes;

/// Number of groups of four points for all contact points.
const HULL_GROUPS: usize = MAX_HULL_POINTS / 4;

/// Contact points of a hull in this step, four per group.
#[derive(Clone, Debug, Default)]
pub(crate) struct HullRows {
    /// Memory for all contact points. `None` before the first contact, unless the rows were made by
    /// [`HullRows::preallocated`].
    memory: Option<Box<[HullPointGroup; HULL_GROUPS]>>,
    /// Number of groups in use in this step, from the first.
    used_groups: usize,
}

/// Four contact points; a lane without a point has rows of zeros.
#[derive(Clone, Copy, Debug, Default)]
struct HullPointGroup {
    /// Rows along the normals out of the obstacle, with arms about the centre of mass, vehicle frame.
    normal: SpatialVector<F32x4>,
    /// Tangents: two directions orthogonal to the normal.
    tangents: [SpatialVector<F32x4>; 2],
    /// Gain of every row (kg).
    gain: F32x4,
    /// Speed along the normal that needs no impulse (m/s).
    min_normal_speed: F32x4,
    /// Friction coefficient.
    friction: F32x4,
    /// Speed of the obstacle along the three rows (m/s).
    ground_speeds: [F32x4; 3],
    /// Speed of the hull relative to the obstacle along the three rows (m/s).
    relative_speeds: [F32x4; 3],
    /// Normal impulses (N s).
    normal_impulse: F32x4,
    /// Friction impulses along both tangents (N s).
    friction_impulse: [F32x4; 2],
    /// Largest size of `friction_impulse` (N s).
    friction_limit: F32x4,
}

impl HullRows {
    /// Creates rows that allocate no memory when the hull first touches something.
    pub fn preallocated() -> Self {
        Self { memory: Some(Box::new([HullPointGroup::default(); HULL_GROUPS])), used_groups: 0 }
    }

    /// Sets the contact `points` (world axes) of a chassis of `mass` kg for a step of `dt` s, in vehicle axes by the
    /// transpose of `to_world`. Replaces the previous points; allocates at the first contact. Points beyond
    /// [`MAX_HULL_POINTS`] are left to the world. Velocities of the rows are 0 until [`HullRows::set_velocity`]. The
    /// last group in use may have lanes without a point.
    pub fn set_contacts(&mut self, points: &[HullPoint], to_world: &Mat3, mass: f32, dt: f32) {
        if self.memory.is_none() && !points.is_empty() {
            *self = Self::preallocated();
        }
        let points = &points[..points.len().min(MAX_HULL_POINTS)];
        let to_vehicle = to_world.transpose();
        self.used_groups = points.len().div_ceil(4);
        for (group, points) in self.active_groups().iter_mut().zip(points.chunks(4)) {
            *group = HullPointGroup::from_points(points, &to_vehicle, mass, dt);
        }
    }

    /// Removes all contact points.
    pub fn clear(&mut self) {
        self.used_groups = 0;
    }

    /// Returns true if no point is in contact.
    pub fn is_empty(&self) -> bool {
        self.used_groups == 0
    }

    /// Returns the groups in use.
    fn active_groups(&mut self) -> &mut [HullPointGroup] {
        self.memory.as_deref_mut().map_or(&mut [], |groups| &mut groups[..self.used_groups])
    }

    /// Sets the speeds of the hull relative to the obstacles along the rows, at the chassis `velocity` (vehicle
    /// frame).
    pub fn set_velocity(&mut self, velocity: SpatialVector<f32>) {
        for group in self.active_groups() {
            // Speeds of the chassis along the rows (m/s).
            let chassis_speeds = group.rows().map(|row| row.dot(velocity.broadcast_to_wheels()));
            group.relative_speeds = [0, 1, 2].map(|i| chassis_speeds[i] - group.ground_speeds[i]);
        }
    }

    /// Adds a `change` of the chassis velocity (vehicle frame) to the relative speeds along the rows.
    pub fn add_velocity(&mut self, change: SpatialVector<f32>) {
        for group in self.active_groups() {
            let speed_changes = group.rows().map(|row| row.dot(change.broadcast_to_wheels()));
            group.relative_speeds = [0, 1, 2].map(|i| group.relative_speeds[i] + speed_changes[i]);
        }
    }

    /// Computes the impulses at the present velocities and returns their sum on the chassis (N s, N m s). Adds their
    /// derivative `Σ gain · row rowᵀ` to `products`. If `update_limits`, the friction limits become friction
    /// coefficient times normal impulse; otherwise they stay.
    pub fn evaluate(&mut self, products: &mut OuterProducts, update_limits: bool) -> SpatialVector<f32> {
        for group in self.active_groups() {
            group.evaluate(products, update_limits);
        }
        self.impulse()
    }

    /// Computes the impulses at the present velocities, with the present friction limits. Rows this stiff are exact
    /// only after the last change of the velocity.
    pub fn finish_impulses(&mut self) {
        for group in self.active_groups() {
            // `false`: friction limits stay.
            group.compute_impulses(false);
        }
    }

    /// Returns the sum of the impulses on the chassis (N s, and N m s about the centre of mass, vehicle frame).
    pub fn impulse(&self) -> SpatialVector<f32> {
        let groups = self.memory.iter().flat_map(|groups| &groups[..self.used_groups]);
        groups.fold(SpatialVector::default(), |sum, group| sum + group.impulse().sum())
    }
}

impl HullPointGroup {
    /// Builds the rows of up to four `points` on a chassis of `mass` kg for a step of `dt` s: normal and two tangents
    /// through each point, with the gain of a rigid row for a quarter of the mass. Missing points have rows of zeros.
    /// Impulses and friction limits start at 0. The least normal speed is [`HullPoint::allowed_speed`]; the speeds of
    /// the obstacle are taken along the rows. Speeds of the hull relative to the obstacle start at 0, too.
    fn from_points(points: &[HullPoint], to_vehicle: &Mat3, mass: f32, dt: f32) -> Self {
        // Number of each point in lanes, 0 without a point.
        let gather = |field: &dyn Fn(&HullPoint) -> f32| {
            F32x4::new(core::array::from_fn(|lane| points.get(lane).map_or(0.0, field)))
        };
        let gather_vectors = |field: &dyn Fn(&HullPoint) -> Vec3| {
            Vec3Lanes::new(gather(&|p| field(p).x), gather(&|p| field(p).y), gather(&|p| field(p).z))
        };
        let arm = gather_vectors(&|p| *to_vehicle * p.arm);
        let row = |direction: Vec3Lanes<F32x4>| SpatialVector::new(direction, arm.cross(direction));
        let tangents = |p: &HullPoint| orthonormal_tangents(*to_vehicle * p.normal);
        // Speed of the obstacle along a direction in vehicle axes (m/s).
        let speed_along = |p: &HullPoint, direction: Vec3| (*to_vehicle * p.velocity).dot(direction);
        Self {
            normal: row(gather_vectors(&|p| *to_vehicle * p.normal)),
            tangents: [row(gather_vectors(&|p| tangents(p)[0])), row(gather_vectors(&|p| tangents(p)[1]))],
            // A corner carries about a quarter of the car.
            gain: gather(&|_| 0.25 * RIGID_GAIN_FACTOR * mass),
            min_normal_speed: gather(&|p| p.allowed_speed(dt)),
            friction: gather(&|p| p.friction),
            ground_speeds: [
                gather(&|p| p.velocity.dot(p.normal)),
                gather(&|p| speed_along(p, tangents(p)[0])),
                gather(&|p| speed_along(p, tangents(p)[1])),
            ],
            ..Self::default()
        }
    }

    /// Returns the three rows of each point: normal, first and second tangent.
    fn rows(&self) -> [SpatialVector<F32x4>; 3] {
        [self.normal, self.tangents[0], self.tangents[1]]
    }

    /// Returns the impulse of each point on the chassis, normal and friction impulses together.
    fn impulse(&self) -> SpatialVector<F32x4> {
        self.normal * self.normal_impulse
            + self.tangents[0] * self.friction_impulse[0]
            + self.tangents[1] * self.friction_impulse[1]
    }

    /// Computes the impulses at the present velocities. Normal: `gain · (least speed − speed)`, not below 0. Friction:
    /// `−gain · sliding speed`, scaled down to the friction limit (circle). If `update_limits`, first sets the limit to
    /// friction coefficient times normal impulse. Returns the size of the friction impulse over the sliding speed (kg);
    /// 0 for points without a limit.
    fn compute_impulses(&mut self, update_limits: bool) -> F32x4 {
        let (zero, one) = (F32x4::splat(0.0), F32x4::splat(1.0));
        self.normal_impulse = (self.gain * (self.min_normal_speed - self.relative_speeds[0])).at_least(zero);
        if update_limits {
            self.friction_limit = self.friction * self.normal_impulse;
        }
        // Points with friction.
        let has_friction = zero.less(self.friction_limit);
        // Friction impulses that would stop the sliding (N s).
        let stopping_impulse = [1, 2].map(|i| (zero - self.gain * self.relative_speeds[i]).masked(has_friction));
        let magnitude = (stopping_impulse[0] * stopping_impulse[0] + stopping_impulse[1] * stopping_impulse[1]).sqrt();
        // Factor that scales them to the limit, 0 to 1.
        let scale = F32x4::select(self.friction_limit.less(magnitude), self.friction_limit / magnitude, one);
        self.friction_impulse = stopping_impulse.map(|impulse| impulse * scale);
        (self.gain * scale).masked(has_friction)
    }

    /// Computes the impulses and adds their derivative to `products`: the gain along the normal of pressed points, and
    /// friction impulse over sliding speed along both tangents. `update_limits` is that of [`HullRows::evaluate`].
    ///
    /// Sliding friction is linearised by its secant. The derivative of friction is zero along the sliding velocity, and
    /// steps with it oscillate where the velocity reverses. The secant never overshoots (a majorant of the convex |v|).
    fn evaluate(&mut self, products: &mut OuterProducts, update_limits: bool) {
        let secant_gain = self.compute_impulses(update_limits);
        products.add(self.gain.masked(F32x4::splat(0.0).less(self.normal_impulse)), self.normal);
        for tangent in self.tangents {
            products.add(secant_gain, tangent);
        }
    }
}

/// Returns two unit vectors orthogonal to the unit vector `normal` and to each other. The first is the part of the x
/// axis (z axis, if `normal` is almost along x) that is orthogonal to `normal`. A mirrored normal gives mirrored
/// vectors, except for signs. Zeros result from a normal of zero.
fn orthonormal_tangents(normal: Vec3) -> [Vec3; 2] {
    // Axis that is not almost parallel to the normal.
    let axis = if normal.x.abs() < 0.9 { Vec3::X } else { Vec3::Z };
    let first = (axis - normal * normal.dot(axis)).normalize_or_zero();
    [first, normal.cross(first)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds rows with one point below the centre of mass, on ground that moves along y with `ground_speed` m/s.
    fn rows_of(mass: f32, friction: f32, ground_speed: f32) -> HullRows {
        let velocity = Vec3::new(0.0, ground_speed, 0.0);
        let point = HullPoint { arm: Vec3::new(0.0, 0.0, -0.5), gap: 0.0, normal: Vec3::Z, friction, velocity };
        let mut rows = HullRows::default();
        rows.set_contacts(&[point], &Mat3::IDENTITY, mass, 0.01);
        rows
    }

    /// Checks the normal impulse `g v`, with the gain g of the row, and the friction impulse: μ times as large, against
    /// the sliding velocity, with its moment about the centre of mass.
    #[test]
    fn a_point_that_slides_is_dragged_by_its_friction_against_what_it_slides_over() {
        let (mass, friction, speed) = (1000.0, 0.4, 0.002);
        let mut rows = rows_of(mass, friction, 3.0);
        // The ground moves along y with 3 m/s, so the point slides with (4, -3) m/s.
        rows.set_velocity(SpatialVector::from_vec3s(Vec3::new(4.0, 0.0, -speed), Vec3::ZERO));
        // `true`: friction limits follow the normal impulse.
        let (linear, angular) = rows.evaluate(&mut OuterProducts::zero(), true).parts();
        let normal_impulse = 0.25 * RIGID_GAIN_FACTOR * mass * speed;
        let expected = Vec3::new(-0.8 * friction, 0.6 * friction, 1.0) * normal_impulse;
        // Rounding of a few products in f32.
        assert!((linear - expected).length() < 1e-5 * normal_impulse, "{linear} instead of {expected}");
        assert!((angular - Vec3::new(0.0, 0.0, -0.5).cross(expected)).length() < 1e-5 * normal_impulse, "{angular}");
    }
}
