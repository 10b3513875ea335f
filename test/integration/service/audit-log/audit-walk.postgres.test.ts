import { beforeAll, describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../../../src/service/audit-log/audit-log.ts';
import { databases } from '../../../support/database/databases.ts';
import type { FullAccount } from '../../../support/hostile/full-account.ts';
import type { Route } from '../../../support/hostile/route-table.ts';
import { credentialText, secretUrlText } from '../../../support/hostile/secret-texts.ts';
import { goodRequest } from '../../../support/hostile/valid-requests.ts';
import { useHostileFixture } from '../../../support/service/hostile-fixture.ts';

/** On a machine with other work. */
const WALK_MS = 120_000;
const WRITING = ['POST', 'PUT', 'PATCH', 'DELETE'];

/** Deletes resources after those that name them. */
const rankOf = ({ method, url }: Route): number => {
  // An alert is open until a valid request deactivates its check.
  if (url.startsWith('/v1/check-alerts/')) return -2;
  if (method !== 'DELETE') return -1;
  if (url.startsWith('/v1/checks/')) return 0;
  return url === '/v1/private-locations/:id' ? 10 : 9 - url.split('/').length;
};
/** It deletes something that other requests need, or that another request has deleted already. */
const needsAccount = ({ method, url, access }: Route): boolean =>
  method === 'DELETE' &&
  (access.kind === 'user' || ['/v1/checks/:id', '/v1/users/:id', '/v1/api-keys/:id'].includes(url));

describe.each(databases)('on %s', (kind) => {
  describe('the audit log', () => {
    const fixtureOf = useHostileFixture(kind);

    const entriesOf = ({ accountId }: FullAccount) =>
      fixtureOf().store.query<AuditEntry>(
        'select * from audit_log where account_id = $1 order by id',
        [accountId],
      );
    const writing = (): readonly Route[] =>
      fixtureOf()
        .routes.filter(
          ({ method, access, url }) =>
            WRITING.includes(method) && access.kind !== 'agent' && url.startsWith('/v1/'),
        )
        .toSorted((one, other) => rankOf(one) - rankOf(other));
    const hasReason = ({ audit }: Route): boolean => typeof audit === 'object' && 'none' in audit;

    const wrong: string[] = [];
    const accounts: FullAccount[] = [];
    let walked = 0;

    // The walk runs once for all tests.
    beforeAll(async () => {
      const { send } = fixtureOf();
      const newAttacker = async (): Promise<FullAccount> => {
        const account = await fixtureOf().newAttacker();
        accounts.push(account);
        return account;
      };
      const [changed, emptied] = [await newAttacker(), await newAttacker()];
      let newService = '';
      for (const route of writing()) {
        const name = `${route.method} ${route.url}`;
        // Its link would be needed; users.databases.test.ts accepts invitations.
        if (hasReason(route) || route.url === '/v1/invitations/accept') continue;
        // The last update of an incident stays.
        const isUpdate = route.url.includes('/incident-updates/');
        const shared = route.method === 'DELETE' && !isUpdate ? emptied : changed;
        const account = needsAccount(route) ? await newAttacker() : shared;
        const valid = goodRequest(route, account);
        // Its valid request writes nothing.
        const isBulk = route.url === '/v1/checks/bulk';
        const muted = JSON.stringify({ action: 'mute', ids: [account.checkIds.url] });
        const good = isBulk ? { ...valid, body: muted } : valid;
        // Open incidents name the others.
        const isService = name === 'DELETE /v1/status-pages/services/:serviceId';
        const path = isService ? `/v1/status-pages/services/${newService}` : good.path;
        const owner = isService ? changed : account;
        const before = await entriesOf(owner);
        const { status, text, json } = await send({
          ...good,
          key: isService ? changed.apiKey : good.key,
          path,
        });
        if (name === 'POST /v1/status-pages/services') newService = json.id;
        const entries = (await entriesOf(owner)).slice(before.length);
        walked += 1;
        if (status >= 300) wrong.push(`${name}: ${status} ${text}`);
        else if (entries.length === 0) wrong.push(`${name}: no entry`);
        for (const { resourceId, address, actorName, ...entry } of entries) {
          const isWhole = resourceId !== null && address === '127.0.0.1' && actorName !== null;
          if (!isWhole) wrong.push(`${name}: ${JSON.stringify({ resourceId, ...entry })}`);
        }
        const isOfRole = route.access.kind === 'role';
        if (isOfRole && entries.length > 1) wrong.push(`${name}: ${entries.length} entries`);
      }
    }, WALK_MS);

    it('has an entry with a resource for each route that writes, and names the key and its address', () => {
      expect(wrong).toEqual([]);
      expect(walked).toBeGreaterThan(60);
    });

    it('has no entry only for routes that say why', () => {
      const without = writing()
        .filter(hasReason)
        .map(({ method, url }) => `${method} ${url}`);
      expect(without.sort()).toEqual([
        'POST /v1/alert-channels/:id/compare',
        'POST /v1/alert-channels/:id/deliveries/:deliveryId/resend',
        'POST /v1/alert-channels/:id/test',
        'POST /v1/alert-channels/preview',
        'POST /v1/check-groups/:id/run',
        'POST /v1/checks/:id/run',
        'POST /v1/root-cause-analyses',
        'POST /v1/status-pages/:statusPageId/domain-check',
        'POST /v1/status-pages/:statusPageId/fetch-pictures',
        'POST /v1/test-sessions',
      ]);
    });

    it('shows no secret of the resources that were made, changed and deleted', async () => {
      const entries = (await Promise.all(accounts.map(entriesOf))).flat();
      expect(entries.length).toBeGreaterThan(100);
      const text = JSON.stringify(entries);
      expect(text).not.toContain(credentialText('mallory'));
      expect(text).not.toContain(secretUrlText('mallory'));
      for (const { apiKey, agentKey, cookie, readKey, identity } of accounts) {
        const lines = identity.key.split('\n').filter((line) => !/^(-|$)/.test(line));
        for (const secret of [apiKey, agentKey, cookie, readKey, ...lines]) {
          expect(text).not.toContain(secret);
        }
      }
      const tokens = await fixtureOf().store.query<{ token: string }>(
        'select ping_token as token from heartbeats where account_id = any($1)',
        [accounts.map(({ accountId }) => accountId)],
      );
      expect(tokens).not.toEqual([]);
      for (const { token } of tokens) expect(text).not.toContain(token);
    });
  });
});
