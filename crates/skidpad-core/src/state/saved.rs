//! Serialisation of the motion of one car. The module `world` serialises a world with its cars and free bodies. The
//! format is little-endian, with magic bytes and a version.
//!
//! One list of fields per struct defines both writing and reading. Models and scenes are not saved; loaded states must
//! fit the cars of the world that loads.

pub(crate) mod world;

pub use world::{load_cars, save_cars};

use crate::drivetrain::motor::MAX_MOTORS;
use crate::drivetrain::parameters::MAX_COUPLINGS;
use crate::ground::free_body::BodyMotion;
pub use crate::state::load_errors::{LoadError, SaveError, SavedUnit};
use crate::state::{DriveState, State, Tow, WheelState};
use bevy_math::{DVec3, Quat, Vec3};

/// Version of saved cars, and the only one that is read. Increase it with every change of the fields below.
pub const CAR_VERSION: u16 = 6;

/// Version of saved worlds, and the only one that is read. Increase it with [`CAR_VERSION`], too.
pub const WORLD_VERSION: u16 = 8;

/// First bytes of a saved car.
pub const CAR_MAGIC: [u8; 4] = *b"skpC";

/// First bytes of a saved world.
pub const WORLD_MAGIC: [u8; 4] = *b"skpW";

/// Size of magic bytes and version, bytes.
const MAGIC_BYTES: usize = CAR_MAGIC.len() + u16::SIZE_BYTES;

impl State {
    /// Returns the state as bytes for [`State::from_bytes`]. The size is 417 bytes for four wheels, and 20 more for a
    /// towed car. Each wheel has 4 more if any wheel has shifted sideways, and 4 more if any is on ground with a
    /// friction factor other than 1. Deflections of the steering linkage take 4 more for each wheel, and 1 byte.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; MAGIC_BYTES + car_bytes(self.wheels.len()) + optional_bytes(self)];
        let mut writer = Writer { remaining: &mut bytes };
        CAR_MAGIC.write(&mut writer);
        CAR_VERSION.write(&mut writer);
        self.write(&mut writer);
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

/// Reads a state as [`State::from_bytes`] does. Errors report the car number `car`. Reads magic bytes, version and
/// state, in this order, and accepts no further bytes.
///
/// # Errors
/// Returns the errors of [`State::from_bytes`].
pub fn load_car(bytes: &[u8], car: usize, wheels: usize) -> Result<State, LoadError> {
    let mut reader = Reader::new(bytes, car_bytes(wheels).saturating_add(MAGIC_BYTES));
    reader.read_header("car", CAR_MAGIC, CAR_VERSION)?;
    let state = reader.read_car(car, wheels)?;
    reader.check_end()?;
    Ok(state)
}

/// Returns the size of the state of a car with this number of `wheels`, bytes, without optional parts and without
/// header; `usize::MAX` for a number of wheels that no car has.
fn car_bytes(wheels: usize) -> usize {
    wheels.saturating_mul(WheelState::SIZE_BYTES).saturating_add(State::SIZE_BYTES)
}

/// Returns the number of additional bytes of a towed car.
fn tow_bytes(towed: bool) -> usize {
    if towed { Tow::SIZE_BYTES } else { 0 }
}

/// Returns the number of additional bytes of a car that is towed, or whose wheels have optional fields.
fn optional_bytes(state: &State) -> usize {
    tow_bytes(state.tow.is_some()) + OptionalFields::of(&state.wheels).bytes(state.wheels.len())
}

/// Optional fields of wheels that are saved for a car: those that are not 0 at every wheel. A field of −0 counts, too,
/// so that its bits are restored.
#[derive(Clone, Copy)]
struct OptionalFields {
    /// Any wheel has shifted sideways.
    shifted: bool,
    /// Any wheel is on ground with a friction factor other than 1.
    off_grip: bool,
    /// The steering linkage is deflected at any wheel.
    deflected: bool,
}

impl OptionalFields {
    /// Returns the optional fields of `wheels`.
    #[inline(always)]
    fn of(wheels: &[WheelState]) -> Self {
        // Bits that are set in the field of any wheel.
        let [shifted, off_grip, deflected] = wheels
            .iter()
            .fold([0; 3], |[shift, grip_excess, deflection], wheel| {
                [
                    shift | wheel.shift.to_bits(),
                    grip_excess | wheel.grip_excess.to_bits(),
                    deflection | wheel.steer_deflection.to_bits(),
                ]
            })
            .map(|bits| bits != 0);
        Self { shifted, off_grip, deflected }
    }

