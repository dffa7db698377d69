//! Tables as CSV, by RFC 4180 with line feeds; and `summary.csv`, which has every statistic of a run.

use crate::number::significant;
use crate::run::RunInfo;
use crate::statistics::Row;

/// One field, quoted if it must be.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) || text.starts_with(' ') || text.ends_with(' ') {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// One line of fields.
pub fn line<S: AsRef<str>>(fields: impl IntoIterator<Item = S>) -> String {
    let fields: Vec<String> = fields.into_iter().map(|text| field(text.as_ref())).collect();
    fields.join(",") + "\n"
}

/// A number with twelve significant digits; empty if there is none.
pub fn number(value: Option<f64>) -> String {
    value.map(|value| significant(value, 12)).unwrap_or_default()
}

/// All statistics of a run: the scheme, one column for each swept parameter by its path, then what was measured.
pub fn summary(run: &RunInfo, rows: &[Row]) -> String {
    let axes = run.axes.iter().map(|axis| axis.path.as_str());
    let head = ["scheme"].into_iter().chain(axes).chain(["class", "metric", "value", "low", "high", "n", "unit"]);
    let mut text = line(head);
    for row in rows {
        let numbers = [number(row.value), number(row.low), number(row.high), row.n.to_string()];
        let mut fields = vec![row.scheme.as_str()];
        fields.extend(row.values.iter().map(String::as_str));
        fields.extend([row.class.as_str(), row.metric.as_str()]);
        fields.extend(numbers.iter().map(String::as_str));
        fields.push(row.unit);
        text += &line(fields);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        assert_eq!(line(["a", "b,c", "d\"e", "f\ng", ""]), "a,\"b,c\",\"d\"\"e\",\"f\ng\",\n");
        assert_eq!(number(Some(12.345_678_901_234)), "12.3456789012");
        assert_eq!(number(None), "");
    }
}
