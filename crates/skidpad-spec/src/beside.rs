//! Where the files are that a vehicle file refers to.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Where to look.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Beside<'a> {
    /// Among the files that ship, under the paths they have there.
    Shipped,
    /// In the folder of the vehicle file.
    Folder(&'a Path),
}

impl Beside<'_> {
    /// Where the file at `path` is; `None` where it ships.
    pub fn path(self, path: &str) -> Option<PathBuf> {
        match self {
            Self::Shipped => None,
            Self::Folder(folder) => Some(folder.join(path)),
        }
    }

    /// Text of the tyre file at `path`, or why there is none. Bytes that are not UTF-8 are replaced.
    pub fn tyre(self, path: &str) -> Result<Cow<'static, str>, String> {
        match self {
            Self::Shipped => {
                let name = path.strip_prefix("tyres/").unwrap_or(path);
                let shipped = crate::tir::find(name.strip_suffix(".tir").unwrap_or(name));
                let names: Vec<&str> = crate::tir::names().collect();
                shipped.map(Cow::Borrowed).ok_or_else(|| format!("shipped tyre files: {}", names.join(", ")))
            }
            Self::Folder(folder) => {
                let path = folder.join(path);
                let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
                Ok(Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()))
            }
        }
    }
}
