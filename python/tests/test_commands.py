"""The other commands: what they print, and that it is true."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from command import PROGRAM, SMALL, run, succeeded

REPOSITORY = Path(__file__).parents[2]
SCHEMES = sorted(file.stem for file in (REPOSITORY / "schemes").glob("*.toml"))
SCENARIOS = sorted(file.name for file in (REPOSITORY / "scenarios").glob("*.toml"))


def test_help_and_version(tmp_path: Path) -> None:
    shown = succeeded(run("--help", cwd=tmp_path)).stdout
    assert all(command in shown for command in ("run", "check", "list", "show"))
    assert re.fullmatch(r"tailcut \d+\.\d+\.\d+\S*\n", succeeded(run("--version", cwd=tmp_path)).stdout)
    assert run(cwd=tmp_path).returncode == 2, "no command is no success"


def test_every_scheme_is_listed_and_shown(tmp_path: Path) -> None:
    listed = succeeded(run("list", "schemes", cwd=tmp_path)).stdout
    assert SCHEMES
    for scheme in SCHEMES:
        assert re.search(rf"^ *{scheme}\b", listed, re.MULTILINE), listed
        shown = succeeded(run("show", "scheme", scheme, cwd=tmp_path)).stdout
        text = (REPOSITORY / "schemes" / f"{scheme}.toml").read_text(encoding="utf-8")
        for key in ("title", "paper"):
            described = re.search(rf'^{key} = "(.*)"$', text, re.MULTILINE)
            assert described and "".join(described[1].split()) in "".join(shown.split()), (scheme, key)
        assert "host.congestion" in shown and "port.marker" in shown


def test_every_list_has_something(tmp_path: Path) -> None:
    everything = succeeded(run("list", cwd=tmp_path)).stdout
    for kind in ("schemes", "topologies", "workloads", "loss", "markers", "buffers", "paths"):
        shown = succeeded(run("list", kind, cwd=tmp_path)).stdout
        assert len(shown.splitlines()) >= 2 and shown.strip() in everything, kind


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("list", "scheems"), "schemes"),
        (("show", "scheme", "slyterin"), "slytherin"),
        (("show", "topology", "leafspine"), "leaf-spine"),
        (("show", "workload", "websaerch"), "websearch"),
        (("show", "marker", "stpe"), "step"),
        (("show", "loss", "randon"), "random"),
        (("show", "los", "random"), "loss"),
        (("show", "scheem", "dctcp"), "scheme"),
    ],
)
def test_a_slip_of_the_pen_is_understood(tmp_path: Path, arguments: tuple[str, ...], meant: str) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2 and done.stderr.startswith("error: ")
    assert f"did you mean `{meant}`?" in done.stderr, done.stderr


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_shipped_scenario_can_be_checked(name: str) -> None:
    shown = succeeded(run("check", f"scenarios/{name}", cwd=REPOSITORY)).stdout
    assert re.search(r"points +\d+", shown) and re.search(r"flows +\d+", shown) and "packet-hops" in shown


def test_the_forecast_of_a_check_is_near_what_a_run_does(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    shown = succeeded(run("check", "small.toml", cwd=tmp_path)).stdout
    assert not (tmp_path / "runs").exists()
    flows = re.search(r"flows +(\d+) expected in all points", shown)
    hops = re.search(r"about (\d+) M packet-hops", shown)
    assert flows and hops, shown
    done = succeeded(run("run", "small.toml", cwd=tmp_path)).stdout
    assert (tmp_path / "runs" / "small" / "report.html").exists(), "runs/NAME is where it goes"
    real = re.search(r"([\d.]+) M packet-hops", done)
    assert real and 0.5 <= int(hops[1]) / float(real[1]) <= 2.0, (shown, done)
    assert 4700 <= int(flows[1]) <= 4900, "eight points of 600 flows"


def test_a_check_tells_of_queries(tmp_path: Path) -> None:
    drawn = SMALL.replace("degree = 8", "degree.uniform = { min = 6, max = 10 }")
    for text, hosts in ((SMALL, "8"), (drawn, "6 to 10")):
        (tmp_path / "small.toml").write_text(text, encoding="utf-8")
        shown = succeeded(run("check", "small.toml", cwd=tmp_path)).stdout
        told = re.search(r"incast +\d+ flows of \d+ B on average\n +answers to (\d+) queries per second, each of (.*) hosts\n", shown)
        assert told and told[2] == hosts, shown
        # The load of 0.8 of 80 Gb/s, of which 15 % are queries of eight times 20 KB on average.
        assert int(told[1]) == pytest.approx(0.8 * 0.15 * 80e9 / 8 / (8 * 20_000), rel=0.01)
    kinds = succeeded(run("show", "table", "workload.traffic.x.incast.degree", cwd=tmp_path)).stdout
    bounds = succeeded(run("show", "table", "workload.traffic.x.incast.degree.uniform", cwd=tmp_path)).stdout
    assert "uniform" in kinds and "Smallest degree" in bounds and "Largest degree" in bounds
    assert "queries.parquet" in succeeded(run("list", "columns", cwd=tmp_path)).stdout


def test_a_reader_that_leaves_is_no_error(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([PROGRAM, "list"], cwd=tmp_path, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert "panicked" not in done.stderr and done.stderr == ""
