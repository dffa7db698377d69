# %% [markdown]
# # Your own scheme beside five others
#
# A scheme is a choice of seats. This one is Slytherin without a part of it: ports serve packets first that arrive
# already marked, but not ACKs.

# %%
import tailcut

OTHERS = ["tcp", "dctcp", "pias", "sjf", "slytherin"]

scenario = (
    tailcut.Scenario.from_toml("""
[topology.star]
hosts = 12
host_link = { rate = "10Gbps", delay = "1us" }

[port]
limit = "240KB"

[workload]
load = 0.6
flows = 400

[workload.traffic.all-sizes]
share = 1.0
sizes.distribution = "websearch"
""")
    .set("size_bounds", ["100KB", "10MB"])
    .set("scheme.mine", {"preset": "slytherin", "port": {"classifier": {"ce-or-ack": {"acks": False}}}})
    .schemes(*OTHERS, "mine")
    .seeds(3)
)
run = scenario.run(out="runs/own-scheme")
assert run.schemes[-1].startswith("mine")

# %% [markdown]
# Ratios to DCTCP, seed by seed.

# %%
mine = run.schemes[-1]
for scheme in run.schemes:
    row = next(iter(run.compare("dctcp", scheme, metric="fct_mean").rows))
    interval = "" if row.low is None else f" ({row.low:.3f} to {row.high:.3f})"
    print(f"{scheme:>12}: {row.ratio:.3f}{interval}, {row.verdict}")
    assert row.method == "paired"

# %% [markdown]
# A chart needs Altair; without it, the cell says how to install it.

# %%
try:
    chart = run.plot("fct_mean")
except tailcut.Error as error:
    print(error)
    chart = None
chart  # noqa: B018 - a notebook shows it
