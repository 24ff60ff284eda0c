//! Errors of loading and saving.

/// Reason why bytes cannot be loaded. Nothing was changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LoadError {
    /// Bytes of another format.
    #[error("the data start with {}, but a saved {what} starts with {}", found.escape_ascii(), expected.escape_ascii())]
    Magic {
        /// Expected content: "car" or "world".
        what: &'static str,
        /// First bytes that were found.
        found: [u8; 4],
        /// First bytes of the expected format.
        expected: [u8; 4],
    },
    /// Bytes of another version.
    #[error("the data have version {found}, but this build reads version {expected}")]
    Version {
        /// Version of the bytes.
        found: u16,
        /// Version that this build reads.
        expected: u16,
    },
    /// Wrong number of bytes.
    #[error("the data have {found} bytes, but {expected} are required")]
    Length {
        /// Number of bytes that were found.
        found: usize,
        /// Number of bytes that are required.
        expected: usize,
    },
    /// Different step length, with which the world would not resume identically. The states of single cars can be
    /// loaded.
    #[error("the data have a step of {found} s, but this world has a step of {expected} s")]
    Step {
        /// Step length of the saved world, s.
        found: f32,
        /// Step length of the world that loads, s.
        expected: f32,
    },
    /// Different number of slots.
    #[error("the data have {found} car slots, but this world has {expected}")]
    Cars {
        /// Number of slots of the saved world.
        found: usize,
        /// Number of slots of the world that loads.
        expected: usize,
    },
    /// Slot that holds another car than the saved one.
    #[error("slot {slot}: the data have a car of generation {found}, but this world has generation {expected}")]
    Generation {
        /// Slot with the difference.
        slot: usize,
        /// Generation of the slot in the saved world.
        found: u32,
        /// Generation of the slot in the world that loads.
        expected: u32,
    },
    /// Different number of wheels of a car.
    #[error("car {car}: the data have {found} wheels, but this car has {expected}")]
    Wheels {
        /// Number of the car; 0 for a single car.
        car: usize,
        /// Number of wheels that were saved.
        found: usize,
        /// Number of wheels of the car that loads.
        expected: usize,
    },
    /// Number outside its accepted range.
    #[error("{place}: the value is {found}, but must be {accepts}")]
    Value {
        /// Car, wheel and field, or free body and field.
        place: String,
        /// Value of the number.
        found: f64,
        /// Accepted range.
        accepts: &'static str,
    },
}

/// Moving object of a world, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SavedUnit {
    /// Car with its number.
    Car(usize),
    /// Free body with its number.
    Body(usize),
}

impl core::fmt::Display for SavedUnit {
    /// Writes `car 3` or `body 3`.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Car(car) => write!(f, "car {car}"),
            Self::Body(body) => write!(f, "body {body}"),
        }
    }
}

/// Reason why a world cannot be saved so that it resumes bit for bit. The states of its cars can still be saved.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{backend}, {of}: {reason}; the world would not resume bit-identically")]
pub struct SaveError {
    /// Name of the solver.
    pub backend: &'static str,
    /// Car or free body that prevents it.
    pub of: SavedUnit,
    /// State, in addition to the states of the cars, on which the next step depends.
    pub reason: &'static str,
}
