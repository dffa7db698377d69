"""More machines than one: the points of a run as tasks of a cluster.

An engine is what `Scenario.run(on=...)` and `tailcut run --on` hand points to. `tailcut.distribute.ray`,
`tailcut.distribute.dask` and `tailcut.distribute.submitit` have one each; a function of the same form is one as well. Every task is simulated by the same
program, so that the results are those of a local run, bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from tailcut._error import Error, wrong


@dataclass(frozen=True)
class Task:
    """A point that any worker can simulate, with `tailcut.distribute.simulate`."""

    #: The name of the folder of the point.
    key: str
    #: CPU time in s that is expected.
    cpu_s: float
    #: The point with its scenario, as JSON.
    head: str
    #: The files that the scenario names, by their paths.
    files: list[tuple[str, bytes]]


#: What a task came to: `None` if its files are in the run folder, its files by their names, or why it failed.
Outcome: TypeAlias = "None | dict[str, bytes] | str"


class Engine(Protocol):
    """Runs tasks elsewhere."""

    def __call__(self, tasks: list[tuple[str, float, str, list[tuple[str, bytes]]]], folder: str) -> Iterator[
        tuple[int, Outcome] | None
    ]:
        """Runs tasks, which come in the order in which they should begin: their fields, as those of `Task`. Yields the
        number of each task that ends with what it came to, and at least every second `None`, so that the run can be
        stopped; it is then closed."""


def simulate(head: str, files: list[tuple[str, bytes]], folder: str, token: str) -> Outcome:
    """Simulates a task on a worker. Where the worker sees the run folder, which it knows by a file called `token`, the
    point is written there; elsewhere its files are the result.

    Raises:
        Error: If the task is of another build of tailcut, or a file cannot be written.
    """
    import json  # noqa: PLC0415
    import tempfile  # noqa: PLC0415
    from pathlib import Path  # noqa: PLC0415

    from tailcut import _native  # noqa: PLC0415

    if token and (Path(folder) / token).exists():
        _native.run_task(head, files, folder)
        return None
    with tempfile.TemporaryDirectory(prefix="tailcut-") as own:
        _native.run_task(head, files, own)
        point = Path(own) / "points" / json.loads(head)["point"]["key"]
        return {path.name: path.read_bytes() for path in point.iterdir() if not path.name.startswith(".")}


def engine(name: str) -> Engine:
    """The engine called `ray` or `dask`, on this machine, or the one at an address: `ray://head:10001`, `ray:auto`
    for the Ray cluster that this machine belongs to, `tcp://head:8786` for the scheduler of Dask; `slurm` for jobs of
    Slurm by Submitit, and `submitit` for the same, or processes of this machine if it has no Slurm.

    Raises:
        Error: If there is none of that name, its package is not installed, or it does not answer.
    """
    try:
        return _engine(name)
    except Error:
        raise
    except Exception as error:  # each engine has exceptions of its own
        raise wrong(f"the engine `{name}` does not start: {error}", "is there a cluster at this address?") from error


def _engine(name: str) -> Engine:
    if name == "ray" or name.startswith(("ray:", "ray://")):
        from tailcut.distribute.ray import RayEngine  # noqa: PLC0415

        address = None if name == "ray" else name if name.startswith("ray://") else name.removeprefix("ray:")
        return RayEngine(address)
    if name == "dask" or name.startswith(("tcp://", "tls://", "ws://", "wss://")):
        from tailcut.distribute.dask import DaskEngine  # noqa: PLC0415

        return DaskEngine(None if name == "dask" else name)
    if name in ("slurm", "submitit"):
        from tailcut.distribute.submitit import SubmititEngine  # noqa: PLC0415

        return SubmititEngine("slurm" if name == "slurm" else None)
    known = "ray, dask, slurm, submitit, ray://HOST:PORT, ray:auto or tcp://HOST:PORT"
    raise wrong(f"there is no engine `{name}`", f"expected {known}")


__all__ = ["Engine", "Outcome", "Task", "engine", "simulate"]
