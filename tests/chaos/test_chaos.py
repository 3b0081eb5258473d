"""A short form of the chaos test: a few rounds of each arrangement, other ones each time. `make chaos` runs many."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.chaos.model import Broken
from tests.chaos.run import Run

ROUNDS = 2


def chosen_seed() -> int:
    """A new seed for each run, or the one to reproduce a failure with."""
    return int(os.environ.get("MEMCASTLE_TEST_SEED", time.time_ns() % 1_000_000))


@pytest.mark.parametrize("daemons", [1, 2])
def test_what_daemons_promise_survives_their_deaths(tmp_path: Path, daemons: int) -> None:
    seed = chosen_seed()
    print(f"MEMCASTLE_TEST_SEED={seed}")
    run = Run(tmp_path / "run", seed, daemons)
    for number in range(ROUNDS):
        try:
            run.round(number)
        except Broken as broken:
            again = f"python -m tests.chaos --seed {seed} --round {number} --daemons {daemons}"
            pytest.fail(
                "\n".join(
                    [f"round {number} of seed {seed} is broken; replay: {again}", *broken.problems, f"kept in {tmp_path}"]
                )
            )
