//! All claims and what became of them, on a page of Markdown and one of HTML.

use std::fmt::Write;
use std::path::Path;

use tailcut_report::html::{CSS, HtmlDocument, escaped};

use crate::catalogue::catalogue;
use crate::judgement::Verdict;
use crate::listing::{Line, Listing, counted};
use crate::standing::{Standing, StudyStanding};

const OWN_CSS: &str = include_str!("scoreboard.css");

/// What the page says before its tables.
const INTRODUCTION: &str = "Every claim of the documents behind the schemes, what the document says, what was measured, and a \
                            verdict that is computed from the two and never written by hand. A number in brackets is a 95 % \
                            interval. \"Qualitative\" is what has no number in the document. What is \"reproduced, stronger\" \
                            has an effect beyond the published one, and \"undecided\" is what an interval leaves open, or too \
                            few flows.";

/// Notes on what was found, beside the page, and the schemes that each is about.
const FINDINGS: &[(&str, &[&str])] = &[
    ("findings/slytherin.md", &["slytherin"]),
    ("findings/spq.md", &["spq"]),
    ("findings/icon.md", &["icon", "background"]),
    ("findings/resqueue.md", &["resqueue"]),
    ("findings/smartbuf.md", &["smartbuf"]),
    ("findings/pdq.md", &["pdq"]),
    ("findings/hyline.md", &["hyline"]),
    ("findings/superways.md", &["superways"]),
    ("findings/cross.md", &["slytherin", "icon", "resqueue", "smartbuf"]),
];

/// What stands above the list of stored results.
const HOLDING: &str = "With each simulation of a study its digest is stored. Results are stale if the study is configured \
                       differently now, or if one of its simulations, run again by the program of this page, has another \
                       digest; results that were stored without digests are unknown.";

/// The notes about a scheme, each as `show` says, in a row; `None` without a note.
fn notes(scheme: &str, show: impl Fn(&str) -> String) -> Option<String> {
    let notes = FINDINGS.iter().filter(|(_, schemes)| schemes.contains(&scheme)).map(|(note, _)| show(note));
    Some(notes.collect::<Vec<_>>().join(", ")).filter(|notes| !notes.is_empty())
}

/// The page as Markdown. `standings` says which stored results still hold.
pub fn scoreboard_markdown(listing: &Listing, standings: &[StudyStanding]) -> String {
    let mut out = format!("# Published against measured\n\n{INTRODUCTION}\n\n");
    let heads = Verdict::ALL.map(Verdict::name).join(" | ");
    let _ = writeln!(out, "| scheme | claims | {heads} |\n|---|---:|{}", "---:|".repeat(Verdict::COUNT));
    for (scheme, counts) in counts(listing) {
        let total: usize = counts.iter().sum();
        let cells: Vec<String> = counts.iter().map(usize::to_string).collect();
        let _ = writeln!(out, "| {scheme} | {total} | {} |", cells.join(" | "));
    }
    for (scheme, lines) in listing.by_scheme() {
        let _ = write!(out, "\n## {scheme}\n\n{}\n\n", documents(&lines));
        if let Some(notes) = notes(scheme, |note| format!("[{note}]({note})")) {
            let _ = write!(out, "Why, measured: {notes}.\n\n");
        }
        out += "| claim | published | measured | verdict | under the readings | reason | to run it again |\n\
                |---|---|---|---|---|---|---|\n";
        for line in lines {
            let cells = [
                format!("`{}` ({}) {}", line.claim.id, line.claim.priority.name(), line.claim.statement),
                line.judgement.published.clone(),
                line.judgement.measured_text(),
                format!("{}{}", line.judgement.verdict, scale_of(line, standings)),
                line.under_readings(),
                line.judgement.reason.clone(),
            ];
            let cells = cells.map(|text| piped(&text));
            let command = line.command.as_ref().map_or(String::new(), |command| format!("`{}`", piped(command)));
            let _ = writeln!(out, "| {} | {command} |", cells.join(" | "));
        }
    }
    out += &by_reading(listing);
    let _ = write!(out, "\n## Which results still hold\n\n{HOLDING}\n\n| study | scale | standing |\n|---|---|---|\n");
    for StudyStanding { study, scale, standing, .. } in standings {
        let _ = writeln!(out, "| {study} | {scale} | {} |", piped(&standing_in_words(standing)));
    }
    out
}

/// What stands above the tables of readings.
const READING: &str = "A row for each claim, a column for each reading of the document: S reproduced and stronger than \
                       published, R reproduced, P partly, U undecided, N not reproduced, a dash not run. `docs/readings.md` \
                       says how the base was chosen, and `tailcut show study NAME` what each reading takes.";

