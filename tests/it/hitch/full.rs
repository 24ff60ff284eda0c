//! Full trailers in one file: a drawbar with a steered axle (dolly), and the trailer on its turntable.

use super::rigs::{BASE, LOW, Plane, articulation, axle, chassis, model, shipped, train, tyre};
use crate::common::{GRAVITY, on_rows, solvers};
use skidpad::core::{Controls, Model, Scene, Simulation, Vec3};
use skidpad::spec::{LoadedVehicle, shipped as files};
use std::sync::Arc;

/// A full trailer of negligible height.
#[derive(Clone, Copy, Debug)]
struct Full {
    /// Mass of the dolly and of the trailer (kg).
    masses: [f64; 2],
    /// Distance of the eye from the dolly's axle, and of the turntable from the trailer's axle (m).
    lengths: [f64; 2],
    /// Position of the turntable behind the axle of the dolly (m).
    turntable: f64,
    /// Keys of the brake actuation of both units, as in vehicle files.
    brakes: [&'static str; 2],
}

const FULL: Full = Full {
    masses: [400.0, 1600.0],
    lengths: [2.0, 3.0],
    turntable: 0.0,
    brakes: ["", "brakes = { model = \"pedal\" }"],
};

impl Full {
    /// Returns the text of the vehicle file.
    fn text(&self) -> String {
        let ([front, mass], [drawbar, wheelbase], [by_dolly, by_coupler]) = (self.masses, self.lengths, self.brakes);
        let dolly = chassis(front, 0.5 * front, -0.1, 1.0) + &axle(0.0, 0.0, "firm", front + 0.5 * mass);
        let dolly = dolly.replace("[chassis.", "[dolly.chassis.").replace("axles", "dolly.axles");
        format!(
            "name = \"full\"\n[chassis]\nmass_kg = {mass}\ncentre_behind_front_axle_m = {}\ncentre_above_ground_m = {LOW}\n\
             {}{}{}[powertrain]\nmodel = \"none\"\n\
             [coupler]\nbehind_front_axle_m = {}\nabove_ground_m = {LOW}\n{by_coupler}\n\
             [dolly]\ndrawbar_length_m = {drawbar}\neye_above_ground_m = {LOW}\n{by_dolly}\n\
             [dolly.turntable]\nbehind_front_axle_m = {}\nroll_rate_n_m_per_rad = 1e5\n\
             [dolly.chassis]\nmass_kg = {front}\ncentre_behind_front_axle_m = -0.1\ncentre_above_ground_m = {LOW}\n{dolly}",
            -0.5 * wheelbase,
            chassis(mass, mass, -0.5 * wheelbase, 1.0),
            axle(0.0, 0.0, "firm", mass),
            tyre("firm", 2e6, 1e4),
            -wheelbase,
            self.turntable,
        )
    }

