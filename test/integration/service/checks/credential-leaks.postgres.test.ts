import { beforeAll, describe, expect, it } from 'vitest';
import type { Role } from '../../../../src/model/enums.ts';
import { decryptCredentials } from '../../../../src/service/secrets/credential-sealing.ts';
import { databases, silentLog } from '../../../support/database/databases.ts';
import type { Answer } from '../../../support/hostile/request-sender.ts';
import { credentialText, secretUrlText } from '../../../support/hostile/secret-texts.ts';
import { goodRequest } from '../../../support/hostile/valid-requests.ts';
import { SECRET, useHostileFixture } from '../../../support/service/hostile-fixture.ts';
import { unshared } from '../../../support/service/sealing-replica.ts';
import { TEST_SECRETS } from '../../../support/service/service-features.ts';

/** The queries that some routes require. */
function queryOf(url: string, checkId = ''): string {
  if (url === '/v1/error-groups') return `?checkId=${checkId}`;
  if (url === '/v1/check-state-breakdown') return '?by=tag';
  if (url === '/v1/analytics/summaries') return '?quickRange=last24Hours';
  return url.startsWith('/v1/analytics/') ? '?metrics=availability&quickRange=last24Hours' : '';
}

/** An account with a marker in every credential, over every route that reads. */
describe.each(databases)('on %s', (kind) => {
  describe('credentials in answers and in the database', () => {
    const fixtureOf = useHostileFixture(kind);
    const reads = () =>
      fixtureOf().routes.filter(({ access, method }) => access.kind === 'role' && method === 'GET');

    const ROLES = [
      ['read', false],
      ['run', false],
      ['write', true],
      ['admin', true],
    ] as const;
    const walk = async (role: Role, mayWrite: boolean): Promise<void> => {
      const fixture = fixtureOf();
      const { victim } = fixture;
      const key = await fixture.newKeyOfVictim(role);
      const addresses = [secretUrlText(SECRET), String(victim.ids.pingToken)];
      const answers: (Answer & { readonly path: string })[] = [];
      for (const route of reads()) {
        const sent = { ...goodRequest(route, victim), key };
        const path = `${sent.path}${queryOf(route.url, victim.checkIds.url)}`;
        answers.push({ path, ...(await fixture.send({ ...sent, path })) });
      }
      expect(answers.length).toBeGreaterThan(60);
      const refused = answers.filter(({ status }) => status >= 300);
      if (role === 'admin') expect(refused.map(({ path }) => path)).toEqual([]);
      else expect(refused.every(({ status }) => status === 403)).toBe(true);
      const showing = (marker: string) =>
        answers.filter(({ text }) => text.includes(marker)).map(({ path }) => path);
      expect(showing(credentialText(SECRET))).toEqual([]);
      for (const address of addresses) {
        // Writers are shown the credential, which proves that the walk finds it.
        if (mayWrite) expect(showing(address).length).toBeGreaterThan(1);
        else expect(showing(address)).toEqual([]);
      }
      expect(showing('********').length).toBeGreaterThan(3);
    };

    it.each(ROLES)('no GET shows a key of role %s any credential', walk);

    it('no row contains a credential unencrypted', async () => {
      const { store } = fixtureOf();
      const tables = await store.query<{ name: string }>(
        `select table_name as name from information_schema.tables
         where table_schema = current_schema() and table_type = 'BASE TABLE'`,
      );
      const holding = async (text: string): Promise<readonly string[]> => {
        const found: string[] = [];
        for (const { name } of tables) {
          const rows = await store.query(
            `select 1 from "${name}" t where to_jsonb(t)::text like $1 limit 1`,
            [`%${text}%`],
          );
          if (rows.length > 0) found.push(name);
        }
        return found;
      };
      expect(await holding(credentialText(SECRET))).toEqual([]);
      expect(await holding(secretUrlText(SECRET))).toEqual(['alert_channels']);
    });

    describe('as a service without a key stores them', () => {
      beforeAll(async () => {
        const { store } = fixtureOf();
        // Unshared, because the other connections of its pool would count as replicas.
        const parts = { store: unshared(store), log: silentLog(), secrets: TEST_SECRETS };
        expect(await decryptCredentials(parts)).toBe(3);
      });

      it.each(ROLES)('no GET shows a key of role %s any credential', walk);
    });
  });
});
