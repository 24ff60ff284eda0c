//! Neutral car between source and vehicle file. Units are SI, axes are x forward, y left, z up, with any origin. Each
//! number carries its origin in the source as text.

use crate::engine::GameEngine;
use skidpad_spec::spec::{Friction, Inertia, RaycastReference, Relaxation, Tyre};

/// Number with its origin in the source, as text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SourcedNumber {
    /// Value in SI units.
    pub value: f64,
    /// Origin in the source, which becomes a comment of the vehicle file; empty for no comment.
    pub origin: String,
}

/// Creates a number with its origin. An empty `origin` adds no comment to the vehicle file.
pub(crate) fn sourced(value: f64, origin: impl Into<String>) -> SourcedNumber {
    SourcedNumber { value, origin: origin.into() }
}

/// Box aligned with the axes of the car: centre and full size (m).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BodyBox {
    /// Centre.
    pub centre: [f64; 3],
    /// Full size along each axis.
    pub size: [f64; 3],
}

impl BodyBox {
    /// Returns the volume (m³).
    pub fn volume(&self) -> f64 {
        self.size.iter().product()
    }
}

/// Height of the contact point of a wheel in the frame of the body (m), if the car stands on level ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ContactHeight {
    /// Height at which the spring is unloaded. The contact point at rest is higher by the static deflection.
    Unloaded(f64),
    /// Height at rest, independent of the spring.
    AtRest(f64),
}

/// Quantity over the compression from full droop (m), as points in rising order. Linear between the points, constant
/// outside their range, and 0 without points.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct JounceCurve(pub Vec<[f64; 2]>);

impl JounceCurve {
    /// Interpolates the quantity linearly at the compression `jounce` from full droop (m). Outside the points it
    /// returns the value of the nearest end, without points 0.
    pub fn evaluate_at(&self, jounce: f64) -> f64 {
        let upper_index = self.0.partition_point(|point| point[0] <= jounce);
        // Neighbours of `jounce`, each [jounce, quantity]; one of them is missing outside the points.
        let (Some(lower), Some(upper)) = (upper_index.checked_sub(1).map(|i| self.0[i]), self.0.get(upper_index))
        else {
            return self.0.get(upper_index.saturating_sub(1)).map_or(0.0, |end| end[1]);
        };
        lower[1] + (upper[1] - lower[1]) * (jounce - lower[0]) / (upper[0] - lower[0])
    }
}

/// Angles of one wheel over its travel (rad).
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ToeCamberTables {
    /// Toe angle, positive to the left.
    pub toe: JounceCurve,
    /// Camber angle, positive with the top of the wheel to the right.
    pub camber: JounceCurve,
}

/// Height at which the forces of a tyre act.
#[derive(Clone, Debug)]
pub(crate) enum ForcePoint {
    /// Constant height above the ground (m).
    AboveGround(SourcedNumber),
    /// Height in the frame of the body over the compression (m).
    OnBody(JounceCurve),
}

