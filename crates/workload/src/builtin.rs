//! The size distributions that ship with tailcut, each with the public source that it was taken from.

use crate::distribution::Distribution;
use crate::size_table::TableFormat;
use tailcut_model::suggest;

/// A size distribution that ships with tailcut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltIn {
    /// Its name in `sizes.distribution`.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Where it was published.
    pub source: &'static str,
    /// The file, in tailcut's own format, with its provenance in the comments.
    pub text: &'static str,
}

macro_rules! built_in {
    ($($name:literal: $summary:literal, $source:literal;)*) => {
        &[$(BuiltIn {
            name: $name,
            summary: $summary,
            source: $source,
            text: include_str!(concat!("../../../data/distributions/", $name, ".cdf")),
        }),*]
    };
}

const BUILT_IN: &[BuiltIn] = built_in! {
    "websearch": "web search, in packets of 1460 B as in the ns-2 scripts",
        "Alizadeh et al., DCTCP, SIGCOMM 2010; HKUST-SING/PIAS-NS2 scripts/CDF_dctcp.tcl";
    "websearch_bytes": "web search, rounded to bytes as in the ns-3 scripts",
        "Alizadeh et al., DCTCP, SIGCOMM 2010; alibaba-edu/High-Precision-Congestion-Control traffic_gen";
    "datamining": "data mining, in packets of 1460 B as in the ns-2 scripts",
        "Greenberg et al., VL2, SIGCOMM 2009; HKUST-SING/PIAS-NS2 scripts/CDF_vl2.tcl";
    "hybrid": "web search and data mining with equal bytes: the marginal over flows",
        "Xie et al., SPQ, Computer Networks 2018; HKUST-SING/PIAS-NS2 spine_empirical_heter.tcl";
    "heavy": "40 % of the flows below 100 KB; a table of a bounded Pareto",
        "Abbasloo, Xu, Chao, HyLine, Fig. 4b; range and shape chosen for tailcut";
    "light": "97 % of the flows below 100 KB; a table of a bounded Pareto",
        "Abbasloo, Xu, Chao, HyLine, Fig. 4b; range and shape chosen for tailcut";
    "facebook_hadoop": "a Hadoop cluster of Facebook",
        "Roy et al., SIGCOMM 2015; alibaba-edu/High-Precision-Congestion-Control traffic_gen";
    "slytherin_short": "Slytherin and ICON, short flows: uniform 8 to 32 KB",
        "Rezaei, Malekpourshahraki, Vamanan, Slytherin, ICCCN 2018, section IV";
    "slytherin_short_code": "Slytherin and ICON, short flows as the public scripts draw them",
        "hrezae2/IWQoS18, hrezae2/ICON";
    "slytherin_long": "Slytherin, ICON and ResQueue, long flows: 1 MB",
        "Rezaei, Malekpourshahraki, Vamanan, Slytherin, ICCCN 2018, section IV";
    "resqueue_short": "ResQueue, short flows: 1 to 6 KB, 80 % of 1 KB",
        "Rezaei, PhD thesis, UIC 2021, section 4.3.1; the tail is chosen for tailcut";
    "superways_short": "Superways, short flows: 1 to 10 KB, 70 % of 1 KB",
        "Rezaei, PhD thesis, UIC 2021, section 4.4.2; the tail is chosen for tailcut";
    "superways_short_code": "Superways, short flows as the public script draws them",
        "hrezae2/Superways-WWW-21";
    "superways_long": "Superways, long flows: 100 KB to 10 MB, half at most 1 MB",
        "Rezaei, PhD thesis, UIC 2021, section 4.4.2; log-uniform is chosen for tailcut";
    "superways_long_code": "Superways, long flows as the public script draws them",
        "hrezae2/Superways-WWW-21";
    "smartbuf_short": "Smartbuf, short flows: uniform 1 to 32 KB",
        "Rezaei, PhD thesis, UIC 2021, section 4.5.1; uniform is chosen for tailcut";
    "smartbuf_long": "Smartbuf, long flows: uniform 1 to 10 MB",
        "Rezaei, PhD thesis, UIC 2021, section 4.5.1; uniform is chosen for tailcut";
    "pdq_query": "PDQ, query aggregation: uniform 2 to 198 KB",
        "Hong, Caesar, Godfrey, PDQ, SIGCOMM 2012; range not checked against the paper";
};

