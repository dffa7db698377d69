"""Writes `tailcut/_keys.py`: the keys of a scenario, for editors that complete them.

    python python/scripts/keys.py           # writes it
    python python/scripts/keys.py --check   # says whether it is up to date

`cargo xtask docs` does the first. The schema is that of the command at the path in TAILCUT, or of `tailcut`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[1] / "tailcut" / "_keys.py"
#: Keys of the run that have methods of their own, or whose names are chosen by the user.
LEFT_OUT = {"scheme", "settings", "sweep", "schemes", "seeds", "inputs"}


def keys(schema: dict[str, Any]) -> list[str]:
    """The dotted paths of all keys whose tables have no names of the user in them."""
    found: list[str] = []

    def visit(node: Any, path: tuple[str, ...], seen: tuple[str, ...]) -> None:
        if not isinstance(node, dict):
            return
        reference = node.get("$ref", "")
        if reference:
            name = reference.rsplit("/", 1)[-1]
            if name in seen:
                return
            visit(schema["$defs"][name], path, (*seen, name))
        for kind in ("anyOf", "oneOf", "allOf"):
            for part in node.get(kind, []):
                visit(part, path, seen)
        for name, below in node.get("properties", {}).items():
            if not path and name in LEFT_OUT:
                continue
            found.append(".".join([*path, name]))
            visit(below, (*path, name), seen)

    visit(schema, (), ())
    return sorted(set(found))


def text() -> str:
    command = [os.environ.get("TAILCUT", "tailcut"), "schema"]
    schema = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    lines = "".join(f"    {json.dumps(key)},\n" for key in keys(json.loads(schema)))
    return (
        '"""The keys of a scenario. Made from its schema by python/scripts/keys.py; do not edit."""\n\n'
        "from __future__ import annotations\n\n"
        "from typing import Literal, TypeAlias\n\n"
        "#: A key of a scenario by its dotted path. Keys below names of your own, such as workload.traffic.NAME.share, are\n"
        "#: keys as well.\n"
        f"Key: TypeAlias = Literal[\n{lines}]\n"
    )


if __name__ == "__main__":
    if "--check" in sys.argv:
        if FILE.read_text(encoding="utf-8") != text():
            sys.exit(f"{FILE} is not up to date: cargo xtask docs")
    else:
        FILE.write_text(text(), encoding="utf-8")
