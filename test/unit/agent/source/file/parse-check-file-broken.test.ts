import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FileProblemsError } from '../../../../../src/agent/source/common/file-problem.ts';
import { parseCheckFile } from '../../../../../src/agent/source/file/parse-check-file.ts';
import { caseCount } from '../../../../support/nightly.ts';

const CHECK = {
  id: 'a',
  checkType: 'API',
  retryStrategy: { type: 'FIXED', maxRetries: 1 },
  request: {
    url: 'http://localhost/',
    headers: [{ key: 'accept', value: 's3cret' }],
    assertions: [{ source: 'JSON_BODY', property: '$.a', comparison: 'EQUALS', target: 'b' }],
  },
};
const VALID = [
  readFileSync('vedette.yaml', 'utf8'),
  JSON.stringify({ defaults: { frequency: 1, request: { ipFamily: 'IPv4' } }, checks: [CHECK] }),
];

/** Texts that break YAML, JSON, JavaScript's objects and terminals, in that order. */
const FRAGMENTS = [
  ...[
    '\n',
    '\t',
    '  ',
    ': ',
    '- ',
    '? ',
    '&a ',
    '*a',
    '!x ',
    '!!str ',
    '|',
    '>-\n',
    '#',
    '%YAML 1.1\n',
  ],
  ...[
    '---\n',
    '...\n',
    '<<: ',
    '@',
    '`',
    '[',
    ']',
    '{',
    '}',
    '"',
    "'",
    ',',
    '\\u00',
    '1e999',
    'null',
  ],
  ...['__proto__: ', 'constructor: ', 'toString', 'hasOwnProperty: 1', 'valueOf: {}'],
  ...['\0', '\u001b[2J', '\u009b', '\u2028', '\ufeff', '\r\n', '\ud800', '\u{1f600}'],
  ...['['.repeat(100), '? '.repeat(2000), 'x'.repeat(5000)],
];

const place = fc.double({ min: 0, max: 1, noNaN: true });
const mutation = fc.oneof(
  fc.record({
    kind: fc.constant('insert' as const),
    at: place,
    text: fc.constantFrom(...FRAGMENTS),
  }),
  fc.record({
    kind: fc.constant('insert' as const),
    at: place,
    text: fc.string({ unit: 'binary' }),
  }),
  fc.record({ kind: fc.constant('delete' as const), at: place, length: fc.nat(40) }),
  fc.record({ kind: fc.constant('copy' as const), at: place, from: place, length: fc.nat(200) }),
  fc.record({ kind: fc.constant('truncate' as const), at: place }),
);
type Mutation = typeof mutation extends fc.Arbitrary<infer T> ? T : never;

function mutated(text: string, change: Mutation): string {
  const at = Math.floor(change.at * text.length);
  const before = text.slice(0, at);
  switch (change.kind) {
    case 'insert':
      return before + change.text + text.slice(at);
    case 'delete':
      return before + text.slice(at + change.length);
    case 'copy': {
      const from = Math.floor(change.from * text.length);
      return before + text.slice(from, from + change.length) + text.slice(at);
    }
    case 'truncate':
      return before;
  }
}

describe('a randomly broken check file', () => {
  it('is accepted, or rejected with messages that name the line and the problem', async () => {
    const changes = fc.array(mutation, { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...VALID), changes, async (valid, list) => {
        const text = list.reduce(mutated, valid);
        const thrown: unknown = await parseCheckFile(text, 'f.yaml').then(
          () => null,
          (error: unknown) => error,
        );
        if (thrown === null) return;
        if (!(thrown instanceof FileProblemsError)) throw thrown;
        expect(thrown.kind).toBe('input');
        expect(thrown.lines().length).toBeGreaterThan(0);
        for (const line of thrown.lines()) {
          expect(line).toMatch(/^f\.yaml:( and \d+ more|\d+:\d+: .{5,})$/su);
          expect(line).not.toMatch(/undefined|\[object|\n/);
          // A long name or value must not fill the screen; the longest list of what is allowed may.
          expect(line.length).toBeLessThan(1200);
        }
        const lines = text.split('\n');
        for (const { line, column } of thrown.problems) {
          expect(line).toBeLessThanOrEqual(lines.length);
          expect(column).toBeLessThanOrEqual((lines[line - 1]?.length ?? 0) + 1);
        }
      }),
      { numRuns: caseCount(400) },
    );
  });
});
