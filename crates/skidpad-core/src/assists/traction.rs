//! Assists that limit engine and motors: traction and launch control.
//!
//! No throttle is controlled by feedback. The tyre rows determine the torque that brings the driven wheels to the target speed by the
//! end of the step. The engine's row determines the engine speed for that torque. The engine is then cut to that speed, between closed
//! throttle and the throttle's torque.

use crate::assists::assist_log::{Assist, Contribution};
use crate::assists::parameters::{LaunchControl, TractionControl};
use crate::assists::{DriverDemand, approach};
use crate::lane::{Four, Lane};
use crate::linear::SpatialVector;
use crate::step::rows::Rows;
use crate::step::vehicle::Vehicle;
use crate::wheel::pack::WheelPack;

/// Throttle from which launch control acts.
const LAUNCH_THROTTLE: f32 = 0.5;

/// Speed below which a braked car counts as standing at the start line, m/s.
const AT_THE_LINE: f32 = 0.5;

/// Impulse and speed that bring the wheels of a shaft to the target slip.
#[derive(Clone, Copy, Debug, Default)]
struct TractionLimit {
    /// Impulse of the shaft that the limiting wheel can take in addition to other torques, N m s, ≥ 0 towards the gear.
    shaft: f32,
    /// Mean of the wheels' speeds at that impulse, rad/s.
    speed: f32,
}

/// Wheel of a shaft that limits its impulse.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Limiting {
    /// Wheel with least grip.
    Weakest,
    /// Wheel with most grip, if brakes hold the other wheels.
    Strongest,
}

/// Target spins of four driven wheels.
struct Driven {
    /// Spins at the target slip, rad/s.
    goal: Four,
    /// Angular impulses to be removed from the wheels for these spins, N m s.
    need: Four,
    /// Angular impulse per spin, tyre included, kg m².
    stiffness: Four,
}

/// Target slip of driven wheels.
#[derive(Clone, Copy, Debug)]
struct SlipTarget {
    slip: f32,
    least: f32,
    response: f32,
    /// Driving direction: 1 forward, −1 in reverse.
    direction: f32,
    /// Whether the brakes hold the car at a standstill instead.
    stands: bool,
}

