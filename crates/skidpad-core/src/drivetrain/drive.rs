//! Pedals to torques: engine, gearbox, brakes. What clutch and couplings make of them is `shafts`'.

use crate::assists::DriverDemand;
use crate::banks::Banks;
use crate::controls::{Controls, LARGEST_TORQUE, bounded};
use crate::drivetrain::constraints::{DriveConstraint, Flywheel};
use crate::drivetrain::converter::LaunchDevice;
use crate::drivetrain::engine::{Continuous, Engine, Gearbox};
use crate::drivetrain::parameters::EngineDrive;
use crate::drivetrain::rows::PedalDemand;
use crate::lane::{Corners, Four, Lane};
use crate::model::Model;
use crate::state::{DriveState, State, WheelState};
use crate::step::rows::Rows;
use crate::step::vehicle::{Vehicle, banks};
use crate::wheel::pack::WheelPack;
use bevy_math::Vec3;

/// Time constant of the idle governor, s: slower stalls under a dropped clutch, faster hunts at 30 Hz.
const IDLE_RESPONSE: f32 = 0.1;

/// Crankshaft speed, rad/s, below which an engine does not fire: a four-stroke turned backwards has no cycle. Not 0, so that
/// rounding does not decide for one that is held.
const FIRES_FROM: f32 = -0.1;

/// Least time between two automatic shifts, s, so that a shift's own transient does not trigger the next.
const SHIFT_PAUSE: f32 = 0.5;

/// Share of an engine speed that the road has to make, too, for an automatic shift: less, and the wheels spin or lock.
const ROLLS: f32 = 0.8;

/// The flywheel, and what links it to the gearbox.
type Running = (Flywheel, DriveConstraint);

impl Vehicle {
    /// Torques of motor and brakes at every wheel; engine torque, gear and clutch.
    #[inline(always)]
    pub(crate) fn drive<B: Banks>(&mut self, controls: &Controls, asked: &DriverDemand, dt: f32) {
        let direction = self.direction_without_engine(controls);
        self.press_pedals::<B>(controls, asked, direction, dt);
        let has_engine = self.model.parts().powertrain.engine().is_some();
        let (model, rows) = (&self.model, &self.rows);
        let turns = |lever| turning(B::of(model.banks()), B::of(rows), lever, |rows| rows.begun.spin);
        let shaft_speed = if has_engine { turns(0) } else { 0.0 };
        let full_load = |engine: &Engine, speed| engine.torque.at(speed);
        let shaft = self.begin_shafts(controls, asked, direction, shaft_speed, full_load, dt);
        if has_engine {
            for (bank, rows) in banks::<B>(&self.model, &mut self.rows) {
                rows.drive.shaft = bank.levers[0] * Four::splat(shaft);
            }
        }
        let first = usize::from(has_engine);
        for (k, motor) in self.model.parts().motors.iter().enumerate() {
            let speed = turning(B::of(self.model.banks()), B::of(&self.rows), first + k, |rows| rows.begun.spin);
            self.shafts.turned(k, speed * motor.reduction);
        }
    }

    /// Torques of motors of their own and of brakes at every wheel, of a car that drives in this `direction` without an engine; no shaft
    /// gives anything yet.
    #[inline(always)]
    pub(crate) fn press_pedals<B: Banks>(
        &mut self,
        controls: &Controls,
        asked: &DriverDemand,
        direction: f32,
        dt: f32,
    ) {
        let pedals = [asked.throttle * direction, asked.brake, asked.handbrake].map(Four::splat);
        for (bank, rows) in banks::<B>(&self.model, &mut self.rows) {
            let [mut motor, mut brake] = bank.pedal_torques(pedals);
            if bank.discs.is_some() {
                brake = brake * bank.disc_shares(&self.state.wheels);
            }
            if !controls.wheels.is_empty() {
                let raw = |i: usize| controls.wheels.get(i).copied().unwrap_or_default();
                motor += bank.gather(|i| bounded(raw(i).motor_torque, -LARGEST_TORQUE, LARGEST_TORQUE));
                brake += bank.gather(|i| bounded(raw(i).brake_torque, 0.0, LARGEST_TORQUE));
            }
            rows.begin_drive(bank, [motor, brake], dt);
        }
    }

    /// Which way a car without an engine drives: 1, −1, or 0 in neutral; 0 of one with an engine.
    #[inline(always)]
    pub(crate) fn direction_without_engine(&mut self, controls: &Controls) -> f32 {
        let parts = self.model.parts();
        match parts.powertrain.engine() {
            Some(_) => 0.0,
            None => select_direction(&mut self.state, controls.gear, parts.wheels[0].walking()[1]),
        }
    }

