//! Rounded metrics of every manoeuvre with every solver.
//!
//! A changed snapshot is a change of the physics. Its commit states which figures change, and by how much.

/// Drives `vehicle` at 240 Hz and asserts one snapshot for each manoeuvre, with a row for each figure and a column
/// for each solver.
#[cfg(all(feature = "rapier", feature = "impulse", feature = "constraint", feature = "deterministic"))]
fn snapshot<'a>(vehicle: &str, manoeuvres: impl Iterator<Item = &'a skidpad::lab::manoeuvre::ManoeuvreEntry>) {
    use std::fmt::Write;
    use std::ops::ControlFlow;

    use skidpad::lab::manoeuvre::Overrides;
    use skidpad::lab::{compare::compare, run::TimeStep};

    let model = skidpad::spec::load(vehicle).expect("shipped").model;
    let overrides = Overrides::default();
    let step = TimeStep::from_rate_hz(240.0).expect("a valid rate");
    // The peer `bullet` is compared with recorded runs elsewhere.
    let backends: Vec<_> = skidpad::solvers().into_iter().filter(|b| b.name != "bullet").collect();
    for entry in manoeuvres {
        let manoeuvre = entry.build_standard(&overrides);
        let comparison =
            compare(&backends, &model, manoeuvre.as_ref(), &overrides, step, &|_| ControlFlow::Continue(()));
        let mut table = format!("{}\n{}\n", comparison.manoeuvre, comparison.about);
        for row in comparison.rows() {
            writeln!(table, "{} [{}]: {}", row.metric.name, row.metric.unit, row.texts.join(" "))
                .expect("writing to a string");
        }
        insta::assert_snapshot!(format!("{vehicle}_{}", entry.name), table);
    }
}

#[cfg(all(feature = "rapier", feature = "impulse", feature = "constraint", feature = "deterministic"))]
#[test]
fn metrics_of_every_manoeuvre_and_solver() {
    snapshot("corvette_c5", skidpad::lab::manoeuvre::MANOEUVRES.iter());
}

/// Tests of lateral dynamics that consist of one run.
#[cfg(all(feature = "rapier", feature = "impulse", feature = "constraint", feature = "deterministic"))]
#[test]
fn metrics_of_handling_tests() {
    let names = ["sine-steer", "weave", "constant-steer", "power-off-in-turn", "braking-in-turn", "skid-pad"];
    snapshot("corvette_c5", names.into_iter().filter_map(skidpad::lab::manoeuvre::by_name));
}

/// Cars with four driven wheels: on motors, and on a torque converter with a torque-biasing centre differential.
#[cfg(all(feature = "rapier", feature = "impulse", feature = "constraint", feature = "deterministic"))]
#[test]
fn metrics_of_cars_with_four_driven_wheels() {
    for vehicle in ["tesla_model3_awd", "toyota_4runner"] {
        let names = ["acceleration", "braking", "step-steer"];
        snapshot(vehicle, names.into_iter().filter_map(skidpad::lab::manoeuvre::by_name));
    }
}
