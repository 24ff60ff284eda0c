//! Line search along a Newton step, by the component of the residual along the step.

/// Smallest share of the bracket that a secant step cuts off at either end.
const MIN_BRACKET_CUT: f32 = 0.1;

/// State of a line search along a Newton step.
///
/// The component of the residual along the step falls from a positive value, with kinks: at the onset of sliding of a
/// tyre or of the body under it the slope changes by orders of magnitude. Two iterates with opposite signs bracket the
/// solution.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LineSearch {
    /// Share of the step at which the residual is evaluated.
    pub step_share: f32,
    /// Lower end of the bracket: share of the step, and residual along the step.
    lower_end: [f32; 2],
    /// Upper end of the bracket, where the residual is negative; `None` if the solution is not bracketed yet.
    upper_end: Option<[f32; 2]>,
}

impl LineSearch {
    /// Returns a line search without a bracket that evaluates the share `step_share` of the step first. At the start of
    /// the step the residual along the step is `residual`.
    pub fn new(step_share: f32, residual: f32) -> Self {
        Self { step_share, lower_end: [0.0, residual], upper_end: None }
    }

    /// Records that the residual along the step is `residual` at the share evaluated last. If it is negative and the
    /// residual at the lower end is positive, the share becomes the upper end of the bracket. Otherwise the share
    /// becomes the lower end, but only if an upper end exists.
    pub fn record_residual(&mut self, residual: f32) {
        if residual < 0.0 && self.lower_end[1] > 0.0 {
            self.upper_end = Some([self.step_share, residual]);
        } else if self.upper_end.is_some() {
            self.lower_end = [self.step_share, residual];
        }
    }

    /// Returns true if two iterates bracket the solution.
    pub fn is_bracketed(&self) -> bool {
        self.upper_end.is_some()
    }

    /// Returns true if the share `advance` beyond the share evaluated last is strictly inside the bracket; false
    /// without a bracket.
    pub fn brackets(&self, advance: f32) -> bool {
        let step_share = self.step_share + advance;
        self.upper_end.is_some_and(|upper| step_share > self.lower_end[0] && step_share < upper[0])
    }

    /// Sets the next share to a secant step inside the bracket, at least 0.1 of its width from either end; to its
    /// middle if the secant is not finite. Does nothing without a bracket.
    pub fn secant_step(&mut self) {
        let Some(upper) = self.upper_end else { return };
        let width = upper[0] - self.lower_end[0];
        let secant_share = self.lower_end[1] / (self.lower_end[1] - upper[1]); // share of the bracket
        let secant_share = if secant_share.is_finite() { secant_share } else { 0.5 };
        self.step_share = self.lower_end[0] + width * secant_share.clamp(MIN_BRACKET_CUT, 1.0 - MIN_BRACKET_CUT);
    }

    /// Returns a line search along a new step that starts at the share of the old step evaluated last. `residual` is
    /// the residual along the new step at this start. The new step advances by the share `advance` of the old one
    /// (negative: backwards). The first evaluated share is 1.
    ///
    /// The end of the old bracket ahead of the start becomes the upper end, with share and residual converted to the
    /// new step: the lower end if `advance` is negative, else the upper end. It is dropped unless it is beyond the
    /// whole new step, its residual is negative and `residual` is positive.
    pub fn redirected(&self, advance: f32, residual: f32) -> Self {
        let bracket_end = if advance < 0.0 { Some(self.lower_end) } else { self.upper_end };
        let upper =
            bracket_end.map(|[share, end_residual]| [(share - self.step_share) / advance, end_residual * advance]);
        Self {
            upper_end: upper.filter(|upper| upper[0] > 1.0 && upper[1] < 0.0 && residual > 0.0),
            ..Self::new(1.0, residual)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the residual of a plank that sticks to the ground, is carried along, or is pulled back.
    fn plank_residual(speed: f32) -> f32 {
        let friction = (75.0 * (5.0 - speed)).clamp(-7.5, 7.5);
        let resulting_speed = if friction.abs() < 3.0 { 0.0 } else { (friction - 3.0 * friction.signum()) / 0.01 };
        resulting_speed - speed
    }

    /// Checks that the search converges to the solution from either side, up to rounding.
    #[test]
    fn cuts_find_the_answer_between_two_looks() {
        for (start, step) in [(0.0, 450.0), (450.0, -450.0)] {
            let mut search = LineSearch::new(1.0, plank_residual(start) * step);
            let mut iterations = 0;
            // The last digit of the share is worth 0.2 m/s of the residual.
            while plank_residual(start + search.step_share * step).abs() > 1.0 {
                search.record_residual(plank_residual(start + search.step_share * step) * step);
                assert!(search.is_bracketed());
                search.secant_step();
                iterations += 1;
                assert!(iterations < 200, "{search:?}");
            }
            let found_speed = start + search.step_share * step;
            // Friction of 3 N s acts on the plank, and its momentum is 0.0496 N s.
            assert!((found_speed - 4.9593).abs() < 1e-3, "{found_speed} m/s");
        }
    }

    /// Checks that a step in the opposite direction keeps the end of the bracket in this direction.
    #[test]
    fn a_step_back_keeps_the_near_end() {
        let mut search = LineSearch::new(1.0, 2.0);
        search.record_residual(-4.0);
        let redirected = search.redirected(-0.5, 3.0);
        assert!(redirected.is_bracketed() && redirected.brackets(0.9) && !redirected.brackets(1.1), "{redirected:?}");
    }
}
