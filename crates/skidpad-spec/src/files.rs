//! File access: regular files up to the size limit of their kind, and referenced files from allowed folders only.
//!
//! Every reader of skidpad opens its files through this module. A file that a user names may be in any folder. A file
//! that another file names (tyre file, picture, mesh, buffer, road) must be in the folder of that other file, or below;
//! links are resolved first. [`Folders::allow`] adds other folders.

use crate::excerpt::{line_and_column, line_starts};
use crate::printable::one_line;
use std::fs::{File, Metadata};
use std::io::{Error, ErrorKind, Read, Result};
use std::path::{Component, Path, PathBuf};

/// Kind of a file, which determines the size limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FileKind {
    /// Vehicle file.
    Vehicle,
    /// Scene file.
    Scene,
    /// Table of controls.
    Controls,
    /// File of another program from which a car is imported.
    Import,
    /// Tyre property file.
    Tyre,
    /// PNG picture of heights.
    Picture,
    /// OBJ or glTF file.
    Mesh,
    /// Buffer of a glTF file.
    Buffer,
    /// OpenCRG file.
    Road,
    /// Page written by skidpad itself.
    Page,
}

/// Bytes of a mebibyte.
const BYTES_PER_MIB: u64 = 1 << 20;

impl FileKind {
    /// All kinds.
    pub const ALL: [Self; 10] = [
        Self::Vehicle,
        Self::Scene,
        Self::Controls,
        Self::Import,
        Self::Tyre,
        Self::Picture,
        Self::Mesh,
        Self::Buffer,
        Self::Road,
        Self::Page,
    ];

    /// Returns the name of the kind, as used in messages, such as "tyre file".
    pub fn name(self) -> &'static str {
        match self {
            Self::Vehicle => "vehicle file",
            Self::Scene => "scene file",
            Self::Controls => "table of controls",
            Self::Import => "file to import",
            Self::Tyre => "tyre file",
            Self::Picture => "picture",
            Self::Mesh => "mesh file",
            Self::Buffer => "glTF buffer",
            Self::Road => "OpenCRG file",
            Self::Page => "page",
        }
    }

    /// Returns the size limit of the kind in bytes: 4 MiB for tyre files up to 512 MiB for meshes, buffers and roads.
    pub fn max_bytes(self) -> u64 {
        match self {
            Self::Tyre => 4 * BYTES_PER_MIB,
            Self::Vehicle | Self::Page => 16 * BYTES_PER_MIB,
            Self::Controls => 64 * BYTES_PER_MIB,
            Self::Scene | Self::Import => 128 * BYTES_PER_MIB,
            Self::Picture => 256 * BYTES_PER_MIB,
            // An OBJ file of a million triangles has about 70 MB.
            Self::Mesh | Self::Buffer | Self::Road => 512 * BYTES_PER_MIB,
        }
    }
}

/// Reads the file at `path`, which may be in any folder; links are followed. Checks type and size before the file is
/// opened and again after it was opened, and checks that both are the same file. Reads at most one byte more than the
/// limit and checks the size once more, because a file may grow while it is read.
///
/// # Errors
/// Returns an error if the operating system reports one, if the path is not a regular file (reading a device or a pipe
/// may never end), if the file is replaced while it is opened, or if it is larger than [`FileKind::max_bytes`].
pub fn read(path: &Path, kind: FileKind) -> Result<Vec<u8>> {
    let path_metadata = std::fs::metadata(path)?;
    check_metadata(&path_metadata, kind)?;
    let file = File::open(path)?;
    // The path may refer to another file since the first check.
    let file_metadata = file.metadata()?;
    check_metadata(&file_metadata, kind)?;
    if !is_same(&path_metadata, &file_metadata) {
        return Err(Error::other("the file was replaced while it was opened; read it again"));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(file_metadata.len()).unwrap_or(0));
    // One byte more than the limit shows that a file has grown beyond it.
    file.take(kind.max_bytes() + 1).read_to_end(&mut bytes)?;
    check_size(bytes.len() as u64, kind)?;
    Ok(bytes)
}

