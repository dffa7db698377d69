//! Networks from files: tailcut's own TOML, and those of HPCC, htsim and GraphML.
//!
//! A format is one file here, with a function `parse` from the text to a `Draft`, and a line of [`Format`]. What is
//! wrong in a file is a `Fault` on one of its lines; what a file says and nothing here makes use of is a remark,
//! which is shown with the warnings of the scenario.
//!
//! Left out: links between two hosts, links whose directions differ (`[link]` of a scenario changes one direction), and
//! the writing of these formats.

mod draft;
mod graphml;
mod hpcc;
mod htsim;
mod tailcut;

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::Span;
use tailcut_model::{FileSpot, Files, Invalid, Parameters};

use super::{LinkConfig, plausible};
use crate::network::Network;
use draft::{Defaults, Fault};

/// A network from a file: any switches, hosts with one link or several, links of any rates and delays. Packets take the
/// ways with the fewest links; where links join them whose rates or delays differ, these ways are equal for path
/// choices none the less.
///
/// Hosts are numbered as in the file, from 0. The rack of a host is the switch of its first link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct Config {
    /// The file; relative to the scenario's directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// What a file would say, in place of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// How it is written. If it is not given, it follows from the file's extension: `.toml` is `tailcut`, `.txt` is
    /// `hpcc`, `.topo` is `htsim`, `.graphml` and `.xml` are `graphml`; a `text` is `tailcut`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// Rate and delay of the links of which the file does not say them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<LinkConfig>,
    /// Processing at the switches of which the file does not say it, from the arrival of a packet's last bit until the
    /// packet is queued; none if it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch_delay: Option<Span>,
}

/// How a network is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// TOML: `hosts` is their number; `[[tier]]` has the `name` of a tier and the names of its `switches`, from the
    /// hosts up; `[[link]]` has two `ends`, such as `["host0", "leaf0"]`, `rate` and `delay`. Optional are
    /// `switch_delay`, for all switches or in a tier, `relay = true` for hosts that pass packets on, and `[racks]` with
    /// the switch of the rack of a host with several links, such as `host3 = "leaf1"`.
    Tailcut,
    /// `topology.txt` of HPCC's ns-3 simulator: a line with the numbers of nodes, switches and links, a line with the
    /// switches, then `node node rate delay loss` for each link. Switch 320 is `switch320`; the tiers are `tier1`,
    /// `tier2` and so on, by the number of links to the nearest host. Losses must be 0: `port.loss` has them. As many
    /// links are read as the first line announces. It may have four numbers, `nodes switches tors links` (PowerTCP), or
    /// be that of SimAI, whose NVSwitches are switches here.
    Hpcc,
    /// `.topo` of htsim: a fat-tree of two or three tiers, `tor`, `agg` and `core`, by the radix, speed and latency of
    /// each. Its queue sizes have no effect: `port.limit` has them.
    Htsim,
    /// GraphML, as networkx writes it: nodes with the attribute `kind`, `host` or `switch`, and edges with `rate` and
    /// `delay`. Optional are `tier` and `name` of a switch and `rack` of a host, the id of a switch. Tiers are as those
    /// of `hpcc` where no switch has one.
    Graphml,
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &[
        // Links of different rates side by side, and a host on two switches.
        "text = '''\nhosts = 4\nswitch_delay = \"100ns\"\ntier = [{ name = \"leaf\", switches = [\"a\", \"b\"] }, { name = \"top\", switches = [\"c\"] }]\nlink = [\n{ ends = [\"host0\", \"a\"] }, { ends = [\"host1\", \"a\"] }, { ends = [\"host2\", \"b\"] }, { ends = [\"host3\", \"b\"] }, { ends = [\"a\", \"host3\"] },\n{ ends = [\"a\", \"b\"], rate = \"40Gbps\", delay = \"3us\" }, { ends = [\"a\", \"b\"] }, { ends = [\"a\", \"c\"] }, { ends = [\"c\", \"b\"] }]\nracks = { host3 = \"b\" }\n''', link = { rate = \"10Gbps\", delay = \"1us\" }",
        "format = \"hpcc\", text = \"8 4 8\\n4 5 6 7\\n0 4 10Gbps 1us 0\\n1 4 10Gbps 1us 0\\n2 5 10Gbps 1us 0\\n3 5 10Gbps 1us 0\\n4 6 40Gbps 500ns 0\\n4 7 40Gbps 500ns 0\\n5 6 40Gbps 500ns 0\\n5 7 40Gbps 500ns 0\\n\", switch_delay = \"20ns\"",
        "format = \"htsim\", text = \"Nodes 6\\nTiers 2\\nPodsize 6\\nTier 0\\nDownlink_speed_Gbps 10\\nRadix_Down 2\\nRadix_Up 2\\nDownlink_Latency_ns 1000\\nTier 1\\nDownlink_speed_Gbps 25\\nRadix_Down 3\\nDownlink_Latency_ns 500\\nSwitch_Latency_ns 100\"",
    ];
}

