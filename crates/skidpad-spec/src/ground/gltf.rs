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

/// Reads the bytes of a file. `read_file` reads further files by their paths relative to this file. Checks version and
/// extensions, and reads the buffers. Then adds the meshes of all nodes of the default scene (scene 0 if none is
/// stated), depth first. The transform of a node is multiplied by those of its parents.
///
/// # Errors
/// The reason as text: an invalid document or reference, a scene that does not exist, a node with two parents or in a
/// cycle, too many triangles, or an unsupported feature.
pub(super) fn read<'a>(
    bytes: &'a [u8],
    read_file: impl FnMut(&str) -> Result<SharedBytes<'a>, String>,
) -> Result<FileMesh, FileError> {
    let (json, binary) = split_chunks(bytes)?;
    let document = &Document::read(json)?;
    check_document(document)?;
    let bytes = DocumentBuffers::read_buffers(document, binary, read_file)?;
    let mut reader = Reader { document, bytes, mesh: FileMesh::default(), primitive_count: 0 };
    let scene_index = document.scene.unwrap_or(0);
    let scene = document.scenes.get(scene_index).ok_or_else(|| format!("scene {scene_index} does not exist"))?;
    // Whether a node was visited.
    let mut is_visited = vec![false; document.nodes.len()];
    // Nodes to visit, with the transform of their parent: matrix of rotation and scale, and translation, m. The last
    // one is visited first, so that lists of nodes are reversed.
    let mut pending_nodes: Vec<(usize, DMat3, DVec3)> = Vec::new();
    pending_nodes.extend(scene.nodes.iter().rev().map(|&node| (node, DMat3::IDENTITY, DVec3::ZERO)));
    while let Some((node_index, matrix, translation)) = pending_nodes.pop() {
        let node = document.nodes.get(node_index).ok_or_else(|| format!("node {node_index} does not exist"))?;
        // This also excludes cycles.
        if core::mem::replace(&mut is_visited[node_index], true) {
            return Err(FileError::Reason(format!("node {node_index} has two parents or is its own ancestor")));
        }
        let (node_matrix, node_translation) = node_transform(node);
        let (matrix, translation) = (matrix * node_matrix, matrix * node_translation + translation);
        reader.add_node_mesh(node_index, node, matrix, translation)?;
        pending_nodes.extend(node.children.iter().rev().map(|&child| (child, matrix, translation)));
    }
    Ok(reader.mesh)
}

/// Checks that the version of a document is 2 and that it requires no extension except those without effect on
/// triangles. The error is the reason as text.
fn check_document(document: &Document) -> Result<(), String> {
    if document.asset.version.split('.').next() != Some("2") {
        return Err(format!("the glTF version is {:?}, but must be 2.0", document.asset.version));
    }
    let affects_triangles = |name: &&String| !IGNORED_EXTENSION_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    match document.extensions_required.iter().find(affects_triangles) {
        Some(extension) => Err(format!("the file requires the extension {extension}, which is not supported")),
        None => Ok(()),
    }
}

