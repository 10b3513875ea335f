import { describe, expect, it } from 'vitest';
import { databases } from '../../../support/database/databases.ts';
import { useAccounts, useRunningService } from '../../../support/service/service-fixture.ts';

const BODIES = {
  tcp: {
    name: 'Mail',
    request: { hostname: 'shop.test', port: 25 },
    locations: ['eu-west-1'],
  },
  api: {
    name: 'Shop',
    request: {
      url: 'https://shop.test/',
      method: 'GET',
      assertions: [{ source: 'STATUS_CODE', comparison: 'EQUALS', target: '200' }],
    },
    locations: ['eu-west-1'],
  },
  heartbeats: {
    name: 'Backup',
    heartbeat: { period: 1, periodUnit: 'DAYS', grace: 1, graceUnit: 'HOURS' },
  },
} as const;

/** Replicas of two releases share a database during an upgrade, and after a downgrade. */
describe.each(databases)('on %s', (kind) => {
  const service = useAccounts(useRunningService(kind));

  it.each(['tcp', 'api', 'heartbeats'] as const)(
    'a %s check with fields of a newer release is listed, read and updated without them',
    async (type) => {
      const { mine, store } = service();
      const created = await mine.post(`/v1/checks/${type}`, BODIES[type]);
      expect(created).toMatchObject({ status: 201 });
      const { id } = created.json;
      await store.query(
        `update checks set body = jsonb_set(body || '{"ofNewerRelease": {"a": 1}}', $3::text[], '1', true)
         where account_id = $1 and id = $2`,
        [mine.accountId, id, type === 'heartbeats' ? ['heartbeat', 'newer'] : ['request', 'newer']],
      );
      const path = `/v1/checks/${type}/${id}`;
      expect((await mine.get(path)).json).toEqual((await mine.get(`/v1/checks/${id}`)).json);
      expect((await mine.get(path)).json).toEqual(created.json);
      const { warnings: _, ...listed } = created.json;
      expect((await mine.get('/v1/checks')).json).toContainEqual(listed);
      const renamed = await mine.patch(path, { name: 'Renamed' });
      expect(renamed.json).toMatchObject({ id, name: 'Renamed' });
    },
  );
});
