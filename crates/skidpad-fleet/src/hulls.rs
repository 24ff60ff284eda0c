//! Selection of the hulls that may touch the ground in a step. Contact points are searched for these only.

use skidpad_core::Vec3;
use skidpad_core::block::BlockLanes;
use skidpad_core::coupling::BodyConstants;
use skidpad_core::simd::vectors::{Mat3Lanes, Vec3Lanes};
use skidpad_world::ceiling::{HullMotion, TerrainBelow, TerrainCeiling};
use skidpad_world::motion::{BodyTwist, HullLanes};

use crate::environment::Environment;
use crate::uneven_ground::position;

/// Hulls of the cars of a block, and their motion in a step.
#[derive(Clone, Copy)]
pub struct Hulls<'a, W: BlockLanes> {
    /// Boxes of the hulls.
    pub lanes: &'a HullLanes<W>,
    /// Mass and inertia.
    pub body: &'a BodyConstants<W>,
    /// Axes of the bodies: from body axes to world axes.
    pub axes: &'a Mat3Lanes<W>,
    /// Velocities at the end of the step, and lags.
    pub twist: &'a BodyTwist<W>,
}

impl<W: BlockLanes> Hulls<'_, W> {
    /// Returns the bits of the cars whose hull may touch the ground in the step of `dt` s. Bits of inactive cars and of
    /// lanes that do not exist may be set. All 32 bits are set on terrain without a [`TerrainCeiling`]. `positions` are
    /// the centres of mass at the start of the step, world, m; shape (axis, car).
    #[inline(always)]
    pub fn near_ground(&self, positions: &[W::Array<f64>; 3], environment: &Environment, dt: f32) -> u32 {
        let ground = &environment.ground;
        let mut near = 0;
        if ground.has_terrain() {
            let Some(ceiling) = &environment.ceiling else { return u32::MAX };
            near |= self.near_terrain(positions, ceiling, dt);
        }
        if ground.plane_normal().is_some() {
            let (normal, height) = (environment.normal, heights::<W>(positions, environment.normal));
            // 0.0: gravity is part of the velocity.
            near |= W::mask_bits(self.lanes.can_reach_plane(height, normal, self.axes, self.twist, 0.0, dt));
        }
        if ground.has_boxes() { near | self.near_boxes(positions, environment, dt) } else { near }
    }

    /// Returns the bits of the cars whose hull may touch the terrain below `ceiling` in the step of `dt` s.
    #[inline(never)]
    fn near_terrain(&self, positions: &[W::Array<f64>; 3], ceiling: &TerrainCeiling, dt: f32) -> u32 {
        W::call_outlined(
            #[inline(always)]
            || {
                let pose_rate = self.twist.pose_rate(self.axes, self.body, dt);
                let motion = HullMotion::new(self.axes, self.twist, pose_rate, ceiling.hull_radius(), dt);
                let mut near = 0;
                for part in 0..ceiling.part_count() {
                    let centre = ceiling.part_centre(part, self.axes);
                    // Height, slopes, deviation and steepness below each car.
                    let mut numbers = [W::default().to_array(); 5];
                    for car in 0..W::LANE_COUNT {
                        let point = position(positions, car) + vector(&centre, car).as_dvec3();
                        let TerrainBelow { height, slopes: [x, y], deviation, steepness } = ceiling.below(point);
                        for (numbers, number) in numbers.iter_mut().zip([height, x, y, deviation, steepness]) {
                            numbers.as_mut()[car] = number;
                        }
                    }
                    let [height, x, y, deviation, steepness] = numbers.map(W::from_array);
                    let below = TerrainBelow { height, slopes: [x, y], deviation, steepness };
                    near |= W::mask_bits(ceiling.may_touch(part, &below, &motion));
                }
                near
            },
        )
    }

    /// Returns the bits of the cars whose hull may touch a box in the step of `dt` s, by the bounding sphere of the
    /// hull and its largest displacement.
    fn near_boxes(&self, positions: &[W::Array<f64>; 3], environment: &Environment, dt: f32) -> u32 {
        let hull_radius = environment.chassis.hull_radius();
        let mut near = 0;
        for car in 0..W::LANE_COUNT {
            let velocity = vector(&self.twist.velocity, car);
            let speed = velocity.length().max((velocity - vector(&self.twist.velocity_lag, car)).length());
            // Largest displacement of a point of the hull, m.
            let displacement = dt * (vector(&self.twist.angular_velocity, car).length() * hull_radius + speed);
            // 1.001: rounding.
            let reach = 1.001 * (hull_radius + displacement);
            near |= u32::from(environment.ground.has_box_near(position(positions, car), reach)) << car;
        }
        near
    }
}

/// Returns the heights of the positions of all cars above the plane through the origin with the unit vector `normal`,
/// m. Computed in 64 bits, rounded to 32.
#[inline(always)]
pub fn heights<W: BlockLanes>([x, y, z]: &[W::Array<f64>; 3], normal: Vec3) -> W {
    let normal = normal.as_dvec3();
    W::from_array(W::array_from_fn(
        #[inline(always)]
        |car| (x.as_ref()[car] * normal.x + y.as_ref()[car] * normal.y + z.as_ref()[car] * normal.z) as f32,
    ))
}

/// Returns the vector of `car`.
#[inline(always)]
pub fn vector<W: BlockLanes>(lanes: &Vec3Lanes<W>, car: usize) -> Vec3 {
    Vec3::new(lanes.x.number(car), lanes.y.number(car), lanes.z.number(car))
}
