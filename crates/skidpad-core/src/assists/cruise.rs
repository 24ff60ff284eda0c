//! Cruise control: motors, the engine and, if allowed, the brakes produce the force that holds a speed.

use crate::assists::assist_log::{Assist, Contribution};
use crate::assists::parameters::CruiseControl;
use crate::assists::{DriverDemand, approach};
use crate::drivetrain::motor::MAX_MOTORS;
use crate::lane::{Four, Lane};
use crate::step::vehicle::Vehicle;
use crate::wheel::pack::WheelPack;

/// Least time constant of the force, s. Tyres build up their force within some milliseconds. A faster force would demand a pending
/// acceleration again, and brakes and motors would oscillate at 1 kHz. A slower one lacks the torque that heavy rotors absorb for too long.
const FORCE_RESPONSE: f32 = 0.01;

/// Speed deficit of the engine against its geared speed, as a share of that, above which the engine is still being synchronised.
const CATCHES_UP: f32 = 0.02;

/// Travel of the car in which the force follows at low speed, m: twice a usual relaxation length. Tyres and wheels oscillate there, and a
/// faster force would sustain the oscillation.
const FORCE_DISTANCE: f32 = 0.2;

impl Vehicle {
    /// Drives the car towards `speed` m/s with motors, then the engine, then brakes. Each produces the part that the ones before lack, but
    /// no less than the driver's throttle demands. Returns the position of the brake pedal, 0 to 1.
    pub(crate) fn cruise(&mut self, control: &CruiseControl, speed: f32, asked: &DriverDemand, dt: f32) -> f32 {
        let brakes = control.may_brake && asked.own_throttle == 0.0;
        let along = self.state.rotation * crate::Vec3::X;
        let gained = (self.state.velocity - self.state.previous_velocity).dot(along);
        let mut missing = self.wanted_push(control, speed - self.state.velocity.dot(along), gained, dt);
        let (direct, added) = self.drive_direct_motors(missing, asked.own_throttle, dt);
        missing -= direct;
        missing -= self.order_motors(missing, brakes, gained, dt);
        let (engine, pulled) = self.pull_engine(missing, gained);
        missing -= engine;
        // A car that rolls backwards is braked by the force that its drive does not produce yet.
        let braking = if self.forward_speed() < 0.0 { missing } else { -missing };
        let pedal = if brakes && !self.is_clutch_catching_up() { self.brake_against(braking, dt) } else { 0.0 };
        self.count(
            Assist::CruiseControl,
            Contribution { engine_torque: (added + pulled) / dt, ..Contribution::default() },
        );
        pedal
    }

    /// Returns the impulse that driven wheels have to exert, N s, on a car that is `slower` than its target by so many m/s and `gained` m/s in the
    /// last step.
    ///
    /// The force is that of the last step plus a share of mass times missing acceleration. The measured acceleration contains slopes, wind and a
    /// changed gear, so the controller needs no integrator that could wind up.
    fn wanted_push(&self, control: &CruiseControl, slower: f32, gained: f32, dt: f32) -> f32 {
        let most = control.largest_acceleration;
        let missing = (slower / (control.response + dt)).clamp(-most, most) - gained / dt;
        let wheels = self.state.wheels.iter().zip(self.model.wheels());
        let driven: f32 = wheels.map(|(now, of)| now.torque / of.radius).sum();
        let held = self.model.banks().iter().zip(&self.rows);
        let held: f32 =
            held.map(|(bank, rows)| (rows.tyre.locking_capacity / bank.radius).only(bank.present()).sum()).sum();
        let share = approach(FORCE_RESPONSE.max(FORCE_DISTANCE / self.forward_speed().abs().max(1.0)), dt);
        (driven + self.model.rolling_mass() * missing * share) * dt + held
    }

    /// Returns true while a shift or a slipping clutch turns the engine to the speed of a gear. Its drag then ends by itself, and brakes that
    /// continued it would stop the car.
    fn is_clutch_catching_up(&self) -> bool {
        let Some(drive) = self.model.parts().powertrain.engine() else { return false };
        let state = &self.state.drive;
        let wheels = self.state.wheels.iter().zip(self.model.wheels());
        let rolling = wheels.map(|(now, of)| now.rolling_speed / of.radius);
        let shaft: f32 = drive.shares.iter().zip(rolling).map(|(share, rolling)| share * rolling).sum();
        let geared = shaft * drive.gearbox.ratio_at(state.gear, state.ratio);
        state.is_between_gears() || geared - state.engine_speed > CATCHES_UP * geared.abs()
    }

