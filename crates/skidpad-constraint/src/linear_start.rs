//! Start of a sweep with the coupled linear rows of all tyres.
//!
//! If tyres are stiff relative to the compliance that they see (slow cars), the corrections of a sweep would lag behind
//! the deflections for many steps, and cars would rock across the ground. The sweep of such a car therefore starts with
//! the impulses of the coupled linear rows: one Newton step without friction limits.

use skidpad_core::MAX_WHEELS;
use skidpad_core::coupling::{
    CarMask, CarScalar, CarTwist, EffectiveMass, ImpulseBounds, StepWheels, WheelGroups, WheelPack, WheelRows,
    effective_mass, gripping_count, wheel_impulses,
};
use skidpad_core::simd::lane::{Lane, WheelLanes, pair_from_fn};
use skidpad_core::simd::linear::{OuterProducts, SpatialVector, Symmetric6};

/// Starts the sweep of `stiff_cars` (tyre gain times compliance above 1) with the impulses of the coupled linear tyre
/// rows, instead of those of the last step. `v_loaded` is the velocity with loads and the last step's tyre impulses.
/// For these cars sets the tyre impulses, and the speed and compliance that each wheel block (spin and tyre impulses of
/// a wheel) sees. Other cars of a batch keep their impulses and compliances. For all cars stores the tyre impulses as
/// those at the start of the sweep.
#[cold]
#[inline(never)]
pub fn start_from_coupled_rows<B: WheelGroups, S: StepWheels<B>>(
    cars: &mut S,
    stiff_cars: CarMask<B, S>,
    v_loaded: CarTwist<B, S>,
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
            let v_linear = solve_linear_rows(cars, v_loaded).broadcast_to_wheels(); // chassis velocity
            let (stiff_wheels, compliance_factor) =
                (S::Lanes::wheels_of_cars(stiff_cars), S::Lanes::broadcast_car(gripping_count(cars)));
            let (has_tilted_rows, body) = (cars.has_tilted_rows(), cars.body());
            for (start_impulse, (_, rows)) in start_impulses.into_iter().zip(cars.packs()) {
                let linear_effective_mass = effective_mass(&body, has_tilted_rows, rows, v_linear, compliance_factor);
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
/// clamps their impulses to the friction ellipse. Stores the impulses in the rows of all cars. Returns the chassis
/// velocity with these impulses; `v_loaded` is the velocity with the tyre impulses of the last step. Solves `(M + Σ
/// gain · row rowᵀ) Δv = p`, where p is the sum of the row impulses at the velocity without tyres.
#[inline(always)]
fn solve_linear_rows<B: WheelGroups, S: StepWheels<B>>(cars: &mut S, v_loaded: CarTwist<B, S>) -> CarTwist<B, S> {
    let tyre_response = |cars: &S| cars.body().response(wheel_impulses(cars.rows(), false)); // false: without loads
    // Chassis velocity with loads, but without tyre impulses.
    let v_without_tyres = v_loaded + tyre_response(cars) * CarScalar::<B, S>::splat(-1.0);
    let mut products = OuterProducts::zero();
    // Longitudinal impulses of the last step (N s).
    let mut last_impulses = [S::Lanes::default(); MAX_WHEELS];
    for (i, ((group, rows), last_impulse)) in cars.packs().zip(&mut last_impulses).enumerate() {
        *last_impulse = rows.solution.tyre_impulse[0];
        let (target_impulse, gain) =
            linear_tyre_rows(rows, group, *last_impulse, v_without_tyres.broadcast_to_wheels());
        products.add_to_row(i % S::Lanes::ROWS_PER_AXLE_PAIR, gain[0], rows.contact.forward);
        products.add_to_row(i % S::Lanes::ROWS_PER_AXLE_PAIR, gain[1], rows.contact.side);
        rows.solution.tyre_impulse = target_impulse;
    }
    // Impulses of the linear rows at the velocity without tyres.
    let linear_impulse = wheel_impulses(cars.rows(), false); // false: without loads
    // Velocity change with tyre gains, spin included.
    let body = cars.body();
    let velocity_change = Symmetric6::from_lanes(body.mass, &body.inertia, &products).solve(linear_impulse);
    for ((group, rows), last_impulse) in cars.packs().zip(last_impulses) {
        (rows.solution.tyre_impulse, _) =
            linear_tyre_rows(rows, group, last_impulse, (v_without_tyres + velocity_change).broadcast_to_wheels());
        rows.clamp_to_friction(ImpulseBounds::Cone);
    }
    v_without_tyres + tyre_response(cars)
}

/// Returns the longitudinal and lateral impulse of the linear tyre rows at the chassis `velocity` (N s), and
/// their gains (kg). Lateral: `target − gain · speed`. A longitudinal row of a turning wheel includes the spin that
/// results from shafts, brake and tyre, which lowers its gain to `g / (1 + g R² / I)`; a held wheel has no spin.
/// The longitudinal `last_impulse` (N s) decides which of both applies. Friction limits do not.
#[inline(always)]
fn linear_tyre_rows<W: WheelLanes>(
    rows: &WheelRows<W>,
    group: &WheelPack<W>,
    last_impulse: W,
    velocity: SpatialVector<W>,
) -> ([W; 2], [W; 2]) {
    let (one, radius) = (W::splat(1.0), group.radius);
    // Spin momentum before brake and tyre (N m s).
    let momentum = rows.drive.momentum + rows.drive.shaft;
    // The last tyre impulse decides. With the impulse at a velocity without tyres, braked wheels would turn and
    // cars would slide downhill. With no impulse, a wheel that swings on its own patch would count as held.
    let unlocked_momentum = momentum - radius * last_impulse;
    // Angular momentum after brake and rolling resistance (N m s).
    let braked_momentum = momentum - rows.tyre.locking_capacity.times_sign_of(unlocked_momentum);
    // Wheels that brake and rolling resistance do not hold.
    let is_turning = rows.tyre.locking_capacity.less(unlocked_momentum.abs());
    let [longitudinal_speed, lateral_speed] = rows.patch_speeds(velocity);
    // Longitudinal and lateral gain (kg).
    let [longitudinal_gain, lateral_gain] = rows.tyre.gain;
    let spin_coupling = (longitudinal_gain * radius / group.spin_inertia).masked(is_turning);
    let reduced_gain = longitudinal_gain / (one + spin_coupling * radius);
    let target_impulse = (rows.tyre.target_impulse[0] - longitudinal_gain * longitudinal_speed
        + spin_coupling * braked_momentum)
        / (one + spin_coupling * radius);
    ([target_impulse, rows.tyre.target_impulse[1] - lateral_gain * lateral_speed], [reduced_gain, lateral_gain])
}
