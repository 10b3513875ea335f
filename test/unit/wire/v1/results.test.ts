import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { resultIdOf } from '../../../../src/model/ids.ts';
import {
  MISSED_REASONS,
  type MissedReason,
  type MissedSlots,
} from '../../../../src/model/result/missed-slots.ts';
import { responseHeaders } from '../../../../src/wire/v1/details/http-detail.ts';
import { MAX_RECORD_VALUES } from '../../../../src/wire/v1/limits.ts';
import {
  missedRecordOf,
  missedRecordSchema,
  readBatch,
  resultsEnvelope,
  resultsResponseSchema,
} from '../../../../src/wire/v1/results.ts';
import { caseCount } from '../../../support/nightly.ts';
import { resultOf } from '../../../support/samples/http-results.ts';
import { overTheWire, RESULT } from './arbitraries.ts';

const MISSED: MissedSlots = {
  checkId: 'shop',
  slot: 60_000,
  lastSlot: 180_000,
  count: 3,
  reason: 'agent_busy',
};
const FROM = { agentId: 'agent-1', epoch: 3 };

function read(batch: { results?: unknown[]; missed?: unknown[] }) {
  const message = { ...FROM, results: [], missed: [], ...batch };
  return readBatch(resultsEnvelope.parse(overTheWire(message)));
}

describe('a batch', () => {
  it('of valid records is accepted completely', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(RESULT, { maxLength: 5 }), async (results) => {
        const batch = await read({ results, missed: [missedRecordOf(MISSED, 'berlin')] });
        expect(batch).toMatchObject({ ...FROM, rejected: [] });
        expect(batch.results.map(({ id }) => id)).toEqual(results.map(({ id }) => id));
        expect(batch.missed).toEqual([missedRecordOf(MISSED, 'berlin')]);
      }),
      { numRuns: caseCount(40) },
    );
  });

  it('loses only its invalid records, each named by its id or index', async () => {
    const good = resultOf({ id: resultIdOf('a-sequence', 1) });
    const batch = await read({
      results: [{ ...good, responseTime: 'fast' }, good, 'no result'],
      missed: [{ ...missedRecordOf(MISSED, 'berlin'), id: 7 }],
    });
    expect(batch.results.map(({ id }) => id)).toEqual([good.id]);
    expect(batch.missed).toEqual([]);
    expect(batch.rejected).toEqual([
      {
        id: good.id,
        list: 'results',
        index: 0,
        code: 'invalid',
        message: expect.stringContaining('responseTime'),
      },
      { id: null, list: 'results', index: 2, code: 'invalid', message: expect.any(String) },
      {
        id: null,
        list: 'missed',
        index: 0,
        code: 'invalid',
        message: expect.stringContaining('id'),
      },
    ]);
  });

  it('of any records gets an answer that can be read', async () => {
    const record = fc.oneof(
      fc.jsonValue(),
      fc.record({ id: fc.string(), slot: fc.jsonValue() }),
      fc.record({ id: fc.constant('x'), checkId: fc.string({ maxLength: 5000 }) }),
    );
    const records = fc.array(record, { maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(records, records, async (results, missed) => {
        const batch = await read({ results, missed });
        const { rejected } = batch;
        expect(batch.results.length + batch.missed.length + rejected.length).toBe(
          results.length + missed.length,
        );
        expect(resultsResponseSchema.safeParse({ accepted: [], rejected }).success).toBe(true);
      }),
    );
  });
});

describe('a record of many values', () => {
  const [good] = fc.sample(RESULT, { numRuns: 1, seed: 1 });

  it('is refused for the length of a list, not for each item', async () => {
    const jobLog = Array.from({ length: 30_000 }, () => 1);
    const batch = await read({ results: [{ ...good, apiCheckResult: { jobLog } }] });
    expect(batch.rejected).toMatchObject([{ message: expect.not.stringContaining('more)') }]);
  });

  it('is refused for their number before it is parsed', async () => {
    const values = Array.from({ length: MAX_RECORD_VALUES }, () => 1);
    const batch = await read({ results: [{ ...good, a: values }, { a: [[values.slice(3)]] }] });
    expect(batch.rejected).toMatchObject([
      { message: `must have at most ${MAX_RECORD_VALUES} values` },
      { message: expect.stringContaining('resultType') },
    ]);
  });

  it('gets its first problem only, and one of few values their number', async () => {
    const headers = (length: number) =>
      Object.fromEntries(Array.from({ length }, (_, n) => [`h${n}`, n === 0 ? 'text' : [n]]));
    const answers = Array.from({ length: 6_000 }, () => ({}));
    const batch = await read({
      results: [
        { ...good, dnsCheckResult: { response: { answer: { Answer: answers } } } },
        { ...good, apiCheckResult: { response: { headers: headers(16_000) } } },
        { a: 1 },
      ],
    });
    const messages = batch.rejected.map(({ message }) => message);
    expect(messages[0]).not.toContain('more)');
    expect(messages[1]).not.toContain('more)');
    expect(messages[2]).toMatch(/\(and \d+ more\)$/);
  });

  it('gets one problem for all header values of the wrong type', () => {
    const record = Object.fromEntries(Array.from({ length: 16_000 }, (_, n) => [`h${n}`, [n]]));
    expect(responseHeaders.safeParse({ a: 'text', ...record }).error?.issues).toMatchObject([
      { path: ['h0'], message: 'must be text or a list of texts' },
    ]);
  });
});

describe('the reading of a batch', () => {
  it('yields to the event loop after each record, valid or not', async () => {
    const [good] = fc.sample(RESULT, { numRuns: 1, seed: 1 });
    let turns = 0;
    const message = { ...FROM, results: [good, 1, {}, good], missed: [{}, 2] };
    const batch = await readBatch(message, async () => {
      turns += 1;
    });
    expect(turns).toBe(6);
    expect(batch.rejected).toHaveLength(4);
  });
});

describe('a missed record', () => {
  it.each(Object.keys(MISSED_REASONS) as MissedReason[])('arrives with its reason %s', (reason) => {
    const record = missedRecordOf({ ...MISSED, reason }, 'berlin');
    expect(missedRecordSchema.parse(overTheWire(record))).toEqual(record);
  });

  it('has the same id each time, and another for other slots or locations', () => {
    const record = missedRecordOf(MISSED, 'berlin');
    expect(missedRecordOf({ ...MISSED }, 'berlin')).toEqual(record);
    const others = [
      missedRecordOf(MISSED, 'paris'),
      missedRecordOf({ ...MISSED, checkId: 'api' }, 'berlin'),
      missedRecordOf({ ...MISSED, slot: 120_000, count: 2 }, 'berlin'),
      missedRecordOf({ ...MISSED, lastSlot: 240_000, count: 4 }, 'berlin'),
    ];
    expect(new Set([record, ...others].map(({ id }) => id)).size).toBe(5);
  });

  it.each([
    { count: 0 },
    { count: 1 },
    { lastSlot: 60_000 },
    { lastSlot: 0 },
    { slot: -1 },
    { reason: 'no reason at all' },
  ])('is refused with %j', (fields) => {
    const record = { ...missedRecordOf(MISSED, 'berlin'), ...fields };
    expect(missedRecordSchema.safeParse(record).success).toBe(false);
  });
});
