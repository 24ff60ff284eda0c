//! A car: its model, its motion, and the workspace of its step.

use std::sync::Arc;

use crate::assists::DriverDemand;
use crate::assists::assist_log::{Assist, AssistLog, Contribution};
use crate::assists::rows::Correction;
use crate::banks::Banks;
use crate::chassis::hull::HullRows;
use crate::drivetrain::rows::Shafts;
use crate::lane::{Corners, Lane};
use crate::linear::SpatialVector;
use crate::model::Model;
use crate::state::State;
use crate::step::rows::Rows;
use crate::wheel::pack::WheelPack;
use crate::world::seam::Body;
use bevy_math::{DVec3, Mat3, Quat, Vec3};

/// A car: its model, its motion, and the workspace of its step.
#[derive(Clone, Debug)]
pub struct Vehicle {
    pub(crate) model: Arc<Model>,
    pub(crate) state: State,
    /// One for each bank of the model.
    pub(crate) rows: Box<[Rows]>,
    pub(crate) shafts: Shafts,
    pub(crate) hull: HullRows,
    /// What bars beside the struts do to the chassis, N s and N m s.
    pub(crate) beside: SpatialVector<f32>,
    /// `None` without assists, which then count nothing.
    pub(crate) assist_log: Option<Box<AssistLog>>,
    pub(crate) correction: Option<Correction>,
    /// Share of the rate that anti-roll bars have in this step.
    pub(crate) bar_share: f32,
    /// Vehicle axes to world axes in the middle of the step.
    pub(crate) to_world: Mat3,
    /// Of the body at the start of the step, s.
    pub(crate) pose_lag: f32,
    /// Bits of the steering angle that the wheels were last turned to, if that alone turned them.
    pub(crate) turned_to: Option<u32>,
    /// Mass of the trailers that it tows in this step, kg.
    pub(crate) towed_mass: f32,
    /// What the driver asks for, where steering and drivetrain have done it before [`Vehicle::solve`].
    pub(crate) applied: Option<DriverDemand>,
}

pub(crate) const CHASSIS_AT_ORIGIN: Body = Body {
    position: DVec3::ZERO,
    rotation: Quat::IDENTITY,
    velocity: Vec3::ZERO,
    angular: Vec3::ZERO,
    free_velocity: Vec3::ZERO,
    free_angular: Vec3::ZERO,
    drift: Vec3::ZERO,
    wind: Vec3::ZERO,
    pose_lag: 0.0,
    resolution: 0.0,
    asleep: false,
};

impl Vehicle {
    /// A car in `state`.
    pub fn new(model: Arc<Model>, state: State) -> Self {
        let rows = model.banks().iter().map(|_| Rows::default()).collect();
        Self {
            shafts: Shafts::of(&model),
            assist_log: (!model.assists().is_empty()).then(Box::default),
            model,
            state,
            rows,
            hull: HullRows::default(),
            beside: SpatialVector::default(),
            correction: None,
            bar_share: 1.0,
            to_world: Mat3::IDENTITY,
            pose_lag: 0.0,
            turned_to: None,
            towed_mass: 0.0,
            applied: None,
        }
    }

    /// What it is.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// What it is doing.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// What assists added in the last step that was solved.
    pub fn assist_log(&self) -> &AssistLog {
        const NOTHING: &AssistLog = &AssistLog::NOTHING;
        self.assist_log.as_deref().unwrap_or(NOTHING)
    }

    /// Counts what `assist` added in this step.
    pub(crate) fn count(&mut self, assist: Assist, more: Contribution) {
        self.assist_log.get_or_insert_default().add(assist, more);
    }

    /// Continues from `state`. One of a car with another number of wheels is refused: then nothing changes, and the answer is
    /// `false`.
    pub fn set_state(&mut self, state: &State) -> bool {
        let fits = state.wheels.len() == self.state.wheels.len();
        if fits {
            self.state.clone_from(state);
            self.turned_to = None;
            // Nothing of the last step is told of it.
            self.rows.iter_mut().for_each(Rows::forget_step);
        }
        fits
    }

