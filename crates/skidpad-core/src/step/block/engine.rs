//! Engines, gears and clutches of the cars of a block.

use crate::assembly::drivetrain::controls_to_torque::shaft_row_speed;
use crate::assembly::drivetrain::gear_choice::{
    DrivenWheels, GearedCar, MAX_SINCE_SHIFT_S, MIN_SHIFT_INTERVAL_S, SHIFT_END_S, STANDSTILL_SPEED_RATIO,
};
use crate::drivetrain::constraints::{ClutchRow, Flywheel, shaft_impulse};
use crate::drivetrain::crankshaft::EngineInput;
use crate::drivetrain::engine::Engine;
use crate::drivetrain::launch_device::{Clutch, LaunchDevice};
use crate::drivetrain::parameters::EngineDrive;
use crate::model::Model;
use crate::model::block_model::BlockModel;
use crate::model::car_constants::CarConstants;
use crate::state::DriveState;
use crate::state::block::BlockState;
use crate::step::block::stages::BlockStep;
use crate::step::block::stepper::BlockEngines;
use bevy_math::{Quat, Vec3};
use skidpad_simd::lane::BlockLanes;
use skidpad_simd::wheel_groups::WheelGroups;

/// Returns the engine of `model` with its clutch; `None` without an engine or with a torque converter.
fn engine_and_clutch(model: &Model) -> Option<(&EngineDrive, &Clutch)> {
    let drive = model.parts().powertrain.engine()?;
    match &drive.launch_device {
        LaunchDevice::Clutch(clutch) => Some((drive, clutch)),
        LaunchDevice::Converter(_) => None,
    }
}

