//! Parquet files of plain columns: the schema comes from a table of [`Column`]s, values go in and out as vectors.
//!
//! This is the low-level column writer of the `parquet` crate: no Arrow. Snappy, dictionaries for all but times and
//! numbers of flows.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type};

use crate::schema::{
    COLUMNS_KEY, Column, ColumnType, SCHEMA_KEY, SCHEMA_VERSION, TABLE_KEY, VERSION_KEY, columns_json,
};
use crate::{RecordError, open_regular};

/// A time-weighted histogram as a file holds it: upper bounds in bytes, times in ns.
pub(crate) type Bins = Vec<(u64, f64)>;

/// The values of one column for some rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Whole numbers.
    Integers(Vec<i64>),
    /// Whole numbers that may be null.
    MaybeIntegers(Vec<Option<i64>>),
    /// Numbers with a fraction.
    Doubles(Vec<f64>),
    /// Numbers with a fraction that may be null.
    MaybeDoubles(Vec<Option<f64>>),
    /// Truth values.
    Booleans(Vec<bool>),
    /// Truth values that may be null.
    MaybeBooleans(Vec<Option<bool>>),
    /// UTF-8.
    Texts(Vec<ByteArray>),
    /// Time-weighted histograms that may be null: pairs of an upper bound in bytes and a time in ns.
    Histograms(Vec<Option<Bins>>),
}

/// Writes one table.
pub(crate) struct TableWriter<W: Write + Send> {
    out: SerializedFileWriter<W>,
}

type ParquetResult<T> = Result<T, ParquetError>;

impl<W: Write + Send> TableWriter<W> {
    /// Begins the table `name`; `metadata` goes beside what every file carries.
    pub(crate) fn new(out: W, name: &str, columns: &[Column], metadata: &[(&str, String)]) -> ParquetResult<Self> {
        let facts = [
            (TABLE_KEY, name.to_owned()),
            (SCHEMA_KEY, SCHEMA_VERSION.to_string()),
            (VERSION_KEY, env!("CARGO_PKG_VERSION").to_owned()),
            (COLUMNS_KEY, columns_json(columns)),
        ];
        let facts = facts.iter().chain(metadata);
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(concat!("tailcut version ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_key_value_metadata(Some(
                facts.map(|(key, value)| KeyValue::new((*key).to_owned(), value.clone())).collect(),
            ));
        for column in columns {
            // Nearly every value of these differs from the others: a dictionary would only add its indices.
            if column.kind == ColumnType::Double || column.name == "flow" {
                let path = ColumnPath::from(column.name.as_ref());
                properties = properties.set_column_dictionary_enabled(path, false);
            }
        }
        let fields = columns.iter().map(|column| field(column).map(Arc::new)).collect::<ParquetResult<_>>()?;
        let schema = Type::group_type_builder(name).with_fields(fields).build()?;
        let out = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties.build()))?;
        Ok(TableWriter { out })
    }

    /// Writes some rows; `columns` are all columns, in order and of one length.
    pub(crate) fn group(&mut self, columns: impl IntoIterator<Item = Values>) -> ParquetResult<()> {
        let mut group = self.out.next_row_group()?;
        for values in columns {
            values.write(&mut group)?;
        }
        group.close()?;
        // What has been written is handed to the system now, so that a full disk is noticed at this group.
        Ok(self.out.flush()?)
    }

    /// Ends the table and gives back what it was written to.
    pub(crate) fn finish(self) -> ParquetResult<W> {
        let mut out = self.out;
        out.flush()?;
        out.into_inner()
    }
}

