/** The audit doors of the server. Every call throws ApiError when the server does not give a 2xx. */

import { checked, type TokenSource } from '../api';
import { figuresOf, type Figures } from './figures';
import { toQuery, type Filters } from './filters';
import { adoptedOf, openedOf, pageOf, verifiedOf, type Adopted, type Opened, type Page, type Verified } from './records';
import { replayOf, type Replay } from './replay';

export const PAGE_SIZE = 50;
/** So many later records of one answer are looked for. */
const LATER = 100;

/** What is asked beside the address; `body` makes it a POST. */
interface Sent {
  accept?: string;
  reason?: string | undefined;
  body?: object | undefined;
}

export class AuditApi {
  constructor(
    /** Origin and path prefix of the server, without a slash at the end. */
    readonly base: string,
    private readonly token: TokenSource,
  ) {}

  /** The records that fit, the latest first, from behind the number `before`. */
  async records(filters: Filters, before: number | null): Promise<Page> {
    const query = toQuery(filters);
    query.set('limit', String(PAGE_SIZE));
    if (before !== null) query.set('before', String(before));
    return pageOf(await this.json(`records?${query}`));
  }

  /** The records about one answer, the latest first. */
  async ofTurn(turn: string): Promise<Page> {
    return pageOf(await this.json(`records?${new URLSearchParams({ turn, limit: String(LATER) })}`));
  }

  /** A record with everything that belongs to it; the look goes on the record with its reason. */
  async open(id: string, reason: string): Promise<Opened> {
    return openedOf(await this.json(`records/${encodeURIComponent(id)}`, reason));
  }

  async figures(filters: Filters): Promise<Figures> {
    return figuresOf(await this.json(`figures?${toQuery(filters)}`));
  }

  async verify(): Promise<Verified> {
    return verifiedOf(await this.json('verify'));
  }

  /** A zip file of the records that fit. */
  async export(filters: Filters, reason: string): Promise<Blob> {
    return (await this.ask(`export?${toQuery(filters)}`, { accept: '*/*', reason })).blob();
  }

  /** Have an answer given again by its model, or by another one of the same endpoint; that is on the record, too. */
  async replay(id: string, model: string, reason: string): Promise<Replay> {
    return replayOf(await this.json(`records/${encodeURIComponent(id)}/replay`, reason, model ? { model } : {}));
  }

  /** Make a correction the answer of record to its question. */
  async adopt(correction: string, reason: string): Promise<Adopted> {
    return adoptedOf(await this.json('answers', reason, { correction }));
  }

  private async json(path: string, reason?: string, body?: object): Promise<unknown> {
    return (await this.ask(path, { reason, body })).json();
  }

  /** With the token at hand, and once more with a fresh one when that is refused. */
  private async ask(path: string, sent: Sent): Promise<Response> {
    const token = await this.token(false);
    let response = await this.send(path, sent, token);
    if (response.status === 401 && token) response = await this.send(path, sent, await this.token(true));
    return checked(response, path);
  }

  private send(path: string, { accept = 'application/json', reason, body }: Sent, token: string | null): Promise<Response> {
    const url = `${this.base}/api/audit/${path}`;
    const posted = body && { method: 'POST', body: JSON.stringify(body) };
    return fetch(url, { headers: headersOf(accept, token, reason, Boolean(body)), cache: 'no-store', ...posted });
  }
}

/** The one place where headers are made. Those of a browser hold Latin letters only, so a reason is percent-encoded. */
export function headersOf(accept: string, token: string | null, reason?: string, asJson = false): Record<string, string> {
  const headers: Record<string, string> = { Accept: accept };
  if (asJson) headers['Content-Type'] = 'application/json';
  if (token) headers['Authorization'] = `Bearer ${token}`;
  if (reason !== undefined) headers['X-Audit-Reason'] = encodeURIComponent(reason.replace(/\p{Surrogate}/gu, '\ufffd'));
  return headers;
}
