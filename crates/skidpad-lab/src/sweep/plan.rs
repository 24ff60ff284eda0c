//! Plans of sweeps: runs, identifiers and manifests.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use skidpad_core::SolverInfo;
use skidpad_spec::{FaultKind, LoadedScene, LoadedVehicle};

use super::parameter::{Parameter, Value, parameter_path};
use super::sources::Source;
use super::target::{Target, faults_text};
use crate::canonical_json::hash_of;
use crate::manoeuvre::{ManoeuvreEntry, Overrides, by_name, catalogue};
use crate::run::TimeStep;
use crate::solver_support::{can_simulate, has_moving_bodies};
use crate::suggestions::nearest_name;
use crate::units::{TowedUnit, hitch_trailers};

/// Format of manifests and shards. Files of another format are refused.
pub const FORMAT: &str = "skidpad sweep 1";
/// Largest number of runs of a sweep.
const MAX_RUNS: u64 = 10_000_000;
/// Number of shards of a sweep without a stated shard size.
const USUAL_SHARDS: u64 = 64;
/// Largest number of runs of a shard without a stated shard size.
const MAX_USUAL_SHARD_SIZE: u64 = 256;
/// Keys of a manifest that all runs share. Seed, sizes and parameters act through the values of a run only.
const SHARED_KEYS: [&str; 7] = ["format", "skidpad", "vehicle", "towing", "scene", "manoeuvre", "rate"];
/// Number of hexadecimal digits of the identifier of a run.
const ID_DIGITS: usize = 24;

/// Parts of a sweep that are not checked yet.
#[derive(Debug)]
pub struct Plan {
    /// Vehicle.
    pub vehicle: Source,
    /// Trailers from the front.
    pub towing: Vec<Source>,
    /// Scene that replaces the ground of the manoeuvre.
    pub scene: Option<(Source, LoadedScene)>,
    /// Name of the manoeuvre.
    pub manoeuvre: String,
    /// Names of the solvers.
    pub solvers: Vec<String>,
    /// Step rate (Hz).
    pub rate: f64,
    /// Parameters by their names, in the order of the description.
    pub parameters: Vec<(String, Parameter)>,
    /// Samples of the distributions at each point of the grids.
    pub samples: u64,
    /// Seed of the distributions.
    pub seed: u64,
    /// Greatest number of runs of a shard; `None` for the usual one.
    pub shard_size: Option<u64>,
}

/// Fault of a plan.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {found}{}", shorten_path(path), if accepts.is_empty() { String::new() } else { format!(", but must be {accepts}") })]
pub struct PlanFault {
    /// Kind of the fault.
    pub kind: FaultKind,
    /// Key of the description.
    pub path: String,
    /// Value found, or a sentence about the fault.
    pub found: String,
    /// Accepted values; empty if `found` says what to do.
    pub accepts: String,
}

impl PlanFault {
    /// Creates the fault of a value that is not accepted.
    fn value(path: impl Into<String>, found: impl Into<String>, accepts: impl Into<String>) -> Self {
        Self { kind: FaultKind::OutOfRange, path: path.into(), found: found.into(), accepts: accepts.into() }
    }

    /// Creates the fault of a value that another file contradicts; `found` is a sentence.
    fn contradiction(path: impl Into<String>, found: impl Into<String>, accepts: impl Into<String>) -> Self {
        Self { kind: FaultKind::Contradiction, ..Self::value(path, found, accepts) }
    }
}

/// Parameter with its name and the quantity that it changes.
#[derive(Clone, Debug)]
pub struct NamedParameter {
    /// Name, as in the description.
    pub name: String,
    /// Quantity that the parameter changes.
    pub target: Target,
    /// Values.
    pub parameter: Parameter,
}

/// Sweep: runs of a manoeuvre on all values of grids, all samples of distributions and all solvers.
pub struct Sweep {
    pub(super) vehicle: Source,
    pub(super) loaded_vehicle: LoadedVehicle,
    pub(super) towing: Vec<Source>,
    pub(super) scene: Option<Source>,
    /// Changes of all runs: scene with its start, and trailers.
    pub(super) overrides: Overrides,
    pub(super) manoeuvre: &'static ManoeuvreEntry,
    pub(super) solvers: Vec<SolverInfo>,
    pub(super) dt: TimeStep,
    pub(super) parameters: Vec<NamedParameter>,
    samples: u64,
    seed: u64,
    shard_size: u64,
    /// Number of runs.
    run_count: u64,
    manifest: Json,
    hash: String,
    /// Hash of the keys of the manifest that all runs share.
    shared_hash: String,
}

