import type { CheckFile } from '../../agent/source/file/parse-check-file.ts';
import { ENTRY_NOUNS, SECTIONS, type Section } from '../../model/check-file/sections.ts';
import { countText } from '../../runtime/text/count-text.ts';
import type { Palette } from '../print/colour.ts';
import { terminalSafe } from '../print/terminal-safe.ts';
import { type ApplyStep, isRewriteOnly } from './check-plan.ts';
import type { FieldChange } from './field-changes.ts';
import type { ApplyPlan } from './plan.ts';
import type { ResourceStep } from './resources/resource-plan.ts';
import type { VariableStep } from './variable-plan.ts';
import type { AppliedChanges } from './write-plan.ts';

const MARKS = { create: '+', update: '~', delete: '-' } as const;
const WHY_AGAIN = '  the service never returns secrets, so they are written again';

/** Formats the steps of a plan for people. Ends with a line feed. */
export function planText(plan: ApplyPlan, palette: Palette): string {
  const { variables, steps, unchanged, others, resources, escalation } = plan;
  const lines = [
    ...variables.steps.flatMap((step) => variableLines(step, palette)),
    ...resources.steps.flatMap((step) =>
      step.kind === 'delete' ? [] : resourceLines(step, palette),
    ),
    ...escalationLines(escalation, palette),
    ...steps.flatMap((step) => stepLines(step, palette)),
    ...resources.steps.flatMap((step) =>
      step.kind === 'delete' ? resourceLines(step, palette) : [],
    ),
  ];
  if (lines.length === 0) lines.push('nothing to change');
  const isAnyAgain =
    variables.steps.some(isAgain) || steps.some(hasAgain) || resources.steps.some(hasAgain);
  if (isAnyAgain) lines.push(palette.faint(WHY_AGAIN));
  if (variables.unchanged > 0) {
    lines.push(palette.faint(`  ${countText(variables.unchanged, 'variable')} unchanged`));
  }
  if (variables.others > 0) {
    const stay =
      variables.others === 1 ? 'is not in the file and stays' : 'are not in the file and stay';
    lines.push(
      palette.faint(`  ${countText(variables.others, 'variable')} of the service ${stay}`),
    );
  }
  for (const [noun, count] of counted(resources.unchanged)) {
    lines.push(palette.faint(`  ${countText(count, noun)} unchanged`));
  }
  for (const [noun, count] of counted(resources.uncompared)) {
    const [seem, them] = count === 1 ? ['seems', 'it'] : ['seem', 'them'];
    const what = `  ${countText(count, noun)} ${seem} unchanged: a key with the role read cannot compare the secrets of ${them}`;
    lines.push(palette.faint(what));
  }
  for (const [noun, count] of counted(resources.unfilled)) {
    const seem = count === 1 ? 'seems' : 'seem';
    const what = `  ${countText(count, noun)} ${seem} unchanged: values of {{NAME}}, and secrets beside them, were not compared`;
    lines.push(palette.faint(what));
  }
  for (const [noun, count] of counted(resources.others)) {
    const [stay, them] = count === 1 ? ['is', 'it'] : ['are', 'them'];
    const what = `  ${countText(count, noun)} from a file ${stay} no longer in it; --prune deletes ${them}`;
    lines.push(palette.faint(what));
  }
  if (unchanged > 0) lines.push(palette.faint(`  ${countText(unchanged, 'check')} unchanged`));
  if (others > 0) {
    const stay = others === 1 ? 'is not in the file and stays' : 'are not in the file and stay';
    const what = `  ${countText(others, 'check')} of the service ${stay}; --prune deletes`;
    lines.push(palette.faint(`${what} ${others === 1 ? 'it' : 'them'}`));
  }
  return `${lines.join('\n')}\n`;
}

