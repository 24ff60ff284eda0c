//! Test of the converged coupling: the same rows as one dense linear system, solved directly in 64 bits.
#![cfg(test)]

use nalgebra::{DMatrix, DVector};
use std::sync::Arc;

use crate::controls::Controls;
use crate::drivetrain::parameters::Powertrain;
use crate::ground::scene::Scene;
use crate::model::Model;
use crate::model::parts::ModelParts;
use crate::model::wheel_pack::LaneIndex;
use crate::port::Contact;
use crate::shape::Hull;
use crate::solver_mode::{FrictionShape, SolverMode};
use crate::state::{Placement, State};
use crate::steering::parameters::Steering;
use crate::suspension::parameters::{AntiRollBar, Strut};
use crate::vehicle::Vehicle;
use crate::wheel::parameters::{Axle, ProbeShape, RollingCoefficients, Side, Wheel};
use bevy_math::{Mat3, Vec3};
use skidpad_simd::lane::F32x4;
use skidpad_simd::linear::SpatialVector;
use skidpad_tyre::curve::{CurveLaw, CurveTyre};
use skidpad_tyre::parameters::Tyre;

const STEP_S: f32 = 1.0 / 60.0;

/// Builds a car of 1500 kg with `axles` axles over a wheelbase of 2.7 m and direct motors, on linear tyres with a
/// friction coefficient of 3, so that no tyre slides. All axles are steered. The first axle has an anti-roll bar.
fn model(axles: usize) -> Model {
    let wheel = |i: usize| Wheel {
        axle: i / 2,
        side: if i.is_multiple_of(2) { Side::Left } else { Side::Right },
        contact: Vec3::new(1.3 - 2.7 * (i / 2) as f32 / (axles - 1) as f32, 0.78 - 1.56 * (i % 2) as f32, -0.45),
        radius: 0.32,
        spin_inertia: 1.4,
        tyre: 0,
        strut: Strut {
            rate: 27e3,
            progressive_rate: 0.0,
            bump_damping: 1900.0,
            rebound_damping: 3100.0,
            bump_travel: 0.08,
            droop_travel: 0.1,
            stop_rate: 1e5,
            stop_travel: 0.04,
            knees: Default::default(),
        },
        mirrored: false,
        toe: 0.0,
        camber: 0.0,
        brake_torque: 900.0,
        handbrake_torque: 0.0,
        disc: None,
        rolling: RollingCoefficients { constant: 0.012, ..RollingCoefficients::default() },
        unsprung: None,
        probe: ProbeShape::Ray,
    };
    let parts = ModelParts {
        mass: 1500.0,
        inertia: Mat3::from_diagonal(Vec3::new(480.0, 2350.0, 2500.0)),
        centre_height: 0.45,
        wheels: (0..2 * axles).map(wheel).collect(),
        axles: vec![Axle { steer_ratio: 1.0, ackermann: 0.0, turning_distance: 2.7, ..Axle::default() }; axles],
        tyres: vec![Tyre::Curve(CurveTyre {
            law: CurveLaw::Linear { stiffness: [100e3, 80e3] },
            friction: [3.0; 2],
            load_sensitivity: 0.0,
            nominal_load: 3700.0,
            relaxation: [0.15, 0.3],
        })],
        bars: vec![AntiRollBar { wheels: [0, 1], rate: 15e3, ..AntiRollBar::default() }],
        heave_springs: Vec::new(),
        steering: Steering { lock: 0.6, rate: f32::INFINITY },
        powertrain: Powertrain::Direct(vec![300.0; 2 * axles].into()),
        hull: Hull { centre: Vec3::ZERO, half_extents: Vec3::new(2.0, 0.8, 0.3) },
        ..ModelParts::default()
    };
    Model::new(parts).expect("valid")
}

