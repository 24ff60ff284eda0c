//! Command-line arguments with their defaults.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use skidpad::lab::script::{COLUMN_DESCRIPTIONS, FORMAT_DESCRIPTION};
use skidpad::spec::import::Source;

use crate::output::{TABLE_INDENT, TextTable};

/// Help text about exit codes.
const EXIT_CODES: &str = "Exit codes: 0 success; 1 fault in an argument or in a file; 2 wrong command line; 3 a skidpad solver did not \
solve every step, the car did not finish its course, failed FMVSS 126, spun or rolled over, or left the ground of its scene, or a figure of a road \
test is outside its tolerance; 130 ended by a signal.";

/// Simulates one vehicle description on several physics solvers and measures how far the solvers disagree.
///
/// The command without a subcommand compares all solvers on the Corvette C5 in a step steer and in braking at 240 Hz, and writes a
/// report to target/skidpad/.
#[derive(Debug, Parser)]
#[command(name = "skidpad", version, about, long_about, after_help = EXIT_CODES)]
pub struct Cli {
    /// Subcommand; `None` for the standard comparison.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Runs manoeuvres on several solvers, prints how far the solvers disagree, and writes a report.
    #[command(
        after_help = "Examples: skidpad compare --vehicle corvette_c5 --manoeuvre step-steer,braking --json -\n          skidpad compare --vehicle corvette_c5 --set mass=1700 --against corvette_c5 --manoeuvre circle"
    )]
    Compare(Compare),
    /// Runs manoeuvres at several step rates, prints the longest step that keeps each metric within a tolerance, and
    /// writes a report.
    #[command(after_help = "Example: skidpad certify corvette_c5 --manoeuvre braking --within-percent 1")]
    Certify(Certify),
    /// Runs ten shipped vehicles in the twelve manoeuvres from drop-settle to park-hold on every solver and writes the
    /// pages about the agreement of the solvers.
    #[command(after_help = "Example: skidpad agreement --check")]
    Agreement(Agreement),
    /// Runs one manoeuvre or a table of controls on one solver, writes every step as CSV, and prints the metrics.
    #[command(
        after_help = "Example: skidpad run --vehicle corvette_c5 --solver impulse --manoeuvre braking --out braking.csv --channels t_s,vx_mps --every 24"
    )]
    Run(Run),
    /// Runs a manoeuvre with varied fields of the vehicle file, varied start and varied grip, on all processors.
    ///
    /// Results are tables in CSV and a page with a plot of each metric over each varied field. The folder contains one file
    /// for each shard of the runs: a command that was stopped continues when it is started again, and `--shard` splits the
    /// sweep between machines.
    #[command(
        after_help = "Example: skidpad sweep --vehicle corvette_c5 --manoeuvre braking --vary mass=1400,1500,1600 --vary 'initial_speed={uniform=[20,30]}' --samples 10 --out study"
    )]
    Sweep(Sweep),
    /// Drives the published tests in the vehicle's own file and prints the figures like a magazine: published,
    /// simulated, deviation, origin, pass or fail.
    #[command(after_help = "Example: skidpad road-test corvette_c5")]
    RoadTest(RoadTest),
    /// Checks vehicle files: reports all faults at once, or prints the quantities derived from the description.
    #[command(
        after_help = "Examples: skidpad check corvette_c5 my_car.toml; skidpad check corvette_c5 --set mass=1600"
    )]
    Check(Check),
    /// Estimates fields of a vehicle file from measured logs and published figures, with confidence intervals.
    #[command(after_help = "Example: skidpad fit my_fit.toml --out my_car_fitted.toml")]
    Fit(Fit),
    /// Converts a car of another program to a vehicle file. Numbers are interpreted as in that program.
    #[command(after_help = "Example: skidpad import --from commonroad parameters.yaml --out my_car.toml")]
    Import(Import),
    /// Lists vehicles, solvers, manoeuvres, kinds of ground and telemetry channels.
    #[command(after_help = "Example: skidpad list manoeuvres")]
    List {
        /// List to print. Default: all lists.
        #[arg(value_enum)]
        what: Option<ListKind>,
    },
    /// Prints the completions of a shell. The shell completes subcommands and options with them.
    #[command(after_help = "Example: skidpad completions bash > ~/.local/share/bash-completion/completions/skidpad")]
    Completions {
        /// Shell to print the completions for.
        shell: clap_complete::Shell,
    },
    /// Prints the JSON schema of vehicle files, scene files, descriptions of fits and sweeps, or importable TOML files.
    #[command(after_help = "Example: skidpad schema scene > scene.schema.json")]
    Schema {
        /// File type of the schema.
        #[arg(value_enum, default_value = "vehicle")]
        of: SchemaKind,
    },
}

