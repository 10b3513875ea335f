import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  cleanErrorMessage,
  errorHashOf,
  MAX_ERROR_MESSAGE_CHARS,
} from '../../../../src/model/result/error-grouping.ts';
import { caseCount, IS_NIGHTLY } from '../../../support/nightly.ts';

/** Messages of the agent and of other programs, each with its cleaned form. */
const CLEANED: readonly (readonly [raw: string, cleaned: string])[] = [
  [
    'shop.test:443 (192.0.2.17) refused the connection (ECONNREFUSED after 1.25 ms)',
    'shop.test:<port> (<ip>) refused the connection (ECONNREFUSED after <duration>)',
  ],
  [
    '[2001:db8::17]:8443 did not answer within 30 s',
    '<ip>:<port> did not answer within <duration>',
  ],
  ['fe80::1%eth0 is gone, ::1 too, and ::ffff:192.0.2.1', '<ip> is gone, <ip> too, and <ip>'],
  ['connect to localhost:5432 failed', 'connect to localhost:<port> failed'],
  [
    'GET https://api.test:8443/v2/users/8812/orders/1f0c8a8e-0000-4000-8000-000000000001?token=abc#top was answered 200',
    'GET https://api.test:<port>/v2/users/<number>/orders/<uuid>?<query>#<fragment> was answered <number>',
  ],
  ['see https://user:hunter2@a.test/b.', 'see https://a.test/b.'],
  ['http://192.0.2.9:81/x and http://[::1]/', 'http://<ip>:<port>/x and http://<ip>/'],
  [
    'expected the status code to equal 200, but it was 503',
    'expected the status code to equal 200, but it was 503',
  ],
  ['status 404; under 400 is needed', 'status 404; under 400 is needed'],
  ['status 5031 after 300 ms', 'status <number> after <duration>'],
  [
    'expected $.items[3].name of the body to equal "Ada \\"L\\"", but it was "Bob"',
    'expected $.items[<number>].name of the body to equal "<value>", but it was "<value>"',
  ],
  ["Unexpected token '<', `x` isn't JSON", "Unexpected token '<value>', `<value>` isn't JSON"],
  ['he said \u201cno\u201d', 'he said \u201c<value>\u201d'],
  ['certificate expired at 2026-01-31T04:05:06.789Z', 'certificate expired at <time>'],
  ['since 2026-01-31 04:05 UTC, 31.01.2026 and 1/2/2026', 'since <time>, <time> and <time>'],
  ['Sat, 31 Jan 2026 04:05:06 GMT: closed', '<time>: closed'],
  ['Sat Jan 31 04:05:06 2026: closed at 4:05 pm', '<time>: closed at <time>'],
  [
    'took 1h 30m 5s, then 250\u00b5s, then 3 days',
    'took <duration>, then <duration>, then <duration>',
  ],
  ['request req_8f3a2b9c of i-0abcd1234ef5 failed', 'request req_<id> of i-<id> failed'],
  [
    `commit ${'0af3'.repeat(10)}, sha256:${'9b'.repeat(32)}, 0x7ffe12ab`,
    'commit <hash>, sha256:<hash>, <id>',
  ],
  ['01ARZ3NDEKTSV4RRFFQ69G5FAV and aa:bb:cc:00:11:22', '<id> and <mac>'],
  ['20 % of 1,234,567 were lost: -3.5e-7', '<number> % of <number> were lost: <number>'],
  [
    'TLSv1.3, IPv6, HTTP2, SHA256 and x509 in web01',
    'TLSv1.3, IPv6, HTTP2, SHA256 and x509 in web01',
  ],
  ['mail ada.l+x@example.com', 'mail <email>'],
  ['\u001b[31mred\u001b[0m\r\n\tand  more \0', 'red and more'],
  ['The name server answered NXDOMAIN', 'The name server answered NXDOMAIN'],
  [
    'expected $[\'user-id\'].a["b c"] of the body to equal "7", but it was "8"',
    'expected $[\'user-id\'].a["b c"] of the body to equal "<value>", but it was "<value>"',
  ],
  [
    'expected the body to contain "a, but it was [1", but it was "2"',
    'expected the body to contain "<value>", but it was "<value>"',
  ],
  ['found ["a", 1] there', 'found ["<value>", <number>] there'],
  ['', ''],
];

/** Two occurrences of the same error. */
const SAME: readonly (readonly [string, string])[] = [
  [
    'expected $.errors of the body to be empty, but it was ["a"]',
    'expected $.errors of the body to be empty, but it was [{"code":5},{"code":7,"at":null}]',
  ],
  [
    'expected $.data of the body to have the key "total", but it was {"x":1}',
    'expected $.data of the body to have the key "total", but it was {"rows":[[1],[2,"q\u2026',
  ],
  [
    'the body is not JSON: Unexpected token \'x\', "{"a":x}" is not valid JSON',
    'the body is not JSON: Unexpected token \'"\', ..."id": "q "b" \'c"... is not valid JSON',
  ],
  ['192.0.2.53:53 answered SERVFAIL after 2 s', '[2001:db8::53]:53 answered SERVFAIL after 31 ms'],
  ['20 % of the echo requests were lost', '33.3 % of the echo requests were lost'],
];

