//! Intervention of assists in the rows between spins before these are solved: they cut the engine, open the clutch and
//! set motor torques.

use crate::assist_log::{Assist, Contribution};
use crate::drivetrain::constraints::Flywheel;
use crate::drivetrain::launch_device::{Converter, LaunchDevice};
use crate::drivetrain::motor::Motor;
use crate::drivetrain::rows::{MotorLimits, Shafts};
use crate::model::Model;
use crate::vehicle::Vehicle;
use crate::vehicle::rows::WheelRows;
use skidpad_simd::lane::{F32x4, Lane};

impl Default for MotorLimits {
    /// Returns limits that change nothing: no cruise torque, infinite bounds, and no recorded changes.
    fn default() -> Self {
        Self { cruise_torque: None, max_torque: f32::INFINITY, min_torque: f32::NEG_INFINITY, torque_changes: [0.0; 3] }
    }
}

impl MotorLimits {
    /// Applies assists to `pedal_torque`, the torque (N m) and slope (N m s) that the pedals demand of `motor`, in this
    /// order: the cruise torque replaces the pedals, clamped to the range of the motor; traction or launch control
    /// limits the torque from above (`max_torque`); a cut of the regeneration limits it from below (`min_torque`), with
    /// precedence.
    ///
    /// `speed`: rotor speed, rad/s, positive towards the drive (the driving direction). Returns torque and slope; a
    /// limited torque has slope 0. Stores the change by each of the three in `torque_changes`.
    pub(crate) fn apply(&mut self, motor: &Motor, speed: f32, pedal_torque: (f32, f32)) -> (f32, f32) {
        let requested = self.cruise_torque.map_or(pedal_torque, |torque| clamp_to_motor_range(motor, speed, torque));
        // Pairs of torque (`.0`) and slope (`.1`).
        let upper_limited = if requested.0 > self.max_torque { (self.max_torque, 0.0) } else { requested };
        let limited = if upper_limited.0 < self.min_torque { (self.min_torque, 0.0) } else { upper_limited };
        self.torque_changes =
            [requested.0 - pedal_torque.0, upper_limited.0 - requested.0, limited.0 - upper_limited.0];
        limited
    }
}

/// Clamps `torque` to the range of `motor` at `speed` rad/s, from full regeneration (throttle 0, brake 1) to full
/// drive. Returns it in N m, and its derivative by the speed in N m s: that of the limit, or 0 inside the range.
fn clamp_to_motor_range(motor: &Motor, speed: f32, torque: f32) -> (f32, f32) {
    // Pairs of torque and derivative at full regeneration and full drive.
    let [lower_limit, upper_limit] = [motor.demand(0.0, 1.0), 1.0].map(|demand| motor.torque(speed, demand));
    match torque {
        torque if torque > upper_limit.0 => upper_limit,
        torque if torque < lower_limit.0 => lower_limit,
        torque => (torque, 0.0),
    }
}

impl Vehicle {
    /// Adds the torque changes by assists in the step just solved to the assist log, as engine torque summed over the
    /// motors, N m: by cruise control, by the assist that limits the motors, and by the one that cuts regeneration (ABS
    /// if none is stored). Assists that the model lacks are skipped. Does nothing if no assist limited a motor.
    pub(crate) fn record_motor_changes(&mut self) {
        let Some(limited_by) = self.shafts.limited_by else { return };
        let assist_log = self.assist_log.get_or_insert_default();
        let regeneration_assist = self.shafts.regeneration_cut_by.unwrap_or(Assist::AntiLock);
        let changing_assists = [Assist::CruiseControl, limited_by, regeneration_assist].into_iter().enumerate();
        // `torque_changes` has the order of `changing_assists`.
        for (i, assist) in changing_assists.filter(|(_, assist)| self.model.assists().contains(assist)) {
            let engine_torque = self.shafts.motors.iter().map(|motor| motor.limits.torque_changes[i]).sum();
            assist_log.add(assist, Contribution { engine_torque, ..Contribution::default() });
        }
    }
}

