import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plansSchema } from '../../../../src/model/account/plan.ts';
import { apiRoutes } from '../../../../src/service/api-routes.ts';
import { ENTITLEMENTS } from '../../../support/contract/resource-tables.ts';
import { type ServiceApp, startServiceApp } from '../../../support/service/service-app.ts';
import { testFeatures } from '../../../support/service/service-features.ts';
import { expectError } from './access.suite.ts';
import { type ContractFixture, formed } from './contract-fixture.ts';

const PLANS = plansSchema.parse({
  plans: { small: { displayName: 'Small', limits: { snippets: 0, checks: 2 } } },
  default: 'small',
});
const REQUESTS_PER_MINUTE = 4;

/** An account with a small plan, and a service with a low rate limit. */
export function limitedContract(fixture: () => ContractFixture): void {
  describe('a service with limits', () => {
    let app: ServiceApp;
    let closeFeatures = async (): Promise<void> => {};
    let key = '';
    beforeAll(async () => {
      const { store, clock, mine } = fixture();
      const { features, close } = await testFeatures(store, clock, { plans: PLANS });
      closeFeatures = close;
      app = await startServiceApp(apiRoutes(features, new AbortController().signal), {
        store,
        clock,
        authenticator: features.apiKeys,
        locationKeys: features.locationKeys,
        config: { rateLimitPerMinute: REQUESTS_PER_MINUTE, trustedProxies: [] },
      });
      key = (await features.apiKeys.create(mine.accountId, { name: 'x', role: 'admin' })).key;
    });
    afterAll(async () => {
      await app.close();
      await closeFeatures();
    });

    it('shows what the plan allows, and refuses other features and too many requests', async () => {
      const { mine } = fixture();
      const entitled = await app.ask(`/v1/accounts/${mine.accountId}/entitlements`, { key });
      expect(formed(ENTITLEMENTS, entitled)).toMatchObject({
        plan: 'small',
        planDisplayName: 'Small',
      });
      const snippet = { key, method: 'POST', body: { name: 'one more', script: '' } };
      expectError(await app.ask('/v1/snippets', snippet), 402, 'Payment Required');
      const path = '/v1/static-ipv6s.txt';
      expect((await app.ask(path, { key })).status).toBe(200);
      expect((await app.ask(path, { key })).status).toBe(200);
      const refused = await app.ask(path, { key });
      expectError(refused, 429, 'Too Many Requests');
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    });
  });
}
