//! Notes on models that are legal but probably not intended, as sentences. Notes that need the file instead of the
//! model are in `VehicleSpec::lints`.

use skidpad_core::Model;

use super::lists::{STOPPING_SPEED_MPS, max_bump_use_percent};
use super::steady_state::{LoadDemand, rollover, solve_at_roll};
use super::straight::{Pedal, stopping_distance};
use super::{AxleCharacteristics, Characteristics, CruiseState, GRAVITY_MPS2, walking};

/// Smallest load that the suspensions must carry before metal contact, as a multiple of the weight of the car (–).
const MIN_SUPPORT_RATIO: f64 = 1.5;

/// Height of the centre of mass above the roll axis below which a car counts as not rolling (m); far below any measured
/// value.
const MIN_ROLL_LEVER_M: f64 = 1e-3;

/// Returns the notes on `model`, as sentences; empty if nothing is remarkable. The notes have this order:
///
/// - ride frequency and damping of each axle, from the front
/// - identical dampers on the first and the last axle
/// - load capacity of the suspension, and bump travel at top speed
/// - aerodynamic lift
/// - stability and rollover
/// - weak brakes
/// - rays of wheels that start outside the hull
/// - geometry of the wheels
/// - steered axles without a common turning centre
pub fn lints(model: &Model) -> Vec<String> {
    let figures = Characteristics::new(model);
    let mut notes = Vec::new();
    for (i, axle) in figures.axles.iter().enumerate() {
        notes.extend(ride_notes(i + 1, axle));
    }
    notes.extend(identical_damper_note(&figures.axles, model));
    notes.extend(load_capacity_notes(model));
    notes.extend(bump_travel_note(model, &figures));
    notes.extend(lift_off_note(model, &figures));
    notes.extend(stability_notes(model, &figures));
    notes.extend(weak_brake_note(model));
    notes.extend(ray_start_note(model));
    notes.extend(wheel_geometry_notes(model, &figures.axles));
    notes.extend(walking::axle_conflict_note(model));
    notes
}

/// Checks the ride of axle `number` (from 1). Returns a note for a ride frequency outside 0.7 to 6 Hz, for a mean
/// damping ratio outside 0.1 to 1.2, and for more damping in bump than in rebound. Equal damping in
/// bump and rebound has no note.
fn ride_notes(number: usize, axle: &AxleCharacteristics) -> Vec<String> {
    let mut notes = Vec::new();
    if !(0.7..=6.0).contains(&axle.ride_hz) {
        let hz = axle.ride_hz;
        notes.push(format!("axle {number}: ride frequency {hz:.2} Hz (road cars: 1 to 2 Hz, race cars: up to 5 Hz)"));
    }
    let [bump, rebound] = [axle.bump_damping_ratio, axle.rebound_damping_ratio];
    let mean_ratio = 0.5 * (bump + rebound);
    // A damping ratio that is not finite also has a note.
    if !(0.1..=1.2).contains(&mean_ratio) {
        notes.push(format!("axle {number}: mean damping ratio {mean_ratio:.2} (typical: 0.2 to 0.7)"));
    }
    // 1.001: equal dampings may differ by rounding.
    if bump > 1.001 * rebound {
        notes.push(format!(
            "axle {number}: the damping ratio in bump ({bump:.2}) exceeds that in rebound ({rebound:.2}); car dampers have \
             more damping in rebound"
        ));
    }
    notes
}

/// Checks for identical dampers at the first and the last axle, by bump and rebound damping of the first wheel of each
/// axle. Returns a note if the static loads of both axles differ by more than 10 %, because equal dampers then give
/// different damping ratios. `None` without rebound damping or with one axle.
fn identical_damper_note(axles: &[AxleCharacteristics], model: &Model) -> Option<String> {
    // Strut of the first wheel on an axle.
    let strut = |axle: usize| model.wheels().iter().find(|w| w.axle == axle).map(|w| w.strut);
    let (first, last) = (axles.first()?, axles.last()?);
    let (front, rear) = (strut(0)?, strut(axles.len() - 1)?);
    let is_identical = axles.len() > 1
        && (front.bump_damping, front.rebound_damping) == (rear.bump_damping, rear.rebound_damping)
        && front.rebound_damping > 0.0;
    let load_ratio = (first.load_n / last.load_n).max(last.load_n / first.load_n);
    (is_identical && load_ratio > 1.1).then(|| {
        format!(
            "front and rear dampers are identical, but one axle carries {load_ratio:.2} times the load of the other axle"
        )
    })
}

