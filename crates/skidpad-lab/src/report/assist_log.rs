//! Contributions of assists and non-physical aids as a table and plots, if a solver has any.

use std::fmt::Write as _;
use std::io;

use skidpad_core::{Assist, Channel, Contribution};

use super::charts::{Chart, optional_channel_chart};
use super::escape::escape;
use crate::compare::Comparison;
use crate::trajectory::{AssistUse, four_digits};

/// Contributions on every solver in one run, in the order of the comparison.
pub struct AssistLogs(Vec<Vec<AssistUse>>);

impl AssistLogs {
    /// Collects the contributions from the runs of `comparison`.
    pub fn of(comparison: &Comparison) -> Self {
        Self(comparison.outcomes.iter().map(|outcome| outcome.trajectory.assist_use()).collect())
    }

    /// Returns the contribution of `assist` on solver number `solver`; `None` if the solver does not have it.
    fn find(&self, solver: usize, assist: Assist) -> Option<&AssistUse> {
        self.0[solver].iter().find(|own| own.assist == assist)
    }

    /// Returns the largest magnitude of a channel on any solver.
    fn peak(&self, assist: Assist, channel: usize) -> f64 {
        let all = (0..self.0.len()).filter_map(|solver| self.find(solver, assist));
        all.fold(0.0, |peak, own| own.peak[channel].abs().max(peak))
    }

    /// Iterates over the assists that at least one solver has, in the order of the columns.
    fn assists(&self) -> impl Iterator<Item = Assist> {
        let told = |assist: &Assist| (0..self.0.len()).any(|solver| self.find(solver, *assist).is_some());
        Assist::ALL.iter().copied().filter(told)
    }

    /// Returns the numbers of the channels of `assist` that are more than rounding error on any solver.
    fn active_channels(&self, assist: Assist) -> Vec<usize> {
        let told = |solver, channel| self.find(solver, assist).is_some_and(|own| own.is_reported(channel));
        (0..Contribution::CHANNELS.len())
            .filter(|&channel| (0..self.0.len()).any(|solver| told(solver, channel)))
            .collect()
    }

    /// Appends the table; nothing if no solver has an assist or a non-physical aid. The table lists mean and largest
    /// value of the active channels of each assist; a note below explains the assists and names those that did not
    /// contribute.
    pub fn table(&self, page: &mut String, comparison: &Comparison) {
        let (active, idle): (Vec<Assist>, Vec<Assist>) =
            self.assists().partition(|&own| !self.active_channels(own).is_empty());
        if active.is_empty() && idle.is_empty() {
            return;
        }
        page.push_str("<h3>Added by assists and tricks</h3>\n");
        if !active.is_empty() {
            head(page, comparison);
            active.iter().for_each(|&assist| self.rows(page, comparison, assist));
            page.push_str("</tbody></table></div>\n");
        }
        page.push_str("<p class=\"note\">");
        for &assist in &active {
            put!(page, "{}: {} ", capital(&words(assist)), escape(assist.about()));
        }
        if !idle.is_empty() {
            let idle: Vec<String> = idle.into_iter().map(words).collect();
            put!(page, "Did nothing in this run: {}. ", idle.join(", "));
        }
        page.push_str(
            "Means are over the whole run; largest is by size. Forward, left, up, roll to the right and nose down are \
             positive. Peers know no assists; a dash is a solver without the trick.</p>\n",
        );
    }

    /// Appends a row per active channel of `assist`: mean and largest value on each solver, with the digits for the
    /// largest one of all solvers; "-" for a solver without the assist.
    fn rows(&self, page: &mut String, comparison: &Comparison, assist: Assist) {
        for channel in self.active_channels(assist) {
            let about = Contribution::CHANNELS[channel];
            put!(page, "<tr><th scope=\"row\">{}: {}</th>", words(assist), lower(label(about.about)));
            put!(page, "<td>{}</td>", about.unit);
            let peak = self.peak(assist, channel);
            for (solver, outcome) in comparison.outcomes.iter().enumerate() {
                let class = if outcome.peer { "number peer" } else { "number" };
                let own = self.find(solver, assist);
                for value in [own.map(|own| own.mean[channel]), own.map(|own| own.peak[channel])] {
                    let text = value.map_or_else(|| "-".into(), |value| four_digits(value, peak));
                    put!(page, "<td class=\"{class}\">{}</td>", text.replace('-', "\u{2212}"));
                }
            }
            page.push_str("</tr>\n");
        }
    }

    /// Draws a plot for each assist that contributed, of the channel with the largest contribution.
    ///
    /// # Errors
    /// Returns an error if plotters cannot draw one of them.
    pub fn charts(&self, comparison: &Comparison) -> io::Result<Vec<Chart>> {
        // Channel of the assist with the largest contribution, in its own unit; `None` if it did not contribute.
        let most = |assist| {
            let busy = self.active_channels(assist).into_iter();
            busy.max_by(|&a, &b| self.peak(assist, a).total_cmp(&self.peak(assist, b))).map(|channel| (assist, channel))
        };
        let chart = |(assist, channel): (Assist, usize)| {
            let Channel { about, unit, .. } = Contribution::CHANNELS[channel];
            let (what, peak) = (label(about), self.peak(assist, channel));
            let title = format!("{what} added by {}", words(assist));
            optional_channel_chart(comparison, &title, &format!("{}, {unit}", lower(what)), 0.1 * peak, |frame| {
                let own = frame.assist_log.iter().find(|(found, _)| *found == assist)?;
                Some(own.1.values()[channel])
            })
        };
        self.assists().filter_map(most).map(chart).collect()
    }
}

/// Appends the head of the table, with a column for the mean and one for the largest value per solver.
fn head(page: &mut String, comparison: &Comparison) {
    page.push_str("<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\" rowspan=\"2\">added</th>");
    page.push_str("<th scope=\"col\" rowspan=\"2\">unit</th>");
    for outcome in &comparison.outcomes {
        let class = if outcome.peer { "number peer" } else { "number" };
        put!(page, "<th scope=\"colgroup\" colspan=\"2\" class=\"{class}\">{}</th>", escape(outcome.backend));
    }
    page.push_str("</tr>\n<tr>");
    for outcome in &comparison.outcomes {
        let class = if outcome.peer { "number peer" } else { "number" };
        put!(page, "<th scope=\"col\" class=\"{class}\">mean</th><th scope=\"col\" class=\"{class}\">largest</th>");
    }
    page.push_str("</tr></thead>\n<tbody>\n");
}

/// Returns the name of an assist with spaces instead of underscores.
fn words(assist: Assist) -> String {
    assist.name().replace('_', " ")
}

/// Returns the first words of a channel's description, without its sign convention.
fn label(about: &str) -> &str {
    about.split([',', '.']).next().unwrap_or(about)
}

fn lower(text: &str) -> String {
    text.to_lowercase()
}

/// Returns `text` with its first letter in upper case.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
