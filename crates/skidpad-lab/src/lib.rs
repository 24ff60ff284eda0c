//! Simulation laboratory: drives one vehicle through one manoeuvre with any number of solvers and evaluates the runs.
//!
//! | topic | module |
//! |---|---|
//! | manoeuvres, each with typed parameters and a standard default: settle, acceleration, braking, … | [`manoeuvre`] |
//! | drivers: speed control, path following, open loop | [`driver`] |
//! | open-loop inputs from a file | [`script`] |
//! | telemetry of every step, written as CSV | [`trajectory`] |
//! | check whether a car left the ground of its scene | [`extent`] |
//! | metrics of a run, typed and with units | [`metrics`] |
//! | expected values: closed forms computed from the model alone | [`figures`] |
//! | agreement between solvers | [`compare`](mod@compare), [`report`] |
//! | effect of the step length: metrics, longest accurate step, order of convergence | [`sweep`](mod@sweep), [`certify`], [`order`] |
//! | trailers: peak hitch forces and articulation angles, rearward amplification | [`towing`] |
//! | friction utilisation of the tyres | [`friction`] |
//!
//! This crate contains no solver and refers to none by name: the caller passes a list of [`skidpad_core::BackendInfo`].
//! Drivers run in simulation time at the solver's fixed step and read only telemetry, so the same control laws drive
//! every solver. Signs and axes follow ISO 8855.
#![forbid(unsafe_code)]

pub mod agreement;
pub mod certify;
pub mod compare;
pub mod driver;
pub mod extent;
pub mod figures;
pub mod files;
pub mod friction;
pub mod manoeuvre;
pub mod metrics;
pub mod names;
pub mod order;
mod over_ground;
pub mod report;
mod rows;
pub mod run;
pub mod script;
pub mod sweep;
#[cfg(test)]
mod testing;
pub mod towing;
pub mod trajectory;
pub mod units;

pub use certify::Certificate;
pub use compare::{Comparison, Progress, Spread, compare};
pub use driver::{Driver, DriverInput};
pub use figures::Figures;
pub use manoeuvre::{Manoeuvre, Overrides, Setup};
pub use metrics::Metric;
pub use run::{TimeStep, simulate};
pub use script::Script;
pub use sweep::{Sweep, sweep};
pub use trajectory::Trajectory;
