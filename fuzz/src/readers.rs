//! Bodies of the fuzz targets: each passes bytes to one reader and checks the invariants that hold for any input.
//!
//! The targets of cargo-fuzz, the tests of the workspace and `cargo xtask linearity` share these bodies.

#[path = "../../crates/skidpad-spec/tests/it/any_text.rs"]
mod any_text;

use std::cell::RefCell;
use std::sync::{Arc, LazyLock};

use skidpad::core::state::Placement;
use skidpad::core::tyre::{Conditions, PreparedTyre, TyreModel};
use skidpad::core::{CarStart, Controls, FreeBody, LoadError, Model, Scene, Simulation, SolverInfo, State, Vec3};
use skidpad::lab::Script;
use skidpad::spec::import::{ImportOptions, Source};
use skidpad::spec::{Excerpt, Faults, LineIndex, LoadedScene, LoadedVehicle, printable, tir};

/// Reader of external bytes.
pub struct Reader {
    /// Name of the fuzz target and of the folder of its corpus.
    pub name: &'static str,
    /// Name of the dictionary.
    pub dictionary: &'static str,
    /// Files and folders of the repository that are seeds in addition to the corpus.
    pub seeds: &'static [&'static str],
    /// Function that reads bytes. It panics if an invariant of the reader is violated.
    pub read: fn(&[u8]),
}

/// Readers of all fuzz targets.
pub const READERS: [Reader; 18] = [
    reader("vehicle", "toml", &["vehicles", "vehicles/trailers"], fuzz_vehicle),
    reader("scene", "toml", &["scenes"], fuzz_scene),
    reader("tyre", "tyre", &["vehicles/tyres"], fuzz_tyre),
    reader("controls", "controls", &["scenes"], fuzz_controls),
    reader("obj", "obj", &["scenes/kerb.obj"], |bytes| fuzz_mesh("obj", bytes)),
    reader("gltf", "gltf", &["crates/skidpad-spec/tests/it/ground"], |bytes| fuzz_mesh("glb", bytes)),
    reader("picture", "binary", &["crates/skidpad-spec/tests/it/ground", "scenes/hill.png"], fuzz_picture),
    reader("crg", "crg", &["crates/skidpad-spec/tests/it/ground"], fuzz_crg),
    reader("bullet", "toml", &["crates/skidpad-import/tests/it/files/bullet.toml"], |bytes| {
        fuzz_importer(Source::Bullet, bytes)
    }),
    reader("rapier", "toml", &["crates/skidpad-import/tests/it/files/rapier.toml"], |bytes| {
        fuzz_importer(Source::Rapier, bytes)
    }),
    reader("godot", "godot", &["crates/skidpad-import/tests/it/files/car.tscn"], |bytes| {
        fuzz_importer(Source::Godot, bytes)
    }),
    reader("unity", "yaml", &["crates/skidpad-import/tests/it/files/unity5_default.prefab"], |bytes| {
        fuzz_importer(Source::Unity, bytes)
    }),
    reader("jolt", "toml", &["crates/skidpad-import/tests/it/files/jolt.toml"], |bytes| {
        fuzz_importer(Source::Jolt, bytes)
    }),
    reader("physx", "toml", &["crates/skidpad-import/tests/it/files/physx.toml"], |bytes| {
        fuzz_importer(Source::Physx, bytes)
    }),
    reader("commonroad", "yaml", &["crates/skidpad-import/tests/it/files/commonroad_2.yaml"], |bytes| {
        fuzz_importer(Source::Commonroad, bytes)
    }),
    reader("state", "binary", &[], fuzz_state),
    reader("world", "binary", &[], fuzz_world),
    reader("text", "text", &[], fuzz_text),
];

/// Returns the reader with these fields.
const fn reader(
    name: &'static str,
    dictionary: &'static str,
    seeds: &'static [&'static str],
    read: fn(&[u8]),
) -> Reader {
    Reader { name, dictionary, seeds, read }
}

/// Checks that `text` has no characters that act on a terminal: control characters except line breaks and tabs, and
/// bidirectional overrides.
fn check_printable(text: &str) {
    let acts_on_terminal =
        |&c: &char| !matches!(c, '\n' | '\t') && (c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c));
    assert_eq!(text.chars().find(acts_on_terminal), None, "{text:?}");
}

/// Checks that there is a fault, that every fault has a position in `text` and names accepted values, and that the
/// faults can be printed safely. For one text length in sixteen, the rendered report is checked, too.
fn check_faults(faults: &Faults, text: &str) {
    assert!(!faults.list().is_empty());
    for fault in faults.list() {
        assert!(text.get(fault.span.clone()).is_some(), "{fault:?}");
        assert!(fault.line > 0 && fault.column > 0 && !fault.accepts.is_empty(), "{fault:?}");
    }
    check_printable(&faults.to_text());
    // Rendering fifty faults takes longer than finding them, so only one length in sixteen is rendered.
    if text.len().is_multiple_of(16) {
        check_printable(&faults.render());
    }
    faults
        .files()
        .iter()
        .filter(|file_faults| file_faults.list().len().is_multiple_of(4))
        .for_each(|file_faults| check_printable(&file_faults.render()));
}

