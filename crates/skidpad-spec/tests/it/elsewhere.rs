//! Tests that files outside of the folder of the file that names them, and files that are not regular, are not opened.

use skidpad_spec::{Folders, LoadedScene, load, load_from, shipped, tir};
use std::path::{Path, PathBuf};

/// Content of a file that no message may contain.
const SECRET: &str = "root_x_0_0_secret";

/// Temporary folder with the folders `own`, for the files of a test, and `other`, with a file for each reader.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().expect("a folder"));
        for name in ["own/below", "other"] {
            std::fs::create_dir_all(folder.path(name)).expect("writable");
        }
        for (name, bytes) in [
            ("secret", SECRET.as_bytes()),
            ("a.tir", tir::find("c5_rear").expect("shipped").as_bytes()),
            ("a.png", include_bytes!("ground/grey8.png")),
            ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 2 3\n"),
            ("nodes of.bin", include_bytes!("ground/nodes of.bin")),
        ] {
            std::fs::write(folder.path("other").join(name), bytes).expect("writable");
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, text).expect("writable");
        path.to_string_lossy().into_owned()
    }

    /// Returns every path by which a file in `own` can name the file `name` in `other`. Creates links for some of them.
    fn ways(&self, name: &str) -> Vec<String> {
        let absolute = self.path("other").join(name).to_string_lossy().into_owned();
        #[cfg_attr(not(unix), expect(unused_mut, reason = "links are made on Unix"))]
        let mut ways = vec![format!("../other/{name}"), format!("below/../../other/{name}"), absolute];
        #[cfg(unix)]
        {
            let link = format!("link {name}");
            std::os::unix::fs::symlink(self.path("other").join(name), self.path("own").join(&link)).expect("a link");
            ways.push(link);
            // The link exists from the second call on. The error is ignored.
            _ = std::os::unix::fs::symlink("../other", self.path("own/folder"));
            ways.push(format!("folder/{name}"));
        }
        ways
    }
}

fn refused(told: &str) {
    assert!(told.contains("lies outside of the folder of the referring file"), "{told}");
    assert!(told.contains("--allow-root") && !told.contains(SECRET), "{told}");
}

fn car(tyre: &str) -> String {
    shipped::find("corvette_c5_mf")
        .expect("shipped")
        .replace("tyres/c5_front.tir", tyre)
        .replace("tyres/c5_rear.tir", tyre)
}

#[test]
fn tyre_files_lie_below_their_vehicle_file() {
    let folder = Folder::new();
    for file in ["secret", "a.tir"] {
        for way in folder.ways(file) {
            let path = folder.write("own/car.toml", &car(&way));
            let skidpad_spec::LoadError::Faults(faults) = load(&path).expect_err("refused") else {
                panic!("no faults")
            };
            refused(&faults.to_text());
            assert!(!faults.render().contains(SECRET), "{}", faults.render());
            let found = load_from(&path, &[folder.path("other")]);
            assert_eq!(found.is_ok(), file == "a.tir", "{way}");
        }
    }
}

#[test]
fn ground_lies_below_its_scene_file() {
    let folder = Folder::new();
    let field = |file: &str| {
        format!(
            "[[height_field]]\nfile = {file:?}\nlowest_m = 0\nhighest_m = 1\ncorner_m = [0, 0, 0]\nspacing_m = [1, 1]\n"
        )
    };
    let mesh = |file: &str| format!("[[mesh]]\nfile = {file:?}\n");
    let road = |file: &str| format!("[[crg]]\nfile = {file:?}\n");
    type Text<'a> = &'a dyn Fn(&str) -> String;
    let kinds: [(&str, Text, bool); 4] =
        [("a.png", &field, true), ("a.obj", &mesh, true), ("secret", &road, false), ("secret", &field, false)];
    for (name, text, is_sound) in kinds {
        for way in folder.ways(name) {
            let path = PathBuf::from(folder.write("own/scene.toml", &text(&way)));
            let told = LoadedScene::load(&path).expect_err("refused");
            let skidpad_spec::LoadError::Faults(faults) = told else { panic!("no faults") };
            refused(&faults.to_text());
            let found = LoadedScene::load_from(&path, &[folder.path("other")]);
            assert_eq!(found.is_ok(), is_sound, "{way}: {found:?}");
        }
        _ = std::fs::remove_file(folder.path("own").join(format!("link {name}")));
        let folders = Folders::from(&folder.path("own")).allow(folder.path("other"));
        assert_eq!(LoadedScene::read_in(folders, "scene.toml", &text(&format!("../other/{name}"))).is_ok(), is_sound);
    }
}

