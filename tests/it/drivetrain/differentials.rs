//! Differentials and couplings: distribution of torque and speed, by closed forms.

use skidpad::core::model::{Curve, Motor, Powertrain, TorqueCoupling};
use skidpad::core::{Controls, DVec3, FixedBox, ModelParts, Scene, SolverInfo, Vec3, state::Placement};

use crate::common::{Drive, Simplify, c5, close, on_rows};
use crate::drivetrain::motors::light as light_motor;
use crate::step::fuzz::survives_wild_controls;
use crate::step::random::Random;

/// Returns the parts of a C5 on Coulomb tyres of μ = 1, with an engine of constant torque and negligible inertia.
fn plain(torque: f32, shares: [f32; 4]) -> ModelParts {
    let mut parts = c5().without_air().without_rolling_resistance().on_coulomb_tyres(1.0);
    parts.bars.clear();
    let Powertrain::Engine(drive) = &mut parts.powertrain else { panic!("the C5 has an engine") };
    drive.engine.torque = Curve::new(vec![[0.0, torque], [1000.0, torque]]).expect("valid");
    (drive.engine.inertia, drive.engine.drag, drive.engine.limiter_speed) = (0.01, [0.0; 2], 50e3);
    drive.gearbox.efficiency = 1.0;
    drive.torque_shares = shares.into();
    parts
}

const REAR: [f32; 4] = [0.0, 0.0, 0.5, 0.5];
const FRONT_FOUR_TENTHS: [f32; 4] = [0.2, 0.2, 0.3, 0.3];

fn across_the_rear() -> [Box<[usize]>; 2] {
    [Box::from([2]), Box::from([3])]
}

fn between_the_axles() -> [Box<[usize]>; 2] {
    [Box::from([0, 1]), Box::from([2, 3])]
}

fn open(sides: [Box<[usize]>; 2]) -> TorqueCoupling {
    TorqueCoupling { sides, friction: 0.0, bias: [1.0; 2], viscous: 0.0 }
}

/// Returns a scene with a grip of `low` under the left wheels, on a sheet of half a millimetre, and of 1 under the
/// right ones.
fn split(low: f32) -> Scene {
    let sheet = FixedBox::axis_aligned(DVec3::new(0.0, 50.0, -0.4995), Vec3::new(2000.0, 100.0, 1.0));
    Scene { boxes: vec![FixedBox { grip: low, ..sheet }], ..Scene::flat() }
}

/// Figures of the wheels at the end of a run, each a mean over its last 0.1 s.
#[derive(Clone, Copy, Debug, Default)]
struct Wheels {
    /// Torque on the wheel (N m).
    hub: [f64; 4],
    /// Longitudinal tyre force times radius (N m).
    tyre: [f64; 4],
    /// Limit of the tyre's friction times radius (N m).
    grip: [f64; 4],
    spin: [f64; 4],
}

/// Drives at full throttle in first gear for 0.5 s from 8 m/s on split friction and returns the figures of the
/// wheels.
fn driven(solver: &SolverInfo, torque: f32, shares: [f32; 4], coupling: Option<TorqueCoupling>, low: f32) -> Wheels {
    let mut parts = plain(torque, shares);
    parts.couplings.extend(coupling);
    driven_with(solver, parts, low)
}

fn driven_with(solver: &SolverInfo, parts: ModelParts, low: f32) -> Wheels {
    let model = parts.model();
    let placement = Placement { speed: 8.0, gear: Some(1), ..Placement::default() };
    let mut car = Drive::new(solver, &model, &split(low), placement, 240.0);
    let controls = Controls { throttle: 1.0, gear: Some(1), ..Controls::default() };
    car.run(0.4, |_| controls.clone());
    let mut sum = Wheels::default();
    const STEPS: usize = 24;
    for _ in 0..STEPS {
        let frame = car.step(&controls);
        for (i, wheel) in frame.wheels.iter().enumerate() {
            let radius = f64::from(model.wheels()[i].radius) / STEPS as f64;
            sum.hub[i] += f64::from(car.world.state(0).wheels[i].torque) / STEPS as f64;
            sum.tyre[i] += wheel.fx_n * radius;
            sum.grip[i] += wheel.load_n * radius * if i % 2 == 0 { f64::from(low) } else { 1.0 };
            sum.spin[i] += wheel.spin_radps / STEPS as f64;
        }
    }
    sum
}

