"""What the turn needs from the outside world, as protocols over core types. Adapters implement them; fakes obey them too."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from assistant.core.access import Caller
from assistant.core.calls import ModelCall
from assistant.core.conflicts import Conflict
from assistant.core.events import TurnEvent, TurnPlanned
from assistant.core.evidence import Authority, Evidence, Passage, Place, Region
from assistant.core.history import Notes, PastTurn
from assistant.core.messages import Image, Message, ModelChunk
from assistant.core.past_sources import PastSource, SourceState
from assistant.core.prompt import ModelRequest
from assistant.core.text import Span
from assistant.core.turn import TurnMessage

Vectors = NDArray[np.float32]


class TokenCounter(Protocol):
    """Counts tokens as one model does. Pure and fast: tables are loaded before the first request."""

    @property
    def name(self) -> str:
        """The encoding in use, for the plan."""
        ...

    def count(self, text: str) -> int:
        """The number of tokens of `text`; 0 for an empty text."""
        ...


class ChatModel(Protocol):
    """A language model, or something that answers like one."""

    @property
    def name(self) -> str:
        """The name that is stored with each answer."""
        ...

    @property
    def window(self) -> int:
        """Tokens of input and output together that one call may hold."""
        ...

    @property
    def counter(self) -> TokenCounter:
        """The counter that fits this model best."""
        ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        """Answer the request: deltas, then exactly one ModelFinish.

        Closing the iterator stops the generation at the provider. Raises ModelUnavailable, ContextOverflow or
        ModelMisconfigured.
        """
        ...

    async def aclose(self) -> None:
        """Release what the model holds; called once, at shutdown."""
        ...


class Embedder(Protocol):
    """Turns text into unit vectors, so that the dot product is the cosine."""

    @property
    def name(self) -> str:
        """Name and revision; vectors of different names are never compared."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts to be found, shape (len(texts), dimension)."""
        ...

    async def embed_query(self, text: str) -> Vectors:
        """The vector of a search text, shape (dimension,)."""
        ...


class Retriever(Protocol):
    """Finds passages that the caller may read."""

    async def search(
        self,
        queries: Sequence[str],
        caller: Caller,
        *,
        collections: frozenset[str] | None = None,
        limit: int = 24,
        earlier: Sequence[Place] = (),
    ) -> list[Passage]:
        """The best passages for the queries (several wordings of one question, fused), best first, score in 0..1.

        `collections` None means all. Access is part of the search itself, never a filter afterwards. `earlier` are places
        that answers of the conversation cited, the latest first: what still stands there is scored against the new queries too.
        """
        ...


@dataclass(frozen=True, slots=True)
class ChunkDraft:
    """A piece of a document version that can be found: span of its stored text, heading path, page, index terms."""

    span: Span
    section: str = ""
    page: int | None = None
    terms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ImageDraft:
    """An image found in a document: bytes in a form that models take (PNG, JPEG, WebP, GIF), and the span of its caption."""

    content: bytes
    media_type: str
    caption: str
    span: Span
    page: int | None = None
    region: Region | None = None


