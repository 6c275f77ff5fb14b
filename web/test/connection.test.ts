import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { backOff, isFinal } from '../src/back-off';
import { EMPTY, reduce } from '../src/reducer';
import { World } from './fake';
import { frame, numbered, SID, turnEvents } from './transcript';

const TURN = numbered(turnEvents('t1', 'q', ['one ', 'two ', 'three']));
const QUESTION = { text: 'q', mode: 'auto', collections: [], attachments: [] };

async function live(log = TURN): Promise<World> {
  const world = new World();
  world.log = log;
  world.connection.open(SID);
  await world.accept();
  return world;
}

describe('opening', () => {
  it('says session.open first, without a session for a new conversation', async () => {
    const world = new World();
    world.token_ = 'tok';
    world.connection.open(null);
    await world.pass(60_000);
    expect(world.sockets).toEqual([]);
    world.connection.warm();
    const socket = await world.accept();
    expect(socket.sent[0]).toEqual({
      v: 1,
      type: 'session.open',
      id: 'id1',
      d: { token: 'tok', client: { name: 'test', version: '1' }, locale: 'en' },
    });
    expect(world.connection.state.sessionId).toBe(SID);
    expect(world.connection.link.kind).toBe('live');
    expect(world.snapshots).toEqual([]);
  });

  it('loads the snapshot of a known conversation first, then resumes after it', async () => {
    const world = await live();
    expect(world.snapshots).toEqual([SID]);
    expect(world.socket.of('session.open')[0]!.d).toMatchObject({
      session_id: SID,
      resume: { epoch: 'e1', seq: TURN.length },
    });
    expect(world.connection.state.turns[0]!.text).toBe('one two three');
  });

  it('starts a new conversation when the old one is gone', async () => {
    const world = new World();
    world.snapshotStatus = 404;
    world.connection.open('gone');
    await world.pass(0);
    expect(world.connection.link.kind).toBe('idle');
    expect(world.sockets).toEqual([]);
    world.connection.warm();
    await world.accept();
    expect(world.socket.of('session.open')[0]!.d.session_id).toBeUndefined();
    expect(world.connection.state.sessionId).toBe(SID);
  });

  it('does the same when the socket says that it is gone', async () => {
    const world = new World();
    world.connection.open('gone');
    await world.pass(0);
    world.socket.onopen?.();
    world.socket.say(
      frame('error', {
        code: 'not_found',
        message_key: 'not_found',
        retryable: false,
        ref_id: world.socket.sent[0]!.id,
      }),
    );
    await world.pass(0);
    expect(world.connection.link.kind).toBe('idle');
    world.connection.warm();
    const socket = await world.accept();
    expect(socket.of('session.open')[0]!.d.session_id).toBeUndefined();
  });

  it('gives up on a server that does not get ready and comes back', async () => {
    const world = new World();
    world.connection.open(null);
    world.connection.warm();
    await world.pass(10_000);
    expect(world.sockets[0]!.closed).toBe(true);
    expect(world.connection.link.kind).toBe('waiting');
    await world.pass(1_000);
    expect(world.sockets).toHaveLength(2);
  });
});

