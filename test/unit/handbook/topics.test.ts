import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sectionsOf } from '../../../src/handbook/markdown.ts';
import { HANDBOOK_DOCUMENTS, LEFT_OUT, TOPICS } from '../../../src/handbook/topics.ts';
import { commandNames, DOCUMENTS, ROOT, readDocument } from '../../support/documents.ts';

const named = TOPICS.flatMap(({ document, headings }) =>
  headings.map((heading) => `${document}: ${heading}`),
);
const leftOut = Object.entries(LEFT_OUT).flatMap(([document, headings]) =>
  headings.map((heading) => `${document}: ${heading}`),
);
const sections = HANDBOOK_DOCUMENTS.flatMap((document) =>
  sectionsOf(readDocument(document)).map(({ level, source }) => ({
    level,
    name: `${document}: ${source}`,
  })),
);

describe('the topics of the handbook', () => {
  it('have every section of the documents in one topic or among those left out', () => {
    const placed = [...named, ...leftOut];
    const top = sections.filter(({ level }) => level <= 2).map(({ name }) => name);
    expect(top.filter((name) => !placed.includes(name))).toEqual([]);
    expect(placed.filter((name, index) => placed.indexOf(name) !== index)).toEqual([]);
  });

  it('name only headings that the documents have', () => {
    const names = sections.map(({ name }) => name);
    expect([...named, ...leftOut].filter((name) => !names.includes(name))).toEqual([]);
  });

  it('leave out only the documents that are for maintainers, and the page of the chart', () => {
    expect(DOCUMENTS.filter((document) => !HANDBOOK_DOCUMENTS.includes(document))).toEqual([
      'docker/helm/vedette/README.md',
      'docker/release/README.md',
      'src/README.md',
      'src/service/users/README.md',
      'src/web/dashboard/README.md',
      'src/service/audit-log/README.md',
      'src/service/private-locations/README.md',
      'src/service/results/statuses/README.md',
      'src/service/database/README.md',
      'src/service/events/README.md',
      'test/README.md',
      'test/bench/README.md',
    ]);
  });

  it('have names that are valid in addresses and that no command or other page has', () => {
    const commands = commandNames();
    expect(commands).toEqual(expect.arrayContaining(['apply', 'status']));
    const names = TOPICS.map(({ name }) => name);
    expect(names.filter((name) => !/^[a-z]+(?:-[a-z]+)*$/.test(name))).toEqual([]);
    expect(names.filter((name) => [...commands, 'api', 'search'].includes(name))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
    expect(new Set(TOPICS.map(({ title }) => title)).size).toBe(names.length);
  });

  it('have their documents in the package', () => {
    const { files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(files).toEqual(
      expect.arrayContaining(['README.md', 'docker/README.md', 'src/**/README.md']),
    );
    const others = HANDBOOK_DOCUMENTS.filter((path) => !/^src\/\w+\/README\.md$/.test(path));
    expect(others.toSorted()).toEqual(['README.md', 'docker/README.md']);
  });

  it('have summaries that fit into a line of a terminal', () => {
    expect(TOPICS.filter(({ summary }) => summary.length > 60)).toEqual([]);
  });
});
