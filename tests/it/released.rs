//! Wheels that are let go: what their patches hold turns them no further than a carcass does, and never round.

use skidpad::core::{Controls, WheelControls};

use crate::common::{Drive, Simplify, on_rows, shipped};

/// Speeds, m/s, at which a locked front wheel is let go, and by how much of the road's speed a carcass spring with a contact mass
/// (Pacejka, *Tire and Vehicle Dynamics*, ch. 8) turns it beyond free rolling.
const CARCASS: [(f64, f64); 4] = [(3.0, 0.30), (5.0, 0.16), (10.0, 0.06), (20.0, 0.02)];

/// Most beyond the reference; coarse steps stay below it.
const ASKED: f64 = 0.10;

#[test]
fn a_released_wheel_overshoots_no_more_than_its_carcass_and_never_turns_back() {
    for name in ["corvette_c5", "corvette_c5_mf", "corvette_c5_tmeasy"] {
        let model = shipped(name).model();
        for solver in on_rows() {
            for hz in [30.0, 60.0, 240.0, 1000.0] {
                for (speed, carcass) in CARCASS {
                    let mut car = Drive::rolling(&solver, &model, speed as f32 + 1.0, hz);
                    let lock = |torque: f32| {
                        let braked = WheelControls { brake_torque: torque, ..WheelControls::default() };
                        let wheels = [braked, braked, WheelControls::default(), WheelControls::default()];
                        Controls { gear: Some(0), wheels: wheels.into(), ..Controls::default() }
                    };
                    let mut steps = 0;
                    while car.step(&lock(5000.0)).vx_mps > speed && steps < 20_000 {
                        steps += 1;
                    }
                    let (mut most, mut least) = (0f64, 0f64);
                    for frame in car.run(1.0, |_| lock(0.0)).iter().skip(1) {
                        let rolled = frame.wheels[0].spin_radps * f64::from(model.wheels()[0].radius) / frame.vx_mps;
                        (most, least) = (most.max(rolled - 1.0), least.min(rolled));
                    }
                    let what = format!("{name} {} {hz} Hz {speed} m/s", solver.name);
                    // The Magic Formula's carcass is softer than that of the reference.
                    let bounded = name != "corvette_c5_mf";
                    assert!(
                        !bounded || most < carcass + ASKED,
                        "{what}: overshoots by {most:.3}, a carcass by {carcass}"
                    );
                    assert!(least > -1e-3, "{what}: turns back at {least}");
                }
            }
        }
    }
}
