"""Pages whose snippets are run: what stands in their blocks, and doing what they say, from top to bottom.

A block of code is one of these; `follow` refuses any other, so that no snippet is left out.

- below `<!-- file: NAME -->`: the text of a file; below `<!-- add: NAME -->`: text that goes at the end of one
- `console`: lines with `$ ` are commands of tailcut, and the lines below one are printed by it, blanks aside
- `python` and `bash`: a script; `tailcut` is on its path
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from command import PROGRAM, run

BLOCK = re.compile(
    r"(?:<!-- (?P<place>file|add): (?P<name>\S+) -->\n)?```(?P<kind>\w*)[^\n]*\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Command:
    """A command of a block `console`, without its comment, with the lines that stand below it."""

    words: list[str]
    shown: list[str]


def blocks(page: Path) -> list[re.Match[str]]:
    return list(BLOCK.finditer(page.read_text(encoding="utf-8")))


def commands(block: re.Match[str]) -> list[Command]:
    found: list[Command] = []
    for line in block["text"].splitlines():
        if line.startswith("$ "):
            found.append(Command(shlex.split(line[2:], comments=True), []))
        else:
            found[-1].shown.append(line)
    return found


def obey(command: Command, where: Path) -> None:
    """Runs a command of tailcut: it ends as the page says (a stall has a code of its own), and prints what stands there."""
    done = run(*command.words[1:], cwd=where)
    errors = [line for line in command.shown if line.startswith("error: ")]
    code = 0 if not errors else 3 if "stalled" in errors[0] else 2
    assert done.returncode == code, (command.words, done.stderr)
    printed = " ".join((done.stdout + done.stderr).split())
    missing = [line for line in command.shown if " ".join(line.split()) not in printed]
    assert missing == [], (command.words, missing, printed)


def script(block: re.Match[str], where: Path) -> None:
    """Runs a script, with `tailcut` on its path."""
    programs = where / "programs"
    programs.mkdir(exist_ok=True)
    (programs / PROGRAM.name).unlink(missing_ok=True)
    (programs / PROGRAM.name).symlink_to(PROGRAM)
    interpreter = [sys.executable, "-c"] if block["kind"] == "python" else ["bash", "-euo", "pipefail", "-c"]
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    done = subprocess.run(
        [*interpreter, block["text"]],
        cwd=where,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, (block["text"], done.stderr)


def follow(page: Path, where: Path) -> list[Command]:
    """Does what a page says, in a folder; the commands of tailcut that it had."""
    ours: list[Command] = []
    for block in blocks(page):
        match block["place"], block["kind"]:
            case "file", _:
                (where / block["name"]).write_text(block["text"], encoding="utf-8")
            case "add", _:
                with (where / block["name"]).open("a", encoding="utf-8") as file:
                    file.write("\n" + block["text"])
            case None, "console":
                for command in commands(block):
                    assert command.words[0] == "tailcut", command.words
                    obey(command, where)
                    ours.append(command)
            case None, "python" | "bash":
                script(block, where)
            case _, kind:
                raise AssertionError(f"{page.name}: nothing runs this block of {kind or 'no language'}: {block['text']}")
    return ours
