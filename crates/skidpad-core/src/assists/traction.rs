//! Assists that limit engine and motors: traction and launch control.
//!
//! No throttle is controlled by feedback. The tyre rows determine the torque that brings the driven wheels to the target speed by the
//! end of the step. The engine's row determines the engine speed for that torque. The engine is then cut to that speed, between closed
//! throttle and the throttle's torque.

use crate::assists::assist_log::{Assist, Contribution};
use crate::assists::parameters::{LaunchControl, TractionControl};
use crate::assists::{DriverDemand, first_order_share};
use crate::lane::{F32x4, Lane};
use crate::linear::SpatialVector;
use crate::step::rows::WheelRows;
use crate::step::vehicle::Vehicle;
use crate::wheel::pack::WheelPack;

/// Throttle from which launch control acts.
const LAUNCH_THROTTLE: f32 = 0.5;

/// Speed below which a braked car counts as standing at the start line, m/s.
const START_LINE_SPEED_MPS: f32 = 0.5;

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
enum LimitingWheel {
    /// Wheel with least grip.
    Weakest,
    /// Wheel with most grip, if brakes hold the other wheels.
    Strongest,
}

/// Target spins of four driven wheels.
struct TargetSpins {
    /// Spins at the target slip, rad/s.
    spin: F32x4,
    /// Angular impulses to be removed from the wheels for these spins, N m s.
    impulse: F32x4,
    /// Angular impulse per spin, tyre included, kg m².
    stiffness: F32x4,
}

/// Target slip of driven wheels.
#[derive(Clone, Copy, Debug)]
struct SlipTarget {
    slip: f32,
    min_slip_speed: f32,
    time_constant: f32,
    /// Driving direction: 1 forward, −1 in reverse.
    direction: f32,
    /// Whether the brakes hold the car at a standstill instead.
    holds_car: bool,
}

impl Vehicle {
    /// Applies launch or traction control to engine, clutch and motors. `loaded`: velocity of the chassis after the loads and the last
    /// step's tyre impulses.
    pub(crate) fn assist_drive(&mut self, asked: &DriverDemand, loaded: SpatialVector<f32>, dt: f32) {
        let assists = self.model.parts().assists;
        let starts =
            |launch: &LaunchControl| asked.throttle >= LAUNCH_THROTTLE && self.forward_speed().abs() < launch.max_speed;
        if let Some(launch) = assists.launch.filter(starts) {
            self.control_launch(&launch, asked, loaded, dt);
        } else if let Some(traction) = assists.traction.filter(|_| asked.throttle > 0.0) {
            self.control_traction(&traction, loaded, dt);
        }
    }

    fn control_traction(&mut self, traction: &TractionControl, loaded: SpatialVector<f32>, dt: f32) {
        let TractionControl { slip, min_slip_speed: least, time_constant: response, brake_share: brakes } = *traction;
        let target = SlipTarget {
            slip,
            min_slip_speed: least,
            time_constant: response,
            direction: self.drive_direction(),
            holds_car: false,
        };
        let limiting = if brakes > 0.0 { LimitingWheel::Strongest } else { LimitingWheel::Weakest };
        let taken = self.limit_direct_motors(&target, loaded, dt);
        self.limit_motors_to_slip(Assist::TractionControl, &target, limiting, loaded, dt);
        let braked = if brakes > 0.0 { self.brake_spinning_wheels(traction, &target, loaded, dt) } else { 0.0 };
        let mut added =
            Contribution { engine_torque: -taken / dt, brake_torque: braked / dt, ..Contribution::default() };
        if self.shafts.engine_ratio().is_some()
            && let Some(limit) = self.traction_limit(0, &target, limiting, loaded, dt)
        {
            let cut = self.shafts.cut_engine(&self.model, &mut self.rows, limit.shaft, limit.speed);
            added.engine_torque -= cut / dt;
        }
        self.log_contribution(Assist::TractionControl, added);
    }

