"""`tailcut claims`: every claim of the documents with its verdict."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import tomllib
from pathlib import Path

import pytest

from command import run, succeeded

REPOSITORY = Path(__file__).parents[2]
CLAIMS = tomllib.loads((REPOSITORY / "data" / "claims.toml").read_text(encoding="utf-8"))["claim"]
TAIL = "slytherin-tail-fct-vs-pias"

#: Verdicts as `tailcut reproduce --store` writes them.
STORED = """\
experiment = "slytherin-fig3a"
scale = "{scale}"
command = "tailcut reproduce slytherin-fig3a --scale {scale}"
version = "0.1.0+test"
seeds = [1, 2, 3]

[[judgement]]
id = "slytherin-tail-fct-vs-pias"
verdict = "{verdict}"
published = "0.814 (mean)"
measured = {measured}
low = 0.79
high = 0.86
reason = "The mean ratio to pias is {measured}."
"""


def store(where: Path, scale: str, verdict: str, measured: float) -> None:
    folder = where / "results" / scale
    folder.mkdir(parents=True, exist_ok=True)
    text = STORED.format(scale=scale, verdict=verdict, measured=measured)
    (folder / "slytherin-fig3a.toml").write_text(text, encoding="utf-8")


def rows(where: Path, *arguments: str) -> dict[str, dict[str, str]]:
    shown = succeeded(run("claims", "--format", "csv", *arguments, cwd=where)).stdout
    return {row["id"]: row for row in csv.DictReader(io.StringIO(shown))}


def test_every_claim_is_listed_once_and_nothing_is_made_up(tmp_path: Path) -> None:
    found = rows(tmp_path)
    assert list(found) == [claim["id"] for claim in CLAIMS]
    for claim in CLAIMS:
        row = found[claim["id"]]
        assert (row["scheme"], row["priority"]) == (claim["scheme"], claim["priority"])
        assert row["reason"]
        if claim["quantified_by"] != "document":
            assert row["published"] == "qualitative", claim["id"]
        # Without runs, only arithmetic can be judged.
        if row["verdict"] != "not run":
            assert claim["expected"]["op"] == "function" and row["scale"] == "", claim["id"]
    assert found[TAIL]["published"] == "0.814 (mean)"
    assert "tailcut reproduce slytherin-fig3a" in found[TAIL]["reason"]


def test_stored_verdicts_are_shown_and_paper_comes_before_quick(tmp_path: Path) -> None:
    store(tmp_path, "quick", "partly", 0.9)
    assert rows(tmp_path)[TAIL]["verdict"] == "partly"
    store(tmp_path, "paper", "reproduced", 0.82)
    row = rows(tmp_path)[TAIL]
    assert (row["verdict"], row["measured"], row["low"], row["high"]) == ("reproduced", "0.82", "0.79", "0.86")
    assert row["scale"] == "paper"
    assert rows(tmp_path, "--scale", "quick")[TAIL]["measured"] == "0.9"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert rows(elsewhere, "--results", "../results")[TAIL]["scale"] == "paper"


def test_the_formats_say_the_same(tmp_path: Path) -> None:
    store(tmp_path, "quick", "partly", 0.9)
    table = rows(tmp_path)
    records = json.loads(succeeded(run("claims", "--format", "json", cwd=tmp_path)).stdout)
    assert [record["id"] for record in records] == list(table)
    for record in records:
        row = table[record["id"]]
        assert list(record) == list(row)
        for key, value in record.items():
            if isinstance(value, float):
                assert float(row[key]) == pytest.approx(value, rel=1e-9)
            else:
                assert row[key] == ("" if value is None else str(value)), (record["id"], key)
    text = succeeded(run("claims", cwd=tmp_path)).stdout
    assert all(len(line) <= 100 for line in text.splitlines())
    counts = re.findall(r"(\d+) (reproduced|partly|undecided|not reproduced|not run)", text.splitlines()[-1])
    assert sum(int(number) for number, _ in counts) == len(CLAIMS)
    for number, verdict in counts:
        # Those that are reproduced, and stronger, are counted among the reproduced.
        assert int(number) == sum(row["verdict"].split(",")[0] == verdict for row in table.values())


@pytest.mark.parametrize(
    ("arguments", "keep"),
    [
        (("--scheme", "pdq"), lambda claim: claim["scheme"] == "pdq"),
        (("--priority", "A"), lambda claim: claim["priority"] == "A"),
        (("--scheme", "spq", "--priority", "C"), lambda claim: claim["scheme"] == "spq" and claim["priority"] == "C"),
        (("--verdict", "not-reproduced"), lambda claim: claim["id"] == "hyline-topology-256-hosts"),
        (("--verdict", "not reproduced"), lambda claim: claim["id"] == "hyline-topology-256-hosts"),
        (("--experiment", "spq-table2"), lambda claim: claim.get("experiment") == "spq-table2"),
    ],
)
def test_filters(tmp_path: Path, arguments: tuple[str, ...], keep) -> None:
    found = set(rows(tmp_path, *arguments))
    wanted = {claim["id"] for claim in CLAIMS if keep(claim)}
    assert wanted and wanted <= found
    # A figure may also list claims that name another one.
    assert found == wanted or "--experiment" in arguments


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--scheme", "slyterin"), "did you mean `slytherin`?"),
        (("--priority", "D"), "there is no priority `D`"),
        (("--verdict", "reproducd"), "did you mean `reproduced`?"),
        (("--experiment", "slytherin-fig3"), "there is no experiment `slytherin-fig3`"),
        (("--scale", "papr"), "did you mean `paper`?"),
        (("--format", "xml"), "invalid value 'xml'"),
        (("--results", "nowhere"), "there is no folder nowhere"),
    ],
)
def test_a_wrong_value_is_one_clear_message(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    done = run("claims", *arguments, cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("error: ") and message in done.stderr, done.stderr


def test_a_damaged_file_of_verdicts_is_named(tmp_path: Path) -> None:
    store(tmp_path, "quick", "perhaps", 0.9)
    done = run("claims", cwd=tmp_path)
    assert done.returncode == 2 and "slytherin-fig3a.toml" in done.stderr and "perhaps" in done.stderr, done.stderr


def test_the_scoreboard_is_written(tmp_path: Path) -> None:
    store(tmp_path, "paper", "reproduced", 0.82)
    picture = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 3"><rect width="4" height="3"/></svg>'
    (tmp_path / "results" / "paper" / "slytherin-fig3a.svg").write_text(picture, encoding="utf-8")
    succeeded(run("claims", "--scoreboard", "board", cwd=tmp_path))
    markdown = (tmp_path / "board" / "scoreboard.md").read_text(encoding="utf-8")
    page = (tmp_path / "board" / "scoreboard.html").read_text(encoding="utf-8")
    for claim in CLAIMS:
        assert f"`{claim['id']}`" in markdown and f"<code>{claim['id']}</code>" in page
    # Every row of a Markdown table has as many cells as its head.
    tables = re.findall(r"(?:^\|.*\n)+", markdown, re.MULTILINE)
    for table in tables:
        lines = [re.sub(r"\\\|", "", line) for line in table.splitlines()]
        assert len({line.count("|") for line in lines}) == 1, table
    assert "| slytherin | 46 |" in markdown and "tailcut reproduce slytherin-fig3a --scale paper" in page
    assert page.count("data:image/svg+xml;base64,") == 1
    assert not re.search(r'(?:src|href)="(?!data:|#)', page), "it needs nothing else"


def test_the_scoreboard_of_the_repository_names_every_note_on_what_was_found() -> None:
    # That it is the scoreboard of the stored results is tested in crates/docs.
    board = (REPOSITORY / "docs" / "scoreboard.md").read_text(encoding="utf-8")
    notes = set(re.findall(r"\]\((findings/[a-z]+\.md)\)", board))
    pages = {f"findings/{note.name}" for note in (REPOSITORY / "docs" / "findings").glob("*.md")}
    # The page of all systems is about no single one.
    assert notes and notes == pages - {"findings/README.md"}


READINGS = """claim,reading,verdict,measured,low,high,reason
slytherin-tail-fct-vs-pias,base,not reproduced,1.2,1.1,1.3,Because.
slytherin-tail-fct-vs-pias,pias-shared,reproduced,0.82,0.8,0.84,Because.
slytherin-tail-fct-vs-pias,pias-shared+jitter,"reproduced, stronger",0.5,0.4,0.6,Because.
slytherin-tail-fct-vs-pias,jitter,undecided,1,0.7,1.3,Because.
"""


def test_readings_say_under_how_many_a_claim_holds_and_what_decides(tmp_path: Path) -> None:
    store(tmp_path, "quick", "not reproduced", 1.2)
    folder = tmp_path / "results" / "quick" / "readings"
    folder.mkdir()
    (folder / "slytherin-ls400.csv").write_text(READINGS)
    row = rows(tmp_path)[TAIL]
    assert (row["readings"], row["holds_under"], row["decided_by"]) == ("4", "2", "pias-shared")
    other = rows(tmp_path)["slytherin-queue-p99-2x"]
    assert (other["readings"], other["holds_under"], other["decided_by"]) == ("", "", "")
    (folder / "slytherin-ls400.csv").write_text("claim,reading\na,b\n")
    done = run("claims", cwd=tmp_path)
    assert done.returncode == 2 and "slytherin-ls400.csv" in done.stderr and done.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--reading", "shalow"), "did you mean `shallow`?"),
        (("--reading", "pias-shared+pias-dropping"), "two values of one choice, sub-queues of PIAS"),
        (("--reading", "shallow", "--readings"), "cannot be used with"),
        (("--judge-only",), "run.json"),
    ],
)
def test_a_wrong_reading_is_one_clear_message(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    done = run("reproduce", "slytherin-fig3a", *arguments, cwd=tmp_path)
    assert done.returncode == 2 and message in done.stderr, done.stderr
    assert not (tmp_path / "runs").exists()


def test_a_single_burst_is_no_overload_under_any_reading(tmp_path: Path) -> None:
    """One query, however its answers start and over which links: what a list offers to a link ends with it."""
    done = succeeded(run("reproduce", "superways-isolated", "--readings", "--points", cwd=tmp_path))
    assert "left out" not in done.stderr and done.stdout, done.stderr
    reading = "no-links+four-fifths-at-once"
    alone = succeeded(run("reproduce", "superways-isolated", "--reading", reading, "--points", cwd=tmp_path))
    assert "overload" not in alone.stderr, alone.stderr
    points = [json.loads(line)["key"] for line in alone.stdout.splitlines()]
    assert points and len(points) == len(set(points))
    assert not (tmp_path / "runs").exists()


def test_a_study_shows_its_open_choices(tmp_path: Path) -> None:
    text = succeeded(run("show", "study", "spq-ls144", cwd=tmp_path)).stdout
    assert "--reading nic-pull" in text and "the document's words" in text and "what it cites" in text
    shown = succeeded(run("show", "study", "spq-ls144", "--format", "json", cwd=tmp_path)).stdout
    lines = [json.loads(line) for line in shown.splitlines()]
    names = [other["name"] for line in lines if line["kind"] == "choice" for other in line["other"]]
    assert "nic-pull" in names and len(names) == len(set(names))
    done = run("show", "study", "spq-ls145", cwd=tmp_path)
    assert done.returncode == 2 and "did you mean `spq-ls144`?" in done.stderr


def test_a_study_shows_which_schemes_are_another_one_with_a_difference(tmp_path: Path) -> None:
    text = succeeded(run("show", "study", "hyline-second-class", cwd=tmp_path)).stdout
    assert "hyline, which keeps controller.hyline.rounds" in text
    shown = succeeded(run("show", "study", "hyline-second-class", "--format", "json", cwd=tmp_path)).stdout
    lines = [json.loads(line) for line in shown.splitlines()]
    variants = {line["name"]: line for line in lines if line["kind"] == "variant"}
    assert set(variants) == {"hyline-no-pfc", "hyline-iw10", "hyline-rounds"}
    assert all(variant["of"] == "hyline" and variant["but"] for variant in variants.values())


def test_claims_alone_are_judged_as_with_all_simulations(tmp_path: Path) -> None:
    """Fewer are run, and each verdict, number and fingerprint of the plan is the same."""
    common = ("reproduce", "background-fairness", "--reading", "at-once", "--quiet")
    # What was stored of a reading that the study does not have is forgotten.
    stored = tmp_path / "stored" / "quick" / "readings"
    gone = stored / "background-fairness" / "gone.summary.csv.gz"
    gone.parent.mkdir(parents=True)
    gone.write_bytes(b"what it measured")
    head = "claim,reading,plan,verdict,measured,low,high,reason\n"
    row = "dt-fair-share,gone,0123456789abcdef,not run,,,,it was not\n"
    (stored / "background-fairness.csv").write_text(head + row, encoding="utf-8")
    counts, verdicts = [], []
    for name, more in [("all", ("--store", "stored")), ("claims", ("--claims-only",))]:
        succeeded(run(*common, *more, "--out", name, cwd=tmp_path))
        study = tmp_path / name / "quick+at-once" / "studies" / "background-fairness"
        counts.append(len(list((study / "points").iterdir())))
        kept = tmp_path / ("stored" if name == "all" else name) / "quick" / "readings" / "background-fairness.csv"
        verdicts.append(kept.read_text(encoding="utf-8"))
    assert counts == [45, 30]
    assert verdicts[0] == verdicts[1] and verdicts[0].count("\n") > 1
    assert not gone.exists() and (gone.parent / "at-once.summary.csv.gz").exists()
    assert not (tmp_path / "claims" / "quick+at-once" / "background-fairness").exists(), "nothing is drawn"


def test_the_base_is_judged_for_its_claims_alone(tmp_path: Path) -> None:
    """The same verdicts as with all simulations, and nothing stored in the place of what is of all of them."""
    verdicts = []
    for more in [(), ("--claims-only",)]:
        folder = tmp_path / str(len(more))
        folder.mkdir()
        succeeded(run("reproduce", "background-fairness", "--quiet", *more, "--store", "stored", cwd=folder))
        stored = folder / "stored" / "quick"
        verdicts.append((stored / "readings" / "background-fairness.csv").read_text(encoding="utf-8"))
        assert (stored / "background-fairness.toml").exists() == (not more)
        assert (stored / "studies").exists() == (not more)
        assert (stored / "readings" / "background-fairness" / "base.summary.csv.gz").exists() == bool(more)
    assert verdicts[0] == verdicts[1] and verdicts[0].count(",base,") == 1


def test_one_claim_is_judged_with_the_simulations_that_it_needs(tmp_path: Path) -> None:
    """What was measured for another claim before stays, and both verdicts are those of the whole study."""
    succeeded(run("reproduce", "slytherin-fig6", "slytherin-fig7", "--quiet", "--claims-only", "--out", "all", cwd=tmp_path))
    whole = _verdicts(tmp_path / "all" / "quick" / "readings" / "slytherin-convergence.csv")
    summary = tmp_path / "stored" / "quick" / "readings" / "slytherin-convergence" / "base.summary.csv.gz"
    judged = []
    for claim, points in [("slytherin-convergence-4rtt", 1), ("slytherin-convergence-dctcp-6rtt", 2)]:
        judged.append(claim)
        succeeded(run("reproduce", "--claim", claim, "--quiet", "--store", "stored", cwd=tmp_path))
        verdicts = _verdicts(tmp_path / "stored" / "quick" / "readings" / "slytherin-convergence.csv")
        assert verdicts == {claim: whole[claim] for claim in judged}
        rows = list(csv.DictReader(io.StringIO(gzip.decompress(summary.read_bytes()).decode())))
        assert len({row["scheme"] for row in rows}) == points
    assert not (tmp_path / "stored" / "quick" / "studies").exists()


def _verdicts(path: Path) -> dict[str, tuple[str, str]]:
    rows = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8")))
    return {row["claim"]: (row["verdict"], row["measured"]) for row in rows}


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--claim", "slytherin-convergence-4rt"), "did you mean `slytherin-convergence-4rtt`?"),
        (("--claim", "slytherin-convergence-4rtt", "slytherin-fig6"), "cannot be used with"),
        ((), "<ID>"),
    ],
    ids=["unknown", "beside a figure", "nothing asked for"],
)
def test_a_claim_that_cannot_be_judged_is_refused(tmp_path: Path, arguments: tuple[str, ...], reason: str) -> None:
    done = run("reproduce", *arguments, cwd=tmp_path)
    assert done.returncode == 2 and reason in done.stderr, done.stderr
    assert list(tmp_path.iterdir()) == []
