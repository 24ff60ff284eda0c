//! Ground that is not level: scaled fields and meshes on a slope, with their grips.

use std::sync::Arc;

use skidpad::core::{DVec3, HeightField, Quat, Scene};

use super::{PROBES, down_to_plane, probe, worlds};
use crate::world::terrain::{mesh_of, nothing};

/// Cells that are not square, over a plane that rises both ways, in scales far from 1 m.
#[test]
fn scaled_fields_answer_as_their_plane() {
    let slopes = [0.12f64, -0.07];
    for (spacing, counts) in [([0.37f32, 1.9], [60, 12]), ([0.05, 0.05], [200, 200]), ([7.0, 3.0], [4, 9])] {
        let [along, across] = spacing.map(f64::from);
        let height = |k: usize| {
            let (column, row) = (k % counts[0], k / counts[0]);
            (slopes[0] * along * column as f64 + slopes[1] * across * row as f64) as f32
        };
        let heights = (0..counts[0] * counts[1]).map(height).collect();
        let origin = DVec3::new(-5.0, 3.0, 2.0);
        let field = HeightField::new(origin, spacing, counts, heights, false, 0.6).expect("a field");
        let normal = DVec3::new(-slopes[0], -slopes[1], 1.0).normalize();
        let as_mesh = Scene { meshes: vec![Arc::new(mesh_of(&field, 0.0))], ..nothing() };
        let as_field = Scene { height_fields: vec![Arc::new(field)], ..nothing() };
        for (kind, grip, scene) in [("field", 0.6, as_field), ("mesh", 1.0, as_mesh)] {
            for mut world in worlds(&scene) {
                for shape in PROBES {
                    for number in 0..200usize {
                        // Places from a quarter to three quarters of the field: crossings, grid lines, and between them.
                        let share = |count: usize, k: usize| 0.25 + 0.5 * ((k % count) as f64 / count as f64);
                        let x = share(8, number) * along * (counts[0] - 1) as f64;
                        let y = share(5, number / 8) * across * (counts[1] - 1) as f64;
                        let on = origin + DVec3::new(x, y, slopes[0] * x + slopes[1] * y);
                        let turn = Quat::from_rotation_z(number as f32) * Quat::from_rotation_x(0.1);
                        let asked = probe(shape, on + DVec3::Z * 0.7, turn, 0.7);
                        let what = format!("{} {kind} {spacing:?} {asked:?}", world.name);
                        let met = world.met(asked, &what);
                        let off = f64::from(met.distance) - down_to_plane(&asked, normal, origin);
                        // Heights of 2 m have 32 bits. Rapier repeats rays 0.1 mm to the side.
                        let allowed = if world.name == "rapier" { 6e-5 } else { 5e-6 };
                        assert!(off.abs() < allowed, "{what}: {off} m too far");
                        // The rounding of heights tilts cells of 5 cm by 5e-6.
                        assert!((met.normal.as_dvec3() - normal).length() < 2e-5, "{what}: {:?}", met.normal);
                        assert_eq!(met.grip, grip, "{what}");
                    }
                }
            }
        }
    }
}
