//! Integration of rigid bodies: four chassis at once, one per SIMD lane, or one chassis alone.

use skidpad_core::coupling::BodyConstants;
use skidpad_core::simd::lane::F32x4;
use skidpad_core::simd::vectors::{Mat3Lanes, Vec3Lanes};
use skidpad_core::{ChassisImpulse, Mat3, Quat, Vec3, model::Hull};

use crate::body_lanes::{BodyLanes, pack_four_of, pack_one_of};
use crate::chassis::{Chassis, Twist};
use crate::ground::Ground;
use crate::motion::{AdvancedBody, BodyTwist, HullLanes};

/// Packs one matrix of each chassis, chosen by `matrix`, into lanes: lane k of each component is that of chassis k. The
/// nine components are packed column by column: four, four and one at a time.
#[inline(always)]
fn pack_matrices<L: BodyLanes<N>, const N: usize>(
    bodies: [&Chassis; N],
    matrix: impl Fn(&Chassis) -> &Mat3,
) -> Mat3Lanes<L> {
    // The first letter names the column, the second the component in it.
    let [xx, xy, xz, yx] = pack_four_of(bodies, |chassis| {
        let Mat3 { x_axis, y_axis, .. } = *matrix(chassis);
        [x_axis.x, x_axis.y, x_axis.z, y_axis.x]
    });
    let [yy, yz, zx, zy] = pack_four_of(bodies, |chassis| {
        let Mat3 { y_axis, z_axis, .. } = *matrix(chassis);
        [y_axis.y, y_axis.z, z_axis.x, z_axis.y]
    });
    let zz = pack_one_of(bodies, |chassis| matrix(chassis).z_axis.z);
    Mat3Lanes { x: Vec3Lanes::new(xx, xy, xz), y: Vec3Lanes::new(yx, yy, yz), z: Vec3Lanes::new(zx, zy, zz) }
}

/// Packs the inertia of each chassis.
#[inline(always)]
fn pack_inertia<L: BodyLanes<N>, const N: usize>(bodies: [&Chassis; N]) -> BodyConstants<L> {
    BodyConstants {
        // Not used by the motion.
        mass: L::splat(0.0),
        inverse_mass: pack_one_of(bodies, |body| body.inverse_mass),
        inertia: pack_matrices(bodies, |body| &body.inertia),
        inverse_inertia: pack_matrices(bodies, |body| &body.inverse_inertia),
    }
}

/// Packs velocity (m/s), angular velocity (rad/s), velocity lag and angular velocity lag of each chassis, in this
/// order, into lanes. A lag is the velocity at the end of the step less the velocity with which the pose moves.
#[inline(always)]
fn pack_motions<L: BodyLanes<N>, const N: usize>(bodies: [&Chassis; N]) -> [Vec3Lanes<L>; 4] {
    // Velocity a b c, angular velocity d e f, velocity lag g h i, angular velocity lag j k l.
    let [a, b, c, d] = pack_four_of(bodies, |Chassis { velocity: v, angular_velocity: w, .. }| [v.x, v.y, v.z, w.x]);
    let [e, f, g, h] = pack_four_of(bodies, |Chassis { angular_velocity: w, twist_lag: lag, .. }| {
        [w.y, w.z, lag.velocity.x, lag.velocity.y]
    });
    let [i, j, k, l] =
        pack_four_of(bodies, |Chassis { twist_lag: Twist { velocity: u, angular_velocity: r }, .. }| {
            [u.z, r.x, r.y, r.z]
        });
    [Vec3Lanes::new(a, b, c), Vec3Lanes::new(d, e, f), Vec3Lanes::new(g, h, i), Vec3Lanes::new(j, k, l)]
}

