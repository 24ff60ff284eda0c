//! A car of a fleet has the bits of a car in a world of the solver `impulse` on every fixed ground.

mod pair;

use std::path::Path;
use std::sync::Arc;

use skidpad_core::state::Placement;
use skidpad_core::{DVec3, FixedBox, HeightField, Model, Quat, Scene, State, SurfaceTexture, TriangleMesh, Vec3};
use skidpad_fleet::{Fleet, Lanes};
use skidpad_spec::LoadedScene;

use crate::pair::{DT, Pair, Random};

/// Number of cars: more than a block of any lanes.
const CAR_COUNT: usize = 18;

/// Number of cells along each side of the random ground.
const CELLS_PER_SIDE: usize = 256;

/// Side of a cell, m.
const CELL_SIZE_M: f32 = 1.5;

/// Texture of gravel.
const GRAVEL: SurfaceTexture = SurfaceTexture { rolling_resistance: 0.03, amplitude: 0.02, wavelength: 0.7 };

/// Returns the Corvette C5.
fn corvette() -> Arc<Model> {
    skidpad_spec::load("corvette_c5").expect("shipped").model
}

/// Returns heights of hills of 2 m with random bumps of 0.1 m at the corners of all cells, row by row, m.
fn random_heights() -> Vec<f32> {
    let (side, mut random) = (CELLS_PER_SIDE + 1, Random(5));
    let hill = |i: usize| {
        let (x, y) = ((i % side) as f32 * CELL_SIZE_M, (i / side) as f32 * CELL_SIZE_M);
        2.0 * (0.03 * x).sin() * (0.04 * y).cos()
    };
    (0..side * side).map(|i| hill(i) + 0.1 * random.next_share()).collect()
}

/// Returns the scene of a random height field without a plane.
fn field_scene(is_smooth: bool) -> Scene {
    let counts = [CELLS_PER_SIDE + 1; 2];
    let origin = DVec3::new(-50.0, -50.0, 0.0);
    let field = HeightField::new(origin, [CELL_SIZE_M; 2], counts, random_heights(), is_smooth, 0.9).expect("a field");
    Scene { has_plane: false, height_fields: vec![Arc::new(field)], cars_collide: false, ..Scene::flat() }
}

/// Returns the scene of the random ground as a mesh. Each stripe of 8 cells has another surface.
fn mesh_scene() -> Scene {
    let (side, heights) = (CELLS_PER_SIDE + 1, random_heights());
    let corner = |i: usize| Vec3::new((i % side) as f32 * CELL_SIZE_M, (i / side) as f32 * CELL_SIZE_M, heights[i]);
    let cell = |i: usize| {
        let a = (i / CELLS_PER_SIDE * side + i % CELLS_PER_SIDE) as u32;
        let [b, c, d] = [a + 1, a + 2 + CELLS_PER_SIDE as u32, a + 1 + CELLS_PER_SIDE as u32];
        [[a, b, c], [a, c, d]]
    };
    let surface = |i: usize| match i % CELLS_PER_SIDE / 8 % 3 {
        0 => (1.0, SurfaceTexture::NONE),
        1 => (0.8, GRAVEL),
        _ => (0.6, SurfaceTexture { amplitude: 0.0, ..GRAVEL }),
    };
    let cells = 0..CELLS_PER_SIDE * CELLS_PER_SIDE;
    let mesh = TriangleMesh::with_surfaces(
        DVec3::new(-50.0, -50.0, 0.0),
        (0..side * side).map(corner).collect(),
        cells.clone().flat_map(cell).collect(),
        0.5,
        cells.flat_map(|i| [surface(i); 2]).collect(),
    );
    let mesh = mesh.expect("a mesh");
    Scene { has_plane: false, meshes: vec![Arc::new(mesh)], cars_collide: false, ..Scene::flat() }
}