/** A note about a file's client certificates, which are not applied; null if it has none. */
export function certificatesNote({
  clientCertificates,
}: Pick<CheckFile, 'clientCertificates'>): string | null {
  const count = clientCertificates.length;
  if (count === 0) return null;
  const what = count === 1 ? 'the client certificate' : `the ${count} client certificates`;
  return `${what} of the file will not be applied: upload them to the service by /v1/client-certificates (a stand-alone agent, CHECKS_FILE, uses those of the file)`;
}

/** Counts the entries of each section, keyed by the noun for one entry. */
function counted(sections: readonly Section[]): readonly (readonly [noun: string, number])[] {
  return SECTIONS.flatMap((section) => {
    const count = sections.filter((each) => each === section).length;
    return count === 0 ? [] : [[ENTRY_NOUNS[section], count] as const];
  });
}

/** `2 checks created, 1 check updated, 1 alert channel created`. */
export function doneText(changes: AppliedChanges): string {
  return countsText(changes, DONE_WORDS) ?? 'nothing was changed';
}

/** `2 checks to create, 1 check to update`: all changes of a plan; null for none. */
export function totalsText({ variables, steps, resources, escalation }: ApplyPlan): string | null {
  const escalations = escalation === null ? [] : [escalation];
  const all = { variables: variables.steps, steps, resources: resources.steps, escalations };
  return countsText(all, PLANNED_WORDS);
}

/** `2 checks with their results, 1 alert channel`: the deletions of a plan; null for none. */
export function removalsText({ steps, resources }: ApplyPlan): string | null {
  const checks = steps.filter(({ kind }) => kind === 'delete').length;
  const sections = resources.steps.flatMap((step) => (step.kind === 'delete' ? step.section : []));
  const parts = [
    ...(checks === 0
      ? []
      : [`${countText(checks, 'check')} with ${checks === 1 ? 'its' : 'their'} results`]),
    ...counted(sections).map(([noun, count]) => countText(count, noun)),
  ];
  return parts.length === 0 ? null : parts.join(', ');
}

/**
 * Whether the service differs from the file. Ignores secrets that are only written again, which may be the same,
 * and entries that are not in the file and stay.
 */
export function isDrift({ variables, steps, resources, escalation }: ApplyPlan): boolean {
  return (
    escalation !== null ||
    variables.steps.some((step) => !isAgain(step)) ||
    [...steps, ...resources.steps].some((step) => !isRewriteOnly(step))
  );
}

type Words = Readonly<Record<ApplyStep['kind'] | 'again' | 'deactivate', string>>;
type Steps = { readonly [Key in keyof AppliedChanges]: Readonly<AppliedChanges[Key]> };

function countsText(
  { variables, steps, resources, escalations }: Steps,
  words: Words,
): string | null {
  const countedWords = (kinds: readonly (keyof Words)[]) => countedKinds(kinds, words);
  const ofVariables = countedWords(variables.map((step) => (isAgain(step) ? 'again' : step.kind)));
  const ofChecks = countedWords(steps.map(wordOf));
  const parts = [
    ...ofVariables.map(([count, word]) => `${countText(count, 'variable')} ${word}`),
    ...ofChecks.map(([count, word]) => `${countText(count, 'check')} ${word}`),
    ...SECTIONS.flatMap((section) => {
      const ofSection = resources.filter((step) => step.section === section);
      const ofKinds = countedWords(ofSection.map(wordOf));
      return ofKinds.map(([count, word]) => `${countText(count, ENTRY_NOUNS[section])} ${word}`);
    }),
    ...escalations.map(() => `the escalation ${words.update}`),
  ];
  return parts.length === 0 ? null : parts.join(', ');
}

function wordOf(step: ApplyStep | ResourceStep): keyof Words {
  if (isRewriteOnly(step)) return 'again';
  return deactivates(step) ? 'deactivate' : step.kind;
}

/** Whether the step deactivates an active check or heartbeat. */
function deactivates(step: ApplyStep | ResourceStep): boolean {
  return (
    step.kind === 'update' &&
    step.changes.some(({ path, after }) => path === 'activated' && after === 'false')
  );
}

