import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  assertionInput,
  type SourceValue,
} from '../../../../../src/agent/assertions/assertion-sources.ts';
import {
  evaluateAssertion,
  parseJson,
} from '../../../../../src/agent/assertions/evaluate-assertion.ts';
import {
  ASSERTION_SOURCES,
  type Assertion,
  type AssertionSource,
  CERTIFICATE_PROPERTIES,
  COMPARISONS,
  type Comparison,
  LATENCY_PROPERTIES,
} from '../../../../../src/model/check/assertions/assertion.ts';
import { assertionProblems } from '../../../../../src/model/check/assertions/assertion-problems.ts';
import { rcodeName } from '../../../../../src/model/check/assertions/response-codes.ts';
import { CHECK_SHAPES } from '../../../../../src/model/check/check.ts';
import { RUNNABLE_CHECK_TYPES } from '../../../../../src/model/enums.ts';
import type { TlsFacts } from '../../../../../src/model/result/details/check-detail.ts';
import { caseCount } from '../../../../support/nightly.ts';

type Given = Partial<Assertion> & Pick<Assertion, 'source' | 'comparison'>;

const assertionOf = (given: Given): Assertion => ({
  property: '',
  target: '',
  regex: null,
  ...given,
});

function problemOf(given: Given): string | null {
  const [problem] = assertionProblems([assertionOf(given)]);
  return problem === undefined ? null : `${problem.path.join('.')} ${problem.message}`;
}

const of = (
  source: AssertionSource,
  comparison: Comparison,
  target = '',
  rest: Partial<Assertion> = {},
): Given => ({ source, comparison, target, ...rest });

describe('an expression', () => {
  test.each<[Given, string]>([
    [of('TEXT_BODY', 'NOT_NULL', '', { property: '((' }), '0.property is not a valid regular'],
    [of('TEXT_BODY', 'IS_NULL', '', { regex: '((' }), '0.regex is not a valid regular'],
    [of('HEADERS', 'IS_NULL', '', { property: 'x', regex: '[' }), '0.regex is not a valid regular'],
    [of('STATUS_CODE', 'EQUALS', '2', { regex: '*' }), '0.regex is not a valid regular'],
    [of('RESPONSE_DATA', 'EQUALS', 'x', { property: '[b-a]' }), '0.property is not a valid reg'],
    [of('JSON_BODY', 'IS_NULL', '', { property: '$.a[' }), '0.property is not a valid JSONPath'],
    [of('JSON_ANSWER', 'NOT_NULL', '', { property: '$[?no(@)]' }), '0.property is not a valid JS'],
  ])('that the agent cannot compile is a problem: %j', (given, problem) => {
    expect(problemOf(given)).toContain(problem);
  });

  test.each<[Given]>([
    [of('TEXT_BODY', 'EQUALS', 'x', { property: '((', regex: 'x' })],
    [of('LATENCY', 'LESS_THAN', '5', { property: 'avg', regex: '((' })],
    [of('RESPONSE_CODE', 'EQUALS', 'NOERROR', { property: '((' })],
    [of('STATUS_CODE', 'EQUALS', '200', { property: '((' })],
    [of('TEXT_BODY', 'NOT_NULL', '', { property: '(a+)+$' })],
  ])('that the agent does not use, or that is only slow, is no problem: %j', (given) => {
    expect(problemOf(given)).toBeNull();
  });
});

describe('an assertion on the certificate of a check that never uses TLS', () => {
  const issuer = assertionOf(of('CERTIFICATE', 'CONTAINS', 'Root', { property: 'issuer' }));

  test.each([
    [{ url: 'http://shop.test/', followRedirects: false }, true],
    [{ url: 'http://shop.test/', followRedirects: true }, false],
    [{ url: 'https://shop.test/', followRedirects: false }, false],
    [{ url: '{{BASE}}/', followRedirects: false }, false],
    [{ query: 'shop.test', protocol: 'UDP' }, true],
    [{ query: 'shop.test', protocol: 'DOH' }, false],
    [undefined, false],
  ])(
    'is a problem only where neither the check nor a redirect can use TLS: %j',
    (request, isProblem) => {
      const found = assertionProblems([issuer], request);
      expect(found).toHaveLength(isProblem ? 1 : 0);
      if (isProblem) expect(found[0]).toMatchObject({ path: [0, 'source'] });
    },
  );
});