/// Adds `gravity_change` (velocity change by gravity, m/s) and the effect of `pushes`, one for each chassis, to the
/// velocities, and sets the lags to half of the change: the poses then move with the mean of old and new velocities. An
/// impulse on a hull acts last and at once; it also clears the lags of that chassis. Suspended chassis do not change.
/// Four chassis are computed side by side, the remaining ones alone, with identical bits.
#[inline(always)]
pub(crate) fn apply_pushes(chassis: &mut [Chassis], pushes: &[ChassisImpulse], gravity_change: Vec3) {
    let (quads, remainder) = chassis.as_chunks_mut::<4>();
    let (push_quads, push_remainder) = pushes.as_chunks::<4>();
    for (quad, quad_pushes) in quads.iter_mut().zip(push_quads) {
        let [a, b, c, d] = &*quad;
        let new_motions = motions_after_push::<F32x4, 4>([a, b, c, d], quad_pushes.each_ref(), gravity_change);
        let [a, b, c, d] = quad;
        a.set_pushed_motion(new_motions[0], &quad_pushes[0]);
        b.set_pushed_motion(new_motions[1], &quad_pushes[1]);
        c.set_pushed_motion(new_motions[2], &quad_pushes[2]);
        d.set_pushed_motion(new_motions[3], &quad_pushes[3]);
    }
    for (body, push) in remainder.iter_mut().zip(push_remainder) {
        let [new_motion] = motions_after_push::<f32, 1>([body], [push], gravity_change);
        body.set_pushed_motion(new_motion, push);
    }
}

/// Velocity v, angular velocity ω, velocity lag u and angular velocity lag λ of a chassis, as three rows of four
/// numbers: `[[v.x, v.y, v.z, ω.x], [ω.y, ω.z, u.x, u.y], [u.z, λ.x, λ.y, λ.z]]`.
type PackedMotion = [[f32; 4]; 3];

/// Computes the motion of each chassis after its push (impulse p, angular impulse l) and the velocity change
/// `gravity_change` (m/s): v + gravity_change + p / m and ω + J⁻¹ l. Both lags are half of the change; earlier lags are
/// dropped. Impulses on the hull are not included. Nothing is written to the chassis.
#[inline(always)]
fn motions_after_push<L: BodyLanes<N>, const N: usize>(
    bodies: [&Chassis; N],
    pushes: [&ChassisImpulse; N],
    gravity_change: Vec3,
) -> [PackedMotion; N] {
    // Components x, y, z of the impulses (N s) and x, y, z of the angular impulses (N m s): a to f.
    let [a, b, c, d] =
        pack_four_of(pushes, |ChassisImpulse { impulse: p, angular_impulse: l, .. }| [p.x, p.y, p.z, l.x]);
    let (e, f) =
        (pack_one_of(pushes, |push| push.angular_impulse.y), pack_one_of(pushes, |push| push.angular_impulse.z));
    let (impulse, angular_impulse) = (Vec3Lanes::<L>::new(a, b, c), Vec3Lanes::new(d, e, f));
    let axes = pack_matrices(bodies, |body| &body.axes);
    let [velocity, angular_velocity, ..] = pack_motions(bodies);
    let BodyTwist { velocity, angular_velocity, velocity_lag: lag, angular_lag } = BodyTwist::pushed(
        [velocity, angular_velocity],
        &axes,
        &pack_inertia(bodies),
        [impulse, angular_impulse],
        gravity_change,
    );
    // Rows in the order of `PackedMotion`.
    let first_row = L::unpack_four([velocity.x, velocity.y, velocity.z, angular_velocity.x]);
    let second_row = L::unpack_four([angular_velocity.y, angular_velocity.z, lag.x, lag.y]);
    let third_row = L::unpack_four([lag.z, angular_lag.x, angular_lag.y, angular_lag.z]);
    core::array::from_fn(
        #[inline(always)]
        |lane| [first_row[lane], second_row[lane], third_row[lane]],
    )
}

impl Chassis {
    /// Sets velocities and lags to the packed motion, in the order of [`PackedMotion`]. If the impulse on the hull of
    /// `push` is not zero, then applies it with its angular impulse, which clears the lags; an angular impulse alone is
    /// not applied. Does nothing if the chassis is suspended.
    #[inline(always)]
    fn set_pushed_motion(&mut self, [[a, b, c, d], [e, f, g, h], [i, j, k, l]]: PackedMotion, push: &ChassisImpulse) {
        if self.is_suspended {
            return;
        }
        (self.velocity, self.angular_velocity) = (Vec3::new(a, b, c), Vec3::new(d, e, f));
        self.twist_lag = Twist { velocity: Vec3::new(g, h, i), angular_velocity: Vec3::new(j, k, l) };
        if push.hull_impulse != Vec3::ZERO {
            self.apply_impulse(push.hull_impulse, push.hull_angular_impulse);
        }
    }
}

