//! Assists that limit engine and motors: traction and launch control.
//!
//! No throttle is controlled by feedback. The tyre rows determine the torque that brings the driven wheels to the
//! target speed by the end of the step. The engine's row determines the engine speed for that torque. The engine is
//! then cut to that speed, between closed throttle and the throttle's torque.

use crate::assist_log::{Assist, Contribution};
use crate::assists::parameters::{LaunchControl, TractionControl};
use crate::assists::{DriverDemand, first_order_share};
use crate::model::wheel_pack::WheelPack;
use crate::vehicle::Vehicle;
use crate::vehicle::rows::WheelRows;
use skidpad_simd::lane::{F32x4, Lane};
use skidpad_simd::linear::SpatialVector;

/// Throttle from which launch control acts.
const LAUNCH_THROTTLE: f32 = 0.5;

/// Speed below which a braked car counts as standing at the start line, m/s.
const START_LINE_SPEED_MPS: f32 = 0.5;

/// Impulse and speed that bring the wheels of a shaft to the target slip.
#[derive(Clone, Copy, Debug, Default)]
struct TractionLimit {
    /// Impulse of the shaft that the limiting wheel can take in addition to other torques, N m s, ≥ 0 towards the gear.
    shaft_impulse: f32,
    /// Mean of the wheels' speeds at that impulse, rad/s.
    shaft_speed: f32,
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
    is_held: bool,
}

impl Vehicle {
    /// Applies launch control (throttle of at least [`LAUNCH_THROTTLE`], car slower than its largest speed) or else
    /// traction control (throttle pressed) to engine, clutch, motors and direct drives; traction control may also
    /// brake. At most one of them acts. `v_loaded`: velocity of the chassis after the loads and the last step's tyre
    /// impulses.
    pub(crate) fn assist_drive(&mut self, demand: &DriverDemand, v_loaded: SpatialVector<f32>, dt: f32) {
        let assists = self.model.parts().assists;
        let is_launching = |launch: &LaunchControl| {
            demand.throttle >= LAUNCH_THROTTLE && self.forward_speed().abs() < launch.max_speed
        };
        if let Some(launch) = assists.launch.filter(is_launching) {
            self.control_launch(&launch, demand, v_loaded, dt);
        } else if let Some(traction) = assists.traction.filter(|_| demand.throttle > 0.0) {
            self.control_traction(&traction, v_loaded, dt);
        }
    }

    /// Limits the drive so that driven wheels approach the target slip, in this order: direct drives, motors, brakes of
    /// spinning wheels (if the control may use them), engine (if in gear). If brakes may be used, the wheel with most
    /// grip limits motors and engine, else the wheel with least grip. Logs the changes.
    fn control_traction(&mut self, traction: &TractionControl, v_loaded: SpatialVector<f32>, dt: f32) {
        let TractionControl { slip, min_slip_speed, time_constant, brake_share } = *traction;
        let target =
            SlipTarget { slip, min_slip_speed, time_constant, direction: self.drive_direction(), is_held: false };
        let limiting_wheel = if brake_share > 0.0 { LimitingWheel::Strongest } else { LimitingWheel::Weakest };
        let direct_drive_cut = self.limit_direct_motors(&target, v_loaded, dt);
        self.limit_motors_to_slip(Assist::TractionControl, &target, limiting_wheel, v_loaded, dt);
        let brake_impulse =
            if brake_share > 0.0 { self.brake_spinning_wheels(traction, &target, v_loaded, dt) } else { 0.0 };
        let mut contribution = Contribution {
            engine_torque: -direct_drive_cut / dt,
            brake_torque: brake_impulse / dt,
            ..Contribution::default()
        };
        // Row 0: engine.
        if self.shafts.engine_ratio().is_some()
            && let Some(limit) = self.traction_limit(0, &target, limiting_wheel, v_loaded, dt)
        {
            let engine_cut =
                self.shafts.cut_engine(&self.model, &mut self.rows, limit.shaft_impulse, limit.shaft_speed);
            // The cut of direct drives is already in it.
            contribution.engine_torque -= engine_cut / dt;
        }
        self.log_contribution(Assist::TractionControl, contribution);
    }

