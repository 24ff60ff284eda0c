//! Cuts of the regeneration of motors while wheels slip slower than the road, and while stability control corrects the car.

use crate::assist_log::Assist;
use crate::assists::parameters::Assists;
use crate::model::wheel_pack::WheelPack;
use crate::simd::lane::{F32x4, Lane, WheelLanes};
use crate::simd::linear::SpatialVector;
use crate::vehicle::Vehicle;
use crate::vehicle::rows::WheelRows;

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
    /// Returns the limit by the slip, time constant and least speed of the anti-lock brakes, else by those of the stability control (least speed:
    /// where it begins to act), else `None`.
    fn from_assists(assists: &Assists) -> Option<Self> {
        if let Some(abs) = &assists.abs {
            let (slip, response, off_below) = (abs.slip, abs.time_constant, abs.min_speed);
            return Some(Self { assist: Assist::AntiLock, slip, time_constant: response, min_speed: off_below });
        }
        assists.stability.as_ref().map(|own| Self {
            assist: Assist::StabilityControl,
            slip: own.slip,
            time_constant: own.time_constant,
            min_speed: own.speed_range[0],
        })
    }
}

impl Vehicle {
    /// Cuts the regeneration of every motor to the torque that its wheels can take at the allowed slip without the foot brake; entirely while
    /// stability control corrects the car. `pedal`: position of the foot brake, 0 to 1; `loaded`: velocity of the chassis after the loads and the
    /// last step's tyre impulses.
    ///
    /// Does nothing without motors, without anti-lock brakes or stability control, or if no wheel slips more than half of the allowed slip. Otherwise
    /// the motors' rows start with their demanded torques, as the brake assists that follow need them; without such assists these are removed again,
    /// and only the limits remain.
    pub(crate) fn cut_regeneration(&mut self, pedal: f32, loaded: SpatialVector<f32>, dt: f32) {
        let parts = self.model.parts();
        let Some(limit) = RegenerationLimit::from_assists(&parts.assists).filter(|_| !parts.motors.is_empty()) else {
            return;
        };
        let corrects = parts.assists.stability.is_some() && self.correction.is_some();
        if !corrects && !self.has_braking_slip(&limit) {
            return;
        }
        let assist = if corrects { Assist::StabilityControl } else { limit.assist };
        let limited_by = self.shafts.limited_by;
        self.shafts.begin_regeneration_cut(assist, &self.model, &mut self.rows);
        let ([first, _], mut has_cut) = (self.shafts.first_rows(&self.model), false);
        for k in 0..self.model.parts().motors.len() {
            let (shaft, speed) = match corrects {
                true => (0.0, None),
                false => match self.allowed_regeneration(first + k, &limit, pedal, loaded, dt) {
                    Some((shaft, speed)) => (shaft, Some(speed)),
                    None => continue,
                },
            };
            self.shafts.limit_regeneration(&self.model, &mut self.rows, k, shaft, speed);
            has_cut = true;
        }
        // Anti-lock and single-wheel brakes need the initial torque of the motors. If neither acts, the solution starts as in any step, so that
        // limits which do not bind change no bit.
        if pedal == 0.0 && !corrects {
            self.shafts.clear_initial_impulses(&self.model, &mut self.rows);
            if !has_cut {
                (self.shafts.limited_by, self.shafts.regeneration_cut_by) = (limited_by, None);
            }
        }
    }

    /// Returns whether any wheel slips below the speed of the road by more than half of the allowed slip, so that its motors have to be monitored.
    fn has_braking_slip(&self, limit: &RegenerationLimit) -> bool {
        let banks = self.model.wheel_packs().iter().zip(&self.rows);
        banks.into_iter().any(|(bank, rows)| F32x4::any(rows.braking_slip_mask(bank, limit.slip, limit.min_speed)))
    }

    /// Returns the impulse towards the gear, N m s, ≤ 0, that row `row` between spins may give its wheels, and the mean of their target speeds,
    /// rad/s; `None` if no wheel exceeds the allowed slip. The wheel with the largest excess over its lever decides. The foot brake's impulse at
    /// `pedal` is left out, as anti-lock brakes reduce it themselves.
    fn allowed_regeneration(
        &self,
        row: usize,
        limit: &RegenerationLimit,
        pedal: f32,
        loaded: SpatialVector<f32>,
        dt: f32,
    ) -> Option<(f32, f32)> {
        let direction = self.shafts.pedal_demand.direction;
        // Largest excess of braking, N m s at the shaft.
        let (mut missing, mut speed) = (0.0f32, 0.0);
        for (bank, rows) in self.model.wheel_packs().iter().zip(&self.rows) {
            let share = bank.shaft_jacobian[row];
            let (goal, need, rolls) =
                rows.spin_for_slip(bank, loaded.broadcast_to_wheels(), limit.slip, limit.time_constant, dt);
            // Road speed in the driving direction, m/s.
            let ahead = rows.start.rolling_speed * F32x4::splat(direction);
            let foot = bank.brake_torque * F32x4::splat(pedal * dt);
            let beyond = rows.tyre.locking_capacity - foot - need * F32x4::splat(direction);
            let watched = rolls & F32x4::splat(limit.min_speed).less(ahead) & F32x4::splat(0.0).less(share);
            bank.for_each_wheel(|lane, _| {
                let share = share.lanes()[lane];
                if share > 0.0 {
                    missing = missing.max(beyond.masked(watched).lanes()[lane] / share);
                }
            });
            speed += (share * goal).sum();
        }
        let left = (self.shafts.wheel_impulse(row) * direction + missing).min(0.0);
        (missing > 0.0).then_some((left, speed))
    }
}

impl<W: WheelLanes> WheelRows<W> {
    /// Returns which wheels are slower than the road by more than half of `slip`, at a speed above `off_below` m/s.
    #[inline(always)]
    pub(crate) fn braking_slip_mask(&self, bank: &WheelPack<W>, slip: f32, off_below: f32) -> W::Mask {
        let speed = self.start.rolling_speed;
        let (pace, behind) = (speed.abs(), (speed - self.start.spin * bank.radius) * speed.sign());
        (pace * W::splat(MONITORED_SLIP_SHARE * slip)).less(behind) & W::splat(off_below).less(pace) & self.tyre.active
    }
}
