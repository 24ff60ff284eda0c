//! One-sweep coupling: every wheel is solved from the same chassis velocity, with a warm start.

use crate::constants::MAX_WHEELS;
use crate::model::wheel_pack::WheelPack;
use crate::solver_mode::{FrictionShape, ImpulseBounds, StepReport, StopCriterion};
use crate::step::stages::{CarMask, CarScalar, CarTwist, StepWheels, Velocities};
use crate::suspension::rows::LoadSolution;
use crate::vehicle::rows::{EffectiveMass, WheelRows};
use crate::vehicle::{Vehicle, response, wheel_impulses};
use crate::wheel::rows::ContactRows;
use skidpad_simd::lane::{F32x4, Lane, WheelLanes, pair_from_fn};
use skidpad_simd::linear::{OuterProducts, SpatialVector, Symmetric6};
use skidpad_simd::wheel_groups::{ManyGroups, WheelGroups};

impl Vehicle {
    /// Performs one sweep over shafts and wheel blocks from the `velocities` of the chassis. If tyres are stiff and the
    /// sweep is inconsistent with the loads or with itself, iterates the converged coupling instead. Returns the report
    /// of the method used.
    #[inline(always)]
    pub(crate) fn run_single_pass<B: WheelGroups>(&mut self, velocities: &Velocities, dt: f32) -> StepReport {
        if solve_single_pass::<B, _>(self, velocities.load_solution.velocity) {
            return self.iterate_if_stiff(velocities, dt);
        }
        SINGLE_PASS_REPORT
    }

    /// Completes a sweep with stiff tyres. If it is consistent, clamps the tyre impulses to the friction ellipse and
    /// returns the report of one sweep. Otherwise clears the impulses of motors and couplings, and iterates to
    /// convergence with the default criterion and the friction cone.
    #[cold]
    #[inline(never)]
    fn iterate_if_stiff(&mut self, velocities: &Velocities, dt: f32) -> StepReport {
        if !self.is_inconsistent(velocities.v_free, dt) {
            self.clamp_to_friction_limits(ImpulseBounds::Cone);
            return SINGLE_PASS_REPORT;
        }
        self.shafts.clear_impulses(&self.model, &mut self.rows);
        // The consistency check computed the loads at another velocity.
        let velocities = &Velocities {
            load_solution: LoadSolution { matches_rows: false, ..velocities.load_solution },
            ..*velocities
        };
        self.iterate::<ManyGroups>(velocities, StopCriterion::DEFAULT_CRITERION, FrictionShape::Cone, dt)
    }

    /// Computes the loads anew with the tyre impulses of the sweep, and returns true if stiff tyres changed the loads
    /// or each other's impulses. `v_free` is the velocity without wheels. The limit is 1 % of the load plus the static
    /// load. The new loads stay in the rows. A kart whose tyres turn it on hard springs would gain energy from the
    /// difference.
    #[cold]
    #[inline(never)]
    pub(crate) fn is_inconsistent(&mut self, v_free: SpatialVector<f32>, dt: f32) -> bool {
        let mut loads_before = [F32x4::default(); MAX_WHEELS];
        for (load_before, rows) in loads_before.iter_mut().zip(&self.rows) {
            *load_before = rows.suspension.load;
        }
        // Velocity with the tyre impulses of the sweep, without loads.
        let v_warm = v_free + self.response(self.wheel_impulses::<ManyGroups>(false)); // false: without loads
        self.solve_any_loads::<ManyGroups>(v_free, v_warm, dt);
        // Whether load or tyre impulse of any wheel of a bank has changed.
        let has_changed = |(load_before, rows): (&F32x4, &WheelRows)| F32x4::any(rows.has_changed(*load_before));
        loads_before.iter().zip(&self.rows).any(has_changed)
    }
}

