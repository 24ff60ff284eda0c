//! Computes the poses for drawing wheels: with the rolling angle, and interpolated between two steps.
//!
//! `State::wheel_pose` returns the pose without the rolling angle. The drawing code integrates that angle from the
//! wheel speed.

use skidpad::core::{CarStart, Controls, Quat, Scene, Vec3, state::Placement};

const STEP_S: f32 = 1.0 / 60.0;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = skidpad::spec::load("corvette_c5")?.model;
    let placement = Placement { speed: 10.0, ..Placement::default() };
    let backend =
        skidpad::solvers().into_iter().find(|backend| !backend.comparison_only).ok_or("no solver is built in")?;
    let mut world = (backend.build_world)(&Scene::flat(), &[CarStart { model: model.clone(), placement }], STEP_S);
    let mut rolling_angles = [0.0f32; 4];
    println!("{:>5} {:>28} {:>10} {:>9}", "t s", "front left wheel at m", "rolled rad", "extended");
    for step in 0..=120 {
        let previous_state = world.state(0).clone();
        world.step(&[Controls { steer: 0.1, throttle: 0.3, ..Controls::default() }]);
        let current_state = world.state(0);
        for (rolling_angle, wheel) in rolling_angles.iter_mut().zip(&current_state.wheels) {
            *rolling_angle += wheel.spin * STEP_S;
        }
        if step % 20 == 0 {
            // Here the frame is in the middle between the two steps. 0: front left wheel, 0.5: share of the step.
            let [previous_pose, current_pose] =
                [&previous_state, current_state].map(|state| state.wheel_pose(&model, 0));
            let centre = previous_pose.centre.lerp(current_pose.centre, 0.5);
            let rotation = previous_pose.rotation.lerp(current_pose.rotation, 0.5)
                * Quat::from_axis_angle(Vec3::Y, rolling_angles[0]);
            assert!(rotation.is_normalized());
            let extension = current_state.extension(&model, 0);
            println!(
                "{:>5.2} {centre:>28.3} {:>10.2} {extension:>9.3}",
                f64::from(STEP_S) * f64::from(step),
                rolling_angles[0]
            );
        }
    }
    Ok(())
}
