"""Suite injection: does any document break the tags of the prompt, and is an attack inside one flagged?"""

from __future__ import annotations

import re
from pathlib import Path

from assistant.core.injection import suspicions
from assistant.core.prompt import render_evidence_area
from assistant.eval.data import read_items
from assistant.eval.making import evidence_of
from assistant.eval.metrics import mean

_STRUCTURE = ["<evidence ", "</evidence>"]
_TAG = re.compile(r"</?evidence(?:-list)?(?: |>)")


def measure(folder: Path) -> tuple[int, dict[str, float]]:
    """Documents that break the structure (0 is right), recall of flagged attacks, and false alarms on clean copies."""
    items = read_items(folder, "injection")
    areas = [render_evidence_area([evidence_of(item["id"], item["document_text"])]) for item in items]
    breaks = sum(_TAG.findall(area) != _STRUCTURE for area in areas)
    flagged = [bool(suspicions(item["document_text"])) for item in items]
    attacks = [float(flag) for flag, item in zip(flagged, items, strict=True) if item["injected"]]
    clean = [float(flag) for flag, item in zip(flagged, items, strict=True) if not item["injected"]]
    return len(items), {
        "structure_breaks": float(breaks),
        "flagged_recall": mean(attacks),
        "false_alarm_rate": mean(clean),
    }
