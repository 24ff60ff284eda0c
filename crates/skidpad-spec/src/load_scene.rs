//! Loading of scenes by path or from text.

use crate::file_resolver::FileResolver;
use crate::files::{FileKind, Folders, read_text};
use crate::tir::Note;
use crate::{Faults, LoadError, OldKeys, SceneSpec, read};
use skidpad_core::Scene;
use skidpad_core::state::Placement;
use std::path::{Path, PathBuf};

/// Scene as its file describes it, and as the simulation uses it.
#[derive(Clone, Debug)]
pub struct LoadedScene {
    /// Description from the file.
    pub spec: SceneSpec,
    /// Ground and the objects on it, SI units.
    pub scene: Scene,
    /// Warnings about the ground, in the order of the text.
    pub notes: Vec<Note>,
    /// Keys of the file with old names.
    pub old_keys: OldKeys,
    /// Files of the ground that the scene file names.
    pub files: Vec<PathBuf>,
}

impl LoadedScene {
    /// Reads the text of a scene that refers to no files. `source_name` names the text in fault reports.
    ///
    /// # Errors
    /// Returns every fault of the text at once.
    pub fn read(source_name: &str, text: &str) -> Result<Self, Faults> {
        Self::read_with(source_name, text, FileResolver::Shipped)
    }

    /// Reads the text of a scene in `folders`, with the files it refers to. `source_name` names the text in fault
    /// reports.
    ///
    /// # Errors
    /// Returns every fault of all these files at once.
    pub fn read_in(folders: impl Into<Folders>, source_name: &str, text: &str) -> Result<Self, Faults> {
        Self::read_with(source_name, text, FileResolver::Folders(&folders.into()))
    }

    /// Loads the scene file at `path`, with the files it refers to.
    ///
    /// # Errors
    /// Returns an error if the scene file cannot be read, or every fault of all these files.
    pub fn load(path: &Path) -> Result<Self, LoadError> {
        Self::load_from(path, &[])
    }

    /// Loads a scene like [`LoadedScene::load`]. Paths in its file may also lead into `allowed` folders and below.
    ///
    /// # Errors
    /// Returns the errors of [`LoadedScene::load`].
    pub fn load_from(path: &Path, allowed: &[PathBuf]) -> Result<Self, LoadError> {
        let to_load_error = |source| LoadError::UnreadableFile { path: path.to_owned(), source };
        let text = read_text(path, FileKind::Scene).map_err(to_load_error)?;
        Ok(Self::read_in(Folders::from_file_path(path).allow_all(allowed), &path.display().to_string(), &text)?)
    }

    /// Returns the initial placement of a car: position and height (m), heading (rad) and speed (m/s) that the file
    /// states. Default: at the origin, heading along +x, at rest. The gear is the one that the gearbox would choose.
    pub fn placement(&self) -> Placement {
        // Absent values are 0.
        let [x, y, height] = self.spec.start_m.unwrap_or_default();
        let heading = self.spec.heading_deg.unwrap_or_default().to_radians() as f32;
        let speed = self.spec.speed_mps.unwrap_or_default() as f32;
        Placement { x, y, height, heading, speed, gear: None }
    }

    /// Reads a scene with its files from `files`. Also lists the files on disk that it names: those of height fields,
    /// then meshes, then OpenCRG roads, each as often as it is named; none for [`FileResolver::Shipped`].
    fn read_with(source_name: &str, text: &str, files: FileResolver<'_>) -> Result<Self, Faults> {
        let (spec, scene, notes, old_keys) = read::read_scene(source_name, text, files)?;
        let field_files = spec.height_fields.iter().filter_map(|field| field.file.as_ref());
        let mesh_files = spec.meshes.iter().filter_map(|mesh| mesh.file.as_ref());
        let named_files = field_files.chain(mesh_files).chain(spec.crg_roads.iter().map(|road| &road.file));
        let files = named_files.filter_map(|file| files.disk_path(file)).collect();
        Ok(Self { spec, scene, notes, old_keys, files })
    }
}
