//! Vehicle: its model, its state, and the workspace of its step.

pub(crate) mod rows;

use std::sync::Arc;

use crate::assist_log::{Assist, AssistLog, Contribution};
use crate::assists::DriverDemand;
use crate::assists::rows::Correction;
use crate::chassis::hull::HullRows;
use crate::drivetrain::rows::Shafts;
use crate::model::Model;
use crate::model::body::BodyConstants;
use crate::model::wheel_pack::WheelPack;
use crate::port::ChassisState;
use crate::state::State;
use crate::vehicle::rows::WheelRows;
use bevy_math::Mat3;
use skidpad_simd::lane::WheelLanes;
use skidpad_simd::linear::SpatialVector;
use skidpad_simd::wheel_groups::WheelGroups;

/// Car: its model, its state, and the workspace of its step.
#[derive(Clone, Debug)]
pub struct Vehicle {
    /// Description of the car, shared by all cars of the model.
    pub(crate) model: Arc<Model>,
    /// Dynamic state.
    pub(crate) state: State,
    /// Rows, one entry per group of the model.
    pub(crate) rows: Box<[WheelRows]>,
    /// Rows between spins: clutch or converter, motors, couplings.
    pub(crate) shafts: Shafts,
    /// Contact points of the bodywork, for solvers that have rows for them.
    pub(crate) hull: HullRows,
    /// Impulses on the chassis of bars that bypass the struts (N s, N m s).
    pub(crate) external_bar_impulse: SpatialVector<f32>,
    /// Contributions of the assists; `None` for a model without assists for which nothing has been counted.
    pub(crate) assist_log: Option<Box<AssistLog>>,
    /// Demand of the stability control in this step; `None` if it does not act.
    pub(crate) correction: Option<Correction>,
    /// Share of their rate that the anti-roll bars have in this step, 0 to 1.
    pub(crate) bar_rate_share: f32,
    /// Rotation from vehicle axes to world axes in the middle of the step.
    pub(crate) to_world: Mat3,
    /// Pose lag of the body at the start of the step (s); see [`ChassisState::pose_lag`].
    pub(crate) pose_lag: f32,
    /// Bits of the steering angle that the wheels have reached; `None` while they turn, or if raw angles or the
    /// suspension travel turn them, too.
    pub(crate) applied_steer_bits: Option<u32>,
    /// Mass of the trailers towed in this step (kg).
    pub(crate) towed_mass: f32,
    /// Driver demand that was already applied to steering and drivetrain; `None` if [`Vehicle::solve`] still has to
    /// apply it.
    pub(crate) applied_demand: Option<DriverDemand>,
}

impl Vehicle {
    /// Creates a car in `state`, with empty rows. No memory is shared with other cars, except the model.
    pub fn new(model: Arc<Model>, state: State) -> Self {
        let rows = model.wheel_packs().iter().map(|_| WheelRows::default()).collect();
        Self {
            shafts: Shafts::new(model.parts().motors.len(), model.parts().couplings.len()),
            assist_log: (!model.assists().is_empty()).then(Box::default),
            model,
            state,
            rows,
            hull: HullRows::default(),
            external_bar_impulse: SpatialVector::default(),
            correction: None,
            bar_rate_share: 1.0,
            to_world: Mat3::IDENTITY,
            pose_lag: 0.0,
            applied_steer_bits: None,
            towed_mass: 0.0,
            applied_demand: None,
        }
    }

    /// Returns the model.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// Returns the state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Returns the contributions of the assists in the last solved step; an empty log for a car without assists.
    pub fn assist_log(&self) -> &AssistLog {
        const EMPTY_LOG: &AssistLog = &AssistLog::EMPTY_LOG;
        self.assist_log.as_deref().unwrap_or(EMPTY_LOG)
    }

    /// Adds a contribution of `assist` to the log of this step.
    pub(crate) fn log_contribution(&mut self, assist: Assist, contribution: Contribution) {
        self.assist_log.get_or_insert_default().add(assist, contribution);
    }

    /// Replaces the model by `model`, which has the same layout: the same numbers of wheels, motors and couplings, and
    /// the same assists. Call [`Vehicle::set_state`] afterwards, so that the wheels are turned by the new model.
    pub fn set_model(&mut self, model: &Arc<Model>) {
        self.model = Arc::clone(model);
    }

    /// Sets the state and returns true. Returns false and changes nothing if `state` has another number of wheels. The
    /// wheels are turned anew in the next step, and signals of the last step are discarded.
    pub fn set_state(&mut self, state: &State) -> bool {
        let has_same_wheels = state.wheels.len() == self.state.wheels.len();
        if has_same_wheels {
            self.state.clone_from(state);
            self.applied_steer_bits = None;
            // The rows belong to the last step before this state.
            self.rows.iter_mut().for_each(WheelRows::invalidate_step);
        }
        has_same_wheels
    }

