//! Line search along a Newton step, by the component of the residual along the step.

/// Smallest share of the bracket that a secant step cuts off at either end.
const MIN_BRACKET_CUT: f32 = 0.1;

/// State of a line search along a Newton step.
///
/// The component of the residual along the step falls from a positive value, with kinks: at the onset of sliding of a tyre or of the body
/// under it the slope changes by orders of magnitude. Two iterates with opposite signs bracket the solution.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LineSearch {
    /// Share of the step at which the residual is evaluated.
    pub fraction: f32,
    /// Lower end of the bracket: share of the step, and residual along the step.
    lower: [f32; 2],
    /// Upper end of the bracket, where the residual is negative; `None` if the solution is not bracketed yet.
    upper: Option<[f32; 2]>,
}

impl LineSearch {
    /// Returns a line search without a bracket that evaluates the share `gone` of the step first. At the start of the step the residual along the
    /// step is `missing`.
    pub fn new(gone: f32, missing: f32) -> Self {
        Self { fraction: gone, lower: [0.0, missing], upper: None }
    }

    /// Records that the residual along the step is `missing` at the share evaluated last. A negative residual becomes the upper end of the bracket
    /// (if that at the lower end is positive). Otherwise the share becomes the lower end, but only if an upper end exists.
    pub fn record_residual(&mut self, missing: f32) {
        if missing < 0.0 && self.lower[1] > 0.0 {
            self.upper = Some([self.fraction, missing]);
        } else if self.upper.is_some() {
            self.lower = [self.fraction, missing];
        }
    }

    /// Returns true if two iterates bracket the solution.
    pub fn is_bracketed(&self) -> bool {
        self.upper.is_some()
    }

    /// Returns true if the share `ahead` beyond the share evaluated last is strictly inside the bracket; false without a bracket.
    pub fn brackets(&self, ahead: f32) -> bool {
        let share = self.fraction + ahead;
        self.upper.is_some_and(|far| share > self.lower[0] && share < far[0])
    }

    /// Sets the next share to a secant step inside the bracket, at least 0.1 of its width from either end; to its middle if the secant is not finite.
    /// Does nothing without a bracket.
    pub fn secant_step(&mut self) {
        let Some(far) = self.upper else { return };
        let width = far[0] - self.lower[0];
        let secant = self.lower[1] / (self.lower[1] - far[1]); // share of the bracket
        let secant = if secant.is_finite() { secant } else { 0.5 };
        self.fraction = self.lower[0] + width * secant.clamp(MIN_BRACKET_CUT, 1.0 - MIN_BRACKET_CUT);
    }

    /// Returns a line search along another step from the share evaluated last, where the residual along the new step is `missing`. The new step
    /// advances by the share `ahead` along the old one. The end of the bracket in the direction of the new step becomes its upper end, with share and
    /// residual converted to the new step; it is dropped unless it is beyond the whole new step, its residual is negative and `missing` positive. The
    /// first share is 1.
    pub fn redirected(&self, ahead: f32, missing: f32) -> Self {
        let end = if ahead < 0.0 { Some(self.lower) } else { self.upper };
        let far = end.map(|[share, missing]| [(share - self.fraction) / ahead, missing * ahead]);
        Self { upper: far.filter(|far| far[0] > 1.0 && far[1] < 0.0 && missing > 0.0), ..Self::new(1.0, missing) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the residual of a plank that sticks to the ground, is carried along, or is pulled back.
    fn missing(speed: f32) -> f32 {
        let push = (75.0 * (5.0 - speed)).clamp(-7.5, 7.5);
        let comes = if push.abs() < 3.0 { 0.0 } else { (push - 3.0 * push.signum()) / 0.01 };
        comes - speed
    }

    /// Checks that the search converges to the solution from either side, up to rounding.
    #[test]
    fn cuts_find_the_answer_between_two_looks() {
        for (start, step) in [(0.0, 450.0), (450.0, -450.0)] {
            let mut line = LineSearch::new(1.0, missing(start) * step);
            let mut looks = 0;
            // The last digit of the share is worth 0.2 m/s of the residual.
            while missing(start + line.fraction * step).abs() > 1.0 {
                line.record_residual(missing(start + line.fraction * step) * step);
                assert!(line.is_bracketed());
                line.secant_step();
                looks += 1;
                assert!(looks < 200, "{line:?}");
            }
            let found = start + line.fraction * step;
            // Friction of 3 N s acts on the plank, and its momentum is 0.0496 N s.
            assert!((found - 4.9593).abs() < 1e-3, "{found} m/s");
        }
    }

    /// Checks that a step in the opposite direction keeps the end of the bracket in this direction.
    #[test]
    fn a_step_back_keeps_the_near_end() {
        let mut line = LineSearch::new(1.0, 2.0);
        line.record_residual(-4.0);
        let back = line.redirected(-0.5, 3.0);
        assert!(back.is_bracketed() && back.brackets(0.9) && !back.brackets(1.1), "{back:?}");
    }
}
