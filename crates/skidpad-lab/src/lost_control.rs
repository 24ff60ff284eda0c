//! Loss of control: a car that slides sideways or rolls over.

use skidpad_core::Frame;

use crate::ground_speed;
use crate::scene_bounds::is_supported;
use crate::trajectory::Trajectory;

/// Speed below which a car is not lost (m/s), whatever its direction.
const MIN_SPEED_MPS: f64 = 3.0;
/// Change of the roll angle from the start beyond which a car has rolled over (rad).
const ROLLOVER_RAD: f64 = core::f64::consts::FRAC_PI_3;

/// First moment at which a car was lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LostControl {
    /// Time since the start of the run (s).
    pub t_s: f64,
    /// Cause of the loss.
    pub kind: LossKind,
}

/// Cause of a loss of control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LossKind {
    /// The car moves faster sideways than along its axis, above 3 m/s. The value is the largest sideslip angle of the
    /// run, without sign (rad, up to a right angle; a car that moves backwards has none).
    Spin(f64),
    /// The roll angle has changed by more than 60° since the start, and no wheel carries load. A car on a tilted table
    /// or a banked road has loaded wheels.
    Rollover,
}

/// Returns the sideslip angle against the axis of the car, without sign (rad, 0 to a right angle).
fn axis_sideslip(frame: &Frame) -> f64 {
    frame.vy_mps.abs().atan2(frame.vx_mps.abs())
}

/// Returns the condition that the car of `trajectory` has rolled over in a row: its roll angle has changed by more than
/// 60° since the start, and no wheel carries load.
fn rollover_condition(trajectory: &Trajectory) -> impl Fn(&Frame) -> bool {
    let start_roll = trajectory.first().roll_rad;
    move |frame| (frame.roll_rad - start_roll).abs() > ROLLOVER_RAD && !is_supported(frame)
}

impl LostControl {
    /// Returns the first telemetry row in which the car of `trajectory` was lost; `None` if it never was. A car is lost
    /// if it moves faster sideways than along its axis above 3 m/s, or if its roll angle has changed by more than 60°
    /// while no wheel carries load. If both are true in this row, it has rolled over. The sideslip angle of a spin is
    /// the largest one of the whole run above 3 m/s.
    pub fn find(trajectory: &Trajectory) -> Option<Self> {
        let has_rolled = rollover_condition(trajectory);
        let is_fast = |frame: &Frame| ground_speed::speed_over_ground(frame) > MIN_SPEED_MPS;
        let is_spinning = |frame: &Frame| is_fast(frame) && frame.vy_mps.abs() > frame.vx_mps.abs();
        let lost = trajectory.rows().find(|frame| is_spinning(frame) || has_rolled(frame))?;
        let kind = if has_rolled(&lost) {
            LossKind::Rollover
        } else {
            LossKind::Spin(
                trajectory.rows().filter(|frame| is_fast(frame)).map(|frame| axis_sideslip(&frame)).fold(0.0, f64::max),
            )
        };
        Some(Self { t_s: lost.t_s, kind })
    }

    /// Returns whether the car of `trajectory` rolled over in any row, also after a spin.
    pub fn has_rolled_over(trajectory: &Trajectory) -> bool {
        let has_rolled = rollover_condition(trajectory);
        trajectory.rows().any(|frame| has_rolled(&frame))
    }

    /// Formats the end of a sentence whose subject is the car.
    pub fn text(&self) -> String {
        match self.kind {
            LossKind::Spin(sideslip) => {
                format!("was lost after {:.2} s: sideslip angle up to {:.0}°", self.t_s, sideslip.to_degrees())
            }
            LossKind::Rollover => format!("was lost after {:.2} s: it rolled over", self.t_s),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sampled;

    /// A car that turns by 89° while it moves on is lost when it passes 45°. Backwards motion, slow sliding and a drift of
    /// 40° are no loss; neither is a heading across a slope.
    #[test]
    fn only_fast_sideways_motion_is_a_spin() {
        let slide = |speed: f64, degrees_per_s: f64, limit: f64| {
            sampled(0.01, 10.0, move |t, frame| {
                let angle = (degrees_per_s * t).min(limit).to_radians();
                (frame.vx_mps, frame.vy_mps) = (speed * angle.cos(), -speed * angle.sin());
            })
        };
        let lost = LostControl::find(&slide(20.0, 10.0, 89.0)).expect("spins");
        assert!((lost.t_s - 4.5).abs() < 0.02, "{lost:?}");
        assert!(matches!(lost.kind, LossKind::Spin(angle) if (angle.to_degrees() - 89.0).abs() < 0.01), "{lost:?}");
        for run in [slide(20.0, 10.0, 40.0), slide(2.0, 10.0, 89.0), sampled(0.1, 1.0, |_, frame| frame.vx_mps = -20.0)]
        {
            assert_eq!(LostControl::find(&run), None);
        }
    }

    /// A roll angle that grows by 60° is a rollover; a constant one is the slope of the start, and one with loaded wheels that
    /// of a table.
    #[test]
    fn a_large_change_of_roll_is_a_rollover() {
        let rolling = sampled(0.1, 10.0, |t, frame| frame.roll_rad = 0.2 * t);
        let lost = LostControl::find(&rolling).expect("rolls over");
        assert!((lost.t_s - 5.3).abs() < 0.11 && lost.kind == LossKind::Rollover, "{lost:?}");
        // A spin comes first: sideways at 20 m/s from the start.
        for (roll_rate, has_rolled) in [(0.0, false), (0.2, true)] {
            let spinning = sampled(0.1, 10.0, |t, frame| (frame.roll_rad, frame.vy_mps) = (roll_rate * t, 20.0));
            let lost = LostControl::find(&spinning).expect("spins");
            assert!(matches!(lost.kind, LossKind::Spin(_)), "{lost:?}");
            assert_eq!(LostControl::has_rolled_over(&spinning), has_rolled);
        }
        assert_eq!(LostControl::find(&sampled(0.1, 1.0, |_, frame| frame.roll_rad = 1.2)), None);
        let table = sampled(0.1, 10.0, |t, frame| {
            frame.roll_rad = 0.2 * t;
            frame.wheels[0].load_n = 100.0;
        });
        assert_eq!(LostControl::find(&table), None);
    }
}
