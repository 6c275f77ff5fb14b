"""What the turn needs from the outside world, as protocols over core types. Adapters implement them; fakes obey them too."""

from __future__ import annotations

from assistant.interfaces.conversations import (
    BegunTurn,
    ConversationStore,
    ConversationView,
    EventLog,
    Feedback,
    MessageView,
    NumberedEvent,
    OpenedConversation,
    PastSources,
    Receipt,
)
from assistant.interfaces.documents import (
    ChunkDraft,
    DocumentDraft,
    DocumentStore,
    ImageDraft,
    ImageSource,
    StoredChunk,
)
from assistant.interfaces.models import (
    ChatModel,
    Embedder,
    ModelAround,
    TokenCounter,
    Vectors,
)
from assistant.interfaces.search import (
    Hit,
    PassageIndex,
    Retriever,
)

__all__ = [
    "BegunTurn",
    "ChatModel",
    "ChunkDraft",
    "ConversationStore",
    "ConversationView",
    "DocumentDraft",
    "DocumentStore",
    "Embedder",
    "EventLog",
    "Feedback",
    "Hit",
    "ImageDraft",
    "ImageSource",
    "MessageView",
    "ModelAround",
    "NumberedEvent",
    "OpenedConversation",
    "PassageIndex",
    "PastSources",
    "Receipt",
    "Retriever",
    "StoredChunk",
    "TokenCounter",
    "Vectors",
]
