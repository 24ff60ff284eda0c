//! Pedals to torques: engine, clutch, gearbox, differentials, brakes.
//!
//! Clutch and locked differentials are rows between spins. They are solved before the wheel blocks, each wheel standing
//! in with its inertia *and* the grip of its tyre, so no shaft stiffness limits the step.

use super::Vehicle;
use super::rows::Rows;
use crate::Controls;
use crate::controls::bounded;
use crate::lane::{Four, Lane};
use crate::model::{Bank, Engine, EngineDrive, Gearbox, MAX_LOCKS, Model};
use crate::state::DriveState;

/// Time constant of the idle governor, s: slower stalls under a dropped clutch, faster hunts at 30 Hz.
const IDLE_RESPONSE: f32 = 0.1;

/// Share of the limiter speed over which it takes the torque away.
const LIMITER_BAND: f32 = 0.02;

/// Least time between two automatic shifts, s, so that a shift's own transient does not trigger the next.
const SHIFT_PAUSE: f32 = 0.5;

/// Passes over the shaft rows when locked differentials tie them together.
const COUPLED_PASSES: usize = 8;

/// Change of the clutch's impulse, as a share of its capacity, so small that no wheel can have begun or ceased to slide
/// unnoticed; the Newton step itself is exact while none does.
const SETTLED_CLUTCH: f32 = 0.02;

/// Largest raw torque accepted at a wheel, N m.
const LARGEST_TORQUE: f32 = 1e6;

/// Workspace of the drivetrain, rebuilt every step. Impulses in N m s.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shafts {
    engine: bool,
    /// Engine turns per turn of the propeller shaft's wheels.
    ratio: f32,
    efficiency: f32,
    /// Largest impulse through the clutch.
    capacity: f32,
    /// Engine speed before the clutch acts, rad/s.
    engine_speed: f32,
    inverse_inertia: f32,
    clutch: f32,
    locks: [f32; MAX_LOCKS],
}

impl Shafts {
    pub(super) fn write_back(&self, drive: &mut DriveState, dt: f32) {
        if self.engine {
            drive.engine_speed = (self.engine_speed - self.clutch * self.inverse_inertia).max(0.0);
            drive.clutch = self.clutch / dt;
            drive.locks = self.locks.map(|l| l / dt);
        }
    }

    /// Torque on the wheels per torque through the clutch: losses are taken in the direction the power flows.
    fn torque_ratio(&self, clutch: f32) -> f32 {
        if clutch >= 0.0 { self.ratio * self.efficiency } else { self.ratio / self.efficiency }
    }
}

impl Vehicle {
    /// Torques of motor and brakes at every wheel; engine torque, gear and clutch.
    pub(super) fn drive(&mut self, controls: &Controls, dt: f32) {
        let throttle = bounded(controls.throttle, 0.0, 1.0);
        let foot = bounded(controls.brake, 0.0, 1.0);
        let hand = bounded(controls.handbrake, 0.0, 1.0);
        let towards = match controls.gear {
            Some(gear) => f32::from(gear.signum()),
            None => 1.0,
        };
        let (step, pull) = (Four::splat(dt), Four::splat(throttle * towards));
        let mut turning = 0.0;
        for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
            let mut motor = bank.direct * pull;
            let mut brake = Four::splat(foot) * bank.brake_torque + Four::splat(hand) * bank.handbrake_torque;
            if !controls.wheels.is_empty() {
                let raw = |i: usize| controls.wheels.get(i).copied().unwrap_or_default();
                motor += bank.gather(|i| bounded(raw(i).motor_torque, -LARGEST_TORQUE, LARGEST_TORQUE));
                brake += bank.gather(|i| bounded(raw(i).brake_torque, 0.0, LARGEST_TORQUE));
            }
            let spin = bank.gather(|i| self.state.wheels[i].spin);
            turning += (bank.share * spin).sum();
            rows.motor = motor * step;
            rows.momentum = bank.spin_inertia * spin + rows.motor;
            rows.brake = brake * step;
            rows.shaft = Four::default();
        }
        self.shafts = Shafts::default();
        if let Some(drive) = self.model.parts().powertrain.engine() {
            self.state.drive.select_gear(&drive.gearbox, controls.gear, turning, dt);
            self.shafts = engage(drive, &self.state.drive, controls, throttle, dt);
            let shaft = Four::splat(self.shafts.torque_ratio(self.shafts.clutch) * self.shafts.clutch);
            for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
                rows.shaft = bank.share * shaft;
            }
        } else {
            self.state.drive.gear = controls.gear.unwrap_or(1);
        }
    }

    /// Solves clutch and locked differentials for the wheels in their surroundings; leaves each wheel's shaft impulse.
    pub(super) fn solve_shafts(&mut self) {
        let Some(drive) = self.model.parts().powertrain.engine() else { return };
        let locks = drive.differential.locks.len().min(MAX_LOCKS);
        let passes = if locks == 0 { 1 } else { COUPLED_PASSES };
        for _ in 0..passes {
            self.shafts.solve_clutch(&self.model, &mut self.rows);
            for lock in 0..locks {
                self.shafts.solve_lock(lock, &self.model, &mut self.rows);
            }
        }
    }
}

