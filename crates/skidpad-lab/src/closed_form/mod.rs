//! Closed-form figures: expected properties of a car, computed from its model without simulation.
//!
//! | figure | module |
//! |---|---|
//! | [`Characteristics`]: loads, sag, bicycle model, roll gradient, top speed; cheap enough for drivers | here, [`bicycle`], [`roll`], [`straight`] |
//! | frequency response of yaw rate and lateral acceleration to steering | [`lateral_dynamics`] |
//! | frequencies and damping ratios of the rigid-body modes | [`modes`] |
//! | aerodynamic forces, and the ride heights they cause | [`cruise`] |
//! | steady poses with bump stops and lifted wheels, rollover | [`steady_state`] |
//! | understeer with tyre curves and load transfer | [`cornering`] |
//! | compliance steer | `linkage` |
//! | roots of functions | `root` |
//! | hitch and coupler | `towing` |
//! | vehicle loaded by its trailers, stopping distance and top speed of a train | [`train`] |
//! | sway and critical speed of a vehicle with trailers | [`sway`] |
//! | lists of all figures for tables and files | [`lists`] |
//! | side forces of axles with conflicting steering, at walking pace | `walking` |
//! | notes on models that are legal but probably not intended | [`mod@lints`] |

pub mod bicycle;
pub mod cornering;
pub mod cruise;
pub mod lateral_dynamics;
mod linkage;
pub mod lints;
pub mod lists;
pub mod modes;
pub mod roll;
mod root;
pub mod steady_state;
pub mod straight;
pub mod sway;
mod towing;
pub mod train;
mod walking;

pub use bicycle::Bicycle;
pub use cruise::CruiseState;
pub use lateral_dynamics::LateralDynamics;
pub use lints::lints;
pub use modes::Modes;
pub use roll::UnsprungCharacteristics;
pub(crate) use straight::mean_inverse_radius;
pub use straight::{drive_force, drive_shares, launch_force, resistance, standing_force, threshold_pedal};

use roll::TurnPose;
use skidpad_core::model::Side;
use skidpad_core::{Model, STANDARD_GRAVITY};

/// Standard gravity (m/s²).
pub(crate) const GRAVITY_MPS2: f64 = STANDARD_GRAVITY as f64;

/// Figures of one axle.
#[derive(Clone, Debug, PartialEq)]
pub struct AxleCharacteristics {
    /// Longitudinal position ahead of the centre of mass (m).
    pub x_m: f64,
    /// Distance between the contact points (m); 0 with one wheel.
    pub track_m: f64,
    /// Static load of the whole axle (N).
    pub load_n: f64,
    /// Compression of the springs under the static load, for linear springs from the unloaded length (m).
    pub sag_m: f64,
    /// Natural frequency of the carried mass on the wheel rate with rigid tyres (Hz).
    pub ride_hz: f64,
    /// Damping ratio of this oscillator in bump (–).
    pub bump_damping_ratio: f64,
    /// Damping ratio of this oscillator in rebound (–).
    pub rebound_damping_ratio: f64,
    /// Cornering stiffness of the whole axle at the static load (N/rad); `None` for tyres without creep (dry
    /// friction).
    pub cornering_stiffness_n_per_rad: Option<f64>,
}

/// Figures of the whole car.
#[derive(Clone, Debug, PartialEq)]
pub struct Characteristics {
    /// Axles, from the front.
    pub axles: Vec<AxleCharacteristics>,
    /// Mass (kg).
    pub mass_kg: f64,
    /// Distance from the first to the last axle (m).
    pub wheelbase_m: f64,
    /// Rollover threshold of a rigid car (g): the lateral distance of the outer wheels from the centre of mass over its
    /// height, `t / 2h` for a centre of mass in the middle. The value holds for the turn in which the car tips first.
    /// `None` for a car with a single track.
    pub rollover_g: Option<f64>,
    /// Rollover thresholds of a rigid car in a left and in a right turn (g); `None` for a car with a single track.
    pub rigid_rollover_g: Option<[f64; 2]>,
    /// Direction of the turn in which a rigid car tips first; `None` if both sides are equal.
    pub tip_direction: Option<Side>,
    /// Steady-state roll angle per lateral acceleration (rad/(m/s²)); `None` if the springs cannot hold the car
    /// upright.
    pub roll_gradient: Option<f64>,
    /// Linear bicycle model with the roll steer of its suspension; `None` if a tyre has no cornering stiffness or no
    /// axle steers.
    pub bicycle: Option<Bicycle>,
    /// Speed at which drive and resistance balance (m/s); `None` without a motor, or if resistance never balances the
    /// drive.
    pub top_speed_mps: Option<f64>,
}