/// Run of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedRun {
    /// Place in the sweep, from 0.
    pub number: u64,
    /// Hash of everything that the results of the run depend on, and of the number of the sample.
    pub id: String,
    /// Number of the sample, from 0.
    pub sample: u64,
    /// Number of the solver, from 0.
    pub solver: usize,
    /// Value of each parameter.
    pub values: Vec<Value>,
}

impl Plan {
    /// Checks the plan and returns the sweep without faults, or `None` with all faults. `solvers` are the solvers that
    /// the plan can name. Whether the solvers can simulate the ground of the manoeuvre is only checked if there is no
    /// other fault.
    pub fn build(self, solvers: &[SolverInfo]) -> (Option<Sweep>, Vec<PlanFault>) {
        let mut faults = Vec::new();
        let overrides = self.fixed_overrides(&mut faults);
        let manoeuvre = self.find_manoeuvre(&mut faults);
        let chosen = self.find_solvers(solvers, &overrides, &mut faults);
        let dt = TimeStep::from_rate_hz(self.rate);
        if let Err(accepts) = &dt {
            faults.push(PlanFault::value("rate", self.rate.to_string(), accepts));
        }
        let parameters = self.find_targets(manoeuvre, &mut faults);
        let run_count = self.count_runs(&mut faults);
        let vehicle = self.vehicle.read_vehicle(&self.vehicle.toml).map_err(|error| {
            faults.push(PlanFault::contradiction("car", faults_text(&error), "a valid vehicle file"));
        });
        let (Ok(loaded_vehicle), Ok(dt), Some(manoeuvre), true) = (vehicle, dt, manoeuvre, faults.is_empty()) else {
            return (None, faults);
        };
        let setup = overrides.apply(manoeuvre.build_standard(&overrides).setup(&loaded_vehicle.model));
        for info in chosen.iter().filter(|info| !can_simulate(info, &setup)) {
            let found = format!("`{}` for the moving ground of `{}`", info.name, manoeuvre.name);
            faults.push(PlanFault::contradiction("solvers", found, "solvers that are no reference vehicles"));
        }
        if !faults.is_empty() {
            return (None, faults);
        }
        let shard_size =
            self.shard_size.unwrap_or_else(|| run_count.div_ceil(USUAL_SHARDS).clamp(1, MAX_USUAL_SHARD_SIZE));
        let manifest = self.manifest(manoeuvre.name, shard_size);
        let shared: Json = SHARED_KEYS.iter().map(|key| ((*key).to_owned(), manifest[*key].clone())).collect();
        let sweep = Sweep {
            vehicle: self.vehicle,
            loaded_vehicle,
            towing: self.towing,
            scene: self.scene.map(|(source, _)| source),
            overrides,
            manoeuvre,
            solvers: chosen,
            dt,
            parameters,
            samples: self.samples,
            seed: self.seed,
            shard_size,
            run_count,
            hash: hash_of(&manifest),
            shared_hash: hash_of(&shared),
            manifest,
        };
        (Some(sweep), faults)
    }

    /// Returns the changes that all runs share: the scene with its start, and the trailers. If [`Self::hitch_trailers`]
    /// fails, this is a fault, and no trailers are returned.
    fn fixed_overrides(&self, faults: &mut Vec<PlanFault>) -> Overrides {
        let trailers = self.hitch_trailers().unwrap_or_else(|found| {
            let accepts = "trailers behind a vehicle with a `[hitch]`, such as `toyota_4runner`";
            faults.push(PlanFault::contradiction("towing", found, accepts));
            Vec::new()
        });
        let scene = self.scene.as_ref().map(|(_, scene)| scene);
        Overrides {
            scene: scene.map(|scene| scene.scene.clone()),
            start_m: scene.and_then(|scene| scene.spec.start_m),
            initial_speed_mps: scene.and_then(|scene| scene.spec.speed_mps),
            heading_rad: scene.and_then(|scene| scene.spec.heading_deg).map(f64::to_radians),
            trailers,
            ..Overrides::default()
        }
    }

    /// Returns the towed units from the front; the reason as text if the car or a trailer has a fault, or if a trailer
    /// cannot be towed.
    fn hitch_trailers(&self) -> Result<Vec<TowedUnit>, String> {
        let read = |source: &Source| source.read_vehicle(&source.toml).map_err(|faults| faults_text(&faults));
        let car = read(&self.vehicle)?;
        let trailers = self.towing.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let names = self.towing.iter().map(|source| source.name.as_str());
        hitch_trailers(&car.model, names.zip(&trailers)).map_err(|error| error.to_string())
    }

