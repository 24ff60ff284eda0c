//! What assists do to the rows between spins before they are solved: engines cut, clutches opened, motors told what to give.

use crate::assists::assist_log::{Assist, Contribution};
use crate::drivetrain::constraints::Flywheel;
use crate::drivetrain::converter::{Converter, LaunchDevice};
use crate::drivetrain::motor::Motor;
use crate::drivetrain::rows::{MotorLimits, Shafts};
use crate::lane::{Four, Lane};
use crate::model::Model;
use crate::step::rows::Rows;
use crate::step::vehicle::Vehicle;

impl Default for MotorLimits {
    fn default() -> Self {
        Self { cruise: None, most: f32::INFINITY, least: f32::NEG_INFINITY, changed: [0.0; 3] }
    }
}

impl MotorLimits {
    /// What becomes of the torque (and its slope) that the pedals ask of `motor` at a rotor speed of `speed` rad/s towards the drive.
    pub(crate) fn of(&mut self, motor: &Motor, speed: f32, pedals: (f32, f32)) -> (f32, f32) {
        let driven = self.cruise.map_or(pedals, |torque| within_reach(motor, speed, torque));
        let held = if driven.0 > self.most { (self.most, 0.0) } else { driven };
        let left = if held.0 < self.least { (self.least, 0.0) } else { held };
        self.changed = [driven.0 - pedals.0, held.0 - driven.0, left.0 - held.0];
        left
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
        let cut_by = self.shafts.regeneration_cut_by.unwrap_or(Assist::AntiLock);
        let changed = [Assist::CruiseControl, limited_by, cut_by].into_iter().enumerate();
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

    /// Returns the lowest speed the engine must have before its clutch or converter acts, rad/s, so that the propeller shaft gets
    /// `shaft` N m s towards the gear while it then turns by `shaft_speed` rad/s. A clutch that cannot carry that carries what it can.
    ///
    /// A clutch that works by itself opens as the engine slows: the speed is that at which it both drives the shaft and is
    /// engaged far enough.
    fn speed_for(&self, model: &Model, engine: &Flywheel, shaft: f32, shaft_speed: f32) -> f32 {
        let row = &self.constraints[0];
        let through = shaft / row.torque_ratio(shaft).abs();
        let turbine = row.ratio * shaft_speed;
        match converter(model).filter(|_| row.is_converter) {
            Some(converter) => {
                let impeller = converter.impeller_for(through / self.dt, turbine, engine.speed.max(turbine));
                self.before_converter(converter, engine, impeller, turbine)
            }
            None => match self.clutch_law {
                Some(law) if through > 0.0 => {
                    let carried = through.min(law.full);
                    law.speed_for(carried).max(turbine + carried * engine.inverse_inertia)
                }
                _ => turbine + through.max(row.bounds[0]).min(row.bounds[1]) * engine.inverse_inertia,
            },
        }
    }

    /// Returns whether the clutch cannot give the propeller shaft more than `shaft` N m s, however fast the engine turns.
    fn is_clutch_weaker_than(&self, shaft: f32) -> bool {
        let row = &self.constraints[0];
        !row.is_converter && shaft >= row.bounds[1] * row.torque_ratio(1.0).abs()
    }

    /// Speed of the engine before its converter acts, if that leaves the impeller with `impeller` rad/s.
    fn before_converter(&self, converter: &Converter, engine: &Flywheel, impeller: f32, turbine: f32) -> f32 {
        impeller + self.dt * converter.torques(impeller, turbine)[0] * engine.inverse_inertia
    }

    /// Sets the engine's speed before its clutch acts within what the throttle can do; what that added, N m s. A clutch that works by
    /// itself opens with it.
    fn set_engine(&mut self, model: &Model, rows: &mut [Rows], speed: f32, [least, counted_from]: [f32; 2]) -> f32 {
        let Some(engine) = &mut self.engine else { return 0.0 };
        let (before, after) = (engine.speed, speed.max(least).min(engine.speed));
        let added = (after - counted_from) / engine.inverse_inertia;
        engine.speed = after;
        self.constraints[0].target_impulse += after - before;
        if let Some(law) = self.clutch_law
            && after < before
        {
            self.bound_clutch(model, rows, law.capacity(after));
        }
        added
    }

    /// Lets the clutch carry no more than `most` N m s.
    fn bound_clutch(&mut self, model: &Model, rows: &mut [Rows], most: f32) {
        let row = &mut self.constraints[0];
        row.bounds = row.bounds.map(|bound| bound.max(-most).min(most));
        let impulse = row.impulse.max(-most).min(most);
        self.carry(model, rows, 0, impulse);
    }

    /// Cuts the engine so that the propeller shaft gets no more than `shaft` N m s towards the gear and then turns by no more
    /// than `shaft_speed` rad/s; what that took, N m s at the crankshaft. A clutch that slips below `shaft` cuts nothing.
    pub(crate) fn cut_engine(&mut self, model: &Model, rows: &mut [Rows], shaft: f32, shaft_speed: f32) -> f32 {
        let Some(engine) = self.engine.filter(|_| !self.is_clutch_weaker_than(shaft)) else { return 0.0 };
        let speed = self.speed_for(model, &engine, shaft, shaft_speed);
        -self.set_engine(model, rows, speed, [engine.bounds[0], engine.speed])
    }

    /// Cuts the engine so that it turns no faster than `speed` rad/s, or than a propeller shaft with `shaft_speed` rad/s
    /// makes it; what that took, N m s.
    pub(crate) fn hold_engine(&mut self, model: &Model, rows: &mut [Rows], speed: f32, shaft_speed: f32) -> f32 {
        let Some(engine) = self.engine else { return 0.0 };
        let row = &self.constraints[0];
        let most = match converter(model).filter(|_| row.is_converter) {
            Some(converter) => self.before_converter(converter, &engine, speed, row.ratio * shaft_speed),
            None => speed.max(row.ratio * shaft_speed) + row.impulse.max(0.0) * engine.inverse_inertia,
        };
        -self.set_engine(model, rows, most, [engine.bounds[0], engine.speed])
    }

    /// Lets the clutch carry no more than what gives the propeller shaft `shaft` N m s towards the gear. A converter cannot be
    /// limited.
    pub(crate) fn limit_clutch(&mut self, model: &Model, rows: &mut [Rows], shaft: f32) {
        let row = &self.constraints[0];
        if !row.is_converter {
            self.bound_clutch(model, rows, shaft / row.torque_ratio(1.0).abs());
        }
    }

    /// Lets the engine pull just enough to give the propeller shaft `shaft` N m s towards the gear, no less than with the
    /// driver's throttle; what that added, N m s.
    pub(crate) fn pull(&mut self, model: &Model, rows: &mut [Rows], shaft: f32, shaft_speed: f32) -> f32 {
        let Some(engine) = self.engine else { return 0.0 };
        let speed = self.speed_for(model, &engine, shaft, shaft_speed);
        self.set_engine(model, rows, speed, [engine.bounds[1]; 2])
    }

    /// Returns the impulse on the propeller shaft while it turns by `shaft_speed` rad/s, with the driver's throttle and with all the engine has,
    /// N m s towards the gear.
    pub(crate) fn range_of_pull(&self, model: &Model, shaft_speed: f32) -> [f32; 2] {
        let Some(engine) = self.engine else { return [0.0; 2] };
        [engine.bounds[1], engine.speed].map(|free| self.pull_at(model, &engine, free, shaft_speed))
    }

    /// Returns the impulse on the propeller shaft while it turns by `shaft_speed` rad/s, if the engine comes to `free` rad/s before its clutch or
    /// converter acts, N m s towards the gear.
    fn pull_at(&self, model: &Model, engine: &Flywheel, free: f32, shaft_speed: f32) -> f32 {
        let row = &self.constraints[0];
        let turbine = row.ratio * shaft_speed;
        let through = match converter(model).filter(|_| row.is_converter) {
            Some(converter) => {
                let impeller = converter.impeller_speed(free, self.dt * engine.inverse_inertia, turbine);
                self.dt * converter.torques(impeller, turbine)[1]
            }
            None => {
                let most = self.clutch_law.map_or(row.bounds[1], |law| law.capacity(free));
                ((free - turbine) / engine.inverse_inertia).max(-most).min(most)
            }
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
            self.regeneration_cut_by = None;
        }
        self.limited_by = Some(limiting_assist);
    }

    /// Lets all motors begin with the torque they are to give, for `limiting_assist` to take from it.
    pub(crate) fn begin_holding(&mut self, limiting_assist: Assist, model: &Model, rows: &mut [Rows]) {
        self.limit_motors(limiting_assist);
        self.begin_motors(model, rows);
    }

    /// Lets all motors begin with the torque they are to give, for `assist` to cut their regeneration.
    pub(crate) fn begin_cutting(&mut self, assist: Assist, model: &Model, rows: &mut [Rows]) {
        self.limit_motors(self.limited_by.unwrap_or(Assist::TractionControl));
        self.regeneration_cut_by = Some(assist);
        self.begin_motors(model, rows);
    }

    /// Takes back the torques that motors began with for assists. Their limits stay.
    pub(crate) fn clear_begun(&mut self, model: &Model, rows: &mut [Rows]) {
        self.clear_impulses(model, rows);
        // Sums of impulses do not return to the same bits, so wheels get the impulse of the engine anew.
        let engine = self.engine.map_or(0.0, |_| self.carried(0));
        for (bank, rows) in model.banks().iter().zip(rows) {
            rows.drive.shaft = bank.levers[0] * Four::splat(engine);
        }
    }

    fn begin_motors(&mut self, model: &Model, rows: &mut [Rows]) {
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

    /// Lets motor `k` regenerate with no more than gives its wheels `shaft` N m s towards the drive, ≤ 0, the mean of their speeds then
    /// being `shaft_speed` rad/s, or as it is: what its rotor needs to get there comes on top.
    pub(crate) fn cut_motor(
        &mut self,
        model: &Model,
        rows: &mut [Rows],
        k: usize,
        shaft: f32,
        shaft_speed: Option<f32>,
    ) {
        let (motor, [first, _], direction) = (&model.parts().motors[k], self.first_rows(model), self.pull.direction);
        let row = &self.constraints[first + k];
        let least = shaft / row.torque_ratio(-direction);
        let turned = shaft_speed.map_or(0.0, |speed| speed * motor.reduction - self.motors[k].rotor);
        self.motors[k].limits.least = ((least + motor.inertia * turned * direction) / self.dt).min(0.0);
        if row.impulse * direction < least {
            self.carry(model, rows, first + k, least * direction);
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
    use crate::drivetrain::constraints::DriveConstraint;
    use crate::drivetrain::converter::ClutchLaw;
    use crate::drivetrain::rows::MotorStep;
    use crate::model::plain::plain_car;

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

    /// An engine of 0.25 kg m² at up to 300 rad/s, in a gear of 10, on a clutch that bites from 80 rad/s on and then carries 0.05 N m s
    /// more per rad/s.
    fn engaged() -> (Shafts, Model) {
        let flywheel = Flywheel { speed: 300.0, inverse_inertia: 4.0, bounds: [100.0, 300.0], ..Flywheel::default() };
        let law = ClutchLaw { idle: 80.0, per_speed: 0.05, full: 12.0 };
        let row = DriveConstraint::clutch(&flywheel, 10.0, 1.0, law.capacity(300.0), 8.0);
        let (engine, clutch_law, constraints) = (Some(flywheel), Some(law), [row].into());
        let shafts = Shafts { engine, clutch_law, constraints, count: 1, ..Shafts::default() };
        (shafts, Model::new(plain_car()).expect("valid"))
    }

    /// Nothing is taken from an engine whose clutch carries no more than the wheels take; else it comes to the speed at which the
    /// clutch is engaged just so far, or at which it drives the shaft, `ω = 10 ω_s + p / J`, whichever is higher.
    #[test]
    fn an_engine_is_cut_to_the_speed_at_which_its_clutch_carries_what_wheels_take() {
        for (shaft, shaft_speed, taken, capacity) in [
            (110.0, 0.0, 0.0, 11.0),
            (500.0, 20.0, 0.0, 11.0),
            (50.0, 0.0, (300.0 - 180.0) / 4.0, 5.0),
            (50.0, 20.0, (300.0 - 220.0) / 4.0, 7.0),
            (0.0, 0.0, (300.0 - 100.0) / 4.0, 1.0),
        ] {
            let (mut shafts, model) = engaged();
            let found = shafts.cut_engine(&model, &mut [], shaft, shaft_speed);
            let row = &shafts.constraints[0];
            // Products of numbers up to 300 in 32 bits.
            assert!((found - taken).abs() < 1e-4, "{found} N m s for {shaft} N m s at {shaft_speed} rad/s");
            assert!((row.bounds[1] - capacity).abs() < 1e-4, "{:?} for {shaft} N m s", row.bounds);
            assert!(row.impulse <= row.bounds[1]);
        }
    }

    /// Cruise control lets an engine rise until its clutch carries what is asked for, within what its throttle has.
    #[test]
    fn an_engine_rises_until_its_clutch_carries_what_is_asked_for() {
        for (shaft, speed) in [(50.0, 180.0), (110.0, 300.0), (200.0, 300.0), (0.0, 100.0), (-50.0, 100.0)] {
            let (mut shafts, model) = engaged();
            shafts.engine.as_mut().expect("has one").bounds[1] = 100.0;
            shafts.pull(&model, &mut [], shaft, 0.0);
            let found = shafts.engine.expect("has one").speed;
            assert!((found - speed).abs() < 1e-4, "{found} rad/s for {shaft} N m s");
        }
        let (shafts, model) = engaged();
        let pulls = shafts.range_of_pull(&model, 20.0);
        assert_eq!(pulls, [110.0; 2], "what the clutch carries, at full throttle with either");
    }

    #[test]
    fn cruise_control_has_the_torque_it_orders_whatever_the_pedals_say() {
        // Of an earlier step.
        let limits = MotorLimits { most: 10.0, ..MotorLimits::default() };
        let mut shafts = Shafts { motors: [MotorStep { rotor: 0.0, limits }; 2].into(), ..Shafts::default() };
        shafts.drive_motor(0, 120.0);
        let [driven, other] = &mut *shafts.motors else { panic!("two motors") };
        assert_eq!(driven.limits.of(&motor(), 100.0, (-75.0, 0.0)), (120.0, 0.0));
        assert_eq!(driven.limits.changed, [195.0, 0.0, 0.0]);
        driven.limits.most = 50.0;
        assert_eq!(driven.limits.of(&motor(), 100.0, (-75.0, 0.0)), (50.0, 0.0));
        assert_eq!(driven.limits.changed, [195.0, -70.0, 0.0]);
        (driven.limits.cruise, driven.limits.least) = (None, -20.0);
        assert_eq!(driven.limits.of(&motor(), 100.0, (-75.0, 0.0)), (-20.0, 0.0), "regeneration that is cut");
        assert_eq!(driven.limits.changed, [0.0, 0.0, 55.0]);
        assert_eq!(other.limits.of(&motor(), 100.0, (75.0, 0.0)), (75.0, 0.0), "the other motor has no limit");
    }
}
