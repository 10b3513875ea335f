import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../runtime/clock.ts';
import { cutText } from '../../../runtime/text/cut-text.ts';
import { storableText } from '../../../runtime/text/storable-text.ts';
import type { Sql, Store } from '../../database/store.ts';
import { notFound } from '../../errors.ts';
import { createDatabaseRetry } from '../database-retry.ts';
import { expectedAt, type HeartbeatState } from '../heartbeat-state-machine.ts';
import type { ServicePresence } from '../service-presence.ts';
import { type LockedHeartbeat, lockPinged } from '../sql.ts';
import { type JudgingParts, type Ping, pinged, record, settleHeartbeat } from '../transitions.ts';
import type { PingThrottle } from './ping-throttle.ts';

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

export interface HeartbeatPings {
  /**
   * Stores a ping and returns its kind. Retries for some seconds while the database is unavailable: a
   * restart of the database must not fail a job that pings once a day.
   *
   * @throws ServiceError 404 for a token that no heartbeat has
   */
  ping(token: string, sender: PingSender): Promise<HeartbeatState>;
  /** Whether this replica recently accepted a ping with the token. */
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
  const retried = createDatabaseRetry(clock);

  async function take(token: string, ping: Ping): Promise<HeartbeatState | null> {
    const usual = await store.transaction((tx) => takeUsual(tx, token, ping));
    if (usual !== 'unsettled') return usual;
    // Outside of the transaction: excusing an absence waits for heartbeats that other transactions have locked.
    await presence.ensure(clock.wallMs());
    return store.transaction(async (tx) => {
      const heartbeat = await lockPinged(tx, token);
      if (heartbeat === null) return null;
      const atMs = clock.wallMs();
      const settled = await settleHeartbeat(tx, parts, heartbeat, atMs);
      if (settled.step !== null) await record(tx, parts, [settled.step], atMs);
      return takeSettled(tx, settled.heartbeat, atMs, ping);
    });
  }

  /** Handles the usual ping with two statements, if nothing else changes the heartbeat. */
  async function takeUsual(
    tx: Sql,
    token: string,
    ping: Ping,
  ): Promise<HeartbeatState | null | 'unsettled'> {
    const heartbeat = await lockPinged(tx, token);
    if (heartbeat === null) return null;
    // Read after locking: what others did before the lock precedes the ping.
    const atMs = clock.wallMs();
    const expectedMs = expectedAt(heartbeat.rhythm, heartbeat.position);
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

  /** Recently accepted tokens, least recently pinged first. */
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
      // Stored twice if the response to a commit was lost; the second is then early.
      const state = await throttle.take(token, (pings) =>
        retried(() => take(token, { ...sender, pings })),
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
