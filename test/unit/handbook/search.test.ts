import { describe, expect, it } from 'vitest';
import { loadHandbook } from '../../../src/handbook/handbook.ts';
import { HandbookIndex, MAX_QUERY_CHARS } from '../../../src/handbook/search/handbook-index.ts';
import { handbookOf, topicOf } from '../../support/handbook.ts';

const index = new HandbookIndex(
  handbookOf(
    `# Guide

Opens with bananas.

## Rotation of keys

Replace the old one.

## Storage

Keys are stored. They stay for RETENTION_DAYS days; after that they go.

| Variable | Meaning |
| --- | --- |
| \`RETENTION_DAYS\` | How long results stay. |
| \`PORT\` | The port. |
`,
    [
      topicOf('guide', ['Guide']),
      topicOf('keys', ['Rotation of keys']),
      topicOf('storage', ['Storage']),
    ],
  ),
);

function found(query: string): readonly string[] {
  return index.search(query).hits.map(({ topic, anchor }) => `${topic.name}#${anchor}`);
}

describe('the search of the handbook', () => {
  it('finds sections with all words, those with a word in the title first', () => {
    expect(found('keys')).toEqual(['keys#rotation-of-keys', 'storage#storage']);
    expect(found('keys replace')).toEqual(['keys#rotation-of-keys']);
  });

  it('links to the row that defines a name', () => {
    expect(found('RETENTION_DAYS')).toEqual(['storage#RETENTION_DAYS']);
    const [hit] = index.search('retention_days').hits;
    expect([hit?.title, hit?.anchor]).toEqual(['RETENTION_DAYS', 'RETENTION_DAYS']);
  });

  it.each([
    ['parts of a name', 'retention', 'storage#storage'],
    ['the beginning of a word', 'banan', 'guide#guide'],
    ['another form of a word', 'rotating key', 'keys#rotation-of-keys'],
    ['a plural', 'banana', 'guide#guide'],
    ['capital letters', 'BANANAS', 'guide#guide'],
  ])('finds words by %s', (_what, query, hit) => {
    expect(found(query)).toContain(hit);
  });

  it('leaves common words out, unless the query has no others', () => {
    expect(found('how do I replace the keys')).toEqual(['keys#rotation-of-keys']);
    expect(found('the')).toContain('keys#rotation-of-keys');
  });

  it('shows sections with some of the words where none has all', () => {
    const result = index.search('bananas replace');
    expect(result.hasAll).toBe(false);
    expect(result.hits.map(({ topic }) => topic.name).sort()).toEqual(['guide', 'keys']);
  });

  it('proposes the nearest words where one is unknown', () => {
    expect(index.search('retntion port').nearest).toBe('retention port');
    expect(index.search('port').nearest).toBeNull();
    expect(index.search('qqqqqqqq')).toMatchObject({ hits: [], nearest: null });
  });

  it('marks the words in an excerpt, and nothing else', () => {
    const [hit] = index.search('stored').hits;
    expect(hit?.excerpt).toEqual([
      { text: 'Keys are ', isMatch: false },
      { text: 'stored', isMatch: true },
      {
        text: '. They stay for RETENTION_DAYS days; after that they go.',
        isMatch: false,
      },
    ]);
  });

  it('cuts an excerpt between words, around the first match', () => {
    const text = `# Guide\n\n${'before '.repeat(100)}needle ${'after '.repeat(100)}`;
    const long = new HandbookIndex(handbookOf(text, [topicOf('guide', ['Guide'])]));
    const excerpt =
      long
        .search('needle')
        .hits[0]?.excerpt.map((part) => part.text)
        .join('') ?? '';
    expect(excerpt).toMatch(/^… (?:before )+needle (?:after )+…$/);
    expect(excerpt.length).toBeLessThan(300);
  });

  it.each([
    ['nothing', '', false],
    ['signs alone', '%$ <> "', false],
    ['too many words', 'a b c d e f g h j k l m n'.replaceAll(/\w/g, '$&$&$&'), true],
    ['too many characters', `port ${'x'.repeat(MAX_QUERY_CHARS)}`, true],
  ])('is bounded for %s', (_what, query, cut) => {
    expect(index.search(query).cut).toBe(cut);
  });
});

describe('the search of the real handbook', async () => {
  const real = new HandbookIndex(await loadHandbook());

  it.each([
    ['RETENTION_DAYS', 'operations', 'RETENTION_DAYS'],
    ['DNS_NXDOMAIN', 'error-codes', 'DNS_NXDOMAIN'],
    ['rotate key', 'key-rotation', 'rotation-of-keys'],
    ['maintenance window', 'maintenance', 'maintenance-windows'],
    ['webhook signature', 'alerts', 'notifications-email-webhook-slack-sms'],
    ['VedetteAgentDown', 'monitoring', 'VedetteAgentDown'],
    ['icmp privilege', 'agents', 'icmp-without-privilege'],
    ['vedette_spool_records', 'metrics', 'vedette_spool_records'],
  ])('finds %s in %s', (query, topic, anchor) => {
    const [hit] = real.search(query).hits;
    expect([hit?.topic.name, hit?.anchor]).toEqual([topic, anchor]);
  });

  it('takes no more than a moment for the longest query', () => {
    const query = 'se co re in st ch ag ar '.repeat(20);
    const start = performance.now();
    real.search(query);
    expect(performance.now() - start).toBeLessThan(1000);
  });
});
