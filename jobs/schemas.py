"""The bodies of the jobs that keep memory: the payload of a checkpoint, and a repair."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ModelWrapValidatorHandler, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from jobs.domain.checkpoint import CheckpointItem
from palace.domain.ids import parse_id
from palace.errors import InvalidInput
from palace.http import Body

SHOWN_PROBLEMS = 10


def _identity(text: str) -> str:
    identity = parse_id(text)
    if identity is None:
        raise PydanticCustomError("id", "it must be an id (a UUID); names are not looked up")
    return identity


def _not_blank(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("blank", "it is blank")
    return text


Id = Annotated[str, AfterValidator(_identity)]
Confidence = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Reason = Annotated[str, AfterValidator(_not_blank)]


class Part(BaseModel):
    """Base of what stands inside a payload: no coercion of types, unknown fields ignored."""

    model_config = ConfigDict(strict=True)


class AddFactIn(Part):
    """A new fact."""

    op: Literal["add"]
    subject: Id
    predicate: str
    object: Id
    confidence: Confidence


class SupersedeFactIn(Part):
    """A fact that takes the place of another."""

    op: Literal["supersede"]
    relationship_id: Id
    from_: Id = Field(alias="from")
    to: Id
    predicate: str
    confidence: Confidence
    reason: Reason | None = None


class InvalidateFactIn(Part):
    """The end of a fact."""

    op: Literal["invalidate"]
    relationship_id: Id
    reason: Reason | None = None


class LinkFactIn(Part):
    """What one fact says of another."""

    op: Literal["link"]
    relationship_id: Id
    other_id: Id
    kind: Literal["confirms", "contradicts", "refines"]
    reason: Reason

    @model_validator(mode="after")
    def _two_facts(self) -> Self:
        if self.relationship_id == self.other_id:
            raise PydanticCustomError("same_fact", "relationship_id and other_id are the same fact")
        return self


FactIn = Annotated[AddFactIn | SupersedeFactIn | InvalidateFactIn | LinkFactIn, Field(discriminator="op")]
_OPS = ("add", "supersede", "invalidate", "link")


class ItemSourceIn(Part):
    """Where a text comes from."""

    kind: str = Field(description="file, manual, transcript or note; anything else is filed as other.")
    uri: str | None = None
    agent: str | None = Field(None, description="Who wrote it.")


class CheckpointItemIn(Part):
    """A text and where it belongs."""

    destination: Literal["preference", "project", "diary", "general"]
    content: str
    tags: list[str]
    source: ItemSourceIn
    wing: str | None = Field(None, description="Name of another wing than the destination's own.")
    name: str | None = Field(None, description="A name of its own in the room.")
    fact: FactIn | None = Field(None, description="A change of the knowledge graph; refused in this version.")

    def wish(self) -> CheckpointItem:
        return CheckpointItem(
            destination=self.destination,
            content=self.content,
            tags=tuple(self.tags),
            source_kind=self.source.kind,
            source_uri=self.source.uri,
            source_agent=self.source.agent,
            wing=self.wing,
            name=self.name,
            fact=None if self.fact is None else self.fact.model_dump(by_alias=True),
        )


class PayloadIn(Part):
    """What a checkpoint files, in this order."""

    items: list[CheckpointItemIn]


class CheckpointIn(Body):
    """Texts that were sorted by the client, filed by one job."""

    payload: PayloadIn
    emergency: bool = Field(False, description="Before everything else: priority critical instead of high.")

    @model_validator(mode="wrap")
    @classmethod
    def _blame_the_payload(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler(value)
        except ValidationError as error:
            problems = [problem for problem in error.errors(include_url=False) if problem["loc"][:1] == ("payload",)]
            if not problems:
                raise
            raise InvalidInput("payload", _told(problems)) from None


class RepairIn(Body):
    """Removal of the damage that an audit finds and that can be removed without loss."""

    dry_run: bool = Field(True, description="Only say what would be done.")
    based_on_job: str | None = Field(None, description="Id of a completed audit; only what it found is repaired.")


def _told(problems: list[ErrorDetails]) -> str:
    told = [f"{place}: {problem['msg']}" if (place := _place(problem)) else problem["msg"] for problem in problems]
    more = len(told) - SHOWN_PROBLEMS
    return "; ".join(told[:SHOWN_PROBLEMS]) + (f"; and {more} more" if more > 0 else "")


def _place(problem: ErrorDetails) -> str:
    """`items[2].source.kind`. The kind of fact that was recognised is a step of the parser and no place."""
    place = ""
    before: int | str = ""
    for step in problem["loc"][1:]:
        if not (before == "fact" and step in _OPS):
            place += f"[{step}]" if isinstance(step, int) else f"{'.' if place else ''}{step}"
        before = step
    return place
