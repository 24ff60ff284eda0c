//! How rigid bodies turn, and what a step does to four of them side by side, a number of each in a lane, or to one.

use skidpad_core::lane::{Four, FourMask, Lane};
use skidpad_core::vectors::{Axes, Vec3Lanes, turned};
use skidpad_core::{Mat3, Push, Quat, Vec3, model::Hull};

use crate::chassis::{Chassis, Motion};
use crate::ground::Ground;

/// Turning of rigid bodies in world axes; matrices lead from their own axes.
pub(crate) struct Turning<L> {
    pub axes: Axes<L>,
    pub inertia: Axes<L>,
    pub inverse_inertia: Axes<L>,
    /// Angular velocity, rad/s, and by how much that of the pose lags.
    pub angular: Vec3Lanes<L>,
    pub lag: Vec3Lanes<L>,
}

impl<L: Lane> Turning<L> {
    /// What a `matrix` in vehicle axes makes of a vector in world axes.
    #[inline(always)]
    fn through(axes: &Axes<L>, matrix: &Axes<L>, vector: Vec3Lanes<L>) -> Vec3Lanes<L> {
        axes.times(matrix.times(axes.transposed().times(vector)))
    }

    /// Angular momentum about the centre of mass, N m s.
    #[inline(always)]
    pub fn momentum(&self) -> Vec3Lanes<L> {
        Self::through(&self.axes, &self.inertia, self.angular)
    }

    /// Angular velocity in the middle of the coming `dt` s, rad/s, with the angular momentum L; with that fixed, dω/dt = −J⁻¹ (ω × L).
    #[inline(always)]
    pub fn rate_half_way(&self, momentum: Vec3Lanes<L>, dt: f32) -> Vec3Lanes<L> {
        let rate = self.angular - self.lag;
        let change = Self::through(&self.axes, &self.inverse_inertia, rate.cross(momentum));
        rate - change * L::splat(0.5 * dt)
    }
}

/// Numbers of `N` bodies side by side, or of one.
trait Abreast<const N: usize>: Lane {
    /// One number of each.
    fn column(of: [f32; N]) -> Self;

    /// Four numbers of each as each number of all.
    fn columns(of: [[f32; 4]; N]) -> [Self; 4];

    /// Each of four numbers of all as the numbers of each.
    fn rows(of: [Self; 4]) -> [[f32; 4]; N];

    /// Body by body.
    fn each(mask: Self::Mask) -> [bool; N];
}

impl Abreast<1> for f32 {
    #[inline(always)]
    fn column([of]: [f32; 1]) -> Self {
        of
    }

    #[inline(always)]
    fn columns([of]: [[f32; 4]; 1]) -> [Self; 4] {
        of
    }

    #[inline(always)]
    fn rows(of: [Self; 4]) -> [[f32; 4]; 1] {
        [of]
    }

    #[inline(always)]
    fn each(mask: bool) -> [bool; 1] {
        [mask]
    }
}

impl Abreast<4> for Four {
    #[inline(always)]
    fn column(of: [f32; 4]) -> Self {
        Self::new(of)
    }

    #[inline(always)]
    fn columns([a, b, c, d]: [[f32; 4]; 4]) -> [Self; 4] {
        Self::transposed([Self::new(a), Self::new(b), Self::new(c), Self::new(d)])
    }

    #[inline(always)]
    fn rows(of: [Self; 4]) -> [[f32; 4]; 4] {
        let [a, b, c, d] = Self::transposed(of);
        [a.lanes(), b.lanes(), c.lanes(), d.lanes()]
    }

    #[inline(always)]
    fn each(mask: FourMask) -> [bool; 4] {
        mask.lanes()
    }
}

#[inline(always)]
fn columns<L: Abreast<N>, const N: usize, T>(of: [&T; N], numbers: impl Fn(&T) -> [f32; 4]) -> [L; 4] {
    L::columns(of.map(numbers))
}

#[inline(always)]
fn column<L: Abreast<N>, const N: usize, T>(of: [&T; N], number: impl Fn(&T) -> f32) -> L {
    L::column(of.map(number))
}

