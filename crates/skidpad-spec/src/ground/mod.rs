//! Conversion of the ground and the bodies of a scene description to height fields, meshes and moving boxes, or to a
//! report of all faults.

#[cfg(feature = "terrain_files")]
mod buffers;
#[cfg(feature = "terrain_files")]
mod crg;
#[cfg(feature = "terrain_files")]
mod document;
#[cfg(feature = "terrain_files")]
mod file_mesh;
#[cfg(feature = "terrain_files")]
mod files;
#[cfg(feature = "terrain_files")]
mod gltf;
#[cfg(not(feature = "terrain_files"))]
mod no_files;
#[cfg(feature = "terrain_files")]
mod obj;
#[cfg(feature = "terrain_files")]
mod picture;

use crate::fault_collector::{FaultCollector, join_key};
use crate::file_resolver::FileResolver;
use crate::spec::{DynamicBoxSpec, FixedBoxSpec, HeightFieldSpec, KinematicSpec, MeshSpec, RoadSpec};
use crate::warning::Warning;
use crate::{FaultKind, Faults, SceneSpec};
#[cfg(feature = "terrain_files")]
use files::ReadFiles;
#[cfg(not(feature = "terrain_files"))]
use no_files::ReadFiles;
use skidpad_core::{HeightField, Platform, PlatformPathFault, Scene, TerrainFault, TriangleMesh};
use std::sync::Arc;

/// Parts of a scene other than its plane and its boxes at rest.
#[derive(Debug, Default)]
pub(crate) struct Ground {
    /// Height fields.
    pub fields: Vec<Arc<HeightField>>,
    /// Triangle meshes.
    pub meshes: Vec<Arc<TriangleMesh>>,
    /// Moving boxes.
    pub platforms: Vec<Platform>,
}

/// Builds the scene of a description that has no text. The faults have no place in a text; all faults are returned at
/// once.
pub(crate) fn build_scene(spec: &SceneSpec, files: FileResolver<'_>) -> Result<Scene, Faults> {
    let mut collector = FaultCollector::default();
    let ground = build_ground(spec, &mut collector, files);
    if collector.faults.is_empty() { Ok(spec.with_ground(ground)) } else { Err(collector.into_faults("scene", "")) }
}

/// Builds the ground of a scene, with the files it refers to, in this order: moving boxes, height fields, roads, meshes
/// and OpenCRG roads. Dynamic boxes are only checked, after the moving boxes. A table with a placeholder (substitute
/// for a wrong value) is skipped, a table with a fault is left out. From the table on that exceeds the budget (number
/// of heights and triangles of a scene), all tables are left out. Faults and warnings of all tables are added to
/// `collector`.
pub(crate) fn build_ground(spec: &SceneSpec, collector: &mut FaultCollector, files: FileResolver<'_>) -> Ground {
    let mut builder = Builder { collector, files, budget: Budget::default(), read_files: ReadFiles::default() };
    let mut ground = Ground::default();
    for (i, box_spec) in spec.boxes.iter().enumerate() {
        let motion = box_spec.kinematic.as_ref();
        ground
            .platforms
            .extend(motion.and_then(|motion| builder.build_platform(&format!("box[{i}]"), box_spec, motion)));
    }
    for (i, body_spec) in spec.dynamic_boxes.iter().enumerate() {
        builder.check_body(&format!("dynamic_box[{i}]"), body_spec);
    }
    for (i, field_spec) in spec.height_fields.iter().enumerate() {
        ground.fields.extend(builder.build_height_field(&format!("height_field[{i}]"), field_spec));
    }
    for (i, road_spec) in spec.roads.iter().enumerate() {
        ground.fields.extend(builder.build_road(&format!("road[{i}]"), road_spec).map(Arc::new));
    }
    for (i, mesh_spec) in spec.meshes.iter().enumerate() {
        ground.meshes.extend(builder.build_mesh(&format!("mesh[{i}]"), mesh_spec));
    }
    for (i, crg_spec) in spec.crg_roads.iter().enumerate() {
        let table = format!("crg[{i}]");
        if !builder.is_skipped(&table) {
            builder.add_crg_road(&table, crg_spec, &mut ground);
        }
    }
    ground
}

