//! Test of [`Newton`]: the same rows as one dense linear system, solved directly in 64 bits.

use std::sync::{Arc, Mutex};

use nalgebra::{DMatrix, DVector};
use skidpad_core::coupling::{CarRows, ManyGroups, RowSolver, StepWheels, Velocities};
use skidpad_core::model::{
    AntiRollBar, Axle, Hull, ModelParts, Powertrain, ProbeShape, RollingCoefficients, Side, Steering, Strut, Wheel,
};
use skidpad_core::simd::lane::F32x4;
use skidpad_core::simd::linear::SpatialVector;
use skidpad_core::state::Placement;
use skidpad_core::tyre::curve::{CurveLaw, CurveTyre};
use skidpad_core::tyre::parameters::Tyre;
use skidpad_core::{
    ChassisState, Contact, Controls, DVec3, Mat3, Model, Quat, Scene, State, StepReport, Vec3, Vehicle,
};

use skidpad_constraint::Newton;

const STEP_S: f32 = 1.0 / 60.0;

/// Builds a car of 1500 kg with `axles` axles over a wheelbase of 2.7 m and direct motors, on linear tyres with a
/// friction coefficient of 3, so that no tyre slides. All axles are steered. The first axle has an anti-roll bar.
fn car_parts(axles: usize) -> ModelParts {
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
    ModelParts {
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
        steering: Steering { lock: 0.6, rate: f32::INFINITY, ..Steering::default() },
        powertrain: Powertrain::Direct(vec![300.0; 2 * axles].into()),
        hull: Hull { centre: Vec3::ZERO, half_extents: Vec3::new(2.0, 0.8, 0.3) },
        ..ModelParts::default()
    }
}

/// Solver that compares the impulses of `newton` with those of a direct solve.
#[derive(Debug)]
struct Compared {
    newton: Newton,
    /// Load, longitudinal and lateral impulse of each wheel (N s): those of `newton`, then those of the direct solve.
    impulses: Mutex<[Vec<f64>; 2]>,
}

impl RowSolver for Compared {
    fn solve(&self, car: &mut CarRows<'_>, velocities: &Velocities) -> StepReport {
        let report = self.newton.solve(car, velocities);
        let wheel_count = car_model(car).wheels().len();
        let rows = StepWheels::<ManyGroups>::rows(car);
        let impulses = (0..wheel_count).flat_map(|i| {
            let rows = &rows[i / 4];
            assert!(!rows.solution.sliding.lanes()[i % 4], "the case is meant to stick");
            [rows.suspension.load, rows.solution.tyre_impulse[0], rows.solution.tyre_impulse[1]]
                .map(|x| f64::from(x.lanes()[i % 4]))
        });
        *self.impulses.lock().expect("no panic before") = [impulses.collect(), solve_directly(car, velocities.v_free)];
        report
    }
}

/// Returns the model of the car.
fn car_model<'a>(car: &'a CarRows<'_>) -> &'a Model {
    StepWheels::<ManyGroups>::model(car)
}

/// Computes the load, longitudinal and lateral impulse of each wheel (N s), wheel by wheel, with one dense LU solve in
/// f64. `free` is the chassis velocity without wheels. The unknowns are the chassis velocity (6), and load, both tyre
/// impulses and spin of each wheel (4). The equations are `M Δv = Σ rows`, `x = target impulse − gain · speed` and `I ω
/// = momentum ± hold − R x`, in the active set (contacts, signs of brakes) that the iteration found.
fn solve_directly(car: &CarRows<'_>, free: SpatialVector<f32>) -> Vec<f64> {
    let model = car_model(car);
    let size = 6 + 4 * model.wheels().len();
    let (mut a, mut b) = (DMatrix::<f64>::zeros(size, size), DVector::<f64>::zeros(size));
    let inertia = model.inertia().to_cols_array_2d();
    let (linear, angular) = free.parts();
    let start = DVector::from_iterator(6, [linear.to_array(), angular.to_array()].into_iter().flatten().map(f64::from));
    for i in 0..3 {
        a[(i, i)] = f64::from(model.mass());
        for j in 0..3 {
            a[(3 + i, 3 + j)] = f64::from(inertia[j][i]);
        }
    }
    let momentum = a.view((0, 0), (6, 6)) * &start;
    b.rows_mut(0, 6).copy_from(&momentum);
    for i in 0..model.wheels().len() {
        add_wheel_rows(car, i, &mut a, &mut b);
    }
    add_bar_rows(car, &mut a, &mut b);
    let solution = a.lu().solve(&b).expect("regular");
    (0..model.wheels().len()).flat_map(|i| [0, 1, 2].map(|k| solution[6 + 4 * i + k])).collect()
}

