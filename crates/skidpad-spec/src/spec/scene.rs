//! Types that a scene file deserialises to: ground, boxes, and the start of a car.

use crate::file_resolver::FileResolver;
use crate::files::Folders;
use crate::ground::{self, Ground};
use crate::spec::body::DynamicBoxSpec;
use crate::spec::motion::KinematicSpec;
use crate::spec::terrain::{CrgSpec, HeightFieldSpec, MeshSpec, RoadSpec, RoughnessSpec, full_grip};
use crate::{Faults, LoadedScene};
use serde::{Deserialize, Serialize};
use skidpad_core::{DVec3, FixedBox, Gust, Scene, Vec3};

/// Scene.
///
/// The ground is an infinite plane through the origin. Boxes, height fields and meshes lie on it, in it or above it.
/// World axes: z up, gravity along −z, x the direction in which the plane rises, y to the left of x. Every number is
/// 0 or has a magnitude from 1e-9 to 1e9.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SceneSpec {
    /// Content of the scene.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Slope of the plane, degrees, positive if the plane rises along +x.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -89, max = 89)))]
    pub slope_deg: f64,
    /// Gravitational acceleration, m/s².
    #[serde(default = "standard_gravity")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 1000)))]
    pub gravity_mps2: f64,
    /// Factor on the friction of every tyre on the plane; 1 is the surface on which the tyre was described.
    #[serde(default = "full_grip")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub grip: f64,
    /// Rolling resistance and unevenness of the plane. Absent: hard and even.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roughness: Option<RoughnessSpec>,
    /// Motion of the air. Absent: still air.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wind: Option<WindSpec>,
    /// Start position of a car: x and y in the plane, and height of the wheels above the plane, m. Absent: the start
    /// of the manoeuvre.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(inner(range(min = -1e6, max = 1e6))))]
    pub start_m: Option<[f64; 3]>,
    /// Heading at the start, degrees, positive to the left of +x. Absent: the heading of the manoeuvre.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = -360, max = 360)))]
    pub heading_deg: Option<f64>,
    /// Forward speed at the start, m/s. Absent: the speed of the manoeuvre.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = -200, max = 200)))]
    pub speed_mps: Option<f64>,
    /// Boxes. A box without a motion never moves.
    #[serde(default, rename = "box", skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 10000)))]
    pub boxes: Vec<FixedBoxSpec>,
    /// Boxes that can be pushed.
    #[serde(default, rename = "dynamic_box", skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 1000)))]
    pub dynamic_boxes: Vec<DynamicBoxSpec>,
    /// Whether the plane exists. Without it there is no ground below the rest of the scene; cars still start aligned
    /// with its slope.
    #[serde(default = "default_has_plane", skip_serializing_if = "is_default_plane")]
    pub plane: bool,
    /// Height fields.
    #[serde(default, rename = "height_field", skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 1000)))]
    pub height_fields: Vec<HeightFieldSpec>,
    /// Uneven roads, which are height fields.
    #[serde(default, rename = "road", skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 100)))]
    pub roads: Vec<RoadSpec>,
    /// Roads from OpenCRG files.
    #[serde(default, rename = "crg", skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 100)))]
    pub crg_roads: Vec<CrgSpec>,
    /// Triangle meshes.
    #[serde(default, rename = "mesh", skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 1000)))]
    pub meshes: Vec<MeshSpec>,
}

/// Wind, equal everywhere in the scene.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WindSpec {
    /// Velocity of the air without gusts, in the direction to which it blows: x, y and z in the world, m/s.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(inner(range(min = -200, max = 200))))]
    pub velocity_mps: [f64; 3],
    /// Gusts, which add to the wind.
    #[serde(default, rename = "gust", skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 100)))]
    pub gusts: Vec<GustSpec>,
}

/// Single gust of wind, which rises and falls with the shape of a cosine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GustSpec {
    /// Largest velocity that the gust adds to the wind: x, y and z in the world, m/s.
    #[cfg_attr(feature = "schema", schemars(inner(range(min = -200, max = 200))))]
    pub velocity_mps: [f64; 3],
    /// Start of the gust, in time since the start, s.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1e6)))]
    pub starts_s: f64,
    /// Duration of the rise, and also of the fall, s.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 1e6)))]
    pub rises_s: f64,
    /// Duration of the constant part between rise and fall, s.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1e6)))]
    pub holds_s: f64,
}

