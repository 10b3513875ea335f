import type { DashboardAccount, DashboardService } from '../../support/dashboard-service.ts';
import type { Scene } from '../scenes.ts';

const HOURLY = { period: 1, periodUnit: 'HOURS', grace: 5, graceUnit: 'MINUTES' };

/** Makes a heartbeat; its id and the path to ping. */
export async function makeHeartbeat(
  { post }: DashboardAccount,
  fields: object = {},
): Promise<{ readonly id: string; readonly pingPath: string }> {
  const made = await post('/v1/checks/heartbeats', {
    name: 'Nightly backup',
    heartbeat: HOURLY,
    ...fields,
  });
  if (made.status !== 201) throw new Error(`no heartbeat: ${made.text}`);
  return { id: made.json.id, pingPath: new URL(made.json.heartbeat.pingUrl).pathname };
}

/** Moves all that is known of a heartbeat into the past, and judges what is due. */
export async function age(
  { store, features }: DashboardService,
  checkId: string,
  minutes: number,
): Promise<void> {
  const by = `$2::int * interval '1 minute'`;
  await store.query(
    `update heartbeats set last_ping_at = last_ping_at - ${by}, counted_from = counted_from - ${by},
       due_at = due_at - ${by} where check_id = $1`,
    [checkId, minutes],
  );
  await store.query(`update heartbeat_events set at = at - ${by} where check_id = $1`, [
    checkId,
    minutes,
  ]);
  await features.heartbeatWatch.scan();
}

/** One of each state. */
export async function prepareHeartbeats(
  account: DashboardAccount,
  service: DashboardService,
): Promise<void> {
  const ping = (path: string) => service.app.ask(path, { key: null });
  const late = await makeHeartbeat(account, {
    name: 'Nightly backup of the warehouse with a very long name that nobody has shortened so far',
    tags: ['backup', 'warehouse'],
    description: 'Runs on db-2 from cron. If it is late, look at /var/log/backup.log first.',
  });
  const overdue = await makeHeartbeat(account, { name: 'Import of prices' });
  const inTime = await makeHeartbeat(account, { name: 'Report of sales', muted: true });
  await makeHeartbeat(account, { name: 'Not yet in cron' });
  await makeHeartbeat(account, { name: 'Old export', activated: false });
  for (const { pingPath } of [late, overdue, inTime]) await ping(pingPath);
  await age(service, late.id, 50);
  await ping(late.pingPath);
  await age(service, late.id, 95);
  await age(service, overdue.id, 62);
}

const open =
  (name: string): NonNullable<Scene['act']> =>
  async ({ page }) => {
    await page.getByRole('link', { name }).click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
    await page.getByRole('table', { name: 'Pings and failures' }).waitFor();
  };

export const HEARTBEAT_SCENES: readonly Scene[] = [
  { name: 'heartbeats-empty', path: '/heartbeats' },
  { name: 'heartbeats', path: '/heartbeats', prepare: prepareHeartbeats },
  {
    name: 'heartbeats-new',
    path: '/heartbeats',
    act: async ({ page }) => {
      await page.getByRole('button', { name: 'New heartbeat' }).click();
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'heartbeats-one',
    path: '/heartbeats',
    prepare: prepareHeartbeats,
    act: open('Nightly backup'),
  },
  {
    name: 'heartbeats-error',
    path: '/heartbeats',
    act: async ({ page }) => {
      await page.route(/\/v1\/check-statuses/, (route) =>
        route.fulfill({ status: 503, body: '{}' }),
      );
      await page.reload();
      await page.getByRole('alert').waitFor();
    },
  },
];