/// Writes to `near_flags` whether each hull can reach the plane of `ground` in `dt` s if its speed rises by at most
/// `speed_gain` m/s, so that its corners must be checked. Also true for a hull that overlaps the plane. Computes four
/// hulls side by side, the remaining ones alone. Suspended chassis are computed like the others.
#[inline(always)]
pub(crate) fn find_near_plane(chassis: &[Chassis], ground: &Ground, speed_gain: f32, dt: f32, near_flags: &mut [bool]) {
    let (quads, remainder) = chassis.as_chunks::<4>();
    let (flag_quads, flag_remainder) = near_flags.as_chunks_mut::<4>();
    for (quad, flags) in quads.iter().zip(flag_quads) {
        *flags = can_reach_plane::<F32x4, 4>(quad.each_ref(), ground, speed_gain, dt);
    }
    for (body, flag) in remainder.iter().zip(flag_remainder) {
        [*flag] = can_reach_plane::<f32, 1>([body], ground, speed_gain, dt);
    }
}

/// Returns whether each hull can reach the plane of `ground` in `dt` s: whether its lowest point is at most as high as
/// it can sink, `dt (ω r + speed_gain − v)` with the hull's radius r and the velocity v along the normal. NaN counts as
/// reaching. See [`find_near_plane`].
#[inline(always)]
fn can_reach_plane<L: BodyLanes<N>, const N: usize>(
    bodies: [&Chassis; N],
    ground: &Ground,
    speed_gain: f32,
    dt: f32,
) -> [bool; N] {
    let [velocity, angular_velocity, ..]: [Vec3Lanes<L>; 4] = pack_motions(bodies);
    let [x, y, z, half_x] = pack_four_of(bodies, |Chassis { hull: Hull { centre, half_extents }, .. }| {
        [centre.x, centre.y, centre.z, half_extents.x]
    });
    let (half_y, half_z) =
        (pack_one_of(bodies, |body| body.hull.half_extents.y), pack_one_of(bodies, |body| body.hull.half_extents.z));
    let hull = HullLanes {
        centre: Vec3Lanes::new(x, y, z),
        half_extents: Vec3Lanes::new(half_x, half_y, half_z),
        radius: pack_one_of(bodies, |body| body.hull_radius),
    };
    let normal_f64 = ground.normal.as_dvec3();
    // Height of each centre of mass above the plane, m.
    let height = pack_one_of(bodies, |body| body.position.dot(normal_f64) as f32);
    let axes = pack_matrices(bodies, |body| &body.axes);
    let twist = BodyTwist { velocity, angular_velocity, ..BodyTwist::default() };
    L::unpack_mask(hull.can_reach_plane(height, ground.normal, &axes, &twist, speed_gain, dt))
}

/// Pose and angular velocity of a chassis after a step.
#[derive(Clone, Copy)]
struct NextPose {
    /// Displacement of the centre of mass, m; the last number is component z of column z of the rotation matrix.
    displacement: [f32; 4],
    /// Rotation from body axes to world axes, as a quaternion.
    rotation: [f32; 4],
    /// First eight components of the rotation matrix, column by column; the ninth is in `displacement`.
    axes: [[f32; 4]; 2],
    /// Angular velocity, world axes, rad/s; the last number is unused.
    angular_velocity: [f32; 4],
    /// Whether rotation and velocities are finite and the rotation has a length.
    is_finite: bool,
}

