//! Moments Mx, My and Mz at the contact point.

use super::lateral::LateralForce;
use super::longitudinal::LongitudinalForce;
use super::{MagicFormula, PreparedMagicFormula, SharedQuantities, UseMode, cosine_formula};
use crate::{Moments, functions};
use skidpad_simd::lane::Lane;

/// Quantities at one slip from which the moments are computed, under the clamped load.
struct MomentPoint<L> {
    /// Load, pressure, camber and grip.
    shared: SharedQuantities<L>,
    /// Slip ratio, clamped.
    ratio: L,
    /// Slip angle, clamped, rad.
    angle: L,
    /// Forces Fx and Fy, N.
    force: [L; 2],
    /// Longitudinal force law.
    longitudinal: LongitudinalForce<L>,
    /// Lateral force law at the camber.
    lateral: LateralForce<L>,
    /// Lateral force that acts at the pneumatic trail and produces the aligning moment, N.
    trail_force: L,
    /// Direction of travel of the wheel: 1 forwards, −1 backwards.
    heading: L,
}

/// Computes the moments at the slips (κ, −tan α), N m, under the actual load. Mx and Mz follow from the combined
/// forces. My is the rolling resistance against the rolling direction (`direction`, from slip ratio and speed), while
/// the trail of Mz depends on the direction of travel (`heading`, from the speed alone).
///
/// Steps: clamp the slips, compute the forces under the clamped load, compute each moment, multiply by the load scale
/// (actual over clamped load). The friction ellipse, where it applies, reduces the forces. The trail force is the
/// lateral force that acts at the pneumatic trail. It is that of the upright tyre from version 6.1 on, and that of the
/// cambered tyre in version 5.2, each reduced by slip ratio and ellipse.
#[inline(always)]
pub fn moments<L: Lane>(tyre: &MagicFormula, prepared: &PreparedMagicFormula<L>, slip: [L; 2]) -> Moments<L> {
    let shared = prepared.shared;
    let (ratio, angle): (L, L) = (prepared.ratio(slip[0]), prepared.angle(slip[1]));
    let lateral = prepared.lateral;
    // Lateral law of the trail force: upright tyre from version 6.1 on (book 4.E74), cambered tyre in version 5.2.
    // The reduction by slip ratio is that of the cambered tyre, as in MF-Tyre; the book has camber 0 there, too.
    let trail_law = if tyre.is_mf6() { LateralForce::new(tyre, &shared, L::splat(0.0)) } else { lateral };
    let ellipse_factors = prepared.ellipse_factors(slip, [ratio, angle]);
    // Share of the lateral force that slip ratio leaves.
    let remaining_share = if prepared.combined { lateral.reduction_factor(ratio, angle) } else { L::splat(1.0) };
    let moment_point = MomentPoint {
        shared,
        ratio,
        angle,
        force: [
            prepared.longitudinal.force(ratio, angle, prepared.combined) * ellipse_factors[0],
            lateral.force(ratio, angle, prepared.combined) * ellipse_factors[1],
        ],
        longitudinal: prepared.longitudinal,
        lateral,
        trail_force: trail_law.pure_force(angle) * remaining_share * ellipse_factors[1],
        heading: prepared.speed.sign(),
    };
    Moments {
        overturning: overturning(tyre, &moment_point) * shared.load_scale,
        rolling: -(resistance(tyre, prepared, moment_point.force[0])
            * direction(tyre, moment_point.ratio, prepared.speed))
            * shared.load_scale,
        aligning: aligning(tyre, &moment_point) * shared.load_scale,
    }
}

/// Computes Mx under the clamped load, N m (book 4.E69, with the square as in MF-Tyre). The moment is radius times load
/// times a sum: a shift, a camber term, and a term of lateral force over nominal load. From version 6.1 on the sum has
/// terms that mix camber, lateral force and load, and a term proportional to Fy is added. `point` has the combined
/// lateral force.
#[inline(always)]
fn overturning<L: Lane>(tyre: &MagicFormula, point: &MomentPoint<L>) -> L {
    let c = &tyre.c;
    let s = L::splat;
    let SharedQuantities { load, dpi, camber, .. } = point.shared;
    let one = s(1.0);
    // Load over nominal load.
    let relative_load = load / s(c.fnomin);
    let relative_force = point.force[1] / s(c.fnomin);
    let camber_term = s(c.qsx2) * camber * (one + s(c.ppmx1) * dpi);
    let basic_terms = s(c.qsx1 * c.lvmx) - camber_term + s(c.qsx3) * relative_force;
    let scaled_radius = s(c.unloaded_radius * c.lmx); // m
    if !tyre.is_mf6() {
        return scaled_radius * load * basic_terms;
    }
    // MF-Tyre and Besselink's paper (eq. 49 of its draft) have the square inside the arc tangent, the book outside.
    let scaled_load = s(c.qsx6) * relative_load;
    let load_term = functions::atan(scaled_load * scaled_load);
    let camber_force_term = s(c.qsx7) * camber + s(c.qsx8) * functions::atan(s(c.qsx9) * relative_force);
    let mixed_term = s(c.qsx4) * functions::cos(s(c.qsx5) * load_term) * functions::sin(camber_force_term);
    let load_camber_term = s(c.qsx10) * functions::atan(s(c.qsx11) * relative_load) * camber;
    let camber_squared_term = s(c.qsx12) * camber * camber.abs();
    let side_force_term = point.force[1] * (s(c.qsx13) + s(c.qsx14) * camber.abs());
    scaled_radius * (load * (basic_terms + mixed_term + load_camber_term - camber_squared_term) + side_force_term)
}

