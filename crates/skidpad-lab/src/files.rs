//! File output. A file is written completely or not at all.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Reason why a file could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write `{}`: {reason}", skidpad_spec::printable::one_line(&path.to_string_lossy()))]
pub struct WriteError {
    /// Path of the file.
    pub path: PathBuf,
    /// Error of the operating system. It is part of the message and therefore not also its `source`.
    pub reason: io::Error,
}

impl WriteError {
    /// Returns a suggestion for the user that fits the kind of error: folder instead of file, file instead of folder,
    /// missing permission, file size limit, full disk. All other kinds suggest another place.
    pub fn remedy(&self) -> &'static str {
        match self.reason.kind() {
            io::ErrorKind::IsADirectory => "this is a folder: name a file in it",
            io::ErrorKind::NotADirectory => "a file stands where a folder is needed: name another folder",
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => "name a place you may write to",
            io::ErrorKind::FileTooLarge => "raise the file size limit of the shell (`ulimit -f`), or write less",
            io::ErrorKind::StorageFull => "make room, or name another place",
            _ => "name another place",
        }
    }
}

/// Path that stands for the standard output.
pub const STANDARD_OUTPUT: &str = "-";

/// Writes the file `path` with `fill`. The data goes to a temporary file in the same folder, which replaces `path` once
/// `fill` has succeeded.
///
/// Missing parent folders are created. An existing file is kept until the new one is complete, and the new one gets its
/// permissions. If `path` is a symbolic link, its target is written and the link is kept. Devices and pipes are written
/// in place, and [`STANDARD_OUTPUT`] writes to the standard output. A pipe that its reader closes is not an error.
///
/// # Errors
/// Returns an error if the folder cannot be created or written, or if `fill` fails. No incomplete file is left behind.
pub fn write_atomically(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), WriteError> {
    try_write(path, fill).map_err(|reason| WriteError { path: path.to_owned(), reason })
}

/// Checks whether `path` can be written, by creating and removing a temporary file in its innermost existing folder.
/// Leaves nothing behind. The standard output, devices and pipes are not tested. Used before a long run.
///
/// # Errors
/// Returns the error that a write would return at this moment.
pub fn check_writable(path: &Path) -> Result<(), WriteError> {
    let look = || match write_target(path)? {
        WriteTarget::File(path) => temporary_in(existing_folder(&path)?).map(drop),
        WriteTarget::StandardOutput | WriteTarget::Device(_) => Ok(()),
    };
    look().map_err(|reason| WriteError { path: path.to_owned(), reason })
}

/// Returns whether both paths lead to the same file through any names and links: the same existing file on Unix
/// (device and inode), or equal paths after resolving links. Errors count as different files.
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let number = |path: &Path| std::fs::metadata(path).ok().map(|it| (it.dev(), it.ino()));
        if number(a).is_some() && number(a) == number(b) {
            return true;
        }
    }
    resolve_symlinks(a).ok().zip(resolve_symlinks(b).ok()).is_some_and(|(a, b)| a == b)
}

/// Temporary files that are currently being written.
static UNFINISHED_FILES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes the temporary files of unfinished writes and clears their list, without reporting errors. Called when the
/// program is interrupted.
pub fn remove_unfinished() {
    for path in unfinished_files().drain(..) {
        // An error cannot be reported here: the program is about to end.
        _ = std::fs::remove_file(path);
    }
}

/// Locks the list of temporary files. A panic of another thread while it held the lock is ignored.
fn unfinished_files() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED_FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Resolves `path` through symbolic links to an absolute path. The last link may point to a file that does not exist
/// yet. A path in a missing folder is returned after following links at its end. Fails after 40 links.
fn resolve_symlinks(path: &Path) -> io::Result<PathBuf> {
    const MAX_SYMLINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MAX_SYMLINKS {
        let Ok(target) = std::fs::read_link(&path) else {
            let (Some(name), Ok(folder)) = (path.file_name(), folder_of(&path).canonicalize()) else { return Ok(path) };
            return Ok(folder.join(name));
        };
        path = folder_of(&path).join(target);
    }
    Err(io::Error::other("too many links"))
}

