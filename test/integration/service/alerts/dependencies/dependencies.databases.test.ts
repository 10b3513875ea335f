import { describe, expect, it } from 'vitest';
import { databases } from '../../../../support/database/databases.ts';
import { hookServer } from '../../../../support/servers/hook-server.ts';
import {
  deliveriesWhen,
  makeWebhook,
  startWorker,
  whenAll,
} from '../../../../support/service/alert-deliveries.ts';
import {
  alertsFixtureOf,
  DEGRADED,
  FAILED,
  PASSED,
} from '../../../../support/service/alerts-fixture.ts';
import { useResultsFixture } from '../../../../support/service/results-fixture.ts';
import { useRunningService } from '../../../../support/service/service-fixture.ts';

describe.each(databases)('on %s', (kind) => {
  describe('checks that depend on another', () => {
    const fixture = useResultsFixture(useRunningService(kind));

    /** `shop` and `cart` depend on `switch`. */
    const start = async () => {
      await fixture().check('switch');
      for (const id of ['shop', 'cart']) await fixture().check(id, { dependsOn: ['switch'] });
      const { run, alerts, sweepAt } = alertsFixtureOf(fixture());
      const runAll = async (minute: number, given: Readonly<Record<string, object>>) => {
        for (const [checkId, fields] of Object.entries(given)) {
          await run(minute, { ...fields, checkId });
        }
      };
      return { runAll, alerts, sweepAt };
    };

    it('alert after it passes again, unless they do, too', async () => {
      const { runAll, alerts, sweepAt } = await start();
      await runAll(1, { shop: FAILED, switch: FAILED, cart: FAILED });
      await sweepAt(1.5);
      await runAll(2, { shop: FAILED, cart: FAILED });
      await sweepAt(9);
      expect(await alerts()).toEqual(['ALERT_FAILURE switch']);
      await runAll(10, { switch: PASSED });
      // Only runs after that show whether they still fail.
      await runAll(9.5, { shop: FAILED });
      await sweepAt(11);
      expect(await alerts()).toEqual(['ALERT_FAILURE switch', 'ALERT_RECOVERY switch']);
      await runAll(11, { shop: FAILED, cart: PASSED });
      expect((await alerts()).slice(2)).toEqual(['ALERT_FAILURE']);
      await runAll(12, { shop: PASSED });
      expect((await alerts()).slice(3)).toEqual(['ALERT_RECOVERY']);
    });

    it('alert 5 minutes after it passed again if they did not run since', async () => {
      const { runAll, alerts, sweepAt } = await start();
      await runAll(1, { switch: FAILED, shop: FAILED });
      await sweepAt(2);
      await runAll(3, { switch: PASSED });
      await sweepAt(7.9);
      expect((await alerts()).slice(2)).toEqual([]);
      await sweepAt(8);
      expect((await alerts()).slice(2)).toEqual(['ALERT_FAILURE']);
    });

    it('alert 20 s later while it passes, and at once if it is muted', async () => {
      const { runAll, alerts, sweepAt } = await start();
      await runAll(1, { switch: PASSED, shop: FAILED });
      expect(await alerts()).toEqual([]);
      await sweepAt(1.4);
      expect(await alerts()).toEqual(['ALERT_FAILURE']);
      await fixture().mine.patch('/v1/checks/switch', { muted: true });
      await runAll(2, { switch: FAILED, cart: FAILED });
      expect((await alerts()).slice(1)).toEqual(['ALERT_FAILURE cart']);
    });

    it('alert although the other failed last, once that is older than a period and 11 minutes, or nothing runs it', async () => {
      const { runAll, alerts, sweepAt } = await start();
      await runAll(1, { switch: FAILED });
      await runAll(2, { shop: FAILED });
      await sweepAt(3);
      await sweepAt(21.9);
      expect(await alerts()).toEqual(['ALERT_FAILURE switch']);
      await sweepAt(23);
      expect((await alerts()).slice(1)).toEqual(['ALERT_FAILURE']);
      await runAll(24, { switch: FAILED });
      await fixture().check('switch', { privateLocations: [], locations: ['eu-west-1'] });
      await runAll(25, { cart: FAILED });
      expect((await alerts()).slice(2)).toEqual(['ALERT_FAILURE cart']);
    });

    it('wait for one that waits for another itself', async () => {
      const { runAll, alerts, sweepAt } = await start();
      await fixture().check('page', { dependsOn: ['shop'] });
      await runAll(1, { switch: FAILED, shop: FAILED, page: FAILED });
      await sweepAt(2);
      await sweepAt(5);
      expect(await alerts()).toEqual(['ALERT_FAILURE switch']);
      await runAll(6, { switch: PASSED });
      await runAll(7, { shop: FAILED, page: FAILED });
      await sweepAt(9);
      expect((await alerts()).slice(1)).toEqual(['ALERT_RECOVERY switch', 'ALERT_FAILURE']);
      await runAll(10, { shop: PASSED });
      await runAll(11, { page: FAILED });
      expect((await alerts()).slice(3)).toEqual(['ALERT_RECOVERY', 'ALERT_FAILURE page']);
    });

    it('do not wait for one that is degraded, or that fails below its threshold', async () => {
      const { runAll, alerts, sweepAt } = await start();
      await runAll(1, { shop: FAILED });
      await runAll(1.1, { switch: DEGRADED });
      await sweepAt(1.5);
      expect(await alerts()).toEqual(['ALERT_DEGRADED switch', 'ALERT_FAILURE']);
      await runAll(2, { cart: FAILED });
      await runAll(2.1, { switch: PASSED });
      await sweepAt(2.5);
      expect((await alerts()).slice(2)).toEqual([
        'ALERT_DEGRADED_RECOVERY switch',
        'ALERT_FAILURE cart',
      ]);
      await fixture().mine.patch('/v1/checks/switch', {
        useGlobalAlertSettings: false,
        alertSettings: { runBasedEscalation: { failedRunThreshold: 2 } },
      });
      await runAll(3, { shop: PASSED });
      await runAll(4, { switch: FAILED, shop: FAILED });
      await sweepAt(4.5);
      expect((await alerts()).slice(4)).toEqual(['ALERT_RECOVERY', 'ALERT_FAILURE']);
    });

    it('wait for a failure of the same batch of results', async () => {
      const { alerts, sweepAt } = await start();
      const { deliver, result } = alertsFixtureOf(fixture());
      const failed = (checkId: string) => result(1, { ...FAILED, checkId });
      const results = ['cart', 'shop', 'switch'].map(failed);
      await deliver(fixture().berlin, { results });
      await sweepAt(2);
      expect(await alerts()).toEqual(['ALERT_FAILURE switch']);
    });

    it('are named in the message of its failure while they fail, too', async () => {
      const hook = await hookServer();
      const { runAll } = await start();
      const id = await makeWebhook(fixture(), { url: hook.url }, ['switch']);
      await runAll(1, { switch: PASSED, shop: FAILED });
      await runAll(2, { switch: FAILED });
      startWorker(fixture());
      await deliveriesWhen(fixture(), id, whenAll('sent'));
      expect(hook.requests.map(({ body }) => JSON.parse(body))).toMatchObject([
        { CHECK_ID: 'switch', WAITING_CHECKS: ['Check shop'] },
      ]);
      const recipientsOf = async (checkId: string) =>
        (await fixture().mine.get(`/v1/checks/${checkId}/alert-recipients`)).json;
      expect(await recipientsOf('switch')).toMatchObject({
        problem: { condition: 'failing', isAlerted: true },
        dependents: { total: 2, failing: 1, names: ['Check shop'] },
      });
      const reason = 'It depends on Check switch: its alert waits.';
      expect((await recipientsOf('shop')).problem).toMatchObject({ isAlerted: false, reason });
      const silences = async () => (await recipientsOf('shop')).silences;
      const message = 'It depends on Check switch, which fails: its alerts wait.';
      expect(await silences()).toMatchObject([
        { code: 'PARENT_FAILS', message },
        { code: 'NO_CHANNEL' },
      ]);
      await fixture().mine.delete(`/v1/alert-channels/${id}`);
      const unheard = 'No alert channel is notified of failures of Check switch.';
      expect((await silences())[0].message).toBe(`${message} ${unheard}`);
    });

    it('are refused if the other is none of the account, a heartbeat, or depends on them', async () => {
      await start();
      const { mine, theirs } = fixture();
      const refusal = async (id: string, dependsOn: readonly string[]) => {
        const { status, json } = await mine.patch(`/v1/checks/${id}`, { dependsOn });
        return [status, JSON.stringify(json)];
      };
      await theirs.put('/v1/checks/url/foreign', {
        name: 'Foreign',
        locations: ['eu-west-1'],
        request: { url: 'https://foreign.test/' },
      });
      const { json: heartbeat } = await mine.post('/v1/checks/heartbeats', {
        name: 'Job',
        heartbeat: { period: 1, periodUnit: 'DAYS', grace: 1, graceUnit: 'HOURS' },
      });
      await fixture().check('page', { dependsOn: ['shop'] });
      for (const [id, dependsOn, problem] of [
        ['shop', ['foreign'], 'there is no foreign'],
        ['shop', [heartbeat.id], 'is a heartbeat'],
        ['shop', ['shop'], 'no check depends on itself'],
        ['switch', ['page'], 'page depends on it'],
        ['shop', ['cart', 'cart'], 'must name each check once'],
      ] as const) {
        expect(await refusal(id, dependsOn)).toEqual([400, expect.stringContaining(problem)]);
      }
      // A check that was deleted since prevents no other change, and delays no alerts.
      await mine.delete('/v1/checks/switch');
      const changed = await mine.patch('/v1/checks/shop', { muted: false, dependsOn: ['switch'] });
      expect(changed.json).toMatchObject({ dependsOn: ['switch'] });
    });
  });
});