    /// Copies state and workspace of `other`, a car of the same model, into the memory already allocated. Clears the
    /// hull rows. The model and the towed mass stay. The assist log is copied only if both cars have one.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.state.clone_from(&other.state);
        self.rows.iter_mut().zip(&other.rows).for_each(|(rows, other)| rows.copy_from(other));
        self.shafts.copy_from(&other.shafts);
        self.hull.clear();
        self.external_bar_impulse = other.external_bar_impulse;
        if let (Some(assist_log), Some(other)) = (&mut self.assist_log, &other.assist_log) {
            **assist_log = **other;
        }
        (self.correction, self.bar_rate_share) = (other.correction, other.bar_rate_share);
        (self.to_world, self.pose_lag, self.applied_steer_bits, self.applied_demand) =
            (other.to_world, other.pose_lag, other.applied_steer_bits, other.applied_demand);
    }

    /// Returns the chassis velocity of `body` at the end of the step without any impulse of the vehicle (m/s, rad/s),
    /// rotated to the vehicle frame with the axes `to_world`.
    pub(crate) fn free_velocity_in_body(&self, body: &ChassisState, to_world: &Mat3) -> SpatialVector<f32> {
        let to_vehicle = to_world.transpose();
        SpatialVector::from_vec3s(to_vehicle * body.free_velocity, to_vehicle * body.free_angular_velocity)
    }

    /// Returns the change of the chassis velocity (m/s, rad/s) by an impulse on the chassis (N s, and N m s about the
    /// centre of mass): `M⁻¹ p`.
    pub(crate) fn response(&self, impulse: SpatialVector<f32>) -> SpatialVector<f32> {
        BodyConstants::of(&self.model).response(impulse)
    }

    /// Returns the sum of the impulses of all wheels on the chassis (N s, N m s). If `with_loads` is false, only tyres
    /// and torques count, without the loads and the travel impulses of unsprung masses.
    #[inline(always)]
    pub(crate) fn wheel_impulses<B: WheelGroups>(&self, with_loads: bool) -> SpatialVector<f32> {
        wheel_impulses(B::slice(&self.rows), with_loads)
    }
}

/// Returns the groups of four wheels of `model` (their constants), each with its rows.
#[inline(always)]
pub(crate) fn groups_with_rows<'a, B: WheelGroups>(
    model: &'a Model,
    rows: &'a mut [WheelRows],
) -> impl Iterator<Item = (&'a WheelPack, &'a mut WheelRows)> {
    B::slice(model.wheel_packs()).iter().zip(B::slice_mut(rows))
}

/// Returns the sum of [`WheelRows::impulse`] over the wheels of each car (N s, N m s), added axle by axle so that
/// mirrored cars have mirrored bits. If `with_loads` is false, loads and travel impulses of unsprung masses are left
/// out.
#[inline(always)]
pub fn wheel_impulses<W: WheelLanes>(rows: &[WheelRows<W>], with_loads: bool) -> SpatialVector<W::Car> {
    let mut sum = SpatialVector::default();
    for rows in rows.chunks(W::ROWS_PER_AXLE_PAIR) {
        sum = sum
            + SpatialVector::sum_over_wheels(
                #[inline(always)]
                |k| rows[k].impulse(with_loads),
            );
    }
    sum
}

/// Returns true if position, rotation, velocities and free velocities of `body` are finite. Wind and the other fields
/// are not checked.
#[inline(always)]
pub(crate) fn is_body_finite(body: &ChassisState) -> bool {
    // A sum is finite only if every term is: one test covers all terms.
    let velocity_sum = body.velocity + body.angular_velocity + body.free_velocity + body.free_angular_velocity;
    let position_sum = body.position.x + body.position.y + body.position.z;
    let rotation_sum = body.rotation.x + body.rotation.y + body.rotation.z + body.rotation.w;
    (velocity_sum.x + velocity_sum.y + velocity_sum.z + rotation_sum).is_finite() && position_sum.is_finite()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_math::{DVec3, Quat, Vec3};

    /// Builds a body from `numbers`: position, four velocities, rotation.
    fn body(numbers: [f32; 19]) -> ChassisState {
        let vector = |from: usize| Vec3::from_slice(&numbers[from..]);
        ChassisState {
            position: DVec3::from(vector(0)),
            velocity: vector(3),
            angular_velocity: vector(6),
            free_velocity: vector(9),
            free_angular_velocity: vector(12),
            gyroscopic_change: Vec3::ZERO,
            rotation: Quat::from_slice(&numbers[15..]),
            wind: Vec3::ZERO,
            pose_lag: 0.0,
            position_resolution: 0.0,
            asleep: false,
        }
    }

    #[test]
    fn a_body_is_finite_when_each_of_its_numbers_is() {
        for size in [0.0, 1.0, -1.0, 1e30] {
            assert!(is_body_finite(&body([size; 19])), "{size}");
            for number in 0..19 {
                for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                    let mut numbers = [size; 19];
                    numbers[number] = bad;
                    assert!(!is_body_finite(&body(numbers)), "number {number} is {bad}, the others {size}");
                }
            }
        }
    }
}
