/** Bodies as the audit doors of the server give them. */

const SOURCE = {
  document: 'd1',
  version: 1,
  sha256: 'ab',
  title: 'Leave',
  uri: 'leave.md',
  section: 'Leave > Days',
  start: 10,
  end: 30,
  exact: 'You get 20 days.',
  page: null,
  date: '2023-05-01',
  authority: 'high',
};

export const ANSWER = 'You get **20 days**. The moon is green.';

export const cited = (start: number, end: number, more: object = {}): object => ({
  n: 1,
  start,
  end,
  verdict: 'supported',
  score: 1,
  evidence: 'e1',
  source: SOURCE,
  ...more,
});

export const item = (seq: number, more: object = {}): Record<string, unknown> => ({
  seq,
  id: `r${seq}`,
  at: '2024-05-01T12:00:00.000Z',
  kind: 'turn',
  actor: 'u1',
  subject: 'u1',
  conversation: 's1',
  turn: `t${seq}`,
  hash: 'h',
  model: 'm',
  mode: 'refine',
  status: 'completed',
  finish: 'stop',
  rating: null,
  verdict: 'partial',
  has_conflict: false,
  source_changed: false,
  ...more,
});

export const opened = (more: object = {}, record: object = {}): Record<string, unknown> => ({
  record: {
    tenant: 'acme',
    seq: 7,
    id: 'r7',
    at: '2024-05-01T12:00:00.000Z',
    kind: 'turn',
    actor: 'u1',
    subject: 'u1',
    conversation: 's1',
    turn: 't7',
    sealed_sha256: 'seal',
    previous: 'before',
    hash: 'after',
    body: {
      mode: 'refine',
      mode_asked: 'auto',
      model: 'm-1',
      prompt: 'p1',
      parameters: { temperature: 0.1 },
      rights: { groups: ['everyone', 'staff'], scope: null, hidden_documents: 3 },
      status: 'completed',
      finish: 'stop',
      started_at: '2024-05-01T11:59:00Z',
      citations: {
        status: 'partial',
        items: [cited(0, 20)],
        unsupported: [{ start: 21, end: 39, verdict: 'unsupported', score: 0 }],
        agreement: 3,
      },
      conflicts: null,
      usage: { calls: 2, tokens_in: 100, tokens_out: 20, tokens_cached: 0, cost: 0.01, ms_answer: 1500 },
    },
    ...record,
  },
  texts: { question: 'How many days?', answer: ANSWER, standalone: 'How many days of leave?' },
  erased: false,
  tampered: false,
  evidence: [{ id: 'e1', title: 'Leave', section: 'Leave > Days', version: 1, exact: 'You get 20 days.', score: 0.5, flags: [] }],
  sources: [
    {
      n: 1,
      version: 1,
      date: '2023-05-01',
      before: 'Leave. ',
      exact: 'You get 20 days.',
      after: '',
      state: 'changed',
      current: { version: 2, date: null, before: 'Leave. ', exact: 'You get 25 days.', after: '' },
      diff: [
        { op: 'equal', old: 'Leave. You get ', new: 'Leave. You get ' },
        { op: 'replace', old: '20', new: '25' },
        { op: 'equal', old: ' days.', new: ' days.' },
      ],
    },
  ],
  plan: null,
  ...more,
});

const both = (old: unknown, now: unknown = old): object => ({ old, new: now });
const place = (exact: string, verdict: unknown): object => ({ evidence: 'e1', start: 0, end: 9, title: 'Leave', exact, verdict });

/** What the server says of an answer that was given again. */
export const replayed = (more: object = {}): Record<string, unknown> => ({
  same: false,
  old: 'You get 20 days.',
  new: 'You get 25 days.',
  text: [
    { op: 'equal', old: 'You get ', new: 'You get ' },
    { op: 'replace', old: '20', new: '25' },
    { op: 'equal', old: ' days.', new: ' days.' },
  ],
  model: both('m-1', 'm-2'),
  prompt: both('p1'),
  mode: both('refine'),
  status: both('completed'),
  finish: both('stop', 'length'),
  agreement: both(3, null),
  unsupported: both(1, 0),
  citations: {
    kept: 2,
    added: [place('You get 25 days.', 'supported')],
    lost: [place('The moon is green.', 'contradicted')],
    rejudged: [place('Ask first.', both('supported', 'partial'))],
  },
  conflicts: [{ topic: 'Days of leave', followed: both('preferred', null) }],
  usage: {
    calls: both(2, 1), tokens_in: both(1200, 900), tokens_out: both(20), tokens_cached: both(0),
    cost: both(0.01, null), ms_first_token: both(null), ms_answer: both(1500, 700), ms_citations: both(null),
  },
  left_out: [{ purpose: 'rewrite', model: 'm-1', why: 'it made the question standalone', tokens_in: 30, tokens_out: 4, cost: 0.002 }],
  lost_images: 1,
  ...more,
});