/// Reads the file at `path` as text, like [`read`]. Bytes that are not UTF-8 are replaced.
///
/// # Errors
/// Returns the errors of [`read`].
pub fn read_lossy(path: &Path, kind: FileKind) -> Result<String> {
    read(path, kind).map(|bytes| match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

/// Reads the file at `path` as text, like [`read`].
///
/// # Errors
/// Returns the errors of [`read`]. The error for a file that is not UTF-8 states line and column (in characters, from
/// 1) of the first invalid byte.
pub fn read_text(path: &Path, kind: FileKind) -> Result<String> {
    String::from_utf8(read(path, kind)?).map_err(|error| {
        let valid_length = error.utf8_error().valid_up_to();
        let valid_text = String::from_utf8_lossy(&error.as_bytes()[..valid_length]);
        let (line, column) = line_and_column(&valid_text, &line_starts(&valid_text), valid_length);
        let message = format!("line {line}, column {column} is not UTF-8; save the file in UTF-8");
        Error::new(ErrorKind::InvalidData, message)
    })
}

/// Checks that a file is regular and within the size limit of `kind`. The error says what it is instead: a folder, a
/// pipe, socket or device, or a file that is too large.
fn check_metadata(metadata: &Metadata, kind: FileKind) -> Result<()> {
    if metadata.is_dir() {
        return Err(Error::new(ErrorKind::IsADirectory, "this is a folder; name a file in it"));
    }
    if !metadata.is_file() {
        let reason = "this is a pipe, a socket or a device; name a regular file";
        return Err(Error::new(ErrorKind::InvalidInput, reason));
    }
    check_size(metadata.len(), kind)
}

/// Checks `bytes`, the size of a file or a lower bound of it, against the size limit of `kind`.
///
/// # Errors
/// Returns [`ErrorKind::FileTooLarge`] if the size exceeds [`FileKind::max_bytes`].
pub fn check_size(bytes: u64, kind: FileKind) -> Result<()> {
    if bytes <= kind.max_bytes() {
        return Ok(());
    }
    let (name, max_mib) = (kind.name(), kind.max_bytes() / BYTES_PER_MIB);
    let text = format!("the file has {bytes} bytes or more; a {name} may have at most {max_mib} MiB");
    Err(Error::new(ErrorKind::FileTooLarge, text))
}

/// Returns true if both metadata have the same device and inode number.
#[cfg(unix)]
fn is_same(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// Returns true if both metadata have the same creation time, or none. The standard library offers no better test here.
#[cfg(not(unix))]
fn is_same(a: &Metadata, b: &Metadata) -> bool {
    a.created().ok() == b.created().ok()
}

/// Folder of a file, and the further folders that paths in the file may lead into.
///
/// Paths in the file are relative to its folder. They may lead into that folder, into the allowed folders, and below.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folders {
    /// Folder of the file.
    file_folder: PathBuf,
    /// Further folders that paths may lead into.
    allowed: Vec<PathBuf>,
}

impl<P: AsRef<Path> + ?Sized> From<&P> for Folders {
    fn from(folder: &P) -> Self {
        Self { file_folder: folder.as_ref().to_owned(), allowed: Vec::new() }
    }
}

impl Folders {
    /// Returns the folder of the file at `path`.
    pub fn from_file_path(path: &Path) -> Self {
        Self::from(path.parent().unwrap_or(Path::new("")))
    }

    /// Allows paths in the file to lead into `folder` and below.
    #[must_use]
    pub fn allow(mut self, folder: impl Into<PathBuf>) -> Self {
        self.allowed.push(folder.into());
        self
    }

    /// Allows paths in the file to lead into each of `folders` and below.
    #[must_use]
    pub fn allow_all(mut self, folders: &[PathBuf]) -> Self {
        self.allowed.extend_from_slice(folders);
        self
    }

    /// Joins the folder of the file and `path`, a path in the file. Links are not resolved.
    pub(crate) fn join_path(&self, path: &str) -> PathBuf {
        self.file_folder.join(path)
    }

    /// Returns the folders for paths in the file at `path`, to which this file refers: the folder of that file, with
    /// the allowed folders of this one.
    ///
    /// # Errors
    /// Returns the reason as text if the folder of that file does not exist or is outside of the allowed folders.
    #[cfg(feature = "terrain_files")]
    pub(crate) fn folders_of_referenced_file(&self, path: &str) -> std::result::Result<Self, String> {
        let folder = Path::new(path).parent().unwrap_or(Path::new(""));
        self.resolve(&folder.to_string_lossy())?;
        Ok(Self { file_folder: self.file_folder.join(folder), allowed: self.allowed.clone() })
    }

    /// Resolves `path`, a path in the file, with all links, and checks that the result is in the folder of the file, in
    /// an allowed folder, or below. An empty folder of the file is the current folder. Allowed folders that do not
    /// exist are ignored.
    ///
    /// # Errors
    /// Returns the reason as text, preceded by the path. The reason is the same for all paths outside of these folders,
    /// so that it does not reveal which of them exist. For a path inside, it is the error of the operating system. If
    /// the folder of the file does not exist, that is the reason. Folders outside that a path passes through on its way
    /// back in are not hidden.
    pub(crate) fn resolve(&self, path: &str) -> std::result::Result<PathBuf, String> {
        let joined_path = self.file_folder.join(path);
        let to_message = |reason: &str| format!("{}: {reason}", one_line(&joined_path.to_string_lossy()));
        let file_folder = if self.file_folder == Path::new("") { Path::new(".") } else { &self.file_folder };
        let file_folder = file_folder
            .canonicalize()
            .map_err(|error| to_message(&format!("the folder of the referring file: {error}")))?;
        let mut roots = vec![file_folder.clone()];
        roots.extend(self.allowed.iter().filter_map(|folder| folder.canonicalize().ok()));
        let is_inside = |path: &Path| roots.iter().any(|root| path.starts_with(root));
        let outside_message = || to_message(OUTSIDE_FOLDERS_MESSAGE);
        let full_path = file_folder.join(path);
        // The arms: a file inside, a file outside, a missing file inside, a missing file outside. A link that cannot be
        // resolved counts as outside.
        match full_path.canonicalize() {
            Ok(resolved_path) if is_inside(&resolved_path) => Ok(resolved_path),
            Ok(_) => Err(outside_message()),
            Err(error) if resolve_existing_part(&full_path).is_some_and(|resolved_path| is_inside(&resolved_path)) => {
                Err(to_message(&error.to_string()))
            }
            Err(_) => Err(outside_message()),
        }
    }

    /// Reads the file at `path`, a path in the file.
    ///
    /// # Errors
    /// Returns the reason as text, preceded by the path before links are resolved.
    pub(crate) fn read(&self, path: &str, kind: FileKind) -> std::result::Result<Vec<u8>, String> {
        let resolved_path = self.resolve(path)?;
        let to_message =
            |error: Error| format!("{}: {error}", one_line(&self.file_folder.join(path).to_string_lossy()));
        read(&resolved_path, kind).map_err(to_message)
    }
}

/// Message for a path outside of all allowed folders.
const OUTSIDE_FOLDERS_MESSAGE: &str = "the file lies outside of the folder of the referring file; move the file into that folder, or allow its folder \
     (`--allow-root FOLDER`, in the library `Folders::allow`)";

/// Resolves all links in the longest part of an absolute `path` that exists, and the rest by its text. `None` if a link
/// cannot be resolved: its target may be anywhere.
fn resolve_existing_part(path: &Path) -> Option<PathBuf> {
    for ancestor in path.ancestors() {
        if let Ok(resolved) = ancestor.canonicalize() {
            let rest = path.strip_prefix(ancestor).ok()?;
            return Some(normalize_lexically(&resolved.join(rest)));
        }
        if ancestor.is_symlink() {
            return None;
        }
    }
    None
}

/// Removes `.` and `..` (with the folder before it) from an absolute path without access to the file system. Links are
/// not resolved. A `..` at the root is dropped.
fn normalize_lexically(path: &Path) -> PathBuf {
    let mut normalized = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => _ = normalized.pop(),
            other => normalized.push(other),
        }
    }
    normalized
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A regular file is read, a folder is refused. A vehicle file of 16 MiB is read, one byte more is refused with
    /// both sizes in the message.
    #[test]
    fn reads_regular_files_up_to_their_limit() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a");
        std::fs::write(&path, "text").expect("writable");
        assert_eq!(read(&path, FileKind::Vehicle).expect("a file"), b"text");
        let fault = |path: &Path| read(path, FileKind::Vehicle).expect_err("refused").to_string();
        assert!(fault(folder.path()).contains("is a folder"));
        let large = File::create(&path).expect("writable");
        large.set_len(FileKind::Vehicle.max_bytes() + 1).expect("sparse");
        let told = fault(&path);
        assert!(told.contains("16777217 bytes") && told.contains("16 MiB"), "{told}");
        large.set_len(FileKind::Vehicle.max_bytes()).expect("sparse");
        assert_eq!(read(&path, FileKind::Vehicle).expect("at the limit").len(), 1 << 24);
    }

    /// `/dev/zero`, `/dev/null`, a named pipe and a socket are refused with the advice to name a regular file.
    #[cfg(unix)]
    #[test]
    fn refuses_devices_pipes_and_sockets() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let [pipe, socket] = ["pipe", "socket"].map(|name| folder.path().join(name));
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
        assert!(made.success());
        let _listener = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
        for path in [Path::new("/dev/zero"), Path::new("/dev/null"), &pipe, &socket] {
            let told = read(path, FileKind::Tyre).expect_err("refused").to_string();
            assert!(told.contains("name a regular file"), "{told}");
        }
    }

    /// Paths and links that stay in the folder of the file are read. All others (relative, absolute, through links,
    /// missing) are refused as outside, and are read once their folder is allowed. A missing file inside has another
    /// message.
    #[cfg(unix)]
    #[test]
    fn references_stay_in_allowed_folders() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let own = folder.path().join("own");
        for (path, text) in [("own/a", "own"), ("own/below/b", "below"), ("beside/c", "secret")] {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
            std::fs::write(path, text).expect("writable");
        }
        symlink("../beside/c", own.join("link")).expect("a link");
        symlink("../beside", own.join("folder")).expect("a link");
        symlink("below/b", own.join("inside")).expect("a link");
        symlink("../beside/absent", own.join("dangling")).expect("a link");
        symlink(&own, folder.path().join("own_by_link")).expect("a link");
        let folders = Folders::from(&own);
        let absolute = folder.path().join("beside/c").to_string_lossy().into_owned();
        let of_own = own.join("a").to_string_lossy().into_owned();
        for path in ["a", "./a", "below/../a", "below/b", "inside", "../own/a", &of_own] {
            folders.read(path, FileKind::Tyre).unwrap_or_else(|why| panic!("{why}"));
        }
        let outside = ["../beside/c", &absolute, "link", "folder/c", "below/../../beside/c"];
        let missing = ["../beside/absent", "folder/absent", "dangling", "absent/../../beside/absent", "/absent/file"];
        for path in outside.iter().chain(&missing).chain(&["/dev/zero", "/etc/passwd", ".."]) {
            let told = folders.read(path, FileKind::Tyre).expect_err(path);
            assert!(told.contains("lies outside") && told.contains("--allow-root") && told.contains(*path), "{told}");
        }
        for path in ["absent", "below/absent", "../own_by_link/absent"] {
            let told = folders.read(path, FileKind::Tyre).expect_err("not there");
            assert!(told.contains("absent") && !told.contains("outside"), "{told}");
        }
        let allowed = folders.clone().allow(folder.path().join("beside"));
        for path in outside {
            assert_eq!(allowed.read(path, FileKind::Tyre).expect(path), b"secret");
        }
        assert!(allowed.read("/etc/passwd", FileKind::Tyre).is_err());
    }

    /// A file with a byte that is not UTF-8 is refused with the line and the column of that byte.
    #[test]
    fn what_is_no_text_is_told_with_its_place() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        for (bytes, place) in
            [(&b"name = \"caf\xe9\"\n"[..], "line 1, column 12"), (b"a = 1\n\xff", "line 2, column 1")]
        {
            std::fs::write(file.path(), bytes).expect("writable");
            let told = read_text(file.path(), FileKind::Vehicle).expect_err("no text").to_string();
            assert!(told.starts_with(place), "{told}");
        }
    }
}