/// Arguments of `compare`.
#[derive(Debug, Args)]
pub struct Compare {
    /// Name of a shipped vehicle or path of a vehicle file.
    #[arg(long, value_name = "VEHICLE", default_value = "corvette_c5")]
    pub vehicle: String,
    /// Vehicle to compare with, the state before a change: name of a shipped vehicle or path of a vehicle file. The report
    /// shows both cars in each plot, and the difference of each metric. `--set` changes `--vehicle` only, so that
    /// `--against` with the same vehicle compares a change with the state before it. Default solvers: those of skidpad,
    /// without reference vehicles; at most three.
    #[arg(long, value_name = "VEHICLE")]
    pub against: Option<String>,
    /// Manoeuvres to run, separated by commas, or `all` [default: step-steer,braking; with --scene: coast-scene]
    #[arg(long, alias = "maneuver", value_name = "NAMES", value_delimiter = ',')]
    pub manoeuvre: Vec<String>,
    /// Writes one report for each manoeuvre as soon as it is driven, and leaves out manoeuvres whose reports are
    /// complete: a command that was stopped continues when it is started again. Implied by `--manoeuvre all`.
    #[arg(long, conflicts_with_all = ["json", "metrics_csv", "telemetry"])]
    pub separate: bool,
    /// Solvers to run, separated by commas; see `skidpad list solvers`. Default: all solvers.
    #[arg(long, alias = "backends", value_name = "NAMES", value_delimiter = ',')]
    pub solvers: Vec<String>,
    /// Step rate.
    #[command(flatten)]
    pub step: Step,
    /// Changes to the manoeuvre.
    #[command(flatten)]
    pub changes: Changes,
    /// Changes to the vehicle.
    #[command(flatten)]
    pub vehicle_changes: VehicleChanges,
    /// Folder for the report and the tables.
    #[arg(long, value_name = "FOLDER", default_value = "target/skidpad")]
    pub out: PathBuf,
    /// JSON file to write, with metrics, numerical health and time histories of every run; `-` for the standard output,
    /// without the tables.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// CSV file to write, with the columns standard, group, metric, value, units, description; `-` for the standard
    /// output, without the tables.
    #[arg(long, value_name = "FILE")]
    pub metrics_csv: Option<PathBuf>,
    /// File to write, with the time histories of every run: Parquet if it ends in `.parquet`, MCAP for Foxglove and Rerun if
    /// it ends in `.mcap`. Both need a build with the feature of this name.
    #[arg(long, value_name = "FILE")]
    pub telemetry: Option<PathBuf>,
    /// Channels and rows of the time histories.
    #[command(flatten)]
    pub history: History,
    /// Measured log.
    #[command(flatten)]
    pub log: LogOptions,
}

impl Compare {
    /// Returns the arguments of the standard comparison, which runs without a subcommand.
    pub fn standard() -> Self {
        Self {
            vehicle: "corvette_c5".into(),
            against: None,
            manoeuvre: Vec::new(),
            separate: false,
            solvers: Vec::new(),
            step: Step::default(),
            changes: Changes::default(),
            vehicle_changes: VehicleChanges::default(),
            out: "target/skidpad".into(),
            json: None,
            metrics_csv: None,
            telemetry: None,
            history: History::default(),
            log: LogOptions::default(),
        }
    }
}

