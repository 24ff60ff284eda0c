//! Torques of engine and brakes from the pedals. `gear_choice` selects gears; `shafts` solves clutch and couplings.

use crate::assists::DriverDemand;
use crate::banks::Banks;
use crate::controls::{Controls, LARGEST_BRAKE_TORQUE, bounded};
use crate::drivetrain::constraints::{DriveConstraint, Flywheel};
use crate::drivetrain::converter::LaunchDevice;
use crate::drivetrain::crank::Asked;
use crate::drivetrain::parameters::EngineDrive;
use crate::drivetrain::rows::PedalDemand;
use crate::lane::{Corners, Four, Lane};
use crate::state::{DriveState, State, WheelState};
use crate::step::rows::Rows;
use crate::step::vehicle::{Vehicle, banks};
use crate::wheel::pack::WheelPack;
use bevy_math::Vec3;

/// Flywheel, and the row of the clutch or converter between flywheel and gearbox.
type Running = (Flywheel, DriveConstraint);

impl Vehicle {
    /// Applies the pedals for a step of `dt` s: gear, engine and clutch, and the torques of motors and brakes at every wheel.
    #[inline(always)]
    pub(crate) fn drive<B: Banks>(&mut self, controls: &Controls, asked: &DriverDemand, dt: f32) {
        let direction = self.direction_without_engine(controls);
        self.press_pedals::<B>(controls, asked, direction, dt);
        let has_engine = self.model.parts().powertrain.engine().is_some();
        let (model, rows) = (&self.model, &self.rows);
        let turns = |lever| turning(B::of(model.banks()), B::of(rows), lever, |rows| rows.begun.spin);
        let shaft_speed = if has_engine { turns(0) } else { 0.0 };
        let full_load = self.full_load();
        let shaft = self.begin_shafts(controls, asked, direction, [shaft_speed, full_load], dt);
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

    /// Sets the impulses of direct drive and brakes at every wheel, raw torques included, and sets shaft impulses to 0. `direction`: driving
    /// direction of a car without an engine.
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
                motor += bank.gather(|i| {
                    let most = self.model.largest_motor_torque(i);
                    bounded(raw(i).motor_torque, -most, most)
                });
                brake += bank.gather(|i| bounded(raw(i).brake_torque, 0.0, LARGEST_BRAKE_TORQUE));
            }
            rows.begin_drive(bank, [motor, brake], dt);
        }
    }

    /// Selects the driving direction of a car without an engine: 1, −1, or 0 in neutral. Returns 0 for a car with an engine.
    #[inline(always)]
    pub(crate) fn direction_without_engine(&mut self, controls: &Controls) -> f32 {
        let parts = self.model.parts();
        match parts.powertrain.engine() {
            Some(_) => 0.0,
            None => select_direction(&mut self.state, controls.gear, parts.wheels[0].walking()[1]),
        }
    }

    /// Returns the engine's torque at full load and its present speed, N m; 0 without an engine.
    #[inline(always)]
    fn full_load(&self) -> f32 {
        let engine = self.model.parts().powertrain.engine();
        engine.map_or(0.0, |drive| drive.engine.torque.at(self.state.drive.engine_speed))
    }

    /// Selects the gear and builds the rows of all shafts. Returns the initial impulse of clutch or converter on the propeller shaft, N m s.
    /// `shaft_speed`: speed of that shaft over the final drive, rad/s; `full_load`: engine torque at full load, N m; `direction`: driving
    /// direction of a car without an engine.
    #[inline(always)]
    pub(crate) fn begin_shafts(
        &mut self,
        controls: &Controls,
        asked: &DriverDemand,
        mut direction: f32,
        [shaft_speed, full_load]: [f32; 2],
        dt: f32,
    ) -> f32 {
        let DriverDemand { throttle, brake, own_throttle, .. } = *asked;
        let Self { model, state, shafts, towed_mass, .. } = self;
        let engine = model.parts().powertrain.engine();
        if let Some(drive) = engine {
            let moved = (&**model, *towed_mass);
            direction = state.change_gear(drive, moved, [throttle, shaft_speed], controls.gear, dt);
        }
        let pull = PedalDemand { throttle: throttle.min(own_throttle), brake, direction };
        shafts.begin(pull, model, dt);
        let Some(drive) = engine else { return 0.0 };
        let state = &state.drive;
        let speed = flywheel_speed(drive, state, throttle, controls.starter, full_load, dt);
        let (mut flywheel, clutch) = engage(drive, state, controls, speed, shaft_speed, dt);
        if !model.assists().is_empty() && model.parts().assists.change_drive() {
            let with = |throttle: f32| flywheel_speed(drive, state, throttle, controls.starter, full_load, dt);
            flywheel.bounds = [with(0.0), if own_throttle == throttle { speed } else { with(own_throttle) }];
            let works_by_itself = controls.clutch.is_none() && flywheel.dry_drag == 0.0 && !state.is_between_gears();
            shafts.clutch_law = match &drive.launch_device {
                LaunchDevice::Clutch(clutch) if works_by_itself => Some(clutch.law(&drive.engine, dt)),
                _ => None,
            };
        }
        shafts.engage(flywheel, clutch);
        clutch.at_wheels(clutch.impulse)
    }
}

