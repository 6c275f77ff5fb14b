/** The connection's environment in a browser. */

import { socketUrl, type Api, type TokenSource } from './api';
import type { Environment, Socket } from './environment';
import type { Memory } from './memory';
import { SUBPROTOCOL } from './protocol';
import { ulid } from './ulid';

export function browser(api: Api, memory: Memory, token: TokenSource): Environment {
  return {
    connect: () => new WebSocket(socketUrl(api.base), SUBPROTOCOL) as Socket,
    snapshot: (session) => api.snapshot(session),
    token,
    after: (ms, run) => {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
    random: Math.random,
    id: () => ulid(),
    loadPending: (session) => memory.pending(session),
    savePending: (session, pending) => memory.rememberPending(session, pending),
  };
}
