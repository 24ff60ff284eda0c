//! Skid marks: quads of one mesh. New quads replace the oldest ones.

use bevy::asset::RenderAssetUsages;
use bevy::camera::visibility::NoFrustumCulling;
use bevy::ecs::entity::EntityHashMap;
use bevy::mesh::{Indices, PrimitiveTopology};
use bevy::prelude::*;
use skidpad_bevy::{CarSystems, Wheel, WheelSignals};

/// Maximum number of segments of all skid marks.
const MAX_SEGMENTS: usize = 4096;

/// Minimum length of a segment, m.
const MIN_SEGMENT_LENGTH_M: f32 = 0.25;

/// Distance between two segments above which the wheel was teleported and no segment is drawn, m.
const TELEPORT_DISTANCE_M: f32 = 3.0;

/// Minimum [`WheelSignals::skid_intensity`] of a mark.
const MIN_SKID_INTENSITY: f32 = 0.15;

/// Height of marks above the road, m.
const MARK_HEIGHT_M: f32 = 0.012;

/// Width of a mark as a share of the wheel's radius.
const MARK_WIDTH_RATIO: f32 = 0.55;

/// Ring buffer of the segments of all skid marks, and the mesh that shows it.
#[derive(Resource)]
struct SkidMarks {
    mesh: Handle<Mesh>,
    /// Index of the segment that the next segment replaces.
    next: usize,
    /// Four corners of each segment, m, in world axes of Bevy. Unused segments are zero.
    points: Vec<Vec3>,
    /// Linear colour of each corner. The alpha of an unused segment is 0.
    colours: Vec<[f32; 4]>,
    /// End point of the current mark of each wheel entity, m.
    end_points: EntityHashMap<Vec3>,
    /// Whether segments were added since the mesh was written.
    is_new: bool,
}

/// Adds skid marks: segments are added once a tick and written to the mesh once a frame.
pub fn plugin(app: &mut App) {
    app.add_systems(Startup, spawn_mark_mesh)
        .add_systems(FixedUpdate, add_segments.after(CarSystems::Events))
        .add_systems(Update, update_mesh);
}

/// Spawns one mesh with [`MAX_SEGMENTS`] invisible quads, which is never culled by the view, and inserts [`SkidMarks`].
/// The material of the mesh is translucent and unlit, shows both sides, and is drawn in front of the road.
fn spawn_mark_mesh(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let corners = 4 * MAX_SEGMENTS as u32;
    // Two triangles of each quad.
    let indices = (0..corners).step_by(4).flat_map(|k| [k, k + 1, k + 2, k, k + 2, k + 3]).collect();
    let (points, colours) = (vec![Vec3::ZERO; 4 * MAX_SEGMENTS], vec![[0.0; 4]; 4 * MAX_SEGMENTS]);
    let mesh = Mesh::new(PrimitiveTopology::TriangleList, RenderAssetUsages::default())
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, points.clone())
        .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, vec![Vec3::Y; 4 * MAX_SEGMENTS])
        .with_inserted_attribute(Mesh::ATTRIBUTE_COLOR, colours.clone())
        .with_inserted_indices(Indices::U32(indices));
    let mesh = meshes.add(mesh);
    let material = StandardMaterial {
        alpha_mode: AlphaMode::Blend,
        unlit: true,
        cull_mode: None,
        double_sided: true,
        // Draws the marks in front of the road.
        depth_bias: 100.0,
        ..default()
    };
    commands.spawn((Mesh3d(mesh.clone()), MeshMaterial3d(materials.add(material)), NoFrustumCulling));
    commands.insert_resource(SkidMarks { mesh, next: 0, points, colours, end_points: default(), is_new: false });
}

/// Appends a quad to the mark of every wheel that skids and has moved by [`MIN_SEGMENT_LENGTH_M`] since the end of its
/// mark. The quad replaces the oldest segment of the ring buffer, and the mesh is marked as outdated.
///
/// The quad spans the path of the contact point, with the width of the mark across it. The alpha is 1.2 times the skid
/// intensity, at most 0.85. A wheel without a mark begins one at its contact point. A wheel in the air or below
/// [`MIN_SKID_INTENSITY`] ends its mark. After a distance above [`TELEPORT_DISTANCE_M`] a new mark begins without a
/// quad. Marks of despawned wheels end.
fn add_segments(mut marks: ResMut<SkidMarks>, wheels: Query<(Entity, &WheelSignals), With<Wheel>>) {
    for (entity, wheel) in &wheels {
        if !wheel.in_contact || wheel.skid_intensity < MIN_SKID_INTENSITY {
            marks.end_points.remove(&entity);
            continue;
        }
        // End of the coming segment, slightly above the road, m.
        let mark_point = wheel.point + wheel.normal * MARK_HEIGHT_M;
        let Some(previous_point) = marks.end_points.get(&entity).copied() else {
            marks.end_points.insert(entity, mark_point);
            continue;
        };
        // Way of the contact point since the end of the mark, m.
        let displacement = mark_point - previous_point;
        if displacement.length() < MIN_SEGMENT_LENGTH_M {
            continue;
        }
        marks.end_points.insert(entity, mark_point);
        if displacement.length() > TELEPORT_DISTANCE_M {
            continue;
        }
        // Half the width of the mark, m.
        let half_width = wheel.normal.cross(displacement).normalize_or_zero() * (0.5 * MARK_WIDTH_RATIO * wheel.radius);
        // Index of the first corner of the segment.
        let first_corner = 4 * marks.next;
        marks.points[first_corner..first_corner + 4].copy_from_slice(&[
            previous_point - half_width,
            previous_point + half_width,
            mark_point + half_width,
            mark_point - half_width,
        ]);
        marks.colours[first_corner..first_corner + 4].fill([0.0, 0.0, 0.0, (1.2 * wheel.skid_intensity).min(0.85)]);
        marks.next = (marks.next + 1) % MAX_SEGMENTS;
        marks.is_new = true;
    }
    // Whether the wheel still exists.
    let is_alive = |entity: &Entity| wheels.contains(*entity);
    marks.end_points.retain(|entity, _| is_alive(entity));
}

/// Writes points and colours to the mesh if segments were added since the last frame.
fn update_mesh(mut marks: ResMut<SkidMarks>, mut meshes: ResMut<Assets<Mesh>>) {
    if !std::mem::take(&mut marks.is_new) {
        return;
    }
    if let Some(mut mesh) = meshes.get_mut(&marks.mesh) {
        mesh.insert_attribute(Mesh::ATTRIBUTE_POSITION, marks.points.clone());
        mesh.insert_attribute(Mesh::ATTRIBUTE_COLOR, marks.colours.clone());
    }
}
