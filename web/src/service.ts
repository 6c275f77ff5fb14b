/** All that an element needs of one server: who asks, what is asked over REST, and the conversation on its socket. */

import { Access, type GetToken } from './access';
import { Api, ApiError, type Config } from './api';
import { browser } from './browser';
import { Connection } from './connection';
import type { Locale } from './i18n';
import type { Filing } from './components/events';
import { loadsOf, type Loads } from './loads';
import { Memory } from './memory';

export const CLIENT = { name: 'assistant-web', version: '0.1.0' };

export interface Around {
  /** The callback of the portal at this time, null where there is none. */
  portal(): GetToken | null;
  locale(): Locale;
  /** Called when something that is drawn may have changed. */
  changed(): void;
}

export class Service {
  config: Config | null = null;
  /** Whether the server or the portal has said that nobody is signed in. */
  signedOut = false;
  readonly access: Access;
  readonly api: Api;
  readonly memory: Memory;
  readonly connection: Connection;
  readonly loads: Loads;
  /** Files of the conversation at hand. */
  readonly filing: Filing = {
    attach: async (file) => this.api.attach(await this.connection.session(), file),
    detach: async (id) => this.api.detach(await this.connection.session(), id),
  };
  private asked: Promise<Config | null> | null = null;

  constructor(
    base: string,
    private readonly around: Around,
  ) {
    this.access = new Access(base, around.portal, async () => Boolean((await this.settings())?.sign_in));
    this.api = new Api(base, this.access.token);
    this.memory = new Memory(base);
    this.connection = new Connection(
      browser(this.api, this.memory, this.access.token),
      CLIENT,
      around.locale,
      around.changed,
    );
    this.loads = loadsOf(this.api, () => this.connection.state.sessionId ?? '');
  }

  /** Learn what the server is and who asks, and open a conversation; null is a new one. */
  start(session: string | null): void {
    window.addEventListener('online', this.wake);
    document.addEventListener('visibilitychange', this.wake);
    this.connection.open(session);
    void this.enter();
  }

  stop(): void {
    window.removeEventListener('online', this.wake);
    document.removeEventListener('visibilitychange', this.wake);
    this.connection.close();
  }

  /** Look again who asks, after somebody has signed in, and dial again. */
  again(): void {
    if (this.connection.link.kind === 'closed') this.connection.retry();
    void this.enter();
  }

  /** The server has said that nobody is signed in. */
  refused(): void {
    this.signedOut = true;
    this.around.changed();
  }

  /** Where people sign in to these pages and come back to this one; null where they do not. */
  signIn(): string | null {
    const path = this.config?.sign_in;
    if (!path || this.around.portal()) return null;
    const url = new URL(this.api.base + path);
    url.searchParams.set('return', location.pathname + location.search);
    return url.origin === location.origin ? url.href : null;
  }

  private async enter(): Promise<void> {
    try {
      const known = (await this.access.token(false)) !== null;
      this.signedOut = false;
      if (known) this.config = await this.api.config(true);
      else await this.settings();
    } catch (error) {
      this.signedOut ||= error instanceof ApiError && [401, 403].includes(error.status);
    }
    this.around.changed();
  }

  /** What the server says of itself; null while it cannot be asked, and then asked again the next time. */
  private settings(): Promise<Config | null> {
    this.asked ??= this.api.config().then(
      (config) => (this.config = config),
      () => (this.asked = null),
    );
    return this.asked;
  }

  private readonly wake = (): void => {
    if (!document.hidden) this.connection.wake();
  };
}
