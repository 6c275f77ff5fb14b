"""Build the request to a model: instructions, tagged evidence, question; three areas that never mix.

The instructions are the system message. The last user message holds the evidence area and, close below it, the question
area. The text of a document cannot close its tag, forge another or leave its area: every `<` of it is escaped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from assistant.core.conflicts import Conflict
from assistant.core.evidence import Authority, Evidence
from assistant.core.messages import Image, Message, Role
from assistant.core.text import Span, remove_invisible

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

    `messages` is what goes over the wire, with `schema` (a JSON schema) when the reply must be JSON. The values it was
    rendered from come along, so that a model without weights can work from them instead of parsing text: `draft` is the
    answer to improve, `partials` are partial answers to combine, `flagged` the spans of its sentences without support.
    `purpose` is answer, refine, summary, verify, repair, generation, rewrite, recap, conflicts, judge or citations.
    """

    messages: tuple[Message, ...]
    sampling: Sampling
    question: str
    evidence: tuple[Evidence, ...]
    conflicts: tuple[Conflict, ...]
    language: str
    draft: str = ""
    purpose: str = "answer"
    partials: tuple[str, ...] = ()
    flagged: tuple[Span, ...] = ()
    filtered: bool = False
    schema: Mapping[str, Any] | None = None


PROMPT_PARTS: Final = (
    "system",
    "brief",
    "refine",
    "summary",
    "verify",
    "filter",
    "generation",
    "reminder",
    "refusal",
    "recap",
    "recall",
    "rewrite",
    "conflicts",
    "structured",
    "repair",
    "judge",
    "citations",
)
"""The prompts of a language, each a file."""


@dataclass(frozen=True, slots=True)
class PromptSet:
    """The prompt texts of one language, and the hash over all of them that is stored with each answer.

    Instructions: `system` for answers from evidence, `brief` the same for small windows, `refine` to improve a draft,
    `summary` to combine partial answers, `verify` to correct a checked draft, `generation` for small talk, `filter` to say
    first whether evidence is relevant, `recap` for notes of a conversation, `rewrite` to make a question standalone,
    `conflicts` to find contradictions, `structured` to answer in JSON, `repair` to mend it,
    `judge` to check sentences, `citations` to find what carries them. `reminder` follows the question when the evidence
    disagrees, `refusal` says that the documents do not answer, `recall` is the question whose answer is the notes, `form`
    a few-shot example of the form of answers, empty by default.
    """

    language: str
    system: str
    brief: str
    refine: str
    summary: str
    verify: str
    filter: str
    generation: str
    reminder: str
    refusal: str
    recap: str
    recall: str
    rewrite: str
    conflicts: str
    structured: str
    repair: str
    judge: str
    citations: str
    hash: str
    form: str = ""

    def instructions(
        self, purpose: str, *, brief: bool = False, filtered: bool = False, schema: Mapping[str, Any] | None = None
    ) -> str:
        """The system message of a call for this purpose (answer, refine, summary, verify).

        `brief` saves tokens, `filtered` adds the question of relevance, `schema` the form of a structured answer.
        """
        texts = {"refine": self.refine, "summary": self.summary, "verify": self.verify}
        lead = texts.get(purpose, self.brief if brief else self.system)
        form = self.form if schema is None else self.structured.replace("{schema}", as_json(schema))
        return "\n\n".join(part for part in (lead, self.filter if filtered else "", form) if part)


def as_json(schema: Mapping[str, Any]) -> str:
    """A schema as one short line of JSON."""
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":"))


def render_evidence(evidence: Evidence) -> str:
    """One piece of evidence as a tagged block that ends with a line break."""
    text = evidence.text
    attributes = [
        ("id", evidence.id),
        ("source", evidence.source.title),
        ("section", _section(evidence.section, text)),
        ("date", evidence.source.date.isoformat() if evidence.source.date else ""),
        ("authority", _authority(evidence)),
        ("conflicts-with", " ".join(evidence.conflicts)),
        ("preferred", "" if evidence.preferred is None else "yes" if evidence.preferred else "no"),
        ("flagged", " ".join(evidence.flags)),
    ]
    shown = "".join(f' {name}="{escape_attribute(value)}"' for name, value in attributes if value)
    return f"<evidence{shown}>\n{escape_text(text)}\n</evidence>\n"


def _section(path: str, text: str) -> str:
    """The headings above a piece, without the last one where the text begins with it."""
    above, _, last = path.rpartition(" > ")
    opening = text.split("\n", 1)[0].strip("# *_")
    return above if opening == last.strip("# *_") else path


def _authority(evidence: Evidence) -> str:
    """The authority where it says something: it is not the usual one, or the piece conflicts."""
    authority = evidence.source.authority
    return authority.value if evidence.conflicts or authority is not Authority.MEDIUM else ""


def render_evidence_area(evidence: Sequence[Evidence]) -> str:
    """The evidence area, empty when there is no evidence; a single piece needs no list around it."""
    pieces = [render_evidence(item) for item in evidence]
    return "".join(pieces) if len(pieces) < 2 else EVIDENCE_OPEN + "".join(pieces) + EVIDENCE_CLOSE


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


def render_partials(partials: Sequence[str]) -> str:
    """Partial answers, each in a tag of its own."""
    return "".join(
        f'<partial n="{number}">\n{escape_text(text)}\n</partial>\n' for number, text in enumerate(partials, start=1)
    )


def render_checked_draft(draft: str, flagged: Sequence[Span]) -> str:
    """A draft in which the sentences that the evidence does not carry stand in tags of their own."""
    parts, start = [], 0
    for span in flagged:
        parts += [escape_text(draft[start : span.start]), "<unsupported>", escape_text(draft[span.start : span.end])]
        parts.append("</unsupported>")
        start = span.end
    return f"<draft>\n{''.join(parts)}{escape_text(draft[start:])}\n</draft>\n"


