//! Tests of the open-loop table: rules between rows, and faults.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::*;
use crate::run::{TimeStep, simulate};
use crate::testing::{POINT_MASS, model};

/// Returns the controls of the table `text` for the test car in step number `step` (from 0) of `dt_s` s, without those
/// of the speed controller.
fn controls(text: &str, dt_s: f64, step: u64) -> Controls {
    let model = model();
    let script = Script::parse(text, &model).expect("a valid table");
    let frame = Frame { wheels: vec![Default::default(); 4], ..Frame::default() };
    script.controls(&DriverInput { step, dt_s, model: &model, frame: &frame })
}

/// Throttle, gear and motor torque have the values of the last row at or before the start of the step. Clutch and wheel
/// angle without a column are `None`.
#[test]
fn pedals_gear_and_torques_are_held_from_the_start_of_the_step() {
    let text = "t_s,throttle,gear,motor_torque_nm.2l\n0,0.2,1,10\n0.5,0.8,1,-20\n1,0.1,0,0\n";
    for (step, throttle, gear, torque) in [(0, 0.2, 1, 10.0), (4, 0.2, 1, 10.0), (5, 0.8, 1, -20.0), (10, 0.1, 0, 0.0)]
    {
        let now = controls(text, 0.1, step);
        assert_eq!((now.throttle, now.gear, now.wheels[2].motor_torque), (throttle, Some(gear), torque), "step {step}");
        assert_eq!((now.clutch, now.wheels[2].steer), (None, None));
    }
}

/// Steering of the car and of one wheel is interpolated at the end of the step, across empty cells, and constant after
/// the last row. A wheel without a column has no angle.
#[test]
fn steering_is_linear_and_taken_at_the_end_of_the_step() {
    let text = "t_s,steer_rad,steer_rad.1r\n0,0,0.1\n1,0.4,\n2,0.4,0.3\n";
    for (step, steer, wheel) in [(0, 0.04, 0.11), (4, 0.2, 0.15), (9, 0.4, 0.2), (14, 0.4, 0.25), (40, 0.4, 0.3)] {
        let now = controls(text, 0.1, step);
        assert!((now.steer - steer).abs() < 1e-6, "step {step}: {}", now.steer);
        assert!((now.wheels[1].steer.expect("named") - wheel).abs() < 1e-6, "step {step}: {:?}", now.wheels);
        assert_eq!(now.wheels[0].steer, None);
    }
}

/// An empty cell holds the previous value; before its first value an input has this value. A table without wheel
/// columns and target speed has no wheel controls.
#[test]
fn empty_cells_hold_and_a_first_value_counts_from_the_start() {
    let text = "t_s,brake,clutch\n0,,\n0.1,0.5,\n0.2,,1\n0.3,0,\n";
    for (step, brake, clutch) in [(0, 0.5, 1.0), (1, 0.5, 1.0), (2, 0.5, 1.0), (3, 0.0, 1.0)] {
        let now = controls(text, 0.1, step);
        assert_eq!((now.brake, now.clutch), (brake, Some(clutch)), "step {step}");
    }
    assert!(controls(text, 0.1, 0).wheels.is_empty());
}

/// A table with a byte order mark, spaces, quotes, a comment and Windows line ends is valid and has the expected end
/// and no gear.
#[test]
fn white_space_byte_order_marks_comments_and_line_ends_do_not_matter() {
    let text = "\u{feff}t_s , throttle\r\n# a comment\r\n0, 0.5\r\n\"1\" ,1\r\n";
    let script = Script::parse(text, &model()).expect("a valid table");
    assert_eq!((script.end_s(), script.first_gear()), (1.0, None));
}

/// All faults of a table are returned in order, with line, column and the range of bytes of the found text. An unknown
/// column suggests a similar name. The message names place, found and accepted text.
#[test]
fn every_fault_is_told_at_once_with_its_place() {
    let text = "t_s,throtle,brake,gear,motor_torque_nm.3l,brake\n0,1,0.5,1,0,0\n1,1,1.5,2,0,0\n0.5,1,x,1.5,0,0\n2,1\n,1,-1,,0,0\n";
    let Faults(faults) = Script::parse(text, &model()).expect_err("faulty");
    let told: Vec<(u64, &str, &str)> =
        faults.iter().map(|f| (f.line, f.column.as_str(), &text[f.span.clone()])).collect();
    let expected = [
        (1, "throtle", "throtle"),
        (1, "motor_torque_nm.3l", "motor_torque_nm.3l"),
        (1, "brake", "brake"),
        (3, "brake", "1.5"),
        (3, "gear", "2"),
        (4, "t_s", "0.5"),
        (4, "brake", "x"),
        (4, "gear", "1.5"),
        (5, "-", "2,1"),
        (6, "t_s", ""),
        (6, "brake", "-1"),
    ];
    assert_eq!(told, expected);
    assert!(faults[0].accepts.contains("`throttle`"), "{}", faults[0]);
    assert_eq!(faults[3].to_string(), "line 3, column `brake`: found `1.5`, accepts a number from 0 to 1");
}

