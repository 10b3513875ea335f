import { describe, expect, it } from 'vitest';
import {
  forever,
  newContent,
  type TestContent,
} from '../../../support/artifacts/artifact-content.ts';
import {
  type ArtifactAccount,
  type ArtifactServer,
  listed,
  useParties,
} from '../../../support/service/artifact-service.ts';
import type { Reply } from '../../../support/service/service-app.ts';

const MIB = 1024 ** 2;
/** Space for one artifact of 1 MiB, with the overhead of each artifact. */
const ROOM = MIB + 8192;

/** The quotas of artifacts. */
export function artifactQuotas(server: () => ArtifactServer): void {
  describe('the quota of artifacts', () => {
    const service = useParties(server);

    /** A location's agent at a service with these limits. */
    async function limited(limits: { readonly account: number; readonly location: number }) {
      const { app, artifacts } = await service().withLimits({
        accountBytes: limits.account,
        locationBytes: limits.location,
      });
      const begin = (
        account: ArtifactAccount,
        content: TestContent,
        name: string,
      ): Promise<Reply> => account.begin(content, { name, resultId: `of-${account.slug}` }, app);
      return { app, artifacts, begin };
    }

    it('of a location refuses one artifact for good, and keeps what is stored (trust model AN14)', async () => {
      const { mine, store } = service();
      await mine.upload(newContent(MIB), { name: 'stored' });
      const { app, artifacts, begin } = await limited({ account: 100 * MIB, location: ROOM });
      const refused = await begin(mine, newContent(MIB), 'more');
      expect([refused.status, refused.json.attributes]).toEqual([
        409,
        { limitBytes: ROOM, setting: 'ARTIFACTS_MAX_GIB_PER_LOCATION' },
      ]);
      expect(refused.json.message).toContain('ARTIFACTS_MAX_GIB_PER_LOCATION');
      expect((await listed(mine)).map(({ name }) => name)).toEqual(['stored']);
      const metrics = (await app.ask('/metrics')).text;
      expect(metrics).toContain('vedette_service_artifacts_refused_total{limit="location"} 1');
      // Another location has its own quota.
      const other = await mine.neighbour('aachen');
      expect((await begin(other, newContent(MIB), 'body')).status).toBe(200);
      await store.query(`update artifacts set created_at = now() - interval '31 days'`);
      await artifacts.cleanUp(forever);
      expect((await begin(mine, newContent(MIB), 'more')).status).toBe(200);
    });

    it('of an account counts all its locations, and no other account', async () => {
      const { mine, theirs } = service();
      const other = await mine.neighbour('aachen');
      const { begin } = await limited({ account: ROOM, location: ROOM });
      expect((await begin(mine, newContent(MIB), 'body')).status).toBe(200);
      const refused = await begin(other, newContent(MIB), 'body');
      expect([refused.status, refused.json.attributes]).toEqual([
        409,
        { limitBytes: ROOM, setting: 'ARTIFACTS_MAX_GIB' },
      ]);
      expect((await begin(theirs, newContent(MIB), 'body')).status).toBe(200);
    });

    it('counts open uploads, each once however often it begins', async () => {
      const { mine } = service();
      const { begin } = await limited({ account: 100 * MIB, location: ROOM });
      const content = newContent(MIB);
      for (let n = 0; n < 3; n += 1) {
        expect((await begin(mine, content, 'body')).status).toBe(200);
      }
      // A content that the location already has takes only the overhead of an artifact.
      expect((await begin(mine, content, 'copy')).status).toBe(200);
      expect((await begin(mine, newContent(10), 'more')).status).toBe(409);
    });

    it('is not exceeded by concurrent uploads', async () => {
      const { mine } = service();
      const { begin } = await limited({ account: 100 * MIB, location: 3 * ROOM });
      const names = Array.from({ length: 12 }, (_, n) => `body-${n}`);
      const begun = await Promise.all(names.map((name) => begin(mine, newContent(MIB), name)));
      expect(begun.filter(({ status }) => status === 200)).toHaveLength(3);
      expect(begun.filter(({ status }) => status === 409)).toHaveLength(9);
    });

    it('limits also the number of one-byte artifacts', async () => {
      const { mine } = service();
      const { begin } = await limited({ account: 100 * MIB, location: 40_960 });
      const content = newContent(1);
      let taken = 0;
      while ((await begin(mine, content, `log-${taken}`)).status === 200) taken += 1;
      expect(taken).toBe(9);
    });
  });
}