    /// Returns the models of the car of `rig`, the dolly and the trailer.
    fn behind(&self, rig: &Plane) -> Vec<Arc<Model>> {
        let loaded =
            LoadedVehicle::read("full.toml", &self.text()).unwrap_or_else(|faults| panic!("{}", faults.render()));
        let [car, _] = rig.models();
        [car].into_iter().chain(loaded.vehicle_units().cloned()).collect()
    }
}

/// Returns the wagon of two files: the dolly, whose hitch has the mass that rests on it by statics, and the trailer
/// without its dolly.
fn wagon_of_two_files() -> Vec<Arc<Model>> {
    let text = files::find("wagon").expect("shipped");
    let (trailer, dolly) = text.split_once("[dolly]\n").expect("a full trailer");
    let shared =
        trailer.split_once("[tyres.trailer]").expect("tyres").1.split_once("[aero]").expect("the end of them").0;
    let own = dolly.split_once("[dolly.chassis]").expect("its chassis").1.replace("dolly.", "");
    let units = shipped(&["wagon"]);
    let carried = units[0].parts().hitch.expect("it tows").carried_mass;
    let known = 1750.0 * 1.25 / 2.6;
    // Load shares of an axle and a coupler come from an inverse regularised by 1e-12.
    assert!((f64::from(carried) / known - 1.0).abs() < 1e-6, "{carried} kg for {known}");
    let dolly = format!(
        "name = \"dolly\"\n[chassis]{own}\n[tyres.trailer]{shared}\n\
         [coupler]\nbehind_front_axle_m = -1.9\nabove_ground_m = 0.45\nbrakes = {{ model = \"overrun\", full_brake_n = 2000 }}\n\
         [hitch]\nbehind_front_axle_m = 0\nabove_ground_m = 0.62\nroll_rate_n_m_per_rad = 5e5\nroll_damping_n_m_s_per_rad = 2000\n\
         yaw_friction_nm = 60\nmax_yaw_deg = 75\nmax_pitch_deg = 15\ncarried_mass_kg = {}\n",
        f64::from(carried)
    );
    vec![model(&dolly), model(trailer)]
}

#[test]
fn one_file_is_two_files_bit_for_bit() {
    let (one, two) = (shipped(&["wagon"]), wagon_of_two_files());
    assert_eq!(one, two);
    for solver in on_rows() {
        let ends = [one.clone(), two.clone()].map(|behind| {
            let models: Vec<_> = shipped(&["toyota_4runner"]).into_iter().chain(behind).collect();
            let mut world = train(&solver, &models, &Scene::flat(), 15.0, 120.0);
            for step in 0..360 {
                let brake = if step > 240 { 0.3 } else { 0.0 };
                world.step(&[Controls { steer: 0.05 * (step as f32 / 40.0).sin(), brake, ..Controls::coasting() }]);
            }
            (0..3).map(|unit| world.state(unit).to_bytes()).collect::<Vec<_>>()
        });
        assert!(ends[0] == ends[1], "{}", solver.name);
    }
}

/// Returns the radius of the path of the middle of the last axle of `unit` (m).
fn radius(world: &dyn Simulation, unit: usize) -> f64 {
    let (state, wheels) = (world.state(unit), world.model(unit).wheels());
    let last = &wheels[wheels.len() - 2..];
    let middle: Vec3 = 0.5 * (last[0].contact + last[1].contact);
    let velocity = state.velocity + state.angular_velocity.cross(state.rotation * middle);
    f64::from(velocity.truncate().length() / state.angular_velocity.z.abs())
}

/// Steady circle: an axle l behind a hitch, which is a behind the axle before, runs on R² = R_before² + a² - l². The
/// articulation angle is atan(a / R_before) + atan(l / R).
#[test]
fn tracks_off_as_geometry_says() {
    let firm = Plane { firm: 20.0, hitch: BASE.axles[1] + 1.0, ..BASE };
    for solver in solvers() {
        for (lengths, turntable) in [([2.0, 3.0], 0.0), ([1.8, 4.0], 0.3), ([2.5, 5.0], -0.4)] {
            let models = Full { lengths, turntable, ..FULL }.behind(&firm);
            let mut world = train(&solver, &models, &Scene::flat(), 2.0, 240.0);
            let mut steer = (2.7f32 / 15.0).atan();
            for step in 0..(40.0 * 240.0) as u32 {
                world.step(&[Controls { steer, ..Controls::coasting() }]);
                if step % 240 == 239 {
                    // Slightly slipping tyres need slightly more steering.
                    steer *= (radius(&*world, 0) / 15.0) as f32;
                }
            }
            let mut before = 15.0f64;
            for (unit, (behind, length)) in [1, 2].into_iter().zip([1.0, turntable].into_iter().zip(lengths)) {
                let known = (before * before + behind * behind - length * length).sqrt();
                let angle = (behind / before).atan() + (length / known).atan();
                let found = [radius(&*world, unit), f64::from(articulation(&*world, unit).abs())];
                for (found, known) in found.into_iter().zip([known, angle]) {
                    let error = (found / known - 1.0).abs();
                    assert!(error < 5e-3, "{} {lengths:?} {turntable}, unit {unit}: {found} for {known}", solver.name);
                }
                before = known;
            }
        }
    }
}

/// Wheel and hitch loads of the wagon at rest by equilibrium of moments. The springs of the trailer keep their
/// described compression, except for the effect of the car's compression.
#[test]
fn wheels_carry_what_statics_says() {
    let on_turntable = 1750.0 * 1.25 / 2.6;
    let on_eye = 250.0 * 0.25 / 1.9;
    let known = [0.5 * (250.0 - on_eye + on_turntable), 0.5 * (1750.0 - on_turntable)].map(|mass| mass * GRAVITY);
    for solver in solvers() {
        let models = shipped(&["toyota_4runner", "wagon"]);
        let mut world = train(&solver, &models, &Scene::flat(), 0.0, 120.0);
        let begins: Vec<f64> = (1..3).map(|unit| world.state(unit).position.z).collect();
        for _ in 0..600 {
            // The brakes are released, because contact patches of locked wheels would carry part of the pitch moment.
            world.step(&[]);
        }
        for (unit, known) in [1, 2].into_iter().zip(known) {
            let described = f64::from(world.model(unit).static_load(0));
            assert!((described / known - 1.0).abs() < 1e-5, "unit {unit}: {described} N described");
            for wheel in world.frame(unit).wheels {
                let error = (wheel.load_n / known - 1.0).abs();
                assert!(error < 1e-3, "{} unit {unit}: {} N for {known}", solver.name, wheel.load_n);
                assert!(wheel.compression_m.abs() < 1e-3, "{} unit {unit}: {} m", solver.name, wheel.compression_m);
            }
            let sunk = (world.state(unit).position.z - begins[unit - 1]).abs();
            assert!(sunk < 1e-4, "{} unit {unit}: sinks by {sunk} m", solver.name);
        }
        let carried = [1, 2].map(|unit| f64::from(world.state(unit).tow.expect("towed").force.z));
        assert!((carried[1] / (on_turntable * GRAVITY) - 1.0).abs() < 1e-3, "{}: {carried:?}", solver.name);
        // The compression of the car's springs pitches the dolly, which moves the turntable relative to the wheels.
        assert!((carried[0] / (on_eye * GRAVITY) - 1.0).abs() < 0.05, "{}: {carried:?}", solver.name);
    }
}

/// Load of the eye by equilibrium of moments about the axle of the dolly, with the turntable on, behind and ahead of
/// that axle.
#[test]
fn the_eye_carries_what_statics_says() {
    for solver in solvers() {
        for turntable in [0.0, 0.1, -0.1] {
            let full = Full { turntable, ..FULL };
            let mut world = train(&solver, &full.behind(&BASE), &Scene::flat(), 0.0, 120.0);
            for _ in 0..600 {
                world.step(&[]);
            }
            let ([dolly, trailer], [drawbar, _]) = (full.masses, full.lengths);
            let on_turntable = 0.5 * trailer * GRAVITY;
            let on_eye = (dolly * GRAVITY * 0.1 - on_turntable * turntable) / drawbar;
            for (unit, known) in [(1, on_eye), (2, on_turntable)] {
                let found = f64::from(world.state(unit).tow.expect("towed").force.z);
                let error = (found - known).abs();
                assert!(error < 1e-3 * on_eye.abs(), "{} {turntable} unit {unit}: {found} N for {known}", solver.name);
            }
        }
    }
}

/// The car's pedals also actuate the brakes of the trailer behind the dolly. With brake forces B and masses m of the
/// three units, the deceleration is a = Σ B / Σ m, and the turntable carries m_t a - B_t.
#[test]
fn pedals_reach_the_trailer_behind_the_dolly() {
    const PEDAL: f32 = 0.1;
    let masses = [BASE.mass, 400.0, 1600.0];
    let forces = [8.0 * BASE.mass, 4.0 * 1200.0, 4.0 * 1600.0].map(|torque| f64::from(PEDAL) * torque / 0.3);
    let slowed = forces.iter().sum::<f64>() / masses.iter().sum::<f64>();
    let pushed = masses[2] * slowed - forces[2];
    let models = Full { brakes: ["brakes = { model = \"pedal\" }", FULL.brakes[1]], ..FULL }.behind(&BASE);
    for solver in solvers() {
        for (brake, handbrake) in [(PEDAL, 0.0), (0.0, PEDAL)] {
            let mut world = train(&solver, &models, &Scene::flat(), 25.0, 240.0);
            // Means over the second half, because a step leaves 5e-5 m/s at the hitches, which is 19 N with these
            // masses.
            let (mut speeds, mut by_turntable) = ([0.0; 2], 0.0);
            for speed in &mut speeds {
                by_turntable = 0.0;
                for _ in 0..480 {
                    world.step(&[Controls { brake, handbrake, ..Controls::coasting() }]);
                    by_turntable -= f64::from(world.state(2).tow.expect("towed").force.x) / 480.0;
                }
                *speed = f64::from(world.state(2).velocity.x);
            }
            let found = 0.5 * (speeds[0] - speeds[1]);
            let told = format!("{} {found} m/s² for {slowed}, {by_turntable} N for {pushed}", solver.name);
            // The spin inertia of the wheels, 4e-4 of the mass, is not in these equations.
            assert!((found / slowed - 1.0).abs() < 1e-3, "{told}");
            // Rapier's joint and 32-bit positions have larger errors than the rows.
            let most = if solver.name == "rapier" { 5e-3 } else { 1e-3 };
            assert!((by_turntable - pushed).abs() < most * masses[2] * slowed, "{told}");
        }
    }
}

/// The overrun brake of the dolly actuates the brakes of the trailer behind it equally, so that their forces have the
/// ratio of the brake torques.
#[test]
fn the_overrun_brake_reaches_the_trailer_behind_the_dolly() {
    let by_force = "brakes = { model = \"overrun\", full_brake_n = 40000 }";
    let models = Full { brakes: [by_force, FULL.brakes[1]], ..FULL }.behind(&BASE);
    for solver in solvers() {
        let mut world = train(&solver, &models, &Scene::flat(), 25.0, 240.0);
        let mut forces = [0.0; 2];
        for _ in 0..480 {
            world.step(&[Controls { brake: 0.1, ..Controls::coasting() }]);
            for (unit, force) in [1, 2].into_iter().zip(&mut forces) {
                *force -= world.frame(unit).wheels[0].fx_n / 480.0;
            }
        }
        let [dolly, trailer] = forces;
        assert!(dolly > 100.0, "{}: {dolly} N", solver.name);
        assert!((trailer / dolly / (1600.0 / 1200.0) - 1.0).abs() < 2e-3, "{}: {trailer} N, {dolly} N", solver.name);
    }
}
