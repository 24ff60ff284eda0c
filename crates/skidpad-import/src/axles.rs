//! Conversion of the neutral car to a vehicle file: wheels are grouped into axles, and the pose at rest is computed.

use crate::Import;
use crate::car::{BodyBox, Car, ContactHeight, Corner, SourcedNumber, common_centre, sourced};
use crate::jounce_curves::{RestPosition, force_point, toe_and_camber};
use crate::vehicle_file::{CommentedSpec, round_digits};
use skidpad_core::STANDARD_GRAVITY;
use skidpad_core::model::sprung_masses;
use skidpad_spec::VehicleSpec;
use skidpad_spec::spec::{
    AntiRollBar, Axle, Box3, Chassis, Hull, LateralCompliance, Powertrain, RollingResistance, Steering, Suspension,
    Tyre, Unsprung,
};
use std::collections::BTreeMap;

/// Largest longitudinal distance between wheels of one axle (m).
const MAX_AXLE_OFFSET_M: f64 = 0.05;
/// Difference of positions above which a note is added (m).
const NOTED_OFFSET_M: f64 = 1e-3;
/// Smallest travel in a vehicle file (m).
const MIN_TRAVEL_M: f64 = 1e-3;

/// Wheels of one axle: left and right, or a single wheel.
type AxleWheels<'a> = Vec<&'a Corner>;

/// Converts the neutral car `car` to a vehicle file. Steps: group the wheels into axles; distribute the mass over the
/// wheels by static equilibrium; compute the height of each contact point at rest; report wheels at their bump stop,
/// and add notes about tilt; collect the tyres; build the axles, the chassis, the steering and the powertrain.
///
/// Positions of the file are measured from the front axle, the lateral middle of the car and the ground. The ground is
/// at the load-weighted mean height of the contact points at rest. Brake torques are stored in the axles. Brakes of the
/// whole car, aerodynamics, hitch, motors and assists stay empty. Returns `None` after any fault, also if the centre of
/// mass lies outside of the wheels.
pub(crate) fn describe_vehicle(car: &Car, import: &mut Import<'_>) -> Option<CommentedSpec> {
    let groups = group_axles(car, import)?;
    let wheels: Vec<&Corner> = groups.iter().flatten().copied().collect();
    // Wheel positions relative to the centre of mass: forward, left (m).
    let points: Vec<[f64; 2]> =
        wheels.iter().map(|w| [w.position[0] - car.centre[0], w.position[1] - car.centre[1]]).collect();
    // Lists by wheel are in the order of `wheels` from here on: carried masses in kg, heights in m.
    let Some(carried_masses) = sprung_masses(&points, car.mass.value) else {
        let found = "the centre of mass lies outside the wheels";
        import.add_fault("", found, "a car that its wheels can support", "check the axes and the centre of mass");
        return None;
    };
    let rest_heights: Vec<f64> =
        wheels.iter().zip(&carried_masses).map(|(wheel, mass)| contact_height_at_rest(wheel, *mass)).collect();
    check_bump_stops(&wheels, &carried_masses, &rest_heights, import);
    note_tilt(&groups, &rest_heights, import);
    // Static equilibrium: the load-weighted mean is the height of the contact plane below the centre of mass.
    let ground_z = carried_masses.iter().zip(&rest_heights).map(|(mass, z)| mass * z).sum::<f64>() / car.mass.value;
    let mut draft = VehicleDraft {
        comments: BTreeMap::new(),
        front_axle_x: wheel_mean(&groups[0], |w| w.position[0]),
        ground_z,
        middle_y: lateral_middle(&groups),
    };
    // Tyres by name (`.0`), and the tyre name of each axle (`.1`).
    let tyres = collect_tyres(&groups, &mut draft);
    let mut axles = Vec::new();
    let mut first_wheel_index = 0;
    for (i, group) in groups.iter().enumerate() {
        let wheel_range = first_wheel_index..first_wheel_index + group.len();
        // Mean height of the contact points (m) and mean load of a wheel (N) of this axle.
        let height = rest_heights[wheel_range.clone()].iter().sum::<f64>() / group.len() as f64;
        let load = carried_masses[wheel_range].iter().sum::<f64>() / group.len() as f64 * f64::from(STANDARD_GRAVITY);
        axles.push(draft.axle(i, group, height, load, &tyres.1[i], import));
        first_wheel_index += group.len();
    }
    let spec = VehicleSpec {
        name: car.name.clone(),
        description: car.description.clone(),
        chassis: draft.chassis(car, &groups, import),
        axles,
        tyres: tyres.0,
        steering: draft.steering(car),
        brakes: None,
        rolling_resistance: None,
        static_rolling_resistance: None,
        powertrain: draft.powertrain(car, &groups),
        motors: Vec::new(),
        couplings: Vec::new(),
        aero: None,
        hitch: None,
        coupler: None,
        dolly: None,
        raycast_reference: car.raycast_reference.clone(),
        assists: None,
        non_physical: None,
        references: Vec::new(),
    };
    import.collector.faults.is_empty().then_some(CommentedSpec { spec, comments: draft.comments })
}

