"""When something was true and when it was learned are two clocks, and a search may ask both."""

from __future__ import annotations

import pytest

from palace import services
from palace.clock import now
from palace.errors import InvalidInput
from palace.store import Store
from search.domain.query import query_from_body, query_from_text
from search.services import search
from tests.search.support import CALLER, found

FEBRUARY, MARCH = "2026-02-01", "2026-03-01"


async def corrected() -> list[str]:
    """The instants before, between and after two things were learned: Ada lives in Rome, and since March in Oslo."""
    moments = [now()]
    drawer, _ = await services.create_drawer(CALLER, "w", "r", "Ada lives in Rome", valid_from=FEBRUARY)
    moments.append(now())
    await services.supersede(CALLER, drawer.id, "Ada lives in Oslo", valid_from=MARCH)
    moments.append(now())
    return moments


async def test_both_axes_are_asked_together(palace: Store) -> None:
    before, between, after = await corrected()
    rome, oslo = ["Ada lives in Rome"], ["Ada lives in Oslo"]
    expected = {
        # What was true then, as it is known now.
        ("2026-02-15", None): rome,
        ("2026-03-15", None): oslo,
        # As it was known before the correction: he who asked about March was told Rome.
        ("2026-02-15", between): rome,
        ("2026-03-15", between): rome,
        ("2026-01-15", between): [],
        ("2026-03-15", after): oslo,
        ("2026-03-15", before): [],
    }
    for (as_of, learned_before), contents in expected.items():
        assert await found("Ada lives", as_of=as_of, learned_before=learned_before) == contents, (as_of, learned_before)


async def test_without_a_time_it_asks_what_was_believed_of_the_present(palace: Store) -> None:
    before, between, after = await corrected()
    assert await found("Ada lives", learned_before=before) == []
    assert await found("Ada lives", learned_before=between) == ["Ada lives in Rome"]
    assert await found("Ada lives", learned_before=after) == ["Ada lives in Oslo"]


async def test_it_goes_with_a_window_and_with_all_of_history(palace: Store) -> None:
    _, between, after = await corrected()
    assert len(await found("Ada lives", include_historical=True, learned_before=after)) == 2
    assert await found("Ada lives", include_historical=True, learned_before=between) == ["Ada lives in Rome"]
    assert await found("Ada lives", from_="2026-04-01", until="2026-05-01", learned_before=between) == ["Ada lives in Rome"]
    assert await found("Ada lives", from_="2026-04-01", until="2026-05-01", learned_before=after) == ["Ada lives in Oslo"]


async def test_the_instant_itself_is_not_before(palace: Store) -> None:
    drawer, _ = await services.create_drawer(CALLER, "w", "r", "Ada lives in Rome")
    assert await found("Ada lives", learned_before=drawer.created_at) == []


async def test_the_body_asks_the_same(palace: Store) -> None:
    _, between, _ = await corrected()
    body = {"text": "Ada lives", "filter": {"learned_before": between, "temporal": {"as_of": "2026-03-15T00:00:00Z"}}}
    hits = await search(CALLER, query_from_body(body))
    assert [hit.drawer.content for hit in hits] == ["Ada lives in Rome"]


def test_an_unreadable_instant_is_blamed() -> None:
    with pytest.raises(InvalidInput, match="learned_before"):
        query_from_text(q="a", learned_before="last week")
    with pytest.raises(InvalidInput, match=r"filter\.learned_before"):
        query_from_body({"filter": {"learned_before": "last week"}})
