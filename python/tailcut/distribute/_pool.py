"""What engines have in common: tasks in order, so many at a time, until all have ended."""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tailcut._error import Error
from tailcut.distribute import Outcome, Task

#: Tasks that wait at the cluster for each core: enough to keep it busy, and few enough to stay in order.
AHEAD = 2


class PoolEngine(ABC):
    """An engine over the futures of a cluster."""

    #: Whether workers may write into the run folder where they see it; else results come back by value.
    share: bool = True

    @abstractmethod
    def submit(self, task: Task, folder: str, token: str) -> Any:
        """Begins a task, and returns its future."""

    @abstractmethod
    def cores(self) -> int:
        """How many tasks run at a time now."""

    @abstractmethod
    def ended(self, futures: list[Any], wait_s: float) -> list[Any]:
        """The futures that have ended; waits for the first of them, but no longer than this."""

    @abstractmethod
    def outcome(self, future: Any) -> Outcome:
        """What a future that has ended came to; a task that has failed raises."""

    @abstractmethod
    def cancel(self, futures: list[Any]) -> None:
        """Ends what runs."""

    def __call__(
        self, tasks: list[tuple[str, float, str, list[tuple[str, bytes]]]], folder: str
    ) -> Iterator[tuple[int, Outcome] | None]:
        # A name that the run removes if this process is killed.
        token = f".{secrets.token_hex(8)}.tmp" if self.share else ""
        if token:
            (Path(folder) / token).touch()
        running: dict[Any, int] = {}
        waiting = iter(enumerate(tasks))
        left = len(tasks)
        try:
            while left:
                room = max(1, self.cores()) * AHEAD - len(running)
                while room > 0 and (following := next(waiting, None)) is not None:
                    index, fields = following
                    running[self.submit(Task(*fields), folder, token)] = index
                    room -= 1
                for future in self.ended(list(running), 0.5):
                    index = running.pop(future)
                    left -= 1
                    try:
                        outcome = self.outcome(future)
                    except Exception as error:  # noqa: BLE001 - one task that fails must not end the others
                        outcome = error.message if isinstance(error, Error) else f"{type(error).__name__}: {error}"
                    yield index, outcome
                yield None
        finally:
            if running:
                self.cancel(list(running))
            if token:
                (Path(folder) / token).unlink(missing_ok=True)
