//! Frequency response to steering against the linear single-track model.

use std::ops::ControlFlow;
use std::sync::Arc;

use skidpad::core::model::{Kingpin, SteeringCompliance};
use skidpad::core::{Model, SolverInfo};
use skidpad::lab::closed_form::LateralDynamics;
use skidpad::lab::manoeuvre::{FrequencyResponseTest, Manoeuvre, SteerInput};
use skidpad::lab::run::{TimeStep, simulate};
use skidpad::lab::signal::FrequencyResponse;

use crate::common::{on_rows, solvers};
use crate::hitch::rigs::{LOW, axle, chassis, model, tyre};

/// Mass of the car (kg) and its yaw inertia (kg m²).
const MASS: f64 = 1500.0;
const YAW_INERTIA: f64 = 2500.0;

/// Cornering stiffness of the tyres over their load (1/rad): the rear axle is stiffer, so the car understeers.
const STIFFNESS: [f64; 2] = [18.0, 24.0];

/// Returns a car on linear tyres whose centre of mass is so low that it does not roll.
fn linear_car() -> Arc<Model> {
    model(&format!(
        "name = \"car\"\n[chassis]\nmass_kg = {MASS}\ncentre_behind_front_axle_m = 1.3\n\
         centre_above_ground_m = {LOW}\n{}{}{}{}{}[steering]\nlock_deg = 40\n[powertrain]\nmodel = \"direct\"\nwheel_torque_nm = [2000, 2000]\n",
        chassis(MASS, YAW_INERTIA, 1.3, 1.0),
        axle(0.0, 1.0, "front", MASS),
        axle(2.7, 0.0, "rear", MASS),
        tyre("front", STIFFNESS[0], 1.0),
        tyre("rear", STIFFNESS[1], 1.0),
    ))
}

/// Drives `test` at 480 Hz and compares gain and phase of yaw rate and lateral acceleration with the closed form.
#[track_caller]
fn compare_with_closed_form(test: &FrequencyResponseTest, solver: &SolverInfo, model: &Arc<Model>) {
    let theory = LateralDynamics::new(model).expect("linear tyres");
    let dt = TimeStep::from_rate_hz(480.0).expect("a valid rate");
    let run = simulate(solver, model, &test.setup(model), test.driver(model).as_mut(), dt, &mut |_, _| {
        ControlFlow::Continue(())
    });
    let found = test.responses(&run).expect("complete");
    let check = |name: &str, response: &FrequencyResponse, yaw: bool| {
        for point in &response.points {
            let expected = theory.response(test.speed_mps, point.frequency_hz).expect("stable");
            let expected = if yaw { expected.yaw_rate } else { expected.lateral_acceleration };
            let gain_error = point.gain() / expected.norm() - 1.0;
            let phase_error = point.phase_deg() - expected.arg().to_degrees();
            let what = format!("{} on {}, {name} at {:.1} Hz", test.name(), solver.name, point.frequency_hz);
            // Tolerances of issue 49.
            assert!(gain_error.abs() < 0.02, "{what}: gain {:.2} % off", 100.0 * gain_error);
            assert!(phase_error.abs() < 2.0, "{what}: phase {phase_error:.2} degrees off");
            // A linear car without noise; the segments of the random input begin within the response.
            assert!(point.coherence > 0.99, "{what}: coherence {}", point.coherence);
        }
        let worst = response.points.iter().map(|point| {
            let expected = theory.response(test.speed_mps, point.frequency_hz).expect("stable");
            let expected = if yaw { expected.yaw_rate } else { expected.lateral_acceleration };
            let ratio = point.response / expected;
            [(ratio.norm() - 1.0).abs(), ratio.arg().to_degrees().abs()]
        });
        let [gain, phase] = worst.fold([0.0f64; 2], |worst, [gain, phase]| [worst[0].max(gain), worst[1].max(phase)]);
        println!("{} {} {name}: {:.3} %, {phase:.3} degrees", test.name(), solver.name, 100.0 * gain);
    };
    check("yaw rate", &found.yaw_rate, true);
    check("lateral acceleration", &found.lateral_acceleration, false);
}

/// Gain and phase from 0.2 to 3 Hz at two speeds, for the swept sine and the random input, on every solver.
#[test]
fn gain_and_phase_are_those_of_the_single_track_model() {
    let model = linear_car();
    for solver in solvers() {
        for speed_mps in [15.0, 30.0] {
            let sweep = FrequencyResponseTest { speed_mps, ..FrequencyResponseTest::SWEEP };
            compare_with_closed_form(&sweep, &solver, &model);
        }
        let random = FrequencyResponseTest { input: SteerInput::Random(3), ..FrequencyResponseTest::RANDOM };
        compare_with_closed_form(&random, &solver, &model);
    }
}

/// A compliant steering linkage reduces the gain and adds a lag with its time constant, as the closed form says: with
/// the trail n and the stiffness k at each wheel, the front axle acts as if its stiffness were `C / (1 + C n / (2 k))`,
/// here 0.71 C.
#[test]
fn a_compliant_linkage_acts_as_a_softer_front_axle() {
    let mut parts = linear_car().parts().clone();
    parts.steering.kingpin = Some(Kingpin { trail: 0.03, pneumatic_trail: 0.03, ..Kingpin::default() });
    parts.steering.compliance = Some(SteeringCompliance { stiffness: 10e3, time_constant: 0.03 });
    let model = Arc::new(Model::new(parts).expect("valid"));
    for solver in on_rows() {
        let sweep = FrequencyResponseTest { speed_mps: 25.0, ..FrequencyResponseTest::SWEEP };
        compare_with_closed_form(&sweep, &solver, &model);
    }
}
