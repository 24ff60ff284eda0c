//! End of a step: writes the motion that the world realised into the state.

use crate::assembly::wheel::contact::step_displacement;
use crate::model::wheel_pack::WheelPack;
use crate::port::ChassisState;
use crate::state::{State, WheelState};
use crate::step_report::StepReport;
use crate::vehicle::rows::WheelRows;
use crate::vehicle::{Vehicle, is_body_finite};
use crate::wheel::disc::BrakeDiscLanes;
use crate::wheel::state::rolling_share;
use bevy_math::Vec3;
use skidpad_simd::instruction_set::dispatch_simd;
use skidpad_simd::lane::{CarScalar, F32x4, Vec4Ops, WheelLanes};
use skidpad_simd::linear::SpatialVector;
use skidpad_simd::vectors::Vec3Lanes;
use skidpad_simd::wheel_groups::{ManyGroups, SingleGroup, WheelGroups};

/// Angular velocity (rad/s) below which the rotation is used instead: a 32-bit rotation resolves its turn in a step at
/// 1000 Hz to a tenth.
const MIN_RESOLVED_RATE_RADPS: f32 = 1e-3;

/// Returns the small turn between the rotations `start` and `end` (unit quaternions x, y, z, w) as a rotation vector in
/// world axes (rad): twice the vector part of `(end − start) start*`. The angle is too small by `θ³ / 24`. The
/// difference has no rounding error. The fourth number of the result is unused.
#[inline(always)]
fn rotation_vector_between<C: CarScalar>(start: C::Vec4, end: C::Vec4) -> C::Vec4 {
    // Rotation at the start.
    let [x, y, z, w] = start.to_array();
    // Difference of the rotations.
    let [a, b, c, d] = (end - start).to_array();
    // Product of the difference and the conjugate of the start: one term per component of the difference.
    let half = C::Vec4::repeat(a) * C::Vec4::from_array([w, z, -y, x])
        + C::Vec4::repeat(d) * C::Vec4::from_array([-x, -y, -z, w])
        + C::Vec4::repeat(b) * C::Vec4::from_array([-z, w, x, y])
        + C::Vec4::repeat(c) * C::Vec4::from_array([y, -x, w, z]);
    half * C::Vec4::repeat(C::splat(2.0))
}

/// Returns the angular velocity (rad/s, world axes) of a body after a step of `dt` s. This is `angular_velocity`,
/// except in lanes whose rate is below [`MIN_RESOLVED_RATE_RADPS`]: there it is the rotation vector between both
/// rotations of `rotations` (start and end of the step), over `dt`. Calls `rotations` only if some lane needs it.
#[inline(always)]
pub(crate) fn resolved_angular_velocity<C: CarScalar>(
    angular_velocity: Vec3Lanes<C>,
    rotations: impl FnOnce() -> [C::Vec4; 2],
    dt: f32,
) -> Vec3Lanes<C> {
    // Rates that a 32-bit rotation does not resolve.
    let unresolved =
        angular_velocity.dot(angular_velocity).less(C::splat(MIN_RESOLVED_RATE_RADPS * MIN_RESOLVED_RATE_RADPS));
    if !C::any(unresolved) {
        return angular_velocity;
    }
    let [start, end] = rotations();
    let [x, y, z, _] = (rotation_vector_between::<C>(start, end) / C::Vec4::repeat(C::splat(dt))).to_array();
    Vec3Lanes::select(unresolved, Vec3Lanes::new(x, y, z), angular_velocity)
}

impl Vehicle {
    /// Ends the step: takes over the pose and twist of `body` after the world has advanced by `dt` (s), and computes
    /// the wheel states from the solved rows and the realised chassis velocity. These are spins, patch deflections,
    /// compressions, mean forces, disc temperatures, and the state of the drivetrain. If `body` is not finite, the
    /// state does not change and the report has `not_finite`. If `dt` is not the length of a step, nothing happens; see
    /// [`StepReport::for_skipped_step`].
    ///
    /// The final speed, not the prediction of the rows, decides whether a car parks. With the prediction, it creeps by
    /// 490 mm per minute on a slope of 20°.
    ///
    /// A rate near the resolution of the rotation is replaced by the change of the rotation. Otherwise the centre of
    /// mass of a parked car would creep against a rotation that does not happen.
    pub fn finish(&mut self, body: &ChassisState, dt: f32) -> StepReport {
        match StepReport::for_skipped_step(dt) {
            Some(report) => report,
            None => dispatch_simd(
                #[inline(always)]
                || self.finish_step(body, dt),
            ),
        }
    }

