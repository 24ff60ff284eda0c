//! A body under the wheels of a vehicle: wheel impulses on the body, and the coupled linear response of body and
//! vehicle.

use crate::hitch::joint::{BodyResponse, Twist, add_scaled};
use crate::port::Reaction;
use bevy_math::{DVec3, Mat3, Vec3};
use skidpad_simd::linear::{SpatialVector, Symmetric6, solve_dense};

/// A body under wheels, with its state in the Newton iteration of the vehicle that is being solved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SupportingBody {
    /// Vehicle whose hull is the body, if that vehicle is stepped; `None` for other bodies.
    pub car: Option<usize>,
    /// Number of the body in its world: [`crate::port::Ground::body`].
    pub body_number: u64,
    /// Centre of mass at the start of the step, world, m.
    pub centre: DVec3,
    /// Twist at the end of the step if no wheel pushes the body.
    pub free_twist: Twist,
    /// Response of the body (change of its twist per impulse), for the linearization of this iteration.
    pub response: BodyResponse,
    /// Impulse (N s) and angular impulse about the centre (N m s) of all wheels on the body.
    pub wheel_impulse: Twist,
    /// Impulse and angular impulse of all wheels but those of the vehicle being solved, N s and N m s.
    pub other_impulse: Twist,
    /// Linearized rows A of those wheels of the solved vehicle that are on this body, vehicle axes.
    pub wheel_rows: Symmetric6,
    /// Matrix `1 + C A` with the response C of the body; see [`SupportingBody::set_wheel_rows`].
    coupled_matrix: Matrix6,
    /// Twist at the end of the step that the present iteration assumes.
    pub assumed_twist: Twist,
    /// Assumed twist of the iteration with the smallest residual.
    pub best_twist: Twist,
    /// Twist at the end of the step that results from the impulses of the present iteration.
    pub resulting_twist: Twist,
    /// Newton step from the present iterate.
    pub newton_step: Twist,
    /// Step of the current line search.
    pub search_step: Twist,
    /// Twist at the start of the current line search.
    pub search_start: Twist,
}

impl SupportingBody {
    /// Returns a body without wheel impulses. `free_twist`, its twist at the end of the step without wheels, is also
    /// its assumed, best and resulting twist. Rows and steps are zero.
    pub fn new(car: Option<usize>, body_number: u64, centre: DVec3, free_twist: Twist, response: BodyResponse) -> Self {
        let zero_twist = [Vec3::ZERO; 2]; // impulses and steps start at zero
        let (wheel_impulse, other_impulse, newton_step, search_step) = (zero_twist, zero_twist, zero_twist, zero_twist);
        let (wheel_rows, coupled_matrix) = (Symmetric6::default(), [[0.0; 6]; 6]);
        Self {
            car,
            body_number,
            centre,
            free_twist,
            response,
            wheel_impulse,
            other_impulse,
            wheel_rows,
            coupled_matrix,
            assumed_twist: free_twist,
            best_twist: free_twist,
            resulting_twist: free_twist,
            newton_step,
            search_step,
            search_start: free_twist,
        }
    }

    /// Returns the impulse (N s) and angular impulse about the centre (N m s) of `reaction` on the body.
    pub fn impulse_about_centre(&self, reaction: &Reaction) -> Twist {
        [reaction.impulse, (reaction.point - self.centre).as_vec3().cross(reaction.impulse)]
    }

    /// Returns the twist at the end of the step under the present wheel impulses: free twist plus linear response.
    /// Stores nothing.
    pub fn predicted_twist(&self) -> Twist {
        add_scaled(self.free_twist, self.response.twist_change(self.wheel_impulse), 1.0)
    }

    /// Returns the residual: the resulting twist less the assumed one.
    pub fn residual(&self) -> Twist {
        add_scaled(self.resulting_twist, self.assumed_twist, -1.0)
    }

    /// Returns the velocity of `point` (world, m) of the body for the given twist, m/s.
    pub fn velocity_at(&self, point: DVec3, [linear, angular]: Twist) -> Vec3 {
        linear + angular.cross((point - self.centre).as_vec3())
    }

    /// Converts a twist of the body from its own centre of mass to the point `centre` (world, m): the velocity of the
    /// body there, and the same angular velocity.
    pub fn twist_about(&self, centre: DVec3, [linear, angular]: Twist) -> Twist {
        [linear + angular.cross((centre - self.centre).as_vec3()), angular]
    }

