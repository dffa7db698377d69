"""Scenarios: built, checked and run."""

from __future__ import annotations

import heapq
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tailcut import _inputs, _native, _toml
from tailcut._error import count_of, path_of, text_of, wrong
from tailcut._progress import Progress, watcher
from tailcut._run import Run, of_report

if TYPE_CHECKING:
    from tailcut._keys import Key
    from tailcut.distribute import Engine


@dataclass(frozen=True)
class Warning:  # noqa: A001
    """What is not wrong but probably not meant."""

    #: All of it, as the command line prints it.
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Forecast:
    """A simulation that would run."""

    #: The name of its folder in the run folder.
    key: str
    scheme: str
    #: The values of the swept parameters, as the scenario writes them.
    values: Mapping[str, str]
    seed: int
    #: Packets over links, ACKs included.
    packet_hops: float
    #: CPU time in s on one core.
    cpu_s: float
    #: Memory in bytes.
    memory_bytes: float


@dataclass(frozen=True)
class Check:
    """What a scenario would run, and what is suspicious about it."""

    name: str
    title: str
    #: Hosts of the network of `largest_point`.
    hosts: int
    schemes: tuple[str, ...]
    #: The swept parameters with their values.
    axes: Mapping[str, tuple[str, ...]]
    seeds: tuple[int, ...]
    #: Simulations.
    points: int
    #: Flows of all points.
    flows: float
    #: Bytes on the wires of the senders, in all points.
    wire_bytes: float
    #: Packets over links, in all points.
    packet_hops: float
    #: CPU time in s of all points on one core.
    cpu_s: float
    #: Memory in bytes of the simulation that needs most.
    memory_bytes: float
    #: The point with the most packet-hops: its scheme and swept values.
    largest_point: str
    warnings: tuple[Warning, ...]


