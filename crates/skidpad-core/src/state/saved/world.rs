//! Serialisation of a world: its steps, slots, cars and free bodies.

use crate::ground::free_body::BodyMotion;
use crate::state::State;
use crate::state::load_errors::LoadError;
use crate::state::saved::{
    Field, MAGIC_BYTES, MAGNITUDE_RANGE, Reader, Saved, WORLD_MAGIC, WORLD_VERSION, Writer, car_bytes, optional_bytes,
    tow_bytes,
};
use bevy_math::Vec3;

/// Maximum distance between the engine position and the position of a car, as a share of its largest coordinate (at
/// least 1 m).
const POSITION_TOLERANCE: f64 = 2.0 * f32::EPSILON as f64;

/// Field of the flags of a slot, for errors.
const FLAGS_FIELD: Field = Field { name: "suspended, towed, placed or empty", range: MAGNITUDE_RANGE };

/// Field of the engine position of a car, for errors.
const ENGINE_POSITION_FIELD: Field = Field { name: "place", range: MAGNITUDE_RANGE };

/// Size of the header behind magic and version, bytes: length of a step, number of steps, number of slots.
const WORLD_HEADER_BYTES: usize = f32::SIZE_BYTES + u64::SIZE_BYTES + u32::SIZE_BYTES;

/// Returns the size of the engine position of a car, bytes; 0 for a car without one (`has_engine_position` is false).
fn engine_position_bytes(has_engine_position: bool) -> usize {
    if has_engine_position { Vec3::SIZE_BYTES } else { 0 }
}

/// Size of the generation and the flags of a slot, bytes.
const SLOT_BYTES: usize = u32::SIZE_BYTES + u8::SIZE_BYTES;

/// Returns the size of a saved world without free bodies, bytes, if every one of its `slots` holds a car that is not
/// towed and has no engine position; `usize::MAX` for numbers of wheels that no cars have.
fn world_bytes(slots: impl Iterator<Item = SlotKind>) -> usize {
    let slot_sizes = slots.map(|slot| car_bytes(slot.wheels).saturating_add(SLOT_BYTES));
    slot_sizes.fold(MAGIC_BYTES + WORLD_HEADER_BYTES, usize::saturating_add)
}

/// Flag of a slot with a suspended car.
const SUSPENDED_FLAG: u8 = 1;
/// Flag of a slot with a towed car. The bytes of its hitch follow those of its state.
const TOWED_FLAG: u8 = 2;
/// Flag of a slot with a car that has an engine position, which follows its state.
const ENGINE_POSITION_FLAG: u8 = 4;
/// Flags of an empty slot. No other flag is set.
const EMPTY_FLAG: u8 = 8;

/// Slot of the world that loads: what its car accepts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotKind {
    /// Number of wheels of the car, or of the car that was removed last.
    pub wheels: usize,
    /// Number of cars that were removed from the slot.
    pub generation: u32,
    /// Whether the slot is empty.
    pub is_empty: bool,
}

impl SlotKind {
    /// Returns true if the car that was saved with `generation` (number of cars removed from its slot before it) can be
    /// the car of this slot, or the car that was removed last from an empty slot.
    ///
    /// Generation 0 of this slot accepts any saved generation: a world that was rebuilt has no record of removals.
    fn may_hold(self, generation: u32) -> bool {
        let last_generation = if self.is_empty { self.generation.wrapping_sub(1) } else { self.generation };
        last_generation == generation || self.generation == 0
    }
}

/// Slot of a saved world, with the state of its car as `S`.
pub(crate) struct SlotRecord<S> {
    /// Number of cars that were removed from the slot.
    pub generation: u32,
    /// Car in the slot; `None` if the slot is empty.
    pub car: Option<CarRecord<S>>,
}

/// Car of a saved world, with its state as `S`.
pub(crate) struct CarRecord<S> {
    /// Whether the car is suspended.
    pub is_suspended: bool,
    /// State of the car.
    pub state: S,
    /// Position of the car's body in the physics engine, m; `None` if it is the position of the state, rounded to f32.
    pub engine_position: Option<Vec3>,
}

/// Content of a saved world.
pub(crate) struct SavedWorld {
    /// Number of steps since the start.
    pub steps: u64,
    /// Slots, in order.
    pub slots: Vec<SlotRecord<State>>,
    /// Motion of the free bodies, in order.
    pub bodies: Vec<BodyMotion>,
}

