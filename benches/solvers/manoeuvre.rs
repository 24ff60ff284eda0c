//! A whole manoeuvre: world, car and two simulated seconds of a step steer, per solver.

use criterion::Criterion;

use crate::shared;

/// One bench per solver.
pub fn step_steer(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("step_steer_2s");
    group.sample_size(10);
    for backend in shared::solvers() {
        group.bench_function(backend.name, |bencher| {
            bencher.iter(|| {
                let mut world = shared::world(&backend, 1);
                for step in 0..2 * shared::RATE {
                    world.step(&[shared::step_steer(step)]);
                }
                world.frame(0).yaw_rate_radps
            });
        });
    }
    group.finish();
}
