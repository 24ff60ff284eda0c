//! Lists of all figures with name, unit and digits, for tables, reports and files.

use skidpad_core::Model;
use skidpad_core::model::Side;

use super::lateral_dynamics::LateralDynamics;
use super::steady_state;
use super::straight::{Pedal, motor_power, peak_power, stall_speed, stopping_distance};
use super::{Characteristics, CruiseState, GRAVITY_MPS2, Modes, UnsprungCharacteristics, cornering, towing};
use crate::metrics::Metric;
use crate::steering_wheel::SteeringWheel;

/// Initial speed of the stopping distances (m/s): 100 km/h.
pub const STOPPING_SPEED_MPS: f64 = 100.0 / 3.6;

/// Returns the figures of each wheel, in wheel order: static load (N), sag as load over wheel rate (mm), and load at
/// the bump stop without the force of the stop (N). Each wheel has these three figures; the sag assumes a linear
/// spring.
pub fn wheels(model: &Model) -> Vec<Vec<Metric>> {
    let wheel_figures = |i: usize| {
        let strut = &model.wheels()[i].strut;
        let (load, rate) = (f64::from(model.static_load(i)), f64::from(strut.rate));
        // Load at the full bump travel (N).
        let bump_stop_load = load + strut.spring_force(strut.bump_travel.into());
        // Arguments: key, label, unit, decimal places, value.
        vec![
            Metric::new("static_load_n", "Static load", "N", 1, Some(load)),
            Metric::new("sag_mm", "Static spring deflection", "mm", 1, Some(load / rate * 1e3)),
            Metric::new("load_at_bump_stop_n", "Load at bump-stop contact", "N", 0, Some(bump_stop_load)),
        ]
    };
    (0..model.wheels().len()).map(wheel_figures).collect()
}

/// Returns the figures of each axle, from the front: position ahead of the centre of mass, track, static load, sag
/// (static spring deflection), ride frequency, damping ratios in bump and rebound, cornering stiffness, wheel hop
/// frequency, and the figures of damper knees if there are any. The cornering stiffness has no value for tyres without
/// creep (dry friction). The hop frequency has no value on any axle if the unsprung mass of some wheel is missing.
pub fn axles(model: &Model) -> Vec<Vec<Metric>> {
    let hop_hz = UnsprungCharacteristics::of(model).map(|unsprung| unsprung.hop_hz);
    let axle_figures = |(i, axle): (usize, &super::AxleCharacteristics)| {
        // Arguments: key, label, unit, decimal places, value.
        let mut metrics = vec![
            Metric::new("ahead_of_centre_m", "Distance ahead of the centre of mass", "m", 3, Some(axle.x_m)),
            Metric::new("track_m", "Track", "m", 3, Some(axle.track_m)),
            Metric::new("static_load_n", "Static load", "N", 0, Some(axle.load_n)),
            Metric::new("sag_mm", "Static spring deflection", "mm", 1, Some(axle.sag_m * 1e3)),
            Metric::new("ride_hz", "Ride frequency of the carried mass", "Hz", 3, Some(axle.ride_hz)),
            Metric::new("bump_damping_ratio", "Damping ratio, bump", "-", 3, Some(axle.bump_damping_ratio)),
            Metric::new("rebound_damping_ratio", "Damping ratio, rebound", "-", 3, Some(axle.rebound_damping_ratio)),
            Metric::new(
                "cornering_stiffness_n_per_rad",
                "Cornering stiffness",
                "N/rad",
                0,
                axle.cornering_stiffness_n_per_rad,
            ),
            Metric::new("hop_hz", "Wheel hop (unsprung mass)", "Hz", 2, hop_hz.as_ref().map(|hop_hz| hop_hz[i])),
        ];
        metrics.extend(knee_metrics(model, i));
        metrics
    };
    Characteristics::new(model).axles.iter().enumerate().map(axle_figures).collect()
}

