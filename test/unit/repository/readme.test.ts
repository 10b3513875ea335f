import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMPARISONS } from '../../../src/model/check/assertions/assertion.ts';
import { commandNames, DOCUMENTS, ROOT, readDocument } from '../../support/documents.ts';
import { endpointsTable } from '../../support/openapi/endpoints-table.ts';
import { readmeTables } from '../../support/readme-tables.ts';

const MARKED = /(<!-- table: ([a-z-]+) -->\n)([\s\S]*?)(<!-- end of table -->)/g;
const tables: Readonly<Record<string, string>> = {
  ...readmeTables(),
  endpoints: await endpointsTable(),
};

/** `npm run docs` regenerates the tables. Every other run only compares them. */
if (process.env.UPDATE_DOCS === '1') {
  for (const path of DOCUMENTS) {
    const text = readDocument(path);
    const updated = text.replaceAll(MARKED, (whole, open, name, _old, close) =>
      tables[name] === undefined ? whole : `${open}${tables[name]}\n${close}`,
    );
    if (updated !== text) writeFileSync(join(ROOT, path), updated);
  }
}

const texts = new Map(DOCUMENTS.map((path) => [path as string, readDocument(path)]));
const all = [...texts.values()].join('\n');
const marked = [...all.matchAll(MARKED)].map(
  ([, , name = '', body]) => [name, body?.trimEnd()] as const,
);

/** The anchors of a text's headings, as GitHub makes them. */
function anchorsOf(text: string): ReadonlySet<string> {
  const prose = text.replaceAll(/^```[\s\S]*?^```/gm, '');
  return new Set(
    [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

/** The matches in all texts for which `isKnown` is false. */
function unknown(pattern: RegExp, isKnown: (found: string) => boolean): readonly string[] {
  const found = [...all.matchAll(pattern)].map(([, name = '']) => name);
  expect(found.length).toBeGreaterThan(5);
  return found.filter((name) => !isKnown(name));
}

describe('the documents', () => {
  it('include every README.md of src, test and docker', () => {
    const found = ['docker', 'src', 'test'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name === 'README.md' || name.endsWith('/README.md'))
        .map((name) => `${folder}/${name}`),
    );
    expect(new Set(['README.md', ...found])).toEqual(new Set(DOCUMENTS));
  });

  it.each(Object.keys(tables))('have the table %s as the code has it (npm run docs)', (name) => {
    expect(marked.filter(([each]) => each === name)).toEqual([[name, tables[name]]]);
  });

  it('mark only tables that a test generates', () => {
    expect(marked.filter(([name]) => !(name in tables))).toEqual([]);
  });

  it('explain every comparison, in order', () => {
    const section = all.slice(all.indexOf('### Comparisons'));
    const named = [...section.matchAll(/^\| `([A-Z_]+)`/gm)].map(([, name]) => name);
    expect(named.slice(0, COMPARISONS.length)).toEqual([...COMPARISONS]);
  });

  it('name only files that exist', () => {
    const pattern = /`((?:src|test|docker)\/[\w./-]+)`/g;
    expect(unknown(pattern, (path) => existsSync(join(ROOT, path)))).toEqual([]);
  });

  it.each([...texts])('have no broken link in %s', (path, text) => {
    const broken = [...text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)]*))?\)/g)].filter(
      ([, file = '', anchor]) => {
        const target = file === '' ? path : join(dirname(path), file);
        if (!existsSync(join(ROOT, target))) return true;
        return anchor !== undefined && !anchorsOf(texts.get(target) ?? '').has(anchor);
      },
    );
    expect(broken.map(([link]) => link)).toEqual([]);
  });

  it('name only scripts of package.json', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(unknown(/\bnpm run ([\w:-]+)/g, (name) => name in scripts)).toEqual([]);
  });

  it('name only commands of vedette', () => {
    const commands = new Set(commandNames());
    expect(unknown(/(?:`|npx )vedette ([a-z]+)/g, (name) => commands.has(name))).toEqual([]);
  });

  it('have every heading that a comment refers to, and comments refer to no other document', () => {
    const headings = new Set(
      [...texts].flatMap(([path, text]) =>
        [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => `${path}, "${heading}"`),
      ),
    );
    const references: string[] = [];
    const strays: string[] = [];
    for (const folder of ['src', 'test']) {
      for (const name of readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })) {
        if (!/\.tsx?$/.test(name)) continue;
        const text = readFileSync(join(ROOT, folder, name), 'utf8');
        // A reference may continue in the next line of its comment.
        const flat = text.replaceAll(/\n\s*(?:\*|\/\/) ?/g, ' ');
        for (const [found] of flat.matchAll(/(?:[\w-]+\/)*README\.md, "[^"]+"/g))
          references.push(found);
        for (const [found] of flat.matchAll(
          /\b[Ss]pec(?: part)? \d[\d.]*|\bSEMANTICS \d|\bDESIGN \d|README\.md,? of the/g,
        )) {
          strays.push(`${folder}/${name}: ${found}`);
        }
      }
    }
    expect(references.length).toBeGreaterThan(100);
    expect(references.filter((reference) => !headings.has(reference))).toEqual([]);
    expect(strays).toEqual([]);
  });
});
