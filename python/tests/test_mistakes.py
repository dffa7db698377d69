"""What a user can get wrong: one message, at its place, with what would be right, and nothing left behind."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from command import SMALL, run


@dataclass(frozen=True)
class Mistake:
    """A change of the small scenario that makes it wrong; the caret is to stand under what is in guillemets."""

    name: str
    old: str
    new: str
    #: Part of the message.
    message: str
    #: Part of the help.
    help: str
    #: A file beside the scenario: its bytes, the number of its wrong line and what stands there.
    file: tuple[bytes, int, str] | None = None


FILE = "sizes.cdf"
FIXED = 'sizes.fixed = "1MB"'


def distribution(name: str, data: bytes, line: int, shown: str, message: str, help: str) -> Mistake:
    return Mistake(name, FIXED, f'sizes.file.path = "{FILE}"', message, help, (data, line, shown))


HOST_LINK = 'rate = "10Gbps", delay = "1us" }\ncore'
DEADLINE = 'deadline.exponential = { mean = "1ms", min = "200us" }'

MISTAKES = [
    Mistake("unknown key", "leaves", "«leafs»", "unknown key `leafs`", "did you mean `leaves`?"),
    Mistake("unknown table", "[port]", "[«prot»]", "unknown key `prot`", "did you mean `port`?"),
    Mistake("unknown model", 'marker.step.threshold = "25%"', 'marker = «"stepp"»', "`stepp`", "did you mean `step`?"),
    Mistake("two models on one seat", "marker.step", '«scheduler».strict = {}\nscheduler.ranked = {}\nmarker.step', "do not go together", "only one"),
    Mistake("size without unit", '"120KB"', "«120000»", "`120000` has no unit", "expected a size with a unit"),
    Mistake("size in text without unit", '"120KB"', '«"120000"»', "has no unit", "expected a size with a unit"),
    Mistake("time without unit", HOST_LINK, HOST_LINK.replace('"1us"', "«1»"), "`1` has no unit", "expected a duration"),
    Mistake("rate without unit", HOST_LINK, HOST_LINK.replace('"10Gbps"', "«1e10»"), "has no unit", "expected a rate"),
    Mistake("size in microseconds", '"120KB"', '«"120us"»', "120us", "expected a size with a unit"),
    Mistake("negative rate", HOST_LINK, HOST_LINK.replace('"10', '«"-10').replace('s",', 's"»,'), "negative", "expected a rate"),
    Mistake("rate of zero", HOST_LINK, HOST_LINK.replace('"10Gbps"', '«"0Gbps"»'), "zero", "expected a rate"),
    Mistake("negative size", '"1MB"', '«"-1MB"»', "negative", "expected a size"),
    Mistake("size of zero", '"1MB"', '«"0B"»', "nothing to send", "expected at least"),
    Mistake("buffer of zero", '"120KB"', '«"0KB"»', "does not hold one packet", "expected at least"),
    Mistake("loss of all packets", "[port]\n", "[port]\nloss.random.probability = «1.0»\n", "share of packets", "at least 0 and below 1"),
    Mistake("negative load", "0.4, 0.8", "0.4, «-0.8»", "a load of -0.8", "expected a fraction"),
    Mistake("load of zero", "0.4, 0.8", "«0.0», 0.8", "a load of 0", "expected a fraction"),
    Mistake("load that is no number", "0.4, 0.8", "«nan», 0.8", "a load of ", "expected a fraction"),
    Mistake("load in words", "0.4, 0.8", '0.4, «"high"»', "high", "expected a number"),
    Mistake("rate of bits", "share = 0.70", 'rate = «"200Mbps"»', "200Mbps", "expected a number of flows (with `incast`: of queries)"),
    Mistake(
        "shares that do not sum to one",
        "[workload.traffic.short]\nshare = 0.15",
        "[workload.«traffic».short]\nshare = 0.05",
        "the shares sum to 0.9",
        "expected shares",
    ),
    Mistake("class named as all flows", "traffic.long", "traffic.«all»", "a class cannot be called `all`", "another name"),
    Mistake("set of an unknown class", '["short", "incast"]', '["short", «"incats"»]', "no class `incats`", "did you mean `incast`?"),
    Mistake("set named as a class", '"short+incast" =', '«long» =', "cannot be called `long`", "another name"),
    Mistake("class twice in a set", '"short+incast" = ["short", "incast"]', '"short+incast" = ["short", «"short"»]', "`short` is there twice", ""),
    Mistake("incast of more hosts than there are", "degree = 8", "degree = «16»", "degree of 16", "expected 1 to 15"),
    Mistake("degrees of no host", "degree = 8", "degree.«uniform» = { min = 0, max = 8 }", "degree of 0", "expected 1 to 15"),
    Mistake("one aggregator without brackets", "aggregators = 4", "aggregators.hosts = «1»", "the number 1", "expected a list, such as [1]"),
    Mistake("degree in words", "degree = 8", 'degree = «"many"»', "many", "expected a number of hosts"),
    Mistake("unknown kind of degree", "degree = 8", "degree.«normal» = { mean = 8 }", "`normal`", "expected `uniform`"),
    Mistake("slack of queries", DEADLINE, "deadline.slack = «4.0»", "no ideal", "`exponential`"),
    Mistake("jitter of no time", DEADLINE, 'jitter.exponential.mean = «"0us"»', "no jitter", "positive time"),
    Mistake("jitter upside down", DEADLINE, 'jitter.«uniform» = { min = "2us", max = "1us" }', "between 2us and 1us", "min <= max"),
    Mistake("unknown scheme", '"slytherin"', '«"slyterin"»', "no scheme `slyterin`", "did you mean `slytherin`?"),
    Mistake("unknown profile", '"slytherin"', '«"slytherin@deep"»', "no profile `deep`", "expected"),
    Mistake("no seeds", "seeds = 2", "seeds = «0»", "number of seeds", "expected seeds = 3"),
    Mistake("swept key that does not exist", '"workload.load"', '«"workload.laod"»', "unknown key `laod`", "did you mean `load`?"),
    Mistake("swept table that does not exist", '"workload.load"', '«"wrkload.load"»', "`wrkload`", "did you mean `workload`?"),
    Mistake("swept over no list", '"workload.load" = [0.4, 0.8]', '«"workload.load"» = 0.4', "swept over no list", "expected a list"),
    Mistake("tags that no port reads", "[workload]", '[scheme.one]\nhost.tag = «"pias"»\n[workload]', "no port sorts by class or orders by rank", 'expected `port.classifier = "tag"`'),
    Mistake("push-out with one class", "[workload]", '[scheme.one]\nport.buffer = «"push-out"»\n[workload]', "one class", "expected `classes = 2`"),
    Mistake("unknown distribution", FIXED, 'sizes.distribution = «"websaerch"»', "`websaerch`", "did you mean `websearch`?"),
    Mistake("file that is not there", FIXED, f'sizes.file.path = «"{FILE}"»', "there is no such file", "relative to"),
    Mistake("not TOML", "[port]", "[port«»", "not TOML", "expected"),
    distribution("falling probabilities", b"0 0\n1000 0.5\n2000 0.4\n3000 1\n", 3, "2000 0.4", "falls from 0.5 to 0.4", "never falls"),
    distribution("probabilities that end early", b"0 0\n1000 0.5\n3000 0.9\n", 3, "3000 0.9", "is 0.9 and not 1", "expected"),
    distribution("empty distribution", b"", 1, "", "the file is empty", "expected"),
    distribution("distribution of comments", b"# nothing\n", 1, "", "only comments", "expected"),
    distribution("binary distribution", b"0 0\n1000 0.5\n\x00\xff\x89PNG\n", 3, "", "not a text file", "expected"),
    distribution("distribution with units", b"0 0\n10KB 1\n", 2, "10KB 1", "`10KB` is not a number", "expected a number"),
]


def check(done: subprocess.CompletedProcess[str], where: Path, *left: str) -> str:
    """Checks what all messages have in common; the message."""
    assert done.returncode == 2, (done.returncode, done.stdout, done.stderr)
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert [line for line in lines if line.startswith("error:")] == lines[:1], done.stderr
    assert "panicked" not in done.stderr and "\x1b" not in done.stderr
    assert sorted(file.name for file in where.iterdir()) == sorted(left), "something is left behind"
    return done.stderr


def check_place(message: str, file: str, line: int, column: int, shown: str, marked: int) -> None:
    """Checks that the message shows that line of that file, with carets from that column on."""
    place = re.search(r"^ *--> (.*):(\d+):(\d+)$", message, re.MULTILINE)
    assert place, message
    assert (place[1], int(place[2])) == (file, line), message
    lines = message.splitlines()
    at = next((i for i, text in enumerate(lines) if re.match(rf"{line} \|", text)), None)
    assert at is not None, message
    assert lines[at].removeprefix(f"{line} |").strip() == shown.strip(), message
    carets = re.fullmatch(r" *\| ( *)(\^+)", lines[at + 1])
    assert carets, message
    if marked:
        assert (len(carets[1]) + 1, len(carets[2])) == (column, marked) and int(place[3]) == column, message


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
@pytest.mark.parametrize("command", ["run", "check"])
def test_a_mistake_is_shown_where_it_is(tmp_path: Path, mistake: Mistake, command: str) -> None:
    assert SMALL.count(mistake.old) == 1, "the change is to be made at one place"
    schemes = '["dctcp", "one"]' if "[scheme.one]" in mistake.new else '["dctcp", "slytherin"]'
    text = SMALL.replace('["dctcp", "slytherin"]', schemes).replace(mistake.old, mistake.new)
    before, _, rest = text.partition("«")
    marked, _, after = rest.partition("»")
    (tmp_path / "wrong.toml").write_text(before + marked + after, encoding="utf-8")
    left = ["wrong.toml"]
    if mistake.file is not None:
        (tmp_path / FILE).write_bytes(mistake.file[0])
        left.append(FILE)
    message = check(run(command, "wrong.toml", cwd=tmp_path), tmp_path, *left)
    first = message.splitlines()[0]
    assert mistake.message in first, message
    help = "\n".join(line for line in message.splitlines() if "= help: " in line)
    assert mistake.help in first + help, message
    if mistake.file is not None:
        _, line, shown = mistake.file
        check_place(message, FILE, line, 1, shown, len(shown))
    else:
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        check_place(message, "wrong.toml", line, column, (before + marked + after).splitlines()[line - 1], len(marked))


def test_a_mistake_that_only_some_seeds_meet_is_found_before_any_runs(tmp_path: Path) -> None:
    """Of two senders one is drawn as the only receiver by some of the seeds: it cannot send to itself."""
    roles = "endpoints.roles = { senders = { first = 0, count = 2 }, receivers = { random = 1 } }"
    text = SMALL.replace(FIXED, f"{FIXED}\n{roles}").replace("seeds = 2", "seeds = 40").replace("flows = 600", "flows = 10")
    (tmp_path / "wrong.toml").write_text(text, encoding="utf-8")
    for command in ("check", "run"):
        message = check(run(command, "wrong.toml", cwd=tmp_path), tmp_path, "wrong.toml")
        assert "only receiver" in message and "expected for each sender a receiver other than itself" in message
        line = text[: text.index(roles)].count("\n") + 1
        check_place(message, "wrong.toml", line, len("endpoints.") + 1, roles, len("roles"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("seeds = 2", "seeds = 1000000"),
        ('"workload.load" = [0.4, 0.8]', "\n".join(f"a{axis} = {list(range(100))}" for axis in range(3))),
        # 16 values of 16 parameters are 2^64 points, and those are none if nobody looks.
        ('"workload.load" = [0.4, 0.8]', "\n".join(f"a{axis} = {list(range(16))}" for axis in range(16))),
    ],
    ids=["seeds", "a million values", "more values than can be counted"],
)
def test_a_run_of_far_too_many_points_is_refused_at_once(tmp_path: Path, old: str, new: str) -> None:
    (tmp_path / "wrong.toml").write_text(SMALL.replace(old, new), encoding="utf-8")
    message = check(run("run", "wrong.toml", cwd=tmp_path, timeout=10), tmp_path, "wrong.toml")
    assert "points" in message and "expected at most" in message


def test_a_scenario_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "wrong.toml").write_bytes(bytes(range(256)))
    message = check(run("run", "wrong.toml", cwd=tmp_path), tmp_path, "wrong.toml")
    assert "wrong.toml is not text" in message and "expected a scenario in TOML" in message


def test_an_empty_scenario_says_what_it_lacks(tmp_path: Path) -> None:
    (tmp_path / "wrong.toml").write_text("", encoding="utf-8")
    message = check(run("run", "wrong.toml", cwd=tmp_path), tmp_path, "wrong.toml")
    assert "the key `topology` is missing" in message and "wrong.toml" in message


@pytest.mark.parametrize("name", ["none.toml", "."])
def test_a_scenario_that_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    message = check(run("run", name, cwd=tmp_path), tmp_path)
    assert f"cannot read the scenario {name}" in message and "expected the path of a TOML file" in message


@pytest.mark.parametrize(
    ("assignment", "message", "help", "column"),
    [
        ("port.limt=1MB", "unknown key `limt`", "did you mean `limit`?", 1),
        ("port.limit=1", "`1` has no unit", "expected a size with a unit", 12),
        ("port..limit=1MB", "is not a path of keys", "expected keys with dots", 1),
        ("workload.load=-1", "a load of -1", "expected a fraction", 15),
        ("seeds=0", "number of seeds", "expected seeds = 3", 7),
        (" aü=1", "unknown key `aü`", "expected one of", 2),
    ],
)
def test_a_mistake_after_set_is_shown_there(tmp_path: Path, assignment: str, message: str, help: str, column: int) -> None:
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    shown = check(run("run", "small.toml", "--set", assignment, cwd=tmp_path), tmp_path, "small.toml")
    assert message in shown.splitlines()[0] and help in shown, shown
    assert f"--> --set:1:{column}" in shown and assignment in shown, shown


def test_what_is_set_to_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    shown = check(run("run", "small.toml", "--set", "port.limit", cwd=tmp_path), tmp_path, "small.toml")
    assert "has no `=`" in shown and "expected `--set path=value`" in shown


@pytest.mark.parametrize(
    "options",
    [("--seeds", "x"), ("--seeds", "0"), ("--jobs", "0"), ("--job", "1"), ("--seeds", "1,1")]
    + [("--seed", wrong) for wrong in ("x", "-1", "1,2")]
    + [(option, wrong) for option in ("--threads", "--jobs") for wrong in ("x", "-1", "1.5", "65536")]
    + [("--threads", "0")],
)
def test_a_wrong_option_is_refused(tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    shown = check(run("run", "small.toml", *options, cwd=tmp_path), tmp_path, "small.toml")
    assert options[0] in shown and "small.toml" not in shown, shown


def test_a_load_above_one_is_refused_unless_it_is_meant(tmp_path: Path) -> None:
    overloaded = SMALL.replace("0.4, 0.8", "0.4, 1.7").replace("flows = 600", "flows = 100")
    (tmp_path / "over.toml").write_text(overloaded, encoding="utf-8")
    shown = check(run("check", "over.toml", cwd=tmp_path), tmp_path, "over.toml")
    assert "a load of 1.7 is more than the capacity" in shown and "`allow_overload = true`" in shown
    meant = run("run", "over.toml", "--out", "meant", "--set", "workload.allow_overload=true", cwd=tmp_path)
    assert meant.returncode == 0 and "what it carries" not in meant.stderr, meant.stderr


def test_a_folder_of_something_else_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work", encoding="utf-8")
    shown = check(run("run", "small.toml", "--out", "mine", cwd=tmp_path), tmp_path, "small.toml", "mine")
    assert "mine is not empty and holds no run" in shown and "--out" in shown
    assert [file.name for file in (tmp_path / "mine").iterdir()] == ["thesis.tex"]
    shown = check(run("run", "small.toml", "--out", "small.toml", cwd=tmp_path), tmp_path, "small.toml", "mine")
    assert "small.toml is not a folder" in shown


def test_a_folder_that_holds_another_run_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    few = ("--seeds", "1", "--set", "workload.flows=100")
    assert run("run", "small.toml", *few, "--out", "run", cwd=tmp_path).returncode == 0
    before = {file: file.read_bytes() for file in (tmp_path / "run").rglob("*") if file.is_file()}
    shown = check(run("run", "small.toml", "--out", "run", cwd=tmp_path), tmp_path, "small.toml", "run")
    assert "run holds another run" in shown and "choose another --out" in shown
    assert {file: file.read_bytes() for file in (tmp_path / "run").rglob("*") if file.is_file()} == before
