//! Tyres of every law in vehicle files and in tyre files.

use skidpad_core::model::Tyre;
use skidpad_core::tyre::Conditions;
use skidpad_spec::FaultKind::{MissingKey, OutOfRange, UnknownKey};
use skidpad_spec::{FaultKind, Faults, LoadError, LoadedVehicle, load, shipped, tir};

fn c5_mf() -> &'static str {
    shipped::find("corvette_c5_mf").expect("shipped")
}

fn read(text: &str) -> Result<LoadedVehicle, Faults> {
    LoadedVehicle::read("car.toml", text)
}

fn paths(faults: &Faults) -> Vec<(FaultKind, &str)> {
    faults.list().iter().map(|fault| (fault.kind, fault.path.as_str())).collect()
}

/// Temporary folder for one test, removed at its end.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("skidpad-{name}-{}", std::process::id()));
        std::fs::create_dir_all(path.join("tyres")).expect("writable");
        Self(path)
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("writable");
        path.to_string_lossy().into_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that cannot be removed does no harm there.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_tyre_file_is_found_beside_the_vehicle_and_measured_tyres_are_mirrored_on_the_right() {
    let model = load("corvette_c5_mf").expect("shipped").model;
    let Tyre::MagicFormula { formula, pressure } = model.tyre(0) else { panic!("{:?}", model.tyre(0)) };
    let file = tir::load("c5_front").expect("shipped").tyre;
    assert_eq!((&**formula, *pressure), (&file, 0.0));
    assert_eq!([0, 1, 2, 3].map(|i| model.wheels()[i].mirrored), [false, true, false, true]);

    let folder = Folder::new("beside");
    folder.write("tyres/c5_front.tir", &tir::find("c5_front").expect("shipped").replace("'LEFT'", "'RIGHT'"));
    folder.write("tyres/c5_rear.tir", tir::find("c5_rear").expect("shipped"));
    let text = c5_mf()
        .replacen("file = \"tyres/c5_front.tir\"", "file = \"tyres/c5_front.tir\"\npressure_bar = 2.5", 1)
        .replacen("file = \"tyres/c5_rear.tir\"", "file = \"tyres/c5_rear.tir\"\nsides = \"symmetric\"", 1);
    let car = load(&folder.write("car.toml", &text)).expect("sound");
    let Tyre::MagicFormula { formula, pressure } = car.model.tyre(0) else { panic!("{:?}", car.model.tyre(0)) };
    assert_eq!((&**formula, *pressure), (&file.mirrored(), 2.5e5));
    assert_eq!([0, 1, 2, 3].map(|i| car.model.wheels()[i].mirrored), [false, true, false, false]);
    let Tyre::MagicFormula { formula, .. } = car.model.tyre(2) else { panic!("{:?}", car.model.tyre(2)) };
    assert_eq!(**formula, tir::load("c5_rear").expect("shipped").tyre.symmetric());
    // The description does not contain the folder of its file.
    assert_eq!(car.spec.compile_in(&folder.0).expect("sound"), *car.model);
}

/// Checks that the faults of the vehicle file and of both tyre files are reported at once, each with its place in its own text.
#[test]
fn faults_reach_through_to_the_tyre_files() {
    let folder = Folder::new("faults");
    let broken = tir::find("c5_front")
        .expect("shipped")
        .replace("PCX1 = 1.5 ", "PCX1 = -1.5 ")
        .replace("FNOMIN = 3800", "FNOMIN = x");
    folder.write("tyres/c5_front.tir", &broken);
    let text = c5_mf().replacen("mass_kg = 1545 ", "mass_kg = -1545 ", 1);
    let Err(LoadError::Faults(faults)) = load(&folder.write("car.toml", &text)) else { panic!("has faults") };
    let own = [(OutOfRange, "chassis.mass_kg"), (OutOfRange, "tyres.front.file"), (OutOfRange, "tyres.rear.file")];
    assert_eq!(paths(&faults), own);
    let [inner] = faults.files() else { panic!("{:?}", faults.files()) };
    assert_eq!(inner.source_name(), "tyres/c5_front.tir");
    let line = |key: &str| 1 + broken.lines().position(|line| line.starts_with(key)).expect("there");
    let found: Vec<_> = inner.list().iter().map(|fault| (fault.path.as_str(), fault.line)).collect();
    assert_eq!(found, [("FNOMIN", line("FNOMIN")), ("PCX1", line("PCX1"))]);
    let report = faults.render();
    for part in ["tyres/c5_front.tir:", "`PCX1` is -1.5", "c5_rear.tir", "`chassis.mass_kg`"] {
        assert!(report.contains(part), "no {part} in\n{report}");
    }
}

