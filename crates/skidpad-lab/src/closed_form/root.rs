//! Roots of functions of one variable.

/// Finds a root of `f` in the range `low..high` at which `f` rises, by a search from 0 (or the end of the range closest
/// to 0). The search runs upwards if `f` is negative at its start, otherwise downwards, in 60 equal steps. The interval
/// of the first change of sign is refined. `None` if the sign does not change up to the end of the range. A NaN value
/// counts as a sign that has not changed yet.
pub(super) fn find_rising_root(f: impl Fn(f64) -> f64, low: f64, high: f64) -> Option<f64> {
    const SEARCH_STEPS: usize = 60;
    let start = 0.0f64.clamp(low, high);
    let start_value = f(start);
    let (end, sign) = if start_value < 0.0 { (high, 1.0) } else { (low, -1.0) };
    // Position and value of the last point; a search downwards mirrors the sign of the value, so that the value
    // changes from negative to positive in both directions.
    let mut inner = [start, sign * start_value];
    for i in 1..=SEARCH_STEPS {
        let x = start + (end - start) * i as f64 / SEARCH_STEPS as f64;
        let next = [x, sign * f(x)];
        if next[1] >= 0.0 {
            return Some(find_bracketed_root(|x| sign * f(x), inner, next));
        }
        inner = next;
    }
    None
}

/// Finds the root of `f` between `inner`, where `f` is negative or NaN, and `outer`, where `f` is at least 0. Both are
/// given as position and value. Uses regula falsi with the Illinois modification (M. Dowell and P. Jarratt, BIT 11,
/// 1971) and a bisection in every fourth iteration. Returns the last point once its value is 0, the end that it
/// replaces moves by less than 1e-13, or the bracket is narrower than 1e-13. After 60 iterations the result is the
/// outer end.
fn find_bracketed_root(f: impl Fn(f64) -> f64, mut inner: [f64; 2], mut outer: [f64; 2]) -> f64 {
    const MAX_ROOT_ITERATIONS: usize = 60;
    const ROOT_TOLERANCE: f64 = 1e-13;
    // Whether the last iteration replaced the outer end.
    let mut previous_is_outer_end = None;
    for iteration in 1..=MAX_ROOT_ITERATIONS {
        let secant = (inner[0] * outer[1] - outer[0] * inner[1]) / (outer[1] - inner[1]);
        // False also for a NaN secant, which is then replaced by a bisection.
        let is_between = (secant - inner[0]) * (secant - outer[0]) < 0.0;
        let x = if is_between && iteration % 4 != 0 { secant } else { 0.5 * (inner[0] + outer[0]) };
        let value = f(x);
        let is_outer_end = value >= 0.0;
        // The new point replaces the end with the same sign of the value.
        let (replaced_end, kept_end) = if is_outer_end { (&mut outer, &mut inner) } else { (&mut inner, &mut outer) };
        // Distance by which the replaced end moves.
        let moved_distance = (x - replaced_end[0]).abs();
        *replaced_end = [x, value];
        // An end point that stays twice would slow down the secant; half its value moves the secant towards it.
        if previous_is_outer_end == Some(is_outer_end) {
            kept_end[1] *= 0.5;
        }
        previous_is_outer_end = Some(is_outer_end);
        if value == 0.0 || moved_distance < ROOT_TOLERANCE || (outer[0] - inner[0]).abs() < ROOT_TOLERANCE {
            return x;
        }
    }
    outer[0]
}
