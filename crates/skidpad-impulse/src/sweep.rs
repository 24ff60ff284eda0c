//! Solver of one sweep: every wheel is solved from the same chassis velocity, with a warm start.

use skidpad_constraint::{Newton, start_from_coupled_rows};
use skidpad_core::coupling::{
    BatchPass, CarMask, CarRows, CarScalar, ImpulseBounds, RowPass, RowSolver, StepWheels, Velocities, WheelGroups,
    WheelRows, prepare_blocks, solve_blocks, wheel_impulses,
};
use skidpad_core::simd::lane::{Lane, WheelLanes, pair_from_fn};
use skidpad_core::simd::linear::SpatialVector;
use skidpad_core::{MAX_WHEELS, StepReport};

/// Largest change of a load or tyre impulse in a consistent sweep, as a share of the load plus the static load.
const MAX_IMPULSE_CHANGE_SHARE: f32 = 0.01;

/// Solver that performs one sweep over the shafts and the wheel blocks of a car (spin and both tyre impulses of a
/// wheel), from the chassis velocity with the loads and the last step's tyre impulses. Works on batches, too.
///
/// If tyres are stiff (slow cars), the sweep starts with the impulses of the coupled linear rows. If it then changes
/// loads or tyre impulses by more than 1 %, the step is solved by [`Newton::CONE`] instead.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sweep;

impl RowSolver for Sweep {
    /// Performs one sweep. If the sweep is inconsistent (stiff tyres only), solves the step by [`Newton::CONE`]
    /// instead.
    fn solve(&self, car: &mut CarRows<'_>, velocities: &Velocities) -> StepReport {
        if car.run_pass::<Self>(velocities) { solve_by_newton(car, velocities) } else { StepReport::SINGLE_PASS }
    }

    fn batch_pass(&self) -> Option<&'static BatchPass> {
        static PASS: BatchPass = BatchPass::new::<Sweep>();
        Some(&PASS)
    }
}

impl RowPass for Sweep {
    /// Performs one sweep from the velocity with loads, and checks it for cars with stiff tyres; their sweep starts
    /// with the coupled linear rows. Returns the cars whose sweep is inconsistent (loads or tyre impulses changed by
    /// more than 1 %).
    #[inline(always)]
    fn solve_cars<B: WheelGroups, S: StepWheels<B>>(
        cars: &mut S,
        velocities: &Velocities<CarScalar<B, S>>,
    ) -> CarMask<B, S> {
        let v_loaded = velocities.load_solution.velocity;
        let stiff_cars = prepare_blocks(cars, v_loaded);
        let has_stiff_car = CarScalar::<B, S>::any(stiff_cars);
        if has_stiff_car {
            start_from_coupled_rows(cars, stiff_cars, v_loaded);
        }
        solve_blocks(cars);
        if has_stiff_car { check_stiff_tyres(cars, stiff_cars, velocities.v_free) } else { CarMask::<B, S>::default() }
    }
}

/// Replaces an inconsistent sweep by an iteration to convergence with [`Newton::CONE`]. Before that clears the impulses
/// of motors and couplings that the sweep has stored.
#[cold]
#[inline(never)]
fn solve_by_newton(car: &mut CarRows<'_>, velocities: &Velocities) -> StepReport {
    car.clear_shaft_impulses();
    // A sweep has no tolerance that a body under the car could scale. The iteration instead of it uses its full one.
    car.tolerance_factor = 1.0;
    let mut velocities = *velocities;
    // The check of the sweep solved the loads at another velocity.
    velocities.load_solution.matches_rows = false;
    Newton::CONE.solve(car, &velocities)
}

/// Solves the loads again with the tyre impulses of the sweep, and returns the mask of `stiff_cars` whose sweep is
/// inconsistent: their loads did not converge or changed, or the sweep changed their tyre impulses. `v_free` is the
/// velocity without wheels. The limit is 1 % of the load plus the static load. A kart whose tyres turn it on hard
/// springs would gain energy from the difference.
///
/// Stiff cars keep the new loads, and their tyre impulses are clamped to the friction ellipse; all others keep the
/// results of the sweep.
#[cold]
#[inline(never)]
fn check_stiff_tyres<B: WheelGroups, S: StepWheels<B>>(
    cars: &mut S,
    stiff_cars: CarMask<B, S>,
    v_free: SpatialVector<CarScalar<B, S>>,
) -> CarMask<B, S> {
    S::Lanes::call_outlined(
        #[inline(always)]
        || {
            let mut loads_before = [S::Lanes::default(); MAX_WHEELS];
            loads_before
                .iter_mut()
                .zip(cars.rows())
                .for_each(|(load_before, rows)| *load_before = rows.suspension.load);
            // Velocity with the tyre impulses of the sweep, without loads.
            let v_warm = v_free + cars.body().response(wheel_impulses(cars.rows(), false)); // false: without loads
            let (_, converged) = cars.solve_loads(v_free, v_warm);
            let stiff_wheels = S::Lanes::wheels_of_cars(stiff_cars);
            let mut changed_wheels = <S::Lanes as Lane>::Mask::default();
            for (load_before, (_, rows)) in loads_before.into_iter().zip(cars.packs()) {
                changed_wheels = changed_wheels | has_changed(rows, load_before);
                rows.suspension.load = S::Lanes::select(stiff_wheels, rows.suspension.load, load_before);
                // Tyre impulses of the sweep.
                let swept_impulse = rows.solution.tyre_impulse;
                rows.clamp_to_friction(ImpulseBounds::Cone);
                rows.solution.tyre_impulse =
                    pair_from_fn(|i| S::Lanes::select(stiff_wheels, rows.solution.tyre_impulse[i], swept_impulse[i]));
            }
            stiff_cars & (!converged | S::Lanes::cars_with_any(changed_wheels))
        },
    )
}

/// Returns the mask of wheels whose load differs from `load_before`, the load before the sweep (N s), or whose tyre
/// impulse differs from that at the start of the sweep, by more than [`MAX_IMPULSE_CHANGE_SHARE`] of load plus static
/// load.
#[inline(always)]
fn has_changed<W: WheelLanes>(rows: &WheelRows<W>, load_before: W) -> W::Mask {
    // Largest accepted change (N s).
    let tolerance = W::splat(MAX_IMPULSE_CHANGE_SHARE) * (rows.suspension.load + rows.static_load());
    let load_change = (rows.suspension.load - load_before).abs();
    let [longitudinal_change, lateral_change] =
        pair_from_fn(|i| (rows.solution.tyre_impulse[i] - rows.solution.start_tyre_impulse[i]).abs());
    tolerance.less(load_change) | tolerance.less(longitudinal_change.at_least(lateral_change))
}
