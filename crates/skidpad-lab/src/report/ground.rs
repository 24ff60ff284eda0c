//! Ground of a scene in a report: a picture from above, and the highest surface at a place.

use core::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use skidpad_core::ground::scene::FLUSH_TOLERANCE_M;
use skidpad_core::{DVec3, Scene, Triangle};

use super::table::rounded;

/// Largest number of squares of a picture of the ground along one side.
const MAX_SQUARES: f64 = 300.0;
/// Smallest side of a square (m).
const MIN_SQUARE_M: f64 = 0.05;
/// Width of the ground that is drawn around the path (m).
const SURROUNDINGS_M: f64 = 12.0;

/// Number of shades for height and slope.
const SHADE_COUNT: usize = 18;
/// Number of tints for grip.
const GRIP_TINT_COUNT: usize = 4;

/// Properties of the highest surface at a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TopSurface {
    /// Height (m).
    pub height: f64,
    /// Slope along x and y (–).
    pub slopes: [f64; 2],
    /// Factor on the friction of a tyre (–).
    pub grip: f32,
}

/// Returns whether the scene contains boxes, platforms, height fields, meshes or free bodies besides a plane.
pub fn has_ground_shapes(scene: &Scene) -> bool {
    !(scene.boxes.is_empty()
        && scene.platforms.is_empty()
        && scene.height_fields.is_empty()
        && scene.meshes.is_empty()
        && scene.free_bodies.is_empty())
}

/// Returns the highest surface at each of `points` (x, y in m); `None` where there is no ground. Platforms and free
/// bodies have their initial positions. Of surfaces at the same height within [`FLUSH_TOLERANCE_M`] the last one
/// counts, in the order plane, boxes, platforms, free bodies, height fields, meshes. At a point that is not finite only
/// the plane counts.
pub fn top_surfaces(scene: &Scene, points: &[(f64, f64)]) -> Vec<Option<TopSurface>> {
    // Start with the plane, through the origin.
    let normal = scene.plane_normal().as_dvec3();
    let slopes = [-normal.x / normal.z, -normal.y / normal.z];
    let plane_surface =
        |&(x, y): &(f64, f64)| TopSurface { height: slopes[0] * x + slopes[1] * y, slopes, grip: scene.grip };
    let mut surfaces: Vec<Option<TopSurface>> =
        points.iter().map(|point| scene.has_plane.then(|| plane_surface(point))).collect();
    // Numbers of the points, sorted by x, so that each triangle visits only the points in its range of x.
    let mut indices_by_x: Vec<usize> =
        (0..points.len()).filter(|&i| points[i].0.is_finite() && points[i].1.is_finite()).collect();
    indices_by_x.sort_by(|&a, &b| points[a].0.total_cmp(&points[b].0));
    let (Some(&first_index), Some(&last_index)) = (indices_by_x.first(), indices_by_x.last()) else { return surfaces };
    let (min_y, max_y) =
        indices_by_x.iter().fold((f64::MAX, f64::MIN), |(low, high), &i| (low.min(points[i].1), high.max(points[i].1)));
    // Corners of the area of all points; coordinates of triangles are relative to `start`.
    let (start, end) = (DVec3::new(points[first_index].0, min_y, 0.0), DVec3::new(points[last_index].0, max_y, 0.0));
    visit_triangles(scene, start, end, |triangle| {
        let corners = triangle.corners.map(|corner| start + corner.as_dvec3());
        let min_x = corners.iter().fold(f64::MAX, |x, corner| x.min(corner.x));
        let max_x = corners.iter().fold(f64::MIN, |x, corner| x.max(corner.x));
        // First point that is not left of the triangle.
        let first_candidate = indices_by_x.partition_point(|&i| points[i].0 < min_x);
        for &i in indices_by_x[first_candidate..].iter().take_while(|&&i| points[i].0 <= max_x) {
            let Some(surface) = surface_at(&corners, triangle.grip, points[i]) else { continue };
            // A later surface at the same height replaces an earlier one.
            if surfaces[i]
                .is_none_or(|previous_surface| surface.height >= previous_surface.height - f64::from(FLUSH_TOLERANCE_M))
            {
                surfaces[i] = Some(surface);
            }
        }
    });
    surfaces
}

