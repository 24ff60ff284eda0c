//! Cuts of the regeneration of motors while wheels slip slower than the road, and while stability control corrects the car.

use crate::assists::assist_log::Assist;
use crate::assists::parameters::Assists;
use crate::lane::{Corners, Four, Lane};
use crate::linear::SpatialVector;
use crate::step::rows::Rows;
use crate::step::vehicle::Vehicle;
use crate::wheel::pack::WheelPack;

/// Share of the allowed slip above which regeneration is monitored.
const WATCHED_FROM: f32 = 0.5;

/// Limit of the slip by regeneration, for wheels slower than the road.
#[derive(Clone, Copy, Debug)]
struct RegenerationLimit {
    assist: Assist,
    /// Slip ratio; for the three values see [`crate::assists::parameters::AntiLock::slip`], `response` and `off_below`.
    slip: f32,
    response: f32,
    off_below: f32,
}

impl RegenerationLimit {
    /// Returns the limit of the anti-lock brakes, else that of the stability control, else `None`.
    fn of(assists: &Assists) -> Option<Self> {
        if let Some(abs) = &assists.abs {
            let (slip, response, off_below) = (abs.slip, abs.response, abs.off_below);
            return Some(Self { assist: Assist::AntiLock, slip, response, off_below });
        }
        assists.stability.as_ref().map(|own| Self {
            assist: Assist::StabilityControl,
            slip: own.slip,
            response: own.response,
            off_below: own.fades_in[0],
        })
    }
}

impl Vehicle {
    /// Cuts the regeneration of every motor to the torque that its wheels can take at the allowed slip without the foot brake; entirely while
    /// stability control corrects the car. `pedal`: position of the foot brake, 0 to 1; `loaded`: velocity of the chassis after the loads and
    /// the last step's tyre impulses.
    pub(crate) fn cut_regeneration(&mut self, pedal: f32, loaded: SpatialVector<f32>, dt: f32) {
        let parts = self.model.parts();
        let Some(limit) = RegenerationLimit::of(&parts.assists).filter(|_| !parts.motors.is_empty()) else { return };
        let corrects = parts.assists.stability.is_some() && self.correction.is_some();
        if !corrects && !self.slips_behind(&limit) {
            return;
        }
        let assist = if corrects { Assist::StabilityControl } else { limit.assist };
        let limited_by = self.shafts.limited_by;
        self.shafts.begin_cutting(assist, &self.model, &mut self.rows);
        let ([first, _], mut has_cut) = (self.shafts.first_rows(&self.model), false);
        for k in 0..self.model.parts().motors.len() {
            let (shaft, speed) = match corrects {
                true => (0.0, None),
                false => match self.regeneration_left(first + k, &limit, pedal, loaded, dt) {
                    Some((shaft, speed)) => (shaft, Some(speed)),
                    None => continue,
                },
            };
            self.shafts.cut_motor(&self.model, &mut self.rows, k, shaft, speed);
            has_cut = true;
        }
        // Anti-lock and single-wheel brakes need the initial torque of the motors. If neither acts, the solution starts as in any step, so that
        // limits which do not bind change no bit.
        if pedal == 0.0 && !corrects {
            self.shafts.clear_begun(&self.model, &mut self.rows);
            if !has_cut {
                (self.shafts.limited_by, self.shafts.regeneration_cut_by) = (limited_by, None);
            }
        }
    }

    /// Returns whether any wheel slips enough below the speed of the road that its motors have to be monitored.
    fn slips_behind(&self, limit: &RegenerationLimit) -> bool {
        let banks = self.model.banks().iter().zip(&self.rows);
        banks.into_iter().any(|(bank, rows)| Four::any(rows.slips_behind(bank, limit.slip, limit.off_below)))
    }

    /// Returns the impulse towards the gear, N m s, ≤ 0, that row `row` between spins may give its wheels, and the mean of their speeds
    /// then, rad/s; `None` if no wheel exceeds the allowed slip.
    fn regeneration_left(
        &self,
        row: usize,
        limit: &RegenerationLimit,
        pedal: f32,
        loaded: SpatialVector<f32>,
        dt: f32,
    ) -> Option<(f32, f32)> {
        let direction = self.shafts.pull.direction;
        let (mut missing, mut speed) = (0.0f32, 0.0);
        for (bank, rows) in self.model.banks().iter().zip(&self.rows) {
            let share = bank.levers[row];
            let (goal, need, rolls) = rows.slowed_to_slip(bank, loaded.at_each_wheel(), limit.slip, limit.response, dt);
            let ahead = rows.begun.rolling_speed * Four::splat(direction);
            let foot = bank.brake_torque * Four::splat(pedal * dt);
            let beyond = rows.tyre.locking_capacity - foot - need * Four::splat(direction);
            let watched = rolls & Four::splat(limit.off_below).less(ahead) & Four::splat(0.0).less(share);
            bank.each(|lane, _| {
                let share = share.lanes()[lane];
                if share > 0.0 {
                    missing = missing.max(beyond.only(watched).lanes()[lane] / share);
                }
            });
            speed += (share * goal).sum();
        }
        let left = (self.shafts.carried(row) * direction + missing).min(0.0);
        (missing > 0.0).then_some((left, speed))
    }
}

impl<W: Corners> Rows<W> {
    /// Returns which wheels are slower than the road by more than half of `slip`, at a speed above `off_below` m/s.
    #[inline(always)]
    pub(crate) fn slips_behind(&self, bank: &WheelPack<W>, slip: f32, off_below: f32) -> W::Mask {
        let speed = self.begun.rolling_speed;
        let (pace, behind) = (speed.abs(), (speed - self.begun.spin * bank.radius) * speed.sign());
        (pace * W::splat(WATCHED_FROM * slip)).less(behind) & W::splat(off_below).less(pace) & self.tyre.active
    }
}
