//! A car at a steady speed in still air: its forces are those of the ride heights it has under them.

use skidpad_core::Model;

use super::steady_state::{Demand, SteadyState, stand};

/// Change of compressions below which heights and forces agree, m.
const AGREED_M: f64 = 1e-7;
/// Passes after which a car whose heights find no rest is given up.
const MOST_PASSES: usize = 400;

/// What the air does at a speed, and how the car stands in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Cruise {
    /// Against the motion, N.
    pub drag_n: f64,
    /// Of each surface, N, positive downwards.
    pub downforce_n: [f64; 2],
    /// On its wheels, straight ahead.
    pub steady: SteadyState,
}

impl Cruise {
    /// At `v` m/s, drive balancing drag. `None` where no pose carries the car, or none is steady: a car whose surfaces press
    /// more the lower it is may sink faster than its springs answer.
    ///
    /// Each pass goes half of the way to the pose that the forces of the last one ask for, which also settles cars that
    /// are pressed less the lower they are.
    pub fn at(model: &Model, v: f64) -> Option<Self> {
        let aero = &model.parts().aero;
        let mut compressions = vec![0.0; model.wheels().len()];
        for _ in 0..MOST_PASSES {
            let mean_compression = model.mean_compression(|i| compressions[i] as f32);
            let factors = aero.maps.as_ref().map_or([1.0; 3], |maps| maps.factors(mean_compression, 0.0));
            let plain = [aero.drag, aero.downforce[0].coefficient, aero.downforce[1].coefficient];
            let [drag_n, front, rear] = [0, 1, 2].map(|i| f64::from(plain[i]) * f64::from(factors[i]) * v * v);
            let steady = stand(model, 0.0, Demand::pressed(model, [front, rear], drag_n))?;
            let moved = compressions.iter().zip(&steady.compressions).map(|(from, to)| (to - from).abs());
            if aero.maps.is_none() || moved.fold(0.0, f64::max) < AGREED_M {
                return Some(Self { drag_n, downforce_n: [front, rear], steady });
            }
            compressions.iter_mut().zip(&steady.compressions).for_each(|(z, to)| *z += 0.5 * (to - *z));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::straight::{resistance, top_speed};
    use crate::testing;
    use skidpad_core::Vec3;
    use skidpad_core::model::{AeroMaps, Surface, Table};

    /// The test car with a surface at its centre of mass that presses `1 + slope (0.2 − h)` times as much, drag likewise.
    fn mapped(slope: f32) -> Model {
        let mut parts = testing::model().parts().clone();
        // Drag and drive meet at the ground: no pitch.
        parts.aero.drag_point = Vec3::new(0.0, 0.0, -0.5);
        parts.aero.downforce[0] = Surface { coefficient: 1.0, point: Vec3::ZERO };
        let ends = vec![0.0, 0.4];
        let at = |height: f32| 1.0 + slope * (0.2 - height);
        let table = || Table::new([ends.clone(), vec![0.0]], vec![at(0.0), at(0.4)]).expect("sound");
        let heights = [table(), table(), Table::default()];
        parts.aero.maps = Some(Box::new(AeroMaps { at_rest: [0.2; 2], heights, yaw: Default::default() }));
        Model::new(parts).expect("valid")
    }

    /// `4 k z = C v² (1 + s z)`, pressed more or less the lower it is.
    #[test]
    fn forces_are_those_of_the_heights_they_make() {
        for slope in [0.0, 3.0, -2.4] {
            let model = mapped(slope);
            let pressure = 50.0f64 * 50.0;
            let z = pressure / (100e3 - f64::from(slope) * pressure);
            let found = Cruise::at(&model, 50.0).expect("steady");
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

    /// Where the drive of 800 N m on 0.3 m meets drag and rolling resistance of the height the car then has.
    #[test]
    fn top_speed_is_of_the_height_at_top_speed() {
        for slope in [0.0, 3.0, -2.4] {
            let model = mapped(slope);
            let top = top_speed(&model).expect("a motor and drag");
            let balance = |v: f64| resistance(&model, v) - 800.0 / 0.3;
            assert!(balance(top - 0.02) < 0.0 && balance(top + 0.02) > 0.0, "{slope}: {top}");
        }
    }

    /// From 4 k = C v² s on the downforce rises faster than springs of 100 kN/m answer, here at 141 m/s: it sinks to its stops.
    #[test]
    fn a_car_that_its_own_downforce_pulls_down_ends_on_its_stops() {
        let model = mapped(5.0);
        let low = Cruise::at(&model, 160.0).expect("stops carry it");
        assert!(low.steady.compressions.iter().all(|z| *z > 0.08), "{low:?}");
    }
}
