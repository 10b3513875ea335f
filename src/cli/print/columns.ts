import type { TerminalStream } from '../terminal.ts';

const ELLIPSIS = '…';
const DEFAULT_COLUMNS = 80;

/** The longest line that does not wrap. A terminal of unknown width reports 0. */
export function lineWidth({ columns = 0 }: Pick<TerminalStream, 'columns'>): number {
  return (columns > 0 ? columns : DEFAULT_COLUMNS) - 1;
}

/** The `lineWidth` of a terminal; null for a file or a pipe, whose lines may have any length. */
export function terminalWidth(stream: Pick<TerminalStream, 'columns' | 'isTTY'>): number | null {
  return stream.isTTY === true ? lineWidth(stream) : null;
}

/** Characters that are not plain Latin may be two columns wide. */
function widthOf(char: string): number {
  return (char.codePointAt(0) ?? 0) < 0x300 ? 1 : 2;
}

/** How many columns of a terminal a text takes at most. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const char of text) columns += widthOf(char);
  return columns;
}

/** Returns as much of the text as fits. */
export function fitting(text: string, columns: number): string {
  let used = 0;
  let fit = '';
  for (const char of text) {
    used += widthOf(char);
    if (used > columns) return fit;
    fit += char;
  }
  return fit;
}

/** Returns the text, or as much of it as fits with an ellipsis. */
export function cutToFit(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  const room = columns - columnsOf(ELLIPSIS);
  return room < 0 ? fitting(text, columns) : `${fitting(text, room)}${ELLIPSIS}`;
}

/** SGR sequences, which colour a text and take no column (ECMA-48 8.3.117). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences begin with one
const SGR = /(\u001b\[[\d;]*m)/;

/** `columnsOf` for a text with colours. */
function styledColumns(text: string): number {
  return columnsOf(
    text
      .split(SGR)
      .filter((part) => !SGR.test(part))
      .join(''),
  );
}

export function fits(text: string, columns: number): boolean {
  return styledColumns(text) <= columns;
}

/** `cutToFit` for a text with colours. Keeps the sequences that end colours. */
export function cutStyled(text: string, columns: number): string {
  if (fits(text, columns)) return text;
  let room: number | null = Math.max(0, columns - columnsOf(ELLIPSIS));
  let cut = '';
  for (const part of text.split(SGR)) {
    if (SGR.test(part)) cut += part;
    else if (room !== null) {
      const fit = fitting(part, room);
      cut += fit === part ? fit : `${fit}${ELLIPSIS}`;
      room = fit === part ? room - columnsOf(fit) : null;
    }
  }
  return cut;
}

/** A name is not cut to fewer columns than this to make room for the text after it. */
const MIN_NAME = 16;

/**
 * Formats a line that contains a name, with or without colours. If it does not fit, cuts a long name first, then
 * the end of the line.
 *
 * @param width null for a line of any length
 */
export function lineWithName(
  { before, name, after }: Readonly<Record<'before' | 'name' | 'after', string>>,
  width: number | null,
): string {
  const line = `${before}${name}${after}`;
  if (width === null || fits(line, width)) return line;
  const room = width - styledColumns(`${before}${after}`);
  return cutStyled(`${before}${cutStyled(name, Math.max(MIN_NAME, room))}${after}`, width);
}

/** The minimum width: narrower lines would have hardly a word. */
const MIN_WRAPPED = 20;

/** Wraps a text without colours into lines of at most `columns`. Splits words that are longer. */
export function wrapped(text: string, columns: number): readonly string[] {
  const width = Math.max(MIN_WRAPPED, columns);
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (columnsOf(longer) <= width) line = longer;
    else {
      if (line !== '') lines.push(line);
      line = word;
    }
    while (columnsOf(line) > width) {
      const start = fitting(line, width);
      lines.push(start);
      line = line.slice(start.length);
    }
  }
  return [...lines, line];
}
