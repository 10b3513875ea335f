import type { Duplex } from 'node:stream';
import { Client, type ClientConfig } from 'pg';
import { Backoff } from '../../../runtime/backoff.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { sleep } from '../../../runtime/wait.ts';
import { deferred, requireChannelName } from '../notifications.ts';
import { SerialQueue } from '../serial-queue.ts';
import { classifyError, type StoreError, storeClosedError } from '../store-errors.ts';

interface ListenerOptions {
  readonly config: ClientConfig;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Subscription {
  readonly channel: string;
  readonly onNotify: (payload: string) => void;
  readonly onGap: () => void;
  readonly onLost: () => void;
  /** Whether LISTEN was in effect once: a lost connection may then have lost notifications. */
  established: boolean;
  readonly settle: (error: StoreError | null) => void;
}

const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 5000;
/** An idle connection does not notice that the server is gone. */
const HEARTBEAT_MS = 5_000;
const HEARTBEAT_ANSWER_MS = 5000;

/**
 * The connection for LISTEN, outside of the pool, since it must stay the same.
 *
 * | mode | entered by | ends with |
 * |---|---|---|
 * | unused | – | the first subscription |
 * | connecting | a subscription, or the delay is over | live, or the delay |
 * | live | every channel is listened to | the connection is lost: the delay |
 * | delay | a failure | connecting |
 * | closed | close() | – |
 */
export class PostgresListener {
  readonly #options: ListenerOptions;
  readonly #subscriptions = new Set<Subscription>();
  readonly #closing = new AbortController();
  #session: Session | null = null;
  #loop: Promise<void> | null = null;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  /** Resolves when LISTEN is in effect; rejects when it fails. */
  async listen(
    channel: string,
    { onNotify, onGap, onLost }: Pick<Subscription, 'onNotify' | 'onGap' | 'onLost'>,
  ): Promise<() => Promise<void>> {
    requireChannelName(channel);
    if (this.#closing.signal.aborted) throw storeClosedError();
    const { log } = this.#options;
    const subscription = await new Promise<Subscription>((resolve, reject) => {
      const added: Subscription = {
        channel,
        onNotify: deferred((payload: string) => {
          if (this.#subscriptions.has(added)) onNotify(payload);
        }, log),
        onGap: deferred(() => {
          if (this.#subscriptions.has(added)) onGap();
        }, log),
        onLost: deferred(() => {
          if (this.#subscriptions.has(added)) onLost();
        }, log),
        established: false,
        settle: (error) => {
          if (added.established) return;
          added.established = error === null;
          if (error === null) return resolve(added);
          this.#subscriptions.delete(added);
          reject(error);
        },
      };
      this.#subscriptions.add(added);
      if (this.#session !== null) this.#establish(this.#session, added);
      this.#loop ??= this.#run();
    });
    return () => this.#remove(subscription);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    for (const subscription of [...this.#subscriptions]) subscription.settle(storeClosedError());
    this.#subscriptions.clear();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#options;
    const { signal } = this.#closing;
    const backoff = new Backoff({ minMs: FIRST_DELAY_MS, maxMs: MAX_DELAY_MS });
    while (!signal.aborted) {
      const session = new Session(this.#options, (channel, payload) =>
        this.#notify(channel, payload),
      );
      try {
        await session.open();
        await this.#goLive(session);
        backoff.reset();
        await session.lost(signal);
      } catch (thrown) {
        session.fail(thrown);
      }
      this.#session = null;
      await session.close();
      if (signal.aborted) return;
      const error = session.failure ?? storeClosedError();
      for (const subscription of [...this.#subscriptions]) {
        if (subscription.established) subscription.onLost();
        else subscription.settle(error);
      }
      log.warn(`no notifications from the database, trying again: ${error.message}`);
      await sleep(clock, backoff.next(), signal);
    }
  }

  async #goLive(session: Session): Promise<void> {
    const isAgain = [...this.#subscriptions].some(({ established }) => established);
    // From here on, `listen` establishes new subscriptions.
    this.#session = session;
    await Promise.all(
      [...this.#subscriptions].map(async (subscription) => {
        await session.listen(subscription.channel);
        if (subscription.established) subscription.onGap();
        else subscription.settle(null);
      }),
    );
    if (isAgain) this.#options.log.info('notifications from the database arrive again');
  }

  #establish(session: Session, subscription: Subscription): void {
    session.listen(subscription.channel).then(
      () => subscription.settle(null),
      (thrown: unknown) => subscription.settle(classifyError(thrown).error),
    );
  }

  #notify(channel: string, payload: string): void {
    for (const subscription of this.#subscriptions) {
      if (subscription.channel === channel) subscription.onNotify(payload);
    }
  }

  async #remove(subscription: Subscription): Promise<void> {
    this.#subscriptions.delete(subscription);
    const { channel } = subscription;
    const isUsed = [...this.#subscriptions].some((other) => other.channel === channel);
    if (!isUsed) await this.#session?.unlisten(channel);
  }
}

/** One connection, until it is lost. */
class Session {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #serial = new SerialQueue();
  readonly #ended = new AbortController();
  readonly #listening = new Set<string>();
  #failure: StoreError | null = null;
  #socket: Duplex | undefined;

  constructor(
    { config, clock }: ListenerOptions,
    onNotify: (channel: string, payload: string) => void,
  ) {
    this.#clock = clock;
    this.#client = new Client({
      ...config,
      query_timeout: HEARTBEAT_ANSWER_MS,
      stream: () => {
        this.#socket = config.stream?.();
        return this.#socket;
      },
    });
    this.#client.on('error', (thrown) => this.fail(thrown));
    this.#client.on('end', () => this.#ended.abort());
    this.#client.on('notification', ({ channel, payload }) => onNotify(channel, payload ?? ''));
  }

  /** The error that ended the session; null while it is live. */
  get failure(): StoreError | null {
    return this.#failure;
  }

  async open(): Promise<void> {
    await this.#client.connect();
  }

  listen(channel: string): Promise<void> {
    return this.#serial.run(async () => {
      if (this.#listening.has(channel)) return;
      await this.#send(`listen ${channel}`);
      this.#listening.add(channel);
    });
  }

  /** Never rejects: a lost connection listens to nothing. */
  async unlisten(channel: string): Promise<void> {
    await this.#serial
      .run(async () => {
        this.#listening.delete(channel);
        await this.#send(`unlisten ${channel}`);
      })
      .catch(() => {});
  }

  fail(thrown: unknown): void {
    this.#failure ??= classifyError(thrown).error;
    this.#ended.abort();
    // A regular end would wait for an answer that may never come.
    this.#socket?.destroy();
  }

  /** Resolves when the connection is lost, or the signal aborts. */
  async lost(signal: AbortSignal): Promise<void> {
    const either = AbortSignal.any([signal, this.#ended.signal]);
    while (await sleep(this.#clock, HEARTBEAT_MS, either)) {
      await this.#serial.run(() => this.#send('select 1')).catch(() => {});
    }
  }

  async close(): Promise<void> {
    await this.#client.end().catch(() => {});
  }

  async #send(text: string): Promise<void> {
    try {
      await this.#client.query(text);
    } catch (thrown) {
      this.fail(thrown);
      throw thrown;
    }
  }
}
