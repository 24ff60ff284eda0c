//! Tyre files: accepted contents, and faults of broken files.

use skidpad_core::model::Side;
use skidpad_core::tyre::magic_formula::{UseMode, Version};
use skidpad_spec::FaultKind::{self, Contradiction, MissingKey, OutOfRange, Syntax, WrongType};
use skidpad_spec::tir;

/// Text to replace, its replacement, and kind and key of the resulting fault.
type Row = (&'static str, &'static str, FaultKind, &'static str);

/// Changes to a shipped file, each of which makes one fault.
const OPENTIRE: &[Row] = &[
    ("PCX1=1.6411", "PCX1 1.6411", Syntax, "PCX1"),
    ("PHX1=0.0012297", "PH X1=0.0012297", Syntax, "PH"),
    ("TYRESIDE='LEFT'", "TYRESIDE='LEFT", Syntax, "TYRESIDE"),
    ("[LATERAL_COEFFICIENTS]", "[LATERAL_COEFFICIENTS", Syntax, "LATERAL_COEFFICIENTS"),
    ("PCX1=1.6411", "PCX1=1,6411", WrongType, "PCX1"),
    ("PCX1=1.6411", "PCX1= $ not known", MissingKey, "PCX1"),
    ("PCX1=1.6411", "PCX1=nan", WrongType, "PCX1"),
    ("PCX1=1.6411", "PCX1=1.6 4", WrongType, "PCX1"),
    ("PCX1=1.6411", "PCX1='1.6411'", WrongType, "PCX1"),
    ("PVX2=1.862e-05", "PVX2=1.862e-", WrongType, "PVX2"),
    ("PCX1=1.6411", "PCX1=-1.6411", OutOfRange, "PCX1"),
    ("PCX1=1.6411", "PCX1=1e300", OutOfRange, "PCX1"),
    ("PKY1=-21.92", "PKY1=21.92", OutOfRange, "PKY1"),
    ("FNOMIN=4850", "FNOMIN=0", OutOfRange, "FNOMIN"),
    ("FZMAX=10125", "FZMAX=100", OutOfRange, "FZMAX"),
    ("ALPMAX=1.5708", "ALPMAX=90", OutOfRange, "ALPMAX"),
    ("LENGTH='meter'", "LENGTH='yard'", OutOfRange, "UNITS.LENGTH"),
    ("USE_MODE=4", "USE_MODE=9", OutOfRange, "USE_MODE"),
    ("USE_MODE=4", "USE_MODE=1004", OutOfRange, "USE_MODE"),
    ("USE_MODE=4", "USE_MODE=4.5", WrongType, "USE_MODE"),
    ("FITTYP=6", "FITTYP='x'", WrongType, "FITTYP"),
    ("FITTYP=6", "FITTYP=61", Contradiction, "FITTYP"),
    ("FITTYP=6", "FITTYP=60", Contradiction, "FITTYP"),
    ("FITTYP=6", "FITTYP=7", Contradiction, "FITTYP"),
    ("'PAC2002'\nFITTYP=6", "'USER'\nFITTYP=7", OutOfRange, "FITTYP"),
    ("'PAC2002'", "'PAC89'", OutOfRange, "PROPERTY_FILE_FORMAT"),
    ("PCX1=1.6411\n", "", MissingKey, "PCX1"),
    ("FNOMIN=4850\n", "", MissingKey, "FNOMIN"),
    ("UNLOADED_RADIUS=0.344\n", "", MissingKey, "UNLOADED_RADIUS"),
    ("PCX1=1.6411", "PCX1=1.6411\nPCX1=1.7", Contradiction, "PCX1"),
];

#[test]
fn one_fault_is_one_fault() {
    let text = tir::find("opentire_235_60r16").expect("shipped");
    for (from, to, kind, key) in OPENTIRE {
        let at = text.find(from).unwrap_or_else(|| panic!("no `{from}`"));
        let faults = tir::read("broken.tir", &text.replacen(from, to, 1)).expect_err(to);
        let found: Vec<_> = faults.list().iter().map(|fault| (fault.kind, fault.path.as_str())).collect();
        assert_eq!(found, [(*kind, *key)], "`{to}`\n{}", faults.render());
        let fault = &faults.list()[0];
        assert!(!fault.found.is_empty() && !fault.accepts.is_empty() && fault.help.is_some(), "{fault:?}");
        let line = 1 + text[..at].matches('\n').count();
        let near = line..=line + 1 + to.matches('\n').count();
        assert!(*kind == MissingKey || near.contains(&fault.line), "line {line}: {fault:?}");
    }
}

/// Checks that all faults are reported at once, in the order of the text, with a remedy.
#[test]
fn every_fault_is_reported_at_once() {
    let mut text = tir::find("pacejka_book_defaults").expect("shipped").to_owned();
    for (from, to) in [
        ("LENGTH                   =    'meter'", "LENGTH = 'furlong'"),
        ("FITTYP                   =    61", "FITTYP = 89"),
        ("FNOMIN                   =    4000", "FNOMIN = four thousand"),
        ("LMUX                     =    1", "LMUX = 0"),
        ("PCX1                     =    1.6", "PCX1 1.6"),
        ("PKY1                     =    -15", "PKY1 = 15"),
        ("QBZ1                     =    10", "QBZ1 = 1e9"),
    ] {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    let faults = tir::read("seven.tir", &text).expect_err("faults");
    insta::assert_snapshot!(faults.render());
}

#[test]
fn units_are_converted() {
    let text = tir::find("pacejka_book_defaults").expect("shipped");
    let si = tir::read("si.tir", text).expect("sound").tyre;
    let mut other = text.to_owned();
    for (from, to) in [
        ("'meter'", "'mm'"),
        ("'newton'", "'kn'"),
        ("'radians'", "'deg'"),
        ("'second'", "'ms'"),
        ("=    0.3135 ", "=  313.5 "),
        ("=    0.205 ", "=  205 "),
        ("=    4000 ", "=  4.0D0 "),
        ("=    200000 ", "=  0.2 "),
        ("=    400000 ", "=  0.4 "),
        ("LATERAL_STIFFNESS        =    100000", "LATERAL_STIFFNESS = .1"),
        ("INFLPRES                 =    220000", "INFLPRES = 22e-5"),
        ("NOMPRES                  =    220000", "NOMPRES = 2.2E-4"),
        ("PRESMIN                  =    10000", "PRESMIN = 1e-5"),
        ("PRESMAX                  =    1000000", "PRESMAX = 1e-3"),
        ("=    100            $Minimum", "= 0.1 $Minimum"),
        ("=    10000          $Maximum allowed", "= 10 $Maximum allowed"),
        ("=    -1.5           $Minimum valid slip angle", "= -85.943669 $"),
        ("=    1.5            $Maximum valid slip angle", "= 85.943669 $"),
        ("=    -0.175 ", "= -10.026761 "),
        ("=    0.175 ", "= 10.026761 "),
        ("VXLOW                    =    1 ", "VXLOW = 1 "),
        ("LONGVL                   =    16.7", "LONGVL = 16.7"),
    ] {
        assert!(other.contains(from), "{from}");
        other = other.replacen(from, to, 1);
    }
    let tyre = tir::read("other.tir", &other).expect("sound").tyre;
    for entry in skidpad_core::tyre::magic_formula::ENTRIES {
        let [a, b] = [&si, &tyre].map(|tyre| tyre.coefficients().get(entry.name).expect("an entry"));
        assert!((a - b).abs() <= 1e-6 * a.abs(), "{}: {a} {b}", entry.name);
    }
}

#[test]
fn versions_and_uses_are_recognised() {
    let book = tir::find("pacejka_book_defaults").expect("shipped");
    let with = |fit: &str, mode: &str| {
        let text = book.replacen("FITTYP                   =    61", fit, 1);
        tir::read("some.tir", &text.replacen("USE_MODE                 =    114", mode, 1))
    };
    for (fit, version) in [
        ("FITTYP = 61", Version::Mf61),
        ("fittyp = 62.0", Version::Mf62),
        ("FITTYP = 60", Version::Mf61),
        ("FITTYP = 21", Version::Mf52),
        ("FITTYP = 6", Version::Mf52),
        ("FITTYP = 5", Version::Mf52),
        // Coefficients that only 6.1 has decide without this key.
        ("", Version::Mf61),
    ] {
        assert_eq!(with(fit, "USE_MODE = 124").expect("sound").tyre.version(), version, "{fit}");
    }
    for (mode, uses) in [
        ("USE_MODE = 0", UseMode::Load),
        ("USE_MODE = 11", UseMode::Longitudinal),
        ("USE_MODE = 12", UseMode::Lateral),
        ("USE_MODE = 13", UseMode::Uncombined),
        ("USE_MODE = 15", UseMode::Combined),
        ("", UseMode::Combined),
    ] {
        assert_eq!(with("FITTYP = 61", mode).expect("sound").tyre.use_mode(), uses, "{mode}");
    }
    // A file of the format PAC2002 is MF 5.2, with any of the numbers of MF 5 and without a number.
    let pac2002 = tir::find("opentire_235_60r16").expect("shipped");
    for number in ["FITTYP=5", "FITTYP=21", "FITTYP=52", ""] {
        let file = tir::read("pac.tir", &pac2002.replacen("FITTYP=6", number, 1)).expect(number);
        assert_eq!(file.tyre.version(), Version::Mf52, "{number}");
    }
    let opentire = tir::load("opentire_235_60r16").expect("shipped");
    assert_eq!((opentire.tyre.version(), opentire.side), (Version::Mf52, Some(Side::Left)));
}

/// Checks a file with the required keys only. All other values are defaults.
#[test]
fn a_short_file_is_enough() {
    let text = "[MODEL]\r\nFITTYP = 62 ! version\r\n[DIMENSION]\r\nUNLOADED_RADIUS = 0.3 $ m\r\n[VERTICAL]\r\nFNOMIN = 4e3\r\n\
                [SHAPE]\r\n{radial width}\r\n 1.0 0.0\r\n 1.0 0.4\r\n\
                [LONGITUDINAL_COEFFICIENTS]\r\nPCX1 = 1.6\r\nPDX1 = 1.1\r\nPKX1 = 20\r\nPQX9 = 3\r\n\
                [LATERAL_COEFFICIENTS]\r\nPCY1 = 1.3\r\nPDY1 = +1.0\r\nPKY1 = -.15D+2\r\nPKY2 = 1.5\r\nPDZ2 = 1";
    let file = tir::read("short.tir", &format!("\u{feff}{text}")).expect("sound");
    let c = file.tyre.coefficients();
    assert_eq!((c.pky1, c.pky4, c.lmux, c.qsy7, c.nompres), (-15.0, 2.0, 1.0, 1.0, 0.0));
    let notes: Vec<_> = file.notes.iter().map(|note| (note.line, note.key.as_str(), note.text.as_str())).collect();
    assert_eq!(notes.len(), 3, "{notes:?}");
    assert!(notes[0].0 == 0 && notes[0].2.contains("by the friction ellipse"), "{notes:?}");
    assert_eq!((notes[1].0, notes[1].1), (15, "PQX9"));
    assert!(notes[2].2.contains("did you mean"), "{notes:?}");
}

/// Checks forms that programs write in practice: keys without values, 0 for an unknown radius, negative friction (MF 5.0), ranges
/// for braking only, a mirrored tyre, an unknown side.
#[test]
fn habits_of_old_files_are_understood() {
    let text = tir::find("opentire_235_60r16").expect("shipped");
    let plain = tir::read("plain.tir", text).expect("sound").tyre;
    let changed = |changes: &[(&str, &str)]| {
        let text = changes.iter().fold(text.to_owned(), |text, (from, to)| {
            assert!(text.contains(from), "{from}");
            text.replacen(from, to, 1)
        });
        tir::read("old.tir", &text).unwrap_or_else(|faults| panic!("{}", faults.render()))
    };
    let file =
        changed(&[("FZMAX=10125", "FZMAX="), ("VERTICAL_STIFFNESS=280835.2941", "Q_RE0 = 0\nVERTICAL_STIFFNESS = ")]);
    assert_eq!((file.tyre.coefficients().q_re0, file.tyre.coefficients().vertical_stiffness), (1.0, 0.0));
    let keys: Vec<_> = file.notes.iter().map(|note| note.key.as_str()).collect();
    assert_eq!(keys, ["Q_RE0", "FZMAX"]);

    let old = [
        ("PDY1=1.0489", "PDY1=-1.0489"),
        ("PDY2=-0.18033", "PDY2=0.18033"),
        ("RVY1=-0.027825", "RVY1=0.027825"),
        ("RVY2=0.053604", "RVY2=-0.053604"),
        ("RVY3=-0.27568", "RVY3=0.27568"),
    ];
    assert_eq!(changed(&old).tyre, plain);
    let braking = changed(&[("KPUMIN=-1.5", "KPUMIN=-0.8"), ("KPUMAX=1.5", "KPUMAX=0.0")]);
    assert_eq!((braking.tyre.coefficients().kpumin, braking.tyre.coefficients().kpumax), (-0.8, 0.8));
    assert_eq!(changed(&[("USE_MODE=4", "USE_MODE=-14")]).tyre, plain.mirrored());
    let unknown = changed(&[("TYRESIDE='LEFT'", "TYRESIDE='UNKNOWN'")]);
    assert_eq!((unknown.side, unknown.notes.len()), (None, 1));
    assert_eq!(changed(&[("LS=1.0", "LS=1.0\nLMUV=0.3")]).notes.len(), 1);
}

/// Checks the notes on a wrong unit or digit that the formula accepts, and on a file whose end is missing.
#[test]
fn implausible_and_truncated_files_are_noted() {
    let text = tir::find("opentire_235_60r16").expect("shipped");
    let notes = |text: &str| {
        let file = tir::read("odd.tir", text).unwrap_or_else(|faults| panic!("{}", faults.render()));
        file.notes.into_iter().map(|note| (note.line, note.key, note.text)).collect::<Vec<_>>()
    };
    for (from, to, key) in [
        ("PDY1=1.0489", "PDY1=0.10489", "PDY1"),
        ("PDX1=1.1739", "PDX1=11.739", "PDX1"),
        ("PKY1=-21.92", "PKY1=-21920", "PKY1"),
        ("PCY1=1.3507", "PCY1=0.13507", "PCY1"),
        ("FNOMIN=4850", "FNOMIN=48.5", "FNOMIN"),
        ("UNLOADED_RADIUS=0.344", "UNLOADED_RADIUS=3.44", "UNLOADED_RADIUS"),
        ("VERTICAL_STIFFNESS=280835.2941", "VERTICAL_STIFFNESS=280.8", "VERTICAL_STIFFNESS"),
        ("PEY1=-0.0074722", "PEY1=7.4722", "PEY1"),
    ] {
        let at = text.find(from).unwrap_or_else(|| panic!("no `{from}`"));
        let found = notes(&text.replacen(from, to, 1));
        assert_eq!(found.len(), 1, "{to}: {found:?}");
        assert_eq!((found[0].0, found[0].1.as_str()), (1 + text[..at].matches('\n').count(), key), "{found:?}");
        assert!(found[0].2.contains("implausible for a tyre"), "{found:?}");
    }
    for (last, missing) in [("QCZ1=", "QDZ1"), ("RBY1=", "RBY1")] {
        let end = text.find(last).unwrap_or_else(|| panic!("no `{last}`"));
        let found = notes(&text[..end]);
        assert!(found.iter().any(|(_, key, text)| key == missing && text.contains("truncated")), "{last}: {found:?}");
    }
}

/// Checks that a tyre that is written and read is unchanged.
#[test]
fn what_is_written_is_read() {
    for name in tir::names() {
        let tyre = tir::load(name).expect("shipped").tyre;
        let text = tir::write(&tyre);
        let again = tir::read("again.tir", &text).unwrap_or_else(|faults| panic!("{}", faults.render()));
        assert_eq!(again.tyre, tyre);
        assert!(again.notes.is_empty(), "{:?}", again.notes);
    }
}

#[test]
fn shipped_files_raise_no_notes() {
    for name in tir::names() {
        let file = tir::load(name).expect("shipped");
        assert!(file.notes.is_empty(), "{name}: {:?}", file.notes);
    }
    assert!(tir::load("no/such/file.tir").is_err());
}

/// Checks that every unused key has a note, up to the number of faults that are collected. One more note contains the number of the rest.
#[test]
fn many_unused_keys_are_counted() {
    let text = tir::find("c5_front").expect("shipped").to_owned() + "[LATERAL_COEFFICIENTS]\n";
    let known = tir::read("a.tir", &text).expect("valid").notes.len();
    let text = (0..1000).fold(text, |text, i| format!("{text}KEY_{i} = 1\n"));
    let notes = tir::read("a.tir", &text).expect("valid").notes;
    assert_eq!(notes.len(), known + skidpad_spec::MAX_COLLECTED_FAULTS + 1);
    assert!(notes.iter().any(|note| note.text == "744 more keys are not used"), "{:?}", notes[0]);
}
