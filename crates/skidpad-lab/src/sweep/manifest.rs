//! Manifests of sweeps: the text that restores a sweep, and the check of a folder.

use std::path::Path;

use serde_json::{Value as Json, json};
use skidpad_core::SolverInfo;
use skidpad_spec::files::{self, FileKind};

use super::error::SweepError;
use super::parameter::Parameter;
use super::plan::{Plan, Sweep};
use super::sources::Source;
use crate::canonical_json::differences;
use crate::files::write_atomically;

/// Name of the manifest in the folder of a sweep.
pub const MANIFEST_NAME: &str = "manifest.json";

impl Sweep {
    /// Returns the text of the manifest file, JSON: hash, manifest, and the descriptions of vehicle, trailers and
    /// scene, from which [`Self::from_manifest`] restores the sweep.
    pub fn to_manifest(&self) -> String {
        let content = json!({
            "hash": self.hash(),
            "manifest": self.manifest(),
            "sources": {
                "vehicle": self.vehicle.to_json(),
                "towing": self.towing.iter().map(Source::to_json).collect::<Json>(),
                "scene": self.scene.as_ref().map(Source::to_json),
            },
        });
        format!("{content:#}\n")
    }

    /// Restores the sweep of the text of a manifest. `solvers` are those that it can name.
    ///
    /// # Errors
    /// Returns an error if the text is no manifest, or if this program would compute another sweep: with another
    /// version of skidpad, or if tyre files differ.
    pub fn from_manifest(text: &str, solvers: &[SolverInfo]) -> Result<Self, SweepError> {
        let no_manifest = || SweepError::one("the text is no manifest of a sweep");
        let content: Json = serde_json::from_str(text).map_err(|_| no_manifest())?;
        let plan = plan_of(&content).ok_or_else(no_manifest)?;
        let (sweep, faults) = plan.build(solvers);
        let sweep = sweep.ok_or_else(|| SweepError::Faults(faults.iter().map(ToString::to_string).collect()))?;
        if content["hash"] == json!(sweep.hash()) {
            return Ok(sweep);
        }
        let introduction = "this program would compute another sweep than the manifest:".to_owned();
        let found = manifest_differences(&content["manifest"], sweep.manifest());
        Err(SweepError::Faults(std::iter::once(introduction).chain(found).collect()))
    }

    /// Creates the folder with its manifest, unless it has that of this sweep already.
    ///
    /// # Errors
    /// Returns the differences if the folder has the manifest of another sweep, and an error if a file cannot be read
    /// or written.
    pub fn prepare_folder(&self, folder: &Path) -> Result<(), SweepError> {
        let path = folder.join(MANIFEST_NAME);
        if !path.exists() {
            write_atomically(&path, |out| out.write_all(self.to_manifest().as_bytes()))?;
        }
        self.check_folder(folder)
    }

    /// Checks that the folder has the manifest of this sweep: equal hashes and equal content.
    ///
    /// # Errors
    /// Returns the differences if the manifest is that of another sweep, and an error if it cannot be read or is no
    /// manifest.
    pub fn check_folder(&self, folder: &Path) -> Result<(), SweepError> {
        let path = folder.join(MANIFEST_NAME);
        let unreadable = |reason| SweepError::Folder { path: folder.to_owned(), reason };
        let text = files::read_lossy(&path, FileKind::Scene).map_err(unreadable)?;
        let content: Json = serde_json::from_str(&text).unwrap_or_default();
        if plan_of(&content).is_none() {
            return Err(SweepError::one(format!("{} is no manifest of a sweep; use another folder", path.display())));
        }
        let own: Json = serde_json::from_str(&self.to_manifest()).unwrap_or_default();
        // Descriptions replace hashes, so that the faults name the fields that differ.
        let [there, here] = [&content, &own].map(with_descriptions);
        if content["hash"] == own["hash"] && there == here {
            return Ok(());
        }
        let mut faults =
            vec![format!("{} is the folder of another sweep; use another folder, or undo:", folder.display())];
        faults.extend(manifest_differences(&there, &here));
        Err(SweepError::Faults(faults))
    }
}

