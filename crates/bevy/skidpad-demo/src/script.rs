//! Scripted driving: inputs from the rows of a CSV file, with screenshots.

use bevy::app::AppExit;
use bevy::prelude::*;
use bevy::render::view::screenshot::{Capturing, Screenshot, save_to_disk};
use bevy::time::TimeUpdateStrategy;
use clap::ValueEnum;
use serde::Deserialize;
use skidpad_drive::Inputs;
use skidpad_spec::files::{self, FileKind};
use skidpad_spec::printable::one_line;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::player_input::{DeviceInputSystems, PlayerInput, Press};

/// Largest time in a script, s.
const MAX_TIME_S: f64 = 1e6;

/// Row of the file. Its inputs apply until the next row.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptRecord {
    /// Time from the start of the program, s, 0 to [`MAX_TIME_S`].
    time_s: f64,
    /// Accelerator pedal, 0 to 1. A missing input is 0.
    #[serde(default)]
    accelerate: Option<f32>,
    #[serde(default)]
    brake: Option<f32>,
    /// Steering, −1 (right) to 1 (left).
    #[serde(default)]
    steer: Option<f32>,
    #[serde(default)]
    handbrake: Option<f32>,
    /// Whether time runs backwards: 0 for no, any other number for yes.
    #[serde(default)]
    rewind: Option<u8>,
    /// Names of [`Press`] values, separated by spaces.
    #[serde(default)]
    press: String,
    /// File stem of a screenshot; empty for no screenshot.
    #[serde(default)]
    screenshot: String,
}

/// Checked row of a script. Its inputs apply from `time` (s) until the next row.
struct Row {
    time: f64,
    inputs: Inputs,
    rewind: bool,
    presses: Vec<Press>,
    screenshot: String,
}

/// Rows of a script in order of time.
pub struct Script(Vec<Row>);

impl Script {
    /// Reads the script at `path`: CSV with the columns of [`ScriptRecord`] in its header line. Times must not
    /// decrease, and there must be at least one row. Faults of all rows are collected. The time of a row is compared
    /// with that of the last row without a fault.
    ///
    /// # Errors
    /// Every fault of the file with its line, as text.
    pub fn read(path: &Path) -> Result<Self, String> {
        let name = path.display().to_string();
        let file = one_line(&name);
        let bytes = files::read(path, FileKind::Controls).map_err(|fault| format!("{file}: {fault}"))?;
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(&bytes[..]);
        let (mut rows, mut faults): (Vec<Row>, Vec<String>) = (Vec::new(), Vec::new());
        for (number, record) in reader.deserialize::<ScriptRecord>().enumerate() {
            // The header is line 1, and lines count from 1.
            let line = number + 2;
            let row = record.map_err(|fault| fault.to_string()).and_then(Row::from_record);
            match row {
                // The row is earlier than the one before it.
                Ok(row) if rows.last().is_some_and(|previous| previous.time > row.time) => {
                    faults.push(format!("{file}:{line}: time_s is {}, smaller than in an earlier row", row.time));
                }
                Ok(row) => rows.push(row),
                Err(fault) => faults.push(format!("{file}:{line}: {}", one_line(&fault))),
            }
        }
        if rows.is_empty() && faults.is_empty() {
            faults.push(format!("{file}: there is no row; the last row sets the end time"));
        }
        if faults.is_empty() { Ok(Self(rows)) } else { Err(faults.join("\n")) }
    }
}

impl Row {
    /// Checks and converts a row of the file. Missing inputs are 0.
    ///
    /// The error names the first fault, in this order: a time that is not from 0 to [`MAX_TIME_S`], a screenshot name
    /// with `/` or `\`, an input out of its range, an unknown press.
    fn from_record(record: ScriptRecord) -> Result<Self, String> {
        let ScriptRecord { time_s, accelerate, brake, steer, handbrake, rewind, press, screenshot } = record;
        if !(0.0..=MAX_TIME_S).contains(&time_s) {
            return Err(format!("time_s is {time_s}, but must be from 0 to {MAX_TIME_S}"));
        }
        // Checks that an input is from `min` to 1.
        let checked_input = |name: &str, value: Option<f32>, min: f32| match value.unwrap_or(0.0) {
            value if (min..=1.0).contains(&value) => Ok(value),
            value => Err(format!("{name} is {value}, but must be from {min} to 1")),
        };
        let possible_values = || Press::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let presses = press.split_whitespace().map(|word| {
            // `false`: upper and lower case differ.
            Press::from_str(word, false).map_err(|_| {
                let accepted: Vec<String> = possible_values().map(|value| value.get_name().to_owned()).collect();
                format!("press has \"{word}\", but must be one of {}", accepted.join(", "))
            })
        });
        if screenshot.contains(['/', '\\']) {
            return Err(format!("screenshot is \"{screenshot}\", but must be a file name without a folder"));
        }
        Ok(Self {
            time: time_s,
            inputs: Inputs {
                throttle: checked_input("accelerate", accelerate, 0.0)?,
                brake: checked_input("brake", brake, 0.0)?,
                steer: checked_input("steer", steer, -1.0)?,
                handbrake: checked_input("handbrake", handbrake, 0.0)?,
            },
            rewind: rewind.unwrap_or(0) != 0,
            presses: presses.collect::<Result<_, _>>()?,
            screenshot,
        })
    }
}

