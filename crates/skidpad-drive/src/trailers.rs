//! Trailers behind a towing vehicle.

use skidpad_core::state::{Placement, Tow};
use skidpad_core::{DMat3, DVec3, Mat3, Model, Quat, Scene, State, Vec3};

/// Returns the states of trailers of the models `trailers` in line behind a vehicle of the model `towing_model` in
/// `state`, each hitched to the vehicle before it. Each coupler point coincides with the hitch point before it.
///
/// The trailers are arranged as in [`State::train_at_rest`] (static loads of the train on level ground), then moved to
/// the plane on which the towing vehicle stands. This plane is fitted through its touching wheels by least squares; if
/// they define none, it follows from the pose of the vehicle. The trailers have the motion of the vehicle, continued as
/// one rigid body. If a hitch is higher or lower than at rest, the trailer pitches about its wheels, which stay on the
/// plane; the sine of the pitch is limited to 0.2.
///
/// `vehicle_index` is the index of the vehicle in its world. [`State::tow`] of the trailers assumes that their indices
/// follow it; change it if they have others. The list ends before the first trailer without a coupler or behind a
/// vehicle without a hitch.
pub fn place_trailers_behind(
    towing_model: &Model,
    state: &State,
    vehicle_index: u32,
    trailers: &[&Model],
) -> Vec<State> {
    // Forward speed, m/s.
    let speed = (state.rotation.inverse() * state.velocity).dot(Vec3::X);
    let placement = Placement { speed, ..Placement::default() };
    let models: Vec<&Model> = core::iter::once(towing_model).chain(trailers.iter().copied()).collect();
    let mut train = State::train_at_rest(&models, vehicle_index, &Scene::flat(), &placement).into_iter();
    let Some(towing_rest_state) = train.next() else { return Vec::new() };
    let plane =
        Plane::fit_below(towing_model, state).unwrap_or_else(|| Plane::from_rest_pose(state, &towing_rest_state));
    // State of the vehicle ahead of the next trailer.
    let mut state_ahead = state.clone();
    // Returns the state of the trailer `model_pair[1]` behind the vehicle `model_pair[0]`, and makes it the vehicle
    // ahead; `None` ends the list.
    let place_next = |(model_pair, rest_state): (&[&Model], State)| {
        let tow = rest_state.tow?;
        let (hitch, coupler) = (model_pair[0].parts().hitch?.point, model_pair[1].parts().coupler?.point);
        // Hitch point of the vehicle ahead, world, m.
        let hitch_point = state_ahead.position + (state_ahead.rotation * hitch).as_dvec3();
        // Height of the hitch above its height at rest, m.
        let hitch_rise =
            plane.height(hitch_point) - (rest_state.position + (rest_state.rotation * coupler).as_dvec3()).z as f32;
        // A raised coupler pitches the nose up, which is negative.
        let pitch =
            -(hitch_rise / axle_distance(model_pair[1])).clamp(-MAX_TRAILER_PITCH_SINE, MAX_TRAILER_PITCH_SINE).asin();
        let rotation = (plane.to_world * rest_state.rotation * Quat::from_rotation_y(pitch)).normalize();
        let position = hitch_point - (rotation * coupler).as_dvec3();
        // Motion of the towing vehicle, continued as one rigid body.
        let velocity = state.velocity + state.angular_velocity.cross((position - state.position).as_vec3());
        state_ahead = State {
            position,
            rotation,
            velocity,
            previous_velocity: velocity,
            angular_velocity: state.angular_velocity,
            tow: Some(Tow { force: plane.to_world * tow.force, ..tow }),
            ..rest_state
        };
        Some(state_ahead.clone())
    };
    models.windows(2).zip(train).map_while(place_next).collect()
}

/// Limit of the sine of a trailer's pitch relative to the plane. A larger pitch means that the towing vehicle does not
/// stand on the plane.
const MAX_TRAILER_PITCH_SINE: f32 = 0.2;

/// Returns the longitudinal distance between the coupler of a trailer (x = 0 without one) and the mean position of its
/// wheels, m, > 0.
fn axle_distance(trailer: &Model) -> f32 {
    let wheels = trailer.wheels();
    let mean_wheel_x = wheels.iter().map(|wheel| wheel.contact.x).sum::<f32>() / wheels.len() as f32;
    let coupler_x = trailer.parts().coupler.map_or(0.0, |coupler| coupler.point.x);
    // The bound avoids a division by 0.
    (coupler_x - mean_wheel_x).abs().max(f32::MIN_POSITIVE)
}

/// Plane on which a vehicle stands.
struct Plane {
    /// Rotation from the axes of level ground, with x in the heading of the vehicle, to world axes.
    to_world: Quat,
    /// Point of the plane, world, m.
    point: DVec3,
}

impl Plane {
    /// Fits a plane `z = a + b x + c y` in vehicle axes through the contact points of the touching wheels by least
    /// squares, and converts it to world axes. The x axis of its frame is the heading of the vehicle in the plane.
    /// Returns `None` if the points define no plane (fewer than three, or in one line), or if the plane is
    /// perpendicular to the heading.
    fn fit_below(model: &Model, state: &State) -> Option<Self> {
        let touching_wheels = model.wheels().iter().zip(&state.wheels).filter(|(_, wheel)| wheel.contact);
        let points =
            touching_wheels.map(|(wheel_spec, wheel)| (wheel_spec.contact + Vec3::Z * wheel.compression).as_dvec3());
        // Least squares fit of z = a + b x + c y: normal equations with the rows (1, x, y).
        let (matrix, sum) = points.fold((DMat3::ZERO, DVec3::ZERO), |(matrix, sum), p| {
            let row = DVec3::new(1.0, p.x, p.y); // `row.y` is x, `row.z` is y
            (matrix + DMat3::from_cols(row, row * row.y, row * row.z), sum + row * p.z)
        });
        // All wheelbases and track widths are 1 m within a factor of ten, so that one threshold fits all vehicles.
        if matrix.determinant() < 1e-3 {
            return None;
        }
        let [a, b, c] = (matrix.inverse() * sum).to_array();
        // Normal of z = a + b x + c y, world axes.
        let normal = state.rotation * Vec3::new(-b as f32, -c as f32, 1.0).normalize();
        let forward = (state.rotation * Vec3::X).reject_from(normal).try_normalize()?;
        let to_world = Quat::from_mat3(&Mat3::from_cols(forward, normal.cross(forward), normal));
        // Point of the plane on the z axis of the vehicle.
        let point = state.position + state.rotation.as_dquat() * DVec3::new(0.0, 0.0, a);
        Some(Self { to_world, point })
    }

    /// Returns the plane for a vehicle in `state` whose wheels touch nothing. Relative to this plane the vehicle has
    /// the pose that it has in `rest_state` relative to level ground at height 0.
    fn from_rest_pose(state: &State, rest_state: &State) -> Self {
        let to_world = (state.rotation * rest_state.rotation.inverse()).normalize();
        Self { to_world, point: state.position - (to_world * rest_state.position.as_vec3()).as_dvec3() }
    }

    /// Returns the height of `point` above the plane, m.
    fn height(&self, point: DVec3) -> f32 {
        (point - self.point).dot((self.to_world * Vec3::Z).as_dvec3()) as f32
    }
}
