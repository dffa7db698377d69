//! Stored judgements, and lists of them.

use std::path::Path;

use super::*;

fn judgement(id: &str, verdict: Verdict) -> Judgement {
    Judgement {
        id: id.into(),
        verdict,
        published: "0.814 (mean)".into(),
        measured: Some(0.8213),
        low: Some(0.79),
        high: None,
        reason: "The mean ratio, \"paired\", is 0.8213.".into(),
    }
}

fn stored(experiment: &str, scale: &str, judgements: Vec<Judgement>) -> Stored {
    Stored {
        experiment: experiment.into(),
        scale: scale.into(),
        command: format!("tailcut reproduce {experiment} --scale {scale}"),
        version: "0.1.0+test".into(),
        seeds: vec![1, 2, 3],
        judgements,
        note: None,
    }
}

fn runnable(claim: &Claim) -> Result<Test, String> {
    let test = |experiment: &String| Test { experiment: experiment.clone(), study: "s".into(), readings: Vec::new() };
    claim.experiment.as_ref().map(test).ok_or_else(|| "No experiment tests it.".to_owned())
}

const TAIL: &str = "slytherin-tail-fct-vs-pias";

#[test]
fn judgements_survive_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut written = stored("slytherin-fig3a", "quick", vec![judgement(TAIL, Verdict::Partly)]);
    written.judgements.push(Judgement {
        measured: None,
        low: None,
        high: Some(f64::INFINITY),
        ..written.judgements[0].clone()
    });
    let path = Stored::path(folder.path(), "quick", "slytherin-fig3a");
    written.write(&path).unwrap();
    assert_eq!(Stored::read(&path).unwrap(), written);
    assert_eq!(Stored::read_all(folder.path(), None).unwrap(), [written]);
    assert_eq!(Stored::read_all(folder.path(), Some("paper")).unwrap(), []);
}

#[test]
fn a_file_that_is_wrong_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = Stored::path(folder.path(), "quick", "x");
    stored("x", "quick", vec![judgement("no-such-claim", Verdict::Partly)]).write(&path).unwrap();
    let error = Stored::read_all(folder.path(), None).unwrap_err().to_string();
    assert!(error.contains("x.toml") && error.contains("no claim `no-such-claim`"), "{error}");
    stored("x", "paper", vec![]).write(&path).unwrap();
    let error = Stored::read_all(folder.path(), None).unwrap_err().to_string();
    assert!(error.contains("of the scale `paper`, but in the folder of `quick`"), "{error}");
    std::fs::write(&path, "experiment = 3").unwrap();
    let error = Stored::read_all(folder.path(), None).unwrap_err().to_string();
    assert!(error.contains("x.toml"), "{error}");
}

#[test]
fn paper_results_count_before_quick_ones_and_runs_before_none() {
    let quick = || stored("slytherin-fig3a", "quick", vec![judgement(TAIL, Verdict::NotReproduced)]);
    let paper = |verdict| stored("slytherin-fig3a", "paper", vec![judgement(TAIL, verdict)]);
    let verdict = |stored: &[Stored], scale| {
        let listing = Listing::of(stored, scale, &runnable);
        let line = listing.lines.into_iter().find(|line| line.claim.id == TAIL).unwrap();
        (line.judgement.verdict, line.scale)
    };
    let of = |verdict, scale: &str| (verdict, Some(scale.to_owned()));
    assert_eq!(verdict(&[quick(), paper(Verdict::Reproduced)], None), of(Verdict::Reproduced, "paper"));
    assert_eq!(verdict(&[paper(Verdict::NotRun), quick()], None), of(Verdict::NotReproduced, "quick"));
    assert_eq!(verdict(&[quick()], Some("quick")), of(Verdict::NotReproduced, "quick"));
    assert_eq!(verdict(&[], None), (Verdict::NotRun, None));
    // Another experiment that looked at the same claim counts less than its own.
    let other = stored("slytherin-fig3b", "paper", vec![judgement(TAIL, Verdict::Partly)]);
    assert_eq!(verdict(&[other, paper(Verdict::Reproduced)], None), of(Verdict::Reproduced, "paper"));
}

#[test]
fn what_has_not_been_run_says_how_to_run_it() {
    let listing = Listing::of(&[], Some("paper"), &runnable);
    assert_eq!(listing.lines.len(), catalogue().claims.len());
    let reason = |id: &str| &listing.lines.iter().find(|line| line.claim.id == id).unwrap().judgement.reason;
    assert_eq!(
        reason(TAIL),
        "slytherin-fig3a has not been run; to run it: tailcut reproduce slytherin-fig3a --scale paper"
    );
    assert_eq!(reason("slytherin-fewer-drops-than-dctcp"), "No experiment tests it.");
}

