//! The end of a step: what the world realised goes back into the state.

use super::rows::WheelRows;
use super::{StepReport, Vehicle};
use crate::linear::Six;
use crate::model::Tyre;
use crate::state::WheelState;
use crate::{Body, math};

/// Speeds between which a patch changes from a standing spring to a rolling tyre, m/s. The upper one is a walking pace;
/// much higher and slow driving loses its slip, much lower and a car rebounds from a locked stop.
const WALKING: [f32; 2] = [0.5, 1.5];

/// Largest slip a deflection stands for; beyond, only its direction is kept.
const LARGEST_SLIP: f32 = 10.0;

/// 0 below a crawl, 1 above a walking pace of `speed` m/s (either sign).
pub(crate) fn rolling_share(speed: f32) -> f32 {
    math::smoothstep(WALKING[0], WALKING[1], speed.abs())
}

impl Vehicle {
    /// Takes over the pose and twist of `body` after the world has advanced by `dt`, and integrates the contact
    /// patches with the relative speeds that were realised.
    ///
    /// The final speed, not the row's own prediction, decides whether a car parks: with the prediction it creeps
    /// 490 mm per minute on 20°.
    pub fn finish(&mut self, body: &Body, dt: f32) -> StepReport {
        if !super::finite(body) {
            return StepReport { not_finite: true, ..StepReport::default() };
        }
        let to_vehicle = self.to_world.transpose();
        let at = Six::new(to_vehicle * body.velocity, to_vehicle * body.angular);
        let state = &mut self.state;
        state.previous_velocity = state.velocity;
        state.position = body.position;
        state.rotation = body.rotation;
        state.velocity = body.velocity;
        state.angular = body.angular;
        let parts = self.model.parts();
        for ((wheel, row), to) in parts.wheels.iter().zip(&self.rows).zip(&mut state.wheels) {
            row.write_back(&parts.tyres[wheel.tyre], wheel.radius, at, dt, to);
        }
        self.shafts.write_back(&mut state.drive, dt);
        StepReport::default()
    }
}

impl WheelRows {
    fn write_back(&self, tyre: &Tyre, radius: f32, at: Six, dt: f32, to: &mut WheelState) {
        to.spin = self.spin;
        to.compression = self.compression;
        to.contact = self.touching;
        to.load = self.load / dt;
        to.tyre = [self.tyre[0] / dt, self.tyre[1] / dt];
        to.torque = self.torque / dt;
        if !self.gripping {
            to.deflection = [0.0; 2];
            to.rolling_speed = if self.touching { self.forward.dot(at) } else { self.spin * radius };
            to.rolling = rolling_share(to.rolling_speed);
            return;
        }
        let along = self.forward.dot(at);
        let across = self.side.dot(at);
        let rolled = radius * self.spin;
        let squared = (along * along + across * across).max(rolled * rolled);
        let slip_speed = [along - rolled, across];
        let left = [0, 1].map(|i| (to.deflection[i] - dt * slip_speed[i]) / self.decay[i]);
        to.rolling_speed = along;
        to.rolling = if squared >= WALKING[1] * WALKING[1] { 1.0 } else { rolling_share(squared.sqrt()) };
        let share = if tyre.relaxes() { to.rolling } else { 0.0 };
        to.deflection = match share {
            0.0 => self.standing(left),
            1.0 => within_largest_slip(left, tyre.lengths()),
            _ => {
                let (standing, turning) = (self.standing(left), within_largest_slip(left, tyre.lengths()));
                [0, 1].map(|i| standing[i] * (1.0 - share) + turning[i] * share)
            }
        };
    }

    /// Deflection of a patch that is a spring on a friction cone: while it slides, what its force says.
    fn standing(&self, rolled: [f32; 2]) -> [f32; 2] {
        let limit = self.limit();
        let deflection = if self.sliding {
            self.tyre
        } else {
            let scale = self.impulse_per_deflection();
            let impulse = [rolled[0] * scale[0], rolled[1] * scale[1]];
            let used = [impulse[0] / limit[0], impulse[1] / limit[1]];
            let reach = (used[0] * used[0] + used[1] * used[1]).sqrt();
            if reach <= 1.0 {
                return rolled;
            }
            [impulse[0] / reach, impulse[1] / reach]
        };
        let scale = self.impulse_per_deflection();
        [deflection[0] / scale[0], deflection[1] / scale[1]]
    }

    fn impulse_per_deflection(&self) -> [f32; 2] {
        self.elastic.map(|k| k * self.dt)
    }
}

fn within_largest_slip(deflection: [f32; 2], lengths: [f32; 2]) -> [f32; 2] {
    let slip = [deflection[0] / lengths[0], deflection[1] / lengths[1]];
    let squared = slip[0] * slip[0] + slip[1] * slip[1];
    if squared <= LARGEST_SLIP * LARGEST_SLIP {
        return deflection;
    }
    deflection.map(|u| u * (LARGEST_SLIP / squared.sqrt()))
}
