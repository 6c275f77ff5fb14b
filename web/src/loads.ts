/** What the elements of an answer ask of the server when somebody looks closer. */

import type { Api } from './api';
import type { ModelCall } from './calls';
import type { PastSource } from './past-source';
import type { Citation } from './protocol';

export interface Loads {
  source(turn: string, citation: Citation): Promise<PastSource>;
  image(turn: string, id: string): Promise<Blob>;
  calls(turn: string): Promise<ModelCall[]>;
}

/** `session` is the conversation at hand at the time of each call. */
export const loadsOf = (api: Api, session: () => string): Loads => ({
  source: (turn, { n, source }) => api.source(session(), turn, n, source.start),
  image: (turn, id) => api.image(session(), turn, id),
  calls: (turn) => api.calls(session(), turn),
});
