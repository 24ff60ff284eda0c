//! Torques of engine and brakes from the pedals. `gear_choice` selects gears; `shafts` solves clutch and couplings.

use crate::assists::DriverDemand;
use crate::controls::{Controls, MAX_RAW_BRAKE_TORQUE_NM, clamp_or_zero};
use crate::drivetrain::constraints::{DriveConstraint, Flywheel};
use crate::drivetrain::crankshaft::EngineInput;
use crate::drivetrain::launch_device::LaunchDevice;
use crate::drivetrain::parameters::EngineDrive;
use crate::drivetrain::rows::PedalDemand;
use crate::model::wheel_pack::WheelPack;
use crate::state::{DriveState, State, WheelState};
use crate::vehicle::rows::WheelRows;
use crate::vehicle::{Vehicle, groups_with_rows};
use bevy_math::Vec3;
use skidpad_simd::lane::{F32x4, Lane, WheelLanes};
use skidpad_simd::wheel_groups::WheelGroups;

/// Flywheel, and the row of the clutch or converter between flywheel and gearbox.
type EngineAndClutch = (Flywheel, DriveConstraint);

impl Vehicle {
    /// Applies the pedals for a step of `dt` s, in this order: direction of a car without an engine, torques of direct
    /// drive and brakes at every wheel, gear, rows of engine, clutch, motors and couplings. The wheels get the clutch
    /// impulse of the last step (limited by the present capacity) as shaft impulse, and the motors their rotor speeds
    /// at the start. The rows are not solved. `demand`: demands after assists.
    #[inline(always)]
    pub(crate) fn apply_pedals<B: WheelGroups>(&mut self, controls: &Controls, demand: &DriverDemand, dt: f32) {
        let direction = self.direction_without_engine(controls);
        self.apply_wheel_torques::<B>(controls, demand, direction, dt);
        let has_engine = self.model.parts().powertrain.engine().is_some();
        let (model, rows) = (&self.model, &self.rows);
        // Speed of the wheels on a row by its levers at the start of the step, rad/s. Row 0 is that of the engine.
        let wheel_speed_on_row =
            |row| shaft_row_speed(B::slice(model.wheel_packs()), B::slice(rows), row, |rows| rows.start.spin);
        let shaft_speed = if has_engine { wheel_speed_on_row(0) } else { 0.0 };
        let full_load = self.full_load_torque();
        let shaft_impulse = self.build_shaft_rows(controls, demand, direction, [shaft_speed, full_load], dt);
        if has_engine {
            for (group, rows) in groups_with_rows::<B>(&self.model, &mut self.rows) {
                // Lever of each wheel in row 0, times the impulse on the propeller shaft.
                rows.drive.shaft = group.shaft_jacobian[0] * F32x4::splat(shaft_impulse);
            }
        }
        // Motors follow the engine's row, if there is one.
        let first_motor_row = usize::from(has_engine);
        for (k, motor) in self.model.parts().motors.iter().enumerate() {
            let speed = shaft_row_speed(
                B::slice(self.model.wheel_packs()),
                B::slice(&self.rows),
                first_motor_row + k,
                |rows| rows.start.spin,
            );
            self.shafts.set_rotor_speed(k, speed * motor.reduction);
        }
    }

    /// Sets the impulses of direct drive and brakes at every wheel, the momentum before brakes and tyres, and the shaft
    /// impulses to 0. Brake torque fades with the disc temperature. Raw torques of `controls.wheels` are added, clamped
    /// to ± the model's motor torque and to 0 to [`MAX_RAW_BRAKE_TORQUE_NM`]; they do not fade, and NaN or a missing
    /// wheel counts as 0. `direction`: driving direction of a car without an engine, 1, 0 or −1.
    #[inline(always)]
    pub(crate) fn apply_wheel_torques<B: WheelGroups>(
        &mut self,
        controls: &Controls,
        demand: &DriverDemand,
        direction: f32,
        dt: f32,
    ) {
        let pedals = [demand.throttle * direction, demand.brake, demand.handbrake].map(F32x4::splat);
        for (group, rows) in groups_with_rows::<B>(&self.model, &mut self.rows) {
            let [mut motor, mut brake] = group.pedal_torques(pedals);
            if group.discs.is_some() {
                brake = brake * group.disc_torque_factors(&self.state.wheels);
            }
            if !controls.wheels.is_empty() {
                let raw_torques = |i: usize| controls.wheels.get(i).copied().unwrap_or_default();
                motor += group.gather(|i| {
                    let max_torque = self.model.max_motor_torque(i);
                    clamp_or_zero(raw_torques(i).motor_torque, -max_torque, max_torque)
                });
                brake += group.gather(|i| clamp_or_zero(raw_torques(i).brake_torque, 0.0, MAX_RAW_BRAKE_TORQUE_NM));
            }
            rows.set_drive_impulses(group, [motor, brake], dt);
        }
    }