/// Writes a world after `steps` steps of `dt` s into `bytes`: header, slots in order, then free bodies. A slot has its
/// generation and flags; a slot with a car also has the state of the car and its position in the engine, if any. The
/// previous content of `bytes` is overwritten, and its length becomes that of the world.
pub(crate) fn write_world<'a>(
    dt: f32,
    steps: u64,
    slots: impl Iterator<Item = SlotRecord<&'a State>> + Clone,
    bodies: impl Iterator<Item = BodyMotion> + Clone,
    bytes: &mut Vec<u8>,
) {
    // Counted while the sizes are summed below.
    let mut slot_count = 0u32;
    let slot_sizes = slots.clone().map(|slot| {
        slot_count += 1;
        let car_size = slot.car.map_or(0, |CarRecord { state, engine_position: position, .. }| {
            car_bytes(state.wheels.len()) + optional_bytes(state) + engine_position_bytes(position.is_some())
        });
        SLOT_BYTES + car_size
    });
    let body_bytes = bodies.clone().count() * BodyMotion::SIZE_BYTES;
    bytes.resize(MAGIC_BYTES + WORLD_HEADER_BYTES + slot_sizes.sum::<usize>() + body_bytes, 0);
    let mut writer = Writer { remaining: bytes };
    WORLD_MAGIC.write(&mut writer);
    WORLD_VERSION.write(&mut writer);
    dt.write(&mut writer);
    steps.write(&mut writer);
    slot_count.write(&mut writer);
    for SlotRecord { generation, car } in slots {
        generation.write(&mut writer);
        let Some(CarRecord { is_suspended, state, engine_position: position }) = car else {
            EMPTY_FLAG.write(&mut writer);
            continue;
        };
        let flag_states = [
            (is_suspended, SUSPENDED_FLAG),
            (state.tow.is_some(), TOWED_FLAG),
            (position.is_some(), ENGINE_POSITION_FLAG),
        ];
        // Sum of the flags that are set.
        flag_states.map(|(is_set, flag)| u8::from(is_set) * flag).iter().sum::<u8>().write(&mut writer);
        state.write(&mut writer);
        if let Some(position) = position {
            position.write(&mut writer);
        }
    }
    bodies.for_each(|body| body.write(&mut writer));
}

/// Reads a saved world for a world with the slots `accepted`, with `body_count` free bodies and with steps of `dt` s. A
/// slot may be empty in one of both worlds and hold a car in the other.
///
/// # Errors
///
/// Returns the first difference between the bytes and the world that loads, in the order of the bytes: format, version,
/// step length (bit for bit), number of slots, generation or wheels of a car, number out of range, or number of bytes.
pub(crate) fn read_world(
    dt: f32,
    accepted: impl ExactSizeIterator<Item = SlotKind> + Clone,
    body_count: usize,
    bytes: &[u8],
) -> Result<SavedWorld, LoadError> {
    let body_bytes = body_count * BodyMotion::SIZE_BYTES;
    let mut reader = Reader::new(bytes, world_bytes(accepted.clone()).saturating_add(body_bytes));
    reader.read_header("world", WORLD_MAGIC, WORLD_VERSION)?;
    let (found, expected) = (f32::read(&mut reader)?, dt);
    if found.to_bits() != expected.to_bits() {
        return Err(LoadError::Step { found, expected });
    }
    let steps = u64::read(&mut reader)?;
    let (found, expected) = (u32::read(&mut reader)? as usize, accepted.len());
    if found != expected {
        return Err(LoadError::Cars { found, expected });
    }
    let slots = accepted.enumerate().map(|(slot, kind)| reader.read_slot(slot, kind));
    let slots = slots.collect::<Result<Vec<SlotRecord<State>>, LoadError>>()?;
    let mut read_body = |body| {
        reader.body = Some(body);
        BodyMotion::read(&mut reader)
    };
    let bodies = (0..body_count).map(&mut read_body).collect::<Result<Vec<BodyMotion>, LoadError>>()?;
    reader.check_end()?;
    Ok(SavedWorld { steps, slots, bodies })
}

