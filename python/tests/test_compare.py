"""Two runs, or two schemes of one, side by side."""

from __future__ import annotations

import csv
import io
import json
import math
import subprocess
from pathlib import Path

import pyarrow.parquet as parquet
import pytest

from command import SMALL, Folder, run, succeeded
from statistics_oracle import T975

METRICS = ["fct_mean", "fct_p99", "goodput_mean", "slowdown_mean"]


def compare(small: Folder, a: str, b: str, *options: str) -> subprocess.CompletedProcess[str]:
    return run("compare", a, b, *options, cwd=small.path.parent)


def compared(small: Folder, a: str, b: str, *options: str) -> dict:
    return json.loads(succeeded(compare(small, a, b, *options, "--format", "json")).stdout)


def fct_means(folder: Folder, scheme: str, load: str, wanted: str) -> dict[int, float]:
    """Mean FCT of a class by seed, from the flows."""
    means = {}
    for key, point in folder.points().items():
        if (point["scheme"], point["values"]) == (scheme, [load]):
            rows = parquet.read_table(folder.path / "points" / key / "flows.parquet").to_pylist()
            fcts = [row["fct_ns"] / 1e3 for row in rows if row["measured"] and row["class"] == wanted]
            means[point["seed"]] = math.fsum(fcts) / len(fcts)
    return means


@pytest.fixture(scope="session")
def others(small: Folder) -> Folder:
    """The small scenario with other seeds."""
    succeeded(run("run", "small.toml", "--out", "others", "--seeds", "11,12,13", cwd=small.path.parent))
    return Folder(small.path.parent / "others")


def test_schemes_of_one_run_are_compared_seed_by_seed(small: Folder) -> None:
    found = compared(small, "run:dctcp", "run:slytherin")
    assert found["axes"] == ["workload.load"]
    places = [(row["values"], row["class"], row["metric"]) for row in found["rows"]]
    assert places == [([x], c, m) for x in ("0.4", "0.8") for c in ("short", "long", "incast") for m in METRICS]
    thin = 0
    for row in found["rows"]:
        assert (row["method"], row["seeds_a"], row["seeds_b"]) == ("paired", 2, 2)
        assert row["ratio"] == pytest.approx(row["b"] / row["a"], rel=1e-12), "the quotient of what is shown"
        if row["metric"] == "fct_mean":
            one, other = (fct_means(small, scheme, row["values"][0], row["class"]) for scheme in ("dctcp", "slytherin"))
            # How far the value over both is from that without a seed, as a share, on the one side less on the other.
            apart = [one[seed] / row["a"] - other[seed] / row["b"] for seed in (1, 2)]
            half = T975 * math.sqrt(sum(share * share for share in apart) / 2)
            expected = [row["ratio"] * math.exp(-half), row["ratio"] * math.exp(half)]
            assert [row["low"], row["high"]] == pytest.approx(expected, rel=1e-6)
        if row["low"] is None:
            thin += 1
            assert (row["metric"], row["verdict"]) == ("fct_p99", "unknown")
            assert "percentile" in row["note"] and "it needs 1000" in row["note"]
            continue
        inside = row["low"] <= 1 <= row["high"]
        assert row["verdict"] == ("no difference" if inside else "lower" if row["high"] < 1 else "higher")
    assert thin == 6, "a p99 of so few flows is refused as in the summary"
    summary = {(r["scheme"], r["workload.load"], r["class"], r["metric"]): r["value"] for r in small.rows()}
    for row in found["rows"]:
        place = (row["values"][0], row["class"], row["metric"])
        assert row["a"] == pytest.approx(float(summary["dctcp", *place]), rel=1e-9)
        assert row["b"] == pytest.approx(float(summary["slytherin", *place]), rel=1e-9)
    assert any("2 seed(s)" in warning for warning in found["warnings"])


def test_runs_with_other_seeds_are_independent_samples(small: Folder, others: Folder) -> None:
    found = compared(small, "run", "others", "--metric", "fct_mean", "fct_p50", "--class", "all,short")
    assert found["a"]["schemes"] == found["b"]["schemes"] == ["dctcp", "slytherin"]
    assert len(found["rows"]) == 2 * 2 * 2 * 2
    assert {(row["method"], row["seeds_a"], row["seeds_b"]) for row in found["rows"]} == {("unpaired", 2, 3)}
    same = sum(row["verdict"] == "no difference" for row in found["rows"])
    assert same >= 12, "the same schemes under other seeds"