/// Returns the transform of a node relative to its parent: a matrix of rotation and scale, and a translation, m. A
/// matrix of the file (4 × 4, column by column) takes precedence. Otherwise the matrix is rotation · scale, with the
/// normalised rotation; absent parts are the identity.
fn node_transform(node: &Node) -> (DMat3, DVec3) {
    if let Some(m) = &node.matrix {
        // Upper three numbers of the column that begins at index `k`.
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
    /// Adds the mesh of the node `node_index`, transformed by `matrix` and `translation` (m); does nothing for a node
    /// without a mesh. Refuses skins and missing meshes, then adds the number of primitives (parts) to
    /// `primitive_count` and refuses more than [`MAX_PRIMITIVES`] in all before it reads them. An error with one reason
    /// names the primitive and the mesh; lists of faults are passed on.
    fn add_node_mesh(
        &mut self,
        node_index: usize,
        node: &Node,
        matrix: DMat3,
        translation: DVec3,
    ) -> Result<(), FileError> {
        let Some(mesh_index) = node.mesh else { return Ok(()) };
        if node.skin.is_some() {
            return Err(FileError::Reason(format!("node {node_index} has a skin, which is not supported")));
        }
        let document = self.document;
        let mesh = document.meshes.get(mesh_index).ok_or_else(|| format!("mesh {mesh_index} does not exist"))?;
        self.primitive_count = self.primitive_count.saturating_add(mesh.primitives.len());
        if self.primitive_count > MAX_PRIMITIVES {
            return Err(FileError::Reason(format!("the nodes have more than {MAX_PRIMITIVES} primitives; join them")));
        }
        for (i, primitive) in mesh.primitives.iter().enumerate() {
            let with_primitive_name = |reason: String| format!("primitive {i} of mesh {mesh_index}: {reason}");
            self.add_primitive(primitive, matrix, translation).map_err(|error| match error {
                FileError::Reason(reason) => FileError::Reason(with_primitive_name(reason)),
                faults @ FileError::Faults(_) => faults,
            })?;
        }
        Ok(())
    }

    /// Adds the triangles of a primitive, with corners `matrix · p + translation` (m) and its material, if it has one.
    /// Each three positions in a row are a triangle if there are no indices. Adds nothing without positions. Refuses
    /// modes other than triangles, a number of corners that is no multiple of 3, indices out of range, and files above
    /// the limits.
    fn add_primitive(&mut self, primitive: &Primitive, matrix: DMat3, translation: DVec3) -> Result<(), FileError> {
        let mode = primitive.mode.unwrap_or(TRIANGLES_MODE);
        if mode != TRIANGLES_MODE {
            let kind = PRIMITIVE_MODE_NAMES.get(mode).copied().unwrap_or("an unknown kind of primitive");
            return Err(FileError::Reason(format!("the primitive has {kind}; export it as triangles")));
        }
        let Some(position_accessor) = primitive.attributes.position else { return Ok(()) };
        let position_count = self.bytes.count(position_accessor)?;
        let corner_count = match primitive.indices {
            Some(index_accessor) => self.bytes.count(index_accessor)?,
            None => position_count,
        };
        check_counts(
            self.mesh.corners.len().saturating_add(position_count),
            self.mesh.triangles.len().saturating_add(corner_count / 3),
        )?;
        if corner_count % 3 != 0 {
            return Err(FileError::Reason(format!("{corner_count} corners do not form triangles")));
        }
        // Indices of the primitive count from its first corner.
        let first_corner = self.mesh.corners.len() as u32;
        for position in self.bytes.positions(position_accessor)? {
            self.mesh.corners.push((matrix * DVec3::from_array(position) + translation).to_array());
        }
        let indices = match primitive.indices {
            Some(index_accessor) => self.bytes.indices(index_accessor)?,
            None => (0..position_count as u32).collect(),
        };
        if let Some(index) = indices.iter().find(|&&index| index as usize >= position_count) {
            return Err(FileError::Reason(format!(
                "a triangle uses corner {index}, but there are only {position_count} corners"
            )));
        }
        let material = primitive.material.map(|number| self.material_index(number)).transpose()?;
        for corners in indices.chunks_exact(3) {
            self.mesh.triangles.push([first_corner + corners[0], first_corner + corners[1], first_corner + corners[2]]);
            self.mesh.triangle_materials.push(material);
        }
        Ok(())
    }

    /// Returns the index of a material in the mesh by its number in the file, adding the material if it is new. A
    /// material without a name is called `material` and its number.
    fn material_index(&mut self, material_number: usize) -> Result<u32, String> {
        let material = self
            .document
            .materials
            .get(material_number)
            .ok_or_else(|| format!("material {material_number} does not exist"))?;
        let name = material.name.clone().unwrap_or_else(|| format!("material {material_number}"));
        Ok(self.mesh.add_material(&name))
    }
}
