//! What assists do to the rows between spins before they are solved: engines cut, clutches opened, motors told what to give.

use crate::assists::assist_log::{Assist, Contribution};
use crate::drivetrain::constraints::Flywheel;
use crate::drivetrain::converter::{Converter, LaunchDevice};
use crate::drivetrain::motor::Motor;
use crate::drivetrain::rows::{MotorLimits, Shafts};
use crate::model::Model;
use crate::step::rows::Rows;
use crate::step::vehicle::Vehicle;

impl Default for MotorLimits {
    fn default() -> Self {
        Self { cruise: None, most: f32::INFINITY, changed: [0.0; 2] }
    }
}

impl MotorLimits {
    /// What becomes of the torque (and its slope) that the pedals ask of `motor` at a rotor speed of `speed` rad/s towards the drive.
    pub(crate) fn of(&mut self, motor: &Motor, speed: f32, pedals: (f32, f32)) -> (f32, f32) {
        let driven = self.cruise.map_or(pedals, |torque| within_reach(motor, speed, torque));
        let held = if driven.0 > self.most { (self.most, 0.0) } else { driven };
        self.changed = [driven.0 - pedals.0, held.0 - driven.0];
        held
    }
}

/// `torque` as far as `motor` has it at `speed` rad/s, and how that changes with the speed.
fn within_reach(motor: &Motor, speed: f32, torque: f32) -> (f32, f32) {
    let [least, most] = [motor.demand(0.0, 1.0), 1.0].map(|demand| motor.torque(speed, demand));
    match torque {
        torque if torque > most.0 => most,
        torque if torque < least.0 => least,
        torque => (torque, 0.0),
    }
}

impl Vehicle {
    /// Counts what assists of the car changed at the motors in the step just solved.
    pub(crate) fn count_motors(&mut self) {
        let Some(limited_by) = self.shafts.limited_by else { return };
        let assist_log = self.assist_log.get_or_insert_default();
        let changed = [Assist::CruiseControl, limited_by].into_iter().enumerate();
        for (i, assist) in changed.filter(|(_, assist)| self.model.assists().contains(assist)) {
            let engine_torque = self.shafts.motors.iter().map(|motor| motor.limits.changed[i]).sum();
            assist_log.add(assist, Contribution { engine_torque, ..Contribution::default() });
        }
    }
}

impl Shafts {
    /// Turns of the engine per turn of the propeller shaft; `None` without an engine, or out of gear.
    pub(crate) fn engine_ratio(&self) -> Option<f32> {
        self.engine.map(|_| self.constraints[0].ratio).filter(|&ratio| ratio != 0.0)
    }

    /// Whether a torque converter, not a clutch, is between engine and gearbox now.
    pub(crate) fn has_converter(&self) -> bool {
        self.engine.is_some() && self.constraints[0].is_converter
    }

    /// What row `i` gives the mean of its wheels, N m s.
    pub(crate) fn carried(&self, i: usize) -> f32 {
        self.constraints[i].at_wheels(self.constraints[i].impulse)
    }

    /// Speed the engine must have before its clutch or converter acts, for that to give the propeller shaft `shaft` N m s
    /// towards the gear, while it then turns by `shaft_speed` rad/s.
    fn speed_for(&self, model: &Model, engine: &Flywheel, shaft: f32, shaft_speed: f32) -> f32 {
        let row = &self.constraints[0];
        let through = shaft / row.torque_ratio(shaft).abs();
        let turbine = row.ratio * shaft_speed;
        match converter(model).filter(|_| row.is_converter) {
            Some(converter) => {
                let impeller = converter.impeller_for(through / self.dt, turbine, engine.speed.max(turbine));
                self.before_converter(converter, engine, impeller, turbine)
            }
            None => turbine + through.max(row.bounds[0]).min(row.bounds[1]) * engine.inverse_inertia,
        }
    }

    /// Speed of the engine before its converter acts, if that leaves the impeller with `impeller` rad/s.
    fn before_converter(&self, converter: &Converter, engine: &Flywheel, impeller: f32, turbine: f32) -> f32 {
        impeller + self.dt * converter.torques(impeller, turbine)[0] * engine.inverse_inertia
    }

