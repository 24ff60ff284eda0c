//! OpenCRG roads: comparison with the independent evaluator pyopencrg 0.2.2 (`make.py`), and faults.

use super::{faults, scene, shipped};
use proptest::prelude::*;
use skidpad_core::DVec3;
use skidpad_spec::crg::CrgRoad;

const CURVED: &str = include_str!("curved.crg");
const ROAD: &str = "[[crg]]\nfile = \"a.crg\"\n";

fn road(text: &str) -> CrgRoad {
    CrgRoad::read("road.crg", text.as_bytes()).unwrap_or_else(|faults| panic!("{}", faults.to_text()))
}

/// Checks a straight road with slope and banking against the values of pyopencrg.
#[test]
fn the_surface_is_that_of_the_format() {
    let known = road(include_str!("known.crg"));
    let known_answers = [
        ([0.5, 0.25], [0.403788192897, 0.386594225612, 0.0475], [-0.063759153, -0.030164462, 0.997509336]),
        ([1.5, -0.5], [1.580764837019, -0.034387934571, 0.0875], [-0.036180614, -0.068589947, 0.996988657]),
        ([2.75, 0.9], [2.361207159100, 1.672483408532, 0.1635], [-0.047081484, -0.030240683, 0.998433190]),
    ];
    for ([u, v], position, normal) in known_answers {
        let found = known.evaluate_at(u, v).expect("on the road");
        assert!((found.position - DVec3::from_array(position)).length() < 1e-11, "{found:?}");
        assert!((found.normal - DVec3::from_array(normal)).length() < 1e-8, "{found:?}");
    }
    for (u, v) in [(-0.1, 0.0), (3.1, 0.0), (1.0, 1.1), (1.0, -1.1), (f64::NAN, 0.0), (0.0, f64::NAN)] {
        assert_eq!(known.evaluate_at(u, v), None, "{u}, {v}");
    }
}

/// Checks a curved line with variable slope and banking, unevenly spaced long sections, and missing heights.
#[test]
fn curved_roads_are_those_of_another_evaluator() {
    let short = CrgRoad::read("short.crg", include_bytes!("curved_short.crg")).expect("valid");
    for (of, most) in [(road(CURVED), 1e-9), (short, 1e-6)] {
        for line in include_str!("curved.csv").lines().skip(1) {
            let row: Vec<f64> = line.split(',').map(|word| word.parse().expect("a number")).collect();
            let found = of.evaluate_at(row[0], row[1]).expect("on the road");
            let off = (found.position - DVec3::new(row[2], row[3], row[4])).length();
            assert!(off < most, "{line}: {found:?}");
            let off = (found.normal - DVec3::new(row[5], row[6], row[7])).length();
            assert!(off < most, "{line}: {found:?}");
        }
    }
    // Beside a missing height a point is on the road if existing heights have the whole weight of the interpolation.
    let of = road(CURVED);
    assert_eq!(of.evaluate_at(2.2, 2.4), None);
    assert!(of.evaluate_at(2.2, 1.0).is_some() && of.evaluate_at(3.5, 2.5).is_some());
}

#[test]
fn a_curved_road_is_a_mesh_through_its_grid() {
    let loaded =
        scene(&format!("{ROAD}origin_m = [1, 2, 3]\ngrip = 0.8\n"), &[("a.crg", CURVED.as_bytes())]).expect("valid");
    assert!(loaded.scene.height_fields.is_empty());
    let mesh = &loaded.scene.meshes[0];
    // Missing heights remove both triangles of two of the 20 x 4 cells, and one triangle of a third cell.
    assert_eq!(mesh.triangles().len(), 160 - 5);
    let road = road(CURVED);
    for (i, corner) in mesh.vertices().iter().enumerate() {
        let (u, v) = (2.0 + 0.5 * (i / 5) as f64, road.long_section_v()[i % 5]);
        if let Some(point) = road.evaluate_at(u, v) {
            let found = mesh.origin() + corner.as_dvec3();
            assert!((found - point.position - DVec3::new(1.0, 2.0, 3.0)).length() < 1e-6, "{u}, {v}: {found}");
        }
    }
    assert!(mesh.grips().iter().all(|&grip| grip == 0.8));
}

#[test]
fn a_straight_road_along_x_is_a_field_of_heights() {
    let text =
        include_str!("known.crg").replace("2.9999999999999993e-01", "0.0").replace("2.8660094673768182e+00", "3.0");
    let text = text.replace("8.8656061998401858e-01", "0.0");
    let loaded = scene(&format!("{ROAD}origin_m = [1, 2, 3]\n"), &[("a.crg", text.as_bytes())]).expect("valid");
    assert!(loaded.scene.meshes.is_empty());
    let (field, road) = (&loaded.scene.height_fields[0], road(&text));
    assert_eq!((field.counts(), field.spacing()), ([4, 3], [1.0, 1.0]));
    for (column, row) in [(0, 0), (1, 1), (3, 2), (2, 0)] {
        let at = road.evaluate_at(column as f64, row as f64 - 1.0).expect("on the road").position
            + DVec3::new(1.0, 2.0, 3.0);
        let z = field.origin().z + f64::from(field.height(column, row));
        assert!((z - at.z).abs() < 1e-7 && field.origin().y + row as f64 == at.y, "{column}, {row}: {z} of {at}");
    }
}

