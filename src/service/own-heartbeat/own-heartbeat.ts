import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { NO_PROXIES, type Proxies } from '../../runtime/net/proxy/choose-proxy.ts';
import { ThrottledLog } from '../../runtime/throttled-log.ts';
import { sleep } from '../../runtime/wait.ts';
import { ping } from '../database/open-store.ts';
import type { Store } from '../database/store.ts';
import { createOutgoingHttp } from '../outgoing/outgoing-http.ts';
import { SEND_LIMIT_MS } from '../outgoing/send-outcome.ts';
import type { OwnHeartbeatConfig } from './own-heartbeat-config.ts';

export interface OwnHeartbeatParts {
  readonly store: Pick<Store, 'query'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Whether the database accepts results. */
  readonly takesResults: () => Promise<boolean>;
  /** null: no URL is requested. */
  readonly config: OwnHeartbeatConfig | null;
  /** Default: none. */
  readonly proxies?: Proxies;
}

/** `skipped`: not sent, since the database does not work. */
export const HEARTBEAT_RESULTS = ['sent', 'failed', 'skipped'] as const;
export type HeartbeatResult = (typeof HEARTBEAT_RESULTS)[number];

/**
 * Notifies another monitor every minute that the service works: src/service/README.md, "The end of the
 * service".
 */
export interface OwnHeartbeat {
  /** Counts of this process. */
  readonly counts: Readonly<Record<HeartbeatResult, number>>;
  /** Requests the URL until the signal aborts. Logs failures, at most once an hour while they last. */
  maintain(signal: AbortSignal): Promise<void>;
}

const EVERY_MS = 60_000;
/** A database that takes longer counts as not working. */
const DATABASE_LIMIT_MS = 10_000;
const LOG_EVERY_MS = 3_600_000;

export function createOwnHeartbeat(parts: OwnHeartbeatParts): OwnHeartbeat {
  const { clock, log, config, proxies = NO_PROXIES } = parts;
  const counts: Record<HeartbeatResult, number> = { sent: 0, failed: 0, skipped: 0 };
  const throttled = new ThrottledLog(clock, log, { periodMs: LOG_EVERY_MS });

  return {
    counts,

    async maintain(signal) {
      if (config === null) return;
      const http = createOutgoingHttp(null, proxies);
      const url = new URL(config.url);
      // Only the host is logged: the path may contain a token.
      const fields = { host: url.host };

      const beat = async (): Promise<HeartbeatResult> => {
        const problem = await databaseProblem(parts, signal);
        if (problem !== null && !signal.aborted) {
          throttled.warn('skipped', fields, `HEARTBEAT_URL is not requested: ${problem}`);
        }
        if (problem !== null || signal.aborted) return 'skipped';
        const limit = new AbortController();
        const cancel = clock.after(SEND_LIMIT_MS, () => limit.abort());
        const { method } = config;
        const request = { method, url, headers: {}, body: null, isGuarded: false };
        const outcome = await http.send(request, AbortSignal.any([signal, limit.signal]));
        cancel();
        if (outcome.ok) return 'sent';
        if (!signal.aborted) {
          const text = `the request to HEARTBEAT_URL failed: ${outcome.error}`;
          throttled.warn('failed', fields, text);
        }
        return 'failed';
      };

      while (!signal.aborted) {
        const startMs = clock.monotonicMs();
        const result = await beat();
        if (signal.aborted) break;
        counts[result] += 1;
        if (result === 'sent' && throttled.clear()) {
          log.info(fields, 'HEARTBEAT_URL is requested again');
        }
        await sleep(clock, startMs + EVERY_MS - clock.monotonicMs(), signal);
      }
      await http.close();
    },
  };
}

/** null if the database answers in time and accepts results. Ends when the signal aborts. */
async function databaseProblem(
  { store, clock, takesResults }: OwnHeartbeatParts,
  signal: AbortSignal,
): Promise<string | null> {
  const asked = ping(store).then(
    async () => ((await takesResults()) ? null : 'the database refuses results'),
    (error) => `the database does not answer: ${messageOf(error)}`,
  );
  const ended = new AbortController();
  const late = sleep(clock, DATABASE_LIMIT_MS, AbortSignal.any([signal, ended.signal])).then(
    () => 'the database does not answer',
  );
  const problem = await Promise.race([asked, late]);
  ended.abort();
  return problem;
}
