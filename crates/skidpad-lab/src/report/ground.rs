//! Drawings of the ground of a scene: from above, and its height along a path.

use core::ops::Range;
use std::fmt::Write as _;

use skidpad_core::ground::scene::FLUSH_TOLERANCE_M;
use skidpad_core::{DVec3, Scene, Triangle};

/// Section of the world in a plot, and its position in the drawing.
pub struct View {
    /// Range of x (m).
    pub x: Range<f64>,
    /// Range of y (m).
    pub y: Range<f64>,
    /// Size on the page (px).
    pub pixels: [f64; 2],
    /// Left and upper edge in the drawing (pixels of the drawing).
    pub corner: [f64; 2],
    /// Size in the drawing (pixels of the drawing).
    pub drawn_size: [f64; 2],
}

/// Style sheet of the ground. It is part of the drawings, so pages without them do not contain it.
pub const GROUND_STYLE: &str = include_str!("ground.css");

/// Side of the squares in which the ground is drawn (px on the page).
const CELL_SIZE_PX: f64 = 4.0;

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

/// Returns whether the scene contains boxes, height fields, meshes or free bodies besides a plane. Platforms do not
/// count.
pub fn has_shape(scene: &Scene) -> bool {
    !(scene.boxes.is_empty()
        && scene.height_fields.is_empty()
        && scene.meshes.is_empty()
        && scene.free_bodies.is_empty())
}

/// Returns the highest surface at each of `places` (x, y in m), of the plane, boxes, free bodies at their initial
/// positions, height fields and meshes; `None` without ground. Platforms do not count. Of surfaces at the same height
/// within [`FLUSH_TOLERANCE_M`] the last one in the order of a [`Scene`] is returned. Places that are not finite see
/// only the plane.
pub fn top_surfaces(scene: &Scene, places: &[(f64, f64)]) -> Vec<Option<TopSurface>> {
    let normal = scene.plane_normal().as_dvec3();
    let slopes = [-normal.x / normal.z, -normal.y / normal.z];
    let plane = |&(x, y): &(f64, f64)| TopSurface { height: slopes[0] * x + slopes[1] * y, slopes, grip: scene.grip };
    let mut tops: Vec<Option<TopSurface>> = places.iter().map(|place| scene.has_plane.then(|| plane(place))).collect();
    // Numbers of the places, sorted by x, so that each triangle visits only the places in its range of x.
    let mut by_x: Vec<usize> =
        (0..places.len()).filter(|&i| places[i].0.is_finite() && places[i].1.is_finite()).collect();
    by_x.sort_by(|&a, &b| places[a].0.total_cmp(&places[b].0));
    let (Some(&first), Some(&last)) = (by_x.first(), by_x.last()) else { return tops };
    let (low, high) =
        by_x.iter().fold((f64::MAX, f64::MIN), |(low, high), &i| (low.min(places[i].1), high.max(places[i].1)));
    // Corners of the area of all places; coordinates of triangles are relative to `start`.
    let (start, end) = (DVec3::new(places[first].0, low, 0.0), DVec3::new(places[last].0, high, 0.0));
    visit_triangles(scene, start, end, |triangle| {
        let corners = triangle.corners.map(|corner| start + corner.as_dvec3());
        let left = corners.iter().fold(f64::MAX, |x, corner| x.min(corner.x));
        let right = corners.iter().fold(f64::MIN, |x, corner| x.max(corner.x));
        let from = by_x.partition_point(|&i| places[i].0 < left);
        for &i in by_x[from..].iter().take_while(|&&i| places[i].0 <= right) {
            let Some(top) = surface_at(&corners, triangle.grip, places[i]) else { continue };
            if tops[i].is_none_or(|below| top.height >= below.height - f64::from(FLUSH_TOLERANCE_M)) {
                tops[i] = Some(top);
            }
        }
    });
    tops
}

