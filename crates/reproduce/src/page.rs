//! The page of an experiment: its pictures, its verdicts, and what was chosen where the document is silent.

use std::fmt::Write;

use tailcut_claims::{Judgement, catalogue};
use tailcut_report::html::{CSS, HtmlDocument, escaped};

use crate::reproduced::Reproduced;
use crate::study_run::StudyRun;

/// What this page needs beside the style of every page.
const STYLE: &str = ".picture svg{max-width:100%;height:auto}table.wrap td{white-space:normal;min-width:9em}";

/// The page.
pub(crate) fn page(reproduced: &Reproduced, run: &StudyRun<'_>) -> String {
    let mut body = String::new();
    let StudyRun { study, scale, reading, info, .. } = run;
    let setting = match reading.is_base() {
        true => scale.name().to_owned(),
        false => format!("{}, reading {reading}", scale.name()),
    };
    let _ = write!(
        body,
        "<h1>{}</h1>\n<div class=\"facts\"><span>experiment <b>{}</b></span><span>scale <b>{}</b></span>\
         <span>tailcut <b>{}</b></span><span><b>{}</b> points</span><span>seeds <b>{}</b></span></div>\n\
         <pre class=\"command\">{}</pre>\n",
        escaped(&reproduced.title),
        escaped(&reproduced.experiment.id),
        escaped(&setting),
        escaped(&info.version),
        info.points.len(),
        escaped(&info.seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
        escaped(&info.command),
    );
    for other in study.taken(reading).unwrap_or_default() {
        let _ = writeln!(body, "<p>{}: {}</p>", escaped(&other.value), escaped(&other.reason));
    }
    if let Some(note) = &reproduced.experiment.note {
        let _ = writeln!(body, "<p>{}</p>", escaped(note));
    }
    for picture in &reproduced.pictures {
        // A picture that was just written can be read; without it the page still has the numbers.
        if let Ok(svg) = std::fs::read_to_string(picture) {
            let svg = svg.split_once("<svg").map_or(String::new(), |(_, rest)| format!("<svg{rest}"));
            let _ = writeln!(body, "<figure class=\"picture\">{svg}</figure>");
        }
    }
    if !reproduced.undrawn.is_empty() {
        let items: String = reproduced.undrawn.iter().map(|text| format!("<li>{}</li>", escaped(text))).collect();
        let _ = writeln!(body, "<div class=\"warnings\" role=\"note\"><p>Not drawn:</p><ul>{items}</ul></div>");
    }
    for table in &reproduced.effects {
        body.push_str(&table.html());
    }
    verdicts(&mut body, &reproduced.judgements);
    let _ = writeln!(body, "<h2>What the document leaves open</h2>");
    if study.open.is_empty() {
        let _ = writeln!(body, "<p>Nothing that this experiment needs.</p>");
    } else {
        let rows: String = study
            .open
            .iter()
            .map(|open| {
                let others: Vec<String> = open
                    .other
                    .iter()
                    .map(|other| format!("<li><code>{}</code>: {}</li>", escaped(&other.name), escaped(&other.value)))
                    .collect();
                format!(
                    "<tr><td>{}</td><td>{}</td><td>{}: {}</td><td><ul>{}</ul></td></tr>",
                    escaped(&open.parameter),
                    escaped(&open.value),
                    open.rule.name(),
                    escaped(&open.reason),
                    others.concat()
                )
            })
            .collect();
        let _ = writeln!(
            body,
            "<div class=\"scroll\"><table class=\"data wrap\"><thead><tr><th>choice</th><th>base</th><th>by which rule</th><th>what else it allows</th></tr></thead>\
             <tbody>{rows}</tbody></table></div>"
        );
    }
    let _ = writeln!(
        body,
        "<h2>The simulations</h2>\n<p>Study {}: {}. Its <a href=\"../studies/{}/report.html\">own page</a> has every \
         statistic, and its folder the scenario that runs them again.</p>\n<details><summary>Scenario</summary>\
         <pre>{}</pre></details>",
        escaped(&study.name),
        escaped(&study.title),
        escaped(&study.name),
        escaped(&info.scenario_toml),
    );
    let document = HtmlDocument {
        title: &reproduced.title,
        version: &info.version,
        styles: &[CSS, STYLE],
        body: &body,
        credits: "",
        scripts: "",
    };
    document.html()
}

fn verdicts(body: &mut String, judgements: &[Judgement]) {
    let _ = writeln!(body, "<h2>Claims</h2>");
    if judgements.is_empty() {
        let _ = writeln!(body, "<p>No claim rests on this figure alone.</p>");
        return;
    }
    let rows: String = judgements
        .iter()
        .filter_map(|judgement| Some((judgement, catalogue().claim(&judgement.id)?)))
        .map(|(judgement, claim)| {
            let document = catalogue().documents.get(&claim.document);
            let section = document.map_or_else(String::new, |d| format!("{} ({} {})", claim.section, d.venue, d.year));
            format!(
                "<tr><td><b>{}</b><br>{}<br><small>{}, priority {}: {}</small></td><td>{}</td><td>{}</td><td><b>{}</b></td>\
                 <td>{}</td></tr>",
                escaped(&claim.id),
                escaped(&claim.statement),
                escaped(&section),
                claim.priority.name(),
                escaped(&claim.metric),
                escaped(&judgement.published),
                escaped(&judgement.measured_text()),
                escaped(judgement.verdict_text()),
                escaped(&judgement.reason),
            )
        })
        .collect();
    let _ = writeln!(
        body,
        "<div class=\"scroll\"><table class=\"data wrap\"><thead><tr><th>claim</th><th>published</th><th>measured</th><th>verdict</th>\
         <th>reason</th></tr></thead><tbody>{rows}</tbody></table></div>"
    );
}
