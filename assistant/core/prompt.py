"""Build the request to a model: instructions, tagged evidence, question; three areas that never mix.

The instructions are the system message. The last user message holds the evidence area and, close below it, the question
area. The text of a document cannot close its tag, forge another or leave its area: every `<` of it is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from assistant.core.conflicts import Conflict
from assistant.core.evidence import Evidence
from assistant.core.messages import Message, Role
from assistant.core.text import remove_invisible

EVIDENCE_OPEN: Final = "<evidence-list>\n"
EVIDENCE_CLOSE: Final = "</evidence-list>\n"


@dataclass(frozen=True, slots=True)
class Sampling:
    """Parameters of a model call; `max_tokens` comes from the budget."""

    max_tokens: int
    temperature: float = 0.1
    top_p: float = 0.9
    frequency_penalty: float = 0.3
    presence_penalty: float = 0.1


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call of a model.

    `messages` is what goes over the wire. The values it was rendered from come along (question, evidence, conflicts,
    draft), so that a model without weights can work from them instead of parsing text.
    """

    messages: tuple[Message, ...]
    sampling: Sampling
    question: str
    evidence: tuple[Evidence, ...]
    conflicts: tuple[Conflict, ...]
    language: str
    draft: str = ""
    purpose: str = "answer"


@dataclass(frozen=True, slots=True)
class PromptSet:
    """The prompt texts of one language, and the hash over all of them that is stored with each answer.

    `system` are the instructions for grounded answers, `brief` the same for small windows, `generation` those for small talk, `refine` the instructions for
    improving a draft; `reminder` follows the question when the evidence disagrees; `refusal` is the sentence that says
    that the documents do not answer.
    """

    language: str
    system: str
    brief: str
    refine: str
    generation: str
    reminder: str
    refusal: str
    hash: str


def render_evidence(evidence: Evidence) -> str:
    """One piece of evidence as a tagged block that ends with a line break."""
    attributes = [
        ("id", evidence.id),
        ("source", evidence.source.title),
        ("section", evidence.section),
        ("date", evidence.source.date.isoformat() if evidence.source.date else ""),
        ("authority", evidence.source.authority.value),
        ("conflicts-with", " ".join(evidence.conflicts)),
        ("preferred", "" if evidence.preferred is None else "yes" if evidence.preferred else "no"),
        ("flagged", " ".join(evidence.flags)),
    ]
    shown = "".join(f' {name}="{escape_attribute(value)}"' for name, value in attributes if value)
    return f"<evidence{shown}>\n{escape_text(evidence.text)}\n</evidence>\n"


def render_evidence_area(evidence: Sequence[Evidence]) -> str:
    """The evidence area, empty when there is no evidence."""
    if not evidence:
        return ""
    return EVIDENCE_OPEN + "".join(render_evidence(item) for item in evidence) + EVIDENCE_CLOSE


def render_question(question: str, conflicts: Sequence[Conflict], prompts: PromptSet) -> str:
    """The question area: the question, and a reminder for each topic on which the evidence disagrees."""
    area = f"<question>\n{escape_text(remove_invisible(question))}\n</question>\n"
    if not conflicts:
        return area
    topics = "; ".join(escape_text(f"{conflict.topic}: {conflict.why}") for conflict in conflicts)
    return area + prompts.reminder.format(topics=topics) + "\n"


def render_draft(draft: str) -> str:
    """The draft of an earlier step, empty when there is none."""
    return f"<draft>\n{escape_text(draft)}\n</draft>\n" if draft else ""


def escape_text(text: str) -> str:
    """Make text unable to open or close a tag."""
    return text.replace("<", "&lt;")


def escape_attribute(value: str) -> str:
    """Make text safe inside double quotes, on one line."""
    return escape_text(" ".join(remove_invisible(value).split())).replace('"', "&quot;")


def answer_request(
    *,
    prompts: PromptSet,
    question: str,
    evidence: Sequence[Evidence],
    conflicts: Sequence[Conflict],
    history: Sequence[Message],
    sampling: Sampling,
    draft: str = "",
    brief: bool = False,
) -> ModelRequest:
    """The request for a grounded answer, or for improving `draft` when there is one; `brief` saves tokens."""
    shown = {item.id for item in evidence}
    relevant = tuple(conflict for conflict in conflicts if {side.evidence for side in conflict.sides} <= shown)
    asked = render_evidence_area(evidence) + render_draft(draft) + render_question(question, relevant, prompts)
    instructions = prompts.brief if brief else prompts.refine if draft else prompts.system
    return ModelRequest(
        messages=(Message(Role.SYSTEM, instructions), *history, Message(Role.USER, asked)),
        sampling=sampling,
        question=question,
        evidence=tuple(evidence),
        conflicts=relevant,
        language=prompts.language,
        draft=draft,
        purpose="refine" if draft else "answer",
    )


def generation_request(
    *, prompts: PromptSet, question: str, history: Sequence[Message], sampling: Sampling
) -> ModelRequest:
    """The request for an answer without evidence (small talk)."""
    return ModelRequest(
        messages=(Message(Role.SYSTEM, prompts.generation), *history, Message(Role.USER, remove_invisible(question))),
        sampling=sampling,
        question=question,
        evidence=(),
        conflicts=(),
        language=prompts.language,
        purpose="generation",
    )
