"""One point is one command: many processes fill one run folder, and the recipes of docs/cluster.md work."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from command import PROGRAM, SMALL, Folder, run, succeeded
from pages import blocks, follow

REPOSITORY = Path(__file__).parents[2]
PAGE = REPOSITORY / "docs" / "cluster.md"

#: What stands for Slurm: each task of an array one after the other, and whatever depends on it behind it.
SBATCH = """#!/bin/bash
set -eu
array= wrap= script=
for word in "$@"; do
    case "$previous" in --wrap) wrap=$word; previous=; continue ;; esac
    case "$word" in
        --array=*) array=${word#--array=} ;;
        --wrap) previous=--wrap; continue ;;
        --*) ;;
        *) script=$word ;;
    esac
done
if [ -n "$wrap" ]; then bash -c "$wrap" >&2; exit; fi
for task in $(seq "${array%-*}" "${array#*-}"); do
    SLURM_ARRAY_TASK_ID=$task bash "$script" >&2 || true
done
echo 4711
""".replace("array= wrap= script=", "array= wrap= script= previous=")


def lines(*arguments: str, cwd: Path) -> list[dict]:
    done = succeeded(run("points", *arguments, "--format", "jsonl", cwd=cwd))
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_points_that_run_at_the_same_time_make_the_run(tmp_path: Path, small: Folder) -> None:
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    listed = lines("small.toml", "--out", "there", cwd=tmp_path)
    assert sorted(point["key"] for point in listed) == sorted(small.points())
    costs = [point["packet_hops"] for point in listed]
    assert costs == sorted(costs, reverse=True) and costs[0] > costs[-1] > 0
    # All at once, each of them twice.
    path = os.pathsep.join([str(PROGRAM.parent), os.environ["PATH"]])
    running = [
        subprocess.Popen(
            ["sh", "-c", point["command"]],
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for point in listed
        for _ in range(2)
    ]
    said = [process.communicate(timeout=120)[0] for process in running]
    assert [process.returncode for process in running] == [0] * len(running), said
    there = Folder(tmp_path / "there")
    assert not (there.path / "summary.csv").exists(), "results come from gather"
    succeeded(run("gather", "there", cwd=tmp_path))
    assert there.digests() == small.digests() and there.summary() == small.summary()
    assert there.flow_files() == small.flow_files()
    assert [path for path in there.path.rglob("*") if ".tmp" in path.name] == []
    assert lines("small.toml", "--out", "there", "--missing", cwd=tmp_path) == []
    # The whole run takes what is there for its own.
    done = succeeded(run("run", "small.toml", "--out", "there", "--format", "json", cwd=tmp_path))
    assert json.loads(done.stdout.splitlines()[-1])["reused"] == len(listed)


def test_what_is_missing_is_told(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    listed = lines("small.toml", "--seeds", "2,5", "--set", "workload.load=0.3", "--out", "r", cwd=tmp_path)
    assert {point["seed"] for point in listed} == {2, 5}
    first = listed[0]["command"].split()[1:]
    succeeded(run(*first, cwd=tmp_path))
    done = run("gather", "r", "--format", "json", cwd=tmp_path)
    assert done.returncode == 1 and "points --missing" in done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert told[-1]["finished"] == 1 and len(told) == len(listed)
    assert (tmp_path / "r" / "summary.csv").exists()
    missing = lines("small.toml", "--seeds", "2,5", "--set", "workload.load=0.3", "--out", "r", "--missing", cwd=tmp_path)
    assert [point["key"] for point in missing] == [point["key"] for point in listed[1:]]
    # Results of fewer points are not left beside a new one.
    succeeded(run(*missing[0]["command"].split()[1:], cwd=tmp_path))
    assert not (tmp_path / "r" / "summary.csv").exists()


def test_a_point_that_is_none_and_a_folder_of_another_run_are_refused(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    done = run("run", "small.toml", "--only", "dctcp-0.4-s1-00000000", "--out", "r", cwd=tmp_path)
    assert done.returncode == 2 and "has no point" in done.stderr and "tailcut points" in done.stderr
    assert not (tmp_path / "r").exists()
    key = lines("small.toml", cwd=tmp_path)[0]["key"]
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "letter.txt").write_text("mine", encoding="utf-8")
    done = run("run", "small.toml", "--only", key, "--out", "r", cwd=tmp_path)
    assert done.returncode == 2 and "holds no run" in done.stderr
    assert run("gather", "nowhere", cwd=tmp_path).returncode == 2


def test_a_whole_run_and_single_points_do_not_meet(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    key = lines("small.toml", cwd=tmp_path)[0]["key"]
    long = ["--set", "workload.flows=80000"]
    keys = [point["key"] for point in lines("small.toml", *long, "--out", "r", cwd=tmp_path)]
    point = subprocess.Popen(
        [str(PROGRAM), "run", "small.toml", *long, "--only", keys[0], "--out", "r"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(600):
            if (tmp_path / "r" / "scenario.toml").exists() or point.poll() is not None:
                break
            threading.Event().wait(0.05)
        whole = run("run", "small.toml", *long, "--out", "r", cwd=tmp_path)
        assert point.poll() is None, "the point still runs"
        assert whole.returncode == 2 and "in use by another tailcut" in whole.stderr
    finally:
        point.terminate()
        assert point.wait(timeout=60) == 143
    other = run("run", "small.toml", "--only", key, "--out", "r", cwd=tmp_path)
    assert other.returncode == 2 and "holds another run" in other.stderr


def test_the_simulations_of_a_figure_run_one_by_one(tmp_path: Path) -> None:
    words = ["reproduce", "pdq-fair-sharing", "--out", "there", "--quiet"]
    done = run(*words, "--points", cwd=tmp_path)
    succeeded(done)
    points = [json.loads(line) for line in done.stdout.splitlines()]
    if not points:
        pytest.skip("the figure needs no simulation")
    shortest = points[-1]
    succeeded(run(*shortest["command"].split()[1:], cwd=tmp_path))
    assert (tmp_path / shortest["folder"] / "points" / shortest["key"] / "summary.json").exists()
    done = run(*words, "--only", "nothing", cwd=tmp_path)
    assert done.returncode == 2 and "has a point `nothing`" in done.stderr


def test_the_recipes_of_the_page_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each recipe leaves the same run; one whose program is not installed is left out, and said."""
    own = tmp_path / "own"
    own.mkdir()
    (own / "sbatch").write_text(SBATCH, encoding="utf-8")
    (own / "sbatch").chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(own), str(Path(sys.executable).parent), os.environ["PATH"]]))
    recipes = {"parallel": "parallel", "slurm": "sbatch", "snakemake": "snakemake"}
    absent = {name for name, program in recipes.items() if shutil.which(program) is None}
    assert "CI" not in os.environ or not absent, f"not installed: {absent}"
    page = PAGE.read_text(encoding="utf-8")
    for block in blocks(PAGE):
        if block["kind"] == "bash" and not block["name"] and any(name in block["text"] for name in absent):
            page = page.replace(block[0], "")
    (tmp_path / "page.md").write_text(page, encoding="utf-8")
    follow(tmp_path / "page.md", tmp_path)
    left = {name: Folder(tmp_path / "runs" / name) for name in [*sorted(set(recipes) - absent), "dask", "own", "submitit"]}
    (first, *others) = left.values()
    assert len(first.digests()) == 8
    for other in others:
        assert other.digests() == first.digests() and other.summary() == first.summary()
    if absent:
        pytest.skip(f"left out, because they are not installed: {', '.join(sorted(absent))}")
