import type { TerminalStream } from '../terminal.ts';

const ELLIPSIS = '…';
const DEFAULT_COLUMNS = 80;

/** The longest line that does not wrap. A terminal of unknown width reports 0. */
export function lineWidth({ columns = 0 }: Pick<TerminalStream, 'columns'>): number {
  return (columns > 0 ? columns : DEFAULT_COLUMNS) - 1;
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

/** As much of the text as fits. */
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

/** The text, or as much of it as fits with an ellipsis. */
export function cutToFit(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  const room = columns - columnsOf(ELLIPSIS);
  return room < 0 ? fitting(text, columns) : `${fitting(text, room)}${ELLIPSIS}`;
}
