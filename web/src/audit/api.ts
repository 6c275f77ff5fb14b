/** The audit doors of the server. Every call throws ApiError when the server does not give a 2xx. */

import { ApiError, type TokenSource } from '../api';
import { figuresOf, type Figures } from './figures';
import { toQuery, type Filters } from './filters';
import { openedOf, pageOf, verifiedOf, type Opened, type Page, type Verified } from './records';

export const PAGE_SIZE = 50;
/** So many later records of one answer are looked for. */
const LATER = 100;

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
    return (await this.ask(`export?${toQuery(filters)}`, '*/*', reason)).blob();
  }

  private async json(path: string, reason?: string): Promise<unknown> {
    return (await this.ask(path, 'application/json', reason)).json();
  }

  /** With the token at hand, and once more with a fresh one when that is refused. */
  private async ask(path: string, accept: string, reason?: string): Promise<Response> {
    const token = await this.token(false);
    let response = await this.send(path, accept, token, reason);
    if (response.status === 401 && token) response = await this.send(path, accept, await this.token(true), reason);
    if (!response.ok) throw new ApiError(response.status, path);
    return response;
  }

  private send(path: string, accept: string, token: string | null, reason?: string): Promise<Response> {
    const url = `${this.base}/api/audit/${path}`;
    return fetch(url, { headers: headersOf(accept, token, reason), cache: 'no-store' });
  }
}

/** The one place where headers are made. Those of a browser hold Latin letters only, so a reason is percent-encoded. */
export function headersOf(accept: string, token: string | null, reason?: string): Record<string, string> {
  const headers: Record<string, string> = { Accept: accept };
  if (token) headers['Authorization'] = `Bearer ${token}`;
  if (reason !== undefined) headers['X-Audit-Reason'] = encodeURIComponent(reason.replace(/\p{Surrogate}/gu, '\ufffd'));
  return headers;
}
