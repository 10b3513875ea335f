import { acknowledgeToken } from '../../../../../src/service/alerts/acknowledgements/acknowledge-link.ts';
import { DEGRADED, FAILED } from '../../../../support/service/alerts-fixture.ts';
import { TEST_SECRETS } from '../../../../support/service/service-features.ts';
import type { Scenario } from './cases.ts';
import type { CaseFixture } from './fixture.ts';
import { hookOf, hookPath, noticesDone, noticesOf } from './scenarios-alerts.ts';
import { checkIn, reporterOf, shopIn } from './scenarios-results.ts';

/** The actions on alerts in the audit log, newest first; a repeated action counts once. */
async function actionsOnAlerts(fixture: CaseFixture): Promise<string> {
  const entries = await fixture.done(200, 'GET', '/v1/audit-log?kind=check-alert');
  const actions: readonly string[] = entries.map(({ action }: { action: string }) => action);
  return actions.filter((action, at) => action !== actions[at - 1]).join();
}

export const acknowledgedScenario: Scenario = {
  name: 'an alert is escalated, taken, given back, and taken by its link',
  async prepare(fixture) {
    const berlin = await fixture.location('berlin');
    await hookOf(fixture);
    await shopIn(fixture);
    const opsId = await hookOf(fixture, 'Ops');
    const settings = `/v1/accounts/${fixture.accountId}/alert-settings`;
    const escalationStep = { minutes: 1, alertChannelIds: [opsId] };
    await fixture.done(200, 'PUT', settings, { escalationStep });
    return async () => {
      const { deliver, result } = reporterOf(fixture, berlin);
      await deliver([result(-3, FAILED)]);
      await noticesDone(fixture, 1);
      await fixture.service.clock.stall(60_000);
      await noticesDone(fixture, 2);
      const recipients = '/v1/checks/shop/alert-recipients';
      const { escalation } = await fixture.done(200, 'GET', recipients);

      const [{ id: alertId }] = await fixture.done(200, 'GET', '/v1/check-alerts?open=true');
      const alert = `/v1/check-alerts/${alertId}`;
      await fixture.done(200, 'POST', `${alert}/acknowledge`);
      await noticesDone(fixture, 4);
      await fixture.done(200, 'POST', `${alert}/unacknowledge`);
      await noticesDone(fixture, 6);
      const path = `/acknowledge/${acknowledgeToken(TEST_SECRETS, { alertId, channelId: opsId })}`;
      const sent = await fixture.insist({ method: 'POST', path, key: null });
      const page = await fixture.insist({ method: 'GET', path, key: null });
      await noticesDone(fixture, 8);

      await deliver([result(-1)]);
      await noticesDone(fixture, 10);
      return {
        seen: [
          ...noticesOf(fixture),
          ...noticesOf(fixture, 'Ops'),
          `escalated to ${escalation.channels.length}`,
          `the form was answered ${sent.status}, the page ${page.status}`,
          await actionsOnAlerts(fixture),
        ],
      };
    };
  },
};

/** With the time between two scans. */
const REPEATED_AFTER_MS = 4 * 60_000;

export const repeatedScenario: Scenario = {
  name: 'an alert that stays open is sent to Alertmanager again, and ended',
  async prepare(fixture) {
    const berlin = await fixture.location('berlin');
    await fixture.done(201, 'POST', '/v1/alert-channels', {
      type: 'ALERTMANAGER',
      config: { name: 'Prod', url: fixture.service.hook.urlFor(hookPath(fixture, 'Prod')) },
    });
    await shopIn(fixture);
    return async () => {
      const { deliver, result } = reporterOf(fixture, berlin);
      await deliver([result(-3, FAILED)]);
      await noticesDone(fixture, 1);
      await fixture.service.clock.stall(REPEATED_AFTER_MS);
      await fixture.passUntil('the alert is sent again', async () => {
        const rows = await fixture.rows(
          `select 1 as one from alert_deliveries
           where account_id = $1 and state = 'sent' and (notice -> 'isRepeated')::boolean`,
        );
        return rows.length > 0;
      });
      await deliver([result(-1)]);
      await noticesDone(fixture, 2);
      const rows = await fixture.rows(
        'select alert_type, state from alert_deliveries where account_id = $1 order by seq',
      );
      return { seen: rows.map(({ alert_type: type, state }) => `${type} ${state}`) };
    };
  },
};

const GRACE_MS = 20_000;