    fn control_launch(&mut self, launch: &LaunchControl, asked: &DriverDemand, loaded: SpatialVector<f32>, dt: f32) {
        let LaunchControl { slip, min_slip_speed: least, time_constant: response, .. } = *launch;
        let stands = asked.brake > 0.0 && self.forward_speed().abs() < START_LINE_SPEED_MPS;
        let target = SlipTarget {
            slip,
            min_slip_speed: least,
            time_constant: response,
            direction: self.drive_direction(),
            holds_car: stands,
        };
        let mut taken = self.limit_direct_motors(&target, loaded, dt);
        self.limit_motors_to_slip(Assist::LaunchControl, &target, LimitingWheel::Weakest, loaded, dt);
        if self.shafts.engine_ratio().is_some()
            && let Some(limit) = self.traction_limit(0, &target, LimitingWheel::Weakest, loaded, dt)
        {
            taken += self.launch_engine(launch, stands, &limit);
        }
        self.log_contribution(
            Assist::LaunchControl,
            Contribution { engine_torque: -taken / dt, ..Contribution::default() },
        );
    }

    /// Limits the engine's speed, and the clutch to the impulse that the wheels can take. Returns the impulse taken from the engine, N m s. With
    /// a torque converter, whose impulse cannot be limited, the engine itself is cut to that of the wheels.
    fn launch_engine(&mut self, launch: &LaunchControl, stands: bool, limit: &TractionLimit) -> f32 {
        let (shafts, model, rows) = (&mut self.shafts, &self.model, &mut self.rows);
        if shafts.has_converter() {
            let cut = shafts.cut_engine(model, rows, limit.shaft, limit.speed);
            return if stands { cut + shafts.limit_engine_speed(model, rows, launch.engine_speed, 0.0) } else { cut };
        }
        shafts.limit_clutch(model, rows, if stands { 0.0 } else { limit.shaft });
        shafts.limit_engine_speed(model, rows, launch.engine_speed, limit.speed)
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
        limiting: LimitingWheel,
        loaded: SpatialVector<f32>,
        dt: f32,
    ) -> Option<TractionLimit> {
        let (direction, carried) = (F32x4::splat(target.direction), F32x4::splat(self.shafts.wheel_impulse(row)));
        let wheels = || self.model.wheel_packs().iter().zip(&self.rows);
        let driven = |bank: &WheelPack, rows: &WheelRows| {
            let driven = rows.target_spins(bank, target, loaded.broadcast_to_wheels(), &self.state.wheels, dt);
            let able = (bank.shaft_jacobian[row] * carried - driven.impulse) * direction + rows.tyre.locking_capacity;
            (driven, able / bank.shaft_jacobian[row])
        };
        let (mut least, mut most) = (f32::INFINITY, 0.0f32);
        for (bank, rows) in wheels() {
            let share = bank.shaft_jacobian[row];
            let able = if target.holds_car { rows.tyre.locking_capacity / share } else { driven(bank, rows).1 };
            bank.for_each_wheel(|lane, _| {
                if share.lanes()[lane] > 0.0 {
                    let able = able.lanes()[lane].max(0.0);
                    (least, most) = (least.min(able), most.max(able));
                }
            });
        }
        let shaft = if limiting == LimitingWheel::Weakest { least } else { most };
        let mut speed = 0.0;
        for (bank, rows) in wheels().filter(|_| !target.holds_car) {
            // A wheel that can take more than the shaft's impulse stays slower than the target.
            let (share, (driven, able)) = (bank.shaft_jacobian[row], driven(bank, rows));
            let short = ((able - F32x4::splat(shaft)) * share).at_least(F32x4::splat(0.0)) / driven.stiffness;
            speed += (share * (driven.spin - short * direction)).masked(F32x4::splat(0.0).less(share)).sum();
        }
        least.is_finite().then_some(TractionLimit { shaft, speed })
    }

