//! Trailers behind a towing vehicle.

use skidpad_core::state::{Placement, Tow};
use skidpad_core::{DMat3, DVec3, Mat3, Model, Quat, Scene, State, Vec3};

/// Returns the states of trailers of the models `trailers` in line behind a vehicle of the model `ahead` in `state`, each
/// hitched to the one before. Each hitch point coincides with the coupler point behind it.
///
/// The trailers are arranged as [`State::train_at_rest`] does on level ground, with the static loads of the train, but on the
/// plane on which the vehicle stands, and with its motion as one rigid body. If a hitch is higher or lower than at rest, the
/// trailer pitches about its wheels, which stay on the plane; the sine of the pitch is limited to 0.2.
///
/// `number` is the index of the vehicle in its world. [`State::tow`] of the trailers assumes that their indices follow it;
/// change it if they have others. The list ends before the first trailer without a coupler or behind a vehicle without a hitch.
pub fn place_trailers_behind(ahead: &Model, state: &State, number: u32, trailers: &[&Model]) -> Vec<State> {
    // Forward speed, m/s.
    let speed = (state.rotation.inverse() * state.velocity).dot(Vec3::X);
    let placement = Placement { speed, ..Placement::default() };
    let models: Vec<&Model> = core::iter::once(ahead).chain(trailers.iter().copied()).collect();
    let mut train = State::train_at_rest(&models, number, &Scene::flat(), &placement).into_iter();
    let Some(first) = train.next() else { return Vec::new() };
    let plane = Plane::fit_below(ahead, state).unwrap_or_else(|| Plane::from_rest_pose(state, &first));
    let mut last = state.clone();
    let next = |(pair, behind): (&[&Model], State)| {
        let tow = behind.tow?;
        let (hitch, coupler) = (pair[0].parts().hitch?.point, pair[1].parts().coupler?.point);
        // Hitch point of the vehicle ahead, world, m.
        let joined = last.position + (last.rotation * hitch).as_dvec3();
        // Height of the hitch above its height at rest, m.
        let raised = plane.height(joined) - (behind.position + (behind.rotation * coupler).as_dvec3()).z as f32;
        let pitch = -(raised / axle_distance(pair[1])).clamp(-MAX_TRAILER_PITCH_SINE, MAX_TRAILER_PITCH_SINE).asin();
        let rotation = (plane.turn * behind.rotation * Quat::from_rotation_y(pitch)).normalize();
        let position = joined - (rotation * coupler).as_dvec3();
        let velocity = state.velocity + state.angular.cross((position - state.position).as_vec3());
        last = State {
            position,
            rotation,
            velocity,
            previous_velocity: velocity,
            angular: state.angular,
            tow: Some(Tow { force: plane.turn * tow.force, ..tow }),
            ..behind
        };
        Some(last.clone())
    };
    models.windows(2).zip(train).map_while(next).collect()
}

/// Limit of the sine of a trailer's pitch relative to the plane. A larger pitch means that the towing vehicle does not stand on
/// the plane.
const MAX_TRAILER_PITCH_SINE: f32 = 0.2;

/// Returns the longitudinal distance between the coupler of a trailer and the mean position of its wheels, m, > 0.
fn axle_distance(trailer: &Model) -> f32 {
    let wheels = trailer.wheels();
    let middle = wheels.iter().map(|wheel| wheel.contact.x).sum::<f32>() / wheels.len() as f32;
    let coupler = trailer.parts().coupler.map_or(0.0, |coupler| coupler.point.x);
    (coupler - middle).abs().max(f32::MIN_POSITIVE)
}

/// Plane on which a vehicle stands.
struct Plane {
    /// Rotation from the axes of level ground, with x in the heading of the vehicle, to world axes.
    turn: Quat,
    /// Point of the plane, world, m.
    point: DVec3,
}

impl Plane {
    /// Fits a plane through the contact points of the touching wheels by least squares, in vehicle axes. Returns `None` if they
    /// do not define one: fewer than three, in one line, or a plane perpendicular to the heading.
    fn fit_below(model: &Model, state: &State) -> Option<Self> {
        let touching = model.wheels().iter().zip(&state.wheels).filter(|(_, wheel)| wheel.contact);
        let points = touching.map(|(of, wheel)| (of.contact + Vec3::Z * wheel.compression).as_dvec3());
        // Least squares fit of z = a + b x + c y.
        let (matrix, sum) = points.fold((DMat3::ZERO, DVec3::ZERO), |(matrix, sum), at| {
            let row = DVec3::new(1.0, at.x, at.y);
            (matrix + DMat3::from_cols(row, row * row.y, row * row.z), sum + row * at.z)
        });
        // All wheelbases and track widths are 1 m within a factor of ten, so that one threshold fits all vehicles.
        if matrix.determinant() < 1e-3 {
            return None;
        }
        let plane = matrix.inverse() * sum;
        // Normal of z = a + b x + c y, world axes.
        let up = state.rotation * Vec3::new(-plane.y as f32, -plane.z as f32, 1.0).normalize();
        let ahead = (state.rotation * Vec3::X).reject_from(up).try_normalize()?;
        let turn = Quat::from_mat3(&Mat3::from_cols(ahead, up.cross(ahead), up));
        let point = state.position + state.rotation.as_dquat() * DVec3::new(0.0, 0.0, plane.x);
        Some(Self { turn, point })
    }

    /// Returns the plane relative to which a vehicle in `state` is as at `rest` on level ground at height 0, for a vehicle
    /// whose wheels touch nothing.
    fn from_rest_pose(state: &State, rest: &State) -> Self {
        let turn = (state.rotation * rest.rotation.inverse()).normalize();
        Self { turn, point: state.position - (turn * rest.position.as_vec3()).as_dvec3() }
    }

    /// Returns the height of `place` above the plane, m.
    fn height(&self, place: DVec3) -> f32 {
        (place - self.point).dot((self.turn * Vec3::Z).as_dvec3()) as f32
    }
}
