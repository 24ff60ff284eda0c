//! Wheel angles of a step: the steering angle moves towards the demand, and the wheels turn with it.

use crate::assists::DriverDemand;
use crate::controls::Controls;
use crate::model::Model;
use crate::state::WheelState;
use crate::steering::ackermann::Ackermann;
use crate::steering::rate_limited_angle;
use crate::vehicle::Vehicle;
use crate::vehicle::rows::WheelRows;
use skidpad_simd::lane::{F32x4, Lane};
use skidpad_simd::vectors::Vec3Lanes;
use skidpad_tyre::functions::sin_cos;

impl Vehicle {
    /// Moves the steering angle of the state towards `demand.steer` by at most `demand.steer_rate · dt` (rad), and
    /// turns the wheels to the new angle. The road-wheel angle consists of axle ratio, Ackermann, toe and deflection of
    /// the linkage; the raw angle of a wheel in `controls` replaces it.
    #[inline(always)]
    pub(crate) fn steer(&mut self, controls: &Controls, demand: &DriverDemand, dt: f32) {
        self.state.steer = rate_limited_angle(self.state.steer, demand.steer, demand.steer_rate * dt);
        self.update_wheel_angles(controls, dt);
    }

    /// Turns the wheels to the steering angle of the state. Does nothing if the wheels already have this angle to the
    /// bit and nothing else can turn them. Raw angles in `controls`, toe and camber that change with the travel, and a
    /// compliant linkage, which yields for `dt` s, turn them in every step.
    ///
    /// Stores the applied angle in `applied_steer_bits`. Stores `None` if other inputs can turn the wheels, or if a
    /// wheel has just turned: its rows then have the mean angle of the step, so that the next step sets them again.
    #[inline(always)]
    pub(crate) fn update_wheel_angles(&mut self, controls: &Controls, dt: f32) {
        // Whether the steering alone determines the angles: bump steer, a compliant linkage and raw angles may change
        // them although the steering does not move.
        let is_steering_only = controls.wheels.is_empty() && !self.model.has_self_steering();
        // Angles are compared by their bits: a zero of the other sign gives another axle direction, which a resumed
        // world would have.
        let steer_bits = self.state.steer.to_bits();
        if !is_steering_only || self.applied_steer_bits != Some(steer_bits) {
            let has_turned = self.turn_wheels(controls, dt);
            self.applied_steer_bits = (is_steering_only && !has_turned).then_some(steer_bits);
        }
    }

    /// Advances the deflections of a compliant linkage by `dt` s, then turns the wheels to the steering angle of the
    /// state by [`turn_wheels`]. Returns true if the road-wheel angle of any wheel changes.
    #[inline(never)]
    fn turn_wheels(&mut self, controls: &Controls, dt: f32) -> bool {
        deflect_linkage(&self.model, &mut self.state.wheels, dt);
        let Self { model, state, rows, .. } = self;
        let mut wheels = VehicleWheels { model, states: &mut state.wheels, rows, controls, has_turned: false };
        turn_wheels(model, state.steer, &mut wheels);
        wheels.has_turned
    }
}

/// Wheels that a steering turns: those of a vehicle, or those of the cars of a block. Numbers have a lane for each car.
pub(crate) trait SteeredWheels<L: Lane> {
    /// Returns the compression of wheel `i` (m).
    fn compression(&self, i: usize) -> L;

    /// Returns the present road-wheel angle of wheel `i` (rad).
    fn angle(&self, i: usize) -> L;

    /// Returns the share of rolling of wheel `i`, 0 to 1.
    fn rolling(&self, i: usize) -> L;

    /// Returns the raw angle that replaces that of the steering for wheel `i` (rad); `None` without one.
    fn raw_angle(&self, i: usize) -> Option<L>;

    /// Returns the deflection of the linkage at wheel `i` (rad); `None` for a rigid linkage.
    fn linkage_deflection(&self, i: usize) -> Option<L>;

    /// Sets the road-wheel angle of wheel `i`, which rotates a standing patch, and its axle direction.
    fn turn(&mut self, i: usize, angles: &WheelAngles<L>);
}

/// Angles to which a wheel turns (rad).
#[derive(Clone, Copy, Debug)]
pub(crate) struct WheelAngles<L> {
    /// Road-wheel angle after the turn.
    pub angle: L,
    /// Road-wheel angle of the rows of this step.
    pub mean_angle: L,
    /// Camber, positive with the top leaning outwards.
    pub camber: L,
}

