"""The Python package: what it builds, runs and reads is what the command does."""

from __future__ import annotations

import doctest
import os
import resource
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from command import PROGRAM, SMALL, Folder

tailcut = pytest.importorskip("tailcut", reason="the native module is not built: run the tests by `cargo xtask test`")

PACKAGE = Path(__file__).parents[1]
STAR = """
schemes = ["dctcp", "pias"]
[topology.star]
hosts = 8
host_link = { rate = "10Gbps", delay = "1us" }
[workload]
load = 0.5
flows = 200
[workload.traffic.all-sizes]
share = 1.0
sizes.distribution = "websearch"
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tailcut.Run:
    """The small scenario, run by the package."""
    out = tmp_path_factory.mktemp("package") / "run"
    return tailcut.Scenario.from_toml(SMALL, name="small").run(out=out, progress=False)


def test_a_run_of_the_package_is_that_of_the_command(run: tailcut.Run, small: Folder) -> None:
    package = Folder(run.folder)
    assert package.digests() == small.digests()
    assert package.summary() == small.summary()
    rows = {(p["scheme"], *p["values"], p["seed"]): key for key, p in small.points().items()}
    for point in run.points:
        theirs = small.path / "points" / rows[point.scheme, *point.values.values(), point.seed] / "flows.parquet"
        assert (run.folder / "points" / point.key / "flows.parquet").read_bytes() == theirs.read_bytes()


def test_the_same_run_goes_on_where_it_was(run: tailcut.Run) -> None:
    seen = []
    again = tailcut.Scenario.from_toml(SMALL, name="small").run(out=run.folder, progress=seen.append)
    assert again == run
    assert seen == [], "nothing is simulated"


def test_a_scenario_never_changes() -> None:
    base = tailcut.Scenario.from_toml(STAR)
    text = str(base)
    changed = base.set("port.limit", "64KB").sweep("workload.load", [0.3, 0.6]).schemes("tcp").seeds([1, 7])
    assert str(base) == text
    check = changed.check()
    assert (check.schemes, check.axes, check.seeds, check.points) == (
        ("tcp",),
        {"workload.load": ("0.3", "0.6")},
        (1, 7),
        4,
    )
    # What it prints is the same scenario.
    assert tailcut.Scenario.from_toml(str(changed)).effective() == changed.effective()
    assert tailcut.Scenario.from_dict(tomllib.loads(str(changed))).effective() == changed.effective()


def test_a_sweep_is_forecast_for_any_number_of_workers() -> None:
    scenario = tailcut.Scenario.from_toml(STAR).sweep("workload.flows", [100, 200, 300])
    costs = sorted((point.cpu_s for point in scenario.points()), reverse=True)
    assert len(costs) == 6 and costs[0] > costs[-1] > 0
    assert scenario.forecast_s(1) == pytest.approx(sum(costs)) == pytest.approx(scenario.check().cpu_s)
    assert scenario.forecast_s(6) == scenario.forecast_s(9) == costs[0]
    assert scenario.forecast_s(2) >= max(costs[0], sum(costs) / 2)
    assert scenario.forecast_s(2, overhead_s=1.0) == pytest.approx(scenario.forecast_s(2) + 3)
    with pytest.raises(tailcut.Error, match="workers is 0"):
        scenario.forecast_s(0)


def test_keys_with_a_model_and_its_parameters_go_over_each_other() -> None:
    scenario = tailcut.Scenario.from_toml(STAR).set("scheme.dctcp.host.congestion", "swift")
    tuned = scenario.set("scheme.dctcp.host.congestion.swift.base_target", "7us").set("port.limit", "96KB")
    assert 'base_target = "7us"' in tuned.effective() and "96KB" in tuned.effective()
    other = tuned.set("scheme.dctcp.host.congestion", "dctcp")
    assert "base_target" not in other.effective()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: tailcut.Scenario.from_toml(STAR).set("workload.lod", 0.5).check(), ["^^^", "did you mean `load`"]),
        (lambda: tailcut.Scenario.from_toml(STAR).set("port.limit", 5).check(), ["Scenario.set('port.limit')", "^"]),
        (lambda: tailcut.Scenario.from_toml("a = = 1").check(), ["scenario.toml:1"]),
        (lambda: tailcut.Scenario.from_toml(STAR).set("workload.load", object()), ["no value of a scenario"]),
        (lambda: tailcut.Scenario.from_toml(STAR).set("workload.load", float("nan")), ["no value of a scenario"]),
        (lambda: tailcut.Scenario.from_file("nowhere.toml"), ["cannot read the scenario nowhere.toml", "help"]),
        (lambda: tailcut.Scenario.from_toml(STAR).schemes("dtcp").check(), ["dtcp", "help"]),
        (lambda: tailcut.Scenario.from_toml(STAR).run(until="5"), ["5"]),
        (lambda: tailcut.Scenario.from_toml(STAR).run(on="nothing"), ["no engine `nothing`"]),
        (lambda: tailcut.Scenario.from_toml(STAR).run(on=5), ["5 is no engine", "dask"]),
        (lambda: tailcut.Scenario.from_toml(STAR).run(jobs="2"), ["jobs is '2'", "from 1 on"]),
        (lambda: tailcut.Scenario.from_toml(STAR).run(jobs=0), ["jobs is 0"]),
        (lambda: tailcut.Scenario.from_toml(STAR).run(threads=-1), ["threads is -1"]),
        (lambda: tailcut.Scenario.from_toml(STAR).run(until=5), ["until is 5", "ci=5%"]),
        (lambda: tailcut.Scenario.from_toml(STAR).run(out=5), ["5 is no path"]),
        (lambda: tailcut.Scenario.from_toml(STAR).sweep("workload.load", 0.5), ["is swept over 0.5", "a list"]),
        (lambda: tailcut.Scenario.from_toml(STAR).sweep("port.limit", "5KB"), ["is swept over '5KB'"]),
        (lambda: tailcut.Scenario.from_toml(STAR).set(5, 5), ["the key is 5"]),
        (lambda: tailcut.Scenario.from_toml(STAR).set("port.limit = 1\nseeds", 5), ["is not a path of keys"]),
        (lambda: tailcut.Scenario.from_toml(STAR).set("settings.a.\"b.c.port.limit", 5), ["a quotation mark is not closed"]),
        (lambda: tailcut.Scenario.from_toml(STAR).seeds("many").check(), ["Scenario.seeds", "^"]),
        (lambda: tailcut.Scenario.from_toml(STAR).schemes(5).check(), ["Scenario.schemes", "^"]),
        (lambda: tailcut.Scenario.from_toml(STAR).network("leaf").check(), ["a str is no network"]),
        (lambda: tailcut.Scenario.from_toml(STAR).flows("own", 5).check(), ["no column src"]),
        (lambda: tailcut.Scenario.from_toml(5), ["the scenario is 5", "from_file"]),
        (lambda: tailcut.Scenario.from_dict([5]), ["a list is no scenario"]),
        (lambda: tailcut.Scenario.from_file(5), ["5 is no path"]),
        (lambda: tailcut.load(5), ["5 is no path"]),
        (lambda: tailcut.load("nowhere"), ["nowhere is no run folder", "tailcut run"]),
    ],
)
def test_what_is_wrong_is_one_class_with_the_message_of_the_command(make, says: list[str]) -> None:
    with pytest.raises(tailcut.Error) as caught:
        make()
    text = str(caught.value)
    assert text.startswith("error: ") and all(part in text for part in says), text


def test_what_a_run_does_not_have_is_refused(run: tailcut.Run) -> None:
    for ask in [
        lambda: run.flows(scheme="nothing"),
        lambda: run.flows(load=0.5),
        lambda: run.flows(nothing=1),
        lambda: run.flows(seed=9),
        lambda: run.table("nothing"),
        lambda: run.value("nothing", scheme="dctcp", load=0.4),
        lambda: run.value("fct_p99", scheme="dctcp"),
        lambda: run.compare("dctcp", "nothing"),
        lambda: run.compare("dctcp", "slytherin", metric="nothing"),
        lambda: run.plot("fct_mean", by="nothing"),
        lambda: run.plot("fct_mean", backend="nothing"),
    ]:
        with pytest.raises(tailcut.Error):
            ask()


def test_rows_are_those_of_the_files(run: tailcut.Run) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet  # noqa: PLC0415

    for name in ["flows", "queries", "queues", "ports", "throughput"]:
        table = pyarrow.table(run.table(name, scheme="dctcp", load=0.8))
        files = [
            pyarrow.parquet.read_table(run.folder / "points" / point.key / f"{name}.parquet")
            for point in run.points
            if point.scheme == "dctcp" and point.values["workload.load"] == "0.8"
        ]
        theirs = pyarrow.concat_tables(files)
        assert table.num_rows == theirs.num_rows > 0
        assert table.column_names == ["scheme", "workload.load", "seed", *theirs.column_names]
        for column in theirs.column_names:
            assert table[column].to_pylist() == theirs[column].to_pylist(), (name, column)
        assert table["workload.load"].to_pylist() == [0.8] * table.num_rows
        assert set(table["seed"].to_pylist()) == {1, 2}
        field = table.schema.field("size_bytes" if name == "flows" else theirs.column_names[0])
        assert field.metadata and b"meaning" in field.metadata


def test_a_table_says_what_it_has(run: tailcut.Run) -> None:
    flows = run.flows(scheme="dctcp", load=0.4)
    said = repr(flows)
    assert said.startswith(f"<Table of {len(flows)} rows: scheme, workload.load, seed, ")
    assert f"fct_ns ({dict(flows.units)['fct_ns']})" in said and len(flows) > 0


def test_numbers_move_without_a_copy(run: tailcut.Run) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = run.flows(scheme="dctcp", load=0.4, seed=1)
    first, second = (pyarrow.table(table)["size_bytes"].chunk(0).buffers()[1].address for _ in range(2))
    assert first == second, "two readers see the same memory"


def test_any_data_frame_takes_the_tables(run: tailcut.Run) -> None:
    polars = pytest.importorskip("polars")
    pandas = pytest.importorskip("pandas")
    flows = run.flows(scheme="dctcp", load=0.4)
    by_polars = polars.DataFrame(flows)
    by_pandas = pandas.DataFrame.from_arrow(flows)
    assert by_polars["size_bytes"].sum() == by_pandas["size_bytes"].sum() > 0
    assert by_polars.height == len(by_pandas) == len(flows)
    summary = polars.DataFrame(run.summary).filter(
        (polars.col("metric") == "fct_mean") & (polars.col("class") == "all") & (polars.col("scheme") == "dctcp")
    )
    mean = run.value("fct_mean", scheme="dctcp", load=0.4).value
    assert summary.filter(polars.col("workload.load") == 0.4)["value"].to_list() == [mean]
    duckdb = pytest.importorskip("duckdb")
    # DuckDB finds the table by the name of the variable.
    asked = duckdb.sql("select scheme, sum(size_bytes) from flows group by scheme").fetchall()
    assert asked == [("dctcp", by_pandas["size_bytes"].sum())]


def test_statistics_are_those_of_the_summary(run: tailcut.Run, small: Folder) -> None:
    theirs = {
        (row["scheme"], row["workload.load"], row["class"], row["metric"]): (row["value"], row["unit"])
        for row in small.rows()
    }
    ours = run.estimates()
    assert len(ours) == len(theirs)
    for row in ours:
        value, unit = theirs[row.scheme, row.values["workload.load"], row.class_, row.metric]
        assert unit == row.unit
        assert (value == "") == (row.value is None)
        assert row.value is None or float(value) == pytest.approx(row.value, rel=1e-11)


def test_a_comparison_is_that_of_the_command(run: tailcut.Run) -> None:
    found = run.compare("dctcp", "slytherin", metric="fct_mean", class_="long")
    assert [row.values for row in found.rows] == [{"workload.load": "0.4"}, {"workload.load": "0.8"}]
    for row in found.rows:
        a = run.value("fct_mean", scheme="dctcp", class_="long", at=row.values).value
        b = run.value("fct_mean", scheme="slytherin", class_="long", at=row.values).value
        assert row.ratio == pytest.approx(b / a) and row.method == "paired"
    assert "B/A" in str(found)


def test_a_run_that_goes_on_can_be_opened_and_interrupted(tmp_path: Path) -> None:
    scenario = tailcut.Scenario.from_toml(SMALL, name="small").seeds(6)
    seen: list[int] = []

    def look(progress: tailcut.Progress) -> None:
        if progress.done >= 2:
            run = tailcut.load(tmp_path / "run")
            seen.append(len(run.finished))
            assert run.flows(seed=int(next(iter(run.finished)).split("-s")[-1].split("-")[0])).columns
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scenario.run(out=tmp_path / "run", progress=look, jobs=1)
    assert 2 <= seen[0] < 24 and not tailcut.load(tmp_path / "run").is_complete
    gone_on = scenario.run(out=tmp_path / "run", progress=False)
    assert gone_on.is_complete
    fresh = scenario.run(out=tmp_path / "fresh", progress=False)
    assert Folder(gone_on.folder).summary() == Folder(fresh.folder).summary()


def test_a_network_from_networkx_is_the_network(tmp_path: Path) -> None:
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    for leaf in range(2):
        graph.add_node(f"leaf{leaf}", kind="switch")
        for host in range(3):
            graph.add_edge(f"h{leaf}{host}", f"leaf{leaf}", rate=10e9, delay="1us")
        for spine in range(2):
            graph.add_edge(f"leaf{leaf}", f"spine{spine}", rate="10Gbps", delay=1e-6)
    text = STAR.replace("[topology.star]\nhosts = 8\nhost_link = { rate = \"10Gbps\", delay = \"1us\" }\n", "")
    scenario = tailcut.Scenario.from_toml(text)
    check = scenario.network(graph).check()
    assert check.hosts == 6
    run = scenario.network(graph).run(out=tmp_path / "run", progress=False)
    assert run.is_complete
    graph.edges["h00", "leaf0"].pop("rate")
    with pytest.raises(tailcut.Error, match="has no rate"):
        scenario.network(graph)


def test_flows_from_a_table_are_the_flows(tmp_path: Path) -> None:
    columns = {"src": [0, 1, 2], "dst": [3, 3, 4], "size_bytes": [10_000, 20_000, 1_000_000], "start_ns": [0.0, 1.5, 2e3]}
    tables = [columns]
    try:
        import numpy  # noqa: PLC0415

        kinds = [("src", "i8"), ("dst", "i8"), ("size_bytes", "i8"), ("start_ns", "f8")]
        tables.append(numpy.array(list(zip(*columns.values(), strict=True)), dtype=kinds))
    except ImportError:
        pass
    for name in ["polars", "pandas"]:
        try:
            tables.append(__import__(name).DataFrame(columns))
        except ImportError:
            continue
    text = STAR[: STAR.index("[workload]")]
    digests = set()
    for at, table in enumerate(tables):
        scenario = tailcut.Scenario.from_toml(text).flows("own", table)
        run = scenario.run(out=tmp_path / str(at), progress=False)
        digests.add(tuple(sorted(Folder(run.folder).digests().values())))
        pyarrow = pytest.importorskip("pyarrow")
        flows = pyarrow.table(run.flows(scheme="dctcp")).to_pydict()
        assert {name: flows[name] for name in columns} == columns
    assert len(digests) == 1
    for broken in [{"src": [0]}, {**columns, "src": [0.5, 1, 2]}, {**columns, "dst": [1]}, [[1, 2, 3]]]:
        with pytest.raises(tailcut.Error):
            tailcut.Scenario.from_toml(text).flows("own", broken)


@pytest.mark.parametrize("backend", ["altair", "matplotlib"])
def test_a_chart_has_every_value(run: tailcut.Run, backend: str) -> None:
    pytest.importorskip(backend)
    chart = run.plot("fct_mean", class_="long", backend=backend)
    expected = sorted(row.value for row in run.estimates("fct_mean", class_="long"))
    if backend == "altair":
        drawn = sorted(point["value"] for point in chart.to_dict()["data"]["values"])
    else:
        drawn = sorted(y for line in chart.axes[0].containers for y in line.lines[0].get_ydata())
    assert drawn == expected


def test_it_starts_fast_and_without_the_extras() -> None:
    best = 9.0
    code = "import sys, tailcut; print(sorted({'polars', 'pandas', 'pyarrow', 'numpy', 'ray', 'distributed'} & set(sys.modules)))"
    for _ in range(5):
        # CPU time: how long it takes where nothing else runs, as tests do beside this one.
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        assert done.stdout.strip() == "[]"
    assert best < 0.3


def test_the_command_of_the_package_is_the_command(tmp_path: Path) -> None:
    (tmp_path / "star.toml").write_text(STAR, encoding="utf-8")

    def command(*arguments: str) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-m", "tailcut", *arguments]
        return subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)

    done = command("run", "star.toml", "--quiet", "--out", "run")
    assert (done.returncode, done.stdout) == (0, "")
    # One program: what the command has run the package takes over.
    seen = []
    tailcut.Scenario.from_file(tmp_path / "star.toml").run(out=tmp_path / "run", progress=seen.append)
    assert seen == []
    assert command("run", "star.toml", "--set", "workload.lod=1").returncode == 2
    assert command("--help").returncode == 0
    assert command("nothing").returncode == 2


def test_keys_are_those_of_the_schema() -> None:
    script = PACKAGE / "scripts" / "keys.py"
    command = [sys.executable, str(script), "--check"]
    environment = {**os.environ, "TAILCUT": str(PROGRAM)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_examples_in_the_documentation_hold(tmp_path: Path, small: Folder) -> None:
    from tailcut import _error, _run, _scenario, _toml  # noqa: PLC0415

    tried = 0
    for module in [tailcut, _error, _run, _scenario, _toml]:
        globs = {**vars(module), "folder": tmp_path / module.__name__, "small": small.path}
        # Examples stand where they are, not in the staged copy of what re-exports them.
        found = doctest.testmod(module, extraglobs=globs, optionflags=doctest.NORMALIZE_WHITESPACE)
        assert found.failed == 0, module.__name__
        tried += found.attempted
    assert tried >= 12


def test_types_are_whole() -> None:
    pytest.importorskip("mypy")
    staged = Path(tailcut.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", str(PACKAGE / "pyproject.toml"), "--cache-dir", os.devnull,
         str(PACKAGE / "tailcut")],
        cwd=staged,
        env={**os.environ, "PYTHONPATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
