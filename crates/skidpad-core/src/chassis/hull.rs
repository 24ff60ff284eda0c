//! Rows of the bodywork in the converged coupling. They keep the hull out of obstacles, with friction, in the same
//! solve as the wheels. If they were solved after the wheels, a car resting on its floor pan would have the wheel loads
//! of a falling car.

use crate::lane::{Four, Lane};
use crate::linear::{OuterProducts, SpatialVector};
use crate::suspension::rows::SOLIDITY;
use crate::vectors::Vec3Lanes;
use crate::world::seam::{HULL_POINTS, HullPoint};
use bevy_math::{Mat3, Vec3};

const BANKS: usize = HULL_POINTS / 4;

/// Contact points of a hull in this step, four per bank.
#[derive(Clone, Debug, Default)]
pub(crate) struct HullRows {
    /// Memory for all contact points. Empty before the first contact, unless the rows were made by
    /// [`HullRows::with_room`].
    banks: Box<[Points]>,
    used: usize,
}

/// Four contact points; a lane without a point has rows of zeros.
#[derive(Clone, Copy, Debug, Default)]
struct Points {
    normal: SpatialVector<Four>,
    /// Tangents: two directions orthogonal to the normal.
    tangents: [SpatialVector<Four>; 2],
    /// Gain of every row (kg).
    rigid: Four,
    /// Speed along the normal that needs no impulse (m/s).
    allowed: Four,
    friction: Four,
    /// Speed of the obstacle along the three rows (m/s).
    ground: [Four; 3],
    /// Speed of the hull relative to the obstacle along the three rows (m/s).
    seen: [Four; 3],
    /// Normal impulses (N s).
    pressed: Four,
    /// Friction impulses along both tangents (N s).
    drag: [Four; 2],
    /// Largest size of `drag` (N s).
    reach: Four,
}

impl HullRows {
    /// Creates rows that allocate no memory when the hull first touches something.
    pub fn with_room() -> Self {
        Self { banks: Box::new([Points::default(); BANKS]), used: 0 }
    }

    /// Sets the contact `points` of a chassis of `mass` kg for a step of `dt` s. Points beyond [`HULL_POINTS`] are left
    /// to the world.
    pub fn set_contacts(&mut self, points: &[HullPoint], to_world: &Mat3, mass: f32, dt: f32) {
        if self.banks.is_empty() && !points.is_empty() {
            *self = Self::with_room();
        }
        let points = &points[..points.len().min(HULL_POINTS)];
        let to_vehicle = to_world.transpose();
        self.used = points.len().div_ceil(4);
        for (bank, points) in self.banks.iter_mut().zip(points.chunks(4)) {
            *bank = Points::of(points, &to_vehicle, mass, dt);
        }
    }

    /// Removes all contact points.
    pub fn clear(&mut self) {
        self.used = 0;
    }

    /// Returns true if no point is in contact.
    pub fn is_off(&self) -> bool {
        self.used == 0
    }

    fn active(&mut self) -> &mut [Points] {
        &mut self.banks[..self.used]
    }

    /// Sets the velocities of the rows at the chassis velocity `at`.
    pub fn set_velocity(&mut self, at: SpatialVector<f32>) {
        for points in self.active() {
            let own = points.rows().map(|row| row.dot(at.at_each_wheel()));
            points.seen = [0, 1, 2].map(|i| own[i] - points.ground[i]);
        }
    }

    /// Adds a `change` of the chassis velocity to the velocities of the rows.
    pub fn add_velocity(&mut self, change: SpatialVector<f32>) {
        for points in self.active() {
            let by = points.rows().map(|row| row.dot(change.at_each_wheel()));
            points.seen = [0, 1, 2].map(|i| points.seen[i] + by[i]);
        }
    }

    /// Computes the impulses at the present velocities and returns their sum on the chassis. Adds their derivative to
    /// `products`. If `follow`, friction limits follow the normal impulses; otherwise they stay.
    pub fn answer(&mut self, products: &mut OuterProducts, follow: bool) -> SpatialVector<f32> {
        for points in self.active() {
            points.answer(products, follow);
        }
        self.impulse()
    }

    /// Computes the impulses at the present velocities. Rows this stiff are exact only after the last change.
    pub fn settle(&mut self) {
        for points in self.active() {
            points.press(false);
        }
    }

    /// Returns the sum of the impulses on the chassis.
    pub fn impulse(&self) -> SpatialVector<f32> {
        self.banks[..self.used].iter().fold(SpatialVector::default(), |sum, points| sum + points.impulse().sum())
    }
}

