//! Search for the highest value that a run passes, for example the entry speed of a lane change.

/// Grid of values to search: first upwards in coarse steps until a run fails, then between the last passed and the
/// failed value in fine steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimitSearch {
    /// Lowest value.
    pub lowest: f64,
    /// Number of coarse steps above the lowest value.
    pub coarse_steps: u32,
    /// Fine steps in a coarse step, at least 1.
    pub fine_per_coarse: u32,
    /// Length of a fine step, > 0.
    pub fine_step: f64,
}

/// Result of a [`LimitSearch`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SearchResult {
    /// Highest passed value below the lowest failed one; `None` if the lowest value fails.
    pub highest_pass: Option<f64>,
    /// Lowest failed value; `None` if every value passes.
    pub lowest_fail: Option<f64>,
    /// Number of runs.
    pub runs: u32,
}

impl LimitSearch {
    /// Returns the maximum number of runs.
    pub fn max_runs(&self) -> u32 {
        self.coarse_steps + self.fine_per_coarse
    }

    /// Searches the highest passing value. `passes` drives a run at a value and returns true if the run passes. The
    /// coarse values are tried upwards until one fails. Then the fine values between the last passed and the failed
    /// coarse value are tried upwards until one fails. There is no fine search if the lowest value fails, or if all
    /// coarse values pass.
    pub fn run(&self, mut passes: impl FnMut(f64) -> bool) -> SearchResult {
        // Products avoid the accumulation of rounding errors.
        let value = |fine_count: u32| self.lowest + self.fine_step * f64::from(fine_count);
        let mut result = SearchResult::default();
        let mut try_value = |fine_count: u32| {
            let has_passed = passes(value(fine_count));
            result.runs += 1;
            if has_passed {
                result.highest_pass = Some(value(fine_count));
            } else {
                result.lowest_fail = Some(value(fine_count));
            }
            has_passed
        };
        let first_failed = (0..=self.coarse_steps).find(|coarse| !try_value(coarse * self.fine_per_coarse));
        if let Some(failed) = first_failed.filter(|coarse| *coarse > 0) {
            // The value before the failed one has passed.
            let passed = (failed - 1) * self.fine_per_coarse;
            // The search ends at the first failure.
            let _ = (passed + 1..failed * self.fine_per_coarse).find(|&fine_count| !try_value(fine_count));
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Search from 10 to 50 in steps of 5 and 1.
    const SEARCH: LimitSearch = LimitSearch { lowest: 10.0, coarse_steps: 8, fine_per_coarse: 5, fine_step: 1.0 };

    /// The limit is found to a fine step, within the maximum number of runs.
    #[test]
    fn the_limit_is_found_to_a_fine_step() {
        for limit in 10..50 {
            let limit = f64::from(limit);
            let found = SEARCH.run(|value| value <= limit);
            assert_eq!((found.highest_pass, found.lowest_fail), (Some(limit), Some(limit + 1.0)));
            assert!(found.runs <= SEARCH.max_runs(), "{found:?}");
        }
    }

    /// Nothing passes, or everything does.
    #[test]
    fn limits_outside_the_range_are_missing() {
        let none = SEARCH.run(|_| false);
        assert_eq!((none.highest_pass, none.lowest_fail, none.runs), (None, Some(10.0), 1));
        let all = SEARCH.run(|_| true);
        assert_eq!((all.highest_pass, all.lowest_fail, all.runs), (Some(50.0), None, 9));
    }
}
