//! A scenario's text as a tree that remembers where each value came from.
//!
//! Presets, the scenario, a sweep and `--set` are layers of one tree, merged before anything is typed, so that a
//! mistake in any of them is shown where its author wrote it.

use std::ops::Range;
use std::sync::{Arc, LazyLock};

use tailcut_model::schema::{Schema, Shape};
use toml::de::{DeTable, DeValue};

use super::problem::{Origin, Problem, Source};

/// The type of a scenario's configuration, which says where a table names one model of a seat: a layer that names
/// another model replaces it, parameters and all.
static CONFIGURATION: LazyLock<Schema> = LazyLock::new(Schema::of::<super::Config>);

/// Where configurations stand in the text of a scenario: it is one, and so is what it says of single schemes and
/// settings.
const SCENARIO: [&str; 4] = ["", "scheme.*", "settings.*.*", "settings.*.*.scheme.*"];

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// The value.
    pub value: Value,
    /// Where the value stands; `None` for what nobody wrote.
    pub origin: Option<Origin>,
    /// Where its key stands.
    pub key: Option<Origin>,
}

/// A TOML value. Dates have no use here and are refused.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Text.
    String(String),
    /// Whole number.
    Integer(i64),
    /// Number.
    Float(f64),
    /// Truth.
    Boolean(bool),
    /// List.
    Array(Vec<Tree>),
    /// Keys and values in the order of the text.
    Table(Vec<(String, Tree)>),
}

impl Tree {
    /// An empty table that nobody wrote.
    pub fn table() -> Tree {
        Tree { value: Value::Table(Vec::new()), origin: None, key: None }
    }

    /// Reads a whole TOML document.
    ///
    /// # Errors
    /// If the text is not TOML.
    pub fn parse(name: &str, text: &str) -> Result<Tree, Problem> {
        let source = Arc::new(Source { name: name.to_owned(), text: text.to_owned() });
        let table = DeTable::parse(text).map_err(|error| {
            let problem = Problem::new(format!("this is not TOML: {}", error.message()));
            match error.span() {
                Some(range) => problem.or_at(&Origin { source: Arc::clone(&source), range }),
                None => problem,
            }
        })?;
        convert_table(table.into_inner(), 0..0, &source)
    }

    /// Reads `path=value`, as after `--set`; a value that is not TOML is taken as text. The value is put under its path
    /// into an otherwise empty tree.
    ///
    /// # Errors
    /// If there is no `=` or the path is empty.
    pub fn parse_assignment(assignment: &str) -> Result<Tree, Problem> {
        let Some((path, text)) = assignment.split_once('=') else {
            return Err(Problem::new(format!("`--set {assignment}` has no `=`"))
                .help("expected `--set path=value`, such as `--set workload.load=0.5`"));
        };
        let spaces = path.len() - path.trim_start().len();
        let path = path.trim();
        let quoted = format!("value = {}", text.trim());
        let value = match DeTable::parse(&quoted) {
            Ok(table) => table.into_inner().into_iter().next().map(|(_, value)| value.into_inner()),
            Err(_) => None,
        };
        let source = Arc::new(Source { name: "--set".to_owned(), text: assignment.to_owned() });
        let range = assignment.len() - text.len()..assignment.len();
        let origin = Origin { source: Arc::clone(&source), range: range.clone() };
        let value = match value {
            Some(value) => relocated(convert(value, range, &source)?, &origin),
            None => Tree { value: Value::String(text.trim().to_owned()), origin: Some(origin), key: None },
        };
        let key = Origin { source, range: spaces..spaces + path.len() };
        Tree::at_path(path, value, &key)
    }

    /// A tree that holds nothing but `value` at the dotted `path`; `key` is where the path stands.
    ///
    /// # Errors
    /// If a part of the path is empty.
    pub fn at_path(path: &str, value: Tree, key: &Origin) -> Result<Tree, Problem> {
        let mut tree = value;
        for part in path.rsplit('.') {
            if part.is_empty() {
                return Err(Problem::new(format!("`{path}` is not a path of keys"))
                    .help("expected keys with dots between them, such as `workload.load`")
                    .or_at(key));
            }
            tree.key = Some(key.clone());
            tree = Tree { value: Value::Table(vec![(part.to_owned(), tree)]), origin: Some(key.clone()), key: None };
        }
        Ok(tree)
    }

