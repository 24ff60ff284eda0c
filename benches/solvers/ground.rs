//! Uneven ground, and cars that probe it with discs.

use std::sync::Arc;

use skidpad::core::model::ProbeShape;
use skidpad::core::{DVec3, HeightField, Model, Scene, Simulation, SolverInfo, TriangleMesh, Vec3};

use crate::shared::{STEPS_PER_SECOND, cars};

/// Number of cells along each side of the height field. All cars stay on it.
const CELLS_PER_SIDE: usize = 256;
/// Side of a cell, m.
const CELL_SIZE_M: f32 = 3.0;

/// Returns a height field with waves of 50 mm amplitude.
fn waves() -> HeightField {
    let height = |i: usize| {
        0.05 * ((i % (CELLS_PER_SIDE + 1)) as f32 * 0.7).sin() * ((i / (CELLS_PER_SIDE + 1)) as f32 * 0.9).cos()
    };
    let heights = (0..(CELLS_PER_SIDE + 1) * (CELLS_PER_SIDE + 1)).map(height).collect();
    let corner = DVec3::new(-50.0, -350.0, 0.0);
    HeightField::new(corner, [CELL_SIZE_M; 2], [CELLS_PER_SIDE + 1; 2], heights, true, 1.0).expect("a field")
}

/// Returns the height field of [`waves`] as a mesh.
fn mesh_of_waves() -> TriangleMesh {
    let (field, side) = (waves(), CELLS_PER_SIDE + 1);
    let corner = |i: usize| {
        Vec3::new((i % side) as f32 * CELL_SIZE_M, (i / side) as f32 * CELL_SIZE_M, field.height(i % side, i / side))
    };
    let cell = |i: usize| {
        let a = (i / CELLS_PER_SIDE * side + i % CELLS_PER_SIDE) as u32;
        let [b, c, d] = [a + 1, a + 2 + CELLS_PER_SIDE as u32, a + 1 + CELLS_PER_SIDE as u32];
        [[a, b, c], [a, c, d]]
    };
    let triangles = (0..CELLS_PER_SIDE * CELLS_PER_SIDE).flat_map(cell).collect();
    TriangleMesh::new(field.origin(), (0..side * side).map(corner).collect(), triangles, 0.5, 1.0).expect("a mesh")
}

/// Returns a world of `backend` with `count` cars. `ground` is `field` or `mesh` for waves; any other text is a plane.
/// Wheels probe with discs if `has_discs`, otherwise with rays.
pub fn world(backend: &SolverInfo, count: usize, ground: &str, has_discs: bool) -> Box<dyn Simulation> {
    world_on(backend, count, &scene(ground), has_discs)
}

/// Returns the world of [`world`] without collisions between cars, so that only the ground responds to wheel probes.
pub fn world_of_ghosts(backend: &SolverInfo, count: usize, ground: &str, has_discs: bool) -> Box<dyn Simulation> {
    world_on(backend, count, &Scene { cars_collide: false, ..scene(ground) }, has_discs)
}

/// Returns the scene of a ground: `field` or `mesh` for waves; any other text is a plane.
pub fn scene(ground: &str) -> Scene {
    let mut scene = Scene::flat();
    match ground {
        "field" => (scene.has_plane, scene.height_fields) = (false, vec![Arc::new(waves())]),
        "mesh" => (scene.has_plane, scene.meshes) = (false, vec![Arc::new(mesh_of_waves())]),
        _ => {}
    }
    scene
}

fn world_on(backend: &SolverInfo, count: usize, scene: &Scene, has_discs: bool) -> Box<dyn Simulation> {
    let mut cars = cars(count);
    if has_discs {
        let mut parts = cars[0].model.parts().clone();
        parts.wheels.iter_mut().for_each(|wheel| wheel.probe = ProbeShape::Disc);
        let model = Arc::new(Model::new(parts).expect("valid parts"));
        cars.iter_mut().for_each(|car| car.model = model.clone());
    }
    (backend.build_world)(scene, &cars, 1.0 / STEPS_PER_SECOND as f32)
}