/// For each study whose readings were run, a row for each claim and a column for each reading.
fn by_reading(listing: &Listing) -> String {
    if listing.readings.is_empty() {
        return String::new();
    }
    let mut out = format!("\n## Under every reading\n\n{READING}\n");
    for results in &listing.readings {
        let readings = results.readings();
        let claims: Vec<&str> = listing.lines.iter().map(|line| line.claim.id.as_str()).collect();
        let judged: Vec<&str> = claims
            .into_iter()
            .filter(|claim| readings.iter().any(|one| results.verdict(claim, one).is_some()))
            .collect();
        // Some studies are of figures about which nothing is claimed.
        if judged.is_empty() {
            continue;
        }
        let _ = write!(out, "\n### {} ({})\n\n", results.study, results.scale);
        for (at, reading) in (1..).zip(&readings) {
            let _ = writeln!(out, "{at}. `{reading}`");
        }
        let numbers: Vec<String> = (1..=readings.len()).map(|at| at.to_string()).collect();
        let _ = writeln!(out, "\n| claim | {} |\n|---|{}", numbers.join(" | "), "---|".repeat(readings.len()));
        for claim in judged {
            let letters: Vec<&str> = readings.iter().map(|one| letter(results.verdict(claim, one))).collect();
            let _ = writeln!(out, "| `{claim}` | {} |", letters.join(" | "));
        }
    }
    out
}

fn letter(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        Some(Verdict::Stronger) => "S",
        Some(Verdict::Reproduced) => "R",
        Some(Verdict::Partly) => "P",
        Some(Verdict::Undecided) => "U",
        Some(Verdict::NotReproduced) => "N",
        Some(Verdict::NotRun) | None => "-",
    }
}

/// A standing with its reason.
fn standing_in_words(standing: &Standing) -> String {
    match standing {
        Standing::Stale(reason) => format!("{}: {reason}", standing.name()),
        Standing::Holds | Standing::Unknown => standing.name().to_owned(),
    }
}

/// The page as HTML, with the pictures of the experiments that are in `results`, as `SCALE/EXPERIMENT.svg`.
/// `standings` says which stored results still hold.
pub fn scoreboard_html(listing: &Listing, standings: &[StudyStanding], results: &Path, version: &str) -> String {
    let mut body = format!("<h1>Published against measured</h1>\n<p>{}</p>\n", escaped(INTRODUCTION));
    body +=
        "<div class=\"scroll\"><table class=\"data counts\"><thead><tr><th>scheme</th><th class=\"number\">claims</th>";
    for verdict in Verdict::ALL {
        let _ = write!(body, "<th class=\"number\">{verdict}</th>");
    }
    body += "</tr></thead><tbody>\n";
    for (scheme, counts) in counts(listing) {
        let total: usize = counts.iter().sum();
        let name =
            if scheme == TOTAL { format!("<b>{scheme}</b>") } else { format!("<a href=\"#{scheme}\">{scheme}</a>") };
        let _ = write!(body, "<tr><td>{name}</td><td class=\"number\">{total}</td>");
        for count in counts {
            let _ = write!(body, "<td class=\"number\">{count}</td>");
        }
        body += "</tr>\n";
    }
    body += "</tbody></table></div>\n";
    for (scheme, lines) in listing.by_scheme() {
        let _ = write!(
            body,
            "<h2 id=\"{scheme}\">{scheme}</h2>\n<p class=\"pale\">{}. {}.</p>\n",
            escaped(&documents(&lines)),
            counted(Listing::counts(lines.iter().copied()))
        );
        if let Some(notes) = notes(scheme, |note| format!("<code>docs/{note}</code>")) {
            // The page needs nothing beside it, so that it does not link there.
            let _ = writeln!(body, "<p>Why, measured: {notes}.</p>");
        }
        figures(&mut body, &lines, results);
        body += "<div class=\"scroll\"><table class=\"data claims\"><thead><tr><th>claim</th><th>published</th>\
                 <th>measured</th><th>verdict</th><th>under the readings</th><th>reason</th></tr></thead><tbody>\n";
        for line in lines {
            row(&mut body, line, standings);
        }
        body += "</tbody></table></div>\n";
    }
    let _ = write!(
        body,
        "<h2>Which results still hold</h2>\n<p>{}</p>\n<div class=\"scroll\"><table class=\"data\"><thead><tr><th>study</th>\
         <th>scale</th><th>standing</th></tr></thead><tbody>\n",
        escaped(HOLDING)
    );
    for StudyStanding { study, scale, standing, .. } in standings {
        let words = standing_in_words(standing);
        let _ = writeln!(
            body,
            "<tr><td>{}</td><td>{}</td><td>{}</td></tr>",
            escaped(study),
            escaped(scale),
            escaped(&words)
        );
    }
    body += "</tbody></table></div>\n";
    let document = HtmlDocument {
        title: "Published against measured",
        version,
        styles: &[CSS, OWN_CSS],
        body: &body,
        credits: "",
        scripts: "",
    };
    document.html()
}

