//! Nonlinear least squares: Levenberg's damping with Marquardt's scaling, on nalgebra.
//!
//! K. Levenberg, *A method for the solution of certain non-linear problems in least squares*, 1944; D. Marquardt, *An
//! algorithm for least-squares estimation of nonlinear parameters*, 1963. Derivatives are central differences. The
//! formula is computed in single precision, so a relative step of 1e-3 gives derivatives with an error of 1e-4. This
//! costs a few iterations.

use nalgebra::{DMatrix, DVector};

/// Parameter that is fitted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameter {
    /// Smallest and largest value.
    pub range: [f64; 2],
    /// Typical change of the value, neither small nor large.
    pub scale: f64,
}

/// Maximum number of iterations. A fit that needs more does not converge.
const MAX_ITERATIONS: usize = 120;
/// Relative decrease of the sum of squares below which the iteration ends.
const RELATIVE_COST_TOLERANCE: f64 = 1e-9;
/// Damping from which on no step is tried.
const MAX_DAMPING: f64 = 1e12;
/// Weight of the pull of each parameter towards its start value. The pull only affects parameters that the data does
/// not determine.
const REGULARISATION_WEIGHT: f64 = 1e-9;

/// Changes `values` to minimise the sum of squares of `residuals`, and returns the number of iterations. A weak pull
/// towards the start values is part of the sum. Each iteration computes the Jacobian and tries steps until the sum
/// falls. The damping starts at 0.01, is multiplied by 10 if the system cannot be solved and by 4 if the sum does not
/// fall, and by 0.2 (to at least 1e-9) after an accepted step. The iteration ends at [`MAX_ITERATIONS`], at
/// [`MAX_DAMPING`], or when the sum falls by less than [`RELATIVE_COST_TOLERANCE`]. `residuals` returns `None` for
/// invalid values, which count as a step without success. If the start values are invalid, nothing is changed and 0 is
/// returned.
pub(super) fn least_squares(
    parameters: &[Parameter],
    values: &mut [f64],
    residuals: impl Fn(&[f64]) -> Option<Vec<f64>>,
) -> usize {
    let start_values = values.to_vec();
    let cost = |residual: &[f64], values: &[f64]| {
        let regularisation = parameters
            .iter()
            .zip(values)
            .zip(&start_values)
            .map(|((parameter, value), start)| REGULARISATION_WEIGHT * ((value - start) / parameter.scale).powi(2));
        residual.iter().map(|r| r * r).sum::<f64>() + regularisation.sum::<f64>()
    };
    let Some(mut residual) = residuals(values) else { return 0 };
    let mut current_cost = cost(&residual, values);
    let mut damping = 1e-2;
    for iteration in 0..MAX_ITERATIONS {
        let jacobian = jacobian(parameters, values, &residual, &residuals);
        // Half the gradient of the cost, by the parameters in units of their scales: residuals and pull.
        let pull_gradient = |i: usize| REGULARISATION_WEIGHT * (values[i] - start_values[i]) / parameters[i].scale;
        let gradient = jacobian.tr_mul(&DVector::from_column_slice(&residual))
            + DVector::from_fn(values.len(), |i, _| pull_gradient(i));
        let normal_matrix = jacobian.tr_mul(&jacobian);
        let previous_cost = current_cost;
        while damping < MAX_DAMPING {
            let Some(trial_values) = damped_step(parameters, values, &normal_matrix, &gradient, damping) else {
                damping *= 10.0;
                continue;
            };
            match residuals(&trial_values).map(|r| (cost(&r, &trial_values), r)) {
                Some((trial_cost, trial_residual)) if trial_cost < current_cost => {
                    values.copy_from_slice(&trial_values);
                    (current_cost, residual) = (trial_cost, trial_residual);
                    damping = (damping * 0.2).max(1e-9);
                    break;
                }
                _ => damping *= 4.0,
            }
        }
        if damping >= MAX_DAMPING || previous_cost - current_cost < RELATIVE_COST_TOLERANCE * previous_cost {
            return iteration + 1;
        }
    }
    MAX_ITERATIONS
}

