//! The pages of this repository are what is stored of their commands, and what is stored still holds.

use std::path::Path;

use tailcut_docs::Pages;

fn pages() -> Pages {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Pages::read(&root).unwrap_or_else(|findings| panic!("{findings:#?}"))
}

#[test]
fn every_table_picture_and_figure_is_up_to_date() {
    let findings: Vec<String> = pages().check().iter().map(ToString::to_string).collect();
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

/// A digest that has moved makes the results of its study stale, and the scoreboard has to say so.
#[test]
fn the_scoreboard_says_which_results_still_hold() {
    let findings: Vec<String> = pages().check_scoreboard(&|_| {}).iter().map(ToString::to_string).collect();
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}