pub(super) fn build(config: &Config, files: &Files) -> Result<Network, Invalid> {
    if let Some(link) = config.link {
        link.check("link")?;
    }
    if let Some(delay) = config.switch_delay {
        plausible("switch_delay", delay)?;
    }
    let (source, format) = match (&config.path, &config.text) {
        (Some(path), None) => (FileText::read(files, path)?, format_of(config.format, path)?),
        (None, Some(text)) => {
            let source = FileText { key: "text", file: PathBuf::from("text"), text: text.clone() };
            (source, config.format.unwrap_or(Format::Tailcut))
        }
        (Some(_), Some(_)) => {
            return Err(Invalid::new("text", "the network is in the file that `path` names")
                .help("expected one of `path` and `text`"));
        }
        (None, None) => {
            return Err(Invalid::new("", "nothing says what the network is").help("expected `path`, or `text`"));
        }
    };
    let defaults = Defaults { link: config.link, switch_delay: config.switch_delay };
    let draft = match format {
        Format::Tailcut => tailcut::parse(&source.text, &defaults),
        Format::Hpcc => hpcc::parse(&source.text, &defaults),
        Format::Htsim => htsim::parse(&source.text, &defaults),
        Format::Graphml => graphml::parse(&source.text, &defaults),
    };
    let draft = draft.map_err(|fault| source.fault(fault))?;
    if config.link.is_some() && !draft.uses_default_link {
        return Err(Invalid::new("link", "the file says rate and delay of every link, so that these have no effect")
            .help("expected no `link`; `[link.\"a--b\"]` of the scenario changes a link"));
    }
    if config.switch_delay.is_some() && !draft.uses_default_delay {
        return Err(Invalid::new(
            "switch_delay",
            "the file says the delay of every switch, so that this has no effect",
        )
        .help("expected no `switch_delay`"));
    }
    draft.check().map_err(|fault| source.fault(fault))?;
    draft.build()
}

/// The format that is given, or that of the file's extension.
fn format_of(given: Option<Format>, path: &Path) -> Result<Format, Invalid> {
    if let Some(format) = given {
        return Ok(format);
    }
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    match extension.to_ascii_lowercase().as_str() {
        "toml" => Ok(Format::Tailcut),
        "txt" => Ok(Format::Hpcc),
        "topo" => Ok(Format::Htsim),
        "graphml" | "xml" => Ok(Format::Graphml),
        _ => Err(Invalid::new("path", format!("the extension of `{}` does not tell its format", path.display()))
            .help("expected `format`: \"tailcut\", \"hpcc\", \"htsim\" or \"graphml\"")),
    }
}

/// A text and where it is from.
struct FileText {
    /// The key that names it.
    key: &'static str,
    file: PathBuf,
    text: String,
}

/// Characters of a line that an error shows.
const SHOWN: usize = 120;

impl FileText {
    fn read(files: &Files, path: &Path) -> Result<FileText, Invalid> {
        let bytes = files.read("path", path)?.to_vec();
        let text = String::from_utf8(bytes).map_err(|_| {
            Invalid::new("path", format!("`{}` is not a text file", path.display()))
                .help("expected ASCII or UTF-8 text; is it compressed or binary?")
        })?;
        Ok(FileText {
            key: "path",
            file: files.folder().join(path),
            text: text.trim_start_matches('\u{feff}').to_owned(),
        })
    }

