//! Torque at the steering wheel.

use crate::model::Model;
use crate::state::State;

/// Returns the torque with which the driver of a car of `model` held the steering wheel in the last step of `state` (N
/// m), positive to the left; 0 if steering ratio or steering axes are unknown.
///
/// The torque follows from virtual work. It is the negative sum of the moments of the ground about the steering axes,
/// each times the steer ratio of its axle, divided by the steering ratio. Ackermann geometry is neglected. Power
/// steering reduces the torque by its share.
pub(crate) fn steering_wheel_torque(model: &Model, state: &State) -> f32 {
    let steering = &model.parts().steering;
    let (Some(wheel_ratio), Some(kingpin)) = (steering.wheel_ratio, steering.kingpin) else { return 0.0 };
    let wheels = model.wheels().iter().zip(&state.wheels);
    let ground_torque: f32 = wheels
        .map(|(wheel, wheel_state)| {
            let steer_ratio = model.parts().axles[wheel.axle].steer_ratio;
            steer_ratio * kingpin.wheel_moment(wheel, wheel_state)
        })
        .sum();
    -(1.0 - steering.assist_share) * ground_torque / wheel_ratio
}
