import { gzipSync } from 'node:zlib';
import { resultIdOf, sequenceIdOf } from '../../../../src/model/ids.ts';
import type { CheckResult } from '../../../../src/model/result/result.ts';
import { giveEverySlot } from '../../../support/agent/assigned-slots.ts';
import { HTTP_DETAIL, HTTP_RESPONSE, resultOf } from '../../../support/samples/http-results.ts';
import type { DashboardAccount, DashboardService } from '../../support/dashboard-service.ts';

const MINUTE_MS = 60_000;

/** Ways in which runs of the checks end. */
export const FAILED: Partial<CheckResult> = {
  hasFailures: true,
  responseTime: 184,
  apiCheckResult: { ...HTTP_DETAIL, response: { ...HTTP_RESPONSE, status: 503 } },
};
export const DEGRADED: Partial<CheckResult> = { isDegraded: true, responseTime: 3_420 };
export const PASSED: Partial<CheckResult> = { responseTime: 118 };

export interface AlertingData {
  /** Makes a check that runs in `berlin`; new channels are not subscribed to it. */
  check(id: string, fields?: object): Promise<void>;
  /** Reports a run of the check in `berlin`, as its agent does. */
  run(id: string, minutesAgo: number, fields: Partial<CheckResult>): Promise<void>;
  /** Reports such a run of each of the checks in one request. */
  runAll(ids: readonly string[], minutesAgo: number, fields: Partial<CheckResult>): Promise<void>;
}

/** An account with the private location `berlin`. */
export async function alertingData(
  { store, app, features }: DashboardService,
  { accountId, put }: DashboardAccount,
): Promise<AlertingData> {
  const { id: locationId } = await features.privateLocations.create(accountId, {
    slug: 'berlin',
    name: 'Berlin',
  });
  const { key } = await features.locationKeys.create(accountId, locationId);
  const runAll: AlertingData['runAll'] = async (ids, minutesAgo, fields) => {
    const slot = Math.floor(Date.now() / MINUTE_MS - minutesAgo) * MINUTE_MS;
    const results = ids.map((checkId) => {
      const sequenceId = sequenceIdOf(checkId, 'berlin', slot);
      return resultOf({
        checkId,
        runLocation: 'berlin',
        startedAt: new Date(slot + 5).toISOString(),
        stoppedAt: new Date(slot + 200).toISOString(),
        created_at: new Date(slot + 200).toISOString(),
        ...fields,
        attempts: 0,
        checkRunId: slot,
        sequenceId,
        id: resultIdOf(sequenceId, 1),
      });
    });
    const reply = await app.ask('/agent/v1/results', {
      key,
      method: 'POST',
      headers: {
        'x-agent-protocol': '1',
        'content-encoding': 'gzip',
        'content-type': 'application/json',
      },
      body: gzipSync(JSON.stringify({ agentId: 'agent', epoch: 1, results, missed: [] })),
    });
    if (reply.status !== 200 || reply.json.accepted.length !== ids.length) {
      throw new Error(`not all results were accepted: ${reply.status} ${reply.text}`);
    }
  };
  return {
    async check(checkId, fields = {}) {
      const made = await put(`/v1/checks/url/${checkId}`, {
        name: checkId,
        request: { url: 'https://shop.example.com/' },
        privateLocations: ['berlin'],
        frequency: 1,
        ...fields,
      });
      if (made.status !== 200) throw new Error(`no check: ${made.text}`);
      await giveEverySlot(store, { accountId, checkId, slugs: ['berlin'] });
    },
    run: (id, ...ran) => runAll([id], ...ran),
    runAll,
  };
}

const LONG_NAME =
  'Checkout of the shop with a very long name that nobody shortened, in production, behind the load balancer of the second region';

/** Five checks that fail, are slow or have recovered, and two channels of which one cannot be reached. */
export async function prepareAlerting(
  account: DashboardAccount,
  service: DashboardService,
): Promise<void> {
  const data = await alertingData(service, account);
  const ids = ['checkout', 'search', 'login', 'images', 'payments'];
  const names = [LONG_NAME, 'Search', 'Login', 'Images of products', 'Payments API'];
  for (const [index, id] of ids.entries())
    await data.check(id, { name: names[index], tags: ['shop'] });
  const subscriptions = ids.map((checkId) => ({ checkId }));
  const channels = [
    { type: 'EMAIL', config: { address: 'on-call@example.com' }, sendDegraded: true },
    { type: 'WEBHOOK', config: { name: 'Pager', url: 'http://127.0.0.1:9/hook' }, sslExpiry: true },
    { type: 'SLACK', config: { url: 'https://hooks.slack.example/services/T0/B0/x' } },
    { type: 'SMS', config: { name: 'Mira Roth', number: '+4915112345678' }, sendRecovery: false },
  ];
  for (const [index, channel] of channels.entries()) {
    await account.post('/v1/alert-channels', {
      ...channel,
      subscriptions: index < 2 ? subscriptions : [],
    });
  }
  // Results that arrive later than a period and 11 minutes give no alerts.
  await data.run('images', 10, FAILED);
  await data.run('images', 9, PASSED);
  await data.run('search', 8, DEGRADED);
  await data.run('payments', 6, FAILED);
  await data.run('login', 5, DEGRADED);
  await data.run('login', 4, FAILED);
  await data.run('checkout', 3, FAILED);
}

/** A location that misses slots, and channels that fail. The service finds nothing that ends them. */
export async function addMonitoringProblems(
  { accountId }: DashboardAccount,
  { store }: DashboardService,
): Promise<void> {
  await store.query(
    `insert into monitoring_problems (id, account_id, kind, subject_id, subject, message, since,
       seen_at, begun_at)
     select $1 || l.id, l.account_id, 'SLOTS_MISSED', l.id, jsonb_build_object('kind', 'location',
       'id', l.id, 'slug', l.slug, 'name', l.name), 'Of 60 slots 12 were not run.',
       now() - interval '1 hour', timestamptz '2100-01-01', now()
     from private_locations l where l.account_id = $2
     union all
     select $1 || c.id, c.account_id, 'CHANNEL_FAILING', c.id::text, jsonb_build_object('kind',
       'channel', 'id', c.id, 'type', c.type, 'name', c.config ->> 'address'),
       'The answer was the status 404.', now(), timestamptz '2100-01-01', now()
     from alert_channels c where c.account_id = $2 and c.type = 'EMAIL'`,
    [`${accountId}-`, accountId],
  );
}
