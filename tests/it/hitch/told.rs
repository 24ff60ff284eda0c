//! What telemetry tells of hitches, against closed forms.

use super::rigs::{BASE, Plane, articulation, gap, shipped, train, train_from};
use crate::common::{GRAVITY, solvers};
use skidpad::core::model::TrailerBrakes;
use skidpad::core::state::Placement;
use skidpad::core::telemetry::frame::HITCH_CHANNELS;
use skidpad::core::{Backend, Controls, Frame, HitchFrame, Model, Scene, State, Vec3};
use skidpad::lab::manoeuvre::{Course, LaneChange, Slalom};
use skidpad::lab::units::Towed;
use skidpad::lab::{Manoeuvre, Overrides, TimeStep, Trajectory, simulate};
use std::sync::Arc;

/// Telemetry of the hitch of vehicle `car`.
fn hitch(world: &dyn Backend, car: usize) -> HitchFrame {
    world.frame(car).hitch.expect("it has a coupler")
}

/// m a, with a the torque of the car's brakes over the mass of both and over the radius of its wheels, 0.3 m.
#[test]
fn a_trailer_without_brakes_runs_up_with_its_mass_times_its_deceleration() {
    let torque = 0.2 * 4.0 * 2.0 * BASE.mass;
    let deceleration = torque / 0.3 / (BASE.mass + BASE.trailer_mass);
    let known = BASE.trailer_mass * deceleration;
    for solver in solvers() {
        let mut world = train(&solver, &BASE.models(), &Scene::flat(), 25.0, 240.0);
        // Until the pitch of both has settled.
        for _ in 0..480 {
            world.step(&[Controls { brake: 0.2, ..Controls::coasting() }]);
        }
        // Over a tenth of a second: tyres of 2 mm and 32-bit positions of `rapier` move single steps by 0.8 %.
        let (mut along, mut across, mut slowed) = (0.0, 0.0, 0.0);
        for _ in 0..24 {
            world.step(&[Controls { brake: 0.2, ..Controls::coasting() }]);
            let (found, frame) = (hitch(&*world, 1), world.frame(1));
            along += found.fx_n / 24.0;
            across += found.fy_n / 24.0;
            slowed -= frame.ax_mps2 / 24.0;
        }
        // The inertia of wheels is 1e-5 of the mass over 0.3 m squared, 4e-4 of the mass with four of them.
        assert!((slowed / deceleration - 1.0).abs() < 1e-3, "{}: {slowed} m/s² for {deceleration}", solver.name);
        assert!((along / known - 1.0).abs() < 1e-3, "{}: {along} N for {known}", solver.name);
        // Straight ahead nothing acts across.
        assert!(across.abs() < 1e-3 * known, "{}: {across} N across", solver.name);
    }
}

/// Straight on nothing acts across a hitch, wherever that is: what rounds positions of 32 bits is not told as a force, which would grow
/// with the square of the rate. Rapier's joint told 140 N at 240 Hz and 8 kN at 960 Hz.
#[test]
fn hitch_forces_do_not_depend_on_the_place() {
    let along = 0.2 * 4.0 * 2.0 * BASE.mass / 0.3 * BASE.trailer_mass / (BASE.mass + BASE.trailer_mass);
    for solver in solvers() {
        for hz in [60u16, 240, 960] {
            let placement = Placement { x: 3000.0, y: 2100.0, heading: 0.3, speed: 25.0, ..Placement::default() };
            let mut world = train_from(&solver, &BASE.models(), &Scene::flat(), &placement, f32::from(hz));
            for step in 0..4 * hz {
                world.step(&[Controls { brake: 0.2, ..Controls::coasting() }]);
                let across = hitch(&*world, 1).fy_n.abs();
                // Own worlds have 0.15 % at 960 Hz wherever they are: rotations have 32 bits, which turn points 4 m away by 2e-7 m.
                assert!(step < 2 * hz || across < 2e-3 * along, "{}, {hz} Hz: {across} N of {along}", solver.name);
            }
            // 32 bits have 0.2 mm there.
            assert!(gap(&*world, 1) < 1e-3, "{}, {hz} Hz: {} m", solver.name, gap(&*world, 1));
        }
    }
}

