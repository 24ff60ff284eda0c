//! Known results of rigid discs, and properties that hold for any ground.
#![cfg(test)]

use super::{ground_contact as probe_contact, *};
use crate::ground::cells::{GridCell, TriangleVisitor};
use crate::ground::rim_contact::collector::TriangleCollector;
use crate::ground::rim_contact::wall::wall_contact;
use bevy_math::DVec3;
use skidpad_simd::math;

/// Radius of the tested disc, m.
const RADIUS_M: f32 = 0.33;

/// Returns the contact of `probe` on flat triangles `triangles`.
fn support(probe: &Probe, triangles: &[Triangle]) -> Option<Contact> {
    probe_contact(probe, triangles, |_| None).map(|(_, contact)| contact)
}

/// Returns a downward probe at the origin with a ray of 1.2 m.
fn wheel(rim: Option<Rim>) -> Probe {
    let (position, offset, direction) = (DVec3::ZERO, Vec3::ZERO, Vec3::NEG_Z);
    Probe { car: 0, position, offset, direction, length: 1.2, rim }
}

/// Returns a probe with a disc without width on that ray, heading along x. The lowest point was 0.66 m below the start
/// before the step (one diameter). The disc looks 0.3 m ahead for walls and has no displacements.
fn disc() -> Probe {
    let forward = Vec3::X;
    let (free_displacement, load_displacement) = (Vec3::ZERO, 0.0);
    wheel(Some(Rim {
        forward,
        radius: RADIUS_M,
        half_width: 0.0,
        has_round_tread: false,
        last_ray_length: 0.66,
        lookahead: 0.3,
        probe_displacement: Vec3::ZERO,
        free_displacement,
        load_displacement,
        drive_displacement: 0.0,
    }))
}

/// Returns a strip of ground from y = −1 to 1 m through the points `[x, z]`, moved by `offset` (x, z; m). Two flat
/// triangles of grip 1 connect each pair of successive points.
fn strip(points: &[[f32; 2]], offset: [f32; 2]) -> Vec<Triangle> {
    let point_at = |[x, z]: [f32; 2], y: f32| Vec3::new(x + offset[0], y, z + offset[1]);
    let segment_triangles = |segment: &[[f32; 2]]| {
        let [a, b, c, d] = [
            point_at(segment[0], -1.0),
            point_at(segment[1], -1.0),
            point_at(segment[1], 1.0),
            point_at(segment[0], 1.0),
        ];
        [[a, b, c], [a, c, d]].map(|corners| Triangle::flat(corners, 1.0))
    };
    points.windows(2).flat_map(segment_triangles).collect()
}

/// Returns the height of the lowest point of a disc above the origin of the `points` (m), and its contact; `None`
/// without ground. The origin of the points is at `offset` (x, z; m) from the start of the ray.
fn bottom(points: &[[f32; 2]], offset: [f32; 2]) -> Option<(f32, Contact)> {
    support(&disc(), &strip(points, offset)).map(|contact| (-contact.distance - offset[1], contact))
}

/// Height of the ground relative to the start of the ray, m: one wheel diameter below.
const GROUND_HEIGHT_M: f32 = -0.66;

/// Checks a disc before and on steps of several heights. Just before the closed-form distance the disc stands on the
/// road. Just behind it, the normal has the closed-form angle. On the edge, height and contact point follow the circle.
/// Above the edge, the disc stands on the step.
#[test]
fn a_disc_climbs_a_step_along_a_circle() {
    // Rigid disc with R = 0.33 m: it touches a step of height h at the distance √(2Rh − h²) with the normal at the
    // angle acos(1 − h/R).
    for (height, touch_distance, angle) in
        [(0.02f32, 0.1131f32, 20.05f32), (0.05, 0.1746, 31.95), (0.10, 0.2366, 45.82), (0.20, 0.3033, 66.80)]
    {
        let step = [[-5.0, 0.0], [0.0, 0.0], [0.0, height], [5.0, height]];
        // The hub is at x, the step at 0.
        let bottom_at = |x: f32| bottom(&step, [-x, GROUND_HEIGHT_M]).expect("ground below");
        assert!(bottom_at(-touch_distance - 2e-3).0.abs() < 1e-6, "{height}: before it touches");
        let (_, touching_contact) = bottom_at(-touch_distance + 1e-4);
        let (sin, cos) = math::sin_cos(angle.to_radians());
        // The disc is a tenth of a millimetre farther ahead, and the table has four digits.
        assert!(
            (touching_contact.normal - Vec3::new(-sin, 0.0, cos)).length() < 1.5e-3,
            "{height}: {:?}",
            touching_contact.normal
        );
        for share in [0.9, 0.6, 0.3, 0.1] {
            let x = share * touch_distance;
            let expected = height - RADIUS_M + (RADIUS_M * RADIUS_M - x * x).sqrt(); // on the edge; at least the road
            let (found_height, contact) = bottom_at(-x);
            assert!(
                (found_height - expected.max(0.0)).abs() < 1e-6,
                "{height}, {x}: {found_height} instead of {expected}"
            );
            let point = contact.point.expect("rims say where");
            assert!((point - Vec3::new(x, 0.0, GROUND_HEIGHT_M + height)).length() < 1e-6, "{height}, {x}: {point:?}");
        }
        assert!((bottom_at(0.0).0 - height).abs() < 1e-6);
    }
}

