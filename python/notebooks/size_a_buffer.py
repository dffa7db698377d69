# %% [markdown]
# # Size a buffer
#
# The smallest buffer of a port with which the 99th percentile of short flows stays below a target, by bisection. All
# buffers see the same flows, because they have the same seeds. `tailcut advise buffer` does the same and says how sure
# the answer is.

# %%
import tailcut

TARGET_US = 400.0
SEEDS = 3

base = (
    tailcut.Scenario.from_toml("""
schemes = ["dctcp"]

[topology.leaf-spine]
leaves = 4
hosts_per_leaf = 4
spines = 2
host_link = { rate = "10Gbps", delay = "1us" }
core_link = { rate = "10Gbps", delay = "1us" }

[port]
marker.step.threshold = "32KB"

[workload]
load = 0.5
load_of = "fabric"
flows = 4000

[workload.traffic.short]
share = 0.5
sizes.uniform = { min = "8KB", max = "32KB" }

[workload.traffic.long]
share = 0.5
sizes.fixed = "1MB"
""")
    .seeds(SEEDS)
)

tried: dict[int, float] = {}


def p99_us(kilobytes: int) -> float:
    """The 99th percentile of short flows with this buffer, in us."""
    if kilobytes not in tried:
        run = base.set("port.limit", f"{kilobytes}KB").run(out=f"runs/buffer/{kilobytes}", progress=False)
        estimate = run.value("fct_p99", class_="short")
        assert estimate.value is not None and estimate.unit == "us"
        tried[kilobytes] = estimate.value
        interval = estimate.note if estimate.low is None else f"{estimate.low:.0f} to {estimate.high:.0f}"
        print(f"{kilobytes} KB: {estimate.value:.0f} us, {interval}")
    return tried[kilobytes]


# %% [markdown]
# The bounds: a buffer that is too small, and one that is large enough.

# %%
low, high = 16, 512
assert p99_us(high) <= TARGET_US, "no buffer helps: the target is too strict"
assert p99_us(low) > TARGET_US, "every buffer will do: the target is too weak"

# %%
while high - low > 16:
    middle = (low + high) // 2
    if p99_us(middle) <= TARGET_US:
        high = middle
    else:
        low = middle
print(f"{high} KB keep the 99th percentile of short flows below {TARGET_US:.0f} us; {low} KB do not")
assert tried[high] <= TARGET_US < tried[low]