#[test]
fn the_shipped_bend_turns_and_is_banked() {
    let mesh = &shipped("scenes/bend.toml").scene.meshes[0];
    assert_eq!(mesh.triangles().len(), 2 * 100 * 8);
    let normal = mesh.smooth_normals(mesh.triangles().len() as u32 / 2).expect("smooth").normals[0];
    // The left side is higher. It is the inner side of the bend.
    assert!((0.9..1.0).contains(&normal.z) && normal.truncate().length() > 0.04, "{normal}");
}

/// Checks the fault that each change of a valid file causes.
#[test]
fn what_is_not_understood_is_refused_by_name() {
    let with = |block: &str| CURVED.replace("$KD_DEFINITION", &format!("{block}\n$KD_DEFINITION"));
    let changed = |from: &str, to: &str| CURVED.replacen(from, to, 1);
    for (text, part) in [
        (with("$ROAD_CRG_MODS\nscale_z_grid = 2\n$"), "`scale_z_grid` is given, but must be absent, because modifiers"),
        (
            with("$ROAD_CRG_OPTS\nborder_mode_u = 2\n$"),
            "`border_mode_u` is given, but must be absent or 0, because options",
        ),
        (with("$ROAD_CRG_FILE\nother.crg\n$"), "`ROAD_CRG_FILE` is given, but must be absent, because references"),
        (with("$SHAKY\n$"), "unknown key `SHAKY`"),
        (changed("reference_line_start_z", "reference_line_start_q"), "unknown key `reference_line_start_q`"),
        (changed("#:LDFI", "#:KRBI"), "KRBI is a binary format"),
        (changed("#:LDFI", "#:XYZ"), "`#:` is \"XYZ\", but must be `LRFI` or `LDFI`"),
        (changed("phi,rad", "phi,deg"), "`D:` is \"reference line phi,deg\""),
        (
            changed("reference_line_increment  =   5.0", "reference_line_increment  =   0.0"),
            "`reference_line_increment`: 0",
        ),
        (
            changed("reference_line_end_u      =   1.2", "reference_line_end_u      =   2.2"),
            "21 cross-sections end at u = 12 m",
        ),
        (
            changed("reference_line_end_x      =   1.07", "reference_line_end_x      =   1.17"),
            "the reference line ends 10.0",
        ),
        (
            changed("reference_line_end_z      =   2.97", "reference_line_end_z      =   9.97"),
            "`reference_line_end_z`: the reference line ends 7.0",
        ),
        (changed("at v = 0.250000", "at v = -0.50000"), "long sections at equal positions"),
        (changed("at v = 0.250000", "3"), "long sections both by number and by position"),
        (
            changed("long_section_v_left       =   2.5", "long_section_v_left       =   3.5"),
            "`long_section_v_left` differs from the 2.5 m",
        ),
        (changed(" .452432000000000640", " .45243200x000000640"), "must be a number of 20 characters"),
        (changed(" .452432000000000640", "********************"), "a heading or a slope is missing"),
        (
            changed("reference_line_end_x ", "* ").replace(" .452432000000000640", "9.452432000000000640"),
            "turns by 90°",
        ),
        (CURVED[..CURVED.len() - 100].to_owned(), "the last cross-section has 4 of 8 values"),
        (CURVED.split("$$$$").next().unwrap_or("").to_owned(), "the header has no final line of `$$$$`"),
        (String::new(), "the header has no final line of `$$$$`"),
    ] {
        let told = faults(ROAD, &[("a.crg", text.as_bytes())]);
        assert!(told.contains(part), "{part}: {told}");
    }
    let told = faults(ROAD, &[("a.crg", include_bytes!("binary.crg"))]);
    assert!(told.contains("KRBI is a binary format"), "{told}");
    // Settings without effect within a road are accepted.
    road(&with("$ROAD_CRG_OPTS\nborder_mode_u = 0\ncheck_eps = 1e-6\n$\n$ROAD_CRG_MODS\n$"));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutants_are_roads_or_have_faults(changes in prop::collection::vec(crate::mutations::change(), 1..5)) {
        for text in [CURVED, include_str!("known.crg"), include_str!("curved_short.crg")] {
            let text = changes.iter().fold(text.to_owned(), |text, change| crate::mutations::apply(&text, change));
            if let Ok(road) = CrgRoad::read("a.crg", text.as_bytes()) {
                let ([low, high], v) = (road.u_range(), road.long_section_v());
                for share in [0.0, 0.3, 1.0] {
                    let at = road.evaluate_at(low + share * (high - low), v[0] + share * (v[v.len() - 1] - v[0]));
                    prop_assert!(at.is_none_or(|at| at.position.is_finite() && at.normal.is_finite()));
                }
            }
            let _ = scene(ROAD, &[("a.crg", text.as_bytes())]);
        }
    }
}
