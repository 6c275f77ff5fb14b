/** Why the server gave nothing, as far as the page says it. */

import { ApiError } from '../api';

export type Failure = 'nothing' | 'signedOut' | 'refused' | 'busy' | 'failed';

const BY_STATUS: Readonly<Record<number, Failure>> = {
  401: 'signedOut',
  403: 'nothing',
  404: 'nothing',
  422: 'refused',
  429: 'busy',
};

/** Why an act was refused: how, and the code and the reason that the server gave; empty where it gave none. */
export interface Refused {
  failure: Failure;
  code: string;
  reason: string;
}

export const failureOf = (error: unknown): Failure =>
  (error instanceof ApiError ? BY_STATUS[error.status] : undefined) ?? 'failed';

export function refusedOf(error: unknown): Refused {
  const { code, reason } = error instanceof ApiError ? error : { code: '', reason: '' };
  return { failure: failureOf(error), code, reason };
}
