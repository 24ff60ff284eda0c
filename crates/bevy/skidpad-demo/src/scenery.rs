//! Meshes of the scene: plane, boxes, height fields, triangle meshes, moving platforms. Sun and haze.

use bevy::asset::RenderAssetUsages;
use bevy::light::CascadeShadowConfigBuilder;
use bevy::mesh::{Indices, PrimitiveTopology};
use bevy::prelude::*;
use skidpad_bevy::core::{DVec3, FixedBox, HeightField, Scene, TriangleMesh};
use skidpad_bevy::{BEVY_AXES, BuiltinWorld};

/// Scene that is drawn.
#[derive(Resource, Clone)]
struct DrawnScene(Scene);

/// Transform at which cars start.
#[derive(Resource, Clone, Copy)]
pub struct StartPlace(pub Transform);

/// Moving platform of the scene, by index.
#[derive(Component)]
struct PlatformIndex(usize);

/// Colour of the sky and of the fog.
pub const HAZE_COLOUR: Color = Color::srgb(0.72, 0.80, 0.88);

/// Returns the plugin that draws `scene` and inserts [`StartPlace`]. `start` holds x and y of the start in the scene,
/// m; the height is that of the plane, the heading is +x.
pub fn plugin(scene: Scene, start: Vec<f64>) -> impl Plugin {
    // Height 0 above the plane.
    let place = BEVY_AXES.point_to_world(scene.point_above_plane(start[0], start[1], 0.0)).as_vec3();
    let turned = BEVY_AXES.rotation_to_world(scene.upright_orientation(0.0));
    let start = StartPlace(Transform::from_translation(place).with_rotation(turned));
    move |app: &mut App| {
        app.insert_resource(ClearColor(HAZE_COLOUR))
            .insert_resource(GlobalAmbientLight { brightness: 600.0, ..default() })
            .insert_resource(DrawnScene(scene.clone()))
            .insert_resource(start)
            .add_systems(Startup, (draw, light))
            .add_systems(Update, move_platforms);
    }
}

/// Spawns the sun. Shadows reach 60 m from the camera.
fn light(mut commands: Commands) {
    commands.spawn((
        DirectionalLight { illuminance: 9_000.0, shadow_maps_enabled: true, ..default() },
        CascadeShadowConfigBuilder { num_cascades: 2, maximum_distance: 60.0, ..default() }.build(),
        Transform::default().looking_to(Vec3::new(0.5, -1.0, -0.3), Vec3::Y),
    ));
}

/// Spawns one entity with a mesh for the plane if there is one, and for each box, platform, height field and triangle
/// mesh of the scene. Platforms start at their pose at 0 s.
fn draw(
    mut commands: Commands,
    drawn: Res<DrawnScene>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let scene = &drawn.0;
    // Returns the components of a matt mesh in its vertex colours.
    let mut put = |mesh: Mesh, place: Transform| {
        let material = StandardMaterial { perceptual_roughness: 0.95, reflectance: 0.1, ..default() };
        (Mesh3d(meshes.add(mesh)), MeshMaterial3d(materials.add(material)), place)
    };
    if scene.has_plane {
        let turned = BEVY_AXES.rotation_to_world(scene.upright_orientation(0.0));
        commands.spawn(put(plane(scene.grip), Transform::from_rotation(turned)));
    }
    for fixed in &scene.boxes {
        commands.spawn(put(cuboid(fixed), place_of(fixed)));
    }
    for (number, platform) in scene.platforms.iter().enumerate() {
        let standing = platform.box_at(0.0);
        commands.spawn((put(cuboid(&standing), place_of(&standing)), PlatformIndex(number)));
    }
    for field in &scene.height_fields {
        commands.spawn(put(heights(field), Transform::default()));
    }
    for mesh in &scene.meshes {
        commands.spawn(put(triangles(mesh), Transform::default()));
    }
}

/// Sets every platform to its pose at the time of the world, which is the end of the last step.
fn move_platforms(
    drawn: Res<DrawnScene>,
    world: Res<BuiltinWorld>,
    mut boxes: Query<(&PlatformIndex, &mut Transform)>,
) {
    let time = world.world().time();
    for (moving, mut place) in &mut boxes {
        *place = place_of(&drawn.0.platforms[moving.0].box_at(time));
    }
}

/// Returns the linear colour of a surface with this grip, clamped to 0 to 1: grey for dry asphalt, bluer and brighter
/// for lower grip.
fn colour(grip: f32) -> [f32; 4] {
    let dry = grip.clamp(0.0, 1.0);
    LinearRgba::from(Color::srgb(0.55 - 0.22 * dry, 0.68 - 0.34 * dry, 0.82 - 0.46 * dry)).to_f32_array()
}

/// Returns the transform of a box in Bevy's axes, 3 mm above its position.
fn place_of(fixed: &FixedBox) -> Transform {
    // The offset keeps boxes visible whose top is in the plane.
    let lifted = DVec3::new(0.0, 0.0, 3e-3);
    Transform::from_translation(BEVY_AXES.point_to_world(fixed.centre + lifted).as_vec3())
        .with_rotation(BEVY_AXES.rotation_to_world(fixed.rotation))
}

/// Returns the mesh of a box about its centre, in Bevy's axes, with the colour of its grip.
fn cuboid(fixed: &FixedBox) -> Mesh {
    let size = BEVY_AXES.to_world(fixed.half_extents).abs() * 2.0;
    let mesh = Mesh::from(Cuboid::from_size(size));
    let shade = colour(fixed.grip);
    let count = mesh.count_vertices();
    mesh.with_inserted_attribute(Mesh::ATTRIBUTE_COLOR, vec![shade; count])
}