/// An empty text, a table without the time column and a table without rows have faults.
#[test]
fn a_table_without_time_or_rows_is_refused() {
    for text in ["", "throttle\n1\n", "t_s,throttle\n"] {
        assert!(Script::parse(text, &model()).is_err(), "{text:?}");
    }
}

/// A run with a target speed reaches it within 0.01 m/s and ends at the time of the last row. The measured distance is
/// that of a straight path.
#[test]
fn a_target_speed_engages_the_holder_and_the_run_ends_at_the_last_row() {
    let (model, dt) = (Arc::new(model()), TimeStep::from_rate_hz(60.0).expect("valid"));
    let script = Script::parse("t_s,target_speed_mps\n0,12\n30,12\n", &model).expect("a valid table");
    let mut driver = script.driver(&model);
    let run =
        simulate(
            &POINT_MASS,
            &model,
            &script.setup(&model),
            driver.as_mut(),
            dt,
            &mut |_, _| ControlFlow::Continue(()),
        );
    assert_eq!(run.last().t_s, 30.0);
    assert!((run.last().vx_mps - 12.0).abs() < 0.01, "{}", run.last().vx_mps);
    let found = script.measure(&run);
    assert!((found.distance_m.expect("known") - run.last().x_m).abs() < 1e-6);
}

/// A target speed is held for 10 s and then released: the car is braked by the table from there on, and a table without
/// further target speed does not accelerate it again. Cruise control accepts `off` as well, other columns do not.
#[test]
fn a_target_speed_is_released_within_a_table() {
    let (model, dt) = (Arc::new(model()), TimeStep::from_rate_hz(60.0).expect("valid"));
    let script = Script::parse("t_s,target_speed_mps,brake\n0,12,0\n10,off,0.5\n20,,\n", &model).expect("valid");
    let run = simulate(&POINT_MASS, &model, &script.setup(&model), script.driver(&model).as_mut(), dt, &mut |_, _| {
        ControlFlow::Continue(())
    });
    let speed_at = |time: f64| run.interpolate_at(time, |frame| frame.vx_mps);
    assert!((speed_at(10.0) - 12.0).abs() < 0.05, "{}", speed_at(10.0));
    assert!(speed_at(10.5) < 11.0 && run.last().vx_mps.abs() < 0.01, "{} {}", speed_at(10.5), run.last().vx_mps);
    assert!(Script::parse("t_s,cruise_mps\n0,20\n5,off\n", &model).is_ok());
    assert!(Script::parse("t_s,throttle\n0,off\n", &model).is_err());
}

/// The shipped lane change is valid for the test car and ends at 7 s. The shipped launch has faults only in the gear
/// column, because it uses more gears.
#[test]
fn shipped_tables_are_valid() {
    let one_gear = include_str!("../../../../scenes/lane_change.csv");
    assert_eq!(Script::parse(one_gear, &model()).map(|s| s.end_s()), Ok(7.0));
    // The test car has one gear, so a table that shifts has faults in that column only.
    let shifting = include_str!("../../../../scenes/launch_and_stop.csv");
    let Faults(faults) = Script::parse(shifting, &model()).expect_err("more gears than the test car has");
    assert!(faults.iter().all(|fault| fault.column == "gear"), "{faults:?}");
}

/// A table with a column for each of [`COLUMN_DESCRIPTIONS`] is valid, and there are as many descriptions as kinds of
/// columns.
#[test]
fn every_column_is_told() {
    let header = COLUMN_DESCRIPTIONS.map(|[name, ..]| name).join(",");
    Script::parse(&format!("{header}\n{}\n", ["0"; COLUMN_DESCRIPTIONS.len()].join(",")), &model())
        .expect("columns of a table");
    assert_eq!(COLUMN_DESCRIPTIONS.len(), parse::CAR_COLUMNS.len() + parse::WHEEL_COLUMNS.len());
}

/// A road-wheel angle of a right angle is accepted, a larger one is not.
#[test]
fn an_angle_beyond_a_right_angle_is_refused() {
    for column in ["steer_rad", "steer_rad.1l"] {
        let now = controls(&format!("t_s,{column}\n0,1.57079632\n"), 0.1, 0);
        let found = now.wheels.first().and_then(|wheel| wheel.steer).unwrap_or(now.steer);
        assert_eq!(found, core::f32::consts::FRAC_PI_2, "{column}");
        let Faults(faults) = Script::parse(&format!("t_s,{column}\n0,-1.571\n"), &model()).expect_err("too much");
        assert_eq!((faults.len(), faults[0].line), (1, 2), "{column}: {faults:?}");
    }
}

/// A fault shows the beginning of a long name or value.
#[test]
fn long_names_and_values_are_cut() {
    let long = "x".repeat(1_000_000);
    for text in [format!("t_s,{long}\n0,1\n"), format!("t_s,throttle\n0,{long}\n")] {
        let told = Script::parse(&text, &model()).expect_err("has faults").to_string();
        assert!(told.contains("xxx…") && told.len() < 2000, "{} bytes", told.len());
    }
}
