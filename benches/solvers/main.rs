//! Time benches: tyre laws, solve of one vehicle, one step per backend, rollback, a whole manoeuvre. Compare numbers
//! within one run only.

mod kernels;
mod manoeuvre;
mod rollback;
mod shared;
mod step;
mod tyres;

use criterion::{criterion_group, criterion_main};

criterion_group!(benches, tyres::laws, kernels::couplings, step::steps, rollback::rollback, manoeuvre::step_steer);
criterion_main!(benches);
