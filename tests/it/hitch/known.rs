//! Known answers of towing: off-tracking, tractrix, hitch load, effect of a massless trailer, momentum.

use super::rigs::{BASE, Plane, articulation, fold, gap, shipped, train};
use crate::common::{GRAVITY, solvers};
use skidpad::core::{Controls, DVec3, Mat3, Scene, Simulation, Vec3};

/// Reference rig on tyres so stiff that slip is negligible at walking pace.
const FIRM: Plane = Plane { firm: 20.0, ..BASE };

/// Returns the distance of the middle of the last axle of `car` from the instantaneous centre of rotation (m).
fn radius(world: &dyn Simulation, car: usize) -> f64 {
    let (state, wheels) = (world.state(car), world.model(car).wheels());
    let axle = wheels.last().expect("wheels").axle;
    let [sum, count] = wheels
        .iter()
        .filter(|wheel| wheel.axle == axle)
        .fold([Vec3::ZERO; 2], |[sum, count], wheel| [sum + wheel.contact, count + Vec3::ONE]);
    let velocity = state.velocity + state.angular_velocity.cross(state.rotation * (sum / count));
    f64::from(velocity.truncate().length() / state.angular_velocity.z.abs())
}

/// Steady circle: with the rear axle of the car on radius `R`, a hitch `c` behind it and a drawbar `L`, the trailer's
/// axle runs on √(R² + c² - L²). The articulation angle is atan(c / R) + atan(L / R_t).
#[test]
fn tracks_off_as_geometry_says() {
    let rows = [(1.0, 4.0, 14.491377, 19.244976), (0.0, 8.0, 12.688578, 32.230953), (-0.5, 4.0, 14.465476, 13.548058)];
    for solver in solvers() {
        for (behind, drawbar, trailer_radius, angle) in rows {
            let rig = Plane { hitch: FIRM.axles[1] + behind, drawbar, centre: drawbar - 0.1, ..FIRM };
            let mut world = train(&solver, &rig.models(), &Scene::flat(), 2.0, 240.0);
            // Steering is corrected until the rear axle runs on 15 m, because slightly slipping tyres need slightly
            // more.
            let mut steer = (2.7f32 / 15.0).atan();
            for step in 0..(40.0 * 240.0) as u32 {
                world.step(&[Controls { steer, ..Controls::coasting() }]);
                if step % 240 == 239 {
                    steer *= (radius(&*world, 0) / 15.0) as f32;
                }
            }
            let found = [radius(&*world, 1), f64::from(articulation(&*world, 1).abs()).to_degrees()];
            for (found, known) in found.into_iter().zip([trailer_radius, angle]) {
                assert!(
                    (found / known - 1.0).abs() < 5e-3,
                    "{}: c {behind}, L {drawbar}: {found} for {known}",
                    solver.name
                );
            }
        }
    }
}

/// Tractrix: for a hitch at the rear axle that moves straight by s, tan(φ / 2) decreases by e^(s / L) if the trailer
/// is pulled and grows by it if pushed.
#[test]
fn follows_a_tractrix() {
    let rig =
        Plane { hitch: FIRM.axles[1], mass: 20e3, inertia: 40e3, trailer_mass: 100.0, trailer_inertia: 200.0, ..FIRM };
    let rows = [
        (2.0f32, 60.0f32, [(1.0, 48.4213), (4.0, 23.9823), (8.0, 8.9356)]),
        (-2.0, 5.0, [(1.0, 6.4175), (2.0, 8.2346), (4.0, 13.5367)]),
    ];
    for solver in solvers() {
        for (speed, angle, known) in rows {
            let mut world = train(&solver, &rig.models(), &Scene::flat(), speed, 240.0);
            fold(&mut *world, angle.to_radians(), 4.0);
            let start = world.state(0).position;
            let (mut last, mut known) = ((0.0, f64::from(angle)), known.iter().peekable());
            while let Some((way, expected)) = known.peek().copied() {
                world.step(&[Controls::coasting()]);
                let gone = (world.state(0).position - start).length();
                let here = (gone, f64::from(articulation(&*world, 1)).to_degrees());
                if gone >= *way {
                    let share = (way - last.0) / (here.0 - last.0);
                    let found = last.1 + share * (here.1 - last.1);
                    assert!(
                        (found / expected - 1.0).abs() < 5e-3,
                        "{}: {found}° for {expected}° after {way} m",
                        solver.name
                    );
                    known.next();
                }
                last = here;
            }
        }
    }
}

/// Hitch load at rest, m g (L - d) / L.
#[test]
fn the_hitch_carries_what_the_wheels_do_not() {
    for solver in solvers() {
        for centre in [3.9, 3.7, 4.1] {
            let rig = Plane { centre, ..BASE };
            let mut world = train(&solver, &rig.models(), &Scene::flat(), 0.0, 120.0);
            for _ in 0..600 {
                // The brakes are released, because contact patches of locked wheels would carry part of the pitch
                // moment.
                world.step(&[]);
            }
            let known = rig.trailer_mass * GRAVITY * (rig.drawbar - centre) / rig.drawbar;
            let found = f64::from(world.state(1).tow.expect("towed").force.z);
            assert!((found - known).abs() < 1e-3 * known.abs(), "{}: {found} N for {known}", solver.name);
        }
    }
}

