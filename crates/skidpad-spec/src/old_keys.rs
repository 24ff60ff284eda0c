//! Keys of a file with old names, which are accepted for one release.

use crate::printable::one_line;
use std::fmt::{self, Display};

/// Key of a file with its old name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OldKey {
    /// Line, from 1.
    pub line: usize,
    /// Old name, which the file has. A path if the key is now in another table.
    pub old: &'static str,
    /// New name, or the new path.
    pub new: &'static str,
}

/// All keys of a file with old names. Displayed as one warning, with a line for each key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OldKeys {
    /// Name of the file in reports.
    pub file: String,
    /// Keys with old names, in the order of the text.
    pub keys: Vec<OldKey>,
}

impl OldKeys {
    /// Returns true if the file has no key with an old name.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns a line for each key, with its place and both names.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let file = one_line(&self.file);
        self.keys.iter().map(move |OldKey { line, old, new }| format!("{file}:{line}: `{old}` is now `{new}`"))
    }
}

impl Display for OldKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} has keys with old names, which the next release rejects:", one_line(&self.file))?;
        self.lines().try_for_each(|line| write!(f, "\n  {line}"))
    }
}
