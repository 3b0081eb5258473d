"""The plan of a round is decided by seed and number alone, so that a failing round can be replayed."""

from __future__ import annotations

from tests.chaos.deeds import Freeze, KillAll
from tests.chaos.plan import LEASE_SECONDS, plan_of
from tests.chaos.texts import text_of, word_of

ROUNDS = range(300)


def test_a_seed_and_a_number_always_give_the_same_plan() -> None:
    assert plan_of(7, 3) == plan_of(7, 3)
    assert len({plan_of(7, number) for number in ROUNDS}) == len({plan_of(seed, 3) for seed in ROUNDS}) == len(ROUNDS)


def test_every_kind_of_deed_and_blow_occurs() -> None:
    one = [plan_of(1, number) for number in ROUNDS]
    two = [plan_of(1, number, daemons=2) for number in ROUNDS]
    assert len({type(step.deed) for plan in one for client in plan.clients for step in client}) == 12
    assert len({type(strike.blow) for plan in two for strike in plan.strikes}) == 8
    assert not any(isinstance(strike.blow, KillAll) for plan in one for strike in plan.strikes)
    assert {strike.daemon for plan in one for strike in plan.strikes} == {0}
    assert {strike.daemon for plan in two for strike in plan.strikes} == {0, 1}


def test_a_freeze_outlasts_a_lease() -> None:
    freezes = [strike.blow for number in ROUNDS for strike in plan_of(1, number).strikes if isinstance(strike.blow, Freeze)]
    assert freezes
    assert all(freeze.seconds > LEASE_SECONDS for freeze in freezes)


def test_no_two_texts_share_their_word() -> None:
    words = [word_of(number, salt) for number in range(10_000) for salt in ("text", "item")]
    assert len(set(words)) == len(words)
    assert word_of(4) in text_of(4)
    assert word_of(4) not in text_of(5)
