//! The laboratory: one vehicle, one manoeuvre, any number of solvers, and what came of it.
//!
//! | question | module |
//! |---|---|
//! | what is driven? | [`manoeuvre`]: settle, acceleration, braking, … each with typed parameters and a standard default |
//! | who drives? | [`driver`]: speed holding, path following, open loop |
//! | an open-loop input from a file? | [`script`] |
//! | what happened? | [`trajectory`]: telemetry of every step, written as CSV |
//! | did the car stay on its ground? | [`extent`] |
//! | how good was it? | [`metrics`]: typed figures with units, one generic view of them |
//! | what should come out? | [`figures`]: closed forms from the model alone |
//! | do the solvers agree? | [`compare`](mod@compare) and [`report`] |
//! | what does the step do to it? | [`sweep`](mod@sweep): figures at several rates; [`certify`]: the longest step that keeps them; [`order`]: how they converge |
//! | what did its trailers do? | [`towing`]: peaks of hitches, rearward amplification |
//! | how near the limit was it? | [`friction`]: the share of its friction a tyre used |
//!
//! Not here: any solver. A comparison is handed a list of [`skidpad_core::BackendInfo`]; nothing in this crate knows
//! a backend by name. Drivers run in simulation time with the solver's fixed step and see only telemetry, so every
//! solver is driven by the same rules. Signs and axes follow ISO 8855, as everywhere in skidpad.
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
