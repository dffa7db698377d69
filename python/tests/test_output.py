"""Where nobody listens, where nothing can be stored, and text that would do harm where it is shown."""

from __future__ import annotations

import os
import pty
import subprocess
import tomllib
from pathlib import Path

import pytest

from command import PROGRAM, SMALL, Folder, run, succeeded
from test_runs import write


def shell(text: str, cwd: Path, **options) -> subprocess.CompletedProcess[str]:
    words = ["bash", "-c", f"set -o pipefail; {text}"]
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=120, check=False, **options)


@pytest.mark.parametrize("ending", ["2>&-", ">&-", ">&- 2>&-", "2>&1 | head -1", "2>/dev/full", "--quiet 2>&-"])
def test_a_run_goes_on_whoever_listens(small: Folder, tmp_path: Path, ending: str) -> None:
    write(tmp_path)
    # Of a pipe the status is that of the run, which ends after its reader.
    done = shell(f'"{PROGRAM}" run small.toml --out run {ending}', tmp_path)
    assert done.returncode == 0, done.stderr
    assert Folder(tmp_path / "run").digests() == small.digests()
    assert (tmp_path / "run" / "report.html").exists()


@pytest.mark.parametrize("command", ["claims", "list", "show reference", "check small.toml"])
def test_what_cannot_be_printed_is_an_error_and_a_reader_that_leaves_is_none(tmp_path: Path, command: str) -> None:
    write(tmp_path)
    full = shell(f'"{PROGRAM}" {command} > /dev/full', tmp_path)
    assert full.returncode == 2 and "error: cannot print: No space left on device" in full.stderr, full.stderr
    assert shell(f'"{PROGRAM}" {command} | head -1', tmp_path).returncode == 0


def on_a_terminal(tmp_path: Path, **environment: str) -> str:
    """What a mistake looks like on a terminal."""
    write(tmp_path, SMALL.replace("seeds = 2", "sedes = 2"))
    master, slave = pty.openpty()
    surroundings = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
    words = [str(PROGRAM), "run", "small.toml"]
    done = subprocess.run(words, cwd=tmp_path, stderr=slave, env=surroundings | environment, check=False)
    assert done.returncode == 2
    os.close(slave)
    text = os.read(master, 100_000).decode()
    os.close(master)
    return text


def test_colours_are_only_where_they_are_wanted(tmp_path: Path) -> None:
    assert "\x1b[" in on_a_terminal(tmp_path, TERM="xterm")
    assert "\x1b[" not in on_a_terminal(tmp_path, TERM="xterm", NO_COLOR="1")
    assert "\x1b[" not in on_a_terminal(tmp_path, TERM="dumb")


def test_any_name_of_a_folder_will_do(tmp_path: Path) -> None:
    write(tmp_path, SMALL.replace("seeds = 2", "seeds = 1"))
    for name in (b"out\nline = 2", b"out-\xff", b"it's \\ out"):
        done = subprocess.run([PROGRAM, "run", "small.toml", "--out", name], cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        folder = Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), name)))
        saved = (folder / "scenario.toml").read_text(encoding="utf-8")
        assert "line" not in tomllib.loads(saved), "the command is a comment of one line"
        assert succeeded(run("report", str(folder), cwd=tmp_path)) if name != b"out-\xff" else True


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ('title = "Two', 'title = "\\u001b[31mTwo', "there is a control character in this text"),
        ("[workload.traffic.long]", '[workload.traffic."a\\u0007"]', "there is a control character in this name"),
        ("[workload.traffic.long]", '[workload.traffic."=1+1"]', "spreadsheets would take it for one"),
        ("[workload.traffic.long]", '[workload.traffic."@sum"]', "spreadsheets would take it for one"),
    ],
)
def test_text_that_would_do_harm_is_refused(tmp_path: Path, before: str, after: str, why: str) -> None:
    text = SMALL.replace(before, after)
    assert text != SMALL
    write(tmp_path, text)
    refused = run("run", "small.toml", cwd=tmp_path)
    assert refused.returncode == 2 and why in refused.stderr, refused.stderr
    line = next(n for n, found in enumerate(text.splitlines(), 1) if after in found)
    assert f"small.toml:{line}:" in refused.stderr and "\x1b" not in refused.stderr, refused.stderr
    assert not (tmp_path / "runs").exists()