    /// Selects the driving direction of a car without an engine, stores it as its gear, and returns it: 1, −1, or 0 in
    /// neutral. A reversal above the walking pace of the first wheel gives 0. Returns 0 for a car with an engine and
    /// changes nothing.
    #[inline(always)]
    pub(crate) fn direction_without_engine(&mut self, controls: &Controls) -> f32 {
        let parts = self.model.parts();
        match parts.powertrain.engine() {
            Some(_) => 0.0,
            None => select_direction(&mut self.state, controls.gear, parts.wheels[0].walking_speeds()[1]),
        }
    }

    /// Returns the engine's torque at full load and its present speed, N m; 0 without an engine.
    #[inline(always)]
    fn full_load_torque(&self) -> f32 {
        let engine = self.model.parts().powertrain.engine();
        engine.map_or(0.0, |drive| drive.engine.torque.evaluate(self.state.drive.engine_speed))
    }

    /// Selects the gear of a car with an engine and builds the rows of all shafts. Returns the initial impulse of
    /// clutch or converter on the propeller shaft, N m s: that of the last step, limited by the capacity of a clutch; 0
    /// without an engine.
    ///
    /// If assists can change the drive, also stores the engine speeds with a closed throttle and with the driver's
    /// throttle, and the capacity law of an automatic clutch. `shaft_speed`: speed of the propeller shaft over the
    /// final drive, rad/s; `full_load`: engine torque at full load, N m; `direction`: driving direction of a car
    /// without an engine.
    #[inline(always)]
    pub(crate) fn build_shaft_rows(
        &mut self,
        controls: &Controls,
        demand: &DriverDemand,
        mut direction: f32,
        [shaft_speed, full_load]: [f32; 2],
        dt: f32,
    ) -> f32 {
        let DriverDemand { throttle, brake, driver_throttle, .. } = *demand;
        let Self { model, state, shafts, towed_mass, .. } = self;
        let engine = model.parts().powertrain.engine();
        // A gearbox determines the direction instead.
        if let Some(drive) = engine {
            let model_and_towed_mass = (&**model, *towed_mass);
            direction = state.change_gear(drive, model_and_towed_mass, [throttle, shaft_speed], controls.gear, dt);
        }
        // Cruise control raises `throttle` to 1 for the engine only; it sets motor torques separately.
        let pedal_demand = PedalDemand { throttle: throttle.min(driver_throttle), brake, direction };
        shafts.begin_step(pedal_demand, model, dt);
        let Some(drive) = engine else { return 0.0 };
        let state = &state.drive;
        let speed = flywheel_speed(drive, state, throttle, controls.starter, full_load, dt);
        let (mut flywheel, clutch) = build_clutch_row(drive, state, controls, speed, shaft_speed, dt);
        if !model.assists().is_empty() && model.parts().assists.has_drive_changes() {
            let flywheel_speed_at =
                |throttle: f32| flywheel_speed(drive, state, throttle, controls.starter, full_load, dt);
            flywheel.speed_bounds = [
                flywheel_speed_at(0.0), // closed throttle
                if driver_throttle == throttle { speed } else { flywheel_speed_at(driver_throttle) },
            ];
            // With a pedal, between gears and with dry friction, the capacity does not follow the engine speed.
            let is_automatic = controls.clutch.is_none() && flywheel.dry_drag == 0.0 && !state.is_between_gears();
            shafts.clutch_law = match &drive.launch_device {
                LaunchDevice::Clutch(clutch) if is_automatic => Some(clutch.capacity_law(&drive.engine, dt)),
                _ => None,
            };
        }
        shafts.add_clutch_row(flywheel, clutch);
        clutch.shaft_impulse(clutch.impulse)
    }
}

