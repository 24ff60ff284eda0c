//! Verdict on measured values with an accepted range.

/// Verdict on a comparison or a published figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Everything is within its accepted range.
    Pass,
    /// A value is outside of its accepted range, or is missing.
    Fail,
    /// There is no accepted range, or nothing to compare.
    NotJudged,
}

impl Verdict {
    /// Returns the verdict as text.
    pub fn text(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "FAIL",
            Self::NotJudged => "not judged",
        }
    }
}