    /// The value of a key, if this is a table that has it.
    pub fn get(&self, key: &str) -> Option<&Tree> {
        match &self.value {
            Value::Table(entries) => entries.iter().find(|(k, _)| k == key).map(|(_, tree)| tree),
            _ => None,
        }
    }

    /// The value of a key, to be changed, if this is a table that has it.
    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Tree> {
        match &mut self.value {
            Value::Table(entries) => entries.iter_mut().find(|(k, _)| k == key).map(|(_, tree)| tree),
            _ => None,
        }
    }

    /// The entries, if this is a table.
    pub fn entries(&self) -> &[(String, Tree)] {
        match &self.value {
            Value::Table(entries) => entries,
            _ => &[],
        }
    }

    /// The text, if this is one.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// Takes out the value of a key.
    pub fn take(&mut self, key: &str) -> Option<Tree> {
        let Value::Table(entries) = &mut self.value else { return None };
        let at = entries.iter().position(|(k, _)| k == key)?;
        Some(entries.remove(at).1)
    }

    /// The tree at a dotted path, or the deepest one on the way that exists.
    pub fn nearest(&self, path: &str) -> &Tree {
        let mut tree = self;
        for part in path.split('.') {
            let next = match &tree.value {
                Value::Array(items) => part.parse().ok().and_then(|index: usize| items.get(index)),
                _ => tree.get(part),
            };
            match next {
                Some(next) => tree = next,
                None => break,
            }
        }
        tree
    }

    /// Where to point: the value if it is a single one, the key if it is a table.
    pub fn key_or_value(&self) -> Option<&Origin> {
        match self.value {
            Value::Table(_) => self.key.as_ref().or(self.origin.as_ref()),
            _ => self.origin.as_ref(),
        }
    }

    /// Lays the scenario `over` on top of this one: tables are merged, any other value is replaced, and so is a model
    /// of a seat by another one.
    pub fn merge(&mut self, over: Tree) {
        self.merge_at(over, &[""]);
    }

    /// The same for a document that holds scenarios at `places`, dotted paths with `*` for any key: `variant.*`.
    /// Outside of them tables are merged and any other value is replaced.
    pub fn merge_at(&mut self, over: Tree, places: &[&str]) {
        self.merge_below(over, &mut Vec::new(), None, places);
    }

    fn merge_below(&mut self, mut over: Tree, path: &mut Vec<String>, shape: Option<Shape<'_>>, places: &[&str]) {
        let is_configuration = places.iter().any(|place| SCENARIO.iter().any(|below| is_at(path, place, below)));
        let shape = if is_configuration { Some(CONFIGURATION.root()) } else { shape };
        let is_choice = shape.is_some_and(Shape::is_choice);
        if is_choice {
            self.spell_out();
            over.spell_out();
        }
        let (Value::Table(entries), Value::Table(_)) = (&mut self.value, &over.value) else {
            *self = over;
            return;
        };
        if is_choice && entries.first().map(|(model, _)| model) != over.entries().first().map(|(model, _)| model) {
            *self = over;
            return;
        }
        // What the upper layer wrote is what a message should point to.
        self.origin = over.origin.or(self.origin.take());
        self.key = over.key.or(self.key.take());
        let Value::Table(over) = over.value else { unreachable!("matched above") };
        for (key, tree) in over {
            match entries.iter_mut().find(|(known, _)| *known == key) {
                Some((_, below)) => {
                    let shape = shape.and_then(|shape| shape.key(&key));
                    path.push(key);
                    below.merge_below(tree, path, shape, places);
                    path.pop();
                }
                None => entries.push((key, tree)),
            }
        }
    }

    /// `marker = "off"` is short for `marker.off = {}`.
    fn spell_out(&mut self) {
        if let Value::String(model) = &self.value {
            let parameters =
                Tree { value: Value::Table(Vec::new()), origin: self.origin.clone(), key: self.origin.clone() };
            self.value = Value::Table(vec![(model.clone(), parameters)]);
        }
    }

