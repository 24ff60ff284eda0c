//! Bit-identical continuation of worlds that were rewound by clone.

use skidpad::rapier::WorldSnapshot;
use skidpad::rapier::rapier3d::prelude::*;

use super::seesaw::example::Playground;

fn motions(all: &Playground) -> Vec<(Pose, Vector, Vector, bool)> {
    all.world.bodies.iter().map(|(_, b)| (*b.position(), b.linvel(), b.angvel(), b.is_sleeping())).collect()
}

/// Twenty cars, crates and a seesaw rewind after the first step, driving, in the wall of crates and on the plank.
#[test]
fn a_rewound_world_goes_on_bit_for_bit() {
    let mut all = Playground::new().expect("shipped");
    let mut moment = WorldSnapshot::new(&all.world, &all.cars);
    for steps in [1, 120, 240, 40] {
        (0..steps).for_each(|_| all.step());
        moment.overwrite(&all.world, &all.cars);
        let time = all.time;
        (0..30).for_each(|_| all.step());
        let (then, states) = (motions(&all), all.cars.clone());
        moment.restore(&mut all.world, &mut all.cars);
        all.time = time;
        (0..30).for_each(|_| all.step());
        assert_eq!(motions(&all), then, "after {time} s");
        for (vehicle, twin) in all.cars.vehicles().iter().zip(states.vehicles()) {
            assert_eq!(vehicle.state(), twin.state(), "after {time} s");
        }
    }
}