/// Computes the derivatives of the residuals (rows) by each parameter (columns) as central differences, multiplied by
/// the scale of the parameter. Half the width is 1e-3 of the value or of the scale, whichever is larger; both ends are
/// limited to the range of the parameter. `residual` only states the number of rows. A column is 0 if the residuals at
/// either end are invalid, or if both ends coincide.
fn jacobian(
    parameters: &[Parameter],
    values: &[f64],
    residual: &[f64],
    residuals: &impl Fn(&[f64]) -> Option<Vec<f64>>,
) -> DMatrix<f64> {
    let mut jacobian = DMatrix::zeros(residual.len(), parameters.len());
    for (i, parameter) in parameters.iter().enumerate() {
        // Half the width of the central difference. Single precision needs a relative step of 1e-3.
        let half_width = 1e-3 * parameter.scale.max(values[i].abs());
        // Value of the parameter after the limit, and the residuals there.
        let evaluate_at_offset = |offset: f64| {
            let mut shifted_values = values.to_vec();
            shifted_values[i] = (shifted_values[i] + offset).clamp(parameter.range[0], parameter.range[1]);
            residuals(&shifted_values).map(|r| (shifted_values[i], r))
        };
        if let (Some((lower_value, lower_residuals)), Some((upper_value, upper_residuals))) =
            (evaluate_at_offset(-half_width), evaluate_at_offset(half_width))
            && upper_value > lower_value
        {
            let derivatives = lower_residuals
                .iter()
                .zip(&upper_residuals)
                .map(|(lower, upper)| (upper - lower) / (upper_value - lower_value) * parameter.scale);
            jacobian.column_mut(i).iter_mut().zip(derivatives).for_each(|(element, derivative)| *element = derivative);
        }
    }
    jacobian
}

/// Returns the parameters after one damped step, limited to their ranges: solves `(N + λ diag N + w (1 + λ) I) Δ = g`
/// by Cholesky decomposition with the normal matrix `N = JᵀJ`, the gradient `g`, the damping `λ` and the weight `w` of
/// the pull ([`REGULARISATION_WEIGHT`]), and subtracts `Δ` times the scales. Returns `None` if the system is not
/// positive definite.
fn damped_step(
    parameters: &[Parameter],
    values: &[f64],
    normal_matrix: &DMatrix<f64>,
    gradient: &DVector<f64>,
    damping: f64,
) -> Option<Vec<f64>> {
    let mut damped_matrix = normal_matrix.clone();
    for i in 0..parameters.len() {
        damped_matrix[(i, i)] += damping * normal_matrix[(i, i)] + REGULARISATION_WEIGHT * (1.0 + damping);
    }
    let change = damped_matrix.cholesky()?.solve(gradient);
    let new_values = values.iter().zip(parameters).zip(change.iter()).map(|((value, parameter), change)| {
        (value - change * parameter.scale).clamp(parameter.range[0], parameter.range[1])
    });
    Some(new_values.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fits `a (1 − exp(−b x))` to its own 20 points from a distant start: `[a, b]` is `[3, 0.7]` within 1e-5.
    #[test]
    fn a_curve_is_found_again() {
        let truth = [3.0, 0.7];
        let value = |p: &[f64], x: f64| p[0] * (1.0 - (-p[1] * x).exp());
        let residuals =
            |p: &[f64]| Some((0..20).map(|i| value(p, f64::from(i)) - value(&truth, f64::from(i))).collect());
        let parameters = [Parameter { range: [0.1, 100.0], scale: 1.0 }; 2];
        let mut found = [20.0, 5.0];
        least_squares(&parameters, &mut found, residuals);
        assert!((found[0] - 3.0).abs() < 1e-5 && (found[1] - 0.7).abs() < 1e-5, "{found:?}");
    }

    /// Parameters that the data does not determine keep their values.
    #[test]
    fn idle_parameters_stay() {
        let parameters = [Parameter { range: [-10.0, 10.0], scale: 1.0 }; 2];
        let mut found = [1.0, 4.0];
        least_squares(&parameters, &mut found, |p| Some(vec![p[0] - 2.5]));
        assert!((found[0] - 2.5).abs() < 1e-6 && found[1] == 4.0, "{found:?}");
    }
}
