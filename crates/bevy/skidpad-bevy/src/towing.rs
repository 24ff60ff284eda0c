//! Components of trailers, which are towed cars.

use crate::car::{Car, Teleport};
use crate::motion::CarMotion;
use bevy_ecs::prelude::*;
use bevy_transform::prelude::*;
use skidpad_core::Model;

/// Vehicle that tows this car: the coupler of this car is attached to the hitch of that vehicle. Trailers may tow
/// trailers.
///
/// Inserting the component places the trailer, and all trailers behind it, in line behind the vehicle ahead with its
/// velocity. A teleport of either vehicle does this too, except [`crate::Teleport::ToState`]: rewind both. Removing the
/// component unhitches the trailer, which keeps its motion.
///
/// The plugin removes the component when the hitch breaks and sends [`skidpad_drive::Event::Unhitched`]. The component
/// has no effect if the vehicle ahead has no hitch or the trailer has no coupler. For a full trailer with a [`Dolly`]
/// the dolly is hitched to the vehicle.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub struct TowedBy(pub Entity);

/// Full trailer whose dolly this car is. A dolly is a drawbar with a steered axle; the trailer rests on its turntable.
/// The dolly is despawned with the trailer. [`crate::CarFile`] spawns it.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
#[relationship(relationship_target = Dolly)]
pub struct DollyOf(pub Entity);

/// Dolly of this full trailer, which is always [`TowedBy`] its dolly. In the next tick the plugin moves these changes
/// of the trailer to the dolly: another [`TowedBy`] or its removal, and a [`Teleport`] other than
/// [`Teleport::ToState`].
#[derive(Component, Clone, Debug, PartialEq, Eq)]
#[relationship_target(relationship = DollyOf, linked_spawn)]
pub struct Dolly(Entity);

impl Dolly {
    /// Returns the entity of the dolly.
    pub fn entity(&self) -> Entity {
        self.0
    }
}

/// Returns the transform of the `dolly` of a trailer at `trailer_transform`: shifted forwards so that its turntable is
/// below the coupler of the trailer, with the same orientation. A missing coupler or turntable counts as at x = 0.
pub(crate) fn dolly_transform(trailer: &Model, dolly: &Model, trailer_transform: &Transform) -> Transform {
    let coupler = trailer.parts().coupler.map_or(0.0, |coupler| coupler.point.x);
    let turntable = dolly.parts().hitch.map_or(0.0, |hitch| hitch.point.x);
    Transform {
        // x points forward in both models, so the coupler comes to lie above the turntable.
        translation: trailer_transform.translation + trailer_transform.forward() * (coupler - turntable),
        ..*trailer_transform
    }
}

/// Couples full trailers to their dollies (separate cars with drawbar and steered axle), in this way for every trailer
/// with a dolly. A [`TowedBy`] of the trailer that names another vehicle is moved to the dolly; if the trailer has no
/// [`TowedBy`], that of the dolly is removed. Then the trailer is towed by its dolly. A [`Teleport::To`] of the trailer
/// is moved to the dolly, below the coupler, and a [`Teleport::Upright`] as it is. A [`Teleport::ToState`] stays with
/// the trailer.
pub(crate) fn hitch_dollies(
    mut commands: Commands,
    trailers: Query<(Entity, &Car, &Dolly, Option<&TowedBy>, Option<&Teleport>)>,
    dollies: Query<&Car, With<DollyOf>>,
) {
    for (trailer, car, dolly, towed, teleport) in &trailers {
        let dolly = dolly.entity();
        match towed {
            // The trailer is already towed by its dolly.
            Some(towed) if towed.0 == dolly => {}
            towed => {
                match towed {
                    Some(towed) => commands.entity(dolly).try_insert(*towed),
                    None => commands.entity(dolly).try_remove::<TowedBy>(),
                };
                commands.entity(trailer).try_insert(TowedBy(dolly));
            }
        }
        let dolly_teleport = match (teleport, dollies.get(dolly)) {
            (Some(Teleport::To(transform)), Ok(dolly_car)) => {
                Teleport::To(dolly_transform(&car.0, &dolly_car.0, transform))
            }
            (Some(Teleport::Upright), _) => Teleport::Upright,
            // No teleport, one to a state, which stays with the trailer, or a dolly that is no car.
            _ => continue,
        };
        commands.entity(dolly).try_insert(dolly_teleport);
        commands.entity(trailer).try_remove::<Teleport>();
    }
}

/// Removes [`TowedBy`] from trailers whose hitch broke in the last step.
pub(crate) fn remove_unhitched_links(mut commands: Commands, trailers: Query<(Entity, &CarMotion), With<TowedBy>>) {
    for (trailer, motion) in &trailers {
        if motion.was_unhitched() {
            commands.entity(trailer).try_remove::<TowedBy>();
        }
    }
}
