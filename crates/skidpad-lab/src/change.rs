//! Change of metrics between two cars.

use crate::metrics::Metric;

/// Values of one metric for two cars, before and after a change.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricChange {
    /// Metric with its value before the change.
    pub before: Metric,
    /// Metric with its value after the change.
    pub after: Metric,
}

impl MetricChange {
    /// Returns the changes of the metrics of two lists, matched by name. They have the order of `before`, followed by
    /// the metrics that only `after` has. A metric that is missing in one list has no value there.
    pub fn list(before: &[Metric], after: &[Metric]) -> Vec<Self> {
        let find = |list: &[Metric], metric: &Metric| {
            let found = list.iter().find(|other| other.name == metric.name);
            found.cloned().unwrap_or_else(|| metric.with_value(None))
        };
        let known = before.iter().map(|metric| Self { before: metric.clone(), after: find(after, metric) });
        let added = after.iter().filter(|metric| before.iter().all(|other| other.name != metric.name));
        known.chain(added.map(|metric| Self { before: metric.with_value(None), after: metric.clone() })).collect()
    }

    /// Returns the value after the change less that before it; `None` if one is missing.
    pub fn difference(&self) -> Option<f64> {
        Some(self.after.value? - self.before.value?)
    }

    /// Returns the difference in % of the magnitude of the value before the change. `None` without difference, if the
    /// value before rounds to 0, and for a metric in %, whose difference is in points.
    pub fn percent(&self) -> Option<f64> {
        let value = self.before.value.filter(|value| !self.before.rounds_to_zero(*value))?;
        (self.before.unit != "%").then_some(100.0 * self.difference()? / value.abs())
    }

    /// Returns the difference as text with its sign and the digits of the metric; "-" without difference.
    pub fn difference_text(&self) -> String {
        let Some(difference) = self.before.with_value(self.difference()).rounded() else { return "-".into() };
        let digits = usize::from(self.before.digits);
        // A difference of 0 has no sign.
        if difference == 0.0 { format!("{difference:.digits$}") } else { format!("{difference:+.digits$}") }
    }

    /// Returns the difference in % as text with its sign; "-" without percentage.
    pub fn percent_text(&self) -> String {
        match self.percent() {
            None => "-".into(),
            Some(percent) if percent.abs() < 0.005 => "0.00 %".into(),
            Some(percent) => format!("{percent:+.2} %"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Metrics are matched by name; differences have signs, missing values none, and metrics in % no percentage.
    #[test]
    fn changes_have_difference_and_percentage() {
        let metric = |name: &str, unit, value| Metric::new(name, name, unit, 2, value);
        let before = [metric("distance", "m", Some(40.0)), metric("overshoot", "%", Some(5.0)), metric("a", "s", None)];
        let after =
            [metric("b", "s", Some(1.0)), metric("overshoot", "%", Some(5.5)), metric("distance", "m", Some(38.0))];
        let changes = MetricChange::list(&before, &after);
        let names: Vec<&str> = changes.iter().map(|change| change.before.name.as_str()).collect();
        assert_eq!(names, ["distance", "overshoot", "a", "b"]);
        let texts: Vec<[String; 2]> =
            changes.iter().map(|change| [change.difference_text(), change.percent_text()]).collect();
        let missing = ["-".to_owned(), "-".to_owned()];
        assert_eq!(texts[0], ["-2.00", "-5.00 %"]);
        assert_eq!(texts[1], ["+0.50", "-"]);
        assert_eq!([&texts[2], &texts[3]], [&missing; 2]);
        let same = MetricChange::list(&before, &before);
        assert_eq!([same[0].difference_text(), same[0].percent_text()], ["0.00", "0.00 %"]);
    }
}
