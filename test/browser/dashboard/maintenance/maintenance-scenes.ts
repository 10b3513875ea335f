import type { DashboardAccount } from '../../support/dashboard-service.ts';
import type { Scene } from '../scenes.ts';

/** Makes a window; its id. */
export async function makeWindow({ post }: DashboardAccount, fields: object): Promise<number> {
  const made = await post('/v1/maintenance-windows', {
    name: 'Database upgrade',
    startsAt: '2026-03-10T09:00:00.000Z',
    endsAt: '2026-03-10T11:00:00.000Z',
    repeatUnit: 'DAY',
    tags: ['database'],
    ...fields,
  });
  if (made.status !== 201) throw new Error(`no window: ${made.text}`);
  return made.json.id;
}

/** In March 2026: two that overlap, one that repeats weekly and one over several days. */
export async function prepareMaintenance(account: DashboardAccount): Promise<void> {
  await makeWindow(account, {});
  await makeWindow(account, {
    name: 'Network change in the second data centre with a very long name',
    startsAt: '2026-03-10T10:00:00.000Z',
    endsAt: '2026-03-10T12:30:00.000Z',
    tags: [],
    silenceAllAlerts: true,
  });
  await makeWindow(account, {
    name: 'Weekly patches',
    startsAt: '2026-01-04T02:00:00.000Z',
    endsAt: '2026-01-04T04:00:00.000Z',
    repeatUnit: 'WEEK',
    repeatInterval: 1,
    repeatEndsAt: '2026-03-25T00:00:00.000Z',
    tags: ['linux'],
  });
  await makeWindow(account, {
    name: 'Move of the office',
    startsAt: '2026-03-19T12:00:00.000Z',
    endsAt: '2026-03-21T12:00:00.000Z',
    pauseAllChecks: true,
    tags: [],
  });
}

export const MAINTENANCE_SCENES: readonly Scene[] = [
  { name: 'maintenance-empty', path: '/maintenance?day=2026-03-10' },
  { name: 'maintenance', path: '/maintenance?day=2026-03-10', prepare: prepareMaintenance },
  {
    name: 'maintenance-week',
    path: '/maintenance?day=2026-03-10&view=week',
    prepare: prepareMaintenance,
  },
  {
    name: 'maintenance-new',
    path: '/maintenance?day=2026-03-10',
    act: async ({ page }) => {
      await page.getByRole('button', { name: 'New window' }).click();
      await page.getByLabel('Repeats').selectOption('WEEK');
    },
  },
];
