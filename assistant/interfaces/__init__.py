"""What the turn needs from the outside world, as protocols over core types. Adapters implement them; fakes obey them too."""

from __future__ import annotations

from assistant.interfaces.adopted import AnswersOfRecord
from assistant.interfaces.cache import (
    AnswerStore,
    KeptAnswer,
    QuestionVector,
)
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
from assistant.interfaces.identity import (
    Identity,
    IdentityStore,
    Person,
    ServiceKey,
    service_user,
)
from assistant.interfaces.library import (
    CollectionView,
    DocumentChange,
    DocumentDesk,
    DocumentView,
    FileView,
    KeptOriginal,
    KnownDocument,
    Library,
    Noted,
    Original,
    SessionFiles,
    TextPage,
    Upload,
    UploadReport,
    VersionView,
)
from assistant.interfaces.models import (
    ChatModel,
    Embedder,
    ModelAround,
    TokenCounter,
    Vectors,
)
from assistant.interfaces.people import KnownPeople, PeopleDesk, PersonView
from assistant.interfaces.rights import Rights
from assistant.interfaces.search import (
    Hit,
    PassageIndex,
    Retriever,
)
from assistant.interfaces.workers import Signals, Workers

__all__ = [
    "AnswerStore",
    "AnswersOfRecord",
    "BegunTurn",
    "ChatModel",
    "ChunkDraft",
    "CollectionView",
    "ConversationStore",
    "ConversationView",
    "DocumentChange",
    "DocumentDesk",
    "DocumentDraft",
    "DocumentStore",
    "DocumentView",
    "Embedder",
    "EventLog",
    "Feedback",
    "FileView",
    "Hit",
    "Identity",
    "IdentityStore",
    "ImageDraft",
    "ImageSource",
    "KeptAnswer",
    "KeptOriginal",
    "KnownDocument",
    "KnownPeople",
    "Library",
    "MessageView",
    "ModelAround",
    "Noted",
    "NumberedEvent",
    "OpenedConversation",
    "Original",
    "PassageIndex",
    "PastSources",
    "PeopleDesk",
    "Person",
    "PersonView",
    "QuestionVector",
    "Receipt",
    "Retriever",
    "Rights",
    "ServiceKey",
    "SessionFiles",
    "Signals",
    "StoredChunk",
    "TextPage",
    "TokenCounter",
    "Upload",
    "UploadReport",
    "Vectors",
    "VersionView",
    "Workers",
    "service_user",
]
