//! Rules of springs, dampers, anti-roll bars and suspension links.

use skidpad_core::STANDARD_GRAVITY;

use super::{NO_HELP, NO_OTHER_KEYS, RuleChecker, join_key};
use crate::spec::{AntiRollBar, Axle};
use crate::spring::{MIN_DROOP_RATE_SHARE, Spring};
use crate::wheel_positions;

/// Smallest droop travel that a preload may leave, m.
const MIN_DROOP_TRAVEL_M: f64 = 0.001;

/// Largest damping, as a multiple of critical damping. Wheels hardly move beyond it.
const MAX_DAMPING_RATIO: f64 = 100.0;

/// Largest toe or camber angle anywhere in the travel, degrees.
const MAX_WHEEL_ANGLE_DEG: f64 = 30.0;

/// Returns the keys that state the stiffness of an anti-roll bar, with their values; 0 for a key that is absent.
fn bar_stiffness_values(bar: &AntiRollBar) -> [(&'static str, f64); 3] {
    [
        ("rate_n_per_m", bar.rate_n_per_m),
        ("full_travel_force_n", bar.full_travel_force_n),
        ("roll_stiffness_share", bar.roll_stiffness_share),
    ]
    .map(|(key, value)| (key, value.unwrap_or(0.0)))
}

/// Returns paths and values of the anti-roll bar of the axle at `path`; nothing without one. An axle with one wheel
/// cannot have an anti-roll bar.
pub(super) fn anti_roll_bar_values(axle: &Axle, path: &str) -> impl Iterator<Item = (String, f64)> {
    let path = join_key(path, "anti_roll_bar");
    let values = axle.anti_roll_bar.as_ref().map(bar_stiffness_values);
    values.into_iter().flatten().map(move |(key, value)| (join_key(&path, key), value))
}

/// Returns paths and values of the heave spring of the axle at `path`: rate and damping; nothing without one. An axle
/// with one wheel cannot have a heave spring.
pub(super) fn heave_spring_values(axle: &Axle, path: &str) -> impl Iterator<Item = (String, f64)> {
    let path = join_key(path, "heave_spring");
    let values = axle
        .heave_spring
        .as_ref()
        .map(|spring| [("rate_n_per_m", spring.rate_n_per_m), ("damping_n_s_per_m", spring.damping_n_s_per_m)]);
    values.into_iter().flatten().map(move |(key, value)| (join_key(&path, key), value))
}

/// Returns paths and values of toe and camber over the travel of the axle at `path`; nothing without `kinematics`. An
/// axle with one wheel cannot have these values.
pub(super) fn toe_camber_values(axle: &Axle, path: &str) -> impl Iterator<Item = (String, f64)> {
    let path = join_key(path, "kinematics");
    let values = axle.kinematics.as_ref().map(|kinematics| {
        [
            ("toe_deg_per_m", kinematics.toe_deg_per_m),
            ("toe_deg_per_m2", kinematics.toe_deg_per_m2),
            ("camber_deg_per_m", kinematics.camber_deg_per_m),
            ("camber_deg_per_m2", kinematics.camber_deg_per_m2),
        ]
    });
    values.into_iter().flatten().map(move |(key, value)| (join_key(&path, key), value))
}

/// Largest lateral shift of an axle under a side force equal to its load at rest, m. Wheel loads do not shift with the
/// axle.
const MAX_AXLE_SHIFT_M: f64 = 0.1;

/// Largest height of a roll centre above or below the ground, as a share of the track.
const MAX_ROLL_CENTRE_SHARE: f64 = 0.399;

impl RuleChecker<'_> {
    /// Checks that the roll centre is at most [`MAX_ROLL_CENTRE_SHARE`] of the track above or below the ground, because
    /// higher side forces would lock the links. A roll centre and a force application height exclude each other unless
    /// one of them is 0; this fault is also reported at the roll centre. Does nothing for a single wheel.
    pub fn check_roll_centre(&mut self, axle: &Axle, path: &str) {
        let Some(track) = axle.track_m else { return };
        let key_path = |name: &str| join_key(path, name);
        let (height_path, height) = (key_path("roll_centre_height_m"), axle.roll_centre_height_m);
        let max_height = MAX_ROLL_CENTRE_SHARE * track;
        let accepts = format!(
            "at most {max_height:.3} m above or below the ground ({MAX_ROLL_CENTRE_SHARE} of the track of {track} m)"
        );
        self.require(
            &height_path,
            &[&key_path("track_m")],
            height.abs() <= max_height,
            format!("{height} m"),
            accepts,
            NO_HELP,
        );
        let is_only_one_stated = axle.force_application_height_m.is_none_or(|point| point == 0.0) || height == 0.0;
        let found = format!("{height} m on an axle with a force application height");
        let help = "a roll centre and a force application height describe the same effect; set one of them";
        self.require(
            &height_path,
            &[&key_path("force_application_height_m")],
            is_only_one_stated,
            found,
            "absent or 0",
            help,
        );
    }

    /// Checks that toe and camber stay within [`MAX_WHEEL_ANGLE_DEG`] over the whole travel. The upper bound of an
    /// angle is `|fixed| + |linear| z + |quadratic| z²` at the largest travel `z` (m). `z` is the larger of bump travel
    /// with its stop and of the largest droop travel of the wheels. The fault is reported at the coefficient that
    /// contributes more at `z`. Does nothing without `kinematics`.
    pub fn check_toe_and_camber(&mut self, i: usize, axle: &Axle, path: &str) {
        let Some(kinematics) = &axle.kinematics else { return };
        let springs = self.springs(i, axle);
        let suspension = &axle.suspension;
        let max_droop = springs.iter().map(|spring| spring.droop_travel).fold(0.0, f64::max);
        let max_travel = max_droop.max(suspension.bump_travel_m + suspension.bump_stop_travel_m);
        let angles = [
            ("toe", axle.toe_deg, kinematics.toe_deg_per_m, kinematics.toe_deg_per_m2),
            ("camber", axle.camber_deg, kinematics.camber_deg_per_m, kinematics.camber_deg_per_m2),
        ];
        let key_path = |name: &str| join_key(path, name);
        let suspension_key_path = |name: &str| join_key(&key_path("suspension"), name);
        let mut compared_paths = self.spring_paths(i, path);
        compared_paths.extend(["bump_travel_m", "bump_stop_travel_m", "droop_travel_m"].map(suspension_key_path));
        for (angle_name, fixed, linear, quadratic) in angles {
            // Upper bound of the angle, degrees.
            let largest_angle = fixed.abs() + (linear.abs() + quadratic.abs() * max_travel) * max_travel;
            let [linear_path, quadratic_path] =
                ["m", "m2"].map(|unit| join_key(&key_path("kinematics"), &format!("{angle_name}_deg_per_{unit}")));
            // Coefficient that contributes more, and the other one.
            let (fault_path, other_path) = if linear.abs() >= quadratic.abs() * max_travel {
                (linear_path, quadratic_path)
            } else {
                (quadratic_path, linear_path)
            };
            let angle_paths = [other_path, key_path(&format!("{angle_name}_deg"))];
            let compared_paths: Vec<&str> = compared_paths.iter().chain(&angle_paths).map(String::as_str).collect();
            let found = format!("a {angle_name} of up to {largest_angle:.1}° within the travel of {max_travel:.3} m");
            let accepts = format!("at most {MAX_WHEEL_ANGLE_DEG}° within the travel");
            self.require(&fault_path, &compared_paths, largest_angle <= MAX_WHEEL_ANGLE_DEG, found, accepts, NO_HELP);
        }
    }

    /// Returns the springs of the wheels of axle `i`; an empty list if no wheel loads exist.
    fn springs(&self, i: usize, axle: &Axle) -> Vec<Spring> {
        self.carried_masses(i).map(|mass| Spring::from_axle(axle, mass)).collect()
    }

    /// Returns the paths of the keys from which the springs of axle `i` follow. `path` is that of the axle.
    fn spring_paths(&self, i: usize, path: &str) -> Vec<String> {
        let suspension_path = join_key(path, "suspension");
        let mut paths = self.axle_paths(&["track_m", "behind_front_axle_m"]);
        paths.extend(["mass_kg", "centre_behind_front_axle_m", "centre_left_m"].map(|key| join_key("chassis", key)));
        let spring_keys = ["rate_n_per_m", "ride_frequency_hz", "progressive_rate_n_per_m2", "preload_n"];
        paths.extend(spring_keys.map(|key| join_key(&suspension_path, key)));
        paths.push(format!("axles[{i}].unsprung.mass_kg"));
        paths
    }

    /// Checks that at most one of the three keys that state an anti-roll bar (rate, force, share) is above 0. If
    /// several are, reports the second one with the first as its contradiction. Checks that the two speeds between
    /// which the bar fades in rise, if they are stated. Does nothing without a bar.
    pub fn check_anti_roll_bar(&mut self, axle: &Axle, path: &str) {
        let Some(bar) = &axle.anti_roll_bar else { return };
        let path = &join_key(path, "anti_roll_bar");
        let bar_values = bar_stiffness_values(bar);
        let stated_values: Vec<_> = bar_values.iter().filter(|(_, value)| *value > 0.0).collect();
        if let [(first_key, _), (second_key, value), ..] = stated_values[..] {
            let help = "these keys exclude each other; remove the others";
            let found = format!("{value} together with `{first_key}`");
            self.require(
                &join_key(path, second_key),
                &[&join_key(path, first_key)],
                false, // two values are stated
                found,
                "absent or 0",
                help,
            );
        }
        if let Some([low, high]) = bar.speed_range_mps {
            let found = format!("[{low}, {high}]");
            let fade_path = join_key(path, "speed_range_mps");
            self.require(&fade_path, NO_OTHER_KEYS, low < high, found, "two speeds, the second one greater", NO_HELP);
        }
    }

    /// Checks the suspension table `path` of axle `i`. The table needs exactly one of rate and ride frequency, of
    /// damping and damping ratio for bump and for rebound, and of droop travel and preload. Then checks spring and
    /// damping. A ride frequency also needs more than 1e-6 of the mass on each wheel of the axle, because the rate
    /// follows from the load.
    pub fn check_suspension(&mut self, i: usize, axle: &Axle, path: &str) {
        let suspension = &axle.suspension;
        self.require_exactly_one(
            path,
            ("rate_n_per_m", suspension.rate_n_per_m.is_some()),
            ("ride_frequency_hz", suspension.ride_frequency_hz.is_some()),
        );
        self.require_exactly_one(
            path,
            ("bump_damping_n_s_per_m", suspension.bump_damping_n_s_per_m.is_some()),
            ("bump_damping_ratio", suspension.bump_damping_ratio.is_some()),
        );
        self.require_exactly_one(
            path,
            ("rebound_damping_n_s_per_m", suspension.rebound_damping_n_s_per_m.is_some()),
            ("rebound_damping_ratio", suspension.rebound_damping_ratio.is_some()),
        );
        self.require_exactly_one(
            path,
            ("droop_travel_m", suspension.droop_travel_m.is_some()),
            ("preload_n", suspension.preload_n.is_some()),
        );
        self.check_spring(i, axle, path);
        self.check_damping(i, axle, path);
        let Some(frequency) = suspension.ride_frequency_hz else {
            return;
        };
        // Whether every wheel of the axle carries more than 1e-6 of the mass. True if no loads exist, which is reported
        // elsewhere.
        let is_loaded = wheel_positions::wheel_load_shares(self.spec).is_none_or(|shares| {
            let loads_of_axle = wheel_positions::wheel_positions(self.spec)
                .into_iter()
                .zip(shares)
                .filter(|(position, _)| position.axle == i);
            loads_of_axle.into_iter().all(|(_, share)| share > 1e-6)
        });
        let paths = self.axle_paths(&["track_m", "behind_front_axle_m"]);
        let mut compared_paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        compared_paths.extend(["chassis.centre_behind_front_axle_m", "chassis.centre_left_m"]);
        let found = format!("{frequency} Hz for a wheel without load");
        let accepts = "used only for wheels with load; use `rate_n_per_m`";
        self.require(&join_key(path, "ride_frequency_hz"), &compared_paths, is_loaded, found, accepts, NO_HELP);
    }

    /// Checks that each stated damping (N s/m) is at most [`MAX_DAMPING_RATIO`] times the critical damping `2 √(k m)`.
    /// `k` is the spring rate and `m` the sprung mass at the wheel (static spring force / g); of the wheels of the
    /// axle, the largest critical damping counts. Accepts every damping if no wheel loads exist. Damping ratios are not
    /// checked here.
    fn check_damping(&mut self, i: usize, axle: &Axle, path: &str) {
        let critical_damping =
            |spring: &Spring| 2.0 * (spring.rate * spring.force_at_rest / f64::from(STANDARD_GRAVITY)).sqrt();
        let max_critical_damping = self.springs(i, axle).iter().map(critical_damping).fold(0.0, f64::max);
        let suspension = &axle.suspension;
        let stated_dampings = [
            ("bump_damping_n_s_per_m", suspension.bump_damping_n_s_per_m),
            ("rebound_damping_n_s_per_m", suspension.rebound_damping_n_s_per_m),
        ];
        let paths = self.spring_paths(i, &format!("axles[{i}]"));
        let compared_paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        for (name, damping) in stated_dampings {
            let (damping, max_damping) = (damping.unwrap_or(0.0), MAX_DAMPING_RATIO * max_critical_damping);
            let found = format!("{damping} N s/m");
            let accepts =
                format!("at most {max_damping:.0} N s/m, {MAX_DAMPING_RATIO} times the critical damping of its spring");
            self.require(
                &join_key(path, name),
                &compared_paths,
                max_critical_damping == 0.0 || damping <= max_damping,
                found,
                accepts,
                "typical: 0.2 to 0.7 times",
            );
        }
    }

    /// Checks two limits at full droop. A stated preload leaves every wheel at least [`MIN_DROOP_TRAVEL_M`] of droop
    /// travel. A stated rise of the rate leaves at least [`MIN_DROOP_RATE_SHARE`] of the rate at rest; this check is
    /// skipped if the first one fails. Does nothing if no wheel loads exist.
    fn check_spring(&mut self, i: usize, axle: &Axle, path: &str) {
        let springs = self.springs(i, axle);
        if springs.is_empty() {
            return;
        }
        let suspension = &axle.suspension;
        let key_path = |name: &str| join_key(path, name);
        let paths = self.spring_paths(i, &format!("axles[{i}]"));
        let compared_paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let min_static_force = springs.iter().map(|spring| spring.force_at_rest).fold(f64::INFINITY, f64::min);
        // Whether every wheel keeps droop travel.
        let has_droop_travel =
            suspension.preload_n.is_none() || springs.iter().all(|spring| spring.droop_travel >= MIN_DROOP_TRAVEL_M);
        let found = format!(
            "{} N for a spring with a static force of {min_static_force:.1} N",
            suspension.preload_n.unwrap_or(0.0)
        );
        let accepts =
            "less than the static force by at least 1 mm of travel, and at least the force of the extended spring";
        self.require(&key_path("preload_n"), &compared_paths, has_droop_travel, found, accepts, NO_HELP);
        // Smallest share of the rate that is left at full droop.
        let min_rate_share = springs.iter().map(Spring::droop_rate_share).fold(f64::INFINITY, f64::min);
        let is_rise_valid = suspension.progressive_rate_n_per_m2.is_none()
            || !has_droop_travel
            || min_rate_share >= MIN_DROOP_RATE_SHARE;
        let found = format!(
            "{}: the rate at full droop would be {:.1} % of the static rate",
            suspension.progressive_rate_n_per_m2.unwrap_or(0.0),
            100.0 * min_rate_share
        );
        let help = "the rate decreases in extension as it increases in compression";
        self.require(
            &key_path("progressive_rate_n_per_m2"),
            &compared_paths,
            is_rise_valid,
            found,
            "a value that keeps a positive rate at full droop",
            help,
        );
    }

    /// Checks that the lateral shift of an axle, load at rest (N) / lateral stiffness (N/m), is at most
    /// [`MAX_AXLE_SHIFT_M`]. The load is the sum over its wheels, 0 if no wheel loads exist. Does nothing without a
    /// lateral compliance.
    pub fn check_lateral_compliance(&mut self, i: usize, axle: &Axle, path: &str) {
        let Some(compliance) = &axle.lateral_compliance else { return };
        let load = self.carried_masses(i).sum::<f64>() * f64::from(STANDARD_GRAVITY);
        let mut paths = self.axle_paths(&["track_m", "behind_front_axle_m"]);
        paths.extend(["mass_kg", "centre_behind_front_axle_m", "centre_left_m"].map(|key| join_key("chassis", key)));
        let compared_paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let shift = load / compliance.lateral_stiffness_n_per_m;
        let found = format!(
            "{} N/m: a lateral force of the axle load ({load:.0} N) moves the axle by {shift:.3} m",
            compliance.lateral_stiffness_n_per_m
        );
        let accepts = format!(
            "a displacement of at most {MAX_AXLE_SHIFT_M} m ({:.0} N/m or more)",
            (load / MAX_AXLE_SHIFT_M).ceil()
        );
        let rate_path = join_key(&join_key(path, "lateral_compliance"), "lateral_stiffness_n_per_m");
        self.require(
            &rate_path,
            &compared_paths,
            shift <= MAX_AXLE_SHIFT_M,
            found,
            accepts,
            "omit the key for rigid links",
        );
    }

    /// Returns the mass that each wheel of axle `i` carries at rest, kg, the unsprung mass included; nothing if the
    /// wheels cannot carry the car.
    pub fn carried_masses(&self, i: usize) -> impl Iterator<Item = f64> {
        let mass = self.spec.chassis.mass_kg;
        let shares = wheel_positions::wheel_load_shares(self.spec).unwrap_or_default();
        let loaded_positions = wheel_positions::wheel_positions(self.spec).into_iter().zip(shares);
        loaded_positions.filter(move |(position, _)| position.axle == i).map(move |(_, share)| share * mass)
    }

    /// Checks that the unsprung mass of a wheel is less than the smallest mass that a wheel of axle `i` carries. Does
    /// nothing without an unsprung mass; accepts every mass if no wheel loads exist.
    pub fn check_unsprung(&mut self, i: usize, axle: &Axle, path: &str) {
        let Some(unsprung) = &axle.unsprung else { return };
        let min_carried_mass = self.carried_masses(i).fold(f64::INFINITY, f64::min);
        let paths = self.axle_paths(&["track_m", "behind_front_axle_m"]);
        let mut compared_paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        compared_paths.extend(["chassis.mass_kg", "chassis.centre_behind_front_axle_m", "chassis.centre_left_m"]);
        let found = format!("{} kg on a wheel with a carried mass of {min_carried_mass:.1} kg", unsprung.mass_kg);
        let help = "the mass of the car includes the wheels";
        let mass_path = join_key(&join_key(path, "unsprung"), "mass_kg");
        self.require(
            &mass_path,
            &compared_paths,
            unsprung.mass_kg < min_carried_mass,
            found,
            "less than the carried mass",
            help,
        );
    }
}
