//! One-sweep coupling: every wheel is solved from the same chassis velocity, with a warm start.

use crate::constants::MAX_WHEELS;
use crate::model::wheel_pack::WheelPack;
use crate::simd::lane::{F32x4, Lane, WheelLanes, pair_from_fn};
use crate::simd::linear::{OuterProducts, SpatialVector, Symmetric6};
use crate::simd::wheel_groups::{ManyGroups, WheelGroups};
use crate::solver_mode::{FrictionShape, ImpulseBounds, StepReport, StopCriterion};
use crate::step::stages::{CarMask, CarScalar, CarTwist, StepWheels, Velocities};
use crate::suspension::rows::LoadSolution;
use crate::vehicle::rows::{EffectiveMass, WheelRows};
use crate::vehicle::{Vehicle, response, wheel_impulses};
use crate::wheel::rows::ContactRows;

impl Vehicle {
    /// Performs one sweep over shafts and wheel blocks from the `velocities` of the chassis. If tyres are stiff and the
    /// sweep is inconsistent with the loads or with itself, iterates the converged coupling instead. Returns the report
    /// of the method used.
    #[inline(always)]
    pub(crate) fn run_single_pass<B: WheelGroups>(&mut self, velocities: &Velocities, dt: f32) -> StepReport {
        if solve_single_pass::<B, _>(self, velocities.loaded.velocity) {
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
        if !self.is_inconsistent(velocities.free, dt) {
            self.clamp_to_friction_limits(ImpulseBounds::Cone);
            return SINGLE_PASS_REPORT;
        }
        self.shafts.clear_impulses(&self.model, &mut self.rows);
        // The consistency check computed the loads at another velocity.
        let velocities =
            &Velocities { loaded: LoadSolution { matches_rows: false, ..velocities.loaded }, ..*velocities };
        self.iterate::<ManyGroups>(velocities, StopCriterion::DEFAULT_CRITERION, FrictionShape::Cone, dt)
    }

    /// Computes the loads anew with the tyre impulses of the sweep, and returns true if stiff tyres changed the loads
    /// or each other's impulses. `free` is the velocity without wheels. The limit is 1 % of the load plus the static
    /// load. The new loads stay in the rows. A kart whose tyres turn it on hard springs would gain energy from the
    /// difference.
    #[cold]
    #[inline(never)]
    pub(crate) fn is_inconsistent(&mut self, free: SpatialVector<f32>, dt: f32) -> bool {
        let mut before = [F32x4::default(); MAX_WHEELS];
        for (before, rows) in before.iter_mut().zip(&self.rows) {
            *before = rows.suspension.load;
        }
        // Velocity with the tyre impulses of the sweep, without loads.
        let warm = free + self.response(self.wheel_impulses::<ManyGroups>(false));
        self.solve_any_loads::<ManyGroups>(free, warm, dt);
        // Whether load or tyre impulse of any wheel of a bank has changed.
        let moved = |(before, rows): (&F32x4, &WheelRows)| F32x4::any(rows.has_changed(*before));
        before.iter().zip(&self.rows).any(moved)
    }
}

/// Solves the shafts, then every wheel block (spin and both tyre impulses of a wheel), once from the chassis velocity
/// `loaded`, which includes the loads and the last step's tyre impulses. Returns the mask of the cars with stiff tyres.
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
    loaded: CarTwist<B, S>,
) -> CarMask<B, S> {
    let mut gripping = CarScalar::<B, S>::default();
    for rows in cars.rows().chunks(S::Lanes::ROWS_PER_AXLE_PAIR) {
        gripping += S::Lanes::sum_over_wheels(
            #[inline(always)]
            |k| S::Lanes::splat(1.0).masked(rows[k].tyre.active),
        );
    }
    // `share`: number of gripping wheels, at every wheel.
    let (is_slanted, share) = (cars.has_tilted_rows(), S::Lanes::broadcast_car(gripping));
    let mut stiff = <S::Lanes as Lane>::Mask::default();
    for (bank, rows) in cars.packs() {
        rows.solution.friction_bound = rows.friction_limit();
        rows.solution.effective_mass = effective_mass(bank, is_slanted, rows, loaded.broadcast_to_wheels(), share);
        stiff = stiff | rows.is_stiff();
    }
    let stiff = S::Lanes::cars_with_any(stiff);
    if CarScalar::<B, S>::any(stiff) {
        start_from_coupled_rows(cars, stiff, loaded, gripping);
    }
    cars.solve_shafts();
    for (bank, rows) in cars.packs() {
        rows.solve_block(bank, ImpulseBounds::ApproximateCone);
    }
    stiff
}

/// Report of one sweep.
pub(crate) const SINGLE_PASS_REPORT: StepReport =
    StepReport { not_finite: false, not_converged: false, iterations: 1, residual: 0.0, misuse: None };

/// Largest change of a load or tyre impulse in a consistent sweep, as a share of the load plus the static load.
const MAX_IMPULSE_CHANGE_SHARE: f32 = 0.01;