/// Arguments of `certify`.
#[derive(Debug, Args)]
pub struct Certify {
    /// Name of a shipped vehicle or path of a vehicle file.
    #[arg(value_name = "VEHICLE", default_value = "corvette_c5")]
    pub vehicle: String,
    /// Manoeuvres to run, separated by commas [default: step-steer,braking; with --scene: coast-scene]
    #[arg(long, alias = "maneuver", value_name = "NAMES", value_delimiter = ',')]
    pub manoeuvre: Vec<String>,
    /// Solvers to run, separated by commas; see `skidpad list solvers`. Default: all solvers.
    #[arg(long, alias = "backends", value_name = "NAMES", value_delimiter = ',')]
    pub solvers: Vec<String>,
    /// Step rates to run at, Hz, separated by commas. The highest rate is the reference for the other rates [default:
    /// 30,60,120,240,480,1000]
    #[arg(long, value_name = "HZ", allow_hyphen_values = true, value_delimiter = ',', default_values_t = [30.0, 60.0, 120.0, 240.0, 480.0, 1000.0], hide_default_value = true)]
    pub rates_hz: Vec<f64>,
    /// Maximum accepted deviation of a metric from its reference, %. Lengths in mm are also accepted within 3 mm, times
    /// within half a step. Metrics that are printed as 0 are not judged.
    #[arg(long, value_name = "PERCENT", allow_negative_numbers = true, default_value_t = 2.0)]
    pub within_percent: f64,
    /// Changes to the manoeuvre.
    #[command(flatten)]
    pub changes: Changes,
    /// Changes to the vehicle.
    #[command(flatten)]
    pub vehicle_changes: VehicleChanges,
    /// Folder for the report and the table.
    #[arg(long, value_name = "FOLDER", default_value = "target/skidpad")]
    pub out: PathBuf,
}

