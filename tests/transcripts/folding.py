"""What the server makes of recorded frames: the turns as its snapshot gives them. The page has to come to the same."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from assistant.codec import decode
from assistant.core.events import TurnEvent
from assistant.core.turn import fold
from assistant.transport.http import encode_message
from assistant.transport.protocol import WITHHELD


def snapshot(frames: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The snapshot after these frames, as GET /api/sessions/{id} gives it."""
    turns: dict[str, list[TurnEvent]] = defaultdict(list)
    withheld = {frame["turn"] for frame in frames if frame["type"] == WITHHELD}
    for frame in frames:
        if frame["type"] != WITHHELD:
            turns[frame["turn"]].append(decode(frame["type"], frame["d"]))
    told = [
        {"turn": turn, "message": encode_message(fold(events), withheld=turn in withheld)}
        for turn, events in turns.items()
    ]
    made = {"session_id": frames[0]["sid"], "epoch": "e1", "as_of_seq": frames[-1]["seq"], "turns": told}
    plain: dict[str, Any] = json.loads(json.dumps(made, default=str))
    return plain