    /// Sets the engine's speed before its clutch acts within what the throttle can do; what that added, N m s.
    fn set_engine(&mut self, speed: f32, least: f32, counted_from: f32) -> f32 {
        let Some(engine) = &mut self.engine else { return 0.0 };
        let (before, after) = (engine.speed, speed.max(least).min(engine.speed));
        engine.speed = after;
        self.constraints[0].target_impulse += after - before;
        (after - counted_from) / engine.inverse_inertia
    }

    /// Cuts the engine so that the propeller shaft gets no more than `shaft` N m s towards the gear and then turns by no more
    /// than `shaft_speed` rad/s; what that took, N m s at the crankshaft.
    pub(crate) fn cut_engine(&mut self, model: &Model, shaft: f32, shaft_speed: f32) -> f32 {
        let Some(engine) = self.engine else { return 0.0 };
        -self.set_engine(self.speed_for(model, &engine, shaft, shaft_speed), engine.bounds[0], engine.speed)
    }

    /// Cuts the engine so that it turns no faster than `speed` rad/s, or than a propeller shaft with `shaft_speed` rad/s
    /// makes it; what that took, N m s.
    pub(crate) fn hold_engine(&mut self, model: &Model, speed: f32, shaft_speed: f32) -> f32 {
        let Some(engine) = self.engine else { return 0.0 };
        let row = &self.constraints[0];
        let most = match converter(model).filter(|_| row.is_converter) {
            Some(converter) => self.before_converter(converter, &engine, speed, row.ratio * shaft_speed),
            None => speed.max(row.ratio * shaft_speed) + row.impulse.max(0.0) * engine.inverse_inertia,
        };
        -self.set_engine(most, engine.bounds[0], engine.speed)
    }

    /// Lets the clutch carry no more than what gives the propeller shaft `shaft` N m s towards the gear. A converter cannot be
    /// limited.
    pub(crate) fn limit_clutch(&mut self, model: &Model, rows: &mut [Rows], shaft: f32) {
        let row = &mut self.constraints[0];
        if row.is_converter {
            return;
        }
        let most = shaft / row.torque_ratio(1.0).abs();
        row.bounds = row.bounds.map(|bound| bound.max(-most).min(most));
        let impulse = row.impulse.max(-most).min(most);
        self.carry(model, rows, 0, impulse);
    }

    /// Lets the engine pull just enough to give the propeller shaft `shaft` N m s towards the gear, no less than with the
    /// driver's throttle; what that added, N m s.
    pub(crate) fn pull(&mut self, model: &Model, shaft: f32, shaft_speed: f32) -> f32 {
        let Some(engine) = self.engine else { return 0.0 };
        self.set_engine(self.speed_for(model, &engine, shaft, shaft_speed), engine.bounds[1], engine.bounds[1])
    }

    /// What the propeller shaft gets with the driver's throttle while it turns by `shaft_speed` rad/s, N m s towards the gear.
    pub(crate) fn least_pull(&self, model: &Model, shaft_speed: f32) -> f32 {
        let Some(engine) = self.engine else { return 0.0 };
        let row = &self.constraints[0];
        let (free, turbine) = (engine.bounds[1], row.ratio * shaft_speed);
        let through = match converter(model).filter(|_| row.is_converter) {
            Some(converter) => {
                let impeller = converter.impeller_speed(free, self.dt * engine.inverse_inertia, turbine);
                self.dt * converter.torques(impeller, turbine)[1]
            }
            None => ((free - turbine) / engine.inverse_inertia).max(row.bounds[0]).min(row.bounds[1]),
        };
        row.at_wheels(through)
    }

    /// Torques motor `k` has at the speed the step began with, N m towards the drive: with the driver's pedals, braking with all
    /// it regenerates, and driving with all it has.
    pub(crate) fn motor_range(&self, motor: &Motor, k: usize) -> [f32; 3] {
        let rotor = self.motors[k].rotor;
        let at = |demand: f32| motor.torque(rotor * self.pull.direction, demand).0;
        [self.pull.of(motor, rotor).0, at(motor.demand(0.0, 1.0)), at(1.0)]
    }

    /// Lets cruise control have `torque` N m towards the drive of motor `k`.
    pub(crate) fn drive_motor(&mut self, k: usize, torque: f32) {
        self.limit_motors(self.limited_by.unwrap_or(Assist::TractionControl));
        self.motors[k].limits.cruise = Some(torque);
    }