@dataclass(frozen=True)
class Scenario:
    """A scenario. It never changes: each method returns another one.

    >>> import tailcut
    >>> base = tailcut.Scenario.from_dict({
    ...     "topology": {"star": {"hosts": 8, "host_link": {"rate": "10Gbps", "delay": "1us"}}},
    ...     "workload": {"load": 0.5, "flows": 50},
    ... })
    >>> traffic = {"share": 1.0, "sizes": {"fixed": "100KB"}}
    >>> scenario = base.set("workload.traffic.long", traffic).schemes("dctcp", "tcp").sweep("workload.load", [0.3, 0.6])
    >>> [point.scheme for point in scenario.points()]
    ['dctcp', 'dctcp', 'tcp', 'tcp']
    >>> "load = 0.5" in str(base) and "sweep" not in str(base)
    True
    """

    _layers: tuple[tuple[str, str], ...]
    _stem: str
    _folder: str

    # Where it comes from.

    @staticmethod
    def from_file(path: str | os.PathLike[str]) -> Scenario:
        """Reads a scenario file. Files that it names are looked for from its folder.

        Raises:
            Error: If it cannot be read.
        """
        path = Path(path_of(path, "the path of a TOML file, such as scenarios/tail.toml"))
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeError) as error:
            raise wrong(
                f"cannot read the scenario {path}: {error}",
                "expected the path of a TOML file, such as scenarios/tail.toml",
            ) from error
        return Scenario(((str(path), text),), path.stem, str(path.parent))

    @staticmethod
    def from_toml(text: str, *, name: str = "scenario", folder: str | os.PathLike[str] = ".") -> Scenario:
        """A scenario from its text; files that it names are looked for from `folder`.

        Raises:
            Error: If it is no text.
        """
        text_of(text, "the scenario", "its text in TOML; `from_file` takes a path, `from_dict` a dict")
        return Scenario(((f"{name}.toml", text),), name, str(folder))

    @staticmethod
    def from_dict(
        values: Mapping[str, object], *, name: str = "scenario", folder: str | os.PathLike[str] = "."
    ) -> Scenario:
        """A scenario from nested dicts, as `tomllib` reads them from a file.

        Raises:
            Error: If a value is none of a scenario.
        """
        if not isinstance(values, Mapping):
            raise wrong(f"a {type(values).__name__} is no scenario", "expected a dict, as `tomllib` reads one from a file")
        text = "".join(f"{_toml.value(key)} = {_toml.value(value)}\n" for key, value in values.items())
        return Scenario.from_toml(text, name=name, folder=folder)

    # What is changed.

    def set(self, key: Key | str, value: object) -> Scenario:
        """Changes a key for all schemes, such as `port.limit`; `scheme.NAME.KEY` changes it for one scheme. Quantities
        are texts with a unit, `"240KB"`; names of choices are texts, too: `set("host.congestion", "swift")`. A name with
        a dot stands in quotation marks: `set('settings.a."b.c".port.limit', "9KB")`.

        Raises:
            Error: If the key is no path, or the value is none of a scenario.
        """
        text_of(key, "the key", "text, such as \"port.limit\"")
        return self._with(f"set({key!r})", f"{_toml.path(key)} = {_toml.value(value)}\n")

    def sweep(self, key: Key | str, values: Iterable[object]) -> Scenario:
        """Runs every scheme at each of these values of a key; the key swept last changes fastest.

        Raises:
            Error: If a value is none of a scenario.
        """
        text_of(key, "the key", "text, such as \"workload.load\"")
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise wrong(f"`{key}` is swept over {values!r}", "expected a list of values")
        return self._with(f"sweep({key!r})", f"sweep.{_toml.value(key)} = {_toml.value(list(values))}\n")

    def schemes(self, *names: str) -> Scenario:
        """Compares these schemes: presets, as `tailcut list schemes` names them, or those of the scenario."""
        return self._with("schemes(...)", f"schemes = {_toml.value(list(names))}\n")

    def seeds(self, seeds: int | Sequence[int]) -> Scenario:
        """Runs every point with so many seeds, from 1 on, or with these. Equal seeds give equal flows to all schemes."""
        return self._with("seeds(...)", f"seeds = {_toml.value(seeds)}\n")

    def network(self, graph: object) -> Scenario:
        """Takes the network from a graph of networkx. Each edge has `rate`, in bit/s or as text with a unit, and
        `delay`, in s or as text. Nodes may have `kind`, "host" or "switch", else those with one edge are hosts; `tier`
        and `name` of a switch, and `rack` of a host. Hosts are numbered in the order of the nodes.

        Raises:
            Error: If an edge or a node lacks what is needed.
        """
        layer = f"topology.file = {{ format = \"graphml\", text = {_toml.value(_inputs.graphml(graph))} }}\n"
        return self._with("network(...)", layer)

    def flows(self, name: str, table: object) -> Scenario:
        """Adds a traffic of exactly these flows. The table has columns `src` and `dst`, numbers of hosts, `size_bytes`,
        and optionally `start_ns` and `deadline_ns`: a data frame, a structured array of numpy, or a dict of sequences.

        Raises:
            Error: If a column is missing, or a value is no number.
        """
        flows = _inputs.flows(table)
        return self._with(f"flows({name!r})", f"workload.traffic.{_toml.value(name)}.list = {_toml.value(flows)}\n")

    def _with(self, call: str, text: str) -> Scenario:
        return replace(self, _layers=(*self._layers, (f"Scenario.{call}", text)))

    # What it is.

    def __str__(self) -> str:
        """The scenario as TOML, with all changes."""
        return _native.Plan.merged(self._layers)

    def __repr__(self) -> str:
        return f"Scenario({self._stem!r}, {len(self._layers) - 1} changes)"

    def effective(self) -> str:
        """The scenario with every preset and default spelled out, as TOML.

        Raises:
            Error: If the scenario is wrong.
        """
        return self._plan().effective()

    def check(self) -> Check:
        """Says what would run, how long, and what is suspicious.

        Raises:
            Error: If the scenario is wrong.
        """
        found = json.loads(self._plan().check())
        return Check(
            **{
                **found,
                "schemes": tuple(found["schemes"]),
                "axes": {path: tuple(values) for path, values in found["axes"]},
                "seeds": tuple(found["seeds"]),
                "warnings": tuple(Warning(text) for text in found["warnings"]),
            }
        )

    def points(self) -> tuple[Forecast, ...]:
        """Every simulation that would run, with what it is expected to cost.

        Raises:
            Error: If the scenario is wrong.
        """
        return tuple(Forecast(**point) for point in json.loads(self._plan().points()))

    def forecast_s(self, workers: int, *, overhead_s: float = 0.0) -> float:
        """How long so many workers of one core are expected to take for all points, in s, if each that is free takes
        the longest that is left, as engines do; `overhead_s` is what an engine adds to each point.

        Raises:
            Error: If the scenario is wrong.
        """
        free = [0.0] * count_of(workers, "workers")
        for cpu_s in sorted((point.cpu_s for point in self.points()), reverse=True):
            heapq.heapreplace(free, free[0] + cpu_s + overhead_s)
        return max(free)

    def run(
        self,
        *,
        out: str | os.PathLike[str] | None = None,
        jobs: int | None = None,
        threads: int | None = None,
        until: str | None = None,
        of: str | None = None,
        max_seeds: int = 100,
        on: str | Engine | None = None,
        progress: bool | Callable[[Progress], object] | None = None,
    ) -> Run:
        """Runs every point that is not finished in the run folder yet, and writes statistics, plots and the page.

        An interrupt keeps what is finished, and the same call goes on from there.

        Args:
            out: The run folder; `runs/NAME` without it.
            jobs: Simulations at a time; one for each core without it.
            threads: Threads in each simulation.
            until: Adds seeds until the intervals are that narrow, such as `"ci=5%"`.
            of: With `until`, the metric, as `"fct_p99"` or `"fct_p99:short"`.
            max_seeds: With `until`, the most seeds.
            on: Where else to simulate: `"ray"`, `"dask"`, the address of a cluster such as `"ray://head:10001"` or
                `"tcp://head:8786"`, or an engine of `tailcut.distribute`.
            progress: Whether there is a bar, or what is called with a `Progress`; a bar in notebooks and on terminals
                without it.

        Raises:
            Error: If the scenario is wrong or a file cannot be written.
            KeyboardInterrupt: If the run is interrupted.
        """
        if out is not None:
            out = path_of(out, "the path of a folder")
        jobs = None if jobs is None else count_of(jobs, "jobs")
        threads = None if threads is None else count_of(threads, "threads")
        until = None if until is None else text_of(until, "until", 'text, such as "ci=5%"')
        of = None if of is None else text_of(of, "of", 'text, such as "fct_p99:short"')
        max_seeds = count_of(max_seeds, "max_seeds")
        plan = self._plan()
        engine: Engine | None = None
        if on is not None:
            from tailcut import distribute  # noqa: PLC0415

            engine = distribute.engine(on) if isinstance(on, str) else on
            if not callable(engine):
                raise wrong(f"{on!r} is no engine", 'expected text such as "dask", or an engine of tailcut.distribute')
        report = plan.run(out, jobs, threads, until, of, max_seeds, engine, watcher(progress))
        return of_report(json.loads(report))

    def _plan(self) -> _native.Plan:
        return _native.Plan.read(self._layers, self._stem, self._folder)
