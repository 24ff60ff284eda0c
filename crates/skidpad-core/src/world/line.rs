//! How far to go along a step of Newton's method, from what is missing along it.

/// Least share of the range in question that a look takes off either end.
const LEAST_CUT: f32 = 0.1;

/// A step that begins where something is missing along it.
///
/// What is missing falls along it, with kinks: where a tyre begins to slide, or what lies under it, the slope changes by orders of magnitude.
/// Once it has changed its sign the answer lies between two looks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Line {
    /// Share of the step that is looked at.
    pub gone: f32,
    /// Share that is too little and one that is too much, each with what is missing along the step there.
    short: [f32; 2],
    far: Option<[f32; 2]>,
}

impl Line {
    /// The share `gone` of a step that begins where so much is `missing` along it.
    pub fn new(gone: f32, missing: f32) -> Self {
        Self { gone, short: [0.0, missing], far: None }
    }

    /// So much is `missing` where it is looked at.
    pub fn look(&mut self, missing: f32) {
        if missing < 0.0 && self.short[1] > 0.0 {
            self.far = Some([self.gone, missing]);
        } else if self.far.is_some() {
            self.short = [self.gone, missing];
        }
    }

    /// Whether the answer lies between two looks.
    pub fn is_closed(&self) -> bool {
        self.far.is_some()
    }

    /// Whether it may lie `ahead` of what is looked at, as a share of the step.
    pub fn holds(&self, ahead: f32) -> bool {
        let share = self.gone + ahead;
        self.far.is_some_and(|far| share > self.short[0] && share < far[0])
    }

    /// Looks between the two.
    pub fn cut(&mut self) {
        let Some(far) = self.far else { return };
        let width = far[0] - self.short[0];
        let secant = self.short[1] / (self.short[1] - far[1]);
        let secant = if secant.is_finite() { secant } else { 0.5 };
        self.gone = self.short[0] + width * secant.clamp(LEAST_CUT, 1.0 - LEAST_CUT);
    }

    /// Another step from what is looked at, which goes on as `ahead` of this one: it keeps the end that lies before it.
    pub fn turned(&self, ahead: f32, missing: f32) -> Self {
        let end = if ahead < 0.0 { Some(self.short) } else { self.far };
        let far = end.map(|[share, missing]| [(share - self.gone) / ahead, missing * ahead]);
        Self { far: far.filter(|far| far[0] > 1.0 && far[1] < 0.0 && missing > 0.0), ..Self::new(1.0, missing) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is missing on a plank that sticks to the ground, is taken along, or is pulled back.
    fn missing(speed: f32) -> f32 {
        let push = (75.0 * (5.0 - speed)).clamp(-7.5, 7.5);
        let comes = if push.abs() < 3.0 { 0.0 } else { (push - 3.0 * push.signum()) / 0.01 };
        comes - speed
    }

    /// Cuts come as near to the answer as its digits let them, from either side.
    #[test]
    fn cuts_find_the_answer_between_two_looks() {
        for (start, step) in [(0.0, 450.0), (450.0, -450.0)] {
            let mut line = Line::new(1.0, missing(start) * step);
            let mut looks = 0;
            // A last digit of the share is 0.2 m/s of what is missing.
            while missing(start + line.gone * step).abs() > 1.0 {
                line.look(missing(start + line.gone * step) * step);
                assert!(line.is_closed());
                line.cut();
                looks += 1;
                assert!(looks < 200, "{line:?}");
            }
            let found = start + line.gone * step;
            // 3 N s hold it, and 0.0496 are its momentum.
            assert!((found - 4.9593).abs() < 1e-3, "{found} m/s");
        }
    }

    /// A step the other way keeps the end it leads to.
    #[test]
    fn a_step_back_keeps_the_near_end() {
        let mut line = Line::new(1.0, 2.0);
        line.look(-4.0);
        let back = line.turned(-0.5, 3.0);
        assert!(back.is_closed() && back.holds(0.9) && !back.holds(1.1), "{back:?}");
    }
}
