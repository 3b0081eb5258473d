"""Counting what a run leaves out."""

from __future__ import annotations

import json

from mining.domain.contract import Skip, SkipReason
from mining.domain.skips import SkipTally


def tally(**counts: int) -> SkipTally:
    found = SkipTally()
    for reason, count in counts.items():
        found.add_all(Skip(f"{reason}/{number}", SkipReason(reason)) for number in range(count))
    return found


def test_skips_are_counted_by_reason() -> None:
    found = tally(symlink=1, binary=30)
    assert found.total == 31
    assert found.by_reason() == {"binary": 30, "symlink": 1}


def test_a_rare_reason_is_never_crowded_out_of_the_examples() -> None:
    examples = tally(binary=500, empty=2, symlink=1).examples()
    assert len(examples) == 20
    assert [skip.path for skip in examples[:5]] == ["binary/0", "empty/0", "symlink/0", "binary/1", "empty/1"]
    assert sum(skip.reason is SkipReason.BINARY for skip in examples) == 17


def test_a_single_reason_shows_twenty_examples() -> None:
    assert [skip.path for skip in tally(ignored=25).examples()] == [f"ignored/{number}" for number in range(20)]


def test_a_tally_survives_the_checkpoint() -> None:
    found = tally(binary=25, not_utf8=1)
    restored = SkipTally.from_json(json.loads(json.dumps(found.to_json())))
    assert restored == found
    restored.add(Skip("late", SkipReason.EMPTY))
    assert (restored.total, found.total) == (27, 26)


def test_an_empty_checkpoint_is_an_empty_tally() -> None:
    assert SkipTally.from_json({}) == SkipTally()
    assert SkipTally().examples() == []