/// Checks that the suspension can carry at least [`MIN_SUPPORT_RATIO`] times the weight of the car. The first note is
/// on the load of all wheels at metal contact, with springs and bump stops fully compressed. The second note is on the
/// largest suspension force of ray-cast vehicles, `raycast_reference.max_suspension_force_n`. A limit that is high
/// enough has no note.
fn load_capacity_notes(model: &Model) -> Vec<String> {
    let weight = f64::from(model.mass()) * GRAVITY_MPS2;
    // Load of wheel `i` when spring and bump stop are fully compressed (N).
    let max_load = |i: usize| {
        let strut = &model.wheels()[i].strut;
        let travel_to_metal = f64::from(strut.bump_travel + strut.stop_travel);
        f64::from(model.static_load(i))
            + strut.spring_force(travel_to_metal)
            + f64::from(strut.stop_rate * strut.stop_travel)
    };
    let wheel_count = model.wheels().len();
    let support_ratio = (0..wheel_count).map(max_load).sum::<f64>() / weight;
    let mut notes = Vec::new();
    if support_ratio < MIN_SUPPORT_RATIO {
        notes.push(format!(
            "the suspension cannot carry the car over a bump: springs and bump stops are fully compressed at {support_ratio:.2} \
             times the weight; increase their stiffness or travel"
        ));
    }
    let raycast_ratio =
        f64::from(model.parts().raycast_reference.largest_suspension_force) * wheel_count as f64 / weight;
    if raycast_ratio < MIN_SUPPORT_RATIO {
        notes.push(format!(
            "`raycast_reference.max_suspension_force_n` limits the suspension of ray-cast vehicles to {raycast_ratio:.2} times the weight"
        ));
    }
    notes
}

/// Returns a note if the downforce at top speed uses at least 100 % of the bump travel of some wheel. The note names
/// the speed (m/s) and the used share (%). `None` also without a top speed or without a steady pose at this speed.
fn bump_travel_note(model: &Model, figures: &Characteristics) -> Option<String> {
    let speed = figures.top_speed_mps?;
    let bump_use_percent = max_bump_use_percent(model, &CruiseState::at_speed(model, speed)?.steady.compressions);
    (bump_use_percent >= 100.0).then(|| {
        format!(
            "the suspension is fully compressed at top speed: downforce at {speed:.1} m/s uses {bump_use_percent:.0} % of the \
             bump travel"
        )
    })
}

/// Checks stability. Returns the notes in this order:
///
/// - The critical speed is below 100 m/s.
/// - The springs cannot hold the car upright.
/// - The roll axis is not below the centre of mass. This note also requires that the car has a rollover threshold as a
///   rigid body, but none on its springs.
/// - The rollover threshold on the springs is below the largest nominal lateral friction coefficient of the tyres.
fn stability_notes(model: &Model, figures: &Characteristics) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(speed) = figures.bicycle.and_then(|b| b.critical_speed_mps()).filter(|v| *v < 100.0) {
        notes.push(format!("the car oversteers: straight-line driving is unstable above {speed:.1} m/s"));
    }
    if figures.roll_gradient.is_none() {
        notes.push("springs and anti-roll bars are too soft to hold the car upright".into());
    }
    // Largest lateral friction coefficient of all tyres (–); [1]: lateral.
    let friction = model.parts().tyres.iter().map(|t| f64::from(t.nominal_friction()[1])).fold(0.0, f64::max);
    let tipping_state = figures.rollover_g.and_then(|_| rollover(model));
    if figures.rollover_g.is_some() && tipping_state.is_none() && model.roll_lever() < MIN_ROLL_LEVER_M {
        notes.push(
            "the roll axis is at or above the centre of mass: the car does not roll outwards; roll metrics are omitted"
                .into(),
        );
    }
    if let Some(tipping_state) = tipping_state {
        // Threshold without sign (g), and words for the direction of the turn.
        let (tipping_g, turn_text) = (
            tipping_state.lateral_acceleration.abs() / GRAVITY_MPS2,
            figures.turn_direction_text(tipping_state.lateral_acceleration),
        );
        if tipping_g < friction {
            notes.push(format!(
                "the car tips over at {tipping_g:.2} g{turn_text}, before its tyres slide at {friction:.2} g"
            ));
        }
    }
    notes
}

/// Returns a note on the wheels whose foot brake, fully pressed, cannot lock them under their loads in the hardest
/// stop: an ideal stop from 100 km/h. Braking unloads the rear wheels, so that their brakes may be weaker than their
/// loads at rest require. Wheels without a brake are not named. `None` if all brakes suffice, or if the car has no
/// stopping distance or no balance with these loads.
fn weak_brake_note(model: &Model) -> Option<String> {
    let stop_distance = stopping_distance(model, STOPPING_SPEED_MPS, Pedal::IdealBraking)?;
    let loads = solve_at_roll(
        model,
        0.0, // no roll
        LoadDemand::braking(model, STOPPING_SPEED_MPS * STOPPING_SPEED_MPS / (2.0 * stop_distance)),
    )?
    .loads;
    // Whether a brake exists and its torque is below the friction torque of the tyre; [0]: longitudinal.
    let is_too_weak = |i: usize| {
        let (wheel, load) = (&model.wheels()[i], loads[i] as f32);
        wheel.brake_torque > 0.0 && wheel.brake_torque < model.tyre(i).friction_at(load)[0] * load * wheel.radius
    };
    let wheel_names = wheel_names_where(model, is_too_weak)?;
    Some(format!("the brake cannot lock wheel {wheel_names} under its load in the hardest stop"))
}

