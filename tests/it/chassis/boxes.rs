//! Boxes in scenes: wheels stand on them and use their grip, and hulls collide with them.

use skidpad::core::{Controls, DVec3, FixedBox, Frame, Scene, Vec3, state::Placement};

use crate::common::{Drive, Simplify, c5, close, on_rows, own_code, shipped, solvers};

fn with(boxes: Vec<FixedBox>) -> Scene {
    Scene { boxes, ..Scene::flat() }
}

#[test]
fn a_car_stands_on_a_box_as_on_the_plane() {
    let model = c5().model();
    let table = FixedBox::axis_aligned(DVec3::new(1.0, -2.0, 0.5), Vec3::new(12.0, 10.0, 3.0)).rotated(0.3, 0.0, 0.0);
    for solver in own_code() {
        let lifted = Placement { height: 2.02, ..Placement::default() };
        let mut drive = Drive::new(&solver, &model, &with(vec![table]), lifted, 120.0);
        let frames = drive.run(5.0, |_| Controls::parked());
        let last = &frames[frames.len() - 1];
        let height = last.z_m - 2.0 - f64::from(model.parts().centre_height);
        assert!(height.abs() < 0.5e-3, "{}: {height} m too high", solver.name);
        for (i, wheel) in last.wheels.iter().enumerate() {
            let what = format!("{} wheel {i}", solver.name);
            // Bullet mode has no anti-roll bars. They carry no force here.
            close(&what, wheel.load_n, f64::from(model.static_load(i)), 2e-3, "springs at rest after 5 s");
        }
    }
}

/// Row C3: washboard of sharp edges under ray-probe wheels. All wheels step up and down together 38 times a second,
/// far above the ride frequency. The spring forces alternate by `k h / 2`, so the body accelerates by `k h / 2 m`.
/// Dampers depend on the body's speed only and do not react to the edges.
#[test]
fn c3_a_washboard_reaches_the_body_through_the_springs_alone() {
    let (height, speed) = (0.01f32, 20.0f32);
    let mut parts = c5().without_air().without_rolling_resistance();
    parts.bars.clear();
    let base = f64::from(parts.wheels[0].contact.x - parts.wheels[2].contact.x);
    let pitch = base / 5.0;
    let model = parts.model();
    let size = Vec3::new(0.5 * pitch as f32, 4.0, 1.0);
    let plank = |i: i32| FixedBox::axis_aligned(DVec3::new(f64::from(i) * pitch, 0.0, f64::from(height) - 0.5), size);
    let washboard = with((10..110).map(plank).collect());
    let rate: f32 = model.wheels().iter().map(|w| w.strut.rate).sum();
    let expected = f64::from(rate * 0.5 * height / model.mass());
    for solver in solvers() {
        let placement = Placement { speed, gear: Some(0), ..Placement::default() };
        let mut drive = Drive::new(&solver, &model, &washboard, placement, 1000.0);
        let frames = drive.run(2.5, |_| Controls::coasting());
        // Whole plank pitches after the transient of the first planks.
        let ridden: Vec<_> = frames.iter().filter(|f| (30.0..30.0 + 40.0 * pitch).contains(&f.x_m)).collect();
        let jumps = ridden.windows(2).map(|pair| (pair[1].vz_mps - pair[0].vz_mps) * 1000.0);
        let squares: f64 = jumps.map(|a| a * a).sum();
        let found = (squares / (ridden.len() - 1) as f64).sqrt();
        close(solver.name, found, expected, 0.03, "what of the ride frequency is left at the 27-fold");
    }
}

/// The friction of a box replaces that of the plane: a locked car on Coulomb tyres of μ = 1 decelerates with g times
/// the grip of the box.
#[test]
fn the_grip_of_a_box_is_the_tyres() {
    let model = c5().on_coulomb_tyres(1.0).without_air().without_rolling_resistance().model();
    let ice =
        FixedBox { grip: 0.2, ..FixedBox::axis_aligned(DVec3::new(50.0, 0.0, -0.4), Vec3::new(200.0, 10.0, 1.0)) };
    for solver in solvers() {
        let placement = Placement { height: 0.1, speed: 20.0, gear: Some(0), ..Placement::default() };
        let mut drive = Drive::new(&solver, &model, &with(vec![ice]), placement, 240.0);
        let frames = drive.run(2.5, |_| Controls::parked());
        let (early, late) = (&frames[120], &frames[600]);
        let found = (early.vx_mps - late.vx_mps) / (late.t_s - early.t_s);
        close(solver.name, found, 0.2 * 9.81, 0.005, "mean over 2 s of a car that pitches a little");
    }
}

