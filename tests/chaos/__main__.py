"""`python -m tests.chaos`: rounds of chaos, or one round once more."""

from __future__ import annotations

import argparse
import logging
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from tests.chaos.model import Broken
from tests.chaos.run import Run

FAILED = 1
ROUNDS_OF_PALACE = 50
"""Rounds after which a new palace is begun: each one is read as a whole, and grows by some hundred drawers a round."""
LONGEST = 1200
"""Characters of a problem that are printed."""


def main(words: list[str] | None = None) -> int:
    """Runs the rounds that are asked for; 0 when nothing was wrong."""
    asked = _parser().parse_args(words)
    logging.getLogger("memcastle").setLevel(logging.ERROR)
    # Whoever ends this program ends its daemons, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))
    seed = time.time_ns() % 1_000_000 if asked.seed is None else asked.seed
    numbers = range(asked.rounds) if asked.round is None else range(asked.round, asked.round + 1)
    directory = Path(tempfile.mkdtemp(prefix="memcastle-chaos-"))
    print(f"seed {seed}, {len(numbers)} rounds, {asked.daemons} daemons, in {directory}", flush=True)
    number = numbers.start
    try:
        for number in numbers:
            if number == numbers.start or number % ROUNDS_OF_PALACE == 0:
                run = Run(directory / f"from-round-{number}", seed, asked.daemons)
            print(f"round {number}: {run.round(number)}", flush=True)
    except Broken as broken:
        print(f"round {number} of seed {seed} is broken:")
        print("\n".join(f"  - {_shortened(problem)}" for problem in broken.problems))
        print(f"the palace and the daemons' logs are kept in {run.directory}")
        print(f"replay with: python -m tests.chaos --seed {seed} --round {number} --daemons {asked.daemons}", flush=True)
        return FAILED
    shutil.rmtree(directory)
    return 0


def _shortened(problem: str) -> str:
    """A problem without its middle, if it is long."""
    return problem if len(problem) <= LONGEST else f"{problem[: LONGEST // 2]} … {problem[-LONGEST // 2 :]}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--rounds", type=int, default=200, help="how many rounds (default 200)")
    parser.add_argument("--seed", type=int, help="what decides the plans (default: a new one)")
    parser.add_argument("--round", type=int, help="only this round, on a new palace")
    parser.add_argument("--daemons", type=int, choices=(1, 2), default=1, help="daemons on the palace (default 1)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
