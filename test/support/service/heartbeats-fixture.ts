import { afterEach, expect } from 'vitest';
import { unlimited } from '../../../src/service/accounts/allowance.ts';
import type { HeartbeatFeatureParts } from '../../../src/service/heartbeats/create-feature.ts';
import { silentLog } from '../database/databases.ts';
import type { RunningService, TestService } from './service-fixture.ts';

export const PATH = '/v1/checks/heartbeats';
export const HOURLY = { period: 1, periodUnit: 'HOURS', grace: 5, graceUnit: 'MINUTES' };
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
export const RETENTION_DAYS = 30;
export const NO_ALERTS = { observe: async () => {} };

export type ListedEvent = Readonly<
  Record<'id' | 'state' | 'timestamp' | 'source' | 'userAgent', string>
> & { readonly pings: number };

/** Heartbeats of a separate account, with a test clock. */
export function useHeartbeats(running: () => RunningService, service: () => TestService) {
  afterEach(async () => {
    await running().store.query('delete from service_alive');
  });

  /** An hourly heartbeat, with five minutes of grace; `ping` requests its URL. */
  const heartbeat = async (fields: object = {}) => {
    const { mine } = service();
    const made = await mine.post(PATH, { name: 'Backup', heartbeat: HOURLY, ...fields });
    expect(made.status, made.text).toBe(201);
    const { id, heartbeat } = made.json;
    const path: string = new URL(heartbeat.pingUrl).pathname;
    const ping = async (at = path): Promise<string> => {
      const reply = await running().app.ask(at, { key: null });
      expect(reply.status, reply.text).toBe(200);
      return reply.json.state;
    };
    const events = async (query = ''): Promise<readonly ListedEvent[]> => {
      const reply = await mine.get(`${PATH}/${id}/events${query}`);
      expect(reply.status, reply.text).toBe(200);
      return reply.json;
    };
    /** Oldest first, with the minutes since the beginning of the test. */
    const startMs = service().clock.wallMs();
    const story = async (): Promise<string[]> =>
      (await events('?limit=100')).toReversed().map(({ state, timestamp }) => {
        const seconds = Math.floor((Date.parse(timestamp) - startMs) / SECOND);
        return `${seconds / 60} ${state}`;
      });
    const status = async () => (await mine.get(`/v1/check-statuses/${id}`)).json;
    const alerts = async (): Promise<string[]> =>
      (await mine.get('/v1/check-alerts?limit=100&from=0&to=9999999999')).json
        .filter(({ checkId }: { checkId: string }) => checkId === id)
        .map(({ alertType }: { alertType: string }) => alertType)
        .toReversed();
    return { id: String(id), path, ping, events, story, status, alerts };
  };

  /** Advances the clock while the service is up, and scans. */
  const pass = async (durationMs: number): Promise<void> => {
    const { clock, store, features } = running();
    clock.spend(durationMs);
    await store.query(
      `insert into service_alive (alive_at) values ($1::timestamptz)
       on conflict (is_alone) do update set alive_at = excluded.alive_at`,
      [new Date(clock.wallMs())],
    );
    await features.heartbeatWatch.scan();
  };

  const parts = (): HeartbeatFeatureParts => {
    const { store, clock } = running();
    return {
      store,
      clock,
      log: silentLog(),
      ids: () => crypto.randomUUID(),
      retentionDays: RETENTION_DAYS,
      rollUpRetentionDays: 400,
      allowance: unlimited,
      alerts: NO_ALERTS,
    };
  };

  return { heartbeat, pass, parts };
}