/// Returns the figures of the damper knees of an axle, first for bump, then for rebound. A knee is the damper speed
/// above which the damping changes. Each knee has two figures: its speed (m/s), and the damping above this speed as a
/// ratio of the damping below (–). The values are those of the first wheel of the axle. A damper without a knee
/// (infinite speed) and an axle without wheels have no figures.
fn knee_metrics(model: &Model, axle: usize) -> Vec<Metric> {
    let Some(first_wheel) = model.wheels().iter().find(|wheel| wheel.axle == axle) else { return Vec::new() };
    // Key and label of the knee, key and label of the remaining damping.
    let keys_and_labels = [
        (
            "bump_knee_mps",
            "Damper knee, bump: speed",
            "bump_damping_beyond_knee",
            "Damper knee, bump: damping ratio fast/slow",
        ),
        (
            "rebound_knee_mps",
            "Damper knee, rebound: speed",
            "rebound_damping_beyond_knee",
            "Damper knee, rebound: damping ratio fast/slow",
        ),
    ];
    let named_knees =
        keys_and_labels.into_iter().zip(first_wheel.strut.knees).filter(|(_, knee)| knee.speed.is_finite());
    named_knees
        .flat_map(|((key, label, remaining_key, remaining_label), knee)| {
            [
                Metric::new(key, label, "m/s", 3, Some(knee.speed.into())),
                Metric::new(remaining_key, remaining_label, "-", 2, Some(knee.fast_ratio.into())),
            ]
        })
        .collect()
}

/// Returns the mass (kg) and the figures of hitch and coupler.
pub fn towing(model: &Model) -> Vec<Metric> {
    let figures = Characteristics::new(model);
    let mass = Metric::new("mass_kg", "Mass", "kg", 1, Some(figures.mass_kg));
    [mass].into_iter().chain(towing::list(model, &figures)).collect()
}

/// Returns the figures of the whole car in this order: mass and wheelbase, hitch and coupler, modes of vibration, roll
/// gradients, steering behaviour and steering wheel, rollover, bump travel and downforce at top speed, power of engine
/// and motors, stall speed of the converter, top speed, stopping distances.
///
/// Figures of an engine, electric motors, a torque converter, unsprung masses, hitch, coupler, steered axles, or
/// aerodynamic downforce or lift are left out for a car without these parts. All other figures stay in the list,
/// without a value if there is none.
pub fn car(model: &Model) -> Vec<Metric> {
    let figures = Characteristics::new(model);
    let degrees_per_g = |gradient: Option<f64>| gradient.map(|gradient| (gradient * GRAVITY_MPS2).to_degrees());
    // Arguments: key, label, unit, decimal places, value.
    let mut metrics = vec![
        Metric::new("mass_kg", "Mass", "kg", 1, Some(figures.mass_kg)),
        // Without a value for a car with one axle.
        Metric::new("wheelbase_m", "Wheelbase", "m", 3, Some(figures.wheelbase_m).filter(|_| figures.axles.len() > 1)),
    ];
    metrics.extend(towing::list(model, &figures));
    metrics.extend(mode_metrics(model));
    let roll_gradient = degrees_per_g(figures.roll_gradient);
    metrics.push(Metric::new("roll_gradient_deg_per_g", "Roll gradient, rigid tyres", "deg/g", 3, roll_gradient));
    let unsprung_gradient = UnsprungCharacteristics::of(model).map(|unsprung| degrees_per_g(unsprung.roll_gradient));
    if let Some(gradient) = unsprung_gradient {
        let label = "Roll gradient, with tyre compliance";
        metrics.push(Metric::new("own_wheels_roll_gradient_deg_per_g", label, "deg/g", 3, gradient));
    }
    metrics.extend(cornering_metrics(model, &figures));
    metrics.extend(steering_metrics(model));
    metrics.extend(rollover_metrics(model, &figures));
    let stop_distance = |pedal| stopping_distance(model, STOPPING_SPEED_MPS, pedal);
    if let Some([power, speed]) = peak_power(model) {
        let rev_per_min = speed * 60.0 / core::f64::consts::TAU;
        metrics.push(Metric::new("peak_power_kw", "Peak engine power", "kW", 1, Some(power * 1e-3)));
        metrics.push(Metric::new("peak_power_rpm", "Engine speed at peak power", "rev/min", 0, Some(rev_per_min)));
    }
    if let Some(power) = motor_power(model) {
        metrics.push(Metric::new("motor_power_kw", "Peak power of all motors", "kW", 1, Some(power * 1e-3)));
    }
    if let Some(speed) = stall_speed(model) {
        // rad/s to rev/min.
        let rev_per_min = speed * 60.0 / core::f64::consts::TAU;
        metrics.push(Metric::new("stall_rpm", "Stall speed of the torque converter", "rev/min", 0, Some(rev_per_min)));
    }
    metrics.extend([
        Metric::new("top_speed_mps", "Top speed (drive force = resistance)", "m/s", 2, figures.top_speed_mps),
        Metric::new(
            "stop_floored_m",
            "Stopping distance from 100 km/h, full pedal",
            "m",
            2,
            stop_distance(Pedal::FullPedal),
        ),
        Metric::new(
            "stop_ideal_m",
            "Stopping distance from 100 km/h, ideal brakes",
            "m",
            2,
            stop_distance(Pedal::IdealBraking),
        ),
    ]);
    metrics
}

