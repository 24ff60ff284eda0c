//! Interface between a vehicle and a rigid-body world: the vehicle reads bodies, casts rays and applies impulses.
//!
//! Each of these is one call per step for all awake vehicles of the world. A world is independent of wheels, and a
//! vehicle is independent of the implementation of its world.

pub mod axes;
pub mod texture;

use crate::port::texture::SurfaceTexture;
use bevy_math::{DVec3, Mat3, Quat, Vec3};
use skidpad_simd::math;

/// Chassis at the start of a step, as its world reports it. Velocities are those of the centre of mass, in world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChassisState {
    /// Centre of mass, world, m.
    pub position: DVec3,
    /// Rotation from vehicle axes to world axes.
    pub rotation: Quat,
    /// Velocity at the start of the step, m/s.
    pub velocity: Vec3,
    /// Angular velocity at the start of the step, rad/s.
    pub angular_velocity: Vec3,
    /// Velocity at the end of the step without any impulse of the vehicle, m/s. Gravity and forces of the user are
    /// included.
    pub free_velocity: Vec3,
    /// Angular velocity at the end of the step without any impulse of the vehicle, rad/s.
    pub free_angular_velocity: Vec3,
    /// Change of angular velocity by gyroscopic torque within the step, rad/s. Set by a world that applies this torque
    /// after the push; zero if `free_angular_velocity` includes it.
    pub gyroscopic_change: Vec3,
    /// Velocity of the air around the body, world axes, m/s.
    pub wind: Vec3,
    /// Time by which the pose lags behind the velocity, s: `(1 − θ) dt` for a world that moves poses by
    /// `dt ((1 − θ) v_old + θ v_new)`; 0 for semi-implicit Euler. Without this term springs lose `(1 − θ) k dt` of
    /// damping.
    pub pose_lag: f32,
    /// Resolution of positions in the world, m: that of 32-bit numbers at this distance from the origin, or 0 for
    /// 64-bit numbers.
    pub position_resolution: f32,
    /// Whether the world has put the body to sleep. The vehicle is then not stepped and keeps its state.
    pub asleep: bool,
}

impl ChassisState {
    /// Chassis at rest at the origin, in still air.
    pub const AT_ORIGIN: Self = Self {
        position: DVec3::ZERO,
        rotation: Quat::IDENTITY,
        velocity: Vec3::ZERO,
        angular_velocity: Vec3::ZERO,
        free_velocity: Vec3::ZERO,
        free_angular_velocity: Vec3::ZERO,
        gyroscopic_change: Vec3::ZERO,
        wind: Vec3::ZERO,
        pose_lag: 0.0,
        position_resolution: 0.0,
        asleep: false,
    };

    /// Returns the position of the centre of mass after half a step of `dt` s with the velocity at its start, world, m.
    #[inline(always)]
    pub fn midstep_position(&self, dt: f32) -> DVec3 {
        self.position + (self.velocity * (0.5 * dt)).as_dvec3()
    }

    /// Returns the rotation from vehicle axes to world axes after half a step of `dt` s with the angular velocity at
    /// its start.
    #[inline(always)]
    pub fn midstep_axes(&self, dt: f32) -> Mat3 {
        Mat3::from_quat(math::integrate_rotation(self.rotation, self.angular_velocity, 0.5 * dt))
    }
}

/// A ray along the suspension travel of a wheel. Offsets are relative to a body, so that 32-bit numbers keep their
/// precision far from the origin. `offset` and `length` are adjacent in memory and load as four numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Probe {
    /// Vehicle that casts the ray. The ray does not hit the body of this vehicle.
    pub car: usize,
    /// Centre of mass of the vehicle's body in the probed pose, that in the middle of the step, world, m.
    pub position: DVec3,
    /// Start of the ray relative to `position`, world axes, m.
    pub offset: Vec3,
    /// Length of the ray, m.
    pub length: f32,
    /// Direction of the ray, unit vector, world axes.
    pub direction: Vec3,
    /// Rim that moves down along the ray; `None` if the wheel senses the ground with the ray alone.
    pub rim: Option<Rim>,
}