    /// Returns the size of the fields of `wheel_count` wheels, with the byte that announces deflections.
    #[inline(always)]
    fn bytes(self, wheel_count: usize) -> usize {
        let per_wheel = usize::from(self.shifted) + usize::from(self.off_grip) + usize::from(self.deflected);
        wheel_count * per_wheel * f32::SIZE_BYTES + usize::from(self.deflected) * LINKAGE_DEFLECTED.len()
    }
}

/// Byte before the number of wheels: each wheel is followed by the deflection of its steering linkage, after its other
/// optional fields. No car has 0 wheels.
const LINKAGE_DEFLECTED: [u8; 1] = [0];

/// Flag in the byte of the number of wheels: each wheel is followed by its shift. `MAX_WHEELS` needs six bits.
const SHIFTED_FLAG: u8 = 128;
/// Flag in the byte of the number of wheels: each wheel is followed by its grip excess, after its shift if present.
const OFF_GRIP_FLAG: u8 = 64;

/// Bytes that are not yet written, of a buffer of the final size.
struct Writer<'a> {
    /// Bytes left to write.
    remaining: &'a mut [u8],
}

impl Writer<'_> {
    /// Writes `bytes` and advances. A buffer that is too short, which its size rules out, stays unchanged and accepts
    /// no further bytes.
    #[inline(always)]
    fn write_bytes<const N: usize>(&mut self, bytes: [u8; N]) {
        if let Some((head, rest)) = core::mem::take(&mut self.remaining).split_first_chunk_mut() {
            *head = bytes;
            self.remaining = rest;
        }
    }

    /// Writes the next `N` bytes by `write`, which receives a writer of exactly these bytes, and advances. The bounds
    /// are checked once for all of them. A shorter buffer, which its size rules out, stays unchanged and accepts no
    /// further bytes.
    #[inline(always)]
    fn write_fixed<const N: usize>(&mut self, write: impl FnOnce(&mut Writer<'_>)) {
        if let Some((head, rest)) = core::mem::take(&mut self.remaining).split_first_chunk_mut::<N>() {
            write(&mut Writer { remaining: head });
            self.remaining = rest;
        }
    }
}

/// Bytes that are not yet read, and the place in the data for errors.
struct Reader<'a> {
    /// Bytes left to read.
    remaining: &'a [u8],
    /// Number of all bytes, for errors.
    total_bytes: usize,
    /// Number of bytes expected so far, for errors; optional parts change it.
    expected_bytes: usize,
    /// Number of the car being read.
    car: usize,
    /// Number of wheels of the car being read.
    wheel_count: usize,
    /// Wheel being read; `None` outside of wheels.
    wheel: Option<usize>,
    /// Free body being read; the bodies follow all cars.
    body: Option<usize>,
    /// Whether the car being read is towed; `None` if the number of bytes after its wheels determines it.
    towed: Option<bool>,
    /// Field being read, which determines the accepted range of its numbers.
    field: &'static Field,
}

/// Field being read, with the range of its numbers.
struct Field {
    /// Name in errors.
    name: &'static str,
    /// Accepted range of its numbers.
    range: Range,
}

/// Range of a number.
#[derive(Clone, Copy)]
struct Range {
    /// Least accepted value.
    min: f64,
    /// Largest accepted value.
    max: f64,
    /// Accepted values as a text, for errors.
    accepts: &'static str,
}

/// Maximum magnitude of a number. This limit is larger than any value of a car, and products of three such numbers are
/// finite.
const MAX_MAGNITUDE: f64 = 1e12;