/// Solves the shafts, then every wheel block (spin and both tyre impulses of a wheel), once from the chassis velocity
/// `v_loaded`, which includes the loads and the last step's tyre impulses. Returns the mask of the cars with stiff
/// tyres.
///
/// First sets the friction limits of the tyres by the loads, and the speed and compliance that each block sees. Each
/// block uses its chassis compliance times the number of gripping wheels. No wheel depends on the others within the
/// sweep, and this factor prevents that they over-correct together. At rest and in steady motion nothing changes from
/// step to step, and the result is the converged one.
///
/// If tyres are stiff relative to that compliance (slow cars), the corrections of the sweep would lag behind the
/// deflections for many steps, and cars would rock across the ground. The sweep of such a car therefore starts with the
/// impulses of the coupled linear rows.
#[inline(always)]
pub(crate) fn solve_single_pass<B: WheelGroups, S: StepWheels<B>>(
    cars: &mut S,
    v_loaded: CarTwist<B, S>,
) -> CarMask<B, S> {
    let mut gripping_count = CarScalar::<B, S>::default();
    for rows in cars.rows().chunks(S::Lanes::ROWS_PER_AXLE_PAIR) {
        gripping_count += S::Lanes::sum_over_wheels(
            #[inline(always)]
            |k| S::Lanes::splat(1.0).masked(rows[k].tyre.active),
        );
    }
    // `compliance_factor`: number of gripping wheels, at every wheel.
    let (is_slanted, compliance_factor) = (cars.has_tilted_rows(), S::Lanes::broadcast_car(gripping_count));
    let mut stiff_wheels = <S::Lanes as Lane>::Mask::default();
    for (group, rows) in cars.packs() {
        rows.solution.friction_bound = rows.friction_limit();
        rows.solution.effective_mass =
            effective_mass(group, is_slanted, rows, v_loaded.broadcast_to_wheels(), compliance_factor);
        stiff_wheels = stiff_wheels | rows.is_stiff();
    }
    let stiff_cars = S::Lanes::cars_with_any(stiff_wheels);
    if CarScalar::<B, S>::any(stiff_cars) {
        start_from_coupled_rows(cars, stiff_cars, v_loaded, gripping_count);
    }
    cars.solve_shafts();
    for (group, rows) in cars.packs() {
        rows.solve_block(group, ImpulseBounds::ApproximateCone);
    }
    stiff_cars
}

/// Report of one sweep.
pub(crate) const SINGLE_PASS_REPORT: StepReport =
    StepReport { not_finite: false, not_converged: false, iterations: 1, residual: 0.0, misuse: None };

/// Largest change of a load or tyre impulse in a consistent sweep, as a share of the load plus the static load.
const MAX_IMPULSE_CHANGE_SHARE: f32 = 0.01;

/// Gain times compliance, with all gripping wheels, above which rows are coupled before the sweep.
const STIFFNESS_THRESHOLD: f32 = 1.0;

/// Starts the sweep of `stiff_cars` with the impulses of the coupled linear tyre rows, instead of those of the last
/// step. `v_loaded` is the velocity with loads and the last step's tyre impulses; `gripping_count` is the number of
/// gripping wheels of each car. Sets tyre impulses, their values at the start of the sweep, and the speed and
/// compliance of each block. Other cars of a batch keep their impulses and compliances.
#[cold]
#[inline(never)]
fn start_from_coupled_rows<B: WheelGroups, S: StepWheels<B>>(
    cars: &mut S,
    stiff_cars: CarMask<B, S>,
    v_loaded: CarTwist<B, S>,
    gripping_count: CarScalar<B, S>,
) {
    S::Lanes::call_outlined(
        #[inline(always)]
        || {
            // Tyre impulses before (N s), for the cars that are not stiff.
            let mut start_impulses = [[S::Lanes::default(); 2]; MAX_WHEELS];
            start_impulses
                .iter_mut()
                .zip(cars.packs())
                .for_each(|(start_impulse, (_, rows))| *start_impulse = rows.solution.tyre_impulse);
            let v_linear = solve_linear_rows(cars, v_loaded).broadcast_to_wheels();
            let (stiff_wheels, compliance_factor) =
                (S::Lanes::wheels_of_cars(stiff_cars), S::Lanes::broadcast_car(gripping_count));
            let is_slanted = cars.has_tilted_rows();
            for (start_impulse, (group, rows)) in start_impulses.into_iter().zip(cars.packs()) {
                let linear_effective_mass = effective_mass(group, is_slanted, rows, v_linear, compliance_factor);
                rows.solution.effective_mass =
                    EffectiveMass::select(stiff_wheels, linear_effective_mass, rows.solution.effective_mass);
                rows.solution.tyre_impulse =
                    pair_from_fn(|i| S::Lanes::select(stiff_wheels, rows.solution.tyre_impulse[i], start_impulse[i]));
                rows.solution.start_tyre_impulse = rows.solution.tyre_impulse;
            }
        },
    );
}