describe('a comparison that fails for every response is a problem', () => {
  test.each<[Given, RegExp]>([
    [of('STATUS_CODE', 'EQUALS', '20'), /^0\.target must be another .* from 200 to 999$/],
    [of('STATUS_CODE', 'EQUALS', '200.5'), /^0\.target/],
    [of('STATUS_CODE', 'EQUALS', '2xx', { regex: '' }), /^0\.target must be a number/],
    [of('STATUS_CODE', 'LESS_THAN', '800ms', { regex: '' }), /^0\.target must be a number/],
    [of('STATUS_CODE', 'HAS_VALUE', '2xx'), /^0\.target must be a number/],
    [
      of('STATUS_CODE', 'ONE_OF', '100-199'),
      /^0\.target must be another one: ONE_OF .* from 200 to 999$/,
    ],
    [of('STATUS_CODE', 'LESS_THAN', '200'), /^0\.target/],
    [of('STATUS_CODE', 'GREATER_THAN', '999'), /^0\.target/],
    [of('STATUS_CODE', 'CONTAINS', '5xx'), /^0\.target/],
    [of('STATUS_CODE', 'HAS_KEY', '200'), /^0\.comparison must be another one: HAS_KEY fails/],
    [of('STATUS_CODE', 'IS_NULL'), /^0\.comparison/],
    [of('STATUS_CODE', 'IS_EMPTY'), /^0\.comparison/],
    [of('STATUS_CODE', 'EQUALS', 'ok', { regex: '^.' }), /^0\.target/],
    [of('RESPONSE_TIME', 'LESS_THAN', '0'), /^0\.target/],
    [of('RESPONSE_TIME', 'EQUALS', '-1'), /^0\.target/],
    [of('RESPONSE_TIME', 'CONTAINS', 'ms'), /^0\.target/],
    [of('RESPONSE_TIME', 'IS_EMPTY'), /^0\.comparison/],
    [of('LATENCY', 'LESS_THAN', '-5', { property: 'avg' }), /^0\.target/],
    [
      of('LATENCY', 'GREATER_THAN', 'abc', { property: 'avg', regex: 'x' }),
      /^0\.target must be a n/,
    ],
    [of('LATENCY', 'HAS_KEY', 'avg', { property: 'avg' }), /^0\.comparison/],
    [of('CERTIFICATE', 'GREATER_THAN', 'soon', { property: 'daysRemaining' }), /"30"$/],
    [of('CERTIFICATE', 'EQUALS', '1.5', { property: 'daysRemaining' }), /^0\.target/],
    [of('CERTIFICATE', 'LESS_THAN', '1', { property: 'keyBits' }), /^0\.target/],
    [of('CERTIFICATE', 'EQUALS', 'TLS 1.3', { property: 'protocol' }), /TLSv1\.2 or TLSv1\.3/],
    [of('CERTIFICATE', 'EQUALS', 'yes', { property: 'authorized' }), /true or false$/],
    [of('CERTIFICATE', 'EQUALS', 'a.test', { property: 'subjectAltNames' }), /list of names$/],
    [of('CERTIFICATE', 'IS_NULL', '', { property: 'issuer' }), /^0\.comparison/],
    [of('RESPONSE_CODE', 'EQUALS', 'noerror'), /^0\.target .*NOERROR, FORMERR/],
    [of('RESPONSE_CODE', 'EQUALS', '0'), /^0\.target/],
    [of('RESPONSE_CODE', 'CONTAINS', 'nx'), /^0\.target/],
    [of('RESPONSE_CODE', 'IS_NULL'), /^0\.comparison/],
    [of('TEXT_BODY', 'IS_NULL'), /^0\.comparison/],
    [of('TEXT_BODY', 'HAS_KEY', 'a'), /^0\.comparison/],
    [of('TEXT_BODY', 'LESS_THAN'), /^0\.target is needed/],
    [of('TEXT_ANSWER', 'HAS_KEY', 'Answer', { property: '.*' }), /^0\.comparison/],
    [of('RESPONSE_DATA', 'IS_NULL'), /^0\.comparison/],
    [of('HEADERS', 'HAS_KEY', 'a', { property: 'vary' }), /^0\.comparison/],
    [
      of('HEADERS', 'EQUALS', 'a', { property: 'x header:' }),
      /^0\.property must be the name of a h/,
    ],
    [of('JSON_BODY', 'LESS_THAN', '', { property: '$.a' }), /^0\.target is needed/],
    [of('IP_ADDRESS', 'EQUALS', '10.0.0.256'), /^0\.target/],
    [of('IP_ADDRESS', 'EQUALS', '2001:DB8::1'), /^0\.target .*shortest form/],
    [of('HTTP_VERSION', 'EQUALS', 'h2'), /^0\.target .*1\.0, 1\.1 or 2/],
    [of('HTTP_VERSION', 'GREATER_THAN', '2'), /^0\.target/],
    [of('JSON_SCHEMA', 'EQUALS', '{"type":"text"}'), /^0\.target .*\/type must be one/],
    [of('JSON_SCHEMA', 'EQUALS', 'false'), /^0\.target must be another one/],
    [of('JSON_ANSWER', 'LESS_THAN', '5'), /^0\.property must be the JSONPath .* \$\.Answer\[0\]/],
    [of('JSON_ANSWER', 'GREATER_THAN', '5', { property: '$' }), /^0\.property/],
    [of('JSON_ANSWER', 'EQUALS', '[1]'), /^0\.property/],
    [of('JSON_RESPONSE', 'IS_EMPTY'), /^0\.property .* \$\.packetLoss/],
    [of('JSON_ANSWER', 'EQUALS', '1', { property: '$.answer[0].data' }), /^0\.property must begin/],
    [of('JSON_RESPONSE', 'NOT_NULL', '', { property: "$['loss']" }), /^0\.property .*packetLoss/],
  ])('%j', (given, problem) => {
    expect(problemOf(given)).toMatch(problem);
  });
});

