//! Torque at the steering wheel, by closed forms.

use std::sync::Arc;

use skidpad::core::model::Kingpin;
use skidpad::core::telemetry::frame::Shaft;
use skidpad::core::{Controls, Frame, Model, Scene, state::Placement};

use crate::common::{Drive, Simplify, c5, close, solvers};

/// Steering ratio (–).
const WHEEL_RATIO: f32 = 15.0;
/// Mechanical trail (m).
const TRAIL_M: f32 = 0.03;

/// Returns the C5 with a steering axis and power steering.
fn car(kingpin: Kingpin, assist_share: f32) -> Arc<Model> {
    let mut parts = c5().without_air().without_rolling_resistance();
    parts.steering.wheel_ratio = Some(WHEEL_RATIO);
    parts.steering.kingpin = Some(kingpin);
    parts.steering.assist_share = assist_share;
    parts.model()
}

/// Returns the torque at the steering wheel (N m).
fn torque(frame: &Frame) -> f64 {
    frame.shafts.iter().find(|(shaft, _)| *shaft == Shaft::SteeringWheel).expect("a steering wheel").1
}

/// In a steady turn the front axle carries its share of the side force: `T = (1 − share) m_f a_y n / i` with the trail n,
/// the ratio i and the mass on the front axle m_f. The sign is that of the turn.
#[test]
fn the_trail_of_the_front_wheels_loads_the_steering_wheel() {
    for (assist_share, steer) in [(0.0, 0.03), (0.6, -0.03)] {
        let model = car(Kingpin { trail: TRAIL_M, ..Kingpin::default() }, assist_share);
        let front_mass: f32 =
            model.wheels().iter().zip(model.carried_masses()).filter(|(w, _)| w.axle == 0).map(|(_, m)| m).sum();
        for solver in solvers() {
            let frames =
                Drive::rolling(&solver, &model, 20.0, 240.0).run(4.0, |_| Controls { steer, ..Controls::coasting() });
            let last = frames.last().expect("frames");
            let expected = f64::from((1.0 - assist_share) * front_mass * TRAIL_M / WHEEL_RATIO) * last.ay_mps2;
            assert!(last.ay_mps2 * f64::from(steer) > 0.0);
            close(solver.name, torque(last), expected, 0.03, "the turn slows the car, and yaw is not quite steady");
        }
    }
}

/// A car without known axes, or without a steering ratio, has no column.
#[test]
fn only_cars_with_known_axes_have_the_column() {
    for (ratio, kingpin, has_column) in [
        (Some(15.0), Some(Kingpin::default()), true),
        (None, Some(Kingpin::default()), false),
        (Some(15.0), None, false),
    ] {
        let mut parts = c5();
        (parts.steering.wheel_ratio, parts.steering.kingpin) = (ratio, kingpin);
        let model = parts.model();
        let car = Drive::new(&solvers()[0], &model, &Scene::flat(), Placement::default(), 240.0);
        let header = car.world.frame(0).header(&model);
        assert_eq!(header.iter().any(|name| name == "torque_nm.steering_wheel"), has_column);
    }
}

/// A parked car with inclined axes is centred by its weight: at full lock the torque points back to the middle, and both
/// locks have opposite torques.
#[test]
fn weight_centres_the_steering_of_a_parked_car() {
    let kingpin = Kingpin { scrub_radius: 0.02, inclination: 0.2, ..Kingpin::default() };
    let model = car(kingpin, 0.0);
    for solver in solvers() {
        let [left, right] = [1.0f32, -1.0].map(|side| {
            let mut drive = Drive::new(&solver, &model, &Scene::flat(), Placement::default(), 240.0);
            let steer = side * 0.4;
            let frames = drive.run(2.0, |_| Controls { steer, ..Controls::coasting() });
            torque(frames.last().expect("frames"))
        });
        assert!(left > 0.0 && (left + right).abs() < 0.02 * left, "{}: {left} {right}", solver.name);
    }
}