describe('coming back', () => {
  it('waits between half a second and a bound that doubles up to 20 s', () => {
    fc.assert(
      fc.property(fc.nat(40), fc.double({ min: 0, max: 1, noNaN: true }), (attempt, chance) => {
        const ms = backOff(attempt, chance);
        expect(ms).toBeGreaterThanOrEqual(500);
        expect(ms).toBeLessThanOrEqual(Math.min(20_000, 1000 * 2 ** attempt));
      }),
    );
    expect([0, 1, 2, 9].map((attempt) => backOff(attempt, 1))).toEqual([1000, 2000, 4000, 20_000]);
  });

  it('resumes after the last number and starts counting attempts anew once it is whole', async () => {
    const world = await live(TURN.slice(0, 5));
    await world.drop();
    expect(world.connection.link).toEqual({ kind: 'waiting', ms: 750, lost: 1006 });
    await world.pass(750);
    await world.drop();
    expect(world.connection.link).toEqual({ kind: 'waiting', ms: 1250, lost: 1006 });
    world.log = TURN;
    await world.pass(1250);
    const socket = await world.accept();
    expect(socket.of('session.open')[0]!.d.resume).toEqual({ epoch: 'e1', seq: 5 });
    expect(world.connection.state.turns[0]).toMatchObject({ text: 'one two three', status: 'completed' });
    await world.drop();
    expect(world.connection.link).toEqual({ kind: 'waiting', ms: 750, lost: 1006 });
  });

  it.each([4500, 4501, 4502, 4503, 4504, 4505])('does not come back from %i by itself', async (code) => {
    const world = await live();
    await world.drop(code);
    await world.pass(120_000);
    expect(isFinal(code)).toBe(true);
    expect(world.sockets).toHaveLength(1);
    expect(world.connection.link).toEqual({ kind: 'closed', code });
    world.connection.retry();
    await world.accept();
    expect(world.connection.link.kind).toBe('live');
    expect(world.tokens.at(-1)).toBe(true);
  });

  it.each([1000, 1001, 1006, 1011, 4001, 4002, 4003, 4004, 4005, 4006])('comes back from %i', async (code) => {
    const world = await live();
    await world.drop(code);
    await world.pass(9_000);
    expect(world.sockets).toHaveLength(2);
  });

  it('fetches a fresh token after 4003 and the snapshot after 4005', async () => {
    const world = await live();
    await world.drop(4003);
    await world.pass(1000);
    expect(world.tokens).toEqual([false, true]);
    await world.accept();
    await world.drop(4005);
    await world.pass(1000);
    expect(world.snapshots).toEqual([SID, SID]);
  });

  it('waits as long as a draining server asks', async () => {
    const world = await live();
    world.socket.say(frame('server.draining', { reconnect_after_ms: 3210 }));
    await world.drop(4002);
    expect(world.connection.link).toEqual({ kind: 'waiting', ms: 3210, lost: 4002 });
  });

  it('takes no more from a socket that it left', async () => {
    const world = await live(TURN.slice(0, 3));
    const old = world.socket;
    await world.drop();
    old.say(...TURN);
    expect(world.connection.state.seq).toBe(3);
  });

  it('tries at once when the page or the network is back', async () => {
    const world = await live();
    await world.drop();
    world.connection.wake();
    await world.pass(0);
    expect(world.sockets).toHaveLength(2);
  });

  it('goes on trying when REST fails, and says when the sign-in has run out', async () => {
    const world = new World();
    world.snapshotStatus = 503;
    world.connection.open(SID);
    await world.pass(0);
    expect(world.connection.link.kind).toBe('waiting');
    world.snapshotStatus = 401;
    await world.pass(20_000);
    expect(world.connection.link).toEqual({ kind: 'closed', code: 4501 });
  });
});

