import { fail, type Scene } from '../scenes.ts';

const PAGES = {
  account: '',
  alerts: '/alerts',
  keys: '/keys',
  users: '/users',
  audit: '/audit-log',
  'sign-in': '/sign-in',
};

const prepare: NonNullable<Scene['prepare']> = async (account) => {
  await account.post('/v1/api-keys', { name: 'Deployment', role: 'write' });
  await account.post('/v1/api-keys', { name: 'Grafana', role: 'read' });
  await account.post('/v1/invitations', { email: 'jo.winter@example.com', role: 'write' });
  const { json } = await account.post('/v1/check-groups', { name: 'Shop', tags: ['shop'] });
  await account.patch(`/v1/check-groups/${json.id}`, { name: 'Web shop', muted: true });
};

/** The pages of settings, with some history. */
export const SETTINGS_SCENES: readonly Scene[] = [
  ...Object.entries(PAGES).map(([name, path]) => ({
    name: `settings-${name}`,
    path: `/settings${path}`,
    prepare,
  })),
  {
    name: 'settings-alerts-escalation',
    path: '/settings/alerts',
    async prepare(account) {
      const addresses = ['on-call@example.com', 'head-of-operations@example.com'];
      for (const address of addresses) {
        await account.post('/v1/alert-channels', { type: 'EMAIL', config: { address } });
      }
    },
    async act({ page }) {
      await page.getByLabel('Alert after').selectOption('TIME_BASED');
      await page.getByLabel(/^Checks in several locations fail only/).check();
      await page.getByLabel('Send alerts that nobody acknowledges').check();
      await page.getByLabel('on-call@example.com').check();
    },
  },
  {
    name: 'settings-users-invited',
    path: '/settings/users',
    async act({ page }) {
      await page.getByRole('button', { name: 'Invite', exact: true }).first().click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Email').fill('jo.winter@example.com');
      await dialog.getByRole('button', { name: 'Create the link' }).click();
      await dialog.locator('code').waitFor();
    },
  },
  {
    name: 'settings-keys-made',
    path: '/settings/keys',
    async act({ page }) {
      await page.getByRole('button', { name: 'New key', exact: true }).first().click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name', { exact: true }).fill('Deployment');
      await dialog.getByRole('button', { name: 'Create the key' }).click();
      await dialog.getByText('it is not shown again').waitFor();
    },
  },
  {
    name: 'settings-audit-error',
    path: '/settings/audit-log',
    async act({ page }) {
      await fail(page, /\/v1\/audit-log/);
      await page.reload();
      await page.getByRole('alert').waitFor();
    },
  },
];
