//! Cuts of the regeneration of motors while wheels slip slower than the road, and while stability control corrects the
//! car.

use crate::assist_log::Assist;
use crate::assists::parameters::Assists;
use crate::model::wheel_pack::WheelPack;
use crate::vehicle::Vehicle;
use crate::vehicle::rows::WheelRows;
use skidpad_simd::lane::{F32x4, Lane, WheelLanes};
use skidpad_simd::linear::SpatialVector;

/// Share of the allowed slip above which regeneration is monitored.
const MONITORED_SLIP_SHARE: f32 = 0.5;

/// Limit of the slip by regeneration, for wheels slower than the road.
#[derive(Clone, Copy, Debug)]
struct RegenerationLimit {
    /// Assist to which the cut is logged.
    assist: Assist,
    /// Slip ratio, slower than the road, that regeneration may cause.
    slip: f32,
    /// Time constant of the slip, s.
    time_constant: f32,
    /// Speed of the road below which regeneration is not limited, m/s.
    min_speed: f32,
}

impl RegenerationLimit {
    /// Returns the limit with slip, time constant and least speed of the anti-lock brakes. Without these, uses those of
    /// the stability control, whose least speed is that at which it begins to act. `None` without both.
    fn from_assists(assists: &Assists) -> Option<Self> {
        if let Some(abs) = &assists.abs {
            let (slip, time_constant, min_speed) = (abs.slip, abs.time_constant, abs.min_speed);
            return Some(Self { assist: Assist::AntiLock, slip, time_constant, min_speed });
        }
        assists.stability.as_ref().map(|stability| Self {
            assist: Assist::StabilityControl,
            slip: stability.slip,
            time_constant: stability.time_constant,
            min_speed: stability.speed_range[0],
        })
    }
}

impl Vehicle {
    /// Cuts the regeneration of motors whose wheels slip too much to the impulse that these wheels can take at the
    /// allowed slip without the foot brake. Motors within the limit are left alone. While stability control corrects
    /// the car, all regeneration is cut. `brake_pedal`: position of the foot brake, 0 to 1; `v_loaded`: velocity of the
    /// chassis after the loads and the last step's tyre impulses.
    ///
    /// Does nothing without motors, without anti-lock brakes or stability control, or if no wheel slips more than half
    /// of the allowed slip and stability control does not correct. Otherwise first sets the motors' rows to the
    /// impulses of their demanded torques. The limits reduce these initial impulses, and the brake assists that follow
    /// count them. If neither brake pedal nor correction is active, the initial impulses are removed again, and only
    /// the limits remain. If then no motor was cut, the assist that limited the motors before is restored.
    pub(crate) fn cut_regeneration(&mut self, brake_pedal: f32, v_loaded: SpatialVector<f32>, dt: f32) {
        let parts = self.model.parts();
        let Some(limit) = RegenerationLimit::from_assists(&parts.assists).filter(|_| !parts.motors.is_empty()) else {
            return;
        };
        let is_correcting = parts.assists.stability.is_some() && self.correction.is_some();
        if !is_correcting && !self.has_braking_slip(&limit) {
            return;
        }
        let assist = if is_correcting { Assist::StabilityControl } else { limit.assist };
        // Restored below if no motor is cut.
        let limited_by = self.shafts.limited_by;
        self.shafts.begin_regeneration_cut(assist, &self.model, &mut self.rows);
        let ([first_motor_row, _], mut has_cut) = (self.shafts.first_rows(&self.model), false);
        for k in 0..self.model.parts().motors.len() {
            let (shaft_impulse, shaft_speed) = match is_correcting {
                true => (0.0, None), // no regeneration; no target speed of the shaft, so no torque for the rotor
                false => match self.allowed_regeneration(first_motor_row + k, &limit, brake_pedal, v_loaded, dt) {
                    Some((shaft_impulse, shaft_speed)) => (shaft_impulse, Some(shaft_speed)),
                    None => continue, // no wheel of this motor exceeds the allowed slip
                },
            };
            self.shafts.limit_regeneration(&self.model, &mut self.rows, k, shaft_impulse, shaft_speed);
            has_cut = true;
        }
        // Anti-lock and single-wheel brakes need the initial torque of the motors. If neither acts, the solution starts
        // as in any step, so that limits which do not bind change no bit.
        if brake_pedal == 0.0 && !is_correcting {
            self.shafts.clear_initial_impulses(&self.model, &mut self.rows);
            if !has_cut {
                (self.shafts.limited_by, self.shafts.regeneration_cut_by) = (limited_by, None);
            }
        }
    }

