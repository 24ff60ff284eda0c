//! Smooth surfaces: normals are interpolated between the corners of a cell by barycentric coordinates.

use std::sync::Arc;

use skidpad::core::{DVec3, HeightField, Quat, Scene, model::ProbeShape};

use super::{probe, worlds};
use crate::world::terrain::{mesh_of, nothing};

/// Size of the cells along x and y, m.
const SPACING: [f32; 2] = [0.8, 0.5];
const COUNTS: [usize; 2] = [24, 30];
const ORIGIN: DVec3 = DVec3::new(-7.0, 4.0, 0.3);

/// Curvatures of the surface along x and y, 1/m. Its slopes at grid crossings are exact.
const BENDS: [f64; 2] = [0.05, -0.03];

/// Returns the field with these curvatures, and the mesh of its faces. Three of the six faces around a corner lie on either
/// side of it, so that their mean normal is exact, too.
fn scenes() -> [(&'static str, Scene); 2] {
    let [along, across] = SPACING.map(f64::from);
    let height = |k: usize| {
        let (x, y) = ((k % COUNTS[0]) as f64 * along, (k / COUNTS[0]) as f64 * across);
        (0.5 * (BENDS[0] * x * x + BENDS[1] * y * y)) as f32
    };
    let heights = (0..COUNTS[0] * COUNTS[1]).map(height).collect();
    let field = HeightField::new(ORIGIN, SPACING, COUNTS, heights, true, 1.0).expect("a field");
    let as_mesh = Scene { meshes: vec![Arc::new(mesh_of(&field, 1.0))], ..nothing() };
    [("field", Scene { height_fields: vec![Arc::new(field)], ..nothing() }), ("mesh", as_mesh)]
}

/// Returns the interpolated normal of the field at `place`, m from the origin of the field.
fn between_corners(place: DVec3) -> DVec3 {
    let [u, v] = [place.x / f64::from(SPACING[0]), place.y / f64::from(SPACING[1])];
    let corner = |right: f64, up: f64| {
        let (column, row) = (u.floor() + right, v.floor() + up);
        let slope = |k: usize, at: f64| -BENDS[k] * at * f64::from(SPACING[k]);
        DVec3::new(slope(0, column), slope(1, row), 1.0).normalize()
    };
    let [u, v] = [u.fract(), v.fract()];
    let (third, shares) =
        if u >= v { (corner(1.0, 0.0), [1.0 - u, u - v, v]) } else { (corner(0.0, 1.0), [1.0 - v, v - u, u]) };
    (corner(0.0, 0.0) * shares[0] + third * shares[1] + corner(1.0, 1.0) * shares[2]).normalize()
}

/// Every world returns the interpolated normals, on fields and on meshes, to rays and to discs.
#[test]
fn normals_lie_between_those_of_the_corners() {
    for (kind, scene) in scenes() {
        for mut world in worlds(&scene) {
            for shape in [ProbeShape::Ray, ProbeShape::Disc] {
                for number in 0..200 {
                    let share = |step: usize, of: usize| 0.2 + 0.6 * (number * step % of) as f64 / of as f64;
                    let x = share(37, 101) * f64::from(SPACING[0]) * (COUNTS[0] - 1) as f64;
                    let y = share(53, 97) * f64::from(SPACING[1]) * (COUNTS[1] - 1) as f64;
                    let top = 0.5 * (BENDS[0] * x * x + BENDS[1] * y * y);
                    let start = ORIGIN + DVec3::new(x, y, top + 0.7);
                    let asked = probe(shape, start, Quat::from_rotation_z(number as f32), 0.7);
                    let what = format!("{} {kind} {shape:?} at {x}, {y}", world.name);
                    let met = world.met(asked, &what);
                    let arm = met.point.unwrap_or(asked.direction * met.distance);
                    let expected = between_corners(start + arm.as_dvec3() - ORIGIN);
                    // Heights of 8 m are rounded by 0.5 µm, over cells of 0.5 m. Rapier repeats rays 0.1 mm to the side.
                    let allowed = 2e-5;
                    let off = (met.normal.as_dvec3() - expected).length();
                    assert!(off < allowed, "{what}: {:?} instead of {expected:?}, {off}", met.normal);
                }
            }
        }
    }
}