/// Returns the placement of car `k` on hills: some stand, some are fast, some fall.
fn on_hills(k: usize) -> Placement {
    Placement {
        x: 12.0 * (k % 6) as f64,
        y: 15.0 * (k / 6) as f64,
        height: 2.2 + 0.5 * (k % 3) as f64,
        heading: 0.4 * k as f32,
        speed: 9.0 * (k % 6) as f32,
        ..Placement::default()
    }
}

/// Rolls some cars of `pair` over, and throws others against the ground.
fn throw_cars(pair: &mut Pair) {
    for (car, roll, spin) in [(1, 3.0, 0.0), (5, 0.8, 2.0), (10, 0.0, 6.0), (16, 1.6, -3.0)] {
        let state = pair.world.state(car).clone();
        let rotation = Quat::from_rotation_x(roll) * state.rotation;
        let angular_velocity = Vec3::new(spin, 0.5 * spin, 0.0);
        let position = state.position + DVec3::new(0.0, 0.0, 0.8);
        pair.set_state(car, &State { position, rotation, angular_velocity, ..state });
    }
}

/// Checks 1000 steps of Corvettes at `placements` in `scene`, in all lanes. Some roll over. Fewer than `rare_share` of
/// the car-steps are solved alone.
fn check(scene: &Scene, placements: impl Fn(usize) -> Placement, rare_share: f64) {
    let model = corvette();
    let mut pair = Pair::new(scene, &vec![model.clone(); CAR_COUNT], &model, placements, Lanes::ALL);
    pair.drive(100);
    throw_cars(&mut pair);
    pair.drive(900);
    for fleet in &pair.fleets {
        let rare = fleet.rare_steps() as f64 / (1000 * CAR_COUNT) as f64;
        assert!(rare < rare_share, "{rare} of the car-steps were solved alone");
    }
}

/// Returns a shipped scene without its platforms, which a fleet does not support, and the start of its car.
fn shipped(name: &str) -> (Scene, Placement) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(name).with_extension("toml");
    let loaded = LoadedScene::load(&path).expect("shipped");
    let scene = Scene { cars_collide: false, platforms: Vec::new(), ..loaded.scene.clone() };
    (scene, loaded.placement())
}

/// Checks the shipped scenes with fixed ground: boxes, height fields, meshes of several surfaces, and an OpenCRG road.
#[test]
fn cars_on_shipped_scenes_have_the_bits_of_a_world() {
    let drive = |name: &str| {
        let (scene, start) = shipped(name);
        // Cars start behind each other, a few decimetres to the side of the road's middle.
        let placement = |k: usize| Placement {
            x: start.x + 1.5 * (k % 5) as f64,
            y: start.y + 0.3 * (k % 7) as f64 - 0.9,
            height: start.height + 0.1 * (k % 2) as f64,
            speed: start.speed + (k % 4) as f32,
            ..start
        };
        check(&scene, placement, 0.1);
    };
    // A scope passes on the panics of its threads.
    std::thread::scope(|scope| {
        let scenes = ["bend", "hill", "kerb", "ramp", "step", "terrain"];
        scenes.into_iter().for_each(|name| drop(scope.spawn(move || drive(name))));
    });
}

/// Checks all lanes of the proving ground that do not move, with cars that leave them at random.
#[test]
fn cars_on_the_proving_ground_have_the_bits_of_a_world() {
    let (scene, start) = shipped("proving_ground");
    let lanes = [-40.0, 0.0, 30.0, 60.0, 90.0, 150.0, 180.0, 210.0];
    let placement = |k: usize| Placement {
        y: lanes[k % lanes.len()],
        x: start.x - 8.0 * (k / lanes.len()) as f64,
        speed: 12.0 + k as f32,
        ..start
    };
    check(&scene, placement, 0.1);
}

/// Checks a height field with flat and with interpolated normals.
#[test]
fn cars_on_a_random_height_field_have_the_bits_of_a_world() {
    check(&field_scene(false), on_hills, 0.1);
    check(&field_scene(true), on_hills, 0.1);
}

