"""Fusion, cap and document support: pure functions of lists."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from knowledge.retrieval.centre import centres, towards
from knowledge.retrieval.fit import Threshold, is_weak, threshold
from knowledge.retrieval.fuse import capped, minmax, rrf
from knowledge.retrieval.support import supported
from nexus.store.search import Match

RIDS = st.lists(st.sampled_from([f"p{n}" for n in range(30)]), unique=True, max_size=20)


def test_reciprocal_ranks_from_one_with_k_60_ties_by_identifier():
    assert rrf([["b", "a"], ["a", "c"]]) == [("a", 1 / 61 + 1 / 62), ("b", 1 / 61), ("c", 1 / 62)]
    assert [rid for rid, _ in rrf([["b"], ["a"]])] == ["a", "b"]


@given(st.lists(RIDS, max_size=4))
def test_the_order_of_the_lists_does_not_matter(lists):
    assert [rid for rid, _ in rrf(lists)] == [rid for rid, _ in rrf(lists[::-1])]


@given(RIDS, st.integers(1, 5), st.integers(1, 15))
def test_the_cap_never_shrinks_the_count_and_keeps_the_order(ranked, per_document, count):
    documents = {rid: str(int(rid[1:]) % 3) for rid in ranked}
    kept = capped(ranked, documents, per_document, count)
    assert len(kept) == min(count, len(ranked))
    assert kept == [rid for rid in ranked if rid in set(kept)]
    over = [rid for rid in kept if sum(documents[other] == documents[rid] for other in kept) > per_document]
    # More of one document than the cap only where nothing else was left.
    if over:
        left = [rid for rid in ranked if rid not in kept]
        assert all(sum(documents[other] == documents[rid] for other in kept) >= per_document for rid in left)


def test_minmax_puts_scores_of_different_size_on_one_scale():
    assert minmax([[("a", 30.0), ("b", 10.0)], [("b", 0.9), ("a", 0.8)]], [0.5, 0.5]) == [("a", 0.5), ("b", 0.5)]
    assert minmax([[("a", 1.0)]], [0.5]) == [("a", 0.5)]


def test_other_passages_of_a_document_support_one_and_scores_stay():
    lone, pair, mate = Match(1, "a", "x", 10.0), Match(2, "b", "y", 9.0), Match(3, "c", "y", 8.0)
    found = supported([lone, pair, mate], floor=0.0)
    assert [match.rid for match in found] == ["b", "c", "a"]
    assert {match.rid: match.score for match in found} == {"a": 10.0, "b": 9.0, "c": 8.0}


def test_weak_only_where_both_are():
    fitted = Threshold(0.84, 0.2)
    assert is_weak(0.80, 1.0, 10.0, fitted)
    assert not is_weak(0.90, 1.0, 10.0, fitted)
    assert not is_weak(0.80, 5.0, 10.0, fitted)
    assert is_weak(None, None, 0.0, None)
    assert threshold("multilingual-e5-small", 384) is not None
    assert threshold("unknown", 7) is None


@given(
    arrays(np.float32, 8, elements=st.floats(-1, 1, width=16)),
    arrays(np.float32, 8, elements=st.floats(-1, 1, width=16)),
)
def test_a_question_goes_without_its_language_only_where_it_looks_in_another(question, mean):
    means = {"ko": mean}
    assert towards(question, "ko", "ko", means) is question
    assert towards(question, "en", "ko", means) is question
    assert towards(question, "ko", "en", {}) is question
    ranking, rest = towards(question, "ko", "en", means), question - mean
    if rest.any():
        assert ranking == pytest.approx(rest / np.linalg.norm(rest), abs=1e-5)
    else:
        assert ranking is question


def test_the_bundled_model_has_a_mean_question_of_each_language_and_others_have_none():
    means = centres("multilingual-e5-small", 384)
    assert means.keys() == {"en", "ko"}
    # What all questions share is most of each of them.
    assert all(0.8 < np.linalg.norm(mean) < 1 for mean in means.values())
    assert centres("unknown", 7) == {}
