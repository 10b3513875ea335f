import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SimilarCheckParser } from '../../../../../src/agent/source/common/similar-checks.ts';
import { checkBodySchema } from '../../../../../src/model/check/check.ts';
import type { RunnableCheckType } from '../../../../../src/model/enums.ts';

/** Few values, so that many checks are alike and some are invalid. */
const one = fc.constantFrom.bind(fc);
const url = one('http://a/', 'https://b.example/x?y=1', 'ftp://c/', '', 7);
const hostname = one('a', 'b.example', '127.0.0.1', 'a b', null);
const assertions = one(
  [],
  [{ source: 'STATUS_CODE', comparison: 'EQUALS', target: '200' }],
  [{ source: 'STATUS_CODE', comparison: 'EQUALS', target: 'abc' }],
  [{ source: 'TEXT_BODY', property: '(', comparison: 'NOT_EMPTY' }],
  [{ source: 'RESPONSE_DATA', comparison: 'NOT_EMPTY' }],
);
const some = (fields: Record<string, fc.Arbitrary<unknown>>, required: string[]) =>
  fc.record(fields, { requiredKeys: required });

const requests = {
  URL: some({ url, assertions, skipSSL: one(true, 'no') }, ['url']),
  API: some({ url, assertions, method: one('GET', 'POST', 'TRACE'), body: one('', 'x') }, []),
  TCP: some({ hostname, port: one(80, 443, 70_000), assertions }, ['hostname', 'port']),
  DNS: some({ query: one('a.example', '127.0.0.1', ' '), recordType: one('A', 'PTR') }, ['query']),
  ICMP: some({ hostname, pingCount: one(1, 3, 99) }, ['hostname']),
};
const body = one(...(Object.keys(requests) as RunnableCheckType[])).chain((checkType) =>
  some(
    {
      checkType: fc.constant(checkType),
      name: one('A', 'B', '', null),
      request: fc.oneof({ weight: 9, arbitrary: requests[checkType] }, one(null, 'x')),
      frequency: one(0, 1, 10, 7),
      frequencyOffset: one(10, 15, null),
      maxResponseTime: one(100, 1000, Number.POSITIVE_INFINITY, null),
      maxPacketLossThreshold: one(5, 50),
      retryStrategy: one(null, { type: 'FIXED', onlyOn: ['NETWORK_ERROR'] }),
      tags: one([], ['a'], ['a', 'b'], [1]),
      unknown: one(1),
    },
    ['checkType', 'name', 'request'],
  ),
);

function nested(depth: number): unknown[] {
  let list: unknown[] = [];
  for (let level = 1; level < depth; level += 1) list = [list];
  return list;
}

describe('similar checks', () => {
  it('are read as if each were alone', () => {
    fc.assert(
      fc.property(fc.array(body, { maxLength: 60 }), (bodies) => {
        const alike = new SimilarCheckParser();
        for (const [index, given] of bodies.entries()) {
          const type = given.checkType as RunnableCheckType;
          const read = alike.parse(`check-${index}`, given, type);
          const { data } = checkBodySchema.safeParse(given);
          const isSound = data !== undefined && JSON.stringify(given).indexOf('"("') === -1;
          const alone = isSound ? { ...data, id: `check-${index}` } : null;
          expect(read).toEqual(alone);
          // Compares JSON, because fingerprints hash it: the order of the fields counts.
          expect(JSON.stringify(read)).toBe(JSON.stringify(alone));
        }
      }),
    );
  });

  const url = (address: unknown) => ({ url: address, assertions: [] });
  it.each<[string, RunnableCheckType, unknown, object]>([
    ['a name that is empty', 'URL', url('http://a/'), { name: '' }],
    ['no name', 'URL', url('http://a/'), { name: undefined }],
    ['text for a request', 'URL', url('http://a/'), { request: 'http://b/' }],
    ['no request', 'TCP', { hostname: 'a', port: 80 }, { request: undefined }],
    ['an address of another scheme', 'URL', url('http://a/'), { request: url('ftp://b/') }],
    ['no address', 'URL', url('http://a/'), { request: url(undefined) }],
    [
      'a host with a space',
      'TCP',
      { hostname: 'a', port: 80 },
      { request: { hostname: 'a b', port: 80 } },
    ],
    ['a query with a space', 'DNS', { query: 'a' }, { request: { query: 'a b' } }],
    // JSON has no NaN and would write null.
    [
      'a port that is no number',
      'TCP',
      { hostname: 'a', port: 80 },
      { request: { hostname: 'b', port: Number.NaN } },
    ],
    [
      'a request nested deeper than the stack holds',
      'URL',
      url('http://a/'),
      { request: { ...url('http://b/'), assertions: nested(100_000) } },
    ],
  ])('are refused as if each were alone: %s', (_what, checkType, request, wrong) => {
    const alike = new SimilarCheckParser();
    const sound = { checkType, name: 'A', request };
    const given = { ...sound, ...wrong };
    // The body of the first is kept, then the request of the second: a third is compared with both.
    for (const id of ['first', 'second']) {
      expect(alike.parse(id, sound, checkType)).toMatchObject({ id, name: 'A' });
    }
    expect(alike.parse('wrong', given, checkType)).toBeNull();
    expect(checkBodySchema.safeParse(given).success).toBe(false);
    // The next check gets nothing of the invalid one.
    const next = alike.parse('next', { ...sound, name: 'B' }, checkType);
    expect(next).toEqual({ ...checkBodySchema.parse(sound), id: 'next', name: 'B' });
  });

  it('share their common parts in memory', () => {
    const alike = new SimilarCheckParser();
    const read = (id: string, address: string) =>
      alike.parse(
        id,
        {
          checkType: 'URL',
          name: id,
          tags: ['a'],
          request: {
            url: address,
            assertions: [{ source: 'STATUS_CODE', comparison: 'EQUALS', target: '200' }],
          },
        },
        'URL',
      );
    const [, first, second] = [
      read('0', 'http://a/'),
      read('1', 'http://b/'),
      read('2', 'http://c/'),
    ];
    expect(first?.name).toBe('1');
    expect(second?.request).toMatchObject({ url: 'http://c/' });
    expect(second?.tags).toBe(first?.tags);
    expect(second?.request.assertions).toBe(first?.request.assertions);
  });
});
