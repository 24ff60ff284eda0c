//! Writing files, in one place: a file is either there in full or not there at all.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Why a file could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write `{}`: {source}", path.display())]
pub struct WriteError {
    /// The file that was to be written.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

/// Writes `path` through a temporary file in the same folder, which is renamed when `fill` has succeeded.
///
/// Missing parent folders are made. An older file stays as it was until the new one is complete.
///
/// # Errors
/// When the folder cannot be made or written, or `fill` fails; no half-written file is left behind.
pub fn write_atomically(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), WriteError> {
    try_write(path, fill).map_err(|source| WriteError { path: path.to_owned(), source })
}

fn try_write(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    if path.file_name().is_none() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "this is not the name of a file"));
    }
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    std::fs::create_dir_all(folder)?;
    let mut temporary = temporary_in(folder)?;
    {
        let mut buffered = BufWriter::new(temporary.as_file_mut());
        fill(&mut buffered)?;
        buffered.flush()?;
    }
    temporary.persist(path)?;
    Ok(())
}

fn temporary_in(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".skidpad-");
    // The default of `tempfile` is for secrets (0600); results are for reading, as far as the umask allows.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makes_folders_and_replaces_whole_files() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a/b/c.txt");
        for text in ["first", "second, longer"] {
            write_atomically(&path, |out| out.write_all(text.as_bytes())).expect("writable");
            assert_eq!(std::fs::read_to_string(&path).expect("readable"), text);
        }
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("c.txt");
        write_atomically(&path, |out| out.write_all(b"old")).expect("writable");
        let failed = write_atomically(&path, |out| {
            out.write_all(b"half of")?;
            Err(io::Error::other("disk full"))
        });
        let message = failed.expect_err("must fail").to_string();
        assert!(message.contains("c.txt") && message.contains("disk full"), "{message}");
        assert_eq!(std::fs::read_to_string(&path).expect("readable"), "old");
        assert_eq!(std::fs::read_dir(folder.path()).expect("readable").count(), 1);
    }

    #[test]
    fn a_folder_is_not_a_file() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        assert!(write_atomically(folder.path(), |_| Ok(())).is_err());
        assert!(write_atomically(Path::new(".."), |_| Ok(())).is_err());
    }
}
