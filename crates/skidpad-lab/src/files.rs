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
            io::ErrorKind::IsADirectory => "this is a folder; name a file in it",
            io::ErrorKind::NotADirectory => "a part of the path is a file, not a folder; name another folder",
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                "name a folder with write permission"
            }
            io::ErrorKind::FileTooLarge => "raise the file size limit of the shell (`ulimit -f`), or write less",
            io::ErrorKind::StorageFull => "free disk space, or name another location",
            _ => "name another location",
        }
    }
}

/// Path that stands for the standard output.
pub const STANDARD_OUTPUT: &str = "-";

/// Writes the file `path` with `write_content`. The data goes to a temporary file in the same folder, which replaces
/// `path` once `write_content` has succeeded.
///
/// Missing parent folders are created. An existing file is kept until the new one is complete, and the new one gets its
/// permissions. If `path` is a symbolic link, its target is written and the link is kept. Devices and pipes are written
/// in place, and [`STANDARD_OUTPUT`] writes to the standard output. A pipe that its reader closes is not an error.
///
/// # Errors
/// Returns an error if the folder cannot be created or written, or if `write_content` fails. No incomplete file is left
/// behind.
pub fn write_atomically(
    path: &Path,
    write_content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), WriteError> {
    try_write(path, write_content).map_err(|reason| WriteError { path: path.to_owned(), reason })
}

/// Checks whether `path` can be written, before a long run. Creates and removes a temporary file in the innermost
/// existing folder of the path. Standard output, devices and pipes are not tested.
///
/// # Errors
/// Returns the error that a write would return at this moment.
pub fn check_writable(path: &Path) -> Result<(), WriteError> {
    let try_check = || match write_target(path)? {
        // The temporary file is deleted when dropped.
        WriteTarget::File(path) => create_temporary(require_existing_folder(&path)?).map(drop),
        WriteTarget::StandardOutput | WriteTarget::Device(_) => Ok(()),
    };
    try_check().map_err(|reason| WriteError { path: path.to_owned(), reason })
}

/// Returns true if both paths lead to the same file through any names and links. On Unix the same device and inode are
/// sufficient. Otherwise the paths must be equal after resolving links. Errors count as different files.
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let device_and_inode =
            |path: &Path| std::fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()));
        if device_and_inode(a).is_some() && device_and_inode(a) == device_and_inode(b) {
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

/// Resolves `path` through symbolic links to an absolute path. The file at the end of the links need not exist. If its
/// folder is missing, or it has no file name, the path at the end of the links is returned without making it absolute.
///
/// # Errors
/// Fails for 40 or more links in a row.
fn resolve_symlinks(path: &Path) -> io::Result<PathBuf> {
    const MAX_SYMLINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MAX_SYMLINKS {
        // Not a link: resolves the links of the folder only.
        let Ok(target) = std::fs::read_link(&path) else {
            let (Some(name), Ok(folder)) = (path.file_name(), folder_of(&path).canonicalize()) else { return Ok(path) };
            return Ok(folder.join(name));
        };
        // A relative target counts from the folder of the link; an absolute one replaces it.
        path = folder_of(&path).join(target);
    }
    Err(io::Error::other("too many links"))
}

/// Returns the folder of `path`; `.` for a bare file name.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns the innermost existing folder on the way to `path`; an error if the innermost existing entry is not a
/// folder. Only ancestors of `path` are tested, not `path` itself.
fn require_existing_folder(path: &Path) -> io::Result<&Path> {
    // The last ancestor of a relative path is empty and stands for the current folder.
    let ancestors =
        folder_of(path).ancestors().map(|folder| if folder == Path::new("") { Path::new(".") } else { folder });
    let innermost = ancestors.into_iter().find(|folder| folder.exists()).unwrap_or(Path::new("."));
    if innermost.is_dir() { Ok(innermost) } else { Err(io::ErrorKind::NotADirectory.into()) }
}

/// Destination of a write.
enum WriteTarget {
    StandardOutput,
    /// Existing entry that is neither a file nor a folder, such as a pipe.
    Device(PathBuf),
    /// File that may still have to be created, together with its folder.
    File(PathBuf),
}

/// Determines the destination of a write to `path`. The path [`STANDARD_OUTPUT`] is the standard output. All other
/// paths are resolved through symbolic links. An existing entry that is neither a file nor a folder is a device (or
/// pipe). Everything else is a file: an existing file, a missing entry, and an entry that cannot be examined. The
/// destination has the resolved path.
///
/// # Errors
/// Fails for a path without a file name (such as `..`), for an existing folder, and for too many links.
fn write_target(path: &Path) -> io::Result<WriteTarget> {
    if path == Path::new(STANDARD_OUTPUT) {
        return Ok(WriteTarget::StandardOutput);
    }
    if path.file_name().is_none() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "this is not a file name"));
    }
    let path = resolve_symlinks(path)?;
    match std::fs::metadata(&path) {
        Ok(metadata) if metadata.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(metadata) if !metadata.is_file() => Ok(WriteTarget::Device(path)),
        _ => Ok(WriteTarget::File(path)),
    }
}

