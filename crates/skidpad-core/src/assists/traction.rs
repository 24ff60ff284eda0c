//! Assists that hold engine and motors back: traction and launch control.
//!
//! None of them turns a throttle and waits for what comes of it. The rows of the tyres say which torque brings the driven
//! wheels to the speed wanted by the end of the step, the engine's row which speed it may have for that, and the engine is
//! cut to it between closed throttle and what its throttle gives.

use crate::assists::assist_log::{Assist, Contribution};
use crate::assists::parameters::{LaunchControl, TractionControl};
use crate::assists::{DriverDemand, approach};
use crate::lane::{Four, Lane};
use crate::linear::SpatialVector;
use crate::step::rows::Rows;
use crate::step::vehicle::Vehicle;
use crate::wheel::pack::WheelPack;

/// Throttle from which a driver is taken to launch.
const LAUNCH_THROTTLE: f32 = 0.5;

/// Speed, m/s, below which a braked car stands at the line.
const AT_THE_LINE: f32 = 0.5;

/// What brings the wheels of a shaft to the slip wanted.
#[derive(Clone, Copy, Debug, Default)]
struct TractionLimit {
    /// The shaft's impulse that the wheel with least grip, and the one with most, can take on top of what others give, N m s,
    /// ≥ 0 towards the gear.
    shaft: [f32; 2],
    /// Mean of the wheels' speeds then, rad/s.
    speed: f32,
}

/// A slip wanted of driven wheels.
#[derive(Clone, Copy, Debug)]
struct SlipTarget {
    slip: f32,
    least: f32,
    response: f32,
    /// 1 forward, −1 in reverse.
    direction: f32,
    /// Whether the car is to stand on its brakes instead.
    stands: bool,
}

impl Vehicle {
    /// Lets assists change what engine, clutch and motors do, from the velocity `loaded` that loads and the last step's tyre
    /// impulses left.
    pub(crate) fn assist_drive(&mut self, asked: &DriverDemand, loaded: SpatialVector<f32>, dt: f32) {
        let assists = self.model.parts().assists;
        let starts =
            |launch: &LaunchControl| asked.throttle >= LAUNCH_THROTTLE && self.forward_speed().abs() < launch.until;
        if let Some(launch) = assists.launch.filter(starts) {
            self.launch(&launch, asked, loaded, dt);
        } else if let Some(traction) = assists.traction.filter(|_| asked.throttle > 0.0) {
            self.control_traction(&traction, loaded, dt);
        }
    }

    fn control_traction(&mut self, traction: &TractionControl, loaded: SpatialVector<f32>, dt: f32) {
        let TractionControl { slip, least, response, brakes } = *traction;
        let target = SlipTarget { slip, least, response, direction: self.drive_direction(), stands: false };
        let strongest = usize::from(brakes > 0.0);
        let taken = self.hold_direct_motors(&target, loaded, dt);
        self.hold_motors(Assist::TractionControl, &target, strongest, loaded, dt);
        let braked = if brakes > 0.0 { self.brake_spinning_wheels(traction, &target, loaded, dt) } else { 0.0 };
        let mut added =
            Contribution { engine_torque: -taken / dt, brake_torque: braked / dt, ..Contribution::default() };
        if self.shafts.engine_ratio().is_some()
            && let Some(limit) = self.traction_limit(0, &target, loaded, dt)
        {
            added.engine_torque -= self.shafts.cut_engine(&self.model, limit.shaft[strongest], limit.speed) / dt;
        }
        self.count(Assist::TractionControl, added);
    }

    fn launch(&mut self, launch: &LaunchControl, asked: &DriverDemand, loaded: SpatialVector<f32>, dt: f32) {
        let LaunchControl { slip, least, response, .. } = *launch;
        let stands = asked.brake > 0.0 && self.forward_speed().abs() < AT_THE_LINE;
        let target = SlipTarget { slip, least, response, direction: self.drive_direction(), stands };
        let mut taken = self.hold_direct_motors(&target, loaded, dt);
        self.hold_motors(Assist::LaunchControl, &target, 0, loaded, dt);
        if self.shafts.engine_ratio().is_some()
            && let Some(limit) = self.traction_limit(0, &target, loaded, dt)
        {
            taken += self.launch_engine(launch, stands, &limit);
        }
        self.count(Assist::LaunchControl, Contribution { engine_torque: -taken / dt, ..Contribution::default() });
    }

    /// Holds the engine's speed while the clutch carries what the wheels take; what that took, N m s. A torque converter, which
    /// carries what it is given, gets no more from the engine than the wheels take.
    fn launch_engine(&mut self, launch: &LaunchControl, stands: bool, limit: &TractionLimit) -> f32 {
        let (shafts, model) = (&mut self.shafts, &self.model);
        if shafts.has_converter() {
            let cut = shafts.cut_engine(model, limit.shaft[0], limit.speed);
            return if stands { cut + shafts.hold_engine(model, launch.engine_speed, 0.0) } else { cut };
        }
        shafts.limit_clutch(model, &mut self.rows, if stands { 0.0 } else { limit.shaft[0] });
        shafts.hold_engine(model, launch.engine_speed, limit.speed)
    }

