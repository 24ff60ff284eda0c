//! Hitch in one step: the constraint rows between two vehicles, and their impulses.
//!
//! Three rows hold the coupling point; at most five rows act on the relative rotation. Both vehicles respond with the
//! system of all their rows, including their wheels, not with their mass alone.

use crate::hitch::parameters::{Coupler, Hitch};
use crate::port::ChassisState;
use bevy_math::{Mat3, Quat, Vec3};
use skidpad_simd::linear::{SpatialVector, Symmetric6};
use skidpad_simd::math;

/// Velocity of a centre of mass (m/s) and angular velocity (rad/s), or impulse (N s) and angular impulse (N m s), in
/// world axes.
pub(crate) type Twist = [Vec3; 2];

/// Share of the gap between the points of a hitch that is corrected in one step.
const GAP_CORRECTION_SHARE: f32 = 0.2;

/// Largest speed with which the gap of a hitch is corrected (m/s). A collision of the hull that a world resolves after
/// the solve can leave a gap as wide as the motion of a step.
const MAX_GAP_CORRECTION_MPS: f32 = 1.0;

/// Gap, in multiples of the resolution of positions, at which half of [`GAP_CORRECTION_SHARE`] is corrected. The
/// correction of rounding errors of a position appears as a force: 20 N for 1e-7 m, a tonne and 1000 Hz, and more with
/// the square of the rate.
const HALF_CORRECTION_GAP_RATIO: f32 = 16.0;

/// Returns the share of a `gap` (m, ≥ 0) between the two points of a hitch that is corrected in a step of `dt` s, in
/// [0, 0.2]: `0.2 gap / (gap + 16 resolution)`, and at most `1 m/s · dt / gap`. `resolution` is the resolution of
/// positions (m); rounding errors of that size are hardly corrected. Returns 0 without a gap.
pub fn gap_correction_share(gap: f32, resolution: f32, dt: f32) -> f32 {
    // Share of the gap that is no rounding error.
    let resolved_share = gap / (gap + (HALF_CORRECTION_GAP_RATIO * resolution).max(f32::MIN_POSITIVE));
    (GAP_CORRECTION_SHARE * resolved_share).min(MAX_GAP_CORRECTION_MPS * dt / gap.max(f32::MIN_POSITIVE))
}

/// Returns the relative velocity (m/s) with which the `gap` (m, from the hitch to the point of the trailer) closes:
/// `−gap · share / dt` with [`gap_correction_share`], in steps of `dt` s. Positions have the `resolution` (m).
pub fn gap_correction_velocity(gap: Vec3, resolution: f32, dt: f32) -> Vec3 {
    gap * (-gap_correction_share(gap.length(), resolution, dt) / dt)
}

/// Share of the angle beyond a stop that is corrected in one step.
const STOP_CORRECTION_SHARE: f32 = 0.2;

/// Response to impulses of a vehicle, or of a body under its wheels.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BodyResponse {
    /// Response by mass and inertia alone: inverse mass (1/kg) and inverse inertia (1/(kg m²)), world axes.
    Free { inverse_mass: f32, inverse_inertia: Mat3 },
    /// Response of a body that is held in some directions: inverse mass (1/kg) and inverse inertia (1/(kg m²)), zero
    /// there, world axes.
    Constrained { inverse_mass: Mat3, inverse_inertia: Mat3 },
    /// Response of a body that is held by contacts: change of the twist per unit of each component of an impulse and of
    /// a moment about its centre, world axes.
    Supported([Twist; 6]),
    /// Response of a vehicle with all its linearized rows: `system` maps a twist to an impulse in vehicle axes, and
    /// `to_world` rotates vehicle axes to world axes.
    WithRows { to_world: Mat3, system: Symmetric6 },
}

impl BodyResponse {
    /// Response of a body that no impulse moves.
    pub const FIXED: Self = Self::Constrained { inverse_mass: Mat3::ZERO, inverse_inertia: Mat3::ZERO };

