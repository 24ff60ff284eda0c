//! The seam between a vehicle and a rigid-body world: bodies are read, rays are cast, impulses are pushed.
//!
//! One call each per step for all vehicles of the world that are awake. A world knows nothing of wheels, a vehicle nothing of worlds.

use crate::math;
use crate::world::texture::Texture;
use bevy_math::{DVec3, Mat3, Quat, Vec3};

/// The chassis as its world sees it at the start of a step. Velocities are of the centre of mass, in world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Body {
    /// Centre of mass, m.
    pub position: DVec3,
    /// Vehicle axes to world axes.
    pub rotation: Quat,
    /// Velocity before anything of this step acts, m/s.
    pub velocity: Vec3,
    /// Angular velocity before anything of this step acts, rad/s.
    pub angular: Vec3,
    /// Velocity the step would end with if the vehicle pushed nothing (gravity, the user's forces), m/s.
    pub free_velocity: Vec3,
    /// Angular velocity the step would end with if the vehicle pushed nothing, rad/s.
    pub free_angular: Vec3,
    /// What the body's own momentum changes it by within the step, where the world turns it after the push and `free_angular` leaves it
    /// out, rad/s.
    pub drift: Vec3,
    /// Velocity of the air around it, m/s.
    pub wind: Vec3,
    /// Time by which the pose runs behind the velocity, s: `(1 − θ) dt` for a world that moves poses by
    /// `dt ((1 − θ) v_old + θ v_new)`. 0 for semi-implicit Euler; springs lose `(1 − θ) k dt` of damping without it.
    pub pose_lag: f32,
    /// To how many m the world knows positions here: that of 32-bit numbers so far from its origin, or 0 if they have 64.
    pub resolution: f32,
    /// Whether the world has put the body to sleep: its vehicle is not stepped and keeps its state.
    pub asleep: bool,
}

impl Body {
    /// Returns the position of the centre of mass after half a step of `dt` s with the velocity at its start, m.
    #[inline(always)]
    pub fn position_halfway(&self, dt: f32) -> DVec3 {
        self.position + (self.velocity * (0.5 * dt)).as_dvec3()
    }

    /// Returns the rotation from vehicle axes to world axes after half a step of `dt` s with the angular velocity at its start.
    #[inline(always)]
    pub fn axes_halfway(&self, dt: f32) -> Mat3 {
        Mat3::from_quat(math::turned(self.rotation, self.angular, 0.5 * dt))
    }
}

/// A ray along a wheel's suspension travel. Offsets are relative to a body, so that 32-bit numbers keep their
/// precision far from the origin. Four numbers that are read at once lie side by side.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Probe {
    /// Which vehicle asks; its own body must not answer.
    pub car: usize,
    /// Centre of mass of the asking body in the pose that is probed, m: the one it reaches in the middle of the step.
    pub position: DVec3,
    /// Start of the ray relative to `position`, world axes, m.
    pub offset: Vec3,
    /// Length of the ray, m.
    pub reach: f32,
    /// Unit vector, world axes.
    pub direction: Vec3,
    /// The rim that comes down along the ray; `None` if the ray alone feels for the ground.
    pub rim: Option<Rim>,
}

/// The rim of a wheel, which touches the ground ahead of its ray and behind it too. Its middle is a radius above the end of a ray
/// that meets what it stands on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rim {
    /// Where the wheel rolls to, unit vector at right angles to the ray, world axes.
    pub forward: Vec3,
    /// m, > 0.
    pub radius: f32,
    /// Half the width of the tread, m, ≥ 0; 0 is a disc.
    pub half_width: f32,
    /// Whether the tread is round across, with half its width as radius; else it is flat.
    pub rounded: bool,
    /// Length of a ray to the lowest point of the wheel as it was before the step, m: what edges it climbs depends on it.
    pub stood: f32,
    /// How far it may roll within the step, m, ≥ 0: walls are looked for so far ahead.
    pub ahead: f32,
    /// Displacement of the wheel from the start of the step to where it is probed, world axes, m. Walls are looked for from the start.
    pub came: Vec3,
    /// Displacement from where it is probed to the end of the step, if only external forces acted on the body, world axes, m.
    pub moves: Vec3,
    /// How far the load of its strut could push it along level ground within the step, were it turned to there, m, ≥ 0. With
    /// [`Rim::moves`] and [`Rim::driven`] it tells how two places share the load; at 0 the higher one carries all.
    pub give: f32,
    /// The same of the force of its tyre along the heading, as it was in the last step, m; positive if that drives.
    pub driven: f32,
}