/// Script that is being played.
#[derive(Resource)]
struct Playback {
    /// Rows that are not due yet.
    rows: std::vec::IntoIter<Row>,
    /// Inputs of the last row that was due; zero before the first.
    current_input: PlayerInput,
    /// Folder for screenshots; `None` to take none.
    folder: Option<PathBuf>,
}

/// Simulated duration of a frame, independent of the drawing time.
const FRAME_DURATION: Duration = Duration::from_nanos(16_666_667);

/// Returns the plugin that plays `script` and saves its screenshots in `folder`; `None` takes none. Every frame
/// simulates [`FRAME_DURATION`], so that a run does not depend on the drawing time.
pub fn plugin(script: Script, folder: Option<PathBuf>) -> impl Plugin {
    // The plugin is built once and moves the rows out.
    let rows = std::sync::Mutex::new(Some(script.0));
    move |app: &mut App| {
        let rows = rows.lock().ok().and_then(|mut rows| rows.take()).unwrap_or_default();
        app.insert_resource(TimeUpdateStrategy::ManualDuration(FRAME_DURATION))
            .insert_resource(Playback {
                rows: rows.into_iter(),
                current_input: PlayerInput::default(),
                folder: folder.clone(),
            })
            .add_systems(PreUpdate, play.after(DeviceInputSystems))
            .add_systems(PostUpdate, draw_for_pictures)
            .add_systems(Last, exit_when_done);
    }
}

/// Plays the rows that are due: sends their presses, requests their screenshots (if there is a folder for them), and
/// overwrites the inputs of the devices with those of the last row that was due. Time is `Time<Real>`, which [`plugin`]
/// advances by [`FRAME_DURATION`] per frame. Pauses and slow motion do not change it. Rows are removed once they are
/// played.
fn play(
    real_time: Res<Time<Real>>,
    mut commands: Commands,
    mut playback: ResMut<Playback>,
    mut player_input: ResMut<PlayerInput>,
    mut presses: MessageWriter<Press>,
) {
    let elapsed = real_time.elapsed_secs_f64();
    let playback = &mut *playback;
    // Number of rows whose time has come.
    let due_count = playback.rows.as_slice().partition_point(|row| row.time <= elapsed);
    for row in playback.rows.by_ref().take(due_count) {
        // Analogue: the inputs are shaped as those of a gamepad, not as keys.
        playback.current_input = PlayerInput { inputs: row.inputs, rewind: row.rewind, is_analogue: true };
        presses.write_batch(row.presses);
        if let Some(folder) = playback.folder.as_ref().filter(|_| !row.screenshot.is_empty()) {
            let path = folder.join(format!("{}.png", row.screenshot));
            commands.spawn(Screenshot::primary_window()).observe(save_to_disk(path));
        }
    }
    *player_input = playback.current_input;
}

/// Number of frames that are drawn before a screenshot, so that all transforms are up to date.
const FRAMES_BEFORE_SCREENSHOT: f64 = 4.0;

/// Disables the cameras except within the last [`FRAMES_BEFORE_SCREENSHOT`] frames before a screenshot and while one is
/// taken. Does nothing without a folder for screenshots. Without a graphics card a frame takes half a second.
fn draw_for_pictures(
    real_time: Res<Time<Real>>,
    playback: Res<Playback>,
    pictures: Query<(), Or<(With<Screenshot>, With<Capturing>)>>,
    mut cameras: Query<&mut Camera>,
) {
    if playback.folder.is_none() {
        return;
    }
    let screenshot_horizon = real_time.elapsed_secs_f64() + FRAMES_BEFORE_SCREENSHOT * FRAME_DURATION.as_secs_f64();
    // Whether a row within these frames has a screenshot.
    let is_screenshot_due = playback
        .rows
        .as_slice()
        .iter()
        .take_while(|row| row.time <= screenshot_horizon)
        .any(|row| !row.screenshot.is_empty());
    for mut camera in &mut cameras {
        camera.is_active = is_screenshot_due || !pictures.is_empty();
    }
}

/// Ends the program when the last row is done and every screenshot is saved.
fn exit_when_done(
    playback: Res<Playback>,
    pictures: Query<(), Or<(With<Screenshot>, With<Capturing>)>>,
    mut exit: MessageWriter<AppExit>,
) {
    if playback.rows.as_slice().is_empty() && pictures.is_empty() {
        exit.write(AppExit::Success);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times from 0 to the stated limit are accepted, both ends included; all other times are faults that state it.
    #[test]
    fn times_up_to_the_stated_limit_are_accepted() {
        let row = |time_s: f64| {
            Row::from_record(ScriptRecord {
                time_s,
                accelerate: None,
                brake: None,
                steer: None,
                handbrake: None,
                rewind: None,
                press: String::new(),
                screenshot: String::new(),
            })
        };
        for time_s in [0.0, 1e6] {
            assert!(row(time_s).is_ok(), "{time_s}");
        }
        for time_s in [-0.1, 1_000_000.1, f64::INFINITY, f64::NAN] {
            let fault = row(time_s).err().expect("out of range");
            assert!(fault.ends_with("must be from 0 to 1000000"), "{fault}");
        }
    }
}
