import { beforeEach, describe, expect, it } from 'vitest';
import { MAX_AGENT_ERRORS } from '../../../../src/service/agent-errors/agent-errors.ts';
import type { Store } from '../../../../src/service/database/store.ts';
import { databases } from '../../../support/database/databases.ts';
import {
  type ArtifactAccount,
  useArtifactServer,
  useParties,
} from '../../../support/service/artifact-service.ts';

const FRAME = { function: 'Socket.connect', file: 'dist/agent/main.js', line: 12, column: 3 };
const ERROR = {
  class: 'TypeError',
  code: 'ERR_INVALID_ARG_TYPE',
  stack: [FRAME],
  count: 4,
  firstAt: Date.UTC(2026, 0, 2, 3, 4, 5, 6),
  lastAt: Date.UTC(2026, 0, 2, 4),
};
const REPORT = {
  agentId: 'agent-1',
  version: '0.2.0',
  node: 'v20.19.0',
  platform: 'linux',
  arch: 'x64',
  reports: [ERROR],
};
const PATH = '/agent/v1/errors';
const LIST = ({ locationId }: ArtifactAccount) =>
  `/v1/private-locations/${locationId}/agent-errors`;

/** As after a poll of each. */
async function addAgents(
  store: Store,
  { accountId, locationId }: ArtifactAccount,
  ids: readonly string[],
): Promise<void> {
  await store.query(
    `insert into agents (account_id, location_id, id, version, instance_id, capabilities, concurrency)
     select $1, $2, id, '1', 'i', '{}', 1 from unnest($3::text[]) as id`,
    [accountId, locationId, ids],
  );
}

