//! Line search along a Newton step, by the component of the residual along the step.

/// Smallest share of the bracket that a secant step cuts off at either end.
const LEAST_CUT: f32 = 0.1;

/// State of a line search along a Newton step.
///
/// The component of the residual along the step falls from a positive value, with kinks: at the onset of sliding of a tyre or of the body
/// under it the slope changes by orders of magnitude. Two iterates with opposite signs bracket the solution.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Line {
    /// Share of the step at which the residual is evaluated.
    pub gone: f32,
    /// Lower end of the bracket: share of the step, and residual along the step.
    short: [f32; 2],
    /// Upper end of the bracket, where the residual is negative; `None` if the solution is not bracketed yet.
    far: Option<[f32; 2]>,
}

impl Line {
    /// Returns a line search that evaluates the share `gone` first, of a step at whose start the residual along the step is `missing`.
    pub fn new(gone: f32, missing: f32) -> Self {
        Self { gone, short: [0.0, missing], far: None }
    }

    /// Records that the residual along the step is `missing` at the share evaluated last.
    pub fn look(&mut self, missing: f32) {
        if missing < 0.0 && self.short[1] > 0.0 {
            self.far = Some([self.gone, missing]);
        } else if self.far.is_some() {
            self.short = [self.gone, missing];
        }
    }

    /// Returns true if two iterates bracket the solution.
    pub fn is_closed(&self) -> bool {
        self.far.is_some()
    }

    /// Returns true if the share `ahead` beyond the share evaluated last is inside the bracket.
    pub fn holds(&self, ahead: f32) -> bool {
        let share = self.gone + ahead;
        self.far.is_some_and(|far| share > self.short[0] && share < far[0])
    }

    /// Sets the next share to a secant step inside the bracket. Does nothing without a bracket.
    pub fn cut(&mut self) {
        let Some(far) = self.far else { return };
        let width = far[0] - self.short[0];
        let secant = self.short[1] / (self.short[1] - far[1]);
        let secant = if secant.is_finite() { secant } else { 0.5 };
        self.gone = self.short[0] + width * secant.clamp(LEAST_CUT, 1.0 - LEAST_CUT);
    }

    /// Returns a line search along another step from the share evaluated last, where the residual along the new step is `missing`. The new
    /// step advances by the share `ahead` along the old one. The end of the bracket in the direction of the new step becomes its upper end.
    pub fn turned(&self, ahead: f32, missing: f32) -> Self {
        let end = if ahead < 0.0 { Some(self.short) } else { self.far };
        let far = end.map(|[share, missing]| [(share - self.gone) / ahead, missing * ahead]);
        Self { far: far.filter(|far| far[0] > 1.0 && far[1] < 0.0 && missing > 0.0), ..Self::new(1.0, missing) }
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
            let mut line = Line::new(1.0, missing(start) * step);
            let mut looks = 0;
            // The last digit of the share is worth 0.2 m/s of the residual.
            while missing(start + line.gone * step).abs() > 1.0 {
                line.look(missing(start + line.gone * step) * step);
                assert!(line.is_closed());
                line.cut();
                looks += 1;
                assert!(looks < 200, "{line:?}");
            }
            let found = start + line.gone * step;
            // Friction of 3 N s acts on the plank, and its momentum is 0.0496 N s.
            assert!((found - 4.9593).abs() < 1e-3, "{found} m/s");
        }
    }

    /// Checks that a step in the opposite direction keeps the end of the bracket in this direction.
    #[test]
    fn a_step_back_keeps_the_near_end() {
        let mut line = Line::new(1.0, 2.0);
        line.look(-4.0);
        let back = line.turned(-0.5, 3.0);
        assert!(back.is_closed() && back.holds(0.9) && !back.holds(1.1), "{back:?}");
    }
}