    /// Lets assists have a say in what motors give, of which `limiting_assist` holds them back.
    fn limit_motors(&mut self, limiting_assist: Assist) {
        if self.limited_by.is_none() {
            self.motors.iter_mut().for_each(|motor| motor.limits = MotorLimits::default());
        }
        self.limited_by = Some(limiting_assist);
    }

    /// Lets all motors begin with the torque they are to give, for `limiting_assist` to take from it.
    pub(crate) fn begin_holding(&mut self, limiting_assist: Assist, model: &Model, rows: &mut [Rows]) {
        self.limit_motors(limiting_assist);
        let ([first, _], pull) = (self.first_rows(model), self.pull);
        for (k, motor) in model.parts().motors.iter().enumerate() {
            let step = &mut self.motors[k];
            let (torque, _) = step.limits.of(motor, step.rotor * pull.direction, pull.of(motor, step.rotor));
            self.carry(model, rows, first + k, torque * pull.direction * self.dt);
        }
    }

    /// Lets motor `k` give its wheels no more than `shaft` N m s towards the drive, the mean of their speeds then being
    /// `shaft_speed` rad/s: what its rotor needs to get there comes on top.
    pub(crate) fn hold_motor(&mut self, model: &Model, rows: &mut [Rows], k: usize, shaft: f32, shaft_speed: f32) {
        let (motor, [first, _], direction) = (&model.parts().motors[k], self.first_rows(model), self.pull.direction);
        let row = &self.constraints[first + k];
        let most = shaft / row.torque_ratio(direction);
        let rotor = motor.inertia * (shaft_speed * motor.reduction - self.motors[k].rotor) * direction;
        self.motors[k].limits.most = ((most + rotor) / self.dt).max(0.0);
        if row.impulse * direction > most {
            self.carry(model, rows, first + k, most * direction);
        }
    }
}

pub(crate) fn converter(model: &Model) -> Option<&Converter> {
    match &model.parts().powertrain.engine()?.launch_device {
        LaunchDevice::Converter(converter) => Some(converter),
        LaunchDevice::Clutch(_) => None,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::drivetrain::rows::MotorStep;

    /// Of 300 N m and 90 kW, which regenerates with three quarters of it.
    pub(crate) fn motor() -> Motor {
        Motor {
            wheels: [0].into(),
            peak_torque: 300.0,
            power: 90e3,
            max_speed: 1000.0,
            reduction: 9.0,
            efficiency: 1.0,
            inertia: 0.05,
            lift_regeneration: 0.25,
            brake_regeneration: 0.5,
        }
    }

    /// Whatever is asked for: no more than the peak torque, no less than what regeneration has; between both it is given as it is.
    #[test]
    fn a_motor_gives_what_is_asked_as_far_as_it_reaches() {
        let motor = motor();
        // Of 300 N m at 100 rad/s regeneration has three quarters.
        for (asked, given) in [(500.0, 300.0), (120.0, 120.0), (-200.0, -200.0), (-300.0, -225.0)] {
            assert_eq!(within_reach(&motor, 100.0, asked), (given, 0.0), "{asked} N m");
        }
        // At its power the torque falls by `P / ω²`.
        assert_eq!(within_reach(&motor, 600.0, 200.0), (150.0, -0.25));
    }

    #[test]
    fn cruise_control_has_the_torque_it_orders_whatever_the_pedals_say() {
        // Of an earlier step.
        let limits = MotorLimits { most: 10.0, ..MotorLimits::default() };
        let mut shafts = Shafts { motors: [MotorStep { rotor: 0.0, limits }; 2].into(), ..Shafts::default() };
        shafts.drive_motor(0, 120.0);
        let [driven, other] = &mut *shafts.motors else { panic!("two motors") };
        assert_eq!(driven.limits.of(&motor(), 100.0, (-75.0, 0.0)), (120.0, 0.0));
        assert_eq!(driven.limits.changed, [195.0, 0.0]);
        driven.limits.most = 50.0;
        assert_eq!(driven.limits.of(&motor(), 100.0, (-75.0, 0.0)), (50.0, 0.0));
        assert_eq!(driven.limits.changed, [195.0, -70.0]);
        assert_eq!(other.limits.of(&motor(), 100.0, (75.0, 0.0)), (75.0, 0.0), "the other motor has no limit");
    }
}
