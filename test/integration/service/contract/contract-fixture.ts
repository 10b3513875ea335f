import { gzipSync } from 'node:zlib';
import { beforeAll, expect } from 'vitest';
import type { CheckResult } from '../../../../src/model/result/result.ts';
import { giveEverySlot } from '../../../support/agent/assigned-slots.ts';
import type { Table } from '../../../support/contract/field-rules.ts';
import { differences, differencesInEach } from '../../../support/contract/judge.ts';
import type { Reply } from '../../../support/service/service-app.ts';
import {
  type Client,
  type RunningService,
  type TestService,
  useAccounts,
} from '../../../support/service/service-fixture.ts';
import { storyOf } from './story.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
export const URL_CHECKS = '/v1/checks/url';

/** One channel of each type, with its id. */
export type Channels = Readonly<Record<'EMAIL' | 'WEBHOOK' | 'SLACK' | 'SMS', number>>;

/** An account with one of each resource that checks and results need. */
export interface ContractFixture extends TestService {
  readonly running: RunningService;
  readonly channels: Channels;
  readonly groupId: number;
  /** A service of status pages. */
  readonly serviceId: string;
  /** A check that failed at this time, and the clock then moved on by seven hours. */
  readonly oldMs: number;
  /** Another key of the account, because requests are limited for each key. */
  newClient(): Promise<Client>;
  /** Brings results as an agent of berlin does, which has always had their checks. */
  deliver(...results: readonly CheckResult[]): Promise<void>;
}

/** For a describe block: the account, and what its agent brought in the last hour. */
export function useContractFixture(runningOf: () => RunningService): () => ContractFixture {
  const accounts = useAccounts(runningOf, 'shared');
  let fixture: ContractFixture | null = null;
  beforeAll(async () => {
    const running = runningOf();
    const service = accounts();
    const { mine, clock } = service;
    const made = async (path: string, body: unknown) => created(await mine.post(path, body));
    const place = await made('/v1/private-locations', { slug: 'berlin', name: 'Berlin' });
    const { key } = await made(`/v1/private-locations/${place.id}/keys`, undefined);
    const channel = async (type: string, config: object): Promise<number> =>
      (await made('/v1/alert-channels', { type, config })).id;
    const parameter = { key: 'k', value: 'v', locked: false };
    const channels = {
      EMAIL: await channel('EMAIL', { address: 'ops@shop.test' }),
      WEBHOOK: await channel('WEBHOOK', {
        name: 'Hook',
        url: 'https://hook.test/',
        method: 'POST',
        headers: [parameter],
        queryParameters: [parameter],
      }),
      SLACK: await channel('SLACK', { url: 'https://slack.test/hook' }),
      SMS: await channel('SMS', { number: '+4915112345678', name: 'On call' }),
    };
    const deliver = async (...results: readonly CheckResult[]): Promise<void> => {
      const { accountId } = mine;
      for (const checkId of new Set(results.map((result) => result.checkId))) {
        await giveEverySlot(running.store, { accountId, checkId, slugs: ['berlin'] });
      }
      const body = { agentId: 'agent', epoch: 1, results, missed: [] };
      const reply = await running.app.ask('/agent/v1/results', {
        key,
        method: 'POST',
        headers: {
          'x-agent-protocol': '1',
          'content-encoding': 'gzip',
          'content-type': 'application/json',
        },
        body: gzipSync(JSON.stringify(body)),
      });
      expect(reply.json, reply.text).toMatchObject({ accepted: results.map(({ id }) => id) });
    };
    const check = async (type: string, id: string, request: object): Promise<void> => {
      const body = { name: id, request, privateLocations: ['berlin'] };
      const reply = await mine.put(`/v1/checks/${type}/${id}`, body);
      expect(reply.status, reply.text).toBe(200);
    };
    await check('url', 'old', { url: 'https://shop.test/' });
    await check('url', 'shop', { url: 'https://shop.test/' });
    await check('url', 'many', { url: 'https://shop.test/' });
    await check('api', 'api-check', { url: 'https://shop.test/api' });
    await check('icmp', 'ping', { hostname: 'shop.test' });
    const oldMs = clock.wallMs();
    const { old, recent } = storyOf(oldMs, oldMs + 7 * HOUR_MS);
    await deliver(...old);
    // Each when it is made, because late results give no alert.
    for (const result of recent.toSorted((one, other) => one.checkRunId - other.checkRunId)) {
      clock.spend(result.checkRunId - clock.wallMs());
      await deliver(result);
    }
    clock.spend(oldMs + 7 * HOUR_MS - clock.wallMs());
    // A run that ends now is in no window that ends now, because ends are exclusive.
    clock.spend(MINUTE_MS);
    fixture = {
      ...service,
      running,
      channels,
      groupId: (await made('/v1/check-groups', { name: 'Group' })).id,
      serviceId: (await made('/v1/status-pages/services', { name: 'Shop' })).id,
      oldMs,
      newClient: () => service.clientWith('admin'),
      deliver,
    };
  });
  return () => {
    if (fixture === null) throw new Error('the fixture is for tests: it comes before the first');
    return fixture;
  };
}

/** The body of a 201. */
export function created(reply: Reply): Reply['json'] {
  expect(reply.status, reply.text).toBe(201);
  return reply.json;
}

/** The body of a 200. Expects it to match a table. */
export function formed(table: Table, reply: Reply): Reply['json'] {
  expect(reply.status, reply.text).toBe(200);
  expect(differences(table, reply.json)).toEqual([]);
  return reply.json;
}

/** The items of a 200, at least one. Expects each to match a table. */
export function formedList(table: Table, reply: Reply): Reply['json'] {
  expect(reply.status, reply.text).toBe(200);
  expect(differencesInEach(table, reply.json)).toEqual([]);
  expect(reply.json.length).toBeGreaterThan(0);
  return reply.json;
}

/** The paths that are not answered with this status, as `path: status message`. */
export async function otherThan(
  status: number,
  client: Client,
  paths: readonly string[],
): Promise<readonly string[]> {
  expect(paths.length).toBeGreaterThan(0);
  const others: string[] = [];
  for (const path of paths) {
    const reply = await client.get(path);
    if (reply.status !== status) others.push(`${path}: ${reply.status} ${reply.text}`);
  }
  return others;
}