/// Returns the bytes of a world without free bodies after `steps` steps of `dt` s. Its slots hold the `cars`, each with
/// its state and `true` if it is suspended; no car was ever removed. A world of the same cars loads these bytes by
/// [`Simulation::load`](crate::Simulation::load).
pub fn save_cars(dt: f32, steps: u64, cars: &[(State, bool)]) -> Vec<u8> {
    let slots = cars.iter().map(|(state, is_suspended)| SlotRecord {
        generation: 0,
        car: Some(CarRecord { is_suspended: *is_suspended, state, engine_position: None }),
    });
    let mut bytes = Vec::new();
    write_world(dt, steps, slots, core::iter::empty(), &mut bytes);
    bytes
}

/// Reads the bytes that [`save_cars`] has written, or those of a saved world without free bodies and empty slots, for
/// `car_count` cars with `wheels` wheels each and steps of `dt` s. Returns the number of steps since the start and the
/// cars in slot order, each with its state and `true` if it is suspended. Generations and engine positions are dropped.
///
/// # Errors
/// The first difference between the bytes and such cars; an empty slot is an error, too.
pub fn load_cars(
    dt: f32,
    car_count: usize,
    wheels: usize,
    bytes: &[u8],
) -> Result<(u64, Vec<(State, bool)>), LoadError> {
    let kinds = (0..car_count).map(|_| SlotKind { wheels, generation: 0, is_empty: false }); // generation 0 accepts all
    let SavedWorld { steps, slots, .. } = read_world(dt, kinds, 0, bytes)?;
    let cars: Vec<(State, bool)> =
        slots.into_iter().filter_map(|slot| slot.car).map(|car| (car.state, car.is_suspended)).collect();
    if cars.len() != car_count {
        return Err(LoadError::Cars { found: cars.len(), expected: car_count });
    }
    Ok((steps, cars))
}

impl Reader<'_> {
    /// Reads slot number `slot` for a slot of `kind`: generation, flags and, unless the saved slot is empty, the car. A
    /// saved slot that is empty is accepted for any kind and reduces the expected number of bytes. Fails for unknown
    /// flags, and for a car whose generation this slot cannot have. Sets the car, and whether it is towed, for the
    /// reads and errors that follow. A tow and an engine position increase the expected number of bytes.
    fn read_slot(&mut self, slot: usize, kind: SlotKind) -> Result<SlotRecord<State>, LoadError> {
        (self.car, self.wheel, self.field) = (slot, None, &FLAGS_FIELD);
        let generation = u32::read(self)?;
        let flags = u8::read(self)?;
        if flags > EMPTY_FLAG {
            return Err(self.value_error(flags.into(), "0 to 8"));
        }
        if flags == EMPTY_FLAG {
            self.expected_bytes = self.expected_bytes.saturating_sub(car_bytes(kind.wheels));
            return Ok(SlotRecord { generation, car: None });
        }
        if !kind.may_hold(generation) {
            return Err(LoadError::Generation { slot, found: generation, expected: kind.generation });
        }
        let (is_suspended, has_engine_position) = (flags & SUSPENDED_FLAG != 0, flags & ENGINE_POSITION_FLAG != 0);
        let towed = flags & TOWED_FLAG != 0;
        self.towed = Some(towed);
        let added_bytes = tow_bytes(towed) + engine_position_bytes(has_engine_position);
        self.expected_bytes = self.expected_bytes.saturating_add(added_bytes);
        let state = self.read_car(slot, kind.wheels)?;
        let position = has_engine_position.then(|| self.read_engine_position(&state)).transpose()?;
        Ok(SlotRecord { generation, car: Some(CarRecord { is_suspended, state, engine_position: position }) })
    }

    /// Reads the engine position of the car with `state`: the position of its body in the physics engine, m. Fails if a
    /// coordinate differs from that of `state` by more than two units in the last place (f32) of the largest
    /// coordinate, or of 1 m if that is larger.
    fn read_engine_position(&mut self, state: &State) -> Result<Vec3, LoadError> {
        (self.wheel, self.field) = (None, &ENGINE_POSITION_FIELD);
        let position = Vec3::read(self)?;
        let difference = (position.as_dvec3() - state.position).abs().max_element();
        let max_coordinate = state.position.abs().max_element().max(1.0);
        if difference > POSITION_TOLERANCE * max_coordinate {
            return Err(self.value_error(difference, "within two units in the last place of the car's position"));
        }
        Ok(position)
    }
}
