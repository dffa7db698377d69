//! From the tree to typed values, through serde: what a `Deserialize` implementation refuses is shown where it stands.

use std::fmt::Display;

use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeSeed, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use tailcut_model::suggest;

use super::document::{Tree, Value};
use super::problem::{Origin, Problem};

/// Reads a typed value from a tree.
///
/// # Errors
/// If the tree does not fit the type; the problem points to the key or value that does not.
pub fn from_tree<'de, T: de::Deserialize<'de>>(tree: &'de Tree) -> Result<T, Problem> {
    T::deserialize(TreeDeserializer(tree))
}

impl de::Error for Problem {
    fn custom<T: Display>(message: T) -> Problem {
        // Quantities say what they expect behind a colon; it is shown as help.
        let message = message.to_string();
        match message.split_once(": expected ") {
            Some((what, expected)) => Problem::new(what).help(format!("expected {expected}")),
            None => Problem::new(message),
        }
    }

    fn invalid_type(unexpected: de::Unexpected<'_>, expected: &dyn de::Expected) -> Problem {
        let mut help = format!("expected {}", in_words(expected));
        // One alone where several may stand lacks brackets alone.
        if help == "expected a list" {
            match unexpected {
                de::Unexpected::Str(text) => help += &format!(", such as [{text:?}]"),
                de::Unexpected::Signed(number) => help += &format!(", such as [{number}]"),
                de::Unexpected::Float(number) => help += &format!(", such as [{number}]"),
                _ => {}
            }
        }
        Problem::new(format!("this is {}", found(unexpected))).help(help)
    }

    fn invalid_value(unexpected: de::Unexpected<'_>, expected: &dyn de::Expected) -> Problem {
        Problem::new(format!("{} cannot be", found(unexpected))).help(format!("expected {}", in_words(expected)))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Problem {
        Problem::new(format!("there is no `{variant}`")).help(suggest(variant, expected))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Problem {
        Problem::new(format!("unknown key `{field}`")).help(suggest(field, expected))
    }

    fn missing_field(field: &'static str) -> Problem {
        Problem::new(format!("the key `{field}` is missing"))
            .help(format!("expected `{field} = ...` in this table"))
            .incomplete()
    }

    fn duplicate_field(field: &'static str) -> Problem {
        Problem::new(format!("the key `{field}` is there twice"))
    }
}

/// What a value is, for the message that it is not what was expected.
fn unexpected(value: &Value) -> de::Unexpected<'_> {
    match value {
        Value::String(text) => de::Unexpected::Str(text),
        Value::Integer(number) => de::Unexpected::Signed(*number),
        Value::Float(number) => de::Unexpected::Float(*number),
        Value::Boolean(truth) => de::Unexpected::Bool(*truth),
        Value::Array(_) => de::Unexpected::Seq,
        Value::Table(_) => de::Unexpected::Map,
    }
}

/// What was found, in the words of TOML.
fn found(unexpected: de::Unexpected<'_>) -> String {
    match unexpected {
        de::Unexpected::Str(text) => format!("the text {text:?}"),
        de::Unexpected::Signed(number) => format!("the number {number}"),
        de::Unexpected::Unsigned(number) => format!("the number {number}"),
        de::Unexpected::Float(number) => format!("the number {number}"),
        de::Unexpected::Bool(truth) => format!("`{truth}`"),
        de::Unexpected::Seq => "a list".to_owned(),
        de::Unexpected::Map => "a table".to_owned(),
        other => other.to_string(),
    }
}

/// What a type expects, in the words of TOML instead of Rust.
fn in_words(expected: &dyn de::Expected) -> String {
    let text = expected.to_string();
    match text.as_str() {
        "f64" | "f32" => "a number".to_owned(),
        "u8" => "a whole number from 0 to 255".to_owned(),
        "u16" => format!("a whole number from 0 to {}", u16::MAX),
        "u32" => format!("a whole number from 0 to {}", u32::MAX),
        "u64" => "a whole number of at least 0".to_owned(),
        "a nonzero u32" => format!("a whole number from 1 to {}", u32::MAX),
        "a nonzero u64" => "a whole number of at least 1".to_owned(),
        "i32" | "i64" => "a whole number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a string" => "text in quotes".to_owned(),
        _ if text.starts_with("struct ") || text == "a map" => "a table".to_owned(),
        _ => text,
    }
}

#[derive(Clone, Copy)]
struct TreeDeserializer<'de>(&'de Tree);

impl<'de> TreeDeserializer<'de> {
    fn place(&self, problem: Problem) -> Problem {
        placed(problem, self.0.key_or_value())
    }

