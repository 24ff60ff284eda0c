//! A hitch in one step: what it asks of the motion of two vehicles, and the impulses with which it gets that.
//!
//! A point is held by three rows, the turn by five at most. Both vehicles answer with their wheels: what an impulse changes comes
//! from the system of all their rows, not from their mass alone.

use crate::hitch::parameters::{Coupler, Hitch};
use crate::linear::{SpatialVector, Symmetric6};
use crate::math;
use crate::world::seam::Body;
use bevy_math::{Mat3, Quat, Vec3};

/// Velocity of a centre of mass and angular velocity, or impulse and angular impulse, world axes.
pub(crate) type Twist = [Vec3; 2];

/// Share of a gap of a hitch that comes back in one step.
const GAP_RETURN: f32 = 0.2;

/// The largest speed with which it does, m/s: a blow against a hull that a world ends after the solve can leave the way of a step.
const GAP_RETURN_SPEED: f32 = 1.0;

/// Resolutions of a gap of which half that share comes back: what closes the rounding of a position is told as a force, 20 N for
/// 1e-7 m, a tonne and 1000 Hz, and more with the square of the rate.
const ROUNDED: f32 = 16.0;

/// Share of a gap of so many m of a hitch that comes back in a step of `dt` s, where positions are known to `resolution` m; in [0, 0.2].
pub fn returned_share(gap: f32, resolution: f32, dt: f32) -> f32 {
    let known = gap / (gap + (ROUNDED * resolution).max(f32::MIN_POSITIVE));
    (GAP_RETURN * known).min(GAP_RETURN_SPEED * dt / gap.max(f32::MIN_POSITIVE))
}

/// Velocity (m/s) of one point of a hitch against the other with which a `gap` (m) between them closes in steps of `dt` s, where
/// positions are known to `resolution` m.
pub fn returned_gap(gap: Vec3, resolution: f32, dt: f32) -> Vec3 {
    gap * (-returned_share(gap.length(), resolution, dt) / dt)
}

/// Share of the way past a stop that comes back in one step.
const STOP_RETURN: f32 = 0.2;

/// How a vehicle, or what one stands on, answers impulses.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    /// By its mass and its inertia alone, inverse, world axes.
    Free { mass: f32, inertia: Mat3 },
    /// Likewise, of a body that something holds in some directions.
    Bound { mass: Mat3, inertia: Mat3 },
    /// Of one that contacts hold: what a unit of each of an impulse and a moment about its centre changes, world axes.
    Held([Twist; 6]),
    /// With all its rows.
    Rows { to_world: Mat3, system: Symmetric6 },
}

impl Answer {
    /// Change of the twist by an impulse.
    pub fn to(&self, [impulse, moment]: Twist) -> Twist {
        match self {
            Self::Free { mass, inertia } => [impulse * *mass, *inertia * moment],
            Self::Bound { mass, inertia } => [*mass * impulse, *inertia * moment],
            Self::Held(columns) => {
                let sizes = [impulse.x, impulse.y, impulse.z, moment.x, moment.y, moment.z];
                columns.iter().zip(sizes).fold([Vec3::ZERO; 2], |sum, (column, size)| add(sum, *column, size))
            }
            Self::Rows { to_world, system } => {
                let to_vehicle = to_world.transpose();
                let change = system.solve(SpatialVector::of(to_vehicle * impulse, to_vehicle * moment));
                let (linear, angular) = change.parts();
                [*to_world * linear, *to_world * angular]
            }
        }
    }
}

/// A row against a turn of the trailer about `axis`, as `rate = bias - softness · impulse`.
#[derive(Clone, Copy, Debug)]
struct Turn {
    /// World, unit vector.
    axis: Vec3,
    /// rad/s.
    bias: f32,
    /// Of the impulse, rad/(N m s²), ≥ 0.
    softness: f32,
    /// Of the impulse, N m s.
    bounds: [f32; 2],
    /// On the trailer, N m s.
    impulse: f32,
    /// What a unit of it does to the vehicle ahead, and to the trailer.
    does: [Twist; 2],
    /// Of both to it, rad/(N m s²).
    compliance: f32,
}

const NO_TURN: Turn = Turn {
    axis: Vec3::Z,
    bias: 0.0,
    softness: 0.0,
    bounds: [0.0; 2],
    impulse: 0.0,
    does: [[Vec3::ZERO; 2]; 2],
    compliance: 1.0,
};

/// Spring and damper against roll, damper and friction against yaw, stops of yaw and pitch.
const TURNS: usize = 5;

