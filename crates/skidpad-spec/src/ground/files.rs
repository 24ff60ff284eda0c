//! Height fields and meshes from files that a scene file names.

use super::buffers::SharedBytes;
use super::crg::RoadSurface;
use super::file_mesh::{FileError, FileMesh, MAX_FILE_TRIANGLES};
use super::picture::Picture;
use super::{Builder, Ground, crg, gltf, obj, picture};
use crate::FaultKind;
use crate::crg::CrgRoad;
use crate::fault_collector::join_key;
use crate::file_resolver::FileResolver;
use crate::files::FileKind;
use crate::spec::{CrgSpec, HeightFieldSpec, MeshSpec, RoughnessSpec};
use crate::suggestions::nearest_word;
use skidpad_core::{HeightField, SurfaceTexture, TriangleMesh};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// Maximum number of names that a fault lists. A file may have thousands.
const MAX_LISTED_NAMES: usize = 20;

/// Ground files that were read, by their resolved paths. A file that several tables name is read once.
#[derive(Debug, Default)]
pub(super) struct ReadFiles {
    /// Pictures of heights.
    pictures: BTreeMap<PathBuf, Rc<Picture>>,
    /// Triangles of OBJ and glTF files.
    meshes: BTreeMap<PathBuf, Rc<FileMesh>>,
    /// OpenCRG roads.
    roads: BTreeMap<PathBuf, Rc<CrgRoad>>,
    /// Ground that was built from these files. Tables with equal contents share one ground.
    built_ground: BuiltGround,
}

/// Ground that was built from files, by kind.
#[derive(Debug, Default)]
struct BuiltGround {
    height_fields: GroundList<HeightFieldSpec, HeightField>,
    meshes: GroundList<MeshSpec, TriangleMesh>,
    crg_roads: GroundList<CrgSpec, RoadSurface>,
}

/// Ground built from files: path of the file, contents of the table apart from the path, and the ground.
type GroundList<S, T> = Vec<(PathBuf, S, Arc<T>)>;

/// Access to the files of one kind in [`ReadFiles`].
type FileCache<T> = fn(&mut ReadFiles) -> &mut BTreeMap<PathBuf, Rc<T>>;