    /// Limits the drive so that the driven wheels with least grip approach the target slip, in this order: direct
    /// drives, motors, then engine and clutch (if in gear). While the driver brakes a car slower than
    /// [`START_LINE_SPEED_MPS`], motors and direct drives get no torque, and the clutch is open. Logs the impulses
    /// removed from direct drives and engine together, as engine torque.
    fn control_launch(&mut self, launch: &LaunchControl, demand: &DriverDemand, v_loaded: SpatialVector<f32>, dt: f32) {
        let LaunchControl { slip, min_slip_speed, time_constant, .. } = *launch;
        let is_standing = demand.brake > 0.0 && self.forward_speed().abs() < START_LINE_SPEED_MPS;
        let target =
            SlipTarget { slip, min_slip_speed, time_constant, direction: self.drive_direction(), is_held: is_standing };
        let mut removed_impulse = self.limit_direct_motors(&target, v_loaded, dt);
        self.limit_motors_to_slip(Assist::LaunchControl, &target, LimitingWheel::Weakest, v_loaded, dt);
        // Row 0: engine.
        if self.shafts.engine_ratio().is_some()
            && let Some(limit) = self.traction_limit(0, &target, LimitingWheel::Weakest, v_loaded, dt)
        {
            removed_impulse += self.launch_engine(launch, is_standing, &limit);
        }
        self.log_contribution(
            Assist::LaunchControl,
            Contribution { engine_torque: -removed_impulse / dt, ..Contribution::default() },
        );
    }

    /// Limits engine and clutch at a launch. `limit.shaft_impulse` is the impulse that the wheels can take.
    /// `is_standing`: the driver brakes a car slower than [`START_LINE_SPEED_MPS`]. Returns the impulse taken from the
    /// engine, N m s.
    ///
    /// Limits a clutch to the impulse of the wheels, or to 0 if `is_standing`, and its engine to the launch speed. An
    /// open torque converter cannot be limited: the engine is cut to the impulse of the wheels instead and, only if
    /// `is_standing`, also to the launch speed.
    fn launch_engine(&mut self, launch: &LaunchControl, is_standing: bool, limit: &TractionLimit) -> f32 {
        let (shafts, model, rows) = (&mut self.shafts, &self.model, &mut self.rows);
        if shafts.has_converter() {
            let removed_impulse = shafts.cut_engine(model, rows, limit.shaft_impulse, limit.shaft_speed);
            // 0.0: speed of the propeller shaft of a standing car.
            return if is_standing {
                removed_impulse + shafts.limit_engine_speed(model, rows, launch.engine_speed, 0.0)
            } else {
                removed_impulse
            };
        }
        shafts.limit_clutch(model, rows, if is_standing { 0.0 } else { limit.shaft_impulse });
        shafts.limit_engine_speed(model, rows, launch.engine_speed, limit.shaft_speed)
    }

    /// Returns the driving direction of the engaged gear: −1 in reverse, else 1.
    fn drive_direction(&self) -> f32 {
        if self.state.drive.gear < 0 { -1.0 } else { 1.0 }
    }

