//! Command-line arguments with their defaults.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use skidpad::lab::script::{COLUMNS, HELD};
use skidpad::spec::import::Source;

use crate::output::Table;

/// Help text about exit codes.
const EXIT_CODES: &str = "Exit codes: 0 success; 1 a fault in what was asked for or in a file; 2 a wrong command line; 3 a run in \
which a solver of skidpad's own did not solve every step or the car did not finish its course, or in which it left the ground of its \
scene; 130 ended by a signal.";

/// One vehicle description drives several physics solvers; their disagreement is measured.
///
/// Without a subcommand: compares every solver on the Corvette C5 in a step steer and a stop, at 240 Hz, and writes a
/// report under target/skidpad/.
#[derive(Debug, Parser)]
#[command(name = "skidpad", version, about, long_about, after_help = EXIT_CODES)]
pub struct Cli {
    /// What to do; without one, the standard comparison.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Drive the same manoeuvres on several solvers, show how far they disagree, write a report
    Compare(Compare),
    /// Drive manoeuvres at several rates and tell the longest step that keeps each figure
    Certify(Certify),
    /// Drive every shipped vehicle and manoeuvre on every solver and write the pages about their agreement
    Agreement(Agreement),
    /// Drive one manoeuvre, or a table of controls, on one solver, and write every step as CSV
    Run(Run),
    /// Check vehicle files: every fault at once, or the figures that follow from the description
    Check(Check),
    /// Make a vehicle file of a car of another program, by what its numbers mean there
    Import(Import),
    /// List what there is
    List {
        /// Only this list
        #[arg(value_enum)]
        what: Option<Listed>,
    },
    /// Print the JSON schema of vehicle files, scene files or what can be imported
    Schema {
        /// Of which files
        #[arg(value_enum, default_value = "vehicle")]
        of: Described,
    },
}

/// Arguments of `compare`.
#[derive(Debug, Args)]
pub struct Compare {
    /// Shipped vehicle or path of a vehicle file
    #[arg(long, value_name = "VEHICLE", default_value = "corvette_c5")]
    pub vehicle: String,
    /// Manoeuvres, separated by commas [default: step-steer,braking; with --scene: roll]
    #[arg(long, alias = "maneuver", value_name = "NAMES", value_delimiter = ',')]
    pub manoeuvre: Vec<String>,
    /// Solvers, separated by commas; all of them by default
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub backends: Vec<String>,
    /// Length of a step
    #[command(flatten)]
    pub step: Step,
    /// Changes to the manoeuvre
    #[command(flatten)]
    pub changes: Changes,
    /// Folder for the report and the tables
    #[arg(long, value_name = "FOLDER", default_value = "target/skidpad")]
    pub out: PathBuf,
}

impl Compare {
    /// Returns the arguments of the standard comparison, which runs without a subcommand.
    pub fn standard() -> Self {
        Self {
            vehicle: "corvette_c5".into(),
            manoeuvre: Vec::new(),
            backends: Vec::new(),
            step: Step::default(),
            changes: Changes::default(),
            out: "target/skidpad".into(),
        }
    }
}

/// Arguments of `certify`.
#[derive(Debug, Args)]
pub struct Certify {
    /// Shipped vehicle or path of a vehicle file
    #[arg(value_name = "VEHICLE", default_value = "corvette_c5")]
    pub vehicle: String,
    /// Manoeuvres, separated by commas [default: step-steer,braking; with --scene: roll]
    #[arg(long, alias = "maneuver", value_name = "NAMES", value_delimiter = ',')]
    pub manoeuvre: Vec<String>,
    /// Solvers, separated by commas; all of them by default
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub backends: Vec<String>,
    /// Steps per second to drive at, separated by commas; the highest is what the others are
    /// compared with [default: 30,60,120,240,480,1000]
    #[arg(long, value_name = "HZ", allow_hyphen_values = true, value_delimiter = ',', default_values_t = [30.0, 60.0, 120.0, 240.0, 480.0, 1000.0], hide_default_value = true)]
    pub rates_hz: Vec<f64>,
    /// Largest gap of a figure that holds, %. Figures in mm hold within 3 mm, too, times within half a step; figures that show
    /// as 0 in their digits are not judged
    #[arg(long, value_name = "PERCENT", allow_negative_numbers = true, default_value_t = 2.0)]
    pub within_percent: f64,
    /// Changes to the manoeuvre
    #[command(flatten)]
    pub changes: Changes,
    /// Folder for the report and the table
    #[arg(long, value_name = "FOLDER", default_value = "target/skidpad")]
    pub out: PathBuf,
}