impl WheelPack {
    /// Returns the share of the brake torque that remains at the temperature of each disc.
    #[inline(always)]
    pub(crate) fn disc_shares(&self, wheels: &[WheelState]) -> Four {
        self.discs.map_or(Four::splat(1.0), |discs| discs.share_at(self.temperatures(wheels)))
    }

    /// Returns the temperatures of the brake discs, K above the air.
    #[inline(always)]
    pub(crate) fn temperatures(&self, wheels: &[WheelState]) -> Four {
        let [a, b, c, d] = self.pick(wheels);
        Four::new([a.disc, b.disc, c.disc, d.disc])
    }
}

impl<W: Corners> WheelPack<W> {
    /// Returns the torques of direct drive and of brakes, N m. `pull`: throttle times driving direction; `foot`, `hand`: brake pedals, 0 to 1.
    #[inline(always)]
    pub(crate) fn pedal_torques(&self, [pull, foot, hand]: [W; 3]) -> [W; 2] {
        [self.direct * pull, foot * self.brake_torque + hand * self.handbrake_torque]
    }
}

impl<W: Corners> Rows<W> {
    /// Sets the impulses over `dt` s of direct drive and brake from the torques `motor` and `brake` (N m), and the shaft's impulse to 0.
    #[inline(always)]
    pub(crate) fn begin_drive(&mut self, bank: &WheelPack<W>, [motor, brake]: [W; 2], dt: f32) {
        let step = W::splat(dt);
        self.drive.motor = motor * step;
        self.drive.momentum = bank.spin_inertia * self.begun.spin + self.drive.motor;
        self.drive.brake = brake * step;
        self.drive.shaft = W::default();
    }
}

/// Returns the sum of lever `i` times `spin` over all wheels: the speed at which the wheels turn row `i` between spins, rad/s.
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

/// Selects the direction of a car without an engine by [`DriveState::select_direction`], from its speed over the ground below its wheels. In
/// the air its speed in the world counts. `pace`: walking pace, m/s.
fn select_direction(state: &mut State, asked: Option<i8>, pace: f32) -> f32 {
    let State { drive, wheels, rotation, velocity, .. } = state;
    let over_ground = || {
        let rolling = wheels.iter().filter(|wheel| wheel.contact).map(|wheel| wheel.rolling_speed);
        match rolling.clone().count() {
            0 => (*rotation * Vec3::X).dot(*velocity),
            touching => rolling.sum::<f32>() / touching as f32,
        }
    };
    drive.select_direction(asked, || over_ground() / pace)
}

/// Builds the flywheel, which reaches `speed` rad/s without a clutch, and the row of its clutch or converter.
#[inline(always)]
fn engage(
    drive: &EngineDrive,
    state: &DriveState,
    controls: &Controls,
    speed: f32,
    shaft_speed: f32,
    dt: f32,
) -> Running {
    let EngineDrive { engine, launch_device, gearbox, .. } = drive;
    let dry_drag = if controls.starter { 0.0 } else { engine.dry_drag(state.engine_speed) * dt };
    let flywheel = Flywheel { dry_drag, ..Flywheel::of(engine, [state.engine_speed, speed], dt) };
    let ratio = gearbox.ratio_at(state.gear, state.ratio);
    let capacity = match launch_device {
        _ if state.is_between_gears() => 0.0,
        LaunchDevice::Clutch(clutch) => {
            let engaged = match controls.clutch {
                Some(pedal) => engaged_by(pedal),
                // A dead engine stays engaged, as if parked in gear, until the starter turns it.
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

/// Returns the engagement of a clutch, 0 to 1, at a `pedal` of 0 (released) to 1 (pressed).
#[inline(always)]
pub(crate) fn engaged_by(pedal: f32) -> f32 {
    1.0 - bounded(pedal, 0.0, 1.0)
}

/// Returns the engine speed after `dt` s before the clutch acts, rad/s.
#[inline(always)]
fn flywheel_speed(
    drive: &EngineDrive,
    state: &DriveState,
    throttle: f32,
    starter: bool,
    full_load: f32,
    dt: f32,
) -> f32 {
    let throttle = state.opened(&drive.engine, throttle);
    drive.engine.turned(state.engine_speed, &Asked { throttle, full_load, starter }, dt)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::banks::Many;
    use crate::model::{Disc, Model, plain::plain_car};
    use crate::state::Placement;
    use crate::world::scene::Scene;

    /// Checks that brake impulses are pedal times torque, handbrake included, times the share that a warm disc has.
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
            // Rounding of 9 N m s in f32.
            assert!((found - 0.01 * torque).abs() < 1e-5, "{found} N m s of {torque} N m");
        }
    }
}
