//! JSON of a glTF file, restricted to the parts that describe triangles, with a maximum length of each list.

use serde::Deserialize;
use serde::de::{Error, IgnoredAny, SeqAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

/// Document of a glTF file, restricted to the parts that describe triangles. Keys are those of glTF 2.0.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Document {
    /// Version of the format.
    pub asset: Asset,
    /// Names of extensions that a reader must understand.
    pub extensions_required: List<String, 1_000>,
    /// Index of the default scene.
    pub scene: Option<usize>,
    /// Scenes, each with its root nodes.
    pub scenes: List<Nodes, 1_000>,
    /// Nodes: transforms with a mesh and children.
    pub nodes: List<Node, 500_000>,
    /// Meshes: lists of primitives.
    pub meshes: List<Mesh, 500_000>,
    /// Materials, of which only the names are read.
    pub materials: List<Material, 100_000>,
    /// Lists of numbers in buffer views.
    pub accessors: List<Accessor, 1_000_000>,
    /// Parts of buffers.
    pub buffer_views: List<View, 1_000_000>,
    /// Blocks of bytes.
    pub buffers: List<Buffer, 1_000>,
}

/// Version of the document.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asset {
    /// Version, such as `2.0`.
    pub version: String,
}

/// Scene: its root nodes.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Nodes {
    /// Indices of the root nodes.
    pub nodes: Vec<usize>,
}

/// Node: a transform with a mesh and further nodes.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Node {
    /// Index of the mesh.
    pub mesh: Option<usize>,
    /// Skin, which is refused.
    pub skin: Option<IgnoredAny>,
    /// Indices of the nodes below.
    pub children: Vec<usize>,
    /// Transform as a matrix in column-major order.
    pub matrix: Option<Box<[f64; 16]>>,
    /// Translation, m.
    pub translation: Option<[f64; 3]>,
    /// Rotation as a quaternion x, y, z, w.
    pub rotation: Option<[f64; 4]>,
    /// Scale along each axis.
    pub scale: Option<[f64; 3]>,
}

/// Mesh: a list of primitives.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Mesh {
    /// Primitives of the mesh.
    pub primitives: List<Primitive, MAX_PRIMITIVES>,
}

/// Part of a mesh with one material.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Primitive {
    /// Data of the corners.
    pub attributes: Attributes,
    /// Index of the accessor with the corner numbers of the triangles.
    pub indices: Option<usize>,
    /// Index of the material.
    pub material: Option<usize>,
    /// Kind of primitive; 4 (triangles) if absent.
    pub mode: Option<usize>,
}

/// Attributes of corners, restricted to those that are read.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Attributes {
    /// Index of the accessor with the positions.
    #[serde(rename = "POSITION")]
    pub position: Option<usize>,
}

/// Material, of which only the name is read.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Material {
    /// Name of the material.
    pub name: Option<String>,
}

/// List of numbers in a buffer view.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Accessor {
    /// Index of the buffer view.
    pub buffer_view: Option<usize>,
    /// Start in the buffer view, bytes.
    pub byte_offset: usize,
    /// Type of a number: 5121 to 5126.
    pub component_type: u32,
    /// Number of entries.
    pub count: usize,
    /// Shape of an entry, such as `SCALAR` or `VEC3`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Sparse storage, which is refused.
    pub sparse: Option<IgnoredAny>,
}

/// Part of a buffer.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct View {
    /// Index of the buffer.
    pub buffer: usize,
    /// Start in the buffer, bytes.
    pub byte_offset: usize,
    /// Length, bytes.
    pub byte_length: usize,
    /// Distance between entries, bytes; absent if they are adjacent.
    pub byte_stride: Option<usize>,
}

/// Block of bytes.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Buffer {
    /// Path of a file beside this one, or the bytes as base64; absent for the binary chunk.
    pub uri: Option<String>,
}

/// Maximum number of primitives of a mesh, and of all nodes together.
pub(super) const MAX_PRIMITIVES: usize = 1_000_000;

/// Maximum number of JSON objects of a document. An object of two bytes takes up to 250 bytes of memory.
const MAX_OBJECTS: usize = 2_000_000;

impl Document {
    /// Reads a document from its JSON. Unknown keys are skipped, and missing ones are empty.
    ///
    /// # Errors
    /// Returns the reason as text: invalid JSON, a list with more entries than its maximum, or too many objects
    /// (counted by `{`).
    pub fn read(json: &[u8]) -> Result<Self, String> {
        let objects = json.iter().filter(|&&byte| byte == b'{').count();
        if objects > MAX_OBJECTS {
            return Err(format!(
                "the JSON has {objects} objects; the maximum is {MAX_OBJECTS}; split it into several files"
            ));
        }
        serde_json::from_slice(json).map_err(|error| format!("the JSON is invalid: {error}"))
    }
}

/// List of at most `MAX` entries. Deserialization fails at the first entry beyond.
#[derive(Debug)]
pub(super) struct List<T, const MAX: usize>(Vec<T>);

impl<T, const MAX: usize> Default for List<T, MAX> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T, const MAX: usize> Deref for List<T, MAX> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<'de, T: Deserialize<'de>, const MAX: usize> Deserialize<'de> for List<T, MAX> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ListVisitor(PhantomData))
    }
}

/// Reader of a [`List`].
struct ListVisitor<T, const MAX: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for ListVisitor<T, MAX> {
    type Value = List<T, MAX>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a list of at most {MAX} entries")
    }

    /// Reads the entries of a list. Fails at the first entry beyond `MAX`.
    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(entry) = sequence.next_element()? {
            if list.len() == MAX {
                return Err(A::Error::custom(format!("a list has more than {MAX} entries; split the file")));
            }
            list.push(entry);
        }
        Ok(List(list))
    }
}
