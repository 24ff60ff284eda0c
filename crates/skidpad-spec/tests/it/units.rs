//! Units: rev/min, degrees and ratios in the file are SI values in the model.

use skidpad_core::model::{
    BarForcePath, BrakeDisc, DamperKnee, HeaveSpring, LateralCompliance, LaunchDevice, Powertrain, RaycastReference,
    TorqueCoupling, TrailerBrakes, Tyre,
};
use skidpad_core::tyre::CurveLaw;
use skidpad_core::{Model, Vec3};
use skidpad_spec::VehicleSpec;
use std::sync::Arc;

fn model(name: &str) -> Arc<Model> {
    skidpad_spec::load(name).expect("shipped").model
}

#[track_caller]
fn close(rows: &[(&str, f32, f64)]) {
    for (what, found, expected) in rows {
        // The tolerance covers one rounding to f32, and a few more after a root or a product.
        let error = (f64::from(*found) - expected).abs();
        assert!(error <= 1e-6 * expected.abs(), "{what}: {found}, not {expected}");
    }
}

#[test]
fn the_corvette_in_si() {
    let model = model("corvette_c5");
    let parts = model.parts();
    let Powertrain::Engine(drive) = &parts.powertrain else { panic!("has an engine") };
    let LaunchDevice::Clutch(clutch) = &drive.launch_device else { panic!("has a clutch") };
    let (front, rear) = (&parts.wheels[0], &parts.wheels[2]);
    let front_mass = 1545.0 / 2.0 * (2.654 - 1.3) / 2.654;
    let critical = 2.0 * (28000.0f64 * front_mass).sqrt();
    close(&[
        ("lock", parts.steering.lock, 0.610_865_238_198_015),
        ("rate", parts.steering.rate, 1.047_197_551_196_597_7),
        ("idle", drive.engine.idle_speed, 73.303_828_583_761_84),
        ("limit", drive.engine.limiter_speed, 649.262_481_741_890_6),
        ("drag", drive.engine.drag[1], 8.0 / 104.719_755_119_659_77),
        ("first point", drive.engine.torque.points()[0][0], 104.719_755_119_659_77),
        ("up-shift", drive.gearbox.up_speed, 628.318_530_717_958_6),
        ("engaged", clutch.engaged_speed, 209.439_510_239_319_55),
        ("bump", front.strut.bump_damping, 0.30 * critical),
        ("rebound", front.strut.rebound_damping, 0.55 * critical),
        ("front brake", front.brake_torque, 7000.0 * 0.66 / 2.0),
        ("rear brake", rear.brake_torque, 7000.0 * 0.34 / 2.0),
        ("drag area", parts.aero.drag, 0.5 * 1.2 * 0.64),
        ("front axle ahead of the rear", parts.axles[0].turning_distance, 2.654),
        ("contact ahead", front.contact.x, 1.3),
        ("contact left", front.contact.y, 1.575 / 2.0),
        ("contact below", front.contact.z, -0.447),
        ("hull ahead", parts.hull.centre.x, 1.3 - 1.333),
        ("hull up", parts.hull.centre.z, 0.671 - 0.447),
        ("rise", front.rolling.quadratic, 4e-6),
    ]);
    assert_eq!(&*drive.torque_shares, [0.0, 0.0, 0.5, 0.5]);
    assert_eq!(parts.bars.len(), 2);
}

#[test]
fn hitches_in_si() {
    let hitch = model("truck_6x4").parts().hitch.expect("tows");
    close(&[
        ("hitch ahead", hitch.point.x, 2.30 - 4.6),
        ("hitch up", hitch.point.z, 1.25 - 1.17),
        ("roll rate", hitch.roll_rate, 1.5e6),
        ("roll damping", hitch.roll_damping, 20000.0),
        ("yaw friction", hitch.yaw_friction, 3000.0),
        ("largest yaw", hitch.largest_yaw, 1.658_062_789_394_613),
        ("largest pitch", hitch.largest_pitch, 0.261_799_387_799_149_4),
    ]);
    assert_eq!((hitch.yaw_damping, hitch.breaking_force), (0.0, f32::INFINITY));
    let coupler = model("caravan").parts().coupler.expect("is towed");
    close(&[("coupler ahead", coupler.point.x, -0.24 + 4.2), ("coupler up", coupler.point.z, 0.43 - 0.75)]);
    assert_eq!(coupler.brakes, TrailerBrakes::Overrun(1400.0));
    assert_eq!(model("semitrailer").parts().coupler.expect("is towed").brakes, TrailerBrakes::Pedal);
}