/// Returns frequency (Hz) and damping ratio (–) of four modes: heave, pitch, roll with tyres that creep sideways, and
/// roll with tyres that hold their contact points. The last figure is the longest stable step of explicitly evaluated
/// springs (ms). The list always has nine figures; they have no values if the springs cannot hold the car upright.
fn mode_metrics(model: &Model) -> Vec<Metric> {
    let modes = Modes::new(model);
    let mut metrics = Vec::new();
    // Selects a mode from the set.
    type ModeSelector = fn(&Modes) -> super::modes::Mode;
    let rows: [(&str, &str, ModeSelector); 4] = [
        ("heave", "Heave", |modes| modes.heave),
        ("pitch", "Pitch", |modes| modes.pitch),
        ("roll", "Roll, tyres rolling", |modes| modes.roll),
        ("roll_held", "Roll, tyres stationary", |modes| modes.roll_fixed_contacts),
    ];
    for (name, label, select_mode) in rows {
        let mode = modes.as_ref().map(select_mode);
        // Key and label of each figure.
        let frequency = (format!("{name}_hz"), format!("{label}: frequency"));
        let ratio = (format!("{name}_damping_ratio"), format!("{label}: damping ratio"));
        metrics.push(Metric::new(&frequency.0, &frequency.1, "Hz", 3, mode.map(|mode| mode.frequency_hz)));
        metrics.push(Metric::new(&ratio.0, &ratio.1, "-", 3, mode.map(|mode| mode.damping_ratio)));
    }
    let explicit_step_ms = modes.map(|modes| modes.explicit_step_s * 1e3);
    metrics.push(Metric::new(
        "explicit_step_ms",
        "Longest stable step with explicit springs",
        "ms",
        1,
        explicit_step_ms,
    ));
    metrics
}