/// Solves the linear tyre rows together with the chassis and the spin of every wheel, without friction limits, then
/// clamps their impulses to the friction ellipse. Stores the impulses in the rows. Returns the chassis velocity with
/// these impulses; `v_loaded` is the velocity with the last step's ones. Solves `(M + Σ gain · row rowᵀ) Δv = Σ
/// impulses at the velocity without tyres`.
#[inline(always)]
fn solve_linear_rows<B: WheelGroups, S: StepWheels<B>>(cars: &mut S, v_loaded: CarTwist<B, S>) -> CarTwist<B, S> {
    let tyre_response = |cars: &S| response(cars.model(), wheel_impulses(cars.rows(), false)); // false: without loads
    // Chassis velocity with loads, but without tyre impulses.
    let v_without_tyres = v_loaded + tyre_response(cars) * CarScalar::<B, S>::splat(-1.0);
    let mut products = OuterProducts::zero();
    // Longitudinal impulses of the last step (N s).
    let mut last_impulses = [S::Lanes::default(); MAX_WHEELS];
    for (i, ((group, rows), last_impulse)) in cars.packs().zip(&mut last_impulses).enumerate() {
        *last_impulse = rows.solution.tyre_impulse[0];
        let (target_impulse, gain) = rows.linear_tyre_rows(group, *last_impulse, v_without_tyres.broadcast_to_wheels());
        products.add_to_row(i % S::Lanes::ROWS_PER_AXLE_PAIR, gain[0], rows.contact.forward);
        products.add_to_row(i % S::Lanes::ROWS_PER_AXLE_PAIR, gain[1], rows.contact.side);
        rows.solution.tyre_impulse = target_impulse;
    }
    // Impulses of the linear rows at the velocity without tyres.
    let linear_impulse = wheel_impulses(cars.rows(), false); // false: without loads
    // Velocity change with tyre gains, spin included.
    let velocity_change = Symmetric6::new(cars.model().mass(), cars.model().inertia(), &products).solve(linear_impulse);
    for ((group, rows), last_impulse) in cars.packs().zip(last_impulses) {
        (rows.solution.tyre_impulse, _) =
            rows.linear_tyre_rows(group, last_impulse, (v_without_tyres + velocity_change).broadcast_to_wheels());
        rows.clamp_to_friction(ImpulseBounds::Cone);
    }
    v_without_tyres + tyre_response(cars)
}