#[test]
fn bullet_numbers_are_true_units() {
    let model = model("bullet_reference");
    let parts = model.parts();
    let Tyre::Curve(tyre) = &parts.tyres[0] else { panic!("{:?}", parts.tyres[0]) };
    assert_eq!(tyre.law, CurveLaw::Coulomb { deflection: 0.005 });
    let strut = &parts.wheels[0].strut;
    close(&[
        ("stiffness per unit mass", strut.rate / 1500.0, 40.0),
        ("compression damping per unit mass", strut.bump_damping / 1500.0, 3.794_733_192),
        ("relaxation damping per unit mass", strut.rebound_damping / 1500.0, 6.324_555_32),
        ("engine force", 495.0 / parts.wheels[2].radius, 1500.0),
        ("brake force", parts.wheels[0].brake_torque / parts.wheels[0].radius, 3600.0),
        ("roll", parts.inertia.x_axis.x, 450.0),
        ("pitch", parts.inertia.y_axis.y, 2250.0),
        ("yaw", parts.inertia.z_axis.z, 2610.0),
    ]);
    assert_eq!(parts.hull.centre, Vec3::ZERO);
    assert_eq!(parts.raycast_reference, RaycastReference { roll_influence: 1.0, largest_suspension_force: 20e3 });
    assert_eq!(
        skidpad_spec::load("corvette_c5").expect("shipped").model.parts().raycast_reference,
        RaycastReference::default()
    );
}

/// Checks that nothing in the file disturbs the exact neutral steer: equal tyres on both axles, no toe, parallel steering.
#[test]
fn the_commonroad_car_is_neutral() {
    let model = model("bmw_320i_commonroad");
    let parts = model.parts();
    assert_eq!(parts.tyres.len(), 1);
    assert!(matches!(&parts.tyres[0], Tyre::Curve(tyre) if tyre.load_sensitivity == 0.0));
    assert!(parts.wheels.iter().all(|w| w.tyre == 0 && w.toe == 0.0 && w.rolling == Default::default()));
    assert!(parts.axles.iter().all(|axle| axle.ackermann == 0.0));
    assert_eq!(parts.aero, Default::default());
    close(&[
        ("front load", model.static_load(0), 1_093.295_233_467 * 9.81 * 1.422_717_093_6 / 2.578_912_8 / 2.0),
        ("lock", parts.steering.lock, 1.066),
        ("rate", parts.steering.rate, 0.4),
    ]);
}

#[test]
fn ride_frequency_is_of_the_mass_the_wheel_carries() {
    let mut spec = skidpad_spec::load("corvette_c5").expect("shipped").spec;
    spec.axles[1].suspension.rate_n_per_m = None;
    spec.axles[1].suspension.ride_frequency_hz = Some(1.5);
    let model = spec.compile().expect("valid");
    let share = 1545.0 / 2.0 * 1.3 / 2.654;
    let rate = share * (1.5 * std::f64::consts::TAU).powi(2);
    close(&[("rate", model.wheels()[2].strut.rate, rate)]);
}

