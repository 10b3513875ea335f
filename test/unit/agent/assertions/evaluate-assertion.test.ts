import { describe, expect, test } from 'vitest';
import {
  assertionInput,
  type SourceValue,
} from '../../../../src/agent/assertions/assertion-sources.ts';
import {
  evaluateAssertion,
  parseJson,
  shownOutcome,
  withoutResponse,
} from '../../../../src/agent/assertions/evaluate-assertion.ts';
import type { Assertion } from '../../../../src/model/check/assertions/assertion.ts';

type Given = Partial<Assertion> & Pick<Assertion, 'source'>;

function assertionOf(given: Given): Assertion {
  return { property: '', comparison: 'EQUALS', target: '', regex: null, ...given };
}

function outcome(given: Given, source: SourceValue) {
  const assertion = assertionOf(given);
  return shownOutcome(
    evaluateAssertion(assertion, assertionInput(assertion, source), parseJson),
    (text) => text,
  );
}

const text = (text: string): SourceValue => ({ kind: 'text', text });
const body = (text: string): SourceValue => ({ kind: 'json-text', text });

describe('the value that an assertion compares', () => {
  test('is a number for statuses and times', () => {
    const status: SourceValue = { kind: 'number', value: 503 };
    expect(outcome({ source: 'STATUS_CODE', target: '503' }, status)).toEqual({
      actual: '503',
      error: null,
    });
    expect(outcome({ source: 'STATUS_CODE', target: '200' }, status)).toEqual({
      actual: '503',
      error: 'expected the status code to equal 200, but it was 503',
    });
    expect(outcome({ source: 'STATUS_CODE', target: '5', regex: '^(.)' }, status).error).toBeNull();
    const time: SourceValue = { kind: 'number', value: 12.345 };
    const slow = { source: 'RESPONSE_TIME', comparison: 'LESS_THAN', target: '10' } as const;
    expect(outcome(slow, time).error).toBe(
      'expected the response time in ms to be less than 10, but it was 12.345',
    );
  });

  test('is the response code, whatever the property is, or a part of it by `regex`', () => {
    const code = text('NOERROR');
    const named = { source: 'RESPONSE_CODE', property: 'status', target: 'NOERROR' } as const;
    expect(outcome(named, code)).toEqual({ actual: 'NOERROR', error: null });
    const part = { source: 'RESPONSE_CODE', regex: '^NO(.*)', target: 'ERROR' } as const;
    expect(outcome(part, code)).toEqual({ actual: 'ERROR', error: null });
  });

  test('is a header by its name in any case, whole or by a regular expression', () => {
    const headers: SourceValue = {
      kind: 'headers',
      headers: { 'content-type': 'text/html; charset=utf-8', vary: ['a', 'b'], 'x-empty': '' },
    };
    const of = (property: string, target: string, regex: string | null = null) =>
      outcome({ source: 'HEADERS', property, target, regex }, headers);
    expect(of('Content-Type', 'text/html; charset=utf-8').error).toBeNull();
    expect(of('content-TYPE', 'utf-8', 'charset=(.*)').error).toBeNull();
    expect(of('vary', 'a, b').error).toBeNull();
    expect(of('x-empty', '').error).toBeNull();
    expect(of('x-none', 'x')).toEqual({
      actual: null,
      error: 'expected the header x-none to equal "x", but it was null',
    });
    expect(of('toString', 'x').actual).toBeNull();
    expect(of('content-type', 'x', 'charset:(.*)').error).toBe(
      'expected the match of "charset:(.*)" in the header content-type to equal "x", but it was null (no match)',
    );
    expect(of('content-type', 'x', 'charset=(.*)').error).toBe(
      'expected the match of "charset=(.*)" in the header content-type to equal "x", but it was "utf-8"',
    );
  });

  test('includes a header with credentials, which is not shown', () => {
    const headers: SourceValue = { kind: 'headers', headers: { 'set-cookie': ['sid=s3cret; x'] } };
    for (const regex of [null, 'sid=(\\w+)']) {
      const result = outcome(
        { source: 'HEADERS', property: 'Set-Cookie', target: 'other', regex },
        headers,
      );
      expect(result.actual).toBe('********');
      expect(result.error).toContain('but it was "********"');
      expect(JSON.stringify(result)).not.toContain('s3cret');
    }
    const passing = outcome(
      { source: 'HEADERS', property: 'Set-Cookie', comparison: 'CONTAINS', target: 's3cret' },
      headers,
    );
    expect(passing).toEqual({ actual: '********', error: null });
  });

  test('is the latency that the property names', () => {
    const latency: SourceValue = { kind: 'json', value: { avg: 1.5, min: null } };
    expect(
      outcome({ source: 'LATENCY', property: 'avg', target: '1.5' }, latency).error,
    ).toBeNull();
    expect(outcome({ source: 'LATENCY', property: 'min', target: '1' }, latency)).toEqual({
      actual: null,
      error: 'expected the min latency in ms to equal 1, but it was null',
    });
    expect(outcome({ source: 'LATENCY', property: 'toString' }, latency).actual).toBeNull();
  });

  test.each<[string, string | null, string | null]>([
    ['', null, 'id=17; id=18'],
    ['id=(\\d+)', null, '17'],
    ['', 'id=\\d+', 'id=17'],
    ['id=17', 'id=(\\d)(\\d)', '1'],
    ['', '', 'id=17; id=18'],
    ['nothing', null, null],
    ['(no)?id', null, null],
    ['i(d)', null, 'd'],
    ['(?i)ID=(\\d+)', null, '17'],
    ['', '(?i)ID=18$', 'id=18'],
  ])('is for property %j and regex %j the text %j', (property, regex, actual) => {
    const result = outcome({ source: 'TEXT_BODY', property, regex }, text('id=17; id=18'));
    expect(result.actual).toBe(actual);
  });

  test('is missing if the regular expression is invalid, and the error says so', () => {
    const result = outcome({ source: 'TEXT_BODY', property: 'a(b' }, text('ab'));
    expect(result.error).toContain('the regular expression "a(b" is not valid');
  });
});