    /// Finishes a step of valid length in the instruction set of the caller; see [`Vehicle::finish`].
    #[inline(always)]
    pub(crate) fn finish_step(&mut self, body: &ChassisState, dt: f32) -> StepReport {
        if self.rows.len() == 1 {
            self.finish_groups::<SingleGroup>(body, dt)
        } else {
            self.finish_groups::<ManyGroups>(body, dt)
        }
    }

    /// Ends the step of a car whose loops run over the groups of `B`: takes over the motion of `body`, then integrates
    /// the wheels and the drivetrain. The wheels use the angular velocity of [`resolved_angular_velocity`], the state
    /// that of `body`. If `body` is not finite, changes nothing and reports `not_finite`.
    #[inline(always)]
    fn finish_groups<B: WheelGroups>(&mut self, body: &ChassisState, dt: f32) -> StepReport {
        let rotations = [self.state.rotation, body.rotation].map(|rotation| F32x4::new(rotation.to_array()));
        let angular_velocity =
            resolved_angular_velocity(Vec3Lanes::<f32>::splat(body.angular_velocity), || rotations, dt);
        let report = self.set_motion(body);
        if !report.not_finite {
            self.integrate_wheels_and_shafts::<B>(body, angular_velocity.to_array().into(), dt);
        }
        report
    }

    /// Computes the wheel and drivetrain states after a step of `dt` s. `body` gives the velocity at its end;
    /// `angular_velocity` is the angular velocity there (world axes). Order: lateral shift of wheels with axle
    /// compliance; for each group disc temperatures, then all other results of its wheels; finally the results of the
    /// shafts. Vectors are rotated to the vehicle axes in the middle of the step.
    #[inline(always)]
    fn integrate_wheels_and_shafts<B: WheelGroups>(&mut self, body: &ChassisState, angular_velocity: Vec3, dt: f32) {
        let to_vehicle = self.to_world.transpose();
        // Chassis velocity at the end of the step, vehicle frame.
        let end_velocity =
            SpatialVector::from_vec3s(to_vehicle * body.velocity, to_vehicle * angular_velocity).broadcast_to_wheels();
        if self.model.has_lateral_compliance() {
            self.shift_wheels();
        }
        let state = &mut self.state;
        for (group, rows) in B::slice(self.model.wheel_packs()).iter().zip(B::slice(&self.rows)) {
            if let Some(discs) = &group.discs {
                let temperatures = rows.disc_temperatures(discs, group.disc_temperatures(&state.wheels), dt).lanes();
                group.for_each_wheel(|lane, i| state.wheels[i].disc = temperatures[lane]);
            }
            let end_state = rows.end_state(group, end_velocity, self.pose_lag, dt);
            rows.write_back(group, end_state, &mut state.wheels);
        }
        self.store_shaft_results::<B>();
    }

    /// Takes over the pose and twist of `body`; wheels and drive do not change. If `body` is not finite, changes
    /// nothing and reports `not_finite`.
    #[inline(always)]
    pub(crate) fn set_motion(&mut self, body: &ChassisState) -> StepReport {
        if !is_body_finite(body) {
            return StepReport { not_finite: true, ..StepReport::default() };
        }
        self.state.set_motion(body);
        StepReport::default()
    }
}

impl State {
    /// Takes over the pose and twist of `body`. The old velocity becomes `previous_velocity`.
    #[inline(always)]
    pub(crate) fn set_motion(&mut self, body: &ChassisState) {
        self.previous_velocity = self.velocity;
        self.position = body.position;
        self.rotation = body.rotation;
        self.velocity = body.velocity;
        self.angular_velocity = body.angular_velocity;
    }
}

