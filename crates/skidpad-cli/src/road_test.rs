//! `skidpad road-test`: drives the published tests of a vehicle and prints the table of a magazine.

use std::process::ExitCode;

use serde_json::{Value, json};
use skidpad::core::SolverInfo;
use skidpad::lab::road_test::{DRIVEN_QUANTITIES, RoadTestRow, road_test as drive};
use skidpad::lab::verdict::Verdict;
use skidpad::spec::printable::one_line;

use crate::UNFINISHED_EXIT_CODE;
use crate::arguments::RoadTest;
use crate::compare::select_solvers;
use crate::errors::BadArgument;
use crate::failure::{Failure, Result};
use crate::output::{TABLE_INDENT, TextTable, print, print_error, print_notes};
use crate::roots::load_vehicle;
use crate::run::{create_progress_bar, parse_time_step, show_progress};

/// Drives the published tests of the vehicle on each solver, and prints the table with its sources, or a JSON object.
/// Prints a warning for each manoeuvre with a step that was not solved. Returns [`UNFINISHED_EXIT_CODE`] if a figure
/// fails or a step was not solved.
///
/// # Errors
/// Faults of the arguments and of the vehicle file, and a vehicle without published figures.
pub fn road_test(arguments: &RoadTest) -> Result<ExitCode> {
    let backends = road_test_solvers(&arguments.solvers)?;
    let vehicle = load_vehicle(&arguments.vehicle, &arguments.roots, &arguments.vehicle_changes)?;
    print_notes(&vehicle);
    let dt = parse_time_step(&arguments.step)?;
    if vehicle.spec.references.is_empty() {
        let found = format!("`{}`, which has no published figures", arguments.vehicle);
        let accepts = "a vehicle file with `[[references]]`".into();
        return Err(BadArgument { argument: "VEHICLE", found, accepts }.into());
    }
    // The progress sets the length.
    let progress_bar = create_progress_bar(0);
    let found = drive(&backends, &vehicle.model, &vehicle.spec.references, dt, &|name, progress| {
        progress_bar.set_message(name);
        show_progress(&progress_bar, progress)
    });
    progress_bar.finish_and_clear();
    if arguments.json {
        let figures: Vec<Value> = found.rows.iter().map(|row| to_json(row, &found.solvers)).collect();
        let object = json!({
            "vehicle": vehicle.spec.name,
            "rate_hz": 1.0 / dt.seconds(),
            "passed": found.has_passed(),
            "figures": figures,
        });
        print(&format!("{}\n", serde_json::to_string_pretty(&object).map_err(Failure::from_error)?))?;
    } else {
        let title = format!("{}: road test, {:.1} Hz", one_line(&vehicle.spec.name), 1.0 / dt.seconds());
        print(&format!("{title}\n\n{}", figure_table(&found.rows, &found.solvers).to_text(TABLE_INDENT)))?;
        print(&sources_text(&found.rows))?;
    }
    for (solver, manoeuvre) in &found.unsolved {
        print_error(&format!("warning: {solver}: not every step of `{manoeuvre}` was solved"));
    }
    Ok(if found.has_passed() { ExitCode::SUCCESS } else { ExitCode::from(UNFINISHED_EXIT_CODE) })
}

/// Returns the solvers called `names`; without names all solvers except those that only serve comparisons.
fn road_test_solvers(names: &[String]) -> Result<Vec<SolverInfo>> {
    let mut solvers = select_solvers(names)?;
    if names.is_empty() {
        solvers.retain(|info| !info.comparison_only);
    }
    Ok(solvers)
}

/// Returns the table: figure, unit, published value with its tolerance, value of each solver, largest deviation,
/// origin and verdict. A missing value is "-".
fn figure_table(rows: &[RoadTestRow], solvers: &[&'static str]) -> TextTable {
    // Right-aligned from column 2 on.
    let mut table = TextTable::new(2);
    let heads = ["figure", "unit", "published", "tolerance"].into_iter().chain(solvers.iter().copied());
    table.push_row(heads.chain(["deviation", "origin", "verdict"]));
    for row in rows {
        let number_text = |value: f64| row.value_text(value);
        let values = row.values.iter().map(|value| value.map_or("-".into(), number_text));
        let leading_cells = [row.label(), row.unit_text(), number_text(row.reference.value), row.tolerance_text()];
        let trailing_cells = [row.deviation_text(), row.provenance_text(), row.verdict.text().to_string()];
        table.push_row(leading_cells.into_iter().chain(values).chain(trailing_cells));
    }
    table
}

/// Returns the table of the sources of the figures. If a figure was not driven, a list of the quantities that can be
/// driven follows.
fn sources_text(rows: &[RoadTestRow]) -> String {
    // No column is right-aligned.
    let mut table = TextTable::new(usize::MAX);
    for row in rows {
        table.push_row([row.label(), row.reference.source.clone()]);
    }
    let mut text = format!("\nsources\n{}", table.to_text(TABLE_INDENT));
    if rows.iter().any(|row| row.figure.is_none()) {
        text.push_str(&format!(
            "\nnot driven: figures with another quantity or unit; V is a speed in m/s, D a distance in m: {}\n",
            DRIVEN_QUANTITIES.join(", ")
        ));
    }
    text
}

/// Returns the JSON object of a figure, with the values by solver.
fn to_json(row: &RoadTestRow, solvers: &[&'static str]) -> Value {
    let values: serde_json::Map<String, Value> =
        solvers.iter().zip(&row.values).map(|(solver, value)| ((*solver).to_owned(), json!(value))).collect();
    json!({
        "quantity": row.reference.quantity,
        "label": row.label(),
        "unit": row.reference.unit,
        "published": row.reference.value,
        "tolerance": row.reference.tolerance,
        "simulated": values,
        "largest_deviation": row.largest_deviation(),
        "provenance": row.provenance_text(),
        "source": row.reference.source,
        "verdict": match row.verdict {
            Verdict::Pass => "pass",
            Verdict::Fail => "fail",
            Verdict::NotJudged => "not judged",
        },
    })
}