/// Wheel with its suspension.
#[derive(Clone, Debug)]
pub(crate) struct Corner {
    /// Path of the wheel in the source.
    pub path: String,
    /// Longitudinal (forward) and lateral (left) position (m).
    pub position: [f64; 2],
    /// Height of the contact point of the standing car.
    pub contact: ContactHeight,
    /// Heights of the contact point at full bump and at full droop (m).
    pub contact_range: [f64; 2],
    /// Origin of `contact_range` in the source.
    pub contact_range_source: String,
    /// Radius of the wheel (m).
    pub radius: SourcedNumber,
    /// Moment of inertia about the spin axis (kg m²).
    pub spin_inertia: SourcedNumber,
    /// Spring rate (N/m).
    pub rate: SourcedNumber,
    /// Damping in compression (N s/m).
    pub bump: SourcedNumber,
    /// Damping in extension (N s/m).
    pub rebound: SourcedNumber,
    /// Tyre of the wheel.
    pub tyre: Tyre,
    /// Origin of `tyre` in the source.
    pub tyre_source: String,
    /// Steering angle of the wheel as a share of the largest steering angle of the car.
    pub steer_share: f64,
    /// Largest brake torque (N m).
    pub brake: SourcedNumber,
    /// Largest handbrake torque (N m).
    pub handbrake: SourcedNumber,
    /// Largest drive torque (N m); with an engine in the car the share of its torque, in any unit.
    pub drive_torque: SourcedNumber,
    /// Rate of the anti-roll bar to the other wheel of the axle (N/m).
    pub anti_roll_rate: SourcedNumber,
    /// Unsprung mass (kg) and vertical rate of the tyre (N/m); `None` for a wheel without an unsprung mass.
    pub unsprung: Option<[SourcedNumber; 2]>,
    /// Whether the wheel is on a solid axle with the other wheel.
    pub is_on_solid_axle: bool,
    /// Height of the roll centre of the axle above the ground (m); `None` if it is on the ground.
    pub roll_centre: Option<SourcedNumber>,
    /// Lateral rate (N/m) and damping (N s/m) of the axle; `None` if the axle is laterally rigid.
    pub lateral_compliance: Option<[SourcedNumber; 2]>,
    /// Height at which tyre forces act; `None` if they act at the ground.
    pub force_point: Option<ForcePoint>,
    /// Toe and camber over the travel; `None` if both are always 0.
    pub toe_camber: Option<ToeCamberTables>,
    /// Rolling resistance per speed (N s/m). The importer divides it by the static load of the wheel.
    pub rolling_resistance: Option<SourcedNumber>,
}

/// Car.
#[derive(Clone, Debug)]
pub(crate) struct Car {
    /// Name of the vehicle.
    pub name: String,
    /// Description of the vehicle.
    pub description: String,
    /// Mass of the whole car (kg).
    pub mass: SourcedNumber,
    /// Centre of mass (m).
    pub centre: [f64; 3],
    /// Origin of `centre` in the source.
    pub centre_source: String,
    /// Inertia about the centre of mass and its origin in the source; `None` to compute it from `boxes` at constant
    /// density.
    pub inertia: Option<(Inertia, String)>,
    /// Shape of the body.
    pub boxes: Vec<BodyBox>,
    /// Collision box; `None` for the box around `boxes`, or without boxes an estimate from the wheels.
    pub hull: Option<BodyBox>,
    /// Wheels, in any order.
    pub wheels: Vec<Corner>,
    /// Largest steering angle (degrees).
    pub lock: SourcedNumber,
    /// Largest steering rate (degrees/s); `None` for no limit.
    pub steer_rate: Option<SourcedNumber>,
    /// Engine that drives the wheels in proportion to [`Corner::drive_torque`]; `None` if these are torques at the
    /// wheels.
    pub engine: Option<GameEngine>,
    /// Parameters that only ray-cast vehicles of other engines use (`raycast_reference`).
    pub raycast_reference: Option<RaycastReference>,
}

/// Returns the common centre of boxes of equal density (m), the mean of their centres weighted by volume. `None`
/// without boxes or without volume.
pub(crate) fn common_centre(boxes: &[BodyBox]) -> Option<[f64; 3]> {
    let total_volume: f64 = boxes.iter().map(BodyBox::volume).sum();
    let mean = |i: usize| boxes.iter().map(|b| b.volume() * b.centre[i]).sum::<f64>() / total_volume;
    (total_volume > 0.0).then(|| [mean(0), mean(1), mean(2)])
}

/// Creates a relaxation with one length for the longitudinal and the lateral force (m).
pub(crate) fn relaxation(length: f64) -> Relaxation {
    Relaxation { relaxation_length_longitudinal_m: length, relaxation_length_lateral_m: length }
}

/// Creates a friction law without load sensitivity from the longitudinal and the lateral coefficient.
pub(crate) fn friction([longitudinal_friction, lateral_friction]: [f64; 2]) -> Friction {
    Friction { longitudinal_friction, lateral_friction, load_sensitivity: 0.0, nominal_load_n: None }
}
