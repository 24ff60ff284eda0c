//! glTF 2.0 as JSON (`.gltf`) or with its bytes in one file (`.glb`): the triangles of the nodes of a scene, with their
//! transforms, in metres, y up.
//!
//! Other primitives, skins, and sparse or compressed data are refused by name. Textures, cameras, lights and animations
//! are skipped.

use super::buffers::{DocumentBuffers, SharedBytes, split_chunks};
use super::document::{Document, MAX_PRIMITIVES, Node, Primitive};
use super::file_mesh::{FileError, FileMesh, check_counts};
use skidpad_core::{DMat3, DQuat, DVec3};

/// Beginnings of extensions that do not affect triangles.
const IGNORED_EXTENSION_PREFIXES: [&str; 4] = ["KHR_materials_", "KHR_texture_", "KHR_lights_", "EXT_texture_"];

/// Names of the primitive modes, by their numbers.
const PRIMITIVE_MODE_NAMES: [&str; 7] =
    ["points", "lines", "line loops", "line strips", "triangles", "triangle strips", "triangle fans"];

/// Number of the mode of triangles.
const TRIANGLES_MODE: usize = 4;

/// Reads the bytes of a file. `beside` reads further files by their paths relative to this file. Checks version and
/// extensions, reads the buffers, and adds the meshes of all nodes of the default scene (or of scene 0), depth first,
/// with the product of the transforms of their parents.
///
/// # Errors
/// The reason as text: an invalid document or reference, a node with two parents, too many triangles, or an unsupported
/// feature.
pub(super) fn read<'a>(
    bytes: &'a [u8],
    beside: impl FnMut(&str) -> Result<SharedBytes<'a>, String>,
) -> Result<FileMesh, FileError> {
    let (json, binary) = split_chunks(bytes)?;
    let document = &Document::read(json)?;
    check_document(document)?;
    let bytes = DocumentBuffers::read_buffers(document, binary, beside)?;
    let mut reader = Reader { document, bytes, mesh: FileMesh::default(), primitive_count: 0 };
    let number = document.scene.unwrap_or(0);
    let scene = document.scenes.get(number).ok_or_else(|| format!("scene {number} is not there"))?;
    // Whether a node was visited.
    let mut met = vec![false; document.nodes.len()];
    // Nodes to visit, with the transform of their parent.
    let mut waiting: Vec<(usize, DMat3, DVec3)> = Vec::new();
    waiting.extend(scene.nodes.iter().rev().map(|&node| (node, DMat3::IDENTITY, DVec3::ZERO)));
    while let Some((number, turn, offset)) = waiting.pop() {
        let node = document.nodes.get(number).ok_or_else(|| format!("node {number} is not there"))?;
        // This also excludes cycles.
        if core::mem::replace(&mut met[number], true) {
            return Err(FileError::Reason(format!("node {number} is below two others, or below itself")));
        }
        let (own_turn, own_offset) = node_transform(node);
        let (turn, offset) = (turn * own_turn, turn * own_offset + offset);
        reader.add_node_mesh(number, node, turn, offset)?;
        waiting.extend(node.children.iter().rev().map(|&child| (child, turn, offset)));
    }
    Ok(reader.mesh)
}

/// Checks that the version of a document is 2 and that it requires no extension except those without effect on triangles.
/// The error is the reason as text.
fn check_document(document: &Document) -> Result<(), String> {
    if document.asset.version.split('.').next() != Some("2") {
        return Err(format!("it is of glTF {:?}, of 2.0", document.asset.version));
    }
    let needed = |name: &&String| !IGNORED_EXTENSION_PREFIXES.iter().any(|start| name.starts_with(start));
    match document.extensions_required.iter().find(needed) {
        Some(extension) => Err(format!("it needs the extension {extension}, which is not understood")),
        None => Ok(()),
    }
}

/// Returns the transform of a node relative to its parent: a matrix of rotation and scale, and a translation, m. A matrix
/// of the file takes precedence; otherwise absent parts are the identity.
fn node_transform(node: &Node) -> (DMat3, DVec3) {
    if let Some(m) = &node.matrix {
        let column = |k: usize| DVec3::new(m[k], m[k + 1], m[k + 2]);
        return (DMat3::from_cols(column(0), column(4), column(8)), column(12));
    }
    let rotation = node.rotation.map_or(DQuat::IDENTITY, |xyzw| DQuat::from_array(xyzw).normalize());
    let scale = DMat3::from_diagonal(DVec3::from_array(node.scale.unwrap_or([1.0; 3])));
    (DMat3::from_quat(rotation) * scale, DVec3::from_array(node.translation.unwrap_or_default()))
}

