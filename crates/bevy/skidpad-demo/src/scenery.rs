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
    let start_position = BEVY_AXES.point_to_world(scene.point_above_plane(start[0], start[1], 0.0)).as_vec3();
    let orientation = BEVY_AXES.rotation_to_world(scene.upright_orientation(0.0));
    let start = StartPlace(Transform::from_translation(start_position).with_rotation(orientation));
    move |app: &mut App| {
        app.insert_resource(ClearColor(HAZE_COLOUR))
            .insert_resource(GlobalAmbientLight { brightness: 600.0, ..default() })
            .insert_resource(DrawnScene(scene.clone()))
            .insert_resource(start)
            .add_systems(Startup, (spawn_scene, spawn_sun))
            .add_systems(Update, move_platforms);
    }
}

/// Spawns the sun. Shadows reach 60 m from the camera.
fn spawn_sun(mut commands: Commands) {
    commands.spawn((
        DirectionalLight { illuminance: 9_000.0, shadow_maps_enabled: true, ..default() },
        CascadeShadowConfigBuilder { num_cascades: 2, maximum_distance: 60.0, ..default() }.build(),
        // Direction of the light.
        Transform::default().looking_to(Vec3::new(0.5, -1.0, -0.3), Vec3::Y),
    ));
}

/// Spawns one entity with a mesh for the plane if there is one, and for each box, platform, height field and triangle
/// mesh of the scene. Platforms start at their pose at 0 s.
fn spawn_scene(
    mut commands: Commands,
    drawn_scene: Res<DrawnScene>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let scene = &drawn_scene.0;
    // Returns the components of a matt mesh in its vertex colours.
    let mut mesh_bundle = |mesh: Mesh, transform: Transform| {
        let material = StandardMaterial { perceptual_roughness: 0.95, reflectance: 0.1, ..default() };
        (Mesh3d(meshes.add(mesh)), MeshMaterial3d(materials.add(material)), transform)
    };
    if scene.has_plane {
        let orientation = BEVY_AXES.rotation_to_world(scene.upright_orientation(0.0));
        commands.spawn(mesh_bundle(plane_mesh(scene.grip), Transform::from_rotation(orientation)));
    }
    for fixed_box in &scene.boxes {
        commands.spawn(mesh_bundle(box_mesh(fixed_box), box_transform(fixed_box)));
    }
    for (platform_index, platform) in scene.platforms.iter().enumerate() {
        let initial_box = platform.box_at(0.0);
        commands
            .spawn((mesh_bundle(box_mesh(&initial_box), box_transform(&initial_box)), PlatformIndex(platform_index)));
    }
    for field in &scene.height_fields {
        commands.spawn(mesh_bundle(height_field_mesh(field), Transform::default()));
    }
    for mesh in &scene.meshes {
        commands.spawn(mesh_bundle(triangle_mesh(mesh), Transform::default()));
    }
}

/// Sets every platform to its pose at the time of the world, which is the end of the last step.
fn move_platforms(
    drawn_scene: Res<DrawnScene>,
    world: Res<BuiltinWorld>,
    mut boxes: Query<(&PlatformIndex, &mut Transform)>,
) {
    let time = world.world().time();
    for (platform_index, mut transform) in &mut boxes {
        *transform = box_transform(&drawn_scene.0.platforms[platform_index.0].box_at(time));
    }
}

/// Returns the linear colour of a surface with this grip, clamped to 0 to 1: grey for dry asphalt, bluer and brighter
/// for lower grip.
fn colour(grip: f32) -> [f32; 4] {
    let dry = grip.clamp(0.0, 1.0);
    LinearRgba::from(Color::srgb(0.55 - 0.22 * dry, 0.68 - 0.34 * dry, 0.82 - 0.46 * dry)).to_f32_array()
}

/// Returns the transform of a box in Bevy's axes, 3 mm above its position.
fn box_transform(fixed_box: &FixedBox) -> Transform {
    // The offset keeps boxes visible whose top is in the plane.
    let offset = DVec3::new(0.0, 0.0, 3e-3);
    Transform::from_translation(BEVY_AXES.point_to_world(fixed_box.centre + offset).as_vec3())
        .with_rotation(BEVY_AXES.rotation_to_world(fixed_box.rotation))
}

/// Returns the mesh of a box about its centre, in Bevy's axes, with the colour of its grip.
fn box_mesh(fixed_box: &FixedBox) -> Mesh {
    let size = BEVY_AXES.to_world(fixed_box.half_extents).abs() * 2.0;
    let mesh = Mesh::from(Cuboid::from_size(size));
    let shade = colour(fixed_box.grip);
    // Every vertex has the same colour.
    let count = mesh.count_vertices();
    mesh.with_inserted_attribute(Mesh::ATTRIBUTE_COLOR, vec![shade; count])
}

/// Half the number of tiles on a side of the plane.
const HALF_TILE_COUNT: i32 = 32;
/// Side of a tile, m.
const TILE_SIZE_M: f32 = 10.0;

