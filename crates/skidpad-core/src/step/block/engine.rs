//! Engines, gears and clutches of the cars of a block.

use crate::assembly::drivetrain::controls_to_torque::shaft_row_speed;
use crate::assembly::drivetrain::gear_choice::{CarMotion, DrivenWheels};
use crate::drivetrain::constraints::{ClutchRow, Flywheel, wheel_impulse};
use crate::drivetrain::crankshaft::EngineInput;
use crate::drivetrain::launch_device::{Clutch, LaunchDevice};
use crate::drivetrain::parameters::EngineDrive;
use crate::model::Model;
use crate::state::DriveState;
use crate::state::block::BlockState;
use crate::step::block::stages::BlockStep;
use bevy_math::{Quat, Vec3};
use skidpad_simd::lane::BlockLanes;
use skidpad_simd::wheel_groups::WheelGroups;

/// Engines and clutches of the cars of a block in a step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BlockEngines<W> {
    /// Engine side of each clutch.
    pub flywheel: Flywheel<W>,
    /// Row of each clutch.
    pub clutch: ClutchRow<W>,
}

/// Returns the engine of `model` with its clutch; `None` without an engine.
fn engine_and_clutch(model: &Model) -> Option<(&EngineDrive, &Clutch)> {
    let drive = model.parts().powertrain.engine()?;
    match &drive.launch_device {
        LaunchDevice::Clutch(clutch) => Some((drive, clutch)),
        LaunchDevice::Converter(_) => None,
    }
}

impl<W: BlockLanes, P> BlockStep<'_, W, P> {
    /// Begins the step of the engines: changes gears, computes throttle opening, free engine speed and clutch engagement,
    /// and builds the clutch rows. The impulse of each clutch is that of the last step, clamped to the capacity; it is
    /// applied to the wheels. Cars with a dead engine or a starter take a rare path. Does nothing without an engine.
    #[inline(always)]
    pub(super) fn begin_engines<B: WheelGroups>(&mut self) {
        let (state, controls, [throttle, ..]) = (self.state(), self.controls, self.pedals);
        let (packs, rows) = self.wheels.stepper.packs_and_rows::<B>();
        if packs[0].shaft_jacobian.is_empty() {
            return;
        }
        // Speed of the propeller shafts by their wheels (rad/s).
        let shaft_speed = shaft_row_speed(packs, rows, 0, |rows| rows.start.spin);
        self.change_gears(shaft_speed);
        let stepper = &mut *self.wheels.stepper;
        let Some((drive, clutch)) = engine_and_clutch(&stepper.model) else { return };
        let (engine, next, dt) = (&drive.engine, &stepper.next.drive, stepper.dt);
        let start_speed = state.drive.engine_speed;
        stepper.unsolved |= W::mask_bits(engine.is_dead(start_speed)) | controls.starter;
        let is_shifting = W::splat(0.0).less(next.shift_left);
        let opening = match &engine.throttle_map {
            None => throttle,
            Some(map) => map.evaluate_lanes(throttle),
        };
        let full_load = engine.torque.evaluate_lanes(start_speed);
        let throttle = W::select(is_shifting, W::splat(0.0), opening);
        let input = EngineInput { throttle, full_load, starter: W::Mask::default() };
        let free_speed = engine.free_engine_speed(start_speed, &input, dt);
        let mut engagement = clutch.engagement(free_speed, engine, dt);
        if controls.has_pedal != 0 {
            engagement = W::select(W::mask_from_bits(controls.has_pedal), controls.engagement, engagement);
        }
        let (gears, ratios) = (next.gear.as_ref(), next.ratio.to_array());
        let ratio =
            W::from_array(W::array_from_fn(|car| drive.gearbox.ratio_at(gears[car], ratios.as_ref()[car])));
        // 0 between gears.
        let capacity = W::from_array(W::array_from_fn(|car| if gears[car] == 0 { 0.0 } else { clutch.capacity }));
        let capacity = W::select(is_shifting, W::splat(0.0), capacity);
        let step_length = W::splat(dt);
        let capacity_and_impulse = [capacity * engagement * step_length, state.drive.clutch * step_length];
        let flywheel = Flywheel::new(engine, [start_speed, free_speed], dt);
        let row = ClutchRow::new(&flywheel, ratio, drive.gearbox.efficiency, capacity_and_impulse);
        stepper.engines = BlockEngines { flywheel, clutch: row };
        let shaft_impulse = wheel_impulse(row.torque_ratios, row.impulse);
        for (pack, rows) in stepper.wheels::<B>() {
            rows.drive.shaft = pack.shaft_jacobian[0] * shaft_impulse;
        }
    }

    /// Changes the gears of all cars. `shaft_speed`: speed of the propeller shafts over the final drive, rad/s.
    #[inline(always)]
    fn change_gears(&mut self, shaft_speed: W) {
        let (state, requested, [throttle, ..]) = (self.state(), &self.controls.gear, self.pedals);
        let stepper = &mut *self.wheels.stepper;
        stepper.next.drive = state.drive;
        let (throttle, shaft_speed) = (throttle.to_array(), shaft_speed.to_array());
        let (model, dt) = (&*stepper.model, stepper.dt);
        let Some(drive) = model.parts().powertrain.engine() else { return };
        for car in 0..W::LANE_COUNT {
            let mut drive_state: DriveState = stepper.next.drive.car(car);
            let motion = LaneMotion { state, car };
            let (shaft_speed, throttle) = (shaft_speed.as_ref()[car], throttle.as_ref()[car]);
            // 0.0: no trailers.
            let driven_wheels = DrivenWheels { model, drive, motion, shaft_speed, throttle, towed_mass: 0.0, dt };
            drive_state.select_gear(requested.as_ref()[car], &driven_wheels);
            stepper.next.drive.set_car(car, &drive_state);
        }
    }

    /// Selects the driving directions of cars without an engine and stores them as gears. Returns 1, −1, or 0 in neutral
    /// for each car; 0 for cars with an engine.
    #[inline(always)]
    pub(super) fn select_directions(&mut self) -> W {
        let (state, requested) = (self.state(), &self.controls.gear);
        let stepper = &mut *self.wheels.stepper;
        if stepper.model.parts().powertrain.engine().is_some() {
            return W::default();
        }
        stepper.next.drive = state.drive;
        let model = &*stepper.model;
        let walking_pace = model.wheels()[0].walking_speeds()[1];
        let next_gears = stepper.next.drive.gear.as_mut();
        W::from_array(W::array_from_fn(|car| {
            let mut drive_state = DriveState { gear: next_gears[car], ..DriveState::default() };
            let motion = LaneMotion { state, car };
            let direction = drive_state
                .select_direction(requested.as_ref()[car], || motion.ground_speed(model.wheels().len()) / walking_pace);
            next_gears[car] = drive_state.gear;
            direction
        }))
    }
}

