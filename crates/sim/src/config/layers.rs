//! Layers of configuration: what a scheme is, what a scenario says, and which of them counts.
//!
//! A choice, such as a seat and its model, is decided by the highest layer that names one thing there. The parameters
//! of what was chosen are those of all layers, also of layers that named something else beside it or nothing at all:
//! a scenario may give a timeout of TCP and a resend of Homa, and each scheme takes what is its own.

use std::borrow::Cow;

use tailcut_base::dotted;
use tailcut_model::schema::Shape;

use super::document::{CONFIGURATION, Tree, Value};

/// Where configurations stand in the text of a scenario: it is one, and so is what it says of single schemes and
/// settings.
const CONFIGURATIONS: [&str; 4] = ["", "scheme.*", "settings.*.*", "settings.*.*.scheme.*"];

impl Tree {
    /// The scenarios `layers` laid over each other, the lowest first: tables are merged, of other values the highest
    /// counts. A table that names several models and is decided by no layer keeps them all.
    pub fn layered<'a>(layers: impl IntoIterator<Item = &'a Tree>) -> Tree {
        let layers: Vec<&Tree> = layers.into_iter().collect();
        below(&layers, &mut Vec::new(), None).unwrap_or_else(Tree::table)
    }

    /// Lays the scenario `over` on top of this one.
    pub fn merge(&mut self, over: Tree) {
        *self = Tree::layered([&*self, &over]);
    }
}

impl Tree {
    /// Calls `visit` with the dotted path of each place where the scenario names one of several things, the name, and
    /// what it says of it.
    pub fn each_choice(&self, visit: &mut impl FnMut(&str, &str, Tree)) {
        fn walk(tree: &Tree, path: &str, shape: Shape<'_>, visit: &mut impl FnMut(&str, &str, Tree)) {
            if shape.is_choice() {
                for name in names(tree).unwrap_or_default() {
                    visit(path, name, parameters(tree, name).map_or_else(Tree::table, Cow::into_owned));
                }
            }
            for (key, child) in tree.entries() {
                if let Some(shape) = shape.key(key) {
                    walk(child, &dotted::join(path, key), shape, visit);
                }
            }
        }
        walk(self, "", CONFIGURATION.root(), visit);
    }
}

/// What all layers together say at `path`; `None` if there are no layers.
fn below(layers: &[&Tree], path: &mut Vec<String>, shape: Option<Shape<'_>>) -> Option<Tree> {
    let highest = layers.last()?;
    if layers.len() == 1 {
        // Nothing is laid over it.
        return Some((*highest).clone());
    }
    let is_configuration = CONFIGURATIONS.iter().any(|place| is_at(path, place));
    let shape = if is_configuration { Some(CONFIGURATION.root()) } else { shape };
    if let Some(shape) = shape.filter(|shape| shape.is_choice())
        && names(highest).is_some_and(|names| is_known(shape, &names))
    {
        return Some(choice(layers, path, Some(shape)));
    }
    if !is_table(highest) {
        return Some((*highest).clone());
    }
    let tables: Vec<&Tree> = layers.iter().rev().take_while(|tree| is_table(tree)).copied().collect();
    let mut keys: Vec<&str> = Vec::new();
    for table in tables.iter().rev() {
        for (key, _) in table.entries() {
            if !keys.contains(&key.as_str()) {
                keys.push(key);
            }
        }
    }
    let mut entries = Vec::new();
    for key in keys {
        let values: Vec<&Tree> = tables.iter().rev().filter_map(|table| table.get(key)).collect();
        path.push(key.to_owned());
        entries.extend(below(&values, path, shape.and_then(|shape| shape.key(key))).map(|tree| (key.to_owned(), tree)));
        path.pop();
    }
    Some(placed(entries, &tables))
}

/// Whether there are things of these names. A name that there is not stays as it is written, to be refused at its
/// place.
fn is_known(shape: Shape<'_>, names: &[&str]) -> bool {
    names.iter().all(|name| shape.variants().iter().any(|variant| variant.name == *name))
}

/// What all layers together say where one of several things is named.
fn choice(layers: &[&Tree], path: &mut Vec<String>, shape: Option<Shape<'_>>) -> Tree {
    let speaking: Vec<&Tree> = layers.iter().rev().take_while(|tree| names(tree).is_some()).copied().collect();
    let mut candidates: Vec<&str> = Vec::new();
    for layer in &speaking {
        let named = names(layer).expect("only these were taken");
        if candidates.is_empty() {
            candidates = named;
        } else if let [only] = named[..]
            && candidates.contains(&only)
        {
            candidates = vec![only];
        }
        if candidates.len() == 1 {
            break;
        }
    }
    let mut entries = Vec::new();
    for name in candidates {
        let parameters: Vec<Cow<'_, Tree>> =
            speaking.iter().rev().filter_map(|layer| parameters(layer, name)).collect();
        path.push(name.to_owned());
        let all: Vec<&Tree> = parameters.iter().map(AsRef::as_ref).collect();
        entries.extend(below(&all, path, shape.and_then(|shape| shape.key(name))).map(|tree| (name.to_owned(), tree)));
        path.pop();
    }
    // A name alone stays one, so that a message points to it.
    let last = speaking.first().filter(|layer| matches!(layer.value, Value::String(_)));
    match (last, &entries[..]) {
        (Some(layer), [(_, only)]) if only.entries().is_empty() => (*layer).clone(),
        _ => placed(entries, &speaking),
    }
}