    /// Returns the change of the twist by an impulse (N s) and an angular impulse about the centre of mass (N m s),
    /// world axes. Applies inverse mass and inertia, sums scaled columns, or solves the system in vehicle axes,
    /// depending on the variant.
    pub fn twist_change(&self, [impulse, moment]: Twist) -> Twist {
        match self {
            Self::Free { inverse_mass, inverse_inertia } => [impulse * *inverse_mass, *inverse_inertia * moment],
            Self::Constrained { inverse_mass, inverse_inertia } => [*inverse_mass * impulse, *inverse_inertia * moment],
            Self::Supported(columns) => {
                let components = [impulse.x, impulse.y, impulse.z, moment.x, moment.y, moment.z];
                columns
                    .iter()
                    .zip(components)
                    .fold([Vec3::ZERO; 2], |sum, (column, component)| add_scaled(sum, *column, component))
            }
            Self::WithRows { to_world, system } => {
                let to_vehicle = to_world.transpose();
                let change = system.solve(SpatialVector::from_vec3s(to_vehicle * impulse, to_vehicle * moment));
                let (linear, angular) = change.parts();
                [*to_world * linear, *to_world * angular]
            }
        }
    }
}

/// Row that acts on the rotation of the trailer about `axis`, of the form `rate = bias - softness · impulse`.
#[derive(Clone, Copy, Debug)]
struct RotationRow {
    /// Unit vector, world axes.
    axis: Vec3,
    /// Rate of the trailer relative to the vehicle ahead without impulse (rad/s).
    bias: f32,
    /// Softness: decrease of the rate per impulse (rad/(N m s²)), ≥ 0.
    softness: f32,
    /// Least and largest impulse (N m s).
    bounds: [f32; 2],
    /// Angular impulse on the trailer (N m s).
    impulse: f32,
    /// Change of the twists of the vehicle ahead and of the trailer by a unit of angular impulse on each.
    unit_responses: [Twist; 2],
    /// Compliance of both vehicles together (rad/(N m s²)).
    compliance: f32,
}

/// Row without effect, for unused entries.
const EMPTY_ROTATION_ROW: RotationRow = RotationRow {
    axis: Vec3::Z,
    bias: 0.0,
    softness: 0.0,
    bounds: [0.0; 2],
    impulse: 0.0,
    unit_responses: [[Vec3::ZERO; 2]; 2],
    compliance: 1.0,
};

/// Maximum number of rotational rows: spring and damper against roll, damper and friction against yaw, stops of yaw and
/// pitch.
const MAX_ROTATION_ROWS: usize = 5;

/// Impulses on the trailer: of the point (N s), and of each rotational row (N m s).
pub(crate) type Impulses = (Vec3, [f32; MAX_ROTATION_ROWS]);

/// Rows of a hitch in one step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Joint {
    /// Positions of the coupling point from the centres of mass of the vehicle ahead and of the trailer, vehicle axes
    /// (m).
    points: [Vec3; 2],
    /// Arms from the centres of mass to the point where impulses act, world axes (m).
    impulse_arms: [Vec3; 2],
    /// Arms from the centres of mass to the point whose speed counts at the end of the step, world axes (m).
    velocity_arms: [Vec3; 2],
    /// Target velocity of the trailer's point relative to that of the hitch at the end of the step (m/s).
    target_velocity: Vec3,
    /// Impulse on the trailer (N s).
    impulse: Vec3,
    /// Changes of the twists of the vehicle ahead and of the trailer by unit impulses along x, y and z.
    unit_responses: [[Twist; 3]; 2],
    /// Effective mass of the point: maps a velocity to an impulse (kg).
    effective_mass: Mat3,
    /// Rows of the relative rotation; entries from `rotation_row_count` on are unused.
    rotation_rows: [RotationRow; MAX_ROTATION_ROWS],
    /// Number of rotational rows in use.
    rotation_row_count: usize,
}

