//! The shape of a configuration, from its type: which keys a table has, and where one of several models is named.
//!
//! A JSON schema says it all, and is made by the types themselves. Lists of what there is, descriptions, and the
//! merging of layers walk it.

use schemars::JsonSchema;
use serde_json::Value;

/// The schema of a configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema(Value);

/// A place in a schema: what may stand at one key.
#[derive(Clone, Copy, Debug)]
pub struct Shape<'a> {
    root: &'a Value,
    at: &'a Value,
}

/// One of the things that a choice may name.
#[derive(Clone, Debug)]
pub struct Variant<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its parameters, if it may have any.
    pub parameters: Option<Shape<'a>>,
    whole: &'a Value,
}

impl Variant<'_> {
    /// What it is.
    pub fn doc(&self) -> String {
        text(self.whole)
    }

    /// [`Parameters::CASES`](crate::Parameters::CASES) of a registered model.
    pub fn cases(&self) -> Vec<String> {
        let cases = self.whole.get("x-cases").and_then(Value::as_array).into_iter().flatten();
        cases.filter_map(Value::as_str).map(str::to_owned).collect()
    }
}

impl Schema {
    /// The schema of this type.
    pub fn of<T: JsonSchema>() -> Schema {
        Schema(schemars::schema_for!(T).to_value())
    }

    /// The whole configuration.
    pub fn root(&self) -> Shape<'_> {
        Shape { root: &self.0, at: &self.0 }
    }

    /// The schema as JSON, for editors.
    pub fn json(&self) -> &Value {
        &self.0
    }
}

impl<'a> Shape<'a> {
    fn there(self, at: &'a Value) -> Shape<'a> {
        Shape { root: self.root, at }
    }

    /// The shape that a `$ref` refers to; any other is itself.
    fn resolved(self) -> Shape<'a> {
        let named = self.at.get("$ref").and_then(Value::as_str).and_then(|name| name.strip_prefix("#/$defs/"));
        match named.and_then(|name| self.root.get("$defs")?.get(name)) {
            Some(at) => self.there(at).resolved(),
            None => self,
        }
    }

