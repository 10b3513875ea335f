import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { CheckResult } from '../../../../src/model/result/result.ts';
import { createTestSessions } from '../../../../src/service/test-sessions/test-sessions.ts';
import { databases, silentLog } from '../../../support/database/databases.ts';
import { HTTP_DETAIL } from '../../../support/samples/http-results.ts';
import { shownResult } from '../../../support/samples/shown-result.ts';
import {
  DAY_MS,
  minutesAgo,
  RETENTION_DAYS,
  type Run,
  resultOfRun,
} from '../../../support/service/results-fixture.ts';
import type { Reply } from '../../../support/service/service-app.ts';
import { testScrubbing } from '../../../support/service/service-features.ts';
import {
  HOSTILE,
  problemsIn,
  useAccounts,
  useRunningService,
} from '../../../support/service/service-fixture.ts';

const PATH = '/v1/test-sessions';
const GROUPS = '/v1/test-session-error-groups';
const NOBODY = { name: null, projectId: null, environment: null, provider: null };

/** A run of a check file whose check is not in the service. */
function passed(minutes: number, fields: Partial<Run> = {}): CheckResult {
  return resultOfRun({
    slot: minutesAgo(minutes),
    checkId: 'of-the-file',
    runLocation: 'local',
    ...fields,
  });
}

function failed(minutes: number, requestError: string, fields: Partial<Run> = {}): CheckResult {
  const apiCheckResult = { ...HTTP_DETAIL, response: null, requestError };
  return passed(minutes, { hasFailures: true, apiCheckResult, ...fields });
}

/**
 * Runs of check files that were made elsewhere: `vedette run --report`; src/service/README.md,
 * "Error groups and test sessions".
 */