    /// Returns the manoeuvre. An unknown name is a fault and returns `None`.
    fn find_manoeuvre(&self, faults: &mut Vec<PlanFault>) -> Option<&'static ManoeuvreEntry> {
        let entry = by_name(&self.manoeuvre);
        if entry.is_none() {
            let accepts = accepted_names(&self.manoeuvre, catalogue().map(|entry| entry.name));
            faults.push(PlanFault::value("manoeuvre", format!("`{}`", self.manoeuvre), accepts));
        }
        entry
    }

    /// Returns the named solvers, which must be among `known`. A fault is an unknown or repeated name, an empty list,
    /// and a reference vehicle (a solver without wheel rows) with trailers or with boxes that move. Solvers with a
    /// fault are left out.
    fn find_solvers(
        &self,
        known: &[SolverInfo],
        overrides: &Overrides,
        faults: &mut Vec<PlanFault>,
    ) -> Vec<SolverInfo> {
        let needs_rows = !overrides.trailers.is_empty() || overrides.scene.as_ref().is_some_and(has_moving_bodies);
        let mut chosen: Vec<SolverInfo> = Vec::new();
        for (index, name) in self.solvers.iter().enumerate() {
            let mut reject = |accepts: String| {
                faults.push(PlanFault::value(format!("solvers[{index}]"), format!("`{name}`"), accepts));
            };
            match known.iter().find(|info| info.name == name) {
                None => reject(accepted_names(name, known.iter().map(|info| info.name))),
                Some(_) if chosen.iter().any(|info| info.name == name) => reject("named once".into()),
                Some(info) if needs_rows && !info.has_wheel_rows => {
                    reject("a solver that is no reference vehicle, because of trailers or moving boxes".into());
                }
                Some(info) => chosen.push(*info),
            }
        }
        if self.solvers.is_empty() {
            faults.push(PlanFault::value("solvers", "empty", "at least one solver"));
        }
        chosen
    }

    /// Returns the parameters with the quantities that they change. A parameter without a target is a fault and left
    /// out.
    fn find_targets(&self, manoeuvre: Option<&ManoeuvreEntry>, faults: &mut Vec<PlanFault>) -> Vec<NamedParameter> {
        let mut parameters = Vec::new();
        for (name, parameter) in &self.parameters {
            match Target::find(name, parameter, &self.vehicle, self.scene.is_some(), manoeuvre) {
                Ok(target) => {
                    parameters.push(NamedParameter { name: name.clone(), target, parameter: parameter.clone() });
                }
                Err(found) => faults.push(PlanFault::contradiction(parameter_path(name), found, "")),
            }
        }
        parameters
    }

    /// Returns the number of runs: the product of the sizes of all grids, the samples and the solvers. More than
    /// [`MAX_RUNS`] are a fault, and count as 1.
    fn count_runs(&self, faults: &mut Vec<PlanFault>) -> u64 {
        let grids = self.parameters.iter().filter_map(|(_, parameter)| parameter.grid());
        let factors = grids.map(|values| values.len() as u64).chain([self.samples, self.solvers.len() as u64]);
        let count = factors.into_iter().try_fold(1_u64, u64::checked_mul).filter(|count| *count <= MAX_RUNS);
        count.unwrap_or_else(|| {
            let accepts = format!("at most {MAX_RUNS} runs: fewer values, samples or solvers");
            faults.push(PlanFault::contradiction("samples", "too many runs", accepts));
            1
        })
    }

    /// Returns the manifest: versions, hashes of vehicle, trailers and scene, manoeuvre, solvers, rate, parameters,
    /// samples, seed and shard size. Equal manifests have equal results.
    fn manifest(&self, manoeuvre: &str, shard_size: u64) -> Json {
        let parameters = self.parameters.iter().map(|(name, parameter)| json!([name, parameter.to_json()]));
        json!({
            "format": FORMAT,
            "skidpad": env!("CARGO_PKG_VERSION"),
            "vehicle": self.vehicle.identity(),
            "towing": self.towing.iter().map(Source::identity).collect::<Json>(),
            "scene": self.scene.as_ref().map(|(source, _)| source.identity()),
            "manoeuvre": manoeuvre,
            "solvers": self.solvers,
            "rate": self.rate,
            // A list, because the order of the grids is the order of the runs.
            "parameters": parameters.collect::<Json>(),
            "samples": self.samples,
            "seed": self.seed,
            "shard_size": shard_size,
        })
    }
}

/// Returns a path of a fault, cut to 100 characters with an ellipsis if it is longer.
fn shorten_path(path: &str) -> String {
    const MAX_CHARACTERS: usize = 100;
    let start: String = path.chars().take(MAX_CHARACTERS).collect();
    if start.len() < path.len() { format!("{start}…") } else { start }
}