    /// Goes back to where `other` of the same model is, in the memory that is there.
    pub(crate) fn copy(&mut self, other: &Self) {
        self.state.clone_from(&other.state);
        self.rows.iter_mut().zip(&other.rows).for_each(|(rows, other)| rows.copy(other));
        self.shafts.copy(&other.shafts);
        self.hull.clear();
        self.beside = other.beside;
        if let (Some(assist_log), Some(other)) = (&mut self.assist_log, &other.assist_log) {
            **assist_log = **other;
        }
        (self.correction, self.bar_share) = (other.correction, other.bar_share);
        (self.to_world, self.pose_lag, self.turned_to, self.applied) =
            (other.to_world, other.pose_lag, other.turned_to, other.applied);
    }

    /// Free velocity in the vehicle frame.
    pub(crate) fn free_velocity_in_body(&self, body: &Body, to_world: &Mat3) -> SpatialVector<f32> {
        let to_vehicle = to_world.transpose();
        SpatialVector::of(to_vehicle * body.free_velocity, to_vehicle * body.free_angular)
    }

    /// Change of velocity by an impulse on the chassis.
    pub(crate) fn response(&self, impulse: SpatialVector<f32>) -> SpatialVector<f32> {
        response(&self.model, impulse)
    }

    /// Sum of what the wheels' rows do to the chassis.
    #[inline(always)]
    pub(crate) fn wheel_impulses<B: Banks>(&self, with_loads: bool) -> SpatialVector<f32> {
        wheel_impulses(B::of(&self.rows), with_loads)
    }
}

/// Every bank of wheels with its rows.
#[inline(always)]
pub(crate) fn banks<'a, B: Banks>(
    model: &'a Model,
    rows: &'a mut [Rows],
) -> impl Iterator<Item = (&'a WheelPack, &'a mut Rows)> {
    B::of(model.banks()).iter().zip(B::of_mut(rows))
}

/// Change of velocity by an impulse on the chassis.
#[inline(always)]
pub(crate) fn response<C: Lane>(model: &Model, impulse: SpatialVector<C>) -> SpatialVector<C> {
    let SpatialVector { linear, angular } = impulse;
    SpatialVector::new(linear * C::splat(model.inverse_mass()), angular.mul_mat(model.inverse_inertia()))
}

/// Sum of what the wheels' rows do to the chassis.
#[inline(always)]
pub(crate) fn wheel_impulses<W: Corners>(rows: &[Rows<W>], with_loads: bool) -> SpatialVector<W::Car> {
    let mut sum = SpatialVector::default();
    for rows in rows.chunks(W::ROWS) {
        sum = sum
            + SpatialVector::sum_of(
                #[inline(always)]
                |k| rows[k].impulse(with_loads),
            );
    }
    sum
}

#[inline(always)]
pub(crate) fn finite(body: &Body) -> bool {
    // A sum is finite only if every term is: one test for all of them.
    let v = body.velocity + body.angular + body.free_velocity + body.free_angular;
    let place = body.position.x + body.position.y + body.position.z;
    let turn = body.rotation.x + body.rotation.y + body.rotation.z + body.rotation.w;
    (v.x + v.y + v.z + turn).is_finite() && place.is_finite()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(numbers: [f32; 19]) -> Body {
        let vector = |from: usize| Vec3::from_slice(&numbers[from..]);
        Body {
            position: DVec3::from(vector(0)),
            velocity: vector(3),
            angular: vector(6),
            free_velocity: vector(9),
            free_angular: vector(12),
            drift: Vec3::ZERO,
            rotation: Quat::from_slice(&numbers[15..]),
            wind: Vec3::ZERO,
            pose_lag: 0.0,
            resolution: 0.0,
            asleep: false,
        }
    }

    #[test]
    fn a_body_is_finite_when_each_of_its_numbers_is() {
        for size in [0.0, 1.0, -1.0, 1e30] {
            assert!(finite(&body([size; 19])), "{size}");
            for number in 0..19 {
                for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                    let mut numbers = [size; 19];
                    numbers[number] = bad;
                    assert!(!finite(&body(numbers)), "number {number} is {bad}, the others {size}");
                }
            }
        }
    }
}