describe('a comparison that a response can meet is no problem', () => {
  test.each<[Given]>([
    [of('STATUS_CODE', 'EQUALS', '200')],
    [of('STATUS_CODE', 'EQUALS', '999')],
    [of('STATUS_CODE', 'EQUALS', ' 404.0 ')],
    [of('STATUS_CODE', 'ONE_OF', '404')],
    [of('STATUS_CODE', 'ONE_OF', '100-200, 999')],
    [of('STATUS_CODE', 'GREATER_THAN', '998')],
    [of('STATUS_CODE', 'LESS_THAN', '201')],
    [of('STATUS_CODE', 'CONTAINS', '20')],
    [of('STATUS_CODE', 'NOT_NULL')],
    [of('STATUS_CODE', 'NOT_HAS_KEY', 'a')],
    [of('STATUS_CODE', 'NOT_EQUALS', '1')],
    [of('STATUS_CODE', 'EQUALS', '2', { regex: '^.' })],
    [of('STATUS_CODE', 'IS_NULL', '', { regex: '^5' })],
    [of('RESPONSE_TIME', 'LESS_THAN', '0.5')],
    [of('LATENCY', 'IS_NULL', '', { property: 'stdDev' })],
    [of('CERTIFICATE', 'LESS_THAN', '-1', { property: 'daysRemaining' })],
    [of('CERTIFICATE', 'CONTAINS', 'a.test', { property: 'subjectAltNames' })],
    [of('CERTIFICATE', 'GREATER_THAN', 'TLSv1.2', { property: 'protocol' })],
    [of('RESPONSE_CODE', 'EQUALS', 'NXDOMAIN')],
    [of('RESPONSE_CODE', 'EQUALS', 'RCODE12')],
    [of('RESPONSE_CODE', 'EQUALS', 'anything', { regex: '.' })],
    [of('TEXT_BODY', 'GREATER_THAN', '2026-01-01', { property: 'released (.*)' })],
    [of('TEXT_BODY', 'IS_NULL', '', { property: 'Exception' })],
    [of('HEADERS', 'LESS_THAN', 'v2', { property: ' X-Version ' })],
    [of('HEADERS', 'IS_NULL', '', { property: 'x header:' })],
    [of('HEADERS', 'NOT_CONTAINS', 'a', { property: 'x header:' })],
    [of('JSON_BODY', 'GREATER_THAN', 'v1', { property: '$.version' })],
    [of('IP_ADDRESS', 'EQUALS', '2001:db8::1')],
    [of('IP_ADDRESS', 'NOT_EQUALS', 'anything')],
    [of('IP_ADDRESS', 'CONTAINS', '10.')],
    [of('IP_ADDRESS', 'EQUALS', '10', { regex: '^(\\d+)\\.' })],
    [of('HTTP_VERSION', 'EQUALS', '2')],
    [of('HTTP_VERSION', 'GREATER_THAN', '1.1')],
    [of('JSON_SCHEMA', 'EQUALS', '{"type":"object"}')],
    [of('JSON_SCHEMA', 'NOT_EQUALS', 'false', { property: '$.error' })],
    [of('JSON_BODY', 'IS_NULL')],
    [of('JSON_BODY', 'LESS_THAN', '5')],
    [of('JSON_ANSWER', 'HAS_KEY', 'Answer')],
    [of('JSON_ANSWER', 'EQUALS', '192.0.2.1', { property: '$.Answer[0].data' })],
    [of('JSON_ANSWER', 'EQUALS', '192.0.2.1', { property: '$..data' })],
    [of('JSON_ANSWER', 'IS_NULL', '', { property: '$.Authority' })],
    [of('JSON_RESPONSE', 'LESS_THAN', '1', { property: '$.packetLoss' })],
  ])('%j', (given) => {
    expect(problemOf(given)).toBeNull();
  });

  test('also if its target has a variable, as its value is unknown', () => {
    expect(problemOf(of('RESPONSE_CODE', 'EQUALS', '{{CODE}}'))).toBeNull();
    expect(problemOf(of('STATUS_CODE', 'CONTAINS', '{{ CODE }}'))).toBeNull();
    expect(problemOf(of('STATUS_CODE', 'HAS_KEY', '{{CODE}}'))).not.toBeNull();
  });
});

