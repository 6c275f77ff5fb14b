/**
 * Recorded turns over lines that break: whatever is lost, doubled, held back or cut, and in whatever order the tabs come
 * back, each shows every text once, with the hash that was sent, and holds what a page that was just opened would hold.
 */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { DurableFrame } from '../src/protocol';
import { EMPTY, reduce, restore, type ChatState } from '../src/reducer';
import { World } from './fake';
import { durable, framesOf, recorded } from './recorded';
import { digest, SID } from './transcript';

const LOGS = recorded.map((name) => [name, durable(framesOf(name)).map((frame) => ({ ...frame, sid: SID }))] as const);

type Log = readonly DurableFrame[];

/** A tab of the conversation whose log goes as far as `upTo`. */
async function tab(log: Log, upTo: number): Promise<World> {
  const world = new World();
  world.log = log.slice(0, upTo);
  world.connection.open(SID);
  await world.accept();
  return world;
}

/** Time passes until the tab has come back. */
async function back(world: World): Promise<void> {
  await world.pass(20_000);
  if (world.connection.link.kind === 'connecting') await world.accept();
  await world.pass(0);
}

/** What is shown, without the progress of work that is over. */
const shown = ({ seq, need, turns }: ChatState): object => ({
  seq,
  need,
  turns: turns.map(({ progress: _progress, ...turn }) => turn),
});

async function fresh(world: World, log: Log): Promise<object> {
  world.log = [...log];
  return shown(restore({ ...EMPTY, sessionId: SID }, await world.snapshot(SID)));
}

function expectHashes(state: ChatState, log: Log): void {
  for (const frame of log) {
    if (frame.type !== 'answer.done') continue;
    const turn = state.turns.find((one) => one.turn === frame.turn)!;
    expect(digest(turn.text)).toBe(frame.d.sha256);
    expect([...turn.text]).toHaveLength(frame.d.length);
  }
}

/** Whatever happens, what is shown is the beginning of what was written. */
function expectPrefix(state: ChatState, log: Log): void {
  const end = log.reduce<ChatState>(reduce, EMPTY);
  expect(state.turns.map(({ turn }) => turn)).toEqual(end.turns.slice(0, state.turns.length).map(({ turn }) => turn));
  for (const [i, { text }] of state.turns.entries()) expect(end.turns[i]!.text.startsWith(text)).toBe(true);
}

describe.skipIf(!LOGS.length)('recorded turns', () => {
  it.each(LOGS)('%s: each frame twice, cut at every frame, with and without a server that was started anew', async (_name, log) => {
    for (let cut = 0; cut <= log.length; cut++) {
      for (const restarted of [false, true]) {
        const world = await tab(log, 0);
        world.log = [...log];
        for (const frame of log.slice(0, cut)) world.socket.say(frame, frame);
        expect(shown(world.connection.state)).toEqual(shown(log.slice(0, cut).reduce<ChatState>(reduce, EMPTY)));
        if (restarted) world.epoch = 'e2';
        await world.drop();
        await back(world);
        expectHashes(world.connection.state, log);
        if (!restarted) expect(world.snapshots, 'nothing but what was missed is asked for').toHaveLength(1);
        expect(shown(world.connection.state)).toEqual(await fresh(world, log));
      }
    }
  });

  const step = fc.record({
    tab: fc.nat(1),
    what: fc.constantFrom('say', 'say', 'say', 'lose', 'again', 'ahead', 'drop', 'wake', 'restart', 'wait'),
    n: fc.nat(8),
  });

  it('in two tabs, in any order of breaks, losses and repetitions', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...LOGS), fc.array(step, { maxLength: 60 }), async ([, log], steps) => {
        const tabs = [await tab(log, 0), await tab(log, 0)];
        const said = [0, 0];
        let stored = 0;
        for (const { tab: t, what, n } of steps) {
          const world = tabs[t]!;
          const next = said[t]!;
          if (what === 'say' || what === 'lose') said[t] = Math.min(log.length, next + 1 + n);
          stored = Math.max(stored, said[t]!);
          for (const one of tabs) one.log = log.slice(0, stored);
          if (what === 'say') world.socket.say(...log.slice(next, said[t]));
          if (what === 'again') world.socket.say(...log.slice(Math.max(0, next - n), next));
          if (what === 'ahead' && next + 1 < stored) world.socket.say(log[stored - 1]!);
          if (what === 'wake') world.connection.wake();
          if (what === 'wait') await world.pass(25_000);
          if (what === 'drop') await world.drop([1006, 4001, 4002, 4003, 4005][n % 5]!);
          if (what === 'restart') for (const one of tabs) one.epoch += 'x';
          if (world.connection.link.kind !== 'live' || what === 'restart') {
            await world.drop();
            await back(world);
            said[t] = stored;
          }
          await world.pass(0);
          if (world.connection.link.kind === 'connecting') await world.accept();
          expectPrefix(world.connection.state, log);
        }
        for (const world of tabs) {
          world.log = [...log];
          await world.drop();
          await back(world);
          expectHashes(world.connection.state, log);
          expect(shown(world.connection.state)).toEqual(await fresh(world, log));
        }
      }),
      { numRuns: 150 },
    );
  }, 20_000);
});
