"""The notebooks run from top to bottom, and what they assert holds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("tailcut", reason="the native module is not built: run the tests by `cargo xtask test`")

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.py"))


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 3
    for path in NOTEBOOKS:
        text = path.read_text(encoding="utf-8")
        assert text.startswith("# %% [markdown]\n# # ") and text.count("\n# %%") >= 3, path.name


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    # Then as after `pip install .` without the extras; what is finished is not simulated again.
    bare = "import runpy, sys; sys.modules.update(dict.fromkeys(sys.argv[2:])); runpy.run_path(sys.argv[1])"
    for words in [[str(path)], ["-c", bare, str(path), "polars", "pandas", "pyarrow", "numpy", "altair", "matplotlib"]]:
        done = subprocess.run(
            [sys.executable, *words],
            cwd=tmp_path,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
