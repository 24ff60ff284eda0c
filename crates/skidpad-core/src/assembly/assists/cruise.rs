//! Cruise control: motors, the engine and, if allowed, the brakes produce the force that holds a speed.

use crate::assist_log::{Assist, Contribution};
use crate::assists::parameters::CruiseControl;
use crate::assists::{DriverDemand, first_order_share};
use crate::drivetrain::motor::MAX_MOTORS;
use crate::model::wheel_pack::WheelPack;
use crate::vehicle::Vehicle;
use skidpad_simd::lane::{F32x4, Lane};

/// Least time constant of the force, s. Tyres build up their force within some milliseconds. A faster force would
/// demand a pending acceleration again, and brakes and motors would oscillate at 1 kHz. A slower one lacks the torque
/// that heavy rotors absorb for too long.
const FORCE_TIME_CONSTANT_S: f32 = 0.01;

/// Speed deficit of the engine against its geared speed, as a share of that, above which the engine is still being
/// synchronised.
const SYNCHRONISING_DEFICIT: f32 = 0.02;

/// Travel of the car in which the force follows at low speed, m: twice a usual relaxation length. Tyres and wheels
/// oscillate there, and a faster force would sustain the oscillation.
const FORCE_DISTANCE_M: f32 = 0.2;

impl Vehicle {
    /// Drives the car towards `speed` m/s with direct drives, then motors, then the engine, then brakes. Each of them
    /// produces the part of the required impulse that the drives before could not, but no less than the driver's
    /// throttle demands. Motors regenerate and brakes act only if the control may brake and the driver's throttle is
    /// closed. Brakes wait while the engine is being synchronised.
    ///
    /// Logs the changes of direct drive and engine together, and those of the brakes. Returns the position of the brake
    /// pedal that corresponds to the brakes' part, 0 to 1; 0 if they do not act.
    pub(crate) fn control_cruise(
        &mut self,
        control: &CruiseControl,
        speed: f32,
        demand: &DriverDemand,
        dt: f32,
    ) -> f32 {
        let can_brake = control.may_brake && demand.driver_throttle == 0.0;
        // Unit vector forward, world frame.
        let forward = self.state.rotation * crate::Vec3::X;
        // Forward speed gained in the last step, m/s.
        let speed_gain = (self.state.velocity - self.state.previous_velocity).dot(forward);
        // Forward impulse still required, N s.
        let mut missing_impulse =
            self.cruise_impulse(control, speed - self.state.velocity.dot(forward), speed_gain, dt);
        // `direct_change`, `engine_change`: angular impulses beyond the driver's throttle, N m s.
        let (direct_impulse, direct_change) = self.drive_direct_motors(missing_impulse, demand.driver_throttle, dt);
        missing_impulse -= direct_impulse;
        missing_impulse -= self.set_cruise_motors(missing_impulse, can_brake, speed_gain, dt);
        let (engine_impulse, engine_change) = self.drive_with_engine(missing_impulse, speed_gain);
        missing_impulse -= engine_impulse;
        // A car that rolls backwards is braked by the force that its drive does not produce yet.
        let braking_impulse = if self.forward_speed() < 0.0 { missing_impulse } else { -missing_impulse };
        let pedal =
            if can_brake && !self.is_synchronising() { self.brake_with_pedal(braking_impulse, dt) } else { 0.0 };
        self.log_contribution(
            Assist::CruiseControl,
            Contribution { engine_torque: (direct_change + engine_change) / dt, ..Contribution::default() },
        );
        pedal
    }

    /// Returns the impulse that driven wheels have to exert, N s, on a car that is `speed_deficit` m/s slower than its
    /// target and gained `speed_gain` m/s in the last step: `(F + m (a_demanded − a) lag_share) dt`, plus the impulse
    /// against brakes and rolling resistance. The demanded acceleration is `speed_deficit` over the time constant,
    /// within the largest acceleration.
    ///
    /// The force is that of the last step plus a share of mass times missing acceleration. The share is that of a
    /// first-order lag, slower at low speed. The measured acceleration contains slopes, wind and a changed gear, so the
    /// controller needs no integrator that could wind up.
    fn cruise_impulse(&self, control: &CruiseControl, speed_deficit: f32, speed_gain: f32, dt: f32) -> f32 {
        let max_acceleration = control.max_acceleration;
        let missing_acceleration =
            (speed_deficit / (control.time_constant + dt)).clamp(-max_acceleration, max_acceleration) - speed_gain / dt;
        let wheels = self.state.wheels.iter().zip(self.model.wheels());
        let driving_force: f32 = wheels.map(|(wheel_state, wheel)| wheel_state.torque / wheel.radius).sum();
        // Largest impulse of brakes and rolling resistance, N s.
        let groups_and_rows = self.model.wheel_packs().iter().zip(&self.rows);
        let brake_impulse: f32 = groups_and_rows
            .map(|(group, rows)| (rows.tyre.locking_capacity / group.radius).masked(group.present_mask()).sum())
            .sum();
        // Time for FORCE_DISTANCE_M at the present speed (1 m/s or more), or FORCE_TIME_CONSTANT_S if that is longer.
        let lag_share =
            first_order_share(FORCE_TIME_CONSTANT_S.max(FORCE_DISTANCE_M / self.forward_speed().abs().max(1.0)), dt);
        (driving_force + self.model.rolling_mass() * missing_acceleration * lag_share) * dt + brake_impulse
    }

