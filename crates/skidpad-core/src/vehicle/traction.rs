//! Assists that hold the engine back, or let it pull without the driver: traction, launch and cruise control.
//!
//! None of them turns a throttle and waits for what comes of it. The rows of the tyres say which torque brings the driven
//! wheels to the speed wanted by the end of the step, the engine's row which speed it may have for that, and the engine is
//! cut to it between closed throttle and what its throttle gives.

use super::Vehicle;
use super::rows::Rows;
use crate::assists::{Asked, approach};
use crate::budget::{Added, Assist};
use crate::lane::{Four, Lane};
use crate::linear::Six;
use crate::model::{Bank, CruiseControl, LaunchControl, TractionControl};

/// Throttle from which a driver is taken to launch.
const LAUNCH_THROTTLE: f32 = 0.5;

/// Speed, m/s, below which a braked car stands at the line.
const AT_THE_LINE: f32 = 0.5;

/// What brings driven wheels to the slip wanted.
#[derive(Clone, Copy, Debug)]
struct Grip {
    /// Propeller shaft's impulse that the wheel with least grip, and the one with most, can take, N m s, ≥ 0 towards the gear.
    shaft: [f32; 2],
    /// Mean of the driven wheels' speeds then, rad/s.
    speed: f32,
}

/// A slip wanted of driven wheels.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    slip: f32,
    least: f32,
    response: f32,
    /// 1 forward, −1 in reverse.
    towards: f32,
}

impl Vehicle {
    /// Lets assists change what engine, clutch and motors do, from the velocity `loaded` that loads and the last step's tyre
    /// impulses left.
    pub(super) fn assist_drive(&mut self, asked: &Asked, loaded: Six<f32>, dt: f32) {
        let assists = self.model.parts().assists;
        if let (Some(own), Some(speed)) = (assists.cruise, asked.cruise) {
            let added = self.cruise(&own, speed, asked, dt);
            self.budget.add(Assist::CruiseControl, Added { engine_torque: added / dt, ..Added::default() });
        }
        let starts = |own: &LaunchControl| asked.throttle >= LAUNCH_THROTTLE && self.forward_speed().abs() < own.until;
        if let Some(own) = assists.launch.filter(starts) {
            self.launch(&own, asked, loaded, dt);
        } else if let Some(own) = assists.traction.filter(|_| asked.throttle > 0.0) {
            self.control_traction(&own, loaded, dt);
        }
    }

    fn control_traction(&mut self, own: &TractionControl, loaded: Six<f32>, dt: f32) {
        let wanted = Wanted { slip: own.slip, least: own.least, response: own.response, towards: self.towards() };
        let taken = self.hold_motors(&wanted, loaded, dt);
        let braked = if own.brakes > 0.0 { self.brake_spinning_wheels(own, &wanted, loaded, dt) } else { 0.0 };
        let mut added = Added { engine_torque: -taken / dt, brake_torque: braked / dt, ..Added::default() };
        if let Some(grip) = self.grip(&wanted, loaded, dt) {
            let impulse = grip.shaft[usize::from(own.brakes > 0.0)];
            added.engine_torque -= self.shafts.cut_engine(&self.model, impulse, grip.speed) / dt;
        }
        self.budget.add(Assist::TractionControl, added);
    }

