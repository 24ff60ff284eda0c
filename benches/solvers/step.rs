//! One step of each solver, modes and peers included, for 1, 64 and 1024 of the same car, all in one run: compare within it.

use criterion::{BenchmarkId, Criterion, Throughput};

use crate::shared;

/// One group per number of cars.
pub fn steps(criterion: &mut Criterion) {
    for count in [1, 64, 1024] {
        let mut group = criterion.benchmark_group(format!("step_{count}"));
        group.throughput(Throughput::Elements(count as u64)).sample_size(20);
        for backend in shared::solvers() {
            let mut world = shared::world(&backend, count);
            let controls = vec![shared::step_steer(shared::RATE); count];
            // Past the steering's transient, so that every sample does the same work.
            for _ in 0..shared::RATE {
                world.step(&controls);
            }
            let id = BenchmarkId::from_parameter(backend.name);
            group.bench_function(id, |bencher| bencher.iter(|| world.step(&controls)));
        }
        group.finish();
    }
}
