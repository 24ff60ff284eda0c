//! Gear selection of automatic gearboxes, and the progress of a shift.

use crate::drivetrain::constraints::{shaft_impulse, torque_ratios};
use crate::drivetrain::engine::{Cvt, Engine, Gearbox};
use crate::drivetrain::parameters::EngineDrive;
use crate::model::Model;
use crate::state::{DriveState, State, WheelState};
use bevy_math::{Quat, Vec3};

/// Largest time since a shift that is counted, s; it keeps the sum precise and the state bounded.
pub(crate) const MAX_SINCE_SHIFT_S: f32 = 1000.0;

/// Least time between two automatic shifts, s, so that the transient of a shift does not trigger the next one.
pub(crate) const MIN_SHIFT_INTERVAL_S: f32 = 0.5;

/// Factor of an automatic shift between its engine speed and the engine speed that rolling wheels would cause. A larger
/// difference means that the wheels spin or lock.
const MIN_ROLLING_SPEED_RATIO: f32 = 0.8;

/// Least driving force of a gear for an upshift, as a multiple of the resistance. The reserve lets a driver regain the
/// speed lost during the shift without a downshift.
const UPSHIFT_FORCE_RESERVE: f32 = 1.15;

/// Speed below which a car counts as standing, as a share of its walking pace.
pub(crate) const STANDSTILL_SPEED_RATIO: f32 = 0.1;

/// Remaining time from which a shift is over, s: rounding of the steps' sum must not add a step.
pub(crate) const SHIFT_END_S: f32 = 1e-6;

/// Car whose gear is chosen: its motion after the last step, and its numbers.
pub(crate) trait GearedCar {
    /// Returns the speed of wheel `i` along its rolling direction, m/s.
    fn rolling_speed(&self, i: usize) -> f32;

    /// Returns whether wheel `i` was in contact with the ground.
    fn has_contact(&self, i: usize) -> bool;

    /// Returns the change of the forward speed in the last step, m/s; negative if the car slowed down.
    fn speed_gain(&self) -> f32;

    /// Returns the radius of wheel `i`, m.
    fn radius(&self, i: usize) -> f32;

    /// Returns the walking pace of wheel `i`, m/s: the speed from which its tyre counts as fully rolling.
    fn walking_pace(&self, i: usize) -> f32;

    /// Returns [`Model::rolling_mass`], kg.
    fn rolling_mass(&self) -> f32;

    /// Returns [`Engine::torque_at`] of `engine`, N m, at `speed` (rad/s) and `pedal` (0 to 1).
    fn engine_torque(&self, engine: &Engine, speed: f32, pedal: f32) -> f32;
}

/// Motion of the wheels that an engine drives.
pub(crate) struct DrivenWheels<'a, C> {
    /// Car of the wheels.
    pub car: C,
    /// Parts of the engine's drivetrain. The values of the torque curve are those of `car`.
    pub drive: &'a EngineDrive,
    /// Speed of the propeller shaft divided by the ratio of the final drive, rad/s.
    pub shaft_speed: f32,
    /// Throttle demand after assists, 0 to 1.
    pub throttle: f32,
    /// Mass of the trailers, kg.
    pub towed_mass: f32,
    /// Length of a step, s.
    pub dt: f32,
}

/// Car with its own model and state.
struct StateCar<'a> {
    model: &'a Model,
    /// States of all wheels.
    wheels: &'a [WheelState],
    /// Rotation from vehicle axes to world axes.
    rotation: &'a Quat,
    /// Velocities at the end and at the start of the last step, world, m/s.
    velocities: [&'a Vec3; 2],
}