/// On the trailer: of the point, N s, and of each turn, N m s.
pub(crate) type Impulses = (Vec3, [f32; TURNS]);

/// The rows of a hitch in one step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Joint {
    /// From the centres of mass of the vehicle ahead and of the trailer, vehicle axes, m.
    points: [Vec3; 2],
    /// From there to where impulses act, world axes, m.
    pushed: [Vec3; 2],
    /// And to where the speed of the point is counted at the end of the step.
    seen: [Vec3; 2],
    /// What the point of the trailer ends with beyond that of the hitch, m/s.
    target: Vec3,
    /// On the trailer, N s.
    impulse: Vec3,
    /// What unit impulses along x, y and z do to the vehicle ahead, and to the trailer.
    does: [[Twist; 3]; 2],
    /// From a velocity of the point to the impulse.
    mass: Mat3,
    turns: [Turn; TURNS],
    count: usize,
}

impl Joint {
    /// Rows of `hitch` and `coupler` between the bodies of the vehicle ahead and of the trailer, for a step of `dt` s. They begin
    /// with the `force` (N) of the last step.
    ///
    /// The pose of a body moves with the mean of its velocities weighted by its `pose_lag`. Then the arms with which two points stay
    /// together, to the third order of the step, are those of half a step and the lead; and impulses that close the angular
    /// momentum act where the centres are after the lead.
    pub fn new(hitch: &Hitch, coupler: &Coupler, bodies: [&Body; 2], force: Vec3, dt: f32) -> Self {
        let points = [hitch.point, coupler.point];
        let [start, pushed] = [0.0, 1.0].map(|share| {
            [0, 1].map(|k| {
                let body = bodies[k];
                math::turned(body.rotation, body.angular, share * body.pose_lag) * points[k]
            })
        });
        let gap = (bodies[1].position - bodies[0].position).as_vec3() + start[1] - start[0];
        let mut joint = Self {
            points,
            pushed,
            seen: start,
            target: returned_gap(gap, bodies[0].resolution.max(bodies[1].resolution), dt),
            impulse: force * dt,
            does: [[[Vec3::ZERO; 2]; 3]; 2],
            mass: Mat3::ZERO,
            turns: [NO_TURN; TURNS],
            count: 0,
        };
        joint.turn(bodies, bodies.map(|body| body.angular), dt);
        joint.add_turns(hitch, bodies.map(|body| body.rotation), dt);
        joint
    }

    /// Counts the speed of the point with the arms of bodies that end the step with the angular velocities `ends`.
    pub fn turn(&mut self, bodies: [&Body; 2], ends: [Vec3; 2], dt: f32) {
        self.seen = [0, 1].map(|k| {
            let (body, time) = (bodies[k], bodies[k].pose_lag + 0.5 * dt);
            let rate = body.angular + (ends[k] - body.angular) * (0.5 * time / dt);
            math::turned(body.rotation, rate, time) * self.points[k]
        });
    }

    fn add_turns(&mut self, hitch: &Hitch, [ahead, trailer]: [Quat; 2], dt: f32) {
        let angles = math::roll_pitch_yaw(ahead.inverse() * trailer);
        let along = trailer * Vec3::X;
        let up = ahead * Vec3::Z;
        let across = up.cross(along).normalize_or_zero();
        let always = [f32::NEG_INFINITY, f32::INFINITY];
        // Wholly at the end of the step: stiffer than any step follows, it ends turns without swinging.
        let roll_gain = dt * (hitch.roll_damping + hitch.roll_rate * dt);
        self.add(along, -dt * hitch.roll_rate * angles.x / roll_gain, 1.0 / roll_gain, always);
        self.add(up, 0.0, 1.0 / (dt * hitch.yaw_damping), always);
        let held = hitch.yaw_friction * dt;
        if held > 0.0 {
            self.add(up, 0.0, 0.0, [-held, held]);
        }
        self.add_stop(up, angles.z, hitch.largest_yaw, dt);
        self.add_stop(across, angles.y, hitch.largest_pitch, dt);
    }

    /// Adds a stop that an angle about `axis` meets at `largest` on either side.
    fn add_stop(&mut self, axis: Vec3, angle: f32, largest: f32, dt: f32) {
        if largest.is_finite() {
            let left = largest - angle.abs();
            let side = axis * -1f32.copysign(angle);
            let allowed = if left > 0.0 { -left / dt } else { -left * (STOP_RETURN / dt) };
            self.add(side, allowed, 0.0, [0.0, f32::INFINITY]);
        }
    }