impl Shafts {
    /// Returns the turns of the engine per turn of the propeller shaft; `None` without an engine or out of gear.
    pub(crate) fn engine_ratio(&self) -> Option<f32> {
        self.engine.map(|_| self.constraints[0].ratio).filter(|&ratio| ratio != 0.0)
    }

    /// Returns whether an open torque converter connects engine and gearbox, not a clutch or a closed lock-up clutch.
    pub(crate) fn has_converter(&self) -> bool {
        self.engine.is_some() && self.constraints[0].is_converter
    }

    /// Returns the impulse of row `i` on the shaft of its wheels, N m s, before the levers of the wheels multiply it.
    pub(crate) fn shaft_impulse(&self, i: usize) -> f32 {
        self.constraints[i].shaft_impulse(self.constraints[i].impulse)
    }

    /// Returns the engine speed before its clutch or converter acts, rad/s, that gives the propeller shaft
    /// `shaft_impulse` N m s towards the gear while it turns with `shaft_speed` rad/s. The lowest such speed is
    /// returned. A clutch with less capacity counts with its capacity.
    ///
    /// Clutch: `ω = i ω_s + p / J` for an impulse p through it. An automatic clutch opens as the engine slows, so for a
    /// positive p, ω is also at least the speed at which the clutch can carry p. Converter: the impeller speed for that
    /// turbine torque (at most the engine or turbine speed, whichever is higher), plus the speed that the impeller's
    /// torque costs.
    fn engine_speed_for(&self, model: &Model, engine: &Flywheel, shaft_impulse: f32, shaft_speed: f32) -> f32 {
        let row = &self.constraints[0];
        // Impulse through clutch or turbine, N m s.
        let through_impulse = shaft_impulse / row.torque_ratio(shaft_impulse).abs();
        let turbine_speed = row.ratio * shaft_speed;
        match converter(model).filter(|_| row.is_converter) {
            Some(converter) => {
                let impeller_speed = converter.impeller_speed_for(
                    through_impulse / self.dt,
                    turbine_speed,
                    engine.speed.max(turbine_speed),
                );
                self.speed_before_converter(converter, engine, impeller_speed, turbine_speed)
            }
            None => match self.clutch_law {
                Some(capacity_law) if through_impulse > 0.0 => {
                    let clutch_impulse = through_impulse.min(capacity_law.full_capacity);
                    capacity_law.speed_for(clutch_impulse).max(turbine_speed + clutch_impulse * engine.inverse_inertia)
                }
                // Clutch by pedal, or an impulse that does not drive: the present bounds limit it.
                _ => turbine_speed + through_impulse.max(row.bounds[0]).min(row.bounds[1]) * engine.inverse_inertia,
            },
        }
    }

    /// Returns whether the clutch at its present capacity cannot give the propeller shaft more than `shaft_impulse` N m
    /// s. False for a converter.
    fn is_clutch_weaker_than(&self, shaft_impulse: f32) -> bool {
        let row = &self.constraints[0];
        // 1.0: torque ratio of a driving torque.
        !row.is_converter && shaft_impulse >= row.bounds[1] * row.torque_ratio(1.0).abs()
    }

    /// Returns the engine speed before the converter acts, rad/s, with which the impeller ends the step at
    /// `impeller_speed` rad/s: `ω + dt T(ω) / J`. `turbine_speed` is in rad/s.
    fn speed_before_converter(
        &self,
        converter: &Converter,
        engine: &Flywheel,
        impeller_speed: f32,
        turbine_speed: f32,
    ) -> f32 {
        // Index 0: torque on the impeller.
        impeller_speed + self.dt * converter.torques(impeller_speed, turbine_speed)[0] * engine.inverse_inertia
    }