impl<W: WheelLanes> EffectiveMass<W> {
    /// Returns `when_set` where `mask` is set, `when_clear` elsewhere.
    #[inline(always)]
    fn select(mask: W::Mask, when_set: Self, when_clear: Self) -> Self {
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
    /// [`STIFFNESS_THRESHOLD`]. The compliance is that of [`effective_mass`], multiplied by the number of gripping
    /// wheels.
    #[inline(always)]
    pub(crate) fn is_stiff(&self) -> W::Mask {
        let [longitudinal, _, lateral] = self.solution.effective_mass.compliance;
        let threshold = W::splat(STIFFNESS_THRESHOLD);
        threshold.less(self.tyre.gain[0] * longitudinal) | threshold.less(self.tyre.gain[1] * lateral)
    }

    /// Returns the mask of wheels whose load differs from `load_before`, the load before the sweep (N s), or whose tyre
    /// impulse differs from that at the start of the sweep, by more than [`MAX_IMPULSE_CHANGE_SHARE`] of load plus
    /// static load.
    #[inline(always)]
    pub(crate) fn has_changed(&self, load_before: W) -> W::Mask {
        // Largest accepted change (N s).
        let tolerance = W::splat(MAX_IMPULSE_CHANGE_SHARE) * (self.suspension.load + self.suspension.strut.weight);
        let load_change = (self.suspension.load - load_before).abs();
        let [longitudinal_change, lateral_change] =
            pair_from_fn(|i| (self.solution.tyre_impulse[i] - self.solution.start_tyre_impulse[i]).abs());
        tolerance.less(load_change) | tolerance.less(longitudinal_change.at_least(lateral_change))
    }

    /// Returns the longitudinal and lateral impulse of the linear tyre rows at the chassis `velocity` (N s), and
    /// their gains (kg). Lateral: `target − gain · speed`. A longitudinal row of a turning wheel includes the spin that
    /// results from shafts, brake and tyre, which lowers its gain to `g / (1 + g R² / I)`; a held wheel has no spin.
    /// The longitudinal `last_impulse` (N s) decides which of both applies. Friction limits do not.
    #[inline(always)]
    fn linear_tyre_rows(&self, group: &WheelPack<W>, last_impulse: W, velocity: SpatialVector<W>) -> ([W; 2], [W; 2]) {
        let (one, radius) = (W::splat(1.0), group.radius);
        // Spin momentum before brake and tyre (N m s).
        let momentum = self.drive.momentum + self.drive.shaft;
        // The last tyre impulse decides. With the impulse at a velocity without tyres, braked wheels would turn and
        // cars would slide downhill. With no impulse, a wheel that swings on its own patch would count as held.
        let unlocked_momentum = momentum - radius * last_impulse;
        // Angular momentum after brake and rolling resistance (N m s).
        let braked_momentum = momentum - self.tyre.locking_capacity.times_sign_of(unlocked_momentum);
        // Wheels that brake and rolling resistance do not hold.
        let is_turning = self.tyre.locking_capacity.less(unlocked_momentum.abs());
        let [longitudinal_speed, lateral_speed] = self.patch_speeds(velocity);
        // Longitudinal and lateral gain (kg).
        let [longitudinal_gain, lateral_gain] = self.tyre.gain;
        let spin_coupling = (longitudinal_gain * radius / group.spin_inertia).masked(is_turning);
        let reduced_gain = longitudinal_gain / (one + spin_coupling * radius);
        let target_impulse = (self.tyre.target_impulse[0] - longitudinal_gain * longitudinal_speed
            + spin_coupling * braked_momentum)
            / (one + spin_coupling * radius);
        ([target_impulse, self.tyre.target_impulse[1] - lateral_gain * lateral_speed], [reduced_gain, lateral_gain])
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

/// Returns the speed and the compliance that the tyre rows of each wheel see at the chassis `velocity`.
///
/// The compliance of rows a and b is `compliance_factor · (a·b / m + (r × a) · I⁻¹ (r × b))`. The speed is that of the
/// patch over the ground without the effect of the wheel's present tyre impulses p: `v − K p`. `compliance_factor` is
/// the number of gripping wheels, 1 for a wheel alone. `is_slanted` ([`crate::Model::has_tilted_rows`]) states whether
/// rows may differ from orthogonal unit vectors. Spin is not included.
#[inline(always)]
pub(crate) fn effective_mass<W: WheelLanes>(
    group: &WheelPack<W>,
    is_slanted: bool,
    rows: &WheelRows<W>,
    velocity: SpatialVector<W>,
    compliance_factor: W,
) -> EffectiveMass<W> {
    let inverse_mass = group.inverse_mass;
    // Angular velocity per unit impulse along each row.
    let forward_response = group.inverse_inertia.mul_vector(rows.contact.forward.angular);
    let side_response = group.inverse_inertia.mul_vector(rows.contact.side.angular);
    // Both directions are orthogonal unit vectors, except on rims and links.
    let mut compliance = [
        (inverse_mass + rows.contact.forward.angular.dot(forward_response)) * compliance_factor,
        rows.contact.forward.angular.dot(side_response) * compliance_factor,
        (inverse_mass + rows.contact.side.angular.dot(side_response)) * compliance_factor,
    ];
    if is_slanted {
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
    use skidpad_simd::vectors::Vec3Lanes;

    /// Checks that a wheel sees the speed of its patch without the effect of its own tyre, `v − K p`. K is the effect
    /// of a unit impulse of the tyre on the velocity of its patch, `1 / m + (r × a) · I⁻¹ (r × b)`.
    #[test]
    fn a_tyre_sees_the_chassis_without_what_it_does_itself() {
        let parts = plain_car();
        let (model, inertia) = (Model::new(parts.clone()).expect("valid"), parts.inertia);
        let bank = &model.wheel_packs()[0];
        let mut rows = WheelRows::<F32x4>::default();
        let row = |direction: Vec3| {
            SpatialVector::new(Vec3Lanes::splat(direction), bank.contact.cross(Vec3Lanes::splat(direction)))
        };
        (rows.contact.forward, rows.contact.side) = (row(Vec3::X), row(Vec3::Y));
        rows.solution.tyre_impulse = [F32x4::splat(30.0), F32x4::splat(-20.0)];
        let twist = SpatialVector::from_vec3s(Vec3::new(3.0, -2.0, 0.5), Vec3::new(0.25, -0.5, 1.0));
        let seen = effective_mass(bank, false, &rows, twist.broadcast_to_wheels(), F32x4::splat(1.0));
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