    /// Adds a row, unless it gives nothing.
    fn add(&mut self, axis: Vec3, bias: f32, softness: f32, bounds: [f32; 2]) {
        if softness.is_finite() {
            self.turns[self.count] = Turn { axis, bias, softness, bounds, ..NO_TURN };
            self.count += 1;
        }
    }

    /// Impulse on vehicle `k` of the two, about its centre of mass.
    pub fn impulse(&self, k: usize) -> Twist {
        let sign = if k == 0 { -1.0 } else { 1.0 };
        let moment = self.turns[..self.count].iter().fold(Vec3::ZERO, |sum, turn| sum + turn.axis * turn.impulse);
        [self.impulse * sign, (self.pushed[k].cross(self.impulse) + moment) * sign]
    }

    /// Mean force on the trailer over a step of `dt` s, N.
    pub fn force(&self, dt: f32) -> Vec3 {
        self.impulse / dt
    }

    /// The impulses alone, to come back to.
    pub fn impulses(&self) -> Impulses {
        (self.impulse, self.turns.map(|turn| turn.impulse))
    }

    /// Half way back to the impulses `to`.
    pub fn halve(&mut self, (linear, turns): &Impulses) {
        self.impulse = (self.impulse + *linear) * 0.5;
        for (turn, to) in self.turns.iter_mut().zip(turns) {
            turn.impulse = 0.5 * (turn.impulse + to);
        }
    }

    /// Learns how the two vehicles answer.
    pub fn learn(&mut self, answers: [&Answer; 2]) {
        let axes = Vec3::AXES;
        for (k, answer) in answers.into_iter().enumerate() {
            self.does[k] = axes.map(|axis| answer.to([axis, self.pushed[k].cross(axis)]));
        }
        let columns =
            [0, 1, 2].map(|i| self.point_velocity(0, self.does[0][i]) + self.point_velocity(1, self.does[1][i]));
        self.mass = Mat3::from_cols(columns[0], columns[1], columns[2]).inverse();
        for turn in &mut self.turns[..self.count] {
            turn.does = answers.map(|answer| answer.to([Vec3::ZERO, turn.axis]));
            turn.compliance = (turn.does[0][1] + turn.does[1][1]).dot(turn.axis);
        }
    }

    fn point_velocity(&self, k: usize, [velocity, angular]: Twist) -> Vec3 {
        velocity + angular.cross(self.seen[k])
    }

    /// Changes the impulses by what the rows still need at the twists of both vehicles, and these by what that does; the
    /// largest change of a velocity of the point, or of one at an arm of 1 m.
    pub fn relax(&mut self, [ahead, trailer]: [&mut Twist; 2]) -> f32 {
        let missing = self.missing([*ahead, *trailer]);
        let more = self.mass * missing;
        self.impulse += more;
        for (i, size) in more.to_array().into_iter().enumerate() {
            *ahead = add(*ahead, self.does[0][i], -size);
            *trailer = add(*trailer, self.does[1][i], size);
        }
        let mut changed = missing.length();
        for turn in &mut self.turns[..self.count] {
            let more = turn.wanted([*ahead, *trailer]);
            turn.impulse += more;
            *ahead = add(*ahead, turn.does[0], -more);
            *trailer = add(*trailer, turn.does[1], more);
            changed = changed.max((more * turn.compliance).abs());
        }
        changed
    }

    /// How far the twists of both vehicles are from what the rows ask for, m/s, turns at an arm of 1 m; after
    /// [`Joint::learn`].
    pub fn residual(&self, twists: [Twist; 2]) -> f32 {
        let turns = self.turns[..self.count].iter().map(|turn| (turn.wanted(twists) * turn.compliance).abs());
        turns.fold(self.missing(twists).length(), f32::max)
    }

    fn missing(&self, [ahead, trailer]: [Twist; 2]) -> Vec3 {
        self.target - (self.point_velocity(1, trailer) - self.point_velocity(0, ahead))
    }
}

impl Turn {
    /// What is to be added to its impulse.
    fn wanted(&self, [ahead, trailer]: [Twist; 2]) -> f32 {
        let rate = (trailer[1] - ahead[1]).dot(self.axis);
        let free = self.impulse + (self.bias - self.softness * self.impulse - rate) / (self.compliance + self.softness);
        free.max(self.bounds[0]).min(self.bounds[1]) - self.impulse
    }
}

/// `twist` and so much of `change`.
pub(crate) fn add(twist: Twist, change: Twist, by: f32) -> Twist {
    [twist[0] + change[0] * by, twist[1] + change[1] * by]
}
