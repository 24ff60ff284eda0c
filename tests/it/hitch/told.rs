//! What telemetry tells of hitches, against closed forms.

use super::rigs::{BASE, Plane, articulation, shipped, train};
use crate::common::{GRAVITY, solvers};
use skidpad::core::telemetry::frame::HITCH_CHANNELS;
use skidpad::core::{Backend, Controls, Frame, HitchFrame, Scene, State};

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
        let (found, slowed) = (hitch(&*world, 1), -world.frame(1).ax_mps2);
        // The inertia of wheels is 1e-5 of the mass over 0.3 m squared, 4e-4 of the mass with four of them.
        assert!((slowed / deceleration - 1.0).abs() < 1e-3, "{}: {slowed} m/s² for {deceleration}", solver.name);
        assert!((found.fx_n / known - 1.0).abs() < 1e-3, "{}: {} N for {known}", solver.name, found.fx_n);
        // Straight ahead nothing acts across.
        assert!(found.fy_n.abs() < 1e-3 * known, "{}: {} N across", solver.name, found.fy_n);
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
        world.set_state(1, &free);
        world.step(&[]);
        let alone = world.frame(1);
        assert_eq!(names(&alone), names(&towed));
        assert_eq!(alone.hitch, Some(HitchFrame::default()), "{}", solver.name);
        assert_eq!(towed.with_row(&alone.row()), alone);
        assert_eq!(alone.with_row(&towed.row()), towed);
    }
}
