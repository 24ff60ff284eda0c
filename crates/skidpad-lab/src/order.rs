//! Observed order of convergence of a quantity over the length of the step.

/// Smallest and largest order that the fit tries (–), with a spacing of [`ORDER_STEP`].
const ORDER_RANGE: [f64; 2] = [0.05, 6.0];
/// Spacing of the orders that the fit tries (–).
const ORDER_STEP: f64 = 0.01;

/// Observed order of convergence of a quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    /// Unknown order: a value is missing, fewer than two differences exceed the noise, or no order fits them.
    Unknown,
    /// No measurable order: every difference is within the noise.
    WithinNoise,
    /// Observed order (–).
    Observed(f64),
}

impl Order {
    /// Computes the order of convergence from the `differences` between the values at neighbouring steps of `steps_s`
    /// (s, the longest first). Fits Richardson's `|x(h) − x(k)| ∝ h^p − k^p` by least squares of the logarithms. Only
    /// the differences before the first one that is noise are used; `is_noise` receives a difference and the longer one
    /// of its two steps (s).
    ///
    /// The result is `Observed` with the fitted order p. It is `WithinNoise` if all differences are noise, also if
    /// there are none. Otherwise it is `Unknown` if fewer than two differences are left, as when only the first is
    /// noise, or if no order fits.
    pub fn from_differences(steps_s: &[f64], differences: &[f64], is_noise: impl Fn(f64, f64) -> bool) -> Self {
        // [longer step, shorter step, difference] of each pair of neighbours.
        let pairs: Vec<[f64; 3]> =
            steps_s.windows(2).zip(differences).map(|(steps, gap)| [steps[0], steps[1], *gap]).collect();
        let clear_pairs: Vec<[f64; 3]> =
            pairs.iter().copied().take_while(|[dt, _, gap]| !is_noise(*gap, *dt)).collect();
        match clear_pairs.len() {
            // The first difference is noise; a later one may exceed the noise.
            0 if pairs.iter().all(|[dt, _, gap]| is_noise(*gap, *dt)) => Self::WithinNoise,
            0 | 1 => Self::Unknown,
            _ => fit_order(&clear_pairs).map_or(Self::Unknown, Self::Observed),
        }
    }

    /// Computes the order from the `values` at the steps `steps_s` (s, the longest first), by the magnitudes of the
    /// differences between neighbours; unknown if a value is missing. `is_noise` is that of
    /// [`Self::from_differences`].
    pub fn from_values(steps_s: &[f64], values: &[Option<f64>], is_noise: impl Fn(f64, f64) -> bool) -> Self {
        let gaps: Option<Vec<f64>> = values.windows(2).map(|pair| Some((pair[0]? - pair[1]?).abs())).collect();
        gaps.map_or(Self::Unknown, |gaps| Self::from_differences(steps_s, &gaps, is_noise))
    }

    /// Formats the order for tables, with one decimal place; "-" if unknown, "noise" within the noise.
    pub fn text(self) -> String {
        match self {
            Self::Unknown => "-".into(),
            Self::WithinNoise => "noise".into(),
            Self::Observed(order) => format!("{order:.1}"),
        }
    }
}

/// Returns the order of convergence that fits `differences` best, each given as longer step (s), shorter step (s) and
/// difference. The misfit is the sum of squares of the logarithms, with a free factor. All orders of [`ORDER_RANGE`]
/// are tried in steps of [`ORDER_STEP`]. `None` if the smallest or the largest one of these fits best.
fn fit_order(differences: &[[f64; 3]]) -> Option<f64> {
    let squared_misfit = |order: f64| {
        let logs = differences.iter().map(|[h, k, gap]| gap.ln() - (h.powf(order) - k.powf(order)).ln());
        // The mean is the logarithm of the best factor for this order.
        let mean = logs.clone().sum::<f64>() / differences.len() as f64;
        logs.map(|log| (log - mean).powi(2)).sum::<f64>()
    };
    let last_index = ((ORDER_RANGE[1] - ORDER_RANGE[0]) / ORDER_STEP).round() as usize;
    let order_at = |i: usize| ORDER_RANGE[0] + i as f64 * ORDER_STEP;
    let best_index =
        (0..=last_index).min_by(|a, b| squared_misfit(order_at(*a)).total_cmp(&squared_misfit(order_at(*b))))?;
    (best_index > 0 && best_index < last_index).then(|| order_at(best_index))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values are `x = 1 + 3 h^p` for regular and irregular step lengths.
    #[test]
    fn powers_of_the_step_have_their_order() {
        for steps in [vec![1.0 / 60.0, 1.0 / 120.0, 1.0 / 240.0, 1.0 / 480.0], vec![0.02, 0.012, 0.001]] {
            for order in [0.5, 1.0, 2.0, 3.0] {
                let values: Vec<Option<f64>> = steps.iter().map(|h: &f64| Some(1.0 + 3.0 * h.powf(order))).collect();
                let found = Order::from_values(&steps, &values, |_, _| false);
                assert!(matches!(found, Order::Observed(found) if (found - order).abs() < 0.006), "{order}: {found:?}");
            }
        }
    }

    /// All differences within the noise have no order; one clear difference, growing differences and missing values
    /// have an unknown one. Differences after the first noise are ignored.
    #[test]
    fn noise_and_jumps_have_no_order() {
        let steps = [0.04, 0.02, 0.01, 0.005];
        let order = |values: [f64; 4]| Order::from_values(&steps, &values.map(Some), |gap, _| gap < 1e-3);
        assert_eq!(order([1.0, 1.0005, 1.0, 1.0]), Order::WithinNoise);
        assert_eq!(order([1.0, 1.1, 1.1, 1.1]), Order::Unknown);
        // The differences grow.
        assert_eq!(order([1.0, 1.1, 1.3, 1.7]), Order::Unknown);
        // The last difference is noise.
        assert!(matches!(order([1.16, 1.04, 1.01, 1.0095]), Order::Observed(found) if (found - 2.0).abs() < 0.01));
        assert_eq!(Order::from_values(&steps, &[Some(1.0), None, None, None], |_, _| false), Order::Unknown);
    }

    #[test]
    fn texts_have_one_decimal_place() {
        assert_eq!([Order::Unknown, Order::WithinNoise, Order::Observed(1.96)].map(Order::text), ["-", "noise", "2.0"]);
    }
}
