/** Made-up turns for looking at the page: what a server would send for a question, without a model or documents. */

import { createHash } from 'node:crypto';

const points = (text) => [...text].length;

function spanOf(answer, sentence) {
  const at = answer.indexOf(sentence);
  if (at < 0) throw new Error(`not in the answer: ${sentence}`);
  const start = points(answer.slice(0, at));
  return { start, end: start + points(sentence) };
}

export const DOCUMENTS = {
  leave: {
    title: 'Annual leave policy',
    uri: 'hr/leave-policy.md',
    section: 'Annual leave policy > Entitlement > Full-time staff',
    version: 4,
    date: '2025-03-01',
    authority: 'high',
    before: 'This policy applies to all staff with a permanent contract. It replaces the edition of 2022.\n\n',
    exact: 'Full-time employees receive 25 days of annual leave per calendar year, in addition to public holidays.',
    after:
      ' Part-time employees receive a share in proportion to their working hours. Leave that is not taken by 31 March of the following year lapses, unless it could not be taken for reasons of illness.',
    state: 'unchanged',
  },
  handbook: {
    title: 'Staff handbook',
    uri: 'https://intranet.example.com/handbook#leave',
    section: 'Time off',
    version: 2,
    date: '2022-06-15',
    authority: 'medium',
    before: 'Time off matters. ',
    exact: 'Every full-time employee has 22 days of annual leave.',
    after: ' Talk to your manager before you book.',
    state: 'unchanged',
  },
  carry: {
    title: 'Carrying leave over',
    uri: 'hr/carry-over.pdf',
    section: 'Deadlines',
    version: 1,
    date: '2025-01-10',
    authority: 'high',
    page: 3,
    before: 'Unused leave does not disappear at the end of the year. ',
    exact: '[Image: Figure 1: Up to 5 unused days may be carried over and must be taken by 31 March.]',
    image: 'figure-1',
    region: [0.1, 0.62, 0.9, 0.95],
    after: ' A request is not needed.',
    state: 'unchanged',
  },
  travel: {
    title: '差旅费管理办法',
    uri: 'finance/差旅费管理办法.docx',
    section: '第三章 住宿标准',
    version: 3,
    date: '2025-01-01',
    authority: 'high',
    page: 5,
    before: '第十一条 员工出差应当按照规定的标准住宿。\n',
    exact: '第十二条 一线城市住宿费标准为每晚不超过600元，其他城市每晚不超过400元。',
    after: '\n第十三条 超出标准的部分由个人承担，确有特殊情况的须事先书面报批。',
    state: 'unchanged',
  },
};

const evidence = (id, n, score, more = {}) => {
  const { title, uri, section, date, authority } = DOCUMENTS[id];
  return {
    id,
    n,
    title,
    uri,
    section,
    date,
    authority,
    score,
    tokens: 90 + n * 37,
    conflicts: [],
    preferred: null,
    flags: [],
    ...more,
  };
};

const cite = (answer, n, id, sentence, verdict = 'supported') => {
  const { title, uri, section, version, date, authority, exact, page = null, image = null, region = null } = DOCUMENTS[id];
  const source = {
    document: id,
    version,
    sha256: '0'.repeat(64),
    title,
    uri,
    section,
    start: 100,
    end: 100 + points(exact),
    exact,
    page,
    date,
    authority,
    image,
    region,
  };
  return {
    n,
    ...spanOf(answer, sentence),
    verdict,
    score: verdict === 'supported' ? 0.93 : 0.61,
    evidence: id,
    source,
  };
};

const leave = `Full-time employees get **25 days of annual leave** per calendar year, in addition to public holidays. 🌴

| Contract | Days a year |
|:--|--:|
| Full time | 25 |
| Part time | in proportion to working hours |

What happens to days that are left:

- Up to 5 unused days may be carried over.
- They must be taken by **31 March**.
- Days from earlier years are paid out in December.

The details are in the [leave portal](https://intranet.example.com/leave).`;

const travel = `根据《差旅费管理办法》，**住宿费标准如下：**一线城市每晚不超过600元，其他城市每晚不超过400元。超出标准的部分由个人承担。

1. 出差前在系统中提交申请；
2. 确有特殊情况的，须事先书面报批。

报销须在返回后三天内完成。`;

