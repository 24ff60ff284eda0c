//! A body under the wheels of a vehicle: wheel impulses on the body, and the coupled linear response of body and vehicle.

use crate::hitch::joint::{Answer, Twist, add};
use crate::linear::{SpatialVector, Symmetric6, solve_any};
use crate::world::seam::Reaction;
use bevy_math::{DVec3, Mat3, Vec3};

/// A body under wheels, with its state in the Newton iteration of the vehicle that is being solved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Under {
    /// Vehicle whose hull is the body, if that vehicle is stepped; `None` for other bodies.
    pub car: Option<usize>,
    /// Number of the body in its world: [`crate::world::seam::Ground::body`].
    pub number: u64,
    /// Centre of mass at the start of the step, world, m.
    pub centre: DVec3,
    /// Twist at the end of the step if no wheel pushes the body.
    pub free: Twist,
    /// Response of the body to impulses, for the linearization of this iteration.
    pub answer: Answer,
    /// Impulse (N s) and angular impulse about the centre (N m s) of all wheels on the body.
    pub pushed: Twist,
    /// Impulse and angular impulse of all wheels but those of the vehicle being solved, N s and N m s.
    pub others: Twist,
    /// Linearized rows of the wheels on the body of the vehicle being solved, vehicle axes.
    pub rows: Symmetric6,
    /// Matrix `1 + C A` of these rows: see [`Under::settle_under`].
    settles: Matrix,
    /// Twist at the end of the step that the present iteration assumes.
    pub at: Twist,
    /// Assumed twist of the iteration with the smallest residual.
    pub nearest: Twist,
    /// Twist at the end of the step that results from the impulses of the present iteration.
    pub comes: Twist,
    /// Newton step from the present iterate.
    pub newton: Twist,
    /// Step of the current line search.
    pub step: Twist,
    /// Twist at the start of the current line search.
    pub begun: Twist,
}

impl Under {
    pub fn new(car: Option<usize>, number: u64, centre: DVec3, free: Twist, answer: Answer) -> Self {
        let none = [Vec3::ZERO; 2];
        let (pushed, others, newton, step) = (none, none, none, none);
        let (rows, settles) = (Symmetric6::default(), [[0.0; 6]; 6]);
        Self {
            car,
            number,
            centre,
            free,
            answer,
            pushed,
            others,
            rows,
            settles,
            at: free,
            nearest: free,
            comes: free,
            newton,
            step,
            begun: free,
        }
    }

    /// Returns the impulse (N s) and angular impulse about the centre (N m s) of `reaction` on the body.
    pub fn feels(&self, reaction: &Reaction) -> Twist {
        [reaction.impulse, (reaction.point - self.centre).as_vec3().cross(reaction.impulse)]
    }

    /// Returns the twist at the end of the step under the present impulses, by the present linear response.
    pub fn moved(&self) -> Twist {
        add(self.free, self.answer.to(self.pushed), 1.0)
    }

    /// Returns the residual: the resulting twist less the assumed one.
    pub fn misses(&self) -> Twist {
        add(self.comes, self.at, -1.0)
    }

    /// Returns the velocity of `point` (world, m) of the body for the given twist, m/s.
    pub fn speed_at(&self, point: DVec3, [linear, angular]: Twist) -> Vec3 {
        linear + angular.cross((point - self.centre).as_vec3())
    }

    /// Converts a twist of the body from its own centre of mass to the point `centre` (world, m).
    pub fn about(&self, centre: DVec3, [linear, angular]: Twist) -> Twist {
        [linear + angular.cross((centre - self.centre).as_vec3()), angular]
    }

    /// Returns the change of the twist of the body by an impulse (N s) at `centre` (world, m) and an angular impulse (N m s).
    pub fn moved_by(&self, centre: DVec3, [force, moment]: Twist) -> Twist {
        self.answer.to([force, moment + (centre - self.centre).as_vec3().cross(force)])
    }

    /// Stores `rows`, the linearized rows A of the wheels of `car` on the body, and computes `1 + C A`, where C is the response of the
    /// body.
    pub fn settle_under(&mut self, car: &Car, rows: Symmetric6) {
        self.rows = rows;
        self.settles = columns(|unit| {
            let [force, moment] = car.given(&self.rows, self.about(car.centre, unit));
            add(unit, self.moved_by(car.centre, [force, moment]), 1.0)
        });
    }

    /// Returns the Newton step of the body if the motion of `car` stays unchanged.
    pub fn alone(&self) -> Twist {
        solved(&self.settles, self.misses())
    }

    /// Returns the change of the twist of the body that follows from a `change` of the twist of `car`.
    pub fn follows(&self, car: &Car, change: Twist) -> Twist {
        solved(&self.settles, self.moved_by(car.centre, car.given(&self.rows, change)))
    }
}

/// 6 × 6 matrix, as columns.
pub(crate) type Matrix = [[f32; 6]; 6];

/// Returns the matrix of the linear function `of`.
pub(crate) fn columns(of: impl Fn(Twist) -> Twist) -> Matrix {
    core::array::from_fn(|k| array(of(twist(core::array::from_fn(|i| f32::from(u8::from(i == k)))))))
}

/// Returns `matrix⁻¹ right`, or zero if the matrix is singular.
pub(crate) fn solved(matrix: &Matrix, right: Twist) -> Twist {
    let rows = core::array::from_fn(|i| core::array::from_fn(|k| matrix[k][i]));
    solve_any(rows, array(right)).map_or([Vec3::ZERO; 2], twist)
}

fn array([v, w]: Twist) -> [f32; 6] {
    [v.x, v.y, v.z, w.x, w.y, w.z]
}

fn twist([x, y, z, a, b, c]: [f32; 6]) -> Twist {
    [Vec3::new(x, y, z), Vec3::new(a, b, c)]
}

/// Pose of a vehicle: its centre of mass (world, m) and the rotation from its axes to world axes.
pub(crate) struct Car {
    pub centre: DVec3,
    pub to_world: Mat3,
}

impl Car {
    /// Returns the impulse and angular impulse that `system`, in vehicle axes, gives for a twist about the centre of mass. Both twist and
    /// result are in world axes.
    pub fn given(&self, system: &Symmetric6, motion: Twist) -> Twist {
        let to_vehicle = self.to_world.transpose();
        let [linear, angular] = motion.map(|part| to_vehicle * part);
        let (linear, angular) = system.times(SpatialVector::of(linear, angular)).parts();
        [linear, angular].map(|part| self.to_world * part)
    }
}