impl Shafts {
    /// One Newton step, then a check whether a wheel began or ceased to slide or to be held, at most three times.
    fn solve_clutch(&mut self, model: &Model, rows: &mut [Rows]) {
        if self.capacity == 0.0 {
            return;
        }
        for _ in 0..3 {
            let (before, ratio) = (self.clutch, self.torque_ratio(self.clutch));
            let (mut speed, mut slope) = (0.0, 0.0);
            for (bank, rows) in model.banks().iter().zip(&*rows) {
                let (spin, answer) = rows.spin_under(bank);
                speed += (bank.share * spin).sum();
                slope += (bank.share * bank.share * answer).sum();
            }
            let engine = self.engine_speed - before * self.inverse_inertia;
            let step = (engine - self.ratio * speed) / (self.ratio * ratio * slope + self.inverse_inertia);
            self.clutch = (before + step).clamp(-self.capacity, self.capacity);
            let change = Four::splat(self.torque_ratio(self.clutch) * self.clutch - ratio * before);
            for (bank, rows) in model.banks().iter().zip(&mut *rows) {
                rows.shaft += bank.share * change;
            }
            if (self.clutch - before).abs() <= SETTLED_CLUTCH * self.capacity {
                return;
            }
        }
    }

    /// One Newton step towards equal mean speeds of the two sets of wheels.
    fn solve_lock(&mut self, lock: usize, model: &Model, rows: &mut [Rows]) {
        let (mut difference, mut slope) = (0.0, 0.0);
        for (bank, rows) in model.banks().iter().zip(&*rows) {
            let lever = bank.levers[lock];
            let (spin, answer) = rows.spin_under(bank);
            difference += (lever * spin).sum();
            slope += (lever * lever * answer).sum();
        }
        if slope <= 0.0 {
            return;
        }
        let step = -difference / slope;
        for (bank, rows) in model.banks().iter().zip(rows) {
            rows.shaft += bank.levers[lock] * Four::splat(step);
        }
        self.locks[lock] += step;
    }
}

impl Rows {
    /// Spin of the wheels under their present shaft impulse with their tyres gripping as they can, and how the spins
    /// answer a further impulse. The lateral row is left out: only the shaft's step uses this, the block is exact.
    #[inline(always)]
    fn spin_under(&self, bank: &Bank) -> (Four, Four) {
        let momentum = self.momentum + self.shaft;
        let (radius, inertia) = (bank.radius, bank.spin_inertia);
        let own = Four::splat(1.0) + self.admittance[0] * self.around.compliance[0];
        let at_rest = (self.wish[0] - self.admittance[0] * self.around.speed[0]) / own;
        let per_spin = self.admittance[0] * radius / own;
        let limit = self.reach[0];
        let gripping = held_or_turning(momentum - radius * at_rest, self.hold, inertia + radius * per_spin);
        let tyre = at_rest + per_spin * gripping.0;
        let sliding = limit.less(tyre.abs());
        if !Four::any(sliding & bank.present()) {
            return gripping;
        }
        let slid = held_or_turning(momentum - radius * tyre.within(-limit, limit), self.hold, inertia);
        (Four::select(sliding, slid.0, gripping.0), Four::select(sliding, slid.1, gripping.1))
    }
}

