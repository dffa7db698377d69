"""The other commands: what they print, and that it is true."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import jsonschema
import pytest

from command import PROGRAM, SMALL, run, succeeded

REPOSITORY = Path(__file__).parents[2]
SCHEMES = sorted(file.stem for file in (REPOSITORY / "schemes").glob("*.toml"))
SCENARIOS = sorted(file.name for file in (REPOSITORY / "scenarios").glob("*.toml"))


def test_help_and_version(tmp_path: Path) -> None:
    shown = succeeded(run("--help", cwd=tmp_path)).stdout
    assert all(command in shown for command in ("run", "check", "list", "show"))
    assert re.fullmatch(r"tailcut \d+\.\d+\.\d+\S*\n", succeeded(run("--version", cwd=tmp_path)).stdout)
    assert run(cwd=tmp_path).returncode == 2, "no command is no success"


def test_every_scheme_is_listed_and_shown(tmp_path: Path) -> None:
    listed = succeeded(run("list", "schemes", cwd=tmp_path)).stdout
    assert SCHEMES
    for scheme in SCHEMES:
        assert re.search(rf"^ *{scheme}\b", listed, re.MULTILINE), listed
        shown = succeeded(run("show", "scheme", scheme, cwd=tmp_path)).stdout
        text = (REPOSITORY / "schemes" / f"{scheme}.toml").read_text(encoding="utf-8")
        for key in ("title", "paper"):
            described = re.search(rf'^{key} = "(.*)"$', text, re.MULTILINE)
            assert described and "".join(described[1].split()) in "".join(shown.split()), (scheme, key)
        assert "host.congestion" in shown and "port.marker" in shown


def test_every_list_has_something(tmp_path: Path) -> None:
    everything = succeeded(run("list", cwd=tmp_path)).stdout
    for kind in ("schemes", "topologies", "workloads", "loss", "markers", "buffers", "paths", "host-delays", "studies"):
        shown = succeeded(run("list", kind, cwd=tmp_path)).stdout
        assert len(shown.splitlines()) >= 2 and shown.strip() in everything, kind


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("list", "scheems"), "schemes"),
        (("show", "scheme", "slyterin"), "slytherin"),
        (("show", "topology", "leafspine"), "leaf-spine"),
        (("show", "workload", "websaerch"), "websearch"),
        (("show", "marker", "stpe"), "step"),
        (("show", "loss", "randon"), "random"),
        (("show", "los", "random"), "loss"),
        (("show", "scheem", "dctcp"), "scheme"),
        (("show", "table", "workload.trafic.NAME"), "workload.traffic.NAME"),
        (("list", "metric"), "metrics"),
        (("show", "study", "spq-ls14"), "spq-ls144"),
        (("reproduce", "slytherin-fg10"), "slytherin-fig10"),
    ],
)
def test_a_slip_of_the_pen_is_understood(tmp_path: Path, arguments: tuple[str, ...], meant: str) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2 and done.stderr.startswith("error: ")
    assert f"did you mean `{meant}`?" in done.stderr, done.stderr
    assert len(done.stderr) < 1000, "nobody reads a hundred names"


def test_every_experiment_is_listed_with_its_title(tmp_path: Path) -> None:
    listed = objects(succeeded(run("list", "experiments", "--format", "json", cwd=tmp_path)).stdout)
    names = sorted(file.stem for file in (REPOSITORY / "experiments").glob("*.toml"))
    assert sorted(entry["name"] for entry in listed) == names
    studies = {file.stem for file in (REPOSITORY / "experiments" / "studies").glob("*.toml")}
    assert {entry["study"] for entry in listed} <= studies and all(entry["meaning"] for entry in listed)


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_shipped_scenario_can_be_checked(name: str) -> None:
    shown = succeeded(run("check", f"scenarios/{name}", cwd=REPOSITORY)).stdout
    assert re.search(r"points +\d+", shown) and re.search(r"flows +\d+", shown) and "packet-hops" in shown


def test_the_forecast_of_a_check_is_near_what_a_run_does(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    shown = succeeded(run("check", "small.toml", cwd=tmp_path)).stdout
    assert not (tmp_path / "runs").exists()
    flows = re.search(r"flows +(\d+) expected in all points", shown)
    hops = re.search(r"about (\d+) M packet-hops", shown)
    assert flows and hops, shown
    done = succeeded(run("run", "small.toml", cwd=tmp_path)).stdout
    assert (tmp_path / "runs" / "small" / "report.html").exists(), "runs/NAME is where it goes"
    real = re.search(r"([\d.]+) M packet-hops", done)
    assert real and 0.5 <= int(hops[1]) / float(real[1]) <= 2.0, (shown, done)
    assert 4700 <= int(flows[1]) <= 4900, "eight points of 600 flows"


def test_a_check_tells_of_queries(tmp_path: Path) -> None:
    drawn = SMALL.replace("degree = 8", "degree.uniform = { min = 6, max = 10 }")
    for text, hosts in ((SMALL, "8"), (drawn, "6 to 10")):
        (tmp_path / "small.toml").write_text(text, encoding="utf-8")
        shown = succeeded(run("check", "small.toml", cwd=tmp_path)).stdout
        told = re.search(r"incast +\d+ flows of \d+ B on average\n +answers to (\d+) queries per second, each of (.*) hosts\n", shown)
        assert told and told[2] == hosts, shown
        # The load of 0.8 of 80 Gb/s, of which 15 % are queries of eight times 20 KB on average.
        assert int(told[1]) == pytest.approx(0.8 * 0.15 * 80e9 / 8 / (8 * 20_000), rel=0.01)
    kinds = succeeded(run("show", "table", "workload.traffic.x.incast.degree", cwd=tmp_path)).stdout
    bounds = succeeded(run("show", "table", "workload.traffic.x.incast.degree.uniform", cwd=tmp_path)).stdout
    assert "uniform" in kinds and "Smallest degree" in bounds and "Largest degree" in bounds
    assert "queries.parquet" in succeeded(run("list", "columns", cwd=tmp_path)).stdout


def objects(text: str) -> list[dict]:
    """One JSON object a line."""
    return [json.loads(line) for line in text.splitlines()]


def test_lists_and_descriptions_are_the_same_as_json(tmp_path: Path) -> None:
    listed = objects(succeeded(run("list", "--format", "json", cwd=tmp_path)).stdout)
    shown = succeeded(run("list", cwd=tmp_path)).stdout
    assert {"schemes", "workloads", "metrics", "columns", "markers"} <= {entry["list"] for entry in listed}
    assert all(entry["name"] in shown and entry["meaning"] for entry in listed)
    assert sorted(entry["name"] for entry in listed if entry["list"] == "schemes") == SCHEMES

    scheme, *parameters = objects(succeeded(run("show", "scheme", "slytherin", "--format", "json", cwd=tmp_path)).stdout)
    assert scheme["kind"] == "scheme" and tomllib.loads(scheme["toml"])["title"] == scheme["title"]
    values = {parameter["path"]: parameter["value"] for parameter in parameters}
    assert values["port.classes"] == 2 and values["port.marker.step.threshold"] == "25%"

    keys = {key["key"]: key for key in objects(succeeded(run("show", "table", "workload", "--format", "json", cwd=tmp_path)).stdout)}
    assert keys["load_of"]["default"] == "host-links"
    assert {"host-links", "fabric"} <= {choice["name"] for choice in keys["load_of"]["choices"]}


def test_every_metric_of_a_run_is_listed_with_its_unit(small, tmp_path: Path) -> None:
    listed = {entry["name"]: entry for entry in objects(succeeded(run("list", "metrics", "--format", "json", cwd=tmp_path)).stdout)}
    assert listed["fct_p99"]["unit"] == "us" and listed["fct_p99"]["of"] == "finished flows"
    patterns = [re.compile(re.sub("<[a-z]+>", ".+", re.escape(name))) for name in listed]
    for row in small.rows():
        assert any(pattern.fullmatch(row["metric"]) for pattern in patterns), row
        if row["metric"] in listed:
            assert row["unit"] == listed[row["metric"]]["unit"], row


def test_a_table_says_what_each_choice_means(tmp_path: Path) -> None:
    shown = succeeded(run("show", "table", "workload.traffic.NAME", cwd=tmp_path)).stdout
    assert re.search(r"^  sizes = one of these +\S", shown, re.MULTILINE), shown
    assert re.search(r"^ +distribution +\w+ \w+", shown, re.MULTILINE), shown
    shown = succeeded(run("show", "table", "workload", cwd=tmp_path)).stdout
    assert re.search(r'^  load_of = "host-links" .*\n(?:   .*\n)*? {6}fabric +\w', shown, re.MULTILINE), shown
    assert "at = such as" in succeeded(run("show", "table", "failures.list", cwd=tmp_path)).stdout


def test_a_check_and_a_run_give_json_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    checked = objects(succeeded(run("check", "small.toml", "--format", "json", cwd=tmp_path)).stdout)
    assert [line["kind"] for line in checked].count("scenario") == 1
    scenario = checked[0]
    assert (scenario["points"], scenario["hosts"], scenario["seeds"]) == (8, 16, [1, 2])
    assert scenario["sweep"] == {"workload.load": ["0.4", "0.8"]}
    assert {line["name"] for line in checked if line["kind"] == "class"} == {"short", "long", "incast"}

    done = succeeded(run("run", "small.toml", "--format", "json", "--quiet", "--set", "workload.load=0.4", "--seed", "7", cwd=tmp_path))
    *rows, whole = objects(done.stdout)
    assert whole["kind"] == "run" and (whole["points"], whole["failed"], whole["reused"]) == (2, 0, 0)
    assert all(line.startswith("warning: ") for line in done.stderr.splitlines()), done.stderr
    written = (tmp_path / whole["summary"]).read_text(encoding="utf-8").splitlines()
    metrics = [row for row in rows if row["kind"] == "metric"]
    assert len(metrics) == len(written) - 1
    summary = json.loads(next((tmp_path / whole["folder"]).glob("points/*/summary.json")).read_text(encoding="utf-8"))
    assert summary["seed"] == 7


def test_quiet_is_quiet(tmp_path: Path) -> None:
    text = SMALL.replace("flows = 600", "flows = 60_000").replace("[0.4, 0.8]", "[0.4]")
    (tmp_path / "many.toml").write_text(text, encoding="utf-8")
    done = succeeded(run("check", "many.toml", "--quiet", cwd=tmp_path))
    assert (done.stdout, done.stderr) == ("", ""), "nothing is suspicious about it"
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    done = succeeded(run("check", "small.toml", "--quiet", cwd=tmp_path))
    assert done.stdout and all(line.startswith("warning: ") for line in done.stdout.splitlines())
    done = succeeded(run("run", "small.toml", "--quiet", cwd=tmp_path))
    assert done.stdout == "" and all(line.startswith("warning: ") for line in done.stderr.splitlines())
    assert (tmp_path / "runs" / "small" / "report.html").exists()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "elvish", "powershell"])
def test_shells_get_completions(tmp_path: Path, shell: str) -> None:
    script = succeeded(run("completions", shell, cwd=tmp_path)).stdout
    assert all(word in script for word in ("thresholds", "seeds", "quiet"))
    if shell == "bash" and shutil.which("bash"):
        ask = 'COMP_WORDS=(tailcut r); COMP_CWORD=1; _tailcut tailcut r tailcut; echo "${COMPREPLY[@]}"'
        done = subprocess.run(["bash", "-c", f"{script}\n{ask}"], capture_output=True, text=True, check=True)
        assert set(done.stdout.split()) == {"run", "report", "reproduce"}


def test_every_command_has_a_manual_page(tmp_path: Path) -> None:
    succeeded(run("man", "pages", cwd=tmp_path))
    commands = re.findall(r"^  ([a-z]+) ", succeeded(run("--help", cwd=tmp_path)).stdout.split("Options:")[0], re.MULTILINE)
    pages = {file.stem: file.read_text(encoding="utf-8") for file in (tmp_path / "pages").glob("*.1")}
    assert {"run", "check", "show"} <= set(commands)
    below = {"tailcut-advise-buffer"}
    assert set(pages) == {"tailcut"} | {f"tailcut-{command}" for command in commands if command != "help"} | below
    assert "130" in pages["tailcut"] and r"\-\-seeds" in pages["tailcut-run"]
    (tmp_path / "file").write_text("", encoding="utf-8")
    done = run("man", "file", cwd=tmp_path)
    assert done.returncode == 2 and "cannot write manual pages into file" in done.stderr


def test_the_help_says_what_exit_codes_mean(tmp_path: Path) -> None:
    shown = succeeded(run("--help", cwd=tmp_path)).stdout
    codes = dict(re.findall(r"^ +(\d+)  (.*)$", shown.split("Exit codes:")[1], re.MULTILINE))
    # Other tests end a run by 1, 3, 130 and 143.
    assert set(codes) == {"0", "1", "2", "3", "101", "130", "143"}
    assert run("check", "nothing.toml", cwd=tmp_path).returncode == 2


def schema(where: Path) -> jsonschema.Draft202012Validator:
    whole = json.loads(succeeded(run("schema", cwd=where)).stdout)
    jsonschema.Draft202012Validator.check_schema(whole)
    return jsonschema.Draft202012Validator(whole)


def test_every_shipped_scenario_is_valid_by_the_schema(small, tmp_path: Path) -> None:
    validator = schema(tmp_path)
    texts = {name: (REPOSITORY / "scenarios" / name).read_text(encoding="utf-8") for name in SCENARIOS}
    texts["SMALL"] = SMALL
    texts["everything spelled out"] = (small.path / "scenario.toml").read_text(encoding="utf-8")
    for page in [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs" / "guide" / "src").glob("*.md"))]:
        for at, block in enumerate(re.findall(r"^```toml\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)):
            texts[f"{page.name} {at}"] = block
    assert len(texts) > 15
    for name, text in texts.items():
        problems = [f"{'.'.join(map(str, e.absolute_path))}: {e.message}" for e in validator.iter_errors(tomllib.loads(text))]
        assert problems == [], (name, problems)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("leaves = 4", "leafs = 4"),
        ("title = ", "titel = "),
        ("[port]", "[prot]"),
        ("limit = ", "limt = "),
        ('"120KB"', "120_000"),
        ('"120KB"', '"120 parsecs"'),
        ('"10Gbps", delay', '"10GBps", delay'),
        ("marker.step.", "marker.stepp."),
        ('load_of = "fabric"', 'load_of = "fabrik"'),
        ("seeds = 2", 'seeds = "two"'),
        ("seeds = 2", "seeds = 0"),
        ("sizes.fixed", "sizes.fixd"),
        ("degree = 8", 'degree = "many"'),
        ('throughput = "20us"', "througput = 3"),
        ('["dctcp", "slytherin"]\n', '["dctcp", "one"]\nscheme.one.workload.load = 0.3\n'),
        ("seeds = 2\n", 'seeds = 2\nsetting.a = "b"\nsettings.a.b.port.limt = "3KB"\n'),
    ],
)
def test_what_is_wrong_is_not_valid_by_the_schema(tmp_path: Path, old: str, new: str) -> None:
    assert old in SMALL
    wrong = SMALL.replace(old, new, 1)
    assert list(schema(tmp_path).iter_errors(tomllib.loads(wrong))) != []
    (tmp_path / "wrong.toml").write_text(wrong, encoding="utf-8")
    assert run("check", "wrong.toml", cwd=tmp_path).returncode == 2, "the command refuses it too"


def test_the_reference_has_every_key_of_the_schema(tmp_path: Path) -> None:
    page = succeeded(run("show", "reference", cwd=tmp_path)).stdout
    whole = json.loads(succeeded(run("schema", cwd=tmp_path)).stdout)
    named: set[str] = set()

    def collect(part: object) -> None:
        if isinstance(part, dict):
            properties = part.get("properties")
            named.update(properties if isinstance(properties, dict) else ())
            for below in part.values():
                collect(below)
        elif isinstance(part, list):
            for below in part:
                collect(below)

    collect(whole)
    # What the table of a scheme has beside the tables of a simulation stands in a sentence.
    of_schemes = {"preset", "without", "defaults"}
    assert all(f"`{key}`" in page for key in of_schemes)
    named -= of_schemes
    assert len(named) > 150
    assert sorted(key for key in named if f"**`{key}`**" not in page and f"- `{key}`" not in page) == []
    assert run("show", "reference", "port", cwd=tmp_path).returncode == 2


def test_the_reference_of_the_guide_is_what_the_command_prints(tmp_path: Path) -> None:
    stored = (REPOSITORY / "docs" / "guide" / "src" / "reference.md").read_text(encoding="utf-8")
    page = succeeded(run("show", "reference", cwd=tmp_path)).stdout
    assert stored == page, "cargo xtask docs stores it"


def test_a_kind_without_a_name_asks_for_one(tmp_path: Path) -> None:
    for kind in ("scheme", "table", "workload", "marker"):
        done = run("show", kind, cwd=tmp_path)
        assert done.returncode == 2 and f"which {kind}?" in done.stderr, done.stderr
        example = re.search(r"`tailcut (show .*)`", done.stderr)
        assert example, done.stderr
        succeeded(run(*example[1].split(), cwd=tmp_path))


def test_the_release_archive_holds_what_is_needed(tmp_path: Path) -> None:
    cargo = shutil.which("cargo")
    if cargo is None or sys.platform == "win32":
        pytest.skip("cargo is not on the path")
    command = [cargo, "xtask", "release", "--program", str(PROGRAM)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    archive = re.search(r"^(\S+\.tar\.gz): \d+ files, .*, unpacked and tried$", done.stdout, re.MULTILINE)
    assert archive, done.stdout
    names = subprocess.run(["tar", "-tzf", archive[1]], capture_output=True, text=True, check=True).stdout.split()
    inside = {name.split("/", 1)[1] for name in names}
    for scheme in SCHEMES:
        assert f"schemes/{scheme}.toml" in inside
    wanted = {"tailcut", "LICENSE-MIT", "LICENSE-APACHE", "CITATION.cff", "licences/DejaVuSans.LICENSE.txt", "licences/uplot.LICENSE.txt"}
    assert wanted <= inside, sorted(wanted - inside)
    assert any(re.fullmatch(r"licences/clap-[\d.]+/LICENSE-MIT", name) for name in inside)


def test_a_reader_that_leaves_is_no_error(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([PROGRAM, "list"], cwd=tmp_path, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert "panicked" not in done.stderr and done.stderr == ""
