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
    pub top_left: [f64; 2],
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

/// Returns whether the scene contains boxes, platforms, height fields, meshes or free bodies besides a plane.
pub fn has_ground_shapes(scene: &Scene) -> bool {
    !(scene.boxes.is_empty()
        && scene.platforms.is_empty()
        && scene.height_fields.is_empty()
        && scene.meshes.is_empty()
        && scene.free_bodies.is_empty())
}

/// Returns the highest surface at each of `points` (x, y in m), of the plane, boxes, platforms and free bodies at their
/// initial positions, height fields and meshes; `None` without ground. Of surfaces at the same height within
/// [`FLUSH_TOLERANCE_M`] the last one in the order of a [`Scene`] is returned. At a point that is not finite only the
/// plane counts.
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

/// Calls `visit` with the triangles of boxes, platforms and free bodies at their initial positions, fields and meshes,
/// with coordinates relative to `start`. Only the triangles of fields are limited to the area between `start` and `end`
/// (x and y).
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

/// Draws the ground of `scene` in a `view` from above, as SVG to place below the lines. Higher ground and slopes that
/// face the upper left are lighter, grip below 1 is tinted, and places without ground are empty. The view is divided
/// into squares of [`CELL_SIZE_PX`], each with the surface at its centre. Neighbours of equal shade in a row are one
/// rectangle; each shade and each tint is one path. All ground is first drawn in the darkest shade, then lighter shades
/// and grip tints on top with increasing opacity. Grip tints have steps of a quarter below grip 1.
pub fn draw_from_above(scene: &Scene, view: &View) -> String {
    let [columns, rows] = view.pixels.map(|pixels| (pixels / CELL_SIZE_PX).ceil().max(1.0) as usize);
    // Centre of square `square_index` of `square_count` in a range (m).
    let square_centre = |range: &Range<f64>, square_index: usize, square_count: usize| {
        range.start + (range.end - range.start) * (square_index as f64 + 0.5) / square_count as f64
    };
    // Centres of all squares, row by row from the top, where y is largest.
    let points: Vec<(f64, f64)> = (0..rows)
        .flat_map(|row| (0..columns).map(move |column| (column, row)))
        .map(|(column, row)| (square_centre(&view.x, column, columns), square_centre(&view.y, rows - 1 - row, rows)))
        .collect();
    let surfaces = top_surfaces(scene, &points);
    let shades = compute_shades(&surfaces);
    // Tint of the grip: 0 for grip 1 and above, 4 for grip below 0.25.
    let grip_tint = |surface: &TopSurface| {
        ((1.0 - surface.grip) * GRIP_TINT_COUNT as f32).ceil().clamp(0.0, GRIP_TINT_COUNT as f32) as usize
    };
    let tints: Vec<Option<usize>> = surfaces.iter().map(|surface| surface.as_ref().map(grip_tint)).collect();
    let mut svg = String::new();
    let mut append_runs =
        |attributes: &str, runs: &[[usize; 3]]| append_layer(&mut svg, view, [columns, rows], runs, attributes);
    // All squares with ground in the darkest shade, then the others, which are partly transparent.
    append_runs("class=\"ground low\"", &find_runs(&shades, columns, Option::is_some));
    for shade in 1..SHADE_COUNT {
        let opacity = shade as f64 / (SHADE_COUNT - 1) as f64;
        append_runs(
            &format!("class=\"ground\" fill-opacity=\"{opacity:.2}\""),
            &find_runs(&shades, columns, |value| *value == Some(shade)),
        );
    }
    for tint in 1..=GRIP_TINT_COUNT {
        let opacity = 0.45 * tint as f64 / GRIP_TINT_COUNT as f64;
        append_runs(
            &format!("class=\"grip\" fill-opacity=\"{opacity:.2}\""),
            &find_runs(&tints, columns, |value| *value == Some(tint)),
        );
    }
    svg
}

/// Computes the shade of every surface, from 0 (dark) to `SHADE_COUNT − 1`: 55 % from the height and 45 % from the
/// orientation to the light at the upper left, each scaled to its range over all surfaces, but at least 1 cm of height
/// and 0.01 of slope. The result is rounded and clamped. `None` without ground.
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

/// Returns the horizontal runs of neighbouring squares for which `is_selected` returns true: [column, row, length], in
/// the order of `values`, which lists the grid row by row with `columns` squares each.
fn find_runs<T>(values: &[T], columns: usize, is_selected: impl Fn(&T) -> bool) -> Vec<[usize; 3]> {
    let mut runs: Vec<[usize; 3]> = Vec::new();
    for (i, _) in values.iter().enumerate().filter(|(_, value)| is_selected(value)) {
        let (column, row) = (i % columns, i / columns);
        match runs.last_mut() {
            // The square continues the last run.
            Some([run_column, run_row, length]) if *run_row == row && *run_column + *length == column => *length += 1,
            _ => runs.push([column, row, 1]),
        }
    }
    runs
}

/// Appends the `runs` of squares ([column, row, length]) as one SVG path with the attributes `attributes`; nothing
/// without squares. `columns` and `rows` are the size of the grid in the `view`. Each run is a closed rectangle whose
/// edges are rounded to pixels of the drawing, so that neighbours have no gap.
fn append_layer(svg: &mut String, view: &View, [columns, rows]: [usize; 2], runs: &[[usize; 3]], attributes: &str) {
    if runs.is_empty() {
        return;
    }
    // Edge `edge_index` of the grid along one axis, in pixels of the drawing.
    let grid_line = |start: f64, size: f64, edge_index: usize, square_count: usize| {
        (start + size * edge_index as f64 / square_count as f64).round() as i64
    };
    let pixel_x = |edge_index: usize| grid_line(view.top_left[0], view.drawn_size[0], edge_index, columns);
    let pixel_y = |edge_index: usize| grid_line(view.top_left[1], view.drawn_size[1], edge_index, rows);
    put!(svg, "<path {attributes} d=\"");
    for &[column, row, length] in runs {
        let (left, top) = (pixel_x(column), pixel_y(row));
        put!(svg, "M{left} {top}H{}V{}H{left}z", pixel_x(column + length), pixel_y(row + 1));
    }
    svg.push_str("\"/>\n");
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

    /// Only the scene with shapes has ground to draw. The first path is the darkest shade with its first row as one
    /// rectangle, and each of three grips has a path. Without any ground nothing is drawn.
    #[test]
    fn a_flat_scene_is_not_drawn_and_others_are_tinted() {
        assert!(!has_ground_shapes(&Scene::sloping(0.1)) && has_ground_shapes(&scene()));
        let view =
            View { x: -10.0..10.0, y: -10.0..10.0, pixels: [200.0; 2], top_left: [0.0; 2], drawn_size: [1000.0; 2] };
        let svg = draw_from_above(&scene(), &view);
        assert!(svg.starts_with("<path class=\"ground low\" d=\"M0 0H1000V20H0z"), "{}", &svg[..80]);
        // The surfaces have the grips 0.3, 0.5 and 0.9.
        assert_eq!(svg.matches("class=\"grip\"").count(), 3, "{svg}");
        let nothing = Scene { has_plane: false, ..Scene::flat() };
        assert_eq!(draw_from_above(&nothing, &view), "");
    }
}
