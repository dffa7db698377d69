"""A run that stalls ends, says what its flows wait for, and leaves the other points of its sweep alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command import run, succeeded

#: A flow to a leaf that fails for good in one setting, with another flow beside it.
SCENARIO = """\
schemes = ["dctcp", "homa"]
seeds = 1
sweep."setting.leaf" = ["well", "dead"]

[settings.leaf.well]
[settings.leaf.dead]
failures = { list = [{ switch = "leaf1", at = "300us" }] }

[topology.leaf-spine]
leaves = 2
hosts_per_leaf = 2
spines = 1
host_link = { rate = "10Gbps", delay = "2us" }
core_link = { rate = "10Gbps", delay = "2us" }

[run]
watchdog = "200ms"

[workload.traffic.long]
list = [
    { src = 0, dst = 2, size = "2MB", start = "0us" },
    { src = 0, dst = 1, size = "2MB", start = "0us" },
]
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    (tmp_path / "dead.toml").write_text(SCENARIO, encoding="utf-8")
    return tmp_path


def test_the_points_that_stall_are_named_and_the_others_go_on(scenario: Path) -> None:
    said = {}
    for threads in ("1", "2"):
        done = run("run", "dead.toml", "--out", f"run{threads}", "--threads", threads, cwd=scenario)
        assert done.returncode == 3, done.stderr
        assert "error: 2 point(s) stalled; the others are kept" in done.stderr
        said[threads] = sorted(line for line in done.stderr.splitlines() if "stalled" in line or line.startswith("  flow"))
    assert said["1"] == said["2"]
    text = "\n".join(said["1"])
    assert "flow 0 (host0 -> host2, " in text and "waits for a grant of its receiver" in text
    assert text.count("no way is left to its receiver") == 2
    assert "stands at dead.toml:17" in done.stderr
    finished = sorted(path.parent.name for path in (scenario / "run1" / "points").glob("*/summary.json"))
    assert len(finished) == 2 and all("well" in key for key in finished)
    assert "stalled at " in (scenario / "run1" / "report.html").read_text(encoding="utf-8")
    # The same command tries those again that stalled, and no others.
    again = run("run", "dead.toml", "--out", "run1", "--format", "json", cwd=scenario)
    assert again.returncode == 3
    rows = [json.loads(line) for line in again.stdout.splitlines()]
    assert [row["stalled"] for row in rows if row["kind"] == "failure"] == [True, True]
    key = next(path.name for path in (scenario / "run1" / "points").iterdir() if "dead" in path.name)
    alone = run("run", "dead.toml", "--out", "alone", "--only", key, cwd=scenario)
    assert (alone.returncode, alone.stdout) == (3, f"{key}: stalled\n")


def test_without_a_watchdog_such_flows_are_censored(scenario: Path) -> None:
    (scenario / "dead.toml").write_text(SCENARIO.replace('watchdog = "200ms"', 'drain = "200ms"'), encoding="utf-8")
    succeeded(run("run", "dead.toml", "--out", "run", cwd=scenario))


def test_a_span_of_no_time_is_refused_at_its_place(scenario: Path) -> None:
    done = run("check", "dead.toml", "--set", "run.watchdog=0s", cwd=scenario)
    assert done.returncode == 2
    assert "`run.watchdog`: nothing is acknowledged in no time" in done.stderr