#[inline(always)]
fn matrices<L: Abreast<N>, const N: usize>(of: [&Chassis; N], matrix: impl Fn(&Chassis) -> &Mat3) -> Axes<L> {
    let [xx, xy, xz, yx] = columns(of, |chassis| {
        let Mat3 { x_axis, y_axis, .. } = *matrix(chassis);
        [x_axis.x, x_axis.y, x_axis.z, y_axis.x]
    });
    let [yy, yz, zx, zy] = columns(of, |chassis| {
        let Mat3 { y_axis, z_axis, .. } = *matrix(chassis);
        [y_axis.y, y_axis.z, z_axis.x, z_axis.y]
    });
    let zz = column(of, |chassis| matrix(chassis).z_axis.z);
    Axes { x: Vec3Lanes::new(xx, xy, xz), y: Vec3Lanes::new(yx, yy, yz), z: Vec3Lanes::new(zx, zy, zz) }
}

/// How they move, and by how much their poses lag.
#[inline(always)]
fn motions<L: Abreast<N>, const N: usize>(of: [&Chassis; N]) -> [Vec3Lanes<L>; 4] {
    let [a, b, c, d] = columns(of, |Chassis { velocity: v, angular: w, .. }| [v.x, v.y, v.z, w.x]);
    let [e, f, g, h] = columns(of, |Chassis { angular: w, lag, .. }| [w.y, w.z, lag.velocity.x, lag.velocity.y]);
    let [i, j, k, l] = columns(of, |Chassis { lag: Motion { velocity: v, angular: w }, .. }| [v.z, w.x, w.y, w.z]);
    [Vec3Lanes::new(a, b, c), Vec3Lanes::new(d, e, f), Vec3Lanes::new(g, h, i), Vec3Lanes::new(j, k, l)]
}

/// Changes velocities over a whole step by what falls and by `pushes`, one for each chassis: poses will move with their mean.
#[inline(always)]
pub(crate) fn push(chassis: &mut [Chassis], pushes: &[Push], fall: Vec3) {
    let (fours, rest) = chassis.as_chunks_mut::<4>();
    let (pushes_of_fours, pushes_of_rest) = pushes.as_chunks::<4>();
    for (four, pushes) in fours.iter_mut().zip(pushes_of_fours) {
        let [a, b, c, d] = &*four;
        let pushed = pushed::<Four, 4>([a, b, c, d], pushes.each_ref(), fall);
        let [a, b, c, d] = four;
        a.be_pushed(pushed[0], &pushes[0]);
        b.be_pushed(pushed[1], &pushes[1]);
        c.be_pushed(pushed[2], &pushes[2]);
        d.be_pushed(pushed[3], &pushes[3]);
    }
    for (one, push) in rest.iter_mut().zip(pushes_of_rest) {
        let [pushed] = pushed::<f32, 1>([one], [push], fall);
        one.be_pushed(pushed, push);
    }
}

/// Velocity, angular velocity and by how much those of the pose lag, three by four numbers.
type MotionNumbers = [[f32; 4]; 3];

/// How chassis move when they have been pushed.
#[inline(always)]
fn pushed<L: Abreast<N>, const N: usize>(of: [&Chassis; N], pushes: [&Push; N], fall: Vec3) -> [MotionNumbers; N] {
    let [a, b, c, d] = columns(pushes, |Push { impulse: of, angular_impulse: turn, .. }| [of.x, of.y, of.z, turn.x]);
    let (e, f) = (column(pushes, |push| push.angular_impulse.y), column(pushes, |push| push.angular_impulse.z));
    let (impulse, turn) = (Vec3Lanes::<L>::new(a, b, c), Vec3Lanes::new(d, e, f));
    let (axes, inverse_inertia) = (matrices(of, |one| &one.axes), matrices(of, |one| &one.inverse_inertia));
    let spun = Turning::through(&axes, &inverse_inertia, turn);
    let pushed = Vec3Lanes::splat(fall) + impulse * column(of, |one| one.inverse_mass);
    let [velocity, angular, ..] = motions(of);
    let half = L::splat(0.5);
    let [velocity, angular] = [velocity + pushed, angular + spun];
    let [lag, angular_lag] = [pushed * half, spun * half];
    let first = L::rows([velocity.x, velocity.y, velocity.z, angular.x]);
    let second = L::rows([angular.y, angular.z, lag.x, lag.y]);
    let third = L::rows([lag.z, angular_lag.x, angular_lag.y, angular_lag.z]);
    core::array::from_fn(
        #[inline(always)]
        |k| [first[k], second[k], third[k]],
    )
}

