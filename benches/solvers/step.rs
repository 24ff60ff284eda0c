//! Benches of one step of each solver, mode and peer, with 1, 64 and 1024 equal cars. Compare within one run.

use criterion::{BenchmarkId, Criterion, Throughput};

use crate::shared;

/// Measures a step with each solver, in one group per number of cars.
pub fn steps(criterion: &mut Criterion) {
    for count in [1, 64, 1024] {
        let mut group = criterion.benchmark_group(format!("step_{count}"));
        group.throughput(Throughput::Elements(count as u64)).sample_size(20);
        for backend in shared::solvers() {
            let mut world = shared::world(&backend, count);
            let controls = vec![shared::step_steer(shared::STEPS_PER_SECOND); count];
            // The transient of the steering ends first, so that every sample does equal work.
            for _ in 0..shared::STEPS_PER_SECOND {
                world.step(&controls);
            }
            let id = BenchmarkId::from_parameter(backend.name);
            group.bench_function(id, |bencher| bencher.iter(|| world.step(&controls)));
        }
        group.finish();
    }
}