/// F = m a / (1 + G), with a = B / (M + m / (1 + G)), B the force of the car's brakes and G what the trailer's hold of the force that
/// presses them: 8, which would be let go and pressed from step to step if they followed at once.
#[test]
fn overrun_brakes_follow_the_force_without_chatter() {
    let (full, gain) = (2000.0f32, 8.0);
    let [car, trailer] = BASE.models();
    let mut parts = trailer.parts().clone();
    parts.coupler.as_mut().expect("it is towed").brakes = TrailerBrakes::Overrun(full);
    let models = [car, Arc::new(Model::new(parts).expect("valid"))];
    let deceleration = 0.1 * 4.0 * 2.0 * BASE.mass / 0.3 / (BASE.mass + BASE.trailer_mass / (1.0 + gain));
    let known = BASE.trailer_mass * deceleration / (1.0 + gain);
    for solver in solvers() {
        for hz in [20u16, 60, 240] {
            let mut world = train(&solver, &models, &Scene::flat(), 25.0, f32::from(hz));
            let mut forces = Vec::new();
            for _ in 0..4 * hz {
                world.step(&[Controls { brake: 0.1, ..Controls::coasting() }]);
                forces.push(hitch(&*world, 1).fx_n);
            }
            let last = &forces[3 * usize::from(hz)..];
            let mean = last.iter().sum::<f64>() / last.len() as f64;
            let swing = last.iter().map(|force| (force - mean).abs()).fold(0.0, f64::max);
            // Wheels that spin down take 0.2 %.
            assert!((mean / known - 1.0).abs() < 5e-3, "{}, {hz} Hz: {mean} N of {known}", solver.name);
            // 32 bits of a speed, on tyres that relax within 2 mm: up to 7 % at 60 Hz. Brakes that chatter let go of all of it.
            assert!(swing < 0.1 * known, "{}, {hz} Hz: swings by {swing} N about {mean}", solver.name);
        }
    }
}

/// m g (L - d) / L presses on the hitch of a vehicle that stands, and lifts it where the trailer's mass is behind its axle.
#[test]
fn the_load_of_a_hitch_is_told() {
    for solver in solvers() {
        for centre in [3.9, 4.1] {
            let rig = Plane { centre, ..BASE };
            let mut world = train(&solver, &rig.models(), &Scene::flat(), 0.0, 120.0);
            for _ in 0..600 {
                // Not braked: locked wheels would hold the pitch of the trailer by their patches.
                world.step(&[]);
            }
            let (found, known) =
                (hitch(&*world, 1), -rig.trailer_mass * GRAVITY * (rig.drawbar - centre) / rig.drawbar);
            assert!((found.fz_n / known - 1.0).abs() < 1e-3, "{}: {} N for {known}", solver.name, found.fz_n);
            assert_eq!(found.coupled, 1.0);
        }
    }
}

