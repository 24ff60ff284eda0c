//! Opens reports of `skidpad compare` and `skidpad sweep` in headless Chromium: no script fails, replays move, values appear under the
//! pointer, and a page prints on few pages. On a machine without Chromium the tests are reported as ignored.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;

/// Browser of the tests.
const BROWSER: &str = "chromium";

/// Arguments of every start of the browser. The time of the page runs ahead of the clock by up to 60 s, so that the
/// test does not depend on the speed of the machine.
const BROWSER_ARGUMENTS: &str = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
     --disable-background-networking --disable-component-update --disable-sync --virtual-time-budget=60000 \
     --window-size=1280,1000 --no-pdf-header-footer";

/// Name of the vehicle in the report. It ends a script and starts another, if it is not escaped.
const HOSTILE_NAME: &str = "</script><script>throw new Error('name')</script>";

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let has_browser = Command::new(BROWSER).arg("--version").output().is_ok_and(|output| output.status.success());
    if !has_browser {
        eprintln!("report_page: {BROWSER} is not installed, so no report is opened; install the package `{BROWSER}`");
    }
    let trial = |name: &str, run: fn() -> Result<(), Failed>| Trial::test(name, run).with_ignored_flag(!has_browser);
    let trials = vec![
        trial("scripts_run_replays_move_and_tooltips_show_values", test_page),
        trial("a_manoeuvre_prints_on_at_most_two_pages", test_print),
        trial("the_page_of_a_sweep_shows_values", test_sweep_page),
        trial("two_cars_and_a_log_share_plots", test_two_cars),
    ];
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Scene with a box on which the cars drive.
const SCENE: &str = "[[box]]\ncentre_m = [20, 0, 0]\nsize_m = [8, 8, 0.2]\n";

/// Runs `skidpad compare` in `folder` with a car of the name [`HOSTILE_NAME`] and the arguments `arguments`. Returns
/// the path of the report.
fn write_report(folder: &Path, manoeuvre: &str, arguments: &[&str]) -> Result<PathBuf, Failed> {
    write_car(folder)?;
    std::fs::write(folder.join("box.toml"), SCENE)?;
    let compare = ["compare", "--vehicle", "car.toml", "--solvers", "impulse,constraint,bullet", "--rate-hz", "120"];
    run_skidpad(folder, &[&compare[..], &["--manoeuvre", manoeuvre, "--out", "."], arguments].concat())?;
    Ok(folder.join(format!("car_{manoeuvre}.html")))
}

/// Writes the vehicle file `car.toml` of a car of the name [`HOSTILE_NAME`] to `folder`.
fn write_car(folder: &Path) -> Result<(), Failed> {
    let car = skidpad::spec::shipped::find("corvette_c5").ok_or("the vehicle is not shipped")?;
    let hostile_car = car.replacen("Chevrolet Corvette C5\"", &format!("{HOSTILE_NAME}\""), 1);
    Ok(std::fs::write(folder.join("car.toml"), hostile_car)?)
}

/// Runs the command in `folder`.
fn run_skidpad(folder: &Path, arguments: &[&str]) -> Result<(), Failed> {
    let output = Command::new(env!("CARGO_BIN_EXE_skidpad")).args(arguments).current_dir(folder).output()?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned().into()) }
}

/// Starts the browser with `arguments` and a profile in `folder`, and returns its standard output.
fn start_browser(folder: &Path, arguments: &[String]) -> Result<String, Failed> {
    let mut command = Command::new(BROWSER);
    command.args(BROWSER_ARGUMENTS.split_whitespace());
    command.arg(format!("--user-data-dir={}", folder.join("profile").display())).args(arguments);
    let output = command.output()?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("{BROWSER} failed: {message}").into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the result that the page with the fragment `#self-test` writes into itself.
fn self_test_result(dom: &str) -> Result<Value, Failed> {
    let (_, after_start) = dom.split_once("id=\"self-test\">").ok_or("the page did not finish its test")?;
    let (text, _) = after_start.split_once("</pre>").ok_or("the result has no end")?;
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    Ok(serde_json::from_str(&text)?)
}

/// Opens the page with its test by itself. No script fails, each plot has curves and shows a number with its unit under
/// the pointer, and each replay is drawn and moves its car.
fn test_page() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    test_pages_of(folder.path(), "moose", &[])?;
    let over_box = ["--scene", "box.toml", "--duration-s", "4", "--initial-speed-mps", "15"];
    test_pages_of(folder.path(), "coast-scene", &over_box)
}

/// Opens the report of one manoeuvre with its test by itself; see [`test_page`].
fn test_pages_of(folder: &Path, manoeuvre: &str, arguments: &[&str]) -> Result<(), Failed> {
    let page = write_report(folder, manoeuvre, arguments)?;
    test_narrow_window(folder, &page)?;
    let result = test_charts(folder, &page)?;
    let replays = result["replays"].as_array().ok_or("replays")?;
    assert_eq!(replays.len(), 1);
    for replay in replays {
        let change = |key: &str| replay["after"][key].as_f64().zip(replay["before"][key].as_f64()).map(|(a, b)| a - b);
        let [time, distance] = ["time", "x"].map(|key| change(key).unwrap_or(0.0));
        // The speed of all runs is above 5 m/s.
        assert!(time > 0.1 && distance > 5.0 * time, "the replay does not move: {replay}");
        assert_eq!(replay["drawn"], serde_json::json!([true, true]), "an empty view");
    }
    Ok(())
}

