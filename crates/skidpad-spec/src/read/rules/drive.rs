//! Rules of powertrain, motors and couplings.

use core::iter;

use super::Rules;
use crate::spec::{Clutch, Converter, Differential, Engine, Gearbox, PedalPoint, Powertrain};

/// Path of the speed of up-shifts at light throttle.
const EASY_UP_SHIFT_PATH: &str = "powertrain.gearbox.easy_up_shift_rpm";
/// Path of the kick-down speed.
const KICK_DOWN_PATH: &str = "powertrain.gearbox.kick_down_rpm";

impl Rules<'_> {
    /// Checks the parts of the powertrain. Direct drive needs one torque for each axle. An engine needs either a clutch
    /// or a converter; then engine, throttle map, converter, gearbox and differential are checked.
    pub fn check_powertrain(&mut self) {
        let spec = self.spec;
        match &spec.powertrain {
            Powertrain::None {} => {}
            Powertrain::Direct { wheel_torque_nm } => {
                self.check_one_per_axle("powertrain.wheel_torque_nm", wheel_torque_nm.len());
            }
            Powertrain::Engine { engine, clutch, converter, gearbox, differential } => {
                let (first, second) = (("clutch", clutch.is_some()), ("converter", converter.is_some()));
                self.require_exactly_one("powertrain", first, second);
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
        let axles = self.spec.axles.len();
        let accepts = format!("one number for each of the {axles} axles");
        self.require(path, &["axles"], count == axles, format!("a list of {count}"), accepts, "");
    }

    /// Checks that the speeds of the torque curve rise, that the limiter speed is above the idle speed and the stall
    /// speed below it, and that the engaged speed of the clutch, if there is one, is above the idle speed.
    fn check_engine(&mut self, engine: &Engine, clutch: Option<&Clutch>) {
        for (i, pair) in engine.torque_curve.windows(2).enumerate() {
            let path = format!("powertrain.engine.torque_curve[{}].rpm", i + 1);
            let other = format!("powertrain.engine.torque_curve[{i}].rpm");
            let accepts = format!("above the {} of the point before", pair[0].rpm);
            self.require(&path, &[&other], pair[1].rpm > pair[0].rpm, format!("{}", pair[1].rpm), accepts, "");
        }
        let idle = engine.idle_rpm;
        let accepts = format!("above `idle_rpm`, {idle}");
        let others = &["powertrain.engine.idle_rpm"];
        let limit = format!("{}", engine.limit_rpm);
        self.require("powertrain.engine.limit_rpm", others, engine.limit_rpm > idle, limit, accepts.as_str(), "");
        let stall = format!("{}", engine.stall_rpm);
        let below = format!("below `idle_rpm`, {idle}");
        self.require(
            "powertrain.engine.stall_rpm",
            others,
            engine.stall_rpm < idle,
            stall,
            below,
            "it would never run",
        );
        if let Some(clutch) = clutch {
            let engaged = format!("{}", clutch.engaged_rpm);
            let above = clutch.engaged_rpm > idle;
            self.require("powertrain.clutch.engaged_rpm", others, above, engaged, accepts.as_str(), "");
        }
    }

    /// Checks that the throttle map is empty or has at least two points with rising pedal positions.
    fn check_throttle_map(&mut self, map: &[PedalPoint]) {
        let path = "powertrain.engine.throttle_map";
        self.require(path, &[], map.len() != 1, "one point".into(), "at least two points, or none", "");
        for (i, pair) in map.windows(2).enumerate() {
            let (path, other) = (format!("{path}[{}].pedal", i + 1), format!("{path}[{i}].pedal"));
            let accepts = format!("above the {} of the point before", pair[0].pedal);
            self.require(&path, &[&other], pair[1].pedal > pair[0].pedal, format!("{}", pair[1].pedal), accepts, "");
        }
    }

    /// Checks the points of a torque converter: speed ratios rise from point to point, and the last point has a speed
    /// ratio of 1 and a capacity of 0, because a converter transmits no torque at equal speeds.
    fn check_converter(&mut self, converter: &Converter) {
        let path = "powertrain.converter.points";
        for (i, pair) in converter.points.windows(2).enumerate() {
            let (path, other) = (format!("{path}[{}].speed_ratio", i + 1), format!("{path}[{i}].speed_ratio"));
            let accepts = format!("above the {} of the point before", pair[0].speed_ratio);
            let (rises, found) = (pair[1].speed_ratio > pair[0].speed_ratio, format!("{}", pair[1].speed_ratio));
            self.require(&path, &[&other], rises, found, accepts, "");
        }
        let Some(last) = converter.points.last() else { return };
        let at = converter.points.len() - 1;
        let (ratio, capacity) = (format!("{path}[{at}].speed_ratio"), format!("{path}[{at}].capacity_nm_s2_per_rad2"));
        let help = "at equal speeds a converter takes no torque";
        self.require(
            &ratio,
            &[],
            last.speed_ratio == 1.0,
            format!("{}", last.speed_ratio),
            "1 for the last point",
            help,
        );
        let found = format!("{}", last.capacity_nm_s2_per_rad2);
        self.require(&capacity, &[], last.capacity_nm_s2_per_rad2 == 0.0, found, "0 for the last point", help);
    }

    /// Checks that the forward ratios fall from gear to gear and that shift speeds are in order: up-shift below the
    /// limiter and above the down-shift, kick-down below the up-shift, easy up-shift above the down-shift and at most the
    /// up-shift.
    ///
    /// A continuous transmission needs exactly two ratios. For any other gearbox also checks that no shift causes an
    /// immediate shift back: the engine speed after the widest shift up, `up-shift speed · ratio step`, must be above the
    /// down-shift speed (with the easy up-shift speed) and above the kick-down speed (with the normal one).
    fn check_gearbox(&mut self, gearbox: &Gearbox, engine: &Engine) {
        let (up, down, limit) = (gearbox.up_shift_rpm, gearbox.down_shift_rpm, engine.limit_rpm);
        let (up_path, down_path) = ("powertrain.gearbox.up_shift_rpm", "powertrain.gearbox.down_shift_rpm");
        let accepts = format!("below `limit_rpm`, {limit}");
        let help = "the limiter would hold the engine below it, and it would never shift";
        self.require(up_path, &["powertrain.engine.limit_rpm"], up < limit, format!("{up}"), accepts, help);
        let accepts = format!("above `down_shift_rpm`, {down}");
        self.require(up_path, &[down_path], up > down, format!("{up}"), accepts.as_str(), "");
        let kick = gearbox.kick_down_rpm;
        let (found, below) = (format!("{}", kick.unwrap_or(down)), format!("below `up_shift_rpm`, {up}"));
        self.require(KICK_DOWN_PATH, &[up_path], kick.is_none_or(|kick| kick < up), found, below, "");
        let easy = gearbox.easy_up_shift_rpm.unwrap_or(up);
        self.require(
            EASY_UP_SHIFT_PATH,
            &[down_path, up_path],
            up <= down || easy > down,
            format!("{easy}"),
            accepts,
            "",
        );
        let accepts = format!("at most `up_shift_rpm`, {up}");
        self.require(EASY_UP_SHIFT_PATH, &[up_path], easy <= up, format!("{easy}"), accepts, "");
        for (i, pair) in gearbox.forward.windows(2).enumerate() {
            let path = format!("powertrain.gearbox.forward[{}]", i + 1);
            let other = format!("powertrain.gearbox.forward[{i}]");
            let (lower, higher) = (pair[0], pair[1]);
            let falls = higher < lower;
            let accepts = format!("less than the {lower} of the gear before");
            self.require(&path, &[&other], falls, format!("{higher}"), accepts, "");
        }
        if gearbox.continuous.is_some() {
            let (path, count) = ("powertrain.gearbox.forward", gearbox.forward.len());
            let found = format!("a list of {count}");
            self.require(path, &["powertrain.gearbox.continuous"], count == 2, found, "both ends of its range", "");
            return;
        }
        if gearbox.forward.windows(2).any(|pair| pair[1] >= pair[0]) {
            return;
        }
        let pairs = gearbox.forward.windows(2);
        // Smallest ratio of a gear to the gear before, which is the widest step.
        let Some(widest) = pairs.map(|pair| pair[1] / pair[0]).min_by(f64::total_cmp) else {
            return;
        };
        let paths: Vec<String> =
            (0..gearbox.forward.len()).map(|i| format!("powertrain.gearbox.forward[{i}]")).collect();
        let mut others: Vec<&str> = paths.iter().map(String::as_str).collect();
        others.extend([up_path, EASY_UP_SHIFT_PATH]);
        let down = (down_path, down, easy.min(up));
        for (path, down, up) in iter::once(down).chain(kick.map(|kick| (KICK_DOWN_PATH, kick, up))) {
            // Engine speed after the widest shift up.
            let after = up * widest;
            let accepts = format!("below the {after:.0} that the engine turns after the widest shift up");
            let help = "it would shift down again at once, for ever";
            self.require(path, &others, up <= down || after > down, format!("{down}"), accepts, help);
        }
    }

    /// Checks that there is one share for each axle, and that the shares sum to 1 within 1e-4.
    fn check_differential(&mut self, differential: &Differential) {
        let shares = &differential.axle_shares;
        let path = "powertrain.differential.axle_shares";
        self.check_one_per_axle(path, shares.len());
        let paths: Vec<String> = (0..shares.len()).map(|i| format!("{path}[{i}]")).collect();
        let others: Vec<&str> = paths.iter().map(String::as_str).collect();
        let sum: f64 = shares.iter().sum();
        let whole = (sum - 1.0).abs() < 1e-4 || shares.len() != self.spec.axles.len();
        self.require(path, &others, whole, format!("they sum to {sum}"), "shares that sum to 1", "");
    }

    /// Checks that every motor drives an existing axle, and that the car has at most 8 motors. A motor with `each_wheel`
    /// on an axle with two wheels counts as two.
    pub fn check_motors(&mut self) {
        let spec = self.spec;
        let mut count = 0;
        for (i, motor) in spec.motors.iter().enumerate() {
            let path = format!("motors[{i}].axle");
            let axle = spec.axles.get((motor.axle as usize).saturating_sub(1));
            let accepts = format!("from 1 to {}, the number of axles", spec.axles.len());
            self.require(&path, &["axles"], axle.is_some(), format!("{}", motor.axle), accepts, "");
            let twin = motor.each_wheel && axle.is_some_and(|axle| axle.track_m.is_some());
            count += if twin { 2 } else { 1 };
        }
        self.require(
            "motors",
            &[],
            count <= 8,
            format!("{count} motors, each wheel's counted"),
            "at most 8 in one car",
            "",
        );
    }

    /// Checks each coupling: its axles exist and differ, a single axle has two wheels, no earlier coupling has the same
    /// axles in any order, and a locked coupling has no preload, drive bias above 1, coast bias or viscosity.
    pub fn check_couplings(&mut self) {
        let spec = self.spec;
        for (i, coupling) in spec.couplings.iter().enumerate() {
            let path = format!("couplings[{i}]");
            let on_one = coupling.axles.len() == 1;
            for (k, &axle) in coupling.axles.iter().enumerate() {
                self.check_coupled_axle(&format!("{path}.axles[{k}]"), axle, on_one);
            }
            let list = format!("{path}.axles");
            let found = format!("axle {} with itself", coupling.axles.first().copied().unwrap_or_default());
            let twice = !on_one && coupling.axles.first() == coupling.axles.last();
            self.require(&list, &[], !twice, found, "one axle, or two different ones", "");
            let before = spec.couplings[..i].iter().position(|other| has_same_axles(&other.axles, &coupling.axles));
            let found = format!("the axles of `couplings[{}]`", before.unwrap_or_default());
            self.require(&list, &["couplings"], before.is_none(), found, "axles that are not yet coupled so", "");
            // Values above 0 limit the coupling; a bias of 1 has no effect.
            let soft = [coupling.preload_nm, coupling.drive_bias - 1.0, coupling.viscous_nm_s_per_rad];
            let limited = soft.iter().any(|&value| value > 0.0) || coupling.coast_bias.is_some();
            let keys = ["preload_nm", "drive_bias", "coast_bias", "viscous_nm_s_per_rad"];
            let keys = keys.map(|key| format!("{path}.{key}"));
            let others = keys.each_ref().map(String::as_str);
            let accepts = "`locked` alone, or preload, bias and viscosity without it";
            let locked = format!("{path}.locked");
            self.require(&locked, &others, !(coupling.locked && limited), "true".into(), accepts, "");
        }
    }

    /// Checks that the axle number `axle`, from 1, exists. A coupling within one axle (`on_one`) needs two wheels.
    fn check_coupled_axle(&mut self, path: &str, axle: u32, on_one: bool) {
        let spec = self.spec;
        let index = (axle as usize).saturating_sub(1);
        let Some(described) = spec.axles.get(index) else {
            let accepts = format!("from 1 to {}, the number of axles", spec.axles.len());
            self.require(path, &["axles"], false, format!("{axle}"), accepts, "");
            return;
        };
        let track = format!("axles[{index}].track_m");
        let found = format!("axle {axle} has one wheel");
        let fits = !on_one || described.track_m.is_some();
        self.require(path, &["axles", &track], fits, found, "an axle with two wheels, or two axles", "");
    }
}

/// Returns true if both lists have the same axles in any order.
fn has_same_axles(a: &[u32], b: &[u32]) -> bool {
    a == b || (a.len() == 2 && b.len() == 2 && a[0] == b[1] && a[1] == b[0])
}