    /// Gear and clutch of an engine whose shaft turns with `shaft_speed` rad/s, and the rows of all shafts; `direction` is the direction of a car
    /// without one, `full_load` its torque at a speed, N m. Returns what clutch or converter begin to give that shaft, N m s.
    #[inline(always)]
    pub(crate) fn begin_shafts(
        &mut self,
        controls: &Controls,
        asked: &DriverDemand,
        mut direction: f32,
        shaft_speed: f32,
        full_load: impl Fn(&Engine, f32) -> f32,
        dt: f32,
    ) -> f32 {
        let DriverDemand { throttle, brake, own_throttle, .. } = *asked;
        let (state, wheels) = (&mut self.state.drive, &self.state.wheels);
        let engine = self.model.parts().powertrain.engine();
        if let Some(drive) = engine {
            let driven = Driven { model: &self.model, shares: &drive.shares, wheels, shaft_speed };
            direction = state.select_gear(&drive.gearbox, controls.gear, &driven, throttle, dt);
        }
        let pull = PedalDemand { throttle: throttle.min(own_throttle), brake, direction };
        self.shafts.begin(pull, &self.model, dt);
        let Some(drive) = engine else { return 0.0 };
        let (mut flywheel, clutch) = engage(drive, state, controls, throttle, shaft_speed, &full_load, dt);
        if !self.model.assists().is_empty() && self.model.parts().assists.change_drive() {
            let with = |throttle: f32| flywheel_speed(drive, state, throttle, controls.starter, &full_load, dt);
            flywheel.bounds = [with(0.0), if own_throttle == throttle { flywheel.speed } else { with(own_throttle) }];
        }
        self.shafts.engage(flywheel, clutch);
        clutch.at_wheels(clutch.impulse)
    }
}

impl WheelPack {
    /// Share of their torque that warm brakes have.
    #[inline(always)]
    pub(crate) fn disc_shares(&self, wheels: &[WheelState]) -> Four {
        self.discs.map_or(Four::splat(1.0), |discs| discs.share_at(self.temperatures(wheels)))
    }

    /// Of brake discs, K above the air.
    #[inline(always)]
    pub(crate) fn temperatures(&self, wheels: &[WheelState]) -> Four {
        let [a, b, c, d] = self.pick(wheels);
        Four::new([a.disc, b.disc, c.disc, d.disc])
    }
}

impl<W: Corners> WheelPack<W> {
    /// Torques of motors of their own and of brakes for what is pulled by the throttle and pressed on foot brake and handbrake, N m.
    #[inline(always)]
    pub(crate) fn pedal_torques(&self, [pull, foot, hand]: [W; 3]) -> [W; 2] {
        [self.direct * pull, foot * self.brake_torque + hand * self.handbrake_torque]
    }
}

impl<W: Corners> Rows<W> {
    /// Begins with the torques of `motor` and `brake`, and no shaft.
    #[inline(always)]
    pub(crate) fn begin_drive(&mut self, bank: &WheelPack<W>, [motor, brake]: [W; 2], dt: f32) {
        let step = W::splat(dt);
        self.drive.motor = motor * step;
        self.drive.momentum = bank.spin_inertia * self.begun.spin + self.drive.motor;
        self.drive.brake = brake * step;
        self.drive.shaft = W::default();
    }
}

/// How fast the wheels turn the row between spins that has lever number `i` of each, at these spins, rad/s.
#[inline(always)]
pub(crate) fn turning<W: Corners>(
    banks: &[WheelPack<W>],
    rows: &[Rows<W>],
    i: usize,
    spin: impl Fn(&Rows<W>) -> W,
) -> W::Car {
    let mut sum = W::Car::default();
    for (banks, rows) in banks.chunks(W::ROWS).zip(rows.chunks(W::ROWS)) {
        sum += W::sum_of(
            #[inline(always)]
            |k| banks[k].levers[i] * spin(&rows[k]),
        );
    }
    sum
}

/// [`DriveState::select_direction`] of a car without an engine that walks at `pace` m/s.
fn select_direction(state: &mut State, asked: Option<i8>, pace: f32) -> f32 {
    let State { drive, rotation, velocity, .. } = state;
    drive.select_direction(asked, || (*rotation * Vec3::X).dot(*velocity) / pace)
}

