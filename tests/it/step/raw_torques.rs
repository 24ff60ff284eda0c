//! Raw torques of every size: wheels and car gain no more energy than the work of the torques, and states that are not
//! finite are reported.

use std::sync::Arc;

use skidpad::core::{Controls, Model, Scene, SolverInfo, Vec3, WheelControls, state::Placement};

use crate::common::{Drive, Simplify, on_rows, shipped};
use crate::step::energy::Audit;

/// Cosine of the lean angle beyond which a car lies on its side. Its rays then find compressed springs, whose energy no work
/// has supplied.
const LIES: f32 = 0.6;

/// Drives for a second with torques of `share` of the static wheel loads times their radii, which change sign every `turn`
/// s. Returns the largest energy gain beyond the work of these torques, over the largest of m g r, the kinetic energy and
/// the work so far; infinity if the state becomes not finite.
fn excess(solver: &SolverInfo, model: &Arc<Model>, share: f32, turn: f64, hz: f32) -> f64 {
    let scene = Scene::flat();
    let mut car = Drive::new(solver, model, &scene, Placement { gear: Some(0), ..Placement::default() }, hz);
    let audit = Audit::of_car(model, solver, &scene);
    let (mut work, mut least, mut worst) = (0.0, f64::INFINITY, 0.0);
    let mut largest = f64::from(model.mass() * model.wheels()[0].radius) * 9.81;
    for k in 0..hz as usize {
        let sign = if ((k as f64 / f64::from(hz) / turn) as usize).is_multiple_of(2) { 1.0 } else { -1.0 };
        let torque = |i: usize| sign * share * model.static_load(i) * model.wheels()[i].radius;
        let raw = |i: usize| WheelControls { motor_torque: torque(i), ..WheelControls::default() };
        let wheels = (0..model.wheels().len()).map(raw).collect();
        let before = car.world.state(0).clone();
        let report = car.world.step(&[Controls { gear: Some(0), wheels, ..Controls::default() }]);
        let after = car.world.state(0);
        if !after.is_finite() || report.not_finite {
            assert!(
                report.not_finite,
                "{} at {share}: step {k} is not finite, and the report says nothing",
                solver.name
            );
            return f64::INFINITY;
        }
        let spins = |i: usize| [&before, after].map(|state| f64::from(torque(i) * state.wheels[i].spin));
        let power = |i: usize| spins(i)[0].max(spins(i)[1]);
        work += (0..model.wheels().len()).map(power).sum::<f64>() / f64::from(hz);
        if (after.rotation * Vec3::Z).z < LIES {
            least = f64::INFINITY;
            continue;
        }
        largest = largest.max(0.5 * f64::from(model.mass() * after.velocity.length_squared())).max(work.abs());
        worst = f64::max(worst, (audit.given_back(after) - work - least) / largest);
        least = least.min(audit.energy(after) - work);
    }
    worst
}

/// Largest accepted energy gain beyond the work, as a share: see `RISE` in `survival.rs`.
const EXCESS: f64 = 1e-2;

#[test]
fn raw_torques_give_no_more_than_their_work() {
    for name in ["bmw_320i_mf", "corvette_c5", "bullet_reference", "truck_6x4"] {
        let model = shipped(name).without_air().model();
        for solver in on_rows() {
            for (hz, turn) in [20.0, 60.0, 240.0, 1000.0].into_iter().flat_map(|hz| [(hz, 9.0), (hz, 0.2)]) {
                for share in [0.3, 1.0, 3.0, 10.0] {
                    let found = excess(&solver, &model, share, turn, hz);
                    let what = format!("{name}, {}, {hz} Hz, turned every {turn} s", solver.name);
                    assert!(found < EXCESS, "{what}: {found:.2e} of the work too much at {share} times the load");
                }
            }
        }
    }
}
