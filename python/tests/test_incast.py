"""The shipped incast: what was sent, dropped, sent again and received adds up, whatever the scheme."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import pyarrow.parquet as parquet
import pytest

from command import Folder, run, succeeded

SCENARIO = Path(__file__).parents[2] / "scenarios" / "incast.toml"
DEGREE, QUERIES, HOSTS, MSS = 400, 30, 420, 1460
SCHEMES = ("dctcp", "tcp", "pias", "pfabric", "ictcp", "ia-icon", "icon", "icon-cn", "homa", "homa-incast")


@pytest.fixture(scope="module")
def incast(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    where = tmp_path_factory.mktemp("incast")
    succeeded(run("run", str(SCENARIO), "--out", "run", cwd=where, timeout=300))
    return Folder(where / "run")


@pytest.fixture(scope="module")
def points(incast: Folder) -> dict[str, dict]:
    """What the files of each scheme's point say."""
    found = {}
    for key, summary in incast.points().items():
        names = ("flows", "queries", "ports", "throughput")
        folder = incast.path / "points" / key
        found[summary["scheme"]] = {name: parquet.read_table(folder / f"{name}.parquet").to_pylist() for name in names}
        found[summary["scheme"]]["summary"] = summary
    return found


def dropped(port: dict) -> int:
    return sum(count for name, count in port.items() if name.startswith("drops_"))


def test_every_scheme_answers_the_same_queries(points: dict) -> None:
    assert set(points) >= set(SCHEMES)
    what = ("query", "src", "dst", "size_bytes", "start_ns", "query_start_ns")
    offered = {tuple(sorted(tuple(row[name] for name in what) for row in point["flows"])) for point in points.values()}
    assert len(offered) == 1 and len(offered.pop()) == QUERIES * DEGREE


def test_every_answer_is_received(points: dict) -> None:
    for scheme, point in points.items():
        assert point["summary"]["flows"] == {"total": QUERIES * DEGREE, "finished": QUERIES * DEGREE, "censored": 0}, scheme
        assert all(row["end_ns"] is not None and row["ack_ns"] is not None for row in point["flows"]), scheme
        assert len(point["queries"]) == QUERIES and all(row["answers_received"] == DEGREE for row in point["queries"]), scheme
        for row in point["flows"]:
            assert 1_000 <= row["size_bytes"] <= 32_000
            # An answer to a marked request begins with a short packet, and may have one more.
            more = row["packets"] - row["retransmissions"] - math.ceil(row["size_bytes"] / MSS)
            assert more == 0 or (more == 1 and scheme == "homa-incast"), (scheme, row)
            assert row["packets"] - row["drops"] >= math.ceil(row["size_bytes"] / MSS), (scheme, row)


def test_what_is_sent_is_delivered_or_dropped(points: dict) -> None:
    """By the counts of ports alone, packets of all kinds; and data by the counts of flows and of what arrived over time."""
    for scheme, point in points.items():
        ports = point["ports"]
        hosts = {port["owner"] for port in ports if port["tier"] == "host"}
        assert len(hosts) == HOSTS
        sent = sum(port["packets"] for port in ports if port["tier"] == "host")
        delivered = sum(port["packets"] for port in ports if port["peer"] in hosts)
        lost = sum(dropped(port) for port in ports if port["tier"] != "host")
        assert sent == delivered + lost, scheme
        flows = point["flows"]
        arrived = sum(row["packets"] - row["drops"] for row in flows)
        # What is dropped after its flow has ended is in no row: a needless copy.
        late = sum(point["summary"]["drops"].values()) - sum(row["drops"] for row in flows)
        assert 0 <= late <= 20, scheme
        once = sum(row["size_bytes"] for row in flows)
        again = arrived - sum(math.ceil(row["size_bytes"] / MSS) for row in flows)
        payload = sum(row["bytes"] for row in point["throughput"])
        assert once <= payload <= once + again * MSS, scheme
        # All data goes over one link; what else goes there are answers to what the aggregator never sent: control
        # alone.
        (aggregator,) = {row["dst"] for row in flows}
        senders = sorted((port for port in ports if port["tier"] == "host"), key=lambda port: port["port"])
        (last,) = (port for port in ports if port["peer"] == senders[aggregator]["owner"])
        assert last["packets"] >= arrived - late and last["bytes"] >= payload, scheme


def test_queries_are_the_sum_of_their_answers(points: dict) -> None:
    for scheme, point in points.items():
        names = ("size_bytes", "drops", "retransmissions", "timeouts")
        sums = {name: Counter() for name in names}
        last, worst = Counter(), Counter()
        for row in point["flows"]:
            for name in names:
                sums[name][row["query"]] += row[name]
            last[row["query"]] = max(last[row["query"]], row["end_ns"])
            worst[row["query"]] = max(worst[row["query"]], row["max_packet_drops"])
        for row in point["queries"]:
            query = row["query"]
            assert all(row[name] == sums[name][query] for name in names), (scheme, row)
            assert (row["end_ns"], row["max_packet_drops"]) == (last[query], worst[query]), (scheme, row)
            # The answers cannot come faster than the link of the host that asked.
            assert row["qct_ns"] >= row["size_bytes"] * 8 / 10, (scheme, row)
            assert row["met"] == (row["qct_ns"] <= 20e6) and row["deadline_ns"] == 20e6


def test_the_summary_tells_of_queries(incast: Folder, points: dict) -> None:
    rows = {(row["scheme"], row["class"], row["metric"]): row for row in incast.rows()}
    for scheme, point in points.items():
        measured = [row for row in point["queries"] if row["measured"]]
        assert len(measured) == 27, "three are a tenth"
        assert float(rows[scheme, "incast", "queries"]["value"]) == 27
        mean = sum(row["qct_ns"] for row in measured) / 27e3
        assert float(rows[scheme, "incast", "qct_mean"]["value"]) == pytest.approx(mean, rel=1e-9)
        met = sum(row["met"] for row in measured) / 27
        assert float(rows[scheme, "incast", "query_deadline_met"]["value"]) == pytest.approx(met, rel=1e-9)
        for metric in ("drops", "retransmissions", "timeouts"):
            total = sum(row[metric] for row in measured)
            assert float(rows[scheme, "incast", metric]["value"]) == total, (scheme, metric)
    assert any(row["drops"] > 0 for point in points.values() for row in point["queries"]), "or this would say little"
    table = (incast.path / "tables" / "incast.txt").read_text(encoding="utf-8")
    assert "QCT p99" in table
