//! Whole run folders, from fabricated points to files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use tailcut_base::{Instant, Span};
use tailcut_fixtures::{FakeRun, USUAL, add_files, fabricate, run_info};
use tailcut_record::{QueuePoint, ThroughputBin, read_flows, write_queue_series, write_throughput};
use tailcut_report::{Annotations, RatiosToBaseline, SchemeRatio, WrittenResults, write_results};
use tailcut_results::{Analysis, Measurement, Measurements, ResultFiles, Row, RunInfo, SchemeDifferences, table};

/// A run folder with results. With `TAILCUT_KEEP` in the environment it is made there and stays, for a human to look
/// at.
struct Made {
    dir: PathBuf,
    run: RunInfo,
    summary: WrittenResults,
    _folder: Option<tempfile::TempDir>,
}

fn folder(name: &str) -> (PathBuf, Option<tempfile::TempDir>) {
    match std::env::var_os("TAILCUT_KEEP") {
        Some(place) => (Path::new(&place).join(name), None),
        None => {
            let folder = tempfile::tempdir().unwrap();
            (folder.path().to_owned(), Some(folder))
        }
    }
}

/// Writes the results of a run.
fn written(dir: &Path, run: &RunInfo) -> WrittenResults {
    annotated(dir, run, &Annotations::default())
}

fn annotated(dir: &Path, run: &RunInfo, annotations: &Annotations) -> WrittenResults {
    let analysis = Analysis::of(dir, run, &|| false).unwrap();
    write_results(dir, run, analysis, annotations, &|| false).unwrap()
}

fn make(name: &str, plan: &FakeRun) -> Made {
    let (dir, folder) = folder(name);
    let run = fabricate(&dir, plan);
    let summary = written(&dir, &run);
    Made { dir, run, summary, _folder: folder }
}

impl Made {
    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.dir.join(name)).unwrap()
    }

    fn plots(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.dir.join("plots"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort_unstable();
        names
    }

    fn value(&self, scheme: &str, load: &str, class: &str, metric: &str) -> &Row {
        self.summary
            .rows
            .iter()
            .find(|row| row.scheme == scheme && row.values == [load] && row.class == class && row.metric == metric)
            .unwrap()
    }
}

#[test]
fn a_run_leaves_statistics_tables_plots_and_a_page() {
    let made = make("usual", &USUAL);
    let csv = made.text("summary.csv");
    assert_eq!(csv.lines().next(), Some("scheme,workload.load,class,metric,value,low,high,n,unit,note"));
    assert_eq!(csv.lines().count(), 1 + made.summary.rows.len());
    for class in ["short", "incast", "long", "short+incast", "all"] {
        assert!(made.text(&format!("tables/{class}.txt")).starts_with(class));
    }
    let plots = made.plots();
    for name in
        ["fct_p99_short", "fct_p99_short+incast", "goodput_mean_long", "fct_cdf_long_load-0.9", "queue_cdf_load-0.3"]
    {
        for ending in ["svg", "png"] {
            assert!(plots.contains(&format!("{name}.{ending}")), "{name}.{ending} of {plots:?}");
        }
    }
    assert!(made.summary.files.iter().all(|file| file.exists()));
    let saved = RunInfo::read(&made.dir).unwrap();
    let listed: BTreeSet<_> = saved.results.keys().map(|name| made.dir.join(name)).collect();
    let written = made.summary.files.iter().filter(|file| !file.ends_with("run.json")).cloned().collect();
    assert_eq!(listed, written, "what may be removed later is what was written");
    assert_eq!(RunInfo { results: ResultFiles::new(), ..saved }, made.run);
    assert!(made.summary.missing.is_empty());
}

