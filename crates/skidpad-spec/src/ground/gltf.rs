//! glTF 2.0, as JSON (`.gltf`) or with its bytes in one file (`.glb`): the triangles of the nodes of its scene, with their transforms, in
//! metres, y up.
//!
//! Other primitives, skins, sparse and compressed data are refused by name; textures, cameras, lights and animations are passed over.

use super::buffers::{Bytes, Shared, chunks};
use super::document::{Document, MAX_PRIMITIVES, Node, Primitive};
use super::triangles::{Refusal, Triangles, check_counts};
use skidpad_core::{DMat3, DQuat, DVec3};

/// Beginnings of extensions that change no triangle.
const WITHOUT_EFFECT: [&str; 4] = ["KHR_materials_", "KHR_texture_", "KHR_lights_", "EXT_texture_"];

/// Kinds of primitives by their numbers.
const MODES: [&str; 7] =
    ["points", "lines", "line loops", "line strips", "triangles", "triangle strips", "triangle fans"];

/// Number of triangles among them.
const TRIANGLES: usize = 4;

/// Reads the bytes of a file; `beside` finds others by their paths from it.
pub(super) fn read<'a>(
    bytes: &'a [u8],
    beside: impl FnMut(&str) -> Result<Shared<'a>, String>,
) -> Result<Triangles, Refusal> {
    let (json, binary) = chunks(bytes)?;
    let document = &Document::read(json)?;
    check(document)?;
    let bytes = Bytes::of(document, binary, beside)?;
    let mut reader = Reader { document, bytes, read: Triangles::default(), primitives: 0 };
    let number = document.scene.unwrap_or(0);
    let scene = document.scenes.get(number).ok_or_else(|| format!("scene {number} is not there"))?;
    let mut met = vec![false; document.nodes.len()];
    let mut waiting: Vec<(usize, DMat3, DVec3)> = Vec::new();
    waiting.extend(scene.nodes.iter().rev().map(|&node| (node, DMat3::IDENTITY, DVec3::ZERO)));
    while let Some((number, turn, offset)) = waiting.pop() {
        let node = document.nodes.get(number).ok_or_else(|| format!("node {number} is not there"))?;
        // So there is no way round in a circle either.
        if core::mem::replace(&mut met[number], true) {
            return Err(Refusal::For(format!("node {number} is below two others, or below itself")));
        }
        let (own_turn, own_offset) = transform(node);
        let (turn, offset) = (turn * own_turn, turn * own_offset + offset);
        reader.node(number, node, turn, offset)?;
        waiting.extend(node.children.iter().rev().map(|&child| (child, turn, offset)));
    }
    Ok(reader.read)
}

fn check(document: &Document) -> Result<(), String> {
    if document.asset.version.split('.').next() != Some("2") {
        return Err(format!("it is of glTF {:?}, of 2.0", document.asset.version));
    }
    let needed = |name: &&String| !WITHOUT_EFFECT.iter().any(|start| name.starts_with(start));
    match document.extensions_required.iter().find(needed) {
        Some(extension) => Err(format!("it needs the extension {extension}, which is not understood")),
        None => Ok(()),
    }
}

/// What a node does to its points: turns, stretches, and then moves them, m.
fn transform(node: &Node) -> (DMat3, DVec3) {
    if let Some(m) = &node.matrix {
        let column = |k: usize| DVec3::new(m[k], m[k + 1], m[k + 2]);
        return (DMat3::from_cols(column(0), column(4), column(8)), column(12));
    }
    let rotation = node.rotation.map_or(DQuat::IDENTITY, |xyzw| DQuat::from_array(xyzw).normalize());
    let scale = DMat3::from_diagonal(DVec3::from_array(node.scale.unwrap_or([1.0; 3])));
    (DMat3::from_quat(rotation) * scale, DVec3::from_array(node.translation.unwrap_or_default()))
}

struct Reader<'a, 'b> {
    document: &'a Document,
    bytes: Bytes<'a, 'b>,
    read: Triangles,
    /// Number of primitives so far, those of a mesh again for each of its nodes.
    primitives: usize,
}

impl Reader<'_, '_> {
    /// Adds the mesh of a node.
    fn node(&mut self, number: usize, node: &Node, turn: DMat3, offset: DVec3) -> Result<(), Refusal> {
        let Some(mesh) = node.mesh else { return Ok(()) };
        if node.skin.is_some() {
            return Err(Refusal::For(format!("node {number} has a skin, which moves with bones")));
        }
        let document = self.document;
        let primitives = document.meshes.get(mesh).ok_or_else(|| format!("mesh {mesh} is not there"))?;
        self.primitives = self.primitives.saturating_add(primitives.primitives.len());
        if self.primitives > MAX_PRIMITIVES {
            return Err(Refusal::For(format!("its nodes have more than {MAX_PRIMITIVES} primitives; join them")));
        }
        for (i, primitive) in primitives.primitives.iter().enumerate() {
            let named = |why: String| format!("primitive {i} of mesh {mesh}: {why}");
            self.primitive(primitive, turn, offset).map_err(|refusal| match refusal {
                Refusal::For(why) => Refusal::For(named(why)),
                faults @ Refusal::Faults(_) => faults,
            })?;
        }
        Ok(())
    }

    fn primitive(&mut self, primitive: &Primitive, turn: DMat3, offset: DVec3) -> Result<(), Refusal> {
        let mode = primitive.mode.unwrap_or(TRIANGLES);
        if mode != TRIANGLES {
            let kind = MODES.get(mode).copied().unwrap_or("of no kind there is");
            return Err(Refusal::For(format!("it is {kind}, of triangles; export it as those")));
        }
        let Some(positions) = primitive.attributes.position else { return Ok(()) };
        let count = self.bytes.count(positions)?;
        let corners = match primitive.indices {
            Some(indices) => self.bytes.count(indices)?,
            None => count,
        };
        check_counts(
            self.read.corners.len().saturating_add(count),
            self.read.triangles.len().saturating_add(corners / 3),
        )?;
        if corners % 3 != 0 {
            return Err(Refusal::For(format!("{corners} corners are no triangles")));
        }
        let first = self.read.corners.len() as u32;
        for position in self.bytes.positions(positions)? {
            self.read.corners.push((turn * DVec3::from_array(position) + offset).to_array());
        }
        let indices = match primitive.indices {
            Some(indices) => self.bytes.indices(indices)?,
            None => (0..count as u32).collect(),
        };
        if let Some(index) = indices.iter().find(|&&index| index as usize >= count) {
            return Err(Refusal::For(format!("a triangle names corner {index}, and there are {count}")));
        }
        let material = primitive.material.map(|number| self.material(number)).transpose()?;
        for corners in indices.chunks_exact(3) {
            self.read.triangles.push([first + corners[0], first + corners[1], first + corners[2]]);
            self.read.material_of.push(material);
        }
        Ok(())
    }

    /// The number of a material by its number in the file; one without a name is called by that.
    fn material(&mut self, number: usize) -> Result<u32, String> {
        let found = self.document.materials.get(number).ok_or_else(|| format!("material {number} is not there"))?;
        let named = found.name.clone().unwrap_or_else(|| format!("material {number}"));
        Ok(self.read.material(&named))
    }
}