/// Returns the height of the contact point of a wheel at rest, in the frame of the body (m). `carried_mass` is the mass
/// `m` that the wheel carries (kg). A height of the unloaded spring is raised by the static deflection `m g / rate`; a
/// height at rest is returned unchanged. The limits of the travel are not applied.
fn contact_height_at_rest(wheel: &Corner, carried_mass: f64) -> f64 {
    match wheel.contact {
        ContactHeight::Unloaded(height) => height + carried_mass * f64::from(STANDARD_GRAVITY) / wheel.rate.value,
        ContactHeight::AtRest(height) => height,
    }
}

/// Adds a fault for each wheel with less than [`MIN_TRAVEL_M`] left between its position at rest and full bump.
/// `carried_masses` are sprung masses (kg), `rest_heights` heights of the contact points at rest (m), both in the order
/// of `wheels`. The fault states the static load, the spring rate, the deflection needed and the travel available.
fn check_bump_stops(wheels: &[&Corner], carried_masses: &[f64], rest_heights: &[f64], import: &mut Import<'_>) {
    for ((wheel, carried_mass), rest_height) in wheels.iter().zip(carried_masses).zip(rest_heights) {
        let [bump_height, droop_height] = wheel.contact_range;
        if bump_height - rest_height >= MIN_TRAVEL_M {
            continue;
        }
        let force = carried_mass * f64::from(STANDARD_GRAVITY);
        let found = format!(
            "the springs cannot carry the car: {force:.0} N on {:.0} N/m need {:.3} m of the travel of {:.3} m",
            wheel.rate.value,
            rest_height - droop_height,
            bump_height - droop_height
        );
        import.add_fault(
            &wheel.path,
            found,
            "a suspension that does not reach its stop at rest",
            "increase stiffness or travel",
        );
    }
}

/// Groups the wheels into axles, from front to rear, left before right. The wheels are visited from front to rear. A
/// wheel joins the present axle if it is at most [`MAX_AXLE_OFFSET_M`] behind the foremost wheel of that axle,
/// otherwise it begins a new axle. Adds a fault for fewer than two wheels. Adds a fault for each axle with more than
/// two wheels, or with two wheels less than 0.01 m apart laterally. Returns `None` if the import has any fault.
fn group_axles<'a>(car: &'a Car, import: &mut Import<'_>) -> Option<Vec<AxleWheels<'a>>> {
    let mut wheels: Vec<&Corner> = car.wheels.iter().collect();
    if wheels.len() < 2 {
        import.add_fault("", format!("{} wheels", wheels.len()), "a car with at least two wheels", "");
        return None;
    }
    // Falling x: foremost wheel first.
    wheels.sort_by(|a, b| b.position[0].total_cmp(&a.position[0]));
    let mut groups: Vec<AxleWheels<'a>> = Vec::new();
    for wheel in wheels {
        match groups.last_mut().filter(|group| group[0].position[0] - wheel.position[0] <= MAX_AXLE_OFFSET_M) {
            Some(group) => group.push(wheel),
            None => groups.push(vec![wheel]),
        }
    }
    for group in &mut groups {
        // Falling y: left wheel first.
        group.sort_by(|a, b| b.position[1].total_cmp(&a.position[1]));
        // 0.01 m: smallest lateral distance of two wheels of one axle.
        if group.len() > 2 || (group.len() == 2 && group[0].position[1] - group[1].position[1] < 0.01) {
            let found = format!("{} wheels within {MAX_AXLE_OFFSET_M} m along the car", group.len());
            import.add_fault(
                &group[0].path,
                found,
                "one wheel in the centre, or one wheel on each side",
                "model twin tyres as one wheel",
            );
        }
    }
    import.collector.faults.is_empty().then_some(groups)
}