const DONE_WORDS: Words = {
  create: 'created',
  update: 'updated',
  deactivate: 'updated, deactivated',
  again: 'written again',
  delete: 'deleted',
};
const PLANNED_WORDS: Words = {
  create: 'to create',
  update: 'to update',
  deactivate: 'to update, deactivate',
  again: 'to write again',
  delete: 'to delete',
};

function countedKinds(
  kinds: readonly (keyof Words)[],
  words: Words,
): readonly (readonly [count: number, word: string])[] {
  return Object.entries(words).flatMap(([kind, word]) => {
    const count = kinds.filter((each) => each === kind).length;
    return count === 0 ? [] : [[count, word] as const];
  });
}

/** Never shows values, because it is not always known which ones are secret. */
function variableLines(step: VariableStep, palette: Palette): readonly string[] {
  const { kind, variable, changes } = step;
  const paint = { create: palette.good, update: palette.warning }[kind];
  const notes = [
    ...(variable.secret ? ['secret'] : []),
    ...(isAgain(step) ? ['written again'] : []),
  ];
  const note = notes.length === 0 ? '' : palette.faint(` (${notes.join(', ')})`);
  const head = `${paint(`${MARKS[kind]} ${kind}`)} variable ${palette.strong(variable.key)}${note}`;
  const texts = {
    value: 'value   another one (not shown)',
    secret: `secret  ${!variable.secret} -> ${variable.secret}`,
  } as const;
  return [head, ...changes.map((change) => `    ${texts[change]}`)];
}

function isAgain({ kind, changes }: VariableStep): boolean {
  return kind === 'update' && changes.length === 0;
}

function hasAgain(step: ApplyStep | ResourceStep): boolean {
  return step.kind === 'update' && step.changes.some(({ isWrittenAgain }) => isWrittenAgain);
}

function resourceLines(step: ResourceStep, palette: Palette): readonly string[] {
  const { kind, section, id } = step;
  const what = `${ENTRY_NOUNS[section]} ${palette.strong(terminalSafe(id))}`;
  const head = `${markOf(step, palette)} ${what}`;
  return kind === 'update' ? [head, ...changeLines(step.changes)] : [head];
}

function escalationLines(escalation: ApplyPlan['escalation'], palette: Palette): readonly string[] {
  if (escalation === null) return [];
  const head = `${paintOf('update', palette)(`${MARKS.update} update`)} the escalation of the account`;
  return [head, ...changeLines(escalation.changes)];
}

function paintOf(kind: ApplyStep['kind'], palette: Palette): (text: string) => string {
  return { create: palette.good, update: palette.warning, delete: palette.bad }[kind];
}

function markOf(step: ApplyStep | ResourceStep, palette: Palette): string {
  const also = deactivates(step) ? ', deactivate' : '';
  return paintOf(step.kind, palette)(`${MARKS[step.kind]} ${step.kind}${also}`);
}

function changeLines(changes: readonly FieldChange[]): readonly string[] {
  const width = Math.max(...changes.map(({ path }) => path.length));
  return changes.map((change) => `    ${changeText(change, width)}`);
}

function stepLines(step: ApplyStep, palette: Palette): readonly string[] {
  const { kind } = step;
  const { id, checkType } = kind === 'delete' ? step : step.check;
  const type = palette.faint(`(${terminalSafe(checkType)})`);
  const head = `${markOf(step, palette)} ${palette.strong(terminalSafe(id))} ${type}`;
  return kind === 'update' ? [head, ...changeLines(step.changes)] : [head];
}

function changeText({ path, before, after, isWrittenAgain }: FieldChange, width: number): string {
  const field = terminalSafe(path).padEnd(width);
  if (isWrittenAgain) return `${field}  ${terminalSafe(after)} (written again)`;
  // Masked values are equal before and after.
  if (before === after) return `${field}  ${terminalSafe(before)} (another one)`;
  return `${field}  ${terminalSafe(before)} -> ${terminalSafe(after)}`;
}