    /// Reduces direct drive from full throttle to push with `push` N s, at least with the driver's throttle `asked`. Returns the impulse on the
    /// car, N s, and the angular impulse beyond that throttle, N m s.
    fn drive_direct_motors(&mut self, push: f32, asked: f32, dt: f32) -> (f32, f32) {
        let banks = self.model.banks();
        let full: f32 = banks.iter().map(|bank| (bank.direct / bank.radius).only(bank.present()).sum() * dt).sum();
        if full <= 0.0 {
            return (0.0, 0.0);
        }
        let throttle = (push / full).clamp(asked, 1.0);
        let mut whole = 0.0;
        for (bank, rows) in banks.iter().zip(&mut self.rows) {
            let changed = bank.direct * Four::splat((throttle - 1.0) * dt);
            rows.drive.motor += changed;
            rows.drive.momentum += changed;
            whole += bank.direct.sum() * dt;
        }
        (throttle * full, (throttle - asked) * whole)
    }

    /// Sets the torques of all motors to push with `push` N s, each with the same share of its range, which includes regeneration if cruise
    /// control `brakes`. Returns their impulse on the car, N s. Torque for rotors to follow a car that gains `gained` m/s is added.
    fn order_motors(&mut self, push: f32, brakes: bool, gained: f32, dt: f32) -> f32 {
        let model = &self.model;
        let [first, _] = self.shafts.first_rows(model);
        // Per motor: least torque, torque at the end of the range towards `push`, N s per N m, and the torque its rotor absorbs.
        let mut motors = [[0.0; 4]; MAX_MOTORS];
        let mut whole = 0.0;
        for (k, motor) in model.parts().motors.iter().enumerate() {
            let [pedals, regenerating, full] = self.shafts.motor_range(motor, k);
            let least = if brakes { regenerating } else { pedals };
            let end = if push < 0.0 { least.min(0.0) } else { full };
            let per_turn: f32 = model.banks().iter().map(|bank| (bank.levers[first + k] / bank.radius).sum()).sum();
            let per_torque = self.shafts.constraints[first + k].torque_ratio(end) * per_turn * dt;
            motors[k] = [least, end, per_torque, motor.inertia * motor.reduction * per_turn * gained / dt];
            whole += end * per_torque;
        }
        let share = if whole == 0.0 { 0.0 } else { (push / whole).clamp(0.0, 1.0) };
        let mut given = 0.0;
        for (k, [least, end, per_torque, rotor]) in motors.iter().enumerate().take(model.parts().motors.len()) {
            let torque = (share * end).max(*least);
            self.shafts.drive_motor(k, torque + rotor);
            given += torque * per_torque;
        }
        given
    }

    /// Sets the engine to push with `push` N s, at least with the driver's throttle. Returns its impulse on the car, N s, and the impulse beyond
    /// that throttle, N m s at the crankshaft. The impulse for the engine to follow a car that gains `gained` m/s is added.
    fn pull_engine(&mut self, push: f32, gained: f32) -> (f32, f32) {
        if self.shafts.engine_ratio().is_none() {
            return (0.0, 0.0);
        }
        let (mut radius, mut turning) = (0.0, 0.0);
        for bank in self.model.banks() {
            radius += (bank.levers[0] * bank.radius).sum();
            let gained = Four::splat(gained) / bank.radius;
            turning += (bank.levers[0] * (bank.gather(|i| self.state.wheels[i].spin) + gained)).sum();
        }
        let [least, most] = self.shafts.range_of_pull(&self.model, turning).map(|shaft| shaft / radius);
        (push.min(most).max(least), self.shafts.pull(&self.model, &mut self.rows, push * radius, turning))
    }

    /// Brakes with up to `push` N s, distributed like the foot brake. Returns the corresponding position of the brake pedal, 0 to 1.
    fn brake_against(&mut self, push: f32, dt: f32) -> f32 {
        let (model, wheels) = (&self.model, &self.state.wheels);
        let brakes = |bank: &WheelPack| bank.brake_torque * bank.disc_shares(wheels) * Four::splat(dt);
        let full: f32 = model.banks().iter().map(|bank| (brakes(bank) / bank.radius).only(bank.present()).sum()).sum();
        if push <= 0.0 || full <= 0.0 {
            return 0.0;
        }
        let pedal = (push / full).min(1.0);
        let mut added = 0.0;
        for (bank, rows) in model.banks().iter().zip(&mut self.rows) {
            let more = brakes(bank) * Four::splat(pedal);
            rows.drive.brake += more;
            rows.tyre.locking_capacity += more;
            added += more.sum();
        }
        self.count(Assist::CruiseControl, Contribution { brake_torque: added / dt, ..Contribution::default() });
        pedal
    }
}