/// Returns the plan that the content of a manifest file describes; `None` if a key is missing or has a wrong value, or
/// if the scene has a fault. Files that a scene names are read again.
fn plan_of(content: &Json) -> Option<Plan> {
    let (manifest, sources) = (content.get("manifest")?, content.get("sources")?);
    content.get("hash")?.as_str()?;
    let texts = |list: &Json| -> Option<Vec<String>> {
        list.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
    };
    let parameter = |entry: &Json| -> Option<(String, Parameter)> {
        Some((entry.get(0)?.as_str()?.to_owned(), Parameter::from_json(entry.get(1)?).ok()?))
    };
    let scene = match sources.get("scene")? {
        Json::Null => None,
        scene => {
            let source = Source::from_json(scene)?;
            let loaded = source.read_scene().ok()?;
            Some((source, loaded))
        }
    };
    Some(Plan {
        vehicle: Source::from_json(sources.get("vehicle")?)?,
        towing: sources.get("towing")?.as_array()?.iter().map(Source::from_json).collect::<Option<_>>()?,
        scene,
        manoeuvre: manifest.get("manoeuvre")?.as_str()?.to_owned(),
        solvers: texts(manifest.get("solvers")?)?,
        rate: manifest.get("rate")?.as_f64()?,
        parameters: manifest.get("parameters")?.as_array()?.iter().map(parameter).collect::<Option<_>>()?,
        samples: manifest.get("samples")?.as_u64().filter(|samples| *samples > 0)?,
        seed: manifest.get("seed")?.as_u64()?,
        shard_size: Some(manifest.get("shard_size")?.as_u64().filter(|size| *size > 0)?),
    })
}

/// Returns the differences of two manifests, one text each. Parameters are compared by their names. If only their order
/// differs, one text states this. If the manifests are equal, one text states that the hash does not fit.
fn manifest_differences(there: &Json, here: &Json) -> Vec<String> {
    let [by_name_there, by_name_here] = [there, here].map(parameters_by_name);
    let found = differences(&by_name_there, &by_name_here);
    match (found.is_empty(), there == here) {
        (false, _) => found,
        (true, false) => vec!["parameters: the order of the grids differs".into()],
        (true, true) => vec!["the manifest was changed: its hash does not fit".into()],
    }
}

/// Returns a manifest whose list `parameters` of pairs (name, parameter) is replaced by an object `parameter`, with the
/// names as keys. Differences then name the parameter instead of a place in the list. Entries that are no such pair are
/// dropped. Without a list, the copy is unchanged.
fn parameters_by_name(manifest: &Json) -> Json {
    let mut manifest = manifest.clone();
    let named = manifest["parameters"].as_array().map(|list| {
        list.iter()
            .filter_map(|entry| Some((entry.get(0)?.as_str()?.to_owned(), entry.get(1)?.clone())))
            .collect::<Json>()
    });
    if let (Some(named), Some(map)) = (named, manifest.as_object_mut()) {
        map.remove("parameters");
        map.insert("parameter".into(), named);
    }
    manifest
}

/// Returns the manifest of the content of a manifest file, with the fields of vehicle and scene in place of the hashes
/// of their texts. The hashes of the files that they name are kept. A source without a valid description is not
/// changed.
fn with_descriptions(content: &Json) -> Json {
    let mut manifest = content["manifest"].clone();
    for part in ["vehicle", "scene"] {
        let Some(source) = Source::from_json(&content["sources"][part]) else { continue };
        let Json::Object(mut fields) = source.content() else { continue };
        fields.insert("files".into(), manifest[part]["files"].clone());
        manifest[part] = Json::Object(fields);
    }
    manifest
}
