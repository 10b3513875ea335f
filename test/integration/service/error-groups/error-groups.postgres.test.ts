import { createHash, randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { CheckResult } from '../../../../src/model/result/result.ts';
import { createErrorGroups } from '../../../../src/service/error-groups/error-groups.ts';
import { deleteErrorGroupsBefore, removeBeyond } from '../../../../src/service/error-groups/sql.ts';
import { databases, silentLog } from '../../../support/database/databases.ts';
import {
  DAY_MS,
  failedRun,
  minutesAgo,
  NOW,
  RETENTION_DAYS,
  resultOfRun,
  useResultsFixture,
} from '../../../support/service/results-fixture.ts';
import type { Reply } from '../../../support/service/service-app.ts';
import {
  HOSTILE,
  problemsIn,
  useRunningService,
} from '../../../support/service/service-fixture.ts';

const PATH = '/v1/error-groups';

/** When a run of results-fixture.ts began. */
function begun(minutes: number): string {
  return new Date(minutesAgo(minutes) + 5).toISOString();
}

/**
 * Error groups of the failures of checks: src/service/README.md, "Error groups and test
 * sessions", 4.16, 4.17.
 */
describe.each(databases)('on %s', (kind) => {
  describe('error groups', () => {
    const fixture = useResultsFixture(useRunningService(kind));

    const bring = async (...results: readonly CheckResult[]): Promise<void> => {
      const { berlin, deliver } = fixture();
      await deliver(berlin, { results });
    };
    const listed = async (query = ''): Promise<Reply['json']> =>
      (await fixture().mine.get(`${PATH}?checkId=shop${query}`)).json;
    const only = async (): Promise<Reply['json']> => {
      const groups = await listed();
      expect(groups).toHaveLength(1);
      return groups[0];
    };
    const resultsOf = async (query = ''): Promise<Reply['json']> =>
      (await fixture().mine.get(`/v1/check-results/shop?resultType=ALL${query}`)).json;
    const change = (id: string, body: unknown): Promise<Reply> =>
      fixture().mine.patch(`${PATH}/${id}`, body);

    /** A minute after all earlier ones, as minutes ago. */
    const later = (): number => {
      fixture().clock.spend(120_000);
      return (NOW - fixture().clock.wallMs()) / 60_000 + 1;
    };

    it('are archived only if unchanged since they were read, if the request requires that', async () => {
      const { mine } = fixture();
      await bring(failedRun(5, 'no answer'));
      const { id } = await only();
      const at = `${PATH}/${id}`;
      const archive = { archivedUntilNextEvent: true };
      const read = await mine.get(at);
      await bring(failedRun(3, 'no answer'));
      const known = { 'if-match': String(read.headers.etag) };
      const late = await mine.ask('PATCH', at, archive, known);
      expect(late.status, late.text).toBe(412);
      expect((await only()).archivedUntilNextEvent).toBe(false);
      const current = { 'if-match': String((await mine.get(at)).headers.etag) };
      const archived = await mine.ask('PATCH', at, archive, current);
      expect(archived.status, archived.text).toBe(200);
      expect(archived.headers.etag).toBe((await mine.get(at)).headers.etag);
    });

    it('are listed for all checks, the latest first, with how often, where and in which runs they occurred', async () => {
      const { mine, theirs, berlin, oslo, check, deliver } = fixture();
      await check('other');
      const first = failedRun(9, 'no answer');
      const last = failedRun(2, 'no answer', { runLocation: 'oslo' });
      await deliver(berlin, {
        results: [
          first,
          failedRun(5, 'no answer'),
          failedRun(6, 'reset'),
          failedRun(3, 'away', { checkId: 'other' }),
        ],
      });
      await deliver(oslo, { results: [last] });
      const { status, json } = await mine.get(PATH);
      expect(status).toBe(200);
      expect(
        json.map((group: Reply['json']) => [
          group.checkId,
          group.rawErrorMessage,
          group.occurrences,
        ]),
      ).toEqual([
        ['shop', 'no answer', 3],
        ['other', 'away', 1],
        ['shop', 'reset', 1],
      ]);
      expect((await mine.get(`${PATH}?checkId=other`)).json).toHaveLength(1);
      expect((await theirs.get(PATH)).json).toEqual([]);
      const at = `${PATH}/${json[0].id}/occurrences`;
      expect((await mine.get(at)).json).toEqual({
        checkId: 'shop',
        first: { resultId: first.id, location: 'berlin', startedAt: begun(9) },
        last: { resultId: last.id, location: 'oslo', startedAt: begun(2) },
        locations: ['berlin', 'oslo'],
      });
      expect((await theirs.get(at)).status).toBe(404);
      await fixture().store.query('delete from check_results where account_id = $1', [
        mine.accountId,
      ]);
      expect((await mine.get(at)).json).toEqual({
        checkId: 'shop',
        first: null,
        last: null,
        locations: [],
      });
    });

    it('exist once for each message, and results name them', async () => {
      const { mine } = fixture();
      await bring(
        failedRun(9, 'shop.test:443 (192.0.2.1) refused the connection (after 1.5 ms)'),
        failedRun(7, 'shop.test:443 (192.0.2.77) refused the connection (after 22 ms)'),
        failedRun(5, 'shop.test:443 did not answer within 30 s'),
        failedRun(4, 'a retry follows', { resultType: 'ATTEMPT' }),
        failedRun(3, 'stopped', { isCancelled: true }),
        failedRun(2, 'our fault', { hasErrors: true }),
        resultOfRun({ slot: minutesAgo(1) }),
      );
      const [late, refused, ...others] = await listed();
      expect(others).toEqual([]);
      const cleaned = 'shop.test:<port> (<ip>) refused the connection (after <duration>)';
      expect(refused).toEqual({
        id: expect.any(String),
        checkId: 'shop',
        checkName: 'Check shop',
        occurrences: 2,
        errorHash: createHash('sha256').update(cleaned).digest('hex'),
        rawErrorMessage: 'shop.test:443 (192.0.2.1) refused the connection (after 1.5 ms)',
        cleanedErrorMessage: cleaned,
        firstSeen: begun(9),
        lastSeen: begun(7),
        archivedUntilNextEvent: false,
        rootCauseAnalyses: [],
      });
      expect((await mine.get(`${PATH}/${refused.id}`)).json).toEqual(refused);
      const named = (await resultsOf()).map(({ errorGroupIds }: CheckResult) => errorGroupIds);
      expect(named).toEqual([[], [], [], [], [late.id], [refused.id], [refused.id]]);
    });

    it('come from the service alone, whatever an agent says (trust model AN10)', async () => {
      await bring(
        resultOfRun({ slot: minutesAgo(2), errorGroupIds: ['made-up'] }),
        failedRun(1, 'gone', { errorGroupIds: ['made-up', 'too'] }),
      );
      const { id } = await only();
      const named = (await resultsOf()).map(({ errorGroupIds }: CheckResult) => errorGroupIds);
      expect(named).toEqual([[id], []]);
    });

    it('do not depend on the order and repetition of results', async () => {
      const runs = [
        failedRun(30, 'answered 5 times'),
        failedRun(20, 'answered 50 times'),
        failedRun(10, 'answered 500 times'),
      ] as const;
      await bring(runs[1]);
      await bring(runs[2], runs[2], runs[1]);
      await bring(runs[0], runs[1], runs[2]);
      expect(await only()).toMatchObject({
        rawErrorMessage: 'answered 5 times',
        firstSeen: begun(30),
        lastSeen: begun(10),
      });
      const [stored] = await fixture().store.query<{ occurrences: number }>(
        'select occurrences from error_groups where account_id = $1',
        [fixture().mine.accountId],
      );
      expect(stored?.occurrences).toBe(3);
    });

    it('are unarchived by a later failure', async () => {
      await bring(failedRun(30, 'gone'));
      const { id } = await only();
      const archived = await change(id, { archivedUntilNextEvent: true });
      expect([archived.status, archived.json.archivedUntilNextEvent]).toEqual([200, true]);

      // Late or repeated results, whose runs began earlier.
      await bring(failedRun(30, 'gone'), failedRun(20, 'gone'));
      expect(await only()).toMatchObject({ archivedUntilNextEvent: true, lastSeen: begun(20) });
      expect(await listed('&archived=false')).toEqual([]);
      expect(await listed('&archived=true')).toHaveLength(1);

      const other = failedRun(later(), 'another');
      await bring(other, failedRun(later(), 'gone'));
      expect((await fixture().mine.get(`${PATH}/${id}`)).json.archivedUntilNextEvent).toBe(false);
      expect(await listed('&archived=true')).toEqual([]);
    });

    it('that are archived for ever stay archived until somebody unarchives them', async () => {
      await bring(failedRun(30, 'gone'));
      const { id } = await only();
      expect((await change(id, { archiveForEver: true })).json.archivedUntilNextEvent).toBe(true);
      const minutes = later();
      await bring(failedRun(minutes, 'gone'));
      expect(await only()).toMatchObject({
        archivedUntilNextEvent: true,
        lastSeen: begun(minutes),
      });
      expect((await change(id, {})).json.archivedUntilNextEvent).toBe(true);
      expect((await change(id, { archiveForEver: false })).json.archivedUntilNextEvent).toBe(false);
    });

    it('accept their own response as an update, and refuse unknown fields', async () => {
      await bring(failedRun(30, HOSTILE));
      const group = await only();
      expect(group.rawErrorMessage).toBe(HOSTILE);
      const changed = await change(group.id, { ...group, archivedUntilNextEvent: true });
      expect(changed.json).toEqual({ ...group, archivedUntilNextEvent: true });
      const wrong = await change(group.id, { archiveForever: true });
      expect(wrong.status).toBe(400);
      expect(problemsIn(wrong)).toEqual([
        'body.archiveForever is not a known field; did you mean archiveForEver?',
      ]);
      expect((await change(group.id, { archiveForEver: 'yes' })).status).toBe(400);
    });

    it('are visible only to the account, and changed only by writers', async () => {
      const { mine, theirs, clientWith } = fixture();
      await bring(failedRun(30, 'gone'));
      const { id } = await only();
      expect((await theirs.get(`${PATH}/${id}`)).status).toBe(404);
      expect((await theirs.patch(`${PATH}/${id}`, { archiveForEver: true })).status).toBe(404);
      expect((await theirs.get(`${PATH}?checkId=shop`)).json).toEqual([]);
      expect((await mine.get(`${PATH}/${randomUUID()}`)).status).toBe(404);
      expect((await mine.get(`/v1/test-session-error-groups/${id}`)).status).toBe(404);
      const reader = await clientWith('run');
      expect((await reader.get(`${PATH}/${id}`)).status).toBe(200);
      expect((await reader.patch(`${PATH}/${id}`, { archiveForEver: true })).status).toBe(403);
    });

    it('are listed page by page, and deleted with their check', async () => {
      const words = ['red', 'green', 'blue'];
      await bring(...words.map((word, at) => failedRun(10 - at, `${word} is out`)));
      const raw = ({ rawErrorMessage }: { rawErrorMessage: string }) => rawErrorMessage;
      expect((await listed('&limit=2')).map(raw)).toEqual(['blue is out', 'green is out']);
      expect((await listed('&limit=2&page=2')).map(raw)).toEqual(['red is out']);
      const [{ id }] = await listed();
      await fixture().mine.delete('/v1/checks/shop');
      expect((await fixture().mine.get(`${PATH}/${id}`)).status).toBe(404);
    });

    it('of a check are limited: the least recently seen are deleted, but none that is archived for ever', async () => {
      const { store, clock, mine } = fixture();
      const bounded = createErrorGroups({
        ...{ store, clock, log: silentLog(), retentionDays: RETENTION_DAYS, maxGroups: 2 },
        analysesOf: async (_, ids) => new Map(ids.map((id) => [id, [{ id: `of ${id}` }]])),
      });
      const see = (minutes: number, message: string) =>
        bounded.follow(store, {
          accountId: mine.accountId,
          location: 'berlin',
          finals: [failedRun(minutes, message)],
          current: new Set(),
          atMs: NOW,
        });
      const raws = async () =>
        (await listed()).map((group: { rawErrorMessage: string }) => group.rawErrorMessage);
      await see(9, 'a');
      const [{ id }] = await listed();
      const forEver = await bounded.update(mine.accountId, 'check', id, { archiveForEver: true });
      expect(forEver.analyses).toEqual([{ id: `of ${id}` }]);
      for (const [minutes, word] of [
        [8, 'b'],
        [7, 'c'],
        [6, 'd'],
        [5, 'c'],
      ] as const) {
        await see(minutes, word);
      }
      expect(await raws()).toEqual(['c', 'd', 'a']);
      // The oldest of all, so it is the one that is deleted.
      await see(60, 'e');
      expect(await raws()).toEqual(['c', 'd', 'a']);

      const [c, d] = await listed();
      await bounded.update(mine.accountId, 'check', c.id, { archiveForEver: true });
      await expect(
        bounded.update(mine.accountId, 'check', d.id, { archiveForEver: true }),
      ).rejects.toMatchObject({ status: 409 });
    });

    // The embedded database has one connection, on which nothing else runs meanwhile.
    if (kind === 'postgres')
      it('stay where they are seen again during the deletion of old ones', async () => {
        const { store, clock, mine } = fixture();
        await bring(failedRun(30, 'old'));
        const { id } = await only();
        const key = { accountId: mine.accountId, id };
        await store.query(
          'update error_groups set last_seen = $3::timestamptz where account_id = $1 and id = $2',
          [key.accountId, key.id, new Date(clock.wallMs() - 100 * DAY_MS)],
        );
        const seen = new EventEmitter();
        const adding = store.transaction(async (tx) => {
          await fixture().features.errorGroups.follow(tx, {
            accountId: mine.accountId,
            location: 'berlin',
            finals: [failedRun(1, 'old')],
            current: new Set(),
            atMs: NOW,
          });
          const goOn = once(seen, 'go on');
          seen.emit('added');
          await goOn;
        });
        await once(seen, 'added');
        // The deletion does not wait for the insert, which would wait for it in turn.
        const beforeMs = clock.wallMs() - DAY_MS;
        expect(await deleteErrorGroupsBefore(store, { beforeMs, limit: 10 })).toBe(0);
        const scopes = ['shop'];
        const beyond = { accountId: mine.accountId, kind: 'check', scopes, maxGroups: 0 } as const;
        expect(await removeBeyond(store, beyond)).toBe(0);
        seen.emit('go on');
        await adding;
        expect(await only()).toMatchObject({ id, lastSeen: begun(1) });
        expect(await removeBeyond(store, beyond)).toBe(1);
      });

    it('are deleted past the retention, but not those that are archived for ever', async () => {
      const { store, clock, mine, features } = fixture();
      await bring(failedRun(30, 'kept'), failedRun(20, 'old'), failedRun(10, 'new'));
      const [young, old, kept] = await listed();
      await change(kept.id, { archiveForEver: true });
      await store.query(
        `update error_groups set last_seen = $2::timestamptz where account_id = $1 and id = any($3::text[])`,
        [
          mine.accountId,
          new Date(clock.wallMs() - (RETENTION_DAYS + 2) * DAY_MS),
          [old.id, kept.id],
        ],
      );
      const stop = new AbortController();
      const ended = features.errorGroups.maintain(stop.signal);
      await expect.poll(async () => (await mine.get(`${PATH}/${old.id}`)).status).toBe(404);
      stop.abort();
      await ended;
      const left = (await listed()).map(({ id }: { id: string }) => id);
      expect(left).toEqual([young.id, kept.id]);
    });
  });
});
