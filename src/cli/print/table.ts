import { columnsOf, cutToFit, wrapped } from './columns.ts';

export interface Cell {
  /** One line without control characters. */
  readonly text: string;
  /** Colours the text, after it was cut. */
  readonly paint?: (text: string) => string;
}

export interface TableLayout {
  /** Columns of the terminal. No line is longer. */
  readonly width: number;
  /** The maximum width of each column except the last. */
  readonly maxColumns: readonly number[];
  /** The column that may be wider if the last column is moved below. Default: none. */
  readonly growing?: number;
}

const GAP = 2;
/** A last column with less room than this is moved below, to separate lines. */
const MIN_LAST = 24;
const INDENT = 4;
/** Maximum number of lines of a last cell that is moved below; the rest is cut. */
const MAX_LINES_BELOW = 4;

/**
 * Formats rows in columns, each as wide as its widest cell. The last column gets the rest of the width. A last cell
 * that does not fit is moved below, indented, on a few lines. If the rest of the width is too small, all last cells
 * are moved. Text that still does not fit is cut.
 */
export function tableLines(
  rows: readonly (readonly Cell[])[],
  { width, maxColumns, growing }: TableLayout,
): readonly string[] {
  const widest = maxColumns.map((_, at) =>
    Math.max(0, ...rows.map((row) => columnsOf(row[at]?.text ?? ''))),
  );
  const widths = maxColumns.map((most, at) => Math.min(most, widest[at] ?? 0));
  const used = widths.reduce((sum, columns) => sum + (columns === 0 ? 0 : columns + GAP), 0);
  const rest = width - used;
  const isBelow = rest < MIN_LAST;
  const room = isBelow ? Math.max(0, rest + GAP) : 0;
  const shown = widths.map((columns, at) =>
    at === growing ? Math.min(columns + room, widest[at] ?? columns) : columns,
  );
  return rows.flatMap((row) => {
    const last = row[widths.length];
    if (last === undefined || last.text === '') return [lineOf(row, shown, width)];
    if (!isBelow && columnsOf(last.text) <= rest) return [lineOf(row, [...widths, rest], width)];
    return [lineOf(row, shown, width), ...linesBelow(last, width)];
  });
}

function linesBelow(cell: Cell, width: number): readonly string[] {
  const indent = width > 2 * INDENT ? INDENT : 0;
  const lines = wrapped(cell.text, width - indent);
  const last = lines.slice(MAX_LINES_BELOW - 1).join(' ');
  return [...lines.slice(0, MAX_LINES_BELOW - 1), ...(last === '' ? [] : [last])].map(
    (text) => `${' '.repeat(indent)}${painted({ ...cell, text }, width - indent).text}`,
  );
}

function lineOf(row: readonly Cell[], widths: readonly number[], width: number): string {
  let line = '';
  let left = width;
  for (const [at, columns] of widths.entries()) {
    if (columns === 0) continue;
    if (left <= 0) break;
    const { text, pad } = painted(row[at] ?? { text: '' }, Math.min(columns, left), columns);
    line += `${text}${' '.repeat(pad + GAP)}`;
    left -= columns + GAP;
  }
  return line.trimEnd();
}

function painted(
  { text, paint = (same) => same }: Cell,
  room: number,
  columns = room,
): { readonly text: string; readonly pad: number } {
  const cut = cutToFit(text, room);
  return {
    text: cut === '' ? '' : paint(cut),
    pad: Math.max(0, columns - columnsOf(cut)),
  };
}
