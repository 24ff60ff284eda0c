//! Shipped scenes: solvers agree, and symmetric scenes do not turn cars.

use std::sync::Arc;

use skidpad::core::{Controls, DVec3, Frame, Scene, SurfaceTexture, TriangleMesh, Vec3, state::Placement};
use skidpad::spec::LoadedScene;

use crate::common::{Drive, Simplify, c5, close, solvers};

/// Returns the frames of a C5 that coasts for `seconds` in the scene `name`, from its start at its speed, on every solver.
fn coasts(name: &str, seconds: f64, hz: f32) -> Vec<(&'static str, Vec<Frame>)> {
    let path = format!("{}/scenes/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let loaded = LoadedScene::load(path.as_ref()).expect("shipped");
    let placement = Placement { gear: Some(0), ..loaded.placement() };
    let model = c5().model();
    let run = |solver| {
        let mut car = Drive::new(&solver, &model, &loaded.scene, placement, hz);
        (solver.name, car.run(seconds, |_| Controls::coasting()))
    };
    solvers().into_iter().map(run).collect()
}

/// Solvers agree on speed and position after a ramp and a step. On the ramp, the floor pan scrapes over the far edge of the
/// table: the result depends on the friction of the bodywork and on impacts at the edge.
#[test]
fn solvers_agree_on_shipped_scenes() {
    for (name, seconds) in [("ramp", 3.0), ("step", 3.0)] {
        for hz in [60.0, 240.0] {
            let runs = coasts(name, seconds, hz);
            let end = |frames: &[Frame]| frames[frames.len() - 1].clone();
            let first = end(&runs[0].1);
            for (solver, frames) in &runs {
                let what = format!("{solver} on {name} at {hz} Hz");
                let last = end(frames);
                let why =
                    "steps fall differently on the edges, a scraping hull is solved after the wheels or with them";
                close(&what, last.vx_mps, first.vx_mps, 0.01, why);
                close(&what, last.x_m, first.x_m, 0.002, why);
                // The own solvers are symmetric except for the order of a hull's points. The wheels of Rapier's car keep
                // their line, too, but its hull scrapes over both edges of the ramp's table. Its points are solved one after
                // the other there, and a plain box that falls on such an edge rolls at 0.16 rad/s.
                let most = frames.iter().map(|f| f.y_m.abs()).fold(0.0, f64::max);
                let bound = if (*solver, name) == ("rapier", "ramp") { 5e-3 } else { 0.5e-3 };
                assert!(most < bound, "{what}: {:.2} mm aside", 1e3 * most);
            }
        }
    }
}

/// Solvers agree on ground from files: a kerb and grass (OBJ), a hill (PNG), a banked bend (OpenCRG).
#[test]
fn solvers_agree_on_ground_from_files() {
    for (name, seconds) in [("kerb", 3.0), ("hill", 5.0), ("bend", 2.0)] {
        let runs = coasts(name, seconds, 240.0);
        let end = |frames: &[Frame]| frames[frames.len() - 1].clone();
        let first = end(&runs[0].1);
        for (solver, frames) in &runs {
            let what = format!("{solver} on {name}");
            let last = end(frames);
            let why = "steps fall differently on edges";
            close(&what, last.vx_mps, first.vx_mps, 0.01, why);
            close(&what, last.x_m, first.x_m, 0.005, why);
            // Rapier has no smooth normals. On flat cells all solvers end within 0.05 m, on smooth ones Rapier's car turns
            // more on the side of the hill.
            assert!((last.y_m - first.y_m).abs() < 0.1, "{what}: {} and {} m aside", last.y_m, first.y_m);
        }
    }
}

/// A car on one surface of a mesh with two surfaces stops as on a plane of the same grip.
#[test]
fn each_surface_of_a_mesh_grips_as_a_plane_does() {
    let at = |x: f32, y: f32| Vec3::new(x, y, 0.0);
    let corners = [-20.0, 0.0, 20.0].map(|y| [at(-50.0, y), at(300.0, y)]).concat();
    let triangles = vec![[0, 1, 3], [0, 3, 2], [2, 3, 5], [2, 5, 4]];
    let grips = [0.4, 1.0];
    let of_each = [0, 0, 1, 1].map(|k: usize| (grips[k], SurfaceTexture::NONE)).to_vec();
    let mesh = TriangleMesh::with_surfaces(DVec3::ZERO, corners, triangles, 0.5, of_each).expect("a mesh");
    let ground = Scene { has_plane: false, meshes: vec![Arc::new(mesh)], ..Scene::flat() };
    let model = c5().model();
    for solver in solvers() {
        let stops = |scene: &Scene, y: f64| {
            let placement = Placement { y, speed: 20.0, gear: Some(0), ..Placement::default() };
            let mut car = Drive::new(&solver, &model, scene, placement, 240.0);
            let frames = car.run(1.5, |_| Controls { brake: 1.0, ..Controls::coasting() });
            frames[frames.len() - 1].clone()
        };
        for (grip, y) in grips.into_iter().zip([-10.0, 10.0]) {
            let (on_mesh, on_plane) = (stops(&ground, y), stops(&Scene { grip, ..Scene::flat() }, y));
            let what = format!("{} on {grip}", solver.name);
            close(&what, on_mesh.x_m, on_plane.x_m, 1e-4, "rounding of other places");
            close(&what, on_mesh.vx_mps, on_plane.vx_mps, 1e-3, "rounding of other places");
        }
    }
}