const structured = JSON.stringify(
  { days: 25, sources: ['Full-time employees receive 25 days of annual leave.', '全职员工每年有25天年假。'] },
  null,
  1,
);

const each = `**Annual leave policy**

Full-time employees receive 25 days of annual leave.

**Staff handbook**

- 22 days of annual leave.
- Talk to your manager first.`;

const SCENES = [
  {
    match: /json/i,
    answer: structured,
    structured: true,
    language: 'en',
    mode: 'verified',
    reason: 'You chose this mode.',
    code: 'requested',
    standalone: 'Annual leave as JSON',
    steps: [
      { done: 1, total: 3, text: 'Full-time employees receive **25 days**. They also get free lunch.' },
      { done: 2, total: 3, text: 'Full-time employees receive **25 days**. There is lunch.' },
      { done: 3, total: 3, text: 'There is lunch.' },
    ],
    evidence: [evidence('leave', 1, 0.94)],
    citations: [cite(structured, 1, 'leave', 'Full-time employees receive 25 days of annual leave.')],
    unsupported: [],
    conflicts: [],
  },
  {
    match: /each/i,
    answer: each,
    language: 'en',
    mode: 'accumulate',
    reason: 'An answer per source is asked; each piece is answered on its own.',
    code: 'each_source',
    standalone: 'What does each document say on annual leave?',
    steps: [
      { done: 1, total: 3, text: '<img src=x onerror=alert(1)> 22 days of annual leave.' },
      { done: 2, total: 3, failed: 'model_unavailable' },
      { done: 3, total: 3, text: 'Full-time employees receive 25 days of annual leave.\n'.repeat(60) },
    ],
    evidence: [evidence('leave', 1, 0.94), evidence('handbook', 2, 0.81)],
    citations: [
      cite(each, 1, 'leave', 'Full-time employees receive 25 days of annual leave.'),
      cite(each, 2, 'handbook', '- 22 days of annual leave.'),
    ],
    unsupported: [],
    conflicts: [],
  },
  {
    match: /[\u4e00-\u9fff]/,
    answer: travel,
    language: 'zh',
    mode: 'simple_summarize',
    reason: 'All evidence fits into one prompt.',
    code: 'fits',
    standalone: '一线城市出差的住宿费标准是多少？',
    evidence: [evidence('travel', 1, 0.91)],
    citations: [
      cite(travel, 1, 'travel', '**住宿费标准如下：**一线城市每晚不超过600元，其他城市每晚不超过400元。'),
      cite(travel, 1, 'travel', '超出标准的部分由个人承担。'),
      cite(travel, 1, 'travel', '2. 确有特殊情况的，须事先书面报批。', 'partial'),
    ],
    unsupported: [{ ...spanOf(travel, '报销须在返回后三天内完成。'), verdict: 'unsupported', score: 0.12 }],
    conflicts: [],
  },
  {
    match: /./,
    answer: leave,
    language: 'en',
    mode: 'compact',
    reason: 'The question needs all of the evidence, which is more than one prompt holds.',
    code: 'needs_all',
    standalone: 'How many days of annual leave do full-time employees get, and what happens to unused days?',
    evidence: [
      evidence('leave', 1, 0.94, { conflicts: ['handbook'], preferred: true }),
      evidence('carry', 3, 0.88),
      evidence('handbook', 2, 0.81, { conflicts: ['leave'], preferred: false, flags: ['instruction'] }),
    ],
    citations: [
      cite(
        leave,
        1,
        'leave',
        'Full-time employees get **25 days of annual leave** per calendar year, in addition to public holidays.',
      ),
      cite(
        leave,
        2,
        'handbook',
        'Full-time employees get **25 days of annual leave** per calendar year, in addition to public holidays.',
        'contradicted',
      ),
      cite(leave, 1, 'leave', '| Full time | 25 |'),
      cite(leave, 1, 'leave', '| Part time | in proportion to working hours |', 'partial'),
      cite(leave, 3, 'carry', '- Up to 5 unused days may be carried over.'),
      cite(leave, 3, 'carry', '- They must be taken by **31 March**.'),
    ],
    unsupported: [
      { ...spanOf(leave, '- Days from earlier years are paid out in December.'), verdict: 'unsupported', score: 0.08 },
    ],
    conflicts: [
      {
        topic: 'Days of annual leave for full-time staff',
        kind: 'number',
        resolution: 'newer',
        note: '25 days / 22 days',
        followed: 'preferred',
        sides: [
          {
            evidence: 'leave',
            n: 1,
            claim: DOCUMENTS.leave.exact,
            title: DOCUMENTS.leave.title,
            date: DOCUMENTS.leave.date,
            authority: 'high',
            preferred: true,
          },
          {
            evidence: 'handbook',
            n: 2,
            claim: DOCUMENTS.handbook.exact,
            title: DOCUMENTS.handbook.title,
            date: DOCUMENTS.handbook.date,
            authority: 'medium',
            preferred: false,
          },
        ],
      },
    ],
  },
];

