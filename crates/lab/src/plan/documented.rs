//! The shape of a whole scenario file, for editors and for the reference of its keys.
//!
//! A simulation's keys are those of its configuration. What a file has beside them is about the run, and is taken out
//! of it by [`super::keys`], value by value; [`RunKeys`] describes each of these keys.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};
use tailcut_base::Bytes;
use tailcut_sim::{Config, DEFAULTS, SCHEME_TABLES};

/// The keys of a scenario that are about the run and not about a single simulation.
#[derive(JsonSchema)]
pub struct RunKeys {
    /// Name of the scenario, and of its run folder; that of the file if it is not given.
    pub name: Option<String>,
    /// What the scenario asks, in a sentence; it stands above the results.
    pub title: Option<String>,
    /// The schemes that are compared: presets, also with a profile such as `slytherin@shallow`, and those that `scheme`
    /// defines. All that are defined there if it is not given.
    pub schemes: Option<Vec<String>>,
    /// How many seeds, `3` for 1, 2 and 3; or a list of them, such as `[1, 2, 7]`. One if it is not given.
    pub seeds: Option<WrittenSeeds>,
    /// What is said of single schemes by their names: presets that are changed, and schemes that the scenario defines.
    /// A scheme begins with its `preset`, `without` these parts of it, and takes its `defaults` where the scenario says
    /// nothing; its tables count over what the scenario says of all schemes.
    pub scheme: Option<BTreeMap<String, SchemeKeys>>,
    /// Sets of traffic classes whose flows have statistics together, such as `"short+incast" = ["short", "incast"]`.
    pub class_sets: Option<BTreeMap<String, Vec<String>>>,
    /// Sizes at which results tell flows apart whatever their class; ascending, such as `["100KB", "10MB"]`.
    pub size_bounds: Option<Vec<Bytes>>,
    /// Values that change together, by kind and name: `[settings.traffic.bursty]` is a layer on top of the scenario,
    /// and its table `scheme.NAME` holds for one scheme only.
    pub settings: Option<BTreeMap<String, BTreeMap<String, LayerKeys>>>,
    /// The setting of each kind that holds for the whole run.
    pub setting: Option<BTreeMap<String, String>>,
    /// What is swept: the dotted path of a key, or of a kind of setting, with the list of its values, such as
    /// `"workload.load" = [0.4, 0.8]`.
    pub sweep: Option<BTreeMap<String, SweptValues>>,
    /// Copies that stand for files: by the path of a file in the scenario, the path of its copy from the scenario's
    /// directory. A run folder keeps the files that were read and has this table in its `scenario.toml`.
    pub inputs: Option<BTreeMap<String, PathBuf>>,
}

/// A number of seeds, or these seeds.
#[derive(JsonSchema)]
#[serde(untagged)]
pub enum WrittenSeeds {
    /// So many, from 1 on.
    Count(#[schemars(range(min = 1, max = 1_000_000))] u64),
    /// Exactly these.
    List(#[schemars(length(min = 1))] Vec<u64>),
}

/// The name of a type that is filled in when the schema of the whole file is made, because it refers to all of it.
macro_rules! filled_in {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        pub struct $name;

        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "object" })
            }
        }
    )*};
}

filled_in! {
    /// What a scheme may say: a preset, and what sits on its seats.
    SchemeKeys
    /// What a setting may say: any key of a simulation, and tables for single schemes.
    LayerKeys
    /// Values that are swept over; or a table, where the path is written as nested tables.
    SweptValues
}

/// The JSON schema of a scenario file, for editors.
///
/// A file is one of several layers: a preset, a setting or the command line may give what it leaves out. So no key is
/// required here; `tailcut check` says what is missing. A choice may be written as its name alone, `order = "fifo"`.
pub fn scenario_schema() -> Value {
    let mut generator = schemars::generate::SchemaSettings::draft2020_12().into_generator();
    let run = generator.root_schema_for::<RunKeys>().to_value();
    let mut root = schemars::schema_for!(Config).to_value();
    let (Value::Object(run), Value::Object(root)) = (run, &mut root) else {
        unreachable!("the schema of a table is an object")
    };
    let mut definitions = table(root, "$defs");
    definitions.extend(table(&mut run.clone(), "$defs"));
    let own = table(root, "properties");
    let of_scheme = |with: &[(&str, Value)]| {
        let tables = own.iter().filter(|(key, _)| SCHEME_TABLES.contains(&key.as_str()));
        let with = with.iter().map(|(key, value)| ((*key).to_owned(), value.clone()));
        closed(with.chain(tables.map(|(key, value)| (key.clone(), value.clone()))).collect())
    };
    let preset = json!({ "type": "string", "description": "The preset that it begins with, such as \"dctcp\"." });
    let without = json!({
        "type": "array",
        "items": { "type": "string" },
        "description": "Parts of the preset that are taken away, by their dotted paths, such as \"host.tag\"."
    });
    let mut defaults = of_scheme(&[]);
    defaults["description"] = "What it takes where the scenario says nothing.".into();
    let with = [("preset", preset), ("without", without), (DEFAULTS, defaults)];
    definitions.insert("SchemeKeys".to_owned(), of_scheme(&with));
    definitions.insert("LayerSchemeKeys".to_owned(), of_scheme(&[]));
    let mut layer = own.clone();
    layer.insert(
        "scheme".to_owned(),
        json!({
            "description": "What differs between schemes, by their names.",
            "type": "object",
            "additionalProperties": { "$ref": "#/$defs/LayerSchemeKeys" }
        }),
    );
    definitions.insert("LayerKeys".to_owned(), closed(layer));
    definitions.insert(
        "SweptValues".to_owned(),
        json!({
            "anyOf": [
                { "type": "array", "minItems": 1 },
                { "type": "object", "additionalProperties": { "$ref": "#/$defs/SweptValues" } }
            ]
        }),
    );
    let mut properties = table(&mut run.clone(), "properties");
    properties.extend(own);
    for schema in properties.values_mut().chain(definitions.values_mut()) {
        as_a_layer(schema);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "tailcut scenario",
        "description": "A scenario of tailcut: a network, what its ports and hosts do, what they carry, and which schemes are compared.",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
        "$defs": definitions,
    })
}

