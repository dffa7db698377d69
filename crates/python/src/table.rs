//! Tables for Python: Arrow columns that data frames take over without a copy, through the Arrow C stream interface
//! (Arrow specification, "The Arrow PyCapsule Interface").

use std::ffi::CStr;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, Int64Builder, ListBuilder, StructBuilder};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator,
    RecordBatchReader, StringArray, new_null_array,
};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Field, Fields, Metadata, Schema, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use tailcut_record::schema::ColumnType;
use tailcut_record::{StoredColumn, StoredTable, Values};
use tailcut_results::{Axis, Row};

use crate::problem::{error, error_of};

/// A table that was read: its columns stay where they are, and every reader sees the same memory.
#[pyclass(frozen, module = "tailcut._native")]
pub(crate) struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

#[pymethods]
impl Table {
    /// The table as an Arrow C stream in a capsule, for any data frame that knows the PyCapsule interface.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A producer may ignore the schema that a consumer would like better.
        let _ = requested_schema;
        let batches: Vec<Result<RecordBatch, ArrowError>> = self.batches.iter().cloned().map(Ok).collect();
        let reader: Box<dyn RecordBatchReader + Send> =
            Box::new(RecordBatchIterator::new(batches, Arc::clone(&self.schema)));
        capsule(py, FFI_ArrowArrayStream::new(reader), c"arrow_array_stream")
    }

    /// The schema of the table in a capsule.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema.as_ref()).map_err(|wrong| error_of(py, &wrong))?;
        capsule(py, schema, c"arrow_schema")
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// How many rows there are, and the columns with their units.
    fn __repr__(&self) -> String {
        let column = |field: &Arc<Field>| match field.metadata().get(UNIT).filter(|unit| !unit.is_empty()) {
            Some(unit) => format!("{} ({unit})", field.name()),
            None => field.name().clone(),
        };
        let columns: Vec<String> = self.schema.fields().iter().map(column).collect();
        format!("<Table of {} rows: {}>", self.__len__(), columns.join(", "))
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The unit of each column that has one.
    #[getter]
    fn units(&self) -> Vec<(String, String)> {
        self.metadata(UNIT)
    }

    /// What each column means.
    #[getter]
    fn meanings(&self) -> Vec<(String, String)> {
        self.metadata(MEANING)
    }
}

const UNIT: &str = "unit";
const MEANING: &str = "meaning";

impl Table {
    fn metadata(&self, key: &str) -> Vec<(String, String)> {
        let of = |field: &Arc<Field>| Some((field.name().clone(), field.metadata().get(key)?.clone()));
        self.schema.fields().iter().filter_map(of).collect()
    }
}

/// A structure of the C interface in a capsule of this name. The structure releases what it holds when it is dropped,
/// unless its consumer has taken it over.
fn capsule<'py, T: Send + 'static>(py: Python<'py>, held: T, name: &'static CStr) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, held, name)
}

/// The swept parameters: columns of numbers where all values are numbers, and of texts elsewhere.
pub(crate) struct Axes<'a>(Vec<(&'a str, bool)>);

impl<'a> Axes<'a> {
    pub(crate) fn of(axes: &'a [Axis]) -> Axes<'a> {
        let numeric = |axis: &Axis| axis.values.iter().all(|value| value.parse::<f64>().is_ok());
        Axes(axes.iter().map(|axis| (axis.path.as_str(), numeric(axis))).collect())
    }

    fn fields(&self) -> impl Iterator<Item = Field> {
        self.0.iter().map(|&(path, numeric)| if numeric { number(path, false) } else { label(path) })
    }

    /// The columns of these values, row by row.
    fn columns<'v>(&self, rows: impl Iterator<Item = &'v [String]> + Clone) -> Vec<ArrayRef> {
        let column = |(at, &(_, numeric)): (usize, &(&str, bool))| -> ArrayRef {
            let texts = rows.clone().map(|values| values[at].as_str());
            if numeric {
                Arc::new(Float64Array::from_iter_values(texts.map(|text| text.parse().unwrap_or(f64::NAN))))
            } else {
                Arc::new(texts.collect::<DictionaryArray<Int32Type>>())
            }
        };
        self.0.iter().enumerate().map(column).collect()
    }
}

