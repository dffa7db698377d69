"""What is on the disk when a point counts as finished.

A file that has its name and not its bytes after a power failure cannot be shown by a test that kills a program. So the
calls that bring bytes to the disk are counted: a small library stands between the program and the system and writes
down each of them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from command import SMALL, Folder, run, succeeded

WATCHER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void note(const char *what, const char *path) {
    char line[8300];
    int length = snprintf(line, sizeof line, "%s %s\n", what, path);
    FILE *log = fopen(getenv("WATCHED"), "a");
    if (log != NULL) {
        setvbuf(log, NULL, _IOFBF, sizeof line);
        fwrite(line, 1, (size_t)length, log);
        fclose(log);
    }
}

int fsync(int file) {
    char name[64], path[4096];
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    ssize_t length = readlink(name, path, sizeof path - 1);
    path[length < 0 ? 0 : length] = '\0';
    int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    int result = next(file);
    note("sync", path);
    return result;
}

int rename(const char *from, const char *to) {
    note("from", from);
    int (*next)(const char *, const char *) = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
    int result = next(from, to);
    note("name", to);
    return result;
}
"""


@pytest.fixture(scope="module")
def watcher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("watcher")
    (folder / "watcher.c").write_text(WATCHER, encoding="utf-8")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "watcher.so", "watcher.c", "-ldl"], cwd=folder, check=True)
    return folder / "watcher.so"


@pytest.mark.skipif(sys.platform != "linux", reason="the library is loaded as Linux does")
def test_the_bytes_of_a_point_are_on_the_disk_before_its_summary_has_its_name(tmp_path: Path, watcher: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    log = tmp_path / "calls.txt"
    watched = {**os.environ, "LD_PRELOAD": str(watcher), "WATCHED": str(log)}
    arguments = ("run", "small.toml", "--out", "run", "--seeds", "1", "--jobs", "1", "--set", "workload.load=0.4")
    succeeded(run(*arguments, cwd=tmp_path, env=watched))
    calls = [line.split(" ", 1) for line in log.read_text(encoding="utf-8").splitlines()]
    calls = [(what, (tmp_path / path).resolve()) for what, path in calls]

    folder = Folder(tmp_path / "run")
    points = folder.points()
    assert len(points) == 2
    finished = [
        calls.index(("name", (folder.path / "points" / key / "summary.json").resolve()))
        for key in points
    ]
    for (key, summary), end in zip(points.items(), finished, strict=True):
        point = (folder.path / "points" / key).resolve()
        assert summary["files"]
        for name in (*summary["files"], "summary.json"):
            named = calls.index(("name", point / name))
            what, temporary = calls[named - 1]
            assert what == "from" and ("sync", temporary) in calls[: named - 1], f"the bytes of {name}"
        last = max(calls.index(("name", point / name)) for name in summary["files"])
        assert ("sync", point) in calls[last:end], "the names of its files"
    assert ("sync", folder.path.resolve()) in calls[: min(finished)], "the name of the run"