/// Arguments of `agreement`.
#[derive(Debug, Args)]
pub struct Agreement {
    /// Folder for the page about all vehicles.
    #[arg(long, value_name = "FOLDER", default_value = "target/skidpad")]
    pub out: PathBuf,
    /// Folder for the pages about each vehicle.
    #[arg(long, value_name = "FOLDER", default_value = "target/agreement")]
    pub details: PathBuf,
    /// Runs only at the rate that is judged, writes nothing, and fails if the page about all vehicles is out of date.
    #[arg(long)]
    pub check: bool,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub struct Run {
    /// Name of a shipped vehicle or path of a vehicle file.
    #[arg(long, value_name = "VEHICLE")]
    pub vehicle: String,
    /// Solver to run; see `skidpad list solvers`.
    #[arg(long, alias = "backend", value_name = "NAME")]
    pub solver: String,
    /// Step rate.
    #[command(flatten)]
    pub step: Step,
    /// Manoeuvre to run. Default with --scene: `coast-scene`.
    #[arg(long, alias = "maneuver", value_name = "NAME", required_unless_present_any = ["controls", "scene"])]
    pub manoeuvre: Option<String>,
    /// Table of controls to run instead of a manoeuvre, CSV with a header. `run --help` lists the columns.
    #[arg(long, value_name = "FILE", conflicts_with = "manoeuvre", long_help = controls_help())]
    pub controls: Option<PathBuf>,
    /// Changes to start, ground and duration.
    #[command(flatten)]
    pub changes: Changes,
    /// Changes to the vehicle.
    #[command(flatten)]
    pub vehicle_changes: VehicleChanges,
    /// File to write, with one row per step: CSV, or Parquet if it ends in `.parquet`, or MCAP for Foxglove and Rerun if it
    /// ends in `.mcap`; `-` for CSV on the standard output. Parquet and MCAP need a build with the feature of this name.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Channels and rows of the file.
    #[command(flatten)]
    pub history: History,
    /// JSON file to write, with the metrics of the manoeuvre and the numerical health of the run; `-` for the standard
    /// output.
    #[arg(long, value_name = "FILE")]
    pub metrics_json: Option<PathBuf>,
    /// Measured log.
    #[command(flatten)]
    pub log: LogOptions,
}

/// Arguments of `sweep`.
#[derive(Debug, Args)]
pub struct Sweep {
    /// Description of the sweep instead of options: a TOML file, or the `manifest.json` of a folder. `skidpad schema sweep`
    /// prints the keys. Python reads the same files.
    #[arg(value_name = "FILE", required_unless_present = "manoeuvre")]
    pub file: Option<PathBuf>,
    /// Description by options.
    #[command(flatten)]
    pub options: SweepOptions,
    /// Folder for shards, tables and plots. A folder of another sweep is refused.
    #[arg(long, value_name = "FOLDER")]
    pub out: PathBuf,
    /// Simulates only part I of N of the shards, from 1/N to N/N, and does not merge them.
    #[arg(long, value_name = "I/N", conflicts_with = "merge")]
    pub shard: Option<Part>,
    /// Number of threads. Default: that of all processors. Results do not depend on it.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
    /// Simulates nothing, checks that each run is there once, and writes the tables and the plots.
    #[arg(long)]
    pub merge: bool,
}

/// Description of a sweep by options.
#[derive(Debug, Args)]
pub struct SweepOptions {
    /// Name of a shipped vehicle or path of a vehicle file [default: corvette_c5]
    #[arg(long, value_name = "VEHICLE", conflicts_with = "file")]
    pub vehicle: Option<String>,
    /// Manoeuvre to run; see `skidpad list manoeuvres`.
    #[arg(long, alias = "maneuver", value_name = "NAME", conflicts_with = "file")]
    pub manoeuvre: Option<String>,
    /// Field and its values. Fields are those of the vehicle file, such as `chassis.mass_kg`, `axles[0].track_m` or
    /// `mass`, and `initial_speed`, `slope_deg`, `heading_deg`, `duration`, `scene__grip` and `scene__gravity`, and
    /// parameters of the manoeuvre, such as `manoeuvre__radius_m`. Values are separated by commas, or are a distribution:
    /// `{uniform=[low,high]}`, `{log_uniform=[low,high]}`, `{normal=[mean,deviation]}` or `{choice=[..]}`. Repeat the
    /// option for several fields.
    #[arg(long, value_name = "FIELD=VALUES", conflicts_with = "file")]
    pub vary: Vec<String>,
    /// Solvers to run, separated by commas; see `skidpad list solvers` [default: impulse]
    #[arg(long, alias = "backends", value_name = "NAMES", value_delimiter = ',', conflicts_with = "file")]
    pub solvers: Vec<String>,
    /// Step rate, Hz, at least 10 [default: 240]
    #[arg(long, value_name = "HZ", conflicts_with = "file", allow_negative_numbers = true)]
    pub rate_hz: Option<f64>,
    /// Samples of the distributions at each point of the grids [default: 1]
    #[arg(long, value_name = "NUMBER", conflicts_with = "file")]
    pub samples: Option<u64>,
    /// Seed of the distributions [default: 0]
    #[arg(long, value_name = "NUMBER", conflicts_with = "file")]
    pub seed: Option<u64>,
    /// Greatest number of runs of a shard. Default: a 64th of the runs, at most 256.
    #[arg(long, value_name = "NUMBER", conflicts_with = "file")]
    pub shard_size: Option<u64>,
    /// Scene file, whose ground replaces that of the manoeuvre.
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    pub scene: Option<PathBuf>,
    /// Trailer that the vehicle tows. For a train, repeat the option from front to rear.
    #[arg(long, value_name = "TRAILER", conflicts_with = "file")]
    pub towing: Vec<String>,
}

/// Part of several ones, such as `3/64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Number of the part, from 1.
    pub number: u64,
    /// Number of all parts.
    pub count: u64,
}

impl std::str::FromStr for Part {
    type Err = String;

    /// Parses `I/N`, such as `3/64`. `I` must be from 1 to `N`.
    fn from_str(text: &str) -> Result<Self, String> {
        let numbers =
            text.split_once('/').and_then(|(number, count)| Some((number.parse().ok()?, count.parse().ok()?)));
        match numbers {
            Some((number, count)) if (1..=count).contains(&number) => Ok(Self { number, count }),
            _ => Err("a part such as 3/64, from 1/64 to 64/64, is accepted".into()),
        }
    }
}

/// Arguments of `road-test`.
#[derive(Debug, Args)]
pub struct RoadTest {
    /// Name of a shipped vehicle or path of a vehicle file.
    #[arg(value_name = "VEHICLE", default_value = "corvette_c5")]
    pub vehicle: String,
    /// Solvers to run, separated by commas; see `skidpad list solvers`. Default: all solvers of skidpad, without
    /// reference vehicles.
    #[arg(long, alias = "backends", value_name = "NAMES", value_delimiter = ',')]
    pub solvers: Vec<String>,
    /// Step rate.
    #[command(flatten)]
    pub step: Step,
    /// Changes to the vehicle.
    #[command(flatten)]
    pub vehicle_changes: VehicleChanges,
    /// Prints one JSON object with unrounded values instead of the table. Missing values are null.
    #[arg(long)]
    pub json: bool,
    /// Folders that files may refer to.
    #[command(flatten)]
    pub roots: Roots,
}

