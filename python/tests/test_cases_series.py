"""What is recorded over time covers the run, as a user's files show it: lists whose flows all start early, shared buffers,
and bursts that follow each other."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from command import Folder, run, succeeded

CASES = Path(__file__).parent / "cases"


def run_case(where: Path, case: str, *more: str) -> Folder:
    succeeded(run("run", str(CASES / case), "--out", "run", *more, cwd=where))
    return Folder(where / "run")


def tables(folder: Folder, name: str, scheme: str) -> list[dict]:
    [key] = [key for key, point in folder.points().items() if point["scheme"] == scheme]
    return pq.read_table(folder.path / "points" / key / name).to_pylist()


def test_the_demand_of_a_burst_has_nothing_of_the_one_before(tmp_path: Path) -> None:
    folder = run_case(tmp_path, "oracle-of-bursts/oracle.toml")
    bursts = tables(folder, "bursts.parquet", "tcp")
    assert [burst["drops"] for burst in bursts] == [0, 0]
    # Twenty hosts send 40 packets each at line rate, while the port sends one for twenty that come; then 100 more.
    for burst, right in zip(bursts, (1_140_000, 274_500), strict=True):
        assert burst["demand_bytes"] == pytest.approx(right, abs=1500)
        assert burst["peak_bytes"] == pytest.approx(right, abs=1500)
