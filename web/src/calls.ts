/** The record of model calls as GET …/calls gives it. */

export interface CallMessage {
  role: string;
  text: string;
  /** How many images belong to it. */
  images: number;
}

export interface ModelCall {
  purpose: string;
  model: string;
  messages: CallMessage[];
  text: string;
  /** stop, length, no_answer, cancelled, or the code of an error. */
  ended: string;
  tokensIn: number;
  tokensOut: number;
  tokensCached: number;
  /** US dollars, null when not known. */
  cost: number | null;
  ms: number;
}

type Fields = Record<string, unknown>;

const fields = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const number = (value: unknown): number => (Number.isFinite(value) ? (value as number) : 0);

/** The calls of a response, in their order; fields that are missing or of another form are read as empty. */
export const callsOf = (body: unknown): ModelCall[] => list(fields(body)['calls']).map((one) => callOf(fields(one)));

function callOf(d: Fields): ModelCall {
  const usage = fields(d['usage']);
  return {
    purpose: text(d['purpose']),
    model: text(d['model']),
    messages: list(d['messages']).map((one) => messageOf(fields(one))),
    text: text(d['text']),
    ended: text(d['ended']),
    tokensIn: number(usage['tokens_in']),
    tokensOut: number(usage['tokens_out']),
    tokensCached: number(usage['tokens_cached']),
    cost: Number.isFinite(usage['cost']) ? (usage['cost'] as number) : null,
    ms: number(d['ms']),
  };
}

const messageOf = (d: Fields): CallMessage => ({
  role: text(d['role']),
  text: text(d['text']),
  images: list(d['images']).length,
});
