//! Times: kernels, one step per backend, rollback, a whole manoeuvre. Numbers of one run compare with each other only.

mod kernels;
mod manoeuvre;
mod rollback;
mod shared;
mod step;
mod tyres;

use criterion::{criterion_group, criterion_main};

criterion_group!(benches, tyres::laws, kernels::couplings, step::steps, rollback::rollback, manoeuvre::step_steer);
criterion_main!(benches);