impl Characteristics {
    /// Computes the figures of `model`. The wheelbase is the distance of the first and the last axle, 0 with one axle.
    /// The rollover threshold `rollover_g` is the lower one of a left and a right turn. The pose of a steady turn gives
    /// the roll gradient and the roll steer of the bicycle model.
    pub fn new(model: &Model) -> Self {
        let axles: Vec<AxleCharacteristics> = (0..model.parts().axles.len()).map(|i| axle_figures(model, i)).collect();
        let rollover_thresholds = roll::rigid_rollover(model, &axles);
        let turn_pose = TurnPose::new(model);
        let axle_x = |i: usize| axles.get(i).map_or(0.0, |axle| axle.x_m);
        Self {
            mass_kg: f64::from(model.mass()),
            wheelbase_m: axle_x(0) - axle_x(axles.len().saturating_sub(1)),
            rollover_g: rollover_thresholds.map(|[left, right]| left.min(right)),
            rigid_rollover_g: rollover_thresholds,
            tip_direction: rollover_thresholds.and_then(lower_side),
            roll_gradient: turn_pose.as_ref().map(|turn_pose| turn_pose.roll),
            bicycle: build_bicycle(model, &axles, turn_pose.as_ref()),
            top_speed_mps: straight::top_speed(model),
            axles,
        }
    }

    /// Returns the words for the direction of a turn with `lateral_acceleration` (any unit, positive to the left). The
    /// text is empty for a left turn of a car that tips equally easily in both directions.
    fn turn_direction_text(&self, lateral_acceleration: f64) -> &'static str {
        match (lateral_acceleration < 0.0, self.tip_direction) {
            (true, _) => ", turning right",
            (false, Some(_)) => ", turning left",
            (false, None) => "",
        }
    }

    /// Computes the mean road-wheel angle for a steady lateral acceleration (m/s²) at `v` m/s (rad):
    /// `δ = a_y (L + K v²) / v²` with the bicycle model, `δ = a_y L / v²` without such a model. Near and above the
    /// critical speed, where `L + K v²` is at most a tenth of the wheelbase, the wheelbase replaces this term. `v²`
    /// counts as at least 1e-6 m²/s².
    pub fn steer_for(&self, lateral_acceleration: f64, v: f64) -> f64 {
        // Wheelbase, and steering angle per curvature of the path (m).
        let wheelbase = self.wheelbase_m;
        let angle_per_curvature = self.bicycle.map_or(wheelbase, |b| b.wheelbase_m + b.understeer * v * v);
        let angle_per_curvature = if angle_per_curvature > 0.1 * wheelbase { angle_per_curvature } else { wheelbase };
        lateral_acceleration * angle_per_curvature / (v * v).max(1e-6)
    }
}

/// Relative difference above which the thresholds of the two sides count as different (–).
const ROLLOVER_SIDE_TOLERANCE: f64 = 1e-3;

/// Returns the direction of turn with the lower one of two thresholds, given for a left and a right turn. `None` if
/// both differ by at most [`ROLLOVER_SIDE_TOLERANCE`], relative to the lower one.
fn lower_side([left, right]: [f64; 2]) -> Option<Side> {
    let is_different = (left - right).abs() > ROLLOVER_SIDE_TOLERANCE * left.min(right);
    is_different.then_some(if left < right { Side::Left } else { Side::Right })
}

