//! Update of the transforms of bodies and wheels, once a frame.

use crate::car::{Car, NoInterpolation, Wheel};
use crate::fixed_loop::FixedLoop;
use crate::motion::CarMotion;
use crate::transforms::{BEVY_AXES, transform_of};
use bevy_ecs::prelude::*;
use bevy_math::Vec3;
use bevy_time::prelude::*;
use bevy_transform::prelude::*;

/// Spawns the wheel entities of a car as its children when the car enters its world (gets its [`CarMotion`]). A wheel
/// is not spawned if a child with its index exists already.
pub(crate) fn spawn_wheels(
    added: On<Add<CarMotion>>,
    mut commands: Commands,
    cars: Query<(&Car, Option<&Children>)>,
    wheels: Query<&Wheel>,
) {
    let Ok((car, children)) = cars.get(added.entity) else { return };
    // Indices of the wheels that exist already.
    let existing_indices: Vec<usize> =
        children.into_iter().flatten().filter_map(|child| wheels.get(*child).ok()).map(|wheel| wheel.index).collect();
    for index in (0..car.0.wheels().len()).filter(|index| !existing_indices.contains(index)) {
        commands.spawn((Wheel { index }, ChildOf(added.entity)));
    }
}

/// Sets the transforms of bodies and wheels to the poses between the last two ticks, at the overstep of `Time<Fixed>`
/// (share of a tick since the last one). Cars with [`NoInterpolation`], and all cars if ticks run outside of the fixed
/// loop, get the poses of the last tick.
///
/// The transform of a body is that of its ground point in world axes, which is only marked as changed if it differs.
/// The transform of a wheel is relative to the car and includes the rolling angle. Scales are kept.
pub(crate) fn interpolate(
    fixed: Res<Time<Fixed>>,
    fixed_loop: Res<FixedLoop>,
    mut cars: Query<(&Car, &CarMotion, &mut Transform, Has<NoInterpolation>), Without<Wheel>>,
    mut wheels: Query<(&Wheel, &ChildOf, &mut Transform)>,
) {
    // Outside of the fixed loop the last tick is drawn.
    let overstep = if fixed_loop.has_ticks { fixed.overstep_fraction() } else { 1.0 };
    // Share of the last step at which a car is drawn; 1 is its end.
    let step_fraction = |is_uninterpolated: bool| if is_uninterpolated { 1.0 } else { overstep };
    for (car, motion, mut transform, is_uninterpolated) in &mut cars {
        let interpolated = transform_of(&car.0, &motion.interpolator.body_pose(step_fraction(is_uninterpolated)));
        transform.set_if_neq(Transform { scale: transform.scale, ..interpolated });
    }
    for (wheel, child, mut transform) in &mut wheels {
        let Ok((car, motion, _, is_uninterpolated)) = cars.get(child.parent()) else { continue };
        let Some((centre, rotation)) =
            motion.interpolator.wheel_pose_on_body(wheel.index, step_fraction(is_uninterpolated))
        else {
            continue;
        };
        // Centre of the wheel from the ground point below the centre of mass, m; the interpolator has it from the
        // centre of mass.
        let centre_from_ground = centre + Vec3::Z * car.0.parts().centre_height;
        let (translation, rotation) = (BEVY_AXES.to_world(centre_from_ground), BEVY_AXES.rotation_to_world(rotation));
        // Relative to the car, which is the parent.
        *transform = Transform { translation, rotation, scale: transform.scale };
    }
}
