import { HTTP_DETAIL, HTTP_RESPONSE } from '../../../../support/samples/http-results.ts';
import { FAILED } from '../../../../support/service/alerts-harness.ts';
import type { Scenario } from './store-cases.ts';
import { reporterOf, shopIn } from './store-scenarios-results.ts';
import type { World } from './store-world.ts';

async function hookOf(world: World): Promise<number> {
  const made = await world.done(201, 'POST', '/v1/alert-channels', {
    type: 'WEBHOOK',
    config: { name: 'Hook', url: world.lab.hook.urlFor(world.accountId) },
    sslExpiry: true,
  });
  return made.id;
}

/** The webhook's notices: each once, and in the order of the alerts. */
export function noticesOf(world: World): readonly string[] {
  return world.lab.hook.received(world.accountId).map((notice, at) => {
    return `notice ${at} ${notice.ALERT_TYPE} ${notice.REMINDER}`;
  });
}

export async function noticesDone(world: World, count: number): Promise<void> {
  await world.passUntil(`${count} notices are sent`, async () => {
    const [row] = await world.rows(
      `select count(*) filter (where state = 'sent') as sent from alert_deliveries
       where account_id = $1`,
    );
    return Number(row?.sent) >= count;
  });
}

export const alertsScenario: Scenario = {
  name: 'a check fails, is alerted once, and recovers',
  async prepare(world) {
    const berlin = await world.location('berlin');
    await hookOf(world);
    const service = await world.done(201, 'POST', '/v1/status-pages/services', { name: 'Shop' });
    await shopIn(world, {
      triggerIncident: {
        serviceId: service.id,
        severity: 'MAJOR',
        name: 'The shop is down',
        description: 'We look into it.',
        notifySubscribers: false,
      },
    });
    return async () => {
      const { deliver, result } = reporterOf(world, berlin);
      await deliver([result(-3, FAILED)]);
      await noticesDone(world, 1);
      await deliver([result(-2, FAILED)]);
      await deliver([result(-1)]);
      await noticesDone(world, 2);
      const alerts = await world.done(200, 'GET', '/v1/check-alerts?limit=99&from=0&to=9999999999');
      return { seen: [...noticesOf(world), `${alerts.length} alerts`] };
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
  async prepare(world) {
    const berlin = await world.location('berlin');
    const channelId = await hookOf(world);
    await shopIn(world, {
      useGlobalAlertSettings: false,
      alertSettings: {
        escalationType: 'TIME_BASED',
        timeBasedEscalation: { minutesFailingThreshold: 5 },
        reminders: { amount: 1, interval: 1 },
      },
    });
    return async () => {
      const { deliver, result } = reporterOf(world, berlin);
      await deliver([result(-2, NEAR_ITS_END)]);
      await noticesDone(world, 1);
      await deliver([result(-1, FAILED)]);
      await world.lab.clock.stall(5 * 60_000);
      await noticesDone(world, 2);
      await world.lab.clock.stall(60_000);
      await noticesDone(world, 3);
      const path = `/v1/alert-channels/${channelId}/deliveries`;
      const log = await world.done(200, 'GET', path);
      return { seen: [...noticesOf(world), `${log.length} in the log`] };
    };
  },
};

export const failuresScenario: Scenario = {
  name: 'a failure is put into a group and looked into',
  async prepare(world) {
    const berlin = await world.location('berlin');
    await shopIn(world);
    const { deliver, result } = reporterOf(world, berlin);
    await deliver([result(-9), result(-8)]);
    return async () => {
      await deliver([result(-3, FAILED)]);
      await world.passUntil('the failure is looked into', async () => {
        const rows = await world.rows(
          `select 1 as one from root_cause_analyses where account_id = $1 and state = 'COMPLETED'`,
        );
        return rows.length > 0;
      });
      await deliver([result(-2, FAILED)]);
      const [group] = await world.done(200, 'GET', '/v1/error-groups?checkId=shop');
      await world.done(200, 'PATCH', `/v1/error-groups/${group.id}`, {
        archivedUntilNextEvent: true,
      });
      const shown = await world.done(200, 'GET', `/v1/error-groups/${group.id}`);
      await world.done(200, 'PATCH', `/v1/error-groups/${group.id}`, { archiveForEver: true });
      const asked = await world.done(202, 'POST', '/v1/root-cause-analyses', {
        errorGroupId: group.id,
      });
      await world.passUntil('the request is answered', async () => {
        const { status } = await world.ask('GET', `/v1/root-cause-analyses/${asked.id}`);
        return status === 200;
      });
      await world.done(200, 'GET', '/v1/root-cause-analyses?checkId=shop');
      return {
        seen: [`archived ${shown.archivedUntilNextEvent}`],
        // A client without an answer retries.
        mayDiffer: (row) => row.startsWith('too many: root_cause_analyses'),
      };
    };
  },
};