impl Chassis {
    #[inline(always)]
    fn be_pushed(&mut self, [[a, b, c, d], [e, f, g, h], [i, j, k, l]]: MotionNumbers, push: &Push) {
        if self.away {
            return;
        }
        (self.velocity, self.angular) = (Vec3::new(a, b, c), Vec3::new(d, e, f));
        self.lag = Motion { velocity: Vec3::new(g, h, i), angular: Vec3::new(j, k, l) };
        if push.stop != Vec3::ZERO {
            self.stop(push.stop, push.angular_stop);
        }
    }
}

/// Which hulls come so near to the plane of `ground` within `dt` s that their corners have to be looked at.
#[inline(always)]
fn near_plane<L: Abreast<N>, const N: usize>(of: [&Chassis; N], ground: &Ground, dt: f32) -> [bool; N] {
    let (normal, wide) = (Vec3Lanes::<L>::splat(ground.normal), ground.normal.as_dvec3());
    let [velocity, angular, ..]: [Vec3Lanes<L>; 4] = motions(of);
    let [x, y, z, half_x] = columns(of, |Chassis { hull: Hull { centre, half_extents }, .. }| {
        [centre.x, centre.y, centre.z, half_extents.x]
    });
    let (half_y, half_z) = (column(of, |one| one.hull.half_extents.y), column(of, |one| one.hull.half_extents.z));
    let hull = [Vec3Lanes::new(x, y, z), Vec3Lanes::new(half_x, half_y, half_z)];
    let height = column(of, |one| one.position.dot(wide) as f32);
    let turning = angular.dot(angular).sqrt() * column(of, |one| one.hull_reach);
    let ahead = L::splat(dt) * (turning - velocity.dot(normal));
    L::each(!ahead.less(lowest(height, normal, &matrices(of, |one| &one.axes), hull)))
}

/// Does `each` with every chassis whose hull comes near to the plane of `ground` within `dt` s.
#[inline(always)]
pub(crate) fn near_the_plane(
    chassis: &mut [Chassis],
    ground: &Ground,
    dt: f32,
    mut each: impl FnMut(usize, &mut Chassis),
) {
    let (fours, rest) = chassis.as_chunks_mut::<4>();
    let in_fours = 4 * fours.len();
    for (number, four) in fours.iter_mut().enumerate() {
        let [a, b, c, d] = &*four;
        let near = near_plane::<Four, 4>([a, b, c, d], ground, dt);
        if near.contains(&true) {
            let near = four.iter_mut().enumerate().zip(near).filter(|(_, near)| *near);
            near.for_each(|((k, one), _)| each(4 * number + k, one));
        }
    }
    for (k, one) in rest.iter_mut().enumerate() {
        if near_plane::<f32, 1>([one], ground, dt)[0] {
            each(in_fours + k, one);
        }
    }
}

/// Height of the lowest point of a hull, m, along the `normal` of a plane, above which its centre of mass is at `height` m: a box with
/// a centre and half extents in the axes of its body.
#[inline(always)]
pub(crate) fn lowest<L: Lane>(
    height: L,
    normal: Vec3Lanes<L>,
    axes: &Axes<L>,
    [centre, half_extents]: [Vec3Lanes<L>; 2],
) -> L {
    let seen = axes.transposed().times(normal);
    height + seen.dot(centre) - seen.abs().dot(half_extents)
}