/// A table that stands where the highest of these layers stands that has a place: what the upper layer wrote is what a
/// message should point to. `from_the_top` begins with the highest.
fn placed(entries: Vec<(String, Tree)>, from_the_top: &[&Tree]) -> Tree {
    Tree {
        value: Value::Table(entries),
        origin: from_the_top.iter().find_map(|tree| tree.origin.clone()),
        key: from_the_top.iter().find_map(|tree| tree.key.clone()),
    }
}

fn is_table(tree: &Tree) -> bool {
    matches!(tree.value, Value::Table(_))
}

/// The things that are named here: `"off"`, and `{ step = { ... } }`. `None` for a value that names nothing, such as a
/// number.
fn names(tree: &Tree) -> Option<Vec<&str>> {
    match &tree.value {
        Value::String(name) => Some(vec![name]),
        Value::Table(entries) => Some(entries.iter().map(|(name, _)| name.as_str()).collect()),
        _ => None,
    }
}

/// What a layer says of the thing `name`: `marker = "off"` is short for `marker.off = {}`.
fn parameters<'a>(layer: &'a Tree, name: &str) -> Option<Cow<'a, Tree>> {
    match &layer.value {
        Value::String(named) if named == name => {
            let place = layer.origin.clone();
            Some(Cow::Owned(Tree { value: Value::Table(Vec::new()), origin: place.clone(), key: place }))
        }
        _ => layer.get(name).map(Cow::Borrowed),
    }
}

/// Whether the keys of `path` lead to `place`, in which `*` is any key.
fn is_at(path: &[String], place: &str) -> bool {
    let parts = || place.split('.').filter(|part| !part.is_empty());
    path.len() == parts().count() && path.iter().zip(parts()).all(|(key, part)| part == "*" || key == part)
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
        assert_eq!(base.to_toml(), "[port]\nmarker = \"off\"\n");
        base.merge(parse("port.marker.step.threshold = \"10%\""));
        assert_eq!(base.nearest("port.marker").entries().len(), 1);
    }

    #[test]
    fn parameters_wait_for_the_scheme_that_has_their_model() {
        let several = "host.transport = { tcp.min_rto = \"1ms\", homa.resend = \"2ms\" }";
        let [scenario, above] = [several, "host.transport.tcp.min_rto = \"5ms\""].map(parse);
        let transport = |layers: &[&Tree]| Tree::layered(layers.iter().copied()).nearest("host.transport").clone();
        assert_eq!(transport(&[&scenario]).entries().len(), 2, "no layer decides");
        for (model, expected) in [("homa", "resend = \"2ms\"\n"), ("tcp", "min_rto = \"5ms\"\n")] {
            let scheme = parse(&format!("host.transport = \"{model}\""));
            let of = transport(&[&scenario, &above, &scheme]);
            assert_eq!((of.entries().len(), of.nearest(model).to_toml().as_str()), (1, expected));
            // A scheme below that leaves the choice to the scenario keeps its model where the scenario has it too.
            assert_eq!(transport(&[&scheme, &scenario]).entries()[0].0, model);
        }
    }

    #[test]
    fn what_is_called_as_a_seat_is_none_elsewhere() {
        let mut base = parse(
            "[workload.traffic.order]\nshare = 0.5\nfile.path = \"a.csv\"\n[settings.buffer.deep]\nport.limit = \"1MB\"\n",
        );
        base.merge(
            parse("workload.traffic.order = { rate = 2.0, file.path = \"b.csv\" }\nsettings.buffer.flat.port.limit = \"9KB\"\n"),
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
        base.merge(parse("scheme.mine.port.marker = \"off\"\nother.port.marker.off = {}"));
        assert_eq!(base.nearest("scheme.mine.port.marker").as_str(), Some("off"));
        assert_eq!(base.nearest("other.port.marker").entries().len(), 2, "nothing is known of what stands there");
    }

    #[test]
    fn sizes_and_end_points_are_choices_as_seats_are() {
        let mut base = parse("[workload.traffic.a]\nsizes.fixed = \"1MB\"\nendpoints = \"uniform\"\n");
        base.merge(parse("[workload.traffic.a]\nsizes.uniform = { min = \"1KB\", max = \"2KB\" }\nendpoints.roles.senders.first = 0\n"));
        assert_eq!(base.nearest("workload.traffic.a.sizes").entries().len(), 1);
        assert_eq!(base.nearest("workload.traffic.a.endpoints").entries().len(), 1);
    }
}