#[inline(always)]
fn engage(
    drive: &EngineDrive,
    state: &DriveState,
    controls: &Controls,
    throttle: f32,
    shaft_speed: f32,
    full_load: impl Fn(&Engine, f32) -> f32,
    dt: f32,
) -> Running {
    let EngineDrive { engine, launch_device, gearbox, .. } = drive;
    let shifting = state.shift_left > 0.0;
    let speed = flywheel_speed(drive, state, throttle, controls.starter, full_load, dt);
    let dry_drag = if controls.starter { 0.0 } else { engine.dry_drag(state.engine_speed) * dt };
    let started = state.engine_speed;
    let flywheel = Flywheel { started, speed, inverse_inertia: 1.0 / engine.inertia, dry_drag, bounds: [speed; 2] };
    let ratio = gearbox.ratio_at(state.gear, state.ratio);
    let open = shifting || state.gear == 0;
    let capacity = match launch_device {
        _ if open => 0.0,
        LaunchDevice::Clutch(clutch) => {
            let engaged = match controls.clutch {
                Some(pedal) => 1.0 - bounded(pedal, 0.0, 1.0),
                // As if parked in gear, until the starter turns it.
                None if dry_drag > 0.0 => 1.0,
                None => clutch.engaged_at(speed, engine, dt),
            };
            clutch.capacity * engaged * dt
        }
        LaunchDevice::Converter(converter) => match &converter.lock_up {
            Some(lock_up) if lock_up.is_closed(state.gear, shaft_speed * ratio) => lock_up.capacity * dt,
            _ => return (flywheel, DriveConstraint::converter(ratio, gearbox.efficiency, state.clutch * dt, dt)),
        },
    };
    let mut row = DriveConstraint::clutch(&flywheel, ratio, gearbox.efficiency, capacity, state.clutch * dt);
    if dry_drag > 0.0 {
        row.slow_dead_engine(state.engine_speed, gearbox.efficiency, dry_drag, dt);
    }
    (flywheel, row)
}

/// Speed of the engine after `dt` s before its clutch acts, rad/s.
#[inline(always)]
fn flywheel_speed(
    drive: &EngineDrive,
    state: &DriveState,
    throttle: f32,
    starter: bool,
    full_load: impl Fn(&Engine, f32) -> f32,
    dt: f32,
) -> f32 {
    let engine = &drive.engine;
    let throttle = if state.shift_left > 0.0 { 0.0 } else { engine.opened(throttle) };
    state.engine_speed + dt * engine_torque(engine, state.engine_speed, throttle, starter, full_load) / engine.inertia
}

/// Crankshaft torque, N m: throttle times the full-load curve, minus drag as the throttle closes, plus the idle
/// governor, minus what the limiter cuts. A dead engine has, at best, its starter: its drag is dry friction.
#[inline(always)]
fn engine_torque(
    engine: &Engine,
    speed: f32,
    throttle: f32,
    starter: bool,
    full_load: impl Fn(&Engine, f32) -> f32,
) -> f32 {
    if engine.is_dead(speed) {
        return if starter { (engine.idle - speed) / IDLE_RESPONSE * engine.inertia } else { 0.0 };
    }
    let throttle = if speed < FIRES_FROM { 0.0 } else { throttle * engine.unlimited(speed) };
    let drag = engine.drag_at(speed) * (1.0 - throttle) * (speed / engine.idle).clamp(-1.0, 1.0);
    let pull = full_load(engine, speed) * throttle;
    let below_idle = (engine.idle - speed) / IDLE_RESPONSE * engine.inertia;
    let governor =
        if speed < engine.idle * 1.1 { (below_idle + drag - pull).clamp(0.0, engine.torque.peak()) } else { 0.0 };
    pull - drag + governor
}

/// How the wheels of an engine move.
pub(crate) struct Driven<'a> {
    pub model: &'a Model,
    /// Of the torque, per wheel.
    pub shares: &'a [f32],
    pub wheels: &'a [WheelState],
    /// Of the propeller shaft times the final drive, rad/s.
    pub shaft_speed: f32,
}

