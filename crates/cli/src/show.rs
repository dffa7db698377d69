//! `tailcut show`.

use serde_json::json;
use tailcut_model::registry::SeatEntry;
use tailcut_model::schema::{Schema, Shape};
use tailcut_reproduce::Variant;
use tailcut_results::text::wrapped;
use tailcut_sim::config::suggest;
use tailcut_sim::{Config, Preset, Problem, Tree};

use crate::describe::{Parameter, keys, parameters, parameters_json, table as key_table, table_json, values};
use crate::format::TextFormat;
use crate::list::{is_called, seats, singular};
use crate::network::{self, NetworkArguments};
use crate::page::Page;
use crate::reference;

/// What can be shown beside what is on a seat.
const OTHER: [&str; 5] = ["scheme", "workload", "study", "table", "reference"];

pub(crate) fn show(
    kind: &str,
    name: Option<&str>,
    format: TextFormat,
    of_network: &NetworkArguments,
) -> Result<(), Problem> {
    if let ("topology", Some(name)) = (kind, name)
        && network::is_scenario(name)
    {
        return network::show(name, of_network, format);
    }
    if of_network.are_given() {
        return Err(Problem::new("`--svg`, `--run` and `--set` are for the network of a scenario")
            .help("expected `tailcut show topology SCENARIO.toml` with them"));
    }
    let mut out = Page::default();
    let seats = seats();
    let seat = seats.iter().find(|seat| is_called(seat, kind));
    match (kind, name) {
        ("reference", None) => reference::print(&mut out, format),
        ("reference", Some(name)) => {
            return Err(Problem::new(format!("the reference is one whole, and has no part `{name}`"))
                .help("expected `tailcut show reference`, or `tailcut show table NAME` for one table"));
        }
        ("scheme", Some(name)) => scheme(&mut out, name, format)?,
        ("workload", Some(name)) => workload(&mut out, name, format)?,
        ("study", Some(name)) => study(&mut out, name, format)?,
        ("table", Some(name)) => table(&mut out, name, format)?,
        _ => match (seat, name) {
            (Some(seat), Some(name)) => model(&mut out, seat, name, format)?,
            (None, _) if !OTHER.contains(&kind) => {
                let words: Vec<String> = seats.iter().map(singular).collect();
                let known: Vec<&str> = OTHER.into_iter().chain(words.iter().map(String::as_str)).collect();
                return Err(Problem::new(format!("there is no kind `{kind}`")).help(suggest(kind, &known)));
            }
            _ => {
                let example = match kind {
                    "table" => "workload".to_owned(),
                    "scheme" => "dctcp".to_owned(),
                    "workload" => "websearch".to_owned(),
                    "study" => "spq-ls144".to_owned(),
                    _ => seat.and_then(|seat| seat.models.first()).map_or_else(String::new, |model| model.name.clone()),
                };
                return Err(Problem::new(format!("which {kind}? Its name is missing"))
                    .help(format!("expected a name, such as `tailcut show {kind} {example}`")));
            }
        },
    }
    out.print();
    Ok(())
}

fn scheme(out: &mut Page, name: &str, format: TextFormat) -> Result<(), Problem> {
    let layer = Preset::layer(name)?;
    let preset = Preset::find(name.split('@').next().unwrap_or(name)).expect("the layer was found");
    let described = |key: &str| preset.describe(key).unwrap_or_default();
    let table = |key: &str| layer.get(key).cloned().unwrap_or_else(Tree::table);
    let mut groups = vec![spelled("host", &table("host"))?, spelled("port", &table("port"))?];
    for key in ["path", "controller", "nic", "switch"] {
        if let Some(table) = layer.get(key) {
            groups.push(spelled(key, table)?);
        }
    }
    if format == TextFormat::Json {
        out.line(json!({
            "kind": "scheme",
            "name": name,
            "title": described("title"),
            "paper": described("paper"),
            "meaning": described("summary"),
            "toml": preset.text,
        }));
        groups.iter().for_each(|group| parameters_json(out, group));
        return Ok(());
    }
    for key in ["title", "paper", "summary"] {
        out.line(format_args!("{key:<8} {}", described(key)));
    }
    out.line(format_args!("\nschemes/{}.toml\n", preset.name));
    for line in preset.text.lines() {
        out.line(format_args!("    {line}"));
    }
    out.line(format_args!("\nEvery parameter, with what the preset leaves at its default:\n"));
    groups.iter().for_each(|group| parameters(out, group));
    Ok(())
}

/// Every parameter of a table, the defaults filled in.
fn spelled(key: &str, tree: &Tree) -> Result<Vec<Parameter>, Problem> {
    let (value, schema) = tailcut_sim::config::spelled(key, tree)?;
    Ok(values(schema.root(), key, &value))
}

fn workload(out: &mut Page, name: &str, format: TextFormat) -> Result<(), Problem> {
    let Some(built_in) = tailcut_workload::distribution(name) else {
        let names: Vec<&str> = tailcut_workload::distributions().iter().map(|d| d.name).collect();
        return Err(Problem::new(format!("there is no distribution `{name}`")).help(suggest(name, &names)));
    };
    let distribution = built_in.distribution();
    let shares: Vec<(f64, f64, f64)> = [10e3, 100e3, 1e6, 10e6]
        .iter()
        .map(|&size| (size, distribution.cdf(size), 1.0 - distribution.bytes_above(size)))
        .collect();
    if format == TextFormat::Json {
        out.line(json!({
            "kind": "workload",
            "name": name,
            "meaning": built_in.summary,
            "source": built_in.source,
            "mean_bytes": distribution.mean(),
            "mean_wire_bytes": distribution.mean_wire(),
        }));
        for (size, flows, bytes) in shares {
            out.line(json!({ "kind": "share", "up_to_bytes": size, "of_flows": flows, "of_bytes": bytes }));
        }
        return Ok(());
    }
    out.line(format_args!("sizes.distribution = \"{name}\""));
    out.line(format_args!("{}", built_in.summary));
    out.line(format_args!("source: {}\n", built_in.source));
    out.line(format_args!("mean {:.0} B, {:.0} B on the wire", distribution.mean(), distribution.mean_wire()));
    for (size, flows, bytes) in shares {
        out.line(format_args!(
            "up to {:>8} KB: {:5.1} % of flows, {:5.1} % of bytes",
            size / 1e3,
            flows * 100.0,
            bytes * 100.0
        ));
    }
    out.line(format_args!("\n{}", built_in.text.trim_end()));
    Ok(())
}