/// Writes to the destination of `path` with `write_content`: a file by a temporary file, a device or the standard
/// output directly. A pipe that its reader closes is not an error.
fn try_write(path: &Path, write_content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    match write_target(path)? {
        WriteTarget::StandardOutput => write_until_closed(io::stdout().lock(), write_content),
        WriteTarget::Device(path) => {
            write_until_closed(std::fs::OpenOptions::new().write(true).open(path)?, write_content)
        }
        WriteTarget::File(path) => write_file(&path, write_content),
    }
}

/// Writes the file `path` with `write_content` by a temporary file in the same folder, which replaces `path` after
/// success. Missing parent folders are created first and remain after an error; an ancestor that is not a folder is an
/// error. The new file has the permissions of an existing one. The temporary file is listed in [`UNFINISHED_FILES`]
/// while it is written.
fn write_file(path: &Path, write_content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let existing_metadata = std::fs::metadata(path).ok();
    require_existing_folder(path)?;
    let folder = folder_of(path);
    std::fs::create_dir_all(folder)?;
    let temporary = create_temporary(folder)?;
    let name = temporary.path().to_owned();
    unfinished_files().push(name.clone());
    let result =
        write_and_rename(temporary, existing_metadata.map(|metadata| metadata.permissions()), path, write_content);
    // After a failed write the temporary file has already removed itself.
    unfinished_files().retain(|listed_name| *listed_name != name);
    result
}

/// Writes the temporary file with `write_content`, sets `permissions` if given, and renames it to `path`. It is
/// deleted after an error.
fn write_and_rename(
    mut temporary: tempfile::NamedTempFile,
    permissions: Option<std::fs::Permissions>,
    path: &Path,
    write_content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    // `?` drops and thereby deletes the temporary file.
    write_buffered(temporary.as_file_mut(), write_content)?;
    if let Some(permissions) = permissions {
        temporary.as_file().set_permissions(permissions)?;
    }
    temporary.persist(path)?;
    Ok(())
}

/// Calls `write_content` with a buffered writer to `destination` and flushes it.
fn write_buffered(
    destination: impl Write,
    write_content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut buffered = BufWriter::new(destination);
    write_content(&mut buffered)?;
    buffered.flush()
}

/// Writer to a destination that may be a pipe. It records a closed pipe itself, because writers of tables hide the kind
/// of an error.
struct Pipe<W> {
    /// Destination.
    destination: W,
    /// Whether a write found the pipe closed by its reader.
    is_closed: bool,
}

impl<W: Write> Pipe<W> {
    /// Sets `is_closed` if `result` is the error of a closed pipe. Returns `result`.
    fn record_closed<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        self.is_closed |= result.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe);
        result
    }
}

impl<W: Write> Write for Pipe<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.destination.write(bytes);
        self.record_closed(result)
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.destination.flush();
        self.record_closed(result)
    }
}

/// Writes to `destination` with `write_content`. Any error after the reader has closed the pipe counts as success.
/// Returns all other errors. The data is buffered and flushed at the end.
fn write_until_closed(
    destination: impl Write,
    write_content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut pipe = Pipe { destination, is_closed: false };
    match write_buffered(&mut pipe, write_content) {
        Err(_) if pipe.is_closed => Ok(()),
        result => result,
    }
}

/// Creates a temporary file in `folder`, named `.skidpad-` and random letters, which is deleted when dropped. On Unix
/// the file has mode 0666 less the umask.
fn create_temporary(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
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

    /// The first write creates the missing folders, the second replaces the file.
    #[test]
    fn makes_folders_and_replaces_whole_files() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a/b/c.txt");
        for text in ["first", "second, longer"] {
            write_atomically(&path, |out| out.write_all(text.as_bytes())).expect("writable");
            assert_eq!(std::fs::read_to_string(&path).expect("readable"), text);
        }
    }

    /// The error names the file and the reason; the old content stays, and no temporary file remains.
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

    /// Removing the unfinished files during a write deletes the temporary file. Files that other tests are writing
    /// stay.
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

    /// Writes through links, also to a missing target, keep the links; a replaced file keeps its mode, and a device
    /// stays a device. Links and hard links count as the same file.
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

    /// The check before a run and the write after it return the same error, with a remedy. Paths that can be written
    /// pass the check, which leaves nothing behind.
    #[test]
    fn what_cannot_be_written_is_told_before() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("file");
        std::fs::write(&file, "text").expect("writable");
        for (path, remedy) in [
            (folder.path().to_owned(), "name a file in it"),
            (file.join("a.csv"), "name another folder"),
            (file.join("b/a.csv"), "name another folder"),
            ("..".into(), "name another location"),
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
