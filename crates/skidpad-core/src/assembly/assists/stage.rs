//! Assists within a step: before steering and drive they change the driver's demand, before the coupling the brakes,
//! when the tyre rows are known. The assist log counts every change.

use crate::assist_log::{Assist, Contribution};
use crate::assists::DriverDemand;
use crate::assists::parameters::{AntiLock, StabilityControl};
use crate::assists::rows::Correction;
use crate::assists::slip::target_spin;
use crate::assists::stability::{PlanarMotion, SteeringGeometry};
use crate::assists::steering::MeanSlip;
use crate::constants::MAX_WHEELS;
use crate::controls::Controls;
use crate::model::wheel_pack::WheelPack;
use crate::vehicle::Vehicle;
use crate::vehicle::rows::{StartState, WheelRows};
use skidpad_simd::lane::{F32x4, Lane, WheelLanes};
use skidpad_simd::linear::SpatialVector;
use skidpad_simd::math;
use skidpad_tyre::friction_ellipse;

impl Vehicle {
    /// Returns the demand on pedals and steering, clamped, with the changes by assists that act on the driver's demand.
    /// Clears the assist log of a car with assists. Without assists, the demand is only clamped.
    #[inline(always)]
    pub(crate) fn read_controls(&mut self, controls: &Controls, dt: f32) -> DriverDemand {
        let demand = DriverDemand::from_controls(controls, &self.model.parts().steering);
        if self.model.assists().is_empty() {
            return demand;
        }
        self.clear_assist_log();
        if self.model.parts().assists.has_demand_changes() { self.assist_driver(demand, dt) } else { demand }
    }

    /// Clears the assist log.
    #[inline(always)]
    pub(crate) fn clear_assist_log(&mut self) {
        if let Some(assist_log) = self.assist_log.as_deref_mut() {
            assist_log.clear();
        }
    }

    /// Returns the driver's demand after the assists that change it, in this order. Speed-dependent steering limits
    /// angle and rate. Counter-steering adds an angle within the lock. Cruise control, if the driver demands a speed,
    /// sets the engine's throttle to 1. Stability control stores its correction in `self.correction` (`None` without
    /// one); a correction closes the throttle and ends cruise control. Logs all changes except the cruise throttle.
    #[inline(never)]
    fn assist_driver(&mut self, mut demand: DriverDemand, dt: f32) -> DriverDemand {
        let assists = self.model.parts().assists;
        // Steering of the driver alone, rad: the reference of stability control.
        let driver_steer = demand.steer;
        if let Some(speed_steering) = &assists.speed_steering {
            let [lock_factor, rate_factor] = speed_steering.factors_at(self.forward_speed());
            let limited_lock = lock_factor * self.model.parts().steering.lock;
            let limited_steer = demand.steer.clamp(-limited_lock, limited_lock);
            self.log_contribution(
                Assist::SpeedSteering,
                Contribution { steer: limited_steer - demand.steer, ..Contribution::default() },
            );
            (demand.steer, demand.steer_rate) = (limited_steer, rate_factor * demand.steer_rate);
        }
        if let Some(counter_steer) = &assists.counter_steer {
            let lock = self.model.parts().steering.lock;
            let added_angle = self.mean_slip().counter_steer_angle(
                counter_steer,
                demand.steer,
                self.state.steer,
                self.forward_speed(),
            );
            let steer = (demand.steer + added_angle).clamp(-lock, lock);
            self.log_contribution(
                Assist::CounterSteer,
                Contribution { steer: steer - demand.steer, ..Contribution::default() },
            );
            demand.steer = steer;
        }
        if assists.cruise.is_some() && demand.cruise.is_some() {
            // The part of the throttle that the speed does not require is cut later.
            demand.throttle = 1.0;
        }
        self.correction = None;
        if let Some(stability) = &assists.stability {
            self.correction = self.stability_correction(stability, driver_steer, dt);
            if self.correction.is_some() {
                self.log_contribution(
                    Assist::StabilityControl,
                    // Only the driver's own throttle is lost, not that of cruise control.
                    Contribution { throttle: -demand.driver_throttle, ..Contribution::default() },
                );
                (demand.throttle, demand.cruise) = (0.0, None);
            }
        }
        demand
    }