    /// Returns the impulse that the wheels on row `row` between spins (shaft of engine or motor) can take through it, N
    /// m s, and the mean of their speeds then; `None` for a row without wheels.
    ///
    /// Each wheel can take the impulse that brings it to its target spin, brakes included, over its lever (Jacobian
    /// entry of the wheel in the row), at least 0. `limiting_wheel` selects the smallest or largest of these. Wheels
    /// that can take more than the selected impulse stay slower than their target. If the target holds the car, a wheel
    /// can take the impulse that its brakes hold, and the speed is 0.
    fn traction_limit(
        &self,
        row: usize,
        target: &SlipTarget,
        limiting_wheel: LimitingWheel,
        v_loaded: SpatialVector<f32>,
        dt: f32,
    ) -> Option<TractionLimit> {
        let (direction, row_impulse) = (F32x4::splat(target.direction), F32x4::splat(self.shafts.shaft_impulse(row)));
        let groups_and_rows = || self.model.wheel_packs().iter().zip(&self.rows);
        // Target spins, and the shaft impulse that each wheel can take, N m s, with the present impulse of the row
        // included.
        let spins_and_impulses = |group: &WheelPack, rows: &WheelRows| {
            let target_spins = rows.target_spins(group, target, v_loaded.broadcast_to_wheels(), &self.state.wheels, dt);
            let available_impulse = (group.shaft_jacobian[row] * row_impulse - target_spins.impulse) * direction
                + rows.tyre.locking_capacity;
            (target_spins, available_impulse / group.shaft_jacobian[row])
        };
        // Stage 1: smallest and largest impulse of the wheels that the row drives.
        let (mut min_impulse, mut max_impulse) = (f32::INFINITY, 0.0f32);
        for (group, rows) in groups_and_rows() {
            let lever = group.shaft_jacobian[row];
            let available_impulse =
                if target.is_held { rows.tyre.locking_capacity / lever } else { spins_and_impulses(group, rows).1 };
            group.for_each_wheel(|lane, _| {
                if lever.lanes()[lane] > 0.0 {
                    let wheel_impulse = available_impulse.lanes()[lane].max(0.0);
                    (min_impulse, max_impulse) = (min_impulse.min(wheel_impulse), max_impulse.max(wheel_impulse));
                }
            });
        }
        let shaft_impulse = if limiting_wheel == LimitingWheel::Weakest { min_impulse } else { max_impulse };
        // Stage 2: mean speed at the selected impulse.
        let mut shaft_speed = 0.0;
        for (group, rows) in groups_and_rows().filter(|_| !target.is_held) {
            // A wheel that can take more than the shaft's impulse stays slower than the target.
            let (lever, (target_spins, available_impulse)) =
                (group.shaft_jacobian[row], spins_and_impulses(group, rows));
            // Spin by which the wheel stays below its target, rad/s.
            let spin_deficit = ((available_impulse - F32x4::splat(shaft_impulse)) * lever).at_least(F32x4::splat(0.0))
                / target_spins.stiffness;
            shaft_speed +=
                (lever * (target_spins.spin - spin_deficit * direction)).masked(F32x4::splat(0.0).less(lever)).sum();
        }
        // Infinite: no wheel has a positive lever in the row.
        min_impulse.is_finite().then_some(TractionLimit { shaft_impulse, shaft_speed })
    }

    /// Limits all motors one after the other, each to the shaft impulse and the shaft speed (mean speed of its wheels)
    /// of [`Self::traction_limit`]. The present impulses of the other motors reduce the impulse that its wheels can
    /// take. `limiting_wheel` is the rule that selects the decisive wheel of each motor. Impulse and speed are 0 if the
    /// target holds the car or the motor has no wheels.
    ///
    /// First sets the motors' rows to their demanded torques, and stores `limiting_assist` as the assist that limits
    /// them. Does nothing without motors.
    fn limit_motors_to_slip(
        &mut self,
        limiting_assist: Assist,
        target: &SlipTarget,
        limiting_wheel: LimitingWheel,
        v_loaded: SpatialVector<f32>,
        dt: f32,
    ) {
        let motor_count = self.model.parts().motors.len();
        if motor_count == 0 {
            return;
        }
        self.shafts.begin_motor_limits(limiting_assist, &self.model, &mut self.rows);
        let [first_motor_row, _] = self.shafts.first_rows(&self.model);
        for k in 0..motor_count {
            let limit = if target.is_held {
                None
            } else {
                self.traction_limit(first_motor_row + k, target, limiting_wheel, v_loaded, dt)
            };
            // Default: shaft impulse and shaft speed 0.
            let limit = limit.unwrap_or_default();
            self.shafts.limit_motor(&self.model, &mut self.rows, k, limit.shaft_impulse, limit.shaft_speed);
        }
    }

