//! Wheel angles of a step: the steering angle moves towards the demand, and the wheels turn with it.

use crate::assists::DriverDemand;
use crate::controls::Controls;
use crate::model::Model;
use crate::state::WheelState;
use crate::steering::ackermann::Ackermann;
use crate::steering::rate_limited_angle;
use crate::vehicle::Vehicle;
use crate::vehicle::rows::WheelRows;
use skidpad_simd::lane::F32x4;
use skidpad_simd::math;

impl Vehicle {
    /// Moves the steering angle of the state towards `demand.steer` by at most `demand.steer_rate · dt` (rad), and
    /// turns the wheels to the new angle. The road-wheel angle consists of axle ratio, Ackermann and toe; the raw angle
    /// of a wheel in `controls` replaces it.
    #[inline(always)]
    pub(crate) fn steer(&mut self, controls: &Controls, demand: &DriverDemand, dt: f32) {
        self.state.steer = rate_limited_angle(self.state.steer, demand.steer, demand.steer_rate * dt);
        self.update_wheel_angles(controls);
    }

    /// Turns the wheels to the steering angle of the state. The call is skipped if the wheels already have this angle
    /// to the bit and nothing else can turn them. Raw angles in `controls`, or toe and camber that change with the
    /// travel, turn them in every step.
    ///
    /// Stores the applied angle in `applied_steer_bits`. `None` is stored if other inputs can turn the wheels, or if a
    /// wheel has just turned: its rows then have the mean angle of the step, so that the next step sets them again.
    #[inline(always)]
    pub(crate) fn update_wheel_angles(&mut self, controls: &Controls) {
        // Whether the steering alone determines the angles: toe and camber over travel, and raw angles, may change
        // although the steering does not.
        let is_steering_only = controls.wheels.is_empty() && !self.model.has_bump_steer();
        // Angles are compared by their bits: a zero of the other sign gives another axle direction, which a resumed
        // world would have.
        let steer_bits = self.state.steer.to_bits();
        if !is_steering_only || self.applied_steer_bits != Some(steer_bits) {
            let has_turned = self.turn_wheels(controls);
            self.applied_steer_bits = (is_steering_only && !has_turned).then_some(steer_bits);
        }
    }

    /// Turns the wheels to the angle of the steering by [`turn_wheels`]. Returns true if the road-wheel angle of any of
    /// them changes.
    #[inline(never)]
    fn turn_wheels(&mut self, controls: &Controls) -> bool {
        let Self { model, state, rows, .. } = self;
        turn_wheels(model, state.steer, &mut VehicleWheels { model, states: &mut state.wheels, rows, controls })
    }
}

/// Wheels that a steering turns: those of a vehicle, or those of a car in a block.
pub(crate) trait SteeredWheels {
    /// Returns the compression of wheel `i` (m).
    fn compression(&self, i: usize) -> f32;

    /// Returns the present road-wheel angle of wheel `i` (rad).
    fn angle(&self, i: usize) -> f32;

    /// Returns the share of rolling of wheel `i`, 0 to 1.
    fn rolling(&self, i: usize) -> f32;

    /// Returns the raw angle that replaces that of the steering for wheel `i` (rad); `None` without one.
    fn raw_angle(&self, i: usize) -> Option<f32>;

    /// Sets the road-wheel angle of wheel `i`, which rotates a standing patch, and its axle direction.
    fn turn(&mut self, i: usize, angles: &WheelAngles);
}

/// Angles to which a wheel turns (rad).
#[derive(Clone, Copy, Debug)]
pub(crate) struct WheelAngles {
    /// Road-wheel angle after the turn.
    pub angle: f32,
    /// Road-wheel angle of the rows of this step.
    pub mean_angle: f32,
    /// Camber, positive with the top leaning outwards.
    pub camber: f32,
}