    /// Applies assists to brakes and drive, if any of them can act at this demand. `v_loaded`: velocity of the chassis
    /// after the loads and the last step's tyre impulses, as a prediction of that at the end of the step.
    #[inline(always)]
    pub(crate) fn assist_brakes(&mut self, demand: &DriverDemand, v_loaded: SpatialVector<f32>, dt: f32) {
        if self.model.assists().is_empty() {
            return;
        }
        let parts = self.model.parts();
        if parts.assists.has_torque_changes(demand.brake, !parts.motors.is_empty()) {
            self.assist_with_brakes(demand, v_loaded, dt);
        }
    }

    /// Applies cruise control, the cut of regeneration, anti-lock brakes, stability control's brake, and launch or
    /// traction control, in this order. Cruise control acts if the driver demands a speed; its brake pedal position
    /// then replaces that of the driver for the assists that follow. Anti-lock brakes act if this pedal is pressed. The
    /// stability brake acts if a correction is stored.
    #[inline(never)]
    fn assist_with_brakes(&mut self, demand: &DriverDemand, v_loaded: SpatialVector<f32>, dt: f32) {
        let assists = self.model.parts().assists;
        let mut brake_pedal = demand.brake;
        if let (Some(cruise), Some(speed)) = (assists.cruise, demand.cruise) {
            brake_pedal = self.control_cruise(&cruise, speed, demand, dt);
        }
        self.cut_regeneration(brake_pedal, v_loaded, dt);
        if let Some(anti_lock) = assists.abs.filter(|_| brake_pedal > 0.0) {
            self.limit_brake_slip(&anti_lock, brake_pedal, v_loaded, dt);
        }
        if let (Some(stability), Some(correction)) = (assists.stability, self.correction) {
            self.brake_one_wheel(&stability, correction, v_loaded, dt);
        }
        self.assist_drive(demand, v_loaded, dt);
    }

    /// Adds the contributions that are known only after the solve to the assist log: of tricks that move the points
    /// where forces act, and of limits on motors. Does nothing for a model without assists.
    pub(crate) fn record_assists(&mut self, dt: f32) {
        if self.model.assists().is_empty() {
            return;
        }
        self.log_moved_forces(dt);
        self.record_motor_changes();
    }

    /// Returns the longitudinal speed of the vehicle, m/s.
    pub(crate) fn forward_speed(&self) -> f32 {
        self.planar_motion().velocity[0]
    }

    /// Returns longitudinal and lateral velocity (m/s) and yaw rate (rad/s) of the centre of mass, vehicle frame.
    fn planar_motion(&self) -> PlanarMotion {
        let to_vehicle = self.state.rotation.inverse();
        let (velocity, angular_velocity) = (to_vehicle * self.state.velocity, to_vehicle * self.state.angular_velocity);
        PlanarMotion { velocity: [velocity.x, velocity.y], yaw_rate: angular_velocity.z }
    }

    /// Returns the sums for the mean slip angle of all wheels, from the lagged lateral slips of the last step: weights,
    /// weights times slip angle, weights times steer ratio, and loads. The slip angle is the negative arc tangent of
    /// the slip. The weight of a wheel is load times share of rolling times magnitude of its slip angle. An axle with a
    /// single wheel counts once.
    fn mean_slip(&self) -> MeanSlip {
        let parts = self.model.parts();
        let slip_angle = |i: usize| -math::atan(self.model.lagged_slip(i, &self.state.wheels[i])[1]);
        let rolling_load = |i: usize| self.state.wheels[i].load * self.state.wheels[i].rolling;
        parts.axles.iter().zip(self.model.axle_wheels()).fold(MeanSlip::default(), |mean, (axle, &wheels)| {
            // A single wheel is listed as both wheels of its axle.
            let wheel_share = if wheels[0] == wheels[1] { 0.5 } else { 1.0 };
            mean.with_axle(wheels.map(slip_angle), wheels.map(|i| rolling_load(i) * wheel_share), axle.steer_ratio)
        })
    }