impl Probe {
    /// The point `distance` m along the ray, world, m.
    pub fn at(&self, distance: f32) -> DVec3 {
        self.position + (self.offset + self.direction * distance).as_dvec3()
    }
}

/// Where a probe met the ground. Its first four numbers, which are read at once, lie side by side.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Contact {
    /// From the start of the ray, m; may be negative when a plane reaches above the start. Of a rim: to the lowest point of the
    /// wheel that stands there.
    pub distance: f32,
    /// Unit normal of the ground, world axes.
    pub normal: Vec3,
    /// Factor on the friction of the tyre, ≥ 0.
    pub grip: f32,
    /// Contact point of a rim, relative to [`Probe::position`], world axes, m; `None` on the ray.
    pub point: Option<Vec3>,
    /// Of ground that moves, can be moved, or has a texture; `None` for all that stands still, hard and even.
    pub ground: Option<Ground>,
}

/// What a wheel stands on, where that is not ground that stands still, hard and even.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ground {
    /// The world's own number of the body; [`Ground::STILL`] of what never moves.
    pub body: u64,
    /// Velocity of the ground at the contact point at the start of the step, world axes, m/s; the mean over the step if the ground moves by itself.
    pub begun: Vec3,
    /// Its velocity at the contact point at the end of the step if no wheel pushes it; after the step, the velocity it has. World
    /// axes, m/s.
    pub velocity: Vec3,
    /// Of its surface. Wheels feel its rolling resistance; its unevenness is in the contact already.
    pub texture: Texture,
}

impl Ground {
    /// Number of no body.
    pub const STILL: u64 = u64::MAX;

    /// Returns where, as the body lies at the start of a step of `dt` s, the point is that is met at `place` in the middle of the step,
    /// world, m.
    pub fn at_start(&self, place: DVec3, dt: f32) -> DVec3 {
        place - (self.begun * (0.5 * dt)).as_dvec3()
    }
}

/// What a wheel does to the ground it stands on within one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reaction {
    /// [`Ground::body`].
    pub body: u64,
    /// Where, world, m.
    pub point: DVec3,
    /// N s, world axes.
    pub impulse: Vec3,
}

/// A body that wheels can push, in world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pushable {
    /// Centre of mass, m.
    pub centre: DVec3,
    /// Velocity the centre would end the step with if no wheel pushed, m/s.
    pub velocity: Vec3,
    /// Angular velocity likewise, rad/s.
    pub angular: Vec3,
    /// Change of velocity by an impulse, 1/kg; zero in the directions in which something holds it.
    pub inverse_mass: Mat3,
    /// Change of angular velocity by an angular impulse about the centre, 1/(kg m²); likewise.
    pub inverse_inertia: Mat3,
}

/// How a body that wheels push ends a step, with all that else holds it; world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Foreseen {
    /// Velocity (m/s) of its centre of mass and angular velocity (rad/s).
    pub ends: [Vec3; 2],
    /// What a unit of each component of an impulse (N s) and then of an angular impulse about its centre (N m s) changes these by.
    pub answer: [[Vec3; 2]; 6],
}

/// What a vehicle does to its chassis within one step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Push {
    /// N s, world axes.
    pub impulse: Vec3,
    /// About the centre of mass, N m s, world axes.
    pub angular_impulse: Vec3,
    /// What stops the hull, N s: it acts at once, so that the pose already moves with the velocity it leaves.
    pub stop: Vec3,
    /// About the centre of mass, N m s, world axes.
    pub angular_stop: Vec3,
}

/// Most points at which a hull is kept out of things by the vehicle's own solve; the world keeps the rest out.
pub const HULL_POINTS: usize = 16;

/// Friction of bodywork on a surface of grip 1; on any other, times its grip. In every world.
pub const BODYWORK_FRICTION: f32 = 0.5;

/// A point of a hull that touches something, or would within the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HullPoint {
    /// From the centre of mass, world axes, m.
    pub arm: Vec3,
    /// Distance of the surfaces, m, negative when they overlap.
    pub gap: f32,
    /// Unit vector out of what is touched, world axes.
    pub normal: Vec3,
    /// Coefficient of friction, ≥ 0.
    pub friction: f32,
    /// Mean velocity over the step of what is touched there, world axes, m/s.
    pub velocity: Vec3,
}