impl Builder<'_> {
    /// Returns the ground of an earlier table that names the same resolved file and has the same contents
    /// `table_contents` (the table without the path). Otherwise builds it with `build`, and stores it for later tables.
    /// Ground of a file whose path cannot be resolved is not stored. `select_built` selects the list of ground of this
    /// kind. Returns `None` if `build` does.
    fn get_or_build<S: PartialEq, T>(
        &mut self,
        file: &str,
        table_contents: S,
        select_built: fn(&mut ReadFiles) -> &mut GroundList<S, T>,
        build: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<Arc<T>> {
        let resolved_path = self.files.resolve(file);
        let earlier_entry = select_built(&mut self.read_files).iter().find(|(path, other_contents, _)| {
            Some(path) == resolved_path.as_ref() && *other_contents == table_contents
        });
        if let Some((_, _, ground)) = earlier_entry {
            return Some(Arc::clone(ground));
        }
        let ground = Arc::new(build(self)?);
        select_built(&mut self.read_files)
            .extend(resolved_path.map(|resolved_path| (resolved_path, table_contents, Arc::clone(&ground))));
        Some(ground)
    }

    /// Returns the height field of the picture `file`, shared by tables with equal contents. Returns `None` after a
    /// fault.
    pub fn height_field_from_file(
        &mut self,
        table: &str,
        spec: &HeightFieldSpec,
        file: &str,
    ) -> Option<Arc<HeightField>> {
        let table_contents = HeightFieldSpec { file: None, ..spec.clone() };
        self.get_or_build(
            file,
            table_contents,
            |read_files| &mut read_files.built_ground.height_fields,
            |builder| builder.build_picture_field(table, spec, file),
        )
    }

    /// Builds the height field of a picture: black is `lowest_m`, white `highest_m`, linear between them. Each of both
    /// keys that is missing is reported; the picture is read nevertheless, so that its faults are found, too.
    /// `highest_m` must not be below `lowest_m`. The number of pixels is added to the budget of the scene. Returns
    /// `None` after a fault, also if the picture has fewer than two rows or columns.
    fn build_picture_field(&mut self, table: &str, spec: &HeightFieldSpec, file: &str) -> Option<HeightField> {
        let heights = [("lowest_m", spec.lowest_m), ("highest_m", spec.highest_m)];
        for (key, _) in heights.iter().filter(|(_, value)| value.is_none()) {
            self.add_fault(
                FaultKind::MissingKey,
                table,
                key,
                "missing".into(),
                "the height of black or white pixels in m",
                None, // no help
            );
        }
        let picture = self.read_file(
            table,
            file,
            FileKind::Picture,
            "a grey-scale PNG file",
            |read_files| &mut read_files.pictures,
            |bytes, _name| picture::read(bytes),
        );
        let (lowest, highest, picture) = (spec.lowest_m?, spec.highest_m?, picture?);
        if highest < lowest {
            let accepts = format!("at least `lowest_m` ({lowest})");
            self.add_fault(FaultKind::Contradiction, table, "highest_m", highest.to_string(), accepts, None); // no help
            return None;
        }
        let [columns, rows] = picture.counts;
        if !self.add_to_budget(table, "file", [columns * rows, 0]) {
            return None;
        }
        let field = spec.field_from_heights(picture.counts, picture.heights(lowest, highest));
        let accepts = "a PNG file of at least two rows and two columns";
        field.map_err(|fault| self.report_file_fault(table, file, accepts, fault.to_string())).ok()
    }

    /// Adds the road of an OpenCRG file to `ground`: as a height field if it runs along +x on an even grid without
    /// missing heights, otherwise as a mesh. Adds nothing after a fault.
    pub fn add_crg_road(&mut self, table: &str, spec: &CrgSpec, ground: &mut Ground) {
        let table_contents = CrgSpec { file: String::new(), ..spec.clone() };
        let surface = self.get_or_build(
            &spec.file,
            table_contents,
            |read_files| &mut read_files.built_ground.crg_roads,
            |builder| builder.build_crg_surface(table, spec),
        );
        match surface.as_deref() {
            Some(RoadSurface::Field(field)) => ground.fields.push(Arc::clone(field)),
            Some(RoadSurface::Mesh(mesh)) => ground.meshes.push(Arc::clone(mesh)),
            None => {}
        }
    }

    /// Builds the surface of an OpenCRG file. The file itself is read once for all tables that name it. The heights
    /// and, for a mesh, the triangles (two for each cell) are added to the budget of the scene. A mesh with more than
    /// [`MAX_FILE_TRIANGLES`] is refused without being added. Returns `None` after a fault.
    fn build_crg_surface(&mut self, table: &str, spec: &CrgSpec) -> Option<RoadSurface> {
        let parse = |bytes: &[u8], name: &str| CrgRoad::read(name, bytes).map_err(FileError::Faults);
        let road = self.read_file(
            table,
            &spec.file,
            FileKind::Road,
            "an OpenCRG file",
            |read_files| &mut read_files.roads,
            parse,
        )?;
        let [rows, columns] = road.grid_counts();
        // A road along +x becomes a height field without triangles.
        let triangles = if road.spacing_along_x().is_some() { 0 } else { 2 * (rows - 1) * (columns - 1) };
        // `build_surface` refuses more triangles.
        if triangles <= MAX_FILE_TRIANGLES && !self.add_to_budget(table, "file", [rows * columns, triangles]) {
            return None;
        }
        let report_fault =
            |reason| self.report_file_fault(table, &spec.file, "a road within the limits of a scene", reason);
        crg::build_surface(&road, spec).map_err(report_fault).ok()
    }

    /// Returns the mesh of an OBJ or glTF file, shared by tables with equal contents. Returns `None` after a fault.
    pub fn mesh_from_file(&mut self, table: &str, spec: &MeshSpec, file: &str) -> Option<Arc<TriangleMesh>> {
        let table_contents = MeshSpec { file: None, ..spec.clone() };
        self.get_or_build(
            file,
            table_contents,
            |read_files| &mut read_files.built_ground.meshes,
            |builder| builder.build_file_mesh(table, spec, file),
        )
    }

    /// Builds the mesh of an OBJ or glTF file. Steps: read the file; add its triangles, or a third of its corners if
    /// that is more, to the budget; select the surface of each triangle by its material; add the notes of the file as
    /// warnings; convert the corners to the axes of the scene; build the mesh. Triangles without area add a warning.
    /// Returns `None` after a fault.
    fn build_file_mesh(&mut self, table: &str, spec: &MeshSpec, file: &str) -> Option<TriangleMesh> {
        let files = self.files;
        let parse = |bytes: &[u8], name: &str| read_mesh_file(name, bytes, files);
        let file_mesh = self.read_file(
            table,
            file,
            FileKind::Mesh,
            "an OBJ or glTF file",
            |read_files| &mut read_files.meshes,
            parse,
        )?;
        // Corners count as well, because unused ones take memory, too.
        if !self.add_to_budget(table, "file", [0, file_mesh.triangles.len().max(file_mesh.corners.len() / 3)]) {
            return None;
        }
        let surfaces = self.triangle_surfaces(table, spec, &file_mesh);
        let path = join_key(table, "file");
        for note in &file_mesh.notes {
            self.add_warning(&path, format!("{file}: {note}"));
        }
        let accepts = "triangles within the limits of a scene";
        let corners = file_mesh
            .to_scene_axes(spec)
            .map_err(|reason| self.report_file_fault(table, file, accepts, reason))
            .ok()?;
        let triangle_count = file_mesh.triangles.len();
        match spec.mesh_from_triangles(corners, file_mesh.triangles.clone(), surfaces?) {
            Ok(mesh) => {
                self.note_degenerate_triangles(&path, triangle_count, &mesh);
                Some(mesh)
            }
            Err(fault) => {
                self.report_file_fault(table, file, accepts, fault.to_string());
                None
            }
        }
    }

    /// Returns the contents of `file`, parsed by `parse` (bytes, name). A file is read only once for each resolved
    /// path: its contents are stored in the map that `select_cache` selects, and returned for later tables. A file with
    /// a fault is not stored. `description` names the kind of file in messages. Returns `None` after reporting a fault
    /// at the key `file` of `table`. Faults within the file are also added to `file_faults` as a separate report.
    fn read_file<T>(
        &mut self,
        table: &str,
        file: &str,
        kind: FileKind,
        description: &str,
        select_cache: FileCache<T>,
        parse: impl FnOnce(&[u8], &str) -> Result<T, FileError>,
    ) -> Option<Rc<T>> {
        let resolved_path = self.files.resolve(file);
        if let Some(cached) =
            resolved_path.as_ref().and_then(|resolved_path| select_cache(&mut self.read_files).get(resolved_path))
        {
            return Some(Rc::clone(cached));
        }
        let bytes = match self.files.read_ground(file, kind) {
            Ok(bytes) => bytes,
            Err(reason) => {
                self.report_file_fault(
                    table,
                    file,
                    &format!("the path of {description}, relative to this file"),
                    reason,
                );
                return None;
            }
        };
        let accepts = format!("{description} without faults");
        match parse(&bytes, file) {
            Ok(contents) => {
                let contents = Rc::new(contents);
                if let Some(resolved_path) = resolved_path {
                    select_cache(&mut self.read_files).insert(resolved_path, Rc::clone(&contents));
                }
                Some(contents)
            }
            Err(FileError::Reason(reason)) => {
                self.report_file_fault(table, file, &accepts, reason);
                None
            }
            Err(FileError::Faults(faults)) => {
                self.report_file_fault(table, file, &accepts, format!("{faults}, listed below"));
                self.collector.file_faults.push(faults);
                None
            }
        }
    }

    /// Reports the file of a table, with the reason `reason`.
    fn report_file_fault(&mut self, table: &str, file: &str, accepts: &str, reason: String) {
        self.add_fault(FaultKind::OutOfRange, table, "file", format!("{file:?}"), accepts, Some(reason));
    }

    /// Returns grip and texture of each triangle of `file_mesh`, in the order of the triangles: those of the surface in
    /// `spec` that names the material of the triangle, otherwise those of the mesh. Returns `None` after reporting
    /// every surface whose material does not exist in the file, or has a surface already.
    fn triangle_surfaces(
        &mut self,
        table: &str,
        spec: &MeshSpec,
        file_mesh: &FileMesh,
    ) -> Option<Vec<(f32, SurfaceTexture)>> {
        // Grip and texture of each material; `None` for those of the mesh.
        let mut material_surfaces = vec![None; file_mesh.materials.len()];
        let mut is_valid = true;
        for (i, surface) in spec.surfaces.iter().enumerate() {
            let (path, name) = (format!("{table}.surface[{i}]"), surface.material.as_str());
            match file_mesh.material_index(name).map(|material_index| material_index as usize) {
                Some(material_index) if material_surfaces[material_index].is_some() => {
                    let found = format!("{name:?} already has a surface");
                    // No help text.
                    self.add_fault(FaultKind::Contradiction, &path, "material", found, "another material", None);
                    is_valid = false;
                }
                Some(material_index) => {
                    let texture = RoughnessSpec::surface_texture(surface.roughness.as_ref());
                    material_surfaces[material_index] = Some((surface.grip as f32, texture));
                }
                None => {
                    self.report_unknown_material(&path, name, &file_mesh.materials);
                    is_valid = false;
                }
            }
        }
        let surface_of_material = |material_index: Option<u32>| {
            material_index.and_then(|material_index| material_surfaces[material_index as usize])
        };
        let surfaces = file_mesh
            .triangle_materials
            .iter()
            .map(|&material_index| surface_of_material(material_index).unwrap_or(spec.surface()));
        is_valid.then(|| surfaces.collect())
    }

    /// Reports at the key `material` of `path` that the file has no material `name`. `materials` are the materials of
    /// the file: the most similar one is suggested; the first [`MAX_LISTED_NAMES`] and the number of others are listed.
    fn report_unknown_material(&mut self, path: &str, name: &str, materials: &[String]) {
        let listed_names: Vec<String> =
            materials.iter().take(MAX_LISTED_NAMES).map(|name| format!("`{name}`")).collect();
        let omitted_count = materials.len().saturating_sub(MAX_LISTED_NAMES);
        let accepts = match (listed_names.is_empty(), omitted_count) {
            (true, _) => "absent, because the file has no materials".to_owned(),
            (_, 0) => format!("one of {}", listed_names.join(", ")),
            _ => format!("one of {} and {omitted_count} more", listed_names.join(", ")),
        };
        let similar_name = nearest_word(name, materials.iter().map(String::as_str))
            .map(|similar_name| format!("did you mean `{similar_name}`?"));
        self.add_fault(FaultKind::OutOfRange, path, "material", format!("{name:?}"), accepts, similar_name);
    }
}