/// Arguments of `agreement`.
#[derive(Debug, Args)]
pub struct Agreement {
    /// Folder for the page about all vehicles
    #[arg(long, value_name = "FOLDER", default_value = "target/skidpad")]
    pub out: PathBuf,
    /// Folder for the pages about each vehicle
    #[arg(long, value_name = "FOLDER", default_value = "target/agreement")]
    pub details: PathBuf,
    /// Drive at the rate that is judged only, write nothing, and fail if the page about all vehicles does not begin so
    #[arg(long)]
    pub check: bool,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub struct Run {
    /// Shipped vehicle or path of a vehicle file
    #[arg(long, value_name = "VEHICLE")]
    pub vehicle: String,
    /// Solver
    #[arg(long, value_name = "NAME")]
    pub backend: String,
    /// Length of a step
    #[command(flatten)]
    pub step: Step,
    /// Manoeuvre to drive; with --scene, `roll` by default
    #[arg(long, alias = "maneuver", value_name = "NAME", required_unless_present_any = ["controls", "scene"])]
    pub manoeuvre: Option<String>,
    /// Table of controls to drive, CSV with a header; `run --help` tells its columns
    #[arg(long, value_name = "FILE", conflicts_with = "manoeuvre", long_help = controls())]
    pub controls: Option<PathBuf>,
    /// Changes to start, ground and duration
    #[command(flatten)]
    pub changes: Changes,
    /// CSV file for every step
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// JSON file for the figures of the manoeuvre
    #[arg(long, value_name = "FILE")]
    pub metrics_json: Option<PathBuf>,
}

/// Returns the long help of `--controls`, with a table of the accepted columns.
fn controls() -> String {
    let mut table = Table::new(usize::MAX);
    for [name, accepts, without] in COLUMNS {
        let without = if without.is_empty() { String::new() } else { format!("without it: {without}") };
        table.row([name.to_string(), accepts.to_string(), without]);
    }
    format!("Table of controls to drive, CSV with a header. {HELD}\n\n{}", table.text(2))
}

/// Length of a step; 1/240 s by default.
#[derive(Clone, Debug, Default, Args)]
pub struct Step {
    /// Length of a step, s, above 0 and at most 0.1
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, conflicts_with = "rate_hz")]
    pub dt_s: Option<f64>,
    /// Steps per second, instead of their length [default: 240]
    #[arg(long, value_name = "HZ", allow_negative_numbers = true)]
    pub rate_hz: Option<f64>,
}

/// Changes to start, ground and duration of a manoeuvre.
#[derive(Clone, Debug, Default, Args)]
pub struct Changes {
    /// Scene file: ground, boxes and start in place of the manoeuvre's; the other changes win over it
    #[arg(long, value_name = "FILE")]
    pub scene: Option<PathBuf>,
    /// Forward speed at the start, m/s; refused where figures would be those of something else
    #[arg(long, value_name = "SPEED", allow_negative_numbers = true)]
    pub initial_speed_mps: Option<f64>,
    /// Slope of the ground, degrees, positive when it rises along +x
    #[arg(long, value_name = "ANGLE", allow_negative_numbers = true)]
    pub slope_deg: Option<f64>,
    /// Heading at the start, degrees, positive to the left of +x; refused where a line on the ground is followed
    #[arg(long, value_name = "ANGLE", allow_negative_numbers = true)]
    pub heading_deg: Option<f64>,
    /// Duration, s, instead of the manoeuvre's; figures that take longer are missing
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub duration_s: Option<f64>,
    /// Shipped trailer or path of a trailer's file that the vehicle tows; several for a train, from the front. Peers tow nothing
    #[arg(long, value_name = "TRAILER")]
    pub towing: Vec<String>,
    /// Folders that files may refer to
    #[command(flatten)]
    pub roots: Roots,
}

/// Folders that files may refer to.
#[derive(Clone, Debug, Default, Args)]
pub struct Roots {
    /// Folder that vehicle and scene files may refer to beside their own; several by repeating the argument. Without it a file that
    /// another file names must lie in the folder of that file or below
    #[arg(long, value_name = "FOLDER")]
    pub allow_root: Vec<PathBuf>,
}

/// Arguments of `check`.
#[derive(Debug, Args)]
pub struct Check {
    /// Shipped vehicles or paths of vehicle files
    #[arg(required = true, value_name = "VEHICLE")]
    pub vehicles: Vec<String>,
    /// Shipped trailer or path of a trailer's file that each of them tows; several for a train, from the front
    #[arg(long, value_name = "TRAILER")]
    pub towing: Vec<String>,
    /// Print one JSON object, with full values by vehicle; null is what a vehicle does not have
    #[arg(long)]
    pub json: bool,
    /// Folders that files may refer to
    #[command(flatten)]
    pub roots: Roots,
}

/// Arguments of `import`.
#[derive(Debug, Args)]
pub struct Import {
    /// Program the file is from
    #[arg(long, value_name = "PROGRAM", value_parser = PossibleValuesParser::new(Source::ALL.map(|(name, _)| name)))]
    pub from: String,
    /// Its file: Godot scene, Unity prefab or scene, CommonRoad parameters; of the others TOML with their own names, whose
    /// keys `skidpad schema` lists
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Vehicle file to write
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Length of the steps the car was tuned at, s: turns brakes per step into forces [default: 1/60]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub dt_s: Option<f64>,
}

/// What has a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Described {
    /// Vehicle files
    Vehicle,
    /// Scene files
    Scene,
    /// What `import --from bullet` reads
    Bullet,
    /// What `import --from rapier` reads
    Rapier,
    /// What `import --from jolt` reads
    Jolt,
    /// What `import --from physx` reads
    Physx,
}

/// What can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Listed {
    /// Shipped vehicles
    Vehicles,
    /// Solvers
    Backends,
    /// Standard manoeuvres
    Manoeuvres,
    /// Kinds of ground, and what each solver's wheels feel on them
    Grounds,
    /// Channels of the CSV that `run` writes
    Channels,
}
