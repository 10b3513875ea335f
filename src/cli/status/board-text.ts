import { CHECK_STATES, type CheckState } from '../../model/result/check-state.ts';
import { countText } from '../../runtime/text/count-text.ts';
import type { Palette } from '../print/colour.ts';
import { columnsOf, cutToFit } from '../print/columns.ts';
import { type Cell, tableLines } from '../print/table.ts';
import { terminalSafe, terminalSafeJsonLine } from '../print/terminal-safe.ts';
import { ageText, whenText } from '../print/time-text.ts';
import type { Board, ListedStatus, SilentLocation } from './board.ts';
import { alertRemarksOf, locationsOf, whyOf } from './status-reasons.ts';

const LABELS = { failing: 'FAIL', degraded: 'SLOW', unknown: 'UNKNOWN' } as const;
const SILENT_LABEL = 'SILENT';

const MAX_NAME_CHARS = 100;
const MAX_WHERE = 3;
/** The column of the name. */
const NAME_AT = 1;
/**
 * Widths of the columns for the label, the time and the location. The name gets a third of the width, or the rest
 * of the line if the reason is moved below, since the names of many checks have the same beginning.
 */
const [LABEL_COLUMNS, SINCE_COLUMNS, WHERE_COLUMNS] = [8, 30, 24];

export interface BoardStyle {
  readonly palette: Palette;
  /** Columns; no line is longer. */
  readonly width: number;
  readonly nowMs: number;
}

/** Formats a board for people: the counts, then the problems, worst first. */
export function boardLines(board: Board, style: BoardStyle): readonly string[] {
  const { palette, width } = style;
  const rows = [
    ...board.statuses.map((status) => statusRow(status, style)),
    ...board.silentLocations.map((location) => silentRow(location, style)),
  ];
  const maxColumns = [LABEL_COLUMNS, Math.floor(width / 3), SINCE_COLUMNS, WHERE_COLUMNS];
  const table = tableLines(rows, { width, maxColumns, growing: NAME_AT });
  const note = cutToFit('only the first of them are listed', width);
  const more = board.isCut ? [palette.faint(note)] : [];
  return [countsLine(board, style), ...(table.length === 0 ? [] : ['', ...table]), ...more];
}

/**
 * Formats a board for programs: one line for each entry, with fields separated by tabs: state, id, since when (ISO
 * 8601), locations, code, text, name, and remarks about its alerts (why they are suppressed, or who acknowledged
 * the open one).
 */
export function plainLines({ statuses, silentLocations }: Board): readonly string[] {
  const lineOf = (fields: readonly string[]): string =>
    fields.map((field) => terminalSafe(field)).join('\t');
  return [
    ...statuses.map((status) => {
      const { code, text } = whyOf(status);
      const { state, checkId, since, name } = status;
      const where = locationsOf(status).join(',');
      const remarks = alertRemarksOf(status).join('; ');
      return lineOf([state, checkId, since ?? '', where, code, text, name, remarks]);
    }),
    ...silentLocations.map((location) => {
      const { slug, since, name } = location;
      const text = silentText(location);
      return lineOf(['silent', slug, since, slug, 'location_silent', text, name, '']);
    }),
  ];
}

/** Formats the counts, the statuses and the silent locations as objects of the API. */
export function jsonLines({ counts, statuses, silentLocations }: Board): readonly string[] {
  const objects = [
    { counts },
    ...statuses,
    ...silentLocations.map((silentLocation) => ({ silentLocation })),
  ];
  return objects.map((each) => terminalSafeJsonLine(each).trimEnd());
}

function countsLine({ counts }: Board, { palette, width }: BoardStyle): string {
  const paints: Readonly<Partial<Record<CheckState, (text: string) => string>>> = {
    failing: palette.bad,
    degraded: palette.warning,
    unknown: palette.warning,
    passing: palette.good,
  };
  const parts = CHECK_STATES.flatMap((state) =>
    counts[state] === 0 ? [] : [{ state, text: `${counts[state]} ${state}` }],
  );
  const plain = parts.length === 0 ? 'no checks' : parts.map(({ text }) => text).join(', ');
  if (columnsOf(plain) > width || parts.length === 0) return cutToFit(plain, width);
  return parts.map(({ state, text }) => paints[state]?.(text) ?? text).join(', ');
}

function statusRow(status: ListedStatus, { palette, nowMs }: BoardStyle): readonly Cell[] {
  const { state, name, checkId, since } = status;
  const where = locationsOf(status).map((each) => terminalSafe(each, MAX_NAME_CHARS));
  const more = where.length > MAX_WHERE ? ` and ${where.length - MAX_WHERE} more` : '';
  const { code, text } = whyOf(status);
  const isCode = state === 'failing' && code !== '';
  const remarks = alertRemarksOf(status).join(', ');
  const reason = isCode ? [code, text].filter((part) => part !== '').join(': ') : text;
  return [
    { text: LABELS[state], paint: state === 'failing' ? palette.bad : palette.warning },
    { text: nameAndId(name, checkId), paint: palette.strong },
    { text: sinceText(since, nowMs) },
    { text: `${where.slice(0, MAX_WHERE).join(', ')}${more}` },
    // Remarks come first, since the line may be cut.
    { text: terminalSafe(remarks === '' ? reason : `[${remarks}] ${reason}`) },
  ];
}

function silentRow(location: SilentLocation, { palette, nowMs }: BoardStyle): readonly Cell[] {
  const { name, slug, since } = location;
  return [
    { text: SILENT_LABEL, paint: palette.warning },
    { text: nameAndId(name, slug), paint: palette.strong },
    { text: sinceText(since, nowMs) },
    { text: '' },
    { text: silentText(location) },
  ];
}

function silentText({ checks }: SilentLocation): string {
  if (checks === null) return 'no agent polls';
  return `no agent polls: ${countText(checks, 'check does', 'checks do')} not run there`;
}

function nameAndId(name: string, id: string): string {
  const shown = terminalSafe(name, MAX_NAME_CHARS);
  return name === id ? shown : `${shown} (${terminalSafe(id, MAX_NAME_CHARS)})`;
}

function sinceText(since: string | null, nowMs: number): string {
  const sinceMs = since === null ? Number.NaN : Date.parse(since);
  if (Number.isNaN(sinceMs)) return '';
  return `${whenText(sinceMs, nowMs)} (${ageText(nowMs - sinceMs)})`;
}
