//! A table that holds for all ports or switches, and tables on top of it for some of them: `[port]`, `[port.leaf]`,
//! `[port."leaf3->spine2"]`.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, DeserializeSeed, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::document::{Tree, Value};

/// What a table of settings must be to have tables on top of it.
pub trait Keyed {
    /// Its own keys; every other key is a name.
    const KEYS: &'static [&'static str];
}

const PORT_KEYS: &[&str] = tailcut_fabric::PortConfig::KEYS;
const SWITCH_KEYS: &[&str] = tailcut_fabric::SwitchConfig::KEYS;

impl Keyed for tailcut_fabric::PortConfig {
    const KEYS: &'static [&'static str] = PORT_KEYS;
}

impl Keyed for tailcut_fabric::SwitchConfig {
    const KEYS: &'static [&'static str] = SWITCH_KEYS;
}

/// Settings for all, and for some that have a name: a tier, or a single port or switch. What a named table does not say
/// is as it is for all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tiered<T> {
    /// For all that have no table of their own.
    pub all: T,
    /// By name, in the order of the text.
    pub named: Vec<(String, T)>,
}

impl<T> Deref for Tiered<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.all
    }
}

impl<T> DerefMut for Tiered<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.all
    }
}

impl<T> From<T> for Tiered<T> {
    fn from(all: T) -> Tiered<T> {
        Tiered { all, named: Vec::new() }
    }
}

impl<T> Tiered<T> {
    /// The settings for all and each named one, with the key below the table: nothing, or a name.
    pub fn each(&self) -> impl Iterator<Item = (Option<&str>, &T)> {
        std::iter::once((None, &self.all)).chain(self.named.iter().map(|(name, table)| (Some(name.as_str()), table)))
    }

    /// The same, to be changed.
    pub fn each_mut(&mut self) -> impl Iterator<Item = (Option<&str>, &mut T)> {
        let named = self.named.iter_mut().map(|(name, table)| (Some(name.as_str()), table));
        std::iter::once((None, &mut self.all)).chain(named)
    }

    /// The settings of this name.
    pub fn of(&self, name: &str) -> Option<&T> {
        self.named.iter().find(|(known, _)| known == name).map(|(_, table)| table)
    }
}

/// Spells out the named tables of the table `key`: what they do not say is as it is for all.
pub(super) fn inherit(tree: &mut Tree, key: &str, own: &[&str]) {
    let Some(table) = tree.get_mut(key) else { return };
    let Value::Table(entries) = &table.value else { return };
    let is_named =
        |(name, value): &&(String, Tree)| !own.contains(&name.as_str()) && matches!(value.value, Value::Table(_));
    let named: Vec<(String, Tree)> = entries.iter().filter(is_named).cloned().collect();
    let all: Vec<(String, Tree)> = entries.iter().filter(|entry| own.contains(&entry.0.as_str())).cloned().collect();
    for (name, over) in named {
        // Wrapped into the table's own key, so that seats are merged by their type.
        let wrapped = |table: Tree| Tree::of_entries([(key, table)]);
        let base = Tree { value: Value::Table(all.clone()), ..over.clone() };
        let mut merged = wrapped(base);
        merged.merge(wrapped(over));
        if let Some(place) = table.get_mut(&name) {
            *place = merged.take(key).expect("it was put there");
        }
    }
}

/// What `over` says for all ports and switches, for the named tables of `scenario` that say something else there: a
/// scheme whose ports mark nothing marks nothing at the spines either, whatever the scenario says of theirs.
pub(crate) fn for_named(scenario: &Tree, over: &Tree) -> Tree {
    let mut named = Tree::table();
    for (table, own) in [("port", PORT_KEYS), ("switch", SWITCH_KEYS)] {
        let Some(said) = over.get(table) else { continue };
        for (name, at) in scenario.get(table).map_or(&[][..], Tree::entries) {
            if own.contains(&name.as_str()) || said.get(name).is_some() || !matches!(at.value, Value::Table(_)) {
                continue;
            }
            let again = said.entries().iter().filter(|(key, _)| own.contains(&key.as_str()) && at.get(key).is_some());
            let again = Tree::of_entries(again.map(|(key, tree)| (key.as_str(), tree.clone())));
            named.merge(Tree::of_entries([(table, Tree::of_entries([(name.as_str(), again)]))]));
        }
    }
    named
}

impl<T: Serialize> Serialize for Tiered<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::Error;
        let table = |table: &T| toml::Table::try_from(table).map_err(S::Error::custom);
        let mut whole = table(&self.all)?;
        for (name, own) in &self.named {
            whole.insert(name.clone(), toml::Value::Table(table(own)?));
        }
        whole.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de> + Keyed> Deserialize<'de> for Tiered<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Tiered<T>, D::Error> {
        deserializer.deserialize_map(TableVisitor(PhantomData))
    }
}