impl GearedCar for StateCar<'_> {
    fn rolling_speed(&self, i: usize) -> f32 {
        self.wheels[i].rolling_speed
    }

    fn has_contact(&self, i: usize) -> bool {
        self.wheels[i].contact
    }

    fn speed_gain(&self) -> f32 {
        let [velocity, previous_velocity] = self.velocities;
        (*self.rotation * Vec3::X).dot(*velocity - *previous_velocity)
    }

    fn radius(&self, i: usize) -> f32 {
        self.model.wheels()[i].radius
    }

    fn walking_pace(&self, i: usize) -> f32 {
        self.model.wheels()[i].walking_speeds()[1]
    }

    fn rolling_mass(&self) -> f32 {
        self.model.rolling_mass()
    }

    fn engine_torque(&self, engine: &Engine, speed: f32, pedal: f32) -> f32 {
        engine.torque_at(speed, pedal)
    }
}

/// Motion that a shift is expected to end with.
struct ShiftPrediction {
    /// Force of slope, air, rolling, brakes and trailers against the car, N.
    resistance: f32,
    /// Speed of the propeller shaft divided by the ratio of the final drive, rad/s.
    shaft_speed: f32,
}

impl<C: GearedCar> DrivenWheels<'_, C> {
    /// Returns the sum over the wheels of torque share times `value(wheel)`: the weighted mean, as the shares add up to
    /// 1.
    #[inline(always)]
    fn torque_weighted_mean(&self, value: impl Fn(usize) -> f32) -> f32 {
        self.drive.torque_shares.iter().enumerate().map(|(i, share)| share * value(i)).sum()
    }

    /// Returns the mean walking pace of the driven wheels, m/s: the speed from which a tyre counts as fully rolling.
    fn walking_pace(&self) -> f32 {
        self.torque_weighted_mean(|i| self.car.walking_pace(i))
    }

    /// Returns the mean speed of the driven wheels over the ground, m/s, positive forward, weighted by the torque
    /// shares. A wheel in the air counts with the speed of its tread.
    #[cold]
    #[inline(never)]
    fn ground_speed(&self) -> f32 {
        self.torque_weighted_mean(|i| self.car.rolling_speed(i))
    }

    /// Returns the `shaft_speed` at which the driven wheels on the ground would roll without slip, rad/s, as the mean
    /// over these wheels, weighted by the torque shares; `None` if all of them are in the air.
    #[cold]
    #[inline(never)]
    fn rolling_shaft_speed(&self) -> Option<f32> {
        let contact_weight = |i: usize| if self.car.has_contact(i) { 1.0 } else { 0.0 };
        let contact_share = self.torque_weighted_mean(contact_weight);
        let wheel_speed = |i: usize| contact_weight(i) * self.car.rolling_speed(i) / self.car.radius(i);
        (contact_share > 0.0).then(|| self.torque_weighted_mean(wheel_speed) / contact_share)
    }

    /// Returns true if the forward speed is below a tenth of the walking pace: the car stands or rolls backwards.
    #[cold]
    #[inline(never)]
    fn is_stationary(&self) -> bool {
        self.ground_speed() < STANDSTILL_SPEED_RATIO * self.walking_pace()
    }

    /// Returns the mean wheel angle per metre of road, weighted by the torque shares, 1/m: `Σ s / R`.
    fn angle_per_metre(&self) -> f32 {
        self.torque_weighted_mean(|i| 1.0 / self.car.radius(i))
    }

    /// Predicts the motion at the end of a shift out of the gear of `state`, during which the engine does not drive.
    /// The resistance is the driving force of the last step less mass times acceleration; the mass includes trailers
    /// and spinning wheels. The resistance decelerates the car over the shift time, which lowers the shaft speed. A
    /// negative resistance (downhill) raises it. `rolling_shaft_speed`: present speed of the shaft by rolling wheels,
    /// rad/s.
    fn predict_shift(&self, state: &DriveState, rolling_shaft_speed: f32) -> ShiftPrediction {
        let (gearbox, angle_per_metre) = (&self.drive.gearbox, self.angle_per_metre());
        let clutch_to_shaft_ratios = torque_ratios(gearbox.ratio(state.gear), gearbox.efficiency);
        // Driving force of the last step, N.
        let driving_force = shaft_impulse(clutch_to_shaft_ratios, state.clutch) * angle_per_metre;
        let mass = self.car.rolling_mass() + self.towed_mass;
        let resistance = driving_force - mass * self.car.speed_gain() / self.dt;
        ShiftPrediction {
            resistance,
            shaft_speed: rolling_shaft_speed - resistance / mass * angle_per_metre * gearbox.shift_time,
        }
    }

    /// Returns true if `gear`, after an upshift, is kept: its engine speed is at least the downshift speed, and it
    /// drives the car with at least [`UPSHIFT_FORCE_RESERVE`] times the predicted resistance. `rolling_shaft_speed` as
    /// for `predict_shift`.
    ///
    /// The force is that at the pedal position just below a kick-down: a driver who needs more would shift down.
    #[cold]
    #[inline(never)]
    fn can_hold_gear(&self, gear: i8, state: &DriveState, rolling_shaft_speed: f32) -> bool {
        let EngineDrive { engine, gearbox, .. } = self.drive;
        let prediction = self.predict_shift(state, rolling_shaft_speed);
        // Ratio of the gear, and engine speed in it after the shift, rad/s.
        let (ratio, speed) = (gearbox.ratio(gear), prediction.shaft_speed * gearbox.ratio(gear));
        // Torque at the throttle just below a kick-down, N m.
        let torque = self.car.engine_torque(engine, speed, gearbox.kick_down_pedal(speed));
        let force = shaft_impulse(torque_ratios(ratio, gearbox.efficiency), torque) * self.angle_per_metre();
        speed >= gearbox.down_speed_at(self.throttle) && force >= UPSHIFT_FORCE_RESERVE * prediction.resistance
    }

    /// Returns the highest gear below that of `state` in which the engine, at the speed after the shift, would not
    /// shift down again. Returns first gear for a standing car or if no gear qualifies.
    #[cold]
    #[inline(never)]
    fn lower_gear(&self, state: &DriveState, rolling_shaft_speed: f32) -> i8 {
        if self.is_stationary() {
            return 1;
        }
        let (gearbox, predicted_shaft_speed) =
            (&self.drive.gearbox, self.predict_shift(state, rolling_shaft_speed).shaft_speed);
        let downshift_speed = gearbox.down_speed_at(self.throttle);
        (1..state.gear).rev().find(|&gear| predicted_shaft_speed * gearbox.ratio(gear) >= downshift_speed).unwrap_or(1)
    }
}

