//! Parquet files: a table of all runs, whose fields have their unit and meaning as metadata.

use std::io;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;

use super::NamedRun;
use crate::channels::channel_of_column;

/// Name of the column with the names of the runs.
const RUN_COLUMN: &str = "run";

/// Returns the file of `runs`: the column `run`, then a column for each selected channel of any run, empty where a run
/// does not have it. Each run is a row group of its own. The metadata of a field are its `unit` and its `description`,
/// as `pyarrow` and `polars` show them.
///
/// # Errors
/// Returns an error if the writer refuses a table.
pub fn bytes(runs: &[NamedRun<'_>]) -> io::Result<Vec<u8>> {
    let mut columns: Vec<String> = Vec::new();
    for column in runs.iter().flat_map(NamedRun::columns) {
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    let run_field = Field::new(RUN_COLUMN, DataType::Utf8, false);
    let fields: Vec<Field> = [run_field].into_iter().chain(columns.iter().map(|name| channel_field(name))).collect();
    let schema = Arc::new(Schema::new(fields));
    let mut writer = ArrowWriter::try_new(Vec::new(), Arc::clone(&schema), None).map_err(io::Error::other)?;
    for run in runs {
        let batch = RecordBatch::try_new(Arc::clone(&schema), run_columns(run, &columns)).map_err(io::Error::other)?;
        writer.write(&batch).map_err(io::Error::other)?;
        writer.flush().map_err(io::Error::other)?;
    }
    writer.into_inner().map_err(io::Error::other)
}

/// Returns the field of the channel `name` with its unit and description.
fn channel_field(name: &str) -> Field {
    let field = Field::new(name, DataType::Float64, true);
    let Some(channel) = channel_of_column(name) else { return field };
    field.with_metadata(
        [("unit", channel.unit), ("description", channel.about)].map(|(key, text)| (key.to_owned(), text.to_owned())),
    )
}

/// Returns the columns of a run: its name in each row, then the values of `columns`, which are null for a column that
/// the run does not have.
fn run_columns(run: &NamedRun<'_>, columns: &[String]) -> Vec<ArrayRef> {
    let own_columns = run.columns();
    let places: Vec<Option<usize>> =
        columns.iter().map(|name| own_columns.iter().position(|column| column == name)).collect();
    let mut values: Vec<Vec<Option<f64>>> = vec![Vec::new(); columns.len()];
    let mut row_count = 0;
    for frame in run.rows() {
        let row = run.selection.pick(&frame.row());
        for (column, place) in values.iter_mut().zip(&places) {
            column.push(place.map(|place| row[place]));
        }
        row_count += 1;
    }
    let names: ArrayRef = Arc::new(StringArray::from(vec![run.name.as_str(); row_count]));
    let numbers = values.into_iter().map(|column| Arc::new(Float64Array::from(column)) as ArrayRef);
    [names].into_iter().chain(numbers).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry_files::tests::named_run;
    use crate::testing::{model, sampled};
    use std::io::Write;

    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Float64Type;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    /// The file reads back: names, values and units, and empty cells for a channel that a run does not have.
    #[test]
    fn the_file_reads_back_with_units() {
        let run = sampled(0.1, 1.0, |t, frame| (frame.vx_mps, frame.wheels[0].load_n) = (20.0 - t, 2500.0));
        let model = model();
        let runs = [
            named_run("braking/impulse", &model, &run, &["t_s", "vx_mps"]),
            named_run("braking/rapier", &model, &run, &["t_s", "load_n.1l"]),
        ];
        let bytes = bytes(&runs).expect("written");
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.write_all(&bytes).expect("writable");
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("Parquet");
        let schema = Arc::clone(reader.schema());
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        assert_eq!(names, ["run", "t_s", "vx_mps", "load_n.1l"]);
        let unit = |index: usize| schema.field(index).metadata()["unit"].clone();
        assert_eq!([unit(1), unit(2), unit(3)], ["s", "m/s", "N"]);
        let rows: Vec<(String, Option<f64>, Option<f64>)> = reader
            .build()
            .expect("readable")
            .flat_map(|batch| {
                let batch = batch.expect("a batch");
                let name = batch.column(0).as_string::<i32>().clone();
                let number = |index: usize, row| {
                    let column = batch.column(index).as_primitive::<Float64Type>();
                    column.is_valid(row).then(|| column.value(row))
                };
                let row = |row: usize| (name.value(row).to_owned(), number(2, row), number(3, row));
                (0..batch.num_rows()).map(row).collect::<Vec<_>>()
            })
            .collect();
        assert_eq!((rows.len(), &rows[1]), (6, &("braking/impulse".to_owned(), Some(19.5), None)));
        assert_eq!(rows[5], ("braking/rapier".to_owned(), None, Some(2500.0)));
    }
}
