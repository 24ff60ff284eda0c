//! Warnings about legal values of a file.

/// Warning about a legal value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Warning {
    /// Path of the key.
    pub path: String,
    /// Message without the key.
    pub text: String,
}

impl Warning {
    /// Creates a warning about the key `path` with the message `text`.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into() }
    }
}
