//! What assists do to the rows between spins before they are solved: engines cut, clutches opened, motors told what to give.

use crate::assists::budget::{Added, Assist};
use crate::drivetrain::converter::{Converter, Takeup};
use crate::drivetrain::links::Flywheel;
use crate::drivetrain::motor::{MAX_MOTORS, Motor};
use crate::drivetrain::rows::{Order, Orders, Shafts};
use crate::model::Model;
use crate::step::rows::Rows;
use crate::step::vehicle::Vehicle;

impl Default for Orders {
    fn default() -> Self {
        let motors = [Order { cruise: None, most: f32::INFINITY, changed: [0.0; 2] }; MAX_MOTORS];
        Self { motors, holder: Assist::TractionControl }
    }
}

impl Orders {
    /// What becomes of the torque (and its slope) that the pedals ask of motor `k` at a rotor speed of `speed` rad/s towards
    /// the drive.
    pub(crate) fn of(&mut self, k: usize, motor: &Motor, speed: f32, pedals: (f32, f32)) -> (f32, f32) {
        let order = &mut self.motors[k];
        let driven = order.cruise.map_or(pedals, |torque| within_reach(motor, speed, torque));
        let held = if driven.0 > order.most { (order.most, 0.0) } else { driven };
        order.changed = [driven.0 - pedals.0, held.0 - driven.0];
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
    /// Counts what orders changed at the motors in the step just solved.
    pub(crate) fn count_motors(&mut self) {
        let Some(orders) = &self.shafts.orders else { return };
        let budget = self.budget.get_or_insert_default();
        for (i, assist) in [Assist::CruiseControl, orders.holder].into_iter().enumerate() {
            let engine_torque = orders.motors.iter().map(|order| order.changed[i]).sum();
            budget.add(assist, Added { engine_torque, ..Added::default() });
        }
    }
}

impl Shafts {
    /// Turns of the engine per turn of the propeller shaft; `None` without an engine, or out of gear.
    pub(crate) fn engine_ratio(&self) -> Option<f32> {
        self.engine.map(|_| self.links[0].ratio).filter(|&ratio| ratio != 0.0)
    }

    /// Whether a torque converter, not a clutch, is between engine and gearbox now.
    pub(crate) fn has_converter(&self) -> bool {
        self.engine.is_some() && self.links[0].fluid
    }

    /// What row `i` gives the mean of its wheels, N m s.
    pub(crate) fn carried(&self, i: usize) -> f32 {
        self.links[i].at_wheels(self.links[i].impulse)
    }

    /// Speed the engine must have before its clutch or converter acts, for that to give the propeller shaft `shaft` N m s
    /// towards the gear, while it then turns by `turning` rad/s.
    fn speed_for(&self, model: &Model, engine: &Flywheel, shaft: f32, turning: f32) -> f32 {
        let link = &self.links[0];
        let through = shaft / link.torque_ratio(shaft).abs();
        let turbine = link.ratio * turning;
        match converter(model).filter(|_| link.fluid) {
            Some(fluid) => {
                let impeller = fluid.impeller_for(through / self.dt, turbine, engine.speed.max(turbine));
                self.before_converter(fluid, engine, impeller, turbine)
            }
            None => turbine + through.max(link.bounds[0]).min(link.bounds[1]) * engine.inverse_inertia,
        }
    }

    /// Speed of the engine before its converter acts, if that leaves the impeller with `impeller` rad/s.
    fn before_converter(&self, fluid: &Converter, engine: &Flywheel, impeller: f32, turbine: f32) -> f32 {
        impeller + self.dt * fluid.torques(impeller, turbine)[0] * engine.inverse_inertia
    }

    /// Sets the engine's speed before its clutch acts within what the throttle can do; what that added, N m s.
    fn set_engine(&mut self, speed: f32, least: f32, counted_from: f32) -> f32 {
        let Some(engine) = &mut self.engine else { return 0.0 };
        let (before, after) = (engine.speed, speed.max(least).min(engine.speed));
        engine.speed = after;
        self.links[0].target_impulse += after - before;
        (after - counted_from) / engine.inverse_inertia
    }

    /// Cuts the engine so that the propeller shaft gets no more than `shaft` N m s towards the gear and then turns by no more
    /// than `turning` rad/s; what that took, N m s at the crankshaft.
    pub(crate) fn cut_engine(&mut self, model: &Model, shaft: f32, turning: f32) -> f32 {
        let Some(engine) = self.engine else { return 0.0 };
        -self.set_engine(self.speed_for(model, &engine, shaft, turning), engine.bounds[0], engine.speed)
    }

