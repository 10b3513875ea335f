import { describe, expect, it } from 'vitest';
import { ERROR_CODES } from '../../../../../src/model/result/error-codes.ts';
import { databases } from '../../../../support/database/databases.ts';
import { ASSERTION, HTTP_DETAIL } from '../../../../support/samples/http-results.ts';
import {
  failedRun,
  minutesAgo,
  NOW,
  resultOfRun,
  useResultsFixture,
} from '../../../../support/service/results-fixture.ts';
import { useRunningService } from '../../../../support/service/service-fixture.ts';

/** Runs with their retries, and explanations of results: src/service/README.md, "Check results". */
describe.each(databases)('on %s', (kind) => {
  const fixture = useResultsFixture(useRunningService(kind));

  const timeout = {
    apiCheckResult: {
      ...HTTP_DETAIL,
      response: null,
      requestError: 'shop.test did not answer within 30 s',
      requestErrorCode: 'CONNECT_TIMEOUT' as const,
    },
    hasFailures: true,
  };

  describe('the list of runs', () => {
    const listed = async (query = ''): Promise<number[]> => {
      const reply = await fixture().mine.get(`/v1/checks/shop/runs${query}`);
      expect(reply.status).toBe(200);
      return reply.json.map(({ slot }: { slot: string }) => (NOW - Date.parse(slot)) / 60_000);
    };

    it('folds the attempts before the last one into their run', async () => {
      const { berlin, deliver, mine } = fixture();
      const first = resultOfRun({ slot: minutesAgo(2), resultType: 'ATTEMPT', ...timeout });
      const last = resultOfRun({ slot: minutesAgo(2), attempts: 1 });
      await deliver(berlin, { results: [first, last, resultOfRun({ slot: minutesAgo(1) })] });
      const { json } = await mine.get('/v1/checks/shop/runs');
      expect(json.map(({ retried }: { retried: unknown[] }) => retried.length)).toEqual([0, 1]);
      expect(json[1]).toEqual({
        resultId: last.id,
        number: 2,
        location: 'berlin',
        result: 'passed',
        startedAt: last.startedAt,
        responseTime: 11.75,
        errorCode: null,
        response: 'status 200',
        reason: null,
        slot: new Date(minutesAgo(2)).toISOString(),
        sequenceId: last.sequenceId,
        retried: [
          {
            resultId: first.id,
            number: 1,
            location: 'berlin',
            result: 'failed',
            startedAt: first.startedAt,
            responseTime: 11.75,
            errorCode: 'CONNECT_TIMEOUT',
            response: null,
            reason: 'CONNECT_TIMEOUT: shop.test did not answer within 30 s',
          },
        ],
      });
    });

    it('is filtered by result, location and time, and has pages', async () => {
      const { berlin, oslo, deliver } = fixture();
      await deliver(berlin, {
        results: [
          failedRun(1, 'refused'),
          resultOfRun({ slot: minutesAgo(2), isDegraded: true }),
          resultOfRun({ slot: minutesAgo(3), hasErrors: true }),
          resultOfRun({ slot: minutesAgo(4), isCancelled: true, hasFailures: true }),
        ],
      });
      await deliver(oslo, { results: [resultOfRun({ slot: minutesAgo(5), runLocation: 'oslo' })] });
      expect(await listed()).toEqual([1, 2, 3, 4, 5]);
      expect(await listed('?result=failed')).toEqual([1]);
      expect(await listed('?result=failed&result=degraded')).toEqual([1, 2]);
      expect(await listed('?result=error')).toEqual([3]);
      expect(await listed('?result=cancelled')).toEqual([4]);
      expect(await listed('?result=passed')).toEqual([5]);
      expect(await listed('?location=oslo')).toEqual([5]);
      expect(await listed('?location=%00')).toEqual([]);
      expect(await listed('?limit=2&page=2')).toEqual([3, 4]);
      expect(await listed(`?from=${minutesAgo(3)}&to=${minutesAgo(1)}`)).toEqual([2, 3]);
      for (const query of ['?result=bad', '?limit=0', '?unknown=1']) {
        expect((await fixture().mine.get(`/v1/checks/shop/runs${query}`)).status).toBe(400);
      }
    });

    it('is for checks of the account only', async () => {
      const { mine, theirs } = fixture();
      expect((await theirs.get('/v1/checks/shop/runs')).status).toBe(404);
      expect((await mine.get('/v1/checks/none/runs')).status).toBe(404);
    });
  });

  describe('the explanation of a result', () => {
    const explain = async (id: string) =>
      (await fixture().mine.get(`/v1/check-results/shop/${id}/explanation`)).json;

    it('has the reasons, the meaning of the error, what to try and the run that passed before', async () => {
      const { berlin, deliver } = fixture();
      const passed = resultOfRun({ slot: minutesAgo(9) });
      const first = resultOfRun({ slot: minutesAgo(2), resultType: 'ATTEMPT', ...timeout });
      const last = resultOfRun({ slot: minutesAgo(2), attempts: 1, ...timeout });
      await deliver(berlin, {
        results: [
          passed,
          resultOfRun({ slot: minutesAgo(8), isDegraded: true }),
          resultOfRun({ slot: minutesAgo(7), hasErrors: true }),
          resultOfRun({ slot: minutesAgo(6), isCancelled: true }),
          first,
          last,
          resultOfRun({ slot: minutesAgo(1) }),
        ],
      });
      const found = await explain(last.id);
      expect(found).toMatchObject({
        resultId: last.id,
        result: 'failed',
        reasons: ['CONNECT_TIMEOUT: shop.test did not answer within 30 s'],
        errorCode: 'CONNECT_TIMEOUT',
        meaning: ERROR_CODES.CONNECT_TIMEOUT.meaning,
        phase: 'connect',
        advice: ERROR_CODES.CONNECT_TIMEOUT.advice,
        lastPassing: { resultId: passed.id, slot: new Date(minutesAgo(9)).toISOString() },
      });
      const ids = ({ attempts }: { attempts: { resultId: string }[] }) =>
        attempts.map(({ resultId }) => resultId);
      expect(ids(found)).toEqual([first.id, last.id]);
      expect(ids(await explain(first.id))).toEqual([first.id, last.id]);
    });

    it('names failed assertions and the phase that was slow', async () => {
      const { berlin, deliver } = fixture();
      const detail = { ...HTTP_DETAIL, assertions: [ASSERTION] };
      const unmet = resultOfRun({
        slot: minutesAgo(3),
        hasFailures: true,
        apiCheckResult: detail,
      });
      const slow = resultOfRun({ slot: minutesAgo(2), isDegraded: true });
      await deliver(berlin, { results: [unmet, slow] });
      expect(await explain(unmet.id)).toMatchObject({
        reasons: [ASSERTION.error],
        phase: 'response',
        meaning: null,
        lastPassing: null,
      });
      expect(await explain(slow.id)).toMatchObject({ result: 'degraded', phase: 'first byte' });
    });

    it('says of a run that passed only that', async () => {
      const { berlin, deliver, mine, theirs } = fixture();
      const passed = resultOfRun({ slot: minutesAgo(3) });
      await deliver(berlin, { results: [passed] });
      expect(await explain(passed.id)).toMatchObject({
        result: 'passed',
        reasons: [],
        phase: null,
        advice: null,
      });
      const path = `/v1/check-results/shop/${passed.id}/explanation`;
      expect((await theirs.get(path)).status).toBe(404);
      expect((await mine.get('/v1/check-results/shop/none/explanation')).status).toBe(404);
    });

    it('advises to read the job log for an error of a newer agent', async () => {
      const { berlin, deliver } = fixture();
      const apiCheckResult = { ...timeout.apiCheckResult, requestErrorCode: 'NEWER_CODE' as never };
      const newer = resultOfRun({ slot: minutesAgo(3), hasFailures: true, apiCheckResult });
      await deliver(berlin, { results: [newer] });
      const found = await explain(newer.id);
      expect([found.meaning, found.advice]).toEqual([null, expect.stringContaining('job log')]);
    });
  });
});
