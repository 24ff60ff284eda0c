//! Wheel blocks: spin and both tyre impulses of a wheel, solved together from a given chassis velocity.

use crate::impulse_bounds::ImpulseBounds;
use crate::model::body::BodyConstants;
use crate::step::step_wheels::{CarMask, CarScalar, CarTwist, StepWheels};
use crate::vehicle::rows::{EffectiveMass, WheelRows};
use crate::wheel::rows::ContactRows;
use skidpad_simd::lane::{Lane, WheelLanes, pair_from_fn};
use skidpad_simd::linear::SpatialVector;
use skidpad_simd::wheel_groups::WheelGroups;

/// Gain times compliance, with all gripping wheels, above which tyres are stiff.
const STIFFNESS_THRESHOLD: f32 = 1.0;

/// Returns the number of gripping wheels of each car: wheels whose tyre rows are active (load and friction).
#[inline(always)]
pub fn gripping_count<B: WheelGroups, S: StepWheels<B>>(cars: &S) -> CarScalar<B, S> {
    let mut count = CarScalar::<B, S>::default();
    for rows in cars.rows().chunks(S::Lanes::ROWS_PER_AXLE_PAIR) {
        count += S::Lanes::sum_over_wheels(
            #[inline(always)]
            |k| S::Lanes::splat(1.0).masked(rows[k].tyre.active),
        );
    }
    count
}

/// Prepares every wheel block (the coupled equations of a wheel's spin and both tyre impulses) for [`solve_blocks`].
/// Stores the friction limits of all tyres at their loads, and the speed and compliance of the chassis that each block
/// uses. `v_loaded` is the chassis velocity with the loads and the tyre impulses in the rows. Returns the mask of the
/// cars with stiff tyres: gain times compliance above 1.
///
/// The compliance of each block is that of the chassis at its wheel, times the number of gripping wheels. No wheel
/// depends on the others within one sweep, and this factor prevents that they over-correct together. At rest and in
/// steady motion nothing changes from step to step, and the result is the converged one.
#[inline(always)]
pub fn prepare_blocks<B: WheelGroups, S: StepWheels<B>>(cars: &mut S, v_loaded: CarTwist<B, S>) -> CarMask<B, S> {
    // `compliance_factor`: number of gripping wheels, at every wheel.
    let (has_tilted_rows, compliance_factor) = (cars.has_tilted_rows(), S::Lanes::broadcast_car(gripping_count(cars)));
    let mut stiff_wheels = <S::Lanes as Lane>::Mask::default();
    let body = cars.body();
    for (_, rows) in cars.packs() {
        rows.solution.friction_bound = rows.friction_limit();
        rows.solution.effective_mass =
            effective_mass(&body, has_tilted_rows, rows, v_loaded.broadcast_to_wheels(), compliance_factor);
        stiff_wheels = stiff_wheels | rows.is_stiff();
    }
    S::Lanes::cars_with_any(stiff_wheels)
}

/// Solves the shafts, then every wheel block once, with the limits, speeds and compliances in the rows (see
/// [`prepare_blocks`]).
#[inline(always)]
pub fn solve_blocks<B: WheelGroups, S: StepWheels<B>>(cars: &mut S) {
    cars.solve_shafts();
    for (group, rows) in cars.packs() {
        rows.solve_block(group, ImpulseBounds::ApproximateCone);
    }
}

impl<W: WheelLanes> EffectiveMass<W> {
    /// Returns `when_set` where `mask` is set, `when_clear` elsewhere.
    #[inline(always)]
    pub fn select(mask: W::Mask, when_set: Self, when_clear: Self) -> Self {
        // Selects one number.
        let select_lane = |when_set: W, when_clear: W| W::select(mask, when_set, when_clear);
        let ([a, b, c], [d, e, f]) = (when_set.compliance, when_clear.compliance);
        Self {
            speed: pair_from_fn(|i| select_lane(when_set.speed[i], when_clear.speed[i])),
            compliance: [select_lane(a, d), select_lane(b, e), select_lane(c, f)],
        }
    }
}

impl<W: WheelLanes> WheelRows<W> {
    /// Returns the mask of stiff tyres: gain times compliance, longitudinal or lateral, exceeds
    /// [`STIFFNESS_THRESHOLD`]. The compliance is that stored by [`prepare_blocks`], multiplied by the number of
    /// gripping wheels.
    #[inline(always)]
    fn is_stiff(&self) -> W::Mask {
        let [longitudinal, _, lateral] = self.solution.effective_mass.compliance;
        let threshold = W::splat(STIFFNESS_THRESHOLD);
        threshold.less(self.tyre.gain[0] * longitudinal) | threshold.less(self.tyre.gain[1] * lateral)
    }
}

