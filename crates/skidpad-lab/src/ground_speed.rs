//! Speed and distance over the ground, for any heading of the car and any slope.

use skidpad_core::Frame;

/// Returns the speed over the ground (m/s), ≥ 0. In a spin the forward speed alone would change sign.
pub(crate) fn speed_over_ground(frame: &Frame) -> f64 {
    frame.vx_mps.hypot(frame.vy_mps)
}

/// Speed below which a car that moves backwards counts as rolling back (m/s); slower than walking pace.
const MAX_ROLLBACK_SPEED_MPS: f64 = 1.0;

/// Returns a function that computes the signed speed over the ground (m/s) of a car that started towards `heading_rad`
/// (rad). The speed is negative while the car rolls back: it moves within 45° of the direction opposite to
/// `heading_rad`, slower than [`MAX_ROLLBACK_SPEED_MPS`]. In all other cases the speed is positive, also for a spinning
/// car. The first zero crossing therefore marks the standstill.
pub(crate) fn signed_speed(heading_rad: f64) -> impl Fn(&Frame) -> f64 + Copy {
    move |frame: &Frame| {
        let (sin, cos) = (frame.yaw_rad - heading_rad).sin_cos();
        // Velocity along and across the initial heading (m/s).
        let [longitudinal, lateral] =
            [frame.vx_mps * cos - frame.vy_mps * sin, frame.vx_mps * sin + frame.vy_mps * cos];
        let is_rolling_back = longitudinal < -lateral.abs() && speed_over_ground(frame) < MAX_ROLLBACK_SPEED_MPS;
        if is_rolling_back { -speed_over_ground(frame) } else { speed_over_ground(frame) }
    }
}

/// Returns a function that computes the straight-line distance of a car from its position in `start` (m).
pub(crate) fn distance_from(start: &Frame) -> impl Fn(&Frame) -> f64 + Copy + use<> {
    let [x, y, z] = [start.x_m, start.y_m, start.z_m];
    move |f: &Frame| (f.x_m - x).hypot(f.y_m - y).hypot(f.z_m - z)
}
