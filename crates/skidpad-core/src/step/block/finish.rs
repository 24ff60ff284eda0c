//! End of the step of a block: writes the motion that the world realised into the states.

use crate::model::block_model::BlockModel;
use crate::state::block::{BlockState, WheelBlock};
use crate::step::batch::lane_exchange::MotionLanes;
use crate::step::block::stepper::BlockStepper;
use crate::step::write_back::{EndState, resolved_angular_velocity};
use crate::vehicle::rows::WheelRows;
use skidpad_simd::lane::{BlockLanes, Vec4Ops};
use skidpad_simd::wheel_groups::{ManyGroups, SingleGroup, WheelGroups};

/// Speed in lanes whose results are not used (m/s), far above walking pace.
const PLACEHOLDER_SPEED_MPS: f32 = 100.0;

impl<W: BlockLanes> BlockStepper<W> {
    /// Finishes the step of the cars of `model` in the bits `cars` after the world has moved them. `motion` has their
    /// rotations and velocities at the end of the step, `position` their positions (world, m). Writes the states of
    /// these cars; the states of all other cars are unchanged.
    #[inline(always)]
    pub fn finish(
        &mut self,
        model: &BlockModel<W>,
        state: &mut BlockState<W>,
        position: &[W::Array<f64>; 3],
        motion: &MotionLanes<W>,
        cars: u32,
    ) {
        let (mask, has_all) = (W::mask_from_bits(cars), cars == u32::MAX >> (u32::BITS as usize - W::LANE_COUNT));
        // Replaces the numbers of all cars, or of those in the mask.
        let set_all = |lanes: &mut W, value: W| *lanes = value;
        let set_masked = |lanes: &mut W, value: W| *lanes = W::select(mask, value, *lanes);
        match (self.wheel_count, has_all) {
            (4, true) => self.finish_groups::<SingleGroup>(model, state, position, motion, cars, set_all),
            (4, false) => self.finish_groups::<SingleGroup>(model, state, position, motion, cars, set_masked),
            (_, true) => self.finish_groups::<ManyGroups>(model, state, position, motion, cars, set_all),
            (_, false) => self.finish_groups::<ManyGroups>(model, state, position, motion, cars, set_masked),
        }
    }

    /// Finishes the step of cars whose loops run over the groups of `B`. `set` replaces the numbers of the cars in the
    /// bits `cars`; all other numbers are unchanged. Order: end states and disc temperatures wheel by wheel, then
    /// steering and drivetrain, then pose and velocities. Slow rotations use the angular velocity of
    /// [`resolved_angular_velocity`] for the wheels; the state keeps that of `motion`.
    #[inline(always)]
    fn finish_groups<B: WheelGroups>(
        &mut self,
        model: &BlockModel<W>,
        state: &mut BlockState<W>,
        position: &[W::Array<f64>; 3],
        motion: &MotionLanes<W>,
        cars: u32,
        set: impl Fn(&mut W, W) + Copy,
    ) {
        let has_all = cars == u32::MAX >> (u32::BITS as usize - W::LANE_COUNT);
        let dt = self.dt;
        let (start_rotation, end_rotation) = (state.rotation, motion.rotation);
        let mut end_motion = *motion;
        end_motion.angular_velocity = resolved_angular_velocity(
            motion.angular_velocity,
            #[inline(always)]
            || [W::Vec4::from_array(start_rotation), W::Vec4::from_array(end_rotation)],
            dt,
        );
        // Chassis velocities at the end of the step, vehicle frames.
        let mut v_end = end_motion.twist(&self.chassis.to_vehicle);
        if !has_all {
            // Other cars get a high speed, so that they do not trigger the special treatment of standing patches.
            let mask = W::mask_from_bits(cars);
            v_end.linear.x = W::select(mask, v_end.linear.x, W::splat(PLACEHOLDER_SPEED_MPS));
        }
        let wheel_count = B::wheel_count(self.wheel_count);
        let packs_and_rows = model.packs[..wheel_count].iter().zip(&self.rows[..wheel_count]);
        for ((pack, rows), wheel) in packs_and_rows.zip(&mut state.wheels) {
            let end = rows.end_state(pack, v_end, self.pose_lag, dt);
            if let Some(discs) = &pack.discs {
                let temperature = rows.disc_temperatures(discs, wheel.disc, dt);
                set(&mut wheel.disc, temperature);
            }
            wheel.finish(rows, &end, cars, set);
        }
        self.finish_steering_and_drivetrain(model, state, cars, set);
        set_vector(&mut state.previous_velocity, state.velocity, set);
        for (state_lanes, lanes) in state.position.iter_mut().zip(position) {
            for (car, (number, end)) in state_lanes.as_mut().iter_mut().zip(lanes.as_ref()).enumerate() {
                if has_all || cars & (1 << car) != 0 {
                    *number = *end;
                }
            }
        }
        for (lanes, end) in state.rotation.iter_mut().zip(motion.rotation) {
            set(lanes, end);
        }
        set_vector(&mut state.velocity, motion.velocity, set);
        set_vector(&mut state.angular_velocity, motion.angular_velocity, set);
    }

