import { countText } from '../../runtime/text/count-text.ts';
import type { Palette } from '../print/colour.ts';
import { wrapped } from '../print/columns.ts';
import { paintOfRun, RUN_LABELS } from '../print/pretty-result.ts';
import { terminalSafe, terminalSafeJsonLine } from '../print/terminal-safe.ts';
import { prettyDuration } from '../print/time-text.ts';
import type { RunEnding, TriggeredRun } from './triggered-run.ts';

const LABELS: Readonly<Record<RunEnding, string>> = {
  ...RUN_LABELS,
  queued: 'QUEUED',
  refused: 'REFUSED',
  expired: 'EXPIRED',
  skipped: 'SKIPPED',
};
const LABEL_WIDTH = 8;

/**
 * A run for people: one line, and below it why the run did not pass and what to try.
 *
 * @param width columns of the terminal
 */
export function runLines(run: TriggeredRun, palette: Palette, width: number): readonly string[] {
  const { ending, checkId, location, explanation, note } = run;
  const last = explanation?.attempts.at(-1);
  const retries = (explanation?.attempts.length ?? 1) - 1;
  const facts = [
    location === null ? null : palette.faint(`in ${terminalSafe(location)}`),
    last?.response == null ? null : terminalSafe(last.response),
    last === undefined ? null : prettyDuration(last.responseTime),
    retries > 0 ? `after ${countText(retries, 'retry', 'retries')}` : null,
    note === null ? null : terminalSafe(note),
  ];
  const label = paintOf(ending, palette)(LABELS[ending].padEnd(LABEL_WIDTH));
  const head = [
    `${label}${palette.strong(terminalSafe(checkId))}`,
    ...facts.filter((fact) => fact !== null),
  ];
  const { reasons = [], advice = null } = explanation ?? {};
  const below =
    ending === 'passed' ? [] : [...reasons, ...(advice === null ? [] : [`try: ${advice}`])];
  const lines = below.flatMap((line) => wrapped(terminalSafe(line), width - LABEL_WIDTH));
  return [head.join('  '), ...lines.map((line) => ' '.repeat(LABEL_WIDTH) + line)];
}

/**
 * For programs and the logs of pipelines: the ending, the check, the location, the response time in milliseconds,
 * the error code, the first reason or note, the id of the run, and what to try, separated by tabs.
 */
export function plainRun(run: TriggeredRun): string {
  const { ending, checkId, location, explanation, note, runId } = run;
  const fields = [
    ending,
    checkId,
    location ?? '',
    explanation?.attempts.at(-1)?.responseTime ?? '',
    explanation?.errorCode ?? '',
    note ?? explanation?.reasons[0] ?? explanation?.attempts.at(-1)?.response ?? '',
    runId ?? '',
    explanation?.advice ?? '',
  ];
  return fields.map((field) => terminalSafe(String(field))).join('\t');
}

export function jsonRun({ explanation, ...run }: TriggeredRun): string {
  const last = explanation?.attempts.at(-1);
  return terminalSafeJsonLine({
    ...run,
    responseTime: last?.responseTime ?? null,
    response: last?.response ?? null,
    errorCode: explanation?.errorCode ?? null,
    reasons: explanation?.reasons ?? [],
    advice: explanation?.advice ?? null,
  }).trimEnd();
}

/** `3 runs: 2 passed, 1 failed`. */
export function summaryText(runs: readonly TriggeredRun[]): string {
  const parts = Object.keys(LABELS).flatMap((ending) => {
    const count = runs.filter((run) => run.ending === ending).length;
    return count === 0 ? [] : [`${count} ${ending}`];
  });
  return `${countText(runs.length, 'run')}: ${parts.join(', ')}`;
}

function paintOf(ending: RunEnding, palette: Palette): (text: string) => string {
  switch (ending) {
    case 'queued':
    case 'skipped':
      return palette.faint;
    case 'refused':
    case 'expired':
      return palette.bad;
    default:
      return paintOfRun(ending, palette);
  }
}
