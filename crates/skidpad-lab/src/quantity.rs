//! Quantities of a car that reports draw, and diagrams of one quantity over another.

use skidpad_core::{Frame, Model};

use crate::steering_wheel::{SteeringWheel, steering_wheel_torque};

/// Quantity of a car with its text for the axis of a plot.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    /// Heading of the plot over time.
    pub title: &'static str,
    /// Label of the axis, without unit.
    pub label: &'static str,
    /// Unit of the value; "-" without unit.
    pub unit: &'static str,
    /// Smallest range of the axis, in the unit. Keeps rounding noise from filling a plot.
    pub min_span: f64,
    /// Value in the unit; `None` where the quantity is not defined.
    pub value: fn(&Model, &Frame) -> Option<f64>,
}

/// Plot of one quantity over another, which a manoeuvre adds to its report by
/// [`crate::manoeuvre::Manoeuvre::diagrams`].
#[derive(Clone, Copy, Debug)]
pub struct Diagram {
    /// Heading of the plot.
    pub title: &'static str,
    /// Quantity of the x axis.
    pub x: Quantity,
    /// Quantity of the y axis.
    pub y: Quantity,
    /// Whether both axes have the same scale. Their units must then be equal.
    pub has_equal_scales: bool,
}

/// Axis of a computed curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurveAxis {
    /// Label, without unit.
    pub label: &'static str,
    /// Unit of the values; "-" without unit.
    pub unit: &'static str,
    /// Smallest range of the axis, in the unit.
    pub min_span: f64,
}

impl CurveAxis {
    /// Creates the axis of a quantity.
    pub const fn of(quantity: &Quantity) -> Self {
        Self { label: quantity.label, unit: quantity.unit, min_span: quantity.min_span }
    }
}

/// Curve that a procedure computes from its runs, such as a gain over frequency. Reports draw the curves of all solvers
/// that have one title in one plot.
#[derive(Clone, Debug, PartialEq)]
pub struct ComputedCurve {
    /// Heading of the plot.
    pub title: &'static str,
    /// Axis of the first number of each point.
    pub x: CurveAxis,
    /// Axis of the second number of each point.
    pub y: CurveAxis,
    /// Points of the curve in the order of the line, [x, y] in the units of the axes.
    pub points: Vec<[f64; 2]>,
    /// Whether each point is marked, because it is a run of its own.
    pub has_markers: bool,
}

/// Builds a [`Quantity`] that is always defined.
macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $title:literal, $label:literal, $unit:literal, $min_span:literal, $value:expr) => {
        $(#[$doc])*
        pub const $name: Quantity = Quantity {
            title: $title,
            label: $label,
            unit: $unit,
            min_span: $min_span,
            value: |_, frame| {
                let value: fn(&Frame) -> f64 = $value;
                Some(value(frame))
            },
        };
    };
}

quantity!(
    /// Velocity along the vehicle's x axis.
    FORWARD_SPEED, "Speed", "forward speed", "m/s", 0.5, |f| f.vx_mps
);
quantity!(
    /// Yaw rate, positive to the left.
    YAW_RATE, "Yaw rate", "yaw rate", "deg/s", 1.0, |f| f.yaw_rate_radps.to_degrees()
);
quantity!(
    /// Lateral acceleration along the intermediate y axis.
    LATERAL_ACCELERATION, "Lateral acceleration", "lateral acceleration", "m/s²", 0.3, |f| f.ay_mps2
);
quantity!(
    /// Longitudinal acceleration along the intermediate x axis.
    LONGITUDINAL_ACCELERATION, "Longitudinal acceleration", "longitudinal acceleration", "m/s²", 0.6, |f| f.ax_mps2
);
quantity!(
    /// Mean road-wheel angle of the first steered axle as with a rigid linkage. The deflection of a compliant linkage is
    /// in the angles of the wheels only ([`skidpad_core::telemetry::frame::WheelFrame::steer_rad`]).
    ROAD_WHEEL_ANGLE, "Steering, rigid linkage", "road-wheel angle", "deg", 0.1, |f| f.steer_rad.to_degrees()
);
quantity!(
    /// Roll angle, positive right side down.
    ROLL_ANGLE, "Roll, right side down", "roll angle", "deg", 0.1, |f| f.roll_rad.to_degrees()
);
quantity!(
    /// Pitch angle, positive nose down.
    PITCH_ANGLE, "Pitch, nose down", "pitch angle", "deg", 0.1, |f| f.pitch_rad.to_degrees()
);
quantity!(
    /// Height of the centre of mass above the origin of the world.
    CENTRE_HEIGHT, "Height", "centre of mass", "mm", 2.0, |f| f.z_m * 1e3
);