impl HullPoint {
    /// Least speed along the normal, relative to what is touched, that a step of `dt` s may end with, m/s: what closes the gap, or opens a share of an
    /// overlap, so that a car put into the ground comes out without a jump.
    pub fn allowed_speed(&self, dt: f32) -> f32 {
        if self.gap > 0.0 { -self.gap / dt } else { (-self.gap / dt * OVERLAP_RETURN).min(OVERLAP_RETURN_SPEED) }
    }
}

/// Share of an overlap of rigid things that comes back in one step.
pub(crate) const OVERLAP_RETURN: f32 = 0.2;

/// Largest speed with which it does, m/s: a ray that comes upon the edge of a box can find its strut half a metre too short.
pub(crate) const OVERLAP_RETURN_SPEED: f32 = 1.0;

/// What a world offers the vehicles in it. Slot `i` of every slice belongs to vehicle `i`, except for the probes, which
/// are those of the vehicles that are awake.
pub trait WorldPort {
    /// Writes the chassis of every vehicle into `bodies`.
    fn bodies(&self, dt: f32, bodies: &mut [Body]);
    /// Writes the poses, velocities and sleep of every chassis after a step of `dt` s into `bodies`; the rest of these may stay.
    fn moved(&self, dt: f32, bodies: &mut [Body]) {
        self.bodies(dt, bodies);
    }
    /// Answers `asked` into `answered`, in order; a miss is `None`.
    fn probe(&mut self, asked: &[Probe], answered: &mut [Option<Contact>]);
    /// Returns true if wheels can meet nothing but one plane. Then [`WorldPort::probe_again`] is not called.
    fn is_even(&self) -> bool {
        true
    }
    /// Answers `asked`, probes of one vehicle at other places than those of [`WorldPort::probe`] in the same step, by the ground that
    /// stands still; ground that moves may be answered or not. Nothing is kept of them: neither what stops rims nor what bears wheels.
    /// Returns false if all that is near is one plane; then the answers are not used.
    fn probe_again(&mut self, _asked: &[Probe], _answered: &mut [Option<Contact>]) -> bool {
        false
    }
    /// Writes which vehicles' hulls may touch something within the coming step of `dt` s, so that [`WorldPort::hull_points`] is asked of
    /// these alone. Called at most once a step.
    fn near_hulls(&mut self, _dt: f32, near: &mut [bool]) {
        near.fill(true);
    }
    /// Adds the points at which the hull of vehicle `car` touches something within the coming step of `dt` s to `points`, at
    /// most [`HULL_POINTS`]. Asked only for vehicles that solve for them; a world that keeps hulls out itself adds none.
    fn hull_points(&mut self, _car: usize, _dt: f32, _points: &mut Vec<HullPoint>) {}
    /// Applies the pushes over the coming step of length `dt`; that of a body asleep is nothing.
    fn push(&mut self, dt: f32, pushes: &[Push]);
    /// Applies to ground that moves what wheels do to it over the coming step; called only if there is any.
    fn react(&mut self, _dt: f32, _reactions: &[Reaction]) {}
    /// Whether some wheel has just met a body that it can push in [`WorldPort::probe`].
    fn bears_wheels(&self) -> bool {
        false
    }
    /// The vehicle whose hull is [`Ground::body`] `body`.
    fn vehicle_of(&self, _body: u64) -> Option<usize> {
        None
    }
    /// How [`Ground::body`] `body` moves and answers, if wheels can push it and it is no vehicle; it was met along `normal`.
    fn pushable(&self, _body: u64, _normal: Vec3, _dt: f32) -> Option<Pushable> {
        None
    }
    /// How such a body ends the coming step if wheels push it by an impulse (N s) and an angular impulse (N m s) about its centre of mass;
    /// `None` where a world knows no more of it than [`WorldPort::pushable`].
    fn foresee(&mut self, _body: u64, _pushed: [Vec3; 2], _dt: f32) -> Option<Foreseen> {
        None
    }
    /// After the step: the velocity that ground which moves now has, at the answered distances along `asked`, which have
    /// moved on with their vehicles. Called only if there is any.
    fn follow_ground(&self, _asked: &[Probe], _answered: &mut [Option<Contact>]) {}
}