/// Checks couplings between the wheels of an axle and between two axles. A preload is the difference of the torques of both sides.
#[test]
fn couplings_tie_wheels_and_axles() {
    let text = skidpad_spec::shipped::find("truck_6x4").expect("shipped");
    let couplings = "[[couplings]]\naxles = [3]\nlocked = true\n[[couplings]]\naxles = [2, 3]\npreload_nm = 80\n\
                     torque_bias_ratio_drive = 3\nviscous_nm_s_per_rad = 5\n[aero]";
    let text = text.replace("[aero]", couplings);
    let model = VehicleSpec::read("truck", &text).expect("valid").compile().expect("valid");
    let [across, between] = &model.parts().couplings[..] else { panic!("two couplings") };
    assert_eq!(*across, TorqueCoupling::locked([Box::from([4]), Box::from([5])]));
    let sides: [Box<[usize]>; 2] = [Box::from([2, 3]), Box::from([4, 5])];
    assert_eq!(*between, TorqueCoupling { sides, friction: 40.0, bias: [3.0; 2], viscous: 5.0 });
    assert_eq!(model.parts().axles[0].turning_distance, 4.78);
}

/// Checks the axis about which a car turns: at its unsteered axles, or where the ratios of all axles agree. Ratios of 1 and −0.4 on a
/// wheelbase of 3 m agree 2.143 m behind the front axle. A car with equal ratios of all axles moves obliquely on a straight line.
#[test]
fn axles_stand_from_the_axis_that_their_ratios_agree_on() {
    let text = skidpad_spec::shipped::find("corvette_c5").expect("shipped");
    let steered = |front: &str, rear: &str| {
        let text = text
            .replacen("behind_front_axle_m = 2.654", &format!("behind_front_axle_m = 3\n{rear}"), 1)
            .replacen("steer_ratio = 1\n", front, 1);
        let model = VehicleSpec::read("c5", &text).expect("readable").compile().expect("valid");
        [0, 1].map(|axle| model.parts().axles[axle].turning_distance)
    };
    close(&[("rear", steered("", "steer_ratio = -1")[1], -3.0), ("front", steered("", "steer_ratio = -1")[0], 0.0)]);
    let front = "steer_ratio = 1\n";
    let [ahead, behind] = steered(front, "steer_ratio = -0.4");
    close(&[("ahead", ahead, 3.0 / 1.4), ("behind", behind, -0.4 * 3.0 / 1.4)]);
    let [ahead, behind] = steered(front, "steer_ratio = 0.25");
    close(&[("ahead of both", ahead, 4.0), ("the same of the rear", behind, 1.0)]);
    let [ahead, behind] = steered(front, "steer_ratio = 1");
    assert!(ahead.abs() > 1000.0 && ahead.is_finite() && (ahead - behind).abs() < 3.001, "{ahead} {behind}");
}

/// Checks that a motor drives both wheels of an axle, or that each wheel has its own motor.
#[test]
fn motors_drive_axles_or_wheels() {
    let text = skidpad_spec::shipped::find("corvette_c5").expect("shipped");
    let given = "peak_torque_nm = 300\nlimit_rpm = 9549.296585513720\nreduction = 9";
    let motors = format!(
        "[[motors]]\naxle = 2\n{given}\npeak_power_w = 9e4\n[[motors]]\naxle = 1\neach_wheel = true\n{given}\n[aero]"
    );
    let model = VehicleSpec::read("hybrid", &text.replace("[aero]", &motors)).expect("valid").compile().expect("valid");
    let [rear, left, right] = &model.parts().motors[..] else { panic!("three motors") };
    assert_eq!([&*rear.wheels, &*left.wheels, &*right.wheels], [&[2, 3][..], &[0], &[1]]);
    close(&[("top speed", rear.max_speed, 1000.0), ("power", rear.power, 9e4), ("torque", left.peak_torque, 300.0)]);
    assert_eq!((left.power, left.efficiency, left.inertia), (f32::INFINITY, 1.0, 0.0));
}

