//! `skidpad list` and `skidpad schema`.

use skidpad::core::HitchFrame;
use skidpad::core::telemetry::frame::{HITCH_CHANNELS, Shaft, VEHICLE_CHANNELS, WHEEL_CHANNELS};
use skidpad::lab::manoeuvre::{GROUND_KINDS, Parameter, catalogue};

use skidpad::spec::import::Source;

use crate::arguments::{ListKind, SchemaKind};
use crate::failure::{Failure, Result};
use crate::output::{TABLE_INDENT, TextTable, print};

/// Prints one list without title and indent, or for `None` all lists, each below its title and separated by blank
/// lines.
pub fn list(selected_kind: Option<ListKind>) -> Result<()> {
    let lists = [
        (ListKind::Vehicles, "Vehicles", vehicle_table as fn() -> Result<TextTable>),
        (ListKind::Solvers, "Solvers", || Ok(solver_table())),
        (ListKind::Manoeuvres, "Manoeuvres", || Ok(manoeuvre_table())),
        (ListKind::Grounds, "Grounds, and the wheel shapes of each solver", || Ok(ground_table())),
        (ListKind::Channels, "Channels", || Ok(channel_table())),
    ];
    let mut text = String::new();
    for (kind, title, build_table) in lists {
        match selected_kind {
            Some(selected) if selected == kind => text.push_str(&build_table()?.to_text(0)),
            Some(_) => {}
            None => text.push_str(&format!("{title}\n{}\n", build_table()?.to_text(TABLE_INDENT))),
        }
    }
    print(text.trim_end())?;
    print("\n")
}

/// Returns the table of shipped vehicles, then trailers: name, mass, number of wheels, full name. Mass and wheels
/// include the dolly of a full trailer.
fn vehicle_table() -> Result<TextTable> {
    // No column is right-aligned.
    let mut table = TextTable::new(usize::MAX);
    for name in skidpad::spec::shipped::names().chain(skidpad::spec::shipped::trailers()) {
        let vehicle = skidpad::spec::load(name)?;
        let mass: f32 = vehicle.vehicle_units().map(|model| model.mass()).sum();
        let wheel_count: usize = vehicle.vehicle_units().map(|model| model.wheels().len()).sum();
        table.push_row([
            name.to_string(),
            format!("{mass:.0} kg"),
            format!("{wheel_count} wheels"),
            vehicle.spec.name.clone(),
        ]);
    }
    Ok(table)
}

/// Returns the table of the solvers without variants: name, `reference` for a solver that only serves comparisons,
/// description.
fn solver_table() -> TextTable {
    // No column is right-aligned.
    let mut table = TextTable::new(usize::MAX);
    for info in skidpad::solvers() {
        table.push_row([info.name, if info.comparison_only { "reference" } else { "" }, info.description]);
    }
    table
}

/// Returns a table of two columns without heads: for each standard manoeuvre a row with its name and description, then
/// a row for each of its parameters, with an empty name, and option, description and accepted values in one text.
fn manoeuvre_table() -> TextTable {
    // No column is right-aligned.
    let mut table = TextTable::new(usize::MAX);
    for entry in catalogue() {
        table.push_row([entry.name.to_owned(), entry.about.to_owned()]);
        for parameter @ Parameter { name, about, .. } in entry.parameters {
            let accepted = parameter.accepted_text();
            table.push_row([String::new(), format!("--parameter {name}: {about}, {accepted}")]);
        }
    }
    table
}

/// Returns the table of the kinds of ground with their sources, followed by the wheel probes of each solver. A row of a
/// kind has its name, an empty cell and its source. A row of a solver, variants included, has its name, all kinds, and
/// its probes. Solvers without wheel rows have only rays.
fn ground_table() -> TextTable {
    // No column is right-aligned.
    let mut table = TextTable::new(usize::MAX);
    for (name, source) in GROUND_KINDS {
        table.push_row([name, "", source]);
    }
    // Every solver accepts every kind.
    let ground_kinds = GROUND_KINDS.map(|(name, _)| name).join(", ");
    for info in skidpad::solvers().into_iter().chain(skidpad::solver_variants()) {
        let probes = if info.has_wheel_rows {
            "rays, discs, cylinders, tori"
        } else {
            "rays only (rims of the vehicle file are ignored)"
        };
        table.push_row([info.name, &ground_kinds, probes]);
    }
    table
}

/// Returns the table of the telemetry channels of the CSV file with unit and description: of the vehicle, of each
/// wheel, of the hitch, of each shaft. The names of the groups other than the vehicle end with the wheel, the hitch or
/// the shaft, such as `.<wheel>`.
fn channel_table() -> TextTable {
    // No column is right-aligned.
    let mut table = TextTable::new(usize::MAX);
    for channel in VEHICLE_CHANNELS {
        table.push_row([channel.name, channel.unit, channel.about]);
    }
    for channel in WHEEL_CHANNELS {
        table.push_row([&format!("{}.<wheel>", channel.name), channel.unit, channel.about]);
    }
    for channel in HITCH_CHANNELS {
        table.push_row([&format!("{}.{}", channel.name, HitchFrame::NAME), channel.unit, channel.about]);
    }
    let shaft = Shaft::TORQUE_CHANNEL;
    table.push_row([&format!("{}.<shaft>", shaft.name), shaft.unit, shaft.about]);
    table
}

/// Prints the JSON schema of vehicle files, scene files or importable files, indented, with a line break at the end.
pub fn schema(kind: SchemaKind) -> Result<()> {
    let schema = match kind {
        SchemaKind::Vehicle => skidpad::spec::schema(),
        SchemaKind::Scene => skidpad::spec::scene_schema(),
        SchemaKind::Fit => skidpad::lab::fit::description::schema(),
        SchemaKind::Sweep => skidpad::lab::sweep::description::schema(),
        SchemaKind::Bullet => Source::Bullet.schema(),
        SchemaKind::Rapier => Source::Rapier.schema(),
        SchemaKind::Jolt => Source::Jolt.schema(),
        SchemaKind::Physx => Source::Physx.schema(),
    };
    let text = serde_json::to_string_pretty(&schema).map_err(Failure::from_error)?;
    print(&format!("{text}\n"))
}