/// Returns the magnitude of the rolling resistance moment of a rolling tyre under the clamped load, N m, ≥ 0.
/// `longitudinal_force` is Fx, N. The moment is radius times nominal load (`R F_z0`) times a sum of terms in Fx, speed
/// (to the first and fourth power) and camber squared, times powers of relative load and pressure. Speed over that of
/// the measurement is clamped to ±10. The equation is that of the paper, with F_z0; book 4.E70 has the load instead.
#[inline(always)]
fn resistance<L: Lane>(tyre: &MagicFormula, prepared: &PreparedMagicFormula<L>, longitudinal_force: L) -> L {
    let c = &tyre.c;
    let s = L::splat;
    let SharedQuantities { load, camber, pressure_ratio, .. } = prepared.shared;
    let relative_load = load / s(c.fnomin);
    // Speed over that of the measurement.
    let speed_ratio = (prepared.speed / s(c.longvl)).clamp_nan_to_low(s(-10.0), s(10.0));
    let sum = s(c.qsy1)
        + s(c.qsy2) * longitudinal_force / s(c.fnomin)
        + s(c.qsy3) * speed_ratio.abs()
        + s(c.qsy4) * (speed_ratio * speed_ratio) * (speed_ratio * speed_ratio)
        + (s(c.qsy5) + s(c.qsy6) * relative_load) * camber * camber;
    let load_factor = functions::power(relative_load, c.qsy7);
    let pressure_factor = functions::power(pressure_ratio, c.qsy8);
    (s(c.unloaded_radius * c.fnomin * c.lmy) * sum * load_factor * pressure_factor).at_least(s(0.0))
}

/// Returns the magnitude of the rolling resistance moment at the slips (κ, −tan α), N m, ≥ 0, under the actual load and
/// with the combined longitudinal force.
#[inline(always)]
pub fn rolling_resistance<L: Lane>(tyre: &MagicFormula, prepared: &PreparedMagicFormula<L>, slip: [L; 2]) -> L {
    let (ratio, angle): (L, L) = (prepared.ratio(slip[0]), prepared.angle(slip[1]));
    let longitudinal_force = prepared.longitudinal.force(ratio, angle, prepared.combined)
        * prepared.ellipse_factors(slip, [ratio, angle])[0];
    resistance(tyre, prepared, longitudinal_force) * prepared.shared.load_scale
}

/// Returns the rolling direction, −1 (backwards) to 1 (forwards): the rolling speed `v + κ |v|` over VXLOW (at least
/// [`MIN_FADE_SPEED_MPS`]), clamped. `ratio` is κ, `speed` is v in m/s. Below a rolling speed of VXLOW the result
/// fades, to 0 at a locked wheel.
#[inline(always)]
fn direction<L: Lane>(tyre: &MagicFormula, ratio: L, speed: L) -> L {
    let s = L::splat;
    let rolling_speed = speed.clamp_nan_to_low(s(-1e3), s(1e3)) + ratio * speed.abs().at_most(s(1e3));
    (rolling_speed / s(tyre.c.vxlow.max(MIN_FADE_SPEED_MPS))).clamp_nan_to_low(s(-1.0), s(1.0))
}

/// Minimum speed over which the rolling resistance reverses with the rolling direction, m/s.
const MIN_FADE_SPEED_MPS: f32 = 0.01;

/// Computes Mz under the clamped load, N m: residual moment, less trail force times trail, plus longitudinal force
/// times its lever (paper A54 to A60 and book 4.E71 to 4.E78). Trail and residual moment have the sign of the direction
/// of travel and the factor cosine of the slip angle. In the use mode of combined slip, both use equivalent slip angles
/// ([`with_slip_ratio`]) and the longitudinal force has a lever; otherwise it has none.
#[inline(always)]
fn aligning<L: Lane>(tyre: &MagicFormula, point: &MomentPoint<L>) -> L {
    let c = &tyre.c;
    let s = L::splat;
    let combined = tyre.use_mode == UseMode::Combined;
    let SharedQuantities { dfz, .. } = point.shared;
    let camber = point.shared.camber * s(c.lgaz);
    // Horizontal shifts of the trail and of the residual moment, rad.
    let trail_shift = s(c.qhz1) + s(c.qhz2) * dfz + (s(c.qhz3) + s(c.qhz4) * dfz) * camber;
    let residual_shift = point.lateral.shift + point.lateral.vertical_shift / point.lateral.cornering;
    // Shifted slip angles, and the equivalent slip angles, rad.
    let [trail_angle, residual_angle] = [point.angle + trail_shift, point.angle + residual_shift];
    let (trail_slip, residual_slip) = if combined {
        let scaled_ratio = point.longitudinal.stiffness() / point.lateral.cornering * point.ratio; // Kx κ / Ky
        (with_slip_ratio(trail_angle, scaled_ratio), with_slip_ratio(residual_angle, scaled_ratio))
    } else {
        (trail_angle, residual_angle)
    };
    let cosine = functions::cos(point.angle);
    let trail = trail(tyre, point, camber, trail_angle, trail_slip) * cosine * point.heading;
    let residual = residual(tyre, point, camber, residual_slip) * cosine * point.heading;
    // Lever of the longitudinal force over the unloaded radius.
    let lever = s(c.ssz1) + s(c.ssz2) * point.force[1] / s(c.fnomin) + (s(c.ssz3) + s(c.ssz4) * dfz) * camber;
    let longitudinal_moment = if combined { lever * s(c.unloaded_radius * c.ls) * point.force[0] } else { s(0.0) };
    residual - trail * point.trail_force + longitudinal_moment
}