/// Box, which never moves unless it has a motion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FixedBoxSpec {
    /// Position of the centre: x, y and z in the world, m.
    #[cfg_attr(feature = "schema", schemars(inner(range(min = -1e6, max = 1e6))))]
    pub centre_m: [f64; 3],
    /// Full size along the box's own x, y and z axes, m.
    #[cfg_attr(feature = "schema", schemars(inner(range(min = 0.001, max = 100000))))]
    pub size_m: [f64; 3],
    /// Yaw: rotation to the left about the vertical, degrees. It is the first of the three rotations.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -360, max = 360)))]
    pub yaw_deg: f64,
    /// Pitch: rotation about the box's y axis after the yaw, degrees, positive with the +x end down.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -360, max = 360)))]
    pub pitch_deg: f64,
    /// Roll: rotation about the box's x axis after yaw and pitch, degrees, positive with the −y side down.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -360, max = 360)))]
    pub roll_deg: f64,
    /// Factor on the friction of every tyre on the box, in place of the plane's factor.
    #[serde(default = "full_grip")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub grip: f64,
    /// Rolling resistance and unevenness of the surface. Absent: hard and even.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roughness: Option<RoughnessSpec>,
    /// Motion of the box, independent of loads and collisions. Absent: the box never moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kinematic: Option<KinematicSpec>,
}

/// Returns the default of `plane`: the scene has a plane.
fn default_has_plane() -> bool {
    true
}

/// Returns true if `plane` has its default, so that a file need not state it.
fn is_default_plane(plane: &bool) -> bool {
    *plane
}

/// Returns the default gravity (m/s²).
fn standard_gravity() -> f64 {
    9.81
}

impl SceneSpec {
    /// Reads the text of a scene file that refers to no other files; for others see
    /// [`LoadedScene`](crate::LoadedScene). `source_name` is the name of the text in reports.
    ///
    /// # Errors
    /// Returns every fault of the text at once: syntax, keys, types and ranges.
    pub fn read(source_name: &str, text: &str) -> Result<Self, Faults> {
        LoadedScene::read(source_name, text).map(|loaded| loaded.spec)
    }

    /// Builds the scene, SI units, of a description that refers to no files; for others see [`SceneSpec::scene_in`].
    ///
    /// # Errors
    /// Returns every height field, road, mesh, motion and body that is not valid, and every reference to a file. The
    /// ranges of single keys are not checked; the reader checks those of a file.
    pub fn scene(&self) -> Result<Scene, Faults> {
        ground::build_scene(self, FileResolver::Shipped)
    }

    /// Builds the scene, SI units, of a description whose file is in `folders`.
    ///
    /// # Errors
    /// Returns every fault of [`SceneSpec::scene`] and every fault of the files that the description refers to.
    pub fn scene_in(&self, folders: impl Into<Folders>) -> Result<Scene, Faults> {
        ground::build_scene(self, FileResolver::Folders(&folders.into()))
    }

    /// Returns the scene in SI units: gravity, slope (rad), grip, texture, wind with its gusts (none if absent), plane,
    /// bodies and the boxes at rest of this description, with the height fields, meshes and moving boxes of `ground`.
    /// Boxes with a motion are not taken from the description. All other parts have their defaults.
    pub(crate) fn with_ground(&self, ground: Ground) -> Scene {
        Scene {
            gravity: self.gravity_mps2 as f32,
            slope: self.slope_deg.to_radians() as f32,
            grip: self.grip as f32,
            texture: RoughnessSpec::surface_texture(self.roughness.as_ref()),
            wind: self.wind.as_ref().map_or(Vec3::ZERO, |wind| velocity(wind.velocity_mps)),
            gusts: self.wind.iter().flat_map(|wind| &wind.gusts).map(GustSpec::gust).collect(),
            boxes: self
                .boxes
                .iter()
                .filter(|box_spec| box_spec.kinematic.is_none())
                .map(FixedBoxSpec::fixed_box)
                .collect(),
            has_plane: self.plane,
            height_fields: ground.fields,
            meshes: ground.meshes,
            platforms: ground.platforms,
            free_bodies: self.dynamic_boxes.iter().map(DynamicBoxSpec::free_body).collect(),
            ..Scene::default()
        }
    }
}

/// Converts a velocity (m/s) to single precision.
fn velocity(mps: [f64; 3]) -> Vec3 {
    Vec3::from_array(mps.map(|v| v as f32))
}

impl GustSpec {
    /// Returns the gust, SI units: velocity, and times of start, rise and hold.
    fn gust(&self) -> Gust {
        let [start_time, rise_time, hold_time] = [self.starts_s, self.rises_s, self.holds_s].map(|time| time as f32);
        Gust { velocity: velocity(self.velocity_mps), start_time, rise_time, hold_time }
    }
}

impl FixedBoxSpec {
    /// Returns the box in its described pose, SI units.
    pub(crate) fn fixed_box(&self) -> FixedBox {
        let [yaw, pitch, roll] = [self.yaw_deg, self.pitch_deg, self.roll_deg].map(|deg| deg.to_radians() as f32);
        let size = Vec3::from_array(self.size_m.map(|m| m as f32));
        let axis_aligned_box = FixedBox::axis_aligned(DVec3::from_array(self.centre_m), size);
        let texture = RoughnessSpec::surface_texture(self.roughness.as_ref());
        FixedBox { grip: self.grip as f32, texture, ..axis_aligned_box.rotated(yaw, pitch, roll) }
    }
}
