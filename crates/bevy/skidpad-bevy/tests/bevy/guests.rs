//! Cars that are spawned and despawned many times, for the tests of every world.

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use bevy_transform::prelude::*;
use skidpad_bevy::Car;

/// Environment variable with the number of guests.
const GUEST_COUNT_VARIABLE: &str = "SOAK_VISITORS";

/// Number of guests without the environment variable.
const DEFAULT_GUEST_COUNT: usize = 60;

/// Number of times at which entities are counted and memory is printed.
const CHECKPOINT_COUNT: usize = 6;

/// Spawns and despawns guests of one `model`, one after the other, with a `tick` of the app after each change. Requires
/// that every guest gets slot 1, which `slot_of` returns, and that the number of entities stays the same. Prints the
/// memory of the process. Counts entities at [`CHECKPOINT_COUNT`] checkpoints, so the number of guests is rounded up to
/// a multiple of it.
pub fn check_that_guests_leave_nothing(
    app: &mut App,
    model: &Car,
    tick: impl Fn(&mut App),
    slot_of: impl Fn(&App, Entity) -> Option<usize>,
) {
    let guest_count = std::env::var(GUEST_COUNT_VARIABLE).ok().and_then(|guest_count| guest_count.parse().ok());
    let guests_per_checkpoint = guest_count.unwrap_or(DEFAULT_GUEST_COUNT).div_ceil(CHECKPOINT_COUNT);
    let mut counts = Vec::new();
    for checkpoint in 1..=CHECKPOINT_COUNT {
        for guest in 0..guests_per_checkpoint {
            let transform = Transform::from_xyz(20.0 + (guest % 5) as f32, 0.0, 0.0);
            let guest = app.world_mut().spawn((model.clone(), transform)).id();
            tick(app);
            assert_eq!(slot_of(app, guest), Some(1));
            app.world_mut().entity_mut(guest).despawn();
            tick(app);
        }
        let memory = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
        counts.push(app.world_mut().query::<Entity>().iter(app.world()).count());
        println!(
            "{} guests: {:?} entities, pages {}",
            checkpoint * guests_per_checkpoint,
            counts.last(),
            memory.trim()
        );
    }
    // The chassis of the last guest stays until its slot is reused.
    assert!(counts[1..].iter().all(|count| *count == counts[0]), "{counts:?}");
}