/// Where a chassis gets to.
#[derive(Clone, Copy)]
struct Moved {
    /// Way, m, and the last component of the axes.
    way: [f32; 4],
    rotation: [f32; 4],
    /// The first eight components of the axes.
    axes: [[f32; 4]; 2],
    angular: [f32; 4],
    is_finite: bool,
}

/// Where chassis get to in `dt` s.
#[inline(always)]
fn moved<L: Abreast<N>, const N: usize>(of: [&Chassis; N], dt: f32) -> [Moved; N] {
    let [velocity, angular, velocity_lag, lag] = motions(of);
    let way = (velocity - velocity_lag) * L::splat(dt);
    let rotation = columns(of, |one| one.rotation.to_array());
    let turning = Turning {
        axes: matrices(of, |one| &one.axes),
        inertia: matrices(of, |one| &one.inertia),
        inverse_inertia: matrices(of, |one| &one.inverse_inertia),
        angular,
        lag,
    };
    let momentum = turning.momentum();
    let rotation = turned(rotation, turning.rate_half_way(momentum, dt), dt);
    let axes = Axes::rotated(rotation);
    let angular = Turning::through(&axes, &turning.inverse_inertia, momentum);
    let [x, y, z, w] = rotation;
    // A turn too fast for 32 bits leaves a rotation of no length.
    let has_length = L::splat(0.5).less(x * x + y * y + z * z + w * w);
    let moves = velocity + angular;
    let is_finite = L::each(has_length & (moves.x + moves.y + moves.z).abs().less(L::splat(f32::INFINITY)));
    let way = L::rows([way.x, way.y, way.z, axes.z.z]);
    let rotation = L::rows(rotation);
    let first = L::rows([axes.x.x, axes.x.y, axes.x.z, axes.y.x]);
    let second = L::rows([axes.y.y, axes.y.z, axes.z.x, axes.z.y]);
    let angular = L::rows([angular.x, angular.y, angular.z, L::default()]);
    core::array::from_fn(
        #[inline(always)]
        |k| Moved {
            way: way[k],
            rotation: rotation[k],
            axes: [first[k], second[k]],
            angular: angular[k],
            is_finite: is_finite[k],
        },
    )
}

impl Chassis {
    #[inline(always)]
    fn take(&mut self, moved: &Moved) {
        if self.away {
            return;
        }
        let [x, y, z, last] = moved.way;
        let position = self.position + Vec3::new(x, y, z).as_dvec3();
        self.lag = Motion::default();
        if !(moved.is_finite && (position.x + position.y + position.z).is_finite()) {
            (self.velocity, self.angular) = (Vec3::ZERO, Vec3::ZERO);
            return;
        }
        let [[a, b, c, d], [e, f, g, h]] = moved.axes;
        self.position = position;
        self.rotation = Quat::from_array(moved.rotation);
        self.axes = Mat3::from_cols_array(&[a, b, c, d, e, f, g, h, last]);
        let [x, y, z, _] = moved.angular;
        self.angular = Vec3::new(x, y, z);
    }
}

/// Moves every chassis by `dt` s, once nothing stops it any more; one that would leave the finite numbers keeps its pose and stops.
///
/// The pose moves with the mean of the velocities before and after the push, so constant forces are followed
/// exactly; what stops the hull acts at once. Turning keeps the angular momentum L in the world, and the body turns with
/// its rate in the middle of the step: L is kept, energy to second order (a truck thrown at 6 rad/s gained 2 m of height
/// within a second with its rate at the start).
#[inline(always)]
pub(crate) fn advance(chassis: &mut [Chassis], dt: f32) {
    let (fours, rest) = chassis.as_chunks_mut::<4>();
    for four in fours {
        let [a, b, c, d] = &*four;
        let moved = moved::<Four, 4>([a, b, c, d], dt);
        let [a, b, c, d] = four;
        a.take(&moved[0]);
        b.take(&moved[1]);
        c.take(&moved[2]);
        d.take(&moved[3]);
    }
    for one in rest {
        let [moved] = moved::<f32, 1>([one], dt);
        one.take(&moved);
    }
}
