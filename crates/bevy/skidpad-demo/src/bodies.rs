//! Meshes of cars from their models: a box of the size of the hull with a cabin, and wheels of the modelled radius.

use bevy::prelude::*;
use skidpad_bevy::core::Model;
use skidpad_bevy::core::model::Hull;
use skidpad_bevy::{BEVY_AXES, Car, Wheel};

use crate::player_input::PlayerCar;

/// Adds meshes to new cars and wheels, before their transforms are propagated.
pub fn plugin(app: &mut App) {
    app.add_systems(PostUpdate, (add_car_meshes, add_wheel_meshes).before(TransformSystems::Propagate));
}

/// Colours of a car.
#[derive(Clone, Copy)]
pub struct Paint {
    pub body: Color,
    pub tyre: Color,
}

impl Paint {
    const PLAYER_CAR: Self = Self { body: Color::srgb(0.75, 0.08, 0.06), tyre: Color::srgb(0.03, 0.03, 0.03) };
    const OTHER_CAR: Self = Self { body: Color::srgb(0.85, 0.83, 0.78), ..Self::PLAYER_CAR };
    /// Translucent colours of the ghost.
    pub const GHOST_CAR: Self =
        Self { body: Color::srgba(0.1, 0.5, 0.9, 0.35), tyre: Color::srgba(0.1, 0.3, 0.6, 0.45) };

    /// Returns the material of a colour, which is translucent if the alpha of the colour is below 1.
    pub fn material(colour: Color) -> StandardMaterial {
        let alpha_mode = if colour.alpha() < 1.0 { AlphaMode::Blend } else { AlphaMode::Opaque };
        StandardMaterial { base_color: colour, alpha_mode, perceptual_roughness: 0.5, ..default() }
    }
}

/// Part of a car body, placed in the axes of the car's entity.
pub struct Part {
    pub mesh: Mesh,
    pub transform: Transform,
    pub is_glass: bool,
}

const GLASS_COLOUR: Color = Color::srgb(0.06, 0.08, 0.11);

/// Returns the parts of the hull and cabin of a car of `model`, in the axes of its entity (x right, y up, −z forward):
/// the parts of the lower body (`lower_body`, narrower at the wheels), then cabin and roof or the windscreen.
///
/// A driven vehicle whose hull is lower than 0.45 of its length gets a lower body of 0.55 of the height, a cabin of
/// glass and a roof. Another driven vehicle is one box with a windscreen at the front. A trailer is one box.
pub fn body(model: &Model) -> Vec<Part> {
    let Hull { centre, half_extents } = model.parts().hull;
    let hull_centre = BEVY_AXES.to_world(centre + Vec3::Z * model.parts().centre_height);
    let size = BEVY_AXES.to_world(half_extents).abs() * 2.0;
    // A driven vehicle that is low for its length is drawn with a bonnet and a boot, others as one box.
    let is_car = size.y < 0.45 * size.z && model.is_driven();
    // Height of the lower body as a share of the height of the hull.
    let lower_body_ratio = if is_car { 0.55 } else { 1.0 };
    // Box with `size_ratio` of the size of the hull. The centre is `offset_ratio` times that size from the hull's
    // centre.
    let part = |size_ratio: Vec3, offset_ratio: Vec3, is_glass| Part {
        mesh: Cuboid::from_size(size * size_ratio).into(),
        transform: Transform::from_translation(hull_centre + size * offset_ratio),
        is_glass,
    };
    // Heights of the lower body, m.
    let [bottom, top] = [-0.5, lower_body_ratio - 0.5].map(|height_ratio| hull_centre.y + size.y * height_ratio);
    let mut parts = lower_body(model, hull_centre, size, [bottom, top]);
    if is_car {
        // Cabin of glass, then the roof: ratios of size and offset, and whether the part is glass.
        parts.push(part(Vec3::new(0.8, 0.44, 0.48), Vec3::new(0.0, 0.27, 0.06), true));
        parts.push(part(Vec3::new(0.78, 0.02, 0.4), Vec3::new(0.0, 0.495, 0.06), false));
    } else if model.is_driven() {
        // Windscreen at the front.
        parts.push(part(Vec3::new(0.9, 0.35, 0.02), Vec3::new(0.0, 0.2, -0.5), true));
    }
    parts
}

/// Width of a drawn wheel as a share of its radius.
const WHEEL_WIDTH_RATIO: f32 = 0.6;

/// Half length of a wheel arch, and its height above the wheel's centre, as a share of the wheel's radius.
const ARCH_SIZE_RATIO: f32 = 1.2;

