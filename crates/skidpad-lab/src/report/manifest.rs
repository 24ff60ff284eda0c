//! Manifest of a report: versions, inputs with their hashes, solvers and step lengths, so that a run can be repeated.

use std::io;
use std::path::Path;

use super::Report;
use super::html_table::{Column, HtmlTable};
use crate::canonical_json::sha256;

/// Input file of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFile {
    /// Purpose of the file, such as "vehicle".
    pub role: &'static str,
    /// Path as given, or the name of a shipped file.
    pub name: String,
    /// SHA-256 of the content, hexadecimal.
    pub sha256: String,
}

impl InputFile {
    /// Creates the entry of a file with the content `bytes`.
    pub fn new(role: &'static str, name: &str, bytes: &[u8]) -> Self {
        Self { role, name: name.into(), sha256: sha256(bytes) }
    }

    /// Reads the file `path` and creates its entry.
    ///
    /// # Errors
    /// Returns the error of the operating system if the file cannot be read.
    pub fn read(role: &'static str, path: &Path) -> io::Result<Self> {
        Ok(Self::new(role, &path.to_string_lossy(), &std::fs::read(path)?))
    }
}

/// Appends the section with the manifest of `report`: version, input files with their hashes, changed fields, solvers,
/// and for each manoeuvre the step length and the longest simulated time. The section has the id that the header links
/// to.
pub fn append_manifest(page: &mut String, report: &Report<'_>) {
    page.push_str("<section id=\"manifest\">\n<h2>run manifest</h2>\n");
    let mut table = HtmlTable::new(vec![Column::text("item"), Column::text("value")]);
    table.add_row(["skidpad".into(), env!("CARGO_PKG_VERSION").into()]);
    for input in report.inputs {
        table.add_row([input.role.into(), format!("{}, SHA-256 {}", input.name, input.sha256).into()]);
    }
    for car in report.cars().filter(|car| !car.changes.is_empty()) {
        table.add_row(["changed fields".into(), car.changes.join(", ").into()]);
    }
    let solvers: Vec<&str> = report.backends.iter().map(|info| info.name).collect();
    table.add_row(["solvers".into(), solvers.join(", ").into()]);
    for comparison in report.car.comparisons {
        let longest = comparison.outcomes.iter().map(|outcome| outcome.trajectory.last().t_s).fold(0.0, f64::max);
        let (dt, rate) = (comparison.dt_s, 1.0 / comparison.dt_s.max(1e-9));
        let text = format!("step length {dt:.6} s ({rate:.1} Hz), {longest:.2} s simulated");
        table.add_row([comparison.manoeuvre.into(), text.into()]);
    }
    page.push_str(&table.html());
    page.push_str("</section>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hash is that of the test vector "abc" of FIPS 180-2.
    #[test]
    fn inputs_have_their_sha_256() {
        let file = InputFile::new("vehicle", "car.toml", b"abc");
        assert_eq!(file.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert!(InputFile::read("scene", Path::new("does/not/exist.toml")).is_err());
    }
}
