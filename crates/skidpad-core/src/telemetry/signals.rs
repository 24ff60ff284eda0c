//! Signals of wheel contacts and of the engine, for effects, sound and force feedback. They are computed on request
//! from the rows of the last step, so unused signals cost nothing.

use crate::drivetrain::constraints::Flywheel;
use crate::model::wheel_pack::WheelPack;
use crate::state::State;
use crate::vehicle::Vehicle;
use crate::vehicle::rows::WheelRows;
use bevy_math::{DVec3, Mat3, Vec3};
use skidpad_simd::lane::WheelLanes;
use skidpad_simd::linear::SpatialVector;
use skidpad_simd::vectors::Vec3Lanes;
use skidpad_tyre::friction_ellipse;

/// Contact of a wheel after a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WheelContact {
    /// Contact point of the tyre, world axes (m).
    pub point: DVec3,
    /// Unit normal of the ground, world axes.
    pub normal: Vec3,
    /// Friction factor of the surface for a tyre, > 0.
    pub grip: f32,
    /// Speed of the patch over the ground at the end of the step (m/s): along the wheel's heading, positive if the
    /// wheel turns too slowly; and lateral, positive to the left.
    pub sliding_velocity: [f32; 2],
    /// Speed of the ground along its normal (m/s); 0 for ground at rest.
    pub ground_normal_speed: f32,
    /// Mean force of the ground on the wheel over the step, load and tyre force together, world axes (N).
    pub force: Vec3,
    /// Share of its friction that the tyre uses, 0 to 1.
    pub friction_utilisation: f32,
}

/// Signals of an engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EngineSignals {
    /// Speed of the crankshaft (rad/s).
    pub speed: f32,
    /// Mean torque at the crankshaft over the step (N m), before clutch and converter; negative on the overrun.
    pub torque: f32,
    /// Torque as a share of the full-load torque at the speed at the start of the step, -1 to 1.
    pub load: f32,
    /// Share of the torque that the speed limiter removes, 0 to 1.
    pub limiter_share: f32,
    /// Whether a shift is in progress.
    pub is_shifting: bool,
}

/// Smallest friction limit that the used share is computed with (N s).
const MIN_FRICTION_LIMIT_NS: f32 = 1e-6;

/// Wheel of a car, as a lane of the rows of its last step.
pub(crate) struct WheelLane<'a, W: WheelLanes> {
    /// Constants of the wheels of `rows`, one per SIMD lane.
    pub pack: &'a WheelPack<W>,
    /// Rows (one scalar equation each for load, slip and spin) of these wheels in the last step.
    pub rows: &'a WheelRows<W>,
    /// SIMD lane of the wheel in the group.
    pub lane: usize,
    /// Rotation from vehicle axes to world axes in the middle of that step.
    pub to_world: Mat3,
    /// Impulse of links on the ground that the rows do not include (N s), vehicle axes.
    pub link_impulse: Vec3,
}