impl Joint {
    /// Builds the rows of `hitch` and `coupler` between the bodies of the vehicle ahead and of the trailer, for a step
    /// of `dt` s. The impulse of the point starts from the `force` on the trailer in the last step (N), times `dt`;
    /// rotational rows start from zero. The target velocity corrects the gap at the start of the step. The responses
    /// remain empty until [`Joint::update_responses`]. The velocity arms start from constant angular velocities.
    ///
    /// A world moves the pose of a body with the mean of its velocities, weighted by its `pose_lag` (s). The two points
    /// stay together, to third order in the step, if their speeds use the arms after half a step and the pose lag.
    /// Angular momentum is conserved if impulses act at the arms after the pose lag.
    pub fn new(hitch: &Hitch, coupler: &Coupler, bodies: [&ChassisState; 2], force: Vec3, dt: f32) -> Self {
        let points = [hitch.point, coupler.point]; // vehicle axes, m
        // Arms at the start of the step and after the pose lag, world axes, m. Index 0: vehicle ahead, 1: trailer.
        let [start_arms, lagged_arms] = [0.0, 1.0].map(|lag_share| {
            [0, 1].map(|vehicle_index| {
                let body = bodies[vehicle_index];
                math::integrate_rotation(body.rotation, body.angular_velocity, lag_share * body.pose_lag)
                    * points[vehicle_index]
            })
        });
        let gap = (bodies[1].position - bodies[0].position).as_vec3() + start_arms[1] - start_arms[0];
        let mut joint = Self {
            points,
            impulse_arms: lagged_arms,
            velocity_arms: start_arms, // replaced below
            target_velocity: gap_correction_velocity(
                gap,
                bodies[0].position_resolution.max(bodies[1].position_resolution),
                dt,
            ),
            impulse: force * dt,
            unit_responses: [[[Vec3::ZERO; 2]; 3]; 2],
            effective_mass: Mat3::ZERO,
            rotation_rows: [EMPTY_ROTATION_ROW; MAX_ROTATION_ROWS],
            rotation_row_count: 0,
        };
        joint.update_velocity_arms(bodies, bodies.map(|body| body.angular_velocity), dt);
        joint.add_rotation_rows(hitch, bodies.map(|body| body.rotation), dt);
        joint
    }

    /// Sets the arms at which the speed of the point counts, for bodies that end the step of `dt` s with the angular
    /// velocities `end_angular_velocities` (rad/s): the rotations are integrated over `pose_lag + dt / 2` with the mean
    /// rate of that time, if the rate changes linearly over the step.
    pub fn update_velocity_arms(&mut self, bodies: [&ChassisState; 2], end_angular_velocities: [Vec3; 2], dt: f32) {
        self.velocity_arms = [0, 1].map(|vehicle_index| {
            let (body, time) = (bodies[vehicle_index], bodies[vehicle_index].pose_lag + 0.5 * dt);
            // Rate in the middle of `time`, which is the share `0.5 time / dt` of the step.
            let mean_angular_velocity = body.angular_velocity
                + (end_angular_velocities[vehicle_index] - body.angular_velocity) * (0.5 * time / dt);
            math::integrate_rotation(body.rotation, mean_angular_velocity, time) * self.points[vehicle_index]
        });
    }

    /// Adds the rotational rows of `hitch` for a step of `dt` s. `ahead_rotation` and `trailer_rotation` are the
    /// rotations from vehicle axes to world axes at the start of the step.
    ///
    /// In order: spring and damper against roll about the x axis of the trailer; damper, then dry friction against yaw
    /// about the z axis of the vehicle ahead; stop of yaw about this axis; stop of pitch about the axis perpendicular
    /// to both. Rows without stiffness, damping, friction or stop are omitted. Pitch has neither spring nor damper.
    fn add_rotation_rows(&mut self, hitch: &Hitch, [ahead_rotation, trailer_rotation]: [Quat; 2], dt: f32) {
        // Roll, pitch and yaw of the trailer relative to the vehicle ahead, rad.
        let angles = math::roll_pitch_yaw(ahead_rotation.inverse() * trailer_rotation);
        let roll_axis = trailer_rotation * Vec3::X;
        let yaw_axis = ahead_rotation * Vec3::Z;
        let pitch_axis = yaw_axis.cross(roll_axis).normalize_or_zero();
        let unlimited = [f32::NEG_INFINITY, f32::INFINITY]; // impulse without limits
        // Backward Euler: a spring stiffer than the step resolves stops the rotation without oscillation.
        // Impulse −dt (k (φ + ω dt) + c ω), solved for the rate ω.
        let roll_gain = dt * (hitch.roll_damping + hitch.roll_rate * dt);
        // Without spring and damper the softness is infinite: the bias does not matter, and the row is omitted.
        // Arguments of each row: axis, bias (rad/s), softness (rad/(N m s²)), bounds of the impulse (N m s).
        self.add_rotation_row(roll_axis, -dt * hitch.roll_rate * angles.x / roll_gain, 1.0 / roll_gain, unlimited);
        self.add_rotation_row(yaw_axis, 0.0, 1.0 / (dt * hitch.yaw_damping), unlimited);
        let friction_impulse = hitch.yaw_friction * dt; // largest impulse of dry friction, N m s
        if friction_impulse > 0.0 {
            self.add_rotation_row(yaw_axis, 0.0, 0.0, [-friction_impulse, friction_impulse]);
        }
        self.add_stop(yaw_axis, angles.z, hitch.largest_yaw, dt);
        self.add_stop(pitch_axis, angles.y, hitch.largest_pitch, dt);
    }

