//! Fit of coefficients to tables of forces.

use skidpad_core::tyre::magic_formula::{UseMode, Version};
use skidpad_core::tyre::{Conditions, MagicFormula, PreparedTyre, TyreModel};
use skidpad_spec::FaultKind;
use skidpad_spec::tir::{self, fit};

/// Computes the samples of a test of `tyre`: sweeps of each slip and of both, at several loads and cambers. `offset` shifts the grid,
/// for samples that the fit does not use.
fn measure(tyre: &MagicFormula, offset: f64) -> Vec<fit::Sample> {
    let nominal = f64::from(tyre.coefficients().fnomin);
    let mut samples = Vec::new();
    for load in [0.4, 0.8, 1.2, 1.8].map(|share| (share - offset) * nominal) {
        for camber in [-0.06, 0.0, 0.06] {
            let mut add =
                |slip_ratio: f64, slip_angle: f64| samples.push(measured(tyre, slip_ratio, slip_angle, camber, load));
            for i in -15..=15 {
                add((f64::from(i) + offset) * 0.02, 0.0);
                add(0.0, (f64::from(i) + offset) * 0.015);
            }
            for i in -3..=3 {
                for j in -3..=3 {
                    add(f64::from(i) * 0.08 + offset * 0.01, f64::from(j) * 0.05 + offset * 0.01);
                }
            }
        }
    }
    samples
}

fn measured(tyre: &MagicFormula, slip_ratio: f64, slip_angle: f64, camber: f64, load: f64) -> fit::Sample {
    let conditions =
        Conditions { camber: camber as f32, ..Conditions::upright(load as f32, tyre.coefficients().longvl) };
    let slip = [slip_ratio as f32, -slip_angle.tan() as f32];
    let force = tyre.prepare(&conditions).force(slip).force.map(f64::from);
    let aligning = f64::from(tyre.moments(&tyre.prepare(&conditions), slip).aligning);
    let [fx, fy, mz] = [force[0], force[1], aligning].map(Some);
    fit::Sample { slip_ratio, slip_angle, camber, load, pressure: 0.0, fx, fy, mz }
}

/// Checks the fit of a usual tyre to samples of the shipped tyre `name`: its forces are within 1 % of their peak, at points that the
/// fit does not use.
#[track_caller]
fn closes(name: &str, version: Version) {
    let truth = tir::load(name).expect("shipped").tyre;
    let (nominal, radius) = (truth.coefficients().fnomin, truth.coefficients().unloaded_radius);
    let start = fit::typical_coefficients(version, nominal, radius);
    let start = MagicFormula::new(start, version, UseMode::Combined).expect("sound");
    let fitted = fit::fit(&start, &measure(&truth, 0.0)).expect("enough rows");
    let unseen = fit::fit_errors(&fitted.tyre, &measure(&truth, 0.5 / 10.0));
    println!(
        "{name}: start {:?}\n{name}: fit {:?}\n{name}: unseen {unseen:?}",
        fit::fit_errors(&start, &measure(&truth, 0.0)).max,
        fitted.errors
    );
    assert!(unseen.max.iter().all(|&worst| worst < 0.01), "{unseen:?}");
}

#[test]
fn the_books_tyre_is_found_again() {
    closes("pacejka_book_defaults", Version::Mf61);
}

#[test]
fn a_tyre_with_every_shift_is_found_again() {
    closes("opentire_235_60r16", Version::Mf52);
}

/// Checks that a fit to readings that scatter by ±2 % of the peak finds the forces of the tyre within half of that.
#[test]
fn scatter_averages_out() {
    let truth = tir::load("pacejka_book_defaults").expect("shipped").tyre;
    let mut state = 1u32;
    let mut scatter = |value: Option<f64>, peak: f64| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        value.map(|value| value + peak * 0.02 * (f64::from(state) / f64::from(u32::MAX) * 2.0 - 1.0))
    };
    let mut samples = measure(&truth, 0.0);
    for sample in &mut samples {
        (sample.fx, sample.fy, sample.mz) = (scatter(sample.fx, 7e3), scatter(sample.fy, 7e3), None);
    }
    let start =
        MagicFormula::new(fit::typical_coefficients(Version::Mf61, 4000.0, 0.3135), Version::Mf61, UseMode::Combined);
    let fitted = fit::fit(&start.expect("sound"), &samples).expect("enough rows");
    let unseen = fit::fit_errors(&fitted.tyre, &measure(&truth, 0.05));
    println!("scatter: {:?}, unseen {unseen:?}", fitted.errors);
    assert!(unseen.max[..2].iter().all(|&worst| worst < 0.01), "{unseen:?}");
}

#[test]
fn tables_are_read_or_faulted() {
    let text = "# drum, 2.2 bar\nload_n, slip_ratio,slip_angle_rad,camber_rad,fx_n,run,fy_n\n4000,0.1,0,0,3500,7,\n4000,0,0.1,0,,8,-3000\r\n";
    let samples = fit::read_samples("table.csv", text).expect("sound");
    assert_eq!(samples.len(), 2);
    assert_eq!((samples[0].fx, samples[0].fy, samples[0].load), (Some(3500.0), None, 4000.0));
    assert_eq!((samples[1].fx, samples[1].fy, samples[1].slip_angle), (None, Some(-3000.0), 0.1));

    let text = "slip_ratio,slip_angle_rad,load_n,fx_n\n0.1,0,4000,3500\n0.1,zero,4000,1e99\n0.1,0\n";
    let faults = fit::read_samples("table.csv", text).expect_err("faults");
    let found: Vec<_> = faults.list().iter().map(|f| (f.kind, f.path.as_str(), f.line, f.column)).collect();
    let expected = [
        (FaultKind::MissingKey, "camber_rad", 1, 1),
        (FaultKind::WrongType, "slip_angle_rad", 3, 5),
        (FaultKind::WrongType, "fx_n", 3, 15),
        (FaultKind::WrongType, "line", 4, 1),
    ];
    assert_eq!(found, expected);
    assert!(fit::read_samples("empty.csv", "").is_err());
}

#[test]
fn a_table_with_too_little_is_refused() {
    let tyre = tir::load("pacejka_book_defaults").expect("shipped").tyre;
    let few: Vec<_> = measure(&tyre, 0.0).into_iter().take(10).collect();
    assert_eq!(fit::fit(&tyre, &few).expect_err("too few"), fit::FitError::TooFewRows);
}

/// Checks that a stage needs two rows for each coefficient that it fits, with those of the version of the tyre: Fx at
/// pure slip has 15 coefficients in all versions and 4 more in MF 6.1.
#[test]
fn each_coefficient_of_the_version_needs_two_rows() {
    for (name, count) in [("pacejka_book_defaults", 19), ("opentire_235_60r16", 15)] {
        let tyre = tir::load(name).expect("shipped").tyre;
        let rows = |count: usize| -> Vec<fit::Sample> {
            let pure = (0..count).map(|k| measured(&tyre, k as f64 * 0.01 - 0.15, 0.0, 0.0, 3000.0 + 50.0 * k as f64));
            pure.map(|sample| fit::Sample { fy: None, mz: None, ..sample }).collect()
        };
        assert_eq!(fit::fit(&tyre, &rows(2 * count - 1)).err(), Some(fit::FitError::TooFewRows), "{name}");
        assert!(fit::fit(&tyre, &rows(2 * count)).is_ok(), "{name}");
    }
}
