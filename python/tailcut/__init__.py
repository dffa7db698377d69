"""A packet-level laboratory for datacenter networks.

>>> import tailcut
>>> scenario = tailcut.Scenario.from_toml('''
... schemes = ["dctcp", "pias"]
... [topology.star]
... hosts = 8
... host_link = { rate = "10Gbps", delay = "1us" }
... [workload]
... load = 0.5
... flows = 100
... [workload.traffic.all-sizes]
... share = 1.0
... sizes.distribution = "websearch"
... ''')
>>> scenario.check().points
2
>>> run = scenario.seeds(2).run(out=folder)
>>> run.schemes
('dctcp', 'pias')
>>> run.value("fct_p99", scheme="pias").unit
'us'
"""

from __future__ import annotations

from tailcut import _native
from tailcut._error import Error
from tailcut._keys import Key
from tailcut._native import Table
from tailcut._progress import Progress
from tailcut._run import ComparedRow, Comparison, Estimate, Failure, Point, Run, load
from tailcut._scenario import Check, Forecast, Scenario, Warning  # noqa: A004

_native.begin(_native.__file__)

#: The version with a fingerprint of the program: points of another build are never taken for those of this one.
__version__: str = _native.version()

__all__ = [
    "Check",
    "ComparedRow",
    "Comparison",
    "Error",
    "Estimate",
    "Failure",
    "Forecast",
    "Key",
    "Point",
    "Progress",
    "Run",
    "Scenario",
    "Table",
    "Warning",
    "load",
]