/// Calls `to` with the triangles of boxes, free bodies at their initial positions, fields and meshes, with coordinates
/// relative to `start`. Only the triangles of fields are limited to the area between `start` and `end` (x and y).
fn visit_triangles(scene: &Scene, start: DVec3, end: DVec3, mut to: impl FnMut(&Triangle)) {
    let bodies = scene.free_bodies.iter().map(|body| body.box_at(&body.motion));
    for block in scene.boxes.iter().copied().chain(bodies) {
        let middle = (block.centre - start).as_vec3();
        for triangle in Triangle::of_box(block.half_extents, |corner| middle + block.rotation * corner, block.grip) {
            to(&triangle);
        }
    }
    for field in &scene.height_fields {
        let corner = |at: DVec3, height: f32| (at - field.origin()).as_vec3().with_z(height);
        let (low, high) = (corner(start, f32::MIN), corner(end, f32::MAX));
        let mut near = Vec::new();
        // 0: the source of a triangle is not used.
        field.visit_near(low, high, field.origin() - start, 0, &mut near);
        near.iter().for_each(&mut to);
    }
    for mesh in &scene.meshes {
        for number in 0..mesh.triangles().len() as u32 {
            to(&mesh.triangle(number, mesh.origin() - start, 0));
        }
    }
}

/// Intersects the vertical line through (`x`, `y`) with the triangle `corners` (m). Returns height and slopes there
/// with the friction factor `grip`; `None` if it misses the triangle or the triangle is vertical.
fn surface_at(corners: &[DVec3; 3], grip: f32, (x, y): (f64, f64)) -> Option<TopSurface> {
    let [a, b, c] = *corners;
    // Twice the signed area of (p, q) and the place; equal signs mean inside.
    let cross = |p: DVec3, q: DVec3| (q.x - p.x) * (y - p.y) - (q.y - p.y) * (x - p.x);
    let sides = [cross(a, b), cross(b, c), cross(c, a)];
    if !(sides.iter().all(|side| *side >= 0.0) || sides.iter().all(|side| *side <= 0.0)) {
        return None;
    }
    let normal = (b - a).cross(c - a);
    if normal.z.abs() < 1e-9 * normal.length() {
        return None;
    }
    let slopes = [-normal.x / normal.z, -normal.y / normal.z];
    Some(TopSurface { height: a.z + slopes[0] * (x - a.x) + slopes[1] * (y - a.y), slopes, grip })
}

/// Draws the ground of `scene` in a `view` from above, as SVG to place below the lines. Higher ground and slopes that
/// face the upper left are lighter, grip below 1 is tinted, and places without ground are empty. The view is divided
/// into squares of [`CELL_SIZE_PX`], each with the surface at its centre. Neighbours of equal shade in a row are one
/// rectangle; each shade and each tint is one path.
pub fn from_above(scene: &Scene, view: &View) -> String {
    let [columns, rows] = view.pixels.map(|pixels| (pixels / CELL_SIZE_PX).ceil().max(1.0) as usize);
    // Centre of square `k` of `count` in a range (m).
    let middle = |range: &Range<f64>, k: usize, count: usize| {
        range.start + (range.end - range.start) * (k as f64 + 0.5) / count as f64
    };
    let places: Vec<(f64, f64)> = (0..rows)
        .flat_map(|row| (0..columns).map(move |column| (column, row)))
        .map(|(column, row)| (middle(&view.x, column, columns), middle(&view.y, rows - 1 - row, rows)))
        .collect();
    let tops = top_surfaces(scene, &places);
    let shades = shades(&tops);
    // Tint of the grip: 0 for grip 1 and above.
    let slippery = |top: &TopSurface| {
        ((1.0 - top.grip) * GRIP_TINT_COUNT as f32).ceil().clamp(0.0, GRIP_TINT_COUNT as f32) as usize
    };
    let tints: Vec<Option<usize>> = tops.iter().map(|top| top.as_ref().map(slippery)).collect();
    let mut svg = String::new();
    let mut layer = |look: &str, squares: &[[usize; 3]]| append_layer(&mut svg, view, [columns, rows], squares, look);
    layer("class=\"ground low\"", &squares(&shades, columns, Option::is_some));
    for shade in 1..SHADE_COUNT {
        let opacity = shade as f64 / (SHADE_COUNT - 1) as f64;
        layer(
            &format!("class=\"ground\" fill-opacity=\"{opacity:.2}\""),
            &squares(&shades, columns, |of| *of == Some(shade)),
        );
    }
    for tint in 1..=GRIP_TINT_COUNT {
        let opacity = 0.45 * tint as f64 / GRIP_TINT_COUNT as f64;
        layer(
            &format!("class=\"grip\" fill-opacity=\"{opacity:.2}\""),
            &squares(&tints, columns, |of| *of == Some(tint)),
        );
    }
    svg
}

