"""Points as tasks of Dask; `pip install 'tailcut[dask]'`."""

from __future__ import annotations

from typing import Any

from tailcut._error import wrong
from tailcut.distribute import Outcome, Task, simulate
from tailcut.distribute._pool import PoolEngine

try:
    import distributed
except ImportError as error:  # pragma: no cover - depends on what is installed
    raise wrong("the engine dask needs Dask", "pip install 'tailcut[dask]'") from error


class DaskEngine(PoolEngine):
    """Dask as an engine. Each point is a task; one whose worker is lost is run again elsewhere.

    Args:
        cluster: The address of a scheduler, such as `"tcp://head:8786"`, a cluster, or a client; without it a cluster
            of one process for each core of this machine, which ends with this process.
        retries: How often a task that fails is run again; one whose worker is lost is run again in any case.
        share: Whether workers may write into the run folder where they see it.
    """

    def __init__(self, cluster: Any = None, *, retries: int = 0, share: bool = True) -> None:
        self.share = share
        self._retries = retries
        if isinstance(cluster, distributed.Client):
            self._client = cluster
        elif cluster is None:
            own = distributed.LocalCluster(processes=True, threads_per_worker=1, dashboard_address=None)
            self._client = distributed.Client(own)
        else:
            self._client = distributed.Client(cluster)

    def submit(self, task: Task, folder: str, token: str) -> Any:
        return self._client.submit(
            simulate, task.head, task.files, folder, token, key=f"tailcut-{task.key}", pure=False, retries=self._retries
        )

    def cores(self) -> int:
        return sum(self._client.ncores().values())

    def ended(self, futures: list[Any], wait_s: float) -> list[Any]:
        try:
            done = distributed.wait(futures, timeout=wait_s, return_when="FIRST_COMPLETED").done
        except TimeoutError:
            return []
        return [future for future in futures if future in done]

    def outcome(self, future: Any) -> Outcome:
        found: Outcome = future.result()
        return found

    def cancel(self, futures: list[Any]) -> None:
        self._client.cancel(futures, force=True)