/// Computes the pose and the angular velocity of each chassis after `dt` s. The centre of mass moves by (velocity −
/// lag) dt. The body turns with its midpoint rate; the new angular velocity follows from the conserved angular momentum
/// and the new attitude. Velocities of the centre of mass do not change, and nothing is written to the chassis. A
/// result that is not finite is only flagged.
#[inline(always)]
fn next_poses<L: BodyLanes<N>, const N: usize>(bodies: [&Chassis; N], dt: f32) -> [NextPose; N] {
    let [velocity, angular_velocity, velocity_lag, angular_lag] = pack_motions(bodies);
    let twist = BodyTwist { velocity, angular_velocity, velocity_lag, angular_lag };
    let rotation = pack_four_of(bodies, |body| body.rotation.to_array());
    let axes = pack_matrices(bodies, |body| &body.axes);
    let AdvancedBody { displacement, rotation, axes, angular_velocity, is_finite } =
        AdvancedBody::new(rotation, &axes, &pack_inertia(bodies), &twist, dt);
    let is_finite = L::unpack_mask(is_finite);
    // Packed in the order of `NextPose`.
    let displacement = L::unpack_four([displacement.x, displacement.y, displacement.z, axes.z.z]);
    let rotation = L::unpack_four(rotation);
    let first_axes = L::unpack_four([axes.x.x, axes.x.y, axes.x.z, axes.y.x]);
    let second_axes = L::unpack_four([axes.y.y, axes.y.z, axes.z.x, axes.z.y]);
    let angular_velocity = L::unpack_four([angular_velocity.x, angular_velocity.y, angular_velocity.z, L::default()]);
    core::array::from_fn(
        #[inline(always)]
        |lane| NextPose {
            displacement: displacement[lane],
            rotation: rotation[lane],
            axes: [first_axes[lane], second_axes[lane]],
            angular_velocity: angular_velocity[lane],
            is_finite: is_finite[lane],
        },
    )
}

impl Chassis {
    /// Adds the displacement of `next_pose` to the position, sets rotation and angular velocity from it, and clears the
    /// lag. If a result is not finite, the chassis keeps its pose, its velocities become zero, and the lag is cleared.
    /// Does nothing if the chassis is suspended.
    #[inline(always)]
    fn set_next_pose(&mut self, next_pose: &NextPose) {
        if self.is_suspended {
            return;
        }
        let [x, y, z, last_component] = next_pose.displacement;
        let position = self.position + Vec3::new(x, y, z).as_dvec3();
        self.twist_lag = Twist::default();
        if !(next_pose.is_finite && (position.x + position.y + position.z).is_finite()) {
            (self.velocity, self.angular_velocity) = (Vec3::ZERO, Vec3::ZERO);
            return;
        }
        let [[a, b, c, d], [e, f, g, h]] = next_pose.axes;
        self.position = position;
        self.rotation = Quat::from_array(next_pose.rotation);
        self.axes = Mat3::from_cols_array(&[a, b, c, d, e, f, g, h, last_component]);
        let [x, y, z, _] = next_pose.angular_velocity;
        self.angular_velocity = Vec3::new(x, y, z);
    }
}