    /// Returns the yaw moment that the stability control demands for the present motion. `steer`: driver's steering,
    /// rad. `None` if the car is below the control's range of speeds, or if the yaw rate is within the accepted range,
    /// see [`StabilityControl::yaw_rate_excess`]. The part outside that range (the excess), and thus the moment, fades
    /// in over the range of speeds. A moment against the yaw rate counts as a correction of oversteer.
    fn stability_correction(&self, stability: &StabilityControl, steer: f32, dt: f32) -> Option<Correction> {
        let motion = self.planar_motion();
        let effect_share = stability.effect_share(motion.velocity[0]);
        if effect_share == 0.0 {
            return None;
        }
        let yaw_rate_excess =
            stability.yaw_rate_excess(&self.steering_geometry(steer, &motion), &motion) * effect_share;
        if yaw_rate_excess == 0.0 {
            return None;
        }
        let moment = stability.corrective_moment(yaw_rate_excess, self.model.inertia().z_axis.z, dt);
        Some(Correction { moment, oversteer: moment * motion.yaw_rate < 0.0 })
    }

    /// Returns the geometry of the driver's steering `steer`, rad, and the slip angles of two reference axles while the
    /// car moves as `motion`. The front reference is the axle with the largest steer ratio (magnitude). The rear
    /// reference is the mean of the unsteered axles, or the last axle if all are steered.
    ///
    /// The curvature follows from the driver's steering, `(tan δ_f − tan δ_r) / L`, with a wheelbase L of at least 1
    /// mm. Slip angles are relative to the present steering angle. If the steered axle is behind, front and rear slip
    /// are exchanged.
    fn steering_geometry(&self, steer: f32, motion: &PlanarMotion) -> SteeringGeometry {
        let parts = self.model.parts();
        let axle_position = |axle: usize| {
            let [left, right] = self.model.axle_wheels()[axle].map(|i| self.model.wheels()[i].contact.x);
            0.5 * (left + right)
        };
        let (mut front, mut rear) = ([0.0f32; 2], [0.0f32; 2]);
        let (mut unsteered_count, mut unsteered_position_sum) = (0u8, 0.0);
        for (i, axle) in parts.axles.iter().enumerate() {
            // Position in front of the centre of mass, m, and steer ratio, as in `front` and `rear`.
            let position_and_ratio = [axle_position(i), axle.steer_ratio];
            if i == 0 || position_and_ratio[1].abs() > front[1].abs() {
                front = position_and_ratio;
            }
            rear = position_and_ratio;
            if axle.steer_ratio == 0.0 {
                (unsteered_count, unsteered_position_sum) =
                    (unsteered_count + 1, unsteered_position_sum + position_and_ratio[0]);
            }
        }
        if unsteered_count > 0 {
            rear = [unsteered_position_sum / f32::from(unsteered_count), 0.0];
        }
        let signed_wheelbase = front[0] - rear[0];
        // Lower bound that avoids a division by 0, m.
        let wheelbase = signed_wheelbase.abs().max(1e-3);
        let tangent_difference = math::tan(steer * front[1]) - math::tan(steer * rear[1]);
        let slip = |[axle_position, ratio]: [f32; 2]| motion.slip_angle(axle_position, ratio * self.state.steer);
        let slips = [slip(front), slip(rear)];
        let slips = if signed_wheelbase < 0.0 { [slips[1], slips[0]] } else { slips };
        SteeringGeometry { curvature: tangent_difference / wheelbase.copysign(signed_wheelbase), wheelbase, slips }
    }

