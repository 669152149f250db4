"""Bounds and intervals. Pure arithmetic, no library: the few distributions that drift.md names.

All probabilities in 0..1. `k` successes in `n` trials.
"""

from __future__ import annotations

import math
from functools import lru_cache

_EPSILON = 1e-14
_TINY = 1e-300


def rate_upper(opportunities: float, detection: float, alpha: float) -> float:
    """Upper bound on the rate per request when `opportunities` requests showed none: (1 - alpha^(1/m)) / d. 1 where m is 0."""
    if opportunities <= 0 or detection <= 0:
        return 1.0
    return min(1.0, -math.expm1(math.log(alpha) / opportunities) / detection)


def active_day_upper(days: int, alpha: float) -> float:
    """Upper bound on the share of active days when `days` covered days showed none: 1 - alpha^(1/B). 1 where B is 0."""
    return min(1.0, -math.expm1(math.log(alpha) / days)) if days > 0 else 1.0


def requests_needed(rate: float, detection: float, alpha: float, factor: float) -> int:
    """Requests without a sighting that bring the upper bound to `rate`, times `factor` for repeated looks."""
    chance = min(rate * detection, 1 - 1e-12)
    return math.ceil(factor * math.ceil(math.log(alpha) / math.log1p(-chance))) if chance > 0 else 0


def days_needed(share: float, alpha: float) -> int:
    """Covered days without a sighting that bring the upper bound on active days to `share`."""
    return math.ceil(math.log(alpha) / math.log1p(-share) - 1e-9)


def silent_chance(active: int, days: int, silent: int) -> float:
    """Beta(1/2, 1/2)-binomial posterior predictive: `silent` days without activity, after `active` of `days` had some."""
    a, b = 0.5 + active, 0.5 + max(days - active, 0)
    return math.exp(math.lgamma(b + silent) + math.lgamma(a + b) - math.lgamma(b) - math.lgamma(a + b + silent))


def silence_in_year(active: int, days: int, silent: int) -> float:
    """Silences of at least `silent` days that a year of such a rhythm is expected to have: one begins after each active day. Bounds the chance of any."""
    return 365 * (silent_chance(active, days, silent) - silent_chance(active, days, silent + 1))


def silent_days_needed(active: int, days: int, chance: float, limit: int = 366) -> int:
    """Silent days after which the rhythm no longer explains the silence; `limit` + 1 where it always would."""
    a, b, product = 0.5 + active, 0.5 + max(days - active, 0), 1.0
    for silent in range(limit):
        if product < chance:
            return silent
        product *= (b + silent) / (a + b + silent)
    return limit + 1


def beta_cdf(x: float, a: float, b: float) -> float:
    """Regularised incomplete beta function, by its continued fraction."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(x, a, b) / a
    return 1 - front * _fraction(1 - x, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    """Lentz's evaluation."""
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > _TINY else _TINY)
    value = d
    for m in range(1, 400):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 + numerator * d
            c = 1 + numerator / c
            d = 1 / (d if abs(d) > _TINY else _TINY)
            c = c if abs(c) > _TINY else _TINY
            value *= d * c
        if abs(d * c - 1) < _EPSILON:
            break
    return value


@lru_cache(maxsize=65_536)
def beta_quantile(p: float, a: float, b: float) -> float:
    """Inverse of `beta_cdf` by bisection."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if beta_cdf(middle, a, b) < p:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def share_lower(k: float, n: float, alpha: float = 0.05) -> float:
    """One-sided Clopper-Pearson lower bound of a share; 0 where nothing was seen."""
    if k <= 0 or n <= 0:
        return 0.0
    if k >= n:
        return float(alpha ** (1 / n))
    return beta_quantile(alpha, k, n - k + 1)


def share_upper(k: float, n: float, alpha: float = 0.05) -> float:
    """One-sided Clopper-Pearson upper bound of a share; 1 where nothing was seen."""
    if n <= 0 or k >= n:
        return 1.0
    if k <= 0:
        return -math.expm1(math.log(alpha) / n)
    return beta_quantile(1 - alpha, k + 1, n - k)


def jeffreys(k: float, n: float, alpha: float = 0.05) -> tuple[float, float]:
    """Two-sided Jeffreys interval of a rate; (0, 1) without trials."""
    if n <= 0:
        return 0.0, 1.0
    low = 0.0 if k <= 0 else beta_quantile(alpha / 2, k + 0.5, n - k + 0.5)
    high = 1.0 if k >= n else beta_quantile(1 - alpha / 2, k + 0.5, n - k + 0.5)
    return low, high


def good_turing(singletons: int, total: int) -> float:
    """Chance that the next independent sighting is of an edge not seen so far."""
    return singletons / total if total else 1.0


def chao1(singletons: int, doubletons: int) -> float:
    """Estimated number of edges not seen so far (bias-corrected lower bound)."""
    return singletons * max(singletons - 1, 0) / (2 * (doubletons + 1))
