"""Public file formats as their own programs read them, each with a value that was computed by hand."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars
import pytest

from command import Folder, run, succeeded

CASES = Path(__file__).parent / "cases"


def case(name: str, to: Path) -> Path:
    """A copy of a case's folder."""
    return Path(shutil.copytree(CASES / name, to / name))


def flows(folder: Path) -> polars.DataFrame:
    """The flows of the only point of a run."""
    (point,) = Folder(folder).points()
    return polars.read_parquet(folder / "points" / point / "flows.parquet")


def refused(folder: Path, scenario: str, *parts: str) -> None:
    """The scenario is refused with one message that has all of these parts, and nothing is written."""
    done = run("run", scenario, "--out", "run", cwd=folder)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("error") == 1
    for part in parts:
        assert part in done.stderr, f"{part} in {done.stderr}"
    assert not (folder / "run").exists()


def fct_us(folder: Path, scenario: str) -> list[float]:
    succeeded(run("run", scenario, "--out", "run", cwd=folder))
    rows = flows(folder / "run").sort("flow")
    return [round(ns / 1e3, 3) for ns in rows["fct_ns"]]


def test_flow_lists_of_hpcc_number_nodes_as_its_topology_does(tmp_path: Path) -> None:
    folder = case("f04-hpcc-node-numbers", tmp_path)
    # Node 1 (100 Gb/s) to node 3 (25 Gb/s): 685 packets at 25 Gb/s, the first one at 100 Gb/s, and two links of 1 us.
    assert fct_us(folder, "s3.toml") == [330.888]
    shutil.rmtree(folder / "run")
    # Nodes 2 and 4 are the hosts 1 and 3; node 4 sends at 40 Gb/s into 25 Gb/s, node 2 at 10 Gb/s.
    succeeded(run("run", "s.toml", "--out", "run", cwd=folder))
    rows = flows(folder / "run").sort("flow")
    assert list(zip(rows["src"], rows["dst"])) == [(1, 0), (2, 3)]


@pytest.mark.parametrize(
    ("row", "message"),
    [("0 3", "the source 0 is a switch"), ("1 5", "the destination 5 is not a node"), ("1 x", "`x` is not the number of a node")],
)
def test_a_node_that_is_no_host_is_refused_at_its_line(tmp_path: Path, row: str, message: str) -> None:
    folder = case("f04-hpcc-node-numbers", tmp_path)
    (folder / "flow3.txt").write_text(f"1\n{row} 3 100 1000000 2.0\n", encoding="utf-8")
    refused(folder, "s3.toml", message, "flow3.txt:2", "nodes 0 to 4")


def test_in_other_networks_flow_lists_of_hpcc_number_hosts(tmp_path: Path) -> None:
    folder = case("f04-hpcc-node-numbers", tmp_path)
    scenario = (folder / "s3.toml").read_text(encoding="utf-8")
    star = 'topology.star = { hosts = 4, host_link = { rate = "25Gbps", delay = "1us" } }\n[workload'
    (folder / "star.toml").write_text(scenario.replace('[topology.file]\npath = "topology.txt"\n[workload', star), encoding="utf-8")
    succeeded(run("run", "star.toml", "--out", "run", cwd=folder))
    rows = flows(folder / "run")
    assert (rows["src"][0], rows["dst"][0]) == (1, 3)


@pytest.mark.parametrize(
    ("scenario", "warning"),
    [
        ("spare.toml", "announces 2 links, and what follows them, from line 5 on, is not read"),
        ("tail.toml", "announces 2 links, and what follows them, from line 6 on, is not read"),
        ("four.toml", None),
    ],
)
def test_what_a_topology_announces_is_read_and_the_rest_is_reported(tmp_path: Path, scenario: str, warning: str | None) -> None:
    folder = case("f05-hpcc-files-as-shipped", tmp_path)
    checked = succeeded(run("check", scenario, cwd=folder))
    said = checked.stdout + checked.stderr
    assert ("is not read" in said) == (warning is not None)
    assert warning is None or warning in said
    # A packet of 1,500 B at 10 Gb/s over two links of 1 us.
    assert fct_us(folder, scenario) == [4.4]


def test_fewer_flows_than_announced_are_refused_where_they_end(tmp_path: Path) -> None:
    folder = case("f05-hpcc-files-as-shipped", tmp_path)
    refused(folder, "fl.toml", "fl.txt:5", "the line has 4 columns", "announces 4 flows, and this should be number 4")
    text = (folder / "fl.txt").read_text(encoding="utf-8")
    (folder / "fl.txt").write_text(text.replace("4\n", "3\n", 1), encoding="utf-8")
    checked = succeeded(run("check", "fl.toml", cwd=folder))
    assert "announces 3 flows, and the line from line 5 on is not read" in checked.stdout + checked.stderr