/// Returns the folder of `path`; `.` for a bare file name.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns the innermost existing folder on the way to `path`; an error if the innermost existing entry is not a
/// folder.
fn existing_folder(path: &Path) -> io::Result<&Path> {
    let named = folder_of(path).ancestors().map(|folder| if folder == Path::new("") { Path::new(".") } else { folder });
    let there = named.into_iter().find(|folder| folder.exists()).unwrap_or(Path::new("."));
    if there.is_dir() { Ok(there) } else { Err(io::ErrorKind::NotADirectory.into()) }
}

/// Destination of a write.
enum WriteTarget {
    StandardOutput,
    /// Existing entry that is neither a file nor a folder, such as a pipe.
    Device(PathBuf),
    /// File that may still have to be created, together with its folder.
    File(PathBuf),
}

/// Determines the destination for `path`: standard output, a device or pipe, or a file after resolving links.
///
/// # Errors
/// Fails for a path without a file name, for a folder and for too many links.
fn write_target(path: &Path) -> io::Result<WriteTarget> {
    if path == Path::new(STANDARD_OUTPUT) {
        return Ok(WriteTarget::StandardOutput);
    }
    if path.file_name().is_none() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "this is not the name of a file"));
    }
    let path = resolve_symlinks(path)?;
    match std::fs::metadata(&path) {
        Ok(there) if there.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(there) if !there.is_file() => Ok(WriteTarget::Device(path)),
        _ => Ok(WriteTarget::File(path)),
    }
}

/// Writes to the destination of `path` with `fill`; files by a temporary file, devices and the standard output
/// directly.
fn try_write(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    match write_target(path)? {
        WriteTarget::StandardOutput => until_closed(io::stdout().lock(), fill),
        WriteTarget::Device(path) => until_closed(std::fs::OpenOptions::new().write(true).open(path)?, fill),
        WriteTarget::File(path) => write_file(&path, fill),
    }
}

/// Creates the missing parent folders of `path` and a temporary file there, which is listed in [`UNFINISHED_FILES`]
/// while it is written. Replaces `path` by it if `fill` succeeds. Created folders remain after an error.
fn write_file(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let older = std::fs::metadata(path).ok();
    existing_folder(path)?;
    let folder = folder_of(path);
    std::fs::create_dir_all(folder)?;
    let temporary = temporary_in(folder)?;
    let name = temporary.path().to_owned();
    unfinished_files().push(name.clone());
    let written = fill_and_rename(temporary, older.map(|older| older.permissions()), path, fill);
    // After a failed write the temporary file has already removed itself.
    unfinished_files().retain(|other| *other != name);
    written
}

/// Writes the temporary file with `fill`, sets the permissions `mode` if given, and renames it to `path`. It is
/// deleted after an error.
fn fill_and_rename(
    mut temporary: tempfile::NamedTempFile,
    mode: Option<std::fs::Permissions>,
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    through(temporary.as_file_mut(), fill)?;
    if let Some(mode) = mode {
        temporary.as_file().set_permissions(mode)?;
    }
    temporary.persist(path)?;
    Ok(())
}

/// Calls `fill` with a buffered writer to `to` and flushes it.
fn through(to: impl Write, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut buffered = BufWriter::new(to);
    fill(&mut buffered)?;
    buffered.flush()
}

/// Writer to a destination that may be a pipe. It records a closed pipe itself, because writers of tables hide the kind
/// of an error.
struct Pipe<W> {
    /// Destination.
    to: W,
    /// Whether a write found the pipe closed by its reader.
    closed: bool,
}

impl<W: Write> Pipe<W> {
    /// Sets `closed` if `done` is the error of a closed pipe. Returns `done`.
    fn record_closed<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        self.closed |= done.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe);
        done
    }
}

