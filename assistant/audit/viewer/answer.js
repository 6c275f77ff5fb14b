// The answer of a record: its text with the verdict of each sentence, and its sources. Text reaches the page as text nodes only.

function h(tag, settings, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(settings ?? {})) {
    if (name === "onclick") element.addEventListener("click", value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined).map(asNode));
  return element;
}

function asNode(child) {
  return child instanceof Node ? child : document.createTextNode(String(child));
}

// A text of unknown direction in an element of its own, so that it cannot turn what stands around it.
function foreign(tag, text, settings) {
  return h(tag, { dir: "auto", ...settings, class: `foreign ${settings?.class ?? ""}` }, text);
}

// Marks on a text as disjoint pieces {start, end, marks}, left to right; what lies outside the text is cut off.
function piecesOf(length, marks) {
  const inside = marks.filter(({ start, end }) => Number.isInteger(start) && Number.isInteger(end) && 0 <= start && start < end && end <= length);
  const cuts = [...new Set([0, length, ...inside.flatMap(({ start, end }) => [start, end])])].sort((one, other) => one - other);
  return cuts.slice(0, -1).map((start, at) => {
    const end = cuts[at + 1];
    return { start, end, marks: inside.filter((mark) => mark.start <= start && end <= mark.end) };
  });
}

function judgedSentences(record) {
  const citations = record.body?.citations;
  return [...citationsOf(record), ...itemsOf((citations && !Array.isArray(citations) ? citations : record.body)?.unsupported)];
}

function answerView(record, text) {
  const points = pointsOf(text);
  const box = foreign("div", "", { class: "answer" });
  for (const { start, end, marks } of piecesOf(points.length, judgedSentences(record))) {
    const verdict = verdictOf(marks);
    const said = sliceOf(points, start, end);
    box.append(verdict ? h("span", { class: `said ${verdict}`, title: word("verdicts", verdict) }, said) : asNode(said));
    for (const n of new Set(marks.filter((mark) => mark.end === end && mark.n).map((mark) => mark.n))) box.append(jump(record, n));
  }
  return box;
}

function verdictOf(marks) {
  const verdict = String(marks[0]?.verdict ?? "");
  return Object.hasOwn(words().verdicts, verdict) ? verdict : null;
}

// The number of a source; it brings the passage into view.
function jump(record, n) {
  const show = () => {
    const passage = document.getElementById(`source-${n}`);
    passage?.scrollIntoView({ block: "center" });
    passage?.focus();
  };
  return h("button", { type: "button", class: "number", onclick: show }, String(n));
}

function passageView(passage) {
  const points = pointsOf(passage.exact);
  const cited = Array.isArray(passage.cited) ? passage.cited.filter(Array.isArray) : [];
  const marks = cited.map(([start, end]) => ({ start: start - passage.start, end: end - passage.start }));
  const text = foreign("blockquote", "");
  for (const piece of piecesOf(points.length, marks)) {
    const said = sliceOf(points, piece.start, piece.end);
    text.append(piece.marks.length ? h("mark", {}, said) : asNode(said));
  }
  const numbers = Array.isArray(passage.numbers) ? passage.numbers : [];
  return h("section", { class: "passage", id: `source-${numbers[0]}`, tabindex: "-1" },
    h("h4", {}, numbers.map((n) => `[${n}] `).join(""), foreign("span", passage.title ?? "")),
    h("p", { class: "small" }, `${words().version} ${passage.version}`, passage.date ? ` · ${passage.date}` : "", passage.page ? ` · p. ${passage.page}` : "",
      passage.section ? [" · ", foreign("span", passage.section)] : null),
    text, passage.whole === false ? h("p", { class: "small" }, words().whole) : null,
    h("p", { class: "small code" }, foreign("span", passage.uri ?? ""), h("br"), `sha256 ${passage.sha256}`));
}

function conflictView(conflict) {
  const sides = itemsOf(conflict.sides).map((side) => h("li", {},
    foreign("q", side.claim ?? side.quote ?? ""), " — ", foreign("span", side.title ?? side.evidence ?? ""), side.date ? ` (${side.date})` : "",
    side.preferred === true ? h("strong", {}, ` ${words().preferred}`) : null));
  return h("section", { class: "conflict" }, h("h4", {}, foreign("span", conflict.topic ?? ""), ` · ${conflict.kind ?? ""}`), h("ul", {}, sides),
    foreign("p", conflict.note ?? conflict.why ?? ""),
    h("p", { class: "small" }, `${words().resolution}: ${conflict.resolution ?? ""}`, conflict.followed ? ` · ${words().followed}: ${conflict.followed}` : ""));
}