def test_the_mean_in_the_first_line_says_that_sizes_are_steps(tmp_path: Path) -> None:
    folder = case("f08-step-distribution", tmp_path)
    for file, arguments, mean in [
        ("step.txt", (), 551.0),
        ("homa_like.txt", (), 551.0),
        ("s3.txt", (), 325.95),
        ("s3.txt", ("--interpolation", "step"), 551.0),
    ]:
        done = succeeded(run("thresholds", "--file", file, *arguments, "--load", "0.5", "--format", "json", cwd=folder))
        assert json.loads(done.stdout)["mean_bytes"] == pytest.approx(mean, rel=1e-6)
    succeeded(run("run", "step.toml", "--out", "run", cwd=folder))
    assert set(flows(folder / "run")["size_bytes"]) == {100, 1000, 2000}


def test_a_mean_that_neither_interpolation_has_is_refused_with_both(tmp_path: Path) -> None:
    folder = case("f08-step-distribution", tmp_path)
    text = (folder / "step.txt").read_text(encoding="utf-8")
    (folder / "step.txt").write_text(text.replace("550.5", "450"), encoding="utf-8")
    refused(folder, "step.toml", "step.txt:1", "announces a mean of 450", "551 with steps", "325.95")


@pytest.mark.parametrize(("size", "bytes_"), [("1460.0", 1460), ("1460", 1460), ("1461.", 1461)])
def test_zeros_behind_the_point_are_no_fraction(tmp_path: Path, size: str, bytes_: int) -> None:
    folder = case("f11-fraction-of-a-byte", tmp_path)
    (folder / "f3.csv").write_text(f"start_ns,src,dst,size_bytes\n0,0,3,{size}\n", encoding="utf-8")
    succeeded(run("run", "f3.toml", "--out", "run", cwd=folder))
    assert list(flows(folder / "run")["size_bytes"]) == [bytes_]


def test_a_fraction_of_a_byte_is_refused_with_line_and_column(tmp_path: Path) -> None:
    folder = case("f11-fraction-of-a-byte", tmp_path)
    refused(folder, "f3.toml", "f3.csv:2", "the size 1460.999 in column 4 is not a whole number of bytes", "expected 1460 or 1461")
    listed = 'list = [{ src = 0, dst = 3, size = "1460.999B" }]'
    text = (folder / "f3.toml").read_text(encoding="utf-8")
    (folder / "f3.toml").write_text(text.replace('file = { path = "f3.csv"  }', listed), encoding="utf-8")
    refused(folder, "f3.toml", "f3.toml:6", "`1460.999B` is not a whole number of B")


SETTINGS = """\
schemes = ["dctcp"]
[sweep]
"setting.a" = ["x", "long-name"]
[topology.star]
hosts = 4
host_link = { rate = "10Gbps", delay = "1us" }
[settings.a.x]
port.limit = "30KB"
[settings.a.long-name]
port.limit = "40KB"
[workload.traffic.q]
list = [{ src = 1, dst = 0, size = "1460B" }]
"""


def settings(folder: Path, *arguments: str) -> str:
    (folder / "s.toml").write_text(SETTINGS, encoding="utf-8")
    succeeded(run("run", "s.toml", "--out", "run", *arguments, cwd=folder))
    return (folder / "run" / "scenario.toml").read_text(encoding="utf-8")


def test_a_path_with_quotation_marks_changes_the_setting_that_it_names(tmp_path: Path) -> None:
    for path in ['settings.a."long-name".port.limit', "settings.a.'long-name'.port.limit", "settings.a.long-name.port.limit"]:
        text = settings(tmp_path, "--set", f"{path}=50KB")
        assert '"50KB"' in text and '"40KB"' not in text and '"30KB"' in text, text


