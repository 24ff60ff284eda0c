//! Vehicle files as Bevy assets, with hot reload.

use std::sync::Arc;

use crate::car::Car;
use crate::towing::{Dolly, DollyOf, dolly_transform};
use bevy_app::prelude::*;
use bevy_asset::AsyncReadExt;
use bevy_asset::io::Reader;
use bevy_asset::{AssetApp, AssetLoader, LoadContext, prelude::*};
use bevy_ecs::prelude::*;
use bevy_reflect::TypePath;
use bevy_transform::prelude::*;
use skidpad_spec::files::{FileKind, check_size};
use skidpad_spec::{Faults, LoadedVehicle};

/// Asset of a vehicle file: the loaded vehicle, or every fault of the text. A file with faults is also an asset, so
/// that a running car keeps its model when its file is saved with a mistake.
#[derive(Asset, TypePath, Clone, Debug)]
pub struct VehicleFile(pub Result<Arc<LoadedVehicle>, Arc<Faults>>);

/// Vehicle file of a car. The plugin inserts [`Car`] when the file has been read, and replaces it whenever the file
/// changes. For a full trailer it also spawns and updates the [`Dolly`], which is a separate car.
#[derive(Component, Clone, Debug)]
pub struct CarFile(pub Handle<VehicleFile>);

/// Message sent when the file of a car has faults. The car keeps the model it has.
#[derive(Message, Clone, Debug)]
pub struct CarFileFaults {
    /// Entity of the car.
    pub car: Entity,
    /// All faults of the file: position, text found, accepted values. [`Faults::to_text`] prints one line per fault.
    pub faults: Arc<Faults>,
}

/// Plugin that loads `.toml` vehicle files and applies them to cars with a [`CarFile`]. Add Bevy's `AssetPlugin` before
/// it.
#[derive(Clone, Copy, Debug, Default)]
pub struct CarFilePlugin;

impl Plugin for CarFilePlugin {
    /// Registers the asset, its loader and the message, and adds the system that updates cars before the main update.
    fn build(&self, app: &mut App) {
        app.init_asset::<VehicleFile>()
            .register_asset_loader(VehicleLoader)
            .add_message::<CarFileFaults>()
            .add_systems(PreUpdate, update_cars_from_files);
    }
}

/// Asset loader of vehicle files from any asset source, up to the size that `skidpad_spec::files` accepts.
#[derive(Clone, Copy, Debug, Default, TypePath)]
pub struct VehicleLoader;

/// Error of a vehicle file whose text could not be read. Faults within the text are in [`VehicleFile`].
#[derive(Debug, thiserror::Error)]
pub enum VehicleFileError {
    /// Failure of the asset source, or a file that is too large.
    #[error("the vehicle file cannot be read: {0}")]
    Io(#[from] std::io::Error),
    /// Bytes that are not UTF-8.
    #[error("the vehicle file is not UTF-8: {0}")]
    NoText(#[from] std::string::FromUtf8Error),
}

impl AssetLoader for VehicleLoader {
    type Asset = VehicleFile;
    type Settings = ();
    type Error = VehicleFileError;

    /// Reads the bytes up to the accepted size and one more, which shows that a file is too large, and parses the text.
    /// A text with faults is not an error but an asset with its faults.
    async fn load(
        &self,
        reader: &mut dyn Reader,
        (): &(),
        context: &mut LoadContext<'_>,
    ) -> Result<VehicleFile, VehicleFileError> {
        let mut bytes = Vec::new();
        // One byte more than accepted shows that the file is too large.
        reader.take(FileKind::Vehicle.max_bytes() + 1).read_to_end(&mut bytes).await?;
        check_size(bytes.len() as u64, FileKind::Vehicle)?;
        let text = String::from_utf8(bytes)?;
        let loaded = LoadedVehicle::read(&context.path().to_string(), &text);
        Ok(VehicleFile(loaded.map(Arc::new).map_err(Arc::new)))
    }

    fn extensions(&self) -> &[&str] {
        &["toml"]
    }
}

/// Updates every car whose file or file handle has changed since the last frame. Inserts the new model, and spawns,
/// updates or despawns the dolly. A new dolly stands below the coupler of its trailer. For a file with faults sends
/// [`CarFileFaults`] and changes nothing else. Does nothing for a file that is not loaded yet.
fn update_cars_from_files(
    mut commands: Commands,
    files: Res<Assets<VehicleFile>>,
    mut asset_events: MessageReader<AssetEvent<VehicleFile>>,
    cars: Query<(Entity, Ref<CarFile>, Option<&Dolly>, Option<&Transform>)>,
    mut fault_messages: MessageWriter<CarFileFaults>,
) {
    let changed_ids: Vec<AssetId<VehicleFile>> = asset_events
        .read()
        .filter_map(|event| match event {
            AssetEvent::Added { id } | AssetEvent::Modified { id } => Some(*id),
            _ => None,
        })
        .collect();
    for (entity, file, dolly, transform) in &cars {
        if !file.is_changed() && !changed_ids.contains(&file.0.id()) {
            continue;
        }
        match files.get(&file.0).map(|asset| &asset.0) {
            Some(Ok(loaded)) => {
                commands.entity(entity).try_insert(Car(loaded.model.clone()));
                // Dolly of the file, and dolly that the car has.
                match (&loaded.dolly, dolly.map(Dolly::entity)) {
                    (Some(model), Some(dolly)) => {
                        commands.entity(dolly).try_insert(Car(model.clone()));
                    }
                    // The first version of the file with a dolly.
                    (Some(model), None) => {
                        let start_transform =
                            dolly_transform(&loaded.model, model, &transform.copied().unwrap_or_default());
                        commands.spawn((Car(model.clone()), start_transform, DollyOf(entity)));
                    }
                    (None, Some(dolly)) => commands.entity(dolly).try_despawn(),
                    (None, None) => {}
                }
            }
            Some(Err(faults)) => {
                fault_messages.write(CarFileFaults { car: entity, faults: faults.clone() });
            }
            // The file is not loaded yet.
            None => {}
        }
    }
}