/// Checks a torque converter with lock-up, a continuous gearbox, a throttle map and the stall speed of the engine.
#[test]
fn an_automatic_in_si() {
    let text = skidpad_spec::shipped::find("corvette_c5").expect("shipped");
    let clutch = "[powertrain.clutch]\ncapacity_nm = 700                  # estimate: 1.45 times the peak torque\nengaged_rpm = 2000                 # estimate\n";
    assert!(text.contains(clutch));
    let converter = "[powertrain.converter]\npoints = [\n{ speed_ratio = 0, capacity_nm_s2_per_rad2 = 0.004, torque_ratio = 2 },\n\
                     { speed_ratio = 1, capacity_nm_s2_per_rad2 = 0, torque_ratio = 1 }]\n\
                     lock_up = { capacity_nm = 600, turbine_rpm = 2000, lowest_gear = 2 }\n";
    let text = text
        .replace(clutch, converter)
        .replace("forward = [2.66, 1.78, 1.30, 1.00, 0.74, 0.50]", "forward = [2.66, 0.5]")
        .replace(
            "down_shift_rpm",
            "continuous = { closed_rpm = 1500, full_rpm = 5000, ratio_per_s = 1.5 }\ndown_shift_rpm",
        )
        .replace(
            "drag_nm = 20",
            "throttle_map = [{ pedal = 0, share = 0 }, { pedal = 1, share = 0.9 }]\nstall_rpm = 300\ndrag_nm = 20",
        );
    let spec = VehicleSpec::read("automatic", &text).unwrap_or_else(|faults| panic!("{}", faults.render()));
    let model = spec.compile().expect("valid");
    let drive = model.parts().powertrain.engine().expect("has an engine");
    let LaunchDevice::Converter(converter) = &drive.launch_device else { panic!("has a converter") };
    assert_eq!(converter.torques(250.0, 0.0), [250.0, 500.0]);
    let (lock_up, own) = (converter.lock_up.expect("has one"), drive.gearbox.cvt.expect("is continuous"));
    close(&[
        ("lock-up", lock_up.speed, 209.439_510_239_319_55),
        ("aim", own.target_speed(1.0), 523.598_775_598_298_9),
        ("stall", drive.engine.stall_speed, 31.415_926_535_897_93),
        ("map", drive.engine.throttle_opening(0.5), 0.45),
    ]);
    assert_eq!(
        (drive.gearbox.clamp_gear(6), own.max_ratio_rate, lock_up.capacity, lock_up.lowest_gear),
        (1, 1.5, 600.0, 2)
    );
}

/// Checks that a description changed in code is checked like a file, and that its faults have the paths of the keys of a file.
#[test]
fn a_changed_description_is_checked_again() {
    let mut spec = skidpad_spec::load("corvette_c5").expect("shipped").spec;
    spec.chassis.mass_kg = f64::NAN;
    spec.axles[0].tyre = "slick".into();
    let faults = spec.compile().expect_err("has faults");
    let paths: Vec<_> = faults.list().iter().map(|f| f.path.as_str()).collect();
    assert_eq!(paths, ["chassis.mass_kg", "axles[0].tyre"]);
}

/// Checks row B7: ½ · 0.30 · 2.2 m² · 1.29 kg/m³ is 0.4257 kg/m, as in the source.
#[test]
fn b7_drag_from_coefficient_area_and_air() {
    let text = skidpad_spec::shipped::find("corvette_c5").expect("shipped");
    let text = text
        .replace("drag_coefficient = 0.32", "drag_coefficient = 0.30")
        .replace("frontal_area_m2 = 2.0", "frontal_area_m2 = 2.2")
        .replace("air_density_kg_per_m3 = 1.2 ", "air_density_kg_per_m3 = 1.29 ");
    let car = skidpad_spec::LoadedVehicle::read("c5", &text).expect("valid");
    assert!((car.model.parts().aero.drag - 0.4257).abs() < 1e-6, "{}", car.model.parts().aero.drag);
}

