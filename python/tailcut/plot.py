"""Charts of a run, by Altair or matplotlib; `pip install 'tailcut[plot]'` brings Altair."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from tailcut._error import wrong

if TYPE_CHECKING:
    from tailcut._run import Estimate, Run

#: An `altair.Chart`, or a `matplotlib.figure.Figure`.
Chart: TypeAlias = Any


def chart(
    run: Run, metric: str, *, by: str, x: str | None, class_: str, backend: str, swept: Mapping[str, Any]
) -> Chart:
    """A chart of a metric with its intervals; see `Run.plot`."""
    if backend not in ("altair", "matplotlib"):
        raise wrong(f"there is no backend `{backend}`", "expected altair or matplotlib")
    paths = {path.rsplit(".", 1)[-1]: path for path in run.axes} | {path: path for path in run.axes}
    names = [name for name in (by, x) if name is not None and name != "scheme"]
    for name in names:
        if name not in paths:
            raise wrong(f"the run has no swept parameter `{name}`", f"expected one of scheme, {', '.join(run.axes)}")
    over = paths[x] if x is not None else next((path for path in run.axes if path != paths.get(by)), None)
    rows = [row for row in run.estimates(metric, class_=class_, **swept) if row.value is not None]
    if not rows:
        raise wrong(f"nothing that is finished has {metric} of {class_} there")
    group = paths.get(by)
    fixed = {path for path in run.axes if path not in (over, group)}
    open_ = sorted(path for path in fixed if len({row.values[path] for row in rows}) > 1)
    if open_:
        raise wrong(f"{' and '.join(open_)} have several values", "say which, as in run.plot(..., load=0.4)")
    points = [_point(row, group, over) for row in rows]
    title = f"{metric} of {class_} ({rows[0].unit})"
    drawn = _altair if backend == "altair" else _matplotlib
    return drawn(points, title, over or "scheme", by, run.title)


def _point(row: Estimate, group: str | None, over: str | None) -> dict[str, Any]:
    return {
        "by": row.scheme if group is None else row.values[group],
        "x": row.scheme if over is None else _number(row.values[over]),
        "value": row.value,
        "low": row.low,
        "high": row.high,
    }


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _altair(points: list[dict[str, Any]], title: str, x: str, by: str, heading: str) -> Chart:
    try:
        import altair  # noqa: PLC0415
    except ImportError as error:
        raise wrong("a chart needs altair", "pip install 'tailcut[plot]', or backend=\"matplotlib\"") from error
    numeric = all(isinstance(point["x"], float) for point in points)
    axis = altair.X("x", type="quantitative" if numeric else "nominal", title=x, sort=None)
    base = altair.Chart(altair.Data(values=points), title=heading).encode(
        x=axis, color=altair.Color("by:N", title=by, sort=None)
    )
    lines = base.mark_line(point=True).encode(y=altair.Y("value:Q", title=title))
    intervals = base.mark_rule().encode(y=altair.Y("low:Q", title=title), y2="high:Q")
    return intervals.transform_filter("datum.low != null") + lines


def _matplotlib(points: list[dict[str, Any]], title: str, x: str, by: str, heading: str) -> Chart:
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError as error:
        raise wrong("a chart needs matplotlib", "pip install matplotlib") from error
    figure = Figure(layout="constrained")
    axes = figure.add_subplot()
    for name in dict.fromkeys(point["by"] for point in points):
        own = [point for point in points if point["by"] == name]
        below = [point["value"] - (point["value"] if point["low"] is None else point["low"]) for point in own]
        above = [(point["value"] if point["high"] is None else point["high"]) - point["value"] for point in own]
        axes.errorbar(
            [point["x"] for point in own], [point["value"] for point in own], [below, above], label=name, marker="o", capsize=3
        )
    axes.set_xlabel(x)
    axes.set_ylabel(title)
    axes.set_title(heading)
    axes.legend(title=by)
    return figure
