import type { Scene } from './scenes.ts';

const PAGES = {
  account: '',
  alerts: '/alerts',
  keys: '/keys',
  users: '/users',
  audit: '/audit-log',
  'sign-in': '/sign-in',
};

/** The pages of settings, with some history. */
export const SETTINGS_SCENES: readonly Scene[] = Object.entries(PAGES).map(([name, path]) => ({
  name: `settings-${name}`,
  path: `/settings${path}`,
  async prepare(account) {
    await account.post('/v1/api-keys', { name: 'Deployment', role: 'write' });
    await account.post('/v1/api-keys', { name: 'Grafana', role: 'read' });
    await account.post('/v1/invitations', { email: 'jo.winter@example.com', role: 'write' });
    const { json } = await account.post('/v1/check-groups', { name: 'Shop', tags: ['shop'] });
    await account.patch(`/v1/check-groups/${json.id}`, { name: 'Web shop', muted: true });
  },
}));
