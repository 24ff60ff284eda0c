//! Steps of zero or invalid length in a user's world: pauses, first frames, clocks set back.

use skidpad::core::{Controls, Scene};
use skidpad::rapier::WorldAxes;

use super::{Yard, standing};
use crate::common::{Simplify, c5};

fn driven() -> Controls {
    Controls { throttle: 0.6, steer: 0.05, gear: Some(1), ..Controls::default() }
}

/// A car continues after a pause bit for bit as without the pause. Both calls report an invalid step length.
#[test]
fn a_step_of_no_length_changes_nothing() {
    let model = c5().model();
    let dt = 1.0 / 60.0;
    for pause in [0.0, -0.0, -dt, f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let [mut paused, mut alone] = [0, 1].map(|_| {
            Yard::new(Yard::plane(&Scene::flat(), 60.0), WorldAxes::ZUp, &Scene::flat(), &model, &[standing(0.3)])
        });
        for yard in [&mut paused, &mut alone] {
            yard.run(1.0, &[driven()]);
        }
        paused.world.integration_parameters.dt = pause;
        for _ in 0..3 {
            let before = paused.cars.before_step(&mut paused.world, &[driven()]);
            // Rapier divides by step lengths other than zero, so it steps only in a pause of zero.
            if pause == 0.0 {
                paused.world.step();
            }
            let after = paused.cars.after_step(&mut paused.world);
            assert_eq!([before.not_finite, after.not_finite], [pause != 0.0; 2], "{pause}");
            assert_eq!(paused.state(0).to_bytes(), alone.state(0).to_bytes(), "in a pause of {pause}");
            assert!(paused.frame(0).row().iter().all(|value| value.is_finite()), "{pause}");
        }
        paused.world.integration_parameters.dt = dt;
        for yard in [&mut paused, &mut alone] {
            yard.run(1.0, &[driven()]);
        }
        assert_eq!(paused.state(0).to_bytes(), alone.state(0).to_bytes(), "after a pause of {pause}");
        assert!(paused.state(0).velocity.length() > 3.0);
    }
}
