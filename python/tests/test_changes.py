"""Files of a scenario that change, or go, while it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import SMALL, Folder, run, succeeded
from test_runs import LONG_POINTS, start, wait_for

SIZES = "1000 0\n20000 0.5\n1000000 1\n"
OTHER_SIZES = "1000 0\n20000 0.9\n30000 1\n"


def scenario(where: Path) -> Path:
    where.mkdir()
    text = SMALL.replace('sizes.fixed = "1MB"', 'sizes.file.path = "sizes.cdf"')
    text = text.replace("seeds = 2", "seeds = 6").replace("flows = 600", "flows = 1500")
    assert "sizes.cdf" in text
    (where / "small.toml").write_text(text, encoding="utf-8")
    (where / "sizes.cdf").write_text(SIZES, encoding="utf-8")
    return where


@pytest.mark.parametrize("change", ["other bytes", "removed"])
def test_a_file_that_changes_during_a_run_changes_nothing_of_it(tmp_path: Path, change: str) -> None:
    still = scenario(tmp_path / "still")
    succeeded(run("run", "small.toml", "--out", "run", cwd=still))
    undisturbed = Folder(still / "run")

    moving = scenario(tmp_path / "moving")
    sizes = moving / "sizes.cdf"
    process = start(moving, "run")
    wait_for(lambda: list((moving / "run").glob("points/*/summary.json")), process)
    if change == "removed":
        sizes.unlink()
    else:
        sizes.write_text(OTHER_SIZES, encoding="utf-8")
    running = Folder(moving / "run")
    before = len(list((moving / "run").glob("points/*/summary.json")))
    assert before < LONG_POINTS, "the run was over before the file changed"
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert running.digests() == undisturbed.digests() and len(running.digests()) == LONG_POINTS
    assert running.summary() == undisturbed.summary()

    again = run("run", "small.toml", "--out", "other", cwd=moving)
    if change == "removed":
        assert again.returncode == 2 and "sizes.cdf" in again.stderr, again.stderr
    else:
        succeeded(again)
        other = Folder(moving / "other").points()
        assert len(other) == LONG_POINTS and not other.keys() & running.points().keys(), "they are other points"
