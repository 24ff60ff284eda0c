//! Serialisation of the motion of one car. The module `world` serialises a world with its cars and free bodies. The
//! format is little-endian, with magic bytes and a version.
//!
//! One list of fields per struct defines both writing and reading. Models and scenes are not saved; loaded states must
//! fit the cars of the world that loads.

pub(crate) mod world;

use crate::drivetrain::motor::MAX_MOTORS;
use crate::drivetrain::parameters::MAX_COUPLINGS;
pub use crate::state::refused::{LoadError, Mover, SaveError};
use crate::state::{DriveState, State, Tow, WheelState};
use crate::world::free_body::BodyMotion;
use bevy_math::{DVec3, Quat, Vec3};

/// Version of saved cars, and the only one that is read. Increase it with every change of the fields below.
pub const VERSION: u16 = 5;

/// Version of saved worlds, and the only one that is read. Increase it with [`VERSION`], too.
pub const WORLD_VERSION: u16 = 7;

/// First bytes of a saved car.
pub const CAR_MAGIC: [u8; 4] = *b"skpC";

/// First bytes of a saved world.
pub const WORLD_MAGIC: [u8; 4] = *b"skpW";

const MAGIC_BYTES: usize = CAR_MAGIC.len() + u16::SIZE;

impl State {
    /// Returns the state as bytes for [`State::from_bytes`]. The size is 417 bytes for four wheels, and 20 more for a
    /// towed car. Each wheel has 4 more if any wheel has shifted sideways, and 4 more if any is on ground with a
    /// friction factor other than 1.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; MAGIC_BYTES + car_bytes(self.wheels.len()) + more_bytes(self)];
        let mut to = Writer { left: &mut bytes };
        CAR_MAGIC.write(&mut to);
        VERSION.write(&mut to);
        self.write(&mut to);
        bytes
    }

    /// Reads the state of a car with `wheels` wheels.
    ///
    /// # Errors
    /// Returns an error for bytes of another format, another version or another number of wheels, and for a number that
    /// no state can have.
    pub fn from_bytes(bytes: &[u8], wheels: usize) -> Result<Self, LoadError> {
        load_car(bytes, 0, wheels)
    }
}

/// Reads a state as [`State::from_bytes`] does. Errors report the car number `car`.
///
/// # Errors
/// Returns the errors of [`State::from_bytes`].
pub fn load_car(bytes: &[u8], car: usize, wheels: usize) -> Result<State, LoadError> {
    let mut from = Reader::new(bytes, MAGIC_BYTES + car_bytes(wheels));
    from.begin("car", CAR_MAGIC, VERSION)?;
    let state = from.car(car, wheels)?;
    from.end()?;
    Ok(state)
}

fn car_bytes(wheels: usize) -> usize {
    State::SIZE + wheels * WheelState::SIZE
}

/// Returns the number of additional bytes of a towed car.
fn tow_bytes(towed: bool) -> usize {
    if towed { Tow::SIZE } else { 0 }
}

/// Returns the number of additional bytes of a car that is towed, has wheels that have shifted, or is on ground with a
/// friction factor other than 1.
fn more_bytes(state: &State) -> usize {
    let per_wheel = usize::from(has_shifted(&state.wheels)) + usize::from(is_off_grip(&state.wheels));
    tow_bytes(state.tow.is_some()) + state.wheels.len() * per_wheel * f32::SIZE
}

/// Returns true if any wheel has shifted sideways.
fn has_shifted(wheels: &[WheelState]) -> bool {
    wheels.iter().any(|wheel| wheel.shift.to_bits() != 0)
}

/// Returns true if any wheel is on ground with a friction factor other than 1.
fn is_off_grip(wheels: &[WheelState]) -> bool {
    wheels.iter().any(|wheel| wheel.grip_excess.to_bits() != 0)
}

/// Flag in the byte of the number of wheels: each wheel is followed by its shift. `MAX_WHEELS` needs six bits.
const SHIFTED: u8 = 128;
/// Flag in the byte of the number of wheels: each wheel is followed by its grip excess, after its shift if present.
const OFF_GRIP: u8 = 64;