describe('commands', () => {
  it('are sent until acknowledged, under the same id', async () => {
    const world = await live([]);
    const id = world.connection.ask(QUESTION);
    expect(world.socket.of('turn.start').map((c) => c.id)).toEqual([id]);
    await world.drop();
    await world.pass(1000);
    const second = await world.accept();
    expect(second.of('turn.start').map((c) => [c.id, c.d.text])).toEqual([[id, 'q']]);
    second.say(frame('ack', { id, duplicate: true, turn: 't1' }));
    await world.drop();
    await world.pass(1000);
    expect((await world.accept()).of('turn.start')).toEqual([]);
  });

  it('wait for the line when asked before it is open', async () => {
    const world = new World();
    world.connection.open(null);
    const id = world.connection.ask({ ...QUESTION, collections: ['hr'] });
    const socket = await world.accept();
    expect(socket.sent.map((c) => c.type)).toEqual(['session.open', 'turn.start']);
    expect(socket.of('turn.start')[0]).toMatchObject({ id, d: { scope: { collections: ['hr'] } } });
  });

  it('survive a reload of the page: what was not acknowledged is sent again', async () => {
    const world = await live([]);
    const id = world.connection.ask(QUESTION);
    const other = new World();
    other.stored = world.stored;
    other.connection.open(SID);
    const socket = await other.accept();
    expect(socket.of('turn.start').map((c) => c.id)).toEqual([id]);
    socket.say(frame('turn.accepted', { turn: 't1', client_id: id, text: 'q', by: 'u' }, { seq: 1, turn: 't1' }));
    expect(other.stored.get(SID)).toEqual([]);
    expect(other.connection.state.pending).toEqual([]);
  });

  it('that are refused are not sent again', async () => {
    const world = await live([]);
    const id = world.connection.ask(QUESTION);
    world.socket.say(frame('error', { code: 'busy', message_key: 'busy', retryable: true, ref_id: id }));
    expect(world.connection.state.pending[0]).toMatchObject({ id, error: 'busy' });
    await world.drop();
    await world.pass(1000);
    expect((await world.accept()).of('turn.start')).toEqual([]);
    world.connection.discard(id);
    expect(world.connection.state.pending).toEqual([]);
  });

  it('cancel names the turn, feedback its rating; both are resent too', async () => {
    const world = await live();
    world.connection.cancel('t1');
    let noted = 0;
    world.connection.feedback({ turn: 't1', rating: 'down', correction: 'no' }, () => noted++);
    await world.drop();
    await world.pass(1000);
    const socket = await world.accept();
    expect(socket.of('turn.cancel')[0]!.d).toEqual({ turn: 't1' });
    const opinion = socket.of('feedback.add')[0]!;
    expect(opinion.d).toEqual({ turn: 't1', rating: 'down', correction: 'no' });
    expect(noted).toBe(0);
    for (let i = 0; i < 2; i++) socket.say(frame('ack', { id: opinion.id, duplicate: false }));
    expect(noted).toBe(1);
  });
});

describe('repair', () => {
  it('reconnects at a hole and asks for what is missing', async () => {
    const world = await live(TURN.slice(0, 3));
    world.socket.say(TURN[4]!);
    world.log = TURN;
    const socket = await world.accept();
    expect(world.sockets).toHaveLength(2);
    expect(socket.of('session.open')[0]!.d.resume).toEqual({ epoch: 'e1', seq: 3 });
    expect(world.connection.state.turns[0]!.text).toBe('one two three');
  });

  it('takes the snapshot when the same hole is there again', async () => {
    const world = await live(TURN.slice(0, 3));
    world.socket.say(TURN[4]!);
    await world.pass(0);
    world.socket.onopen?.();
    world.socket.say(
      frame('session.ready', {
        session_id: SID,
        epoch: 'e1',
        head_seq: 5,
        recovered: true,
        replay_count: 1,
        heartbeat_ms: 1000,
      }),
    );
    world.log = TURN;
    world.socket.say(TURN[4]!);
    await world.pass(0);
    expect(world.snapshots).toHaveLength(2);
    expect(world.connection.state).toMatchObject({ seq: TURN.length, need: null });
  });

  it('loads the snapshot when the server cannot resume, and applies live frames after it', async () => {
    const world = await live(TURN.slice(0, 4));
    await world.drop();
    world.epoch = 'e2';
    world.log = TURN.slice(0, 6);
    await world.pass(1000);
    world.socket.onopen?.();
    world.socket.say(
      frame('session.ready', {
        session_id: SID,
        epoch: 'e2',
        head_seq: 6,
        recovered: false,
        replay_count: 0,
        heartbeat_ms: 1000,
      }),
      frame('replay.done', { head_seq: 6 }),
      ...TURN.slice(6),
    );
    await world.pass(0);
    expect(world.connection.state.turns).toHaveLength(1);
    expect(world.connection.state).toMatchObject({ seq: TURN.length, epoch: 'e2', need: null });
    expect(world.connection.state.turns[0]).toMatchObject({ text: 'one two three', status: 'completed' });
  });

  it('loads the snapshot when the text does not have the hash', async () => {
    const world = await live([]);
    world.log = TURN;
    const spoilt = TURN.map((f) =>
      f.type === 'answer.delta' ? { ...f, d: { ...f.d, text: f.d.text.toUpperCase() } } : f,
    );
    world.socket.say(...spoilt);
    await world.pass(0);
    expect(world.connection.state.turns[0]!.text).toBe('one two three');
    expect(world.connection.state.need).toBeNull();
  });

  it('ends in the same state whatever the line does', async () => {
    const end = TURN.reduce<typeof EMPTY>(reduce, EMPTY);
    const steps = fc.array(fc.constantFrom('send', 'skip', 'drop', 'restart', 'wait'), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(steps, async (plan) => {
        const world = await live([]);
        for (const step of plan) {
          const next = TURN[world.log.length];
          if (step === 'restart') world.epoch += 'x';
          if (step === 'drop' || step === 'restart') await world.drop();
          else if (step === 'wait') await world.pass(25_000);
          else if (next) {
            world.log = TURN.slice(0, world.log.length + 1);
            if (step === 'send') world.socket.say(next);
          }
          await world.pass(0);
          if (world.connection.link.kind === 'waiting') await world.pass(20_000);
          if (world.connection.link.kind === 'connecting') await world.accept();
        }
        world.log = TURN;
        await world.drop();
        await world.pass(20_000);
        await world.accept();
        await world.pass(0);
        const { seq, need, turns } = world.connection.state;
        expect({ seq, need }).toEqual({ seq: TURN.length, need: null });
        expect(turns.map(({ progress: _p, ...turn }) => turn)).toEqual(
          end.turns.map(({ progress: _p, ...turn }) => turn),
        );
      }),
      { numRuns: 60 },
    );
  });
});

