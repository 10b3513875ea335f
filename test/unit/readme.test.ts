import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMPARISONS } from '../../src/model/check/assertion.ts';
import { endpointsTable } from '../support/openapi/endpoints-table.ts';
import { readmeTables } from '../support/readme-tables.ts';

const README = join(import.meta.dirname, '../../README.md');
const MARKED = /(<!-- table: ([a-z-]+) -->\n)([\s\S]*?)(<!-- end of table -->)/g;
const tables: Readonly<Record<string, string>> = {
  ...readmeTables(),
  endpoints: await endpointsTable(),
};

/** `npm run docs` writes the tables anew; every other run only compares. */
if (process.env.UPDATE_DOCS === '1') {
  const text = readFileSync(README, 'utf8');
  writeFileSync(
    README,
    text.replaceAll(MARKED, (whole, open, name, _old, close) =>
      tables[name] === undefined ? whole : `${open}${tables[name]}\n${close}`,
    ),
  );
}

const readme = readFileSync(README, 'utf8');
const marked = new Map(
  [...readme.matchAll(MARKED)].map(([, , name, body]) => [name, body?.trimEnd()]),
);

describe('the README', () => {
  it.each(Object.keys(tables))('has the table %s as the code has it (npm run docs)', (name) => {
    expect(marked.get(name)).toBe(tables[name]);
  });

  it('marks no table that nothing makes', () => {
    expect([...marked.keys()].filter((name) => !(String(name) in tables))).toEqual([]);
  });

  it('explains every comparison, in order', () => {
    const section = readme.slice(readme.indexOf('### Comparisons'));
    const named = [...section.matchAll(/^\| `([A-Z_]+)`/gm)].map(([, name]) => name);
    expect(named.slice(0, COMPARISONS.length)).toEqual([...COMPARISONS]);
  });

  it('names only files that exist', () => {
    const paths = [...readme.matchAll(/`((?:src|test|docker)\/[\w./-]+)`/g)].map(
      ([, p]) => p ?? '',
    );
    expect(paths.length).toBeGreaterThan(10);
    const missing = paths.filter((path) => !exists(path));
    expect(missing).toEqual([]);
  });
});

function exists(path: string): boolean {
  try {
    readFileSync(join(import.meta.dirname, '../..', path));
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EISDIR';
  }
}
