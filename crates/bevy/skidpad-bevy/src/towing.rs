//! Trailers: cars that are towed.

use crate::car::{Car, Teleport};
use crate::motion::CarMotion;
use bevy_ecs::prelude::*;
use bevy_transform::prelude::*;
use skidpad_core::Model;

/// This car is a trailer behind that one, whose hitch its coupler is on. Trailers may tow trailers.
///
/// Put on, it sets the trailer in line behind the vehicle ahead, as fast as that, and with it what it tows; so does a jump of the
/// vehicle ahead (but [`crate::Teleport::Back`]: rewind both). Taken off, the trailer goes on by itself. A hitch that breaks takes it
/// off, and [`skidpad_drive::Event::Unhitched`] tells. A vehicle without a hitch and a car without a coupler stay as they are. Of a
/// trailer with a [`Dolly`] it is the dolly that is hitched up.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub struct TowedBy(pub Entity);

/// This car is the dolly of that full trailer: a drawbar with a steered axle, on whose turntable the trailer rests. It goes when the
/// trailer does. [`crate::CarFile`] brings it along.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
#[relationship(relationship_target = Dolly)]
pub struct DollyOf(pub Entity);

/// The dolly of this full trailer. The trailer is [`TowedBy`] it at all times. What is said of the trailer holds for the dolly from the next
/// tick on: a [`TowedBy`] another vehicle, or none, and a [`Teleport`] (but [`Teleport::Back`]).
#[derive(Component, Clone, Debug, PartialEq, Eq)]
#[relationship_target(relationship = DollyOf, linked_spawn)]
pub struct Dolly(Entity);

impl Dolly {
    /// Which car it is.
    pub fn entity(&self) -> Entity {
        self.0
    }
}

/// Where the `dolly` is of a trailer that stands at `place`.
pub(crate) fn under_front(trailer: &Model, dolly: &Model, place: &Transform) -> Transform {
    let coupler = trailer.parts().coupler.map_or(0.0, |coupler| coupler.point.x);
    let turntable = dolly.parts().hitch.map_or(0.0, |hitch| hitch.point.x);
    Transform { translation: place.translation + place.forward() * (coupler - turntable), ..*place }
}

/// Full trailers rest on their dollies, which do what is said of the trailers.
pub(crate) fn hitch_dollies(
    mut commands: Commands,
    trailers: Query<(Entity, &Car, &Dolly, Option<&TowedBy>, Option<&Teleport>)>,
    dollies: Query<&Car, With<DollyOf>>,
) {
    for (trailer, car, dolly, towed, teleport) in &trailers {
        let dolly = dolly.entity();
        match towed {
            Some(towed) if towed.0 == dolly => {}
            towed => {
                match towed {
                    Some(towed) => commands.entity(dolly).try_insert(*towed),
                    None => commands.entity(dolly).try_remove::<TowedBy>(),
                };
                commands.entity(trailer).try_insert(TowedBy(dolly));
            }
        }
        let jump = match (teleport, dollies.get(dolly)) {
            (Some(Teleport::To(place)), Ok(of)) => Teleport::To(under_front(&car.0, &of.0, place)),
            (Some(Teleport::Upright), _) => Teleport::Upright,
            _ => continue,
        };
        commands.entity(dolly).try_insert(jump);
        commands.entity(trailer).try_remove::<Teleport>();
    }
}

/// What a hitch that broke held is a trailer no more.
pub(crate) fn unhitch(mut commands: Commands, trailers: Query<(Entity, &CarMotion), With<TowedBy>>) {
    for (trailer, motion) in &trailers {
        if motion.has_come_off() {
            commands.entity(trailer).try_remove::<TowedBy>();
        }
    }
}
