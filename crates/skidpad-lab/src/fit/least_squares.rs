//! Bounded least squares with confidence intervals, and the search for parameters that the data cannot identify.
//!
//! The minimiser is the Levenberg-Marquardt method of MINPACK with bounds (C. B. Markwardt, *Non-linear Least-squares
//! Fitting in IDL with MPFIT*, 2009), from the crate `rmpfit`.

use nalgebra::{DMatrix, DVector, SVD};
use rmpfit::{MPConfig, MPError, MPFitter, MPPar, MPResult, MPSide};

/// Step of the numerical derivatives, in shares of the range of a parameter. Simulations have single precision: their
/// rounding errors divided by this step are far below the derivatives.
const DERIVATIVE_STEP: f64 = 2e-3;

/// Relative decrease of the sum of squares, and relative change of the parameters, at which the search ends.
const TOLERANCE: f64 = 1e-7;

/// Maximum number of iterations of the search.
const MAX_ITERATIONS: usize = 60;

/// Settings of the minimiser.
const SEARCH: MPConfig = MPConfig { ftol: TOLERANCE, xtol: TOLERANCE, max_iter: MAX_ITERATIONS, ..MPConfig::new() };

/// Smallest singular value of an identified combination of parameters, in shares of the largest one. The errors of the
/// numerical derivatives have about a tenth of this size.
const MIN_SINGULAR_VALUE: f64 = 1e-3;

/// Largest 95 % interval of an identified combination of parameters, to either side, in shares of the accepted range.
const MAX_INTERVAL: f64 = 0.25;

/// Smallest share of a parameter in a combination that names it.
const MIN_COMPONENT: f64 = 0.02;

/// Smallest magnitude of a correlation that is reported.
const MIN_CORRELATION: f64 = 0.95;

/// Distance from a bound within which an estimate is at the bound, in shares of the range.
const BOUND_TOLERANCE: f64 = 1e-6;

/// Parameter to estimate.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Name for people.
    pub name: String,
    /// First value of the search, within the bounds.
    pub start: f64,
    /// Smallest accepted value.
    pub min: f64,
    /// Largest accepted value, above the smallest.
    pub max: f64,
}

impl Parameter {
    /// Returns the size of the accepted range.
    fn range(&self) -> f64 {
        self.max - self.min
    }

    /// Returns whether `value` is at a bound.
    fn is_at_bound(&self, value: f64) -> bool {
        let margin = BOUND_TOLERANCE * self.range();
        value <= self.min + margin || value >= self.max - margin
    }
}

/// Data as a function of parameters: residuals are differences from the data in units of their standard deviation.
pub trait Residuals {
    /// Error of an evaluation.
    type Error;

    /// Returns the number of residuals, the same for all parameters.
    fn count(&self) -> usize;

    /// Writes the residuals at the `values` of the parameters into `residuals`, which has [`Residuals::count`] numbers.
    ///
    /// # Errors
    /// Returns the reason why the residuals cannot be computed. The search ends then.
    fn evaluate(&mut self, values: &[f64], residuals: &mut [f64]) -> Result<(), Self::Error>;
}

/// Result for one parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// Parameter with its start and bounds.
    pub parameter: Parameter,
    /// Estimated value.
    pub value: f64,
    /// Half of the 95 % confidence interval; `None` if the parameter is at a bound or not identified.
    pub interval: Option<f64>,
    /// Whether the estimate is at a bound of the accepted range.
    pub is_at_bound: bool,
    /// Whether the data identify the parameter. False for each parameter of an unidentified combination.
    pub is_identified: bool,
}

/// Result of a fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// Results in the order of the parameters.
    pub estimates: Vec<Estimate>,
    /// Combinations of parameters that the data do not identify: names with shares of their ranges. Moving the
    /// parameters along a combination does not change the residuals noticeably.
    pub unidentified: Vec<Vec<(String, f64)>>,
    /// Pairs of identified parameters whose estimates depend on each other, with the correlation, −1 to 1.
    pub correlations: Vec<(String, String, f64)>,
    /// Root of the mean square of the residuals at the start.
    pub start_rms: f64,
    /// Root of the mean square of the residuals at the estimates.
    pub rms: f64,
    /// Number of evaluations of the residuals.
    pub evaluations: usize,
    /// Whether the search ended by its tolerances, not by the number of iterations.
    pub has_converged: bool,
}

