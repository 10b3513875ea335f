import { describe, expect, it } from 'vitest';
import { type Block, blocksOf, plainText, sectionsOf } from '../../../src/handbook/markdown.ts';

function blocks(text: string): readonly Block[] {
  const [{ tokens } = { tokens: [] }] = sectionsOf(`# Title\n\n${text}`);
  return blocksOf(tokens, {
    resolve: (href) => (href === 'nowhere' ? null : { kind: 'outside', url: href }),
    anchorFor: (name) => name,
  });
}

describe('the sections of a document', () => {
  it('begin at headings of every level, and not at a # inside code', () => {
    const text = 'lost\n\n# One\n\na\n\n## `Two`\n\n```sh\n# no heading\n```\n\n### Three\n';
    expect(
      sectionsOf(text).map(({ level, source, tokens }) => [level, source, tokens.length]),
    ).toEqual([
      [1, 'One', 1],
      [2, '`Two`', 1],
      [3, 'Three', 0],
    ]);
  });
});

describe('the blocks of a section', () => {
  it('are paragraphs with code, bold text and links, without line breaks', () => {
    expect(blocks('A **bold\nword**, `co\nde` and [a *link*](there).')).toEqual([
      {
        kind: 'paragraph',
        inlines: [
          { kind: 'text', text: 'A ' },
          { kind: 'strong', children: [{ kind: 'text', text: 'bold word' }] },
          { kind: 'text', text: ', ' },
          { kind: 'code', text: 'co de' },
          { kind: 'text', text: ' and ' },
          {
            kind: 'link',
            target: { kind: 'outside', url: 'there' },
            children: [
              { kind: 'text', text: 'a ' },
              { kind: 'emphasis', children: [{ kind: 'text', text: 'link' }] },
            ],
          },
          { kind: 'text', text: '.' },
        ],
      },
    ]);
  });

  it('are lists in lists, quotes, and code as it stands', () => {
    expect(blocks('1. one\n   - two\n\n> said\n\n```\n  <b>\n```\n')).toMatchObject([
      {
        kind: 'list',
        ordered: true,
        items: [[{ kind: 'paragraph' }, { kind: 'list', ordered: false }]],
      },
      { kind: 'quote', blocks: [{ kind: 'paragraph' }] },
      { kind: 'code', text: '  <b>' },
    ]);
  });

  it('are tables whose rows have an anchor where they define a name', () => {
    const [table] = blocks(
      '| A | B |\n| --- | --- |\n| `PORT` | `a\\|b` |\n| `two words` | x |\n| one | `y` |',
    );
    expect(table).toMatchObject({
      kind: 'table',
      rows: [{ anchor: 'PORT' }, { anchor: null }, { anchor: null }],
    });
    expect(table?.kind === 'table' && plainText(table.rows[0]?.cells[1] ?? [])).toBe('a|b');
  });

  it('have a link without a target as its text', () => {
    expect(blocks('[the **code**](nowhere)')).toEqual([
      {
        kind: 'paragraph',
        inlines: [
          { kind: 'text', text: 'the ' },
          { kind: 'strong', children: [{ kind: 'text', text: 'code' }] },
        ],
      },
    ]);
  });

  it('have HTML as text, comments not at all, and pictures as their description', () => {
    expect(
      blocks('<!-- command: x -->\n\n<script>alert(1)</script>\n\na <b> ![the page](x.png)'),
    ).toEqual([
      { kind: 'paragraph', inlines: [{ kind: 'text', text: '<script>alert(1)</script>' }] },
      {
        kind: 'paragraph',
        inlines: [
          { kind: 'text', text: 'a ' },
          { kind: 'text', text: '<b>' },
          { kind: 'text', text: ' ' },
          { kind: 'text', text: 'the page' },
        ],
      },
    ]);
  });

  it('do not leave out what the handbook does not know', () => {
    expect(() => blocks('a ~~struck~~ word')).toThrow('of the kind del');
  });
});
