//! Camera behind the car, in an orbit around it, or at its front left wheel.

use bevy::input::mouse::{AccumulatedMouseMotion, AccumulatedMouseScroll};
use bevy::prelude::*;
use skidpad_bevy::{Car, CarSignals, TowedBy};

use crate::player_input::{PlayerCar, Press};
use crate::scenery::HAZE_COLOUR;

/// View that the player has selected.
#[derive(Resource, Clone, Copy, Default, PartialEq, Eq)]
enum CameraView {
    /// Chase camera behind the car.
    #[default]
    Behind,
    /// Orbit around the car, which the mouse turns.
    Around,
    /// Camera to the left of the car and ahead of its origin.
    Wheel,
}

/// Orbit of the camera around the car, set by the mouse: angles (rad), and distance as a factor on the default
/// distance.
#[derive(Resource)]
struct Orbit {
    yaw: f32,
    pitch: f32,
    distance: f32,
}

/// Time constant with which the camera follows the heading of the car, s.
const HEADING_TIME_CONSTANT_S: f32 = 0.15;

/// Adds the camera, its view and its orbit. The camera is moved after all other transforms are set.
pub fn plugin(app: &mut App) {
    app.init_resource::<CameraView>()
        .insert_resource(Orbit { yaw: 2.4, pitch: 0.3, distance: 1.0 })
        .add_systems(Startup, spawn_camera)
        .add_systems(PostUpdate, (select_view, update_orbit, place_camera).chain().before(TransformSystems::Propagate));
}

/// Spawns the camera with linear fog from 150 m to 900 m in the colour of the haze.
fn spawn_camera(mut commands: Commands) {
    let falloff = FogFalloff::Linear { start: 150.0, end: 900.0 };
    commands.spawn((Camera3d::default(), Msaa::Sample4, DistanceFog { color: HAZE_COLOUR, falloff, ..default() }));
}

/// Selects the next view, once for each press of the camera key: behind, around, at the wheel, behind.
fn select_view(mut presses: MessageReader<Press>, mut view: ResMut<CameraView>) {
    for _ in presses.read().filter(|press| **press == Press::Camera) {
        *view = match *view {
            CameraView::Behind => CameraView::Around,
            CameraView::Around => CameraView::Wheel,
            CameraView::Wheel => CameraView::Behind,
        };
    }
}

/// Changes the orbit by the mouse. Motion with the left or right button held turns it, 0.005 rad per pixel; the pitch
/// stays between 0.02 and 1.5 rad. The wheel changes the distance by 10 % per notch, between 0.4 and 6 times the
/// default distance. A drag to the right lowers the yaw, a drag downwards raises the pitch.
fn update_orbit(
    motion: Res<AccumulatedMouseMotion>,
    scroll: Res<AccumulatedMouseScroll>,
    buttons: Res<ButtonInput<MouseButton>>,
    mut orbit: ResMut<Orbit>,
) {
    if buttons.any_pressed([MouseButton::Left, MouseButton::Right]) {
        orbit.yaw -= 0.005 * motion.delta.x;
        orbit.pitch = (orbit.pitch + 0.005 * motion.delta.y).clamp(0.02, 1.5);
    }
    orbit.distance = (orbit.distance * (1.0 - 0.1 * scroll.delta.y)).clamp(0.4, 6.0);
}

/// Heading of the camera in the last frame, horizontal unit vector; `None` before the first frame.
#[derive(Default)]
struct LastHeading(Option<Vec3>);

/// Places the camera for the selected view, points it at a target above the car, and sets the angle of view. Does
/// nothing without exactly one driven car and one camera.
///
/// Distances are proportional to the size of the car (half the diagonal of its hull, at least 1 m). Behind: the camera
/// follows the heading of the car as a first-order lag with [`HEADING_TIME_CONSTANT_S`] in real time, and is farther
/// away and higher with trailers. Around: the orbit of the mouse. Wheel: fixed on the car. The vertical angle of view
/// grows from 50° at rest to 68° at 60 m/s. The far plane is 3 km away.
fn place_camera(
    time: Res<Time<Real>>,
    view: Res<CameraView>,
    orbit: Res<Orbit>,
    mut heading: Local<LastHeading>,
    cars: Query<(&Car, &Transform, &CarSignals), With<PlayerCar>>,
    trailers: Query<&Car, With<TowedBy>>,
    mut cameras: Query<(&mut Transform, &mut Projection), (With<Camera3d>, Without<PlayerCar>)>,
) {
    let (Ok((car, car_transform, signals)), Ok((mut camera, mut projection))) = (cars.single(), cameras.single_mut())
    else {
        return;
    };
    // Size of the car, m.
    let size = car.0.parts().hull.half_extents.length().max(1.0);
    // Horizontal direction, with −z if the car points straight up or down.
    let horizontal = |forward: Vec3| Vec3::new(forward.x, 0.0, forward.z).normalize_or(Vec3::NEG_Z);
    let forward = horizontal(*car_transform.forward());
    // Share of the remaining angle that the heading turns in this frame: 1 − exp(−Δt / T).
    let lag_fraction = 1.0 - (-time.delta_secs() / HEADING_TIME_CONSTANT_S).exp();
    let lagged_heading = heading.0.map_or(forward, |previous| horizontal(previous.lerp(forward, lag_fraction)));
    heading.0 = Some(lagged_heading);
    // Sum of the sizes of all trailers, m.
    let trailer_size: f32 = trailers.iter().map(|car| car.0.parts().hull.half_extents.length()).sum();
    // Point above the car that the camera looks at, world, m.
    let target = car_transform.translation + Vec3::Y * 0.4 * size;
    // Position of the camera, world, m.
    let camera_position = match *view {
        CameraView::Behind => {
            // Behind and above the target.
            target - lagged_heading * (2.6 * size + 2.0 * trailer_size) + Vec3::Y * (0.75 * size + 1.4 * trailer_size)
        }
        CameraView::Around => {
            let orbit_direction = Quat::from_euler(EulerRot::YXZ, orbit.yaw, -orbit.pitch, 0.0) * Vec3::Z;
            target + orbit_direction * 3.0 * size * orbit.distance
        }
        // Axes of the car: to the left, above, ahead of its origin.
        CameraView::Wheel => car_transform.transform_point(Vec3::new(-1.5 * size, 0.35 * size, -1.1 * size)),
    };
    *camera = Transform::from_translation(camera_position).looking_at(target, Vec3::Y);
    if let Projection::Perspective(perspective) = &mut *projection {
        // Forward speed as a share of 60 m/s, at most 1.
        let speed_ratio = (signals.speed.abs() / 60.0).min(1.0);
        perspective.fov = (50.0 + 18.0 * speed_ratio).to_radians();
        perspective.far = 3_000.0;
    }
}
