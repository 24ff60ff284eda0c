//! `skidpad compare`: runs manoeuvres on several solvers, prints tables and writes a report.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use skidpad::core::SolverInfo;
use skidpad::lab::report::{Published, Report};
use skidpad::lab::{Comparison, Manoeuvre};
use skidpad::spec::printable::one_line;

use crate::arguments::{Changes, Compare};
use crate::capabilities::capable_backends;
use crate::errors::{self, Unwritable};
use crate::failure::{Failure, Result};
use crate::output::{Table, print, print_notes, printable_path};
use crate::roots::load_vehicle;
use crate::run::{SCENE_MANOEUVRE, assists_table, health, overrides, progress_bar, setup, time_step};

/// Simulates the manoeuvres on each solver, prints a table for each manoeuvre and writes the HTML report and the CSV
/// table. Returns the exit code of [`health`]. All arguments, files and output paths are checked before the first run.
pub fn compare(asked: &Compare) -> Result<ExitCode> {
    let backends = backends(&asked.backends)?;
    let vehicle = load_vehicle(&asked.vehicle, &asked.changes.roots)?;
    print_notes(&vehicle);
    let dt = time_step(&asked.step)?;
    let overrides = overrides(&asked.changes, &vehicle.model)?;
    let backends = capable_backends(backends, !asked.backends.is_empty(), &overrides)?;
    let mut manoeuvres: Vec<Box<dyn Manoeuvre>> = Vec::new();
    let names = selected_manoeuvres(&asked.manoeuvre, &asked.changes);
    for name in &names {
        let manoeuvre = errors::find_manoeuvre(name)?.build_standard(&overrides);
        setup(manoeuvre.as_ref(), &vehicle.model, &overrides, &asked.changes, &[dt])?;
        manoeuvres.push(manoeuvre);
    }
    let [page, figures] = result_paths(&asked.out, &file_stem(&asked.vehicle, &names))?;
    print(&format!("{}, {:.1} Hz\n", one_line(&vehicle.spec.name), 1.0 / dt.seconds()))?;
    let mut comparisons = Vec::new();
    for manoeuvre in &manoeuvres {
        // The progress sets the length.
        let bar = progress_bar(0);
        bar.set_message(manoeuvre.name());
        let model = Arc::clone(&vehicle.model);
        let comparison = skidpad::lab::compare(&backends, &model, manoeuvre.as_ref(), &overrides, dt, &|progress| {
            bar.set_length(progress.total);
            bar.set_position(progress.done);
        });
        bar.finish_and_clear();
        for outcome in &comparison.outcomes {
            outcome.trajectory.check().map_err(Failure::from_error)?;
        }
        print(&table(&comparison))?;
        comparisons.push(comparison);
    }
    let published: Vec<Published> = vehicle
        .spec
        .references
        .iter()
        .map(|r| Published {
            quantity: r.quantity.clone(),
            value: r.value,
            unit: r.unit.clone(),
            source: r.source.clone(),
        })
        .collect();
    let report = Report {
        vehicle: &vehicle.spec.name,
        description: &vehicle.spec.description,
        model: &vehicle.model,
        published: &published,
        backends: &backends,
        comparisons: &comparisons,
    };
    report.save_html(&page).map_err(Unwritable::from)?;
    report.save_csv(&figures).map_err(Unwritable::from)?;
    print(&format!("\nreport   {}\nfigures  {}\n", printable_path(&page), printable_path(&figures)))?;
    let outcomes = comparisons.iter().flat_map(|comparison| &comparison.outcomes);
    Ok(health(outcomes.map(|outcome| (outcome.backend, outcome.peer, &outcome.trajectory, outcome.incomplete))))
}

/// Returns the `named` manoeuvres, unchecked. Without names returns step steer and braking, or [`SCENE_MANOEUVRE`] if
/// there is a scene.
pub fn selected_manoeuvres(named: &[String], changes: &Changes) -> Vec<String> {
    match (named, &changes.scene) {
        ([], None) => ["step-steer", "braking"].map(String::from).into(),
        ([], Some(_)) => vec![SCENE_MANOEUVRE.into()],
        _ => named.to_vec(),
    }
}

/// Returns the solvers called `names` in this order, without repetitions; all solvers without variants if `names` is
/// empty. An unknown name is an error.
pub fn backends(names: &[String]) -> Result<Vec<SolverInfo>> {
    if names.is_empty() {
        return Ok(skidpad::solvers());
    }
    let mut chosen: Vec<SolverInfo> = Vec::new();
    for name in names {
        let info = errors::find_backend(name)?;
        if !chosen.iter().any(|c| c.name == info.name) {
            chosen.push(info);
        }
    }
    Ok(chosen)
}

/// Returns the table of a comparison: figures in rows, a column for each solver, and the spread between the solvers
/// that are no peers. Peers are marked with `*`. The tables of assists follow.
fn table(comparison: &Comparison) -> String {
    // Right-aligned from column 1 on.
    let mut table = Table::new(1);
    // Heads of the columns.
    let names = comparison.outcomes.iter().map(|o| if o.peer { format!("{}*", o.backend) } else { o.backend.into() });
    table.row(["".to_string(), "unit".into()].into_iter().chain(names).chain(["spread".to_string()]));
    for row in comparison.rows() {
        let start = [row.metric.label.clone(), row.metric.unit.to_string()];
        table.row(start.into_iter().chain(row.texts.iter().cloned()).chain([row.spread.text()]));
    }
    let mut text = format!("\n{}: {}\n\n{}", comparison.manoeuvre, comparison.about, table.text(2));
    if comparison.outcomes.iter().any(|o| o.peer) {
        text.push_str("  * a peer, not counted in the spread\n");
    }
    for outcome in &comparison.outcomes {
        text.push_str(&assists_table(outcome.backend, &outcome.trajectory));
    }
    text
}

/// Returns the paths of the HTML report and the CSV table called `stem` in `folder`, after checking that they can be
/// written.
pub fn result_paths(folder: &Path, stem: &str) -> Result<[PathBuf; 2], Unwritable> {
    let named = ["html", "csv"].map(|kind| folder.join(format!("{stem}.{kind}")));
    errors::check_writable(named.iter().map(PathBuf::as_path))?;
    Ok(named)
}

/// Returns the file stem of a report from the name or path of a vehicle and the manoeuvres, such as
/// `corvette_c5_step-steer_braking`.
pub fn file_stem(vehicle: &str, manoeuvres: &[String]) -> String {
    let name = Path::new(vehicle).file_stem().map_or_else(|| "vehicle".into(), |stem| stem.to_string_lossy());
    format!("{name}_{}", manoeuvres.join("_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_after_what_is_in_them() {
        let names = ["step-steer".to_string(), "braking".to_string()];
        assert_eq!(file_stem("corvette_c5", &names), "corvette_c5_step-steer_braking");
        assert_eq!(file_stem("my/cars/van.toml", &names[..1]), "van_step-steer");
    }

    #[test]
    fn backends_are_chosen_once_and_unknown_ones_refused() {
        let ask = |names: &[&str]| backends(&names.iter().map(|n| n.to_string()).collect::<Vec<_>>());
        assert_eq!(ask(&["impulse", "impulse"]).expect("known").len(), 1);
        assert_eq!(ask(&[]).expect("all").len(), skidpad::solvers().len());
        let refused = format!("{:?}", ask(&["impulze"]).expect_err("unknown"));
        assert!(refused.contains("impulse"), "{refused}");
    }
}
