// The page: verdict, checks, list of records, one record.

const PAGE = 200;
const state = { pack: null, result: null, selected: 0, limit: PAGE, find: "" };

function embedded(name) {
  const element = document.getElementById(name);
  return element ? JSON.parse(element.textContent) : null;
}

// Data are read before the first rendering, which clears the page.
async function start() {
  try {
    const manifest = embedded("manifest.json");
    const lines = Object.fromEntries(FILES.map((name) => [name, embedded(name)]));
    render();
    if (lines["records.jsonl"] === null) return choose(manifest);
    await open(packageOf(manifest, lines));
  } catch (error) {
    damaged(error);
  }
}

function damaged(error) {
  console.warn(error);
  say("bad", words().unreadablePage);
}

async function open(pack) {
  state.pack = pack;
  if (!subtle) return render();
  state.result = await check(pack);
  const [first] = [...state.result.problems.keys()].sort((one, other) => one - other);
  state.selected = first ?? 0;
  state.limit = Math.max(PAGE, state.selected + 1);
  render();
}

// A package that is too large for the page: its reader gives the files.
function choose(manifest) {
  const input = h("input", { type: "file", multiple: "", accept: ".jsonl", id: "files" });
  input.addEventListener("change", async () => {
    const lines = {};
    for (const file of input.files) lines[file.name] = (await file.text()).split("\n").slice(0, -1);
    state.choosing = null;
    say("busy", words().checking);
    await open(packageOf(manifest, lines)).catch(damaged);
  });
  state.choosing = h("p", {}, h("label", { for: "files" }, words().choose), h("br"), input);
  render();
}

function say(kind, text, more) {
  state.said = { kind, text, more };
  render();
}

function verdict() {
  if (state.said && !state.result) return state.said;
  if (state.choosing) return { kind: "busy", text: words().title };
  if (!state.pack) return { kind: "busy", text: words().checking };
  if (!subtle) return { kind: "unsure", text: words().noCrypto };
  if (!state.result) return { kind: "busy", text: words().checking };
  const { checks, problems } = state.result;
  if (checks.some((each) => each.ok === false)) return { kind: "bad", text: words().failed, more: firstProblem(problems) };
  return checks.some((each) => each.ok === null) ? { kind: "unsure", text: words().partly } : { kind: "good", text: words().verified };
}

function firstProblem(problems) {
  const [at] = [...problems.keys()].sort((one, other) => one - other);
  if (at === undefined) return "";
  const record = state.pack.records[at];
  const why = problems.get(at).map((code) => word("problems", code)).join("; ");
  return `${words().first(record?.seq ?? at + 1, record?.id ?? "?")} ${why}`;
}

function render() {
  document.documentElement.lang = language === "zh" ? "zh-Hans" : "en";
  document.title = words().title;
  const { kind, text, more } = verdict();
  const other = () => {
    language = language === "zh" ? "en" : "zh";
    render();
  };
  document.body.replaceChildren(
    h("header", {}, h("h1", {}, words().title), h("button", { type: "button", onclick: other }, words().other)),
    h("main", {}, h("div", { class: `verdict ${kind}`, role: "status", "data-state": kind }, h("strong", {}, text), more ? foreign("p", more) : null),
      state.choosing ?? null, state.result ? checksView() : null, state.pack ? aboutView() : null, state.pack ? recordsView() : null));
}

function checksView() {
  const rows = state.result.checks.map(({ name, ok, more }) => h("li", { class: `check ${ok}`, "data-check": name, "data-ok": String(ok) },
    h("span", {}, words().checks[name]), h("strong", {}, words().states[String(ok)]), h("span", { class: "small" }, moreOf(more))));
  return h("ul", { class: "checks" }, rows);
}

function moreOf(more) {
  const [code, count] = String(more).split(":");
  if (code === "newer") return words().newer(count);
  if (code === "erased") return words().erased(count);
  return word("more", more);
}

function aboutView() {
  const { manifest } = state.pack;
  const facts = Object.keys(words().facts).flatMap((name) => {
    const value = manifest[name];
    return [h("dt", {}, words().facts[name]), foreign("dd", typeof value === "object" ? JSON.stringify(value) : value)];
  });
  const keys = Object.entries(manifest.public_keys).map(([id, key]) => foreign("li", `${id} · ${key}`, { class: "code" }));
  return h("details", {}, h("summary", {}, words().about), h("dl", {}, facts), h("p", {}, words().keys), h("ul", {}, keys), h("p", {}, words().itself));
}