    /// Returns true while a shift or a slipping clutch turns the engine to the speed of a gear: between gears, or with
    /// the engine slower than its geared speed by more than [`SYNCHRONISING_DEFICIT`]. The drag of the engine then ends
    /// by itself, and brakes that continued it would stop the car. False without an engine.
    fn is_synchronising(&self) -> bool {
        let Some(drive) = self.model.parts().powertrain.engine() else { return false };
        let state = &self.state.drive;
        let wheels = self.state.wheels.iter().zip(self.model.wheels());
        let rolling_spin = wheels.map(|(wheel_state, wheel)| wheel_state.rolling_speed / wheel.radius);
        let shaft_speed: f32 =
            drive.torque_shares.iter().zip(rolling_spin).map(|(share, rolling_spin)| share * rolling_spin).sum();
        let geared_speed = shaft_speed * drive.gearbox.ratio_at(state.gear, state.ratio);
        state.is_between_gears() || geared_speed - state.engine_speed > SYNCHRONISING_DEFICIT * geared_speed.abs()
    }

    /// Reduces direct drive from full throttle, which is already applied, to the throttle that pushes with
    /// `required_impulse` N s, at least `driver_throttle` (0 to 1). Changes the wheels' drive impulses and momenta.
    /// Returns the impulse on the car, N s, and the angular impulse beyond that of `driver_throttle`, N m s; both 0
    /// without direct drive.
    fn drive_direct_motors(&mut self, required_impulse: f32, driver_throttle: f32, dt: f32) -> (f32, f32) {
        let groups = self.model.wheel_packs();
        let full_impulse: f32 = groups
            .iter()
            .map(|group| (group.direct_torque / group.radius).masked(group.present_mask()).sum() * dt)
            .sum();
        if full_impulse <= 0.0 {
            return (0.0, 0.0);
        }
        let throttle = (required_impulse / full_impulse).clamp(driver_throttle, 1.0);
        // Angular impulse of all direct drives at full throttle, N m s.
        let mut full_angular_impulse = 0.0;
        for (group, rows) in groups.iter().zip(&mut self.rows) {
            // Less than full throttle: the change is negative.
            let change = group.direct_torque * F32x4::splat((throttle - 1.0) * dt);
            rows.drive.motor += change;
            rows.drive.momentum += change;
            full_angular_impulse += group.direct_torque.sum() * dt;
        }
        (throttle * full_impulse, (throttle - driver_throttle) * full_angular_impulse)
    }