/// Gain times compliance, with all gripping wheels, above which rows are coupled before the sweep.
const STIFFNESS_THRESHOLD: f32 = 1.0;

/// Starts the sweep of `stiff` cars with the impulses of the coupled linear tyre rows, instead of those of the last
/// step. `loaded` is the velocity with loads and the last step's tyre impulses; `gripping` is the number of gripping
/// wheels of each car. Sets tyre impulses, their values at the start of the sweep, and the speed and compliance of each
/// block. Other cars of a batch keep their impulses and compliances.
#[cold]
#[inline(never)]
fn start_from_coupled_rows<B: WheelGroups, S: StepWheels<B>>(
    cars: &mut S,
    stiff: CarMask<B, S>,
    loaded: CarTwist<B, S>,
    gripping: CarScalar<B, S>,
) {
    S::Lanes::call_outlined(
        #[inline(always)]
        || {
            // Tyre impulses before (N s), for the cars that are not stiff.
            let mut was = [[S::Lanes::default(); 2]; MAX_WHEELS];
            was.iter_mut().zip(cars.packs()).for_each(|(was, (_, rows))| *was = rows.solution.tyre_impulse);
            let at = solve_linear_rows(cars, loaded).broadcast_to_wheels();
            let (stiff, share) = (S::Lanes::wheels_of_cars(stiff), S::Lanes::broadcast_car(gripping));
            let is_slanted = cars.has_tilted_rows();
            for (was, (bank, rows)) in was.into_iter().zip(cars.packs()) {
                let around = effective_mass(bank, is_slanted, rows, at, share);
                rows.solution.effective_mass = EffectiveMass::select(stiff, around, rows.solution.effective_mass);
                rows.solution.tyre_impulse =
                    pair_from_fn(|i| S::Lanes::select(stiff, rows.solution.tyre_impulse[i], was[i]));
                rows.solution.start_tyre_impulse = rows.solution.tyre_impulse;
            }
        },
    );
}

/// Solves the linear tyre rows together with the chassis and the spin of every wheel, without friction limits, then
/// clamps their impulses to the friction ellipse. Stores the impulses in the rows. Returns the chassis velocity with
/// these impulses; `loaded` is the velocity with the last step's ones. Solves `(M + Σ gain · row rowᵀ) Δv = Σ impulses
/// at the velocity without tyres`.
#[inline(always)]
fn solve_linear_rows<B: WheelGroups, S: StepWheels<B>>(cars: &mut S, loaded: CarTwist<B, S>) -> CarTwist<B, S> {
    let tyres = |cars: &S| response(cars.model(), wheel_impulses(cars.rows(), false));
    // Chassis velocity with loads, but without tyre impulses.
    let without = loaded + tyres(cars) * CarScalar::<B, S>::splat(-1.0);
    let mut products = OuterProducts::zero();
    // Longitudinal impulses of the last step (N s).
    let mut lasts = [S::Lanes::default(); MAX_WHEELS];
    for (i, ((bank, rows), last)) in cars.packs().zip(&mut lasts).enumerate() {
        *last = rows.solution.tyre_impulse[0];
        let (target_impulse, gain) = rows.linear_tyre_rows(bank, *last, without.broadcast_to_wheels());
        products.add_to_row(i % S::Lanes::ROWS_PER_AXLE_PAIR, gain[0], rows.contact.forward);
        products.add_to_row(i % S::Lanes::ROWS_PER_AXLE_PAIR, gain[1], rows.contact.side);
        rows.solution.tyre_impulse = target_impulse;
    }
    // Impulses of the linear rows at the velocity without tyres.
    let given = wheel_impulses(cars.rows(), false);
    // Velocity change with tyre gains, spin included.
    let change = Symmetric6::new(cars.model().mass(), cars.model().inertia(), &products).solve(given);
    for ((bank, rows), last) in cars.packs().zip(lasts) {
        (rows.solution.tyre_impulse, _) = rows.linear_tyre_rows(bank, last, (without + change).broadcast_to_wheels());
        rows.clamp_to_friction(ImpulseBounds::Cone);
    }
    without + tyres(cars)
}

impl<W: WheelLanes> EffectiveMass<W> {
    /// Returns `yes` where `mask` is set, `no` elsewhere.
    #[inline(always)]
    fn select(mask: W::Mask, yes: Self, no: Self) -> Self {
        // Selects one number.
        let pick = |yes: W, no: W| W::select(mask, yes, no);
        let ([a, b, c], [d, e, f]) = (yes.compliance, no.compliance);
        Self {
            speed: pair_from_fn(|i| pick(yes.speed[i], no.speed[i])),
            compliance: [pick(a, d), pick(b, e), pick(c, f)],
        }
    }
}