#[test]
fn brake_discs_go_to_both_wheels_of_their_axle() {
    let text = include_str!("../../../../vehicles/corvette_c5.toml");
    let disc = "[axles.brake_disc]\nheat_capacity_j_per_k = 4600\ncooling_w_per_k = 15\ncooling_w_s_per_k_m = 2\n\
                fades_from_k = 350\nfades_to_k = 650\nmin_torque_factor = 0.6\n\n[axles.unsprung]";
    let spec = VehicleSpec::read("discs.toml", &text.replacen("[axles.unsprung]", disc, 1)).expect("readable");
    let wheels = spec.compile().expect("valid").wheels().to_vec();
    let expected =
        BrakeDisc { heat_capacity: 4600.0, cooling: [15.0, 2.0], fade_range: [350.0, 650.0], min_torque_factor: 0.6 };
    assert_eq!([wheels[0].disc, wheels[1].disc, wheels[2].disc], [Some(expected), Some(expected), None]);
}

/// Checks row B14: a tyre size instead of the radius.
#[test]
fn b14_a_tyre_size_gives_the_rolling_radius() {
    let text = include_str!("../../../../vehicles/corvette_c5.toml");
    let text = text.replace("wheel_radius_m = 0.331", "tyre_size = \"P275/40ZR-18\"");
    let spec = VehicleSpec::read("size.toml", &text).expect("readable");
    close(&[("radius", spec.compile().expect("valid").parts().wheels[2].radius, 0.97 * 0.3386)]);
}

/// Checks that the rolling radius of a Magic Formula tyre is that of its file under the load at rest. It is between the deflected
/// and the free radius.
#[test]
fn a_magic_formula_tyre_has_its_own_radius() {
    let text = skidpad_spec::shipped::find("corvette_c5_mf").expect("shipped");
    let lines = text.lines().filter(|line| !line.starts_with("wheel_radius_m")).map(|line| format!("{line}\n"));
    let car = skidpad_spec::LoadedVehicle::read("corvette_c5_mf", &lines.collect::<String>()).expect("valid").model;
    for (i, wheel) in car.wheels().iter().enumerate() {
        let told = car.tyre(i).rolling_radius(car.static_load(i)).expect("a Magic Formula");
        close(&[("radius", wheel.radius, f64::from(told))]);
        let free = if wheel.axle == 0 { 0.326 } else { 0.339 };
        let pressed = free - car.static_load(i) / 230e3;
        assert!((pressed..free).contains(&wheel.radius), "{} from {pressed} to {free}", wheel.radius);
    }
}

/// Checks row A6b: an anti-roll bar in newtons per metre, in newtons as in game scripts, and as a share of the roll stiffness.
#[test]
fn a6b_anti_roll_bars_come_in_three_units() {
    let text = include_str!("../../../../vehicles/corvette_c5.toml");
    let bar = |line: &str| {
        let text = text.replace("rate_n_per_m = 19000", line);
        let spec = VehicleSpec::read("bars.toml", &text).expect("readable");
        spec.compile().expect("valid").parts().bars[0]
    };
    close(&[
        ("newtons per metre", bar("rate_n_per_m = 19000").rate, 19e3),
        // The force is that over 0.07 m of bump and 0.09 m of droop.
        ("newtons", bar("full_travel_force_n = 5000").rate, 5000.0 / 0.16),
        ("as stiff as the springs", 2.0 * bar("roll_stiffness_share = 0.5").rate, 28e3),
    ]);
    let fading = bar("rate_n_per_m = 1, speed_range_mps = [5, 15], acts_on = \"chassis\"");
    assert_eq!((fading.speed_range, fading.force_path), ([5.0, 15.0], BarForcePath::External));
}

/// Checks row D3: the standing resistance of a file applies to every wheel.
#[test]
fn standing_resistance_is_every_wheels() {
    let text = skidpad_spec::shipped::find("corvette_c5").expect("shipped");
    let text = text.replace(
        "[rolling_resistance]",
        "[static_rolling_resistance]\ncoefficient = 0.03\nbelow_mps = 0.5\n\n[rolling_resistance]",
    );
    let car = skidpad_spec::LoadedVehicle::read("c5", &text).expect("valid");
    for wheel in car.model.wheels() {
        assert_eq!((wheel.rolling.static_coefficient, wheel.rolling.static_fade_speed), (0.03, 0.5));
        assert_eq!(wheel.rolling.coefficient(0.0), 0.03);
    }
}

