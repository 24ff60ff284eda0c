//! Rules of chassis, axles, brakes, steering and aerodynamics.

use super::suspension::{anti_roll_bar_values, heave_spring_values, toe_camber_values};
use super::{FaultKind, NO_HELP, NO_OTHER_KEYS, RuleChecker, join_key, nearest_word, quote_names};
use crate::spec::{Axle, Inertia, Probe, Tyre};
use crate::tyre_size::TyreSize;
use crate::wheel_positions;
use skidpad_core::{MAX_WHEELS, STANDARD_GRAVITY};

/// Largest difference between the mass of the boxes and the stated mass, as a share of the stated mass.
const BOX_MASS_TOLERANCE: f64 = 0.01;
/// Largest distance between the centre of mass of the boxes and the stated one along each axis, m.
const BOX_CENTRE_TOLERANCE_M: f64 = 0.02;

/// Smallest load of a wheel at rest, as a share of an even distribution. Slightly more than the model requires.
const MIN_LOAD_SHARE: f64 = 1.001e-3;

/// Largest deflection of the steering linkage under a horizontal force equal to the wheel load, degrees. Steps limit
/// the deflection to 11.5°.
const MAX_LINKAGE_DEFLECTION_DEG: f64 = 5.0;

/// Smallest equivalent mass of a wheel at its rim, as a share of the mass that it carries.
const MIN_RIM_MASS_SHARE: f64 = 1e-6;