    /// The forms that a value may have here: several if it is optional, or may be a number as well as a table.
    pub fn forms(self) -> Vec<Shape<'a>> {
        let resolved = self.resolved();
        match resolved.at.get("anyOf").and_then(Value::as_array) {
            Some(forms) => forms.iter().flat_map(|form| resolved.there(form).forms()).collect(),
            None => vec![resolved],
        }
    }

    fn one_of(self) -> impl Iterator<Item = &'a Value> {
        self.forms().into_iter().filter_map(|form| form.at.get("oneOf").and_then(Value::as_array)).flatten()
    }

    /// Whether a table here names one of several things by its only key: a seat and its model, for example. Another
    /// name replaces it as a whole.
    pub fn is_choice(self) -> bool {
        self.one_of().any(|variant| variant.get("properties").is_some())
    }

    /// The things that may be named here.
    pub fn variants(self) -> Vec<Variant<'a>> {
        let mut variants = Vec::new();
        for whole in self.one_of() {
            let properties = whole.get("properties").and_then(Value::as_object).into_iter().flatten();
            variants.extend(properties.map(|(name, parameters)| Variant {
                name,
                parameters: Some(self.there(parameters)),
                whole,
            }));
            let names = whole.get("enum").and_then(Value::as_array).into_iter().flatten().chain(whole.get("const"));
            variants.extend(names.filter_map(Value::as_str).map(|name| Variant { name, parameters: None, whole }));
        }
        variants
    }

    /// The keys of a table here, with their shapes.
    pub fn keys(self) -> Vec<(&'a str, Shape<'a>)> {
        let tables = self.forms().into_iter();
        let properties = tables.filter_map(|form| form.at.get("properties").and_then(Value::as_object)).flatten();
        properties.map(|(key, at)| (key.as_str(), self.there(at))).collect()
    }

    /// The shape of a key: of a table, of a choice, or of a table whose keys are names of the user's.
    pub fn key(self, key: &str) -> Option<Shape<'a>> {
        let own = self.forms().into_iter().find_map(|form| form.at.get("properties")?.get(key));
        let of_variant = || self.one_of().find_map(|variant| variant.get("properties")?.get(key));
        own.or_else(of_variant).map(|at| self.there(at)).or_else(|| self.named())
    }

    /// The shape at a dotted path.
    pub fn path(self, path: &str) -> Option<Shape<'a>> {
        path.split('.').try_fold(self, Shape::key)
    }

    /// What the type's documentation says, on one line.
    pub fn doc(self) -> String {
        text(self.at)
    }

    /// What the documentation of the type says that stands here, line by line.
    pub fn type_doc(self) -> &'a str {
        self.resolved().at.get("description").and_then(Value::as_str).unwrap_or_default()
    }

    /// The tables that may stand here: with their own keys, and those of a choice, whose keys are its variants.
    pub fn tables(self) -> Vec<Shape<'a>> {
        let forms = self.forms().into_iter();
        forms
            .flat_map(|form| {
                let variants = form.at.get("oneOf").and_then(Value::as_array).into_iter().flatten();
                std::iter::once(form).chain(variants.map(move |variant| form.there(variant)))
            })
            .filter(|table| table.at.get("properties").is_some())
            .collect()
    }

    /// The shape of the items of a list, if one may stand here.
    pub fn item(self) -> Option<Shape<'a>> {
        let mut items = self.forms().into_iter().filter_map(|form| form.at.get("items"));
        items.find(|at| at.is_object()).map(|at| self.there(at))
    }

    /// The shape of the tables under names of the user's, if this is a table of such.
    pub fn named(self) -> Option<Shape<'a>> {
        let mut named = self.forms().into_iter().filter_map(|form| form.at.get("additionalProperties"));
        named.find(|at| at.is_object()).map(|at| self.there(at))
    }

    /// The name of the type that stands here, if it has one: what is of the same type is described once.
    pub fn type_name(self) -> Option<&'a str> {
        let of = |at: &'a Value| at.get("$ref").and_then(Value::as_str)?.strip_prefix("#/$defs/");
        let forms = self.at.get("anyOf").and_then(Value::as_array).into_iter().flatten();
        of(self.at).or_else(|| forms.into_iter().find_map(of))
    }

    /// The default of a key, if its table has one.
    pub fn default(self) -> Option<&'a Value> {
        self.at.get("default")
    }

    /// A value of this kind, as an example; and the kind.
    pub fn example(self) -> Option<&'a str> {
        self.forms().into_iter().find_map(|form| form.at.get("examples")?.get(0)?.as_str())
    }

    /// The kinds of JSON values that may stand here, `null` not among them.
    pub fn kinds(self) -> Vec<&'a str> {
        let kinds = self.forms().into_iter().filter_map(|form| form.at.get("type"));
        let one = kinds.flat_map(|kind| match kind {
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
            kind => kind.as_str().into_iter().collect::<Vec<_>>(),
        });
        one.filter(|kind| *kind != "null").collect()
    }

    /// Whether the value may be left out.
    pub fn is_optional(self) -> bool {
        let is_null = |at: &Value| at == "null";
        let in_list = |at: &Value| at.as_array().is_some_and(|kinds| kinds.iter().any(is_null));
        self.forms().into_iter().filter_map(|form| form.at.get("type")).any(|kind| is_null(kind) || in_list(kind))
    }

    /// What a type has attached to its schema under this key.
    pub fn extension(self, key: &str) -> Option<&'a str> {
        self.forms().into_iter().find_map(|form| form.at.get(key)?.as_str())
    }

    /// Visits the places below that have keys of the type's own, with their dotted paths. The parameters of a choice
    /// are not among them, nor are tables whose keys are names of the user's.
    pub fn each_table(self, visit: &mut impl FnMut(&str, Shape<'a>)) {
        self.each_below("", visit);
    }

    fn each_below(self, path: &str, visit: &mut impl FnMut(&str, Shape<'a>)) {
        for (key, shape) in self.keys() {
            let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
            visit(&path, shape);
            shape.each_below(&path, visit);
        }
    }
}

/// The description of a schema on one line.
fn text(schema: &Value) -> String {
    let text = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
