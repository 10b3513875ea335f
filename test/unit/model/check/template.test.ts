import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compileTemplate,
  fillTemplate,
  namesIn,
  type Placeholder,
} from '../../../../src/model/check/template.ts';

const LONGEST = 'N'.repeat(255);
const filledWith = (text: string, values: Readonly<Record<string, string>>): string | null =>
  fillTemplate(compileTemplate(text) ?? [], ({ name }) => values[name] ?? '?');

describe('a template', () => {
  it.each<[string, readonly (string | Placeholder)[]]>([
    ['{{A}}', [{ name: 'A', isRaw: false }]],
    ['{{{A}}}', [{ name: 'A', isRaw: true }]],
    ['{{ A }}', [{ name: 'A', isRaw: false }]],
    ['{{{\t_a9 }}}', [{ name: '_a9', isRaw: true }]],
    ['a{{B}}c', ['a', { name: 'B', isRaw: false }, 'c']],
    [
      '{{A}}{{{B}}}',
      [
        { name: 'A', isRaw: false },
        { name: 'B', isRaw: true },
      ],
    ],
    // As in JSON, where braces end what is around.
    ['{"a":{{A}}}', ['{"a":', { name: 'A', isRaw: false }, '}']],
    ['{{{A}}', ['{', { name: 'A', isRaw: false }]],
    ['{{{{A}}}}', ['{', { name: 'A', isRaw: true }, '}']],
    ['{{ {{A}}', ['{{ ', { name: 'A', isRaw: false }]],
    [`{{${LONGEST}}}`, [{ name: LONGEST, isRaw: false }]],
  ])('is recognized in %s', (text, parts) => {
    expect(compileTemplate(text)).toEqual(parts);
  });

  it.each([
    '',
    'plain',
    '{A}',
    '{{',
    '}}',
    '{{}}',
    '{{ }}',
    '{{A}',
    '{{1A}}',
    '{{A-B}}',
    '{{A B}}',
    '{{A.B}}',
    '{{$RANDOM}}',
    '{{ä}}',
    '{{A\n}}',
    '{{\u00a0A}}',
    `{{${LONGEST}N}}`,
  ])('is not recognized in %j', (text) => {
    expect(compileTemplate(text)).toBeNull();
    expect(namesIn(text)).toEqual([]);
  });

  it('names each of its variables once, in order', () => {
    expect(namesIn('{{B}}/{{{A}}}/{{B}}')).toEqual(['B', 'A']);
  });

  it('keeps every character outside of placeholders, whatever the text', () => {
    const words = ['{', '}', '{{', '}}', '{{{', '}}}', 'A', '9', '{{A}}', '{{{B1}}}', 'ä', '\n'];
    const written = (part: string | Placeholder): string => {
      if (typeof part === 'string') return part;
      return part.isRaw ? `{{{${part.name}}}}` : `{{${part.name}}}`;
    };
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...words)), (pieces) => {
        const text = pieces.join('');
        expect((compileTemplate(text) ?? [text]).map(written).join('')).toBe(text);
      }),
    );
  });

  it('is parsed in linear time', () => {
    const many = 200_000;
    const hostile = [
      '{'.repeat(many),
      '{{A'.repeat(many),
      `{{${' '.repeat(many)}`,
      `{{A${' '.repeat(many)}`,
      '{{ '.repeat(many),
      `{{${'A'.repeat(many)}`,
      `{{${' A'.repeat(many)}}}`,
    ];
    for (const text of hostile) expect(namesIn(text)).toEqual([]);
  });
});

describe('filling in a template', () => {
  it('does not treat a value as a template', () => {
    expect(filledWith('{{A}}{{B}}', { A: '{{B}}', B: '{{{A}}}' })).toBe('{{B}}{{{A}}}');
    expect(filledWith('{{A}}{B}}', { A: '{', B: 'x' })).toBe('{{B}}');
  });

  it('stops before the text becomes too long', () => {
    const template = compileTemplate('{{A}}'.repeat(100_000)) ?? [];
    let asked = 0;
    const filled = fillTemplate(
      template,
      () => {
        asked += 1;
        return 'x'.repeat(1000);
      },
      10_000,
    );
    expect(filled).toBeNull();
    expect(asked).toBe(11);
  });
});
