/** Who looks: the token for the audit doors, got in the same way as that of the chat, and where people sign in. */

import { Access, type GetToken } from '../access';
import { Api, type Config, type TokenSource } from '../api';
import { fieldsOf, listOf } from './records';

export class Visitor {
  readonly token: TokenSource;
  private asked: Promise<Config | null> | null = null;
  private config: Config | null = null;
  private known: Promise<readonly string[]> | null = null;

  constructor(
    private readonly base: string,
    /** The callback of the page around, null where there is none. */
    private readonly portal: () => GetToken | null,
  ) {
    this.token = new Access(base, portal, async () => Boolean((await this.settings())?.sign_in)).token;
  }

  /** Where people sign in and come back to this page; null where they do not. */
  signIn(): string | null {
    const path = this.config?.sign_in;
    if (!path || this.portal()) return null;
    const url = new URL(this.base + path);
    url.searchParams.set('next', location.pathname + location.search);
    return url.origin === location.origin ? url.href : null;
  }

  /** The roles of this person; none, and asked again the next time, where the server could not be asked. */
  roles(): Promise<readonly string[]> {
    this.known ??= new Api(this.base, this.token).config(true).then(
      (config) => listOf(fieldsOf(config)['roles']).filter((role) => typeof role === 'string'),
      () => {
        this.known = null;
        return [];
      },
    );
    return this.known;
  }

  /** What the server says of itself to everybody; asked again the next time where it could not be asked. */
  private settings(): Promise<Config | null> {
    this.asked ??= new Api(this.base, () => Promise.resolve(null)).config().then(
      (config) => (this.config = config),
      () => (this.asked = null),
    );
    return this.asked;
  }
}
