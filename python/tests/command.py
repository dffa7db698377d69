"""The built command, as a user runs it, and a scenario that takes a second."""

from __future__ import annotations

import csv
import json
import os
import random
import subprocess
from dataclasses import dataclass
from pathlib import Path

import xxhash

PROGRAM = Path(os.environ.get("TAILCUT") or Path(__file__).parents[2] / "target" / "debug" / "tailcut").resolve()

#: Two schemes, two loads and two seeds on 16 hosts, with the three classes that papers report.
SMALL = """\
name = "small"
title = "Two schemes on a small network"
schemes = ["dctcp", "slytherin"]
seeds = 2
class_sets = { "short+incast" = ["short", "incast"] }

[sweep]
"workload.load" = [0.4, 0.8]

[topology.leaf-spine]
leaves = 4
hosts_per_leaf = 4
spines = 2
host_link = { rate = "10Gbps", delay = "1us" }
core_link = { rate = "10Gbps", delay = "1us" }

[port]
limit = "120KB"
marker.step.threshold = "25%"

[record]
throughput = "20us"

[workload]
load = 0.6
load_of = "fabric"
flows = 600

[workload.traffic.short]
share = 0.15
sizes.uniform = { min = "8KB", max = "32KB" }

[workload.traffic.long]
share = 0.70
sizes.fixed = "1MB"

[workload.traffic.incast]
share = 0.15
sizes.uniform = { min = "8KB", max = "32KB" }
incast = { degree = 8, aggregators = 4, deadline.exponential = { mean = "1ms", min = "200us" } }
"""

HOSTS, DEGREE = 16, 8


def run(*arguments: str, cwd: Path, timeout: float = 120, **options) -> subprocess.CompletedProcess[str]:
    """Runs `tailcut` and returns what it printed and how it ended."""
    return subprocess.run(
        [str(PROGRAM), *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
        timeout=timeout,
        check=False,
        **options,
    )


def succeeded(done: subprocess.CompletedProcess[str]) -> subprocess.CompletedProcess[str]:
    assert done.returncode == 0, done.stderr
    return done


def drawing() -> random.Random:
    """Random numbers from the seed that `cargo xtask test` prints."""
    seed = os.environ.get("PROPTEST_RNG_SEED", "1")
    print(f"PROPTEST_RNG_SEED={seed} repeats this")
    return random.Random(int(seed))


def write_sealed(file: Path, value: dict) -> None:
    """Writes a `summary.json` or `run.json` with its seal, as tailcut does: for values that tests make up."""
    body = json.dumps({key: part for key, part in value.items() if key != "seal"}, indent=2, ensure_ascii=False)
    body = body.removesuffix("\n}")
    seal = xxhash.xxh3_128_hexdigest(body.encode())
    file.write_text(f'{body},\n  "seal": "{seal}"\n}}\n', encoding="utf-8")


@dataclass(frozen=True)
class Folder:
    """A run folder."""

    path: Path

    def points(self) -> dict[str, dict]:
        """The summary of each finished point by its key, in order of the keys."""
        found = sorted(self.path.glob("points/*/summary.json"))
        return {file.parent.name: json.loads(file.read_text(encoding="utf-8")) for file in found}

    def info(self) -> dict:
        return json.loads((self.path / "run.json").read_text(encoding="utf-8"))

    def digests(self) -> dict[tuple, str]:
        """The digest of each finished point by scheme, values and seed."""
        points = self.points().values()
        return {(p["scheme"], *p["values"], p["seed"]): p["engine"]["digest"] for p in points}

    def summary(self) -> bytes:
        return (self.path / "summary.csv").read_bytes()

    def rows(self) -> list[dict[str, str]]:
        with (self.path / "summary.csv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def flow_files(self) -> dict[str, bytes]:
        """The bytes of the flows of each finished point by its key."""
        return {key: (self.path / "points" / key / "flows.parquet").read_bytes() for key in self.points()}
