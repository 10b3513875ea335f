import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { differences } from '../../../support/contract/judge.ts';
import { ERROR } from '../../../support/contract/resource-tables.ts';
import type { Reply } from '../../../support/service/service-app.ts';
import type { ContractFixture } from './contract-fixture.ts';

const NOBODY = '00000000-0000-4000-8000-000000000000';
const BAD_KEY = `vk_${'0'.repeat(32)}`;

/** Every operation of part 4, on a resource that does not exist. */
const OPERATIONS = [
  ['PUT', '/v1/checks/url/none'],
  ['GET', '/v1/analytics/api-checks/none?metrics=availability'],
  ['GET', '/v1/analytics/icmp/none?metrics=availability'],
  ['GET', '/v1/check-results/none'],
  ['GET', '/v1/check-statuses/none'],
  ['GET', '/v1/check-alerts'],
  ['GET', `/v1/status-pages/${NOBODY}`],
  ['DELETE', `/v1/status-pages/incidents/${NOBODY}`],
  ['GET', `/v1/incidents/${NOBODY}`],
  ['GET', `/v1/accounts/${NOBODY}/entitlements`],
  ['GET', `/v1/root-cause-analyses/${NOBODY}`],
  ['GET', '/v1/maintenance-windows'],
  ['DELETE', '/v1/maintenance-windows/999999'],
  ['GET', `/v1/checks/heartbeats/none/events/${NOBODY}`],
  ['GET', '/v1/test-session-error-groups/projects/none'],
  ['GET', `/v1/error-groups/${NOBODY}`],
  ['PATCH', `/v1/error-groups/${NOBODY}`],
  ['GET', `/v1/client-certificates/${NOBODY}`],
  ['GET', '/v1/snippets/999999'],
  ['GET', '/v1/static-ipv6s.txt'],
] as const;

/** Operations without a 404: lists, texts, and a PUT that creates. */
const WITHOUT_404: ReadonlySet<string> = new Set([
  '/v1/checks/url/none',
  '/v1/check-alerts',
  '/v1/maintenance-windows',
  '/v1/test-session-error-groups/projects/none',
  '/v1/static-ipv6s.txt',
]);

const CHANGES: ReadonlySet<string> = new Set(['PUT', 'PATCH']);

/** Expects an error response by part 7. */
export function expectError(reply: Reply, status: number, error: string): void {
  expect(reply.status, reply.text).toBe(status);
  expect(reply.headers['content-type']).toMatch(/^application\/json/);
  expect(differences(ERROR, reply.json)).toEqual([]);
  expect(reply.json).toMatchObject({ statusCode: status, error });
}

/** Authentication, rate limits and errors: parts 5 and 7. */
export function accessContract(fixture: () => ContractFixture): void {
  it.each(OPERATIONS)('%s %s refuses a wrong token', async (method, path) => {
    const { ask } = fixture().running.app;
    const asked = { method, ...(CHANGES.has(method) ? { body: {} } : {}) };
    const basic = { authorization: 'Basic dTpw' };
    for (const how of [
      { key: BAD_KEY },
      { key: 'x' },
      { key: null },
      { key: null, headers: basic },
    ]) {
      const reply = await ask(path, { ...asked, ...how });
      expectError(reply, 401, 'Unauthorized');
      expect(reply.json.message).toBe('Bad Token');
    }
  });

  it.each(OPERATIONS.filter(([, path]) => !WITHOUT_404.has(path)))(
    '%s %s answers 404 for a resource that does not exist',
    async (method, path) => {
      const { mine } = fixture();
      const send = { GET: mine.get, PATCH: mine.patch, PUT: mine.put, DELETE: mine.delete }[method];
      expectError(await send(path, CHANGES.has(method) ? {} : undefined), 404, 'Not Found');
    },
  );

  it('an account may be named in a header', async () => {
    const { mine, theirs, running, features } = fixture();
    const { key } = await features.apiKeys.create(mine.accountId, { name: 'a', role: 'read' });
    const as = (accountId: string): Promise<Reply> =>
      running.app.ask('/v1/check-alerts', { key, headers: { 'x-service-account': accountId } });
    expect((await as(mine.accountId)).status).toBe(200);
    expectError(await as(theirs.accountId), 403, 'Forbidden');
    expectError(await as(randomUUID()), 403, 'Forbidden');
  });

  it('a bad request is answered in the same form, with what is wrong', async () => {
    const { mine } = fixture();
    const body = { name: 1, request: { url: 'https://shop.test/' }, locations: ['eu-west-1'] };
    expectError(await mine.put('/v1/checks/url/bad', body), 400, 'Bad Request');
    expectError(await mine.get('/v1/check-alerts?limit=101'), 400, 'Bad Request');
    const unread = await mine.put('/v1/checks/url/bad', '{ "name": ');
    expectError(unread, 400, 'Bad Request');
  });

  it('too many requests are refused, with when to come back', async () => {
    const client = await fixture().newClient();
    const path = '/v1/analytics/icmp/ping?metrics=availability';
    let reply = await client.get(path);
    for (let asked = 1; asked <= 30 && reply.status === 200; asked += 1) {
      reply = await client.get(path);
    }
    expectError(reply, 429, 'Too Many Requests');
    expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
  });
}