    fn launch(&mut self, own: &LaunchControl, asked: &Asked, loaded: Six<f32>, dt: f32) {
        let wanted = Wanted { slip: own.slip, least: own.least, response: own.response, towards: self.towards() };
        let Some(grip) = self.grip(&wanted, loaded, dt) else { return };
        let at_the_line = asked.brake > 0.0 && self.forward_speed().abs() < AT_THE_LINE;
        let change = self.shafts.limit_clutch(if at_the_line { 0.0 } else { grip.shaft[0] });
        for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
            rows.shaft += bank.levers[0] * Four::splat(change);
        }
        let taken = self.shafts.hold_engine(&self.model, own.engine_speed, if at_the_line { 0.0 } else { grip.speed });
        self.budget.add(Assist::LaunchControl, Added { engine_torque: -taken / dt, ..Added::default() });
    }

    /// Which way the engaged gear drives.
    fn towards(&self) -> f32 {
        if self.state.drive.gear < 0 { -1.0 } else { 1.0 }
    }

    /// What driven wheels can take through the shaft of an engine; `None` without one, or out of gear.
    fn grip(&self, wanted: &Wanted, loaded: Six<f32>, dt: f32) -> Option<Grip> {
        self.shafts.engine_ratio()?;
        let (mut least, mut most, mut speed) = (f32::INFINITY, 0.0f32, 0.0);
        for (bank, rows) in self.model.banks().iter().zip(&self.rows) {
            let share = bank.levers[0];
            let (goal, need) = rows.need_of_driven(bank, wanted, loaded.wide(), &self.state.wheels, dt);
            let hold = rows.hold * Four::splat(wanted.towards);
            let able = (rows.shaft - need + hold) * Four::splat(wanted.towards) / share;
            speed += (share * goal).sum();
            bank.each(|lane, _| {
                if share.lanes()[lane] > 0.0 {
                    let able = able.lanes()[lane].max(0.0);
                    (least, most) = (least.min(able), most.max(able));
                }
            });
        }
        least.is_finite().then_some(Grip { shaft: [least, most], speed })
    }

    /// Holds each wheel's own motor back; what that took, N m s.
    fn hold_motors(&mut self, wanted: &Wanted, loaded: Six<f32>, dt: f32) -> f32 {
        let mut taken = 0.0;
        let (zero, towards) = (Four::splat(0.0), Four::splat(wanted.towards));
        for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
            let motor = rows.motor * towards;
            if !Four::any(zero.less(motor)) {
                continue;
            }
            let (_, need) = rows.need_of_driven(bank, wanted, loaded.wide(), &self.state.wheels, dt);
            let cut = (need * towards - rows.hold).within(zero, motor.at_least(zero)).only(rows.gripping);
            rows.motor = rows.motor - cut * towards;
            rows.momentum = rows.momentum - cut * towards;
            taken += cut.sum();
        }
        taken
    }

    /// Brakes driven wheels that an open differential lets spin; with what, N m s.
    fn brake_spinning_wheels(&mut self, own: &TractionControl, wanted: &Wanted, loaded: Six<f32>, dt: f32) -> f32 {
        let (zero, mut braked) = (Four::splat(0.0), 0.0);
        for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
            let (_, need) = rows.need_of_driven(bank, wanted, loaded.wide(), &self.state.wheels, dt);
            let most = bank.brake_torque * Four::splat(own.brakes * dt);
            let driven = zero.less(rows.shaft * Four::splat(wanted.towards)) & rows.gripping;
            let added = (need * Four::splat(wanted.towards) - rows.hold).within(zero, most).only(driven);
            rows.brake += added;
            rows.hold += added;
            braked += added.sum();
        }
        braked
    }

    /// Drives as fast as `speed` m/s with what the driver's throttle leaves.
    ///
    /// The force wanted is the last step's, plus what mass times the missing acceleration asks: slopes, wind and a changed
    /// gear are in the acceleration it sees, so nothing has to be learnt, nor can anything wind up. What it adds, N m s.
    fn cruise(&mut self, own: &CruiseControl, speed: f32, asked: &Asked, dt: f32) -> f32 {
        let along = self.state.rotation * crate::Vec3::X;
        let now = self.state.velocity.dot(along);
        let gained = (self.state.velocity - self.state.previous_velocity).dot(along) / dt;
        let missing =
            ((speed - now) / (own.response + dt)).clamp(-own.largest_acceleration, own.largest_acceleration) - gained;
        let wheels = self.model.wheels();
        let driven: f32 = self.state.wheels.iter().zip(wheels).map(|(now, of)| now.torque / of.radius).sum();
        let mut impulse = (driven + self.model.rolling_mass() * missing) * dt;
        let (mut radius, mut motors) = (0.0, 0.0);
        for (bank, rows) in self.model.banks().iter().zip(&self.rows) {
            impulse += (rows.hold / bank.radius).only(bank.present()).sum();
            radius += (bank.levers[0] * bank.radius).sum();
            motors += (bank.direct / bank.radius).only(bank.present()).sum() * dt;
        }
        if motors > 0.0 {
            return self.drive_motors((impulse / motors).clamp(asked.own_throttle, 1.0), asked.own_throttle, dt);
        }
        let turning = self
            .model
            .banks()
            .iter()
            .fold(0.0, |sum, bank| sum + (bank.levers[0] * bank.gather(|i| self.state.wheels[i].spin)).sum());
        self.shafts.pull(&self.model, impulse * radius, turning)
    }

    /// Lets motors that were given full throttle pull at `throttle`; by how much beyond the driver's `own`, N m s.
    fn drive_motors(&mut self, throttle: f32, own: f32, dt: f32) -> f32 {
        let mut whole = 0.0;
        for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
            let changed = bank.direct * Four::splat((throttle - 1.0) * dt);
            rows.motor += changed;
            rows.momentum += changed;
            whole += bank.direct.sum() * dt;
        }
        (throttle - own) * whole
    }
}

impl Rows {
    /// Spins wanted of driven wheels, rad/s, and the angular impulse that has to be taken from each to get there, N m s.
    #[inline(always)]
    fn need_of_driven(
        &self,
        bank: &Bank,
        wanted: &Wanted,
        at: Six<Four>,
        wheels: &[crate::state::WheelState],
        dt: f32,
    ) -> (Four, Four) {
        let [along, _] = self.speeds(at);
        let [spin, speed] = [bank.gather(|i| wheels[i].spin), bank.gather(|i| wheels[i].rolling_speed)];
        let target =
            (speed.abs() * Four::splat(wanted.slip)).at_least(Four::splat(wanted.least)) * Four::splat(wanted.towards);
        let now = spin * bank.radius - speed;
        let next = now + (target - now) * Four::splat(approach(wanted.response, dt));
        let goal = (along + next) / bank.radius;
        (goal, self.need_for(bank, along, goal))
    }
}
