/**
 * What the page knows about one conversation, as a pure function of the frames it has seen: (state, frame) -> state.
 *
 * Delivered at least once, shown exactly once (docs/protocol.md, rules 2 and 3): frames up to the last number are
 * dropped, a gap or a text that does not fit is never papered over but asks to be fetched again through `need`.
 * The turn itself follows assistant/core/turn.py, event by event.
 */

import type { CitedState } from './fates';
import type {
  AnswerDelta,
  AnswerFinished,
  AnswerStarted,
  CitationsAdded,
  ConflictsFound,
  ControlFrame,
  DurableFrame,
  Epoch,
  Frame,
  Snapshot,
  SourceChanged,
  SourceState,
  TurnFinished,
  TurnMessage,
  TurnPlanned,
  TurnProgress,
} from './protocol';
import { sha256 } from './sha256';
import { stepOf, type Step } from './steps';

export interface TurnState extends Omit<TurnMessage, 'steps' | 'attachments' | 'from_cache' | 'withheld'> {
  turn: string;
  /** Code points in `text`, kept so that a delta is checked without counting the text again. */
  length: number;
  progress: TurnProgress | null;
  /** Intermediate work in the order in which it ended; kept where a snapshot does not tell it. */
  steps: readonly Step[];
  changes: SourceChanged[];
  /** What is known of its sources by number, as far as no later change has come. */
  states: ReadonlyMap<number, SourceState>;
  /** Titles of the files that came with the question. */
  attachments: readonly string[];
  from_cache: string | null;
  /** Only the question may be shown. */
  withheld: boolean;
}

/** A file that the server holds for a conversation. */
export interface Attached {
  id: string;
  title: string;
}

/** A question that was sent and is not yet known to be stored. */
export interface Pending {
  id: string;
  text: string;
  mode: string;
  collections: string[];
  attachments: Attached[];
  error: string | null;
}

/** `resume` asks for the frames after `seq`, `reload` for the snapshot. */
export type Need = 'resume' | 'reload' | null;

export interface ChatState {
  sessionId: string | null;
  epoch: Epoch | null;
  /** The last number applied; 0 before the first. */
  seq: number;
  turns: readonly TurnState[];
  pending: readonly Pending[];
  /** Changes of sources that came as frames since the snapshot: another array whenever states may have changed. */
  told: readonly SourceChanged[];
  need: Need;
}

export const EMPTY: ChatState = { sessionId: null, epoch: null, seq: 0, turns: [], pending: [], told: [], need: null };

const NEW_TURN: Omit<TurnState, 'turn'> = {
  question: '',
  text: '',
  length: 0,
  status: 'running',
  stage: 'accepted',
  progress: null,
  steps: [],
  changes: [],
  states: new Map(),
  attachments: [],
  from_cache: null,
  withheld: false,
  finish: null,
  sha256: null,
  model: null,
  prompt: null,
  error: null,
  plan: null,
  citations: null,
  conflicts: null,
  usage: null,
  audit_id: null,
  record_hash: null,
  retry_after_ms: null,
};

/** The number of Unicode code points of a text; a lone surrogate counts as one. */
export function codePoints(text: string): number {
  let count = text.length;
  for (let i = 1; i < text.length; i++) {
    const here = text.charCodeAt(i);
    if (here >= 0xdc00 && here <= 0xdfff) {
      const before = text.charCodeAt(i - 1);
      if (before >= 0xd800 && before <= 0xdbff) count--;
    }
  }
  return count;
}

/** Apply one frame. Frames of other conversations, old numbers and unknown types leave the turns as they are. */
export function reduce(state: ChatState, frame: Frame): ChatState {
  if (typeof frame.seq !== 'number') return control(state, frame as ControlFrame);
  if (state.sessionId !== null && frame.sid !== state.sessionId) return state;
  if (frame.seq <= state.seq) return state;
  if (frame.seq > state.seq + 1) return state.need ? state : { ...state, need: 'resume' };
  return durable({ ...state, sessionId: frame.sid, seq: frame.seq }, frame);
}

function control(state: ChatState, frame: ControlFrame): ChatState {
  switch (frame.type) {
    case 'session.ready':
      return ready(state, frame.d.session_id, frame.d.epoch, frame.d.recovered || frame.d.head_seq === 0);
    case 'ack':
      return frame.d.turn && state.turns.some((turn) => turn.turn === frame.d.turn) ? forget(state, frame.d.id) : state;
    case 'error':
      return refuse(state, frame.d.ref_id ?? null, frame.d.code);
    default:
      return state;
  }
}