/// A trailer of negligible mass does not change the path of the car.
#[test]
fn a_massless_trailer_changes_nothing() {
    let rig = Plane { trailer_mass: 2e-3, trailer_inertia: 4e-3, trailer_stiffness: 0.1, ..BASE };
    for solver in solvers() {
        let models = rig.models();
        let mut towing = train(&solver, &models, &Scene::flat(), 20.0, 120.0);
        let mut alone = train(&solver, &models[..1], &Scene::flat(), 20.0, 120.0);
        let mut gone = 0.0;
        for step in 0..1200 {
            let steer = 0.03 * (step as f32 / 60.0).sin();
            for world in [&mut towing, &mut alone] {
                world.step(&[Controls { steer, ..Controls::coasting() }]);
            }
            gone += f64::from(alone.state(0).velocity.length()) / 120.0;
            let apart = (towing.state(0).position - alone.state(0).position).length();
            // The trailer has 1.3e-6 of the car's mass.
            assert!(apart <= 1e-5 * gone.max(1.0), "{}: {apart} m after {gone} m", solver.name);
        }
    }
}

/// Returns the linear momentum (N s) and the angular momentum about the origin (N m s) of all vehicles together.
fn momentum(world: &dyn Simulation) -> [DVec3; 2] {
    (0..world.slot_count()).fold([DVec3::ZERO; 2], |[linear, angular], car| {
        let (state, model) = (world.state(car), world.model(car));
        let axes = Mat3::from_quat(state.rotation);
        let own = (axes * (*model.inertia() * (axes.transpose() * state.angular_velocity))).as_dvec3();
        let impulse = state.velocity.as_dvec3() * f64::from(model.mass());
        [linear + impulse, angular + state.position.cross(impulse) + own]
    })
}

/// On ice without friction, a spinning rig conserves its horizontal linear momentum and its yaw momentum while it
/// folds.
#[test]
fn a_rig_on_ice_keeps_its_momentum() {
    let ice = Scene { grip: 0.0, ..Scene::flat() };
    for solver in solvers() {
        let mut world = train(&solver, &BASE.models(), &ice, 3.0, 240.0);
        let mut state = world.state(0).clone();
        state.angular_velocity = Vec3::Z * 0.5;
        world.set_state(0, &state).expect("it fits");
        // The first steps are left out: an impulse starts the trailer's rotation and leaves a gap.
        for _ in 0..60 {
            world.step(&[]);
        }
        let [linear, angular] = momentum(&*world);
        for _ in 0..1200 {
            world.step(&[]);
            let [now, turned] = momentum(&*world);
            let lost = (now - linear).truncate().length() / linear.length();
            assert!(lost < 1e-5, "{}: {lost} of the momentum", solver.name);
            // Scale of the angular momentum about the origin, from which the rig moves 15 m away. Positions are
            // within 1e-6 m, in 32-bit offsets.
            let lost = (turned.z - angular.z).abs() / (angular.z.abs() + 15.0 * linear.length());
            assert!(lost < 1e-4, "{}: {lost} of the angular momentum", solver.name);
            assert!(gap(&*world, 1) < 1e-4, "{}: a gap of {} m", solver.name, gap(&*world, 1));
        }
        let folded = articulation(&*world, 1).abs();
        assert!(folded > 0.2, "{}: it folds by {folded} rad", solver.name);
    }
}

/// Solvers agree within 1 % below the limit of friction.
#[test]
fn solvers_agree_on_trains() {
    let rigs = [
        (["toyota_4runner", "caravan"], 22.0),
        (["truck_6x4", "semitrailer"], 15.0),
        (["toyota_4runner", "wagon"], 20.0),
    ];
    for (names, speed) in rigs {
        let peaks = solvers().into_iter().map(|solver| {
            let mut world = train(&solver, &shipped(&names), &Scene::flat(), speed, 240.0);
            let mut peaks = [0.0f32; 4];
            for step in 0..1440 {
                let steer = 0.02 * (step as f32 / 240.0 * 2.0).sin();
                world.step(&[Controls { steer, ..Controls::coasting() }]);
                let found =
                    [world.state(0).angular_velocity.z, world.state(1).angular_velocity.z, articulation(&*world, 1)];
                for (peak, found) in peaks.iter_mut().zip(found) {
                    *peak = peak.max(found.abs());
                }
            }
            peaks[3] = world.state(1).velocity.length();
            (solver.name, peaks)
        });
        let peaks: Vec<(&str, [f32; 4])> = peaks.collect();
        for (name, found) in &peaks[1..] {
            for (found, first) in found.iter().zip(peaks[0].1) {
                assert!((found / first - 1.0).abs() < 0.01, "{names:?}: {name} {found}, {} {first}", peaks[0].0);
            }
        }
    }
}

/// The coupler load that `skidpad check` reports is the load in a train at rest, except for the different heights of
/// hitch and coupler.
#[test]
fn the_coupler_load_that_is_told_is_carried() {
    for names in [["toyota_4runner", "caravan"], ["truck_6x4", "semitrailer"]] {
        let models = shipped(&names);
        let told = |name: &str| {
            let list = skidpad::lab::closed_form::lists::car(&models[1]);
            list.into_iter().find(|figure| figure.name == name).and_then(|figure| figure.value).expect("told")
        };
        let (load, share) = (told("coupler_load_n"), told("coupler_share_percent"));
        assert!((load / f64::from(models[1].mass()) / GRAVITY * 100.0 / share - 1.0).abs() < 1e-3, "{names:?}");
        let mut world = train(&solvers()[0], &models, &Scene::flat(), 0.0, 240.0);
        for _ in 0..5 * 240 {
            world.step(&[Controls::parked()]);
        }
        let carried = f64::from(world.state(1).tow.expect("towed").force.z.abs());
        assert!((carried / load - 1.0).abs() < 0.02, "{names:?}: {carried} N, {load} told");
    }
}
