//! Rows that leave a run in groups: collected, handed to a sink or kept, and written to a file of their own.

use std::io::Write;
use std::path::{Path, PathBuf};

use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;

use crate::schema::{CLASSES_KEY, Column};
use crate::table::{TableReader, TableWriter, Values};
use crate::{AtomicFile, RecordError};

/// Rows in a group, in memory and in the file.
pub const GROUP_ROWS: usize = 1 << 16;

/// Rows of one table, as they are held in memory. Each belongs to a traffic class, and has a number by which a table is
/// sorted.
pub trait Rows: Default {
    /// One of them.
    type Row;
    /// Name of the table.
    const TABLE: &'static str;
    /// Its columns.
    const COLUMNS: &'static [Column];

    /// Columns after those that a file needs to hold every value of these rows.
    fn optional(&self) -> Vec<Column> {
        Vec::new()
    }
    /// Appends a row.
    fn push_row(&mut self, row: &Self::Row);
    /// Number of rows.
    fn count(&self) -> usize;
    /// The row at `at`, counted from 0.
    fn get_row(&self, at: usize) -> Self::Row;
    /// Puts the rows in the order of their numbers.
    fn sort(&mut self);
    /// Forgets the rows and keeps the memory.
    fn forget(&mut self);
    /// Bytes that they hold on to.
    fn held_bytes(&self) -> usize;
    /// The values of one column.
    fn values(column: &str, rows: &[Self::Row], classes: &[ByteArray]) -> Values;
}

/// Takes completed rows while the run goes on.
pub trait Sink<R>: Send {
    /// Takes a group of rows, in the order in which they were completed; it may put them into another one.
    ///
    /// # Errors
    /// If they cannot be stored. The recorder then gives it no more.
    fn write(&mut self, rows: &mut R) -> Result<(), RecordError>;

    /// Every row has been written.
    ///
    /// # Errors
    /// If they cannot be stored.
    fn finish(self: Box<Self>) -> Result<(), RecordError>;
}

/// Completed rows on their way: kept until the end, or to a sink in groups of [`GROUP_ROWS`].
pub(crate) struct Completed<R> {
    rows: R,
    sink: Option<Box<dyn Sink<R>>>,
    failure: Option<RecordError>,
}

impl<R: Rows> Completed<R> {
    pub(crate) fn kept() -> Completed<R> {
        Completed { rows: R::default(), sink: None, failure: None }
    }

    pub(crate) fn into_sink(sink: Box<dyn Sink<R>>) -> Completed<R> {
        Completed { sink: Some(sink), ..Completed::kept() }
    }

    pub(crate) fn push(&mut self, row: &R::Row) {
        self.rows.push_row(row);
        let Some(sink) = &mut self.sink else { return };
        if self.rows.count() == GROUP_ROWS {
            if self.failure.is_none() {
                self.failure = sink.write(&mut self.rows).err();
            }
            self.rows.forget();
        }
    }

    /// Whether the sink has refused rows.
    pub(crate) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.rows.held_bytes()
    }

    /// Every row in the order of their numbers; none if they went to a sink.
    pub(crate) fn finish(mut self) -> Result<R, RecordError> {
        let Some(mut sink) = self.sink.take() else {
            self.rows.sort();
            return Ok(self.rows);
        };
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        if self.rows.count() > 0 {
            sink.write(&mut self.rows)?;
        }
        sink.finish()?;
        Ok(R::default())
    }
}

/// Writes rows, group by group, into a file that appears when it is complete. Each group is put in the order of its
/// numbers: runs of up to a group have sorted files, and columns whose neighbours are alike take less room.
pub struct RowWriter<R> {
    out: GroupWriter<AtomicFile, R>,
    file: PathBuf,
}

impl<R: Rows> RowWriter<R> {
    /// Begins the file at `path`; `classes` are the names of the workload's traffic classes.
    ///
    /// # Errors
    /// If the file cannot be made.
    pub fn create(path: &Path, classes: &[String]) -> Result<RowWriter<R>, RecordError> {
        RowWriter::create_with(path, classes, &[])
    }

    /// The same, of a file that has these `optional` columns after the others.
    ///
    /// # Errors
    /// If the file cannot be made.
    pub fn create_with(path: &Path, classes: &[String], optional: &[Column]) -> Result<RowWriter<R>, RecordError> {
        let out = GroupWriter::new(AtomicFile::create(path)?, classes, optional);
        Ok(RowWriter { out: out.map_err(|e| RecordError::write(path, e))?, file: path.to_owned() })
    }
}

impl<R: Rows> Sink<R> for RowWriter<R> {
    fn write(&mut self, rows: &mut R) -> Result<(), RecordError> {
        rows.sort();
        self.out.write(rows).map_err(|e| RecordError::write(&self.file, e))
    }

    fn finish(self: Box<Self>) -> Result<(), RecordError> {
        self.out.table.finish().map_err(|e| RecordError::write(&self.file, e))?.commit()
    }
}

/// Writes all of `rows` to a file at `path`.
pub(crate) fn write_rows<R: Rows>(path: &Path, classes: &[String], rows: &R) -> Result<(), RecordError> {
    let mut writer = Box::new(RowWriter::<R>::create_with(path, classes, &rows.optional())?);
    writer.out.write(rows).map_err(|e| RecordError::write(path, e))?;
    writer.finish()
}

/// Writes groups of rows to anything.
pub(crate) struct GroupWriter<W: Write + Send, R> {
    table: TableWriter<W>,
    columns: Vec<Column>,
    classes: Vec<ByteArray>,
    /// Any number of rows is written, and none is held.
    rows: std::marker::PhantomData<fn(&R)>,
}

impl<W: Write + Send, R: Rows> GroupWriter<W, R> {
    pub(crate) fn new(out: W, classes: &[String], optional: &[Column]) -> Result<Self, ParquetError> {
        let columns = [R::COLUMNS, optional].concat();
        let names = serde_json::to_string(classes).expect("a list of texts is JSON");
        Ok(GroupWriter {
            table: TableWriter::new(out, R::TABLE, &columns, &[(CLASSES_KEY, names)])?,
            columns,
            classes: classes.iter().map(|name| ByteArray::from(name.as_str())).collect(),
            rows: std::marker::PhantomData,
        })
    }

    pub(crate) fn write(&mut self, rows: &R) -> Result<(), ParquetError> {
        for from in (0..rows.count()).step_by(GROUP_ROWS) {
            let rows: Vec<R::Row> = (from..rows.count().min(from + GROUP_ROWS)).map(|at| rows.get_row(at)).collect();
            self.table.group(self.columns.iter().map(|column| R::values(&column.name, &rows, &self.classes)))?;
        }
        Ok(())
    }
}

/// The values of a column with the names of classes, of rows with these classes.
pub(crate) fn class_names(rows: impl Iterator<Item = u8>, classes: &[ByteArray]) -> Values {
    Values::Texts(rows.map(|class| classes.get(usize::from(class)).expect("every class has a name").clone()).collect())
}

/// The names of the traffic classes that a table carries.
pub(crate) fn read_classes(table: &TableReader) -> Result<Vec<String>, RecordError> {
    let names = table.metadata(CLASSES_KEY).and_then(|names| serde_json::from_str(names).ok());
    names.ok_or_else(|| table.format("it does not name its classes"))
}
