import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { databases } from '../../../../support/database/databases.ts';
import {
  DAY,
  HOUR,
  type ListedEvent,
  MINUTE,
  PATH,
  useHeartbeats,
} from '../../../../support/service/heartbeats-fixture.ts';
import { useAccounts, useRunningService } from '../../../../support/service/service-fixture.ts';

/** Pings, and the events and statistics of them. */
describe.each(databases)('on %s', (kind) => {
  describe('heartbeat pings', () => {
    const running = useRunningService(kind);
    const service = useAccounts(running);
    const { heartbeat, pass } = useHeartbeats(running, service);

    it.each([
      ['GET', undefined],
      ['POST', undefined],
      ['POST', '{"no": json'],
      ['HEAD', undefined],
    ])('are accepted with %s, body %s', async (method, body) => {
      const { path, events } = await heartbeat();
      const reply = await running().app.ask(`${path}?run=1&run=2`, {
        key: null,
        method,
        headers: { 'user-agent': 'curl/8.5.0', ...(body ? { 'content-type': 'text/x' } : {}) },
        body,
      });
      expect(reply.status).toBe(200);
      if (method !== 'HEAD') expect(reply.json).toEqual({ state: 'RECEIVED' });
      expect(await events()).toEqual([
        {
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          state: 'RECEIVED',
          timestamp: new Date(service().clock.wallMs()).toISOString(),
          source: `HTTP ${method} from 127.0.0.1`,
          userAgent: 'curl/8.5.0',
          pings: 1,
        },
      ]);
    });

    it('are accepted with a body over the limit of the API', async () => {
      const { path, events } = await heartbeat();
      const { port } = running().app;
      const sent = request({ host: '127.0.0.1', port, path, method: 'POST' });
      const answered = new Promise<string>((resolve, reject) => {
        sent.on('response', (response) => resolve(text(response))).on('error', reject);
      });
      const megabyte = Buffer.alloc(1024 * 1024);
      for (let count = 0; count < 8; count += 1) sent.write(megabyte);
      sent.end();
      expect(JSON.parse(await answered)).toEqual({ state: 'RECEIVED' });
      expect(await events()).toHaveLength(1);
    });

    it.each([
      'f'.repeat(40),
      'f'.repeat(39),
      'F'.repeat(40),
      '%00',
      `${'f'.repeat(40)}%0a`,
      'x'.repeat(900),
    ])('to %s are answered with 404', async (token) => {
      const { app } = running();
      const reply = await app.ask(`/heartbeat/${token}`, { key: null });
      expect(reply.status).toBe(404);
      expect(reply.json.attributes).toEqual({ resource: 'heartbeat' });
      expect((await app.ask(`/heartbeat/${token}`, { key: null, method: 'PUT' })).status).toBe(405);
    });

    it('have source and user agent, cut and cleaned', async () => {
      const { path, events } = await heartbeat();
      const agent = `a\u00e9${'x'.repeat(2000)}`;
      await running().app.ask(path, { key: null, headers: { 'user-agent': agent } });
      const [event] = await events();
      expect(event?.userAgent).toBe(agent.slice(0, 511));
    });

    it('have the state of their time', async () => {
      const { ping, story } = await heartbeat();
      expect(await ping()).toBe('RECEIVED');
      await pass(20 * MINUTE);
      expect(await ping()).toBe('EARLY');
      await pass(59 * MINUTE);
      expect(await ping()).toBe('RECEIVED');
      await pass(64 * MINUTE);
      expect(await ping()).toBe('GRACE');
      await pass(66 * MINUTE);
      expect(await ping()).toBe('LATE');
      await pass(60 * MINUTE);
      expect(await ping()).toBe('GRACE');
      expect(await story()).toEqual([
        '0 RECEIVED',
        '20 EARLY',
        '79 RECEIVED',
        '143 GRACE',
        '208 FAILING',
        '209 LATE',
        '269 GRACE',
      ]);
    });

    it('of a job that pings often are stored in few rows, and all are counted', async () => {
      const { ping, events } = await heartbeat();
      const { clock } = service();
      for (let count = 0; count < 100; count += 1) {
        await ping();
        clock.spend(100);
      }
      clock.spend(10 * MINUTE);
      await ping();
      expect((await events()).map(({ state, pings }) => [state, pings])).toEqual([
        ['EARLY', 100],
        ['RECEIVED', 1],
      ]);
      clock.spend(HOUR / 3);
      await ping();
      clock.spend(HOUR / 3);
      await ping();
      clock.spend(HOUR / 3);
      await ping();
      expect((await events()).map(({ pings }) => pings)).toEqual([1, 102, 1]);
    });

    it('at the same time are all counted', async () => {
      const { ping, events } = await heartbeat();
      const states = await Promise.all(Array.from({ length: 20 }, () => ping()));
      expect(new Set(states)).toEqual(new Set(['RECEIVED']));
      running().clock.spend(HOUR);
      await ping();
      expect((await events()).map(({ state, pings }) => [state, pings])).toEqual([
        ['GRACE', 20],
        ['RECEIVED', 1],
      ]);
    });

    it('are listed within the window, newest first', async () => {
      const { ping, events } = await heartbeat();
      const beginMs = service().clock.wallMs();
      for (let hour = 0; hour < 4; hour += 1) {
        await ping();
        running().clock.spend(55 * MINUTE);
      }
      const seconds = (beat: number) => (beginMs + beat * 55 * MINUTE) / 1000;
      const timesOf = (list: readonly ListedEvent[]) =>
        list.map(({ timestamp }) => (Date.parse(timestamp) - beginMs) / (55 * MINUTE));
      expect(timesOf(await events())).toEqual([3, 2, 1, 0]);
      expect(timesOf(await events('?limit=1&page=3'))).toEqual([1]);
      expect(timesOf(await events(`?from=${seconds(1)}&to=${seconds(3)}`))).toEqual([2, 1]);
    });

    it('are read one by one, with statistics of the check', async () => {
      const { id, ping, events } = await heartbeat();
      const { mine, theirs } = service();
      const statsOf = async () => {
        const [newest] = await events('?limit=1');
        const reply = await mine.get(`${PATH}/${id}/events/${newest?.id}`);
        expect(reply.status).toBe(200);
        const { pings: _, ...event } = newest ?? { pings: 0 };
        expect(reply.json).toEqual({ event, stats: expect.anything() });
        return reply.json.stats;
      };
      await ping();
      await pass(HOUR);
      await ping();
      expect(await statsOf()).toEqual({
        last24Hours: {
          successRatio: { previousPeriod: 100, currentPeriod: 100 },
          totalEntitiesCurrentPeriod: 2,
        },
        last7Days: {
          successRatio: { previousPeriod: 100, currentPeriod: 100 },
          totalEntitiesCurrentPeriod: 2,
        },
      });
      await pass(2 * HOUR);
      await ping();
      expect((await statsOf()).last24Hours).toEqual({
        successRatio: { previousPeriod: 100, currentPeriod: 75 },
        totalEntitiesCurrentPeriod: 4,
      });
      await pass(DAY);
      expect((await statsOf()).last24Hours).toEqual({
        successRatio: { previousPeriod: 75, currentPeriod: 0 },
        totalEntitiesCurrentPeriod: 1,
      });
      await pass(2 * DAY);
      expect(await statsOf()).toEqual({
        last24Hours: {
          successRatio: { previousPeriod: 0, currentPeriod: 0 },
          totalEntitiesCurrentPeriod: 0,
        },
        last7Days: {
          successRatio: { previousPeriod: 100, currentPeriod: 60 },
          totalEntitiesCurrentPeriod: 5,
        },
      });
      const [one] = await events();
      const none = '00000000-0000-4000-8000-000000000000';
      expect((await mine.get(`${PATH}/${id}/events/${none}`)).status).toBe(404);
      expect((await mine.get(`${PATH}/${id}/events/x`)).status).toBe(400);
      expect((await theirs.get(`${PATH}/${id}/events/${one?.id}`)).status).toBe(404);
    });

    it('with unknown tokens are rate-limited by address', async () => {
      const { path } = await heartbeat();
      const ask = async (url: string, remoteAddress: string): Promise<number> =>
        (await running().app.app.inject({ url, remoteAddress })).statusCode;
      let asked = 0;
      while ((await ask('/heartbeat/guess', '192.0.2.9')) === 404) asked += 1;
      expect(asked).toBe(1_200);
      expect(await ask(path, '192.0.2.9')).toBe(429);
      expect(await ask(path, '192.0.2.10')).toBe(200);
      // Behind a proxy that is not configured, all clients have one address.
      expect(await ask(path, '192.0.2.9')).toBe(200);
      expect(await ask('/heartbeat/guess', '192.0.2.9')).toBe(429);
    });
  });
});
