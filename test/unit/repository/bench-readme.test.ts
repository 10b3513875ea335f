import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PARTS } from '../../bench/parts.ts';
import { marksOf, methodOf } from '../../bench/readme.ts';

const README = readFileSync(join(import.meta.dirname, '../../bench/README.md'), 'utf8');

const shown = PARTS.filter(({ isLong = false }) => !isLong);

test.each(shown)('the README says how $name is measured, and what came of it', (part) => {
  const [begin, end] = marksOf(part);
  const section = README.slice(README.indexOf(begin), README.indexOf(end));
  expect(section).toContain(methodOf(part));
  expect(section).toMatch(/Node \d+\.\d+\.\d+, \d{4}-\d{2}-\d{2}/);
  const isAnswered = !/\| no \|$/m.test(section) || section.includes(part.answer ?? 'no answer');
  expect(isAnswered).toBe(true);
  expect(section.match(/^\| [^|]+ \| [\d.,]+ \S+ \|/gm)?.length ?? 0).toBeGreaterThan(0);
});

test('the README has no measures of parts that are gone', () => {
  const names = [...README.matchAll(/<!-- bench ([\w-]+) -->/g)].map(([, name]) => name);
  expect(names).toEqual(shown.map(({ name }) => name));
});
