import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProblemList } from '../../../../../../src/agent/source/common/file-problem.ts';
import { readDocument } from '../../../../../../src/agent/source/file/document/document.ts';
import { readPlainJson } from '../../../../../../src/agent/source/file/document/plain-json.ts';

describe('plain JSON', () => {
  it('is read as the YAML parser reads it', () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }));
    fc.assert(
      fc.property(object, fc.constantFrom('', '  ', '\n'), (given, space) => {
        const text = JSON.stringify(given, null, space);
        const read = readPlainJson(text);
        expect(read).not.toBeNull();
        expect(read?.value).toEqual(readDocument(text, 'JSON', new ProblemList())?.value);
      }),
    );
  });

  it.each([
    ['a key twice', '{"a":1,"a":2}'],
    ['a key twice further down', '{"a":[{"b":{"c":1,"d":2,"c":3}}]}'],
    ['a key twice, once with an escape', '{"a":1,"\\u0061":2}'],
    ['a key twice that ends in a backslash', '{"a\\\\":1,"a\\\\" :2}'],
    ['more depth than is allowed', `{"a":${'['.repeat(60)}${']'.repeat(60)}}`],
    ['a comma too many', '{"a":1,}'],
    ['a comment', '{"a":1} # one'],
    ['YAML in braces', '{a: 1}'],
    ['a list', '[1]'],
    ['nothing', ''],
  ])('is not a text with %s', (_, text) => {
    expect(readPlainJson(text)).toBeNull();
  });

  it('may hold strings that look like keys', () => {
    const given = { a: '"b":1', 'c\\': '\\"d\\": ', 'e":': ':', __proto__: 1, '': [':', '"'] };
    expect(readPlainJson(JSON.stringify(given))?.value).toEqual(JSON.parse(JSON.stringify(given)));
  });

  it('is read quickly if it has a string of a million backslashes', () => {
    const text = JSON.stringify({ a: '\\'.repeat(1_000_000), b: '"'.repeat(1_000_000) });
    expect(readPlainJson(text)).not.toBeNull();
  });
});