impl WheelPack {
    /// Returns the share of the brake torque that remains at the temperature of each disc; 1 without discs.
    #[inline(always)]
    pub(crate) fn disc_torque_factors(&self, wheels: &[WheelState]) -> F32x4 {
        self.discs.map_or(F32x4::splat(1.0), |discs| discs.torque_factor(self.disc_temperatures(wheels)))
    }

    /// Returns the temperatures of the brake discs, K above the air.
    #[inline(always)]
    pub(crate) fn disc_temperatures(&self, wheels: &[WheelState]) -> F32x4 {
        let [a, b, c, d] = self.wheel_entries(wheels);
        F32x4::new([a.disc, b.disc, c.disc, d.disc])
    }
}

impl<W: WheelLanes> WheelPack<W> {
    /// Returns the torques of direct drive and of brakes, N m. `signed_throttle`: throttle times driving direction;
    /// `foot_brake`, `handbrake`: brake pedals, 0 to 1.
    #[inline(always)]
    pub(crate) fn pedal_torques(&self, [signed_throttle, foot_brake, handbrake]: [W; 3]) -> [W; 2] {
        [self.direct_torque * signed_throttle, foot_brake * self.brake_torque + handbrake * self.handbrake_torque]
    }
}

impl<W: WheelLanes> WheelRows<W> {
    /// Sets the impulses over `dt` s of direct drive and brake from the torques `motor` and `brake` (N m), and the
    /// shaft's impulse to 0. The spin momentum becomes `I ω` at the start of the step plus the impulse of direct drive.
    #[inline(always)]
    pub(crate) fn set_drive_impulses(&mut self, group: &WheelPack<W>, [motor, brake]: [W; 2], dt: f32) {
        let dt_lanes = W::splat(dt);
        self.drive.motor = motor * dt_lanes;
        self.drive.momentum = group.spin_inertia * self.start.spin + self.drive.motor;
        self.drive.brake = brake * dt_lanes;
        self.drive.shaft = W::default();
    }
}

/// Returns the speed at which the wheels turn row `i` (propeller shaft, motor or coupling), rad/s: the sum over all
/// wheels of their lever in row `i`, a Jacobian entry, times `spin`. The row's own gear ratio is left out.
#[inline(always)]
pub(crate) fn shaft_row_speed<W: WheelLanes>(
    groups: &[WheelPack<W>],
    rows: &[WheelRows<W>],
    i: usize,
    spin: impl Fn(&WheelRows<W>) -> W,
) -> W::Car {
    let mut sum = W::Car::default();
    // Each chunk has the rows of two axles.
    for (groups, rows) in groups.chunks(W::ROWS_PER_AXLE_PAIR).zip(rows.chunks(W::ROWS_PER_AXLE_PAIR)) {
        sum += W::sum_over_wheels(
            #[inline(always)]
            |k| groups[k].shaft_jacobian[i] * spin(&rows[k]),
        );
    }
    sum
}

/// Selects the direction of a car without an engine by [`DriveState::select_direction`], from the mean forward speed
/// over the ground of the wheels that touch it. Without contact the forward speed in the world counts.
/// `requested_gear`: requested gear, `None` forward; `walking_pace`: walking pace, m/s.
fn select_direction(state: &mut State, requested_gear: Option<i8>, walking_pace: f32) -> f32 {
    let State { drive, wheels, rotation, velocity, .. } = state;
    let ground_speed = || {
        let rolling_speeds = wheels.iter().filter(|wheel| wheel.contact).map(|wheel| wheel.rolling_speed);
        match rolling_speeds.clone().count() {
            0 => (*rotation * Vec3::X).dot(*velocity),
            contact_count => rolling_speeds.sum::<f32>() / contact_count as f32,
        }
    };
    drive.select_direction(requested_gear, || ground_speed() / walking_pace)
}