/// Returns seven figures of cornering in this order: understeer gradient of the linear bicycle model in degrees per g
/// and in SI units, understeer gradient at 0.4 g with load transfer, largest steady lateral acceleration, static
/// margin, characteristic speed, critical speed. The largest lateral acceleration is that at 100 km/h, or at top speed
/// if this is lower. No figure has a value for a car without a bicycle model.
fn cornering_metrics(model: &Model, figures: &Characteristics) -> Vec<Metric> {
    let (bicycle, linear_gradient) = (figures.bicycle, figures.bicycle.map(|bicycle| bicycle.understeer));
    let degrees_per_g = |gradient: Option<f64>| gradient.map(|gradient| (gradient * GRAVITY_MPS2).to_degrees());
    // A car without cornering stiffness has no understeer curve.
    let loaded_gradient = bicycle.and_then(|_| cornering::understeer(model, cornering::UNDERSTEER_ACCELERATION_MPS2));
    let speed = figures.top_speed_mps.map_or(STOPPING_SPEED_MPS, |top_speed| top_speed.min(STOPPING_SPEED_MPS));
    let grip_limit_g = bicycle.and_then(|_| cornering::grip_limit(model, Some(speed))).map(|a| a / GRAVITY_MPS2);
    // Arguments: key, label, unit, decimal places, value.
    vec![
        Metric::new(
            "understeer_deg_per_g",
            "Understeer gradient, linear bicycle model",
            "deg/g",
            4,
            degrees_per_g(linear_gradient),
        ),
        Metric::new(
            "understeer_rad_s2_per_m",
            "Understeer gradient, linear bicycle model",
            "rad s²/m",
            7,
            linear_gradient,
        ),
        Metric::new(
            "understeer_at_0_4_g_deg_per_g",
            "Understeer gradient at 0.4 g, with load transfer",
            "deg/g",
            3,
            degrees_per_g(loaded_gradient),
        ),
        Metric::new(
            "grip_limit_g",
            &format!("Maximum steady lateral acceleration at {:.0} km/h", speed * 3.6),
            "g",
            3,
            grip_limit_g,
        ),
        Metric::new(
            "static_margin_percent",
            "Static margin, share of the wheelbase",
            "%",
            2,
            bicycle.and_then(|_| LateralDynamics::new(model)?.static_margin()).map(|margin| 100.0 * margin),
        ),
        Metric::new(
            "characteristic_speed_mps",
            "Characteristic speed",
            "m/s",
            2,
            bicycle.and_then(|bicycle| bicycle.characteristic_speed_mps()),
        ),
        Metric::new(
            "critical_speed_mps",
            "Critical speed",
            "m/s",
            2,
            bicycle.and_then(|bicycle| bicycle.critical_speed_mps()),
        ),
    ]
}

/// Speeds at which [`over_speed`] lists its figures (m/s).
pub const LISTED_SPEEDS_MPS: [f64; 4] = [10.0, 20.0, 30.0, 40.0];

/// Returns the figures of the linear single-track model at each of [`LISTED_SPEEDS_MPS`]: natural frequency and damping
/// ratio in yaw, and the gains of yaw rate and lateral acceleration per mean road-wheel angle. The figures have no
/// values at a speed at which the car is unstable. The list is empty for a car without a bicycle model, that is, if a
/// tyre has no cornering stiffness or no axle steers.
pub fn over_speed(model: &Model) -> Vec<Vec<Metric>> {
    let Some((dynamics, bicycle)) = LateralDynamics::new(model).zip(Characteristics::new(model).bicycle) else {
        return Vec::new();
    };
    let at_speed = |speed: f64| {
        let mode = dynamics.yaw_mode(speed);
        let gain = mode.map(|_| bicycle.yaw_gain(speed));
        // Lateral acceleration is yaw rate times speed; `to_radians` converts from per radian to per degree of
        // road-wheel angle.
        let acceleration_gain = gain.map(|gain| (gain * speed).to_radians());
        // Arguments: key, label, unit, decimal places, value.
        vec![
            Metric::new("yaw_frequency_hz", "Yaw: natural frequency", "Hz", 3, mode.map(|mode| mode.frequency_hz)),
            Metric::new("yaw_damping_ratio", "Yaw: damping ratio", "-", 3, mode.map(|mode| mode.damping_ratio)),
            Metric::new("yaw_rate_gain_per_s", "Yaw rate per road-wheel angle", "1/s", 2, gain),
            Metric::new(
                "lateral_acceleration_gain_mps2_per_deg",
                "Lateral acceleration per road-wheel angle",
                "m/s²/deg",
                3,
                acceleration_gain,
            ),
        ]
    };
    LISTED_SPEEDS_MPS.into_iter().map(at_speed).collect()
}