/// In a steady left turn the trailer is turned to the right by atan(c / R) + atan(L / R_t), and stays so; its rate on the way
/// there is the difference of both yaw rates.
#[test]
fn the_angle_of_a_steady_circle_is_told() {
    let rig = Plane { firm: 20.0, hitch: BASE.axles[1] + 1.0, ..BASE };
    for solver in solvers() {
        let mut world = train(&solver, &rig.models(), &Scene::flat(), 2.0, 240.0);
        let steer = (2.7f32 / 15.0).atan();
        for second in 0..30 {
            for _ in 0..240 {
                world.step(&[Controls { steer, ..Controls::coasting() }]);
            }
            let yaw_rates = [0, 1].map(|car| world.frame(car).yaw_rate_radps);
            let rate = hitch(&*world, 1).articulation_rate_radps;
            assert!(second > 0 || rate < -0.02, "{}: {rate} rad/s", solver.name);
            // 32-bit rates of 0.1 rad/s, and the pitch of next to no height.
            assert!((rate - (yaw_rates[1] - yaw_rates[0])).abs() < 1e-6, "{}: {rate}, {yaw_rates:?}", solver.name);
        }
        let found = hitch(&*world, 1);
        let rear = world.frame(0);
        // Of the middle of the rear axle: tyres slip by a hair.
        let speed = rear.vx_mps.hypot(rear.vy_mps - rear.yaw_rate_radps * BASE.axles[1]);
        let radius = speed / rear.yaw_rate_radps;
        let trailer_radius = (radius * radius + 1.0 - rig.drawbar * rig.drawbar).sqrt();
        let known = -((1.0 / radius).atan() + (rig.drawbar / trailer_radius).atan());
        assert!(
            (found.articulation_rad / known - 1.0).abs() < 5e-3,
            "{}: {} rad for {known}",
            solver.name,
            found.articulation_rad
        );
        assert_eq!(found.articulation_rad, f64::from(articulation(&*world, 1)));
        assert!(found.articulation_rate_radps.abs() < 1e-3, "{}", solver.name);
    }
}

/// Turned back into world axes, the force on the vehicle ahead is the one on the trailer the other way round.
#[test]
fn forces_are_in_the_axes_of_the_vehicle_ahead() {
    for solver in solvers() {
        let mut world = train(&solver, &BASE.models(), &Scene::flat(), 10.0, 240.0);
        let steer = 0.1;
        for _ in 0..480 {
            world.step(&[Controls { steer, ..Controls::coasting() }]);
        }
        let (force, tow) = (hitch(&*world, 1), world.state(1).tow.expect("towed"));
        let told = skidpad::core::DVec3::new(force.fx_n, force.fy_n, force.fz_n);
        let back = world.state(0).rotation.as_dquat() * -told;
        let known = tow.force.as_dvec3();
        // Rotations have 32 bits.
        assert!((back - known).length() < 1e-5 * known.length(), "{}: {back} for {known}", solver.name);
        assert!(known.truncate().length() > 100.0, "{}: it turns", solver.name);
    }
}

#[test]
fn a_trailer_on_its_own_keeps_its_columns() {
    let models = shipped(&["toyota_4runner", "caravan"]);
    for solver in solvers() {
        let mut world = train(&solver, &models, &Scene::flat(), 10.0, 120.0);
        let towed = world.frame(1);
        let names = |frame: &Frame| frame.header(&models[1]);
        let own: Vec<String> = HITCH_CHANNELS.iter().map(|c| format!("{}.hitch", c.name)).collect();
        assert_eq!(names(&towed)[names(&towed).len() - own.len()..], own);
        assert!(world.frame(0).hitch.is_none() && !world.frame(0).header(&models[0]).join(",").contains("hitch"));
        let free = State { tow: None, ..world.state(1).clone() };
        world.set_state(1, &free).expect("it fits");
        world.step(&[]);
        let alone = world.frame(1);
        assert_eq!(names(&alone), names(&towed));
        assert_eq!(alone.hitch, Some(HitchFrame::default()), "{}", solver.name);
        assert_eq!(towed.with_row(&alone.row()), alone);
        assert_eq!(alone.with_row(&towed.row()), towed);
    }
}

/// What a run of `manoeuvre` leaves behind, on every solver.
fn runs(manoeuvre: &dyn Manoeuvre, models: &[Arc<Model>]) -> Vec<(&'static str, Trajectory)> {
    let overrides =
        Overrides { trailers: models[1..].iter().cloned().map(Towed::from).collect(), ..Overrides::default() };
    let setup = overrides.apply(manoeuvre.setup(&models[0]));
    let dt = TimeStep::per_second(120.0).expect("valid");
    let run = |solver: &skidpad::core::BackendInfo| {
        let mut driver = manoeuvre.driver(&models[0]);
        (solver.name, simulate(solver, &models[0], &setup, driver.as_mut(), dt, &mut |_, _| {}))
    };
    solvers().iter().map(run).collect()
}