impl<W: BlockLanes, P> BlockStep<'_, W, P> {
    /// Begins the step of the engines: changes gears, computes throttle opening, free engine speed (without the clutch)
    /// and clutch engagement, and builds the clutch rows. A clutch pedal replaces the automatic engagement. The
    /// capacity is 0 in neutral and during a shift, which also closes the throttle. Does nothing without an engine.
    ///
    /// The initial impulse of each clutch is that of the last step, clamped to the capacity. It is set as the shaft
    /// impulse of the wheels. Marks cars with a dead engine or an active starter as unsolved: they are stepped alone
    /// outside the block.
    #[inline(always)]
    pub(super) fn begin_engines<B: WheelGroups>(&mut self) {
        let (state, controls, [throttle, ..]) = (self.state(), self.controls, self.pedals);
        let (packs, rows) = self.wheels.packs_and_rows::<B>();
        if packs[0].shaft_jacobian.is_empty() {
            return;
        }
        // Speed of the propeller shafts by their wheels (rad/s).
        let shaft_speed = shaft_row_speed(packs, rows, 0, |rows| rows.start.spin);
        self.change_gears(shaft_speed);
        let (stepper, model) = (&mut *self.wheels.stepper, self.wheels.cars.constants);
        let Some((drive, clutch)) = engine_and_clutch(model.layout()) else { return };
        let (engine, next, dt) = (&drive.engine, &stepper.next.drive, stepper.dt);
        let start_speed = state.drive.engine_speed;
        stepper.unsolved |= W::mask_bits(engine.is_dead(start_speed)) | controls.starter;
        let is_shifting = W::splat(0.0).less(next.shift_left);
        let opening = match &engine.throttle_map {
            None => throttle,
            Some(map) => map.evaluate_lanes(throttle),
        };
        let full_load = engine.torque.evaluate_values(start_speed, |i| model.car.torques[i]);
        let throttle = opening.masked(!is_shifting);
        // No starter: cars whose starter turns the engine are stepped alone.
        let input = EngineInput { throttle, full_load, starter: W::Mask::default() };
        let free_speed = engine.free_engine_speed(start_speed, &input, || model.car.peak_torque, dt);
        let mut engagement = clutch.engagement(free_speed, engine, dt);
        if controls.has_pedal != 0 {
            engagement = W::select(W::mask_from_bits(controls.has_pedal), controls.engagement, engagement);
        }
        let zero = W::splat(0.0);
        let is_in_gear = (zero.less(next.gear) | next.gear.less(zero)) & !is_shifting;
        // 0 between gears.
        let capacity = W::splat(clutch.capacity).masked(is_in_gear);
        let step_length = W::splat(dt);
        let capacity_and_impulse = [capacity * engagement * step_length, state.drive.clutch * step_length];
        let flywheel = Flywheel::new(engine, [start_speed, free_speed], dt);
        let row = ClutchRow::new(&flywheel, next.gear_ratio, drive.gearbox.efficiency, capacity_and_impulse);
        stepper.engines = BlockEngines { flywheel, clutch: row };
        let start_shaft_impulse = shaft_impulse(row.torque_ratios, row.impulse);
        for (pack, rows) in self.wheels.wheels::<B>() {
            rows.drive.shaft = pack.shaft_jacobian[0] * start_shaft_impulse;
        }
    }

    /// Changes the gears of all cars, with the results of `DriveState::select_gear`, and stores the new states in
    /// `next.drive`. `shaft_speed`: speed of the propeller shafts over the final drive, rad/s.
    ///
    /// Cars that keep their gear, and cars whose running shift does not end in this step, advance in lanes. All other
    /// active cars are changed one by one; with a continuous gearbox these are all active cars.
    #[inline(always)]
    fn change_gears(&mut self, shaft_speed: W) {
        let layout = self.wheels.cars.constants.layout();
        let Some(engine_drive) = layout.parts().powertrain.engine() else { return };
        let (zero, dt) = (W::splat(0.0), W::splat(self.wheels.stepper.dt));
        let mut drive = self.wheels.state.drive;
        let is_shifting = zero.less(drive.shift_left);
        let shift_left = drive.shift_left - dt;
        let since_shift = (drive.since_shift + dt).at_most(W::splat(MAX_SINCE_SHIFT_S));
        // `AUTOMATIC_GEAR` is above every gear.
        let is_automatic = W::splat(f32::from(i8::MAX)).less(self.controls.gear);
        let is_moving = self.moving_cars(engine_drive);
        // Shifts that do not end in this step. An automatic shift ends at once if the car stands.
        let is_shift_running_on = is_shifting & W::splat(SHIFT_END_S).less(shift_left) & (!is_automatic | is_moving);
        // Automatic gearboxes in a forward gear, too soon after the last shift for another one.
        let is_recent = is_automatic & zero.less(drive.gear) & since_shift.less(W::splat(MIN_SHIFT_INTERVAL_S));
        let keeps = self.keeps_gear(engine_drive, shaft_speed, is_automatic) | (is_recent & is_moving);
        // No shift is running. The comparison with 1 excludes NaN.
        let has_no_shift = drive.shift_left.less(W::splat(1.0)) & !is_shifting;
        drive.shift_left = W::select(is_shifting, shift_left, drive.shift_left);
        drive.since_shift = W::select(is_shifting, drive.since_shift, since_shift);
        let is_known = drive.gear_ratio.abs().less(W::splat(f32::INFINITY)); // false for NaN
        // Inactive cars may have no ratio yet. A ratio of 0 keeps NaN out of the shared iterations.
        drive.gear_ratio = drive.gear_ratio.masked(is_known);
        self.wheels.stepper.next.drive = drive;
        let steady = W::mask_bits(is_known & (is_shift_running_on | (has_no_shift & keeps)));
        let has_fixed_gears = engine_drive.gearbox.cvt.is_none();
        let changing = if has_fixed_gears { !steady } else { u32::MAX };
        let changing = changing & !self.wheels.inactive & (u32::MAX >> (u32::BITS as usize - W::LANE_COUNT));
        if changing != 0 {
            self.change_gears_alone(changing, shaft_speed);
        }
    }

    /// Returns the cars whose driven wheels roll forward with at least a tenth of their walking pace, as means weighted
    /// by the torque shares. Slower cars are stationary (`DrivenWheels::is_stationary`); cars with NaN count as moving.
    #[inline(always)]
    fn moving_cars(&self, drive: &EngineDrive) -> W::Mask {
        let (mut ground_speed, mut walking_pace) = (W::splat(-0.0), W::splat(-0.0));
        let wheels = self.wheels.cars.constants.packs.iter().zip(&self.state().wheels);
        for ((pack, wheel), share) in wheels.zip(&drive.torque_shares) {
            let share = W::splat(*share);
            ground_speed += share * wheel.rolling_speed;
            walking_pace += share * pack.walking[1];
        }
        !ground_speed.less(W::splat(STANDSTILL_SPEED_RATIO) * walking_pace)
    }

    /// Returns the cars that certainly keep their gear if no shift is running. The requested gear is engaged, or the
    /// gearbox is automatic (mask `is_automatic`) and in a forward gear with the engine speed between the speeds of
    /// downshift and upshift. The first gear has no downshift, the top gear no upshift. Cars whose engine speed is not
    /// finite are left out.
    #[inline(always)]
    fn keeps_gear(&self, drive: &EngineDrive, shaft_speed: W, is_automatic: W::Mask) -> W::Mask {
        let (gearbox, state, requested) = (&drive.gearbox, &self.state().drive, self.controls.gear);
        let [throttle, ..] = self.pedals;
        let (zero, one, gear) = (W::splat(0.0), W::splat(1.0), state.gear);
        let speed = shaft_speed * state.gear_ratio;
        // False for NaN.
        let is_known = speed.abs().less(W::splat(f32::INFINITY));
        let top_gear = W::splat(f32::from(gearbox.clamp_gear(i8::MAX)));
        let can_shift_up = gearbox.up_speed_at(throttle).less(speed) & gear.less(top_gear);
        let can_shift_down = speed.less(gearbox.down_speed_at(throttle)) & one.less(gear);
        let keeps_automatic = is_automatic & zero.less(gear) & !can_shift_up & !can_shift_down;
        let is_requested = !requested.less(gear) & !gear.less(requested);
        is_known & (keeps_automatic | is_requested)
    }

    /// Changes the gears of the cars in the bits `changing` one by one by `DriveState::select_gear`. Stores their
    /// drivetrain states and gear ratios in `next.drive`.
    #[inline(never)]
    fn change_gears_alone(&mut self, changing: u32, shaft_speed: W) {
        W::call_outlined(
            #[inline(always)]
            || {
                let (state, controls, [throttle, ..]) = (self.state(), self.controls, self.pedals);
                let (stepper, constants) = (&mut *self.wheels.stepper, self.wheels.cars.constants);
                let Some(drive) = constants.layout().parts().powertrain.engine() else { return };
                let (dt, wheel_count) = (stepper.dt, stepper.wheel_count);
                for car in (0..W::LANE_COUNT).filter(|car| changing & (1 << car) != 0) {
                    let mut drive_state: DriveState = state.drive.car(car);
                    let lane_car = LaneCar { constants, state, wheel_count, car };
                    let (shaft_speed, throttle) = (shaft_speed.number(car), throttle.number(car));
                    // 0.0: no trailers.
                    let driven_wheels =
                        DrivenWheels { car: lane_car, drive, shaft_speed, throttle, towed_mass: 0.0, dt };
                    drive_state.select_gear(controls.requested_gear(car), &driven_wheels);
                    let next = &mut stepper.next.drive;
                    next.set_car(car, &drive_state);
                    let ratio = drive.gearbox.ratio_at(drive_state.gear, drive_state.ratio);
                    next.gear_ratio = next.gear_ratio.with_number(car, ratio);
                }
            },
        );
    }

    /// Selects the driving directions of cars without an engine and stores them as gears. Returns 1, −1, or 0 in
    /// neutral for each car; 0 for cars with an engine.
    #[inline(always)]
    pub(super) fn select_directions(&mut self) -> W {
        let (state, controls) = (self.state(), self.controls);
        let (stepper, constants) = (&mut *self.wheels.stepper, self.wheels.cars.constants);
        if constants.layout().parts().powertrain.engine().is_some() {
            return W::default();
        }
        stepper.next.drive = state.drive;
        let wheel_count = stepper.wheel_count;
        let next_gear = &mut stepper.next.drive.gear;
        let mut directions = W::default();
        for car in 0..W::LANE_COUNT {
            let mut drive_state = state.drive.car(car);
            let lane_car = LaneCar { constants, state, wheel_count, car };
            let speed_ratio = || lane_car.ground_speed() / lane_car.walking_pace(0);
            let direction = drive_state.select_direction(controls.requested_gear(car), speed_ratio);
            *next_gear = next_gear.with_number(car, f32::from(drive_state.gear));
            directions = directions.with_number(car, direction);
        }
        directions
    }
}

