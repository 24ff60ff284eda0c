//! Rules of powertrain, motors and couplings.

use core::iter;

use super::{NO_HELP, NO_OTHER_KEYS, RuleChecker};
use crate::spec::{Clutch, Converter, Differential, Engine, Gearbox, PedalPoint, Powertrain};

/// Path of the speed of up-shifts at light throttle.
const EASY_UP_SHIFT_PATH: &str = "powertrain.gearbox.light_throttle_up_shift_rpm";
/// Path of the kick-down speed.
const KICK_DOWN_PATH: &str = "powertrain.gearbox.kick_down_rpm";

impl RuleChecker<'_> {
    /// Checks the parts of the powertrain; does nothing without one. Direct drive needs one torque for each axle. An
    /// engine needs exactly one of clutch and converter; then engine, throttle map, converter, gearbox and differential
    /// are checked.
    pub fn check_powertrain(&mut self) {
        let spec = self.spec;
        match &spec.powertrain {
            Powertrain::None {} => {}
            Powertrain::Direct { wheel_torque_nm } => {
                self.check_one_per_axle("powertrain.wheel_torque_nm", wheel_torque_nm.len());
            }
            Powertrain::Engine { engine, clutch, converter, gearbox, differential } => {
                let (clutch_key, converter_key) = (("clutch", clutch.is_some()), ("converter", converter.is_some()));
                self.require_exactly_one("powertrain", clutch_key, converter_key);
                self.check_engine(engine, clutch.as_ref());
                self.check_throttle_map(&engine.throttle_map);
                if let Some(converter) = converter {
                    self.check_converter(converter);
                }
                self.check_gearbox(gearbox, engine);
                self.check_differential(differential);
            }
        }
    }

    /// Checks that a list has one entry for each axle. `count` is its length.
    fn check_one_per_axle(&mut self, path: &str, count: usize) {
        let axle_count = self.spec.axles.len();
        let accepts = format!("one number for each of the {axle_count} axles");
        self.require(path, &["axles"], count == axle_count, format!("a list of {count}"), accepts, NO_HELP);
    }

    /// Checks that the speeds of the torque curve rise (each point that does not is reported), that the limiter speed
    /// is above the idle speed and the stall speed below it, and that the engaged speed of the clutch, if there is one,
    /// is above the idle speed. Equal speeds are faults.
    fn check_engine(&mut self, engine: &Engine, clutch: Option<&Clutch>) {
        // A pair is [previous point, point].
        for (i, pair) in engine.torque_curve.windows(2).enumerate() {
            let path = format!("powertrain.engine.torque_curve[{}].rpm", i + 1);
            let previous_path = format!("powertrain.engine.torque_curve[{i}].rpm");
            let accepts = format!("above the value of the previous point ({})", pair[0].rpm);
            self.require(
                &path,
                &[&previous_path],
                pair[1].rpm > pair[0].rpm,
                format!("{}", pair[1].rpm),
                accepts,
                NO_HELP,
            );
        }
        let idle_rpm = engine.idle_rpm;
        let above_idle = format!("above `idle_rpm`, {idle_rpm}");
        let compared_paths = &["powertrain.engine.idle_rpm"];
        let limit_text = format!("{}", engine.limit_rpm);
        self.require(
            "powertrain.engine.limit_rpm",
            compared_paths,
            engine.limit_rpm > idle_rpm,
            limit_text,
            above_idle.as_str(),
            NO_HELP,
        );
        let stall_text = format!("{}", engine.stall_rpm);
        let below_idle = format!("below `idle_rpm`, {idle_rpm}");
        self.require(
            "powertrain.engine.stall_rpm",
            compared_paths,
            engine.stall_rpm < idle_rpm,
            stall_text,
            below_idle,
            "the engine would never run",
        );
        if let Some(clutch) = clutch {
            let engaged_text = format!("{}", clutch.engaged_rpm);
            let is_above_idle = clutch.engaged_rpm > idle_rpm;
            self.require(
                "powertrain.clutch.engaged_rpm",
                compared_paths,
                is_above_idle,
                engaged_text,
                above_idle.as_str(),
                NO_HELP,
            );
        }
    }

    /// Checks that the throttle map is empty or has at least two points with rising pedal positions.
    fn check_throttle_map(&mut self, map: &[PedalPoint]) {
        let path = "powertrain.engine.throttle_map";
        self.require(path, NO_OTHER_KEYS, map.len() != 1, "one point".into(), "no points or at least two", NO_HELP);
        for (i, pair) in map.windows(2).enumerate() {
            let (path, previous_path) = (format!("{path}[{}].pedal", i + 1), format!("{path}[{i}].pedal"));
            let accepts = format!("above the value of the previous point ({})", pair[0].pedal);
            self.require(
                &path,
                &[&previous_path],
                pair[1].pedal > pair[0].pedal,
                format!("{}", pair[1].pedal),
                accepts,
                NO_HELP,
            );
        }
    }

    /// Checks the points of a torque converter: speed ratios rise from point to point, and the last point has a speed
    /// ratio of 1 and a capacity of 0, because a converter transmits no torque at equal speeds.
    fn check_converter(&mut self, converter: &Converter) {
        let path = "powertrain.converter.points";
        for (i, pair) in converter.points.windows(2).enumerate() {
            let (path, previous_path) = (format!("{path}[{}].speed_ratio", i + 1), format!("{path}[{i}].speed_ratio"));
            let accepts = format!("above the value of the previous point ({})", pair[0].speed_ratio);
            let (is_rising, found) = (pair[1].speed_ratio > pair[0].speed_ratio, format!("{}", pair[1].speed_ratio));
            self.require(&path, &[&previous_path], is_rising, found, accepts, NO_HELP);
        }
        let Some(last_point) = converter.points.last() else { return };
        let last_index = converter.points.len() - 1;
        let (ratio_path, capacity_path) =
            (format!("{path}[{last_index}].speed_ratio"), format!("{path}[{last_index}].capacity_nm_s2_per_rad2"));
        let help = "a converter transmits no torque at equal speeds";
        self.require(
            &ratio_path,
            NO_OTHER_KEYS,
            last_point.speed_ratio == 1.0,
            format!("{}", last_point.speed_ratio),
            "1 for the last point",
            help,
        );
        let found = format!("{}", last_point.capacity_nm_s2_per_rad2);
        self.require(
            &capacity_path,
            NO_OTHER_KEYS,
            last_point.capacity_nm_s2_per_rad2 == 0.0,
            found,
            "0 for the last point",
            help,
        );
    }

    /// Checks the shift speeds and the ratios. The up-shift is below the limiter and above the down-shift; the
    /// kick-down is below the up-shift; the easy up-shift (at light throttle) is above the down-shift and at most the
    /// up-shift. The forward ratios fall from gear to gear.
    ///
    /// A continuous transmission needs exactly two ratios. For any other gearbox with falling ratios also checks that
    /// no shift causes an immediate shift back: the engine speed after the widest shift up, `up-shift speed · ratio
    /// step`, must be above the down-shift speed (with the easy up-shift speed) and above the kick-down speed (with the
    /// normal one). This check of a shift is skipped if its two speeds are in the wrong order.
    fn check_gearbox(&mut self, gearbox: &Gearbox, engine: &Engine) {
        let (up_rpm, down_rpm, limit_rpm) = (gearbox.up_shift_rpm, gearbox.down_shift_rpm, engine.limit_rpm);
        let (up_path, down_path) = ("powertrain.gearbox.up_shift_rpm", "powertrain.gearbox.down_shift_rpm");
        let accepts = format!("below `limit_rpm`, {limit_rpm}");
        let help = "the limiter would keep the engine below this speed, so the gearbox would never shift";
        self.require(up_path, &["powertrain.engine.limit_rpm"], up_rpm < limit_rpm, format!("{up_rpm}"), accepts, help);
        let accepts = format!("above `down_shift_rpm`, {down_rpm}");
        self.require(up_path, &[down_path], up_rpm > down_rpm, format!("{up_rpm}"), accepts.as_str(), NO_HELP);
        let kick_down_rpm = gearbox.kick_down_rpm;
        let (found, below_up_shift) =
            (format!("{}", kick_down_rpm.unwrap_or(down_rpm)), format!("below `up_shift_rpm`, {up_rpm}"));
        let is_kick_down_valid = kick_down_rpm.is_none_or(|rpm| rpm < up_rpm);
        self.require(KICK_DOWN_PATH, &[up_path], is_kick_down_valid, found, below_up_shift, NO_HELP);
        let easy_up_rpm = gearbox.light_throttle_up_shift_rpm.unwrap_or(up_rpm);
        let (compared_paths, is_easy_valid) = (&[down_path, up_path], up_rpm <= down_rpm || easy_up_rpm > down_rpm);
        self.require(EASY_UP_SHIFT_PATH, compared_paths, is_easy_valid, format!("{easy_up_rpm}"), accepts, NO_HELP);
        let accepts = format!("at most `up_shift_rpm`, {up_rpm}");
        self.require(EASY_UP_SHIFT_PATH, &[up_path], easy_up_rpm <= up_rpm, format!("{easy_up_rpm}"), accepts, NO_HELP);
        for (i, pair) in gearbox.forward.windows(2).enumerate() {
            let path = format!("powertrain.gearbox.forward[{}]", i + 1);
            let previous_path = format!("powertrain.gearbox.forward[{i}]");
            let (lower_gear_ratio, higher_gear_ratio) = (pair[0], pair[1]);
            let is_falling = higher_gear_ratio < lower_gear_ratio;
            let accepts = format!("less than the ratio of the previous gear ({lower_gear_ratio})");
            self.require(&path, &[&previous_path], is_falling, format!("{higher_gear_ratio}"), accepts, NO_HELP);
        }
        if gearbox.continuous.is_some() {
            let (path, count) = ("powertrain.gearbox.forward", gearbox.forward.len());
            let found = format!("a list of {count}");
            let compared_paths = ["powertrain.gearbox.continuous"];
            self.require(path, &compared_paths, count == 2, found, "both ends of the range", NO_HELP);
            return;
        }
        if gearbox.forward.windows(2).any(|pair| pair[1] >= pair[0]) {
            return;
        }
        let pairs = gearbox.forward.windows(2);
        // Smallest ratio of a gear to the gear before, which is the widest step.
        let Some(widest_step) = pairs.map(|pair| pair[1] / pair[0]).min_by(f64::total_cmp) else {
            return;
        };
        let paths: Vec<String> =
            (0..gearbox.forward.len()).map(|i| format!("powertrain.gearbox.forward[{i}]")).collect();
        let mut compared_paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        compared_paths.extend([up_path, EASY_UP_SHIFT_PATH]);
        // Down-shift and kick-down: path, speed, and the slowest up-shift speed that it must not reverse, rpm.
        let down_shift = (down_path, down_rpm, easy_up_rpm.min(up_rpm));
        for (path, back_shift_rpm, start_rpm) in
            iter::once(down_shift).chain(kick_down_rpm.map(|rpm| (KICK_DOWN_PATH, rpm, up_rpm)))
        {
            // Engine speed after the widest shift up. A wrong order of the speeds is reported above.
            let rpm_after_shift = start_rpm * widest_step;
            let accepts = format!("below the engine speed of {rpm_after_shift:.0} after the widest up-shift");
            let help = "the gearbox would immediately shift down again";
            let is_stable = start_rpm <= back_shift_rpm || rpm_after_shift > back_shift_rpm;
            self.require(path, &compared_paths, is_stable, format!("{back_shift_rpm}"), accepts, help);
        }
    }

    /// Checks that there is one share for each axle and, if so, that the shares sum to 1 within 1e-4.
    fn check_differential(&mut self, differential: &Differential) {
        let shares = &differential.torque_split;
        let path = "powertrain.differential.torque_split";
        self.check_one_per_axle(path, shares.len());
        let paths: Vec<String> = (0..shares.len()).map(|i| format!("{path}[{i}]")).collect();
        let compared_paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let share_sum: f64 = shares.iter().sum();
        let is_sum_valid = (share_sum - 1.0).abs() < 1e-4 || shares.len() != self.spec.axles.len();
        self.require(
            path,
            &compared_paths,
            is_sum_valid,
            format!("their sum is {share_sum}"),
            "shares with the sum 1",
            NO_HELP,
        );
    }

    /// Checks that the axle number of every motor, from 1, exists, and that the car has at most 8 motors. A motor with
    /// `each_wheel` on an axle with two wheels counts as two.
    pub fn check_motors(&mut self) {
        let spec = self.spec;
        let mut motor_count = 0;
        for (i, motor) in spec.motors.iter().enumerate() {
            let path = format!("motors[{i}].axle");
            // The schema refuses axle number 0.
            let axle = spec.axles.get((motor.axle as usize).saturating_sub(1));
            let accepts = format!("from 1 to {}, the number of axles", spec.axles.len());
            self.require(&path, &["axles"], axle.is_some(), format!("{}", motor.axle), accepts, NO_HELP);
            let has_two_motors = motor.each_wheel && axle.is_some_and(|axle| axle.track_m.is_some());
            motor_count += if has_two_motors { 2 } else { 1 };
        }
        self.require(
            "motors",
            NO_OTHER_KEYS,
            motor_count <= 8,
            format!("{motor_count} motors, with one per wheel"),
            "at most 8 motors in a vehicle",
            NO_HELP,
        );
    }

    /// Checks each coupling: its axles exist and differ, a single axle has two wheels, no earlier coupling has the same
    /// axles in any order, and a locked coupling has no preload, drive bias above 1, coast bias or viscosity.
    pub fn check_couplings(&mut self) {
        let spec = self.spec;
        for (i, coupling) in spec.couplings.iter().enumerate() {
            let path = format!("couplings[{i}]");
            let is_within_axle = coupling.axles.len() == 1;
            for (k, &axle_number) in coupling.axles.iter().enumerate() {
                self.check_coupled_axle(&format!("{path}.axles[{k}]"), axle_number, is_within_axle);
            }
            let axles_path = format!("{path}.axles");
            let found = format!("axle {} with itself", coupling.axles.first().copied().unwrap_or_default());
            let is_self_coupled = !is_within_axle && coupling.axles.first() == coupling.axles.last();
            self.require(
                &axles_path,
                NO_OTHER_KEYS,
                !is_self_coupled,
                found,
                "one axle, or two different ones",
                NO_HELP,
            );
            let earlier_index =
                spec.couplings[..i].iter().position(|other| has_same_axles(&other.axles, &coupling.axles));
            let found = format!("the axles of `couplings[{}]`", earlier_index.unwrap_or_default());
            self.require(
                &axles_path,
                &["couplings"],
                earlier_index.is_none(),
                found,
                "axles that are not coupled yet",
                NO_HELP,
            );
            // Values above 0 limit the coupling; a bias of 1 has no effect.
            let limiting_values =
                [coupling.preload_nm, coupling.torque_bias_ratio_drive - 1.0, coupling.viscous_nm_s_per_rad];
            let is_limited =
                limiting_values.iter().any(|&value| value > 0.0) || coupling.torque_bias_ratio_coast.is_some();
            let keys = ["preload_nm", "torque_bias_ratio_drive", "torque_bias_ratio_coast", "viscous_nm_s_per_rad"];
            let keys = keys.map(|key| format!("{path}.{key}"));
            let compared_paths = keys.each_ref().map(String::as_str);
            let accepts = "either `locked` alone, or preload, bias and viscosity";
            let locked_path = format!("{path}.locked");
            self.require(
                &locked_path,
                &compared_paths,
                !(coupling.locked && is_limited),
                "true".into(),
                accepts,
                NO_HELP,
            );
        }
    }

    /// Checks that the axle number `axle_number` at `path`, from 1, exists. A coupling within one axle
    /// (`is_within_axle`) also needs an axle with two wheels.
    fn check_coupled_axle(&mut self, path: &str, axle_number: u32, is_within_axle: bool) {
        let spec = self.spec;
        let axle_index = (axle_number as usize).saturating_sub(1);
        let Some(axle_spec) = spec.axles.get(axle_index) else {
            let accepts = format!("from 1 to {}, the number of axles", spec.axles.len());
            self.require(
                path,
                &["axles"],
                false, // there is no such axle
                format!("{axle_number}"),
                accepts,
                NO_HELP,
            );
            return;
        };
        let track_path = format!("axles[{axle_index}].track_m");
        let found = format!("axle {axle_number} has one wheel");
        let has_enough_wheels = !is_within_axle || axle_spec.track_m.is_some();
        self.require(
            path,
            &["axles", &track_path],
            has_enough_wheels,
            found,
            "an axle with two wheels, or two axles",
            NO_HELP,
        );
    }
}

/// Returns true if both lists have the same axles in any order.
fn has_same_axles(a: &[u32], b: &[u32]) -> bool {
    a == b || (a.len() == 2 && b.len() == 2 && a[0] == b[1] && a[1] == b[0])
}
