//! What is said of a file that is legal.

/// Something worth a look, and the key it is about.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Lint {
    pub path: String,
    pub text: String,
}

impl Lint {
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into() }
    }
}