/// Returns a note if aerodynamic forces lift the first or the last axle off the ground below the top speed.
///
/// An axle lifts at the speed at which all wheel loads N have no moment about the axle at the other end, at x_e: `Σ (x
/// − x_e) N = 0`. With positions x relative to the centre of mass, this moment is `pitch_moment − x_e total_load`. Here
/// `total_load` is the sum of all wheel loads, including downforce, and `pitch_moment` is `Σ x N`. Lift, and drag above
/// the ground, reduce the moment in proportion to v². The speed of lift-off is therefore `√(moment at rest / moment
/// lost per v²)`, infinite if no moment is lost. Aerodynamic forces are those at the ride heights at rest. The note
/// names the lower speed of both ends. `None` also with one axle or without a top speed.
fn lift_off_note(model: &Model, figures: &Characteristics) -> Option<String> {
    let top_speed = figures.top_speed_mps.filter(|_| figures.axles.len() > 1)?;
    let aero = &model.parts().aero;
    // Sum and moment of the wheel loads at the square of a speed (m²/s²).
    let demand_at = |speed_squared: f64| {
        let downforce = [0, 1].map(|k| speed_squared * f64::from(aero.downforce[k].coefficient));
        LoadDemand::at_speed(model, downforce, speed_squared * f64::from(aero.drag))
    };
    let (demand_at_rest, demand_at_1_mps) = (demand_at(0.0), demand_at(1.0));
    // Speed at which the loads have no moment about this axle, so that the axle at the other end lifts (m/s).
    let lift_off_speed = |axle_index: usize| {
        // Magnitude of the moment of all wheel loads about the axle (N m); `total_load` is their sum.
        let moment_about_axle =
            |demand: &LoadDemand| (demand.pitch_moment - figures.axles[axle_index].x_m * demand.total_load).abs();
        // Moment lost per square of the speed (N m s²/m²), because the second demand is that at 1 m/s.
        let moment_loss = moment_about_axle(&demand_at_rest) - moment_about_axle(&demand_at_1_mps);
        if moment_loss > 0.0 { (moment_about_axle(&demand_at_rest) / moment_loss).sqrt() } else { f64::INFINITY }
    };
    let speed = lift_off_speed(0).min(lift_off_speed(figures.axles.len() - 1));
    (speed < top_speed)
        .then(|| format!("aerodynamic forces lift an axle off the ground at {speed:.1} m/s, below the top speed"))
}

/// Returns a note on the wheels whose ray starts outside the hull. The ray of a wheel starts one wheel diameter above
/// its contact point. If the hull touches a wall or the ground, a start outside the hull may lie behind or below this
/// surface.
fn ray_start_note(model: &Model) -> Option<String> {
    let hull = &model.parts().hull;
    let is_outside = |i: usize| {
        let wheel = &model.wheels()[i];
        // 2.0: one diameter.
        let start = wheel.contact + skidpad_core::Vec3::Z * (2.0 * wheel.radius);
        !(start - hull.centre).abs().cmple(hull.half_extents).all()
    };
    let wheel_names = wheel_names_where(model, is_outside)?;
    Some(format!(
        "the ray of wheel {wheel_names} starts outside the hull: it can miss the ground if the car is upside down or against \
         a wall"
    ))
}

/// Checks the wheels. Returns the notes in this order:
///
/// - Neighbouring axles are closer together than the sum of their radii: a note for each pair, with the radii of the
///   first wheels.
/// - The spin inertia of wheels is that of a disc of more than half the mass they carry: one note with all these
///   wheels.
/// - Wheels have radii above 1.5 times the height of the centre of mass: one note with all these wheels.
fn wheel_geometry_notes(model: &Model, axles: &[AxleCharacteristics]) -> Vec<String> {
    let mut notes = Vec::new();
    let radius = |axle: usize| model.wheels().iter().find(|w| w.axle == axle).map_or(0.0, |w| f64::from(w.radius));
    for (i, pair) in axles.windows(2).enumerate() {
        let (distance, radius_sum) = (pair[0].x_m - pair[1].x_m, radius(i) + radius(i + 1));
        if distance < radius_sum {
            notes.push(format!(
                "wheels of axles {} and {} overlap: distance {distance:.2} m, sum of radii {radius_sum:.2} m",
                i + 1,
                i + 2
            ));
        }
    }
    let has_heavy_disc = |i: usize| {
        let wheel = &model.wheels()[i];
        // Mass of a disc with this spin inertia, 2 J / r² (kg).
        2.0 * wheel.spin_inertia / (wheel.radius * wheel.radius) > 0.5 * model.carried_masses()[i]
    };
    if let Some(wheel_names) = wheel_names_where(model, has_heavy_disc) {
        notes.push(format!(
            "wheel {wheel_names}: the spin inertia is that of a disc of more than half the carried mass"
        ));
    }
    let is_tall = |i: usize| model.wheels()[i].radius > 1.5 * model.parts().centre_height;
    if let Some(wheel_names) = wheel_names_where(model, is_tall) {
        notes.push(format!("wheel {wheel_names}: the hub is more than 1.5 times as high as the centre of mass"));
    }
    notes
}