/// Checks that a buffer outside is rejected, also if the path is percent-encoded, or if the buffer is below the scene but not below the
/// glTF file.
#[test]
fn buffers_lie_below_their_gltf_file() {
    let folder = Folder::new();
    let gltf = include_str!("ground/nodes.gltf");
    std::fs::copy(folder.path("other/nodes of.bin"), folder.path("own/nodes of.bin")).expect("writable");
    let scene = PathBuf::from(folder.write("own/scene.toml", "[[mesh]]\nfile = \"below/a.gltf\"\n"));
    let absolute = folder.path("other/nodes of.bin").to_string_lossy().into_owned();
    for uri in [
        "../../other/nodes of.bin",
        "%2e%2e/%2E%2E/other/nodes%20of.bin",
        "..%2f..%2fother%2fnodes%20of.bin",
        "../nodes of.bin",
        &absolute,
        "/dev/zero",
        "%2fetc%2fpasswd",
    ] {
        folder.write("own/below/a.gltf", &gltf.replace("nodes%20of.bin", uri));
        let told = LoadedScene::load(&scene).expect_err(uri);
        let skidpad_spec::LoadError::Faults(faults) = told else { panic!("no faults") };
        refused(&faults.to_text());
    }
    for uri in ["file:///etc/passwd", "http://localhost/a.bin"] {
        folder.write("own/below/a.gltf", &gltf.replace("nodes%20of.bin", uri));
        assert!(LoadedScene::load(&scene).is_err(), "{uri}");
    }
    folder.write("own/below/a.gltf", &gltf.replace("nodes%20of.bin", "../../other/nodes%20of.bin"));
    LoadedScene::load_from(&scene, &[folder.path("other")]).expect("allowed");
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_are_not_read() {
    let folder = Folder::new();
    let pipe = folder.path("own/pipe.tir");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    std::os::unix::fs::symlink("/dev/zero", folder.path("own/zero.tir")).expect("a link");
    for name in ["pipe.tir", "zero.tir"] {
        let path = folder.write("own/car.toml", &car(name));
        let told = load(&path).expect_err("refused");
        let skidpad_spec::LoadError::Faults(faults) = &told else { panic!("no faults") };
        let told = faults.to_text();
        assert!(told.contains("name a regular file") || told.contains("lies outside"), "{told}");
    }
    let named = |path: &Path| load_from(&path.to_string_lossy(), &[]).expect_err("refused");
    for path in [pipe.as_path(), Path::new("/dev/zero")] {
        let told = format!("{:?}", named(path));
        assert!(told.contains("name a regular file"), "{told}");
        let told = format!("{:?}", LoadedScene::load(path).expect_err("refused"));
        assert!(told.contains("name a regular file"), "{told}");
        assert!(format!("{:?}", tir::load(&path.to_string_lossy())).contains("name a regular file"));
    }
}

#[test]
fn a_file_beyond_its_limit_is_refused_by_its_size() {
    let folder = Folder::new();
    std::fs::File::create(folder.path("own/a.tir")).and_then(|file| file.set_len(1 << 34)).expect("sparse");
    let path = folder.write("own/car.toml", &car("a.tir"));
    let told = load(&path).expect_err("refused");
    let skidpad_spec::LoadError::Faults(faults) = &told else { panic!("no faults") };
    assert!(faults.to_text().contains("a tyre file may have at most 4 MiB"), "{}", faults.to_text());
}
