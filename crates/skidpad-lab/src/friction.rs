//! Friction utilisation of the tyres, which separates runs at the limit from those below it.

use skidpad_core::{Frame, Model, Scene};

use crate::trajectory::Trajectory;

/// Friction utilisation above which a run counts as being at the limit (–). The slip curve is flat from here on, so
/// small differences in force become large differences in slip.
pub const GRIP_LIMIT_UTILISATION: f64 = 0.9;

/// Share of its static load above which a wheel is evaluated (–). A wheel that lifts barely moves the car, and its
/// utilisation is a quotient of rounding errors.
const MIN_LOAD_SHARE: f64 = 0.02;

/// Computes the friction utilisation `√((F_x / μ_x F_z)² + (F_y / μ_y F_z)²)` of wheel number `wheel` in `frame` (–),
/// on ground with the friction factor `grip`. At 1 the tyre slides or is at the peak of its slip curve. `None` for a
/// wheel with at most 2 % of its static load.
pub fn wheel_utilisation(model: &Model, grip: f32, frame: &Frame, wheel: usize) -> Option<f64> {
    let min_load = MIN_LOAD_SHARE * f64::from(model.static_load(wheel));
    let wheel_frame = &frame.wheels[wheel];
    if wheel_frame.load_n <= min_load {
        return None;
    }
    // Friction limits, longitudinal and lateral (N).
    let friction = model.tyre(wheel).friction_at(wheel_frame.load_n as f32);
    let [x_limit, y_limit] = friction.map(|mu| f64::from(mu * grip) * wheel_frame.load_n);
    Some((wheel_frame.fx_n / x_limit).hypot(wheel_frame.fy_n / y_limit))
}

/// Computes the largest [`wheel_utilisation`] of any wheel at any time (–). Every contact, boxes included, is evaluated
/// with the grip of the scene's ground. 0 if no wheel is loaded. Towed units are not evaluated.
pub fn max_friction_utilisation(model: &Model, scene: &Scene, trajectory: &Trajectory) -> f64 {
    let of_frame = |frame: &Frame| {
        let utilisations = (0..model.wheels().len()).filter_map(|i| wheel_utilisation(model, scene.grip, frame, i));
        utilisations.fold(0.0, f64::max)
    };
    trajectory.rows().map(|frame| of_frame(&frame)).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{model, sampled};

    /// The largest utilisation is that of the wheel with combined forces, and twice as large at half the grip. A wheel
    /// below the load limit does not count.
    #[test]
    fn the_hardest_worked_loaded_wheel_counts() {
        let run = |load: f64| {
            sampled(0.1, 1.0, |t, frame| {
                for (wheel, share) in frame.wheels.iter_mut().zip([0.1, 0.2, 0.0, 0.1]) {
                    (wheel.load_n, wheel.fx_n) = (2500.0, share * 2500.0);
                }
                if t == 0.5 {
                    frame.wheels[2].load_n = load;
                    (frame.wheels[2].fx_n, frame.wheels[2].fy_n) = (-0.3 * load, 0.4 * load);
                }
            })
        };
        let found =
            |load: f64, grip: f32| max_friction_utilisation(&model(), &Scene { grip, ..Scene::flat() }, &run(load));
        assert!((found(2000.0, 1.0) - 0.5).abs() < 1e-6);
        assert!((found(2000.0, 0.5) - 1.0).abs() < 1e-6);
        assert!((found(10.0, 1.0) - 0.2).abs() < 1e-6, "a wheel about to lift does not count");
    }
}
