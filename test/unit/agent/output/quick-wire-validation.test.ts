import {
  array,
  assert,
  dictionary,
  double,
  nat,
  oneof,
  property,
  record,
  string,
} from 'fast-check';
import { describe, expect, it } from 'vitest';
import { passesQuickValidation } from '../../../../src/agent/output/quick-wire-validation.ts';
import { checkResultSchema } from '../../../../src/wire/v1/check-result.ts';
import { caseCount } from '../../../support/nightly.ts';
import { httpDetail, wireResult } from '../../../support/samples/wire-results.ts';

/** Mostly ordinary values, so that some results are ordinary as a whole. */
const text = oneof(
  { weight: 60, arbitrary: string({ unit: 'binary', maxLength: 30 }) },
  { weight: 1, arbitrary: nat(80_000).map((length) => 'x'.repeat(length)) },
);
const number = oneof({ weight: 60, arbitrary: nat(100_000) }, { weight: 1, arbitrary: double() });
const few = { maxKeys: 5 };

const response = record({
  statusText: text,
  headers: dictionary(text, oneof(text, array(text, { maxLength: 3 })), few),
  ip: text,
  url: text,
  body: text,
  bodyBytes: nat(),
  redirects: array(record({ status: nat(999), url: text }), { maxLength: 3 }),
});

const fields = record({
  requestError: text,
  jobAssets: array(text, { maxLength: 5 }),
  jobLog: array(record({ time: nat(), level: string().map(() => 'info' as const), msg: text }), {
    maxLength: 5,
  }),
  timings: record({
    socket: number,
    lookup: number,
    connect: number,
    secureConnect: number,
    response: number,
    end: number,
  }),
});

describe('passesQuickValidation', () => {
  it('accepts ordinary results, and none that the schema refuses', () => {
    let taken = 0;
    assert(
      property(response, fields, text, text, number, (answer, rest, name, runLocation, ms) => {
        const apiCheckResult = httpDetail(answer, rest);
        const result = wireResult('s', { apiCheckResult, name, runLocation, responseTime: ms });
        if (!passesQuickValidation(result)) return;
        taken += 1;
        // As it is sent.
        const sent: unknown = JSON.parse(JSON.stringify(result));
        expect(checkResultSchema.safeParse(sent).error).toBeUndefined();
      }),
      { numRuns: caseCount(3_000) },
    );
    expect(taken).toBeGreaterThan(10);
    expect(passesQuickValidation(wireResult('s', { apiCheckResult: httpDetail() }))).toBe(true);
  });

  it.each([
    ['an id that is not its own', { id: 'another' }],
    ['no location', { runLocation: '' }],
    ['an end before the start', { stoppedAt: '2020-01-01T00:00:00.000Z' }],
    ['a time that is none', { responseTime: Number.NaN }],
  ])('leaves %s to the schema', (_what, wrong) => {
    expect(passesQuickValidation(wireResult('s', wrong))).toBe(false);
  });
});
