//! Toe-out of the wheels of an axle in a turn.

use crate::wheel::parameters::Axle;
use skidpad_simd::lane::Lane;
use skidpad_tyre::functions::{atan2, sin_cos};

/// Ackermann geometry of one axle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Ackermann {
    /// Toe-out coefficient (–): share of the full condition times `T / (2 x)`, the track over twice the distance ahead
    /// of the turning axis; negative behind it. 0 for a vehicle whose axles are all steered.
    toe_out: f32,
    /// Share of the full condition times half the track (m). 0 for a vehicle with unsteered axles.
    shared_half_track: f32,
    /// Curvature of the vehicle's path per tangent of this axle's angle (1/m). 0 for a vehicle with unsteered axles.
    curvature_per_tangent: f32,
}

impl Ackermann {
    /// Returns the Ackermann geometry of all `axles` at `positions` (m, positive ahead) with `tracks` (m).
    ///
    /// Unsteered axles fix the turning axis; each axle then uses its own distance to it. If all axles are steered, the
    /// axis moves as their angles grow: a line fitted (least squares) to the tangents of the angles over the positions
    /// is zero on the axis, and its slope is the curvature of the path. The shared half track is then the Ackermann
    /// share of half the track, and the curvature per tangent is the distance from the mean position over the sum of
    /// the squared distances. Axles at a single position count as a fixed axis.
    pub(crate) fn for_axles(axles: &[Axle], positions: &[f32], tracks: &[f32]) -> Box<[Self]> {
        let mean_position = positions.iter().sum::<f32>() / positions.len() as f32;
        // Sum of the squared distances from the mean position (m²).
        let spread: f32 = positions.iter().map(|x| (x - mean_position) * (x - mean_position)).sum();
        let all_steered = spread > 0.0 && axles.iter().all(|axle| axle.steer_ratio != 0.0);
        let axle_geometry = |((axle, x), track): ((&Axle, &f32), &f32)| {
            if all_steered {
                Self {
                    toe_out: 0.0,
                    shared_half_track: 0.5 * track * axle.ackermann,
                    curvature_per_tangent: (x - mean_position) / spread,
                }
            } else {
                Self::about_fixed_axis(axle, *track)
            }
        };
        axles.iter().zip(positions).zip(tracks).map(axle_geometry).collect()
    }

    /// Returns the geometry of an axle with a `track` (m) of a vehicle with unsteered axles. The toe-out coefficient is
    /// `share · track / (2 · distance)`, with the distance of the axle to the turning axis.
    ///
    /// While the vehicle turns about a point beside it, an axle whose ratio fits the turning axis has at least the
    /// distance of its ratio times half the track to that axis. The distance is limited to this bound, and to at least
    /// 1 mm, so that an axle without such an axis has bounded angles, too.
    fn about_fixed_axis(axle: &Axle, track: f32) -> Self {
        let half_track = 0.5 * track;
        // Smallest accepted distance to the turning axis (m).
        let min_distance = (axle.steer_ratio * half_track).abs().max(1e-3);
        let distance = axle.turning_distance.abs().max(min_distance).copysign(axle.turning_distance);
        Self { toe_out: axle.ackermann * half_track / distance, ..Self::default() }
    }

    /// Returns the curvature of the path (1/m, positive to the left) of a vehicle whose axles are all steered: the
    /// weighted sum of the tangents of the axle angles. `axle_angle` returns the angle of the centre of an axle (rad).
    /// Returns 0 for other vehicles, which do not need it.
    #[inline(always)]
    pub(crate) fn curvature<L: Lane>(axles: &[Self], axle_angle: impl Fn(usize) -> L) -> L {
        let mut sum = L::splat(0.0);
        for (i, axle) in axles.iter().enumerate().filter(|(_, axle)| axle.curvature_per_tangent != 0.0) {
            let (sin, cos) = sin_cos(axle_angle(i));
            sum = sum + L::splat(axle.curvature_per_tangent) * (sin / cos);
        }
        sum
    }

    /// Returns the left and right road-wheel angles (rad, positive to the left). `axle_angle` is the angle of a wheel
    /// in the centre of the axle (rad), `curvature` that of [`Ackermann::curvature`] (1/m). Both angles are
    /// `axle_angle` if it is 0 or the axle has no toe-out in turns. The result can exceed a right angle.
    ///
    /// A wheel at y is perpendicular to the line to the turning centre at R if `cot δ = (R − y) / x`, with
    /// `cot δ_middle = R / x`. Only the described share of this toe-out is applied. Only one of the two toe-out terms
    /// is not 0: that of a fixed turning axis, or that of the curvature.
    #[inline(always)]
    pub(crate) fn angles<L: Lane>(&self, axle_angle: L, curvature: L) -> [L; 2] {
        let is_turned = L::splat(0.0).less(axle_angle.abs());
        if !L::any(is_turned) || (self.toe_out == 0.0 && self.shared_half_track == 0.0) {
            return [axle_angle; 2];
        }
        let (sin, cos) = sin_cos(axle_angle);
        let toe_term = L::splat(self.toe_out) * sin + L::splat(self.shared_half_track) * curvature * cos;
        [cos - toe_term, cos + toe_term].map(|x| L::select(is_turned, atan2(sin, x), axle_angle))
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "closed forms of tests may use the platform's functions")]
mod tests {
    use super::*;