describe('JSON', () => {
  const document = JSON.stringify({
    ok: true,
    items: [{ id: 1 }, { id: 2 }, { id: 3 }],
    'a.b': { "it's": 'x' },
    none: null,
    empty: [],
  });

  test.each<[string, string, string | null]>([
    ['$.ok', 'true', 'true'],
    ['$.items[1].id', '2', '2'],
    ['$.items[-1].id', '3', '3'],
    ["$['a.b']['it\\'s']", 'x', 'x'],
    ['$.none', 'null', null],
    ['$.items[?@.id==2]', '{"id":2}', '{"id":2}'],
    ['', document, document],
    ['$', document, document],
  ])('%s', (property, target, actual) => {
    expect(outcome({ source: 'JSON_BODY', property, target }, body(document))).toEqual({
      actual,
      error: null,
    });
  });

  test('several matches must all hold; the first that does not is named', () => {
    const ids = { source: 'JSON_BODY', property: '$.items[*].id' } as const;
    expect(outcome({ ...ids, comparison: 'LESS_THAN', target: '4' }, body(document))).toEqual({
      actual: '[1,2,3]',
      error: null,
    });
    expect(outcome({ ...ids, comparison: 'LESS_THAN', target: '3' }, body(document))).toEqual({
      actual: '3',
      error: 'expected $.items[*].id of the body to be less than 3, but it was 3 (match 3)',
    });
  });

  test('no match is null', () => {
    const none = { source: 'JSON_BODY', property: '$.missing[*].x' } as const;
    expect(outcome({ ...none, comparison: 'IS_NULL' }, body(document)).error).toBeNull();
    expect(outcome({ ...none, target: '1' }, body(document)).error).toBe(
      'expected $.missing[*].x of the body to equal 1, but it was null (no match)',
    );
  });

  test.each(['$.__proto__', '$.constructor', '$.items.length', '$["toString"]', '$.ok.length'])(
    '%s reaches nothing that is not in the document',
    (property) => {
      expect(outcome({ source: 'JSON_BODY', property }, body(document)).actual).toBeNull();
    },
  );

  test('__proto__ in a document is data and changes nothing', () => {
    const hostile = body('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');
    const result = outcome(
      { source: 'JSON_BODY', property: '$.__proto__.polluted', target: '1' },
      hostile,
    );
    expect(result.error).toBeNull();
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test('a body that is not JSON is reported on one line, with what came', () => {
    const result = outcome({ source: 'JSON_BODY', property: '$.a' }, body('<html>\n<body>'));
    expect(result.actual).toBe('<html>\n<body>');
    expect(result.error).toMatch(/^the body is not JSON: .+$/);
    expect(outcome({ source: 'JSON_BODY', property: '$.a' }, body(' \n')).error).toBe(
      'the body is not JSON: it is empty',
    );
  });

  test('a document too deep for the expression is an error, not a crash', () => {
    const deep = body('['.repeat(200_000) + ']'.repeat(200_000));
    const descend = outcome({ source: 'JSON_BODY', property: '$..x' }, deep);
    expect(descend.error).toContain('could not be evaluated');
    const search = { source: 'JSON_BODY', property: '$', comparison: 'NOT_EMPTY' } as const;
    expect(outcome(search, deep).error).toBeNull();
  });
});

test('secrets are masked in what the response contains, and not in what the check contains', () => {
  const mask = (said: string): string => said.replaceAll('guess', '****');
  const told = (given: Given, source: SourceValue) => {
    const assertion = assertionOf(given);
    return shownOutcome(
      evaluateAssertion(assertion, assertionInput(assertion, source), parseJson),
      mask,
    );
  };
  const given = { source: 'TEXT_BODY', target: 'guess' } as const;
  expect(told(given, text('a guess'))).toEqual({
    actual: 'a ****',
    error: 'expected the body to equal "guess", but it was "a ****"',
  });
  expect(told({ source: 'JSON_BODY', target: 'guess' }, body('guess')).error).toMatch(
    /^the body is not JSON: .*\*\*\*\*/,
  );
  expect(told({ source: 'JSON_BODY', property: '$.guess[' }, body('{}')).error).toContain('guess');
  expect(shownOutcome(withoutResponse(assertionOf(given)), mask).error).toContain('"guess"');
  const cut = told({ source: 'TEXT_BODY', target: 'x' }, text(`${'x'.repeat(198)}guess`));
  expect(cut.error).toContain('x*');
  expect(cut.error).not.toContain('g');
});

test('actual is cut at 10 KB, the message much sooner', () => {
  const result = outcome({ source: 'TEXT_BODY', target: 'x' }, text('ä'.repeat(10_000)));
  expect(Buffer.byteLength(result.actual ?? '')).toBe(10_240);
  expect((result.error ?? '').length).toBeLessThan(500);
  const list = JSON.stringify(Array.from({ length: 20_000 }, (_, at) => at));
  const long = outcome({ source: 'JSON_BODY', target: 'x' }, body(list));
  expect(long.actual).toBe(list.slice(0, 10_240));
});

test('without a response every assertion fails with the reason', () => {
  const assertion = assertionOf({ source: 'HEADERS', property: 'etag', comparison: 'IS_NULL' });
  expect(shownOutcome(withoutResponse(assertion), (text) => text)).toEqual({
    actual: null,
    error: 'expected the header etag to be null, but there was no response',
  });
});
