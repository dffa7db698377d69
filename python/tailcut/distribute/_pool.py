"""What engines have in common: tasks in order, so many at a time, until all have ended."""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tailcut._error import Error
from tailcut.distribute import Outcome, Task


class Lost(Exception):
    """A task has come to nothing, because its machine was lost, and may be run again."""


class PoolEngine(ABC):
    """An engine over the futures of a cluster."""

    #: Whether workers may write into the run folder where they see it; else results come back by value.
    share: bool = True
    #: Tasks at the cluster for each that runs: enough to keep it busy, and few enough to stay in order.
    ahead: int = 2
    #: How often a task that was lost is run again; an engine that does so itself has none.
    again: int = 0

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
        """What a future that has ended came to; a task that has failed raises, one that may be run again `Lost`."""

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
        waiting = deque(range(len(tasks)))
        lost: Counter[int] = Counter()
        try:
            while waiting or running:
                room = max(1, self.cores()) * self.ahead - len(running)
                for _ in range(min(room, len(waiting))):
                    index = waiting.popleft()
                    running[self.submit(Task(*tasks[index]), folder, token)] = index
                for future in self.ended(list(running), 0.5):
                    index = running.pop(future)
                    try:
                        outcome = self.outcome(future)
                    except Lost as error:
                        lost[index] += 1
                        if lost[index] <= self.again:
                            waiting.appendleft(index)
                            continue
                        outcome = str(error)
                    except Exception as error:  # noqa: BLE001 - one task that fails must not end the others
                        outcome = error.message if isinstance(error, Error) else f"{type(error).__name__}: {error}"
                    yield index, outcome
                yield None
        finally:
            if running:
                self.cancel(list(running))
            if token:
                (Path(folder) / token).unlink(missing_ok=True)