    /// The tree as TOML text, without its origins.
    pub fn to_toml(&self) -> String {
        toml::to_string_pretty(&self.to_value()).expect("a tree of TOML values is TOML")
    }

    /// One value as it would stand on the right of `=`, text without its quotes.
    pub fn to_text(&self) -> String {
        match &self.value {
            Value::String(text) => text.clone(),
            _ => self.to_value().to_string(),
        }
    }

    fn to_value(&self) -> toml::Value {
        match &self.value {
            Value::String(text) => toml::Value::String(text.clone()),
            Value::Integer(number) => toml::Value::Integer(*number),
            Value::Float(number) => toml::Value::Float(*number),
            Value::Boolean(truth) => toml::Value::Boolean(*truth),
            Value::Array(items) => toml::Value::Array(items.iter().map(Tree::to_value).collect()),
            Value::Table(entries) => {
                toml::Value::Table(entries.iter().map(|(k, tree)| (k.clone(), tree.to_value())).collect())
            }
        }
    }
}

/// Whether the keys of `path` lead to `below` under `place`, in which `*` is any key.
fn is_at(path: &[String], place: &str, below: &str) -> bool {
    let place = place.split('.').chain(below.split('.')).filter(|part| !part.is_empty());
    path.len() == place.clone().count() && path.iter().zip(place).all(|(key, part)| part == "*" || key == part)
}

/// Every value of `tree` stands at `origin`.
fn relocated(mut tree: Tree, origin: &Origin) -> Tree {
    tree.origin = Some(origin.clone());
    match &mut tree.value {
        Value::Array(items) => {
            for item in items {
                *item = relocated(std::mem::replace(item, Tree::table()), origin);
            }
        }
        Value::Table(entries) => {
            for (_, entry) in entries {
                *entry = relocated(std::mem::replace(entry, Tree::table()), origin);
                entry.key = Some(origin.clone());
            }
        }
        _ => {}
    }
    tree
}

fn convert_table(table: DeTable<'_>, range: Range<usize>, source: &Arc<Source>) -> Result<Tree, Problem> {
    let mut entries = Vec::new();
    for (key, value) in table {
        let key_range = key.span();
        let range = value.span();
        let mut tree = convert(value.into_inner(), range, source)?;
        tree.key = Some(Origin { source: Arc::clone(source), range: key_range });
        entries.push((key.into_inner().into_owned(), tree));
    }
    Ok(Tree { value: Value::Table(entries), origin: Some(Origin { source: Arc::clone(source), range }), key: None })
}