    /// Limits the foot brake of every wheel at a `brake_pedal` of 0 to 1 to the impulse that keeps the allowed slip.
    /// Logs the torque removed from all wheels, even if it is 0. If some axle has select-low control (one pressure for
    /// both wheels), uses [`Self::limit_axle_pressures`].
    fn limit_brake_slip(&mut self, anti_lock: &AntiLock, brake_pedal: f32, v_loaded: SpatialVector<f32>, dt: f32) {
        if anti_lock.has_select_low() {
            self.limit_axle_pressures(anti_lock, brake_pedal, v_loaded, dt);
            return;
        }
        let mut removed_impulse = 0.0;
        for (group, rows) in self.model.wheel_packs().iter().zip(&mut self.rows) {
            removed_impulse += rows
                .limit_brake_slip(group, anti_lock, F32x4::splat(brake_pedal), v_loaded.broadcast_to_wheels(), dt)
                .sum();
        }
        self.record_anti_lock(removed_impulse, dt);
    }

    /// Limits the foot brake of every wheel by its slip, then reduces the pressure of each axle with select-low control
    /// to that of its wheel with less: both wheels lose the larger one of the shares that their limits remove. A wheel
    /// that is not limited, because it is in the air or slow, has a share of 0. Logs the torque removed from all
    /// wheels.
    #[cold]
    #[inline(never)]
    fn limit_axle_pressures(&mut self, anti_lock: &AntiLock, brake_pedal: f32, v_loaded: SpatialVector<f32>, dt: f32) {
        let end_velocity = v_loaded.broadcast_to_wheels();
        let mut removed_impulse = 0.0;
        // Impulses removed from the wheels by group and lane, N m s. Groups have at least one wheel.
        let mut removed_impulses = [[0.0f32; 4]; MAX_WHEELS];
        for ((group, rows), removed) in self.model.wheel_packs().iter().zip(&mut self.rows).zip(&mut removed_impulses) {
            let by_wheel = rows.limit_brake_slip(group, anti_lock, F32x4::splat(brake_pedal), end_velocity, dt);
            removed_impulse += by_wheel.sum();
            *removed = by_wheel.lanes();
        }
        for (axle, &wheels) in self.model.axle_wheels().iter().enumerate() {
            // Bit `axle` of the set is 1 for an axle with select-low control.
            if anti_lock.select_low_axles >> axle & 1 == 0 {
                continue;
            }
            let foot_brake = wheels.map(|i| self.model.wheels()[i].brake_torque * (brake_pedal * dt));
            let removed_share = |side: usize| {
                let lane_index = self.model.lane_index(wheels[side]);
                let removed = removed_impulses[lane_index.group][lane_index.lane];
                if foot_brake[side] > 0.0 { removed / foot_brake[side] } else { 0.0 }
            };
            let removed_shares = [removed_share(0), removed_share(1)];
            let axle_share = removed_shares[0].max(removed_shares[1]);
            for side in [0, 1] {
                let lane_index = self.model.lane_index(wheels[side]);
                let mut lanes = [0.0; 4];
                lanes[lane_index.lane] = (axle_share - removed_shares[side]) * foot_brake[side];
                removed_impulse += lanes[lane_index.lane];
                let rows = &mut self.rows[lane_index.group];
                rows.drive.brake = rows.drive.brake - F32x4::new(lanes);
                rows.tyre.locking_capacity = rows.tyre.locking_capacity - F32x4::new(lanes);
            }
        }
        self.record_anti_lock(removed_impulse, dt);
    }

    /// Logs that anti-lock brakes have removed `removed_impulse` N m s of the brakes' impulses in this step.
    pub(crate) fn record_anti_lock(&mut self, removed_impulse: f32, dt: f32) {
        self.log_contribution(
            Assist::AntiLock,
            Contribution { brake_torque: -removed_impulse / dt, ..Contribution::default() },
        );
    }

