//! Speed and distance over the ground, wherever the car points and whatever the slope.

use skidpad_core::Frame;

/// Speed over the ground, m/s: a spin turns a car's forward speed from its side to its front, and back.
pub(crate) fn speed(frame: &Frame) -> f64 {
    frame.vx_mps.hypot(frame.vy_mps)
}

/// Slower than anybody walks, m/s.
const SLOW_MPS: f64 = 1.0;

/// The same of a car that set out towards `heading_rad`, until it stands: negative as a slow one rolls back.
pub(crate) fn until_rest(heading_rad: f64) -> impl Fn(&Frame) -> f64 + Copy {
    move |frame: &Frame| {
        let (sin, cos) = (frame.yaw_rad - heading_rad).sin_cos();
        let [ahead, aside] = [frame.vx_mps * cos - frame.vy_mps * sin, frame.vx_mps * sin + frame.vy_mps * cos];
        let rolls_back = ahead < -aside.abs() && speed(frame) < SLOW_MPS;
        if rolls_back { -speed(frame) } else { speed(frame) }
    }
}

/// How far a car is from where it was at `start`, along the ground, m.
pub(crate) fn distance_from(start: &Frame) -> impl Fn(&Frame) -> f64 + Copy + use<> {
    let [x, y, z] = [start.x_m, start.y_m, start.z_m];
    move |f: &Frame| (f.x_m - x).hypot(f.y_m - y).hypot(f.z_m - z)
}