@pytest.mark.parametrize(
    ("argument", "parts"),
    [
        ('settings.a."long-nam".port.limit=50KB', ("no setting `long-nam`", "did you mean `long-name`?")),
        ("workload.traffic.p.list=[]", ("no traffic class `p`", "`q`")),
        ("workload.load=0.5\n[port]\nlimit=\"5KB\"", ("a line break", "--set PATH=VALUE")),
        ("workload.load=0.5 # half", ("`# half` stands behind the value", "--set PATH=VALUE")),
        ('settings.a."x.port.limit=50KB', ("no `=`",)),
        ("settings.a.x..limit=50KB", ("is not a path of keys: a key is empty",)),
    ],
)
def test_what_reaches_nothing_is_refused(tmp_path: Path, argument: str, parts: tuple[str, ...]) -> None:
    (tmp_path / "s.toml").write_text(SETTINGS, encoding="utf-8")
    done = run("run", "s.toml", "--out", "run", "--set", argument, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    for part in parts:
        assert part in done.stderr, done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('[settings.a.unused]\nprot.limit = "1KB"\n', 14, "unknown key `prot`"),
        (f'[workload.traffic.{"a" * 240}]\nlist = [{{ src = 1, dst = 0, size = "1460B" }}]\n', 13, "1 to 64"),
        (f'[settings.a.{"n" * 65}]\nport.limit = "1KB"\n', 13, "expected a name of 1 to 64 bytes"),
    ],
)
def test_a_wrong_name_in_the_scenario_is_refused_at_its_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    (tmp_path / "s.toml").write_text(SETTINGS + text, encoding="utf-8")
    for command in ["check", "run"]:
        done = run(command, "s.toml", cwd=tmp_path)
        assert done.returncode == 2 and message in done.stderr and f"s.toml:{line}" in done.stderr, done.stderr


SIZES = """\
name = "m"
schemes = ["dctcp"]
[topology.file]
path = "networks/net.txt"
[workload]
load = 0.5
flows = 300
[workload.traffic.a]
share = 1.0
sizes.file = { path = "c.txt" }
"""


def with_files(where: Path) -> Path:
    """A scenario that names two files, run from another directory."""
    more = where / "more"
    (more / "networks").mkdir(parents=True)
    (more / "m.toml").write_text(SIZES, encoding="utf-8")
    (more / "c.txt").write_text("1000 0\n20000 1\n", encoding="utf-8")
    (more / "networks" / "net.txt").write_text(
        "5 1 4\n4\n" + "".join(f"{host} 4 10Gbps 1us 0\n" for host in range(4)), encoding="utf-8"
    )
    succeeded(run("run", "more/m.toml", "--out", "r", cwd=where))
    return more


def uses(where: Path) -> list[list[str]]:
    """Every command that reads the scenario of a run folder again."""
    return [
        ["verify", "r", "--replay", "1"],
        ["explain", "r", "--worst", "1"],
        ["trace", "r", "--flow", "1", "--pcapng", str(where / "z.pcapng")],
        ["run", "r/scenario.toml", "--out", "again"],
        ["check", "r/scenario.toml"],
    ]


@pytest.mark.parametrize("changed", ["nothing", "changed", "gone", "moved"])
def test_a_run_folder_runs_again_whatever_became_of_its_files(tmp_path: Path, changed: str) -> None:
    more = with_files(tmp_path)
    where = tmp_path
    if changed == "changed":
        (more / "c.txt").write_text("1000 0\n50000 1\n", encoding="utf-8")
    elif changed in ("gone", "moved"):
        shutil.rmtree(more)
    if changed == "moved":
        where = tmp_path / "elsewhere"
        where.mkdir()
        shutil.move(tmp_path / "r", where / "r")
    for command in uses(where):
        done = run(*command, cwd=where)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    assert Folder(where / "again").digests() == Folder(where / "r").digests()
    assert list(Folder(where / "again").points()) == list(Folder(where / "r").points()), "the keys are the same"
    names = sorted(file.name.split("-", 1)[1] for file in (where / "r" / "inputs").iterdir())
    assert names == ["c.txt", "net.txt"]
    assert sorted(Folder(where / "r").info()["inputs"]) == ["c.txt", "networks/net.txt"]


def test_a_copy_that_was_changed_is_damage(tmp_path: Path) -> None:
    with_files(tmp_path)
    (copy,) = (tmp_path / "r" / "inputs").glob("*-c.txt")
    content = copy.read_bytes()
    copy.write_bytes(content.replace(b"20000", b"30000"))
    done = run("verify", "r", cwd=tmp_path)
    assert done.returncode != 0 and "the copy of `c.txt`: it has changed" in done.stdout, done.stdout
    for command in uses(tmp_path)[1:]:
        done = run(*command, cwd=tmp_path)
        assert done.returncode == 2 and "its name is the hash of other bytes" in done.stderr, done.stderr
    succeeded(run("run", "more/m.toml", "--out", "r", cwd=tmp_path))
    assert copy.read_bytes() == content, "the same command makes it again"
    copy.unlink()
    done = run("explain", "r", "--worst", "1", cwd=tmp_path)
    assert done.returncode == 2 and "there is no such file" in done.stderr, done.stderr