    /// The one of several things that this names.
    fn variant(&self, variants: &'static [&'static str]) -> Result<Variant<'de>, Problem> {
        match &self.0.value {
            Value::String(name) => Ok(Variant { name, origin: self.0.origin.as_ref(), content: None }),
            Value::Table(entries) => match &entries[..] {
                [(name, content)] => Ok(Variant { name, origin: content.key.as_ref(), content: Some(content) }),
                [] => Err(Problem::new("this table is empty").help(suggest("", variants))),
                several => {
                    let names = several.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(" and ");
                    Err(Problem::new(format!("{names} do not go together"))
                        .help(format!("only one: {}", suggest("", variants))))
                }
            },
            _ => Err(Problem::new("this is not a name").help(suggest("", variants))),
        }
    }

    /// The entries of a table.
    fn table(&self) -> Result<Entries<'de>, de::Unexpected<'de>> {
        match &self.0.value {
            Value::Table(entries) => Ok(Entries { rest: entries.iter(), value: None }),
            other => Err(unexpected(other)),
        }
    }
}

/// A problem that says where it is: at `origin`, if it did not say so yet.
fn placed(problem: Problem, origin: Option<&Origin>) -> Problem {
    match origin {
        Some(origin) => problem.or_at(origin),
        None => problem,
    }
}

impl<'de> de::Deserializer<'de> for TreeDeserializer<'de> {
    type Error = Problem;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        let result = match &self.0.value {
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Integer(number) => visitor.visit_i64(*number),
            Value::Float(number) => visitor.visit_f64(*number),
            Value::Boolean(truth) => visitor.visit_bool(*truth),
            Value::Array(items) => visitor.visit_seq(Items(items.iter())),
            Value::Table(entries) => visitor.visit_map(Entries { rest: entries.iter(), value: None }),
        };
        result.map_err(|problem| self.place(problem))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_newtype_struct(self).map_err(|problem| self.place(problem))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        self.variant(variants).and_then(|variant| visitor.visit_enum(variant)).map_err(|problem| self.place(problem))
    }

    /// A table alone is a struct: serde would also take a list for one, its fields by position. Every struct of a
    /// configuration would be compiled a second time for that.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        let result = match self.table() {
            Ok(entries) => visitor.visit_map(entries),
            Err(other) => Err(de::Error::invalid_type(other, &visitor)),
        };
        result.map_err(|problem| self.place(problem))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}

struct Items<'de>(std::slice::Iter<'de, Tree>);

impl<'de> de::SeqAccess<'de> for Items<'de> {
    type Error = Problem;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Problem> {
        self.0.next().map(|tree| seed.deserialize(TreeDeserializer(tree))).transpose()
    }
}

struct Entries<'de> {
    rest: std::slice::Iter<'de, (String, Tree)>,
    value: Option<&'de Tree>,
}

impl<'de> de::MapAccess<'de> for Entries<'de> {
    type Error = Problem;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Problem> {
        let Some((key, tree)) = self.rest.next() else { return Ok(None) };
        self.value = Some(tree);
        named(seed, key, tree.key.as_ref()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Problem> {
        let tree = self.value.take().expect("a value is asked for after its key");
        seed.deserialize(TreeDeserializer(tree))
    }
}

fn named<'de, S: DeserializeSeed<'de>>(seed: S, name: &str, origin: Option<&Origin>) -> Result<S::Value, Problem> {
    let deserializer: StrDeserializer<'_, Problem> = name.into_deserializer();
    seed.deserialize(deserializer).map_err(|problem| placed(problem, origin))
}

/// A model by its name, with its parameters or, as in `marker = "off"`, without.
struct Variant<'de> {
    name: &'de str,
    origin: Option<&'de Origin>,
    content: Option<&'de Tree>,
}

impl<'de> de::EnumAccess<'de> for Variant<'de> {
    type Error = Problem;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Problem> {
        Ok((named(seed, self.name, self.origin)?, self))
    }
}

impl<'de> de::VariantAccess<'de> for Variant<'de> {
    type Error = Problem;

    fn unit_variant(self) -> Result<(), Problem> {
        match self.content {
            Some(tree) if !tree.entries().is_empty() || !matches!(tree.value, Value::Table(_)) => {
                Err(TreeDeserializer(tree).place(Problem::new(format!("`{}` has no parameters", self.name))))
            }
            _ => Ok(()),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Problem> {
        match self.content {
            Some(tree) => seed.deserialize(TreeDeserializer(tree)),
            None => {
                static NO_PARAMETERS: Tree = Tree { value: Value::Table(Vec::new()), origin: None, key: None };
                seed.deserialize(TreeDeserializer(&NO_PARAMETERS)).map_err(|problem| placed(problem, self.origin))
            }
        }
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Problem> {
        Err(Problem::new(format!("`{}` cannot be written as a list", self.name)))
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, Problem> {
        match self.content {
            Some(tree) => de::Deserializer::deserialize_any(TreeDeserializer(tree), visitor),
            None => visitor.visit_map(Entries { rest: [].iter(), value: None }),
        }
    }
}
