"""What each route answers with, by method and path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel

from assistant.transport.contracts import admin_shapes, audit_shapes, shapes

SHAPES: Final[Mapping[str, type[BaseModel]]] = {
    "GET /healthz": shapes.Health,
    "GET /readyz": shapes.Ready,
    "GET /api/config": shapes.Config,
    "POST /api/sessions": shapes.NewSession,
    "GET /api/sessions": shapes.SessionList,
    "GET /api/sessions/{session}": shapes.Snapshot,
    "PATCH /api/sessions/{session}": shapes.SessionItem,
    "POST /api/sessions/{session}/turns": shapes.StartedTurn,
    "POST /api/sessions/{session}/turns/{turn}/cancel": shapes.CancelledTurn,
    "GET /api/sessions/{session}/turns/{turn}/citations/{n}": shapes.CitedPassage,
    "GET /api/sessions/{session}/turns/{turn}/citations/{n}/source": shapes.PastSource,
    "GET /api/sessions/{session}/turns/{turn}/calls": shapes.ModelCalls,
    "GET /api/sessions/{session}/sources": shapes.SourceStates,
    "GET /api/sessions/{session}/files": shapes.SessionFileList,
    "POST /api/sessions/{session}/files": shapes.SessionFile,
    "GET /api/usage": shapes.UsageToday,
    "GET /v1/models": shapes.ModelList,
    "POST /api/auth/exchange": shapes.AccessToken,
    "GET /auth/token": shapes.AccessToken,
    "GET /api/audit/records": audit_shapes.AuditList,
    "GET /api/audit/records/{record}": audit_shapes.OpenedRecord,
    "POST /api/audit/records/{record}/replay": audit_shapes.AnsweredAgain,
    "GET /api/audit/figures": audit_shapes.Figures,
    "GET /api/audit/verify": audit_shapes.Verification,
    "GET /api/audit/retention": audit_shapes.Retention,
    "GET /api/audit/answers": audit_shapes.AnswersOfRecord,
    "POST /api/audit/answers": audit_shapes.AnswerOfRecord,
    "DELETE /api/audit/answers/{answer}": audit_shapes.AnswerOfRecord,
    "GET /api/admin/collections": admin_shapes.CollectionList,
    "GET /api/admin/documents": admin_shapes.DocumentList,
    "PUT /api/admin/documents": admin_shapes.Ingested,
    "GET /api/admin/documents/{document}": admin_shapes.DocumentWithVersions,
    "PATCH /api/admin/documents/{document}": admin_shapes.Document,
    "GET /api/admin/documents/{document}/versions/{number}": admin_shapes.TextPart,
    "POST /api/admin/documents/{document}/reingest": admin_shapes.Ingested,
    "GET /api/admin/people": admin_shapes.People,
    "GET /api/admin/jobs": admin_shapes.JobList,
    "GET /api/admin/keys": admin_shapes.Keys,
    "POST /api/admin/keys": admin_shapes.NewKey,
}
"""Responses of JSON."""

EVENT_LIST: Final = "GET /api/sessions/{session}/events"

STREAM: Final = "Frames of docs/asyncapi.json, one a `data:` line; `id:` is epoch:seq of a numbered one."
BINARY: Final = {"type": "string", "format": "binary"}
OTHER: Final[Mapping[str, Mapping[str, Any]]] = {
    "GET /api/sessions/{session}/stream": {"text/event-stream": {"schema": {"type": "string", "description": STREAM}}},
    "POST /api/sessions/{session}/turns/stream": {
        "text/event-stream": {"schema": {"type": "string", "description": STREAM}}
    },
    "GET /api/sessions/{session}/turns/{turn}/images/{image}": {"image/*": {"schema": BINARY}},
    "GET /api/sessions/{session}/export": {
        "text/markdown": {"schema": {"type": "string"}},
        "application/json": {"schema": {"type": "object"}},
    },
    "GET /api/audit/export": {"application/zip": {"schema": BINARY}},
    "POST /v1/chat/completions": {
        "application/json": {"schema": {"type": "object", "description": "A chat.completion of OpenAI's form"}},
        "text/event-stream": {"schema": {"type": "string", "description": "chat.completion.chunk after chunk"}},
    },
}
"""Responses of other kinds, as OpenAPI content."""