/// Checks that a disc at four distances before steps above the climb height (0.27 m) stands on the level road.
#[test]
fn a_step_as_high_as_the_hub_is_no_ground() {
    for height in [0.28, 0.33, 0.4, 2.0] {
        let step = [[-5.0, 0.0], [0.0, 0.0], [0.0, height], [5.0, height]];
        for wheel_x in [-0.329, -0.32, -0.2, -0.05] {
            let (found_height, contact) = bottom(&step, [-wheel_x, GROUND_HEIGHT_M]).expect("ground below");
            assert!(found_height.abs() < 1e-6 && contact.normal.z > 0.999, "{height}, {wheel_x}: {found_height}");
        }
    }
}

/// Checks that obstacles above the climb height block the rim, 0.1 m ahead of it, with the right gap and horizontal
/// normal, and that lower steps do not. Below the hub the gap is larger, because the circle is narrower there.
#[test]
fn a_wall_stops_the_rim_and_a_step_does_not() {
    for (height, gap) in [(0.2f32, None), (0.25, None), (0.3, Some(0.1)), (0.33, Some(0.1)), (2.0, Some(0.1))] {
        let wall = [[-5.0, 0.0], [0.0, 0.0], [0.0, height], [5.0, height]];
        let triangles = strip(&wall, [RADIUS_M + 0.1, GROUND_HEIGHT_M]);
        let ground = support(&disc(), &triangles).expect("ground below");
        let wall_point = wall_contact(&disc(), &triangles, Some(&ground)).map(|(_, point)| point);
        assert_eq!(wall_point.is_some(), gap.is_some(), "{height}");
        let Some(point) = wall_point else { continue };
        assert!((point.normal - Vec3::NEG_X).length() < 1e-6, "{height}: {:?}", point.normal);
        // A wall lower than the hub touches the circle below the hub, where it is narrower.
        let expected = if height < RADIUS_M { RADIUS_M - (height * (2.0 * RADIUS_M - height)).sqrt() } else { 0.0 };
        assert!((point.gap - 0.1 - expected).abs() < 1e-5, "{height}: {}", point.gap);
    }
}

/// Checks that a disc in the middle of stairs of 0.1 m by 0.08 m rests on the highest edge that it reaches by climbing
/// from step to step.
#[test]
fn steps_on_steps_are_climbed_one_by_one() {
    let stairs: Vec<[f32; 2]> = (0..6).flat_map(|k| [[k as f32, k as f32], [(k + 1) as f32, k as f32]]).collect();
    let stairs: Vec<_> = stairs.into_iter().map(|[x, z]| [0.1 * x - 0.25, 0.08 * z]).collect();
    let (found_height, _) = bottom(&stairs, [0.0, -0.8]).expect("ground below");
    // The edge at x = k/10 − 0.25 is 0.08 k high.
    let circle = |k: f32| 0.08 * k - RADIUS_M + ((RADIUS_M + 0.1 * k - 0.25) * (RADIUS_M - 0.1 * k + 0.25)).sqrt();
    let expected = (0..6).map(|k| circle(k as f32)).fold(0.0, f32::max);
    assert!((found_height - expected).abs() < 1e-6, "{found_height} instead of {expected}");
}

/// Checks that a disc rests on both edges of a gap of 0.2 m, and that a ray through its middle hits its ground, 0.3 m
/// lower.
#[test]
fn a_disc_bridges_a_gap_and_a_ray_falls_in() {
    let gap = [[-5.0, 0.0], [-0.1, 0.0], [-0.1, -0.3], [0.1, -0.3], [0.1, 0.0], [5.0, 0.0]];
    let (found_height, _) = bottom(&gap, [0.0, GROUND_HEIGHT_M]).expect("ground below");
    // R − √(R² − w²/4) for a gap 0.2 m wide: 15.5 mm.
    assert!((found_height + RADIUS_M - (RADIUS_M * RADIUS_M - 0.01).sqrt()).abs() < 1e-6, "{found_height}");
    let ray = support(&wheel(None), &strip(&gap, [0.0, GROUND_HEIGHT_M])).expect("the ground of the gap");
    assert_eq!(ray.distance, -(GROUND_HEIGHT_M - 0.3));
}