    /// Adds a one-sided row that stops the `angle` (rad) about `axis` at ± `max_angle`: at the end of the step of `dt`
    /// s the angle may reach the stop, but not pass it. Beyond the stop, the row returns a fifth of the excess in the
    /// step. Adds nothing if `max_angle` is infinite.
    fn add_stop(&mut self, axis: Vec3, angle: f32, max_angle: f32, dt: f32) {
        if max_angle.is_finite() {
            let remaining_angle = max_angle - angle.abs(); // angle to the stop, rad; negative beyond it
            let closing_axis = axis * -1f32.copysign(angle); // axis along which an impulse ≥ 0 reduces the angle
            let allowed_rate = if remaining_angle > 0.0 {
                -remaining_angle / dt
            } else {
                -remaining_angle * (STOP_CORRECTION_SHARE / dt)
            };
            self.add_rotation_row(closing_axis, allowed_rate, 0.0, [0.0, f32::INFINITY]); // rigid, one-sided
        }
    }

    /// Appends a rotational row with an impulse of zero, see [`RotationRow`]. An infinite softness (no spring, no
    /// damper) has no effect: the row is omitted.
    fn add_rotation_row(&mut self, axis: Vec3, bias: f32, softness: f32, bounds: [f32; 2]) {
        if softness.is_finite() {
            self.rotation_rows[self.rotation_row_count] =
                RotationRow { axis, bias, softness, bounds, ..EMPTY_ROTATION_ROW };
            self.rotation_row_count += 1;
        }
    }

    /// Returns the impulse (N s) and the angular impulse about the centre of mass (N m s) on a vehicle, world axes:
    /// index 0 is the vehicle ahead, 1 the trailer. The signs are opposite. The angular impulse is that of the point at
    /// its arm plus that of the rotational rows.
    pub fn impulse_on(&self, vehicle_index: usize) -> Twist {
        let sign = if vehicle_index == 0 { -1.0 } else { 1.0 }; // impulses are stored as those on the trailer
        let moment = self.rotation_rows[..self.rotation_row_count]
            .iter()
            .fold(Vec3::ZERO, |sum, row| sum + row.axis * row.impulse);
        [self.impulse * sign, (self.impulse_arms[vehicle_index].cross(self.impulse) + moment) * sign]
    }

    /// Returns the mean force of the point on the trailer over a step of `dt` s (N, world axes). Moments of the
    /// rotational rows are not included.
    pub fn force(&self, dt: f32) -> Vec3 {
        self.impulse / dt
    }

    /// Returns a copy of the impulses on the trailer, of the point and of all rotational rows, 0 for unused rows.
    /// [`Joint::average_with`] can return towards them.
    pub fn impulses(&self) -> Impulses {
        (self.impulse, self.rotation_rows.map(|row| row.impulse))
    }

    /// Replaces each impulse by the mean of itself and the impulse given.
    pub fn average_with(&mut self, (linear, rotational): &Impulses) {
        self.impulse = (self.impulse + *linear) * 0.5;
        for (row, target) in self.rotation_rows.iter_mut().zip(rotational) {
            row.impulse = 0.5 * (row.impulse + target);
        }
    }

    /// Computes the unit responses of both vehicles and the effective masses of the rows from the `responses` of the
    /// vehicle ahead and of the trailer to impulses. Call after the arms have been set.
    ///
    /// The stored responses are those to equal unit impulses on both vehicles, at the impulse arms. In the joint, the
    /// vehicle ahead receives the opposite impulse, and its velocity is subtracted from that of the trailer. Both signs
    /// cancel, so that the relative velocity of the point per impulse is the sum of both responses. The effective mass
    /// is the inverse of this 3 × 3 matrix. The compliance of a rotational row is the sum of both responses to a unit
    /// of angular impulse about its axis, along the axis.
    pub fn update_responses(&mut self, responses: [&BodyResponse; 2]) {
        let axes = Vec3::AXES;
        for (vehicle_index, response) in responses.into_iter().enumerate() {
            self.unit_responses[vehicle_index] =
                axes.map(|axis| response.twist_change([axis, self.impulse_arms[vehicle_index].cross(axis)]));
        }
        // Relative velocity of the two points by unit impulses on the trailer and opposite ones on the vehicle ahead: a
        // sum, because the signs cancel.
        let columns = [0, 1, 2].map(|i| {
            self.point_velocity(0, self.unit_responses[0][i]) + self.point_velocity(1, self.unit_responses[1][i])
        });
        self.effective_mass = Mat3::from_cols(columns[0], columns[1], columns[2]).inverse();
        for row in &mut self.rotation_rows[..self.rotation_row_count] {
            row.unit_responses = responses.map(|response| response.twist_change([Vec3::ZERO, row.axis]));
            // Index 1 of a twist is its angular velocity.
            row.compliance = (row.unit_responses[0][1] + row.unit_responses[1][1]).dot(row.axis);
        }
    }