/// Bytes that are not yet written, of a buffer of the final size.
struct Writer<'a> {
    left: &'a mut [u8],
}

impl Writer<'_> {
    #[inline(always)]
    fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        if let Some((next, left)) = core::mem::take(&mut self.left).split_first_chunk_mut() {
            *next = bytes;
            self.left = left;
        }
    }

    /// Writes the next `N` bytes by `write`. Their length is checked once for all of them.
    #[inline(always)]
    fn part<const N: usize>(&mut self, write: impl FnOnce(&mut Writer<'_>)) {
        if let Some((next, left)) = core::mem::take(&mut self.left).split_first_chunk_mut::<N>() {
            write(&mut Writer { left: next });
            self.left = left;
        }
    }
}

/// Bytes that are not yet read, and the place in the data for errors.
struct Reader<'a> {
    left: &'a [u8],
    found: usize,
    accepts: usize,
    car: usize,
    /// Number of wheels of the car being read.
    wheels: usize,
    wheel: Option<usize>,
    /// Free body being read; the bodies follow all cars.
    body: Option<usize>,
    /// Whether the car being read is towed; `None` if the number of bytes after its wheels determines it.
    towed: Option<bool>,
    field: &'static Field,
}

/// Field being read, with the range of its numbers.
struct Field {
    name: &'static str,
    range: Range,
}

/// Range of a number.
#[derive(Clone, Copy)]
struct Range {
    least: f64,
    most: f64,
    accepts: &'static str,
}

/// Maximum magnitude of a number. It is larger than any value of a car, and products of three such numbers are finite.
const LARGEST: f64 = 1e12;

const SIZED: Range = Range { least: -LARGEST, most: LARGEST, accepts: "a number within ±1e12" };
const NOT_NEGATIVE: Range = Range { least: 0.0, most: LARGEST, accepts: "a number from 0 to 1e12" };
const SHARE: Range = Range { least: 0.0, most: 1.0, accepts: "a number from 0 to 1" };
const SINE: Range = Range { least: -1.0, most: 1.0, accepts: "a number within ±1" };
/// Range of a road-wheel angle. The inner wheel in a tight turn is turned by up to half a turn, and by up to 1 rad of
/// toe.
const STEER: Range = Range { least: -4.2, most: 4.2, accepts: "an angle within ±4.2 rad" };

const NO_FIELD: Field = Field { name: "", range: SIZED };
const SHIFT: Field = Field { name: "shift", range: SIZED };
const GRIP_EXCESS: Field = Field { name: "grip_excess", range: SIZED };

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8], accepts: usize) -> Self {
        Self {
            left: bytes,
            found: bytes.len(),
            accepts,
            car: 0,
            wheels: 0,
            wheel: None,
            body: None,
            towed: None,
            field: &NO_FIELD,
        }
    }

    fn begin(&mut self, what: &'static str, accepts: [u8; 4], version: u16) -> Result<(), LoadError> {
        let found = self.take()?;
        if found != accepts {
            return Err(LoadError::Magic { what, found, accepts });
        }
        match u16::read(self)? {
            found if found == version => Ok(()),
            found => Err(LoadError::Version { found, accepts: version }),
        }
    }

    fn car(&mut self, car: usize, wheels: usize) -> Result<State, LoadError> {
        (self.car, self.wheels, self.wheel) = (car, wheels, None);
        State::read(self)
    }

    fn end(&self) -> Result<(), LoadError> {
        if self.left.is_empty() { Ok(()) } else { Err(self.length()) }
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], LoadError> {
        let (taken, left) = self.left.split_first_chunk().ok_or_else(|| self.length())?;
        self.left = left;
        Ok(*taken)
    }

    fn length(&self) -> LoadError {
        LoadError::Length { found: self.found, accepts: self.accepts }
    }

    fn value(&self, found: f64, accepts: &'static str) -> LoadError {
        let wheel = self.wheel.map_or_else(String::new, |i| format!("wheel {i}, "));
        let whose = self.body.map_or_else(|| format!("car {}, {wheel}", self.car), |body| format!("body {body}, "));
        LoadError::Value { place: format!("{whose}{}", self.field.name), found, accepts }
    }
}

