import { plainText, type TableBlock } from '../markdown.ts';
import { longestWord, paint, type Span, spansOf, type TextStyle, widthOf, wrap } from './spans.ts';

const GAP = '  ';
/** A column whose lines are shorter than that is hard to read. */
const MIN_TEXT_WIDTH = 36;
/** The same for the values of a list, which have their titles before them. */
const MIN_VALUE_WIDTH = 24;
const LONG_ROW_LINES = 3;
/** The text of a cell without a value in the documents. */
const NOTHING = '–';

/** Aligned columns if at most one of them must be wrapped, otherwise a list of the rows. */
export function markdownTableLines(
  { head, rows }: TableBlock,
  width: number,
  topic: string,
  style: TextStyle,
): readonly string[] {
  const titles = head.map((cell) => ({ text: plainText(cell), look: 'strong' as const }));
  const cells = rows.map((row) => row.cells.map((cell) => spansOf(cell, topic, style)));
  const widths = columnWidths(titles, cells, width);
  if (widths === null) return listLines(titles, cells, width, style);
  const line = (row: readonly (readonly Span[])[]): readonly string[] => {
    const wrapped = row.map((cell, index) => wrap(cell, widths[index] ?? 0));
    const height = Math.max(1, ...wrapped.map(({ length }) => length));
    return Array.from({ length: height }, (_, at) =>
      wrapped
        .map((lines, index) => padded(lines[at] ?? [], widths[index] ?? 0, style))
        .join(GAP)
        .trimEnd(),
    );
  };
  return [
    ...line(titles.map((title) => [title])),
    widths.map((each) => '-'.repeat(each)).join(GAP),
    ...spaced(cells.map(line)),
  ];
}

/** Rows that take several lines have empty lines between them. */
function spaced(rows: readonly (readonly string[])[]): readonly string[] {
  const isLong = rows.some(({ length }) => length >= LONG_ROW_LINES);
  return rows.flatMap((lines, index) => (isLong && index > 0 ? ['', ...lines] : lines));
}

/** Null if more than one column would have to be wrapped, or one would be too narrow. */
function columnWidths(
  titles: readonly Span[],
  rows: readonly (readonly (readonly Span[])[])[],
  width: number,
): readonly number[] | null {
  const columns = titles.map((title, index) =>
    rows.map((row) => row[index] ?? []).concat([[title]]),
  );
  const natural = columns.map((cells) => Math.max(...cells.map(widthOf)));
  const excess = natural.reduce((sum, each) => sum + each + GAP.length, -GAP.length) - width;
  if (excess <= 0) return natural;
  const widest = natural.indexOf(Math.max(...natural));
  const rest = (natural[widest] ?? 0) - excess;
  const needed = Math.max(MIN_TEXT_WIDTH, ...(columns[widest] ?? []).map(longestWord));
  return rest < needed ? null : natural.with(widest, rest);
}

/** Each row as its first cell, with the others below it after the titles of their columns. */
function listLines(
  [, ...titles]: readonly Span[],
  rows: readonly (readonly (readonly Span[])[])[],
  width: number,
  style: TextStyle,
): readonly string[] {
  const indent = 2 + Math.max(0, ...titles.map((title) => widthOf([title]))) + GAP.length;
  const longest = Math.max(...rows.flatMap(([, ...cells]) => cells.map(longestWord)));
  const isNarrow = width - indent < Math.max(MIN_VALUE_WIDTH, Math.min(longest, width - 4));
  return rows.flatMap(([first = [], ...cells], row) => {
    const name = first.map(({ text, look }) => ({
      text: look === 'code' ? unmarked(text, style) : text,
      look: 'strong' as const,
    }));
    const lines = wrap(name, width).map((line) => paint(line, style));
    for (const [index, cell] of cells.entries()) {
      const { text: title } = titles[index] ?? { text: '' };
      if (['', NOTHING].includes(cell.map(({ text }) => text).join(''))) continue;
      if (isNarrow) lines.push(style.faint(`  ${title}:`));
      const at = isNarrow ? 4 : indent;
      for (const [number, line] of wrap(cell, width - at).entries()) {
        const label = number === 0 && !isNarrow ? `  ${title}` : '';
        lines.push(
          `${label === '' ? ' '.repeat(at) : style.faint(label.padEnd(at))}${paint(line, style)}`,
        );
      }
    }
    return row === 0 ? lines : ['', ...lines];
  });
}

/** A name on its own line needs no marks. */
function unmarked(text: string, { codeMark }: TextStyle): string {
  return text.slice(codeMark.length, text.length - codeMark.length);
}

function padded(line: readonly Span[], width: number, style: TextStyle): string {
  return paint(line, style) + ' '.repeat(Math.max(0, width - widthOf(line)));
}