describe('heartbeat', () => {
  it('says what was applied, and comes back when nobody answers', async () => {
    const world = await live();
    await world.pass(20_000);
    expect(world.socket.of('ping')[0]!.d).toEqual({ seq: TURN.length });
    world.socket.say(frame('pong', { head_seq: TURN.length }));
    await world.pass(20_000);
    expect(world.sockets).toHaveLength(1);
    await world.pass(20_500);
    expect(world.sockets[0]!.closed).toBe(true);
    await world.pass(1000);
    expect(world.sockets).toHaveLength(2);
  });

  it('checks a line within seconds after the page wakes', async () => {
    const world = await live();
    world.connection.wake();
    expect(world.socket.of('ping')).toHaveLength(1);
    await world.pass(5_100);
    expect(world.sockets[0]!.closed).toBe(true);
  });

  it('finds frames that were lost without a later one to show it', async () => {
    const world = await live(TURN.slice(0, 3));
    world.log = TURN;
    for (let i = 0; i < 2; i++) {
      await world.pass(20_000);
      world.socket.say(frame('pong', { head_seq: TURN.length }));
    }
    await world.accept();
    expect(world.connection.state.seq).toBe(TURN.length);
  });

  it('renews a token that runs out', async () => {
    const world = await live();
    world.token_ = 'fresh';
    world.socket.say(frame('auth.expiring', { expires_at: 'soon' }));
    await world.pass(0);
    expect(world.socket.of('auth.refresh')[0]!.d).toEqual({ token: 'fresh' });
  });
});

describe('changing the conversation', () => {
  it('leaves the old one, whose unsent question waits for its return', async () => {
    const world = await live();
    const id = world.connection.ask(QUESTION);
    world.connection.open(null);
    expect(world.connection.state).toEqual(EMPTY);
    world.connection.warm();
    const socket = await world.accept({ session_id: 's2' });
    expect(socket.sent.map((c) => c.type)).toEqual(['session.open']);
    expect(world.connection.state.sessionId).toBe('s2');
    world.connection.open(SID);
    expect((await world.accept()).of('turn.start').map((c) => c.id)).toEqual([id]);
  });
});