test('problems name the position of their assertion, and skip those that are not judged', () => {
  const good = assertionOf(of('STATUS_CODE', 'EQUALS', '200'));
  const bad = assertionOf(of('STATUS_CODE', 'IS_NULL'));
  const problems = assertionProblems([good, null, bad, good, bad]);
  expect(problems.map(({ path }) => path)).toEqual([
    [2, 'comparison'],
    [4, 'comparison'],
  ]);
});

describe('for any assertion that the schema accepts', () => {
  const targets = fc.oneof(
    fc.constantFrom(
      '',
      'null',
      '0',
      '200',
      '-1',
      '1e3',
      '{}',
      '[]',
      '{"a":1}',
      'NOERROR',
      'RCODE1',
      '200-299, 404',
      '100-199',
    ),
    fc.integer({ min: -5, max: 1100 }).map(String),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc.string({ maxLength: 8 }),
  );
  const properties = fc.oneof(
    fc.constantFrom(
      '',
      '$',
      '$.Answer',
      '$.Nothing',
      '$.packetLoss',
      '$..x',
      'vary',
      'a b',
      '(\\d)',
    ),
    fc.constantFrom(...LATENCY_PROPERTIES),
    fc.constantFrom(...CERTIFICATE_PROPERTIES),
  );
  const assertions = fc
    .constantFrom(...RUNNABLE_CHECK_TYPES)
    .chain((type) =>
      fc.record({
        type: fc.constant(type),
        assertion: fc.record({
          source: fc.constantFrom<AssertionSource>(...ASSERTION_SOURCES[type]),
          property: properties,
          comparison: fc.constantFrom(...COMPARISONS),
          target: targets,
          regex: fc.constantFrom(null, null, '', '\\d', '(x)?', 'O.*'),
        }),
      }),
    )
    .filter(
      ({ type, assertion }) =>
        CHECK_SHAPES[type].shape.request.shape.assertions.safeParse([assertion]).success,
    );

  const numbers = fc.double({ min: 0, max: 40_000, noNaN: true });
  const texts = fc.oneof(fc.constantFrom('', 'null', '200', 'NOERROR', 'x'), fc.string());
  const latency = fc.record({
    avg: fc.option(numbers),
    min: fc.option(numbers),
    max: fc.option(numbers),
    stdDev: fc.option(numbers),
  });
  const tls: fc.Arbitrary<TlsFacts> = fc.record({
    protocol: fc.constantFrom('TLSv1', 'TLSv1.2', 'TLSv1.3', null),
    cipher: fc.option(texts),
    alpnProtocol: fc.option(texts),
    authorized: fc.boolean(),
    certificate: fc.record({
      subject: texts,
      issuer: texts,
      subjectAltNames: fc.array(texts),
      validFrom: texts,
      validTo: texts,
      daysRemaining: fc.integer({ min: -10_000, max: 10_000 }),
      serialNumber: texts,
      fingerprint256: texts,
      keyType: texts,
      keyBits: fc.option(fc.integer({ min: 1, max: 16_384 }), { nil: null }),
    }),
  });
  const json = fc.jsonValue({ maxDepth: 2 });
  const DNS = ['Status', 'AA', 'TC', 'RD', 'RA', 'AD', 'CD', 'Question', 'Answer', 'Authority'];
  const textValue = (text: string): SourceValue => ({ kind: 'text', text });
  const valueIn = (source: AssertionSource): fc.Arbitrary<SourceValue> => {
    switch (source) {
      case 'STATUS_CODE':
        return fc.integer({ min: 200, max: 999 }).map((value) => ({ kind: 'number', value }));
      case 'RESPONSE_TIME':
        return numbers.map((value) => ({ kind: 'number', value }));
      case 'LATENCY':
        return latency.map((value) => ({ kind: 'json', value }));
      case 'CERTIFICATE':
        return tls.map((facts) => ({ kind: 'tls', facts }));
      case 'RESPONSE_CODE':
        return fc.nat({ max: 4095 }).map((code) => ({ kind: 'text', text: rcodeName(code) }));
      case 'HEADERS':
        return texts.map((text) => ({ kind: 'headers', headers: { vary: text } }));
      case 'IP_ADDRESS':
        return fc.oneof(fc.ipV4(), fc.constantFrom('::1', '2001:db8::1')).map(textValue);
      case 'HTTP_VERSION':
        return fc.constantFrom('1.0', '1.1', '2').map(textValue);
      case 'JSON_BODY':
      case 'JSON_SCHEMA':
        return json.map((value) => ({ kind: 'json-text', text: JSON.stringify(value) }));
      case 'JSON_ANSWER':
        return fc
          .record(Object.fromEntries(DNS.map((field) => [field, json])))
          .map((value) => ({ kind: 'json', value }));
      case 'JSON_RESPONSE':
        return fc
          .record({ packetLoss: numbers, latency, hostname: texts })
          .map((value) => ({ kind: 'json', value }));
      default:
        return texts.map(textValue);
    }
  };

  test('a problem means that it fails for every value of its source', () => {
    const cases = assertions.chain(({ assertion }) =>
      fc.record({ assertion: fc.constant(assertion), value: valueIn(assertion.source) }),
    );
    let refused = 0;
    fc.assert(
      fc.property(cases, ({ assertion, value }) => {
        const [problem] = assertionProblems([assertion]);
        // The order of texts may hold, but means nothing for numbers.
        const isOrder = ['GREATER_THAN', 'LESS_THAN'].includes(assertion.comparison);
        if (problem === undefined || (isOrder && /a number/.test(problem.message))) return;
        refused += 1;
        const input = assertionInput(assertion, value);
        expect(evaluateAssertion(assertion, input, parseJson).error).not.toBeNull();
      }),
      { numRuns: caseCount(3000) },
    );
    expect(refused).toBeGreaterThan(caseCount(300));
  });
});