/// The statistics of one class at one point, computed once more from the files in the plainest way.
#[test]
fn statistics_agree_with_the_files() {
    let made = make("agree", &USUAL);
    let mut fcts = Vec::new();
    let (mut sum, mut packets, mut marks) = (0.0, 0, 0);
    for seed in 1..=2 {
        let file = read_flows(&made.dir.join(format!("points/dctcp-0.6-{seed}/flows.parquet"))).unwrap();
        for row in file.rows.rows().filter(|row| row.measured && file.classes[usize::from(row.class)] == "short") {
            let fct = row.fct().unwrap().as_ns_f64() / 1e3;
            fcts.push(fct);
            sum += 8.0 * row.size as f64 / (fct * 1e3);
            packets += row.packets - row.drops;
            marks += row.ce_marks;
        }
    }
    fcts.sort_by(f64::total_cmp);
    let value = |metric| made.value("dctcp", "0.6", "short", metric).value.unwrap();
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs();
    assert_eq!(fcts.len(), 3510);
    assert!(close(value("fct_p99"), fcts[3475 - 1]), "the 3475th of 3510 is the 99th percentile");
    assert!(close(value("fct_mean"), fcts.iter().sum::<f64>() / 3510.0));
    assert!(close(value("goodput_mean"), sum / 3510.0));
    assert!(close(value("marked_share"), marks as f64 / packets as f64));
    let p99 = made.value("dctcp", "0.6", "short", "fct_p99");
    assert!(p99.low.unwrap() < value("fct_p99") && value("fct_p99") < p99.high.unwrap());
    assert_eq!((p99.n, p99.unit, p99.note.as_deref()), (3510, "us", None));
    let p999 = made.value("dctcp", "0.6", "short", "fct_p999");
    assert_eq!((p999.low, p999.high), (None, None));
    assert!(p999.note.as_deref().unwrap().contains("it needs 10000"));
}

#[test]
fn the_same_points_give_the_same_bytes() {
    let made = make("twice", &FakeRun { flows: 400, seeds: 1, ..USUAL });
    let read = || -> Vec<Vec<u8>> { made.summary.files.iter().map(|file| fs::read(file).unwrap()).collect() };
    let first = read();
    written(&made.dir, &made.run);
    for (file, (first, second)) in made.summary.files.iter().zip(first.iter().zip(read())) {
        assert!(*first == second, "{}", file.display());
    }
}

#[test]
fn failed_points_are_listed_and_do_not_stop_the_others() {
    let (dir, _folder) = folder("failed");
    let run = fabricate(&dir, &FakeRun { flows: 400, ..USUAL });
    let point = |key: &str| dir.join("points").join(key);
    fs::remove_file(point("pias-0.6-1").join("summary.json")).unwrap();
    fs::write(point("pias-0.6-1").join("error.txt"), "the buffer <overflowed>\nat a place\n").unwrap();
    fs::remove_file(point("icon-0.9-1").join("summary.json")).unwrap();
    fs::write(point("icon-0.9-2").join("flows.parquet"), "no more").unwrap();
    let summary = written(&dir, &run);
    let missing: Vec<(&str, &str)> =
        summary.missing.iter().map(|missing| (missing.point.key.as_str(), missing.reason.as_str())).collect();
    assert_eq!(missing[..2], [("pias-0.6-1", "the buffer <overflowed>"), ("icon-0.9-1", "it has not finished")]);
    assert!(missing[2].0 == "icon-0.9-2" && missing[2].1.contains("flows.parquet"), "{missing:?}");
    assert_eq!(summary.warnings[0], "3 of 24 points have no results");
    let page = fs::read_to_string(dir.join("report.html")).unwrap();
    assert!(page.contains("the buffer &#60;overflowed&#62;") && page.contains("21 of 24 points"));
    // Of pias at a load of 0.6 one seed is left, so that it has rows; of icon at 0.9 no seed is left.
    let rows = |scheme: &str, load: &str| {
        summary
            .rows
            .iter()
            .filter(|row| row.scheme == scheme && row.values == [load] && row.metric == "fct_mean")
            .count()
    };
    assert_eq!((rows("pias", "0.6"), rows("icon", "0.9"), rows("icon", "0.6")), (5, 0, 5));
}

#[test]
fn a_run_of_which_nothing_finished_has_a_page_that_says_so() {
    let (dir, _folder) = folder("nothing");
    let run = run_info(&USUAL);
    let summary = written(&dir, &run);
    assert_eq!((summary.rows.len(), summary.tables.len(), summary.missing.len()), (0, 0, 24));
    assert!(fs::read_to_string(dir.join("report.html")).unwrap().contains("0 of 24 points"));
}

