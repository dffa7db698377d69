"""Seeds that are added until intervals are narrow enough, and files that change during a run."""

from __future__ import annotations

import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from command import PROGRAM, SMALL, Folder, run, succeeded

#: Quick points whose means differ between seeds.
QUICK = SMALL.replace("flows = 600", "flows = 200")


def write(where: Path, text: str = QUICK) -> Path:
    (where / "small.toml").write_text(text, encoding="utf-8")
    return where


def until(where: Path, out: str, *options: str) -> subprocess.CompletedProcess[str]:
    return run("run", "small.toml", "--out", out, *options, cwd=where)


def looks(done: subprocess.CompletedProcess[str]) -> list[int]:
    """Numbers of seeds after which intervals were looked at."""
    return [int(n) for n in re.findall(r"^(\d+) seeds: .* within ", done.stderr, re.MULTILINE)]


def widths(folder: Folder, metric: str, wanted: str) -> list[float]:
    rows = [row for row in folder.rows() if (row["metric"], row["class"]) == (metric, wanted)]
    sides = [(float(row["value"]), float(row["low"]), float(row["high"])) for row in rows]
    return [max(value - low, high - value) / value for value, low, high in sides]


NARROW = ("--until", "ci=5%", "--of", "goodput_mean:short")


@pytest.fixture(scope="session")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> tuple[Folder, subprocess.CompletedProcess[str]]:
    """The quick scenario, run until the mean goodput of short flows is known well enough."""
    where = write(tmp_path_factory.mktemp("until"))
    done = succeeded(until(where, "run", *NARROW))
    return Folder(where / "run"), done


def test_seeds_are_added_until_every_interval_is_narrow(narrow: tuple[Folder, subprocess.CompletedProcess[str]]) -> None:
    folder, done = narrow
    seen = looks(done)
    assert seen[0] == 5 and seen == sorted(set(seen)) and len(seen) > 1, seen
    assert all(after <= 2 * before for before, after in zip(seen, seen[1:]))
    assert folder.info()["seeds"] == list(range(1, seen[-1] + 1))
    assert len(folder.points()) == 4 * seen[-1], "every scheme and load has every seed"
    assert len(widths(folder, "goodput_mean", "short")) == 4
    assert max(widths(folder, "goodput_mean", "short")) <= 0.05
    assert "still too wide" not in done.stderr and "finished already" not in done.stderr
    # Each batch counts its own points.
    batches = [int(n) for n in re.findall(r"^1/(\d+) ", done.stderr, re.MULTILINE)]
    assert batches == [4 * (after - before) for before, after in zip([0, *seen], seen)]


