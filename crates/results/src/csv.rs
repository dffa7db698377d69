//! Tables as CSV, by RFC 4180 with line feeds; and `summary.csv`, which has every statistic of a run.

use ::csv::{Terminator, Writer, WriterBuilder};

use crate::number::{in_base_units, significant};
use crate::run::{Axis, RunInfo};
use crate::statistics::Row;

/// A table that is written line by line.
pub struct CsvTable(Writer<Vec<u8>>);

impl CsvTable {
    /// A table with these columns.
    pub fn new<S: AsRef<str>>(head: impl IntoIterator<Item = S>) -> CsvTable {
        let mut table = CsvTable(WriterBuilder::new().terminator(Terminator::Any(b'\n')).from_writer(Vec::new()));
        table.line(head);
        table
    }

    /// Adds a line, which has a field for each column.
    ///
    /// # Panics
    /// If it has not as many.
    pub fn line<S: AsRef<str>>(&mut self, fields: impl IntoIterator<Item = S>) {
        let fields = fields.into_iter().map(|field| field.as_ref().as_bytes().to_vec());
        self.0.write_record(fields).expect("every line has a field for each column, and memory takes it");
    }

    /// The text of the table.
    pub fn finish(self) -> String {
        let bytes = self.0.into_inner().expect("memory takes every line");
        String::from_utf8(bytes).expect("fields are text")
    }
}

/// A number with twelve significant digits; empty if there is none.
pub fn number(value: Option<f64>) -> String {
    value.map(|value| significant(value, 12)).unwrap_or_default()
}

/// Columns that hold the values of those swept parameters as numbers which the scenario writes with a unit: `60KB`
/// would sort as text.
pub struct AxisNumbers<'a> {
    /// For each of these parameters its place among the axes, the axis, the numbers of its values, and their unit.
    columns: Vec<(usize, &'a Axis, Vec<f64>, &'static str)>,
}

impl<'a> AxisNumbers<'a> {
    /// The columns for these axes.
    pub fn of(axes: &'a [Axis]) -> AxisNumbers<'a> {
        let column = |(at, axis): (usize, &'a Axis)| {
            let (numbers, unit) = in_base_units(&axis.values)?;
            Some((at, axis, numbers, unit))
        };
        AxisNumbers { columns: axes.iter().enumerate().filter_map(column).collect() }
    }

    /// Their names: the path of the parameter with the unit, `port.limit_bytes`.
    pub fn heads(&self) -> impl Iterator<Item = String> {
        self.columns.iter().map(|(_, axis, _, unit)| format!("{}_{unit}", axis.path))
    }

    /// The numbers of the values of a line, which are in the order of the axes.
    pub fn cells(&self, values: &[String]) -> impl Iterator<Item = String> {
        self.columns.iter().map(|(at, axis, numbers, _)| {
            let value = axis.values.iter().position(|known| *known == values[*at]);
            number(value.map(|value| numbers[value]))
        })
    }
}

/// All statistics of a run: the scheme, one column for each swept parameter by its path, another one with the number if
/// it has a unit, then what was measured, and what the value needs to be read with.
pub fn summary(run: &RunInfo, rows: &[Row]) -> String {
    let numbers = AxisNumbers::of(&run.axes);
    let axes = run.axes.iter().map(|axis| axis.path.clone()).chain(numbers.heads());
    let measured = ["class", "metric", "value", "low", "high", "n", "unit", "note"].map(str::to_owned);
    let mut table = CsvTable::new(["scheme".to_owned()].into_iter().chain(axes).chain(measured));
    for row in rows {
        let mut fields = vec![row.scheme.clone()];
        fields.extend(row.values.iter().cloned().chain(numbers.cells(&row.values)));
        fields.extend([row.class.clone(), row.metric.clone()]);
        fields.extend([row.value, row.low, row.high].map(number));
        fields.extend([row.n.to_string(), row.unit.to_owned(), row.note.clone().unwrap_or_default()]);
        table.line(fields);
    }
    table.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        let mut table = CsvTable::new(["a", "b,c", "d\"e", "f\ng", ""]);
        table.line(["1", "", "", "", ""]);
        assert_eq!(table.finish(), "a,\"b,c\",\"d\"\"e\",\"f\ng\",\n1,,,,\n");
        assert_eq!(number(Some(12.345_678_901_234)), "12.3456789012");
        assert_eq!(number(None), "");
    }

    #[test]
    fn swept_quantities_have_a_column_of_numbers() {
        let axis = |path: &str, values: &[&str]| Axis {
            path: path.to_owned(),
            values: values.iter().map(|&value| value.to_owned()).collect(),
        };
        let axes = [
            axis("workload.load", &["0.4", "0.8"]),
            axis("port.limit", &["60KB", "1.5MB"]),
            axis("path", &["ecmp", "spray"]),
            axis("host.transport.rto", &["10us", "1ms"]),
        ];
        let numbers = AxisNumbers::of(&axes);
        assert_eq!(numbers.heads().collect::<Vec<_>>(), ["port.limit_bytes", "host.transport.rto_ns"]);
        let values = ["0.4", "1.5MB", "ecmp", "10us"].map(str::to_owned);
        assert_eq!(numbers.cells(&values).collect::<Vec<_>>(), ["1500000", "10000"]);
    }
}