/// Reason why a fit failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FitFailure<E> {
    /// Evaluation that failed.
    Evaluation(E),
    /// Fewer residuals than parameters, or none.
    TooFewResiduals,
    /// Residual that is not finite.
    NotFinite,
}

/// Adapter of [`Residuals`] to the minimiser, which stores the error of an evaluation.
struct Adapter<'a, R: Residuals> {
    residuals: &'a mut R,
    parameters: &'a [Parameter],
    bounds: &'a [MPPar],
    error: Option<R::Error>,
    evaluations: usize,
}

impl<R: Residuals> MPFitter for Adapter<'_, R> {
    /// Computes the residuals at `values`, clamped to the bounds, and counts the evaluation. An error of the evaluation
    /// is stored and ends the search.
    fn eval(&mut self, values: &[f64], residuals: &mut [f64]) -> MPResult<()> {
        self.evaluations += 1;
        // The minimiser checks its steps against the bounds, but not those of the derivatives.
        let within: Vec<f64> = values.iter().zip(self.parameters).map(|(v, p)| v.clamp(p.min, p.max)).collect();
        self.residuals.evaluate(&within, residuals).map_err(|error| {
            self.error = Some(error);
            MPError::Eval
        })
    }

    fn number_of_points(&self) -> usize {
        self.residuals.count()
    }

    fn parameters(&self) -> &[MPPar] {
        self.bounds
    }

    fn config(&self) -> &MPConfig {
        &SEARCH
    }
}

/// Estimates the `parameters` by the least sum of squares of `residuals`, starting at their start values and within
/// their bounds. The derivatives at the result then give confidence intervals, correlations and the combinations of
/// parameters that the data do not identify.
///
/// # Errors
/// Returns an error if an evaluation fails, a residual or derivative is not finite, or there are fewer residuals than
/// parameters or no parameters.
pub fn solve<R: Residuals>(parameters: &[Parameter], residuals: &mut R) -> Result<Solution, FitFailure<R::Error>> {
    if parameters.is_empty() || residuals.count() < parameters.len() {
        return Err(FitFailure::TooFewResiduals);
    }
    let bounds: Vec<MPPar> = parameters.iter().map(bounds_of).collect();
    let mut values: Vec<f64> = parameters.iter().map(|parameter| parameter.start).collect();
    let mut adapter = Adapter { residuals, parameters, bounds: &bounds, error: None, evaluations: 0 };
    let status = adapter.mpfit(&mut values);
    let (error, evaluations) = (adapter.error.take(), adapter.evaluations);
    let status = match (status, error) {
        (_, Some(error)) => return Err(FitFailure::Evaluation(error)),
        (Ok(status), None) => status,
        (Err(_), None) => return Err(FitFailure::NotFinite),
    };
    let count = residuals.count() as f64;
    let jacobian = scaled_jacobian(parameters, &values, residuals).map_err(FitFailure::Evaluation)?;
    let rms = (status.best_norm / count).sqrt();
    let mut solution = Solution {
        estimates: Vec::new(),
        unidentified: Vec::new(),
        correlations: Vec::new(),
        start_rms: (status.orig_norm / count).sqrt(),
        rms,
        evaluations: evaluations + 2 * parameters.len(),
        has_converged: status.n_iter < MAX_ITERATIONS,
    };
    if !solution.start_rms.is_finite() || !rms.is_finite() || jacobian.iter().any(|number| !number.is_finite()) {
        return Err(FitFailure::NotFinite);
    }
    estimate_errors(parameters, &values, &jacobian, &mut solution);
    Ok(solution)
}

/// Returns bounds and derivative step of a parameter for the minimiser, which uses central differences.
fn bounds_of(parameter: &Parameter) -> MPPar {
    MPPar {
        limited_low: true,
        limited_up: true,
        limit_low: parameter.min,
        limit_up: parameter.max,
        step: DERIVATIVE_STEP * parameter.range(),
        side: MPSide::Both,
        ..MPPar::new()
    }
}

