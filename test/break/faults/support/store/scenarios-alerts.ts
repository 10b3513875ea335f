import { HTTP_DETAIL, HTTP_RESPONSE } from '../../../../support/samples/http-results.ts';
import { FAILED } from '../../../../support/service/alerts-fixture.ts';
import type { Scenario } from './cases.ts';
import type { CaseFixture } from './fixture.ts';
import { reporterOf, shopIn } from './scenarios-results.ts';

/**
 * A webhook, to which only checks that are made later subscribe.
 *
 * @param name unique in the account
 */
export async function hookOf(
  fixture: CaseFixture,
  name = 'Hook',
  fields: Readonly<Record<string, unknown>> = {},
): Promise<number> {
  const made = await fixture.done(201, 'POST', '/v1/alert-channels', {
    type: 'WEBHOOK',
    config: { name, url: fixture.service.hook.urlFor(hookPath(fixture, name)) },
    sslExpiry: true,
    ...fields,
  });
  return made.id;
}

/** The path of a webhook in the case. */
export function hookPath({ accountId }: CaseFixture, name = 'Hook'): string {
  return `${accountId}-${name}`;
}

/** The webhook's messages: each once, and in the order of the alerts. */
export function noticesOf(fixture: CaseFixture, name = 'Hook'): readonly string[] {
  return fixture.service.hook.received(hookPath(fixture, name)).map((notice, at) => {
    const { ALERT_TYPE: type, REMINDER: reminder, NOTICE_COUNT: count } = notice;
    return `${name} notice ${at} ${type} ${reminder}${count === 1 ? '' : ` of ${count}`}`;
  });
}

export async function noticesDone(fixture: CaseFixture, count: number): Promise<void> {
  await fixture.passUntil(`${count} notices are sent`, async () => {
    const [row] = await fixture.rows(
      `select count(*) filter (where state = 'sent') as sent from alert_deliveries
       where account_id = $1`,
    );
    return Number(row?.sent) >= count;
  });
}

export const alertsScenario: Scenario = {
  name: 'a check fails, is alerted once, and recovers',
  async prepare(fixture) {
    const berlin = await fixture.location('berlin');
    await hookOf(fixture);
    const service = await fixture.done(201, 'POST', '/v1/status-pages/services', { name: 'Shop' });
    await shopIn(fixture, {
      triggerIncident: {
        serviceId: service.id,
        severity: 'MAJOR',
        name: 'The shop is down',
        description: 'We look into it.',
        notifySubscribers: false,
      },
    });
    return async () => {
      const { deliver, result } = reporterOf(fixture, berlin);
      await deliver([result(-3, FAILED)]);
      await noticesDone(fixture, 1);
      await deliver([result(-2, FAILED)]);
      await deliver([result(-1)]);
      await noticesDone(fixture, 2);
      const alerts = await fixture.done(
        200,
        'GET',
        '/v1/check-alerts?limit=99&from=0&to=9999999999',
      );
      return { seen: [...noticesOf(fixture), `${alerts.length} alerts`] };
    };
  },
};

/** A target with a certificate near its expiry. */
const NEAR_ITS_END = {
  apiCheckResult: {
    ...HTTP_DETAIL,
    response: {
      ...HTTP_RESPONSE,
      tls: {
        protocol: 'TLSv1.3',
        cipher: 'TLS_AES_256_GCM_SHA384',
        alpnProtocol: null,
        authorized: true,
        certificate: {
          subject: 'CN=shop.test',
          issuer: 'CN=ca.test',
          subjectAltNames: ['shop.test'],
          validFrom: '2025-01-01T00:00:00.000Z',
          validTo: '2027-01-01T00:00:00.000Z',
          daysRemaining: 5,
          serialNumber: '01',
          fingerprint256: 'AA',
        },
      },
    },
  },
};

export const remindersScenario: Scenario = {
  name: 'what time alone brings: a threshold in minutes, a reminder, a certificate',
  async prepare(fixture) {
    const berlin = await fixture.location('berlin');
    const channelId = await hookOf(fixture);
    await shopIn(fixture, {
      useGlobalAlertSettings: false,
      alertSettings: {
        escalationType: 'TIME_BASED',
        timeBasedEscalation: { minutesFailingThreshold: 5 },
        reminders: { amount: 1, interval: 1 },
      },
    });
    return async () => {
      const { deliver, result } = reporterOf(fixture, berlin);
      await deliver([result(-2, NEAR_ITS_END)]);
      await noticesDone(fixture, 1);
      await deliver([result(-1, FAILED)]);
      await fixture.service.clock.stall(5 * 60_000);
      await noticesDone(fixture, 2);
      await fixture.service.clock.stall(60_000);
      await noticesDone(fixture, 3);
      const path = `/v1/alert-channels/${channelId}/deliveries`;
      const log = await fixture.done(200, 'GET', path);
      return { seen: [...noticesOf(fixture), `${log.length} in the log`] };
    };
  },
};

export const failuresScenario: Scenario = {
  name: 'a failure is put into a group and looked into',
  async prepare(fixture) {
    const berlin = await fixture.location('berlin');
    await shopIn(fixture);
    const { deliver, result } = reporterOf(fixture, berlin);
    await deliver([result(-9), result(-8)]);
    return async () => {
      await deliver([result(-3, FAILED)]);
      await fixture.passUntil('the failure is looked into', async () => {
        const rows = await fixture.rows(
          `select 1 as one from root_cause_analyses where account_id = $1 and state = 'COMPLETED'`,
        );
        return rows.length > 0;
      });
      await deliver([result(-2, FAILED)]);
      const [group] = await fixture.done(200, 'GET', '/v1/error-groups?checkId=shop');
      await fixture.done(200, 'PATCH', `/v1/error-groups/${group.id}`, {
        archivedUntilNextEvent: true,
      });
      const shown = await fixture.done(200, 'GET', `/v1/error-groups/${group.id}`);
      await fixture.done(200, 'PATCH', `/v1/error-groups/${group.id}`, { archiveForEver: true });
      const asked = await fixture.done(202, 'POST', '/v1/root-cause-analyses', {
        errorGroupId: group.id,
      });
      await fixture.passUntil('the request is answered', async () => {
        const { status } = await fixture.ask('GET', `/v1/root-cause-analyses/${asked.id}`);
        return status === 200;
      });
      await fixture.done(200, 'GET', '/v1/root-cause-analyses?checkId=shop');
      return {
        seen: [`archived ${shown.archivedUntilNextEvent}`],
        // A client without an answer retries.
        mayDiffer: (row) => row.startsWith('too many: root_cause_analyses'),
      };
    };
  },
};