@dataclass(frozen=True, slots=True)
class DocumentDraft:
    """A document that was read in, ready to be stored as a new version.

    `uri` identifies the document inside its collection (for files: the path relative to the ingested folder, or a full
    URI); `sha256` is of the original bytes; `text` is what spans and citations refer to, stored unchanged.
    """

    uri: str
    title: str
    text: str
    sha256: str
    media_type: str
    language: str
    chunks: tuple[ChunkDraft, ...]
    date: date | None = None
    authority: Authority = Authority.MEDIUM
    access: frozenset[str] = frozenset({"everyone"})
    family: str | None = None
    owner: str | None = None
    images: tuple[ImageDraft, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk that waits for its vector: `text` is the title, section and text as the embedder should see them."""

    id: int
    text: str


class ImageSource(Protocol):
    """Gives the images of documents."""

    async def images(self, caller: Caller, document: str, number: int, ids: Sequence[str]) -> dict[str, Image]:
        """The images of a version by id, those that are there; none when the caller may not read the document."""
        ...


class DocumentStore(Protocol):
    """Documents, their versions and chunks."""

    async def fingerprints(self, tenant: str, collection: str) -> Mapping[str, str]:
        """uri -> fingerprint of every live document of the collection (sha256 of bytes plus metadata given at ingest)."""
        ...

    async def put(self, tenant: str, collection: str, draft: DocumentDraft, *, fingerprint: str) -> int:
        """Store the draft as the current version and return its number; older versions stay, their chunks leave the index.

        Same text and images and other metadata: the metadata is updated and the number stays. One transaction.
        """
        ...

    async def delete(self, tenant: str, collection: str, uri: str) -> bool:
        """Mark a document deleted and take its chunks out of the index; its versions stay for old answers."""
        ...

    async def version_text(self, document: str, number: int) -> str:
        """The stored text of a version; NotFound when there is none."""
        ...

    async def images(self, caller: Caller, document: str, number: int, ids: Sequence[str]) -> dict[str, Image]:
        """The images of a version by id, those that are there; none when the caller may not read the document."""
        ...

    async def chunks_without_vectors(self, embedder: str, limit: int) -> list[StoredChunk]:
        """Chunks that still lack a vector of this embedder, oldest first."""
        ...

    async def put_vectors(self, embedder: str, ids: Sequence[int], vectors: Vectors) -> None:
        """Store vectors, one row per id; ids that are gone are ignored."""
        ...


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk found by one index with the index's own score (higher is better, scale of that index)."""

    chunk: int
    score: float


class PassageIndex(Protocol):
    """The two indexes behind hybrid search. The caller's groups, tenant and collections are part of each query."""

    async def search_words(
        self,
        terms: Sequence[str],
        caller: Caller,
        collections: frozenset[str] | None,
        limit: int,
        also: Sequence[int] = (),
    ) -> list[Hit]:
        """BM25 over index terms (assistant.core.text.index_terms), best first: the best `limit`.

        Behind them those of the chunks `also` that hold a term and are not among the best, under the same rights.
        """
        ...

    async def search_vectors(
        self,
        embedder: str,
        vector: Vectors,
        caller: Caller,
        collections: frozenset[str] | None,
        limit: int,
        also: Sequence[int] = (),
    ) -> list[Hit]:
        """Cosine over the vectors of this embedder, best first: the best `limit`, then what is left of `also`.

        Raises BadInput for a vector of another length.
        """
        ...

    async def chunks_at(
        self, places: Sequence[Place], caller: Caller, collections: frozenset[str] | None, limit: int
    ) -> list[int]:
        """The chunks that overlap these places and that the caller may find now, at most `limit`, in the order of the places.

        A place of a version that is no longer the current one, of a document that is gone or hidden, or that never was,
        has no chunks.
        """
        ...

    async def passages(self, chunks: Sequence[int], caller: Caller) -> dict[int, Passage]:
        """The passages of these chunks that the caller may read (checked again here), with score 0."""
        ...


@dataclass(frozen=True, slots=True)
class NumberedEvent:
    """An event with its place in the conversation's log; `seq` grows by one per conversation from 1."""

    seq: int
    turn: str
    at: datetime
    event: TurnEvent


class EventLog(Protocol):
    """The durable, numbered log of each conversation. Committed before anyone sees it."""

    async def append(self, conversation: str, turn: str, events: Sequence[TurnEvent]) -> list[NumberedEvent]:
        """Commit events of one turn in order and return them numbered; returns after the commit.

        Calls of all running turns are gathered into one transaction (group commit).
        """
        ...

    async def read(
        self, conversation: str, *, after: int = 0, turn: str | None = None, limit: int | None = None
    ) -> list[NumberedEvent]:
        """Events with seq > after, ascending, of one turn or of all; all of them unless `limit` says how many."""
        ...

    async def head(self, conversation: str) -> int:
        """The last seq of the conversation, 0 when it has none."""
        ...


@dataclass(frozen=True, slots=True)
class ConversationView:
    """A conversation as its owner sees it in a list."""

    id: str
    title: str
    created_at: datetime
    updated_at: datetime
    turns: int


@dataclass(frozen=True, slots=True)
class MessageView:
    """A stored message of a conversation; assistant messages carry the fold of their turn."""

    id: str
    turn: str
    message: Message
    at: datetime
    answer: TurnMessage | None = None


@dataclass(frozen=True, slots=True)
class BegunTurn:
    """What starting a turn gives back: the history before it, the citation numbers already given, and whether it is new.

    `duplicate` means that a turn with this client id exists already (`turn` is its id) and nothing was written.
    """

    turn: str
    duplicate: bool
    history: tuple[PastTurn, ...] = ()
    notes: Notes | None = None
    numbers: Mapping[str, int] | None = None
    event: NumberedEvent | None = None


@dataclass(frozen=True, slots=True)
class OpenedConversation:
    """An open conversation: `epoch` names the life of its log (it changes when numbers may be reused, as after a restore)."""

    id: str
    epoch: str
    head_seq: int


@dataclass(frozen=True, slots=True)
class Feedback:
    """What a person says of an answer: rating up or down, a reason, what it should have said, the citation meant.

    `id` is the idempotency key.
    """

    id: str
    turn: str
    rating: str
    reason: str | None = None
    correction: str | None = None
    citation: int | None = None


class PastSources(Protocol):
    """Gives what the citations of a person's old answers rested on; NotFound for anybody else's and for what is hidden now."""

    async def source(
        self, caller: Caller, conversation: str, turn: str, n: int, start: int | None = None
    ) -> PastSource:
        """The passage behind a citation in its version, and beside it what stands there today."""
        ...

    async def states(self, caller: Caller, conversation: str) -> dict[tuple[str, int], SourceState]:
        """What became of every citation of a conversation, by turn and number."""
        ...


class ConversationStore(Protocol):
    """Conversations, messages, turns and what they rest on. Every read and write checks the owner: NotFound otherwise."""

    async def open(self, caller: Caller, conversation: str | None) -> OpenedConversation:
        """Make a conversation (None) or check that it is the caller's (NotFound otherwise)."""
        ...

    async def conversations(
        self, caller: Caller, *, limit: int = 50, before: datetime | None = None
    ) -> list[ConversationView]:
        """The caller's conversations, the latest first."""
        ...

    async def messages(self, caller: Caller, conversation: str) -> list[MessageView]:
        """All messages of a conversation in order; running turns have only their question."""
        ...

    async def add_feedback(self, caller: Caller, conversation: str, given: Feedback) -> None:
        """Store feedback on an answer; the same id again changes nothing."""
        ...

    async def begin_turn(
        self, caller: Caller, conversation: str, *, turn: str, client_id: str, text: str, mode: str, limit: int = 2
    ) -> BegunTurn:
        """Store the question and the turn.accepted event in one short transaction.

        Raises IdempotencyMismatch when the client id exists with another text or mode, Busy when the caller has `limit`
        turns without an end (over all conversations and workers).
        """
        ...

    async def remembered(self, conversation: str) -> tuple[tuple[PastTurn, ...], Notes | None]:
        """The last finished turns, oldest first, and the notes of the older ones."""
        ...

    async def save_notes(self, conversation: str, notes: Notes) -> None:
        """Keep notes; newer ones (that cover more turns) are never replaced by older ones."""
        ...

    async def save_calls(self, turn: str, calls: Sequence[ModelCall]) -> None:
        """Store the model calls of a turn, in the order in which they ended."""
        ...

    async def calls_of(self, caller: Caller, conversation: str, turn: str) -> list[ModelCall]:
        """The model calls of a turn; withheld when a source of it may no longer be read. NotFound as ever."""
        ...

    async def save_plan(
        self, turn: str, plan: TurnPlanned, evidence: Sequence[Evidence], conflicts: Sequence[Conflict]
    ) -> None:
        """Store plan, mode, reason, the evidence shown (with its text spans) and its conflicts."""
        ...

    async def finish_turn(self, conversation: str, turn: str, message: TurnMessage) -> None:
        """Store the assistant message, its citations, usage and status. Doing it twice changes nothing."""
        ...

    async def number_evidence(self, conversation: str, evidence: Sequence[str]) -> dict[str, int]:
        """The display numbers of cited evidence; what has none yet gets the next ones, in order, for good."""
        ...

    async def conflicts_of(self, turn: str) -> list[Conflict]:
        """The conflicts among the evidence of a turn, as they were found."""
        ...

    async def open_turns(self) -> list[tuple[str, str]]:
        """(conversation, turn) of every turn whose log has no turn.done, for start-up after a crash."""
        ...

    async def evidence_of(self, turn: str) -> list[Evidence]:
        """The evidence a turn showed to the model, as it was then, in prompt order."""
        ...

    async def cited_passage(self, caller: Caller, conversation: str, turn: str, n: int) -> tuple[Passage, str]:
        """The passage behind citation n, and whether its source is unchanged, changed or deleted.

        Raises NotFound when the conversation is not the caller's or the document is no longer readable.
        """
        ...
