"""Measures of a ranking in which one passage is right; each takes the rank of that passage, from 0."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

NOWHERE = 10**9


def success_at(ranks: Sequence[int], k: int) -> float:
    """Share of the questions whose passage is among the first `k`, in points."""
    return 100 * float(np.mean(np.array(ranks) < k))


def mrr_at_10(ranks: Sequence[int]) -> float:
    """Mean reciprocal rank, 0 beyond the tenth, in points."""
    at = np.array(ranks)
    return 100 * float(np.mean(np.where(at < 10, 1 / (at + 1), 0)))


def ndcg_at_10(ranks: Sequence[int]) -> float:
    """Mean discounted gain, 0 beyond the tenth, in points."""
    at = np.array(ranks)
    return 100 * float(np.mean(np.where(at < 10, 1 / np.log2(at + 2), 0)))
