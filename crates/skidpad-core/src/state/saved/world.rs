//! Motion of a world with all its cars and free bodies as bytes.

use crate::state::State;
use crate::state::refused::LoadError;
use crate::state::saved::{
    Field, MAGIC_BYTES, Reader, SIZED, Saved, WORLD_MAGIC, WORLD_VERSION, Writer, car_bytes, more_bytes, tow_bytes,
};
use crate::world::free_body::BodyMotion;
use bevy_math::Vec3;

/// How far a car's place may be from its position, as a share of the latter.
const PLACED_WITHIN: f64 = 2.0 * f32::EPSILON as f64;

const FLAGS: Field = Field { name: "suspended, towed, placed or empty", range: SIZED };

const PLACE: Field = Field { name: "place", range: SIZED };

/// Length of the step, steps, slots.
const WORLD_BYTES: usize = f32::SIZE + u64::SIZE + u32::SIZE;

/// Bytes more of a car of a world that has a place of its own.
fn place_bytes(placed: bool) -> usize {
    if placed { Vec3::SIZE } else { 0 }
}

/// Bytes of a slot without its car: generation and flags.
const SLOT_BYTES: usize = u32::SIZE + u8::SIZE;

/// Length of a saved world of cars with so many wheels each, none of them towed or with a place of its own.
fn world_bytes(slots: impl Iterator<Item = SlotKind>) -> usize {
    MAGIC_BYTES + WORLD_BYTES + slots.map(|slot| SLOT_BYTES + car_bytes(slot.wheels)).sum::<usize>()
}

/// Flags of a slot: what its car is and has, or that it is empty.
const SUSPENDED: u8 = 1;
const TOWED: u8 = 2;
const PLACED: u8 = 4;
const EMPTY: u8 = 8;

/// A slot of a world that bytes are loaded into.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotKind {
    /// Of the car that is or was there last.
    pub wheels: usize,
    pub generation: u32,
    pub is_empty: bool,
}

impl SlotKind {
    /// Whether the car that is or was there last may be the one that was saved under `generation`: a world that was built anew does not
    /// know how often cars were removed.
    fn may_hold(self, generation: u32) -> bool {
        let own = if self.is_empty { self.generation.wrapping_sub(1) } else { self.generation };
        own == generation || self.generation == 0
    }
}

/// A slot of a saved world.
pub(crate) struct SlotOf<S> {
    pub generation: u32,
    /// `None` if the slot is empty.
    pub car: Option<CarOf<S>>,
}

/// A car of a world.
pub(crate) struct CarOf<S> {
    pub is_suspended: bool,
    pub state: S,
    /// Where the solver's engine has it, m, if that is not the nearest to its position.
    pub place: Option<Vec3>,
}

/// What is read of a world.
pub(crate) struct SavedWorld {
    pub steps: u64,
    pub slots: Vec<SlotOf<State>>,
    pub bodies: Vec<BodyMotion>,
}

/// Writes a world of `slots` and free `bodies` that has taken so many `steps` of `dt` s, in place of what `bytes` held.
pub(crate) fn write_world<'a>(
    dt: f32,
    steps: u64,
    slots: impl Iterator<Item = SlotOf<&'a State>> + Clone,
    bodies: impl Iterator<Item = BodyMotion> + Clone,
    bytes: &mut Vec<u8>,
) {
    let mut count = 0u32;
    let of_slots = slots.clone().map(|slot| {
        count += 1;
        let of_car = slot.car.map_or(0, |CarOf { state, place, .. }| {
            car_bytes(state.wheels.len()) + more_bytes(state) + place_bytes(place.is_some())
        });
        SLOT_BYTES + of_car
    });
    let of_bodies = bodies.clone().count() * BodyMotion::SIZE;
    bytes.resize(MAGIC_BYTES + WORLD_BYTES + of_slots.sum::<usize>() + of_bodies, 0);
    let mut to = Writer { left: bytes };
    WORLD_MAGIC.write(&mut to);
    WORLD_VERSION.write(&mut to);
    dt.write(&mut to);
    steps.write(&mut to);
    count.write(&mut to);
    for SlotOf { generation, car } in slots {
        generation.write(&mut to);
        let Some(CarOf { is_suspended, state, place }) = car else {
            EMPTY.write(&mut to);
            continue;
        };
        let known = [(is_suspended, SUSPENDED), (state.tow.is_some(), TOWED), (place.is_some(), PLACED)];
        known.map(|(is, flag)| u8::from(is) * flag).iter().sum::<u8>().write(&mut to);
        state.write(&mut to);
        if let Some(place) = place {
            place.write(&mut to);
        }
    }
    bodies.for_each(|body| body.write(&mut to));
}

