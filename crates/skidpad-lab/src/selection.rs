//! Selection of telemetry channels and rows for files.

/// Selected columns of the telemetry of a car, and the distance between written rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Numbers of the columns, from 0; `None` for all columns, those of towed units included.
    columns: Option<Vec<usize>>,
    /// Every how manyth row is written, from the first; ≥ 1.
    every: usize,
}

impl Default for Selection {
    /// Selects all columns and rows.
    fn default() -> Self {
        Self { columns: None, every: 1 }
    }
}

impl Selection {
    /// Selects the columns called `names` of `header`, in the order of `names`, and every `every`th row from the first
    /// (0 counts as 1). Empty `names` select all columns, those of towed units (trailers and dollies) included.
    ///
    /// # Errors
    /// Returns the names that the header does not have.
    pub fn new(header: &[String], names: &[String], every: usize) -> Result<Self, Vec<String>> {
        let find = |name: &String| header.iter().position(|column| column == name);
        let unknown: Vec<String> = names.iter().filter(|name| find(name).is_none()).cloned().collect();
        if !unknown.is_empty() {
            return Err(unknown);
        }
        let columns = (!names.is_empty()).then(|| names.iter().filter_map(find).collect());
        Ok(Self { columns, every: every.max(1) })
    }

    /// Returns the selection of the same columns of another header, by their names in `header`; columns that the other
    /// header does not have are left out.
    #[cfg(any(feature = "mcap", feature = "parquet"))]
    pub(crate) fn for_header(&self, header: &[String], other: &[String]) -> Self {
        let find = |&column: &usize| other.iter().position(|name| Some(name) == header.get(column));
        let columns = self.columns.as_ref().map(|columns| columns.iter().filter_map(find).collect());
        Self { columns, every: self.every }
    }

    /// Returns whether only some of the columns are selected.
    pub fn is_restricted(&self) -> bool {
        self.columns.is_some()
    }

    /// Returns every how manyth row is selected, ≥ 1.
    pub fn every(&self) -> usize {
        self.every
    }

    /// Returns the selected entries of a `row` or of a header.
    pub fn pick<T: Clone>(&self, row: &[T]) -> Vec<T> {
        match &self.columns {
            None => row.to_vec(),
            Some(columns) => columns.iter().filter_map(|&column| row.get(column)).cloned().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns are found by their names in another header; those that it lacks are left out.
    #[cfg(any(feature = "mcap", feature = "parquet"))]
    #[test]
    fn a_selection_transfers_to_another_header() {
        let [header, other] = [["t_s", "rpm", "x_m"], ["t_s", "x_m", "y_m"]].map(|names| names.map(String::from));
        let names = ["x_m", "rpm", "t_s"].map(String::from);
        let selection = Selection::new(&header, &names, 3).expect("known").for_header(&header, &other);
        assert_eq!((selection.pick(&other), selection.every()), (["x_m", "t_s"].map(String::from).to_vec(), 3));
        assert_eq!(Selection::default().for_header(&header, &other), Selection::default());
    }

    #[test]
    fn columns_are_picked_in_the_asked_order() {
        let header = ["t_s", "x_m", "y_m"].map(String::from);
        let names = ["y_m", "t_s"].map(String::from);
        let selection = Selection::new(&header, &names, 0).expect("known");
        assert_eq!((selection.pick(&header), selection.every()), (names.to_vec(), 1));
        assert_eq!(selection.pick(&[0.5, 1.0, 2.0]), [2.0, 0.5]);
        assert_eq!(Selection::default().pick(&header), header);
        let unknown = ["x_m", "z_m", "w"].map(String::from);
        assert_eq!(Selection::new(&header, &unknown, 1), Err(vec!["z_m".into(), "w".into()]));
    }
}