/// Moves every chassis by `dt` s after all impulses of the step are applied, and clears its lag. A chassis that would
/// get a non-finite pose keeps its pose and stops. Suspended chassis do not change. Four chassis are computed side by
/// side, the remaining ones alone, with identical bits.
///
/// The pose moves with the mean of the velocities before and after the push, so that constant forces are integrated
/// exactly. Impulses that stop the hull act at once. The rotation conserves the angular momentum L in world axes, and
/// the body turns with its angular velocity in the middle of the step. L is conserved, energy to second order. A
/// rotation by the angular velocity at the start of the step would lift a truck thrown at 6 rad/s by 2 m within a
/// second.
#[inline(always)]
pub(crate) fn advance(chassis: &mut [Chassis], dt: f32) {
    let (quads, remainder) = chassis.as_chunks_mut::<4>();
    for quad in quads {
        let [a, b, c, d] = &*quad;
        let next_quad = next_poses::<F32x4, 4>([a, b, c, d], dt);
        let [a, b, c, d] = quad;
        a.set_next_pose(&next_quad[0]);
        b.set_next_pose(&next_quad[1]);
        c.set_next_pose(&next_quad[2]);
        d.set_next_pose(&next_quad[3]);
    }
    for body in remainder {
        let [next_pose] = next_poses::<f32, 1>([body], dt);
        body.set_next_pose(&next_pose);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skidpad_core::{DVec3, Scene};

    /// Returns five bodies of several masses, shapes and attitudes that tumble, slide and fall. The last one has an
    /// angular velocity too large for f32.
    fn five_bodies() -> Vec<Chassis> {
        (0..5)
            .map(|k| {
                let of = k as f32; // index as a number
                let inertia = Mat3::from_cols(
                    Vec3::new(400.0 + of, -3.0, 12.0 * of),
                    Vec3::new(-3.0, 1600.0, 0.5),
                    Vec3::new(12.0 * of, 0.5, 1800.0 - 50.0 * of),
                );
                let hull = Hull { centre: Vec3::new(0.1, 0.0, 0.2), half_extents: Vec3::new(2.0, 0.9, 0.4 + 0.1 * of) };
                let mut one = Chassis::rigid(900.0 + 100.0 * of, inertia, hull);
                let rate = if k == 4 { Vec3::splat(1e30) } else { Vec3::new(0.3 * of, -1.5, 0.2 - of) };
                let rotation = Quat::from_xyzw(0.1 * of, -0.2, 0.4, 0.8).normalize();
                one.set_pose_and_twist(
                    DVec3::new(1e6 * f64::from(of), 3.0, 0.3 + f64::from(of)),
                    rotation,
                    [Vec3::new(9.0, of, -2.0), rate],
                );
                one
            })
            .collect()
    }

    /// Returns the bits of position (two words per number), rotation, axes, velocities and lags.
    fn bits(one: &Chassis) -> Vec<u32> {
        let Chassis { position, rotation, axes, velocity, angular_velocity, twist_lag: lag, .. } = one;
        let place = position.to_array().map(f64::to_bits).map(|bits| [(bits >> 32) as u32, bits as u32]);
        let moves = [*velocity, *angular_velocity, lag.velocity, lag.angular_velocity].map(|of| of.to_array());
        let numbers = rotation.to_array().into_iter().chain(axes.to_cols_array()).chain(moves.into_iter().flatten());
        place.into_iter().flatten().chain(numbers.map(f32::to_bits)).collect()
    }

    /// Five bodies stepped together (four of them in lanes) and each alone have identical bits and flags near the plane
    /// in each of 20 steps. The body with too large an angular velocity stops in the first step; the suspended one does
    /// not change.
    #[test]
    fn a_body_among_others_moves_as_it_does_alone() {
        let (mut all, mut alone) = (five_bodies(), five_bodies());
        all[1].suspend();
        alone[1].suspend();
        let ground = Ground::new(&Scene::flat());
        let fall = Vec3::new(0.0, 0.0, -0.08);
        let pushes: Vec<ChassisImpulse> = (0..5)
            .map(|k| ChassisImpulse {
                impulse: Vec3::new(3.0, k as f32, 80.0),
                angular_impulse: Vec3::new(-2.0, 5.0, k as f32),
                hull_impulse: Vec3::new(0.0, 0.0, if k == 2 { 7.0 } else { 0.0 }),
                ..ChassisImpulse::default()
            })
            .collect();
        for step in 0..20 {
            let mut near = [false; 5];
            apply_pushes(&mut all, &pushes, fall);
            find_near_plane(&all, &ground, 0.08, 0.01, &mut near);
            advance(&mut all, 0.01);
            for (k, (one, pushes)) in alone.iter_mut().zip(pushes.chunks(1)).enumerate() {
                let (one, near_alone) = (core::slice::from_mut(one), &mut [false]);
                apply_pushes(one, pushes, fall);
                find_near_plane(one, &ground, 0.08, 0.01, near_alone);
                advance(one, 0.01);
                assert_eq!((bits(&all[k]), near[k]), (bits(&one[0]), near_alone[0]), "body {k}");
            }
            assert!(step > 0 || all[4].twist() == [Vec3::ZERO; 2], "one too fast for 32 bits stops");
        }
        assert_eq!(bits(&all[1]), bits(&five_bodies()[1]), "one that has left");
    }
}