/// Checks the height of a disc above the trough of a sine wave against the envelope of the circle. On long waves it
/// reaches the trough, on short ones it does not.
#[test]
fn a_disc_bridges_short_waves_and_follows_long_ones() {
    for (wavelength, amplitude, is_followed) in [(0.3f32, 0.01f32, false), (1.0, 0.02, true)] {
        let wave = |x: f32| -amplitude * math::sin_cos(core::f32::consts::TAU * x / wavelength).1;
        let points: Vec<[f32; 2]> = (-4000..=4000).map(|k| [k as f32 * 2.5e-4, wave(k as f32 * 2.5e-4)]).collect();
        let (found_height, _) = bottom(&points, [0.0, GROUND_HEIGHT_M]).expect("ground below");
        // Expected value: the envelope over finely sampled points of the curve.
        let envelope = |x: f32| wave(x) - RADIUS_M + (RADIUS_M * RADIUS_M - x * x).sqrt();
        let expected = (-329..=329).map(|k| envelope(k as f32 * 1e-3)).fold(f32::MIN, f32::max);
        assert!((found_height - expected).abs() < 2e-5, "{wavelength}: {found_height} instead of {expected}");
        assert_eq!((found_height + amplitude).abs() < 1e-5, is_followed, "{wavelength}: {found_height}");
    }
}

/// Returns the next number from 0 to 1 of a xorshift generator.
fn random(seed: &mut u32) -> f32 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    (*seed >> 8) as f32 / (1 << 24) as f32
}

/// Checks with 20 000 random sets of six triangles that an additional triangle never lowers the disc by more than the
/// height tolerance.
#[test]
fn more_ground_never_lowers_a_wheel() {
    let mut seed = 7;
    for _ in 0..20_000 {
        let mut triangles = Vec::new();
        let mut last_height = f32::MIN;
        for _ in 0..6 {
            let middle = Vec3::new(random(&mut seed) - 0.5, random(&mut seed) - 0.5, -random(&mut seed));
            let corners = [0; 3].map(|_| {
                middle + Vec3::new(random(&mut seed) - 0.5, random(&mut seed) - 0.5, 0.3 * random(&mut seed) - 0.15)
            });
            triangles.push(Triangle::flat(corners, 1.0));
            let found_height = support(&disc(), &triangles).map_or(f32::MIN, |contact| -contact.distance);
            assert!(found_height >= last_height - HEIGHT_TOLERANCE_M, "{found_height} after {last_height}");
            last_height = last_height.max(found_height);
        }
    }
}

/// Checks that leaning rays aimed at corners and edges of a wavy grid hit the ground at the aimed distance (0.8 m), and
/// that discs on these rays stand there or higher. The 16 cells around the aim are given.
#[test]
fn no_ray_and_no_disc_falls_between_triangles() {
    let mut seed = 3;
    let wave = |x: f32, y: f32| 0.1 * (math::sin_cos(3.1 * x).0 + math::sin_cos(2.3 * y).1);
    for k in 0..20_000 {
        // The leaning ray aims at a corner or an edge of cells of 0.3 m.
        let edge_share = if k % 2 == 0 { 0.0 } else { random(&mut seed) };
        let direction = Vec3::new(random(&mut seed) - 0.5, random(&mut seed) - 0.5, -1.0).normalize();
        let cell = |i: i32, j: i32| Vec3::new(0.3 * i as f32, 0.3 * j as f32, wave(i as f32, j as f32));
        let [a, b] = [cell(0, 0), cell(1, k % 2)];
        let start = a + (b - a) * edge_share - direction * 0.8;
        let mut triangles = Vec::new();
        for i in -2..2 {
            for j in -2..2 {
                let corners =
                    [cell(i, j), cell(i + 1, j), cell(i + 1, j + 1), cell(i, j + 1)].map(|corners| corners - start);
                triangles
                    .extend([[0, 1, 2], [0, 2, 3]].map(|indices| Triangle::flat(indices.map(|c| corners[c]), 1.0)));
            }
        }
        let ray = Probe { direction, ..wheel(None) };
        let contact = support(&ray, &triangles).expect("a ray at the ground meets it");
        assert!((contact.distance - 0.8).abs() < 1e-6, "{}", contact.distance);
        let rim = disc().rim.map(|rim| Rim {
            forward: direction.any_orthonormal_vector(),
            radius: 0.1,
            last_ray_length: 0.8,
            ..rim
        });
        let contact = support(&Probe { rim, ..ray }, &triangles).expect("a disc at the ground meets it");
        assert!(contact.distance < 0.8 + 1e-6, "{}", contact.distance);
    }
}