/// Returns the derivatives of the residuals (rows) by the parameters (columns) at `values`. Parameters count in shares
/// of their ranges. Differences are central, and one-sided at a bound.
///
/// # Errors
/// Returns the error of the first evaluation that fails.
fn scaled_jacobian<R: Residuals>(
    parameters: &[Parameter],
    values: &[f64],
    residuals: &mut R,
) -> Result<DMatrix<f64>, R::Error> {
    let mut jacobian = DMatrix::zeros(residuals.count(), parameters.len());
    let [mut above, mut below] = [vec![0.0; residuals.count()], vec![0.0; residuals.count()]];
    for (column, parameter) in parameters.iter().enumerate() {
        let mut shifted = values.to_vec();
        let step = DERIVATIVE_STEP * parameter.range();
        let [high, low] = [(values[column] + step).min(parameter.max), (values[column] - step).max(parameter.min)];
        shifted[column] = high;
        residuals.evaluate(&shifted, &mut above)?;
        shifted[column] = low;
        residuals.evaluate(&shifted, &mut below)?;
        let difference = DVector::from_vec(above.clone()) - DVector::from_vec(below.clone());
        jacobian.set_column(column, &(difference * (parameter.range() / (high - low))));
    }
    Ok(jacobian)
}

/// Adds estimates, unidentified combinations and correlations to `solution`, from the singular values of the scaled
/// `jacobian`. Parameters at a bound are left out, because their errors are not symmetric.
///
/// A combination (singular vector) is a direction in which the parameters move together. With the singular value s, its
/// standard deviation is 1/s in shares of the ranges, if the residuals have their assumed standard deviation of 1.
/// Larger residuals show that the model or the stated deviations are wrong; the standard deviation is then multiplied
/// by their root mean square (Particle Data Group, *Review of Particle Physics*, section *Introduction*, scale factor).
///
/// A combination is unidentified if s is at most [`MIN_SINGULAR_VALUE`] of the largest one, or if its 95 % interval
/// exceeds [`MAX_INTERVAL`]. Each parameter with a share of at least [`MIN_COMPONENT`] in such a combination is then
/// unidentified and has no interval.
fn estimate_errors(parameters: &[Parameter], values: &[f64], jacobian: &DMatrix<f64>, solution: &mut Solution) {
    let free: Vec<usize> = (0..parameters.len()).filter(|i| !parameters[*i].is_at_bound(values[*i])).collect();
    let degrees_of_freedom = jacobian.nrows().saturating_sub(free.len()).max(1);
    // Root mean square of the residuals per degree of freedom, at least 1.
    let scale = (solution.rms * (jacobian.nrows() as f64 / degrees_of_freedom as f64).sqrt()).max(1.0);
    let quantile = student_quantile_975(degrees_of_freedom) * scale;
    let mut covariance = DMatrix::<f64>::zeros(free.len(), free.len());
    let mut is_identified = vec![true; parameters.len()];
    if !free.is_empty() {
        let svd = SVD::new(jacobian.select_columns(&free), false, true);
        let largest = svd.singular_values.max();
        let directions = svd.v_t.unwrap_or_else(|| DMatrix::identity(free.len(), free.len()));
        for (direction, singular_value) in directions.row_iter().zip(svd.singular_values.iter()) {
            let is_found = *singular_value > MIN_SINGULAR_VALUE * largest && quantile / singular_value <= MAX_INTERVAL;
            if is_found {
                covariance += direction.transpose() * direction / (singular_value * singular_value);
                continue;
            }
            let named = free.iter().zip(direction.iter()).filter(|(_, share)| share.abs() >= MIN_COMPONENT);
            solution.unidentified.push(named.clone().map(|(i, share)| (parameters[*i].name.clone(), *share)).collect());
            named.for_each(|(i, _)| is_identified[*i] = false);
        }
    }
    let interval = |i: usize| {
        // Position of parameter `i` among the free parameters, which is its row in the covariance.
        let free_index = free.iter().position(|free| *free == i).filter(|_| is_identified[i])?;
        Some(quantile * covariance[(free_index, free_index)].sqrt() * parameters[i].range())
    };
    let estimate = |(i, parameter): (usize, &Parameter)| Estimate {
        parameter: parameter.clone(),
        value: values[i],
        interval: interval(i),
        is_at_bound: !free.contains(&i),
        is_identified: is_identified[i],
    };
    solution.estimates = parameters.iter().enumerate().map(estimate).collect();
    for (row, i) in free.iter().enumerate().filter(|(_, i)| is_identified[**i]) {
        for (column, k) in free.iter().enumerate().skip(row + 1).filter(|(_, k)| is_identified[**k]) {
            let correlation =
                covariance[(row, column)] / (covariance[(row, row)] * covariance[(column, column)]).sqrt();
            if correlation.abs() >= MIN_CORRELATION {
                let [first, second] = [i, k].map(|i| parameters[*i].name.clone());
                solution.correlations.push((first, second, correlation));
            }
        }
    }
}

