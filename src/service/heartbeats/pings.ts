import { randomBytes } from 'node:crypto';
import { expectedAt, type HeartbeatState } from '../../model/heartbeat/heartbeat-machine.ts';
import type { Clock } from '../../runtime/clock.ts';
import { cutText } from '../../runtime/text/cut-text.ts';
import type { Sql, Store } from '../database/port.ts';
import { storableText } from '../database/values.ts';
import { notFound } from '../errors.ts';
import { createDatabaseRetry } from './database-retry.ts';
import { type JudgingParts, type Ping, pinged, record, settle } from './judge.ts';
import type { PingThrottle } from './ping-throttle.ts';
import type { ServicePresence } from './service-presence.ts';
import { type LockedHeartbeat, lockPinged } from './sql.ts';

export interface PingsParts extends JudgingParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly presence: ServicePresence;
  readonly throttle: PingThrottle<HeartbeatState | null>;
}

export interface PingSender {
  /** For example `HTTP GET from 192.0.2.1`. */
  readonly source: string;
  readonly userAgent: string;
}

/** What jobs ask. */
export interface HeartbeatPings {
  /**
   * Takes a ping, and says what it was. While the database is away it is held for some seconds: what
   * pings once a day would fail for a restart of the database that is hardly noticed otherwise.
   *
   * @throws ServiceError 404 for a token that no heartbeat has
   */
  ping(token: string, sender: PingSender): Promise<HeartbeatState>;
  /** Whether a ping with the token was taken lately, by this replica. */
  isKnown(token: string): boolean;
}

const TOKEN = /^[0-9a-f]{40}$/;
const TOKEN_BYTES = 20;
const MAX_TEXT_BYTES = 512;
const MAX_KNOWN = 50_000;

/** 160 random bits as 40 hex digits. */
export function newPingToken(): string {
  return randomBytes(TOKEN_BYTES).toString('hex');
}

export function createPings(parts: PingsParts): HeartbeatPings {
  const { store, clock, presence, throttle } = parts;
  const hold = createDatabaseRetry(clock);

  async function take(token: string, ping: Ping): Promise<HeartbeatState | null> {
    const usual = await store.transaction((tx) => takeUsual(tx, token, ping));
    if (usual !== 'unsettled') return usual;
    // Not in the transaction: whoever excuses an absence waits for the heartbeats that others hold.
    await presence.ensure(clock.wallMs());
    return store.transaction(async (tx) => {
      const heartbeat = await lockPinged(tx, token);
      if (heartbeat === null) return null;
      const atMs = clock.wallMs();
      const settled = await settle(tx, parts, heartbeat, atMs);
      if (settled.step !== null) await record(tx, parts, [settled.step], atMs);
      return takeSettled(tx, settled.heartbeat, atMs, ping);
    });
  }

  /** In two statements, where nothing but the ping has changed the heartbeat. */
  async function takeUsual(
    tx: Sql,
    token: string,
    ping: Ping,
  ): Promise<HeartbeatState | null | 'unsettled'> {
    const heartbeat = await lockPinged(tx, token);
    if (heartbeat === null) return null;
    // Once it is held: what others did before that came before the ping.
    const atMs = clock.wallMs();
    const expectedMs = expectedAt(heartbeat.rhythm, heartbeat.standing);
    if (expectedMs !== null && expectedMs <= atMs) return 'unsettled';
    return takeSettled(tx, heartbeat, atMs, ping);
  }

  async function takeSettled(
    tx: Sql,
    heartbeat: LockedHeartbeat,
    atMs: number,
    ping: Ping,
  ): Promise<HeartbeatState> {
    const step = pinged(parts, heartbeat, atMs, ping);
    await record(tx, parts, [step], atMs);
    return step.state;
  }

  /** The one that was pinged longest ago first. */
  const known = new Set<string>();

  function remember(token: string): void {
    known.delete(token);
    known.add(token);
    const [oldest] = known;
    if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest);
  }

  return {
    async ping(token, { source, userAgent }) {
      if (!TOKEN.test(token)) throw notFound('heartbeat');
      const sender = { source: bounded(source), userAgent: bounded(userAgent) };
      // Taken twice where the answer to a commit was lost: it is then early the second time.
      const state = await throttle.take(token, (pings) =>
        hold(() => take(token, { ...sender, pings })),
      );
      if (state === null) {
        known.delete(token);
        throw notFound('heartbeat');
      }
      remember(token);
      return state;
    },

    isKnown: (token) => known.has(token),
  };
}

function bounded(text: string): string {
  return cutText(storableText(text), MAX_TEXT_BYTES);
}