    /// Changes the engine's torque over the step by its speed before the clutch acts, rad/s: sets this speed to
    /// `speed`, at least `min_speed`, and never above its present value. The right side of the clutch's row changes by
    /// the same speed. The capacity of an automatic clutch falls with the speed, which can reduce the impulse of the
    /// row.
    ///
    /// Returns `J (ω_new − reference_speed)`, N m s: negative if the engine loses impulse; 0 without an engine.
    fn limit_free_engine_speed(
        &mut self,
        model: &Model,
        rows: &mut [WheelRows],
        speed: f32,
        [min_speed, reference_speed]: [f32; 2],
    ) -> f32 {
        let Some(engine) = &mut self.engine else { return 0.0 };
        let (old_speed, new_speed) = (engine.speed, speed.max(min_speed).min(engine.speed));
        let added_impulse = (new_speed - reference_speed) / engine.inverse_inertia;
        engine.speed = new_speed;
        self.constraints[0].right_hand_side += new_speed - old_speed;
        if let Some(capacity_law) = self.clutch_law
            && new_speed < old_speed
        {
            self.bound_clutch(model, rows, capacity_law.capacity(new_speed));
        }
        added_impulse
    }

    /// Limits both bounds of the clutch and its present impulse to ± `max_impulse` N m s, and applies the change of the
    /// impulse to the wheels.
    fn bound_clutch(&mut self, model: &Model, rows: &mut [WheelRows], max_impulse: f32) {
        let row = &mut self.constraints[0];
        row.bounds = row.bounds.map(|bound| bound.max(-max_impulse).min(max_impulse));
        let impulse = row.impulse.max(-max_impulse).min(max_impulse);
        self.set_row_impulse(model, rows, 0, impulse);
    }

    /// Reduces the engine's torque so that the propeller shaft gets at most `shaft_impulse` N m s towards the gear
    /// while it turns with `shaft_speed` rad/s. The closed throttle is the lower limit, and the torque is never
    /// increased. Returns the impulse taken from the crankshaft, N m s, ≥ 0. Does nothing and returns 0 without an
    /// engine, or if the clutch cannot pass more than `shaft_impulse` anyway.
    pub(crate) fn cut_engine(
        &mut self,
        model: &Model,
        rows: &mut [WheelRows],
        shaft_impulse: f32,
        shaft_speed: f32,
    ) -> f32 {
        let Some(engine) = self.engine.filter(|_| !self.is_clutch_weaker_than(shaft_impulse)) else { return 0.0 };
        let speed = self.engine_speed_for(model, &engine, shaft_impulse, shaft_speed);
        // Lower limit: speed with a closed throttle. Reference: the present speed, so that the result is the loss.
        -self.limit_free_engine_speed(model, rows, speed, [engine.speed_bounds[0], engine.speed])
    }

    /// Reduces the engine's torque so that it ends the step with at most `speed` rad/s, or with the speed that a
    /// propeller shaft of `shaft_speed` rad/s causes, if that is higher. The load that clutch or converter takes in the
    /// step is allowed for. The closed throttle is the lower limit. Returns the impulse taken from the crankshaft, N m
    /// s, ≥ 0; 0 without an engine.
    pub(crate) fn limit_engine_speed(
        &mut self,
        model: &Model,
        rows: &mut [WheelRows],
        speed: f32,
        shaft_speed: f32,
    ) -> f32 {
        let Some(engine) = self.engine else { return 0.0 };
        let row = &self.constraints[0];
        let max_free_speed = match converter(model).filter(|_| row.is_converter) {
            Some(converter) => self.speed_before_converter(converter, &engine, speed, row.ratio * shaft_speed),
            // An engaged clutch takes its impulse from the engine within the step.
            None => speed.max(row.ratio * shaft_speed) + row.impulse.max(0.0) * engine.inverse_inertia,
        };
        // Limit and reference as in `cut_engine`.
        -self.limit_free_engine_speed(model, rows, max_free_speed, [engine.speed_bounds[0], engine.speed])
    }

    /// Limits the clutch to the impulse that gives the propeller shaft `shaft_impulse` N m s, in either direction. A
    /// torque converter cannot be limited and is left unchanged. The engine's torque is not cut.
    pub(crate) fn limit_clutch(&mut self, model: &Model, rows: &mut [WheelRows], shaft_impulse: f32) {
        let row = &self.constraints[0];
        if !row.is_converter {
            // 1.0: torque ratio of a driving torque.
            self.bound_clutch(model, rows, shaft_impulse / row.torque_ratio(1.0).abs());
        }
    }