/// Checks that the normal at four places of a smooth ridge is that of the arch at the contact point, also across the
/// edge of both faces.
#[test]
fn smooth_normals_go_over_from_face_to_face() {
    // Two faces of a ridge, with the normals of an arch through their corners.
    let points = [[-0.3, -0.03], [0.0, 0.0], [0.3, -0.03]];
    let triangles = strip(&points, [0.0, GROUND_HEIGHT_M]);
    let normal = |x: f32| Vec3::new(x / 3.0, 0.0, 1.0).normalize();
    for x in [-0.2, -0.1, 0.0, 0.15] {
        // The ridge, moved so that the disc is at x.
        let triangles: Vec<_> =
            triangles.iter().map(|t| Triangle { corners: t.corners.map(|c| c - Vec3::X * x), ..*t }).collect();
        let smooth = |t: &Triangle| SmoothSurface { normals: t.corners.map(|c| normal(c.x + x)), edges: [true; 3] };
        let (_, contact) = probe_contact(&disc(), &triangles, |t| Some(smooth(t))).expect("ground below");
        let point = contact.point.expect("rims say where").x + x;
        assert!((contact.normal - normal(point)).length() < 1e-3, "{x}: {:?} at {point}", contact.normal);
    }
}

/// Builds 16 cells of random heights from −0.4 m to 0.6 m around the end of a ray. The two rightmost grid lines are 0.4
/// m higher; the cells before them, 10 mm wide, are a wall.
fn cells(seed: &mut u32) -> Vec<GridCell> {
    let grid_lines = [-0.4, -0.05, 0.25, 0.26, 0.6];
    let heights: Vec<f32> =
        (0..25).map(|k| GROUND_HEIGHT_M + 0.2 * random(seed) + if k % 5 < 3 { 0.0 } else { 0.4 }).collect();
    let cell = |i: usize| {
        let (column, row) = (i % 4, i / 4);
        let height_at = |column: usize, row: usize| heights[5 * row + column];
        let z = [
            height_at(column, row),
            height_at(column + 1, row),
            height_at(column + 1, row + 1),
            height_at(column, row + 1),
        ];
        let line_pair = |k: usize| [grid_lines[k], grid_lines[k + 1]];
        GridCell { x: line_pair(column), y: line_pair(row), z, source: [1, 2 * i as u32], grip: 1.0 }
    };
    (0..16).map(cell).collect()
}

/// Checks that a collector returns bit-identical ground and wall contacts for cells and for single triangles of the
/// same ground as the functions for a slice do. Uses rays and rims without width, with flat and with round treads, half
/// of them with load sharing, on 4000 random grounds. Also checks that enough of the probes find ground and walls.
#[test]
fn cells_and_triangles_that_come_one_by_one_are_felt_like_those_side_by_side() {
    let mut seed = 11;
    let (mut ground_count, mut wall_count) = (0, 0);
    for k in 0..4_000 {
        let cells = cells(&mut seed);
        let triangles: Vec<Triangle> = cells.iter().flat_map(GridCell::triangles).collect();
        let rim = disc().rim.map(|rim| {
            let (half_width, has_round_tread) = [(0.0, false), (0.1, false), (0.1, true)][k % 3];
            Rim {
                half_width,
                has_round_tread,
                last_ray_length: 0.4 + 0.4 * random(&mut seed),
                load_displacement: 2e-3 * (k % 2) as f32,
                ..rim
            }
        });
        let direction = Vec3::new(0.2 * random(&mut seed), 0.2 * random(&mut seed), -1.0).normalize();
        for rim in [None, rim.map(|rim| Rim { forward: direction.cross(Vec3::NEG_Y).normalize(), ..rim })] {
            let probe = Probe { direction, ..wheel(rim) };
            let expected =
                probe_contact(&probe, &triangles, |_| None).map(|(triangle, contact)| (triangles[triangle], contact));
            let contact = expected.as_ref().map(|(_, contact)| contact);
            let wall = wall_contact(&probe, &triangles, contact).map(|(triangle, point)| (triangles[triangle], point));
            for as_cells in [false, true] {
                let mut buffer = Vec::new();
                let mut collector = TriangleCollector::new(&probe, &mut buffer);
                if as_cells {
                    cells.iter().for_each(|cell| collector.visit_cell(cell));
                } else {
                    triangles.iter().for_each(|triangle| collector.visit(triangle));
                }
                let found = collector.ground_contact(|_| None).map(|(triangle, contact)| (*triangle, contact));
                assert_eq!(found, expected, "{k}");
                let found = collector.wall_contact(contact).map(|(triangle, point)| (*triangle, point));
                assert_eq!(found, wall, "{k}");
            }
            (ground_count, wall_count) =
                (ground_count + usize::from(expected.is_some()), wall_count + usize::from(wall.is_some()));
        }
    }
    assert!(ground_count > 6_000 && wall_count > 300, "{ground_count} {wall_count}");
}
