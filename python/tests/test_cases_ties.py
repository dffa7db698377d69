"""Exact ties favour no host, and an ACK with ECN echo opens no window."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow.parquet as parquet

from command import Folder, run, succeeded

CASES = Path(__file__).parent / "cases"


def flows_of(folder: Path) -> dict[tuple[str, int], list[dict]]:
    """The flows of each point, by its scheme and seed."""
    run_folder = Folder(folder)
    points = run_folder.points()
    return {
        (point["scheme"], point["seed"]): parquet.read_table(folder / "points" / key / "flows.parquet").to_pylist()
        for key, point in points.items()
    }


def test_two_equal_senders_at_line_rate_share_a_drop_tail_port(tmp_path: Path) -> None:
    shutil.copy(CASES / "f12-lockout-by-ties" / "c14.toml", tmp_path)
    succeeded(run("run", "c14.toml", "--seeds", "4", "--out", "run", cwd=tmp_path))
    lost = {"tcp": [0, 0], "dctcp": [0, 0]}
    for (scheme, _), flows in flows_of(tmp_path / "run").items():
        times = [flow["fct_ns"] for flow in flows]
        assert min(times) > 0.75 * max(times), (scheme, times)
        for flow in flows:
            lost[scheme][flow["src"]] += flow["drops"]
    for scheme, (first, second) in lost.items():
        assert 0.6 < first / second < 1.7, (scheme, first, second)


def test_check_warns_where_numbers_decide_exact_ties(tmp_path: Path) -> None:
    shutil.copy(CASES / "f12-lockout-by-ties" / "c14.toml", tmp_path)
    assert "exact ties" not in succeeded(run("check", "c14.toml", cwd=tmp_path)).stdout
    numbered = succeeded(run("check", "c14.toml", "--set", "run.ties=numbered", cwd=tmp_path)).stdout
    assert numbered.count("exact ties decide") == 1, numbered
    # One of them later: no tie, and no warning.
    text = (tmp_path / "c14.toml").read_text(encoding="utf-8").replace('{src=1,dst=2,size="32MB"}', '{src=1,dst=2,size="32MB",start="1ns"}')
    (tmp_path / "later.toml").write_text(text, encoding="utf-8")
    assert "exact ties" not in succeeded(run("check", "later.toml", "--set", "run.ties=numbered", cwd=tmp_path)).stdout


def test_flows_that_are_always_marked_keep_their_smallest_window(tmp_path: Path) -> None:
    shutil.copy(CASES / "f06-dctcp-floor-one" / "c39x_200.toml", tmp_path)
    for floor in (1, 2):
        sets = ["--set", 'schemes=["dctcp"]', "--set", f"host.congestion.dctcp.floor={floor}"]
        succeeded(run("run", "c39x_200.toml", *sets, "--out", f"floor-{floor}", cwd=tmp_path))
        (series,) = (tmp_path / f"floor-{floor}").glob("points/*/queue_series.parquet")
        samples = parquet.read_table(series).to_pylist()
        # Samples that repeat the one before are left out: before the last flow starts, at 20 ms, the queue is level.
        level = [sample["queue_bytes"] for sample in samples if sample["time_ns"] < 19_000_000][-1]
        # A packet of each flow is on its way, of which the links hold 14 KB.
        assert abs(level - (floor * 200 * 1500 - 14_000)) <= 3_000, (floor, level)