/// A box flush with the plane acts as a patch of another surface in spite of rounding: all wheels use its grip, also
/// far from the origin and on slopes.
#[test]
fn a_box_flush_with_the_plane_lies_on_it() {
    let model = c5().on_coulomb_tyres(1.0).without_air().without_rolling_resistance().model();
    for (slope, x, off) in
        [(0.0f32, 0.0, 0.0), (0.0, 1234.5, 2e-4), (0.0, 1234.5, -2e-4), (0.05, 0.0, 0.0), (0.05, -777.7, 0.0)]
    {
        let mut scene = Scene::sloping(slope);
        let turned =
            FixedBox::axis_aligned(scene.point_above_plane(x + 20.0, 0.3, off - 0.5), Vec3::new(120.0, 30.0, 1.0));
        scene.boxes = vec![FixedBox { grip: 0.2, rotation: scene.upright_orientation(0.3), ..turned }];
        for solver in on_rows() {
            let placement = Placement { x, speed: 12.0, gear: Some(0), ..Placement::default() };
            let mut drive = Drive::new(&solver, &model, &scene, placement, 120.0);
            let frames = drive.run(2.0, |_| Controls::parked());
            let what = format!("{} at {x} m, {off} m off, slope {slope}", solver.name);
            let speed = |frame: &Frame| frame.vx_mps;
            let lost = (speed(&frames[60]) - speed(&frames[240])) / 1.5;
            let (sin, cos) = f64::from(slope).sin_cos();
            close(&what, lost, (0.2 * cos + sin) * 9.81, 0.01, "mean over 1.5 s of a car that pitches a little");
        }
    }
}

/// A free car on a box tilted by θ accelerates down it with g sin θ.
#[test]
fn a_car_rolls_down_a_turned_box_as_down_a_slope() {
    let angle = 0.1f32;
    let model = shipped("bullet_reference").model();
    let ramp = FixedBox::axis_aligned(DVec3::new(0.0, 0.0, 10.0), Vec3::new(100.0, 20.0, 2.0)).rotated(0.0, angle, 0.0);
    for solver in own_code() {
        let mut drive = Drive::new(&solver, &model, &with(vec![ramp]), Placement::default(), 240.0);
        let mut state = drive.world.state(0).clone();
        let top = ramp.centre + (ramp.rotation * Vec3::Z).as_dvec3() * (1.0 + f64::from(model.parts().centre_height));
        (state.position, state.rotation) = (top, ramp.rotation);
        drive.world.set_state(0, &state).expect("it fits");
        let frames = drive.run(3.0, |_| Controls::coasting());
        let gained = frames[720].vx_mps - frames[240].vx_mps;
        let rolling = f64::from(model.mass()) / f64::from(model.rolling_mass());
        let expected = 9.81 * f64::from(angle).sin() * 2.0 * rolling;
        close(solver.name, gained, expected, 3e-3, "the springs still swing in pitch");
    }
}

/// Hulls collide with the side of a box. Wheels with ray probes do not.
#[test]
fn a_wall_stops_a_car() {
    let model = c5().model();
    let wall = FixedBox::axis_aligned(DVec3::new(30.0, 0.0, 2.0), Vec3::new(2.0, 20.0, 6.0));
    for solver in own_code() {
        let placement = Placement { speed: 15.0, gear: Some(0), ..Placement::default() };
        let mut drive = Drive::new(&solver, &model, &with(vec![wall]), placement, 240.0);
        let frames = drive.run(4.0, |_| Controls::coasting());
        let nose = f64::from(model.parts().hull.centre.x + model.parts().hull.half_extents.x);
        let furthest = frames.iter().map(|f| f.x_m).fold(0.0, f64::max) + nose;
        // The face of the wall is at x = 29 m. The 5 cm allow for the penetration of the solvers and the pitch of the
        // hull.
        assert!((28.9..29.05).contains(&furthest), "{}: nose at {furthest} m", solver.name);
        assert!(frames[960].vx_mps < 1.0, "{}: {} m/s", solver.name, frames[960].vx_mps);
    }
}