def test_what_is_refused_in_the_summary_is_refused_in_a_comparison(small: Folder) -> None:
    known = {(r["scheme"], r["workload.load"], r["class"], r["metric"]): r for r in small.rows()}
    metrics = ("fct_p50", "fct_p95", "fct_p99", "qct_p99", "queue_p99", "queue_max", "drops", "flows")
    for row in compared(small, "run:dctcp", "run:slytherin", "--metric", *metrics, "--class", "short,incast,all")["rows"]:
        sides = [known[scheme, row["values"][0], row["class"], row["metric"]] for scheme in ("dctcp", "slytherin")]
        refused = any(side["low"] == "" for side in sides)
        assert (row["verdict"] == "unknown") == refused, row
        assert [row["a"], row["b"]] == pytest.approx([float(side["value"]) for side in sides], rel=1e-9)
        for side in sides:
            assert side["note"] in (row["note"] or ""), row


def test_sides_with_more_seeds_are_cut_to_the_common_ones(small: Folder) -> None:
    where = small.path.parent
    succeeded(run("run", "small.toml", "--out", "more", "--seeds", "3", cwd=where))
    both = compared(small, "run:dctcp", "run:slytherin")["rows"]
    cut = compared(small, "more:dctcp", "run:slytherin")["rows"]
    assert cut == both, "the third seed of A has no partner"
    other = compared(small, "run:dctcp", "more:slytherin")["rows"]
    assert other == both


def test_a_run_does_not_differ_from_itself(small: Folder) -> None:
    found = compared(small, "run", "run", "--class", "all")
    assert {(row["ratio"], row["method"]) for row in found["rows"]} == {(1.0, "paired")}
    verdicts = {(row["verdict"], row["low"] is None) for row in found["rows"]}
    assert verdicts <= {("no difference", False), ("unknown", True)} and ("no difference", False) in verdicts


def test_table_csv_and_json_say_the_same(small: Folder) -> None:
    found = compared(small, "run:dctcp", "run:slytherin")
    text = succeeded(compare(small, "run:dctcp", "run:slytherin", "--format", "csv")).stdout
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == len(found["rows"])
    for row, other in zip(rows, found["rows"], strict=True):
        assert [row["workload.load"]] == other["values"] and row["class"] == other["class"]
        for name in ("a", "b", "ratio", "low", "high"):
            missing = other[name] is None
            assert row[name] == "" if missing else float(row[name]) == pytest.approx(other[name], rel=1e-9)
        assert row["note"] == (other["note"] or "")
        assert (row["verdict"], row["method"]) == (other["verdict"], "paired")
    done = succeeded(compare(small, "run:dctcp", "run:slytherin"))
    assert all(len(line) <= 120 for line in done.stdout.splitlines())
    assert done.stdout.startswith("A: run, dctcp, 2 seeds")
    assert "paired by seed" in done.stdout and "unpaired" not in done.stdout
    judged = sum(row["verdict"] != "unknown" for row in rows)
    assert f"one in twenty differs by chance alone: about {judged / 20:.1f} of these {judged} rows" in done.stdout
    assert "unknown *" in done.stdout and "\n* A and B: " in done.stdout, "it says why"
    assert done.stderr.count("warning") == len(found["warnings"])


@pytest.mark.parametrize(
    ("a", "b", "options", "message"),
    [
        ("run", "nowhere", (), "nowhere is no run folder"),
        ("run:dctpc", "run", (), "did you mean `dctcp`?"),
        ("run", "run", ("--metric", "fct_p98"), "there is no metric `fct_p98`"),
        ("run", "run", ("--class", "shrot"), "did you mean `short`?"),
        ("run", "run", ("--class", "short", "--metric", "queue_mean"), "no common point has queue_mean of short"),
        ("run", "one", (), "sweep different parameters"),
        ("run", "elsewhere", (), "no swept values in common"),
    ],
)
def test_what_cannot_be_compared_is_refused(small: Folder, a: str, b: str, options: tuple[str, ...], message: str) -> None:
    where = small.path.parent
    few = ("--seeds", "1", "--set", "workload.flows=200")
    if b == "one":
        succeeded(run("run", "small.toml", "--out", b, *few, "--set", "workload.load=0.4", cwd=where))
    if b == "elsewhere":
        (where / "elsewhere.toml").write_text(SMALL.replace("[0.4, 0.8]", "[0.3, 0.5]"), encoding="utf-8")
        succeeded(run("run", "elsewhere.toml", "--out", b, *few, cwd=where))
    refused = compare(small, a, b, *options)
    assert refused.returncode == 2 and not refused.stdout
    assert message in refused.stderr and refused.stderr.count("error:") == 1, refused.stderr
