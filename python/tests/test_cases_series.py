"""What is recorded over time covers the run, as a user's files show it: lists whose flows all start early, shared buffers,
and bursts that follow each other."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from command import SMALL, Folder, run, succeeded

CASES = Path(__file__).parent / "cases"


def run_case(where: Path, case: str, *more: str) -> Folder:
    succeeded(run("run", str(CASES / case), "--out", "run", *more, cwd=where))
    return Folder(where / "run")


def tables(folder: Folder, name: str, scheme: str) -> list[dict]:
    [key] = [key for key, point in folder.points().items() if point["scheme"] == scheme]
    return pq.read_table(folder.path / "points" / key / name).to_pylist()


def summary(folder: Folder, scheme: str) -> dict:
    [point] = [point for point in folder.points().values() if point["scheme"] == scheme]
    return point


@pytest.mark.parametrize(("case", "samples"), [("c39_40.toml", 1000), ("c39x_40.toml", 1049)])
def test_the_queue_of_a_listed_incast_is_measured_while_it_is_there(tmp_path: Path, case: str, samples: int) -> None:
    folder = run_case(tmp_path, f"f02-queue-of-a-listed-incast/{case}")
    for scheme in ("dctcp", "swift"):
        [port] = [row for row in tables(folder, "ports.parquet", scheme) if row["peer"] == "host40"]
        assert port["utilisation"] == pytest.approx(1.0, abs=2e-4)
        sampled = sum(row["samples"] for row in tables(folder, "queues.parquet", scheme))
        assert sampled == 41 * samples, "each of the 41 ports, every 20 us"
        series = [row for row in tables(folder, "queue_series.parquet", scheme) if row["port"] == port["port"]]
        times = [row["time_ns"] for row in series]
        assert all(time % 20_000 == 0 for time in times)
        assert times[0] == 20_000 and times[-1] > 19_000_000 and times[-1] <= summary(folder, scheme)["simulated_ns"]
        assert len(series) > 0.5 * samples, "all but those that repeat the one before"
        if scheme == "dctcp":
            assert port["queue_p50_bytes"] == pytest.approx(103_000, rel=0.1), "the standing queue"
    page = (folder.path / "report.html").read_text(encoding="utf-8")
    assert "queues are sampled" not in page, "no warning of samples that hardly count"


def test_a_shared_buffer_is_sampled_from_the_start_to_the_end(tmp_path: Path) -> None:
    folder = run_case(tmp_path, "f02-queue-of-a-listed-incast/mem.toml")
    rows = tables(folder, "memory_series.parquet", "dctcp")
    end = summary(folder, "dctcp")["simulated_ns"]
    times = [row["time_ns"] for row in rows]
    assert times[0] == 0 and end - 200_000 < times[-1] <= end
    pool = [row for row in rows if row["port"] is None]
    assert max(row["used_bytes"] for row in pool) > 10_000
    # The bins of the throughput are of the whole run, and every byte is in one of them.
    arrived = sum(row["bytes"] for row in tables(folder, "throughput.parquet", "dctcp"))
    assert arrived * 8 / 25 == pytest.approx(end * 1460 / 1500, rel=0.01), "the link is busy all the time"


@pytest.mark.parametrize("threads", ["1", "3"])
def test_statistics_of_generated_traffic_are_of_the_window(tmp_path: Path, threads: str) -> None:
    text = SMALL.replace("[record]", '[record]\nqueue_series = true\nqueue_sample = "10us"')
    (tmp_path / "small.toml").write_text(text, encoding="utf-8")
    succeeded(run("run", "small.toml", "--out", "run", "--seeds", "1", "--threads", threads, cwd=tmp_path))
    folder = Folder(tmp_path / "run")
    for key, point in folder.points().items():
        flows = pq.read_table(folder.path / "points" / key / "flows.parquet").to_pylist()
        window = point["measured"]
        assert window["until_ns"] == max(row["start_ns"] for row in flows)
        assert window["from_ns"] == min(row["start_ns"] for row in flows if row["measured"])
        times = pq.read_table(folder.path / "points" / key / "queue_series.parquet")["time_ns"].to_pylist()
        assert times[0] < window["from_ns"], "the warm-up is recorded as well"
        assert times[-1] > window["until_ns"] and times[-1] <= point["simulated_ns"], "and so is the drain"
    svg = (folder.path / "plots" / "queue_series_load-0.8.svg").read_text(encoding="utf-8")
    assert ">warm-up<" in svg and ">drain<" in svg


def test_the_demand_of_a_burst_has_nothing_of_the_one_before(tmp_path: Path) -> None:
    folder = run_case(tmp_path, "oracle-of-bursts/oracle.toml")
    bursts = tables(folder, "bursts.parquet", "tcp")
    assert [burst["drops"] for burst in bursts] == [0, 0]
    # Twenty hosts send 40 packets each at line rate, while the port sends one for twenty that come; then 100 more.
    for burst, right in zip(bursts, (1_140_000, 274_500), strict=True):
        assert burst["demand_bytes"] == pytest.approx(right, abs=1500)
        assert burst["peak_bytes"] == pytest.approx(right, abs=1500)


@pytest.mark.parametrize(
    ("window", "words"),
    [
        ('{ from = "3ms", until = "2ms" }', "`until` must be after `from`"),
        ('{ until = "never" }', '"last-arrival" or "end"'),
        ('{ from = "1s" }', "the window begins at 1s"),
    ],
)
def test_a_window_that_cannot_be_is_refused(tmp_path: Path, window: str, words: str) -> None:
    case = str(CASES / "f02-queue-of-a-listed-incast" / "c39_40.toml")
    done = run("check", case, "--set", f"record.window={window}", cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr and done.stderr.count("error:") == 1


def test_a_window_changes_what_is_measured_and_nothing_else(tmp_path: Path) -> None:
    case = "f02-queue-of-a-listed-incast/c39_40.toml"
    whole = run_case(tmp_path, case, "--set", 'schemes=["dctcp"]')
    (tmp_path / "part").mkdir()
    window = ("--set", 'record.window={ from = "5ms", until = "6ms" }')
    part = run_case(tmp_path / "part", case, "--set", 'schemes=["dctcp"]', *window)
    assert whole.digests() == part.digests()
    assert sum(row["samples"] for row in tables(part, "queues.parquet", "dctcp")) == 41 * 49
