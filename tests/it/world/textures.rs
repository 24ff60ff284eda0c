//! Surface properties besides grip: rolling resistance and unevenness, on every shape and solver.

use std::f64::consts::TAU;
use std::sync::Arc;

use skidpad::core::model::{RollingCoefficients, Strut};
use skidpad::core::{
    Controls, DVec3, FixedBox, Frame, HeightField, Model, Scene, SurfaceTexture, TriangleMesh, Vec3, state::Placement,
};

use crate::common::{Drive, GRAVITY, Simplify, c5, close, hold_speed, on_rows};

/// Lowest x and y of the ground, m.
const LOW: [f64; 2] = [-20.0, -20.0];
/// Highest x and y of the ground, m.
const HIGH: [f64; 2] = [200.0, 20.0];

fn soft(rolling: f32) -> SurfaceTexture {
    SurfaceTexture { rolling_resistance: rolling, ..SurfaceTexture::NONE }
}

fn field(texture: SurfaceTexture) -> HeightField {
    let size = [0, 1].map(|k| (HIGH[k] - LOW[k]) as f32);
    let field = HeightField::new(DVec3::new(LOW[0], LOW[1], 0.0), size, [2, 2], vec![0.0; 4], false, 1.0);
    field.and_then(|field| field.with_texture(texture)).expect("a field")
}

fn mesh(texture: SurfaceTexture) -> TriangleMesh {
    let at = |k: usize, l: usize| Vec3::new([LOW, HIGH][k][0] as f32, [LOW, HIGH][l][1] as f32, 0.0);
    let (corners, triangles) = (vec![at(0, 0), at(1, 0), at(1, 1), at(0, 1)], vec![[0, 1, 2], [0, 2, 3]]);
    TriangleMesh::with_surfaces(DVec3::ZERO, corners, triangles, 0.5, vec![(1.0, texture); 2]).expect("a mesh")
}

fn block(texture: SurfaceTexture, low_y: f64, high_y: f64) -> FixedBox {
    let middle = DVec3::new(0.5 * (LOW[0] + HIGH[0]), 0.5 * (low_y + high_y), -0.5);
    let size = Vec3::new((HIGH[0] - LOW[0]) as f32, (high_y - low_y) as f32, 1.0);
    FixedBox { texture, ..FixedBox::axis_aligned(middle, size) }
}

