import type { DashboardAccount, DashboardService } from '../../support/dashboard-service.ts';
import {
  addSampleChecks,
  addSampleLocation,
  type SampleCheck,
} from '../../support/sample-account.ts';
import { alertingData, DEGRADED, FAILED, PASSED } from '../alerting/alerting-samples.ts';
import { makeWindow } from '../maintenance/maintenance-scenes.ts';

const HOUR_MS = 3_600_000;

const p = (count: number): string => 'p'.repeat(count);
const f = (count: number): string => 'f'.repeat(count);
const d = (count: number): string => 'd'.repeat(count);

const NAMES = [
  'Homepage',
  'Login',
  'Payments gateway',
  'ns1.example.com SOA',
  'ns2.example.com SOA',
  'Ticket system',
  'Portal of the partners, with a name that is much longer than the column in which it is shown, as names of checks are',
  'CDN edge',
  'Invoices',
  'Customer portal',
];

/** As a company of forty checks has them on a bad day. */
export async function addBadDay(
  account: DashboardAccount,
  service: DashboardService,
): Promise<void> {
  const { json: group } = await account.post('/v1/check-groups', { name: 'Shop' });
  const office = await addSampleLocation(account, service, 'office');
  const timeout = {
    code: 'CONNECT_TIMEOUT',
    message: '10.80.4.2:443 did not answer within 30 s; the trace ends after 10.80.2.2',
    afterMs: 30_014,
  };
  const expired = {
    code: 'TLS_CERT_EXPIRED',
    message: 'The certificate expired on 22 Nov 2026, 06:00 UTC',
    afterMs: 38,
  };
  const broken: readonly SampleCheck[] = [
    { id: 'orders', name: 'Orders API', cells: p(94) + f(2), error: timeout },
    {
      id: 'smtp',
      name: 'smtp.example.com certificate',
      cells: p(80) + f(16),
      responseTimeMs: 37,
      error: expired,
    },
    { id: 'search', name: 'Search', cells: `${p(40)}d${p(48)}${d(7)}`, responseTimeMs: 260 },
    { id: 'new', name: 'Warehouse interface', cells: '' },
  ].map((check) => ({ ...check, fields: { groupId: group.id, tags: ['production', 'shop'] } }));
  const good = Array.from({ length: 36 }, (_, index): SampleCheck => {
    const name = NAMES[index % NAMES.length] ?? '';
    const turn = Math.floor(index / NAMES.length);
    return {
      id: `good-${index}`,
      name: turn === 0 ? name : `${name} ${turn + 1}`,
      cells: index % 5 === 0 ? `${p(60)}d${p(20)}f${p(14)}` : p(96),
      responseTimeMs: [184, 96, 241, 3.1, 3.4, 322, 1_420, 41, 77, 150][index % 10] ?? 100,
      fields: {
        tags: index % 2 === 0 ? ['production'] : ['staging'],
        activated: index % 9 !== 8,
        muted: index === 3,
      },
    };
  });
  await addSampleChecks(account, service, office, [...broken, ...good]);
}

/** Failing checks of which nobody is notified, for different reasons, and two whose alerts somebody has. */
export async function addQuietChecks(
  account: DashboardAccount,
  service: DashboardService,
): Promise<void> {
  const data = await alertingData(service, account);
  const { json: group } = await account.post('/v1/check-groups', { name: 'Network', muted: true });
  const checks: Readonly<Record<string, object>> = {
    orders: { name: 'Orders API' },
    search: {
      name: 'Search of the shop, with a name that is much longer than the column in which it is shown',
    },
    router: { name: 'Router', groupId: group.id },
    database: { name: 'Database', tags: ['database'] },
    replica: { name: 'Replica', tags: ['database'], groupId: group.id },
    homepage: { name: 'Homepage', muted: true },
  };
  for (const [id, fields] of Object.entries(checks)) await data.check(id, fields);
  await data.runAll(['orders', 'router', 'database'], 2, FAILED);
  await data.run('search', 2, DEGRADED);
  await data.runAll(['homepage', 'replica'], 2, PASSED);
  const now = Date.now();
  await makeWindow(account, {
    startsAt: new Date(now - HOUR_MS).toISOString(),
    endsAt: new Date(now + HOUR_MS).toISOString(),
  });
  for (const checkId of ['orders', 'search']) {
    const { json } = await account.get(`/v1/check-alerts?open=true&checkId=${checkId}`);
    const taken = await account.post(`/v1/check-alerts/${json[0].id}/acknowledge`, {});
    if (taken.status !== 200) throw new Error(`not acknowledged: ${taken.text}`);
  }
}

const SLICE = 1_000;

/** Checks without the results of a day: with statuses only, as they are after the last run. */
export async function addManyChecks(
  { accountId }: DashboardAccount,
  { store }: DashboardService,
  count: number,
): Promise<void> {
  // Each statement has a time limit.
  for (let first = 1; first <= count; first += SLICE) {
    const last = Math.min(count, first + SLICE - 1);
    await store.query(
      `insert into checks (account_id, id, check_type, name, activated, muted, frequency, body)
       select $1, 'check-' || n, 'URL', 'Check ' || n, true, false, 10, $2::jsonb
       from generate_series($3::int, $4::int) n`,
      [accountId, { request: { url: 'https://shop.example.com/' }, tags: [] }, first, last],
    );
    await store.query(
      `insert into check_statuses (account_id, check_id, name, has_failures, has_errors, is_degraded,
         longest_run, shortest_run, last_run_location, last_check_run_id, last_slot, last_response_time,
         created_at, state, since, state_slot, state_version, last_error_code, last_error_message,
         last_error_location, last_error_slot)
       select $1, 'check-' || n, 'Check ' || n, fails, false, false, 200, 20, 'office', n::text, now(), 60 + n % 90,
         now() - interval '31 days', case when fails then 'failing' else 'passing' end,
         now() - (1 + n % 1440) * interval '1 minute', now(), 1,
         case when fails then 'CONNECT_REFUSED' end, case when fails then 'refused' end,
         case when fails then 'office' end, case when fails then now() end
       from generate_series($2::int, $3::int) n cross join lateral (select n % 500 = 0 as fails) as state`,
      [accountId, first, last],
    );
  }
  // Autovacuum would have done it by now.
  await store.query('analyze checks');
  await store.query('analyze check_statuses');
}
