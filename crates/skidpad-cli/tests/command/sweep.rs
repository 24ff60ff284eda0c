//! Tests of work that is resumed: `skidpad sweep`, and `skidpad compare` with separate reports.

use std::collections::BTreeMap;
use std::path::Path;

use super::{fails, works};

/// Arguments of a sweep of 8 runs in 8 shards that takes less than a second.
const SMALL: [&str; 12] = [
    "sweep",
    "--manoeuvre",
    "braking",
    "--solvers",
    "impulse,constraint",
    "--rate-hz",
    "60",
    "--vary",
    "mass=1500,1600",
    "--vary",
    "initial_speed={uniform=[8,12]}",
    "--samples=2",
];

/// Returns the content of each file in a folder by its name.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).expect("readable").map(|entry| entry.expect("an entry"));
    let read = |entry: std::fs::DirEntry| {
        (entry.file_name().to_string_lossy().into_owned(), std::fs::read(entry.path()).expect("readable"))
    };
    entries.map(read).collect()
}

/// Parts and a rerun give the bytes of one run. Tables have units, and the page has plots. Another sweep is refused.
#[test]
fn a_sweep_is_run_in_parts_and_resumed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let with = |out: &'static str, more: &[&'static str]| [&SMALL[..], &["--out", out], more].concat();
    let text = works(folder.path(), &with("whole", &["--threads", "1"]));
    assert!(text.contains("8 runs in 8 shards") && text.contains("8 shards written, 0 were complete"), "{text}");
    let part = works(folder.path(), &with("parts", &["--shard", "2/2"]));
    assert!(part.contains("4 shards written") && !part.contains("table"), "{part}");
    fails(folder.path(), &with("parts", &["--merge"]), 1, &["4 runs", "missing, in shards 0, 2, 4, 6"]);
    let rest = works(folder.path(), &with("parts", &[]));
    assert!(rest.contains("4 shards written, 4 were complete"), "{rest}");
    let [whole, parts] = ["whole", "parts"].map(|name| contents(&folder.path().join(name)));
    assert_eq!(whole, parts);
    let table = String::from_utf8_lossy(&whole["sweep.csv"]);
    assert!(table.starts_with("id,run,sample,solver,mass,initial_speed,distance_m,"), "{table}");
    assert_eq!(table.lines().count(), 9);
    let columns = String::from_utf8_lossy(&whole["sweep_columns.csv"]);
    assert!(
        columns.contains("mass,parameter,integer,kg,") && columns.contains("distance_m,metric,number,m,"),
        "{columns}"
    );
    let page = String::from_utf8_lossy(&whole["sweep.html"]);
    assert!(page.contains("Stopping distance over mass") && page.contains("\"kind\":\"scatter\""));
    let other = with("whole", &["--seed", "1"]);
    fails(folder.path(), &other, 1, &["folder of another sweep", "seed: 0 there, 1 here"]);
    fails(folder.path(), &with("whole", &["--shard", "3/2"]), 2, &["1/64 to 64/64"]);
    let manifest = works(folder.path(), &["sweep", "whole/manifest.json", "--out", "whole"]);
    assert!(manifest.contains("0 shards written, 8 were complete"), "{manifest}");
}

#[test]
fn every_fault_of_a_sweep_is_reported() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let arguments = [
        "sweep",
        "--manoeuvre",
        "brakin",
        "--solvers",
        "impuls",
        "--rate-hz",
        "5",
        "--vary",
        "mas=1",
        "--vary",
        "track=1.5",
        "--vary",
        "mass=heavy",
        "--out",
        "out",
    ];
    let words =
        ["did you mean `braking`", "did you mean `impulse`", "at least 10 Hz", "mas", "axles[1].track_m", "heavy"];
    fails(folder.path(), &arguments, 1, &words);
    assert!(!folder.path().join("out").exists());
}

