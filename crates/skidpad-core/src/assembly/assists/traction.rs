//! Assists that limit engine and motors: traction and launch control.
//!
//! No throttle is controlled by feedback. The tyre rows determine the torque that brings the driven wheels to the target speed by the
//! end of the step. The engine's row determines the engine speed for that torque. The engine is then cut to that speed, between closed
//! throttle and the throttle's torque.

use crate::assist_log::{Assist, Contribution};
use crate::assists::parameters::{LaunchControl, TractionControl};
use crate::assists::{DriverDemand, first_order_share};
use crate::model::wheel_pack::WheelPack;
use crate::simd::lane::{F32x4, Lane};
use crate::simd::linear::SpatialVector;
use crate::vehicle::Vehicle;
use crate::vehicle::rows::WheelRows;

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
    /// Slip ratio.
    slip: f32,
    /// Slip speed that is always allowed, m/s.
    min_slip_speed: f32,
    /// Time constant in which larger slips fall, s.
    time_constant: f32,
    /// Driving direction: 1 forward, −1 in reverse.
    direction: f32,
    /// Whether the brakes hold the car at a standstill instead.
    holds_car: bool,
}

impl Vehicle {
    /// Applies launch control (throttle of at least a half, below its largest speed) or else traction control (throttle pressed) to engine, clutch
    /// and motors. `loaded`: velocity of the chassis after the loads and the last step's tyre impulses.
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

    /// Limits the drive so that driven wheels approach the target slip, in this order: direct drives, motors, brakes of spinning wheels (if the
    /// control may use them), engine. With such brakes the wheel with most grip limits motors and engine, else the one with least. Logs the changes.
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

    /// Limits the drive so that the weakest driven wheels approach the target slip, in this order: direct drives, motors, then engine and clutch.
    /// While the driver brakes a standing car, motors stand still and the clutch is open. Logs the engine's and direct drives' changes.
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

    /// Limits the engine to the launch speed, and the clutch to the impulse that the wheels can take; 0 while the car `stands`. Returns the impulse
    /// taken from the engine, N m s. With a torque converter, whose impulse cannot be limited, the engine is cut to that of the wheels and, while
    /// standing, also to the launch speed.
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

    /// Returns the impulse that the wheels on row `row` between spins can take through it, and the mean of their speeds then; `None` for a row
    /// without wheels. Each wheel can take the impulse that brings it to its target spin, brakes included, over its lever; `limiting` selects the
    /// smallest or largest of these, at least 0. If the target holds the car, it is the impulse that the brakes hold, and the speed is 0.
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
        // Target spins, and the shaft impulse that each wheel can take, N m s.
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
            // Spin by which the wheel stays below its target, rad/s.
            let short = ((able - F32x4::splat(shaft)) * share).at_least(F32x4::splat(0.0)) / driven.stiffness;
            speed += (share * (driven.spin - short * direction)).masked(F32x4::splat(0.0).less(share)).sum();
        }
        least.is_finite().then_some(TractionLimit { shaft, speed })
    }

    /// Limits all motors one after the other, each to the impulse that the others leave to its `limiting` wheel, or to 0 if the car is to stand. Does
    /// nothing without motors.
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

    /// Reduces the impulses of direct drive in the driving direction to those that bring the wheels to their target slip; to 0 if the target holds
    /// the car. Returns the impulse removed, N m s, ≥ 0. Wheels in the air are not reduced.
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

    /// Brakes wheels that a shaft drives and that would exceed their target spins, with up to the allowed share of their foot brakes. Adds to brake
    /// impulse and locking capacity. Returns the impulse added, N m s.
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
    /// Returns the target spins of driven wheels, the angular impulses to be removed from them, and their stiffness. The target slip speed is the
    /// ratio times the road speed, at least the least slip speed, in the driving direction. A larger slip falls to it with the time constant; a
    /// smaller one may reach it within the step. `at`: chassis velocity expected at the end of the step.
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
        // Slip speeds at the start and at the end of the step, m/s.
        let now = spin * bank.radius - speed;
        let next = now + (wanted - now) * F32x4::splat(first_order_share(target.time_constant, dt));
        // A wheel that slips less than the target may reach it within the step.
        let next = (next * direction).at_least(wanted * direction) * direction;
        let goal = (along + next) / bank.radius;
        let stiffness = bank.spin_inertia + bank.radius * bank.radius * self.tyre.gain[0];
        TargetSpins { spin: goal, impulse: self.impulse_for_spin(bank, along, goal), stiffness }
    }
}