impl Vehicle {
    /// Applies launch or traction control to engine, clutch and motors. `loaded`: velocity of the chassis after the loads and the last
    /// step's tyre impulses.
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
        let limiting = if brakes > 0.0 { Limiting::Strongest } else { Limiting::Weakest };
        let taken = self.hold_direct_motors(&target, loaded, dt);
        self.hold_motors(Assist::TractionControl, &target, limiting, loaded, dt);
        let braked = if brakes > 0.0 { self.brake_spinning_wheels(traction, &target, loaded, dt) } else { 0.0 };
        let mut added =
            Contribution { engine_torque: -taken / dt, brake_torque: braked / dt, ..Contribution::default() };
        if self.shafts.engine_ratio().is_some()
            && let Some(limit) = self.traction_limit(0, &target, limiting, loaded, dt)
        {
            let cut = self.shafts.cut_engine(&self.model, &mut self.rows, limit.shaft, limit.speed);
            added.engine_torque -= cut / dt;
        }
        self.count(Assist::TractionControl, added);
    }

    fn launch(&mut self, launch: &LaunchControl, asked: &DriverDemand, loaded: SpatialVector<f32>, dt: f32) {
        let LaunchControl { slip, least, response, .. } = *launch;
        let stands = asked.brake > 0.0 && self.forward_speed().abs() < AT_THE_LINE;
        let target = SlipTarget { slip, least, response, direction: self.drive_direction(), stands };
        let mut taken = self.hold_direct_motors(&target, loaded, dt);
        self.hold_motors(Assist::LaunchControl, &target, Limiting::Weakest, loaded, dt);
        if self.shafts.engine_ratio().is_some()
            && let Some(limit) = self.traction_limit(0, &target, Limiting::Weakest, loaded, dt)
        {
            taken += self.launch_engine(launch, stands, &limit);
        }
        self.count(Assist::LaunchControl, Contribution { engine_torque: -taken / dt, ..Contribution::default() });
    }

    /// Limits the engine's speed, and the clutch to the impulse that the wheels can take. Returns the impulse taken from the engine, N m s. With
    /// a torque converter, whose impulse cannot be limited, the engine itself is cut to that of the wheels.
    fn launch_engine(&mut self, launch: &LaunchControl, stands: bool, limit: &TractionLimit) -> f32 {
        let (shafts, model, rows) = (&mut self.shafts, &self.model, &mut self.rows);
        if shafts.has_converter() {
            let cut = shafts.cut_engine(model, rows, limit.shaft, limit.speed);
            return if stands { cut + shafts.hold_engine(model, rows, launch.engine_speed, 0.0) } else { cut };
        }
        shafts.limit_clutch(model, rows, if stands { 0.0 } else { limit.shaft });
        shafts.hold_engine(model, rows, launch.engine_speed, limit.speed)
    }

    /// Returns the driving direction of the engaged gear: −1 in reverse, else 1.
    fn drive_direction(&self) -> f32 {
        if self.state.drive.gear < 0 { -1.0 } else { 1.0 }
    }

    /// Returns the impulse that the wheels on row `row` between spins can take through it; for a standing car, the impulse that their brakes
    /// hold. Returns `None` for a row without wheels.
    fn traction_limit(
        &self,
        row: usize,
        target: &SlipTarget,
        limiting: Limiting,
        loaded: SpatialVector<f32>,
        dt: f32,
    ) -> Option<TractionLimit> {
        let (direction, carried) = (Four::splat(target.direction), Four::splat(self.shafts.carried(row)));
        let wheels = || self.model.banks().iter().zip(&self.rows);
        let driven = |bank: &WheelPack, rows: &Rows| {
            let driven = rows.driven(bank, target, loaded.at_each_wheel(), &self.state.wheels, dt);
            let able = (bank.levers[row] * carried - driven.need) * direction + rows.tyre.locking_capacity;
            (driven, able / bank.levers[row])
        };
        let (mut least, mut most) = (f32::INFINITY, 0.0f32);
        for (bank, rows) in wheels() {
            let share = bank.levers[row];
            let able = if target.stands { rows.tyre.locking_capacity / share } else { driven(bank, rows).1 };
            bank.each(|lane, _| {
                if share.lanes()[lane] > 0.0 {
                    let able = able.lanes()[lane].max(0.0);
                    (least, most) = (least.min(able), most.max(able));
                }
            });
        }
        let shaft = if limiting == Limiting::Weakest { least } else { most };
        let mut speed = 0.0;
        for (bank, rows) in wheels().filter(|_| !target.stands) {
            // A wheel that can take more than the shaft's impulse stays slower than the target.
            let (share, (driven, able)) = (bank.levers[row], driven(bank, rows));
            let short = ((able - Four::splat(shaft)) * share).at_least(Four::splat(0.0)) / driven.stiffness;
            speed += (share * (driven.goal - short * direction)).only(Four::splat(0.0).less(share)).sum();
        }
        least.is_finite().then_some(TractionLimit { shaft, speed })
    }

    /// Limits all motors one after the other, each to the impulse that the others leave to its `limiting` wheel, or to 0 if the car is to
    /// stand.
    fn hold_motors(
        &mut self,
        limiting_assist: Assist,
        target: &SlipTarget,
        limiting: Limiting,
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
            let limit = if target.stands { None } else { self.traction_limit(first + k, target, limiting, loaded, dt) };
            let limit = limit.unwrap_or_default();
            self.shafts.hold_motor(&self.model, &mut self.rows, k, limit.shaft, limit.speed);
        }
    }

    /// Limits the torques of direct drive. Returns the impulse removed, N m s.
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
                let Driven { need, .. } = rows.driven(bank, target, loaded.at_each_wheel(), &self.state.wheels, dt);
                (need * direction - rows.tyre.locking_capacity).within(zero, motor).only(rows.tyre.active)
            };
            rows.drive.motor = rows.drive.motor - cut * direction;
            rows.drive.momentum = rows.drive.momentum - cut * direction;
            taken += cut.sum();
        }
        taken
    }

    /// Brakes driven wheels that would spin behind an open differential. Returns the impulse added to the brakes, N m s.
    fn brake_spinning_wheels(
        &mut self,
        traction: &TractionControl,
        target: &SlipTarget,
        loaded: SpatialVector<f32>,
        dt: f32,
    ) -> f32 {
        let (zero, mut braked) = (Four::splat(0.0), 0.0);
        for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
            let Driven { need, .. } = rows.driven(bank, target, loaded.at_each_wheel(), &self.state.wheels, dt);
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
    /// Returns the target spins of driven wheels and the angular impulses they need.
    #[inline(always)]
    fn driven(
        &self,
        bank: &WheelPack,
        target: &SlipTarget,
        at: SpatialVector<Four>,
        wheels: &[crate::state::WheelState],
        dt: f32,
    ) -> Driven {
        let [along, _] = self.speeds(at);
        let [spin, speed] = [bank.gather(|i| wheels[i].spin), bank.gather(|i| wheels[i].rolling_speed)];
        let wanted = (speed.abs() * Four::splat(target.slip)).at_least(Four::splat(target.least))
            * Four::splat(target.direction);
        let direction = Four::splat(target.direction);
        let now = spin * bank.radius - speed;
        let next = now + (wanted - now) * Four::splat(approach(target.response, dt));
        // A wheel that slips less than the target may reach it within the step.
        let next = (next * direction).at_least(wanted * direction) * direction;
        let goal = (along + next) / bank.radius;
        let stiffness = bank.spin_inertia + bank.radius * bank.radius * self.tyre.gain[0];
        Driven { goal, need: self.need_for(bank, along, goal), stiffness }
    }
}
