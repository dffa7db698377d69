//! Any table that a run has left, column by column, as its file describes itself.

use std::path::Path;

use serde::Deserialize;

use crate::RecordError;
use crate::schema::{COLUMNS_KEY, ColumnType, TABLE_KEY};
use crate::table::{TableReader, Values};

/// A column as a file describes it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct StoredColumn {
    /// Its name.
    pub name: String,
    /// The unit of its values; empty where there is none.
    pub unit: String,
    /// What it means, and when it is null.
    pub meaning: String,
    /// What it holds.
    #[serde(rename = "type")]
    pub kind: ColumnType,
    /// Whether it may be null.
    pub nullable: bool,
}

/// A table in a file, whatever it is a table of.
pub struct StoredTable {
    reader: TableReader,
    columns: Vec<StoredColumn>,
}

impl StoredTable {
    /// Opens a file that a run has left.
    ///
    /// # Errors
    /// If it cannot be read, was not written by tailcut, or by a later one with another layout.
    pub fn open(path: &Path) -> Result<StoredTable, RecordError> {
        let reader = TableReader::open_any(path)?;
        let columns = serde_json::from_str(reader.metadata(COLUMNS_KEY).unwrap_or_default())
            .map_err(|error| reader.format(format!("it does not say what its columns are: {error}")))?;
        Ok(StoredTable { reader, columns })
    }

    /// What it is a table of, such as `flows`.
    pub fn name(&self) -> &str {
        self.reader.metadata(TABLE_KEY).unwrap_or_default()
    }

    /// Its columns, in order.
    pub fn columns(&self) -> &[StoredColumn] {
        &self.columns
    }

    /// Number of row groups: parts of the rows that are read at a time.
    pub fn groups(&self) -> usize {
        self.reader.group_count()
    }

    /// The values of all columns in row group number `index`, in the order of the columns.
    ///
    /// # Errors
    /// If they cannot be read.
    ///
    /// # Panics
    /// If there is no such row group.
    pub fn group(&self, index: usize) -> Result<Vec<Values>, RecordError> {
        let group = self.reader.group(index);
        self.columns.iter().map(|column| group.values(&column.name, column.kind, column.nullable)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::tests::rich_row;
    use crate::{FlowRow, read_flows, write_flows};

    #[test]
    fn a_table_reads_as_its_file_describes_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("flows.parquet");
        let rows: Vec<FlowRow> = (0..10).map(rich_row).collect();
        let classes = ["a", "b", "c"].map(str::to_owned);
        write_flows(&path, &classes, &rows.iter().collect()).unwrap();
        let table = StoredTable::open(&path).unwrap();
        assert_eq!((table.name(), table.groups()), ("flows", 1));
        let values = table.group(0).unwrap();
        assert_eq!(values.len(), table.columns().len());
        let at = |name: &str| table.columns().iter().position(|column| column.name == name).unwrap();
        let sizes: Vec<i64> = rows.iter().map(|row| row.size as i64).collect();
        assert_eq!(values[at("size_bytes")], Values::Integers(sizes));
        let ends = rows.iter().map(|row| row.received.map(|end| end.as_ps() as f64 / 1e3)).collect();
        assert_eq!(values[at("end_ns")], Values::MaybeDoubles(ends));
        assert_eq!(table.columns()[at("end_ns")].unit, "ns");
        assert!(read_flows(&path).is_ok(), "what reads flows reads the same file");
    }
}
