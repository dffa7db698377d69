"""Points as tasks of Ray; `pip install 'tailcut[ray]'`."""

from __future__ import annotations

from typing import Any

from tailcut._error import Error, wrong
from tailcut.distribute import Outcome, Task, simulate
from tailcut.distribute._pool import PoolEngine

try:
    import ray
except ImportError as error:  # pragma: no cover - depends on what is installed
    raise wrong("the engine ray needs Ray", "pip install 'tailcut[ray]'") from error


class RayEngine(PoolEngine):
    """Ray as an engine. Each point is a task on one core; a task whose worker or machine is lost is run again elsewhere.

    Args:
        address: Of the cluster, such as `"ray://head:10001"`, or `"auto"` for the one that this machine belongs to;
            without it the one that this process is connected to, or else one on this machine.
        retries: How often a task is run again.
        share: Whether workers may write into the run folder where they see it.
    """

    def __init__(self, address: str | None = None, *, retries: int = 4, share: bool = True) -> None:
        self.share = share
        if not ray.is_initialized():
            ray.init(address=address, include_dashboard=False, log_to_driver=False, configure_logging=False)
        self._simulate: Any = ray.remote(num_cpus=1, max_retries=retries)(simulate)

    def submit(self, task: Task, folder: str, token: str) -> Any:
        return self._simulate.remote(task.head, task.files, folder, token)

    def cores(self) -> int:
        return int(ray.cluster_resources().get("CPU", 1))

    def ended(self, futures: list[Any], wait_s: float) -> list[Any]:
        # All that have ended by then: the first is waited for, the others are asked.
        first, rest = ray.wait(futures, num_returns=1, timeout=wait_s, fetch_local=False)
        if not first or not rest:
            return list(first)
        more, _ = ray.wait(rest, num_returns=len(rest), timeout=0, fetch_local=False)
        return [*first, *more]

    def outcome(self, future: Any) -> Outcome:
        try:
            found: Outcome = ray.get(future)
        except ray.exceptions.RayTaskError as error:
            raise error.cause if isinstance(error.cause, Error) else error from None
        return found

    def cancel(self, futures: list[Any]) -> None:
        for future in futures:
            ray.cancel(future, force=True)