/// Returns the arithmetic mean of `quantity` over the wheels of an axle.
fn wheel_mean(group: &[&Corner], quantity: impl Fn(&Corner) -> f64) -> f64 {
    group.iter().map(|w| quantity(w)).sum::<f64>() / group.len() as f64
}

/// Returns the mean of a number over the wheels of an axle, with the origin of the first wheel. Adds a note if a wheel
/// differs from the mean by more than 1e-4 of it; `part_name` names the part in the note.
fn mean_number(
    group: &[&Corner],
    number_of: fn(&Corner) -> &SourcedNumber,
    part_name: &str,
    import: &mut Import<'_>,
) -> SourcedNumber {
    let value = wheel_mean(group, |w| number_of(w).value);
    // Relative tolerance 1e-4.
    if group.iter().any(|w| (number_of(w).value - value).abs() > 1e-4 * value.abs()) {
        import.add_note(&group[0].path, format!("left and right {part_name} differ: the mean {value:.4} is used"));
    }
    sourced(value, number_of(group[0]).origin.clone())
}

/// Returns the lateral position of the middle of the car: the mean over the middles of the axles (m).
fn lateral_middle(groups: &[AxleWheels<'_>]) -> f64 {
    groups.iter().map(|group| wheel_mean(group, |w| w.position[1])).sum::<f64>() / groups.len() as f64
}

/// Adds a note if the mean heights of the axles at rest differ by more than [`NOTED_OFFSET_M`], because the car is
/// level in the vehicle file. Adds a note for each axle whose middle is more than [`NOTED_OFFSET_M`] beside the lateral
/// middle of the car. `rest_heights` are heights of the contact points (m), in the order of the wheels of `groups`.
fn note_tilt(groups: &[AxleWheels<'_>], rest_heights: &[f64], import: &mut Import<'_>) {
    let mut first_wheel = 0;
    // Mean contact height of each axle (m).
    let mut heights = Vec::new();
    for group in groups {
        heights.push(rest_heights[first_wheel..first_wheel + group.len()].iter().sum::<f64>() / group.len() as f64);
        first_wheel += group.len();
    }
    let (highest, lowest) = heights.iter().fold((f64::MIN, f64::MAX), |(high, low), z| (high.max(*z), low.min(*z)));
    if highest - lowest > NOTED_OFFSET_M {
        let height_difference_mm = (highest - lowest) * 1e3;
        import.add_note(
            "", // note on the whole file
            format!(
                "the static heights of the axles differ by {height_difference_mm:.0} mm: the car is tilted at rest in the source, and level in the vehicle file"
            ),
        );
    }
    for group in groups {
        let lateral_offset = wheel_mean(group, |w| w.position[1]) - lateral_middle(groups);
        if lateral_offset.abs() > NOTED_OFFSET_M {
            import.add_note(
                &group[0].path,
                format!(
                    "the centre of this axle is {:.0} mm beside the centre plane of the car: moved to the centre plane",
                    lateral_offset * 1e3
                ),
            );
        }
    }
}

/// Returns the different tyres by name, and the name of the tyre of each axle. An axle uses the tyre of its first
/// wheel. The tyre of the first axle is called `front`; a new tyre of a later axle `axle_2`, `axle_3` and so on; equal
/// tyres are stored once. Adds the origin of each stored tyre as a comment to `draft`.
fn collect_tyres(groups: &[AxleWheels<'_>], draft: &mut VehicleDraft) -> (BTreeMap<String, Tyre>, Vec<String>) {
    // Different tyres so far with their names.
    let mut tyres: Vec<(&Tyre, String)> = Vec::new();
    let mut names = Vec::new();
    for (i, group) in groups.iter().enumerate() {
        let tyre = &group[0].tyre;
        let name = match tyres.iter().find(|(stored_tyre, _)| *stored_tyre == tyre) {
            Some((_, name)) => name.clone(),
            None => {
                let name = if i == 0 { "front".to_owned() } else { format!("axle_{}", i + 1) };
                draft.add_comment(&format!("tyres.{name}.model"), &group[0].tyre_source);
                tyres.push((tyre, name.clone()));
                name
            }
        };
        names.push(name);
    }
    (tyres.into_iter().map(|(tyre, name)| (name, tyre.clone())).collect(), names)
}

/// Vehicle file under construction.
struct VehicleDraft {
    /// Comments of the vehicle file by path of the key.
    comments: BTreeMap<String, String>,
    /// Longitudinal position of the front axle in the frame of the source (m).
    front_axle_x: f64,
    /// Height of the ground in the frame of the source (m).
    ground_z: f64,
    /// Lateral position of the middle of the car in the frame of the source (m).
    middle_y: f64,
}

impl VehicleDraft {
    /// Stores the comment `origin` for the key `path`, unless `origin` is empty. Replaces an earlier comment of the
    /// key.
    fn add_comment(&mut self, path: &str, origin: &str) {
        if !origin.is_empty() {
            self.comments.insert(path.to_owned(), origin.to_owned());
        }
    }

    /// Returns the number rounded to nine significant digits and adds its origin as a comment at the key `path`.
    fn store_number(&mut self, path: &str, number: &SourcedNumber) -> f64 {
        self.add_comment(path, &number.origin);
        round_digits(number.value)
    }

    /// Returns the result of [`VehicleDraft::store_number`], or 0 without a comment if the number is missing or 0.
    fn store_number_or_zero(&mut self, path: &str, number: Option<&SourcedNumber>) -> f64 {
        number.filter(|number| number.value != 0.0).map_or(0.0, |number| self.store_number(path, number))
    }

    /// Converts a point from the frame of the source to distances behind the front axle, left of the middle and above
    /// the ground (m), rounded to nine digits.
    fn to_file_position(&self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        [self.front_axle_x - x, y - self.middle_y, z - self.ground_z].map(round_digits)
    }

    /// Builds the axle with index `i` and the wheels `group`. `height` is the mean height of the contact points of the
    /// axle at rest (m), `load` the mean static load of a wheel (N), `tyre` the name of the tyre.
    ///
    /// Means over the wheels: rate, dampers, radius, spin inertia, brake and handbrake torque, anti-roll bar; different
    /// values add a note. Values of the first wheel: roll centre, lateral compliance, unsprung mass, rolling
    /// resistance. Bump and droop travel are the distances from rest to the ends of the mean contact range, at least
    /// [`MIN_TRAVEL_M`]. Force point, toe and camber come from `jounce_curves`. A single wheel has no track and no
    /// anti-roll bar. The axle is solid if it has two wheels and both say so. The Ackermann share is 0; heave spring,
    /// brake disc and probe stay empty. The origins of the numbers are stored as comments.
    fn axle(
        &mut self,
        i: usize,
        group: &[&Corner],
        height: f64,
        load: f64,
        tyre: &str,
        import: &mut Import<'_>,
    ) -> Axle {
        let path = format!("axles[{i}]");
        // Mean of a number over the wheels. `part` names it in the note about different values.
        let mut mean = |number: fn(&Corner) -> &SourcedNumber, part: &str| mean_number(group, number, part, import);
        let rate = mean(|w| &w.rate, "springs");
        let (bump, rebound) = (mean(|w| &w.bump, "dampers"), mean(|w| &w.rebound, "dampers"));
        let (radius, spin_inertia) = (mean(|w| &w.radius, "radii"), mean(|w| &w.spin_inertia, "wheel inertias"));
        let (brake, handbrake) = (mean(|w| &w.brake, "brakes"), mean(|w| &w.handbrake, "handbrakes"));
        let anti_roll_rate = mean(|w| &w.anti_roll_rate, "anti-roll bars");
        // Travel from rest to full bump (0) and to full droop (1), m.
        let travel = [0, 1].map(|end| (wheel_mean(group, |w| w.contact_range[end]) - height).abs().max(MIN_TRAVEL_M));
        let suspension = self.suspension(&path, [&rate, &bump, &rebound], travel);
        let ([toe_deg, camber_deg], kinematics_over_travel) =
            toe_and_camber(group, RestPosition { height, travel }, import);
        let force_height = force_point(group, RestPosition { height, travel }, import);
        let compliance = group[0].lateral_compliance.as_ref();
        let key_path = |key: &str| format!("{path}.{key}");
        self.add_comment(&key_path("suspension.bump_travel_m"), &group[0].contact_range_source);
        let track = (group.len() == 2).then(|| round_digits(group[0].position[1] - group[1].position[1]));
        Axle {
            behind_front_axle_m: round_digits(self.front_axle_x - wheel_mean(group, |w| w.position[0])),
            track_m: track,
            wheel_radius_m: Some(self.store_number(&key_path("wheel_radius_m"), &radius)),
            wheel_spin_inertia_kg_m2: self.store_number(&key_path("wheel_spin_inertia_kg_m2"), &spin_inertia),
            tyre: tyre.to_owned(),
            steer_ratio: round_digits(wheel_mean(group, |w| w.steer_share)),
            toe_deg,
            camber_deg,
            kinematics: kinematics_over_travel,
            solid_axle: group.len() == 2 && group.iter().all(|wheel| wheel.is_on_solid_axle),
            roll_centre_height_m: self
                .store_number_or_zero(&key_path("roll_centre_height_m"), group[0].roll_centre.as_ref()),
            lateral_compliance: compliance
                .map(|numbers| self.lateral_compliance(&key_path("lateral_compliance"), numbers)),
            force_application_height_m: force_height
                .map(|z| self.store_number(&key_path("force_application_height_m"), &z)),
            suspension,
            anti_roll_bar: track.filter(|_| anti_roll_rate.value != 0.0).map(|_| AntiRollBar {
                rate_n_per_m: Some(self.store_number(&key_path("anti_roll_bar.rate_n_per_m"), &anti_roll_rate)),
                ..AntiRollBar::default()
            }),
            brake_torque_nm: Some(self.store_number(&key_path("brake_torque_nm"), &brake)),
            handbrake_torque_nm: self.store_number(&key_path("handbrake_torque_nm"), &handbrake),
            unsprung: group[0].unsprung.as_ref().map(|numbers| self.unsprung(&key_path("unsprung"), numbers)),
            rolling_resistance: self.rolling_resistance(&key_path("rolling_resistance"), group[0], load),
            ..Axle::default()
        }
    }

    /// Returns the rolling resistance of a wheel: a coefficient that rises linearly with speed, from 0 at standstill.
    /// The slope (s/m) of the coefficient is the resistance per speed (N s/m) over the static load `load` (N). Returns
    /// `None` if the source states no resistance or one of at most 0.
    fn rolling_resistance(&mut self, path: &str, wheel: &Corner, load: f64) -> Option<RollingResistance> {
        let resistance = wheel.rolling_resistance.as_ref().filter(|r| r.value > 0.0)?;
        let slope = sourced(resistance.value / load, resistance.origin.clone());
        let rise_s_per_m = self.store_number(&format!("{path}.rise_s_per_m"), &slope);
        Some(RollingResistance::Linear { coefficient: 0.0, rise_s_per_m })
    }

    /// Returns the unsprung mass `mass` (kg) on a tyre of the vertical rate `tyre` (N/m) without damping. Adds comments
    /// below `path`.
    fn unsprung(&mut self, path: &str, [mass, tyre]: &[SourcedNumber; 2]) -> Unsprung {
        Unsprung {
            mass_kg: self.store_number(&format!("{path}.mass_kg"), mass),
            tyre_rate_n_per_m: self.store_number(&format!("{path}.tyre_rate_n_per_m"), tyre),
            tyre_damping_n_s_per_m: 0.0,
        }
    }

    /// Returns the lateral compliance of an axle with a rate (N/m) and a damping (N s/m). Adds comments below `path`.
    fn lateral_compliance(&mut self, path: &str, [rate, damping]: &[SourcedNumber; 2]) -> LateralCompliance {
        LateralCompliance {
            lateral_stiffness_n_per_m: self.store_number(&format!("{path}.lateral_stiffness_n_per_m"), rate),
            damping_n_s_per_m: self.store_number(&format!("{path}.damping_n_s_per_m"), damping),
        }
    }

    /// Returns the suspension with a rate (N/m), bump and rebound damping (N s/m), and the travel from rest to full
    /// bump and to full droop (m). `axle` is the path of the axle, for comments. The spring is linear and has no
    /// preload, no damper knees and a bump stop without rate.
    fn suspension(&mut self, axle: &str, [rate, bump, rebound]: [&SourcedNumber; 3], travel: [f64; 2]) -> Suspension {
        let key_path = |key: &str| format!("{axle}.suspension.{key}");
        Suspension {
            rate_n_per_m: Some(self.store_number(&key_path("rate_n_per_m"), rate)),
            bump_damping_n_s_per_m: Some(self.store_number(&key_path("bump_damping_n_s_per_m"), bump)),
            rebound_damping_n_s_per_m: Some(self.store_number(&key_path("rebound_damping_n_s_per_m"), rebound)),
            bump_travel_m: round_digits(travel[0]),
            droop_travel_m: Some(round_digits(travel[1])),
            // No effect: the bump stop has no rate.
            bump_stop_travel_m: 0.04,
            ..Suspension::default()
        }
    }

    /// Returns the chassis: mass, centre of mass, inertia and collision box. The collision box is that of the source,
    /// otherwise the bounding box of its shapes, otherwise an estimate from the wheels with a note. If the source
    /// states no inertia, boxes of equal density replace it: the shapes of the body or, without shapes, the collision
    /// box. Adds comments at the height of the centre of mass and at the inertia or the first box. All lengths are
    /// rounded to nine digits.
    fn chassis(&mut self, car: &Car, groups: &[AxleWheels<'_>], import: &mut Import<'_>) -> Chassis {
        let [behind, left, above] = self.to_file_position(car.centre);
        self.add_comment("chassis.centre_above_ground_m", &car.centre_source);
        let hull = car.hull.clone().or_else(|| bounding_box(&car.boxes)).unwrap_or_else(|| {
            import.add_note("", "no body shape: the collision box is estimated from the wheels");
            self.estimated_hull(car, groups)
        });
        let [hull_behind, hull_left, hull_above] = self.to_file_position(hull.centre);
        let [length, width, height] = hull.size.map(round_digits);
        let solids = if car.boxes.is_empty() { std::slice::from_ref(&hull) } else { &car.boxes[..] };
        let volume: f64 = solids.iter().map(BodyBox::volume).sum();
        let boxes = match &car.inertia {
            Some((_, origin)) => {
                self.add_comment("chassis.inertia.roll_kg_m2", origin);
                Vec::new()
            }
            None => {
                self.add_comment(
                    "chassis.boxes[0].mass_kg",
                    "the source has no inertia: uniform density in the body shape",
                );
                self.mass_boxes(car, solids, volume, import)
            }
        };
        Chassis {
            mass_kg: self.store_number("chassis.mass_kg", &car.mass),
            centre_behind_front_axle_m: behind,
            centre_above_ground_m: above,
            centre_left_m: left,
            inertia: car.inertia.as_ref().map(|(inertia, _)| inertia.clone()),
            boxes,
            hull: Hull {
                length_m: length,
                width_m: width,
                height_m: height,
                behind_front_axle_m: hull_behind,
                left_m: hull_left,
                above_ground_m: hull_above,
            },
        }
    }

    /// Returns the boxes `solids` with the mass of the car, distributed by volume. All boxes are moved by the same
    /// vector, so that their common centre is the centre of mass of the car; a shift above [`NOTED_OFFSET_M`] adds a
    /// note. `volume` is the sum of the volumes of `solids` (m³).
    fn mass_boxes(&self, car: &Car, solids: &[BodyBox], volume: f64, import: &mut Import<'_>) -> Vec<Box3> {
        let solids_centre = common_centre(solids).unwrap_or(car.centre);
        // Displacement of every box, m.
        let shift = [0, 1, 2].map(|i| car.centre[i] - solids_centre[i]);
        if shift.iter().any(|s| s.abs() > NOTED_OFFSET_M) {
            import.add_note("", "the centre of mass is not the centre of the body shape: the inertia is that of the shape moved to the centre of mass");
        }
        let convert_solid = |solid: &BodyBox| {
            let [behind, left, above] = self.to_file_position([0, 1, 2].map(|i| solid.centre[i] + shift[i]));
            let [length_m, width_m, height_m] = solid.size.map(round_digits);
            let mass_kg = round_digits(car.mass.value * solid.volume() / volume);
            Box3 {
                mass_kg,
                length_m,
                width_m,
                height_m,
                behind_front_axle_m: behind,
                left_m: left,
                above_ground_m: above,
            }
        };
        solids.iter().map(convert_solid).collect()
    }

    /// Estimates the collision box from the wheels, in the frame of the source (m). `r` is the largest wheel radius.
    /// The box extends 1.5 `r` beyond the front and the rear axle and 0.25 `r` beyond the outermost wheel on each side.
    /// The box begins 0.5 `r` above the ground and ends 2.5 `r` above it, or `r` above the centre of mass if that is
    /// higher.
    fn estimated_hull(&self, car: &Car, groups: &[AxleWheels<'_>]) -> BodyBox {
        let wheels: Vec<&Corner> = groups.iter().flatten().copied().collect();
        let radius = wheels.iter().map(|w| w.radius.value).fold(0.0, f64::max);
        let rear_axle_x = wheels.iter().map(|w| w.position[0]).fold(f64::MAX, f64::min);
        let half_width = wheels.iter().map(|w| (w.position[1] - self.middle_y).abs()).fold(0.0, f64::max);
        // Heights of the lower and the upper face, m.
        let (bottom, top) = (self.ground_z + 0.5 * radius, (self.ground_z + 2.5 * radius).max(car.centre[2] + radius));
        BodyBox {
            centre: [0.5 * (self.front_axle_x + rear_axle_x), self.middle_y, 0.5 * (bottom + top)],
            size: [self.front_axle_x - rear_axle_x + 3.0 * radius, 2.0 * half_width + 0.5 * radius, top - bottom],
        }
    }

    /// Returns the steering with its largest angle (degrees) and its rate limit (degrees/s; `None` for no limit), with
    /// comments.
    fn steering(&mut self, car: &Car) -> Steering {
        Steering {
            lock_deg: self.store_number("steering.lock_deg", &car.lock),
            rate_deg_per_s: car.steer_rate.as_ref().map(|rate| self.store_number("steering.rate_deg_per_s", rate)),
            ..Steering::default()
        }
    }

    /// Returns the powertrain of the vehicle file. If no wheel is driven: none. If the car has an engine: the engine;
    /// the share of an axle is the sum of the drive shares of its wheels. Otherwise: direct drive with the mean torque
    /// of each axle (N m), which every wheel of the axle receives; its comment is the origin of the first driven wheel.
    fn powertrain(&mut self, car: &Car, groups: &[AxleWheels<'_>]) -> Powertrain {
        let torques: Vec<f64> =
            groups.iter().map(|group| round_digits(wheel_mean(group, |w| w.drive_torque.value))).collect();
        if torques.iter().all(|&torque| torque == 0.0) {
            return Powertrain::None {};
        }
        if let Some(engine) = &car.engine {
            // `drive_torque` holds shares of the engine torque here.
            let shares: Vec<f64> =
                groups.iter().map(|group| group.iter().map(|w| w.drive_torque.value).sum()).collect();
            return crate::engine::powertrain(engine, &shares);
        }
        let driven_wheel = groups.iter().flatten().find(|w| w.drive_torque.value > 0.0);
        self.add_comment("powertrain.wheel_torque_nm", driven_wheel.map_or("", |w| &w.drive_torque.origin));
        Powertrain::Direct { wheel_torque_nm: torques }
    }
}

/// Returns the smallest box aligned with the axes that contains all `boxes`; `None` without boxes.
fn bounding_box(boxes: &[BodyBox]) -> Option<BodyBox> {
    // Coordinate of the outermost face along axis `i`, in the direction `sign`.
    let outermost_face = |sign: f64, i: usize| {
        // Positions of the faces along `sign · axis`, so that the outermost one is the largest.
        let face_positions = boxes.iter().map(|b| sign * b.centre[i] + 0.5 * b.size[i]);
        sign * face_positions.fold(f64::MIN, f64::max)
    };
    let combine_faces = |f: fn(f64, f64) -> f64| [0, 1, 2].map(|i| f(outermost_face(1.0, i), outermost_face(-1.0, i)));
    (!boxes.is_empty()).then(|| BodyBox {
        centre: combine_faces(|high, low| 0.5 * (high + low)),
        size: combine_faces(|high, low| high - low),
    })
}