fn field(column: &Column) -> ParquetResult<Type> {
    let repetition = if column.nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    let plain = |physical, logical| {
        Type::primitive_type_builder(&column.name, physical)
            .with_repetition(repetition)
            .with_logical_type(logical)
            .build()
    };
    match column.kind {
        ColumnType::Integer => plain(Physical::INT64, None),
        ColumnType::Double => plain(Physical::DOUBLE, None),
        ColumnType::Boolean => plain(Physical::BOOLEAN, None),
        ColumnType::Text => plain(Physical::BYTE_ARRAY, Some(LogicalType::String)),
        ColumnType::Histogram => {
            let leaf = |name, physical| {
                let leaf = Type::primitive_type_builder(name, physical).with_repetition(Repetition::REQUIRED).build();
                leaf.map(Arc::new)
            };
            let element = Type::group_type_builder("element")
                .with_repetition(Repetition::REQUIRED)
                .with_fields(vec![leaf("upper_bytes", Physical::INT64)?, leaf("ns", Physical::DOUBLE)?])
                .build()?;
            let list = Type::group_type_builder("list")
                .with_repetition(Repetition::REPEATED)
                .with_fields(vec![Arc::new(element)])
                .build()?;
            Type::group_type_builder(&column.name)
                .with_repetition(repetition)
                .with_logical_type(Some(LogicalType::List))
                .with_fields(vec![Arc::new(list)])
                .build()
        }
    }
}

impl Values {
    fn write<W: Write + Send>(self, group: &mut SerializedRowGroupWriter<'_, W>) -> ParquetResult<()> {
        match self {
            Values::Integers(values) => write::<Int64Type, W>(group, &values, None, None),
            Values::MaybeIntegers(values) => write_maybe::<Int64Type, W>(group, &values),
            Values::Doubles(values) => write::<DoubleType, W>(group, &values, None, None),
            Values::MaybeDoubles(values) => write_maybe::<DoubleType, W>(group, &values),
            Values::Booleans(values) => write::<BoolType, W>(group, &values, None, None),
            Values::MaybeBooleans(values) => write_maybe::<BoolType, W>(group, &values),
            Values::Texts(values) => write::<ByteArrayType, W>(group, &values, None, None),
            Values::Histograms(rows) => write_histograms(group, &rows),
        }
    }
}

fn write<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
    definition: Option<&[i16]>,
    repetition: Option<&[i16]>,
) -> ParquetResult<()> {
    let mut column = group.next_column()?.expect("there are as many columns as values");
    column.typed::<T>().write_batch(values, definition, repetition)?;
    column.close()
}

fn write_maybe<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[Option<T::T>],
) -> ParquetResult<()> {
    let definition: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let values: Vec<T::T> = values.iter().flatten().cloned().collect();
    write::<T, W>(group, &values, Some(&definition), None)
}

/// Levels of a list as Dremel counts them: definition 0 is no list, 1 an empty list, 2 an element; repetition 0 begins
/// a row.
fn write_histograms<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    rows: &[Option<Bins>],
) -> ParquetResult<()> {
    let (mut definition, mut repetition) = (Vec::new(), Vec::new());
    let (mut bounds, mut times) = (Vec::new(), Vec::new());
    for row in rows {
        let bins = row.as_deref().unwrap_or_default();
        if bins.is_empty() {
            definition.push(i16::from(row.is_some()));
            repetition.push(0);
        }
        for (i, &(upper, ns)) in bins.iter().enumerate() {
            definition.push(2);
            repetition.push(i16::from(i > 0));
            bounds.push(integer(upper));
            times.push(ns);
        }
    }
    write::<Int64Type, W>(group, &bounds, Some(&definition), Some(&repetition))?;
    write::<DoubleType, W>(group, &times, Some(&definition), Some(&repetition))
}

/// The signed integer that files store.
///
/// # Panics
/// If it does not fit 63 bits, which no count of a run reaches.
pub(crate) fn integer(value: u64) -> i64 {
    i64::try_from(value).expect("a count fits 63 bits")
}

/// Reads one table.
pub(crate) struct TableReader {
    file: SerializedFileReader<File>,
    path: PathBuf,
}

impl TableReader {
    /// Opens the table `name`.
    pub(crate) fn open(path: &Path, name: &str) -> Result<TableReader, RecordError> {
        let reader = TableReader::open_any(path)?;
        match reader.metadata(TABLE_KEY) {
            Some(table) if table == name => Ok(reader),
            table => {
                let table = table.unwrap_or_default();
                Err(reader.format(format!("it holds the table {table}, not {name}")))
            }
        }
    }

