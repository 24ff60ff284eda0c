//! Trailers behind the vehicle that is to tow them.

use skidpad_core::state::{Placement, Tow};
use skidpad_core::{DMat3, DVec3, Mat3, Model, Quat, Scene, State, Vec3};

/// Trailers of the models `trailers` in line behind a vehicle of the model `ahead` in `state`, each hitched to the one before it: as
/// [`State::train_at_rest`] puts them on level ground, each under what rests on it, but on the plane on which the vehicle stands, moving with
/// it. One whose hitch is higher or lower than at rest, since it squats, lifts or lowers the coupler of the trailer, whose wheels stay on that
/// plane.
///
/// In the world the vehicle has the `number`; [`State::tow`] of the trailers is told for those that follow it, so put other numbers in
/// if they have others. It ends before the first that cannot be hitched, since it or what is ahead of it has nothing to be hitched by.
pub fn hitched(ahead: &Model, state: &State, number: u32, trailers: &[&Model]) -> Vec<State> {
    let speed = (state.rotation.inverse() * state.velocity).dot(Vec3::X);
    let placement = Placement { speed, ..Placement::default() };
    let models: Vec<&Model> = core::iter::once(ahead).chain(trailers.iter().copied()).collect();
    let mut train = State::train_at_rest(&models, number, &Scene::flat(), &placement).into_iter();
    let Some(first) = train.next() else { return Vec::new() };
    let plane = Plane::under(ahead, state).unwrap_or_else(|| Plane::of(state, &first));
    let mut last = state.clone();
    let next = |(pair, behind): (&[&Model], State)| {
        let tow = behind.tow?;
        let (hitch, coupler) = (pair[0].parts().hitch?.point, pair[1].parts().coupler?.point);
        let joined = last.position + (last.rotation * hitch).as_dvec3();
        let raised = plane.height(joined) - (behind.position + (behind.rotation * coupler).as_dvec3()).z as f32;
        let pitch = -(raised / axle_distance(pair[1])).clamp(-MOST_SINE, MOST_SINE).asin();
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

/// Sine of the largest pitch of a trailer on the plane: beyond it what tows it does not stand.
const MOST_SINE: f32 = 0.2;

/// From the coupler of a trailer to the middle of its axles, m, along its heading.
fn axle_distance(trailer: &Model) -> f32 {
    let wheels = trailer.wheels();
    let middle = wheels.iter().map(|wheel| wheel.contact.x).sum::<f32>() / wheels.len() as f32;
    let coupler = trailer.parts().coupler.map_or(0.0, |coupler| coupler.point.x);
    (coupler - middle).abs().max(f32::MIN_POSITIVE)
}

/// What a vehicle stands on.
struct Plane {
    /// Axes of level ground, x where the vehicle heads, to the world's.
    turn: Quat,
    /// A point of it.
    point: DVec3,
}

impl Plane {
    /// That through what the wheels touch; `None` of a vehicle that leaves one open.
    fn under(model: &Model, state: &State) -> Option<Self> {
        let touching = model.wheels().iter().zip(&state.wheels).filter(|(_, wheel)| wheel.contact);
        let points = touching.map(|(of, wheel)| (of.contact + Vec3::Z * wheel.compression).as_dvec3());
        // Of least squares: z = a + b x + c y.
        let (matrix, sum) = points.fold((DMat3::ZERO, DVec3::ZERO), |(matrix, sum), at| {
            let row = DVec3::new(1.0, at.x, at.y);
            (matrix + DMat3::from_cols(row, row * row.y, row * row.z), sum + row * at.z)
        });
        // Lengths of all wheel bases and tracks are 1 m within a power of ten.
        if matrix.determinant() < 1e-3 {
            return None;
        }
        let plane = matrix.inverse() * sum;
        let up = state.rotation * Vec3::new(-plane.y as f32, -plane.z as f32, 1.0).normalize();
        let ahead = (state.rotation * Vec3::X).reject_from(up).try_normalize()?;
        let turn = Quat::from_mat3(&Mat3::from_cols(ahead, up.cross(ahead), up));
        let point = state.position + state.rotation.as_dquat() * DVec3::new(0.0, 0.0, plane.x);
        Some(Self { turn, point })
    }

    /// That on which a vehicle in `state` stands as it does at `rest` on level ground.
    fn of(state: &State, rest: &State) -> Self {
        let turn = (state.rotation * rest.rotation.inverse()).normalize();
        Self { turn, point: state.position - (turn * rest.position.as_vec3()).as_dvec3() }
    }

    /// How far `place` is above it, m.
    fn height(&self, place: DVec3) -> f32 {
        (place - self.point).dot((self.turn * Vec3::Z).as_dvec3()) as f32
    }
}
