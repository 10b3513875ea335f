import { TrialAgent, trialResult } from '../../../support/check-trials/trials-fixture.ts';
import { addCheck, addLocations, ORDERS } from '../check/check-samples.ts';
import type { Scene } from '../scenes.ts';

type Prepare = NonNullable<Scene['prepare']>;

/** An API check in which every part of the form has something. */
const RICH = {
  ...ORDERS,
  privateLocations: ['office', 'dc-2'],
  description: 'Asked by the shop every time somebody opens their orders.',
  tags: ['shop', 'production'],
  request: {
    ...ORDERS.request,
    method: 'POST',
    headers: [
      { key: 'accept', value: 'application/json' },
      { key: 'authorization', value: 'Bearer 8c1f' },
    ],
    queryParameters: [{ key: 'limit', value: '20' }],
    bodyType: 'JSON',
    body: '{"customer": "{{CUSTOMER}}"}',
    basicAuth: { username: 'probe', password: 'pw-4471' },
    assertions: [
      { source: 'STATUS_CODE', comparison: 'EQUALS', target: '200' },
      { source: 'JSON_BODY', property: '$.orders', comparison: 'NOT_EMPTY' },
      { source: 'HEADERS', property: 'content-type', comparison: 'CONTAINS', target: 'json' },
    ],
  },
  variables: [
    { key: 'CUSTOMER', value: '7301' },
    { key: 'TOKEN', value: 'b1946ac9', secret: true },
  ],
  retryStrategy: { type: 'EXPONENTIAL', baseBackoffSeconds: 2 },
  useGlobalAlertSettings: false,
  alertSettings: {
    runBasedEscalation: { failedRunThreshold: 2 },
    reminders: { amount: 3, interval: 10 },
  },
};

export const addRich: Prepare = async (account, service) => {
  await addLocations(account, service, ['office', 'dc-2', 'branch-1']);
  await account.post('/v1/alert-channels', {
    type: 'EMAIL',
    config: { address: 'on-call@example.com' },
  });
  await account.post('/v1/check-groups', { name: 'Shop' });
  await addCheck(account, service, 'orders', RICH);
};

/** By account: scenes have accounts of their own. */
const agents = new Map<string, TrialAgent>();

const addAgent: Prepare = async (account, service) => {
  const keys = await addLocations(account, service, ['office']);
  const [{ id }] = (await account.get('/v1/private-locations')).json;
  const location = { id, key: keys.office ?? '' };
  const agent = new TrialAgent(service, account.accountId, location, 'agent-7f2c');
  await agent.poll();
  agents.set(account.accountId, agent);
};

export const EDITING_SCENES: readonly Scene[] = [
  { name: 'editing-new-empty', path: '/checks/new' },
  {
    name: 'editing-new-refused',
    path: '/checks/new?type=DNS',
    prepare: addRich,
    act: async ({ page }) => {
      await page.getByRole('button', { name: 'Create the check' }).click();
      await page.locator('[aria-invalid=true]').first().waitFor();
    },
  },
  ...['URL', 'TCP', 'ICMP'].map((type) => ({
    name: `editing-new-${type.toLowerCase()}`,
    path: `/checks/new?type=${type}`,
  })),
  {
    name: 'editing-scripts-dependencies',
    path: '/checks/orders/edit',
    prepare: async (account, service) => {
      await addRich(account, service);
      await addCheck(account, service, 'gateway', {
        ...ORDERS,
        name: 'Gateway',
        privateLocations: ['office'],
      });
      const { json: snippet } = await account.post('/v1/snippets', {
        name: 'Sign out',
        script: 'log()',
      });
      await account.patch('/v1/checks/orders', {
        dependsOn: ['gateway'],
        setupScript:
          "const { token } = await request.get('https://login.example.com/')\nsetVariable('TOKEN', token)",
        teardownSnippetId: snippet.id,
      });
    },
  },
  { name: 'editing-stored', path: '/checks/orders/edit', prepare: addRich },
  {
    name: 'editing-outdated',
    path: '/checks/orders/edit',
    prepare: addRich,
    act: async ({ page }) => {
      await page.getByLabel('Name', { exact: true }).fill('Orders');
      await page.route(/\/v1\/checks\/orders$/, (route) =>
        route.request().method() === 'PATCH'
          ? route.fulfill({ status: 412, json: { message: 'The resource has changed' } })
          : route.fallback(),
      );
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('meanwhile').waitFor();
    },
  },
  {
    name: 'editing-tried',
    path: '/checks/new?type=API',
    prepare: addAgent,
    act: async ({ page }, account) => {
      await page.getByLabel('Name', { exact: true }).fill('Shop');
      await page.getByLabel('URL', { exact: true }).fill('http://shop.test/health');
      const panel = page.getByRole('region', { name: 'Try it' });
      await panel.getByRole('button', { name: 'Try it' }).click();
      await panel.getByText('Waiting for an agent').waitFor();
      const agent = agents.get(account.accountId);
      const [trial] = (await agent?.poll()) ?? [];
      if (agent === undefined || trial === undefined) throw new Error('no trial');
      await agent.report(trial.trialId, { result: trialResult(trial, { runLocation: 'office' }) });
      await panel.getByText('has ended').waitFor();
    },
  },
];
