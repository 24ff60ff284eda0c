//! Why bytes are not read, and a car or a body not written.

/// Why bytes cannot be loaded. Nothing was changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LoadError {
    /// They are something else.
    #[error("the first bytes are {}, but a saved {what} begins with {}", found.escape_ascii(), accepts.escape_ascii())]
    Magic {
        /// "car" or "world".
        what: &'static str,
        /// What they begin with.
        found: [u8; 4],
        /// What they must begin with.
        accepts: [u8; 4],
    },
    /// Another version wrote them.
    #[error("version {found} was found, but this build reads version {accepts}")]
    Version {
        /// Their version.
        found: u16,
        /// The version this build reads.
        accepts: u16,
    },
    /// There are too few or too many.
    #[error("{found} bytes were found, but {accepts} are needed")]
    Length {
        /// Their number.
        found: usize,
        /// The number that fits.
        accepts: usize,
    },
    /// The world has another step length, with which nothing would resume alike. A car's own state may be loaded.
    #[error("a step of {found} s was found, but this world steps by {accepts} s")]
    Step {
        /// Of the saved world, s.
        found: f32,
        /// Of the world they are loaded into, s.
        accepts: f32,
    },
    /// The world has another number of slots.
    #[error("{found} slots of cars were found, but this world has {accepts}")]
    Cars {
        /// Number of slots of the saved world.
        found: usize,
        /// Number of slots of the world that loads.
        accepts: usize,
    },
    /// A slot of the world holds another car than the saved one.
    #[error(
        "slot {slot}: the car of generation {found} was found, but this world has one of generation {accepts} there"
    )]
    Generation {
        /// Slot with the difference.
        slot: usize,
        /// Generation of the slot in the saved world.
        found: u32,
        /// Generation of the slot in the world that loads.
        accepts: u32,
    },
    /// A car has another number of wheels.
    #[error("car {car}: {found} wheels were found, but this car has {accepts}")]
    Wheels {
        /// Which car, 0 for a single one.
        car: usize,
        /// Wheels saved.
        found: usize,
        /// Wheels of the car they are loaded into.
        accepts: usize,
    },
    /// A number makes no sense.
    #[error("{place}: {found} was found, but it must be {accepts}")]
    Value {
        /// Which car, wheel and field, or which free body and field.
        place: String,
        /// The number.
        found: f64,
        /// The accepted range.
        accepts: &'static str,
    },
}

/// Something of a world that moves, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mover {
    /// A car.
    Car(usize),
    /// A free body.
    Body(usize),
}

impl core::fmt::Display for Mover {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Car(car) => write!(f, "car {car}"),
            Self::Body(body) => write!(f, "body {body}"),
        }
    }
}

/// Why a world cannot be saved so that it resumes bit for bit. The states of its cars can be saved all the same.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{backend}, {of}: {reason}, so the world would not resume bit for bit")]
pub struct SaveError {
    /// Name of the solver.
    pub backend: &'static str,
    /// Which car or free body.
    pub of: Mover,
    /// What the next step depends on beside the states of the cars.
    pub reason: &'static str,
}