/// Computes the load, longitudinal and lateral impulse of each wheel (N s), wheel by wheel, with one dense LU solve in
/// f64. `free` is the chassis velocity without wheels. The unknowns are the chassis velocity (6), and load, both tyre
/// impulses and spin of each wheel (4). The equations are `M Δv = Σ rows`, `x = target impulse − gain · speed` and `I ω
/// = momentum ± hold − R x`, in the active set (contacts, signs of brakes) that the iteration found.
fn solve_directly(vehicle: &Vehicle, free: SpatialVector<f32>) -> Vec<f64> {
    let wheels = vehicle.model.wheels();
    let value = |lane_index: LaneIndex, lanes: F32x4| f64::from(lanes.lanes()[lane_index.lane]);
    let size = 6 + 4 * wheels.len();
    let (mut a, mut b) = (DMatrix::<f64>::zeros(size, size), DVector::<f64>::zeros(size));
    let inertia = vehicle.model.inertia().to_cols_array_2d();
    let (linear, angular) = free.parts();
    let start = DVector::from_iterator(6, [linear.to_array(), angular.to_array()].into_iter().flatten().map(f64::from));
    for i in 0..3 {
        a[(i, i)] = f64::from(vehicle.model.mass());
        for j in 0..3 {
            a[(3 + i, 3 + j)] = f64::from(inertia[j][i]);
        }
    }
    let momentum = a.view((0, 0), (6, 6)) * &start;
    b.rows_mut(0, 6).copy_from(&momentum);
    for (i, wheel) in wheels.iter().enumerate() {
        let lane_index = vehicle.model.lane_index(i);
        let rows = &vehicle.rows[lane_index.bank];
        let first = 6 + 4 * i;
        // Six components of the row of this wheel.
        let row = |lanes: SpatialVector<F32x4>| -> Vec<f64> {
            [lanes.linear.x, lanes.linear.y, lanes.linear.z, lanes.angular.x, lanes.angular.y, lanes.angular.z]
                .map(|component| value(lane_index, component))
                .into()
        };
        // Load impulse at zero normal speed.
        let load_target = rows.suspension.load + rows.suspension.load_slope * rows.solution.velocity.normal;
        // Row, target impulse and gain of load, longitudinal and lateral impulse.
        let wheel_rows = [
            (rows.contact.normal, (load_target, rows.suspension.load_slope)),
            (rows.contact.forward, rows.tyre_terms(0)),
            (rows.contact.side, rows.tyre_terms(1)),
        ];
        for (k, (direction, (target_impulse, gain))) in wheel_rows.into_iter().enumerate() {
            let (direction, gain) = (row(direction), value(lane_index, gain));
            a[(first + k, first + k)] = 1.0;
            b[first + k] = value(lane_index, target_impulse);
            for (j, entry) in direction.iter().enumerate() {
                a[(j, first + k)] -= entry;
                a[(first + k, j)] += gain * entry;
            }
            // The longitudinal speed includes the spin.
            if k == 1 {
                a[(first + k, first + 3)] -= gain * f64::from(wheel.radius);
            }
        }
        // Torque on the chassis. Spin: I ω + R x = momentum + angular impulse of brake and rolling resistance.
        let torque = value(lane_index, rows.solution.torque);
        for (j, axle) in [rows.steering.axle.x, rows.steering.axle.y, rows.steering.axle.z].into_iter().enumerate() {
            b[3 + j] -= value(lane_index, axle) * torque;
        }
        a[(first + 3, first + 3)] = f64::from(wheel.spin_inertia);
        a[(first + 3, first + 1)] = f64::from(wheel.radius);
        b[first + 3] = value(lane_index, rows.drive.momentum) - value(lane_index, rows.drive.motor) + torque;
    }
    add_bar_rows(vehicle, &mut a, &mut b);
    let solution = a.lu().solve(&b).expect("regular");
    (0..wheels.len()).flat_map(|i| [0, 1, 2].map(|k| solution[6 + 4 * i + k])).collect()
}

