"""Run folders: what has been simulated, and what came of it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tailcut import _native
from tailcut._error import path_of, wrong
from tailcut._native import Table

if TYPE_CHECKING:
    from tailcut.plot import Chart


@dataclass(frozen=True)
class Point:
    """One simulation of a run."""

    #: The name of its folder in `points/`.
    key: str
    scheme: str
    #: The values of the swept parameters, as the scenario writes them.
    values: Mapping[str, str]
    seed: int


@dataclass(frozen=True)
class Failure:
    """A simulation that has failed."""

    key: str
    scheme: str
    seed: int
    reason: str
    #: Whether it stalled, which is a matter of its scenario.
    stalled: bool
    #: The command that runs it alone.
    command: str


@dataclass(frozen=True)
class Estimate:
    """A statistic with its 95 % interval."""

    scheme: str
    #: The values of the swept parameters, as the scenario writes them.
    values: Mapping[str, str]
    #: The traffic class, or a set of them.
    class_: str
    metric: str
    #: `None` if there are no samples.
    value: float | None
    #: The lower end of the interval; `None` if there is none, and `note` says why.
    low: float | None
    high: float | None
    #: Samples.
    n: int
    unit: str
    note: str | None


@dataclass(frozen=True)
class ComparedRow:
    """A metric at a swept point on both sides."""

    scheme_a: str
    scheme_b: str
    values: Mapping[str, str]
    class_: str
    metric: str
    unit: str
    a: float
    b: float
    #: B over A; `None` where A is zero.
    ratio: float | None
    #: The lower end of the 95 % interval of the ratio.
    low: float | None
    high: float | None
    #: How B lies: "lower", "higher", "no difference", or "unknown" where there is no interval.
    verdict: str
    #: Whether the ratio was formed seed by seed ("paired") or not ("unpaired").
    method: str
    note: str | None
    #: Seeds of A that count.
    seeds_a: int
    seeds_b: int


@dataclass(frozen=True)
class Comparison:
    """Two sides, compared; as text it is the table of `tailcut compare`."""

    rows: tuple[ComparedRow, ...]
    warnings: tuple[str, ...]
    _table: str = field(repr=False)

    def __str__(self) -> str:
        return self._table


#: Keys of finished points, each with the size and the time of its summary.
_Stamp = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class Run:
    """A run folder. It may still be written: what is read is what is finished at that moment.

    >>> import tailcut
    >>> run = tailcut.load(small)
    >>> run.is_complete, run.title
    (True, 'Two schemes on a small network')
    >>> run.flows(scheme="dctcp", load=0.4, seed=1).columns[:3]
    ['scheme', 'workload.load', 'seed']
    """

    folder: Path
    name: str
    title: str
    #: The schemes in the order in which they are shown, the first of them the baseline.
    schemes: tuple[str, ...]
    #: The swept parameters with their values, as the scenario writes them.
    axes: Mapping[str, tuple[str, ...]]
    seeds: tuple[int, ...]
    #: The traffic classes.
    classes: tuple[str, ...]
    #: Every simulation of the run, finished or not.
    points: tuple[Point, ...]
    #: What failed when the run was made by this process.
    failures: tuple[Failure, ...] = ()
    #: What to know before believing the results, when the run was made by this process.
    warnings: tuple[str, ...] = ()
    _statistics: dict[_Stamp, tuple[Table, tuple[Estimate, ...]]] = field(
        default_factory=dict, repr=False, compare=False
    )

    # What is there.

    @property
    def finished(self) -> Mapping[str, Mapping[str, Any]]:
        """The `summary.json` of each point that is finished, by its key."""
        found: dict[str, dict[str, Any]] = json.loads(_native.finished(self.folder))
        return found

    @property
    def is_complete(self) -> bool:
        """Whether every point is finished."""
        return len(self.finished) == len(self.points)

    @property
    def page(self) -> Path:
        """The page with tables and plots."""
        return self.folder / "report.html"

    @property
    def scenario(self) -> str:
        """The scenario with everything spelled out, as TOML."""
        text: str = json.loads(_native.info(self.folder))["scenario_toml"]
        return text

    def gather(self) -> tuple[tuple[str, str], ...]:
        """Writes statistics, plots and the page of what is finished; the points that are missing, with the reasons.

        Raises:
            Error: If a file cannot be written.
        """
        return tuple((key, reason) for key, reason in json.loads(_native.gather(self.folder))["missing"])

    # Statistics.

    @property
    def summary(self) -> Table:
        """Every statistic of what is finished: the columns of `summary.csv`.

        Raises:
            Error: If the points cannot be read.
        """
        return self._statistics_now()[0]

    def estimates(
        self,
        metric: str | None = None,
        *,
        scheme: str | None = None,
        class_: str | None = None,
        at: Mapping[str, object] | None = None,
        **swept: object,
    ) -> tuple[Estimate, ...]:
        """The statistics of what is finished, or those of a metric, a scheme, a class and swept values. A swept
        parameter is named by its last word, `load=0.4`, or by its path in `at`.

        Raises:
            Error: If there is no such metric, scheme, class or value.
        """
        rows = self._statistics_now()[1]
        wanted = self._values(at, swept)
        if scheme is not None:
            scheme = self._scheme(scheme)
        for name, given, known in [
            ("metric", metric, {row.metric for row in rows}),
            ("class", class_, {row.class_ for row in rows}),
        ]:
            if given is not None and rows and given not in known:
                raise wrong(f"the run has no {name} `{given}`", f"expected one of {', '.join(sorted(known))}")
        return tuple(
            row
            for row in rows
            if (metric is None or row.metric == metric)
            and (scheme is None or row.scheme == scheme)
            and (class_ is None or row.class_ == class_)
            and all(row.values[path] == text for path, text in wanted.items())
        )

    def value(
        self,
        metric: str,
        *,
        scheme: str | None = None,
        class_: str = "all",
        at: Mapping[str, object] | None = None,
        **swept: object,
    ) -> Estimate:
        """The one statistic that these words name, as in `run.value("fct_p99", scheme="pias", load=0.4)`.

        Raises:
            Error: If there is none, or more than one.
        """
        found = self.estimates(metric, scheme=scheme, class_=class_, at=at, **swept)
        if len(found) == 1:
            return found[0]
        if not found:
            raise wrong(f"nothing that is finished has {metric} of {class_} there")
        several = "scheme" if len({row.scheme for row in found}) > 1 else " and ".join(self.axes)
        raise wrong(f"{len(found)} statistics are {metric} of {class_}", f"say which {several}")

    def compare(
        self,
        a: str | None = None,
        b: str | None = None,
        *,
        other: Run | None = None,
        metric: str | Sequence[str] = (),
        class_: str | Sequence[str] = (),
    ) -> Comparison:
        """Ratios of `b` to `a` with 95 % intervals, seed by seed where both have the same flows: two schemes of this
        run, or with `other` a scheme of this run and one of the other, or all schemes that both have.

        Raises:
            Error: If there is no such scheme, metric or class, or nothing in common.
        """
        right = self.folder if other is None else other.folder
        found, table = _native.compare((self.folder, a), (right, b), _names(metric), _names(class_))
        compared = json.loads(found)
        axes = compared["axes"]
        rows = tuple(
            ComparedRow(
                scheme_a=row["scheme_a"],
                scheme_b=row["scheme_b"],
                values=dict(zip(axes, row["values"], strict=True)),
                class_=row["class"],
                metric=row["metric"],
                unit=row["unit"],
                a=row["a"],
                b=row["b"],
                ratio=row["ratio"],
                low=row["low"],
                high=row["high"],
                verdict=row["verdict"],
                method=row["method"],
                note=row["note"],
                seeds_a=row["seeds_a"],
                seeds_b=row["seeds_b"],
            )
            for row in compared["rows"]
        )
        return Comparison(rows, tuple(compared["warnings"]), table)

    def plot(
        self,
        metric: str,
        *,
        by: str = "scheme",
        x: str | None = None,
        class_: str = "all",
        backend: str = "altair",
        **swept: object,
    ) -> Chart:
        """A chart of a metric with its intervals: a line for each value of `by`, over the swept parameter `x`, which is
        the first that is swept if it is not given; other swept parameters are named as in `estimates`.

        Raises:
            Error: If the library is not installed, or there is nothing to draw.
        """
        from tailcut import plot  # noqa: PLC0415

        return plot.chart(self, metric, by=by, x=x, class_=class_, backend=backend, swept=swept)

    # Rows.

    def flows(self, **where: Any) -> Table:
        """A row for each flow: `run.flows(scheme="dctcp", load=0.4, seed=1)`. Times are in ns, sizes in bytes.

        Raises:
            Error: If there is no such point, or a file cannot be read.
        """
        return self.table("flows", **where)

    def queries(self, **where: Any) -> Table:
        """A row for each query of an incast.

        Raises:
            Error: If there is no such point, it has no queries, or a file cannot be read.
        """
        return self.table("queries", **where)

    def queues(self, **where: Any) -> Table:
        """How long the queues of each point were how often.

        Raises:
            Error: If there is no such point, or a file cannot be read.
        """
        return self.table("queues", **where)

    def ports(self, **where: Any) -> Table:
        """A row for each port.

        Raises:
            Error: If there is no such point, or a file cannot be read.
        """
        return self.table("ports", **where)

    def table(
        self,
        table: str,
        *,
        scheme: str | None = None,
        seed: int | None = None,
        at: Mapping[str, object] | None = None,
        **swept: object,
    ) -> Table:
        """The rows of a file `TABLE.parquet` of all points that are finished, or of those of a scheme, swept values and
        a seed. `scheme`, the swept parameters and `seed` stand in front as columns.

        Raises:
            Error: If there is no such point or table, or a file cannot be read.
        """
        wanted = self._values(at, swept)
        if scheme is not None:
            scheme = self._scheme(scheme)
        if seed is not None and seed not in self.seeds:
            raise wrong(f"the run has no seed {seed}", f"expected one of {', '.join(map(str, self.seeds))}")
        finished = self.finished
        chosen = [
            point
            for point in self.points
            if point.key in finished
            and (scheme is None or point.scheme == scheme)
            and (seed is None or point.seed == seed)
            and all(point.values[path] == text for path, text in wanted.items())
        ]
        if not chosen:
            raise wrong("no such point is finished")
        name = f"{table}.parquet"
        parts = [
            (self.folder / "points" / point.key / name, point.scheme, list(point.values.values()), point.seed)
            for point in chosen
            if name in finished[point.key]["files"]
        ]
        if not parts:
            here = sorted(file.removesuffix(".parquet") for file in finished[chosen[0].key]["files"])
            raise wrong(f"these points have no table `{table}`", f"expected one of {', '.join(here)}")
        return _native.read([(path, list(values)) for path, values in self.axes.items()], parts)

    # How it is found.

    def _stamp(self) -> _Stamp:
        """A value that changes when a point is finished or run again."""
        stamp = []
        for point in self.points:
            try:
                there = (self.folder / "points" / point.key / "summary.json").stat()
            except OSError:
                continue
            stamp.append((point.key, there.st_size, there.st_mtime_ns))
        return tuple(stamp)

    def _statistics_now(self) -> tuple[Table, tuple[Estimate, ...]]:
        stamp = self._stamp()
        if stamp not in self._statistics:
            table, rows = _native.summary(self.folder)
            estimates = tuple(
                Estimate(scheme, dict(zip(self.axes, values, strict=True)), *rest)
                for scheme, values, *rest in json.loads(rows)
            )
            self._statistics.clear()
            self._statistics[stamp] = (table, estimates)
        return self._statistics[stamp]

    def _scheme(self, name: str) -> str:
        """The scheme of this name; a preset that the run has changed is called `NAME*`."""
        for known in (name, f"{name}*"):
            if known in self.schemes:
                return known
        raise wrong(f"the run has no scheme `{name}`", f"expected one of {', '.join(self.schemes)}")

    def _values(self, at: Mapping[str, object] | None, swept: Mapping[str, object]) -> dict[str, str]:
        """The texts of the swept values that these words name, by their paths."""
        found: dict[str, str] = {}
        for name, given in [*(at or {}).items(), *swept.items()]:
            paths = [path for path in self.axes if path == name or path.rsplit(".", 1)[-1] == name]
            if len(paths) != 1:
                raise wrong(
                    f"the run has {'no' if not paths else 'more than one'} swept parameter `{name}`",
                    f"expected one of {', '.join(self.axes) or 'none: nothing is swept'}; those with dots stand in `at`",
                )
            texts = [text for text in self.axes[paths[0]] if text == str(given) or _same_number(text, given)]
            if not texts:
                raise wrong(
                    f"`{paths[0]}` was not swept over {given!r}", f"expected one of {', '.join(self.axes[paths[0]])}"
                )
            found[paths[0]] = texts[0]
        return found


def _names(given: str | Sequence[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _same_number(text: str, given: object) -> bool:
    try:
        return isinstance(given, (int, float)) and float(text) == float(given)
    except ValueError:
        return False


def load(folder: str | os.PathLike[str]) -> Run:
    """Opens a run folder, also one in which a run goes on.

    Raises:
        Error: If it is none.
    """
    folder = path_of(folder, "the path of a run folder")
    info = json.loads(_native.info(folder))
    axes = {axis["path"]: tuple(axis["values"]) for axis in info["axes"]}
    points = tuple(
        Point(point["key"], point["scheme"], dict(zip(axes, point["values"], strict=True)), point["seed"])
        for point in info["points"]
    )
    return Run(
        folder=Path(folder),
        name=info["name"],
        title=info["title"],
        schemes=tuple(info["schemes"]),
        axes=axes,
        seeds=tuple(info["seeds"]),
        classes=tuple(info["classes"]),
        points=points,
    )


def of_report(report: Mapping[str, Any]) -> Run:
    """The run that this process has made."""
    run = load(report["folder"])
    return Run(
        **{
            **{name: getattr(run, name) for name in run.__dataclass_fields__ if not name.startswith("_")},
            "failures": tuple(Failure(**failure) for failure in report["failures"]),
            "warnings": tuple(report["warnings"]),
        }
    )