#[test]
fn the_page_needs_no_network_and_hides_no_script_in_a_text() {
    let page = make("page", &FakeRun { flows: 400, ..USUAL }).text("report.html");
    for reference in ["href=\"http", "src=\"http", "src=\"//", "@import", "url(", "fetch(", "XMLHttpRequest"] {
        assert!(!page.contains(reference), "{reference}");
    }
    // A picture beside the page is asked for where there are no scripts, and by nothing else.
    let (before, rest) = page.split_once("<noscript>").unwrap();
    let (_, after) = rest.split_once("</noscript>").unwrap();
    assert!(!before.contains("src=\"") && !after.contains("src=\""));
    assert!(page.contains("load = 0.6 # &#60;/script&#62; is not the end"));
    assert_eq!(page.matches("</script>").count(), 3);
    let (_, data) = page.split_once("id=\"data\">").unwrap();
    let data: serde_json::Value = serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap();
    assert_eq!(data["axes"][0]["numbers"], serde_json::json!([0.3, 0.6, 0.9]));
    assert_eq!(data["groups"].as_array().unwrap().len(), 12);
    // Every distribution ends at a share of 1: all flows are at or below the last x.
    for curve in data["fct"].as_array().unwrap() {
        for scheme in curve["y"].as_array().unwrap() {
            assert_eq!(scheme.as_array().unwrap().last(), Some(&serde_json::json!(1)));
        }
    }
}

#[test]
fn tables_fit_120_columns_whatever_is_swept() {
    let plan = FakeRun {
        schemes: &["slytherin", "a-scheme-with-a-rather-long-name"],
        axes: &[("workload.load", &["0.9"]), ("fabric.port.buffer", &["240KB"]), ("host.window", &["1MB", "2MB"])],
        seeds: 2,
        flows: 1_500,
        classes: USUAL.classes,
    };
    let made = make("wide", &plan);
    for table in &made.summary.tables {
        let widest = table.text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= table::WIDTH, "{widest}:\n{}", table.text);
        assert!(table.text.contains("FCT p99"), "the most important statistic stays:\n{}", table.text);
        assert!(table.csv.lines().next().unwrap().contains("fct_p999_high"), "the file has all of them");
    }
}

#[test]
fn pictures_follow_the_axes() {
    let schemes = make("no-axis", &FakeRun { axes: &[], seeds: 5, flows: 800, ..USUAL });
    assert!(schemes.plots().contains(&"fct_p99_short.svg".to_owned()));
    assert!(schemes.text("plots/fct_p99_short.svg").contains("slytherin"), "schemes are on the axis");
    let axes: &[(&str, &[&str])] = &[("fabric.path", &["ecmp", "spray"]), ("fabric.buffer", &["100KB", "1MB"])];
    let two = make("two-axes", &FakeRun { axes, flows: 400, ..USUAL });
    // The swept parameter whose values are numbers is the x axis. The other one, whose values are names, has a figure
    // for each of its values, with the value in the name of the file.
    assert!(two.plots().contains(&"fct_p99_short_path-spray.svg".to_owned()), "{:?}", two.plots());
    assert!(two.text("plots/fct_p99_short_path-spray.svg").contains("fabric buffer, KB"));
    assert!(two.plots().contains(&"queue_cdf_path-ecmp_buffer-1MB.png".to_owned()));
    let names = make("names", &FakeRun { axes: &axes[..1], flows: 400, classes: &["flows"], ..USUAL });
    assert!(names.plots().contains(&"fct_p99_flows.svg".to_owned()), "{:?}", names.plots());
}

#[test]
fn many_schemes_and_one_seed_are_warned_about_and_drawn() {
    let plan = FakeRun {
        schemes: &["slytherin", "pias", "dctcp", "icon", "pfabric", "homa", "resqueue", "spq", "hyline"],
        seeds: 1,
        flows: 600,
        ..USUAL
    };
    let made = make("many", &plan);
    assert!(made.summary.warnings[0].starts_with("one seed"), "{:?}", made.summary.warnings);
    let svg = made.text("plots/fct_p99_short.svg");
    assert!(plan.schemes.iter().all(|scheme| svg.contains(scheme)));
}

const SMALL: FakeRun = FakeRun { flows: 400, seeds: 3, schemes: &["pias", "dctcp"], ..USUAL };

#[test]
fn what_a_seed_contributes_is_what_is_missing_in_a_run_without_it() {
    let folder = tempfile::tempdir().unwrap();
    let run = fabricate(folder.path(), &SMALL);
    let all = Measurements::read(folder.path(), &run, &|| false).unwrap();
    let points = run.points.iter().filter(|point| point.seed != 2).cloned().collect();
    let others = Measurements::read(folder.path(), &RunInfo { seeds: vec![1, 3], points, ..run }, &|| false).unwrap();
    let values = ["0.6".to_owned()];
    let metrics = all.metrics("dctcp", &values, "short");
    assert!(metrics.len() > 15, "{metrics:?}");
    let mut compared = 0;
    for metric in metrics {
        let whole = all.get("dctcp", &values, "short", metric).unwrap();
        assert_eq!(whole.by_seed.iter().map(|seed| seed.0).collect::<Vec<_>>(), [1, 2, 3]);
        let Some(own) = whole.by_seed[1].1 else { continue };
        let without = others.get("dctcp", &values, "short", metric).unwrap().pooled.value;
        // The share of multiply marked packets is of flows above the percentile of all seeds.
        if metric != "multi_marked_share" {
            let pseudo = 3.0 * whole.pooled.value - 2.0 * without;
            assert!((own - pseudo).abs() <= 1e-9 * whole.pooled.value.abs().max(1e-9), "{metric}: {own} {pseudo}");
            compared += 1;
        }
    }
    assert!(compared > 15);
}

