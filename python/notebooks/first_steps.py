# %% [markdown]
# # First steps
#
# Four schemes on a small network: build the scenario, look at what would run, run it, read it, draw it.

# %%
import tailcut

scenario = (
    tailcut.Scenario.from_toml("""
[topology.leaf-spine]
leaves = 4
hosts_per_leaf = 4
spines = 2
host_link = { rate = "10Gbps", delay = "1us" }
core_link = { rate = "10Gbps", delay = "1us" }

[workload]
load = 0.5
load_of = "fabric"
flows = 1500

[workload.traffic.short]
share = 0.3
sizes.uniform = { min = "8KB", max = "32KB" }

[workload.traffic.long]
share = 0.7
sizes.fixed = "1MB"
""")
    .schemes("dctcp", "pias", "sjf")
    .sweep("workload.load", [0.4, 0.7])
    .seeds(3)
)
check = scenario.check()
print(f"{check.points} points, about {check.cpu_s:.1f} s of CPU time")
for warning in check.warnings:
    print("warning:", warning)

# %%
run = scenario.run(out="runs/first-steps")
assert run.is_complete

# %% [markdown]
# Every statistic has its interval, or says why there is none.

# %%
for row in run.estimates("fct_p99", class_="short"):
    interval = row.note if row.low is None else f"{row.low:.0f} to {row.high:.0f}"
    print(f"{row.scheme:>6} at load {row.values['workload.load']}: {row.value:.0f} {row.unit}, {interval}")

# %%
comparison = run.compare("dctcp", "pias", metric="fct_mean")
print(comparison)
assert all(row.method == "paired" for row in comparison.rows)

# %% [markdown]
# Rows of flows go to any data frame without a copy: here to polars, if it is installed.

# %%
flows = run.flows(load=0.7)
print(len(flows), "flows:", ", ".join(flows.columns))
try:
    import polars
except ImportError:
    print("there is no polars: `pip install polars`, or take pandas, pyarrow or DuckDB")
else:
    slowdown = polars.col("slowdown").quantile(0.99)
    by_scheme = polars.DataFrame(flows).group_by("scheme").agg(slowdown).sort("scheme")
    print(by_scheme)
    assert by_scheme.height == 3

# %% [markdown]
# A chart needs Altair; without it, the cell says how to install it.

# %%
try:
    chart = run.plot("fct_mean", class_="short")
except tailcut.Error as error:
    print(error)
    chart = None
chart  # noqa: B018 - a notebook shows it
