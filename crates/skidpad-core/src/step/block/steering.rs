//! Steering of the cars of a block.

use crate::assembly::steering::{SteeredWheels, WheelAngles, axle_direction, turn_wheels};
use crate::controls::clamp_lanes_or_zero;
use crate::model::Model;
use crate::state::block::WheelBlock;
use crate::steering::rate_limited_angle;
use crate::step::block::stages::BlockStep;
use crate::vehicle::rows::WheelRows;
use crate::wheel::state::rotate_patch;
use skidpad_simd::lane::BlockLanes;
use skidpad_simd::vectors::Vec3Lanes;
use skidpad_simd::wheel_groups::WheelGroups;

impl<W: BlockLanes, P> BlockStep<'_, W, P> {
    /// Moves the steering angle of each car towards its demand, clamped to ± the lock, by at most rate times step.
    /// Stores the angle in `next`, not in the states.
    ///
    /// If the wheels of any active car may have to turn, turns all wheels by `turn_cars`. Otherwise only copies the
    /// axle directions from the states into the rows.
    #[inline(always)]
    pub(super) fn steer<B: WheelGroups>(&mut self) {
        let (state, controls) = (self.state(), self.controls);
        let stepper = &mut *self.wheels.stepper;
        let steering = &self.wheels.cars.constants.layout().parts().steering;
        let lock = W::splat(steering.lock);
        let demand = clamp_lanes_or_zero(controls.steer, -lock, lock);
        stepper.next.steer = rate_limited_angle(state.steer, demand, steering.rate * stepper.dt);
        let unsettled = self.unsettled_cars();
        let stepper = &mut *self.wheels.stepper;
        stepper.next.has_turned = unsettled != 0;
        stepper.next.is_steer_applied = state.is_steer_applied;
        if unsettled != 0 {
            self.turn_cars(unsettled);
        } else {
            for ((_, rows), wheel) in self.wheels.wheels::<B>().zip(&state.wheels) {
                rows.steering.axle = wheel.axle;
            }
        }
    }

    /// Returns the bits of the active cars whose wheels do not have the angle of the steering, or may turn by
    /// themselves because toe or camber change with the travel.
    #[inline(always)]
    fn unsettled_cars(&self) -> u32 {
        let (state, stepper) = (self.state(), &*self.wheels.stepper);
        // Bits of all lanes, without the inactive cars.
        let active = !self.wheels.inactive & (u32::MAX >> (u32::BITS as usize - W::LANE_COUNT));
        if self.wheels.cars.constants.layout().has_self_steering() {
            return active;
        }
        // Angles are compared by their bits: a zero of the other sign gives another axle direction.
        (!state.is_steer_applied | state.applied_steer.different_bits(stepper.next.steer)) & active
    }

    /// Turns the wheels of all cars to the new steering angles, and writes angles and axle directions to `next`, axle
    /// directions also to the rows. Wheels of cars without a bit in `unsettled` already have their angle and do not
    /// change.
    ///
    /// Then updates the bits `is_steer_applied`. A car of `unsettled` has its bit set if no wheel angle of the car has
    /// changed, and cleared otherwise. If toe or camber change with the travel (bump steer), the bits of all
    /// `unsettled` cars are cleared.
    #[inline(never)]
    fn turn_cars(&mut self, unsettled: u32) {
        W::call_outlined(
            #[inline(always)]
            || {
                let state = self.state();
                let stepper = &mut *self.wheels.stepper;
                let model = self.wheels.cars.constants.layout();
                let (rows, next) = (&mut *stepper.rows, &mut *stepper.next.wheels);
                let mut wheels = BlockSteeredWheels { model, states: &state.wheels, rows, next, turned: 0 };
                turn_wheels(model, stepper.next.steer, &mut wheels);
                let still_turning = if model.has_self_steering() { unsettled } else { wheels.turned };
                let bits = &mut stepper.next.is_steer_applied;
                *bits = (*bits | unsettled) & !still_turning;
                for (rows, (_, axle, _)) in stepper.rows.iter_mut().zip(&stepper.next.wheels) {
                    rows.steering.axle = *axle;
                }
            },
        );
    }
}

/// Wheels of the cars of a block. Turned wheels are written to `next`, rotated patches to the start states in `rows`.
struct BlockSteeredWheels<'a, W: BlockLanes> {
    model: &'a Model,
    states: &'a [WheelBlock<W>],
    rows: &'a mut [WheelRows<W>],
    /// Road-wheel angle, axle direction, and angle to which the direction belongs, by wheel.
    next: &'a mut [(W, Vec3Lanes<W>, W)],
    /// Bits of the cars with a wheel whose road-wheel angle changes.
    turned: u32,
}

impl<W: BlockLanes> SteeredWheels<W> for BlockSteeredWheels<'_, W> {
    #[inline(always)]
    fn compression(&self, i: usize) -> W {
        self.states[i].compression
    }

    #[inline(always)]
    fn angle(&self, i: usize) -> W {
        self.states[i].steer
    }

    #[inline(always)]
    fn rolling(&self, i: usize) -> W {
        self.states[i].rolling
    }

    /// Returns `None`: a block has no raw inputs of wheels.
    #[inline(always)]
    fn raw_angle(&self, _: usize) -> Option<W> {
        None
    }

    /// Returns `None`: cars of a block have a rigid linkage.
    #[inline(always)]
    fn linkage_deflection(&self, _: usize) -> Option<W> {
        None
    }

    /// Writes angle and axle direction of wheel `i` to `next`. Rotates the standing patches of cars whose angle
    /// changes. Reuses the axle directions of the states if those of all cars belong to `mean_angle`, and never with
    /// bump steer.
    #[inline(always)]
    fn turn(&mut self, i: usize, &WheelAngles { angle, mean_angle, camber }: &WheelAngles<W>) {
        let state = &self.states[i];
        let turned = angle.different_bits(state.steer);
        self.turned |= turned;
        if turned != 0 {
            self.rotate_patches(i, angle);
        }
        let has_direction = !self.model.has_self_steering() && state.axle_angle.different_bits(mean_angle) == 0;
        let axle = if has_direction { state.axle } else { axle_direction(self.model, i, mean_angle, camber) };
        self.next[i] = (angle, axle, mean_angle);
    }
}

impl<W: BlockLanes> BlockSteeredWheels<'_, W> {
    /// Rotates deflections and tyre forces of wheel `i` in the start states of the rows, because a standing patch stays
    /// in place on the ground while the wheel turns to `angle` (rad). The change of angle counts with the share
    /// `1 − rolling`, so that rolling patches stay as they are.
    #[inline(always)]
    fn rotate_patches(&mut self, i: usize, angle: W) {
        let state = &self.states[i];
        // Angle by which the wheel turns relative to the patch, rad.
        let relative_angle = (angle - state.steer) * (W::splat(1.0) - state.rolling);
        let is_rotated = W::splat(0.0).less(relative_angle.abs());
        if W::any(is_rotated) {
            let start = &mut self.rows[i].start;
            let [deflection, tyre] = rotate_patch([state.deflection, state.tyre], relative_angle);
            // Longitudinal, then lateral.
            for k in 0..2 {
                start.deflection[k] = W::select(is_rotated, deflection[k], state.deflection[k]);
                start.tyre[k] = W::select(is_rotated, tyre[k], state.tyre[k]);
            }
        }
    }
}