#[test]
fn over_all_seeds_they_are_those_of_the_summary() {
    let folder = tempfile::tempdir().unwrap();
    let run = fabricate(folder.path(), &SMALL);
    std::fs::remove_file(folder.path().join("points/pias-0.6-1/summary.json")).unwrap();
    let read = Measurements::read(folder.path(), &run, &|| false).unwrap();
    let summary = written(folder.path(), &run);
    assert_eq!(read, summary.measurements, "of one pass or of another");
    assert_eq!(read.missing(), summary.missing);
    assert_eq!(read.values_of("pias"), [["0.3"], ["0.6"], ["0.9"]]);
    for row in &summary.rows {
        let measured = read.get(&row.scheme, &row.values, &row.class, &row.metric);
        assert_eq!(measured.map(|measured| measured.pooled.value), row.value, "{row:?}");
        let interval = measured.and_then(|measured| measured.pooled.interval);
        assert_eq!(interval.map(|interval| (interval.low, interval.high)), row.low.zip(row.high));
    }
    let drops = |seeds: &Measurement| seeds.by_seed.iter().map(|seed| seed.0).collect::<Vec<_>>();
    assert_eq!(drops(read.get("pias", &["0.6".to_owned()], "all", "drops").unwrap()), [2, 3]);
}

/// What the page says of ratios, notes and differences comes from outside, and texts of users cannot break the page.
#[test]
fn ratios_notes_and_differences_stand_below_the_tables() {
    let (dir, _folder) = folder("annotated");
    let run = fabricate(&dir, &SMALL);
    let ratio = |load: &str, ratio, interval| SchemeRatio {
        scheme: "dctcp".to_owned(),
        values: vec![load.to_owned()],
        class: "short".to_owned(),
        metric: "fct_p99".to_owned(),
        ratio,
        interval: Some(interval),
        paired: true,
        seeds: 3,
    };
    let ratios = vec![ratio("0.3", 0.63, (0.57, 0.69)), ratio("0.6", 1.02, (0.2, 9.0))];
    let annotations = Annotations {
        ratios: Some(RatiosToBaseline { baseline: "pias".to_owned(), ratios }),
        differences: vec![SchemeDifferences {
            scheme: "dctcp".to_owned(),
            from: "its preset".to_owned(),
            differences: vec!["`port.limit` is 240KB instead of <4MB>".to_owned()],
        }],
        notes: vec!["`tcp` and `dctcp` are the same at every point".to_owned()],
    };
    annotated(&dir, &run, &annotations);
    let page = fs::read_to_string(dir.join("report.html")).unwrap();
    let below = page.split_once("Headline statistics").unwrap().1;
    assert!(below.contains("<b>dctcp</b> differs from its preset:"));
    assert!(below.contains("<dd>`port.limit` is 240KB instead of &#60;4MB&#62;</dd>"));
    assert!(below.contains("<li>`tcp` and `dctcp` are the same at every point</li>"));
    assert!(below.contains("short flows over <b>pias</b>"));
    // Three seeds of a few hundred flows are too few for a 99th percentile, so that it is marked.
    let cell =
        "<td class=\"number lower\" data-value=\"0.63\">0.63 † <span class=\"interval\">[0.57, 0.69]</span></td>";
    assert!(below.contains(cell), "{cell}");
    let svg = fs::read_to_string(dir.join("plots/ratio_fct_p99_short.svg")).unwrap();
    assert!(svg.contains("ratio to pias"));
    // Nothing of it is there if there is nothing to say.
    written(&dir, &run);
    let page = fs::read_to_string(dir.join("report.html")).unwrap();
    for id in ["id=\"notes\"", "id=\"differences\"", "class=\"data ratios\"", "id=\"ratio-chart\""] {
        assert!(!page.contains(id), "{id}");
    }
}

