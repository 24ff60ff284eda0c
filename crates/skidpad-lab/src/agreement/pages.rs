//! Agreement as Markdown pages: a summary of all vehicles, and one page per vehicle with every metric.

use std::fmt::Write as _;

use super::*;
use crate::compare::POSITION_NOISE_MM;

/// Page of Markdown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// File name of the page.
    pub file: String,
    /// Content of the page.
    pub text: String,
}

/// Spread below which a summary names no metric (%).
const MIN_NAMED_SPREAD_PERCENT: f64 = 0.01;

/// Definition of the spread in the tables.
const SPREAD_DEFINITION: &str = "Spread is the largest less the smallest value of the solvers that are no peers, over the size of the \
mean; of figures that are percentages, in points.";

/// File name of the page about all vehicles.
pub const SUMMARY_PAGE: &str = "agreement.md";

/// Returns the page about all vehicles, [`SUMMARY_PAGE`], and one page per vehicle, from runs at
/// [`REQUIRED_RATES_HZ`]. The first page has a summary table per vehicle after the content of [`summary_page_start`].
pub fn pages(runs: &[Runs]) -> Vec<Page> {
    let mut text = summary_page_start(runs);
    append(&mut text, format_args!("## Each vehicle\n\n{}\n", column_explanation()));
    for runs in runs {
        append_summary(&mut text, runs);
    }
    let summary_page = Page { file: SUMMARY_PAGE.into(), text };
    std::iter::once(summary_page).chain(runs.iter().map(vehicle_page)).collect()
}

/// Returns the beginning of the page about all vehicles: definitions, accepted spreads and exceptions at
/// [`AGREEMENT_RATE_HZ`], orders of convergence, and intended differences of the solvers.
pub fn summary_page_start(runs: &[Runs]) -> String {
    let mut text = format!("# Agreement between the solvers\n\n{}\n\n", generation_note());
    append(
        &mut text,
        format_args!(
            "Every shipped vehicle drives every standard manoeuvre on every solver. {SPREAD_DEFINITION} {}\n\n",
            noise_rules()
        ),
    );
    text += &acceptance(runs);
    convergence::append_section(&mut text, runs);
    shared_simplifications::append_section(&mut text, runs);
    text
}

/// Appends formatted text.
pub(super) fn append(text: &mut String, arguments: core::fmt::Arguments<'_>) {
    let result = text.write_fmt(arguments);
    debug_assert!(result.is_ok(), "a String takes any text");
}

/// Appends a row of a Markdown table. Vertical bars in cells are escaped.
pub(super) fn append_row(text: &mut String, cells: impl IntoIterator<Item = String>) {
    text.push('|');
    for cell in cells {
        append(text, format_args!(" {} |", cell.replace('|', "\\|")));
    }
    text.push('\n');
}

/// Appends the head of a table whose first `text_columns` columns are aligned as text and the others as numbers.
pub(super) fn append_head(text: &mut String, cells: &[String], text_columns: usize) {
    append_row(text, cells.iter().cloned());
    text.push('|');
    for i in 0..cells.len() {
        text.push_str(if i < text_columns { "---|" } else { "---:|" });
    }
    text.push('\n');
}

/// Returns the note on how the pages are written.
fn generation_note() -> &'static str {
    "Written by `cargo xtask agreement`, not by hand, with a page of every figure for each vehicle in `target/agreement`. `cargo \
     xtask ci` fails when what is judged here is out of date."
}

/// Returns the rules for values that count as equal, and for the extrapolation.
fn noise_rules() -> String {
    format!(
        "Lengths in millimetres within {POSITION_NOISE_MM} mm count as equal, and so do times less than half a step apart. The limit is \
         extrapolated from {} and {} Hz.",
        EXTRAPOLATION_RATES_HZ[0], EXTRAPOLATION_RATES_HZ[1]
    )
}

/// Returns the explanation of the columns of [`append_summary`].
fn column_explanation() -> String {
    format!(
        "The largest spread of any figure at each rate and in the limit, and which figure that is; “-” where all count as \
         equal. Friction is the largest share of its friction a loaded tyre used on any solver at {AGREEMENT_RATE_HZ} Hz. Order is the \
         median, over solvers and figures, of the observed order of convergence, by the differences between neighbouring rates of \
         {} Hz. In brackets: of how many it could be observed, and for how many the differences are closed, below the rules above or \
         the digits shown. Figures that hang on an event (a gear change, the step a peak falls on, the last tremor of a car coming \
         to rest) jump with the step and show no order.\n",
        REQUIRED_RATES_HZ.map(|hz| hz.to_string()).join(", ")
    )
}

