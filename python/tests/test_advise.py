"""`tailcut advise buffer`: the smallest buffer that keeps a target, its evidence, and what is refused."""

from __future__ import annotations

import csv
import json
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from command import PROGRAM, SMALL, Folder, run, succeeded

#: One scheme at one load, in points of some milliseconds.
QUICK = (
    SMALL.replace('schemes = ["dctcp", "slytherin"]', 'schemes = ["dctcp"]')
    .replace('[sweep]\n"workload.load" = [0.4, 0.8]\n', "")
    .replace("flows = 600", "flows = 300")
    .replace('[record]\nthroughput = "20us"\n', "")
)
TARGET = "drops < 60"
ASKED = ("--keep", TARGET, "--max-seeds", "10")


def write(where: Path, text: str = QUICK) -> Path:
    (where / "small.toml").write_text(text, encoding="utf-8")
    return where


def advise(where: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return run("advise", "buffer", "small.toml", *options, cwd=where)


def document(folder: Folder) -> dict:
    return json.loads((folder.path / "advice.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def asked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Folder, subprocess.CompletedProcess[str]]:
    """The quick scenario, asked which buffer drops few packets."""
    where = write(tmp_path_factory.mktemp("advise"))
    done = succeeded(advise(where, *ASKED))
    return Folder(where / "runs" / "small+buffer"), done


def test_the_answer_is_the_smallest_size_that_was_shown_to_do(
    asked: tuple[Folder, subprocess.CompletedProcess[str]],
) -> None:
    folder, done = asked
    [answer] = document(folder)["answers"]
    assert answer["outcome"] == "smallest" and answer["scheme"] == "dctcp"
    tried = {one["size_bytes"]: one for one in answer["tried"]}
    sizes = sorted(tried)
    assert sizes[0] == 7_500 and sizes[-1] == 480_000 and len(sizes) > 7, "a sixteenth to four times 120 KB"
    assert all(size % 1_500 == 0 for size in sizes)
    for one in tried.values():
        [metric] = one["metrics"]
        if one["verdict"] == "kept":
            assert metric["high"] < 60
        elif one["verdict"] == "not kept":
            assert metric["low"] >= 60
        else:
            assert metric["low"] < 60 <= metric["high"] and one["seeds"] == 10 and one["note"]
        assert one["seeds"] in (5, 10)
    kept = [size for size in sizes if tried[size]["verdict"] == "kept"]
    assert answer["size_bytes"] == kept[0]
    assert kept == [size for size in sizes if size >= kept[0] and tried[size]["verdict"] != "undecided"]
    below = max(size for size in sizes if size < kept[0])
    assert kept[0] <= 1.1 * below or kept[0] - below <= 1_500, "the gap is narrow"
    not_kept = [size for size in sizes if tried[size]["verdict"] == "not kept"]
    assert answer["not_kept_bytes"] == max(not_kept)
    open_sizes = [size for size in sizes if max(not_kept) < size < kept[0]]
    assert answer["undecided_bytes"] == ([open_sizes[0], open_sizes[-1]] if open_sizes else None)
    assert " <\n" in re.sub(r" +\n", "\n", done.stdout) and "smallest buffer that was shown to keep drops < 60" in re.sub(r"\s+", " ", done.stdout)


def test_what_is_shown_is_what_the_run_measured(asked: tuple[Folder, subprocess.CompletedProcess[str]]) -> None:
    """Values are those of summary.csv; intervals are wider, because they are for all looks."""
    folder, _ = asked
    rows = {row["port.limit"]: row for row in folder.rows() if (row["metric"], row["class"]) == ("drops", "all")}
    with (folder.path / "advice.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert {line["size"] for line in lines} == set(rows) and len(lines) == len(rows)
    [answer] = document(folder)["answers"]
    for line, tried in zip(lines, answer["tried"], strict=True):
        row = rows[line["size"]]
        assert line["value"] == row["value"] and int(line["size_bytes"]) == int(row["port.limit_bytes"])
        assert float(line["low"]) <= float(row["low"]) and float(line["high"]) >= float(row["high"])
        assert (line["verdict"], int(line["seeds"])) == (tried["verdict"], tried["seeds"])
        assert line["advised"] == ("true" if tried["size_bytes"] == answer["size_bytes"] else "false")
        seeds = sorted(p["seed"] for p in folder.points().values() if p["values"] == [line["size"]])
        assert seeds == list(range(1, tried["seeds"] + 1)), "the same seeds at each size"


def test_the_points_are_those_of_a_plain_run(
    asked: tuple[Folder, subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    folder, _ = asked
    [answer] = document(folder)["answers"]
    write(tmp_path)
    size = f"{answer['size_bytes']}B"
    succeeded(run("run", "small.toml", "--set", f"port.limit={size}", "--seeds", "5", "--out", "plain", cwd=tmp_path))
    plain = {p["seed"]: p["engine"]["digest"] for p in Folder(tmp_path / "plain").points().values()}
    found = [p for p in folder.points().values() if p["seed"] <= 5]
    bytes_of = {row["port.limit"]: int(row["port.limit_bytes"]) for row in folder.rows()}
    found = [p for p in found if bytes_of[p["values"][0]] == answer["size_bytes"]]
    assert {p["seed"]: p["engine"]["digest"] for p in found} == plain


def test_a_search_that_is_stopped_comes_to_the_same(
    asked: tuple[Folder, subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    whole, _ = asked
    write(tmp_path)
    stopped = Folder(tmp_path / "runs" / "small+buffer")
    for points in (4, 38):
        process = subprocess.Popen(
            [PROGRAM, "advise", "buffer", "small.toml", *ASKED],
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        patience = time.monotonic() + 60
        while len(stopped.points()) < points and process.poll() is None and time.monotonic() < patience:
            time.sleep(0.002)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 130, errors
        assert b"stopped: " in errors.splitlines()[-1]
        assert not (stopped.path / "advice.json").exists()
    done = succeeded(advise(tmp_path, *ASKED))
    assert "finished already" in done.stderr
    assert document(stopped) == document(whole) and stopped.digests() == whole.digests()
    # Once more, and nothing is run; another target uses what is there; more seeds go on.
    done = succeeded(advise(tmp_path, *ASKED))
    assert not re.search(r"^\d+/\d+ ", done.stderr, re.MULTILINE) and document(stopped) == document(whole)
    other = advise(tmp_path, "--keep", "dropped_share < 50%", "--max-seeds", "5", "--format", "json")
    assert "35 point(s) are finished already" in other.stderr
    found = json.loads(succeeded(other).stdout)
    assert found["answers"][0]["size_bytes"] == 7_500 and "nothing smaller was tried" in found["sentences"][0]
    # The folder belongs to this scenario alone.
    refused = advise(tmp_path, *ASKED, "--set", "workload.flows=200", "--out", "runs/small+buffer")
    assert refused.returncode == 2 and "holds another run" in refused.stderr
    refused = run("run", "small.toml", "--out", "runs/small+buffer", cwd=tmp_path)
    assert refused.returncode == 2 and "holds another run" in refused.stderr


def test_a_target_that_a_larger_buffer_makes_worse_is_refused(tmp_path: Path) -> None:
    """Without marks a queue grows as far as the buffer, and short flows wait behind long ones."""
    write(tmp_path, QUICK.replace('["dctcp"]', '["tcp"]').replace("load = 0.6", "load = 0.9"))
    asked = ("--keep", "queue_mean < 1000", "--from", "15KB", "--to", "480KB", "--max-seeds", "10", "--out", "worse")
    done = advise(tmp_path, *asked, "--tolerance", "0%", "-q")
    text = re.sub(r"\s+", " ", done.stdout)
    assert done.returncode == 1 and "tcp: refused, because a larger buffer is not always better" in text, text
    assert "worse by" in text and "packets at least" in text
    [answer] = document(Folder(tmp_path / "worse"))["answers"]
    worse = answer["worse"]
    assert answer["outcome"] == "not monotone" and answer["size_bytes"] is None
    assert worse["smaller_bytes"] < worse["larger_bytes"] and 0 < worse["worse_at_least"] < worse["at_larger"] - worse["at_smaller"]
    # A user who allows it gets an answer.
    done = advise(tmp_path, *asked, "--tolerance", "100%")
    assert document(Folder(tmp_path / "worse"))["answers"][0]["size_bytes"] == 15_000, done.stdout


def test_no_size_keeps_what_cannot_be(tmp_path: Path) -> None:
    write(tmp_path)
    done = advise(tmp_path, "--keep", "fct_mean(class=long) < 10us", "--max-seeds", "5", "--to", "120KB", "--out", "none")
    assert done.returncode == 1 and "no buffer up to 120KB (80 packets) keeps" in re.sub(r"\s+", " ", done.stdout)
    assert document(Folder(tmp_path / "none"))["answers"][0]["outcome"] == "none keeps it"


def test_completion_times_without_those_of_open_flows_keep_nothing(tmp_path: Path) -> None:
    write(tmp_path, QUICK.replace("[record]", "") + '\n[run]\ndrain = "0s"\n')
    done = advise(tmp_path, "--keep", "fct_mean(class=long) < 1s", "--max-seeds", "20", "--from", "60KB", "--to", "240KB", "-q")
    text = re.sub(r"\s+", " ", done.stdout)
    assert done.returncode == 1 and "More seeds do not help" in text and "were still open at the end" in text, text
    [answer] = document(Folder(tmp_path / "runs" / "small+buffer"))["answers"]
    assert answer["outcome"] == "undecided" and {tried["seeds"] for tried in answer["tried"]} == {5}


def test_each_threshold_and_load_has_an_answer_of_its_own(tmp_path: Path) -> None:
    text = QUICK.replace("seeds = 2", "seeds = 2\nsweep.\"workload.load\" = [0.3, 0.6]")
    write(tmp_path, text.replace("flows = 300", "flows = 120"))
    options = ("--keep", TARGET, "--keep", "dropped_share < 90%", "--with-marking=25%,9KB", "--max-seeds", "5", "--from", "60KB", "--to", "120KB")
    done = advise(tmp_path, *options, "--out", "many", "-q")
    found = document(Folder(tmp_path / "many"))
    places = [(a["values"]["workload.load"], a["values"]["port.marker.step.threshold"]) for a in found["answers"]]
    assert places == [(load, threshold) for load in ("0.3", "0.6") for threshold in ("25%", "9KB")]
    assert found["marking"] == "port.marker.step.threshold" and len(found["answers"][0]["tried"][0]["metrics"]) == 2
    groups = [[a["size_bytes"] for a in found["answers"][at : at + 2]] for at in (0, 2)]
    assert done.returncode == (0 if all(any(group) for group in groups) else 1), done.stderr
    best = [min(size for size in group if size) for group in groups if any(group)]
    said = re.findall(r"the smallest buffer of all is (\d+)(KB|B)", re.sub(r"\s+", " ", done.stdout))
    assert [int(n) * (1_000 if unit == "KB" else 1) for n, unit in said] == best


def test_the_memory_that_ports_share_is_searched_where_there_is_one(tmp_path: Path) -> None:
    write(tmp_path, QUICK + '\n[switch.memory.dt]\nsize = "400KB"\n')
    done = advise(tmp_path, "--keep", "dropped_share < 99%", "--max-seeds", "5", "--from", "100KB", "--to", "400KB", "-q")
    assert "switch.memory.dt.size" in succeeded(done).stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "--keep"),
        (("--keep", "fct_p99"), "has no <, <=, > or >="),
        (("--keep", "fct_p99 < 2"), "a time with a unit"),
        (("--keep", "fct_p98 < 2ms"), "there is no metric `fct_p98`"),
        (("--keep", "fct_p99(class=shrot) < 2ms"), "did you mean `short`?"),
        (("--keep", "queue_max < 20"), "has no interval"),
        (("--keep", "queue_mean(class=short) < 20"), "of the network, not of a class"),
        ((*ASKED, "--set", "port.limit=60KB"), "fixes what is to be searched"),
        ((*ASKED, "--from", "1MB"), "nothing to search from 1MB to 480KB"),
        ((*ASKED, "--step", "0B"), "0B"),
        ((*ASKED, "--within", "10"), "expected such as 5%"),
        (("--keep", TARGET, "--max-seeds", "4"), "expected at least 5"),
        ((*ASKED, "--key", "port.limt"), "expected a key whose value is a size, such as port.limit"),
        ((*ASKED, "--with-marking=much"), "`much`"),
        ((*ASKED, "--set", 'schemes=["pfabric"]'), "--key scheme.pfabric.port.limit"),
        ((*ASKED, "--set", 'schemes=["tcp"]', "--with-marking"), "no marking threshold"),
    ],
)
def test_mistakes_are_said_before_anything_runs(tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    write(tmp_path)
    done = advise(tmp_path, *options)
    assert done.returncode == 2 and done.stdout == "" and message in done.stderr, done.stderr
    assert done.stderr.count("error: ") == 1 and not (tmp_path / "runs").exists()
