//! Steady speed in still air. The aerodynamic forces depend on the ride heights, which depend on the forces.

use skidpad_core::Model;

use super::steady_state::{LoadDemand, SteadyState, solve_at_roll};

/// Change of the compressions below which heights and forces are consistent (m).
const COMPRESSION_TOLERANCE_M: f64 = 1e-7;
/// Maximum number of iterations, after which no steady pose is assumed.
const MAX_POSE_ITERATIONS: usize = 400;

/// Aerodynamic forces at a speed, and the resulting pose.
#[derive(Clone, Debug, PartialEq)]
pub struct CruiseState {
    /// Drag against the motion (N).
    pub drag_n: f64,
    /// Downforce of each surface (N), positive downwards.
    pub downforce_n: [f64; 2],
    /// Steady pose of the car, straight ahead.
    pub steady: SteadyState,
}

impl CruiseState {
    /// Computes the state at `v` m/s on level ground, with the drive equal to the drag. Drag and downforce depend on
    /// the compressions of the wheels through the aerodynamic maps, and the compressions depend on the forces.
    ///
    /// Each iteration computes the forces from the compressions (initially 0) and the pose from the forces. The
    /// compressions then move halfway towards this pose, so that the iteration also converges for downforce that
    /// decreases at low ride heights. The iteration ends once no compression differs by 1e-7 m or more; a car without
    /// aerodynamic maps needs only one. `None` if no pose carries the car, or after 400 iterations. The second case
    /// occurs if downforce grows at low ride heights faster than the springs react.
    pub fn at_speed(model: &Model, v: f64) -> Option<Self> {
        let aero = &model.parts().aero;
        // Compressions from rest for which the forces are computed (m).
        let mut compressions = vec![0.0; model.wheels().len()];
        for _ in 0..MAX_POSE_ITERATIONS {
            let mean_compression = model.mean_compression(|i| compressions[i] as f32);
            // Factors on drag, front and rear downforce, for air from straight ahead (0.0).
            let factors = aero.maps.as_ref().map_or([1.0; 3], |maps| maps.factors(mean_compression, 0.0));
            let coefficients = [aero.drag, aero.downforce[0].coefficient, aero.downforce[1].coefficient];
            let [drag_n, front, rear] = [0, 1, 2].map(|i| f64::from(coefficients[i]) * f64::from(factors[i]) * v * v);
            // 0.0: no roll.
            let steady = solve_at_roll(model, 0.0, LoadDemand::at_speed(model, [front, rear], drag_n))?;
            let changes =
                compressions.iter().zip(&steady.compressions).map(|(previous, current)| (current - previous).abs());
            if aero.maps.is_none() || changes.fold(0.0, f64::max) < COMPRESSION_TOLERANCE_M {
                return Some(Self { drag_n, downforce_n: [front, rear], steady });
            }
            // 0.5: halfway.
            compressions.iter_mut().zip(&steady.compressions).for_each(|(z, target)| *z += 0.5 * (target - *z));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::closed_form::straight::{resistance, top_speed};
    use crate::testing;
    use skidpad_core::Vec3;
    use skidpad_core::model::{AeroMaps, AeroSurface, BilinearTable};

    /// Builds the test car with a surface at its centre of mass. Its downforce and drag are multiplied by
    /// `1 + slope (0.2 − h)`. The factor is 1 at 0.2 m, the height at rest, and linear between 0 and 0.4 m.
    fn mapped(slope: f32) -> Model {
        let mut parts = testing::model().parts().clone();
        // Drag and drive act at the ground: no pitch.
        parts.aero.drag_point = Vec3::new(0.0, 0.0, -0.5);
        parts.aero.downforce[0] = AeroSurface { coefficient: 1.0, point: Vec3::ZERO };
        let ends = vec![0.0, 0.4];
        // Factor at a ride height (m).
        let at = |height: f32| 1.0 + slope * (0.2 - height);
        let table = || BilinearTable::new([ends.clone(), vec![0.0]], vec![at(0.0), at(0.4)]).expect("sound");
        let heights = [table(), table(), BilinearTable::default()];
        parts.aero.maps = Some(Box::new(AeroMaps { at_rest: [0.2; 2], heights, yaw: Default::default() }));
        Model::new(parts).expect("valid")
    }

    /// The compression satisfies `4 k z = C v² (1 + s z)`, for downforce that grows or falls with the compression.
    /// Downforce, drag and resistance have the factor of this height.
    #[test]
    fn forces_are_those_of_the_heights_they_make() {
        for slope in [0.0, 3.0, -2.4] {
            let model = mapped(slope);
            // Square of the speed (m²/s²), and the compression that solves the equation (m).
            let pressure = 50.0f64 * 50.0;
            let z = pressure / (100e3 - f64::from(slope) * pressure);
            let found = CruiseState::at_speed(&model, 50.0).expect("steady");
            for compression in &found.steady.compressions {
                assert!((compression - z).abs() < 1e-6, "{slope}: {compression} {z}");
            }
            let factor = 1.0 + f64::from(slope) * z;
            assert!((found.downforce_n[0] / (pressure * factor) - 1.0).abs() < 1e-6, "{found:?}");
            assert!((found.drag_n / (0.4 * pressure * factor) - 1.0).abs() < 1e-6, "{found:?}");
            let rolling = 0.01 * (1000.0 * 9.81 + pressure * factor);
            assert!((resistance(&model, 50.0) / (found.drag_n + rolling) - 1.0).abs() < 1e-6);
        }
    }

    /// The drive of 800 N m on 0.3 m balances drag and rolling resistance at the ride height of that speed. The
    /// resistance is smaller than the drive just below the top speed and larger just above it.
    #[test]
    fn top_speed_is_of_the_height_at_top_speed() {
        for slope in [0.0, 3.0, -2.4] {
            let model = mapped(slope);
            let top = top_speed(&model).expect("a motor and drag");
            let balance = |v: f64| resistance(&model, v) - 800.0 / 0.3;
            assert!(balance(top - 0.02) < 0.0 && balance(top + 0.02) > 0.0, "{slope}: {top}");
        }
    }

    /// The downforce grows faster than the forces of the springs (100 kN/m in total) from `4 k = C v² s` on, which is
    /// 141 m/s here. The car then sinks to its stops.
    #[test]
    fn a_car_that_its_own_downforce_pulls_down_ends_on_its_stops() {
        let model = mapped(5.0);
        let low = CruiseState::at_speed(&model, 160.0).expect("stops carry it");
        assert!(low.steady.compressions.iter().all(|z| *z > 0.08), "{low:?}");
    }
}