/// State of the reader of a document.
struct Reader<'a, 'b> {
    /// JSON of the file.
    document: &'a Document,
    /// Contents of the buffers.
    bytes: DocumentBuffers<'a, 'b>,
    /// Triangles so far.
    mesh: FileMesh,
    /// Number of primitives so far. A mesh counts once for each of its nodes.
    primitive_count: usize,
}

impl Reader<'_, '_> {
    /// Adds the mesh of the node `number`, transformed by the matrix `turn` and the translation `offset` (m); nothing if
    /// the node has none. Refuses skins, missing meshes and more than [`MAX_PRIMITIVES`] primitives in all. Errors name
    /// the primitive.
    fn add_node_mesh(&mut self, number: usize, node: &Node, turn: DMat3, offset: DVec3) -> Result<(), FileError> {
        let Some(mesh) = node.mesh else { return Ok(()) };
        if node.skin.is_some() {
            return Err(FileError::Reason(format!("node {number} has a skin, which moves with bones")));
        }
        let document = self.document;
        let primitives = document.meshes.get(mesh).ok_or_else(|| format!("mesh {mesh} is not there"))?;
        self.primitive_count = self.primitive_count.saturating_add(primitives.primitives.len());
        if self.primitive_count > MAX_PRIMITIVES {
            return Err(FileError::Reason(format!("its nodes have more than {MAX_PRIMITIVES} primitives; join them")));
        }
        for (i, primitive) in primitives.primitives.iter().enumerate() {
            let named = |why: String| format!("primitive {i} of mesh {mesh}: {why}");
            self.add_primitive(primitive, turn, offset).map_err(|refusal| match refusal {
                FileError::Reason(why) => FileError::Reason(named(why)),
                faults @ FileError::Faults(_) => faults,
            })?;
        }
        Ok(())
    }

    /// Adds the triangles of a primitive, with corners `turn · p + offset` (m) and its material. Adds nothing without
    /// positions. Refuses modes other than triangles, a number of corners that is no multiple of 3, indices out of range,
    /// and files above the limits.
    fn add_primitive(&mut self, primitive: &Primitive, turn: DMat3, offset: DVec3) -> Result<(), FileError> {
        let mode = primitive.mode.unwrap_or(TRIANGLES_MODE);
        if mode != TRIANGLES_MODE {
            let kind = PRIMITIVE_MODE_NAMES.get(mode).copied().unwrap_or("of no kind there is");
            return Err(FileError::Reason(format!("it is {kind}, of triangles; export it as those")));
        }
        let Some(positions) = primitive.attributes.position else { return Ok(()) };
        let count = self.bytes.count(positions)?;
        let corners = match primitive.indices {
            Some(indices) => self.bytes.count(indices)?,
            None => count,
        };
        check_counts(
            self.mesh.corners.len().saturating_add(count),
            self.mesh.triangles.len().saturating_add(corners / 3),
        )?;
        if corners % 3 != 0 {
            return Err(FileError::Reason(format!("{corners} corners are no triangles")));
        }
        let first = self.mesh.corners.len() as u32;
        for position in self.bytes.positions(positions)? {
            self.mesh.corners.push((turn * DVec3::from_array(position) + offset).to_array());
        }
        let indices = match primitive.indices {
            Some(indices) => self.bytes.indices(indices)?,
            None => (0..count as u32).collect(),
        };
        if let Some(index) = indices.iter().find(|&&index| index as usize >= count) {
            return Err(FileError::Reason(format!("a triangle names corner {index}, and there are {count}")));
        }
        let material = primitive.material.map(|number| self.material_index(number)).transpose()?;
        for corners in indices.chunks_exact(3) {
            self.mesh.triangles.push([first + corners[0], first + corners[1], first + corners[2]]);
            self.mesh.triangle_materials.push(material);
        }
        Ok(())
    }

    /// Returns the index of a material in the mesh by its number in the file, adding the material if it is new. A
    /// material without a name is called `material` and its number.
    fn material_index(&mut self, number: usize) -> Result<u32, String> {
        let found = self.document.materials.get(number).ok_or_else(|| format!("material {number} is not there"))?;
        let named = found.name.clone().unwrap_or_else(|| format!("material {number}"));
        Ok(self.mesh.add_material(&named))
    }
}
