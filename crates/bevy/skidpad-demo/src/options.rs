//! Command-line options.

use crate::garage::{Garage, SELECTABLE_SOLVERS};
use crate::script::Script;
use skidpad_core::Scene;
use skidpad_spec::LoadedScene;
use std::path::{Path, PathBuf};

/// Drives a car with keyboard or gamepad. F1 shows the keys.
#[derive(clap::Parser, Clone, Debug)]
#[command(version)]
pub struct Options {
    /// Shipped vehicle, or path of a vehicle file.
    #[arg(long, default_value = "corvette_c5")]
    pub vehicle: String,
    /// Solver at the start.
    #[arg(long, default_value = "impulse", value_parser = SELECTABLE_SOLVERS.map(|solver| solver.name))]
    pub solver: String,
    /// Scene file. Default: the proving ground.
    #[arg(long)]
    pub scene: Option<PathBuf>,
    /// Start position in the scene (x, y), m.
    #[arg(long, num_args = 2, value_names = ["X", "Y"], default_values_t = [-40.0, 0.0], allow_negative_numbers = true)]
    pub start: Vec<f64>,
    /// Physics ticks per second.
    #[arg(long, default_value_t = 120, value_parser = clap::value_parser!(u32).range(20..=1000))]
    pub hz: u32,
    /// CSV file with player inputs. The demo ends after the last row.
    #[arg(long)]
    pub script: Option<PathBuf>,
    /// Folder for the screenshots of the script.
    #[arg(long, requires = "script")]
    pub screenshots: Option<PathBuf>,
    /// Width of the window, pixels.
    #[arg(long, default_value_t = 1280)]
    pub width: u32,
    /// Height of the window, pixels.
    #[arg(long, default_value_t = 720)]
    pub height: u32,
    /// Disables sound.
    #[arg(long)]
    pub mute: bool,
}

/// Loaded scene, vehicles and script with which the demo starts.
pub struct Start {
    pub scene: Scene,
    pub garage: Garage,
    pub script: Option<Script>,
}

impl Options {
    /// Reads the scene, the vehicle and the script that the options name. Without `--scene` the scene is the proving
    /// ground of the repository. Faults of several files are joined line by line.
    ///
    /// # Errors
    /// Every fault of these files, as text.
    pub fn load(&self) -> Result<Start, String> {
        let proving_ground = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../scenes/proving_ground.toml");
        let scene =
            LoadedScene::load(self.scene.as_deref().unwrap_or(&proving_ground)).map_err(|fault| fault.to_string());
        let garage = Garage::new(&self.vehicle, &self.solver);
        let script = self.script.as_deref().map(Script::read).transpose();
        match (scene, garage, script) {
            (Ok(scene), Ok(garage), Ok(script)) => Ok(Start { scene: scene.scene, garage, script }),
            (scene, garage, script) => {
                let faults = [scene.err(), garage.err(), script.err()];
                Err(faults.into_iter().flatten().collect::<Vec<_>>().join("\n"))
            }
        }
    }
}