    /// Sets the torques of all motors to push with `required_impulse` N s, each with the same share (0 to 1) of its
    /// range. The range ends at full drive or, for a negative push, at the least torque (at most 0): full regeneration
    /// if `can_brake`, else the demand of the pedals. No motor gets less than its least torque.
    ///
    /// Returns the motors' impulse on the car, N s; 0 without motors. Each motor also gets the torque with which its
    /// rotor follows a car that gains `speed_gain` m/s per step; this part does not count in the result.
    fn set_cruise_motors(&mut self, required_impulse: f32, can_brake: bool, speed_gain: f32, dt: f32) -> f32 {
        let model = &self.model;
        let [first_motor_row, _] = self.shafts.first_rows(model);
        // Per motor: least torque, torque at the end of the range towards `required_impulse`, N s per N m, and the
        // torque its rotor absorbs.
        let mut motors = [[0.0; 4]; MAX_MOTORS];
        // Impulse on the car with all motors at the ends of their ranges, N s.
        let mut full_impulse = 0.0;
        for (k, motor) in model.parts().motors.iter().enumerate() {
            let [pedal_torque, regeneration_torque, full_torque] = self.shafts.motor_torque_range(motor, k);
            let min_torque = if can_brake { regeneration_torque } else { pedal_torque };
            let end_torque = if required_impulse < 0.0 { min_torque.min(0.0) } else { full_torque };
            let angle_per_metre: f32 = model
                .wheel_packs()
                .iter()
                .map(|group| (group.shaft_jacobian[first_motor_row + k] / group.radius).sum())
                .sum();
            let impulse_per_torque =
                self.shafts.constraints[first_motor_row + k].torque_ratio(end_torque) * angle_per_metre * dt;
            motors[k] = [
                min_torque,
                end_torque,
                impulse_per_torque,
                motor.inertia * motor.reduction * angle_per_metre * speed_gain / dt,
            ];
            full_impulse += end_torque * impulse_per_torque;
        }
        // No motor, or none with a torque in that direction.
        let share = if full_impulse == 0.0 { 0.0 } else { (required_impulse / full_impulse).clamp(0.0, 1.0) };
        let mut car_impulse = 0.0;
        for (k, [min_torque, end_torque, impulse_per_torque, rotor_torque]) in
            motors.iter().enumerate().take(model.parts().motors.len())
        {
            let torque = (share * end_torque).max(*min_torque);
            self.shafts.set_cruise_torque(k, torque + rotor_torque);
            car_impulse += torque * impulse_per_torque;
        }
        car_impulse
    }

    /// Sets the engine to push with `required_impulse` N s, at least with the driver's throttle and at most with all
    /// its torque. Returns the engine's impulse on the car, N s, and the impulse beyond that of the driver's throttle,
    /// N m s at the crankshaft; both 0 without an engine or out of gear. The shaft speed at the end of the step is that
    /// of a car that gains `speed_gain` m/s, so that the impulse to accelerate the engine is included.
    fn drive_with_engine(&mut self, required_impulse: f32, speed_gain: f32) -> (f32, f32) {
        if self.shafts.engine_ratio().is_none() {
            return (0.0, 0.0);
        }
        // Mean radius, m, and propeller shaft speed at the end of the step, rad/s.
        let (mut radius, mut shaft_speed) = (0.0, 0.0);
        for group in self.model.wheel_packs() {
            radius += (group.shaft_jacobian[0] * group.radius).sum();
            let spin_gain = F32x4::splat(speed_gain) / group.radius;
            shaft_speed += (group.shaft_jacobian[0] * (group.gather(|i| self.state.wheels[i].spin) + spin_gain)).sum();
        }
        // Impulses on the car with the driver's throttle and with all torque, N s.
        let [min_impulse, max_impulse] =
            self.shafts.shaft_impulse_range(&self.model, shaft_speed).map(|shaft_impulse| shaft_impulse / radius);
        (
            required_impulse.min(max_impulse).max(min_impulse),
            self.shafts.reduce_engine_to_shaft_impulse(
                &self.model,
                &mut self.rows,
                required_impulse * radius,
                shaft_speed,
            ),
        )
    }

    /// Brakes with up to `required_impulse` N s, distributed like the foot brake, with faded discs. Adds to the brakes'
    /// impulses and locking capacities, and logs the torque. Returns the corresponding position of the brake pedal, 0
    /// to 1; 0 for an impulse that is not positive.
    fn brake_with_pedal(&mut self, required_impulse: f32, dt: f32) -> f32 {
        let (model, wheels) = (&self.model, &self.state.wheels);
        // Angular impulses of the foot brakes at full pedal, N m s.
        let full_pedal_impulses =
            |group: &WheelPack| group.brake_torque * group.disc_torque_factors(wheels) * F32x4::splat(dt);
        let full_impulse: f32 = model
            .wheel_packs()
            .iter()
            .map(|group| (full_pedal_impulses(group) / group.radius).masked(group.present_mask()).sum())
            .sum();
        if required_impulse <= 0.0 || full_impulse <= 0.0 {
            return 0.0;
        }
        let pedal = (required_impulse / full_impulse).min(1.0);
        let mut added_impulse = 0.0;
        for (group, rows) in model.wheel_packs().iter().zip(&mut self.rows) {
            let change = full_pedal_impulses(group) * F32x4::splat(pedal);
            rows.drive.brake += change;
            rows.tyre.locking_capacity += change;
            added_impulse += change.sum();
        }
        self.log_contribution(
            Assist::CruiseControl,
            Contribution { brake_torque: added_impulse / dt, ..Contribution::default() },
        );
        pedal
    }
}