/// Turns the `wheels` of a car of `model` to the angle `steer` of the steering (rad); returns true if the road-wheel
/// angle of any of them changes.
///
/// For each axle: angle of its middle by the steer ratio, left and right angle by Ackermann, plus toe (toe-in positive)
/// and the changes of toe and camber with the travel; on a solid axle the tilt of the beam adds camber. A raw angle
/// replaces the road-wheel angle.
///
/// The rows of a rolling wheel use the mean of the angles before and after, because the steering turns throughout the
/// step. The rows of a standing wheel use the angle after, in whose axes its patch already is. A raw angle is reached at
/// once.
pub(crate) fn turn_wheels(model: &Model, steer: f32, wheels: &mut impl SteeredWheels) -> bool {
    let mut has_turned = false;
    let (parts, ackermann) = (model.parts(), model.ackermann());
    let curvature = Ackermann::curvature(ackermann, |i| steer * parts.axles[i].steer_ratio);
    for (axle_index, (axle, &[left, right])) in parts.axles.iter().zip(model.axle_wheels()).enumerate() {
        let axle_angle = steer * axle.steer_ratio;
        // Tilt of the beam of a solid axle to the right (rad).
        let beam_tilt = if axle.solid { model.beam_tilt(axle_index, |i| wheels.compression(i)) } else { 0.0 };
        let ackermann_angles = ackermann[axle_index].angles(axle_angle, curvature);
        // Positive toe turns the left wheel to the right and the right wheel to the left.
        for (i, ackermann_angle, toe_sign) in [(left, ackermann_angles[0], -1.0), (right, ackermann_angles[1], 1.0)] {
            let wheel = &parts.wheels[i];
            let (mut toe, mut camber) = (wheel.toe, wheel.camber);
            if let Some(toe_camber) = &axle.toe_camber {
                let [toe_change, camber_change] = toe_camber.changes_at(wheels.compression(i));
                (toe, camber) = (toe + toe_change, camber + camber_change);
            }
            if axle.solid {
                camber += wheel.side.outward_sign() * beam_tilt;
            }
            let raw_angle = wheels.raw_angle(i);
            let angle = raw_angle.unwrap_or(ackermann_angle + toe_sign * toe);
            // A raw angle is reached at once, so that its mean is the new angle.
            let old_angle = if raw_angle.is_some() { angle } else { wheels.angle(i) };
            has_turned |= old_angle.to_bits() != angle.to_bits();
            // Rolling share 1: mean of both angles; 0: new angle.
            let mean_angle = angle - 0.5 * wheels.rolling(i) * (angle - old_angle);
            wheels.turn(i, &WheelAngles { angle, mean_angle, camber });
        }
    }
    has_turned
}

/// Returns the axle direction of wheel `i` (unit vector to its left, vehicle frame) at the road-wheel angle `angle` and
/// `camber` (rad): `(−sin δ cos γ, cos δ cos γ, sin γ)`, with γ positive if the top leans to the right.
pub(crate) fn axle_direction(model: &Model, i: usize, angle: f32, camber: f32) -> [f32; 3] {
    let wheel = &model.parts().wheels[i];
    // The model stores sine and cosine of the described camber.
    let is_described = camber.to_bits() == wheel.camber.to_bits();
    let (camber_sin, camber_cos) = if is_described { model.camber_sin_cos()[i] } else { math::sin_cos(camber) };
    let (sin, cos) = math::sin_cos(angle);
    [-sin * camber_cos, cos * camber_cos, wheel.side.outward_sign() * camber_sin]
}

/// Wheels of a vehicle, with its raw inputs.
struct VehicleWheels<'a> {
    model: &'a Model,
    states: &'a mut [WheelState],
    rows: &'a mut [WheelRows],
    controls: &'a Controls,
}

impl SteeredWheels for VehicleWheels<'_> {
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

    fn turn(&mut self, i: usize, &WheelAngles { angle, mean_angle, camber }: &WheelAngles) {
        self.states[i].set_steer(angle);
        let index = self.model.lane_index(i);
        self.rows[index.group]
            .set_axle_direction(index.lane, [mean_angle, camber], || axle_direction(self.model, i, mean_angle, camber));
    }
}

impl WheelRows {
    /// Sets the axle direction of the wheel in `lane` for the road-wheel angle `angle` and `camber` (rad) to `direction()`.
    /// If both angles are unchanged to the bit, nothing is computed. The direction is also computed for reset rows, which
    /// have a zero y component.
    fn set_axle_direction(&mut self, lane: usize, [angle, camber]: [f32; 2], direction: impl FnOnce() -> [f32; 3]) {
        let rows = &mut self.steering;
        let is_same = |stored: F32x4, value: f32| stored.lanes()[lane].to_bits() == value.to_bits();
        let is_unchanged = is_same(rows.angles, angle) && is_same(rows.cambers, camber);
        // A zero y component marks rows that were reset, whose axle is unknown.
        if !is_unchanged || rows.axle.y.lanes()[lane] == 0.0 {
            let [x, y, z] = direction();
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
                let (sin, cos) = math::sin_cos(*angle);
                rows.set_axle_direction(0, [*angle, 0.0], || [-sin, cos, 0.0]);
            }
            rows.steering.axle.lane(0).map(f32::to_bits)
        };
        for angle in [0.0, -0.0] {
            assert_eq!(axle_bits(&[-angle, angle]), axle_bits(&[angle]), "{angle}");
        }
    }
}
