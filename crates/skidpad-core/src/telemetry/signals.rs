//! Signals of wheel contacts and of the engine, for effects, sound and force feedback. They are computed on request
//! from the rows of the last step, so unused signals cost nothing.

use crate::drivetrain::constraints::Flywheel;
use crate::model::wheel_pack::WheelPack;
use crate::simd::lane::WheelLanes;
use crate::simd::linear::SpatialVector;
use crate::simd::vectors::Vec3Lanes;
use crate::state::State;
use crate::tyre::friction_ellipse;
use crate::vehicle::Vehicle;
use crate::vehicle::rows::WheelRows;
use bevy_math::{DVec3, Mat3, Vec3};

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
    /// Constants of a group of four wheels, one per SIMD lane, that contains the wheel.
    pub bank: &'a WheelPack<W>,
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
    /// Returns the contact of the wheel of a car that has reached `state`; `None` without contact. Point and speeds are those at the end of the step;
    /// force and normal are those of the step, in its middle axes. The force is the impulse of tyre, load and links over the step length. The
    /// utilisation is the tyre impulse over the friction ellipse, at most 1; 0 without load. The sliding velocity is that of the patch less
    /// `radius · spin`.
    pub fn contact(&self, state: &State) -> Option<WheelContact> {
        let Self { bank, rows, lane, to_world, link_impulse: through_links } = *self;
        if !W::mask_at(rows.contact.in_contact, lane) {
            return None;
        }
        let one = |of: W| of.lane(lane); // value of this wheel
        let row = |of: SpatialVector<W>| of.lane(lane).parts().0; // direction of a row, vehicle axes
        // The tyre of a wheel with an unsprung mass deflects, too.
        let raised = rows.unsprung().map_or(rows.contact.compression, |unsprung| unsprung.ground_compression);
        let point = Vec3::from(bank.contact.with_z_added(raised).lane(lane));
        let to_vehicle = state.rotation.inverse();
        let [velocity, angular] = [state.velocity, state.angular].map(|of| Vec3Lanes::splat(to_vehicle * of));
        let [along, across] = rows.patch_speeds(SpatialVector::new(velocity, angular)).map(one);
        let [pushed, aside] = rows.solution.tyre_impulse.map(one); // longitudinal and lateral tyre impulse, N s
        let (forward, side, normal) = (row(rows.contact.forward), row(rows.contact.side), row(rows.contact.normal));
        let impulse = forward * pushed + side * aside + normal * one(rows.suspension.load) + through_links; // vehicle axes, N s
        // Inverse friction limits, 1/(N s).
        let used = rows.friction_limit().map(one).map(|limit| 1.0 / limit.max(MIN_FRICTION_LIMIT_NS));
        let reach = friction_ellipse::utilisation([pushed * used[0], aside * used[1]]); // 1 on the ellipse
        Some(WheelContact {
            point: state.position + (state.rotation * point).as_dvec3(),
            normal: to_world * normal,
            grip: one(rows.contact.grip),
            sliding_velocity: [along - one(bank.radius) * one(rows.solution.spin), across],
            ground_normal_speed: one(rows.contact.ground_motion.end_speed[2]),
            force: to_world * (impulse / rows.dt),
            friction_utilisation: if one(rows.normal_impulse()) > 0.0 { reach.min(1.0) } else { 0.0 },
        })
    }
}

impl Vehicle {
    /// Returns the contact of wheel `wheel` in the last step. Returns `None` without contact, and before the first step
    /// after [`Vehicle::set_state`]. Also returns `None` for a car stepped in a batch; see
    /// [`crate::CarView::wheel_contact`].
    pub fn wheel_contact(&self, wheel: usize) -> Option<WheelContact> {
        let place = self.model.lane_index(wheel);
        let (bank, rows, lane) = (&self.model.wheel_packs()[place.bank], &self.rows[place.bank], place.lane);
        if !rows.has_step() {
            return None;
        }
        let through_links = Vec3::from(rows.link_impulse(bank).lane(lane));
        WheelLane { bank, rows, lane, to_world: self.to_world, link_impulse: through_links }.contact(&self.state)
    }

    /// Returns the signals of the engine in the last step. Returns `None` without an engine, and before the first step
    /// after [`Vehicle::set_state`]. Also returns `None` for a car stepped in a batch; see
    /// [`crate::CarView::engine_signals`].
    pub fn engine_signals(&self) -> Option<EngineSignals> {
        let dt = self.rows.first().filter(|rows| rows.has_step())?.dt;
        self.engine_signals_of_step(self.shafts.engine.as_ref()?, dt)
    }

    /// Returns the signals of the engine in a step of `dt` s; `None` without an engine. `flywheel` has the crankshaft speeds at the start of the step
    /// and, without the clutch, at its end: their difference times the inertia over `dt` is the torque. The load is the torque over the full-load
    /// torque at the start speed, limited to ±1; 0 without full-load torque. The limiter share is that at the start speed.
    pub(crate) fn engine_signals_of_step(&self, flywheel: &Flywheel, dt: f32) -> Option<EngineSignals> {
        let drive = self.model.parts().powertrain.engine()?;
        let (speed, started) = (self.state.drive.engine_speed, flywheel.start_speed);
        let torque = (flywheel.speed - started) / (flywheel.inverse_inertia * dt);
        let full = drive.engine.torque.evaluate(started); // full-load torque, N m
        Some(EngineSignals {
            speed,
            torque,
            load: if full > 0.0 { (torque / full).clamp(-1.0, 1.0) } else { 0.0 },
            limiter_share: 1.0 - drive.engine.limiter_factor(started),
            is_shifting: self.state.drive.shift_left > 0.0,
        })
    }
}
