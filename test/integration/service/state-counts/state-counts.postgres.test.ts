import { describe, expect, it } from 'vitest';
import { createServiceMetrics, NO_COUNTS } from '../../../../src/service/http/metrics.ts';
import { NO_SERVICE_COUNTS } from '../../../../src/service/state-counts/service-counts.ts';
import { createStateCounter } from '../../../../src/service/state-counts/state-counts.ts';
import { databases, silentLog } from '../../../support/database/databases.ts';
import { eventually } from '../../../support/eventually.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import {
  minutesAgo,
  resultOfRun,
  useResultsFixture,
} from '../../../support/service/results-fixture.ts';
import { useRunningService } from '../../../support/service/service-fixture.ts';

describe.each(databases)('on %s', (kind) => {
  const fixtureOf = useResultsFixture(useRunningService(kind));

  it('the metrics of the service count checks by state and live agents by location', async () => {
    const { store, clock, mine, berlin, check, deliver } = fixtureOf();
    const { accountId } = mine;
    const counter = createStateCounter({ store, clock, log: silentLog() });
    expect(counter.counts().checks).toBeNull();
    const { checks: before } = await readCounts(counter);

    await check('down');
    await check('off');
    await mine.patch('/v1/checks/off', { activated: false });
    const run = resultOfRun({ checkId: 'down', slot: minutesAgo(1), hasFailures: true });
    await deliver(berlin, { results: [run] });
    for (const [id, lease] of [
      ['live', '1 minute'],
      ['also-live', '1 minute'],
      ['lost', '-1 minute'],
    ]) {
      await store.query(
        `insert into agents (account_id, location_id, id, version, instance_id, capabilities,
           concurrency, lease_until)
         values ($1, $2, $3, '1.0.0', 'a process', '[]', 10, now() + $4::interval)`,
        [accountId, berlin.id, id, lease],
      );
    }

    const { checks, agents } = await readCounts(counter);
    expect(checks).toEqual({
      ...before,
      failing: (before?.failing ?? 0) + 1,
      paused: (before?.paused ?? 0) + 1,
    });
    const own = agents.filter((one) => one.accountId === accountId);
    // Both were made in the same moment.
    expect(own).toHaveLength(2);
    expect(own).toEqual(
      expect.arrayContaining([
        { accountId, location: 'berlin', agents: 2 },
        { accountId, location: 'oslo', agents: 0 },
      ]),
    );

    const counts = () => ({
      ...NO_COUNTS,
      states: counter.counts(),
      alertDeliveries: { sent: 3, failed: 1 },
      alertRepeats: { sent: 7, failed: 2 },
    });
    const text = await createServiceMetrics({ version: '1', inFlight: () => 0, counts }).text();
    expect(text).toContain(`vedette_service_checks{state="failing"} ${checks?.failing}`);
    expect(text).toContain(
      `vedette_service_agents_live{account_id="${accountId}",location="berlin"} 2`,
    );
    expect(text).toContain('vedette_service_alert_deliveries_total{result="failed"} 1');
    expect(text).toContain('vedette_service_alert_repeats_total{result="sent"} 7');
  });

  it('checks and agents are counted only while somebody asks, and old counts are not shown', async () => {
    const { store } = fixtureOf();
    const clock = new FakeClock();
    const counter = createStateCounter({ store, clock, log: silentLog() });
    const stop = new AbortController();
    const ended = counter.maintain(stop.signal);
    const nextReading = async (): Promise<void> => {
      await eventually(() => clock.pendingTimers === 1);
      await clock.advance(37_500);
    };
    await nextReading();
    expect(counter.counts().checks).toBeNull();
    await nextReading();
    await nextReading();
    expect(counter.counts().checks).not.toBeNull();
    for (let readings = 0; readings < 20; readings += 1) await nextReading();
    await eventually(() => clock.pendingTimers === 1);
    expect(counter.counts()).toEqual(NO_SERVICE_COUNTS);
    stop.abort();
    await ended;
  });
});

async function readCounts(counter: ReturnType<typeof createStateCounter>) {
  await counter.read();
  return counter.counts();
}
