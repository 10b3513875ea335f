import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import type { Part } from './part.ts';
import type { Row } from './row.ts';
import { markdownOf } from './table.ts';

const README = join(import.meta.dirname, '../../README.md');
const BEGIN = '<!-- bench -->';
const END = '<!-- /bench -->';

/** Puts the rows and how they were taken between the marks in the README. */
export function writeReadme(parts: readonly Part[], rows: readonly Row[]): void {
  const text = readFileSync(README, 'utf8');
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (from === -1 || to === -1) throw new Error(`README.md has no ${BEGIN} … ${END}`);
  const machine = `${cpus().length} cores (${cpus()[0]?.model.trim()}), Node ${process.versions.node}, ${new Date().toISOString().slice(0, 10)}`;
  const methods = parts.map(({ name, method }) => `- **${name}**: ${method}`).join('\n');
  const section = `${BEGIN}\n\nOn ${machine}:\n\n${markdownOf(rows)}\n\n${methods}\n\n${END}`;
  writeFileSync(README, text.slice(0, from) + section + text.slice(to + END.length));
}
