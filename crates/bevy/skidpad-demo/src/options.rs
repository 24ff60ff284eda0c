//! What the command line asks for.

use crate::garage::{Garage, SOLVERS};
use crate::script::Script;
use skidpad_core::Scene;
use skidpad_spec::LoadedScene;
use std::path::{Path, PathBuf};

/// Drive a car, with the keyboard or a gamepad; F1 shows the keys.
#[derive(clap::Parser, Clone, Debug)]
#[command(version)]
pub struct Options {
    /// A vehicle that ships, or a vehicle file.
    #[arg(long, default_value = "corvette_c5")]
    pub vehicle: String,
    /// The solver to begin with.
    #[arg(long, default_value = "impulse", value_parser = SOLVERS.map(|solver| solver.name))]
    pub solver: String,
    /// A scene file; the proving ground unless given.
    #[arg(long)]
    pub scene: Option<PathBuf>,
    /// Where to start, along and across the scene, m.
    #[arg(long, num_args = 2, value_names = ["X", "Y"], default_values_t = [-40.0, 0.0], allow_negative_numbers = true)]
    pub start: Vec<f64>,
    /// Ticks of the physics per second.
    #[arg(long, default_value_t = 120, value_parser = clap::value_parser!(u32).range(20..=1000))]
    pub hz: u32,
    /// Drives by the rows of a CSV file instead of a person, and ends with the last one.
    #[arg(long)]
    pub script: Option<PathBuf>,
    /// Folder for the pictures that the script asks for.
    #[arg(long, requires = "script")]
    pub screenshots: Option<PathBuf>,
    /// Width of the window, pixels.
    #[arg(long, default_value_t = 1280)]
    pub width: u32,
    /// Height of the window, pixels.
    #[arg(long, default_value_t = 720)]
    pub height: u32,
    /// No sound.
    #[arg(long)]
    pub mute: bool,
}

/// What it takes to begin.
pub struct Start {
    pub scene: Scene,
    pub garage: Garage,
    pub script: Option<Script>,
}

impl Options {
    /// Reads every file that is asked for.
    ///
    /// # Errors
    /// Every fault of them, as text.
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
