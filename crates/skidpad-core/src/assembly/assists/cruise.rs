//! Cruise control: motors, the engine and, if allowed, the brakes produce the force that holds a speed.

use crate::assist_log::{Assist, Contribution};
use crate::assists::parameters::CruiseControl;
use crate::assists::{DriverDemand, first_order_share};
use crate::drivetrain::motor::MAX_MOTORS;
use crate::model::wheel_pack::WheelPack;
use crate::simd::lane::{F32x4, Lane};
use crate::vehicle::Vehicle;

/// Least time constant of the force, s. Tyres build up their force within some milliseconds. A faster force would demand a pending
/// acceleration again, and brakes and motors would oscillate at 1 kHz. A slower one lacks the torque that heavy rotors absorb for too long.
const FORCE_TIME_CONSTANT_S: f32 = 0.01;

/// Speed deficit of the engine against its geared speed, as a share of that, above which the engine is still being synchronised.
const SYNCHRONISING_DEFICIT: f32 = 0.02;

/// Travel of the car in which the force follows at low speed, m: twice a usual relaxation length. Tyres and wheels oscillate there, and a
/// faster force would sustain the oscillation.
const FORCE_DISTANCE_M: f32 = 0.2;

impl Vehicle {
    /// Drives the car towards `speed` m/s with direct drives, then motors, then the engine, then brakes. Each produces the part of the required
    /// impulse that the ones before lack, but no less than the driver's throttle demands. Motors regenerate and brakes act only if the control may
    /// brake and the driver's throttle is closed; brakes wait while the engine is being synchronised. Logs the changes of direct drive, engine and
    /// brakes. Returns the position of the brake pedal, 0 to 1.
    pub(crate) fn control_cruise(&mut self, control: &CruiseControl, speed: f32, asked: &DriverDemand, dt: f32) -> f32 {
        let brakes = control.may_brake && asked.driver_throttle == 0.0;
        // Unit vector forward, world frame.
        let along = self.state.rotation * crate::Vec3::X;
        let gained = (self.state.velocity - self.state.previous_velocity).dot(along);
        // Forward impulse still required, N s.
        let mut missing = self.cruise_impulse(control, speed - self.state.velocity.dot(along), gained, dt);
        let (direct, added) = self.drive_direct_motors(missing, asked.driver_throttle, dt);
        missing -= direct;
        missing -= self.set_cruise_motors(missing, brakes, gained, dt);
        let (engine, pulled) = self.drive_with_engine(missing, gained);
        missing -= engine;
        // A car that rolls backwards is braked by the force that its drive does not produce yet.
        let braking = if self.forward_speed() < 0.0 { missing } else { -missing };
        let pedal = if brakes && !self.is_synchronising() { self.brake_with_pedal(braking, dt) } else { 0.0 };
        self.log_contribution(
            Assist::CruiseControl,
            Contribution { engine_torque: (added + pulled) / dt, ..Contribution::default() },
        );
        pedal
    }

    /// Returns the impulse that driven wheels have to exert, N s, on a car that is `slower` than its target by so many m/s and gained `gained` m/s in
    /// the last step: `(F + m (a_demanded − a) share) dt`, plus the impulse against brakes and rolling resistance. The demanded acceleration is
    /// `slower` over the time constant, within the largest acceleration.
    ///
    /// The force is that of the last step plus a share of mass times missing acceleration. The share is that of a first-order lag, slower at low
    /// speed. The measured acceleration contains slopes, wind and a changed gear, so the controller needs no integrator that could wind up.
    fn cruise_impulse(&self, control: &CruiseControl, slower: f32, gained: f32, dt: f32) -> f32 {
        let most = control.max_acceleration;
        let missing = (slower / (control.time_constant + dt)).clamp(-most, most) - gained / dt;
        let wheels = self.state.wheels.iter().zip(self.model.wheels());
        let driven: f32 = wheels.map(|(now, of)| now.torque / of.radius).sum();
        // Largest impulse of brakes and rolling resistance, N s.
        let held = self.model.wheel_packs().iter().zip(&self.rows);
        let held: f32 =
            held.map(|(bank, rows)| (rows.tyre.locking_capacity / bank.radius).masked(bank.present_mask()).sum()).sum();
        let share =
            first_order_share(FORCE_TIME_CONSTANT_S.max(FORCE_DISTANCE_M / self.forward_speed().abs().max(1.0)), dt);
        (driven + self.model.rolling_mass() * missing * share) * dt + held
    }

    /// Returns true while a shift or a slipping clutch turns the engine to the speed of a gear: between gears, or with the engine slower than its
    /// geared speed by more than [`SYNCHRONISING_DEFICIT`]. Its drag then ends by itself, and brakes that continued it would stop the car. False
    /// without an engine.
    fn is_synchronising(&self) -> bool {
        let Some(drive) = self.model.parts().powertrain.engine() else { return false };
        let state = &self.state.drive;
        let wheels = self.state.wheels.iter().zip(self.model.wheels());
        let rolling = wheels.map(|(now, of)| now.rolling_speed / of.radius);
        let shaft: f32 = drive.torque_shares.iter().zip(rolling).map(|(share, rolling)| share * rolling).sum();
        let geared = shaft * drive.gearbox.ratio_at(state.gear, state.ratio);
        state.is_between_gears() || geared - state.engine_speed > SYNCHRONISING_DEFICIT * geared.abs()
    }

