"""Points as jobs of Slurm by Submitit; `pip install 'tailcut[submitit]'`."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from typing import Any

from tailcut._error import Error, wrong
from tailcut.distribute import Outcome, Task, simulate
from tailcut.distribute._pool import Lost, PoolEngine

try:
    import submitit
except ImportError as error:  # pragma: no cover - depends on what is installed
    raise wrong("the engine submitit needs Submitit", "pip install 'tailcut[submitit]'") from error


def simulated(*told: Any) -> Outcome:
    """As `simulate`: of an exception Submitit brings back no more than a trace."""
    try:
        return simulate(*told)
    except Error as error:
        return error.message


class SubmititEngine(PoolEngine):
    """Submitit as an engine. Each point is a job on one core; one that ends without a result is submitted again.

    Args:
        executor: An executor of Submitit, which knows partition, time and memory of a job and has a folder; or
            `"slurm"` or `"local"`. Without it Slurm where it is installed, and else processes of this machine.
        jobs: Jobs at a time, waiting ones included; 200 without it, or one for each core if they run here.
        retries: How often a job that ends without a result is submitted again.
        share: Whether jobs may write into the run folder where they see it.
    """

    ahead = 1

    def __init__(self, executor: Any = None, *, jobs: int | None = None, retries: int = 2, share: bool = True) -> None:
        if executor == "slurm" and submitit.SlurmExecutor.affinity() < 0:
            raise wrong("there is no Slurm on this machine", "go where the commands `srun` and `sbatch` are")
        self._given = executor or submitit.AutoExecutor.which()
        is_local = isinstance(executor, submitit.LocalExecutor)
        is_here = is_local or getattr(self._given, "cluster", self._given) == "local"
        self._jobs = jobs or ((os.cpu_count() or 1) if is_here else 200)
        self.share, self.again = share, retries

    def __call__(self, tasks: list[Any], folder: str) -> Iterator[tuple[int, Outcome] | None]:
        # What jobs are told and what they say: other machines that see the run folder find it there.
        with tempfile.TemporaryDirectory(prefix=".submitit.tmp-", dir=folder, ignore_cleanup_errors=True) as own:
            self._executor = self._given
            if isinstance(self._given, str):
                self._executor = submitit.AutoExecutor(own, self._given)
                # Four times as long as the forecast says, and half an hour, in min.
                longest = 30 + int(max(cpu_s for _, cpu_s, _, _ in tasks) / 15)
                self._executor.update_parameters(cpus_per_task=1, timeout_min=longest)
            yield from super().__call__(tasks, folder)

    def submit(self, task: Task, folder: str, token: str) -> Any:
        return self._executor.submit(simulated, task.head, task.files, folder, token)

    def cores(self) -> int:
        return self._jobs

    def ended(self, futures: list[Any], wait_s: float) -> list[Any]:
        if not (done := [job for job in futures if job.done()]):
            time.sleep(wait_s)
        return done

    def outcome(self, future: Any) -> Outcome:
        try:
            return future.result()  # type: ignore[no-any-return]
        except submitit.core.utils.UncompletedJobError as error:
            raise Lost(f"its job has ended without a result: {error}") from error

    def cancel(self, futures: list[Any]) -> None:
        for job in futures:
            job.cancel(check=False)