/// Reads the triangles of a file. The ending of `name`, in any case, selects the format: `.obj`, `.gltf` or `.glb`.
/// Buffers of a glTF file are read through `files`, relative to the folder of the mesh file and each only once. Any
/// other ending is an error.
fn read_mesh_file(name: &str, bytes: &[u8], files: FileResolver<'_>) -> Result<FileMesh, FileError> {
    let path = Path::new(name);
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("");
    match extension.to_ascii_lowercase().as_str() {
        "obj" => obj::read(name, bytes),
        "gltf" | "glb" => {
            let mut buffers_by_path: BTreeMap<PathBuf, SharedBytes<'_>> = BTreeMap::new();
            gltf::read(bytes, |buffer| {
                let buffer_path = files.resolve_buffer(name, buffer)?;
                if let Some(buffer_bytes) = buffers_by_path.get(&buffer_path) {
                    return Ok(Rc::clone(buffer_bytes));
                }
                let buffer_bytes = Rc::new(Cow::Owned(files.read_buffer(name, buffer)?));
                buffers_by_path.insert(buffer_path, Rc::clone(&buffer_bytes));
                Ok(buffer_bytes)
            })
        }
        _ => Err(FileError::Reason(format!(
            "the extension {extension:?} is not supported; use `.obj`, `.gltf` or `.glb`"
        ))),
    }
}
