//! Steering of the cars of a block.

use crate::assembly::steering::{SteeredWheels, WheelAngles, axle_direction, turn_wheels};
use crate::controls::clamp_lanes_or_zero;
use crate::model::Model;
use crate::state::WheelState;
use crate::state::block::WheelBlock;
use crate::steering::rate_limited_angle;
use crate::step::block::stages::BlockStep;
use crate::vehicle::rows::WheelRows;
use skidpad_simd::lane::BlockLanes;
use skidpad_simd::vectors::Vec3Lanes;
use skidpad_simd::wheel_groups::WheelGroups;

impl<W: BlockLanes, P> BlockStep<'_, W, P> {
    /// Moves each steering towards its demand within its rate, and turns the wheels. Copies the axle directions into the
    /// rows. Wheels that already have the angle of the steering to the bit are not turned again.
    #[inline(always)]
    pub(super) fn steer<B: WheelGroups>(&mut self) {
        let (state, controls) = (self.state(), self.controls);
        let stepper = &mut *self.wheels.stepper;
        let steering = &self.wheels.model.layout().parts().steering;
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

    /// Returns the bits of the cars whose wheels do not have the angle of the steering, or may turn by themselves because
    /// toe or camber change with the travel.
    #[inline(always)]
    fn unsettled_cars(&self) -> u32 {
        let (state, stepper) = (self.state(), &*self.wheels.stepper);
        if self.wheels.model.layout().has_bump_steer() {
            return u32::MAX >> (u32::BITS as usize - W::LANE_COUNT);
        }
        let (applied, next) = (state.applied_steer.to_array(), stepper.next.steer.to_array());
        // Angles are compared by their bits: a zero of the other sign gives another axle direction.
        let mut unsettled = !state.is_steer_applied;
        for (car, (applied, next)) in applied.as_ref().iter().zip(next.as_ref()).enumerate() {
            unsettled |= u32::from(applied.to_bits() != next.to_bits()) << car;
        }
        unsettled & (u32::MAX >> (u32::BITS as usize - W::LANE_COUNT))
    }

    /// Turns the wheels of the cars with set bits in `unsettled`, and copies the axle directions of all cars into the
    /// rows.
    #[inline(never)]
    fn turn_cars(&mut self, unsettled: u32) {
        let state = self.state();
        let stepper = &mut *self.wheels.stepper;
        for (next, wheel) in stepper.next.wheels.iter_mut().zip(&state.wheels) {
            *next = (wheel.steer, wheel.axle, wheel.axle_angle);
        }
        let block_model = self.wheels.model;
        let has_bump_steer = block_model.layout().has_bump_steer();
        let steer = stepper.next.steer.to_array();
        for (car, &steer) in steer.as_ref().iter().enumerate().filter(|(car, _)| unsettled & (1 << car) != 0) {
            let model = &**block_model.car(car);
            let (rows, next) = (&mut *stepper.rows, &mut *stepper.next.wheels);
            let mut wheels = LaneWheels { model, states: &state.wheels, rows, next, car };
            let has_turned = turn_wheels(model, steer, &mut wheels);
            let is_applied = !has_turned && !has_bump_steer;
            let bits = &mut stepper.next.is_steer_applied;
            *bits = (*bits & !(1 << car)) | (u32::from(is_applied) << car);
        }
        for (rows, (_, axle, _)) in stepper.rows.iter_mut().zip(&stepper.next.wheels) {
            rows.steering.axle = *axle;
        }
    }
}

/// Wheels of a car in a block. Turned wheels are written to `next`, rotated patches to the start states in `rows`.
struct LaneWheels<'a, W: BlockLanes> {
    model: &'a Model,
    states: &'a [WheelBlock<W>],
    rows: &'a mut [WheelRows<W>],
    /// Road-wheel angle, axle direction, and angle to which the direction belongs, by wheel.
    next: &'a mut [(W, Vec3Lanes<W>, W)],
    car: usize,
}

impl<W: BlockLanes> SteeredWheels for LaneWheels<'_, W> {
    fn compression(&self, i: usize) -> f32 {
        self.states[i].compression.number(self.car)
    }

    fn angle(&self, i: usize) -> f32 {
        self.states[i].steer.number(self.car)
    }

    fn rolling(&self, i: usize) -> f32 {
        self.states[i].rolling.number(self.car)
    }

    fn raw_angle(&self, _: usize) -> Option<f32> {
        None
    }

    fn turn(&mut self, i: usize, &WheelAngles { angle, mean_angle, camber }: &WheelAngles) {
        let (car, state) = (self.car, &self.states[i]);
        let number = |lanes: W| lanes.number(car);
        let (next_angle, axle, axle_angle) = &mut self.next[i];
        let (old_angle, rolling) = (number(state.steer), number(state.rolling));
        *next_angle = next_angle.with_number(car, angle);
        if angle != old_angle && rolling != 1.0 {
            let (deflection, tyre) = (state.deflection.map(number), state.tyre.map(number));
            let mut wheel = WheelState { steer: old_angle, rolling, deflection, tyre, ..WheelState::default() };
            wheel.set_steer(angle);
            let start = &mut self.rows[i].start;
            for k in 0..2 {
                start.deflection[k] = start.deflection[k].with_number(car, wheel.deflection[k]);
                start.tyre[k] = start.tyre[k].with_number(car, wheel.tyre[k]);
            }
        }
        if self.model.has_bump_steer() || number(*axle_angle).to_bits() != mean_angle.to_bits() {
            let [x, y, z] = axle_direction(self.model, i, mean_angle, camber);
            axle.x = axle.x.with_number(car, x);
            axle.y = axle.y.with_number(car, y);
            axle.z = axle.z.with_number(car, z);
            *axle_angle = axle_angle.with_number(car, mean_angle);
        }
    }
}
