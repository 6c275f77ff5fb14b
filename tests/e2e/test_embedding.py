from __future__ import annotations

from pathlib import Path

import pytest

from assistant.llm.scripted_http import running_provider
from tests.e2e.conftest import copy_pages
from tests.e2e.serving import run

pytestmark = pytest.mark.e2e
QUESTION = "How many hours must be billable in a week?"


def test_vectors_of_an_embedding_endpoint_through_litellm(tmp_path: Path) -> None:
    copy_pages(tmp_path)
    with running_provider() as provider:
        endpoint = {
            "retrieval__embedder": "litellm/openai/e",
            "retrieval__dimension": "3",
            "retrieval__base_url": provider.url,
            "retrieval__api_key": "k",
        }
        assert run(tmp_path, "migrate").returncode == 0
        done = run(tmp_path, "ingest", "18f-handbook", "--collection", "h", "--vectors", **endpoint)
        assert done.returncode == 0, done.stderr
        asked = run(tmp_path, "ask", QUESTION, cache__enabled="false", **endpoint)
        assert "32" in asked.stdout, asked.stderr
        inputs = [body["input"] for body in provider.bodies]
    assert any("18F billable hour expectations" in text for batch in inputs[:-1] for text in batch)
    assert inputs[-1] == [QUESTION]
