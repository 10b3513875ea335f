import type { Palette } from '../print/colour.ts';
import { harmless } from '../print/harmless.ts';
import type { LineOf } from './check-lines.ts';
import type { FieldChange } from './field-changes.ts';
import type { Plan, Refusal, Step } from './plan.ts';

const MAX_LINE_CHARS = 1000;

const MARKS = { create: '+', update: '~', delete: '-' } as const;

/** What an apply would do or does, for people. Ends with a line feed. */
export function planText(plan: Plan, palette: Palette): string {
  const { steps, unchanged, others } = plan;
  const lines = steps.flatMap((step) => stepLines(step, palette));
  if (steps.length === 0) lines.push('nothing to change');
  if (unchanged > 0) lines.push(palette.faint(`  ${counted(unchanged, 'check')} unchanged`));
  if (others > 0) {
    const stay = others === 1 ? 'is not in the file and stays' : 'are not in the file and stay';
    const what = `  ${counted(others, 'check')} of the service ${stay}; --prune deletes`;
    lines.push(palette.faint(`${what} ${others === 1 ? 'it' : 'them'}`));
  }
  return `${lines.join('\n')}\n`;
}

/** `2 created, 1 updated`; what is none is left out. */
export function doneText(steps: readonly Step[]): string {
  const words = { create: 'created', update: 'updated', delete: 'deleted' } as const;
  const parts = Object.entries(words).flatMap(([kind, word]) => {
    const count = steps.filter((step) => step.kind === kind).length;
    return count === 0 ? [] : [`${count} ${word}`];
  });
  return parts.length === 0 ? 'nothing was changed' : parts.join(', ');
}

/** One line for a check that was refused: where it stands in the file, and why. */
export function refusalText(file: string, { id, message }: Refusal, lineOf: LineOf): string {
  const line = lineOf(id);
  const place = line === null ? file : `${file}:${line}`;
  return harmless(`${place}: check ${JSON.stringify(id)} ${message}`, MAX_LINE_CHARS);
}

function stepLines(step: Step, palette: Palette): readonly string[] {
  const { kind } = step;
  const paint = { create: palette.good, update: palette.warning, delete: palette.bad }[kind];
  const { id, checkType } = kind === 'delete' ? step : step.check;
  const type = palette.faint(`(${harmless(checkType)})`);
  const head = `${paint(`${MARKS[kind]} ${kind}`)} ${palette.strong(harmless(id))} ${type}`;
  if (kind !== 'update') return [head];
  const width = Math.max(...step.changes.map(({ path }) => path.length));
  return [head, ...step.changes.map((change) => `    ${changeText(change, width)}`)];
}

function changeText({ path, before, after }: FieldChange, width: number): string {
  const field = harmless(path).padEnd(width);
  // What is masked looks alike before and after.
  if (before === after) return `${field}  ${harmless(before)} (another one)`;
  return `${field}  ${harmless(before)} -> ${harmless(after)}`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
