//! Tables of runs: columns with units, and cells as text.

use std::io::{self, Write};

use serde_json::{Value as Json, json};

/// Type of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellType {
    /// Text.
    Text,
    /// `true` or `false`.
    Flag,
    /// Integer.
    Integer,
    /// Number with a fraction, in as many digits as it needs.
    Number,
}

impl CellType {
    /// All types with their names in files.
    const NAMES: [(Self, &'static str); 4] =
        [(Self::Text, "text"), (Self::Flag, "flag"), (Self::Integer, "integer"), (Self::Number, "number")];

    /// Returns the name in files.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }
}

/// Meaning of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Identity of the run.
    Run,
    /// Varied parameter.
    Parameter,
    /// Metric.
    Metric,
    /// Health of the run.
    Health,
}

impl Role {
    /// All meanings with their names in files.
    const NAMES: [(Self, &'static str); 4] =
        [(Self::Run, "run"), (Self::Parameter, "parameter"), (Self::Metric, "metric"), (Self::Health, "health")];

    /// Returns the name in files.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(role, _)| *role == self).map_or("", |(_, name)| name)
    }
}

/// Column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name.
    pub name: String,
    /// Meaning.
    pub role: Role,
    /// Type of the values.
    pub cell_type: CellType,
    /// Unit; "-" without unit, empty if it is unknown.
    pub unit: String,
    /// Name for people; empty if it is that of the column.
    pub label: String,
}

impl Column {
    /// Creates a column without unit and label.
    pub fn new(name: &str, role: Role, cell_type: CellType) -> Self {
        Self { name: name.into(), role, cell_type, unit: String::new(), label: String::new() }
    }

    /// Returns the name for people.
    pub fn title(&self) -> &str {
        if self.label.is_empty() { &self.name } else { &self.label }
    }

    /// Returns the JSON of a file.
    fn to_json(&self) -> Json {
        let [role, cell_type] = [self.role.name(), self.cell_type.name()];
        json!({ "name": self.name, "role": role, "type": cell_type, "unit": self.unit, "label": self.label })
    }

    /// Reads the JSON of a file; `None` if it is no column.
    fn from_json(json: &Json) -> Option<Self> {
        let text = |key: &str| json.get(key)?.as_str();
        let role = text("role")?;
        let cell_type = text("type")?;
        Some(Self {
            name: text("name")?.into(),
            role: Role::NAMES.iter().find(|(_, name)| *name == role)?.0,
            cell_type: CellType::NAMES.iter().find(|(_, name)| *name == cell_type)?.0,
            unit: text("unit")?.into(),
            label: text("label")?.into(),
        })
    }
}

/// Table of runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunTable {
    /// Columns.
    pub columns: Vec<Column>,
    /// Rows with one cell for each column; an empty cell has no value.
    pub rows: Vec<Vec<String>>,
}

impl RunTable {
    /// Returns the index of the column called `name`; `None` if there is none.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Iterates over the cells of the column `index` as numbers; `None` for a cell that is no number.
    pub fn numbers(&self, index: usize) -> impl Iterator<Item = Option<f64>> {
        self.rows.iter().map(move |row| row.get(index)?.parse().ok())
    }

    /// Iterates over the indices of the columns with the role `role`.
    pub fn columns_with_role(&self, role: Role) -> impl Iterator<Item = usize> {
        self.columns.iter().enumerate().filter(move |(_, column)| column.role == role).map(|(index, _)| index)
    }

    /// Writes the header and the rows as CSV. The writer is flushed at the end.
    ///
    /// # Errors
    /// Returns the errors of `out`.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(self.columns.iter().map(|column| &column.name))?;
        self.rows.iter().try_for_each(|row| writer.write_record(row))?;
        writer.flush()
    }

    /// Writes the columns as CSV with the columns name, role, type, unit and label. The writer is flushed at the end.
    ///
    /// # Errors
    /// Returns the errors of `out`.
    pub fn write_columns_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(["name", "role", "type", "unit", "label"])?;
        for Column { name, role, cell_type, unit, label } in &self.columns {
            writer.write_record([name, role.name(), cell_type.name(), unit, label])?;
        }
        writer.flush()
    }

    /// Returns the columns as JSON.
    pub fn columns_json(&self) -> Json {
        self.columns.iter().map(Column::to_json).collect()
    }

    /// Reads the rows of a CSV text with a header. `columns` is the JSON of [`RunTable::columns_json`].
    ///
    /// Returns `None` if `columns` is not valid, if the header has other names or another order, or if a row has
    /// another number of cells.
    pub fn read(columns: &Json, csv_text: &[u8]) -> Option<Self> {
        let columns = columns.as_array()?.iter().map(Column::from_json).collect::<Option<Vec<_>>>()?;
        let mut reader = csv::Reader::from_reader(csv_text);
        let header = reader.headers().ok()?;
        if !header.iter().eq(columns.iter().map(|column| column.name.as_str())) {
            return None;
        }
        let records = reader.into_records().collect::<Result<Vec<_>, _>>().ok()?;
        let rows = records.iter().map(|record| record.iter().map(str::to_owned).collect()).collect();
        Some(Self { columns, rows })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table with units, empty cells, quotes and line breaks is read back from its text.
    #[test]
    fn tables_are_read_back() {
        let mut distance = Column::new("distance_m", Role::Metric, CellType::Number);
        (distance.unit, distance.label) = ("m".into(), "Stopping distance, \"dry\"".into());
        let columns = vec![Column::new("id", Role::Run, CellType::Text), distance];
        let rows = vec![vec!["a\nb".to_owned(), String::new()], vec!["c,\"d".into(), "1.5".into()]];
        let table = RunTable { columns, rows };
        let mut bytes = Vec::new();
        table.write_csv(&mut bytes).expect("a Vec takes everything");
        assert_eq!(RunTable::read(&table.columns_json(), &bytes).as_ref(), Some(&table));
        assert_eq!(RunTable::read(&json!([]), &bytes), None);
        assert_eq!(table.numbers(1).collect::<Vec<_>>(), [None, Some(1.5)]);
        assert_eq!(table.columns_with_role(Role::Metric).collect::<Vec<_>>(), [1]);
    }
}