/// Reads `bytes` as a vehicle file, checks the invariants of [`any_text::read_checked`], and checks the notes or the
/// faults.
fn fuzz_vehicle(bytes: &[u8]) {
    let text = &String::from_utf8_lossy(bytes);
    match any_text::read_checked(text) {
        Ok(loaded) => loaded.notes.iter().for_each(|note| check_printable(&note.to_string())),
        Err(faults) => check_faults(&faults, text),
    }
}

/// Checks the result of reading the scene `text`: printable notes and a finite heading, or valid faults.
fn check_scene(result: Result<LoadedScene, Faults>, text: &str) {
    match result {
        Ok(loaded) => {
            for note in &loaded.notes {
                check_printable(&note.to_string());
            }
            assert!(loaded.placement().heading.is_finite());
        }
        Err(faults) => check_faults(&faults, text),
    }
}

/// Reads `bytes` as a scene file and checks the result.
fn fuzz_scene(bytes: &[u8]) {
    let text = &String::from_utf8_lossy(bytes);
    check_scene(LoadedScene::read("input.toml", text), text);
}

/// Reads `bytes` as a tyre property file (`.tir`). An accepted tyre must have finite forces at one load and slip.
/// Faults must be valid and name the file.
fn fuzz_tyre(bytes: &[u8]) {
    let text = &String::from_utf8_lossy(bytes);
    match tir::read("input.tir", text) {
        Ok(file) => {
            let point = file.tyre.prepare(&Conditions::upright(4000.0f32, 20.0));
            let force = point.force([0.05, -0.03]).force;
            assert!(force.iter().all(|force| force.is_finite()), "{force:?}");
            file.notes.iter().for_each(|note| check_printable(&note.to_string()));
        }
        Err(faults) => {
            check_faults(&faults, text);
            assert!(faults.to_text().contains("input.tir"));
        }
    }
}

/// Returns the model of a shipped vehicle.
fn shipped(name: &str) -> Arc<Model> {
    skidpad::spec::load(name).expect("shipped").model
}

/// Reads `bytes` as a table of controls. If it is not accepted, there must be a fault, and every fault must be
/// printable and have a place in the text.
fn fuzz_controls(bytes: &[u8]) {
    static CONTROLS_TEST_CAR: LazyLock<Arc<Model>> = LazyLock::new(|| shipped("corvette_c5"));
    let text = &String::from_utf8_lossy(bytes);
    let Err(faults) = Script::parse(text, &CONTROLS_TEST_CAR) else { return };
    let lines = LineIndex::new(text);
    assert!(!faults.0.is_empty());
    for fault in &faults.0 {
        check_printable(&fault.to_string());
        let excerpt = Excerpt::new("input.csv", &lines, std::slice::from_ref(&fault.span));
        assert_eq!(excerpt.spans().count(), 1, "{fault:?}");
    }
}

/// Writes `bytes` to the file `name` in a temporary folder, reads the scene `scene`, which refers to this file, and
/// checks the result. Each thread has a folder of its own, in which files of earlier inputs remain.
fn read_scene_file(scene: &str, name: &str, bytes: &[u8]) {
    thread_local!(static FOLDER: tempfile::TempDir = tempfile::tempdir().expect("a temporary folder"));
    FOLDER.with(|folder| {
        std::fs::write(folder.path().join(name), bytes).expect("writable");
        check_scene(LoadedScene::read_in(folder.path(), "scene.toml", scene), scene);
    });
}

/// Reads `bytes` as the file of a mesh with this `extension`.
fn fuzz_mesh(extension: &str, bytes: &[u8]) {
    let name = format!("input.{extension}");
    read_scene_file(&format!("[[mesh]]\nfile = \"{name}\"\n"), &name, bytes);
}

/// Reads `bytes` as the PNG picture of a height field.
fn fuzz_picture(bytes: &[u8]) {
    let field = "[[height_field]]\nfile = \"input.png\"\nlowest_m = 0\nhighest_m = 1\nspacing_m = 1\n";
    read_scene_file(field, "input.png", bytes);
}

/// Reads `bytes` as an OpenCRG road.
fn fuzz_crg(bytes: &[u8]) {
    read_scene_file("[[crg]]\nfile = \"input.crg\"\n", "input.crg", bytes);
}

/// Imports `bytes` as a car of the program `source`. An accepted car must compile and have printable notes. Faults must
/// be valid.
fn fuzz_importer(source: Source, bytes: &[u8]) {
    let text = &String::from_utf8_lossy(bytes);
    match source.import("input", text, ImportOptions::default()) {
        Ok(imported) => {
            assert!(imported.spec.compile().is_ok(), "{}", imported.text);
            imported.notes.iter().for_each(|note| check_printable(&note.to_string()));
        }
        Err(faults) => check_faults(&faults, text),
    }
}