impl<W: WheelLanes> WheelLane<'_, W> {
    /// Returns the contact of the wheel of a car that has reached `state`; `None` without contact. Point and speeds are
    /// those at the end of the step; force and normal are those of the step, in its middle axes. The force is the
    /// impulse of tyre, load and links over the step length. The utilisation is the tyre impulse over the friction
    /// ellipse, at most 1; 0 without load. The sliding velocity is that of the patch less `radius · spin`. The point of
    /// a wheel with an unsprung mass is at the compression that includes the deflection of its tyre. The ground speed
    /// is that along the normal at the end of the step.
    pub fn contact(&self, state: &State) -> Option<WheelContact> {
        let Self { pack, rows, lane, to_world, link_impulse } = *self;
        if !W::mask_at(rows.contact.in_contact, lane) {
            return None;
        }
        let wheel_value = |lanes: W| lanes.lane(lane); // value of this wheel
        let row_direction = |row: SpatialVector<W>| row.lane(lane).parts().0; // direction of a row, vehicle axes
        // The tyre of a wheel with an unsprung mass deflects, too.
        let ground_compression =
            rows.unsprung().map_or(rows.contact.compression, |unsprung| unsprung.ground_compression);
        let point = Vec3::from(pack.contact.with_z_added(ground_compression).lane(lane));
        let to_vehicle = state.rotation.inverse();
        let [velocity, angular_velocity] =
            [state.velocity, state.angular_velocity].map(|vector| Vec3Lanes::splat(to_vehicle * vector));
        let [longitudinal_speed, lateral_speed] =
            rows.patch_speeds(SpatialVector::new(velocity, angular_velocity)).map(wheel_value);
        let [longitudinal_impulse, lateral_impulse] = rows.solution.tyre_impulse.map(wheel_value); // tyre impulses, N s
        let (forward, side, normal) =
            (row_direction(rows.contact.forward), row_direction(rows.contact.side), row_direction(rows.contact.normal));
        // Vehicle axes, N s.
        let impulse = forward * longitudinal_impulse
            + side * lateral_impulse
            + normal * wheel_value(rows.suspension.load)
            + link_impulse;
        // Inverse friction limits, 1/(N s). The least limit avoids a division by 0.
        let inverse_limits = rows.friction_limit().map(wheel_value).map(|bound| 1.0 / bound.max(MIN_FRICTION_LIMIT_NS));
        // 1 on the ellipse.
        let utilisation = friction_ellipse::utilisation([
            longitudinal_impulse * inverse_limits[0],
            lateral_impulse * inverse_limits[1],
        ]);
        Some(WheelContact {
            point: state.position + (state.rotation * point).as_dvec3(),
            normal: to_world * normal,
            grip: wheel_value(rows.contact.grip),
            sliding_velocity: [
                longitudinal_speed - wheel_value(pack.radius) * wheel_value(rows.solution.spin),
                lateral_speed,
            ],
            ground_normal_speed: wheel_value(rows.contact.ground_motion.end_speed[2]),
            force: to_world * (impulse / rows.dt),
            friction_utilisation: if wheel_value(rows.normal_impulse()) > 0.0 { utilisation.min(1.0) } else { 0.0 },
        })
    }
}

impl Vehicle {
    /// Returns the contact of wheel `wheel` in the last step. Returns `None` without contact, and before the first step
    /// after [`Vehicle::set_state`]. Also returns `None` for a car stepped in a batch; see
    /// [`crate::CarView::wheel_contact`].
    pub fn wheel_contact(&self, wheel: usize) -> Option<WheelContact> {
        let lane_index = self.model.lane_index(wheel);
        let (pack, rows, lane) =
            (&self.model.wheel_packs()[lane_index.group], &self.rows[lane_index.group], lane_index.lane);
        if !rows.has_step() {
            return None;
        }
        let link_impulse = Vec3::from(rows.link_impulse(pack).lane(lane));
        WheelLane { pack, rows, lane, to_world: self.to_world, link_impulse }.contact(&self.state)
    }

    /// Returns the signals of the engine in the last step. Returns `None` without an engine, and before the first step
    /// after [`Vehicle::set_state`]. Also returns `None` for a car stepped in a batch; see
    /// [`crate::CarView::engine_signals`].
    pub fn engine_signals(&self) -> Option<EngineSignals> {
        let dt = self.rows.first().filter(|rows| rows.has_step())?.dt;
        self.engine_signals_of_step(self.shafts.engine.as_ref()?, dt)
    }

    /// Returns the signals of the engine in a step of `dt` s; `None` without an engine. `flywheel` has the crankshaft
    /// speeds at the start of the step and, without the clutch, at its end: their difference times the inertia over
    /// `dt` is the torque. The load is the torque over the full-load torque at the start speed, limited to ±1; 0
    /// without full-load torque. The limiter share is that at the start speed.
    pub(crate) fn engine_signals_of_step(&self, flywheel: &Flywheel, dt: f32) -> Option<EngineSignals> {
        let drive = self.model.parts().powertrain.engine()?;
        let (speed, start_speed) = (self.state.drive.engine_speed, flywheel.start_speed);
        let torque = (flywheel.speed - start_speed) / (flywheel.inverse_inertia * dt);
        let full_load_torque = drive.engine.torque.evaluate(start_speed); // N m
        Some(EngineSignals {
            speed,
            torque,
            load: if full_load_torque > 0.0 { (torque / full_load_torque).clamp(-1.0, 1.0) } else { 0.0 },
            limiter_share: 1.0 - drive.engine.limiter_factor(start_speed),
            is_shifting: self.state.drive.shift_left > 0.0,
        })
    }
}