/// Returns the overall steering ratio (–) and the steering-wheel angle from lock to lock (°). The label says whether
/// the ratio is assumed because the vehicle file states none. Empty for a vehicle without a steered axle.
fn steering_metrics(model: &Model) -> Vec<Metric> {
    let parts = model.parts();
    if parts.axles.iter().all(|axle| axle.steer_ratio == 0.0) {
        return Vec::new();
    }
    let wheel = SteeringWheel::of(model);
    let assumption = if parts.steering.wheel_ratio.is_some() { "" } else { " (assumed: the file states none)" };
    let lock_to_lock_deg = 2.0 * wheel.lock_deg(model);
    // Arguments: key, label, unit, decimal places, value.
    vec![
        Metric::new("steering_ratio", &format!("Steering ratio{assumption}"), "-", 1, Some(wheel.ratio)),
        Metric::new(
            "steering_wheel_lock_to_lock_deg",
            "Steering-wheel angle from lock to lock",
            "deg",
            0,
            Some(lock_to_lock_deg),
        ),
    ]
}

/// Returns the rollover threshold of the rigid car, that of the car on its springs (both in g, positive, with the
/// direction of the turn in the label), and the bump travel used at top speed (%). A car with aerodynamic downforce or
/// lift also has the downforce at top speed (N). A figure has no value without a threshold, a top speed or a steady
/// pose. The label of a missing threshold on the springs has the direction of the rigid car.
fn rollover_metrics(model: &Model, figures: &Characteristics) -> Vec<Metric> {
    let sprung_threshold =
        figures.rollover_g.and_then(|_| steady_state::rollover(model)).map(|s| s.lateral_acceleration / GRAVITY_MPS2);
    // Sign of the turn in which the rigid car tips first; left if both are equal.
    let rigid_turn_sign = match figures.tip_direction {
        Some(Side::Right) => -1.0,
        _ => 1.0,
    };
    let label_with_turn = |label: &str, turn_sign: f64| format!("{label}{}", figures.turn_direction_text(turn_sign));
    let (rigid_label, sprung_label) = (
        label_with_turn("Rollover threshold, rigid car (t/2h)", rigid_turn_sign),
        // Only the sign of the threshold matters here.
        label_with_turn("Rollover threshold, with suspension", sprung_threshold.unwrap_or(rigid_turn_sign)),
    );
    let cruise_state = figures.top_speed_mps.and_then(|v| CruiseState::at_speed(model, v));
    // Only for a car with a top speed and a steady pose there.
    let bump_use_percent = cruise_state.as_ref().map(|cruise| max_bump_use_percent(model, &cruise.steady.compressions));
    // Arguments: key, label, unit, decimal places, value.
    let mut metrics = vec![
        Metric::new("rollover_rigid_g", &rigid_label, "g", 3, figures.rollover_g),
        Metric::new("rollover_g", &sprung_label, "g", 3, sprung_threshold.map(f64::abs)),
        Metric::new("bump_travel_used_at_top_speed_percent", "Bump travel used at top speed", "%", 1, bump_use_percent),
    ];
    if model.parts().aero.downforce.iter().any(|surface| surface.coefficient != 0.0) {
        let downforce = cruise_state.map(|cruise| cruise.downforce_n.iter().sum());
        metrics.push(Metric::new("downforce_at_top_speed_n", "Downforce at top speed", "N", 0, downforce));
    }
    metrics
}

/// Returns the largest share of its bump travel that a wheel uses (%), for the `compressions` of the wheels from rest
/// (m). Negative if all wheels are extended.
pub(super) fn max_bump_use_percent(model: &Model, compressions: &[f64]) -> f64 {
    let percentages =
        compressions.iter().zip(model.wheels()).map(|(z, wheel)| 100.0 * z / f64::from(wheel.strut.bump_travel));
    percentages.fold(f64::MIN, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    /// All names of the list of the test car differ, and only its characteristic and critical speeds have no value.
    #[test]
    fn names_are_different_and_values_are_there() {
        let list = car(&testing::model());
        let mut names: Vec<&str> = list.iter().map(|m| m.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), list.len());
        let missing: Vec<&str> = list.iter().filter(|m| m.value.is_none()).map(|m| m.name.as_str()).collect();
        // A neutral car has neither of these speeds.
        assert_eq!(missing, ["characteristic_speed_mps", "critical_speed_mps"]);
    }
}