    /// Reduces the impulses of direct drive in the driving direction to those that bring the wheels to their target
    /// slip; to 0 if the target holds the car. Changes drive impulse and momentum of the wheels. Returns the sum of the
    /// removed impulses, N m s, ≥ 0. Wheels with inactive tyres (in the air) are not reduced, except if the target
    /// holds the car.
    fn limit_direct_motors(&mut self, target: &SlipTarget, v_loaded: SpatialVector<f32>, dt: f32) -> f32 {
        let mut removed_impulse = 0.0;
        let (zero, direction) = (F32x4::splat(0.0), F32x4::splat(target.direction));
        for (group, rows) in self.model.wheel_packs().iter().zip(&mut self.rows) {
            let drive_impulse = (rows.drive.motor * direction).at_least(zero);
            // No wheel of the group drives in that direction.
            if !F32x4::any(zero.less(drive_impulse)) {
                continue;
            }
            let cut_impulse = if target.is_held {
                drive_impulse
            } else {
                let TargetSpins { impulse: excess_impulse, .. } =
                    rows.target_spins(group, target, v_loaded.broadcast_to_wheels(), &self.state.wheels, dt);
                (excess_impulse * direction - rows.tyre.locking_capacity)
                    .clamp_nan_to_low(zero, drive_impulse)
                    .masked(rows.tyre.active)
            };
            rows.drive.motor = rows.drive.motor - cut_impulse * direction;
            rows.drive.momentum = rows.drive.momentum - cut_impulse * direction;
            removed_impulse += cut_impulse.sum();
        }
        removed_impulse
    }

    /// Brakes wheels on the ground that a shaft drives and that would exceed their target spins, with up to the allowed
    /// share (`brake_share`) of their foot brakes. Adds to brake impulse and locking capacity. Returns the sum of the
    /// added impulses, N m s, ≥ 0.
    fn brake_spinning_wheels(
        &mut self,
        traction: &TractionControl,
        target: &SlipTarget,
        v_loaded: SpatialVector<f32>,
        dt: f32,
    ) -> f32 {
        let (zero, mut brake_impulse) = (F32x4::splat(0.0), 0.0);
        for (group, rows) in self.model.wheel_packs().iter().zip(&mut self.rows) {
            let TargetSpins { impulse: excess_impulse, .. } =
                rows.target_spins(group, target, v_loaded.broadcast_to_wheels(), &self.state.wheels, dt);
            let max_impulse = group.brake_torque * F32x4::splat(traction.brake_share * dt);
            let is_driven = zero.less(rows.drive.shaft * F32x4::splat(target.direction)) & rows.tyre.active;
            // Brakes and rolling resistance already remove the locking capacity.
            let added_impulse = (excess_impulse * F32x4::splat(target.direction) - rows.tyre.locking_capacity)
                .clamp_nan_to_low(zero, max_impulse)
                .masked(is_driven);
            rows.drive.brake += added_impulse;
            rows.tyre.locking_capacity += added_impulse;
            brake_impulse += added_impulse.sum();
        }
        brake_impulse
    }
}

impl WheelRows {
    /// Returns the target spins of driven wheels, the angular impulses to be removed from the wheels for these spins,
    /// and the stiffness (impulse per spin, tyre included). The target slip speed is the slip ratio times the road
    /// speed, at least the minimum slip speed, in the driving direction. A larger slip falls to the target with the
    /// time constant; a smaller slip may reach the target within the step. `end_velocity`: chassis velocity expected at
    /// the end of the step.
    #[inline(always)]
    fn target_spins(
        &self,
        group: &WheelPack,
        target: &SlipTarget,
        end_velocity: SpatialVector<F32x4>,
        wheels: &[crate::state::WheelState],
        dt: f32,
    ) -> TargetSpins {
        let [longitudinal_speed, _] = self.speeds(end_velocity);
        let [spin, speed] = [group.gather(|i| wheels[i].spin), group.gather(|i| wheels[i].rolling_speed)];
        let target_slip_speed = (speed.abs() * F32x4::splat(target.slip)).at_least(F32x4::splat(target.min_slip_speed))
            * F32x4::splat(target.direction);
        let direction = F32x4::splat(target.direction);
        // Slip speeds at the start and at the end of the step, m/s.
        let slip_speed = spin * group.radius - speed;
        let next_slip_speed =
            slip_speed + (target_slip_speed - slip_speed) * F32x4::splat(first_order_share(target.time_constant, dt));
        // A wheel that slips less than the target may reach it within the step.
        let next_slip_speed = (next_slip_speed * direction).at_least(target_slip_speed * direction) * direction;
        let target_spin = (longitudinal_speed + next_slip_speed) / group.radius;
        // Inertia plus the tyre's resistance, R² times the gain of its row.
        let stiffness = group.spin_inertia + group.radius * group.radius * self.tyre.gain[0];
        TargetSpins {
            spin: target_spin,
            impulse: self.impulse_for_spin(group, longitudinal_speed, target_spin),
            stiffness,
        }
    }
}