/// Calls `visit` with the triangles of boxes, of platforms and free bodies at their initial positions, of height
/// fields, and of meshes, in this order. Coordinates are relative to `start`. Only triangles of height fields are
/// limited to the area between `start` and `end` (x and y); all others are visited.
fn visit_triangles(scene: &Scene, start: DVec3, end: DVec3, mut visit: impl FnMut(&Triangle)) {
    // 0.0: start of the run.
    let platforms = scene.platforms.iter().map(|platform| platform.box_at(0.0));
    let bodies = scene.free_bodies.iter().map(|body| body.box_at(&body.motion));
    for block in scene.boxes.iter().copied().chain(platforms).chain(bodies) {
        let centre = (block.centre - start).as_vec3();
        for triangle in Triangle::of_box(block.half_extents, |corner| centre + block.rotation * corner, block.grip) {
            visit(&triangle);
        }
    }
    for field in &scene.height_fields {
        let area_corner = |point: DVec3, height: f32| (point - field.origin()).as_vec3().with_z(height);
        // The area has any height.
        let (min_corner, max_corner) = (area_corner(start, f32::MIN), area_corner(end, f32::MAX));
        let mut near_triangles = Vec::new();
        // 0: the source of a triangle is not used.
        field.visit_near(min_corner, max_corner, field.origin() - start, 0, &mut near_triangles);
        near_triangles.iter().for_each(&mut visit);
    }
    for mesh in &scene.meshes {
        for triangle_index in 0..mesh.triangles().len() as u32 {
            // 0: the source of a triangle is not used.
            visit(&mesh.triangle(triangle_index, mesh.origin() - start, 0));
        }
    }
}

/// Intersects the vertical line through (`x`, `y`) with the triangle `corners` (m). Returns height and slopes there
/// with the friction factor `grip`; `None` if it misses the triangle or the triangle is vertical. Points on an edge are
/// inside, and either orientation of the corners is accepted.
fn surface_at(corners: &[DVec3; 3], grip: f32, (x, y): (f64, f64)) -> Option<TopSurface> {
    let [a, b, c] = *corners;
    // Twice the signed area of the edge and the point (x, y); equal signs mean inside.
    let signed_area = |start: DVec3, end: DVec3| (end.x - start.x) * (y - start.y) - (end.y - start.y) * (x - start.x);
    let signed_areas = [signed_area(a, b), signed_area(b, c), signed_area(c, a)];
    if !(signed_areas.iter().all(|area| *area >= 0.0) || signed_areas.iter().all(|area| *area <= 0.0)) {
        return None;
    }
    let normal = (b - a).cross(c - a);
    if normal.z.abs() < 1e-9 * normal.length() {
        return None;
    }
    let slopes = [-normal.x / normal.z, -normal.y / normal.z];
    Some(TopSurface { height: a.z + slopes[0] * (x - a.x) + slopes[1] * (y - a.y), slopes, grip })
}

