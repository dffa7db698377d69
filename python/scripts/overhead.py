"""Measures what Ray and Dask cost for each point, as a table in Markdown.

    python python/scripts/overhead.py [--workers 2] [--points 8] [--seconds 1 10]

Each engine has so many workers on this machine. A point is a simulation of about so many seconds of CPU time; the table
has the time of the whole run by each engine beside that of one process with as many jobs. What lies between them,
times the workers and over the points, is the overhead of a point. Every point runs once before, so that all programs
and files are in memory.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import tailcut
from tailcut.distribute import Engine

SCENARIO = """
schemes = ["dctcp"]
[topology.leaf-spine]
leaves = 4
hosts_per_leaf = 4
spines = 2
host_link = { rate = "10Gbps", delay = "1us" }
core_link = { rate = "10Gbps", delay = "1us" }
[workload]
load = 0.5
load_of = "fabric"
flows = 2000
[workload.traffic.long]
share = 1.0
sizes.fixed = "1MB"
"""


def timed(scenario: tailcut.Scenario, on: Engine | None, workers: int) -> float:
    """Wall time of a run in s."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        jobs = None if on is not None else workers
        run = scenario.run(out=Path(folder) / "run", on=on, jobs=jobs, threads=1 if jobs else None, progress=False)
        took = time.perf_counter() - began
        assert run.is_complete
        return took


def with_flows(flows: int, points: int) -> tailcut.Scenario:
    return tailcut.Scenario.from_toml(SCENARIO).set("workload.flows", flows).seeds(points)


@contextmanager
def ray(workers: int) -> Iterator[Engine]:
    import ray  # noqa: PLC0415

    from tailcut.distribute.ray import RayEngine  # noqa: PLC0415

    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
    yield RayEngine()
    ray.shutdown()


@contextmanager
def dask(workers: int) -> Iterator[Engine]:
    from distributed import Client, LocalCluster  # noqa: PLC0415

    from tailcut.distribute.dask import DaskEngine  # noqa: PLC0415

    with (
        LocalCluster(n_workers=workers, processes=True, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield DaskEngine(client)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--points", type=int, default=8)
    parser.add_argument("--seconds", type=float, nargs="+", default=[1.0, 10.0])
    arguments = parser.parse_args()
    workers, points = arguments.workers, arguments.points
    # How many flows a second of simulation has, from one that takes a moment.
    flows = 2000
    timed(with_flows(flows, 1), None, 1)
    per_flow = timed(with_flows(flows, 1), None, 1) / flows
    sizes = {seconds: with_flows(max(1, round(seconds / per_flow)), points) for seconds in arguments.seconds}
    engines: dict[str, Callable[[int], object]] = {"Ray": ray, "Dask": dask}
    took: dict[tuple[str, float], float] = {}
    for seconds, scenario in sizes.items():
        took["one process", seconds] = timed(scenario, None, workers)
    for name, start in engines.items():
        with start(workers) as engine:  # type: ignore[attr-defined]
            timed(with_flows(100, points), engine, workers)
            for seconds, scenario in sizes.items():
                took[name, seconds] = timed(scenario, engine, workers)
    print(f"| {points} points on {workers} workers | run | overhead of a point | efficiency |")
    print("|---|---|---|---|")
    for (name, seconds), whole in took.items():
        alone = took["one process", seconds]
        overhead = "" if name == "one process" else f"{(whole - alone) * workers / points * 1e3:.0f} ms"
        print(f"| {name}, points of {seconds:g} s | {whole:.1f} s | {overhead} | {alone / whole:.0%} |")


if __name__ == "__main__":
    main()