/// Advances the deflection of the linkage at each steered wheel by `dt` s, with the forces and moments that the ground
/// had on the `wheels` in the last step. Does nothing for a rigid linkage.
fn deflect_linkage(model: &Model, wheels: &mut [WheelState], dt: f32) {
    let steering = &model.parts().steering;
    let Some((compliance, kingpin)) = steering.compliance.zip(steering.kingpin) else { return };
    for (i, (wheel, state)) in model.wheels().iter().zip(wheels).enumerate() {
        if model.parts().axles[wheel.axle].steer_ratio == 0.0 {
            continue;
        }
        // Index 1: lateral.
        let moment_slope = kingpin.moment_slope(wheel.radius, model.tyre(i).stiffness_at(state.load)[1]);
        let moment = kingpin.wheel_moment(wheel, state);
        state.steer_deflection = compliance.next_deflection(state.steer_deflection, moment, moment_slope, dt);
    }
}

/// Turns the `wheels` of cars with the geometry of `model` to the steering angle `steer` (rad).
///
/// For each axle: the angle of its middle is `steer` times the steer ratio. Ackermann geometry splits it into left and
/// right angle. Toe (toe-in positive) and the changes of toe and camber with the travel are added; on a solid axle the
/// tilt of the beam adds camber. The deflection of a compliant linkage is added. A raw angle of a wheel replaces its
/// road-wheel angle.
///
/// The rows of a rolling wheel use the mean of the angles before and after, because the steering turns throughout the
/// step. The rows of a standing wheel use the angle after, in whose axes its patch already is. A raw angle is reached
/// at once.
#[inline(always)]
pub(crate) fn turn_wheels<L: Lane>(model: &Model, steer: L, wheels: &mut impl SteeredWheels<L>) {
    let (parts, ackermann) = (model.parts(), model.ackermann());
    let curvature = Ackermann::curvature(ackermann, |i| steer * L::splat(parts.axles[i].steer_ratio));
    for (axle_index, (axle, &[left, right])) in parts.axles.iter().zip(model.axle_wheels()).enumerate() {
        let axle_angle = steer * L::splat(axle.steer_ratio);
        let ackermann_angles = ackermann[axle_index].angles(axle_angle, curvature);
        // Positive toe turns the left wheel to the right and the right wheel to the left.
        for (i, ackermann_angle, toe_sign) in [(left, ackermann_angles[0], -1.0), (right, ackermann_angles[1], 1.0)] {
            let [toe, camber] = toe_and_camber(model, i, wheels);
            let raw_angle = wheels.raw_angle(i);
            let rigid_angle = ackermann_angle + L::splat(toe_sign) * toe;
            let steered_angle = wheels.linkage_deflection(i).map_or(rigid_angle, |deflection| rigid_angle + deflection);
            let angle = raw_angle.unwrap_or(steered_angle);
            // A raw angle is reached at once, so that its mean is the new angle.
            let old_angle = if raw_angle.is_some() { angle } else { wheels.angle(i) };
            // Rolling share 1: mean of both angles; 0: new angle.
            let mean_angle = angle - L::splat(0.5) * wheels.rolling(i) * (angle - old_angle);
            wheels.turn(i, &WheelAngles { angle, mean_angle, camber });
        }
    }
}

/// Returns toe (toe-in positive) and camber (positive with the top leaning outwards) of wheel `i` at the present
/// compressions, rad.
#[inline(always)]
fn toe_and_camber<L: Lane>(model: &Model, i: usize, wheels: &impl SteeredWheels<L>) -> [L; 2] {
    let wheel = &model.parts().wheels[i];
    let axle = &model.parts().axles[wheel.axle];
    let (mut toe, mut camber) = (L::splat(wheel.toe), L::splat(wheel.camber));
    if let Some(toe_camber) = &axle.toe_camber {
        let [toe_change, camber_change] = toe_camber.changes_at(wheels.compression(i));
        (toe, camber) = (toe + toe_change, camber + camber_change);
    }
    if axle.solid {
        // Tilt of the beam to the right (rad).
        let beam_tilt = model.beam_tilt(wheel.axle, |i| wheels.compression(i));
        camber = camber + L::splat(wheel.side.outward_sign()) * beam_tilt;
    }
    [toe, camber]
}

