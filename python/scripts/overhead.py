"""Measures what engines cost for each point, as a table in Markdown: `cargo xtask engines` runs it.

    python python/scripts/overhead.py [--workers 2] [--seconds 1 10] [--run 4] [--rounds 3]

Points are simulations of about so many seconds of CPU time. So many of them as one process with so many jobs does in
`--run` seconds, and one for each worker at least, are run in turns by that process, by Ray and by Dask with as many
workers of one core on this machine. A round has each of them once, so that what else the machine does meanwhile meets
all alike; the table has medians of the rounds, and the smallest and the largest of them. The efficiency is the time of
one process over that of the engine in the same round; what lies between both times, times the workers and over the
points, is the overhead of a point. The same of the CPU time of all processes of an engine is hardly changed by what else
the machine does, but has no waiting in it. Starting and ending a cluster is not counted, and each engine has run points
before, so that its workers have loaded the program.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import psutil

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


def cpu_s() -> float:
    """CPU time of this process and of those that it has started, in s."""
    own = psutil.Process()
    times = []
    for process in [own, *own.children(recursive=True)]:
        try:
            times.append(process.cpu_times())
        except psutil.NoSuchProcess:
            continue
    return sum(of.user + of.system + of.children_user + of.children_system for of in times)


def timed(scenario: tailcut.Scenario, on: Engine | None, workers: int) -> tuple[float, float]:
    """Wall time and CPU time of a run in s."""
    with tempfile.TemporaryDirectory() as folder:
        cpu, began = cpu_s(), time.perf_counter()
        jobs = None if on is not None else workers
        run = scenario.run(out=Path(folder) / "run", on=on, jobs=jobs, threads=1 if jobs else None, progress=False)
        took = time.perf_counter() - began, cpu_s() - cpu
        assert run.is_complete
        return took


def with_flows(flows: int, points: int) -> tailcut.Scenario:
    return tailcut.Scenario.from_toml(SCENARIO).set("workload.flows", flows).seeds(points)


def flows_of_a_second() -> float:
    """Flows that take a second of CPU time: the most of a few attempts, because others can only slow it down."""
    flows, best = 2000, 0.0
    for _ in range(4):
        began = time.process_time()
        timed(with_flows(flows, 1), None, 1)
        best = max(best, flows / (time.process_time() - began))
    return best


@contextmanager
def ray(workers: int) -> Iterator[Engine]:
    # Its workers yield to other programs; what is compared does not.
    os.environ["RAY_worker_niceness"] = "0"
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


@contextmanager
def one_process(workers: int) -> Iterator[None]:
    yield None


HOW: dict[str, Callable[[int], AbstractContextManager[Engine | None]]] = {
    "one process": one_process,
    "Ray": ray,
    "Dask": dask,
}


def spread(values: list[float], times: float, digits: int = 0) -> str:
    """The median, and the smallest and the largest beside it."""
    median, least, most = (f"{of(values) * times:.{digits}f}" for of in (statistics.median, min, max))
    return f"{median} ({least} to {most})"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, nargs="+", default=[1.0, 10.0])
    parser.add_argument("--run", type=float, default=4.0)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    workers = arguments.workers
    a_second = flows_of_a_second()
    points = {seconds: max(workers, round(arguments.run * workers / seconds)) for seconds in arguments.seconds}
    sizes = {seconds: with_flows(max(1, round(seconds * a_second)), points[seconds]) for seconds in points}
    took: dict[tuple[str, float], list[tuple[float, float]]] = {(name, seconds): [] for seconds in sizes for name in HOW}
    for _ in range(arguments.rounds):
        for name, start in HOW.items():
            with start(workers) as engine:
                timed(with_flows(100, 2 * workers), engine, workers)
                for seconds, scenario in sizes.items():
                    took[name, seconds].append(timed(scenario, engine, workers))
    print(f"| {workers} workers, {arguments.rounds} rounds | a run | efficiency | overhead of a point | CPU time of it |")
    print("|---|---|---|---|---|")
    for (name, seconds), times in took.items():
        row = f"| {name}, {points[seconds]} points of {seconds:g} s | {spread([wall for wall, _ in times], 1, 1)} s |"
        if name == "one process":
            print(f"{row} | | |")
            continue
        pairs = list(zip(took["one process", seconds], times, strict=True))
        efficiency = [alone / whole for (alone, _), (whole, _) in pairs]
        overhead = [(whole - alone) * workers / points[seconds] for (alone, _), (whole, _) in pairs]
        cpu = [(whole - alone) / points[seconds] for (_, alone), (_, whole) in pairs]
        print(f"{row} {spread(efficiency, 100)} % | {spread(overhead, 1e3)} ms | {spread(cpu, 1e3)} ms |")


if __name__ == "__main__":
    main()