#[test]
fn axes_are_said_in_words_and_every_file_is_linked() {
    let made = make("words", &SMALL);
    let svg = made.text("plots/fct_p99_short.svg");
    assert!(svg.contains("99th percentile of FCT of short flows, µs") && svg.contains(">load</text>"), "{svg}");
    let page = made.text("report.html");
    let mut links = vec!["summary.csv".to_owned(), "run.json".to_owned(), "scenario.toml".to_owned()];
    for point in &made.run.points {
        for file in ["flows.parquet", "ports.parquet", "queues.parquet", "queries.parquet", "summary.json"] {
            links.push(format!("points/{}/{file}", point.key));
        }
    }
    links.extend(made.plots().iter().map(|name| format!("plots/{}", name.replace('+', "%2B"))));
    links.extend(["tables/short.csv", "tables/all.txt"].map(str::to_owned));
    for link in links {
        assert!(page.contains(&format!("href=\"{link}\"")), "{link}");
    }
}

#[test]
fn a_sweep_over_two_axes_has_a_heat_map_for_each_scheme() {
    let axes: &[(&str, &[&str])] = &[("workload.load", &["0.3", "0.6"]), ("port.limit", &["100KB", "1MB", "4MB"])];
    let made = make("heat", &FakeRun { axes, ..SMALL });
    let svg = made.text("plots/heat_fct_p99_short_dctcp.svg");
    assert!(svg.contains("port limit") && svg.contains("4MB") && svg.contains("dctcp"), "{svg}");
    assert!(made.plots().contains(&"heat_fct_p99_short_pias.png".to_owned()));
    assert!(made.text("report.html").contains("id=\"heat-chart\""));
    assert!(!make("no-heat", &SMALL).text("report.html").contains("id=\"heat-chart\""));
}

/// What the scenario records over time is drawn; what it does not record has no chart and no picture.
#[test]
fn queues_and_throughput_over_time_are_drawn_where_they_are_recorded() {
    let (dir, _folder) = folder("recorded");
    let run = fabricate(&dir, &SMALL);
    let page = |dir: &Path| fs::read_to_string(dir.join("report.html")).unwrap();
    written(&dir, &run);
    assert!(!page(&dir).contains("Queues over time") && !page(&dir).contains("Throughput over time"));
    let at = |us| Instant::ZERO + Span::from_us(us);
    for point in run.points.iter().filter(|point| point.seed == 1 && point.values == ["0.6"]) {
        let folder = dir.join("points").join(&point.key);
        let queue = |us, port, bytes| QueuePoint { at: at(us), port, bytes };
        write_queue_series(&folder.join("queue_series.parquet"), &[queue(10, 0, 30_000), queue(900, 1, 60_000)])
            .unwrap();
        let bin = |us, class| ThroughputBin { from: at(us), class, bytes: 12_500 };
        let bins = [bin(0, 0), bin(20, 2), bin(40, 2)];
        write_throughput(&folder.join("throughput.parquet"), &run.classes, Span::from_us(20), &bins).unwrap();
    }
    written(&dir, &run);
    assert!(!page(&dir).contains("Queues over time"), "what the simulations have not written does not count");
    for point in run.points.iter().filter(|point| point.seed == 1 && point.values == ["0.6"]) {
        add_files(&dir, point, &["queue_series.parquet", "throughput.parquet"]);
    }
    written(&dir, &run);
    assert!(page(&dir).contains("Queues over time") && page(&dir).contains("Throughput over time"));
    assert!(page(&dir).contains("leaf1->spine0") || page(&dir).contains("leaf1-\\u003espine0"));
    for name in ["queue_series_load-0.6", "throughput_load-0.6"] {
        let svg = fs::read_to_string(dir.join(format!("plots/{name}.svg"))).unwrap();
        assert!(svg.contains("time, ms") && svg.contains("load = 0.6, seed 1"), "{svg}");
    }
    assert!(!dir.join("plots/queue_series_load-0.3.svg").exists());
}

/// The figure of the field: of sizes that differ, with the number of flows in each bin.
#[test]
fn slowdown_is_drawn_against_the_size_of_flows() {
    let made = make("sizes", &FakeRun { flows: 6_000, ..SMALL });
    let svg = made.text("plots/slowdown_p99_by_size_all_load-0.6.svg");
    assert!(svg.contains("flow size, KB") && svg.contains("99th percentile of slowdown"));
    assert!(made.plots().contains(&"slowdown_p50_by_size_all_load-0.3.png".to_owned()));
}
