//! `tailcut show`.

use tailcut_sim::config::suggest;
use tailcut_sim::seats::{HostConfig, PathConfig, PortConfig};
use tailcut_sim::{Config, Node, Preset, Problem};
use tailcut_topology::TopologyConfig;

use crate::describe::{Parameter, Schema, parameters};
use crate::list::SEATS;
use crate::page::Page;

pub(crate) fn show(kind: &str, name: &str) -> Result<(), Problem> {
    let mut out = Page::default();
    match kind {
        "scheme" => scheme(&mut out, name)?,
        "topology" => topology(&mut out, name)?,
        "workload" => workload(&mut out, name)?,
        "table" => table(&mut out, name)?,
        _ => match SEATS.iter().find(|seat| seat.name == kind || seat.singular() == kind) {
            Some(seat) => model(&mut out, &(seat.schema)(), seat.key, name)?,
            None => {
                let mut known = vec!["scheme", "topology", "workload", "table"];
                known.extend(SEATS.iter().map(|seat| seat.singular()));
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
    let table = |key: &str| layer.get(key).cloned().unwrap_or_else(Node::table);
    parameters(out, &spelled::<HostConfig>("host", &table("host"))?);
    parameters(out, &spelled::<PortConfig>("port", &table("port"))?);
    if let Some(path) = layer.get("path") {
        parameters(out, &spelled::<PathConfig>("path", path)?);
    }
    Ok(())
}

/// Every parameter of a table, the defaults filled in.
fn spelled<T>(path: &str, node: &Node) -> Result<Vec<Parameter>, Problem>
where
    T: schemars::JsonSchema + tailcut_sim::config::Table,
{
    let config: T = tailcut_sim::config::from_node(node)?;
    let value = toml::Value::try_from(&config).expect("a configuration is TOML");
    Ok(Schema::of::<T>().parameters(path, &value))
}

fn topology(out: &mut Page, name: &str) -> Result<(), Problem> {
    let Some(kind) = TopologyConfig::KINDS.iter().find(|kind| kind.name == name) else {
        let names: Vec<&str> = TopologyConfig::KINDS.iter().map(|kind| kind.name).collect();
        return Err(Problem::new(format!("there is no topology `{name}`")).help(suggest(name, &names)));
    };
    out.line(format_args!("[topology.{name}]"));
    for line in kind.doc {
        out.line(format_args!("{}", line.trim()));
    }
    out.line("");
    parameters(out, &Schema::from_value((kind.schema)().to_value()).keys());
    Ok(())
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
    let Some(keys) = schema.keys_at(path) else {
        let tables = ["topology", "path", "port", "host", "workload", "workload.traffic.NAME", "run", "record"];
        return Err(Problem::new(format!("a scenario has no table `{path}`")).help(suggest(path, &tables)));
    };
    out.line(format_args!("[{path}]\n"));
    parameters(out, &keys);
    Ok(())
}

fn model(out: &mut Page, seat: &Schema, key: &str, name: &str) -> Result<(), Problem> {
    let variants = seat.variants();
    let Some((_, doc)) = variants.iter().find(|(variant, _)| variant == name) else {
        let names: Vec<&str> = variants.iter().map(|(variant, _)| variant.as_str()).collect();
        return Err(Problem::new(format!("there is no `{name}` for {key}")).help(suggest(name, &names)));
    };
    out.line(format_args!("{key}.{name}\n{doc}\n"));
    parameters(out, &seat.keys_of(name));
    Ok(())
}