/// Takes some seconds, so that the interrupt comes before the end. An interrupt ends the sweep with exit code 130. The rerun gives the bytes of an undisturbed sweep.
#[cfg(unix)]
#[test]
fn an_interrupted_sweep_is_resumed_with_equal_bytes() {
    use std::process::{Command, Stdio};
    let folder = tempfile::tempdir().expect("a temporary folder");
    let arguments = |out: &'static str| {
        let speeds = "initial_speed={uniform=[20,40]}";
        ["sweep", "--manoeuvre", "braking", "--vary", speeds, "--samples", "128", "--out", out]
    };
    let mut child = Command::new(env!("CARGO_BIN_EXE_skidpad"))
        .args(arguments("stopped"))
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    let shards = || {
        let entries = std::fs::read_dir(folder.path().join("stopped")).into_iter().flatten().flatten();
        entries.filter(|entry| entry.path().extension().is_some_and(|ending| ending == "shard")).count()
    };
    while shards() < 2 && child.try_wait().expect("a child").is_none() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let signal = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(signal.success());
    let output = child.wait_with_output().expect("a child");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{message}");
    assert!(message.contains("Run the command again to continue"), "{message}");
    let kept = shards();
    assert!((2..64).contains(&kept) && contents(&folder.path().join("stopped")).len() == kept + 1);
    let text = works(folder.path(), &arguments("stopped"));
    assert!(text.contains(&format!("{} shards written, {kept} were complete", 64 - kept)), "{text}");
    works(folder.path(), &arguments("whole"));
    let [stopped, whole] = ["stopped", "whole"].map(|name| contents(&folder.path().join(name)));
    assert_eq!(stopped, whole);
}

/// A full disk, here a limit of the file size, ends the sweep with an error and leaves no partial file.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_no_partial_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    works(folder.path(), &[&SMALL[..], &["--out", "out", "--shard", "1/8"]].concat());
    let is_shard = |name: &String| name.ends_with(".shard");
    for shard in contents(&folder.path().join("out")).into_keys().filter(is_shard) {
        std::fs::remove_file(folder.path().join("out").join(shard)).expect("there");
    }
    let command = format!("ulimit -f 1; exec {} {} --out out", env!("CARGO_BIN_EXE_skidpad"), SMALL.join(" "));
    let command = command.replace("{uniform", "'{uniform").replace("]}", "]}'");
    let output =
        std::process::Command::new("sh").args(["-c", &command]).current_dir(folder.path()).output().expect("runs");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("cannot write"), "{message}");
    assert_eq!(contents(&folder.path().join("out")).keys().collect::<Vec<_>>(), ["manifest.json"]);
}

/// Reports of single manoeuvres are written one by one. A rerun drives only what is missing or changed, with equal bytes.
#[test]
fn separate_reports_are_resumed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let compare =
        ["compare", "--manoeuvre", "braking,coast-down", "--separate", "--solvers", "impulse", "--out", "out"];
    let text = works(folder.path(), &compare);
    assert!(text.contains("coast-down (2 of 2)") && !text.contains("complete before"), "{text}");
    let before = contents(&folder.path().join("out"));
    assert_eq!(before.len(), 6);
    std::fs::remove_file(folder.path().join("out/corvette_c5_braking.csv")).expect("there");
    let text = works(folder.path(), &compare);
    assert!(
        text.contains("coast-down (2 of 2): complete before") && text.matches("complete before").count() == 1,
        "{text}"
    );
    assert_eq!(contents(&folder.path().join("out")), before);
    let text = works(folder.path(), &[&compare[..], &["--set", "mass=1600"]].concat());
    assert!(!text.contains("complete before"), "{text}");
    let all = ["compare", "--manoeuvre", "all", "--json", "all.json"];
    fails(folder.path(), &all, 1, &["--json: all.json is not accepted", "without `all`"]);
    fails(folder.path(), &[&compare[..], &["--json", "all.json"]].concat(), 2, &["cannot be used with"]);
}
