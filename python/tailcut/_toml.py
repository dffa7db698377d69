"""Values of Python as TOML."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence

from tailcut import _native
from tailcut._error import wrong


def value(given: object) -> str:
    """A value as TOML writes it, in one line.

    >>> value({"rate": "10Gbps", "list": [1, 2.5, True]})
    '{ "rate" = "10Gbps", "list" = [1, 2.5, true] }'
    """
    # A number of numpy or of another library says what it is in Python.
    item = getattr(given, "item", None)
    if callable(item) and not isinstance(given, (str, bool, int, float)) and getattr(given, "ndim", 0) == 0:
        given = item()
    to_list = getattr(given, "tolist", None)
    if callable(to_list) and not isinstance(given, (str, bool, int, float)):
        given = to_list()
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, int):
        return str(int(given))
    if isinstance(given, float):
        if not math.isfinite(given):
            raise wrong(f"{given} is no value of a scenario", "expected a finite number, or text with a unit")
        return repr(float(given))
    if isinstance(given, str):
        return _text(given)
    if isinstance(given, Mapping):
        return "{ " + ", ".join(f"{_text(_name(key))} = {value(of)}" for key, of in given.items()) + " }"
    if isinstance(given, Sequence) and not isinstance(given, (bytes, bytearray)):
        return "[" + ", ".join(value(of) for of in given) + "]"
    raise wrong(
        f"a {type(given).__name__} is no value of a scenario",
        'expected text such as "10Gbps", a number, True or False, or a list or dict of these',
    )


def path(text: str) -> str:
    """A dotted path of keys as TOML writes it.

    >>> path("port.leaf0->spine1.limit")
    'port."leaf0->spine1".limit'

    Raises:
        Error: If it is no path.
    """
    return ".".join(key if re.fullmatch("[A-Za-z0-9_-]+", key) else _text(key) for key in _native.keys(text))


def _name(key: object) -> str:
    if isinstance(key, str):
        return key
    raise wrong(f"{key!r} is no name of a key", "expected text")


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
