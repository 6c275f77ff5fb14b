"""What an export says of one audit record: its lines and its row. Pure.

Of the body of a turn these names are read, in the form that their events have (assistant.codec): `mode`, `model`, `status`,
`finish`, `agreement`, `citations` (or a plain list of them), `conflicts` (likewise). What is absent or of another form is left empty:
a record that somebody has tampered with must still be exported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from assistant.core.audit import RECORD_FIELDS, AuditKind, AuditRecord, canonical
from assistant.core.evidence import Evidence

COLUMNS: Final = (
    "time",
    "person",
    "session",
    "turn",
    "question",
    "answer",
    "erased",
    "mode",
    "model",
    "status",
    "supported",
    "partial",
    "unsupported",
    "contradicted",
    "conflicts",
    "agreement",
    "cited",
    "record",
    "seq",
    "hash",
)
"""The columns of answers.csv."""

VERDICTS: Final = ("supported", "partial", "unsupported", "contradicted")

_STARTS_A_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def record_line(record: AuditRecord) -> str:
    """The record as canonical JSON, without line end; BadInput for what JSON cannot hold."""
    return canonical({name: _plain(record, name) for name in RECORD_FIELDS}).decode()


def _plain(record: AuditRecord, name: str) -> Any:
    value = getattr(record, name)
    if name == "body":
        return dict(value)
    return str(value) if name == "kind" else value


def is_erased(record: AuditRecord, texts: Mapping[str, str] | None) -> bool:
    """Whether the record had personal text that nobody can open any more."""
    return texts is None and (record.sealed_sha256 is not None or record.body.get("erased") is True)


def texts_line(record: AuditRecord, texts: Mapping[str, str] | None, *, unreadable: bool = False) -> str | None:
    """The opened personal text of a record as canonical JSON; None when it had none.

    In its place stands `"erased": true` when it is gone, `"unreadable": true` when what is stored is not what was sealed.
    """
    if unreadable:
        return canonical({"record": record.id, "seq": record.seq, "unreadable": True}).decode()
    if is_erased(record, texts):
        return canonical({"record": record.id, "seq": record.seq, "erased": True}).decode()
    if not texts:
        return None
    return canonical({"record": record.id, "seq": record.seq, "texts": dict(texts)}).decode()


def passage_lines(record: AuditRecord, evidence: Sequence[Evidence]) -> Iterator[str]:
    """Each cited passage of a record once, as canonical JSON: `exact` is the stored text of the version at start..end.

    `cited` are the spans inside it that citations point to (offsets of the document, code points), `numbers` their display
    numbers. Where the evidence is no longer kept, the cited text itself stands for the passage.
    """
    shown = {item.id: item for item in evidence}
    places: dict[str, dict[str, Any]] = {}
    for citation in citations_of(record):
        source = citation.get("source")
        if not isinstance(source, Mapping):
            continue
        whole = shown.get(str(citation.get("evidence")))
        key = repr((citation.get("evidence"), None if whole else (source.get("start"), source.get("end"))))
        line = places.setdefault(key, _passage(record, citation, source, whole))
        _add(line["numbers"], citation.get("n"))
        _add(line["cited"], [source.get("start"), source.get("end")])
    for line in places.values():
        yield canonical(line).decode()


def _passage(
    record: AuditRecord, citation: Mapping[str, Any], source: Mapping[str, Any], whole: Evidence | None
) -> dict[str, Any]:
    told = {name: source.get(name) for name in _OF_SOURCE}
    if whole:
        told |= {"start": whole.span.start, "end": whole.span.end, "exact": whole.exact}
    return {
        "record": record.id,
        "evidence": citation.get("evidence"),
        "whole": whole is not None,
        "numbers": [],
        "cited": [],
        **told,
    }


_OF_SOURCE: Final = (
    "document",
    "version",
    "sha256",
    "title",
    "uri",
    "section",
    "page",
    "date",
    "start",
    "end",
    "exact",
)


def _add(values: list[Any], value: Any) -> None:
    if value not in values:
        values.append(value)


def answer_row(record: AuditRecord, texts: Mapping[str, str] | None) -> list[str] | None:
    """The row of an answer, one cell for each of COLUMNS, safe to open in a spreadsheet; None for what is no turn."""
    if record.kind != AuditKind.TURN:
        return None
    said = texts or {}
    body = record.body
    verdicts = verdict_counts(record)
    cells = {
        "time": record.at,
        "person": record.subject or record.actor,
        "session": record.conversation,
        "turn": record.turn,
        "question": said.get("question"),
        "answer": said.get("answer"),
        "erased": "yes" if is_erased(record, texts) else None,
        "mode": body.get("mode"),
        "model": body.get("model"),
        "status": body.get("status"),
        **{name: str(verdicts[name]) for name in VERDICTS},
        "conflicts": str(len(_items(body.get("conflicts")))),
        "agreement": _agreement(body),
        "cited": _cited(record),
        "record": record.id,
        "seq": str(record.seq),
        "hash": record.hash,
    }
    return [safe_cell(_text(cells[name])) for name in COLUMNS]


def safe_cell(text: str) -> str:
    """The text so that no spreadsheet takes it for a formula: one that begins like a formula gets a leading apostrophe.

    After OWASP, "CSV Injection"; it covers the full-width forms and the line feed too.
    """
    return f"'{text}" if text.startswith(_STARTS_A_FORMULA) else text


def citations_of(record: AuditRecord) -> list[Mapping[str, Any]]:
    """The citations in the body of a record, in order; none when it has none."""
    return _items(record.body.get("citations"))


def verdict_counts(record: AuditRecord) -> dict[str, int]:
    """How many sentences of the answer got each verdict; a sentence with several sources counts once."""
    citations = record.body.get("citations")
    uncited = (citations if isinstance(citations, Mapping) else record.body).get("unsupported")
    judged = {
        (str(item.get("start")), str(item.get("end"))): item.get("verdict")
        for item in (*_items(uncited), *citations_of(record))
    }
    found = list(judged.values())
    return {name: found.count(name) for name in VERDICTS}


def _items(value: Any) -> list[Mapping[str, Any]]:
    """The items of a list, or of an event that holds a list, that have fields."""
    held = value.get("items") if isinstance(value, Mapping) else value
    return [item for item in held if isinstance(item, Mapping)] if isinstance(held, Sequence) else []


def _agreement(body: Mapping[str, Any]) -> Any:
    citations = body.get("citations")
    given = body.get("agreement")
    return citations.get("agreement") if given is None and isinstance(citations, Mapping) else given


def _cited(record: AuditRecord) -> str:
    """The titles that the answer cites, each once with its number, in the order of the answer."""
    titles: list[str] = []
    for citation in citations_of(record):
        source = citation.get("source")
        title = source.get("title") if isinstance(source, Mapping) else None
        _add(titles, f"[{_text(citation.get('n'))}] {_text(title)}")
    return " | ".join(titles)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)