    /// Opens a table of any name.
    pub(crate) fn open_any(path: &Path) -> Result<TableReader, RecordError> {
        let file = open_regular(path).map_err(|source| RecordError::Read { path: path.to_owned(), source })?;
        let file = SerializedFileReader::new(file).map_err(|e| RecordError::read(path, e))?;
        let reader = TableReader { file, path: path.to_owned() };
        if reader.metadata(TABLE_KEY).is_none() {
            return Err(reader.format("it was not written by tailcut"));
        }
        let schema = reader.metadata(SCHEMA_KEY).unwrap_or_default();
        match schema.parse::<u32>() {
            Ok(version) if version <= SCHEMA_VERSION => Ok(reader),
            _ => Err(reader.format(format!(
                "its schema has version `{schema}`, and this tailcut knows versions up to {SCHEMA_VERSION}"
            ))),
        }
    }

    /// A fact from the file's metadata.
    pub(crate) fn metadata(&self, key: &str) -> Option<&str> {
        let facts = self.file.metadata().file_metadata().key_value_metadata()?;
        facts.iter().find(|fact| fact.key == key)?.value.as_deref()
    }

    pub(crate) fn format(&self, message: impl Into<String>) -> RecordError {
        RecordError::format(&self.path, message)
    }

    /// The row groups, in order.
    pub(crate) fn groups(&self) -> impl Iterator<Item = Group<'_>> {
        (0..self.file.num_row_groups()).map(|index| Group { table: self, index })
    }

    /// Number of row groups.
    pub(crate) fn group_count(&self) -> usize {
        self.file.num_row_groups()
    }

    /// Row group number `index`.
    pub(crate) fn group(&self, index: usize) -> Group<'_> {
        Group { table: self, index }
    }
}

/// One row group of a table.
pub(crate) struct Group<'a> {
    table: &'a TableReader,
    index: usize,
}

