"""The contracts of the server as documents that are made from its code: OpenAPI, AsyncAPI, and the types of the page."""

from __future__ import annotations

from assistant.transport.contracts.documents import GENERATED, generate
from assistant.transport.contracts.openapi import openapi_of

__all__ = ["GENERATED", "generate", "openapi_of"]