    /// Which way the engaged gear drives.
    fn drive_direction(&self) -> f32 {
        if self.state.drive.gear < 0 { -1.0 } else { 1.0 }
    }

    /// What the wheels on row `row` between spins can take through it, a standing car's on their brakes; `None` for a row without
    /// wheels.
    fn traction_limit(
        &self,
        row: usize,
        target: &SlipTarget,
        loaded: SpatialVector<f32>,
        dt: f32,
    ) -> Option<TractionLimit> {
        let carried = Four::splat(self.shafts.carried(row));
        let (mut least, mut most, mut speed) = (f32::INFINITY, 0.0f32, 0.0);
        for (bank, rows) in self.model.banks().iter().zip(&self.rows) {
            let share = bank.levers[row];
            let able = if target.stands {
                rows.tyre.locking_capacity / share
            } else {
                let (goal, need) = rows.need_of_driven(bank, target, loaded.at_each_wheel(), &self.state.wheels, dt);
                speed += (share * goal).sum();
                let hold = rows.tyre.locking_capacity * Four::splat(target.direction);
                (share * carried - need + hold) * Four::splat(target.direction) / share
            };
            bank.each(|lane, _| {
                if share.lanes()[lane] > 0.0 {
                    let able = able.lanes()[lane].max(0.0);
                    (least, most) = (least.min(able), most.max(able));
                }
            });
        }
        least.is_finite().then_some(TractionLimit { shaft: [least, most], speed })
    }

    /// Holds motors on wheels and axles back one after the other, each to what the others leave, after the wheel with least grip
    /// or, where brakes hold that one, after the `strongest`. While the car is to stand they give nothing.
    fn hold_motors(
        &mut self,
        limiting_assist: Assist,
        target: &SlipTarget,
        strongest: usize,
        loaded: SpatialVector<f32>,
        dt: f32,
    ) {
        let motors = self.model.parts().motors.len();
        if motors == 0 {
            return;
        }
        self.shafts.begin_holding(limiting_assist, &self.model, &mut self.rows);
        let [first, _] = self.shafts.first_rows(&self.model);
        for k in 0..motors {
            let limit = if target.stands { None } else { self.traction_limit(first + k, target, loaded, dt) };
            let limit = limit.unwrap_or_default();
            self.shafts.hold_motor(&self.model, &mut self.rows, k, limit.shaft[strongest], limit.speed);
        }
    }

    /// Holds torques that act straight at the wheels back; what that took, N m s.
    fn hold_direct_motors(&mut self, target: &SlipTarget, loaded: SpatialVector<f32>, dt: f32) -> f32 {
        let mut taken = 0.0;
        let (zero, direction) = (Four::splat(0.0), Four::splat(target.direction));
        for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
            let motor = (rows.drive.motor * direction).at_least(zero);
            if !Four::any(zero.less(motor)) {
                continue;
            }
            let cut = if target.stands {
                motor
            } else {
                let (_, need) = rows.need_of_driven(bank, target, loaded.at_each_wheel(), &self.state.wheels, dt);
                (need * direction - rows.tyre.locking_capacity).within(zero, motor).only(rows.tyre.active)
            };
            rows.drive.motor = rows.drive.motor - cut * direction;
            rows.drive.momentum = rows.drive.momentum - cut * direction;
            taken += cut.sum();
        }
        taken
    }

    /// Brakes driven wheels that an open differential lets spin; with what, N m s.
    fn brake_spinning_wheels(
        &mut self,
        traction: &TractionControl,
        target: &SlipTarget,
        loaded: SpatialVector<f32>,
        dt: f32,
    ) -> f32 {
        let (zero, mut braked) = (Four::splat(0.0), 0.0);
        for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
            let (_, need) = rows.need_of_driven(bank, target, loaded.at_each_wheel(), &self.state.wheels, dt);
            let most = bank.brake_torque * Four::splat(traction.brakes * dt);
            let driven = zero.less(rows.drive.shaft * Four::splat(target.direction)) & rows.tyre.active;
            let added =
                (need * Four::splat(target.direction) - rows.tyre.locking_capacity).within(zero, most).only(driven);
            rows.drive.brake += added;
            rows.tyre.locking_capacity += added;
            braked += added.sum();
        }
        braked
    }
}

impl Rows {
    /// Spins wanted of driven wheels, rad/s, and the angular impulse that has to be taken from each to get there, N m s.
    #[inline(always)]
    fn need_of_driven(
        &self,
        bank: &WheelPack,
        target: &SlipTarget,
        at: SpatialVector<Four>,
        wheels: &[crate::state::WheelState],
        dt: f32,
    ) -> (Four, Four) {
        let [along, _] = self.speeds(at);
        let [spin, speed] = [bank.gather(|i| wheels[i].spin), bank.gather(|i| wheels[i].rolling_speed)];
        let wanted = (speed.abs() * Four::splat(target.slip)).at_least(Four::splat(target.least))
            * Four::splat(target.direction);
        let now = spin * bank.radius - speed;
        let next = now + (wanted - now) * Four::splat(approach(target.response, dt));
        let goal = (along + next) / bank.radius;
        (goal, self.need_for(bank, along, goal))
    }
}
