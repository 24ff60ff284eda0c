//! Rules of chassis, axles, brakes, steering and aerodynamics.

use super::suspension::{heave_spring_values, toe_camber_values};
use super::{FaultKind, Rules, join_key, nearest_word, quote_names};
use crate::spec::{Axle, Inertia, Probe, Tyre};
use crate::tyre_size::TyreSize;
use crate::wheel_positions;
use skidpad_core::MAX_WHEELS;

/// Largest difference between the mass of the boxes and the stated mass, as a share of the stated mass.
const BOX_MASS_TOLERANCE: f64 = 0.01;
/// Largest distance between the centre of mass of the boxes and the stated one along each axis, m.
const BOX_CENTRE_TOLERANCE_M: f64 = 0.02;

/// Smallest load of a wheel at rest, as a share of an even distribution. Slightly more than the model requires.
const MIN_LOAD_SHARE: f64 = 1.001e-3;

/// Smallest equivalent mass of a wheel at its rim, as a share of the mass that it carries.
const MIN_RIM_MASS_SHARE: f64 = 1e-6;

impl Rules<'_> {
    /// Checks that the chassis has either an inertia or boxes. Checks the moments of inertia, or mass and centre of the
    /// boxes. Checks that the underside of the collision box, `above_ground_m − height_m / 2`, is above the ground.
    pub fn check_chassis(&mut self) {
        let chassis = &self.spec.chassis;
        let boxes = ("boxes", !chassis.boxes.is_empty());
        self.require_exactly_one("chassis", ("inertia", chassis.inertia.is_some()), boxes);
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
            "the collision box would stand in the ground",
        );
    }

    /// Checks that the moments of inertia are those of a rigid body: the square of the product of inertia is less than
    /// roll times yaw inertia, and the pitch inertia satisfies the triangle inequality with the two other principal
    /// moments. `xx`, `yy`, `zz` are roll, pitch and yaw inertia, `xz` is the product of inertia.
    fn check_inertia(&mut self, inertia: &Inertia) {
        let Inertia { roll_kg_m2: xx, pitch_kg_m2: yy, yaw_kg_m2: zz, roll_yaw_kg_m2: xz } = *inertia;
        let paths =
            ["roll_kg_m2", "pitch_kg_m2", "yaw_kg_m2", "roll_yaw_kg_m2"].map(|k| join_key("chassis.inertia", k));
        let others: Vec<&str> = paths.iter().map(String::as_str).collect();
        let definite = xz * xz < xx * zz;
        let found = format!("its square exceeds {xx} times {zz}");
        self.require(&paths[3], &others, definite, found, "smaller than the moments it couples", "");
        // Triangle inequality: no principal moment of a body exceeds the sum of the other two.
        // Difference of the two principal moments in the plane of symmetry; their sum is `xx + zz`.
        let spread = (xx - zz).hypot(2.0 * xz);
        // Margin for rounding.
        let slack = 1e-9 * (xx + yy + zz);
        let (least, most) = (spread - slack, xx + zz + slack);
        let found = format!("{yy} does not fit roll {xx} and yaw {zz}");
        let accepts = format!("from {spread} to {}", xx + zz);
        let help = "of any rigid body, no principal moment exceeds the sum of the other two";
        self.require(&paths[1], &others, !definite || (least..=most).contains(&yy), found, accepts, help);
    }

    /// Checks that roll and pitch inertia of the car exceed those of its unsprung masses as points about the centre of
    /// mass: `Σ m y²` and `Σ m x²` over the wheels. The inertia is the stated one or that of the boxes, and the fault is
    /// reported there. Skipped without inertia and boxes, and if an unsprung mass is at least the load of its wheel,
    /// which another rule reports.
    pub fn check_sprung_inertia(&mut self) {
        let chassis = &self.spec.chassis;
        let [roll, pitch] = match &chassis.inertia {
            Some(own) => [own.roll_kg_m2, own.pitch_kg_m2],
            None if chassis.boxes.is_empty() => return,
            None => {
                let [roll, pitch, ..] = wheel_positions::inertia_of_boxes(chassis);
                [roll, pitch]
            }
        };
        // Unsprung mass of a wheel of the axle, kg.
        let own = |axle: usize| self.spec.axles[axle].unsprung.as_ref().map_or(0.0, |own| own.mass_kg);
        // The rule `unsprung` reports masses that exceed the load of their wheel.
        if (0..self.spec.axles.len()).any(|i| self.carried_masses(i).any(|carried| carried <= own(i))) {
            return;
        }
        // Roll and pitch inertia of the unsprung masses, kg m².
        let mut of_wheels = [0.0; 2];
        for position in wheel_positions::wheel_positions(self.spec) {
            let (own, [x, y]) = (own(position.axle), position.point);
            of_wheels = [of_wheels[0] + own * y * y, of_wheels[1] + own * x * x];
        }
        let mut paths = self.axle_paths(&["unsprung.mass_kg", "track_m", "behind_front_axle_m"]);
        paths.push("chassis.centre_behind_front_axle_m".into());
        let others: Vec<&str> = paths.iter().map(String::as_str).collect();
        for (name, own, of_wheels) in [("roll", roll, of_wheels[0]), ("pitch", pitch, of_wheels[1])] {
            let path = match chassis.inertia {
                Some(_) => format!("chassis.inertia.{name}_kg_m2"),
                None => "chassis.boxes".into(),
            };
            let found = format!("{own:.4} kg m² in {name}");
            let accepts =
                format!("more than {of_wheels:.4} kg m², which the `unsprung` masses of its wheels have alone");
            let help = "the mass of a wheel is part of the car's, and so is its inertia about the centre of mass";
            self.require(&path, &others, of_wheels == 0.0 || own > of_wheels, found, accepts, help);
        }
    }

    /// Checks the sum of the masses of the boxes and their common centre of mass. The mass must be the stated one within
    /// 1 %, the centre the stated one within [`BOX_CENTRE_TOLERANCE_M`] along each axis. Both faults are reported at
    /// `chassis.boxes`.
    fn check_boxes(&mut self) {
        let chassis = &self.spec.chassis;
        let keys = ["mass_kg", "behind_front_axle_m", "left_m", "above_ground_m"];
        let each = (0..chassis.boxes.len()).flat_map(|i| keys.iter().map(move |k| format!("chassis.boxes[{i}].{k}")));
        let paths: Vec<String> = each.collect();
        let mut others: Vec<&str> = paths.iter().map(String::as_str).collect();
        others.extend(["chassis.mass_kg", "chassis.centre_behind_front_axle_m"]);
        others.extend(["chassis.centre_left_m", "chassis.centre_above_ground_m"]);
        let total: f64 = chassis.boxes.iter().map(|b| b.mass_kg).sum();
        let fits = (total - chassis.mass_kg).abs() <= BOX_MASS_TOLERANCE * chassis.mass_kg;
        let accepts = format!("{} kg together, as `mass_kg` says, within 1 %", chassis.mass_kg);
        self.require("chassis.boxes", &others, fits, format!("they weigh {total} kg together"), accepts, "");
        let mean =
            |of: fn(&crate::spec::Box3) -> f64| chassis.boxes.iter().map(|b| b.mass_kg * of(b)).sum::<f64>() / total;
        let found = [mean(|b| b.behind_front_axle_m), mean(|b| b.left_m), mean(|b| b.above_ground_m)];
        let stated = [chassis.centre_behind_front_axle_m, chassis.centre_left_m, chassis.centre_above_ground_m];
        let near = (0..3).all(|i| (found[i] - stated[i]).abs() <= BOX_CENTRE_TOLERANCE_M);
        let [behind, left, above] = found;
        let found = format!("their centre of mass is {behind:.3} m behind, {left:.3} m left, {above:.3} m up");
        let accepts = format!("boxes with the stated centre of mass, within {BOX_CENTRE_TOLERANCE_M} m");
        self.require("chassis.boxes", &others, near, found, accepts, "");
    }

    /// Checks that the temperature range over which a brake disc fades rises. Does nothing without a disc.
    fn check_brake_disc(&mut self, axle: &Axle, path: &str) {
        let Some(disc) = &axle.brake_disc else { return };
        let key = |name: &str| join_key(&join_key(path, "brake_disc"), name);
        let (from, to) = (disc.fades_from_k, disc.fades_to_k);
        let accepts = format!("more than the {from} of `fades_from_k`");
        self.require(&key("fades_to_k"), &[&key("fades_from_k")], to > from, format!("{to}"), accepts, "");
    }

    /// Checks the wheel radius and the tyre size of an axle: exactly one of both is given, the size can be parsed, and
    /// the radius is less than the track. Both may be absent with a Magic Formula tyre, which has a radius of its own.
    fn check_radius(&mut self, axle: &Axle, path: &str) {
        let given = ("wheel_radius_m", axle.wheel_radius_m.is_some());
        let has_own = matches!(self.spec.tyres.get(&axle.tyre), Some(Tyre::MagicFormula { .. }));
        if axle.radius_m().is_some() || !has_own {
            self.require_exactly_one(path, given, ("tyre_size", axle.tyre_size.is_some()));
        }
        let (radius, size) = (join_key(path, "wheel_radius_m"), join_key(path, "tyre_size"));
        if let Some(text) = &axle.tyre_size {
            let accepts = "a metric size like `275/40 R18`";
            let help = "width of the section in mm, its height in % (82 without), `R`, rim in inches; or give `wheel_radius_m`";
            self.require(&size, &[], TyreSize::parse(text).is_some(), format!("`{text}`"), accepts, help);
        }
        if let (Some(track), Some(found)) = (axle.track_m, axle.radius_m()) {
            let accepts = format!("less than the track of {track} m");
            let place = if axle.tyre_size.is_some() { &size } else { &radius };
            self.require(place, &[&join_key(path, "track_m")], found < track, format!("{found} m"), accepts, "");
        }
    }

    /// Checks that the car has 2 to [`MAX_WHEELS`] wheels, that its centre of mass is between them, and that every wheel
    /// carries at least [`MIN_LOAD_SHARE`] of an even distribution at rest. A centre of mass outside the wheels is
    /// reported at its lateral position if that is the cause, otherwise at its longitudinal one.
    pub fn check_footprint(&mut self) {
        let paths = self.axle_paths(&["track_m"]);
        let mut others: Vec<&str> = paths.iter().map(String::as_str).collect();
        let count = wheel_positions::wheel_positions(self.spec).len();
        let fits = (2..=MAX_WHEELS).contains(&count);
        let wheels = if count == 1 { "1 wheel".into() } else { format!("{count} wheels") };
        self.require("axles", &others, fits, wheels, format!("2 to {MAX_WHEELS} wheels"), "");
        let behind = self.axle_paths(&["behind_front_axle_m"]);
        others.extend(behind.iter().map(String::as_str));
        others.extend(["chassis.centre_behind_front_axle_m", "chassis.centre_left_m"]);
        let chassis = &self.spec.chassis;
        // The fault is about the lateral position if the longitudinal one is between the axles.
        let sideways = chassis.centre_left_m != 0.0 && self.is_centre_between_axles();
        let (path, centre) = match sideways {
            true => ("chassis.centre_left_m", chassis.centre_left_m),
            false => ("chassis.centre_behind_front_axle_m", chassis.centre_behind_front_axle_m),
        };
        let found = format!("{centre} m lies outside the wheels");
        let carried = !fits || wheel_positions::wheel_load_shares(self.spec).is_some();
        let help = "wheels only push: with its centre of mass beyond them the car would fall over at rest";
        self.require(path, &others, carried, found, "between the wheels", help);
        let Some(shares) = wheel_positions::wheel_load_shares(self.spec).filter(|_| fits) else { return };
        // Share of the weight at an even distribution.
        let even = 1.0 / shares.len() as f64;
        let idle = wheel_positions::wheel_positions(self.spec)
            .into_iter()
            .zip(shares)
            .find(|(_, share)| *share < MIN_LOAD_SHARE * even);
        if let Some((position, share)) = idle {
            let found = format!("a wheel of axle {} carries {:.1e} of the weight at rest", position.axle + 1, share);
            let accepts = "where every wheel carries at least a thousandth of an even share";
            self.require(path, &others, false, found, accepts, "");
        }
    }

    /// Checks that the spin inertia of a wheel is at least [`MIN_RIM_MASS_SHARE`] of `m r²`, with the largest mass `m`
    /// that a wheel of axle `i` carries and the radius `r`. Does nothing if radius or loads are unknown.
    fn check_spin_inertia(&mut self, i: usize, axle: &Axle, path: &str) {
        let (Some(radius), Some(shares)) = (axle.radius_m(), wheel_positions::wheel_load_shares(self.spec)) else {
            return;
        };
        let carried = wheel_positions::wheel_positions(self.spec)
            .into_iter()
            .zip(shares)
            .filter(|(position, _)| position.axle == i);
        let carried = carried.map(|(_, share)| share * self.spec.chassis.mass_kg).fold(0.0, f64::max);
        let least = MIN_RIM_MASS_SHARE * carried * radius * radius;
        let paths = self.axle_paths(&["track_m", "behind_front_axle_m", "wheel_radius_m", "tyre_size"]);
        let mut others: Vec<&str> = paths.iter().map(String::as_str).collect();
        others.extend(["chassis.mass_kg", "chassis.centre_behind_front_axle_m", "chassis.centre_left_m"]);
        let found = format!("{:e}", axle.wheel_spin_inertia_kg_m2);
        let accepts = format!("at least {least:.1e}, a millionth of the mass it carries at its rim");
        let heavy = axle.wheel_spin_inertia_kg_m2 >= least;
        self.require(
            &join_key(path, "wheel_spin_inertia_kg_m2"),
            &others,
            heavy,
            found,
            accepts,
            "wheels of cars have 0.5 to 2",
        );
    }

    /// Returns true if the centre of mass is longitudinally between the first and the last axle, including both.
    fn is_centre_between_axles(&self) -> bool {
        let last = self.spec.axles.last().map_or(0.0, |axle| axle.behind_front_axle_m);
        (0.0..=last).contains(&self.spec.chassis.centre_behind_front_axle_m)
    }

    /// Checks axle `i`: positions rise from 0 at the first axle, radius, spin inertia, brake disc, tyre name, tread,
    /// steering angle below 90° at full lock, Ackermann steering, anti-roll bar, guidance, roll centre, lateral
    /// compliance, suspension and unsprung mass. An axle with one wheel must not have values that need two.
    pub fn check_axle(&mut self, i: usize) {
        let spec = self.spec;
        let axle = &spec.axles[i];
        let path = format!("axles[{i}]");
        let key = |name: &str| join_key(&path, name);
        let behind = axle.behind_front_axle_m;
        if i == 0 {
            let found = format!("{behind}");
            let help = "every position counts from the first axle";
            self.require(&key("behind_front_axle_m"), &[], behind == 0.0, found, "0 for the first axle", help);
        } else {
            let before = spec.axles[i - 1].behind_front_axle_m;
            let other = format!("axles[{}].behind_front_axle_m", i - 1);
            let accepts = format!("more than the {before} of the axle before");
            let found = format!("{behind}");
            self.require(&key("behind_front_axle_m"), &[&other], behind > before, found, accepts, "");
        }
        self.check_radius(axle, &path);
        self.check_spin_inertia(i, axle, &path);
        self.check_brake_disc(axle, &path);
        self.check_tyre_name(&key("tyre"), &axle.tyre);
        self.check_single_wheel(axle, &path);
        self.check_tread(axle, &path);
        let angle = spec.steering.lock_deg * axle.steer_ratio.abs();
        let found = format!("{} turns it by {angle:.1}° at full lock", axle.steer_ratio);
        let accepts = "a ratio that stays below 90° at full lock";
        self.require(&key("steer_ratio"), &["steering.lock_deg"], angle < 90.0, found, accepts, "");
        self.check_ackermann(i, axle, &key("ackermann"));
        self.check_anti_roll_bar(axle, &path);
        self.check_guidance(i, axle, &path);
        self.check_roll_centre(axle, &path);
        self.check_lateral_compliance(i, axle, &path);
        self.check_suspension(i, axle, &key("suspension"));
        self.check_unsprung(i, axle, &path);
    }

    /// Checks that an axle with Ackermann steering is far enough from the turning axis: at least half its track times its
    /// steering ratio. Does nothing for a single wheel; axles without steering or without Ackermann always fit.
    fn check_ackermann(&mut self, i: usize, axle: &Axle, path: &str) {
        let Some(track) = axle.track_m else {
            return;
        };
        let distance = wheel_positions::turning_distance(self.spec, i).abs();
        // Smallest allowed distance, m.
        let nearest = 0.5 * track * axle.steer_ratio.abs();
        let fits = axle.ackermann == 0.0 || axle.steer_ratio == 0.0 || distance >= nearest;
        let paths = self.axle_paths(&["behind_front_axle_m", "steer_ratio"]);
        let mut others: Vec<&str> = paths.iter().map(String::as_str).collect();
        let own_track = format!("axles[{i}].track_m");
        others.push(&own_track);
        let found = format!("{} on an axle {distance:.2} m from the turning axis", axle.ackermann);
        let help = "the car turns about the mean of its unsteered axles or, if all steer, where their ratios agree";
        let accepts = format!("0 on an axle closer than {nearest:.2} m, half its track times its ratio");
        self.require(path, &others, fits, found, accepts, help);
    }

    /// Checks that the tyre `name` exists. The fault lists the tyres and suggests the most similar name.
    fn check_tyre_name(&mut self, path: &str, name: &str) {
        let names: Vec<&str> = self.spec.tyres.keys().map(String::as_str).collect();
        let known = names.contains(&name);
        let like = nearest_word(name, names.iter().copied());
        let help = like.map(|like| format!("did you mean `{like}`?")).unwrap_or_default();
        let accepts = format!("one of the tyres {}", quote_names(&names));
        let lost = join_key("tyres", name);
        self.require(path, &["tyres", &lost], known, format!("there is no tyre `{name}`"), accepts, &help);
    }

    /// Checks that the width of a cylinder or a torus as contact shape is at most the diameter of its wheel. Does nothing
    /// for other contact shapes or without a radius.
    fn check_tread(&mut self, axle: &Axle, path: &str) {
        if let (Some(Probe::Cylinder { width_m } | Probe::Torus { width_m }), Some(radius)) =
            (&axle.probe, axle.radius_m())
        {
            let (found, accepts) =
                (format!("{width_m} m"), format!("at most {} m, the wheel's diameter", 2.0 * radius));
            self.require(&join_key(path, "probe.width_m"), &[], *width_m <= 2.0 * radius, found, accepts, "");
        }
    }

    /// Checks that an axle with one wheel (without `track_m`) is not solid and has no values that need two wheels:
    /// anti-roll bar, toe, camber, roll centre, heave spring, guidance. Values of 0 are accepted.
    fn check_single_wheel(&mut self, axle: &Axle, path: &str) {
        let track = join_key(path, "track_m");
        let alone = axle.track_m.is_none();
        let sided = [
            ("anti_roll_bar_n_per_m", axle.anti_roll_bar_n_per_m),
            ("anti_roll_bar_n", axle.anti_roll_bar_n.unwrap_or(0.0)),
            ("anti_roll_bar_share", axle.anti_roll_bar_share.unwrap_or(0.0)),
            ("toe_deg", axle.toe_deg),
            ("camber_deg", axle.camber_deg),
            ("roll_centre_height_m", axle.roll_centre_height_m),
        ];
        let help = "an axle without `track_m` has a single wheel in the middle";
        let solid = "true on an axle with one wheel".to_owned();
        self.require(
            &join_key(path, "solid_axle"),
            &[&track],
            !alone || !axle.solid_axle,
            solid,
            "absent or false",
            help,
        );
        let sided = sided.map(|(k, value)| (join_key(path, k), value)).into_iter();
        for (key, value) in sided.chain(heave_spring_values(axle, path)).chain(toe_camber_values(axle, path)) {
            let found = format!("{value} on an axle with one wheel");
            self.require(&key, &[&track], !alone || value == 0.0, found, "absent or 0", help);
        }
    }

    /// Reports a missing `steering` table if an axle is steered. Does nothing if one of the keys holds a placeholder.
    pub fn check_steering(&mut self) {
        let steered = self.spec.axles.iter().position(|axle| axle.steer_ratio != 0.0);
        let Some(axle) = steered.filter(|_| self.collector.given_span("steering").is_none()) else { return };
        let ratio = format!("axles[{axle}].steer_ratio");
        if self.are_valid(&["axles", &ratio, "steering"]) {
            let span = self.collector.nearest_span("steering");
            let accepts = "given for a vehicle with a steered axle";
            self.collector.add_fault(FaultKind::MissingKey, "steering".to_owned(), span, "missing", accepts, None);
        }
    }

    /// Checks that brake torques are those of the whole car or of each axle, not both, and that the front share of a car
    /// with a single axle is 1. Does nothing without a `brakes` table.
    pub fn check_brakes(&mut self) {
        let spec = self.spec;
        let Some(brakes) = &spec.brakes else {
            return;
        };
        for (i, axle) in spec.axles.iter().enumerate() {
            let found = "given as well as `brakes`".to_owned();
            let help = "state the torque of the whole car in `brakes`, or of each axle, not both";
            let path = format!("axles[{i}].brake_torque_nm");
            self.require(&path, &["brakes"], axle.brake_torque_nm.is_none(), found, "the only one", help);
        }
        let whole = spec.axles.len() > 1 || brakes.front_share == 1.0;
        let found = format!("{} of the torque on the only axle", brakes.front_share);
        self.require("brakes.front_share", &["axles"], whole, found, "1 with a single axle", "");
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
        let area = aero.frontal_area_m2.is_some();
        if aero.side_coefficient.is_some() && aero.side_n_s2_per_m2.is_some() {
            let found = "given as well as `side_coefficient`".to_owned();
            let accepts = "the only one of `side_coefficient` and `side_n_s2_per_m2`";
            self.require(
                "aero.side_n_s2_per_m2",
                &["aero.side_coefficient"],
                false,
                found,
                accepts,
                "remove one of them",
            );
        }
        let coefficients = [
            ("aero.drag_coefficient".to_owned(), aero.drag_coefficient.is_some()),
            ("aero.side_coefficient".to_owned(), aero.side_coefficient.is_some()),
        ];
        let surfaces =
            aero.surfaces.iter().enumerate().map(|(i, surface)| {
                (format!("aero.surfaces[{i}].lift_coefficient"), surface.lift_coefficient.is_some())
            });
        let coefficients: Vec<(String, bool)> = coefficients.into_iter().chain(surfaces).collect();
        for (path, given) in coefficients {
            let found = "given without an area".to_owned();
            self.require(
                &path,
                &["aero.frontal_area_m2"],
                !given || area,
                found,
                "together with `frontal_area_m2`",
                "",
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
