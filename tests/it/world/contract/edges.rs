//! Edges, gaps, seams and cliffs.

use std::sync::Arc;

use skidpad::core::{Controls, DVec3, FixedBox, Quat, Scene, TriangleMesh, Vec3, model::ProbeShape, state::Placement};

use super::{HALF_WIDTH, PROBES, RADIUS, down_to_plane, probe, upright, worlds};
use crate::common::{Drive, Simplify, c5, on_rows};
use crate::world::terrain::{field, mesh_of, nothing};

/// Returns scenes with sheets of ground at z = 0 over the rectangles from `low` to `high` (x and y, m), all turned to the
/// left by `turn` rad: boxes and meshes, and fields if `turn` is 0.
fn sheets(rectangles: &[[[f64; 2]; 2]], turn: f32) -> Vec<(&'static str, Scene)> {
    let rotation = Quat::from_rotation_z(turn);
    let slab = |[low, high]: &[[f64; 2]; 2]| {
        let middle = rotation * Vec3::new((low[0] + high[0]) as f32 / 2.0, (low[1] + high[1]) as f32 / 2.0, -0.1);
        let size = Vec3::new((high[0] - low[0]) as f32, (high[1] - low[1]) as f32, 0.2);
        FixedBox::axis_aligned(middle.as_dvec3(), size).rotated(turn, 0.0, 0.0)
    };
    let over = |[low, high]: &[[f64; 2]; 2]| field(1.0, *low, *high, |_, _| 0.0);
    let mesh = |rectangle: &[[f64; 2]; 2]| {
        let flat = mesh_of(&over(rectangle), 0.0);
        let corners = flat.vertices().iter().map(|&at| rotation * (at + flat.origin().as_vec3())).collect();
        let turned = TriangleMesh::new(DVec3::ZERO, corners, flat.triangles().to_vec(), 0.0, 1.0);
        Arc::new(turned.expect("a mesh"))
    };
    let mut kinds = vec![
        ("boxes", Scene { boxes: rectangles.iter().map(slab).collect(), ..nothing() }),
        ("meshes", Scene { meshes: rectangles.iter().map(mesh).collect(), ..nothing() }),
    ];
    if turn == 0.0 {
        let fields = rectangles.iter().map(|rectangle| Arc::new(over(rectangle))).collect();
        kinds.push(("fields", Scene { height_fields: fields, ..nothing() }));
    }
    kinds
}

/// In a gap narrower than a wheel, rays fall to the floor, and discs sink by R − √(R² − w²/4) in the middle.
#[test]
fn a_gap_swallows_rays_and_bears_rims() {
    let width = 0.2f64;
    let (radius, start) = (f64::from(RADIUS), 2.0 * f64::from(RADIUS));
    let sides = [[[-8.0 - width / 2.0, -4.0], [-width / 2.0, 4.0]], [[width / 2.0, -4.0], [8.0 + width / 2.0, 4.0]]];
    for (kind, scene) in sheets(&sides, 0.0) {
        let floor = FixedBox::axis_aligned(DVec3::new(0.0, 0.0, -0.4), Vec3::new(20.0, 20.0, 0.2));
        let scene = Scene { boxes: [scene.boxes, vec![floor]].concat(), ..scene };
        for mut world in worlds(&scene) {
            for shape in PROBES {
                for aside in [0.0, 0.03, -0.06, 0.09, 0.12] {
                    let what = format!("{} {kind} {shape:?} {aside} m beside the middle", world.name);
                    let met = world.met(upright(shape, DVec3::new(aside, 0.3, start)), &what);
                    let to_edge = width / 2.0 - f64::abs(aside);
                    let expected = match shape {
                        ProbeShape::Ray if to_edge > 0.0 => start + 0.3,
                        _ if to_edge > 0.0 => start + radius - (radius * radius - to_edge * to_edge).sqrt(),
                        _ => start,
                    };
                    let off = f64::from(met.distance) - expected;
                    assert!(off.abs() < 5e-6, "{what}: {off} m too far");
                }
            }
        }
    }
}

/// Boxes, meshes or fields side by side have no edge between them, straight or turned.
#[test]
fn abutting_ground_is_one() {
    let sides = [[[-8.0, -4.0], [0.0, 4.0]], [[0.0, -4.0], [8.0, 4.0]]];
    for turn in [0.0f32, 0.3, -1.1] {
        let along = Quat::from_rotation_z(turn);
        for (kind, scene) in sheets(&sides, turn) {
            for mut world in worlds(&scene) {
                for shape in PROBES {
                    for number in 0..400 {
                        let beside = [0.0, 1e-7, -1e-7, 1e-4][number % 4];
                        let at = along * Vec3::new(beside, 0.0137 * (number as f32 - 200.0), 0.0);
                        let heading = Quat::from_rotation_z(0.1 * number as f32);
                        let lean = Quat::from_rotation_y([0.0, 0.1][number / 4 % 2]);
                        let asked = probe(shape, at.as_dvec3() + DVec3::Z * 0.7, heading * lean, 0.7);
                        let what = format!("{} {kind} turned by {turn}: {asked:?}", world.name);
                        let met = world.met(asked, &what);
                        let off = f64::from(met.distance) - down_to_plane(&asked, DVec3::Z, DVec3::ZERO);
                        // Turned coordinates of 8 m have 32 bits. Rapier repeats rays between two triangles 0.1 mm to the
                        // side.
                        let allowed = if world.name == "rapier" { 6e-5 } else { 1e-5 };
                        assert!(off.abs() < allowed, "{what}: {off} m too far");
                        // The contact of a circle at an end is accurate to √(2R · 1e-7 m) = 0.26 mm, its normal to 8e-4.
                        assert!((met.normal - Vec3::Z).length() < 1e-3, "{what}: {:?}", met.normal);
                    }
                }
            }
        }
    }
}

