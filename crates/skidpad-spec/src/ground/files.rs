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
use crate::spec::{CrgSpec, HeightFieldSpec, MeshSpec, TextureSpec};
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
    built_ground: (
        BuiltGround<HeightFieldSpec, HeightField>,
        BuiltGround<MeshSpec, TriangleMesh>,
        BuiltGround<CrgSpec, RoadSurface>,
    ),
}

/// Ground built from files: path of the file, contents of the table apart from the path, and the ground.
type BuiltGround<S, T> = Vec<(PathBuf, S, Arc<T>)>;

/// Access to the files of one kind in [`ReadFiles`].
type FileCache<T> = fn(&mut ReadFiles) -> &mut BTreeMap<PathBuf, Rc<T>>;

impl Builder<'_> {
    /// Returns the ground of an earlier table with the same file and the same contents `said`. If there is none, builds
    /// it with `make` and stores it under the resolved path, if there is one. `made` selects the list of ground of this
    /// kind. Returns `None` if `make` does.
    fn get_or_build<S: PartialEq, T>(
        &mut self,
        file: &str,
        said: S,
        made: fn(&mut ReadFiles) -> &mut BuiltGround<S, T>,
        make: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<Arc<T>> {
        let place = self.files.resolve(file);
        let known = made(&mut self.read).iter().find(|(path, other, _)| Some(path) == place.as_ref() && *other == said);
        if let Some((_, _, ground)) = known {
            return Some(Arc::clone(ground));
        }
        let ground = Arc::new(make(self)?);
        made(&mut self.read).extend(place.map(|place| (place, said, Arc::clone(&ground))));
        Some(ground)
    }

    /// Returns the height field of the picture `file`, shared by tables with equal contents. Returns `None` after a
    /// fault.
    pub fn height_field_from_file(
        &mut self,
        table: &str,
        of: &HeightFieldSpec,
        file: &str,
    ) -> Option<Arc<HeightField>> {
        let said = HeightFieldSpec { file: None, ..of.clone() };
        self.get_or_build(
            file,
            said,
            // Height fields.
            |read| &mut read.built_ground.0,
            |builder| builder.build_picture_field(table, of, file),
        )
    }

    /// Builds the height field of a picture: black is `lowest_m`, white `highest_m`, linear between them. Both keys are
    /// required, and `highest_m` must not be below `lowest_m`. The number of pixels is added to the budget of the scene.
    /// Returns `None` after a fault, also if the picture has fewer than two rows or columns.
    fn build_picture_field(&mut self, table: &str, of: &HeightFieldSpec, file: &str) -> Option<HeightField> {
        let heights = [("lowest_m", of.lowest_m), ("highest_m", of.highest_m)];
        for (key, _) in heights.iter().filter(|(_, given)| given.is_none()) {
            self.add_fault(
                FaultKind::MissingKey,
                table,
                key,
                "missing".into(),
                "the height in m of black or white",
                None,
            );
        }
        let picture = self.read_file(
            table,
            file,
            FileKind::Picture,
            "a PNG picture in grey",
            |read| &mut read.pictures,
            |bytes, _| picture::read(bytes),
        );
        let (lowest, highest, picture) = (of.lowest_m?, of.highest_m?, picture?);
        if highest < lowest {
            let accepts = format!("at least the `lowest_m` of {lowest}");
            self.add_fault(FaultKind::Contradiction, table, "highest_m", highest.to_string(), accepts, None);
            return None;
        }
        let [columns, rows] = picture.counts;
        if !self.add_to_budget(table, "file", [columns * rows, 0]) {
            return None;
        }
        let field = of.field_from_heights(picture.counts, picture.heights(lowest, highest));
        let accepts = "a PNG picture of two rows and two columns at least";
        field.map_err(|fault| self.report_file_fault(table, file, accepts, fault.to_string())).ok()
    }

    /// Adds the road of an OpenCRG file to `ground`: as a height field if it runs along +x on an even grid without
    /// missing heights, otherwise as a mesh. Adds nothing after a fault.
    pub fn add_crg_road(&mut self, table: &str, of: &CrgSpec, ground: &mut Ground) {
        let said = CrgSpec { file: String::new(), ..of.clone() };
        let surface = self.get_or_build(
            &of.file,
            said,
            // OpenCRG roads.
            |read| &mut read.built_ground.2,
            |builder| builder.build_crg_surface(table, of),
        );
        match surface.as_deref() {
            Some(RoadSurface::Field(field)) => ground.fields.push(Arc::clone(field)),
            Some(RoadSurface::Mesh(mesh)) => ground.meshes.push(Arc::clone(mesh)),
            None => {}
        }
    }

    /// Builds the surface of an OpenCRG file. Its heights and, for a mesh, its triangles are added to the budget of the
    /// scene; a mesh above the limit of a file is refused instead. Returns `None` after a fault.
    fn build_crg_surface(&mut self, table: &str, of: &CrgSpec) -> Option<RoadSurface> {
        let read = |bytes: &[u8], name: &str| CrgRoad::read(name, bytes).map_err(FileError::Faults);
        let road = self.read_file(table, &of.file, FileKind::Road, "an OpenCRG file", |read| &mut read.roads, read)?;
        let [rows, columns] = road.grid_counts();
        // A road along +x becomes a height field without triangles.
        let triangles = if road.spacing_along_x().is_some() { 0 } else { 2 * (rows - 1) * (columns - 1) };
        if triangles <= MAX_FILE_TRIANGLES && !self.add_to_budget(table, "file", [rows * columns, triangles]) {
            return None;
        }
        let refuse = |why| self.report_file_fault(table, &of.file, "a road that fits in a scene", why);
        crg::build_surface(&road, of).map_err(refuse).ok()
    }

    /// Returns the mesh of an OBJ or glTF file, shared by tables with equal contents. Returns `None` after a fault.
    pub fn mesh_from_file(&mut self, table: &str, of: &MeshSpec, file: &str) -> Option<Arc<TriangleMesh>> {
        let said = MeshSpec { file: None, ..of.clone() };
        self.get_or_build(
            file,
            said,
            // Meshes.
            |read| &mut read.built_ground.1,
            |builder| builder.build_file_mesh(table, of, file),
        )
    }

    /// Builds the mesh of an OBJ or glTF file: reads it, adds its triangles to the budget, assigns a surface to each
    /// triangle by its material, and converts the corners to the axes of the scene. Notes of the file and triangles
    /// without area add warnings. Returns `None` after a fault.
    fn build_file_mesh(&mut self, table: &str, of: &MeshSpec, file: &str) -> Option<TriangleMesh> {
        let files = self.files;
        let read = |bytes: &[u8], name: &str| read_mesh_file(name, bytes, files);
        let read = self.read_file(table, file, FileKind::Mesh, "an OBJ or glTF file", |read| &mut read.meshes, read)?;
        // Corners count as well, because unused ones take memory, too.
        if !self.add_to_budget(table, "file", [0, read.triangles.len().max(read.corners.len() / 3)]) {
            return None;
        }
        let surfaces = self.triangle_surfaces(table, of, &read);
        let path = join_key(table, "file");
        for note in &read.notes {
            self.add_warning(&path, format!("{file}: {note}"));
        }
        let accepts = "a file of triangles that fit in a scene";
        let corners = read.to_scene_axes(of).map_err(|why| self.report_file_fault(table, file, accepts, why)).ok()?;
        let count = read.triangles.len();
        match of.mesh_from_triangles(corners, read.triangles.clone(), surfaces?) {
            Ok(mesh) => {
                self.note_degenerate_triangles(&path, count, &mesh);
                Some(mesh)
            }
            Err(fault) => {
                self.report_file_fault(table, file, accepts, fault.to_string());
                None
            }
        }
    }

    /// Returns the contents of `file`. Reads the bytes and parses them with `read` only once for each resolved path;
    /// `of_kind` selects the store of this kind. `what` describes the kind of file in messages. Returns `None` after
    /// reporting a fault. Faults within the file are kept as a separate report.
    fn read_file<T>(
        &mut self,
        table: &str,
        file: &str,
        kind: FileKind,
        what: &str,
        of_kind: FileCache<T>,
        read: impl FnOnce(&[u8], &str) -> Result<T, FileError>,
    ) -> Option<Rc<T>> {
        let place = self.files.resolve(file);
        if let Some(known) = place.as_ref().and_then(|place| of_kind(&mut self.read).get(place)) {
            return Some(Rc::clone(known));
        }
        let bytes = match self.files.read_ground(file, kind) {
            Ok(bytes) => bytes,
            Err(why) => {
                self.report_file_fault(table, file, &format!("the path of {what}, relative to this file"), why);
                return None;
            }
        };
        let accepts = format!("{what} without faults");
        match read(&bytes, file) {
            Ok(read) => {
                let read = Rc::new(read);
                if let Some(place) = place {
                    of_kind(&mut self.read).insert(place, Rc::clone(&read));
                }
                Some(read)
            }
            Err(FileError::Reason(why)) => {
                self.report_file_fault(table, file, &accepts, why);
                None
            }
            Err(FileError::Faults(faults)) => {
                self.report_file_fault(table, file, &accepts, format!("{faults}, told below"));
                self.collector.file_faults.push(faults);
                None
            }
        }
    }

    /// Reports the file of a table, with the reason `why`.
    fn report_file_fault(&mut self, table: &str, file: &str, accepts: &str, why: String) {
        self.add_fault(FaultKind::OutOfRange, table, "file", format!("{file:?}"), accepts, Some(why));
    }

    /// Returns grip and texture of each triangle: those of the surface that names its material, otherwise those of the
    /// mesh. Returns `None` after reporting every surface whose material does not exist or has a surface already.
    fn triangle_surfaces(&mut self, table: &str, of: &MeshSpec, read: &FileMesh) -> Option<Vec<(f32, SurfaceTexture)>> {
        // Grip and texture of each material; `None` for those of the mesh.
        let mut of_materials = vec![None; read.materials.len()];
        let mut sound = true;
        for (i, surface) in of.surfaces.iter().enumerate() {
            let (path, name) = (format!("{table}.surface[{i}]"), surface.material.as_str());
            match read.material_index(name).map(|number| number as usize) {
                Some(number) if of_materials[number].is_some() => {
                    let found = format!("{name:?} has a surface already");
                    self.add_fault(FaultKind::Contradiction, &path, "material", found, "another material", None);
                    sound = false;
                }
                Some(number) => {
                    let texture = TextureSpec::surface_texture(surface.texture.as_ref());
                    of_materials[number] = Some((surface.grip as f32, texture));
                }
                None => {
                    self.report_unknown_material(&path, name, &read.materials);
                    sound = false;
                }
            }
        }
        let surface = |number: Option<u32>| number.and_then(|number| of_materials[number as usize]);
        let surfaces = read.triangle_materials.iter().map(|&number| surface(number).unwrap_or(of.surface()));
        sound.then(|| surfaces.collect())
    }

    /// Reports that the file has no material `name`, with a suggestion. `there` are its materials, of which the first
    /// [`MAX_LISTED_NAMES`] are listed.
    fn report_unknown_material(&mut self, path: &str, name: &str, there: &[String]) {
        let named: Vec<String> = there.iter().take(MAX_LISTED_NAMES).map(|name| format!("`{name}`")).collect();
        let more = there.len().saturating_sub(MAX_LISTED_NAMES);
        let accepts = match (named.is_empty(), more) {
            (true, _) => "absent, as the file has no materials".to_owned(),
            (_, 0) => format!("one of {}", named.join(", ")),
            _ => format!("one of {} and {more} more", named.join(", ")),
        };
        let like = nearest_word(name, there.iter().map(String::as_str)).map(|like| format!("did you mean `{like}`?"));
        self.add_fault(FaultKind::OutOfRange, path, "material", format!("{name:?}"), accepts, like);
    }
}

/// Reads the triangles of a file. The ending of `name`, in any case, selects the format: `.obj`, `.gltf` or `.glb`.
/// Buffers of a glTF file are read through `files`, each only once. Any other ending is an error.
fn read_mesh_file(name: &str, bytes: &[u8], files: FileResolver<'_>) -> Result<FileMesh, FileError> {
    let path = Path::new(name);
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("");
    match ending.to_ascii_lowercase().as_str() {
        "obj" => obj::read(name, bytes),
        "gltf" | "glb" => {
            let mut known: BTreeMap<PathBuf, SharedBytes<'_>> = BTreeMap::new();
            gltf::read(bytes, |buffer| {
                let place = files.resolve_buffer(name, buffer)?;
                if let Some(shared) = known.get(&place) {
                    return Ok(Rc::clone(shared));
                }
                let shared = Rc::new(Cow::Owned(files.read_buffer(name, buffer)?));
                known.insert(place, Rc::clone(&shared));
                Ok(shared)
            })
        }
        _ => Err(FileError::Reason(format!(
            "the ending {ending:?} says of no file what it is; `.obj`, `.gltf` and `.glb` do"
        ))),
    }
}
