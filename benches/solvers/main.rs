//! Times: kernels, one step per backend, a whole manoeuvre. Numbers of one run compare with each other only.

mod kernels;
mod manoeuvre;
mod shared;
mod step;
mod tyres;

use criterion::{criterion_group, criterion_main};

criterion_group!(benches, kernels::tyres, tyres::laws, kernels::couplings, step::steps, manoeuvre::step_steer);
criterion_main!(benches);
