//! The types a scene file deserialises to: ground, boxes, and where a car starts on them.

use crate::file_resolver::FileResolver;
use crate::files::Folders;
use crate::ground::{self, Ground};
use crate::spec::body::BodySpec;
use crate::spec::motion::MotionSpec;
use crate::spec::terrain::{CrgSpec, HeightFieldSpec, MeshSpec, RoadSpec, TextureSpec, full_grip};
use crate::{Faults, LoadedScene};
use serde::{Deserialize, Serialize};
use skidpad_core::{DVec3, FixedBox, Gust, Scene, Vec3};

/// A scene.
///
/// The ground is an infinite plane through the origin; boxes, fields of heights and meshes stand on it, in it or above it. World axes: z up, gravity
/// along −z, x the direction the plane rises in, y to the left of x. Every number is 0 or between 1e-9 and 1e9 in size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SceneSpec {
    /// What it shows.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Slope of the plane, degrees, positive when it rises along +x.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -89, max = 89)))]
    pub slope_deg: f64,
    /// Gravity, m/s².
    #[serde(default = "standard_gravity")]
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0, "maximum" = 1000)))]
    pub gravity_mps2: f64,
    /// Factor on the friction of every tyre on the plane; 1 is the surface the tyre was described on.
    #[serde(default = "full_grip")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub grip: f64,
    /// What the plane does to wheels beside that. Absent: it is hard and even.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub texture: Option<TextureSpec>,
    /// Air that moves. Absent: still air.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wind: Option<WindSpec>,
    /// Start of a car: x and y in the plane, and how far above it the wheels stand, m. Absent: what the manoeuvre says.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(inner(range(min = -1e6, max = 1e6))))]
    pub start_m: Option<[f64; 3]>,
    /// Heading at the start, degrees, positive to the left of +x. Absent: what the manoeuvre says.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = -360, max = 360)))]
    pub heading_deg: Option<f64>,
    /// Forward speed at the start, m/s. Absent: what the manoeuvre says.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = -200, max = 200)))]
    pub speed_mps: Option<f64>,
    /// Boxes; those without a motion never move.
    #[serde(default, rename = "box", skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 10000)))]
    pub boxes: Vec<FixedBoxSpec>,
    /// Boxes that can be pushed.
    #[serde(default, rename = "body", skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 1000)))]
    pub bodies: Vec<BodySpec>,
    /// Whether the plane is there. Without it there is nothing under the rest of the scene; cars still start by its slope.
    #[serde(default = "is_there", skip_serializing_if = "is_the_rule")]
    pub plane: bool,
    /// Fields of heights.
    #[serde(default, rename = "height_field", skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 1000)))]
    pub height_fields: Vec<HeightFieldSpec>,
    /// Uneven roads; fields of heights too.
    #[serde(default, rename = "road", skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 100)))]
    pub roads: Vec<RoadSpec>,
    /// Roads from OpenCRG files.
    #[serde(default, rename = "crg", skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 100)))]
    pub crg_roads: Vec<CrgSpec>,
    /// Meshes of triangles.
    #[serde(default, rename = "mesh", skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 1000)))]
    pub meshes: Vec<MeshSpec>,
}

/// Air that moves, everywhere alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WindSpec {
    /// Where it blows to: x, y and z in the world, m/s.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(inner(range(min = -200, max = 200))))]
    pub velocity_mps: [f64; 3],
    /// What it has beyond that at times.
    #[serde(default, rename = "gust", skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 100)))]
    pub gusts: Vec<GustSpec>,
}

/// Wind that comes and goes once: its rise and its fall have the shape of a cosine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GustSpec {
    /// What it adds to the wind at its height: x, y and z in the world, m/s.
    #[cfg_attr(feature = "schema", schemars(inner(range(min = -200, max = 200))))]
    pub velocity_mps: [f64; 3],
    /// When it starts, s.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1e6)))]
    pub starts_s: f64,
    /// How long it takes to its height, and back to nothing, s.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.001, max = 1e6)))]
    pub rises_s: f64,
    /// How long it stays there, s.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1e6)))]
    pub holds_s: f64,
}

