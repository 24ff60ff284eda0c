//! Compares a solver of your own with the shipped ones: `cargo run --release --example own_solver [vehicle]
//! [manoeuvre]`
//!
//! The solver is a projected Gauss-Seidel iteration over the wheels of a car, in `gauss_seidel.rs`. With each iteration
//! its results approach those of `constraint`, which solves all rows together: the test `own_solver` of `tests/it/step`
//! measures the distance after 2 s.

mod gauss_seidel;

use std::ops::ControlFlow;

use gauss_seidel::GaussSeidel;
use skidpad::core::SolverInfo;
use skidpad::lab::manoeuvre::by_name;
use skidpad::lab::{Overrides, TimeStep, compare};

/// Solvers of the table.
const SOLVERS: [SolverInfo; 5] = [
    skidpad::constraint::BACKEND_INFO,
    skidpad::impulse::BACKEND_INFO,
    GaussSeidel::<1>::info("gs-1"),
    GaussSeidel::<2>::info("gs-2"),
    GaussSeidel::<4>::info("gs-4"),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let vehicle = arguments.next().unwrap_or_else(|| "corvette_c5".into());
    let name = arguments.next().unwrap_or_else(|| "step-steer".into());
    let model = skidpad::spec::load(&vehicle)?.model;
    let entry = by_name(&name).ok_or_else(|| format!("there is no manoeuvre `{name}`"))?;
    let manoeuvre = entry.build_standard(&Overrides::default());
    let step = TimeStep::from_rate_hz(120.0)?;
    let comparison =
        compare(&SOLVERS, &model, manoeuvre.as_ref(), &Overrides::default(), step, &|_| ControlFlow::Continue(()));
    println!("{vehicle}, {name}, 120 Hz");
    print!("{:32}", "");
    comparison.outcomes.iter().for_each(|outcome| print!("{:>12}", outcome.backend));
    println!();
    let ends: Vec<_> = comparison.outcomes.iter().map(|outcome| outcome.trajectory.last()).collect();
    print!("{:32}", "Distance to constraint (mm)");
    for end in &ends {
        print!("{:>12.4}", 1e3 * (end.x_m - ends[0].x_m).hypot(end.y_m - ends[0].y_m));
    }
    println!();
    for row in comparison.rows() {
        print!("{:32}", format!("{} ({})", row.metric.label, row.metric.unit));
        row.texts.iter().for_each(|text| print!("{text:>12}"));
        println!();
    }
    Ok(())
}