export const dependentScenario: Scenario = {
  name: 'a check is made to depend on another, and its alert waits for it',
  async prepare(fixture) {
    const berlin = await fixture.location('berlin');
    await hookOf(fixture);
    await checkIn(fixture, 'gateway');
    await shopIn(fixture);
    return async () => {
      const { deliver, result } = reporterOf(fixture, berlin);
      const gateway = { checkId: 'gateway' };
      await fixture.done(200, 'PATCH', '/v1/checks/url/shop', { dependsOn: ['gateway'] });
      const loop = { dependsOn: ['shop'] };
      await fixture.done(400, 'PATCH', '/v1/checks/url/gateway', loop);
      await deliver([result(-5, { ...FAILED, ...gateway })]);
      await noticesDone(fixture, 1);
      await deliver([result(-4, FAILED)]);
      const recipients = '/v1/checks/shop/alert-recipients';
      const { silences } = await fixture.done(200, 'GET', recipients);
      // It waits that long for any check that it depends on.
      await fixture.service.clock.stall(GRACE_MS);
      await deliver([result(-3, gateway)]);
      await noticesDone(fixture, 2);
      await deliver([result(-2, FAILED)]);
      await noticesDone(fixture, 3);
      await deliver([result(-1)]);
      await noticesDone(fixture, 4);
      const codes = silences.map(({ code }: { code: string }) => code);
      return { seen: [...noticesOf(fixture), `silent because of ${codes.join()}`] };
    };
  },
};

const WINDOW_MS = 5_000;

export const groupedScenario: Scenario = {
  name: 'notices of two checks come as one message, and degraded ones as a digest',
  async prepare(fixture) {
    const berlin = await fixture.location('berlin');
    const bundling = { groupBy: 'LOCATION', groupWindow: WINDOW_MS / 1000, sendDegraded: true };
    // Not within the hour in which the scenario runs.
    const degradedDigestHour = (new Date(fixture.startMs).getUTCHours() + 12) % 24;
    await hookOf(fixture, 'Hook', { ...bundling, degradedDigestHour });
    for (const id of ['shop', 'cart']) await checkIn(fixture, id);
    return async () => {
      const { deliver, result } = reporterOf(fixture, berlin);
      const cart = { checkId: 'cart' };
      await deliver([result(-5, FAILED), result(-5, { ...FAILED, ...cart })]);
      await fixture.service.clock.stall(WINDOW_MS);
      await noticesDone(fixture, 2);
      await deliver([result(-4), result(-4, cart)]);
      await fixture.service.clock.stall(WINDOW_MS);
      await noticesDone(fixture, 4);
      await deliver([result(-3, DEGRADED), result(-3, { ...DEGRADED, ...cart })]);
      await deliver([result(-2)]);
      await endWaitForDigest(fixture);
      await noticesDone(fixture, 7);
      return { seen: noticesOf(fixture) };
    };
  },
};

/** Makes digests due: an advanced clock would get further ahead of the database's with each run. */
async function endWaitForDigest(fixture: CaseFixture): Promise<void> {
  await fixture.rows(
    `update alert_deliveries set digest_at = due_at where account_id = $1 and finished_at is null`,
  );
}

/** Without a scan for a minute, problems are not looked for. */
const SCAN_EVERY_MS = 15_000;

export const problemScenario: Scenario = {
  name: 'a channel does not take a notice, another is notified of that, and the notice is sent again',
  async prepare(fixture) {
    const { hook } = fixture.service;
    const berlin = await fixture.location('berlin');
    const channelId = await hookOf(fixture);
    await shopIn(fixture);
    await hookOf(fixture, 'Ops');
    hook.refuse(hookPath(fixture));
    const scanUntil = (what: string, isSo: (begun: readonly boolean[]) => boolean) =>
      fixture.passUntil(what, async () => {
        const rows = await fixture.rows(
          `select begun_at is not null as begun from monitoring_problems where account_id = $1`,
        );
        if (isSo(rows.map(({ begun }) => begun === true))) return true;
        await fixture.service.clock.stall(SCAN_EVERY_MS);
        return false;
      });
    return async () => {
      const { deliver, result } = reporterOf(fixture, berlin);
      await deliver([result(-3, FAILED)]);
      await scanUntil('the problem is found', (begun) => begun.length > 0);
      await scanUntil('it has begun', (begun) => begun.includes(true));
      await noticesDone(fixture, 1);
      const [problem] = await fixture.done(200, 'GET', '/v1/monitoring-problems');
      hook.accept(hookPath(fixture));
      const deliveries = `/v1/alert-channels/${channelId}/deliveries`;
      const [{ id }] = await fixture.done(200, 'GET', deliveries);
      // Without an answer to the first try, the delivery may be pending.
      const { status, text } = await fixture.ask('POST', `${deliveries}/${id}/resend`);
      if (![200, 409].includes(status)) throw new Error(`sending again was answered ${text}`);
      await scanUntil('it is over', (begun) => begun.length === 0);
      await noticesDone(fixture, 3);
      const sent = new Set(hook.received(hookPath(fixture)).map((each) => each.DELIVERY_ID));
      return {
        seen: [...noticesOf(fixture, 'Ops'), problem.kind, `${sent.size} delivery to the hook`],
      };
    };
  },
};
