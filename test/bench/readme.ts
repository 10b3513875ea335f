import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import type { Part } from './part.ts';
import type { Row } from './row.ts';
import { markdownOf } from './table.ts';

const README = join(import.meta.dirname, 'README.md');

/** The README has a part's measurements between these. */
export function marksOf({ name }: Pick<Part, 'name'>): readonly [string, string] {
  return [`<!-- bench ${name} -->`, `<!-- /bench ${name} -->`];
}

/** The method of a part, as in the README. */
export function methodOf({ name, method }: Pick<Part, 'name' | 'method'>): string {
  return `**${name}**: ${method}`;
}

/** @throws Error if the README has no section for the part */
export function assertSection(part: Part): void {
  const text = readFileSync(README, 'utf8');
  const missing = marksOf(part).find((mark) => !text.includes(mark));
  if (missing !== undefined) throw new Error(`README.md of test/bench has no ${missing}`);
}

/** Writes a part's rows, method and machine between its marks in the README. */
export function writeReadme(part: Part, rows: readonly Row[]): void {
  const text = readFileSync(README, 'utf8');
  const [begin, end] = marksOf(part);
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  const machine = `${cpus().length} cores (${cpus()[0]?.model.trim()}), Node ${process.versions.node}, ${new Date().toISOString().slice(0, 10)}`;
  const answer = part.answer === undefined ? '' : `\n\n${part.answer}`;
  const section = `${begin}\n${methodOf(part)} (${machine})\n\n${markdownOf(rows)}${answer}\n${end}`;
  writeFileSync(README, text.slice(0, from) + section + text.slice(to + end.length));
}
