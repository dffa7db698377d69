"""The commands on the pages for newcomers, as they are printed there."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from command import run

REPOSITORY = Path(__file__).parents[2]
CONTRIBUTING = REPOSITORY / "CONTRIBUTING.md"
BLOCK = re.compile(r"(?:<!-- file: (?P<file>\S+) -->\n)?```(?P<kind>\w*)[^\n]*\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks() -> list[re.Match[str]]:
    return list(BLOCK.finditer(CONTRIBUTING.read_text(encoding="utf-8")))


def commands() -> list[tuple[list[str], list[str]]]:
    """Each command of the blocks `console`, without its comment, with the lines that are printed below it."""
    found: list[tuple[list[str], list[str]]] = []
    for block in blocks():
        for line in block["text"].splitlines() if block["kind"] == "console" else ():
            if line.startswith("$ "):
                found.append((shlex.split(line[2:], comments=True), []))
            else:
                found[-1][1].append(line)
    return found


def test_the_commands_of_the_page_do_what_it_says(tmp_path: Path) -> None:
    files = {block["file"]: block["text"] for block in blocks() if block["file"]}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    ours = [(words[1:], shown) for words, shown in commands() if words[0] == "tailcut"]
    assert files and len(ours) >= 5
    for arguments, shown in ours:
        done = run(*arguments, cwd=tmp_path)
        fails = any(line.startswith("error: ") for line in shown)
        assert done.returncode == (2 if fails else 0), (arguments, done.stderr)
        printed = " ".join((done.stdout + done.stderr).split())
        assert all(" ".join(line.split()) in printed for line in shown), (arguments, printed)
    assert (tmp_path / "runs" / "small" / "report.html").exists() and (tmp_path / "tighter" / "report.html").exists()


def test_the_page_names_commands_of_cargo_that_exist() -> None:
    cargo = shutil.which("cargo")
    if cargo is None:
        pytest.skip("cargo is not on the path")
    tasks = subprocess.run([cargo, "xtask", "help"], cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
    for words, _ in commands():
        while "=" in words[0]:
            words = words[1:]
        if words[:2] == ["cargo", "xtask"]:
            assert f"\n  {' '.join(words[2:])} " in tasks or f"\n  {' '.join(words[2:])}\n" in tasks, words
        elif words[:2] == ["cargo", "test"]:
            crate = REPOSITORY / "crates" / words[words.index("-p") + 1].removeprefix("tailcut-")
            assert crate.is_dir(), words
            if "--test" in words:
                assert (crate / "tests" / f"{words[words.index('--test') + 1]}.rs").is_file(), words
        else:
            assert words[0] == "tailcut", words


def test_the_places_that_the_page_names_exist() -> None:
    text = CONTRIBUTING.read_text(encoding="utf-8")
    named = re.findall(r"`((?:crates|schemes|data|experiments|xtask)/[\w/.-]*)`", text)
    assert len(named) >= 15
    assert [name for name in named if not (REPOSITORY / name).exists()] == []