#[test]
fn claims_about_claims_are_judged_from_what_is_stored() {
    let parts = ["spq-loss-below-pias", "spq-fig9-three-levels", "spq-fig4-pias-same-fct", "spq-fig2-mismatch-loss"];
    let all = stored("spq-fig9", "quick", parts.map(|id| judgement(id, Verdict::Reproduced)).to_vec());
    let listing = Listing::of(&[all], None, &runnable);
    let line = listing.lines.iter().find(|line| line.claim.id == "spq-avoids-in-network-limits").unwrap();
    assert_eq!(line.judgement.verdict, Verdict::Reproduced, "{}", line.judgement.reason);
}

/// What was stored of a claim that has parts may be older than its parts.
#[test]
fn claims_about_claims_are_judged_anew_whatever_is_stored_of_them() {
    let whole = "spq-avoids-in-network-limits";
    let parts = ["spq-loss-below-pias", "spq-fig9-three-levels", "spq-fig4-pias-same-fct", "spq-fig2-mismatch-loss"];
    let mut judgements = parts.map(|id| judgement(id, Verdict::NotReproduced)).to_vec();
    judgements.push(judgement(whole, Verdict::Reproduced));
    let of = |stored: &[Stored]| {
        let listing = Listing::of(stored, None, &runnable);
        let line = listing.lines.into_iter().find(|line| line.claim.id == whole).unwrap();
        (line.judgement.verdict, line.scale)
    };
    assert_eq!(of(&[stored("spq-fig9", "quick", judgements)]), (Verdict::NotReproduced, None));
    let alone = stored("spq-fig9", "quick", vec![judgement(whole, Verdict::Reproduced)]);
    assert_eq!(of(&[alone]), (Verdict::NotRun, None));
}

#[test]
fn filters_keep_what_they_name() {
    let count = |filter: Filter| Listing::of(&[], None, &runnable).filtered(&filter).lines.len();
    assert_eq!(count(Filter { scheme: Some("slytherin".into()), ..Filter::default() }), 46);
    assert_eq!(count(Filter { priority: Some(Priority::A), ..Filter::default() }), 31);
    assert_eq!(count(Filter { verdict: Some(Verdict::NotReproduced), ..Filter::default() }), 1);
    let fig3a = Filter { experiment: Some("slytherin-fig3a".into()), ..Filter::default() };
    assert_eq!(count(fig3a), catalogue().claims_of(catalogue().experiment("slytherin-fig3a").unwrap()).count());
}

#[test]
fn lists_have_their_form() {
    let listing =
        Listing::of(&[stored("slytherin-fig3a", "quick", vec![judgement(TAIL, Verdict::Partly)])], None, &runnable);
    let text = listing.text();
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(text.contains("slytherin: 1 reproduced, 1 partly, 0 undecided, 0 not reproduced, 44 not run"), "{text}");
    assert!(text.trim_end().lines().last().unwrap().starts_with("357 claims: "));
    let all = Verdict::ALL.map(|verdict| {
        let mut judgement = judgement(TAIL, verdict);
        judgement.high = Some(0.85);
        Listing::of(&[stored("slytherin-fig3a", "quick", vec![judgement])], None, &runnable).text()
    });
    assert!(all.iter().all(|text| text.lines().all(|line| line.chars().count() <= 100)), "{}", all[0]);
    assert!(all[0].starts_with("slytherin: 2 reproduced (1 stronger), 0 partly, 0 undecided, "), "{}", all[0]);
    assert!(all[0].contains("A  reproduced,     0.814 (mean)       0.821 [0.79,"), "{}", all[0]);
    assert!(all[0].contains("\n                                                   stronger"), "{}", all[0]);
    let csv = listing.csv();
    assert_eq!(
        csv.lines().next(),
        Some("id,scheme,priority,verdict,published,measured,low,high,scale,readings,holds_under,decided_by,reason")
    );
    assert_eq!(
        csv.lines().nth(1),
        Some(
            "slytherin-tail-fct-vs-pias,slytherin,A,partly,0.814 (mean),0.8213,0.79,,quick,,,,\"The mean ratio, \"\"paired\"\", is 0.8213.\""
        )
    );
    let json: serde_json::Value = serde_json::from_str(&listing.json()).unwrap();
    assert_eq!(json.as_array().map(Vec::len), Some(357));
    assert_eq!(
        (&json[0]["measured"], &json[0]["high"], &json[0]["scale"]),
        (&0.8213.into(), &serde_json::Value::Null, &"quick".into())
    );
}

