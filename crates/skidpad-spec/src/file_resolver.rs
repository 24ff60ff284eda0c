//! Access to files that a vehicle file or a scene file refers to.

use crate::files::{FileKind, Folders};
use std::borrow::Cow;
use std::path::PathBuf;

/// Location of referenced files.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FileResolver<'a> {
    /// Files that ship with the library, under the paths they have there.
    Shipped,
    /// Folder of the file that refers to them, and allowed folders.
    Folders(&'a Folders),
}

impl FileResolver<'_> {
    /// Returns the path of the file on disk, links not resolved. `None` for shipped files.
    pub fn disk_path(self, path: &str) -> Option<PathBuf> {
        match self {
            Self::Shipped => None,
            Self::Folders(folders) => Some(folders.join_path(path)),
        }
    }

    /// Returns the path of the file with all links resolved. `None` for shipped files, and for files that do not exist
    /// or may not be read.
    #[cfg(feature = "terrain_files")]
    pub fn resolve(self, path: &str) -> Option<PathBuf> {
        self.folders().ok()?.resolve(path).ok()
    }

    /// Reads the text of the tyre file at `path`: a shipped one, or one in the folders. Among shipped files the prefix
    /// `tyres/` and the ending `.tir` may be absent, and the error lists their names. In folders, bytes that are not
    /// UTF-8 are replaced, and the error is that of [`Folders::read`].
    pub fn read_tyre(self, path: &str) -> Result<Cow<'static, str>, String> {
        match self {
            Self::Shipped => {
                let name = path.strip_prefix("tyres/").unwrap_or(path);
                let shipped_text = crate::tir::find(name.strip_suffix(".tir").unwrap_or(name));
                let names: Vec<&str> = crate::tir::names().collect();
                shipped_text.map(Cow::Borrowed).ok_or_else(|| format!("shipped tyre files: {}", names.join(", ")))
            }
            Self::Folders(folders) => {
                let bytes = folders.read(path, FileKind::Tyre)?;
                Ok(Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()))
            }
        }
    }

    /// Reads the bytes of the ground file at `path`. The error is the reason as text. No ground files ship with the
    /// library.
    #[cfg(feature = "terrain_files")]
    pub fn read_ground(self, path: &str, kind: FileKind) -> Result<Vec<u8>, String> {
        self.folders()?.read(path, kind)
    }

    /// Reads the bytes of `buffer`, a path in the mesh file `mesh` and relative to the folder of that file. The error
    /// is the reason as text.
    #[cfg(feature = "terrain_files")]
    pub fn read_buffer(self, mesh: &str, buffer: &str) -> Result<Vec<u8>, String> {
        self.folders()?.folders_of_referenced_file(mesh)?.read(buffer, FileKind::Buffer)
    }

    /// Returns the path of `buffer`, a path in the mesh file `mesh` and relative to the folder of that file, with all
    /// links resolved. The error is the reason as text.
    #[cfg(feature = "terrain_files")]
    pub fn resolve_buffer(self, mesh: &str, buffer: &str) -> Result<PathBuf, String> {
        self.folders()?.folders_of_referenced_file(mesh)?.resolve(buffer)
    }

    /// Returns the folders on disk. The error says that shipped files have none.
    #[cfg(feature = "terrain_files")]
    fn folders(&self) -> Result<&Folders, String> {
        let reason =
            "a scene that is read from a text has no folder for other files; use `LoadedScene::read_in` with a folder";
        match self {
            Self::Shipped => Err(reason.into()),
            Self::Folders(folders) => Ok(folders),
        }
    }
}
