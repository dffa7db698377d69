"""Runs that are repeated, interrupted, or meet each other."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as parquet
import pytest

from command import PROGRAM, SMALL, Folder, drawing, run, succeeded

#: Many points of a tenth of a second each.
LONG = SMALL.replace("seeds = 2", "seeds = 6").replace("flows = 600", "flows = 1500")
LONG_POINTS = 24

#: How often a run is killed, over all folders.
KILLS = 100


def write(where: Path, text: str = SMALL) -> Path:
    (where / "small.toml").write_text(text, encoding="utf-8")
    return where


def test_the_same_command_again_runs_nothing_and_changes_nothing(small: Folder, tmp_path: Path) -> None:
    shutil.copytree(small.path, tmp_path / "run")
    write(tmp_path)
    again = Folder(tmp_path / "run")
    before = again.flow_files()
    stamps = {key: (again.path / "points" / key / "flows.parquet").stat().st_mtime_ns for key in before}
    done = succeeded(run("run", "small.toml", "--out", "run", cwd=tmp_path))
    assert "8 point(s) are finished already" in done.stderr
    assert not re.search(r"^\d+/\d+ ", done.stderr, re.MULTILINE), done.stderr
    assert again.summary() == small.summary()
    assert again.flow_files() == before
    assert {key: (again.path / "points" / key / "flows.parquet").stat().st_mtime_ns for key in before} == stamps
    for name in ("report.html", "tables/all.txt", "plots/fct_p99_short.svg"):
        assert (again.path / name).read_bytes() == (small.path / name).read_bytes(), name


def test_another_folder_and_another_number_of_jobs_give_the_same_results(small: Folder, tmp_path: Path) -> None:
    write(tmp_path)
    succeeded(run("run", "small.toml", "--out", "other", "--jobs", "1", cwd=tmp_path))
    other = Folder(tmp_path / "other")
    assert other.digests() == small.digests() and len(small.digests()) == 8
    assert len(set(small.digests().values())) == 8, "each point has a digest of its own"
    assert other.flow_files() == small.flow_files()
    assert other.summary() == small.summary()


def test_the_scenario_of_a_run_folder_gives_the_same_run(small: Folder, tmp_path: Path) -> None:
    shutil.copy(small.path / "scenario.toml", tmp_path / "saved.toml")
    succeeded(run("run", "saved.toml", "--out", "again", cwd=tmp_path))
    again = Folder(tmp_path / "again")
    assert again.digests() == small.digests()
    assert again.summary() == small.summary()
    command = (small.path / "scenario.toml").read_text(encoding="utf-8").splitlines()[0]
    assert command == "# tailcut run small.toml --out run"


def test_what_the_command_line_sets_is_saved_with_the_run(tmp_path: Path) -> None:
    write(tmp_path)
    options = ("--set", "workload.load=0.3", "--set", "port.limit=90KB", "--seeds", "7")
    succeeded(run("run", "small.toml", *options, "--out", "set", cwd=tmp_path))
    first = Folder(tmp_path / "set")
    assert set(first.digests()) == {(scheme, seed) for scheme in ("dctcp", "slytherin") for seed in range(1, 8)}
    shutil.copy(first.path / "scenario.toml", tmp_path / "saved.toml")
    succeeded(run("run", "saved.toml", "--out", "again", cwd=tmp_path))
    assert Folder(tmp_path / "again").digests() == first.digests()


def without_costs(points: dict[str, dict]) -> dict[str, dict]:
    """The summaries without what depends on the machine and on how it is used."""
    costs = ("cpu_ns", "wall_ns", "threads", "peak_bytes")
    return {
        # The seal is over all of the summary, costs included.
        key: point | {"seal": "", "engine": {name: fact for name, fact in point["engine"].items() if name not in costs}}
        for key, point in points.items()
    }


def test_threads_change_nothing_but_the_time(small: Folder, tmp_path: Path) -> None:
    write(tmp_path)
    for threads in (1, 2, 3):
        options = ("--jobs", "2", "--threads", str(threads))
        succeeded(run("run", "small.toml", "--out", f"threads{threads}", *options, cwd=tmp_path))
        other = Folder(tmp_path / f"threads{threads}")
        engines = [point["engine"] for point in other.points().values()]
        assert [engine["threads"] for engine in engines] == [threads] * 8
        # No thread is counted for longer than the clock on the wall, and their work is counted.
        assert all(0 < engine["cpu_ns"] for engine in engines)
        assert sum(engine["cpu_ns"] for engine in engines) <= sum(engine["wall_ns"] for engine in engines) * threads
        assert without_costs(other.points()) == without_costs(small.points())
        assert other.flow_files() == small.flow_files()
        assert other.summary() == small.summary()
        for key in small.points():
            for name in ("ports.parquet", "queues.parquet"):
                place = Path("points") / key / name
                assert (other.path / place).read_bytes() == (small.path / place).read_bytes(), place


def test_points_are_reused_whatever_the_number_of_threads(small: Folder, tmp_path: Path) -> None:
    write(tmp_path)
    shutil.copytree(small.path, tmp_path / "run")
    removed, kept = sorted(small.points())[:2], sorted(small.points())[2:]
    for key in removed:
        shutil.rmtree(tmp_path / "run" / "points" / key)
    done = succeeded(run("run", "small.toml", "--out", "run", "--threads", "2", cwd=tmp_path))
    assert "6 point(s) are finished already" in done.stderr
    again = Folder(tmp_path / "run")
    assert again.flow_files() == small.flow_files() and again.summary() == small.summary()
    engines = {key: point["engine"] for key, point in again.points().items()}
    assert all(engines[key]["threads"] == 2 for key in removed)
    assert all(engines[key] == small.points()[key]["engine"] for key in kept)


#: One simulation of 64 hosts that is as large as it must be to gain from threads, and whose threads meet seldom enough.
LARGE = (
    SMALL.replace("hosts_per_leaf = 4", "hosts_per_leaf = 16")
    .replace("spines = 2", "spines = 8")
    .replace('delay = "1us"', 'delay = "10us"')
    .replace('"workload.load" = [0.4, 0.8]', '"workload.load" = [0.5]')
    .replace("flows = 600", "flows = 20000")
)
ONE_POINT = ("--seeds", "1", "--set", 'schemes=["dctcp"]')


def engine_of(folder: Path) -> dict:
    ((_, point),) = Folder(folder).points().items()
    return point["engine"]


def test_a_large_simulation_has_the_processors_that_nobody_needs(tmp_path: Path) -> None:
    cores = len(os.sched_getaffinity(0))
    write(tmp_path, LARGE)
    succeeded(run("run", "small.toml", "--out", "run", *ONE_POINT, cwd=tmp_path))
    engine = engine_of(tmp_path / "run")
    # There are four racks. Other tests may run beside this one.
    assert 1 <= engine["threads"] <= min(cores, 4)
    assert engine["packet_hops"] > 4e6, "near the size from which on threads are used"
    succeeded(run("run", "small.toml", "--out", "alone", *ONE_POINT, "--jobs", "1", cwd=tmp_path))
    alone = engine_of(tmp_path / "alone")
    assert alone["threads"] == 1, "who asks for one job gives it one core"
    assert alone["digest"] == engine["digest"]
    # A small one has none to gain.
    succeeded(run("run", "small.toml", "--out", "small", *ONE_POINT, "--set", "workload.flows=400", cwd=tmp_path))
    assert engine_of(tmp_path / "small")["threads"] == 1


def test_on_a_busy_machine_a_large_simulation_has_one_thread_and_two_if_asked(tmp_path: Path) -> None:
    write(tmp_path, LARGE.replace("flows = 20000", "flows = 24000"))
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in os.sched_getaffinity(0)]
    try:
        succeeded(run("run", "small.toml", "--out", "own", *ONE_POINT, cwd=tmp_path))
        # Two wait for each other, and do not stand still.
        succeeded(run("run", "small.toml", "--out", "two", *ONE_POINT, "--threads", "2", cwd=tmp_path))
    finally:
        for process in busy:
            process.kill()
            process.wait()
    own, two = engine_of(tmp_path / "own"), engine_of(tmp_path / "two")
    assert (own["threads"], two["threads"]) == (1, 2)
    assert own["digest"] == two["digest"]


def test_a_run_without_a_terminal_tells_how_far_it_is(tmp_path: Path) -> None:
    write(tmp_path)
    done = succeeded(run("run", "small.toml", "--out", "run", "--jobs", "2", cwd=tmp_path))
    lines = [line for line in done.stderr.splitlines() if re.match(r"\d+/\d+ ", line)]
    assert [line.split("/")[0] for line in lines] == [str(n) for n in range(1, 9)]
    form = re.compile(r"\d/8 (dctcp|slytherin) 0\.[48] seed [12]: 6\d\d flows, \d+\.\d s(, about \d+ s left)?")
    assert all(form.fullmatch(line) for line in lines), lines
    assert all("left" in line for line in lines[:-1]) and "left" not in lines[-1]
    assert "\r" not in done.stderr and "\x1b" not in done.stderr + done.stdout, "nothing of a terminal"
    assert "results: run/summary.csv" in done.stdout and "report.html" in done.stdout


def start(where: Path, out: str, *options: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [PROGRAM, "run", "small.toml", "--out", out, *options],
        cwd=where,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def halves(folder: Folder) -> list[str]:
    """Files that were being written. Unlike a pattern, a walk does not mind folders that vanish meanwhile."""
    return [str(Path(at, file)) for at, _, files in os.walk(folder.path) for file in files if ".tmp" in file]


def wait_for(what: Callable[[], object], process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 60
    while not what():
        assert process.poll() is None, "the run ended too early for this test"
        assert time.monotonic() < until, "what was waited for did not come"
        time.sleep(0.005)


def same_results(folder: Folder, whole: Folder, complete: bool) -> None:
    """What there is of the results is what an undisturbed run has, and nothing is missing from complete ones."""
    files = [*whole.path.glob("tables/*"), *whole.path.glob("plots/*"), whole.path / "summary.csv"]
    assert len(files) > 10
    for file in files:
        other = folder.path / file.relative_to(whole.path)
        assert other.exists() or not complete, other
        assert not other.exists() or other.read_bytes() == file.read_bytes(), other


def test_a_run_that_is_killed_a_hundred_times_loses_no_finished_point(tmp_path: Path) -> None:
    write(tmp_path, LONG)
    began = time.monotonic()
    succeeded(run("run", "small.toml", "--out", "whole", cwd=tmp_path))
    whole_s = time.monotonic() - began
    whole = Folder(tmp_path / "whole")
    assert len(whole.points()) == LONG_POINTS

    draw = drawing()
    early = [0.002, 0.004, 0.006, 0.008, 0.01, 0.015, 0.02]
    kills = folders = kept = 0
    while kills < KILLS:
        name = f"broken{folders}"
        folders += 1
        broken = Folder(tmp_path / name)
        finished: dict[str, bytes] = {}
        killed_here = 0
        # Until it is finished in spite of the kills, or they are enough.
        while kills < KILLS and len(finished) < LONG_POINTS and killed_here < 40:
            moment = early[killed_here] if killed_here < len(early) else draw.uniform(0.01, 0.25 * whole_s)
            process = start(tmp_path, name)
            try:
                process.communicate(timeout=moment)
            except subprocess.TimeoutExpired:
                kills += 1
                killed_here += 1
            process.kill()
            process.communicate()
            now = broken.flow_files()
            assert now | finished == now, "a finished point is lost, or not what it was"
            for key in now.keys() - finished.keys():
                for file in ("flows", "ports", "queues"):
                    assert parquet.read_table(broken.path / "points" / key / f"{file}.parquet").num_rows > 0
            finished = now
            same_results(broken, whole, complete=False)
        kept += len(finished)

        # A program that was killed holds no lock.
        done = succeeded(run("run", "small.toml", "--out", name, cwd=tmp_path))
        if 0 < len(finished) < LONG_POINTS:
            assert f"{len(finished)} point(s) are finished already" in done.stderr
        assert broken.flow_files() == whole.flow_files()
        assert broken.digests() == whole.digests()
        same_results(broken, whole, complete=True)
        assert not halves(broken), "halves of files of the killed runs"
        shutil.rmtree(broken.path)
    assert kept > LONG_POINTS, "the moments were too early to keep anything"


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_run_that_ends_while_it_writes_results_has_no_half_of_them(
    small: Folder, tmp_path: Path, how: signal.Signals
) -> None:
    write(tmp_path)
    shutil.copytree(small.path, tmp_path / "run")
    again = Folder(tmp_path / "run")
    flows = again.flow_files()
    began = time.monotonic()
    succeeded(run("run", "small.toml", "--out", "run", cwd=tmp_path))
    results_s = time.monotonic() - began
    draw = drawing()
    for _ in range(10):
        for written in ("tables", "plots"):
            shutil.rmtree(again.path / written, ignore_errors=True)
        for written in ("summary.csv", "report.html"):
            (again.path / written).unlink(missing_ok=True)
        process = start(tmp_path, "run")
        try:
            process.wait(timeout=draw.uniform(0.002, results_s))
        except subprocess.TimeoutExpired:
            process.send_signal(how)
        _, errors = process.communicate(timeout=60)
        # Before anything is written a signal ends the command as the system does it.
        assert process.returncode in (0, -how, 128 + how), errors
        if process.returncode == 128 + how:
            assert errors.splitlines()[-1].startswith(b"stopped: 8 of 8 points are finished and kept"), errors
            assert not halves(again)
        same_results(again, small, complete=process.returncode == 0)
        assert again.flow_files() == flows
    succeeded(run("run", "small.toml", "--out", "run", cwd=tmp_path))
    same_results(again, small, complete=True)
    assert (again.path / "report.html").exists() and not halves(again)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_says_what_it_keeps_and_goes_on_from_there(tmp_path: Path, how: signal.Signals) -> None:
    write(tmp_path, LONG)
    stopped = Folder(tmp_path / "stopped")
    process = start(tmp_path, "stopped")
    wait_for(lambda: len(stopped.points()) >= 2, process)
    process.send_signal(how)
    printed, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + how, errors
    kept = stopped.flow_files()
    assert 2 <= len(kept) < LONG_POINTS
    expected = f"stopped: {len(kept)} of {LONG_POINTS} points are finished and kept, and the same command goes on from there"
    lines = errors.decode().splitlines()
    assert lines[-1] == expected and not printed, "no results of a part of the points"
    assert sum(line.startswith(("stopped", "error")) for line in lines) == 1, lines
    assert {file.name for file in stopped.path.iterdir()} == {"points", "run.json", "run.lock", "scenario.toml"}
    assert {folder.name for folder in stopped.path.glob("points/*")} == set(kept), "nothing of unfinished points"
    assert not halves(stopped)

    done = succeeded(run("run", "small.toml", "--out", "stopped", cwd=tmp_path))
    assert f"{len(kept)} point(s) are finished already" in done.stderr
    assert kept.items() <= stopped.flow_files().items()
    succeeded(run("run", "small.toml", "--out", "whole", cwd=tmp_path))
    assert stopped.flow_files() == Folder(tmp_path / "whole").flow_files()
    same_results(stopped, Folder(tmp_path / "whole"), complete=True)


@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_simulation_is_stopped_in_the_middle(tmp_path: Path, threads: str) -> None:
    # Each point would take longer than the test waits.
    write(tmp_path, SMALL.replace("flows = 600", "flows = 5000000"))
    folder = Folder(tmp_path / "run")
    # Files that are not ours, whatever their names.
    others = ["summary.csv", "report.html", "tables/all.csv", "tables/all.txt", "plots/fct.svg", "plots/poster.pdf"]
    for round in range(2):
        process = start(tmp_path, "run", "--threads", threads)
        wait_for(lambda: halves(folder), process)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 130
        assert errors.startswith(b"stopped: 0 of 8 points are finished"), errors
        assert not list(folder.path.glob("points/*")) and not halves(folder)
        left = {str(file.relative_to(folder.path)) for file in folder.path.rglob("*") if file.is_file()}
        own = {"run.json", "run.lock", "scenario.toml"}
        assert left == (own if round == 0 else own | set(others))
        for name in others:
            (folder.path / name).parent.mkdir(exist_ok=True)
            (folder.path / name).write_text("of another program", encoding="utf-8")
    # A smaller scenario in the same folder is another run; the same one would go on.
    refused = run("run", "small.toml", "--out", "run", "--set", "workload.flows=600", cwd=tmp_path)
    assert refused.returncode == 2 and "holds another run" in refused.stderr


def test_a_second_signal_ends_a_run_at_once(tmp_path: Path) -> None:
    write(tmp_path, LONG)
    folder = Folder(tmp_path / "run")
    process = start(tmp_path, "run")
    wait_for(lambda: folder.points(), process)
    # Both wait until the program goes on: it has no time to stop by itself between them.
    for each in (signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGCONT):
        process.send_signal(each)
    _, errors = process.communicate(timeout=60)
    assert process.returncode in (130, 143)
    assert b"stopped" not in errors
    kept = folder.flow_files()
    succeeded(run("run", "small.toml", "--out", "run", cwd=tmp_path))
    assert kept.items() <= folder.flow_files().items() and not halves(folder)


def test_the_rows_of_a_long_run_are_written_while_it_goes_on(tmp_path: Path) -> None:
    many = SMALL.replace("flows = 600", "flows = 150000").replace('sizes.fixed = "1MB"', 'sizes.fixed = "1KB"')
    many = many.replace('uniform = { min = "8KB", max = "32KB" }', 'fixed = "1KB"')
    write(tmp_path, many)
    options = ("--set", "workload.load=0.4", "--set", 'schemes=["dctcp"]', "--seeds", "1")
    succeeded(run("run", "small.toml", "--out", "run", *options, cwd=tmp_path))
    folder = Folder(tmp_path / "run")
    ((key, point),) = folder.points().items()
    file = parquet.ParquetFile(folder.path / "points" / key / "flows.parquet")
    groups = [file.read_row_group(i, columns=["flow"])["flow"].to_pylist() for i in range(file.num_row_groups)]
    assert [len(group) for group in groups[:-1]] == [1 << 16] * (len(groups) - 1) and len(groups) >= 3
    assert all(group == sorted(group) for group in groups)
    assert sorted(flow for group in groups for flow in group) == list(range(point["flows"]["total"]))
    measured = sum(file.read(columns=["measured"])["measured"].to_pylist())
    rows = {row["class"]: row for row in folder.rows() if row["metric"] == "flows"}
    assert float(rows["all"]["value"]) == measured


def test_two_commands_do_not_run_in_one_folder_at_a_time(tmp_path: Path) -> None:
    write(tmp_path, LONG.replace("flows = 1500", "flows = 20000"))
    first = subprocess.Popen(
        [PROGRAM, "run", "small.toml", "--out", "run"], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        lock = tmp_path / "run" / "scenario.toml"
        until = time.monotonic() + 20
        while not lock.exists() and time.monotonic() < until:
            time.sleep(0.02)
        second = run("run", "small.toml", "--out", "run", cwd=tmp_path)
        assert first.poll() is None, "the first run ended too early for this test"
        assert second.returncode == 2
        assert second.stderr.splitlines()[-1].startswith("error: run is in use by another tailcut")
    finally:
        first.kill()
        first.wait()


def full_disk(folder: Path, kilobytes: int) -> str | None:
    """Makes `folder` a disk of that size; the reason if it cannot be done."""
    if os.geteuid() != 0:
        return "only root can mount a small disk"
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else f"this root cannot mount a small disk: {done.stderr.strip()}"


def check_failure_to_write(done: subprocess.CompletedProcess[str], reason: str) -> None:
    assert done.returncode == 2, done.stderr
    errors = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert len(errors) == 1, done.stderr
    assert reason in errors[0] and "run/" in errors[0], errors
    assert "is kept" in errors[0] or "are kept" in errors[0], errors
    assert "panicked" not in done.stderr and "report.html" not in done.stdout


def test_a_full_disk_stops_the_run_and_costs_no_finished_point(small: Folder, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    reason = full_disk(disk, 200)
    if reason is not None:
        pytest.skip(reason)
    try:
        write(disk)
        check_failure_to_write(run("run", "small.toml", "--out", "run", cwd=disk), "No space left on device")
        broken = Folder(disk / "run")
        kept = broken.flow_files()
        assert 0 < len(kept) < 8, "the disk is to be full after some points"
        reference = small.flow_files()
        assert all(reference[key] == data for key, data in kept.items())
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
        done = succeeded(run("run", "small.toml", "--out", "run", cwd=disk))
        assert f"{len(kept)} point(s) are finished already" in done.stderr
        assert broken.summary() == small.summary() and broken.flow_files() == reference
    finally:
        subprocess.run(["umount", str(disk)], check=False)


@pytest.mark.parametrize("kilobytes", [1, 8, 40])
def test_a_file_that_cannot_be_written_leaves_no_half(small: Folder, tmp_path: Path, kilobytes: int) -> None:
    """The limit hits another file each time: the list of points, the flows, the pictures."""
    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (kilobytes * 1024, kilobytes * 1024))

    write(tmp_path)
    done = run("run", "small.toml", "--out", "run", cwd=tmp_path, preexec_fn=limit, restore_signals=False)
    check_failure_to_write(done, "File too large")
    broken = Folder(tmp_path / "run")
    reference = small.flow_files()
    assert all(reference[key] == data for key, data in broken.flow_files().items())
    assert not [file for file in broken.path.rglob("*") if ".tmp" in file.name], "a half is left"
    succeeded(run("run", "small.toml", "--out", "run", cwd=tmp_path))
    assert broken.summary() == small.summary() and broken.flow_files() == reference


def test_a_report_is_made_again_without_any_simulation(small: Folder, tmp_path: Path) -> None:
    shutil.copytree(small.path, tmp_path / "run")
    again = Folder(tmp_path / "run")
    stamps = {key: (again.path / "points" / key / "flows.parquet").stat().st_mtime_ns for key in again.points()}
    for name in ("report.html", "summary.csv"):
        (again.path / name).unlink()
    shutil.rmtree(again.path / "plots")
    done = succeeded(run("report", "run", cwd=tmp_path))
    same_results(again, small, complete=True)
    assert "FCT p99" in done.stdout and "page: run/report.html" in done.stdout
    assert stamps == {key: (again.path / "points" / key / "flows.parquet").stat().st_mtime_ns for key in again.points()}


def test_a_report_of_a_killed_run_is_of_what_is_finished(tmp_path: Path) -> None:
    write(tmp_path, LONG)
    process = start(tmp_path, "broken")
    broken = Folder(tmp_path / "broken")
    until = time.monotonic() + 60
    while len(broken.points()) < 4 and time.monotonic() < until:
        time.sleep(0.01)
    process.kill()
    process.communicate()
    finished = len(broken.points())
    assert 4 <= finished < LONG_POINTS, "the run was killed too late for this test"
    done = succeeded(run("report", "broken", cwd=tmp_path))
    assert f"{LONG_POINTS - finished} of {LONG_POINTS} points have no results" in done.stderr
    page = (broken.path / "report.html").read_text(encoding="utf-8")
    assert f"{finished} of {LONG_POINTS} points" in page
    assert broken.rows() and len(broken.points()) == finished, "nothing was simulated"
    # The run goes on from there, as if there had been no report.
    succeeded(run("run", "small.toml", "--out", "broken", cwd=tmp_path))
    assert f"{LONG_POINTS} points" in (broken.path / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "message", "help"),
    [
        ("nowhere", "nowhere is no run folder", "expected a folder that `tailcut run` has written, such as runs/tail"),
        ("empty", "empty is no run folder", "expected a folder that `tailcut run` has written"),
        ("small.toml", "small.toml is no run folder", "expected a folder that `tailcut run` has written"),
        ("odd", "odd/run.json is damaged: it has no seal", "`tailcut run SCENARIO --out odd` writes run.json anew"),
    ],
)
def test_a_report_of_what_is_no_run_is_refused(tmp_path: Path, name: str, message: str, help: str) -> None:
    write(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "run.json").write_text('{"name": 1}', encoding="utf-8")
    done = run("report", name, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert f"error: {message}" in done.stderr and help in done.stderr, done.stderr
    assert not list((tmp_path / "empty").iterdir()) and len(list((tmp_path / "odd").iterdir())) == 1, "nothing half-written"