/// Range of a number of either sign.
const MAGNITUDE_RANGE: Range = Range { min: -MAX_MAGNITUDE, max: MAX_MAGNITUDE, accepts: "a number within ±1e12" };
/// Range of a number that is not negative.
const NON_NEGATIVE_RANGE: Range = Range { min: 0.0, max: MAX_MAGNITUDE, accepts: "a number from 0 to 1e12" };
/// Range of a share.
const SHARE_RANGE: Range = Range { min: 0.0, max: 1.0, accepts: "a number from 0 to 1" };
/// Range of a sine.
const SINE_RANGE: Range = Range { min: -1.0, max: 1.0, accepts: "a number within ±1" };
/// Range of a road-wheel angle. The inner wheel in a tight turn is turned by up to half a turn, by up to 1 rad of toe,
/// and by up to 0.2 rad of deflection.
const STEER_RANGE: Range = Range { min: -4.4, max: 4.4, accepts: "an angle within ±4.4 rad" };

/// Range of a deflection of the steering linkage.
const DEFLECTION_RANGE: Range = Range { min: -0.25, max: 0.25, accepts: "an angle within ±0.25 rad" };

/// Field before the first is read.
const NO_FIELD: Field = Field { name: "", range: MAGNITUDE_RANGE };
/// Lateral shift of a wheel, an optional field.
const SHIFT_FIELD: Field = Field { name: "shift", range: MAGNITUDE_RANGE };
/// Friction factor of the ground less 1, an optional field.
const GRIP_EXCESS_FIELD: Field = Field { name: "grip_excess", range: MAGNITUDE_RANGE };
/// Deflection of the steering linkage at a wheel, an optional field.
const STEER_DEFLECTION_FIELD: Field = Field { name: "steer_deflection", range: DEFLECTION_RANGE };

impl<'a> Reader<'a> {
    /// Builds a reader at the start of `bytes`, before the first field. `expected_bytes` is the number of bytes that
    /// errors report as expected; the length is not checked here.
    fn new(bytes: &'a [u8], expected_bytes: usize) -> Self {
        Self {
            remaining: bytes,
            total_bytes: bytes.len(),
            expected_bytes,
            car: 0,
            wheel_count: 0,
            wheel: None,
            body: None,
            towed: None,
            field: &NO_FIELD,
        }
    }

    /// Reads magic bytes, then the version. Fails if they are not `expected` and `version`, or if bytes are missing.
    /// `content`: saved content for the error, "car" or "world".
    fn read_header(&mut self, content: &'static str, expected: [u8; 4], version: u16) -> Result<(), LoadError> {
        let found = self.read_bytes()?;
        if found != expected {
            return Err(LoadError::Magic { what: content, found, expected });
        }
        match u16::read(self)? {
            found if found == version => Ok(()),
            found => Err(LoadError::Version { found, expected: version }),
        }
    }

    /// Reads the state of the car number `car` (for errors), which must have `wheels` wheels.
    fn read_car(&mut self, car: usize, wheels: usize) -> Result<State, LoadError> {
        (self.car, self.wheel_count, self.wheel) = (car, wheels, None);
        State::read(self)
    }

    /// Checks that no bytes are left.
    fn check_end(&self) -> Result<(), LoadError> {
        if self.remaining.is_empty() { Ok(()) } else { Err(self.length_error()) }
    }

    /// Returns the next `N` bytes and advances. Fails if fewer are left; nothing is consumed then.
    fn read_bytes<const N: usize>(&mut self) -> Result<[u8; N], LoadError> {
        let (head, rest) = self.remaining.split_first_chunk().ok_or_else(|| self.length_error())?;
        self.remaining = rest;
        Ok(*head)
    }

    /// Returns the error of a wrong number of bytes.
    fn length_error(&self) -> LoadError {
        LoadError::Length { found: self.total_bytes, expected: self.expected_bytes }
    }

    /// Returns the error of the value `found` in the present field, with car and wheel or free body. `accepts`:
    /// accepted range as a text.
    fn value_error(&self, found: f64, accepts: &'static str) -> LoadError {
        let wheel_prefix = self.wheel.map_or_else(String::new, |i| format!("wheel {i}, "));
        let owner =
            self.body.map_or_else(|| format!("car {}, {wheel_prefix}", self.car), |body| format!("body {body}, "));
        LoadError::Value { place: format!("{owner}{}", self.field.name), found, accepts }
    }
}