/// Checks that the preload, the spring force at full droop, determines the droop travel of linear and of progressive springs. The
/// spring does not carry the unsprung mass.
#[test]
fn preload_says_where_full_droop_is() {
    let text = skidpad_spec::shipped::find("corvette_c5").expect("shipped");
    let strut = |lines: &str| {
        let text = text.replacen("droop_travel_m = 0.09", lines, 1);
        VehicleSpec::read("c5", &text).expect("readable").compile().expect("valid").wheels()[0].strut
    };
    let (carried, rate) = ((1545.0 / 2.0 * (2.654 - 1.3) / 2.654 - 40.0) * 9.81, 28e3);
    let linear = strut("preload_n = 1500");
    close(&[("droop", linear.droop_travel, (carried - 1500.0) / rate)]);
    let rising = strut("preload_n = 1500\nprogressive_rate_n_per_m2 = 90e3");
    let left = carried + rising.spring_force(-f64::from(rising.droop_travel));
    close(&[("rise", rising.progressive_rate, 90e3), ("left at droop", left as f32, 1500.0)]);
    assert!(rising.droop_travel > linear.droop_travel && rising.rate_at(-0.1) < rate);
    // The smallest force of this spring is 1530 N, at the deflection at which its rate is 0.
    let never = text.replacen("droop_travel_m = 0.09", "preload_n = 1500\nprogressive_rate_n_per_m2 = 212e3", 1);
    let faults = VehicleSpec::read("c5", &never).expect_err("the spring never gives as little");
    assert_eq!(faults.list()[0].path, "axles[0].suspension.preload_n");
}

#[test]
fn heave_springs_belong_to_axles() {
    let text = skidpad_spec::shipped::find("corvette_c5").expect("shipped");
    let text = text.replacen(
        "handbrake_torque_nm",
        "heave_spring = { rate_n_per_m = 30e3, damping_n_s_per_m = 900 }\nhandbrake_torque_nm",
        1,
    );
    let model = VehicleSpec::read("c5", &text).expect("readable").compile().expect("valid");
    assert_eq!(model.parts().heave_springs, [HeaveSpring { wheels: [2, 3], rate: 30e3, damping: 900.0 }]);
}

#[test]
fn links_turn_wheels_by_degrees_per_metre() {
    let text = skidpad_spec::shipped::find("corvette_c5").expect("shipped");
    let lines = "kinematics = { toe_deg_per_m = 4, camber_deg_per_m2 = -90 }\nsolid_axle = true\nforce_application_height_m = 0.1\nackermann";
    let model =
        VehicleSpec::read("c5", &text.replacen("ackermann", lines, 1)).expect("readable").compile().expect("valid");
    let [front, rear] = &model.parts().axles[..] else { panic!("two axles") };
    let links = front.toe_camber.expect("stated");
    close(&[
        ("toe", links.toe[0], 0.069_813_170_079_773_18),
        ("camber", links.camber[1], -std::f64::consts::FRAC_PI_2),
        ("point", front.force_point_height, 0.1),
    ]);
    assert_eq!((links.toe[1], links.camber[0], rear.toe_camber, rear.force_point_height), (0.0, 0.0, None, 0.0));
    assert!(front.solid && !rear.solid);
}

#[test]
fn roll_centres_are_metres_above_the_ground() {
    let text = skidpad_spec::shipped::find("corvette_c5").expect("shipped");
    let raised = text.replacen("ackermann", "roll_centre_height_m = -0.05\nackermann", 1);
    let model = VehicleSpec::read("c5", &raised).expect("readable").compile().expect("valid");
    let heights: Vec<f32> = model.parts().axles.iter().map(|axle| axle.roll_centre_height).collect();
    assert_eq!(heights, [-0.05, 0.0]);
    // In jounce left wheels move inwards, per metre by the height of the roll centre over half the track of 1.575 m.
    assert!((model.link_slope(0) + 0.05 / 0.7875).abs() < 1e-6 && model.link_slope(0) == -model.link_slope(1));
}