fn convert(value: DeValue<'_>, range: Range<usize>, source: &Arc<Source>) -> Result<Tree, Problem> {
    let origin = Origin { source: Arc::clone(source), range: range.clone() };
    let wrong = |what: &str| Problem::new(what).or_at(&origin);
    let value = match value {
        DeValue::String(text) => Value::String(text.into_owned()),
        DeValue::Integer(number) => {
            let parsed = i64::from_str_radix(number.as_str(), number.radix());
            Value::Integer(parsed.map_err(|_| wrong("this whole number is too large"))?)
        }
        DeValue::Float(number) => Value::Float(number.as_str().parse().map_err(|_| wrong("this is not a number"))?),
        DeValue::Boolean(truth) => Value::Boolean(truth),
        DeValue::Datetime(_) => return Err(wrong("a date has no meaning here").help("expected text or a number")),
        DeValue::Array(items) => {
            let mut trees = Vec::new();
            for item in items {
                let range = item.span();
                trees.push(convert(item.into_inner(), range, source)?);
            }
            Value::Array(trees)
        }
        DeValue::Table(table) => return convert_table(table, range, source),
    };
    Ok(Tree { value, origin: Some(origin), key: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Tree {
        Tree::parse("test.toml", text).unwrap()
    }

    #[test]
    fn the_upper_layer_wins_and_keeps_its_place() {
        let mut base = parse("[port]\nlimit = \"1MB\"\nclasses = 2\n");
        base.merge(parse("[port]\n\nlimit = \"2MB\"\n"));
        assert_eq!(base.to_toml(), "[port]\nlimit = \"2MB\"\nclasses = 2\n");
        assert_eq!(base.nearest("port.limit").origin.as_ref().unwrap().line(), 3);
        assert_eq!(base.nearest("port.classes").origin.as_ref().unwrap().line(), 3);
    }

    #[test]
    fn another_model_replaces_a_seat_and_the_same_one_is_refined() {
        let mut base = parse("port.marker.step = { threshold = \"25%\", scope = \"port\" }");
        base.merge(parse("port.marker.step.threshold = \"10%\""));
        assert_eq!(base.nearest("port.marker.step").entries().len(), 2);
        base.merge(parse("port.marker = \"off\""));
        assert_eq!(base.to_toml(), "[port.marker.off]\n");
        base.merge(parse("port.marker.step.threshold = \"10%\""));
        assert_eq!(base.nearest("port.marker").entries().len(), 1);
    }

    #[test]
    fn what_is_called_as_a_seat_is_none_elsewhere() {
        let mut base = parse(
            "[workload.traffic.order]\nshare = 0.5\nfile.path = \"a.csv\"\n[settings.buffer.deep]\nport.limit = \"1MB\"\n",
        );
        base.merge_at(
            parse("workload.traffic.order = { rate = 2.0, file.path = \"b.csv\" }\nsettings.buffer.flat.port.limit = \"9KB\"\n"),
            &[""],
        );
        let order = base.nearest("workload.traffic.order");
        assert_eq!(order.entries().len(), 3, "{}", base.to_toml());
        assert_eq!(order.nearest("file.path").as_str(), Some("b.csv"));
        assert_eq!(base.nearest("settings.buffer").entries().len(), 2);
    }

    #[test]
    fn a_configuration_inside_of_a_document_is_merged_by_its_type_too() {
        let mut base =
            parse("scheme.mine.port.marker.step.threshold = \"25%\"\nother.port.marker.step.threshold = \"25%\"");
        base.merge_at(parse("scheme.mine.port.marker = \"off\"\nother.port.marker.off = {}"), &[""]);
        assert_eq!(base.nearest("scheme.mine.port.marker").entries().len(), 1);
        assert_eq!(base.nearest("other.port.marker").entries().len(), 2, "nothing is known of what stands there");
    }

    #[test]
    fn sizes_and_end_points_are_choices_as_seats_are() {
        let mut base = parse("[workload.traffic.a]\nsizes.fixed = \"1MB\"\nendpoints = \"uniform\"\n");
        base.merge(parse("[workload.traffic.a]\nsizes.uniform = { min = \"1KB\", max = \"2KB\" }\nendpoints.roles.senders.first = 0\n"));
        assert_eq!(base.nearest("workload.traffic.a.sizes").entries().len(), 1);
        assert_eq!(base.nearest("workload.traffic.a.endpoints").entries().len(), 1);
    }

    #[test]
    fn an_assignment_is_toml_or_text() {
        let set = |text| Tree::parse_assignment(text).unwrap();
        assert_eq!(set("workload.load=0.5").nearest("workload.load").value, Value::Float(0.5));
        assert_eq!(set("host.transport.tcp.min_rto=1ms").nearest("host.transport.tcp.min_rto").as_str(), Some("1ms"));
        assert_eq!(set("seeds=[1, 2]").nearest("seeds").to_text(), "[1, 2]");
        assert!(Tree::parse_assignment("load").unwrap_err().to_string().contains("no `=`"));
        assert!(Tree::parse_assignment("a..b=1").unwrap_err().to_string().contains("not a path"));
    }

    #[test]
    fn a_path_leads_into_lists() {
        let tree = parse("list = [{ size = 1 },\n{ size = 2 }]");
        assert_eq!(tree.nearest("list.1.size").value, Value::Integer(2));
        assert_eq!(tree.nearest("list.1.sise").origin.as_ref().unwrap().line(), 2);
    }

    #[test]
    fn broken_text_is_shown_where_it_breaks() {
        let problem = Tree::parse("test.toml", "a = 1\nb = = 2\n").unwrap_err();
        assert_eq!(problem.origin().unwrap().line(), 2);
        assert!(problem.render(false).contains("test.toml:2"), "{}", problem.render(false));
    }
}