/// Returns a picture of the ground of `scene` from above, over the ranges `x` and `y` (m) and [`SURROUNDINGS_M`] around
/// them; `None` if the ground is only a plane.
///
/// The picture is a grid of squares, row by row from the smallest y. Each byte of `cells` is 0 without ground,
/// otherwise `1 + shade (GRIP_TINT_COUNT + 1) + tint`: higher ground and slopes that face the upper left have a larger
/// shade, and grip below 1 has a larger tint, in steps of a quarter.
pub fn picture(scene: &Scene, x: Range<f64>, y: Range<f64>) -> Option<Value> {
    if !has_ground_shapes(scene) {
        return None;
    }
    let widen = |range: Range<f64>| range.start - SURROUNDINGS_M..range.end + SURROUNDINGS_M;
    let (x, y) = (widen(x), widen(y));
    let side = ((x.end - x.start).max(y.end - y.start) / MAX_SQUARES).max(MIN_SQUARE_M);
    let [columns, rows] = [&x, &y].map(|range| ((range.end - range.start) / side).ceil() as usize);
    let centre = |start: f64, index: usize| start + side * (index as f64 + 0.5);
    let points: Vec<(f64, f64)> = (0..rows)
        .flat_map(|row| (0..columns).map(move |column| (column, row)))
        .map(|(column, row)| (centre(x.start, column), centre(y.start, row)))
        .collect();
    let surfaces = top_surfaces(scene, &points);
    let cell = |(shade, surface): (Option<usize>, &Option<TopSurface>)| match (shade, surface) {
        (Some(shade), Some(surface)) => (1 + shade * (GRIP_TINT_COUNT + 1) + grip_tint(surface)) as u8,
        _ => 0,
    };
    let cells: Vec<u8> = compute_shades(&surfaces).into_iter().zip(&surfaces).map(cell).collect();
    Some(json!({
        "x": rounded(x.start),
        "y": rounded(y.start),
        "side": side,
        "columns": columns,
        "rows": rows,
        "shades": SHADE_COUNT,
        "tints": GRIP_TINT_COUNT,
        "cells": STANDARD.encode(cells),
    }))
}

/// Returns the tint of the grip of a surface: 0 for grip 1 and above, [`GRIP_TINT_COUNT`] for grip below a quarter.
fn grip_tint(surface: &TopSurface) -> usize {
    ((1.0 - surface.grip) * GRIP_TINT_COUNT as f32).ceil().clamp(0.0, GRIP_TINT_COUNT as f32) as usize
}