    /// Reduces the engine's torque to the least that gives the propeller shaft `shaft_impulse` N m s towards the gear
    /// while it turns with `shaft_speed` rad/s. The torque of the driver's throttle is the lower limit, the present
    /// torque the upper one. Returns the impulse beyond that of the driver's throttle, N m s at the crankshaft; 0
    /// without an engine.
    pub(crate) fn reduce_engine_to_shaft_impulse(
        &mut self,
        model: &Model,
        rows: &mut [WheelRows],
        shaft_impulse: f32,
        shaft_speed: f32,
    ) -> f32 {
        let Some(engine) = self.engine else { return 0.0 };
        let speed = self.engine_speed_for(model, &engine, shaft_impulse, shaft_speed);
        // Lower limit and reference: the speed with the driver's throttle.
        self.limit_free_engine_speed(model, rows, speed, [engine.speed_bounds[1]; 2])
    }

    /// Returns the impulses on the propeller shaft at `shaft_speed` rad/s with the driver's throttle and with the
    /// present, higher torque of the engine, N m s towards the gear. Both are 0 without an engine.
    pub(crate) fn shaft_impulse_range(&self, model: &Model, shaft_speed: f32) -> [f32; 2] {
        let Some(engine) = self.engine else { return [0.0; 2] };
        [engine.speed_bounds[1], engine.speed]
            .map(|free_speed| self.shaft_impulse_at(model, &engine, free_speed, shaft_speed))
    }

    /// Returns the impulse on the propeller shaft at `shaft_speed` rad/s if the engine reaches `free_speed` rad/s
    /// before its clutch or converter acts, N m s towards the gear, losses included. A clutch carries
    /// `J (free_speed − i ω_s)` up to its capacity at `free_speed`; a converter gives its turbine torque with the
    /// impeller in balance.
    fn shaft_impulse_at(&self, model: &Model, engine: &Flywheel, free_speed: f32, shaft_speed: f32) -> f32 {
        let row = &self.constraints[0];
        let turbine_speed = row.ratio * shaft_speed;
        let through_impulse = match converter(model).filter(|_| row.is_converter) {
            Some(converter) => {
                let impeller_speed =
                    converter.impeller_speed(free_speed, self.dt * engine.inverse_inertia, turbine_speed);
                // Index 1: torque of the turbine.
                self.dt * converter.torques(impeller_speed, turbine_speed)[1]
            }
            None => {
                let max_impulse =
                    self.clutch_law.map_or(row.bounds[1], |capacity_law| capacity_law.capacity(free_speed));
                ((free_speed - turbine_speed) / engine.inverse_inertia).max(-max_impulse).min(max_impulse)
            }
        };
        row.shaft_impulse(through_impulse)
    }

    /// Returns the torques of motor `k` at its rotor speed at the start of the step, N m towards the drive: with the
    /// driver's pedals, with full regeneration, and with full drive.
    pub(crate) fn motor_torque_range(&self, motor: &Motor, k: usize) -> [f32; 3] {
        let rotor_speed = self.motors[k].rotor_speed;
        let torque_at = |demand: f32| motor.torque(rotor_speed * self.pedal_demand.direction, demand).0;
        // Full regeneration: throttle 0 and brake 1. Full drive: demand 1. The slopes (`.1`) are not used.
        [self.pedal_demand.motor_torque(motor, rotor_speed).0, torque_at(motor.demand(0.0, 1.0)), torque_at(1.0)]
    }

    /// Sets the torque of motor `k` for cruise control, N m towards the drive. The torque replaces the demand of the
    /// pedals. Enables the limits of assists on motors.
    pub(crate) fn set_cruise_torque(&mut self, k: usize, torque: f32) {
        // Keep an assist that already limits the motors.
        self.enable_motor_limits(self.limited_by.unwrap_or(Assist::TractionControl));
        self.motors[k].limits.cruise_torque = Some(torque);
    }

    /// Enables limits of assists on motors, and stores `limiting_assist` as the assist that limits them, also in place
    /// of an earlier one. The first call of a step resets the limits of all motors and `regeneration_cut_by`.
    fn enable_motor_limits(&mut self, limiting_assist: Assist) {
        if self.limited_by.is_none() {
            self.motors.iter_mut().for_each(|motor| motor.limits = MotorLimits::default());
            self.regeneration_cut_by = None;
        }
        self.limited_by = Some(limiting_assist);
    }

