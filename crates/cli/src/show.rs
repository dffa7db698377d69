//! `tailcut show`.

use tailcut_model::registry::SeatEntry;
use tailcut_model::schema::Schema;
use tailcut_sim::config::suggest;
use tailcut_sim::seats::{HostConfig, PathConfig, PortConfig};
use tailcut_sim::{Config, Preset, Problem, Tree};

use crate::describe::{Parameter, keys, parameters, values};
use crate::list::{is_called, seats, singular};
use crate::page::Page;

pub(crate) fn show(kind: &str, name: &str) -> Result<(), Problem> {
    let mut out = Page::default();
    match kind {
        "scheme" => scheme(&mut out, name)?,
        "workload" => workload(&mut out, name)?,
        "table" => table(&mut out, name)?,
        _ => match seats().iter().find(|seat| is_called(seat, kind)) {
            Some(seat) => model(&mut out, seat, name)?,
            None => {
                let words: Vec<String> = seats().iter().map(singular).collect();
                let known = ["scheme", "workload", "table"].into_iter().chain(words.iter().map(String::as_str));
                let known: Vec<&str> = known.collect();
                return Err(Problem::new(format!("there is no kind `{kind}`")).help(suggest(kind, &known)));
            }
        },
    }
    out.print();
    Ok(())
}

fn scheme(out: &mut Page, name: &str) -> Result<(), Problem> {
    let layer = Preset::layer(name)?;
    let preset = Preset::find(name.split('@').next().unwrap_or(name)).expect("the layer was found");
    for key in ["title", "paper", "summary"] {
        out.line(format_args!("{:<8} {}", key, preset.describe(key).unwrap_or_default()));
    }
    out.line(format_args!("\nschemes/{}.toml\n", preset.name));
    for line in preset.text.lines() {
        out.line(format_args!("    {line}"));
    }
    out.line(format_args!("\nEvery parameter, with what the preset leaves at its default:\n"));
    let table = |key: &str| layer.get(key).cloned().unwrap_or_else(Tree::table);
    parameters(out, &spelled::<HostConfig>("host", &table("host"))?);
    parameters(out, &spelled::<PortConfig>("port", &table("port"))?);
    if let Some(path) = layer.get("path") {
        parameters(out, &spelled::<PathConfig>("path", path)?);
    }
    Ok(())
}

/// Every parameter of a table, the defaults filled in.
fn spelled<T>(path: &str, tree: &Tree) -> Result<Vec<Parameter>, Problem>
where
    T: schemars::JsonSchema + tailcut_sim::config::ConfigTable,
{
    let config: T = tailcut_sim::config::from_tree(tree)?;
    let value = toml::Value::try_from(&config).expect("a configuration is TOML");
    Ok(values(Schema::of::<T>().root(), path, &value))
}

fn workload(out: &mut Page, name: &str) -> Result<(), Problem> {
    let Some(built_in) = tailcut_workload::distribution(name) else {
        let names: Vec<&str> = tailcut_workload::distributions().iter().map(|d| d.name).collect();
        return Err(Problem::new(format!("there is no distribution `{name}`")).help(suggest(name, &names)));
    };
    let distribution = built_in.distribution();
    out.line(format_args!("sizes.distribution = \"{name}\""));
    out.line(format_args!("{}", built_in.summary));
    out.line(format_args!("source: {}\n", built_in.source));
    out.line(format_args!("mean {:.0} B, {:.0} B on the wire", distribution.mean(), distribution.mean_wire()));
    for size in [10e3, 100e3, 1e6, 10e6] {
        out.line(format_args!(
            "up to {:>8} KB: {:5.1} % of flows, {:5.1} % of bytes",
            size / 1e3,
            distribution.cdf(size) * 100.0,
            (1.0 - distribution.bytes_above(size)) * 100.0
        ));
    }
    out.line(format_args!("\n{}", built_in.text.trim_end()));
    Ok(())
}

/// A table of a scenario by its dotted path.
fn table(out: &mut Page, path: &str) -> Result<(), Problem> {
    let schema = Schema::of::<Config>();
    let shape = schema.root().path(path).filter(|shape| !shape.tables().is_empty());
    let Some(shape) = shape else {
        let tables = ["topology", "path", "port", "host", "workload", "workload.traffic.NAME", "run", "record"];
        return Err(Problem::new(format!("a scenario has no table `{path}`")).help(suggest(path, &tables)));
    };
    out.line(format_args!("[{path}]\n"));
    parameters(out, &keys(shape));
    Ok(())
}

fn model(out: &mut Page, seat: &SeatEntry, name: &str) -> Result<(), Problem> {
    let Some(model) = seat.models.iter().find(|model| model.name == name) else {
        let names: Vec<&str> = seat.models.iter().map(|model| model.name.as_str()).collect();
        return Err(Problem::new(format!("there is no {} `{name}`", seat.word)).help(suggest(name, &names)));
    };
    let schema = Schema::of::<Config>();
    let path = format!("{}.{name}", seat.path);
    let shape = schema.root().path(&path).expect("what is registered is in the schema");
    out.line(format_args!("[{path}]\n{}", model.doc));
    let more = shape.type_doc();
    if more != "No parameters." {
        more.lines().for_each(|line| out.line(line));
    }
    out.line("");
    parameters(out, &keys(shape));
    Ok(())
}