#[test]
fn axles_give_way_by_the_rate_of_all_their_wheels() {
    let text = skidpad_spec::shipped::find("corvette_c5").expect("shipped");
    let given = "lateral_compliance = { lateral_stiffness_n_per_m = 175000, damping_n_s_per_m = 10000 }\nackermann";
    let model =
        VehicleSpec::read("c5", &text.replacen("ackermann", given, 1)).expect("readable").compile().expect("valid");
    let found: Vec<_> = model.parts().axles.iter().map(|axle| axle.lateral_compliance).collect();
    assert_eq!(found, [Some(LateralCompliance { rate: 175e3, damping: 10e3 }), None]);
}

#[test]
fn steering_linkages_yield_by_the_stiffness_of_each_wheel() {
    let text = skidpad_spec::shipped::find("honda_civic_2016").expect("shipped");
    let compliance = |given: &str| {
        let text = text.replacen("[steering.kingpin]", &format!("{given}\n[steering.kingpin]"), 1);
        VehicleSpec::read("civic", &text).expect("readable").compile().expect("valid").parts().steering.compliance
    };
    assert_eq!(compliance(""), None);
    let found = compliance("[steering.compliance]\nstiffness_nm_per_deg = 314.159_265").expect("given");
    // 100 π N m per degree are 18,000 N m/rad.
    assert!((found.stiffness / 18e3 - 1.0).abs() < 1e-6 && found.time_constant == 0.01, "{found:?}");
}

#[test]
fn dampers_have_the_knees_of_the_file() {
    let text = skidpad_spec::shipped::find("corvette_c5").expect("shipped");
    let text = text.replacen(
        "rebound_damping_ratio = 0.55",
        "bump_blow_off = { speed_mps = 0.1, slope_ratio = 0.4 }\nrebound_damping_ratio = 0.55",
        1,
    );
    let car = skidpad_spec::LoadedVehicle::read("c5", &text).expect("valid");
    let knees = |i: usize| car.model.wheels()[i].strut.knees;
    assert_eq!(knees(0), [DamperKnee { speed: 0.1, fast_ratio: 0.4 }, DamperKnee::default()]);
    assert_eq!(knees(2), [DamperKnee::default(); 2]);
}

/// A right-hand tyre file mounted `as_measured` is the tyre of the same file marked as left: no wheel mirrors it. Mirrored sides differ,
/// because the right wheels have the tyre of the file then.
#[test]
fn as_measured_mounts_the_tyre_of_either_side() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let shipped = skidpad_spec::tir::find("opentire_235_60r16").expect("shipped");
    let tyres = |side: &str, sides: &str| {
        let tyre = shipped.replace("TYRESIDE='LEFT'", &format!("TYRESIDE='{side}'"));
        std::fs::write(folder.path().join("measured.tir"), tyre).expect("writable");
        let tyre =
            format!("[tyres.measured]\nmodel = \"magic_formula\"\nfile = \"measured.tir\"\nsides = \"{sides}\"\n");
        let text = include_str!("../../../../vehicles/corvette_c5.toml");
        let text: String = text
            .lines()
            .map(|line| if line.starts_with("tyre = ") { "tyre = \"measured\"\n".into() } else { format!("{line}\n") })
            .collect();
        let path = folder.path().join("car.toml");
        std::fs::write(&path, format!("{text}\n{tyre}")).expect("writable");
        let model = match skidpad_spec::load(&path.to_string_lossy()) {
            Ok(car) => car.model,
            Err(error) => panic!("{error}"),
        };
        let mirrored: Vec<bool> = model.parts().wheels.iter().map(|wheel| wheel.mirrored).collect();
        (format!("{:?}", model.parts().tyres), mirrored)
    };
    let left = tyres("LEFT", "as_measured");
    assert_eq!(tyres("RIGHT", "as_measured"), left);
    assert_eq!(left.1, [false; 4]);
    let mirrored = tyres("RIGHT", "mirrored");
    assert_eq!(mirrored.1, [false, true, false, true]);
    assert_ne!(mirrored.0, left.0);
}