    /// Returns whether any wheel slips below the speed of the road by more than half of the allowed slip, so that its
    /// motors have to be monitored.
    fn has_braking_slip(&self, limit: &RegenerationLimit) -> bool {
        let groups = self.model.wheel_packs().iter().zip(&self.rows);
        groups.into_iter().any(|(group, rows)| F32x4::any(rows.braking_slip_mask(group, limit.slip, limit.min_speed)))
    }

    /// Returns the impulse towards the gear, N m s, ≤ 0, that row `row` between spins may give its wheels, and the mean
    /// of their target speeds, rad/s; `None` if no wheel exceeds the allowed slip. The excess of a wheel is the braking
    /// impulse beyond that for the allowed slip, over its lever; the wheel with the largest excess decides. Only wheels
    /// on the ground that roll in the driving direction faster than the least speed of the limit count. The foot
    /// brake's impulse at `brake_pedal` is left out, because anti-lock brakes reduce it themselves.
    fn allowed_regeneration(
        &self,
        row: usize,
        limit: &RegenerationLimit,
        brake_pedal: f32,
        v_loaded: SpatialVector<f32>,
        dt: f32,
    ) -> Option<(f32, f32)> {
        let direction = self.shafts.pedal_demand.direction;
        // Largest excess of braking, N m s at the shaft.
        let (mut max_excess, mut shaft_speed) = (0.0f32, 0.0);
        for (group, rows) in self.model.wheel_packs().iter().zip(&self.rows) {
            let lever = group.shaft_jacobian[row];
            let (target_spin, excess_impulse, is_rolling) =
                rows.spin_for_slip(group, v_loaded.broadcast_to_wheels(), limit.slip, limit.time_constant, dt);
            // Road speed in the driving direction, m/s.
            let forward_speed = rows.start.rolling_speed * F32x4::splat(direction);
            let foot_brake_impulse = group.brake_torque * F32x4::splat(brake_pedal * dt);
            // Braking by other brakes and rolling resistance, plus the impulse that is missing for the target spin.
            let excess = rows.tyre.locking_capacity - foot_brake_impulse - excess_impulse * F32x4::splat(direction);
            let is_monitored =
                is_rolling & F32x4::splat(limit.min_speed).less(forward_speed) & F32x4::splat(0.0).less(lever);
            group.for_each_wheel(|lane, _| {
                let wheel_lever = lever.lanes()[lane];
                if wheel_lever > 0.0 {
                    max_excess = max_excess.max(excess.masked(is_monitored).lanes()[lane] / wheel_lever);
                }
            });
            shaft_speed += (lever * target_spin).sum();
        }
        // Present impulse, with less braking by the excess.
        let allowed_impulse = (self.shafts.shaft_impulse(row) * direction + max_excess).min(0.0);
        (max_excess > 0.0).then_some((allowed_impulse, shaft_speed))
    }
}

impl<W: WheelLanes> WheelRows<W> {
    /// Returns the wheels that are slower than the road by more than half of the slip ratio `slip`, at a road speed
    /// above `min_speed` m/s in either direction. The slip speed counts in the direction of travel, so that driving
    /// slip is negative. Only active tyres count.
    #[inline(always)]
    pub(crate) fn braking_slip_mask(&self, group: &WheelPack<W>, slip: f32, min_speed: f32) -> W::Mask {
        let speed = self.start.rolling_speed;
        let (absolute_speed, slip_speed) = (speed.abs(), (speed - self.start.spin * group.radius) * speed.sign());
        (absolute_speed * W::splat(MONITORED_SLIP_SHARE * slip)).less(slip_speed)
            & W::splat(min_speed).less(absolute_speed)
            & self.tyre.active
    }
}