/// The rim of a wheel, which can touch the ground ahead of the ray and behind it. The centre is one radius above the
/// end of a ray that ends at the contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rim {
    /// Heading of the wheel, unit vector perpendicular to the ray, world axes.
    pub forward: Vec3,
    /// Radius, m, > 0.
    pub radius: f32,
    /// Half of the width of the tread, m, ≥ 0; 0 is a disc.
    pub half_width: f32,
    /// Whether the lateral profile of the tread is round, with half of the width as radius; otherwise it is flat.
    pub has_round_tread: bool,
    /// Length of the ray to the lowest point of the wheel before the step, m. This length determines which edges the
    /// wheel can climb.
    pub last_ray_length: f32,
    /// Largest distance that the wheel may roll within the step, m, ≥ 0. Walls are searched up to this distance.
    pub lookahead: f32,
    /// Displacement of the wheel from the start of the step to the probed pose, world axes, m. Distances to walls count
    /// from the start of the step.
    pub probe_displacement: Vec3,
    /// Displacement from the probed pose to the end of the step by the free velocity of the body, world axes, m.
    pub free_displacement: Vec3,
    /// Displacement along level ground by the load of the strut within the step, if the load acted in that direction,
    /// m, ≥ 0. Together with [`Rim::free_displacement`] and [`Rim::drive_displacement`] it determines how two contacts
    /// share the load; at 0 the higher contact carries all of it.
    pub load_displacement: f32,
    /// Displacement along the heading by the longitudinal tyre force of the last step, m; positive for a driving force.
    pub drive_displacement: f32,
}

impl Probe {
    /// Returns the point `distance` m along the ray from its start, world, m.
    pub fn point_at(&self, distance: f32) -> DVec3 {
        self.position + (self.offset + self.direction * distance).as_dvec3()
    }
}

/// Contact of a probe with the ground. `distance` and `normal` are adjacent in memory and load as four numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Contact {
    /// Distance from the start of the ray, m; may be negative if a plane is above the start. For a rim: the distance to
    /// the lowest point of the supported wheel.
    pub distance: f32,
    /// Unit normal of the ground, world axes.
    pub normal: Vec3,
    /// Factor on the friction of the tyre, ≥ 0.
    pub grip: f32,
    /// Contact point of a rim, relative to [`Probe::position`], world axes, m; `None` on the ray.
    pub point: Option<Vec3>,
    /// Data of ground that moves, can be pushed or has a texture; `None` for ground at rest that is hard and even.
    pub ground: Option<Ground>,
}

/// Ground under a wheel that moves, can be pushed or has a texture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ground {
    /// Number of the body in its world; [`Ground::STATIC_BODY`] for ground that never moves.
    pub body: u64,
    /// Velocity of the ground at the contact point at the start of the step, world axes, m/s; the mean over the step if
    /// the ground moves by itself.
    pub start_velocity: Vec3,
    /// Velocity of the ground at the contact point at the end of the step, if no wheel pushes the ground; after the
    /// step, its actual velocity. World axes, m/s.
    pub velocity: Vec3,
    /// Texture of the surface. The texture supplies the rolling resistance; the contact already includes the
    /// unevenness.
    pub texture: SurfaceTexture,
}

impl Ground {
    /// Body number of ground that never moves.
    pub const STATIC_BODY: u64 = u64::MAX;

    /// Returns the position at the start of a step of `dt` s of the ground point that is at `mid_position` in the
    /// middle of the step, world, m: `mid_position − ½ dt · start_velocity`.
    pub fn start_position(&self, mid_position: DVec3, dt: f32) -> DVec3 {
        mid_position - (self.start_velocity * (0.5 * dt)).as_dvec3()
    }
}