impl Points {
    fn of(points: &[HullPoint], to_vehicle: &Mat3, mass: f32, dt: f32) -> Self {
        let each =
            |of: &dyn Fn(&HullPoint) -> f32| Four::new(core::array::from_fn(|lane| points.get(lane).map_or(0.0, of)));
        let vectors = |of: &dyn Fn(&HullPoint) -> Vec3| {
            Vec3Lanes::new(each(&|p| of(p).x), each(&|p| of(p).y), each(&|p| of(p).z))
        };
        let arm = vectors(&|p| *to_vehicle * p.arm);
        let row = |direction: Vec3Lanes<Four>| SpatialVector::new(direction, arm.cross(direction));
        let tangents = |p: &HullPoint| across(*to_vehicle * p.normal);
        let speed_along = |p: &HullPoint, row: Vec3| (*to_vehicle * p.velocity).dot(row);
        Self {
            normal: row(vectors(&|p| *to_vehicle * p.normal)),
            tangents: [row(vectors(&|p| tangents(p)[0])), row(vectors(&|p| tangents(p)[1]))],
            // A corner carries about a quarter of the car.
            rigid: each(&|_| 0.25 * SOLIDITY * mass),
            allowed: each(&|p| p.allowed_speed(dt)),
            friction: each(&|p| p.friction),
            ground: [
                each(&|p| p.velocity.dot(p.normal)),
                each(&|p| speed_along(p, tangents(p)[0])),
                each(&|p| speed_along(p, tangents(p)[1])),
            ],
            ..Self::default()
        }
    }

    fn rows(&self) -> [SpatialVector<Four>; 3] {
        [self.normal, self.tangents[0], self.tangents[1]]
    }

    fn impulse(&self) -> SpatialVector<Four> {
        self.normal * self.pressed + self.tangents[0] * self.drag[0] + self.tangents[1] * self.drag[1]
    }

    /// Computes the impulses at the present velocities. Returns friction impulse over sliding speed (kg).
    fn press(&mut self, follow: bool) -> Four {
        let (zero, one) = (Four::splat(0.0), Four::splat(1.0));
        self.pressed = (self.rigid * (self.allowed - self.seen[0])).at_least(zero);
        if follow {
            self.reach = self.friction * self.pressed;
        }
        let grips = zero.less(self.reach);
        let wanted = [1, 2].map(|i| (zero - self.rigid * self.seen[i]).only(grips));
        let size = (wanted[0] * wanted[0] + wanted[1] * wanted[1]).sqrt();
        let share = Four::select(self.reach.less(size), self.reach / size, one);
        self.drag = wanted.map(|wanted| wanted * share);
        (self.rigid * share).only(grips)
    }

    /// Computes the impulses and adds their derivative to `products`.
    ///
    /// Sliding friction is linearised by its secant. Its derivative is zero along the sliding velocity, and steps with
    /// it oscillate where the velocity reverses. The secant never overshoots (a majorant of the convex |v|).
    fn answer(&mut self, products: &mut OuterProducts, follow: bool) {
        let secant = self.press(follow);
        products.add(self.rigid.only(Four::splat(0.0).less(self.pressed)), self.normal);
        for tangent in self.tangents {
            products.add(secant, tangent);
        }
    }
}

/// Returns two unit vectors orthogonal to `normal` and to each other. A mirrored normal gives mirrored vectors, except
/// for signs.
fn across(normal: Vec3) -> [Vec3; 2] {
    let other = if normal.x.abs() < 0.9 { Vec3::X } else { Vec3::Z };
    let first = (other - normal * normal.dot(other)).normalize_or_zero();
    [first, normal.cross(first)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds rows with one point below the centre of mass, on ground that moves along y with `ground` m/s.
    fn rows_of(mass: f32, friction: f32, ground: f32) -> HullRows {
        let velocity = Vec3::new(0.0, ground, 0.0);
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
        rows.set_velocity(SpatialVector::of(Vec3::new(4.0, 0.0, -speed), Vec3::ZERO));
        let (linear, angular) = rows.answer(&mut OuterProducts::none(), true).parts();
        let pressed = 0.25 * SOLIDITY * mass * speed;
        let expected = Vec3::new(-0.8 * friction, 0.6 * friction, 1.0) * pressed;
        // Rounding of a few products in f32.
        assert!((linear - expected).length() < 1e-5 * pressed, "{linear} instead of {expected}");
        assert!((angular - Vec3::new(0.0, 0.0, -0.5).cross(expected)).length() < 1e-5 * pressed, "{angular}");
    }
}