    /// Returns the change of the twist of the body (about its own centre of mass) by an impulse (N s) at `centre`
    /// (world, m) and an angular impulse (N m s).
    pub fn twist_change(&self, centre: DVec3, [impulse, moment]: Twist) -> Twist {
        self.response.twist_change([impulse, moment + (centre - self.centre).as_vec3().cross(impulse)])
    }

    /// Stores `wheel_rows`, the linearized rows A of the wheels of `car` on the body (vehicle axes), and computes the
    /// matrix `1 + C A`, where C is the response of the body. A maps a change of the body's twist, taken at the centre
    /// of `car`, to the change of the wheel impulse on the vehicle. The body receives the opposite impulse, hence the
    /// positive sign.
    pub fn set_wheel_rows(&mut self, car: &VehiclePose, wheel_rows: Symmetric6) {
        self.wheel_rows = wheel_rows;
        self.coupled_matrix = matrix_of(|unit| {
            let [impulse, moment] = car.apply_system(&self.wheel_rows, self.twist_about(car.centre, unit));
            add_scaled(unit, self.twist_change(car.centre, [impulse, moment]), 1.0)
        });
    }

    /// Returns the Newton step of the body if the motion of `car` stays unchanged: `(1 + C A)⁻¹ r` with the residual r;
    /// zero if the matrix is singular.
    pub fn uncoupled_newton_step(&self) -> Twist {
        solve_or_zero(&self.coupled_matrix, self.residual())
    }

    /// Returns the change of the twist of the body that follows from a `change` of the twist of `car`: `(1 + C A)⁻¹ C A
    /// change`; zero if the matrix is singular.
    pub fn induced_change(&self, car: &VehiclePose, change: Twist) -> Twist {
        solve_or_zero(&self.coupled_matrix, self.twist_change(car.centre, car.apply_system(&self.wheel_rows, change)))
    }
}

/// 6 × 6 matrix, as columns.
pub(crate) type Matrix6 = [[f32; 6]; 6];

/// Returns the matrix of a linear `function`: column k is its value for the k-th unit twist (three linear, then three
/// angular).
pub(crate) fn matrix_of(function: impl Fn(Twist) -> Twist) -> Matrix6 {
    core::array::from_fn(|column| {
        twist_to_array(function(twist_from_array(core::array::from_fn(|row| f32::from(u8::from(row == column))))))
    })
}

/// Returns `matrix⁻¹ right_side` for a `matrix` given by columns; zero if it is singular.
pub(crate) fn solve_or_zero(matrix: &Matrix6, right_side: Twist) -> Twist {
    let rows = core::array::from_fn(|row| core::array::from_fn(|column| matrix[column][row]));
    solve_dense(rows, twist_to_array(right_side)).map_or([Vec3::ZERO; 2], twist_from_array)
}

/// Returns the six components of a twist, linear ones first.
fn twist_to_array([v, w]: Twist) -> [f32; 6] {
    [v.x, v.y, v.z, w.x, w.y, w.z]
}

/// Returns the twist of six components, linear ones first.
fn twist_from_array([x, y, z, a, b, c]: [f32; 6]) -> Twist {
    [Vec3::new(x, y, z), Vec3::new(a, b, c)]
}

/// Pose of a vehicle: its centre of mass (world, m) and the rotation from its axes to world axes.
pub(crate) struct VehiclePose {
    /// Centre of mass, world, m.
    pub centre: DVec3,
    /// Rotation from vehicle axes to world axes.
    pub to_world: Mat3,
}

impl VehiclePose {
    /// Returns the impulse (N s) and angular impulse (N m s) that `system`, a 6 × 6 matrix in vehicle axes, gives for a
    /// twist about the centre of mass. Twist and result are in world axes.
    pub fn apply_system(&self, system: &Symmetric6, twist: Twist) -> Twist {
        let to_vehicle = self.to_world.transpose();
        let [linear, angular] = twist.map(|component| to_vehicle * component);
        let (linear, angular) = system.mul_vector(SpatialVector::from_vec3s(linear, angular)).parts();
        [linear, angular].map(|component| self.to_world * component)
    }
}