/// State of four wheels at the end of a step; see [`WheelState`].
pub(crate) struct EndState<W: WheelLanes = F32x4> {
    /// Angular velocity about the axle (rad/s).
    pub spin: W,
    /// Longitudinal and lateral deflection of the contact patch (m).
    pub deflection: [W; 2],
    /// Compression of the strut from rest (m), positive in jounce.
    pub compression: W,
    /// Compression rate of a wheel with an unsprung mass (m/s); 0 for other wheels.
    pub travel_rate: W,
    /// Mean normal force on the ground over the step (N).
    pub load: W,
    /// Mean longitudinal and lateral tyre force over the step (N).
    pub tyre: [W; 2],
    /// Mean torque of drive, brake and rolling resistance on the wheel over the step (N m).
    pub torque: W,
    /// Longitudinal speed of the contact patch without spin (m/s); in the air, spin times radius.
    pub rolling_speed: W,
    /// Share of rolling: 0 for a standing patch, 1 for a rolling patch.
    pub rolling: W,
    /// Sine of the camber angle relative to the ground.
    pub lean: W,
    /// Whether the wheel touches the ground; with an unsprung mass, whether it carries a load.
    pub contact: W::Mask,
}

impl<W: WheelLanes> EndState<W> {
    /// Returns the twelve numbers of each wheel, without the contact: spin, both deflections, torque, both tyre forces,
    /// rolling speed, share of rolling, compression, travel rate, load, lean. [`WheelEndState::write`] uses this order.
    #[inline(always)]
    pub(crate) fn to_array(&self) -> [W; VALUES_PER_WHEEL] {
        let Self { spin, deflection: [ux, uy], torque, tyre: [fx, fy], rolling_speed, rolling, .. } = *self;
        let Self { compression, travel_rate, load, lean, .. } = *self;
        [spin, ux, uy, torque, fx, fy, rolling_speed, rolling, compression, travel_rate, load, lean]
    }
}

impl<W: WheelLanes> WheelRows<W> {
    /// Computes the state of the wheels at the end of a step of `dt` s, at the chassis `velocity` that the world
    /// realised (vehicle frame). `pose_lag` is the time by which the pose lags behind the velocity (s). Stores nothing.
    ///
    /// Spin, tyre impulses and torque are those of the solver; forces and torques are impulses over `dt`. The share of
    /// rolling depends on the faster of contact-patch speed and `radius · spin`, without a gripping tyre on the rolling
    /// speed. The deflections are those of the solved tyre rows at the realised sliding speeds, blended between
    /// standing and rolling patches; 0 without a gripping tyre. A wheel with an unsprung mass has contact if it carries
    /// a load.
    #[inline(always)]
    pub(crate) fn end_state(
        &self,
        group: &WheelPack<W>,
        velocity: SpatialVector<W>,
        pose_lag: f32,
        dt: f32,
    ) -> EndState<W> {
        let step_length = W::splat(dt);
        let [longitudinal_speed, lateral_speed] = self.patch_speeds(velocity);
        // Circumferential speed of the wheel (m/s).
        let circumferential_speed = group.radius * self.solution.spin;
        let rolling_speed = W::select(self.contact.in_contact, longitudinal_speed, circumferential_speed);
        // Squared speed of the faster of patch and circumference (m²/s²).
        let fastest_squared = (longitudinal_speed * longitudinal_speed + lateral_speed * lateral_speed)
            .at_least(circumferential_speed * circumferential_speed);
        // Squared speed that decides between standing and rolling; without grip that of the wheel centre.
        let speed_squared = W::select(self.tyre.active, fastest_squared, rolling_speed * rolling_speed);
        let rolling = rolling_shares(group, speed_squared);
        // Sliding speeds of the patch, spin included (m/s).
        let slip_speed = [longitudinal_speed - circumferential_speed, lateral_speed];
        // Deflections before standing and rolling patches are blended (m).
        let end_deflections = self.end_deflections(slip_speed);
        let deflection = self.blended_deflections(group, end_deflections, rolling).map(|u| u.masked(self.tyre.active));
        let [load, longitudinal_force, lateral_force, torque] =
            [self.normal_impulse(), self.solution.tyre_impulse[0], self.solution.tyre_impulse[1], self.solution.torque]
                .map(|impulse| impulse / step_length);
        let (contact, compression, travel_rate) = if let Some(unsprung) = self.unsprung() {
            // Wheels that carry a load.
            let is_loaded = W::splat(0.0).less(self.suspension.load);
            (is_loaded, unsprung.next_travel(self.contact.compression, pose_lag, dt), unsprung.next_rate)
        } else {
            (self.contact.in_contact, self.next_compression(group, velocity, pose_lag, dt), W::default())
        };
        EndState {
            spin: self.solution.spin,
            deflection,
            compression,
            travel_rate,
            load,
            tyre: [longitudinal_force, lateral_force],
            torque,
            rolling_speed,
            rolling,
            lean: self.contact.camber_sine,
            contact,
        }
    }