fn row(out: &mut String, line: &Line, standings: &[StudyStanding]) {
    let (claim, judgement) = (line.claim, &line.judgement);
    let class = judgement.verdict.word();
    // What has not been run says how to run it already.
    let command = line.command.as_ref().filter(|command| !judgement.reason.contains(*command));
    let again = command
        .map(|command| format!("<span class=\"again\"><code>{}</code></span>", escaped(command)))
        .unwrap_or_default();
    let _ = writeln!(
        out,
        "<tr><td><span class=\"statement\">{}</span><span class=\"about\"><code>{}</code> priority {}, {}</span></td>\
         <td data-name=\"published\">{}</td><td data-name=\"measured\">{}</td>\
         <td><span class=\"verdict {class}\">{}</span><span class=\"about\">{}</span></td>\
         <td data-name=\"under the readings\">{}</td><td>{}{again}</td></tr>",
        escaped(&claim.statement),
        escaped(&claim.id),
        claim.priority.name(),
        escaped(&claim.section),
        escaped(&judgement.published),
        escaped(&judgement.measured_text()),
        judgement.verdict,
        escaped(scale_of(line, standings).trim_matches([' ', '(', ')'])),
        with_code(&line.under_readings()),
        escaped(&judgement.reason),
    );
}

/// Escaped, what stands between backquotes as code.
fn with_code(text: &str) -> String {
    let part = |(at, part): (usize, &str)| match at % 2 {
        0 => escaped(part),
        _ => format!("<code>{}</code>", escaped(part)),
    };
    text.split('`').enumerate().map(part).collect()
}

/// The pictures of the experiments whose runs judged these lines.
fn figures(out: &mut String, lines: &[&Line], results: &Path) {
    let mut shown: Vec<(&str, &str)> = Vec::new();
    let mut items = String::new();
    for line in lines {
        let (Some(scale), Some(experiment)) = (line.scale.as_deref(), line.experiment.as_deref()) else { continue };
        if shown.contains(&(scale, experiment)) {
            continue;
        }
        shown.push((scale, experiment));
        // An experiment without a picture is a table.
        let Ok(picture) = std::fs::read(results.join(scale).join(format!("{experiment}.svg"))) else { continue };
        let title = catalogue()
            .experiment(experiment)
            .map_or_else(|| experiment.to_owned(), |known| format!("{}: {}", known.figure, known.title));
        let _ = writeln!(
            items,
            "<details><summary><img alt=\"{0}\" src=\"data:image/svg+xml;base64,{1}\"><span class=\"pale\">{0} \
             (<code>{2}</code>, {3})</span></summary></details>",
            escaped(&title),
            base64(&picture),
            escaped(experiment),
            escaped(scale)
        );
    }
    if !items.is_empty() {
        let _ = writeln!(out, "<div class=\"figures\">\n{items}</div>");
    }
}

/// The name of the line of sums.
const TOTAL: &str = "all";

/// The counts of each scheme, and of all.
fn counts(listing: &Listing) -> Vec<(&'static str, [usize; Verdict::COUNT])> {
    let schemes = listing.by_scheme();
    let mut counts: Vec<_> =
        schemes.iter().map(|(scheme, lines)| (*scheme, Listing::counts(lines.iter().copied()))).collect();
    counts.push((TOTAL, Listing::counts(&listing.lines)));
    counts
}

/// The documents that some claims come from.
fn documents(lines: &[&Line]) -> String {
    let mut keys: Vec<&str> = lines.iter().map(|line| line.claim.document.as_str()).collect();
    keys.sort_unstable();
    keys.dedup();
    let known = keys.into_iter().filter_map(|key| catalogue().documents.get(key));
    let texts: Vec<String> = known
        .map(|document| format!("{}, {}, {} {}", document.authors, document.title, document.venue, document.year))
        .collect();
    texts.join("; ")
}

/// The scale of the results that judge a line, and that they are stale if they are.
fn scale_of(line: &Line, standings: &[StudyStanding]) -> String {
    let Some(scale) = &line.scale else { return String::new() };
    let standing = line.experiment.as_ref().and_then(|experiment| StudyStanding::find(standings, experiment, scale));
    match standing {
        Some(Standing::Stale(_)) => format!(" ({scale}, stale)"),
        _ => format!(" ({scale})"),
    }
}

/// Text in a cell of a Markdown table.
fn piped(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ").replace('<', "&lt;")
}

/// Bytes as RFC 4648 has them.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let at = |index: usize| u32::from(group.get(index).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for digit in 0..4 {
            let value = bits >> (18 - 6 * digit) & 63;
            out.push(if digit <= group.len() { char::from(DIGITS[value as usize]) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_rfc() {
        let of = |text: &str| base64(text.as_bytes());
        assert_eq!(
            ["", "f", "fo", "foo", "foob", "foobar"].map(of),
            ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmFy"]
        );
    }

    #[test]
    fn a_cell_cannot_break_its_table() {
        assert_eq!(piped("a|b\nc <d>"), "a\\|b c &lt;d>");
    }
}
