import { describe, expect, it } from 'vitest';
import { createDatabaseClock } from '../../../../src/service/database/database-clock.ts';
import { createHeartbeatFeatures } from '../../../../src/service/heartbeats/create-feature.ts';
import { databases } from '../../../support/database/databases.ts';
import { FakeClock, settle } from '../../../support/fake-clock.ts';
import { captureLog } from '../../../support/log-capture.ts';
import {
  HOUR,
  MINUTE,
  SECOND,
  useHeartbeats,
} from '../../../support/service/heartbeats-fixture.ts';
import { useAccounts, useRunningService } from '../../../support/service/service-fixture.ts';

/** The time that all replicas share, whatever the clocks of their machines say. */
describe.each(databases)('on %s', (kind) => {
  describe('the clock of the database', () => {
    const running = useRunningService(kind);
    const service = useAccounts(running);
    const { heartbeat, parts } = useHeartbeats(running, service);
    const clockOf = (machine: FakeClock) => {
      const { log, records } = captureLog();
      return {
        log,
        records,
        shared: createDatabaseClock({ store: running().store, clock: machine, log }),
      };
    };

    it('is the clock of the machine until it is set, and then that of the database', async () => {
      const machine = new FakeClock();
      const { shared, records } = clockOf(machine);
      expect(shared.wallMs()).toBe(machine.wallMs());
      // The database of this test is on this machine.
      const beforeMs = Date.now();
      await shared.set();
      // The fake clock does not advance during the query, so its round trip takes no time.
      expect(shared.wallMs()).toBeGreaterThanOrEqual(beforeMs);
      expect(shared.wallMs()).toBeLessThanOrEqual(Date.now());
      await shared.set();
      expect(records().map(({ level }) => level)).toEqual(['warn']);
    });

    it('advances by elapsed time, and does not jump with the clock of the machine', async () => {
      const machine = new FakeClock();
      const { shared } = clockOf(machine);
      await shared.set();
      const setMs = shared.wallMs();
      machine.stepWall(-5 * MINUTE);
      expect(shared.wallMs()).toBe(setMs);
      machine.spend(3 * SECOND);
      expect(shared.wallMs()).toBe(setMs + 3 * SECOND);
      machine.suspend(HOUR);
      machine.spend(SECOND);
      expect(shared.wallMs()).toBe(setMs + HOUR + 4 * SECOND);
    });

    it('is synchronised repeatedly until the signal aborts', async () => {
      const machine = new FakeClock();
      const { shared } = clockOf(machine);
      await shared.set();
      const stop = new AbortController();
      const keeping = shared.maintain(stop.signal);
      // The hour passes only on the machine: almost no time passes in the database.
      machine.spend(HOUR);
      expect(shared.wallMs()).toBeGreaterThan(Date.now() + HOUR / 2);
      await machine.advance(2 * SECOND);
      while (machine.pendingTimers === 0) await settle();
      expect(shared.wallMs()).toBeLessThan(Date.now() + MINUTE);
      stop.abort();
      await keeping;
      expect(machine.pendingTimers).toBe(0);
    });

    it.each([-10 * MINUTE, -30 * SECOND, 30 * SECOND, 10 * MINUTE])(
      'keeps heartbeats from failing too early or never on a machine that is off by %i ms',
      async (offMs) => {
        const { store } = running();
        const alerts = running().features.alertEngine;
        const clocks = [0, offMs].map((off) => clockOf(new FakeClock(Date.now() + off)));
        const replicas = async () => {
          for (const { shared } of clocks) await shared.set();
          return clocks.map(({ shared, log }) =>
            createHeartbeatFeatures({ ...parts(), clock: shared, log, alerts }),
          );
        };
        const { path, events } = await heartbeat();
        const states = async () => (await events()).map(({ state }) => state).toSorted();
        // Started again for each scan, each replica reports its presence.
        const lookAll = async () => {
          for (const { heartbeatWatch } of [...(await replicas()), ...(await replicas())]) {
            await heartbeatWatch.scan();
          }
        };
        const ageBy = (ms: number) =>
          store.query(
            `update heartbeats set counted_from = counted_from - $1::bigint * interval '1 ms',
               last_ping_at = last_ping_at - $1::bigint * interval '1 ms',
               due_at = due_at - $1::bigint * interval '1 ms' where due_at is not null`,
            [ms],
          );
        await lookAll();
        const token = path.split('/').at(-1) ?? '';
        const [, off] = await replicas();
        await off?.heartbeatPings.ping(token, { source: 'test', userAgent: '' });
        // Five seconds before its deadline.
        await ageBy(HOUR + 5 * MINUTE - 5 * SECOND);
        await lookAll();
        expect(await states()).toEqual(['RECEIVED']);
        await ageBy(5 * SECOND);
        await lookAll();
        expect(await states()).toEqual(['FAILING', 'RECEIVED']);
      },
    );
  });
});
