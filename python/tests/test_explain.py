"""Why a flow was slow: what `tailcut explain` tells adds up, and what `tailcut trace` writes is understood by tshark."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pyarrow.parquet as parquet
import pytest

from command import SMALL, Folder, run, succeeded, write_sealed

#: Ports so shallow that packets are lost.
LOSSY = SMALL.replace('limit = "120KB"', 'limit = "24KB"').replace("seeds = 2", "seeds = 1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    home = tmp_path_factory.mktemp("explain")
    (home / "small.toml").write_text(LOSSY, encoding="utf-8")
    succeeded(run("run", "small.toml", "--quiet", "--set", "record.attribution=true", "--out", "runs/small", cwd=home))
    return Folder(home / "runs" / "small")


def flows(folder: Folder, key: str) -> list[dict]:
    return parquet.read_table(folder.path / "points" / key / "flows.parquet").to_pylist()


def lossy_flow(folder: Folder, scheme: str) -> tuple[list[str], dict]:
    """A point of a scheme, as arguments, and its flow of which the most were sent again without a timeout."""
    key, point = next((k, p) for k, p in folder.points().items() if p["scheme"] == scheme)
    flow = max(flows(folder, key), key=lambda row: (row["timeouts"] == 0, row["retransmissions"]))
    assert flow["retransmissions"] > 0
    return ["--scheme", scheme, "--seed", str(point["seed"]), "--at", f"workload.load={point['values'][0]}"], flow


def test_the_components_of_each_flow_are_its_completion_time(folder: Folder) -> None:
    for key in folder.points():
        for row in flows(folder, key):
            parts = [round(row[name] * 1000) for name in row if name.startswith("delay_") and row[name] is not None]
            assert all(part >= 0 for part in parts)
            assert (sum(parts) == round(row["fct_ns"] * 1000)) if row["fct_ns"] is not None else not parts
    rows = {(r["scheme"], r["workload.load"], r["class"], r["metric"]): r["value"] for r in folder.rows()}
    of = ("dctcp", "0.8", "short")
    slowest = [float(v) for (*where, m), v in rows.items() if tuple(where) == of and m.startswith("delay_") and m.endswith("_slowest")]
    assert sum(slowest) == pytest.approx(float(rows[*of, "fct_mean_slowest"]), rel=1e-9)
    assert float(rows[*of, "fct_mean_slowest"]) >= float(rows[*of, "fct_p99"])
    assert (folder.path / "plots" / "delays_short.svg").exists()


def test_the_slowest_flows_are_told_of_with_what_was_saved(folder: Folder, tmp_path: Path) -> None:
    page = tmp_path / "why.html"
    arguments = ["--worst", "4", "--class", "short", "--html", str(page)]
    done = succeeded(run("explain", str(folder.path), *arguments, "--format", "json", cwd=tmp_path))
    told = [json.loads(line) for line in done.stdout.splitlines()]
    stories = [(point["point"], flow) for point in told for flow in point["flows"]]
    slow = sorted(
        ((row["fct_ns"], key, row["flow"]) for key in folder.points() for row in flows(folder, key)
         if row["class"] == "short" and row["measured"] and row["fct_ns"] is not None),
        reverse=True,
    )[:4]
    assert sorted((flow["fct_ns"], key, flow["flow"]) for key, flow in stories) == sorted(slow)
    for key, flow in stories:
        saved = next(row for row in flows(folder, key) if row["flow"] == flow["flow"])
        assert sum(round(part["ns"] * 1000) for part in flow["parts"]) == round(flow["fct_ns"] * 1000)
        assert len(flow["drops"]) == saved["drops"]
        assert all(0 < lost["waiting_bytes"] <= 24_000 for lost in flow["drops"])
    assert "<svg" in page.read_text(encoding="utf-8")
    text = succeeded(run("explain", str(folder.path), *arguments[:4], cwd=tmp_path)).stdout
    assert "with the digest that was saved" in text


def test_a_port_is_told_of(folder: Folder, tmp_path: Path) -> None:
    chosen, _ = lossy_flow(folder, "dctcp")
    arguments = ["explain", str(folder.path), *chosen, "--port", "leaf0->host1", "--format", "json", "--html", "port.html"]
    port = json.loads(succeeded(run(*arguments, cwd=tmp_path)).stdout)["port"]
    key = next(k for k, p in folder.points().items() if p["scheme"] == "dctcp" and p["values"][0] == chosen[-1].split("=")[1])
    ports = parquet.read_table(folder.path / "points" / key / "ports.parquet").to_pylist()
    saved = next(row for row in ports if (row["owner"], row["peer"]) == ("leaf0", "host1"))
    assert port["packets"] == saved["packets"]
    assert sum(port["drops"].values()) == saved["drops_port_full"]
    assert 0 < port["most_bytes"] <= 24_000
    assert (tmp_path / "port.html").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--flow", "3"], "points of the run fit"),
        (["--worst", "2", "--scheme", "nothing"], "expected one of dctcp, slytherin"),
        (["--worst", "2", "--class", "nothing"], "expected one of short"),
        (["--worst", "2", "--at", "workload.load=0.5"], "expected one of 0.4, 0.8"),
        (["--scheme", "dctcp", "--at", "workload.load=0.4", "--flow", "100000"], "expected a number below"),
        (["--scheme", "dctcp", "--at", "workload.load=0.4", "--port", "leaf0->hots1"], "leaf0->host1"),
        ([], "expected --flow N"),
        (["--worst", "2", "--seed", "9"], "the run has no seed 9"),
        (["--worst", "2", "--at", "workload.load=0.4", "--at", "workload.load=0.8"], "no point has both"),
        # What is suggested keeps to what was said already.
        (["--flow", "3", "--at", "workload.load=0.8"], "--scheme dctcp --seed 1 --at workload.load=0.8"),
        (["--flow", "3", "--class", "short"], "cannot be used with '--class"),
        (["--flow", "3", "--from", "1ms"], "cannot be used with '--from"),
        (["--worst", "3", "--by", "class"], "cannot be used with '--by"),
        (["--scheme", "dctcp", "--at", "workload.load=0.4", "--port", "leaf0->host1", "--from", "100s"], "before --from"),
        (["--scheme", "dctcp", "--at", "workload.load=0.4", "--port", "leaf0->host1", "--from", "2ms", "--to", "1ms"], "--to"),
    ],
)
def test_what_cannot_be_told_is_refused_with_what_would_be_right(
    folder: Folder, tmp_path: Path, arguments: list[str], says: str
) -> None:
    done = run("explain", str(folder.path), *arguments, "--html", "why.html", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert says in done.stderr, done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--flow", "3", "--from", "1ms"], "cannot be used with"),
        (["--port", "leaf0->host1", "--view", "sender"], "cannot be used with"),
        (["--port", "leaf0->host1", "--from", "100s"], "before --from"),
    ],
)
def test_a_trace_of_nothing_is_refused(folder: Folder, tmp_path: Path, arguments: list[str], says: str) -> None:
    chosen = ["--scheme", "dctcp", "--at", "workload.load=0.4"]
    done = run("trace", str(folder.path), *chosen, *arguments, "--pcapng", "x.pcapng", cwd=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr, done.stderr
    assert not list(tmp_path.iterdir())


def test_sets_of_classes_are_classes_too(folder: Folder, tmp_path: Path) -> None:
    asked = ["explain", str(folder.path), "--worst", "5", "--class", "short+incast", "--format", "json"]
    told = [json.loads(line) for line in succeeded(run(*asked, cwd=tmp_path)).stdout.splitlines()]
    slow = sorted(
        ((row["fct_ns"], key, row["flow"]) for key in folder.points() for row in flows(folder, key)
         if row["class"] in ("short", "incast") and row["measured"] and row["fct_ns"] is not None),
        reverse=True,
    )[:5]
    assert sorted((flow["fct_ns"], point["point"], flow["flow"]) for point in told for flow in point["flows"]) == sorted(slow)


def test_what_waited_at_a_port_before_is_told_of_too(folder: Folder, tmp_path: Path) -> None:
    chosen, _ = lossy_flow(folder, "dctcp")
    ask = ["explain", str(folder.path), *chosen, "--port", "spine0->leaf0", "--format", "json"]
    whole = json.loads(succeeded(run(*ask, cwd=tmp_path)).stdout)["port"]
    assert whole["most_bytes"] > 12_000
    # In the ns after the port was fullest nothing comes, and all that had come is there.
    at = round(whole["most_at_ns"]) + 1
    after = json.loads(succeeded(run(*ask, "--from", f"{at}ns", "--to", f"{at + 1}ns", cwd=tmp_path)).stdout)["port"]
    assert after["packets"] == 0
    assert whole["most_bytes"] - 1500 <= after["most_bytes"] <= whole["most_bytes"]
    assert sum(share["share"] for share in after["fillers"]) == pytest.approx(1.0)


def test_a_query_waits_for_the_answer_that_never_came(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(LOSSY, encoding="utf-8")
    cut = ["--set", "run.drain=50us", "--set", "workload.load=0.8", "--out", "cut"]
    succeeded(run("run", "small.toml", "--quiet", *cut, cwd=tmp_path))
    cut = Folder(tmp_path / "cut")
    key = next(key for key, point in cut.points().items() if point["scheme"] == "dctcp")
    never = [row for row in flows(cut, key) if row["query"] is not None and row["end_ns"] is None]
    assert never
    ask = ["explain", "cut", "--scheme", "dctcp", "--query", str(never[0]["query"])]
    told = json.loads(succeeded(run(*ask, "--format", "json", cwd=tmp_path)).stdout)["flows"][0]
    assert (told["flow"], told["fct_ns"], told["parts"]) == (never[0]["flow"], None, [])
    text = succeeded(run(*ask, "--html", "why.html", cwd=tmp_path)).stdout
    assert "not finished when the run ended" in text
    assert "1 timeouts" not in text


def tshark(file: Path, *arguments: str) -> list[str]:
    program = shutil.which("tshark")
    if program is None:
        pytest.skip("there is no tshark: install one (Debian: apt install tshark)")
    done = subprocess.run([program, "-r", str(file), *arguments], capture_output=True, text=True, check=True, timeout=120)
    return done.stdout.splitlines()


def test_tshark_counts_what_we_count(folder: Folder, tmp_path: Path) -> None:
    chosen, flow = lossy_flow(folder, "dctcp")
    for view in ("sender", "receiver", "all"):
        arguments = ["trace", str(folder.path), *chosen, "--flow", str(flow["flow"]), "--view", view, "--pcapng", f"{view}.pcapng"]
        succeeded(run(*arguments, cwd=tmp_path))
    sender, receiver, everywhere = (tmp_path / f"{view}.pcapng" for view in ("sender", "receiver", "all"))
    fields = ["-T", "fields", "-e", "tcp.seq_raw", "-e", "tcp.len"]
    data = [line.split("\t") for line in tshark(sender, "-Y", "tcp.len > 0", *fields)]
    assert len(data) == flow["packets"]
    assert len({line[0] for line in data}) == flow["packets"] - flow["retransmissions"]
    # Each of them is found to be sent again, under one of the names that tshark has for that.
    again = "tcp.analysis.retransmission or tcp.analysis.fast_retransmission or tcp.analysis.out_of_order"
    assert len(tshark(sender, "-Y", again)) == flow["retransmissions"]
    marked = tshark(receiver, "-Y", "tcp.len > 0 and ip.dsfield.ecn == 3")
    assert len(marked) == flow["ce_marks"]
    assert len(tshark(everywhere, "-Y", 'frame.comment contains "dropped: port_full" and tcp.len > 0')) == flow["drops"]
    # Duplicate ACKs with SACK blocks say what is missing.
    assert tshark(sender, "-Y", "tcp.analysis.duplicate_ack and tcp.options.sack_le")
    # Nothing that was written is malformed, and every checksum that can be checked is right.
    assert tshark(everywhere, "-o", "ip.check_checksum:TRUE", "-Y", "_ws.malformed or ip.checksum.status == 0") == []
    names = set(tshark(everywhere, "-T", "fields", "-e", "frame.interface_name"))
    assert f"host{flow['src']}->leaf{flow['src'] // 4}" in names
    assert len(names) >= 4


def test_two_points_part_at_a_packet(folder: Folder, tmp_path: Path) -> None:
    at = ["--seed", "1", "--at", "workload.load=0.8"]
    own = [str(folder.path), str(folder.path), *at, "--format", "json", "--scheme", "dctcp"]
    same = json.loads(succeeded(run("diff", *own, cwd=tmp_path)).stdout)["differences"]
    assert same["first"] is None
    assert same["changed"] == same["other_flows"] == 0
    other = json.loads(succeeded(run("diff", *own, "--scheme-b", "slytherin", cwd=tmp_path)).stdout)["differences"]
    assert other["other_flows"] == 0
    assert other["changed"] > 0
    keys = {p["scheme"]: k for k, p in folder.points().items() if p["values"][0] == "0.8"}
    a, b = ({row["flow"]: row["fct_ns"] for row in flows(folder, keys[scheme])} for scheme in ("dctcp", "slytherin"))
    most = max(a, key=lambda flow: abs(a[flow] - b[flow]))
    assert (other["most"][0]["fct_ns"], other["most"][0]["other_fct_ns"]) == (a[most], b[most])
    # What comes to a port before they part is the same in both, and what is said to differ is not.
    assert 0 < other["first"]["at_ns"] < max(row["end_ns"] for row in flows(folder, keys["dctcp"]) if row["end_ns"])
    text = succeeded(run("diff", *own[:-4], "--scheme", "dctcp", "--scheme-b", "slytherin", cwd=tmp_path)).stdout
    assert "they part at" in text
    # Another value of what is swept: other flows.
    lighter = json.loads(succeeded(run("diff", *own, "--at-b", "workload.load=0.4", cwd=tmp_path)).stdout)
    assert "workload.load = 0.4" in lighter["b"]
    assert "workload.load = 0.8" in lighter["a"]


@pytest.mark.parametrize("command", [["explain", "--worst", "1", "--html"], ["trace", "--flow", "1", "--pcapng"]])
def test_a_file_without_a_folder_is_refused_before_anything_is_simulated(folder: Folder, tmp_path: Path, command: list[str]) -> None:
    subcommand, *rest = command
    for file, reason in [("nowhere/file", "there is no folder nowhere"), (".", "it is a folder")]:
        done = run(subcommand, str(folder.path), *rest, file, cwd=tmp_path)
        assert done.returncode == 2
        assert reason in done.stderr
        assert not list(tmp_path.iterdir())


def test_two_versions_differ_by_their_flows(folder: Folder, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(folder.path, other)
    (key,) = (k for k, p in folder.points().items() if p["scheme"] == "dctcp" and p["values"][0] == "0.8")
    file = other / "points" / key / "summary.json"
    summary = json.loads(file.read_text())
    # Another version, to which the same scenario came to something else.
    summary["engine"] |= {"version": "0.0.1", "digest": "0" * 16}
    write_sealed(file, summary)
    at = ["--scheme", "dctcp", "--seed", "1", "--at", "workload.load=0.8"]
    own = [str(folder.path), str(other), *at]
    found = json.loads(succeeded(run("diff", *own, "--format", "json", cwd=tmp_path)).stdout)["differences"]
    assert found["same_flows"] == len(flows(folder, key))
    assert found["first"] is None
    assert "another digest" in found["unknown"]
    text = succeeded(run("diff", *own, cwd=tmp_path)).stdout
    assert "cannot be said" in text
    # Of the same version that is a mistake.
    summary["engine"]["version"] = folder.points()[key]["engine"]["version"]
    write_sealed(file, summary)
    assert run("diff", *own, cwd=tmp_path).returncode == 2
