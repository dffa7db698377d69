"""The statistics of `summary.csv` once more, from the definitions and in other arithmetic.

Values that are counted or picked are exact; sums are exact fractions, divided once. Intervals come from exact binomial
sums and from Student's t with one degree of freedom, whose quantile is a tangent.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import NamedTuple


class Statistic(NamedTuple):
    value: Fraction | float | None
    low: Fraction | float | None
    high: Fraction | float | None
    n: int


#: The 97.5th percentile of Student's t with one degree of freedom, which is Cauchy's distribution.
T975 = math.tan(math.pi * 0.475)


def nearest_rank(values: list, permille: int):
    """The smallest value with at least `permille` of all at or below it."""
    ordered = sorted(values)
    return ordered[max(1, math.ceil(Fraction(permille * len(ordered), 1000))) - 1]


@functools.cache
def order_ranks(permille: int, n: int) -> tuple[int, int] | None:
    """Ranks whose values enclose the true quantile, each missing it with at most 2.5 %."""
    # How many samples lie below the true quantile is binomial; all weights are whole over 1000^n.
    weights = [math.comb(n, k) * permille**k * (1000 - permille) ** (n - k) for k in range(n + 1)]
    tail = 1000**n
    below, lower = 0, 0
    while (below + weights[lower]) * 40 <= tail:
        below += weights[lower]
        lower += 1
    above, upper = 0, n + 1
    while (above + weights[upper - 1]) * 40 <= tail:
        above += weights[upper - 1]
        upper -= 1
    return (lower, upper) if lower >= 1 and upper <= n else None


def quantile(seeds: list[list], permille: int) -> Statistic:
    """If ten samples or more lie above: of two seeds by how far they are apart, of one by order statistics."""
    pooled = sorted(value for seed in seeds for value in seed)
    if not pooled:
        return Statistic(None, None, None, 0)
    value, n = nearest_rank(pooled, permille), len(pooled)
    if n * (1000 - permille) < 10_000:
        return Statistic(value, None, None, n)
    own = [nearest_rank(seed, permille) for seed in seeds if seed]
    if len(own) == 2:
        return sectioned(value, own, n)
    ranks = order_ranks(permille, n)
    low, high = (pooled[rank - 1] for rank in ranks) if ranks else (None, None)
    return Statistic(value, low, high, n)


def ratio(parts: list[tuple], n: int, most: float | None = None) -> Statistic:
    """Sum over sum; with two parts, one for each seed, an interval by the linearised variance."""
    above, below = sum(Fraction(a) for a, _ in parts), sum(Fraction(b) for _, b in parts)
    if below == 0:
        return Statistic(None, None, None, n)
    value = above / below
    assert len(parts) == 2, "the quantile of Student's t is that of two seeds"
    mean = below / 2
    variance = sum(((Fraction(a) - value * b) / mean) ** 2 for a, b in parts) / 2
    half = T975 * math.sqrt(variance)
    high = float(value) + half
    return Statistic(value, max(0.0, float(value) - half), high if most is None else min(most, high), n)


def mean(parts: list[tuple], n: int, most: float | None = None) -> Statistic:
    """The same over flows or queries: how far the only seed that has any is from itself says nothing."""
    found = ratio(parts, n, most)
    return found if sum(1 for _, below in parts if below > 0) == 2 else Statistic(found.value, None, None, n)


def sectioned(value, seeds: list, n: int) -> Statistic:
    """A value over both seeds, with an interval by how far that of each seed alone is from it."""
    assert len(seeds) == 2, "the quantile of Student's t is that of two seeds"
    half = T975 * math.sqrt(sum(Fraction(seed - value) ** 2 for seed in seeds) / 2)
    return Statistic(value, max(0.0, float(value) - half), float(value) + half, n)


def counted(value, n: int) -> Statistic:
    return Statistic(value, None, None, n)
