//! `skidpad list` and `skidpad schema`.

use skidpad::core::HitchFrame;
use skidpad::core::telemetry::frame::{HITCH_CHANNELS, Shaft, VEHICLE_CHANNELS, WHEEL_CHANNELS};
use skidpad::lab::manoeuvre::{CATALOGUE, GROUNDS};

use skidpad::spec::import::Source;

use crate::arguments::{Described, Listed};
use crate::failure::{Failure, Result};
use crate::output::{Table, print};

/// Prints one list, or all of them for `None`.
pub fn list(what: Option<Listed>) -> Result<()> {
    let lists = [
        (Listed::Vehicles, "Vehicles", vehicles as fn() -> Result<Table>),
        (Listed::Backends, "Backends", || Ok(backends())),
        (Listed::Manoeuvres, "Manoeuvres", || Ok(manoeuvres())),
        (Listed::Grounds, "Grounds, for every manoeuvre", || Ok(grounds())),
        (Listed::Channels, "Channels", || Ok(channels())),
    ];
    let mut text = String::new();
    for (which, title, table) in lists {
        match what {
            Some(wanted) if wanted == which => text.push_str(&table()?.text(0)),
            Some(_) => {}
            None => text.push_str(&format!("{title}\n{}\n", table()?.text(2))),
        }
    }
    print(text.trim_end())?;
    print("\n")
}

fn vehicles() -> Result<Table> {
    let mut table = Table::new(usize::MAX);
    for name in skidpad::spec::shipped::names().chain(skidpad::spec::shipped::trailers()) {
        let loaded = skidpad::spec::load(name)?;
        let mass: f32 = loaded.units().map(|model| model.mass()).sum();
        let wheels: usize = loaded.units().map(|model| model.wheels().len()).sum();
        table.row([name.to_string(), format!("{mass:.0} kg"), format!("{wheels} wheels"), loaded.spec.name.clone()]);
    }
    Ok(table)
}

fn backends() -> Table {
    let mut table = Table::new(usize::MAX);
    for info in skidpad::backends() {
        table.row([info.name, if info.peer { "peer" } else { "" }, info.about]);
    }
    table
}

fn manoeuvres() -> Table {
    let mut table = Table::new(usize::MAX);
    for entry in CATALOGUE {
        table.row([entry.name, entry.about]);
    }
    table
}

/// Returns the table of the kinds of ground with their sources, followed by the wheel probes of each solver.
fn grounds() -> Table {
    let mut table = Table::new(usize::MAX);
    for (name, from) in GROUNDS {
        table.row([name, "", from]);
    }
    let kinds = GROUNDS.map(|(name, _)| name).join(", ");
    for info in skidpad::backends().into_iter().chain(skidpad::modes()) {
        let probes = if info.rows { "rays, discs, cylinders, tori" } else { "rays, whatever the vehicle file says" };
        table.row([info.name, &kinds, probes]);
    }
    table
}

fn channels() -> Table {
    let mut table = Table::new(usize::MAX);
    for channel in VEHICLE_CHANNELS {
        table.row([channel.name, channel.unit, channel.about]);
    }
    for channel in WHEEL_CHANNELS {
        table.row([&format!("{}.<wheel>", channel.name), channel.unit, channel.about]);
    }
    for channel in HITCH_CHANNELS {
        table.row([&format!("{}.{}", channel.name, HitchFrame::NAME), channel.unit, channel.about]);
    }
    let shaft = Shaft::CHANNEL;
    table.row([&format!("{}.<shaft>", shaft.name), shaft.unit, shaft.about]);
    table
}

/// Prints the JSON schema of vehicle files, scene files or importable files.
pub fn schema(of: Described) -> Result<()> {
    let schema = match of {
        Described::Vehicle => skidpad::spec::schema(),
        Described::Scene => skidpad::spec::scene_schema(),
        Described::Bullet => Source::Bullet.schema(),
        Described::Rapier => Source::Rapier.schema(),
        Described::Jolt => Source::Jolt.schema(),
        Described::Physx => Source::Physx.schema(),
    };
    let text = serde_json::to_string_pretty(&schema).map_err(Failure::from_error)?;
    print(&format!("{text}\n"))
}