/// What a study leaves open, the base of each choice, and what else its document allows.
fn study(out: &mut Page, name: &str, format: TextFormat) -> Result<(), Problem> {
    let study = tailcut_reproduce::study(name)?;
    let experiments: Vec<&str> = tailcut_reproduce::names()
        .filter(|id| tailcut_reproduce::find(id).is_ok_and(|experiment| experiment.study == study.name))
        .collect();
    if format == TextFormat::Json {
        out.line(json!({ "kind": "study", "name": study.name, "title": study.title, "experiments": experiments }));
        for open in &study.open {
            let others: Vec<_> = open
                .other
                .iter()
                .map(|other| json!({ "name": other.name, "value": other.value, "reason": other.reason }))
                .collect();
            out.line(json!({
                "kind": "choice",
                "parameter": open.parameter,
                "base": open.value,
                "rule": open.rule.name(),
                "reason": open.reason,
                "other": others,
            }));
        }
        for (name, variant) in study.variants() {
            out.line(json!({ "kind": "variant", "name": name, "of": variant.of, "but": variant.but }));
        }
        return Ok(());
    }
    out.line(&study.title);
    out.line(format_args!("experiments: {}", experiments.join(", ")));
    if let Some(reason) = &study.overload {
        out.line(format_args!("a link may be overloaded: {reason}"));
    }
    out.line(format_args!("\n{} choices that the document leaves open:", study.open.len()));
    for open in &study.open {
        out.line(format_args!("\n{}", open.parameter));
        let base = format!("{} ({}: {})", open.value, open.rule.name(), open.reason);
        entry(out, "base", &base);
        for other in &open.other {
            entry(out, &format!("--reading {}", other.name), &format!("{} ({})", other.value, other.reason));
        }
    }
    let variants = study.variants();
    if !variants.is_empty() {
        out.line(
            "\nschemes that are another one with a difference: what a reading changes in that one, it changes in them",
        );
    }
    for (name, Variant { of, but }) in variants {
        let keeps = if but.is_empty() { String::new() } else { format!(", which keeps {}", but.join(", ")) };
        entry(out, name, &format!("{of}{keeps}"));
    }
    Ok(())
}

/// A word, and what it means in lines of at most 100 columns. A word that is as wide as its column stands on a line of
/// its own.
fn entry(out: &mut Page, word: &str, meaning: &str) {
    let wide = word.len() > 31;
    if wide {
        out.line(format_args!("  {word}"));
    }
    for (at, line) in wrapped(meaning, 64).iter().enumerate() {
        let word = if wide { "" } else { word };
        let word = if at == 0 { word } else { "" };
        out.line(format_args!("  {word:<32}{line}"));
    }
}

/// A table of a scenario by its dotted path.
fn table(out: &mut Page, path: &str, format: TextFormat) -> Result<(), Problem> {
    let schema = Schema::of::<Config>();
    let has_keys = |shape: &Shape<'_>| !shape.tables().is_empty();
    let shape = schema.root().path(path);
    let Some(shape) = shape.and_then(|shape| [Some(shape), shape.item()].into_iter().flatten().find(has_keys)) else {
        let tables = reference::tables();
        let tables: Vec<&str> = tables.iter().map(String::as_str).collect();
        // All tables are too many for a message: the one that may be meant, if there is one.
        let meant = suggest(path, &tables).split_once("? ").map_or_else(String::new, |(meant, _)| format!("{meant}? "));
        return Err(Problem::new(format!("a scenario has no table `{path}`")).help(format!(
            "{meant}expected the path of a table, such as `workload.traffic.NAME`; `tailcut show reference` has all"
        )));
    };
    if format == TextFormat::Json {
        table_json(out, path, &keys(shape));
        return Ok(());
    }
    out.line(format_args!("[{path}]\n"));
    key_table(out, &keys(shape));
    Ok(())
}

fn model(out: &mut Page, seat: &SeatEntry, name: &str, format: TextFormat) -> Result<(), Problem> {
    let Some(model) = seat.models.iter().find(|model| model.name == name) else {
        let names: Vec<&str> = seat.models.iter().map(|model| model.name.as_str()).collect();
        return Err(Problem::new(format!("there is no {} `{name}`", seat.word)).help(suggest(name, &names)));
    };
    let schema = Schema::of::<Config>();
    let path = format!("{}.{name}", seat.path);
    let shape = schema.root().path(&path).expect("what is registered is in the schema");
    if format == TextFormat::Json {
        out.line(json!({ "kind": "model", "seat": seat.word, "name": name, "table": path, "meaning": model.doc }));
        table_json(out, &path, &keys(shape));
        return Ok(());
    }
    out.line(format_args!("[{path}]\n{}", model.doc));
    let more = shape.type_doc();
    if more != "No parameters." {
        more.lines().for_each(|line| out.line(line));
    }
    out.line("");
    key_table(out, &keys(shape));
    Ok(())
}
