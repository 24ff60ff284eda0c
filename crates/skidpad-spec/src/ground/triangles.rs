//! Triangles as a file has them, and what becomes of them in a scene.

use crate::Faults;
use crate::spec::{MeshSpec, UpAxis};
use skidpad_core::Vec3;
use std::collections::BTreeMap;

/// Triangles a file may have. As many, in an OBJ file of 51 MB, take 540 MB while they are read.
pub(super) const MOST_TRIANGLES: usize = 2_000_000;

/// Corners a file may have: no two triangles need to share one.
pub(super) const MOST_CORNERS: usize = 3 * MOST_TRIANGLES;

/// Triangles of a file, in its own axes and units.
#[derive(Debug, Default)]
pub(super) struct Triangles {
    pub corners: Vec<[f64; 3]>,
    pub triangles: Vec<[u32; 3]>,
    /// Their names, in the order of their first use.
    pub materials: Vec<String>,
    /// Number of each of them.
    numbers: BTreeMap<String, u32>,
    /// The number of its material for each triangle.
    pub material_of: Vec<Option<u32>>,
    /// What is worth a look.
    pub notes: Vec<String>,
}

/// Why a file is not read.
#[derive(Debug)]
pub(super) enum Refusal {
    /// For one reason.
    For(String),
    /// For faults of its text.
    Faults(Faults),
}

impl From<String> for Refusal {
    fn from(why: String) -> Self {
        Self::For(why)
    }
}

/// Refuses counts beyond the most.
pub(super) fn check_counts(corners: usize, triangles: usize) -> Result<(), Refusal> {
    for (count, most, what) in [(triangles, MOST_TRIANGLES, "triangles"), (corners, MOST_CORNERS, "corners")] {
        if count > most {
            return Err(Refusal::For(format!("{count} {what}, of {most} at most; cut it into several files")));
        }
    }
    Ok(())
}

impl Triangles {
    /// Returns the number of a material of this name, and adds a name that is new.
    pub fn material(&mut self, name: &str) -> u32 {
        if let Some(number) = self.number(name) {
            return number;
        }
        let number = self.materials.len() as u32;
        self.materials.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// Returns the number of a material of this name, if there is one.
    pub fn number(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// The corners in the axes of a scene, from the origin of the mesh, m.
    pub fn placed(&self, of: &MeshSpec) -> Result<Vec<Vec3>, String> {
        let scale = of.scale.unwrap_or(1.0);
        let place = |(number, &[x, y, z]): (usize, &[f64; 3])| {
            let turned = match of.up.unwrap_or(UpAxis::Y) {
                UpAxis::Y => [x, -z, y],
                UpAxis::Z => [x, y, z],
            };
            let placed = turned.map(|along| along * scale);
            let near = placed.iter().all(|along| along.abs() <= FARTHEST);
            let far = || format!("corner {number} is at {placed:?} m, of {FARTHEST} m at most; see `scale`");
            near.then(|| Vec3::from_array(placed.map(|along| along as f32))).ok_or_else(far)
        };
        self.corners.iter().enumerate().map(place).collect()
    }
}

/// As far as coordinates in a scene file go, m.
const FARTHEST: f64 = 1e6;
