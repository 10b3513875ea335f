import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const DOCUMENT = 'src/agent/README.md';
/** At the end of the title of a test: `(trust model SC1, SN2)`. */
const NAMED = /\(trust model ((?:[SA][CN]\d+)(?:, [SA][CN]\d+)*)\)$/;
const MENTION = '(trust model ';
/** The projects in these folders run for every change (vitest.config.ts). */
const FOLDERS = ['test/unit', 'test/integration', 'test/support', 'test/system'];
const SELF = 'test/unit/repository/trust-model.test.ts';

interface Titled {
  readonly path: string;
  readonly title: string;
}

/** The ids of the sentences, in the order of the document. */
function sentences(): readonly string[] {
  const text = readFileSync(join(ROOT, DOCUMENT), 'utf8');
  return [...text.matchAll(/^- \*\*([SA][CN]\d+)\*\* \S/gm)].map(([, id = '']) => id);
}

/** The titles of tests that name sentences, and the files with mentions outside of titles. */
function titles(): { readonly held: readonly Titled[]; readonly astray: readonly string[] } {
  const held: Titled[] = [];
  const astray: string[] = [];
  for (const folder of FOLDERS) {
    const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
    for (const name of names.filter((each) => each.endsWith('.ts'))) {
      const path = `${folder}/${name}`;
      const text = readFileSync(join(ROOT, path), 'utf8');
      const mentions = text.split(MENTION).length - 1;
      if (mentions === 0 || path === SELF) continue;
      const found = titlesIn(text).filter((title) => NAMED.test(title));
      held.push(...found.map((title) => ({ path, title })));
      if (found.length !== mentions) astray.push(path);
    }
  }
  return { held, astray };
}

/** The titles of the tests of a file, except those that are skipped or conditional. */
function titlesIn(text: string): readonly string[] {
  const starts = [...text.matchAll(TEST)];
  return [...text.matchAll(TITLE)].flatMap(({ index, 2: title = '' }) => {
    const test = starts.findLast((start) => start.index < index + 1);
    return ['', '.each'].includes(test?.[1] ?? '.skip') ? [title] : [];
  });
}

/** The first line of a test, as the formatter writes it. */
const TEST = /^ *(?:it|test)\b([.\w]*)/gm;
/** The first argument of a test: `it('…'` or, behind rows, `])('…'`. */
const TITLE = /(?:\b(?:it|test)|\))\(\s*(['"`])((?:(?!\1)[^\\\n]|\\.)*)\1/g;

describe('the trust model of a private location', () => {
  const ids = sentences();
  const { held, astray } = titles();
  const named = held.map(({ path, title }) => {
    return { path, title, ids: NAMED.exec(title)?.[1]?.split(', ') ?? [] };
  });

  it('numbers the sentences of each list from 1 on', () => {
    const wanted = ['SC', 'SN', 'AC', 'AN'].flatMap((list) => {
      const count = ids.filter((id) => id.startsWith(list)).length;
      expect(count).toBeGreaterThan(10);
      return Array.from({ length: count }, (_, at) => `${list}${at + 1}`);
    });
    expect(ids).toEqual(wanted);
  });

  it('has a test for each sentence', () => {
    const tested = new Set(named.flatMap((one) => one.ids));
    expect(ids.filter((id) => !tested.has(id))).toEqual([]);
  });

  it('has a sentence for each test that names one', () => {
    const known = new Set(ids);
    const unknown = named.filter((one) => one.ids.some((id) => !known.has(id)));
    expect(unknown.map(({ path, title }) => `${path}: ${title}`)).toEqual([]);
  });

  it('is named at the end of titles alone, of tests that always run', () => {
    expect(astray).toEqual([]);
  });
});
