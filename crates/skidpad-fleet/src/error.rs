//! Errors of a fleet.

use skidpad_core::LoadError;
use skidpad_core::block::Requirement;
use thiserror::Error;

use crate::lanes::Lanes;

/// Reason why a fleet refuses a model, a scene, a car or an array.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum FleetError {
    /// The model has parts that a fleet does not support.
    #[error("a fleet cannot take cars of this model: {}", join(.0))]
    Model(Vec<Requirement>),
    /// The model of a car has another layout than that of the fleet.
    #[error("the model of a car differs from that of the fleet in: {}; mass, inertia, and numbers of wheels, struts, tyres, brakes, aerodynamics and engine torque may differ", .0.join("; "))]
    Layout(Vec<&'static str>),
    /// The scene has parts that a fleet does not support.
    #[error("a fleet cannot use this scene: it has {}; a fleet supports ground that does not move (plane, boxes, height fields, meshes, each with grip and texture), gravity and steady wind; remove these parts, or use a world", .0.join(", "))]
    Scene(Vec<&'static str>),
    /// The model is a trailer, which needs a towing vehicle.
    #[error("the model is a trailer; a fleet takes vehicles without trailers")]
    Trailer,
    /// The scene has free bodies.
    #[error(
        "the scene has free bodies, which the cars of a fleet would have to share; remove them or use a world for each car"
    )]
    FreeBodies,
    /// The processor does not have the lanes.
    #[error("this processor does not have the lanes {0:?}; use Lanes::widest()")]
    Lanes(Lanes),
    /// There is no car with this number.
    #[error("there is no car {car}; the fleet has {len} cars, counted from 0")]
    NoCar {
        /// Number of the car.
        car: usize,
        /// Number of cars of the fleet.
        len: usize,
    },
    /// An array has another length than its shape.
    #[error("the array has {found} numbers, expected {expected}: {shape}")]
    Length {
        /// Length of the array.
        found: usize,
        /// Length that the shape has.
        expected: usize,
        /// Shape of the array.
        shape: &'static str,
    },
    /// A state has another number of wheels than the cars of the fleet.
    #[error("the state has {found} wheels, the cars of this fleet have {expected}")]
    Wheels {
        /// Number of wheels of the state.
        found: usize,
        /// Number of wheels of the cars.
        expected: usize,
    },
    /// Bytes are not those of a saved fleet of these cars.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A state or a start has a number that is not finite.
    #[error("a state or a start has a number that is not finite")]
    NotFinite,
    /// The length of a step is not valid.
    #[error("the step length is {0} s, expected a finite number above 0")]
    StepLength(f32),
}

/// Returns the requirements as one text.
fn join(requirements: &[Requirement]) -> String {
    requirements.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