/// Returns the names of the wheels for which `predicate` returns true; `None` if there are none.
fn wheel_names_where(model: &Model, predicate: impl Fn(usize) -> bool) -> Option<String> {
    let names: Vec<String> = (0..model.wheels().len()).filter(|&i| predicate(i)).map(|i| model.wheel_name(i)).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use skidpad_core::model::AeroSurface;
    use skidpad_core::{ModelParts, Vec3};

    /// Asserts that no note on the test car contains `word`, but one on the test car with `change` does.
    #[track_caller]
    fn says(change: impl Fn(&mut ModelParts), word: &str) {
        let mut parts = testing::model().parts().clone();
        let before = lints(&testing::model());
        assert!(!before.iter().any(|l| l.contains(word)), "{before:?}");
        change(&mut parts);
        let after = lints(&Model::new(parts).expect("legal"));
        assert!(after.iter().any(|l| l.contains(word)), "{after:?}");
    }

    /// Rows A16, D7, E2, E11, E12: each mistake is reported, and the standard car has none. Each change of the test car
    /// causes the note with these words.
    #[test]
    fn a16_e12_lints_tell_each_mistake() {
        // A change of every wheel.
        let each =
            |f: fn(&mut skidpad_core::model::Wheel)| move |parts: &mut ModelParts| parts.wheels.iter_mut().for_each(f);
        says(
            each(|w| (w.strut.bump_travel, w.strut.stop_rate, w.strut.stop_travel) = (0.01, 0.0, 0.001)),
            "the suspension cannot",
        );
        says(|parts| parts.raycast_reference.largest_suspension_force = 3000.0, "max_suspension_force_n");
        let fast = AeroSurface { coefficient: 2.0, point: Vec3::ZERO };
        says(|parts| parts.aero.downforce = [fast, AeroSurface::default()], "fully compressed at top speed");
        // The centre of mass is 0.15 m left of the outer wheels and 0.5 m high; the tyres hold 1 g.
        says(each(|w| w.contact.y -= 0.6), "g, turning right, before its tyres slide");
        says(each(|w| w.contact.x += 0.2), "identical");
        says(each(|w| w.strut.bump_damping *= 2.0), "exceeds that in rebound");
        says(each(|w| w.contact.y *= 1.2), "outside the hull");
        says(each(|w| w.spin_inertia = 10.0), "that of a disc");
        says(each(|w| w.radius = 1.3), "overlap");
        says(each(|w| w.brake_torque = 10.0), "cannot lock");
        let lift = AeroSurface { coefficient: -2.0, point: Vec3::ZERO };
        // The drag of 0.4 v² acts at 0.5 m. The front axle carries m g / 2 − (1 + 0.08) v², which is zero at 67.4 m/s.
        says(|parts| parts.aero.downforce = [lift, AeroSurface::default()], "lift an axle off the ground at 67.4");
        says(|parts| parts.axles.iter_mut().for_each(|axle| axle.roll_centre_height = 0.5), "the roll axis");
        says(each(|w| w.strut.rate = 1000.0), "too soft");
    }

    /// A rear brake with 0.8 of the tyre force at rest is strong enough for a stop of 1 g, in which the rear load is
    /// `1 − h a / (g b)` = 0.6. A front brake that locks the wheels at rest is too weak, because their load is 1.4
    /// times as large. The note names both front wheels.
    #[test]
    fn brakes_are_judged_by_the_loads_of_a_stop() {
        let told = |share: [f32; 2]| {
            let mut parts = testing::model().parts().clone();
            parts.wheels.iter_mut().for_each(|w| w.brake_torque = share[w.axle] * 2452.5 * 0.3);
            lints(&Model::new(parts).expect("legal")).into_iter().find(|lint| lint.contains("cannot lock"))
        };
        assert_eq!(told([1.6, 0.8]), None);
        let weak = told([1.1, 0.8]).expect("told");
        assert!(weak.contains("wheel 1l, 1r under its load"), "{weak}");
    }
}