/// Motion of a car of a block after its last step.
struct LaneMotion<'a, W: BlockLanes> {
    state: &'a BlockState<W>,
    car: usize,
}

impl<W: BlockLanes> LaneMotion<'_, W> {
    /// Returns the forward direction of the car, world axes.
    fn forward(&self) -> Vec3 {
        Quat::from_array(self.state.rotation.map(|lanes| lanes.number(self.car))) * Vec3::X
    }

    /// Returns the mean speed of the wheels in contact along their rolling direction, or the forward speed of the car in
    /// the world if there is none, m/s.
    fn ground_speed(&self, wheel_count: usize) -> f32 {
        let rolling_speeds = (0..wheel_count).filter(|i| self.has_contact(*i)).map(|i| self.rolling_speed(i));
        match rolling_speeds.clone().count() {
            0 => self.forward().dot(vector(&self.state.velocity, self.car)),
            contact_count => rolling_speeds.sum::<f32>() / contact_count as f32,
        }
    }
}

impl<W: BlockLanes> CarMotion for LaneMotion<'_, W> {
    fn rolling_speed(&self, i: usize) -> f32 {
        self.state.wheels[i].rolling_speed.number(self.car)
    }

    fn has_contact(&self, i: usize) -> bool {
        self.state.wheels[i].contact & (1 << self.car) != 0
    }

    fn speed_gain(&self) -> f32 {
        let (velocity, previous) = (&self.state.velocity, &self.state.previous_velocity);
        self.forward().dot(vector(velocity, self.car) - vector(previous, self.car))
    }
}

/// Returns the vector of `car`.
fn vector<W: BlockLanes>(lanes: &skidpad_simd::vectors::Vec3Lanes<W>, car: usize) -> Vec3 {
    Vec3::new(lanes.x.number(car), lanes.y.number(car), lanes.z.number(car))
}