/// Returns the section on the accepted spreads at [`AGREEMENT_RATE_HZ`]. Its table has a row for the runs below and
/// one for those at the limit of friction: accepted spread, number of runs and metrics, and the largest spread of the
/// metrics that do not exceed it. The metrics above the accepted spread follow in a second table.
pub fn acceptance(runs: &[Runs]) -> String {
    let text = &mut format!("## What is accepted at {AGREEMENT_RATE_HZ} Hz\n\n");
    let headings = ["run", "accepted", "runs", "figures", "largest spread", "of"].map(String::from);
    append_head(text, &headings, 1);
    let over_limits = over_limit(runs);
    for (run_kind, max_spread_percent) in [
        (format!("every tyre below {GRIP_LIMIT_UTILISATION} of its friction"), MAX_SPREAD_PERCENT),
        (format!("a tyre above {GRIP_LIMIT_UTILISATION} of its friction"), MAX_LIMIT_SPREAD_PERCENT),
    ] {
        let all_runs = runs.iter().flat_map(|runs| runs.sweeps.iter().map(move |sweep| (runs, sweep)));
        // Runs with this accepted spread.
        let limit_runs: Vec<(&Runs, &Sweep)> =
            all_runs.filter(|(_, sweep)| max_spread(sweep) == max_spread_percent).collect();
        let metric_count: usize = limit_runs.iter().map(|(_, sweep)| sweep.metrics().len()).sum();
        let is_over_limit = |runs: &Runs, sweep: &Sweep, metric: &Metric| {
            over_limits.iter().any(|over| {
                (over.vehicle, over.manoeuvre) == (&runs.vehicle, sweep.manoeuvre) && over.metric.name == metric.name
            })
        };
        let named_spreads = limit_runs.iter().flat_map(|(runs, sweep)| {
            let spreads = spreads(sweep, sample_index(sweep, AGREEMENT_RATE_HZ))
                .filter(|(metric, _)| !is_over_limit(runs, sweep, metric));
            spreads.map(|(metric, spread)| (spread, format!("{} {}: {}", runs.vehicle, sweep.manoeuvre, metric.label)))
        });
        let (spread, name_of_largest) = named_spreads.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default();
        let counts = [limit_runs.len(), metric_count].map(|count| count.to_string());
        let first_cells = [run_kind, format!("{max_spread_percent} %")].into_iter().chain(counts);
        append_row(text, first_cells.chain([format!("{spread:.2} %"), name_of_largest]));
    }
    let solvers = runs
        .iter()
        .flat_map(|runs| &runs.sweeps)
        .next()
        .map_or(Vec::new(), |sweep| solver_sweeps(sweep).map(|rate_sweep| rate_sweep.backend).collect());
    append_exceptions(text, &over_limits, &solvers);
    core::mem::take(text)
}

