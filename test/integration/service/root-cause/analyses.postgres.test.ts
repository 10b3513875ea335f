import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { CheckResult } from '../../../../src/model/result/result.ts';
import { type Analysis, analysisSchema } from '../../../../src/model/result/root-cause-analysis.ts';
import { claimPending } from '../../../../src/service/root-cause/claims.sql.ts';
import { databases } from '../../../support/database/databases.ts';
import { settle } from '../../../support/fake-clock.ts';
import { HTTP_DETAIL } from '../../../support/samples/http-results.ts';
import { answered, withoutAnswer } from '../../../support/samples/root-cause-cases.ts';
import {
  DAY_MS,
  minutesAgo,
  NOW,
  type Run,
  resultOfRun,
  useResultsFixture,
} from '../../../support/service/results-fixture.ts';
import type { Reply } from '../../../support/service/service-app.ts';
import { problemsIn, useRunningService } from '../../../support/service/service-fixture.ts';

const PATH = '/v1/root-cause-analyses';
const NEVER = new AbortController().signal;

/** An analysis as the API returns it. */
interface Made {
  readonly id: string;
  readonly analysis: Analysis;
}

/** A failed run of `shop` in berlin, with the same error each time. */
function failure(fields: Partial<Run> & { readonly slot: number }): CheckResult {
  return resultOfRun({ hasFailures: true, ...withoutAnswer('CONNECT_REFUSED'), ...fields });
}

