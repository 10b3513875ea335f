import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readDocuments } from '../../../src/handbook/documents.ts';
import { createHandbook } from '../../../src/handbook/handbook.ts';
import type { Inline } from '../../../src/handbook/markdown.ts';
import { nearestTopics } from '../../../src/handbook/nearest-topics.ts';
import { handbookOf, topicOf } from '../../support/handbook.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';

const GUIDE = `# Guide

Opens.

## One

First.

### Below

Second.

### Apart

Third.

## Inside

For maintainers.

### Deep inside

Also.
`;

describe('the pages of the handbook', () => {
  it('have the sections that their topics name, with those below them', () => {
    const topics = [topicOf('one', ['Guide', 'One']), topicOf('apart', ['Apart'])];
    const { pages } = handbookOf(GUIDE, topics);
    expect(
      pages.map(({ topic, sections }) => [
        topic.name,
        sections.map(({ heading, anchor, level }) => [heading !== null, anchor, level]),
      ]),
    ).toEqual([
      [
        'one',
        [
          [false, 'guide', 1],
          [true, 'one', 2],
          [true, 'below', 3],
        ],
      ],
      ['apart', [[false, 'apart', 1]]],
    ]);
  });

  it('show the headings of sections beside each other, from level 2', () => {
    const { pages } = handbookOf(GUIDE, [topicOf('two', ['Below', 'Apart'], { title: 'Two' })]);
    expect(pages[0]?.sections.map(({ title, level }) => [title, level])).toEqual([
      ['Below', 2],
      ['Apart', 2],
    ]);
  });

  it('give each row that defines a name an anchor of its own', () => {
    const table = '| Field | Meaning |\n| --- | --- |\n| `url` | x |\n| `one` | y |\n';
    const text = `# Guide\n\n## One\n\n${table}\n## Two\n\n${table}`;
    const { pages } = handbookOf(text, [topicOf('all', ['One', 'Two'], { title: 'All' })]);
    const anchors = pages[0]?.sections.flatMap(({ blocks }) =>
      blocks.flatMap((block) =>
        block.kind === 'table' ? block.rows.map((row) => row.anchor) : [],
      ),
    );
    expect(anchors).toEqual(['url', 'one-one', 'two-url', 'two-one']);
  });
});

describe('links', () => {
  const topics = [
    topicOf('guide', ['Guide']),
    topicOf('other', ['Other'], { document: 'src/x/README.md' }),
    topicOf('more', ['More'], { document: 'src/x/README.md' }),
  ];

  function target(href: string, topic = 'guide'): unknown {
    const texts = new Map([
      ['GUIDE.md', `# Guide\n\n[link](${href})\n\n## Inside\n`],
      ['src/x/README.md', `# Other\n\n[link](${href})\n\n## More\n`],
    ]);
    const page = createHandbook(texts, topics).pages.find((each) => each.topic.name === topic);
    const [block] = page?.sections[0]?.blocks ?? [];
    const [inline] = block?.kind === 'paragraph' ? block.inlines : ([] as readonly Inline[]);
    return inline?.kind === 'link' ? inline.target : null;
  }

  it('to a heading lead to the topic that has it', () => {
    const more = { kind: 'topic', topic: 'more', anchor: 'more' };
    expect(target('src/x/README.md#more')).toEqual(more);
    expect(target('#more', 'other')).toEqual(more);
    expect(target('../../GUIDE.md#guide', 'other')).toEqual({
      kind: 'topic',
      topic: 'guide',
      anchor: 'guide',
    });
  });

  it('to a document lead to its first topic', () => {
    expect(target('src/x/README.md')).toEqual({ kind: 'topic', topic: 'other', anchor: null });
  });

  it('out of the handbook are kept where they are addresses of the web', () => {
    expect(target('https://example.com/a?b#c')).toEqual({
      kind: 'outside',
      url: 'https://example.com/a?b#c',
    });
  });

  it.each([
    'src/main.ts',
    'docs/none.md#x',
    '#inside',
    '#none',
    'mailto:a@example.com',
    'javascript:alert(1)',
    '//example.com/x',
    'https://[',
  ])('to %s are plain text', (href) => {
    expect(target(href)).toBeNull();
  });
});

describe('the documents', () => {
  it('stop with one line where a file is missing', async () => {
    const folder = makeTempFolder();
    onTestFinished(() => folder.remove());
    const reading = readDocuments(new URL(`${pathToFileURL(folder.path)}/`));
    await expect(reading).rejects.toMatchObject({
      kind: 'environment',
      code: 'HANDBOOK_UNREADABLE',
      message: expect.stringMatching(
        /^the handbook needs .*README\.md, which cannot be read \(ENOENT\): install Vedette again/,
      ),
    });
  });
});

describe('the nearest topics', () => {
  it.each([
    ['alrts', 'alerts'],
    ['Alerts', 'alerts'],
    ['webhook', 'alerts'],
    ['api', 'api-guide'],
    ['error codes', 'error-codes'],
    ['prometheus', 'metrics'],
    ['k8s', undefined],
  ])('of %s begin with %s', (given, name) => {
    expect(nearestTopics(given)[0]?.name).toBe(name);
  });

  it('are three at most', () => {
    expect(nearestTopics('service agent check')).toHaveLength(3);
  });
});
