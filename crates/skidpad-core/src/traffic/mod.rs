//! Several vehicles: stepping of many cars in batches, vehicles on hitches, vehicles on other vehicles, contacts
//! between bodies, and level of detail.

pub(crate) mod cars;
pub mod contact_solver;
pub(crate) mod level_of_detail;
mod line_search;
pub(crate) mod stacked_vehicles;
mod supporting_body;
mod trains;