/// Returns the long help of `--controls`, with a table of the accepted columns. A row names the column, the accepted
/// values, and the default if there is one.
fn controls_help() -> String {
    // No column is right-aligned.
    let mut table = TextTable::new(usize::MAX);
    for [name, accepted, default_text] in COLUMN_DESCRIPTIONS {
        let default_text = if default_text.is_empty() { String::new() } else { format!("default: {default_text}") };
        table.push_row([name.to_string(), accepted.to_string(), default_text]);
    }
    format!("Table of controls to drive, CSV with a header. {FORMAT_DESCRIPTION}\n\n{}", table.to_text(TABLE_INDENT))
}

/// Step rate; 240 Hz by default.
#[derive(Clone, Debug, Default, Args)]
pub struct Step {
    /// Step rate, Hz, at least 10 [default: 240]
    #[arg(long, value_name = "HZ", allow_negative_numbers = true)]
    pub rate_hz: Option<f64>,
    /// Step length, s, above 0 and at most 0.1, instead of the step rate.
    #[arg(long, hide = true, value_name = "SECONDS", allow_negative_numbers = true, conflicts_with = "rate_hz")]
    pub dt_s: Option<f64>,
}

/// Changes to start, ground and duration of a manoeuvre.
#[derive(Clone, Debug, Default, Args)]
pub struct Changes {
    /// Scene file. Its ground, boxes and start replace those of the manoeuvre. Other options override the scene.
    #[arg(long, value_name = "FILE")]
    pub scene: Option<PathBuf>,
    /// Forward speed at the start, m/s. Rejected if the manoeuvre fixes its own speed or requires a higher speed.
    #[arg(long, value_name = "SPEED", allow_negative_numbers = true)]
    pub initial_speed_mps: Option<f64>,
    /// Slope of the ground, degrees. Positive if the ground rises along +x. Rejected for scenes without a plane.
    #[arg(long, value_name = "ANGLE", allow_negative_numbers = true)]
    pub slope_deg: Option<f64>,
    /// Heading at the start, degrees. Positive to the left of +x. Rejected if the manoeuvre follows a line on the
    /// ground.
    #[arg(long, value_name = "ANGLE", allow_negative_numbers = true)]
    pub heading_deg: Option<f64>,
    /// Duration, s, instead of the duration of the manoeuvre. Metrics that need more time have no value.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub duration_s: Option<f64>,
    /// Parameter of the manoeuvre and its value, such as `radius_m=50`; see `skidpad list manoeuvres`. Repeat the option
    /// for several parameters. Manoeuvres that do not have it are not changed.
    #[arg(long, value_name = "NAME=NUMBER")]
    pub parameter: Vec<String>,
    /// Trailer that the vehicle tows: name of a shipped trailer or path of a trailer file. For a train, repeat the
    /// option from front to rear. Reference vehicles cannot tow: they are left out, and rejected if `--solver` or
    /// `--solvers` names one.
    #[arg(long, value_name = "TRAILER")]
    pub towing: Vec<String>,
    /// Folders that files may refer to.
    #[command(flatten)]
    pub roots: Roots,
}

/// Changes to the fields of a vehicle file.
#[derive(Clone, Debug, Default, Args)]
pub struct VehicleChanges {
    /// Field of the vehicle and its value, such as `chassis.mass_kg=1600` or `axles[0].tyre=rear`. The short name of a
    /// field that occurs only once is enough, such as `mass=1600`. Repeat the option for several fields.
    #[arg(long, value_name = "FIELD=VALUE")]
    pub set: Vec<String>,
}

/// Channels and rows of time histories.
#[derive(Clone, Debug, Default, Args)]
pub struct History {
    /// Telemetry channels to write, separated by commas; see `skidpad list channels`. Default: all channels in a CSV
    /// file, none in a JSON file. With this option the channels of trailers are left out of CSV files.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub channels: Vec<String>,
    /// Writes only every how manyth row, from the first one. Default: every row.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub every: Option<u32>,
}