/// Returns the 97.5 % quantile of Student's distribution with `degrees_of_freedom` degrees of freedom (–): half of the
/// 95 % interval over the standard deviation. Exact for one and two degrees (0 counts as 1). Otherwise it is the
/// expansion of M. Abramowitz and I. A. Stegun, *Handbook of Mathematical Functions*, equation 26.7.5, which is within
/// 0.2 %.
fn student_quantile_975(degrees_of_freedom: usize) -> f64 {
    /// The quantile of the normal distribution.
    const NORMAL: f64 = 1.959_963_985;
    let (n, z) = (degrees_of_freedom as f64, NORMAL);
    match degrees_of_freedom {
        // tan(0.475 π), and p √2 / √(1 − p²) with p = 0.95.
        0 | 1 => 12.706_204_736,
        2 => 4.302_652_730,
        _ => {
            let z2 = z * z;
            let first = (z2 + 1.0) * z / 4.0;
            let second = ((5.0 * z2 + 16.0) * z2 + 3.0) * z / 96.0;
            let third = (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) * z / 384.0;
            let fourth = ((((79.0 * z2 + 776.0) * z2 + 1482.0) * z2 - 1920.0) * z2 - 945.0) * z / 92_160.0;
            z + (((fourth / n + third) / n + second) / n + first) / n
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Residuals of a function of the parameters at given places.
    struct Function<F: Fn(&[f64], f64) -> f64> {
        function: F,
        data: Vec<[f64; 2]>,
        deviation: f64,
    }

    impl<F: Fn(&[f64], f64) -> f64> Residuals for Function<F> {
        type Error = &'static str;

        fn count(&self) -> usize {
            self.data.len()
        }

        fn evaluate(&mut self, values: &[f64], residuals: &mut [f64]) -> Result<(), &'static str> {
            if values.iter().any(|value| *value > 99.0) {
                return Err("too large");
            }
            for (residual, [x, y]) in residuals.iter_mut().zip(&self.data) {
                *residual = ((self.function)(values, *x) - y) / self.deviation;
            }
            Ok(())
        }
    }

    /// Returns a parameter from 0 to 10 that starts at 4.
    fn parameter(name: &str) -> Parameter {
        Parameter { name: name.into(), start: 4.0, min: 0.0, max: 10.0 }
    }

    /// Returns pseudo-random numbers with mean 0 and standard deviation 1: sums of twelve uniform ones, minus 6.
    fn noise(seed: u64, count: usize) -> Vec<f64> {
        let mut state = seed;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        (0..count).map(|_| (0..12).map(|_| uniform()).sum::<f64>() - 6.0).collect()
    }

    /// Returns the line 2 + 3 x at 0 to 1 with noise of the standard deviation 0.1.
    fn noisy_line(seed: u64) -> Function<impl Fn(&[f64], f64) -> f64> {
        let data = noise(seed, 50).into_iter().enumerate().map(|(i, noise)| {
            let x = i as f64 / 49.0;
            [x, 2.0 + 3.0 * x + 0.1 * noise]
        });
        Function { function: |p: &[f64], x: f64| p[0] + p[1] * x, data: data.collect(), deviation: 0.1 }
    }

    /// Intervals of a line have the closed form of linear regression, and contain the planted values in about 95 % of
    /// 200 samples (standard deviation of the count 3.1; 11 is 3.6 of them).
    #[test]
    fn intervals_of_a_line_are_those_of_linear_regression() {
        let mut hits = [0; 2];
        for seed in 0..200 {
            let mut line = noisy_line(seed);
            let solution = solve(&[parameter("a"), parameter("b")], &mut line).expect("solvable");
            assert!(solution.has_converged && solution.unidentified.is_empty());
            let scale = (solution.rms * (50.0f64 / 48.0).sqrt()).max(1.0);
            // Sums over x = i / 49 of 1, x and x².
            let (n, sx, sxx) = (50.0f64, 25.0, 50.0 * 99.0 / (6.0 * 49.0));
            let determinant = n * sxx - sx * sx;
            for (i, variance) in [sxx / determinant, n / determinant].into_iter().enumerate() {
                let estimate = &solution.estimates[i];
                // 2.0106: Student's quantile for 48 degrees of freedom, from tables.
                let expected = 2.0106 * scale * 0.1 * variance.sqrt();
                let interval = estimate.interval.expect("identified");
                assert!((interval / expected - 1.0).abs() < 1e-3, "{interval} {expected}");
                hits[i] += usize::from((estimate.value - [2.0, 3.0][i]).abs() < interval);
            }
        }
        assert!(hits.iter().all(|count| (190usize.abs_diff(*count)) <= 11), "{hits:?}");
    }

    /// Checks that the factors of a product are called unidentified, and that a third parameter gets an interval.
    #[test]
    fn factors_of_a_product_are_named() {
        let data = (0..20).map(|i| [f64::from(i), 6.0 + 0.5 * f64::from(i)]).collect();
        let mut product = Function { function: |p: &[f64], x: f64| p[0] * p[1] + p[2] * x, data, deviation: 0.1 };
        let solution = solve(&["a", "b", "c"].map(parameter), &mut product).expect("solvable");
        assert!((solution.estimates[0].value * solution.estimates[1].value - 6.0).abs() < 1e-3);
        assert!((solution.estimates[2].value - 0.5).abs() < 1e-4 && solution.estimates[2].interval.is_some());
        let names: Vec<_> = solution.unidentified.iter().flatten().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert!(!solution.estimates[0].is_identified && solution.estimates[0].interval.is_none());
    }

    /// A parameter whose best value lies beyond its bound ends at the bound, without an interval. A parameter without any
    /// effect is not identified.
    #[test]
    fn bounds_hold() {
        let data = (0..20).map(|i| [f64::from(i), 12.0]).collect();
        let mut constant = Function { function: |p: &[f64], _| p[0], data, deviation: 1.0 };
        let solution = solve(&[parameter("a"), parameter("b")], &mut constant).expect("solvable");
        assert_eq!((solution.estimates[0].value, solution.estimates[0].is_at_bound), (10.0, true));
        assert_eq!(solution.estimates[0].interval, None);
        assert!(!solution.estimates[1].is_identified);
    }

    /// Too few residuals, failed evaluations and numbers that are not finite are errors.
    #[test]
    fn failures_are_errors() {
        let line = |data: Vec<[f64; 2]>| Function { function: |p: &[f64], x: f64| p[0] * x, data, deviation: 1.0 };
        let two = [parameter("a"), parameter("b")];
        assert_eq!(solve(&two, &mut line(vec![[1.0, 1.0]])), Err(FitFailure::TooFewResiduals));
        let large = Parameter { name: "a".into(), start: 100.0, min: 99.5, max: 101.0 };
        assert_eq!(solve(&[large], &mut line(vec![[1.0, 1.0]])), Err(FitFailure::Evaluation("too large")));
        assert_eq!(solve(&two[..1], &mut line(vec![[f64::NAN, 1.0]])), Err(FitFailure::NotFinite));
    }

    /// Quantiles have the values of tables.
    #[test]
    fn quantiles_are_those_of_tables() {
        for (n, expected) in [(1, 12.7062), (2, 4.3027), (3, 3.1824), (5, 2.5706), (10, 2.2281), (1000, 1.9623)] {
            // 0.2 %: the expansion.
            assert!((student_quantile_975(n) / expected - 1.0).abs() < 2e-3, "{n}: {}", student_quantile_975(n));
        }
    }
}