    /// Returns the friction factor of the ground under each tyre minus 1, 0 for tyres without grip. Returns `None` if
    /// it is 0 for all tyres.
    #[inline(always)]
    pub(crate) fn grip_excess(&self) -> Option<W> {
        let excess = (self.contact.friction_factor - W::splat(1.0)).masked(self.tyre.active);
        W::any(W::default().less(excess.abs())).then_some(excess)
    }

    /// Returns the temperatures of the brake discs (K above the air) after a step of `dt` s that began with
    /// `temperatures`. The discs are heated by the largest brake impulse times the mean absolute spin of the step, and
    /// cooled by the air at the rolling speed at its start.
    #[inline(always)]
    pub(crate) fn disc_temperatures(&self, discs: &BrakeDiscLanes<W>, temperatures: W, dt: f32) -> W {
        // Mean of the absolute spins at both ends of the step (rad/s).
        let mean_spin = W::splat(0.5) * (self.start.spin.abs() + self.solution.spin.abs());
        discs.next_temperature(temperatures, self.drive.brake * mean_spin, self.start.rolling_speed, dt)
    }

    /// Returns the compression of the struts (m) after a step of `dt` s, for wheels without an unsprung mass.
    /// Integrates the rates at both ends of the step as the world moves the pose: the initial rate acts for `pose_lag`
    /// s, the final rate at the chassis `velocity` for the rest. The result is limited to full droop; a wheel in the
    /// air keeps its compression.
    #[inline(always)]
    fn next_compression(&self, group: &WheelPack<W>, velocity: SpatialVector<W>, pose_lag: f32, dt: f32) -> W {
        // Compression rate at the end of the step (m/s).
        let rate = (-self.separation_velocity(velocity) / self.contact.normal_cosine).masked(self.contact.in_contact);
        // Change of the compression in the step (m).
        let compression_change = step_displacement([self.contact.jounce_rate, rate], W::splat(pose_lag), W::splat(dt));
        (self.contact.compression + self.contact.beyond_droop + compression_change).at_least(-group.droop_travel)
    }
}

impl WheelRows {
    /// Writes the `end_state` of the wheels of `group` into `wheels`, all wheels of the car. Also writes the
    /// friction factor minus 1 where it is not 0, and the moments of the tyres if the group has tyres other than simple
    /// curves; otherwise these fields become 0.
    #[inline(always)]
    fn write_back(&self, group: &WheelPack, end_state: EndState, wheels: &mut [WheelState]) {
        match group.consecutive_four_mut(wheels) {
            Some(four_wheels) => {
                four_wheels.iter_mut().zip(&end_state.by_wheel()).for_each(|(wheel, end_state)| end_state.write(wheel))
            }
            None => write_scattered(group, end_state, wheels),
        }
        if let Some(excess) = self.grip_excess() {
            group.for_each_wheel(|lane, i| wheels[i].grip_excess = excess.lane_value(lane));
        }
        if self.has_laws {
            let [overturning, aligning] = self.start.moments.map(F32x4::lanes);
            group.for_each_wheel(|lane, i| {
                (wheels[i].overturning, wheels[i].aligning) = (overturning[lane], aligning[lane])
            });
        }
    }
}

