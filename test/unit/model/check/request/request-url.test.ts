import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fillUrl, urlSchema } from '../../../../../src/model/check/request/request-url.ts';
import { compileTemplate } from '../../../../../src/model/check/template.ts';

describe('a url with templates', () => {
  it.each([
    '{{BASE}}',
    '{{BASE}}/path?q={{Q}}',
    '{{{BASE}}}/path',
    '{{{SCHEME}}}://{{HOST}}:{{PORT}}/',
    'http{{{S}}}://a.example/',
    'HTTPS://{{HOST}}/',
    'https:{{{REST}}}',
    'https://{{HOST}}/x',
    'https://{{HOST}}:{{PORT}}/x',
    'https://a.{{TLD}}:{{PORT}}/',
    'https://a.example:80{{DIGITS}}/',
    'https://a.example:{{A}}{{B}}/',
    'https://10.0.0.{{N}}/',
    'https://[{{{ADDRESS}}}]:{{PORT}}/',
    'https://{{USER}}:{{PASSWORD}}@a.example/',
    'https://a.example/{{A}}/{{{B}}}?{{C}}={{D}}#{{E}}',
    `https://a.example/${'{{A}}'.repeat(4)}`,
  ])('is accepted: %s', (url) => {
    expect(urlSchema.parse(url)).toBe(url);
  });

  it.each([
    'ftp://{{HOST}}/',
    '/{{PATH}}',
    'a.example/{{PATH}}',
    'https://a b/{{PATH}}',
    'https:///{{PATH}}',
    'https://a:99999/{{PATH}}',
    'https:/{{HOST}}',
    'https://[{{ADDRESS}}]/',
    'mailto:{{WHO}}',
    'x{{BASE}}/path',
    '{{BASE}} /path',
    'https://a.example:x{{PORT}}/',
  ])('is refused: %s', (url) => {
    const { error } = urlSchema.safeParse(url);
    expect(error?.issues).toEqual([
      expect.objectContaining({
        message: expect.stringMatching(
          /^must be an http or https URL once .*https:\/\/\{\{HOST\}\}/,
        ),
      }),
    ]);
  });

  it('is validated as it is written if it has no template', () => {
    for (const url of ['{{}}', '{{1}}', '{BASE}/path', 'ftp://{{}}/']) {
      expect(urlSchema.safeParse(url).error?.issues[0]?.message).toMatch(/URL, for example/);
    }
    expect(urlSchema.parse('https://a.example/{{$RANDOM}}')).toBe('https://a.example/{{$RANDOM}}');
  });
});

it('a url that is too long is refused only for its length, without further validation', () => {
  // Neither half is a URL: validation of the whole would report that, too.
  const { error } = urlSchema.safeParse('{{A}}:'.repeat(500) + 'ftp://'.repeat(500));
  expect(error?.issues.map(({ code }) => code)).toEqual(['too_big']);
});

describe('a url with values', () => {
  it('encodes a value in two braces in a url, so that it stays one part of it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        const template = compileTemplate('https://a.example/b/{{V}}/c?d={{V}}#{{V}}') ?? [];
        const url = new URL(fillUrl(template, () => value) ?? '');
        const shown = value.toWellFormed();
        expect(url.origin).toBe('https://a.example');
        if (value !== '.' && value !== '..') {
          expect(decodeURIComponent(url.pathname)).toBe(`/b/${shown}/c`);
        }
        expect(url.search.slice(3) === '' ? '' : decodeURIComponent(url.search.slice(3))).toBe(
          shown,
        );
      }),
    );
  });

  it('encodes no value at the start of a url, and none in three braces', () => {
    const fill = (text: string): string | null =>
      fillUrl(compileTemplate(text) ?? [], () => 'https://a/?b=c');
    expect(fill('{{BASE}}&d=1')).toBe('https://a/?b=c&d=1');
    expect(fill('{{{BASE}}}&d=1')).toBe('https://a/?b=c&d=1');
    expect(fill('https://b/{{{BACK}}}')).toBe('https://b/https://a/?b=c');
    expect(fill('https://b/{{BACK}}')).toBe('https://b/https%3A%2F%2Fa%2F%3Fb%3Dc');
  });
});