/// Speed below which angles of the motion and gains are not defined (m/s).
const MIN_SPEED_MPS: f64 = 1.0;

/// Road-wheel angle below which gains are not defined (rad).
const MIN_STEER_RAD: f64 = 0.002;

/// Returns true if the car turns steadily. The lateral acceleration must be that of the turn, `v_x ψ̇`, within 0.05
/// m/s² plus 2 % of its magnitude. Forward speed and road-wheel angle must exceed [`MIN_SPEED_MPS`] and
/// [`MIN_STEER_RAD`] in magnitude.
fn is_steady_turn(frame: &Frame) -> bool {
    let turning_acceleration = frame.vx_mps * frame.yaw_rate_radps;
    (frame.ay_mps2 - turning_acceleration).abs() <= 0.05 + 0.02 * frame.ay_mps2.abs()
        && frame.vx_mps.abs() > MIN_SPEED_MPS
        && frame.steer_rad.abs() > MIN_STEER_RAD
}

/// Sideslip angle at the centre of mass, `atan(v_y / v_x)`.
pub const SIDESLIP_ANGLE: Quantity = Quantity {
    title: "Sideslip",
    label: "sideslip angle",
    unit: "deg",
    min_span: 0.2,
    value: |_, frame| (frame.vx_mps.abs() > MIN_SPEED_MPS).then(|| frame.vy_mps.atan2(frame.vx_mps).to_degrees()),
};

/// Yaw rate per mean road-wheel angle `ψ̇ / δ` (ISO 4138, yaw velocity gain, related to the road wheels). Defined in
/// steady turns.
pub const YAW_RATE_GAIN: Quantity = Quantity {
    title: "Yaw rate gain",
    label: "yaw rate per road-wheel angle",
    unit: "1/s",
    min_span: 0.2,
    value: |_, frame| is_steady_turn(frame).then(|| frame.yaw_rate_radps / frame.steer_rad),
};

/// Mean road-wheel angle less the Ackermann angle, `δ − L ψ̇ / v_x`, with the geometric wheelbase L. The sign is that
/// of an understeering car in a left turn (ISO 4138, handling diagram). Defined in steady turns.
pub const UNDERSTEER_ANGLE: Quantity = Quantity {
    title: "Understeer angle",
    label: "understeer angle δ − L ψ̇ / v",
    unit: "deg",
    min_span: 0.2,
    value: |model, frame| {
        is_steady_turn(frame)
            .then(|| (frame.steer_rad - wheelbase(model) * frame.yaw_rate_radps / frame.vx_mps).to_degrees())
    },
};

/// Torque with which the driver holds the steering wheel, positive to the left. Defined for cars with known steering
/// axes.
pub const STEERING_WHEEL_TORQUE: Quantity = Quantity {
    title: "Steering-wheel torque",
    label: "steering-wheel torque",
    unit: "N m",
    min_span: 0.1,
    value: |_, frame| steering_wheel_torque(frame),
};