/// Builds the flywheel, which reaches `speed` rad/s without a clutch, and the row of its clutch or converter with the
/// impulse of the last step. `shaft_speed`: speed of the propeller shaft divided by the ratio of the final drive,
/// rad/s.
///
/// The clutch capacity over the step is 0 between gears. The pedal sets a manual clutch. An automatic clutch follows
/// the engine speed and stays closed on a dead engine. A converter whose lock-up is closed is a clutch of the lock-up's
/// capacity. A dead engine without starter has dry friction.
#[inline(always)]
fn build_clutch_row(
    drive: &EngineDrive,
    state: &DriveState,
    controls: &Controls,
    speed: f32,
    shaft_speed: f32,
    dt: f32,
) -> EngineAndClutch {
    let EngineDrive { engine, launch_device, gearbox, .. } = drive;
    let dry_drag = if controls.starter { 0.0 } else { engine.dry_drag(state.engine_speed) * dt };
    let flywheel = Flywheel { dry_drag, ..Flywheel::new(engine, [state.engine_speed, speed], dt) };
    let ratio = gearbox.ratio_at(state.gear, state.ratio);
    let capacity = match launch_device {
        // An open clutch also replaces a converter.
        _ if state.is_between_gears() => 0.0,
        LaunchDevice::Clutch(clutch) => {
            let engagement = match controls.clutch {
                Some(pedal) => clutch_engagement(pedal),
                // A dead engine stays engaged, as if parked in gear, until the starter turns it.
                None if dry_drag > 0.0 => 1.0,
                None => clutch.engagement(speed, engine, dt),
            };
            clutch.capacity * engagement * dt
        }
        LaunchDevice::Converter(converter) => match &converter.lock_up {
            Some(lock_up) if lock_up.is_closed(state.gear, shaft_speed * ratio) => lock_up.capacity * dt,
            _ => return (flywheel, DriveConstraint::converter(ratio, gearbox.efficiency, state.clutch * dt, dt)),
        },
    };
    let mut row = DriveConstraint::clutch(&flywheel, ratio, gearbox.efficiency, capacity, state.clutch * dt);
    if dry_drag > 0.0 {
        row.add_dry_friction(state.engine_speed, gearbox.efficiency, dry_drag, dt);
    }
    (flywheel, row)
}

/// Returns the engagement of a clutch, 0 to 1: `1 − pedal` with the pedal clamped to 0 (released) to 1 (pressed). NaN
/// counts as released.
#[inline(always)]
pub(crate) fn clutch_engagement(pedal: f32) -> f32 {
    1.0 - clamp_or_zero(pedal, 0.0, 1.0)
}

/// Returns the engine speed after `dt` s before the clutch acts, rad/s. `throttle` is the demand from 0 to 1, to which
/// the throttle map of the engine is applied; it counts as 0 during a shift. `full_load`: engine torque at full load, N
/// m.
#[inline(always)]
fn flywheel_speed(
    drive: &EngineDrive,
    state: &DriveState,
    throttle: f32,
    starter: bool,
    full_load: f32,
    dt: f32,
) -> f32 {
    let opening = state.throttle_opening(&drive.engine, throttle);
    let (engine, input) = (&drive.engine, EngineInput { throttle: opening, full_load, starter });
    engine.free_engine_speed(state.engine_speed, &input, || engine.torque.max_value(), dt)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::scene::Scene;
    use crate::model::{BrakeDisc, Model, plain::plain_car};
    use crate::state::Placement;
    use skidpad_simd::wheel_groups::ManyGroups;

    /// Checks that brake impulses are pedal times torque, handbrake included, times the share that a warm disc has. The
    /// front wheels have discs and a handbrake; the disc of wheel 1 is hot, the other is cold.
    #[test]
    fn brakes_hold_by_pedals_and_what_their_discs_have_left() {
        let mut parts = plain_car();
        let disc =
            BrakeDisc { heat_capacity: 1e4, cooling: [1.0, 0.0], fade_range: [300.0, 500.0], min_torque_factor: 0.5 };
        for wheel in &mut parts.wheels[..2] {
            (wheel.disc, wheel.handbrake_torque) = (Some(disc), 400.0);
        }
        let model = Model::new(parts).expect("valid");
        let mut state = State::at_rest(&model, &Scene::flat(), &Placement::default());
        state.wheels[1].disc = 400.0;
        let mut car = Vehicle::new(model.into(), state);
        let controls = Controls { brake: 0.5, handbrake: 1.0, ..Controls::default() };
        car.store_start_state::<ManyGroups>();
        car.apply_pedals::<ManyGroups>(
            &controls,
            &DriverDemand::from_controls(&controls, &car.model.parts().steering),
            0.01,
        );
        for (found, torque) in car.rows[0].drive.brake.lanes().into_iter().zip([900.0, 675.0, 500.0, 500.0]) {
            // Rounding of 9 N m s in f32.
            assert!((found - 0.01 * torque).abs() < 1e-5, "{found} N m s of {torque} N m");
        }
    }
}