/// Computes the shade of every place, from 0 (dark) to `SHADE_COUNT − 1`: 55 % from the height and 45 % from the
/// orientation to the light at the upper left, each scaled to its range over all places. `None` without ground.
fn shades(tops: &[Option<TopSurface>]) -> Vec<Option<usize>> {
    let of = |value: fn(&TopSurface) -> f64| {
        let values = || tops.iter().flatten().map(value).filter(|value| value.is_finite());
        let (low, high) = values().fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(v), high.max(v)));
        // A relief of less than 1 cm in height or 0.01 in slope is not amplified.
        move |top: &TopSurface| (value(top) - low) / (high - low).max(0.01)
    };
    let (height, light) = (of(|top| top.height), of(|top| top.slopes[0] - top.slopes[1]));
    let shade = |top: &TopSurface| (0.55 * height(top) + 0.45 * light(top)) * (SHADE_COUNT - 1) as f64;
    tops.iter()
        .map(|top| top.as_ref().map(|top| shade(top).round().clamp(0.0, (SHADE_COUNT - 1) as f64) as usize))
        .collect()
}

/// Returns the horizontal runs of neighbouring squares for which `wanted` returns true: [column, row, length], in the
/// order of `all`, which lists the grid row by row with `columns` squares each.
fn squares<T>(all: &[T], columns: usize, wanted: impl Fn(&T) -> bool) -> Vec<[usize; 3]> {
    let mut runs: Vec<[usize; 3]> = Vec::new();
    for (i, _) in all.iter().enumerate().filter(|(_, one)| wanted(one)) {
        let (column, row) = (i % columns, i / columns);
        match runs.last_mut() {
            Some([first, of, length]) if *of == row && *first + *length == column => *length += 1,
            _ => runs.push([column, row, 1]),
        }
    }
    runs
}

/// Appends the runs of `squares` ([column, row, length]) as one SVG path with the attributes `look`; nothing without
/// squares. `columns` and `rows` are the size of the grid in the `view`.
fn append_layer(svg: &mut String, view: &View, [columns, rows]: [usize; 2], squares: &[[usize; 3]], look: &str) {
    if squares.is_empty() {
        return;
    }
    // Edge `k` of the grid in pixels of the drawing.
    let line = |from: f64, size: f64, k: usize, count: usize| (from + size * k as f64 / count as f64).round() as i64;
    let across = |k: usize| line(view.corner[0], view.drawn_size[0], k, columns);
    let down = |k: usize| line(view.corner[1], view.drawn_size[1], k, rows);
    put!(svg, "<path {look} d=\"");
    for &[column, row, length] in squares {
        let (left, top) = (across(column), down(row));
        put!(svg, "M{left} {top}H{}V{}H{left}z", across(column + length), down(row + 1));
    }
    svg.push_str("\"/>\n");
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use skidpad_core::{FixedBox, HeightField, TriangleMesh, Vec3};

    use super::*;

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

    #[test]
    fn a_flat_scene_is_not_drawn_and_others_are_tinted() {
        assert!(!has_shape(&Scene::sloping(0.1)) && has_shape(&scene()));
        let view =
            View { x: -10.0..10.0, y: -10.0..10.0, pixels: [200.0; 2], corner: [0.0; 2], drawn_size: [1000.0; 2] };
        let svg = from_above(&scene(), &view);
        assert!(svg.starts_with("<path class=\"ground low\" d=\"M0 0H1000V20H0z"), "{}", &svg[..80]);
        // The surfaces have the grips 0.3, 0.5 and 0.9.
        assert_eq!(svg.matches("class=\"grip\"").count(), 3, "{svg}");
        let nothing = Scene { has_plane: false, ..Scene::flat() };
        assert_eq!(from_above(&nothing, &view), "");
    }
}