fn number(name: &str, nullable: bool) -> Field {
    Field::new(name, DataType::Float64, nullable)
}

/// A column of few different texts.
fn label(name: &str) -> Field {
    Field::new(name, label_type(), false)
}

fn label_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// The statistics of a run.
pub(crate) fn of_rows(axes: &Axes<'_>, rows: &[Row]) -> Result<Table, ArrowError> {
    let labels =
        |of: fn(&Row) -> &str| -> ArrayRef { Arc::new(rows.iter().map(of).collect::<DictionaryArray<Int32Type>>()) };
    let numbers = |of: fn(&Row) -> Option<f64>| -> ArrayRef { Arc::new(rows.iter().map(of).collect::<Float64Array>()) };
    let mut fields = vec![label("scheme")];
    fields.extend(axes.fields());
    fields.extend([label("class"), label("metric"), number("value", true), number("low", true), number("high", true)]);
    fields.extend([Field::new("n", DataType::Int64, false), label("unit"), Field::new("note", DataType::Utf8, true)]);
    let mut columns = vec![labels(|row| &row.scheme)];
    columns.extend(axes.columns(rows.iter().map(|row| row.values.as_slice())));
    columns.extend([labels(|row| &row.class), labels(|row| &row.metric)]);
    columns.extend([numbers(|row| row.value), numbers(|row| row.low), numbers(|row| row.high)]);
    columns.push(Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.n.cast_signed()))));
    columns.push(labels(|row| row.unit));
    columns.push(Arc::new(rows.iter().map(|row| row.note.as_deref()).collect::<StringArray>()));
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns)?;
    Ok(Table { schema, batches: vec![batch] })
}

/// A file of a point, and what stands in front of its rows.
struct Part {
    path: PathBuf,
    scheme: String,
    values: Vec<String>,
    seed: i64,
}

/// Reads a table of several points: `scheme`, the swept parameters and `seed` stand in front of the columns of the
/// files. A column that only some files have is null in the others.
#[pyfunction]
pub(crate) fn read(
    py: Python<'_>,
    axes: Vec<(String, Vec<String>)>,
    parts: Vec<(PathBuf, String, Vec<String>, i64)>,
) -> PyResult<Table> {
    let parts: Vec<Part> =
        parts.into_iter().map(|(path, scheme, values, seed)| Part { path, scheme, values, seed }).collect();
    let axes: Vec<Axis> = axes.into_iter().map(|(path, values)| Axis { path, values }).collect();
    let read = py.detach(|| read_parts(&Axes::of(&axes), &parts));
    read.map_err(|wrong| error(py, &wrong, None))
}

fn read_parts(axes: &Axes<'_>, parts: &[Part]) -> Result<Table, String> {
    let open = |part: &Part| StoredTable::open(&part.path).map_err(|wrong| wrong.to_string());
    let tables = parts.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let mut columns: Vec<StoredColumn> = Vec::new();
    for table in &tables {
        for column in table.columns() {
            match columns.iter_mut().find(|known| known.name == column.name) {
                Some(known) if known.kind != column.kind => {
                    return Err(format!("the column {} has different types in two points", column.name));
                }
                Some(known) => known.nullable |= column.nullable,
                None => columns.push(column.clone()),
            }
        }
    }
    for column in &mut columns {
        column.nullable |= tables.iter().any(|table| table.columns().iter().all(|known| known.name != column.name));
    }
    let mut fields = vec![label("scheme")];
    fields.extend(axes.fields());
    fields.push(Field::new("seed", DataType::Int64, false));
    fields.extend(columns.iter().map(field));
    let schema = Arc::new(Schema::new(fields));
    let mut batches = Vec::new();
    for (part, table) in parts.iter().zip(&tables) {
        for index in 0..table.groups() {
            let mut values: Vec<Option<Values>> =
                table.group(index).map_err(|wrong| wrong.to_string())?.into_iter().map(Some).collect();
            let rows = values.iter().flatten().map(rows_of).next().unwrap_or(0);
            let again = |count: usize| std::iter::repeat_n(part.values.as_slice(), count);
            let scheme = std::iter::repeat_n(part.scheme.as_str(), rows);
            let mut arrays: Vec<ArrayRef> = vec![Arc::new(scheme.collect::<DictionaryArray<Int32Type>>())];
            arrays.extend(axes.columns(again(rows)));
            arrays.push(Arc::new(Int64Array::from_value(part.seed, rows)));
            for column in &columns {
                let at = table.columns().iter().position(|known| known.name == column.name);
                arrays.push(match at.and_then(|at| values[at].take()) {
                    Some(values) => array(values)?,
                    None => new_null_array(&data_type(column.kind), rows),
                });
            }
            let batch = RecordBatch::try_new(Arc::clone(&schema), arrays);
            batches.push(batch.map_err(|wrong| format!("{}: {wrong}", part.path.display()))?);
        }
    }
    Ok(Table { schema, batches })
}