/// Car of a block.
struct LaneCar<'a, W: BlockLanes> {
    /// Constants of the cars.
    constants: &'a BlockModel<W>,
    /// State after the last step.
    state: &'a BlockState<W>,
    /// Number of wheels of a car.
    wheel_count: usize,
    /// Lane of the car.
    car: usize,
}

impl<W: BlockLanes> LaneCar<'_, W> {
    /// Returns the forward direction of the car, world axes.
    fn forward(&self) -> Vec3 {
        Quat::from_array(self.state.rotation.map(|lanes| lanes.number(self.car))) * Vec3::X
    }

    /// Returns the mean speed of the wheels in contact along their rolling direction, or the forward speed of the car
    /// in the world if there is none, m/s.
    fn ground_speed(&self) -> f32 {
        let rolling_speeds = (0..self.wheel_count).filter(|i| self.has_contact(*i)).map(|i| self.rolling_speed(i));
        match rolling_speeds.clone().count() {
            0 => self.forward().dot(vector(&self.state.velocity, self.car)),
            contact_count => rolling_speeds.sum::<f32>() / contact_count as f32,
        }
    }
}

impl<W: BlockLanes> GearedCar for LaneCar<'_, W> {
    fn rolling_speed(&self, i: usize) -> f32 {
        self.state.wheels[i].rolling_speed.number(self.car)
    }

    fn has_contact(&self, i: usize) -> bool {
        self.state.wheels[i].contact_bits & (1 << self.car) != 0
    }

    fn speed_gain(&self) -> f32 {
        let (velocity, previous) = (&self.state.velocity, &self.state.previous_velocity);
        self.forward().dot(vector(velocity, self.car) - vector(previous, self.car))
    }

    fn radius(&self, i: usize) -> f32 {
        self.constants.packs[i].radius.number(self.car)
    }

    fn walking_pace(&self, i: usize) -> f32 {
        self.constants.packs[i].walking[1].number(self.car)
    }

    /// Returns the mass with that of the spinning wheels; a car of a block has no motors.
    fn rolling_mass(&self) -> f32 {
        let spin_mass = |i: usize| {
            let radius = self.radius(i);
            self.constants.packs[i].spin_inertia.number(self.car) / (radius * radius)
        };
        self.constants.car.body.mass.number(self.car) + (0..self.wheel_count).map(spin_mass).sum::<f32>()
    }

    fn engine_torque(&self, engine: &Engine, speed: f32, pedal: f32) -> f32 {
        let CarConstants { torques, peak_torque, .. } = &self.constants.car;
        let full_load = engine.torque.interpolate(speed, |i| torques[i].number(self.car));
        engine.torque_at_full_load(speed, pedal, full_load, || peak_torque.number(self.car))
    }
}

/// Returns the vector of `car`.
fn vector<W: BlockLanes>(lanes: &skidpad_simd::vectors::Vec3Lanes<W>, car: usize) -> Vec3 {
    Vec3::new(lanes.x.number(car), lanes.y.number(car), lanes.z.number(car))
}