impl State {
    /// Changes the gear of the engine's gearbox by one step of `dt` s, see [`DriveState::select_gear`]: collects the
    /// motion of the driven wheels and of the car for it. `towed_mass`: mass of the trailers, kg; `throttle`: 0 to 1;
    /// `shaft_speed`: speed of the propeller shaft divided by the ratio of the final drive, rad/s; `requested_gear`:
    /// requested gear, `None` for automatic. Returns the requested direction: 1, −1, or 0 in neutral.
    #[inline(always)]
    pub(crate) fn change_gear(
        &mut self,
        drive: &EngineDrive,
        (model, towed_mass): (&Model, f32),
        [throttle, shaft_speed]: [f32; 2],
        requested_gear: Option<i8>,
        dt: f32,
    ) -> f32 {
        let Self { drive: drive_state, wheels, rotation, velocity, previous_velocity, .. } = self;
        let car = StateCar { model, wheels, rotation, velocities: [velocity, previous_velocity] };
        let driven_wheels = DrivenWheels { car, drive, shaft_speed, throttle, towed_mass, dt };
        drive_state.select_gear(requested_gear, &driven_wheels)
    }
}

impl DriveState {
    /// Returns true if no gear is engaged.
    #[inline(always)]
    pub(crate) fn is_between_gears(&self) -> bool {
        self.shift_left > 0.0 || self.gear == 0
    }

    /// Returns the share of the full load of `engine` at a `throttle` of 0 to 1; 0 during a shift.
    #[inline(always)]
    pub(crate) fn throttle_opening(&self, engine: &Engine, throttle: f32) -> f32 {
        if self.shift_left > 0.0 { 0.0 } else { engine.throttle_opening(throttle) }
    }