    /// Enables limits of motors by `limiting_assist`, and sets the row of every motor to the torque that the pedals
    /// demand within the limits so far. The assist then reduces these initial impulses with [`Shafts::limit_motor`].
    /// [`Shafts::clear_initial_impulses`] removes them before the solve; the limits remain.
    pub(crate) fn begin_motor_limits(&mut self, limiting_assist: Assist, model: &Model, rows: &mut [WheelRows]) {
        self.enable_motor_limits(limiting_assist);
        self.apply_motor_demands(model, rows);
    }

    /// Stores `assist` as the one that cuts regeneration, and sets the row of every motor to the torque that the pedals
    /// demand within the limits so far. The assist then reduces these initial impulses with
    /// [`Shafts::limit_regeneration`]. [`Shafts::clear_initial_impulses`] removes them before the solve; the limits
    /// remain.
    pub(crate) fn begin_regeneration_cut(&mut self, assist: Assist, model: &Model, rows: &mut [WheelRows]) {
        // Keep an assist that already limits the motors.
        self.enable_motor_limits(self.limited_by.unwrap_or(Assist::TractionControl));
        self.regeneration_cut_by = Some(assist);
        self.apply_motor_demands(model, rows);
    }

    /// Sets the impulses of motors and couplings to 0, because assists used them only to find the limits. The wheels'
    /// shaft impulses become those of the engine's row alone. The limits and the impulse of the engine's row remain.
    pub(crate) fn clear_initial_impulses(&mut self, model: &Model, rows: &mut [WheelRows]) {
        self.clear_impulses(model, rows);
        // Subtraction does not restore the same bits, so the wheels get the engine's impulse (row 0) again.
        let engine_impulse = self.engine.map_or(0.0, |_| self.shaft_impulse(0));
        for (group, rows) in model.wheel_packs().iter().zip(rows) {
            rows.drive.shaft = group.shaft_jacobian[0] * F32x4::splat(engine_impulse);
        }
    }

    /// Sets the impulse of every motor's row to `dt` times its demanded torque within the limits of assists, at the
    /// rotor speed at the start of the step. Adds the changes to the wheels' shaft impulses. Torques and limits are
    /// positive towards the drive (in the driving direction), impulses of rows positive forward.
    fn apply_motor_demands(&mut self, model: &Model, rows: &mut [WheelRows]) {
        let ([first_motor_row, _], pedal_demand) = (self.first_rows(model), self.pedal_demand);
        for (k, motor) in model.parts().motors.iter().enumerate() {
            let motor_step = &mut self.motors[k];
            // Slope: derivative of the torque by the speed. The solver evaluates it later, at the speeds of the step.
            let (torque, _slope) = motor_step.limits.apply(
                motor,
                // Rotor speed towards the drive; `motor_torque` takes the speed that is positive forward.
                motor_step.rotor_speed * pedal_demand.direction,
                pedal_demand.motor_torque(motor, motor_step.rotor_speed),
            );
            self.set_row_impulse(model, rows, first_motor_row + k, torque * pedal_demand.direction * self.dt);
        }
    }

    /// Limits motor `k` so that its wheels get at most `shaft_impulse` N m s towards the drive while they reach a mean
    /// speed of `shaft_speed` rad/s. The stored limit `max_torque` is the torque for that impulse through the gearing,
    /// plus the torque that accelerates the rotor to that speed, and at least 0. A higher impulse in the motor's row is
    /// reduced to the part through the gearing.
    pub(crate) fn limit_motor(
        &mut self,
        model: &Model,
        rows: &mut [WheelRows],
        k: usize,
        shaft_impulse: f32,
        shaft_speed: f32,
    ) {
        let (motor, [first_motor_row, _], direction) =
            (&model.parts().motors[k], self.first_rows(model), self.pedal_demand.direction);
        let motor_row = &self.constraints[first_motor_row + k];
        // Impulses through the gearing and into the rotor, N m s towards the drive. Torque ratio of a driving torque.
        let max_impulse = shaft_impulse / motor_row.torque_ratio(direction);
        let rotor_impulse = motor.inertia * (shaft_speed * motor.reduction - self.motors[k].rotor_speed) * direction;
        self.motors[k].limits.max_torque = ((max_impulse + rotor_impulse) / self.dt).max(0.0);
        if motor_row.impulse * direction > max_impulse {
            self.set_row_impulse(model, rows, first_motor_row + k, max_impulse * direction);
        }
    }