/// Checks a mesh of 131,072 triangles with three surfaces, one of them uneven.
#[test]
fn cars_on_a_mesh_have_the_bits_of_a_world() {
    check(&mesh_scene(), on_hills, 0.1);
}

/// Checks cars with numbers of their own on hills at 20 and at 240 Hz: on a field with interpolated normals, and on a
/// mesh with three surfaces. Some roll over.
#[test]
fn cars_with_numbers_of_their_own_have_the_bits_of_a_world_at_any_rate() {
    let (layout, mut random) = (corvette(), Random(9));
    let models: Vec<Arc<Model>> = (0..CAR_COUNT).map(|_| random.vary(&layout)).collect();
    for (scene, rate) in [(field_scene(true), 20.0), (field_scene(true), 240.0), (mesh_scene(), 60.0)] {
        let mut pair = Pair::with_step_length(1.0 / rate, &scene, &models, &layout, on_hills, Lanes::ALL);
        pair.drive(60);
        throw_cars(&mut pair);
        pair.drive(240);
    }
}

/// Checks kerbs, a ramp, a patch of gravel and walls on a slope with a texture, and without it.
#[test]
fn cars_between_boxes_have_the_bits_of_a_world() {
    let boxed =
        |x: f64, y: f64, z: f64, size: [f32; 3]| FixedBox::axis_aligned(DVec3::new(x, y, z), Vec3::from_array(size));
    let gravel = FixedBox { texture: GRAVEL, grip: 0.7, ..boxed(30.0, 40.0, -0.495, [20.0, 30.0, 1.0]) };
    let boxes = vec![
        boxed(12.0, 30.0, 0.0, [0.5, 90.0, 0.2]),
        boxed(18.0, 30.0, 0.1, [9.0, 90.0, 0.5]).rotated(0.0, -0.1, 0.0),
        boxed(60.0, 30.0, 1.0, [1.0, 100.0, 4.0]).rotated(0.3, 0.0, 0.0),
        boxed(-30.0, 30.0, 1.0, [1.0, 100.0, 4.0]),
        gravel,
    ];
    let placement = |k: usize| Placement { y: 5.0 * k as f64, speed: 4.0 * (k % 6) as f32, ..Placement::default() };
    let scene = Scene { boxes, cars_collide: false, ..Scene::flat() };
    check(&scene, placement, 0.1);
    check(&Scene { texture: GRAVEL, slope: 0.05, ..scene.clone() }, placement, 0.1);
    check(&Scene { boxes: Vec::new(), texture: GRAVEL, slope: -0.05, ..scene }, placement, 0.1);
}

/// Checks a scene without any ground: cars fall.
#[test]
fn cars_without_ground_have_the_bits_of_a_world() {
    let scene = Scene { has_plane: false, cars_collide: false, ..Scene::flat() };
    check(&scene, |k| Placement { y: 5.0 * k as f64, speed: k as f32, ..Placement::default() }, 0.1);
}

/// Checks that steps on terrain do not allocate, also those of fast cars and of cars that touch the ground with their
/// hulls.
#[test]
fn a_step_on_terrain_does_not_allocate() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    pool.install(|| {
        let mut fleet = Fleet::new(&corvette(), &field_scene(true), DT).expect("supported");
        let mut random = Random(5);
        for car in 0..CAR_COUNT {
            fleet.spawn(&on_hills(car));
        }
        // Cars on their roofs.
        for car in [3, 9] {
            let state = fleet.state(car).expect("a car");
            let rotation = Quat::from_rotation_x(3.0) * state.rotation;
            fleet.set_state(car, &State { rotation, ..state }).expect("a car");
        }
        for _ in 0..20 {
            for car in 0..CAR_COUNT {
                fleet.set_controls(car, &random.controls()).expect("a car");
            }
            let allocations = allocation_counter::measure(|| fleet.step(10));
            assert_eq!(allocations.count_total, 0);
        }
    });
}