/// Adds to `compliance` (longitudinal, coupling, lateral; 1/kg) the difference in translational compliance of row
/// directions that are not orthogonal unit vectors: `(f·f − 1) / m`, `f·s / m` and `(s·s − 1) / m`. `inverse_mass` is 1
/// / m, multiplied by the share of the compliance.
#[cold]
#[inline(never)]
fn add_non_unit_compliance<W: WheelLanes>(contact: &ContactRows<W>, inverse_mass: W, compliance: &mut [W; 3]) {
    let (one, forward, side) = (W::splat(1.0), contact.forward.linear, contact.side.linear);
    compliance[0] += inverse_mass * (forward.dot(forward) - one);
    compliance[1] += inverse_mass * forward.dot(side);
    compliance[2] += inverse_mass * (side.dot(side) - one);
}

/// Returns two properties of the tyre rows of each wheel of the cars with the `body`, at the chassis `velocity`. The
/// compliance is the change of the chassis speed along a row per impulse along a row (1/kg). The speed is that of the
/// patch over the ground without the effect of the wheel's present tyre impulses p on the chassis: `v − K p` (m/s).
/// Spin is not included.
///
/// The compliance K of rows a and b is `compliance_factor · (a·b / m + (r × a) · I⁻¹ (r × b))`. `compliance_factor` is
/// the number of gripping wheels, 1 for a wheel alone. `has_tilted_rows` (`crate::Model::has_tilted_rows`) states
/// whether rows may differ from orthogonal unit vectors.
#[inline(always)]
pub fn effective_mass<W: WheelLanes>(
    body: &BodyConstants<W::Car>,
    has_tilted_rows: bool,
    rows: &WheelRows<W>,
    velocity: SpatialVector<W>,
    compliance_factor: W,
) -> EffectiveMass<W> {
    let inverse_mass = W::broadcast_car(body.inverse_mass);
    // Angular velocity per unit impulse along each row.
    let forward_response = body.inverse_inertia.mul_wheel_vector(rows.contact.forward.angular);
    let side_response = body.inverse_inertia.mul_wheel_vector(rows.contact.side.angular);
    // Both directions are orthogonal unit vectors, except on rims and links.
    let mut compliance = [
        (inverse_mass + rows.contact.forward.angular.dot(forward_response)) * compliance_factor,
        rows.contact.forward.angular.dot(side_response) * compliance_factor,
        (inverse_mass + rows.contact.side.angular.dot(side_response)) * compliance_factor,
    ];
    if has_tilted_rows {
        add_non_unit_compliance(&rows.contact, inverse_mass * compliance_factor, &mut compliance);
    }
    let [longitudinal_speed, lateral_speed] = rows.patch_speeds(velocity);
    // Patch speeds without the effect of the present tyre impulses.
    let speed = [
        longitudinal_speed
            - compliance[0] * rows.solution.tyre_impulse[0]
            - compliance[1] * rows.solution.tyre_impulse[1],
        lateral_speed - compliance[1] * rows.solution.tyre_impulse[0] - compliance[2] * rows.solution.tyre_impulse[1],
    ];
    EffectiveMass { speed, compliance }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Vec3;
    use crate::model::{Model, plain::plain_car};
    use skidpad_simd::lane::F32x4;
    use skidpad_simd::vectors::Vec3Lanes;

    /// Checks that a wheel sees the speed of its patch without the effect of its own tyre, `v − K p`. K is the effect
    /// of a unit impulse of the tyre on the velocity of its patch, `1 / m + (r × a) · I⁻¹ (r × b)`.
    #[test]
    fn a_tyre_sees_the_chassis_without_what_it_does_itself() {
        let parts = plain_car();
        let (model, inertia) = (Model::new(parts.clone()).expect("valid"), parts.inertia);
        let group = &model.wheel_packs()[0];
        let mut rows = WheelRows::<F32x4>::default();
        let row = |direction: Vec3| {
            SpatialVector::new(Vec3Lanes::splat(direction), group.contact.cross(Vec3Lanes::splat(direction)))
        };
        (rows.contact.forward, rows.contact.side) = (row(Vec3::X), row(Vec3::Y));
        rows.solution.tyre_impulse = [F32x4::splat(30.0), F32x4::splat(-20.0)];
        let twist = SpatialVector::from_vec3s(Vec3::new(3.0, -2.0, 0.5), Vec3::new(0.25, -0.5, 1.0));
        let seen =
            effective_mass(&BodyConstants::of(&model), false, &rows, twist.broadcast_to_wheels(), F32x4::splat(1.0));
        for (i, wheel) in parts.wheels.iter().enumerate() {
            let moved_by = |impulse: Vec3| {
                impulse / parts.mass + (inertia.inverse() * wheel.contact.cross(impulse)).cross(wheel.contact)
            };
            let (linear, angular) = twist.parts();
            let expected = linear + angular.cross(wheel.contact) - moved_by(Vec3::new(30.0, -20.0, 0.0));
            for (found, expected) in [
                (seen.compliance[0], moved_by(Vec3::X).x),
                (seen.compliance[1], moved_by(Vec3::X).y),
                (seen.compliance[2], moved_by(Vec3::Y).y),
                (seen.speed[0], expected.x),
                (seen.speed[1], expected.y),
            ] {
                let found = found.lane_value(i);
                // Rounding of f32 for numbers up to 4.
                assert!((found - expected).abs() < 2e-6, "wheel {i}: {found} instead of {expected}");
            }
        }
    }
}