describe.each(databases)('on %s', (kind) => {
  describe('test sessions', () => {
    const running = useRunningService(kind);
    const service = useAccounts(running);
    const bring = (body: unknown): Promise<Reply> => service().mine.post(PATH, body);
    const groupsOf = async (project: string, query = ''): Promise<Reply['json']> =>
      (await service().mine.get(`${GROUPS}/projects/${project}${query}`)).json;

    it('have every fact and the totals of their results', async () => {
      const { mine, clock } = service();
      const facts = {
        name: HOSTILE,
        projectId: 'shop',
        environment: 'staging',
        provider: 'ci',
        repository: 'https://git.test/shop',
        branch: 'main',
        commitId: '0af3',
      };
      const missed = { checkId: 'd', slot: 1, lastSlot: 1, count: 1, reason: 'agent_starved' };
      const created = await bring({
        ...facts,
        results: [
          failed(5, 'gone', { resultType: 'ATTEMPT' }),
          failed(5, 'gone', { attempts: 1 }),
          passed(4),
          passed(3, { isDegraded: true }),
          failed(2, 'ours', { hasErrors: true }),
          passed(1, { isCancelled: true }),
        ],
        missed: [missed],
      });
      expect(created.status).toBe(201);
      const [group] = await groupsOf('shop');
      expect(created.json).toEqual({
        ...facts,
        id: expect.any(String),
        link: `${PATH}/${created.json.id}`,
        hasFailures: true,
        counts: { passed: 1, degraded: 1, failed: 1, error: 1, cancelled: 1, missed: 1 },
        results: 6,
        missed: [missed],
        errorGroupIds: [group.id],
        startedAt: new Date(minutesAgo(5) + 5).toISOString(),
        stoppedAt: new Date(minutesAgo(1) + 20).toISOString(),
        created_at: new Date(clock.wallMs()).toISOString(),
        updated_at: null,
      });
      expect((await mine.get(created.json.link)).json).toEqual(created.json);
    });

    it('may have no results and no project', async () => {
      const created = await bring({});
      expect(created.status).toBe(201);
      expect(created.json).toMatchObject({ ...NOBODY, hasFailures: false, startedAt: null });
    });

    it('are sent in parts and repeated under an id of the sender', async () => {
      const { mine, theirs } = service();
      const id = randomUUID();
      const first = {
        id: id.toUpperCase(),
        projectId: 'shop',
        results: [failed(9, 'gone'), passed(8)],
      };
      expect(await bring(first)).toMatchObject({ status: 201, json: { id } });
      const again = await bring({ ...first, name: 'another' });
      expect(again.status).toBe(200);
      expect(again.json).toMatchObject({ name: null, results: 2, updated_at: null });
      const more = await bring({
        id,
        projectId: 'blog',
        results: [passed(8), failed(7, 'gone'), failed(7, 'gone')],
      });
      expect(more.json).toMatchObject({
        projectId: 'shop',
        results: 3,
        updated_at: expect.any(String),
      });
      expect(more.json.counts).toMatchObject({ passed: 1, failed: 2 });
      expect(await groupsOf('blog')).toEqual([]);
      const [{ occurrences = 0 } = {}] = await service().store.query<{ occurrences: number }>(
        'select occurrences from error_groups where account_id = $1',
        [mine.accountId],
      );
      expect(occurrences).toBe(2);
      // Another account's session of the same id is another session.
      expect(await theirs.post(PATH, { id, results: [] })).toMatchObject({
        status: 201,
        json: { results: 0 },
      });
    });

    it('accept parts at the same time', async () => {
      const id = randomUUID();
      const parts = [1, 2, 3, 4, 5].map((minute) =>
        bring({ id, results: [failed(minute, `gone ${minute} ms`)] }),
      );
      const statuses = (await Promise.all(parts)).map(({ status }) => status).toSorted();
      expect(statuses).toEqual([200, 200, 200, 200, 201]);
      expect((await service().mine.get(`${PATH}/${id}`)).json).toMatchObject({
        results: 5,
        counts: { failed: 5 },
      });
    });

    it('list their results page by page', async () => {
      const { mine, theirs } = service();
      const { json: session } = await bring({
        results: [
          passed(1),
          failed(3, 'gone'),
          passed(2),
          passed(3, { resultType: 'ATTEMPT', checkId: 'b' }),
        ],
      });
      const path = `${session.link}/results`;
      const slots = async (query = '') =>
        (await mine.get(`${path}${query}`)).json.map(({ checkRunId }: CheckResult) => checkRunId);
      expect(await slots()).toEqual([3, 2, 1].map(minutesAgo));
      expect(await slots('?limit=2&page=2')).toEqual([minutesAgo(1)]);
      expect(await slots('?hasFailures=true')).toEqual([minutesAgo(3)]);
      expect(await slots('?resultType=ATTEMPT')).toEqual([minutesAgo(3)]);
      expect(await slots('?resultType=ALL&limit=100')).toHaveLength(4);
      const [first] = (await mine.get(path)).json;
      expect(first).toEqual({
        ...shownResult(failed(3, 'gone')),
        errorGroupIds: session.errorGroupIds,
      });
      expect((await theirs.get(path)).status).toBe(404);
    });

    it('are listed newest first, and deleted with their results', async () => {
      const { mine, theirs, clock, store } = service();
      const ids: string[] = [];
      for (const projectId of ['shop', null, 'shop']) {
        clock.spend(1000);
        ids.unshift((await bring({ projectId, results: [failed(1, 'gone')] })).json.id);
      }
      const listed = async (query = '') =>
        (await mine.get(`${PATH}${query}`)).json.map(({ id }: { id: string }) => id);
      expect(await listed()).toEqual(ids);
      expect(await listed('?projectId=shop')).toEqual([ids[0], ids[2]]);
      expect(await listed('?limit=1&page=2')).toEqual([ids[1]]);
      expect((await theirs.delete(`${PATH}/${ids[0]}`)).status).toBe(404);
      expect((await mine.delete(`${PATH}/${ids[0]}`)).status).toBe(204);
      expect((await mine.get(`${PATH}/${ids[0]}`)).status).toBe(404);
      const left = await store.query('select 1 from test_session_results where account_id = $1', [
        mine.accountId,
      ]);
      expect(left).toHaveLength(2);
      expect(await groupsOf('shop')).toHaveLength(1);
    });

    it('share error groups within a project, whatever the environment', async () => {
      const { mine, theirs } = service();
      const sent = async (projectId: string | null, environment: string | null, minutes: number) =>
        (
          await bring({
            projectId,
            environment,
            results: [failed(minutes, `gone after ${minutes} s`)],
          })
        ).json.errorGroupIds[0];
      const ids = [
        await sent('shop', null, 5),
        await sent('shop', 'staging', 4),
        await sent('shop', 'production', 3),
        await sent('shop', 'staging', 6),
        await sent('blog', 'staging', 2),
        await sent(null, null, 1),
      ];
      const [shop, , , , blog, none] = ids;
      expect(ids).toEqual([shop, shop, shop, shop, blog, none]);
      expect(new Set(ids).size).toBe(3);
      expect(await groupsOf('shop')).toEqual([
        {
          id: shop,
          projectId: 'shop',
          environments: ['production', 'staging'],
          errorHash: expect.stringMatching(/^[0-9a-f]{64}$/),
          rawErrorMessage: 'gone after 6 s',
          cleanedErrorMessage: 'gone after <duration>',
          firstSeen: new Date(minutesAgo(6) + 5).toISOString(),
          lastSeen: new Date(minutesAgo(3) + 5).toISOString(),
          occurrences: 4,
          archivedUntilNextEvent: false,
          pwtMetadata: null,
          rootCauseAnalyses: [],
        },
      ]);
      const { json } = await mine.get(`${GROUPS}/${none}`);
      expect(json).toMatchObject({ id: none, projectId: null, environments: null });
      expect((await mine.get(`/v1/error-groups/${none}`)).status).toBe(404);
      expect((await theirs.get(`${GROUPS}/${none}`)).status).toBe(404);
      expect((await theirs.get(`${GROUPS}/projects/shop`)).json).toEqual([]);
      expect((await mine.get(`${GROUPS}/projects/a%20b`)).status).toBe(400);
    });

    it('have more error groups than a page of ten, which can be archived', async () => {
      const { mine, clientWith } = service();
      const words = 'abcdefghijkl'.split('');
      const results = words.map((word, at) => failed(at + 1, `${word} is gone`));
      await bring({ projectId: 'shop', results });
      const groups = await groupsOf('shop');
      expect(groups).toHaveLength(12);
      expect(await groupsOf('shop', '?limit=5&page=3')).toEqual(groups.slice(10));
      const path = `${GROUPS}/${groups[0].id}`;
      const reporter = await clientWith('run');
      expect((await reporter.patch(path, { archiveForEver: true })).status).toBe(403);
      const changed = await mine.patch(path, { ...groups[0], archivedUntilNextEvent: true });
      expect(changed.json).toEqual({ ...groups[0], archivedUntilNextEvent: true });
      expect(await groupsOf('shop', '?archived=false')).toHaveLength(11);
    });

    it('are sent with the role run, also in gzip', async () => {
      const { clientWith, mine } = service();
      expect((await (await clientWith('run')).post(PATH, {})).status).toBe(201);
      expect((await (await clientWith('read')).post(PATH, {})).status).toBe(403);
      const { key } = await running().features.apiKeys.create(mine.accountId, {
        name: 'ci',
        role: 'run',
      });
      const packed = await running().app.ask(PATH, {
        key,
        method: 'POST',
        headers: { 'content-encoding': 'gzip', 'content-type': 'application/json' },
        body: gzipSync(JSON.stringify({ results: [passed(1)] })),
      });
      expect(packed).toMatchObject({ status: 201, json: { results: 1 } });
    });

    it('store all of a request or nothing, and name the problems', async () => {
      const { store, mine } = service();
      const wrong = await bring({
        results: [passed(1), { ...passed(2), runLocation: 7 }, { ...passed(3), id: 'x' }, 'text'],
      });
      expect(wrong.status).toBe(400);
      expect(problemsIn(wrong)).toEqual([
        'body.results[1].runLocation must be text, not 7',
        'body.results[2].id must be the id of its sequenceId and attempts',
        expect.stringMatching(/^body\.results\[3\] must be an object/),
      ]);
      const early = await bring({ results: [passed(1, { startedAt: '0001-01-01T00:00:00Z' })] });
      expect(problemsIn(early)).toEqual(['body.results[0].startedAt must be a time from 1970 on']);
      const texts = [
        { name: 'a\0' },
        { name: '' },
        { projectId: 'a b' },
        { id: 'mine' },
        { when: 1 },
      ];
      for (const facts of texts) expect((await bring(facts)).status).toBe(400);
      expect((await bring({ results: Array.from({ length: 1001 }, () => 0) })).status).toBe(400);
      expect((await bring(' '.repeat(4 * 1024 * 1024 + 1))).status).toBe(413);
      expect(
        await store.query('select 1 from test_sessions where account_id = $1', [mine.accountId]),
      ).toEqual([]);
    });

    it('with too many missed runs are refused for their number, and not for each of them', async () => {
      const reply = await bring({ missed: Array.from({ length: 10_001 }, (_, n) => n) });
      const message = 'must be at most 10000 items long, not a list of 10001';
      expect([reply.status, problemsIn(reply)]).toEqual([400, [`body.missed ${message}`]]);
    });

    it('have limits', async () => {
      const { store, clock, mine, features } = service();
      const { errorGroups } = features;
      const bounded = createTestSessions({
        ...{ store, clock, log: silentLog(), ids: randomUUID, errorGroups },
        ...{ retentionDays: RETENTION_DAYS, maxResults: 2, scrubbing: testScrubbing(clock) },
      });
      const facts = { ...NOBODY, repository: null, branch: null, commitId: null };
      const add = (id: string, ...results: readonly CheckResult[]) =>
        bounded.add(mine.accountId, { id, facts, results, missed: [] });
      const id = randomUUID();
      await add(id, passed(1), passed(2));
      await add(id, passed(1), passed(2));
      await expect(add(id, passed(3))).rejects.toMatchObject({ status: 409 });
      expect((await mine.get(`${PATH}/${id}`)).json.results).toBe(2);
    });

    it('are listed in pages of a bounded size', async () => {
      const { store, mine } = service();
      for (let n = 0; n < 7; n += 1) await bring({ results: [passed(1)] });
      // As many results as a session can have, each as long as possible.
      await store.query(
        `update test_sessions set missed = (
           select jsonb_agg(jsonb_build_object('checkId', repeat('c', 128), 'slot', n::bigint,
             'lastSlot', 2000000000000 + n::bigint, 'count', 1, 'reason', repeat('R', 64)))
           from generate_series(1, 10000) n)
         where account_id = $1`,
        [mine.accountId],
      );
      const all = await mine.get(`${PATH}?limit=100`);
      expect(all.status).toBe(400);
      expect(problemsIn(all)).toEqual([
        'query.limit must be smaller: the missed runs of these sessions have more than 16777216 bytes',
      ]);
      const few = await mine.get(`${PATH}?limit=2`);
      expect(few.json.map(({ counts }: { counts: object }) => counts)).toEqual([
        expect.objectContaining({ passed: 1, missed: 10_000 }),
        expect.objectContaining({ passed: 1, missed: 10_000 }),
      ]);
    });

    it('are deleted past the retention', async () => {
      const { features, mine, clock, store } = service();
      const { json: old } = await bring({ results: [passed(1)] });
      const { json: young } = await bring({});
      await store.query('update test_sessions set created_at = $2::timestamptz where id = $1', [
        old.id,
        new Date(clock.wallMs() - (RETENTION_DAYS + 2) * DAY_MS),
      ]);
      const stop = new AbortController();
      const ended = features.testSessions.maintain(stop.signal);
      await expect.poll(async () => (await mine.get(old.link)).status).toBe(404);
      stop.abort();
      await ended;
      expect((await mine.get(young.link)).status).toBe(200);
    });
  });
});
