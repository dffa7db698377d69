"""A run folder proves that its results are its own, and nothing of the user's is touched.

Random operations on run folders are tested in Rust; these are the cases that were found, with the command itself.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from command import PROGRAM, Folder, run, succeeded, write_sealed

tailcut = pytest.importorskip("tailcut", reason="the native module is not built: run the tests by `cargo xtask test`")

#: Two loads, two seeds, an incast.
SMALL = """
schemes = ["tcp", "dctcp"]
seeds = 2
[topology.leaf-spine]
leaves = 2
hosts_per_leaf = 4
spines = 2
host_link = { rate = "10Gbps", delay = "1us" }
core_link = { rate = "10Gbps", delay = "1us" }
[workload]
load = 0.5
flows = 300
[workload.traffic.short]
share = 0.3
sizes.fixed = "20KB"
incast = { degree = 4 }
[workload.traffic.long]
share = 0.7
sizes.fixed = "100KB"
[sweep]
"workload.load" = [0.4, 0.6]
"""
#: The same loads without queries.
PLAIN = SMALL.replace("incast = { degree = 4 }", "").replace("seeds = 2", "seeds = 1")


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pristine")
    (folder / "small.toml").write_text(SMALL, encoding="utf-8")
    (folder / "plain.toml").write_text(PLAIN, encoding="utf-8")
    succeeded(run("run", "small.toml", "--out", "a", cwd=folder))
    succeeded(run("run", "small.toml", "--set", "port.limit=30KB", "--out", "other", cwd=folder))
    succeeded(run("run", "plain.toml", "--out", "plain", cwd=folder))
    return folder


@pytest.fixture
def where(pristine: Path, tmp_path: Path) -> Path:
    shutil.copytree(pristine, tmp_path / "w")
    return tmp_path / "w"


def again(where: Path, *more: str) -> str:
    """Runs the command that made the folder again and returns its messages."""
    return succeeded(run("run", "small.toml", "--out", "a", *more, cwd=where)).stderr


def test_results_of_another_scenario_are_not_taken(where: Path, pristine: Path) -> None:
    points = where / "a" / "points"
    for point in sorted(points.iterdir()):
        (other,) = (where / "other" / "points").glob(f"{point.name.rsplit('-', 1)[0]}-*")
        shutil.rmtree(point)
        shutil.copytree(other, point)
    verified = run("verify", "a", cwd=where)
    assert verified.returncode == 1 and verified.stdout.count("it belongs to another run") == 8, verified.stdout
    compared = run("compare", "a:tcp", "a:dctcp", cwd=where)
    assert compared.returncode != 0, "no number of another run"
    assert tailcut.load(where / "a").finished == {}
    assert again(where).count("it is run again") == 8
    assert Folder(where / "a").summary() == Folder(pristine / "a").summary()
    assert len(tailcut.load(where / "a").finished) == 8


@pytest.mark.parametrize("is_swap", [True, False])
def test_swapped_and_copied_runs_are_run_again(where: Path, pristine: Path, is_swap: bool) -> None:
    points = where / "a" / "points"
    first, second = (next(points.glob(f"tcp-0.4-s{seed}-*")) for seed in (1, 2))
    shutil.copytree(first, points / "aside")
    shutil.rmtree(first)
    second.rename(first)
    (points / "aside").rename(second)
    if not is_swap:
        shutil.rmtree(second)
        shutil.copytree(first, second)
    done = run("verify", "a", cwd=where)
    assert done.returncode == 1 and f"damaged: {first.name}: summary.json: it belongs to another run" in done.stdout
    gathered = run("gather", "a", cwd=where)
    assert gathered.returncode != 0 and first.name in gathered.stderr
    assert again(where).count("it is run again") == (2 if is_swap else 1)
    assert "no results" not in again(where)
    assert Folder(where / "a").summary() == Folder(pristine / "a").summary()


def test_a_planted_file_is_not_read(where: Path, pristine: Path) -> None:
    for point in (where / "plain" / "points").iterdir():
        shutil.copy(next((where / "a" / "points").glob("*/queries.parquet")), point)
    succeeded(run("verify", "plain", cwd=where))
    succeeded(run("run", "plain.toml", "--out", "plain", cwd=where))
    summary = Folder(where / "plain").summary()
    assert summary == Folder(pristine / "plain").summary() and b"qct" not in summary
    assert b"queries.parquet" not in (where / "plain" / "report.html").read_bytes()
    with pytest.raises(Exception, match="have no table `queries`"):
        tailcut.load(where / "plain").table("queries")


def test_files_of_the_user_stay(where: Path) -> None:
    mine = ["a/notes/.chapter.tmpl", "a/.my.tmp.notes", "a/points/.draft.tmp", "a/notes/.a.txt.12-0123abcd.tmp"]
    for name in mine:
        (where / name).parent.mkdir(exist_ok=True)
        (where / name).write_text("mine", encoding="utf-8")
    left = where / "a" / "plots" / ".a.svg.12-0123abcd.tmp"
    left.write_text("half", encoding="utf-8")
    again(where)
    assert all((where / name).read_text(encoding="utf-8") == "mine" for name in mine)
    assert not left.exists(), "a killed tailcut has left it"


@pytest.mark.parametrize("damage", ["lost", "cut", "edited", "folder", "pipe"])
def test_run_json_is_made_anew_from_intact_runs(where: Path, pristine: Path, damage: str) -> None:
    path = where / "a" / "run.json"
    text = path.read_bytes()
    path.unlink()
    if damage == "cut":
        path.write_bytes(text[: len(text) // 2])
    elif damage == "edited":
        path.write_bytes(text.replace(b"0.4", b"0.5"))
    elif damage == "folder":
        path.mkdir()
    elif damage == "pipe":
        os.mkfifo(path)
    for command in (["verify", "a"], ["compare", "a:tcp", "a:dctcp"], ["report", "a"]):
        refused = run(*command, cwd=where)
        assert refused.returncode == 2 and "run.json" in refused.stderr, refused.stderr
        assert "`tailcut run SCENARIO --out a` writes run.json anew" in refused.stderr, refused.stderr
    other = run("run", "plain.toml", "--out", "a", cwd=where)
    assert other.returncode != 0 and "remove the folder" not in other.stderr, other.stderr
    said = again(where)
    assert "8 of 8 points are intact" in said and "8 point(s) are finished already" in said, said
    assert Folder(where / "a").summary() == Folder(pristine / "a").summary()
    succeeded(run("verify", "a", cwd=where))


@pytest.mark.parametrize("name", ["summary.csv", "report.html", "tables/all.txt", "scenario.toml", "plots"])
def test_edits_are_named_and_kept(where: Path, pristine: Path, name: str) -> None:
    path = where / "a" / name
    if name == "plots":
        path = next(path.glob("*.svg"))
        name = str(path.relative_to(where / "a"))
    path.write_text("edited", encoding="utf-8")
    done = run("verify", "a", cwd=where)
    assert done.returncode == 1 and f"damaged: {name}: " in done.stdout, done.stdout
    said = again(where)
    assert f"{name} is not what tailcut has written there: it is now" in said, said
    assert path.with_name(path.name + ".aside").read_text(encoding="utf-8") == "edited"
    assert path.read_bytes() == (pristine / "a" / name).read_bytes()
    succeeded(run("verify", "a", cwd=where))
    path.unlink()
    done = run("verify", "a", cwd=where)
    assert done.returncode == 1 and f"damaged: {name}: it is missing" in done.stdout, done.stdout


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_not_a_file_is_damage(where: Path, pristine: Path, kind: str) -> None:
    points = sorted((where / "a" / "points").iterdir())
    places = [points[0] / "flows.parquet", points[1] / "summary.json", where / "a" / "summary.csv", points[3]]
    for place in places:
        shutil.rmtree(place) if place.is_dir() else place.unlink()
        os.mkfifo(place) if kind == "pipe" else place.mkdir()
    done = run("verify", "a", cwd=where)
    assert done.returncode == 1 and "flows.parquet: it is a" in done.stdout and "summary.csv: it is a" in done.stdout
    again(where)
    succeeded(run("verify", "a", cwd=where))
    assert Folder(where / "a").summary() == Folder(pristine / "a").summary()


def test_results_of_a_program_without_keys_are_not_taken(where: Path) -> None:
    path = next((where / "a" / "points").glob("*/summary.json"))
    summary = json.loads(path.read_text(encoding="utf-8"))
    del summary["key"]
    write_sealed(path, summary)
    done = run("verify", "a", cwd=where)
    assert done.returncode == 1 and "which did not record the key of its run" in done.stdout, done.stdout
    assert again(where).count("it is run again") == 1


#: Step between two limits of memory.
STEP_KB = 1_000


def limited(where: Path, kilobytes: int, *arguments: str):
    limit = (kilobytes * 1_000, kilobytes * 1_000)
    return run(*arguments, cwd=where, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="address space is limited as Linux does it")
def test_a_lack_of_memory_is_an_error(where: Path) -> None:
    least = 8_000
    while limited(where, least, "--version").returncode != 0:
        least += STEP_KB
    failed = 0
    for more in range(0, 40):
        shutil.rmtree(where / "little", ignore_errors=True)
        done = limited(where, least + more * STEP_KB, "run", "plain.toml", "--out", "little")
        assert done.returncode >= 0, f"{least + more * STEP_KB} kB: signal {-done.returncode}: {done.stderr}"
        if done.returncode == 0:
            break
        failed += 1
        assert "error: " in done.stderr and "panicked" not in done.stderr, done.stderr
    assert 0 < failed < 40
    succeeded(run("verify", "little", cwd=where))


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["--version"], ["run", "plain.toml", "--out", "x"]])
def test_what_cannot_be_printed_is_an_error(where: Path, arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([PROGRAM, *arguments], cwd=where, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2 and "error: cannot print: No space left on device" in done.stderr, done.stderr


def content(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


@pytest.mark.parametrize("to", ["other", "sibling", "nowhere", "itself"])
def test_nothing_is_written_through_a_link(where: Path, pristine: Path, to: str) -> None:
    first, second = sorted((where / "a" / "points").glob("tcp-0.4-*"))
    target = {
        "other": next((where / "other" / "points").glob("tcp-0.4-s1-*")),
        "sibling": second,
        "nowhere": where / "nowhere",
        "itself": first,
    }[to]
    shutil.rmtree(first)
    first.symlink_to(target)
    done = run("verify", "a", cwd=where)
    assert done.returncode == 1 and f"damaged: {first.name}: its folder is a symbolic link" in done.stdout, done.stdout
    said = again(where)
    assert said.count("it is run again") == 1 and f"{first.name}.aside" in said, said
    assert content(where / "other") == content(pristine / "other")
    assert Folder(where / "a").summary() == Folder(pristine / "a").summary()
    succeeded(run("verify", "a", cwd=where))


def test_copies_of_inputs_are_not_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "sizes.txt").write_text("1000 0\n20000 1\n", encoding="utf-8")
    text = PLAIN.replace('sizes.fixed = "20KB"', 'sizes.file = { path = "sizes.txt" }')
    (tmp_path / "small.toml").write_text(text, encoding="utf-8")
    succeeded(run("run", "small.toml", "--out", "a", cwd=tmp_path))
    inputs = tmp_path / "a" / "inputs"
    (copy,) = inputs.iterdir()
    inputs.rename(tmp_path / "mine")
    inputs.symlink_to(tmp_path / "mine")
    (tmp_path / "mine" / copy.name).write_text("mine", encoding="utf-8")
    again(tmp_path)
    assert (tmp_path / "mine" / copy.name).read_text(encoding="utf-8") == "mine"
    assert not inputs.is_symlink() and copy.read_text(encoding="utf-8") == "1000 0\n20000 1\n"


def test_results_of_another_run_are_named(where: Path) -> None:
    shutil.rmtree(where / "a")
    points = [json.loads(line) for line in succeeded(run("points", "small.toml", "--format", "jsonl", cwd=where)).stdout.splitlines()]
    for point in points:
        succeeded(run("run", "small.toml", "--out", "a", "--only", point["key"], cwd=where))
    succeeded(run("verify", "a", cwd=where))
    shutil.copy(where / "other" / "summary.csv", where / "a")
    done = run("verify", "a", cwd=where)
    assert done.returncode == 1 and "damaged: summary.csv: it is not of the points that are there" in done.stdout
    other = run("show", "topology", "plain.toml", "--run", "a", "--point", points[0]["key"], cwd=where)
    assert other.returncode == 2 and "is of another scenario" in other.stderr, other.stderr


def test_workers_and_reports_side_by_side_set_nothing_aside(where: Path) -> None:
    """Workers that run points, with more and fewer seeds, and reports on what is finished, all at once."""
    shutil.rmtree(where / "a")
    keys = []
    for seeds in ("3", "4"):
        lines = succeeded(run("points", "small.toml", "--seeds", seeds, "--format", "jsonl", cwd=where)).stdout.splitlines()
        keys.append([(json.loads(line)["key"], seeds) for line in lines])
    succeeded(run("run", "small.toml", "--out", "a", "--only", keys[0][0][0], "--seeds", "3", cwd=where))
    failed = []

    def work(mine: list[tuple[str, str]]) -> None:
        for key, seeds in mine:
            done = run("run", "small.toml", "--out", "a", "--seeds", seeds, "--only", key, cwd=where)
            failed.extend([done.stderr] if done.returncode != 0 else [])

    def report(command: str) -> None:
        for _ in range(6):
            done = run(command, "a", cwd=where)
            # Missing points make one that gathers fail.
            failed.extend([done.stderr] if done.returncode not in (0, 1) else [])

    threads = [threading.Thread(target=work, args=(keys[0],)), threading.Thread(target=work, args=(keys[1][::-1],))]
    threads += [threading.Thread(target=report, args=(command,)) for command in ("gather", "report")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed[0]
    assert not list((where / "a").rglob("*.aside*"))
    succeeded(run("run", "small.toml", "--out", "a", "--seeds", "4", cwd=where))
    succeeded(run("verify", "a", cwd=where))
    assert not list((where / "a").rglob("*.aside*"))
