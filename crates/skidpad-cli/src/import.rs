//! `skidpad import`: a car of another program as a vehicle file.

use skidpad::lab::TimeStep;
use skidpad::lab::files::write_atomically;
use skidpad::spec::import::{Options, Source};

use crate::arguments::Import;
use crate::fail::{self, BadArgument, Unreadable, Unwritable};
use crate::output::print;

/// Reads what was asked for, writes the vehicle file, and tells what it does not say.
pub fn import(asked: &Import) -> miette::Result<()> {
    fail::not_over("--out", &asked.out, &[("the file to import", Some(&asked.file))])?;
    let options = match asked.dt_s {
        None => Options::default(),
        Some(dt) => Options { dt_s: step(dt)? },
    };
    let Some((_, source)) = Source::ALL.into_iter().find(|(name, _)| *name == asked.from) else {
        let accepts = Source::ALL.map(|(name, _)| name).join(", ");
        return Err(BadArgument { argument: "--from", found: asked.from.clone(), accepts }.into());
    };
    let name = asked.file.display().to_string();
    let bytes = std::fs::read(&asked.file).map_err(|source| Unreadable { path: name.clone(), source })?;
    let imported = source.import(&name, &String::from_utf8_lossy(&bytes), options)?;
    write_atomically(&asked.out, |out| out.write_all(imported.text.as_bytes())).map_err(Unwritable::from)?;
    for note in &imported.notes {
        print(&format!("note     {note}\n"))?;
    }
    print(&format!("vehicle  {}: {}\n", asked.out.display(), imported.spec.name))
}

fn step(dt: f64) -> Result<f64, BadArgument> {
    let bad = |accepts| BadArgument { argument: "--dt-s", found: dt.to_string(), accepts };
    TimeStep::new(dt).map(TimeStep::seconds).map_err(bad)
}