/// Opens a page with its test by itself: no script fails, the page is as wide as the window, and each plot has curves and
/// shows a number with its unit under the pointer. Returns the result of the test.
fn test_charts(folder: &Path, page: &Path) -> Result<Value, Failed> {
    let address = format!("file://{}#self-test", page.display());
    let result = self_test_result(&start_browser(folder, &["--dump-dom".into(), address])?)?;
    assert_eq!(result["errors"], serde_json::json!([]), "a script failed");
    assert_eq!(result["overflow"], 0, "the page is wider than the window");
    let charts = result["charts"].as_array().ok_or("charts")?;
    assert!(charts.len() > 5, "{} charts", charts.len());
    for chart in charts {
        let tooltip = chart["tooltip"].as_str().ok_or("a tooltip")?;
        let has_value = |line: &str| line.contains(": ") && line.contains(|c: char| c.is_ascii_digit());
        assert!(tooltip.lines().skip(1).any(has_value), "no value under the pointer: {chart}");
        assert!(chart["curves"].as_u64() > Some(0), "an empty plot: {chart}");
    }
    Ok(result)
}

/// Opens a page in the narrowest window of the browser: no script fails, and nothing is wider than the window.
fn test_narrow_window(folder: &Path, page: &Path) -> Result<(), Failed> {
    let address = format!("file://{}#self-test", page.display());
    let arguments = ["--window-size=400,1000".into(), "--dump-dom".into(), address];
    let result = self_test_result(&start_browser(folder, &arguments)?)?;
    assert_eq!(result["errors"], serde_json::json!([]), "a script failed");
    assert_eq!(result["overflow"], 0, "the page is wider than the window");
    Ok(())
}

/// Opens the page of a sweep of a grid, which has lines, and that of a grid with a distribution, which has points.
fn test_sweep_page() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    write_car(folder.path())?;
    let fixed =
        ["sweep", "--vehicle", "car.toml", "--manoeuvre", "braking", "--solvers", "impulse,bullet", "--rate-hz", "60"];
    let grid = ["--vary", "mass=1400,1500,1600", "--vary"];
    for (out, speeds) in [("grid", "initial_speed=20"), ("samples", "initial_speed={uniform=[15,25]}")] {
        let arguments = [&fixed[..], &grid, &[speeds, "--samples", "4", "--out", out]].concat();
        run_skidpad(folder.path(), &arguments)?;
        test_charts(folder.path(), &folder.path().join(out).join("sweep.html"))?;
    }
    Ok(())
}

/// Opens the page of two cars with a measured log: each plot shows values, and the replay is drawn.
fn test_two_cars() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    write_car(folder.path())?;
    let run = ["run", "--vehicle", "car.toml", "--solver", "impulse", "--manoeuvre", "moose", "--out", "log.csv"];
    run_skidpad(folder.path(), &[&run[..], &["--channels", "t_s,x_m,y_m,yaw_rad,vx_mps,ay_mps2"]].concat())?;
    let compare = ["compare", "--vehicle", "car.toml", "--against", "vw_vanagon", "--manoeuvre", "moose"];
    let options = ["--solvers", "impulse,constraint", "--rate-hz", "120", "--log", "log.csv", "--out", "."];
    // The vanagon may not finish the course, which is no error of the page.
    _ = run_skidpad(folder.path(), &[&compare[..], &options].concat());
    let page = folder.path().join("car_against_vw_vanagon_moose.html");
    test_narrow_window(folder.path(), &page)?;
    let result = test_charts(folder.path(), &page)?;
    assert_eq!(result["replays"][0]["drawn"], serde_json::json!([true, true]), "an empty view");
    Ok(())
}

/// Prints the page of one manoeuvre: at most two pages for the manoeuvre, and two for summary, vehicle and limits.
fn test_print() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let page = write_report(folder.path(), "moose", &[])?;
    let print = folder.path().join("report.pdf");
    let print_argument = format!("--print-to-pdf={}", print.display());
    start_browser(folder.path(), &[print_argument, format!("file://{}", page.display())])?;
    let bytes = std::fs::read(&print)?;
    // Each page of a PDF file is an object of this type; the list of all pages has the type `/Pages`.
    let page_type = b"/Type /Page";
    let is_page = |window: &[u8]| window.starts_with(page_type) && window[page_type.len()] != b's';
    let page_count = bytes.windows(page_type.len() + 1).filter(|window| is_page(window)).count();
    assert!((1..=4).contains(&page_count), "{page_count} pages for one manoeuvre");
    Ok(())
}