/** Root cause analyses through the API. */
describe.each(databases)('on %s', (kind) => {
  describe('root cause analyses', () => {
    const service = useRunningService(kind);
    const fixture = useResultsFixture(service);
    const make = () => fixture().features.rootCauseAnalyses.makePending(NEVER);
    const list = async (query = ''): Promise<Reply['json']> => {
      const reply = await fixture().mine.get(`${PATH}${query}`);
      expect(reply.status).toBe(200);
      return reply.json;
    };
    const pending = async (): Promise<number> => {
      const rows = await fixture().store.query(
        `select from root_cause_analyses where account_id = $1 and state = 'PENDING'`,
        [fixture().mine.accountId],
      );
      return rows.length;
    };
    const textOf = (analysis: Analysis): string =>
      analysis.evidence.map(({ description }) => description).join('\n');

    describe('that are requested', () => {
      it('are pending until they are made', async () => {
        const { mine, deliver, berlin } = fixture();
        const failed = failure({ slot: minutesAgo(1) });
        await deliver(berlin, { results: [failed] });
        await make();
        const asked = await mine.post(PATH, { checkId: 'shop' });
        expect(asked.status).toBe(202);
        expect(asked.json).toEqual({ id: expect.any(String), status: 'PENDING' });
        const path = `${PATH}/${asked.json.id}`;
        expect(asked.headers.location).toBe(path);
        const waiting = await mine.get(path);
        expect([waiting.status, waiting.json]).toEqual([202, asked.json]);
        await make();
        const made = await mine.get(path);
        expect(made.status).toBe(200);
        expect(made.json).toEqual({
          id: asked.json.id,
          checkId: 'shop',
          checkName: 'Check shop',
          resultId: failed.id,
          errorGroupId: expect.any(String),
          checkType: 'URL',
          provider: 'rules',
          model: expect.stringMatching(/^rules-\d+$/),
          durationMs: expect.any(Number),
          status: 'COMPLETED',
          created_at: '2026-01-01',
          analysis: expect.anything(),
        });
        expect(analysisSchema.parse(made.json.analysis)).toEqual(made.json.analysis);
        expect(made.json.analysis).toMatchObject({
          classification: 'CONNECTION_FAILURE',
          evidence: expect.arrayContaining([
            {
              artifacts: [{ name: `/v1/check-results/shop/${failed.id}`, type: 'check-result' }],
              description: expect.stringContaining('failed with CONNECT_REFUSED'),
            },
          ]),
        });
      });

      it('are of the latest failure, or of the given result', async () => {
        const { mine, deliver, berlin } = fixture();
        const [old, recent] = [
          failure({ slot: minutesAgo(5), ...withoutAnswer('DNS_NXDOMAIN') }),
          failure({ slot: minutesAgo(3) }),
        ];
        const degraded = resultOfRun({ slot: minutesAgo(2), isDegraded: true });
        const passed = resultOfRun({ slot: minutesAgo(1) });
        await deliver(berlin, { results: [recent, old, degraded, passed] });
        const ask = async (body: object): Promise<unknown> => {
          const { json } = await mine.post(PATH, body);
          await make();
          return (await mine.get(`${PATH}/${json.id}`)).json.analysis.classification;
        };
        expect(await ask({ checkId: 'shop' })).toBe('CONNECTION_FAILURE');
        expect(await ask({ checkId: 'shop', resultId: old.id })).toBe('DNS_FAILURE');
        expect(await ask({ checkId: 'shop', resultId: degraded.id })).toBe('SLOW_RESPONSE');
        const refused = await mine.post(PATH, { checkId: 'shop', resultId: passed.id });
        expect(refused.status).toBe(409);
      });

      it('are of the latest failure of an error group', async () => {
        const { mine, deliver, berlin } = fixture();
        await deliver(berlin, {
          results: [
            failure({ slot: minutesAgo(5), ...withoutAnswer('DNS_NXDOMAIN') }),
            failure({ slot: minutesAgo(3) }),
          ],
        });
        await make();
        const both = await list('?checkId=shop');
        expect(both).toHaveLength(2);
        for (const { errorGroupId, analysis } of both) {
          const { json } = await mine.post(PATH, { errorGroupId });
          await make();
          const made = (await mine.get(`${PATH}/${json.id}`)).json;
          expect(made).toMatchObject({ errorGroupId, analysis });
          expect(await list(`?errorGroupId=${errorGroupId}`)).toHaveLength(2);
        }
      });

      it('are shared while they are pending', async () => {
        const { mine, deliver, berlin } = fixture();
        await deliver(berlin, { results: [failure({ slot: minutesAgo(1) })] });
        const { json: first } = await mine.post(PATH, { checkId: 'shop' });
        const { json: second } = await mine.post(PATH, { checkId: 'shop', provider: 'rules' });
        expect(second).toEqual(first);
        await make();
        const { json: third } = await mine.post(PATH, { checkId: 'shop' });
        expect(third.id).not.toBe(first.id);
      });

      it.each([
        [{}, 400],
        [{ checkId: 'shop', errorGroupId: 'x' }, 400],
        [{ checkId: 'no such' }, 400],
        [{ checkId: 'shop', resultId: 'a\u0000' }, 400],
        [{ checkId: 'shop', provider: 'oracle' }, 400],
        [{ checkId: 'shop', provider: 'openai' }, 400],
        [{ checkId: 'nowhere' }, 404],
        [{ checkId: 'shop', resultId: 'nowhere' }, 404],
        [{ errorGroupId: 'nowhere' }, 404],
        [{ checkId: 'shop' }, 409],
      ])('refuse %j with %i', async (body, status) => {
        const { mine } = fixture();
        const refused = await mine.post(PATH, body);
        expect(refused.status).toBe(status);
        expect(await pending()).toBe(0);
      });

      it('say that no model is configured', async () => {
        const { mine } = fixture();
        const refused = await mine.post(PATH, { checkId: 'shop', provider: 'openai' });
        expect(problemsIn(refused)[0]).toContain('body.provider must be rules here');
      });

      it('belong to the account, and need a key with the role run', async () => {
        const { mine, theirs, clientWith, deliver, berlin } = fixture();
        await deliver(berlin, { results: [failure({ slot: minutesAgo(1) })] });
        const { json } = await mine.post(PATH, { checkId: 'shop' });
        await make();
        const [{ errorGroupId } = {}] = await list();
        expect((await theirs.get(`${PATH}/${json.id}`)).status).toBe(404);
        expect((await theirs.get(PATH)).json).toEqual([]);
        expect((await theirs.post(PATH, { checkId: 'shop' })).status).toBe(404);
        expect((await theirs.post(PATH, { errorGroupId })).status).toBe(404);
        const [reader, runner] = [await clientWith('read'), await clientWith('run')];
        expect((await reader.post(PATH, { checkId: 'shop' })).status).toBe(403);
        expect((await reader.get(`${PATH}/${json.id}`)).status).toBe(200);
        expect((await runner.post(PATH, { checkId: 'shop' })).status).toBe(202);
      });

      it('are bounded for each check', async () => {
        const { mine, deliver, berlin, store } = fixture();
        await deliver(berlin, { results: [failure({ slot: minutesAgo(1) })] });
        await mine.post(PATH, { checkId: 'shop' });
        await make();
        await store.query(
          `insert into root_cause_analyses select account_id, 'x' || n, check_id, check_type,
             error_group_id, result_id, slot, origin, asked_provider, state, provider, model,
             duration_ms, analysis, created_at from root_cause_analyses, generate_series(1, 199) n
           where account_id = $1 and origin = 'requested'`,
          [mine.accountId],
        );
        const refused = await mine.post(PATH, { checkId: 'shop' });
        expect(refused.status).toBe(429);
        expect(refused.headers['retry-after']).toBe('3600');
      });
    });

    describe('are made automatically', () => {
      const slot = (minutes: number) => minutesAgo(minutes);

      it('for a new error group, once', async () => {
        const { mine, deliver, berlin } = fixture();
        await deliver(berlin, { results: [resultOfRun({ slot: slot(9) })] });
        expect(await pending()).toBe(0);
        await deliver(berlin, {
          results: [failure({ slot: slot(8) }), failure({ slot: slot(7) })],
        });
        expect(await pending()).toBe(1);
        await make();
        await deliver(berlin, { results: [failure({ slot: slot(6) })] });
        expect(await pending()).toBe(0);
        const [made, ...others] = await list('?checkId=shop');
        expect(others).toEqual([]);
        const group = await mine.get(`/v1/error-groups/${made?.errorGroupId}`);
        expect(group.json.rootCauseAnalyses).toEqual([
          {
            id: made?.id,
            provider: 'rules',
            model: 'rules-1',
            classification: 'CONNECTION_FAILURE',
            rootCause: expect.stringContaining('refused the connection'),
            created_at: '2026-01-01',
          },
        ]);
      });

      it('for each error group, and not for what is no failure', async () => {
        const { deliver, berlin } = fixture();
        await deliver(berlin, {
          results: [
            failure({ slot: slot(9) }),
            failure({ slot: slot(8), ...withoutAnswer('DNS_NXDOMAIN') }),
            failure({ slot: slot(7), resultType: 'ATTEMPT', ...withoutAnswer('DNS_TIMEOUT') }),
            resultOfRun({ slot: slot(6), hasErrors: true, ...withoutAnswer('INTERNAL_ERROR') }),
            resultOfRun({ slot: slot(5), isDegraded: true }),
          ],
        });
        await make();
        const kinds = (await list()).map(({ analysis }: Made) => analysis.classification);
        expect(kinds.toSorted()).toEqual(['CONNECTION_FAILURE', 'DNS_FAILURE']);
      });

      it('again for one that was archived and comes again, and never for one archived for ever', async () => {
        const { mine, deliver, berlin, clock } = fixture();
        await deliver(berlin, { results: [failure({ slot: slot(9) })] });
        await make();
        const [{ errorGroupId } = {}] = await list();
        const path = `/v1/error-groups/${errorGroupId}`;
        await mine.patch(path, { archivedUntilNextEvent: true });
        // A run that began before the group was archived is no reason.
        await deliver(berlin, { results: [failure({ slot: slot(8) })] });
        expect(await pending()).toBe(0);
        clock.spend(120_000);
        await deliver(berlin, { results: [failure({ slot: NOW + 60_000 })] });
        await make();
        expect(await list()).toHaveLength(2);
        await mine.patch(path, { archiveForEver: true });
        clock.spend(120_000);
        await deliver(berlin, { results: [failure({ slot: NOW + 180_000 })] });
        expect(await pending()).toBe(0);
        clock.stepWall(-240_000);
      });

      it('for fifty groups of a check in a day', async () => {
        const { deliver, berlin } = fixture();
        const words = 'abcdefghijklmnopqrstuvwxyz';
        const results = Array.from({ length: 60 }, (_, number) =>
          failure({
            slot: slot(number + 1),
            ...withoutAnswer('PROTOCOL_ERROR', {
              requestError: `fault ${words[number % 26]}${words[Math.floor(number / 26)]} of it`,
            }),
          }),
        );
        await deliver(berlin, { results });
        expect(await pending()).toBe(50);
        await deliver(berlin, { results: [failure({ slot: slot(70) })] });
        expect(await pending()).toBe(50);
      });
    });

    it('use the runs and checks around the failure', async () => {
      const { mine, check, deliver, berlin, oslo } = fixture();
      await check('shop', { request: { url: 'https://Shop.test/cart' }, runParallel: true });
      await check('api-check', {
        checkType: 'API',
        request: { url: 'https://u:p@shop.test:8443/x?y' },
      });
      await check('port', { checkType: 'TCP', request: { hostname: 'shop.test.', port: 25 } });
      await check('other', { request: { url: 'https://shop.test.example/' } });
      const passing = [60, 50, 40].map((minutes) => resultOfRun({ slot: minutesAgo(minutes) }));
      const failing = [30, 20, 10].map((minutes) => failure({ slot: minutesAgo(minutes) }));
      await deliver(berlin, { results: [...passing, ...failing] });
      await deliver(oslo, {
        results: [resultOfRun({ slot: minutesAgo(10), runLocation: 'oslo' })],
      });
      const at = { slot: minutesAgo(10) };
      await deliver(berlin, {
        results: [
          failure({ ...at, checkId: 'api-check', name: 'Check api-check' }),
          resultOfRun({ ...at, checkId: 'port', name: 'Check port' }),
          failure({ ...at, checkId: 'other', name: 'Check other' }),
        ],
      });
      const { json } = await mine.post(PATH, { checkId: 'shop' });
      await make();
      const { analysis } = (await mine.get(`${PATH}/${json.id}`)).json;
      const text = textOf(analysis);
      expect(text).toContain('that passed was at 2025-12-31 23:20:00 UTC, 30 minutes before');
      expect(text).toContain(
        'It has failed there since 2025-12-31 23:30:00 UTC: 3 runs including this one.',
      );
      expect(text).toContain('In oslo the check passed at the same slot with status 200.');
      expect(text).toContain('"Check api-check" (API) fail as well; "Check port" (TCP) pass.');
      expect(text).not.toContain('Check other');
      expect(analysis.userImpact).toContain('Likely only users near berlin are affected');
    });

    it('say by how much phases grew since the previous runs', async () => {
      const { mine, check, deliver, berlin } = fixture();
      await check('shop', { maxResponseTime: 1000, degradedResponseTime: 500 });
      const phases = { wait: 0, dns: 3, tcp: 4, tls: 0, firstByte: 5, download: 1, total: 13 };
      const timed = (timingPhases: typeof phases) => answered({ timingPhases });
      const passing = [5, 4, 3].map((minutes) =>
        resultOfRun({ slot: minutesAgo(minutes), ...timed(phases) }),
      );
      const slow = resultOfRun({
        slot: minutesAgo(1),
        hasFailures: true,
        overMaxResponseTime: true,
        responseTime: 2018,
        ...timed({ ...phases, firstByte: 2010, total: 2018 }),
      });
      await deliver(berlin, { results: [...passing, slow] });
      await make();
      const [{ analysis } = {}] = (await mine.get(PATH)).json;
      expect(analysis.rootCause).toContain('over its limit of 1000 ms');
      expect(textOf(analysis)).toContain(
        'first byte of the answer took 2.01 s; the median of the last 3 runs that passed is 5 ms.',
      );
    });

    it('stay when their check goes, and are made without it', async () => {
      const { mine, deliver, berlin } = fixture();
      await deliver(berlin, { results: [failure({ slot: minutesAgo(1) })] });
      await mine.delete('/v1/checks/shop');
      await make();
      const [made] = await list('?checkId=shop');
      expect(made).toMatchObject({ checkType: 'URL', status: 'COMPLETED' });
      expect((await mine.post(PATH, { checkId: 'shop' })).status).toBe(404);
    });

    it('say so where the result is gone', async () => {
      const { mine, deliver, berlin, store } = fixture();
      await deliver(berlin, { results: [failure({ slot: minutesAgo(1) })] });
      const { json } = await mine.post(PATH, { checkId: 'shop' });
      await store.query('delete from check_results where account_id = $1', [mine.accountId]);
      await make();
      const made = await mine.get(`${PATH}/${json.id}`);
      expect(made.json.analysis).toMatchObject({
        classification: 'UNKNOWN',
        rootCause: expect.stringContaining('not stored any more'),
      });
    });

    it('are listed newest first, in parts', async () => {
      const { deliver, berlin, mine, clock } = fixture();
      await deliver(berlin, { results: [failure({ slot: minutesAgo(1) })] });
      const ids: unknown[] = [];
      for (let number = 0; number < 3; number += 1) {
        clock.spend(1);
        ids.unshift((await mine.post(PATH, { checkId: 'shop' })).json.id);
        await make();
      }
      const shown = async (query: string) => (await list(query)).map(({ id }: Made) => id);
      expect(await shown('?limit=2')).toEqual(ids.slice(0, 2));
      expect((await shown('?limit=2&page=2'))[0]).toBe(ids[2]);
      expect(await shown('?checkId=other')).toEqual([]);
      const refused: Reply = await mine.get(`${PATH}?checkId=%00`);
      expect(refused.status).toBe(400);
      expect((await mine.get(`${PATH}/${randomUUID()}`)).status).toBe(404);
    });

    it('that one replica began and left are made by another when the lease is over', async () => {
      const { deliver, berlin, store } = fixture();
      await deliver(berlin, { results: [failure({ slot: minutesAgo(1) })] });
      const claim = (leaseMs: number) =>
        claimPending(store, { askedProvider: 'rules', leaseMs, limit: 100 });
      expect(await claim(60_000)).toHaveLength(1);
      await make();
      expect(await list()).toEqual([]);
      await store.query(`update root_cause_analyses set lease_until = now() - interval '1 second'`);
      await make();
      expect(await list()).toHaveLength(1);
    });

    it('are made as soon as they are asked for, and removed when they are old', async () => {
      const { mine, deliver, berlin, clock, features, store } = fixture();
      await deliver(berlin, { results: [failure({ slot: minutesAgo(1) })] });
      await make();
      const [old] = await list();
      const createdAt = new Date(clock.wallMs() - 32 * DAY_MS);
      await store.query(
        `update root_cause_analyses set created_at = $2::timestamptz where id = $1`,
        [old.id, createdAt],
      );
      const ended = new AbortController();
      const kept = features.rootCauseAnalyses.maintain(ended.signal);
      while ((await mine.get(`${PATH}/${old.id}`)).status === 200) await settle();
      const { json } = await mine.post(PATH, { checkId: 'shop' });
      // The clock does not advance: the request itself wakes the worker.
      while ((await mine.get(`${PATH}/${json.id}`)).status === 202) await settle();
      expect(await list()).toHaveLength(1);
      ended.abort();
      await kept;
    });

    it('do not fail for a result of the largest size', async () => {
      const { deliver, berlin } = fixture();
      const redirects = Array.from({ length: 10 }, () => ({
        status: 302,
        url: `https://shop.test/${'p'.repeat(5000)}`,
      }));
      const headers = { server: 's'.repeat(60_000) };
      await deliver(berlin, {
        results: [
          failure({
            slot: minutesAgo(1),
            ...answered({ status: 500, redirects, headers, body: 'b'.repeat(10_000) }),
          }),
          failure({ slot: minutesAgo(2), apiCheckResult: { ...HTTP_DETAIL, response: null } }),
        ],
      });
      await make();
      expect((await list()).length).toBeGreaterThan(0);
      for (const { analysis } of await list()) expect(analysisSchema.parse(analysis)).toBeTruthy();
    });
  });
});