function ready(state: ChatState, sessionId: string, epoch: Epoch, whole: boolean): ChatState {
  const same = state.sessionId === null || state.sessionId === sessionId;
  const kept = same ? state : { ...EMPTY, pending: state.pending };
  const need = whole && kept.need !== 'reload' ? null : 'reload';
  return { ...kept, sessionId, epoch, need };
}

/** Replace everything that is stored by the snapshot; questions on their way stay. */
export function restore(state: ChatState, snapshot: Snapshot): ChatState {
  return {
    ...state,
    sessionId: snapshot.session_id,
    epoch: snapshot.epoch,
    seq: snapshot.as_of_seq,
    turns: snapshot.turns.map(({ turn, message }) => restored(turn, message, stepsOf(state, turn))),
    told: [],
    need: null,
  };
}

const stepsOf = (state: ChatState, turn: string): readonly Step[] =>
  state.turns.find((known) => known.turn === turn)?.steps ?? [];

function restored(turn: string, message: TurnMessage, steps: readonly Step[]): TurnState {
  return {
    ...NEW_TURN,
    ...message,
    turn,
    steps: message.steps ? list(message.steps as TurnProgress[]).flatMap((d) => stepOf(d) ?? []) : steps,
    length: codePoints(message.text),
    plan: message.plan && planned(message.plan),
    citations: message.citations && cited(message.citations),
    conflicts: message.conflicts && disputed(message.conflicts),
    changes: list(message.changes),
    states: NEW_TURN.states,
    attachments: list(message.attachments),
    from_cache: message.from_cache ?? null,
    withheld: message.withheld === true,
  };
}

/** A question leaves: it is shown at once, and again as a stored turn when the server has accepted it. */
export function send(state: ChatState, pending: Pending): ChatState {
  return { ...state, pending: [...state.pending.filter((p) => p.id !== pending.id), pending] };
}

/** A question no longer waits. */
export function forget(state: ChatState, id: string): ChatState {
  if (!state.pending.some((p) => p.id === id)) return state;
  return { ...state, pending: state.pending.filter((p) => p.id !== id) };
}

function refuse(state: ChatState, id: string | null, code: string): ChatState {
  if (!state.pending.some((p) => p.id === id)) return state;
  return { ...state, pending: state.pending.map((p) => (p.id === id ? { ...p, error: code } : p)) };
}

function durable(state: ChatState, frame: DurableFrame): ChatState {
  if (frame.type === 'source.changed') return changed(state, frame.d);
  const id = frame.turn ?? (frame.type === 'turn.accepted' ? frame.d.turn : null);
  if (!id) return state;
  const known = state.turns.findLast((turn) => turn.turn === id);
  const before = known ?? { ...NEW_TURN, turn: id };
  const after = advance(before, frame);
  const turns = known ? state.turns.map((turn) => (turn === known ? after : turn)) : [...state.turns, after];
  const next: ChatState = { ...state, turns, need: spoiled(before, frame) ? 'reload' : state.need };
  return frame.type === 'turn.accepted' ? forget(next, frame.d.client_id) : next;
}

/** Whether this frame shows that the text at hand is not the text that was stored. */
function spoiled(turn: TurnState, frame: DurableFrame): boolean {
  if (turn.withheld) return false;
  if (frame.type === 'answer.delta') return !fits(turn, frame.d);
  if (frame.type === 'answer.done') return !matches(turn, frame.d);
  return false;
}

const fits = (turn: TurnState, delta: AnswerDelta): boolean => delta.off === turn.length;

const matches = (turn: TurnState, done: AnswerFinished): boolean =>
  done.length === turn.length && done.sha256 === sha256(turn.text);