fn held_or_turning(momentum: Four, hold: Four, inertia: Four) -> (Four, Four) {
    let turning = hold.less(momentum.abs());
    let spin = (momentum - hold.signed_by(momentum)) / inertia;
    (spin.only(turning), (Four::splat(1.0) / inertia).only(turning))
}

fn engage(drive: &EngineDrive, state: &DriveState, controls: &Controls, throttle: f32, dt: f32) -> Shafts {
    let EngineDrive { engine, clutch, gearbox, .. } = drive;
    let shifting = state.shift_left > 0.0;
    let throttle = if shifting { 0.0 } else { throttle };
    let engaged = match controls.clutch {
        _ if shifting || state.gear == 0 => 0.0,
        Some(pedal) => 1.0 - bounded(pedal, 0.0, 1.0),
        None => ((state.engine_speed - engine.idle) / (clutch.engaged_speed - engine.idle)).clamp(0.0, 1.0),
    };
    let capacity = clutch.capacity * engaged * dt;
    let torque = engine_torque(engine, state.engine_speed, throttle);
    Shafts {
        engine: true,
        ratio: gearbox.ratio(state.gear),
        efficiency: gearbox.efficiency,
        capacity,
        engine_speed: state.engine_speed + dt * torque / engine.inertia,
        inverse_inertia: 1.0 / engine.inertia,
        clutch: (state.clutch * dt).clamp(-capacity, capacity),
        locks: [0.0; MAX_LOCKS],
    }
}

/// Crankshaft torque, N m: throttle times the full-load curve, minus drag as the throttle closes, plus the idle
/// governor, minus what the limiter cuts.
fn engine_torque(engine: &Engine, speed: f32, throttle: f32) -> f32 {
    let left = ((engine.limit - speed) / (LIMITER_BAND * engine.limit)).clamp(0.0, 1.0);
    let throttle = throttle * left;
    let drag = (engine.drag[0] + engine.drag[1] * speed) * (1.0 - throttle) * (speed / engine.idle).min(1.0);
    let pull = engine.torque.at(speed) * throttle;
    let below_idle = (engine.idle - speed) / IDLE_RESPONSE * engine.inertia;
    let governor =
        if speed < engine.idle * 1.1 { (below_idle + drag - pull).clamp(0.0, engine.torque.peak()) } else { 0.0 };
    pull - drag + governor
}

impl DriveState {
    /// Advances a running shift, or starts one towards the asked gear or, without one, the gear that suits the speed.
    fn select_gear(&mut self, gearbox: &Gearbox, asked: Option<i8>, turning: f32, dt: f32) {
        if self.shift_left > 0.0 {
            self.shift_left -= dt;
            if self.shift_left <= 1e-6 {
                (self.gear, self.shift_left, self.since_shift) = (self.next_gear, 0.0, 0.0);
            }
            return;
        }
        self.since_shift = (self.since_shift + dt).min(1000.0);
        let wanted = asked.map_or_else(|| self.suitable(gearbox, turning), |g| gearbox.nearest(g));
        if wanted == self.gear {
            return;
        }
        if wanted == 0 || self.gear == 0 || gearbox.shift_time <= 0.0 {
            (self.gear, self.since_shift) = (wanted, 0.0);
        } else {
            (self.next_gear, self.shift_left) = (wanted, gearbox.shift_time);
        }
    }

    fn suitable(&self, gearbox: &Gearbox, turning: f32) -> i8 {
        let top = gearbox.nearest(i8::MAX);
        let speed = turning * gearbox.ratio(self.gear);
        match self.gear {
            0 => 1.min(top),
            gear if gear < 0 || self.since_shift < SHIFT_PAUSE => gear,
            gear if speed > gearbox.up_speed && gear < top => gear + 1,
            gear if speed < gearbox.down_speed && gear > 1 => gear - 1,
            gear => gear,
        }
    }
}