    /// Limits the regeneration of motor `k` to `shaft_impulse` N m s at its wheels, ≤ 0: positive values point towards
    /// the drive. The torque that turns the rotor to a mean wheel speed of `shaft_speed` rad/s is added to the stored
    /// limit `min_torque`, which is at most 0; `None` leaves that torque out. If the motor's row brakes more than
    /// `shaft_impulse`, it is reduced to `shaft_impulse`, without the rotor's part.
    pub(crate) fn limit_regeneration(
        &mut self,
        model: &Model,
        rows: &mut [WheelRows],
        k: usize,
        shaft_impulse: f32,
        shaft_speed: Option<f32>,
    ) {
        let (motor, [first_motor_row, _], direction) =
            (&model.parts().motors[k], self.first_rows(model), self.pedal_demand.direction);
        let motor_row = &self.constraints[first_motor_row + k];
        // −direction: torque ratio of a braking torque.
        let min_impulse = shaft_impulse / motor_row.torque_ratio(-direction);
        let rotor_speed_change = shaft_speed.map_or(0.0, |speed| speed * motor.reduction - self.motors[k].rotor_speed);
        self.motors[k].limits.min_torque =
            ((min_impulse + motor.inertia * rotor_speed_change * direction) / self.dt).min(0.0);
        if motor_row.impulse * direction < min_impulse {
            self.set_row_impulse(model, rows, first_motor_row + k, min_impulse * direction);
        }
    }
}

