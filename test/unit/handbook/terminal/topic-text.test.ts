import { describe, expect, it } from 'vitest';
import { loadHandbook } from '../../../../src/handbook/handbook.ts';
import type { TextStyle } from '../../../../src/handbook/terminal/spans.ts';
import { topicText } from '../../../../src/handbook/terminal/topic-text.ts';
import { handbookOf, topicOf } from '../../../support/handbook.ts';

const same = (text: string): string => text;
const PLAIN: TextStyle = { strong: same, code: same, faint: same, codeMark: '`' };
const MARKED: TextStyle = {
  strong: (text) => `*${text}*`,
  code: (text) => `{${text}}`,
  faint: (text) => `(${text})`,
  codeMark: '',
};

function textOf(markdown: string, width = 40, style = PLAIN): string {
  const topics = [topicOf('guide', ['Guide', 'Part', 'Part `x`']), topicOf('other', ['Other'])];
  const [page] = handbookOf(`# Guide\n\n${markdown}\n\n# Other\n\nx`, topics).pages;
  if (page === undefined) throw new Error('no page');
  return topicText(page, width, style);
}

describe('a topic on a terminal', () => {
  it('has its title, headings at the edge, and text that is wrapped between words', () => {
    expect(textOf('One two three four five six seven eight nine.\n\n## Part\n\nText.')).toBe(
      `Guide

  One two three four five six seven
  eight nine.

Part
  Text.
`,
    );
  });

  it('has code indented and never wrapped, whatever the width', () => {
    const command = `vedette run ${'--check x '.repeat(10)}\\`;
    expect(textOf(`\`\`\`sh\n${command}\n\n  --more\n\`\`\``)).toBe(
      `Guide\n\n      ${command}\n\n        --more\n`,
    );
  });

  it('has lists with their text aligned, and numbers where they have an order', () => {
    expect(
      textOf('- one two three four five six seven eight\n- nine\n\n\n1. first\n2. second'),
    ).toBe(
      `Guide

  - one two three four five six seven
    eight
  - nine

  1. first
  2. second
`,
    );
  });

  it('has empty lines between items that take many lines', () => {
    expect(textOf(`- ${'word '.repeat(20)}\n- two`)).toContain('word\n\n  - two\n');
  });

  it('has tables as columns where they fit', () => {
    expect(textOf('| Path | Answer |\n| --- | --- |\n| `/a` | 200 |\n| /long | – |')).toBe(
      `Guide

  Path   Answer
  -----  ------
  \`/a\`   200
  /long  –
`,
    );
  });

  it('wraps the widest column of a table where the others leave it enough', () => {
    const table = `| A | B |\n| --- | --- |\n| x | ${'word '.repeat(14)} |`;
    expect(textOf(table, 50)).toBe(
      `Guide

  A  B
  -  ---------------------------------------------
  x  word word word word word word word word word
     word word word word word
`,
    );
  });

  it('has tables as lists where their columns do not fit', () => {
    const table = `| Name | Default | Meaning |\n| --- | --- | --- |\n| \`PORT\` | 80 | ${'word '.repeat(8)} |\n| \`HOST\` | – | where |`;
    expect(textOf(table)).toBe(
      `Guide

  PORT
    Default  80
    Meaning  word word word word word
             word word word

  HOST
    Meaning  where
`,
    );
  });

  it('has the titles of a list on lines of their own where the terminal is narrow', () => {
    const [text, other] = ['word '.repeat(8), 'other '.repeat(8)];
    const table = `| Name | Meaning | What to try |\n| --- | --- | --- |\n| \`PORT\` | ${text} | ${other} |`;
    expect(textOf(table)).toBe(
      `Guide

  PORT
    Meaning:
      word word word word word word word
      word
    What to try:
      other other other other other
      other other other
`,
    );
  });

  it('names the command for a link to another topic, and the address of any other', () => {
    expect(
      textOf('See [this](#other), [that](https://example.com/) and [here](#guide).', 100),
    ).toBe('Guide\n\n  See this [vedette help other], that [https://example.com/] and here.\n');
  });

  it('has styles instead of marks where the terminal has colours', () => {
    expect(textOf('A **bold** `code` [link](#other).\n\n## Part `x`', 100, MARKED)).toBe(
      '*Guide*\n\n  A *bold* {code} link ([vedette help other]).\n\n*Part x*\n',
    );
  });

  it('keeps a word whole that is longer than a line', () => {
    expect(textOf(`a ${'x'.repeat(60)} b`)).toBe(`Guide\n\n  a\n  ${'x'.repeat(60)}\n  b\n`);
  });
});

describe('every topic on a terminal', async () => {
  const { pages } = await loadHandbook();

  it.each([40, 80, 100])('stays within %i columns, except code and long words', (width) => {
    const wide = pages.flatMap((page) =>
      topicText(page, width, PLAIN)
        .split('\n')
        // Code is indented by six columns or more.
        .filter((line) => line.length > width && !/^ {6}/.test(line))
        .filter((line) => line.replace(/^ *(?:- )?/, '').includes(' ')),
    );
    expect(wide).toEqual([]);
  });

  it('has no control characters and no space at the end of a line', () => {
    for (const page of pages) {
      const text = topicText(page, 100, PLAIN);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they could steer the terminal
      expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f]/);
      expect(text).not.toMatch(/[ \t]\n/);
    }
  });
});