impl Driven<'_> {
    #[inline(always)]
    fn mean(&self, of: impl Fn(usize) -> f32) -> f32 {
        self.shares.iter().enumerate().map(|(i, share)| share * of(i)).sum()
    }

    fn walking_pace(&self) -> f32 {
        self.mean(|i| self.model.wheels()[i].walking()[1])
    }

    /// Of the road below the wheels, m/s; in the air, what they turn.
    #[cold]
    #[inline(never)]
    fn speed(&self) -> f32 {
        self.mean(|i| self.wheels[i].rolling_speed)
    }

    /// What `shaft_speed` were if the wheels on the ground rolled; `None` with all in the air.
    #[cold]
    #[inline(never)]
    fn turning_by_road(&self) -> Option<f32> {
        let touching = |i: usize| if self.wheels[i].contact { 1.0 } else { 0.0 };
        let share = self.mean(touching);
        let rolling = |i: usize| touching(i) * self.wheels[i].rolling_speed / self.model.wheels()[i].radius;
        (share > 0.0).then(|| self.mean(rolling) / share)
    }
}

impl DriveState {
    /// Advances a running shift, or starts one towards the asked gear or, without one, the gear that suits the speed. Tells
    /// which way the gear asked for drives: 1, −1, or 0 in neutral.
    #[inline(always)]
    pub(crate) fn select_gear(
        &mut self,
        gearbox: &Gearbox,
        asked: Option<i8>,
        driven: &Driven,
        throttle: f32,
        dt: f32,
    ) -> f32 {
        if let Some(continuous) = &gearbox.continuous {
            self.follow(gearbox, continuous, driven.shaft_speed, throttle, dt);
        }
        let direction = match asked {
            None if self.gear > 0 => 1,
            _ => self.allowed(asked.map_or(1, i8::signum), || driven.speed() / driven.walking_pace()),
        };
        let told = f32::from(direction);
        if self.shift_left > 0.0 {
            self.shift_left -= dt;
            if self.shift_left <= 1e-6 {
                (self.gear, self.shift_left, self.since_shift) = (self.next_gear, 0.0, 0.0);
            }
            return told;
        }
        self.since_shift = (self.since_shift + dt).min(1000.0);
        let wanted = match asked {
            _ if direction == 0 => 0,
            Some(gear) => gearbox.nearest(gear),
            None => self.suitable(gearbox, driven, throttle),
        };
        if wanted == self.gear {
            return told;
        }
        if wanted == 0 || self.gear == 0 || gearbox.shift_time <= 0.0 {
            (self.gear, self.since_shift) = (wanted, 0.0);
        } else {
            (self.next_gear, self.shift_left) = (wanted, gearbox.shift_time);
        }
        told
    }

    /// The sense that was asked for, or 0, neutral, while the car moves against it faster than a walk: as a gearbox whose
    /// reverse gear is blocked.
    fn allowed(&self, direction: i8, paces: impl FnOnce() -> f32) -> i8 {
        let changes = direction != 0 && direction != self.gear.signum();
        if changes && f32::from(direction) * paces() < -1.0 { 0 } else { direction }
    }

    /// Takes the gear asked for of a car without a gearbox, which only tells the way it drives and waits as one would, by the
    /// forward speed of the car in walking `paces`; tells which way, as [`DriveState::select_gear`].
    fn select_direction(&mut self, asked: Option<i8>, paces: impl FnOnce() -> f32) -> f32 {
        let asked = asked.unwrap_or(1);
        let direction = self.allowed(asked.signum(), paces);
        self.gear = if direction == 0 { 0 } else { asked };
        f32::from(direction)
    }

    /// Moves a continuous ratio towards the one at which the engine turns as it aims to.
    fn follow(&mut self, gearbox: &Gearbox, own: &Continuous, shaft_speed: f32, throttle: f32, dt: f32) {
        let wanted = gearbox.wanted(own, shaft_speed, throttle);
        let reach = own.rate * dt;
        self.ratio += (wanted - self.ratio).clamp(-reach, reach);
    }

