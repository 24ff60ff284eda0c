//! Wavefront OBJ: corners (`v`), faces (`f`) and materials (`usemtl`), with every fault of the text at once.
//!
//! Faces of more than three corners are cut into triangles from their first corner. Textures, normals, groups, lines
//! and points are skipped. Free-form curves and surfaces are refused. Material files are not read: a material is
//! identified by its name.

use super::file_mesh::{FileError, FileMesh, check_counts};
use crate::FaultKind;
use crate::fault_collector::FaultCollector;
use std::ops::Range;

/// Statements that are skipped.
const SKIPPED_STATEMENTS: [&str; 16] = [
    "vt", "vn", "vp", "o", "g", "s", "mg", "l", "p", "mtllib", "maplib", "usemap", "lod", "bevel", "c_interp",
    "d_interp",
];

/// Reads the bytes of an OBJ file; bytes that are not UTF-8 are replaced. `name` names the file in fault reports.
/// Counts corners and triangles first, so that a file above the limits is refused early. Then reads line by line, and
/// stops when the list of faults is full. Adds a note with the number of faces that are not convex.
///
/// # Errors
/// All faults of the text at once (up to the limit of a list), or the reason why the file is too large.
pub(super) fn read(name: &str, bytes: &[u8]) -> Result<FileMesh, FileError> {
    let text = String::from_utf8_lossy(bytes);
    let (corners, triangles) = count_elements(&text);
    check_counts(corners, triangles)?;
    let mut reader = Reader {
        collector: FaultCollector::default(),
        mesh: FileMesh::default(),
        corner_count: corners,
        material: None,
        non_convex_faces: 0,
    };
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        reader.read_statement(line, start);
        start += line.len();
        if reader.collector.is_full() {
            break;
        }
    }
    if !reader.collector.faults.is_empty() {
        return Err(FileError::Faults(reader.collector.into_faults(name, &text)));
    }
    if reader.non_convex_faces > 0 {
        let note = "of the faces with more than three corners are not convex; they are split into triangles from their first corner";
        reader.mesh.notes.push(format!("{} {note}", reader.non_convex_faces));
    }
    Ok(reader.mesh)
}

/// Counts the corners (`v`) and the triangles of a text, `(corners, triangles)`. A face (`f` or `fo`) of n corners has
/// n − 2 triangles, at least 0.
fn count_elements(text: &str) -> (usize, usize) {
    let count_line = |(corners, triangles): (usize, usize), line: &str| {
        let mut line_words = words(line);
        match line_words.next() {
            Some("v") => (corners + 1, triangles),
            Some("f" | "fo") => (corners, triangles + line_words.count().saturating_sub(2)),
            _ => (corners, triangles),
        }
    };
    text.lines().fold((0, 0), count_line)
}

/// Returns the words of a line without its comment.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split_once('#').map_or(line, |(content, _)| content).split_ascii_whitespace()
}

/// State of the reader of an OBJ file.
struct Reader {
    /// Faults so far.
    collector: FaultCollector,
    /// Triangles so far.
    mesh: FileMesh,
    /// Number of corners in the whole file.
    corner_count: usize,
    /// Index of the current material.
    material: Option<u32>,
    /// Number of faces that are not convex.
    non_convex_faces: usize,
}

impl Reader {
    /// Reads one statement. `start` is its first byte in the text. `v` adds a corner, `f` or `fo` a face, `usemtl`
    /// selects the material of the following faces (none without a name). Empty lines and [`SKIPPED_STATEMENTS`] are
    /// skipped. Reports unknown statements, and statements other than these four that continue in the next line (a
    /// backslash at the end).
    fn read_statement(&mut self, line: &str, start: usize) {
        let content = line.trim_end();
        let span = start..start + content.len();
        let keyword = words(content).next().unwrap_or("");
        match keyword {
            "v" => self.read_corner(content, span),
            "f" | "fo" => self.read_face(content, span),
            "usemtl" => {
                let name = content.trim_start().strip_prefix(keyword).unwrap_or("").trim();
                self.material = (!name.is_empty()).then(|| self.mesh.add_material(name));
            }
            "" => {}
            _ if content.ends_with('\\') => {
                let found = "the statement continues on the next line".to_owned();
                self.add_fault(FaultKind::Syntax, keyword, span, found, "a statement on one line");
            }
            _ if SKIPPED_STATEMENTS.contains(&keyword) => {}
            _ => self.add_fault(FaultKind::UnknownKey, keyword, span, keyword.to_owned(), "a supported statement"),
        }
    }

    /// Adds a fault of the statement `keyword` at the bytes `span`. Unknown statements get a hint about those that are
    /// read.
    fn add_fault(
        &mut self,
        kind: FaultKind,
        keyword: &str,
        span: Range<usize>,
        found: String,
        accepts: impl Into<String>,
    ) {
        let help = (kind == FaultKind::UnknownKey).then(|| {
            "`v`, `f` and `usemtl` are read; textures, normals, groups, lines and points are ignored".to_owned()
        });
        self.collector.add_fault(kind, keyword.to_owned(), span, found, accepts, help);
    }