/// Half the number of tiles on a side of the plane.
const HALF_TILE_COUNT: i32 = 32;
/// Side of a tile, m.
const TILE_SIZE_M: f32 = 10.0;

/// Returns the mesh of the horizontal plane through the origin in the colour of `grip`: a chequered pattern of 10 m
/// tiles, up to 320 m from the origin, that makes motion visible, and plain ground around it, up to 3 km.
fn plane(grip: f32) -> Mesh {
    let mut faces = FlatTriangles::default();
    let shade = colour(grip);
    // Colour with its brightness multiplied by `by`.
    let darker = |by: f32| [shade[0] * by, shade[1] * by, shade[2] * by, 1.0];
    for row in -HALF_TILE_COUNT..HALF_TILE_COUNT {
        for column in -HALF_TILE_COUNT..HALF_TILE_COUNT {
            let corner = Vec3::new(column as f32, 0.0, row as f32) * TILE_SIZE_M;
            // Brightness of light and dark tiles.
            let by = if (row + column) % 2 == 0 { 1.0 } else { 0.86 };
            faces.square(corner, Vec3::X * TILE_SIZE_M, Vec3::Z * TILE_SIZE_M, darker(by));
        }
    }
    // Half the side of the pattern and of the whole plane, m.
    let (near, far) = (HALF_TILE_COUNT as f32 * TILE_SIZE_M, 3_000.0);
    // Four rectangles around the pattern: opposite corners, m.
    for [low, high] in [
        [Vec3::new(-far, 0.0, -far), Vec3::new(far, 0.0, -near)],
        [Vec3::new(-far, 0.0, near), Vec3::new(far, 0.0, far)],
        [Vec3::new(-far, 0.0, -near), Vec3::new(-near, 0.0, near)],
        [Vec3::new(near, 0.0, -near), Vec3::new(far, 0.0, near)],
    ] {
        faces.square(low, Vec3::X * (high.x - low.x), Vec3::Z * (high.z - low.z), darker(0.93));
    }
    faces.mesh()
}

/// Returns the mesh of a height field in world axes: two triangles per cell, with alternating brightness of the cells,
/// in the colour of its grip.
fn heights(field: &HeightField) -> Mesh {
    let ([columns, rows], [wide, long]) = (field.counts(), field.spacing());
    // Grid point, world axes of Bevy, m.
    let at = |column: usize, row: usize| {
        let local = Vec3::new(column as f32 * wide, row as f32 * long, field.height(column, row));
        BEVY_AXES.point_to_world(field.origin() + local.as_dvec3()).as_vec3()
    };
    let mut faces = FlatTriangles::default();
    for row in 1..rows {
        for column in 1..columns {
            let corners = [at(column - 1, row - 1), at(column, row - 1), at(column, row), at(column - 1, row)];
            // Brightness of light and dark cells.
            let shade = if (row + column) % 2 == 0 { 1.0 } else { 0.93 };
            let colour = colour(field.grip()).map(|part| part * shade);
            faces.triangle([corners[0], corners[1], corners[2]], colour);
            faces.triangle([corners[0], corners[2], corners[3]], colour);
        }
    }
    faces.mesh()
}

/// Returns the mesh of a triangle mesh in world axes, each triangle in the colour of its grip, 2 mm above its position
/// so that it covers a plane of equal height.
fn triangles(mesh: &TriangleMesh) -> Mesh {
    let mut faces = FlatTriangles::default();
    for (corners, grip) in mesh.triangles().iter().zip(mesh.grips()) {
        // Corner, 2 mm above its position, world axes of Bevy, m.
        let at = |corner: u32| {
            let point = mesh.origin() + mesh.vertices()[corner as usize].as_dvec3();
            BEVY_AXES.point_to_world(point).as_vec3() + Vec3::Y * 2e-3
        };
        faces.triangle(corners.map(at), colour(*grip));
    }
    faces.mesh()
}

/// Buffers of flat-shaded triangles with one colour each.
#[derive(Default)]
struct FlatTriangles {
    /// Three corners of each triangle, world axes of Bevy, m.
    points: Vec<Vec3>,
    /// Unit normal of each corner.
    normals: Vec<Vec3>,
    /// Linear colour of each corner.
    colours: Vec<[f32; 4]>,
}

impl FlatTriangles {
    /// Appends a triangle with the normal (b − a) × (c − a) of its corners a, b, c; upwards if the triangle has no
    /// area.
    fn triangle(&mut self, corners: [Vec3; 3], colour: [f32; 4]) {
        let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize_or(Vec3::Y);
        self.points.extend(corners);
        self.normals.extend([normal; 3]);
        self.colours.extend([colour; 3]);
    }

    /// Appends a parallelogram of two triangles from `corner` along the edges `wide` and `long`. Its normal is `long` ×
    /// `wide`.
    fn square(&mut self, corner: Vec3, wide: Vec3, long: Vec3, colour: [f32; 4]) {
        let across = corner + wide + long;
        self.triangle([corner, corner + long, across], colour);
        self.triangle([corner, across, corner + wide], colour);
    }

    /// Returns the triangles as a mesh without shared corners, for rendering only.
    fn mesh(self) -> Mesh {
        let count = self.points.len() as u32;
        Mesh::new(PrimitiveTopology::TriangleList, RenderAssetUsages::RENDER_WORLD)
            .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, self.points)
            .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, self.normals)
            .with_inserted_attribute(Mesh::ATTRIBUTE_COLOR, self.colours)
            .with_inserted_indices(Indices::U32((0..count).collect()))
    }
}
