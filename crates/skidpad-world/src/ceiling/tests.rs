//! Tests of the planes above terrain: hulls that they clear touch nothing.

use super::*;
use crate::chassis::Chassis;
use crate::ground::Ground;
use crate::hull::GroundContacts;
use crate::triangle_contacts::tests::{field_and_mesh, set_varied_motion};
use skidpad_core::model::Hull;
use skidpad_core::{HeightField, Mat3, Scene, TriangleMesh};
use std::sync::Arc;

/// Returns a body of 1000 kg with a hull of these half extents, m.
fn body(half_extents: Vec3) -> Chassis {
    let hull = Hull { centre: Vec3::new(0.05 * half_extents.x, 0.0, 0.1), half_extents };
    Chassis::rigid(1000.0, Mat3::from_diagonal(Vec3::new(400.0, 1500.0, 1700.0)), hull)
}

/// Half extents of a car, m.
const CAR: Vec3 = Vec3::new(2.0, 0.9, 0.5);

/// Half extents of a lorry and of a model car, m.
const OTHER_HULLS: [Vec3; 2] = [Vec3::new(4.5, 1.2, 0.6), Vec3::new(0.25, 0.2, 0.08)];

/// Returns whether `ceiling` finds that the hull of `chassis` may touch the terrain in a step of `dt` s.
fn may_touch(ceiling: &TerrainCeiling, chassis: &Chassis, dt: f32) -> bool {
    let axes = Mat3Lanes::from_mat3(&chassis.axes);
    let ([velocity, angular_velocity], [velocity_lag, angular_lag]) =
        (chassis.twist().map(Vec3Lanes::splat), chassis.lags().map(Vec3Lanes::splat));
    let twist = BodyTwist { velocity, angular_velocity, velocity_lag, angular_lag };
    let pose_rate = Vec3Lanes::splat(chassis.midpoint_rate(dt));
    let motion = HullMotion::<f32>::new(&axes, &twist, pose_rate, chassis.hull_radius(), dt);
    (0..ceiling.part_count()).any(|part| {
        let Vec3Lanes { x, y, z } = ceiling.part_centre(part, &axes);
        let below = ceiling.below(chassis.position + Vec3::new(x, y, z).as_dvec3());
        ceiling.may_touch(part, &below, &motion)
    })
}

/// Returns a scene with long waves of a few centimetres, whose cells are larger than a hull is wide, the mesh of the
/// same triangles, and a scene of both, with a plane, at a distance of 12 km from the origin. `origin` is the corner of
/// the first two, m.
fn long_waves(origin: DVec3) -> [Scene; 3] {
    let height = |i: usize| 0.08 * ((i % 17) as f32 * 0.9).sin() * ((i / 17) as f32 * 1.3).cos();
    let heights: Vec<f32> = (0..17 * 17).map(height).collect();
    let vertices = heights.iter().enumerate().map(|(i, z)| Vec3::new(2.0 * (i % 17) as f32, 2.0 * (i / 17) as f32, *z));
    let vertices: Vec<Vec3> = vertices.collect();
    let cell = |i: usize| {
        let a = (i / 16 * 17 + i % 16) as u32;
        [[a, a + 1, a + 18], [a, a + 18, a + 17]]
    };
    let mesh = |origin: DVec3| {
        let triangles = (0..256).flat_map(cell).collect();
        Arc::new(TriangleMesh::new(origin, vertices.clone(), triangles, 0.5, 1.0).expect("a mesh"))
    };
    let field = |origin: DVec3| {
        Arc::new(HeightField::new(origin, [2.0; 2], [17; 2], heights.clone(), true, 1.0).expect("a field"))
    };
    let (far, empty) = (FAR + DVec3::new(-5.0, -5.0, 0.1), Scene { has_plane: false, ..Scene::flat() });
    [
        Scene { height_fields: vec![field(origin)], ..empty.clone() },
        Scene { meshes: vec![mesh(origin)], ..empty },
        Scene {
            height_fields: vec![field(far)],
            meshes: vec![mesh(far + DVec3::new(0.3, 0.2, 0.02))],
            ..Scene::flat()
        },
    ]
}

/// Place of the far scene, m.
const FAR: DVec3 = DVec3::new(12_000.0, -9_000.0, 0.0);

/// Returns a scene with a step of 1 m, a wall that leans, and a roof above the ground.
fn edges() -> Scene {
    let corners = [
        ([0.0, 0.0, 0.0], [24.0, 0.0, 0.0], [24.0, 10.0, 0.0], [0.0, 10.0, 0.0]),
        ([0.0, 10.0, 0.0], [24.0, 10.0, 0.0], [24.0, 10.2, 1.0], [0.0, 10.2, 1.0]),
        ([0.0, 10.2, 1.0], [24.0, 10.2, 1.0], [24.0, 24.0, 1.0], [0.0, 24.0, 1.0]),
        ([8.0, 6.0, 0.3], [16.0, 6.0, 0.3], [16.0, 9.0, 0.4], [8.0, 9.0, 0.4]),
    ];
    let vertices = corners.iter().flat_map(|(a, b, c, d)| [*a, *b, *c, *d].map(Vec3::from_array)).collect();
    let triangles = (0..4).flat_map(|i| [[4 * i, 4 * i + 1, 4 * i + 2], [4 * i, 4 * i + 2, 4 * i + 3]]).collect();
    let mesh = TriangleMesh::new(DVec3::ZERO, vertices, triangles, 0.5, 1.0).expect("a mesh");
    Scene { meshes: vec![Arc::new(mesh)], has_plane: false, ..Scene::flat() }
}

