"""The plan of a round, decided by seed and number of the round and by nothing else."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.chaos.deeds import (
    PLACES,
    TREES,
    Ask,
    AskPaused,
    Audit,
    Blow,
    ChangeTree,
    Checkpoint,
    Control,
    Deed,
    DeleteText,
    Demo,
    FindText,
    Freeze,
    Kill,
    KillAgain,
    KillAll,
    KillWhileStarting,
    KillWhileStopping,
    Mine,
    Plan,
    Repair,
    RepeatText,
    Step,
    Stop,
    StopTwice,
    StoreText,
    Strike,
)

LEASE_SECONDS = 3
"""The shortest lease that can be configured; a freeze is longer."""
CONTROLS: tuple[Control, ...] = ("pause", "pause", "pause", "resume", "resume", "cancel", "cancel", "retry", "force-cancel")
LONGEST_PAUSE = 0.4
SHORTEST_DEMO, LONGEST_DEMO = 3, 25
TEXTS_OF_ROUND = 1000
"""Numbers of texts that one round may use; rounds never share one."""


def plan_of(seed: int, number: int, daemons: int = 1) -> Plan:
    """The plan of round `number`: clients that write and ask, and blows meanwhile."""
    chance = random.Random(f"{seed}:{number}")
    texts, items = _Numbers(number * TEXTS_OF_ROUND), _Numbers(number * TEXTS_OF_ROUND)
    writer = [_step(chance, daemons, _writing(chance, texts)) for _ in range(chance.randint(25, 60))]
    keeper = [
        # Something must run when the first blow falls.
        _step(chance, daemons, _growth(chance)),
        _step(chance, daemons, _mine(chance)),
        *(_step(chance, daemons, _keeping(chance, items)) for _ in range(chance.randint(25, 45))),
    ]
    strikes = [_strike(chance, daemons) for _ in range(chance.choice((1, 2, 2, 3, 4)))]
    return Plan(seed, number, (tuple(writer), tuple(keeper)), tuple(strikes))


class _Numbers:
    """Numbers of new texts."""

    def __init__(self, first: int) -> None:
        self._first = self._next = first

    def take(self, count: int = 1) -> int:
        """The first of so many numbers that were not taken before."""
        first = self._next
        self._next += count
        return first

    def again(self, count: int) -> int:
        """The first of the numbers taken last."""
        return max(self._first, self._next - count)


def _step(chance: random.Random, daemons: int, deed: Deed) -> Step:
    return Step(round(LONGEST_PAUSE * chance.random() ** 3, 3), chance.randrange(daemons), deed)


def _writing(chance: random.Random, texts: _Numbers) -> Deed:
    """A deed of the client that writes by hand."""
    deeds: tuple[tuple[int, Callable[[], Deed]], ...] = (
        (5, lambda: StoreText(texts.take(), chance.randrange(len(PLACES)), chance.random() < 0.4)),
        (5, lambda: RepeatText(chance.random())),
        (2, lambda: DeleteText(chance.random())),
        (4, lambda: FindText(chance.random())),
    )
    return _drawn(chance, deeds)


def _keeping(chance: random.Random, items: _Numbers) -> Deed:
    """A deed of the client that keeps jobs."""
    deeds: tuple[tuple[int, Callable[[], Deed]], ...] = (
        (3, lambda: _growth(chance)),
        (5, lambda: _mine(chance)),
        (4, lambda: _checkpoint(chance, items)),
        (1, Audit),
        (2, lambda: Repair(chance.random() < 0.5, chance.random() < 0.3)),
        (3, lambda: Demo(chance.choice((0, chance.randint(SHORTEST_DEMO, LONGEST_DEMO), LONGEST_DEMO)))),
        (14, lambda: Ask(chance.choice(CONTROLS), chance.random(), chance.random() < 0.8)),
        (2, lambda: AskPaused(chance.choice(("resume", "resume", "cancel")), chance.random())),
        (2, lambda: RepeatText(chance.random())),
    )
    return _drawn(chance, deeds)


def _drawn(chance: random.Random, deeds: tuple[tuple[int, Callable[[], Deed]], ...]) -> Deed:
    (make,) = chance.choices([make for _, make in deeds], [weight for weight, _ in deeds])
    return make()


def _growth(chance: random.Random) -> ChangeTree:
    return ChangeTree(
        tree=chance.randrange(TREES),
        seed=chance.randrange(10**9),
        added=chance.choice((0, 5, 20, 60)),
        changed=chance.choice((0, 3, 10, 40)),
        removed=chance.choice((0, 0, 2, 10, 30)),
    )


def _mine(chance: random.Random) -> Mine:
    wing = chance.choice((None, None, None, "elsewhere"))
    return Mine(chance.randrange(TREES), full=chance.random() < 0.3, wing=wing)


def _checkpoint(chance: random.Random, items: _Numbers) -> Checkpoint:
    count = chance.choice((1, 3, 12))
    # Every fourth one brings what a checkpoint before it brought, which must not be stored again.
    first = items.again(count) if chance.random() < 0.25 else items.take(count)
    return Checkpoint(first, count, chance.random() < 0.2)


def _strike(chance: random.Random, daemons: int) -> Strike:
    # Of two daemons either may run a job, so one does not wait for one kind in vain.
    work = ("mine", "mine", "checkpoint", "demo") if daemons == 1 else ("job", "job", "job", "job")
    amid = chance.choice((None, *work, "request", "request"))
    longest = {None: 2.0, "request": 0.04}.get(amid, 0.12)
    pause = chance.uniform(0, longest)
    return Strike(round(pause, 3), amid, chance.randrange(daemons), _blow(chance, daemons))


def _blow(chance: random.Random, daemons: int) -> Blow:
    down = round(chance.choice((0.0, chance.uniform(0, 1.5))), 3)
    blows: tuple[tuple[int, Callable[[], Blow]], ...] = (
        (6, lambda: Kill(down)),
        (1, lambda: KillAgain(chance.choice((2, 3, 4)))),
        (3, lambda: Stop(down)),
        (1, lambda: StopTwice(round(chance.uniform(0, 0.6), 3), down)),
        (2, lambda: KillWhileStopping(round(chance.uniform(0, 1.2), 3), down)),
        (2, lambda: KillWhileStarting(round(chance.uniform(0.1, 2.0), 3), down)),
        (2 * daemons, lambda: Freeze(round(LEASE_SECONDS + chance.uniform(0.5, 2.0), 3))),
        (1 if daemons > 1 else 0, lambda: KillAll(down)),
    )
    (make,) = chance.choices([make for _, make in blows], [weight for weight, _ in blows])
    return make()