/// Returns flat ground of every shape with this texture.
fn shapes(texture: SurfaceTexture) -> [(&'static str, Scene); 4] {
    let nothing = || Scene { has_plane: false, ..Scene::flat() };
    [
        ("plane", Scene { texture, ..Scene::flat() }),
        ("box", Scene { boxes: vec![block(texture, LOW[1], HIGH[1])], ..nothing() }),
        ("field", Scene { height_fields: vec![Arc::new(field(texture))], ..nothing() }),
        ("mesh", Scene { meshes: vec![Arc::new(mesh(texture))], ..nothing() }),
    ]
}

fn rolls(speed: f32) -> Placement {
    Placement { speed, gear: Some(0), ..Placement::default() }
}

/// A coasting car decelerates with (f + r) g m / (m + Σ I / R²). The ground adds r to the coefficient f of the tyres.
#[test]
fn ground_adds_to_rolling_resistance() {
    let mut parts = c5().without_air();
    parts
        .wheels
        .iter_mut()
        .for_each(|wheel| wheel.rolling = RollingCoefficients { constant: 0.012, ..RollingCoefficients::default() });
    let model = parts.model();
    for solver in on_rows() {
        for (rolling, hz) in [(0.0f32, 240.0), (0.02, 20.0), (0.02, 240.0), (0.2, 60.0), (0.2, 1000.0)] {
            for (shape, scene) in shapes(soft(rolling)) {
                let mut car = Drive::new(&solver, &model, &scene, rolls(15.0), hz);
                let frames = car.run(4.0, |_| Controls::coasting());
                // After 2 s the springs are at rest.
                let [from, to] = [frames.len() / 2, frames.len() - 1].map(|k| &frames[k]);
                let lost = (from.vx_mps - to.vx_mps) / (to.t_s - from.t_s);
                let share = f64::from(model.mass()) / f64::from(model.rolling_mass());
                let expected = (0.012 + f64::from(rolling)) * GRAVITY * share;
                let what = format!("{} on a {shape} with {rolling} at {hz} Hz", solver.name);
                close(&what, lost, expected, 5e-3, "pitch moves the mass against the wheels");
            }
        }
    }
}

/// Loose ground under the left wheels turns a car to the left, and under the right wheels as much to the right.
#[test]
fn loose_ground_under_one_side_pulls_there() {
    let model = c5().model();
    for solver in on_rows() {
        let turns = [(0.0, HIGH[1]), (LOW[1], 0.0)].map(|(low, high)| {
            let scene = Scene { boxes: vec![block(soft(0.15), low, high)], ..Scene::flat() };
            let mut car = Drive::new(&solver, &model, &scene, rolls(15.0), 240.0);
            let frames = car.run(0.6, |_| Controls::coasting());
            frames[frames.len() - 1].yaw_rate_radps
        });
        assert!(turns[0] > 0.01, "{}: {turns:?}", solver.name);
        close(solver.name, -turns[1], turns[0], 0.02, "boxes are cut in two triangles, or met one after the other");
    }
}

/// Returns a car without bars whose four struts have this natural frequency (rad/s) and damping ratio with the mass that
/// they carry.
fn swings(frequency: f32, ratio: f32) -> Arc<Model> {
    let mut parts = c5().without_air().without_rolling_resistance();
    (parts.bars, parts.heave_springs) = Default::default();
    let carried = c5().model().carried_masses().to_vec();
    for (wheel, mass) in parts.wheels.iter_mut().zip(carried) {
        // An unsprung mass would make two masses on two springs.
        wheel.unsprung = None;
        wheel.strut = Strut::linear(frequency * frequency * mass, 2.0 * ratio * frequency * mass, [0.2, 0.2]);
    }
    parts.model()
}

/// Returns the mean travel of the struts, weighted by the mass that they carry, m. Pitch and roll do not change it.
fn heave(frame: &Frame, model: &Model) -> f64 {
    let carried =
        frame.wheels.iter().zip(model.carried_masses()).map(|(wheel, mass)| wheel.compression_m * f64::from(*mass));
    carried.sum::<f64>() / f64::from(model.mass())
}

fn rms(frames: &[Frame], of: impl Fn(&Frame) -> f64) -> f64 {
    let mean = frames.iter().map(&of).sum::<f64>() / frames.len() as f64;
    (frames.iter().map(|frame| (of(frame) - mean).powi(2)).sum::<f64>() / frames.len() as f64).sqrt()
}

/// Over waves as long as its wheelbase a car heaves, and pitches by the longitudinal forces of the slopes. Its struts travel
/// as those of a quarter car over a sine, `u/h = r² / √((1 − r²)² + (2 ζ r)²)`, r being the frequency over the natural one.
#[test]
fn uneven_ground_shakes_a_car_as_a_quarter_car() {
    let (frequency, ratio, amplitude) = (8.0f64, 0.3f64, 0.01f64);
    let model = swings(frequency as f32, ratio as f32);
    let wheelbase = f64::from(model.wheels()[0].contact.x - model.wheels()[2].contact.x);
    for solver in on_rows() {
        for (hz, speed) in [(240.0, 2.5), (240.0, 4.0), (1000.0, 4.0), (240.0, 8.0)] {
            let texture =
                SurfaceTexture { rolling_resistance: 0.0, amplitude: amplitude as f32, wavelength: wheelbase as f32 };
            for (shape, scene) in shapes(texture) {
                let mut car = Drive::new(&solver, &model, &scene, rolls(speed), hz);
                let frames = car.run(12.0, |frame| Controls {
                    wheels: hold_speed(frame, &model, speed.into()),
                    ..Controls::coasting()
                });
                // Whole waves in the second half of the run.
                let waves = (6.0 * f64::from(speed) / wheelbase).floor();
                let count = waves * wheelbase / f64::from(speed) * f64::from(hz);
                let frames = &frames[frames.len() - count.round() as usize..];
                let travel = rms(frames, |frame| heave(frame, &model));
                let mean = frames.iter().map(|frame| frame.vx_mps).sum::<f64>() / frames.len() as f64;
                let r = TAU * mean / wheelbase / frequency;
                let share = r * r / ((1.0 - r * r).powi(2) + (2.0 * ratio * r).powi(2)).sqrt();
                let expected = 0.5 * amplitude * share / 2f64.sqrt();
                let what = format!("{} on a {shape} at {hz} Hz, {speed} m/s", solver.name);
                close(
                    &what,
                    travel,
                    expected,
                    1e-3 + 3.0 / f64::from(hz),
                    "springs are solved to first order in the step: 1 % off at 240 Hz, 0.2 % at 1000 Hz",
                );
            }
        }
    }
}