    /// Brakes the wheel whose drag corrects the yaw rate: on the first axle against oversteer, on the last against
    /// understeer; the left one for a moment to the left. Braking costs side force at that axle, which supports the
    /// correction.
    ///
    /// The torque is that of the moment, `M R / y` with the wheel's lateral distance y, limited by the wheel's brake
    /// and by the allowed slip, which includes the brake impulse already there. The added impulse raises brake impulse
    /// and locking capacity, and is logged. A wheel on the centre line is not braked; a wheel that is too slow or in
    /// the air gets 0.
    fn brake_one_wheel(
        &mut self,
        stability: &StabilityControl,
        correction: Correction,
        v_loaded: SpatialVector<f32>,
        dt: f32,
    ) {
        let axles = self.model.axle_wheels();
        let axle = if correction.oversteer { axles[0] } else { axles[axles.len() - 1] };
        let wheel_index = if correction.moment > 0.0 { axle[0] } else { axle[1] };
        let (wheel, lane_index) = (&self.model.wheels()[wheel_index], self.model.lane_index(wheel_index));
        let lever = wheel.contact.y.abs();
        if lever == 0.0 {
            return;
        }
        let (group, rows) = (&self.model.wheel_packs()[lane_index.group], &mut self.rows[lane_index.group]);
        let (max_impulse, is_fast) =
            rows.brake_for_slip(group, v_loaded.broadcast_to_wheels(), stability.slip, stability.time_constant, dt);
        // Values of the braked wheel.
        let (max_impulse, is_fast) = (max_impulse.lanes()[lane_index.lane], is_fast.lanes()[lane_index.lane]);
        // Impulse with which the wheel is braked already, N m s.
        let present_impulse = rows.drive.brake.lanes()[lane_index.lane];
        let target_impulse = (correction.moment.abs() / lever * wheel.radius).min(wheel.brake_torque) * dt;
        // The limit by the slip includes the impulse of brakes that act already.
        let added_impulse = if is_fast { target_impulse.min(max_impulse - present_impulse).max(0.0) } else { 0.0 };
        let mut lanes = [0.0; 4];
        lanes[lane_index.lane] = added_impulse;
        rows.drive.brake += F32x4::new(lanes);
        rows.tyre.locking_capacity += F32x4::new(lanes);
        self.log_contribution(
            Assist::StabilityControl,
            Contribution { brake_torque: added_impulse / dt, ..Contribution::default() },
        );
    }
}

impl<W: WheelLanes> WheelRows<W> {
    /// Removes the part of the foot brake's impulse that would bring wheels beyond the allowed slip, from brake impulse
    /// and locking capacity, which contains the brake. Returns that part, N m s; 0 below the least speed of the
    /// anti-lock brakes, without contact, and for a wheel too slow for a slip. The slip is approached with the time
    /// constant of the anti-lock brakes. `brake_pedal`: foot brake, 0 to 1. Handbrake and raw brake torques are
    /// counted, but not reduced. `end_velocity`: chassis velocity expected at the end of the step.
    #[inline(always)]
    pub(crate) fn limit_brake_slip(
        &mut self,
        group: &WheelPack<W>,
        anti_lock: &AntiLock,
        brake_pedal: W,
        end_velocity: SpatialVector<W>,
        dt: f32,
    ) -> W {
        let (speed, zero) = (self.start.rolling_speed, W::splat(0.0));
        // Largest brake impulse at the allowed slip, N m s, and whether the wheel is fast enough.
        let (max_impulse, is_fast) =
            self.brake_for_slip(group, end_velocity, anti_lock.slip, anti_lock.time_constant, dt);
        let is_fast = is_fast & W::splat(anti_lock.min_speed).less(speed.abs());
        let foot_brake_impulse = group.brake_torque * (brake_pedal * W::splat(dt));
        // Brake impulses that are not those of the foot brake.
        let other_impulses = self.drive.brake - foot_brake_impulse;
        let kept_impulse = (max_impulse - other_impulses).clamp_nan_to_low(zero, foot_brake_impulse);
        let removed_impulse = (foot_brake_impulse - kept_impulse).masked(is_fast);
        self.drive.brake = self.drive.brake - removed_impulse;
        self.tyre.locking_capacity = self.tyre.locking_capacity - removed_impulse;
        removed_impulse
    }

