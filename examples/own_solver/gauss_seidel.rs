//! Projected Gauss-Seidel, written against the public interface of solvers.

use skidpad::built_in_world::CarWorld;
use skidpad::core::coupling::{
    CarRows, ImpulseBounds, ManyGroups, RowSolver, StepWheels, Velocities, effective_mass, velocity_norm,
    wheel_impulses,
};
use skidpad::core::simd::lane::{F32x4, Lane};
use skidpad::core::simd::linear::SpatialVector;
use skidpad::core::{SolverInfo, StepReport};

/// Solver that visits the wheels of a car one after the other, `ITERATIONS` times per step. Each wheel block (spin and
/// both tyre impulses) is solved within its friction ellipse at the present chassis velocity, and its impulses change
/// that velocity at once. The loads of all wheels follow after each iteration.
#[derive(Debug)]
pub struct GaussSeidel<const ITERATIONS: u16>;

impl<const ITERATIONS: u16> GaussSeidel<ITERATIONS> {
    /// Returns the entry for a list of solvers: this solver in the built-in world.
    pub const fn info(name: &'static str) -> SolverInfo {
        SolverInfo {
            name,
            description: "own world, Gauss-Seidel over the wheels",
            comparison_only: false,
            has_wheel_rows: true,
            build_world: |scene, cars, dt| Box::new(CarWorld::new("gauss-seidel", &Self, scene, cars, dt)),
        }
    }
}

impl<const ITERATIONS: u16> RowSolver for GaussSeidel<ITERATIONS> {
    fn solve(&self, car: &mut CarRows<'_>, velocities: &Velocities) -> StepReport {
        let (mut velocity, mut residual) = (velocities.load_solution.velocity, 0.0);
        for _ in 0..ITERATIONS {
            visit_wheels(car, velocity);
            // Velocity with the new tyre impulses, without loads.
            let tyre_impulse = wheel_impulses(StepWheels::<ManyGroups>::rows(car), false);
            let v_warm = velocities.v_free + car.response(tyre_impulse);
            let (v_loaded, _) = StepWheels::<ManyGroups>::solve_loads(car, velocities.v_free, v_warm);
            (velocity, residual) = (v_loaded, velocity_norm(v_loaded - velocity));
        }
        car.clamp_to_friction_limits(ImpulseBounds::Cone);
        StepReport { iterations: ITERATIONS, residual, ..StepReport::default() }
    }
}

/// Solves the shafts, then one wheel block after the other, each at the `velocity` that the wheels before it leave.
fn visit_wheels(car: &mut CarRows<'_>, mut velocity: SpatialVector<f32>) {
    let has_tilted_rows = StepWheels::<ManyGroups>::has_tilted_rows(car);
    let body = StepWheels::<ManyGroups>::body(car);
    for (_, rows) in StepWheels::<ManyGroups>::packs(car) {
        rows.solution.friction_bound = rows.friction_limit();
        rows.solution.effective_mass =
            effective_mass(&body, has_tilted_rows, rows, velocity.broadcast_to_wheels(), F32x4::splat(1.0));
    }
    StepWheels::<ManyGroups>::solve_shafts(car);
    for group in 0..StepWheels::<ManyGroups>::rows(car).len() {
        for lane in [0.0, 1.0, 2.0, 3.0] {
            let Some((pack, rows)) = StepWheels::<ManyGroups>::packs(car).nth(group) else { continue };
            rows.solution.effective_mass =
                effective_mass(&body, has_tilted_rows, rows, velocity.broadcast_to_wheels(), F32x4::splat(1.0));
            let (before, impulse_before) = (rows.solution, rows.impulse(false));
            rows.solve_block(pack, ImpulseBounds::Cone);
            // Only the wheel in this lane keeps its new solution.
            let (lanes, visited) = (F32x4::new([0.0, 1.0, 2.0, 3.0]), F32x4::splat(lane));
            let is_other = lanes.less(visited) | visited.less(lanes);
            let (new, keep) = (rows.solution, |old, new| F32x4::select(is_other, old, new));
            rows.solution.tyre_impulse = [0, 1].map(|i| keep(before.tyre_impulse[i], new.tyre_impulse[i]));
            (rows.solution.spin, rows.solution.torque) = (keep(before.spin, new.spin), keep(before.torque, new.torque));
            rows.solution.sliding = (before.sliding & is_other) | (new.sliding & !is_other);
            let change = (rows.impulse(false) - impulse_before).sum();
            velocity = velocity + car.response(change);
        }
    }
}