/** The model calls behind every scene. */
export const CALLS = ['rewrite', 'refine', 'answer'].map((purpose, i) => ({
  purpose,
  model: 'made-up-model',
  messages: [
    { role: 'system', text: 'Answer from the evidence only.', images: [] },
    { role: 'user', text: `<evidence id="1">${DOCUMENTS.leave.exact}</evidence>\nHow many days?`, images: i ? [{}] : [] },
  ],
  text: i === 1 ? '' : 'Full-time employees receive 25 days.',
  ended: i === 1 ? 'model_unavailable' : 'stop',
  usage: { calls: 1, tokens_in: 812, tokens_out: 40, tokens_cached: 0, cost: 0.0007 },
  ms: 640,
}));

const sceneOf = (question) => SCENES.find((scene) => scene.match.test(question));

/** The events of a turn as [type, d, wait in ms] in order. */
export function* eventsOf(turn, clientId, question, model) {
  const scene = sceneOf(question);
  yield ['turn.accepted', { turn, client_id: clientId, text: question, by: 'u1' }, 0];
  yield ['turn.progress', { stage: 'search', done: null, total: null }, 250];
  yield [
    'turn.plan',
    {
      standalone: scene.standalone,
      mode: scene.mode,
      reason: scene.reason,
      reason_code: scene.code,
      language: scene.language,
      searched: [scene.standalone],
      structured: scene.structured ?? false,
      budget: {
        window: 8192,
        system: 268,
        history: 910,
        evidence: 2460,
        question: 42,
        output: 1500,
        margin: 410,
        dropped: [
          { kind: 'history', ref: 'turn 2', tokens: 640, reason: 'no_room' },
          { kind: 'history', ref: 'notes', tokens: 120, reason: 'shortened' },
          { kind: 'evidence', ref: 'Holiday calendar 2019', tokens: 388, reason: 'no_room' },
        ],
      },
      evidence: scene.evidence,
    },
    200,
  ];
  for (const step of scene.steps ?? [{ done: 2, total: 3 }]) yield ['turn.progress', { stage: 'read', ...step }, 700];
  yield ['answer.start', { model, prompt: 'p1' }, 100];
  const { answer } = scene;
  let off = 0;
  for (const text of answer.match(/[\s\S]{1,7}/gu)) {
    yield ['answer.delta', { off, text }, 20];
    off += points(text);
  }
  yield ['answer.done', { length: off, sha256: createHash('sha256').update(answer).digest('hex'), finish: 'stop' }, 0];
  yield ['citations', { status: 'partial', items: scene.citations, unsupported: scene.unsupported, agreement: 4 }, 350];
  if (scene.conflicts.length) yield ['conflicts', { items: scene.conflicts }, 0];
  yield [
    'turn.usage',
    {
      calls: 1,
      tokens_in: 3680,
      tokens_out: 212,
      tokens_cached: 1024,
      cost: 0.0021,
      ms_first_token: 480,
      ms_answer: 2900,
      ms_citations: 3240,
    },
    0,
  ];
  yield ['turn.done', { status: 'completed', error: null, audit_id: 'a-000042', record_hash: 'f'.repeat(64) }, 0];
}