    /// Returns the angular impulse of the brake, N m s, that brings wheels one step closer to a slip ratio of `slip`
    /// below the road's speed, on tyres that respond as their rows predict. The impulse is negative if the wheel would
    /// have to be driven. The mask is true for wheels on the ground that roll fast enough. `end_velocity`: chassis
    /// velocity expected at the end of the step; `time_constant`: time constant of the slip, s.
    ///
    /// The impulse is `p + T − R x − I ω`, less the rolling resistance, with the momentum p, the shaft's impulse T and
    /// the tyre's impulse x at the target spin ω. The wheel therefore reaches ω within the step for any slope of the
    /// tyre, also beyond its peak.
    #[inline(always)]
    fn brake_for_slip(
        &self,
        group: &WheelPack<W>,
        end_velocity: SpatialVector<W>,
        slip: f32,
        time_constant: f32,
        dt: f32,
    ) -> (W, W::Mask) {
        let (_spin, excess_impulse, is_rolling) = self.spin_for_slip(group, end_velocity, slip, time_constant, dt);
        // Excess in the direction of travel, less the rolling resistance.
        let brake_impulse =
            excess_impulse * self.start.rolling_speed.sign() - (self.tyre.locking_capacity - self.drive.brake);
        (brake_impulse, is_rolling)
    }

    /// Returns the spins, rad/s, with which wheels get one step closer to a slip ratio of `slip` below the road's
    /// speed, and the angular impulse to be removed for that, N m s (signed like the spin). The mask is true for wheels
    /// on the ground that roll fast enough; elsewhere the values have no meaning. `end_velocity`: chassis velocity
    /// expected at the end of the step; `time_constant`: time constant of the slip, s.
    #[inline(always)]
    pub(crate) fn spin_for_slip(
        &self,
        group: &WheelPack<W>,
        end_velocity: SpatialVector<W>,
        slip: f32,
        time_constant: f32,
        dt: f32,
    ) -> (W, W, W::Mask) {
        let ([longitudinal_speed, _], StartState { rolling_speed: speed, spin, .. }) =
            (self.speeds(end_velocity), self.start);
        // Braking slip is negative.
        let (slip_spin, is_rolling) =
            target_spin(W::splat(-slip), longitudinal_speed, [spin, speed, group.radius], time_constant, dt);
        (slip_spin, self.impulse_for_spin(group, longitudinal_speed, slip_spin), is_rolling & self.tyre.active)
    }

    /// Returns the angular impulse to be removed from wheels, N m s, so that they turn with `target_spin` rad/s while
    /// their centres move at `longitudinal_speed` m/s: `p + T − R x − I ω` with the momentum p, the shaft's impulse T
    /// and the tyre's impulse x at that slip. x is limited to the share of the friction ellipse that the present
    /// lateral impulse leaves. Brakes and rolling resistance are left out.
    #[inline(always)]
    pub(crate) fn impulse_for_spin(&self, group: &WheelPack<W>, longitudinal_speed: W, target_spin: W) -> W {
        let (zero, one) = (W::splat(0.0), W::splat(1.0));
        let friction_limit = self.friction_limit();
        // Used share of the lateral limit.
        let lateral_utilisation =
            self.solution.tyre_impulse[1] / W::select(zero.less(friction_limit[1]), friction_limit[1], one);
        // Largest longitudinal impulse that is left, N s.
        let max_longitudinal = friction_limit[0] * friction_ellipse::remaining_share(lateral_utilisation);
        // Tyre row at the slip speed of the target spin.
        let tyre_impulse = (self.tyre.target_impulse[0]
            - self.tyre.gain[0] * (longitudinal_speed - group.radius * target_spin))
            .clamp_nan_to_low(-max_longitudinal, max_longitudinal);
        self.drive.momentum + self.drive.shaft - group.radius * tyre_impulse - group.spin_inertia * target_spin
    }
}
