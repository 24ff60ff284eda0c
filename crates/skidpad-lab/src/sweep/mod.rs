//! Sweeps: parameter studies, Monte Carlo studies and agreement studies as shards that any number of machines run.
//!
//! A [`Sweep`] is a list of runs with identifiers: a manoeuvre on all values of grids, all samples of distributions and
//! all solvers. Each shard of it is one file in a folder that all machines share. [`Sweep::execute`] writes the shards
//! that are missing, and [`Sweep::merge`] joins them. Results are equal to the bit for any number of threads and machines.
//!
//! The package for Python (`skidpad.sweep`) plans and simulates the runs with this module, and writes the tables of shards
//! as Parquet files.

pub mod description;
mod error;
mod execution;
mod manifest;
mod merging;
mod normal_distribution;
mod parameter;
mod plan;
mod shards;
mod sources;
mod table;
mod target;

#[cfg(test)]
mod tests;

pub use error::SweepError;
pub use execution::{Execution, ExecutionReport};
pub use manifest::MANIFEST_NAME;
pub use parameter::{PARAMETER_FORMS, Parameter, Value};
pub use plan::{FORMAT, NamedParameter, Plan, PlanFault, PlannedRun, Sweep};
pub use shards::{FinishedRun, RunResults, ShardState};
pub use sources::Source;
pub use table::{CellType, Column, Role, RunTable};
pub use target::Target;
