"""Runs that several tests look at, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import PROGRAM, SMALL, Folder, run, succeeded


def pytest_sessionstart() -> None:
    if not PROGRAM.exists():
        pytest.exit(f"{PROGRAM} is not built: run the tests by `cargo xtask test`", returncode=2)


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """The small scenario, run. Tests read it and change nothing."""
    where: Path = tmp_path_factory.mktemp("small")
    (where / "small.toml").write_text(SMALL, encoding="utf-8")
    succeeded(run("run", "small.toml", "--out", "run", cwd=where))
    return Folder(where / "run")