/// Number of values of [`EndState`] per wheel, without the contact.
pub(crate) const VALUES_PER_WHEEL: usize = 12;

/// Result of a step for one wheel: the numbers of [`EndState`] and the contact.
#[derive(Clone, Copy)]
pub(crate) struct WheelEndState {
    /// Numbers in the order of [`EndState::to_array`], four at a time.
    pub values: [F32x4; VALUES_PER_WHEEL / 4],
    /// Whether the wheel touches the ground.
    pub contact: bool,
}

impl EndState {
    /// Returns the result of each of the four wheels: transposes the numbers of [`EndState::to_array`] from lanes to
    /// wheels.
    #[inline(always)]
    fn by_wheel(&self) -> [WheelEndState; 4] {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = self.to_array();
        let first = F32x4::transposed([a, b, c, d]);
        let second = F32x4::transposed([e, f, g, h]);
        let third = F32x4::transposed([i, j, k, l]);
        let contact = self.contact.lanes();
        // Written out: the compiler would call a function that maps an array of this size.
        let wheel_state = |k: usize| WheelEndState { values: [first[k], second[k], third[k]], contact: contact[k] };
        [wheel_state(0), wheel_state(1), wheel_state(2), wheel_state(3)]
    }
}

/// Writes the `end_state` of a group whose wheels are not four consecutive ones, lane by lane.
#[cold]
#[inline(never)]
fn write_scattered(group: &WheelPack, end_state: EndState, wheels: &mut [WheelState]) {
    let end_states = end_state.by_wheel();
    group.for_each_wheel(|lane, i| end_states[lane].write(&mut wheels[i]));
}

impl WheelEndState {
    /// Writes the result into `wheel`. Sets its moments to 0, as for tyres with a simple curve, and its grip excess to
    /// 0, as on plain ground.
    #[inline(always)]
    pub(crate) fn write(&self, wheel: &mut WheelState) {
        let [first, second, third] = self.values;
        [wheel.spin, wheel.deflection[0], wheel.deflection[1], wheel.torque] = first.lanes();
        [wheel.tyre[0], wheel.tyre[1], wheel.rolling_speed, wheel.rolling] = second.lanes();
        [wheel.compression, wheel.travel_rate, wheel.load, wheel.lean] = third.lanes();
        (wheel.overturning, wheel.aligning, wheel.grip_excess, wheel.contact) = (0.0, 0.0, 0.0, self.contact);
    }
}

/// Returns the share of rolling of each wheel (0 at a standstill, 1 when rolling) at the speeds whose squares are
/// `speed_squared` (m²/s²). It is 1 above the walking speed of the group, and rises smoothly between its two limit
/// speeds. The root is computed only if a wheel is slower than that.
#[inline(always)]
fn rolling_shares<W: WheelLanes>(group: &WheelPack<W>, speed_squared: W) -> W {
    // Speed above which a patch rolls (m/s).
    let [_, walking_speed] = group.walking;
    if !W::any(speed_squared.less(walking_speed * walking_speed)) {
        return W::splat(1.0);
    }
    rolling_share(group.walking, speed_squared.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_math::Quat;

    /// Checks that a turn of θ about a unit axis a is θ a, with an error of `θ³ / 24`.
    #[test]
    fn a_small_turn_is_its_angle_about_its_axis() {
        let from = Quat::from_xyzw(0.5, -0.5, 0.5, 0.5);
        for axis in [Vec3::X, Vec3::Y, Vec3::new(0.6, 0.0, -0.8)] {
            let to = Quat::from_axis_angle(axis, 1e-3) * from;
            let [x, y, z, _] =
                rotation_vector_between::<f32>(F32x4::new(from.to_array()), F32x4::new(to.to_array())).lanes();
            let found = Vec3::new(x, y, z);
            // Components of quaternions are rounded to 6e-8.
            assert!((found - axis * 1e-3).length() < 3e-7, "{found}");
        }
    }
}