    /// Advances a running shift by a step, or starts one to the requested gear or, without a request, to the gear that
    /// suits the speed. Returns the requested direction: 1, −1, or 0 in neutral or while the car rolls against the
    /// request.
    ///
    /// Order: a continuous ratio is moved, the direction is selected, a running shift advances; only without one, a
    /// gear is selected. A running shift ends when its time is used up and ignores other requests; if the car stops in
    /// an automatic one, it ends at once in at most first gear. Changes from or to neutral, and those with a shift time
    /// of 0, happen at once. At a standstill an automatic gearbox also engages its launch gear at once. `since_shift`
    /// counts the time since the last change, s, up to 1000.
    #[inline(always)]
    pub(crate) fn select_gear<C: GearedCar>(
        &mut self,
        requested_gear: Option<i8>,
        driven_wheels: &DrivenWheels<'_, C>,
    ) -> f32 {
        let (gearbox, dt) = (&driven_wheels.drive.gearbox, driven_wheels.dt);
        if let Some(cvt) = &gearbox.cvt {
            self.track_cvt_ratio(gearbox, cvt, driven_wheels.shaft_speed, driven_wheels.throttle, dt);
        }
        // Without a request, a forward gear keeps its direction without a check of the speed.
        let direction = match requested_gear {
            None if self.gear > 0 => 1,
            _ => self.allowed_direction(requested_gear.map_or(1, i8::signum), || {
                driven_wheels.ground_speed() / driven_wheels.walking_pace()
            }),
        };
        // Direction to return: 1, −1 or 0.
        let returned_direction = f32::from(direction);
        if self.shift_left > 0.0 {
            // The car stopped during the shift: engage at most first gear, below, in this step.
            if requested_gear.is_none() && driven_wheels.is_stationary() {
                (self.next_gear, self.shift_left) = (self.next_gear.min(1), 0.0);
            }
            self.shift_left -= dt;
            if self.shift_left <= SHIFT_END_S {
                (self.gear, self.shift_left, self.since_shift) = (self.next_gear, 0.0, 0.0);
            }
            return returned_direction;
        }
        self.since_shift = (self.since_shift + dt).min(MAX_SINCE_SHIFT_S);
        let target_gear = match requested_gear {
            _ if direction == 0 => 0,
            Some(gear) => gearbox.clamp_gear(gear),
            None => self.choose_gear(driven_wheels),
        };
        if target_gear == self.gear {
            return returned_direction;
        }
        let is_immediate = target_gear == 0 || self.gear == 0 || gearbox.shift_time <= 0.0;
        if is_immediate || (requested_gear.is_none() && driven_wheels.is_stationary()) {
            (self.gear, self.since_shift) = (target_gear, 0.0);
        } else {
            (self.next_gear, self.shift_left) = (target_gear, gearbox.shift_time);
        }
        returned_direction
    }

    /// Returns `direction`, or 0 (neutral) if it differs from that of the engaged gear while the car moves against it
    /// faster than a walking pace, like a gearbox with a reverse lock. `paces`: forward speed in walking paces,
    /// evaluated only for a change to 1 or −1.
    fn allowed_direction(&self, direction: i8, paces: impl FnOnce() -> f32) -> i8 {
        let is_change = direction != 0 && direction != self.gear.signum();
        if is_change && f32::from(direction) * paces() < -1.0 { 0 } else { direction }
    }

    /// Stores the requested gear of a car without a gearbox, of which only the direction (sign) counts; `None` means 1.
    /// While the car rolls against the request faster than a walking pace, the gear is 0. `paces`: forward speed of the
    /// car in walking paces. Returns the direction: 1, −1, or 0 in neutral.
    pub(crate) fn select_direction(&mut self, requested_gear: Option<i8>, paces: impl FnOnce() -> f32) -> f32 {
        let requested_gear = requested_gear.unwrap_or(1);
        let direction = self.allowed_direction(requested_gear.signum(), paces);
        self.gear = if direction == 0 { 0 } else { requested_gear };
        f32::from(direction)
    }

