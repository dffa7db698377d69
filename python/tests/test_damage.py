"""Points that were finished and are no longer what was written."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from command import Folder, run, succeeded, write_sealed
from test_runs import same_results, write


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def flip(path: Path) -> None:
    bytes_ = bytearray(path.read_bytes())
    bytes_[len(bytes_) // 3] ^= 16
    path.write_bytes(bytes_)


FILES = ("flows.parquet", "ports.parquet", "queries.parquet", "queues.parquet", "throughput.parquet", "summary.json")
DAMAGES = {"cut": cut, "emptied": empty, "flipped": flip, "removed": Path.unlink}


@pytest.fixture
def copy(small: Folder, tmp_path: Path) -> Folder:
    write(tmp_path)
    shutil.copytree(small.path, tmp_path / "run")
    return Folder(tmp_path / "run")


def test_every_file_of_a_point_stands_in_its_summary(small: Folder) -> None:
    for key, summary in small.points().items():
        files = {file.name: file.stat().st_size for file in (small.path / "points" / key).iterdir()}
        assert set(files) == set(FILES)
        assert {name: sealed["bytes"] for name, sealed in summary["files"].items()} == {
            name: size for name, size in files.items() if name != "summary.json"
        }


@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_point_is_named_and_run_again(small: Folder, copy: Folder, how: str, tmp_path: Path) -> None:
    # Of each point another file.
    damaged = dict(zip(sorted(small.points()), FILES, strict=False))
    for key, name in damaged.items():
        DAMAGES[how](copy.path / "points" / key / name)
    unfinished = {key for key, name in damaged.items() if (name, how) == ("summary.json", "removed")}
    assert len(damaged) == len(FILES)

    verified = run("verify", "run", cwd=tmp_path)
    assert verified.returncode == 1
    for key, name in damaged.items():
        expected = f"not finished: {key}" if key in unfinished else f"damaged: {key}: {name}: "
        assert expected in verified.stdout, verified.stdout
    done = run("report", "run", cwd=tmp_path)
    assert done.returncode == (0 if len(unfinished) == len(damaged) else 1)
    assert all(key in done.stderr for key in damaged if key not in unfinished), done.stderr

    done = succeeded(run("run", "small.toml", "--out", "run", cwd=tmp_path))
    assert f"{8 - len(damaged)} point(s) are finished already" in done.stderr
    assert all(f"damaged: {key}" in done.stderr for key in damaged if key not in unfinished), done.stderr
    assert copy.digests() == small.digests() and copy.flow_files() == small.flow_files()
    same_results(copy, small, complete=True)
    succeeded(run("verify", "run", cwd=tmp_path))


def test_a_comparison_says_which_points_are_not_in_it(copy: Folder, tmp_path: Path) -> None:
    key = sorted(copy.points())[0]
    flip(copy.path / "points" / key / "flows.parquet")
    done = run("compare", "run:dctcp", "run:slytherin", cwd=tmp_path)
    assert done.returncode == 1
    assert f"{key} is damaged: flows.parquet: it is not what was written" in done.stderr, done.stderr


def test_a_replay_comes_to_the_same_and_says_where_it_does_not(copy: Folder, tmp_path: Path) -> None:
    done = succeeded(run("verify", "run", "--replay", "3", cwd=tmp_path))
    assert "8 points: 8 are what was written" in done.stdout and "3 replayed: 3 came to the same" in done.stdout
    # The saved scenario is not that of the points: their results are those of another one.
    path = copy.path / "run.json"
    info = json.loads(path.read_text(encoding="utf-8"))
    info["scenario_toml"] = info["scenario_toml"].replace("120KB", "60KB")
    path.write_text(json.dumps(info, indent=2), encoding="utf-8")
    done = run("verify", "run", "--replay", "8", cwd=tmp_path)
    assert done.returncode == 2 and "run.json is damaged" in done.stderr, done.stderr
    write_sealed(path, info)
    done = run("verify", "run", "--replay", "8", cwd=tmp_path)
    assert done.returncode == 1
    assert "differs: " in done.stdout and "8 are what was written" in done.stdout


def test_nothing_is_judged_without_all_points(tmp_path: Path) -> None:
    def reproduce(*more: str):
        return run("reproduce", "icon-isolated", "--seeds", "1", "--out", "out", "--store", "results", *more, cwd=tmp_path)

    succeeded(reproduce())
    stored = {path: path.read_bytes() for path in (tmp_path / "results").rglob("*") if path.is_file()}
    points = sorted((tmp_path / "out").glob("quick/studies/icon-isolated/points/*"))
    assert stored and len(points) > 10
    for point in points[:10]:
        cut(point / "flows.parquet")
    refused = reproduce("--judge-only")
    assert refused.returncode == 1
    assert f"is not judged: 10 of its {len(points)} points have no results" in refused.stderr, refused.stderr
    assert {path: path.read_bytes() for path in stored} == stored
    done = succeeded(reproduce())
    assert done.stderr.count("it is run again") == 10


def test_what_is_not_ours_stays(copy: Folder, tmp_path: Path) -> None:
    mine = {"plots/my-figure.png": b"mine", "tables/notes.csv": b"1,2", "notes.txt": b"notes"}
    for name, content in mine.items():
        (copy.path / name).write_bytes(content)
    # Results of two seeds are stale when there are three.
    succeeded(run("run", "small.toml", "--out", "run", "--seeds", "3", cwd=tmp_path))
    succeeded(run("report", "run", cwd=tmp_path))
    assert {name: (copy.path / name).read_bytes() for name in mine} == mine


@pytest.mark.parametrize("name", ["plots", "tables", "run.lock"])
def test_nothing_is_emptied_or_written_through_a_symbolic_link(copy: Folder, tmp_path: Path, name: str) -> None:
    ours = copy.path / name
    target = tmp_path / "elsewhere"
    shutil.move(ours, target)
    if target.is_file():
        target.write_text("precious", encoding="utf-8")
    before = {file: file.read_bytes() for file in [target, *target.rglob("*")] if file.is_file()}
    assert before
    ours.symlink_to(target)
    for command in (("run", "small.toml", "--out", "run", "--seeds", "3"), ("report", "run")):
        refused = run(*command, cwd=tmp_path)
        assert refused.returncode == 2 and "symbolic link" in refused.stderr, refused.stderr
    assert {file: file.read_bytes() for file in before} == before