/** Agents' own errors, from their report to the list that users see. */
describe.each(databases)('on %s', (kind) => {
  describe("agents' errors", () => {
    const service = useParties(useArtifactServer(kind));
    beforeEach(async () => {
      const { store, mine } = service();
      await addAgents(store, mine, ['agent-1']);
    });

    it('are listed at the location, newest first', async () => {
      const { mine } = service();
      expect((await mine.agent(PATH, REPORT)).json).toEqual({ stored: 1 });
      const later = { ...ERROR, class: 'Error', code: null, stack: [], count: 1 };
      expect((await mine.agent(PATH, { ...REPORT, reports: [later] })).status).toBe(200);
      expect((await mine.ask(LIST(mine))).json).toEqual([
        expect.objectContaining({ class: 'Error', code: null, stack: [], count: 1 }),
        {
          id: expect.any(Number),
          agentId: 'agent-1',
          version: '0.2.0',
          node: 'v20.19.0',
          platform: 'linux',
          arch: 'x64',
          class: 'TypeError',
          code: 'ERR_INVALID_ARG_TYPE',
          stack: [FRAME],
          count: 4,
          firstSeen: '2026-01-02T03:04:05.006Z',
          lastSeen: '2026-01-02T04:00:00.000Z',
          receivedAt: expect.stringMatching(/Z$/),
          firstAt: '2026-01-02T03:04:05.006Z',
          lastAt: '2026-01-02T04:00:00.000Z',
          received_at: expect.stringMatching(/Z$/),
        },
      ]);
      expect((await mine.ask(`${LIST(mine)}?limit=1&page=2`)).json).toMatchObject([
        { class: 'TypeError' },
      ]);
    });

    it('store neither unknown fields nor free text', async () => {
      const { mine } = service();
      const planted = 'https://secret.example.com';
      const error = { ...ERROR, message: planted, stack: [{ ...FRAME, url: planted }] };
      await mine.agent(PATH, { ...REPORT, host: planted, reports: [error] });
      expect((await mine.ask(LIST(mine))).text).not.toContain('secret');
      for (const [field, value] of [
        ['class', planted],
        ['code', planted],
        ['stack', [{ ...FRAME, file: '/home/someone/app.js' }]],
        ['stack', [{ ...FRAME, function: planted }]],
        ['count', 0],
        ['firstAt', -1],
      ] as const) {
        const reports = [{ ...ERROR, [field]: value }];
        expect([field, (await mine.agent(PATH, { ...REPORT, reports })).status]).toEqual([
          field,
          400,
        ]);
      }
      expect((await mine.ask(LIST(mine))).json).toHaveLength(1);
    });

    it('are limited for each location, to the newest of each agent', async () => {
      const { mine, store, newAccount } = service();
      const theirs = await newAccount('theirs');
      await addAgents(store, theirs, ['agent-1']);
      await theirs.agent(PATH, REPORT);
      const reports = Array.from({ length: 100 }, (_, n) => ({ ...ERROR, count: n + 1 }));
      const agentIds = Array.from({ length: MAX_AGENT_ERRORS / 100 + 1 }, (_, n) => `many-${n}`);
      await addAgents(store, mine, agentIds);
      for (const agentId of agentIds.slice(1)) {
        const answer = await mine.agent(PATH, { ...REPORT, agentId, reports });
        expect(answer.json).toEqual({ stored: 100 });
      }
      await mine.agent(PATH, { ...REPORT, agentId: 'many-0', reports: reports.slice(0, 3) });
      const counts = await store.query<{ count: number }>(
        'select count from agent_errors where account_id = $1 order by id',
        [mine.accountId],
      );
      expect(counts).toHaveLength(MAX_AGENT_ERRORS);
      // Three of the ten that had most lost their oldest.
      const left = counts.filter(({ count }) => count === 1);
      expect([left.length, counts.at(-1)?.count]).toEqual([8, 3]);
      expect((await theirs.ask(LIST(theirs))).json).toHaveLength(1);
      const tooMany = [...reports, ERROR];
      expect((await mine.agent(PATH, { ...REPORT, reports: tooMany })).status).toBe(400);
      expect((await mine.agent(PATH, { ...REPORT, reports: [] })).json).toEqual({ stored: 0 });
    });

    it('have valid times and counts, whatever the agent reports', async () => {
      const { mine } = service();
      const startMs = Date.now();
      const reports = [
        { ...ERROR, count: Number.MAX_SAFE_INTEGER, lastAt: Date.UTC(9999, 0) },
        { ...ERROR, firstAt: Date.UTC(9999, 0), lastAt: Date.UTC(9999, 0) },
        { ...ERROR, firstAt: ERROR.lastAt, lastAt: ERROR.firstAt },
      ];
      expect((await mine.agent(PATH, { ...REPORT, reports })).json).toEqual({ stored: 3 });
      const listed: { count: number; firstSeen: string; lastSeen: string; receivedAt: string }[] = (
        await mine.ask(LIST(mine))
      ).json;
      expect(listed.map(({ count }) => count).sort((a, b) => a - b)).toEqual([4, 4, 2_147_483_647]);
      for (const { firstSeen, lastSeen, receivedAt } of listed) {
        expect(Date.parse(firstSeen)).toBeLessThanOrEqual(Date.parse(lastSeen));
        expect(Date.parse(lastSeen)).toBeLessThanOrEqual(Date.parse(receivedAt));
      }
      const ahead = listed.filter(({ lastSeen }) => Date.parse(lastSeen) >= startMs - 60_000);
      expect(ahead).toHaveLength(2);
    });

    it('are visible only to the account, and only with its API keys', async () => {
      const { mine, theirs } = service();
      await mine.agent(PATH, REPORT);
      expect((await theirs.ask(LIST(mine))).status).toBe(404);
      expect((await theirs.ask(LIST(theirs))).json).toEqual([]);
      expect((await mine.ask(LIST(mine), { key: mine.agentKey })).status).toBe(401);
      expect((await mine.agent(PATH, REPORT, { key: mine.key })).status).toBe(401);
      expect((await mine.ask('/v1/private-locations/x/agent-errors')).status).toBe(400);
    });
  });
});