/// Steps, slots and free bodies of a saved world for one of `accepted` slots, and as many `bodies`, that steps by `dt` s.
pub(crate) fn read_world(
    dt: f32,
    accepted: impl ExactSizeIterator<Item = SlotKind> + Clone,
    bodies: usize,
    bytes: &[u8],
) -> Result<SavedWorld, LoadError> {
    let mut from = Reader::new(bytes, world_bytes(accepted.clone()) + bodies * BodyMotion::SIZE);
    from.begin("world", WORLD_MAGIC, WORLD_VERSION)?;
    let (found, accepts) = (f32::read(&mut from)?, dt);
    if found.to_bits() != accepts.to_bits() {
        return Err(LoadError::Step { found, accepts });
    }
    let steps = u64::read(&mut from)?;
    let (found, accepts) = (u32::read(&mut from)? as usize, accepted.len());
    if found != accepts {
        return Err(LoadError::Cars { found, accepts });
    }
    let slots = accepted.enumerate().map(|(slot, kind)| from.slot(slot, kind));
    let slots = slots.collect::<Result<Vec<SlotOf<State>>, LoadError>>()?;
    let mut body = |body| {
        from.body = Some(body);
        BodyMotion::read(&mut from)
    };
    let bodies = (0..bodies).map(&mut body).collect::<Result<Vec<BodyMotion>, LoadError>>()?;
    from.end()?;
    Ok(SavedWorld { steps, slots, bodies })
}

impl Reader<'_> {
    /// Slot number `slot` of a world, for one of `kind`.
    fn slot(&mut self, slot: usize, kind: SlotKind) -> Result<SlotOf<State>, LoadError> {
        (self.car, self.wheel, self.field) = (slot, None, &FLAGS);
        let generation = u32::read(self)?;
        let flags = u8::read(self)?;
        if flags > EMPTY {
            return Err(self.value(flags.into(), "0 to 8"));
        }
        if flags == EMPTY {
            self.accepts -= car_bytes(kind.wheels);
            return Ok(SlotOf { generation, car: None });
        }
        if !kind.may_hold(generation) {
            return Err(LoadError::Generation { slot, found: generation, accepts: kind.generation });
        }
        let (is_suspended, is_placed) = (flags & SUSPENDED != 0, flags & PLACED != 0);
        let towed = flags & TOWED != 0;
        self.towed = Some(towed);
        self.accepts += tow_bytes(towed) + place_bytes(is_placed);
        let state = self.car(slot, kind.wheels)?;
        let place = is_placed.then(|| self.place(&state)).transpose()?;
        Ok(SlotOf { generation, car: Some(CarOf { is_suspended, state, place }) })
    }

    /// Of the car whose `state` was read: the same place, but for the rounding.
    fn place(&mut self, state: &State) -> Result<Vec3, LoadError> {
        (self.wheel, self.field) = (None, &PLACE);
        let place = Vec3::read(self)?;
        let apart = (place.as_dvec3() - state.position).abs().max_element();
        let size = state.position.abs().max_element().max(1.0);
        if apart > PLACED_WITHIN * size {
            return Err(self.value(apart, "within two last digits of the car's position"));
        }
        Ok(place)
    }
}
