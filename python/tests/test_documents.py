"""The commands on the pages for newcomers, as they are printed there."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from pages import blocks, commands, obey

REPOSITORY = Path(__file__).parents[2]
CONTRIBUTING = REPOSITORY / "CONTRIBUTING.md"


def all_commands() -> list:
    return [command for block in blocks(CONTRIBUTING) if block["kind"] == "console" for command in commands(block)]


def test_the_commands_of_the_page_do_what_it_says(tmp_path: Path) -> None:
    files = {block["name"]: block["text"] for block in blocks(CONTRIBUTING) if block["name"]}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    ours = [command for command in all_commands() if command.words[0] == "tailcut"]
    assert files and len(ours) >= 5
    for command in ours:
        obey(command, tmp_path)
    assert (tmp_path / "runs" / "small" / "report.html").exists() and (tmp_path / "tighter" / "report.html").exists()


def test_the_page_names_commands_of_cargo_that_exist() -> None:
    cargo = shutil.which("cargo")
    if cargo is None:
        pytest.skip("cargo is not on the path")
    tasks = subprocess.run([cargo, "xtask", "help"], cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
    for words in (command.words for command in all_commands()):
        while "=" in words[0]:
            words = words[1:]
        if words[:2] == ["cargo", "xtask"]:
            assert f"\n  {' '.join(words[2:])} " in tasks or f"\n  {' '.join(words[2:])}\n" in tasks, words
        elif words[:2] == ["cargo", "test"]:
            crate = REPOSITORY / "crates" / words[words.index("-p") + 1].removeprefix("tailcut-")
            assert crate.is_dir(), words
            if "--test" in words:
                named = words.index("--test") + 1
                target, *filters = words[named:]
                manifest = tomllib.loads((crate / "Cargo.toml").read_text(encoding="utf-8"))
                targets = [test["name"] for test in manifest.get("test", [])]
                assert target in targets or (crate / "tests" / f"{target}.rs").is_file(), words
                # What one target holds is a module for each file.
                assert all((crate / "tests" / f"{module}.rs").is_file() for module in filters), words
        else:
            assert words[0] == "tailcut", words


def test_the_places_that_the_page_names_exist() -> None:
    text = CONTRIBUTING.read_text(encoding="utf-8")
    named = re.findall(r"`((?:crates|schemes|data|experiments|xtask)/[\w/.-]*)`", text)
    assert len(named) >= 15
    assert [name for name in named if not (REPOSITORY / name).exists()] == []
