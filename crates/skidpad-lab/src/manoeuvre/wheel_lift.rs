//! Height of wheels above level ground, and lift of all wheels of one side.

use skidpad_core::model::Side;
use skidpad_core::{Frame, Model};

use crate::trajectory::Trajectory;

/// Computes the height of the lowest point of wheel `i` above the plane z = 0 (m). The point is the contact point at
/// rest, moved up in the body by the compression of the suspension. Camber changes are neglected.
fn wheel_height(model: &Model, frame: &Frame, i: usize) -> f64 {
    let (contact, compression) = (model.wheels()[i].contact, frame.wheels[i].compression_m);
    let (x, y, z) = (f64::from(contact.x), f64::from(contact.y), f64::from(contact.z) + compression);
    let ((sin_roll, cos_roll), (sin_pitch, cos_pitch)) = (frame.roll_rad.sin_cos(), frame.pitch_rad.sin_cos());
    // Third row of the rotation yaw, pitch, roll.
    frame.z_m - sin_pitch * x + cos_pitch * (sin_roll * y + cos_roll * z)
}

/// Computes the largest height above level ground that all wheels of one side have at the same time (m, ≥ 0), over the
/// whole run and both sides. A side without wheels counts as not lifted.
pub(super) fn max_side_lift_m(model: &Model, trajectory: &Trajectory) -> f64 {
    let side_lift = |frame: &Frame, side: Side| {
        let wheels = (0..model.wheels().len()).filter(|&i| model.wheels()[i].side == side);
        wheels.map(|i| wheel_height(model, frame, i)).min_by(f64::total_cmp).unwrap_or(0.0)
    };
    let frame_lift = |frame: &Frame| side_lift(frame, Side::Left).max(side_lift(frame, Side::Right));
    trajectory.rows().map(|frame| frame_lift(&frame)).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{model, sampled};

    /// A car that stands has wheels on the ground. Rolled about its right wheels (y = −0.75 m) by 0.1 rad, the left wheels
    /// are 1.5 m · sin(0.1) above the ground; hanging wheels reduce the height by their travel.
    #[test]
    fn rolled_cars_lift_one_side() {
        let model = model();
        let standing = sampled(1.0, 1.0, |_, frame| frame.z_m = 0.5);
        assert!(max_side_lift_m(&model, &standing) < 1e-6);
        for droop in [0.0, 0.08] {
            for roll in [0.1f64, -0.1] {
                let run = sampled(1.0, 1.0, |_, frame| {
                    frame.roll_rad = roll;
                    // The wheels of the loaded side touch the ground.
                    frame.z_m = 0.75 * 0.1f64.sin() + 0.5 * 0.1f64.cos();
                    for (i, wheel) in frame.wheels.iter_mut().enumerate() {
                        let is_lifted = (model.wheels()[i].side == Side::Left) == (roll > 0.0);
                        wheel.compression_m = if is_lifted { -droop } else { 0.0 };
                    }
                });
                let expected = 1.5 * 0.1f64.sin() - droop * 0.1f64.cos();
                let found = max_side_lift_m(&model, &run);
                assert!((found - expected).abs() < 1e-6, "{found} {expected}");
            }
        }
    }
}