    /// Cuts the engine so that it turns no faster than `speed` rad/s, or than a propeller shaft with `turning` rad/s
    /// makes it; what that took, N m s.
    pub(crate) fn hold_engine(&mut self, model: &Model, speed: f32, turning: f32) -> f32 {
        let Some(engine) = self.engine else { return 0.0 };
        let link = &self.links[0];
        let most = match converter(model).filter(|_| link.fluid) {
            Some(fluid) => self.before_converter(fluid, &engine, speed, link.ratio * turning),
            None => speed.max(link.ratio * turning) + link.impulse.max(0.0) * engine.inverse_inertia,
        };
        -self.set_engine(most, engine.bounds[0], engine.speed)
    }

    /// Lets the clutch carry no more than what gives the propeller shaft `shaft` N m s towards the gear. A converter cannot be
    /// limited.
    pub(crate) fn limit_clutch(&mut self, model: &Model, rows: &mut [Rows], shaft: f32) {
        let link = &mut self.links[0];
        if link.fluid {
            return;
        }
        let most = shaft / link.torque_ratio(1.0).abs();
        link.bounds = link.bounds.map(|bound| bound.max(-most).min(most));
        let impulse = link.impulse.max(-most).min(most);
        self.carry(model, rows, 0, impulse);
    }

    /// Lets the engine pull just enough to give the propeller shaft `shaft` N m s towards the gear, no less than with the
    /// driver's throttle; what that added, N m s.
    pub(crate) fn pull(&mut self, model: &Model, shaft: f32, turning: f32) -> f32 {
        let Some(engine) = self.engine else { return 0.0 };
        self.set_engine(self.speed_for(model, &engine, shaft, turning), engine.bounds[1], engine.bounds[1])
    }

    /// What the propeller shaft gets with the driver's throttle while it turns by `turning` rad/s, N m s towards the gear.
    pub(crate) fn least_pull(&self, model: &Model, turning: f32) -> f32 {
        let Some(engine) = self.engine else { return 0.0 };
        let link = &self.links[0];
        let (free, turbine) = (engine.bounds[1], link.ratio * turning);
        let through = match converter(model).filter(|_| link.fluid) {
            Some(fluid) => {
                let impeller = fluid.impeller_speed(free, self.dt * engine.inverse_inertia, turbine);
                self.dt * fluid.torques(impeller, turbine)[1]
            }
            None => ((free - turbine) / engine.inverse_inertia).max(link.bounds[0]).min(link.bounds[1]),
        };
        link.at_wheels(through)
    }

    /// Torques motor `k` has at the speed the step began with, N m towards the drive: with the driver's pedals, braking with all
    /// it regenerates, and driving with all it has.
    pub(crate) fn motor_range(&self, motor: &Motor, k: usize) -> [f32; 3] {
        let speed = self.rotors[k] * self.pull.towards;
        let at = |demand: f32| motor.torque(speed, demand).0;
        [self.pull.of(motor, self.rotors[k]).0, at(motor.demand(0.0, 1.0)), at(1.0)]
    }

    /// Lets cruise control have `torque` N m towards the drive of motor `k`.
    pub(crate) fn order(&mut self, k: usize, torque: f32) {
        self.orders.get_or_insert_default().motors[k].cruise = Some(torque);
    }

    /// Lets all motors begin with the torque they are to give, for `holder` to take from it.
    pub(crate) fn begin_holding(&mut self, holder: Assist, model: &Model, rows: &mut [Rows]) {
        let mut orders = Orders { holder, ..self.orders.unwrap_or_default() };
        let [first, _] = self.first_rows(model);
        for (k, motor) in model.parts().motors.iter().enumerate() {
            let pedals = self.pull.of(motor, self.rotors[k]);
            let (torque, _) = orders.of(k, motor, self.rotors[k] * self.pull.towards, pedals);
            self.carry(model, rows, first + k, torque * self.pull.towards * self.dt);
        }
        self.orders = Some(orders);
    }

    /// Lets motor `k` give its wheels no more than `shaft` N m s towards the drive, the mean of their speeds then being
    /// `turning` rad/s: what its rotor needs to get there comes on top.
    pub(crate) fn hold_motor(&mut self, model: &Model, rows: &mut [Rows], k: usize, shaft: f32, turning: f32) {
        let (motor, [first, _], towards) = (&model.parts().motors[k], self.first_rows(model), self.pull.towards);
        let link = &self.links[first + k];
        let most = shaft / link.torque_ratio(towards);
        let rotor = motor.inertia * (turning * motor.reduction - self.rotors[k]) * towards;
        if let Some(orders) = &mut self.orders {
            orders.motors[k].most = ((most + rotor) / self.dt).max(0.0);
        }
        if link.impulse * towards > most {
            self.carry(model, rows, first + k, most * towards);
        }
    }
}

pub(crate) fn converter(model: &Model) -> Option<&Converter> {
    match &model.parts().powertrain.engine()?.takeup {
        Takeup::Converter(converter) => Some(converter),
        Takeup::Clutch(_) => None,
    }
}