/// Appends the table of the metrics above the accepted spread with their values on the `solvers`, then the reasons,
/// and a line for each metric without one. Appends only a sentence if there are none.
fn append_exceptions(text: &mut String, over_limits: &[OverLimit<'_>], solvers: &[&str]) {
    if over_limits.is_empty() {
        text.push_str("\nNo figure lies above.\n\n");
        return;
    }
    append(text, format_args!("\nAbove that, and not counted in the last two columns, lie {}:\n\n", over_limits.len()));
    let solver_names = solvers.join(" / ");
    let headings = ["vehicle", "manoeuvre", "figure", "spread", &solver_names].map(String::from);
    append_head(text, &headings, 3);
    for over in over_limits {
        let first_cells =
            [over.vehicle.to_string(), over.manoeuvre.into(), format!("{}, {}", over.metric.label, over.metric.unit)];
        append_row(text, first_cells.into_iter().chain([format!("{:.1} %", over.spread), over.texts.join(" / ")]));
    }
    text.push('\n');
    for reason in KNOWN_REASONS.iter().filter(|reason| over_limits.iter().any(|over| over.reason == Some(*reason))) {
        append(text, format_args!("- **{} {}**: {}\n", reason.vehicle, reason.manoeuvre, reason.explanation));
    }
    for over in over_limits.iter().filter(|over| over.reason.is_none()) {
        append(
            text,
            format_args!("- **{} {}, {}**: no reason known.\n", over.vehicle, over.manoeuvre, over.metric.label),
        );
    }
    text.push('\n');
}

/// Iterates over the metrics whose spread in sample number `sample` is expressed in %, with that spread (%); nothing
/// without a sample.
fn spreads(sweep: &Sweep, sample: Option<usize>) -> impl Iterator<Item = (&Metric, f64)> {
    let percent_at = move |index| spread(sweep, index, sample?).percent();
    sweep.metrics().iter().enumerate().filter_map(move |(index, metric)| Some((metric, percent_at(index)?)))
}

/// Computes the spread of metric number `index` in the limit of small steps over the solvers that are not peers;
/// unknown if one value is missing.
fn limit_spread(sweep: &Sweep, index: usize) -> Spread {
    let values: Option<Vec<f64>> =
        solver_sweeps(sweep).map(|rate_sweep| extrapolate_limit(sweep, rate_sweep, index)).collect();
    let dt = sweep.steps_s.last().copied().unwrap_or(0.0);
    values.map_or(Spread::Unknown, |values| Spread::between(&values, &sweep.metrics()[index], dt))
}

/// Appends the table of one vehicle with a row per manoeuvre: friction utilisation, the largest spread and its metric
/// at each of [`RATES_HZ`] and in the limit of small steps, and the orders of convergence.
fn append_summary(text: &mut String, runs: &Runs) {
    append(text, format_args!("### {}\n\n", runs.vehicle));
    let rate_headings = RATES_HZ.map(|hz| format!("{hz} Hz"));
    let last_headings = ["limit", "order"].map(String::from);
    let headings: Vec<String> =
        ["manoeuvre", "friction"].map(String::from).into_iter().chain(rate_headings).chain(last_headings).collect();
    append_head(text, &headings, 1);
    for sweep in &runs.sweeps {
        let mut cells = vec![sweep.manoeuvre.to_string(), format!("{:.2}", friction_utilisation(sweep))];
        cells.extend(RATES_HZ.map(|hz| largest_spread_text(spreads(sweep, sample_index(sweep, hz)))));
        let limit_spreads = sweep
            .metrics()
            .iter()
            .enumerate()
            .filter_map(|(index, metric)| Some((metric, limit_spread(sweep, index).percent()?)));
        cells.extend([largest_spread_text(limit_spreads), order_summary(sweep)]);
        append_row(text, cells);
    }
    text.push('\n');
}

/// Formats the largest spread (%) with the label of its metric; only an upper bound below
/// [`MIN_NAMED_SPREAD_PERCENT`], "-" without spreads.
fn largest_spread_text<'a>(spreads: impl Iterator<Item = (&'a Metric, f64)>) -> String {
    let largest_spread = spreads.max_by(|a, b| a.1.total_cmp(&b.1));
    match largest_spread {
        Some((metric, spread)) if spread >= MIN_NAMED_SPREAD_PERCENT => format!("{spread:.2} % {}", metric.label),
        Some(_) => format!("< {MIN_NAMED_SPREAD_PERCENT} %"),
        None => "-".into(),
    }
}

/// Formats the median of the observed orders of all metrics on all solvers that are not peers (the upper one of two),
/// followed in brackets by the numbers of observed orders, of all, and of those within the noise.
fn order_summary(sweep: &Sweep) -> String {
    let metric_indices = 0..sweep.metrics().len();
    let all: Vec<Order> = metric_indices
        .flat_map(|index| solver_sweeps(sweep).map(move |rate_sweep| order(sweep, rate_sweep, index)))
        .collect();
    let noise_count = all.iter().filter(|order| **order == Order::WithinNoise).count();
    let mut observed_orders: Vec<f64> =
        all.iter().filter_map(|order| if let Order::Observed(order) = order { Some(*order) } else { None }).collect();
    observed_orders.sort_by(f64::total_cmp);
    let median =
        observed_orders.get(observed_orders.len() / 2).map_or("-".into(), |order| Order::Observed(*order).text());
    format!("{median} ({} of {}, {noise_count} closed)", observed_orders.len(), all.len())
}

/// Returns the file name of the page of a vehicle.
fn page_file(vehicle: &str) -> String {
    format!("agreement_{vehicle}.md")
}