    /// The forward gear that suits the engine's speed, unless only wheels that spin, lock or hang in the air say so.
    #[inline(always)]
    fn suitable(&self, gearbox: &Gearbox, driven: &Driven, throttle: f32) -> i8 {
        let top = gearbox.nearest(i8::MAX);
        let ratio = gearbox.ratio(self.gear);
        let speed = driven.shaft_speed * ratio;
        let road = || driven.turning_by_road().map(|shaft_speed| shaft_speed * ratio);
        match self.gear {
            0 => return gearbox.rolling_gear(driven.turning_by_road().unwrap_or(driven.shaft_speed)).min(top),
            gear if gear < 0 => return 1.min(top),
            gear if self.since_shift < SHIFT_PAUSE => return gear,
            _ => (),
        }
        let up = gearbox.up_speed_at(throttle);
        if speed > up && self.gear < top {
            return self.gear + i8::from(road().is_some_and(|road| road > ROLLS * up));
        }
        let down = gearbox.down_speed_at(throttle);
        if speed < down && self.gear > 1 {
            return self.gear - i8::from(road().is_some_and(|road| road * ROLLS < down));
        }
        self.gear
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::banks::Many;
    use crate::drivetrain::engine::Curve;
    use crate::model::{Disc, plain::plain_car};
    use crate::state::Placement;
    use crate::world::scene::Scene;

    /// 200 N m everywhere, drag of 10 N m and 0.25 N m s.
    fn engine() -> Engine {
        Engine {
            torque: Curve::new(vec![[100.0, 200.0], [600.0, 200.0]]).expect("valid"),
            drag: [10.0, 0.25],
            idle: 80.0,
            limit: 700.0,
            inertia: 0.2,
            throttle_map: None,
            stall: 40.0,
        }
    }

    /// Torque of the curve times the pedal, less drag times what the pedal leaves; below idle the governor's `J (ω_idle − ω) / T`,
    /// drag made up for; half the limiter's band takes half the torque.
    #[test]
    fn the_crankshaft_has_pull_less_drag_and_what_the_governor_gives() {
        let full_load = |engine: &Engine, speed: f32| engine.torque.at(speed);
        let governed = |speed: f32| (80.0 - speed) / IDLE_RESPONSE * 0.2;
        for (speed, throttle, torque) in [
            (400.0, 1.0, 200.0),
            (400.0, 0.0, -110.0),
            (400.0, 0.5, 100.0 - 55.0),
            (700.0, 1.0, -185.0),
            (693.0, 1.0, 0.5 * 200.0 - 0.5 * 183.25),
            (79.0, 0.0, governed(79.0)),
            (84.0, 0.0, governed(84.0)),
            (84.0, 0.5, 100.0 - 0.5 * 31.0),
            (20.0, 1.0, 0.0),
        ] {
            let found = engine_torque(&engine(), speed, throttle, false, full_load);
            // Differences of numbers up to 200 N m, and of 700 rad/s over a band of 14.
            assert!((found - torque).abs() < 2e-3, "{found} instead of {torque} N m at {speed} rad/s");
        }
        assert_eq!(
            engine_torque(&engine(), 20.0, 0.0, true, full_load),
            governed(20.0),
            "a starter turns a dead engine"
        );
    }

    /// Neutral is what a car gets that rolls against the way asked for, faster than a walk.
    #[test]
    fn a_gear_against_the_way_a_car_rolls_waits_for_a_walk() {
        for (gear, asked, paces, allowed) in [
            (1, -1, 1.5, 0),
            (1, -1, 0.5, -1),
            (1, -1, -3.0, -1),
            (-1, 1, -1.5, 0),
            (-1, 1, -0.5, 1),
            (0, 1, -1.5, 0),
            (1, 1, -3.0, 1),
            (1, 0, 9.0, 0),
        ] {
            let state = DriveState { gear, ..DriveState::default() };
            assert_eq!(state.allowed(asked, || paces), allowed, "{asked} from {gear} at {paces} paces");
        }
    }

    /// Pedal times torque, handbrake included, times the share that a warm disc has.
    #[test]
    fn brakes_hold_by_pedals_and_what_their_discs_have_left() {
        let mut parts = plain_car();
        let disc = Disc { heat_capacity: 1e4, cooling: [1.0, 0.0], fades: [300.0, 500.0], least_share: 0.5 };
        for wheel in &mut parts.wheels[..2] {
            (wheel.disc, wheel.handbrake_torque) = (Some(disc), 400.0);
        }
        let model = Model::new(parts).expect("valid");
        let mut state = State::at_rest(&model, &Scene::flat(), &Placement::default());
        state.wheels[1].disc = 400.0;
        let mut car = Vehicle::new(model.into(), state);
        let controls = Controls { brake: 0.5, handbrake: 1.0, ..Controls::default() };
        car.begin::<Many>();
        car.drive::<Many>(&controls, &DriverDemand::of(&controls, &car.model.parts().steering), 0.01);
        for (found, torque) in car.rows[0].drive.brake.lanes().into_iter().zip([900.0, 675.0, 500.0, 500.0]) {
            // 32 bits of 9 N m s.
            assert!((found - 0.01 * torque).abs() < 1e-5, "{found} N m s of {torque} N m");
        }
    }
}
