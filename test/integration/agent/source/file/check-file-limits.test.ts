import { describe, expect, it } from 'vitest';
import { MAX_PROBLEMS } from '../../../../../src/agent/source/common/file-problem.ts';
import { problemsOf } from '../../../../support/samples/check-file-problems.ts';

// Apart from the other tests of check files, since these texts are megabytes long.
describe('the text of a check file', () => {
  it('is refused at the start of a string that is longer than any field may be', async () => {
    expect(await problemsOf(`checks: "${'x'.repeat(4 * 1024 * 1024)}"`)).toEqual([
      '1:9: not valid YAML: a text or a comment that starts here is longer than any field takes',
    ]);
  });

  it('is read quickly although one mapping has very many keys', async () => {
    const keys = Array.from({ length: 20_000 }, (_, n) => `k${n}: 1`).join(', ');
    const problems = await problemsOf(`{ ${keys} }`);
    expect(problems).toHaveLength(MAX_PROBLEMS + 1);
    expect(problems.at(-1)).toBe('and at least 10000 more');
  });
});

describe('the checks of a check file', () => {
  it('are refused if defaults or aliases make them too large for memory', async () => {
    const body = 'x'.repeat(1_000_000);
    const request = `{ url: "http://h", bodyType: RAW, body: ${body} }`;
    const checks = Array.from({ length: 300 }, (_, n) => `{ id: c${n}, checkType: API }`);
    const text = `defaults: { request: ${request} }\nchecks: [${checks.join(', ')}]`;
    expect(await problemsOf(text)).toEqual([
      '2:1: checks with their defaults and aliases written out come to more than 256 million characters',
    ]);
  });

  it('are at most 100,000', async () => {
    const problems = await problemsOf(`checks: [${'1,'.repeat(100_001)}]`);
    expect(problems).toEqual(['1:9: checks must have at most 100000 entries, not 100001']);
  });
});