/// Adds the rows of wheel `i` and its spin to the matrix `a` and the right side `b`.
fn add_wheel_rows(car: &CarRows<'_>, i: usize, a: &mut DMatrix<f64>, b: &mut DVector<f64>) {
    let (wheel, rows) = (&car_model(car).wheels()[i], &StepWheels::<ManyGroups>::rows(car)[i / 4]);
    let value = |lanes: F32x4| f64::from(lanes.lanes()[i % 4]);
    let first = 6 + 4 * i;
    // Load impulse at zero normal speed.
    let load_target = rows.suspension.load + rows.suspension.load_slope * rows.solution.velocity.normal;
    let [longitudinal, lateral] = [0, 1].map(|k| (rows.tyre.target_impulse[k], rows.tyre.gain[k]));
    // Row, target impulse and gain of load, longitudinal and lateral impulse.
    let wheel_rows = [
        (rows.contact.normal, (load_target, rows.suspension.load_slope)),
        (rows.contact.forward, longitudinal),
        (rows.contact.side, lateral),
    ];
    for (k, (direction, (target_impulse, gain))) in wheel_rows.into_iter().enumerate() {
        let (SpatialVector { linear, angular }, gain) = (direction, value(gain));
        a[(first + k, first + k)] = 1.0;
        b[first + k] = value(target_impulse);
        for (j, entry) in [linear.x, linear.y, linear.z, angular.x, angular.y, angular.z].into_iter().enumerate() {
            a[(j, first + k)] -= value(entry);
            a[(first + k, j)] += gain * value(entry);
        }
        // The longitudinal speed includes the spin.
        if k == 1 {
            a[(first + k, first + 3)] -= gain * f64::from(wheel.radius);
        }
    }
    // Torque on the chassis. Spin: I ω + R x = momentum + angular impulse of brake and rolling resistance.
    let torque = value(rows.solution.torque);
    for (j, axle) in [rows.steering.axle.x, rows.steering.axle.y, rows.steering.axle.z].into_iter().enumerate() {
        b[3 + j] -= value(axle) * torque;
    }
    a[(first + 3, first + 3)] = f64::from(wheel.spin_inertia);
    a[(first + 3, first + 1)] = f64::from(wheel.radius);
    b[first + 3] = value(rows.drive.momentum) - value(rows.drive.motor) + torque;
}

/// Adds the anti-roll bars to the load rows of the matrix `a` and the right side `b`: the bar impulse acts with
/// opposite signs at its two wheels.
fn add_bar_rows(car: &CarRows<'_>, a: &mut DMatrix<f64>, b: &mut DVector<f64>) {
    for (k, bar) in car_model(car).parts().bars.iter().enumerate() {
        let (row, gain, speed) = car.axle_link(k);
        let (linear, angular) = row.parts();
        let row = [linear.to_array(), angular.to_array()].concat();
        for (i, sign) in bar.wheels.into_iter().zip([1.0, -1.0]) {
            b[6 + 4 * i] += sign * f64::from(gain * speed);
            for (j, entry) in row.iter().enumerate() {
                a[(6 + 4 * i, j)] += sign * f64::from(gain * entry);
            }
        }
    }
}

/// Compares the impulses of [`Newton`] with [`solve_directly`], for 2, 3 and 5 axles and 20 deflected,
/// moving states each, within 1e-4 of the largest one.
#[test]
fn converged_impulses_equal_a_direct_solve() {
    for axles in [2, 3, 5] {
        for case in 0..20u8 {
            // Number in −1 to 1 that depends on the case.
            let wave = |k: f32| skidpad_core::math::sin_cos(f32::from(case) * 0.7 + k).0;
            let model = Arc::new(Model::new(car_parts(axles)).expect("valid"));
            let mut state = State::at_rest(&model, &Scene::flat(), &Placement { speed: 20.0, ..Placement::default() });
            for (i, wheel) in state.wheels.iter_mut().enumerate() {
                wheel.deflection = [1e-3 * wave(i as f32), 3e-3 * wave(2.0 + i as f32)];
            }
            let mut vehicle = Vehicle::new(model.clone(), state.clone());
            let velocity = Vec3::new(20.0, 0.3 * wave(1.0), 0.1 * wave(2.0));
            let angular_velocity = Vec3::new(0.05 * wave(3.0), 0.05 * wave(4.0), 0.2 * wave(5.0));
            let body = ChassisState {
                velocity,
                angular_velocity,
                free_velocity: velocity - Vec3::Z * 9.81 * STEP_S,
                free_angular_velocity: angular_velocity,
                position: DVec3::ZERO,
                rotation: Quat::IDENTITY,
                gyroscopic_change: Vec3::ZERO,
                wind: Vec3::ZERO,
                pose_lag: 0.0,
                position_resolution: 0.0,
                asleep: false,
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
            let newton = Newton { tolerance: 1e-7, max_iterations: 50, ..Newton::CONE };
            let solver = Compared { newton, impulses: Mutex::default() };
            vehicle.solve(&body, &contacts, &[], &controls, &solver, STEP_S);
            let [found, expected] = solver.impulses.into_inner().expect("no panic before");
            assert_eq!(found.len(), 3 * model.wheels().len(), "the solver was called");
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
