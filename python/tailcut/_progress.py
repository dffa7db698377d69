"""What a waiting user sees: a bar in a notebook or on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """How far a run is."""

    #: Points that are finished or have failed, of those that this call runs.
    done: int
    #: Points that this call runs.
    total: int
    #: The fraction of them that is done, 0 to 1, parts of points included.
    fraction: float
    #: Points that were finished before.
    reused: int
    #: Time since the run began, in s.
    elapsed_s: float

    @property
    def left_s(self) -> float | None:
        """Time that is left, in s, if the rest goes on as it has so far; `None` before anything is done."""
        return self.elapsed_s * (1 - self.fraction) / self.fraction if self.fraction > 0 else None

    def __str__(self) -> str:
        left = "" if self.left_s is None else f", about {self.left_s:.0f} s left"
        return f"{self.done} of {self.total} points, {self.elapsed_s:.0f} s{left}"


def _notebook() -> Callable[[Progress], None] | None:
    if "IPython" not in sys.modules:
        return None
    from IPython import get_ipython  # noqa: PLC0415
    from IPython.display import HTML, display  # noqa: PLC0415

    if type(get_ipython()).__name__ != "ZMQInteractiveShell":
        return None
    handle = display(HTML(""), display_id=True)

    def show(progress: Progress) -> None:
        handle.update(HTML(f'<progress value="{progress.fraction:.4f}" max="1"></progress> {progress}'))

    return show


def _terminal() -> Callable[[Progress], None] | None:
    if sys.stderr is None or not sys.stderr.isatty():
        return None

    def show(progress: Progress) -> None:
        full = round(progress.fraction * 30)
        end = "\n" if progress.done == progress.total and progress.total else ""
        sys.stderr.write(f"\r[{'#' * full}{'.' * (30 - full)}] {progress}\x1b[K{end}")
        sys.stderr.flush()

    return show


def watcher(
    wanted: bool | Callable[[Progress], object] | None,
) -> Callable[[int, int, float, int], None] | None:
    """What is called while a run goes on: a bar if there is somebody to look at it, or what the user wants."""
    show: Callable[[Progress], object] | None
    if wanted is False:
        return None
    if callable(wanted):
        show = wanted
    else:
        show = _notebook() or _terminal()
        if show is None:
            return None
    began = time.monotonic()
    last: list[tuple[int, int, float, int]] = []

    def told(done: int, total: int, fraction: float, reused: int) -> None:
        now = (done, total, fraction, reused)
        if total and last != [now]:
            last[:] = [now]
            show(Progress(done, total, fraction, reused, time.monotonic() - began))

    return told