/// Impulse of a wheel on its ground within one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reaction {
    /// Number of the body: [`Ground::body`].
    pub body: u64,
    /// Point of application, world, m.
    pub point: DVec3,
    /// Impulse on the ground, world axes, N s.
    pub impulse: Vec3,
}

/// A body that wheels can push, in world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DynamicBody {
    /// Centre of mass, world, m.
    pub centre: DVec3,
    /// Velocity of the centre of mass at the end of the step if no wheel pushes the body, m/s.
    pub velocity: Vec3,
    /// Angular velocity at the end of the step if no wheel pushes the body, rad/s.
    pub angular_velocity: Vec3,
    /// Change of velocity by a unit impulse, 1/kg; zero in constrained directions.
    pub inverse_mass: Mat3,
    /// Change of angular velocity by a unit angular impulse about the centre, 1/(kg m²); zero about constrained axes.
    pub inverse_inertia: Mat3,
}

/// Predicted motion at the end of a step of a body that wheels push, with all its other contacts; world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictedMotion {
    /// Velocity of the centre of mass (m/s) and angular velocity (rad/s) at the end of the step.
    pub end_twist: [Vec3; 2],
    /// Change of `end_twist` by a unit of each component of an impulse (N s) and then of an angular impulse about the
    /// centre (N m s).
    pub response: [[Vec3; 2]; 6],
}

/// Impulses of a vehicle on its chassis within one step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChassisImpulse {
    /// Impulse at the centre of mass, world axes, N s.
    pub impulse: Vec3,
    /// Angular impulse about the centre of mass, world axes, N m s.
    pub angular_impulse: Vec3,
    /// Impulse that stops the hull at contacts, world axes, N s. This impulse acts at the start of the step: the pose
    /// moves with the velocity after it.
    pub hull_impulse: Vec3,
    /// Angular impulse about the centre of mass that stops the hull, world axes, N m s.
    pub hull_angular_impulse: Vec3,
}

/// Maximum number of hull contacts that the vehicle's own solver handles. The world handles the rest.
pub const MAX_HULL_POINTS: usize = 16;

/// Coefficient of friction of bodywork on a surface of grip 1, in every world. On other surfaces it is multiplied by
/// their grip.
pub const BODYWORK_FRICTION: f32 = 0.5;

/// A point of a hull that touches an obstacle or may touch it within the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HullPoint {
    /// Position relative to the centre of mass, world axes, m.
    pub arm: Vec3,
    /// Distance between the surfaces, m; negative for an overlap.
    pub gap: f32,
    /// Unit normal out of the obstacle, world axes.
    pub normal: Vec3,
    /// Coefficient of friction, ≥ 0.
    pub friction: f32,
    /// Mean velocity of the obstacle at the point over the step, world axes, m/s.
    pub velocity: Vec3,
}

impl HullPoint {
    /// Returns the smallest speed along the normal, relative to the obstacle, with which a step of `dt` s may end, m/s;
    /// negative means approach. For a gap this is the speed that closes the gap, `−gap / dt` (< 0). For an overlap it
    /// is the speed that removes a fifth of the overlap, at most 1 m/s, so that a car placed inside the ground leaves
    /// it slowly. A gap of 0 allows no approach.
    pub fn allowed_speed(&self, dt: f32) -> f32 {
        if self.gap > 0.0 {
            -self.gap / dt
        } else {
            (-self.gap / dt * OVERLAP_CORRECTION_SHARE).min(MAX_OVERLAP_CORRECTION_MPS)
        }
    }
}

/// Share of an overlap of rigid bodies that is removed in one step.
pub(crate) const OVERLAP_CORRECTION_SHARE: f32 = 0.2;

/// Largest speed at which an overlap is removed, m/s. A ray that reaches the edge of a box can shorten its strut by
/// half a metre at once.
pub(crate) const MAX_OVERLAP_CORRECTION_MPS: f32 = 1.0;

