"""What tailcut is built from is permissively licensed, comes from the usual place, and is maintained."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from collections.abc import Set
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
RULES = tomllib.loads((REPOSITORY / "deny.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def packages() -> list[dict]:
    # What this machine builds: what other systems need beside it may never have been downloaded here.
    version = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    host = re.search(r"^host: (.+)$", version, re.MULTILINE)
    assert host, version
    command = ["cargo", "metadata", "--locked", "--offline", "--filter-platform", host[1], "--format-version", "1"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [package for package in json.loads(done.stdout)["packages"] if package["source"]]


def version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def test_nothing_needs_a_newer_rust_than_we_say(packages: list[dict]) -> None:
    """What our own sources use of the standard library is looked at by clippy (incompatible_msrv)."""
    manifest = tomllib.loads((REPOSITORY / "Cargo.toml").read_text(encoding="utf-8"))
    ours = manifest["workspace"]["package"]["rust-version"]
    asking = {package["name"]: package["rust_version"] for package in packages if package["rust_version"]}
    assert len(asking) > 50
    for name, oldest in asking.items():
        assert version(oldest) <= version(ours + ".0"), f"{name} needs Rust {oldest}, and Cargo.toml says {ours}"


def is_allowed(expression: str, allowed: Set[str]) -> bool:
    """Whether an SPDX expression can be met with licences that are allowed."""
    words = re.findall(r"[()]|\bAND\b|\bOR\b|[\w.+-]+(?: WITH [\w.-]+)?", expression.replace("/", " OR "))
    python = [w.lower() if w in ("AND", "OR") else w if w in "()" else str(w in allowed) for w in words]
    return bool(eval(" ".join(python)))  # noqa: S307 - the words are True, False, and, or and brackets


def test_licences_are_read_as_they_are_meant() -> None:
    allowed = {"MIT", "Apache-2.0 WITH LLVM-exception"}
    for expression in ("MIT", "GPL-3.0 OR MIT", "Unlicense/MIT", "Apache-2.0 WITH LLVM-exception OR GPL-2.0", "(MIT)"):
        assert is_allowed(expression, allowed), expression
    for expression in ("GPL-3.0", "MIT AND GPL-3.0", "Apache-2.0", "(MIT OR Zlib) AND Unicode-3.0", "MIT-0"):
        assert not is_allowed(expression, allowed), expression


def test_every_licence_is_permissive(packages: list[dict]) -> None:
    allowed = set(RULES["licenses"]["allow"])
    assert len(packages) > 100
    for package in packages:
        assert package["license"], f"{package['name']} has a licence of its own: read it"
        assert is_allowed(package["license"], allowed), f"{package['name']}: {package['license']}"


def test_every_crate_comes_from_where_it_may(packages: list[dict]) -> None:
    allowed = {f"registry+{registry}" for registry in RULES["sources"]["allow-registry"]}
    for package in packages:
        assert package["source"] in allowed, f"{package['name']} comes from {package['source']}"


def test_what_nobody_maintains_is_not_there(packages: list[dict]) -> None:
    banned = {rule["crate"] for rule in RULES["bans"]["deny"]}
    assert banned and not banned & {package["name"] for package in packages}