#[test]
fn inline_coefficients_make_the_tyre_of_a_file() {
    let file = tir::load("c5_rear").expect("shipped").tyre;
    let coefficients: Vec<String> = skidpad_core::tyre::magic_formula::ENTRIES
        .iter()
        .filter_map(|entry| {
            let value = file.coefficients().get(entry.name)?;
            (value != entry.default).then(|| format!("{} = {value:?}", entry.name))
        })
        .collect();
    let inline = format!("coefficients = {{ {} }}", coefficients.join(", "));
    let text = c5_mf().replacen("file = \"tyres/c5_rear.tir\"", &inline, 1);
    let car = read(&text).unwrap_or_else(|faults| panic!("{}", faults.render()));
    let Tyre::MagicFormula { formula, .. } = car.model.tyre(2) else { panic!("{:?}", car.model.tyre(2)) };
    assert_eq!(**formula, file);
    // Writing and reading gives the same model.
    let again = read(&car.spec.to_toml().expect("finite")).unwrap_or_else(|faults| panic!("{}", faults.render()));
    assert_eq!(*again.model, *car.model);

    let faults = read(&text.replacen("PCX1 = 1.5", "PCX1 = -1.5, PKXI = 3.0", 1)).expect_err("has faults");
    let at = "tyres.rear.coefficients";
    assert_eq!(paths(&faults), [(OutOfRange, &*format!("{at}.PCX1")), (UnknownKey, &*format!("{at}.PKXI"))]);
    assert!(faults.list()[1].help.as_ref().is_some_and(|help| help.contains("PKX1")), "{}", faults.render());
    let faults = read(&text.replacen("FNOMIN = 4500.0, ", "", 1)).expect_err("has faults");
    assert_eq!(paths(&faults), [(MissingKey, &*format!("{at}.FNOMIN"))]);
}

/// Checks that each change of a key of a tyre gives exactly one fault.
#[test]
fn one_fault_is_one_fault() {
    let rows = [
        ("corvette_c5_mf", "file = \"tyres/c5_front.tir\"", "", MissingKey, "tyres.front.file"),
        ("corvette_c5_mf", "file = \"tyres/c5_front.tir\"", "file = \"\"", OutOfRange, "tyres.front.file"),
        ("corvette_c5_mf", "tyres/c5_front.tir", "tyres/c5_font.tir", OutOfRange, "tyres.front.file"),
        ("corvette_c5_mf", "[tyres.rear]", "sides = \"left\"\n[tyres.rear]", OutOfRange, "tyres.front.sides"),
        ("corvette_c5_mf", "[tyres.rear]", "pressure_bar = 0\n[tyres.rear]", OutOfRange, "tyres.front.pressure_bar"),
        (
            "corvette_c5_mf",
            "[tyres.rear]",
            "longitudinal_friction = 1\n[tyres.rear]",
            UnknownKey,
            "tyres.front.longitudinal_friction",
        ),
        ("corvette_c5_mf", "tyre = \"front\"", "tyre = \"front\"\ncamber_deg = -20", OutOfRange, "axles[0].camber_deg"),
        ("corvette_c5_tmeasy", "nominal_load_n = 3800", "", MissingKey, "tyres.front.nominal_load_n"),
        (
            "corvette_c5_tmeasy",
            "slope_n = 92000",
            "slope_n = 82000",
            FaultKind::Contradiction,
            "tyres.front.longitudinal.slope_n",
        ),
        (
            "corvette_c5_tmeasy",
            "sliding_n = 3192",
            "sliding_n = 4192",
            FaultKind::Contradiction,
            "tyres.front.longitudinal.sliding_n",
        ),
        (
            "corvette_c5_tmeasy",
            "sliding_slip = 0.5",
            "sliding_slip = 0.05",
            FaultKind::Contradiction,
            "tyres.front.longitudinal.sliding_slip",
        ),
    ];
    for (vehicle, from, to, kind, path) in rows {
        let text = shipped::find(vehicle).expect("shipped");
        assert!(text.contains(from), "{vehicle} has no `{from}`");
        let faults = read(&text.replacen(from, to, 1)).expect_err(to);
        assert_eq!(paths(&faults), [(kind, path)], "`{to}`\n{}", faults.render());
    }
}

#[test]
fn a_brush_has_the_stiffness_it_states() {
    let c5 = shipped::find("corvette_c5").expect("shipped");
    let (start, end) = (c5.find("[tyres.rear]").expect("there"), c5.find("[steering]").expect("there"));
    let brush = "[tyres.rear]\nmodel = \"brush\"\nslip_stiffness_n = 100e3\ncornering_stiffness_n_per_rad = 90e3\n\
                 patch_length_m = 0.14\nlongitudinal_friction = 1.1\nlateral_friction = 1.0\nload_sensitivity = 0.1\n";
    let text = format!("{}{brush}nominal_load_n = 4000\n{}", &c5[..start], &c5[end..]);
    let car = read(&text).unwrap_or_else(|faults| panic!("{}", faults.render()));
    let tyre = car.model.tyre(2);
    for (found, stated) in [
        (tyre.stiffness_at(4000.0), [100e3, 90e3]),
        (car.model.patch_lengths(2, &Conditions::upright(4000.0, 0.0)), [0.07, 0.07]),
        (tyre.friction_at(4000.0), [1.1, 1.0]),
        (tyre.friction_at(8000.0), [0.99, 0.9]),
    ] {
        assert!((0..2).all(|i| (found[i] / stated[i] - 1.0).abs() < 1e-5), "{found:?} for {stated:?}");
    }
    let faults = read(&format!("{}{brush}{}", &c5[..start], &c5[end..])).expect_err("has a fault");
    assert_eq!(paths(&faults), [(FaultKind::Contradiction, "tyres.rear.nominal_load_n")]);
}
