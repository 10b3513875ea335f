import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { databases } from '../../../../support/database/databases.ts';
import { useAccounts, useRunningService } from '../../../../support/service/service-fixture.ts';

const WINDOW = {
  name: 'Night',
  startsAt: '2026-01-01T00:00:00Z',
  endsAt: '2026-01-01T01:00:00Z',
  repeatUnit: 'DAY',
};

/** The resources of a check file except checks and heartbeats, whose ids are logical ids. */
const RESOURCES: readonly (readonly [path: string, body: () => object])[] = [
  ['/v1/alert-channels', () => ({ type: 'EMAIL', config: { address: 'ops@shop.test' } })],
  ['/v1/check-groups', () => ({ name: 'a' })],
  ['/v1/maintenance-windows', () => WINDOW],
  ['/v1/status-pages', () => ({ name: 'Shop', url: `p-${randomUUID()}` })],
  ['/v1/status-pages/services', () => ({ name: 'Shop' })],
];

describe.each(databases)('on %s', (kind) => {
  describe('logical ids', () => {
    const service = useAccounts(useRunningService(kind));

    it.each(RESOURCES)(
      'are stored, changed and unique among %s of an account',
      async (path, body) => {
        const { mine, theirs } = service();
        const plain = await mine.post(path, body());
        expect(plain.json).toMatchObject({ logicalId: null });
        const made = await mine.post(path, { ...body(), logicalId: 'main' });
        expect(made.status, made.text).toBe(201);
        expect(made.json).toMatchObject({ logicalId: 'main' });
        const at = String(made.headers.location);
        expect((await mine.get(at)).json).toMatchObject({ logicalId: 'main' });

        const again = await mine.post(path, { ...body(), logicalId: 'main' });
        expect(again.status, again.text).toBe(409);
        expect(again.json).toMatchObject({
          message: `Another entry of ${path} has the logicalId main: give this one another, or change that one first`,
          attributes: { logicalId: 'main' },
        });
        const other = String(plain.headers.location);
        expect((await mine.patch(other, { logicalId: 'main' })).status).toBe(409);
        for (const invalid of ['no spaces', 'shop/', '/main', 'a/b/c', '-a/b']) {
          expect((await mine.patch(other, { logicalId: invalid })).status, invalid).toBe(400);
        }
        // The entry of a file with a name.
        const named = await mine.patch(other, { logicalId: 'shop/main' });
        expect(named.json).toMatchObject({ logicalId: 'shop/main' });
        expect((await theirs.post(path, { ...body(), logicalId: 'main' })).status).toBe(201);

        expect((await mine.patch(at, { logicalId: null })).json).toMatchObject({ logicalId: null });
        expect((await mine.patch(other, { logicalId: 'main' })).status).toBe(200);
        expect((await mine.get(`${path}?limit=100`)).json).toHaveLength(2);
      },
    );
  });
});
