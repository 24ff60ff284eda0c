//! Contributions of assists and non-physical aids as a table and plots, if a solver has any.

use std::fmt::Write as _;

use skidpad_core::{Assist, Channel, Contribution};

use super::escape::escape;
use super::html_table::{Cell, Column, HtmlTable};
use super::plot::{Axis, Plot};
use super::runs::{SectionRuns, Unit};
use crate::trajectory::{AssistUse, four_digits};

/// Contributions of every solver in one run, in the order of [`SectionRuns::sources`].
pub struct AssistLogs(Vec<Vec<AssistUse>>);

impl AssistLogs {
    /// Collects the contributions of each solver of `runs`. A measured log has none.
    pub fn new(runs: &SectionRuns<'_>) -> Self {
        let outcomes = runs.sources.iter().filter_map(|source| source.outcome);
        Self(outcomes.map(|outcome| outcome.trajectory.assist_use()).collect())
    }

    /// Returns the contributions of `assist` on solver number `solver`; `None` if the solver does not have this assist.
    fn find(&self, solver: usize, assist: Assist) -> Option<&AssistUse> {
        self.0[solver].iter().find(|assist_use| assist_use.assist == assist)
    }

    /// Returns the largest magnitude of channel number `channel` of `assist` on any solver, in the unit of the channel;
    /// 0 if no solver has this assist.
    fn peak(&self, assist: Assist, channel: usize) -> f64 {
        let assist_uses = (0..self.0.len()).filter_map(|solver| self.find(solver, assist));
        assist_uses.fold(0.0, |peak, assist_use| assist_use.peak[channel].abs().max(peak))
    }

    /// Iterates over the assists that at least one solver has, in the order of the columns.
    fn assists(&self) -> impl Iterator<Item = Assist> {
        let is_present = |assist: &Assist| (0..self.0.len()).any(|solver| self.find(solver, *assist).is_some());
        Assist::ALL.iter().copied().filter(is_present)
    }

    /// Returns the numbers of the channels of `assist` whose contribution is more than rounding error on at least one
    /// solver.
    fn active_channels(&self, assist: Assist) -> Vec<usize> {
        let is_active =
            |solver, channel| self.find(solver, assist).is_some_and(|assist_use| assist_use.is_reported(channel));
        (0..Contribution::CHANNELS.len())
            .filter(|&channel| (0..self.0.len()).any(|solver| is_active(solver, channel)))
            .collect()
    }

    /// Appends the heading, the table and a note; nothing if no solver has an assist or a non-physical aid. The table
    /// has a row per channel in which an assist contributed, with mean and largest value on each solver. It is left out
    /// if no assist contributed. The note describes the assists that contributed, names the others, and states the
    /// conventions.
    pub fn append_table(&self, page: &mut String, runs: &SectionRuns<'_>) {
        // Assists that contributed on some solver, and those that did not.
        let (active, idle): (Vec<Assist>, Vec<Assist>) =
            self.assists().partition(|&assist| !self.active_channels(assist).is_empty());
        if active.is_empty() && idle.is_empty() {
            return;
        }
        page.push_str("<h3>Contributions of assists and non-physical aids</h3>\n");
        let solvers = runs.sources.iter().filter(|source| !source.is_measured());
        let solver_columns = solvers.flat_map(|source| {
            ["mean", "largest"].map(|value| Column::solver(&format!("{}, {value}", source.name), source.is_peer()))
        });
        let columns = ["contribution", "unit"].map(Column::text).into_iter().chain(solver_columns).collect();
        let mut table = HtmlTable::new(columns);
        active.iter().for_each(|&assist| self.add_rows(&mut table, assist));
        if !table.is_empty() {
            page.push_str(&table.html());
        }
        page.push_str("<p class=\"note\">");
        for &assist in &active {
            put!(page, "{}: {} ", capitalized(&spaced_name(assist)), escape(assist.about()));
        }
        if !idle.is_empty() {
            let idle: Vec<String> = idle.into_iter().map(spaced_name).collect();
            put!(page, "Without effect in this run: {}. ", idle.join(", "));
        }
        page.push_str(
            "Means are over the whole run; “largest” is the largest absolute value. Forward, left, up, roll to the right and \
             nose down are positive. Reference vehicles have no assists; a dash marks a solver without the aid.</p>\n",
        );
    }

    /// Adds a row for each active channel of `assist`: name, unit, then mean and largest value on each solver. All
    /// values of a row have the digits that suit the largest one. A solver without the assist has dashes.
    fn add_rows(&self, table: &mut HtmlTable, assist: Assist) {
        for channel in self.active_channels(assist) {
            let channel_info = Contribution::CHANNELS[channel];
            let label = format!("{}: {}", spaced_name(assist), lowercase(short_label(channel_info.about)));
            let largest = self.peak(assist, channel);
            let values = (0..self.0.len()).flat_map(|solver| {
                let assist_use = self.find(solver, assist);
                let values = assist_use.map(|assist_use| [assist_use.mean[channel], assist_use.peak[channel]]);
                let text = |value| Cell::from(four_digits(value, largest));
                values.map_or(["-", "-"].map(Cell::from), |values| values.map(text))
            });
            let label: [Cell; 2] = [label.into(), channel_info.unit.into()];
            table.add_row(label.into_iter().chain(values));
        }
    }

    /// Builds a plot over time for each assist that contributed, and adds its columns to `runs`. The plot shows the
    /// channel with the largest contribution. The axis covers at least a tenth of this contribution. Solvers without
    /// the assist have no curve.
    pub fn plots(&self, runs: &mut SectionRuns<'_>) -> Vec<Plot> {
        // Channel of the assist with the largest number, whatever its unit; `None` if the assist did not contribute.
        let main_channel = |assist| {
            let active_channels = self.active_channels(assist).into_iter();
            active_channels
                .max_by(|&a, &b| self.peak(assist, a).total_cmp(&self.peak(assist, b)))
                .map(|channel| (assist, channel))
        };
        let mut plot = |(assist, channel): (Assist, usize)| {
            let Channel { about, unit, .. } = Contribution::CHANNELS[channel];
            // Name of the channel, and its largest magnitude on any solver.
            let (quantity, largest) = (short_label(about), self.peak(assist, channel));
            let title = format!("{quantity} contributed by {}", spaced_name(assist));
            let columns = runs.add(Unit::Car, &title, 0.1 * largest, |_, frame| {
                let entry = frame.assist_log.iter().find(|(logged_assist, _)| *logged_assist == assist)?;
                Some(entry.1.values()[channel])
            });
            runs.time_plot(&title, Axis::new(&lowercase(quantity), unit, 0.1 * largest), &columns)
        };
        self.assists().filter_map(main_channel).map(&mut plot).collect()
    }
}

/// Returns the name of an assist with spaces instead of underscores.
fn spaced_name(assist: Assist) -> String {
    assist.name().replace('_', " ")
}

/// Returns the first words of a channel's description, without its sign convention.
fn short_label(about: &str) -> &str {
    about.split([',', '.']).next().unwrap_or(about)
}

/// Returns `text` in lower case.
fn lowercase(text: &str) -> String {
    text.to_lowercase()
}

/// Returns `text` with its first letter in upper case.
fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
