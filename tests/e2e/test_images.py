"""A picture in the knowledge base is found by its caption, cited as an image, and its bytes can be seen by who may."""

from __future__ import annotations

import io
from pathlib import Path

import httpx
import pytest
from PIL import Image

from tests.e2e.serving import run, serving

pytestmark = pytest.mark.e2e


def test_a_picture_is_found_cited_and_shown(tmp_path: Path) -> None:
    folder = tmp_path / "plans"
    folder.mkdir()
    drawn = Image.new("RGB", (300, 200), "navy")
    drawn.paste("white", (40, 40, 160, 120))
    drawn.save(folder / "floor.png")
    (folder / "floor.png.meta.yaml").write_text(
        "caption: The floor plan of the second floor shows the emergency exits beside the kitchen\n", "utf-8"
    )
    run(tmp_path, "migrate")
    assert "1 added" in run(tmp_path, "ingest", "plans", "--collection", "plans").stdout
    with serving(tmp_path) as server, httpx.Client(base_url=server.url, timeout=30) as http:
        session = http.post("/api/sessions").json()["session_id"]
        asked = http.post(
            f"/api/sessions/{session}/turns",
            headers={"Idempotency-Key": "k"},
            json={"text": "Where are the emergency exits of the second floor?"},
        ).json()
        message = asked["message"]
        assert "kitchen" in message["text"]
        source = message["citations"]["items"][0]["source"]
        assert source["exact"].startswith("[Image: ")
        shown = http.get(f"/api/sessions/{session}/turns/{asked['turn']}/images/{source['image']}")
        assert shown.status_code == 200
        assert shown.headers["content-type"] in ("image/png", "image/jpeg")
        assert Image.open(io.BytesIO(shown.content)).size == (300, 200)
        assert "script" not in shown.headers.get("content-security-policy", "").split("default-src")[0]
        then = http.get(f"/api/sessions/{session}/turns/{asked['turn']}/citations/1/source").json()
        assert (then["state"], then["image"]) == ("unchanged", source["image"])