/** Two errors of the same check. */
const OTHERS: readonly (readonly [string, string])[] = [
  [
    'expected $["user-id"] of the body to be null, but it was "a"',
    'expected $["order-id"] of the body to be null, but it was "a"',
  ],
  [
    "expected $..['a b'].c of the body to be null, but it was 7",
    "expected $..['a c'].c of the body to be null, but it was 7",
  ],
  [
    'expected the match of "v(\\d+)" in the body to be greater than 5, but it was "3"',
    'expected the match of "id: \\"(\\d+)" in the body to be greater than 5, but it was "3"',
  ],
  [
    'expected the response code to equal "NOERROR", but it was "NXDOMAIN"',
    'expected the response code to equal "NOERROR", but it was "SERVFAIL"',
  ],
  [
    'expected $ of the body to have the key "a", but it was {}',
    'expected $ of the body to have the key "b", but it was {}',
  ],
  [
    'expected the status code to be greater than 500, but it was 404',
    'expected the status code to be greater than 500, but it was 301',
  ],
  [
    'the body is not JSON: Unexpected end of JSON input',
    'the body is not JSON: Unexpected token \'<\', "<html>" is not valid JSON',
  ],
];

describe('the cleaned error message', () => {
  it.each(CLEANED)('of %j is %j', (raw, cleaned) => {
    expect(cleanErrorMessage(raw)).toBe(cleaned);
  });

  it('is the same for the same error with other values', () => {
    const at = (n: number): string =>
      `order ${n} of user ${n}a${n}f failed after ${n}.5 ms at ${new Date(n * 1e9).toISOString()} on 10.0.0.${n}:${n}`;
    expect(cleanErrorMessage(at(17))).toBe(cleanErrorMessage(at(113)));
    expect(cleanErrorMessage('a refused')).not.toBe(cleanErrorMessage('a reset'));
  });

  it.each(SAME)('of %j is the same as that of %j', (one, other) => {
    expect(cleanErrorMessage(one)).toBe(cleanErrorMessage(other));
  });

  it.each(OTHERS)('of %j differs from that of %j', (one, other) => {
    expect(cleanErrorMessage(one)).not.toBe(cleanErrorMessage(other));
  });

  it('does not change when it is cleaned again', () => {
    for (const [, cleaned] of CLEANED) expect(cleanErrorMessage(cleaned)).toBe(cleaned);
  });

  it('is one line of bounded length for any input', () => {
    const parts = fc.constantFrom(
      ...CLEANED.map(([raw]) => raw),
      ...['1.', '::', '"', "'", '\\', '1s', 'a@', 'http://', ' ', '0', 'f', '\ud83d\ude00'],
    );
    const texts = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.array(parts, { maxLength: 30 }).map((some) => some.join('')),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const cleaned = cleanErrorMessage(text);
        expect(cleaned.length).toBeLessThanOrEqual(MAX_ERROR_MESSAGE_CHARS);
        expect(cleaned).not.toMatch(/[\r\n]/);
        expect(cleanErrorMessage(text)).toBe(cleaned);
      }),
      { numRuns: caseCount(300) },
    );
    expect(cleanErrorMessage('1 '.repeat(9_000))).toHaveLength(MAX_ERROR_MESSAGE_CHARS);
    const cut = cleanErrorMessage('\ud83d\ude00'.repeat(MAX_ERROR_MESSAGE_CHARS).slice(1));
    expect(cut).not.toMatch(/[\ud800-\udbff]$/);
  });

  it('takes little time for any text', () => {
    const units = [
      ...['a', '0', '.', ':', '-', ' ', '"', "'", '`', '\\', '\\"', '\u201c', '@', '/', '(', '?)'],
      ...['a@', 'a.', '1.', '1,', '1:', '1-', '::', 'f:', '0s', '1 s ', "'a ", '"\\', 'a://', 'a+'],
      ...[
        '1.1.1.',
        '12:34',
        'jan 1 ',
        'mon, ',
        'http://a/',
        'http://)',
        '0a',
        '\u001b[',
        '\u001b[1;',
      ],
      ...[
        '2026-01-',
        '1f0c8a8e-',
        'aa:bb:',
        '[::',
        'status ',
        'e+1',
        '1e',
        'localhost:',
        '\u201ca',
      ],
      ...["$['a", '$["a"', ', but it was ', ', but it was [', 'the match of "\\'],
      ...['Unexpected token ', 'the response code "', 'the response code "a" '],
    ];
    // In linear time each takes about a millisecond. In quadratic time each takes a second, and the
    // test times out.
    const ends = ['', 'x', '!', '"', 'z1'];
    for (const [n, unit] of units.entries()) {
      const some = IS_NIGHTLY ? ends : [ends[n % ends.length], ends[(n + 2) % ends.length]];
      for (const end of some) {
        const text = unit.repeat(MAX_ERROR_MESSAGE_CHARS / unit.length);
        cleanErrorMessage(text.slice(0, MAX_ERROR_MESSAGE_CHARS - 2) + end);
      }
    }
  });

  it('has the documented hash', () => {
    const cleaned = cleanErrorMessage('Zürich 17 did not answer');
    expect(cleaned).toBe('Zürich <number> did not answer');
    expect(errorHashOf(cleaned)).toBe(createHash('sha256').update(cleaned, 'utf8').digest('hex'));
    expect(errorHashOf(cleaned)).toMatch(/^[0-9a-f]{64}$/);
  });
});