/// Returns the `known` names as accepted values for the unknown `name`, with the nearest one first.
fn accepted_names<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.collect();
    let names = known.join(", ");
    match nearest_name(name, known) {
        Some(nearest) => format!("one of the known names; did you mean `{nearest}`? Known names: {names}"),
        None => format!("one of {names}"),
    }
}

impl core::fmt::Debug for Sweep {
    /// Writes the manifest, without vehicles and solvers.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Sweep").field("manifest", &self.manifest).finish_non_exhaustive()
    }
}

impl Sweep {
    /// Returns the number of runs.
    pub fn run_count(&self) -> u64 {
        self.run_count
    }

    /// Returns the number of shards.
    pub fn shard_count(&self) -> u64 {
        self.run_count.div_ceil(self.shard_size)
    }

    /// Returns the numbers of the runs of the shard `index`, which counts from 0. A shard beyond the last is empty.
    pub fn shard(&self, index: u64) -> std::ops::Range<u64> {
        let start = (index * self.shard_size).min(self.run_count);
        start..(start + self.shard_size).min(self.run_count)
    }

    /// Returns the number of the shard that contains the run `number`.
    pub(super) fn shard_of(&self, number: u64) -> u64 {
        number / self.shard_size
    }

    /// Returns the name of the vehicle, for people.
    pub fn vehicle_name(&self) -> &str {
        &self.loaded_vehicle.spec.name
    }

    /// Returns the name of the manoeuvre.
    pub fn manoeuvre_name(&self) -> &'static str {
        self.manoeuvre.name
    }

    /// Returns the description of the manoeuvre.
    pub fn manoeuvre_about(&self) -> &'static str {
        self.manoeuvre.about
    }

    /// Returns the step rate (Hz).
    pub fn rate_hz(&self) -> f64 {
        1.0 / self.dt.seconds()
    }

    /// Returns the solvers.
    pub fn solvers(&self) -> &[SolverInfo] {
        &self.solvers
    }

    /// Returns the parameters in the order of the description.
    pub fn parameters(&self) -> &[NamedParameter] {
        &self.parameters
    }

    /// Returns everything that the results depend on.
    pub fn manifest(&self) -> &Json {
        &self.manifest
    }

    /// Returns the hash of the manifest, hexadecimal.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Returns the run `number`, which counts from 0 and must be below [`Self::run_count`]. Solvers change fastest,
    /// then samples, then the last grid.
    ///
    /// A grid parameter has its value at this point of the grids. A distribution draws its value from the seed, its
    /// name and the number of the sample. The identifier is the start of the hash of solver, sample, values, and the
    /// keys of the manifest that all runs share.
    pub fn run(&self, number: u64) -> PlannedRun {
        let solver_count = self.solvers.len() as u64;
        // Splits the number into solver, sample and `point`, the number of the point of the grids.
        let (rest, solver) = (number / solver_count, (number % solver_count) as usize);
        let (mut point, sample) = (rest / self.samples, rest % self.samples);
        let mut values: Vec<Value> = Vec::with_capacity(self.parameters.len());
        // The last grid changes fastest, so `point` is split from the last parameter on.
        for NamedParameter { name, parameter, .. } in self.parameters.iter().rev() {
            values.push(match parameter.grid() {
                Some(grid) => {
                    let index = point % grid.len() as u64;
                    point /= grid.len() as u64;
                    grid[index as usize].clone()
                }
                None => parameter.draw(self.seed, name, sample),
            });
        }
        values.reverse();
        let named = self.parameters.iter().zip(&values).map(|(entry, value)| (entry.name.clone(), value.to_json()));
        let content = json!({
            "shared": self.shared_hash,
            "solver": self.solvers[solver].name,
            "sample": sample,
            "values": named.collect::<Json>(),
        });
        let mut id = hash_of(&content);
        id.truncate(ID_DIGITS);
        PlannedRun { number, id, sample, solver, values }
    }

    /// Returns the description of the vehicle without changed fields.
    pub fn vehicle(&self) -> &Source {
        &self.vehicle
    }

    /// Returns the descriptions of the trailers from the front.
    pub fn towing(&self) -> &[Source] {
        &self.towing
    }

    /// Returns the description of the scene that replaces the ground of the manoeuvre.
    pub fn scene(&self) -> Option<&Source> {
        self.scene.as_ref()
    }

    /// Returns the model of the vehicle without changed fields.
    pub(super) fn model(&self) -> &Arc<skidpad_core::Model> {
        &self.loaded_vehicle.model
    }
}