/// The size distributions that ship with tailcut.
pub fn distributions() -> &'static [BuiltIn] {
    BUILT_IN
}

/// The size distribution of this name that ships with tailcut.
pub fn distribution(name: &str) -> Option<&'static BuiltIn> {
    BUILT_IN.iter().find(|built_in| built_in.name == name)
}

impl BuiltIn {
    /// The distribution itself.
    pub fn distribution(&self) -> Distribution {
        Distribution::parse(self.text.as_bytes(), TableFormat::Tailcut, None)
            .expect("a distribution that ships is right")
    }
}

/// What to say when no distribution has this name: the nearest, and all.
pub(crate) fn unknown_help(name: &str) -> String {
    let names: Vec<&str> = BUILT_IN.iter().map(|built_in| built_in.name).collect();
    format!("{}; for a file of your own write sizes.file = {{ path = \"...\" }}", suggest(name, &names))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean, F(100 KB), F(1 MB) and the fraction of bytes in flows above 1 MB; `None` where none of them is.
    type Row = (&'static str, f64, f64, f64, Option<f64>);

    const STATISTICS: &[Row] = &[
        ("websearch", 1_665_831.0, 0.5436, 0.7027, Some(0.948)),
        ("websearch_bytes", 1_711_250.0, 0.5417, 0.7000, Some(0.950)),
        ("datamining", 7_470_236.0, 0.8237, 0.9114, Some(0.996)),
        ("hybrid", 2_721_703.0, 0.5945, 0.7407, Some(0.972)),
        ("heavy", 2_446_808.0, 0.4000, 0.6965, Some(0.949)),
        ("light", 34_792.0, 0.9700, 0.9951, Some(0.611)),
        ("facebook_hadoop", 120_421.0, 0.885, 0.975, Some(0.685)),
        ("slytherin_short", 20_000.0, 1.0, 1.0, Some(0.0)),
        ("slytherin_short_code", 19_564.0, 1.0, 1.0, Some(0.0)),
        ("slytherin_long", 1_000_000.0, 0.0, 1.0, Some(0.0)),
        ("resqueue_short", 1_500.0, 1.0, 1.0, Some(0.0)),
        ("superways_short", 2_350.0, 1.0, 1.0, Some(0.0)),
        ("superways_short_code", 3_190.0, 1.0, 1.0, Some(0.0)),
        ("superways_long", 2_156_350.0, 0.0, 0.5, Some(0.91)),
        ("superways_long_code", 3_225_321.0, 0.0, 0.51, Some(0.98)),
        ("smartbuf_short", 16_500.0, 1.0, 1.0, Some(0.0)),
        ("smartbuf_long", 5_500_000.0, 0.0, 0.0, Some(1.0)),
        ("pdq_query", 100_000.0, 0.5, 1.0, Some(0.0)),
    ];

    #[test]
    fn every_distribution_has_its_published_statistics() {
        let tested: Vec<&str> = STATISTICS.iter().map(|row| row.0).collect();
        let shipped: Vec<&str> = distributions().iter().map(|built_in| built_in.name).collect();
        assert_eq!(shipped.iter().collect::<std::collections::BTreeSet<_>>(), tested.iter().collect());
        for &(name, mean, below_100k, below_1m, above_1m) in STATISTICS {
            let d = distribution(name).unwrap().distribution();
            assert!((d.mean() - mean).abs() <= 0.5 + 1e-6 * mean, "{name}: mean {}", d.mean());
            assert!((d.cdf(100e3) - below_100k).abs() < 6e-4, "{name}: F(100 KB) = {}", d.cdf(100e3));
            assert!((d.cdf(1e6) - below_1m).abs() < 6e-4, "{name}: F(1 MB) = {}", d.cdf(1e6));
            if let Some(above) = above_1m {
                assert!((d.bytes_above(1e6) - above).abs() < 6e-3, "{name}: {}", d.bytes_above(1e6));
            }
        }
    }

    #[test]
    fn descriptions_of_the_papers_hold() {
        let web = distribution("websearch").unwrap().distribution();
        let mining = distribution("datamining").unwrap().distribution();
        // Data mining: 95 % of the bytes in the 3.6 % of the flows above 35 MB.
        assert!((mining.bytes_above(35e6) - 0.951).abs() < 1e-3, "{}", mining.bytes_above(35e6));
        assert!((1.0 - mining.cdf(35e6) - 0.0365).abs() < 1e-4, "{}", mining.cdf(35e6));
        assert!((mining.cdf(250e3) - 0.863).abs() < 1e-3);
        assert!(web.cdf(1e6) > 0.70);
        // The nominal means of the ns-2 scripts, in packets, are close but not these.
        assert!((1138.0 * 1460.0 / web.mean() - 0.9974).abs() < 1e-4);
    }

    #[test]
    fn the_tables_of_heavy_and_light_sample_their_exact_forms() {
        for (name, min, shape, mean, below_100k) in
            [("heavy", 10_000, 0.13008, 2_444_516.0, 0.4), ("light", 1_000, 0.75864, 34_712.0, 0.97)]
        {
            let table = distribution(name).unwrap().distribution();
            let exact = Distribution::pareto(min, 30_000_000, shape);
            assert!((exact.mean() / mean - 1.0).abs() < 1e-5, "{name}: {}", exact.mean());
            assert!((exact.cdf(100e3) - below_100k).abs() < 1e-5, "{name}: {}", exact.cdf(100e3));
            for (size, p) in table.knots().unwrap() {
                // The table's sizes are rounded to bytes.
                let (low, high) = (exact.cdf(size - 0.5) - 1e-6, exact.cdf(size + 0.5) + 1e-6);
                assert!((low..=high).contains(&p), "{name} at {size}: {p}");
            }
        }
    }

    #[test]
    fn the_hybrid_marginal_mixes_the_two_with_equal_bytes() {
        let [web, mining, hybrid] =
            ["websearch", "datamining", "hybrid"].map(|n| distribution(n).unwrap().distribution());
        let web_share = mining.mean() / (web.mean() + mining.mean());
        // The table was made with the scripts' nominal means, which give 0.818066.
        assert!((web_share - 0.818066).abs() < 5e-4, "{web_share}");
        for size in [1460.0, 8760.0, 30e3, 77_380.0, 389_820.0, 3e6, 29.2e6] {
            let mixed = web_share * web.cdf(size) + (1.0 - web_share) * mining.cdf(size);
            assert!((hybrid.cdf(size) - mixed).abs() < 5e-4, "{size}: {mixed} {}", hybrid.cdf(size));
        }
    }

    #[test]
    fn wire_bytes_differ_from_full_packets_as_documented() {
        let full_packets = |d: &Distribution| d.mean() * 1500.0 / 1460.0;
        let web = distribution("websearch").unwrap().distribution();
        assert!((web.mean_wire() / full_packets(&web) - 1.0).abs() < 2e-5);
        let small = Distribution::fixed(1000);
        assert_eq!(small.mean_wire(), 1040.0);
        assert!((small.mean_wire() / full_packets(&small) - 1.012).abs() < 1e-3);
    }

    #[test]
    fn every_file_names_its_source() {
        for built_in in distributions() {
            assert!(built_in.text.starts_with("# "), "{}", built_in.name);
            assert!(built_in.text.contains("\n# Source: "), "{}", built_in.name);
        }
    }

    #[test]
    fn the_nearest_name_is_suggested() {
        assert!(unknown_help("web-search").starts_with("did you mean `websearch`?"));
        assert!(unknown_help("DataMinning").starts_with("did you mean `datamining`?"));
        let help = unknown_help("xyz");
        assert!(help.starts_with("expected one of `websearch`,") && help.contains("pdq_query"), "{help}");
    }
}
