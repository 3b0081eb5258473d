"""The directories that are mined: what lies in them now, and everything that ever did."""

from __future__ import annotations

import os
import random
from collections import defaultdict
from pathlib import Path

from tests.chaos.deeds import TREES, ChangeTree
from tests.chaos.texts import file_text

MOST_FILES = 150


class Files:
    """The mined directories below `root`. One client changes them."""

    def __init__(self, root: Path) -> None:
        self._incoming = root / "incoming"
        self._incoming.mkdir(parents=True)
        self.trees = [root / f"tree-{number}" for number in range(TREES)]
        for tree in self.trees:
            tree.mkdir()
        self.now: list[dict[str, str]] = [{} for _ in self.trees]
        """For each tree, the texts by path."""
        self.ever: list[defaultdict[str, set[str]]] = [defaultdict(set) for _ in self.trees]
        """For each tree, every text that ever stood at a path."""

    def change(self, deed: ChangeTree) -> None:
        """Carries the change out; each file appears, changes or goes in one moment."""
        chance = random.Random(deed.seed)
        now = self.now[deed.tree]
        paths = sorted(now)
        chance.shuffle(paths)
        for path in paths[: deed.removed]:
            (self.trees[deed.tree] / path).unlink()
            del now[path]
        for path in paths[deed.removed : deed.removed + deed.changed]:
            # Like an editor, a change keeps the beginning of the file as often as not.
            text = f"{now[path]}\n{file_text(chance, 900)}" if chance.random() < 0.5 else file_text(chance)
            self._write(deed.tree, path, text)
        for _ in range(min(deed.added, MOST_FILES - len(now))):
            self._write(deed.tree, f"{chance.choice('abcd')}/file-{chance.randrange(400)}.txt", file_text(chance))

    def _write(self, tree: int, path: str, text: str) -> None:
        # Noted first: from the moment it lies there it may be mined.
        self.ever[tree][path].add(text)
        self.now[tree][path] = text
        incoming = self._incoming / "file"
        incoming.write_text(text)
        place = self.trees[tree] / path
        place.parent.mkdir(exist_ok=True)
        os.replace(incoming, place)
