import { describe, expect, it } from 'vitest';
import { parseYaml } from '../../../../../../src/agent/source/file/document/parse-yaml.ts';
import { plainWords } from '../../../../../../src/agent/source/file/document/plain-yaml-messages.ts';

const codesIn = (text: string): readonly string[] =>
  parseYaml(text).problems.map(({ code }) => code);

describe('parsing YAML with a problem at every character', () => {
  it.each([
    ['closing brackets', '}'.repeat(20_000)],
    ['commas', `[${','.repeat(20_000)}`],
    ['escapes', `a: "${'\\q'.repeat(20_000)}"`],
    ['anchors', `a: ${'&b '.repeat(20_000)}`],
    ['ends of documents', '...\n---\n'.repeat(20_000)],
  ])('stops after a thousand %s', (_name, text) => {
    const { contents, problems } = parseYaml(text);
    expect(problems.length).toBeGreaterThan(0);
    expect(problems.length).toBeLessThanOrEqual(1_000);
    expect(new Set(problems.map(({ offset }) => offset)).size).toBe(problems.length);
    if (problems.length === 1_000) expect(contents).toBeNull();
  });

  it('reports each problem up to there', () => {
    expect(codesIn('a: "\\q\\w"\nb: "\\y"')).toEqual(Array(3).fill('BAD_DQ_ESCAPE'));
    expect(codesIn('[1,,,]')).toEqual(Array(2).fill('UNEXPECTED_TOKEN'));
  });
});

describe('a YAML string that is longer than any field may be', () => {
  it.each([
    ['in quotes', (text: string) => `a: "${text}"`, 3],
    ['plain', (text: string) => `a: ${text}`, 3],
    ['in a block', (text: string) => `a: |\n  ${text}\n`, 5],
    ['in a comment', (text: string) => `#${text}`, 0],
  ])('is refused where it starts, %s', (_name, write, offset) => {
    expect(parseYaml(write('x'.repeat(1_000_000))).problems).toEqual([]);
    expect(parseYaml(write('x'.repeat(4 * 1024 * 1024 + 1))).problems).toMatchObject([
      { code: 'TOO_LONG_PIECE', offset },
    ]);
  });
});

describe('text that the YAML library quotes in a message', () => {
  it.each([
    ['an escape that is none', 'value: "ab\\upassw0rd"'],
    ['an escape of another language', 'value: "ab\\U{passw0rd}"'],
    ['a directive', '%passw0rd x\n---\na: 1'],
    ['the head of a block', 'value: |passw0rd\n  a'],
    ['a tag', 'value: !passw0rd a'],
  ])('is not shown, as it may be a secret: %s', (_name, text) => {
    const shown = parseYaml(text).problems.map(plainWords).join('\n');
    expect(shown.length).toBeGreaterThan(20);
    expect(shown).not.toMatch(/pass|w0rd/);
  });
});
