import { countText } from '../../runtime/text/count-text.ts';
import type { Palette } from '../print/colour.ts';
import { cutToFit } from '../print/columns.ts';
import { paintOfRun, RUN_LABELS } from '../print/pretty-result.ts';
import { type Cell, tableLines } from '../print/table.ts';
import { terminalSafe, terminalSafeJsonLine } from '../print/terminal-safe.ts';
import { prettyDuration, whenText } from '../print/time-text.ts';
import type { History, HistoryCheck, ListedPing, ListedRun } from './read-history.ts';

export interface HistoryStyle {
  readonly palette: Palette;
  /** Columns; no line is longer. */
  readonly width: number;
  readonly nowMs: number;
}

const MAX_NAME_CHARS = 100;
/** Columns of the label, the time, the duration, the location and the attempts. */
const MAX_COLUMNS = [8, 16, 10, 24, 12];

/** Formats a history for people: a heading, and a row for each run. */
export function historyLines(history: History, style: HistoryStyle): readonly string[] {
  const { palette, width } = style;
  const heading = cutToFit(headingText(history.check), width);
  const rows =
    history.kind === 'runs'
      ? history.entries.map((run) => runRow(run, style))
      : history.entries.map((ping) => pingRow(ping, style));
  const table = tableLines(rows, { width, maxColumns: MAX_COLUMNS });
  const none = cutToFit(history.kind === 'runs' ? 'no run has ended yet' : 'no ping yet', width);
  return [palette.strong(heading), '', ...(table.length === 0 ? [none] : table)];
}

/**
 * Formats a history for programs: one line for each run, with fields separated by tabs: result, slot (ISO 8601),
 * response time in milliseconds, location, attempts, code and text. For a heartbeat: state, time, number of pings
 * and source.
 */
export function plainHistory(history: History): readonly string[] {
  const rows: readonly (readonly (string | number)[])[] =
    history.kind === 'runs'
      ? history.entries.map((run) => {
          const { result, slot, responseTime, location, number, errorCode } = run;
          return [result, slot, responseTime, location, number, errorCode ?? '', wordsOf(run)];
        })
      : history.entries.map(({ state, timestamp, pings, source }) => {
          return [state, timestamp, pings, source];
        });
  return rows.map((fields) => fields.map((field) => terminalSafe(String(field))).join('\t'));
}

/** The runs, or the events of a heartbeat, as JSON of the API. */
export function jsonHistory(history: History): readonly string[] {
  const entries: readonly object[] = history.entries;
  return entries.map((entry) => terminalSafeJsonLine(entry).trimEnd());
}

function headingText({ id, name, checkType }: HistoryCheck): string {
  const rest = name === id ? '' : ` (${terminalSafe(id, MAX_NAME_CHARS)})`;
  return `${terminalSafe(name, MAX_NAME_CHARS)}${rest}, ${terminalSafe(checkType)}`;
}

function runRow(run: ListedRun, { palette, nowMs }: HistoryStyle): readonly Cell[] {
  const { result, slot, responseTime, location, number } = run;
  return [
    { text: RUN_LABELS[result], paint: paintOfRun(result, palette) },
    { text: timeText(slot, nowMs) },
    { text: prettyDuration(responseTime) },
    { text: terminalSafe(location, MAX_NAME_CHARS) },
    { text: number === 1 ? '' : countText(number, 'attempt') },
    { text: terminalSafe(wordsOf(run)) },
  ];
}

function pingRow(ping: ListedPing, { palette, nowMs }: HistoryStyle): readonly Cell[] {
  const { state, timestamp, source, pings } = ping;
  return [
    { text: terminalSafe(state), paint: state === 'FAILING' ? palette.bad : palette.good },
    { text: timeText(timestamp, nowMs) },
    { text: pings > 1 ? countText(pings, 'ping') : '' },
    { text: '' },
    { text: '' },
    { text: terminalSafe(source) },
  ];
}

/** Why it did not pass, or what the target answered. The reason begins with the error code. */
function wordsOf({ reason, response }: ListedRun): string {
  return reason ?? response ?? '';
}

function timeText(iso: string, nowMs: number): string {
  const ms = Date.parse(iso);
  return Number.isNaN(ms) ? '' : whenText(ms, nowMs);
}
