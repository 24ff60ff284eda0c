//! Cars at rest: loads, height, and the decay of heave.

use skidpad::core::{Controls, Scene, state::Placement};

use crate::common::{Drive, GRAVITY, Simplify, c5, close, mean, solvers};

/// Oracle 5.1: axle loads follow the lever rule and sum to m g, and the height is the described one, after a drop of 20 mm.
#[test]
fn c6_loads_and_height_at_rest_are_the_described_ones() {
    let model = c5().model();
    let (a, b) = (model.wheels()[0].contact.x as f64, -model.wheels()[2].contact.x as f64);
    let weight = model.mass() as f64 * GRAVITY;
    for solver in solvers() {
        for hz in [60.0, 240.0] {
            let mut drive = Drive::new(&solver, &model, &Scene::flat(), Placement::default(), hz);
            let mut state = drive.world.state(0).clone();
            state.position.z += 0.02;
            drive.world.set_state(0, &state).expect("it fits");
            let frames = drive.run(8.0, |_| Controls::parked());
            let last = &frames[frames.len() - 30..];
            let what = |part: &str| format!("{} at {hz} Hz: {part}", solver.name);
            for i in 0..4 {
                let expected = weight * if i < 2 { b } else { a } / (a + b) / 2.0;
                close(&what("wheel load"), mean(last, |f| f.wheels[i].load_n), expected, 1e-3, "asked");
            }
            let sum = mean(last, |f| f.wheels.iter().map(|w| w.load_n).sum());
            close(&what("sum of loads"), sum, weight, 1e-5, "f32 sums; no damping left after 8 s");
            let height = mean(last, |f| f.z_m) - model.parts().centre_height as f64;
            assert!(height.abs() < 0.5e-3, "{}", what(&format!("ride height off by {height} m")));
        }
    }
}

/// A braked car on a slope is in equilibrium from the first step: only its contact patches take up strain.
#[test]
fn c7_a_car_starts_in_equilibrium_on_a_slope() {
    let model = c5().model();
    for solver in solvers() {
        for heading in [0.0, 0.8, 2.5] {
            let placement = Placement { heading, gear: Some(0), ..Placement::default() };
            let scene = Scene::sloping(15f32.to_radians());
            let mut drive = Drive::new(&solver, &model, &scene, placement, 240.0);
            let frames = drive.run(3.0, |_| Controls::parked());
            let (first, last) = (&frames[0], &frames[frames.len() - 1]);
            let what = format!("{} heading {heading}", solver.name);
            for i in 0..4 {
                close(
                    &what,
                    first.wheels[i].load_n,
                    last.wheels[i].load_n,
                    0.01,
                    "small angles; patches strained 2 mm",
                );
                let travel = first.wheels[i].compression_m - last.wheels[i].compression_m;
                assert!(travel.abs() < 1e-3, "{what}: wheel {i} settles {travel} m");
            }
        }
    }
}

/// Oracle 5.3: the damping ratio of heave is c / (2 √(k m)) at every rate, on a car whose heave is uncoupled.
#[test]
fn struts_keep_their_damping_ratio() {
    for ratio in [0.15f32, 0.3] {
        let mut parts = c5();
        parts.bars.clear();
        let (a, b) = (parts.wheels[0].contact.x, -parts.wheels[2].contact.x);
        parts.inertia.y_axis.y = parts.mass * a * b;
        let frequency = 2.0 * std::f32::consts::PI * 1.5;
        for wheel in &mut parts.wheels {
            let share = parts.mass * if wheel.axle == 0 { b } else { a } / (a + b) / 2.0;
            wheel.strut.rate = share * frequency * frequency;
            wheel.strut.bump_damping = 2.0 * ratio * share * frequency;
            wheel.strut.rebound_damping = wheel.strut.bump_damping;
        }
        let model = parts.model();
        for solver in solvers() {
            for hz in [60.0, 120.0, 240.0] {
                let mut drive = Drive::new(&solver, &model, &Scene::flat(), Placement::default(), hz);
                let mut state = drive.world.state(0).clone();
                state.position.z += 0.03;
                drive.world.set_state(0, &state).expect("it fits");
                let height = model.parts().centre_height as f64;
                let heave: Vec<f64> = drive.run(3.0, |_| Controls::coasting()).iter().map(|f| f.z_m - height).collect();
                let what = format!("{} at {hz} Hz, ratio", solver.name);
                close(&what, damping_ratio(&heave), ratio as f64, 0.02, "asked; second order in ω dt");
            }
        }
    }
}

/// Returns the damping ratio from the logarithmic decrement of the first two turning points, each from a parabola through
/// three samples.
fn damping_ratio(swing: &[f64]) -> f64 {
    let peaks: Vec<f64> = swing
        .windows(3)
        .filter(|w| (w[1] - w[0]) * (w[2] - w[1]) < 0.0)
        .map(|w| w[1] - (w[2] - w[0]).powi(2) / (8.0 * (w[2] - 2.0 * w[1] + w[0])))
        .collect();
    let decrement = (peaks[0] / peaks[1]).abs().ln();
    decrement / (std::f64::consts::PI.powi(2) + decrement * decrement).sqrt()
}
