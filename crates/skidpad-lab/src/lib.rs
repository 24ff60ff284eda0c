//! Simulation laboratory: drives one vehicle through one manoeuvre with any number of solvers and evaluates the runs.
//!
//! | topic | module |
//! |---|---|
//! | manoeuvres, each with typed parameters and a standard default: drop-settle, acceleration, braking, … | [`manoeuvre`] |
//! | tests of several runs, such as searches for the highest passing speed | [`manoeuvre::Procedure`], [`manoeuvre::HANDLING_TESTS`] |
//! | drivers: speed control, path following, open loop | [`driver`] |
//! | open-loop inputs from a file | [`script`] |
//! | telemetry of every step, written as CSV | [`trajectory`] |
//! | selection of channels and rows for files | [`selection`] |
//! | check whether a car was lost | [`lost_control`] |
//! | check whether a car left the ground of its scene | [`scene_bounds`] |
//! | filters, derivatives, spectra and regression of signals | [`signal`] |
//! | metrics of a run, typed and with units | [`metrics`] |
//! | expected values: closed forms computed from the model alone | [`closed_form`] |
//! | quantities of a car and diagrams of reports | [`quantity`] |
//! | agreement between solvers | [`compare`](mod@compare), [`report`] |
//! | effect of the step length: metrics, longest accurate step, order of convergence | [`rate_runs`], [`step_size_study`], [`order`] |
//! | parameter sweeps: grids and distributions over fields of a vehicle, as shards that can be resumed | [`sweep`] |
//! | JSON text and hashes of manifests | [`canonical_json`] |
//! | columns of the telemetry, their units and meanings | [`channels`] |
//! | measured logs beside runs | [`measured_log`] |
//! | telemetry files in the formats of other programs | [`telemetry_files`] |
//! | metrics before and after a change of the car | [`change`] |
//! | estimates of fields from measured logs and published figures | [`fit`] |
//! | weighting of accelerations for ride comfort | [`ride_comfort`] |
//! | road load of a coast-down | [`road_load`] |
//! | published figures of the real car, driven and compared | [`road_test`](mod@road_test) |
//! | trailers: peak hitch forces and articulation angles, rearward amplification | [`towing`] |
//! | friction utilisation of the tyres | [`friction`] |
//!
//! This crate contains no solver: the caller passes a list of [`skidpad_core::SolverInfo`]. The only solver that it
//! refers to by name is `impulse`, the default of descriptions of sweeps and fits.
//! Drivers run in simulation time at the solver's fixed step and read only telemetry, so the same control laws drive
//! every solver. Signs and axes follow ISO 8855.
#![forbid(unsafe_code)]

pub mod agreement;
pub mod canonical_json;
pub mod change;
pub mod channels;
pub mod closed_form;
pub mod compare;
pub mod driver;
pub mod files;
pub mod fit;
mod frame_store;
pub mod friction;
mod ground_speed;
pub mod lost_control;
pub mod manoeuvre;
pub mod measured_log;
pub mod metrics;
pub mod order;
mod parallel;
pub mod quantity;
pub mod rate_runs;
pub mod report;
pub mod ride_comfort;
pub mod road_load;
pub mod road_test;
pub mod run;
mod runner;
pub mod scene_bounds;
pub mod script;
pub mod selection;
pub mod signal;
pub mod solver_support;
mod steering_wheel;
pub mod step_size_study;
pub mod suggestions;
pub mod sweep;
pub mod telemetry_files;
#[cfg(test)]
mod testing;
pub mod towing;
pub mod trajectory;
pub mod units;
pub mod verdict;

pub use closed_form::Characteristics;
pub use compare::{Comparison, Progress, Spread, compare};
pub use driver::{DriverInput, DriverModel};
pub use manoeuvre::{Manoeuvre, Overrides, Procedure, Setup};
pub use metrics::Metric;
pub use rate_runs::{RateRuns, run_rates};
pub use run::{TimeStep, simulate};
pub use script::Script;
pub use step_size_study::StepSizeStudy;
pub use sweep::Sweep;
pub use trajectory::Trajectory;