/// Adds the anti-roll bars to the load rows of the matrix `a` and the right side `b`: the bar impulse acts with
/// opposite signs at its two wheels.
fn add_bar_rows(vehicle: &Vehicle, a: &mut DMatrix<f64>, b: &mut DVector<f64>) {
    for k in 0..vehicle.model.parts().bars.len() {
        let (row, gain, speed) = vehicle.axle_link_terms(k);
        let (linear, angular) = row.parts();
        let row = [linear.to_array(), angular.to_array()].concat();
        for (i, sign) in vehicle.model.parts().bars[k].wheels.into_iter().zip([1.0, -1.0]) {
            b[6 + 4 * i] += sign * f64::from(gain * speed);
            for (j, entry) in row.iter().enumerate() {
                a[(6 + 4 * i, j)] += sign * f64::from(gain * entry);
            }
        }
    }
}

/// Compares the impulses of the converged coupling with [`solve_directly`], for 2, 3 and 5 axles and 20 deflected,
/// moving states each, within 1e-4 of the largest one.
#[test]
fn converged_impulses_equal_a_direct_solve() {
    for axles in [2, 3, 5] {
        for case in 0..20u8 {
            // Number in −1 to 1 that depends on the case.
            let wave = |k: f32| skidpad_simd::math::sin_cos(f32::from(case) * 0.7 + k).0;
            let model = Arc::new(model(axles));
            let mut state = State::at_rest(&model, &Scene::flat(), &Placement { speed: 20.0, ..Placement::default() });
            for (i, wheel) in state.wheels.iter_mut().enumerate() {
                wheel.deflection = [1e-3 * wave(i as f32), 3e-3 * wave(2.0 + i as f32)];
            }
            let mut vehicle = Vehicle::new(model.clone(), state.clone());
            let velocity = Vec3::new(20.0, 0.3 * wave(1.0), 0.1 * wave(2.0));
            let angular = Vec3::new(0.05 * wave(3.0), 0.05 * wave(4.0), 0.2 * wave(5.0));
            let body = crate::ChassisState {
                velocity,
                angular,
                free_velocity: velocity - Vec3::Z * 9.81 * STEP_S,
                free_angular: angular,
                ..crate::vehicle::CHASSIS_AT_ORIGIN
            };
            let contacts: Vec<_> = (0..model.wheels().len())
                .map(|i| Contact {
                    distance: 0.64 - 0.01 * wave(i as f32),
                    normal: Vec3::Z,
                    grip: 1.0,
                    point: None,
                    ground: None,
                })
                .map(Some)
                .collect();
            let controls = Controls { throttle: 0.5, brake: 0.2, steer: 0.02, gear: Some(1), ..Controls::default() };
            let coupling = SolverMode::Converged {
                tolerance: 1e-7,
                iterations: 50,
                friction: FrictionShape::Cone,
                unsprung: false,
            };
            vehicle.solve(&body, &contacts, &[], &controls, coupling, STEP_S);
            let found: Vec<f64> = (0..model.wheels().len())
                .flat_map(|i| {
                    let place = model.lane_index(i);
                    let rows = &vehicle.rows[place.bank];
                    assert!(!rows.solution.sliding.lanes()[place.lane], "the case is meant to stick");
                    [rows.suspension.load, rows.solution.tyre_impulse[0], rows.solution.tyre_impulse[1]]
                        .map(|x| f64::from(x.lanes()[place.lane]))
                })
                .collect();
            let expected = solve_directly(&vehicle, vehicle.free_velocity_in_body(&body, &vehicle.to_world));
            let size = expected.iter().fold(0.0f64, |size, x| size.max(x.abs()));
            for (found, expected) in found.iter().zip(&expected) {
                assert!(
                    (found - expected).abs() < 1e-4 * size,
                    "{axles} axles, case {case}: {found} for {expected} N s"
                );
            }
        }
    }
}
