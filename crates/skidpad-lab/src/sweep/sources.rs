//! Vehicles and scenes as manifests contain them: hashes that identify them, and texts that restore them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value as Json, json};
use skidpad_spec::read::{FaultCollector, parse_toml};
use skidpad_spec::{Faults, LoadError, LoadedScene, LoadedVehicle, files, shipped};

use super::parameter::node_json;
use crate::canonical_json::sha256;

/// Longest text of a description that can be the name of a file, in bytes.
const MAX_NAME_BYTES: usize = 1000;

/// Text of a vehicle or a scene, with the folder of the files that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Description in TOML.
    pub toml: String,
    /// Name or path of the file, for reports.
    pub name: String,
    /// Absolute folder of the files that the description names; `None` for shipped ones.
    pub folder: Option<String>,
}

impl Source {
    /// Returns the source of the shipped vehicle called `name`, or of the vehicle file at the path `name`. A path that
    /// ends in `.toml` is relative to `base`. The file is read and written again, so that the text contains all its
    /// numbers, but no comments.
    ///
    /// # Errors
    /// Returns an error for an unknown name or an unreadable file, or every fault of the file.
    pub fn load_vehicle(name: &str, base: &Path) -> Result<Self, LoadError> {
        let path = if name.ends_with(".toml") { base.join(name) } else { PathBuf::from(name) };
        let is_shipped = shipped::find(name).is_some();
        let name = if is_shipped { name.to_owned() } else { path.to_string_lossy().into_owned() };
        let vehicle = skidpad_spec::load(&name)?;
        let unreadable = |source| LoadError::UnreadableFile { path: path.clone(), source };
        let toml = vehicle.spec.to_toml().map_err(|error| unreadable(std::io::Error::other(error.to_string())))?;
        let folder = if is_shipped { None } else { Some(absolute_folder(&path).map_err(unreadable)?) };
        Ok(Self { toml, name, folder })
    }

    /// Returns the source of the scene file at `path`, and the scene.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or every fault of the file.
    pub fn load_scene(path: &Path) -> Result<(Self, LoadedScene), LoadError> {
        let unreadable = |source| LoadError::UnreadableFile { path: path.to_owned(), source };
        let scene = LoadedScene::load(path)?;
        let toml = files::read_lossy(path, files::FileKind::Scene).map_err(unreadable)?;
        Ok((Self { toml, name: "scene".into(), folder: Some(absolute_folder(path).map_err(unreadable)?) }, scene))
    }

    /// Returns the source in the JSON of a manifest; `None` if the JSON is no source.
    pub fn from_json(json: &Json) -> Option<Self> {
        let text = |key: &str| json.get(key)?.as_str().map(str::to_owned);
        let folder = match json.get("folder")? {
            Json::Null => None,
            folder => Some(folder.as_str()?.to_owned()),
        };
        Some(Self { toml: text("toml")?, name: text("source")?, folder })
    }

    /// Returns the JSON that manifests contain to restore the source.
    pub fn to_json(&self) -> Json {
        json!({ "toml": self.toml, "source": self.name, "folder": self.folder })
    }

    /// Returns the JSON that identifies the source: the hash of the description, and the hashes of the files that it
    /// names.
    pub fn identity(&self) -> Json {
        json!({ "sha256": sha256(self.toml.as_bytes()), "files": self.file_hashes() })
    }

    /// Returns the description as JSON, for the differences of two manifests. A text that is not TOML is `null`.
    pub fn content(&self) -> Json {
        parse_toml(&self.toml, &mut FaultCollector::default()).map_or(Json::Null, |tree| node_json(&tree))
    }

    /// Returns the hashes of the files that the description names, by their names. Every text of the description that
    /// is the name of a file in the folder counts. Shipped sources have no files. Files that cannot be read are left
    /// out.
    fn file_hashes(&self) -> Map<String, Json> {
        let Some(folder) = &self.folder else { return Map::new() };
        let mut texts = BTreeSet::new();
        collect_texts(&self.content(), &mut texts);
        let is_name = |text: &&String| !text.is_empty() && !text.contains('\n') && text.len() < MAX_NAME_BYTES;
        let hash_file = |name: &String| {
            let path = Path::new(folder).join(name);
            let bytes = path.is_file().then(|| std::fs::read(&path))?.ok()?;
            Some((name.clone(), Json::from(sha256(&bytes))))
        };
        texts.iter().filter(is_name).filter_map(hash_file).collect()
    }

    /// Reads a vehicle with the text `toml`, a changed text of this source, and the files of this source.
    ///
    /// # Errors
    /// Returns every fault of the text and of the files that it names.
    pub fn read_vehicle(&self, toml: &str) -> Result<LoadedVehicle, Faults> {
        match &self.folder {
            Some(folder) => LoadedVehicle::read_in(folder, &self.name, toml),
            None => LoadedVehicle::read(&self.name, toml),
        }
    }

    /// Reads the scene.
    ///
    /// # Errors
    /// Returns every fault of the text and of the files that it names.
    pub fn read_scene(&self) -> Result<LoadedScene, Faults> {
        match &self.folder {
            Some(folder) => LoadedScene::read_in(folder, &self.name, &self.toml),
            None => LoadedScene::read(&self.name, &self.toml),
        }
    }
}

/// Returns the folder of the file at `path`, as an absolute path.
fn absolute_folder(path: &Path) -> std::io::Result<String> {
    let absolute = std::path::absolute(path)?;
    Ok(absolute.parent().map_or_else(String::new, |folder| folder.to_string_lossy().into_owned()))
}

/// Adds all texts in `value`, at any depth of lists and tables, to `texts`. Keys are not added.
fn collect_texts(value: &Json, texts: &mut BTreeSet<String>) {
    match value {
        Json::String(text) => {
            texts.insert(text.clone());
        }
        Json::Array(items) => items.iter().for_each(|item| collect_texts(item, texts)),
        Json::Object(map) => map.values().for_each(|item| collect_texts(item, texts)),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}
