//! Forces and moments of two tyres, compared with other programs.
//!
//! The tables in `data/tyres` contain a part of the rows of grids over load, slip, camber and pressure. Two independent programs
//! computed each value and agree (forces to 1e-7 of peak, Mz to 1e-7), see `data/tyres/README.md`. To run the tests on longer
//! tables with these columns, set `SKIDPAD_TYRE_TABLES` to their folder.

use skidpad_core::tyre::{Conditions, MagicFormula, PreparedTyre, TyreModel};
use skidpad_spec::tir;
use std::collections::BTreeMap;

/// Rows of a table by column name.
type Rows = Vec<BTreeMap<String, f64>>;

fn table(name: &str) -> Rows {
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/data/tyres");
    let folder = std::env::var("SKIDPAD_TYRE_TABLES").unwrap_or_else(|_| here.to_owned());
    let text = std::fs::read_to_string(format!("{folder}/{name}.csv")).expect("the table is there");
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let row = |line: &str| {
        let values = line.split(',').map(|value| value.parse().expect("a number"));
        columns.iter().map(|c| (*c).to_owned()).zip(values).collect()
    };
    lines.map(row).collect()
}

/// Computes the values of the formula for the inputs of a row, by column name.
fn computed(tyre: &MagicFormula, row: &BTreeMap<String, f64>) -> BTreeMap<&'static str, f64> {
    let at = |name: &str| row[name] as f32;
    let conditions = Conditions {
        load: at("Fz_N"),
        grip: 1.0,
        camber: at("gamma_rad"),
        speed: tyre.coefficients().longvl,
        pressure: at("p_Pa"),
    };
    let slip = [at("kappa"), -(row["alpha_rad"].tan()) as f32];
    let point = tyre.prepare(&conditions);
    let force = point.force(slip).force;
    let moments = tyre.moments(&tyre.prepare(&conditions), slip);
    let lengths = point.relaxation();
    let spin = conditions.speed / tyre.coefficients().unloaded_radius;
    let values = [
        ("Fx", force[0]),
        ("Fy", force[1]),
        ("Mz", moments.aligning),
        ("Mx1", moments.overturning),
        ("My1", moments.rolling),
        ("Re1", tyre.radii(&conditions, spin, force).effective),
        ("sigma_x1", lengths[0]),
        ("sigma_y1", lengths[1]),
    ];
    values.into_iter().map(|(name, value)| (name, f64::from(value))).collect()
}

/// Checks that the largest difference in each column is less than its bound, as a share of the largest value of the column.
#[track_caller]
fn check(tyre: &str, grid: &str, bounds: &[(&str, f64)]) {
    let model = tir::load(tyre).expect("shipped").tyre;
    let rows = table(&format!("{tyre}__{grid}"));
    let found: Vec<_> = rows.iter().map(|row| computed(&model, row)).collect();
    for &(column, bound) in bounds {
        let peak = rows.iter().map(|row| row[column].abs()).fold(0.0, f64::max);
        let (worst, at) = rows
            .iter()
            .zip(&found)
            .map(|(row, found)| ((row[column] - found[column]).abs() / peak.max(1e-9), row))
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .expect("rows");
        println!("{tyre} {grid} {column}: {worst:.2e} of {peak:.4}");
        assert!(worst < bound, "{tyre} {grid} {column}: {worst:.2e} of {peak} at {at:?}");
    }
}

const OPENTIRE: &str = "opentire_235_60r16";
const BOOK: &str = "pacejka_book_defaults";

#[test]
fn forces_of_one_slip() {
    check(OPENTIRE, "pure_fx", &[("Fx", 1e-4)]);
    check(
        OPENTIRE,
        "pure_fy_mz",
        &[("Fy", 1e-4), ("Mz", 1e-3), ("Mx1", 1e-4), ("Re1", 1e-4), ("sigma_x1", 1e-4), ("sigma_y1", 1e-4)],
    );
    check(BOOK, "pure_fx", &[("Fx", 1e-4)]);
    check(
        BOOK,
        "pure_fy_mz",
        &[("Fy", 1e-4), ("Mz", 1e-3), ("Mx1", 1e-4), ("Re1", 1e-4), ("sigma_x1", 1e-4), ("sigma_y1", 1e-4)],
    );
}

#[test]
fn forces_of_both_slips() {
    let forces = [("Fx", 1e-3), ("Fy", 1e-3), ("Mz", 1e-3), ("Mx1", 1e-3)];
    check(OPENTIRE, "combined", &forces);
    check(OPENTIRE, "combined", &[("My1", 1e-3)]);
    check(BOOK, "combined", &forces);
    check(BOOK, "combined", &[("My1", 1e-3)]);
}

#[test]
fn forces_at_other_pressures() {
    check(BOOK, "pressure", &[("Fx", 1e-3), ("Fy", 1e-3), ("Mz", 1e-3)]);
}

/// Checks the named points of a symmetric tyre and of a tyre with every shift.
#[test]
fn named_points() {
    for tyre in [BOOK, OPENTIRE] {
        check(tyre, "spots", &[("Fx", 1e-4), ("Fy", 1e-4), ("Mz", 1e-3)]);
    }
}