/// Returns the axle direction of wheel `i` (unit vector to its left, vehicle frame) at the road-wheel angle δ = `angle`
/// and `camber` (rad): `(−sin δ cos γ, cos δ cos γ, sin γ)`. `camber` is positive if the top leans outwards, γ if it
/// leans to the right: γ = outward sign · `camber`. On an axle whose camber is constant (independent, without changes
/// over the travel), the static camber of the model replaces `camber`.
#[inline(always)]
pub(crate) fn axle_direction<L: Lane>(model: &Model, i: usize, angle: L, camber: L) -> Vec3Lanes<L> {
    let wheel = &model.parts().wheels[i];
    let axle = &model.parts().axles[wheel.axle];
    let (camber_sin, camber_cos) = if axle.solid || axle.toe_camber.is_some() {
        sin_cos(camber)
    } else {
        // The camber is constant; the model stores its sine and cosine.
        let (sin, cos) = model.camber_sin_cos()[i];
        (L::splat(sin), L::splat(cos))
    };
    let (sin, cos) = sin_cos(angle);
    Vec3Lanes::new(-sin * camber_cos, cos * camber_cos, L::splat(wheel.side.outward_sign()) * camber_sin)
}

/// Wheels of a vehicle, with its raw inputs.
struct VehicleWheels<'a> {
    model: &'a Model,
    states: &'a mut [WheelState],
    rows: &'a mut [WheelRows],
    controls: &'a Controls,
    /// Whether the road-wheel angle of any wheel has changed.
    has_turned: bool,
}

impl SteeredWheels<f32> for VehicleWheels<'_> {
    fn compression(&self, i: usize) -> f32 {
        self.states[i].compression
    }

    fn angle(&self, i: usize) -> f32 {
        self.states[i].steer
    }

    fn rolling(&self, i: usize) -> f32 {
        self.states[i].rolling
    }

    fn raw_angle(&self, i: usize) -> Option<f32> {
        self.controls.raw_angle(i)
    }

    fn linkage_deflection(&self, i: usize) -> Option<f32> {
        self.model.parts().steering.compliance.map(|_| self.states[i].steer_deflection)
    }

    /// Turns wheel `i` in its state and its rows, and records in `has_turned` whether the road-wheel angle changes.
    fn turn(&mut self, i: usize, &WheelAngles { angle, mean_angle, camber }: &WheelAngles<f32>) {
        self.has_turned |= self.states[i].steer.to_bits() != angle.to_bits();
        self.states[i].set_steer(angle);
        let index = self.model.lane_index(i);
        self.rows[index.group]
            .set_axle_direction(index.lane, [mean_angle, camber], || axle_direction(self.model, i, mean_angle, camber));
    }
}

impl WheelRows {
    /// Sets the axle direction of the wheel in `lane` to `direction()`, and stores the road-wheel angle `angle` and
    /// `camber` (rad) for which it is valid. Does nothing if both angles are unchanged to the bit, unless the rows were
    /// reset, which a zero y component marks.
    fn set_axle_direction(
        &mut self,
        lane: usize,
        [angle, camber]: [f32; 2],
        direction: impl FnOnce() -> Vec3Lanes<f32>,
    ) {
        let rows = &mut self.steering;
        let is_same = |stored: F32x4, value: f32| stored.lanes()[lane].to_bits() == value.to_bits();
        let is_unchanged = is_same(rows.angles, angle) && is_same(rows.cambers, camber);
        // A zero y component marks rows that were reset, whose axle is unknown.
        if !is_unchanged || rows.axle.y.lanes()[lane] == 0.0 {
            let Vec3Lanes { x, y, z } = direction();
            let axle = &mut rows.axle;
            axle.x.set(lane, x);
            axle.y.set(lane, y);
            axle.z.set(lane, z);
            rows.angles.set(lane, angle);
            rows.cambers.set(lane, camber);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that an axle turned from `−angle` to `angle` has the bits of one turned to `angle` at once, for the
    /// angles 0.0 and −0.0.
    #[test]
    fn an_axle_remembers_no_sign_of_nothing() {
        let axle_bits = |angles: &[f32]| {
            let mut rows = WheelRows::default();
            for angle in angles {
                rows.set_axle_direction(0, [*angle, 0.0], || {
                    let (sin, cos) = sin_cos(*angle);
                    Vec3Lanes::new(-sin, cos, 0.0)
                });
            }
            rows.steering.axle.lane(0).map(f32::to_bits)
        };
        for angle in [0.0, -0.0] {
            assert_eq!(axle_bits(&[-angle, angle]), axle_bits(&[angle]), "{angle}");
        }
    }
}
