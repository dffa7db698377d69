"""The files of a run: readable by others, documented, consistent, and summed up right."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path

import pyarrow.compute as compute
import pyarrow.parquet as parquet
import pytest

from command import DEGREE, HOSTS, SMALL, Folder, run, succeeded
from statistics_oracle import Statistic, counted, mean as mean_of, nearest_rank, quantile, ratio, sectioned

MSS, HEADER = 1460, 40
TABLES = ("flows", "queries", "ports", "queues", "throughput")


def table(folder: Folder, key: str, name: str) -> list[dict]:
    return parquet.read_table(folder.path / "points" / key / f"{name}.parquet").to_pylist()


def ps(ns: float | None) -> int | None:
    """Whole picoseconds from nanoseconds with thousandths."""
    return None if ns is None else round(ns * 1000)


@pytest.fixture(scope="module")
def flows(small: Folder) -> dict[str, list[dict]]:
    """The flows of every point, in the order of their numbers."""
    return {key: sorted(table(small, key, "flows"), key=lambda row: row["flow"]) for key in small.points()}


@pytest.fixture(scope="module")
def queries(small: Folder) -> dict[str, list[dict]]:
    """The queries of every point, in the order of their numbers."""
    return {key: sorted(table(small, key, "queries"), key=lambda row: row["query"]) for key in small.points()}


@pytest.fixture(scope="module")
def ports(small: Folder) -> dict[str, list[dict]]:
    return {key: table(small, key, "ports") for key in small.points()}


def test_throughput_adds_up_to_the_packets_that_arrived(small: Folder, flows: dict) -> None:
    for key in small.points():
        file = parquet.ParquetFile(small.path / "points" / key / "throughput.parquet")
        width = ps(float(file.metadata.metadata[b"tailcut.bin_ns"]))
        assert width == 20_000_000
        rows = file.read().to_pylist()
        places = [(ps(row["time_ns"]), row["class"]) for row in rows]
        assert len(set(places)) == len(places) and all(time % width == 0 for time, _ in places)
        assert [time for time, _ in places] == sorted(time for time, _ in places)
        for name in ("short", "long", "incast"):
            arrived = sum(row["bytes"] for row in rows if row["class"] == name)
            members = [row for row in flows[key] if row["class"] == name]
            once = sum(row["size_bytes"] for row in members)
            # What was sent again counts again, if it arrives.
            again = sum(row["packets"] - row["drops"] for row in members) - sum(-(-row["size_bytes"] // MSS) for row in members)
            assert once <= arrived <= once + again * MSS, (key, name)


def test_every_point_of_the_scenario_is_there(small: Folder) -> None:
    expected = {(scheme, load, seed) for scheme in ("dctcp", "slytherin") for load in ("0.4", "0.8") for seed in (1, 2)}
    assert set(small.digests()) == expected
    assert {point["key"] for point in small.info()["points"]} == set(small.points())


@pytest.mark.parametrize("name", TABLES)
def test_every_column_says_its_unit_and_meaning(small: Folder, name: str) -> None:
    for key in small.points():
        file = parquet.ParquetFile(small.path / "points" / key / f"{name}.parquet")
        metadata = {k.decode(): v.decode() for k, v in (file.schema_arrow.metadata or file.metadata.metadata).items()}
        assert metadata["tailcut.table"] == name
        assert int(metadata["tailcut.schema"]) >= 1
        assert metadata["tailcut.version"]
        columns = json.loads(metadata["tailcut.columns"])
        assert [column["name"] for column in columns] == file.schema_arrow.names
        for column in columns:
            field = file.schema_arrow.field(column["name"])
            assert column["meaning"].endswith("."), column
            # Names, numbers of things, ratios and truths have no unit, and say so by an empty one.
            ending = "_" + column["name"].rpartition("_")[2]
            assert column["unit"] == {"_ns": "ns", "_bytes": "B", "_bps": "bit/s"}.get(ending, column["unit"]), column
            assert field.nullable == column["nullable"], column
            kind = str(field.type)
            wanted = {"integer": "int64", "double": "double", "boolean": "bool"}.get(column["type"])
            assert wanted is None or kind == wanted, column


def test_rows_are_as_many_as_the_summary_says(small: Folder, flows: dict, ports: dict) -> None:
    links = 2 * HOSTS + 2 * 4 * 2
    for key, summary in small.points().items():
        counts = summary["flows"]
        assert len(flows[key]) == counts["total"] >= 600
        assert sum(row["fct_ns"] is not None for row in flows[key]) == counts["finished"]
        assert counts["total"] == counts["finished"] + counts["censored"]
        assert [row["flow"] for row in flows[key]] == list(range(counts["total"]))
        assert len(ports[key]) == links
        assert [row["port"] for row in ports[key]] == list(range(links))


def test_times_of_a_flow_agree_with_each_other(flows: dict) -> None:
    for key, rows in flows.items():
        assert all(a["start_ns"] <= b["start_ns"] for a, b in zip(rows, rows[1:])), key
        for row in rows:
            assert row["src"] != row["dst"] and max(row["src"], row["dst"]) < HOSTS and row["size_bytes"] > 0
            if row["fct_ns"] is None:
                assert row["end_ns"] is None and row["slowdown"] is None and row["ack_ns"] is None
                continue
            assert ps(row["fct_ns"]) == ps(row["end_ns"]) - ps(row["start_ns"]), row
            assert row["fct_ns"] >= row["ideal_ns"] > 0, row
            assert row["slowdown"] == pytest.approx(row["fct_ns"] / row["ideal_ns"], rel=1e-15)
            assert row["ack_ns"] is None or row["ack_ns"] > row["end_ns"]


def test_the_ideal_time_is_that_of_an_empty_network(flows: dict) -> None:
    """Links of 10 Gb/s and 1 us: the first packet over each of them, and the rest at the rate of one."""
    for rows in flows.values():
        for row in rows:
            links = 2 if row["src"] // 4 == row["dst"] // 4 else 4
            packets = math.ceil(row["size_bytes"] / MSS)
            wire = row["size_bytes"] + HEADER * packets
            first = min(row["size_bytes"], MSS) + HEADER
            last_hops = wire + (links - 1) * first
            assert ps(row["ideal_ns"]) == links * 1_000_000 + last_hops * 800, row


def test_packets_of_a_flow_add_up(flows: dict) -> None:
    for rows in flows.values():
        for row in rows:
            needed = math.ceil(row["size_bytes"] / MSS)
            if row["ack_ns"] is not None:
                assert row["packets"] - row["retransmissions"] == needed, row
                # What arrived is enough, and what was dropped was sent.
                assert row["packets"] - row["drops"] >= needed, row
            assert row["max_packet_drops"] <= row["drops"] <= row["packets"], row
            assert (row["max_packet_drops"] == 0) == (row["drops"] == 0), row
            assert row["retransmissions"] > 0 or row["drops"] == 0 or row["ack_ns"] is None, row
            assert row["multi_marked"] <= row["packets"] and row["ce_marks"] <= row["packets"], row
            assert row["reordered"] <= row["packets"] and row["timeouts"] <= row["packets"], row


def test_something_was_dropped_marked_and_sent_again(flows: dict) -> None:
    """Or the tests around this one would say nothing."""
    for count in ("drops", "retransmissions", "ce_marks", "reordered", "timeouts"):
        assert sum(row[count] for rows in flows.values() for row in rows) > 0, count


def test_ports_agree_with_flows(small: Folder, flows: dict, ports: dict) -> None:
    for key, summary in small.points().items():
        reasons = {name.removeprefix("drops_"): sum(row[name] for row in ports[key]) for name in ports[key][0] if name.startswith("drops_")}
        assert reasons == summary["drops"]
        # Control packets are dropped too, but they are no flow's.
        assert sum(row["drops"] for row in flows[key]) <= sum(reasons.values())
        assert sum(row["ce_marks"] for row in flows[key]) <= sum(row["marks"] for row in ports[key])
        assert sum(row["packets"] for row in ports[key]) == summary["engine"]["packet_hops"]
        senders = [row for row in ports[key] if row["tier"] == "host"]
        assert len(senders) == HOSTS
        assert sum(row["packets"] for row in senders) >= sum(row["packets"] for row in flows[key])
        received = Counter()
        for row in flows[key]:
            if row["end_ns"] is not None:
                received[row["dst"]] += row["size_bytes"] + HEADER * math.ceil(row["size_bytes"] / MSS)
        into_hosts = {row["peer"]: row["bytes"] for row in ports[key] if row["peer"] in {s["owner"] for s in senders}}
        assert len(into_hosts) == HOSTS
        by_number = {sender["owner"]: number for number, sender in enumerate(sorted(senders, key=lambda row: row["port"]))}
        for owner, sent in into_hosts.items():
            assert sent >= received[by_number[owner]], owner
        for row in ports[key]:
            assert 0.0 <= row["utilisation"] <= 1.0
            assert row["rate_bps"] == 10**10
            assert HEADER * row["packets"] <= row["bytes"] <= 1500 * row["packets"]
            if row["tier"] != "host":
                assert 0 <= row["queue_p50_bytes"] <= row["queue_p99_bytes"] <= row["queue_max_bytes"] <= 120_000
                assert 0 <= row["queue_mean_bytes"] <= row["queue_max_bytes"]


def test_schemes_are_offered_the_same_flows(small: Folder, flows: dict) -> None:
    offered = defaultdict(set)
    for key, summary in small.points().items():
        what = ("flow", "query", "src", "dst", "class", "size_bytes", "start_ns", "measured", "query_start_ns", "ideal_ns")
        offered[(*summary["values"], summary["seed"])].add(tuple(tuple(row[name] for name in what) for row in flows[key]))
    assert len(offered) == 4
    assert all(len(lists) == 1 for lists in offered.values()), "the lists of two schemes differ"
    assert len({next(iter(lists)) for lists in offered.values()}) == 4, "loads and seeds make lists of their own"


def test_a_query_is_answered_by_distinct_hosts_at_once(flows: dict) -> None:
    for rows in flows.values():
        queries = defaultdict(list)
        for row in rows:
            assert (row["query"] is not None) == (row["class"] == "incast") == (row["query_start_ns"] is not None)
            if row["query"] is not None:
                queries[row["query"]].append(row)
        assert len(queries) > 10
        for answers in queries.values():
            assert len(answers) == DEGREE == len({row["src"] for row in answers})
            assert len({row["dst"] for row in answers}) == 1
            assert len({row["start_ns"] for row in answers} | {row["query_start_ns"] for row in answers}) == 1
        assert len({row["dst"] for row in rows if row["query"] is not None}) <= 4, "four hosts ask"


def test_queries_are_flows_grouped(small: Folder, queries: dict) -> None:
    """Every column of queries.parquet but the deadline, by pyarrow from flows.parquet."""
    for key, rows in queries.items():
        flows = parquet.read_table(small.path / "points" / key / "flows.parquet")
        flows = flows.filter(compute.is_valid(flows["query"]))
        sums = ("size_bytes", "drops", "retransmissions", "timeouts")
        wanted = [("end_ns", "max"), ("end_ns", "count"), ("flow", "count"), ("max_packet_drops", "max"), ("measured", "all")]
        wanted += [(name, "sum") for name in sums] + [(name, f) for name in ("dst", "query_start_ns") for f in ("min", "max")]
        grouped = flows.group_by(["query", "class"]).aggregate(wanted).sort_by("query").to_pylist()
        assert [row["query"] for row in rows] == list(range(len(rows))) and len(rows) == len(grouped) > 10
        for row, group in zip(rows, grouped):
            assert (row["query"], row["class"]) == (group["query"], group["class"])
            assert row["aggregator"] == group["dst_min"] == group["dst_max"]
            assert row["query_start_ns"] == group["query_start_ns_min"] == group["query_start_ns_max"]
            assert row["degree"] == group["flow_count"] == DEGREE and row["answers_received"] == group["end_ns_count"]
            complete = row["answers_received"] == DEGREE
            assert row["end_ns"] == (group["end_ns_max"] if complete else None)
            assert all(row[name] == group[f"{name}_sum"] for name in sums)
            assert row["max_packet_drops"] == group["max_packet_drops_max"]
            assert row["measured"] == group["measured_all"]
            assert ps(row["qct_ns"]) == (ps(row["end_ns"]) - ps(row["query_start_ns"]) if complete else None)
            assert row["deadline_ns"] >= 200_000 and row["met"] == (complete and ps(row["qct_ns"]) <= ps(row["deadline_ns"]))
    everything = [row for rows in queries.values() for row in rows]
    for name in ("met", "drops", "timeouts", "retransmissions"):
        assert len({bool(row[name]) for row in everything}) == 2, f"{name}: or this would say little"


def test_schemes_are_asked_the_same_queries(small: Folder, queries: dict) -> None:
    asked = defaultdict(set)
    for key, summary in small.points().items():
        what = ("query", "aggregator", "degree", "query_start_ns", "size_bytes", "deadline_ns", "measured")
        asked[(*summary["values"], summary["seed"])].add(tuple(tuple(row[name] for name in what) for row in queries[key]))
    assert len(asked) == 4 and all(len(lists) == 1 for lists in asked.values())


def test_the_first_tenth_of_the_flows_warms_up(flows: dict) -> None:
    for rows in flows.values():
        measured = [row["measured"] for row in rows]
        first = measured.index(True)
        # An incast that has begun is completed, and counts as a whole.
        assert 60 <= first < 60 + DEGREE and all(measured[first:]), first


def test_realised_loads_are_those_of_the_flows(small: Folder, flows: dict) -> None:
    for key, summary in small.points().items():
        bits = 8 * sum(row["size_bytes"] for row in flows[key])
        seconds = flows[key][-1]["start_ns"] / 1e9
        leaving = 8 * sum(row["size_bytes"] for row in flows[key] if row["src"] // 4 != row["dst"] // 4)
        loads = summary["loads"]
        uplinks = 4 * 2 * 10e9
        assert loads["fabric"]["offered"] == pytest.approx(float(summary["values"][0]), rel=1e-12)
        assert loads["fabric"]["realised"] == pytest.approx(bits / seconds / uplinks, rel=1e-9)
        assert loads["core"]["realised"] == pytest.approx(leaving / seconds / uplinks, rel=1e-9)
        assert loads["edge"]["realised"] == pytest.approx(bits / seconds / (HOSTS * 10e9), rel=1e-9)


# ---- summary.csv against the definitions ---------------------------------------------------------------------------

SETS = {
    "short": {"short"},
    "long": {"long"},
    "incast": {"incast"},
    "short+incast": {"short", "incast"},
    "all": {"short", "long", "incast"},
}


def us(ns: float) -> Fraction:
    return Fraction(ps(ns), 10**6)


def of_flows(seeds: list[list[dict]]) -> dict[str, Statistic]:
    """The statistics of the measured flows of one class, one list for each seed."""
    done = [[row for row in rows if row["fct_ns"] is not None] for rows in seeds]
    acked = [[row for row in rows if row["ack_ns"] is not None] for rows in seeds]
    fcts = [[us(row["fct_ns"]) for row in rows] for rows in done]
    slow = [[row["slowdown"] for row in rows] for rows in done]
    n, n_all = sum(map(len, done)), sum(map(len, seeds))
    rates = [[Fraction(8 * row["size_bytes"], 1000) / us(row["fct_ns"]) for row in rows] for rows in done]

    def mean(values: list[list], count: int) -> Statistic:
        return mean_of([(sum(map(Fraction, seed)), len(seed)) for seed in values], count)

    def per_run(name: str) -> Statistic:
        return ratio([(sum(row[name] for row in rows), 1) for rows in seeds], len(seeds))

    arrived = [sum(row["packets"] - row["drops"] for row in rows) for rows in seeds]
    sent = [sum(row["packets"] for row in rows) for rows in seeds]

    def per_packet(name: str) -> Statistic:
        return ratio([(sum(row[name] for row in rows), a) for rows, a in zip(seeds, arrived)], sum(arrived), most=1.0)

    found = {
        "fct_mean": mean(fcts, n),
        "ack_fct_mean": mean([[us(r["ack_ns"]) - us(r["start_ns"]) for r in rows] for rows in acked], sum(map(len, acked))),
        "ideal_mean": mean([[us(row["ideal_ns"]) for row in rows] for rows in done], n),
        "slowdown_mean": mean(slow, n),
        "goodput_mean": mean(rates, n),
        "goodput_jain": ratio([(sum(seed) ** 2 / (len(seed) * sum(x * x for x in seed)), 1) for seed in rates], len(rates), most=1.0),
        "goodput_aggregate": mean_of(
            [(sum(Fraction(8 * r["size_bytes"], 1000) for r in rows), sum(f)) for rows, f in zip(done, fcts)], n
        ),
        "slowdown_p50": quantile(slow, 500),
        "slowdown_p99": quantile(slow, 990),
        "flows": counted(n_all, len(seeds)),
        "censored": counted(n_all - n, len(seeds)),
        "max_packet_drops": counted(max(row["max_packet_drops"] for rows in seeds for row in rows), n_all),
        "reordered_share": per_packet("reordered"),
        "marked_share": per_packet("ce_marks"),
        "multi_marked_all_share": per_packet("multi_marked"),
    }
    for name, permille in (("fct_p50", 500), ("fct_p95", 950), ("fct_p99", 990), ("fct_p999", 999)):
        found[name] = quantile(fcts, permille)
    for name in ("drops", "retransmissions", "timeouts", "reordered", "ce_marks"):
        found[name] = per_run(name)
    lossy = [[row for row in rows if row["drops"] > 0] for rows in seeds]
    if any(lossy):
        dropped = [sum(row["drops"] for row in rows) for rows in seeds]
        found["lossy_flows_per_drop"] = ratio([(len(rows), n) for rows, n in zip(lossy, dropped)], sum(dropped), most=1.0)
    twice = [[us(row["fct_ns"]) for row in rows if row["max_packet_drops"] > 1] for rows in done]
    if any(twice):
        found["fct_mean_redropped"] = mean(twice, sum(map(len, twice)))
    for name, of in (("dropped_share", "drops"), ("retransmitted_share", "retransmissions")):
        found[name] = ratio([(sum(row[of] for row in rows), n) for rows, n in zip(seeds, sent)], sum(sent), most=1.0)
    p95 = nearest_rank([fct for seed in fcts for fct in seed], 950)
    slowest = [[row for row in rows if us(row["fct_ns"]) > p95] for rows in done]
    packets = [sum(row["packets"] - row["drops"] for row in rows) for rows in slowest]
    marks = [sum(row["multi_marked"] for row in rows) for rows in slowest]
    found["multi_marked_share"] = ratio(list(zip(marks, packets)), sum(packets), most=1.0)
    return found


def of_queries(seeds: list[list[dict]], warm: list[set[int]], queries: list[list[dict]]) -> dict[str, Statistic]:
    """Query completion times from the flows of a class; queries of which an answer fell into the warm-up are left out."""
    times, met = [], []
    for rows, partial, tables in zip(seeds, warm, queries):
        ends = defaultdict(list)
        for row in rows:
            if row["query"] is not None and row["query"] not in partial:
                ends[row["query"]].append(None if row["end_ns"] is None else us(row["end_ns"]) - us(row["query_start_ns"]))
        complete = {query: max(answers) for query, answers in ends.items() if None not in answers}
        times.append(list(complete.values()))
        within = {row["query"]: us(row["deadline_ns"]) for row in tables}
        met.append([query in complete and complete[query] <= within[query] for query in ends])
    n, n_all = sum(map(len, times)), sum(map(len, met))
    if n_all == 0:
        return {}
    found = {"qct_mean": mean_of([(sum(seed), len(seed)) for seed in times], n), "queries": counted(n_all, len(seeds))}
    for name, permille in (("qct_p50", 500), ("qct_p99", 990), ("qct_p999", 999)):
        found[name] = quantile(times, permille)
    found["query_deadline_met"] = mean_of([(sum(seed), len(seed)) for seed in met], n_all, most=1.0)
    return found


def length_at(counts: Counter, permille: int) -> int:
    """The nearest rank among lengths that were counted."""
    rank, seen = math.ceil(Fraction(permille * counts.total(), 1000)), 0
    for length in sorted(counts):
        seen += counts[length]
        if seen >= rank:
            return length
    raise AssertionError("there are samples")


def of_network(summaries: list[dict], ports: list[list[dict]], queues: list[list[dict]], asked_by: list[set[str]]) -> dict[str, Statistic]:
    found = {}
    for reason in summaries[0]["drops"]:
        found[f"drops_{reason}"] = ratio([(s["drops"][reason], 1) for s in summaries], len(summaries))
    demotions = [sum(row["demotions"] for row in rows) for rows in ports]
    drops = [sum(n for row in rows if row["tier"] != "host" for c, n in row.items() if c.startswith("drops_")) for rows in ports]
    nic = [sum(n for row in rows if row["tier"] == "host" for c, n in row.items() if c.startswith("drops_")) for rows in ports]
    found["drops_fabric"] = ratio([(n, 1) for n in drops], len(ports))
    found["drops_nic"] = ratio([(n, 1) for n in nic], len(ports))
    found["demotions"] = ratio([(n, 1) for n in demotions], len(ports))
    found["refused"] = ratio([(n + dropped, 1) for n, dropped in zip(demotions, drops)], len(ports))
    tiers = {row["owner"]: row["tier"] for row in ports[0]}
    lost = [lambda row: row["marks"], lambda row: sum(n for c, n in row.items() if c.startswith("drops_"))]
    for name, count in zip(("marks", "drops_at"), lost):
        ways = [Counter() for _ in ports]
        for counts, rows in zip(ways, ports):
            for row in rows:
                if row["tier"] != "host":
                    counts[f"{row['tier']}_to_{tiers.get(row['peer'], 'host')}"] += count(row)
        for way in ways[0]:
            found[f"{name}_{way}"] = ratio([(counts[way], 1) for counts in ways], len(ports))
    sent = [sum(row["packets"] for row in rows if row["tier"] == "host") for rows in ports]
    found["dropped_share_fabric"] = ratio(list(zip(drops, sent)), sum(sent), most=1.0)
    for tier in set(tiers.values()) - {"host"}:
        came = [[(lost[1](row), row["packets"] + lost[1](row)) for row in rows if row["tier"] == tier] for rows in ports]
        parts = [tuple(map(sum, zip(*seed))) for seed in came]
        found[f"dropped_share_{tier}"] = ratio(parts, sum(n for _, n in parts), most=1.0)
    for metric, to_asking in (("sink_utilisation", True), ("other_host_utilisation", False)):
        # Every link of the small scenario to a host has the same rate.
        busy = [
            [
                Fraction(row["utilisation"])
                for row in rows
                if row["tier"] != "host" and tiers.get(row["peer"], "host") == "host" and (row["peer"] in asking) == to_asking
            ]
            for rows, asking in zip(ports, asked_by)
        ]
        found[metric] = ratio([(sum(seed), len(seed)) for seed in busy], len(busy), most=1.0)
    lossy = [[(Fraction(row["utilisation"]), lost[1](row)) for row in rows if row["tier"] != "host"] for rows in ports]
    if sum(drops):
        parts = [(sum(busy * n for busy, n in seed), sum(n for _, n in seed)) for seed in lossy]
        found["lossy_port_utilisation"] = ratio(parts, sum(drops), most=1.0)
    sinks = [
        [row["queue_p99_bytes"] for row in rows if row["tier"] != "host" and row["peer"] in asking]
        for rows, asking in zip(ports, asked_by)
    ]
    if any(sinks):
        found["sink_queue_p99"] = ratio([(sum(seed), len(seed)) for seed in sinks], sum(map(len, sinks)))
    for unit in ("packets", "bytes"):
        lengths = [Counter() for _ in queues]
        for counts, rows in zip(lengths, queues):
            for row in rows:
                if row["tier"] != "host":
                    counts[row[f"queue_{unit}"]] += row["samples"]
        pooled = sum(lengths, Counter())
        n = pooled.total()
        ending = "" if unit == "packets" else "_bytes"
        found[f"queue_mean{ending}"] = ratio([(sum(k * v for k, v in c.items()), c.total()) for c in lengths], n)
        for name, permille in (("queue_p50", 500), ("queue_p99", 990)):
            value, *seeds = (length_at(counts, permille) for counts in (pooled, *lengths))
            found[f"{name}{ending}"] = sectioned(value, seeds, n)
        found[f"queue_max{ending}"] = counted(max(length for length, samples in pooled.items() if samples), n)
    busy = [Counter() for _ in queues]
    for counts, rows in zip(busy, queues):
        for row in rows:
            if row["tier"] == "leaf" and row["queue_packets"] > 0:
                counts[row["queue_packets"]] += row["samples"]
    pooled = sum(busy, Counter())
    value, *seeds = (length_at(counts, 990) for counts in (pooled, *busy))
    found["leaf_queue_p99_busy"] = sectioned(value, seeds, pooled.total())
    for place in summaries[0]["loads"]:
        found[f"load_{place}"] = ratio([(Fraction(s["loads"][place]["realised"]), 1) for s in summaries], len(summaries))
        found[f"load_{place}_offered"] = counted(summaries[0]["loads"][place]["offered"], len(summaries))
    busiest = [Fraction(max(row["utilisation"] for row in rows)) for rows in ports]
    found["utilisation_max"] = ratio([(busy, 1) for busy in busiest], len(busiest), most=1.0)
    least = []
    for rows in ports:
        links = defaultdict(list)
        for row in rows:
            if "host" not in (row["tier"], tiers.get(row["peer"], "host")):
                links[frozenset((row["owner"], row["peer"]))].append(Fraction(row["utilisation"]))
        least.append(min(map(max, links.values())))
    found["core_utilisation_min"] = ratio([(busy, 1) for busy in least], len(least), most=1.0)
    uneven = []
    for rows in ports:
        core = [Fraction(row["utilisation"]) for row in rows if "host" not in (row["tier"], tiers.get(row["peer"], "host"))]
        uneven.append(max(core) * len(core) / sum(core))
    found["core_imbalance"] = ratio([(share, 1) for share in uneven], len(uneven))
    return found


def agrees(shown: str, expected: Fraction | float | None) -> bool:
    """Whether twelve significant digits, as shown, are those of the number: one unit in the last for the rounding."""
    if shown == "" or expected is None:
        return shown == "" and expected is None
    value, expected = Fraction(shown), Fraction(expected)
    if expected == 0 or value == 0:
        return abs(value - expected) < Fraction(1, 10**9)
    last_digit = Fraction(10) ** (math.floor(math.log10(abs(expected))) - 11)
    return abs(value - expected) <= last_digit


def test_the_summary_is_what_the_files_say(small: Folder, flows: dict, queries: dict, ports: dict) -> None:
    rows = {(row["scheme"], row["workload.load"], row["class"], row["metric"]): row for row in small.rows()}
    assert len(rows) == len(small.rows()), "a statistic stands there twice"
    expected = {}
    for scheme in ("dctcp", "slytherin"):
        for load in ("0.4", "0.8"):
            keys = [k for seed in (1, 2) for k, s in small.points().items() if (s["scheme"], s["values"], s["seed"]) == (scheme, [load], seed)]
            assert len(keys) == 2
            warm = [{row["query"] for row in flows[key] if not row["measured"]} for key in keys]
            for name, classes in SETS.items():
                members = [[row for row in flows[key] if row["measured"] and row["class"] in classes] for key in keys]
                found = of_flows(members) | of_queries(members, warm, [queries[key] for key in keys])
                if name == "all":
                    queues = [table(small, key, "queues") for key in keys]
                    asking = [{f"host{row['dst']}" for row in flows[key] if row["query"] is not None} for key in keys]
                    found |= of_network([small.points()[key] for key in keys], [ports[key] for key in keys], queues, asking)
                expected |= {(scheme, load, name, metric): statistic for metric, statistic in found.items()}
    assert set(rows) == set(expected)
    wrong = []
    for place, statistic in expected.items():
        row = rows[place]
        for column, value in (("value", statistic.value), ("low", statistic.low), ("high", statistic.high)):
            if not agrees(row[column], value):
                wrong.append((*place, column, row[column], None if value is None else float(value)))
        if int(row["n"]) != statistic.n:
            wrong.append((*place, "n", row["n"], statistic.n))
    assert not wrong, wrong[:10]


def test_the_summary_says_why_an_interval_is_missing(small: Folder) -> None:
    for row in small.rows():
        percentile = next((p for p in ("p999", "p99", "p95", "p50") if row["metric"].endswith(p)), None)
        if percentile and not row["metric"].startswith(("queue", "sink")):
            above = int(row["n"]) * {"p50": 500, "p95": 50, "p99": 10, "p999": 1}[percentile]
            refused = above < 10_000
            assert (row["low"] == "") == refused, row
            if refused:
                maximum = above < 1000
                assert ("is their maximum" if maximum else "too few for an interval") in row["note"], row
        elif not row["low"] and row["value"]:
            counted = row["metric"] in ("flows", "queries", "censored") or "max" in row["metric"] or row["metric"].endswith("_offered")
            # Where one seed alone has samples, nothing says how far seeds differ.
            assert counted or row["note"] == "no interval: all samples are of one seed or batch", row
    assert len({row["note"] for row in small.rows()}) > 3


def test_swept_quantities_are_numbers_in_columns_of_their_own(small: Folder) -> None:
    where = small.path.parent
    sweep = '"port.limit" = ["60KB", "1.2MB"]\n"port.marker.step.threshold" = ["5%", "20%"]'
    (where / "swept.toml").write_text(SMALL.replace('"workload.load" = [0.4, 0.8]', sweep), encoding="utf-8")
    few = ("--set", "workload.flows=200", "--set", 'schemes=["dctcp"]', "--seeds", "1")
    succeeded(run("run", "swept.toml", "--out", "swept", *few, cwd=where))
    rows = Folder(where / "swept").rows()
    pairs = {(row["port.limit"], float(row["port.limit_bytes"])) for row in rows}
    assert pairs == {("60KB", 60_000.0), ("1.2MB", 1_200_000.0)}
    shares = {(row["port.marker.step.threshold"], float(row["port.marker.step.threshold_share"])) for row in rows}
    assert shares == {("5%", 0.05), ("20%", 0.2)}
    assert not any(name.startswith("workload.load_") for name in small.rows()[0]), "plain numbers are numbers already"
    compared = succeeded(run("compare", "swept", "swept", "--class", "all", "--format", "csv", cwd=where)).stdout
    assert {row["port.limit_bytes"] for row in csv.DictReader(io.StringIO(compared))} == {"60000", "1200000"}
    assert "port.limit_bytes" in (where / "swept" / "tables" / "all.csv").read_text(encoding="utf-8")


def test_the_tables_are_the_summary(small: Folder) -> None:
    """Every number of a table is the one of the summary."""
    rows = {(row["scheme"], row["workload.load"], row["class"], row["metric"]): row for row in small.rows()}
    for name in SETS:
        lines = (small.path / "tables" / f"{name}.csv").read_text(encoding="utf-8").splitlines()
        head, *body = [line.split(",") for line in lines]
        assert len(body) == 4
        for line in body:
            cells = dict(zip(head, line, strict=True))
            compared = 0
            for column, value in cells.items():
                metric, _, end = column.rpartition("_")
                if end not in ("low", "high"):
                    metric, end = column, "value"
                row = rows.get((cells["scheme"], cells["workload.load"], name, metric))
                if row is not None:
                    assert value == row[end], (name, column)
                    compared += 1
            assert compared >= 10, head
        assert Path(small.path / "tables" / f"{name}.txt").read_text(encoding="utf-8").startswith(f"{name}\n")


def test_pictures_are_there_and_are_pictures(small: Folder) -> None:
    vector, raster = sorted(small.path.glob("plots/*.svg")), sorted(small.path.glob("plots/*.png"))
    assert [file.stem for file in vector] == [file.stem for file in raster] and len(vector) >= 6
    for file in vector:
        text = file.read_text(encoding="utf-8")
        assert text.startswith("<svg") and text.rstrip().endswith("</svg>") and "dctcp" in text and "slytherin" in text, file
    for file in raster:
        data = file.read_bytes()
        assert data.startswith(b"\x89PNG\r\n\x1a\n") and data.endswith(b"IEND\xaeB`\x82") and len(data) > 5_000, file
