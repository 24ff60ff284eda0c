//! No ray and no disc passes through fields and meshes at any place.

use std::sync::Arc;

use skidpad::core::{DVec3, HeightField, Probe, Quat, Scene, Vec3, model::ProbeShape};

use super::{down_to_plane, probe, worlds};
use crate::world::terrain::{field, mesh_of, nothing};

/// Number of probes for each solver, over four grounds as field and as mesh.
const PROBES_A_WORLD: usize = 100_000;

const CELLS: usize = 60;

/// Advances `seed` by xorshift. Returns a number from 0 to 1.
fn random(seed: &mut u64) -> f64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    (*seed >> 11) as f64 / (1u64 << 53) as f64
}

/// Returns a crossing of grid lines, or a place on a grid line or a diagonal, at the height of the surface.
fn aim(field: &HeightField, seed: &mut u64) -> DVec3 {
    let mut inner = || 3 + (random(seed) * (CELLS - 6) as f64) as usize;
    let (column, row) = (inner(), inner());
    let share = random(seed) as f32;
    let [across, down] = [[0, 0], [1, 0], [0, 1], [1, 1]][(random(seed) * 4.0) as usize];
    let at = |c: usize, r: usize| {
        let [x, y] = field.spacing();
        Vec3::new(c as f32 * x, r as f32 * y, field.height(c, r))
    };
    field.origin() + at(column, row).lerp(at(column + across, row + down), share).as_dvec3()
}

/// Returns a probe of `shape` that starts 0.8 m from `aim` and points to it, tilted by up to 20°.
fn towards(aim: DVec3, shape: ProbeShape, seed: &mut u64) -> Probe {
    let tilt = [0.0, 0.087, 0.349][(random(seed) * 3.0) as usize];
    let [heading, way] = [random(seed), random(seed)].map(|share| share as f32 * std::f32::consts::TAU);
    let lean = Quat::from_axis_angle(Quat::from_rotation_z(way) * Vec3::X, tilt);
    let turn = lean * Quat::from_rotation_z(heading);
    probe(shape, aim + (turn * Vec3::Z * 0.8).as_dvec3(), turn, 0.8)
}

#[test]
fn nothing_falls_through_fields_and_meshes() {
    let wave = |x: f64, y: f64| 0.1 * (x.sin() + y.sin());
    let size = |cell: f64| [cell * CELLS as f64; 2];
    let grounds = [(1.0, true), (0.3, true), (1.0, false), (0.3, false)].map(|(cell, flat)| {
        (flat, field(cell as f32, [0.0; 2], size(cell), |x, y| if flat { 0.0 } else { wave(x, y) }))
    });
    for (flat, field) in grounds {
        let as_mesh = Scene { meshes: vec![Arc::new(mesh_of(&field, 0.0))], ..nothing() };
        let as_field = Scene { height_fields: vec![Arc::new(field.clone())], ..nothing() };
        for (kind, scene) in [("field", as_field), ("mesh", as_mesh)] {
            // Solvers in the same kind of world share its code.
            for mut world in
                worlds(&scene).into_iter().filter(|world| ["impulse", "constraint", "rapier"].contains(&world.name))
            {
                let mut seed = 0x9e37_79b9_7f4a_7c15;
                for number in 0..PROBES_A_WORLD / 8 {
                    let shape = if number % 2 == 0 { ProbeShape::Ray } else { ProbeShape::Disc };
                    let asked = towards(aim(&field, &mut seed), shape, &mut seed);
                    let what = format!("{} {kind} {number} {asked:?}", world.name);
                    let met = f64::from(world.met(asked, &what).distance);
                    // Rapier repeats rays 0.1 mm to the side. Coordinates of 60 m have 32 bits.
                    let allowed = if world.name == "rapier" { 2e-4 } else { 3e-5 };
                    if shape == ProbeShape::Ray {
                        assert!((met - 0.8).abs() < allowed, "{what}: {met} m");
                    } else if flat {
                        let expected = down_to_plane(&asked, DVec3::Z, DVec3::ZERO);
                        assert!((met - expected).abs() < allowed, "{what}: {met} m instead of {expected} m");
                    } else {
                        // The lowest point of a wheel is not below the ground under it.
                        assert!(met < 0.8 + allowed, "{what}: {met} m");
                    }
                }
            }
        }
    }
}
