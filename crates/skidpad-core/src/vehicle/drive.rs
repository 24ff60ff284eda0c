//! Pedals to torques: engine, clutch, gearbox, differentials, brakes.
//!
//! Clutch and locked differentials are rows between spins. They are solved before the wheel blocks, each wheel standing
//! in with its inertia *and* the grip of its tyre, so no shaft stiffness limits the step.

use super::block::Surroundings;
use super::rows::WheelRows;
use super::{Vehicle, sum_by_axle};
use crate::Controls;
use crate::controls::bounded;
use crate::model::{Engine, EngineDrive, Gearbox, Model, Powertrain, Wheel};
use crate::state::{DriveState, MAX_LOCKS};

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
        let direct = match &self.model.parts().powertrain {
            Powertrain::Direct(torques) => Some(torques),
            _ => None,
        };
        let towards = match controls.gear {
            Some(gear) => f32::from(gear.signum()),
            None => 1.0,
        };
        for (i, (wheel, row)) in self.model.wheels().iter().zip(&mut self.rows).enumerate() {
            let raw = controls.wheels.get(i).copied().unwrap_or_default();
            let motor = bounded(raw.motor_torque, -LARGEST_TORQUE, LARGEST_TORQUE)
                + direct.map_or(0.0, |torques| torques[i] * throttle * towards);
            let brake = bounded(raw.brake_torque, 0.0, LARGEST_TORQUE);
            row.motor = motor * dt;
            row.momentum = wheel.spin_inertia * self.state.wheels[i].spin + row.motor;
            row.brake = (foot * wheel.brake_torque + hand * wheel.handbrake_torque + brake) * dt;
            row.shaft = 0.0;
        }
        self.shafts = Shafts::default();
        if let Some(drive) = self.model.parts().powertrain.engine() {
            let turning = sum_by_axle(&self.model, |i| drive.differential.shares[i] * self.state.wheels[i].spin);
            self.state.drive.select_gear(&drive.gearbox, controls.gear, turning, dt);
            self.shafts = engage(drive, &self.state.drive, controls, throttle, dt);
            let shaft = self.shafts.torque_ratio(self.shafts.clutch) * self.shafts.clutch;
            for (row, share) in self.rows.iter_mut().zip(&drive.differential.shares) {
                row.shaft = share * shaft;
            }
        } else {
            self.state.drive.gear = controls.gear.unwrap_or(1);
        }
    }

    /// Solves clutch and locked differentials for wheels that see `around`; leaves each wheel's shaft impulse.
    pub(super) fn solve_shafts(&mut self, around: &[Surroundings]) {
        let Some(drive) = self.model.parts().powertrain.engine() else { return };
        let locks = drive.differential.locks.len().min(MAX_LOCKS);
        let passes = if locks == 0 { 1 } else { COUPLED_PASSES };
        for _ in 0..passes {
            self.shafts.solve_clutch(&self.model, drive, &mut self.rows, around);
            for lock in 0..locks {
                self.shafts.solve_lock(lock, &self.model, drive, &mut self.rows, around);
            }
        }
    }
}

impl Shafts {
    /// One Newton step, then a check whether a wheel began or ceased to slide or to be held, at most three times.
    fn solve_clutch(&mut self, model: &Model, drive: &EngineDrive, rows: &mut [WheelRows], around: &[Surroundings]) {
        if self.capacity == 0.0 {
            return;
        }
        let shares = &drive.differential.shares;
        for _ in 0..3 {
            let (before, ratio) = (self.clutch, self.torque_ratio(self.clutch));
            let [speed, slope] = sum_by_axle(model, |i| {
                if shares[i] == 0.0 {
                    return Terms::default();
                }
                let (spin, slope) = rows[i].spin_under(&model.wheels()[i], &around[i]);
                Terms([shares[i] * self.ratio * spin, shares[i] * shares[i] * self.ratio * ratio * slope])
            })
            .0;
            let engine = self.engine_speed - before * self.inverse_inertia;
            let step = (engine - speed) / (slope + self.inverse_inertia);
            self.clutch = (before + step).clamp(-self.capacity, self.capacity);
            let change = self.torque_ratio(self.clutch) * self.clutch - ratio * before;
            for (row, share) in rows.iter_mut().zip(shares) {
                row.shaft += share * change;
            }
            if (self.clutch - before).abs() <= SETTLED_CLUTCH * self.capacity {
                return;
            }
        }
    }

    /// One Newton step towards equal mean speeds of the two sets of wheels.
    fn solve_lock(
        &mut self,
        lock: usize,
        model: &Model,
        drive: &EngineDrive,
        rows: &mut [WheelRows],
        around: &[Surroundings],
    ) {
        let sides = &drive.differential.locks[lock];
        let lever = |i: usize| {
            let on = |side: usize| if sides[side].contains(&i) { 1.0 / sides[side].len() as f32 } else { 0.0 };
            on(0) - on(1)
        };
        let [difference, slope] = sum_by_axle(model, |i| {
            let lever = lever(i);
            if lever == 0.0 {
                return Terms::default();
            }
            let (spin, slope) = rows[i].spin_under(&model.wheels()[i], &around[i]);
            Terms([lever * spin, lever * lever * slope])
        })
        .0;
        if slope <= 0.0 {
            return;
        }
        let step = -difference / slope;
        for (i, row) in rows.iter_mut().enumerate() {
            row.shaft += lever(i) * step;
        }
        self.locks[lock] += step;
    }
}

/// A sum of two terms over wheels.
#[derive(Clone, Copy, Default)]
struct Terms([f32; 2]);

impl core::ops::Add for Terms {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self([self.0[0] + other.0[0], self.0[1] + other.0[1]])
    }
}

impl WheelRows {
    /// Spin of the wheel under its present shaft impulse with its tyre gripping as it can, and how the spin answers a
    /// further impulse. The lateral row is left out: only the shaft's step uses this, the block is exact.
    fn spin_under(&self, wheel: &Wheel, around: &Surroundings) -> (f32, f32) {
        let momentum = self.momentum + self.shaft;
        let radius = wheel.radius;
        let own = 1.0 + self.admittance[0] * around.compliance[0];
        let at_rest = (self.wish[0] - self.admittance[0] * around.speed[0]) / own;
        let per_spin = self.admittance[0] * radius / own;
        let limit = self.limit()[0];
        let (spin, slope) =
            held_or_turning(momentum - radius * at_rest, self.hold, wheel.spin_inertia + radius * per_spin);
        let tyre = at_rest + per_spin * spin;
        if tyre.abs() <= limit {
            return (spin, slope);
        }
        let tyre = tyre.clamp(-limit, limit);
        held_or_turning(momentum - radius * tyre, self.hold, wheel.spin_inertia)
    }
}

fn held_or_turning(momentum: f32, hold: f32, inertia: f32) -> (f32, f32) {
    if momentum.abs() <= hold {
        return (0.0, 0.0);
    }
    ((momentum - hold.copysign(momentum)) / inertia, 1.0 / inertia)
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
