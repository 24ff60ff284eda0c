//! Benches of rollback with one car: a plain step, and a rewind by ten steps that are saved and repeated. Compare
//! within one solver.

use criterion::Criterion;
use skidpad::core::Controls;

use crate::shared;

/// Measures a plain step and a rewind with each solver.
pub fn rollback(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("rollback");
    let controls = [Controls { throttle: 0.2, ..Controls::default() }];
    for backend in skidpad::solvers().iter().filter(|backend| !backend.comparison_only) {
        let mut world = shared::world(backend, 1);
        group.bench_function(format!("{}/plain_step", backend.name), |bencher| bencher.iter(|| world.step(&controls)));
        let mut saved_worlds = vec![world.save().expect("no hull touches anything"); 10];
        group.bench_function(format!("{}/rewind_by_ten", backend.name), |bencher| {
            bencher.iter(|| {
                world.load(&saved_worlds[0]).expect("saved by the same world");
                for saved_world in &mut saved_worlds {
                    world.save_into(saved_world).expect("no hull touches anything");
                    world.step(&controls);
                }
            });
        });
    }
    group.finish();
}
