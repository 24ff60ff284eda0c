//! Refusal of ground files in a build without the feature `terrain_files`.

use super::{Builder, Ground};
use crate::FaultKind;
use crate::spec::{CrgSpec, HeightFieldSpec, MeshSpec};
use skidpad_core::{HeightField, TriangleMesh};
use std::sync::Arc;

/// Ground files that were read: none in this build.
#[derive(Debug, Default)]
pub(super) struct ReadFiles {}

impl Builder<'_> {
    /// Reports that the file of a height field cannot be read, and returns `None`.
    pub fn height_field_from_file(&mut self, table: &str, _: &HeightFieldSpec, file: &str) -> Option<Arc<HeightField>> {
        self.report_file_fault(table, file, "`heights_m` instead");
        None
    }

    /// Reports that the file of a mesh cannot be read, and returns `None`.
    pub fn mesh_from_file(&mut self, table: &str, _: &MeshSpec, file: &str) -> Option<Arc<TriangleMesh>> {
        self.report_file_fault(table, file, "`corners_m` and `triangles` instead");
        None
    }

    /// Reports that an OpenCRG file cannot be read.
    pub fn add_crg_road(&mut self, table: &str, spec: &CrgSpec, _: &mut Ground) {
        self.report_file_fault(table, &spec.file, "absent");
    }

    /// Reports that this program reads no ground files, at the key `file` of `table`. `accepts` names an alternative.
    fn report_file_fault(&mut self, table: &str, file: &str, accepts: &str) {
        let help = "this program is built without ground files; enable the feature `terrain_files`".to_owned();
        self.add_fault(FaultKind::OutOfRange, table, "file", format!("{file:?}"), accepts, Some(help));
    }
}