/// Steering-wheel angle, with the assumed ratio for a car that states none.
pub const STEERING_WHEEL_ANGLE: Quantity = Quantity {
    title: "Steering wheel",
    label: "steering-wheel angle",
    unit: "deg",
    min_span: 1.0,
    value: |model, frame| Some(SteeringWheel::of(model).wheel_deg(frame.steer_rad)),
};

/// Returns the distance from the first to the last axle (m); 0 for a vehicle without wheels.
pub(crate) fn wheelbase(model: &Model) -> f64 {
    let position = |axle: usize| {
        let of_axle = model.wheels().iter().filter(|wheel| wheel.axle == axle);
        let (sum, count) = of_axle.fold((0.0, 0), |(sum, count), wheel| (sum + f64::from(wheel.contact.x), count + 1));
        sum / f64::from(count.max(1))
    };
    position(0) - position(model.parts().axles.len().saturating_sub(1))
}

/// Handling diagram: understeer angle over lateral acceleration (ISO 4138).
pub const HANDLING_DIAGRAM: Diagram =
    Diagram { title: "Handling diagram", x: LATERAL_ACCELERATION, y: UNDERSTEER_ANGLE, has_equal_scales: false };

/// Yaw rate gain over speed (ISO 4138).
pub const YAW_GAIN_DIAGRAM: Diagram =
    Diagram { title: "Yaw rate gain over speed", x: FORWARD_SPEED, y: YAW_RATE_GAIN, has_equal_scales: false };

/// Steering-wheel torque over lateral acceleration (ISO 13674-1).
pub const TORQUE_OVER_ACCELERATION: Diagram = Diagram {
    title: "Steering torque over lateral acceleration",
    x: LATERAL_ACCELERATION,
    y: STEERING_WHEEL_TORQUE,
    has_equal_scales: false,
};

/// Steering-wheel torque over steering-wheel angle (ISO 13674-1).
pub const TORQUE_OVER_STEERING: Diagram = Diagram {
    title: "Steering torque over angle",
    x: STEERING_WHEEL_ANGLE,
    y: STEERING_WHEEL_TORQUE,
    has_equal_scales: false,
};

/// Longitudinal over lateral acceleration (g-g diagram).
pub const GG_DIAGRAM: Diagram =
    Diagram { title: "g-g diagram", x: LATERAL_ACCELERATION, y: LONGITUDINAL_ACCELERATION, has_equal_scales: true };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::model;

    /// In a neutral turn (road-wheel angle equal to the Ackermann angle) the understeer angle is 0 and the gain v / L.
    /// Gain and angles are not defined at rest, and the gain not while the turn changes.
    #[test]
    fn gains_and_angles_have_their_closed_form_in_a_neutral_turn() {
        let (model, speed, steer) = (model(), 20.0, 0.05);
        // Wheelbase of the test car: 2.5 m.
        let yaw_rate = steer * speed / 2.5;
        let ay_mps2 = speed * yaw_rate;
        let turning = Frame {
            vx_mps: speed,
            vy_mps: -1.0,
            yaw_rate_radps: yaw_rate,
            ay_mps2,
            steer_rad: steer,
            ..Frame::default()
        };
        let value = |quantity: Quantity| (quantity.value)(&model, &turning).expect("defined");
        assert!(value(UNDERSTEER_ANGLE).abs() < 1e-5, "{}", value(UNDERSTEER_ANGLE));
        assert!((value(YAW_RATE_GAIN) - 8.0).abs() < 1e-12);
        assert!((value(SIDESLIP_ANGLE) - (-0.05f64).atan().to_degrees()).abs() < 1e-12);
        for quantity in [UNDERSTEER_ANGLE, YAW_RATE_GAIN, SIDESLIP_ANGLE] {
            assert_eq!((quantity.value)(&model, &Frame::default()), None, "{}", quantity.title);
        }
        let changing = Frame { ay_mps2: ay_mps2 + 0.5, ..turning };
        assert_eq!((YAW_RATE_GAIN.value)(&model, &changing), None);
    }
}
