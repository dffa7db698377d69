"""Defaults that follow the network, and warnings of values that do not fit it, as a user meets them."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from command import run, succeeded

#: Web search between 32 hosts at 100 Gb/s, 40 us around.
FAST = """\
schemes = ["dctcp", "homa"]
seeds = 1

[topology.leaf-spine]
leaves = 4
hosts_per_leaf = 8
spines = 4
host_link = { rate = "100Gbps", delay = "5us" }
core_link = { rate = "100Gbps", delay = "5us" }

[workload]
load = 0.4
load_of = "host-links"
flows = 300
warmup = 0.0

[workload.traffic.websearch]
share = 1.0
sizes.distribution = "websearch"
"""

RTT_BYTES = "host.transport.homa.rtt_bytes"
K = "port.marker.step.threshold"


def warnings(where: Path, **values: str) -> list[str]:
    """What `tailcut check` warns of, with these values."""
    (where / "fast.toml").write_text(FAST, encoding="utf-8")
    sets = [word for path, value in values.items() for word in ("--set", f"{path}={value}")]
    said = succeeded(run("check", "fast.toml", *sets, cwd=where))
    return [line for line in said.stdout.splitlines() + said.stderr.splitlines() if line.startswith("warning: ")]


def test_defaults_fit_a_fast_network(tmp_path: Path) -> None:
    doubtful = ("rtt_bytes", "port.limit", "C x RTT / 7", "the buffer of a port")
    assert not [line for line in warnings(tmp_path) if any(words in line for words in doubtful)]


def test_one_check_says_all_that_does_not_fit(tmp_path: Path) -> None:
    values = {RTT_BYTES: "10KB", "port.limit": "240KB", K: "20pkt"}
    said = "\n".join(warnings(tmp_path, **values))
    assert '"1 BDP" fits' in said and '`port.limit = "8 BDP"` fits' in said, said
    assert "the marking threshold, 30 KB, is not above C x RTT / 7, which is 72.3 KB at 100Gbps" in said, said
    # The proposed value is taken without a further warning.
    values = {RTT_BYTES: '"1 BDP"', "port.limit": '"8 BDP"', K: '"0.17 BDP"'}
    said = "\n".join(warnings(tmp_path, **values))
    assert "BDP" not in said and "C x RTT" not in said, said


@pytest.mark.parametrize("value", ["1 BPD", "0 BDP", "max(1KB)", "-1 BDP"])
def test_what_is_no_multiple_is_refused_at_its_place(tmp_path: Path, value: str) -> None:
    (tmp_path / "fast.toml").write_text(FAST, encoding="utf-8")
    refused = run("check", "fast.toml", "--set", f'port.limit="{value}"', cwd=tmp_path)
    assert refused.returncode == 2 and "--set:1:" in refused.stderr, refused.stderr
    assert refused.stderr.count("error:") == 1 and '"1 BDP"' in refused.stderr, refused.stderr


def test_homa_is_ahead_of_dctcp_at_100_gbps(tmp_path: Path) -> None:
    (tmp_path / "fast.toml").write_text(FAST, encoding="utf-8")
    succeeded(run("run", "fast.toml", "--out", "run", cwd=tmp_path))
    with (tmp_path / "run" / "summary.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["class"] == "websearch" and row["metric"] == "slowdown_mean"]
    mean = {row["scheme"]: float(row["value"]) for row in rows}
    assert mean["homa"] < mean["dctcp"] / 1.5, mean
