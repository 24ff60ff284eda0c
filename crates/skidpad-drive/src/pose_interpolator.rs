//! Interpolation between two steps for drawing: poses of body and wheels at any frame rate.

use crate::input::finite_or_zero;
use skidpad_core::{DVec3, Model, Quat, State, Vec3};
use std::f32::consts::TAU;

/// Pose of a body or a wheel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Position in the world, m: centre of mass of a body, centre of a wheel.
    pub position: DVec3,
    /// Rotation from its axes (x forward, y left, z up) to world axes. For a wheel it includes the rolling angle.
    pub rotation: Quat,
}

/// Motion of a car between its last two steps, one step late: share 0 is the state before the last step, share 1 the
/// state after it.
///
/// The body follows a cubic Hermite curve through both positions, with both velocities as slopes. Each slope is limited
/// to three times the displacement of the step, so that the curve never overshoots (Fritsch and Carlson, Monotone
/// piecewise cubic interpolation, 1980). Wheels are interpolated in body axes, so that they follow the body without
/// shaking.
#[derive(Clone, Debug, PartialEq)]
pub struct PoseInterpolator {
    /// Motion of the body before the last step.
    previous: BodyMoment,
    /// Motion of the body after the last step.
    current: BodyMoment,
    /// Length of the last step, s; 0 without motion.
    dt: f32,
    /// Each wheel before and after the last step.
    wheel_motions: Vec<[WheelMoment; 2]>,
    /// Rolling angle of each wheel after the last step, rad.
    rolling_angles: Vec<f32>,
}

/// Pose and velocity of the body at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct BodyMoment {
    /// Position of the centre of mass, world, m.
    position: DVec3,
    /// Velocity of the centre of mass, world axes, m/s.
    velocity: Vec3,
    /// Rotation from vehicle axes to world axes.
    rotation: Quat,
}

/// Pose and spin of a wheel, in body axes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct WheelMoment {
    /// Wheel centre from the centre of mass, m.
    centre: Vec3,
    /// Rotation from wheel axes to body axes, without the rolling angle.
    rotation: Quat,
    /// Angular velocity about the axle, rad/s, positive forward.
    spin: f32,
}

impl PoseInterpolator {
    /// Creates the motion of a car that rests in `state` until [`PoseInterpolator::push`], with rolling angles of 0.
    pub fn new(model: &Model, state: &State) -> Self {
        let wheel_motions = (0..state.wheels.len()).map(|i| [wheel_moment(model, state, i); 2]).collect();
        let current = BodyMoment::new(state);
        Self { previous: current, current, dt: 0.0, wheel_motions, rolling_angles: vec![0.0; state.wheels.len()] }
    }

    /// Records the state after another step of `dt` s: for the body and each wheel, the former state becomes the state
    /// before the step. Advances the rolling angle of each wheel by its spin after the step times `dt`, modulo a full
    /// turn.
    pub fn push(&mut self, model: &Model, state: &State, dt: f32) {
        (self.previous, self.current, self.dt) = (self.current, BodyMoment::new(state), dt);
        for (i, (moments, rolling_angle)) in self.wheel_motions.iter_mut().zip(&mut self.rolling_angles).enumerate() {
            *moments = [moments[1], wheel_moment(model, state, i)];
            // Index 1: after the step.
            *rolling_angle = (*rolling_angle + moments[1].spin * dt) % TAU;
        }
    }

    /// Discards the motion, as after a teleport: the car is at `state` at once, for every share. Rolling angles stay.
    pub fn teleport(&mut self, model: &Model, state: &State) {
        let moment = BodyMoment::new(state);
        (self.previous, self.current, self.dt) = (moment, moment, 0.0);
        for (i, moments) in self.wheel_motions.iter_mut().enumerate() {
            *moments = [wheel_moment(model, state, i); 2];
        }
    }

    /// Returns the number of wheels.
    pub fn wheel_count(&self) -> usize {
        self.wheel_motions.len()
    }

    /// Returns the pose of the body at `share` of the last step, clamped to 0 to 1 (0 if it is not finite). The
    /// position is on the cubic Hermite curve with limited slopes; the rotation is interpolated spherically and
    /// normalised.
    pub fn body_pose(&self, share: f32) -> Pose {
        let s = clamp_share(share);
        // Displacement in the step, m.
        let displacement = (self.current.position - self.previous.position).as_vec3();
        // Displacement of a step at this velocity, limited, m.
        let step_slope = |velocity: Vec3| {
            Vec3::from_array(std::array::from_fn(|i| limit_slope(velocity[i] * self.dt, displacement[i])))
        };
        let (start_slope, end_slope) = (step_slope(self.previous.velocity), step_slope(self.current.velocity));
        // Cubic Hermite polynomials: of the displacement, and of the slopes at start and end. The last one is negative.
        let travelled = displacement * (s * s * (3.0 - 2.0 * s)) + start_slope * (s * (1.0 - s) * (1.0 - s))
            - end_slope * (s * s * (1.0 - s));
        Pose {
            position: self.previous.position + travelled.as_dvec3(),
            rotation: self.previous.rotation.slerp(self.current.rotation, s).normalize(),
        }
    }

    /// Returns centre (m from the centre of mass) and rotation of wheel `i` in body axes, at `share` of the last step,
    /// 0 to 1. The centre is interpolated linearly. The rotation includes the rolling angle. Returns `None` if there is
    /// no such wheel.
    pub fn wheel_pose_on_body(&self, i: usize, share: f32) -> Option<(Vec3, Quat)> {
        let s = clamp_share(share);
        let [previous, current] = self.wheel_motions.get(i)?;
        // Rolling angle after the last step minus the part of that step that is not drawn yet.
        let rolling_angle = self.rolling_angles[i] - current.spin * self.dt * (1.0 - s);
        let rotation = previous.rotation.slerp(current.rotation, s) * Quat::from_rotation_y(rolling_angle);
        Some((previous.centre.lerp(current.centre, s), rotation.normalize()))
    }

    /// Returns the pose of wheel `i` in the world, at `share` of the last step, 0 to 1; `None` if there is no such
    /// wheel.
    pub fn wheel_pose(&self, i: usize, share: f32) -> Option<Pose> {
        let (body, (centre, rotation)) = (self.body_pose(share), self.wheel_pose_on_body(i, share)?);
        let position = body.position + (body.rotation * centre).as_dvec3();
        Some(Pose { position, rotation: body.rotation * rotation })
    }
}

impl BodyMoment {
    /// Reads the motion of the body from `state`.
    fn new(state: &State) -> Self {
        Self { position: state.position, velocity: state.velocity, rotation: state.rotation }
    }
}

/// Returns centre (from the centre of mass, m) and rotation of wheel `i` in body axes, without the rolling angle, and
/// its spin.
fn wheel_moment(model: &Model, state: &State, i: usize) -> WheelMoment {
    let pose = state.wheel_pose(model, i);
    let to_body_axes = state.rotation.inverse();
    WheelMoment {
        centre: to_body_axes * (pose.centre - state.position).as_vec3(),
        rotation: to_body_axes * pose.rotation,
        spin: state.wheels[i].spin,
    }
}

/// Limits `slope` so that the cubic curve does not overshoot: to the range from 0 to three times `displacement`, which
/// includes its sign.
fn limit_slope(slope: f32, displacement: f32) -> f32 {
    slope.clamp(3.0 * displacement.min(0.0), 3.0 * displacement.max(0.0))
}

/// Clamps a share of the step to 0 to 1. Returns 0 if it is not finite.
fn clamp_share(share: f32) -> f32 {
    finite_or_zero(share).clamp(0.0, 1.0)
}