/// A box, which never moves unless it has a motion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FixedBoxSpec {
    /// Its middle: x, y and z in the world, m.
    #[cfg_attr(feature = "schema", schemars(inner(range(min = -1e6, max = 1e6))))]
    pub centre_m: [f64; 3],
    /// Full size along its own x, y and z axes, m.
    #[cfg_attr(feature = "schema", schemars(inner(range(min = 0.001, max = 100000))))]
    pub size_m: [f64; 3],
    /// Turned to the left about the vertical, degrees; first of the three turns.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -360, max = 360)))]
    pub yaw_deg: f64,
    /// Turned about its y axis after the yaw, degrees, positive with the +x end down.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -360, max = 360)))]
    pub pitch_deg: f64,
    /// Turned about its x axis after yaw and pitch, degrees, positive with the −y side down.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -360, max = 360)))]
    pub roll_deg: f64,
    /// Factor on the friction of every tyre on it, in place of the plane's.
    #[serde(default = "full_grip")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub grip: f64,
    /// What it does to wheels beside its grip. Absent: it is hard and even.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub texture: Option<TextureSpec>,
    /// How it moves, whatever stands on it. Absent: it never does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub motion: Option<MotionSpec>,
}

fn is_there() -> bool {
    true
}

fn is_the_rule(plane: &bool) -> bool {
    *plane
}

fn standard_gravity() -> f64 {
    9.81
}

impl SceneSpec {
    /// Reads a scene file without files beside it; for others see [`LoadedScene`](crate::LoadedScene). `source_name` is what
    /// reports call it.
    ///
    /// # Errors
    /// Every fault of the text at once: syntax, keys, types and ranges.
    pub fn read(source_name: &str, text: &str) -> Result<Self, Faults> {
        LoadedScene::read(source_name, text).map(|loaded| loaded.spec)
    }

    /// Ground and what stands on it, SI units. Files it refers to are not there; for those see [`SceneSpec::scene_in`].
    ///
    /// # Errors
    /// Every field and mesh that is none; what a file is read from has been checked.
    pub fn scene(&self) -> Result<Scene, Faults> {
        ground::scene(self, FileResolver::Shipped)
    }

    /// Returns ground and what stands on it, SI units, of a scene whose file lies in `folders`.
    ///
    /// # Errors
    /// Every field and mesh that is none, and every fault of the files it refers to.
    pub fn scene_in(&self, folders: impl Into<Folders>) -> Result<Scene, Faults> {
        ground::scene(self, FileResolver::Folders(&folders.into()))
    }

    /// The scene on this ground.
    pub(crate) fn on(&self, ground: Ground) -> Scene {
        Scene {
            gravity: self.gravity_mps2 as f32,
            slope: self.slope_deg.to_radians() as f32,
            grip: self.grip as f32,
            texture: TextureSpec::texture(self.texture.as_ref()),
            wind: self.wind.as_ref().map_or(Vec3::ZERO, |wind| velocity(wind.velocity_mps)),
            gusts: self.wind.iter().flat_map(|wind| &wind.gusts).map(GustSpec::gust).collect(),
            boxes: self.boxes.iter().filter(|of| of.motion.is_none()).map(FixedBoxSpec::fixed_box).collect(),
            plane: self.plane,
            fields: ground.fields,
            meshes: ground.meshes,
            platforms: ground.platforms,
            bodies: self.bodies.iter().map(BodySpec::free_body).collect(),
            ..Scene::default()
        }
    }
}

fn velocity(mps: [f64; 3]) -> Vec3 {
    Vec3::from_array(mps.map(|v| v as f32))
}

impl GustSpec {
    fn gust(&self) -> Gust {
        let [starts, rises, holds] = [self.starts_s, self.rises_s, self.holds_s].map(|time| time as f32);
        Gust { velocity: velocity(self.velocity_mps), starts, rises, holds }
    }
}

impl FixedBoxSpec {
    /// It as it is described, SI units.
    pub(crate) fn fixed_box(&self) -> FixedBox {
        let [yaw, pitch, roll] = [self.yaw_deg, self.pitch_deg, self.roll_deg].map(|deg| deg.to_radians() as f32);
        let size = Vec3::from_array(self.size_m.map(|m| m as f32));
        let upright = FixedBox::upright(DVec3::from_array(self.centre_m), size);
        let texture = TextureSpec::texture(self.texture.as_ref());
        FixedBox { grip: self.grip as f32, texture, ..upright.turned(yaw, pitch, roll) }
    }
}
