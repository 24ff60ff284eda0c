//! `skidpad import`: converts a car of another program to a vehicle file.

use skidpad::lab::files::write_atomically;
use skidpad::spec::files::{FileKind, read_lossy};
use skidpad::spec::import::{ImportOptions, Source};
use skidpad::spec::printable::one_line;

use crate::arguments::Import;
use crate::errors::{self, BadArgument, Unreadable, Unwritable};
use crate::failure::Result;
use crate::output::{print, printable_path};
use crate::run::{parse_step_length, parse_step_rate};

/// Converts the file of another program to a vehicle file: checks the arguments, reads the file, writes the vehicle
/// file, and prints the notes of the importer and the name of the vehicle. Nothing is written if there is a fault. The
/// output must not be the input. The step length is that of `--dt-s`, otherwise of `--rate-hz`, otherwise the default.
/// The notes are printed after the file is written.
pub fn import(arguments: &Import) -> Result<()> {
    errors::check_not_overwriting("--out", &arguments.out, &[("the file to import", Some(&arguments.file))])?;
    let options = match (arguments.dt_s, arguments.rate_hz) {
        (Some(dt_s), _) => ImportOptions { dt_s: parse_step_length(dt_s)?.seconds() },
        (None, Some(rate_hz)) => ImportOptions { dt_s: parse_step_rate(rate_hz)?.seconds() },
        (None, None) => ImportOptions::default(),
    };
    let Some((_, source)) = Source::ALL.into_iter().find(|(name, _)| *name == arguments.from) else {
        let accepts = Source::ALL.map(|(name, _)| name).join(", ");
        return Err(BadArgument { argument: "--from", found: arguments.from.clone(), accepts }.into());
    };
    let file_name = arguments.file.display().to_string();
    let unreadable_error = |source| Unreadable { path: file_name.clone(), source };
    let text = read_lossy(&arguments.file, FileKind::Import).map_err(unreadable_error)?;
    let imported = source.import(&file_name, &text, options)?;
    write_atomically(&arguments.out, |out| out.write_all(imported.text.as_bytes())).map_err(Unwritable::from)?;
    for note in &imported.notes {
        print(&format!("note     {note}\n"))?;
    }
    print(&format!("vehicle  {}: {}\n", printable_path(&arguments.out), one_line(&imported.spec.name)))
}
