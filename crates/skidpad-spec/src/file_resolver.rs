//! Where the files are that a vehicle file or a scene file refers to.

use std::borrow::Cow;
#[cfg(feature = "terrain_files")]
use std::io::Read;
use std::path::{Path, PathBuf};

/// Where to look.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FileResolver<'a> {
    /// Among the files that ship, under the paths they have there.
    Shipped,
    /// In the folder of the file that refers to them.
    Folder(&'a Path),
}

impl FileResolver<'_> {
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

    /// Bytes of the file of ground at `path`, or why there are none. No ground ships.
    #[cfg(feature = "terrain_files")]
    pub fn ground(self, path: &str) -> Result<Vec<u8>, String> {
        let Self::Folder(folder) = self else {
            return Err(
                "a scene that is read from a text has no files beside it; `LoadedScene::read_in` takes a folder".into(),
            );
        };
        let path = folder.join(path);
        let of_path = |error: String| format!("{}: {error}", path.display());
        let of_system = |error: std::io::Error| of_path(error.to_string());
        let about = std::fs::metadata(&path).map_err(of_system)?;
        // Reading a device or a pipe may never end.
        if !about.is_file() {
            return Err(of_path("not a file".into()));
        }
        let mut bytes = Vec::new();
        let file = std::fs::File::open(&path).map_err(of_system)?;
        file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(of_system)?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(of_path(format!("{} bytes, of {MOST_BYTES} at most", about.len())));
        }
        Ok(bytes)
    }
}

/// Size of the largest file of ground: of a million triangles an OBJ file has about 70 MB.
#[cfg(feature = "terrain_files")]
const MOST_BYTES: u64 = 1 << 29;