    /// What is wrong in it, for the user.
    fn fault(&self, fault: Fault) -> Invalid {
        let line = self.text.lines().nth(fault.line.saturating_sub(1)).unwrap_or_default().trim();
        let mut text: String = line.chars().take(SHOWN).collect();
        if text.len() < line.len() {
            text.push_str("...");
        }
        let message = format!("`{}`, line {}: {}", self.file.display(), fault.line, fault.message);
        let spot = FileSpot { file: self.file.clone(), line: fault.line, text };
        let invalid = Invalid::new(self.key, message).at(spot);
        match fault.help {
            Some(help) => invalid.help(help),
            None => invalid,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use tailcut_base::HostId;

    use super::super::TopologyConfig;
    use super::super::tests::link;
    use super::*;

    /// The network that a text describes.
    pub(crate) fn network(format: Format, text: &str) -> Result<Network, Invalid> {
        TopologyConfig::File(config(format, text)).build(&Files::default())
    }

    pub(crate) fn config(format: Format, text: &str) -> Config {
        Config { path: None, text: Some(text.to_owned()), format: Some(format), link: None, switch_delay: None }
    }

    /// Each text is refused on this line, with these words in the message and in the help.
    pub(crate) fn assert_refused(format: Format, cases: &[(&str, usize, &str, &str)]) {
        let mut wrong = Vec::new();
        for (nth, &(text, line, message, help)) in cases.iter().enumerate() {
            let invalid = network(format, text).expect_err(text);
            let found = invalid.spot.as_ref().map(|spot| spot.line);
            let says = |all: &str, part: &str| all.contains(part);
            let help_is = invalid.help.clone().unwrap_or_default();
            if found != Some(line) || !says(&invalid.message, message) || !says(&help_is, help) {
                wrong.push(format!("{nth}: expected line {line}, {message:?}, {help:?}, and not {invalid}"));
            }
            assert_eq!(invalid.path, "file.text");
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    /// The names of all ports, in their order.
    pub(crate) fn names(network: &Network) -> Vec<String> {
        network.ports().ids().map(|port| network.port_name(port).to_string()).collect()
    }

    const PAIR: &str = "hosts = 2\ntier = [{ name = \"leaf\", switches = [\"a\"] }]\n\
                        link = [{ ends = [\"host0\", \"a\"] }, { ends = [\"host1\", \"a\"] }]\n";

    #[test]
    fn files_are_looked_for_beside_the_scenario_and_told_apart_by_their_extension() {
        let folder = std::env::temp_dir().join(format!("tailcut-topology-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let build = |path: &str, format: Option<Format>| {
            let link = Some(link("10Gbps", "1us"));
            let config = Config { path: Some(path.into()), text: None, format, link, switch_delay: None };
            TopologyConfig::File(config).build(&Files::at(&folder))
        };
        std::fs::write(folder.join("pair.toml"), PAIR).unwrap();
        std::fs::write(folder.join("pair.net"), format!("\u{feff}{PAIR}")).unwrap();
        std::fs::write(folder.join("bad.toml"), "hosts = 2\nlinks = 3\n").unwrap();
        std::fs::write(folder.join("binary.toml"), [0x1f, 0x8b, 0xff]).unwrap();
        assert_eq!(build("pair.toml", None).unwrap().hosts(), 2);
        assert_eq!(build("pair.net", Some(Format::Tailcut)).unwrap().hosts(), 2);
        for (path, message, help) in [
            ("pair.net", "does not tell its format", "`format`"),
            ("none.toml", "there is no such file", "directory of the scenario"),
            ("binary.toml", "is not a text file", "compressed"),
            ("bad.toml", "line 2: unknown field `links`", ""),
        ] {
            let invalid = build(path, None).unwrap_err();
            assert_eq!(invalid.path, "file.path");
            assert!(invalid.message.contains(message), "{invalid}");
            assert!(invalid.help.clone().unwrap_or_default().contains(help), "{invalid}");
        }
        let spot = build("bad.toml", None).unwrap_err().spot.unwrap();
        assert_eq!((spot.file, spot.line, spot.text.as_str()), (folder.join("bad.toml"), 2, "links = 3"));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_has_no_effect_or_is_missing_is_refused_at_its_key() {
        let some = Some(link("10Gbps", "1us"));
        let pair = config(Format::Tailcut, PAIR);
        let full =
            config(Format::Tailcut, &PAIR.replace("\", \"a\"] }", "\", \"a\"], rate = \"1Gbps\", delay = \"1us\" }"));
        let delayed = config(Format::Tailcut, &format!("switch_delay = \"1us\"\n{PAIR}"));
        for (config, path) in [
            (Config { text: None, ..pair.clone() }, "file"),
            (Config { path: Some("a.toml".into()), ..pair.clone() }, "file.text"),
            (Config { link: some, ..full.clone() }, "file.link"),
            (Config { link: some, switch_delay: Some(Span::ZERO), ..delayed }, "file.switch_delay"),
            (Config { link: Some(link("1Gbps", "2s")), ..pair.clone() }, "file.link.delay"),
            (Config { switch_delay: Some(Span::from_ms(2_000)), ..full.clone() }, "file.switch_delay"),
        ] {
            let invalid = TopologyConfig::File(config).build(&Files::default()).unwrap_err();
            assert_eq!(invalid.path, path, "{invalid}");
            assert!(invalid.help.is_some(), "{invalid}");
        }
        let config = Config { link: some, switch_delay: Some(Span::from_us(3)), ..pair };
        let network = TopologyConfig::File(config).build(&Files::default()).unwrap();
        // Two links of 1 us and 1.2 us, and the switch between them.
        assert_eq!(network.rtt(HostId(0), HostId(1)), "12.464us".parse().unwrap());
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_a_reader_panic(text in "[ -~\n]{0,200}") {
            for format in [Format::Tailcut, Format::Hpcc, Format::Htsim, Format::Graphml] {
                let _ = network(format, &text);
            }
        }
    }
}