    /// Writes the results of steering and drivetrain of the cars in the bits `cars` into `state`; `set` replaces the
    /// numbers of these cars. Wheel angles are written only if any wheel of the block was turned in this step, engine,
    /// clutch and shift only if the model has an engine. The engine speed is that after the impulse of the clutch and
    /// dry friction.
    #[inline(always)]
    fn finish_steering_and_drivetrain(
        &self,
        model: &BlockModel<W>,
        state: &mut BlockState<W>,
        cars: u32,
        set: impl Fn(&mut W, W),
    ) {
        let next = &self.next;
        if next.has_turned {
            for (wheel, (angle, axle, axle_angle)) in state.wheels.iter_mut().zip(&next.wheels) {
                set(&mut wheel.steer, *angle);
                set_vector(&mut wheel.axle, *axle, &set);
                set(&mut wheel.axle_angle, *axle_angle);
            }
            set(&mut state.applied_steer, next.steer);
            state.is_steer_applied = (state.is_steer_applied & !cars) | (next.is_steer_applied & cars);
        }
        set(&mut state.steer, next.steer);
        let drive = &mut state.drive;
        set(&mut drive.gear, next.drive.gear);
        if model.packs[0].shaft_jacobian.is_empty() {
            return;
        }
        let (flywheel, impulse) = (&self.engines.flywheel, self.engines.clutch.impulse);
        let engine_speed = flywheel.after_dry_drag(flywheel.speed - impulse * flywheel.inverse_inertia);
        set(&mut drive.engine_speed, engine_speed);
        set(&mut drive.clutch, impulse / W::splat(self.dt));
        set(&mut drive.ratio, next.drive.ratio);
        set(&mut drive.shift_left, next.drive.shift_left);
        set(&mut drive.since_shift, next.drive.since_shift);
        set(&mut drive.next_gear, next.drive.next_gear);
        set(&mut drive.gear_ratio, next.drive.gear_ratio);
    }
}

impl<W: BlockLanes> WheelBlock<W> {
    /// Writes the state at the end of a step, without the disc temperature: `end`, and moments and grip of the `rows`.
    /// `set` replaces the numbers of the cars in the bits `cars`.
    #[inline(always)]
    fn finish(&mut self, rows: &WheelRows<W>, end: &EndState<W>, cars: u32, set: impl Fn(&mut W, W)) {
        let moments = if rows.has_laws { rows.start.moments } else { [W::default(); 2] };
        set(&mut self.spin, end.spin);
        let set_pair = |[a, b]: &mut [W; 2], [c, d]: [W; 2]| {
            set(a, c);
            set(b, d);
        };
        set_pair(&mut self.deflection, end.deflection);
        set_pair(&mut self.tyre, end.tyre);
        set_pair(&mut self.moments, moments);
        set(&mut self.torque, end.torque);
        set(&mut self.rolling_speed, end.rolling_speed);
        set(&mut self.rolling, end.rolling);
        set(&mut self.compression, end.compression);
        set(&mut self.load, end.load);
        set(&mut self.lean, end.lean);
        set(&mut self.grip_excess, rows.grip_excess().unwrap_or_default());
        self.contact_bits = (self.contact_bits & !cars) | (W::mask_bits(end.contact) & cars);
    }
}

/// Replaces the components of `vector` by those of `value`, by `set`.
#[inline(always)]
fn set_vector<W: BlockLanes>(
    vector: &mut skidpad_simd::vectors::Vec3Lanes<W>,
    value: skidpad_simd::vectors::Vec3Lanes<W>,
    set: impl Fn(&mut W, W),
) {
    set(&mut vector.x, value.x);
    set(&mut vector.y, value.y);
    set(&mut vector.z, value.z);
}
