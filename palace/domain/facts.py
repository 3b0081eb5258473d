"""Facts, the decisions between them, and what follows for each at an instant.

A fact says of one entity that it stands in some relation to another, for a time. Decisions are links between facts that
are never changed. Whether a fact is current, disputed or replaced is no stored state: it is computed from both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from palace.domain.clock import Timestamp
from palace.domain.history import has_ended, holds_at, overlap
from palace.domain.ids import derived_id

POLICY = "policy v1"
"""Begins the reason of every inferred link, so that links of a later policy can be told apart."""

SINGLE_VALUED = frozenset({"located_in"})
"""Predicates that hold of one object at a time; every other may hold of several."""

MOST_ROUNDS = 100
"""Rounds of the walk from a fact along its links."""

FRESHNESS = 0.12
FRESHNESS_DAYS = 30


@dataclass(frozen=True, slots=True)
class FactProvenance:
    """From which drawer a fact was extracted, and by what."""

    drawer: str
    extractor: str
    extracted_at: Timestamp
    origin: Mapping[str, Any] | None = None
    job_id: str | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "drawer": self.drawer,
            **({"origin": dict(self.origin)} if self.origin is not None else {}),
            **({"job_id": self.job_id} if self.job_id is not None else {}),
            "extractor": self.extractor,
            "extracted_at": self.extracted_at,
        }


@dataclass(frozen=True, slots=True)
class Fact:
    """`subject` and `object` are ids of entities. Extracted facts have a provenance; `assertion` is the drawer that
    stated a fact which was asserted directly."""

    id: str
    subject: str
    predicate: str
    object: str
    confidence: float
    valid_from: Timestamp
    valid_to: Timestamp | None = None
    provenance: FactProvenance | None = None
    assertion: str | None = None

    @property
    def evidence(self) -> str | None:
        """The drawer that the fact rests on."""
        return self.provenance.drawer if self.provenance is not None else self.assertion

    @property
    def asserted(self) -> bool:
        """Whether a person or agent stated it, rather than an extractor."""
        return self.assertion is not None or self.provenance is None

    def holds_at(self, moment: Timestamp) -> bool:
        return holds_at(self.valid_from, self.valid_to, moment)

    def as_json(self, lifecycle: Lifecycle | None = None) -> dict[str, Any]:
        """The fact as every door shows it; what it does not have is left out."""
        shape: dict[str, Any] = {
            "id": self.id,
            "from": self.subject,
            "to": self.object,
            "predicate": self.predicate,
            "confidence": self.confidence,
            "valid_from": self.valid_from,
            "valid_to": self.valid_to,
        }
        if self.provenance is not None:
            shape["provenance"] = self.provenance.as_json()
        if self.assertion is not None:
            shape["assertion"] = self.assertion
        if lifecycle is not None:
            shape["lifecycle"] = lifecycle.as_json()
        return shape


class LinkKind(StrEnum):
    """What one fact does to another. `invalidates` has the same fact at both ends."""

    SUPERSEDES = "supersedes"
    CONTRADICTS = "contradicts"
    CONFIRMS = "confirms"
    REFINES = "refines"
    INVALIDATES = "invalidates"


SYMMETRIC = frozenset({LinkKind.CONFIRMS, LinkKind.CONTRADICTS})


class LinkOrigin(StrEnum):
    """Whether somebody decided a link or the policy inferred it."""

    INFERRED = "inferred"
    EXPLICIT = "explicit"


@dataclass(frozen=True, slots=True)
class FactLink:
    """A decision between two facts. `at` is when it was recorded; `evidence` is the drawer that gave rise to it.

    The ends of a symmetric link have no direction: `link` puts the lower id first, so both directions are one link.
    """

    from_id: str
    to_id: str
    kind: LinkKind
    origin: LinkOrigin
    reason: str
    at: Timestamp
    evidence: str | None = None

    @property
    def id(self) -> str:
        """The id that these ends, kind, origin and, when explicit, evidence always give. Stored state, as `derived_id` is."""
        seed, other = _ends(self.kind, self.from_id, self.to_id)
        origin = self.origin.value
        if self.origin is LinkOrigin.EXPLICIT:
            origin += f":{self.evidence or 'legacy'}"
        return derived_id(seed, f"fact-link:{self.kind.value}:{origin}:{other}")

    def as_json(self) -> dict[str, Any]:
        shape: dict[str, Any] = {
            "from": self.from_id,
            "to": self.to_id,
            "kind": self.kind.value,
            "origin": self.origin.value,
            "reason": self.reason,
            "at": self.at,
        }
        if self.evidence is not None:
            shape["evidence"] = self.evidence
        return shape


def link(
    from_id: str,
    to_id: str,
    kind: LinkKind,
    origin: LinkOrigin,
    reason: str,
    at: Timestamp,
    evidence: str | None = None,
) -> FactLink:
    """A link with the ends of a symmetric kind in their one order."""
    return FactLink(*_ends(kind, from_id, to_id), kind, origin, reason, at, evidence)


def _ends(kind: LinkKind, from_id: str, to_id: str) -> tuple[str, str]:
    return (to_id, from_id) if kind in SYMMETRIC and to_id < from_id else (from_id, to_id)


def inferred_link(new: Fact, other: Fact, at: Timestamp) -> FactLink | None:
    """What the policy says of a new fact and another one; None when it says nothing.

    They must speak of the same subject and predicate for a common time, from different drawers, and the new one must be
    open. The same object confirms; another object contradicts, where the predicate has one object at a time.
    """
    comparable = (
        new.id != other.id
        and (new.subject, new.predicate) == (other.subject, other.predicate)
        and not new.valid_to
        and overlap(new.valid_from, new.valid_to, other.valid_from, other.valid_to)
        and (new.evidence is None or new.evidence != other.evidence)
    )
    if not comparable:
        return None
    if new.object == other.object:
        kind, reason = LinkKind.CONFIRMS, f"{POLICY}: another drawer says the same"
    elif new.predicate in SINGLE_VALUED:
        kind, reason = LinkKind.CONTRADICTS, f"{POLICY}: {new.predicate} holds of one object at a time"
    else:
        return None
    return link(new.id, other.id, kind, LinkOrigin.INFERRED, reason, at, new.evidence)


def inferred_links(new: Fact, others: Iterable[Fact], at: Timestamp) -> list[FactLink]:
    """The links that the policy infers between a new fact and the others, by id."""
    found = {found.id: found for other in others if (found := inferred_link(new, other, at)) is not None}
    return [found[id] for id in sorted(found)]


def inferred_successions(new: Fact, predecessors: Iterable[Fact], at: Timestamp) -> list[FactLink]:
    """The links by which a fact replaces those of the drawer that its own drawer replaced, by id.

    `predecessors` are the facts of that drawer; the new one replaces those of the same subject and predicate.
    """
    reason = f"{POLICY}: the drawer that replaces the evidence states it anew"
    found = {
        replaced.id: replaced
        for old in predecessors
        if old.id != new.id and (old.subject, old.predicate) == (new.subject, new.predicate)
        for replaced in [link(new.id, old.id, LinkKind.SUPERSEDES, LinkOrigin.INFERRED, reason, at, new.evidence)]
    }
    return [found[id] for id in sorted(found)]


class State(StrEnum):
    """What a fact is at an instant."""

    CURRENT = "current"
    CONFLICTING = "conflicting"
    SUPERSEDED = "superseded"
    INVALIDATED = "invalidated"
    HISTORICAL = "historical"


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """The state of a fact at an instant and the links that count then.

    In a conflict `preferred` is the fact to show first and `basis` says why. It is a hint for display and decides nothing.
    """

    state: State
    links: tuple[FactLink, ...] = ()
    preferred: str | None = None
    basis: str | None = None

    def as_json(self) -> dict[str, Any]:
        shape: dict[str, Any] = {"state": self.state.value, "links": [link.as_json() for link in self.links]}
        if self.preferred is not None:
            shape |= {"preferred": self.preferred, "basis": self.basis}
        return shape


Trust = Callable[[Fact], float]
"""How far a fact is trusted when it has to be preferred to another."""


def confidence(fact: Fact) -> float:
    return fact.confidence


def preference(confidence: float, age_days: int, adjustment: float) -> float:
    """The trust in a fact under an active preference policy; `adjustment` is that of its source's level."""
    return confidence + FRESHNESS / (1 + max(age_days, 0) / FRESHNESS_DAYS) + adjustment / 2


