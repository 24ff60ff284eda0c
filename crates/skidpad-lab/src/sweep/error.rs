//! Error of sweeps.

use std::path::PathBuf;

use skidpad_spec::{LoadError, printable};

use crate::files::WriteError;

/// Reason why a sweep cannot be described, run or merged.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// File that cannot be read, or all faults of a description, a vehicle or a scene.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// All faults of a folder, a manifest or shards, one text each.
    #[error("{}", .0.iter().map(|fault| printable::one_line(fault)).collect::<Vec<_>>().join("\n"))]
    Faults(Vec<String>),
    /// Folder that cannot be listed.
    #[error("cannot read the folder `{}`: {reason}", printable::one_line(&path.to_string_lossy()))]
    Folder {
        /// Path of the folder.
        path: PathBuf,
        /// Error of the operating system.
        reason: std::io::Error,
    },
    /// File that cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl SweepError {
    /// Creates the error of one fault.
    pub(super) fn one(fault: impl Into<String>) -> Self {
        Self::Faults(vec![fault.into()])
    }
}