def test_a_folder_of_fewer_seeds_goes_on(
    narrow: tuple[Folder, subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    folder, whole = narrow
    write(tmp_path)
    succeeded(until(tmp_path, "run"))
    again = Folder(tmp_path / "run")
    assert again.info()["seeds"] == [1, 2]
    done = succeeded(until(tmp_path, "run", *NARROW))
    assert "8 point(s) are finished already" in done.stderr
    assert looks(done) == looks(whole)
    assert again.digests() == folder.digests() and again.summary() == folder.summary()
    # The same command once more runs nothing; other seeds of the same scenario are no other run.
    done = succeeded(until(tmp_path, "run", *NARROW))
    assert not re.search(r"^\d+/\d+ ", done.stderr, re.MULTILINE) and again.summary() == folder.summary()
    succeeded(until(tmp_path, "run", "--seeds", "3"))
    assert again.info()["seeds"] == [1, 2, 3] and again.digests() == folder.digests()
    refused = until(tmp_path, "run", "--set", "workload.flows=300")
    assert refused.returncode == 2 and "holds another run" in refused.stderr


def test_a_run_that_is_stopped_comes_to_the_same(
    narrow: tuple[Folder, subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    folder, whole = narrow
    write(tmp_path)
    stopped = Folder(tmp_path / "run")
    for points in (3, 25):
        process = subprocess.Popen(
            [PROGRAM, "run", "small.toml", "--out", "run", *NARROW],
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        patience = time.monotonic() + 60
        while len(stopped.points()) < points and process.poll() is None and time.monotonic() < patience:
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 130, errors
        assert b"stopped: " in errors.splitlines()[-1]
    done = succeeded(until(tmp_path, "run", *NARROW))
    assert looks(done) == looks(whole)
    assert stopped.digests() == folder.digests() and stopped.summary() == folder.summary()


def test_what_is_still_wide_after_the_last_seed_is_said(tmp_path: Path) -> None:
    write(tmp_path)
    done = succeeded(until(tmp_path, "run", "--until", "ci=0.1%", "--of", "fct_mean", "--max-seeds", "6"))
    assert looks(done) == [5, 6]
    assert "after 6 seeds intervals are still too wide at 4 of 4 points" in done.stderr
    wide = re.findall(r"^  (dctcp|slytherin) (0\.[48]): ±([\d.]+) %$", done.stderr, re.MULTILINE)
    assert {place[:2] for place in wide} == {(scheme, load) for scheme in ("dctcp", "slytherin") for load in ("0.4", "0.8")}
    found = sorted(100 * width for width in widths(Folder(tmp_path / "run"), "fct_mean", "all"))
    assert sorted(float(place[2]) for place in wide) == pytest.approx(found, abs=0.5, rel=0.02)


def test_what_has_no_interval_does_not_run_for_ever(tmp_path: Path) -> None:
    write(tmp_path)
    done = succeeded(until(tmp_path, "run", "--until", "ci=5%", "--of", "flows:short"))
    assert looks(done) == [5] and "no interval, whatever the number of seeds" in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--until", "5%"), "expected such as ci=5%"),
        (("--until", "ci=0%"), "above 0 and up to 100 %"),
        (("--until", "ci=5%", "--of", "fct_p98"), "there is no metric `fct_p98`"),
        (("--until", "ci=5%", "--of", "fct_mean:shrot"), "did you mean `short`?"),
        (("--until", "ci=5%", "--max-seeds", "4"), "expected at least 5"),
        (("--of", "fct_mean"), "--until"),
    ],
)
def test_mistakes_are_said_before_anything_runs(tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    write(tmp_path)
    done = until(tmp_path, "run", *options)
    assert done.returncode == 2 and message in done.stderr, done.stderr
    assert not (tmp_path / "run").exists()


SHORT = "[workload.traffic.short]\nshare = 0.15"


def test_files_that_vanish_or_change_during_a_run_change_nothing_in_it(tmp_path: Path) -> None:
    """What a point is called and what is simulated come from the bytes that the plan has read."""
    text = SMALL.replace('[workload.traffic.short]\nshare = 0.15\nsizes.uniform = { min = "8KB", max = "32KB" }', SHORT)
    assert text != SMALL
    sizes = '"workload.traffic.short.sizes" = [{ file.path = "a.cdf" }, { file.path = "b.cdf" }]'
    write(tmp_path, text.replace('"workload.load" = [0.4, 0.8]', sizes).replace("flows = 600", "flows = 4000"))
    larger = "# size_bytes cumulative_probability\n8000 0\n32000 1\n"
    (tmp_path / "a.cdf").write_text(larger, encoding="utf-8")
    # Smaller flows are less work: these points come last.
    smaller = "# size_bytes cumulative_probability\n800 0\n3200 1\n"
    (tmp_path / "b.cdf").write_text(smaller, encoding="utf-8")
    folder = Folder(tmp_path / "run")
    process = subprocess.Popen(
        [PROGRAM, "run", "small.toml", "--out", "run", "--jobs", "1"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    patience = time.monotonic() + 60
    while not list(folder.path.glob("points/*")) and process.poll() is None and time.monotonic() < patience:
        time.sleep(0.002)
    (tmp_path / "b.cdf").unlink()
    (tmp_path / "a.cdf").write_text(smaller, encoding="utf-8")
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors

    (tmp_path / "a.cdf").write_text(larger, encoding="utf-8")
    (tmp_path / "b.cdf").write_text(smaller, encoding="utf-8")
    succeeded(run("run", "small.toml", "--out", "calm", cwd=tmp_path))
    assert len(folder.points()) == 8 and folder.flow_files() == Folder(tmp_path / "calm").flow_files()
    # Another file is another point: none of those that are there is taken for it.
    (tmp_path / "b.cdf").write_text(larger, encoding="utf-8")
    done = succeeded(run("run", "small.toml", "--out", "calm", cwd=tmp_path))
    assert "4 point(s) are finished already" in done.stderr