/// A column of a file, with its unit and its meaning.
fn field(column: &StoredColumn) -> Field {
    let unit = (!column.unit.is_empty()).then(|| (UNIT.to_owned(), column.unit.clone()));
    let facts = unit.into_iter().chain([(MEANING.to_owned(), column.meaning.clone())]);
    Field::new(&column.name, data_type(column.kind), column.nullable).with_metadata(facts.collect::<Metadata>())
}

fn data_type(kind: ColumnType) -> DataType {
    match kind {
        ColumnType::Integer => DataType::Int64,
        ColumnType::Double => DataType::Float64,
        ColumnType::Boolean => DataType::Boolean,
        ColumnType::Text => label_type(),
        ColumnType::Histogram => DataType::List(Arc::new(bin_field())),
    }
}

fn bins() -> Fields {
    Fields::from(vec![Field::new("upper_bytes", DataType::Int64, false), Field::new("ns", DataType::Float64, false)])
}

fn bin_field() -> Field {
    Field::new("element", DataType::Struct(bins()), false)
}

fn rows_of(values: &Values) -> usize {
    match values {
        Values::Integers(values) => values.len(),
        Values::MaybeIntegers(values) => values.len(),
        Values::Doubles(values) => values.len(),
        Values::MaybeDoubles(values) => values.len(),
        Values::Booleans(values) => values.len(),
        Values::MaybeBooleans(values) => values.len(),
        Values::Texts(values) => values.len(),
        Values::Histograms(values) => values.len(),
    }
}

/// A column; what is not null moves into it without a copy.
fn array(values: Values) -> Result<ArrayRef, String> {
    Ok(match values {
        Values::Integers(values) => Arc::new(Int64Array::from(values)),
        Values::MaybeIntegers(values) => Arc::new(Int64Array::from(values)),
        Values::Doubles(values) => Arc::new(Float64Array::from(values)),
        Values::MaybeDoubles(values) => Arc::new(Float64Array::from(values)),
        Values::Booleans(values) => Arc::new(BooleanArray::from(values)),
        Values::MaybeBooleans(values) => Arc::new(BooleanArray::from(values)),
        Values::Texts(values) => {
            let texts = values.iter().map(|text| text.as_utf8().map_err(|wrong| wrong.to_string()));
            Arc::new(texts.collect::<Result<Vec<_>, _>>()?.into_iter().collect::<DictionaryArray<Int32Type>>())
        }
        Values::Histograms(rows) => {
            let builders = StructBuilder::new(
                bins(),
                vec![Box::new(Int64Builder::new()) as _, Box::new(Float64Builder::new()) as _],
            );
            let mut lists = ListBuilder::new(builders).with_field(bin_field());
            for row in rows {
                for (upper, ns) in row.iter().flatten() {
                    let bin = lists.values();
                    let (bound, time) = (i64::try_from(*upper).map_err(|wrong| wrong.to_string())?, *ns);
                    bin.field_builder::<Int64Builder>(0).expect("it was made so").append_value(bound);
                    bin.field_builder::<Float64Builder>(1).expect("it was made so").append_value(time);
                    bin.append(true);
                }
                lists.append(row.is_some());
            }
            Arc::new(lists.finish())
        }
    })
}