/// Computes the figures of axle `index`. The position is the mean of its wheels, the track the distance of the
/// outermost contact points. Frequency `√(k / m) / 2π` and the damping ratios `c / (2 √(k m))` in bump and in rebound
/// use sums over the wheels and heave springs of the axle; the sag `m g / k` uses the wheels only. A heave spring
/// belongs to the axle of its first wheel. The mass `m` is the carried mass, which includes that of the wheels. The
/// cornering stiffness is the sum over the wheels, `None` if a tyre has no creep.
fn axle_figures(model: &Model, index: usize) -> AxleCharacteristics {
    let axle_wheels = || model.wheels().iter().enumerate().filter(move |(_, w)| w.axle == index);
    let wheel_count = axle_wheels().count().max(1) as f64;
    // Sum of a quantity over the wheels of the axle.
    let axle_sum = |f: &dyn Fn(usize) -> f64| axle_wheels().map(|(i, _)| f(i)).sum::<f64>();
    let strut = |i: usize| &model.wheels()[i].strut;
    let (mass, rate) = (axle_sum(&|i| f64::from(model.carried_masses()[i])), axle_sum(&|i| f64::from(strut(i).rate)));
    let heave_springs = || model.parts().heave_springs.iter().filter(|s| model.wheels()[s.wheels[0]].axle == index);
    // Rate (N/m) and damping (N s/m) of the heave springs.
    let [heave_rate, heave_damping] = heave_springs()
        .fold([0.0; 2], |[rate, damping], spring| [rate + f64::from(spring.rate), damping + f64::from(spring.damping)]);
    // Critical damping (N s/m).
    let critical_damping = 2.0 * ((rate + heave_rate) * mass).sqrt();
    let contact_y = |i: usize| f64::from(model.wheels()[i].contact.y);
    // Outermost contact points (m): largest and smallest y.
    let (left_y, right_y) =
        axle_wheels().fold((f64::MIN, f64::MAX), |(l, r), (i, _)| (l.max(contact_y(i)), r.min(contact_y(i))));
    AxleCharacteristics {
        x_m: axle_sum(&|i| f64::from(model.wheels()[i].contact.x)) / wheel_count,
        track_m: (left_y - right_y).max(0.0),
        load_n: mass * GRAVITY_MPS2,
        sag_m: mass * GRAVITY_MPS2 / rate,
        ride_hz: ((rate + heave_rate) / mass).sqrt() / core::f64::consts::TAU,
        bump_damping_ratio: (axle_sum(&|i| f64::from(strut(i).bump_damping)) + heave_damping) / critical_damping,
        rebound_damping_ratio: (axle_sum(&|i| f64::from(strut(i).rebound_damping)) + heave_damping) / critical_damping,
        cornering_stiffness_n_per_rad: axle_wheels().map(|(i, _)| cornering_stiffness(model, i)).sum(),
    }
}

/// Returns the cornering stiffness of a wheel at its static load (N/rad); `None` for a tyre without creep (dry
/// friction).
fn cornering_stiffness(model: &Model, wheel: usize) -> Option<f64> {
    let tyre = model.tyre(wheel);
    tyre.has_deflection_dynamics().then(|| f64::from(tyre.stiffness_at(model.static_load(wheel))[1]))
}

/// Returns the angle by which the side force of axle `index` reduces its road-wheel angle through a compliant steering
/// linkage, per force of the whole axle at small slips (rad/N): the mean over its wheels, of which each has its share
/// of the force. 0 for a rigid linkage.
fn compliance_steer(model: &Model, index: usize) -> f64 {
    let wheels: Vec<usize> = (0..model.wheels().len()).filter(|&i| model.wheels()[i].axle == index).collect();
    let count = wheels.len().max(1) as f64;
    wheels.into_iter().map(|i| linkage::angle_per_force(model, i)).sum::<f64>() / (count * count)
}