impl Group<'_> {
    pub(crate) fn rows(&self) -> usize {
        usize::try_from(self.table.file.metadata().row_group(self.index).num_rows()).unwrap_or(0)
    }

    pub(crate) fn format(&self, message: impl Into<String>) -> RecordError {
        self.table.format(message)
    }

    /// Whether the table has this column, which may be younger than the file.
    pub(crate) fn has(&self, name: &str) -> bool {
        let schema = self.table.file.metadata().file_metadata().schema_descr();
        schema.columns().iter().any(|column| column.path().string() == name)
    }

    /// Numbers of a type narrower than 63 bits.
    pub(crate) fn integers<N: TryFrom<i64>>(&self, name: &str) -> Result<Vec<N>, RecordError> {
        let numbers = self.required::<Int64Type>(name)?.into_iter();
        numbers
            .map(|n| N::try_from(n).map_err(|_| self.format(format!("column {name} holds the number {n}"))))
            .collect()
    }

    pub(crate) fn maybe_integers<N: TryFrom<i64>>(&self, name: &str) -> Result<Vec<Option<N>>, RecordError> {
        let narrow = |n| N::try_from(n).map_err(|_| self.format(format!("column {name} holds the number {n}")));
        self.optional::<Int64Type>(name)?.into_iter().map(|n| n.map(narrow).transpose()).collect()
    }

    pub(crate) fn doubles(&self, name: &str) -> Result<Vec<f64>, RecordError> {
        self.required::<DoubleType>(name)
    }

    pub(crate) fn maybe_doubles(&self, name: &str) -> Result<Vec<Option<f64>>, RecordError> {
        self.optional::<DoubleType>(name)
    }

    pub(crate) fn booleans(&self, name: &str) -> Result<Vec<bool>, RecordError> {
        self.required::<BoolType>(name)
    }

    pub(crate) fn texts(&self, name: &str) -> Result<Vec<String>, RecordError> {
        let texts = self.required::<ByteArrayType>(name)?;
        texts.iter().map(|text| self.text(text).map(str::to_owned)).collect()
    }

    /// The column of texts, each as its place in `names`.
    pub(crate) fn text_indices(&self, name: &str, names: &[String]) -> Result<Vec<u8>, RecordError> {
        let place = |text: &ByteArray| {
            let text = self.text(text)?;
            let found = names.iter().position(|known| known == text).and_then(|at| u8::try_from(at).ok());
            found.ok_or_else(|| self.format(format!("column {name} holds the unknown name `{text}`")))
        };
        self.required::<ByteArrayType>(name)?.iter().map(place).collect()
    }

    pub(crate) fn histograms(&self, name: &str) -> Result<Vec<Option<Bins>>, RecordError> {
        let (bounds, definition, repetition) =
            self.read::<Int64Type>(&[name, "list", "element", "upper_bytes"].join("."))?;
        let (times, _, _) = self.read::<DoubleType>(&[name, "list", "element", "ns"].join("."))?;
        let mut bins = bounds.iter().zip(times).map(|(&upper, ns)| (upper.unsigned_abs(), ns));
        let mut rows: Vec<Option<Bins>> = Vec::new();
        for (defined, repeated) in definition.into_iter().zip(repetition) {
            if repeated == 0 {
                rows.push((defined > 0).then(Vec::new));
            }
            if defined == 2
                && let Some(Some(row)) = rows.last_mut()
            {
                row.extend(bins.next());
            }
        }
        Ok(rows)
    }

    fn text<'a>(&self, text: &'a ByteArray) -> Result<&'a str, RecordError> {
        text.as_utf8().map_err(|e| RecordError::read(&self.table.path, e))
    }

    /// The values of a column of this kind.
    pub(crate) fn values(&self, name: &str, kind: ColumnType, nullable: bool) -> Result<Values, RecordError> {
        Ok(match (kind, nullable) {
            (ColumnType::Integer, false) => Values::Integers(self.required::<Int64Type>(name)?),
            (ColumnType::Integer, true) => Values::MaybeIntegers(self.optional::<Int64Type>(name)?),
            (ColumnType::Double, false) => Values::Doubles(self.required::<DoubleType>(name)?),
            (ColumnType::Double, true) => Values::MaybeDoubles(self.optional::<DoubleType>(name)?),
            (ColumnType::Boolean, false) => Values::Booleans(self.required::<BoolType>(name)?),
            (ColumnType::Boolean, true) => Values::MaybeBooleans(self.optional::<BoolType>(name)?),
            (ColumnType::Text, _) => Values::Texts(self.required::<ByteArrayType>(name)?),
            (ColumnType::Histogram, _) => Values::Histograms(self.histograms(name)?),
        })
    }

    fn required<T: DataType>(&self, name: &str) -> Result<Vec<T::T>, RecordError> {
        let (values, _, _) = self.read::<T>(name)?;
        if values.len() == self.rows() {
            Ok(values)
        } else {
            Err(self.format(format!("column {name} has {} values in {} rows", values.len(), self.rows())))
        }
    }

    fn optional<T: DataType>(&self, name: &str) -> Result<Vec<Option<T::T>>, RecordError> {
        let (values, definition, _) = self.read::<T>(name)?;
        let mut values = values.into_iter();
        Ok(definition.into_iter().map(|defined| if defined > 0 { values.next() } else { None }).collect())
    }

    /// Values that are not null, definition levels and repetition levels of a column.
    #[allow(clippy::type_complexity)]
    fn read<T: DataType>(&self, name: &str) -> Result<(Vec<T::T>, Vec<i16>, Vec<i16>), RecordError> {
        let file = &self.table.file;
        let columns = file.metadata().file_metadata().schema_descr().columns();
        let at = columns.iter().position(|column| column.path().string() == name);
        let at = at.ok_or_else(|| self.format(format!("it has no column {name}")))?;
        if columns[at].physical_type() != T::get_physical_type() {
            return Err(self.format(format!("column {name} has the type {}", columns[at].physical_type())));
        }
        let (mut values, mut definition, mut repetition) = (Vec::new(), Vec::new(), Vec::new());
        let mut read = || {
            let mut column = get_typed_column_reader::<T>(file.get_row_group(self.index)?.get_column_reader(at)?);
            column.read_records(self.rows(), Some(&mut definition), Some(&mut repetition), &mut values)
        };
        read().map_err(|e| RecordError::read(&self.table.path, e))?;
        Ok((values, definition, repetition))
    }
}