/// A hull that slides on its roof slides over seams and cells as far as on the plane.
#[test]
fn hulls_slide_over_seams() {
    let sides: Vec<_> = (0..15).map(|k| [[2.0 * f64::from(k) - 10.0, -4.0], [2.0 * f64::from(k) - 8.0, 4.0]]).collect();
    let slide = |solver: &skidpad::core::SolverInfo, scene: &Scene, height: f64| {
        let placement = Placement { height: 1.5, ..Placement::default() };
        let mut car = Drive::new(solver, &c5().model(), scene, placement, 240.0);
        let mut state = car.world.car(0).state.clone();
        state.rotation *= Quat::from_rotation_x(std::f32::consts::PI);
        state.position.z = height;
        state.velocity = Vec3::X * 8.0;
        car.world.set_state(0, &state).expect("a car may start on its roof");
        let frames = car.run(4.0, |_| Controls::coasting());
        frames[frames.len() - 1].clone()
    };
    for (solver, height) in on_rows().into_iter().flat_map(|solver| [0.75, 0.751].map(|height| (solver, height))) {
        let plain = slide(&solver, &Scene::flat(), height);
        for (kind, scene) in sheets(&sides, 0.0) {
            let found = slide(&solver, &scene, height);
            let what = format!("{} {kind} from {height} m", solver.name);
            // Points are found triangle by triangle, and more points are solved. With inner edges, hulls would slide 10 %
            // less in Rapier's world.
            assert!((found.x_m - plain.x_m).abs() < 0.02 * plain.x_m, "{what}: {} m, not {} m", found.x_m, plain.x_m);
            assert!((found.z_m - plain.z_m).abs() < 5e-3, "{what}: {} m high, not {} m", found.z_m, plain.z_m);
        }
    }
}

/// If the ground ends beside a wheel, flat treads stand on the remaining side, round treads lower, and rays and discs not at
/// all.
#[test]
fn a_wheel_half_over_a_cliff() {
    let half = f64::from(0.5 * HALF_WIDTH);
    let round = 0.75f64.sqrt() * half;
    for (kind, scene) in sheets(&[[[-8.0, -8.0], [8.0, 0.0]]], 0.0) {
        for mut world in worlds(&scene) {
            for shape in PROBES {
                for beyond in [-0.06, -1e-3, 1e-3, 0.9 * round, 0.5 * (half + round), half + 1e-3] {
                    let asked = upright(shape, DVec3::new(0.3, beyond, 0.7));
                    let expected = match shape {
                        _ if beyond < 0.0 => Some(0.7),
                        ProbeShape::Cylinder(_) if beyond < half => Some(0.7),
                        // At 60° the rounding is lower by half its radius.
                        ProbeShape::Torus(_) if beyond < round => Some(0.7 + 0.5 * half),
                        _ => None,
                    };
                    let found = world.probe(asked).map(|met| f64::from(met.distance));
                    let same = found.is_some() == expected.is_some();
                    let off = found.unwrap_or(0.0) - expected.unwrap_or(0.0);
                    let what = format!("{} {kind} {shape:?} {beyond} m beyond", world.name);
                    assert!(same && off.abs() < 5e-6, "{what}: {found:?} instead of {expected:?}");
                }
            }
        }
    }
}

/// If the ground ends ahead of a wheel, the wheel rolls down around the edge until the contact is steeper than ground may
/// be.
#[test]
fn a_wheel_rolls_over_a_cliff() {
    let radius = f64::from(RADIUS);
    for (kind, scene) in sheets(&[[[-8.0, -8.0], [0.0, 8.0]]], 0.0) {
        for mut world in worlds(&scene) {
            for shape in PROBES.into_iter().filter(|shape| *shape != ProbeShape::Ray) {
                for share in [0.1f64, 0.3, 0.6, 0.9, 0.98, 0.99, 1.1] {
                    let asked = upright(shape, DVec3::new(share * radius, 0.3, 0.7));
                    let expected = (share < 0.984).then(|| 0.7 + radius - radius * (1.0 - share * share).sqrt());
                    let found = world.probe(asked);
                    let what = format!("{} {kind} {shape:?} at {share} R", world.name);
                    assert_eq!(found.is_some(), expected.is_some(), "{what}: {found:?}");
                    let (Some(found), Some(expected)) = (found, expected) else { continue };
                    let off = f64::from(found.distance) - expected;
                    // The slope of the circle multiplies the rounding of x by up to 5.
                    assert!(off.abs() < 1e-5, "{what}: {off} m too far");
                    let (sin, cos) = (share as f32, (1.0 - (share * share) as f32).sqrt());
                    assert!((found.normal - Vec3::new(sin, 0.0, cos)).length() < 1e-4, "{what}: {:?}", found.normal);
                }
            }
        }
    }
}