function recordsView() {
  const input = h("input", { type: "search", id: "find", "aria-label": words().find, placeholder: words().find, value: state.find });
  const list = h("ul", { class: "list" });
  const detail = h("article", { class: "detail", "aria-live": "polite" });
  const fill = () => {
    list.replaceChildren(...rowsOf(detail, fill));
    detail.replaceChildren(...detailOf(state.selected));
  };
  input.addEventListener("input", () => {
    state.find = input.value;
    list.replaceChildren(...rowsOf(detail, fill));
  });
  fill();
  return h("div", { class: "columns" }, h("nav", { "aria-label": words().all(state.pack.records.length) }, h("p", { class: "small" }, words().all(state.pack.records.length)), input, list), detail);
}

function rowsOf(detail, fill) {
  const wanted = state.find.toLocaleLowerCase();
  const found = [...state.pack.records.keys()].filter((at) => !wanted || searchable(at).includes(wanted));
  const rows = found.slice(0, state.limit).map((at) => rowOf(at, fill));
  const more = () => {
    state.limit += PAGE;
    fill();
  };
  return found.length > state.limit ? [...rows, h("li", {}, h("button", { type: "button", onclick: more }, words().more_))] : rows;
}

function searchable(at) {
  const record = state.pack.records[at];
  return `${state.pack.lines["records.jsonl"][at]} ${JSON.stringify(state.pack.textOf[record?.id]?.texts ?? "")}`.toLocaleLowerCase();
}

function rowOf(at, fill) {
  const record = state.pack.records[at];
  const bad = state.result?.problems.has(at);
  const pick = () => {
    state.selected = at;
    fill();
  };
  const said = state.pack.textOf[record?.id]?.texts?.question ?? "";
  return h("li", {}, h("button", { type: "button", class: `row ${bad ? "bad" : ""}`, "aria-current": at === state.selected ? "true" : null, onclick: pick },
    h("span", { class: "small" }, `${record?.seq ?? "?"} · ${word("kinds", record?.kind)} · ${record?.at ?? ""}${bad ? " ✗" : ""}`), foreign("span", said.slice(0, 160), { class: "title" })));
}

function detailOf(at) {
  const record = state.pack.records[at];
  if (!record || typeof record !== "object") return [];
  const codes = state.result?.problems.get(at);
  const told = state.pack.textOf[record.id];
  return [
    h("p", { class: codes ? "problem" : "fits", "data-record": record.id }, codes ? codes.map((code) => word("problems", code)).join("; ") : state.result ? words().fits : ""),
    factsOf(record), ...textsOf(record, told),
    ...sectionOf(words().conflicts, itemsOf(record.body?.conflicts).map(conflictView)),
    ...sectionOf(words().passages, (state.pack.passagesOf[record.id] ?? []).map(passageView)),
    h("details", { class: "raw" }, h("summary", {}, words().record), foreign("pre", JSON.stringify(record, null, 1))),
  ];
}

function sectionOf(title, content) {
  return content.length ? [h("h3", {}, title), ...content] : [];
}

function factsOf(record) {
  const body = record.body ?? {};
  const agreement = body.agreement ?? body.citations?.agreement;
  const facts = { time: record.at, person: record.subject ?? record.actor, session: record.conversation, turn: record.turn, mode: body.mode, model: body.model,
    status: body.status, agreement };
  return h("dl", { class: "facts" }, Object.entries(facts).filter(([, value]) => value !== null && value !== undefined && typeof value !== "object")
    .flatMap(([name, value]) => [h("dt", {}, words()[name]), foreign("dd", value)]));
}

function textsOf(record, told) {
  if (told?.erased) return [h("p", { class: "erased" }, words().erasedText)];
  if (told?.unreadable) return [h("p", { class: "erased" }, words().unreadableText)];
  return Object.entries(told?.texts ?? {}).sort(byReading).flatMap(([name, text]) => [
    h("h3", {}, ["question", "standalone", "answer"].includes(name) ? words()[name] : name),
    name === "answer" ? answerView(record, text) : foreign("div", text, { class: "text" }),
  ]);
}

function byReading([one], [other]) {
  const order = ["question", "standalone", "answer"];
  return (order.indexOf(one) + 1 || 9) - (order.indexOf(other) + 1 || 9);
}

start();