/// Computes the shade of every surface, from 0 (dark) to `SHADE_COUNT − 1`; `None` without ground. The height
/// determines 55 % of the shade, the orientation to a light at the upper left 45 %. Each is scaled to its range over
/// all surfaces, but to at least 1 cm of height and 0.01 of slope. The result is rounded and clamped.
fn compute_shades(surfaces: &[Option<TopSurface>]) -> Vec<Option<usize>> {
    // Returns a function that scales a property to 0 for its smallest and 1 for its largest value.
    let relative_value = |property: fn(&TopSurface) -> f64| {
        let values = || surfaces.iter().flatten().map(property).filter(|value| value.is_finite());
        let (low, high) = values().fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
        // A relief of less than 1 cm in height or 0.01 in slope is not amplified.
        move |surface: &TopSurface| (property(surface) - low) / (high - low).max(0.01)
    };
    // Light from the upper left (−x, +y) falls on ground that rises along +x and falls along +y.
    let (relative_height, relative_light) =
        (relative_value(|surface| surface.height), relative_value(|surface| surface.slopes[0] - surface.slopes[1]));
    let exact_shade = |surface: &TopSurface| {
        (0.55 * relative_height(surface) + 0.45 * relative_light(surface)) * (SHADE_COUNT - 1) as f64
    };
    surfaces
        .iter()
        .map(|surface| {
            surface.as_ref().map(|surface| exact_shade(surface).round().clamp(0.0, (SHADE_COUNT - 1) as f64) as usize)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use skidpad_core::ground::platform::{Platform, PlatformCourse};
    use skidpad_core::{FixedBox, HeightField, TriangleMesh, Vec3};

    use super::*;

    /// Builds a plane with a box of height 0.5 m and grip 0.3, a height field with slope 0.1 and grip 0.5, and a
    /// triangle with slope 0.1 and grip 0.9.
    fn scene() -> Scene {
        let table =
            FixedBox { grip: 0.3, ..FixedBox::axis_aligned(DVec3::new(5.0, 0.0, 0.0), Vec3::new(2.0, 2.0, 1.0)) };
        let heights = vec![0.1, 0.1, 0.3, 0.3];
        let field =
            HeightField::new(DVec3::new(-9.0, -1.0, 0.0), [4.0, 2.0], [2, 2], heights, false, 0.5).expect("a field");
        let corners = vec![Vec3::new(0.0, 4.0, 0.2), Vec3::new(4.0, 4.0, 0.2), Vec3::new(0.0, 8.0, 0.6)];
        let mesh = TriangleMesh::new(DVec3::ZERO, corners, vec![[0, 1, 2]], 0.0, 0.9).expect("a mesh");
        Scene {
            boxes: vec![table],
            height_fields: vec![Arc::new(field)],
            meshes: vec![Arc::new(mesh)],
            ..Scene::flat()
        }
    }

    /// Height, slope along y and grip are those of the highest surface at five places. Without a plane there is no
    /// ground beside the shapes.
    #[test]
    fn the_uppermost_of_all_shapes_is_seen() {
        let places = [(20.0, 0.0), (5.3, -0.4), (-7.0, 0.0), (1.0, 5.0), (3.9, 7.9)];
        let found = top_surfaces(&scene(), &places);
        // Plane, top of the box, field with slope 0.1 along y, triangle with slope 0.1 along y from 0.2 m, beside the
        // triangle.
        let expected = [(0.0, 0.0, 1.0), (0.5, 0.0, 0.3), (0.2, 0.1, 0.5), (0.3, 0.1, 0.9), (0.0, 0.0, 1.0)];
        for ((place, top), (height, rise, grip)) in places.iter().zip(found).zip(expected) {
            let top = top.expect("ground below");
            assert!((top.height - height).abs() < 1e-6 && (top.slopes[1] - rise).abs() < 1e-6, "{place:?}: {top:?}");
            assert_eq!(top.grip, grip, "{place:?}");
        }
        let nothing = Scene { has_plane: false, ..scene() };
        assert_eq!(top_surfaces(&nothing, &[(20.0, 0.0), (f64::NAN, 0.0)]), [None, None]);
    }

    /// A platform is ground at its pose at the start of the run. Heights are those of its top, and of the plane beside
    /// it.
    #[test]
    fn platforms_are_seen_where_they_start() {
        let shape = FixedBox::axis_aligned(DVec3::new(5.0, 0.0, 0.0), Vec3::new(2.0, 2.0, 1.0));
        let course = PlatformCourse::Steady { velocity: Vec3::Z, rate: 0.0 };
        let platform = Platform { shape, axis: Vec3::Z, course };
        let scene = Scene { platforms: vec![platform], ..Scene::flat() };
        assert!(has_ground_shapes(&scene));
        let tops = top_surfaces(&scene, &[(5.3, -0.4), (8.0, 0.0)]);
        let heights: Vec<Option<f64>> = tops.iter().map(|top| top.map(|top| top.height)).collect();
        assert_eq!(heights, [Some(0.5), Some(0.0)]);
    }

    /// Only the scene with shapes has a picture. Its cells have the grips of the three shapes, and without any plane
    /// there are cells without ground.
    #[test]
    fn a_flat_scene_has_no_picture_and_others_are_tinted() {
        assert_eq!(picture(&Scene::sloping(0.1), 0.0..1.0, 0.0..1.0), None);
        let tints = |scene: &Scene| {
            let picture = picture(scene, -10.0..10.0, -10.0..10.0).expect("shapes");
            let cells = STANDARD.decode(picture["cells"].as_str().expect("text")).expect("base64");
            assert_eq!(cells.len() as u64, picture["columns"].as_u64().unwrap() * picture["rows"].as_u64().unwrap());
            let tint = |cell: u8| cell.checked_sub(1).map(|code| usize::from(code) % (GRIP_TINT_COUNT + 1));
            let mut tints: Vec<_> = cells.into_iter().map(tint).collect();
            tints.sort_unstable();
            tints.dedup();
            tints
        };
        // The surfaces have the grips 1.0, 0.9, 0.5 and 0.3.
        assert_eq!(tints(&scene()), [Some(0), Some(1), Some(2), Some(3)]);
        assert_eq!(tints(&Scene { has_plane: false, ..scene() }), [None, Some(1), Some(2), Some(3)]);
    }
}
