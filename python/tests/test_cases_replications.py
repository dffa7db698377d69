"""Seeds that draw nothing, percentiles of few values, claims of changed runs, and the names of files."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest
from command import SMALL, Folder, run, succeeded

CASES = Path(__file__).parent / "cases"
NOTHING_DRAWN = "seeds draw nothing here: {} runs are identical"
MARK = "†"


def case(name: str, where: Path) -> str:
    """A scenario of a case, copied to where it runs; ties are numbered, so that nothing at all is drawn."""
    (source,) = (CASES / name).glob("*.toml")
    text = 'run.ties = "numbered"\n' + source.read_text(encoding="utf-8")
    (where / source.name).write_text(text, encoding="utf-8")
    return source.name


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """Four flows of a list on one path, under five seeds."""
    where = tmp_path_factory.mktemp("listed")
    succeeded(run("run", case("f03-seeds-without-chance", where), "--out", "run", cwd=where))
    return Folder(where / "run")


def test_identical_runs_are_one_replication(listed: Folder) -> None:
    digests = {key[0]: digest for key, digest in listed.digests().items()}
    assert set(listed.digests().values()) == set(digests.values()), "the case: each scheme does the same under every seed"
    rows = listed.rows()
    assert {row["n"] for row in rows if row["metric"] == "fct_mean"} == {"4"}
    assert [row["value"] for row in rows if row["metric"] == "flows" and row["class"] == "all"] == ["4", "4"]
    for row in rows:
        assert row["low"] == row["high"] == "", row
        counted = row["metric"] in ("flows", "censored") or "max" in row["metric"] or row["metric"].endswith("_offered")
        if row["value"] and not (counted and row["metric"] != "utilisation_max"):
            assert row["note"].endswith(NOTHING_DRAWN.format(5)), row
    said = succeeded(run("report", str(listed.path), cwd=listed.path.parent))
    warnings = [line for line in (said.stdout + said.stderr).splitlines() if "draw nothing" in line and "warning" in line]
    assert len(warnings) <= 1


def test_one_warning_names_the_cause(tmp_path: Path) -> None:
    done = succeeded(run("run", case("f03-seeds-without-chance", tmp_path), "--out", "run", cwd=tmp_path))
    lines = (done.stdout + done.stderr).splitlines()
    warnings = [line for line in lines if line.startswith("warning: seeds")]
    assert warnings == [f"warning: {NOTHING_DRAWN.format(5)}, and count as one, without intervals"]
    assert not any("five seeds are recommended" in line for line in lines)
    assert NOTHING_DRAWN.format(5) in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")


def test_many_seeds_of_four_flows_are_four_flows(tmp_path: Path) -> None:
    name = case("f03-seeds-without-chance", tmp_path)
    succeeded(run("run", name, "--seeds", "250", "--set", 'schemes=["tcp"]', "--out", "run", cwd=tmp_path))
    (p99,) = (row for row in Folder(tmp_path / "run").rows() if (row["class"], row["metric"]) == ("all", "fct_p99"))
    assert (p99["n"], p99["low"], p99["high"]) == ("4", "", "")
    assert "is their maximum" in p99["note"]


def test_a_comparison_of_identical_runs_has_no_interval(listed: Folder) -> None:
    where = listed.path.parent
    done = succeeded(run("compare", "run:dctcp", "run:tcp", "--format", "json", cwd=where))
    found = json.loads(done.stdout)
    for row in found["rows"]:
        assert (row["low"], row["high"], row["verdict"], row["seeds_a"], row["seeds_b"]) == (None, None, "unknown", 1, 1)
        assert NOTHING_DRAWN.format(5) in row["note"]
    assert [warning for warning in found["warnings"] if "draw nothing" in warning] == [
        f"run: {NOTHING_DRAWN.format(5)}, and count as one, without intervals"
    ]


def test_more_seeds_are_not_added_where_they_draw_nothing(tmp_path: Path) -> None:
    name = case("f03-seeds-without-chance", tmp_path)
    done = run("run", name, "--until", "ci=5%", "--of", "fct_mean", "--max-seeds", "80", "--out", "run", cwd=tmp_path)
    assert len({key[-1] for key in Folder(tmp_path / "run").digests()}) == 5, done.stderr
    assert NOTHING_DRAWN.format(5) in done.stdout + done.stderr


def test_advice_of_identical_runs_is_open(tmp_path: Path) -> None:
    name = case("f03-seeds-without-chance", tmp_path)
    done = run(
        "advise", "buffer", name, "--set", 'schemes=["tcp"]', "--set", "workload.allow_overload=true", "--keep", "fct_mean(class=a) < 20ms", "--from", "15KB",
        "--to", "300KB", "--max-seeds", "40", "--out", "advice", cwd=tmp_path,
    )  # fmt: skip
    assert NOTHING_DRAWN.format(5) in " ".join(done.stdout.split()), done.stdout + done.stderr
    assert {key[-1] for key in Folder(tmp_path / "advice").digests()} == {1, 2, 3, 4, 5}, "more seeds would say no more"


#: Drawn flows beside a listed one: each seed is another run.
DRAWN = """\
schemes = ["tcp"]
seeds = 5
[topology.star]
hosts = 6
host_link = { rate = "10Gbps", delay = "1us" }
[workload]
load = 0.1
flows = 4
[workload.traffic.listed]
list = [{ src = 0, dst = 1, size = "1MB" }]
[workload.traffic.drawn]
share = 1.0
sizes.uniform = { min = "10KB", max = "90KB" }
"""


def test_runs_that_differ_in_a_part_count_each(tmp_path: Path) -> None:
    (tmp_path / "drawn.toml").write_text(DRAWN, encoding="utf-8")
    done = succeeded(run("run", "drawn.toml", "--out", "run", cwd=tmp_path))
    folder = Folder(tmp_path / "run")
    assert len(set(folder.digests().values())) == 5
    rows = {(row["class"], row["metric"]): row for row in folder.rows()}
    assert (rows["listed", "fct_mean"]["n"], rows["drawn", "flows"]["value"]) == ("5", "20")
    assert rows["all", "fct_mean"]["low"] != "" and "draw nothing" not in done.stdout + done.stderr


@pytest.mark.parametrize("fidelity", ["flow", "links"])
def test_other_fidelities_count_the_same(tmp_path: Path, fidelity: str) -> None:
    name = case("f03-seeds-without-chance", tmp_path)
    done = run("run", name, "--set", f"fidelity={fidelity}", "--set", 'schemes=["dctcp"]', "--out", "run", cwd=tmp_path)
    succeeded(done)
    assert NOTHING_DRAWN.format(5) in done.stdout + done.stderr
    assert {row["n"] for row in Folder(tmp_path / "run").rows() if row["metric"] == "fct_mean"} == {"4"}


#: One flow ends in time, and one does not.
ONE = """\
schemes = ["dctcp"]
run.drain = "200us"
[topology.star]
hosts = 5
host_link = { rate = "10Gbps", delay = "1us" }
[workload.traffic.a]
list = [{ src = 0, dst = 4, size = "20KB" }, { src = 1, dst = 4, size = "10MB" }]
"""


def test_one_finished_flow_beside_a_censored_one_has_no_interval(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text(ONE, encoding="utf-8")
    succeeded(run("run", "one.toml", "--out", "run", cwd=tmp_path))
    rows = {row["metric"]: row for row in Folder(tmp_path / "run").rows() if row["class"] == "a"}
    assert (rows["flows"]["value"], rows["censored"]["value"], rows["fct_mean"]["n"]) == ("2", "1", "1")
    for metric in ("fct_mean", "slowdown_mean", "goodput_mean", "ideal_mean", "goodput_aggregate"):
        assert rows[metric]["low"] == rows[metric]["high"] == "", rows[metric]


# Percentiles of few values.


def needed(metric: str) -> int:
    """Values that a percentile needs for ten to lie above it."""
    permille = {"p50": 500, "p95": 950, "p99": 990, "p999": 999}[metric.split("_")[1]]
    return math.ceil(10_000 / (1000 - permille))


def test_the_terminal_and_the_report_mark_percentiles_of_few_values(small: Folder) -> None:
    rows = {(row["class"], row["metric"], row["scheme"], row["workload.load"]): row for row in small.rows()}
    table = (small.path / "tables" / "all.txt").read_text(encoding="utf-8")
    n = {int(row["n"]) for (name, metric, *_), row in rows.items() if (name, metric) == ("all", "qct_p99")}
    assert max(n) < needed("qct_p99"), "the scenario has few queries"
    assert re.search(rf"\d {MARK}", table) and f"{MARK} of fewer values than the percentile needs" in table
    page = (small.path / "report.html").read_text(encoding="utf-8")
    assert re.search(rf">[\d.]+ {MARK}<", page) or re.search(rf"[\d.]+ {MARK}", page)
    assert f"{MARK} of fewer values than the percentile needs" in page
    marked = len(re.findall(rf"\d {MARK}", table))
    shown = [row for (name, metric, *_), row in rows.items() if name == "all" and metric in ("fct_p50", "fct_p99", "fct_p999", "qct_p99", "slowdown_p99")]
    few = [row for row in shown if int(row["n"]) < needed(row["metric"])]
    assert 0 < marked <= len(few)


def test_a_comparison_marks_percentiles_of_few_values(small: Folder) -> None:
    where = small.path.parent
    words = ("compare", "run:dctcp", "run:slytherin", "--metric", "qct_p99", "fct_p50", "--class", "incast")
    done = succeeded(run(*words, cwd=where))
    lines = {line.split()[2]: line for line in done.stdout.splitlines() if "incast" in line and "0.8" in line}
    assert MARK in lines["qct_p99"] and MARK not in lines["fct_p50"], lines
    assert f"{MARK} of fewer values" in done.stdout
    for row in json.loads(succeeded(run(*words, "--format", "json", cwd=where)).stdout)["rows"]:
        assert row["a_is_of_few"] == row["b_is_of_few"] == (row["metric"] == "qct_p99"), row


# Claims of changed runs.


def reproduce(where: Path, *arguments: str) -> str:
    done = succeeded(run("reproduce", *arguments, "--out", "out", cwd=where, timeout=300))
    return done.stdout


def verdicts(said: str) -> dict[str, str]:
    found = re.finditer(r"^  ([A-Z, ]+) [ABC] ([\w-]+)$", said, re.MULTILINE)
    return {match[2]: match[1] for match in found}


def test_a_run_at_another_load_judges_no_claim_about_others(tmp_path: Path) -> None:
    said = reproduce(tmp_path, "slytherin-table1", "--set", "workload.load=0.2", "--seeds", "1")
    assert set(verdicts(said).values()) == {"NOT RUN"}
    assert "This run has load 0.2; the claim is about 0.8 and 0.9." in said
    # The same simulations, judged again.
    again = reproduce(tmp_path, "slytherin-table1", "--set", "workload.load=0.2", "--seeds", "1", "--judge-only")
    assert verdicts(again) == verdicts(said)


def test_a_claim_is_judged_where_its_simulations_stay_the_same(tmp_path: Path) -> None:
    """A file beside the results changes none; another buffer or measurement does, and a scheme that is left out is missing."""
    base = reproduce(tmp_path, "slytherin-fig7", "--seeds", "1")
    (tmp_path / "out").rename(tmp_path / "base")
    recorded = reproduce(tmp_path, "slytherin-fig7", "--seeds", "1", "--set", "record.attribution=true")
    assert verdicts(recorded) == verdicts(base)
    (tmp_path / "out").rename(tmp_path / "recorded")
    changed = reproduce(tmp_path, "slytherin-fig7", "--seeds", "1", "--set", "port.limit=90KB")
    assert set(verdicts(changed).values()) == {"CHANGED SETTING"}, changed
    assert "`port.limit` is 90KB, published" in " ".join(changed.split())
    assert re.search(r"published \S.*; measured [\d-]", changed)
    assert "NOT REPRODUCED" not in changed
    (tmp_path / "out").rename(tmp_path / "changed")
    for assignment, difference in {
        'record.window={until="3ms"}': "`record.window.until` is 3ms, published not set",
        "record.completion=acknowledged": "`record.completion` is acknowledged, published not set",
        "record.queue_sample=7us": "`record.queue_sample` is 7us, published",
    }.items():
        measured = reproduce(tmp_path, "slytherin-fig7", "--seeds", "1", "--set", assignment)
        assert set(verdicts(measured).values()) == {"CHANGED SETTING"}, measured
        assert difference in " ".join(measured.split())
        (tmp_path / "out").rename(tmp_path / assignment.split("=")[0])
    fewer = reproduce(tmp_path, "slytherin-fig7", "--seeds", "1", "--set", 'schemes=["dctcp"]')
    own = "slytherin-convergence-dctcp-6rtt"
    assert {claim for claim, verdict in verdicts(fewer).items() if verdict != "NOT RUN"} == {own}
    assert verdicts(fewer)[own] == verdicts(base)[own], "it is about DCTCP alone"
    assert "This run has no slytherin, and the claim is about it." in fewer


def test_a_changed_run_is_not_stored(tmp_path: Path) -> None:
    done = run("reproduce", "slytherin-fig7", "--set", "port.limit=90KB", "--out", "out", "--store", "results", cwd=tmp_path)
    assert done.returncode == 2 and "--store" in done.stderr
    assert not (tmp_path / "results").exists()


# Names of files.


def test_names_of_files_say_what_they_hold(tmp_path: Path) -> None:
    text = SMALL.replace("seeds = 2", 'seeds = 1\nsize_bounds = ["100KB", "1MB"]').replace('["dctcp", "slytherin"]', '["dctcp"]')
    (tmp_path / "bounds.toml").write_text(text, encoding="utf-8")
    succeeded(run("run", "bounds.toml", "--set", "workload.load=0.4", "--set", "workload.flows=200", "--out", "run", cwd=tmp_path))
    names = {path.name for folder in ("plots", "tables") for path in (tmp_path / "run" / folder).iterdir()}
    assert {"fct_p99_upto-100KB.svg", "fct_p99_100KB-to-1MB.svg", "upto-100KB.csv", "100KB-to-1MB.txt"} <= names, sorted(names)
    assert all(re.fullmatch(r"[a-z0-9][A-Za-z0-9._+-]*", name) and len(name) < 255 for name in names), sorted(names)
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    links = set(re.findall(r'(?:href|src)="((?:plots|tables)/[^"]+)"', page))
    assert links and all((tmp_path / "run" / link.replace("%2B", "+")).exists() for link in links), links
    listed = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))["results"]
    assert {f"plots/{name}" for name in names if name.endswith(".svg")} <= set(listed)


def test_the_largest_point_is_named(small: Folder) -> None:
    done = succeeded(run("check", "small.toml", cwd=small.path.parent))
    assert re.search(r"in the largest point \((dctcp|slytherin)\*?, workload\.load = 0\.8\):", done.stdout), done.stdout
    lines = succeeded(run("check", "small.toml", "--format", "json", cwd=small.path.parent)).stdout.splitlines()
    (scenario,) = (line for line in map(json.loads, lines) if line["kind"] == "scenario")
    assert scenario["largest_point"]["values"] == {"workload.load": "0.8"}