    /// Moves a continuous ratio towards the one for the target engine speed, by at most its largest rate times `dt`.
    /// `shaft_speed`: mean wheel speed, rad/s; `throttle`: 0 to 1.
    fn track_cvt_ratio(&mut self, gearbox: &Gearbox, cvt: &Cvt, shaft_speed: f32, throttle: f32, dt: f32) {
        let target_ratio = gearbox.target_ratio(cvt, shaft_speed, throttle);
        let max_change = cvt.max_ratio_rate * dt;
        self.ratio += (target_ratio - self.ratio).clamp(-max_change, max_change);
    }

    /// Returns the gear that an automatic gearbox selects: the present one, the next higher, or a lower one.
    ///
    /// A car in neutral gets the lowest gear without an upshift, a car in reverse first gear, both at any time. A
    /// moving car keeps its gear within [`MIN_SHIFT_INTERVAL_S`] of the last shift. With an engine speed (closed
    /// clutch) above the upshift speed it shifts up by one gear if the next gear can be held; below the downshift
    /// speed, and above first gear, it shifts to the highest gear that avoids another downshift. Both shift speeds
    /// depend on the throttle.
    ///
    /// Wheels that spin, lock or are in the air cause no shift: the engine speed that follows from the rolling speed of
    /// the car must also be above [`MIN_ROLLING_SPEED_RATIO`] times the upshift speed, or below the downshift speed
    /// over that ratio.
    #[inline(always)]
    fn choose_gear<C: GearedCar>(&self, driven_wheels: &DrivenWheels<'_, C>) -> i8 {
        let DrivenWheels { drive: EngineDrive { gearbox, .. }, throttle, .. } = *driven_wheels;
        let top_gear = gearbox.clamp_gear(i8::MAX);
        let ratio = gearbox.ratio(self.gear);
        // Engine speed with a closed clutch, rad/s.
        let speed = driven_wheels.shaft_speed * ratio;
        match self.gear {
            0 => {
                return gearbox
                    .rolling_gear(driven_wheels.rolling_shaft_speed().unwrap_or(driven_wheels.shaft_speed))
                    .min(top_gear);
            }
            gear if gear < 0 => return 1.min(top_gear),
            gear if self.since_shift < MIN_SHIFT_INTERVAL_S && !driven_wheels.is_stationary() => return gear,
            _ => (),
        }
        let upshift_speed = gearbox.up_speed_at(throttle);
        if speed > upshift_speed && self.gear < top_gear {
            // `None` if the road does not confirm the speed: wheels that spin or are in the air.
            let rolling_shaft_speed = driven_wheels
                .rolling_shaft_speed()
                .filter(|rolling_shaft_speed| rolling_shaft_speed * ratio > MIN_ROLLING_SPEED_RATIO * upshift_speed);
            let next_gear = self.gear + 1;
            return rolling_shaft_speed.map_or(self.gear, |rolling_shaft_speed| {
                if driven_wheels.can_hold_gear(next_gear, self, rolling_shaft_speed) { next_gear } else { self.gear }
            });
        }
        let downshift_speed = gearbox.down_speed_at(throttle);
        if speed < downshift_speed && self.gear > 1 {
            let rolling_shaft_speed = driven_wheels
                .rolling_shaft_speed()
                .filter(|rolling_shaft_speed| rolling_shaft_speed * ratio * MIN_ROLLING_SPEED_RATIO < downshift_speed);
            return rolling_shaft_speed
                .map_or(self.gear, |rolling_shaft_speed| driven_wheels.lower_gear(self, rolling_shaft_speed));
        }
        self.gear
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that a car gets neutral while it rolls against the requested direction faster than a walking pace;
    /// otherwise it gets the requested direction. The engaged direction and neutral are never refused.
    #[test]
    fn a_gear_against_the_way_a_car_rolls_waits_for_a_walk() {
        for (gear, requested, paces, allowed) in [
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
            assert_eq!(
                state.allowed_direction(requested, || paces),
                allowed,
                "{requested} from {gear} at {paces} paces"
            );
        }
    }
}