/// Returns the mesh of the horizontal plane through the origin in the colour of `grip`: a chequered pattern of 10 m
/// tiles, up to 320 m from the origin, that makes motion visible, and plain ground around it, up to 3 km.
fn plane_mesh(grip: f32) -> Mesh {
    let mut faces = FlatTriangles::default();
    let shade = colour(grip);
    // Colour with its brightness multiplied by `brightness`.
    let scaled_colour = |brightness: f32| [shade[0] * brightness, shade[1] * brightness, shade[2] * brightness, 1.0];
    for row in -HALF_TILE_COUNT..HALF_TILE_COUNT {
        for column in -HALF_TILE_COUNT..HALF_TILE_COUNT {
            let corner = Vec3::new(column as f32, 0.0, row as f32) * TILE_SIZE_M;
            // Brightness of light and dark tiles.
            let brightness = if (row + column) % 2 == 0 { 1.0 } else { 0.86 };
            faces.square(corner, Vec3::X * TILE_SIZE_M, Vec3::Z * TILE_SIZE_M, scaled_colour(brightness));
        }
    }
    // Half the side of the pattern and of the whole plane, m.
    let (pattern_half_side, plane_half_side) = (HALF_TILE_COUNT as f32 * TILE_SIZE_M, 3_000.0);
    // Four rectangles around the pattern: opposite corners, m.
    for [min_corner, max_corner] in [
        [Vec3::new(-plane_half_side, 0.0, -plane_half_side), Vec3::new(plane_half_side, 0.0, -pattern_half_side)],
        [Vec3::new(-plane_half_side, 0.0, pattern_half_side), Vec3::new(plane_half_side, 0.0, plane_half_side)],
        [Vec3::new(-plane_half_side, 0.0, -pattern_half_side), Vec3::new(-pattern_half_side, 0.0, pattern_half_side)],
        [Vec3::new(pattern_half_side, 0.0, -pattern_half_side), Vec3::new(plane_half_side, 0.0, pattern_half_side)],
    ] {
        faces.square(
            min_corner,
            Vec3::X * (max_corner.x - min_corner.x),
            Vec3::Z * (max_corner.z - min_corner.z),
            // Mean brightness of the tiles.
            scaled_colour(0.93),
        );
    }
    faces.mesh()
}

/// Returns the mesh of a height field in world axes: two triangles per cell, with alternating brightness of the cells,
/// in the colour of its grip.
fn height_field_mesh(field: &HeightField) -> Mesh {
    let ([columns, rows], [x_spacing, y_spacing]) = (field.counts(), field.spacing());
    // Grid point, world axes of Bevy, m.
    let grid_point = |column: usize, row: usize| {
        let local = Vec3::new(column as f32 * x_spacing, row as f32 * y_spacing, field.height(column, row));
        BEVY_AXES.point_to_world(field.origin() + local.as_dvec3()).as_vec3()
    };
    let mut faces = FlatTriangles::default();
    for row in 1..rows {
        for column in 1..columns {
            // Around the cell, counted from its first row and column.
            let corners = [
                grid_point(column - 1, row - 1),
                grid_point(column, row - 1),
                grid_point(column, row),
                grid_point(column - 1, row),
            ];
            // Brightness of light and dark cells.
            let brightness = if (row + column) % 2 == 0 { 1.0 } else { 0.93 };
            let colour = colour(field.grip()).map(|channel| channel * brightness);
            faces.triangle([corners[0], corners[1], corners[2]], colour);
            faces.triangle([corners[0], corners[2], corners[3]], colour);
        }
    }
    faces.mesh()
}

/// Returns the mesh of a triangle mesh in world axes, each triangle in the colour of its grip, 2 mm above its position
/// so that it covers a plane of equal height.
fn triangle_mesh(mesh: &TriangleMesh) -> Mesh {
    let mut faces = FlatTriangles::default();
    for (corners, grip) in mesh.triangles().iter().zip(mesh.grips()) {
        // Corner, 2 mm above its position, world axes of Bevy, m.
        let corner_point = |corner: u32| {
            let point = mesh.origin() + mesh.vertices()[corner as usize].as_dvec3();
            BEVY_AXES.point_to_world(point).as_vec3() + Vec3::Y * 2e-3
        };
        faces.triangle(corners.map(corner_point), colour(*grip));
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

    /// Appends a parallelogram of two triangles from `corner` along the edges `width_edge` and `length_edge`. Its
    /// normal is `length_edge` × `width_edge`.
    fn square(&mut self, corner: Vec3, width_edge: Vec3, length_edge: Vec3, colour: [f32; 4]) {
        let opposite_corner = corner + width_edge + length_edge;
        self.triangle([corner, corner + length_edge, opposite_corner], colour);
        self.triangle([corner, opposite_corner, corner + width_edge], colour);
    }

    /// Returns the triangles as a mesh without shared corners, for rendering only. Three indices per triangle in the
    /// order of the buffers; the corner buffers are moved into the mesh.
    fn mesh(self) -> Mesh {
        let count = self.points.len() as u32;
        Mesh::new(PrimitiveTopology::TriangleList, RenderAssetUsages::RENDER_WORLD)
            .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, self.points)
            .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, self.normals)
            .with_inserted_attribute(Mesh::ATTRIBUTE_COLOR, self.colours)
            .with_inserted_indices(Indices::U32((0..count).collect()))
    }
}
