import fc from 'fast-check';
import { expect } from 'vitest';
import { FileProblemsError } from '../../../../../src/agent/source/common/file-problem.ts';
import {
  type CheckFile,
  parseCheckFile,
} from '../../../../../src/agent/source/file/parse-check-file.ts';

const value = fc.constantFrom<unknown>(
  ...[0, -0, 1, 5, 10, 1000, '1', '', 'a', null, true, false, [], ['a'], {}, 'http://a/', 'h'],
  ...['IPv4', 'IPv6', 'GET', 'TCP', 'URL', 'é', '\0', '__proto__', undefined],
);
const field = fc.constantFrom(
  ...['name', 'frequency', 'frequencyOffset', 'tags', 'activated', 'degradedResponseTime'],
  ...['maxResponseTime', 'groupId', 'doubleCheck', '__proto__', 'constructor', 'other'],
);
const requestField = fc.constantFrom(
  ...['url', 'hostname', 'port', 'ipFamily', 'method', 'skipSSL', 'query', 'assertions', 'headers'],
  ...['__proto__', 'nameServer', 'recordType', 'other'],
);

const base = fc.constantFrom(
  { checkType: 'URL', request: { url: 'http://127.0.0.1/' } },
  { checkType: 'API', request: { url: 'http://127.0.0.1/', method: 'POST', headers: [] } },
  { checkType: 'TCP', request: { hostname: 'h', port: 1 } },
  { checkType: 'DNS', request: { query: 'a.test', nameServer: '127.0.0.1' } },
  { checkType: 'ICMP', request: { hostname: 'h' } },
);

const variation = fc.record({
  own: fc.option(fc.tuple(field, value)),
  request: fc.option(fc.tuple(requestField, value)),
});

/** Entries of `checks`, most of them with one or two differing fields. */
export const alikeChecks: fc.Arbitrary<readonly unknown[]> = fc
  .tuple(fc.array(base, { minLength: 1, maxLength: 2 }), fc.array(variation, { maxLength: 4 }))
  .map(([bases, variations]) => {
    const all = [{ own: null, request: null }, ...variations, { own: null, request: null }];
    return all.flatMap(({ own, request }, index) =>
      bases.map((check, number) => ({
        id: `c-${index}-${number}`,
        ...check,
        ...fieldOf(own),
        request: { ...check.request, ...fieldOf(request) },
      })),
    );
  });

function fieldOf(given: readonly [string, unknown] | null): object {
  return given === null ? {} : Object.fromEntries([given]);
}

/** Checks in one file are read, or refused, like each of them alone. */
export async function expectEachAsAlone(entries: readonly unknown[]): Promise<string> {
  const alone = await Promise.all(entries.map((entry) => readChecks([entry])));
  const together = await readChecks(entries);
  const wrong = alone.filter((each) => each instanceof FileProblemsError).length;
  if (together instanceof FileProblemsError) {
    expect(wrong, 'wrong ones').toBeGreaterThan(0);
    const { problems, omitted } = together;
    const named = new Set(problems.map(({ path }) => /^checks\[\d+\]/.exec(path)?.[0]));
    if (omitted === 0) expect(named.size, 'checks with problems').toBe(wrong);
    return 'some refused';
  }
  expect(wrong, 'wrong ones').toBe(0);
  expect(together.checks).toEqual(alone.flatMap((each) => (each as CheckFile).checks));
  return 'all valid';
}

async function readChecks(entries: readonly unknown[]): Promise<CheckFile | FileProblemsError> {
  try {
    return await parseCheckFile(JSON.stringify({ checks: entries }), 'f.yaml');
  } catch (thrown) {
    if (thrown instanceof FileProblemsError) return thrown;
    throw thrown;
  }
}