/// Measured log that is laid over the runs.
#[derive(Clone, Debug, Default, Args)]
pub struct LogOptions {
    /// Measured log, CSV with a header: its curves are laid over the plots of the report, and the deviations of the solvers
    /// from it are printed. Columns that are called like a telemetry channel are read; see `skidpad list channels`.
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Columns of the log with other names, such as `t_s=Time,yaw_rate_radps=Yaw`. With a factor and an offset:
    /// `'yaw_rate_radps={column="Yaw",factor=0.0174533,offset=0}'`. Repeat the option for several columns.
    #[arg(long, value_name = "CHANNEL=COLUMN", requires = "log")]
    pub log_columns: Vec<String>,
    /// Time in the log at which the run starts, s. Default: the time of its first row.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, requires = "log")]
    pub log_start_s: Option<f64>,
}

/// Folders that files may refer to.
#[derive(Clone, Debug, Default, Args)]
pub struct Roots {
    /// Additional folder whose files a vehicle or scene file may use. Repeat the option for several folders. Default: a
    /// file may use only files in its own folder and below.
    #[arg(long, value_name = "FOLDER")]
    pub allow_root: Vec<PathBuf>,
}

/// Arguments of `check`.
#[derive(Debug, Args)]
pub struct Check {
    /// Names of shipped vehicles or paths of vehicle files.
    #[arg(required = true, value_name = "VEHICLE")]
    pub vehicles: Vec<String>,
    /// Trailer that each vehicle tows: name of a shipped trailer or path of a trailer file. For a train, repeat the
    /// option from front to rear.
    #[arg(long, value_name = "TRAILER")]
    pub towing: Vec<String>,
    /// Changes to each vehicle, but not to its trailers.
    #[command(flatten)]
    pub vehicle_changes: VehicleChanges,
    /// Prints one JSON object with the unrounded quantities of each vehicle instead of tables. Missing values are null.
    #[arg(long)]
    pub json: bool,
    /// Folders that files may refer to.
    #[command(flatten)]
    pub roots: Roots,
}

/// Arguments of `fit`.
#[derive(Debug, Args)]
pub struct Fit {
    /// Description of the fit, a TOML file: vehicle, parameters with bounds, logs and figures. The book shows an
    /// example; `skidpad schema fit` prints the keys.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Vehicle file to write, with the estimates in place of the previous values.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// JSON file to write, with estimates, intervals and agreement.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// Arguments of `import`.
#[derive(Debug, Args)]
pub struct Import {
    /// Program that the file belongs to.
    #[arg(long, value_name = "PROGRAM", value_parser = PossibleValuesParser::new(Source::ALL.map(|(name, _)| name)))]
    pub from: String,
    /// File to import: Godot scene, Unity prefab or scene, or CommonRoad parameter set. For the other programs: a TOML
    /// file with the parameter names of that program; `skidpad schema` prints its keys.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Vehicle file to write.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Step rate at which the car was tuned, Hz. It converts brake impulses per step to forces [default: 60]
    #[arg(long, value_name = "HZ", allow_negative_numbers = true)]
    pub rate_hz: Option<f64>,
    /// Step length at which the car was tuned, s, instead of the step rate.
    #[arg(long, hide = true, value_name = "SECONDS", allow_negative_numbers = true, conflicts_with = "rate_hz")]
    pub dt_s: Option<f64>,
}

/// Types of files with a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemaKind {
    /// Vehicle files.
    Vehicle,
    /// Scene files.
    Scene,
    /// Description of a fit.
    Fit,
    /// Description of a sweep.
    Sweep,
    /// Files for `import --from bullet`.
    Bullet,
    /// Files for `import --from rapier`.
    Rapier,
    /// Files for `import --from jolt`.
    Jolt,
    /// Files for `import --from physx`.
    Physx,
}

/// Lists that can be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ListKind {
    /// Shipped vehicles.
    Vehicles,
    /// Solvers and reference vehicles.
    #[value(alias = "backends")]
    Solvers,
    /// Standard manoeuvres.
    Manoeuvres,
    /// Kinds of ground, and the wheel shapes of each solver.
    Grounds,
    /// Telemetry channels in the CSV file of `run`.
    Channels,
}