/// Value that can be written and read back bit for bit.
trait Saved: Sized {
    /// Size, bytes; for a list, the size of its length.
    const SIZE: usize;
    fn write(&self, to: &mut Writer<'_>);
    fn read(from: &mut Reader<'_>) -> Result<Self, LoadError>;
}

/// Implements [`Saved`] for a struct. Both patterns name every field, so a field that is not listed does not compile.
/// Fields that are saved elsewhere are listed as `apart`.
macro_rules! fields {
    ($struct:ident { $($field:ident: $type:ty = $range:expr),+ $(,)? } $(apart $($apart:ident),+)?) => {
        impl Saved for $struct {
            const SIZE: usize = 0 $(+ <$type>::SIZE)+;
            #[inline(always)]
            fn write(&self, to: &mut Writer<'_>) {
                let Self { $($field),+ $($(, $apart: _)+)? } = self;
                $($field.write(to);)+
            }
            fn read(from: &mut Reader<'_>) -> Result<Self, LoadError> {
                Ok(Self {
                    $($field: {
                        const FIELD: Field = Field { name: stringify!($field), range: $range };
                        from.field = &FIELD;
                        Saved::read(from)?
                    },)+
                    $($($apart: Default::default(),)+)?
                })
            }
        }
    };
}

fields!(State {
    position: DVec3 = SIZED,
    rotation: Quat = SIZED,
    velocity: Vec3 = SIZED,
    angular: Vec3 = SIZED,
    previous_velocity: Vec3 = SIZED,
    steer: f32 = STEER,
    drive: DriveState = SIZED,
    wheels: Box<[WheelState]> = SIZED,
    tow: Option<Tow> = SIZED,
});

fields!(BodyMotion { position: DVec3 = SIZED, rotation: Quat = SIZED, velocity: Vec3 = SIZED, angular: Vec3 = SIZED });

fields!(Tow { by: u32 = SIZED, force: Vec3 = SIZED, overrun: f32 = SHARE });

fields!(DriveState {
    engine_speed: f32 = SIZED,
    gear: i8 = SIZED,
    next_gear: i8 = SIZED,
    ratio: f32 = NOT_NEGATIVE,
    shift_left: f32 = NOT_NEGATIVE,
    since_shift: f32 = NOT_NEGATIVE,
    clutch: f32 = SIZED,
    couplings: [f32; MAX_COUPLINGS] = SIZED,
    motors: [f32; MAX_MOTORS] = SIZED,
});

fields!(WheelState {
    spin: f32 = SIZED,
    deflection: [f32; 2] = SIZED,
    compression: f32 = SIZED,
    travel_rate: f32 = SIZED,
    load: f32 = NOT_NEGATIVE,
    tyre: [f32; 2] = SIZED,
    torque: f32 = SIZED,
    rolling_speed: f32 = SIZED,
    rolling: f32 = SHARE,
    steer: f32 = STEER,
    lean: f32 = SINE,
    overturning: f32 = SIZED,
    aligning: f32 = SIZED,
    disc: f32 = NOT_NEGATIVE,
    contact: bool = SIZED,
} apart shift, grip_excess);

macro_rules! whole_numbers {
    ($($type:ident)+) => { $(
        impl Saved for $type {
            const SIZE: usize = size_of::<$type>();
            #[inline(always)]
            fn write(&self, to: &mut Writer<'_>) {
                to.put(self.to_le_bytes());
            }
            fn read(from: &mut Reader<'_>) -> Result<Self, LoadError> {
                from.take().map(Self::from_le_bytes)
            }
        }
    )+ };
}

whole_numbers!(u8 i8 u16 u32 u64);

macro_rules! finite_numbers {
    ($($type:ident)+) => { $(
        impl Saved for $type {
            const SIZE: usize = size_of::<$type>();
            #[inline(always)]
            fn write(&self, to: &mut Writer<'_>) {
                to.put(self.to_le_bytes());
            }
            fn read(from: &mut Reader<'_>) -> Result<Self, LoadError> {
                let found = Self::from_le_bytes(from.take()?);
                let Range { least, most, accepts } = &from.field.range;
                // A number that is not finite is outside every range.
                if (*least..=*most).contains(&f64::from(found)) {
                    return Ok(found);
                }
                Err(from.value(found.into(), if found.is_finite() { accepts } else { "a finite number" }))
            }
        }
    )+ };
}

finite_numbers!(f32 f64);

impl Saved for bool {
    const SIZE: usize = 1;

    fn write(&self, to: &mut Writer<'_>) {
        to.put([u8::from(*self)]);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, LoadError> {
        match u8::read(from)? {
            0 => Ok(false),
            1 => Ok(true),
            found => Err(from.value(found.into(), "0 or 1")),
        }
    }
}

impl<T: Saved + Copy + Default, const N: usize> Saved for [T; N] {
    const SIZE: usize = N * T::SIZE;

    fn write(&self, to: &mut Writer<'_>) {
        self.iter().for_each(|item| item.write(to));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, LoadError> {
        let mut items = [T::default(); N];
        for item in &mut items {
            *item = T::read(from)?;
        }
        Ok(items)
    }
}

impl Saved for Vec3 {
    const SIZE: usize = <[f32; 3]>::SIZE;

    fn write(&self, to: &mut Writer<'_>) {
        self.to_array().write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, LoadError> {
        <[f32; 3]>::read(from).map(Self::from_array)
    }
}

impl Saved for DVec3 {
    const SIZE: usize = <[f64; 3]>::SIZE;

    fn write(&self, to: &mut Writer<'_>) {
        self.to_array().write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, LoadError> {
        <[f64; 3]>::read(from).map(Self::from_array)
    }
}

impl Saved for Quat {
    const SIZE: usize = <[f32; 4]>::SIZE;

    fn write(&self, to: &mut Writer<'_>) {
        self.to_array().write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, LoadError> {
        let found = <[f32; 4]>::read(from).map(Self::from_array)?;
        let length = found.length();
        // A step keeps the length within a few roundings of 1. Other lengths do not come from an orientation.
        if (length - 1.0).abs() < 1e-3 { Ok(found) } else { Err(from.value(length.into(), "of length 1 within 0.001")) }
    }
}

/// Writes no bytes for a car that is not towed.
impl Saved for Option<Tow> {
    const SIZE: usize = 0;

    fn write(&self, to: &mut Writer<'_>) {
        if let Some(tow) = self {
            tow.write(to);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, LoadError> {
        from.wheel = None;
        let towed = from.towed.unwrap_or_else(|| {
            let left = from.left.len() == Tow::SIZE;
            from.accepts += tow_bytes(left);
            left
        });
        towed.then(|| Tow::read(from)).transpose()
    }
}

impl Saved for Box<[WheelState]> {
    const SIZE: usize = u8::SIZE;

    fn write(&self, to: &mut Writer<'_>) {
        let (shifted, off_grip) = (has_shifted(self), is_off_grip(self));
        (self.len() as u8 | if shifted { SHIFTED } else { 0 } | if off_grip { OFF_GRIP } else { 0 }).write(to);
        for wheel in self {
            to.part::<{ WheelState::SIZE }>(|part| wheel.write(part));
            if shifted {
                wheel.shift.write(to);
            }
            if off_grip {
                wheel.grip_excess.write(to);
            }
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, LoadError> {
        let known = u8::read(from)?;
        let (found, accepts) = (usize::from(known & !(SHIFTED | OFF_GRIP)), from.wheels);
        if found != accepts {
            return Err(LoadError::Wheels { car: from.car, found, accepts });
        }
        let [shifted, off_grip] = [SHIFTED, OFF_GRIP].map(|flag| known & flag != 0);
        from.accepts += found * f32::SIZE * (usize::from(shifted) + usize::from(off_grip));
        let mut read = |i| {
            from.wheel = Some(i);
            let mut wheel = WheelState::read(from)?;
            if shifted {
                from.field = &SHIFT;
                wheel.shift = f32::read(from)?;
            }
            if off_grip {
                from.field = &GRIP_EXCESS;
                wheel.grip_excess = f32::read(from)?;
            }
            Ok(wheel)
        };
        (0..found).map(&mut read).collect()
    }
}
