"""Ideal times, slowdowns and deadlines where the paths between two hosts differ."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow.parquet as parquet
import pytest

from command import Folder, run, succeeded

CASE = Path(__file__).parent / "cases" / "f01-ideal-irregular"

#: Ten packets of 1500 B over four links of 10 Gb/s with 1 us each: 10 x 1.2 + 3 x 1.2 + 4 us.
QUICK_SPINE_NS = 19_600


@pytest.fixture
def case(tmp_path: Path) -> Path:
    return Path(shutil.copytree(CASE, tmp_path / "case"))


def flows(folder: Path, scenario: str, *arguments: str) -> dict[str, list[dict]]:
    """The rows of all flows by scheme."""
    succeeded(run("run", scenario, "--out", "out", *arguments, cwd=folder))
    done = Folder(folder / "out")
    rows: dict[str, list[dict]] = {}
    for key, point in done.points().items():
        table = parquet.read_table(done.path / "points" / key / "flows.parquet")
        rows.setdefault(point["scheme"], []).extend(table.to_pylist())
    return rows


def test_the_ideal_is_that_of_the_quickest_spine(case: Path) -> None:
    (rows,) = flows(case, "c01d.toml").values()
    assert len(rows) == 40
    assert {row["ideal_ns"] for row in rows} == {QUICK_SPINE_NS}
    assert all(row["fct_ns"] >= row["ideal_ns"] for row in rows)


@pytest.mark.parametrize("link", ["leaf0--spine0", "leaf0--spine1", "leaf1--spine0", "leaf1--spine1"])
@pytest.mark.parametrize(("src", "dst"), [(2, 0), (0, 2), (3, 1), (1, 3)])
def test_mirror_images_have_equal_ideals(case: Path, link: str, src: int, dst: int) -> None:
    text = (case / "c01d.toml").read_text(encoding="utf-8").replace("leaf0--spine0", link)
    (case / "mirror.toml").write_text(text, encoding="utf-8")
    listed = (case / "c01d.csv").read_text(encoding="utf-8").replace(",2,0,", f",{src},{dst},")
    (case / "c01d.csv").write_text(listed, encoding="utf-8")
    (rows,) = flows(case, "mirror.toml").values()
    assert {row["ideal_ns"] for row in rows} == {QUICK_SPINE_NS}


@pytest.mark.parametrize("path", ["flow-ecmp", "flow-round-robin", "spray", "round-robin"])
def test_no_flow_of_a_mixed_network_is_faster_than_its_ideal(case: Path, path: str) -> None:
    schemes = ["dctcp", "tcp", "homa"] if path != "flow-ecmp" else ["dctcp", "tcp", "homa", "pdq", "swift"]
    text = (case / "c01.toml").read_text(encoding="utf-8").replace('["dctcp","tcp","homa","pdq","swift"]', str(schemes))
    choice = "" if path == "flow-ecmp" else f'path = "{path}"\n'
    (case / "mixed-schemes.toml").write_text(choice + text, encoding="utf-8")
    by_scheme = flows(case, "mixed-schemes.toml")
    assert set(by_scheme) == set(schemes)
    for scheme, rows in by_scheme.items():
        # Packets of one flow that take both paths have the links of both.
        for row in rows if path.startswith("flow") else []:
            assert row["fct_ns"] is None or row["fct_ns"] >= row["ideal_ns"], (scheme, row)
        # 1461 B from host 1 to host 2, two packets over the switch s.
        ideals = {row["ideal_ns"] for row in rows if (row["src"], row["dst"], row["size_bytes"]) == (1, 2, 1461)}
        assert ideals <= {14_013.12}, scheme


def test_links_alone_take_the_paths_of_the_flows_and_claim_no_error(case: Path) -> None:
    (packets,) = flows(case, "c01d.toml", "--set", "host.transport.tcp.initial_window=100").values()
    done = succeeded(
        run("run", "c01d.toml", "--out", "links", "--fidelity", "links", "--set", "host.transport.tcp.initial_window=100", cwd=case)
    )
    assert "was not measured" in done.stdout + done.stderr
    assert "[link]" in done.stdout + done.stderr
    folder = Folder(case / "links")
    (key,) = folder.points()
    links = parquet.read_table(folder.path / "points" / key / "flows.parquet").to_pylist()
    for packet, link in zip(packets, links, strict=True):
        assert link["ideal_ns"] == packet["ideal_ns"]
        assert link["fct_ns"] == pytest.approx(packet["fct_ns"], rel=0.05)
