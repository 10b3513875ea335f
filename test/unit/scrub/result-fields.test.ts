import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MASK } from '../../../src/model/credentials/mask.ts';
import { RESULT_FIELDS_KEPT, scrubResult } from '../../../src/scrub/result-fields.ts';
import { createScrubber, NO_SECRETS } from '../../../src/scrub/scrubber.ts';
import { checkResultSchema } from '../../../src/wire/v1/check-result.ts';
import { caseCount } from '../../support/nightly.ts';
import {
  ASSERTION,
  HTTP_DETAIL,
  HTTP_RESPONSE,
  resultOf,
} from '../../support/samples/http-results.ts';
import { overTheWire, RESULT } from '../wire/v1/arbitraries.ts';

const SECRET = 'hunter2-correct-horse';
const DETAILS = ['apiCheckResult', 'tcpCheckResult', 'dnsCheckResult', 'icmpCheckResult'];
const scrubber = createScrubber([SECRET]);

/** With the secret in every text that is not retained, also in names of headers. */
function planted(value: unknown, field = '', isChosen = false): unknown {
  if (typeof value === 'string') {
    return RESULT_FIELDS_KEPT.has(field) && !isChosen ? value : `a ${SECRET} b`;
  }
  if (Array.isArray(value)) return value.map((item) => planted(item, field, isChosen));
  if (typeof value !== 'object' || value === null) return value;
  const chosen = field === 'headers' || field === 'params';
  const within = Object.entries(value).map(([name, inner]) => [name, planted(inner, name, chosen)]);
  return Object.fromEntries(within);
}

function withPlanted<Result extends object>(result: Result): Result {
  const details = Object.entries(result).map(([name, value]) => [
    name,
    DETAILS.includes(name) ? planted(value) : value,
  ]);
  return Object.fromEntries(details);
}

describe('a result that is scrubbed', () => {
  it('contains a secret in none of its texts, and is still a valid result', () => {
    fc.assert(
      fc.property(RESULT, (result) => {
        const scrubbed = scrubResult(withPlanted(result), scrubber);
        expect(JSON.stringify(scrubbed)).not.toContain(SECRET);
        expect(checkResultSchema.safeParse(overTheWire(scrubbed)).error).toBeUndefined();
      }),
      { numRuns: caseCount(200) },
    );
  });

  it('retains values of closed lists, and is still a valid result, for any secrets', () => {
    const names = ['request', 'response', 'headers', 'error', 'timings', 'total', 'latency'];
    const words = ['FINAL', 'IPv4', 'IPv6', 'info', 'warn', 'error', 'text', 'base64', 'omitted'];
    const more = [
      'STATUS_CODE',
      'JSON_BODY',
      'LATENCY',
      'EQUALS',
      'IS_NULL',
      'berlin',
      'DNS_TIMEOUT',
    ];
    const of = createScrubber([...names, ...words, ...more]);
    fc.assert(
      fc.property(RESULT, (result) => {
        const scrubbed = scrubResult(result, of);
        expect(checkResultSchema.safeParse(overTheWire(scrubbed)).error).toBeUndefined();
        expect(scrubbed).toMatchObject({ id: result.id, checkId: result.checkId });
      }),
      { numRuns: caseCount(200) },
    );
  });

  it('is the same object where there is nothing to take out', () => {
    const result = resultOf();
    expect(scrubResult(result, NO_SECRETS)).toBe(result);
    expect(scrubResult(result, scrubber)).toBe(result);
  });

  it('shows no secret under a header whose name is that of a kept field', () => {
    const headers = { id: SECRET, level: `x ${SECRET}`, source: [SECRET, 'b'], [SECRET]: 'c' };
    const request = { ...HTTP_DETAIL.request, headers: { type: SECRET }, params: { id: SECRET } };
    const apiCheckResult = { ...HTTP_DETAIL, request, response: { ...HTTP_RESPONSE, headers } };
    const scrubbed = scrubResult(resultOf({ apiCheckResult }), scrubber).apiCheckResult;
    expect(scrubbed?.request).toMatchObject({ headers: { type: MASK }, params: { id: MASK } });
    expect(scrubbed?.response?.headers).toEqual({
      id: MASK,
      level: `x ${MASK}`,
      source: [MASK, 'b'],
      [MASK]: 'c',
    });
  });

  it('shows the values of no header that is sensitive always, without any secret', () => {
    const headers = { 'Set-Cookie': ['a=1', 'b=2'], 'x-api-key': MASK, 'content-type': 'text/css' };
    const request = { ...HTTP_DETAIL.request, headers: { Authorization: 'Bearer x', accept: '*' } };
    const apiCheckResult = { ...HTTP_DETAIL, request, response: { ...HTTP_RESPONSE, headers } };
    const scrubbed = scrubResult(resultOf({ apiCheckResult }), NO_SECRETS).apiCheckResult;
    expect(scrubbed?.request.headers).toEqual({ Authorization: MASK, accept: '*' });
    expect(scrubbed?.response?.headers).toEqual({ ...headers, 'Set-Cookie': [MASK, MASK] });
  });

  it('omits a binary body that contains a secret, which a mask would make unreadable', () => {
    const body = Buffer.concat([Buffer.of(0, 1, 2), Buffer.from(SECRET), Buffer.of(0)]);
    const response = {
      ...HTTP_RESPONSE,
      body: body.toString('base64'),
      bodyEncoding: 'base64' as const,
      bodyBytes: body.length,
    };
    const apiCheckResult = { ...HTTP_DETAIL, response };
    const known = createScrubber([SECRET, Buffer.from(SECRET).toString('base64')]);
    expect(scrubResult(resultOf({ apiCheckResult }), known).apiCheckResult?.response).toEqual({
      ...response,
      body: null,
      bodyEncoding: 'omitted',
    });
    const clean = { ...response, body: Buffer.of(0, 1, 2).toString('base64') };
    const result = resultOf({ apiCheckResult: { ...HTTP_DETAIL, response: clean } });
    expect(scrubResult(result, known)).toBe(result);
  });

  it('does not mask the beginning of a secret, wherever a text may have been cut', () => {
    const half = SECRET.slice(0, -1);
    const jobLog = [{ time: 0, level: 'info' as const, msg: `GET http://x/${half}…: 404` }];
    const request = {
      ...HTTP_DETAIL.request,
      data: `${half}… (cut at 10240 bytes)`,
      headers: { 'x-long': `${half}… (cut at 10240 bytes)` },
      params: { q: `a… ${half}…` },
    };
    const error = `it was "${half}…", and "${half}…"`;
    const assertions = [{ ...ASSERTION, actual: 'é'.repeat(5_000) + half, error }];
    const response = { ...HTTP_RESPONSE, body: half.repeat(1_000), bodyCut: true as const };
    const apiCheckResult = { ...HTTP_DETAIL, jobLog, request, assertions, response };
    const result = resultOf({ apiCheckResult });
    expect(scrubResult(result, scrubber)).toBe(result);
  });

  it('retains the name of its check, which the API shows anyway', () => {
    expect(scrubResult(resultOf({ name: SECRET }), scrubber).name).toBe(SECRET);
  });
});