/// Columns of a trailer are those of the same time as its car's: the coupler they tell of is where the hitch is.
#[test]
fn rows_of_trailers_keep_step_with_their_car() {
    let models = BASE.models();
    let point = |frame: &Frame, point: Vec3| {
        let ((sin, cos), [x, y]) = (frame.yaw_rad.sin_cos(), [point.x, point.y].map(f64::from));
        [frame.x_m + x * cos - y * sin, frame.y_m + x * sin + y * cos]
    };
    let [hitch, coupler] =
        [models[0].parts().hitch.expect("it tows").point, models[1].parts().coupler.expect("it is towed").point];
    for (solver, run) in runs(&Slalom { speed_mps: 10.0, ..Slalom::default() }, &models) {
        let [(_, trailer)] = run.trailers() else { panic!("{solver}: {} trailers", run.trailers().len()) };
        assert_eq!(trailer.count(), run.count());
        for (car, behind) in run.rows().zip(trailer.rows()) {
            assert_eq!(car.t_s, behind.t_s);
            let ([x, y], [hitch_x, hitch_y]) = (point(&behind, coupler), point(&car, hitch));
            // A step late they would be 80 mm apart; both vehicles are level but for their springs.
            assert!((x - hitch_x).hypot(y - hitch_y) < 2e-3, "{solver} at {} s", car.t_s);
        }
        assert!(trailer.largest(|f| f.yaw_rad) > 0.05, "{solver}: it swings");
    }
}

#[test]
fn a_table_has_the_columns_of_every_trailer() {
    let models = shipped(&["toyota_4runner", "caravan"]);
    let lane_change = LaneChange { course: Course::Double, speed_mps: Some(15.0) };
    let mut first = None;
    for (solver, run) in runs(&lane_change, &models) {
        let mut bytes = Vec::new();
        run.write_csv(&mut bytes).expect("a Vec takes everything");
        let text = String::from_utf8(bytes).expect("text");
        let columns: Vec<&str> = text.lines().next().expect("a header").split(',').collect();
        let own = run.first().header(&models[0]);
        assert_eq!(columns[..own.len()], own, "{solver}: the car's columns come first");
        insta::assert_snapshot!("columns_of_a_trailer", columns[own.len()..].join("\n"));
        assert_eq!(text.lines().count(), run.count() + 1);
        assert!(text.lines().all(|line| line.split(',').count() == columns.len()), "{solver}");
        let metrics = lane_change.metrics_of_train(&models[0], &run);
        let of = |name: &str| metrics.iter().find(|m| m.name == name).and_then(|m| m.value).expect("it happened");
        let found = [of("trailer1_rearward_amplification"), of("trailer1_peak_articulation_deg")];
        // Below its critical speed a caravan swings somewhat more than its car.
        assert!((1.0..1.5).contains(&found[0]), "{solver}: {found:?}");
        // As far as solvers are to agree at 240 Hz, at half of that.
        for (value, known) in found.iter().zip(*first.get_or_insert(found)) {
            assert!((value / known - 1.0).abs() < 0.04, "{solver}: {value} for {known}");
        }
        // At rest its coupler carries 80 kg.
        assert!(of("trailer1_peak_hitch_force_n") > 80.0 * GRAVITY, "{solver}");
    }
}

/// A hitch whose vehicle has left carries nothing, and tells so.
#[test]
fn a_hitch_to_nobody_carries_nothing() {
    for solver in solvers() {
        let models = shipped(&["toyota_4runner", "caravan"]);
        let mut world = train(&solver, &models, &Scene::flat(), 10.0, 60.0);
        for _ in 0..60 {
            world.step(&[Controls::coasting(), Controls::coasting()]);
        }
        let carried = world.state(1).tow.expect("hitched").force;
        assert!(carried.length() > 100.0, "{}: {carried}", solver.name);
        world.suspend(0).expect("it is there");
        world.step(&[Controls::coasting(), Controls::coasting()]);
        let tow = world.state(1).tow.expect("hitched");
        assert_eq!((tow.by, tow.force), (0, Vec3::ZERO), "{}", solver.name);
    }
}