/// Returns the equivalent slip angle, which includes the slip ratio, rad: `atan √(tan² α + (Kx κ / Ky)²)` with the sign
/// of α. α is `angle`, clamped to ±1.57 rad, just below π/2. `scaled_ratio` is Kx κ / Ky, the slip ratio times
/// longitudinal over cornering stiffness. An angle of 0 counts as positive.
#[inline(always)]
fn with_slip_ratio<L: Lane>(angle: L, scaled_ratio: L) -> L {
    let angle = angle.clamp_nan_to_low(L::splat(-1.57), L::splat(1.57));
    let tangent = functions::sin(angle) / functions::cos(angle);
    let square = tangent * tangent + scaled_ratio * scaled_ratio;
    functions::atan(square.sqrt()) * angle.sign()
}

/// Returns the pneumatic trail, m, without the factor cosine of the slip angle: `D_t cos(C_t atan(B_t α − E_t (B_t α −
/// atan(B_t α))))`, where α is the equivalent slip angle `slip`, rad. `angle` is the slip angle with the shift of the
/// trail, rad; its sign changes the curvature E_t, which is at most 1. `camber` is the scaled camber, rad.
#[inline(always)]
fn trail<L: Lane>(tyre: &MagicFormula, point: &MomentPoint<L>, camber: L, angle: L, slip: L) -> L {
    let c = &tyre.c;
    let s = L::splat;
    let one = s(1.0);
    let SharedQuantities { load, dfz, dpi, grip, .. } = point.shared;
    // Factor B_t.
    let stiffness = (s(c.qbz1) + s(c.qbz2) * dfz + s(c.qbz3) * dfz * dfz)
        * (one + s(c.qbz4) * camber + s(c.qbz5) * camber.abs())
        * s(c.lky / c.lmuy)
        / grip; // more friction, less stiffness
    // Factor D_t, m.
    let trail_size = load
        * s(c.unloaded_radius / c.fnomin * c.ltr)
        * (s(c.qdz1) + s(c.qdz2) * dfz)
        * (one - s(c.ppz1) * dpi)
        * (one + s(c.qdz3) * camber + s(c.qdz4) * camber * camber);
    // Term that makes the curvature differ by side: 2/π atan(B_t C_t α), −1 to 1.
    let side_term = functions::atan(stiffness * s(c.qcz1) * angle) * s(std::f32::consts::FRAC_2_PI);
    let curvature =
        (s(c.qez1) + s(c.qez2) * dfz + s(c.qez3) * dfz * dfz) * (one + (s(c.qez4) + s(c.qez5) * camber) * side_term);
    let curve: L = cosine_formula(stiffness * slip, s(c.qcz1), curvature.at_most(one));
    trail_size * curve
}

/// Returns the residual moment, N m, without the factor cosine of the slip angle: `D_r cos(atan(B_r α))`, written as
/// `D_r / √(1 + (B_r α)²)`, where α is the equivalent slip angle `slip`, rad. `camber` is the scaled camber, rad.
#[inline(always)]
fn residual<L: Lane>(tyre: &MagicFormula, point: &MomentPoint<L>, camber: L, slip: L) -> L {
    let c = &tyre.c;
    let s = L::splat;
    let one = s(1.0);
    let SharedQuantities { load, dfz, dpi, grip, .. } = point.shared;
    // Factor B_r.
    let stiffness = s(c.qbz9 * c.lky / c.lmuy) / grip + s(c.qbz10) * point.lateral.factor * point.lateral.shape;
    // Factor D_r over load and radius: of the upright tyre and by camber.
    let upright = (s(c.qdz6) + s(c.qdz7) * dfz) * s(c.lres);
    let camber_term =
        (s(c.qdz8) + s(c.qdz9) * dfz) * (one + s(c.ppz2) * dpi) + (s(c.qdz10) + s(c.qdz11) * dfz) * camber.abs();
    let moment_size = load * s(c.unloaded_radius * c.lmuy) * grip * (upright + camber_term * camber * s(c.lkzc));
    let scaled_slip = stiffness * slip;
    moment_size / (one + scaled_slip * scaled_slip).sqrt()
}