/// Returns the hull between the heights `bottom` and `top` (m) as boxes, with arches for the wheels. `hull_centre` and
/// `size` are those of the whole hull, m.
///
/// The part above the arches is a box of full width. Below it, a narrow box of full length lies between the
/// wheels; its width is at least 0.3 of the hull's. Boxes of full width fill the length in front of, between and behind
/// the arches. Boxes without extent are omitted.
fn lower_body(model: &Model, hull_centre: Vec3, size: Vec3, [bottom, top]: [f32; 2]) -> Vec<Part> {
    // Contact point and radius of each wheel, m.
    let wheels: Vec<(Vec3, f32)> =
        model.wheels().iter().map(|wheel| (BEVY_AXES.to_world(wheel.contact), wheel.radius)).collect();
    // Height of the highest arch, m. The contact point is one radius below the wheel's centre.
    let arch_height = wheels.iter().map(|(_, radius)| (1.0 + ARCH_SIZE_RATIO) * radius).fold(bottom, f32::max).min(top);
    // Half width inside of each wheel, with a gap of a tenth of its radius, m.
    let inner_half_widths =
        wheels.iter().map(|(contact_point, radius)| contact_point.x.abs() - (0.5 * WHEEL_WIDTH_RATIO + 0.1) * radius);
    let inner_width = f32::max(2.0 * inner_half_widths.fold(0.5 * size.x, f32::min), 0.3 * size.x);
    // Begin and end of each arch along z, m, from the front.
    let mut arch_ranges: Vec<[f32; 2]> = wheels
        .iter()
        .map(|(contact_point, radius)| {
            [-ARCH_SIZE_RATIO, ARCH_SIZE_RATIO].map(|ratio| contact_point.z + ratio * radius)
        })
        .collect();
    arch_ranges.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let (front, back) = (hull_centre.z - 0.5 * size.z, hull_centre.z + 0.5 * size.z);
    let mut parts = Vec::new();
    // Appends a box of width `width` between two positions along z and two heights.
    let mut add_box = |width: f32, [z_start, z_end]: [f32; 2], [y_bottom, y_top]: [f32; 2]| {
        if z_end > z_start && y_top > y_bottom {
            let mesh = Cuboid::new(width, y_top - y_bottom, z_end - z_start).into();
            let centre = Vec3::new(hull_centre.x, 0.5 * (y_bottom + y_top), 0.5 * (z_start + z_end));
            parts.push(Part { mesh, transform: Transform::from_translation(centre), is_glass: false });
        }
    };
    // Above the arches, then between the wheels.
    add_box(size.x, [front, back], [arch_height, top]);
    add_box(inner_width, [front, back], [bottom, arch_height]);
    // Full width from the front to the first arch, between the arches, and behind the last one.
    let mut z_start = front;
    for [arch_start, arch_end] in arch_ranges {
        add_box(size.x, [z_start, arch_start.min(back)], [bottom, arch_height]);
        // Overlapping arches: the farther end counts.
        z_start = z_start.max(arch_end);
    }
    add_box(size.x, [z_start, back], [bottom, arch_height]);
    parts
}

/// Returns the meshes of tyre and spokes of wheel `i` of `model`, with the axle along x. The spokes are a cross of two
/// bars, slightly wider than the tyre so that they are visible.
pub fn wheel(model: &Model, i: usize) -> [Mesh; 2] {
    let radius = model.wheels()[i].radius;
    let width = WHEEL_WIDTH_RATIO * radius;
    let axle_rotation = Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
    // A cylinder of Bevy has its axis along y.
    let tyre = Mesh::from(Cylinder::new(radius, width)).rotated_by(axle_rotation);
    // Bars are a little longer along the axle than the tyre is wide.
    let mut spokes = Mesh::from(Cuboid::new(width * 1.04, radius * 1.3, radius * 0.16));
    let second_bar = Mesh::from(Cuboid::new(width * 1.04, radius * 0.16, radius * 1.3));
    // Merging cannot fail: both meshes are cuboids with equal attributes.
    _ = spokes.merge(&second_bar);
    [tyre, spokes]
}

/// Spawns the parts of the body as children of every new car: red for the driven car, light for others, dark glass.
/// Does not change cars whose model is replaced later.
fn add_car_meshes(
    mut commands: Commands,
    cars: Query<(Entity, &Car, Has<PlayerCar>), Added<Car>>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    for (entity, car, is_player_car) in &cars {
        let paint = if is_player_car { Paint::PLAYER_CAR } else { Paint::OTHER_CAR };
        for Part { mesh, transform, is_glass } in body(&car.0) {
            let colour = if is_glass { GLASS_COLOUR } else { paint.body };
            let material = MeshMaterial3d(materials.add(Paint::material(colour)));
            commands.spawn((Mesh3d(meshes.add(mesh)), material, transform, ChildOf(entity)));
        }
    }
}

/// Inserts the tyre into every new wheel of a car and spawns the spokes as its child. A wheel whose parent is no car is
/// skipped.
fn add_wheel_meshes(
    mut commands: Commands,
    wheels: Query<(Entity, &Wheel, &ChildOf), Added<Wheel>>,
    cars: Query<&Car>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    for (entity, wheel_component, child_of) in &wheels {
        let Ok(car) = cars.get(child_of.parent()) else { continue };
        let [tyre, spokes] = wheel(&car.0, wheel_component.index);
        commands.entity(entity).try_insert((
            Mesh3d(meshes.add(tyre)),
            MeshMaterial3d(materials.add(Paint::material(Paint::PLAYER_CAR.tyre))),
        ));
        let metal = Paint::material(Color::srgb(0.6, 0.6, 0.62));
        commands.spawn((Mesh3d(meshes.add(spokes)), MeshMaterial3d(materials.add(metal)), ChildOf(entity)));
    }
}