    /// Adds the corner of a `v` statement from its first three numbers; further ones are skipped. Reports the first
    /// missing, malformed or non-finite number and stops there. A corner with a fault is added as well, with 0 for the
    /// numbers not read.
    fn read_corner(&mut self, content: &str, span: Range<usize>) {
        let mut position = [0.0; 3];
        let mut coordinates = words(content).skip(1);
        for coordinate in &mut position {
            let Some(word) = coordinates.next() else {
                self.add_fault(FaultKind::Syntax, "v", span, "a corner needs three numbers".into(), "x, y and z");
                break;
            };
            match word.parse::<f64>() {
                Ok(number) if number.is_finite() => *coordinate = number,
                _ => {
                    self.add_fault(
                        FaultKind::OutOfRange,
                        "v",
                        span.clone(),
                        shorten_word(word),
                        "three finite numbers",
                    );
                    break;
                }
            }
        }
        // A corner with a fault is added as well, so that the numbers of the other corners stay valid.
        self.mesh.corners.push(position);
    }

    /// Adds the triangles of an `f` statement as a fan from its first corner, with the current material, and counts
    /// faces that are not convex. Only the corner number before the first `/` is read. Reports the first unknown
    /// corner, or a face of fewer than three corners, and then adds no triangle.
    fn read_face(&mut self, content: &str, span: Range<usize>) {
        let mut corner_indices = Vec::new();
        for word in words(content).skip(1) {
            let number = word.split('/').next().unwrap_or("");
            let corner = number.parse::<i64>().ok().and_then(|number| self.corner_index(number));
            let Some(corner) = corner else {
                let accepts = match self.corner_count {
                    0 => "of corners, but no corner is defined".to_owned(),
                    count => format!("corner numbers from 1 to {count}, or from -1 to -{count}"),
                };
                return self.add_fault(FaultKind::OutOfRange, "f", span, shorten_word(word), accepts);
            };
            corner_indices.push(corner);
        }
        let &[first_corner, ref other_corners @ ..] = &corner_indices[..] else {
            return self.add_fault(FaultKind::Syntax, "f", span, "a face needs three corners".into(), "three corners");
        };
        if other_corners.len() < 2 {
            return self.add_fault(FaultKind::Syntax, "f", span, "a face needs three corners".into(), "three corners");
        }
        let first_triangle = self.mesh.triangles.len();
        for pair in other_corners.windows(2) {
            self.mesh.triangles.push([first_corner, pair[0], pair[1]]);
            self.mesh.triangle_materials.push(self.material);
        }
        self.non_convex_faces += usize::from(self.is_non_convex(first_triangle));
    }

    /// Converts the number of a corner in a face (from 1) to an index from 0. Negative numbers count back from the last
    /// corner so far. Positive numbers may refer to corners further down. Returns `None` if there is no such corner.
    fn corner_index(&self, number: i64) -> Option<u32> {
        let previous_count = self.mesh.corners.len() as i64;
        let index = if number < 0 { previous_count.checked_add(number)? } else { number.checked_sub(1)? };
        (0..self.corner_count as i64).contains(&index).then_some(index as u32)
    }

    /// Returns true if the last face, whose triangles begin at index `first_triangle`, is not convex: of at least two
    /// triangles, one has a normal opposite to the sum of all normals. A corner that the file defines further down
    /// counts as the origin.
    fn is_non_convex(&self, first_triangle: usize) -> bool {
        let corner_position = |corner: u32| self.mesh.corners.get(corner as usize).copied().unwrap_or_default();
        let normal = |&[a, b, c]: &[u32; 3]| {
            let [a, b, c] = [a, b, c].map(corner_position);
            // Edges from the corner `a`; the normal is their cross product.
            let ([x, y, z], [p, q, r]) = ([0, 1, 2].map(|k| b[k] - a[k]), [0, 1, 2].map(|k| c[k] - a[k]));
            [y * r - z * q, z * p - x * r, x * q - y * p]
        };
        let normals = self.mesh.triangles[first_triangle..].iter().map(normal);
        // Sum of the normals of the face.
        let normal_sum = normals.clone().fold([0.0; 3], |sum, normal| [0, 1, 2].map(|k| sum[k] + normal[k]));
        normals.clone().count() > 1
            && normals.into_iter().any(|normal| (0..3).map(|k| normal[k] * normal_sum[k]).sum::<f64>() < 0.0)
    }
}

/// Cuts a word of a file to 40 characters.
fn shorten_word(word: &str) -> String {
    match word.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &word[..end]),
        None => word.to_owned(),
    }
}
