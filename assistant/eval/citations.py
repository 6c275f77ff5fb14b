"""Suites citations, citations-wice and unsupported: is each sentence of an answer tied to the passage that carries it?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assistant.core.citations import Alignment, CitedSource, Verdict, align
from assistant.core.evidence import Evidence
from assistant.core.text import Span
from assistant.eval.data import Item, read_items
from assistant.eval.making import evidence_of, passages_of
from assistant.eval.metrics import auroc, best_f1, f1_of, mean

Figures = dict[str, float]


def expert(folder: Path) -> tuple[int, Figures]:
    """Sentences that experts judged supported: best citation right (top1), and precision and recall of the cited set."""
    top, precision, recall = [], [], []
    scores: list[float] = []
    truth: list[bool] = []
    items = read_items(folder, "citation_alignment")
    for item in items:
        answer, spans = _joined(item["answer_sentences"])
        alignment = align(answer, passages_of(item))
        for span, gold, status in zip(spans, item["gold"], item["sentence_status"], strict=True):
            cited = list(dict.fromkeys(source.document for source in _ranked(alignment, span)))
            if status in ("supported", "unsupported"):
                scores.append(_score(alignment, span))
                truth.append(status == "supported")
            if status == "supported":
                top.append(float(bool(cited) and cited[0] in gold))
                hits = len(set(cited) & set(gold))
                precision.append(hits / len(set(cited)) if cited else 0.0)
                recall.append(hits / len(gold))
    return len(items), {
        "top1": mean(top),
        "precision": mean(precision),
        "recall": mean(recall),
        "auroc": auroc(scores, truth),
    }


def wice(folder: Path) -> tuple[int, Figures]:
    """One sentence against the sentences of a page: closest place in a gold set (top1), F1 against the best set."""
    items = read_items(folder, "citation_wice")
    top, f1 = [], []
    for item in items:
        sets = [set(gold) for gold in item["gold_alternatives"][0] if gold]
        if not sets:
            continue
        page, places = _page(item)
        answer, (span, *_) = _joined(item["answer_sentences"])
        spots = _ranked(align(answer, [page]), span)
        found = [ident for spot in spots for ident, place in places if place.overlaps(Span(spot.start, spot.end))]
        top.append(float(bool(found) and any(found[0] in gold for gold in sets)))
        f1.append(max(_set_f1(set(found), gold) for gold in sets))
    return len(items), {"top1": mean(top), "f1": mean(f1)}


def unsupported(folder: Path) -> tuple[int, Figures]:
    """Sentences that people marked as unsupported: AUROC and best F1 of the score, F1 of the marked characters."""
    items = read_items(folder, "unsupported_claims")
    scores: list[float] = []
    truth: list[bool] = []
    marked, gold, both = 0, 0, 0
    for item in items:
        alignment = align(item["answer"], passages_of(item))
        for (start, end), status in zip(item["sentence_spans"], item["sentence_status"], strict=True):
            if status in ("supported", "unsupported"):
                scores.append(1 - _score(alignment, Span(start, end)))
                truth.append(status == "unsupported")
        found = _characters([Span(s.start, s.end) for s in alignment.sentences if s.verdict in _NOT_CARRIED])
        wanted = _characters([Span(span["start"], span["end"]) for span in item["unsupported_spans"]])
        marked, gold, both = marked + len(found), gold + len(wanted), both + len(found & wanted)
    span_f1 = f1_of(both / marked if marked else 0.0, both / gold if gold else 0.0)
    return len(items), {"auroc": auroc(scores, truth), "f1": best_f1(scores, truth), "span_f1": span_f1}


_NOT_CARRIED = (Verdict.UNSUPPORTED, Verdict.CONTRADICTED)


def _joined(sentences: Sequence[str]) -> tuple[str, list[Span]]:
    """Sentences as lines of one answer, so that no other cut is made, and where each one lies."""
    spans, at = [], 0
    for sentence in sentences:
        spans.append(Span(at, at + len(sentence)))
        at += len(sentence) + 1
    return "\n".join(sentences), spans


def _page(item: Item) -> tuple[Evidence, list[tuple[str, Span]]]:
    text, spans = _joined([passage["text"] for passage in item["passages"]])
    return evidence_of("page", text), [(str(p["id"]), span) for p, span in zip(item["passages"], spans, strict=True)]


def _ranked(alignment: Alignment, sentence: Span) -> list[CitedSource]:
    """The places a sentence is aligned to, best first: its citations, else the nearest place."""
    inside = [item for item in alignment.citations if sentence.overlaps(Span(item.start, item.end))]
    cited = [item.source for item in sorted(inside, key=lambda item: -item.score)]
    near = [item.nearest for item in alignment.sentences if sentence.overlaps(Span(item.start, item.end))]
    return cited or [source for source in near if source is not None]


def _score(alignment: Alignment, sentence: Span) -> float:
    """The weakest support inside a sentence; 1 when nothing in it is to be judged."""
    inside = [item.score for item in alignment.sentences if sentence.overlaps(Span(item.start, item.end))]
    return min(inside, default=1.0)


def _characters(spans: Sequence[Span]) -> set[int]:
    return {place for span in spans for place in range(span.start, span.end)}


def _set_f1(found: set[str], gold: set[str]) -> float:
    hits = len(found & gold)
    return f1_of(hits / len(found) if found else 0.0, hits / len(gold))