const ROWS: &str = "asked; rows are solved to a thousandth";
/// Reason for the tolerance of speeds of locked wheels. The measured difference is 0.06 % if the car yaws.
const FORESEEN: &str = "one sweep foresees wheels without their side rows";
const LOW: f32 = 0.1;

/// Left wheel on ice: an open differential gives both wheels the same torque. The left tyre slides at its limit, and
/// its wheel spins up.
#[test]
fn split_friction_open_gives_twice_the_low_side() {
    for solver in on_rows() {
        let found = driven(&solver, 250.0, REAR, None, LOW);
        close(&format!("{} torques", solver.name), found.hub[3], found.hub[2], 1e-4, "rounding");
        close(&format!("{} ice", solver.name), found.tyre[2], found.grip[2], 0.01, "asked");
        assert!(found.spin[2] > 2.0 * found.spin[3], "{}: {found:?}", solver.name);
    }
}

/// Difference or ratio of the hub torques: a preload P adds P, a torque bias B multiplies by B, and a viscous
/// coupling carries torque in proportion to the difference of speeds.
#[test]
fn split_friction_limited_slip_adds_what_it_says() {
    for solver in on_rows() {
        let with = |change: TorqueCoupling| driven(&solver, 250.0, REAR, Some(change), LOW);
        let found = with(TorqueCoupling { friction: 100.0, ..open(across_the_rear()) });
        close(&format!("{} preload", solver.name), found.hub[3] - found.hub[2], 200.0, 0.01, ROWS);
        let found = with(TorqueCoupling { bias: [3.0, 1.0], ..open(across_the_rear()) });
        close(&format!("{} bias", solver.name), found.hub[3] / found.hub[2], 3.0, 0.01, ROWS);
        let found = with(TorqueCoupling { viscous: 3.0, ..open(across_the_rear()) });
        let carried = 0.5 * (found.hub[3] - found.hub[2]);
        close(&format!("{} viscous", solver.name), carried, 3.0 * (found.spin[2] - found.spin[3]), 0.01, ROWS);
        let found = with(TorqueCoupling { friction: 100.0, bias: [2.0, 1.0], viscous: 1.0, ..open(across_the_rear()) });
        let (difference, sum) = (found.hub[3] - found.hub[2], found.hub[3] + found.hub[2]);
        let told = 200.0 + sum / 3.0 + 2.0 * (found.spin[2] - found.spin[3]);
        close(&format!("{} together", solver.name), difference, told, 0.01, ROWS);
        assert!(found.spin[2] > 1.2 * found.spin[3], "{}: {found:?}", solver.name);
    }
}

/// A locked differential turns both wheels at the same speed and gives each the torque of its tyre.
#[test]
fn split_friction_locked_gives_both_sides() {
    for solver in on_rows() {
        let locked = |torque: f32| driven(&solver, torque, REAR, Some(TorqueCoupling::locked(across_the_rear())), LOW);
        let held = locked(150.0);
        close(&format!("{} speeds", solver.name), held.spin[2], held.spin[3], 1e-3, FORESEEN);
        let total = 150.0 * 2.66 * 3.42;
        close(&format!("{} torque", solver.name), held.hub[2] + held.hub[3], total, 0.01, "a light engine gains speed");
        let slid = locked(800.0);
        close(&format!("{} speeds of sliding wheels", solver.name), slid.spin[2], slid.spin[3], 1e-3, FORESEEN);
        for i in [2, 3] {
            close(&format!("{} tyre {i}", solver.name), slid.tyre[i], slid.grip[i], 0.01, "asked");
        }
    }
}

