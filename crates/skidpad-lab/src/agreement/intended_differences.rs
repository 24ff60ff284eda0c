//! Section on modelling differences between the solvers that are intended, with their size.

use super::pages::{append, append_head, append_row};
use super::{AGREEMENT_RATE_HZ, VehicleRuns, sample_index};
use crate::closed_form::{Characteristics, GRAVITY_MPS2, UnsprungCharacteristics};
use crate::rate_runs::SolverRuns;

/// First paragraphs of the section.
const SECTION_INTRO: &str = "The compared solvers include the wheel masses in the chassis and use the same tyre equations. They differ in the \
     coupling of the constraint rows, in the integration of the pose, and in rounding. Reference vehicles solve \
     different equations from the same description; their values are in the tables of each vehicle but are not \
     judged.\n\n\
If a vehicle states its unsprung masses, a solver can simulate them separately. The wheels then hop, and the \
     tyre stiffness in series with the springs increases the roll angle. The table shows the closed-form values and \
     the roll gradient of each solver in the circle:\n\n";

/// Manoeuvre and metric that are compared with the closed-form roll gradient.
const ROLL_GRADIENT_METRIC: (&str, &str) = ("circle", "roll_gradient_deg_per_g");

/// Appends the section to `text`: an introduction, and a table with a row per vehicle with unsprung masses. The columns
/// are the wheel hop frequency of each axle (Hz), the closed-form roll gradients with rigid tyres and with tyre
/// compliance (deg/g), and the roll gradient of each solver in the circle (deg/g). Solvers are those of the first run,
/// peers included. A missing value is shown as "-".
pub fn append_section(text: &mut String, runs: &[VehicleRuns]) {
    append(text, format_args!("## Intended differences\n\n{SECTION_INTRO}"));
    let solvers: Vec<&str> = runs
        .iter()
        .flat_map(|runs| &runs.manoeuvres)
        .next()
        .map_or(Vec::new(), |rate_runs| rate_runs.solvers.iter().map(|solver_runs| solver_runs.backend).collect());
    let headings = ["vehicle", "wheel hop by axle, Hz", "deg/g, rigid tyres", "deg/g, with tyre compliance"];
    // 1: the vehicle is text.
    append_head(text, &headings.into_iter().chain(solvers).map(String::from).collect::<Vec<_>>(), 1);
    for runs in runs {
        let Some(unsprung) = UnsprungCharacteristics::of(&runs.model) else { continue };
        let gradient_text = |value: Option<f64>| {
            value.map_or("-".into(), |gradient| format!("{:.3}", (gradient * GRAVITY_MPS2).to_degrees()))
        };
        let hop_frequencies: Vec<String> = unsprung.hop_hz.iter().map(|hz| format!("{hz:.1}")).collect();
        let rigid_gradient = Characteristics::new(&runs.model).roll_gradient;
        let cells = [
            runs.vehicle.clone(),
            hop_frequencies.join(", "),
            gradient_text(rigid_gradient),
            gradient_text(unsprung.roll_gradient),
        ];
        append_row(text, cells.into_iter().chain(roll_gradients(runs)));
    }
    text.push('\n');
}

/// Returns the roll gradient of each solver in the circle at [`AGREEMENT_RATE_HZ`] as text (deg/g), peers included. A
/// missing value is "-". The list is empty if the circle was not driven.
fn roll_gradients(runs: &VehicleRuns) -> Vec<String> {
    let Some(rate_runs) = runs.manoeuvres.iter().find(|rate_runs| rate_runs.manoeuvre == ROLL_GRADIENT_METRIC.0) else {
        return Vec::new();
    };
    // Number of the metric; `None` if the circle does not have it.
    let index = rate_runs.metrics().iter().position(|metric| metric.name == ROLL_GRADIENT_METRIC.1);
    let value_of = |solver_runs: &SolverRuns| {
        solver_runs.samples[sample_index(rate_runs, AGREEMENT_RATE_HZ)?].metrics[index?].value
    };
    rate_runs
        .solvers
        .iter()
        .map(|solver_runs| value_of(solver_runs).map_or("-".into(), |gradient| format!("{gradient:.3}")))
        .collect()
}
