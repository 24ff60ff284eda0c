//! Interface for authors of solvers: the rows that a step has built, and the operations on them.
//!
//! A step builds soft, bounded rows `impulse = target_impulse − gain · speed` for every wheel: its load along the
//! contact normal, and the longitudinal and lateral force of its tyre. Wheel spins, brakes and shafts couple to the
//! longitudinal rows. A [`RowSolver`] finds the impulses of all rows together: it reads the rows of a car ([`CarRows`])
//! and leaves impulses and spins in them. `skidpad-impulse` does so in one sweep, `skidpad-constraint` by Newton's
//! method; the example `own_solver` of `skidpad` is a Gauss-Seidel solver.
//!
//! Solvers use two groups of operations:
//!
//! - Blocks: [`prepare_blocks`] and [`solve_blocks`] solve each wheel (spin and both tyre impulses) from one given
//!   chassis velocity, with the compliance of the chassis. They work on one car and on batches ([`StepWheels`]).
//! - Linearisation: [`CarRows::linearise`] evaluates all rows at a chassis velocity. It returns their impulse on the
//!   chassis and the 6 × 6 matrix of a Newton step.
//!
//! Cars on two axles have one group of four wheels. [`CarRows::has_single_group`] selects [`SingleGroup`], for which
//! the compiler knows the length of loops, or [`ManyGroups`].

pub use crate::assembly::wheel::spin_tyre_block::TyreSolution;
pub use crate::drivetrain::rows::DriveRows;
pub use crate::impulse_bounds::ImpulseBounds;
pub use crate::model::body::BodyConstants;
pub use crate::model::wheel_pack::WheelPack;
pub use crate::steering::rows::SteeringRows;
pub use crate::step::batch_pass::BatchPass;
pub use crate::step::blocks::{effective_mass, gripping_count, prepare_blocks, solve_blocks};
pub use crate::step::car_rows::CarRows;
pub use crate::step::evaluation::LimitUpdate;
pub use crate::step::newton::{NewtonStep, velocity_norm};
pub use crate::step::row_solver::RowSolver;
pub use crate::step::step_wheels::{CarMask, CarScalar, CarTwist, RowPass, StepWheels, Velocities};
pub use crate::suspension::rows::{LoadRows, LoadSolution};
pub use crate::tyre_rows::TyreRows;
pub use crate::vehicle::rows::{BoundRelaxation, EffectiveMass, RowVelocity, WheelRows, WheelSolution};
pub use crate::vehicle::wheel_impulses;
pub use crate::wheel::rows::ContactRows;
pub use skidpad_simd::instruction_set::dispatch_simd;
pub use skidpad_simd::wheel_groups::{ManyGroups, SingleGroup, WheelGroups};