/// Interface that a world offers its vehicles. Entry `i` of every slice belongs to vehicle `i`. Probes are the
/// exception: they are those of the awake vehicles, in order.
pub trait WorldPort {
    /// Writes the chassis of every vehicle at the start of a step of `dt` s into `bodies`.
    fn read_bodies(&self, dt: f32, bodies: &mut [ChassisState]);
    /// Writes the pose, velocities and sleep of every chassis after a step of `dt` s into `bodies`. Other fields may
    /// keep their values.
    fn read_bodies_after_step(&self, dt: f32, bodies: &mut [ChassisState]) {
        self.read_bodies(dt, bodies);
    }
    /// Writes the contacts of the `probes` into `contacts`, in order; `None` for a miss.
    fn probe(&mut self, probes: &[Probe], contacts: &mut [Option<Contact>]);
    /// Returns true if one plane is the only ground that wheels can touch. [`WorldPort::probe_again`] is then not
    /// called.
    fn is_single_plane(&self) -> bool {
        true
    }
    /// Writes the contacts of the `probes` with ground at rest into `contacts`. The probes are those of one vehicle, at
    /// other places than in the preceding [`WorldPort::probe`] of the step. Moving ground may be included or not. The
    /// call stores neither contacts that stop rims nor bodies under wheels. Returns false if all ground nearby is one
    /// plane; `contacts` is then not used.
    fn probe_again(&mut self, _probes: &[Probe], _contacts: &mut [Option<Contact>]) -> bool {
        false
    }
    /// Writes whether the hull of each vehicle may touch an obstacle within the coming step of `dt` s into `is_near`.
    /// [`WorldPort::append_hull_points`] is then called for these vehicles only. Called at most once per step.
    fn mark_hulls_near_contact(&mut self, _dt: f32, is_near: &mut [bool]) {
        is_near.fill(true);
    }
    /// Adds the points at which the hull of vehicle `car` touches an obstacle within the coming step of `dt` s to
    /// `points`, at most [`MAX_HULL_POINTS`]. Called only for vehicles that solve hull contacts; a world that handles
    /// all hull contacts itself adds none.
    fn append_hull_points(&mut self, _car: usize, _dt: f32, _points: &mut Vec<HullPoint>) {}
    /// Applies the impulses of every vehicle over the coming step of `dt` s; those of a sleeping body are zero.
    fn apply_impulses(&mut self, dt: f32, impulses: &[ChassisImpulse]);
    /// Applies the impulses of wheels on ground that moves or can be pushed over the coming step of `dt` s. Called only
    /// if there are any.
    fn apply_ground_reactions(&mut self, _dt: f32, _reactions: &[Reaction]) {}
    /// Returns true if the last [`WorldPort::probe`] found a wheel on a body that wheels can push.
    fn has_wheels_on_bodies(&self) -> bool {
        false
    }
    /// Returns the vehicle whose hull has the number `body` ([`Ground::body`]); `None` if it is no vehicle.
    fn vehicle_of_body(&self, _body: u64) -> Option<usize> {
        None
    }
    /// Returns the free motion and the inverse mass of the body with the number `body` ([`Ground::body`]), touched
    /// along `normal`. Returns `None` if wheels cannot push it, or if it is a vehicle.
    fn dynamic_body(&self, _body: u64, _normal: Vec3, _dt: f32) -> Option<DynamicBody> {
        None
    }
    /// Returns the predicted motion at the end of the coming step of a body that wheels push by an impulse (N s) and an
    /// angular impulse (N m s) about its centre of mass. Returns `None` if the world has no better prediction than
    /// [`WorldPort::dynamic_body`].
    fn predict_body(&mut self, _body: u64, _wheel_impulse: [Vec3; 2], _dt: f32) -> Option<PredictedMotion> {
        None
    }
    /// Updates the velocities of pushed ground in `contacts` to those after the step, at the stored distances along
    /// `probes`, whose positions are those of the moved vehicles. Called only if a wheel is on ground that moves or can
    /// be pushed.
    fn update_ground_velocities(&self, _probes: &[Probe], _contacts: &mut [Option<Contact>]) {}
}
