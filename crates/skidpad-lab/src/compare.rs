//! One manoeuvre on several solvers, and how far they disagree.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use skidpad_core::{BackendInfo, Model};

use crate::manoeuvre::{Adjust, Manoeuvre};
use crate::metrics::Metric;
use crate::run::{TimeStep, simulate};
use crate::trajectory::Trajectory;

/// How far a comparison has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Steps done, over all solvers.
    pub done: u64,
    /// Steps there are at most; drivers may finish earlier.
    pub total: u64,
}

/// What one solver made of the manoeuvre.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Name of the solver.
    pub backend: &'static str,
    /// Whether it stands beside the comparison instead of in it.
    pub peer: bool,
    /// Every step.
    pub trajectory: Trajectory,
    /// Figures, in the same order for every solver.
    pub metrics: Vec<Metric>,
}

/// One manoeuvre of one car, driven by several solvers.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Name of the manoeuvre.
    pub manoeuvre: &'static str,
    /// The manoeuvre in one sentence.
    pub about: String,
    /// Length of a step, s.
    pub dt_s: f64,
    /// In the order the solvers were given.
    pub outcomes: Vec<Outcome>,
}

/// One line of the table of figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The figure, with the value of the first solver.
    pub metric: Metric,
    /// Values as text, in the order of the solvers.
    pub texts: Vec<String>,
    /// `(max − min) / |mean|` over the solvers that are no peers, %; `None` for fewer than two values or a mean that
    /// rounds to 0.
    pub spread_percent: Option<f64>,
}

impl Row {
    /// The spread as text, "-" when there is none to tell.
    pub fn spread_text(&self) -> String {
        match self.spread_percent {
            None => "-".into(),
            Some(spread) if spread != 0.0 && spread < 0.001 => "< 0.001 %".into(),
            Some(spread) => format!("{spread:.3} %"),
        }
    }
}

impl Comparison {
    /// The table of figures.
    pub fn rows(&self) -> Vec<Row> {
        let Some(first) = self.outcomes.first() else { return Vec::new() };
        first
            .metrics
            .iter()
            .enumerate()
            .map(|(i, metric)| Row {
                metric: metric.clone(),
                texts: self.outcomes.iter().map(|o| o.metrics.get(i).map_or("-".into(), Metric::text)).collect(),
                spread_percent: self.spread(i),
            })
            .collect()
    }

    fn spread(&self, metric: usize) -> Option<f64> {
        let of = |o: &Outcome| o.metrics.get(metric).and_then(|m| m.value);
        let values: Option<Vec<f64>> = self.outcomes.iter().filter(|o| !o.peer).map(of).collect();
        let values = values.filter(|v| v.len() > 1)?;
        let digits = i32::from(self.outcomes[0].metrics[metric].digits);
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let range = values.iter().fold((f64::MAX, f64::MIN), |(low, high), &v| (low.min(v), high.max(v)));
        (mean.abs() >= 0.5 * 10f64.powi(-digits)).then(|| (range.1 - range.0) / mean.abs() * 100.0)
    }
}

/// Drives `manoeuvre` with `model` on every solver of `backends`, each on its own thread, and measures it.
///
/// Results do not depend on the number of threads. `progress` is called from all of them, some hundred times each.
pub fn compare(
    backends: &[BackendInfo],
    model: &Arc<Model>,
    manoeuvre: &dyn Manoeuvre,
    adjust: &Adjust,
    dt: TimeStep,
    progress: &(dyn Fn(Progress) + Sync),
) -> Comparison {
    let setup = adjust.apply(manoeuvre.setup(model));
    let steps = dt.steps(setup.duration_s);
    let total = steps * backends.len() as u64;
    let done = AtomicU64::new(0);
    let drive = |info: &BackendInfo| {
        let mut told = 0;
        let mut driver = manoeuvre.driver(model);
        let mut tell = |step: u64| {
            let so_far = done.fetch_add(step - told, Ordering::Relaxed) + step - told;
            told = step;
            progress(Progress { done: so_far, total });
        };
        let trajectory = simulate(info, model, &setup, driver.as_mut(), dt, &mut |step, _| {
            if step % (steps / 200).max(1) == 0 {
                tell(step);
            }
        });
        tell(steps);
        let metrics = manoeuvre.metrics(model, &trajectory);
        Outcome { backend: info.name, peer: info.peer, trajectory, metrics }
    };
    let outcomes = std::thread::scope(|scope| {
        let threads: Vec<_> = backends.iter().map(|info| scope.spawn(|| drive(info))).collect();
        threads.into_iter().map(|t| t.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    Comparison { manoeuvre: manoeuvre.name(), about: manoeuvre.about(), dt_s: dt.seconds(), outcomes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manoeuvre::Braking;
    use crate::testing::{POINT_MASS, model, sampled};

    fn outcome(backend: &'static str, peer: bool, value: Option<f64>) -> Outcome {
        let metrics = vec![Metric::new("distance_m", "Distance", "m", 2, value)];
        Outcome { backend, peer, trajectory: sampled(1.0, 1.0, |_, _| {}), metrics }
    }

    fn row(outcomes: Vec<Outcome>) -> Row {
        Comparison { manoeuvre: "braking", about: String::new(), dt_s: 0.01, outcomes }.rows().remove(0)
    }

    #[test]
    fn peers_do_not_count_in_the_spread() {
        let outcomes =
            vec![outcome("a", false, Some(39.0)), outcome("b", false, Some(41.0)), outcome("c", true, Some(60.0))];
        let row = row(outcomes);
        assert_eq!(row.texts, ["39.00", "41.00", "60.00"]);
        assert_eq!(row.spread_percent, Some(5.0));
    }

    #[test]
    fn a_figure_that_is_missing_or_zero_has_no_spread() {
        assert_eq!(row(vec![outcome("a", false, None), outcome("b", false, Some(1.0))]).spread_percent, None);
        assert_eq!(row(vec![outcome("a", false, Some(1e-4)), outcome("b", false, Some(0.0))]).spread_text(), "-");
        assert_eq!(row(vec![outcome("a", false, Some(1.0))]).spread_percent, None);
    }

    #[test]
    fn solvers_keep_their_order_and_progress_ends_at_the_total() {
        let model = Arc::new(model());
        let backends = [POINT_MASS, BackendInfo { name: "second", peer: true, ..POINT_MASS }];
        let last = AtomicU64::new(0);
        let dt = TimeStep::per_second(60.0).expect("valid");
        let found = compare(&backends, &model, &Braking::default(), &Adjust::default(), dt, &|p| {
            last.fetch_max(p.done, Ordering::Relaxed);
            assert!(p.done <= p.total);
        });
        assert_eq!(found.outcomes.iter().map(|o| o.backend).collect::<Vec<_>>(), ["point-mass", "second"]);
        assert_eq!(last.load(Ordering::Relaxed), 2 * 60 * 60);
        assert_eq!(found.rows().len(), 8);
        assert!(found.outcomes[0].metrics[0].value.is_some_and(|d| (15.0..25.0).contains(&d)), "{:?}", found.rows());
    }
}
