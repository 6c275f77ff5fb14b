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

export const failureOf = (error: unknown): Failure =>
  (error instanceof ApiError ? BY_STATUS[error.status] : undefined) ?? 'failed';