/// Returns the torque converter of `model`; `None` for a clutch or without an engine.
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
    use crate::drivetrain::launch_device::ClutchLaw;
    use crate::drivetrain::rows::MotorStep;
    use crate::model::plain::plain_car;

    /// Builds a motor of 300 N m and 90 kW with a regeneration of up to three quarters of its torque.
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

    /// Checks that a torque is clamped to the peak torque and to the range of regeneration, and unchanged between both
    /// with slope 0. Beyond the base speed, the limit has the slope of constant power.
    #[test]
    fn a_motor_gives_what_is_asked_as_far_as_it_reaches() {
        let motor = motor();
        // At 100 rad/s regeneration has three quarters of 300 N m.
        for (torque, limited) in [(500.0, 300.0), (120.0, 120.0), (-200.0, -200.0), (-300.0, -225.0)] {
            assert_eq!(clamp_to_motor_range(&motor, 100.0, torque), (limited, 0.0), "{torque} N m");
        }
        // Beyond its base speed the torque falls by `P / ω²`.
        assert_eq!(clamp_to_motor_range(&motor, 600.0, 200.0), (150.0, -0.25));
    }

    /// Builds an engine of 0.25 kg m² at up to 300 rad/s, in a gear of 10, with a clutch that engages from 80 rad/s and
    /// gains 0.05 N m s per rad/s.
    fn engaged() -> (Shafts, Model) {
        let flywheel =
            Flywheel { speed: 300.0, inverse_inertia: 4.0, speed_bounds: [100.0, 300.0], ..Flywheel::default() };
        let law = ClutchLaw { idle: 80.0, per_speed: 0.05, full_capacity: 12.0 };
        // Ratio 10, efficiency 1, and 8 N m s in the last step.
        let row = DriveConstraint::clutch(&flywheel, 10.0, 1.0, law.capacity(300.0), 8.0);
        let (engine, clutch_law, constraints) = (Some(flywheel), Some(law), [row].into());
        let shafts = Shafts { engine, clutch_law, constraints, row_count: 1, ..Shafts::default() };
        (shafts, Model::new(plain_car()).expect("valid"))
    }

    /// Checks that an engine is not cut if its clutch carries no more than the wheels allow. Else it is cut to the
    /// speed at which the clutch is engaged just far enough, or to the speed `ω = 10 ω_s + p / J` at which it drives
    /// the shaft, whichever is higher.
    #[test]
    fn an_engine_is_cut_to_the_speed_at_which_its_clutch_carries_what_wheels_take() {
        for (shaft_impulse, shaft_speed, expected, capacity) in [
            (110.0, 0.0, 0.0, 11.0),
            (500.0, 20.0, 0.0, 11.0),
            (50.0, 0.0, (300.0 - 180.0) / 4.0, 5.0),
            (50.0, 20.0, (300.0 - 220.0) / 4.0, 7.0),
            (0.0, 0.0, (300.0 - 100.0) / 4.0, 1.0),
        ] {
            let (mut shafts, model) = engaged();
            let found = shafts.cut_engine(&model, &mut [], shaft_impulse, shaft_speed);
            let row = &shafts.constraints[0];
            // Products of numbers up to 300 in 32 bits.
            assert!((found - expected).abs() < 1e-4, "{found} N m s for {shaft_impulse} N m s at {shaft_speed} rad/s");
            assert!((row.bounds[1] - capacity).abs() < 1e-4, "{:?} for {shaft_impulse} N m s", row.bounds);
            assert!(row.impulse <= row.bounds[1]);
        }
    }

    /// Checks that cruise control raises the engine until its clutch carries the requested impulse, within the range of
    /// the throttle. At full throttle, the range of shaft impulses has the capacity of the clutch at both ends.
    #[test]
    fn an_engine_rises_until_its_clutch_carries_what_is_asked_for() {
        for (shaft, speed) in [(50.0, 180.0), (110.0, 300.0), (200.0, 300.0), (0.0, 100.0), (-50.0, 100.0)] {
            let (mut shafts, model) = engaged();
            shafts.engine.as_mut().expect("has one").speed_bounds[1] = 100.0;
            shafts.reduce_engine_to_shaft_impulse(&model, &mut [], shaft, 0.0);
            let found = shafts.engine.expect("has one").speed;
            assert!((found - speed).abs() < 1e-4, "{found} rad/s for {shaft} N m s");
        }
        let (shafts, model) = engaged();
        let shaft_impulses = shafts.shaft_impulse_range(&model, 20.0);
        assert_eq!(shaft_impulses, [110.0; 2], "what the clutch carries, at full throttle with either");
    }

    /// Checks that cruise control replaces the torque of the pedals, that an upper limit and the limit of regeneration
    /// apply after it, and that each change is recorded. Limits of an earlier step do not count, and another motor
    /// keeps the torque of its pedals.
    #[test]
    fn cruise_control_has_the_torque_it_orders_whatever_the_pedals_say() {
        // Limit left from an earlier step.
        let limits = MotorLimits { max_torque: 10.0, ..MotorLimits::default() };
        let mut shafts = Shafts { motors: [MotorStep { rotor_speed: 0.0, limits }; 2].into(), ..Shafts::default() };
        shafts.set_cruise_torque(0, 120.0);
        let [driven, other] = &mut *shafts.motors else { panic!("two motors") };
        assert_eq!(driven.limits.apply(&motor(), 100.0, (-75.0, 0.0)), (120.0, 0.0)); // pedals: torque, slope
        assert_eq!(driven.limits.torque_changes, [195.0, 0.0, 0.0]);
        driven.limits.max_torque = 50.0;
        assert_eq!(driven.limits.apply(&motor(), 100.0, (-75.0, 0.0)), (50.0, 0.0));
        assert_eq!(driven.limits.torque_changes, [195.0, -70.0, 0.0]);
        (driven.limits.cruise_torque, driven.limits.min_torque) = (None, -20.0);
        assert_eq!(driven.limits.apply(&motor(), 100.0, (-75.0, 0.0)), (-20.0, 0.0), "regeneration that is cut");
        assert_eq!(driven.limits.torque_changes, [0.0, 0.0, 55.0]);
        assert_eq!(other.limits.apply(&motor(), 100.0, (75.0, 0.0)), (75.0, 0.0), "the other motor has no limit");
    }
}
