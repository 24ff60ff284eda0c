//! Turning circles at walking pace of cars that steer with any of their axles.

use proptest::prelude::*;
use skidpad::core::state::Placement;
use skidpad::core::{Controls, Model, Scene};
use std::sync::Arc;

use crate::common::{Drive, close, hold_speed, mean, solvers};
use crate::hitch::rigs::{LOW, axle, chassis, model, tyre};

/// Mass (kg), and cornering stiffness of every tyre over its load (1/rad). The slip angle at walking pace is below
/// 1 mrad.
const MASS: f64 = 1500.0;
const STIFFNESS: f64 = 60.0;

/// Track of every axle (m).
const TRACK: f64 = 1.5;

/// Returns a car with full Ackermann steering. `axles` has the distance behind the front axle (m) and the steering
/// ratio of each axle.
fn car(axles: &[[f64; 2]], lock_deg: f64) -> Arc<Model> {
    let centre = axles.iter().map(|[behind, _]| behind).sum::<f64>() / axles.len() as f64;
    let rows: String = axles.iter().map(|[behind, ratio]| axle(*behind, *ratio, "tyre", MASS)).collect();
    model(&format!(
        "name = \"car\"\n[chassis]\nmass_kg = {MASS}\ncentre_behind_front_axle_m = {centre}\ncentre_above_ground_m = {LOW}\n{}{rows}{}\
         [steering]\nlock_deg = {lock_deg}\n[powertrain]\nmodel = \"none\"\n",
        chassis(MASS, 2500.0, centre, 1.0),
        tyre("tyre", STIFFNESS, 1.0),
    ))
}

/// Turning centre of front, rear, four-wheel and multi-axle steering: the axes of the steered and unsteered axles
/// intersect in it. The radius is `R = (x − x') / (tan δ − tan δ')`, and `L / tan δ` with one steered axle. Steering
/// angles reach 75 degrees; the fastest axle moves at 1 m/s.
#[test]
fn turning_circles_are_those_of_the_steered_angles() {
    let layouts: [(&str, &[[f64; 2]]); 5] = [
        ("front", &[[0.0, 1.0], [2.5, 0.0]]),
        ("rear", &[[0.0, 0.0], [2.5, -1.0]]),
        ("four wheels", &[[0.0, 1.0], [3.0, -0.4]]),
        ("four wheels, alike", &[[0.0, 1.0], [3.0, 0.2]]),
        ("three axles", &[[0.0, 1.0], [2.0, 0.0], [4.0, -1.0]]),
    ];
    for (name, axles) in layouts {
        let model = car(axles, 76.0);
        let [first, last] = [axles[0], axles[axles.len() - 1]];
        for degrees in [-30.0f64, 15.0, 45.0, 60.0, 75.0] {
            let steer = degrees.to_radians();
            let tan = |[_, ratio]: [f64; 2]| (ratio * steer).tan();
            let radius = (last[0] - first[0]) / (tan(first) - tan(last));
            let slowest = axles.iter().map(|[_, ratio]| (ratio * steer).cos()).fold(1.0, f64::min);
            for solver in solvers().into_iter().filter(|solver| !solver.comparison_only) {
                let mut car = Drive::rolling(&solver, &model, slowest as f32, 120.0);
                let frames = car.run(6.0, |f| Controls {
                    steer: steer as f32,
                    gear: Some(0),
                    wheels: hold_speed(f, &model, slowest),
                    ..Controls::default()
                });
                let found = mean(&frames[frames.len() - 240..], |f| f.vx_mps / f.yaw_rate_radps);
                close(&format!("{}, {name} at {degrees} degrees", solver.name), found, radius, 0.01, "asked");
            }
        }
    }
}

/// Returns the curvature of the path of a car whose axles are all steered (1/m): the slope of the regression line of
/// the tangents of the steering angles over the positions.
fn curvature(axles: &[[f64; 2]], steer: f64) -> f64 {
    let mean = axles.iter().map(|[behind, _]| behind).sum::<f64>() / axles.len() as f64;
    let spread: f64 = axles.iter().map(|[behind, _]| (behind - mean).powi(2)).sum();
    axles.iter().map(|[behind, ratio]| (mean - behind) * (ratio * steer).tan()).sum::<f64>() / spread
}