/// Returns the page of one vehicle: for each manoeuvre the friction utilisation and a table of every metric on every
/// solver, peers included.
fn vehicle_page(runs: &Runs) -> Page {
    let mut text = format!("# Agreement between the solvers: {}\n\n{}\n\n", runs.vehicle, generation_note());
    append(
        &mut text,
        format_args!(
            "Summary, rules and reasons: `docs/agreement.md`. Solvers with the same figures share a line. {SPREAD_DEFINITION} {} Order \
             is observed from the differences between neighbouring rates of {} Hz; “closed” means differences below these rules or the \
             digits shown.\n",
            noise_rules(),
            REQUIRED_RATES_HZ.map(|hz| hz.to_string()).join(", ")
        ),
    );
    for sweep in &runs.sweeps {
        append(&mut text, format_args!("\n## {}\n\n{}. ", sweep.manoeuvre, sweep.about));
        append(&mut text, format_args!("Largest use of friction {:.2}.\n\n", friction_utilisation(sweep)));
        let rate_headings = RATES_HZ.map(|hz| format!("{hz} Hz"));
        let first_headings = ["figure", "unit", "solver"].map(String::from).into_iter();
        let last_headings = ["limit", "order"].map(String::from);
        append_head(&mut text, &first_headings.chain(rate_headings).chain(last_headings).collect::<Vec<_>>(), 3);
        for index in 0..sweep.metrics().len() {
            append_metric(&mut text, sweep, index);
        }
    }
    Page { file: page_file(&runs.vehicle), text }
}

/// Appends metric number `index` to a table: one line for each group of solvers with identical texts (values at
/// [`RATES_HZ`], limit of small steps, order), and one with the spreads. Label and unit are written only on the first
/// line.
fn append_metric(text: &mut String, sweep: &Sweep, index: usize) {
    let metric = &sweep.metrics()[index];
    // Solvers, and their common cells.
    let mut groups: Vec<(Vec<&str>, Vec<String>)> = Vec::new();
    for rate_sweep in &sweep.rate_sweeps {
        let value = |hz| sample_index(sweep, hz).and_then(|sample| rate_sweep.samples[sample].metrics[index].value);
        let mut cells: Vec<String> = RATES_HZ.iter().map(|&hz| metric.with_value(value(hz)).text()).collect();
        let order = order(sweep, rate_sweep, index);
        cells.extend([metric.with_value(extrapolate_limit(sweep, rate_sweep, index)).text(), order.text()]);
        match groups.iter_mut().find(|(_, texts)| *texts == cells) {
            Some((names, _)) => names.push(rate_sweep.backend),
            None => groups.push((vec![rate_sweep.backend], cells)),
        }
    }
    for (group_index, (names, cells)) in groups.into_iter().enumerate() {
        let (label, unit) = if group_index == 0 { (metric.label.as_str(), metric.unit) } else { ("", "") };
        append_row(text, [label.to_string(), unit.into(), names.join(", ")].into_iter().chain(cells));
    }
    let spread_texts = RATES_HZ
        .map(|hz| sample_index(sweep, hz).map_or(Spread::Unknown, |sample| spread(sweep, index, sample)).text());
    let last_cells = [limit_spread(sweep, index).text(), String::new()];
    append_row(text, ["".into(), "".into(), "*spread*".into()].into_iter().chain(spread_texts).chain(last_cells));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{POINT_MASS, model};

    #[test]
    fn pages_name_every_run_and_are_the_same_every_time() {
        let backends = [POINT_MASS, SolverInfo { name: "second", ..POINT_MASS }];
        let runs = measure(&backends, "a_car", &Arc::new(model()), &[60.0, 240.0], &|_, _| {}).expect("valid rates");
        let found = pages(std::slice::from_ref(&runs));
        let [summary, details] = &found[..] else { panic!("two pages") };
        assert_eq!((summary.file.as_str(), details.file.as_str()), ("agreement.md", "agreement_a_car.md"));
        for entry in MANOEUVRES {
            assert!(summary.text.contains(&format!("| {} |", entry.name)), "{}", summary.text);
            assert!(details.text.contains(&format!("\n## {}\n", entry.name)));
        }
        assert!(details.text.contains("| Stopping distance | m | point-mass, second |"), "{}", details.text);
        assert!(!summary.text.contains("NaN") && !details.text.contains("NaN"));
        // Every row of a table has as many cells as its head.
        for page in &found {
            for pair in page.text.lines().collect::<Vec<_>>().windows(2) {
                let [a, b] = [pair[0], pair[1]].map(|line| line.matches('|').count());
                assert!(a == 0 || b == 0 || a == b, "{pair:?}");
            }
        }
        assert_eq!(found, pages(&[runs]));
    }
}
