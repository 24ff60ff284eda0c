//! Assists and arcade aids, rows A17 and E23: each is off by default and reported in the assist log of the step.

mod at_rates;
mod brakes;
mod combinations;
mod drive;
mod electric;
pub mod fitted;
mod steering;

use std::sync::Arc;

use skidpad::core::model::Assists;
use skidpad::core::telemetry::frame::{VEHICLE_CHANNELS, WHEEL_CHANNELS};
use skidpad::core::{Assist, Controls, DVec3, Frame, Model, Quat, Scene, SolverInfo, Vec3, state::Placement};

use crate::common::{Drive, Simplify, c5, close, on_rows, solvers};

/// Returns the contributions of `assist` in the step of `frame`, in the order of its telemetry columns. Panics if the
/// model does not have the assist.
fn added(frame: &Frame, assist: Assist) -> [f64; 10] {
    frame.assist_log.iter().find(|(found, _)| *found == assist).expect("the model has it").1.values()
}

/// Row A17: shipped cars have no arcade aid and at most the anti-lock brakes of the real car. Telemetry of a car
/// without assists has no columns for them.
#[test]
fn a17_tricks_are_off_by_default() {
    for name in skidpad::spec::shipped::names() {
        let model = skidpad::spec::load(name).expect("shipped").model;
        assert!(model.assists().iter().all(|assist| *assist == Assist::AntiLock), "{name}");
    }
    let model = c5().model();
    for solver in on_rows() {
        let frame = Drive::rolling(&solver, &model, 10.0, 60.0).step(&Controls::coasting());
        assert!(frame.assist_log.is_empty(), "{}", solver.name);
        let columns = VEHICLE_CHANNELS.len() + 4 * WHEEL_CHANNELS.len() + frame.shafts.len();
        assert_eq!(frame.header(&model).len(), columns, "{}", solver.name);
    }
}

/// Returns each assist alone, all assists, and none.
fn fits() -> Vec<Assists> {
    let (all, none) = (fitted::all(), Assists::default());
    let alone = [
        Assists { abs: all.abs, ..none },
        Assists { stability: all.stability, ..none },
        Assists { traction: all.traction, ..none },
        Assists { launch: all.launch, ..none },
        Assists { cruise: all.cruise, ..none },
        Assists { counter_steer: all.counter_steer, ..none },
        Assists { speed_steering: all.speed_steering, ..none },
        Assists { lowered_centre: all.lowered_centre, ..none },
        Assists { angular_drag: all.angular_drag, ..none },
    ];
    alone.into_iter().chain([all, none]).collect()
}

/// The telemetry columns of a car stay the same during a drive, for any set of assists and any controls.
#[test]
fn telemetry_keeps_its_columns() {
    for name in skidpad::spec::shipped::names() {
        for assists in fits() {
            let mut parts = skidpad::spec::load(name).expect("shipped").model.parts().clone();
            parts.assists = assists;
            let model = Arc::new(Model::new(parts).expect("valid"));
            for solver in skidpad::solvers() {
                let placement = Placement { speed: 15.0, ..Placement::default() };
                let mut car = Drive::new(&solver, &model, &Scene::flat(), placement, 60.0);
                let started = car.world.frame(0).header(&model);
                for controls in [
                    Controls { throttle: 1.0, ..Controls::default() },
                    Controls { cruise: Some(20.0), ..Controls::default() },
                    Controls { brake: 1.0, steer: 0.3, ..Controls::default() },
                ] {
                    for _ in 0..3 {
                        let columns = car.step(&controls).header(&model);
                        assert_eq!(columns, started, "{name}, {}, {assists:?}", solver.name);
                    }
                }
            }
        }
    }
}

/// Row A17: a rotation in the air decays as `exp(−k t)`, and the assist log reports the moment `−k I ω`.
#[test]
fn a17_angular_drag_is_told_as_the_moment_it_adds() {
    let rate = 0.8f32;
    let mut parts = c5().without_air();
    parts.assists.angular_drag = rate;
    let model = parts.model();
    for solver in solvers() {
        let mut car = Drive::rolling(&solver, &model, 0.0, 240.0);
        let mut state = car.world.state(0).clone();
        (state.position, state.rotation) = (DVec3::new(0.0, 0.0, 50.0), Quat::IDENTITY);
        state.angular_velocity = Vec3::new(0.0, 0.0, 2.0);
        car.world.set_state(0, &state).expect("it fits");
        let frames = car.run(1.5, |_| Controls::coasting());
        let last = &frames[frames.len() - 1];
        let expected = 2.0 * (-f64::from(rate) * 1.5).exp();
        close(solver.name, last.yaw_rate_radps, expected, 3e-3, "first order in the step: k² dt t / 2 = 0.2 %");
        let before = &frames[frames.len() - 2];
        let moment = added(last, Assist::AngularDrag)[5];
        let told = -f64::from(rate * model.inertia().z_axis.z) * before.yaw_rate_radps;
        close(solver.name, moment, told, 5e-3, "taken implicitly: 1 / (1 + k dt) = 0.33 % less");
    }
}

/// Row A17: an artificially lowered centre of mass gives the model of a lower car. The assist log reports the roll
/// moment that is avoided, `Δh m a_y`.
#[test]
fn a17_a_lowered_centre_of_mass_is_told_as_the_moment_it_spares() {
    let text = skidpad::spec::shipped::find("corvette_c5").expect("shipped");
    let tricked = format!("{text}\n[assists.lowered_centre]\nby_m = 0.1\n");
    let model = skidpad::spec::LoadedVehicle::read("car.toml", &tricked).expect("sound").model;
    let real = c5();
    assert!((real.centre_height - model.parts().centre_height - 0.1).abs() < 1e-6);
    for solver in solvers() {
        let mut car = Drive::rolling(&solver, &model, 20.0, 240.0);
        let frames = car.run(3.0, |_| Controls { steer: 0.03, gear: Some(0), ..Controls::default() });
        let last = &frames[frames.len() - 1];
        let [_, _, _, roll, ..] = added(last, Assist::LoweredCentre);
        let spared = -0.1 * f64::from(model.mass()) * last.ay_mps2;
        close(solver.name, roll, spared, 0.05, "the car leans: its own axes are not the road's");
    }
}

/// The columns of an assist follow the columns that all cars have.
#[test]
fn columns_of_an_assist_follow_the_common_ones() {
    let header = |solver: &SolverInfo, model: &Arc<Model>| {
        let mut car = Drive::new(solver, model, &Scene::flat(), Placement::default(), 60.0);
        let frame = car.step(&Controls::parked());
        assert_eq!(frame.row().len(), frame.header(model).len(), "{}", solver.name);
        frame.header(model)
    };
    let mut parts = c5();
    parts.assists.angular_drag = 0.1;
    let helped = parts.model();
    for solver in solvers() {
        let (plain, helped) = (header(&solver, &c5().model()), header(&solver, &helped));
        assert_eq!(helped[..plain.len()], plain[..]);
        let own = &helped[plain.len()..];
        assert_eq!(own.len(), 10);
        assert_eq!((own[5].as_str(), own[9].as_str()), ("moment_z_nm.angular_drag", "steer_rad.angular_drag"));
    }
}