    /// Limits all motors one after the other, each to the impulse that the others leave to its `limiting` wheel, or to 0 if the car is to
    /// stand.
    fn limit_motors_to_slip(
        &mut self,
        limiting_assist: Assist,
        target: &SlipTarget,
        limiting: LimitingWheel,
        loaded: SpatialVector<f32>,
        dt: f32,
    ) {
        let motors = self.model.parts().motors.len();
        if motors == 0 {
            return;
        }
        self.shafts.begin_motor_limits(limiting_assist, &self.model, &mut self.rows);
        let [first, _] = self.shafts.first_rows(&self.model);
        for k in 0..motors {
            let limit =
                if target.holds_car { None } else { self.traction_limit(first + k, target, limiting, loaded, dt) };
            let limit = limit.unwrap_or_default();
            self.shafts.limit_motor(&self.model, &mut self.rows, k, limit.shaft, limit.speed);
        }
    }

    /// Limits the torques of direct drive. Returns the impulse removed, N m s.
    fn limit_direct_motors(&mut self, target: &SlipTarget, loaded: SpatialVector<f32>, dt: f32) -> f32 {
        let mut taken = 0.0;
        let (zero, direction) = (F32x4::splat(0.0), F32x4::splat(target.direction));
        for (bank, rows) in self.model.wheel_packs().iter().zip(&mut self.rows) {
            let motor = (rows.drive.motor * direction).at_least(zero);
            if !F32x4::any(zero.less(motor)) {
                continue;
            }
            let cut = if target.holds_car {
                motor
            } else {
                let TargetSpins { impulse: need, .. } =
                    rows.target_spins(bank, target, loaded.broadcast_to_wheels(), &self.state.wheels, dt);
                (need * direction - rows.tyre.locking_capacity).clamp_nan_to_low(zero, motor).masked(rows.tyre.active)
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
        let (zero, mut braked) = (F32x4::splat(0.0), 0.0);
        for (bank, rows) in self.model.wheel_packs().iter().zip(&mut self.rows) {
            let TargetSpins { impulse: need, .. } =
                rows.target_spins(bank, target, loaded.broadcast_to_wheels(), &self.state.wheels, dt);
            let most = bank.brake_torque * F32x4::splat(traction.brake_share * dt);
            let driven = zero.less(rows.drive.shaft * F32x4::splat(target.direction)) & rows.tyre.active;
            let added = (need * F32x4::splat(target.direction) - rows.tyre.locking_capacity)
                .clamp_nan_to_low(zero, most)
                .masked(driven);
            rows.drive.brake += added;
            rows.tyre.locking_capacity += added;
            braked += added.sum();
        }
        braked
    }
}

impl WheelRows {
    /// Returns the target spins of driven wheels and the angular impulses they need.
    #[inline(always)]
    fn target_spins(
        &self,
        bank: &WheelPack,
        target: &SlipTarget,
        at: SpatialVector<F32x4>,
        wheels: &[crate::state::WheelState],
        dt: f32,
    ) -> TargetSpins {
        let [along, _] = self.speeds(at);
        let [spin, speed] = [bank.gather(|i| wheels[i].spin), bank.gather(|i| wheels[i].rolling_speed)];
        let wanted = (speed.abs() * F32x4::splat(target.slip)).at_least(F32x4::splat(target.min_slip_speed))
            * F32x4::splat(target.direction);
        let direction = F32x4::splat(target.direction);
        let now = spin * bank.radius - speed;
        let next = now + (wanted - now) * F32x4::splat(first_order_share(target.time_constant, dt));
        // A wheel that slips less than the target may reach it within the step.
        let next = (next * direction).at_least(wanted * direction) * direction;
        let goal = (along + next) / bank.radius;
        let stiffness = bank.spin_inertia + bank.radius * bank.radius * self.tyre.gain[0];
        TargetSpins { spin: goal, impulse: self.impulse_for_spin(bank, along, goal), stiffness }
    }
}
