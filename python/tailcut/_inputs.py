"""Networks and flows from objects of Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tailcut._error import wrong

#: Attributes that a node of a graph may have.
_NODE = ("kind", "tier", "name", "rack")


def graphml(graph: Any) -> str:
    """A graph of networkx as GraphML with the attributes that tailcut reads."""
    try:
        import networkx  # noqa: PLC0415
    except ImportError as error:
        raise wrong("a network needs networkx", "pip install networkx") from error
    if not isinstance(graph, networkx.Graph) or graph.is_directed():
        raise wrong(f"a {type(graph).__name__} is no network", "expected an undirected graph of networkx")
    plain = networkx.Graph() if not graph.is_multigraph() else networkx.MultiGraph()
    for node, facts in graph.nodes(data=True):
        kept = {name: str(facts[name]) for name in _NODE if name in facts}
        kept.setdefault("kind", "host" if graph.degree(node) == 1 else "switch")
        if "rack" in facts:
            kept["rack"] = str(facts["rack"])
        plain.add_node(str(node), **kept)
    if plain.number_of_nodes() != graph.number_of_nodes():
        raise wrong("two nodes of the network have the same name as text", "expected nodes with different names")
    for a, b, facts in graph.edges(data=True):
        edge = f"the link between {a} and {b}"
        plain.add_edge(
            str(a),
            str(b),
            rate=_quantity(facts, "rate", edge, "bps", '"10Gbps", or a number in bit/s', 1),
            delay=_quantity(facts, "delay", edge, "ps", '"1us", or a number in s', 10**12),
        )
    return "\n".join(networkx.generate_graphml(plain))


def _quantity(facts: dict[str, Any], name: str, edge: str, unit: str, expected: str, times: int) -> str:
    given = facts.get(name)
    if isinstance(given, str):
        return given
    try:
        number = float(given) if given is not None else float("nan")
    except (TypeError, ValueError):
        number = float("nan")
    if not 0 <= number < float("inf"):
        raise wrong(f"{edge} has no {name} that is one: {given!r}", f"expected {name} = {expected}")
    return f"{round(number * times)}{unit}"


def flows(table: Any) -> list[dict[str, object]]:
    """A table of flows as the list that a scenario has."""
    columns: dict[str, Sequence[Any]] = {}
    for name, needed in [("src", True), ("dst", True), ("size_bytes", True), ("start_ns", False), ("deadline_ns", False)]:
        try:
            column = table[name]
        except (KeyError, ValueError, IndexError, TypeError) as error:
            missing = True
            cause: Exception = error
        except Exception as error:  # noqa: BLE001 - each library of data frames has an exception of its own
            missing = True
            cause = error
        else:
            missing = False
        if not missing:
            to_list = getattr(column, "tolist", None) or getattr(column, "to_list", None) or getattr(column, "to_pylist", None)
            columns[name] = to_list() if callable(to_list) else list(column)
        elif needed:
            raise wrong(
                f"the flows have no column {name}",
                "expected columns src, dst, size_bytes and optionally start_ns and deadline_ns",
            ) from cause
    lengths = {len(column) for column in columns.values()}
    if len(lengths) != 1:
        raise wrong("the columns of the flows have different lengths", "expected as many values in each of them")
    found: list[dict[str, object]] = []
    for at in range(lengths.pop()):
        flow: dict[str, object] = {
            "src": _whole(columns["src"][at], "src", at),
            "dst": _whole(columns["dst"][at], "dst", at),
            "size": f"{_whole(columns['size_bytes'][at], 'size_bytes', at)}B",
        }
        for name, key in [("start_ns", "start"), ("deadline_ns", "deadline")]:
            if name in columns and columns[name][at] is not None:
                picoseconds = _number(columns[name][at], name, at) * 1000
                flow[key] = f"{round(picoseconds)}ps"
        found.append(flow)
    return found


def _number(given: object, name: str, at: int) -> float:
    if isinstance(given, (int, float)) and not isinstance(given, bool) and 0 <= given < float("inf"):
        return given
    raise wrong(f"{name} of flow {at} is {given!r}", "expected a number that is not negative")


def _whole(given: object, name: str, at: int) -> int:
    number = _number(given, name, at)
    if number != int(number):
        raise wrong(f"{name} of flow {at} is {given!r}", "expected a whole number")
    return int(number)