/// Both pages, where the only results that are stored stand so.
fn boards(listing: &Listing, standing: Standing, results: &Path) -> (String, String) {
    let experiments = vec!["slytherin-fig3a".to_owned()];
    let standings = [StudyStanding { study: "slytherin-ls400".into(), scale: "quick".into(), experiments, standing }];
    (scoreboard_markdown(listing, &standings), scoreboard_html(listing, &standings, results, "0.1.0"))
}

#[test]
fn results_that_hold_no_longer_are_called_stale_where_their_verdict_stands() {
    let stored = stored("slytherin-fig3a", "quick", vec![judgement(TAIL, Verdict::Partly)]);
    let listing = Listing::of(&[stored], None, &runnable);
    let results = tempfile::tempdir().unwrap();
    let moved = Standing::Stale("a digest was a and is b".to_owned());
    for (standing, verdict, below) in [
        (Standing::Holds, "partly (quick)", "holds"),
        (Standing::Unknown, "partly (quick)", "unknown"),
        (moved, "partly (quick, stale)", "stale: a digest was a and is b"),
    ] {
        let (markdown, html) = boards(&listing, standing, results.path());
        assert!(markdown.contains(&format!("| {verdict} |")), "{}", &markdown[..2000]);
        assert!(markdown.ends_with(&format!("| slytherin-ls400 | quick | {below} |\n")));
        assert!(html.contains(&format!("<td>{below}</td>")));
        assert_eq!(html.contains("<span class=\"about\">quick, stale</span>"), below.starts_with("stale"));
    }
}

#[test]
fn the_scoreboard_shows_every_claim_and_the_pictures_that_exist() {
    let folder = tempfile::tempdir().unwrap();
    let quick = stored("slytherin-fig3a", "quick", vec![judgement(TAIL, Verdict::Partly)]);
    quick.write(&Stored::path(folder.path(), "quick", "slytherin-fig3a")).unwrap();
    std::fs::write(folder.path().join("quick/slytherin-fig3a.svg"), "<svg/>").unwrap();
    let listing = Listing::read(folder.path(), None, &runnable).unwrap();
    let (markdown, html) = boards(&listing, Standing::Holds, folder.path());
    for claim in &catalogue().claims {
        assert!(markdown.contains(&format!("`{}`", claim.id)) && html.contains(&format!("<code>{}</code>", claim.id)));
    }
    assert!(markdown.contains("| slytherin | 46 | 0 | 1 | 1 | 0 | 0 | 44 |"), "{}", &markdown[..900]);
    assert!(markdown.contains("`tailcut reproduce slytherin-fig3a --scale quick`"));
    assert_eq!(html.matches("data:image/svg+xml;base64,PHN2Zy8+").count(), 1);
    assert!(!html.contains("http://") && !html.contains("https://"), "it needs no network");
}

#[test]
fn the_scoreboard_says_of_every_claim_what_the_readings_come_to() {
    let of_study = |claim: &Claim| {
        let readings: &[&str] = match claim.experiment.as_deref() {
            Some("slytherin-fig3a") => &["x", "y", "z"],
            Some("slytherin-fig4") => &["v", "w"],
            _ => &[],
        };
        let test = |experiment: &String| Test {
            experiment: experiment.clone(),
            study: experiment.clone(),
            readings: readings.iter().map(|name| (*name).to_owned()).collect(),
        };
        claim.experiment.as_ref().map(test).ok_or_else(|| "No experiment tests it.".to_owned())
    };
    let folder = tempfile::tempdir().unwrap();
    let header = "claim,reading,plan,verdict,measured,low,high,reason\n";
    let judged = [("base", "not reproduced"), ("x", "reproduced"), ("y", "not reproduced")]
        .map(|(reading, verdict)| format!("{TAIL},{reading},p,{verdict},1,,,why\n"));
    let path = ReadingResults::path(folder.path(), "quick", "slytherin-fig3a");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, format!("{header}{}", judged.concat())).unwrap();
    let listing = Listing::read(folder.path(), None, &of_study).unwrap();
    let under = |id: &str| listing.lines.iter().find(|line| line.claim.id == id).unwrap().under_readings();
    assert_eq!(under(TAIL), "holds under 1 of 3; decided by `x`");
    assert_eq!(under("slytherin-tail-fct-vs-pias-conclusion"), "1 of 3 readings are to be run");
    assert_eq!(under("slytherin-throughput-32pct"), "2 of 2 readings are to be run");
    assert_eq!(under("slytherin-faster-convergence"), "nothing is left open");
    let (markdown, html) = boards(&listing, Standing::Holds, folder.path());
    assert!(markdown.contains("| holds under 1 of 3; decided by `x` |"));
    assert!(html.contains(">holds under 1 of 3; decided by <code>x</code></td>"));
}