/// Length of a step of the worlds, s.
const STEP_S: f32 = 1.0 / 60.0;

/// World of one solver, with the bytes of its initial state.
struct World {
    solver: SolverInfo,
    world: Box<dyn Simulation>,
    saved: Vec<u8>,
    /// Whether the motion stays finite after any accepted bytes. False for Rapier's vehicle controller, which is not
    /// skidpad's code.
    stays_finite: bool,
}

impl World {
    /// Creates the world: two cars side by side on a slope, and a box in the air. Drives ten steps, then saves the
    /// initial state.
    fn new(solver: &SolverInfo) -> Self {
        let car_starts = [("corvette_c5", 20.0), ("truck_6x4", 10.0)].map(|(name, speed)| CarStart {
            model: shipped(name),
            placement: Placement { y: 4.0 * f64::from(speed), speed, ..Placement::default() },
        });
        let mut scene = Scene::sloping(0.1);
        scene.free_bodies.push(FreeBody::solid_box(100.0, Vec3::ONE, scene.point_above_plane(0.0, -20.0, 3.0)));
        let mut world = (solver.build_world)(&scene, &car_starts, STEP_S);
        // The free body is still falling, since a Rapier world cannot be saved while a body is in contact.
        for _ in 0..10 {
            world.step(&[Self::controls(), Self::controls()]);
        }
        let saved = world.save().expect("no hull touches anything");
        Self { solver: *solver, world, saved, stays_finite: solver.name != "rapier-stock" }
    }

    /// Returns the controls of all cars in every step.
    fn controls() -> Controls {
        Controls { throttle: 0.7, steer: 0.05, ..Controls::default() }
    }

    /// Takes three steps. After every step, checks that the states of both cars are finite (only if `stays_finite`) and
    /// reads their telemetry, which must not panic. Saving the world at the end may fail, but must not panic.
    fn step_and_check(&mut self) {
        for step in 0..3 {
            self.world.step(&[Self::controls(), Self::controls()]);
            let is_finite = (0..2).all(|car| self.world.state(car).is_finite());
            assert!(is_finite || !self.stays_finite, "{} step {step}", self.world.name());
            (0..2).for_each(|car| drop(self.world.frame(car)));
        }
        _ = self.world.save();
    }

    /// Loads the bytes of the initial state. Rebuilds the world if an input has loaded cars of other generations into
    /// its slots.
    fn reset(&mut self) {
        match self.world.load(&self.saved) {
            Ok(()) => {}
            Err(LoadError::Generation { .. }) => *self = Self::new(&self.solver),
            Err(error) => panic!("own bytes: {error}"),
        }
    }
}

thread_local!(static WORLDS: RefCell<Vec<World>> = RefCell::new(
    skidpad::solvers().iter().chain(&skidpad::solver_variants()).map(World::new).collect()
));

/// Returns the saved bytes of the first car and of the world of the first solver.
pub fn saved() -> [Vec<u8>; 2] {
    WORLDS.with_borrow(|worlds| [worlds[0].world.state(0).to_bytes(), worlds[0].saved.clone()])
}

/// Reads `bytes` as the state of a car with four wheels, and of one with six. Sets an accepted state in the world of
/// every solver, which may reject it, and checks the following steps.
fn fuzz_state(bytes: &[u8]) {
    for (car, wheels) in [(0, 4), (1, 6)] {
        let Ok(state) = State::from_bytes(bytes, wheels) else { continue };
        WORLDS.with_borrow_mut(|worlds| {
            for world in worlds {
                world.reset();
                _ = world.world.set_state(car, &state);
                world.step_and_check();
            }
        });
    }
}

/// Loads `bytes` into the world of every solver. Checks the following steps, or that the error can be printed, and
/// restores the initial state.
fn fuzz_world(bytes: &[u8]) {
    WORLDS.with_borrow_mut(|worlds| {
        for world in worlds {
            match world.world.load(bytes) {
                Ok(()) => world.step_and_check(),
                Err(error) => check_printable(&error.to_string()),
            }
            world.reset();
        }
    });
}

/// Passes one text to every function that prints names: escapes, unknown vehicles, unknown keys, file names.
fn fuzz_text(bytes: &[u8]) {
    let text = &String::from_utf8_lossy(bytes);
    check_printable(&printable::one_line(text));
    check_printable(&printable::lines(text));
    let quoted = format!("{text:?}").replace("\\'", "'").replace("\\0", "\\u0000");
    let sources = [format!("name = {quoted}\n"), format!("{quoted} = 1\n"), format!("# {text}\nname = 3\n")];
    for source in sources {
        if let Err(faults) = LoadedVehicle::read(text, &source) {
            check_faults(&faults, &source);
        }
    }
    // Separators and dots are removed, so that the name is not a path and no file is opened.
    let name = text.replace(['/', '\\', '.', '\0'], "");
    if let Err(error) = skidpad::spec::load(&name) {
        check_printable(&error.to_string());
    }
}
