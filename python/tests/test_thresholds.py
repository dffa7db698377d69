"""`tailcut thresholds`: the best thresholds of a feedback queue, computed here again by a slower way."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from pathlib import Path
from statistics import fmean

import pytest

from command import run, succeeded

REPOSITORY = Path(__file__).parents[2]
WEBSEARCH = ("--workload", "websearch", "--queues", "4")


def lines(where: Path, *arguments: str) -> list[dict[str, str]]:
    shown = succeeded(run("thresholds", "--format", "csv", *arguments, cwd=where)).stdout
    return list(csv.DictReader(io.StringIO(shown)))


def numbers(text: str) -> list[float]:
    return [float(number) for number in text.split()]


def sizes(name: str, count: int = 50_000) -> list[float]:
    """Sizes at equally spaced quantiles of a distribution that ships."""
    text = (REPOSITORY / "data" / "distributions" / f"{name}.cdf").read_text(encoding="utf-8")
    knots = [[float(cell) for cell in line.split()] for line in text.splitlines() if not line.startswith("#")]
    found, at = [], 0
    for nth in range(count):
        share = (nth + 0.5) / count
        while knots[at + 1][1] < share:
            at += 1
        (low, below), (high, above) = knots[at], knots[at + 1]
        found.append(low + (high - low) * (share - below) / (above - below))
    return found


def mean_time(flows: list[float], load: float, thresholds: list[float]) -> float:
    """Kleinrock's formula by sums over flows: mean time in the system over mean service time."""
    arrivals = load / fmean(flows)
    total, above = 0.0, 0.0
    for below in [*thresholds, math.inf]:
        capped = [min(size, below) for size in flows]
        wait = arrivals * fmean(size * size for size in capped) / (2 * (1 - arrivals * fmean(capped)))
        inside = sum(wait + size for size in flows if above < size <= below) / len(flows)
        total += inside / (1 - arrivals * fmean(min(size, above) for size in flows))
        above = below
    return total / fmean(flows)


@pytest.mark.parametrize("name", ["websearch", "datamining"])
def test_the_mean_times_are_those_of_the_formula(tmp_path: Path, name: str) -> None:
    flows = sizes(name)
    found = lines(tmp_path, "--workload", name, "--queues", "4", "--load", "0.3,0.9")
    assert [line["thresholds"].split(",")[0] for line in found[:4]] == [
        "optimum",
        "one queue",
        f"published {name}",
        f"published {name}-nsdi",
    ]
    for line in found:
        slow = mean_time(flows, float(line["load"]), numbers(line["bytes"]))
        assert float(line["mean_time"]) == pytest.approx(slow, rel=5e-3), line
        assert numbers(line["packets"]) == pytest.approx([b / 1460 for b in numbers(line["bytes"])], rel=1e-5)
        assert len(numbers(line["bytes"])) == int(line["queues"]) - 1


def test_no_other_thresholds_nearby_are_better(tmp_path: Path) -> None:
    flows = sizes("websearch", 20_000)
    best = numbers(lines(tmp_path, *WEBSEARCH, "--load", "0.6")[0]["bytes"])
    least = mean_time(flows, 0.6, best)
    for at in range(len(best)):
        for factor in (0.8, 0.95, 1.05, 1.25):
            moved = [size * factor if index == at else size for index, size in enumerate(best)]
            assert mean_time(flows, 0.6, moved) > least


def test_the_formats_say_the_same(tmp_path: Path) -> None:
    arguments = (*WEBSEARCH, "--load", "0.9", "--link", "10Gbps")
    rows = lines(tmp_path, *arguments)
    table = json.loads(succeeded(run("thresholds", "--format", "json", *arguments, cwd=tmp_path)).stdout)
    text = succeeded(run("thresholds", *arguments, cwd=tmp_path)).stdout
    assert table["workload"] == "websearch" and len(table["lines"]) == len(rows) == 4
    for row, record in zip(rows, table["lines"], strict=True):
        assert record["thresholds"] == row["thresholds"] and record["bytes"] == numbers(row["bytes"])
        assert record["mean_time"] == pytest.approx(float(row["mean_time"]), rel=1e-9)
        # 10 Gb/s are 1250 bytes in a microsecond.
        assert record["mean_us"] == pytest.approx(record["mean_time"] * table["mean_bytes"] / 1250, rel=1e-9)
        assert re.search(rf"{re.escape(row['thresholds'])} +{row['queues']} ", text)
        assert row["bytes"] in text and row["packets"] in text
    assert all(len(line) <= 100 for line in text.splitlines())


def test_a_file_is_a_distribution_too(tmp_path: Path) -> None:
    (tmp_path / "two.cdf").write_text("8000 0\n32000 0.9554\n1000000 0.9554\n1000000 1\n", encoding="utf-8")
    found = lines(tmp_path, "--file", "two.cdf", "--load", "0.5")
    assert [line["thresholds"] for line in found] == ["optimum", "one queue"]
    assert found[0]["bytes"] == "32000" and found[0]["queues"] == "2"
    (tmp_path / "packets.tcl").write_text("10 1 0\n20 1 0.5\n1000 1 1\n", encoding="utf-8")
    packets = lines(tmp_path, "--file", "packets.tcl", "--columns", "ns2", "--queues", "2", "--load", "0.5")
    assert packets[0]["bytes"] == str(20 * 1460)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--workload", "web-search", "--load", "0.5"), "did you mean `websearch`?"),
        (("--workload", "websearch", "--load", "1"), "a load of 1 "),
        (("--workload", "websearch", "--load", "0.5,-0.2"), "a load of -0.2 "),
        (("--workload", "websearch", "--load", "nan"), "a load of NaN "),
        (("--workload", "websearch", "--load", "half"), "invalid value 'half'"),
        (("--workload", "websearch", "--load", "0.5", "--queues", "9"), "there cannot be 9 queues"),
        (("--workload", "websearch", "--load", "0.5", "--queues", "0"), "expected 1 to 8"),
        (("--workload", "websearch", "--load", "0.5", "--link", "10"), "10"),
        (("--workload", "websearch", "--load", "0.5", "--format", "xml"), "invalid value 'xml'"),
        (("--workload", "websearch"), "--load"),
        (("--load", "0.5"), "--workload"),
        (("--workload", "websearch", "--file", "x", "--load", "0.5"), "cannot be used with"),
        (("--file", "nothing.cdf", "--load", "0.5"), "nothing.cdf"),
        (("--file", "bad.cdf", "--load", "0.5"), "`bad.cdf`, line 2: the size falls"),
        (("--file", "bad.cdf", "--columns", "ns3", "--load", "0.5"), "did you mean `ns2`?"),
    ],
)
def test_a_wrong_value_is_one_clear_message(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    (tmp_path / "bad.cdf").write_text("20 0\n10 1\n", encoding="utf-8")
    done = run("thresholds", *arguments, cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("error: ") and message in done.stderr, done.stderr
