import { randomBytes } from 'node:crypto';
import { expectedAt, type HeartbeatState } from '../../../model/heartbeat-machine.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { cutText } from '../../../runtime/cut-text.ts';
import { notFound } from '../../errors.ts';
import { type LockedHeartbeat, lockPinged } from '../../store/heartbeats.ts';
import type { Sql, Store } from '../../store/port.ts';
import { storableText } from '../../store/values.ts';
import { type JudgingParts, type Ping, pinged, record, settle } from './judging.ts';
import type { PingThrottle } from './ping-throttle.ts';
import type { Presence } from './presence.ts';

export interface PingsParts extends JudgingParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly presence: Presence;
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
   * Takes a ping, and says what it was.
   *
   * @throws ServiceError 404 for a token that no heartbeat has
   */
  ping(token: string, sender: PingSender): Promise<HeartbeatState>;
}

const TOKEN = /^[0-9a-f]{40}$/;
const TOKEN_BYTES = 20;
const MAX_TEXT_BYTES = 512;

/** 160 random bits as 40 hex digits. */
export function newPingToken(): string {
  return randomBytes(TOKEN_BYTES).toString('hex');
}

export function createPings(parts: PingsParts): HeartbeatPings {
  const { store, clock, presence, throttle } = parts;

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

  return {
    async ping(token, { source, userAgent }) {
      if (!TOKEN.test(token)) throw notFound('heartbeat');
      const sender = { source: bounded(source), userAgent: bounded(userAgent) };
      const state = await throttle.take(token, (pings) => take(token, { ...sender, pings }));
      if (state === null) throw notFound('heartbeat');
      return state;
    },
  };
}

function bounded(text: string): string {
  return cutText(storableText(text), MAX_TEXT_BYTES);
}
