//! Bench of a whole manoeuvre per solver: building the world with one car, and 2 s of a step steer.

use criterion::Criterion;

use crate::shared;

/// Measures the step steer with each solver.
pub fn step_steer(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("step_steer_2s");
    group.sample_size(10);
    for backend in shared::solvers() {
        group.bench_function(backend.name, |bencher| {
            bencher.iter(|| {
                let mut world = shared::world(&backend, 1);
                for step in 0..2 * shared::STEPS_PER_SECOND {
                    world.step(&[shared::step_steer(step)]);
                }
                world.frame(0).yaw_rate_radps
            });
        });
    }
    group.finish();
}
