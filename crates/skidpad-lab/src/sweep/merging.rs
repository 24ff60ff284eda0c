//! Merging of the shards of a sweep into one table.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::error::SweepError;
use super::plan::Sweep;
use super::shards::{SHARD_ENDING, ShardFile};
use super::table::{Column, Role, RunTable};

/// Largest number of identifiers or shards that a fault names.
const MAX_NAMED: usize = 5;

impl Sweep {
    /// Joins the shards in a folder into one table, in the order of the runs. A metric that a shard lacks has empty
    /// cells there.
    ///
    /// # Errors
    /// Returns an error if the manifest of the folder is that of another sweep, or if the folder cannot be listed.
    /// Otherwise returns all faults at once: shards of other sweeps, shards that cannot be read, runs that are missing,
    /// double or unknown, and columns that differ between shards.
    pub fn merge(&self, folder: &Path) -> Result<RunTable, SweepError> {
        self.check_folder(folder)?;
        let mut faults = Vec::new();
        let mut tables = Vec::new();
        for path in shard_paths(folder)? {
            match ShardFile::read(&path) {
                Some(file) => match (file.fault(self, &path), file.table) {
                    (Some(fault), _) => faults.push(fault),
                    (None, Some(table)) => tables.push(table),
                    (None, None) => faults.push(torn_fault(&path)),
                },
                None => faults.push(torn_fault(&path)),
            }
        }
        faults.extend(self.id_faults(&tables));
        let columns = joined_columns(&tables).unwrap_or_else(|column_faults| {
            faults.extend(column_faults);
            Vec::new()
        });
        if !faults.is_empty() {
            return Err(SweepError::Faults(faults));
        }
        Ok(join(columns, tables))
    }

    /// Returns up to three faults, by the identifiers in the first column of `tables`: one for all missing runs, one
    /// for the runs that occur several times, and one for the runs that are not in the sweep.
    fn id_faults(&self, tables: &[RunTable]) -> Vec<String> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for id in tables.iter().flat_map(|table| &table.rows).filter_map(|row| row.first()) {
            *counts.entry(id).or_default() += 1;
        }
        let mut missing = Vec::new();
        let mut missing_shards = BTreeSet::new();
        let mut expected = BTreeSet::new();
        for number in 0..self.run_count() {
            let id = self.run(number).id;
            if !counts.contains_key(id.as_str()) {
                missing.push(id.clone());
                missing_shards.insert(self.shard_of(number));
            }
            expected.insert(id);
        }
        let ids_where = |is_wanted: &dyn Fn(&str, usize) -> bool| -> Vec<String> {
            let wanted = counts.iter().filter(|(id, count)| is_wanted(id, **count));
            wanted.map(|(id, _)| (*id).to_owned()).collect()
        };
        let double = ids_where(&|_, count| count > 1);
        let unknown = ids_where(&|id, _| !expected.contains(id));
        let mut faults = Vec::new();
        if !missing.is_empty() {
            let shards: Vec<String> = missing_shards.iter().map(u64::to_string).collect();
            faults.push(format!(
                "{} missing, in shards {}; run the sweep again",
                run_list_text(&missing),
                first_names_text(&shards)
            ));
        }
        if !double.is_empty() {
            faults.push(format!("{} in several files; remove the copies", run_list_text(&double)));
        }
        if !unknown.is_empty() {
            let cause = "computed on a platform with other elementary functions?";
            faults.push(format!("{} unknown: {cause}", run_list_text(&unknown)));
        }
        faults
    }
}

/// Returns the paths of all shards in `folder`, in the order of their names.
fn shard_paths(folder: &Path) -> Result<Vec<PathBuf>, SweepError> {
    let unreadable = |reason| SweepError::Folder { path: folder.to_owned(), reason };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|ending| ending == SHARD_ENDING) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Returns the fault of a file that cannot be read.
fn torn_fault(path: &Path) -> String {
    format!("{} cannot be read, or is torn; run its shard again", path.display())
}

/// Returns the number of runs with their first identifiers in brackets, and a verb, such as `2 runs (a, b) are`.
fn run_list_text(ids: &[String]) -> String {
    let (noun, verb) = if ids.len() == 1 { ("run", "is") } else { ("runs", "are") };
    format!("{} {noun} ({}) {verb}", ids.len(), first_names_text(ids))
}

/// Returns the first [`MAX_NAMED`] of `names`, and an ellipsis if there are more.
fn first_names_text(names: &[String]) -> String {
    let shown = names.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > MAX_NAMED { format!("{shown}, …") } else { shown }
}

/// Returns the columns of all tables, each name once: those of the run, the parameters, the metrics of any table, and
/// the health.
///
/// # Errors
/// Returns a fault for each column whose unit or type differs between tables.
fn joined_columns(tables: &[RunTable]) -> Result<Vec<Column>, Vec<String>> {
    let mut columns: Vec<Column> = Vec::new();
    let mut faults = BTreeSet::new();
    for column in tables.iter().flat_map(|table| &table.columns) {
        match columns.iter().find(|other| other.name == column.name) {
            Some(other) if (&other.unit, other.cell_type) == (&column.unit, column.cell_type) => {}
            Some(_) => {
                faults.insert(format!("column `{}` has several units or types; run the sweep again", column.name));
            }
            None => columns.push(column.clone()),
        }
    }
    // The sort is stable: metrics that only later tables have move before the health, and nothing else moves.
    columns.sort_by_key(|column| column.role == Role::Health);
    if faults.is_empty() { Ok(columns) } else { Err(faults.into_iter().collect()) }
}

/// Returns the rows of all tables with the cells of `columns`, sorted by the number of the run. A column that a table
/// lacks has empty cells. Rows without a number come last.
fn join(columns: Vec<Column>, tables: Vec<RunTable>) -> RunTable {
    let mut rows: Vec<(u64, Vec<String>)> = Vec::new();
    for table in tables {
        let places: Vec<Option<usize>> = columns.iter().map(|column| table.column(&column.name)).collect();
        let number = table.column("run");
        rows.extend(table.rows.iter().map(|row| {
            let cell = |place: &Option<usize>| place.and_then(|place| row.get(place)).cloned().unwrap_or_default();
            (cell(&number).parse().unwrap_or(u64::MAX), places.iter().map(cell).collect())
        }));
    }
    rows.sort_by_key(|(number, _)| *number);
    RunTable { columns, rows: rows.into_iter().map(|(_, row)| row).collect() }
}