struct TableVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + Keyed> Visitor<'de> for TableVisitor<T> {
    type Value = Tiered<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Tiered<T>, A::Error> {
        let mut named = Vec::new();
        let all = T::deserialize(MapAccessDeserializer::new(OwnKeys { map, named: &mut named }))?;
        Ok(Tiered { all, named })
    }
}

/// Hands the table's own keys on, and keeps the named tables.
struct OwnKeys<'n, T, A> {
    map: A,
    named: &'n mut Vec<(String, T)>,
}

impl<'de, T: Deserialize<'de> + Keyed, A: MapAccess<'de>> MapAccess<'de> for OwnKeys<'_, T, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        while let Some(key) = self.map.next_key::<String>()? {
            if T::KEYS.contains(&key.as_str()) {
                return seed.deserialize(key.into_deserializer()).map(Some);
            }
            let table = self.map.next_value_seed(NamedTable { key: &key, of: PhantomData })?;
            self.named.push((key, table));
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

/// A table under a name; what is no table is an unknown key.
struct NamedTable<'k, T> {
    key: &'k str,
    of: PhantomData<T>,
}

impl<'de, T: Deserialize<'de> + Keyed> DeserializeSeed<'de> for NamedTable<'_, T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: Deserialize<'de> + Keyed> Visitor<'de> for NamedTable<'_, T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a table for the ports or switches that are called `{}`", self.key)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<T, E> {
        Err(E::unknown_field(self.key, T::KEYS))
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<T, E> {
        Err(E::unknown_field(self.key, T::KEYS))
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<T, E> {
        Err(E::unknown_field(self.key, T::KEYS))
    }

    fn visit_str<E: de::Error>(self, _: &str) -> Result<T, E> {
        Err(E::unknown_field(self.key, T::KEYS))
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, _: A) -> Result<T, A::Error> {
        Err(de::Error::unknown_field(self.key, T::KEYS))
    }
}

impl<T: JsonSchema> JsonSchema for Tiered<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("Tiered{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = T::json_schema(generator);
        schema.insert("additionalProperties".to_owned(), generator.subschema_for::<T>().to_value());
        schema
    }
}

#[cfg(test)]
mod tests {
    use tailcut_fabric::PortConfig;

    use super::super::from_tree;
    use super::*;

    fn read(text: &str) -> Result<Tiered<PortConfig>, super::super::Problem> {
        #[derive(Deserialize)]
        struct Root {
            port: Tiered<PortConfig>,
        }
        let mut tree = Tree::parse("test.toml", text)?;
        inherit(&mut tree, "port", PortConfig::KEYS);
        from_tree::<Root>(&tree).map(|root| root.port)
    }

    #[test]
    fn a_named_table_says_what_is_different() {
        let port = read(
            "[port]\nlimit = \"100KB\"\nmarker.step.threshold = \"9KB\"\n[port.leaf]\nlimit = \"1MB\"\n\
             [port.\"leaf0->spine1\"]\nmarker = \"off\"\n",
        )
        .unwrap();
        let step = |port: &PortConfig| format!("{:?}", port.marker);
        let (leaf, link) = (port.of("leaf").unwrap(), port.of("leaf0->spine1").unwrap());
        assert_eq!([&port.all, leaf, link].map(PortConfig::limit_bytes), [100_000, 1_000_000, 100_000]);
        assert_eq!(step(leaf), step(&port.all));
        assert!(step(link).starts_with("Off") && step(leaf).contains("9KB"), "{}", step(leaf));
        // What is written is read back.
        let text =
            toml::to_string(&toml::Table::from_iter([("port".to_owned(), toml::Value::try_from(&port).unwrap())]));
        assert_eq!(read(&text.unwrap()).unwrap(), port);
    }

    #[test]
    fn what_is_wrong_is_shown_where_it_stands() {
        for (text, line, part) in [
            ("[port]\n\nlimt = \"1MB\"\n", 3, "unknown key `limt`"),
            ("[port.leaf]\nlimit = 3\n", 2, "has no unit"),
            ("[port]\nlimit = \"1MB\"\n[port.leaf]\nlimt = \"1MB\"\n", 4, "unknown key `limt`"),
        ] {
            let problem = read(text).unwrap_err();
            assert_eq!(problem.origin().map(super::super::Origin::line), Some(line), "{}", problem.render(false));
            assert!(problem.message().contains(part), "{}", problem.render(false));
        }
    }
}