/// Checks that hulls which may not touch the terrain keep their motion to the bit, in many poses above and in it, at up
/// to 30 m/s and from 20 to 1000 Hz, and that many hulls above it may not.
#[test]
fn hulls_below_which_the_planes_are_clear_touch_nothing() {
    let near = [0.0, 0.05, 0.2, 3.0].into_iter().flat_map(field_and_mesh).chain([edges()]);
    let [field, mesh, far] = long_waves(DVec3::new(-4.0, -4.0, 0.0));
    let scenes = near.chain([field, mesh]).map(|scene| (scene, DVec3::ZERO)).chain([(far, FAR)]);
    let (mut clear, mut pushed) = ([0; 3], 0);
    for (scene_index, (scene, place)) in scenes.enumerate() {
        // Without the plane, which has a test of its own.
        let (ground, mut contacts) = (Ground::new(&Scene { has_plane: false, ..scene }), GroundContacts::default());
        for (hull_index, half_extents) in [CAR, OTHER_HULLS[0], OTHER_HULLS[1]].into_iter().enumerate() {
            let ceiling = TerrainCeiling::new(&ground, body(half_extents).hull()).expect("terrain");
            assert_eq!(ceiling.part_count(), [2, 4, 1][hull_index]);
            for k in 0..4000_usize {
                let dt = [1.0 / 20.0, 1.0 / 60.0, 1.0 / 240.0, 1e-3][k % 4];
                let mut chassis = body(half_extents);
                set_varied_motion(&mut chassis, k, Vec3::new(30.0, 30.0, [0.3, 10.0][k / 4 % 2]));
                chassis.position += place;
                let numbers = |chassis: &Chassis| {
                    [chassis.twist(), chassis.lags()].map(|pair| pair.map(|vector| vector.to_array().map(f32::to_bits)))
                };
                let start = numbers(&chassis);
                let may_touch = may_touch(&ceiling, &chassis, dt);
                contacts.separate_from_ground(&mut chassis, &ground, &[], dt);
                let is_pushed = numbers(&chassis) != start;
                assert!(may_touch || !is_pushed, "scene {scene_index}, hull {hull_index}, pose {k}");
                clear[hull_index] += usize::from(!may_touch);
                pushed += usize::from(is_pushed);
            }
        }
    }
    assert!(clear[0] > 8_000 && clear[2] > 8_000 && pushed > 5_000, "{clear:?} hulls are clear, {pushed} pushed");
}

/// Checks that no plane holds near the edge of a height field, that there is nothing to touch far away, and that a
/// position which is not finite counts as touching.
#[test]
fn planes_end_with_the_terrain() {
    let [field, _] = field_and_mesh(0.0);
    let ceiling = TerrainCeiling::new(&Ground::new(&field), body(CAR).hull()).expect("terrain");
    let touches = |position: DVec3| {
        let mut chassis = body(CAR);
        chassis.set_pose_and_twist(position, skidpad_core::Quat::IDENTITY, [Vec3::ZERO; 2]);
        may_touch(&ceiling, &chassis, 0.01)
    };
    assert!(!touches(DVec3::new(12.0, 12.0, 1.0)), "in the middle");
    assert!(touches(DVec3::new(12.0, 12.0, 0.405)), "5 mm above the ground");
    for edge in [DVec3::new(0.0, 12.0, 1.0), DVec3::new(24.0, 12.0, 1.0), DVec3::new(12.0, 3.0, 1.0)] {
        assert!(touches(edge), "at {edge}");
    }
    assert!(!touches(DVec3::new(12.0, -40.0, -3.0)), "outside");
    for position in [DVec3::new(f64::NAN, 12.0, 1.0), DVec3::new(f64::INFINITY, 12.0, 1.0)] {
        assert!(touches(position), "at {position}");
    }
    assert!(TerrainCeiling::new(&Ground::new(&Scene::flat()), body(CAR).hull()).is_none());
}

/// Checks that the grid contains all of a large terrain of two triangles, for sizes with every fraction of a square.
#[test]
fn the_grid_contains_all_triangles() {
    for size in (0..400).map(|k| 26_000.0 + 7.3 * k as f32) {
        let vertices = [[0.0, 0.0], [size, 0.0], [size, 22_000.0], [0.0, 22_000.0]];
        let vertices = vertices.map(|[x, y]| Vec3::new(x, y, 0.0)).into();
        let mesh = TriangleMesh::new(DVec3::ZERO, vertices, vec![[0, 1, 2], [0, 2, 3]], 0.5, 1.0).expect("a mesh");
        let scene = Scene { meshes: vec![Arc::new(mesh)], has_plane: false, ..Scene::flat() };
        let ceiling = TerrainCeiling::new(&Ground::new(&scene), body(CAR).hull()).expect("terrain");
        for corner in [DVec3::ZERO, DVec3::new(size.into(), 22_000.0, 0.0)] {
            assert!(ceiling.below(corner).height.is_finite(), "{corner} of {size} m");
        }
    }
}

/// Checks that fields and meshes of any size, and hulls of any size, are bounded by few squares.
#[test]
fn huge_and_tiny_terrain_needs_little_memory() {
    for spacing in [1e-3, 1.0, 1e4, 1e17, 1e30] {
        let field = HeightField::new(DVec3::ZERO, [spacing, 1.0], [5; 2], vec![0.1; 25], false, 1.0).expect("a field");
        let scene = Scene { height_fields: vec![Arc::new(field)], has_plane: false, ..Scene::flat() };
        for length in [0.05, 2.0, 30.0] {
            let hull = Hull { centre: Vec3::ZERO, half_extents: Vec3::new(length, 0.3 * length, 0.1) };
            if let Some(ceiling) = TerrainCeiling::new(&Ground::new(&scene), hull) {
                assert!(ceiling.squares.len() < 100_000, "{} squares", ceiling.squares.len());
            }
        }
    }
}