    /// Returns the velocity of the coupling point of a vehicle for its twist, at the velocity arm (m/s, world axes).
    fn point_velocity(&self, vehicle_index: usize, [velocity, angular_velocity]: Twist) -> Vec3 {
        velocity + angular_velocity.cross(self.velocity_arms[vehicle_index])
    }

    /// Performs one pass of sequential impulses: first the three rows of the point together, then each rotational row
    /// within its bounds. Updates the impulses and the twists of both vehicles. Returns the largest change of velocity:
    /// of the point (m/s), or of a rotation at an arm of 1 m. Requires [`Joint::update_responses`] before.
    pub fn solve_pass(&mut self, [towing_twist, trailer_twist]: [&mut Twist; 2]) -> f32 {
        let velocity_error = self.velocity_error([*towing_twist, *trailer_twist]); // m/s
        let impulse_change = self.effective_mass * velocity_error; // N s
        self.impulse += impulse_change;
        for (i, component) in impulse_change.to_array().into_iter().enumerate() {
            *towing_twist = add_scaled(*towing_twist, self.unit_responses[0][i], -component);
            *trailer_twist = add_scaled(*trailer_twist, self.unit_responses[1][i], component);
        }
        let mut max_velocity_change = velocity_error.length();
        for row in &mut self.rotation_rows[..self.rotation_row_count] {
            let impulse_change = row.impulse_change([*towing_twist, *trailer_twist]); // N m s
            row.impulse += impulse_change;
            *towing_twist = add_scaled(*towing_twist, row.unit_responses[0], -impulse_change);
            *trailer_twist = add_scaled(*trailer_twist, row.unit_responses[1], impulse_change);
            max_velocity_change = max_velocity_change.max((impulse_change * row.compliance).abs());
        }
        max_velocity_change
    }

    /// Returns the largest residual of the rows at the twists of the vehicle ahead and the trailer (m/s; rotations at
    /// an arm of 1 m). A rotational row counts with the change of rate by the impulse that it would add. Requires
    /// [`Joint::update_responses`] before.
    pub fn residual(&self, twists: [Twist; 2]) -> f32 {
        let rotation_residuals = self.rotation_rows[..self.rotation_row_count]
            .iter()
            .map(|row| (row.impulse_change(twists) * row.compliance).abs());
        rotation_residuals.fold(self.velocity_error(twists).length(), f32::max)
    }

    /// Returns the target velocity less the velocity of the trailer's point relative to that of the vehicle ahead (m/s,
    /// world axes).
    fn velocity_error(&self, [towing_twist, trailer_twist]: [Twist; 2]) -> Vec3 {
        self.target_velocity - (self.point_velocity(1, trailer_twist) - self.point_velocity(0, towing_twist))
    }
}

impl RotationRow {
    /// Returns the change of the impulse that the row needs at these twists (N m s): solves
    /// `rate + C Δp = bias − s (p + Δp)` for Δp, with the compliance C and the softness s, and limits p + Δp to the
    /// bounds. Changes nothing.
    fn impulse_change(&self, [towing_twist, trailer_twist]: [Twist; 2]) -> f32 {
        let rate = (trailer_twist[1] - towing_twist[1]).dot(self.axis); // rad/s
        let unbounded_impulse =
            self.impulse + (self.bias - self.softness * self.impulse - rate) / (self.compliance + self.softness);
        unbounded_impulse.max(self.bounds[0]).min(self.bounds[1]) - self.impulse
    }
}

/// Returns `twist` plus `factor` times `change`.
pub(crate) fn add_scaled(twist: Twist, change: Twist, factor: f32) -> Twist {
    [twist[0] + change[0] * factor, twist[1] + change[1] * factor]
}