/// State of the construction of the ground of a scene.
struct Builder<'a> {
    /// Receiver of faults and warnings.
    collector: &'a mut FaultCollector,
    /// Access to referenced files.
    #[cfg_attr(not(feature = "terrain_files"), expect(dead_code, reason = "only terrain files are read"))]
    files: FileResolver<'a>,
    /// Size of the ground so far.
    budget: Budget,
    /// Files that were read so far.
    #[cfg_attr(not(feature = "terrain_files"), expect(dead_code, reason = "only terrain files are read"))]
    read_files: ReadFiles,
}

/// Number of heights and triangles in the ground of a scene so far.
#[derive(Debug, Default)]
struct Budget {
    /// Heights of all height fields.
    heights: usize,
    /// Triangles of all meshes.
    triangles: usize,
    /// Whether a table has exceeded the budget.
    is_spent: bool,
}

/// Maximum number of heights of all height fields of a scene (200 MB).
const MAX_SCENE_HEIGHTS: usize = 50_000_000;

/// Maximum number of triangles of all meshes of a scene (about 500 MB).
const MAX_SCENE_TRIANGLES: usize = 4_000_000;

impl Builder<'_> {
    /// Builds the moving box of the table `table`. Checks that exactly one of a velocity and way points is given, that
    /// the axis has a length, that `loop` and `blend_time_s` are given only with way points, and that the way points
    /// form a valid path. Returns `None` if the axis or the path is not valid, or if the table is skipped. After any
    /// other fault, a box is returned.
    fn build_platform(&mut self, table: &str, spec: &FixedBoxSpec, motion: &KinematicSpec) -> Option<Platform> {
        if self.is_skipped(table) {
            return None;
        }
        let table = &join_key(table, "kinematic");
        let has_way_points = !motion.way_points.is_empty();
        self.collector.require_exactly_one(
            table,
            ("velocity_mps", motion.has_velocity()),
            ("way_point", has_way_points),
        );
        let axis = motion.unit_axis();
        if axis.is_none() {
            let found = "of length zero".into();
            self.add_fault(FaultKind::Contradiction, table, "axis", found, "a direction", None); // no help
        }
        // Keys that apply to way points, each with whether it is given.
        for (key, _) in [("loop", motion.is_loop), ("blend_time_s", motion.blend_time_s != 0.0)]
            .iter()
            .filter(|(_, is_given)| *is_given && !has_way_points)
        {
            let found = "set without a `way_point`".into();
            self.add_fault(
                FaultKind::Contradiction,
                table,
                key,
                found,
                "absent, because it applies to way points",
                None, // no help
            );
        }
        let report_path_fault = |fault: PlatformPathFault| {
            let accepts = "at least two way points, each later than the previous one by at least the blend time; the last at the position of the first if the motion repeats";
            self.add_fault(FaultKind::Contradiction, table, "way_point", fault.to_string(), accepts, None); // no help
        };
        let course = motion.course().map_err(report_path_fault).ok()?;
        Some(Platform { shape: spec.fixed_box(), axis: axis?, course })
    }

    /// Checks a dynamic box: no moment of inertia exceeds the sum of the other two (with a margin for rounding), and
    /// the centre of mass is inside the box. Each violation is reported as a contradiction. Skipped if a value in the
    /// table is a placeholder (substitute for a wrong value).
    fn check_body(&mut self, table: &str, spec: &DynamicBoxSpec) {
        if self.is_skipped(table) {
            return;
        }
        // No moment exceeds the sum of the other two if none exceeds half of the sum of all three. With a margin for
        // rounding.
        let [x, y, z] = spec.moments();
        let sum = x + y + z;
        if x.max(y).max(z) > (0.5 + 1e-9) * sum {
            let accepts = "three moments of inertia, none above the sum of the other two";
            self.add_fault(
                FaultKind::Contradiction,
                table,
                "inertia_kg_m2",
                format!("{x}, {y} and {z}"),
                accepts,
                None, // no help
            );
        }
        let is_inside =
            spec.centre_of_mass_m.iter().zip(spec.size_m).all(|(coordinate, size)| coordinate.abs() <= 0.5 * size);
        if !is_inside {
            let found = "outside of the box".into();
            // No help text.
            self.add_fault(FaultKind::Contradiction, table, "centre_of_mass_m", found, "a point inside the box", None);
        }
    }

    /// Builds a height field from its list of heights, or from its file; exactly one of both must be given. Reports
    /// `lowest_m` and `highest_m` in a table without a file. The heights of the list are added to the budget of the
    /// scene. Returns `None` if the table is skipped, or after a fault other than these two keys.
    fn build_height_field(&mut self, table: &str, spec: &HeightFieldSpec) -> Option<Arc<HeightField>> {
        if self.is_skipped(table) {
            return None;
        }
        self.collector.require_exactly_one(
            table,
            ("heights_m", !spec.heights_m.is_empty()),
            ("file", spec.file.is_some()),
        );
        match &spec.file {
            Some(_) if !spec.heights_m.is_empty() => None,
            Some(file) => self.height_field_from_file(table, spec, file),
            None => {
                self.forbid_without_file(
                    table,
                    &[("lowest_m", spec.lowest_m.is_some()), ("highest_m", spec.highest_m.is_some())],
                );
                let accepts = "lists of equal length, at least two lists of two heights";
                let has_heights = !spec.heights_m.is_empty();
                let count = spec.heights_m.iter().map(Vec::len).sum();
                if !has_heights || !self.add_to_budget(table, "heights_m", [count, 0]) {
                    return None;
                }
                self.report_terrain_fault(table, "heights_m", accepts, spec.build_field()).map(Arc::new)
            }
        }
    }

    /// Builds the height field of a random road. First adds its number of heights,
    /// `(length / spacing + 1) · (width / spacing + 1)`, to the budget of the scene. A road that alone exceeds
    /// [`MAX_SCENE_HEIGHTS`] is not added, because the construction refuses it. Faults are reported at `spacing_m`.
    /// Returns `None` after a fault, or if the table is skipped.
    fn build_road(&mut self, table: &str, spec: &RoadSpec) -> Option<HeightField> {
        let accepts = "above 0 and less than half the shortest wavelength, with increasing wavelengths and at most 25 million heights";
        if self.is_skipped(table) {
            return None;
        }
        let count = (spec.length_m / spec.spacing_m + 1.0) * (spec.width_m / spec.spacing_m + 1.0);
        let count = if count <= MAX_SCENE_HEIGHTS as f64 { count as usize } else { 0 };
        if !self.add_to_budget(table, "spacing_m", [count, 0]) {
            return None;
        }
        self.report_terrain_fault(table, "spacing_m", accepts, spec.build_field())
    }

    /// Builds a mesh from its lists of corners and triangles, or from its file. Reports each given list if there is a
    /// file. Otherwise reports each missing list, and the keys `up`, `scale` and `surface` if given. The number of
    /// triangles, or a third of the number of corners if that is larger, is added to the budget of the scene. Triangles
    /// without area are left out with a warning. Returns `None` if the table is skipped, or after a fault other than
    /// these three keys.
    fn build_mesh(&mut self, table: &str, spec: &MeshSpec) -> Option<Arc<TriangleMesh>> {
        if self.is_skipped(table) {
            return None;
        }
        let list_keys = [("corners_m", !spec.corners_m.is_empty()), ("triangles", !spec.triangles.is_empty())];
        let Some(file) = &spec.file else {
            // Without a file, each list is required.
            for list_key in list_keys {
                self.collector.require_exactly_one(table, list_key, ("file", false));
            }
            self.forbid_without_file(
                table,
                &[("up", spec.up.is_some()), ("scale", spec.scale.is_some()), ("surface", !spec.surfaces.is_empty())],
            );
            if list_keys.iter().any(|(_, is_given)| !is_given) {
                return None;
            }
            let accepts = "numbers of existing corners, with at least one triangle of non-zero area";
            // `[heights, triangles]`. Corners count as well, because unused ones take memory, too.
            if !self.add_to_budget(table, "triangles", [0, spec.triangles.len().max(spec.corners_m.len() / 3)]) {
                return None;
            }
            let mesh = self.report_terrain_fault(table, "triangles", accepts, spec.build_mesh())?;
            self.note_degenerate_triangles(&join_key(table, "triangles"), spec.triangles.len(), &mesh);
            return Some(Arc::new(mesh));
        };
        // Beside a file, each list is a fault.
        for list_key in list_keys.into_iter().filter(|(_, is_given)| *is_given) {
            self.collector.require_exactly_one(table, list_key, ("file", true));
        }
        if list_keys.iter().any(|(_, is_given)| *is_given) { None } else { self.mesh_from_file(table, spec, file) }
    }

    /// Adds heights and triangles of a table to the budget of the scene ([`MAX_SCENE_HEIGHTS`],
    /// [`MAX_SCENE_TRIANGLES`]). The table that exceeds the budget is reported at its key `key`, and the budget is then
    /// spent. Returns false for that table and, without another report, for all later tables.
    fn add_to_budget(&mut self, table: &str, key: &str, [heights, triangles]: [usize; 2]) -> bool {
        if self.budget.is_spent {
            return false;
        }
        self.budget.heights = self.budget.heights.saturating_add(heights);
        self.budget.triangles = self.budget.triangles.saturating_add(triangles);
        // From here on, the sums of the scene.
        let Budget { heights, triangles, .. } = self.budget;
        self.budget.is_spent = heights > MAX_SCENE_HEIGHTS || triangles > MAX_SCENE_TRIANGLES;
        if self.budget.is_spent {
            let found = format!("the scene then has {heights} heights and {triangles} triangles");
            let accepts =
                format!("at most {MAX_SCENE_HEIGHTS} heights and {MAX_SCENE_TRIANGLES} triangles for the whole scene");
            let help = Some("use coarser ground, or split it into several scenes".to_owned());
            self.add_fault(FaultKind::Contradiction, table, key, found, accepts, help);
        }
        !self.budget.is_spent
    }

    /// Adds a warning with the number of triangles without area, which were left out: the difference between `count`,
    /// the number of described triangles, and the number in `mesh`. Adds nothing if it is 0.
    fn note_degenerate_triangles(&mut self, path: &str, count: usize, mesh: &TriangleMesh) {
        let omitted_count = count - mesh.triangles().len();
        if omitted_count > 0 {
            self.add_warning(path, format!("{omitted_count} of {count} triangles have zero area and are omitted"));
        }
    }

    /// Adds a warning about the key `path`.
    fn add_warning(&mut self, path: &str, text: String) {
        self.collector.warnings.push(Warning::new(path, text));
    }

    /// Returns true if `table` or a value in it is a placeholder, or if the budget of the scene is spent.
    fn is_skipped(&self, table: &str) -> bool {
        if self.budget.is_spent {
            return true;
        }
        // Paths are sorted: those in the table follow the path of the table.
        let placeholders_from_table = self.collector.placeholder_paths.range(table.to_owned()..);
        placeholders_from_table.take(1).any(|path| path.starts_with(table))
    }

    /// Returns the ground in `result`, or reports its fault as a contradiction at the key `key` of `table` and returns
    /// `None`.
    fn report_terrain_fault<T>(
        &mut self,
        table: &str,
        key: &str,
        accepts: &str,
        result: Result<T, TerrainFault>,
    ) -> Option<T> {
        let report_fault = |fault: TerrainFault| {
            // No help text.
            self.add_fault(FaultKind::Contradiction, table, key, fault.to_string(), accepts, None)
        };
        result.map_err(report_fault).ok()
    }

    /// Reports each key of `keys` that is given (paired with true). These keys are valid only in a table with a `file`.
    fn forbid_without_file(&mut self, table: &str, keys: &[(&str, bool)]) {
        for (key, _) in keys.iter().filter(|(_, is_given)| *is_given) {
            let found = "set without a `file`".into();
            // No help text.
            self.add_fault(FaultKind::Contradiction, table, key, found, "absent, because it applies to a file", None);
        }
    }

    /// Adds a fault of the key `key` in `table`, at the place of the key or of the nearest enclosing one.
    fn add_fault(
        &mut self,
        kind: FaultKind,
        table: &str,
        key: &str,
        found: String,
        accepts: impl Into<String>,
        help: Option<String>,
    ) {
        let path = join_key(table, key);
        let span = self.collector.nearest_span(&path);
        self.collector.add_fault(kind, path, span, found, accepts, help);
    }
}
