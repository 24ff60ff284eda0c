//! Tows a caravan with a car, brakes and unhitches the caravan.

use skidpad::core::{CarStart, Controls, Model, Scene, State, math, state::Placement};
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let models: Vec<Arc<Model>> = ["toyota_4runner", "caravan"]
        .into_iter()
        .map(|name| skidpad::spec::load(name).map(|vehicle| vehicle.model))
        .collect::<Result<_, _>>()?;
    let (scene, placement) = (Scene::flat(), Placement { speed: 20.0, ..Placement::default() });
    let starts: Vec<CarStart> = models.iter().map(|model| CarStart { model: model.clone(), placement }).collect();
    let solver = skidpad::solvers().into_iter().find(|solver| !solver.comparison_only).ok_or("no solver is on")?;
    let mut world = (solver.build_world)(&scene, &starts, 1.0 / 60.0);
    // The caravan is in line with its coupler on the ball of the car.
    let train: Vec<&Model> = models.iter().map(Arc::as_ref).collect();
    // 0: number of the first vehicle.
    for (car, state) in State::train_at_rest(&train, 0, &scene, &placement).iter().enumerate() {
        world.set_state(car, state).expect("it fits");
    }
    for step in 0..480 {
        let (steer, brake) = if step < 240 { (0.03 * (step as f32 / 30.0).sin(), 0.0) } else { (0.0, 0.4) };
        // The overrun brake of the caravan acts without controls.
        world.step(&[Controls { steer, brake, ..Controls::coasting() }]);
        if step % 60 == 59 {
            let [car, caravan] = [0, 1].map(|car| world.state(car));
            let articulation_angle = math::roll_pitch_yaw(car.rotation.inverse() * caravan.rotation).z.to_degrees();
            let hitch_force = caravan.tow.map_or(0.0, |tow| tow.force.length());
            println!(
                "{:4.1} s: {:5.2} m/s, folded by {articulation_angle:5.2}°, {hitch_force:6.0} N",
                world.time(),
                car.velocity.length()
            );
        }
    }
    // Vehicle 1 is the caravan.
    let uncoupled_state = State { tow: None, ..world.state(1).clone() };
    world.set_state(1, &uncoupled_state).expect("it fits");
    for _ in 0..120 {
        world.step(&[Controls { throttle: 0.5, ..Controls::default() }]);
    }
    let distance = (world.state(0).position - world.state(1).position).length();
    println!("let go: {distance:.1} m apart after two seconds");
    Ok(())
}