impl RuleChecker<'_> {
    /// Checks that the chassis has either an inertia or boxes, not both. Checks the moments of inertia and mass and
    /// centre of the boxes, each if given. Checks that the underside of the collision box,
    /// `above_ground_m − height_m / 2`, is above the ground.
    pub fn check_chassis(&mut self) {
        let chassis = &self.spec.chassis;
        let boxes_key = ("boxes", !chassis.boxes.is_empty());
        self.require_exactly_one("chassis", ("inertia", chassis.inertia.is_some()), boxes_key);
        if let Some(inertia) = &chassis.inertia {
            self.check_inertia(inertia);
        }
        if !chassis.boxes.is_empty() {
            self.check_boxes();
        }
        let hull = &chassis.hull;
        let clearance = hull.above_ground_m - 0.5 * hull.height_m;
        self.require(
            "chassis.hull.above_ground_m",
            &["chassis.hull.height_m"],
            clearance > 0.0,
            format!("the underside lies at {clearance:.3} m"),
            "above half of `height_m`",
            "the collision box would intersect the ground",
        );
    }

    /// Checks that the moments of inertia are those of a rigid body: the square of the product of inertia is less than
    /// roll times yaw inertia, and the pitch inertia satisfies the triangle inequality with the two other principal
    /// moments, with a margin of 1e-9 for rounding. The second check is skipped if the first one fails. `xx`, `yy`,
    /// `zz` are roll, pitch and yaw inertia, `xz` is the product of inertia. Faults are reported at `xz` and at `yy`.
    fn check_inertia(&mut self, inertia: &Inertia) {
        let Inertia { roll_kg_m2: xx, pitch_kg_m2: yy, yaw_kg_m2: zz, roll_yaw_kg_m2: xz } = *inertia;
        let paths =
            ["roll_kg_m2", "pitch_kg_m2", "yaw_kg_m2", "roll_yaw_kg_m2"].map(|key| join_key("chassis.inertia", key));
        let compared_paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let is_positive_definite = xz * xz < xx * zz;
        let found = format!("the square of the value exceeds {xx} times {zz}");
        self.require(
            &paths[3], // product of inertia
            &compared_paths,
            is_positive_definite,
            found,
            "less than the geometric mean of the moments it couples",
            NO_HELP,
        );
        // Triangle inequality: no principal moment of a body exceeds the sum of the other two.
        // Difference of the two principal moments in the plane of symmetry; their sum is `xx + zz`.
        let moment_difference = (xx - zz).hypot(2.0 * xz);
        // Margin for rounding.
        let rounding_margin = 1e-9 * (xx + yy + zz);
        let (min_pitch, max_pitch) = (moment_difference - rounding_margin, xx + zz + rounding_margin);
        let found = format!("{yy} does not fit roll {xx} and yaw {zz}");
        let accepts = format!("from {moment_difference} to {}", xx + zz);
        let help = "no principal moment of a rigid body exceeds the sum of the other two";
        self.require(
            &paths[1], // pitch
            &compared_paths,
            !is_positive_definite || (min_pitch..=max_pitch).contains(&yy),
            found,
            accepts,
            help,
        );
    }

    /// Checks that roll and pitch inertia of the car exceed those of its unsprung masses as points about the centre of
    /// mass: `Σ m y²` and `Σ m x²` over the wheels. The inertia is the stated one or that of the boxes, and the fault
    /// is reported there. Without unsprung masses every inertia is accepted. Skipped without inertia and boxes, and if
    /// an unsprung mass is at least the mass that its wheel carries, which another rule reports.
    pub fn check_sprung_inertia(&mut self) {
        let chassis = &self.spec.chassis;
        let [roll, pitch] = match &chassis.inertia {
            Some(inertia) => [inertia.roll_kg_m2, inertia.pitch_kg_m2],
            None if chassis.boxes.is_empty() => return,
            None => {
                let [roll, pitch, ..] = wheel_positions::inertia_of_boxes(chassis);
                [roll, pitch]
            }
        };
        // Unsprung mass of a wheel of the axle, kg.
        let unsprung_mass =
            |axle: usize| self.spec.axles[axle].unsprung.as_ref().map_or(0.0, |unsprung| unsprung.mass_kg);
        // The rule `unsprung` reports masses that exceed the load of their wheel.
        if (0..self.spec.axles.len()).any(|i| self.carried_masses(i).any(|mass| mass <= unsprung_mass(i))) {
            return;
        }
        // Roll and pitch inertia of the unsprung masses, kg m².
        let mut wheel_inertias = [0.0; 2];
        for position in wheel_positions::wheel_positions(self.spec) {
            let (mass, [x, y]) = (unsprung_mass(position.axle), position.point);
            wheel_inertias = [wheel_inertias[0] + mass * y * y, wheel_inertias[1] + mass * x * x];
        }
        let mut paths = self.axle_paths(&["unsprung.mass_kg", "track_m", "behind_front_axle_m"]);
        paths.push("chassis.centre_behind_front_axle_m".into());
        let compared_paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        for (axis_name, inertia, wheel_inertia) in
            [("roll", roll, wheel_inertias[0]), ("pitch", pitch, wheel_inertias[1])]
        {
            let path = match chassis.inertia {
                Some(_) => format!("chassis.inertia.{axis_name}_kg_m2"),
                None => "chassis.boxes".into(),
            };
            let found = format!("{inertia:.4} kg m² in {axis_name}");
            let accepts = format!("more than {wheel_inertia:.4} kg m², the inertia of the `unsprung` masses alone");
            let help = "mass and inertia of the car include those of the wheels";
            self.require(&path, &compared_paths, wheel_inertia == 0.0 || inertia > wheel_inertia, found, accepts, help);
        }
    }

    /// Checks the sum of the masses of the boxes and their common centre of mass. The mass must be the stated one
    /// within 1 %, the centre the stated one within [`BOX_CENTRE_TOLERANCE_M`] along each axis. Both faults are
    /// reported at `chassis.boxes`.
    fn check_boxes(&mut self) {
        let chassis = &self.spec.chassis;
        let keys = ["mass_kg", "behind_front_axle_m", "left_m", "above_ground_m"];
        let box_key_paths =
            (0..chassis.boxes.len()).flat_map(|i| keys.iter().map(move |key| format!("chassis.boxes[{i}].{key}")));
        let paths: Vec<String> = box_key_paths.collect();
        let mut compared_paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        compared_paths.extend(["chassis.mass_kg", "chassis.centre_behind_front_axle_m"]);
        compared_paths.extend(["chassis.centre_left_m", "chassis.centre_above_ground_m"]);
        let total_mass: f64 = chassis.boxes.iter().map(|b| b.mass_kg).sum();
        let has_stated_mass = (total_mass - chassis.mass_kg).abs() <= BOX_MASS_TOLERANCE * chassis.mass_kg;
        let accepts = format!("a total of {} kg (`mass_kg`) within 1 %", chassis.mass_kg);
        self.require(
            "chassis.boxes",
            &compared_paths,
            has_stated_mass,
            format!("their total mass is {total_mass} kg"),
            accepts,
            NO_HELP,
        );
        let mass_weighted_mean = |coordinate: fn(&crate::spec::Box3) -> f64| {
            chassis.boxes.iter().map(|b| b.mass_kg * coordinate(b)).sum::<f64>() / total_mass
        };
        let box_centre = [
            mass_weighted_mean(|b| b.behind_front_axle_m),
            mass_weighted_mean(|b| b.left_m),
            mass_weighted_mean(|b| b.above_ground_m),
        ];
        let stated_centre = [chassis.centre_behind_front_axle_m, chassis.centre_left_m, chassis.centre_above_ground_m];
        let is_near_stated_centre = (0..3).all(|i| (box_centre[i] - stated_centre[i]).abs() <= BOX_CENTRE_TOLERANCE_M);
        let [behind, left, above] = box_centre;
        let found = format!("their centre of mass is {behind:.3} m behind, {left:.3} m left, {above:.3} m up");
        let accepts = format!("boxes with the stated centre of mass, within {BOX_CENTRE_TOLERANCE_M} m");
        self.require("chassis.boxes", &compared_paths, is_near_stated_centre, found, accepts, NO_HELP);
    }

    /// Checks that the temperature range over which a brake disc fades rises. Does nothing without a disc.
    fn check_brake_disc(&mut self, axle: &Axle, path: &str) {
        let Some(disc) = &axle.brake_disc else { return };
        let key_path = |name: &str| join_key(&join_key(path, "brake_disc"), name);
        let (fade_start, fade_end) = (disc.fades_from_k, disc.fades_to_k);
        let accepts = format!("more than `fades_from_k` ({fade_start})");
        self.require(
            &key_path("fades_to_k"),
            &[&key_path("fades_from_k")],
            fade_end > fade_start,
            format!("{fade_end}"),
            accepts,
            NO_HELP,
        );
    }

    /// Checks the wheel radius and the tyre size of an axle. Exactly one of both is given; with a Magic Formula tyre,
    /// which has a radius of its own, both may be absent. The size can be parsed. The radius, stated or from the size,
    /// is less than the track, if there is one; a larger radius is reported at the tyre size if that is given.
    fn check_radius(&mut self, axle: &Axle, path: &str) {
        let radius_key = ("wheel_radius_m", axle.wheel_radius_m.is_some());
        let has_formula_radius = matches!(self.spec.tyres.get(&axle.tyre), Some(Tyre::MagicFormula { .. }));
        if axle.radius_m().is_some() || !has_formula_radius {
            self.require_exactly_one(path, radius_key, ("tyre_size", axle.tyre_size.is_some()));
        }
        let (radius_path, size_path) = (join_key(path, "wheel_radius_m"), join_key(path, "tyre_size"));
        if let Some(size_text) = &axle.tyre_size {
            let accepts = "a metric size like `275/40 R18`";
            let help = "section width in mm, aspect ratio in % (default 82), `R`, rim diameter in inches; or set `wheel_radius_m`";
            self.require(
                &size_path,
                NO_OTHER_KEYS,
                TyreSize::parse(size_text).is_some(),
                format!("`{size_text}`"),
                accepts,
                help,
            );
        }
        if let (Some(track), Some(radius)) = (axle.track_m, axle.radius_m()) {
            let accepts = format!("less than the track of {track} m");
            let fault_path = if axle.tyre_size.is_some() { &size_path } else { &radius_path };
            self.require(
                fault_path,
                &[&join_key(path, "track_m")],
                radius < track,
                format!("{radius} m"),
                accepts,
                NO_HELP,
            );
        }
    }

    /// Checks that the car has 2 to [`MAX_WHEELS`] wheels, that its centre of mass is between them, and that every
    /// wheel carries at least [`MIN_LOAD_SHARE`] of an even distribution at rest. After a wrong number of wheels, the
    /// other two checks are skipped. Both are reported at the longitudinal position of the centre of mass, or at the
    /// lateral one if that is not 0 and the longitudinal one is between the axles. Only the first wheel with too little
    /// load is reported.
    pub fn check_footprint(&mut self) {
        let paths = self.axle_paths(&["track_m"]);
        let mut compared_paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let wheel_count = wheel_positions::wheel_positions(self.spec).len();
        let has_valid_count = (2..=MAX_WHEELS).contains(&wheel_count);
        let count_text = if wheel_count == 1 { "1 wheel".into() } else { format!("{wheel_count} wheels") };
        self.require(
            "axles",
            &compared_paths,
            has_valid_count,
            count_text,
            format!("2 to {MAX_WHEELS} wheels"),
            NO_HELP,
        );
        let position_paths = self.axle_paths(&["behind_front_axle_m"]);
        compared_paths.extend(position_paths.iter().map(String::as_str));
        compared_paths.extend(["chassis.centre_behind_front_axle_m", "chassis.centre_left_m"]);
        let chassis = &self.spec.chassis;
        // The fault is about the lateral position if the longitudinal one is between the axles.
        let is_lateral_fault = chassis.centre_left_m != 0.0 && self.is_centre_between_axles();
        // Coordinate that is reported, m.
        let (path, centre_position) = match is_lateral_fault {
            true => ("chassis.centre_left_m", chassis.centre_left_m),
            false => ("chassis.centre_behind_front_axle_m", chassis.centre_behind_front_axle_m),
        };
        let found = format!("{centre_position} m is outside the wheelbase");
        let is_supported = !has_valid_count || wheel_positions::wheel_load_shares(self.spec).is_some();
        let help = "wheels cannot pull: the car would tip over at rest";
        self.require(path, &compared_paths, is_supported, found, "between the first and the last axle", help);
        let Some(shares) = wheel_positions::wheel_load_shares(self.spec).filter(|_| has_valid_count) else { return };
        // Share of the weight at an even distribution.
        let even_share = 1.0 / shares.len() as f64;
        let unloaded_wheel = wheel_positions::wheel_positions(self.spec)
            .into_iter()
            .zip(shares)
            .find(|(_, share)| *share < MIN_LOAD_SHARE * even_share);
        if let Some((position, share)) = unloaded_wheel {
            let found =
                format!("a wheel of axle {} carries only {:.1e} of the weight at rest", position.axle + 1, share);
            let accepts = "a position at which every wheel carries at least 0.1 % of the mean wheel load";
            self.require(
                path,
                &compared_paths,
                false, // a wheel with too little load was found
                found,
                accepts,
                NO_HELP,
            );
        }
    }

    /// Checks that the spin inertia of a wheel is at least [`MIN_RIM_MASS_SHARE`] of `m r²`, with the largest mass `m`
    /// that a wheel of axle `i` carries and the radius `r`. Does nothing if radius or loads are unknown.
    fn check_spin_inertia(&mut self, i: usize, axle: &Axle, path: &str) {
        let (Some(radius), Some(load_shares)) = (axle.radius_m(), wheel_positions::wheel_load_shares(self.spec)) else {
            return;
        };
        let axle_wheels = wheel_positions::wheel_positions(self.spec)
            .into_iter()
            .zip(load_shares)
            .filter(|(position, _)| position.axle == i);
        let carried_mass = axle_wheels.map(|(_, share)| share * self.spec.chassis.mass_kg).fold(0.0, f64::max);
        let min_spin_inertia = MIN_RIM_MASS_SHARE * carried_mass * radius * radius;
        let paths = self.axle_paths(&["track_m", "behind_front_axle_m", "wheel_radius_m", "tyre_size"]);
        let mut compared_paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        compared_paths.extend(["chassis.mass_kg", "chassis.centre_behind_front_axle_m", "chassis.centre_left_m"]);
        let found = format!("{:e}", axle.wheel_spin_inertia_kg_m2);
        let accepts = format!("at least {min_spin_inertia:.1e} (one millionth of the carried mass, at the rim)");
        let is_heavy_enough = axle.wheel_spin_inertia_kg_m2 >= min_spin_inertia;
        self.require(
            &join_key(path, "wheel_spin_inertia_kg_m2"),
            &compared_paths,
            is_heavy_enough,
            found,
            accepts,
            "typical: 0.5 to 2",
        );
    }

    /// Returns true if the centre of mass is longitudinally between the first and the last axle, including both.
    fn is_centre_between_axles(&self) -> bool {
        let last_axle_position = self.spec.axles.last().map_or(0.0, |axle| axle.behind_front_axle_m);
        (0.0..=last_axle_position).contains(&self.spec.chassis.centre_behind_front_axle_m)
    }

    /// Checks axle `i`: the first axle is at 0, each other axle is behind the one before. Then checks, in this order:
    /// radius, spin inertia, brake disc, tyre name, values that a single wheel must not have, tread, steering angle
    /// below 90° at full lock, Ackermann steering, anti-roll bar, toe and camber over the travel, roll centre, lateral
    /// compliance, suspension and unsprung mass.
    pub fn check_axle(&mut self, i: usize) {
        let spec = self.spec;
        let axle = &spec.axles[i];
        let path = format!("axles[{i}]");
        let key_path = |name: &str| join_key(&path, name);
        let axle_position = axle.behind_front_axle_m;
        if i == 0 {
            let found = format!("{axle_position}");
            let help = "positions are measured from the first axle";
            self.require(
                &key_path("behind_front_axle_m"),
                NO_OTHER_KEYS,
                axle_position == 0.0,
                found,
                "0 for the first axle",
                help,
            );
        } else {
            let previous_position = spec.axles[i - 1].behind_front_axle_m;
            let previous_path = format!("axles[{}].behind_front_axle_m", i - 1);
            let accepts = format!("more than the position of the previous axle ({previous_position})");
            let found = format!("{axle_position}");
            self.require(
                &key_path("behind_front_axle_m"),
                &[&previous_path],
                axle_position > previous_position,
                found,
                accepts,
                NO_HELP,
            );
        }
        self.check_radius(axle, &path);
        self.check_spin_inertia(i, axle, &path);
        self.check_brake_disc(axle, &path);
        self.check_tyre_name(&key_path("tyre"), &axle.tyre);
        self.check_single_wheel(axle, &path);
        self.check_tread(axle, &path);
        let lock_angle = spec.steering.lock_deg * axle.steer_ratio.abs();
        let found = format!("{} gives an angle of {lock_angle:.1}° at full lock", axle.steer_ratio);
        let accepts = "a ratio that gives less than 90° at full lock";
        self.require(&key_path("steer_ratio"), &["steering.lock_deg"], lock_angle < 90.0, found, accepts, NO_HELP);
        self.check_ackermann(i, axle, &key_path("ackermann"));
        self.check_anti_roll_bar(axle, &path);
        self.check_toe_and_camber(i, axle, &path);
        self.check_roll_centre(axle, &path);
        self.check_lateral_compliance(i, axle, &path);
        self.check_suspension(i, axle, &key_path("suspension"));
        self.check_unsprung(i, axle, &path);
    }

    /// Checks that an axle with Ackermann steering is far enough from the turning axis, the lateral line through the
    /// centre of a slow turn: half the track times the magnitude of the steering ratio (m) or more, ahead or behind.
    /// Axles with a single wheel, without steering or without Ackermann share always pass. `path` is that of the key
    /// `ackermann`.
    fn check_ackermann(&mut self, i: usize, axle: &Axle, path: &str) {
        let Some(track) = axle.track_m else {
            return;
        };
        let distance = wheel_positions::turning_distance(self.spec, i).abs();
        // Smallest allowed distance, m.
        let min_distance = 0.5 * track * axle.steer_ratio.abs();
        let is_far_enough = axle.ackermann == 0.0 || axle.steer_ratio == 0.0 || distance >= min_distance;
        let paths = self.axle_paths(&["behind_front_axle_m", "steer_ratio"]);
        let mut compared_paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let track_path = format!("axles[{i}].track_m");
        compared_paths.push(&track_path);
        let found = format!("{} on an axle {distance:.2} m from the turning axis", axle.ackermann);
        let help =
            "the turning axis is at the mean of the unsteered axles or, if all axles steer, where their ratios agree";
        let accepts = format!("0 on an axle closer than {min_distance:.2} m (half the track times the ratio)");
        self.require(path, &compared_paths, is_far_enough, found, accepts, help);
    }

    /// Checks that the tyre `name` exists. The fault lists the tyres and suggests the most similar name.
    fn check_tyre_name(&mut self, path: &str, name: &str) {
        let names: Vec<&str> = self.spec.tyres.keys().map(String::as_str).collect();
        let is_known = names.contains(&name);
        let similar_name = nearest_word(name, names.iter().copied());
        let help = similar_name.map(|similar_name| format!("did you mean `{similar_name}`?")).unwrap_or_default();
        let accepts = format!("one of the tyres {}", quote_names(&names));
        let missing_tyre_path = join_key("tyres", name);
        self.require(path, &["tyres", &missing_tyre_path], is_known, format!("unknown tyre `{name}`"), accepts, &help);
    }

    /// Checks that the width of a cylinder or a torus as contact shape is at most the diameter of its wheel. Does
    /// nothing for other contact shapes or without a radius.
    fn check_tread(&mut self, axle: &Axle, path: &str) {
        if let (Some(Probe::Cylinder { width_m } | Probe::Torus { width_m }), Some(radius)) =
            (&axle.probe, axle.radius_m())
        {
            let (found, accepts) =
                (format!("{width_m} m"), format!("at most the wheel diameter of {} m", 2.0 * radius));
            self.require(
                &join_key(path, "probe.width_m"),
                NO_OTHER_KEYS,
                *width_m <= 2.0 * radius,
                found,
                accepts,
                NO_HELP,
            );
        }
    }

    /// Checks that an axle with one wheel (without `track_m`) is not solid and has no values that need two wheels:
    /// anti-roll bar, toe, camber, roll centre, heave spring, toe and camber over the travel. Each value other than 0
    /// is a fault of its own. An axle with a track always passes.
    fn check_single_wheel(&mut self, axle: &Axle, path: &str) {
        let track_path = join_key(path, "track_m");
        let is_single_wheel = axle.track_m.is_none();
        let two_wheel_values = [
            ("toe_deg", axle.toe_deg),
            ("camber_deg", axle.camber_deg),
            ("roll_centre_height_m", axle.roll_centre_height_m),
        ];
        let help = "an axle without `track_m` has a single wheel in the centre";
        let solid_text = "true on an axle with one wheel".to_owned();
        self.require(
            &join_key(path, "solid_axle"),
            &[&track_path],
            !is_single_wheel || !axle.solid_axle,
            solid_text,
            "absent or false",
            help,
        );
        let two_wheel_values = two_wheel_values.map(|(key, value)| (join_key(path, key), value)).into_iter();
        let two_wheel_values = anti_roll_bar_values(axle, path).chain(two_wheel_values);
        for (key_path, value) in
            two_wheel_values.chain(heave_spring_values(axle, path)).chain(toe_camber_values(axle, path))
        {
            let found = format!("{value} on an axle with one wheel");
            self.require(&key_path, &[&track_path], !is_single_wheel || value == 0.0, found, "absent or 0", help);
        }
    }

    /// Checks the steering: its table if an axle is steered, and a compliant linkage.
    pub fn check_steering(&mut self) {
        self.check_steering_table();
        self.check_steering_compliance();
    }

    /// Reports a missing `steering` table if an axle is steered (ratio other than 0). Does nothing if the list of
    /// axles, the ratio of the first steered axle or `steering` holds a placeholder.
    fn check_steering_table(&mut self) {
        let steered_axle = self.spec.axles.iter().position(|axle| axle.steer_ratio != 0.0);
        let Some(axle_index) = steered_axle.filter(|_| self.collector.given_span("steering").is_none()) else { return };
        let ratio_path = format!("axles[{axle_index}].steer_ratio");
        if self.are_valid(&["axles", &ratio_path, "steering"]) {
            let span = self.collector.nearest_span("steering");
            let accepts = "set for a vehicle with a steered axle";
            self.collector.add_fault(FaultKind::MissingKey, "steering".to_owned(), span, "missing", accepts, None); // no help
        }
    }

    /// Checks a compliant steering linkage. It needs steering axes, a trail that is not negative in total, and tyres
    /// with a slip stiffness on steered axles. A horizontal force of any direction, equal to the load of the heaviest
    /// steered wheel, may deflect it by at most [`MAX_LINKAGE_DEFLECTION_DEG`]. Does nothing with a rigid linkage.
    fn check_steering_compliance(&mut self) {
        let steering = &self.spec.steering;
        let Some(compliance) = &steering.compliance else { return };
        let Some(kingpin) = &steering.kingpin else {
            if self.are_valid(&["steering.kingpin"]) {
                let span = self.collector.nearest_span("steering.kingpin");
                let (path, accepts) = ("steering.kingpin".to_owned(), "set for a compliant steering linkage");
                self.collector.add_fault(FaultKind::MissingKey, path, span, "missing", accepts, None); // no help
            }
            return;
        };
        let trail = kingpin.trail_m + kingpin.pneumatic_trail_m;
        let found = format!("{trail} m with the pneumatic trail, which turns the wheels into the turn");
        let compared = ["steering.kingpin.pneumatic_trail_m"];
        self.require("steering.kingpin.trail_m", &compared, trail >= 0.0, found, "0 or more in total", NO_HELP);
        let steered_axles: Vec<usize> =
            (0..self.spec.axles.len()).filter(|&i| self.spec.axles[i].steer_ratio != 0.0).collect();
        for &i in &steered_axles {
            let tyre = &self.spec.axles[i].tyre;
            let creeps = !matches!(self.spec.tyres.get(tyre), Some(Tyre::Coulomb { .. }));
            let (path, table) = (format!("axles[{i}].tyre"), join_key("tyres", tyre));
            let accepts = "a tyre with a slip stiffness, because the steering linkage is compliant";
            self.require(&path, &[&table], creeps, format!("`{tyre}` has dry friction"), accepts, NO_HELP);
        }
        let mass = steered_axles.into_iter().flat_map(|i| self.carried_masses(i)).fold(0.0, f64::max);
        // Largest lever of a force on the ground: side forces act on the trails, longitudinal forces on the scrub radius.
        let lever = trail.max(0.0).hypot(kingpin.scrub_radius_m);
        let moment = mass * f64::from(STANDARD_GRAVITY) * lever;
        let deflection = moment / compliance.stiffness_nm_per_deg;
        let found = format!(
            "{} N m per degree: a horizontal force equal to the wheel load ({moment:.0} N m) deflects the linkage by {deflection:.1}°",
            compliance.stiffness_nm_per_deg
        );
        let least = (moment / MAX_LINKAGE_DEFLECTION_DEG).ceil();
        let accepts =
            format!("a deflection of at most {MAX_LINKAGE_DEFLECTION_DEG}° ({least:.0} N m per degree or more)");
        let mut paths = self.axle_paths(&["track_m", "behind_front_axle_m", "steer_ratio"]);
        let chassis = ["mass_kg", "centre_behind_front_axle_m", "centre_left_m"].map(|key| join_key("chassis", key));
        paths.extend(chassis);
        paths.extend(["trail_m", "pneumatic_trail_m", "scrub_radius_m"].map(|key| join_key("steering.kingpin", key)));
        let compared: Vec<&str> = paths.iter().map(String::as_str).collect();
        let is_satisfied = deflection <= MAX_LINKAGE_DEFLECTION_DEG;
        self.require("steering.compliance.stiffness_nm_per_deg", &compared, is_satisfied, found, accepts, NO_HELP);
    }

    /// Checks that brake torques are stated for the whole car or for each axle, not both; each axle with a torque is
    /// then reported. Checks that the front share of a car with a single axle is 1. Does nothing without a `brakes`
    /// table.
    pub fn check_brakes(&mut self) {
        let spec = self.spec;
        let Some(brakes) = &spec.brakes else {
            return;
        };
        for (i, axle) in spec.axles.iter().enumerate() {
            let found = "set together with `brakes`".to_owned();
            let help = "set either the torque of the whole car in `brakes` or the torque of each axle";
            let path = format!("axles[{i}].brake_torque_nm");
            self.require(&path, &["brakes"], axle.brake_torque_nm.is_none(), found, "set alone", help);
        }
        let is_share_valid = spec.axles.len() > 1 || brakes.front_bias == 1.0;
        let found = format!("{} of the torque on the only axle", brakes.front_bias);
        self.require("brakes.front_bias", &["axles"], is_share_valid, found, "1 with a single axle", NO_HELP);
    }

    /// Checks the aerodynamics; does nothing without an `aero` table. Drag and each surface need exactly one of two
    /// alternative keys (dimensionless coefficient, or force per squared speed), the side force at most one. Each
    /// dimensionless coefficient that is given also needs a frontal area. Then the maps are checked.
    pub fn check_aero(&mut self) {
        let spec = self.spec;
        let Some(aero) = &spec.aero else {
            return;
        };
        self.require_exactly_one(
            "aero",
            ("drag_coefficient", aero.drag_coefficient.is_some()),
            ("drag_n_s2_per_m2", aero.drag_n_s2_per_m2.is_some()),
        );
        // Whether an area is given.
        let has_area = aero.frontal_area_m2.is_some();
        if aero.side_coefficient.is_some() && aero.side_n_s2_per_m2.is_some() {
            let found = "set together with `side_coefficient`".to_owned();
            let accepts = "set alone: either `side_coefficient` or `side_n_s2_per_m2`";
            self.require(
                "aero.side_n_s2_per_m2",
                &["aero.side_coefficient"],
                false, // both keys are given
                found,
                accepts,
                "remove one of them",
            );
        }
        let coefficients = [
            ("aero.drag_coefficient".to_owned(), aero.drag_coefficient.is_some()),
            ("aero.side_coefficient".to_owned(), aero.side_coefficient.is_some()),
        ];
        let surface_coefficients =
            aero.surfaces.iter().enumerate().map(|(i, surface)| {
                (format!("aero.surfaces[{i}].lift_coefficient"), surface.lift_coefficient.is_some())
            });
        let coefficients: Vec<(String, bool)> = coefficients.into_iter().chain(surface_coefficients).collect();
        for (path, is_given) in coefficients {
            let found = "set without an area".to_owned();
            self.require(
                &path,
                &["aero.frontal_area_m2"],
                !is_given || has_area,
                found,
                "set together with `frontal_area_m2`",
                NO_HELP,
            );
        }
        for (i, surface) in aero.surfaces.iter().enumerate() {
            self.require_exactly_one(
                &format!("aero.surfaces[{i}]"),
                ("lift_coefficient", surface.lift_coefficient.is_some()),
                ("downforce_n_s2_per_m2", surface.downforce_n_s2_per_m2.is_some()),
            );
        }
        self.check_aero_maps(aero);
    }
}
