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
    pub asset: Asset,
    pub extensions_required: List<String, 1_000>,
    pub scene: Option<usize>,
    pub scenes: List<Nodes, 1_000>,
    pub nodes: List<Node, 500_000>,
    pub meshes: List<Mesh, 500_000>,
    pub materials: List<Material, 100_000>,
    pub accessors: List<Accessor, 1_000_000>,
    pub buffer_views: List<View, 1_000_000>,
    pub buffers: List<Buffer, 1_000>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asset {
    pub version: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Nodes {
    pub nodes: Vec<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Node {
    pub mesh: Option<usize>,
    pub skin: Option<IgnoredAny>,
    pub children: Vec<usize>,
    /// Transform as a matrix in column-major order.
    pub matrix: Option<Box<[f64; 16]>>,
    pub translation: Option<[f64; 3]>,
    pub rotation: Option<[f64; 4]>,
    pub scale: Option<[f64; 3]>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Mesh {
    pub primitives: List<Primitive, MAX_PRIMITIVES>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Primitive {
    pub attributes: Attributes,
    pub indices: Option<usize>,
    pub material: Option<usize>,
    pub mode: Option<usize>,
}

/// Attributes of corners, restricted to those that are read.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Attributes {
    #[serde(rename = "POSITION")]
    pub position: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Material {
    pub name: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Accessor {
    pub buffer_view: Option<usize>,
    pub byte_offset: usize,
    pub component_type: u32,
    pub count: usize,
    #[serde(rename = "type")]
    pub kind: String,
    pub sparse: Option<IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct View {
    pub buffer: usize,
    pub byte_offset: usize,
    pub byte_length: usize,
    pub byte_stride: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Buffer {
    pub uri: Option<String>,
}

/// Maximum number of primitives of a mesh, and of all nodes together.
pub(super) const MAX_PRIMITIVES: usize = 1_000_000;

/// Maximum number of JSON objects of a document. An object of two bytes takes up to 250 bytes of memory.
const MAX_OBJECTS: usize = 2_000_000;

impl Document {
    /// Reads a document from its JSON.
    ///
    /// # Errors
    /// Returns the reason as text: invalid JSON, a list with more entries than its maximum, or too many objects.
    pub fn read(json: &[u8]) -> Result<Self, String> {
        let objects = json.iter().filter(|&&byte| byte == b'{').count();
        if objects > MAX_OBJECTS {
            return Err(format!("its JSON has {objects} objects, of {MAX_OBJECTS} at most; cut it into several files"));
        }
        serde_json::from_slice(json).map_err(|error| format!("its JSON: {error}"))
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
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(ListVisitor(PhantomData))
    }
}

/// Reader of a [`List`].
struct ListVisitor<T, const MAX: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for ListVisitor<T, MAX> {
    type Value = List<T, MAX>;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "a list of at most {MAX} entries")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(entry) = from.next_element()? {
            if list.len() == MAX {
                return Err(A::Error::custom(format!("a list has more than {MAX} entries; cut the file into several")));
            }
            list.push(entry);
        }
        Ok(List(list))
    }
}