/// Takes the table of this key out of a schema.
fn table(schema: &mut Map<String, Value>, key: &str) -> Map<String, Value> {
    match schema.remove(key) {
        Some(Value::Object(table)) => table,
        _ => Map::new(),
    }
}

/// A table with these keys and no others.
fn closed(properties: Map<String, Value>) -> Value {
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

/// Takes away what a layer need not say, and lets a choice be its name alone, here and below.
fn as_a_layer(schema: &mut Value) {
    let Value::Object(object) = schema else {
        if let Value::Array(items) = schema {
            items.iter_mut().for_each(as_a_layer);
        }
        return;
    };
    // What the tests of models draw from says nothing to an editor.
    object.remove("x-cases");
    object.remove("x-seat");
    for (key, below) in object.iter_mut() {
        match key.as_str() {
            "default" | "examples" | "enum" | "const" => {}
            // The keys of this object are names, and not words of JSON schema.
            "properties" | "$defs" => {
                if let Value::Object(named) = below {
                    named.values_mut().for_each(as_a_layer);
                }
            }
            _ => as_a_layer(below),
        }
    }
    object.remove("required");
    if object.get("oneOf").and_then(Value::as_array).is_some_and(|variants| variants.iter().any(is_table)) {
        let Some(Value::Array(variants)) = object.remove("oneOf") else { unreachable!("it was there") };
        let names: Vec<String> = variants.iter().flat_map(names).collect();
        let tables: Map<String, Value> = variants.into_iter().flat_map(described).collect();
        // One table with a key for each variant: what is wrong below is then shown at its place. Several may be there:
        // a scheme takes the parameters of the one that it has.
        object.extend([
            ("anyOf".to_owned(), json!([{ "type": "object" }, { "enum": names }])),
            ("properties".to_owned(), tables.into()),
            ("additionalProperties".to_owned(), json!(false)),
            ("minProperties".to_owned(), json!(1)),
        ]);
    }
}

/// Whether a variant of a choice is a table, whose only key is its name.
fn is_table(variant: &Value) -> bool {
    variant.get("properties").is_some()
}

/// The key of a variant that is a table, and what may stand there, with the description of the variant.
fn described(mut variant: Value) -> Map<String, Value> {
    let doc = variant.get("description").cloned();
    let mut keys = variant.as_object_mut().map(|variant| table(variant, "properties")).unwrap_or_default();
    for parameters in keys.values_mut().filter_map(Value::as_object_mut) {
        parameters.extend(doc.iter().map(|doc| ("description".to_owned(), doc.clone())));
    }
    keys
}

/// The names by which a variant of a choice may be given without a table: its own, unless its parameters are a single
/// value, which has to be there.
fn names(variant: &Value) -> Vec<String> {
    let tables = variant.get("properties").and_then(Value::as_object).into_iter().flatten();
    let tables = tables.filter(|(_, parameters)| parameters.get("$ref").is_some() || parameters["type"] == "object");
    let words = variant.get("enum").and_then(Value::as_array).into_iter().flatten().chain(variant.get("const"));
    let words = words.filter_map(Value::as_str).map(str::to_owned);
    tables.map(|(name, _)| name.clone()).chain(words).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_a_run_is_described_and_no_other() {
        let described = schemars::schema_for!(RunKeys).to_value();
        let mut described: Vec<&str> =
            described["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        let mut known: Vec<&str> = super::super::keys::KEYS.iter().copied().chain(["sweep"]).collect();
        described.sort_unstable();
        known.sort_unstable();
        assert_eq!(described, known);
    }

    #[test]
    fn a_layer_may_leave_out_everything_and_name_a_choice_alone() {
        fn requires(schema: &Value) -> bool {
            match schema {
                Value::Object(object) => object.contains_key("required") || object.values().any(requires),
                Value::Array(items) => items.iter().any(requires),
                _ => false,
            }
        }
        let schema = scenario_schema();
        assert!(!requires(&schema));
        let names = |of: &str| schema["$defs"][of]["anyOf"][1]["enum"].as_array().unwrap().clone();
        assert!(names("MarkerConfig").contains(&json!("step")));
        let step = &schema["$defs"]["MarkerConfig"]["properties"]["step"];
        assert!(step["$ref"].is_string() && step["description"].is_string(), "{step}");
        assert!(!names("Sizes").contains(&json!("fixed")), "a size has no default");
        assert!(names("Jitter").contains(&json!("none")));
        assert!(names("LoadOf").contains(&json!("fabric")) && !names("LoadOf").contains(&json!("rate")));
        let load_bytes = schema["$defs"]["LoadBytes"]["oneOf"].as_array().unwrap();
        assert!(load_bytes.iter().any(|variant| variant["const"] == "wire"), "names alone stay as they are");
    }
}