impl<W: Write> Write for Pipe<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.to.write(bytes);
        self.record_closed(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.to.flush();
        self.record_closed(done)
    }
}

/// Writes to `to` with `fill`. Any error after the reader has closed the pipe counts as success.
fn until_closed(to: impl Write, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut pipe = Pipe { to, closed: false };
    match through(&mut pipe, fill) {
        Err(_) if pipe.closed => Ok(()),
        written => written,
    }
}

/// Creates a temporary file in `folder`, named `.skidpad-` and random letters, which is deleted when dropped.
fn temporary_in(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".skidpad-");
    // The default of `tempfile` is 0600, for secrets. Results are readable as far as the umask allows.
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
    fn interrupted_writes_leave_nothing() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("c.txt");
        let interrupted = write_atomically(&path, |out| {
            out.write_all(b"half of")?;
            out.flush()?;
            assert_eq!(std::fs::read_dir(folder.path())?.count(), 1);
            unfinished_files().retain(|name| name.starts_with(folder.path()) || !name.exists());
            remove_unfinished();
            assert_eq!(std::fs::read_dir(folder.path())?.count(), 0);
            Err(io::Error::other("interrupted"))
        });
        assert!(interrupted.is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_modes_and_devices_stay() {
        use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
        let folder = tempfile::tempdir().expect("a temporary folder");
        let [real, link, dangling, new] = ["real", "link", "dangling", "new"].map(|name| folder.path().join(name));
        std::fs::write(&real, "old").expect("writable");
        std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o600)).expect("ours");
        symlink("real", &link).expect("a link");
        symlink("new", &dangling).expect("a link");
        for (path, target) in [(&link, &real), (&dangling, &new)] {
            write_atomically(path, |out| out.write_all(b"text")).expect("writable");
            assert!(path.is_symlink());
            assert_eq!(std::fs::read_to_string(target).expect("readable"), "text");
        }
        assert_eq!(std::fs::metadata(&real).expect("there").permissions().mode() & 0o777, 0o600);
        write_atomically(Path::new("/dev/null"), |out| out.write_all(b"text")).expect("a device takes it");
        assert!(std::fs::metadata("/dev/null").expect("there").file_type().is_char_device());
        assert!(is_same_file(&link, &real) && is_same_file(&dangling, &folder.path().join("./new")));
        assert!(!is_same_file(&link, &new));
        let hard = folder.path().join("hard");
        std::fs::hard_link(&real, &hard).expect("a link");
        assert!(is_same_file(&hard, &real));
    }

    #[test]
    fn a_folder_is_not_a_file() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        assert!(write_atomically(folder.path(), |_| Ok(())).is_err());
        assert!(write_atomically(Path::new(".."), |_| Ok(())).is_err());
    }

    /// The check before a run and the write after it return the same error, with a remedy.
    #[test]
    fn what_cannot_be_written_is_told_before() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("file");
        std::fs::write(&file, "text").expect("writable");
        for (path, remedy) in [
            (folder.path().to_owned(), "name a file in it"),
            (file.join("a.csv"), "name another folder"),
            (file.join("b/a.csv"), "name another folder"),
            ("..".into(), "name another place"),
        ] {
            let before = check_writable(&path).expect_err("not writable");
            let after = write_atomically(&path, |_| Ok(())).expect_err("not writable");
            assert_eq!(before.to_string(), after.to_string());
            assert!(before.remedy().contains(remedy), "{before}");
            assert!(core::error::Error::source(&before).is_none());
        }
        for path in [file.clone(), folder.path().join("new/folder/a.csv"), "-".into(), "/dev/null".into()] {
            check_writable(&path).unwrap_or_else(|error| panic!("{error}"));
        }
        assert_eq!(std::fs::read_dir(folder.path()).expect("readable").count(), 1);
    }
}