/// Four wheels turned to a right angle by individual steering inputs move the car sideways.
#[test]
fn wheels_turn_to_a_right_angle() {
    let model = car(&[[0.0, 1.0], [2.5, 0.0]], 40.0);
    for solver in solvers().into_iter().filter(|solver| !solver.comparison_only) {
        let mut car = Drive::new(&solver, &model, &Scene::flat(), Placement::default(), 120.0);
        let frames = car.run(3.0, |f| {
            let mut wheels = hold_speed(f, &model, 0.0);
            for wheel in &mut wheels {
                wheel.motor_torque = 0.1 * MASS as f32 * 0.3;
                wheel.steer = Some(std::f32::consts::FRAC_PI_2);
            }
            Controls { gear: Some(0), wheels, ..Controls::default() }
        });
        let last = &frames[frames.len() - 1];
        // The specific force of 0.4 N/kg gives 1.2 m/s in 3 s, less a thousandth for the spin inertia. Steering
        // angles are a right angle to seven digits.
        close(&format!("{}: sideways", solver.name), last.vy_mps, 1.2, 0.002, "spins of 1e-5 m each");
        assert!(last.vx_mps.abs() < 1e-3 && last.yaw_rate_radps.abs() < 1e-3, "{}: {last:?}", solver.name);
        assert!(car.world.state(0).wheels.iter().all(|wheel| wheel.steer == std::f32::consts::FRAC_PI_2));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// At every angle, the axes of the two wheels of an axle intersect in one point on the turning axis. If steering
    /// ratios are in proportion to the distances from the turning axis, the points of all axles coincide at small
    /// angles. The points of a car with two axles coincide at every angle.
    #[test]
    fn axes_of_wheels_meet_on_the_turning_axis(
        gaps in prop::collection::vec(0.8f64..3.0, 1..4), at in -0.5f64..1.5, turned in 0.02f64..1.0, per_metre in 0.1f64..0.4,
        left in any::<bool>(), fixed in any::<bool>(),
    ) {
        let way = if left { 1.0 } else { -1.0 };
        let mut behind = vec![0.0];
        gaps.iter().for_each(|gap| behind.push(behind[behind.len() - 1] + gap));
        let length = behind[behind.len() - 1];
        // If an axle is unsteered, it is on the turning axis.
        let axis = if fixed { behind[1] } else { at * length };
        let axles: Vec<[f64; 2]> = behind.iter().map(|x| [*x, (axis - x) * per_metre]).collect();
        let most = axles.iter().map(|[_, ratio]| ratio.abs()).fold(0.0, f64::max);
        prop_assume!(most <= 2.0 && axles.iter().all(|[x, ratio]| *ratio == 0.0 || (axis - x).abs() > 0.1));
        let lock = (1.3 / most).min(1.5).to_degrees();
        let model = car(&axles, lock);
        for share in [0.02, turned] {
            let steer = share * lock.to_radians() * way;
            let solver = &solvers()[0];
            let mut car = Drive::new(solver, &model, &Scene::flat(), Placement::default(), 60.0);
            car.step(&Controls { steer: steer as f32, brake: 1.0, gear: Some(0), ..Controls::default() });
            let wheels = &car.world.state(0).wheels;
            let radius = 1.0 / curvature(&axles, steer);
            for (i, [x, ratio]) in axles.iter().enumerate().filter(|(_, [_, ratio])| *ratio != 0.0) {
                let ahead = if fixed { axis - x } else { radius * (ratio * steer).tan() };
                // The wheel plane is perpendicular to the line from the wheel to the centre, `cot δ = (R − y) / x`.
                let centre = |side: f64, wheel: usize| {
                    ahead / f64::from(wheels[wheel].steer).tan() + side * 0.5 * TRACK
                };
                let (found, right) = (centre(1.0, 2 * i), centre(-1.0, 2 * i + 1));
                // Angles have 32 bits.
                let rounding = 1e-5 * (1.0 + found.abs() / steer.abs());
                prop_assert!((found - right).abs() < rounding, "axle {i} at {ratio} of {steer}: {found} {right}");
                if !fixed {
                    prop_assert!((found - radius).abs() < rounding, "axle {i} at {ratio} of {steer}: {found} {radius}");
                }
                if share == 0.02 {
                    let expected = 1.0 / (per_metre * steer);
                    // The tolerance covers tan δ instead of δ up to 0.026 rad.
                    prop_assert!((found / expected - 1.0).abs() < 1e-3, "axle {i}: {found} {expected}");
                }
            }
            if axles.len() == 2 {
                let [front, rear] = [axles[0], axles[1]].map(|[_, ratio]| radius * (ratio * steer).tan());
                prop_assert!((front - rear - length).abs() < 1e-9 * length.max(front.abs()), "{front} {rear} on {length}");
            }
        }
    }
}