/// Returns the side force of axle `index` that roll steer causes, per lateral acceleration (N per m/s², positive to the
/// left), with a rigid steering linkage. The sum over the wheels is cornering stiffness times toe change, with the
/// wheel travels of `turn_pose` (pose of the car in a steady turn). Returns 0 without a pose or without links that
/// change the toe angle; a tyre without cornering stiffness contributes 0.
fn roll_steer_force(model: &Model, turn_pose: Option<&TurnPose>, index: usize) -> f64 {
    let toe_curves = model.parts().axles[index].toe_camber.zip(turn_pose);
    toe_curves.map_or(0.0, |(toe_curves, turn_pose)| {
        let axle_wheels = model.wheels().iter().enumerate().filter(|(_, wheel)| wheel.axle == index);
        axle_wheels
            .map(|(i, wheel)| {
                // [0]: linear toe change per travel (rad/m).
                let steer = f64::from(wheel.side.outward_sign() * toe_curves.toe[0]) * turn_pose.compressions[i];
                cornering_stiffness(model, i).unwrap_or(0.0) * steer
            })
            .sum()
    })
}

/// Builds the bicycle model from position, cornering stiffness and steer ratio of each axle, and from its roll steer
/// (toe change by wheel travel). With a compliant steering linkage, both are divided by `1 + C c` with the cornering
/// stiffness C and the compliance steer c ([`compliance_steer`]). `turn_pose` is the pose of the car in a steady turn;
/// without it there is no roll steer. `None` if a tyre has no cornering stiffness, if the
/// linkage yields without limit (`1 + C c ≤ 0`), or if `Bicycle::from_axles` finds no model, for example because
/// no axle steers.
fn build_bicycle(model: &Model, axles: &[AxleCharacteristics], turn_pose: Option<&TurnPose>) -> Option<Bicycle> {
    // Arguments of `Bicycle::from_axles`: position, cornering stiffness, steer ratio, roll-steer force.
    let axle_row = |(i, figures): (usize, &AxleCharacteristics)| {
        let steer_ratio = f64::from(model.parts().axles[i].steer_ratio);
        let stiffness = figures.cornering_stiffness_n_per_rad?;
        let reduction = 1.0 + stiffness * compliance_steer(model, i);
        let roll_steer = roll_steer_force(model, turn_pose, i);
        (reduction > 0.0).then(|| [figures.x_m, stiffness / reduction, steer_ratio, roll_steer / reduction])
    };
    let rows: Option<Vec<[f64; 4]>> = axles.iter().enumerate().map(axle_row).collect();
    Bicycle::from_axles(f64::from(model.mass()), &rows?)
}

/// Returns the longitudinal slip of the largest tyre force of wheel `i` at its static load (–); `None` for a tyre
/// without creep.
pub fn peak_slip(model: &Model, i: usize) -> Option<f64> {
    model.tyre(i).peak_slip(model.static_load(i)).map(f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    /// Load, sag, ride frequency, bump damping ratio, rollover threshold, roll gradient, neutral bicycle model and
    /// steering angle of the test car are those of the formulas.
    #[test]
    fn figures_of_the_test_car() {
        let figures = Characteristics::new(&testing::model());
        let axle = &figures.axles[0];
        assert!((axle.load_n - 500.0 * GRAVITY_MPS2).abs() < 1e-2, "{axle:?}");
        assert!((axle.sag_m - 250.0 * GRAVITY_MPS2 / 25e3).abs() < 1e-6);
        assert!((axle.ride_hz - 10.0 / core::f64::consts::TAU).abs() < 1e-6);
        assert!((axle.bump_damping_ratio - 1500.0 / (2.0 * (25e3f64 * 250.0).sqrt())).abs() < 1e-6);
        assert_eq!(figures.rollover_g.map(|g| (g * 1e4).round()), Some(15000.0));
        // Roll stiffness: 4 · 25e3 · 0.75² − 1000 · 9.81 · 0.5 = 51345 N m/rad.
        let gradient = figures.roll_gradient.expect("upright");
        assert!((gradient - 500.0 / 51_345.0).abs() < 1e-8, "{gradient}");
        let neutral = figures.bicycle.expect("linear tyres");
        assert!(neutral.understeer.abs() < 1e-9 && (neutral.wheelbase_m - 2.5).abs() < 1e-6);
        assert!((figures.steer_for(4.0, 20.0) - 4.0 * 2.5 / 400.0).abs() < 1e-6);
    }
}