def lifecycle(
    fact: Fact, links: Iterable[FactLink], facts: Mapping[str, Fact], moment: Timestamp, trust: Trust = confidence
) -> Lifecycle:
    """What a fact is at an instant, given links and the facts (by id) that it may be in conflict with.

    An explicit link counts from the instant at which it was recorded, an inferred one always: it says what the texts
    said all along.
    """
    counting = _counting(fact, links, moment)
    rivals = [facts[rival] for rival in _rivals(fact, counting) if rival in facts and facts[rival].holds_at(moment)]
    state = _state(fact, counting, moment, disputed=bool(rivals))
    if state is not State.CONFLICTING:
        return Lifecycle(state, counting)
    return Lifecycle(state, counting, *_preferred([fact, *rivals], trust))


def _counting(fact: Fact, links: Iterable[FactLink], moment: Timestamp) -> tuple[FactLink, ...]:
    """The links of a fact that count at an instant, each once, as it was first recorded, in the order of recording."""
    first: dict[str, FactLink] = {}
    for link in sorted(links, key=lambda link: (link.at, link.id)):
        counts = link.origin is LinkOrigin.INFERRED or link.at <= moment
        if counts and fact.id in (link.from_id, link.to_id):
            first.setdefault(link.id, link)
    return tuple(first.values())


