//! A body under the wheels of a vehicle: what these do to it, and how both answer.

use crate::hitch::joint::{Answer, Twist, add};
use crate::linear::{SpatialVector, Symmetric6, solve_any};
use crate::world::seam::Reaction;
use bevy_math::{DVec3, Mat3, Vec3};

/// A body under wheels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Under {
    /// The vehicle whose hull it is.
    pub car: Option<usize>,
    /// See [`crate::world::seam::Ground::body`].
    pub number: u64,
    /// Its centre of mass, m.
    pub centre: DVec3,
    /// Twist at the end of the step if no wheel pushes it.
    pub free: Twist,
    pub answer: Answer,
    /// What all wheels do to it, and all but those of the vehicle at hand, N s and N m s.
    pub pushed: Twist,
    pub others: Twist,
    /// Rows of the wheels of the vehicle at hand that stand on it, vehicle axes.
    pub rows: Symmetric6,
    /// How it settles under these: see [`Under::settle_under`].
    settles: Matrix,
    /// How it moves for the vehicle at hand: by this look, by the one in which least was missing, and by what comes of this one.
    pub at: Twist,
    pub nearest: Twist,
    pub comes: Twist,
    /// Newton's step from this look, the one at hand, and where that began.
    pub newton: Twist,
    pub step: Twist,
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

    /// What `reaction` is to it.
    pub fn feels(&self, reaction: &Reaction) -> Twist {
        [reaction.impulse, (reaction.point - self.centre).as_vec3().cross(reaction.impulse)]
    }

    /// How it moves by what pushes it, as it answers now.
    pub fn moved(&self) -> Twist {
        add(self.free, self.answer.to(self.pushed), 1.0)
    }

    /// By how much it moves otherwise than it was looked at.
    pub fn misses(&self) -> Twist {
        add(self.comes, self.at, -1.0)
    }

    /// Velocity of its `point` in this motion, m/s.
    pub fn speed_at(&self, point: DVec3, [linear, angular]: Twist) -> Vec3 {
        linear + angular.cross((point - self.centre).as_vec3())
    }

    /// A motion of the body counted about its own centre of mass, about `centre`.
    pub fn about(&self, centre: DVec3, [linear, angular]: Twist) -> Twist {
        [linear + angular.cross((centre - self.centre).as_vec3()), angular]
    }

    /// What of its motion is changed by an impulse at `centre`.
    pub fn moved_by(&self, centre: DVec3, [force, moment]: Twist) -> Twist {
        self.answer.to([force, moment + (centre - self.centre).as_vec3().cross(force)])
    }

    /// Takes the `rows` of the wheels of `car` on it: `1 + C A`, of what they do to it for how it moves.
    pub fn settle_under(&mut self, car: &Car, rows: Symmetric6) {
        self.rows = rows;
        self.settles = columns(|unit| {
            let [force, moment] = car.given(&self.rows, self.about(car.centre, unit));
            add(unit, self.moved_by(car.centre, [force, moment]), 1.0)
        });
    }

    /// How it would end the step if `car` went on as it does.
    pub fn alone(&self) -> Twist {
        solved(&self.settles, self.misses())
    }

    /// How it follows a change of the motion of `car`.
    pub fn follows(&self, car: &Car, change: Twist) -> Twist {
        solved(&self.settles, self.moved_by(car.centre, car.given(&self.rows, change)))
    }
}

/// Columns.
pub(crate) type Matrix = [[f32; 6]; 6];

/// The matrix of a linear function.
pub(crate) fn columns(of: impl Fn(Twist) -> Twist) -> Matrix {
    core::array::from_fn(|k| array(of(twist(core::array::from_fn(|i| f32::from(u8::from(i == k)))))))
}

/// `matrix⁻¹ right`; nothing if there is none.
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

/// Where a vehicle is: its centre of mass, and its axes.
pub(crate) struct Car {
    pub centre: DVec3,
    pub to_world: Mat3,
}

impl Car {
    /// Momentum that a motion about its centre gives by a `system` in its axes, in world axes as that.
    pub fn given(&self, system: &Symmetric6, motion: Twist) -> Twist {
        let to_vehicle = self.to_world.transpose();
        let [linear, angular] = motion.map(|part| to_vehicle * part);
        let (linear, angular) = system.times(SpatialVector::of(linear, angular)).parts();
        [linear, angular].map(|part| self.to_world * part)
    }
}