function advance(turn: TurnState, frame: DurableFrame): TurnState {
  if (turn.withheld && !WITHOUT_SOURCES.includes(frame.type)) return turn;
  switch (frame.type) {
    case 'turn.accepted':
      return { ...turn, question: frame.d.text, attachments: list(frame.d.attachments) };
    case 'turn.withheld':
      return withheld(turn);
    case 'turn.plan':
      return { ...turn, plan: planned(frame.d), stage: 'plan', progress: null };
    case 'turn.progress':
      return progressed(turn, frame.d);
    case 'answer.start':
      return { ...turn, ...started(frame.d), stage: 'write', progress: null };
    case 'answer.delta':
      return fits(turn, frame.d) ? appended(turn, frame.d.text) : turn;
    case 'answer.done':
      return { ...turn, finish: frame.d.finish, sha256: frame.d.sha256, stage: 'cite', progress: null };
    case 'citations':
      return { ...turn, citations: cited(frame.d) };
    case 'conflicts':
      return { ...turn, conflicts: disputed(frame.d) };
    case 'turn.usage':
      return { ...turn, usage: frame.d };
    case 'turn.done':
      return { ...turn, ...ended(frame.d) };
    default:
      return turn;
  }
}

/** Events in which sources have no part; they are told of withheld turns too. */
const WITHOUT_SOURCES: readonly string[] = ['turn.accepted', 'turn.usage', 'turn.done'];

/** What was shown of it is taken back but for what was asked, how it ended and what it cost. */
function withheld(shown: TurnState): TurnState {
  const { turn, question, attachments, status, stage, error, retry_after_ms, usage, audit_id, record_hash } = shown;
  const end = { status, stage, error, retry_after_ms, usage, audit_id, record_hash };
  return { ...NEW_TURN, turn, question, attachments, ...end, withheld: true };
}

const started = ({ model, prompt, from_cache }: AnswerStarted): Partial<TurnState> => ({
  model,
  prompt,
  from_cache: from_cache ?? null,
});

function progressed(turn: TurnState, d: TurnProgress): TurnState {
  const step = stepOf(d);
  return { ...turn, stage: d.stage, progress: d, steps: step ? [...turn.steps, step] : turn.steps };
}

const appended = (turn: TurnState, text: string): TurnState => ({
  ...turn,
  text: turn.text + text,
  length: turn.length + codePoints(text),
});

const ended = (done: TurnFinished): Partial<TurnState> => ({
  status: done.status,
  stage: 'done',
  progress: null,
  error: done.error ?? null,
  audit_id: done.audit_id ?? null,
  record_hash: done.record_hash ?? null,
  retry_after_ms: done.retry_after_ms ?? null,
});

function changed(state: ChatState, change: SourceChanged): ChatState {
  const turns = state.turns.map((turn) =>
    turn.turn === change.turn && !turn.withheld ? outdated(turn, change) : turn,
  );
  return { ...state, turns, told: [...state.told, change] };
}

/** A change, and what was known of the source before it forgotten. */
function outdated(turn: TurnState, change: SourceChanged): TurnState {
  const others = turn.changes.filter((c) => c.n !== change.n);
  const states = new Map([...turn.states].filter(([n]) => n !== change.n));
  return { ...turn, changes: [...others, change], states };
}

/**
 * The states of sources have been loaded, asked for when `told` was what had been told. They are dropped when it no
 * longer is: another conversation is open, or something has changed since.
 */
export function informed(state: ChatState, told: ChatState['told'], found: readonly CitedState[]): ChatState {
  if (state.told !== told || !found.length) return state;
  const states = new Map<string, Map<number, SourceState>>();
  for (const { turn, n, state: one } of found) states.set(turn, (states.get(turn) ?? new Map()).set(n, one));
  return { ...state, turns: state.turns.map((turn) => ({ ...turn, states: states.get(turn.turn) ?? turn.states })) };
}

// Fields with a default may be absent from an older server or a trimmed frame: read them as empty.

const list = <T>(value: readonly T[] | undefined | null): T[] => (Array.isArray(value) ? value : []);

const planned = (d: TurnPlanned): TurnPlanned => ({
  ...d,
  budget: { ...d.budget, dropped: list(d.budget?.dropped) },
  evidence: list(d.evidence).map((e) => ({ ...e, conflicts: list(e.conflicts), flags: list(e.flags) })),
  searched: list(d.searched),
});

const cited = (d: CitationsAdded): CitationsAdded => ({
  ...d,
  items: list(d.items),
  unsupported: list(d.unsupported),
});

const disputed = (d: ConflictsFound): ConflictsFound => ({
  ...d,
  items: list(d.items).map((item) => ({ ...item, sides: list(item.sides) })),
});