    /// Reduces direct drive from full throttle, which is already applied, to push with `push` N s, at least with the driver's throttle `asked` (0 to
    /// 1). Returns the impulse on the car, N s, and the angular impulse beyond that throttle, N m s; both 0 without direct drive.
    fn drive_direct_motors(&mut self, push: f32, asked: f32, dt: f32) -> (f32, f32) {
        let banks = self.model.wheel_packs();
        let full: f32 =
            banks.iter().map(|bank| (bank.direct_torque / bank.radius).masked(bank.present_mask()).sum() * dt).sum();
        if full <= 0.0 {
            return (0.0, 0.0);
        }
        let throttle = (push / full).clamp(asked, 1.0);
        // Angular impulse of all direct drives at full throttle, N m s.
        let mut whole = 0.0;
        for (bank, rows) in banks.iter().zip(&mut self.rows) {
            let changed = bank.direct_torque * F32x4::splat((throttle - 1.0) * dt);
            rows.drive.motor += changed;
            rows.drive.momentum += changed;
            whole += bank.direct_torque.sum() * dt;
        }
        (throttle * full, (throttle - asked) * whole)
    }

    /// Sets the torques of all motors to push with `push` N s, each with the same share (0 to 1) of its range. The range ends at full drive or, for a
    /// negative push, at the least torque: full regeneration if cruise control `brakes`, else the demand of the pedals. Returns their impulse on the
    /// car, N s. The torque for rotors to follow a car that gains `gained` m/s per step is added to each motor, but not counted.
    fn set_cruise_motors(&mut self, push: f32, brakes: bool, gained: f32, dt: f32) -> f32 {
        let model = &self.model;
        let [first, _] = self.shafts.first_rows(model);
        // Per motor: least torque, torque at the end of the range towards `push`, N s per N m, and the torque its rotor absorbs.
        let mut motors = [[0.0; 4]; MAX_MOTORS];
        // Impulse on the car with all motors at the ends of their ranges, N s.
        let mut whole = 0.0;
        for (k, motor) in model.parts().motors.iter().enumerate() {
            let [pedals, regenerating, full] = self.shafts.motor_torque_range(motor, k);
            let least = if brakes { regenerating } else { pedals };
            let end = if push < 0.0 { least.min(0.0) } else { full };
            let per_turn: f32 =
                model.wheel_packs().iter().map(|bank| (bank.shaft_jacobian[first + k] / bank.radius).sum()).sum();
            let per_torque = self.shafts.constraints[first + k].torque_ratio(end) * per_turn * dt;
            motors[k] = [least, end, per_torque, motor.inertia * motor.reduction * per_turn * gained / dt];
            whole += end * per_torque;
        }
        let share = if whole == 0.0 { 0.0 } else { (push / whole).clamp(0.0, 1.0) };
        let mut given = 0.0;
        for (k, [least, end, per_torque, rotor]) in motors.iter().enumerate().take(model.parts().motors.len()) {
            let torque = (share * end).max(*least);
            self.shafts.set_cruise_torque(k, torque + rotor);
            given += torque * per_torque;
        }
        given
    }

    /// Sets the engine to push with `push` N s, at least with the driver's throttle and at most with all its torque. Returns its impulse on the car,
    /// N s, and the impulse beyond that throttle, N m s at the crankshaft; both 0 without an engine or out of gear. The shaft speed at the end of the
    /// step is that of a car that gains `gained` m/s, so that the impulse to accelerate the engine is included.
    fn drive_with_engine(&mut self, push: f32, gained: f32) -> (f32, f32) {
        if self.shafts.engine_ratio().is_none() {
            return (0.0, 0.0);
        }
        // Mean radius, m, and propeller shaft speed at the end of the step, rad/s.
        let (mut radius, mut turning) = (0.0, 0.0);
        for bank in self.model.wheel_packs() {
            radius += (bank.shaft_jacobian[0] * bank.radius).sum();
            let gained = F32x4::splat(gained) / bank.radius;
            turning += (bank.shaft_jacobian[0] * (bank.gather(|i| self.state.wheels[i].spin) + gained)).sum();
        }
        let [least, most] = self.shafts.shaft_impulse_range(&self.model, turning).map(|shaft| shaft / radius);
        (push.min(most).max(least), self.shafts.set_shaft_impulse(&self.model, &mut self.rows, push * radius, turning))
    }

    /// Brakes with up to `push` N s, distributed like the foot brake: adds to the brakes' impulses and locking capacities, with faded discs, and logs
    /// the torque. Returns the corresponding position of the brake pedal, 0 to 1; 0 for a push that is not positive.
    fn brake_with_pedal(&mut self, push: f32, dt: f32) -> f32 {
        let (model, wheels) = (&self.model, &self.state.wheels);
        let brakes = |bank: &WheelPack| bank.brake_torque * bank.disc_torque_factors(wheels) * F32x4::splat(dt);
        let full: f32 =
            model.wheel_packs().iter().map(|bank| (brakes(bank) / bank.radius).masked(bank.present_mask()).sum()).sum();
        if push <= 0.0 || full <= 0.0 {
            return 0.0;
        }
        let pedal = (push / full).min(1.0);
        let mut added = 0.0;
        for (bank, rows) in model.wheel_packs().iter().zip(&mut self.rows) {
            let more = brakes(bank) * F32x4::splat(pedal);
            rows.drive.brake += more;
            rows.tyre.locking_capacity += more;
            added += more.sum();
        }
        self.log_contribution(
            Assist::CruiseControl,
            Contribution { brake_torque: added / dt, ..Contribution::default() },
        );
        pedal
    }
}
