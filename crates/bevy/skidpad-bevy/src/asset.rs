//! Vehicle files as assets: loaded from anywhere, and again when they change.

use std::sync::Arc;

use crate::car::Car;
use crate::towing::{Dolly, DollyOf, under_front};
use bevy_app::prelude::*;
use bevy_asset::AsyncReadExt;
use bevy_asset::io::Reader;
use bevy_asset::{AssetApp, AssetLoader, LoadContext, prelude::*};
use bevy_ecs::prelude::*;
use bevy_reflect::TypePath;
use bevy_transform::prelude::*;
use skidpad_spec::files::{FileKind, check_size};
use skidpad_spec::{Faults, Loaded};

/// A vehicle file as it was read: what it describes, or every fault that was found. A file with faults is an asset too, so that a car that
/// drives goes on as it was when its file is saved with a mistake in it.
#[derive(Asset, TypePath, Clone, Debug)]
pub struct VehicleFile(pub Result<Arc<Loaded>, Arc<Faults>>);

/// The file of a car. [`Car`] comes as soon as it is read, and changes whenever the file does; so does the [`Dolly`] of a full trailer, a car
/// of its own.
#[derive(Component, Clone, Debug)]
pub struct CarFile(pub Handle<VehicleFile>);

/// The file of a car holds faults: each with its place, what was found, and what is accepted. The car goes on as it was.
#[derive(Message, Clone, Debug)]
pub struct CarFileFaults {
    /// Which.
    pub car: Entity,
    /// All of them; `listed` writes each on a line of its own.
    pub faults: Arc<Faults>,
}

/// Loads `.toml` vehicle files. Needs Bevy's `AssetPlugin`; add it before.
#[derive(Clone, Copy, Debug, Default)]
pub struct CarFilePlugin;

impl Plugin for CarFilePlugin {
    fn build(&self, app: &mut App) {
        app.init_asset::<VehicleFile>()
            .register_asset_loader(VehicleLoader)
            .add_message::<CarFileFaults>()
            .add_systems(PreUpdate, follow_files);
    }
}

/// Reads vehicle files from any asset source, up to the size that `skidpad_spec::files` accepts.
#[derive(Clone, Copy, Debug, Default, TypePath)]
pub struct VehicleLoader;

/// Error of a vehicle file whose text could not be read. Faults within the text are in [`VehicleFile`].
#[derive(Debug, thiserror::Error)]
pub enum VehicleFileError {
    /// The asset source failed, or the file is too large.
    #[error("the vehicle file cannot be read: {0}")]
    Io(#[from] std::io::Error),
    /// The bytes are not UTF-8.
    #[error("the vehicle file is not UTF-8: {0}")]
    NoText(#[from] std::string::FromUtf8Error),
}

impl AssetLoader for VehicleLoader {
    type Asset = VehicleFile;
    type Settings = ();
    type Error = VehicleFileError;

    async fn load(
        &self,
        reader: &mut dyn Reader,
        (): &(),
        context: &mut LoadContext<'_>,
    ) -> Result<VehicleFile, VehicleFileError> {
        let mut bytes = Vec::new();
        reader.take(FileKind::Vehicle.max_bytes() + 1).read_to_end(&mut bytes).await?;
        check_size(bytes.len() as u64, FileKind::Vehicle)?;
        let text = String::from_utf8(bytes)?;
        let loaded = Loaded::read(&context.path().to_string(), &text);
        Ok(VehicleFile(loaded.map(Arc::new).map_err(Arc::new)))
    }

    fn extensions(&self) -> &[&str] {
        &["toml"]
    }
}

/// Every car whose file, or the handle to it, has changed.
fn follow_files(
    mut commands: Commands,
    files: Res<Assets<VehicleFile>>,
    mut changed: MessageReader<AssetEvent<VehicleFile>>,
    cars: Query<(Entity, Ref<CarFile>, Option<&Dolly>, Option<&Transform>)>,
    mut told: MessageWriter<CarFileFaults>,
) {
    let changed: Vec<AssetId<VehicleFile>> = changed
        .read()
        .filter_map(|event| match event {
            AssetEvent::Added { id } | AssetEvent::Modified { id } => Some(*id),
            _ => None,
        })
        .collect();
    for (entity, file, dolly, place) in &cars {
        if !file.is_changed() && !changed.contains(&file.0.id()) {
            continue;
        }
        match files.get(&file.0).map(|file| &file.0) {
            Some(Ok(loaded)) => {
                commands.entity(entity).try_insert(Car(loaded.model.clone()));
                match (&loaded.dolly, dolly.map(Dolly::entity)) {
                    (Some(model), Some(dolly)) => {
                        commands.entity(dolly).try_insert(Car(model.clone()));
                    }
                    (Some(model), None) => {
                        let place = under_front(&loaded.model, model, &place.copied().unwrap_or_default());
                        commands.spawn((Car(model.clone()), place, DollyOf(entity)));
                    }
                    (None, Some(dolly)) => commands.entity(dolly).try_despawn(),
                    (None, None) => {}
                }
            }
            Some(Err(faults)) => {
                told.write(CarFileFaults { car: entity, faults: faults.clone() });
            }
            None => {}
        }
    }
}