impl<W: WheelLanes> WheelRows<W> {
    /// Returns the mask of stiff tyres: gain times compliance, longitudinal or lateral, exceeds
    /// [`STIFFNESS_THRESHOLD`]. The compliance is that of [`effective_mass`], multiplied by the number of gripping
    /// wheels.
    #[inline(always)]
    pub(crate) fn is_stiff(&self) -> W::Mask {
        let [along, _, across] = self.solution.effective_mass.compliance;
        let most = W::splat(STIFFNESS_THRESHOLD);
        most.less(self.tyre.gain[0] * along) | most.less(self.tyre.gain[1] * across)
    }

    /// Returns the mask of wheels whose load differs from the load `before` the sweep (N s), or whose tyre impulse
    /// differs from that at the start of the sweep, by more than [`MAX_IMPULSE_CHANGE_SHARE`] of load plus static load.
    #[inline(always)]
    pub(crate) fn has_changed(&self, before: W) -> W::Mask {
        // Largest accepted change (N s).
        let allowed = W::splat(MAX_IMPULSE_CHANGE_SHARE) * (self.suspension.load + self.suspension.strut.weight);
        let load = (self.suspension.load - before).abs();
        let [along, across] =
            pair_from_fn(|i| (self.solution.tyre_impulse[i] - self.solution.start_tyre_impulse[i]).abs());
        allowed.less(load) | allowed.less(along.at_least(across))
    }

    /// Returns the longitudinal and lateral impulse of the linear tyre rows at the chassis velocity `at` (N s), and
    /// their gains (kg). Lateral: `target − gain · speed`. A longitudinal row of a turning wheel includes the spin that
    /// results from shafts, brake and tyre, which lowers its gain to `g / (1 + g R² / I)`; a held wheel has no spin.
    /// The `last` longitudinal impulse (N s) decides which of both applies. Friction limits do not.
    #[inline(always)]
    fn linear_tyre_rows(&self, bank: &WheelPack<W>, last: W, at: SpatialVector<W>) -> ([W; 2], [W; 2]) {
        let (one, radius) = (W::splat(1.0), bank.radius);
        // Spin momentum before brake and tyre (N m s).
        let momentum = self.drive.momentum + self.drive.shaft;
        // The last tyre impulse decides. With the impulse at a velocity without tyres, braked wheels would turn and
        // cars would slide downhill. With no impulse, a wheel that swings on its own patch would count as held.
        let need = momentum - radius * last;
        // Angular momentum after brake and rolling resistance (N m s).
        let driven = momentum - self.tyre.locking_capacity.times_sign_of(need);
        // Wheels that brake and rolling resistance do not hold.
        let turns = self.tyre.locking_capacity.less(need.abs());
        let [along, across] = self.patch_speeds(at);
        // Longitudinal and lateral gain (kg).
        let [stiff, side] = self.tyre.gain;
        let per_spin = (stiff * radius / bank.spin_inertia).masked(turns);
        let gain = stiff / (one + per_spin * radius);
        let target_impulse =
            (self.tyre.target_impulse[0] - stiff * along + per_spin * driven) / (one + per_spin * radius);
        ([target_impulse, self.tyre.target_impulse[1] - side * across], [gain, side])
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

/// Returns the speed and the compliance that the tyre rows of each wheel see at the chassis velocity `at`.
///
/// The compliance of rows a and b is `share · (a·b / m + (r × a) · I⁻¹ (r × b))`. The speed is that of the patch over
/// the ground without the effect of the wheel's present tyre impulses p: `v − K p`. `share` is the number of gripping
/// wheels, 1 for a wheel alone. `is_slanted` ([`crate::Model::has_tilted_rows`]) states whether rows may differ from
/// orthogonal unit vectors. Spin is not included.
#[inline(always)]
pub(crate) fn effective_mass<W: WheelLanes>(
    bank: &WheelPack<W>,
    is_slanted: bool,
    rows: &WheelRows<W>,
    at: SpatialVector<W>,
    share: W,
) -> EffectiveMass<W> {
    let inverse_mass = bank.inverse_mass;
    // Angular velocity per unit impulse along each row.
    let forward = bank.inverse_inertia.mul_vector(rows.contact.forward.angular);
    let side = bank.inverse_inertia.mul_vector(rows.contact.side.angular);
    // Both directions are orthogonal unit vectors, except on rims and links.
    let mut compliance = [
        (inverse_mass + rows.contact.forward.angular.dot(forward)) * share,
        rows.contact.forward.angular.dot(side) * share,
        (inverse_mass + rows.contact.side.angular.dot(side)) * share,
    ];
    if is_slanted {
        add_non_unit_compliance(&rows.contact, inverse_mass * share, &mut compliance);
    }
    let [along, across] = rows.patch_speeds(at);
    // Patch speeds without the effect of the present tyre impulses.
    let speed = [
        along - compliance[0] * rows.solution.tyre_impulse[0] - compliance[1] * rows.solution.tyre_impulse[1],
        across - compliance[1] * rows.solution.tyre_impulse[0] - compliance[2] * rows.solution.tyre_impulse[1],
    ];
    EffectiveMass { speed, compliance }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Vec3;
    use crate::model::{Model, plain::plain_car};
    use crate::simd::vectors::Vec3Lanes;

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