def _rivals(fact: Fact, links: Iterable[FactLink]) -> list[str]:
    ends = {end for link in links if link.kind is LinkKind.CONTRADICTS for end in (link.from_id, link.to_id)}
    return sorted(ends - {fact.id})


def _state(fact: Fact, links: Iterable[FactLink], moment: Timestamp, *, disputed: bool) -> State:
    if fact.valid_from > moment:
        return State.HISTORICAL
    if has_ended(fact.valid_to, moment):
        kinds = {link.kind for link in links if link.to_id == fact.id}
        if LinkKind.SUPERSEDES in kinds:
            return State.SUPERSEDED
        return State.INVALIDATED if LinkKind.INVALIDATES in kinds else State.HISTORICAL
    return State.CONFLICTING if disputed else State.CURRENT


def _preferred(rivals: list[Fact], trust: Trust) -> tuple[str, str]:
    """The id of the fact to prefer among several, and by what it is ahead of the next one."""
    measures: tuple[tuple[str, Callable[[Fact], Any]], ...] = (
        ("asserted directly", lambda fact: fact.asserted),
        ("higher confidence", trust),
        ("later start of validity", lambda fact: fact.valid_from),
        ("higher id", lambda fact: fact.id),
    )
    first, second = sorted(rivals, key=lambda fact: [measure(fact) for _, measure in measures], reverse=True)[:2]
    return first.id, next(basis for basis, measure in measures if measure(first) != measure(second))


@dataclass(frozen=True, slots=True)
class Walk:
    """A walk from a fact along links in both directions, one round at a time.

    A store asks for the links that touch the `frontier` and gives them to `step`, until the frontier is empty.
    """

    reached: frozenset[str]
    frontier: frozenset[str]
    rounds: int = 0

    @classmethod
    def start(cls, fact: str) -> Walk:
        return cls(frozenset({fact}), frozenset({fact}))

    @property
    def cut(self) -> bool:
        """Whether the walk stopped after 100 rounds with links left to follow."""
        return self.rounds >= MOST_ROUNDS and bool(self.frontier)

    @property
    def done(self) -> bool:
        return not self.frontier or self.rounds >= MOST_ROUNDS

    def step(self, links: Iterable[FactLink]) -> Walk:
        """The walk one round further, along those of the links that touch the frontier."""
        ends = {end for link in links for end in (link.from_id, link.to_id) if self.frontier & {link.from_id, link.to_id}}
        return replace(self, reached=self.reached | ends, frontier=frozenset(ends - self.reached), rounds=self.rounds + 1)


def linked(fact: str, links: Iterable[FactLink]) -> Walk:
    """The finished walk from a fact along the given links."""
    touching: dict[str, list[FactLink]] = {}
    for found in links:
        for end in {found.from_id, found.to_id}:
            touching.setdefault(end, []).append(found)
    walk = Walk.start(fact)
    while not walk.done:
        walk = walk.step(found for end in walk.frontier for found in touching.get(end, ()))
    return walk


def history(fact: str, facts: Iterable[Fact], links: Iterable[FactLink], until: Timestamp | None = None) -> list[Fact]:
    """A fact and all that its links lead to, by start of validity and id; those that start after `until` are left out."""
    reached = linked(fact, links).reached
    found = {known.id: known for known in facts if known.id in reached and (until is None or known.valid_from <= until)}
    return sorted(found.values(), key=lambda known: (known.valid_from, known.id))