    /// Signs of both sides of a car, and of both ends.
    const BOTH: [f32; 2] = [1.0, -1.0];

    /// Checks oracle 5.13, `cot δ_right − cot δ_left = share T / x`, for axles ahead of the turning axis and behind it,
    /// turned to either side. The middle of the axle has the given angle, the wheel on the side of the turning centre
    /// turns more, and a mirrored turn has mirrored bits.
    #[test]
    fn ackermann_is_exact_for_every_axle() {
        for (magnitude, side) in
            [0.02f32, 0.24, 0.6, 1.0, 1.3].into_iter().flat_map(|angle| BOTH.map(|side| (angle, side)))
        {
            for (distance, end) in [1.3f32, 2.654, 6.0].into_iter().flat_map(|x| BOTH.map(|end| (x, end))) {
                for (share, track) in [(1.0f32, 0.9f32), (1.0, 2.5), (0.4, 1.575)] {
                    let (middle, x) = (magnitude * side, distance * end);
                    let axle = Axle { steer_ratio: end, ackermann: share, turning_distance: x, ..Axle::default() };
                    let ackermann = Ackermann::about_fixed_axis(&axle, track);
                    // 0.0: curvature, which a fixed turning axis does not need.
                    let [left, right] = ackermann.angles(middle, 0.0);
                    let cot = |angle: f32| 1.0 / f64::from(angle).tan();
                    // Rounding of f32 angles, which a cotangent divides by their square.
                    let rounding = 1e-6 / f64::from(left.abs().min(right.abs())).powi(2);
                    let case = format!("{middle} rad, {x} m, share {share}: {left} {right}");
                    let expected = f64::from(share * track / x);
                    assert!((cot(right) - cot(left) - expected).abs() < rounding, "{case}");
                    assert!((0.5 * (cot(right) + cot(left)) - cot(middle)).abs() < rounding, "{case}");
                    // An axle behind the turning axis steers to the other side in the same turn.
                    let (inner, outer) = if side == end { (left, right) } else { (right, left) };
                    assert!(inner.abs() > outer.abs(), "{case}");
                    assert_eq!(ackermann.angles(-middle, 0.0), [-right, -left], "{case}");
                }
            }
        }
    }

    /// Checks that the inner wheel turns past a right angle if the turning centre lies within the track:
    /// `cot δ = (0.4 − 0.45) / −1.5`.
    #[test]
    fn an_inner_wheel_turns_past_a_right_angle() {
        let axle = Axle { steer_ratio: -1.0, ackermann: 1.0, turning_distance: -1.5, ..Axle::default() };
        let middle = (-1.5f32).atan2(0.4);
        let [left, right] = Ackermann::about_fixed_axis(&axle, 0.9).angles(middle, 0.0);
        for (found, known) in [(left, (-1.5f32).atan2(-0.05)), (right, (-1.5f32).atan2(0.85))] {
            // Rounding of f32.
            assert!((found - known).abs() < 1e-6, "{found} {known}");
        }
    }

    /// Checks that a steered axle on the turning axis, whose angles have no limit by the formula, stays within the
    /// angles of a turning centre at the end of its track.
    #[test]
    fn an_axle_on_the_turning_axis_has_bounded_angles() {
        let axle = Axle { steer_ratio: 0.2, ackermann: 1.0, turning_distance: 0.0, ..Axle::default() };
        let angles = Ackermann::about_fixed_axis(&axle, 1.5).angles(0.1, 0.0);
        assert!(angles.iter().all(|angle| (0.0..0.25).contains(angle)), "{angles:?}");
    }

    /// Checks that the axes of all wheels of two steered axles intersect in one point at every angle,
    /// `R = L / (tan δ_f − tan δ_r)` beside the car.
    #[test]
    fn two_steered_axles_turn_about_one_point() {
        for (ratio, steer) in
            [-1.0f32, -0.4, 0.2].into_iter().flat_map(|ratio| [0.02, -0.6, 1.3].map(|angle| (ratio, angle)))
        {
            let axle = |steer_ratio| Axle { steer_ratio, ackermann: 1.0, ..Axle::default() };
            let (axles, positions) = ([axle(1.0), axle(ratio)], [1.25f32, -1.75]);
            let both = Ackermann::for_axles(&axles, &positions, &[1.5; 2]);
            let middle = |i: usize| steer * axles[i].steer_ratio;
            let curvature = Ackermann::curvature(&both, middle);
            let radius = 3.0 / (f64::from(middle(0)).tan() - f64::from(middle(1)).tan());
            assert!((f64::from(curvature) * radius - 1.0).abs() < 1e-5, "{ratio} {steer}: {curvature} {radius}");
            for i in 0..2 {
                let [left, right] = both[i].angles(middle(i), curvature).map(f64::from);
                let ahead = radius * f64::from(middle(i)).tan();
                for (angle, y) in [(left, 0.75), (right, -0.75)] {
                    // Distance of the wheel's axis from the line to the turning centre, within f32 rounding.
                    let axis_distance = angle.cos() * ahead - angle.sin() * (radius - y);
                    assert!(
                        axis_distance.abs() < 1e-5 * radius.hypot(ahead),
                        "{ratio} {steer}, axle {i}: {angle} {axis_distance}"
                    );
                }
            }
        }
    }
}
