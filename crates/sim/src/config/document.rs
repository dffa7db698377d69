//! A scenario's text as a tree that remembers where each value came from.
//!
//! Presets, the scenario, a sweep and `--set` are layers of one tree, merged before anything is typed, so that a
//! mistake in any of them is shown where its author wrote it.

use std::ops::Range;
use std::sync::{Arc, LazyLock};

use tailcut_base::dotted;
use tailcut_model::schema::Schema;
use toml::de::{DeTable, DeValue};

use super::problem::{Origin, Problem, Source};

/// The type of a scenario's configuration, which says where a table names one model of a seat.
pub(super) static CONFIGURATION: LazyLock<Schema> = LazyLock::new(Schema::of::<super::Config>);

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
        Tree::of_entries([])
    }

    /// A table that nobody wrote.
    pub fn of_entries<'a>(entries: impl IntoIterator<Item = (&'a str, Tree)>) -> Tree {
        let entries = entries.into_iter().map(|(key, tree)| (key.to_owned(), tree)).collect();
        Tree { value: Value::Table(entries), origin: None, key: None }
    }

    /// A text that nobody wrote.
    pub fn text(text: &str) -> Tree {
        Tree { value: Value::String(text.to_owned()), origin: None, key: None }
    }

    /// Reads a whole TOML document.
    ///
    /// # Errors
    /// If the text is not TOML, or has control characters or names that would be formulas in a spreadsheet.
    pub fn parse(name: &str, text: &str) -> Result<Tree, Problem> {
        let source = Arc::new(Source { name: name.to_owned(), text: text.to_owned() });
        let table = DeTable::parse(text).map_err(|error| {
            let problem = Problem::new(format!("this is not TOML: {}", error.message()));
            match error.span() {
                Some(range) => problem.or_at(&Origin { source: Arc::clone(&source), range }),
                None => problem,
            }
        })?;
        let tree = convert_table(table.into_inner(), 0..0, &source)?;
        tree.check_text()?;
        Ok(tree)
    }

    /// Texts are printed, drawn and written into tables. Control characters would change what a terminal shows, or make
    /// a picture unreadable; a name that begins like a formula would be one for a spreadsheet.
    fn check_text(&self) -> Result<(), Problem> {
        let at = |problem: Problem, origin: Option<&Origin>| match origin {
            Some(origin) => problem.or_at(origin),
            None => problem,
        };
        match &self.value {
            Value::String(text) if text.chars().any(|c| c.is_control() && !"\n\t".contains(c)) => {
                let problem = Problem::new("there is a control character in this text");
                Err(at(problem.help("expected characters that can be printed"), self.origin.as_ref()))
            }
            Value::Array(items) => items.iter().try_for_each(Tree::check_text),
            Value::Table(entries) => entries.iter().try_for_each(|(key, tree)| {
                let problem = if key.chars().any(char::is_control) {
                    Problem::new("there is a control character in this name")
                        .help("expected characters that can be printed")
                } else if key.starts_with(['=', '+', '-', '@']) {
                    Problem::new(format!("`{key}` begins as a formula does, and spreadsheets would take it for one"))
                        .help("expected a name that begins otherwise, such as with a letter")
                } else {
                    return tree.check_text();
                };
                Err(at(problem, tree.key.as_ref().or(tree.origin.as_ref())))
            }),
            _ => Ok(()),
        }
    }

    /// Reads `path=value`, as after `--set`; a value that is not TOML is taken as text. The value is put under its path
    /// into an otherwise empty tree.
    ///
    /// # Errors
    /// If there is no `=`, the path is none or there is more than one value, or for the reasons of [`Tree::parse`].
    pub fn parse_assignment(assignment: &str) -> Result<Tree, Problem> {
        let Some((path, text)) = dotted::assignment(assignment) else {
            return Err(Problem::new(format!("`--set {assignment}` has no `=`"))
                .help("expected `--set path=value`, such as `--set workload.load=0.5`"));
        };
        let source = Arc::new(Source { name: "--set".to_owned(), text: assignment.to_owned() });
        let origin = |range| Origin { source: Arc::clone(&source), range };
        let spaces = path.len() - path.trim_start().len();
        let path = path.trim();
        let key = origin(spaces..spaces + path.len());
        let range = assignment.len() - text.len()..assignment.len();
        let text = text.trim();
        let several = |what: &str| {
            let problem = Problem::new(format!("`--set` sets one key to one value, and {what}"));
            problem.help("expected one value on one line, and a `--set PATH=VALUE` for each further key")
        };
        if let Some(at) = assignment.find(['\n', '\r']) {
            return Err(several("here is a line break").or_at(&origin(at..at + 1)));
        }
        const KEY: &str = "value = ";
        let line = format!("{KEY}{text}");
        let value = match DeTable::parse(&line).map(|table| table.into_inner().into_iter().next()) {
            Ok(Some((_, value))) if value.span() == (KEY.len()..KEY.len() + text.len()) => Some(value.into_inner()),
            Ok(Some((_, value))) if !text.is_empty() => {
                let behind = text[value.span().end - KEY.len()..].trim();
                return Err(several(&format!("`{behind}` stands behind the value")).or_at(&origin(range)));
            }
            _ => None,
        };
        let value = match value {
            Some(value) => relocated(convert(value, range.clone(), &source)?, &origin(range)),
            None => Tree { value: Value::String(text.to_owned()), origin: Some(origin(range)), key: None },
        };
        let tree = Tree::at_path(path, value, &key)?;
        tree.check_text()?;
        Ok(tree)
    }

    /// A tree that holds nothing but `value` at the dotted `path`; `key` is where the path stands.
    ///
    /// # Errors
    /// If it is no path.
    pub fn at_path(path: &str, value: Tree, key: &Origin) -> Result<Tree, Problem> {
        let keys = dotted::keys(path).map_err(|what| {
            Problem::new(format!("`{path}` is not a path of keys: {what}"))
                .help(
                    "expected keys with dots between them, such as `workload.load` or `settings.a.\"b.c\".port.limit`",
                )
                .or_at(key)
        })?;
        let mut tree = value;
        for name in keys.into_iter().rev() {
            tree.key = Some(key.clone());
            tree = Tree { value: Value::Table(vec![(name, tree)]), origin: Some(key.clone()), key: None };
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
        for part in dotted::keys(path).unwrap_or_default() {
            let next = match &tree.value {
                Value::Array(items) => part.parse().ok().and_then(|index: usize| items.get(index)),
                _ => tree.get(&part),
            };
            match next {
                Some(next) => tree = next,
                None => break,
            }
        }
        tree
    }

    /// The value at a dotted path.
    pub fn at(&self, path: &str) -> Option<&Tree> {
        dotted::keys(path).ok()?.iter().try_fold(self, |tree, key| tree.get(key))
    }

    /// The dotted paths of all values: of an empty table its own.
    pub fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.each(&mut |path, _| paths.push(path.to_owned()));
        paths
    }

    /// Calls `visit` with the dotted path of each value that is no table, or an empty one.
    pub fn each<'a>(&'a self, visit: &mut impl FnMut(&str, &'a Tree)) {
        fn walk<'a>(tree: &'a Tree, path: &str, visit: &mut impl FnMut(&str, &'a Tree)) {
            for (key, child) in tree.entries() {
                let path = dotted::join(path, key);
                if child.entries().is_empty() {
                    visit(&path, child);
                } else {
                    walk(child, &path, visit);
                }
            }
        }
        walk(self, "", visit);
    }

    /// Where to point: the value if it is a single one, the key if it is a table.
    pub fn key_or_value(&self) -> Option<&Origin> {
        match self.value {
            Value::Table(_) => self.key.as_ref().or(self.origin.as_ref()),
            _ => self.origin.as_ref(),
        }
    }

    /// Takes out what stands at a dotted path.
    pub fn remove(&mut self, path: &str) -> Option<Tree> {
        let keys = dotted::keys(path).ok()?;
        let (last, above) = keys.split_last()?;
        above.iter().try_fold(self, |tree, key| tree.get_mut(key))?.take(last)
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
    fn an_assignment_is_toml_or_text() {
        let set = |text| Tree::parse_assignment(text).unwrap();
        assert_eq!(set("workload.load=0.5").nearest("workload.load").value, Value::Float(0.5));
        assert_eq!(set("host.transport.tcp.min_rto=1ms").nearest("host.transport.tcp.min_rto").as_str(), Some("1ms"));
        assert_eq!(set("seeds=[1, 2]").nearest("seeds").to_text(), "[1, 2]");
        assert!(Tree::parse_assignment("load").unwrap_err().to_string().contains("no `=`"));
        assert!(Tree::parse_assignment("a..b=1").unwrap_err().to_string().contains("not a path"));
        let tree = set("settings.a.\"long.name\".port.limit = \"50KB\"");
        assert_eq!(tree.at("settings.a.'long.name'.port.limit").unwrap().as_str(), Some("50KB"));
        assert_eq!(tree.paths(), ["settings.a.\"long.name\".port.limit"]);
        assert_eq!(set("a.\"b=c\".d=e=f").at("a.\"b=c\".d").unwrap().as_str(), Some("e=f"));
        assert_eq!(set("title=# 1, of 2").nearest("title").as_str(), Some("# 1, of 2"));
        assert_eq!(set("title=").nearest("title").as_str(), Some(""));
    }

    #[test]
    fn an_assignment_has_one_value_on_one_line() {
        for (text, part) in [
            ("workload.load=0.5\n[port]\nlimit=\"1KB\"", "a line break"),
            ("title=\"\"\"a\nb\"\"\"", "a line break"),
            ("a\n.b=1", "a line break"),
            ("workload.load=0.5 # half", "`# half` stands behind"),
            ("seeds=[1, 2] # two", "`# two` stands behind"),
        ] {
            let problem = Tree::parse_assignment(text).unwrap_err();
            assert!(problem.message().contains(part), "{text:?}: {problem}");
            assert!(problem.help_text().unwrap().contains("--set PATH=VALUE"));
        }
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