def image_label(evidence: str, caption: str) -> str:
    """The line that stands before an image in a prompt."""
    return f'<image evidence="{escape_attribute(evidence)}">{escape_text(remove_invisible(caption))}</image>'


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
    filtered: bool = False,
    flagged: Sequence[Span] = (),
    schema: Mapping[str, Any] | None = None,
    images: Sequence[Image] = (),
) -> ModelRequest:
    """The request for a grounded answer, for improving `draft`, or for correcting its `flagged` sentences.

    `brief` saves tokens; `filtered` asks for a first line that says whether the evidence is relevant.
    """
    shown = {item.id for item in evidence}
    relevant = tuple(conflict for conflict in conflicts if {side.evidence for side in conflict.sides} <= shown)
    purpose = "verify" if flagged else "refine" if draft else "answer"
    asked = (
        render_evidence_area(evidence)
        + (render_checked_draft(draft, flagged) if flagged else render_draft(draft))
        + render_question(question, relevant, prompts)
    )
    return ModelRequest(
        messages=(
            Message(Role.SYSTEM, prompts.instructions(purpose, brief=brief, filtered=filtered, schema=schema)),
            *history,
            Message(Role.USER, asked, tuple(images)),
        ),
        sampling=sampling,
        question=question,
        evidence=tuple(evidence),
        conflicts=relevant,
        language=prompts.language,
        draft=draft,
        purpose=purpose,
        flagged=tuple(flagged),
        filtered=filtered,
        schema=schema,
    )


def summary_request(
    *,
    prompts: PromptSet,
    question: str,
    partials: Sequence[str],
    conflicts: Sequence[Conflict],
    history: Sequence[Message],
    sampling: Sampling,
    schema: Mapping[str, Any] | None = None,
) -> ModelRequest:
    """The request to combine partial answers, each written from another part of the evidence, into one."""
    asked = render_partials(partials) + render_question(question, conflicts, prompts)
    return ModelRequest(
        messages=(
            Message(Role.SYSTEM, prompts.instructions("summary", schema=schema)),
            *history,
            Message(Role.USER, asked),
        ),
        sampling=sampling,
        question=question,
        evidence=(),
        conflicts=tuple(conflicts),
        language=prompts.language,
        purpose="summary",
        partials=tuple(partials),
        schema=schema,
    )


def repair_request(
    *, prompts: PromptSet, question: str, draft: str, error: str, schema: Mapping[str, Any], sampling: Sampling
) -> ModelRequest:
    """The request to mend a draft that should be JSON of a schema and is not, for the reason `error`."""
    instructions = f"{prompts.repair.replace('{error}', error)}\n{as_json(schema)}"
    return ModelRequest(
        messages=(Message(Role.SYSTEM, instructions), Message(Role.USER, render_draft(draft or "-"))),
        sampling=sampling,
        question=question,
        evidence=(),
        conflicts=(),
        language=prompts.language,
        draft=draft,
        purpose="repair",
        schema=schema,
    )


def judge_request(
    *, prompts: PromptSet, sentences: Sequence[str], evidence: Sequence[Evidence], schema: Mapping[str, Any]
) -> ModelRequest:
    """The request to say which of the sentences the evidence supports, answered as JSON."""
    lines = "".join(f"{n}. {escape_text(' '.join(text.split()))}\n" for n, text in enumerate(sentences, start=1))
    asked = f"{render_evidence_area(evidence)}<sentences>\n{lines}</sentences>\n"
    return ModelRequest(
        messages=(Message(Role.SYSTEM, prompts.judge), Message(Role.USER, asked)),
        sampling=Sampling(16 + 8 * len(sentences), temperature=0.0, frequency_penalty=0.0, presence_penalty=0.0),
        question="",
        evidence=tuple(evidence),
        conflicts=(),
        language=prompts.language,
        purpose="judge",
        schema=schema,
    )


def recap_request(*, prompts: PromptSet, notes: str, talk: Sequence[tuple[str, str]], max_tokens: int) -> ModelRequest:
    """The request for notes of a conversation: earlier `notes`, then (question, answer) of the turns to add."""
    lines = [f"<notes>\n{escape_text(notes)}\n</notes>"] if notes else []
    for question, answer in talk:
        lines += [f"User: {escape_text(question)}", f"Assistant: {escape_text(answer)}"]
    body = "\n".join(["<conversation>", *lines, "</conversation>"])
    return ModelRequest(
        messages=(Message(Role.SYSTEM, prompts.recap), Message(Role.USER, body)),
        sampling=Sampling(max_tokens, temperature=0.0, frequency_penalty=0.0, presence_penalty=0.0),
        question="",
        evidence=(),
        conflicts=(),
        language=prompts.language,
        draft=notes,
        purpose="recap",
    )


def conflicts_request(
    *, prompts: PromptSet, question: str, evidence: Sequence[Evidence], schema: Mapping[str, Any], max_tokens: int
) -> ModelRequest:
    """The request for contradictions among the evidence, answered as JSON."""
    asked = render_evidence_area(evidence) + render_question(question, (), prompts)
    return ModelRequest(
        messages=(Message(Role.SYSTEM, prompts.conflicts), Message(Role.USER, asked)),
        sampling=Sampling(max_tokens, temperature=0.0, frequency_penalty=0.0, presence_penalty=0.0),
        question=question,
        evidence=tuple(evidence),
        conflicts=(),
        language=prompts.language,
        purpose="conflicts",
        schema=schema,
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
