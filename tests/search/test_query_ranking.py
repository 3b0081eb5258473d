"""Which ranking answers a query, and in which order its hits come."""

from __future__ import annotations

import pytest

from search.domain.query import Ranking, SearchQuery
from search.domain.ranking import Ranked, chosen_ranking, ordered
from search.errors import SemanticUnavailable


@pytest.mark.parametrize(
    ("asked", "vector", "runs"),
    [
        (Ranking.AUTO, True, Ranking.HYBRID),
        (Ranking.AUTO, False, Ranking.LEXICAL),
        (Ranking.LEXICAL, True, Ranking.LEXICAL),
        (Ranking.LEXICAL, False, Ranking.LEXICAL),
        (Ranking.SEMANTIC, True, Ranking.SEMANTIC),
        (Ranking.HYBRID, True, Ranking.HYBRID),
    ],
)
def test_the_ranking_that_runs(asked: Ranking, vector: bool, runs: Ranking) -> None:
    assert chosen_ranking(SearchQuery("words", ranking=asked), vector) is runs


@pytest.mark.parametrize("asked", [Ranking.SEMANTIC, Ranking.HYBRID])
@pytest.mark.parametrize("text", ["words", "  "])
def test_a_vector_ranking_without_a_vector_is_refused_and_not_answered_by_words(asked: Ranking, text: str) -> None:
    with pytest.raises(SemanticUnavailable, match=asked) as refusal:
        chosen_ranking(SearchQuery(text, ranking=asked), False)
    assert refusal.value.status == 400
    body = refusal.value.body()
    assert body["code"] == "memcastle::search::semantic_unavailable"
    assert body["help"]


def test_hits_come_best_first_and_equal_ones_by_drawer_id() -> None:
    hits = [Ranked("c", 1.0), Ranked("a", 0.0), Ranked("b", 1.0), Ranked("d", 2.0), Ranked("0", 0.0)]
    assert [hit.drawer_id for hit in ordered(hits)] == ["d", "b", "c", "0", "a"]