/// Four driven wheels with a centre differential of 0.4 to 0.6: torques in these shares if open, equal axle speeds if
/// locked. With a bias B, the axle torques over their shares have the ratio B.
#[test]
fn centre_differential_splits_and_locks() {
    for solver in on_rows() {
        let drive = |coupling, low| driven(&solver, 250.0, FRONT_FOUR_TENTHS, coupling, low);
        let axles = |of: &[f64; 4]| [of[0] + of[1], of[2] + of[3]];
        let [front, rear] = axles(&drive(None, 1.0).hub);
        close(&format!("{} shares", solver.name), front / (front + rear), 0.4, 1e-3, "rounding");
        // The two open axle differentials spin up both left wheels. The axles differ by radius and load.
        let found = drive(Some(TorqueCoupling::locked(between_the_axles())), LOW);
        let [front, rear] = axles(&found.spin);
        close(&format!("{} locked", solver.name), front, rear, 1e-3, FORESEEN);
        let loose = axles(&drive(None, LOW).spin);
        assert!((loose[0] / loose[1] - 1.0).abs() > 0.02, "{}: open axles turn apart, {loose:?}", solver.name);
        let found = drive(Some(TorqueCoupling { bias: [1.1, 1.0], ..open(between_the_axles()) }), LOW);
        let ([front, rear], spin) = (axles(&found.hub), axles(&found.spin));
        let ratio = (front / 0.4) / (rear / 0.6);
        let told = if spin[0] > spin[1] { 1.0 / 1.1 } else { 1.1 };
        close(&format!("{} bias {spin:?}", solver.name), ratio, told, 0.01, ROWS);
    }
}

/// A motor behind the centre differential spins its own axle. The centre differential carries only the bias of the
/// engine's torque to the other axle. The limited-slip differential of the rear axle receives both torques.
#[test]
fn a_motor_behind_a_coupling_does_not_drive_through_it() {
    let motor = Motor { wheels: [2, 3].into(), peak_torque: 3500.0, reduction: 1.0, ..light_motor() };
    for solver in on_rows() {
        let mut parts = plain(250.0, FRONT_FOUR_TENTHS);
        parts.couplings.push(TorqueCoupling { bias: [1.5, 1.0], ..open(between_the_axles()) });
        parts.couplings.push(TorqueCoupling { bias: [3.0, 1.0], ..open(across_the_rear()) });
        parts.motors.push(motor.clone());
        let found = driven_with(&solver, parts.clone(), 1.0);
        let [front, rear] = [found.hub[0] + found.hub[1], found.hub[2] + found.hub[3] - 3500.0];
        assert!(found.spin[2] > 1.2 * found.spin[0], "{}: the rear spins, {found:?}", solver.name);
        close(&format!("{} axles", solver.name), (front / 0.4) / (rear / 0.6), 1.5, 0.01, ROWS);
        parts.motors[0].peak_torque = 500.0;
        let found = driven_with(&solver, parts, LOW);
        close(&format!("{} rear wheels", solver.name), found.hub[3] / found.hub[2], 3.0, 0.01, ROWS);
    }
}

/// Random couplings with random controls, lifted into the air now and then: the state stays finite.
#[test]
fn any_couplings_survive_anything() {
    for solver in on_rows() {
        let mut random = Random(0x51_7C_C1_B7_27_22_0A_95);
        for _ in 0..20 {
            let mut parts = c5();
            let shares = [FRONT_FOUR_TENTHS, REAR, [0.5, 0.5, 0.0, 0.0]][random.between(0.0, 2.99) as usize];
            let Powertrain::Engine(drive) = &mut parts.powertrain else { panic!("the C5 has an engine") };
            drive.torque_shares = shares.into();
            for sides in [across_the_rear(), between_the_axles(), [Box::from([0]), Box::from([1])]] {
                parts.couplings.push(match random.between(0.0, 3.0) {
                    kind if kind < 1.0 => TorqueCoupling::locked(sides),
                    _ => TorqueCoupling {
                        sides,
                        friction: random.between(-100.0, 300.0).max(0.0),
                        bias: [random.between(1.0, 8.0), random.between(1.0, 3.0)],
                        viscous: random.between(-10.0, 50.0).max(0.0),
                    },
                });
            }
            let mut car = Drive::new(&solver, &parts.model(), &split(0.2), Placement::default(), 60.0);
            survives_wild_controls(&mut car, solver.name, &mut random);
        }
    }
}