/// Value that can be written and read back bit for bit.
trait Saved: Sized {
    /// Size, bytes; for a list, the size of its length.
    const SIZE_BYTES: usize;
    /// Appends the value to `writer`, little-endian.
    fn write(&self, writer: &mut Writer<'_>);
    /// Reads the value from `reader` and advances. Fails if bytes are missing or a number is outside the range of the
    /// present field.
    fn read(reader: &mut Reader<'_>) -> Result<Self, LoadError>;
}

/// Implements [`Saved`] for a struct. Both patterns name every field, so a field that is not listed does not compile.
/// Fields that are saved elsewhere are listed as `saved_elsewhere`.
macro_rules! fields {
    ($struct:ident { $($field:ident: $type:ty = $range:expr),+ $(,)? } $(saved_elsewhere $($saved_elsewhere:ident),+)?) => {
        impl Saved for $struct {
            const SIZE_BYTES: usize = 0 $(+ <$type>::SIZE_BYTES)+;
            #[inline(always)]
            fn write(&self, writer: &mut Writer<'_>) {
                let Self { $($field),+ $($(, $saved_elsewhere: _)+)? } = self;
                $($field.write(writer);)+
            }
            /// Reads the fields in the order of the list. Each becomes the present field of the reader, with its name
            /// and range. Fields that are saved elsewhere have their default.
            fn read(reader: &mut Reader<'_>) -> Result<Self, LoadError> {
                Ok(Self {
                    $($field: {
                        // A constant, because errors refer to the field by a static reference.
                        const NAMED_FIELD: Field = Field { name: stringify!($field), range: $range };
                        reader.field = &NAMED_FIELD;
                        Saved::read(reader)?
                    },)+
                    $($($saved_elsewhere: Default::default(),)+)?
                })
            }
        }
    };
}

fields!(State {
    position: DVec3 = MAGNITUDE_RANGE,
    rotation: Quat = MAGNITUDE_RANGE,
    velocity: Vec3 = MAGNITUDE_RANGE,
    angular_velocity: Vec3 = MAGNITUDE_RANGE,
    previous_velocity: Vec3 = MAGNITUDE_RANGE,
    steer: f32 = STEER_RANGE,
    drive: DriveState = MAGNITUDE_RANGE,
    wheels: Box<[WheelState]> = MAGNITUDE_RANGE,
    tow: Option<Tow> = MAGNITUDE_RANGE,
});

fields!(BodyMotion {
    position: DVec3 = MAGNITUDE_RANGE,
    rotation: Quat = MAGNITUDE_RANGE,
    velocity: Vec3 = MAGNITUDE_RANGE,
    angular_velocity: Vec3 = MAGNITUDE_RANGE
});

fields!(Tow { towing_slot: u32 = MAGNITUDE_RANGE, force: Vec3 = MAGNITUDE_RANGE, overrun: f32 = SHARE_RANGE });

fields!(DriveState {
    engine_speed: f32 = MAGNITUDE_RANGE,
    gear: i8 = MAGNITUDE_RANGE,
    next_gear: i8 = MAGNITUDE_RANGE,
    ratio: f32 = NON_NEGATIVE_RANGE,
    shift_left: f32 = NON_NEGATIVE_RANGE,
    since_shift: f32 = NON_NEGATIVE_RANGE,
    clutch: f32 = MAGNITUDE_RANGE,
    couplings: [f32; MAX_COUPLINGS] = MAGNITUDE_RANGE,
    motors: [f32; MAX_MOTORS] = MAGNITUDE_RANGE,
});

fields!(WheelState {
    spin: f32 = MAGNITUDE_RANGE,
    deflection: [f32; 2] = MAGNITUDE_RANGE,
    compression: f32 = MAGNITUDE_RANGE,
    travel_rate: f32 = MAGNITUDE_RANGE,
    load: f32 = NON_NEGATIVE_RANGE,
    tyre: [f32; 2] = MAGNITUDE_RANGE,
    torque: f32 = MAGNITUDE_RANGE,
    rolling_speed: f32 = MAGNITUDE_RANGE,
    rolling: f32 = SHARE_RANGE,
    steer: f32 = STEER_RANGE,
    lean: f32 = SINE_RANGE,
    overturning: f32 = MAGNITUDE_RANGE,
    aligning: f32 = MAGNITUDE_RANGE,
    disc: f32 = NON_NEGATIVE_RANGE,
    contact: bool = MAGNITUDE_RANGE,
} saved_elsewhere shift, grip_excess, steer_deflection);

/// Implements [`Saved`] for whole numbers; every value is accepted.
macro_rules! whole_numbers {
    ($($type:ident)+) => { $(
        impl Saved for $type {
            const SIZE_BYTES: usize = size_of::<$type>();
            #[inline(always)]
            fn write(&self, writer: &mut Writer<'_>) {
                writer.write_bytes(self.to_le_bytes());
            }
            fn read(reader: &mut Reader<'_>) -> Result<Self, LoadError> {
                reader.read_bytes().map(Self::from_le_bytes)
            }
        }
    )+ };
}

whole_numbers!(u8 i8 u16 u32 u64);

/// Implements [`Saved`] for floating-point numbers; a value outside the range of the present field, or not finite,
/// fails.
macro_rules! finite_numbers {
    ($($type:ident)+) => { $(
        impl Saved for $type {
            const SIZE_BYTES: usize = size_of::<$type>();
            #[inline(always)]
            fn write(&self, writer: &mut Writer<'_>) {
                writer.write_bytes(self.to_le_bytes());
            }
            /// Reads a number. Fails if it is not finite or outside the range of the present field.
            fn read(reader: &mut Reader<'_>) -> Result<Self, LoadError> {
                let found = Self::from_le_bytes(reader.read_bytes()?);
                let Range { min, max, accepts } = &reader.field.range;
                // A number that is not finite is outside every range.
                if (*min..=*max).contains(&f64::from(found)) {
                    return Ok(found);
                }
                Err(reader.value_error(found.into(), if found.is_finite() { accepts } else { "a finite number" }))
            }
        }
    )+ };
}

finite_numbers!(f32 f64);

impl Saved for bool {
    const SIZE_BYTES: usize = 1;

    fn write(&self, writer: &mut Writer<'_>) {
        writer.write_bytes([u8::from(*self)]);
    }

    /// Reads 0 or 1. Fails for any other byte.
    fn read(reader: &mut Reader<'_>) -> Result<Self, LoadError> {
        match u8::read(reader)? {
            0 => Ok(false),
            1 => Ok(true),
            found => Err(reader.value_error(found.into(), "0 or 1")),
        }
    }
}

impl<T: Saved + Copy + Default, const N: usize> Saved for [T; N] {
    const SIZE_BYTES: usize = N * T::SIZE_BYTES;

    fn write(&self, writer: &mut Writer<'_>) {
        self.iter().for_each(|item| item.write(writer));
    }

    /// Reads `N` items in order. Fails with the first item that fails.
    fn read(reader: &mut Reader<'_>) -> Result<Self, LoadError> {
        let mut items = [T::default(); N];
        for item in &mut items {
            *item = T::read(reader)?;
        }
        Ok(items)
    }
}

impl Saved for Vec3 {
    const SIZE_BYTES: usize = <[f32; 3]>::SIZE_BYTES;

    fn write(&self, writer: &mut Writer<'_>) {
        self.to_array().write(writer);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, LoadError> {
        <[f32; 3]>::read(reader).map(Self::from_array)
    }
}

impl Saved for DVec3 {
    const SIZE_BYTES: usize = <[f64; 3]>::SIZE_BYTES;

    fn write(&self, writer: &mut Writer<'_>) {
        self.to_array().write(writer);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, LoadError> {
        <[f64; 3]>::read(reader).map(Self::from_array)
    }
}

impl Saved for Quat {
    const SIZE_BYTES: usize = <[f32; 4]>::SIZE_BYTES;

    fn write(&self, writer: &mut Writer<'_>) {
        self.to_array().write(writer);
    }

    /// Reads a quaternion. Fails if its length differs from 1 by 0.001 or more.
    fn read(reader: &mut Reader<'_>) -> Result<Self, LoadError> {
        let found = <[f32; 4]>::read(reader).map(Self::from_array)?;
        let length = found.length();
        // A step keeps the length within a few roundings of 1. Other lengths do not come from an orientation.
        if (length - 1.0).abs() < 1e-3 {
            Ok(found)
        } else {
            Err(reader.value_error(length.into(), "a vector of length 1 within 0.001"))
        }
    }
}

/// Hitch of a towed car; no bytes for a car that is not towed.
impl Saved for Option<Tow> {
    const SIZE_BYTES: usize = 0;

    fn write(&self, writer: &mut Writer<'_>) {
        if let Some(tow) = self {
            tow.write(writer);
        }
    }

    /// Reads the hitch if the car is towed, else nothing. Whether it is towed is in `Reader::towed`; otherwise it is
    /// towed if exactly the bytes of a hitch are left, which are then also added to the expected number of bytes.
    /// Errors no longer name a wheel.
    fn read(reader: &mut Reader<'_>) -> Result<Self, LoadError> {
        reader.wheel = None;
        let towed = reader.towed.unwrap_or_else(|| {
            let has_tow_bytes = reader.remaining.len() == Tow::SIZE_BYTES;
            reader.expected_bytes += tow_bytes(has_tow_bytes);
            has_tow_bytes
        });
        towed.then(|| Tow::read(reader)).transpose()
    }
}

/// Number of wheels with two flags in its upper bits, then each wheel, with its optional fields if flagged. A byte of 0
/// before the number of wheels is a third flag.
impl Saved for Box<[WheelState]> {
    const SIZE_BYTES: usize = u8::SIZE_BYTES;

    /// Writes [`LINKAGE_DEFLECTED`] if the steering linkage is deflected. Then writes one byte with the number of
    /// wheels, plus [`SHIFTED_FLAG`] if any wheel has shifted and [`OFF_GRIP_FLAG`] if any ground has another friction
    /// factor than 1. Each wheel follows, then its shift, its grip excess and its deflection, if flagged.
    fn write(&self, writer: &mut Writer<'_>) {
        let OptionalFields { shifted, off_grip, deflected } = OptionalFields::of(self);
        if deflected {
            LINKAGE_DEFLECTED.write(writer);
        }
        (self.len() as u8 | if shifted { SHIFTED_FLAG } else { 0 } | if off_grip { OFF_GRIP_FLAG } else { 0 })
            .write(writer);
        for wheel in self {
            writer.write_fixed::<{ WheelState::SIZE_BYTES }>(|part| wheel.write(part));
            if shifted {
                wheel.shift.write(writer);
            }
            if off_grip {
                wheel.grip_excess.write(writer);
            }
            if deflected {
                wheel.steer_deflection.write(writer);
            }
        }
    }

    /// Reads a byte with the number of wheels and two flags, which the byte [`LINKAGE_DEFLECTED`] precedes if a linkage
    /// is deflected. Then reads the wheels, each followed by shift, grip excess and deflection of the linkage, as far
    /// as they are saved; otherwise they are 0. Fails if the number is not `Reader::wheel_count`. Adds the optional
    /// fields to the expected number of bytes, and sets the current wheel and field for errors.
    fn read(reader: &mut Reader<'_>) -> Result<Self, LoadError> {
        let first = u8::read(reader)?;
        let deflected = [first] == LINKAGE_DEFLECTED;
        let count_and_flags = if deflected { u8::read(reader)? } else { first };
        let (found, expected) = (usize::from(count_and_flags & !(SHIFTED_FLAG | OFF_GRIP_FLAG)), reader.wheel_count);
        if found != expected {
            return Err(LoadError::Wheels { car: reader.car, found, expected });
        }
        let [shifted, off_grip] = [SHIFTED_FLAG, OFF_GRIP_FLAG].map(|flag| count_and_flags & flag != 0);
        reader.expected_bytes += OptionalFields { shifted, off_grip, deflected }.bytes(found);
        let mut read_wheel = |i| {
            reader.wheel = Some(i);
            let mut wheel = WheelState::read(reader)?;
            if shifted {
                reader.field = &SHIFT_FIELD;
                wheel.shift = f32::read(reader)?;
            }
            if off_grip {
                reader.field = &GRIP_EXCESS_FIELD;
                wheel.grip_excess = f32::read(reader)?;
            }
            if deflected {
                reader.field = &STEER_DEFLECTION_FIELD;
                wheel.steer_deflection = f32::read(reader)?;
            }
            Ok(wheel)
        };
        (0..found).map(&mut read_wheel).collect()
    }
}
